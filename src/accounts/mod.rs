//! Who has an account, how they sign in, and what they may do.
//!
//! - An e-mail address belongs to one living account; the database sees to it.
//! - Only hashes of passwords and tokens are stored.
//! - Whatever ends sessions (a reset, a suspension) first takes the account's row, and whatever
//!   opens one does too: neither can slip past the other.

mod admins;
mod http;
mod letters;
mod lockout;
mod model;
mod password;
mod rules;
mod store;
mod tokens;

use chrono::{DateTime, Utc};

use crate::{
    app::App,
    kernel::{
        caller::{Caller, Context},
        db::{Db, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        lang::Lang,
        outbox::{self, Item},
    },
};

pub use admins::{FirstAdmin, create_admin, first_admin};
pub use http::{
    change_admin_status, change_password, end_session, forgot_password, get_profile, get_user,
    invite_admin, list_sessions, list_users, login, logout, remember_me, reset_password,
    update_profile, user_statistics,
};
pub use model::{AccountChange, NewAccount, Status, User, rules};
pub use password::{Password, Passwords, same};

/// The account behind a bearer token, as it is at this moment. One statement.
pub async fn caller(app: &App, token: &str, context: Context) -> Result<Caller> {
    let now = app.clock.now();
    let row = tokens::session(&app.db, &ids::hash(token), now).await?;
    let row = row.ok_or(Error::Unauthenticated)?;
    row.status.standing()?;
    row.into_caller(context)
}

/// Makes an account; a taken e-mail is refused.
pub async fn create(tx: &mut Tx, account: &NewAccount, now: DateTime<Utc>) -> Result<Uuid> {
    store::insert(tx, account, now).await
}

/// Changes an account. One that may no longer act loses its sessions at once; one that moves to
/// another mailbox leaves no link behind in the old one, and is invited anew if it still has to be.
pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    change: &AccountChange,
    lang: Lang,
    now: DateTime<Utc>,
) -> Result<()> {
    let before = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    store::update(tx, id, change, now).await?;
    if before.email != change.email.as_str() {
        tokens::void_mailed(tx, id).await?;
        if before.password_hash.is_none() {
            invite(tx, id, lang, now).await?;
        }
    }
    if change.status != Status::Active {
        tokens::end_all(tx, id, None).await?;
    }
    Ok(())
}

/// Deletes an account: its sessions end, its e-mail is free, its name stays for history.
pub async fn delete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    store::delete(tx, id, now).await?;
    tokens::end_all(tx, id, None).await
}

/// Mails an invitation to choose a password, once the transaction has committed.
pub async fn invite(tx: &mut Tx, account_id: Uuid, lang: Lang, now: DateTime<Utc>) -> Result<()> {
    outbox::put(tx, "account.invited", &letters::Invited { account_id, lang }, now).await?;
    Ok(())
}

pub async fn user(tx: &mut Tx, id: Uuid) -> Result<Option<User>> {
    store::user_in(tx, id).await
}

pub async fn deliver(app: &App, item: &Item) -> Result<()> {
    letters::deliver(app, item).await
}

/// Forgets sessions, tokens and failures that are past their time.
pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    tokens::sweep(db, now).await?;
    lockout::sweep(db, now).await
}
