//! The bookings of a guest, who proves them by code and e-mail address. Both stay in a sealed cookie, so
//! that no address has anything personal.

use axum::{http::Uri, response::Response};
use chrono::{DateTime, TimeDelta, Utc};
use fast_qr::{ECL, QRBuilder, convert::svg::SvgBuilder};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{at, in_english};
use crate::web::{
    cancelling::cancel_passengers,
    client::{Call, Envelope, Shown},
    forms::Values,
    kinds,
    page::Handler,
    rescheduling::reschedule,
    session,
    view::data,
    visit::{GuestBooking, Visit, in_both_languages, with_query},
};

/// A browser remembers at most this many bookings.
const REMEMBERED: usize = 5;
/// More codes than these are drawn on a thread of their own.
const FEW_TICKETS: usize = 10;

fn opened(visit: &Visit) -> Vec<GuestBooking> {
    kept(visit).map(|kept| kept.bookings).unwrap_or_default()
}

fn kept(visit: &Visit) -> Option<Kept> {
    let app = visit.web.app();
    let sealed = visit.session.bookings.as_deref();
    let text = sealed.and_then(|sealed| app.sealer.open(sealed).ok());
    let kept: Option<Kept> = text.and_then(|text| serde_json::from_str(&text).ok());
    // A browser drops the cookie in time; a copy of it does not.
    let oldest = app.clock.now() - TimeDelta::seconds(session::BOOKINGS_LIFETIME);
    kept.filter(|kept| kept.purpose == PURPOSE && kept.at > oldest)
}

/// What the cookie has, sealed.
#[derive(Serialize, Deserialize)]
struct Kept {
    purpose: String,
    at: DateTime<Utc>,
    bookings: Vec<GuestBooking>,
}

/// Nothing else that is sealed opens a booking.
const PURPOSE: &str = "bookings of a guest";

fn keep(visit: &mut Visit, bookings: Vec<GuestBooking>) {
    let at = visit.web.app().clock.now();
    seal(visit, &Kept { purpose: PURPOSE.to_owned(), at, bookings });
}

fn seal(visit: &mut Visit, kept: &Kept) {
    if let Ok(sealed) = visit.web.app().sealer.seal(&json!(kept).to_string()) {
        visit.jar.bookings(&sealed);
    }
}

/// Lets this browser open the booking.
pub fn remember(visit: &mut Visit, booking: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let new = GuestBooking {
        id: text(&booking["id"]),
        code: text(&booking["code"]),
        email: text(&booking["contact"]["email"]),
        in_english: in_english(visit.lang()),
    };
    let mut all = opened(visit);
    all.retain(|one| one.id != new.id);
    all.insert(0, new);
    all.truncate(REMEMBERED);
    keep(visit, all);
}

/// On a device that others use.
fn forget(mut visit: Visit, values: &Values) -> Response {
    let code = values.get("code").unwrap_or_default();
    let mut all = opened(&visit);
    all.retain(|one| !one.code.eq_ignore_ascii_case(code));
    keep(&mut visit, all);
    let message = visit.lang().of("Forgotten on this device.", "Sudah dilupakan di perangkat ini.");
    let page = at(&visit, "/booking");
    visit.redirect_saying(&page, message)
}

/// The address of a booking's page.
pub fn page_of(visit: &Visit, code: &str) -> String {
    at(visit, &format!("/booking/{code}"))
}

/// Asks for code and e-mail address, or mails the codes of an address.
pub fn site_bookings(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        match form {
            None => {
                let code = visit.parameter("code").unwrap_or_default().to_owned();
                show_lookup(visit, 200, &Values(vec![("code".to_owned(), code)]), None)
            }
            Some(values) if values.get("_do") == Some("find") => find(visit, &values).await,
            Some(values) if values.get("_do") == Some("forget") => forget(visit, &values),
            Some(values) => open(visit, &values).await,
        }
    }
    .boxed()
}

