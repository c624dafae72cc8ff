//! Bookings: sale, hold, payment, cancellation, reschedule.
//!
//! - A live booking (pending, paid, completed) holds its seats and its use of a promotion. Triggers
//!   count both in the statement that inserts or moves the booking, and refuse to exceed the
//!   capacity or quota. So no code path can oversell, or release twice.
//! - Every transition is in one table in `rules`, and is made by an update that names the status it
//!   starts from: of two concurrent ones one wins. `rules::cancellation` alone decides who may
//!   cancel when.
//! - A booking completes when its boat has arrived. Only then its money is earned by the partner
//!   and the platform.
//! - A booking keeps the price, taxes and commission that it was sold with.

mod bulk;
mod corrections;
mod earnings;
mod fares;
mod forms;
mod guest_view;
mod http;
mod letters;
mod lookup;
mod model;
mod offer;
mod partial;
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

pub use bulk::{
    CancelledBookings, SailingNews, cancel_with_sailing, expire_holds, follow_sailing,
    follow_sailings,
};
pub use fares::chosen as chosen_fares;
pub use forms::{BookingForm, GuestCredentials, RescheduleForm, reason_without_url};
pub use guest_view::GuestViews;
pub use http::{
    OpensPayment, PathBooking, PathOwnBooking, cancel_booking, correct_contact, correct_passengers,
    create_booking, find_bookings, get_booking, list_bookings, quote_booking, set_refund_account,
    validate_promo,
};
pub use letters::{BookingLetter, found_letter, letter, letter_to_reseller};
pub use lookup::{
    FEW_TICKETS, Readable, actor, app_page, booking_for, ensure_same_contact, may_read_identity,
    simulator_url, to_response,
};
pub use model::{
    Boarded, BookingOnList, BookingRow, BookingStatus, CancelledPassenger, Channel, Gender,
    IdentityType, NewBooking, RefundAccount, Resold, ResoldPassenger, StoredPassenger,
};
pub use partial::offer as offer_of_some;
pub use prices::{FareLine, Goods, Price, TaxAmount, price};
pub use rules::{
    Actor, BookingState, CancelRequest, Event, Refund, cancel_offer, cancellation, correcting,
    ensure_not_resold, ensure_ticket, ensure_unpaid, has_ticket, is_live, payable,
};
pub use store::{
    INSERT_BOOKING, SELECT_OFFER, TransitionDetails, bind_new, boarding_list, boarding_list_in,
    can_take_again, get, get_all, get_all_long, get_in, index_texts, lock_row, lock_rows,
    lock_rows_of, pay_held, set_boarded,
};
pub use transitions::{Cancellation, cancel as cancel_in, invalid_transition, move_booking};
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

/// Completes all bookings whose boat has arrived; returns their number.
pub async fn complete(app: &App) -> Result<u64> {
    earnings::complete_due(app).await
}

/// Completes a batch, for the job.
pub async fn complete_some(app: &App) -> Result<Pass> {
    earnings::complete_some(app).await
}

/// Forgets who asked for the bookings of an address more than an hour ago.
pub async fn sweep_lookups(app: &App) -> Result<()> {
    store::sweep_lookups(&app.db, app.clock.now()).await
}

/// Expires a batch of unpaid holds.
pub async fn expire_some(app: &App) -> Result<Pass> {
    transitions::expire_some(app).await
}

/// Expires all unpaid holds and pending reschedules that are due; returns their number.
pub async fn expire(app: &App) -> Result<u64> {
    Ok(transitions::expire_due(app).await? + reschedule::expire_some(app).await?.done)
}
