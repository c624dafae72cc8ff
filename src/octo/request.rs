//! Reading requests: JSON of which every field has a type, a length, or is absent.

use axum::{
    body::Bytes,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Map, Value};

use super::error::{Problem, Result};
use crate::kernel::{
    http::decode,
    ids::Uuid,
    json::{self, Parsed},
    patch::Patch,
};

/// The longest text of a field, unless said otherwise.
const LONGEST: usize = 500;
const LONGEST_NOTES: usize = 2_000;
/// The most items of an array.
const MANY: usize = 200;

/// The fields of an object.
#[derive(Clone, Copy)]
pub struct Fields<'a>(&'a Map<String, Value>);

/// The body of a request. An empty one is an empty object.
pub async fn body(bytes: Bytes) -> Result<Value> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(Map::new()));
    }
    let parsed = decode(bytes, |bytes| Ok(json::parse(bytes).ok())).await?;
    match parsed {
        None => Err(Problem::bad_request("The body is not JSON.", "Isi permintaan bukan JSON.")),
        Some(Parsed { truncated: true, .. }) => Err(Problem::bad_request(
            "The body holds too many values.",
            "Isi permintaan memuat terlalu banyak nilai.",
        )),
        Some(Parsed { value, .. }) if value.is_object() => Ok(value),
        Some(_) => Err(Problem::bad_request(
            "The body is not a JSON object.",
            "Isi permintaan bukan objek JSON.",
        )),
    }
}

impl<'a> Fields<'a> {
    pub fn of(name: &str, value: &'a Value) -> Result<Self> {
        value.as_object().map(Self).ok_or_else(|| Problem::bad_field(name))
    }

    /// What was sent, for an error that repeats it. Null if nothing was.
    pub fn sent(self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or(Value::Null)
    }

    /// `None` if it is absent or null.
    fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn parse<T>(self, name: &str, parse: impl FnOnce(&'a Value) -> Option<T>) -> Result<Option<T>> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => parse(value).map(Some).ok_or_else(|| Problem::bad_field(name)),
        }
    }

    pub fn text(self, name: &str) -> Result<Option<&'a str>> {
        self.parse(name, |value| text(value, LONGEST))
    }

    pub fn boolean(self, name: &str) -> Result<Option<bool>> {
        self.parse(name, Value::as_bool)
    }

    pub fn integer(self, name: &str) -> Result<Option<i64>> {
        self.parse(name, Value::as_i64)
    }

    pub fn date(self, name: &str) -> Result<Option<NaiveDate>> {
        self.parse(name, |value| date(value.as_str()?))
    }

    pub fn array(self, name: &str) -> Result<Option<&'a [Value]>> {
        let array = self.parse(name, Value::as_array)?;
        match array {
            Some(array) if array.len() > MANY => Err(Problem::bad_field(name)),
            array => Ok(array.map(Vec::as_slice)),
        }
    }

    /// A uuid that the reseller chooses. One that is malformed cannot be that of a booking.
    pub fn uuid(self, name: &str) -> Result<Option<Uuid>> {
        match self.text(name)? {
            None => Ok(None),
            Some(sent) => uuid(sent).map(Some).ok_or_else(|| Problem::booking(sent)),
        }
    }

    /// Absent fields keep their value, null clears it.
    pub fn patch(self, name: &str) -> Result<Patch<String>> {
        self.patched(name, LONGEST)
    }

    pub fn notes(self) -> Result<Patch<String>> {
        self.patched("notes", LONGEST_NOTES)
    }

    fn patched(self, name: &str, longest: usize) -> Result<Patch<String>> {
        match self.0.get(name) {
            None => Ok(Patch::Keep),
            Some(Value::Null) => Ok(Patch::Clear),
            Some(value) => {
                let text = text(value, longest).ok_or_else(|| Problem::bad_field(name))?;
                Ok(Patch::Set(text.to_owned()))
            }
        }
    }

    pub fn contact(self) -> Result<Patch<Contact>> {
        match self.0.get("contact") {
            None => Ok(Patch::Keep),
            Some(Value::Null) => Ok(Patch::Clear),
            Some(value) => Contact::read(Fields::of("contact", value)?).map(Patch::Set),
        }
    }
}

fn text(value: &Value, longest: usize) -> Option<&str> {
    let text = value.as_str()?;
    (text.chars().count() <= longest && !text.contains('\0')).then_some(text)
}

/// `YYYY-MM-DD` and nothing else.
pub fn date(text: &str) -> Option<NaiveDate> {
    // A year with a sign is a date for the parser, and none for the database.
    let is_in_place = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    let is_date = text.len() == 10 && text.bytes().enumerate().all(is_in_place);
    text.parse().ok().filter(|_| is_date)
}

