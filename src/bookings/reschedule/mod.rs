//! Moving a booking to another sailing of its partner between the same harbours.
//!
//! - If nothing has to be paid, seats, price and money move at once. Otherwise the booking keeps
//!   its old seats and holds the new ones until the difference is paid or the deadline has passed.
//! - A booking keeps the rates and the discount that it was sold with.
//! - After a disruption (its sailing was cancelled, or moved by 30 minutes or more) it costs no
//!   fee. In other cases the refund of a later cancellation is limited to that of a cancellation
//!   now.
//! - The difference of a reseller's booking goes on its account, so nothing waits for a payment.

mod store;

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    model::{BookingRow, BookingStatus, LedgerSegment, SailingContext, StoredPassenger},
    offer,
    prices::{self, FareLine, Goods},
    rules::{self, Actor, Event, RescheduleCause, RescheduleOffer},
    store as bookings,
    store::TransitionDetails,
    transitions::{invalid_transition, is_sold_out},
};
use crate::{
    app::App,
    events::{self, BookingRef, BookingRescheduled, DomainEvent},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
        set_aside::{self, Pass, RowJob},
    },
    ledger::{self, Account},
    lines::{Fare, FarePrice},
    refunds::{self, Refund, RefundKind, RefundStatus},
    resellers,
    sailings::{BookingType, offers},
};

pub use store::{Reschedule, RescheduleStatus, first_price, get};

/// A request to move a booking to another sailing.
pub struct RescheduleRequest<'a> {
    pub booking_id: Uuid,
    pub to: &'a SailingContext,
    pub reason: &'a str,
    pub actor: Actor,
    /// `None`: the booker.
    pub by: Option<Uuid>,
}

/// How a cancellation would be refunded now, which limits the refund of a later one.
pub struct RefundTerms<'a> {
    /// Hours before departure, and percent.
    pub policy: &'a [(u32, u8)],
    /// The departure that they count from.
    pub departure_at: DateTime<Utc>,
}

pub struct RescheduleOutcome {
    pub before: BookingRow,
    /// `None`: it already has this sailing.
    pub reschedule: Option<Reschedule>,
    /// Whether this request changed anything.
    pub is_new: bool,
}

/// The other sailing, if the booking can move there.
pub async fn target(app: &App, booking: &BookingRow, sailing: Uuid) -> Result<SailingContext> {
    let to = bookings::offer(&app.db, sailing).await?.map(|(sailing, _)| sailing);
    let to = to.ok_or_else(offer::unknown_sailing)?;
    let alike = to.partner_id == booking.partner_id
        && to.from_harbour_id == booking.joined.from_harbour_id
        && to.to_harbour_id == booking.joined.to_harbour_id;
    if !alike {
        let message = text(
            "The sailing must be of the same partner and between the same harbours.",
            "Jadwal harus dari mitra dan rute yang sama.",
        );
        return Err(Error::field("route_time_id", "other_route", message));
    }
    Ok(to)
}

/// Moves the booking, or holds seats until the difference is paid.
pub async fn request(
    app: &App,
    tx: &mut Tx,
    request: &RescheduleRequest<'_>,
) -> Result<RescheduleOutcome> {
    request_under(app, tx, request, None).await
}

