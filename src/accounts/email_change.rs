//! Changes of e-mail addresses.
//!
//! - A requested change acts when the link in the letter to the new address is used. Until then the
//!   account keeps its address, and reset letters go there. A newer request replaces a pending one.
//! - The link in the notice to the old address undoes the change, pending or confirmed, and every
//!   change that was requested after it. Whoever took an account over and changed the address several
//!   times loses it by the first link.
//! - The old address is reserved for the account until that link expires, by a trigger.
//! - Setting a password cancels a pending change: whoever requested it may know the old password.
//!
//! All functions that change something require that the account's row is locked.

use chrono::{DateTime, TimeDelta, Utc};

use super::{model::Credentials, second_factor, store, tokens};
use crate::{
    events::{self, AccountLetter, EmailChangeRef, EmailChanged},
    kernel::{
        db::{Db, Tx},
        email::Email,
        error::{Error, Result},
        ids::{self, Uuid},
        lang::Lang,
    },
};

/// How long a change can be confirmed, and undone, after its request.
pub const CONFIRMATION: TimeDelta = TimeDelta::hours(72);
pub const CANCELLATION: TimeDelta = TimeDelta::days(7);

/// Requests per account and hour. Each sends a letter to an address that the caller chooses.
const REQUESTS_PER_HOUR: i64 = 5;

crate::string_enum! {
    pub enum ChangeStatus {
        Pending = "pending",
        Confirmed = "confirmed",
        /// Can no longer be undone.
        Final = "final",
        /// Cancelled, undone, replaced or expired.
        Cancelled = "cancelled",
    }
}

/// Who requests a change, and the language of the letters.
#[derive(Clone, Copy)]
pub struct Request {
    pub requested_by: Uuid,
    /// The holder's session, which does not end when the change is confirmed.
    pub session_id: Option<Uuid>,
    pub lang: Lang,
}

/// Requests a change; 409 if the address is in use.
pub async fn request(
    tx: &mut Tx,
    account: &Credentials,
    email: &Email,
    Request { requested_by, session_id, lang }: Request,
    now: DateTime<Utc>,
) -> Result<()> {
    ensure_available(tx, account.id, email).await?;
    ensure_below_limit(tx, account.id, now).await?;
    cancel_pending(tx, account.id, now).await?;
    let new = NewChange {
        account_id: account.id,
        status: ChangeStatus::Pending,
        old_email: Some(&account.email),
        new_email: Some(email),
        requested_by,
        session_id,
    };
    let change_id = insert(tx, new, now).await?;
    let change = EmailChangeRef { change_id, lang };
    events::send(tx, &AccountLetter::EmailConfirmation(change.clone()), now).await?;
    events::send(tx, &AccountLetter::EmailChangeRequested(change), now).await
}

/// Changes the address of an account without a password at once: nobody has proven to read the old
/// mailbox. Links that were mailed there become void.
pub async fn replace_unproven(
    tx: &mut Tx,
    account: &Credentials,
    email: &Email,
    requested_by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    store::set_email(tx, account.id, email.as_str(), false, now).await?;
    tokens::invalidate_mailed_links(tx, account.id, now).await?;
    let new = NewChange {
        account_id: account.id,
        status: ChangeStatus::Final,
        old_email: None,
        new_email: None,
        requested_by,
        session_id: None,
    };
    insert(tx, new, now).await.map(drop)
}

/// Makes the pending change act, ends all sessions but the one that requested it, and notifies the old
/// address. 401 if the change is no longer pending, 409 if the address is in use by now.
pub async fn confirm(
    tx: &mut Tx,
    account_id: Uuid,
    change_id: Uuid,
    lang: Lang,
    now: DateTime<Utc>,
) -> Result<()> {
    let change = get(tx, change_id).await?.ok_or(Error::InvalidToken)?;
    let account = store::credentials_in(tx, account_id).await?.ok_or(Error::InvalidToken)?;
    let email = change.new_email.ok_or(Error::InvalidToken)?;
    store::set_email(tx, account_id, &email, true, now).await?;
    let confirmed = tx
        .sql(
            "UPDATE email_changes SET status = 'confirmed', new_email = NULL
             WHERE id = $1 AND account_id = $2 AND status = 'pending'",
        )
        .bind(change_id)
        .bind(account_id)
        .run()
        .await?;
    if confirmed != 1 {
        return Err(Error::InvalidToken);
    }
    tokens::invalidate_mailed_links(tx, account_id, now).await?;
    tokens::end_all(tx, account_id, change.session_id, now).await?;
    let email = account.email.parse().map_err(Error::internal)?;
    let changed = EmailChanged { name: account.name, email, lang };
    events::send(tx, &AccountLetter::EmailChanged(changed), now).await
}

