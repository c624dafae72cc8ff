//! Lockout after too many wrong passwords, per account and network.
//!
//! An attempt is counted as a failure before the password is verified and removed if it was right,
//! so concurrent attempts cannot exceed the limit. It does not matter whether the account exists.
//!
//! Counters within 15 minutes:
//!
//! | bucket | limit | applies to |
//! |---|---|---|
//! | account and network | 10 | everybody without a remember token |
//! | network, all accounts | 50 | the same |
//! | account, all networks | 100 | networks that the account does not know |
//! | site (IPv6 /48), all accounts | 500 | the same |
//! | account, remember token | 10 | whoever shows a valid one; when it is full, the rules above |
//! | account, session | 10 | passwords and codes within sessions, from unknown networks |
//! | account, code | 10 | codes of the second factor at sign-in, from unknown networks |
//!
//! There is no bucket for account and site: ten times the limit of a network is the limit of the
//! account.
//!
//! A wrong code of the second factor is a failure like a wrong password. Whoever guesses codes knows
//! the password already, so there are fewer guesses: all unknown networks share ten. A right password
//! without a code is neither a failure nor a success.
//!
//! A network is known for 30 days after a sign-in with password. Resuming by a remember token does
//! not count: with a stolen token any number of networks could be made known.

use chrono::{DateTime, TimeDelta, Utc};
use std::net::IpAddr;

use super::model::CredentialsFrom;
use crate::{
    app::App,
    kernel::{
        caller::{network_text, site},
        db::{Db, Tx},
        email::Email,
        error::{Error, Result},
        ids::Uuid,
    },
};

const WINDOW: TimeDelta = TimeDelta::minutes(15);
const PER_PAIR: i32 = 10;
const PER_NETWORK: i32 = 50;
const PER_ACCOUNT: i32 = 100;
const PER_SITE: i32 = 500;

/// `last_used_at` is updated at most once a day, so it may be this much too old.
const REFRESH: TimeDelta = TimeDelta::days(1);
const KNOWN: TimeDelta = TimeDelta::days(30 + REFRESH.num_days());

/// Client of a password attempt.
pub struct Client<'a> {
    pub email: &'a Email,
    pub address: IpAddr,
    /// Whether the account has signed in from this network.
    pub is_known: bool,
    /// Whether the request has a valid remember token of the account.
    pub is_remembered: bool,
}

/// A counted attempt and its buckets.
#[derive(Default)]
pub struct Attempt(Vec<Bucket>);

#[derive(Clone)]
struct Bucket {
    /// Empty for all accounts.
    email: String,
    /// Empty for all networks.
    network: String,
    limit: i32,
}

/// Counts a sign-in attempt, or refuses it.
pub async fn sign_in(app: &App, client: &Client<'_>, now: DateTime<Utc>) -> Result<Attempt> {
    if !app.config.rate_limit.0 {
        return Ok(Attempt::default());
    }
    let mut tx = app.db.begin().await?;
    let device = Bucket::of(client.email, "device");
    if client.is_remembered && device.count(&mut tx, now).await? {
        tx.commit().await?;
        return Ok(Attempt(vec![device]));
    }
    let buckets = match client.is_known {
        true => vec![client.pair(), client.network()],
        // All processes lock the rows in this order.
        false => {
            let account = Bucket { limit: PER_ACCOUNT, ..Bucket::of(client.email, "") };
            let mut buckets = vec![account, client.pair(), client.network()];
            buckets.extend(client.site());
            buckets
        }
    };
    count_all(tx, buckets, now).await
}

/// Counts a password or code within a session, or refuses it. A stolen session gets ten guesses from
/// all unknown networks together; they do not affect sign-in.
pub async fn prove(app: &App, client: &Client<'_>, now: DateTime<Utc>) -> Result<Attempt> {
    if !app.config.rate_limit.0 {
        return Ok(Attempt::default());
    }
    let bucket = match client.is_known {
        true => client.pair(),
        false => Bucket::of(client.email, "session"),
    };
    count_all(app.db.begin().await?, vec![bucket], now).await
}

/// Counts a code of the second factor at sign-in, or refuses it.
pub async fn guess_code(app: &App, client: &Client<'_>, now: DateTime<Utc>) -> Result<Attempt> {
    if !app.config.rate_limit.0 || client.is_known {
        return Ok(Attempt::default());
    }
    let bucket = Bucket::of(client.email, "code");
    count_all(app.db.begin().await?, vec![bucket], now).await
}

async fn count_all(mut tx: Tx, buckets: Vec<Bucket>, now: DateTime<Utc>) -> Result<Attempt> {
    for bucket in &buckets {
        if !bucket.count(&mut tx, now).await? {
            let since = bucket.since(&mut tx).await?;
            let wait = (since + WINDOW - now).num_milliseconds().max(1).unsigned_abs();
            return Err(Error::TooManyRequests { retry_after: wait.div_ceil(1000) });
        }
    }
    tx.commit().await?;
    Ok(Attempt(buckets))
}

