//! String enums: the same word in JSON, schema and database.

/// `string_enum! { pub enum Role { Admin = "admin", … } }`
#[macro_export]
macro_rules! string_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$case_meta:meta])* $case:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$case_meta])* $case),+ }

        #[allow(dead_code)]
        impl $name {
            pub const ALL: &[Self] = &[$(Self::$case),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$case => $word),+ }
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> ::std::result::Result<Self, String> {
                match word {
                    $($word => Ok(Self::$case),)+
                    _ => Err(format!("{word:?} is not one of {}", [$($word),+].join(", "))),
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, s: S) -> ::std::result::Result<S::Ok, S::Error> {
                s.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(d: D) -> ::std::result::Result<Self, D::Error> {
                let word = <::std::borrow::Cow<'_, str> as ::serde::Deserialize>::deserialize(d)?;
                word.parse().map_err(::serde::de::Error::custom)
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }

        impl $crate::kernel::db::ToValue for $name {
            const TYPE: $crate::kernel::db::PgType = $crate::kernel::db::PgType::TEXT;

            fn to_value(self) -> $crate::kernel::db::Result<$crate::kernel::db::Value<'static>> {
                $crate::kernel::db::ToValue::to_value(self.as_str())
            }
        }

        impl $crate::kernel::db::FromValue for $name {
            fn from_value(
                value: $crate::kernel::db::Value<'_>,
            ) -> ::std::result::Result<Self, String> {
                value.text()?.parse()
            }
        }
    };
}

/// A newtype over a type that both engines store, stored as that type.
#[macro_export]
macro_rules! stored_as {
    ($name:ident($inner:ty)) => {
        impl $crate::kernel::db::ToValue for $name {
            const TYPE: $crate::kernel::db::PgType = <$inner as $crate::kernel::db::ToValue>::TYPE;

            fn to_value(self) -> $crate::kernel::db::Result<$crate::kernel::db::Value<'static>> {
                $crate::kernel::db::ToValue::to_value(self.0)
            }
        }

        impl $crate::kernel::db::FromValue for $name {
            fn from_value(
                value: $crate::kernel::db::Value<'_>,
            ) -> ::std::result::Result<Self, String> {
                $crate::kernel::db::FromValue::from_value(value).map(Self)
            }
        }
    };
}
