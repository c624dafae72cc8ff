//! The rows of whole tables over again, under other ids: a large database out of a small one.
//!
//! A twin's id is its original's with another beginning, so what refers to an original refers to
//! the twin after the same change. Triggers sleep meanwhile: what they keep has been kept.

use super::{Db, Result, Tx, statement::Statement};

/// One table, and what its twins do not share with their originals.
pub struct Twins {
    pub table: &'static str,
    /// A column that is indexed and holds an id made by [`crate::kernel::ids::fresh`].
    pub by: &'static str,
    /// Columns with ids of rows that have twins themselves.
    pub ids: &'static [&'static str],
    /// Those of them that refer to a table further down.
    pub late: &'static [&'static str],
    /// Columns with an expression of their own; `{n}` is the twins' number, `{nnn}` with zeros.
    pub other: &'static [(&'static str, &'static str)],
    /// Which of the rows have twins.
    pub only: &'static str,
}

impl Db {
    /// Gives every original its `number`th twin. The tables come in the order of their references.
    pub async fn twins(&self, tables: &[Twins], number: u16) -> Result<()> {
        let mut tx = self.begin_patiently().await?;
        let mut asleep = Vec::new();
        for twins in tables {
            asleep.extend(tx.sleep(twins.table).await?);
        }
        for twins in tables {
            let text = twins.insert(&tx.columns(twins.table).await?, number, tx.is_sqlite());
            tx.compose(text).run().await?;
        }
        for twins in tables {
            for column in twins.late {
                let text = twins.link(column, number, tx.is_sqlite());
                tx.compose(text).run().await?;
            }
        }
        for waking in asleep {
            tx.compose(waking).run().await?;
        }
        tx.commit().await
    }

    /// After a bulk load: PostgreSQL plans by statistics, SQLite goes on without.
    pub async fn analyse(&self, tables: &[Twins]) -> Result<()> {
        let mut tx = self.begin_patiently().await?;
        for Twins { table, .. } in tables.iter().filter(|_| self.engine() == "postgres") {
            tx.compose(format!("ANALYZE {table}")).run().await?;
        }
        tx.commit().await
    }
}

impl Twins {
    fn insert(&self, columns: &[String], number: u16, sqlite: bool) -> String {
        let value = |column: &str| {
            let other = self.other.iter().find(|(name, _)| *name == column);
            match other {
                Some((_, expression)) => expression
                    .replace("{nnn}", &format!("{number:03}"))
                    .replace("{n}", &number.to_string()),
                None if self.late.contains(&column) => "NULL".into(),
                None if self.ids.contains(&column) => twin(&quoted(column), number, sqlite),
                None => quoted(column),
            }
        };
        let names: Vec<_> = columns.iter().map(|column| quoted(column)).collect();
        let values: Vec<_> = columns.iter().map(|column| value(column)).collect();
        let (names, values) = (names.join(", "), values.join(", "));
        let Self { table, by, only, .. } = self;
        let end = originals_end(sqlite);
        format!(
            "INSERT INTO {table} ({names})
             SELECT {values} FROM {table} WHERE {by} < {end} AND {only}"
        )
    }

    fn link(&self, column: &str, number: u16, sqlite: bool) -> String {
        let Self { table, by, .. } = self;
        let (id, target) =
            (twin("o.id", number, sqlite), twin(&format!("o.{column}"), number, sqlite));
        let end = originals_end(sqlite);
        format!(
            "UPDATE {table} SET {column} = {target} FROM {table} o
             WHERE o.{by} < {end} AND o.{column} IS NOT NULL AND {table}.id = {id}"
        )
    }
}

fn quoted(column: &str) -> String {
    format!("\"{column}\"")
}

/// The id of a row's twin. Fresh ids begin with a time, which gets here in the year 9200.
fn twin(id: &str, number: u16, sqlite: bool) -> String {
    match sqlite {
        true => format!("CAST(x'D0D0{number:04X}' || substr({id}, 5) AS BLOB)"),
        false => format!("('d0d0{number:04x}' || substr({id}::TEXT, 9))::UUID"),
    }
}

fn originals_end(sqlite: bool) -> &'static str {
    match sqlite {
        true => "x'D0D0'",
        false => "'d0d00000-0000-0000-0000-000000000000'::UUID",
    }
}

impl Tx {
    /// Only for names of the schema's own, and numbers.
    fn compose(&mut self, text: String) -> Statement<'_> {
        Statement::composed_on_tx(self, text)
    }

    async fn columns(&mut self, table: &'static str) -> Result<Vec<String>> {
        let names = match self.is_sqlite() {
            true => "SELECT name FROM pragma_table_info($1) ORDER BY cid",
            false => {
                "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
                 WHERE table_schema = current_schema() AND table_name = $1
                 ORDER BY ordinal_position"
            }
        };
        let names: Vec<(String,)> = self.sql(names).bind(table).all().await?;
        Ok(names.into_iter().map(|(name,)| name).collect())
    }

    /// Puts the triggers of a table to sleep, and says what wakes them.
    async fn sleep(&mut self, table: &'static str) -> Result<Vec<String>> {
        if !self.is_sqlite() {
            self.compose(format!("ALTER TABLE {table} DISABLE TRIGGER USER")).run().await?;
            return Ok(vec![format!("ALTER TABLE {table} ENABLE TRIGGER USER")]);
        }
        let triggers: Vec<(String, String)> = self
            .sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = $1")
            .bind(table)
            .all()
            .await?;
        for (name, _) in &triggers {
            self.compose(format!("DROP TRIGGER {}", quoted(name))).run().await?;
        }
        Ok(triggers.into_iter().map(|(_, text)| text).collect())
    }
}
