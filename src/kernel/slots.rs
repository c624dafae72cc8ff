//! Slots for requests that take memory while their client sends them. An account has a share of them, so
//! that one that sends slowly does not hold up all others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::{
    error::{Error, Result},
    ids::Uuid,
};

/// How many slots one account has at the same time.
const SHARE: usize = 2;

pub struct Slots {
    all: Arc<Semaphore>,
    /// The shares of accounts that have a slot or wait for one.
    shares: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// Held as long as the content is in memory.
pub struct Slot {
    _own: OwnedSemaphorePermit,
    _one: OwnedSemaphorePermit,
}

impl Slots {
    pub fn new(count: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(count)), shares: Mutex::default() }
    }

    /// Waits for a slot: 429 if the account has its share, 503 if all are taken. Who waits for its own
    /// share takes nothing from others.
    pub async fn take(&self, account: Uuid, wait: Duration) -> Result<Slot> {
        let until = Instant::now() + wait;
        let own = timeout_at(until, self.share(account).acquire_owned()).await;
        let Ok(own) = own else {
            return Err(Error::TooManyRequests { retry_after: wait.as_secs().max(1) });
        };
        let one = timeout_at(until, self.all.clone().acquire_owned()).await;
        let Ok(one) = one else {
            return Err(Error::Unavailable("too many uploads at the same time".into()));
        };
        Ok(Slot { _own: own.map_err(Error::internal)?, _one: one.map_err(Error::internal)? })
    }

    fn share(&self, account: Uuid) -> Arc<Semaphore> {
        // No code that holds the lock panics.
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        // Permits and those who wait for one refer to their share.
        shares.retain(|_, share| Arc::strong_count(share) > 1);
        shares.entry(account).or_insert_with(|| Arc::new(Semaphore::new(SHARE))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ids;

    const WAIT: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn an_account_has_its_share_and_no_more() {
        let (slots, made, ketut) = (Slots::new(3), ids::fresh(), ids::fresh());
        let first = slots.take(made, WAIT).await.unwrap();
        let _second = slots.take(made, WAIT).await.unwrap();
        let third = slots.take(made, WAIT).await;
        assert!(matches!(third, Err(Error::TooManyRequests { .. })));
        let of_another = slots.take(ketut, WAIT).await.unwrap();
        let no_more = slots.take(ketut, WAIT).await;
        assert!(matches!(no_more, Err(Error::Unavailable(_))));
        drop(of_another);
        // It waits for its share, and not in the way of others.
        let waits = slots.take(made, WAIT);
        let others = async {
            let _other = slots.take(ketut, WAIT).await.unwrap();
            drop(first);
        };
        assert!(tokio::join!(waits, others).0.is_ok());
    }

    #[tokio::test]
    async fn shares_that_nobody_uses_are_forgotten() {
        let slots = Slots::new(3);
        for _ in 0..10 {
            slots.take(ids::fresh(), WAIT).await.unwrap();
        }
        assert_eq!(slots.shares.lock().unwrap().len(), 1);
    }
}
