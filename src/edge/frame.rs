//! The frame around every request: who it is from, how long it may take, how it is answered,
//! counted and logged.

use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{self, ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT},
    },
    response::{IntoResponse, Response},
};

use crate::{
    app::App,
    kernel::{
        caller::Context,
        error::Error,
        http::Answer,
        ids,
        lang::{Lang, text},
    },
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// For all of a request: its body, its work, the head of its answer.
const LONGEST: Duration = Duration::from_secs(60);
/// About how many headers are added to an answer.
const HEADERS: usize = 12;

pub struct Frame {
    app: App,
    /// What every answer says that does not say otherwise.
    defaults: Vec<(HeaderName, HeaderValue)>,
}

impl Frame {
    pub fn new(app: &App) -> Self {
        let mut defaults = vec![
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
            (header::CACHE_CONTROL, "no-store"),
        ];
        if app.config.public_url().starts_with("https://") {
            defaults.push((header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"));
        }
        let fixed = |(name, value)| (name, HeaderValue::from_static(value));
        Self { app: app.clone(), defaults: defaults.into_iter().map(fixed).collect() }
    }

    pub async fn around(
        &self,
        route: &'static str,
        peer: Option<SocketAddr>,
        request: Request,
        answer: impl AsyncFnOnce(Request, &Context) -> Response,
    ) -> Response {
        let app = &self.app;
        let started = Instant::now();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let context = context(app, peer, &request);
        let allowance = app.limits.take(context.address, &method, route);
        let mut response = if let Some(retry_after) = allowance.as_ref().and_then(|a| a.refused()) {
            Error::TooManyRequests { retry_after }.into_response()
        } else {
            match tokio::time::timeout(LONGEST, answer(request, &context)).await {
                Ok(response) => response,
                Err(_) => Error::Unavailable("the request took too long".into()).into_response(),
            }
        };
        // At once for all that follow.
        response.headers_mut().reserve(HEADERS);
        if let Some(allowance) = allowance {
            allowance.announce(response.headers_mut());
        }
        render(&mut response, &context);
        for (name, value) in &self.defaults {
            response.headers_mut().entry(name).or_insert_with(|| value.clone());
        }

        let status = response.status().as_u16();
        let took = started.elapsed();
        app.metrics.request(&method, route, status, took);
        tracing::info!(
            request_id = %context.request_id,
            %method,
            path = uri.path(),
            status,
            ms = took.as_secs_f64() * 1000.0,
            address = %context.address,
            user_agent = context.user_agent.as_deref().unwrap_or_default(),
            "request"
        );
        response
    }
}

/// Writes the envelope, and logs what the caller must not see.
fn render(response: &mut Response, context: &Context) {
    let answer = match response.extensions_mut().remove::<Answer>() {
        Some(answer) => Some(answer),
        None => default_rejection(response.status()).map(|error| {
            let framework = std::mem::replace(response, error.into_response());
            // Such as `Allow`.
            response.headers_mut().extend(framework.headers().clone());
            response.extensions_mut().remove::<Answer>().expect("an error carries its answer")
        }),
    };
    if let Some(answer) = answer {
        if let Some(error) = answer.error() {
            if let Some(cause) = error.cause() {
                tracing::error!(request_id = %context.request_id, cause, "request failed");
            }
            let retry_after = match error {
                Error::TooManyRequests { retry_after } => Some(*retry_after),
                Error::Unavailable(_) | Error::Contention(_) => Some(1),
                _ => None,
            };
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            }
        }
        let json = answer.render(context.lang, &context.request_id);
        let headers = response.headers_mut();
        // Of the body that nothing was in.
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let lang = HeaderValue::from_static(context.lang.as_str());
        headers.insert(header::CONTENT_LANGUAGE, lang);
        *response.body_mut() = Body::from(json);
    }
    if let Ok(id) = HeaderValue::from_str(&context.request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

/// What the framework refuses by itself comes in the envelope too.
fn default_rejection(status: StatusCode) -> Option<Error> {
    match status {
        StatusCode::BAD_REQUEST => {
            Some(Error::Malformed(text("The request is malformed.", "Permintaan tidak valid.")))
        }
        StatusCode::NOT_FOUND => Some(Error::NotFound),
        StatusCode::METHOD_NOT_ALLOWED => Some(Error::MethodNotAllowed),
        StatusCode::REQUEST_TIMEOUT => Some(Error::Timeout),
        StatusCode::PAYLOAD_TOO_LARGE => Some(Error::TooLarge),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(Error::UnsupportedMediaType),
        status if status.is_server_error() => Some(Error::internal(status)),
        _ => None,
    }
}

fn context(app: &App, peer: Option<SocketAddr>, request: &Request) -> Context {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    Context {
        request_id: match text(REQUEST_ID).filter(sane) {
            Some(id) => id.to_owned(),
            None => ids::fresh().to_string(),
        },
        lang: text(ACCEPT_LANGUAGE).map_or(Lang::En, Lang::from_header),
        address: address(peer.map(|peer| peer.ip()), app.config.trusted_hops, headers),
        user_agent: text(USER_AGENT).map(|agent| agent.chars().take(300).collect()),
    }
}

/// With n trusted proxies in front, the n-th entry of X-Forwarded-For from the right was written
/// by the outermost of them; whatever stands left of it, anyone could have sent.
fn address(peer: Option<IpAddr>, hops: u8, headers: &HeaderMap) -> IpAddr {
    let peer = peer.unwrap_or(IpAddr::from([0, 0, 0, 0])).to_canonical();
    let Some(skip) = usize::from(hops).checked_sub(1) else { return peer };
    let entries: Vec<_> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let entry =
        entries.iter().rev().nth(skip).and_then(|entry| entry.trim().parse::<IpAddr>().ok());
    entry.map_or(peer, |address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(hops: u8, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        address(Some([10, 0, 0, 9].into()), hops, &headers).to_string()
    }

    #[test]
    fn only_trusted_hops_name_the_client() {
        assert_eq!(seen(0, &["1.1.1.1"]), "10.0.0.9");
        assert_eq!(seen(1, &["6.6.6.6, 1.1.1.1"]), "1.1.1.1");
        assert_eq!(seen(2, &["6.6.6.6, 1.1.1.1, 2.2.2.2"]), "1.1.1.1");
        assert_eq!(seen(2, &["6.6.6.6", "1.1.1.1", "2.2.2.2"]), "1.1.1.1");
        assert_eq!(seen(2, &["1.1.1.1"]), "10.0.0.9");
        assert_eq!(seen(1, &["rubbish"]), "10.0.0.9");
        assert_eq!(seen(1, &["::ffff:1.1.1.1"]), "1.1.1.1");
    }
}
