//! Looking bookings up, trying a code, cancelling.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use super::{
    forms::{BookingsQuery, CancelForm, Knows, ValidatePromo, reason_without_url},
    lookup::{BookingAccess, booking_for, readable, shown},
    model::{BookingRow, BookingStatus},
    moves::{self, move_booking},
    rules::{self, Event},
    sale,
    store::{self, Trace},
    view::{Booking, PromoVerdict},
};
use crate::{
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        db::Tx,
        error::{Error, Fault, Result},
        http::{
            Body, Filters, Fingerprinted, IdempotencyKey, Once, Page, Path, Query, Reply, once,
        },
        idempotency::{Key, Owner, Running},
        ids::Uuid,
        lang::text,
        money::Rupiah,
    },
};

/// Admins and `bookings.read` see all, a partner its own, a guest the one it knows of.
pub async fn list_bookings(
    State(app): State<App>,
    caller: Option<Caller>,
    Filters(query): Filters<BookingsQuery>,
) -> Result<Page<Booking>> {
    let owner = match &caller {
        Some(caller) => caller.own_or(query.mitra_id)?,
        None => {
            both_known(&query)?;
            None
        }
    };
    let readable = readable(caller.as_ref());
    let page = store::list(&app.db, owner, &query, app.config.timezone).await?;
    page.try_each(|row| shown(&app, row, readable))
}

fn both_known(query: &BookingsQuery) -> Result<()> {
    let fault = |name: &str| {
        Fault::new(
            name,
            "required",
            text("State the booking: code and email.", "Sebutkan kode dan email pemesanan."),
        )
    };
    let code = query.code.as_deref().is_none_or(|code| code.trim().is_empty());
    let missing = [("code", code), ("email", query.email.is_none())];
    let faults: Vec<_> = missing.iter().filter(|m| m.1).map(|m| fault(m.0)).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

/// The booking of the path. Whoever has signed in is told at once when it is not theirs to deal
/// with; a guest shows in the body that they know it.
pub struct PathOwnBooking(pub Uuid);

impl FromRequestParts<App> for PathOwnBooking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        if let Some(caller) = parts.extensions.get::<Caller>() {
            booking_for(app, Some(caller), id, &Knows::default()).await?;
        }
        Ok(Self(id))
    }
}

impl aide::OperationInput for PathOwnBooking {}

/// The booking of the path, for whoever may look at it.
pub struct PathBooking(pub BookingRow, pub bool);

impl FromRequestParts<App> for PathBooking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = parts.extensions.get::<Caller>().cloned();
        let knows = match Query::<Knows>::from_request_parts(parts, app).await {
            Ok(Query(knows)) => knows,
            // To a guest who does not know it, it does not exist, however they ask.
            Err(_) if caller.is_none() => Knows::default(),
            Err(fault) => return Err(fault),
        };
        let (row, _) = booking_for(app, caller.as_ref(), id, &knows).await?;
        Ok(Self(row, readable(caller.as_ref())))
    }
}

impl aide::OperationInput for PathBooking {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        Query::<Knows>::operation_input(ctx, operation);
    }
}

pub async fn get_booking(
    State(app): State<App>,
    PathBooking(row, readable): PathBooking,
) -> Result<Reply<Booking>> {
    Ok(Reply::data(shown(&app, row, readable)?))
}

/// Says whether a code can be used, and what it makes of the price. It reserves nothing.
pub async fn validate_promo(
    State(app): State<App>,
    Body(form): Body<ValidatePromo>,
) -> Result<Reply<PromoVerdict>> {
    let email = form.email.as_ref().map(|email| email.as_str());
    let (sailing, taxes) = sale::look(&app, form.route_time_id, form.item_id).await?;
    let seats = match form.kind {
        crate::sailings::BookingType::Speedboat => form.qty,
        crate::sailings::BookingType::Charter => sailing.capacity,
    };
    let full = sale::price(&sailing, seats, None, &taxes);
    let found = sale::promotion(&app, &form.code_promo, &sailing, &full, email).await?;
    Ok(Reply::data(match found {
        Ok(promotion) => {
            let price = sale::price(&sailing, seats, Some(&promotion), &taxes);
            let discount = Some(price.discount);
            let price = Some(price.into());
            PromoVerdict { valid: true, reason: None, discount, price }
        }
        Err(reason) => {
            PromoVerdict { valid: false, reason: Some(reason), discount: None, price: None }
        }
    }))
}

