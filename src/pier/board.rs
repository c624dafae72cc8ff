//! Boarding and undo: a form per passenger, or a batch of scans from a telephone.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};

use super::sailing::show;
use crate::web::{
    answer,
    client::Envelope,
    forms::Values,
    visit::{Visit, with_query},
};

pub fn board(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let Some(values) = form else { return back(visit, None) };
        if let Some(scans) = values.get("scans") {
            // Somebody else has signed in on this telephone since.
            if values.get("owner").is_some_and(|owner| owner != visit.my_id()) {
                let error = "another_person".to_owned();
                let refusal = Envelope { status: 409, error, ..Envelope::default() };
                return to_script(visit, &refusal);
            }
            // Anything other than a list of scans is refused by the operation.
            let scans: Value = serde_json::from_str(scans).unwrap_or_default();
            let call = visit.call("check_in").json(json!({ "scans": scans }));
            let answer = visit.ask(call).await;
            return to_script(visit, &answer);
        }
        let code = values.get("ticket_code").unwrap_or_default();
        let call = visit.call("check_in").json(json!({ "ticket_code": code }));
        let answer = visit.ask(call).await;
        finish(visit, &values, &answer).await
    }
    .boxed()
}

pub fn undo(visit: Visit, form: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let Some(values) = form else { return back(visit, None) };
        let code = values.get("ticket_code").unwrap_or_default();
        let call = visit.call("undo_check_in").json(json!({ "ticket_code": code }));
        let answer = visit.ask(call).await;
        if values.get("_script").is_some() {
            return to_script(visit, &answer);
        }
        finish(visit, &values, &answer).await
    }
    .boxed()
}

/// To the list as it was searched; a refusal is shown above it.
async fn finish(mut visit: Visit, values: &Values, answer: &Envelope) -> Response {
    visit.query.retain(|(name, _)| name == "q");
    if let Some(wanted) = values.get("q") {
        visit.query = vec![("q".to_owned(), wanted.to_owned())];
    }
    match answer.status {
        200..300 => {
            let name = answer.data["passenger_name"].as_str().unwrap_or_default();
            let message = format!("{name}: {}", answer.message);
            back(visit, Some(&message))
        }
        409 | 422 => show(visit, Some(answer)).await,
        _ => visit.problem(answer),
    }
}

fn back(visit: Visit, message: Option<&str>) -> Response {
    let id = visit.param("id").unwrap_or_default();
    let path = with_query(&format!("/pier/{id}"), &visit.query);
    match message {
        Some(message) => visit.redirect_saying(&path, message),
        None => visit.redirect(&path),
    }
}

fn to_script(visit: Visit, answer: &Envelope) -> Response {
    let body = json!({ "message": answer.message, "error": answer.error, "data": answer.data });
    let mut response = answer::json(answer.status, &body);
    if let Some(seconds) = answer.retry_after {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    visit.with_cookies(response)
}
