//! Bookings as resellers see them.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::{Value, json};

use super::store::Row;
use crate::{
    app::App,
    bookings::{
        Actor, BookingState, BookingStatus, CancelRequest, FEW_TICKETS, FareLine, StoredPassenger,
        cancellation,
    },
    files::{SignedAction, signed_query},
    kernel::{error::Error, ids::Uuid, money::Rupiah},
    lines::Fare,
    octo::{
        access::{Client, Grant},
        availability::{self, Clock, View},
        error::{Problem, Result},
        pricing::{Tax, Units, pricing},
        product::{self, OPTION, Prices, Product, ProductId},
        request::{Contact, utc},
        store::{self as catalog, SailingRow, StartTime},
    },
    ticket_codes::Ticket,
};

/// How long after arrival a voucher can be read.
const VOUCHER: TimeDelta = TimeDelta::days(7);

crate::string_enum! {
    pub enum Status {
        OnHold = "ON_HOLD",
        Expired = "EXPIRED",
        Confirmed = "CONFIRMED",
        Redeemed = "REDEEMED",
        Cancelled = "CANCELLED",
    }
}

impl Row {
    pub fn product_id(&self) -> ProductId {
        ProductId { line: self.line.line_id, day_ticket: self.is_day_ticket }
    }

    pub fn status(&self, now: DateTime<Utc>) -> Status {
        use BookingStatus as B;
        match self.stored.status {
            B::PendingPayment if now < self.expires_at => Status::OnHold,
            B::PendingPayment | B::Expired => Status::Expired,
            B::Cancelled | B::RefundPending | B::Refunded => Status::Cancelled,
            B::Completed if !self.boarded.is_empty() => Status::Redeemed,
            B::Paid if self.all_boarded() => Status::Redeemed,
            B::Paid | B::Completed => Status::Confirmed,
        }
    }

    fn all_boarded(&self) -> bool {
        self.passengers.iter().all(|passenger| self.boarded.contains_key(&passenger.id))
    }

    /// The input of the rules. A ticket of a day counts from the last departure of it.
    pub fn state(&self, day: &[SailingRow]) -> BookingState {
        let last = day.iter().map(|sailing| sailing.departure_at).max();
        let departure_at = match self.is_day_ticket {
            true => last.unwrap_or(self.sailing.departure_at).max(self.sailing.departure_at),
            false => self.sailing.departure_at,
        };
        BookingState {
            status: self.stored.status,
            departure_at,
            arrival_at: self.sailing.arrival_at,
            expires_at: self.expires_at,
            promised_at: self.promised_at,
            is_boarded: !self.boarded.is_empty(),
            is_manifest_closed: self.sailing.is_manifest_closed,
            is_called_off: self.called_off,
            is_partner_suspended: !self.line.on_sale,
            is_resold: true,
            // A refund after the journey is a cancellation like any other to a reseller.
            has_sailed: self.stored.status == BookingStatus::Completed,
            was_paid: self.paid_at.is_some(),
            total: self.total,
            gone: Rupiah::ZERO,
            refund_cap: self.refund_cap,
        }
    }

    /// What a cancellation now gives back. `None`: it is not possible.
    pub fn refund_now(
        &self,
        day: &[SailingRow],
        policy: &[(u32, u8)],
        now: DateTime<Utc>,
    ) -> Option<Rupiah> {
        let is_over = matches!(self.status(now), Status::Expired | Status::Cancelled);
        let is_closed = self.stored.status == BookingStatus::Paid
            && (!self.boarded.is_empty()
                || self.sailing.is_manifest_closed
                || self.sailing.departure_at <= now);
        if is_over || is_closed {
            return None;
        }
        let request = CancelRequest::by(Actor::Guest);
        let refund = cancellation(&self.state(day), request, policy, now).ok()?;
        Some(refund.amount)
    }

    /// Whether it can be cancelled for nothing.
    fn is_cancellable(&self, day: &[SailingRow], policy: &[(u32, u8)], now: DateTime<Utc>) -> bool {
        let refund = self.refund_now(day, policy, now);
        match self.stored.status {
            BookingStatus::PendingPayment => refund.is_some(),
            _ => refund == Some(self.total),
        }
    }
}

/// What bookings show besides their rows.
pub struct Surroundings {
    times: HashMap<Uuid, Vec<StartTime>>,
    /// The sailings of day tickets, by line and day.
    days: HashMap<(Uuid, NaiveDate), Vec<SailingRow>>,
}

impl Surroundings {
    pub async fn load(app: &App, rows: &[Row]) -> Result<Self> {
        let mut lines: Vec<_> = rows.iter().map(|row| row.line.line_id).collect();
        lines.sort();
        lines.dedup();
        let times = product::times_of(app, &lines).await?;
        let mut days = HashMap::new();
        for row in rows.iter().filter(|row| row.is_day_ticket) {
            let key = (row.line.line_id, row.sailing.day);
            if let std::collections::hash_map::Entry::Vacant(vacant) = days.entry(key) {
                let found = catalog::of_days(&app.db, key.0, (key.1, key.1)).await?;
                vacant.insert(found.map(|(_, sailings)| sailings).unwrap_or_default());
            }
        }
        Ok(Self { times, days })
    }

