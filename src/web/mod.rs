//! The web layer: pages of HTML that are clients of the API in the same process.
//!
//! `pages.rs` has a line for each page. A page names operations; it has no rule and no SQL of its own.
//! A request comes from the edge to [`Web::handle`], which finds out who asks; the kind of the page
//! ([`kinds`]) or its own handler (`console`) asks the operations and renders a template.

pub mod again;
pub mod answer;
pub mod assets;
pub mod cancelling;
mod chart;
pub mod checkout;
pub mod client;
pub mod fields;
pub mod format;
pub mod forms;
pub mod kinds;
pub mod offers;
pub mod page;
pub mod rescheduling;
pub mod rights;
pub mod schema;
pub mod session;
mod shared;
pub mod view;
pub mod visit;
pub mod words;

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{DefaultBodyLimit, Request},
    http::{
        HeaderMap, Method, StatusCode, Uri,
        header::{ACCEPT, CONTENT_LENGTH},
    },
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use matchit::Router;
use minijinja::context;
use serde::Serialize;

use self::{
    again::{Again, Typed, may_pass},
    client::{Client, Document, Envelope, Shown, read},
    forms::{Spec, Unread, Values},
    page::{Kind, Page},
    rights::Rights,
    session::{Jar, Session, language},
    shared::{Dependencies, SharedPages},
    visit::{Visit, in_both_languages, problem_title},
};
use crate::{
    app::App,
    kernel::{
        caller::Context,
        error::Error,
        http::{Answer, Complete, MAX_UPLOAD, Path, PathParams},
        lang::{Lang, text},
        slots::{Slot, Slots},
    },
    table::{Operation, Routes},
};

/// How many forms with files are in memory at once, and how long another one waits.
const FORMS_WITH_FILES: usize = 8;
const WAIT: Duration = Duration::from_secs(2);
/// The largest form that is read although a limit refuses it, in bytes.
const MAX_REFUSED_FORM: usize = 64 * 1024;

/// The pages of a site, and how a person signs in.
pub struct Site {
    pub pages: Vec<Page>,
    pub sign_in: SignIn,
    /// Files at paths of their own, such as a service worker.
    pub files: Vec<(&'static str, MethodRouter<App>)>,
}

/// What happens to a form that needs a sign-in.
#[derive(Clone, Copy)]
pub struct SignIn {
    /// The session has ended: a sign-in that keeps the form.
    pub hold: fn(Visit, &Values) -> Response,
    /// The password is needed once more, for this form.
    pub confirm: fn(Visit, &Values) -> Response,
    /// After the operation of a form has succeeded.
    pub after: fn(&mut Visit, &Envelope),
}

/// The console. Cheap to clone.
#[derive(Clone)]
pub struct Web(Arc<Parts>);

struct Parts {
    app: App,
    client: Arc<Client>,
    site: Site,
    /// Pages by path, for forms that are shown again after a sign-in.
    router: Router<usize>,
    /// Forms with files. Others are small and need no slot.
    forms: Slots,
    shared: SharedPages,
}

/// A posted form and its files.
type Form = (Values, Vec<forms::Upload>);

/// Whether errors on a path are pages.
pub fn is_page(path: &str) -> bool {
    const SITE: &[&str] =
        &["/console", "/pier", "/en", "/search", "/book", "/booking", "/terms", "/p", "/widget"];
    path == "/" || SITE.iter().any(|start| is_below(path, start))
}

/// Whether a browser opens an address, so that it shows a page if there is nothing.
pub fn is_asked_for_page(method: &Method, headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    *method == Method::GET && accept.is_some_and(|accept| accept.contains("text/html"))
}

fn is_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The language of a page of the travellers' site, which is in its path. `None` for other pages.
pub fn site_language(path: &str) -> Option<Lang> {
    let is_inside = is_below(path, "/console") || is_below(path, "/pier");
    (!is_inside).then(|| if is_below(path, "/en") { Lang::En } else { Lang::Id })
}

impl Web {
    pub fn new(
        app: &App,
        site: Site,
        routes: Routes,
        operations: &[Operation],
        document: Document,
    ) -> Self {
        let mut router = Router::new();
        for (index, page) in site.pages.iter().enumerate() {
            router.insert(page.path, index).expect("the paths of pages do not conflict");
        }
        let client = Client::new(app, routes, operations, document).into();
        let forms = Slots::new(FORMS_WITH_FILES);
        let shared = SharedPages::default();
        Self(Arc::new(Parts { app: app.clone(), client, site, router, forms, shared }))
    }

    pub fn app(&self) -> &App {
        &self.0.app
    }

    pub fn client(&self) -> &Arc<Client> {
        &self.0.client
    }

