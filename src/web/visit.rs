//! A request for a page: who asks, in which language, for what.

use std::sync::Arc;

use axum::{
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, RETRY_AFTER, SET_COOKIE},
    },
    response::Response,
};
use chrono::NaiveDate;
use minijinja::{Value as Data, context};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Web,
    again::{Again, may_pass},
    answer,
    client::{Call, Envelope},
    format::Locale,
    forms::Values,
    page::{Kind, Page},
    rights::Rights,
    session::{Jar, Session},
    shared::Dependencies,
    view::{self, data},
};
use crate::kernel::{
    access::Role,
    caller::Context,
    error::Error,
    ids::Uuid,
    lang::{Lang, text},
};

pub struct Visit {
    pub web: Web,
    /// Its number in the table.
    pub index: usize,
    pub context: Context,
    pub headers: HeaderMap,
    pub session: Session,
    /// Values of the parameters in the path.
    pub params: Vec<String>,
    /// The path as it was asked for.
    pub path: String,
    /// Whether a form was posted.
    pub is_form: bool,
    pub query: Vec<(String, String)>,
    pub jar: Jar,
    pub me: Option<Me>,
    /// The booking that the page is about, if the visitor is a guest.
    pub guest: Option<GuestBooking>,
    /// Of the page, as far as it has asked.
    pub dependencies: Dependencies,
    /// Whether search engines may list the page, if its line in the table says so.
    pub is_listed: bool,
    pub rights: Arc<Rights>,
}

/// A booking that a guest has opened. Code and address prove that it is the guest's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GuestBooking {
    pub id: String,
    pub code: String,
    pub email: String,
    /// Whether it was looked at last on an English page.
    #[serde(default)]
    pub in_english: bool,
}

/// The signed-in person.
pub struct Me {
    /// The answer of `GET /user/me`.
    pub profile: Value,
    pub unread: i64,
}

impl Me {
    pub fn id(&self) -> Result<Uuid, Error> {
        let id = self.profile["id"].as_str().unwrap_or_default();
        id.parse().map_err(Error::internal)
    }
}

impl Visit {
    pub fn page(&self) -> &Page {
        self.web.page(self.index)
    }

    pub fn lang(&self) -> Lang {
        self.context.lang
    }

    /// The present day in the service's zone.
    pub fn today(&self) -> NaiveDate {
        let app = self.web.app();
        app.clock.now().with_timezone(&app.config.timezone).date_naive()
    }

    pub fn locale(&self) -> Locale {
        Locale {
            lang: self.lang(),
            zone: self.web.app().config.timezone,
            opens_bookings: self.may("get_booking"),
        }
    }

    pub fn may(&self, operation: &str) -> bool {
        self.rights.may(operation)
    }

    pub fn role(&self) -> Option<Role> {
        self.rights.role()
    }

