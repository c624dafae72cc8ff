//! Lookup and cancellation of bookings, and validation of promotion codes.

mod corrections;
mod create;
mod csv;
mod find;
mod quote;
mod refund_account;

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use chrono::{DateTime, Utc};

use super::{
    forms::{BookingsQuery, CancelForm, GuestCredentials, ValidatePromo, reason_without_url},
    guest_view::guest_view,
    lookup::{FEW_TICKETS, Readable, booking_for, ensure_same_contact, to_answer, to_response},
    model::BookingRow,
    offer::{self, Buyer, Quoted},
    partial::{self, PassengersRequest},
    prices::Goods,
    rules::{self, Actor, CancelRequest},
    store,
    transitions::{self, Cancellation, invalid_transition},
    view::{Booking, PromoVerdict},
};
use crate::{
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::Caller,
        db::Tx,
        error::{Error, Fault, Result},
        http::{
            Body, CacheTag, FileOr, Filters, Fingerprinted, IdempotencyKey, ListFormat, Once, Page,
            PageOrCsv, Path, Query, Rendered, Reply, once,
        },
        idempotency::{Key, Owner, Running},
        ids::Uuid,
        lang::text,
    },
    sailings::{BookingType, offers},
};

pub use corrections::{correct_contact, correct_passengers};
pub use create::{OpensPayment, create_booking};
pub use find::find_bookings;
pub use quote::quote_booking;
pub use refund_account::set_refund_account;

/// Admins and `bookings.read` see all, a partner its own, a guest the one whose credentials are
/// given.
pub async fn list_bookings(
    State(app): State<App>,
    caller: Option<Caller>,
    Filters(mut query): Filters<BookingsQuery>,
) -> Result<PageOrCsv<Booking>> {
    let owner = match &caller {
        Some(caller) => {
            query.is_at_retail = caller.role == Role::Mitra;
            caller.partner_filter(query.mitra_id)?
        }
        None => {
            ensure_code_and_email(&query)?;
            // As for one booking: a reseller's is not its traveller's.
            query.is_of_guest = true;
            None
        }
    };
    let (readable, zone) = (Readable::by(caller.as_ref()), app.config.timezone);
    if query.format == Some(ListFormat::Csv) {
        let db = caller.map_or_else(|| app.db.clone(), |caller| caller.on_replica(&app.db));
        let ids = store::list_ids(&db, owner, &query, zone).await?;
        return csv::file(db, ids, readable);
    }
    let page = store::list(&app.db, owner, &query, zone).await?;
    Ok(FileOr::Json(shown(app, page, readable).await?))
}

/// Tickets are signed on a blocking thread where there are many.
async fn shown(app: App, page: Page<BookingRow>, readable: Readable) -> Result<Page<Booking>> {
    let passengers: usize = page.items().iter().map(|row| row.passengers.len()).sum();
    let show = move || page.try_each(|row| to_response(&app, row, readable));
    match passengers <= FEW_TICKETS {
        true => show(),
        false => tokio::task::spawn_blocking(show).await.map_err(Error::internal).flatten(),
    }
}

fn ensure_code_and_email(query: &BookingsQuery) -> Result<()> {
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

/// The booking of the path, to be changed. A signed-in caller is refused at once if it belongs to
/// others. The credentials of a guest are in the body, so a guest is checked by
/// [`Self::authorize`].
pub struct PathOwnBooking {
    pub id: Uuid,
    /// The row that a signed-in caller was authorized with.
    loaded: Option<(BookingRow, Actor)>,
}

impl PathOwnBooking {
    /// The booking and the role in which the caller acts on it; 404 for a guest with wrong
    /// credentials.
    pub async fn authorize(
        self,
        app: &App,
        credentials: &GuestCredentials,
    ) -> Result<(BookingRow, Actor)> {
        match self.loaded {
            Some(loaded) => Ok(loaded),
            None => booking_for(app, None, self.id, credentials).await,
        }
    }
}

impl FromRequestParts<App> for PathOwnBooking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let credentials = GuestCredentials::default();
        let loaded = match parts.extensions.get::<Caller>() {
            Some(caller) => Some(booking_for(app, Some(caller), id, &credentials).await?),
            None => None,
        };
        Ok(Self { id, loaded })
    }
}

