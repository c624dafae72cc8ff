//! Changing a booking. On hold everything may change, and seats are exchanged or nothing is. Once it is
//! confirmed, texts may change, and another sailing is a reschedule.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::{
    find,
    hold::{self, Target, Wanted, ensure_free, grant_of, our_contact, refusal},
    items,
    store::{self, Change, Row, Texts},
    trip_of,
    view::{Status, Surroundings},
    visible,
};
use crate::{
    app::App,
    bookings::{
        self, Actor, StoredPassenger,
        reschedule::{self, RefundTerms, RescheduleRequest},
    },
    kernel::{db::Tx, error::Error, ids::Uuid, patch::Patch},
    octo::{
        access::Client,
        availability::Clock,
        error::{Problem, Result},
        request::{Contact, Fields, ItemForm, ensure_rupiah, expiration_minutes, unit_items},
        store::SailingRow,
    },
};

/// What may change. Absent fields stay as they are.
pub struct ChangeForm<'a> {
    wanted: Wanted<'a>,
    pub items: Option<Vec<ItemForm>>,
    minutes: Option<chrono::TimeDelta>,
    notes: Patch<String>,
    pub reference: Patch<String>,
    pub contact: Patch<Contact>,
    pub email_receipt: bool,
}

impl<'a> ChangeForm<'a> {
    pub fn read(fields: Fields<'a>) -> Result<Self> {
        ensure_rupiah(fields)?;
        let minutes = match fields.integer("expirationMinutes")? {
            Some(_) => Some(expiration_minutes(fields, 30)?),
            None => None,
        };
        Ok(Self {
            wanted: Wanted::read(fields)?,
            items: unit_items(fields)?,
            minutes,
            notes: fields.notes()?,
            reference: fields.patch("resellerReference")?,
            contact: fields.contact()?,
            email_receipt: fields.boolean("emailReceipt")?.unwrap_or(false),
        })
    }

    /// The contact of the booking after the change.
    fn contact(&self, row: &Row) -> Option<Contact> {
        let contact = row.octo_contact.as_ref().map(|contact| contact.0.clone());
        self.contact.clone().over(contact)
    }

    /// What is asked for, over what the booking has. `None`: it stays where it is.
    fn place(&self, row: &Row) -> Option<(String, String)> {
        let product =
            self.wanted.product.map_or_else(|| row.product_id().to_string(), str::to_owned);
        let current = match row.is_day_ticket {
            true => crate::octo::availability::midnight(row.sailing.day, row.line.timezone),
            false => row.sailing.sailing_id.to_string(),
        };
        let place = self.wanted.availability.map_or_else(|| current.clone(), str::to_owned);
        let is_same = product == row.product_id().to_string()
            && place == current
            && self.wanted.option.is_none_or(|id| id == crate::octo::product::OPTION);
        (!is_same).then_some((product, place))
    }
}

pub async fn change(app: &App, client: &Client, uuid: Uuid, fields: Fields<'_>) -> Result<Row> {
    let form = ChangeForm::read(fields)?;
    let seen = find(app, client, uuid).await?;
    // Read before the transaction; it is compared with what the transaction locks.
    let target = target(app, client, &form, &seen).await?;
    let around = Surroundings::load(app, std::slice::from_ref(&seen)).await?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    store::lock(&mut tx, client.reseller_id, uuid).await?;
    let row = visible(client, store::get_in(&mut tx, client.reseller_id, uuid).await?, uuid)?;
    if row.sailing.sailing_id != seen.sailing.sailing_id {
        let why = "the booking was changed concurrently";
        return Err(Problem::Failed(Error::Contention(why.into())));
    }
    let after = target.as_ref().map_or_else(
        || trip_of(&row),
        |target| {
            trip_of(&Row {
                line: target.line.clone(),
                sailing: target.sailing.clone(),
                ..row.clone()
            })
        },
    );
    let _invalidation = app.response_cache.invalidate_on_drop([trip_of(&row), after]);
    match row.status(now) {
        Status::OnHold => {
            let passengers = change_hold(app, client, &mut tx, &row, &form, target, now).await?;
            write_texts(&mut tx, &row, &form, passengers, now).await?;
        }
        Status::Confirmed => {
            let passengers = same_units(&row, &form)?;
            ensure_correctable(&row, &form, &passengers, now)?;
            if let Some(target) = target {
                reschedule(app, client, &mut tx, &row, &target, around.day(&seen)).await?;
            }
            let passengers = with_prices(&mut tx, client, uuid, passengers).await?;
            write_texts(&mut tx, &row, &form, passengers, now).await?;
        }
        Status::Expired | Status::Cancelled | Status::Redeemed => {
            return Err(Problem::unprocessable(
                "This booking can no longer be changed.",
                "Pemesanan ini tidak dapat diubah lagi.",
            ));
        }
    }
    tx.commit().await?;
    app.db.notify_outbox();
    find(app, client, uuid).await
}

