//! Remembered devices: enrol while signed in, resume later.
//!
//! Each resume replaces the token; 90 days after the enrolment the device must enrol again. A resumed
//! session needs no code of the second factor, and its sign-in does not count as recent. A replaced
//! token that is used again was copied, so the device is revoked. Only right after its exchange it is
//! merely refused to a page that the same device opens: a browser opens several pages at once.

use axum::{
    extract::State,
    http::{HeaderMap, header::SET_COOKIE},
};
use chrono::{DateTime, Utc};

use super::{
    device::{cookie, presented},
    sessions,
};
use crate::{
    accounts::{
        model::{EmailForm, Remembered},
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

pub async fn remember_me(
    State(app): State<App>,
    caller: Option<Caller>,
    context: Context,
    headers: HeaderMap,
    Body(EmailForm { email }): Body<EmailForm>,
) -> Result<Reply<Remembered>> {
    let now = app.clock.now();
    let (token, expires_at, remembered) = match caller {
        Some(caller) => enrol(&app, &caller, &email, now).await?,
        None => {
            let token = presented(&headers).ok_or(Error::Unauthenticated)?;
            resume(&app, &token, &email, &context, now).await?
        }
    };
    Ok(Reply::data(remembered).header(SET_COOKIE, cookie(&app, &token, expires_at - now)))
}

async fn enrol(
    app: &App,
    caller: &Caller,
    email: &Email,
    now: DateTime<Utc>,
) -> Result<(String, DateTime<Utc>, Remembered)> {
    if caller.person.email != email.as_str() {
        return Err(Error::Unauthenticated);
    }
    // An impersonated session cannot be renewed.
    caller.refuse_impersonation()?;
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_row(&mut tx, caller.person.id).await?;
    if !tokens::session_exists(&mut tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let family_id = ids::fresh();
    let (token, expires_at) =
        tokens::remember(&mut tx, caller.person.id, family_id, now, now).await?;
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
    Ok((token.clone(), expires_at, Remembered::Enrolled { remember_token: token, expires_at }))
}

async fn resume(
    app: &App,
    token: &str,
    email: &Email,
    context: &Context,
    now: DateTime<Utc>,
) -> Result<(String, DateTime<Utc>, Remembered)> {
    let hash = ids::hash(token);
    let known = tokens::remembered(&app.db, &hash).await?;
    let known = known
        .filter(|known| known.email == email.as_str() && known.expires_at > now)
        .ok_or(Error::Unauthenticated)?;
    let mut tx = app.db.begin().await?;
    store::lock_row(&mut tx, known.account_id).await?;
    if !tokens::mark_exchanged(&mut tx, &hash, now).await? {
        if context.is_page && tokens::was_just_exchanged(&mut tx, &hash, context, now).await? {
            return Err(Error::InvalidToken);
        }
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
    let (next, expires_at) =
        tokens::remember(&mut tx, known.account_id, known.family_id, known.enrolled_at, now)
            .await?;
    let device = OpenedBy::Device(known.family_id);
    let mut signed_in = sessions::open(&mut tx, known.account_id, device, context, now).await?;
    signed_in.user.status.standing()?;
    tx.commit().await?;
    let next = next.reveal().to_owned();
    signed_in.remember_token = Some(next.clone());
    signed_in.user = signed_in.user.to_response(app);
    Ok((next, expires_at, Remembered::Resumed(Box::new(signed_in))))
}
