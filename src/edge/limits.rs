//! Rate limits by client network. Each process counts separately; limits across processes
//! (lockouts) are kept in the database.
//!
//! Every policy counts by network, and for IPv6 also by site (/48) with ten times the limit: a
//! client with a /48 has 65,536 networks.

use std::{collections::HashMap, net::IpAddr, num::NonZeroU32, sync::OnceLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
};

use crate::{
    app::App,
    kernel::caller::{network, site},
    table::Operation,
};

const GENERAL: u32 = 600;
/// The limit of a site, as a multiple of that of a network.
const SITE_FACTOR: u32 = 10;

type Limiter = RateLimiter<
    IpAddr,
    governor::state::keyed::DefaultKeyedStateStore<IpAddr>,
    DefaultClock,
    StateInformationMiddleware,
>;

pub struct Limits {
    general: Option<Policy>,
    /// By operation.
    operations: OnceLock<HashMap<&'static str, Policy>>,
}

impl App {
    /// The rate limits of this process.
    pub fn limits(&self) -> &Limits {
        self.domain()
    }
}

struct Policy {
    name: &'static str,
    per_minute: u32,
    by_network: Limiter,
    by_site: Limiter,
}

/// The outcome of a limit for one request.
pub struct Allowance {
    name: &'static str,
    per_minute: u32,
    /// Remaining requests, or seconds to wait.
    verdict: Result<u32, u64>,
}

impl Limits {
    pub fn new(on: bool) -> Self {
        Self { general: on.then(|| Policy::new("default", GENERAL)), operations: OnceLock::new() }
    }

    /// Takes the limits of operations from the table.
    pub fn limit_operations(&self, operations: &[Operation]) {
        if self.general.is_none() {
            return;
        }
        self.operations.get_or_init(|| {
            let limited = operations.iter().filter_map(|operation| {
                let policy = Policy::new(operation.id, operation.at_most?);
                Some((operation.id, policy))
            });
            limited.collect()
        });
    }

    /// Counts a request; `None` when limits are off.
    pub fn take(&self, address: IpAddr, operation: Option<&Operation>) -> Option<Allowance> {
        let general = self.general.as_ref()?.take(address);
        if general.verdict.is_err() {
            return Some(general);
        }
        let own = operation.and_then(|operation| self.operations.get()?.get(operation.id));
        Some(own.map_or(general, |policy| policy.take(address)))
    }

    /// Counts a request for an operation that a page calls, against the operation's own limit alone:
    /// the page itself counts against the general one. Returns the seconds to wait if it is refused.
    pub fn take_own(&self, address: IpAddr, operation: &Operation) -> Option<u64> {
        self.operations.get()?.get(operation.id)?.take(address).refused()
    }

    /// Frees the memory of idle networks.
    pub fn forget_idle(&self) {
        let operations = self.operations.get().into_iter().flat_map(HashMap::values);
        for policy in self.general.iter().chain(operations) {
            for limiter in [&policy.by_network, &policy.by_site] {
                limiter.retain_recent();
                limiter.shrink_to_fit();
            }
        }
    }
}

impl Policy {
    fn new(name: &'static str, per_minute: u32) -> Self {
        let by_site = limiter(per_minute.saturating_mul(SITE_FACTOR));
        Self { name, per_minute, by_network: limiter(per_minute), by_site }
    }

    /// A request that the network's limit refuses does not count for its site.
    fn take(&self, address: IpAddr) -> Allowance {
        let mut verdict = check(&self.by_network, network(address));
        if let (Ok(left), Some(site)) = (verdict, site(address)) {
            verdict = check(&self.by_site, site).map(|left_of_site| left.min(left_of_site));
        }
        Allowance { name: self.name, per_minute: self.per_minute, verdict }
    }
}

fn limiter(per_minute: u32) -> Limiter {
    let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
    DefaultKeyedRateLimiter::keyed(quota).with_middleware()
}

/// Remaining requests, or seconds to wait.
fn check(limiter: &Limiter, key: IpAddr) -> Result<u32, u64> {
    match limiter.check_key(&key) {
        Ok(state) => Ok(state.remaining_burst_capacity()),
        Err(until) => {
            let wait = until.wait_time_from(DefaultClock::default().now());
            Err(wait.as_secs_f64().ceil().max(1.0) as u64)
        }
    }
}

impl Allowance {
    pub fn refused(&self) -> Option<u64> {
        self.verdict.err()
    }

    pub fn announce(&self, headers: &mut HeaderMap) {
        let Self { name, per_minute, .. } = self;
        let (left, reset) = match self.verdict {
            Ok(left) => {
                (left, 60 * u64::from(per_minute - left.min(*per_minute)) / u64::from(*per_minute))
            }
            Err(wait) => (0, wait),
        };
        let mut say = |header: &'static str, value: String| {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(header), value);
            }
        };
        say("ratelimit-policy", format!("\"{name}\";q={per_minute};w=60"));
        say("ratelimit", format!("\"{name}\";r={left};t={reset}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends from one /64 of a site after another, and returns how many requests passed.
    fn passed(limits: &Limits, site: &str, networks: u32, each: u32) -> u32 {
        let from = |n: u32| format!("{site}:{n:x}::1").parse().unwrap();
        let take = |n: u32| limits.take(from(n), None).unwrap();
        let sent = (0..networks).flat_map(|n| (0..each).map(move |_| n));
        sent.filter(|n| take(*n).refused().is_none()).count() as u32
    }

    #[test]
    fn a_site_has_ten_times_the_limit_of_a_network() {
        let limits = Limits::new(true);
        limits.limit_operations(&[]);
        assert_eq!(passed(&limits, "2001:db8:1", 10, 500), 5_000);
        // 10,000 more within the limit of their own networks; the site has 1,000 left, and gets
        // 100 per second.
        let more = passed(&limits, "2001:db8:1", 30, 500);
        assert!((1_000..10_000).contains(&more), "{more}");
        assert_eq!(passed(&limits, "2001:db8:2", 1, 500), 500, "another site");
    }
}
