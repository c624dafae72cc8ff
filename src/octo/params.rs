//! The parameters of a path and of a query. The base of one partner has one more of them.

use std::collections::HashMap;

use axum::{extract::FromRequestParts, http::request::Parts};
use chrono::NaiveDate;

use super::{
    error::{Problem, Result},
    request,
};
use crate::{
    app::App,
    files::SignedQuery,
    kernel::{http::PathParams, ids::Uuid},
};

/// The most parameters of a query that are read.
const MANY: usize = 50;
/// The longest value of one.
const LONGEST: usize = 500;

pub struct Params {
    path: Vec<String>,
    query: HashMap<String, String>,
}

impl Params {
    /// The id that the path ends with, or that is followed by an action.
    pub fn last(&self) -> &str {
        self.path.last().map(String::as_str).unwrap_or_default()
    }

    /// The uuid of a booking.
    pub fn booking(&self) -> Result<Uuid> {
        request::uuid(self.last()).ok_or_else(|| Problem::booking(self.last()))
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        match self.query.get(name) {
            Some(text) if text.len() > LONGEST || text.contains('\0') => {
                Err(Problem::bad_field(name))
            }
            text => Ok(text.map(String::as_str)),
        }
    }

    pub fn date(&self, name: &str) -> Result<Option<NaiveDate>> {
        let read = |text: &str| request::date(text).ok_or_else(|| Problem::bad_field(name));
        self.text(name)?.map(read).transpose()
    }

    pub fn signature(&self) -> SignedQuery {
        let value = |name: &str| self.query.get(name).cloned();
        SignedQuery { expires: value("expires"), signature: value("signature") }
    }
}

impl FromRequestParts<App> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        let path = parts.extensions.get::<PathParams>();
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        Ok(Self {
            path: path.map(|params| params.0.clone()).unwrap_or_default(),
            query: form_urlencoded::parse(query).into_owned().take(MANY).collect(),
        })
    }
}
