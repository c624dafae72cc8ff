//! Availability: sailings of a line, or (day ticket) its days. Nothing of it is cached.

use axum::{body::Bytes, extract::State};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    access::Client,
    error::{Problem, Result},
    pricing::Tax,
    product::{HORIZON, OPTION, Prices, ProductId, granted},
    request::{self, Fields, Reply, ensure_rupiah, units, utc},
    store::{self, LineRow, SailingRow},
};
use crate::{
    app::App,
    kernel::{ids::Uuid, money::Rupiah},
    lines::Fare,
    resellers::Scope,
    sailings::{SailingStatus, Zone},
};

/// The most availabilities that are asked for by id.
const MOST_IDS: usize = 100;

crate::string_enum! {
    /// In the order of a day's best.
    pub enum Status {
        Closed = "CLOSED",
        SoldOut = "SOLD_OUT",
        Limited = "LIMITED",
        Available = "AVAILABLE",
    }
}

impl Status {
    fn is_available(self) -> bool {
        matches!(self, Self::Available | Self::Limited)
    }
}

pub fn local(time: DateTime<Utc>, zone: Zone) -> String {
    time.with_timezone(&zone.tz()).format("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn local_time(time: DateTime<Utc>, zone: Zone) -> String {
    time.with_timezone(&zone.tz()).format("%H:%M").to_string()
}

/// The start of a day, which is the id of its day ticket.
pub fn midnight(day: NaiveDate, zone: Zone) -> String {
    let offset = match zone {
        Zone::Wib => 7,
        Zone::Wita => 8,
        Zone::Wit => 9,
    };
    format!("{day}T00:00:00+{offset:02}:00")
}

/// The day of a day ticket's id.
pub fn day_of_id(id: &str, zone: Zone) -> Option<NaiveDate> {
    let day = request::date(id.get(..10)?)?;
    (midnight(day, zone) == id).then_some(day)
}

/// What decides whether a sailing can be sold.
#[derive(Clone, Copy)]
pub struct Clock {
    pub now: DateTime<Utc>,
    /// Of sailings whose line has none.
    pub cutoff_minutes: u32,
}

impl Clock {
    pub fn of(app: &App) -> Self {
        Self { now: app.clock.now(), cutoff_minutes: app.config.booking_cutoff_minutes }
    }
}

impl SailingRow {
    pub fn free(&self) -> i32 {
        if self.chartered { 0 } else { self.capacity - self.seats_taken }
    }

    pub fn closes_at(&self, clock: Clock) -> DateTime<Utc> {
        let minutes = self.cutoff_minutes.map_or(i64::from(clock.cutoff_minutes), i64::from);
        self.departure_at - TimeDelta::minutes(minutes)
    }

    pub fn status(&self, line: &LineRow, seats: i32, clock: Clock) -> Status {
        let is_open = self.sailing_status == SailingStatus::Open
            && !self.is_manifest_closed
            && self.is_boat_active
            && line.on_sale
            && clock.now < self.closes_at(clock);
        match self.free() {
            _ if !is_open => Status::Closed,
            free if free <= 0 || free < seats => Status::SoldOut,
            free if free * 2 < self.capacity => Status::Limited,
            _ => Status::Available,
        }
    }
}

/// How availability is shown.
pub struct View<'a> {
    pub line: &'a LineRow,
    /// The units that are asked for.
    pub units: Option<Vec<(&'a Fare, i32)>>,
    pub prices: Option<Prices<'a>>,
    pub clock: Clock,
}

impl View<'_> {
    /// What the units need.
    fn seats(&self) -> i32 {
        let units = self.units.iter().flatten();
        units.filter(|(fare, _)| fare.takes_seat).map(|(_, count)| *count).sum()
    }

    fn status(&self, sailing: &SailingRow) -> Status {
        sailing.status(self.line, self.seats(), self.clock)
    }

    /// The price of units on a sailing, under these names.
    fn priced(&self, record: &mut Value, price: Rupiah, (each, all): (&str, &str)) {
        let Some(prices) = &self.prices else { return };
        record[each] = json!(prices.each(self.line, price));
        if let Some(units) = &self.units {
            record[all] = prices.total(self.line, units, price);
        }
    }

    /// A sailing.
    pub fn sailing(&self, sailing: &SailingRow) -> Value {
        let (zone, status) = (self.line.timezone, self.status(sailing));
        let vacancies = sailing.free().max(0);
        let mut record = json!({
            "id": sailing.sailing_id,
            "localDateTimeStart": local(sailing.departure_at, zone),
            "localDateTimeEnd": local(sailing.arrival_at, zone),
            "utcCutoffAt": utc(sailing.closes_at(self.clock)),
            "allDay": false,
            "available": status.is_available(),
            "status": status.as_str(),
            "vacancies": vacancies,
            "capacity": sailing.capacity,
            "maxUnits": vacancies.min(self.line.max_party),
            "openingHours": [],
        });
        self.priced(&mut record, sailing.price, ("unitPricing", "pricing"));
        record
    }

    /// A day ticket for a day with these sailings, of which there is at least one.
    pub fn day(&self, day: NaiveDate, sailings: &[SailingRow]) -> Value {
        let zone = self.line.timezone;
        let best = Day::new(self, sailings);
        let next = day.succ_opt().unwrap_or(day);
        let cutoff = sailings.iter().map(|sailing| sailing.closes_at(self.clock)).max();
        let mut record = json!({
            "id": midnight(day, zone),
            "localDateTimeStart": midnight(day, zone),
            "localDateTimeEnd": midnight(next, zone),
            "utcCutoffAt": utc(cutoff.unwrap_or(self.clock.now)),
            "allDay": true,
            "available": best.status.is_available(),
            "status": best.status.as_str(),
            "vacancies": best.vacancies,
            "capacity": sailings.iter().map(|sailing| sailing.capacity).max().unwrap_or(0),
            "maxUnits": best.vacancies.min(self.line.max_party),
            "openingHours": opening_hours(sailings, zone),
        });
        self.priced(&mut record, best.price, ("unitPricing", "pricing"));
        record
    }

    /// A day of the calendar.
    fn calendar_day(&self, day: NaiveDate, sailings: &[SailingRow], day_ticket: bool) -> Value {
        let best = Day::new(self, sailings);
        let hours = match day_ticket {
            true => opening_hours(sailings, self.line.timezone),
            false => json!([]),
        };
        let mut record = json!({
            "localDate": day,
            "available": best.status.is_available(),
            "status": best.status.as_str(),
            "vacancies": best.vacancies,
            "capacity": sailings.iter().map(|sailing| sailing.capacity).sum::<i32>(),
            "openingHours": hours,
        });
        self.priced(&mut record, best.price, ("unitPricingFrom", "pricingFrom"));
        record
    }
}

