//! The remember token of a device, as requests and responses carry it.

use axum::http::{HeaderMap, HeaderValue, header::COOKIE};
use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    accounts::tokens,
    app::App,
    kernel::{error::Result, ids},
};

const COOKIE_NAME: &str = "dermaga_remember";

/// The device of a valid remember token in the request.
pub async fn live_device(
    app: &App,
    headers: &HeaderMap,
    now: DateTime<Utc>,
) -> Result<Option<tokens::Remembered>> {
    let Some(token) = presented(headers) else { return Ok(None) };
    let device = tokens::remembered(&app.db, &ids::hash(&token)).await?;
    Ok(device.filter(|device| device.expires_at > now && device.rotated_at.is_none()))
}

/// The remember token of the request, from the header or the cookie.
pub fn presented(headers: &HeaderMap) -> Option<String> {
    if let Some(token) = headers.get("x-remember-token") {
        return token.to_str().ok().map(str::to_owned);
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE_NAME)
        .map(|(_, token)| token.to_owned())
}

/// Makes the browser keep the token until it expires.
pub fn cookie(app: &App, token: &str, life: TimeDelta) -> HeaderValue {
    set_cookie(app, token, life.num_seconds())
}

/// Makes the browser forget the token.
pub fn forget_cookie(app: &App) -> HeaderValue {
    set_cookie(app, "", 0)
}

fn set_cookie(app: &App, token: &str, max_age: i64) -> HeaderValue {
    let secure = if app.config.public_url().starts_with("https://") { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE_NAME}={token}; Max-Age={max_age}; Path=/; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}