impl aide::OperationInput for PathOwnBooking {}

/// The booking of the path, for callers that may read it.
pub struct PathBooking(pub BookingRow, pub Readable);

impl FromRequestParts<App> for PathBooking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let LookupRequest { id, caller, credentials } =
            LookupRequest::from_request_parts(parts, app).await?;
        let (row, _) = booking_for(app, caller.as_ref(), id, &credentials).await?;
        Ok(Self(row, Readable::by(caller.as_ref())))
    }
}

impl aide::OperationInput for PathBooking {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        LookupRequest::operation_input(ctx, operation);
    }
}

/// The booking of the path, and who asks for it.
pub struct LookupRequest {
    id: Uuid,
    caller: Option<Caller>,
    credentials: GuestCredentials,
}

impl FromRequestParts<App> for LookupRequest {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = parts.extensions.get::<Caller>().cloned();
        let credentials = match Query::<GuestCredentials>::from_request_parts(parts, app).await {
            Ok(Query(credentials)) => credentials,
            // Malformed credentials of a guest get the same 404 as wrong ones.
            Err(_) if caller.is_none() => GuestCredentials::default(),
            Err(fault) => return Err(fault),
        };
        Ok(Self { id, caller, credentials })
    }
}

impl aide::OperationInput for LookupRequest {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        Query::<GuestCredentials>::operation_input(ctx, operation);
    }
}

pub async fn get_booking(
    State(app): State<App>,
    LookupRequest { id, caller, credentials }: LookupRequest,
) -> Result<Reply<Rendered<Booking>>> {
    if caller.is_none() {
        return Ok(Reply::data(guest_view(&app, id, &credentials).await?));
    }
    // Boxed: the future of a guest's lookup is moved several times.
    let booking = Box::pin(async {
        let (row, _) = booking_for(&app, caller.as_ref(), id, &credentials).await?;
        to_answer(&app, row, Readable::by(caller.as_ref())).await
    });
    Ok(Reply::data(Rendered::new(&booking.await?)?))
}

/// Whether a code can be used, and the price with it. It reserves nothing.
pub async fn validate_promo(
    State(app): State<App>,
    caller: Option<Caller>,
    Body(form): Body<ValidatePromo>,
) -> Result<Reply<PromoVerdict>> {
    let channel = offer::channel_of(caller.as_ref());
    let email = form.email.as_ref().map(|email| email.as_str());
    let (sailing, taxes) = offer::load(&app, form.route_time_id, form.item_id).await?;
    let goods = match form.kind {
        BookingType::Speedboat => {
            let everybody = (0..form.qty).filter_map(|_| sailing.fares.first());
            Goods::passages(sailing.seat_price, everybody)
        }
        BookingType::Charter => Goods::charter(sailing.seat_price, sailing.capacity),
    };
    let buyer = Buyer { code_promo: Some(&form.code_promo), email, channel };
    let Quoted { price, promotion } = offer::quote(&app, &sailing, &taxes, &goods, &buyer).await?;
    Ok(Reply::data(match promotion {
        Some(Err(reason)) => {
            PromoVerdict { valid: false, reason: Some(reason), discount: None, price: None }
        }
        _ => {
            let discount = Some(price.discount);
            PromoVerdict { valid: true, reason: None, discount, price: Some(price.into()) }
        }
    }))
}

/// A booker is refunded by the policy. Partner and staff cancel with a full refund or by the
/// policy; staff may state the amount, and refund after the journey, for a complaint.
/// `rules::cancellation` decides.
pub async fn cancel_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<CancelForm>,
) -> Result<Reply<Once<Booking>>> {
    let (booking, actor) = path.authorize(&app, &form.credentials).await?;
    if actor == Actor::Guest {
        reason_without_url(&form.reason)?;
    }
    let owner = Owner::of(caller.as_ref(), form.credentials.email.as_ref());
    let path = format!("/v1/booking/{}/cancel", booking.id);
    let key = Key::of(owner, key, "cancel_booking", path, body);
    let cancelled = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        cancel(&app, caller.as_ref(), booking, &form, actor, running).await
    });
    let cancelled = cancelled.await?;
    Ok(match &form.passenger_ids {
        None => cancelled.saying("The booking has been cancelled.", "Pemesanan telah dibatalkan."),
        Some(_) => {
            cancelled.saying("The passengers have been cancelled.", "Penumpang telah dibatalkan.")
        }
    })
}

