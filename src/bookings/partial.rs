//! Cancelling some passengers of a booking while the rest travels.
//!
//! - The cancelled passengers leave the list of passengers, so that manifest, tickets, seats and
//!   reschedules see those who travel. The others keep the places that their tickets name.
//! - The price is split: the booking keeps the price of the rest, and the share of those who are
//!   cancelled is settled like a cancelled booking, by its own row.
//! - The row is locked first, so that of several cancellations at once each decides by what the
//!   others have left.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use super::{
    lookup::ensure_same_contact,
    model::{BookingRow, CancelledPassenger, StoredPassenger},
    prices::{self, Price},
    reschedule,
    rules::{self, Actor, CancelOffer, CancelRequest},
    store::{self, PartialCancellation},
    transitions::{invalid_transition, settle_share},
};
use crate::{
    app::App,
    events::{self, DomainEvent, PassengersCancelled},
    kernel::{
        db::{Json, Tx},
        error::{Error, Result},
        ids::{self, Uuid},
        lang::{Text, text},
    },
    lines::{Category, Fare},
    sailings::BookingType,
};

/// A request to cancel some passengers.
pub struct PassengersRequest<'a> {
    pub passengers: &'a [Uuid],
    pub request: CancelRequest,
    pub reason: &'a str,
    /// `None`: the booker.
    pub by: Option<Uuid>,
}

/// Cancels the passengers, posts the money of their share, and announces it. Returns the booking
/// before and after.
pub async fn cancel(
    app: &App,
    tx: &mut Tx,
    loaded: &BookingRow,
    asked: &PassengersRequest<'_>,
    now: DateTime<Utc>,
) -> Result<(BookingRow, BookingRow)> {
    store::lock_row(tx, loaded.id).await?;
    let before = store::get_in(tx, loaded.id).await?.ok_or(Error::NotFound)?;
    rules::ensure_not_resold(before.reseller_id)?;
    if asked.request.actor == Actor::Guest {
        ensure_same_contact(loaded, &before)?;
    }
    let id = ids::fresh();
    let (stay, leave) = divided(&before, asked.passengers, id, now)?;
    if stay.iter().any(|passenger| !passenger.takes_seat) {
        ensure_accompanied(&stay, &store::fares_of_in(tx, before.sailing_id).await?)?;
    }
    let sold = before.price();
    let (rest, share) = split(&sold, &stay);
    let are_boarded = leave.iter().any(|passenger| before.boarded.contains_key(&passenger.id));
    let policy = &app.config.refund_policy.0;
    let state = before.state();
    let refund =
        rules::cancelling_some(&state, share.total, are_boarded, asked.request, policy, now)?;
    reschedule::drop_pending(tx, &before, now).await?;
    // A later reschedule starts from what was first sold.
    let first = reschedule::first_price(tx, before.id).await?;
    let first = first.map(|first| {
        let (mut reduced, _) = split(&first, &stay);
        // Rounded once: unless the present sailing limits the discount, it is the same.
        if first.discount == sold.discount {
            (reduced.discount, reduced.partner_discount) = (rest.discount, rest.partner_discount);
        }
        reduced
    });
    let seats = leave.iter().filter(|passenger| passenger.takes_seat).count() as i32;
    let cancellation = PartialCancellation {
        id,
        passengers: leave.iter().map(|passenger| passenger.id).collect(),
        seats,
        share: &share,
        refund: refund.amount,
        sold: first.as_ref(),
        reason: asked.reason,
        by: asked.by,
    };
    let mut after = before.clone();
    after.set_price(rest);
    after.stored.qty = before.qty - leave.len() as i32;
    after.stored.seats = before.seats - seats;
    after.stored.passengers = Json(stay);
    after.stored.cancelled_passengers.0.extend(leave);
    after.joined.owed = before.joined.owed + refund.amount;
    if !store::cancel_passengers(tx, &before, &after, &cancellation, now).await? {
        return Err(invalid_transition());
    }
    let due = settle_share(tx, &before, (id, &share), refund.amount, now).await?;
    let cancelled = DomainEvent::BookingPassengersCancelled(PassengersCancelled {
        booking_id: before.id,
        cancellation_id: id,
        refund_amount: refund.amount,
    });
    events::emit_all(tx, [cancelled].into_iter().chain(due), now).await?;
    Ok((before, after))
}

