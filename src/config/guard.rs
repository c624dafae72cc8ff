//! The production guard: refuses insecure settings if the service is reachable by others.

use std::net::IpAddr;

use axum::http::Uri;
use base64::{Engine, prelude::BASE64_STANDARD};

use super::{Config, PaymentProvider, PayoutProvider, WebUrl};
use crate::kernel::secret::Secret;

/// Secret keys published in this repository: in tests, benchmarks and documentation.
pub const PRINTED_KEYS: &[&str] = &[
    "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=",
    // A signature with the length of a key.
    "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    // A public key, in an example of the API.
    "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
];

/// Passwords published in this repository: of the demo, in tests, and in earlier documentation.
pub const PRINTED_PASSWORDS: &[&str] = &[
    "dermaga demo 2026",
    "pelabuhan ramai 2026",
    "ombak tenang 9 perahu",
    "layar putih 7 dermaga",
    "Harbour-Master-2026!",
    "xK9#mQ2$vL5p",
    "a fine password",
    "12345678",
    "hunter22",
    "password",
];

/// Verdict of the guard.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Only reachable from this machine: nothing is checked.
    Local,
    /// Reachable by others, without insecure settings.
    Sound,
    /// Disabled by `DERMAGA_INSECURE_DEMO`, with the first fault, if any.
    Overridden(Option<String>),
    /// The first fault, as one line that starts with the setting.
    Refused(String),
}

pub fn examine(config: &Config) -> Verdict {
    let fault = exposure(config).and_then(|why| {
        let (setting, what) = fault(config)?;
        Some(format!(
            "{setting}: {what}, and {why}; DERMAGA_INSECURE_DEMO=true allows it for a demo"
        ))
    });
    match fault {
        fault if config.insecure_demo.0 => Verdict::Overridden(fault),
        Some(fault) => Verdict::Refused(fault),
        None if exposure(config).is_some() => Verdict::Sound,
        None => Verdict::Local,
    }
}

/// Why the service is reachable by others; `None` if it is not.
pub fn exposure(config: &Config) -> Option<String> {
    if let Some(WebUrl(url)) = &config.public_url
        && !is_local(&url.0)
    {
        return Some("DERMAGA_PUBLIC_URL is not a plain http address of this machine".into());
    }
    let address = config.listen.ip().to_canonical();
    (!address.is_loopback()).then(|| format!("DERMAGA_LISTEN is {address}, which is not loopback"))
}

/// An address that cannot be parsed counts as reachable.
fn is_local(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let loopback = match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    };
    loopback && uri.scheme_str() == Some("http")
}

/// The first insecure setting, with value and reason.
fn fault(config: &Config) -> Option<(&'static str, &'static str)> {
    if config.payment_provider == PaymentProvider::Simulator {
        return Some(("DERMAGA_PAYMENT_PROVIDER", "the simulator confirms payments without money"));
    }
    if config.payouts == PayoutProvider::Simulator {
        return Some(("DERMAGA_PAYOUTS", "the simulator confirms payouts without money"));
    }
    if !config.rate_limit.0 {
        return Some(("DERMAGA_RATE_LIMIT", "rate limits and lockouts are off"));
    }
    if secret_key(config).is_some_and(|key| is_known_key(key.reveal())) {
        return Some(("DERMAGA_SECRET_KEY", "this key is public"));
    }
    // Old keys still verify tickets.
    if config.old_secret_keys.0.iter().any(|key| is_known_key(key.reveal())) {
        return Some(("DERMAGA_OLD_SECRET_KEYS", "one of these keys is public"));
    }
    let password = config.admin_password.as_ref().map(Secret::reveal);
    if password.is_some_and(|password| PRINTED_PASSWORDS.contains(&password.trim())) {
        return Some(("DERMAGA_ADMIN_PASSWORD", "this password is public"));
    }
    None
}

/// The effective key, if it exists.
fn secret_key(config: &Config) -> Option<Secret> {
    let kept = || std::fs::read_to_string(config.data_dir.join("secret.key")).ok();
    config.secret_key.clone().or_else(|| kept().map(Secret::new))
}

/// Published in this repository, or a simple pattern. 32 random bytes have about 30 distinct values
/// and as many distinct differences; fewer than 16 of either is not random.
pub fn is_known_key(key: &str) -> bool {
    let key = key.trim();
    // Invalid keys are refused elsewhere.
    let Ok(bytes) = BASE64_STANDARD.decode(key) else { return false };
    let steps: Vec<u8> = bytes.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    PRINTED_KEYS.contains(&key) || different(&bytes) < 16 || different(&steps) < 16
}

