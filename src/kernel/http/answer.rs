//! Responses. Handlers return `Reply`, `Page` or `Error`; the edge renders them into the envelope
//! with the caller's language and the request id.

use std::{
    marker::PhantomData,
    sync::{Arc, OnceLock},
};

use aide::{
    OperationOutput,
    generate::GenContext,
    openapi::{MediaType, Operation, Response as DocumentedResponse, SchemaObject},
};
use axum::{
    body::Bytes,
    http::{HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CacheTags, SharedBody};
use crate::kernel::{
    db::Total,
    error::{Error, Fault, SpokenFault},
    lang::{Lang, Text, text},
    schema::MAX_FAULTS,
};

/// Success, with or without data.
pub struct Reply<T = ()> {
    data: Option<T>,
    message: Text,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Reply {
    pub fn done(en: &'static str, id: &'static str) -> Self {
        Self { data: None, message: text(en, id), headers: Vec::new() }
    }
}

impl<T> Reply<T> {
    pub fn data(data: T) -> Self {
        Self { data: Some(data), message: OK, headers: Vec::new() }
    }

    pub fn saying(mut self, en: &'static str, id: &'static str) -> Self {
        self.message = text(en, id);
        self
    }

    /// With a message that depends on the data.
    pub fn saying_for(self, words: impl FnOnce(&T) -> (&'static str, &'static str)) -> Self {
        match self.data.as_ref().map(words) {
            Some((en, id)) => self.saying(en, id),
            None => self,
        }
    }

    /// Adds the header that marks a replayed response.
    pub fn replayed(self) -> Self {
        let name = HeaderName::from_static("idempotency-replayed");
        self.header(name, HeaderValue::from_static("true"))
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

const OK: Text = text("OK", "Berhasil");

/// A list, or an object that holds one, with its place among the pages, and what else stands
/// beside it in the envelope.
pub struct Paged<D, B = Nothing> {
    data: D,
    pagination: Pagination,
    beside: B,
    cache_tags: CacheTags,
}

/// Nothing stands beside the list.
#[derive(Serialize, JsonSchema)]
pub struct Nothing {}

/// One page of a list.
pub type Page<T> = Paged<Vec<T>>;

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Pagination {
    page: i64,
    page_size: i64,
    /// Exact up to 10,000.
    total_items: i64,
    total_pages: i64,
    /// True if there may be more items and pages than these; pages beyond can be requested. Left
    /// out if the numbers are exact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    total_is_minimum: bool,
}

impl Pagination {
    fn new(page: i64, page_size: i64, total: Total) -> Self {
        Self {
            page,
            page_size,
            total_items: total.items,
            total_pages: (total.items + page_size - 1) / page_size,
            total_is_minimum: total.is_minimum,
        }
    }
}

impl<D> Paged<D> {
    pub fn new(data: D, page: i64, page_size: i64, total: Total) -> Self {
        let pagination = Pagination::new(page, page_size, total);
        Self { data, pagination, beside: Nothing {}, cache_tags: CacheTags::default() }
    }

    /// Other data at the same place.
    pub fn map<E>(self, change: impl FnOnce(D) -> E) -> Paged<E> {
        let Self { data, pagination, beside, cache_tags } = self;
        Paged { data: change(data), pagination, beside, cache_tags }
    }

    /// With the fields of `beside` next to `data`.
    pub fn beside<B>(self, beside: B) -> Paged<D, B> {
        let Self { data, pagination, cache_tags, .. } = self;
        Paged { data, pagination, beside, cache_tags }
    }

    /// For an operation whose responses are cached.
    pub fn tagged(self, cache_tags: CacheTags) -> Self {
        Self { cache_tags, ..self }
    }
}

impl<T> Page<T> {
    pub fn items(&self) -> &[T] {
        &self.data
    }

    pub fn try_each<U>(self, change: impl FnMut(T) -> Result<U, Error>) -> Result<Page<U>, Error> {
        let Self { data, pagination, beside, cache_tags } = self;
        let items: Result<Vec<U>, Error> = data.into_iter().map(change).collect();
        Ok(Paged { data: items?, pagination, beside, cache_tags })
    }

    pub fn each<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        self.map(|items| items.into_iter().map(change).collect())
    }
}

/// A page whose data were serialized before.
pub struct RenderedPage<D, B = Nothing> {
    json: String,
    pagination: Pagination,
    beside: String,
    cache_tags: CacheTags,
    of: PhantomData<fn() -> (D, B)>,
}

impl<D, B> RenderedPage<D, B> {
    /// `json` is that of `D`.
    pub fn new(json: String, page: i64, page_size: i64, total: Total) -> Self {
        let pagination = Pagination::new(page, page_size, total);
        let (beside, cache_tags) = Default::default();
        Self { json, pagination, beside, cache_tags, of: PhantomData }
    }

    /// With the fields of `B` next to `data`: the inner text of its JSON.
    pub fn beside(self, beside: String) -> Self {
        Self { beside, ..self }
    }

    pub fn tagged(self, cache_tags: CacheTags) -> Self {
        Self { cache_tags, ..self }
    }
}

/// A response that the edge renders, carried as an extension of the HTTP response.
#[derive(Clone)]
pub struct Answer(Arc<Outcome>);

#[allow(clippy::large_enum_variant, reason = "it is behind an `Arc`, and errors are few")]
enum Outcome {
    Success {
        message: Text,
        /// As JSON.
        data: Option<Box<str>>,
        pagination: Option<Pagination>,
        /// Further fields of the envelope, as the inner text of a JSON object.
        beside: String,
        cache_tags: CacheTags,
        /// A cached answer is rendered once. Its cache key has the language.
        rendered: OnceLock<SharedBody>,
    },
    Error(Error),
}

impl Answer {
    fn success<T: Serialize>(message: Text, data: Option<&T>) -> Result<Self, Error> {
        let data = data.map(serde_json::to_string).transpose().map_err(Error::internal)?;
        Ok(Self(Arc::new(Outcome::Success {
            message,
            data: data.map(String::into_boxed_str),
            pagination: None,
            beside: String::new(),
            cache_tags: CacheTags::default(),
            rendered: OnceLock::new(),
        })))
    }

    fn page(page: RenderedPage<(), ()>) -> Self {
        let RenderedPage { json, pagination, beside, cache_tags, .. } = page;
        Self(Arc::new(Outcome::Success {
            message: OK,
            data: Some(json.into_boxed_str()),
            pagination: Some(pagination),
            beside,
            cache_tags,
            rendered: OnceLock::new(),
        }))
    }

    /// `None` for an error.
    pub fn cache_tags(&self) -> Option<&CacheTags> {
        match &*self.0 {
            Outcome::Success { cache_tags, .. } => Some(cache_tags),
            Outcome::Error(_) => None,
        }
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        match &*self.0 {
            // As it is, rendered, and compressed, which takes less than half.
            Outcome::Success { data, beside, .. } => {
                (data.as_ref().map_or(0, |data| data.len()) + beside.len()) * 5 / 2
            }
            Outcome::Error(_) => 0,
        }
    }

    pub fn error(&self) -> Option<&Error> {
        match &*self.0 {
            Outcome::Error(error) => Some(error),
            Outcome::Success { .. } => None,
        }
    }

    /// Renders the envelope into a response.
    pub fn render(
        &self,
        response: &mut Response,
        lang: Lang,
        request_id: &str,
        compress_once: bool,
    ) {
        let body = || SharedBody::new(self.rendered(lang, request_id));
        match &*self.0 {
            Outcome::Success { rendered, .. } => {
                rendered.get_or_init(body).put_into(response, compress_once);
            }
            Outcome::Error(_) => body().put_into(response, false),
        }
    }

    fn rendered(&self, lang: Lang, request_id: &str) -> Bytes {
        let json = match &*self.0 {
            Outcome::Success { message, data, pagination, beside, .. } => {
                envelope(message.say(lang), data.as_deref(), *pagination, beside)
            }
            Outcome::Error(error) => {
                let (status, word, message) = error.describe();
                let (faults, data) = match error {
                    Error::Invalid(faults) => (Some(faults), None),
                    Error::Conflict(conflict) => (None, conflict.data.as_ref()),
                    _ => (None, None),
                };
                serde_json::to_vec(&ErrorEnvelope {
                    status: "error",
                    code: status.as_u16(),
                    message: message.say(lang),
                    error: word,
                    errors: faults.map(|faults: &Vec<Fault>| {
                        faults.iter().take(MAX_FAULTS).map(|fault| fault.say(lang)).collect()
                    }),
                    errors_truncated: faults.is_some_and(|faults| faults.len() > MAX_FAULTS),
                    data,
                    request_id,
                })
            }
        };
        json.expect("strings, numbers and raw JSON always serialize").into()
    }

    /// The response of a success that is given to another request.
    pub fn ok(self) -> Response {
        self.into_response(StatusCode::OK)
    }

    fn into_response(self, status: StatusCode) -> Response {
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        match Answer::success(self.message, self.data.as_ref()) {
            Ok(answer) => {
                let mut response = answer.into_response(StatusCode::OK);
                response.headers_mut().extend(self.headers);
                response
            }
            Err(error) => error.into_response(),
        }
    }
}

impl<D: Serialize, B: Serialize> IntoResponse for Paged<D, B> {
    fn into_response(self) -> Response {
        let Self { data, pagination, beside, cache_tags } = self;
        let json = (serde_json::to_string(&data), serde_json::to_string(&beside));
        match json {
            (Ok(json), Ok(beside)) => {
                let beside = beside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                let beside = beside.unwrap_or_default().to_owned();
                let of = PhantomData;
                RenderedPage::<D, B> { json, pagination, beside, cache_tags, of }.into_response()
            }
            (Err(error), _) | (_, Err(error)) => Error::internal(error).into_response(),
        }
    }
}

impl<D, B> IntoResponse for RenderedPage<D, B> {
    fn into_response(self) -> Response {
        let Self { json, pagination, beside, cache_tags, .. } = self;
        let page = RenderedPage { json, pagination, beside, cache_tags, of: PhantomData };
        Answer::page(page).into_response(StatusCode::OK)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, ..) = self.describe();
        Answer(Arc::new(Outcome::Error(self))).into_response(status)
    }
}

/// The text of an envelope, as [`Envelope`] and [`PageEnvelope`] describe it.
fn envelope(
    message: &str,
    data: Option<&str>,
    pagination: Option<Pagination>,
    beside: &str,
) -> serde_json::Result<Vec<u8>> {
    const REST: usize = 256;
    let mut json = Vec::with_capacity(data.map_or(0, str::len) + beside.len() + REST);
    json.extend_from_slice(br#"{"status":"success","code":200,"message":"#);
    serde_json::to_writer(&mut json, message)?;
    if let Some(data) = data {
        json.extend_from_slice(br#","data":"#);
        json.extend_from_slice(data.as_bytes());
    }
    if let Some(pagination) = pagination {
        json.extend_from_slice(br#","pagination":"#);
        serde_json::to_writer(&mut json, &pagination)?;
    }
    if !beside.is_empty() {
        json.push(b',');
        json.extend_from_slice(beside.as_bytes());
    }
    json.push(b'}');
    Ok(json)
}

/// Envelope of a success.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Envelope<'a, T> {
    status: &'a str,
    code: u16,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pagination: Option<Pagination>,
}

/// Envelope of a list.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PageEnvelope<D, B> {
    status: String,
    code: u16,
    message: String,
    data: D,
    pagination: Pagination,
    #[serde(flatten)]
    beside: B,
}

/// Envelope of every error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorEnvelope<'a> {
    status: &'a str,
    code: u16,
    message: &'a str,
    /// Stable error code.
    error: &'a str,
    /// The invalid fields, at most 100; only with `validation_failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<SpokenFault<'a>>>,
    /// Whether there are more faults than `errors` lists.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    errors_truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a serde_json::Value>,
    request_id: &'a str,
}

fn documented<T: JsonSchema>(ctx: &mut GenContext) -> DocumentedResponse {
    let json_schema = ctx.schema.subschema_for::<T>();
    let media = MediaType {
        schema: Some(SchemaObject { json_schema, external_docs: None, example: None }),
        ..Default::default()
    };
    DocumentedResponse {
        description: "Success".into(),
        content: [("application/json".to_owned(), media)].into_iter().collect(),
        ..Default::default()
    }
}

macro_rules! documented_as {
    ($type:ty, [$($generic:ident),+], $envelope:ty) => {
        impl<$($generic: JsonSchema),+> OperationOutput for $type {
            type Inner = PhantomData<Self>;

            fn operation_response(
                ctx: &mut GenContext,
                _: &mut Operation,
            ) -> Option<DocumentedResponse> {
                Some(documented::<$envelope>(ctx))
            }

            fn inferred_responses(
                ctx: &mut GenContext,
                operation: &mut Operation,
            ) -> Vec<(Option<u16>, DocumentedResponse)> {
                Self::operation_response(ctx, operation)
                    .map(|response| (Some(200), response))
                    .into_iter()
                    .collect()
            }
        }
    };
}

documented_as!(Reply<T>, [T], Envelope<'static, T>);
documented_as!(Paged<D, B>, [D, B], PageEnvelope<D, B>);
documented_as!(RenderedPage<D, B>, [D, B], PageEnvelope<D, B>);

/// The table documents the errors of each operation; see `table`.
impl OperationOutput for Error {
    type Inner = PhantomData<Self>;
}
