//! What a telephone gets: no identity number, no birth date, no telephone number.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};

use crate::web::{
    client::{Call, Envelope},
    format::{Locale, zone_name},
    visit::Visit,
    words,
};

/// A sailing, from the list of sailings or from a manifest, with the words that a page shows.
pub fn sailing(record: &Value, locale: Locale) -> Value {
    let boat = &record["speedboat"];
    let departure = end(record, "departure_at", "timezone");
    let arrival = end(record, "arrival_at", "arrival_timezone");
    let clock = |(at, zone): (DateTime<Utc>, Tz)| locale.clock(at, zone);
    json!({
        "id": record["id"],
        "from": record["from"],
        "to": record["to"],
        "boat": boat["name"],
        "capacity": boat["capacity"],
        "seats_taken": record["seats_taken"],
        "checked_in": record["checked_in"],
        "status": record["status"],
        "closed_at": record["manifest_closed_at"],
        "departure_at": record["departure_at"],
        "arrival_at": record["arrival_at"],
        "timezone": record["timezone"],
        "departs": departure.map(clock),
        "arrives": arrival.map(clock),
        "zone": departure.map(|(at, zone)| zone_name(zone, at)),
        "arrival_zone": arrival.map(|(at, zone)| zone_name(zone, at)),
        "day": departure.map(|(at, zone)| locale.day(at.with_timezone(&zone).date_naive())),
    })
}

/// A time of a sailing in the zone of its harbour.
pub fn end(record: &Value, at: &str, zone: &str) -> Option<(DateTime<Utc>, Tz)> {
    let text = |name: &str| record[name].as_str();
    Some((text(at)?.parse().ok()?, text(zone)?.parse().ok()?))
}

/// A passenger as crew needs it.
pub fn passenger(listed: &Value) -> Value {
    const FIELDS: &[&str] =
        &["name", "gender", "age", "booking_code", "ticket_code", "checked_in_at"];
    FIELDS.iter().map(|field| ((*field).to_owned(), listed[*field].clone())).collect()
}

/// `Female · 34 · DMG-7K2P`
pub fn about(listed: &Value, locale: Locale) -> String {
    let gender = listed["gender"].as_str().map(|gender| words::value(gender, locale.lang));
    let age = listed["age"].as_u64().map(|age| age.to_string());
    let parts =
        [gender.map(str::to_owned), age, listed["booking_code"].as_str().map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// What a telephone gets with every answer: the time, whose session it is, and the keys of tickets.
pub async fn common(visit: &Visit) -> Result<Value, Envelope> {
    let keys = visit.ask(Call::of("get_ticket_key")).await;
    if !keys.is_success() {
        return Err(keys);
    }
    let key = |key: &Value| json!({ "id": key["key_id"], "key": key["public_key"] });
    let older = keys.data["older"].as_array().into_iter().flatten();
    let keys: Vec<_> = std::iter::once(&keys.data).chain(older).map(key).collect();
    Ok(json!({ "now": visit.web.app().clock.now(), "person": visit.my_id(), "keys": keys }))
}

/// One object with the fields of both.
pub fn merged(mut one: Value, other: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut one, other) {
        fields.extend(more);
    }
    one
}