    pub fn pages(&self) -> &[Page] {
        &self.0.site.pages
    }

    pub fn sign_in(&self) -> SignIn {
        self.0.site.sign_in
    }

    pub fn page(&self, index: usize) -> &Page {
        &self.0.site.pages[index]
    }

    /// The page of a path, with the values of its parameters.
    pub fn find(&self, path: &str) -> Option<(usize, Vec<String>)> {
        let found = self.0.router.at(path).ok()?;
        Some((*found.value, found.params.iter().map(|(_, value)| value.to_owned()).collect()))
    }

    /// The routes of all pages and assets.
    pub fn handlers(&self) -> Vec<(&'static str, MethodRouter<App>)> {
        let assets = get(async |Path(name): Path<String>, context: Context| {
            assets::serve(&name, context.accepts_gzip)
        });
        let mut handlers = vec![("/console/assets/{name}", assets)];
        handlers.extend(self.0.site.files.iter().cloned());
        for (index, page) in self.pages().iter().enumerate() {
            let web = self.clone();
            let handle = move |request: Request| {
                let web = web.clone();
                async move { web.handle(index, request).await }
            };
            let routes = match page.has_form() {
                true => get(handle.clone()).post(handle),
                false => get(handle),
            };
            handlers.push((page.path, routes.layer(DefaultBodyLimit::max(MAX_UPLOAD))));
        }
        handlers
    }

    async fn handle(&self, index: usize, request: Request) -> Response {
        let headers = request.headers().clone();
        let extensions = request.extensions();
        let Some(context) = extensions.get::<Context>().cloned() else {
            return Error::internal("the request has no context").into_response();
        };
        let params = extensions.get::<PathParams>().cloned().unwrap_or_default().0;
        let typed = extensions.get::<Typed>().cloned().unwrap_or_default();
        let path = request.uri().path().to_owned();
        let is_form = *request.method() == Method::POST;
        let (session, lang) = match (Session::read(&headers), site_language(&path)) {
            (session, Some(lang)) => (session.of_guest(), lang),
            (session, None) => {
                let lang = language(&headers, &session);
                (session, lang)
            }
        };
        let context = Context { lang, ..context };
        let query = request.uri().query().unwrap_or_default();
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().take(200).collect();
        let jar = Jar::new(&self.app().config.public_url());
        let rights = Arc::new(Rights::nobody());
        let mut visit = Visit {
            web: self.clone(),
            index,
            context,
            headers,
            session,
            params,
            path,
            is_form,
            query,
            jar,
            me: None,
            guest: None,
            dependencies: Dependencies::default(),
            is_listed: true,
            rights,
        };
        if let Some(lang) = visit.parameter("_lang").and_then(|lang| lang.parse().ok()) {
            return change_language(visit, lang);
        }
        if is_form && !answer::is_same_site(&visit.headers, &self.app().config.public_url()) {
            return from_another_site(visit);
        }
        if page_is_shared(self.page(index), is_form, &visit) {
            return self.shared(visit, request.uri()).await;
        }
        match visit.recognize().await {
            Err(failure) if is_form => {
                return visit.try_again(texts(request).await, &failure);
            }
            Err(failure) => return visit.problem(&failure),
            Ok(()) if !is_form => return self.answer(visit, None).await,
            Ok(()) => {}
        }
        match self.form(&visit, request).await {
            // The files are in memory until the answer, and so long the slot is taken.
            Ok((form, _slot)) => {
                typed.keep(Again::new(visit.page(), &visit.headers, form.0.clone()));
                self.answer(visit, Some(form)).await
            }
            Err(Unread { error, values }) => {
                let refusal = read(error.into_response(), &visit.context).await;
                match refusal.status == 413 || may_pass(refusal.status) {
                    true if !values.0.is_empty() => visit.try_again(values, &refusal),
                    _ => visit.problem(&refusal),
                }
            }
        }
    }

    /// Keeps what was typed into the form of a request that a limit refuses. A large form is not read: a
    /// refusal must stay cheap.
    pub async fn keep_typed(&self, request: Request) {
        let headers = request.headers().clone();
        let typed = request.extensions().get::<Typed>().cloned();
        let page = self.find(request.uri().path()).map(|(index, _)| self.page(index));
        let (Some(typed), Some(page)) = (typed, page.filter(|page| page.has_form())) else {
            return;
        };
        let length =
            headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let is_small = length.is_some_and(|length: usize| length <= MAX_REFUSED_FORM);
        let is_form = *request.method() == Method::POST && is_small;
        if is_form && answer::is_same_site(&headers, &self.app().config.public_url()) {
            typed.keep(Again::new(page, &headers, texts(request).await));
        }
    }

