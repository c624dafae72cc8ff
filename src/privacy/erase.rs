//! Erasing bookings and accounts.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    model::{ErasedKind, PendingKind},
    rules::{self, ErasureState},
    store::{self, Pending},
};
use crate::{
    app::App,
    boarding, bookings, files,
    kernel::{
        access::Role,
        address_hash::AddressHash,
        db::Tx,
        email::Email,
        error::{Error, Result},
        idempotency,
        ids::Uuid,
    },
};

/// How many rows of an account are changed by one statement, and by one attempt: an account can have
/// a hundred thousand notifications.
const BATCH: i64 = 1_000;
const BATCHES: usize = 20;
/// How many bookings and accounts are erased while the caller waits.
const AT_ONCE: i64 = 200;
/// A mail that is being sent while its addressee is erased is written by then.
const LAST_LETTER: TimeDelta = TimeDelta::minutes(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Erased,
    /// There was nothing to erase.
    Nothing,
    Waits(DateTime<Utc>),
}

/// Stores what is to be erased of a person, and removes the address where it is not an account's or a
/// booking's; returns the number of resellers that had it for operations. 409 for an active admin or
/// staff member.
pub async fn request(
    tx: &mut Tx,
    email: &Email,
    subject: AddressHash,
    now: DateTime<Utc>,
) -> Result<u64> {
    store::lock_accounts(tx, email).await?;
    let subject_text = subject.text();
    for account in store::accounts_in(tx, email).await? {
        let is_staff = matches!(account.role, Role::Admin | Role::Staff);
        if is_staff && account.status == "active" && account.deleted_at.is_none() {
            return Err(Error::conflict(
                "in_use",
                "This is the account of an active admin or staff member. Deactivate it first.",
                "Ini akun admin atau staf yang masih aktif. Nonaktifkan terlebih dahulu.",
            ));
        }
        let (kind, entity_id) = (PendingKind::Account, account.id);
        let pending = Pending { kind, entity_id, subject: subject_text.clone() };
        store::insert_pending(tx, &pending, now).await?;
    }
    store::insert_pending_bookings(tx, email, &subject_text, now).await?;
    let resellers = store::erase_ops_address(tx, email, now).await?;
    store::erase_address(tx, email).await?;
    idempotency::forget_guest(tx, email).await?;
    delete_last_letter(tx, subject, now).await?;
    Ok(resellers)
}

/// Lets the job delete the stored mails to an address once more, after a mail that is being sent now.
async fn delete_last_letter(tx: &mut Tx, to: AddressHash, now: DateTime<Utc>) -> Result<()> {
    let letters = Pending { kind: PendingKind::Letters, entity_id: to.id(), subject: to.text() };
    store::insert_pending(tx, &letters, now + LAST_LETTER).await
}

/// Erases what is over of a request that has just been stored; returns accounts and bookings. Whatever
/// fails is left to the job.
pub async fn erase_now(app: &App, subject: &str) -> Result<(ErasedKind, ErasedKind)> {
    let (mut accounts, mut bookings) = (ErasedKind::default(), ErasedKind::default());
    for pending in store::due_of(&app.db, subject, app.clock.now(), AT_ONCE).await? {
        match attempt(app, &pending).await {
            Ok(true) if pending.kind == PendingKind::Account => accounts.erased += 1,
            Ok(true) => bookings.erased += 1,
            Ok(false) => {}
            Err(error) => {
                let id = pending.entity_id;
                tracing::warn!(%id, %error, "an erasure failed and will be retried");
            }
        }
    }
    (accounts.waiting, bookings.waiting) = store::count_pending(&app.db, subject).await?;
    app.db.has_erased();
    Ok((accounts, bookings))
}

/// Erases one item of a request if it is over; says whether something was erased.
pub async fn finish(app: &App, id: Uuid) -> Result<bool> {
    let Some(pending) = store::pending(&app.db, id).await? else { return Ok(false) };
    let erased = attempt(app, &pending).await?;
    if erased || pending.kind == PendingKind::Letters {
        app.mailer.forget_hash(&pending.subject).await?;
    }
    if pending.kind == PendingKind::Letters {
        store::delete_pending(&app.db, pending.kind, id).await?;
    }
    Ok(erased)
}

