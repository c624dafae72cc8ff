//! Selling: one statement takes the seats and the promotion and inserts the booking, or fails.

use chrono::TimeDelta;
use serde_json::json;

use super::{
    fares,
    forms::BookingForm,
    lookup::to_response,
    model::{
        BookingRow, BookingStatus, Channel, CountedHold, NewBooking, SailingContext,
        StoredPassenger,
    },
    offer::{self, Buyer, Quoted},
    prices::Price,
    store,
};
use crate::{
    app::App,
    events::{self, BookingRef, DomainEvent},
    kernel::{
        access::Role,
        audit::Change,
        caller::{Caller, Context, network_text},
        db::{Failure, Statement, Tx},
        error::{Error, Result},
        idempotency::Running,
        ids::{self, Uuid},
        money::Rupiah,
    },
    lines::Fare,
    promotions::{Promotion, Reason},
    sailings::{BookingType, offers},
};

/// The maximum hold of an unpaid charter by a guest, since it takes a whole boat off sale.
const CHARTER_HOLD: TimeDelta = TimeDelta::minutes(10);

pub async fn sell(
    app: &App,
    caller: Option<&Caller>,
    context: &Context,
    form: &BookingForm,
    key: Option<&Running>,
) -> Result<BookingRow> {
    let channel = channel(caller)?;
    let email = form.contact.email.as_str();
    let (sailing, taxes) = offer::load(app, form.route_time_id, form.item_id).await?;
    if caller.is_some_and(|c| c.role == Role::Mitra && c.partner_id != Some(sailing.partner_id)) {
        return Err(offer::unknown_sailing());
    }
    offer::ensure_on_sale(app, &sailing)?;
    let (goods, fares) = offer::goods(&sailing, form.kind, &form.fares())?;
    fares::ensure_entitled(&fares, &form.passengers, sailing.day())?;
    offer::ensure_free(&sailing, &goods)?;
    let buyer = Buyer { code_promo: form.promo(), email: Some(email), channel };
    let Quoted { price, promotion } = offer::quote(app, &sailing, &taxes, &goods, &buyer).await?;
    let promotion = promotion.transpose().map_err(offer::promotion_refused)?;
    let order = Order { channel, seats: goods.seats, fares, promotion, price };
    let booking = new_booking(app, context, form, &sailing, order)?;
    let (from, to) = (sailing.from_harbour_id, sailing.to_harbour_id);
    let trip = offers::trip_tag(from, to, sailing.departure_at, sailing.timezone);
    let _invalidation = app.response_cache.invalidate_on_drop([trip]);
    match insert(app, caller, &booking, &sailing, key).await {
        Err(Error::Conflict(c)) if c.word == "sold_out" => {
            return Err(sold_out_now(app, sailing.sailing_id).await);
        }
        done => done?,
    }
    Ok(booking.into_row(&sailing))
}

/// 403 for crew, which does not sell, and for resellers, which sell through OCTO.
fn channel(caller: Option<&Caller>) -> Result<Channel> {
    match caller.map(|caller| caller.role) {
        None => Ok(Channel::Web),
        Some(Role::Mitra) => Ok(Channel::Mitra),
        Some(Role::Admin | Role::Staff) => Ok(Channel::Staff),
        Some(Role::Crew | Role::Reseller) => Err(Error::Forbidden),
    }
}

/// Unpaid bookings are limited for guests only; staff and partners are accountable.
fn counted_hold(
    app: &App,
    context: &Context,
    form: &BookingForm,
    channel: Channel,
) -> Option<CountedHold> {
    let limited = app.config.rate_limit.0 && channel == Channel::Web;
    limited.then(|| CountedHold {
        email: form.contact.email.as_str().to_owned(),
        network: network_text(context.address),
    })
}

fn hold_duration(app: &App, channel: Channel, kind: BookingType) -> TimeDelta {
    let hold = TimeDelta::seconds(app.config.booking_hold_seconds.into());
    match (channel, kind) {
        (Channel::Web, BookingType::Charter) => hold.min(CHARTER_HOLD),
        _ => hold,
    }
}

/// What is sold, and for how much.
struct Order {
    channel: Channel,
    seats: i32,
    /// Of each passenger; empty for a charter.
    fares: Vec<Fare>,
    promotion: Option<Promotion>,
    price: Price,
}

/// The booking to insert.
fn new_booking(
    app: &App,
    context: &Context,
    form: &BookingForm,
    sailing: &SailingContext,
    order: Order,
) -> Result<NewBooking> {
    let Order { channel, seats, fares, promotion, price } = order;
    let now = app.clock.now();
    // A booking without a price is paid.
    let free = price.total == Rupiah::ZERO;
    let hold = hold_duration(app, channel, form.kind);
    Ok(NewBooking {
        id: ids::fresh(),
        code: ids::fresh_code("DMG"),
        kind: form.kind,
        status: if free { BookingStatus::Paid } else { BookingStatus::PendingPayment },
        channel,
        sailing_id: sailing.sailing_id,
        speedboat_id: sailing.speedboat_id,
        partner_id: sailing.partner_id,
        departure_at: sailing.departure_at,
        arrival_at: sailing.arrival_at,
        qty: form.qty,
        seats,
        promotion_id: promotion.as_ref().map(|promotion| promotion.id),
        code_promo: promotion.map(|promotion| promotion.code),
        note: form.note.as_ref().map(|note| note.to_string()).unwrap_or_default(),
        contact_name: form.contact.name.to_string(),
        contact_email: form.contact.email.as_str().to_owned(),
        contact_phone: form.contact.phone.as_str().to_owned(),
        lang: context.lang,
        passengers: passengers(app, form, &fares, sailing.seat_price)?,
        accepted_terms: form.accept_terms.unwrap_or(false),
        price,
        provider: (!free).then(|| app.gateway().provider.as_str()),
        // Not beyond departure.
        expires_at: (now + hold).min(sailing.departure_at),
        paid_at: free.then_some(now),
        created_at: now,
        counted: if free { None } else { counted_hold(app, context, form, channel) },
        resold: None,
    })
}

