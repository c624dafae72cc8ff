//! Values of both engines, and the conversions of Rust types.

use std::{
    borrow::Cow,
    error::Error,
    ops::{Deref, DerefMut},
};

use bytes::BytesMut;
use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, Utc};
use rusqlite::types::{ToSqlOutput, ValueRef};
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::{Failure, Result};
use crate::kernel::ids::Uuid;

pub use tokio_postgres::types::Type as PgType;

type BoxError = Box<dyn Error + Sync + Send>;

/// A value that is bound to a statement, or read from a column.
///
/// SQLite has no types of its own for some of them: it stores a bool as an integer, a UUID as a
/// blob, and dates, times and JSON as text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(Cow<'v, str>),
    Bytes(Cow<'v, [u8]>),
    Uuid(Uuid),
    Timestamp(DateTime<Utc>),
    Date(NaiveDate),
    Time(NaiveTime),
    Json(Cow<'v, str>),
}

/// A type that can be bound.
pub trait ToValue {
    /// The type that is declared to PostgreSQL, also for NULL.
    const TYPE: PgType;

    fn to_value(self) -> Result<Value<'static>>;
}

/// A type that a column decodes to.
pub trait FromValue: Sized {
    fn from_value(value: Value<'_>) -> Result<Self, String>;
}

/// A JSON column of a known shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Json<T>(pub T);

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Json<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<'v> Value<'v> {
    pub fn text(self) -> Result<Cow<'v, str>, String> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(other.is_not("a text")),
        }
    }

    fn int(self) -> Result<i64, String> {
        match self {
            Self::Int(number) => Ok(number),
            other => Err(other.is_not("an integer")),
        }
    }

    fn json(self) -> Result<Cow<'v, str>, String> {
        match self {
            Self::Json(text) | Self::Text(text) => Ok(text),
            other => Err(other.is_not("JSON")),
        }
    }

    /// Names the variant alone, because the value may be secret.
    fn is_not(&self, wanted: &str) -> String {
        let found = format!("{self:?}");
        format!("expected {wanted}, found {}", found.split('(').next().unwrap_or_default())
    }

    pub(super) fn from_sqlite(value: ValueRef<'v>) -> Result<Self, String> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Int(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => {
                Self::Text(str::from_utf8(text).map_err(describe_error)?.into())
            }
            ValueRef::Blob(bytes) => Self::Bytes(bytes.into()),
        })
    }
}

fn describe_error(error: impl ToString) -> String {
    error.to_string()
}

/// Types with the variant they are bound as, and how they are decoded.
macro_rules! stored {
    ($($kind:ty, $pg:ident: $it:ident => $value:expr, $read:expr;)+) => {
        $(impl ToValue for $kind {
            const TYPE: PgType = PgType::$pg;

            fn to_value(self) -> Result<Value<'static>> {
                let $it = self;
                Ok($value)
            }
        }

        impl FromValue for $kind {
            fn from_value(value: Value<'_>) -> Result<Self, String> {
                let read: fn(Value<'_>) -> Result<Self, String> = $read;
                read(value)
            }
        })+
    };
}

stored! {
    bool, BOOL: it => Value::Bool(it), |value| match value {
        Value::Bool(it) => Ok(it),
        other => other.int().map(|it| it != 0),
    };
    i16, INT2: it => Value::Int(it.into()), |value| value.int()?.try_into().map_err(describe_error);
    i32, INT4: it => Value::Int(it.into()), |value| value.int()?.try_into().map_err(describe_error);
    i64, INT8: it => Value::Int(it), |value| value.int();
    f64, FLOAT8: it => Value::Real(it), |value| match value {
        Value::Real(it) => Ok(it),
        other => other.int().map(|it| it as f64),
    };
    String, TEXT: it => Value::Text(it.into()), |value| value.text().map(Cow::into_owned);
    Vec<u8>, BYTEA: it => Value::Bytes(it.into()), |value| match value {
        Value::Bytes(it) => Ok(it.into_owned()),
        other => Err(other.is_not("bytes")),
    };
    Uuid, UUID: it => Value::Uuid(it), |value| match value {
        Value::Uuid(it) => Ok(it),
        Value::Bytes(it) => Uuid::from_slice(&it).map_err(describe_error),
        other => Err(other.is_not("a UUID")),
    };
    DateTime<Utc>, TIMESTAMPTZ: it => Value::Timestamp(it), |value| match value {
        Value::Timestamp(it) => Ok(it),
        other => Ok(DateTime::parse_from_rfc3339(&other.text()?).map_err(describe_error)?.into()),
    };
    NaiveDate, DATE: it => Value::Date(it), |value| match value {
        Value::Date(it) => Ok(it),
        other => other.text()?.parse().map_err(describe_error),
    };
    NaiveTime, TIME: it => Value::Time(it), |value| match value {
        Value::Time(it) => Ok(it),
        other => other.text()?.parse().map_err(describe_error),
    };
    serde_json::Value, JSONB: it => Value::Json(it.to_string().into()), |value| {
        serde_json::from_str(&value.json()?).map_err(describe_error)
    };
}

