//! The only builder of SQL at run time: list filters, order and pages.
//!
//! Every piece of text is a `&'static str`; values of callers are bound.

use super::{Db, FromRow, On, PgType, Result, Statement, ToValue, Value, anchor::DEEP};
use crate::kernel::ids::Uuid;

/// The number of placeholders for ids is rounded up to a multiple of this and filled with NULL, so
/// that there are few different texts to prepare.
const STEP: usize = 20;

/// A column to sort by, or an expression of columns, chosen from a whitelist.
#[derive(Clone, Copy, Debug)]
pub struct Sort {
    pub column: &'static str,
    pub descending: bool,
}

const UNLIMITED: i64 = i64::MAX;

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

    /// By a count that stops after [`EXACT`].
    pub fn counted(items: i64) -> Self {
        if items > EXACT { Self::at_least(items) } else { Self::exactly(items) }
    }

    fn at_least(items: i64) -> Self {
        Self { items: items.min(EXACT), is_minimum: true }
    }

    /// A count that examines a part of the rows may miss those of the page. A page without rows says
    /// nothing of those before it.
    fn including(self, offset: i64, rows: usize) -> Self {
        match self.is_minimum && rows > 0 {
            true => Self::at_least(self.items.max(offset + rows as i64)),
            false => self,
        }
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
    /// See [`Self::sorted_apart`].
    is_sorted_apart: bool,
    /// See [`Self::few`].
    are_few: bool,
    /// See [`Self::only_first`].
    first: Option<(i64, String)>,
    known: Option<Total>,
    /// Bound twice: once for the count and once for the page.
    binds: Vec<(Result<Value<'static>>, PgType)>,
}

impl<'a> List<'a> {
    pub(super) fn new(db: &'a Db, select: &'static str) -> Self {
        let (conditions, checks) = Default::default();
        let (found, examined, is_sorted_apart, are_few, first, known, binds) = Default::default();
        Self {
            db,
            select,
            found,
            conditions,
            checks,
            examined,
            is_sorted_apart,
            are_few,
            first,
            known,
            binds,
        }
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

    /// The caller knows the total, so that nothing is counted.
    pub fn known(mut self, total: Option<Total>) -> Self {
        self.known = total;
        self
    }

    /// No index has the rows of the filters in the order of the list, so they are all read and sorted.
    /// Otherwise a planner may prefer to read the whole table in that order. Needs
    /// [`Self::examining`].
    pub fn sorted_apart(mut self, is_sorted_apart: bool) -> Self {
        self.is_sorted_apart = is_sorted_apart;
        self
    }

    /// The filters find few rows, so the ids of all are read at once, instead of a page and a count.
    /// Needs [`Self::found_in`].
    pub fn few(mut self, are_few: bool) -> Self {
        self.are_few = are_few;
        self
    }

    /// Applies the checks to the first rows of the filters alone. Needs [`Self::examining`].
    pub fn only_first(mut self, rows: i64, sort: Sort, id: &str) -> Self {
        self.first = Some((rows, order(sort, id)));
        self.is_sorted_apart = true;
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

    /// Whether the filters, without the checks, find more rows than this.
    pub async fn has_more_than(&self, rows: i64) -> Result<bool> {
        let Some((examined, _)) = self.examined else { return Ok(false) };
        let driven = with_conditions(examined, &[&self.conditions]);
        Ok(self.counted(&driven, rows).await? > rows)
    }

    /// The ids of all rows in order, at most `limit`, by the query of [`Self::found_in`].
    pub async fn ids(self, sort: Sort, id: &'static str, limit: i64) -> Result<Vec<Uuid>> {
        Ok(self.ids_of(sort, id, limit).await?.into_iter().map(|(id,)| id).collect())
    }

    async fn ids_of(&self, sort: Sort, id: &'static str, limit: i64) -> Result<Vec<(Uuid,)>> {
        let place = self.binds.len() + 1;
        let text = format!(
            "{} {} LIMIT CAST(${place} AS BIGINT)",
            self.rows(self.found.unwrap_or(self.select)),
            order(sort, id)
        );
        self.statement(text).bind(limit).long().all().await
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
        if self.are_few && self.known.is_none() {
            let ids = self.ids_of(sort, id, EXACT + 1).await?;
            if ids.len() as i64 <= EXACT {
                let total = Total::exactly(ids.len() as i64);
                let page = ids.into_iter().skip(offset as usize).take(limit as usize);
                return Ok((self.rows_of(page.collect(), sort, id).await?, total));
            }
        }
        let is_in_order = !self.is_sorted_apart && !found.contains(" JOIN ");
        let (ids, total) = match offset < DEEP || !is_in_order {
            true => self.page_of(found, sort, id, limit, offset).await?,
            false => self.deep_page(found, sort, id, limit, offset).await?,
        };
        Ok((self.rows_of(ids, sort, id).await?, total))
    }

    /// The total of the list, without a page.
    pub async fn count(&self, sort: Sort, id: &'static str) -> Result<Total> {
        self.total(&self.rows(self.found.unwrap_or(self.select)), sort, id).await
    }

    /// The page, if it is found in the first `most` rows that the filters find, in the order of the list.
    /// `None` if other rows would have to be read. Needs [`Self::found_in`] and [`Self::examining`].
    pub async fn page_in_first<T: FromRow>(
        &self,
        most: i64,
        sort: Sort,
        id: &'static str,
        limit: i64,
        offset: i64,
    ) -> Result<Option<(Vec<T>, Total)>> {
        let (Some(found), Some((examined, _))) = (self.found, self.examined) else {
            return Ok(None);
        };
        let (order, next) = (order(sort, id), self.binds.len() + 1);
        let driven = with_conditions(examined, &[&self.conditions]);
        let (columns, _) = found.split_once(" FROM ").expect("a query has a table");
        let first = limited(examined, &format!("{driven} {order}"), most);
        let page = self.statement(format!(
            "{} {order} LIMIT CAST(${next} AS BIGINT) OFFSET ${}",
            with_conditions(&format!("{columns} FROM {first}"), &[&self.checks]),
            next + 1
        ));
        let ids: Vec<(Uuid,)> = page.bind(limit).bind(offset).long().all().await?;
        let is_full = ids.len() as i64 == limit;
        if !is_full && self.has_more_than(most).await? {
            return Ok(None);
        }
        // A page that is not full is the last one, unless it is past the end.
        let total = match !is_full && !ids.is_empty() {
            true => Total::exactly(offset + ids.len() as i64),
            false => self.total(&self.rows(found), sort, id).await?.including(offset, ids.len()),
        };
        Ok(Some((self.rows_of(ids, sort, id).await?, total)))
    }

    /// The whole rows of these ids.
    async fn rows_of<T: FromRow>(
        &self,
        ids: Vec<(Uuid,)>,
        sort: Sort,
        id: &'static str,
    ) -> Result<Vec<T>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let places = ids.len().next_multiple_of(STEP);
        let (head, order) = (format!("{} WHERE {id} IN", self.select), order(sort, id));
        let rows = Statement::among(On::Db(self.db), &head, places, &order).cached().long();
        let ids = ids.into_iter().map(|(id,)| Some(id)).chain(std::iter::repeat(None));
        ids.take(places).fold(rows, Statement::bind).all().await
    }

    /// A page that is read from a row that was found before, see [`super::anchor`].
    async fn deep_page(
        &self,
        found: &str,
        sort: Sort,
        id: &'static str,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<(Uuid,)>, Total)> {
        let (rows, order) = (self.rows(found), order(sort, id));
        let total = self.total(&rows, sort, id).await?;
        if !total.is_minimum && offset >= total.items {
            return Ok((Vec::new(), total));
        }
        let query = format!("{rows} {order} {:?}", self.binds);
        let anchors = &self.db.metrics.anchors;
        let anchor = anchors.before(&query, offset);
        if anchor.is_some() {
            // A replica may not have the row yet.
            self.db.leave_replica();
        }
        let next = self.binds.len() + 1;
        let from = anchor.map(|_| from_row(found, sort, id, next + 2)).unwrap_or_default();
        let page = self.statement(format!(
            "{} {order} LIMIT CAST(${next} AS BIGINT) OFFSET ${}",
            with_conditions(found, &[&self.conditions, &self.checks, &from]),
            next + 1
        ));
        let skipped = offset - anchor.map_or(0, |anchor| anchor.offset);
        let page = page.bind(limit).bind(skipped);
        let page = match anchor {
            Some(anchor) => page.bind(anchor.id),
            None => page,
        };
        let ids: Vec<(Uuid,)> = page.long().all().await?;
        if let Some((first,)) = ids.first() {
            anchors.remember(query, offset, *first, anchor);
        }
        let total = total.including(offset, ids.len());
        Ok((ids, total))
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
            let total = self.total(&rows, sort, id).await?;
            let is_past = !total.is_minimum && offset >= total.items;
            let found: Vec<T> = if is_past { Vec::new() } else { page.all().await? };
            let total = total.including(offset, found.len());
            return Ok((found, total));
        }
        let found: Vec<T> = page.all().await?;
        let seen = found.len() as i64;
        let total =
            if seen < limit { Total::exactly(seen) } else { self.total(&rows, sort, id).await? };
        let total = total.including(0, found.len());
        Ok((found, total))
    }

    async fn total(&self, rows: &str, sort: Sort, id: &str) -> Result<Total> {
        if let Some(total) = self.known {
            return Ok(total);
        }
        let few_are_checked = self.checks.is_empty() || self.first.is_some();
        let Some((examined, most)) = self.examined.filter(|_| !few_are_checked) else {
            let items = self.counted(rows, EXACT).await?;
            return Ok(Total::counted(items));
        };
        let driven = with_conditions(examined, &[&self.conditions]);
        // In the order of the index that has them.
        let driven = match self.is_sorted_apart {
            true => driven,
            false => format!("{driven} {}", order(sort, id)),
        };
        let few =
            format!("SELECT 1 FROM {} WHERE {}", limited(examined, &driven, most), self.checks);
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
        let Some((examined, _)) = self.examined.filter(|_| self.is_sorted_apart) else {
            return with_conditions(select, &[&self.conditions, &self.checks]);
        };
        let mut driven = with_conditions(examined, &[&self.conditions]);
        let most = match &self.first {
            Some((most, order)) => {
                driven = format!("{driven} {order}");
                *most
            }
            None => UNLIMITED,
        };
        let (columns, _) = select.split_once(" FROM ").expect("a query has a table");
        let rows = format!("{columns} FROM {}", limited(examined, &driven, most));
        with_conditions(&rows, &[&self.checks])
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

/// A subquery that planners do not merge into the outer query, because of its limit. It has the alias of
/// the table.
fn limited(select: &str, rows: &str, most: i64) -> String {
    let alias = select.rsplit(' ').next().expect("a query ends with its table's alias");
    format!("({rows} LIMIT {most}) AS {alias}")
}

/// The condition that a row is the one with the id `$place` or comes after it. An index of the order
/// supports its first part.
fn from_row(found: &str, sort: Sort, id: &str, place: usize) -> String {
    let (_, table) = found.split_once(" FROM ").expect("a query has a table");
    let (table, alias) = table.split_once(' ').expect("a table has an alias");
    let column = sort.column.replace(&format!("{alias}."), "anchor.");
    let (than, or) = if sort.descending { ("<=", "<") } else { (">=", ">") };
    let there = format!("(SELECT {column} FROM {table} anchor WHERE anchor.id = ${place})");
    let (by, id_than) = (sort.column, than);
    format!("{by} {than} {there} AND ({by} {or} {there} OR {id} {id_than} ${place})")
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