    /// A page that every visitor gets alike.
    async fn shared(&self, visit: Visit, uri: &Uri) -> Response {
        let accepts_gzip = visit.context.accepts_gzip;
        let dependencies = visit.dependencies.clone();
        let render = self.answer(visit, None);
        let address = uri.to_string();
        let pages = &self.0.shared;
        let page = pages.get_or_render(self.app(), address, accepts_gzip, dependencies, render);
        page.await.unwrap_or_else(IntoResponse::into_response)
    }

    /// Reads a posted form. Its slot is `None` if it has no files: strangers are not given one, since
    /// their files are dropped as they arrive.
    async fn form(&self, visit: &Visit, request: Request) -> Result<(Form, Option<Slot>), Unread> {
        let fields = Spec::parse(self.page(visit.index).fields);
        let is_multipart = forms::is_multipart(&visit.headers);
        if is_multipart && !fields.iter().any(Spec::has_files) {
            return Err(Error::UnsupportedMediaType.into());
        }
        let Some(me) = &visit.me else {
            return Ok((forms::read(request, &[]).await?, None));
        };
        let slot = match is_multipart {
            true => match self.0.forms.take(me.id()?, WAIT).await {
                Ok(slot) => Some(slot),
                Err(error) => return Err(Unread { error, values: texts(request).await }),
            },
            false => None,
        };
        Ok((forms::read(request, &fields).await?, slot))
    }

    async fn answer(&self, mut visit: Visit, form: Option<Form>) -> Response {
        let page = self.page(visit.index);
        if visit.me.is_none() && !page.public {
            return match form {
                Some((values, _)) => (visit.web.sign_in().hold)(visit, &values),
                None => visit.to_sign_in(),
            };
        }
        if !page.public && !visit.may(page.guard) {
            return visit.forbidden();
        }
        match (page.kind, form) {
            (Kind::List, _) => kinds::list(visit).await,
            (Kind::Show, _) => kinds::show(visit).await,
            (Kind::File, _) => kinds::file(visit).await,
            (Kind::Form, None) => kinds::form(visit).await,
            (Kind::Form, Some((values, uploads))) => kinds::submit(visit, values, uploads).await,
            (Kind::Own(handler), None) => handler(visit, None).await,
            (Kind::Own(handler), Some((mut values, _))) => {
                if let Some(lang) = values.take("_lang").and_then(|lang| lang.parse().ok()) {
                    visit.jar.language(lang);
                    visit.context.lang = lang;
                }
                handler(visit, Some(values)).await
            }
        }
    }

    /// Turns an error of the edge (an unknown path, a limit, a failure) into a page: with the form that
    /// was posted, or, if nothing was posted, a link to the same page.
    pub async fn render_problem(
        &self,
        response: &mut Response,
        context: &Context,
        headers: &HeaderMap,
        method: &Method,
        uri: &Uri,
        form: Option<Again>,
    ) {
        if response.extensions().get::<Complete>().is_some() {
            return;
        }
        let is_error = response.status().is_client_error() || response.status().is_server_error();
        if !is_error && response.extensions().get::<Answer>().is_none() {
            return;
        }
        let site = site_language(uri.path());
        let lang = site.unwrap_or_else(|| language(headers, &Session::read(headers)));
        let context = Context { lang, ..context.clone() };
        let status = response.status();
        let old = std::mem::take(response);
        let kept = old.headers().clone();
        let envelope = read(old, &context).await;
        let title = problem_title(status.as_u16(), context.lang);
        let page = PublicPage { app: self.app(), context: &context, headers };
        let may_pass = may_pass(status.as_u16());
        let (template, contents) = match form.filter(|_| may_pass) {
            Some(form) => {
                let [in_id, in_en] = in_both_languages(uri.path(), &[]);
                let frame = context! {
                    path => uri.path(),
                    other_path => if context.lang == Lang::En { in_id } else { in_en },
                    frame => if site.is_some() { "site_base.html" } else { "base.html" },
                    is_guest => site.is_some(),
                };
                ("try_again.html", context! { ..frame, ..form.contents(&envelope) })
            }
            None => {
                let again = (*method == Method::GET && may_pass).then(|| uri.path_and_query());
                let contents = context! {
                    status => status.as_u16(),
                    message => envelope.message.as_str(),
                    retry_after => envelope.retry_after,
                    again => again.flatten().map(|address| address.as_str()),
                };
                let template = if site.is_some() { "site_problem.html" } else { "problem.html" };
                (template, contents)
            }
        };
        let made = page.render_in(context.lang, status, template, title, contents);
        *response = made.unwrap_or_else(|error| {
            tracing::error!(%error, "the error page failed");
            let html = format!("<!doctype html><title>{title}</title><h1>{title}</h1>");
            answer::page(status, html, context.lang)
        });
        for name in ["retry-after", "allow", "ratelimit", "ratelimit-policy"] {
            if let Some(value) = kept.get(name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        if let Some(seconds) = envelope.retry_after {
            response.headers_mut().insert("retry-after", seconds.into());
        }
    }

    /// The menu: the pages that the person may open.
    pub fn menu(&self, visit: &Visit) -> Vec<MenuGroup> {
        let mut groups: Vec<MenuGroup> = Vec::new();
        if visit.me.is_none() {
            return groups;
        }
        let mut pages: Vec<_> = self
            .0
            .site
            .pages
            .iter()
            .filter_map(|page| {
                let (group, icon) = page.menu?;
                visit.may(page.guard).then_some((group, icon, page))
            })
            .collect();
        pages.sort_by_key(|(group, ..)| *group);
        for (group, icon, page) in pages {
            let title = group.title().say(visit.lang()).to_owned();
            let is_below = visit.path.strip_prefix(page.path).is_some_and(|rest| {
                rest.is_empty() || (rest.starts_with('/') && page.path != "/console")
            });
            let item = MenuItem {
                path: page.path,
                icon,
                label: page.title.say(visit.lang()).to_owned(),
                current: is_below,
            };
            match groups.last_mut().filter(|last| last.title == title) {
                Some(last) => last.pages.push(item),
                None => groups.push(MenuGroup { title, pages: vec![item] }),
            }
        }
        groups
    }
}

/// A page that nobody signs in for and that is not in the table of pages.
pub struct PublicPage<'a> {
    pub app: &'a App,
    pub context: &'a Context,
    pub headers: &'a HeaderMap,
}

impl PublicPage<'_> {
    pub fn lang(&self) -> Lang {
        language(self.headers, &Session::read(self.headers))
    }

