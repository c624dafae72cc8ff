//! Bookings: seats sold, held, paid, cancelled.
//!
//! - A live booking (pending, paid, completed) holds its seats and its use of a promotion. The
//!   database keeps both by triggers, in the statement that makes or moves the booking, and refuses
//!   one seat or use too many: no path can oversell, forget to give back, or give back twice.
//! - Every transition is in the one table in `rules`, by an update that names the status it starts
//!   from: of two that race one wins. Who may cancel when, `rules::cancellation` decides alone.
//! - A booking completes when its boat has arrived; only then its money is the partner's and ours.
//! - A booking keeps the price, taxes and commission that it was sold with.

mod bulk;
mod earnings;
mod forms;
mod http;
mod letters;
mod lookup;
mod model;
mod offer;
mod prices;
pub mod reschedule;
mod rules;
mod sell;
mod store;
mod transitions;
mod view;

use crate::{
    app::App,
    kernel::{error::Result, ids::Uuid, set_aside::Pass},
};

pub use bulk::{CalledOff, cancel_with_sailing, expire_holds, follow_sailing};
pub use forms::{BookingForm, GuestCredentials, RescheduleForm, reason_without_url};
pub use http::{
    OpensPayment, PathBooking, PathOwnBooking, cancel_booking, create_booking, get_booking,
    list_bookings, validate_promo,
};
pub use letters::{BookingLetter, letter};
pub use lookup::{booking_for, may_read_identity, simulator_url, to_response};
pub use model::{BookingOnList, BookingRow, BookingStatus, Gender, IdentityType, StoredPassenger};
pub use prices::Price;
pub use rules::{Actor, Event, has_ticket, is_live};
pub use store::{
    INSERT_BOOKING, SELECT_OFFER, TransitionDetails, boarding_list, boarding_list_in,
    can_take_again, get, get_all, get_in, lock_row, lock_rows, set_boarded,
};
pub use transitions::{invalid_transition, move_booking};
pub use view::{Booking, PaymentRecord, PriceRecord};

/// The newest bookings of a partner, identity numbers masked.
pub async fn recent(app: &App, partner: Uuid) -> Result<Vec<Booking>> {
    let rows = store::recent(&app.db, partner).await?;
    rows.into_iter().map(|row| to_response(app, row, false)).collect()
}

/// Re-encrypts data of older keys; returns the number of rows.
pub async fn reseal(app: &App) -> Result<u64> {
    store::reseal(&app.db, &app.sealer).await
}

/// Completes bookings whose boat has arrived; says how many.
pub async fn complete(app: &App) -> Result<u64> {
    earnings::complete_due(app).await
}

/// The same for some of them, as the job does it.
pub async fn complete_some(app: &App) -> Result<Pass> {
    earnings::complete_some(app).await
}

/// Expires some unpaid holds whose time is over.
pub async fn expire_some(app: &App) -> Result<Pass> {
    transitions::expire_some(app).await
}

/// Expires all unpaid holds and pending reschedules whose time is over; says how many.
pub async fn expire(app: &App) -> Result<u64> {
    Ok(transitions::expire_due(app).await? + reschedule::expire_some(app).await?.done)
}
