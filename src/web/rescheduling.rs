//! Moving a booking to another sailing: the day, the sailing, what it costs, then the act.

use axum::response::Response;
use chrono::{DateTime, Days, NaiveDate, Utc};
use chrono_tz::Tz;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::{Value, json};

use super::{
    client::{Call, Envelope, Shown},
    fields::Form,
    forms::{Spec, Values},
    kinds::back,
    view::{by_name, data},
    visit::{Visit, with_query},
};
use crate::kernel::ids;

pub fn reschedule(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let mut values = form.unwrap_or_else(|| Values::of_address(&visit.query, &["date", "to"]));
        if values.take("_do").as_deref() != Some("move") {
            return show(visit, values, Shown::plain()).await;
        }
        let mut body = json!({ "route_time_id": values.get("to") });
        if let Some(reason) = values.get("reason").filter(|reason| !reason.trim().is_empty()) {
            body["reason"] = json!(reason);
        }
        if let Some(shown) = values.take("_difference") {
            let preview = preview(&visit, values.get("to").unwrap_or_default()).await;
            let difference = preview.data["reschedule"]["difference"].as_i64();
            if preview.is_success() && difference != shown.parse().ok() {
                let message = visit.lang().of(
                    "The price has changed. Please check it again.",
                    "Biayanya berubah. Mohon diperiksa lagi.",
                );
                return show(visit, values, Shown::refused(Envelope::changed(message))).await;
            }
        }
        let key = values.get("_key").map(str::to_owned);
        let answer = visit.ask(Call { key, ..visit.change("reschedule_booking", body) }).await;
        if answer.is_success() {
            let to = visit.above().to_owned();
            return visit.redirect_saying(&to, &answer.message);
        }
        match answer.needs_sign_in() {
            true => (visit.web.sign_in().hold)(visit, &values),
            false => show(visit, values, Shown::refused(answer)).await,
        }
    }
    .boxed()
}

/// What the move would cost.
async fn preview(visit: &Visit, to: &str) -> Envelope {
    let body = json!({ "route_time_id": to, "dry_run": true });
    visit.ask(visit.change("reschedule_booking", body)).await
}

/// The day of departure, in the zone of the sailing.
pub fn day_of(sailing: &Value) -> Option<NaiveDate> {
    let at: DateTime<Utc> = sailing["departure_at"].as_str()?.parse().ok()?;
    let zone: Tz = sailing["timezone"].as_str()?.parse().ok()?;
    Some(at.with_timezone(&zone).date_naive())
}

/// Infants may travel without a seat.
fn seats(booking: &Value) -> i64 {
    let passengers = booking["passengers"].as_array().into_iter().flatten();
    let seats = passengers.filter(|one| one["takes_seat"] == true).count() as i64;
    match booking["type"] == "charter" {
        true => booking["qty"].as_i64().unwrap_or(1),
        false => seats.max(1),
    }
}

async fn show(visit: Visit, values: Values, shown: Shown) -> Response {
    let booking = visit.ask(visit.call("get_booking")).await;
    if !booking.is_success() {
        return visit.interrupted(values, &booking);
    }
    let sailing = &booking.data["sailing"];
    let date = values.get("date").and_then(|date| date.parse().ok());
    let date: NaiveDate = date.or_else(|| day_of(sailing)).unwrap_or_default();
    let wish = json!({
        "from": sailing["from"],
        "to": sailing["to"],
        "date": date,
        "qty": seats(&booking.data),
        "type": booking.data["type"],
        "mitra_id": sailing["mitra"]["id"],
        "page_size": 100,
    });
    let preview = async {
        let to = values.get("to").filter(|to| !to.is_empty())?;
        Some(preview(&visit, to).await)
    };
    let search = visit.ask(Call::of("search_sailings").json(wish));
    let (found, preview) = tokio::join!(search, preview);
    let is_other = |offer: &&Value| offer["route_time_id"] != booking.data["route_time_id"];
    let link = |date: NaiveDate, to: &str| {
        let query = [("date".to_owned(), date.to_string()), ("to".to_owned(), to.to_owned())];
        with_query(&visit.path, &query)
    };
    let offers = found.data.as_array().into_iter().flatten().filter(is_other);
    let offers: Vec<_> = offers
        .map(|offer| (offer, link(date, offer["route_time_id"].as_str().unwrap_or_default())))
        .collect();
    let chosen = values.get("to").unwrap_or_default();
    let chosen = offers.iter().find(|(offer, _)| offer["route_time_id"] == chosen);
    let first = date.checked_sub_days(Days::new(3)).unwrap_or(date);
    let strip = (0..7).filter_map(|day| first.checked_add_days(Days::new(day)));
    let strip =
        strip.map(|day| json!({ "date": day, "href": link(day, ""), "current": day == date }));
    let input = visit.web.client().input("reschedule_booking");
    let (lang, choices) = (visit.lang(), Default::default());
    let faults = &shown.faults;
    let form = Form { input: &input, values: &values, faults, choices: &choices, lang };
    let fields = form.fields(&Spec::parse("reason"));
    let refused_preview = preview.as_ref().filter(|preview| !preview.is_success());
    let refusal = shown.refusal.as_ref().or(refused_preview).map(|refusal| {
        refusal.faults.first().map_or(&refusal.message, |fault| &fault.message).as_str()
    });
    let moved = preview.as_ref().filter(|preview| preview.is_success());
    let contents = context! {
        kind => moved.map(|_| "form"),
        record => data(&booking.data),
        date => date.to_string(),
        offers => data(&offers),
        chosen => data(chosen.map(|(offer, _)| offer)),
        to => values.get("to"),
        strip => data(strip.collect::<Vec<_>>()),
        moved => data(moved.map(|preview| &preview.data["reschedule"])),
        problems => data(form.problems(&fields)),
        fields => data(by_name(fields)),
        refusal,
        key => ids::fresh().to_string(),
        back => data(back(&visit)),
    };
    let code = booking.data["code"].as_str().unwrap_or_default();
    let title = format!("{}: {code}", visit.page().title.say(lang));
    visit.render(shown.status, "reschedule.html", &title, contents)
}
