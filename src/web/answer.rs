//! Responses to a browser: pages, redirects, files.

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use crate::kernel::{http::Complete, lang::Lang};

/// Nothing but our own files, and no styles or scripts inside of a page.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// Lets the page use the camera.
pub fn allow_camera(response: &mut Response) {
    let camera = HeaderValue::from_static("camera=(self)");
    response.headers_mut().insert(PERMISSIONS, camera);
}

/// Whether any site may show the page in a frame. An extension of the response.
#[derive(Clone, Copy)]
pub struct AnyFrame;

/// Lets other sites embed the page.
pub fn allow_frames(response: &mut Response) {
    let policy = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        response.extensions_mut().insert(AnyFrame);
    }
}

/// Keeps the page out of search engines.
pub fn hide_from_engines(response: &mut Response) {
    let name = HeaderName::from_static("x-robots-tag");
    response.headers_mut().insert(name, HeaderValue::from_static("noindex"));
}

/// Lets the browser keep the page for its Back button.
pub fn allow_back(response: &mut Response) {
    let cached = HeaderValue::from_static("private, no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, cached);
}

/// An HTML page.
pub fn page(status: StatusCode, html: String, lang: Lang) -> Response {
    let mut response = (status, html).into_response();
    let headers = response.headers_mut();
    let mut set = |name, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    set(header::CONTENT_TYPE, "text/html; charset=utf-8");
    set(header::CONTENT_LANGUAGE, lang.as_str());
    set(header::VARY, "Accept-Encoding, Accept-Language, Cookie");
    with_policy(response)
}

/// Data for a script of a page.
pub fn json(status: u16, value: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    with_policy((status, kind, value.to_string()).into_response())
}

/// 303, so that reloading the next page does not send the form again.
pub fn redirect(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/console"));
    response.headers_mut().insert(header::LOCATION, to);
    with_policy(response)
}

/// The headers of all pages, and of scripts that make requests of their own.
pub fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Under `no-referrer` browsers send `Origin: null` with forms.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(PERMISSIONS, HeaderValue::from_static("camera=()"));
    response.extensions_mut().insert(Complete);
    response
}

/// Whether a form was sent by a page of this service. A browser says so itself; one that does not is
/// asked for the origin.
pub fn is_same_site(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text("origin") else { return false };
    let host = text("host").unwrap_or_default();
    // Whoever can change what is sent without TLS must not act for a page with it.
    let schemes: &[&str] = match public_url.starts_with("https://") {
        true => &["https://"],
        false => &["http://", "https://"],
    };
    let is_host = schemes.iter().any(|scheme| {
        origin.strip_prefix(scheme).is_some_and(|rest| !host.is_empty() && rest == host)
    });
    origin == public_url || is_host
}

/// A path of the console or the pier that a sign-in may lead back to. Anything else would let a link send people
/// elsewhere.
pub fn own_path(path: &str) -> Option<&str> {
    let is_own = ["/console", "/pier"].iter().any(|start| {
        path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    });
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    // A browser resolves dots, encoded ones too, before it sends the path.
    let bare = path.split(['?', '#']).next().unwrap_or(path).to_ascii_lowercase();
    let is_plain = is_plain && !["/.", "/%2e", "//"].iter().any(|part| bare.contains(part));
    (is_own && is_plain && !path.starts_with("/console/log")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forms_of_this_site_are_taken() {
        let check = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
            is_same_site(&pairs.collect(), "https://dermaga.example")
        };
        assert!(check(&[("sec-fetch-site", "same-origin")]));
        assert!(check(&[("sec-fetch-site", "none")]));
        assert!(!check(&[("sec-fetch-site", "same-site"), ("origin", "https://dermaga.example")]));
        assert!(!check(&[("sec-fetch-site", "cross-site")]));
        assert!(check(&[("origin", "https://dermaga.example")]));
        assert!(check(&[("origin", "https://127.0.0.1:8080"), ("host", "127.0.0.1:8080")]));
        assert!(!check(&[("origin", "http://dermaga.example"), ("host", "dermaga.example")]));
        let local = [("origin", "http://127.0.0.1:8080"), ("host", "127.0.0.1:8080")];
        let local = local.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        assert!(is_same_site(&local.into_iter().collect(), "http://localhost:8080"));
        assert!(!check(&[("origin", "https://evil.example"), ("host", "dermaga.example")]));
        assert!(!check(&[("origin", "null")]));
        assert!(!check(&[]));
    }

    #[test]
    fn a_sign_in_leads_back_to_pages_of_the_console_alone() {
        assert!(own_path("/console/boats?page=2").is_some());
        assert!(own_path("/console").is_some());
        assert!(own_path("/pier").is_some() && own_path("/pier/7?q=a").is_some());
        for other in [
            "//evil.example",
            "/consolez",
            "/piers",
            "/v1/users",
            "/console/login",
            "/console\\x",
            "",
        ] {
            assert!(own_path(other).is_none(), "{other}");
        }
        for dots in ["/console/../v1", "/console/%2E%2e/v1", "/console/.", "/console//evil.example"]
        {
            assert!(own_path(dots).is_none(), "{dots}");
        }
        assert!(own_path("/console/boats?search=../a//b").is_some());
    }
}
