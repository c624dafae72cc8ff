//! The SQL of personal data. Functions that change a booking or an account need its row locked.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    model::{
        AccountRecord, AuditData, DeviceData, DocumentData, FailedSignIns, FileData, NetworkData,
        NotificationData, OnboardingRecord, PartnerData, PendingKind, SessionData, StaffData,
    },
    rules::BookingState,
};
use crate::{
    accounts,
    bookings::{BookingStatus, StoredPassenger},
    kernel::{
        access::Role,
        db::{Db, Json, Tx},
        email::Email,
        error::Result,
        ids::Uuid,
        personal::{ERASED, erased_address},
        set_aside::RowJob,
    },
};

/// When a booking was over, as the index `bookings_retention` has it.
macro_rules! over_at {
    () => {
        "(CASE WHEN k.status = 'expired' THEN k.expires_at
           WHEN k.cancelled_at IS NOT NULL AND k.completed_at IS NULL THEN k.cancelled_at
           ELSE k.arrival_at END)"
    };
}

/// Money or a decision that is still due for the booking `k`.
macro_rules! owes {
    () => {
        "(EXISTS (SELECT 1 FROM payment_reviews v WHERE v.booking_id = k.id
            AND (v.resolution IS NULL OR (v.excess > 0 AND v.excess_paid_at IS NULL)))
          OR EXISTS (SELECT 1 FROM reschedules r WHERE r.booking_id = k.id
            AND (r.status = 'pending'
              OR (r.status = 'done' AND r.difference < 0 AND r.refunded_at IS NULL))))"
    };
}

