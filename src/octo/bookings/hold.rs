//! Holding seats: one statement takes them and inserts the booking, or fails.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    find, items,
    store::{self, Row},
    view::Status,
    visible,
};
use crate::{
    app::App,
    bookings::{BookingStatus, Channel, INSERT_BOOKING, NewBooking, Resold, bind_new},
    kernel::{
        caller::Context,
        db::Failure,
        email::Email,
        error::Error,
        ids::{self, Uuid},
        patch::Patch,
        phone::Phone,
    },
    octo::{
        access::{Client, Grant},
        availability::{self, Clock, best_of_day},
        error::{Problem, Result},
        product::{OPTION, ProductId, granted},
        request::{self, Contact, Fields, ItemForm, ensure_rupiah, expiration_minutes, unit_items},
        store::{self as catalog, LineRow, SailingRow},
    },
    sailings::{BookingType, offers},
};

/// The longest life of a hold, however often it is extended.
pub const LONGEST: TimeDelta = TimeDelta::hours(2);

/// Product, option and availability of a request.
pub struct Wanted<'a> {
    pub product: Option<&'a str>,
    pub option: Option<&'a str>,
    pub availability: Option<&'a str>,
}

/// What a booking is for.
pub struct Target {
    pub id: ProductId,
    pub line: LineRow,
    pub sailing: SailingRow,
}

impl<'a> Wanted<'a> {
    pub fn read(fields: Fields<'a>) -> Result<Self> {
        Ok(Self {
            product: fields.text("productId")?,
            option: fields.text("optionId")?,
            availability: fields.text("availabilityId")?,
        })
    }

    /// Refuses what does not exist: the product, the option, the availability, in this order. For a
    /// ticket of a day it is the sailing with the most free seats.
    pub async fn target(&self, app: &App, client: &Client) -> Result<Target> {
        let unknown = || Problem::product(json!(self.product));
        let id = self.product.and_then(ProductId::parse).ok_or_else(unknown)?;
        let found = match (self.availability, id.day_ticket) {
            (None, _) => None,
            (Some(day), true) => match day.get(..10).and_then(request::date) {
                Some(date) => catalog::of_some_days(&app.db, id.line, &[date]).await?,
                None => None,
            },
            (Some(sailing), false) => match request::uuid(sailing) {
                Some(sailing) => catalog::of_ids(&app.db, id.line, &[sailing]).await?,
                None => None,
            },
        };
        let (line, sailings) = match found {
            Some(found) => found,
            None => {
                let line = catalog::line(&app.db, id.line).await?.ok_or_else(unknown)?;
                (line, Vec::new())
            }
        };
        if granted(client, &line, id).is_none() {
            return Err(unknown());
        }
        if self.option != Some(OPTION) {
            return Err(Problem::option(json!(self.option)));
        }
        let missing = || Problem::availability(json!(self.availability));
        let sailing = match id.day_ticket {
            true => {
                let day =
                    self.availability.and_then(|id| availability::day_of_id(id, line.timezone));
                if day.is_none() || sailings.is_empty() {
                    return Err(missing());
                }
                best_of_day(&line, &sailings, Clock::of(app)).or(sailings.last()).cloned()
            }
            false => sailings.into_iter().next(),
        };
        Ok(Target { id, sailing: sailing.ok_or_else(missing)?, line })
    }
}

/// The grant of a line that was found to be granted.
pub fn grant_of<'c>(client: &'c Client, line: &LineRow) -> Result<&'c Grant> {
    client.grant(line.partner_id).ok_or_else(|| Problem::product(json!(line.line_id)))
}

/// Refuses a sailing that is closed, or has fewer free seats.
pub fn ensure_free(app: &App, target: &Target, seats: i32, own: i32) -> Result<()> {
    let mut sailing = target.sailing.clone();
    sailing.seats_taken -= own;
    match sailing.status(&target.line, seats, Clock::of(app)) {
        availability::Status::Closed => Err(closed()),
        availability::Status::SoldOut => Err(sold_out()),
        availability::Status::Limited | availability::Status::Available => Ok(()),
    }
}

