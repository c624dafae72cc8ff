//! Money that waits for a decision.

use chrono::{DateTime, Utc};

use crate::{
    kernel::{
        db::{Db, Tx},
        error::Result,
        http::Page,
        ids::{self, Uuid},
        money::Rupiah,
    },
    payments::model::{Payment, Resolution, Review, ReviewReason, ReviewsQuery},
};

pub struct NewReview<'a> {
    pub event_id: Uuid,
    pub payment: &'a Payment,
    pub reason: ReviewReason,
    pub amount: Rupiah,
    pub expected: Rupiah,
}

/// Returns its id.
pub async fn insert_review(tx: &mut Tx, new: NewReview<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO payment_reviews (id, event_id, payment_id, booking_id, reason, amount,
           expected, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(id)
    .bind(new.event_id)
    .bind(new.payment.id)
    .bind(new.payment.booking_id)
    .bind(new.reason)
    .bind(new.amount)
    .bind(new.expected)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

macro_rules! review {
    ($rest:literal) => {
        concat!(
            "SELECT v.id, v.booking_id, k.code AS booking_code, k.status AS booking_status, v.reason,
               v.amount, v.expected, v.resolution, v.note, v.resolved_at, v.created_at, v.excess,
               e.outcome AS event_outcome, e.method AS event_method, v.payment_id
             FROM payment_reviews v JOIN payment_events e ON e.id = v.event_id
             JOIN bookings k ON k.id = v.booking_id",
            $rest
        )
    };
}

pub async fn review(db: &Db, id: Uuid) -> Result<Option<Review>> {
    Ok(db.sql(review!(" WHERE v.id = $1")).bind(id).maybe().await?)
}

pub async fn review_in(tx: &mut Tx, id: Uuid) -> Result<Option<Review>> {
    Ok(tx.sql(review!(" WHERE v.id = $1")).bind(id).maybe().await?)
}

pub async fn reviews(db: &Db, query: &ReviewsQuery) -> Result<Page<Review>> {
    let paging = &query.paging;
    let list = db
        .list(review!(""))
        .found_in("SELECT v.id FROM payment_reviews v")
        .filter("v.id = ?", query.id)
        .filter("v.reason = ?", query.reason);
    let list = match query.open {
        Some(true) => list.only("v.resolution IS NULL"),
        Some(false) => list.only("v.resolution IS NOT NULL"),
        None => list,
    };
    let rows = list
        .page(paging.sort(None, "v.created_at"), "v.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Open reviews of money that came in with this payment, an equal amount first.
pub async fn open_incoming(tx: &mut Tx, payment: &Payment, amount: Rupiah) -> Result<Vec<Review>> {
    let reviews = tx
        .sql(review!(
            " WHERE v.booking_id = $1 AND v.payment_id = $2 AND v.resolution IS NULL
                AND v.reason IN ('wrong_amount', 'late', 'duplicate')
                AND NOT EXISTS (SELECT 1 FROM payment_events o WHERE o.payment_id = e.payment_id
                  AND o.transaction_id = e.transaction_id AND o.outcome = 'voided')
              ORDER BY CASE WHEN v.amount = $3 THEN 0 ELSE 1 END, v.created_at, v.id"
        ))
        .bind(payment.booking_id)
        .bind(payment.id)
        .bind(amount)
        .all()
        .await?;
    Ok(reviews)
}

/// Open reviews of money that the provider sent back of this payment without being owed.
pub async fn open_unowed(tx: &mut Tx, payment: &Payment) -> Result<Vec<Review>> {
    let reviews = tx
        .sql(review!(
            " WHERE v.booking_id = $1 AND v.payment_id = $2 AND v.resolution IS NULL
                AND v.reason IN ('unowed_refund', 'chargeback') ORDER BY v.created_at, v.id"
        ))
        .bind(payment.booking_id)
        .bind(payment.id)
        .all()
        .await?;
    Ok(reviews)
}

/// Whether the money of this event waits for a decision.
pub async fn has_open_review(tx: &mut Tx, event: Uuid) -> Result<bool> {
    let open: Option<(Uuid,)> = tx
        .sql(
            "SELECT v.id FROM payment_events e JOIN payments y ON y.id = e.payment_id
             JOIN payment_reviews v ON v.booking_id = y.booking_id AND v.event_id = e.id
             WHERE e.id = $1 AND v.resolution IS NULL LIMIT 1",
        )
        .bind(event)
        .maybe()
        .await?;
    Ok(open.is_some())
}

/// Whether the provider has taken back the money of the review.
pub async fn is_voided(tx: &mut Tx, review: Uuid) -> Result<bool> {
    let voided: Option<(Uuid,)> = tx
        .sql(
            "SELECT o.id FROM payment_reviews v JOIN payment_events e ON e.id = v.event_id
             JOIN payment_events o
               ON o.payment_id = e.payment_id AND o.transaction_id = e.transaction_id
             WHERE v.id = $1 AND o.outcome = 'voided' LIMIT 1",
        )
        .bind(review)
        .maybe()
        .await?;
    Ok(voided.is_some())
}

pub async fn payment_of_review(tx: &mut Tx, review: Uuid) -> Result<Uuid> {
    let payment = tx.sql("SELECT payment_id FROM payment_reviews WHERE id = $1").bind(review);
    Ok(payment.scalar().await?)
}

pub async fn set_excess(tx: &mut Tx, id: Uuid, excess: Rupiah) -> Result<()> {
    tx.sql("UPDATE payment_reviews SET excess = $1 WHERE id = $2")
        .bind(excess)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// `false` if it was already resolved.
pub async fn resolve(
    tx: &mut Tx,
    id: Uuid,
    resolution: Resolution,
    note: &str,
    by: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let resolved = tx
        .sql(
            "UPDATE payment_reviews SET resolution = $1, note = $2, resolved_by = $3,
               resolved_at = $4
             WHERE id = $5 AND resolution IS NULL",
        )
        .bind(resolution)
        .bind(note.to_owned())
        .bind(by)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(resolved == 1)
}
