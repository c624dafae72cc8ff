//! The registry of open connections by network, and the choice of the one to close when there are
//! too many.
//!
//! The connection that has been idle for longest is found in an ordered map. Requests do not touch
//! the map: it is corrected when a connection has to be closed. A connection that has been used
//! since then is moved, a busy one is parked outside of the map until it is idle. So closing one
//! takes logarithmic time, apart from one correction for each use in between.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
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
    /// From one network, without a complete request head. A connection is counted at once and
    /// closed if it is above the limit after [`HEAD_GRACE`]: legitimate clients have sent their
    /// heads by then.
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
    /// Peers are proxies, which forward requests of many clients.
    exempt: bool,
    slots: Arc<Semaphore>,
    /// Counts how often a connection became idle.
    turns: AtomicU64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    idle: IdleOrder,
    networks: HashMap<IpAddr, OpenNetwork>,
}

#[derive(Default)]
struct OpenNetwork {
    counts: Arc<Network>,
    idle: IdleOrder,
}

/// By the turn in which a connection became idle, as far as that is known, and its id.
type IdleOrder = BTreeMap<(u64, u64), Arc<Connection>>;

impl Open {
    /// Puts it at the place of the turn in which it became idle.
    fn insert(&mut self, connection: &Arc<Connection>) {
        let turn = connection.idle_since.load(SeqCst);
        connection.place.store(turn, Relaxed);
        self.idle.insert((turn, connection.id), connection.clone());
        if let Some(network) = self.networks.get_mut(&connection.of) {
            network.idle.insert((turn, connection.id), connection.clone());
        }
    }

    fn remove(&mut self, connection: &Connection) {
        let key = (connection.place.load(Relaxed), connection.id);
        self.idle.remove(&key);
        if let Some(network) = self.networks.get_mut(&connection.of) {
            network.idle.remove(&key);
        }
    }

    /// The first of all connections, or of one network.
    fn first(&self, of: Option<IpAddr>) -> Option<Arc<Connection>> {
        let order = match of {
            Some(of) => &self.networks.get(&of)?.idle,
            None => &self.idle,
        };
        order.first_key_value().map(|(_, connection)| connection.clone())
    }
}

/// The counts of a network.
#[derive(Default)]
struct Network {
    connections: AtomicUsize,
    incomplete: AtomicUsize,
}

/// The state of an open connection.
pub struct Connection {
    id: u64,
    registry: Arc<Connections>,
    network: Arc<Network>,
    of: IpAddr,
    /// How many requests have begun, and how many of them are not answered yet.
    begun: AtomicUsize,
    busy: AtomicUsize,
    /// A response waits for the client to read it.
    writing: AtomicBool,
    /// Its request head is not complete: the first one, or a later one of which a part has arrived.
    incomplete: AtomicBool,
    /// The turn in which it became idle.
    idle_since: AtomicU64,
    /// The turn by which it is ordered. Only used under the lock of the registry.
    place: AtomicU64,
    /// It was busy when it was examined, and is not in the order until it is idle.
    parked: AtomicBool,
    evicted: AtomicBool,
    evict: Notify,
}

/// A slot in the registry, released when it is dropped.
pub struct Registered {
    connection: Arc<Connection>,
    _slot: OwnedSemaphorePermit,
}

impl Connections {
    pub fn new(limits: ConnectionLimits, exempt: bool) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(limits.total));
        let (turns, open) = Default::default();
        Arc::new(Self { limits, exempt, slots, turns, open })
    }

    /// Waits for a slot. If there is none, the connection that has been idle for longest is closed.
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
        open.next += 1;
        let network = open.networks.entry(of).or_default().counts.clone();
        network.connections.fetch_add(1, Relaxed);
        network.incomplete.fetch_add(1, Relaxed);
        let connection = Arc::new(Connection {
            id: open.next,
            registry: self.clone(),
            network,
            of,
            begun: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            writing: AtomicBool::new(false),
            incomplete: AtomicBool::new(true),
            idle_since: AtomicU64::new(self.turns.fetch_add(1, Relaxed)),
            place: AtomicU64::new(0),
            parked: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            evict: Notify::new(),
        });
        open.insert(&connection);
        Some(Registered { connection, _slot: slot })
    }

    fn count(&self, of: IpAddr) -> usize {
        self.open().networks.get(&of).map_or(0, |network| network.counts.connections.load(Relaxed))
    }

    /// Asks the connection to close that has been idle for longest; `false` when none is idle.
    fn evict_idle(&self, of: Option<IpAddr>) -> bool {
        let mut open = self.open();
        while let Some(connection) = open.first(of) {
            open.remove(&connection);
            if !connection.is_idle() {
                connection.parked.store(true, SeqCst);
                // If it has become idle meanwhile, either this or its own task puts it back.
                if connection.is_idle() && connection.parked.swap(false, SeqCst) {
                    open.insert(&connection);
                }
            } else if connection.place.load(Relaxed) < connection.idle_since.load(SeqCst) {
                open.insert(&connection);
            } else {
                connection.evicted.store(true, Relaxed);
                connection.evict.notify_one();
                return true;
            }
        }
        false
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
        let registry = &self.connection.registry;
        if registry.exempt { usize::MAX } else { registry.limits.incomplete }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let connection = &self.connection;
        connection.head_complete();
        let mut open = connection.registry.open();
        open.remove(connection);
        // A response that is dropped later does not put it back.
        connection.parked.store(false, SeqCst);
        if connection.network.connections.fetch_sub(1, Relaxed) == 1 {
            open.networks.remove(&connection.of);
        }
    }
}