/// Undoes a change and every later one: the account gets back the address that it had before them.
/// All sessions, devices and links of the account end, and a second factor that was set up since the
/// request is removed: it would lock the holder out. 401 if there is nothing to undo.
pub async fn undo(
    tx: &mut Tx,
    account_id: Uuid,
    change_id: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let change = get(tx, change_id).await?.ok_or(Error::InvalidToken)?;
    let open = open_from(tx, account_id, change.number).await?;
    if open.is_empty() {
        return Err(Error::InvalidToken);
    }
    tx.sql(
        "UPDATE email_changes SET status = 'cancelled', old_email = NULL, new_email = NULL
         WHERE account_id = $1 AND number >= $2 AND old_email IS NOT NULL",
    )
    .bind(account_id)
    .bind(change.number)
    .run()
    .await?;
    let first = open.into_iter().find(|change| change.status == ChangeStatus::Confirmed);
    if let Some(email) = first.and_then(|change| change.old_email) {
        // The link was mailed to this address.
        store::set_email(tx, account_id, &email, true, now).await?;
        tokens::invalidate_mailed_links(tx, account_id, now).await?;
    }
    second_factor::remove_newer(tx, account_id, change.requested_at).await?;
    tokens::invalidate_confirmations(tx, account_id, now).await?;
    tokens::invalidate_cancellations(tx, account_id, change.number, now).await?;
    tokens::end_all(tx, account_id, None, now).await
}

/// Cancels the pending change, if there is one.
pub async fn cancel_pending(tx: &mut Tx, account_id: Uuid, now: DateTime<Utc>) -> Result<()> {
    let cancelled = tx
        .sql(
            "UPDATE email_changes SET status = 'cancelled', old_email = NULL, new_email = NULL
             WHERE account_id = $1 AND status = 'pending'",
        )
        .bind(account_id)
        .run()
        .await?;
    match cancelled {
        0 => Ok(()),
        _ => tokens::invalidate_confirmations(tx, account_id, now).await,
    }
}

/// Ends all changes of a deleted account. Its old addresses become available.
pub async fn close_all(tx: &mut Tx, account_id: Uuid) -> Result<()> {
    tx.sql(
        "UPDATE email_changes SET old_email = NULL, new_email = NULL,
           status = CASE WHEN status = 'confirmed' THEN 'final' ELSE 'cancelled' END
         WHERE account_id = $1 AND old_email IS NOT NULL",
    )
    .bind(account_id)
    .run()
    .await?;
    Ok(())
}

/// Who requested the latest change that the holder of the account did not request itself. Cancelled
/// changes count: somebody who has read the mailbox in between must not become a stranger again, and
/// neither by a change that is requested with the account that was taken over.
pub async fn last_requested_by(tx: &mut Tx, account_id: Uuid) -> Result<Option<Uuid>> {
    let row = tx
        .sql(
            "SELECT requested_by FROM email_changes
             WHERE account_id = $1 AND requested_by <> account_id
             ORDER BY number DESC LIMIT 1",
        )
        .bind(account_id)
        .maybe::<(Uuid,)>()
        .await?;
    Ok(row.map(|(id,)| id))
}

#[derive(crate::kernel::db::FromRow)]
pub struct Change {
    pub account_id: Uuid,
    number: i32,
    status: ChangeStatus,
    /// Set while the change can be undone.
    pub old_email: Option<String>,
    /// Set while it can be confirmed.
    pub new_email: Option<String>,
    pub requested_by: Uuid,
    session_id: Option<Uuid>,
    requested_at: DateTime<Utc>,
}

impl Change {
    /// Whether the account's holder requested it.
    pub fn is_own(&self) -> bool {
        self.requested_by == self.account_id
    }
}

