//! The passengers of a sailing: found by name or booking code, boarded by a form.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;
use serde_json::{Value, json};

use super::data;
use crate::web::{answer, client::Envelope, forms::Values, view::data as shown, visit::Visit};

pub fn sailing(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move { show(visit, None).await }.boxed()
}

/// The page, with the reason why the last form was refused.
pub async fn show(visit: Visit, refusal: Option<&Envelope>) -> Response {
    let manifest = visit.ask(visit.call("get_manifest")).await;
    if !manifest.is_success() {
        return visit.problem(&manifest);
    }
    let locale = visit.locale();
    let wanted = visit.parameter("q").unwrap_or_default().to_owned();
    let listed = manifest.data["passengers"].as_array().into_iter().flatten();
    let passengers: Vec<_> = listed
        .filter(|listed| fits(listed, &wanted))
        .map(|listed| {
            data::merged(data::passenger(listed), json!({ "about": data::about(listed, locale) }))
        })
        .collect();
    let record = sailing_of(&visit, &manifest.data);
    let end = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let title = format!("{} → {}", end("from"), end("to"));
    let contents = context! {
        s => shown(&record),
        totals => shown(&manifest.data["totals"]),
        passengers => shown(&passengers),
        q => wanted.as_str(),
        refusal => refusal.map(|refusal| refusal.message.as_str()),
    };
    visit.render(
        refusal.map_or(200, |refusal| refusal.status),
        "pier_sailing.html",
        &title,
        contents,
    )
}

/// The list that a telephone keeps.
pub fn sailing_data(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let manifest = async {
            let answer = visit.ask(visit.call("get_manifest")).await;
            if answer.is_success() { Ok(answer.data) } else { Err(answer) }
        };
        match tokio::try_join!(manifest, data::common(&visit)) {
            Ok((manifest, common)) => {
                let passengers = manifest["passengers"].as_array().into_iter().flatten();
                let list = json!({
                    "sailing": sailing_of(&visit, &manifest),
                    "passengers": passengers.map(data::passenger).collect::<Vec<_>>(),
                });
                let response = answer::json(200, &data::merged(common, list));
                visit.with_cookies(response)
            }
            Err(refusal) => visit.problem(&refusal),
        }
    }
    .boxed()
}

fn sailing_of(visit: &Visit, manifest: &Value) -> Value {
    let sailing = data::sailing(&manifest["sailing"], visit.locale());
    let more = json!({
        "closed_at": manifest["closed_at"],
        "checked_in": manifest["totals"]["checked_in"],
    });
    data::merged(sailing, more)
}

/// Whether a passenger is meant by a name, a booking code, or the code of the ticket.
fn fits(listed: &Value, wanted: &str) -> bool {
    let wanted = wanted.trim().to_lowercase();
    let text = |name: &str| listed[name].as_str().unwrap_or_default().to_lowercase();
    text("name").contains(&wanted)
        || text("booking_code").contains(&wanted)
        || text("ticket_code") == wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passenger_is_found_by_name_and_codes() {
        let listed =
            json!({ "name": "Ni Ketut Sari", "booking_code": "DMG-7K2P", "ticket_code": "DMT1AB" });
        for wanted in ["", "ketut", "SARI ", "dmg-7k2p", "7K2P", "dmt1ab"] {
            assert!(fits(&listed, wanted), "{wanted}");
        }
        for wanted in ["wayan", "dmt1a", "DMG-7K2Q"] {
            assert!(!fits(&listed, wanted), "{wanted}");
        }
    }
}
