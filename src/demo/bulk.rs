//! Clones the rows of whole tables under other ids.
//!
//! The id of a clone is that of its original with another prefix, so a reference to an original
//! becomes one to its clone by the same replacement. Triggers are disabled meanwhile, because the
//! rows that they maintain are cloned as well.

use crate::kernel::db::{Db, Result, Tx};

/// One table, and the columns in which clones differ from their originals.
pub struct BulkClone {
    pub table: &'static str,
    /// An indexed column with an id made by [`crate::kernel::ids::fresh`].
    pub by: &'static str,
    /// Columns with ids of rows that are cloned themselves.
    pub ids: &'static [&'static str],
    /// Those of them that refer to a later table.
    pub late: &'static [&'static str],
    /// Columns with an expression; `{n}` is the number of the clone, `{nnn}` padded with zeros.
    pub other: &'static [(&'static str, &'static str)],
    /// Which of the rows are cloned.
    pub only: &'static str,
}

/// Inserts clone `number` of every original. The tables are in the order of their foreign keys.
pub async fn clone_rows(db: &Db, tables: &[BulkClone], number: u16) -> Result<()> {
    let sqlite = is_sqlite(db);
    let mut tx = db.begin_without_timeout().await?;
    let mut disabled = Vec::new();
    for clone in tables {
        disabled.extend(disable_triggers(&mut tx, clone.table, sqlite).await?);
    }
    for clone in tables {
        let columns = columns(&mut tx, clone.table, sqlite).await?;
        tx.execute_script(&clone.insert(&columns, number, sqlite)).await?;
    }
    for clone in tables {
        for column in clone.late {
            tx.execute_script(&clone.link(column, number, sqlite)).await?;
        }
    }
    for enable in disabled {
        tx.execute_script(&enable).await?;
    }
    tx.commit().await
}

/// Stores what a search for bookings looks in, for all clones.
pub async fn fill_booking_search(db: &Db) -> Result<()> {
    let text = match is_sqlite(db) {
        true => {
            "lower(k.code || char(10) || k.contact_name || char(10) || replace(k.contact_email, '@', 'qqq') || char(10)
               || k.contact_phone || char(10)
               || substr((SELECT COALESCE(group_concat(p.value ->> 'name', char(10)), '')
                   FROM json_each(k.passengers) p), 1, 2000))"
        }
        false => "booking_search_text(k)",
    };
    let mut tx = db.begin_without_timeout().await?;
    tx.execute_script(&format!(
        "INSERT INTO booking_search (booking_id, text) SELECT k.id, {text} FROM bookings k
         WHERE k.id >= {} ORDER BY k.id",
        originals_end(is_sqlite(db))
    ))
    .await?;
    tx.commit().await
}

fn is_sqlite(db: &Db) -> bool {
    db.engine() == "sqlite"
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

/// The id of a row's clone. Its prefix is a timestamp in the year 9200, so it is no original's.
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

async fn columns(tx: &mut Tx, table: &'static str, sqlite: bool) -> Result<Vec<String>> {
    let names = match sqlite {
        true => "SELECT name FROM pragma_table_info($1) ORDER BY cid",
        false => {
            "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = $1
               AND is_generated = 'NEVER'
             ORDER BY ordinal_position"
        }
    };
    let names: Vec<(String,)> = tx.sql(names).bind(table).all().await?;
    Ok(names.into_iter().map(|(name,)| name).collect())
}

/// Disables the triggers of a table and returns the statements that enable them again.
async fn disable_triggers(tx: &mut Tx, table: &'static str, sqlite: bool) -> Result<Vec<String>> {
    if !sqlite {
        tx.execute_script(&format!("ALTER TABLE {table} DISABLE TRIGGER USER")).await?;
        return Ok(vec![format!("ALTER TABLE {table} ENABLE TRIGGER USER")]);
    }
    let triggers: Vec<(String, String)> = tx
        .sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = $1")
        .bind(table)
        .all()
        .await?;
    for (name, _) in &triggers {
        tx.execute_script(&format!("DROP TRIGGER {}", quoted(name))).await?;
    }
    Ok(triggers.into_iter().map(|(_, text)| text).collect())
}