impl ToValue for &'static str {
    const TYPE: PgType = PgType::TEXT;

    fn to_value(self) -> Result<Value<'static>> {
        Ok(Value::Text(self.into()))
    }
}

impl<T: Serialize> ToValue for Json<T> {
    const TYPE: PgType = PgType::JSONB;

    fn to_value(self) -> Result<Value<'static>> {
        let text = serde_json::to_string(&self.0).map_err(Failure::fault)?;
        Ok(Value::Json(text.into()))
    }
}

impl<T: DeserializeOwned> FromValue for Json<T> {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        serde_json::from_str(&value.json()?).map(Self).map_err(describe_error)
    }
}

impl<T: ToValue> ToValue for Option<T> {
    const TYPE: PgType = T::TYPE;

    fn to_value(self) -> Result<Value<'static>> {
        self.map_or(Ok(Value::Null), T::to_value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Result<Self, String> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let borrowed = match self {
            Self::Null => ValueRef::Null,
            Self::Bool(it) => ValueRef::Integer((*it).into()),
            Self::Int(it) => ValueRef::Integer(*it),
            Self::Real(it) => ValueRef::Real(*it),
            Self::Text(it) | Self::Json(it) => ValueRef::Text(it.as_bytes()),
            Self::Bytes(it) => ValueRef::Blob(it),
            Self::Uuid(it) => ValueRef::Blob(it.as_bytes()),
            Self::Timestamp(it) => {
                return Ok(it.to_rfc3339_opts(SecondsFormat::AutoSi, false).into());
            }
            Self::Date(it) => return Ok(it.to_string().into()),
            Self::Time(it) => return Ok(it.to_string().into()),
        };
        Ok(ToSqlOutput::Borrowed(borrowed))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Bool(it) => it.to_sql(kind, out),
            Self::Int(it) => match *kind {
                Type::INT2 => i16::try_from(*it)?.to_sql(kind, out),
                Type::INT4 => i32::try_from(*it)?.to_sql(kind, out),
                _ => it.to_sql(kind, out),
            },
            Self::Real(it) => it.to_sql(kind, out),
            Self::Text(it) => (&**it).to_sql(kind, out),
            Self::Bytes(it) => (&**it).to_sql(kind, out),
            Self::Uuid(it) => it.to_sql(kind, out),
            Self::Timestamp(it) => it.to_sql(kind, out),
            Self::Date(it) => it.to_sql(kind, out),
            Self::Time(it) => it.to_sql(kind, out),
            Self::Json(it) => {
                // The version of the binary format.
                out.extend_from_slice(&[1]);
                out.extend_from_slice(it.as_bytes());
                Ok(IsNull::No)
            }
        }
    }

    /// A statement is prepared with the types of its values, so they always match.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'r> FromSql<'r> for Value<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, BoxError> {
        Ok(match *kind {
            Type::BOOL => Self::Bool(bool::from_sql(kind, raw)?),
            Type::INT2 => Self::Int(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Self::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Self::Int(i64::from_sql(kind, raw)?),
            Type::FLOAT4 => Self::Real(f32::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => Self::Real(f64::from_sql(kind, raw)?),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => {
                Self::Text(str::from_utf8(raw)?.into())
            }
            Type::BYTEA => Self::Bytes(raw.into()),
            Type::UUID => Self::Uuid(Uuid::from_slice(raw)?),
            Type::TIMESTAMPTZ => Self::Timestamp(DateTime::<Utc>::from_sql(kind, raw)?),
            Type::DATE => Self::Date(NaiveDate::from_sql(kind, raw)?),
            Type::TIME => Self::Time(NaiveTime::from_sql(kind, raw)?),
            Type::JSON => Self::Json(str::from_utf8(raw)?.into()),
            Type::JSONB => match raw {
                [1, text @ ..] => Self::Json(str::from_utf8(text)?.into()),
                _ => return Err("unknown version of JSONB".into()),
            },
            _ => return Err(format!("columns of type {kind} are not supported").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, BoxError> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
