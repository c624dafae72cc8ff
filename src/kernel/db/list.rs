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

/// The total of a list is exact up to this number, so that a count never reads a whole table.
pub const EXACT: i64 = 10_000;

/// How many rows a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    pub items: i64,
    /// There may be more.
    pub is_minimum: bool,
}

impl Total {
    pub fn exactly(items: i64) -> Self {
        Self { items, is_minimum: false }
    }

    fn at_least(items: i64) -> Self {
        Self { items: items.min(EXACT), is_minimum: true }
    }
}

#[must_use]
pub struct List<'a> {
    db: &'a Db,
    select: &'static str,
    found: Option<&'static str>,
    conditions: String,
    /// Conditions that no index supports, see [`Self::check`].
    checks: String,
    examined: Option<(&'static str, i64)>,
    /// Whether more than [`EXACT`] rows are known to exist.
    are_many: bool,
    /// Bound twice: once for the count and once for the page.
    binds: Vec<(Result<Value<'static>>, PgType)>,
}

impl<'a> List<'a> {
    pub(super) fn new(db: &'a Db, select: &'static str) -> Self {
        let (conditions, checks) = Default::default();
        let (found, examined, are_many, binds) = Default::default();
        Self { db, select, found, conditions, checks, examined, are_many, binds }
    }

    /// Filters, counts and sorts with `ids`, a cheaper query for the ids of the same rows. `select`
    /// is then run for the ids of the page alone, so PostgreSQL does not plan its joins for each
    /// page. A row that changes between the two is returned in its new state. `select` has neither
    /// conditions nor placeholders.
    pub fn found_in(mut self, ids: &'static str) -> Self {
        self.found = Some(ids);
        self
    }

    /// A count applies the checks to at most `most` rows, read by `rows`: the query of
    /// [`Self::found_in`] with all columns that the checks need.
    pub fn examining(mut self, rows: &'static str, most: i64) -> Self {
        self.examined = Some((rows, most));
        self
    }

    /// The caller knows that there are more than [`EXACT`] rows, so that nothing is counted.
    pub fn are_many(mut self) -> Self {
        self.are_many = true;
        self
    }

    /// A condition without a value.
    pub fn only(mut self, condition: &'static str) -> Self {
        and(&mut self.conditions, condition);
        self
    }

    /// `condition` with `?` for the value, e.g. `a.role = ?`. No condition if the value is absent.
    pub fn filter(mut self, condition: &'static str, value: Option<impl ToValue>) -> Self {
        if let Some(value) = value {
            let condition = condition.replace('?', &self.place(value));
            and(&mut self.conditions, &condition);
        }
        self
    }

    /// As [`Self::filter`], for a condition that no index supports: it is checked for each row that
    /// the filters find.
    pub fn check(mut self, condition: &'static str, value: Option<impl ToValue>) -> Self {
        if let Some(value) = value {
            let condition = condition.replace('?', &self.place(value));
            and(&mut self.checks, &condition);
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
            and(&mut self.conditions, &format!("({})", any.join(" OR ")));
        }
        self
    }

    /// The ids of all rows in order, at most `limit`, by the query of [`Self::found_in`].
    pub async fn ids(self, sort: Sort, id: &'static str, limit: i64) -> Result<Vec<Uuid>> {
        let place = self.binds.len() + 1;
        let text = format!(
            "{} {} LIMIT CAST(${place} AS BIGINT)",
            self.rows(self.found.unwrap_or(self.select)),
            order(sort, id)
        );
        let ids: Vec<(Uuid,)> = self.statement(text).bind(limit).long().all().await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// The page of rows, and the total. `id` breaks ties, so that pages never overlap.
    pub async fn page<T: FromRow>(
        self,
        sort: Sort,
        id: &'static str,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<T>, Total)> {
        let Some(found) = self.found else {
            return self.page_of(self.select, sort, id, limit, offset).await;
        };
        let (ids, total): (Vec<(Uuid,)>, _) = self.page_of(found, sort, id, limit, offset).await?;
        if ids.is_empty() {
            return Ok((Vec::new(), total));
        }
        let places = ids.len().next_multiple_of(STEP);
        let (head, order) = (format!("{} WHERE {id} IN", self.select), order(sort, id));
        let rows = Statement::among(On::Db(self.db), &head, places, &order).cached().long();
        let ids = ids.into_iter().map(|(id,)| Some(id)).chain(std::iter::repeat(None));
        Ok((ids.take(places).fold(rows, Statement::bind).all().await?, total))
    }

    /// If the first page is not full, its length is the total.
    async fn page_of<T: FromRow>(
        &self,
        select: &str,
        sort: Sort,
        id: &'static str,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<T>, Total)> {
        let (rows, next) = (self.rows(select), self.binds.len() + 1);
        // Without the cast, SQLite would plan the statement again for every value.
        let page = format!(
            "{rows} {} LIMIT CAST(${next} AS BIGINT) OFFSET ${}",
            order(sort, id),
            next + 1
        );
        let page = self.statement(page).bind(limit).bind(offset).long();
        if offset > 0 {
            let total = self.total(&rows).await?;
            let is_past = !total.is_minimum && offset >= total.items;
            return Ok((if is_past { Vec::new() } else { page.all().await? }, total));
        }
        let found: Vec<T> = page.all().await?;
        let seen = found.len() as i64;
        let total = if seen < limit { Total::exactly(seen) } else { self.total(&rows).await? };
        Ok((found, total))
    }

    async fn total(&self, rows: &str) -> Result<Total> {
        if self.are_many {
            return Ok(Total::at_least(EXACT));
        }
        let Some((examined, most)) = self.examined.filter(|_| !self.checks.is_empty()) else {
            let items = self.counted(rows, EXACT).await?;
            return Ok(if items > EXACT { Total::at_least(items) } else { Total::exactly(items) });
        };
        let driven = with_conditions(examined, &[&self.conditions]);
        let alias = examined.rsplit(' ').next().expect("a query ends with its table's alias");
        let few = format!("SELECT 1 FROM ({driven} LIMIT {most}) AS {alias} WHERE {}", self.checks);
        let items = self.counted(&few, EXACT).await?;
        let is_cut = items > EXACT || self.counted(&driven, most).await? > most;
        Ok(if is_cut { Total::at_least(items) } else { Total::exactly(items) })
    }

    /// The number of rows; one more than `most` if there are more.
    async fn counted(&self, rows: &str, most: i64) -> Result<i64> {
        let text = format!("SELECT COUNT(*) FROM ({rows} LIMIT {}) AS counted", most + 1);
        self.statement(text).long().scalar().await
    }

    fn rows(&self, select: &str) -> String {
        with_conditions(select, &[&self.conditions, &self.checks])
    }

    /// PostgreSQL plans a query for ids for its values: which index is best depends on them.
    fn statement(&self, text: String) -> Statement<'a> {
        let statement = Statement::new(On::Db(self.db), text);
        let statement = match self.found {
            Some(_) => statement.without_cached_plan(),
            None => statement,
        };
        let bind = |statement: Statement<'a>, (value, kind): &(Result<Value<'static>>, PgType)| {
            statement.bind_value(value.clone(), kind.clone())
        };
        self.binds.iter().fold(statement, bind)
    }

    fn place<T: ToValue>(&mut self, value: T) -> String {
        self.binds.push((value.to_value(), T::TYPE));
        format!("${}", self.binds.len())
    }
}

fn order(sort: Sort, id: &str) -> String {
    let direction = if sort.descending { "DESC" } else { "ASC" };
    format!("ORDER BY {} {direction}, {id} {direction}", sort.column)
}

fn and(conditions: &mut String, condition: &str) {
    if !conditions.is_empty() {
        *conditions += " AND ";
    }
    *conditions += condition;
}

fn with_conditions(select: &str, conditions: &[&String]) -> String {
    let mut all = String::new();
    for some in conditions.iter().filter(|some| !some.is_empty()) {
        and(&mut all, some);
    }
    if all.is_empty() { select.to_owned() } else { format!("{select} WHERE {all}") }
}

/// The pattern of a substring, for `LIKE … ESCAPE '\\'`.
pub fn like(words: &str) -> String {
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
