//! Cancelling passengers of a booking: who, then what comes back, then the act. In the console some of
//! the passengers; a guest also all of them.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::{Value, json};

use super::{
    client::{Call, Envelope, Shown},
    fields::Form,
    forms::{self, Spec, Values},
    kinds::back,
    view::{by_name, data},
    visit::Visit,
};
use crate::kernel::{access::Role, ids};

const CHOSEN: &str = "passenger_ids[]";

pub fn cancel_passengers(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let is_chosen = visit.query.iter().any(|(name, _)| name == "_chosen");
        let mut values = form.unwrap_or_else(|| Values::of_address(&visit.query, &[CHOSEN]));
        if is_chosen {
            values.set("_chosen", "1");
        }
        if values.take("_do").as_deref() != Some("cancel") {
            return show(visit, values, Shown::plain()).await;
        }
        let input = visit.web.client().input("cancel_booking");
        let mut body = forms::body(&input, &values, false);
        // A guest who names nobody cancels the booking.
        if visit.guest.is_some() && chosen(&values).is_empty() {
            body["passenger_ids"] = Value::Null;
        }
        if !is_as_shown(&visit, &values).await {
            let message = visit.lang().of(
                "The refund has changed. Please check it again.",
                "Jumlah yang dikembalikan telah berubah. Mohon diperiksa lagi.",
            );
            return show(visit, values, Shown::refused(Envelope::changed(message))).await;
        }
        let key = values.get("_key").map(str::to_owned);
        let answer = visit.ask(Call { key, ..visit.change("cancel_booking", body) }).await;
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

fn chosen(values: &Values) -> Vec<String> {
    values.all(CHOSEN).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// Whether a guest gets back what the page has said. Partners and staff decide themselves.
async fn is_as_shown(visit: &Visit, values: &Values) -> bool {
    if visit.guest.is_none() {
        return true;
    }
    let chosen = chosen(values);
    let options = options(visit, &chosen).await;
    // The operation reports the refusal.
    let amount = options.data["cancel"]["refund_amount"].as_i64().unwrap_or_default();
    options.data["cancel"]["allowed"] != true || values.get("_refund") == Some(&amount.to_string())
}

/// What cancelling these passengers means; without passengers, the whole booking.
async fn options(visit: &Visit, chosen: &[String]) -> Envelope {
    let call = visit.call("get_booking_options");
    visit
        .ask(match chosen {
            [] => call,
            some => call.query("passenger_ids", some.join(",")),
        })
        .await
}

async fn show(visit: Visit, values: Values, shown: Shown) -> Response {
    let booking = visit.ask(visit.call("get_booking")).await;
    if !booking.is_success() {
        return visit.interrupted(values, &booking);
    }
    let all = booking.data["passengers"].as_array().map_or(0, Vec::len);
    let is_guest = visit.guest.is_some();
    let chosen = chosen(&values);
    // A guest begins with the whole booking.
    let is_nobody = chosen.is_empty() && values.get("_chosen").is_some();
    let is_whole = is_guest && !is_nobody && (chosen.is_empty() || chosen.len() >= all);
    let options = match is_whole || !chosen.is_empty() {
        false => None,
        true => Some(options(&visit, if is_whole { &[] } else { &chosen }).await),
    };
    // The operation reports which passengers cannot be cancelled together.
    let unfit = options.as_ref().filter(|options| !options.is_success()).map(|options| {
        options.faults.first().map_or(options.message.as_str(), |fault| fault.message.as_str())
    });
    let input = visit.web.client().input("cancel_booking");
    let (lang, choices) = (visit.lang(), Default::default());
    let faults = &shown.faults;
    let form = Form { input: &input, values: &values, faults, choices: &choices, lang };
    let asked = if is_guest { "reason" } else { "reason refund refund_amount" };
    let fields = form.fields(&Spec::parse(asked));
    let code = booking.data["code"].as_str().unwrap_or_default();
    let title = format!("{}: {code}", visit.page().title.say(lang));
    let cancel = options.as_ref().filter(|options| options.is_success());
    let may_cancel = cancel.is_some_and(|options| options.data["cancel"]["allowed"] == true);
    let contents = context! {
        kind => may_cancel.then_some("form"),
        record => data(&booking.data),
        is_whole,
        may_part => booking.data["type"] != "charter" && booking.data["status"] == "paid" && all > 1,
        chosen => data(if is_whole { &[][..] } else { &chosen }),
        unfit,
        cancel => data(cancel.map_or(&json!(null), |options| &options.data["cancel"])),
        problems => data(form.problems(&fields)),
        fields => data(by_name(fields)),
        refusal => shown.message(),
        retry_after => shown.retry_after(),
        key => ids::fresh().to_string(),
        may_decide => !is_guest && visit.role() != Some(Role::Mitra),
        back => data(back(&visit)),
    };
    visit.render(shown.status, "cancel_passengers.html", &title, contents)
}
