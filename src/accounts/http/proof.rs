//! Passwords and codes that are given again within a session.
//!
//! A stolen token must not allow guessing either, so every attempt is counted by the lockout.

use chrono::{DateTime, Utc};

use crate::{
    accounts::{
        hash_queue::Origin,
        lockout::{self, Attempt, Client},
        model::CredentialsFrom,
        second_factor, store,
    },
    app::App,
    kernel::{
        caller::{Caller, network_text},
        db::Tx,
        email::Email,
        error::{Error, Result},
        lang::{Text, text},
    },
};

/// A password that was right.
pub struct Proof {
    /// Call `succeeded` in the transaction of the change.
    pub attempt: Attempt,
    pub password_hash: String,
}

/// Verifies the caller's password; 422 on `field` if it is wrong.
pub async fn password(
    app: &App,
    caller: &Caller,
    field: &'static str,
    password: &str,
    now: DateTime<Utc>,
) -> Result<Proof> {
    let (email, found) = account(app, caller).await?;
    let attempt = count(app, caller, &email, &found, now).await?;
    let password_hash = found.credentials.password_hash.ok_or(Error::Unauthenticated)?;
    let origin = Origin::new(caller.context.address, true);
    match app.passwords().verify(password, Some(&password_hash), origin).await {
        Ok(true) => Ok(Proof { attempt, password_hash }),
        Ok(false) => {
            let message = text("This is not your password.", "Ini bukan kata sandi Anda.");
            Err(Error::field(field, "wrong", message))
        }
        Err(busy) => {
            attempt.withdraw(&app.db).await?;
            Err(busy)
        }
    }
}

/// Counts an attempt at a code that is given without the password.
pub async fn code_attempt(app: &App, caller: &Caller, now: DateTime<Utc>) -> Result<Attempt> {
    let (email, found) = account(app, caller).await?;
    count(app, caller, &email, &found, now).await
}

async fn account(app: &App, caller: &Caller) -> Result<(Email, CredentialsFrom)> {
    let email = caller.person.email.parse().map_err(Error::internal)?;
    let network = network_text(caller.context.address);
    let found = store::credentials_from(&app.db, &email, &network).await?;
    let found = found.filter(|found| found.credentials.id == caller.person.id);
    Ok((email, found.ok_or(Error::Unauthenticated)?))
}

async fn count(
    app: &App,
    caller: &Caller,
    email: &Email,
    found: &CredentialsFrom,
    now: DateTime<Utc>,
) -> Result<Attempt> {
    let (address, is_known) = (caller.context.address, found.knows_network(now));
    lockout::prove(app, &Client { email, address, is_known, is_remembered: false }, now).await
}

/// Uses up a code of the caller's second factor; 422 on `code` if it is wrong. The account's row must
/// be locked.
pub async fn code(
    app: &App,
    tx: &mut Tx,
    caller: &Caller,
    code: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    match second_factor::accept(app, tx, caller.person.id, code, now).await? {
        true => Ok(()),
        false => Err(wrong_code()),
    }
}

pub fn wrong_code() -> Error {
    Error::field("code", "wrong", WRONG_CODE)
}

const WRONG_CODE: Text =
    text("This code is wrong or was already used.", "Kode ini salah atau sudah dipakai.");