async fn open(mut visit: Visit, values: &Values) -> Response {
    let text = |name: &str| values.get(name).unwrap_or_default().trim().to_owned();
    let call = Call::of("list_bookings").query("code", text("code")).query("email", text("email"));
    let answer = match text("code").is_empty() || text("email").is_empty() {
        true => Envelope { status: 404, ..Envelope::default() },
        false => visit.ask(call).await,
    };
    let found = answer.data.as_array().and_then(|all| all.first()).cloned();
    match (answer.status, found) {
        (200, Some(booking)) => {
            remember(&mut visit, &booking);
            let page = page_of(&visit, booking["code"].as_str().unwrap_or_default());
            visit.redirect(&page)
        }
        (429 | 500.., _) => {
            show_lookup(visit, answer.status, values, Some((&answer.message, answer.retry_after)))
        }
        // One sentence for every cause: nobody learns which codes exist.
        _ => {
            let message = visit.lang().of(
                "There is no booking with this code and e-mail address.",
                "Tidak ada pemesanan dengan kode dan alamat e-mail ini.",
            );
            show_lookup(visit, 404, values, Some((message, None)))
        }
    }
}

async fn find(visit: Visit, values: &Values) -> Response {
    let email = values.get("email").unwrap_or_default().trim();
    let answer = visit.ask(Call::of("find_bookings").json(json!({ "email": email }))).await;
    if answer.is_success() {
        let page = at(&visit, "/booking");
        return visit.redirect_saying(&page, &answer.message);
    }
    let message = answer.faults.first().map_or(&answer.message, |fault| &fault.message);
    show_lookup(visit, answer.status, values, Some((message, answer.retry_after)))
}

fn show_lookup(
    visit: Visit,
    status: u16,
    values: &Values,
    refusal: Option<(&str, Option<u64>)>,
) -> Response {
    let title = visit.lang().of("My booking", "Pemesanan saya");
    let codes = opened(&visit).into_iter().map(|one| (page_of(&visit, &one.code), one.code));
    let contents = context! {
        code => values.get("code"),
        email => values.get("email"),
        opened => data(codes.collect::<Vec<_>>()),
        refusal => refusal.map(|(message, _)| message),
        retry_after => refusal.and_then(|(_, retry_after)| retry_after),
    };
    visit.render(status, "site_bookings.html", title, contents)
}

/// Remembers the language in which the booking was looked at last. That prolongs nothing. A page that
/// updates itself is not looked at anew, and could undo what another page has stored meanwhile.
fn remember_language(visit: &mut Visit) {
    if !visit.is_navigation() {
        return;
    }
    let in_english = in_english(visit.lang());
    let changed = visit.guest.as_ref().filter(|guest| guest.in_english != in_english);
    let Some(id) = changed.map(|guest| guest.id.clone()) else { return };
    let Some(mut kept) = kept(visit) else { return };
    let same = kept.bookings.iter_mut().filter(|one| one.id == id);
    same.for_each(|one| one.in_english = in_english);
    seal(visit, &kept);
}

/// The pages of the payment simulator, which stand for those of a provider.
const PAYMENT_PAGES: &str = "/pay/";

/// Whether somebody who reads English comes from a provider's page or from a mail: the address that
/// both lead to has no language. Links of this site lead to the language that was chosen.
fn comes_back_in_english(visit: &Visit) -> bool {
    let header = |name| visit.headers.get(name).and_then(|value| value.to_str().ok());
    let from_elsewhere = header("sec-fetch-site").is_some_and(|site| site != "same-origin");
    let referer = header("referer").and_then(|referer| referer.parse::<Uri>().ok());
    let has_paid = referer.is_some_and(|referer| referer.path().starts_with(PAYMENT_PAGES));
    let reads_english = visit.guest.as_ref().is_some_and(|guest| guest.in_english);
    reads_english && !in_english(visit.lang()) && (from_elsewhere || has_paid)
}

