//! What sqlx wants of a database besides its rows. Nobody calls it, and most of it takes a value that
//! cannot exist.

use std::{str::FromStr, time::Duration};

use sqlx::{
    Arguments, ConnectOptions, Connection, Either, Encode, Error, SqlStr, Statement, Transaction,
    Type, error::BoxDynError,
};
use sqlx_core::transaction::TransactionManager;
use tracing::log::LevelFilter;

use super::rows::{Anything, Column, Embedded};

#[derive(Clone, Debug)]
pub enum Nobody {}

impl Connection for Nobody {
    type Database = Embedded;
    type Options = Self;

    async fn close(self) -> Result<(), Error> {
        match self {}
    }

    async fn close_hard(self) -> Result<(), Error> {
        match self {}
    }

    async fn ping(&mut self) -> Result<(), Error> {
        match *self {}
    }

    async fn begin(&mut self) -> Result<Transaction<'_, Embedded>, Error> {
        match *self {}
    }

    fn shrink_buffers(&mut self) {
        match *self {}
    }

    async fn flush(&mut self) -> Result<(), Error> {
        match *self {}
    }

    fn should_flush(&self) -> bool {
        match *self {}
    }
}

impl FromStr for Nobody {
    type Err = Error;

    fn from_str(_: &str) -> Result<Self, Error> {
        Err(Error::Configuration("this database is opened elsewhere".into()))
    }
}

impl ConnectOptions for Nobody {
    type Connection = Self;

    fn from_url(url: &reqwest::Url) -> Result<Self, Error> {
        url.as_str().parse()
    }

    async fn connect(&self) -> Result<Self, Error> {
        match *self {}
    }

    fn log_statements(self, _: LevelFilter) -> Self {
        match self {}
    }

    fn log_slow_statements(self, _: LevelFilter, _: Duration) -> Self {
        match self {}
    }
}

impl TransactionManager for Nobody {
    type Database = Embedded;

    async fn begin(conn: &mut Self, _: Option<SqlStr>) -> Result<(), Error> {
        match *conn {}
    }

    async fn commit(conn: &mut Self) -> Result<(), Error> {
        match *conn {}
    }

    async fn rollback(conn: &mut Self) -> Result<(), Error> {
        match *conn {}
    }

    fn start_rollback(conn: &mut Self) {
        match *conn {}
    }

    fn get_transaction_depth(conn: &Self) -> usize {
        match *conn {}
    }
}

impl Statement for Nobody {
    type Database = Embedded;

    fn into_sql(self) -> SqlStr {
        match self {}
    }

    fn sql(&self) -> &SqlStr {
        match *self {}
    }

    fn parameters(&self) -> Option<Either<&[Anything], usize>> {
        match *self {}
    }

    fn columns(&self) -> &[Column] {
        match *self {}
    }

    sqlx_core::impl_statement_query!(Nothing);
}

#[derive(Default)]
pub struct Nothing;

impl Arguments for Nothing {
    type Database = Embedded;

    fn reserve(&mut self, _: usize, _: usize) {}

    fn add<'t, T: Encode<'t, Embedded> + Type<Embedded>>(
        &mut self,
        _: T,
    ) -> Result<(), BoxDynError> {
        Err("values are bound elsewhere".into())
    }

    fn len(&self) -> usize {
        0
    }
}

sqlx_core::impl_into_arguments_for_arguments!(Nothing);
