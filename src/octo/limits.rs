//! Rate limits of keys, by key and process.

use std::{
    collections::HashMap,
    net::IpAddr,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{
    DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use tokio::time::Instant;

use crate::{app::App, kernel::caller::network};

/// Requests that may come at once.
const BURST: u32 = 200;
const WRITES: u32 = 300;
const WRITE_BURST: u32 = 60;
/// Keys of an address that are not known to be good.
const UNKNOWN: u32 = 60;
/// A key that was not used for so long is looked up like an unknown one.
const IDLE: Duration = Duration::from_secs(600);

/// The state of good keys, by hash.
pub struct KeyLimits(Option<Limits>);

struct Limits {
    keys: Mutex<HashMap<String, Arc<KeyLimit>>>,
    unknown: DefaultKeyedRateLimiter<IpAddr>,
}

struct KeyLimit {
    per_minute: i32,
    requests: DefaultDirectRateLimiter,
    writes: DefaultDirectRateLimiter,
    used: Mutex<Instant>,
}

impl App {
    /// The rate limits of resellers' keys.
    pub fn key_limits(&self) -> &KeyLimits {
        self.domain()
    }
}

fn quota(per_minute: u32, burst: u32) -> Quota {
    let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    Quota::per_minute(number(per_minute)).allow_burst(number(burst.min(per_minute)))
}

impl KeyLimits {
    pub fn new(on: bool) -> Self {
        Self(on.then(|| Limits {
            keys: Mutex::default(),
            unknown: RateLimiter::keyed(quota(UNKNOWN, UNKNOWN)),
        }))
    }

    /// A key that is not known to be good counts against its sender's address. Returns the seconds to
    /// wait if there were too many of them.
    pub fn before_lookup(&self, hash: &str, address: IpAddr) -> Result<(), u64> {
        let Some(limits) = &self.0 else { return Ok(()) };
        if limits.lock().contains_key(hash) {
            return Ok(());
        }
        limits.unknown.check_key(&network(address)).map_err(wait)
    }

    /// Counts a request of a good key.
    pub fn take(&self, hash: &str, per_minute: i32, is_write: bool) -> Result<(), u64> {
        let Some(limits) = &self.0 else { return Ok(()) };
        let key = limits.key(hash, per_minute);
        *key.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        key.requests.check().map_err(wait)?;
        match is_write {
            true => key.writes.check().map_err(wait),
            false => Ok(()),
        }
    }

    /// The key is not good any more.
    pub fn forget(&self, hash: &str) {
        if let Some(limits) = &self.0 {
            limits.lock().remove(hash);
        }
    }

    /// Frees the memory of idle keys and addresses.
    pub fn forget_idle(&self) {
        let Some(limits) = &self.0 else { return };
        let is_used = |key: &KeyLimit| {
            key.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < IDLE
        };
        limits.lock().retain(|_, key| is_used(key));
        limits.unknown.retain_recent();
        limits.unknown.shrink_to_fit();
    }
}

impl Limits {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<KeyLimit>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, hash: &str, per_minute: i32) -> Arc<KeyLimit> {
        let mut keys = self.lock();
        match keys.get(hash).filter(|key| key.per_minute == per_minute) {
            Some(key) => Arc::clone(key),
            None => {
                let rate = per_minute.max(1).unsigned_abs();
                let key = Arc::new(KeyLimit {
                    per_minute,
                    requests: RateLimiter::direct(quota(rate, BURST)),
                    writes: RateLimiter::direct(quota(WRITES, WRITE_BURST)),
                    used: Mutex::new(Instant::now()),
                });
                keys.insert(hash.to_owned(), Arc::clone(&key));
                key
            }
        }
    }
}

fn wait<P: governor::clock::Reference>(until: governor::NotUntil<P>) -> u64
where
    DefaultClock: Clock<Instant = P>,
{
    let wait = until.wait_time_from(DefaultClock::default().now());
    wait.as_secs_f64().ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_count_against_their_address_and_good_ones_do_not() {
        let limits = KeyLimits::new(true);
        let address: IpAddr = "203.0.113.7".parse().unwrap();
        limits.before_lookup("good", address).unwrap();
        limits.take("good", 1_200, false).unwrap();
        let refused = |n: usize| {
            (0..n).filter(|n| limits.before_lookup(&format!("bad{n}"), address).is_err()).count()
        };
        assert!(refused(100) >= 30);
        limits.before_lookup("good", address).unwrap();
        limits.forget("good");
        limits.before_lookup("good", address).unwrap_err();
    }

    #[test]
    fn writes_have_a_limit_of_their_own() {
        let limits = KeyLimits::new(true);
        let passed = (0..100).filter(|_| limits.take("key", 1_200, true).is_ok()).count();
        assert!((60..90).contains(&passed), "{passed}");
        limits.take("key", 1_200, false).unwrap();
    }
}