/// What [`cancel`] would now bring to somebody who leaves the refund to the rules, or the error code
/// with which it would be refused. 422 if these passengers cannot be cancelled together.
pub async fn offer(
    app: &App,
    booking: &BookingRow,
    passengers: &[Uuid],
    actor: Actor,
) -> Result<Result<CancelOffer, &'static str>> {
    if let Err(refusal) = rules::ensure_not_resold(booking.reseller_id) {
        return Ok(Err(refusal.word()));
    }
    let now = app.clock.now();
    let (stay, leave) = divided(booking, passengers, booking.id, now)?;
    if stay.iter().any(|passenger| !passenger.takes_seat) {
        ensure_accompanied(&stay, &store::fares_of(&app.db, booking.sailing_id).await?)?;
    }
    let (_, share) = split(&booking.price(), &stay);
    let are_boarded = leave.iter().any(|passenger| booking.boarded.contains_key(&passenger.id));
    let (state, policy) = (booking.state(), &app.config.refund_policy.0);
    let offer = rules::cancel_offer_of_some(&state, share.total, are_boarded, actor, policy, now);
    Ok(offer.map_err(|refusal| refusal.word()))
}

fn split(price: &Price, stay: &[StoredPassenger]) -> (Price, Price) {
    prices::split(price, |fare| {
        stay.iter().filter(|passenger| passenger.fare.as_deref() == Some(fare)).count() as i32
    })
}

/// Those who stay, with the places of their tickets, and those who leave.
fn divided(
    booking: &BookingRow,
    asked: &[Uuid],
    cancellation_id: Uuid,
    now: DateTime<Utc>,
) -> Result<(Vec<StoredPassenger>, Vec<CancelledPassenger>)> {
    if booking.kind == BookingType::Charter {
        let message = text(
            "A charter is cancelled as a whole.",
            "Sewa kapal hanya dapat dibatalkan seluruhnya.",
        );
        return Err(refused("charter", message));
    }
    let leaving: HashSet<Uuid> = asked.iter().copied().collect();
    if leaving.len() != asked.len() {
        let message = text("A passenger is named twice.", "Ada penumpang yang disebut dua kali.");
        return Err(refused("unique", message));
    }
    if booking.cancelled_passengers.iter().any(|passenger| leaving.contains(&passenger.id)) {
        let message =
            text("A passenger is already cancelled.", "Ada penumpang yang sudah dibatalkan.");
        return Err(refused("already_cancelled", message));
    }
    let (mut stay, mut leave) = (Vec::new(), Vec::new());
    for (index, passenger) in booking.passengers.iter().enumerate() {
        let place = passenger.place_at(index)?;
        match leaving.contains(&passenger.id) {
            false => stay.push(StoredPassenger { place: Some(place), ..passenger.clone() }),
            true => leave.push(CancelledPassenger {
                id: passenger.id,
                name: passenger.name.clone(),
                fare: passenger.fare.clone(),
                unit_price: passenger.unit_price,
                takes_seat: passenger.takes_seat,
                place,
                cancellation_id,
                cancelled_at: now,
            }),
        }
    }
    if leave.len() != leaving.len() {
        let message = text(
            "A passenger does not belong to this booking.",
            "Ada penumpang yang bukan dari pemesanan ini.",
        );
        return Err(refused("unknown", message));
    }
    if stay.is_empty() {
        let message = text(
            "These are all passengers. Cancel the booking instead, without passenger_ids.",
            "Ini semua penumpang. Batalkan pemesanannya, tanpa passenger_ids.",
        );
        return Err(refused("all", message));
    }
    Ok((stay, leave))
}

/// As in the sale: somebody without a seat needs an adult with one of their own. That also leaves at
/// least one seat.
fn ensure_accompanied(stay: &[StoredPassenger], fares: &[Fare]) -> Result<()> {
    let is_adult = |passenger: &&StoredPassenger| {
        let fare = fares.iter().find(|fare| passenger.fare.as_ref() == Some(&fare.key));
        // The fares may have changed since the sale.
        passenger.takes_seat && fare.is_none_or(|fare| fare.category == Category::Adult)
    };
    let adults = stay.iter().filter(is_adult).count();
    let without_seat = stay.iter().filter(|passenger| !passenger.takes_seat).count();
    if without_seat > adults {
        let message = text(
            "A passenger without a seat needs an adult of their own.",
            "Penumpang tanpa kursi harus didampingi satu orang dewasa.",
        );
        return Err(refused("adult_required", message));
    }
    Ok(())
}

fn refused(rule: &'static str, message: Text) -> Error {
    Error::field("passenger_ids", rule, message)
}
