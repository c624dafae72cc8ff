//! String enums: the same word in JSON, schema and database.

/// `words! { pub enum Role { Admin = "admin", … } }`
#[macro_export]
macro_rules! words {
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

        impl<DB: ::sqlx::Database> ::sqlx::Type<DB> for $name
        where
            str: ::sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <str as ::sqlx::Type<DB>>::type_info()
            }

            fn compatible(ty: &DB::TypeInfo) -> bool {
                <str as ::sqlx::Type<DB>>::compatible(ty)
            }
        }

        impl<'q, DB: ::sqlx::Database> ::sqlx::Encode<'q, DB> for $name
        where
            &'static str: ::sqlx::Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                buf: &mut DB::ArgumentBuffer,
            ) -> ::std::result::Result<::sqlx::encode::IsNull, ::sqlx::error::BoxDynError> {
                ::sqlx::Encode::<DB>::encode(self.as_str(), buf)
            }
        }

        impl $crate::kernel::db::Value for $name {
            fn plain(self) -> $crate::kernel::db::Result<$crate::kernel::db::Plain> {
                self.as_str().plain()
            }
        }

        impl<'r, DB: ::sqlx::Database> ::sqlx::Decode<'r, DB> for $name
        where
            &'r str: ::sqlx::Decode<'r, DB>,
        {
            fn decode(
                value: DB::ValueRef<'r>,
            ) -> ::std::result::Result<Self, ::sqlx::error::BoxDynError> {
                Ok(<&str as ::sqlx::Decode<DB>>::decode(value)?.parse()?)
            }
        }
    };
}

/// A newtype over a type that both engines store, stored as that type.
#[macro_export]
macro_rules! stored_as {
    ($name:ident($inner:ty)) => {
        impl<DB: ::sqlx::Database> ::sqlx::Type<DB> for $name
        where
            $inner: ::sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$inner as ::sqlx::Type<DB>>::type_info()
            }

            fn compatible(ty: &DB::TypeInfo) -> bool {
                <$inner as ::sqlx::Type<DB>>::compatible(ty)
            }
        }

        impl<'q, DB: ::sqlx::Database> ::sqlx::Encode<'q, DB> for $name
        where
            $inner: ::sqlx::Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                buf: &mut DB::ArgumentBuffer,
            ) -> ::std::result::Result<::sqlx::encode::IsNull, ::sqlx::error::BoxDynError> {
                self.0.encode_by_ref(buf)
            }
        }

        impl $crate::kernel::db::Value for $name {
            fn plain(self) -> $crate::kernel::db::Result<$crate::kernel::db::Plain> {
                self.0.plain()
            }
        }

        impl<'r, DB: ::sqlx::Database> ::sqlx::Decode<'r, DB> for $name
        where
            $inner: ::sqlx::Decode<'r, DB>,
        {
            fn decode(
                value: DB::ValueRef<'r>,
            ) -> ::std::result::Result<Self, ::sqlx::error::BoxDynError> {
                <$inner as ::sqlx::Decode<DB>>::decode(value).map(Self)
            }
        }
    };
}