/// The same by other terms than the service's and the departure of the sailing.
pub async fn request_under(
    app: &App,
    tx: &mut Tx,
    request: &RescheduleRequest<'_>,
    terms: Option<RefundTerms<'_>>,
) -> Result<RescheduleOutcome> {
    let now = app.clock.now();
    bookings::lock_row(tx, request.booking_id).await?;
    let booking = bookings::get_in(tx, request.booking_id).await?.ok_or(Error::NotFound)?;
    let cause = rules::rescheduling(&booking.state(), now)?;
    let is_disrupted = cause == RescheduleCause::Disruption;
    if booking.sailing_id == request.to.sailing_id {
        return Ok(RescheduleOutcome { before: booking, reschedule: None, is_new: false });
    }
    let pending = store::pending(tx, booking.id).await?;
    if let Some(pending) = &pending
        && pending.to_sailing_id == request.to.sailing_id
        && pending.expires_at > now
    {
        return Ok(RescheduleOutcome {
            before: booking,
            reschedule: Some(pending.clone()),
            is_new: false,
        });
    }
    let mut sailings = vec![booking.sailing_id, request.to.sailing_id];
    sailings.extend(pending.as_ref().map(|pending| pending.to_sailing_id));
    store::lock_sailings(tx, sailings).await?;
    if !store::is_unchanged(tx, request.to).await? {
        return Err(Error::Contention("the sailing was changed concurrently".into()));
    }
    if let Some(pending) = &pending {
        store::end(tx, pending.id, RescheduleStatus::Dropped, now).await?;
    }
    offer::ensure_on_sale(app, request.to)?;
    if booking.status != BookingStatus::Paid {
        if !can_void_refund(tx, &booking).await? {
            return Err(refund_sent());
        }
        if !bookings::promotion_is_left(tx, &booking).await? {
            return Err(promotion_exhausted());
        }
    }
    let goods = goods_on(&booking, request.to)?;
    let was = booking.price();
    // Based on the original price of those who travel, so that intermediate reschedules do not change the result.
    let sold = store::first_price(tx, booking.id).await?.unwrap_or_else(|| was.clone());
    let becomes = prices::reprice(&sold, &goods);
    let by_choice = !is_disrupted && request.actor == Actor::Guest;
    let fees = &app.config.reschedule_fee.0;
    let fee = match booking.day_ticket && booking.day() == request.to.day() {
        // A ticket of the day is for all of its sailings.
        true => Rupiah::ZERO,
        false => rules::reschedule_fee(&booking.state(), request.actor, cause, fees, now)?,
    };
    let terms = terms.unwrap_or(RefundTerms {
        policy: &app.config.refund_policy.0,
        departure_at: booking.departure_at,
    });
    let percent = rules::refund_percent(terms.policy, terms.departure_at, now);
    let refund_cap = match (is_disrupted, by_choice) {
        (true, _) => None,
        (_, true) => Some(booking.refund_cap.unwrap_or(percent).min(percent)),
        (_, false) => booking.refund_cap,
    };
    let difference = becomes.total + fee - was.total;
    let pays = difference > Rupiah::ZERO && booking.reseller_id.is_none();
    if pays && app.config.rate_limit.0 {
        let lapsed = store::dropped_since(tx, booking.id, now - TimeDelta::days(1)).await?;
        if lapsed >= MAX_LAPSED_HOLDS {
            return Err(too_many_holds());
        }
    }
    let hold = TimeDelta::seconds(app.config.booking_hold_seconds.into());
    let mut expires_at = (now + hold).min(request.to.departure_at);
    if booking.status == BookingStatus::Paid {
        expires_at = expires_at.min(booking.departure_at);
    }
    let change = prices::change_of_surcharge(&was, &becomes, fee);
    let id = ids::fresh();
    let new = store::NewReschedule {
        id,
        booking: &booking,
        to_sailing_id: request.to.sailing_id,
        departure_at: request.to.departure_at,
        status: if pays { RescheduleStatus::Pending } else { RescheduleStatus::Done },
        seats: goods.seats,
        reason: request.reason,
        requested_by: request.by,
        was: &was,
        becomes: &becomes,
        fee,
        difference,
        surcharge: prices::surcharge_of_move(difference, change),
        refund_cap,
        expires_at,
    };
    store::insert(tx, new, now).await.map_err(|failure| match is_sold_out(&failure) {
        true => offer::sold_out(0),
        false => failure.into(),
    })?;
    let reschedule = store::get_in(tx, id).await?;
    if !pays {
        if booking.reseller_id.is_some() && difference > Rupiah::ZERO {
            store::insert_account_payment(tx, &booking, &reschedule, now).await?;
        }
        complete(tx, &booking, &reschedule, now).await?;
        if let Some(reseller) = booking.reseller_id.filter(|_| difference > Rupiah::ZERO) {
            resellers::ensure_credit(tx, reseller, now).await?;
        }
    }
    Ok(RescheduleOutcome { before: booking, reschedule: Some(reschedule), is_new: true })
}