/// Where the booking moves to, if it does.
async fn target(
    app: &App,
    client: &Client,
    form: &ChangeForm<'_>,
    row: &Row,
) -> Result<Option<Target>> {
    let Some((product, place)) = form.place(row) else { return Ok(None) };
    let wanted = Wanted {
        product: Some(&product),
        option: Some(form.wanted.option.unwrap_or(crate::octo::product::OPTION)),
        availability: Some(&place),
    };
    wanted.target(app, client).await.map(Some)
}

/// Changes what a hold takes; returns its passengers.
pub async fn change_hold(
    app: &App,
    client: &Client,
    tx: &mut Tx,
    row: &Row,
    form: &ChangeForm<'_>,
    target: Option<Target>,
    now: DateTime<Utc>,
) -> Result<Vec<StoredPassenger>> {
    let moves = target.is_some();
    let target = target.unwrap_or_else(|| Target {
        id: row.product_id(),
        line: row.line.clone(),
        sailing: row.sailing.clone(),
    });
    let Target { id, line, sailing } = &target;
    let closes_at = sailing.closes_at(Clock::of(app));
    let asked = form.minutes.map_or(row.expires_at, |minutes| now + minutes);
    let latest = (row.created_at + hold::LONGEST).max(row.expires_at);
    let expires_at = asked.min(latest).min(closes_at).max(now);
    let items = form.items.clone().unwrap_or_else(|| same_items(row));
    // The price is that of the reservation until something else is reserved.
    if !moves && items::are_units_of(&row.fare_lines, &items) {
        if form.minutes.is_some() {
            store::extend(tx, row.id, expires_at.max(row.expires_at), now).await?;
        }
        return Ok(items::passengers(&row.passengers, &items, &row.fare_lines));
    }
    let fares = items::fares(line, Some(&items))?;
    let grant = grant_of(client, line)?;
    let (price, seats) = items::priced(client, grant, line, sailing.price, &fares)?;
    let both = vec![row.sailing.sailing_id, sailing.sailing_id];
    if !store::lock_sailings(tx, both, sailing).await? {
        return Err(match moves {
            true => Problem::Failed(Error::Contention("the sailing was changed".into())),
            false => hold::closed(),
        });
    }
    let own = match row.sailing.sailing_id == sailing.sailing_id {
        true => row.passengers.iter().filter(|passenger| passenger.takes_seat).count() as i32,
        false => 0,
    };
    ensure_free(app, &target, seats, own)?;
    let passengers = items::passengers(&row.passengers, &items, &price.lines);
    let change = Change {
        line,
        sailing,
        day_ticket: id.day_ticket,
        seats,
        price: &price,
        passengers: &passengers,
        expires_at,
    };
    match store::change_hold(tx, row.id, &change, now).await {
        Ok(true) => Ok(passengers),
        Ok(false) => Err(Problem::Failed(Error::Contention("the hold has ended".into()))),
        Err(failure) => Err(refusal(failure, *id)),
    }
}

/// The unit items as they are.
fn same_items(row: &Row) -> Vec<ItemForm> {
    let item = |passenger: &StoredPassenger| ItemForm {
        uuid: passenger.resold.as_ref().map(|resold| resold.uuid),
        unit_id: passenger.fare.clone().unwrap_or_default(),
        reference: Patch::Keep,
        contact: Patch::Keep,
    };
    row.passengers.iter().map(item).collect()
}

/// The passengers of a confirmed booking with what is said of them. Their number and units stay.
fn same_units(row: &Row, form: &ChangeForm<'_>) -> Result<Vec<StoredPassenger>> {
    let Some(items) = &form.items else { return Ok(row.passengers.0.clone()) };
    for item in items {
        if !row.line.fares.iter().any(|fare| fare.key == item.unit_id) {
            return Err(Problem::unit(json!(item.unit_id)));
        }
    }
    let units = |mut units: Vec<String>| {
        units.sort();
        units
    };
    let asked = units(items.iter().map(|item| item.unit_id.clone()).collect());
    let sold = row.passengers.iter().map(|passenger| passenger.fare.clone().unwrap_or_default());
    if asked != units(sold.collect()) {
        return Err(Problem::unprocessable(
            "The units of a confirmed booking cannot be changed.",
            "Unit dari pemesanan terkonfirmasi tidak dapat diubah.",
        ));
    }
    let mut passengers = row.passengers.0.clone();
    let mut taken = vec![false; passengers.len()];
    // Those with a uuid first, so that no other takes their passenger.
    let (by_uuid, by_unit): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.uuid.is_some());
    for item in by_uuid.into_iter().chain(by_unit) {
        let found = passengers.iter().enumerate().position(|(index, passenger)| {
            let uuid = passenger.resold.as_ref().map(|resold| resold.uuid);
            !taken[index]
                && passenger.fare.as_ref() == Some(&item.unit_id)
                && item.uuid.is_none_or(|wanted| uuid == Some(wanted))
        });
        let Some(found) = found else {
            return Err(Problem::unprocessable(
                "A unit item is not part of this booking.",
                "Ada unitItems yang bukan bagian dari pemesanan ini.",
            ));
        };
        taken[found] = true;
        let contact = item.contact.clone().over(items::contact_of(&passengers[found]));
        if let Some(resold) = &mut passengers[found].resold {
            resold.reference = item.reference.clone().over(resold.reference.take());
            resold.contact = contact.map(|contact| json!(contact));
        }
    }
    Ok(passengers)
}