fn passengers(
    app: &App,
    form: &BookingForm,
    fares: &[Fare],
    seat_price: Rupiah,
) -> Result<Vec<StoredPassenger>> {
    let mut passengers = Vec::with_capacity(form.passengers.len());
    for (index, passenger) in form.passengers.iter().enumerate() {
        let fare = fares.get(index);
        let number = passenger.identity_number.as_deref();
        passengers.push(StoredPassenger {
            id: ids::fresh(),
            name: passenger.name.to_string(),
            identity_type: passenger.identity_type,
            identity_number: number.map(|number| app.sealer.seal(number)).transpose()?,
            gender: passenger.gender,
            birth_date: passenger.birth_date,
            nationality: passenger.nationality.as_ref().map(|n| n.to_string()),
            fare: fare.map(|fare| fare.key.clone()),
            unit_price: fare.map(|fare| fare.of(seat_price)),
            takes_seat: fare.is_none_or(|fare| fare.takes_seat),
            place: None,
            resold: None,
        });
    }
    Ok(passengers)
}

/// As a single statement if nothing else has to be written, otherwise in one transaction with the
/// rest.
async fn insert(
    app: &App,
    caller: Option<&Caller>,
    booking: &NewBooking,
    sailing: &SailingContext,
    key: Option<&Running>,
) -> Result<()> {
    let audited = caller.filter(|caller| caller.is_audited());
    if let Some(caller) = audited {
        let mut tx = caller.begin(&app.db, booking.created_at).await?;
        insert_in(&mut tx, booking, key).await?;
        let after = to_response(app, booking.clone().into_row(sailing), false)?;
        tx.record(Change {
            action: "booking.created",
            entity: "booking",
            id: booking.id,
            before: None,
            after: Some(&after),
        })
        .await?;
        return tx.commit().await;
    }
    if key.is_none() && booking.status == BookingStatus::PendingPayment {
        insert_row(app.db.sql(store::INSERT_BOOKING), booking).await?;
        app.db.notify_outbox();
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    insert_in(&mut tx, booking, key).await?;
    Ok(tx.commit().await?)
}

async fn insert_in(tx: &mut Tx, booking: &NewBooking, key: Option<&Running>) -> Result<()> {
    insert_row(tx.sql(store::INSERT_BOOKING), booking).await?;
    if booking.status == BookingStatus::Paid {
        let event = DomainEvent::BookingPaid(BookingRef { booking_id: booking.id });
        events::emit(tx, event, booking.created_at).await?;
    }
    match key {
        // The stored result of the sale; the answer follows once the payment page is known.
        Some(key) => key.keep(tx, &json!({ "booking_id": booking.id })).await,
        None => Ok(()),
    }
}

async fn insert_row(statement: Statement<'_>, booking: &NewBooking) -> Result<()> {
    store::bind_new(statement, booking).run().await.map(drop).map_err(refusal)
}

/// Translates a failure of the database into an error for the caller.
fn refusal(failure: Failure) -> Error {
    match failure {
        f if f.names("sailings_seats") => offer::sold_out(0),
        f if f.names("sailings_moved") => {
            Error::Contention("the sailing was moved concurrently".into())
        }
        f if f.names("promotions_quota") => offer::promotion_refused(Reason::Exhausted),
        f if f.names("promotion_uses_limit") => offer::promotion_refused(Reason::LimitReached),
        f if f.names("unpaid_holds_email") || f.names("unpaid_holds_network") => too_many_holds(
            "You have too many unpaid bookings. Please pay for them first.",
            "Terlalu banyak pemesanan belum dibayar. Mohon bayar terlebih dahulu.",
        ),
        f if f.names("unpaid_holds_charter") => too_many_holds(
            "You have too many unpaid charters. Please pay for them first.",
            "Terlalu banyak sewa kapal belum dibayar. Mohon bayar terlebih dahulu.",
        ),
        f if f.is_unique() => Error::Contention("the booking code exists already".into()),
        f => f.into(),
    }
}

fn too_many_holds(en: &'static str, id: &'static str) -> Error {
    Error::conflict("too_many_holds", en, id)
}

/// Sold out: the error names the seats that are left.
async fn sold_out_now(app: &App, sailing: Uuid) -> Error {
    match store::offer(&app.db, sailing).await {
        Ok(Some((now, _))) => match offer::ensure_on_sale(app, &now) {
            Ok(()) => offer::sold_out(offer::free_seats(&now)),
            Err(closed) => closed,
        },
        Ok(None) => offer::unknown_sailing(),
        Err(error) => error,
    }
}
