//! Cancelling: a hold at any time, a confirmed booking until the cutoff, and later by force.

use super::{
    find,
    store::{self, Row},
    trip_of,
    view::{Status, Surroundings},
    visible,
};
use crate::{
    app::App,
    bookings::{self, Actor, CancelRequest, Cancellation, cancellation},
    kernel::error::Error,
    octo::{
        access::Client,
        error::{Problem, Result},
        params::Params,
        request::Fields,
    },
};

pub async fn cancel(
    app: &App,
    client: &Client,
    params: &Params,
    fields: Fields<'_>,
) -> Result<Row> {
    let reason = fields.text("reason")?.unwrap_or_default();
    let force = fields.boolean("force")?.unwrap_or(false);
    let uuid = params.booking()?;
    let now = app.clock.now();
    let seen = find(app, client, uuid).await?;
    let around = Surroundings::load(app, std::slice::from_ref(&seen)).await?;
    let mut tx = app.db.begin().await?;
    store::lock(&mut tx, client.reseller_id, uuid).await?;
    let row = visible(client, store::get_in(&mut tx, client.reseller_id, uuid).await?, uuid)?;
    // Again: the same answer.
    if matches!(row.status(now), Status::Cancelled | Status::Expired) {
        return Ok(row);
    }
    let day = around.day(&seen);
    let policy = client.policy(app, row.line.partner_id);
    let refund = row.refund_now(day, &policy, now).ok_or_else(not_cancellable)?;
    let is_free = row.paid_at.is_none() || refund == row.total;
    if !is_free && !force {
        return Err(not_cancellable());
    }
    let booking = bookings::get_in(&mut tx, row.id).await?;
    let booking = booking.ok_or_else(|| Problem::Failed(Error::internal("a booking is gone")))?;
    let request = CancelRequest::by(Actor::Guest);
    let refund = cancellation(&row.state(day), request, &policy, now).map_err(Error::from)?;
    let _invalidation = app.response_cache.invalidate_on_drop([trip_of(&row)]);
    let decided = Cancellation { refund, reason, tells_reason: false };
    if bookings::cancel_in(&mut tx, &booking, &decided, now).await?.is_none() {
        let why = "the booking was changed concurrently";
        return Err(Problem::Failed(Error::Contention(why.into())));
    }
    tx.commit().await?;
    app.db.notify_outbox();
    find(app, client, uuid).await
}

fn not_cancellable() -> Problem {
    Problem::unprocessable(
        "This booking can no longer be cancelled.",
        "Pemesanan ini tidak dapat dibatalkan lagi.",
    )
}
