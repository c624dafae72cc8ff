//! Products: the lines of partners, and their day tickets.

use std::collections::{BTreeSet, HashMap};

use axum::{
    extract::State,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{self, ETAG, IF_NONE_MATCH},
    },
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Days, NaiveDate, Utc};
use serde_json::{Value, json};

use super::{
    access::{Base, Client, Grant},
    error::{Problem, Result},
    params::Params,
    pricing::{Tax, Units, pricing},
    request::Reply,
    store::{self, LineRow, Period, StartTime},
};
use crate::{
    app::App,
    kernel::{
        ids::{self, Uuid},
        lang::Lang,
        money::Rupiah,
    },
    lines::{Category, Fare, PassengerNames, fare_name},
    resellers::Scope,
};

/// The only option. Neither the time (an availability) nor the boat is one: partners exchange boats,
/// and what resellers have mapped stays.
pub const OPTION: &str = "DEFAULT";
const DAY: &str = ".day";
/// How far ahead resellers see.
pub const HORIZON: Days = Days::new(366);

/// A line, or its day ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductId {
    pub line: Uuid,
    pub day_ticket: bool,
}

impl ProductId {
    pub fn parse(text: &str) -> Option<Self> {
        let (line, day_ticket) = match text.strip_suffix(DAY) {
            Some(line) => (line, true),
            None => (text, false),
        };
        super::request::uuid(line).map(|line| Self { line, day_ticket })
    }
}

impl std::fmt::Display for ProductId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.line, if self.day_ticket { DAY } else { "" })
    }
}

/// The grant for a product that may be sold now.
pub fn granted<'c>(client: &'c Client, line: &LineRow, id: ProductId) -> Option<&'c Grant> {
    let is_sold = line.resale && (line.day_ticket || !id.day_ticket);
    client.grant(line.partner_id).filter(|_| is_sold)
}

/// A product with what is shown of it.
pub struct Product<'a> {
    pub id: ProductId,
    pub line: &'a LineRow,
    pub times: &'a [StartTime],
    /// By the grant: hours before departure, and percent.
    pub policy: &'a [(u32, u8)],
    /// Prices, if the client asks for them.
    pub prices: Option<Prices<'a>>,
    pub lang: Lang,
}

/// How prices of a line are shown to a reseller.
#[derive(Clone, Copy)]
pub struct Prices<'a> {
    pub grant: &'a Grant,
    pub taxes: &'a [Tax],
    pub scale: i64,
}

impl Prices<'_> {
    fn units(&self, line: &LineRow, fare: &Fare, price: Rupiah, count: i32) -> Units {
        let fare_price = fare.of(price);
        let margin = self.grant.margin(line.line_id, &fare.key, fare_price);
        Units { fare: fare_price, margin, count }
    }

    /// The price of one unit on a sailing of this price.
    pub fn unit(&self, line: &LineRow, fare: &Fare, price: Rupiah) -> Value {
        pricing(&[self.units(line, fare, price, 1)], self.taxes, self.scale)
    }

    /// The price of all units.
    pub fn total(&self, line: &LineRow, units: &[(&Fare, i32)], price: Rupiah) -> Value {
        let units: Vec<_> =
            units.iter().map(|(fare, count)| self.units(line, fare, price, *count)).collect();
        pricing(&units, self.taxes, self.scale)
    }

    /// The price of one unit of each fare, with its id.
    pub fn each(&self, line: &LineRow, price: Rupiah) -> Vec<Value> {
        let one = |fare: &Fare| {
            let mut price = self.unit(line, fare, price);
            price["unitId"] = json!(fare.key);
            price
        };
        line.fares.iter().map(one).collect()
    }
}

/// Until when a cancellation is free: the policy's shortest step of 100 %. `None`: never.
pub fn free_hours(policy: &[(u32, u8)]) -> Option<u32> {
    policy.iter().filter(|(_, percent)| *percent == 100).map(|(hours, _)| *hours).min()
}