impl Client<'_> {
    fn pair(&self) -> Bucket {
        Bucket::of(self.email, &network_text(self.address))
    }

    fn network(&self) -> Bucket {
        let network = network_text(self.address);
        Bucket { email: String::new(), network, limit: PER_NETWORK }
    }

    fn site(&self) -> Option<Bucket> {
        let network = format!("{}/48", site(self.address)?);
        Some(Bucket { email: String::new(), network, limit: PER_SITE })
    }
}

impl Bucket {
    fn of(email: &Email, network: &str) -> Self {
        Self { email: email.as_str().into(), network: network.into(), limit: PER_PAIR }
    }

    /// Returns `false` if the bucket is full.
    async fn count(&self, tx: &mut Tx, now: DateTime<Utc>) -> Result<bool> {
        let counted = tx
            .sql(
                "INSERT INTO login_failures (email, network, failures, since)
                 VALUES ($1, $2, 1, $3)
                 ON CONFLICT (email, network) DO UPDATE SET
                   failures = CASE WHEN login_failures.since <= $4 THEN 1
                                   ELSE login_failures.failures + 1 END,
                   since = CASE WHEN login_failures.since <= $4 THEN excluded.since
                                ELSE login_failures.since END
                 WHERE login_failures.since <= $4 OR login_failures.failures < $5",
            )
            .bind(self.email.clone())
            .bind(self.network.clone())
            .bind(now)
            .bind(now - WINDOW)
            .bind(self.limit)
            .run()
            .await?;
        Ok(counted == 1)
    }

    async fn since(&self, tx: &mut Tx) -> Result<DateTime<Utc>> {
        let since = tx
            .sql("SELECT since FROM login_failures WHERE email = $1 AND network = $2")
            .bind(self.email.clone())
            .bind(self.network.clone())
            .scalar()
            .await?;
        Ok(since)
    }

    async fn remove_failure(&self, tx: &mut Tx) -> Result<()> {
        tx.sql(
            "UPDATE login_failures SET failures = failures - 1
             WHERE email = $1 AND network = $2 AND failures > 0",
        )
        .bind(self.email.clone())
        .bind(self.network.clone())
        .run()
        .await?;
        Ok(())
    }

    async fn clear(&self, tx: &mut Tx) -> Result<()> {
        tx.sql("DELETE FROM login_failures WHERE email = $1 AND network = $2")
            .bind(self.email.clone())
            .bind(self.network.clone())
            .run()
            .await?;
        Ok(())
    }

    /// Whether it counts one account from one network. A right password clears such a bucket;
    /// others also contain failures of strangers.
    fn is_pair(&self) -> bool {
        !self.email.is_empty() && !self.network.is_empty()
    }
}

impl Attempt {
    /// The password was right.
    pub async fn succeeded(&self, tx: &mut Tx) -> Result<()> {
        for bucket in &self.0 {
            match bucket.is_pair() {
                true => bucket.clear(tx).await?,
                false => bucket.remove_failure(tx).await?,
            }
        }
        Ok(())
    }

    /// The password was not verified; the attempt does not count.
    pub async fn withdraw(&self, db: &Db) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut tx = db.begin().await?;
        for bucket in &self.0 {
            bucket.remove_failure(&mut tx).await?;
        }
        Ok(tx.commit().await?)
    }
}

/// Deletes all failures of an account, in the lock order of attempts.
pub async fn clear_failures(tx: &mut Tx, email: &Email) -> Result<()> {
    Bucket::of(email, "").clear(tx).await?;
    tx.sql("DELETE FROM login_failures WHERE email = $1").bind(email.clone()).run().await?;
    Ok(())
}

impl CredentialsFrom {
    pub fn knows_network(&self, now: DateTime<Utc>) -> bool {
        self.network_used_at.is_some_and(|used_at| now < used_at + KNOWN)
    }

    /// Whether `last_used_at` must be updated.
    pub fn network_is_stale(&self, now: DateTime<Utc>) -> bool {
        self.network_used_at.is_none_or(|used_at| now >= used_at + REFRESH)
    }
}

/// Records a sign-in from this network.
pub async fn remember_network(
    tx: &mut Tx,
    account_id: Uuid,
    address: IpAddr,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO known_networks (account_id, network, last_used_at) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, network) DO UPDATE SET last_used_at = excluded.last_used_at",
    )
    .bind(account_id)
    .bind(network_text(address))
    .bind(now)
    .run()
    .await?;
    Ok(())
}

pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    db.sql("DELETE FROM login_failures WHERE since <= $1").bind(now - WINDOW).run().await?;
    db.sql("DELETE FROM known_networks WHERE last_used_at <= $1").bind(now - KNOWN).run().await?;
    Ok(())
}
