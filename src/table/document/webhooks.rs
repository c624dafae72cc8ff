//! The requests that the service sends to subscribers.

use aide::{
    generate::in_context,
    openapi::{PathItem, ReferenceOr},
};
use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::texts;

/// An event that can be subscribed to.
pub struct Event {
    pub name: &'static str,
    pub data: fn(&mut SchemaGenerator) -> Schema,
}

pub fn document(event: &Event) -> (String, ReferenceOr<PathItem>) {
    let (tag, text) = texts::of_event(event.name);
    let data = in_context(|ctx| (event.data)(&mut ctx.schema));
    let header = |name: &str, description: &str| {
        json!({
            "name": name, "in": "header", "required": true, "description": description,
            "schema": { "type": "string" },
        })
    };
    let item = json!({
        "post": {
            "operationId": event.name.replace('.', "_"),
            "summary": event.name,
            "description": text,
            "tags": [tag],
            "parameters": [
                header("webhook-id", "Id of the event, the same for every attempt."),
                header("webhook-timestamp", "Time of the attempt in seconds since 1970."),
                header(
                    "webhook-signature",
                    "`v1,` and the base64 of HMAC-SHA256 of `{id}.{timestamp}.{body}` with the \
                     webhook's secret.",
                ),
            ],
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": {
                    "type": "object",
                    "required": ["type", "timestamp", "data"],
                    "properties": {
                        "type": { "const": event.name },
                        "timestamp": {
                            "description": "When it happened.",
                            "type": "string", "format": "date-time",
                        },
                        "data": data,
                    },
                } } },
            },
            "responses": {
                "2XX": { "description": "Received, within 10 seconds. Other deliveries are retried." },
                "410": { "description": "Deactivates the webhook." },
            },
            // None, as of public operations: the signature proves who sends it.
            "security": [{}],
        },
    });
    let item = serde_json::from_value(item).expect("a path item");
    (event.name.into(), ReferenceOr::Item(item))
}