    pub fn render(
        &self,
        status: StatusCode,
        template: &str,
        title: &str,
        contents: minijinja::Value,
    ) -> Result<Response, Error> {
        self.render_in(self.lang(), status, template, title, contents)
    }

    fn render_in(
        &self,
        lang: Lang,
        status: StatusCode,
        template: &str,
        title: &str,
        contents: minijinja::Value,
    ) -> Result<Response, Error> {
        let functions = view::functions(self.app, lang, Rights::nobody().into());
        let request_id = self.context.request_id.as_str();
        let html = view::render(
            template,
            context! { ..context! { title, request_id }, ..contents, ..functions },
        )?;
        Ok(answer::page(status, html, lang))
    }
}

#[derive(Serialize)]
pub struct MenuGroup {
    title: String,
    pages: Vec<MenuItem>,
}

#[derive(Serialize)]
struct MenuItem {
    path: &'static str,
    icon: &'static str,
    label: String,
    current: bool,
}

/// The texts of a form, as far as they can be read. Its files are dropped as they arrive.
async fn texts(request: Request) -> Values {
    match forms::read(request, &[]).await {
        Ok((values, _)) => values,
        Err(unread) => unread.values,
    }
}

/// Whether the page is the same for every visitor. A message for this one makes it another.
fn page_is_shared(page: &Page, is_form: bool, visit: &Visit) -> bool {
    page.shared && !is_form && visit.session.flash.is_none()
}

fn from_another_site(visit: Visit) -> Response {
    let message = text(
        "This form was sent from another site, so nothing was changed.",
        "Formulir ini dikirim dari situs lain, jadi tidak ada yang diubah.",
    );
    let message = message.say(visit.lang()).to_owned();
    visit.problem(&Envelope { status: 403, message, ..Envelope::default() })
}

/// Shows the same address in another language.
fn change_language(mut visit: Visit, lang: Lang) -> Response {
    visit.jar.language(lang);
    visit.query.retain(|(name, _)| name != "_lang");
    let address = visit.address();
    visit.redirect(&address)
}

/// A page with the values of a form, after a sign-in that the form had to wait for.
pub async fn resume(mut visit: Visit, path: &str, values: Values) -> Response {
    let bare = path.split('?').next().unwrap_or(path);
    let Some((index, params)) = visit.web.find(bare) else { return visit.redirect("/console") };
    (visit.index, visit.params, visit.path) = (index, params, bare.to_owned());
    visit.query.clear();
    let page = visit.web.page(index);
    if !page.public && !visit.may(page.guard) {
        return visit.forbidden();
    }
    match page.kind {
        Kind::Form => kinds::form_with(visit, values, Shown::plain()).await,
        Kind::Own(handler) if page.resumes => {
            let mut values = values;
            values.take("_do");
            handler(visit, Some(values)).await
        }
        _ => {
            let path = visit.path.clone();
            visit.redirect(&path)
        }
    }
}
