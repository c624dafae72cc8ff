//! Booking a sailing: a form for contact and passengers with the price beside it, a page to check the
//! answers, then the sale. For every site on which bookings are made.
//!
//! Nothing is stored between the steps: what was typed is in the fields of each page. `_do` is the button
//! that was pressed, `_at` the page that it is on.

use axum::response::Response;
use minijinja::{Value as Data, context};
use serde_json::{Value, json};

use super::{
    client::{Call, Envelope, Fault, Shown},
    fields::{Choice, Form},
    format::rupiah,
    forms::{self, Spec, Values},
    rescheduling::day_of,
    view::{by_name, data},
    visit::{Visit, with_query},
    words,
};
use crate::{
    bookings::BookingForm,
    kernel::{email::Email, ids, lang::Lang, schema},
    lines::fare_name,
};

const FIELDS: &str = "contact.name contact.email contact.phone \
    passengers[name fare identity_type identity_number birth_date gender nationality] \
    qty code_promo note accept_terms";
/// The most passengers of one form, for seats and for a whole boat.
const LARGEST_PARTY: usize = 50;
const LARGEST_CHARTER: usize = 100;
/// An age that is no limit.
const OLDEST: i64 = 120;

/// Where bookings are made.
pub struct Place {
    /// The search page. The form of a sailing is below it.
    pub search: &'static str,
    pub form: &'static str,
    pub check: &'static str,
    /// Whether the visitor is the customer: the browser fills in the contact, and the terms must be
    /// accepted.
    pub is_customer: bool,
    /// The page after the sale.
    pub booked: fn(&mut Visit, &Value) -> String,
}

/// The sailing and the party of a form.
#[derive(Clone, Debug)]
struct Order {
    sailing: String,
    boat: String,
    kind: String,
    qty: usize,
}

/// The price of an order, and the terms of the sale.
struct Offer {
    quote: Value,
    /// Why there is no price for what was typed, or no discount.
    faults: Vec<Fault>,
    terms: Option<Value>,
}

pub async fn checkout(visit: Visit, form: Option<Values>, place: &'static Place) -> Response {
    let is_form = form.is_some();
    let mut values =
        form.unwrap_or_else(|| Values::of_address(&visit.query, &["item_id", "type", "qty"]));
    let pressed = values.take("_do").unwrap_or_default();
    let at = values.take("_at").unwrap_or_default();
    let Some(order) = Order::of(&visit, &values) else { return visit.redirect(place.search) };
    if values.take("_same").as_deref() == Some("true") && is_blank(&values, "passengers[0].name") {
        let name = values.get("contact.name").unwrap_or_default().to_owned();
        values.set("passengers[0].name", name);
    }
    let values = order.complete(values);
    let offer = match offer(&visit, &order, &values).await {
        Ok(offer) => offer,
        // A limit or a failure: nothing that was typed is lost.
        Err(refusal) if is_form && !matches!(refusal.status, 404 | 409 | 422) => {
            let mut values = values;
            values.set("_do", pressed);
            values.set("_at", at);
            return visit.try_again(values, &refusal);
        }
        Err(refusal) => {
            let others = values.get("_others").and_then(|others| others.split_once('?'));
            let search = match others {
                Some((_, query)) => format!("{}?{query}", place.search),
                None => place.search.to_owned(),
            };
            return not_on_sale(visit, &search, refusal);
        }
    };
    match (pressed.as_str(), at.as_str()) {
        ("check", _) | ("", "check") => check(visit, place, &order, values, &offer, None),
        ("book", _) => book(visit, place, &order, values, &offer).await,
        // The verdict on a promotion code.
        ("price", _) => {
            let faults = offer.faults.clone();
            show_form(visit, place, &order, values, &offer, Shown { faults, ..Shown::plain() })
        }
        _ => show_form(visit, place, &order, values, &offer, Shown::plain()),
    }
}

fn largest_party(values: &Values) -> usize {
    match values.get("type") {
        Some("charter") => LARGEST_CHARTER,
        _ => LARGEST_PARTY,
    }
}

