//! Too many failed sign-ins lock an e-mail address, or a network address, for a while.
//!
//! An attempt is counted as a failure before the password is looked at and struck out when it
//! was right: attempts that run at the same moment cannot slip through together. It does not
//! matter whether the account exists.

use chrono::{DateTime, TimeDelta, Utc};
use std::net::IpAddr;

use crate::{
    app::App,
    kernel::{
        caller::network,
        db::{Db, Tx},
        email::Email,
        error::{Error, Result},
    },
};

const WINDOW: TimeDelta = TimeDelta::minutes(15);
const PER_EMAIL: i32 = 10;
const PER_ADDRESS: i32 = 50;

/// Counts an attempt, or refuses it.
pub async fn attempt(app: &App, email: &Email, address: IpAddr, now: DateTime<Utc>) -> Result<()> {
    if !app.config.rate_limit.0 {
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    let subjects = [(by_email(email), PER_EMAIL), (by_address(address), PER_ADDRESS)];
    for (subject, limit) in subjects {
        let counted = tx
            .sql(
                "INSERT INTO login_failures (subject, failures, since) VALUES ($1, 1, $2)
                 ON CONFLICT (subject) DO UPDATE SET
                   failures = CASE WHEN login_failures.since <= $3 THEN 1
                                   ELSE login_failures.failures + 1 END,
                   since = CASE WHEN login_failures.since <= $3 THEN excluded.since
                                ELSE login_failures.since END
                 WHERE login_failures.since <= $3 OR login_failures.failures < $4",
            )
            .bind(subject.clone())
            .bind(now)
            .bind(now - WINDOW)
            .bind(limit)
            .run()
            .await?;
        if counted == 0 {
            let since: DateTime<Utc> = tx
                .sql("SELECT since FROM login_failures WHERE subject = $1")
                .bind(subject)
                .scalar()
                .await?;
            let wait = (since + WINDOW - now).num_milliseconds().max(1).unsigned_abs();
            return Err(Error::TooManyRequests { retry_after: wait.div_ceil(1000) });
        }
    }
    Ok(tx.commit().await?)
}

/// The password was right: the account's failures are forgotten, the address's shrink by one.
pub async fn succeeded(tx: &mut Tx, email: &Email, address: IpAddr) -> Result<()> {
    forgive(tx, email).await?;
    tx.sql("UPDATE login_failures SET failures = failures - 1 WHERE subject = $1 AND failures > 0")
        .bind(by_address(address))
        .run()
        .await?;
    Ok(())
}

/// A reset proves who it is.
pub async fn forgive(tx: &mut Tx, email: &Email) -> Result<()> {
    tx.sql("DELETE FROM login_failures WHERE subject = $1").bind(by_email(email)).run().await?;
    Ok(())
}

pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    db.sql("DELETE FROM login_failures WHERE since <= $1").bind(now - WINDOW).run().await?;
    Ok(())
}

fn by_email(email: &Email) -> String {
    format!("email:{}", email.as_str())
}

fn by_address(address: IpAddr) -> String {
    format!("address:{}", network(address))
}
