//! The only builder of SQL at run time: list filters, order and pages.
//!
//! Every piece of text is a `&'static str`; values of callers are bound.

use super::{Db, FromRow, On, PgType, Result, Statement, ToValue, Value};
use crate::kernel::ids::Uuid;

/// The number of placeholders for ids is rounded up to a multiple of this and filled with NULL, so
/// that there are few different texts to prepare.
const STEP: usize = 20;

/// A column to sort by, chosen from a whitelist.
#[derive(Clone, Copy, Debug)]
pub struct Sort {
    pub column: &'static str,
    pub descending: bool,
}

#[must_use]
pub struct List<'a> {
    db: &'a Db,
    select: &'static str,
    found: Option<&'static str>,
    conditions: String,
    /// Bound twice: once for the count and once for the page.
    binds: Vec<(Result<Value<'static>>, PgType)>,
}

impl<'a> List<'a> {
    pub(super) fn new(db: &'a Db, select: &'static str) -> Self {
        Self { db, select, found: None, conditions: String::new(), binds: Vec::new() }
    }

    /// Filters, counts and sorts with `ids`, a cheaper query for the ids of the same rows. `select`
    /// is then run for the ids of the page alone, so PostgreSQL does not plan its joins for each
    /// page. A row that changes between the two is returned in its new state. `select` has neither
    /// conditions nor placeholders.
    pub fn found_in(mut self, ids: &'static str) -> Self {
        self.found = Some(ids);
        self
    }

    /// A condition without a value.
    pub fn only(mut self, condition: &'static str) -> Self {
        self.and(&[condition]);
        self
    }

    /// `condition` with `?` for the value, e.g. `a.role = ?`. No condition if the value is absent.
    pub fn filter(mut self, condition: &'static str, value: Option<impl ToValue>) -> Self {
        if let Some(value) = value {
            let place = self.place(value);
            let (before, after) = condition.split_once('?').expect("a filter has a placeholder");
            self.and(&[before, &place, after]);
        }
        self
    }

    /// A substring of any of the columns, without regard to case.
    pub fn search(mut self, columns: &[&'static str], words: Option<&str>) -> Self {
        if let Some(words) = words {
            let place = self.place(like(words));
            let any: Vec<_> = columns
                .iter()
                .map(|c| format!("lower({c}) LIKE lower({place}) ESCAPE '\\'"))
                .collect();
            self.and(&["(", &any.join(" OR "), ")"]);
        }
        self
    }

    /// A substring of any of the columns, each group of columns with its own words. Groups without
    /// words are left out.
    pub fn search_each(mut self, groups: &[(&[&'static str], Option<&str>)]) -> Self {
        let mut any = Vec::new();
        for (columns, words) in groups {
            let Some(words) = words else { continue };
            let place = self.place(like(words));
            let like = |column: &&str| format!("lower({column}) LIKE lower({place}) ESCAPE '\\'");
            any.extend(columns.iter().map(like));
        }
        if !any.is_empty() {
            self.and(&["(", &any.join(" OR "), ")"]);
        }
        self
    }

    /// The ids of all rows in order, at most `limit`, by the query of [`Self::found_in`].
    pub async fn ids(self, sort: Sort, id: &'static str, limit: i64) -> Result<Vec<Uuid>> {
        let Self { db, select, found, conditions, binds } = self;
        let direction = if sort.descending { "DESC" } else { "ASC" };
        let place = binds.len() + 1;
        let text = format!(
            "{}{conditions} ORDER BY {} {direction}, {id} {direction} LIMIT CAST(${place} AS BIGINT)",
            found.unwrap_or(select),
            sort.column,
        );
        let mut ids = Statement::new(On::Db(db), text);
        for (value, kind) in binds {
            ids = ids.bind_value(value, kind);
        }
        let ids: Vec<(Uuid,)> = ids.bind(limit).long().all().await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// The page of rows, and the total. `id` breaks ties, so that pages never overlap.
    pub async fn page<T: FromRow>(
        self,
        sort: Sort,
        id: &'static str,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<T>, i64)> {
        let Self { db, select, found, conditions, binds } = self;
        let rows = format!("{}{conditions}", found.unwrap_or(select));
        let direction = if sort.descending { "DESC" } else { "ASC" };
        let order = format!("ORDER BY {} {direction}, {id} {direction}", sort.column);
        let next = binds.len() + 1;
        // Without the cast, SQLite would plan the statement again for every value.
        let page = format!("{rows} {order} LIMIT CAST(${next} AS BIGINT) OFFSET ${}", next + 1);
        let count = format!("SELECT COUNT(*) FROM ({rows}) AS rows");
        let mut count = Statement::new(On::Db(db), count);
        let mut page = Statement::new(On::Db(db), page);
        for (value, kind) in binds {
            count = count.bind_value(value.clone(), kind.clone());
            page = page.bind_value(value, kind);
        }
        let page = page.bind(limit).bind(offset);
        if found.is_none() {
            return counted(page, count, limit, offset).await;
        }
        let (ids, total): (Vec<(Uuid,)>, _) = counted(page, count, limit, offset).await?;
        if ids.is_empty() {
            return Ok((Vec::new(), total));
        }
        let places = ids.len().next_multiple_of(STEP);
        let head = format!("{select} WHERE {id} IN");
        let rows = Statement::among(On::Db(db), &head, places, &order).cached().long();
        let ids = ids.into_iter().map(|(id,)| Some(id)).chain(std::iter::repeat(None));
        Ok((ids.take(places).fold(rows, Statement::bind).all().await?, total))
    }

    fn place<T: ToValue>(&mut self, value: T) -> String {
        self.binds.push((value.to_value(), T::TYPE));
        format!("${}", self.binds.len())
    }

    fn and(&mut self, condition: &[&str]) {
        self.conditions += if self.conditions.is_empty() { " WHERE " } else { " AND " };
        self.conditions.extend(condition.iter().copied());
    }
}

/// If the first page is not full, its length is the total.
async fn counted<T: FromRow>(
    page: Statement<'_>,
    count: Statement<'_>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<T>, i64)> {
    let (page, count) = (page.long(), count.count().scalar());
    if offset > 0 {
        let total = count.await?;
        let rows = if offset < total { page.all().await? } else { Vec::new() };
        return Ok((rows, total));
    }
    let rows: Vec<T> = page.all().await?;
    let seen = rows.len() as i64;
    let total = if seen < limit { seen } else { count.await? };
    Ok((rows, total))
}

fn like(words: &str) -> String {
    let mut pattern = String::from("%");
    for c in words.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    #[test]
    fn wildcards_in_a_search_are_plain_characters() {
        assert_eq!(super::like(r"50%_\a"), r"%50\%\_\\a%");
    }
}
