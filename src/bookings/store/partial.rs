//! The SQL of cancelling some passengers.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::{
    bookings::{model::BookingRow, prices::Price},
    kernel::{
        db::{Json, Tx},
        error::Result,
        ids::Uuid,
        money::Rupiah,
    },
};

/// Passengers who are cancelled, with their share of the price.
pub struct PartialCancellation<'a> {
    pub id: Uuid,
    pub passengers: Vec<Uuid>,
    pub seats: i32,
    pub share: &'a Price,
    pub refund: Rupiah,
    /// What the rest was first sold for, if the booking was rescheduled.
    pub sold: Option<&'a Price>,
    pub reason: &'a str,
    /// `None`: the booker.
    pub by: Option<Uuid>,
}

/// Replaces the passengers and the price of a paid booking by those of `after`, if every column that
/// the decision was based on is unchanged; `false` otherwise. A trigger gives the seats back.
pub async fn cancel_passengers(
    tx: &mut Tx,
    seen: &BookingRow,
    after: &BookingRow,
    cancellation: &PartialCancellation<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let changed = tx
        .sql(
            "UPDATE bookings SET passengers = $1, cancelled_passengers = $2, qty = $3, seats = $4,
               fare_lines = $5, subtotal = $6, discount = $7, taxes = $8, tax = $9, total = $10,
               commission = $11, commission_taxes = $12, commission_tax = $13,
               partner_discount = $14, partner_net = $15, updated_at = $16
             WHERE id = $17 AND status = 'paid' AND departure_at = $18 AND sailing_id = $19
               AND COALESCE(reschedule_id, id) = $20 AND contact_email = $21 AND qty = $22
               AND total = $23",
        )
        .bind(Json(after.passengers.0.clone()))
        .bind(Json(after.cancelled_passengers.0.clone()))
        .bind(after.qty)
        .bind(after.seats)
        .bind(json!(after.fare_lines.0))
        .bind(after.subtotal)
        .bind(after.discount)
        .bind(json!(after.taxes.0))
        .bind(after.tax)
        .bind(after.total)
        .bind(after.commission)
        .bind(json!(after.commission_taxes.0))
        .bind(after.commission_tax)
        .bind(after.partner_discount)
        .bind(after.partner_net)
        .bind(now)
        .bind(seen.id)
        .bind(seen.departure_at)
        .bind(seen.sailing_id)
        .bind(seen.reschedule_id.unwrap_or(seen.id))
        .bind(seen.contact_email.clone())
        .bind(seen.qty)
        .bind(seen.total)
        .run()
        .await?;
    if changed == 0 {
        return Ok(false);
    }
    let PartialCancellation { id, passengers, seats, share, refund, sold, reason, by } =
        cancellation;
    tx.sql(
        "INSERT INTO passenger_cancellations (id, booking_id, sailing_id, passenger_ids, qty, seats,
           qty_left, subtotal, discount, taxes, tax, total, commission, commission_taxes, commission_tax,
           partner_discount, partner_net, refund, sold, reason, cancelled_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
           $19, $20, $21, $22)",
    )
    .bind(*id)
    .bind(seen.id)
    .bind(seen.sailing_id)
    .bind(json!(passengers))
    .bind(seen.qty - after.qty)
    .bind(*seats)
    .bind(after.qty)
    .bind(share.subtotal)
    .bind(share.discount)
    .bind(json!(share.taxes))
    .bind(share.tax)
    .bind(share.total)
    .bind(share.commission)
    .bind(json!(share.commission_taxes))
    .bind(share.commission_tax)
    .bind(share.partner_discount)
    .bind(share.partner_net)
    .bind(*refund)
    .bind(sold.map(|sold| json!(sold)))
    .bind((*reason).to_owned())
    .bind(*by)
    .bind(now)
    .run()
    .await?;
    Ok(true)
}