impl Connection {
    /// Counts a request from its head until its response is sent; `writing` covers the rest.
    pub fn begin(self: &Arc<Self>) -> Busy {
        self.head_complete();
        self.begun.fetch_add(1, Relaxed);
        self.busy.fetch_add(1, SeqCst);
        Busy(self.clone())
    }

    pub fn begun(&self) -> usize {
        self.begun.load(Relaxed)
    }

    pub fn is_idle(&self) -> bool {
        self.busy.load(SeqCst) == 0 && !self.writing.load(SeqCst)
    }

    /// Whether a response waits for the client to read it.
    pub fn set_writing(self: &Arc<Self>, writing: bool) {
        // Most writes complete at once.
        if self.writing.load(Relaxed) != writing {
            self.writing.store(writing, SeqCst);
            self.unpark();
        }
    }

    /// Puts it back into the order of idle connections, if it was taken out as busy.
    fn unpark(self: &Arc<Self>) {
        if self.parked.load(SeqCst) && self.is_idle() && self.parked.swap(false, SeqCst) {
            self.registry.open().insert(self);
        }
    }

    /// A part of a request head has arrived; `false` if that was known.
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

    /// Whether it is one of more than `limit` connections of its network with an incomplete head.
    /// If so, it is no longer counted, so that of several that check at once only those above the
    /// limit are closed.
    pub fn exceeds(&self, limit: usize) -> bool {
        let decrement = |count: usize| (count > limit).then(|| count - 1);
        let exceeds = self.incomplete.load(Relaxed)
            && self.network.incomplete.fetch_update(Relaxed, Relaxed, decrement).is_ok();
        if exceeds {
            // Only the task of the connection, which is the caller, changes this.
            self.incomplete.store(false, Relaxed);
        }
        exceeds
    }

    /// Resolves when the connection must be closed to free its slot.
    pub async fn evicted(&self) {
        self.evict.notified().await;
    }
}

/// A request that is not answered yet.
pub struct Busy(Arc<Connection>);

impl Drop for Busy {
    fn drop(&mut self) {
        let turn = self.0.registry.turns.fetch_add(1, Relaxed);
        self.0.idle_since.store(turn, SeqCst);
        self.0.busy.fetch_sub(1, SeqCst);
        self.0.unpark();
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
        // None of them is idle now.
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
        assert!(open.idle.is_empty() && open.networks.is_empty());
    }

    #[tokio::test]
    async fn busy_connections_are_looked_at_once() {
        let connections = connections(9, 4);
        let first = open(&connections, "1.1.1.1").await.unwrap();
        let second = open(&connections, "1.1.1.1").await.unwrap();
        let third = open(&connections, "1.1.1.1").await.unwrap();
        let (one, two) = (first.connection().begin(), second.connection().begin());
        let of = Some("1.1.1.1".parse().unwrap());
        assert!(connections.evict_idle(of) && is_evicted(&third));
        assert!(!connections.evict_idle(of), "the others are busy");
        assert!(connections.open().idle.is_empty(), "and are not looked at again");
        // The second becomes idle first, and is used once more.
        drop(two);
        drop(one);
        drop(second.connection().begin());
        assert_eq!(connections.open().idle.len(), 2);
        assert!(connections.evict_idle(of) && is_evicted(&first) && !is_evicted(&second));
        first.connection().set_writing(true);
        second.connection().set_writing(true);
        assert!(!connections.evict_idle(None));
        second.connection().set_writing(false);
        assert!(connections.evict_idle(None) && is_evicted(&second));
    }

    #[tokio::test]
    async fn a_response_that_outlives_its_connection_leaves_nothing() {
        let connections = connections(9, 9);
        let first = open(&connections, "1.1.1.1").await.unwrap();
        let busy = first.connection().begin();
        assert!(!connections.evict_idle(None));
        drop(first);
        drop(busy);
        let open = connections.open();
        assert!(open.idle.is_empty() && open.networks.is_empty());
    }
}
