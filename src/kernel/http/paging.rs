//! Query parameters of lists.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kernel::{
    db::{Sort, Total},
    http::Page,
};

crate::string_enum! {
    pub enum Direction { Asc = "asc", Desc = "desc" }
}

/// Flattened into the query of a list that cannot be searched.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Pages {
    /// Page number, starting at 1.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    page: Option<i64>,
    /// Items per page. Default: 20.
    #[schemars(range(min = 1, max = 100))]
    page_size: Option<i64>,
    sort_dir: Option<Direction>,
}

/// Flattened into the query of every other list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Paging {
    #[serde(flatten)]
    pages: Pages,
    /// Case-insensitive substring.
    #[schemars(length(max = 200))]
    search: Option<String>,
}

impl Paging {
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref().map(str::trim).filter(|words| !words.is_empty())
    }
}

impl Deref for Paging {
    type Target = Pages;

    fn deref(&self) -> &Pages {
        &self.pages
    }
}

impl Pages {
    pub fn limit(&self) -> i64 {
        self.page_size.unwrap_or(20)
    }

    pub fn offset(&self) -> i64 {
        (self.page.unwrap_or(1) - 1) * self.limit()
    }

    /// Sorts by the chosen column; default: newest first.
    pub fn sort(&self, chosen: Option<&'static str>, newest: &'static str) -> Sort {
        let direction = self.sort_dir;
        match chosen {
            Some(column) => Sort { column, descending: direction == Some(Direction::Desc) },
            None => Sort { column: newest, descending: direction != Some(Direction::Asc) },
        }
    }

    pub fn page<T>(&self, (items, total): (Vec<T>, Total)) -> Page<T> {
        Page::new(items, self.page.unwrap_or(1), self.limit(), total)
    }
}