pub fn closed() -> Problem {
    Problem::unprocessable("This sailing is closed.", "Jadwal ini sudah ditutup.")
}

pub fn sold_out() -> Problem {
    Problem::unprocessable("There are not enough seats left.", "Kursi yang tersisa tidak cukup.")
}

/// Our own columns of a contact; empty where it is not valid.
pub fn our_contact(contact: Option<&Contact>) -> (String, String, String) {
    let name = contact.and_then(Contact::name).unwrap_or_default();
    let email = contact.and_then(|contact| contact.email_address.as_deref());
    let email: Option<Email> = email.and_then(|text| serde_json::from_value(json!(text)).ok());
    let phone = contact.and_then(|contact| contact.phone_number.as_deref());
    let phone = phone.and_then(|text| Phone::from_json(&json!(text)));
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    (
        name,
        text(email.as_ref().map(|email| email.as_str())),
        text(phone.as_ref().map(|phone| phone.as_str())),
    )
}

/// A request to hold seats.
struct HoldForm<'a> {
    uuid: Option<Uuid>,
    wanted: Wanted<'a>,
    items: Option<Vec<ItemForm>>,
    minutes: TimeDelta,
    notes: Option<String>,
    reference: Option<String>,
    contact: Option<Contact>,
    digest: String,
}

