//! Erasing bookings, accounts and what is stored about them elsewhere. Functions that change a booking
//! or an account need its row locked.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::accounts_in;
use crate::{
    accounts,
    bookings::{BookingStatus, CancelledPassenger, ResoldPassenger, StoredPassenger},
    kernel::{
        access::Role,
        db::{Db, Json, Tx},
        email::Email,
        error::Result,
        ids::Uuid,
        personal::{ERASED, erased_address},
    },
    privacy::rules::BookingState,
};

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
    cancelled_passengers: Json<Vec<CancelledPassenger>>,
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
               k.paid_at IS NOT NULL AS was_paid, k.promotion_id, k.passengers,
               k.cancelled_passengers, ",
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
        fare: passenger.fare.clone(),
        unit_price: passenger.unit_price,
        takes_seat: passenger.takes_seat,
        place: passenger.place,
        resold: passenger.resold.as_ref().map(|resold| ResoldPassenger {
            uuid: resold.uuid,
            reference: None,
            contact: None,
            name_given: resold.name_given,
        }),
    };
    let passengers: Vec<_> = booking.passengers.iter().map(nobody).collect();
    let cancelled = booking.cancelled_passengers.iter();
    let cancelled: Vec<_> = cancelled
        .map(|passenger| CancelledPassenger { name: ERASED.to_owned(), ..passenger.clone() })
        .collect();
    tx.sql(
        "UPDATE bookings SET contact_name = $1, contact_email = $2, contact_phone = '', note = '',
           passengers = $3,
           cancel_reason = CASE WHEN cancel_reason IS NULL THEN NULL ELSE $1 END, refund_account = NULL,
           octo_contact = NULL, reseller_reference = NULL, erased_at = $4, cancelled_passengers = $6
         WHERE id = $5",
    )
    .bind(ERASED)
    .bind(erased_address(id))
    .bind(Json(passengers))
    .bind(now)
    .bind(id)
    .bind(Json(cancelled))
    .run()
    .await?;
    tx.sql("UPDATE reschedules SET reason = $1 WHERE booking_id = $2 AND reason <> ''")
        .bind(ERASED)
        .bind(id)
        .run()
        .await?;
    tx.sql("UPDATE passenger_cancellations SET reason = $1 WHERE booking_id = $2 AND reason <> ''")
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
    // What clerks wrote about its refunds.
    tx.sql(
        "UPDATE refunds SET note = CASE WHEN note IS NOT NULL THEN $1 END,
           last_error = CASE WHEN last_error IS NOT NULL THEN $1 END
         WHERE booking_id = $2",
    )
    .bind(ERASED)
    .bind(id)
    .run()
    .await?;
    tx.sql(
        "UPDATE refund_payments SET return_reason = $1
         WHERE return_reason IS NOT NULL
           AND refund_id IN (SELECT r.id FROM refunds r WHERE r.booking_id = $2)",
    )
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

/// Removes an address from the resellers that have it for operations; returns their number. Their mails
/// go to the addresses of their accounts from now on.
pub async fn erase_ops_address(tx: &mut Tx, email: &Email, now: DateTime<Utc>) -> Result<u64> {
    let removed = tx
        .sql("UPDATE resellers SET ops_email = NULL, updated_at = $1 WHERE ops_email = $2")
        .bind(now)
        .bind(email.clone())
        .run()
        .await?;
    Ok(removed)
}

/// Locks the rows of all accounts with an address.
pub async fn lock_accounts(tx: &mut Tx, email: &Email) -> Result<()> {
    for account in accounts_in(tx, email).await? {
        lock_account(tx, account.id).await?;
    }
    Ok(())
}

/// Locks the row of an account and that of its partner or reseller, so that neither is activated
/// meanwhile. Changes of a partner or reseller lock it before its account.
pub async fn lock_account(tx: &mut Tx, id: Uuid) -> Result<()> {
    for lock in [
        "UPDATE partners SET updated_at = updated_at WHERE account_id = $1",
        "UPDATE resellers SET updated_at = updated_at WHERE account_id = $1",
        "UPDATE accounts SET updated_at = updated_at WHERE id = $1",
    ] {
        tx.sql(lock).bind(id).run().await?;
    }
    Ok(())
}

/// What decides whether an account can be erased.
#[derive(crate::kernel::db::FromRow)]
pub struct AccountToErase {
    pub role: Role,
    pub is_active: bool,
    pub partner_id: Option<Uuid>,
    pub reseller_id: Option<Uuid>,
    /// A partner that is active, has sold future sailings, or is owed money; a reseller that is active,
    /// has sold future sailings, or whose account is not balanced.
    pub has_duties: bool,
}

pub async fn account(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Option<AccountToErase>> {
    let account = tx
        .sql(
            "SELECT a.role, (a.status = 'active' AND a.deleted_at IS NULL) AS is_active,
               p.id AS partner_id, e.id AS reseller_id,
               ((p.id IS NOT NULL AND (p.status = 'active'
                 OR EXISTS (SELECT 1 FROM sailings s WHERE s.partner_id = p.id
                   AND s.status = 'open' AND s.departure_at > $2 AND s.arrival_at > $3
                   AND s.seats_taken > 0)
                 OR EXISTS (SELECT 1 FROM partner_dues d
                   WHERE d.partner_id = p.id AND d.settlement_id IS NULL AND d.net <> 0)
                 OR EXISTS (SELECT 1 FROM settlements t
                   WHERE t.partner_id = p.id
                     AND t.status IN ('pending', 'processing'))))
                OR (e.id IS NOT NULL AND (e.status = 'active' OR e.balance <> 0
                 OR EXISTS (SELECT 1 FROM bookings k WHERE k.reseller_id = e.id
                   AND k.departure_at > $2 AND k.status IN ('pending_payment', 'paid')))))
                 AS has_duties
             FROM accounts a
             LEFT JOIN partners p ON p.account_id = a.id
             LEFT JOIN resellers e ON e.account_id = a.id
             WHERE a.id = $1",
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

/// Replaces the person behind a reseller, and revokes its keys; returns the address for operations that
/// it had. Its bookings, invoices and payments stay.
pub async fn erase_reseller(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Option<Email>> {
    let ops_email: Option<Email> =
        tx.sql("SELECT ops_email FROM resellers WHERE id = $1").bind(id).scalar().await?;
    tx.sql(
        "UPDATE resellers SET legal_name = $1, npwp = NULL, ops_email = NULL, address = '',
           status_reason = CASE WHEN status_reason IS NULL THEN NULL ELSE $1 END
         WHERE id = $2",
    )
    .bind(ERASED)
    .bind(id)
    .run()
    .await?;
    tx.sql(
        "UPDATE reseller_keys SET name = $3, addresses = $4, last_used_address = NULL,
           revoked_at = COALESCE(revoked_at, $1)
         WHERE reseller_id = $2",
    )
    .bind(now)
    .bind(id)
    .bind(ERASED)
    .bind(Json(Vec::<String>::new()))
    .run()
    .await?;
    tx.sql(
        "DELETE FROM webhook_deliveries
         WHERE webhook_id IN (SELECT w.id FROM webhooks w WHERE w.reseller_id = $1)",
    )
    .bind(id)
    .run()
    .await?;
    tx.sql("DELETE FROM webhooks WHERE reseller_id = $1").bind(id).run().await?;
    Ok(ops_email)
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
