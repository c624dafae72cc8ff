//! The SQL for all bookings of a sailing.

use crate::kernel::db::Json;
use chrono::{DateTime, Utc};

use crate::{
    bookings::{
        bulk::CancelledBooking,
        model::{Boarded, BookingOnList, BookingStatus},
    },
    kernel::{
        db::{Db, Tx},
        error::Result,
        ids::Uuid,
    },
    ledger::with_collected,
    sailings::bulk::CHUNK,
};

/// Bookings of a sailing that may board, or have boarded.
pub async fn boarding_list_in(tx: &mut Tx, sailing: Uuid) -> Result<Vec<BookingOnList>> {
    Ok(tx.sql(BOARDING_LIST).bind(sailing).all().await?)
}

pub async fn boarding_list(db: &Db, sailing: Uuid) -> Result<Vec<BookingOnList>> {
    Ok(db.sql(BOARDING_LIST).bind(sailing).all().await?)
}

const BOARDING_LIST: &str = "SELECT id, code, contact_name, contact_phone, passengers, boarded
    FROM bookings WHERE sailing_id = $1 AND status IN ('paid', 'completed') ORDER BY id";

/// Records which passengers have boarded; the row is locked by the caller.
pub async fn set_boarded(tx: &mut Tx, id: Uuid, boarded: Boarded) -> Result<()> {
    tx.sql("UPDATE bookings SET boarded = $1 WHERE id = $2")
        .bind(Json(boarded))
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// Locks the rows of a sailing's live bookings. The lock order is bookings before sailings.
pub async fn lock_rows(tx: &mut Tx, sailing: Uuid) -> Result<()> {
    tx.sql(
        "UPDATE bookings SET updated_at = updated_at
         WHERE sailing_id = $1 AND status IN ('pending_payment', 'paid')",
    )
    .bind(sailing)
    .run()
    .await?;
    Ok(())
}

/// The same for several sailings.
pub async fn lock_rows_of(tx: &mut Tx, sailings: &[Uuid]) -> Result<()> {
    for ids in sailings.chunks(CHUNK) {
        let lock = tx.sql_among(
            "UPDATE bookings SET updated_at = updated_at
             WHERE status IN ('pending_payment', 'paid') AND sailing_id IN",
            ids.len(),
            "",
        );
        ids.iter().fold(lock, |lock, id| lock.bind(*id)).run().await?;
    }
    Ok(())
}

/// The amount that chargebacks have permanently taken from a booking.
macro_rules! gone {
    () => {
        "COALESCE((SELECT SUM(v.amount) FROM payment_reviews v WHERE v.booking_id = bookings.id
           AND v.resolution IN ('charge_partner', 'write_off')), 0)"
    };
}

/// Cancels the live bookings of a sailing that are in `from`, with a refund of what is left of the
/// full price or without one.
pub async fn cancel_all(
    tx: &mut Tx,
    sailing: Uuid,
    (from, to): (BookingStatus, BookingStatus),
    owing: bool,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<Vec<CancelledBooking>> {
    let cancelled = tx
        .sql(with_collected!(
            concat!(
                "UPDATE bookings SET status = $1, updated_at = $2, cancelled_at = $2,
                   cancel_reason = $3, called_off = TRUE,
                   refund_amount = CASE WHEN $4 THEN total - ",
                gone!(),
                " END
                 WHERE sailing_id = $5 AND status = $6 AND (NOT $4 OR total > ",
                gone!(),
                ")
                 RETURNING id, partner_id, reschedule_id, reseller_id, total, tax, fare_lines,
                   taxes, CAST(",
                gone!(),
                " AS BIGINT) AS gone,
                   (SELECT s.day FROM sailings s WHERE s.id = sailing_id) AS day, "
            ),
            "bookings.id",
            "AS collected"
        ))
        .bind(to)
        .bind(now)
        .bind(reason.to_owned())
        .bind(owing)
        .bind(sailing)
        .bind(from)
        .all()
        .await?;
    Ok(cancelled)
}

/// Gives bookings the boat and the times of their sailings, which have changed.
macro_rules! follow {
    ($which:literal) => {
        concat!(
            "UPDATE bookings SET
               (promised_at, speedboat_id, departure_at, arrival_at, expires_at) =
               (SELECT
                  CASE WHEN bookings.departure_at <> s.departure_at
                    OR bookings.arrival_at <> s.arrival_at
                    THEN COALESCE(bookings.promised_at, bookings.departure_at)
                    ELSE bookings.promised_at END,
                  s.speedboat_id, s.departure_at, s.arrival_at,
                  CASE WHEN bookings.status = 'pending_payment'
                    AND bookings.expires_at > s.departure_at THEN s.departure_at
                    ELSE bookings.expires_at END
                FROM sailings s WHERE s.id = bookings.sailing_id)
             WHERE sailing_id ",
            $which
        )
    };
}

/// Updates the bookings of a sailing; returns the live ones.
pub async fn follow(tx: &mut Tx, sailing: Uuid) -> Result<Vec<(Uuid,)>> {
    tx.sql(follow!("= $1")).bind(sailing).run().await?;
    let live = tx
        .sql(
            "SELECT id FROM bookings
             WHERE sailing_id = $1 AND status IN ('pending_payment', 'paid') ORDER BY id",
        )
        .bind(sailing)
        .all()
        .await?;
    Ok(live)
}

/// Updates the bookings of the sailings of a change; returns the live ones with their sailings.
pub async fn follow_all(tx: &mut Tx, change: Uuid) -> Result<Vec<(Uuid, Uuid)>> {
    let follow = follow!("IN (SELECT c.sailing_id FROM sailing_changes c WHERE c.change_id = $1)");
    tx.sql(follow).without_cached_plan().bind(change).run().await?;
    let live = tx
        .sql(
            "SELECT id, sailing_id FROM bookings
             WHERE sailing_id IN
                 (SELECT c.sailing_id FROM sailing_changes c WHERE c.change_id = $1)
               AND status IN ('pending_payment', 'paid') ORDER BY id",
        )
        .without_cached_plan()
        .bind(change)
        .all()
        .await?;
    Ok(live)
}

/// Expires the unpaid holds of a sailing before their time.
pub async fn expire_all(tx: &mut Tx, sailing: Uuid, now: DateTime<Utc>) -> Result<Vec<(Uuid,)>> {
    let expired = tx
        .sql(
            "UPDATE bookings SET status = 'expired', updated_at = $1, expires_at = $1
             WHERE sailing_id = $2 AND status = 'pending_payment' RETURNING id",
        )
        .bind(now)
        .bind(sailing)
        .all()
        .await?;
    Ok(expired)
}