impl<'a> HoldForm<'a> {
    fn read(body: &'a Value) -> Result<Self> {
        let fields = Fields::of("body", body)?;
        ensure_rupiah(fields)?;
        let set = |patch: Patch<String>| patch.over(None::<String>);
        let digest = ids::hash(&body.to_string());
        Ok(Self {
            uuid: fields.uuid("uuid")?,
            wanted: Wanted::read(fields)?,
            items: unit_items(fields)?,
            minutes: expiration_minutes(fields, 30)?,
            notes: set(fields.notes()?),
            reference: set(fields.patch("resellerReference")?),
            contact: fields.contact()?.over(None::<Contact>),
            digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}

pub async fn hold(app: &App, client: &Client, context: &Context, body: &Value) -> Result<Row> {
    let form = HoldForm::read(body)?;
    if let Some(uuid) = form.uuid
        && let Some(known) = known(app, client, uuid, &form.digest).await?
    {
        return Ok(known);
    }
    let uuid = form.uuid.unwrap_or_else(ids::fresh);
    match take(app, client, context, &form, uuid).await {
        Ok(()) => find(app, client, uuid).await,
        // The same request, at the same time, may have taken the last seats.
        Err(refusal) if form.uuid.is_some() => {
            known(app, client, uuid, &form.digest).await?.ok_or(refusal)
        }
        Err(refusal) => Err(refusal),
    }
}

/// Takes the seats.
async fn take(
    app: &App,
    client: &Client,
    context: &Context,
    form: &HoldForm<'_>,
    uuid: Uuid,
) -> Result<()> {
    let target = form.wanted.target(app, client).await?;
    let new = new_booking(app, client, context, form, uuid, &target)?;
    let line = &target.line;
    let (from, to) = (line.from_harbour_id, line.to_harbour_id);
    let trip = offers::trip_tag(from, to, target.sailing.departure_at, line.timezone);
    let _invalidation = app.response_cache.invalidate_on_drop([trip]);
    match bind_new(app.db.sql(INSERT_BOOKING), &new).run().await {
        Ok(_) => {
            app.db.notify_outbox();
            Ok(())
        }
        Err(failure) if failure.is_unique() => {
            let why = "the uuid or the code of the booking exists already";
            Err(Problem::Failed(Error::Contention(why.into())))
        }
        Err(failure) => Err(refusal(failure, target.id)),
    }
}

/// The booking that an earlier request with this uuid has made, if its content was the same.
async fn known(app: &App, client: &Client, uuid: Uuid, digest: &str) -> Result<Option<Row>> {
    match store::digest(&app.db, client.reseller_id, uuid).await? {
        None => Ok(None),
        Some(other) if other != digest => Err(Problem::uuid_reused(uuid.to_string())),
        Some(_) => find(app, client, uuid).await.map(Some),
    }
}

fn new_booking(
    app: &App,
    client: &Client,
    context: &Context,
    form: &HoldForm<'_>,
    uuid: Uuid,
    target: &Target,
) -> Result<NewBooking> {
    let Target { id, line, sailing } = target;
    let fares = items::fares(line, form.items.as_deref())?;
    let (price, seats) =
        items::priced(client, grant_of(client, line)?, line, sailing.price, &fares)?;
    ensure_free(app, target, seats, 0)?;
    client.ensure_credit(price.total)?;
    let items = form.items.as_deref().unwrap_or_default();
    let mut passengers = items::passengers(&[], items, &price.lines);
    items::named(&mut passengers, form.contact.as_ref());
    let (contact_name, contact_email, contact_phone) = our_contact(form.contact.as_ref());
    let now = app.clock.now();
    Ok(NewBooking {
        id: ids::fresh(),
        code: ids::fresh_code("DMG"),
        kind: BookingType::Speedboat,
        status: BookingStatus::PendingPayment,
        channel: Channel::Reseller,
        sailing_id: sailing.sailing_id,
        speedboat_id: sailing.speedboat_id,
        partner_id: line.partner_id,
        departure_at: sailing.departure_at,
        arrival_at: sailing.arrival_at,
        qty: passengers.len() as i32,
        seats,
        promotion_id: None,
        code_promo: None,
        note: form.notes.clone().unwrap_or_default(),
        contact_name,
        contact_email,
        contact_phone,
        lang: context.lang,
        passengers,
        accepted_terms: false,
        price,
        // It goes on account when it is confirmed.
        provider: None,
        expires_at: (now + form.minutes).min(sailing.closes_at(Clock::of(app))),
        paid_at: None,
        created_at: now,
        counted: None,
        resold: Some(Resold {
            reseller_id: client.reseller_id,
            octo_uuid: uuid,
            reference: form.reference.clone(),
            day_ticket: id.day_ticket,
            contact: form.contact.as_ref().map(|contact| json!(contact)),
            request_digest: form.digest.clone(),
        }),
    })
}

/// Translates a failure of the database. A ticket of a day can be tried on another sailing.
pub fn refusal(failure: Failure, id: ProductId) -> Problem {
    let again = |why: &str| Problem::Failed(Error::Contention(why.to_owned()));
    match failure {
        f if f.names("sailings_seats") && id.day_ticket => again("the sailing was sold out"),
        f if f.names("sailings_seats") => sold_out(),
        f if f.names("sailings_moved") => again("the sailing was moved concurrently"),
        f if f.names("resellers_holds") => Problem::unprocessable(
            "There are too many bookings on hold.",
            "Terlalu banyak pemesanan yang ditahan.",
        ),
        f => f.into(),
    }
}

/// Holds the seats for longer: never shorter than before, and not beyond two hours in all or the end
/// of the sale.
pub async fn extend(app: &App, client: &Client, uuid: Uuid, minutes: TimeDelta) -> Result<Row> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    store::lock(&mut tx, client.reseller_id, uuid).await?;
    let row = visible(client, store::get_in(&mut tx, client.reseller_id, uuid).await?, uuid)?;
    ensure_on_hold(&row, now)?;
    let latest = (row.created_at + LONGEST).min(row.sailing.closes_at(Clock::of(app)));
    let expires_at = (now + minutes).min(latest).max(row.expires_at);
    store::extend(&mut tx, row.id, expires_at, now).await?;
    tx.commit().await?;
    find(app, client, uuid).await
}

pub fn ensure_on_hold(row: &Row, now: DateTime<Utc>) -> Result<()> {
    match row.status(now) {
        Status::OnHold => Ok(()),
        _ => Err(Problem::unprocessable(
            "This booking is not on hold.",
            "Pemesanan ini tidak sedang ditahan.",
        )),
    }
}
