//! How many requests one client address may send. Each process counts for itself; what must hold
//! across processes (lockouts) lives in the database.

use std::{collections::HashMap, net::IpAddr, num::NonZeroU32, sync::OnceLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
};

use crate::{kernel::caller::network, table::Operation};

const GENERAL: u32 = 600;

type Limiter = RateLimiter<
    IpAddr,
    governor::state::keyed::DefaultKeyedStateStore<IpAddr>,
    DefaultClock,
    StateInformationMiddleware,
>;

pub struct Limits {
    general: Option<Policy>,
    /// By method and path.
    tight: OnceLock<HashMap<(Method, &'static str), Policy>>,
}

struct Policy {
    name: &'static str,
    per_minute: u32,
    limiter: Limiter,
}

/// What a client has left.
pub struct Allowance {
    name: &'static str,
    per_minute: u32,
    /// What is left, or how many seconds to wait.
    verdict: Result<u32, u64>,
}

impl Limits {
    pub fn new(on: bool) -> Self {
        Self { general: on.then(|| Policy::new("default", GENERAL)), tight: OnceLock::new() }
    }

    /// Takes the tighter limits from the table.
    pub fn tighten(&self, operations: &[Operation]) {
        if self.general.is_none() {
            return;
        }
        self.tight.get_or_init(|| {
            let tight = operations.iter().filter_map(|operation| {
                let policy = Policy::new(operation.id, operation.at_most?);
                Some(((operation.method.clone(), operation.path), policy))
            });
            tight.collect()
        });
    }

    /// Counts a request; `None` when limits are off.
    pub fn take(&self, address: IpAddr, method: &Method, route: &str) -> Option<Allowance> {
        let address = network(address);
        let general = self.general.as_ref()?.take(address);
        if general.verdict.is_err() {
            return Some(general);
        }
        let tight = self.tight.get()?.iter().find(|((m, path), _)| m == method && *path == route);
        Some(tight.map_or(general, |(_, policy)| policy.take(address)))
    }

    /// Frees the memory of addresses that have been quiet.
    pub fn forget_idle(&self) {
        let tight = self.tight.get().into_iter().flat_map(HashMap::values);
        for policy in self.general.iter().chain(tight) {
            policy.limiter.retain_recent();
            policy.limiter.shrink_to_fit();
        }
    }
}

impl Policy {
    fn new(name: &'static str, per_minute: u32) -> Self {
        let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
        let limiter = DefaultKeyedRateLimiter::keyed(quota);
        Self { name, per_minute, limiter: limiter.with_middleware() }
    }

    fn take(&self, address: IpAddr) -> Allowance {
        let verdict = match self.limiter.check_key(&address) {
            Ok(state) => Ok(state.remaining_burst_capacity()),
            Err(until) => {
                let wait = until.wait_time_from(DefaultClock::default().now());
                Err(wait.as_secs_f64().ceil().max(1.0) as u64)
            }
        };
        Allowance { name: self.name, per_minute: self.per_minute, verdict }
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
