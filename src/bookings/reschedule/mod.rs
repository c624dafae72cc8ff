//! Moving a booking to another sailing of its partner between the same harbours.
//!
//! - Where nothing has to be paid, seats, price and money move at once. Where something has, the
//!   booking keeps its old seats and holds the new ones until it is paid or too late.
//! - A booking keeps the rates and the discount that it was sold with.
//! - Whoever leaves a sailing that was cancelled, or moved far, pays no fee. Whoever leaves for
//!   another reason cannot get back more by cancelling later than by cancelling now.

mod store;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{
    lookup::BookingAccess,
    model::{BookingRow, BookingStatus, SailingContext},
    moves::{no_seats, not_now, still_ashore},
    rules::{self, Event},
    sale, store as bookings,
    store::Trace,
};
use crate::{
    app::App,
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
        outbox,
        set_aside::{self, Pass, RowJob},
    },
    ledger::{self, Account},
    sailings::harbour_key,
};

pub use store::{Reschedule, RescheduleStatus, get};

/// Where somebody would rather be.
pub struct Wish<'a> {
    pub booking_id: Uuid,
    pub to: &'a SailingContext,
    pub reason: &'a str,
    pub access: BookingAccess,
    /// `None`: the booker.
    pub by: Option<Uuid>,
}

/// What came of a wish.
pub struct Granted {
    pub before: BookingRow,
    /// `None`: it sails there already.
    pub reschedule: Option<Reschedule>,
    /// Whether anything was changed by it.
    pub new: bool,
}

/// The sailing, if the booking can move there at all.
pub async fn target(app: &App, booking: &BookingRow, sailing: Uuid) -> Result<SailingContext> {
    let to = bookings::look(&app.db, sailing).await?.map(|(sailing, _)| sailing);
    let to = to.ok_or_else(sale::unknown_sailing)?;
    let same = |one: &str, other: &str| harbour_key(one) == harbour_key(other);
    let alike = to.partner_id == booking.partner_id
        && same(&to.from_name, &booking.from_name)
        && same(&to.to_name, &booking.to_name);
    if !alike {
        let message = text(
            "The sailing must be of the same partner and between the same harbours.",
            "Jadwal harus dari mitra dan rute yang sama.",
        );
        return Err(Error::field("route_time_id", "other_route", message));
    }
    Ok(to)
}

/// Moves the booking, or holds what it needs until the difference is paid.
pub async fn request(app: &App, tx: &mut Tx, wish: &Wish<'_>) -> Result<Granted> {
    let now = app.clock.now();
    bookings::hold(tx, wish.booking_id).await?;
    let booking = bookings::get_in(tx, wish.booking_id).await?.ok_or(Error::NotFound)?;
    let by_weather = may_leave(&booking, now)?;
    if booking.sailing_id == wish.to.sailing_id {
        return Ok(Granted { before: booking, reschedule: None, new: false });
    }
    let pending = store::pending(tx, booking.id).await?;
    if let Some(pending) = &pending
        && pending.to_sailing_id == wish.to.sailing_id
        && pending.expires_at > now
    {
        return Ok(Granted { before: booking, reschedule: Some(pending.clone()), new: false });
    }
    let mut sailings = vec![booking.sailing_id, wish.to.sailing_id];
    sailings.extend(pending.as_ref().map(|pending| pending.to_sailing_id));
    store::hold_sailings(tx, sailings).await?;
    if let Some(pending) = &pending {
        store::end(tx, pending.id, RescheduleStatus::Dropped, now).await?;
    }
    sale::on_sale(app, wish.to)?;
    if booking.status != BookingStatus::Paid && !bookings::promotion_is_left(tx, &booking).await? {
        return Err(promotion_exhausted());
    }
    let seats = seats_of(&booking, wish.to)?;
    let was = booking.price();
    // From what it was first sold for: no detour makes it cheaper or dearer.
    let sold = store::first_price(tx, booking.id).await?.unwrap_or_else(|| was.clone());
    let becomes = rules::reprice(&sold, wish.to.seat_price, seats);
    let own_wish = !by_weather && wish.access == BookingAccess::Booker;
    let fee = match own_wish {
        true => {
            let policy = &app.config.reschedule_fee.0;
            let percent = rules::fee_percent(policy, booking.departure_at, now);
            rules::percent_of(was.total, percent.ok_or_else(too_late)?)
        }
        false => Rupiah::ZERO,
    };
    let policy = &app.config.refund_policy.0;
    let percent = rules::refund_percent(policy, booking.departure_at, now);
    let refund_cap = match (by_weather, own_wish) {
        (true, _) => None,
        (_, true) => Some(booking.refund_cap.unwrap_or(percent).min(percent)),
        (_, false) => booking.refund_cap,
    };
    let difference = becomes.total + fee - was.total;
    let pays = difference > Rupiah::ZERO;
    if pays && app.config.rate_limit.0 {
        let lapsed = store::dropped_since(tx, booking.id, now - TimeDelta::days(1)).await?;
        if lapsed >= LAPSES {
            return Err(too_many_holds());
        }
    }
    let hold = TimeDelta::seconds(app.config.booking_hold_seconds.into());
    let mut expires_at = (now + hold).min(wish.to.departure_at);
    if booking.status == BookingStatus::Paid {
        expires_at = expires_at.min(booking.departure_at);
    }
    let id = ids::fresh();
    let new = store::NewReschedule {
        id,
        booking: &booking,
        to_sailing_id: wish.to.sailing_id,
        departure_at: wish.to.departure_at,
        status: if pays { RescheduleStatus::Pending } else { RescheduleStatus::Done },
        seats,
        reason: wish.reason,
        requested_by: wish.by,
        was: &was,
        becomes: &becomes,
        fee,
        difference,
        refund_cap,
        expires_at,
    };
    store::insert(tx, new, now).await.map_err(|failure| match no_seats(&failure) {
        true => sale::sold_out(0),
        false => failure.into(),
    })?;
    let reschedule = store::get_in(tx, id).await?;
    if !pays {
        arrive(tx, &booking, &reschedule, now).await?;
    }
    Ok(Granted { before: booking, reschedule: Some(reschedule), new: true })
}