    pub fn day(&self, row: &Row) -> &[SailingRow] {
        let key = (row.line.line_id, row.sailing.day);
        self.days.get(&key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The bookings with everything that they show.
/// Tickets are signed on a blocking thread where there are many.
pub async fn records(app: &App, client: &Client, rows: Vec<Row>) -> Result<Vec<Value>> {
    let around = Surroundings::load(app, &rows).await?;
    let passengers: usize = rows.iter().map(|row| row.passengers.len()).sum();
    if passengers <= FEW_TICKETS {
        return shown(app, client, &rows, &around);
    }
    let (app, client) = (app.clone(), client.clone());
    let shown = tokio::task::spawn_blocking(move || shown(&app, &client, &rows, &around));
    shown.await.map_err(|error| Problem::Failed(Error::internal(error))).flatten()
}

fn shown(app: &App, client: &Client, rows: &[Row], around: &Surroundings) -> Result<Vec<Value>> {
    rows.iter().map(|row| Booking { app, client, row, around }.record()).collect()
}

pub async fn record(app: &App, client: &Client, row: Row) -> Result<Value> {
    let mut records = records(app, client, vec![row]).await?;
    Ok(records.pop().unwrap_or_default())
}

struct Booking<'a> {
    app: &'a App,
    client: &'a Client,
    row: &'a Row,
    around: &'a Surroundings,
}

impl Booking<'_> {
    fn record(&self) -> Result<Value> {
        let (row, now) = (self.row, self.app.clock.now());
        let status = row.status(now);
        let grant = self.client.grant(row.line.partner_id);
        let policy = self.client.policy(self.app, row.line.partner_id);
        let in_force = Tax::in_force(&self.client.taxes);
        let prices = self.prices(grant, &in_force);
        let no_times = Vec::new();
        let product = Product {
            id: row.product_id(),
            line: &row.line,
            times: self.around.times.get(&row.line.line_id).unwrap_or(&no_times),
            policy: &policy,
            prices,
            lang: self.client.lang,
        };
        let day = self.around.day(row);
        let view = View { line: &row.line, units: None, prices, clock: Clock::of(self.app) };
        let (availability_id, availability) = match row.is_day_ticket {
            true => {
                let id = availability::midnight(row.sailing.day, row.line.timezone);
                let own = std::slice::from_ref(&row.sailing);
                (json!(id), view.day(row.sailing.day, if day.is_empty() { own } else { day }))
            }
            false => (json!(row.sailing.sailing_id), view.sailing(&row.sailing)),
        };
        let confirmed = matches!(status, Status::Confirmed | Status::Redeemed);
        let redeemed_at = match status {
            Status::Redeemed => row.boarded.values().max().copied(),
            _ => None,
        };
        let expires_at =
            matches!(status, Status::OnHold | Status::Expired).then(|| utc(row.expires_at));
        let mut record = json!({
            "id": row.id,
            "uuid": row.octo_uuid,
            "testMode": self.app.config.octo_test.0,
            "resellerReference": row.reseller_reference,
            "supplierReference": row.code,
            "status": status.as_str(),
            "utcCreatedAt": utc(row.created_at),
            "utcUpdatedAt": utc(row.updated_at),
            "utcExpiresAt": expires_at,
            "utcRedeemedAt": redeemed_at.map(utc),
            "utcConfirmedAt": row.paid_at.map(utc),
            "productId": row.product_id().to_string(),
            "product": product.record(),
            "optionId": OPTION,
            "option": product.option(),
            "cancellable": row.is_cancellable(day, &policy, now),
            "cancellation": self.cancellation(status),
            "freesale": false,
            "availabilityId": availability_id,
            "availability": availability,
            "contact": row.octo_contact.as_ref().map(|sent| sent.0.clone()).unwrap_or_default(),
            "notes": (!row.note.is_empty()).then_some(&row.note),
            "deliveryMethods": ["TICKET", "VOUCHER"],
            "voucher": delivery(redeemed_at, confirmed.then(|| ("PDF_URL", self.voucher_url()))),
            "unitItems": self.items(status)?,
        });
        if self.client.pricing {
            record["pricing"] = self.total();
        }
        Ok(record)
    }

    fn prices<'p>(&self, grant: Option<&'p Grant>, taxes: &'p [Tax]) -> Option<Prices<'p>> {
        let grant = grant.filter(|_| self.client.pricing)?;
        Some(Prices { grant, taxes, scale: self.client.scale })
    }

    fn cancellation(&self, status: Status) -> Value {
        let row = self.row;
        match status {
            Status::Expired => json!({
                "refund": "NONE",
                "reason": null,
                "utcCancelledAt": utc(row.expires_at),
            }),
            Status::Cancelled => {
                let refunded = row.refund_amount.unwrap_or_default();
                let refund = match row.paid_at {
                    None => "FULL",
                    Some(_) if refunded == row.total => "FULL",
                    Some(_) if refunded > Rupiah::ZERO => "PARTIAL",
                    Some(_) => "NONE",
                };
                let reason = row.cancel_reason.as_deref().filter(|reason| !reason.is_empty());
                let at = row.cancelled_at.unwrap_or(row.updated_at);
                json!({ "refund": refund, "reason": reason, "utcCancelledAt": utc(at) })
            }
            Status::OnHold | Status::Confirmed | Status::Redeemed => Value::Null,
        }
    }

    fn voucher_url(&self) -> String {
        let (app, id) = (self.app, self.row.id);
        let expires_at = self.row.sailing.arrival_at + VOUCHER;
        let query = signed_query(&app.secret_key, SignedAction::Voucher(id), expires_at);
        format!("{}/octo/vouchers/{id}?{query}", app.config.public_url())
    }

    fn items(&self, status: Status) -> Result<Vec<Value>> {
        let passengers = self.row.passengers.iter().enumerate();
        passengers.map(|(index, passenger)| self.item(status, index, passenger)).collect()
    }

    fn item(&self, status: Status, index: usize, passenger: &StoredPassenger) -> Result<Value> {
        let row = self.row;
        let boarded_at = row.boarded.get(&passenger.id).copied();
        let is_live = matches!(status, Status::Confirmed | Status::Redeemed);
        let boarded_at = boarded_at.filter(|_| is_live);
        let own_status = match status {
            Status::Confirmed | Status::Redeemed if boarded_at.is_some() => Status::Redeemed,
            Status::Redeemed => Status::Confirmed,
            status => status,
        };
        let place = passenger.place_at(index)?;
        let code = is_live.then(|| {
            let ticket = Ticket { sailing_id: row.sailing.sailing_id, booking_id: row.id, place };
            ("QRCODE", self.app.ticket_keys().sign(ticket))
        });
        let resold = passenger.resold.as_ref();
        let key = passenger.fare.clone().unwrap_or_default();
        let contact = resold.and_then(|resold| resold.contact.clone());
        let mut item = json!({
            "uuid": resold.map_or(passenger.id, |resold| resold.uuid),
            "resellerReference": resold.and_then(|resold| resold.reference.clone()),
            "supplierReference": format!("{}-{}", row.code, place + 1),
            "unitId": key,
            "unit": self.unit(&key),
            "status": own_status.as_str(),
            "utcRedeemedAt": boarded_at.map(utc),
            "contact": contact.unwrap_or_else(|| json!(Contact::default())),
            "ticket": delivery(boarded_at, code),
        });
        if self.client.pricing {
            item["pricing"] = self.priced(&key);
        }
        Ok(item)
    }

    /// The unit as the line has it now, or (if it has no such fare any more) as it was sold.
    fn unit(&self, key: &str) -> Value {
        let line = &self.row.line;
        let fare = line.fares.iter().find(|fare| fare.key == key).cloned();
        let fare = fare.unwrap_or_else(|| Fare {
            key: key.to_owned(),
            category: key
                .split('_')
                .next()
                .and_then(|word| word.parse().ok())
                .unwrap_or(crate::lines::Category::Adult),
            ..Fare::standard().remove(0)
        });
        let mut unit = product::unit(line, &fare, self.client.lang);
        if self.client.pricing {
            unit["pricing"] = json!([self.priced(key)]);
        }
        unit
    }

    fn sold(&self, line: &FareLine, count: i32) -> Units {
        Units { fare: line.unit_price, margin: line.margin.unwrap_or_default(), count }
    }

    /// What one unit was sold for.
    fn priced(&self, key: &str) -> Value {
        let line = self.row.fare_lines.iter().find(|line| line.fare == key);
        let units: Vec<_> = line.map(|line| self.sold(line, 1)).into_iter().collect();
        pricing(&units, &Tax::charged(&self.row.taxes), self.client.scale)
    }

    fn total(&self) -> Value {
        let units: Vec<_> =
            self.row.fare_lines.iter().map(|line| self.sold(line, line.count)).collect();
        pricing(&units, &Tax::charged(&self.row.taxes), self.client.scale)
    }
}

/// A ticket or a voucher. It is an object also while there is nothing to deliver.
fn delivery(redeemed_at: Option<DateTime<Utc>>, option: Option<(&str, String)>) -> Value {
    let options: Vec<_> = option
        .into_iter()
        .map(|(format, value)| json!({ "deliveryFormat": format, "deliveryValue": value }))
        .collect();
    json!({
        "redemptionMethod": "DIGITAL",
        "utcRedeemedAt": redeemed_at.map(utc),
        "deliveryOptions": options,
    })
}
