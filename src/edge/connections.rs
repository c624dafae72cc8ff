//! Which connections are open, from which networks, and which of them is closed when there are too
//! many.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::kernel::caller::network;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    pub total: usize,
    /// From one network.
    pub per_network: usize,
    /// From one network, whose request head is not complete. A connection is counted at once and
    /// closed when it is above the limit after [`HEAD_GRACE`]: a burst of honest clients has sent
    /// its heads by then.
    pub incomplete: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { total: 8_192, per_network: 1_024, incomplete: 128 }
    }
}

pub const HEAD_GRACE: Duration = Duration::from_secs(2);

pub struct Connections {
    limits: ConnectionLimits,
    /// Peers are proxies, which carry the requests of many clients.
    exempt: bool,
    slots: Arc<Semaphore>,
    /// Counts how often a connection became idle: which one has been for longest.
    turns: Arc<AtomicU64>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Arc<Connection>>,
    networks: HashMap<IpAddr, Arc<Network>>,
}

/// What is counted of a network.
#[derive(Default)]
struct Network {
    connections: AtomicUsize,
    incomplete: AtomicUsize,
}

/// What is known of an open connection.
pub struct Connection {
    network: Arc<Network>,
    of: IpAddr,
    turns: Arc<AtomicU64>,
    /// How many requests have begun, and how many of them are not answered yet.
    begun: AtomicUsize,
    busy: AtomicUsize,
    /// A response waits for its client to read.
    pub writing: AtomicBool,
    /// Its request head is not complete: the first one, or a later one of which a part has arrived.
    incomplete: AtomicBool,
    /// The turn in which it became idle.
    idle_since: AtomicU64,
    evicted: AtomicBool,
    evict: Notify,
}

/// A place in the registry. It is given back when it is dropped.
pub struct Registered {
    connections: Arc<Connections>,
    id: u64,
    connection: Arc<Connection>,
    _slot: OwnedSemaphorePermit,
}

