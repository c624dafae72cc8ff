//! Remembered devices: enrol while signed in, resume later.
//!
//! Each resume replaces the token. A replaced token that is used again was copied, so the device is
//! revoked.

use axum::{
    extract::State,
    http::{
        HeaderMap, HeaderValue,
        header::{COOKIE, SET_COOKIE},
    },
};
use chrono::{DateTime, Utc};

use super::sessions;
use crate::{
    accounts::{
        model::{JustEmail, Remembered},
        store,
        tokens::{self, OpenedBy},
    },
    app::App,
    kernel::{
        audit::Change,
        caller::{Caller, Context},
        email::Email,
        error::{Error, Result},
        http::{Body, Reply},
        ids,
    },
};

const COOKIE_NAME: &str = "dermaga_remember";

pub async fn remember_me(
    State(app): State<App>,
    caller: Option<Caller>,
    context: Context,
    headers: HeaderMap,
    Body(JustEmail { email }): Body<JustEmail>,
) -> Result<Reply<Remembered>> {
    let now = app.clock.now();
    let (token, remembered) = match caller {
        Some(caller) => enrol(&app, &caller, &email, now).await?,
        None => {
            let token = presented(&headers).ok_or(Error::Unauthenticated)?;
            resume(&app, &token, &email, &context, now).await?
        }
    };
    Ok(Reply::data(remembered).header(SET_COOKIE, cookie(&app, &token)))
}

async fn enrol(
    app: &App,
    caller: &Caller,
    email: &Email,
    now: DateTime<Utc>,
) -> Result<(String, Remembered)> {
    if caller.person.email != email.as_str() {
        return Err(Error::Unauthenticated);
    }
    // An impersonated session cannot be renewed.
    caller.in_person()?;
    let mut tx = caller.begin(&app.db, now).await?;
    store::hold(&mut tx, caller.person.id).await?;
    if !tokens::session_exists(&mut tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let family_id = ids::fresh();
    let token = tokens::remember(&mut tx, caller.person.id, family_id, now).await?;
    let change = Change {
        action: "device.remembered",
        entity: "remember_family",
        id: family_id,
        before: None,
        after: None,
    };
    tx.record(change).await?;
    tx.commit().await?;
    let token = token.reveal().to_owned();
    let expires_at = now + tokens::REMEMBERED;
    Ok((token.clone(), Remembered::Enrolled { remember_token: token, expires_at }))
}

async fn resume(
    app: &App,
    token: &str,
    email: &Email,
    context: &Context,
    now: DateTime<Utc>,
) -> Result<(String, Remembered)> {
    let hash = ids::hash(token);
    let known = tokens::remembered(&app.db, &hash).await?;
    let known = known
        .filter(|known| known.email == email.as_str() && known.expires_at > now)
        .ok_or(Error::Unauthenticated)?;
    let mut tx = app.db.begin().await?;
    store::hold(&mut tx, known.account_id).await?;
    if !tokens::mark_exchanged(&mut tx, &hash, now).await? {
        // The token was already exchanged: revoke the device.
        tokens::end_family(&mut tx, known.family_id).await?;
        tx.commit().await?;
        tracing::warn!(
            account = %known.account_id,
            "a remember token was reused after its rotation; the device is revoked"
        );
        return Err(Error::Unauthenticated);
    }
    known.status.standing()?;
    store::mark_login(&mut tx, known.account_id, now).await?;
    let next = tokens::remember(&mut tx, known.account_id, known.family_id, now).await?;
    let device = OpenedBy::Device(known.family_id);
    let mut signed_in = sessions::open(&mut tx, known.account_id, device, context, now).await?;
    signed_in.user.status.standing()?;
    tx.commit().await?;
    let next = next.reveal().to_owned();
    signed_in.remember_token = Some(next.clone());
    signed_in.user = signed_in.user.shown(app);
    Ok((next, Remembered::Resumed(Box::new(signed_in))))
}

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

fn cookie(app: &App, token: &str) -> HeaderValue {
    set_cookie(app, token, tokens::REMEMBERED.num_seconds())
}

pub fn forget_cookie(app: &App) -> HeaderValue {
    set_cookie(app, "", 0)
}

fn set_cookie(app: &App, token: &str, max_age: i64) -> HeaderValue {
    let secure = if app.config.public_url().starts_with("https://") { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE_NAME}={token}; Max-Age={max_age}; Path=/; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}