/// One booking, with what to do next.
pub fn site_booking(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    with_booking(visit, form, |mut visit, form| {
        async move {
            match form.as_ref().and_then(|form| form.get("_do")) {
                Some("pay") => act(visit, "pay_again").await,
                Some("resend") => act(visit, "resend_ticket").await,
                _ if form.is_none() && comes_back_in_english(&visit) => {
                    let [_, in_english] = in_both_languages(&visit.path, &visit.query);
                    visit.redirect(&in_english)
                }
                _ => {
                    remember_language(&mut visit);
                    show(visit, Shown::plain()).await
                }
            }
        }
        .boxed()
    })
}

/// Does something with the booking, and shows it again.
async fn act(visit: Visit, operation: &'static str) -> Response {
    let answer = visit.ask(visit.change(operation, json!({}))).await;
    if !answer.is_success() {
        return show(visit, Shown::refused(answer)).await;
    }
    let page = visit.path.clone();
    visit.redirect_saying(&page, &answer.message)
}

async fn show(visit: Visit, shown: Shown) -> Response {
    let (answer, options) = tokio::join!(
        visit.ask(visit.call("get_booking")),
        visit.ask(visit.call("get_booking_options")),
    );
    match answer.status {
        200 => {}
        404 => return to_lookup(visit),
        _ => return visit.problem(&answer),
    }
    let booking = &answer.data;
    let passengers = booking["passengers"].as_array().cloned().unwrap_or_default();
    let tickets = match passengers.len() > FEW_TICKETS {
        true => tokio::task::spawn_blocking(move || tickets(&passengers)).await.unwrap_or_default(),
        false => tickets(&passengers),
    };
    let code = booking["code"].as_str().unwrap_or_default();
    let contents = context! {
        booking => data(booking),
        options => data(&options.data),
        tickets => data(&tickets),
        refusal => shown.message(),
        retry_after => shown.retry_after(),
        page => page_of(&visit, code),
    };
    visit.render(shown.status, "site_booking.html", code, contents)
}

/// Name, fare and code of each ticket.
fn tickets(passengers: &[Value]) -> Vec<(String, Option<String>, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let ticket = |one: &Value| {
        Some((text(&one["name"])?, text(&one["fare"]), qr(one["ticket_code"].as_str()?)?))
    };
    passengers.iter().filter_map(ticket).collect()
}

/// The tickets as PDF.
pub fn site_ticket(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    with_booking(visit, form, |visit, _| {
        let call = visit.call("get_ticket");
        kinds::send(visit, call).boxed()
    })
}

pub fn site_cancel(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    with_booking(visit, form, cancel_passengers)
}

pub fn site_move(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    with_booking(visit, form, reschedule)
}

/// A form that changes the booking, as its line in the table says.
pub fn site_change(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    with_booking(visit, form, |visit, form| match form {
        None => kinds::form(visit).boxed(),
        Some(values) => kinds::submit(visit, values, Vec::new()).boxed(),
    })
}

/// For the guest who has opened the booking in this browser. Others are asked for code and address.
fn with_booking(
    mut visit: Visit,
    form: Option<Values>,
    page: Handler,
) -> BoxFuture<'static, Response> {
    let code = visit.param("code").unwrap_or_default();
    let known = opened(&visit).into_iter().find(|one| one.code.eq_ignore_ascii_case(code));
    match known {
        Some(known) => {
            visit.guest = Some(known);
            page(visit, form)
        }
        None => async move { to_lookup(visit) }.boxed(),
    }
}

fn to_lookup(visit: Visit) -> Response {
    let code = visit.param("code").unwrap_or_default().to_owned();
    let page = with_query(&at(&visit, "/booking"), &[("code".to_owned(), code)]);
    visit.redirect(&page)
}

/// The code of a ticket as a picture.
fn qr(code: &str) -> Option<String> {
    let qr = QRBuilder::new(code).ecl(ECL::M).build().ok()?;
    Some(SvgBuilder::default().to_str(&qr))
}