/// What the booking takes of the other sailing: the same fares, at the prices there. A fare that is no
/// longer sold costs the same share of the sailing's price as before. Nobody gets or loses a seat.
fn goods_on(booking: &BookingRow, to: &SailingContext) -> Result<Goods> {
    let (goods, needed) = match booking.kind {
        BookingType::Charter => (Goods::charter(to.seat_price, to.capacity), booking.qty),
        BookingType::Speedboat => {
            let fares = booking.passengers.iter().map(|passenger| fare_on(booking, passenger, to));
            let mut goods = Goods::passages(to.seat_price, &fares.collect::<Vec<_>>());
            for line in &mut goods.lines {
                line.margin = margin_on(booking, line);
            }
            let seats = goods.seats;
            (goods, seats)
        }
    };
    if needed > to.capacity {
        let message =
            text("The boat does not have that many seats.", "Kapal tidak memuat sebanyak itu.");
        return Err(Error::field("route_time_id", "too_small", message));
    }
    offer::ensure_free(to, &goods)?;
    Ok(goods)
}

fn fare_on(booking: &BookingRow, passenger: &StoredPassenger, to: &SailingContext) -> Fare {
    let key = passenger.fare.clone().unwrap_or_else(|| to.fares[0].key.clone());
    let takes_seat = passenger.takes_seat;
    match to.fares.iter().find(|fare| fare.key == key) {
        Some(fare) => Fare { takes_seat, ..fare.clone() },
        None => {
            let sold = passenger.unit_price.unwrap_or(booking.unit_price);
            let price = FarePrice::Amount(to.seat_price.share(sold, booking.unit_price));
            Fare { key, price, takes_seat, ..to.fares[0].clone() }
        }
    }
}

/// The reseller keeps the same share of the fare.
fn margin_on(booking: &BookingRow, line: &FareLine) -> Option<Rupiah> {
    let sold = booking.fare_lines.iter().find(|sold| sold.fare == line.fare)?;
    match sold.unit_price {
        Rupiah::ZERO => sold.margin,
        whole => sold.margin.map(|margin| line.unit_price.share(margin, whole)),
    }
}

/// The passengers with the prices of their fares on the new sailing.
fn with_prices(passengers: &[StoredPassenger], lines: &[FareLine]) -> Vec<StoredPassenger> {
    let mut passengers = passengers.to_vec();
    for passenger in &mut passengers {
        let line = lines.iter().find(|line| passenger.fare.as_ref() == Some(&line.fare));
        if let Some(line) = line {
            passenger.unit_price = Some(line.unit_price);
            passenger.takes_seat = line.takes_seat;
        }
    }
    passengers
}

/// How many unpaid reschedules of a booking may expire per day: seats must not be held
/// indefinitely.
const MAX_LAPSED_HOLDS: i64 = 3;

fn too_many_holds() -> Error {
    Error::conflict(
        "too_many_holds",
        "Too many unpaid reschedules today.",
        "Terlalu banyak pindah jadwal yang tidak dibayar hari ini.",
    )
}

const PROMOTION_EXHAUSTED: &str = "promotion_exhausted";
const REFUND_SENT: &str = "refund_sent";

fn promotion_exhausted() -> Error {
    Error::conflict(
        PROMOTION_EXHAUSTED,
        "The quota of the promotion is used up.",
        "Kuota promosi pemesanan ini sudah habis.",
    )
}

/// Why a booking cannot be rescheduled now, or what it costs this actor beside the difference. Decides
/// as [`request`] does, before the other sailing is known.
pub async fn offer(
    app: &App,
    booking: &BookingRow,
    actor: Actor,
) -> Result<Result<RescheduleOffer, &'static str>> {
    let fees = &app.config.reschedule_fee.0;
    let offer = match rules::reschedule_offer(&booking.state(), actor, fees, app.clock.now()) {
        Ok(offer) => offer,
        Err(refusal) => return Ok(Err(refusal.word())),
    };
    if booking.status != BookingStatus::Paid {
        if !is_voidable(&refunds::unpaid(&app.db, booking.id).await?) {
            return Ok(Err(REFUND_SENT));
        }
        if store::is_promotion_exhausted(&app.db, booking.promotion_id).await? {
            return Ok(Err(PROMOTION_EXHAUSTED));
        }
    }
    Ok(Ok(offer))
}