impl Product<'_> {
    pub fn record(&self) -> Value {
        let line = self.line;
        let route = format!("{} – {} · {}", line.from_name, line.to_name, line.partner_name);
        let (kind, name) = match self.id.day_ticket {
            true => (
                "OPENING_HOURS",
                format!("{route} · {}", self.lang.of("day ticket", "tiket harian")),
            ),
            false => ("START_TIME", route),
        };
        let mut record = json!({
            "id": self.id.to_string(),
            "internalName": name,
            "reference": null,
            "locale": "id",
            "timeZone": line.timezone.tz().name(),
            "allowFreesale": false,
            "instantConfirmation": true,
            "instantDelivery": true,
            "availabilityRequired": true,
            "availabilityType": kind,
            "deliveryFormats": ["QRCODE", "PDF_URL"],
            "deliveryMethods": ["TICKET", "VOUCHER"],
            "redemptionMethod": "DIGITAL",
            "options": [self.option()],
        });
        if self.prices.is_some() {
            record["defaultCurrency"] = json!("IDR");
            record["availableCurrencies"] = json!(["IDR"]);
            record["pricingPer"] = json!("UNIT");
        }
        record
    }

    pub fn option(&self) -> Value {
        let (text, amount, unit) = match free_hours(self.policy) {
            Some(1) => ("1 hour".to_owned(), 1, "hour"),
            Some(hours) => (format!("{hours} hours"), hours, "hour"),
            None => ("365 days".to_owned(), 365, "day"),
        };
        json!({
            "id": OPTION,
            "default": true,
            "internalName": "Standard",
            "reference": null,
            "availabilityLocalStartTimes": self.start_times(),
            "cancellationCutoff": text,
            "cancellationCutoffAmount": amount,
            "cancellationCutoffUnit": unit,
            "requiredContactFields": [],
            "restrictions": { "minUnits": 1, "maxUnits": self.line.max_party },
            "units": self.line.fares.iter().map(|fare| self.unit(fare)).collect::<Vec<_>>(),
        })
    }

    fn start_times(&self) -> BTreeSet<String> {
        if self.id.day_ticket {
            return BTreeSet::new();
        }
        let zone = self.line.timezone.tz();
        let local =
            |time: &StartTime| time.departure_at.with_timezone(&zone).format("%H:%M").to_string();
        self.times.iter().map(local).collect()
    }

    /// A unit, with the lowest price of the sailings ahead.
    pub fn unit(&self, fare: &Fare) -> Value {
        let mut unit = unit(self.line, fare, self.lang);
        if let Some(prices) = &self.prices {
            let lowest = self.times.iter().map(|time| time.price).min();
            let lowest = lowest.map(|price| prices.unit(self.line, fare, price));
            unit["pricingFrom"] = json!(lowest.into_iter().collect::<Vec<_>>());
        }
        unit
    }
}

pub fn unit(line: &LineRow, fare: &Fare, lang: Lang) -> Value {
    let required: &[&str] = match line.names {
        PassengerNames::Lead => &[],
        PassengerNames::All => &["firstName", "lastName"],
    };
    let adults =
        line.fares.iter().filter(|fare| fare.category == Category::Adult && fare.takes_seat);
    let accompanied_by: Vec<_> = match fare.takes_seat {
        true => Vec::new(),
        false => adults.map(|fare| fare.key.as_str()).collect(),
    };
    json!({
        "id": fare.key,
        "internalName": fare_name(&fare.key).say(lang),
        "reference": null,
        "type": fare.category.as_str().to_uppercase(),
        "restrictions": {
            "minAge": fare.min_age,
            "maxAge": fare.max_age,
            "idRequired": fare.id_required,
            "minQuantity": null,
            "maxQuantity": null,
            "paxCount": 1,
            "accompaniedBy": accompanied_by,
        },
        "requiredContactFields": required,
    })
}

/// The start times of lines: those ahead, or else those of the last year.
pub async fn times_of(app: &App, lines: &[Uuid]) -> Result<HashMap<Uuid, Vec<StartTime>>> {
    let (now, today) = (app.clock.now(), utc_day(app.clock.now()));
    let last = today.checked_add_days(HORIZON).unwrap_or(today);
    let mut by_line =
        by_line(store::start_times(&app.db, lines, &Period::Ahead { today, last, now }).await?);
    let missing: Vec<_> =
        lines.iter().copied().filter(|line| !by_line.contains_key(line)).collect();
    if !missing.is_empty() {
        let first = today.checked_sub_days(HORIZON).unwrap_or(today);
        let tomorrow = today.succ_opt().unwrap_or(today);
        let period = Period::Past { first, today: tomorrow, now };
        let past = store::start_times(&app.db, &missing, &period).await?;
        by_line.extend(self::by_line(past));
    }
    Ok(by_line)
}

/// The day in UTC, which is never later than the local one.
fn utc_day(now: DateTime<Utc>) -> NaiveDate {
    now.date_naive()
}