fn opening_hours(sailings: &[SailingRow], zone: Zone) -> Value {
    let departures = || sailings.iter().map(|sailing| sailing.departure_at);
    let hours = departures().min().zip(departures().max());
    let hours = hours.map(
        |(first, last)| json!({ "from": local_time(first, zone), "to": local_time(last, zone) }),
    );
    json!(hours.into_iter().collect::<Vec<_>>())
}

/// The best of a day.
struct Day {
    status: Status,
    /// The most free seats on one sailing.
    vacancies: i32,
    /// The lowest.
    price: Rupiah,
}

impl Day {
    fn new(view: &View<'_>, sailings: &[SailingRow]) -> Self {
        let status = sailings.iter().map(|sailing| view.status(sailing)).max();
        let status = status.unwrap_or(Status::Closed);
        // Those that can be sold, if there are any.
        let counted = || {
            let is_best = |sailing: &&SailingRow| {
                !status.is_available() || view.status(sailing).is_available()
            };
            sailings.iter().filter(is_best)
        };
        Self {
            status,
            vacancies: counted().map(SailingRow::free).max().unwrap_or(0).max(0),
            price: counted().map(|sailing| sailing.price).min().unwrap_or_default(),
        }
    }
}

/// The sailing that a day ticket takes seats on: that with the most free seats, the earliest of them.
pub fn best_of_day<'s>(
    line: &LineRow,
    sailings: &'s [SailingRow],
    clock: Clock,
) -> Option<&'s SailingRow> {
    let open =
        sailings.iter().filter(|sailing| !matches!(sailing.status(line, 0, clock), Status::Closed));
    open.max_by_key(|sailing| (sailing.free(), std::cmp::Reverse(sailing.departure_at)))
}

