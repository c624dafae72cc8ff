//! Structured data for search engines (schema.org).

use serde_json::{Value, json};

use crate::web::visit::Visit;

/// The sailings of a page with their offers. The result is text for a `script` element: no character
/// in it can end the element.
pub fn trips(visit: &Visit, offers: &[Value]) -> Option<String> {
    if offers.is_empty() {
        return None;
    }
    let base = visit.web.app().config.public_url();
    let graph: Vec<_> = offers.iter().map(|offer| trip(&base, offer)).collect();
    let document = json!({ "@context": "https://schema.org", "@graph": graph });
    Some(document.to_string().replace('<', "\\u003c"))
}

fn trip(base: &str, offer: &Value) -> Value {
    let text = |name: &str| offer[name].as_str().unwrap_or_default();
    let terminal = |name: &str| json!({ "@type": "BoatTerminal", "name": offer[name] });
    let (id, boat, kind) = (text("route_time_id"), text("item_id"), text("type"));
    let price = match kind {
        "charter" => &offer["total_price"],
        // What a passenger pays, by the first fare.
        _ if offer["fares"][0].is_object() => &offer["fares"][0]["price"],
        _ => &offer["price"],
    };
    json!({
        "@type": "BoatTrip",
        "departureBoatTerminal": terminal("from"),
        "arrivalBoatTerminal": terminal("to"),
        "departureTime": offer["departure_at"],
        "arrivalTime": offer["arrival_at"],
        "provider": { "@type": "Organization", "name": offer["mitra"]["name"] },
        "offers": {
            "@type": "Offer",
            "price": price,
            "priceCurrency": "IDR",
            "availability": "https://schema.org/InStock",
            "inventoryLevel": offer["available_seats"],
            "url": format!("{base}/book/{id}?item_id={boat}&type={kind}"),
        },
    })
}
