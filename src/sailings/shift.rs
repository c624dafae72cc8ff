//! Calling one sailing off, or giving it other times. What becomes of its bookings is decided
//! above.

use chrono::{DateTime, NaiveDate, Utc};

use super::{detail::SailingDetail, http::conflict, rules::Span, store};
use crate::kernel::{
    db::Tx,
    error::{Error, Result},
    ids::Uuid,
};

/// Takes a sailing that has not arrived off for good; `false` when it is off already.
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

/// When it is to sail instead.
pub struct NewTimes {
    pub day: NaiveDate,
    pub span: Span,
}

/// Gives a sailing other times; its boat's row is held. 409 when the boat is elsewhere then, or
/// the sailing can no longer be moved.
pub async fn shift(
    tx: &mut Tx,
    sailing: &SailingDetail,
    times: &NewTimes,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let (departure_at, arrival_at) = times.span;
    let taken = store::at_sea(tx, sailing.speedboat_id, times.span).await?;
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