/// In the usual form with hyphens, whatever its case.
pub fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::parse_str(text).ok()).flatten()
}

/// A contact as it was sent. It is returned so, and never normalised.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    pub full_name: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub email_address: Option<String>,
    pub phone_number: Option<String>,
    #[serde(default)]
    pub locales: Vec<String>,
    pub postal_code: Option<String>,
    pub country: Option<String>,
    pub notes: Option<String>,
}

impl Contact {
    pub fn read(fields: Fields<'_>) -> Result<Self> {
        let field = |name: &str| fields.text(name).map(|text| text.map(str::to_owned));
        let locale =
            |value: &Value| text(value, 35).map(str::to_owned).ok_or(Problem::bad_field("locales"));
        let locales = fields.array("locales")?.unwrap_or_default();
        Ok(Self {
            full_name: field("fullName")?,
            first_name: field("firstName")?,
            last_name: field("lastName")?,
            email_address: field("emailAddress")?,
            phone_number: field("phoneNumber")?,
            locales: locales.iter().map(locale).collect::<Result<_>>()?,
            postal_code: field("postalCode")?,
            country: field("country")?,
            notes: field("notes")?,
        })
    }

    /// The name of the person, in one line. `None` if none is given.
    pub fn name(&self) -> Option<String> {
        let parts = match &self.full_name {
            Some(full) => vec![full.as_str()],
            None => {
                [&self.first_name, &self.last_name].iter().filter_map(|p| p.as_deref()).collect()
            }
        };
        let name = parts.join(" ");
        let words: Vec<_> = name.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let name: String =
            words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let name: String = name.chars().take(150).collect();
        (!name.is_empty()).then_some(name)
    }
}

/// A unit item that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemForm {
    pub uuid: Option<Uuid>,
    /// Key of the fare.
    pub unit_id: String,
    pub reference: Patch<String>,
    pub contact: Patch<Contact>,
}

impl ItemForm {
    fn read(value: &Value) -> Result<Self> {
        let fields = Fields::of("unitItems", value)?;
        let unit = fields.text("unitId")?;
        Ok(Self {
            uuid: fields.uuid("uuid")?,
            // A unit without an id is none of the option's.
            unit_id: unit.ok_or_else(|| Problem::unit(Value::Null))?.to_owned(),
            reference: fields.patch("resellerReference")?,
            contact: fields.contact()?,
        })
    }
}

/// The unit items; `None` if they are absent or null. Unit ids are checked later.
pub fn unit_items(fields: Fields<'_>) -> Result<Option<Vec<ItemForm>>> {
    let Some(items) = fields.array("unitItems")? else { return Ok(None) };
    items.iter().map(ItemForm::read).collect::<Result<_>>().map(Some)
}

/// Units of an availability check: keys of fares, and how many.
pub fn units(fields: Fields<'_>) -> Result<Option<Vec<(String, i32)>>> {
    let Some(units) = fields.array("units")? else { return Ok(None) };
    let read = |value: &Value| {
        let fields = Fields::of("units", value)?;
        let id = fields.text("id")?.ok_or_else(|| Problem::unit(Value::Null))?;
        let quantity = fields.integer("quantity")?.unwrap_or(0);
        let quantity =
            i32::try_from(quantity).ok().filter(|quantity| (0..=10_000).contains(quantity));
        Ok((id.to_owned(), quantity.ok_or_else(|| Problem::bad_field("quantity"))?))
    };
    units.iter().map(read).collect::<Result<_>>().map(Some)
}

/// Only rupiah are sold.
pub fn ensure_rupiah(fields: Fields<'_>) -> Result<()> {
    match fields.text("currency")? {
        None | Some("IDR") => Ok(()),
        Some(_) => Err(Problem::bad_request(
            "The only currency is IDR.",
            "Satu-satunya mata uang adalah IDR.",
        )),
    }
}

/// How long a hold is asked to last.
pub fn expiration_minutes(fields: Fields<'_>, default: i64) -> Result<chrono::TimeDelta> {
    match fields.integer("expirationMinutes")?.unwrap_or(default) {
        minutes @ 1..=60 => Ok(chrono::TimeDelta::minutes(minutes)),
        _ => Err(Problem::bad_request(
            "`expirationMinutes` is 1 to 60.",
            "`expirationMinutes` adalah 1 sampai 60.",
        )),
    }
}

/// Bare JSON.
pub struct Reply(pub Value);

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], self.0.to_string()).into_response()
    }
}

/// UTC without fraction.
pub fn utc(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