/// Names can be corrected until the manifest is closed, and are not taken from passengers who need one.
fn ensure_correctable(
    row: &Row,
    form: &ChangeForm<'_>,
    passengers: &[StoredPassenger],
    now: DateTime<Utc>,
) -> Result<()> {
    // A missing contact is shown as one without values, and may be sent again as such.
    let contacts = |lead: Option<Contact>, all: &[StoredPassenger]| -> Vec<Contact> {
        let own = all.iter().map(items::contact_of);
        std::iter::once(lead).chain(own).map(Option::unwrap_or_default).collect()
    };
    let before = row.octo_contact.as_ref().map(|contact| contact.0.clone());
    let after = form.contact(row);
    if contacts(before, &row.passengers) == contacts(after.clone(), passengers) {
        return Ok(());
    }
    bookings::correcting(&row.state(&[]), now).map_err(Error::from)?;
    let mut passengers = passengers.to_vec();
    items::named(&mut passengers, after.as_ref());
    items::ensure_named(&row.line, &passengers)
}

/// A reschedule may have given the passengers other prices.
async fn with_prices(
    tx: &mut Tx,
    client: &Client,
    uuid: Uuid,
    mut passengers: Vec<StoredPassenger>,
) -> Result<Vec<StoredPassenger>> {
    let now = visible(client, store::get_in(tx, client.reseller_id, uuid).await?, uuid)?;
    for (passenger, now) in passengers.iter_mut().zip(&now.passengers.0) {
        passenger.unit_price = now.unit_price;
        passenger.takes_seat = now.takes_seat;
    }
    Ok(passengers)
}

/// Another sailing of the product. Fee and difference go on account. `day`: the sailings of a day ticket.
async fn reschedule(
    app: &App,
    client: &Client,
    tx: &mut Tx,
    row: &Row,
    target: &Target,
    day: &[SailingRow],
) -> Result<()> {
    if target.id != row.product_id() {
        return Err(Problem::unprocessable(
            "A confirmed booking keeps its product.",
            "Pemesanan terkonfirmasi tetap pada produknya.",
        ));
    }
    let booking = bookings::get_in(tx, row.id).await?;
    let booking = booking.ok_or_else(|| Problem::Failed(Error::internal("a booking is gone")))?;
    let to = reschedule::target(app, &booking, target.sailing.sailing_id).await?;
    let request = RescheduleRequest {
        booking_id: row.id,
        to: &to,
        reason: "",
        actor: Actor::Guest,
        by: None,
    };
    let policy = client.policy(app, row.line.partner_id);
    let terms = RefundTerms { policy: &policy, departure_at: row.state(day).departure_at };
    reschedule::request_under(app, tx, &request, Some(terms)).await?;
    Ok(())
}

/// Writes texts, contacts and the names that follow from them.
pub async fn write_texts(
    tx: &mut Tx,
    row: &Row,
    form: &ChangeForm<'_>,
    mut passengers: Vec<StoredPassenger>,
    now: DateTime<Utc>,
) -> Result<()> {
    let contact = form.contact(row);
    items::named(&mut passengers, contact.as_ref());
    let (name, email, phone) = our_contact(contact.as_ref());
    let reference = form.reference.clone().over(row.reseller_reference.clone());
    let note = form.notes.clone().over(Some(row.note.clone())).unwrap_or_default();
    let texts = Texts {
        reference: reference.as_deref(),
        note: &note,
        contact: contact.as_ref(),
        name: &name,
        email: &email,
        phone: &phone,
        email_receipt: form.email_receipt,
        passengers: &passengers,
    };
    Ok(store::set_texts(tx, row.id, &texts, now).await?)
}