fn is_blank(values: &Values, name: &str) -> bool {
    values.get(name).is_none_or(|value| value.trim().is_empty())
}

impl Order {
    fn of(visit: &Visit, values: &Values) -> Option<Self> {
        let qty = values.get("qty").and_then(|qty| qty.trim().parse().ok()).unwrap_or(1_usize);
        Some(Self {
            sailing: visit.param("route_time_id")?.to_owned(),
            boat: values.get("item_id").filter(|boat| !boat.is_empty())?.to_owned(),
            kind: values
                .get("type")
                .filter(|kind| *kind == "charter")
                .unwrap_or("speedboat")
                .into(),
            qty: qty.clamp(1, largest_party(values)),
        })
    }

    /// The values with exactly one row for each passenger.
    fn complete(&self, mut values: Values) -> Values {
        values.set("item_id", self.boat.as_str());
        values.set("type", self.kind.as_str());
        values.set("qty", self.qty.to_string());
        for row in self.qty..values.rows("passengers") {
            let prefix = format!("passengers[{row}].");
            values.0.retain(|(name, _)| !name.starts_with(&prefix));
        }
        for row in 0..self.qty {
            values.set(&format!("passengers[{row}]._row"), "1");
        }
        values
    }

    /// The body of the booking.
    fn body(&self, visit: &Visit, values: &Values) -> Value {
        let input = visit.web.client().input("create_booking");
        let mut body = forms::body(&input, values, false);
        body["route_time_id"] = json!(self.sailing);
        body
    }

    /// The question for the price of these passengers.
    fn question(&self, values: &Values) -> Value {
        let fare = |row: usize| values.get(&format!("passengers[{row}].fare"));
        let fares = (0..self.qty).map(|row| json!({ "fare": fare(row) }));
        let mut question = json!({
            "type": self.kind,
            "item_id": self.boat,
            "route_time_id": self.sailing,
            "qty": self.qty,
            "passengers": fares.collect::<Vec<_>>(),
            "code_promo": values.get("code_promo"),
        });
        // Promotions may be limited per customer; an address that is not one yet is left out.
        if let Some(Ok(_)) = values.get("contact.email").map(str::parse::<Email>) {
            question["email"] = json!(values.get("contact.email"));
        }
        question
    }

    /// How many seats the passengers take.
    fn seats(&self, values: &Values, quote: &Value) -> i64 {
        let fares = || quote["fares"].as_array().into_iter().flatten();
        let takes_seat = |row: &usize| {
            let key = values.get(&format!("passengers[{row}].fare")).unwrap_or_default();
            fares().find(|fare| fare["key"] == key).is_none_or(|fare| fare["takes_seat"] == true)
        };
        (0..self.qty).filter(takes_seat).count() as i64
    }
}

/// The price of what was typed. If that has faults: the sailing without a price.
async fn offer(visit: &Visit, order: &Order, values: &Values) -> Result<Offer, Envelope> {
    let terms = Call::of("get_terms").query("type", "customer");
    let quote = Call::of("quote_booking").json(order.question(values));
    let (quote, terms) = tokio::join!(visit.ask(quote), visit.ask(terms));
    let terms = terms.is_success().then_some(terms.data);
    if quote.is_success() {
        let faults = promotion_fault(&quote.data, visit.lang()).into_iter().collect();
        return Ok(Offer { quote: quote.data, faults, terms });
    }
    if quote.status != 422 {
        return Err(quote);
    }
    let plain = json!({
        "type": order.kind, "item_id": order.boat, "route_time_id": order.sailing, "qty": 1,
    });
    let mut sailing = visit.ask(Call::of("quote_booking").json(plain)).await;
    if !sailing.is_success() {
        return Err(sailing);
    }
    sailing.data["price"] = Value::Null;
    Ok(Offer { quote: sailing.data, faults: quote.faults, terms })
}

fn promotion_fault(quote: &Value, lang: Lang) -> Option<Fault> {
    let promo = quote.get("promo").filter(|promo| promo["valid"] == false)?;
    let reason = promo["reason"].as_str().unwrap_or_default();
    let message = lang.of("This code cannot be used", "Kode ini tidak dapat digunakan");
    Some(Fault {
        field: "code_promo".into(),
        rule: reason.into(),
        message: format!("{message}: {}.", words::value_of("promo", reason, lang).to_lowercase()),
    })
}

