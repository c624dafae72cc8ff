//! Signing in and out, and acting for a partner.

use axum::{http::HeaderValue, response::Response};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::{Value, json};

use crate::web::{
    SignIn,
    answer::own_path,
    client::{Call, Envelope},
    forms::Values,
    resume,
    view::data,
    visit::Visit,
};

pub const SIGN_IN: SignIn = SignIn { hold, confirm, after };

/// How long the password of a sign-in waits for the code of the second factor.
const CODE_WAITS: TimeDelta = TimeDelta::minutes(5);
/// Prefix of the fields of a form that waits for a sign-in.
const HELD: &str = "held.";

/// The sign-in, in one step or, with a second factor, in two.
pub fn login(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        match form {
            Some(values) => sign_in(visit, values).await,
            None => {
                let next = visit.parameter("next").and_then(own_path).map(str::to_owned);
                // Signed in already, perhaps by another tab a moment ago.
                if visit.me.is_some() {
                    return visit.redirect(next.as_deref().unwrap_or("/console"));
                }
                let values = next.map(|next| ("_next".to_owned(), next));
                show(visit, 200, &Values(values.into_iter().collect()), &Shown::default())
            }
        }
    }
    .boxed()
}

/// What the sign-in page says.
#[derive(Default)]
struct Shown<'a> {
    /// The sealed password that waits for a code.
    sealed: Option<String>,
    refusal: Option<&'a Envelope>,
    /// Why a form led here.
    waiting: bool,
}

fn show(visit: Visit, status: u16, values: &Values, shown: &Shown<'_>) -> Response {
    let lang = visit.lang();
    let title = match shown.sealed {
        Some(_) => lang.of("Second factor", "Faktor kedua"),
        None => lang.of("Sign in", "Masuk"),
    };
    let held = values
        .0
        .iter()
        .filter(|(name, _)| name.starts_with(HELD) || matches!(name.as_str(), "_next" | "_resume"));
    let contents = context! {
        mode => "login",
        action => "/console/login",
        email => values.get("email").or(visit.session.remembered_email.as_deref()),
        remember => values.get("remember") == Some("true"),
        held => data(held.collect::<Vec<_>>()),
        sealed => shown.sealed.as_deref(),
        waiting => shown.waiting,
        refusal => shown.refusal.map(|refusal| refusal.message.as_str()),
        retry_after => shown.refusal.and_then(|refusal| refusal.retry_after),
    };
    visit.render(status, "login.html", title, contents)
}

async fn sign_in(mut visit: Visit, mut values: Values) -> Response {
    let sealed = values.take("_sealed");
    let credentials = match sealed.as_deref() {
        Some(sealed) => match unseal(&visit, sealed) {
            Some(credentials) => credentials,
            None => return show(visit, 200, &values, &Shown::default()),
        },
        None => {
            let text = |name| values.get(name).unwrap_or_default().to_owned();
            let at = visit.web.app().clock.now();
            Credentials { email: text("email"), password: text("password"), at }
        }
    };
    let code = values.take("_code").unwrap_or_default();
    let Credentials { email, password, .. } = &credentials;
    let mut body = json!({ "email": email, "password": password, "role": "any" });
    if sealed.is_some() {
        body["code"] = json!(code.trim());
    }
    let remember = visit.session.remember.clone();
    let call = Call { remember, ..Call::of("login").json(body) };
    let answer = visit.web.client().ask(&visit.context, call).await;
    if !answer.is_success() {
        return refused(visit, values, &answer, &credentials);
    }
    visit.open(&answer.data);
    if values.get("remember") == Some("true") {
        remember_device(&mut visit, email).await;
    }
    if visit.recognize().await.is_err() || visit.me.is_none() {
        return visit.redirect("/console");
    }
    go_on(visit, &values).await
}

fn refused(
    visit: Visit,
    mut values: Values,
    answer: &Envelope,
    credentials: &Credentials,
) -> Response {
    values.set("email", &credentials.email);
    let sealed = match answer.error.as_str() {
        "second_factor_required" => seal(&visit, credentials),
        _ => None,
    };
    let refusal = sealed.is_none().then_some(answer);
    let status = if sealed.is_some() { 200 } else { answer.status };
    show(visit, status, &values, &Shown { sealed, refusal, waiting: false })
}

async fn remember_device(visit: &mut Visit, email: &str) {
    let call = Call::of("remember_me").json(json!({ "email": email }));
    let answer = visit.ask(call).await;
    if answer.is_success() {
        visit.jar.remember_email(email);
        visit.jar.remember(answer.data["remember_token"].as_str().unwrap_or_default());
    }
}

/// To the form that waited, filled in and not sent; else to where the person wanted to go.
async fn go_on(visit: Visit, values: &Values) -> Response {
    if let Some(path) = values.get("_resume").and_then(own_path) {
        let held = values
            .0
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(HELD)?.to_owned(), value.clone())));
        let path = path.to_owned();
        return resume(visit, &path, Values(held.collect())).await;
    }
    let next = values.get("_next").and_then(own_path).unwrap_or("/console").to_owned();
    visit.redirect(&next)
}

