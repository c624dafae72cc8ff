//! Rows of SQLite where it is called directly, for all that derives `sqlx::FromRow`.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Deserialize;
use sqlx::{
    ColumnIndex, Database, Decode, Error, Type,
    error::BoxDynError,
    types::{Json, Uuid},
};

use super::{
    Plain,
    nobody::{Nobody, Nothing},
};

/// SQLite as a library, in the eyes of sqlx.
#[derive(Debug)]
pub struct Embedded;

impl Database for Embedded {
    type Connection = Nobody;
    type TransactionManager = Nobody;
    type Row = Row;
    type QueryResult = ();
    type Column = Column;
    type TypeInfo = Anything;
    type Value = Owned;
    type ValueRef<'r> = Cell<'r>;
    type Arguments = Nothing;
    type ArgumentBuffer = ();
    type Statement = Nobody;

    const NAME: &'static str = "SQLite";
    const URL_SCHEMES: &'static [&'static str] = &[];
}

pub struct Row {
    names: Arc<Names>,
    values: Vec<Plain>,
}

/// The columns of a statement.
pub(super) struct Names {
    columns: Vec<Column>,
    places: HashMap<String, usize>,
}

#[derive(Debug)]
pub struct Column {
    place: usize,
    name: String,
}

impl Names {
    pub fn of(statement: &rusqlite::Statement) -> Self {
        let names = statement.column_names().into_iter().map(str::to_owned);
        let columns: Vec<_> =
            names.enumerate().map(|(place, name)| Column { place, name }).collect();
        let places = columns.iter().map(|column| (column.name.clone(), column.place)).collect();
        Self { columns, places }
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }
}

impl Row {
    pub(super) fn new(names: Arc<Names>) -> Self {
        Self { values: Vec::with_capacity(names.len()), names }
    }

    /// Becomes this one.
    pub(super) fn fill(&mut self, row: &rusqlite::Row) -> rusqlite::Result<()> {
        self.values.clear();
        for place in 0..self.names.len() {
            self.values.push(row.get(place)?);
        }
        Ok(())
    }
}

impl sqlx::Row for Row {
    type Database = Embedded;

    fn columns(&self) -> &[Column] {
        &self.names.columns
    }

    fn try_get_raw<I: ColumnIndex<Self>>(&self, index: I) -> Result<Cell<'_>, Error> {
        let place = index.index(self)?;
        let len = self.values.len();
        self.values.get(place).map(Cell).ok_or(Error::ColumnIndexOutOfBounds { index: place, len })
    }
}

impl ColumnIndex<Row> for str {
    fn index(&self, row: &Row) -> Result<usize, Error> {
        let place = row.names.places.get(self).copied();
        place.ok_or_else(|| Error::ColumnNotFound(self.to_owned()))
    }
}

impl ColumnIndex<Row> for usize {
    fn index(&self, _: &Row) -> Result<usize, Error> {
        Ok(*self)
    }
}

impl sqlx::Column for Column {
    type Database = Embedded;

    fn ordinal(&self) -> usize {
        self.place
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn type_info(&self) -> &Anything {
        &Anything
    }
}

/// SQLite's columns hold what they were given; whoever reads a value says what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Anything;

impl fmt::Display for Anything {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
}

impl sqlx::TypeInfo for Anything {
    fn is_null(&self) -> bool {
        false
    }

    fn name(&self) -> &str {
        "anything"
    }
}

pub struct Cell<'r>(&'r Plain);

impl<'r> sqlx::ValueRef<'r> for Cell<'r> {
    type Database = Embedded;

    fn to_owned(&self) -> Owned {
        Owned(self.0.clone())
    }

    fn type_info(&self) -> Cow<'_, Anything> {
        Cow::Owned(Anything)
    }

    fn is_null(&self) -> bool {
        matches!(self.0, Plain::Null)
    }
}

pub struct Owned(Plain);

impl sqlx::Value for Owned {
    type Database = Embedded;

    fn as_ref(&self) -> Cell<'_> {
        Cell(&self.0)
    }

    fn type_info(&self) -> Cow<'_, Anything> {
        Cow::Owned(Anything)
    }

    fn is_null(&self) -> bool {
        matches!(self.0, Plain::Null)
    }
}

impl<'r> Cell<'r> {
    fn integer(self) -> Result<i64, BoxDynError> {
        match self.0 {
            Plain::Integer(number) => Ok(*number),
            other => Err(unlike("an integer", other)),
        }
    }

    fn text(self) -> Result<&'r str, BoxDynError> {
        match self.0 {
            Plain::Text(text) => Ok(text),
            other => Err(unlike("a text", other)),
        }
    }

    fn blob(self) -> Result<&'r [u8], BoxDynError> {
        match self.0 {
            Plain::Blob(bytes) => Ok(bytes),
            other => Err(unlike("a blob", other)),
        }
    }

    fn real(self) -> Result<f64, BoxDynError> {
        match self.0 {
            Plain::Real(number) => Ok(*number),
            Plain::Integer(number) => Ok(*number as f64),
            other => Err(unlike("a number", other)),
        }
    }
}

fn unlike(what: &str, value: &Plain) -> BoxDynError {
    format!("{what} is wanted, {:?} is there", value.data_type()).into()
}

macro_rules! decoded {
    ($($kind:ty: $cell:ident => $value:expr),+ $(,)?) => {
        $(
            impl Type<Embedded> for $kind {
                fn type_info() -> Anything {
                    Anything
                }

                fn compatible(_: &Anything) -> bool {
                    true
                }
            }

            impl<'r> Decode<'r, Embedded> for $kind {
                fn decode($cell: Cell<'r>) -> Result<Self, BoxDynError> {
                    Ok($value)
                }
            }
        )+
    };
}

decoded! {
    bool: it => it.integer()? != 0,
    i16: it => it.integer()?.try_into()?,
    i32: it => it.integer()?.try_into()?,
    i64: it => it.integer()?,
    f64: it => it.real()?,
    String: it => it.text()?.to_owned(),
    Vec<u8>: it => it.blob()?.to_owned(),
    Uuid: it => Uuid::from_slice(it.blob()?)?,
    DateTime<Utc>: it => DateTime::parse_from_rfc3339(it.text()?)?.into(),
    NaiveDate: it => it.text()?.parse()?,
    NaiveTime: it => it.text()?.parse()?,
}

impl Type<Embedded> for str {
    fn type_info() -> Anything {
        Anything
    }
}

impl<'r> Decode<'r, Embedded> for &'r str {
    fn decode(cell: Cell<'r>) -> Result<Self, BoxDynError> {
        cell.text()
    }
}

impl<T> Type<Embedded> for Json<T> {
    fn type_info() -> Anything {
        Anything
    }
}

impl<'r, T: Deserialize<'r>> Decode<'r, Embedded> for Json<T> {
    fn decode(cell: Cell<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(serde_json::from_str(cell.text()?)?))
    }
}