/// A sailing that is unknown, departed or closed.
fn not_on_sale(visit: Visit, search: &str, refusal: Envelope) -> Response {
    match refusal.status {
        422 => visit.not_found(),
        409 => visit.redirect_saying(search, &refusal.message),
        _ => visit.problem(&refusal),
    }
}

/// Shows the answers, unless something is wrong with them. `again`: the sale was refused or its outcome
/// is unknown, so that sending it again must not be another booking.
fn check(
    visit: Visit,
    place: &Place,
    order: &Order,
    mut values: Values,
    offer: &Offer,
    again: Option<&Envelope>,
) -> Response {
    let mut faults = faults(&visit, order, &values);
    faults.extend(offer.faults.iter().cloned());
    if place.is_customer && offer.terms.is_some() && values.get("accept_terms") != Some("true") {
        let message = visit.lang().of("Please accept the terms.", "Mohon setujui ketentuannya.");
        faults.push(Fault {
            field: "accept_terms".into(),
            rule: "required".into(),
            message: message.into(),
        });
    }
    let available = offer.quote["available_seats"].as_i64().unwrap_or_default();
    let is_full = order.kind != "charter" && order.seats(&values, &offer.quote) > available;
    let refusal = is_full.then(|| sold_out(available, visit.lang()));
    if !faults.is_empty() || refusal.is_some() {
        let status = if faults.is_empty() { 409 } else { 422 };
        return show_form(visit, place, order, values, offer, Shown { status, faults, refusal });
    }
    let lang = visit.lang();
    // Otherwise each check has a key of its own: what is changed after it is another booking.
    let key = values.take("_key").filter(|_| again.is_some());
    let key = key.unwrap_or_else(|| ids::fresh().to_string());
    let contents = context! {
        kind => "form",
        key,
        refusal => again.map(|again| again.message.as_str()),
        retry_after => again.and_then(|again| again.retry_after),
        hidden => data(&values.0),
        order => data(order.body(&visit, &values)),
        passengers => data(passengers(order, &values, offer, lang)),
        ..frame(&visit, place, order, offer)
    };
    let title = lang.of("Check the answers", "Periksa isian");
    let status = again.map_or(200, |again| again.status);
    visit.render(status, place.check, title, contents)
}

/// What the request type of the operation finds wrong, before anything is sold.
fn faults(visit: &Visit, order: &Order, values: &Values) -> Vec<Fault> {
    let faults = match schema::read::<BookingForm>(order.body(visit, values)) {
        Ok(_) => Vec::new(),
        Err(faults) => faults,
    };
    let fault = |fault: crate::kernel::error::Fault| Fault {
        message: fault.message.say(visit.lang()).to_owned(),
        rule: fault.rule.into_owned(),
        field: fault.field,
    };
    faults.into_iter().map(fault).collect()
}

fn sold_out(available: i64, lang: Lang) -> Envelope {
    let message = lang.of("There are not enough seats left.", "Kursi yang tersisa tidak cukup.");
    Envelope {
        status: 409,
        error: "sold_out".into(),
        message: message.into(),
        data: json!({ "available_seats": available }),
        ..Envelope::default()
    }
}

