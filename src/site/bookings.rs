//! The bookings of a guest, who proves them by code and e-mail address. Both stay in a sealed cookie, so
//! that no address has anything personal.

use axum::response::Response;
use fast_qr::{ECL, QRBuilder, convert::svg::SvgBuilder};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::at;
use crate::web::{
    client::{Call, Envelope},
    forms::Values,
    kinds,
    view::data,
    visit::{Visit, with_query},
};

/// A browser remembers at most this many bookings.
const REMEMBERED: usize = 5;

/// A booking that was opened in this browser.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Opened {
    id: String,
    code: String,
    email: String,
}

impl Opened {
    fn call(&self, operation: &'static str) -> Call {
        let call = Call::of(operation).params(std::slice::from_ref(&self.id));
        call.query("code", self.code.as_str()).query("email", self.email.as_str())
    }
}

fn opened(visit: &Visit) -> Vec<Opened> {
    let sealed = visit.session.bookings.as_deref();
    let text = sealed.and_then(|sealed| visit.web.app().sealer.open(sealed).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Lets this browser open the booking.
pub fn remember(visit: &mut Visit, booking: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let new = Opened {
        id: text(&booking["id"]),
        code: text(&booking["code"]),
        email: text(&booking["contact"]["email"]),
    };
    let mut all = opened(visit);
    all.retain(|one| one.id != new.id);
    all.insert(0, new);
    all.truncate(REMEMBERED);
    if let Ok(sealed) = visit.web.app().sealer.seal(&json!(all).to_string()) {
        visit.jar.bookings(&sealed);
    }
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

/// One booking, with what to do next.
pub fn site_booking(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let Some(known) = known(&visit) else { return to_lookup(visit) };
        let answer = visit.ask(known.call("get_booking")).await;
        match answer.status {
            200 => {}
            404 => return to_lookup(visit),
            _ => return visit.problem(&answer),
        }
        let booking = &answer.data;
        let passengers = booking["passengers"].as_array().into_iter().flatten();
        let tickets: Vec<_> = passengers
            .filter_map(|one| {
                Some((
                    one["name"].as_str()?,
                    one["fare"].as_str(),
                    qr(one["ticket_code"].as_str()?)?,
                ))
            })
            .collect();
        let contents = context! {
            booking => data(booking),
            tickets => data(&tickets),
            page => page_of(&visit, &known.code),
        };
        visit.render(200, "site_booking.html", &known.code, contents)
    }
    .boxed()
}

/// The tickets as PDF.
pub fn site_ticket(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        match known(&visit) {
            Some(known) => {
                let call = known.call("get_ticket");
                kinds::send(visit, call).await
            }
            None => to_lookup(visit),
        }
    }
    .boxed()
}

fn known(visit: &Visit) -> Option<Opened> {
    let code = visit.param("code")?;
    opened(visit).into_iter().find(|one| one.code.eq_ignore_ascii_case(code))
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
