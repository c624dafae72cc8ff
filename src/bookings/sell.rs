//! Selling: one statement takes the seats, the promotion and makes the booking, or nothing.

use chrono::TimeDelta;
use serde_json::json;
use sqlx::types::Json;

use super::{
    forms::BookingForm,
    lookup::shown,
    model::{BookingRow, BookingStatus, Channel, SailingContext, StoredPassenger},
    rules::Price,
    sale,
    store::{self, Counted},
};
use crate::{
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::{Caller, Context, network},
        db::{Failure, Statement, Tx},
        error::{Error, Result},
        idempotency::Running,
        ids::{self, Uuid},
        money::Rupiah,
        outbox,
    },
    promotions::{Promotion, Reason},
    sailings::BookingType,
};

/// How long a guest's unpaid charter is held at most: it takes a whole boat off sale.
const CHARTER_HOLD: TimeDelta = TimeDelta::minutes(10);

pub async fn sell(
    app: &App,
    caller: Option<&Caller>,
    context: &Context,
    form: &BookingForm,
    key: Option<&Running>,
) -> Result<BookingRow> {
    let channel = channel(caller);
    let email = form.contact.email.as_str();
    let (sailing, taxes) = sale::look(app, form.route_time_id, form.item_id).await?;
    if caller.is_some_and(|c| c.role == Role::Mitra && c.partner_id != Some(sailing.partner_id)) {
        return Err(sale::unknown_sailing());
    }
    sale::on_sale(app, &sailing)?;
    let seats = sale::seats(&sailing, form.kind, form.qty)?;
    let full = sale::price(&sailing, seats, None, &taxes);
    let promotion = match form.promo() {
        Some(code) => {
            let found = sale::promotion(app, code, &sailing, &full, Some(email)).await?;
            Some(found.map_err(sale::refused)?)
        }
        None => None,
    };
    let price = match &promotion {
        Some(_) => sale::price(&sailing, seats, promotion.as_ref(), &taxes),
        None => full,
    };
    let booking = row(app, context, form, channel, seats, &sailing, promotion.as_ref(), price)?;
    let counted = counted(app, context, &booking);
    let _until = app.shared.until_sold(booking.sailing_id);
    match insert(app, caller, &booking, counted.as_ref(), key).await {
        Err(Error::Conflict(c)) if c.word == "sold_out" => {
            return Err(left(app, sailing.sailing_id).await);
        }
        done => done?,
    }
    Ok(booking)
}

fn channel(caller: Option<&Caller>) -> Channel {
    match caller.map(|caller| caller.role) {
        None => Channel::Web,
        Some(Role::Mitra) => Channel::Mitra,
        Some(Role::Admin | Role::Staff) => Channel::Staff,
    }
}

/// Unpaid bookings of guests are limited; staff and partners are known, so theirs are not.
fn counted(app: &App, context: &Context, booking: &BookingRow) -> Option<Counted> {
    let limited = app.config.rate_limit.0
        && booking.channel == Channel::Web
        && booking.status == BookingStatus::PendingPayment;
    limited.then(|| Counted {
        email: booking.contact_email.clone(),
        network: network(context.address).to_string(),
    })
}

fn hold(app: &App, channel: Channel, kind: BookingType) -> TimeDelta {
    let hold = TimeDelta::seconds(app.config.booking_hold_seconds.into());
    match (channel, kind) {
        (Channel::Web, BookingType::Charter) => hold.min(CHARTER_HOLD),
        _ => hold,
    }
}

