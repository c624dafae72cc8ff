//! Fair queue for password hashing. A hash takes a core and 19 MiB for tens of milliseconds, so
//! only a few run at once and the rest wait here.
//!
//! - Each network (IPv4 address, IPv6 /64) has its own queue and networks take turns, so a flood from
//!   one network delays only that network.
//! - Known networks (of the account, or with a valid session) go first but leave one permit to the
//!   others. With a single permit the two classes alternate.
//! - Queues are bounded. When the total is reached, a new request replaces the last one of the longest
//!   queue, unless its own queue is as long.
//! - A request whose client disconnects leaves the queue.

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::kernel::caller::{network, site};

/// Client network and class of a request.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    network: IpAddr,
    site: Option<IpAddr>,
    class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Known,
    Unknown,
}

impl Origin {
    /// `known`: the caller is authenticated, or the account has signed in from this network.
    pub fn new(address: IpAddr, known: bool) -> Self {
        let class = if known { Class::Known } else { Class::Unknown };
        Self { network: network(address), site: site(address), class }
    }

    /// The service itself, and its command line.
    pub fn local() -> Self {
        Self::new(IpAddr::from([127, 0, 0, 1]), true)
    }
}

/// Maximum number of waiting requests per class.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub per_network: usize,
    pub per_site: usize,
    pub total: usize,
}

impl Bounds {
    /// About five seconds of hashing on two cores.
    const TOTAL: usize = 256;
    pub const FAIR: Self = Self { per_network: 16, per_site: 160, total: Self::TOTAL };
    /// For a service without rate limits.
    pub const NONE: Self = Self { per_network: 4096, per_site: 4096, total: 4096 };
}

/// The queue is full, or the place was given to a network with fewer waiting requests.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

#[derive(Clone)]
pub struct HashQueue(Arc<Mutex<State>>);

struct State {
    permits: usize,
    /// Invariant: nothing waits while permits are free.
    free: usize,
    unknown_running: usize,
    last_granted: Class,
    next_id: u64,
    bounds: Bounds,
    known: Line,
    unknown: Line,
}

/// Networks of one class with waiting requests, in the order of their next turn.
#[derive(Default)]
struct Line(VecDeque<Queue>);

struct Queue {
    network: IpAddr,
    site: Option<IpAddr>,
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    id: u64,
    granted: oneshot::Sender<Permit>,
}

/// A place in the queue; dropping it leaves the queue.
pub struct Ticket {
    queue: HashQueue,
    id: u64,
    class: Class,
    granted: oneshot::Receiver<Permit>,
}

/// The right to hash; released when dropped.
pub struct Permit {
    queue: HashQueue,
    class: Class,
}

impl HashQueue {
    pub fn new(permits: usize, bounds: Bounds) -> Self {
        let permits = permits.max(1);
        Self(Arc::new(Mutex::new(State {
            permits,
            free: permits,
            unknown_running: 0,
            last_granted: Class::Unknown,
            next_id: 0,
            bounds,
            known: Line::default(),
            unknown: Line::default(),
        })))
    }

    pub fn enter(&self, origin: Origin) -> Result<Ticket, Full> {
        let (sender, granted) = oneshot::channel();
        let mut state = self.lock();
        let id = state.join(origin, sender)?;
        let next = state.next();
        drop(state);
        self.grant(next);
        Ok(Ticket { queue: self.clone(), id, class: origin.class, granted })
    }