/// Bookings that were over at a time and are not erased, the oldest first. Those that failed before
/// and those that owe something are left out, so they never hold up the others.
pub async fn expired(db: &Db, until: DateTime<Utc>, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(concat!(
            "SELECT k.id FROM bookings k WHERE k.erased_at IS NULL AND ",
            over_at!(),
            " <= $1 AND k.status IN ('completed', 'expired', 'cancelled', 'refunded')
               AND NOT ",
            owes!(),
            " AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $2 AND a.entity_id = k.id)
             ORDER BY ",
            over_at!(),
            " LIMIT CAST($3 AS BIGINT)"
        ))
        .without_cached_plan()
        .bind(until)
        .bind(RowJob::ErasePersonalData)
        .bind(limit)
        .long()
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// A booking that is to be erased.
#[derive(crate::kernel::db::FromRow)]
pub struct BookingToErase {
    pub code: String,
    pub contact_email: String,
    pub over_at: DateTime<Utc>,
    status: BookingStatus,
    arrival_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    was_paid: bool,
    owes: bool,
    promotion_id: Option<Uuid>,
    passengers: Json<Vec<StoredPassenger>>,
}

impl BookingToErase {
    pub fn state(&self) -> BookingState {
        BookingState {
            status: self.status,
            arrival_at: self.arrival_at,
            expires_at: self.expires_at,
            was_paid: self.was_paid,
            owes: self.owes,
        }
    }

    /// Live bookings are counted in `promotion_uses`.
    fn is_live(&self) -> bool {
        crate::bookings::is_live(self.status)
    }
}

/// `None`: there is no such booking, or it is erased.
pub async fn booking(tx: &mut Tx, id: Uuid) -> Result<Option<BookingToErase>> {
    let booking = tx
        .sql(concat!(
            "SELECT k.code, k.contact_email, k.status, k.arrival_at, k.expires_at,
               k.paid_at IS NOT NULL AS was_paid, k.promotion_id, k.passengers, ",
            over_at!(),
            " AS over_at, ",
            owes!(),
            " AS owes FROM bookings k WHERE k.id = $1 AND k.erased_at IS NULL"
        ))
        .bind(id)
        .maybe()
        .await?;
    Ok(booking)
}

/// Replaces contact, passengers and free texts of a booking, and what was stored about them with its
/// payments and reschedules.
pub async fn erase_booking(
    tx: &mut Tx,
    id: Uuid,
    booking: &BookingToErase,
    now: DateTime<Utc>,
) -> Result<()> {
    let nobody = |passenger: &StoredPassenger| StoredPassenger {
        id: passenger.id,
        name: ERASED.to_owned(),
        identity_type: None,
        identity_number: None,
        gender: None,
        birth_date: None,
        nationality: None,
    };
    let passengers: Vec<_> = booking.passengers.iter().map(nobody).collect();
    tx.sql(
        "UPDATE bookings SET contact_name = $1, contact_email = $2, contact_phone = '', note = '',
           passengers = $3, cancel_reason = CASE WHEN cancel_reason IS NULL THEN NULL ELSE $1 END,
           erased_at = $4
         WHERE id = $5",
    )
    .bind(ERASED)
    .bind(erased_address(id))
    .bind(Json(passengers))
    .bind(now)
    .bind(id)
    .run()
    .await?;
    tx.sql("UPDATE reschedules SET reason = $1 WHERE booking_id = $2 AND reason <> ''")
        .bind(ERASED)
        .bind(id)
        .run()
        .await?;
    // The payment page of a provider shows the customer.
    tx.sql("UPDATE payments SET redirect_url = NULL WHERE booking_id = $1").bind(id).run().await?;
    tx.sql(
        "UPDATE payment_events SET raw = $1
         WHERE payment_id IN (SELECT y.id FROM payments y WHERE y.booking_id = $2)",
    )
    .bind(json!({}))
    .bind(id)
    .run()
    .await?;
    tx.sql("UPDATE payment_reviews SET note = $1 WHERE booking_id = $2 AND note IS NOT NULL")
        .bind(ERASED)
        .bind(id)
        .run()
        .await?;
    erase_promotion_use(tx, id, booking).await?;
    erase_messages(tx, id).await
}

/// The use of a promotion is counted under the placeholder from now on.
async fn erase_promotion_use(tx: &mut Tx, id: Uuid, booking: &BookingToErase) -> Result<()> {
    let Some(promotion) = booking.promotion_id else { return Ok(()) };
    if booking.is_live() {
        tx.sql("UPDATE promotion_uses SET used = used - 1 WHERE promotion_id = $1 AND email = $2")
            .bind(promotion)
            .bind(booking.contact_email.clone())
            .run()
            .await?;
        tx.sql("INSERT INTO promotion_uses (promotion_id, email, used) VALUES ($1, $2, 1)")
            .bind(promotion)
            .bind(erased_address(id))
            .run()
            .await?;
    }
    // An unused counter is kept while another booking of the customer may count in it again.
    tx.sql(
        "DELETE FROM promotion_uses WHERE promotion_id = $1 AND email = $2 AND used = 0
           AND NOT EXISTS (SELECT 1 FROM bookings k
             WHERE k.contact_email = $2 AND k.promotion_id = $1)",
    )
    .bind(promotion)
    .bind(booking.contact_email.clone())
    .run()
    .await?;
    Ok(())
}

/// Deletes mails about a booking that are not sent yet, and messages that failed for good: their
/// payload or error may name the customer. Also errors of jobs.
async fn erase_messages(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM outbox WHERE lane = $1 AND dead_at IS NULL")
        .without_cached_plan()
        .bind(format!("mail/{}", id.simple()))
        .run()
        .await?;
    tx.sql(
        "DELETE FROM outbox WHERE dead_at IS NOT NULL
           AND (lane IN ($1, $2) OR payload ->> 'booking_id' = $3)",
    )
    .without_cached_plan()
    .bind(format!("mail/{}", id.simple()))
    .bind(id.simple().to_string())
    .bind(id.to_string())
    .run()
    .await?;
    tx.sql(
        "UPDATE set_aside SET last_error = '' WHERE entity_id = $1
           AND job IN ('expire_holds', 'complete_journeys', 'erase_personal_data',
             'finish_erasures')",
    )
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// A request of a person, as far as it is not done.
#[derive(crate::kernel::db::FromRow)]
pub struct Pending {
    pub kind: PendingKind,
    pub entity_id: Uuid,
    pub subject: String,
}

/// Requests that are due and have not failed before.
pub async fn due(db: &Db, now: DateTime<Utc>, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(
            "SELECT e.entity_id FROM pending_erasures e WHERE e.next_try_at <= $1 AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $2 AND a.entity_id = e.entity_id)
             ORDER BY e.next_try_at LIMIT CAST($3 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(RowJob::FinishErasures)
        .bind(limit)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Requests of one person that are due.
pub async fn due_of(
    db: &Db,
    subject: &str,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<Pending>> {
    let rows = db
        .sql(
            "SELECT kind, entity_id, subject FROM pending_erasures
             WHERE subject = $1 AND next_try_at <= $2 AND kind <> 'letters'
             ORDER BY next_try_at LIMIT CAST($3 AS BIGINT)",
        )
        .bind(subject.to_owned())
        .bind(now)
        .bind(limit)
        .all()
        .await?;
    Ok(rows)
}

pub async fn pending(db: &Db, id: Uuid) -> Result<Option<Pending>> {
    let pending = db
        .sql(
            "SELECT kind, entity_id, subject FROM pending_erasures
             WHERE kind IN ('account', 'booking', 'letters') AND entity_id = $1",
        )
        .bind(id)
        .maybe()
        .await?;
    Ok(pending)
}

/// Numbers of accounts and bookings of a person that are still to be erased.
pub async fn count_pending(db: &Db, subject: &str) -> Result<(u64, u64)> {
    let (accounts, bookings): (i64, i64) =
        db.sql(COUNT_PENDING).bind(subject.to_owned()).one().await?;
    Ok((accounts.unsigned_abs(), bookings.unsigned_abs()))
}

pub async fn count_pending_in(tx: &mut Tx, subject: &str) -> Result<(u64, u64)> {
    let (accounts, bookings): (i64, i64) =
        tx.sql(COUNT_PENDING).bind(subject.to_owned()).one().await?;
    Ok((accounts.unsigned_abs(), bookings.unsigned_abs()))
}

const COUNT_PENDING: &str = "SELECT COUNT(CASE WHEN kind = 'account' THEN 1 END),
      COUNT(CASE WHEN kind = 'booking' THEN 1 END)
    FROM pending_erasures WHERE subject = $1";

pub async fn insert_pending(tx: &mut Tx, pending: &Pending, due: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO pending_erasures (kind, entity_id, subject, requested_at, next_try_at)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (kind, entity_id) DO UPDATE SET next_try_at = excluded.next_try_at",
    )
    .bind(pending.kind)
    .bind(pending.entity_id)
    .bind(pending.subject.clone())
    .bind(due)
    .run()
    .await?;
    Ok(())
}

/// All bookings with this contact address.
pub async fn insert_pending_bookings(
    tx: &mut Tx,
    email: &Email,
    subject: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO pending_erasures (kind, entity_id, subject, requested_at, next_try_at)
         SELECT 'booking', k.id, $2, $3, $3 FROM bookings k WHERE k.contact_email = $1
         ON CONFLICT (kind, entity_id) DO UPDATE SET next_try_at = excluded.next_try_at",
    )
    .bind(email.clone())
    .bind(subject.to_owned())
    .bind(now)
    .run()
    .await?;
    Ok(())
}

pub async fn postpone(db: &Db, pending: &Pending, until: DateTime<Utc>) -> Result<()> {
    db.sql("UPDATE pending_erasures SET next_try_at = $1 WHERE kind = $2 AND entity_id = $3")
        .bind(until)
        .bind(pending.kind)
        .bind(pending.entity_id)
        .run()
        .await?;
    Ok(())
}

pub async fn delete_pending(db: &Db, kind: PendingKind, id: Uuid) -> Result<()> {
    db.sql(DELETE_PENDING).bind(kind).bind(id).run().await?;
    Ok(())
}

pub async fn delete_pending_in(tx: &mut Tx, kind: PendingKind, id: Uuid) -> Result<()> {
    tx.sql(DELETE_PENDING).bind(kind).bind(id).run().await?;
    Ok(())
}

const DELETE_PENDING: &str = "DELETE FROM pending_erasures WHERE kind = $1 AND entity_id = $2";

/// Deletes what is stored under an address itself: failed sign-ins, and mails that are not sent yet.
/// Reads all mails of the outbox that are not sent.
pub async fn erase_address(tx: &mut Tx, email: &Email) -> Result<()> {
    tx.sql("DELETE FROM login_failures WHERE email = $1").bind(email.clone()).run().await?;
    tx.sql("DELETE FROM outbox WHERE queue = 'mail' AND payload ->> 'email' = $1")
        .without_cached_plan()
        .bind(email.clone())
        .run()
        .await?;
    Ok(())
}

macro_rules! account {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, email, email_verified,
               (SELECT c.new_email FROM email_changes c
                WHERE c.account_id = accounts.id AND c.status = 'pending') AS pending_email,
               (SELECT c.partner_id FROM crew c WHERE c.account_id = accounts.id) AS crew_of,
               totp_confirmed_at IS NOT NULL AS second_factor,
               phone, role, status, last_login_at, created_at, deleted_at
             FROM accounts",
            $rest
        )
    };
}

const ACCOUNTS: &str = concat!(
    account!(" WHERE email = $1 AND deleted_at IS NULL UNION ALL "),
    account!(" WHERE email = $1 AND deleted_at IS NOT NULL")
);

/// Accounts with an address, deleted ones included.
pub async fn accounts(db: &Db, email: &Email) -> Result<Vec<AccountRecord>> {
    Ok(db.sql(ACCOUNTS).bind(email.clone()).all().await?)
}

pub async fn accounts_in(tx: &mut Tx, email: &Email) -> Result<Vec<AccountRecord>> {
    Ok(tx.sql(ACCOUNTS).bind(email.clone()).all().await?)
}

/// Locks the rows of all accounts with an address.
pub async fn lock_accounts(tx: &mut Tx, email: &Email) -> Result<()> {
    for account in accounts_in(tx, email).await? {
        lock_account(tx, account.id).await?;
    }
    Ok(())
}

/// Locks the row of an account and that of its partner, so that neither is activated meanwhile.
pub async fn lock_account(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE accounts SET updated_at = updated_at WHERE id = $1").bind(id).run().await?;
    tx.sql("UPDATE partners SET updated_at = updated_at WHERE account_id = $1")
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// What decides whether an account can be erased.
#[derive(crate::kernel::db::FromRow)]
pub struct AccountToErase {
    pub role: Role,
    pub is_active: bool,
    pub partner_id: Option<Uuid>,
    /// A partner that is active, has sold future sailings, or is owed money.
    pub has_duties: bool,
}

pub async fn account(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Option<AccountToErase>> {
    let account = tx
        .sql(
            "SELECT a.role, (a.status = 'active' AND a.deleted_at IS NULL) AS is_active,
               p.id AS partner_id,
               (p.id IS NOT NULL AND (p.status = 'active'
                 OR EXISTS (SELECT 1 FROM sailings s WHERE s.partner_id = p.id
                   AND s.status = 'open' AND s.departure_at > $2 AND s.arrival_at > $3
                   AND s.seats_taken > 0)
                 OR EXISTS (SELECT 1 FROM partner_dues d
                   WHERE d.partner_id = p.id AND d.settlement_id IS NULL AND d.net <> 0)
                 OR EXISTS (SELECT 1 FROM settlements t
                   WHERE t.partner_id = p.id AND t.status = 'pending'))) AS has_duties
             FROM accounts a LEFT JOIN partners p ON p.account_id = a.id WHERE a.id = $1",
        )
        .bind(id)
        // The index is by departure, and no journey takes longer than two days.
        .bind(now - chrono::TimeDelta::days(2))
        .bind(now)
        .maybe()
        .await?;
    Ok(account)
}

/// Deletes some notifications of an account; `false` when none are left.
pub async fn delete_notifications(db: &Db, account: Uuid, limit: i64) -> Result<bool> {
    let deleted = db
        .sql(
            "DELETE FROM notifications WHERE id IN (SELECT n.id FROM notifications n
               WHERE n.account_id = $1 ORDER BY n.id LIMIT CAST($2 AS BIGINT))",
        )
        .bind(account)
        .bind(limit)
        .run()
        .await?;
    Ok(deleted.cast_signed() == limit)
}

/// Replaces the person in some audit entries; `false` when none are left.
pub async fn erase_audit_entries(db: &Db, account: Uuid, limit: i64) -> Result<bool> {
    let acted = db
        .sql(
            "UPDATE audit_logs SET actor_name = $1, actor_email = '', address = '',
               user_agent = NULL
             WHERE id IN (SELECT l.id FROM audit_logs l WHERE l.actor_id = $2
               AND l.actor_email <> '' LIMIT CAST($3 AS BIGINT))",
        )
        .bind(ERASED)
        .bind(account)
        .bind(limit)
        .run()
        .await?;
    let impersonated = db
        .sql(
            "UPDATE audit_logs SET on_behalf_of_name = $1, on_behalf_of_email = ''
             WHERE id IN (SELECT l.id FROM audit_logs l WHERE l.on_behalf_of_id = $2
               AND l.on_behalf_of_email <> '' LIMIT CAST($3 AS BIGINT))",
        )
        .bind(ERASED)
        .bind(account)
        .bind(limit)
        .run()
        .await?;
    Ok(acted.max(impersonated).cast_signed() == limit)
}

/// Replaces the person in the account's row and deletes what belongs to the account alone. History
/// refers to the row, so it stays.
pub async fn erase_account(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    const OWNED: [&str; 10] = [
        "DELETE FROM sessions WHERE account_id = $1",
        "DELETE FROM sessions WHERE impersonator_id = $1",
        "DELETE FROM remember_tokens WHERE account_id = $1",
        "DELETE FROM mailed_tokens WHERE account_id = $1",
        "DELETE FROM email_changes WHERE account_id = $1",
        "DELETE FROM recovery_codes WHERE account_id = $1",
        "DELETE FROM crew WHERE account_id = $1",
        "DELETE FROM known_networks WHERE account_id = $1",
        "DELETE FROM notifications WHERE account_id = $1",
        "DELETE FROM staff WHERE account_id = $1",
    ];
    for statement in OWNED {
        tx.sql(statement).bind(id).run().await?;
    }
    tx.sql("DELETE FROM outbox WHERE queue = 'mail' AND payload ->> 'account_id' = $1")
        .without_cached_plan()
        .bind(id.to_string())
        .run()
        .await?;
    tx.sql(
        "UPDATE audit_logs SET actor_name = $1, actor_email = '', address = '', user_agent = NULL
         WHERE actor_id = $2 AND actor_email <> ''",
    )
    .bind(ERASED)
    .bind(id)
    .run()
    .await?;
    tx.sql(
        "UPDATE audit_logs SET on_behalf_of_name = $1, on_behalf_of_email = ''
         WHERE on_behalf_of_id = $2 AND on_behalf_of_email <> ''",
    )
    .bind(ERASED)
    .bind(id)
    .run()
    .await?;
    tx.sql(
        "UPDATE accounts SET name = $1, email = $2, phone = NULL, password_hash = NULL,
           avatar_file_id = NULL, last_login_at = NULL, totp_secret = NULL,
           totp_created_at = NULL, totp_confirmed_at = NULL, totp_last_step = NULL,
           status = 'inactive',
           deleted_at = COALESCE(deleted_at, $3), updated_at = $3
         WHERE id = $4",
    )
    .bind(ERASED)
    .bind(erased_address(id))
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Replaces the person behind a partner; returns the files of its documents. Boats, sailings and
/// settlements stay.
pub async fn erase_partner(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    delete_crew(tx, id, now).await?;
    let documents: Vec<(Uuid,)> = tx
        .sql("DELETE FROM partner_documents WHERE partner_id = $1 RETURNING file_id")
        .bind(id)
        .all()
        .await?;
    tx.sql("DELETE FROM onboardings WHERE partner_id = $1").bind(id).run().await?;
    // A partner that was never activated leaves the queue of the reviewers.
    tx.sql(
        "UPDATE partners SET address = '',
           status = CASE WHEN status IN ('in_review', 'revision') THEN 'draft' ELSE status END,
           suspended_reason = CASE WHEN suspended_reason IS NULL THEN NULL ELSE $1 END
         WHERE id = $2",
    )
    .bind(ERASED)
    .bind(id)
    .run()
    .await?;
    tx.sql(
        "DELETE FROM notifications
         WHERE data ->> 'mitra_id' = $1 AND (data ->> 'name') IS NOT NULL",
    )
    .bind(id.to_string())
    .run()
    .await?;
    tx.sql(
        "DELETE FROM webhook_deliveries
         WHERE payload -> 'data' ->> 'mitra_id' = $1 AND (payload -> 'data' ->> 'name') IS NOT NULL",
    )
    .bind(id.to_string())
    .run()
    .await?;
    erase_payout_names(tx, id).await?;
    tx.sql("DELETE FROM outbox WHERE queue = 'mail' AND lane = $1")
        .without_cached_plan()
        .bind(format!("mail/{}", id.simple()))
        .run()
        .await?;
    Ok(documents.into_iter().map(|(file,)| file).collect())
}

/// Deletes the accounts of a partner's crew, which has nothing left to board.
async fn delete_crew(tx: &mut Tx, partner: Uuid, now: DateTime<Utc>) -> Result<()> {
    let crew: Vec<(Uuid,)> =
        tx.sql("SELECT account_id FROM crew WHERE partner_id = $1").bind(partner).all().await?;
    for (account,) in crew {
        tx.sql("DELETE FROM crew WHERE account_id = $1").bind(account).run().await?;
        accounts::delete(tx, account, now).await?;
    }
    Ok(())
}

/// Settlements keep the bank and the masked number that they were paid to.
async fn erase_payout_names(tx: &mut Tx, partner: Uuid) -> Result<()> {
    let rows: Vec<(Uuid, Value)> = tx
        .sql(
            "SELECT id, bank_account FROM settlements
             WHERE partner_id = $1 AND bank_account IS NOT NULL",
        )
        .bind(partner)
        .all()
        .await?;
    for (id, mut account) in rows {
        if account["account_name"].is_string() {
            account["account_name"] = json!(ERASED);
            tx.sql("UPDATE settlements SET bank_account = $1 WHERE id = $2")
                .bind(account)
                .bind(id)
                .run()
                .await?;
        }
    }
    Ok(())
}

// What an export shows. Each list has one item more than the limit if there are more.

pub async fn sessions(db: &Db, account: Uuid, limit: i64) -> Result<Vec<SessionData>> {
    let rows = db
        .sql(
            "SELECT id, address, user_agent, created_at, expires_at FROM sessions
             WHERE account_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn devices(db: &Db, account: Uuid, limit: i64) -> Result<Vec<DeviceData>> {
    let rows = db
        .sql(
            "SELECT created_at, expires_at FROM remember_tokens
             WHERE account_id = $1 AND rotated_at IS NULL
             ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn networks(db: &Db, account: Uuid, limit: i64) -> Result<Vec<NetworkData>> {
    let rows = db
        .sql(
            "SELECT network, last_used_at FROM known_networks
             WHERE account_id = $1 ORDER BY last_used_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn failed_sign_ins(db: &Db, email: &Email, limit: i64) -> Result<Vec<FailedSignIns>> {
    let rows = db
        .sql(
            "SELECT network, failures, since FROM login_failures
             WHERE email = $1 ORDER BY since DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(email.clone())
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn staff(db: &Db, account: Uuid) -> Result<Option<StaffData>> {
    let row = db
        .sql(
            "SELECT id, join_date, working_type, salary, address, bank_code, account_number,
               account_name
             FROM staff WHERE account_id = $1",
        )
        .bind(account)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn partner(db: &Db, account: Uuid) -> Result<Option<PartnerData>> {
    let row = db
        .sql(
            "SELECT id, address, partner_type, status, suspended_reason, created_at
             FROM partners WHERE account_id = $1",
        )
        .bind(account)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn onboarding(db: &Db, partner: Uuid) -> Result<Option<OnboardingRecord>> {
    let row = db
        .sql(
            "SELECT legal_name, nib, npwp, address, city, province, postal_code, description,
               pic_name, pic_position, pic_phone, pic_email, pic_nik, bank_code, account_number,
               account_name
             FROM onboardings WHERE partner_id = $1",
        )
        .bind(partner)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn documents(db: &Db, partner: Uuid, limit: i64) -> Result<Vec<DocumentData>> {
    let rows = db
        .sql(
            "SELECT id, type, file_id, status, note, created_at FROM partner_documents
             WHERE partner_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(partner)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn paid_to(db: &Db, partner: Uuid, limit: i64) -> Result<Vec<Value>> {
    let rows: Vec<(Value,)> = db
        .sql(
            "SELECT bank_account FROM settlements
             WHERE partner_id = $1 AND bank_account IS NOT NULL
             ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(partner)
        .bind(limit)
        .all()
        .await?;
    let mut accounts: Vec<Value> = Vec::new();
    for (account,) in rows {
        if !accounts.contains(&account) {
            accounts.push(account);
        }
    }
    Ok(accounts)
}

pub async fn notifications(db: &Db, account: Uuid, limit: i64) -> Result<Vec<NotificationData>> {
    let rows = db
        .sql(
            "SELECT id, type, data, created_at FROM notifications
             WHERE account_id = $1 ORDER BY id DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn files(db: &Db, account: Uuid, limit: i64) -> Result<Vec<FileData>> {
    let rows = db
        .sql(
            "SELECT id, filename, content_type, size, purpose, created_at FROM files
             WHERE owner_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn audit_entries(db: &Db, account: Uuid, limit: i64) -> Result<Vec<AuditData>> {
    let rows = db
        .sql(
            "SELECT action, entity_type, entity_id, address, user_agent, created_at
             FROM audit_logs WHERE actor_id = $1
             ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

/// Ids of the bookings with a contact address, the newest first.
pub async fn bookings(db: &Db, email: &Email, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(
            "SELECT k.id FROM bookings k WHERE k.contact_email = $1
             ORDER BY k.created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(email.clone())
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}