/// The booking as it is about to be.
#[allow(clippy::too_many_arguments)]
fn row(
    app: &App,
    context: &Context,
    form: &BookingForm,
    channel: Channel,
    seats: i32,
    sailing: &SailingContext,
    promotion: Option<&Promotion>,
    price: Price,
) -> Result<BookingRow> {
    let now = app.clock.now();
    // What costs nothing is paid for.
    let free = price.total == Rupiah::ZERO;
    let hold = hold(app, channel, form.kind);
    let code = ids::fresh_code("DMG");
    let provider = (!free).then(|| app.gateway.provider.to_string());
    Ok(BookingRow {
        id: ids::fresh(),
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
        promotion_id: promotion.map(|promotion| promotion.id),
        code_promo: promotion.map(|promotion| promotion.code.clone()),
        note: form.note.as_ref().map(|note| note.to_string()).unwrap_or_default(),
        contact_name: form.contact.name.to_string(),
        contact_email: form.contact.email.as_str().to_owned(),
        contact_phone: form.contact.phone.as_str().to_owned(),
        lang: context.lang,
        passengers: Json(passengers(app, form)?),
        boarded: Json::default(),
        accepted_terms: form.accept_terms.unwrap_or(false),
        // The statement that makes it finds the version.
        accepted_terms_id: None,
        unit_price: price.unit_price,
        subtotal: price.subtotal,
        discount: price.discount,
        taxes: Json(price.taxes),
        tax: price.tax,
        total: price.total,
        commission_rate: price.commission_rate,
        commission: price.commission,
        commission_tax: price.commission_tax,
        partner_net: price.partner_net,
        // Never beyond departure: an unpaid seat does not sail.
        expires_at: (now + hold).min(sailing.departure_at),
        promised_at: None,
        paid_at: free.then_some(now),
        cancelled_at: None,
        cancel_reason: None,
        refund_amount: None,
        reschedule_id: None,
        refund_cap: None,
        owed: Rupiah::ZERO,
        created_at: now,
        called_off: false,
        manifest_closed_at: None,
        sailing_reason: None,
        from_name: sailing.from_name.clone(),
        to_name: sailing.to_name.clone(),
        timezone: sailing.timezone,
        speedboat_name: sailing.speedboat_name.clone(),
        partner_name: sailing.partner_name.clone(),
        payment_reference: provider.is_some().then(|| format!("{code}-1")),
        payment_status: provider.is_some().then(|| "pending".into()),
        payment_provider: provider,
        code,
        payment_method: None,
        payment_redirect_url: None,
        payment_paid_at: None,
    })
}

fn passengers(app: &App, form: &BookingForm) -> Result<Vec<StoredPassenger>> {
    let mut passengers = Vec::with_capacity(form.passengers.len());
    for passenger in &form.passengers {
        let number = passenger.identity_number.as_deref();
        passengers.push(StoredPassenger {
            id: ids::fresh(),
            name: passenger.name.to_string(),
            identity_type: passenger.identity_type,
            identity_number: number.map(|number| app.sealer.seal(number)).transpose()?,
            gender: passenger.gender,
            birth_date: passenger.birth_date,
            nationality: passenger.nationality.as_ref().map(|n| n.to_string()),
        });
    }
    Ok(passengers)
}

/// Alone where nothing has to be written beside it; else in one transaction with that.
async fn insert(
    app: &App,
    caller: Option<&Caller>,
    booking: &BookingRow,
    counted: Option<&Counted>,
    key: Option<&Running>,
) -> Result<()> {
    let audited = caller.filter(|c| c.role != Role::Mitra || c.impersonator.is_some());
    if let Some(caller) = audited {
        let mut tx = caller.begin(&app.db, booking.created_at).await?;
        insert_beside(&mut tx, booking, counted, key).await?;
        let after = shown(app, booking.clone(), false)?;
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
        run(app.db.sql(store::SELL), booking, counted).await?;
        app.db.has_posted();
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    insert_beside(&mut tx, booking, counted, key).await?;
    Ok(tx.commit().await?)
}

async fn insert_beside(
    tx: &mut Tx,
    booking: &BookingRow,
    counted: Option<&Counted>,
    key: Option<&Running>,
) -> Result<()> {
    run(tx.sql(store::SELL), booking, counted).await?;
    if booking.status == BookingStatus::Paid {
        let news = json!({ "booking_id": booking.id });
        outbox::put_about(tx, booking.id, "booking.paid", &news, booking.created_at).await?;
    }
    match key {
        // What it was sold as; the answer itself follows once it is known where to pay.
        Some(key) => key.keep(tx, &json!({ "booking_id": booking.id })).await,
        None => Ok(()),
    }
}

async fn run(
    statement: Statement<'_>,
    booking: &BookingRow,
    counted: Option<&Counted>,
) -> Result<()> {
    store::bound(statement, booking, counted).run().await.map(drop).map_err(refusal)
}

/// What the database would not allow, in the words of the caller.
fn refusal(failure: Failure) -> Error {
    match failure {
        f if f.names("sailings_seats") => sale::sold_out(0),
        f if f.names("sailings_moved") => {
            Error::Contention("the sailing was moved concurrently".into())
        }
        f if f.names("promotions_quota") => sale::refused(Reason::Exhausted),
        f if f.names("promotion_uses_limit") => sale::refused(Reason::LimitReached),
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

/// Somebody was faster: what is left now?
async fn left(app: &App, sailing: Uuid) -> Error {
    match store::look(&app.db, sailing).await {
        Ok(Some((now, _))) => match sale::on_sale(app, &now) {
            Ok(()) => sale::sold_out(sale::free(&now)),
            Err(closed) => closed,
        },
        Ok(None) => sale::unknown_sailing(),
        Err(error) => error,
    }
}