    /// Called without the lock, because a permit that is not taken is released at once.
    fn grant(&self, next: Option<(Class, Waiter)>) {
        if let Some((class, waiter)) = next {
            let _ = waiter.granted.send(Permit { queue: self.clone(), class });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    pub async fn turn(mut self) -> Result<Permit, Full> {
        (&mut self.granted).await.map_err(|_| Full)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.queue.lock().line(self.class).leave(self.id);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.free += 1;
        if self.class == Class::Unknown {
            state.unknown_running -= 1;
        }
        let next = state.next();
        drop(state);
        self.queue.grant(next);
    }
}

impl State {
    fn line(&mut self, class: Class) -> &mut Line {
        match class {
            Class::Known => &mut self.known,
            Class::Unknown => &mut self.unknown,
        }
    }

    fn join(&mut self, origin: Origin, granted: oneshot::Sender<Permit>) -> Result<u64, Full> {
        let (id, bounds) = (self.next_id, self.bounds);
        self.next_id += 1;
        let line = self.line(origin.class);
        line.make_room(origin, bounds)?;
        line.join(origin, Waiter { id, granted });
        Ok(id)
    }

    /// Takes a free permit for the next waiter.
    fn next(&mut self) -> Option<(Class, Waiter)> {
        if self.free == 0 {
            return None;
        }
        let class = match (self.known.0.is_empty(), self.unknown.0.is_empty()) {
            (true, true) => return None,
            (false, true) => Class::Known,
            (true, false) => Class::Unknown,
            (false, false) if self.is_unknowns_turn() => Class::Unknown,
            (false, false) => Class::Known,
        };
        let waiter = self.line(class).take()?;
        self.free -= 1;
        self.last_granted = class;
        if class == Class::Unknown {
            self.unknown_running += 1;
        }
        Some((class, waiter))
    }

    fn is_unknowns_turn(&self) -> bool {
        self.unknown_running == 0 && (self.permits > 1 || self.last_granted == Class::Known)
    }
}

impl Line {
    fn len(&self) -> usize {
        self.0.iter().map(|queue| queue.waiting.len()).sum()
    }

    fn make_room(&mut self, origin: Origin, bounds: Bounds) -> Result<(), Full> {
        let own = self.0.iter().find(|queue| queue.network == origin.network);
        let own = own.map_or(0, |queue| queue.waiting.len());
        let of_site = self.0.iter().filter(|queue| queue.site == origin.site);
        let of_site: usize = of_site.map(|queue| queue.waiting.len()).sum();
        if own >= bounds.per_network || (origin.site.is_some() && of_site >= bounds.per_site) {
            return Err(Full);
        }
        if self.len() < bounds.total {
            return Ok(());
        }
        let longest = self.0.iter_mut().max_by_key(|queue| queue.waiting.len());
        match longest {
            // At least one waiter remains, so the network keeps its turn.
            Some(queue) if queue.waiting.len() > own + 1 => {
                queue.waiting.pop_back();
                Ok(())
            }
            _ => Err(Full),
        }
    }

    fn join(&mut self, origin: Origin, waiter: Waiter) {
        match self.0.iter_mut().find(|queue| queue.network == origin.network) {
            Some(queue) => queue.waiting.push_back(waiter),
            None => {
                let Origin { network, site, .. } = origin;
                self.0.push_back(Queue { network, site, waiting: VecDeque::from([waiter]) });
            }
        }
    }

    /// The first waiter of the next network, which moves to the end.
    fn take(&mut self) -> Option<Waiter> {
        let mut queue = self.0.pop_front()?;
        let waiter = queue.waiting.pop_front();
        if !queue.waiting.is_empty() {
            self.0.push_back(queue);
        }
        waiter
    }

    fn leave(&mut self, id: u64) {
        for queue in &mut self.0 {
            queue.waiting.retain(|waiter| waiter.id != id);
        }
        self.0.retain(|queue| !queue.waiting.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Bounds = Bounds { per_network: 4, per_site: 6, total: 8 };

    fn known(network: u8) -> Origin {
        Origin::new([10, 0, 0, network].into(), true)
    }

    fn unknown(network: u8) -> Origin {
        Origin::new([10, 0, 0, network].into(), false)
    }

    /// Everybody who waits, by name.
    struct Room {
        queue: HashQueue,
        waiting: Vec<(String, Ticket)>,
    }

    impl Room {
        fn new(permits: usize, bounds: Bounds) -> Self {
            Self { queue: HashQueue::new(permits, bounds), waiting: Vec::new() }
        }

        fn enter(&mut self, name: &str, origin: Origin) -> Result<(), Full> {
            let ticket = self.queue.enter(origin)?;
            self.waiting.push((name.into(), ticket));
            Ok(())
        }

        /// Whoever was granted a permit since the last look.
        fn served(&mut self) -> Option<(String, Permit)> {
            for n in 0..self.waiting.len() {
                if let Ok(permit) = self.waiting[n].1.granted.try_recv() {
                    return Some((self.waiting.remove(n).0, permit));
                }
            }
            None
        }

        /// Lets one after the other finish, and says in which order they were served.
        fn order(&mut self) -> String {
            let mut names = Vec::new();
            while let Some((name, permit)) = self.served() {
                names.push(name);
                drop(permit);
            }
            names.join(" ")
        }
    }

    #[test]
    fn networks_take_turns() {
        let mut room = Room::new(1, Bounds::FAIR);
        for n in 1..=4 {
            room.enter(&format!("a{n}"), unknown(1)).unwrap();
        }
        room.enter("b1", unknown(2)).unwrap();
        room.enter("b2", unknown(2)).unwrap();
        room.enter("c1", unknown(3)).unwrap();
        assert_eq!(room.order(), "a1 a2 b1 c1 a3 b2 a4");
    }

    #[test]
    fn known_networks_go_first_and_leave_one_permit() {
        let mut room = Room::new(2, Bounds::FAIR);
        for n in 1..=3 {
            room.enter(&format!("u{n}"), unknown(n)).unwrap();
        }
        for n in 1..=3 {
            room.enter(&format!("k{n}"), known(n)).unwrap();
        }
        let (u1, u2) = (room.served().unwrap(), room.served().unwrap());
        assert_eq!((u1.0.as_str(), u2.0.as_str()), ("u1", "u2"));
        assert!(room.served().is_none());
        drop(u1);
        let k1 = room.served().unwrap();
        assert_eq!(k1.0, "k1", "an unknown network is being served");
        drop(k1);
        let k2 = room.served().unwrap();
        assert_eq!(k2.0, "k2");
        drop(u2);
        let u3 = room.served().unwrap();
        assert_eq!(u3.0, "u3", "no unknown network was being served");
        drop(k2);
        assert_eq!(room.served().unwrap().0, "k3");
    }

    #[test]
    fn with_one_permit_the_classes_alternate() {
        let mut room = Room::new(1, Bounds::FAIR);
        for n in 1..=4 {
            room.enter(&format!("k{n}"), known(n)).unwrap();
        }
        for n in 1..=2 {
            room.enter(&format!("u{n}"), unknown(n)).unwrap();
        }
        assert_eq!(room.order(), "k1 u1 k2 u2 k3 k4");
    }

    #[test]
    fn a_network_that_is_full_does_not_keep_others_out() {
        let mut room = Room::new(1, SMALL);
        // One is served, four wait.
        for n in 0..5 {
            room.enter(&format!("a{n}"), unknown(1)).unwrap();
        }
        assert_eq!(room.enter("a5", unknown(1)), Err(Full));
        room.enter("b", unknown(2)).unwrap();
        room.enter("k", known(1)).unwrap();
        assert_eq!(room.order(), "a0 k a1 b a2 a3 a4");
    }

    #[test]
    fn a_site_is_bounded_over_all_its_networks() {
        let mut room = Room::new(1, SMALL);
        let from = |text: &str| Origin::new(text.parse().unwrap(), false);
        room.enter("running", unknown(1)).unwrap();
        for n in 0..6 {
            room.enter("a", from(&format!("2001:db8:1:{n}::1"))).unwrap();
        }
        assert_eq!(room.enter("a", from("2001:db8:1:7::1")), Err(Full));
        room.enter("b", from("2001:db8:2::1")).unwrap();
        room.enter("c", unknown(2)).unwrap();
    }

    #[test]
    fn a_newcomer_takes_a_place_of_the_longest_queue() {
        let mut room = Room::new(1, SMALL);
        room.enter("running", unknown(9)).unwrap();
        for n in 0..4 {
            room.enter(&format!("a{n}"), unknown(1)).unwrap();
        }
        for n in 0..4 {
            room.enter(&format!("b{n}"), unknown(n + 2)).unwrap();
        }
        room.enter("c", unknown(6)).unwrap();
        let gone = room.waiting.iter_mut().find(|(name, _)| name == "a3").unwrap();
        assert_eq!(
            gone.1.granted.try_recv().err(),
            Some(oneshot::error::TryRecvError::Closed),
            "the last of the longest queue is refused"
        );
        // With two left in the longest queue, a network that has one gets no second.
        room.enter("d", unknown(7)).unwrap();
        assert_eq!(room.enter("d2", unknown(7)), Err(Full));
        assert_eq!(room.order(), "running a0 b0 b1 b2 b3 c d a1");
    }

    #[test]
    fn whoever_hangs_up_leaves_the_queue() {
        let mut room = Room::new(1, SMALL);
        for name in ["a", "b", "c"] {
            room.enter(name, unknown(1)).unwrap();
        }
        room.waiting.remove(1);
        let a = room.served().unwrap();
        // Granted, and gone before it was told.
        drop(a);
        room.waiting.clear();
        for n in 0..5 {
            room.enter(&format!("d{n}"), unknown(1)).unwrap();
        }
        assert_eq!(room.order(), "d0 d1 d2 d3 d4");
    }

    #[tokio::test]
    async fn a_ticket_becomes_a_permit() {
        let queue = HashQueue::new(1, SMALL);
        let first = queue.enter(unknown(1)).unwrap().turn().await.unwrap();
        let second = tokio::spawn(queue.enter(unknown(1)).unwrap().turn());
        drop(first);
        drop(second.await.unwrap().unwrap());
        assert_eq!(queue.lock().free, 1);
    }

    proptest! {
        /// Whatever is entered, finished and abandoned: permits are neither lost nor made, nobody
        /// waits while one is free, and queues stay within their bounds.
        #[test]
        fn permits_are_conserved(
            permits in 1_usize..4,
            steps in prop::collection::vec((0_u8..4, 0_u8..12, any::<bool>()), 0..200),
        ) {
            let queue = HashQueue::new(permits, SMALL);
            let (mut tickets, mut running) = (Vec::new(), Vec::new());
            for (step, n, is_known) in steps {
                match step {
                    0 | 1 => {
                        let origin = Origin::new([10, 0, 0, n].into(), is_known);
                        tickets.extend(queue.enter(origin));
                    }
                    2 if !running.is_empty() => drop(running.remove(usize::from(n) % running.len())),
                    3 if !tickets.is_empty() => drop(tickets.remove(usize::from(n) % tickets.len())),
                    _ => {}
                }
                let mut waiting: Vec<Ticket> = Vec::new();
                for mut ticket in tickets.drain(..) {
                    match ticket.granted.try_recv() {
                        Ok(permit) => running.push(permit),
                        Err(oneshot::error::TryRecvError::Empty) => waiting.push(ticket),
                        Err(oneshot::error::TryRecvError::Closed) => {}
                    }
                }
                tickets = waiting;
                let state = queue.lock();
                prop_assert_eq!(state.free + running.len(), permits);
                prop_assert_eq!(state.known.len() + state.unknown.len(), tickets.len());
                prop_assert!(state.free == 0 || tickets.is_empty());
                prop_assert!(state.known.len() <= SMALL.total && state.unknown.len() <= SMALL.total);
            }
        }
    }
}
