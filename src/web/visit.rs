//! A request for a page: who asks, in which language, for what.

use std::sync::Arc;

use axum::{
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::Response,
};
use minijinja::{Value as Data, context};
use serde_json::Value;

use super::{
    Web, answer,
    client::{Call, Envelope},
    format::Locale,
    forms::Values,
    page::Page,
    rights::Rights,
    session::{Jar, Session},
    view::{self, data},
};
use crate::kernel::{
    access::Role,
    caller::Context,
    error::Error,
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
    pub query: Vec<(String, String)>,
    pub jar: Jar,
    pub me: Option<Me>,
    pub rights: Arc<Rights>,
}

/// The signed-in person.
pub struct Me {
    /// The answer of `GET /user/me`.
    pub profile: Value,
    pub unread: i64,
}

impl Visit {
    pub fn page(&self) -> &Page {
        self.web.page(self.index)
    }

    pub fn lang(&self) -> Lang {
        self.context.lang
    }

    pub fn locale(&self) -> Locale {
        Locale { lang: self.lang(), zone: self.web.app().config.timezone }
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

    /// The parameters of an operation's path, by their names in the path of the page.
    pub fn params_of(&self, operation: &str) -> Vec<String> {
        let Some(operation) = self.web.client().operation(operation) else { return Vec::new() };
        let names = placeholders(operation.path);
        names.filter_map(|name| self.param(name).map(str::to_owned)).collect()
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
        placeholders(self.page().path).zip(&self.params).fold(call, |call, (name, value)| {
            match input.parameter(name) {
                Some(_) => call.query(name, value.clone()),
                None => call,
            }
        })
    }

    /// Calls an operation as the person.
    pub async fn ask(&self, call: Call) -> Envelope {
        let bearer = call.bearer.clone().or_else(|| self.session.token().map(str::to_owned));
        self.web.client().ask(&self.context, Call { bearer, ..call }).await
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
        self.resume().await
    }

    async fn resume(&mut self) -> Result<(), Envelope> {
        let (Some(token), Some(email)) =
            (self.session.remember.clone(), self.session.remembered_email.clone())
        else {
            return Ok(());
        };
        let body = serde_json::json!({ "email": email });
        let call = Call { remember: Some(token), ..Call::of("remember_me").json(body) };
        let resumed = self.web.client().ask(&self.context, call).await;
        if !resumed.is_success() {
            self.jar.forget_device();
            return Ok(());
        }
        self.open(&resumed.data);
        for cookie in resumed.cookies {
            self.jar.add(cookie);
        }
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
        let frame = context! {
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
                answer::page(status, html, lang, &self.headers)
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
        let title = problem_title(envelope.status, self.lang());
        let contents = context! {
            status => envelope.status,
            message => envelope.message.as_str(),
            retry_after => envelope.retry_after,
        };
        self.render(envelope.status, "problem.html", title, contents)
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
        let values = values.clone().without_secrets();
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