async fn book(
    mut visit: Visit,
    place: &Place,
    order: &Order,
    mut values: Values,
    offer: &Offer,
) -> Response {
    let shown = values.take("_total");
    let total = offer.quote["price"]["total"].as_i64();
    // A code that was used up by this very booking changes the price of a repetition, which the key
    // answers. The operation refuses a code that is not valid.
    let shown = shown.filter(|_| is_blank(&values, "code_promo"));
    if shown.is_some_and(|shown| Some(shown) != total.map(|total| total.to_string())) {
        let message = visit.lang().of(
            "The price has changed. Please look at it again.",
            "Harganya berubah. Mohon diperiksa lagi.",
        );
        let changed = Envelope::changed(message);
        return check(visit, place, order, values, offer, Some(&changed));
    }
    let key = values.get("_key").map(str::to_owned);
    let body = order.body(&visit, &values);
    let answer = visit.ask(Call { key, ..Call::of("create_booking").json(body) }).await;
    if answer.is_success() {
        let to = (place.booked)(&mut visit, &answer.data);
        return visit.redirect_saying(&to, &answer.message);
    }
    match answer.error.as_str() {
        _ if answer.needs_sign_in() => (visit.web.sign_in().hold)(visit, &values),
        "booking_closed" => not_on_sale(visit, &others(place, order, offer), answer),
        "idempotency_in_progress" => {
            let waiting = Envelope { status: 503, ..answer };
            check(visit, place, order, values, offer, Some(&waiting))
        }
        _ if answer.status == 429 || answer.status >= 500 => {
            check(visit, place, order, values, offer, Some(&answer))
        }
        _ => show_form(visit, place, order, values, offer, Shown::refused(answer)),
    }
}

fn show_form(
    visit: Visit,
    place: &Place,
    order: &Order,
    mut values: Values,
    offer: &Offer,
    shown: Shown,
) -> Response {
    let lang = visit.lang();
    if let Some(first) = offer.quote["fares"][0]["key"].as_str() {
        for name in (0..order.qty).map(|row| format!("passengers[{row}].fare")) {
            if is_blank(&values, &name) {
                values.set(&name, first);
            }
        }
    }
    let input = visit.web.client().input("create_booking");
    let fares = offer.quote["fares"].as_array().into_iter().flatten();
    let fares = fares.map(|fare| Choice {
        value: fare["key"].as_str().unwrap_or_default().to_owned(),
        label: fare_label(fare, lang),
    });
    let choices = [("fare", fares.collect::<Vec<_>>())].into();
    let faults = shown.faults.as_slice();
    let form = Form { input: &input, values: &values, faults, choices: &choices, lang };
    let mut fields = form.fields(&Spec::parse(FIELDS));
    for field in &mut fields {
        match field.name.as_str() {
            "passengers" => {
                let fields = field.rows.iter_mut().flat_map(|row| &mut row.fields);
                for field in fields {
                    match field.name.as_str() {
                        // The contact may be passenger 1.
                        "passengers[0].name" => (field.required, field.conditional) = (false, true),
                        name if name.ends_with(".fare") => field.required = true,
                        _ => {}
                    }
                }
            }
            // In a list of bookings it is called the contact.
            "contact.name" => field.label = words::label("name", lang),
            "qty" => {
                field.label = lang.of("Passengers", "Jumlah penumpang").into();
                field.maximum = Some(largest_party(&values) as i64);
            }
            _ => {}
        }
        if place.is_customer {
            field.autocomplete = match field.name.as_str() {
                "contact.name" => "name",
                "contact.email" => "email",
                "contact.phone" => "tel",
                _ => field.autocomplete,
            };
        }
    }
    let problems = form.problems(&fields);
    let refusal = shown.refusal.as_ref();
    let contents = context! {
        kind => "form",
        problems => data(&problems),
        refusal => refusal.map(|refusal| refusal.message.as_str()),
        refused_as => refusal.map(|refusal| refusal.error.as_str()),
        available => refusal.and_then(|refusal| refusal.data["available_seats"].as_i64()),
        retry_after => refusal.and_then(|refusal| refusal.retry_after),
        fields => data(by_name(fields)),
        kind_of_booking => order.kind.as_str(),
        item_id => order.boat.as_str(),
        ..frame(&visit, place, order, offer)
    };
    let title = match order.kind.as_str() {
        "charter" => lang.of("Charter the boat", "Sewa kapal"),
        _ => lang.of("Book seats", "Pesan kursi"),
    };
    visit.render(shown.status, place.form, title, contents)
}