fn by_line(times: Vec<StartTime>) -> HashMap<Uuid, Vec<StartTime>> {
    let mut by_line: HashMap<_, Vec<_>> = HashMap::new();
    for time in times {
        by_line.entry(time.line_id).or_default().push(time);
    }
    by_line
}

pub async fn list_products(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response> {
    client.may(Scope::Catalog)?;
    let partners = client.partners();
    let lines = store::listed(&app.db, partners.as_deref()).await?;
    let lines: Vec<_> =
        lines.into_iter().filter(|line| client.grant(line.partner_id).is_some()).collect();
    let (now, today) = (app.clock.now(), utc_day(app.clock.now()));
    let last = today.checked_add_days(HORIZON).unwrap_or(today);
    let ids: Vec<_> = lines.iter().map(|line| line.line_id).collect();
    let times =
        by_line(store::start_times(&app.db, &ids, &Period::Ahead { today, last, now }).await?);
    let taxes = Tax::in_force(&client.taxes);
    let mut products = Vec::with_capacity(lines.len());
    for line in &lines {
        let Some((times, grant)) = times.get(&line.line_id).zip(client.grant(line.partner_id))
        else {
            continue;
        };
        let policy = grant.policy(&app);
        let prices = client.pricing.then_some(Prices { grant, taxes: &taxes, scale: client.scale });
        for day_ticket in [false, true].into_iter().take(if line.day_ticket { 2 } else { 1 }) {
            let id = ProductId { line: line.line_id, day_ticket };
            let product = Product { id, line, times, policy: &policy, prices, lang: client.lang };
            products.push(product.record());
        }
    }
    with_etag(&headers, &json!(products))
}

pub async fn get_product(
    State(app): State<App>,
    client: Client,
    params: Params,
    headers: HeaderMap,
) -> Result<Response> {
    client.may(Scope::Catalog)?;
    let sent = params.last();
    let unknown = || Problem::product(json!(sent));
    let id = ProductId::parse(sent).ok_or_else(unknown)?;
    let line = store::line(&app.db, id.line).await?.ok_or_else(unknown)?;
    let grant = granted(&client, &line, id).ok_or_else(unknown)?;
    let times = times_of(&app, &[line.line_id]).await?.remove(&line.line_id).unwrap_or_default();
    let (policy, taxes) = (grant.policy(&app), Tax::in_force(&client.taxes));
    let prices = client.pricing.then_some(Prices { grant, taxes: &taxes, scale: client.scale });
    let product =
        Product { id, line: &line, times: &times, policy: &policy, prices, lang: client.lang };
    with_etag(&headers, &product.record())
}

pub async fn get_supplier(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response> {
    client.may(Scope::Catalog)?;
    let config = &app.config;
    let (id, name, path) = match client.base {
        Base::Platform => ("dermaga".to_owned(), config.octo_name.clone(), "/octo".to_owned()),
        Base::Partner(partner) => {
            let name = store::partner_name(&app.db, partner).await?;
            let name = name.ok_or_else(super::access::forbidden)?;
            (partner.to_string(), name, format!("/octo/partners/{partner}"))
        }
    };
    let email = config.mail_from.rsplit(['<', ' ']).next().unwrap_or_default();
    let supplier = json!({
        "id": id,
        "name": name,
        "endpoint": format!("{}{path}", config.public_url()),
        "contact": {
            "website": config.public_url(),
            "email": email.trim_end_matches('>'),
            "telephone": config.help_phone.as_ref().map(|phone| phone.as_str()),
            "address": null,
        },
    });
    with_etag(&headers, &supplier)
}

pub async fn list_capabilities(_client: Client) -> Result<Reply> {
    Ok(Reply(json!([{
        "id": super::access::PRICING,
        "revision": 1,
        "required": false,
        "dependencies": [],
        "docs": null,
    }])))
}

/// 304 if the client has it already.
fn with_etag(headers: &HeaderMap, body: &Value) -> Result<Response> {
    let body = body.to_string();
    let hash = ids::hash(&body);
    let tag =
        format!("\"{}\"", hash.iter().take(16).map(|b| format!("{b:02x}")).collect::<String>());
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| {
        known.split(',').any(
            |one| matches!(one.trim().trim_start_matches("W/"), one if one == tag || one == "*"),
        )
    });
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    // Of this key alone, and asked about again each time.
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}