/// The sailings of each day, in order.
fn by_day(sailings: &[SailingRow]) -> Vec<(NaiveDate, &[SailingRow])> {
    sailings.chunk_by(|one, other| one.day == other.day).map(|day| (day[0].day, day)).collect()
}

/// Product and option of a request. They are refused in this order, before anything else.
pub struct Asked<'a> {
    fields: Fields<'a>,
    product: Option<&'a str>,
    option: Option<&'a str>,
    units: Option<Vec<(String, i32)>>,
}

impl<'a> Asked<'a> {
    fn read(fields: Fields<'a>) -> Result<Self> {
        let (product, option) = (fields.text("productId")?, fields.text("optionId")?);
        let units = units(fields)?;
        ensure_rupiah(fields)?;
        Ok(Self { fields, product, option, units })
    }

    fn unknown_product(&self) -> Problem {
        Problem::product(self.fields.sent("productId"))
    }

    fn product_id(&self) -> Result<ProductId> {
        self.product.and_then(ProductId::parse).ok_or_else(|| self.unknown_product())
    }

    fn ensure_option(&self) -> Result<()> {
        match self.option {
            Some(OPTION) => Ok(()),
            _ => Err(Problem::option(self.fields.sent("optionId"))),
        }
    }

    fn units<'f>(&self, line: &'f LineRow) -> Result<Option<Vec<(&'f Fare, i32)>>> {
        let Some(units) = &self.units else { return Ok(None) };
        let fare = |(id, count): &(String, i32)| {
            let fare = line.fares.iter().find(|fare| fare.key == *id);
            fare.map(|fare| (fare, *count)).ok_or_else(|| Problem::unit(json!(id)))
        };
        units.iter().map(fare).collect::<Result<_>>().map(Some)
    }
}

/// When it is asked about.
enum When {
    Days(NaiveDate, NaiveDate),
    Ids(Vec<String>),
}

fn contradictory() -> Problem {
    Problem::bad_request(
        "State either localDateStart and localDateEnd, or localDate, or availabilityIds.",
        "Isi localDateStart dan localDateEnd, atau localDate, atau availabilityIds.",
    )
}

/// Days in order, at most a year.
fn days(first: NaiveDate, last: NaiveDate) -> Result<When> {
    let latest = first.checked_add_days(HORIZON);
    match first <= last && latest.is_some_and(|latest| last < latest) {
        true => Ok(When::Days(first, last)),
        false => Err(Problem::bad_request(
            "The period is of 1 to 366 days.",
            "Periode terdiri dari 1 sampai 366 hari.",
        )),
    }
}

impl When {
    /// The outer result is about types, the inner one about what they say.
    fn read(fields: Fields<'_>) -> Result<Result<Self>> {
        let (start, end) = (fields.date("localDateStart")?, fields.date("localDateEnd")?);
        let (date, ids) = (fields.date("localDate")?, fields.array("availabilityIds")?);
        let text = |id: &Value| {
            id.as_str().map(str::to_owned).ok_or_else(|| Problem::bad_field("availabilityIds"))
        };
        let ids: Option<Vec<_>> =
            ids.map(|ids| ids.iter().map(text).collect::<Result<_>>()).transpose()?;
        Ok(match (start, end, date, ids) {
            (Some(start), Some(end), None, None) => days(start, end),
            (None, None, Some(date), None) => Ok(Self::Days(date, date)),
            (None, None, None, Some(ids)) if (1..=MOST_IDS).contains(&ids.len()) => {
                Ok(Self::Ids(ids))
            }
            _ => Err(contradictory()),
        })
    }
}