    /// The id of the signed-in account.
    pub fn my_id(&self) -> &str {
        self.me.as_ref().and_then(|me| me.profile["id"].as_str()).unwrap_or_default()
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The path with its query.
    pub fn address(&self) -> String {
        with_query(&self.path, &self.query)
    }

    /// The parameters that make another page for a search engine: a line, whatever the day.
    fn canonical_query(&self) -> Vec<(String, String)> {
        let path = self.page().path;
        if !path.ends_with("/search") && !path.ends_with("/p/{slug}") {
            return Vec::new();
        }
        let is_line = |(name, _): &&(String, String)| matches!(name.as_str(), "from" | "to");
        self.query.iter().filter(is_line).cloned().collect()
    }

    /// The parameters of an operation's path, by their names in the path of the page.
    pub fn params_of(&self, operation: &str) -> Vec<String> {
        let Some(operation) = self.web.client().operation(operation) else { return Vec::new() };
        let names = placeholders(operation.path);
        names.filter_map(|name| self.param_of(name).map(str::to_owned)).collect()
    }

    /// The value of a parameter in an operation's path.
    fn param_of(&self, name: &str) -> Option<&str> {
        match &self.guest {
            Some(guest) if name == "id" => Some(&guest.id),
            _ => self.param(name),
        }
    }

    /// The value of a parameter in the page's path.
    pub fn param(&self, name: &str) -> Option<&str> {
        let position = placeholders(self.page().path).position(|known| known == name)?;
        self.params.get(position).map(String::as_str)
    }

    /// A call of an operation with the parameters of the page's path: in its own path, or as filters.
    pub fn call(&self, operation: &'static str) -> Call {
        let input = self.web.client().input(operation);
        let call = Call::of(operation).params(&self.params_of(operation));
        if let Some(guest) = &self.guest {
            return call.query("code", &guest.code).query("email", &guest.email);
        }
        placeholders(self.page().path).zip(&self.params).fold(call, |call, (name, value)| {
            match input.parameter(name) {
                Some(_) => call.query(name, value.clone()),
                None => call,
            }
        })
    }

    /// A call of an operation that changes the record of the page.
    pub fn change(&self, operation: &'static str, mut body: Value) -> Call {
        let call = Call::of(operation).params(&self.params_of(operation));
        if let Some(guest) = &self.guest {
            body["code"] = json!(guest.code);
            body["email"] = json!(guest.email);
        }
        call.json(body)
    }

    /// The path of the page above.
    pub fn above(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(above, _)| above)
    }

    /// Calls an operation as the person.
    pub async fn ask(&self, call: Call) -> Envelope {
        let bearer = call.bearer.clone().or_else(|| self.session.token().map(str::to_owned));
        let answer = self.web.client().ask(&self.context, Call { bearer, ..call }).await;
        self.dependencies.add(&answer);
        answer
    }

    /// The answer of an operation as it is.
    pub async fn send(&self, call: Call) -> Response {
        let bearer = self.session.token().map(str::to_owned);
        self.web.client().send(&self.context, Call { bearer, ..call }).await
    }

    /// Loads the profile of the session, and resumes a remembered device. `Err` is a failure of the
    /// service, and not that nobody is signed in.
    pub async fn recognize(&mut self) -> Result<(), Envelope> {
        if self.session.token().is_some() {
            let profile = self.ask(Call::of("get_profile")).await;
            match profile.status {
                200 => return self.welcome(profile.data).await,
                401 | 403 => {}
                _ => return Err(profile),
            }
            // The acting session has ended; the own one may not have.
            if self.session.acting.take().is_some() {
                self.jar.stop_acting();
                return Box::pin(self.recognize()).await;
            }
        }
        match self.is_navigation() {
            true => self.resume().await,
            false => Ok(()),
        }
    }

    /// Whether the browser opens a page. Images, streams and scripts of a page do not resume a device:
    /// they are asked for at once, and a remember token can be exchanged once.
    pub fn is_navigation(&self) -> bool {
        let mode = self.headers.get("sec-fetch-mode").and_then(|mode| mode.to_str().ok());
        !matches!(self.page().kind, Kind::File) && mode.is_none_or(|mode| mode == "navigate")
    }

    async fn resume(&mut self) -> Result<(), Envelope> {
        let (Some(token), Some(email)) =
            (self.session.remember.clone(), self.session.remembered_email.clone())
        else {
            return Ok(());
        };
        let body = json!({ "email": email });
        let call = Call { remember: Some(token), ..Call::of("remember_me").json(body) };
        let resumed = self.web.client().ask(&self.context, call).await;
        if !resumed.is_success() {
            // Another request of this browser may have been faster, and has the new token. A failure
            // or a limit says nothing about the device.
            if matches!(resumed.status, 401 | 403 | 422) && resumed.error != "invalid_token" {
                self.jar.forget_device();
            }
            return Ok(());
        }
        self.open(&resumed.data);
        self.jar.remember(resumed.data["remember_token"].as_str().unwrap_or_default());
        let profile = self.ask(Call::of("get_profile")).await;
        if profile.is_success() {
            self.welcome(profile.data).await?;
        }
        Ok(())
    }

