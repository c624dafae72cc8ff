//! Clones the rows of whole tables under other ids: a large database out of a small one.
//!
//! The id of a clone is that of its original with another beginning, so a reference to an original
//! becomes one to its clone by the same change. Triggers are off meanwhile: the clones of what they
//! maintain are cloned as well.

use super::{
    Db, Result, Tx,
    statement::{On, Statement},
};

/// One table, and what clones do not share with their originals.
pub struct BulkClone {
    pub table: &'static str,
    /// A column that is indexed and holds an id made by [`crate::kernel::ids::fresh`].
    pub by: &'static str,
    /// Columns with ids of rows that are cloned themselves.
    pub ids: &'static [&'static str],
    /// Those of them that refer to a table further down.
    pub late: &'static [&'static str],
    /// Columns with an expression of their own; `{n}` is the clones' number, `{nnn}` with zeros.
    pub other: &'static [(&'static str, &'static str)],
    /// Which of the rows are cloned.
    pub only: &'static str,
}

impl Db {
    /// Gives every original its `number`th clone. The tables come in the order of their references.
    pub async fn bulk_clone(&self, tables: &[BulkClone], number: u16) -> Result<()> {
        let mut tx = self.begin_without_timeout().await?;
        let mut disabled = Vec::new();
        for clone in tables {
            disabled.extend(tx.disable_triggers(clone.table).await?);
        }
        for clone in tables {
            let text = clone.insert(&tx.columns(clone.table).await?, number, tx.is_sqlite());
            tx.compose(text).run().await?;
        }
        for clone in tables {
            for column in clone.late {
                let text = clone.link(column, number, tx.is_sqlite());
                tx.compose(text).run().await?;
            }
        }
        for enable in disabled {
            tx.compose(enable).run().await?;
        }
        tx.commit().await
    }

    /// After a bulk load: PostgreSQL plans by statistics, SQLite goes on without.
    pub async fn analyse(&self, tables: &[BulkClone]) -> Result<()> {
        let mut tx = self.begin_without_timeout().await?;
        for BulkClone { table, .. } in tables.iter().filter(|_| self.engine() == "postgres") {
            tx.compose(format!("ANALYZE {table}")).run().await?;
        }
        tx.commit().await
    }
}

impl BulkClone {
    fn insert(&self, columns: &[String], number: u16, sqlite: bool) -> String {
        let value = |column: &str| {
            let other = self.other.iter().find(|(name, _)| *name == column);
            match other {
                Some((_, expression)) => expression
                    .replace("{nnn}", &format!("{number:03}"))
                    .replace("{n}", &number.to_string()),
                None if self.late.contains(&column) => "NULL".into(),
                None if self.ids.contains(&column) => clone_id(&quoted(column), number, sqlite),
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
            (clone_id("o.id", number, sqlite), clone_id(&format!("o.{column}"), number, sqlite));
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

/// The id of a row's clone. Fresh ids begin with a time, which gets here in the year 9200.
fn clone_id(id: &str, number: u16, sqlite: bool) -> String {
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
        Statement::composed(On::Tx(self), text)
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

    /// Disables the triggers of a table; the statements that enable them again.
    async fn disable_triggers(&mut self, table: &'static str) -> Result<Vec<String>> {
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
