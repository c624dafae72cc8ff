//! Password hashing and strength.

use std::{
    borrow::Cow,
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use argon2::{
    Argon2, PasswordHash,
    password_hash::{PasswordHasher, PasswordVerifier},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use zxcvbn::Score;

use super::hash_queue::{Bounds, Full, HashQueue, Origin};
use crate::{
    app::App,
    kernel::{
        access::Role,
        error::{Error, Fault, Result},
        lang::{Text, text},
    },
};

/// A new password of valid length. Never printed or trimmed.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// For passwords that do not come through a request's schema.
    pub fn parse(word: &str) -> Option<Self> {
        (8..=128).contains(&word.chars().count()).then(|| Self(word.to_owned()))
    }

    /// Refuses less than 12 characters for admins and staff without a second factor.
    pub fn long_enough(&self, role: Role, second_factor: bool) -> Result<()> {
        let privileged = matches!(role, Role::Admin | Role::Staff);
        match privileged && !second_factor && self.0.chars().count() < 12 {
            true => Err(Error::field("password", "min_length", TOO_SHORT)),
            false => Ok(()),
        }
    }
}

const TOO_SHORT: Text = text(
    "Admins and staff without two-factor authentication need at least 12 characters.",
    "Admin dan staf tanpa autentikasi dua faktor memerlukan minimal 12 karakter.",
);

impl JsonSchema for Password {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Password".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "password", "minLength": 8, "maxLength": 128 })
    }
}

/// Common passwords, words, names, places and months of Indonesia. The estimator's own lists are
/// English.
const INDONESIAN: &str = include_str!("common_words.txt");