struct Credentials {
    email: String,
    password: String,
    /// When the password was typed.
    at: DateTime<Utc>,
}

/// The password between the two steps of a sign-in: encrypted, and for a few minutes.
fn seal(visit: &Visit, Credentials { email, password, at }: &Credentials) -> Option<String> {
    let text = json!({ "email": email, "password": password, "at": at }).to_string();
    visit.web.app().sealer.seal(&text).ok()
}

fn unseal(visit: &Visit, sealed: &str) -> Option<Credentials> {
    let app = visit.web.app();
    let opened: Value = serde_json::from_str(&app.sealer.open(sealed).ok()?).ok()?;
    let at: DateTime<Utc> = opened["at"].as_str()?.parse().ok()?;
    let text = |name: &str| opened[name].as_str().map(str::to_owned);
    let credentials = Credentials { email: text("email")?, password: text("password")?, at };
    (app.clock.now() < at + CODE_WAITS).then_some(credentials)
}

/// A form whose session has ended: signing in shows it again, filled in.
fn hold(visit: Visit, values: &Values) -> Response {
    let held = held(&visit, values);
    show(visit, 401, &held, &Shown { waiting: true, ..Shown::default() })
}

fn held(visit: &Visit, values: &Values) -> Values {
    let mut held = Values(vec![("_resume".to_owned(), visit.path.clone())]);
    let fields = visit.held(values).into_iter();
    held.0.extend(fields.map(|(name, value)| (format!("{HELD}{name}"), value)));
    held
}

/// A form that needs the password once more.
fn confirm(visit: Visit, values: &Values) -> Response {
    let held = held(&visit, values);
    show_confirmation(visit, 403, &held, None)
}

fn show_confirmation(
    visit: Visit,
    status: u16,
    values: &Values,
    refusal: Option<&Envelope>,
) -> Response {
    let title = visit.lang().of("Confirm it is you", "Pastikan ini Anda");
    let held = values.0.iter().filter(|(name, _)| name.starts_with(HELD) || name == "_resume");
    let second_factor = visit.me.as_ref().map(|me| me.profile["second_factor"] == true);
    let contents = context! {
        mode => "confirm",
        action => "/console/confirm",
        held => data(held.collect::<Vec<_>>()),
        second_factor => second_factor.unwrap_or_default(),
        refusal => refusal.map(|refusal| refusal.message.as_str()),
        retry_after => refusal.and_then(|refusal| refusal.retry_after),
    };
    visit.render(status, "login.html", title, contents)
}

/// Takes the password once more.
pub fn confirm_page(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let Some(mut values) = form else { return visit.redirect("/console") };
        let password = values.take("password").unwrap_or_default();
        let mut body = json!({ "password": password });
        if let Some(code) = values.take("_code").filter(|code| !code.trim().is_empty()) {
            body["code"] = json!(code.trim());
        }
        let answer = visit.ask(Call::of("reauthenticate").json(body)).await;
        match answer.is_success() {
            true => go_on(visit, &values).await,
            false => show_confirmation(visit, answer.status, &values, Some(&answer)),
        }
    }
    .boxed()
}

pub fn logout(mut visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        if form.is_none() {
            return visit.redirect("/console");
        }
        // The session of a partner first: the own one may have ended already.
        let acting = visit.session.acting.clone().map(|acting| (acting.token, None));
        let own = visit.session.own.clone().map(|own| (own, visit.session.remember.clone()));
        let mut message = String::new();
        for (token, remember) in acting.into_iter().chain(own) {
            let call = Call { bearer: Some(token), remember, ..Call::of("logout") };
            let answer = visit.ask(call).await;
            // The session goes on, so the browser must not forget it.
            if answer.status >= 500 || answer.status == 429 {
                return visit.problem(&answer);
            }
            if answer.is_success() {
                message = answer.message;
            }
        }
        visit.jar.sign_out();
        let mut response = visit.redirect_saying("/console/login", &message);
        // What the pier has kept on this device.
        let storage = HeaderValue::from_static("\"storage\"");
        response.headers_mut().insert("clear-site-data", storage);
        response
    }
    .boxed()
}

/// Ends the session of the partner, and returns to the own one.
pub fn stop_acting(mut visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        if let (Some(_), Some(acting)) = (form, visit.session.acting.take()) {
            visit.ask(Call { bearer: Some(acting.token), ..Call::of("logout") }).await;
            visit.jar.stop_acting();
        }
        visit.redirect("/console/partners")
    }
    .boxed()
}

/// What a successful form changes in the cookies.
fn after(visit: &mut Visit, answer: &Envelope) {
    if visit.page().operation == "impersonate_partner" {
        let seconds = answer.data["expires_in"].as_i64().unwrap_or_default();
        let until = visit.web.app().clock.now().timestamp() + seconds;
        if let Some(token) = answer.data["access_token"].as_str() {
            visit.jar.act_as(token, seconds, until);
        }
    }
}
