//! Handlers of sign-in, sign-out and sessions.

use axum::{
    extract::State,
    http::{HeaderMap, header::SET_COOKIE},
};
use chrono::{DateTime, Utc};

use super::device::{forget_cookie, live_device, presented};
use crate::{
    accounts::{
        hash_queue::Origin,
        lockout::{self, Attempt, Client},
        model::{Login, OpenSession, SessionsQuery, SignedIn},
        second_factor, store,
        tokens::{self, OpenedBy},
    },
    app::App,
    kernel::{
        audit::Change,
        caller::{Caller, Context, network_text},
        db::Tx,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::{self, Uuid},
    },
};

pub async fn login(
    State(app): State<App>,
    context: Context,
    headers: HeaderMap,
    Body(login): Body<Login>,
) -> Result<Reply<SignedIn>> {
    let now = app.clock.now();
    let network = network_text(context.address);
    let found = store::credentials_from(&app.db, &login.email, &network).await?;
    let is_known = found.as_ref().is_some_and(|account| account.knows_network(now));
    let device = live_device(&app, &headers, now).await?;
    let is_remembered = device.is_some_and(|device| device.email == login.email.as_str());
    let client = Client { email: &login.email, address: context.address, is_known, is_remembered };
    let attempt = lockout::sign_in(&app, &client, now).await?;

    let hash = found.as_ref().and_then(|account| account.credentials.password_hash.as_deref());
    let origin = Origin::new(context.address, is_known || is_remembered);
    let right = match app.passwords().verify(&login.password, hash, origin).await {
        Ok(right) => right,
        Err(busy) => {
            attempt.withdraw(&app.db).await?;
            return Err(busy);
        }
    };
    let found = found
        .filter(|account| right && login.role.admits(account.credentials.role))
        .ok_or(Error::InvalidCredentials)?;

    let account = &found.credentials;
    let code = match (account.second_factor, login.code()) {
        (false, _) => None,
        (true, Some(code)) => Some(code),
        (true, None) => {
            // Half a sign-in: it is taken back as a failure, but clears no earlier one. Otherwise
            // someone who knows the password could guess codes without limit.
            attempt.withdraw(&app.db).await?;
            return Err(Error::SecondFactorRequired);
        }
    };
    let guess = match code {
        Some(_) => lockout::guess_code(&app, &client, now).await?,
        None => Attempt::default(),
    };

    // Lock order: the account's row first, as in a reset.
    let mut tx = app.db.begin().await?;
    let hash = account.password_hash.as_deref().unwrap_or_default();
    let held = store::lock_for_login(&mut tx, account.id, hash, account.second_factor, now).await?;
    let proven = match code {
        Some(code) => held && second_factor::accept(&app, &mut tx, account.id, code, now).await?,
        None => true,
    };
    if held && !proven {
        return Err(Error::InvalidCredentials);
    }
    if proven {
        attempt.succeeded(&mut tx).await?;
        guess.succeeded(&mut tx).await?;
    }
    if !held {
        tx.commit().await?;
        account.status.standing()?;
        return Err(Error::InvalidCredentials);
    }
    if found.network_is_stale(now) {
        lockout::remember_network(&mut tx, account.id, context.address, now).await?;
    }
    let signed_in = open(&mut tx, account.id, OpenedBy::Password, &context, now).await?;
    tx.commit().await?;
    let signed_in = SignedIn { user: signed_in.user.to_response(&app), ..signed_in };
    Ok(Reply::data(signed_in).saying("Signed in.", "Berhasil masuk."))
}

/// Opens a session and builds the response of login.
pub async fn open(
    tx: &mut Tx,
    account_id: Uuid,
    opened: OpenedBy,
    context: &Context,
    now: DateTime<Utc>,
) -> Result<SignedIn> {
    let token = tokens::open_session(tx, account_id, opened, context, now).await?;
    let user = store::user_in(tx, account_id).await?.ok_or(Error::Unauthenticated)?;
    Ok(SignedIn {
        access_token: token.reveal().to_owned(),
        token_type: "Bearer",
        expires_in: tokens::SESSION.num_seconds(),
        expires_at: now + tokens::SESSION,
        user,
        remember_token: None,
    })
}

/// Ends this session and revokes the device of the remember token.
pub async fn logout(State(app): State<App>, caller: Caller, headers: HeaderMap) -> Result<Reply> {
    let remembered = match presented(&headers) {
        Some(token) => tokens::remembered(&app.db, &ids::hash(&token)).await?,
        None => None,
    };
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::lock_row(&mut tx, caller.person.id).await?;
    tokens::end_session(&mut tx, caller.person.id, caller.session_id).await?;
    tokens::end_impersonations(&mut tx, caller.person.id).await?;
    if let Some(device) = remembered.filter(|device| device.account_id == caller.person.id) {
        tokens::end_family(&mut tx, device.family_id).await?;
    }
    record(&mut tx, caller.session_id, "session.ended").await?;
    tx.commit().await?;
    let reply = Reply::done("Signed out.", "Berhasil keluar.");
    Ok(reply.header(SET_COOKIE, forget_cookie(&app)))
}

pub async fn list_sessions(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<SessionsQuery>,
) -> Result<Page<OpenSession>> {
    let page = tokens::sessions(&app.db, caller.person.id, &query, app.clock.now()).await?;
    Ok(page.each(|session| OpenSession { current: session.id == caller.session_id, ..session }))
}

pub async fn end_session(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply> {
    caller.refuse_impersonation()?;
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::lock_row(&mut tx, caller.person.id).await?;
    if !tokens::end_session(&mut tx, caller.person.id, id).await? {
        return Err(Error::NotFound);
    }
    tokens::end_impersonations(&mut tx, caller.person.id).await?;
    record(&mut tx, id, "session.ended").await?;
    tx.commit().await?;
    Ok(Reply::done("The session has ended.", "Sesi telah diakhiri."))
}

async fn record(
    tx: &mut crate::kernel::audit::AuditedTx,
    id: Uuid,
    action: &'static str,
) -> Result<()> {
    tx.record(Change { action, entity: "session", id, before: None, after: None }).await
}