/// Whether it is the weather's or the partner's doing; 409 when the booking stays where it is.
fn may_leave(booking: &BookingRow, now: DateTime<Utc>) -> Result<bool> {
    match booking.status {
        BookingStatus::Paid if booking.departure_at > now => {
            still_ashore(booking, now)?;
            Ok(rules::is_disrupted(booking.promised_at, booking.departure_at))
        }
        // What had cost nothing is owed nothing, and yet may sail.
        BookingStatus::RefundPending | BookingStatus::Cancelled
            if booking.called_off && booking.paid_at.is_some() =>
        {
            Ok(true)
        }
        _ => Err(not_now()),
    }
}

/// What it takes of the other sailing.
fn seats_of(booking: &BookingRow, to: &SailingContext) -> Result<i32> {
    if booking.qty > to.capacity {
        let message =
            text("The boat does not have that many seats.", "Kapal tidak memuat sebanyak itu.");
        return Err(Error::field("route_time_id", "too_small", message));
    }
    sale::seats(to, booking.kind, booking.qty)
}

/// How many unpaid moves of a booking may lapse in a day: seats are not held for ever.
const LAPSES: i64 = 3;

fn too_many_holds() -> Error {
    Error::conflict(
        "too_many_holds",
        "Too many unpaid reschedules today.",
        "Terlalu banyak pindah jadwal yang tidak dibayar hari ini.",
    )
}

fn promotion_exhausted() -> Error {
    Error::conflict(
        "promotion_exhausted",
        "The quota of the promotion is used up.",
        "Kuota promosi pemesanan ini sudah habis.",
    )
}

fn too_late() -> Error {
    Error::conflict(
        "too_late",
        "It is too late to reschedule this booking.",
        "Sudah terlambat untuk memindahkan pemesanan ini.",
    )
}

/// The difference is paid: moves the booking. `false`: it no longer waits for that, and the money
/// has to be dealt with by a person.
pub async fn paid(
    tx: &mut Tx,
    booking: &BookingRow,
    reschedule: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    let reschedule = store::get_in(tx, reschedule).await?;
    let both = vec![reschedule.from_sailing_id, reschedule.to_sailing_id];
    store::hold_sailings(tx, both).await?;
    let waits = reschedule.status == RescheduleStatus::Pending
        && reschedule.from_sailing_id == booking.sailing_id
        && may_leave(booking, now).is_ok()
        && store::takes_passengers(tx, reschedule.to_sailing_id, now).await?
        && (booking.status == BookingStatus::Paid
            || bookings::promotion_is_left(tx, booking).await?);
    if !waits || !store::end(tx, reschedule.id, RescheduleStatus::Done, now).await? {
        return Ok(false);
    }
    arrive(tx, booking, &reschedule, now).await?;
    Ok(true)
}