    /// Keeps the session that a sign-in has opened.
    pub fn open(&mut self, signed_in: &Value) {
        let token = signed_in["access_token"].as_str().unwrap_or_default();
        self.jar.sign_in(token, signed_in["expires_in"].as_i64().unwrap_or_default());
        self.session.own = Some(token.to_owned());
        self.session.acting = None;
    }

    async fn welcome(&mut self, profile: Value) -> Result<(), Envelope> {
        let unread = async {
            let newest = Call::of("list_notifications").query("page_size", "1");
            self.ask(newest).await.beside.get("unread_count").and_then(Value::as_i64)
        };
        let behind = async {
            match (&self.session.acting, &self.session.own) {
                (Some(_), Some(own)) => {
                    let call = Call { bearer: Some(own.clone()), ..Call::of("get_profile") };
                    Some(self.ask(call).await.data)
                }
                _ => None,
            }
        };
        let (unread, behind) = tokio::join!(unread, behind);
        self.rights = Rights::of(self.web.client(), &profile, behind.as_ref()).into();
        self.me = Some(Me { profile, unread: unread.unwrap_or_default() });
        Ok(())
    }

    /// Renders a page. `title` is its heading.
    pub fn render(mut self, status: u16, template: &str, title: &str, contents: Data) -> Response {
        let lang = self.lang();
        if self.session.flash.is_some() {
            self.jar.forget_flash();
        }
        let functions = view::functions(self.web.app(), lang, self.rights.clone());
        let site = super::site_language(&self.path);
        let [in_id, in_en] = in_both_languages(&self.path, &self.query);
        let canonical = in_both_languages(&self.path, &self.canonical_query());
        let base = self.web.app().config.public_url();
        let [url_id, url_en] = canonical.map(|path| site.map(|_| format!("{base}{path}")));
        let is_indexed = self.page().indexed && self.is_listed && status == 200;
        let frame = context! {
            url_id,
            url_en,
            is_indexed,
            other_path => if lang == Lang::En { in_id.as_str() } else { in_en.as_str() },
            frame => if site.is_some() { "site_base.html" } else { "base.html" },
            is_guest => site.is_some(),
            title,
            path => self.path.as_str(),
            address => self.address(),
            request_id => self.context.request_id.as_str(),
            flash => self.session.flash.as_deref(),
            acting_until => self.session.acting.as_ref().map(|acting| acting.until),
            me => self.me.as_ref().map(|me| data(&me.profile)),
            unread => self.me.as_ref().map(|me| me.unread),
            menu => data(self.web.menu(&self)),
        };
        let html = view::render(template, context! { ..contents, ..frame, ..functions });
        let response = match html {
            Ok(html) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
                let mut response = answer::page(status, html, lang);
                if self.page().path.starts_with("/pier") {
                    answer::allow_camera(&mut response);
                }
                if site.is_some() {
                    answer::allow_back(&mut response);
                }
                if !is_indexed {
                    answer::hide_from_engines(&mut response);
                }
                response
            }
            Err(error) => {
                tracing::error!(request_id = %self.context.request_id, %error, template, "page failed");
                use axum::response::IntoResponse;
                return Error::internal(error).into_response();
            }
        };
        self.with_cookies(response)
    }

    pub fn redirect(self, to: &str) -> Response {
        let response = answer::redirect(to);
        self.with_cookies(response)
    }

    /// Leads to another page, which shows the message.
    pub fn redirect_saying(mut self, to: &str, message: &str) -> Response {
        self.jar.flash(message);
        self.redirect(to)
    }

    pub fn with_cookies(self, mut response: Response) -> Response {
        if !self.jar.cookies.is_empty() {
            // Nobody else may get them from a cache.
            let private = HeaderValue::from_static("private, no-store");
            response.headers_mut().insert(CACHE_CONTROL, private);
        }
        for cookie in self.jar.cookies {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        response
    }

    /// The page of a refusal or failure.
    pub fn problem(self, envelope: &Envelope) -> Response {
        match (envelope.status, envelope.error.as_str()) {
            (401, _) => return self.to_sign_in(),
            (403, "second_factor_enrolment_required") => {
                return self.redirect("/console/account/second-factor");
            }
            _ => {}
        }
        let again = !self.is_form && may_pass(envelope.status);
        let contents = context! {
            status => envelope.status,
            message => envelope.message.as_str(),
            retry_after => envelope.retry_after,
            again => again.then(|| self.address()),
        };
        let template = match super::site_language(&self.path) {
            Some(_) => "site_problem.html",
            None => "problem.html",
        };
        self.render_refusal(envelope, template, contents)
    }

    /// The page of a limit or a failure that keeps what was typed, to be sent once more.
    pub fn try_again(self, values: Values, refusal: &Envelope) -> Response {
        let contents = Again::new(self.page(), &self.headers, values).contents(refusal);
        self.render_refusal(refusal, "try_again.html", contents)
    }

    /// The page of a refusal or failure that came before the form could be shown again.
    pub fn interrupted(self, mut values: Values, refusal: &Envelope) -> Response {
        if !self.is_form || !may_pass(refusal.status) {
            return self.problem(refusal);
        }
        values.set("_show", "1");
        self.try_again(values, refusal)
    }

    fn render_refusal(self, refusal: &Envelope, template: &str, contents: Data) -> Response {
        let title = problem_title(refusal.status, self.lang());
        let mut response = self.render(refusal.status, template, title, contents);
        if let Some(seconds) = refusal.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    pub fn forbidden(self) -> Response {
        let message = text(
            "Your permission does not include this page.",
            "Hak akses Anda tidak mencakup halaman ini.",
        );
        let message = message.say(self.lang()).to_owned();
        self.problem(&Envelope { status: 403, message, ..Envelope::default() })
    }

    pub fn not_found(self) -> Response {
        self.problem(&Envelope { status: 404, ..Envelope::default() })
    }

    /// Nobody is signed in: to the sign-in, and back.
    pub fn to_sign_in(self) -> Response {
        let next = form_urlencoded::byte_serialize(self.address().as_bytes()).collect::<String>();
        self.redirect(&format!("/console/login?next={next}"))
    }

    /// The fields of a form that has to wait for a sign-in.
    pub fn held(&self, values: &Values) -> Vec<(String, String)> {
        let values = self.page().without_secrets(values.clone());
        values.0.into_iter().filter(|(name, _)| name != "_key").collect()
    }
}

pub fn problem_title(status: u16, lang: Lang) -> &'static str {
    match status {
        403 => lang.of("Not permitted", "Tidak diizinkan"),
        404 => lang.of("Not here, or not yours", "Tidak ada, atau bukan milik Anda"),
        405 => lang.of("Not possible", "Tidak dapat dilakukan"),
        409 => lang.of("Not possible now", "Belum dapat dilakukan"),
        413 => lang.of("Too large", "Terlalu besar"),
        429 => lang.of("Too many requests", "Terlalu banyak permintaan"),
        503 => lang.of("Busy for a moment", "Sedang sibuk"),
        400..500 => lang.of("That did not work", "Permintaan tidak berhasil"),
        _ => lang.of("Something went wrong", "Terjadi kesalahan"),
    }
}

/// The address of a page of the travellers' site in Indonesian and in English.
pub fn in_both_languages(path: &str, query: &[(String, String)]) -> [String; 2] {
    let bare = path.strip_prefix("/en").unwrap_or(path);
    let path = if bare.is_empty() { "/" } else { bare };
    let english = format!("/en{}", path.trim_end_matches('/'));
    [with_query(path, query), with_query(&english, query)]
}

/// The names of the parameters in a path.
pub fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('/').filter_map(|part| part.strip_prefix('{'));
    parts.map(|part| part.trim_end_matches('}'))
}

pub fn with_query(path: &str, query: &[(String, String)]) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    pairs.extend_pairs(query.iter().filter(|(_, value)| !value.is_empty()));
    match pairs.finish().as_str() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}
