//! SQL of cancelling and moving a sailing. Its bookings are handled by `disruptions`.

use chrono::{DateTime, NaiveDate, Utc};

use super::{detail::SailingDetail, http::conflict, rules::Span, store};
use crate::kernel::{
    db::Tx,
    error::{Error, Result},
    ids::Uuid,
};

/// Cancels a sailing that has not arrived; `false` if it is no longer open.
pub async fn cancel(tx: &mut Tx, id: Uuid, reason: &str, now: DateTime<Utc>) -> Result<bool> {
    let cancelled = tx
        .sql(
            "UPDATE sailings SET status = 'cancelled', cancelled_at = $1, reason = $2
             WHERE id = $3 AND status = 'open' AND arrival_at > $1",
        )
        .bind(now)
        .bind(reason.to_owned())
        .bind(id)
        .run()
        .await?;
    Ok(cancelled == 1)
}

/// New day and times of a sailing.
pub struct NewTimes {
    pub day: NaiveDate,
    pub span: Span,
}

/// Moves a sailing; its boat's row must be locked. 409 if the boat has another sailing at that
/// time, or the sailing can no longer be moved.
pub async fn shift(
    tx: &mut Tx,
    sailing: &SailingDetail,
    times: &NewTimes,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let (departure_at, arrival_at) = times.span;
    let taken = store::overlapping(tx, sailing.speedboat_id, times.span).await?;
    let overlaps = |(start, end): Span| start < arrival_at && departure_at < end;
    let there = taken.iter().find(|there| there.id != sailing.id && overlaps(there.span()));
    if let Some(there) = there {
        return Err(conflict(Some((times.span, there.span(), Some(there)))));
    }
    let moved = tx
        .sql(
            "UPDATE sailings SET day = $1, departure_at = $2, arrival_at = $3,
               duration_minutes = $4, reason = $5
             WHERE id = $6 AND status = 'open' AND manifest_closed_at IS NULL AND arrival_at > $7",
        )
        .bind(times.day)
        .bind(departure_at)
        .bind(arrival_at)
        .bind((arrival_at - departure_at).num_minutes() as i32)
        .bind(reason.to_owned())
        .bind(sailing.id)
        .bind(now)
        .run()
        .await
        .map_err(|failure| if failure.is_exclusion() { conflict(None) } else { failure.into() })?;
    match moved {
        1 => Ok(()),
        _ => Err(Error::invalid_state(
            "This sailing can no longer be moved.",
            "Jadwal pelayaran ini tidak dapat diubah lagi.",
        )),
    }
}
