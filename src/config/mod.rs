//! Settings: defaults, then `dermaga.toml`, then the environment. Parsed once at start.

pub mod guard;
mod kinds;

use std::{collections::BTreeMap, ffi::OsString, net::SocketAddr, path::PathBuf};

use chrono_tz::Tz;

use crate::kernel::{email::Email, phone::Phone, secret::Secret};

pub use kinds::{
    DatabaseUrl, LogFormat, MailUrl, Origins, PaymentProvider, PayoutProvider, Ratio, ReplicaUrl,
    RequireSecondFactor, Secrets, SendRefunds, Steps, StorageUrl, Switch, Url, WebUrl,
};

use kinds::Setting;

/// Declares settings: field, type, default and documentation. The environment variable is
/// `DERMAGA_` and the field in upper case. In the file it is the field, or its first word as a
/// section (`[booking] hold_seconds = 900`).
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:literal;)+) => {
        /// All settings.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        /// Name, default and explanation of each setting.
        pub const SETTINGS: &[(&str, &str, &str)] =
            &[$((stringify!($name), $default, concat!($($doc),+))),+];

        impl Config {
            fn from_words(mut words: BTreeMap<String, String>) -> Result<Self, String> {
                $(
                    let word = words.remove(stringify!($name));
                    let $name = <$type as Setting>::read(word.as_deref().unwrap_or($default))
                        .map_err(|why| format!("{}: {why}", env_name(stringify!($name))))?;
                )+
                match words.keys().next() {
                    Some(unknown) => Err(format!("{}: unknown setting", env_name(unknown))),
                    None => Ok(Self { $($name),+ }),
                }
            }

            /// Names and effective values, without secrets.
            pub fn show(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), self.$name.show())),+]
            }
        }
    };
}

settings! {
    /// Address and port to listen on.
    listen: SocketAddr = "127.0.0.1:8080";
    /// Public address of this service. Default: `http://` and the listen address.
    public_url: Option<WebUrl> = "";
    /// Address of the web app that links in mails open. Default: a page of this service.
    app_url: Option<WebUrl> = "";
    /// Telephone number for help, shown at the foot of every page.
    help_phone: Option<Phone> = "";
    /// WhatsApp number for help, shown at the foot of every page.
    help_whatsapp: Option<Phone> = "";
    /// Folder of the SQLite database, local files and mails.
    data_dir: PathBuf = "./data";
    /// `postgres://…` or `sqlite:file`. Default: SQLite in the data directory.
    database_url: Option<DatabaseUrl> = "";
    /// `postgres://…` of a streaming replica, for searches and reports.
    replica_url: Option<ReplicaUrl> = "";
    /// The replica is read while it is at most so many seconds behind; at least 2.
    replica_max_lag: u32 = "5";
    /// 32 random bytes in base64. Required with PostgreSQL; generated in the data directory with
    /// SQLite.
    secret_key: Option<Secret> = "";
    /// Earlier secret keys, separated by commas, with which stored data can still be decrypted.
    old_secret_keys: Secrets = "";
    /// Time zone of the service.
    timezone: Tz = "Asia/Jakarta";
    /// E-mail of the first admin.
    admin_email: Option<Email> = "";
    /// Password of the first admin. Default: generated and printed once.
    admin_password: Option<Secret> = "";
    /// How long seats are held for payment.
    booking_hold_seconds: u32 = "1800";
    /// How long before departure bookings close.
    booking_cutoff_minutes: u32 = "15";
    /// Refund when a guest cancels: `hours before departure:percent`, longest first.
    refund_policy: Steps = "24h:100,6h:50";
    /// Fee when a guest reschedules: `hours before departure:percent`, longest first. Rescheduling
    /// is refused later than the last step.
    reschedule_fee: Steps = "0h:0";
    /// `simulator`, `midtrans` or `xendit`.
    payment_provider: PaymentProvider = "simulator";
    /// Server key of the payment provider.
    payment_server_key: Option<Secret> = "";
    /// Token of Xendit's callbacks. Default: the server key.
    payment_callback_token: Option<Secret> = "";
    /// Address of the provider's API. Default: the provider's own.
    payment_url: Option<WebUrl> = "";
    /// `manual` (a person records each refund) or `auto` (due refunds are sent through the payment
    /// provider where it can).
    refunds: SendRefunds = "manual";
    /// How settlements can be paid out besides by hand: `manual` (not at all), `xendit`, `midtrans`
    /// (Iris) or `simulator`.
    payouts: PayoutProvider = "manual";
    /// Key for payouts: Xendit's secret key (default: the server key, if Xendit is the payment
    /// provider) or the key of the creator at Iris.
    payout_key: Option<Secret> = "";
    /// Key of the approver at Iris. Without one, payouts are approved in the portal of Iris.
    payout_approver_key: Option<Secret> = "";
    /// What payout callbacks are verified with: Xendit's callback token (default: that of payments)
    /// or the merchant key of Iris.
    payout_callback_key: Option<Secret> = "";
    /// Address of the payout API. Default: the provider's own.
    payout_url: Option<WebUrl> = "";
    /// `file` (mails become .eml files in the data directory) or `smtp://user:password@host:port`.
    mail_url: MailUrl = "file";
    /// How many days after the arrival the contact and passengers of a booking are erased; 0 keeps
    /// them.
    personal_data_days: u32 = "1095";
    /// Sender of mails.
    mail_from: String = "Dermaga <no-reply@localhost>";
    /// `local` (the data directory) or `s3://…`.
    storage_url: StorageUrl = "local";
    /// Rate limits, sign-in lockouts and limits of unpaid bookings: `on` or `off`.
    rate_limit: Switch = "on";
    /// The supplier's name at resellers (OCTO).
    octo_name: String = "Dermaga";
    /// Whether this is a test instance for resellers: `on` or `off`. Bookings on it are real rows.
    octo_test: Switch = "off";
    /// Who must have a second factor: `none`, `admins` or `staff` (admins and staff).
    require_second_factor: RequireSecondFactor = "none";
    /// Whether a second person is required: terms are not published by their author, bank accounts
    /// not approved by who last changed them or the partner's e-mail, settlements not released by
    /// who created them.
    four_eyes: Switch = "true";
    /// Whether webhooks may call private and loopback addresses: `on` or `off`.
    webhook_private_addresses: Switch = "off";
    /// Number of trusted proxies that add to X-Forwarded-For.
    trusted_hops: u8 = "0";
    /// Origins that may call the API from a browser, separated by commas.
    cors_origins: Origins = "";
    /// Log level: `error`, `warn`, `info`, `debug` or `trace`, also per module.
    log: String = "info";
    /// `text` or `json`.
    log_format: LogFormat = "text";
    /// Bearer token for `/metrics`. Without one, metrics are only available if the service is
    /// reachable from this machine alone.
    metrics_token: Option<Secret> = "";
    /// Address of an OpenTelemetry collector (OTLP over HTTP), like `http://collector:4318`. Without
    /// one, no traces and logs are exported.
    otlp_url: Option<WebUrl> = "";
    /// Headers for the collector, such as a token: `name=value`, separated by commas.
    otlp_headers: Option<Secret> = "";
    /// Fraction of the traces that are exported, from 0 to 1. A request that carries `traceparent`
    /// is exported if its caller's span is.
    trace_ratio: Ratio = "1";
    /// Disables the production guard: allows a reachable service to run with the simulator, without
    /// rate limits, or with a public key or password: `true` or `false`.
    insecure_demo: Switch = "false";
}