/// The line of a request, granted, and its sailings. A refusal that comes after product and option is
/// given once both are known to be right.
async fn load(
    app: &App,
    client: &Client,
    asked: &Asked<'_>,
    when: Result<When>,
) -> Result<(ProductId, LineRow, Vec<SailingRow>, When)> {
    let id = asked.product_id()?;
    let option = asked.ensure_option();
    let found = match (&option, &when) {
        (Ok(()), Ok(When::Days(first, last))) => {
            store::of_days(&app.db, id.line, (*first, *last)).await?
        }
        (Ok(()), Ok(When::Ids(ids))) => by_ids(app, id, ids).await?,
        _ => None,
    };
    let (line, sailings) = match found {
        Some(found) => found,
        None => {
            let line = store::line(&app.db, id.line).await?;
            (line.ok_or_else(|| asked.unknown_product())?, Vec::new())
        }
    };
    if granted(client, &line, id).is_none() {
        return Err(asked.unknown_product());
    }
    option?;
    Ok((id, line, sailings, when?))
}

/// Sailings by the ids of availabilities. Unknown ids are left out.
async fn by_ids(
    app: &App,
    id: ProductId,
    ids: &[String],
) -> Result<Option<(LineRow, Vec<SailingRow>)>> {
    if id.day_ticket {
        // The zone is not known yet; the ids are compared with those of the days that were found.
        let days: Vec<_> = ids.iter().filter_map(|id| request::date(id.get(..10)?)).collect();
        let found = store::of_some_days(&app.db, id.line, &days).await?;
        return Ok(found.map(|(line, sailings)| {
            let asked = |sailing: &SailingRow| ids.contains(&midnight(sailing.day, line.timezone));
            let sailings = sailings.into_iter().filter(asked).collect();
            (line, sailings)
        }));
    }
    let ids: Vec<Uuid> = ids.iter().filter_map(|id| request::uuid(id)).collect();
    Ok(store::of_ids(&app.db, id.line, &ids).await?)
}

pub async fn check_availability(
    State(app): State<App>,
    client: Client,
    body: Bytes,
) -> Result<Reply> {
    client.may(Scope::Catalog)?;
    let body = request::body(body).await?;
    let fields = Fields::of("body", &body)?;
    let asked = Asked::read(fields)?;
    let when = When::read(fields)?;
    let (id, line, mut sailings, when) = load(&app, &client, &asked, when).await?;
    let clock = Clock::of(&app);
    // Sailings that have departed are found by id alone.
    if matches!(when, When::Days(..)) {
        sailings.retain(|sailing| clock.now < sailing.departure_at);
    }
    let (grant, taxes) = (client.grant(line.partner_id), Tax::in_force(&client.taxes));
    let prices = grant.filter(|_| client.pricing);
    let prices = prices.map(|grant| Prices { grant, taxes: &taxes, scale: client.scale });
    let view = View { line: &line, units: asked.units(&line)?, prices, clock };
    let found: Vec<_> = match id.day_ticket {
        true => by_day(&sailings).into_iter().map(|(day, of_day)| view.day(day, of_day)).collect(),
        false => sailings.iter().map(|sailing| view.sailing(sailing)).collect(),
    };
    Ok(Reply(json!(found)))
}

pub async fn check_calendar(State(app): State<App>, client: Client, body: Bytes) -> Result<Reply> {
    client.may(Scope::Catalog)?;
    let body = request::body(body).await?;
    let fields = Fields::of("body", &body)?;
    let asked = Asked::read(fields)?;
    let (start, end) = (fields.date("localDateStart")?, fields.date("localDateEnd")?);
    let when = match start.zip(end) {
        Some((start, end)) => days(start, end),
        None => Err(Problem::bad_request(
            "localDateStart and localDateEnd are required.",
            "localDateStart dan localDateEnd wajib diisi.",
        )),
    };
    let (id, line, mut sailings, _) = load(&app, &client, &asked, when).await?;
    let clock = Clock::of(&app);
    let today = line.day_of(clock.now);
    sailings.retain(|sailing| sailing.day >= today && clock.now < sailing.departure_at);
    let (grant, taxes) = (client.grant(line.partner_id), Tax::in_force(&client.taxes));
    let prices = grant.filter(|_| client.pricing);
    let prices = prices.map(|grant| Prices { grant, taxes: &taxes, scale: client.scale });
    let view = View { line: &line, units: asked.units(&line)?, prices, clock };
    let days = by_day(&sailings).into_iter();
    let days = days.map(|(day, of_day)| view.calendar_day(day, of_day, id.day_ticket));
    Ok(Reply(json!(days.collect::<Vec<_>>())))
}