async fn attempt(app: &App, pending: &Pending) -> Result<bool> {
    let outcome = match pending.kind {
        PendingKind::Account => account(app, pending.entity_id).await?,
        PendingKind::Booking => booking(app, pending.entity_id, None).await?,
        PendingKind::Letters => return Ok(false),
    };
    match outcome {
        Outcome::Erased => Ok(true),
        Outcome::Nothing => {
            store::delete_pending(&app.db, pending.kind, pending.entity_id).await?;
            Ok(false)
        }
        Outcome::Waits(until) => {
            store::postpone(&app.db, pending, until).await?;
            Ok(false)
        }
    }
}

/// Erases a booking that was over at a time; says whether it did.
pub async fn expired_booking(app: &App, id: Uuid, until: DateTime<Utc>) -> Result<bool> {
    Ok(booking(app, id, Some(until)).await? == Outcome::Erased)
}

/// Erases a booking that is over and, if a time is given, was over then.
async fn booking(app: &App, id: Uuid, until: Option<DateTime<Utc>>) -> Result<Outcome> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    // Whoever changes the booking at the same time was first, or waits and finds it erased.
    bookings::lock_row(&mut tx, id).await?;
    let Some(booking) = store::booking(&mut tx, id).await? else { return Ok(Outcome::Nothing) };
    if let ErasureState::CheckAgainAt(time) = rules::erasure_state(booking.state(), now) {
        return Ok(Outcome::Waits(time));
    }
    if until.is_some_and(|until| booking.over_at > until) {
        return Ok(Outcome::Nothing);
    }
    store::erase_booking(&mut tx, id, &booking, now).await?;
    boarding::erase_from_manifests(&mut tx, &app.sealer, id, &booking.code).await?;
    store::delete_pending_in(&mut tx, PendingKind::Booking, id).await?;
    tx.commit().await?;
    app.db.has_erased();
    Ok(Outcome::Erased)
}

/// Erases an account that has no duties. Its many rows are changed before, in batches: until the last
/// step the account exists, and every step can be repeated.
async fn account(app: &App, id: Uuid) -> Result<Outcome> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let found = store::account(&mut tx, id, now).await?;
    drop(tx);
    match found {
        None => return Ok(Outcome::Nothing),
        Some(account) if !is_erasable(&account) => {
            return Ok(Outcome::Waits(rules::next_account_check(now)));
        }
        Some(_) => {}
    }
    if !erase_rows_of_account(app, id).await? {
        return Ok(Outcome::Waits(now));
    }
    let mut tx = app.db.begin().await?;
    store::lock_account(&mut tx, id).await?;
    let Some(account) = store::account(&mut tx, id, now).await? else {
        return Ok(Outcome::Nothing);
    };
    if !is_erasable(&account) {
        return Ok(Outcome::Waits(rules::next_account_check(now)));
    }
    let documents = match account.partner_id {
        Some(partner) => store::erase_partner(&mut tx, partner, now).await?,
        None => Vec::new(),
    };
    let ops_email = match account.reseller_id {
        Some(reseller) => store::erase_reseller(&mut tx, reseller, now).await?,
        None => None,
    };
    if let Some(email) = &ops_email {
        // The address is not stored after this, so the job gets its hashes under older keys, too.
        for hash in app.address_hasher.hashes(email) {
            delete_last_letter(&mut tx, hash, now).await?;
        }
    }
    store::erase_account(&mut tx, id, now).await?;
    let given_up = files::erase(&mut tx, id, &documents, now).await?;
    store::delete_pending_in(&mut tx, PendingKind::Account, id).await?;
    tx.commit().await?;
    app.db.has_erased();
    if let Err(error) = files::delete_given_up(app, &given_up).await {
        tracing::warn!(%id, %error, "files of an erased account are deleted by the next sweep");
    }
    if let Some(email) = &ops_email
        && let Err(error) = app.mailer.forget(email).await
    {
        tracing::warn!(%id, %error, "mails to an erased reseller are deleted by the job");
    }
    Ok(Outcome::Erased)
}

/// An active admin or staff member is deactivated first; a partner or reseller ends its business first.
fn is_erasable(account: &store::AccountToErase) -> bool {
    let is_at_work = account.is_active && matches!(account.role, Role::Admin | Role::Staff);
    !is_at_work && !account.has_duties
}

/// `false`: there are more than one attempt changes.
async fn erase_rows_of_account(app: &App, id: Uuid) -> Result<bool> {
    for _ in 0..BATCHES {
        let notified = store::delete_notifications(&app.db, id, BATCH).await?;
        let audited = store::erase_audit_entries(&app.db, id, BATCH).await?;
        if !notified && !audited {
            return Ok(true);
        }
    }
    Ok(false)
}