impl Config {
    /// Reads `dermaga.toml` in the working directory, if it exists, and the environment.
    pub fn load() -> Result<Self, String> {
        let mut words = BTreeMap::new();
        match std::fs::read_to_string("dermaga.toml") {
            Ok(file) => words.extend(from_toml(&file)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("dermaga.toml: {error}")),
        }
        words.extend(from_env(std::env::vars_os())?);
        Self::from_words(words)
    }

    pub fn public_url(&self) -> String {
        match &self.public_url {
            Some(WebUrl(url)) => url.0.trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    pub fn app_url(&self) -> String {
        let url = self.app_url.as_ref().map(|WebUrl(url)| url.0.trim_end_matches('/').to_owned());
        url.unwrap_or_else(|| self.public_url())
    }

    pub fn database_url(&self) -> String {
        match &self.database_url {
            Some(DatabaseUrl(url)) => url.0.clone(),
            None => self.data_dir.join("dermaga.db").to_string_lossy().into_owned(),
        }
    }

    /// The file of an SQLite database; `None` with PostgreSQL.
    pub fn sqlite_file(&self) -> Option<PathBuf> {
        let url = self.database_url();
        let path = url.strip_prefix("sqlite:").map(|path| path.trim_start_matches("//"));
        (!self.shares_database()).then(|| path.unwrap_or(&url).into())
    }

    /// Fails if there is no SQLite database. One on PostgreSQL fails when it is opened.
    pub fn ensure_database_exists(&self) -> Result<(), String> {
        match self.sqlite_file().filter(|file| !file.exists()) {
            Some(file) => Err(format!("{}: there is no database", file.display())),
            None => Ok(()),
        }
    }

    /// Whether other processes may change the same data.
    pub fn shares_database(&self) -> bool {
        self.database_url.as_ref().is_some_and(DatabaseUrl::is_shared)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from_words(BTreeMap::new()).expect("the defaults are valid")
    }
}

pub fn env_name(name: &str) -> String {
    format!("DERMAGA_{}", name.to_uppercase())
}

fn from_env(
    vars: impl Iterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<String, String>, String> {
    let mut words = BTreeMap::new();
    for (name, value) in vars {
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix("DERMAGA_")) else {
            continue;
        };
        let value = value.into_string().map_err(|_| format!("{}: not UTF-8", env_name(name)))?;
        words.insert(name.to_lowercase(), value);
    }
    Ok(words)
}

fn from_toml(file: &str) -> Result<BTreeMap<String, String>, String> {
    fn flatten(name: String, value: toml::Value, words: &mut BTreeMap<String, String>) {
        match value {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    let name = if name.is_empty() { key } else { format!("{name}_{key}") };
                    flatten(name, value, words);
                }
            }
            toml::Value::Array(items) => {
                let items: Vec<_> = items.into_iter().map(plain).collect();
                words.insert(name, items.join(","));
            }
            value => drop(words.insert(name, plain(value))),
        }
    }
    fn plain(value: toml::Value) -> String {
        match value {
            toml::Value::String(text) => text,
            other => other.to_string(),
        }
    }
    let table: toml::Table = file.parse().map_err(|error| {
        let error: toml::de::Error = error;
        format!("dermaga.toml: {}", error.message())
    })?;
    let mut words = BTreeMap::new();
    flatten(String::new(), toml::Value::Table(table), &mut words);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
        let mut all = from_toml("listen = '127.0.0.1:1'\n[booking]\nhold_seconds = 60").unwrap();
        let env = [("DERMAGA_LISTEN", "127.0.0.1:2"), ("PATH", "/bin")];
        all.extend(from_env(env.map(|(k, v)| (k.into(), v.into())).into_iter()).unwrap());
        let config = Config::from_words(all).unwrap();
        assert_eq!(config.listen.port(), 2);
        assert_eq!(config.booking_hold_seconds, 60);
        assert_eq!(config.booking_cutoff_minutes, 15);
    }

    #[test]
    fn a_bad_or_unknown_setting_is_named() {
        let refused = |pairs: &[(&str, &str)]| Config::from_words(words(pairs)).unwrap_err();
        assert!(refused(&[("listen", "here")]).starts_with("DERMAGA_LISTEN: \"here\" is not"));
        assert_eq!(refused(&[("sped", "1")]), "DERMAGA_SPED: unknown setting");
        assert!(refused(&[("rate_limit", "maybe")]).starts_with("DERMAGA_RATE_LIMIT"));
        assert!(refused(&[("cors_origins", "https://a.id/x")]).starts_with("DERMAGA_CORS_ORIGINS"));
        for (name, bad) in [
            ("database_url", "postgress://u@h/db"),
            ("database_url", "data.db"),
            ("replica_url", "sqlite:replica.db"),
            ("public_url", "dermaga.id"),
            ("app_url", "ftp://dermaga.id"),
            ("mail_url", "pigeon://coop"),
            ("storage_url", "floppy"),
            ("refund_policy", "24:100"),
            ("refund_policy", "6h:50,24h:100"),
            ("refund_policy", "24h:101"),
            ("otlp_url", "collector:4318"),
            ("trace_ratio", "1.5"),
            ("trace_ratio", "NaN"),
        ] {
            assert!(refused(&[(name, bad)]).starts_with(&env_name(name)), "{name} {bad}");
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let config = Config::from_words(words(&[
            ("database_url", "postgres://user:hunter2@db/x"),
            ("replica_url", "postgres://user:hunter2@replica/x"),
            ("admin_password", "hunter2"),
            ("secret_key", "hunter2"),
            ("metrics_token", "hunter2"),
            ("otlp_url", "http://user:hunter2@collector:4318"),
            ("otlp_headers", "authorization=Bearer hunter2"),
            ("old_secret_keys", "hunter2,hunter2"),
            ("payout_key", "hunter2"),
            ("payout_approver_key", "hunter2"),
            ("payout_callback_key", "hunter2"),
            ("mail_url", "smtp://u:hunter2@mail:25"),
            ("storage_url", "s3://bucket?secret=hunter2"),
        ]))
        .unwrap();
        assert!(!format!("{config:?}{:?}", config.show()).contains("hunter2"));
        let keywords = ("database_url", "host=a,b user=u password=hunter2 dbname=x");
        let config = Config::from_words(words(&[keywords])).unwrap();
        assert!(config.shares_database());
        assert!(!format!("{config:?}{:?}", config.show()).contains("hunter2"));
    }
}