/// The reschedule of a booking that waits for its payment.
pub async fn pending(app: &App, booking: Uuid) -> Result<Option<Reschedule>> {
    let pending = store::pending_of(&app.db, booking).await?;
    Ok(pending.filter(|pending| pending.expires_at > app.clock.now()))
}

/// Ends the reschedule whose difference was paid, if it still waits for that. The caller marks the
/// payment as paid and then calls [`complete`]. `None`: the payment needs a review.
pub async fn take_paid(
    tx: &mut Tx,
    booking: &BookingRow,
    reschedule: Uuid,
    now: DateTime<Utc>,
) -> Result<Option<Reschedule>> {
    let reschedule = store::get_in(tx, reschedule).await?;
    let both = vec![reschedule.from_sailing_id, reschedule.to_sailing_id];
    store::lock_sailings(tx, both).await?;
    let waits = reschedule.status == RescheduleStatus::Pending
        && reschedule.from_sailing_id == booking.sailing_id
        && rules::rescheduling(&booking.state(), now).is_ok()
        && store::is_open(tx, reschedule.to_sailing_id, now).await?
        && (booking.status == BookingStatus::Paid
            || can_void_refund(tx, booking).await?
                && bookings::promotion_is_left(tx, booking).await?);
    let taken = waits && store::end(tx, reschedule.id, RescheduleStatus::Done, now).await?;
    Ok(taken.then_some(reschedule))
}

/// Moves the booking to its new sailing, with its money.
pub async fn complete(
    tx: &mut Tx,
    booking: &BookingRow,
    reschedule: &Reschedule,
    now: DateTime<Utc>,
) -> Result<()> {
    let price = reschedule.becomes()?;
    let passengers = with_prices(&booking.passengers, &price.lines);
    let moved = store::move_booking_row(tx, booking, reschedule, &price, passengers, now).await;
    let moved = moved.map_err(refusal)?;
    if !moved {
        return Err(invalid_transition());
    }
    let posting = |kind| booking.ledger_segment_from(reschedule.id).posting(kind);
    if booking.status != BookingStatus::Paid {
        let to = rules::next(booking.status, Event::Reinstate).ok_or_else(invalid_transition)?;
        let details = TransitionDetails::default();
        let advanced = bookings::advance(tx, booking.id, booking.status, to, details, now).await;
        if !advanced.map_err(refusal)? {
            return Err(invalid_transition());
        }
        void_refund(tx, booking).await?;
        let back = posting("reinstated")
            .debit(Account::RefundPayable, booking.total)
            .credit(Account::CustomerDeposits, booking.total);
        ledger::post(tx, back, now).await?;
    }
    let difference = reschedule.difference;
    let fee = prices::fee(&price, reschedule.fee);
    let owed = (-difference).max(Rupiah::ZERO);
    let paid_from = match booking.reseller_id {
        Some(_) => Account::ResellerReceivable,
        None => Account::GatewayClearing,
    };
    let entry = posting("rescheduled")
        .debit(paid_from, difference.max(Rupiah::ZERO))
        .credit(Account::RefundPayable, owed)
        .credit(Account::CustomerDeposits, price.total - booking.total)
        .credit(Account::CommissionRevenue, fee.commission)
        .credit_taxes(fee.by_code());
    ledger::post(tx, entry, now).await?;
    let segment = booking.ledger_segment_from(reschedule.id);
    refunds::create(tx, segment.refund(RefundKind::Difference, owed), now).await?;
    let event = BookingRescheduled { booking_id: booking.id, difference };
    events::emit(tx, DomainEvent::BookingRescheduled(event), now).await
}