async fn cancel(
    app: &App,
    caller: Option<&Caller>,
    booking: BookingRow,
    form: &CancelForm,
    actor: Actor,
    running: Option<&Running>,
) -> Result<Booking> {
    let now = app.clock.now();
    let readable = Readable::by(caller);
    let Some(caller) = caller else {
        let mut tx = app.db.begin().await?;
        let (before, after) = cancel_in(app, &mut tx, booking, form, actor, None, now).await?;
        let _invalidation = app.response_cache.invalidate_on_drop([line_of(&before)]);
        let answer = keep_answer(app, &mut tx, after, readable, running).await?;
        tx.commit().await?;
        return Ok(answer);
    };
    let mut tx = caller.begin(&app.db, now).await?;
    let by = Some(caller.person.id);
    let (before, after) = cancel_in(app, &mut tx, booking, form, actor, by, now).await?;
    let _invalidation = app.response_cache.invalidate_on_drop([line_of(&before)]);
    tx.record(Change {
        action: match form.passenger_ids {
            None => "booking.cancelled",
            Some(_) => "booking.passengers_cancelled",
        },
        entity: "booking",
        id: before.id,
        before: Some(&to_response(app, before, false)?),
        after: Some(&to_response(app, after.clone(), false)?),
    })
    .await?;
    let answer = keep_answer(app, &mut tx, after, readable, running).await?;
    tx.commit().await?;
    Ok(answer)
}

/// Cancels the booking, or the passengers that the form names. Returns the booking before and after.
async fn cancel_in(
    app: &App,
    tx: &mut Tx,
    booking: BookingRow,
    form: &CancelForm,
    actor: Actor,
    by: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<(BookingRow, BookingRow)> {
    let (request, reason) = (form.request(actor), &form.reason);
    match &form.passenger_ids {
        None => cancel_as_read(app, tx, booking, request, reason, now).await,
        Some(passengers) => {
            let some = PassengersRequest { passengers, request, reason, by };
            partial::cancel(app, tx, &booking, &some, now).await
        }
    }
}

/// Cancels by the row that was loaded to authorize the caller. If that has changed meanwhile, or
/// the decision depends on the manifest, the row is locked, read again, and the decision repeated.
/// Returns the booking before and after.
async fn cancel_as_read(
    app: &App,
    tx: &mut Tx,
    loaded: BookingRow,
    request: CancelRequest,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<(BookingRow, BookingRow)> {
    let policy = &app.config.refund_policy.0;
    let decide = |booking: &BookingRow| {
        let refund = rules::cancellation(&booking.state(), request, policy, now)?;
        // The reason is mailed: a guest could otherwise use the service to send links.
        let tells_reason = request.actor != Actor::Guest;
        Ok::<_, Error>(Cancellation { refund, reason, tells_reason })
    };
    if !rules::depends_on_manifest(&loaded.state(), request.actor, now) {
        let decided = decide(&loaded)?;
        if let Some(after) = transitions::cancel(tx, &loaded, &decided, now).await? {
            return Ok((loaded, after));
        }
    }
    store::lock_row(tx, loaded.id).await?;
    let booking = store::get_in(tx, loaded.id).await?.ok_or(Error::NotFound)?;
    if request.actor == Actor::Guest {
        ensure_same_contact(&loaded, &booking)?;
    }
    let decided = decide(&booking)?;
    let after = transitions::cancel(tx, &booking, &decided, now).await?;
    Ok((booking, after.ok_or_else(invalid_transition)?))
}

/// The whole line, because a cancelled booking may also have held seats for a reschedule to another
/// day.
fn line_of(booking: &BookingRow) -> CacheTag {
    offers::line_tag(booking.joined.from_harbour_id, booking.joined.to_harbour_id)
}

/// The answer, stored for an idempotency key if there is one. It may contain identity numbers.
async fn keep_answer(
    app: &App,
    tx: &mut Tx,
    after: BookingRow,
    readable: Readable,
    running: Option<&Running>,
) -> Result<Booking> {
    let answer = to_response(app, after, readable)?;
    if let Some(running) = running {
        running.keep_sealed(tx, &app.sealer, &answer).await?;
    }
    Ok(answer)
}
