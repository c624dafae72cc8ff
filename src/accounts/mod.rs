//! Accounts, sign-in and sessions.
//!
//! - An e-mail address belongs to at most one account that is not deleted, by a unique index.
//! - Only hashes of passwords and tokens are stored.
//! - Opening and ending sessions (a reset, a suspension) both lock the account's row first, so they
//!   are serialised.

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

pub use admins::{FirstAdmin, create_admin, first_admin, set_invited_password};
pub use hash_queue::Origin;
pub use http::{
    change_admin_status, change_password, end_session, forgot_password, get_profile, get_user,
    invite_admin, list_sessions, list_users, login, logout, remember_me, reset_password,
    update_profile, user_statistics,
};
pub use letters::send_letter;
pub use model::{AccountChange, Impersonation, NewAccount, Status, User, rules};
pub use password::{Password, Passwords, check_confirmation};

/// The account of a bearer token with its current rights. One statement.
pub async fn caller(app: &App, token: &str, context: Context) -> Result<Caller> {
    let now = app.clock.now();
    let row = tokens::session(&app.db, &ids::hash(token), now).await?;
    let row = row.ok_or(Error::Unauthenticated)?;
    row.status.standing()?;
    row.into_caller(context)
}

/// Creates an account; 409 if the e-mail address is in use.
pub async fn create(tx: &mut Tx, account: &NewAccount, now: DateTime<Utc>) -> Result<Uuid> {
    store::insert(tx, account, now).await
}

/// Updates an account. A deactivated account loses its sessions. A changed e-mail address
/// invalidates mailed links, and a pending invitation is sent again.
pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    change: &AccountChange,
    lang: Lang,
    now: DateTime<Utc>,
) -> Result<()> {
    store::lock_row(tx, id).await?;
    let before = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    store::update(tx, id, change, now).await?;
    if before.email != change.email.as_str() {
        tokens::invalidate_mailed_links(tx, id, now).await?;
        match before.password_hash {
            None => invite(tx, id, lang, now).await?,
            Some(_) => notify_old_address(tx, &before.name, &before.email, lang, now).await?,
        }
    }
    if change.status.is_some_and(|status| status != Status::Active) {
        tokens::end_all(tx, id, None, now).await?;
    }
    Ok(())
}

/// Notifies the old address of the change.
async fn notify_old_address(
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

/// Sets the status; ends all sessions unless it is active.
pub async fn set_status(tx: &mut Tx, id: Uuid, status: Status, now: DateTime<Utc>) -> Result<()> {
    store::set_status(tx, id, status, now).await?;
    match status {
        Status::Active => Ok(()),
        Status::Inactive | Status::Suspended => tokens::end_all(tx, id, None, now).await,
    }
}

/// Whether the account has no password yet.
pub async fn is_invited(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let account = store::credentials_in(tx, id).await?.ok_or(Error::NotFound)?;
    Ok(account.password_hash.is_none())
}

/// Opens a short impersonated session for the caller.
pub async fn impersonate(
    tx: &mut Tx,
    caller: &Caller,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<Impersonation> {
    // Locks both rows in a fixed order, so that ending the sessions of either is serialised with
    // this.
    for id in [caller.person.id.min(id), caller.person.id.max(id)] {
        store::lock_row(tx, id).await?;
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

/// Deletes an account: its sessions end, its e-mail address becomes available, its name is kept for
/// history.
pub async fn delete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    store::delete(tx, id, now).await?;
    tokens::end_all(tx, id, None, now).await
}

/// Who of the platform's people last changed the e-mail address of a partner's account.
pub async fn last_email_change_by(tx: &mut Tx, account_id: Uuid) -> Result<Option<Uuid>> {
    let by: Option<(Uuid,)> = tx
        .sql(
            "SELECT actor_id FROM audit_logs
             WHERE entity_type = 'partner'
               AND entity_id = (SELECT id FROM partners WHERE account_id = $1)
               AND action = 'partner.updated'
               AND before_change ->> 'email' <> after_change ->> 'email'
             ORDER BY created_at DESC, id DESC LIMIT 1",
        )
        .bind(account_id)
        .maybe()
        .await?;
    Ok(by.map(|(actor,)| actor))
}

/// Queues an invitation mail.
pub async fn invite(tx: &mut Tx, account_id: Uuid, lang: Lang, now: DateTime<Utc>) -> Result<()> {
    events::send(tx, &AccountLetter::Invited(AccountRef { account_id, lang }), now).await
}

pub async fn exists(db: &Db, id: Uuid) -> Result<bool> {
    Ok(store::user(db, id).await?.is_some())
}

pub async fn user(tx: &mut Tx, id: Uuid) -> Result<Option<User>> {
    store::user_in(tx, id).await
}

/// Deletes expired sessions, tokens, failures and known networks.
pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    tokens::sweep(db, now).await?;
    lockout::sweep(db, now).await
}