/// The search for other sailings of the day.
fn others(place: &Place, order: &Order, offer: &Offer) -> String {
    let sailing = &offer.quote["sailing"];
    let text = |name: &str| sailing[name].as_str().unwrap_or_default().to_owned();
    let query = [
        ("from".to_owned(), text("from")),
        ("to".to_owned(), text("to")),
        ("date".to_owned(), day_of(sailing).map_or_else(String::new, |day| day.to_string())),
        ("qty".to_owned(), order.qty.to_string()),
        ("type".to_owned(), order.kind.clone()),
    ];
    with_query(place.search, &query)
}

/// What both pages show.
fn frame(visit: &Visit, place: &Place, order: &Order, offer: &Offer) -> Data {
    context! {
        quote => data(&offer.quote),
        terms => data(&offer.terms),
        is_customer => place.is_customer,
        path => visit.path.as_str(),
        others => others(place, order, offer),
    }
}

/// `Child (3–11) · Rp 112.500`
fn fare_label(fare: &Value, lang: Lang) -> String {
    let key = fare["key"].as_str().unwrap_or_default();
    let name = fare_name(key);
    let age = |name: &str, default| fare[name].as_i64().unwrap_or(default);
    let ages = match (age("min_age", 0), age("max_age", OLDEST)) {
        (0, OLDEST) => String::new(),
        (min, OLDEST) => format!(" ({} {min})", lang.of("from age", "mulai usia")),
        (min, max) => format!(" ({} {min}–{max})", lang.of("age", "usia")),
    };
    let price = rupiah(fare["price"].as_i64().unwrap_or_default());
    let seat = match fare["takes_seat"] == false {
        true => lang.of(", without a seat", ", tanpa kursi"),
        false => "",
    };
    format!("{}{ages} · {price}{seat}", name.say(lang))
}

/// The passengers as the check page lists them.
fn passengers(order: &Order, values: &Values, offer: &Offer, lang: Lang) -> Vec<Value> {
    let passenger = |row: usize| {
        let text =
            |name: &str| values.get(&format!("passengers[{row}].{name}")).unwrap_or_default();
        let fares = offer.quote["fares"].as_array().into_iter().flatten();
        let fare = fares.into_iter().find(|fare| fare["key"] == text("fare"));
        json!({
            "name": text("name"),
            "fare": fare.map(|fare| fare_label(fare, lang)),
            "identity_type": text("identity_type"),
            "identity_number": text("identity_number"),
            "birth_date": text("birth_date"),
            "gender": text("gender"),
            "nationality": text("nationality"),
        })
    };
    (0..order.qty).map(passenger).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Values {
        Values(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    fn order(qty: usize) -> Order {
        Order { sailing: "s".into(), boat: "b".into(), kind: "speedboat".into(), qty }
    }

    #[test]
    fn a_form_has_one_row_for_each_passenger() {
        let typed = values(&[("passengers[0].name", "Sari"), ("passengers[2].name", "Budi")]);
        let complete = order(2).complete(typed);
        assert_eq!(complete.rows("passengers"), 2);
        assert_eq!(complete.get("passengers[0].name"), Some("Sari"));
        assert_eq!(complete.get("passengers[2].name"), None);
        assert_eq!(complete.get("qty"), Some("2"));
    }

    #[test]
    fn passengers_without_a_seat_take_none() {
        let quote = json!({ "fares": [
            { "key": "adult", "takes_seat": true }, { "key": "infant", "takes_seat": false },
        ] });
        let typed = values(&[("passengers[0].fare", "adult"), ("passengers[1].fare", "infant")]);
        assert_eq!(order(2).seats(&typed, &quote), 1);
        assert_eq!(order(3).seats(&typed, &quote), 2, "the first fare is the default");
    }

    #[test]
    fn a_fare_says_age_price_and_seat() {
        let fare = json!({
            "key": "infant", "min_age": 0, "max_age": 2, "price": 0, "takes_seat": false,
        });
        assert_eq!(fare_label(&fare, Lang::En), "Infant (age 0–2) · Rp\u{a0}0, without a seat");
        let fare = json!({ "key": "adult", "min_age": 12, "max_age": 120, "price": 90_000 });
        assert_eq!(fare_label(&fare, Lang::Id), "Dewasa (mulai usia 12) · Rp\u{a0}90.000");
    }
}