/// By its booker: refunded by the policy. By partner or staff: in full. Staff can still do so after
/// the journey, for a complaint.
pub async fn cancel_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    PathOwnBooking(id): PathOwnBooking,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<CancelForm>,
) -> Result<Reply<Once<Booking>>> {
    let (_, access) = booking_for(&app, caller.as_ref(), id, &form.knows).await?;
    if access == BookingAccess::Booker {
        reason_without_url(&form.reason)?;
    }
    let key = key.map(|key| Key {
        caller: Owner::of(caller.as_ref(), form.knows.email.as_ref()),
        operation: "cancel_booking",
        key,
        path: format!("/v1/booking/{id}/cancel"),
        body,
    });
    let cancelled = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        cancel_once(&app, caller.as_ref(), id, access, &form.reason, running).await
    });
    Ok(cancelled.await?.saying("The booking has been cancelled.", "Pemesanan telah dibatalkan."))
}

async fn cancel_once(
    app: &App,
    caller: Option<&Caller>,
    id: Uuid,
    access: BookingAccess,
    reason: &str,
    running: Option<&Running>,
) -> Result<Booking> {
    let readable = readable(caller);
    let Some(caller) = caller else {
        let mut tx = app.db.begin().await?;
        cancel(app, &mut tx, id, access, reason).await?;
        let after = store::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
        let answer = kept(app, &mut tx, after, readable, running).await?;
        tx.commit().await?;
        return Ok(answer);
    };
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    let before = cancel(app, &mut tx, id, access, reason).await?;
    let after = store::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "booking.cancelled",
        entity: "booking",
        id,
        before: Some(&shown(app, before, false)?),
        after: Some(&shown(app, after.clone(), false)?),
    })
    .await?;
    let answer = kept(app, &mut tx, after, readable, running).await?;
    tx.commit().await?;
    Ok(answer)
}

/// The answer, kept where a key asks for it. It may hold identity numbers.
async fn kept(
    app: &App,
    tx: &mut Tx,
    after: BookingRow,
    readable: bool,
    running: Option<&Running>,
) -> Result<Booking> {
    let answer = shown(app, after, readable)?;
    if let Some(running) = running {
        running.keep_sealed(tx, &app.sealer, &answer).await?;
    }
    Ok(answer)
}

/// Returns the booking as it was.
async fn cancel(
    app: &App,
    tx: &mut Tx,
    id: Uuid,
    access: BookingAccess,
    reason: &str,
) -> Result<BookingRow> {
    let now = app.clock.now();
    store::hold(tx, id).await?;
    let booking = store::get_in(tx, id).await?.ok_or(Error::NotFound)?;
    let due = match (booking.status, access) {
        (BookingStatus::PendingPayment, _) => Rupiah::ZERO,
        (BookingStatus::Paid, BookingAccess::Booker) if booking.departure_at <= now => {
            return Err(moves::not_now());
        }
        (BookingStatus::Paid, BookingAccess::Booker) => {
            moves::still_ashore(&booking, now)?;
            let policy = &app.config.refund_policy.0;
            match rules::is_disrupted(booking.promised_at, booking.departure_at) {
                true => booking.total,
                false => {
                    let percent = rules::refund_percent(policy, booking.departure_at, now);
                    let percent = booking.refund_cap.unwrap_or(percent).min(percent);
                    rules::percent_of(booking.total, percent)
                }
            }
        }
        (BookingStatus::Paid, _) => booking.total,
        // A complaint: the platform's people make it good, in full.
        (BookingStatus::Completed, BookingAccess::Staff) => booking.total,
        _ => return Err(moves::not_now()),
    };
    let event = if due > Rupiah::ZERO { Event::CancelOwing } else { Event::Cancel };
    let trace = Trace {
        cancel_reason: Some(reason),
        // A guest could write to anybody by way of us.
        tells_reason: access != BookingAccess::Booker,
        cancelled: true,
        refund_amount: (due > Rupiah::ZERO).then_some(due.0),
        ..Trace::default()
    };
    move_booking(tx, &booking, event, trace, now).await?;
    match booking.status {
        BookingStatus::Paid => moves::owe(tx, &booking, due, now).await?,
        BookingStatus::Completed => moves::take_back(tx, &booking, now).await?,
        _ => {}
    }
    Ok(booking)
}