fn indonesian_words<'a>() -> impl Iterator<Item = &'a str> {
    let list: &'a str = INDONESIAN;
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Whether it can be guessed within 10^8 attempts by someone who knows the person. Only the first
/// characters are estimated, because the estimate is slow for long texts.
fn is_weak(password: &str, name: &str, email: &str) -> bool {
    let known: Vec<&str> = name
        .split_whitespace()
        .chain(email.split(['@', '.', '-', '_', '+']))
        .chain([name, email, "dermaga", "speedboat", "mitra"])
        .filter(|word| word.len() > 2)
        .chain(indonesian_words())
        .collect();
    let start: String = password.chars().take(40).collect();
    is_decorated(password, &known) || zxcvbn::zxcvbn(&start, &known).score() < Score::Three
}

/// Whether it is one known word or two, with at most eight digits and signs around them. The
/// estimator takes digits for random ones and finds six of them strong, and any three parts.
fn is_decorated(password: &str, known: &[&str]) -> bool {
    let core = password.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    if password.chars().count().saturating_sub(core.chars().count()) > 8 {
        return false;
    }
    let known: HashSet<String> = known.iter().map(|word| word.to_lowercase()).collect();
    known.contains(&core)
        || core.char_indices().any(|(at, _)| {
            let (first, second) = core.split_at(at);
            known.contains(first) && known.contains(second.trim_start_matches([' ', '-', '_', '.']))
        })
}

const WEAK: Text = text(
    "This password is too easy to guess. Use a few unrelated words.",
    "Kata sandi ini terlalu mudah ditebak. Gunakan beberapa kata yang tidak berkaitan.",
);

/// `cpassword` must repeat `password`.
pub fn check_confirmation(value: &Value, faults: &mut Vec<Fault>) {
    let (password, again) = (value["password"].as_str(), value["cpassword"].as_str());
    if again.is_some() && password != again {
        let message = text("The passwords do not match.", "Kedua kata sandi tidak sama.");
        faults.push(Fault::new("cpassword", "same", message));
    }
}

/// Hashes and estimates passwords on blocking threads, as many at once as there are cores.
#[derive(Clone)]
pub struct Passwords {
    queue: HashQueue,
    verified: Arc<AtomicU64>,
}

impl App {
    /// The queue that hashes and verifies passwords.
    pub fn passwords(&self) -> &Passwords {
        self.domain()
    }
}

/// Maximum time in the queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// A hash to verify against if there is no account, with the usual parameters.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZGVybWFnYS1ub2JvZHktMDE$\
                      Yb2XJxQ6vGeT2QzrvWJm7vVcu2y9pVJp2oG5m1n0Xq4";

impl Passwords {
    /// `bounded`: whether the queue of a network is limited.
    pub fn new(bounded: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let bounds = if bounded { Bounds::FAIR } else { Bounds::NONE };
        Self { queue: HashQueue::new(cores, bounds), verified: Arc::default() }
    }

    /// Whether it is easy to guess. Slow, so it runs after all other checks.
    pub async fn is_weak(
        &self,
        password: &Password,
        name: &str,
        email: &str,
        origin: Origin,
    ) -> Result<bool> {
        let (password, name, email) = (password.0.clone(), name.to_owned(), email.to_owned());
        self.off_thread(origin, move || is_weak(&password, &name, &email)).await
    }

    /// Refuses a weak password.
    pub async fn strong(
        &self,
        password: &Password,
        name: &str,
        email: &str,
        origin: Origin,
    ) -> Result<()> {
        match self.is_weak(password, name, email, origin).await? {
            true => Err(Error::field("password", "weak", WEAK)),
            false => Ok(()),
        }
    }

    pub async fn hash(&self, password: &Password, origin: Origin) -> Result<String> {
        let password = password.0.clone();
        self.off_thread(origin, move || {
            let hash = Argon2::default().hash_password(password.as_bytes());
            hash.map(|hash| hash.to_string()).map_err(Error::internal)
        })
        .await?
    }

    /// Takes the same time with and without a hash.
    pub async fn verify(&self, password: &str, hash: Option<&str>, origin: Origin) -> Result<bool> {
        let (password, known) = (password.to_owned(), hash.is_some());
        let hash = hash.unwrap_or(NOBODY).to_owned();
        let verified = self.verified.clone();
        self.off_thread(origin, move || {
            verified.fetch_add(1, Ordering::Relaxed);
            let hash = PasswordHash::new(&hash).map_err(Error::internal)?;
            Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok() && known)
        })
        .await?
    }

    /// Number of verifications, for tests.
    pub fn verified(&self) -> u64 {
        self.verified.load(Ordering::Relaxed)
    }

    async fn off_thread<T: Send + 'static>(
        &self,
        origin: Origin,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let busy = |_| Error::Unavailable("the password hashing queue is full".into());
        let turn = self.queue.enter(origin).map_err(busy)?.turn();
        let turn = tokio::time::timeout(PATIENCE, turn).await;
        let permit = turn.unwrap_or(Err(Full)).map_err(busy)?;
        // The permit moves to the thread: a disconnect does not stop the work.
        let work = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        work.await.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_easily_guessed_is_weak() {
        for weak in
            ["password", "12345678", "qwertyuiop", "sanurjaya1", "Budi Santoso", "dermaga2026"]
        {
            assert!(is_weak(weak, "Budi Santoso", "sanurjaya@example.id"), "{weak}");
        }
        for strong in ["ombak tenang 9 perahu", "Harbour-Master-2026!", "xK9#mQ2$vL5p"] {
            assert!(!is_weak(strong, "Budi Santoso", "sanurjaya@example.id"), "{strong}");
        }
    }

    #[test]
    fn indonesian_passwords_are_weak() {
        for weak in [
            "katasandi",
            "Merdeka1945",
            "nusapenida2026",
            "bismillah",
            "sayangku",
            "Bismillah123",
            "sayangku14",
            "rahasia123",
            "Rahasia!2024",
            "indonesia1945",
            "IndonesiaRaya45",
            "garudaku",
            "Jakarta2025!",
            "persibbandung1933",
            "K4t4s4nd1",
            "r4h4s14",
            "R4has1a2024",
            "akusayangkamu",
            "bandung123456",
            "surabaya98",
            "Agustus1945",
            "seninselasa",
            "wayansudarma1",
            "budisantoso88",
            "17agustus1945",
            "nusapenida739146",
            "lembongan!!!",
            "gilitrawangan7",
            "pancasila5",
            "pelabuhan2026",
            "allahuakbar",
            "ngurahrai2020",
        ] {
            assert!(is_weak(weak, "Someone Else", "someone@example.com"), "{weak}");
        }
        for strong in [
            "kapal senja di sanur",
            "layar putih 7 dermaga tua",
            "karang biru 5 ikan terbang",
            "ombak pagi nusa penida",
            "ombak tenang 9 perahu",
            "pagi-hujan-kopi-tubruk",
        ] {
            assert!(!is_weak(strong, "Someone Else", "someone@example.com"), "{strong}");
        }
    }

    #[test]
    fn every_listed_word_is_weak_however_it_is_decorated() {
        let leet = |word: &str| {
            word.replace('a', "4").replace('i', "1").replace('e', "3").replace('o', "0")
        };
        for word in indonesian_words() {
            let (first, rest) = word.split_at(1);
            let capital = first.to_uppercase() + rest;
            for decorated in [
                word.to_owned(),
                format!("{word}2026"),
                format!("{word}1945!"),
                format!("{capital}123"),
                format!("{capital}@738214"),
                format!("{}1", word.to_uppercase()),
                format!("99{word}99"),
                leet(word),
                format!("{}2026", leet(word)),
            ] {
                assert!(is_weak(&decorated, "Someone Else", "someone@example.com"), "{decorated}");
            }
        }
    }

    #[test]
    fn the_word_list_is_lower_case_and_without_repetition() {
        let words: Vec<_> = indonesian_words().collect();
        let unique: HashSet<_> = words.iter().collect();
        assert_eq!(unique.len(), words.len());
        assert!((200..=500).contains(&words.len()), "{}", words.len());
        let plain = |word: &str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
        assert!(words.iter().all(|word| plain(word)));
    }

    #[test]
    fn admins_and_staff_need_twelve_characters_unless_they_have_a_second_factor() {
        let short = Password("ombak 9 pas".into());
        for role in Role::ALL {
            let privileged = matches!(role, Role::Admin | Role::Staff);
            assert_eq!(short.long_enough(*role, false).is_err(), privileged);
            assert!(short.long_enough(*role, true).is_ok());
            assert!(Password("ombak 9 pass".into()).long_enough(*role, false).is_ok());
        }
    }

    #[tokio::test]
    async fn nobody_costs_as_much_as_somebody_and_has_no_password() {
        let passwords = Passwords::new(true);
        let here = Origin::local();
        let hash = passwords.hash(&Password("a fine password".into()), here).await.unwrap();
        let parameters = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(parameters(&hash), parameters(NOBODY));
        assert!(passwords.verify("a fine password", Some(&hash), here).await.unwrap());
        assert!(!passwords.verify("another password", Some(&hash), here).await.unwrap());
        assert!(!passwords.verify("a fine password", None, here).await.unwrap());
        assert_eq!(passwords.verified(), 3);
    }
}
