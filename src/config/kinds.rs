//! Types of settings: parsing and display.

use std::{fmt, net::SocketAddr, path::PathBuf};

use chrono_tz::Tz;

use crate::kernel::{access::Role, email::Email, phone::Phone, secret::Secret};

/// A type of settings.
pub trait Setting: Sized {
    fn read(word: &str) -> Result<Self, String>;
    fn show(&self) -> String;
}

impl<T: Setting> Setting for Option<T> {
    fn read(word: &str) -> Result<Self, String> {
        if word.is_empty() { Ok(None) } else { T::read(word).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }
}

macro_rules! plain_settings {
    ($($type:ty: $expected:literal),+ $(,)?) => {
        $(impl Setting for $type {
            fn read(word: &str) -> Result<Self, String> {
                word.parse().map_err(|_| format!("{word:?} is not {}", $expected))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        })+
    };
}

plain_settings! {
    SocketAddr: "an address like 127.0.0.1:8080",
    String: "a text",
    Secret: "a text",
    Tz: "a time zone like Asia/Jakarta",
    u8: "a number from 0 to 255",
    u32: "a whole number",
    LogFormat: "text or json",
    PaymentProvider: "simulator, midtrans or xendit",
    RequireSecondFactor: "none, admins or staff",
    SendRefunds: "manual or auto",
    PayoutProvider: "manual, xendit, midtrans or simulator",
}

impl Setting for PathBuf {
    fn read(word: &str) -> Result<Self, String> {
        if word.is_empty() { Err("must not be empty".into()) } else { Ok(word.into()) }
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl Setting for Email {
    fn read(word: &str) -> Result<Self, String> {
        word.parse().map_err(|_| format!("{word:?} is not an e-mail address"))
    }

    fn show(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Setting for Phone {
    fn read(word: &str) -> Result<Self, String> {
        word.parse().map_err(|_| format!("{word:?} is not a telephone number"))
    }

    fn show(&self) -> String {
        self.as_str().to_owned()
    }
}

/// A URL that may contain a password, which is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(pub String);

impl Setting for Url {
    fn read(word: &str) -> Result<Self, String> {
        Ok(Self(word.to_owned()))
    }

    fn show(&self) -> String {
        let Some((scheme, rest)) = self.0.split_once("://") else {
            // Keywords and values, of which one may be a password.
            let keywords = self.0.starts_with("host=");
            return if keywords { "host=***".into() } else { self.0.clone() };
        };
        // Passwords are in the user info or in the query.
        let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
        match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://***@{host}{query}"),
            None => format!("{scheme}://{rest}{query}"),
        }
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}

/// URLs with a restricted set of schemes.
macro_rules! url_settings {
    ($($(#[$doc:meta])* $name:ident: $fits:expr, $expected:literal;)+) => {
        $($(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(pub Url);

        impl Setting for $name {
            fn read(word: &str) -> Result<Self, String> {
                let fits: fn(&str, &str) -> bool = $fits;
                let (scheme, rest) = word.split_once(':').unwrap_or((word, ""));
                match fits(scheme, rest) {
                    true => Ok(Self(Url(word.to_owned()))),
                    false => Err(concat!("must be ", $expected).to_owned()),
                }
            }

            fn show(&self) -> String {
                self.0.show()
            }
        })+
    };
}

url_settings! {
    /// A web address.
    WebUrl: |scheme, rest| {
        matches!(scheme, "http" | "https") && rest.len() > 2 && rest.starts_with("//")
    }, "http://… or https://…";
    DatabaseUrl: |scheme, rest| match scheme {
        "postgres" | "postgresql" => rest.starts_with("//"),
        "sqlite" => !rest.is_empty(),
        _ => scheme.starts_with("host="),
    }, "postgres://…, host=… dbname=… or sqlite:file";
    ReplicaUrl: |scheme, rest| match scheme {
        "postgres" | "postgresql" => rest.starts_with("//"),
        _ => scheme.starts_with("host="),
    }, "postgres://… or host=… dbname=…";
    MailUrl: |scheme, rest| match scheme {
        "file" => rest.is_empty(),
        "smtp" | "smtps" => rest.starts_with("//"),
        _ => false,
    }, "file or smtp://…";
    StorageUrl: |scheme, rest| match scheme {
        "local" => rest.is_empty(),
        "s3" => rest.starts_with("//"),
        _ => false,
    }, "local or s3://…";
}

impl DatabaseUrl {
    /// Whether several processes can share the database.
    pub fn is_shared(&self) -> bool {
        self.0.0.starts_with("postgres") || self.0.0.starts_with("host=")
    }
}

/// Percent of the price by hours before departure, longest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps(pub Vec<(u32, u8)>);

impl Setting for Steps {
    fn read(word: &str) -> Result<Self, String> {
        let steps = word.split(',').map(str::trim).filter(|step| !step.is_empty());
        let steps: Option<Vec<(u32, u8)>> = steps
            .map(|step| {
                let (hours, percent) = step.split_once(':')?;
                let hours = hours.strip_suffix('h')?.parse().ok()?;
                Some((hours, percent.parse().ok().filter(|percent| *percent <= 100)?))
            })
            .collect();
        match steps {
            Some(steps) if steps.is_sorted_by(|a, b| a.0 > b.0) => Ok(Self(steps)),
            _ => Err(format!("{word:?} does not have the form 24h:100,6h:50, longest first")),
        }
    }

    fn show(&self) -> String {
        let steps: Vec<_> = self.0.iter().map(|(h, percent)| format!("{h}h:{percent}")).collect();
        steps.join(",")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch(pub bool);

impl Setting for Switch {
    fn read(word: &str) -> Result<Self, String> {
        match word.to_lowercase().as_str() {
            "on" | "true" | "1" | "yes" => Ok(Self(true)),
            "off" | "false" | "0" | "no" => Ok(Self(false)),
            _ => Err(format!("{word:?} is not on or off")),
        }
    }

    fn show(&self) -> String {
        if self.0 { "on" } else { "off" }.to_owned()
    }
}

/// A fraction from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio(pub f64);

impl Setting for Ratio {
    fn read(word: &str) -> Result<Self, String> {
        let ratio = word.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
        ratio.map(Self).ok_or_else(|| format!("{word:?} is not a number from 0 to 1"))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Several secrets, never displayed.
#[derive(Clone, Debug, Default)]
pub struct Secrets(pub Vec<Secret>);

impl Setting for Secrets {
    fn read(word: &str) -> Result<Self, String> {
        let secrets = word.split(',').map(str::trim).filter(|secret| !secret.is_empty());
        Ok(Self(secrets.map(Secret::new).collect()))
    }

    fn show(&self) -> String {
        let hidden: Vec<_> = self.0.iter().map(Secret::to_string).collect();
        hidden.join(",")
    }
}

/// Exact origins, like `https://app.example`.
#[derive(Clone, Debug, Default)]
pub struct Origins(pub Vec<axum::http::HeaderValue>);

impl Setting for Origins {
    fn read(word: &str) -> Result<Self, String> {
        let origins = word.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        origins
            .map(|origin| match origin.split_once("://") {
                Some(("http" | "https", host)) if !host.is_empty() && !host.contains('/') => {
                    origin.parse().map_err(|_| format!("{origin:?} is not an origin"))
                }
                _ => Err(format!("{origin:?} is not an origin like https://app.example")),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn show(&self) -> String {
        let origins: Vec<_> = self.0.iter().filter_map(|origin| origin.to_str().ok()).collect();
        origins.join(",")
    }
}

crate::string_enum! {
    pub enum LogFormat { Text = "text", Json = "json" }
}

crate::string_enum! {
    pub enum PaymentProvider { Simulator = "simulator", Midtrans = "midtrans", Xendit = "xendit" }
}

crate::string_enum! {
    /// Who sends refunds: a person, or the service through the payment provider.
    pub enum SendRefunds { Manual = "manual", Auto = "auto" }
}

crate::string_enum! {
    /// Who pays settlements out.
    pub enum PayoutProvider {
        Manual = "manual",
        Xendit = "xendit",
        Midtrans = "midtrans",
        Simulator = "simulator",
    }
}

crate::string_enum! {
    /// Who must have a second factor.
    pub enum RequireSecondFactor { None = "none", Admins = "admins", Staff = "staff" }
}

impl RequireSecondFactor {
    pub fn applies_to(self, role: Role) -> bool {
        match self {
            Self::None => false,
            Self::Admins => role == Role::Admin,
            Self::Staff => matches!(role, Role::Admin | Role::Staff),
        }
    }
}
