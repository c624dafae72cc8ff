//! Cancelling some passengers of a booking: who, then what comes back, then the act.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::Value;

use crate::{
    kernel::{access::Role, ids},
    web::{
        client::{Call, Envelope, Fault},
        fields::Form,
        forms::{self, Spec, Values},
        kinds::back,
        view::{by_name, data},
        visit::Visit,
    },
};

const CHOSEN: &str = "passenger_ids[]";
const FIELDS: &str = "reason refund refund_amount";

pub fn cancel_passengers(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let mut values = form.unwrap_or_else(|| Values(visit.query.clone()));
        let is_sent = values.take("_do").as_deref() == Some("cancel");
        if !is_sent {
            return show(visit, values, 200, Vec::new(), None).await;
        }
        let input = visit.web.client().input("cancel_booking");
        let call = visit.call("cancel_booking").json(forms::body(&input, &values, false));
        let key = values.get("_key").map(str::to_owned);
        let answer = visit.ask(Call { key, ..call }).await;
        if answer.is_success() {
            let to = format!("/console/bookings/{}", visit.params[0]);
            return visit.redirect_saying(&to, &answer.message);
        }
        match (answer.status, answer.error.as_str()) {
            (401, "unauthenticated") => (visit.web.sign_in().hold)(visit, &values),
            (status, _) => {
                let faults = answer.faults.clone();
                let refusal = (status != 422 || faults.is_empty()).then_some(answer);
                show(visit, values, status, faults, refusal).await
            }
        }
    }
    .boxed()
}

async fn show(
    visit: Visit,
    values: Values,
    status: u16,
    faults: Vec<Fault>,
    refusal: Option<Envelope>,
) -> Response {
    let chosen: Vec<String> =
        values.all(CHOSEN).filter(|id| !id.is_empty()).map(str::to_owned).collect();
    let options = async {
        if chosen.is_empty() {
            return None;
        }
        let call = visit.call("get_booking_options").query("passenger_ids", chosen.join(","));
        Some(visit.ask(call).await)
    };
    let (booking, options) = tokio::join!(visit.ask(visit.call("get_booking")), options);
    if !booking.is_success() {
        return visit.problem(&booking);
    }
    // Who cannot be cancelled together is said by the operation.
    let unfit = options.as_ref().filter(|options| !options.is_success()).map(|options| {
        options.faults.first().map_or(options.message.as_str(), |fault| fault.message.as_str())
    });
    let input = visit.web.client().input("cancel_booking");
    let lang = visit.lang();
    let choices = Default::default();
    let form = Form { input: &input, values: &values, faults: &faults, choices: &choices, lang };
    let fields = form.fields(&Spec::parse(FIELDS));
    let code = booking.data["code"].as_str().unwrap_or_default();
    let title = format!("{}: {code}", visit.page().title.say(lang));
    let cancel = options.as_ref().filter(|options| options.is_success());
    let contents = context! {
        record => data(&booking.data),
        chosen => data(&chosen),
        unfit,
        cancel => data(cancel.map_or(&Value::Null, |options| &options.data["cancel"])),
        problems => data(form.problems(&fields)),
        fields => data(by_name(fields)),
        refusal => refusal.as_ref().map(|refusal| refusal.message.as_str()),
        retry_after => refusal.as_ref().and_then(|refusal| refusal.retry_after),
        key => ids::fresh().to_string(),
        may_decide => visit.role() != Some(Role::Mitra),
        back => data(back(&visit)),
    };
    visit.render(status, "cancel_passengers.html", &title, contents)
}