impl Connections {
    pub fn new(limits: ConnectionLimits, exempt: bool) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(limits.total));
        let (turns, open) = Default::default();
        Arc::new(Self { limits, exempt, slots, turns, open })
    }

    /// Waits for a slot. When there is none, the connection that has been idle for longest is closed.
    pub async fn slot(&self) -> OwnedSemaphorePermit {
        if self.slots.available_permits() == 0 {
            self.evict_idle(None);
        }
        self.slots.clone().acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Registers a connection; `None` when its network has too many and none of them is idle.
    pub fn register(
        self: &Arc<Self>,
        peer: IpAddr,
        slot: OwnedSemaphorePermit,
    ) -> Option<Registered> {
        let of = network(peer.to_canonical());
        if !self.exempt && self.count(of) >= self.limits.per_network && !self.evict_idle(Some(of)) {
            return None;
        }
        let mut open = self.open();
        let network = open.networks.entry(of).or_default().clone();
        network.connections.fetch_add(1, Relaxed);
        network.incomplete.fetch_add(1, Relaxed);
        let connection = Arc::new(Connection {
            network,
            of,
            turns: self.turns.clone(),
            begun: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            writing: AtomicBool::new(false),
            incomplete: AtomicBool::new(true),
            idle_since: AtomicU64::new(self.turns.fetch_add(1, Relaxed)),
            evicted: AtomicBool::new(false),
            evict: Notify::new(),
        });
        open.next += 1;
        let id = open.next;
        open.connections.insert(id, connection.clone());
        Some(Registered { connections: self.clone(), id, connection, _slot: slot })
    }

    fn count(&self, of: IpAddr) -> usize {
        self.open().networks.get(&of).map_or(0, |network| network.connections.load(Relaxed))
    }

    /// Asks the connection to close that has been idle for longest. This looks at all connections,
    /// whose number is limited, and happens only at a limit.
    fn evict_idle(&self, of: Option<IpAddr>) -> bool {
        let open = self.open();
        let idle = open.connections.values().filter(|connection| {
            of.is_none_or(|of| connection.of == of)
                && connection.is_idle()
                && !connection.evicted.load(Relaxed)
        });
        let oldest = idle.min_by_key(|connection| connection.idle_since.load(Relaxed));
        if let Some(connection) = oldest {
            connection.evicted.store(true, Relaxed);
            connection.evict.notify_one();
        }
        oldest.is_some()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // No code that holds the lock panics.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registered {
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// How many connections of the network may have an incomplete head.
    pub fn incomplete_limit(&self) -> usize {
        if self.connections.exempt { usize::MAX } else { self.connections.limits.incomplete }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.connection.head_complete();
        let mut open = self.connections.open();
        open.connections.remove(&self.id);
        if self.connection.network.connections.fetch_sub(1, Relaxed) == 1
            && let Entry::Occupied(network) = open.networks.entry(self.connection.of)
        {
            network.remove();
        }
    }
}

impl Connection {
    /// Counts a request from its head until its response is passed on; `writing` is the rest.
    pub fn begin(self: &Arc<Self>) -> Busy {
        self.head_complete();
        self.begun.fetch_add(1, Relaxed);
        self.busy.fetch_add(1, Relaxed);
        Busy(self.clone())
    }

    pub fn begun(&self) -> usize {
        self.begun.load(Relaxed)
    }

    pub fn is_idle(&self) -> bool {
        self.busy.load(Relaxed) == 0 && !self.writing.load(Relaxed)
    }

    /// A part of a request head has arrived; `false` when that was known.
    pub fn head_begun(&self) -> bool {
        let new = !self.incomplete.swap(true, Relaxed);
        if new {
            self.network.incomplete.fetch_add(1, Relaxed);
        }
        new
    }

    fn head_complete(&self) {
        if self.incomplete.swap(false, Relaxed) {
            self.network.incomplete.fetch_sub(1, Relaxed);
        }
    }

    /// Whether it is one of more than `limit` connections of its network with an incomplete head. If
    /// so it is counted no longer, so that of several that ask at once only those above the limit
    /// are closed.
    pub fn exceeds(&self, limit: usize) -> bool {
        let decrement = |count: usize| (count > limit).then(|| count - 1);
        let exceeds = self.incomplete.load(Relaxed)
            && self.network.incomplete.fetch_update(Relaxed, Relaxed, decrement).is_ok();
        if exceeds {
            // Only the task of the connection changes this, which is the one that asks.
            self.incomplete.store(false, Relaxed);
        }
        exceeds
    }

    /// Resolves when the connection has to make room.
    pub async fn evicted(&self) {
        self.evict.notified().await;
    }
}

/// A request that is not answered yet.
pub struct Busy(Arc<Connection>);

impl Drop for Busy {
    fn drop(&mut self) {
        let turn = self.0.turns.fetch_add(1, Relaxed);
        self.0.idle_since.store(turn, Relaxed);
        self.0.busy.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(total: usize, per_network: usize) -> Arc<Connections> {
        let limits = ConnectionLimits { total, per_network, incomplete: 1 };
        Connections::new(limits, false)
    }

    async fn open(connections: &Arc<Connections>, peer: &str) -> Option<Registered> {
        connections.register(peer.parse().unwrap(), connections.slot().await)
    }

    fn is_evicted(registered: &Registered) -> bool {
        registered.connection.evicted.load(Relaxed)
    }

    #[tokio::test]
    async fn at_the_limit_of_a_network_its_oldest_idle_connection_makes_room() {
        let connections = connections(9, 2);
        let first = open(&connections, "1.1.1.1").await.unwrap();
        let busy = first.connection().begin();
        let second = open(&connections, "1.1.1.1").await.unwrap();
        let other = open(&connections, "2.2.2.2").await.unwrap();
        let third = open(&connections, "1.1.1.1").await.unwrap();
        assert!(is_evicted(&second) && !is_evicted(&first) && !is_evicted(&other));
        drop(second);
        // Nobody of them is idle now.
        let working = third.connection().begin();
        assert!(open(&connections, "1.1.1.1").await.is_none());
        assert!(open(&connections, "2.2.2.2").await.is_some());
        drop((busy, working));
        assert!(open(&connections, "1.1.1.1").await.is_some());
        assert!(is_evicted(&first) || is_evicted(&third));
    }

    #[tokio::test]
    async fn at_the_limit_of_all_the_oldest_idle_connection_makes_room() {
        let connections = connections(2, 2);
        let first = open(&connections, "1.1.1.1").await.unwrap();
        let second = open(&connections, "2.2.2.2").await.unwrap();
        let waiting = tokio::spawn({
            let connections = connections.clone();
            async move { open(&connections, "3.3.3.3").await }
        });
        first.connection().evicted().await;
        assert!(!is_evicted(&second));
        drop(first);
        assert!(waiting.await.unwrap().is_some());
    }

    #[tokio::test]
    async fn addresses_of_one_ipv6_network_and_mapped_ones_count_together() {
        let connections = connections(9, 1);
        let busy = open(&connections, "2001:db8::1").await.unwrap();
        let _working = busy.connection().begin();
        assert!(open(&connections, "2001:db8::ffff").await.is_none());
        assert!(open(&connections, "2001:db8:0:1::1").await.is_some());
        let busy = open(&connections, "::ffff:1.1.1.1").await.unwrap();
        let _working_too = busy.connection().begin();
        assert!(open(&connections, "1.1.1.1").await.is_none());
    }

    #[tokio::test]
    async fn what_is_closed_is_forgotten() {
        let connections = connections(9, 9);
        let first = open(&connections, "1.1.1.1").await.unwrap();
        let second = open(&connections, "1.1.1.1").await.unwrap();
        assert!(first.connection().exceeds(1));
        assert!(!second.connection().exceeds(1));
        drop(second);
        assert!(!first.connection().exceeds(1));
        let begun = first.connection().begin();
        first.connection().head_begun();
        first.connection().head_begun();
        assert_eq!(first.connection().network.incomplete.load(Relaxed), 1);
        drop((begun, first));
        let open = connections.open();
        assert!(open.connections.is_empty() && open.networks.is_empty());
    }
}