fn different(bytes: &[u8]) -> usize {
    bytes.iter().collect::<std::collections::HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Secrets, Switch, Url};

    fn local() -> Config {
        Config { data_dir: "/nonexistent".into(), ..Config::default() }
    }

    fn sound() -> Config {
        Config {
            listen: "0.0.0.0:8080".parse().unwrap(),
            payment_provider: PaymentProvider::Midtrans,
            secret_key: Some(random()),
            ..local()
        }
    }

    fn random() -> Secret {
        Secret::new(BASE64_STANDARD.encode(rand::random::<[u8; 32]>()))
    }

    #[test]
    fn whoever_others_can_reach_is_guarded() {
        assert_eq!(examine(&local()), Verdict::Local);
        assert_eq!(examine(&sound()), Verdict::Sound);
        for (listen, exposed) in [
            ("127.0.0.1:1", false),
            ("127.8.8.8:1", false),
            ("[::1]:1", false),
            ("[::ffff:127.0.0.1]:1", false),
            ("0.0.0.0:1", true),
            ("[::]:1", true),
            ("192.168.1.2:1", true),
        ] {
            let config = Config { listen: listen.parse().unwrap(), ..local() };
            assert_eq!(exposure(&config).is_some(), exposed, "{listen}");
        }
        for (url, exposed) in [
            ("http://localhost:8080", false),
            ("http://LOCALHOST/", false),
            ("http://127.0.0.1", false),
            ("http://[::1]:8080/x", false),
            ("https://localhost", true),
            ("http://localhost.example.com", true),
            ("http://127.0.0.1.example.com", true),
            ("http://localhost@example.com", true),
            ("http://10.0.0.1", true),
            ("http://dermaga.example", true),
            ("http://:80", true),
        ] {
            let config = Config { public_url: Some(WebUrl(Url(url.into()))), ..local() };
            assert_eq!(exposure(&config).is_some(), exposed, "{url}");
        }
    }

    #[test]
    fn each_fault_is_refused_with_its_setting_unless_it_is_a_demo() {
        let printed = || Secret::new(PRINTED_KEYS[0]);
        let cases = [
            (
                "DERMAGA_PAYMENT_PROVIDER",
                Config { payment_provider: PaymentProvider::Simulator, ..sound() },
            ),
            ("DERMAGA_PAYOUTS", Config { payouts: PayoutProvider::Simulator, ..sound() }),
            ("DERMAGA_RATE_LIMIT", Config { rate_limit: Switch(false), ..sound() }),
            ("DERMAGA_SECRET_KEY", Config { secret_key: Some(printed()), ..sound() }),
            (
                "DERMAGA_OLD_SECRET_KEYS",
                Config { old_secret_keys: Secrets(vec![random(), printed()]), ..sound() },
            ),
            (
                "DERMAGA_ADMIN_PASSWORD",
                Config { admin_password: Some(Secret::new("pelabuhan ramai 2026")), ..sound() },
            ),
        ];
        for (setting, config) in cases {
            let Verdict::Refused(why) = examine(&config) else {
                panic!("{setting} is let through")
            };
            assert!(why.starts_with(&format!("{setting}: ")), "{why}");
            assert_eq!(why.lines().count(), 1, "{why}");
            let demo = Config { insecure_demo: Switch(true), ..config.clone() };
            assert_eq!(examine(&demo), Verdict::Overridden(Some(why)));
            let local = Config { listen: "127.0.0.1:8080".parse().unwrap(), ..config };
            assert_eq!(examine(&local), Verdict::Local, "nobody else can reach it");
        }
    }

    #[test]
    fn a_key_of_a_pattern_is_known() {
        let key = |bytes: [u8; 32]| BASE64_STANDARD.encode(bytes);
        assert!(is_known_key(&key([0; 32])));
        assert!(is_known_key(&key([0xAB; 32])));
        assert!(is_known_key(&key(std::array::from_fn(|n| n as u8))));
        assert!(is_known_key(&key(std::array::from_fn(|n| 255 - 3 * n as u8))));
        assert!(is_known_key(&key(*b"passwordpasswordpasswordpassword")));
        assert!(is_known_key(&format!(" {}\n", PRINTED_KEYS[1])));
        for _ in 0..1000 {
            assert!(!is_known_key(random().reveal()));
        }
    }

    #[test]
    fn the_key_in_the_data_directory_counts() {
        let folder = std::env::temp_dir().join(format!("guard-{}", crate::kernel::ids::fresh()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("secret.key"), PRINTED_KEYS[0]).unwrap();
        let config = Config { data_dir: folder.clone(), secret_key: None, ..sound() };
        let verdict = examine(&config);
        std::fs::remove_dir_all(folder).unwrap();
        assert!(matches!(verdict, Verdict::Refused(why) if why.starts_with("DERMAGA_SECRET_KEY")));
    }
}
