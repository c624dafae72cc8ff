//! Data of a response that are serialized once and sent several times.

use std::{borrow::Cow, marker::PhantomData, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::kernel::error::{Error, Result};

/// A serialized `T`.
pub struct Rendered<T>(Arc<RawValue>, PhantomData<fn() -> T>);

impl<T: Serialize> Rendered<T> {
    pub fn new(data: &T) -> Result<Self> {
        Ok(Self(to_raw_value(data).map_err(Error::internal)?.into(), PhantomData))
    }

    pub fn bytes(&self) -> usize {
        self.0.get().len()
    }
}

impl<T> Clone for Rendered<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<T> Serialize for Rendered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Rendered<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