pub async fn get(tx: &mut Tx, id: Uuid) -> Result<Option<Change>> {
    let change = tx
        .sql(
            "SELECT account_id, number, status, old_email, new_email, requested_by, session_id,
               requested_at
             FROM email_changes WHERE id = $1",
        )
        .bind(id)
        .maybe()
        .await?;
    Ok(change)
}

pub async fn account_of(db: &Db, id: Uuid) -> Result<Option<Uuid>> {
    let row = db
        .sql("SELECT account_id FROM email_changes WHERE id = $1")
        .bind(id)
        .maybe::<(Uuid,)>()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// Changes from this number on that are pending or can be undone, the first first.
async fn open_from(tx: &mut Tx, account_id: Uuid, number: i32) -> Result<Vec<Change>> {
    let changes = tx
        .sql(
            "SELECT account_id, number, status, old_email, new_email, requested_by, session_id,
               requested_at
             FROM email_changes
             WHERE account_id = $1 AND number >= $2 AND old_email IS NOT NULL ORDER BY number",
        )
        .bind(account_id)
        .bind(number)
        .all()
        .await?;
    Ok(changes)
}

struct NewChange<'a> {
    account_id: Uuid,
    status: ChangeStatus,
    old_email: Option<&'a str>,
    new_email: Option<&'a Email>,
    requested_by: Uuid,
    session_id: Option<Uuid>,
}

async fn insert(tx: &mut Tx, new: NewChange<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO email_changes (id, account_id, number, status, old_email, new_email,
           requested_by, session_id, requested_at)
         SELECT $1, $2, COALESCE(MAX(number), 0) + 1, $3, $4, $5, $6, $7, $8
         FROM email_changes WHERE account_id = $2",
    )
    .bind(id)
    .bind(new.account_id)
    .bind(new.status)
    .bind(new.old_email.map(str::to_owned))
    .bind(new.new_email.cloned())
    .bind(new.requested_by)
    .bind(new.session_id)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

/// 409 if another account has the address, or can return to it. Confirming checks it again.
async fn ensure_available(tx: &mut Tx, account_id: Uuid, email: &Email) -> Result<()> {
    let taken = tx
        .sql(
            "SELECT id FROM accounts WHERE email = $1 AND deleted_at IS NULL AND id <> $2
             UNION ALL
             SELECT account_id FROM email_changes WHERE old_email = $1 AND account_id <> $2",
        )
        .bind(email.clone())
        .bind(account_id)
        .maybe::<(Uuid,)>()
        .await?;
    if taken.is_some() { Err(Error::email_taken()) } else { Ok(()) }
}

async fn ensure_below_limit(tx: &mut Tx, account_id: Uuid, now: DateTime<Utc>) -> Result<()> {
    let hour = TimeDelta::hours(1);
    let requested: Vec<(DateTime<Utc>,)> = tx
        .sql(
            "SELECT requested_at FROM email_changes
             WHERE account_id = $1 AND requested_at > $2 ORDER BY number DESC
             LIMIT CAST($3 AS BIGINT)",
        )
        .bind(account_id)
        .bind(now - hour)
        .bind(REQUESTS_PER_HOUR)
        .all()
        .await?;
    match requested.last() {
        Some((oldest,)) if requested.len() as i64 == REQUESTS_PER_HOUR => {
            let wait = (*oldest + hour - now).num_seconds().max(1).unsigned_abs();
            Err(Error::TooManyRequests { retry_after: wait })
        }
        _ => Ok(()),
    }
}

/// Cancels changes that were not confirmed in time, and makes those final that can no longer be
/// undone.
pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    db.sql(
        "UPDATE email_changes SET status = 'cancelled', old_email = NULL, new_email = NULL
         WHERE old_email IS NOT NULL AND requested_at <= $1 AND status = 'pending'",
    )
    .bind(now - CONFIRMATION)
    .run()
    .await?;
    db.sql(
        "UPDATE email_changes SET status = 'final', old_email = NULL
         WHERE old_email IS NOT NULL AND requested_at <= $1 AND status = 'confirmed'",
    )
    .bind(now - CANCELLATION)
    .run()
    .await?;
    Ok(())
}