/// Whether the refund of a booking whose sailing was cancelled can be exchanged for another
/// sailing: no part of it is paid or on its way. The booking is locked, so that it stays so.
async fn can_void_refund(tx: &mut Tx, booking: &BookingRow) -> Result<bool> {
    Ok(is_voidable(&refunds::unpaid_of(tx, booking.id).await?))
}

fn is_voidable(unpaid: &[Refund]) -> bool {
    let mut owed = unpaid.iter().filter(|refund| is_of_whole(refund));
    owed.all(|refund| {
        refund.unpaid == refund.amount
            && !matches!(refund.status, RefundStatus::Sent | RefundStatus::Paid)
    })
}

/// Whether it refunds the cancelled booking, and not some passengers who were cancelled before.
fn is_of_whole(refund: &Refund) -> bool {
    refund.kind == RefundKind::Cancellation && refund.cancellation_id.is_none()
}

/// The customer takes another sailing instead of the refund.
async fn void_refund(tx: &mut Tx, booking: &BookingRow) -> Result<()> {
    for refund in refunds::unpaid_of(tx, booking.id).await? {
        if is_of_whole(&refund) && !refunds::void(tx, refund.id).await? {
            return Err(refund_sent());
        }
    }
    Ok(())
}

fn refund_sent() -> Error {
    Error::conflict(
        REFUND_SENT,
        "The refund of this booking is already on its way.",
        "Pengembalian dana pemesanan ini sudah dikirim.",
    )
}

/// Gives back the fees of the reschedules of bookings whose sailing was called off.
pub async fn return_fees(tx: &mut Tx, moved: &[LedgerSegment], now: DateTime<Utc>) -> Result<()> {
    for segment in moved {
        for (id, fee, price) in store::unreturned_fees(tx, segment.id).await? {
            let shares = prices::fee(&price, fee);
            let segment = LedgerSegment { reschedule_id: Some(id), ..*segment };
            let posting = segment
                .posting("fee_returned")
                .debit(Account::CommissionRevenue, shares.commission)
                .credit_taxes(shares.by_code().map(|(code, amount)| (code, -amount)))
                .credit(Account::RefundPayable, fee);
            ledger::post(tx, posting, now).await?;
            refunds::create(tx, segment.refund(RefundKind::Difference, fee), now).await?;
        }
    }
    Ok(())
}

fn refusal(failure: crate::kernel::db::Failure) -> Error {
    match failure {
        f if f.names("promotions_quota") => promotion_exhausted(),
        f if is_sold_out(&f) => offer::sold_out(0),
        f => f.into(),
    }
}

fn dropped_event(booking_id: Uuid) -> DomainEvent {
    DomainEvent::BookingMoveDropped(BookingRef { booking_id })
}

/// Drops the pending reschedule of a booking whose passengers change. The caller has locked its row.
pub async fn drop_pending(tx: &mut Tx, booking: &BookingRow, now: DateTime<Utc>) -> Result<()> {
    let Some(pending) = store::pending(tx, booking.id).await? else { return Ok(()) };
    store::lock_sailings(tx, vec![booking.sailing_id, pending.to_sailing_id]).await?;
    if store::end(tx, pending.id, RescheduleStatus::Dropped, now).await? {
        events::emit(tx, dropped_event(booking.id), now).await?;
    }
    Ok(())
}

/// Drops all pending reschedules to a sailing that closes.
pub async fn drop_for_sailing(tx: &mut Tx, sailing: Uuid, now: DateTime<Utc>) -> Result<()> {
    let dropped = store::drop_for_sailing(tx, sailing).await?;
    events::emit_all(tx, dropped.into_iter().map(|(booking,)| dropped_event(booking)), now).await
}

/// Drops a batch of reschedules that were not paid in time, each in its own transaction, and
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
    events::emit(&mut tx, dropped_event(booking_id), now).await?;
    let line = offers::line_tag_of_booking(&mut tx, booking_id).await?;
    let _invalidation = app.response_cache.invalidate_on_drop([line]);
    tx.commit().await?;
    Ok(true)
}
