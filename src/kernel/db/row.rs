//! Decodes rows of either engine.

use std::{
    any::{Any, TypeId},
    cell::{Cell, RefCell},
    collections::HashMap,
};

use super::{Failure, FromValue, Result, Value};

/// A type that a row decodes to. Derived for structs; tuples take the columns by position.
pub trait FromRow: Sized + Send + 'static {
    fn from_row(row: &Row<'_>) -> Result<Self>;
}

/// A type that rows decode to, as a value: what reads rows is compiled once and not for each of some two
/// hundred types.
#[derive(Clone, Copy)]
pub(super) struct RowType {
    id: TypeId,
    none: fn() -> Rows,
    add: fn(&mut Rows, &Row<'_>) -> Result<()>,
}

/// A `Vec` of the type.
type Rows = Box<dyn Any + Send>;

impl RowType {
    pub fn of<T: FromRow>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            none: || Box::new(Vec::<T>::new()),
            add: |rows, row| {
                let rows = rows.downcast_mut::<Vec<T>>().expect("it was made by `none`");
                rows.push(T::from_row(row)?);
                Ok(())
            },
        }
    }
}

/// The rows of a result as they are decoded.
pub(super) struct Decoder {
    kind: RowType,
    fields: Fields,
    rows: Rows,
    count: usize,
}

/// Decoded rows.
pub(super) struct Decoded(Rows);

impl Decoder {
    /// For the result of a statement. `None`: its text was composed.
    pub fn new(kind: RowType, text: Option<&'static str>) -> Self {
        Self { kind, fields: Fields::of(kind.id, text), rows: (kind.none)(), count: 0 }
    }

    pub fn add(&mut self, source: Source<'_>) -> Result<()> {
        self.fields.next.set(0);
        self.count += 1;
        (self.kind.add)(&mut self.rows, &Row { source, fields: &self.fields })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn finish(self) -> Decoded {
        Decoded(self.rows)
    }
}

impl Decoded {
    /// The rows, of the type that they were decoded to.
    pub fn into_rows<T: FromRow>(self) -> Vec<T> {
        *self.0.downcast().expect("they are read as they were decoded")
    }
}

pub struct Row<'r> {
    source: Source<'r>,
    fields: &'r Fields,
}

#[derive(Clone, Copy)]
pub(super) enum Source<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

/// Columns of a struct's fields. All rows of a result decode the same fields in the same order, so
/// a column is looked up by name for the first row alone.
struct Fields {
    columns: RefCell<Vec<usize>>,
    next: Cell<usize>,
    /// Where to keep the columns for the next time.
    key: Option<ShapeKey>,
}

/// A static statement and the record that is read from it. Its text is identified by its address.
type ShapeKey = (*const u8, usize, TypeId);

thread_local! {
    /// Most results have one row, whose columns would be looked up by name each time. There are as
    /// many entries as statements in the code.
    static SHAPES: RefCell<HashMap<ShapeKey, Vec<usize>>> = RefCell::default();
}

impl Fields {
    fn of(kind: TypeId, text: Option<&'static str>) -> Self {
        let key = text.map(|text| (text.as_ptr(), text.len(), kind));
        let known = key.and_then(|key| SHAPES.with_borrow_mut(|shapes| shapes.remove(&key)));
        Self { columns: RefCell::new(known.unwrap_or_default()), next: Cell::new(0), key }
    }
}

impl Drop for Fields {
    fn drop(&mut self) {
        let columns = self.columns.take();
        if let Some(key) = self.key.filter(|_| !columns.is_empty()) {
            SHAPES.with_borrow_mut(|shapes| shapes.insert(key, columns));
        }
    }
}

/// Reads all rows of a PostgreSQL result.
pub(super) fn read_all(
    kind: RowType,
    text: Option<&'static str>,
    rows: &[tokio_postgres::Row],
) -> Result<Decoded> {
    let mut decoder = Decoder::new(kind, text);
    rows.iter().try_for_each(|row| decoder.add(Source::Postgres(row)))?;
    Ok(decoder.finish())
}

impl Row<'_> {
    /// The value of the column with this name.
    pub fn field<T: FromValue>(&self, name: &str) -> Result<T> {
        let place = self.fields.next.get();
        self.fields.next.set(place + 1);
        let known = self.fields.columns.borrow().get(place).copied();
        let column = match known {
            Some(column) => column,
            None => {
                let column = self.find(name, place)?;
                self.fields.columns.borrow_mut().push(column);
                column
            }
        };
        debug_assert_eq!(self.name(column), Some(name), "fields are read in one order");
        self.at(column)
    }

    /// Most fields are in the order of the columns, so the search begins there.
    fn find(&self, name: &str, place: usize) -> Result<usize> {
        let columns = || (0..).map_while(|column| self.name(column));
        debug_assert!(columns().filter(|column| *column == name).count() < 2, "two are {name}");
        if self.name(place) == Some(name) {
            return Ok(place);
        }
        let found = columns().position(|column| column == name);
        found.ok_or_else(|| Failure::fault(format!("there is no column {name}")))
    }

    fn name(&self, column: usize) -> Option<&str> {
        match self.source {
            Source::Sqlite(row) => row.as_ref().column_name(column).ok(),
            Source::Postgres(row) => row.columns().get(column).map(|column| column.name()),
        }
    }

    /// The value of the column at this place.
    pub(super) fn at<T: FromValue>(&self, column: usize) -> Result<T> {
        let value = match self.source {
            Source::Sqlite(row) => Value::from_sqlite(row.get_ref(column)?),
            Source::Postgres(row) => row.try_get(column).map_err(|error| {
                let why = error.into_source();
                why.map_or_else(|| "it cannot be read".into(), |why| why.to_string())
            }),
        };
        value.and_then(T::from_value).map_err(|why| {
            let name = self.name(column).unwrap_or_default();
            Failure::fault(format!("column {name}: {why}"))
        })
    }
}

macro_rules! tuples {
    ($(($($kind:ident $column:tt),+))+) => {
        $(impl<$($kind: FromValue + Send + 'static),+> FromRow for ($($kind,)+) {
            fn from_row(row: &Row<'_>) -> Result<Self> {
                Ok(($(row.at::<$kind>($column)?,)+))
            }
        })+
    };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
}
