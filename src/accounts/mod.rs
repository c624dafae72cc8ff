//! Who has an account, how they sign in, and what they may do.
//!
//! - An e-mail address belongs to one living account; the database sees to it.
//! - Only hashes of passwords and tokens are stored.
//! - Whatever ends sessions (a reset, a suspension) first takes the account's row, and whatever
//!   opens one does too: neither can slip past the other.

mod admins;
mod hash_queue;
mod http;
mod letters;
mod lockout;
mod model;
mod password;
mod store;
mod tokens;

use chrono::{DateTime, Utc};

use crate::{
    app::App,
    events::{self, AccountLetter, AccountRef, EmailChanged},
    kernel::{
        caller::{Caller, Context},
        db::{Db, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        lang::Lang,
    },
};

use tokens::OpenedBy;

pub use admins::{FirstAdmin, create_admin, first_admin, give_password};
pub use hash_queue::Origin;
pub use http::{
    change_admin_status, change_password, end_session, forgot_password, get_profile, get_user,
    invite_admin, list_sessions, list_users, login, logout, remember_me, reset_password,
    update_profile, user_statistics,
};
pub use letters::send_letter;
pub use model::{AccountChange, Impersonation, NewAccount, Status, User, rules};
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
    store::hold(tx, id).await?;
    let before = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    store::update(tx, id, change, now).await?;
    if before.email != change.email.as_str() {
        tokens::void_mailed(tx, id, now).await?;
        match before.password_hash {
            None => invite(tx, id, lang, now).await?,
            Some(_) => tell_old_mailbox(tx, &before.name, &before.email, lang, now).await?,
        }
    }
    if change.status.is_some_and(|status| status != Status::Active) {
        tokens::end_all(tx, id, None, now).await?;
    }
    Ok(())
}

/// Whoever reads the old mailbox learns that the account has moved to another.
async fn tell_old_mailbox(
    tx: &mut Tx,
    name: &str,
    email: &str,
    lang: Lang,
    now: DateTime<Utc>,
) -> Result<()> {
    let email = email.parse().map_err(Error::internal)?;
    let changed = EmailChanged { name: name.to_owned(), email, lang };
    events::send(tx, &AccountLetter::EmailChanged(changed), now).await
}

/// Switches an account on, or off with its sessions.
pub async fn set_status(tx: &mut Tx, id: Uuid, status: Status, now: DateTime<Utc>) -> Result<()> {
    store::set_status(tx, id, status, now).await?;
    match status {
        Status::Active => Ok(()),
        Status::Inactive | Status::Suspended => tokens::end_all(tx, id, None, now).await,
    }
}

/// Whether the account has yet to choose its first password.
pub async fn is_invited(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let account = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    Ok(account.password_hash.is_none())
}

/// Opens a short session of the account for the caller, who stays known as its impersonator.
pub async fn impersonate(
    tx: &mut Tx,
    caller: &Caller,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<Impersonation> {
    // Both rows, always in the same order: whatever ends the sessions of either waits or was first.
    for id in [caller.person.id.min(id), caller.person.id.max(id)] {
        store::hold(tx, id).await?;
    }
    if !tokens::session_exists(tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let user = store::user_in(tx, id).await?.ok_or(Error::NotFound)?;
    let opened = OpenedBy::Impersonator(caller.person.id);
    let token = tokens::open_session(tx, id, opened, &caller.context, now).await?;
    let access_token = token.reveal().to_owned();
    Ok(Impersonation { access_token, expires_in: tokens::IMPERSONATION.num_seconds(), user })
}

/// Deletes an account: its sessions end, its e-mail is free, its name stays for history.
pub async fn delete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    store::delete(tx, id, now).await?;
    tokens::end_all(tx, id, None, now).await
}

/// Mails an invitation to choose a password, once the transaction has committed.
pub async fn invite(tx: &mut Tx, account_id: Uuid, lang: Lang, now: DateTime<Utc>) -> Result<()> {
    events::send(tx, &AccountLetter::Invited(AccountRef { account_id, lang }), now).await
}

pub async fn exists(db: &Db, id: Uuid) -> Result<bool> {
    Ok(store::user(db, id).await?.is_some())
}

pub async fn user(tx: &mut Tx, id: Uuid) -> Result<Option<User>> {
    store::user_in(tx, id).await
}

/// Deletes sessions, tokens, failures and known networks that are past their time.
pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    tokens::sweep(db, now).await?;
    lockout::sweep(db, now).await
}