/// Puts the booking on its new sailing, with its money.
async fn arrive(
    tx: &mut Tx,
    booking: &BookingRow,
    reschedule: &Reschedule,
    now: DateTime<Utc>,
) -> Result<()> {
    let price = reschedule.becomes()?;
    let moved = store::carry_over(tx, reschedule, &price, now).await.map_err(refusal)?;
    if !moved {
        return Err(not_now());
    }
    let posting = |kind| booking.chapter_of(reschedule.id).posting(kind);
    if booking.status != BookingStatus::Paid {
        let to = rules::next(booking.status, Event::Reinstate).ok_or_else(not_now)?;
        let trace = Trace::default();
        let came = bookings::advance(tx, booking.id, booking.status, to, trace, now).await;
        if !came.map_err(refusal)? {
            return Err(not_now());
        }
        let back = posting("reinstated")
            .debit(Account::RefundPayable, booking.total)
            .credit(Account::CustomerDeposits, booking.total);
        ledger::post(tx, back, now).await?;
    }
    let difference = reschedule.difference;
    let entry = posting("rescheduled")
        .debit(Account::GatewayClearing, difference.max(Rupiah::ZERO))
        .credit(Account::RefundPayable, (-difference).max(Rupiah::ZERO))
        .credit(Account::CustomerDeposits, price.total - booking.total)
        .credit(Account::CommissionRevenue, reschedule.fee);
    ledger::post(tx, entry, now).await?;
    let news = json!({ "booking_id": booking.id, "difference": difference });
    outbox::put_about(tx, booking.id, "booking.rescheduled", &news, now).await?;
    Ok(())
}

fn refusal(failure: crate::kernel::db::Failure) -> Error {
    match failure {
        f if f.names("promotions_quota") => promotion_exhausted(),
        f if no_seats(&f) => sale::sold_out(0),
        f => f.into(),
    }
}

const DROPPED: &str = "booking.move_dropped";

/// Lets all that wait for a sailing go, which nobody can come to any more.
pub async fn drop_towards(tx: &mut Tx, sailing: Uuid, now: DateTime<Utc>) -> Result<()> {
    let dropped = store::drop_towards(tx, sailing).await?;
    let news: Vec<_> = dropped.iter().map(|(id,)| (*id, json!({ "booking_id": id }))).collect();
    outbox::put_all(tx, DROPPED, &news, now).await
}

/// Drops some reschedules that were not paid for in time, each in a transaction of its own, and
/// retries those that have failed before.
pub async fn expire_some(app: &App) -> Result<Pass> {
    const SOME: i64 = 500;
    const JOB: RowJob = RowJob::DropReschedules;
    let now = app.clock.now();
    let due = store::due(&app.db, SOME, now).await?;
    let more = due.len() == SOME as usize;
    let done = set_aside::each(&app.db, JOB, due, 1, now, |id| drop_one(app, id)).await?;
    let again = set_aside::retry(&app.db, JOB, now, |id| drop_one(app, id)).await?;
    Ok(Pass { done: done + again, more })
}

async fn drop_one(app: &App, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    if !store::end(&mut tx, id, RescheduleStatus::Dropped, now).await? {
        return Ok(false);
    }
    let booking_id = store::booking_of(&mut tx, id).await?;
    let news = json!({ "booking_id": booking_id });
    outbox::put_about(&mut tx, booking_id, DROPPED, &news, now).await?;
    let _until = app.shared.until_changed();
    tx.commit().await?;
    Ok(true)
}

/// What is owed to the booking's customer for a move, the oldest first.
pub async fn owed(tx: &mut Tx, booking: Uuid) -> Result<Option<(Uuid, Rupiah)>> {
    store::owed(tx, booking).await
}

/// A difference that was owed has left by that account.
pub async fn pay_difference(
    tx: &mut Tx,
    booking: &BookingRow,
    (id, owed): (Uuid, Rupiah),
    by: Account,
    reference: Option<&str>,
    now: DateTime<Utc>,
) -> Result<()> {
    store::set_refunded(tx, id, reference, now).await?;
    let posting = booking
        .chapter_of(id)
        .posting("difference_refunded")
        .debit(Account::RefundPayable, owed)
        .credit(by, owed);
    ledger::post(tx, posting, now).await?;
    let news = json!({ "booking_id": booking.id, "amount": owed });
    outbox::put_about(tx, booking.id, "booking.difference_refunded", &news, now).await?;
    Ok(())
}
