//! Errors of the OCTO API. It has no envelope: a refusal is 400 with a word and a message.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::kernel::{
    db,
    error::Error,
    http::{Answer, Complete},
    lang::{Lang, Text, text},
};

pub type Result<T, E = Problem> = std::result::Result<T, E>;

crate::string_enum! {
    pub enum Word {
        Unauthorized = "UNAUTHORIZED",
        Forbidden = "FORBIDDEN",
        InvalidProductId = "INVALID_PRODUCT_ID",
        InvalidOptionId = "INVALID_OPTION_ID",
        InvalidAvailabilityId = "INVALID_AVAILABILITY_ID",
        InvalidUnitId = "INVALID_UNIT_ID",
        InvalidBookingUuid = "INVALID_BOOKING_UUID",
        BadRequest = "BAD_REQUEST",
        UnprocessableEntity = "UNPROCESSABLE_ENTITY",
    }
}

#[derive(Debug)]
pub enum Problem {
    Refused(Box<Refusal>),
    /// Of the service itself.
    Failed(Error),
}

#[derive(Clone, Debug)]
pub struct Refusal {
    word: Word,
    /// The field that repeats what was sent.
    sent: Option<(&'static str, Value)>,
    message: Text,
}

impl Problem {
    pub fn new(word: Word, en: &'static str, id: &'static str) -> Self {
        Self::refused(word, None, text(en, id))
    }

    fn refused(word: Word, sent: Option<(&'static str, Value)>, message: Text) -> Self {
        Self::Refused(Box::new(Refusal { word, sent, message }))
    }

    pub fn bad_request(en: &'static str, id: &'static str) -> Self {
        Self::new(Word::BadRequest, en, id)
    }

    /// A field of the request has the wrong type or length.
    pub fn bad_field(name: &str) -> Self {
        let (en, id) = (format!("`{name}` is not valid."), format!("`{name}` tidak valid."));
        Self::refused(Word::BadRequest, None, Text::new(en, id))
    }

    pub fn unprocessable(en: &'static str, id: &'static str) -> Self {
        Self::new(Word::UnprocessableEntity, en, id)
    }

    pub fn product(sent: Value) -> Self {
        let message = text("The product does not exist.", "Produk tidak ada.");
        Self::refused(Word::InvalidProductId, Some(("productId", sent)), message)
    }

    pub fn option(sent: Value) -> Self {
        let message = text("The product has no such option.", "Produk tidak memiliki opsi ini.");
        Self::refused(Word::InvalidOptionId, Some(("optionId", sent)), message)
    }

    pub fn availability(sent: Value) -> Self {
        let message =
            text("The product has no such availability.", "Produk tidak memiliki jadwal ini.");
        Self::refused(Word::InvalidAvailabilityId, Some(("availabilityId", sent)), message)
    }

    pub fn unit(sent: Value) -> Self {
        let message = text("The option has no such unit.", "Opsi tidak memiliki unit ini.");
        Self::refused(Word::InvalidUnitId, Some(("unitId", sent)), message)
    }

    pub fn booking(sent: impl Into<Value>) -> Self {
        let message = text("The booking does not exist.", "Pemesanan tidak ada.");
        Self::refused(Word::InvalidBookingUuid, Some(("uuid", sent.into())), message)
    }

    /// The `uuid` was used for another request.
    pub fn uuid_reused(sent: impl Into<Value>) -> Self {
        let message = text(
            "This uuid was used for a booking with other content.",
            "uuid ini sudah dipakai untuk pemesanan dengan isi lain.",
        );
        Self::refused(Word::InvalidBookingUuid, Some(("uuid", sent.into())), message)
    }
}

/// What the rules of bookings refuse is valid, but not possible.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Conflict(conflict) => {
                Self::refused(Word::UnprocessableEntity, None, conflict.message)
            }
            Error::Invalid(mut faults) if !faults.is_empty() => {
                Self::refused(Word::UnprocessableEntity, None, faults.remove(0).message)
            }
            error => Self::Failed(error),
        }
    }
}

impl From<db::Failure> for Problem {
    fn from(failure: db::Failure) -> Self {
        Error::from(failure).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        match self {
            Self::Failed(error) => error.into_response(),
            Self::Refused(refusal) => {
                let mut response = StatusCode::BAD_REQUEST.into_response();
                response.extensions_mut().insert(*refusal);
                response
            }
        }
    }
}

/// Status and body of a response that refuses or fails, in the language of the request. The edge
/// replaces what it has rendered itself.
pub fn rendered(response: &Response, lang: Lang) -> Option<(StatusCode, Vec<u8>)> {
    if let Some(refusal) = response.extensions().get::<Refusal>() {
        let mut body = json!({
            "error": refusal.word.as_str(),
            "errorMessage": refusal.message.say(lang),
        });
        if let Some((name, sent)) = &refusal.sent {
            body[*name] = sent.clone();
        }
        return Some((StatusCode::BAD_REQUEST, body.to_string().into_bytes()));
    }
    if response.extensions().get::<Complete>().is_some() {
        return None;
    }
    let answer = response.extensions().get::<Answer>();
    let failed = answer.and_then(Answer::error).map(Error::describe);
    let status = failed.as_ref().map_or(response.status(), |(status, ..)| *status);
    let (status, word) = match status {
        StatusCode::NOT_FOUND => (status, "NOT_FOUND"),
        StatusCode::TOO_MANY_REQUESTS => (status, "TOO_MANY_REQUESTS"),
        StatusCode::SERVICE_UNAVAILABLE => (status, INTERNAL),
        status if status.is_server_error() => (StatusCode::INTERNAL_SERVER_ERROR, INTERNAL),
        status if status.is_client_error() => (StatusCode::BAD_REQUEST, Word::BadRequest.as_str()),
        _ => return None,
    };
    let message = failed.map_or_else(unsuitable, |(_, _, message)| message);
    let body = json!({ "error": word, "errorMessage": message.say(lang) });
    Some((status, body.to_string().into_bytes()))
}

const INTERNAL: &str = "INTERNAL_SERVER_ERROR";

fn unsuitable() -> Text {
    text("This request is not possible here.", "Permintaan ini tidak dapat dilayani di sini.")
}
