//! Examples and code samples of the operations, recorded from a service with the demo's data
//! (`clients/samples`).

use std::{collections::BTreeMap, sync::LazyLock};

use aide::openapi::{MediaType, Operation, ReferenceOr, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Recorded {
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    request: Option<Value>,
    response: Option<Value>,
    samples: BTreeMap<String, String>,
}

static RECORDED: LazyLock<BTreeMap<String, Recorded>> = LazyLock::new(|| {
    let text = include_str!("../../../docs/operations/examples.json");
    serde_json::from_str(text).expect("docs/operations/examples.json is valid")
});

/// Key in the file, language and label of the samples, in the order of the document.
const LANGUAGES: [(&str, &str, &str); 3] = [
    ("curl", "shell", "curl"),
    ("typescript", "typescript", "TypeScript"),
    ("python", "python", "Python"),
];

/// Adds the examples and code samples of an operation.
pub fn add_examples(operation: &mut Operation) {
    let recorded = operation.operation_id.as_ref().and_then(|id| RECORDED.get(id));
    let Some(recorded) = recorded else { return };
    for parameter in &mut operation.parameters {
        if let ReferenceOr::Item(parameter) = parameter {
            let data = parameter.parameter_data_mut();
            data.example = recorded.parameters.get(&data.name).cloned();
        }
    }
    if let Some(ReferenceOr::Item(body)) = &mut operation.request_body {
        let json = body.content.get_mut("application/json");
        set_example(json, recorded.request.as_ref());
    }
    let responses = operation.responses.iter_mut().flat_map(|all| &mut all.responses);
    for (status, response) in responses {
        if let (StatusCode::Code(200..=299), ReferenceOr::Item(response)) = (status, response) {
            let json = response.content.get_mut("application/json");
            set_example(json, recorded.response.as_ref());
        }
    }
    let samples = LANGUAGES.iter().filter_map(|(key, lang, label)| {
        let source = recorded.samples.get(*key)?;
        Some(json!({ "lang": lang, "label": label, "source": source }))
    });
    operation.extensions.insert("x-codeSamples".into(), samples.collect());
}

fn set_example(media: Option<&mut MediaType>, example: Option<&Value>) {
    if let Some(media) = media {
        media.example = example.cloned();
    }
}

/// The operation ids that have examples, for a test that each exists.
pub fn operations() -> impl Iterator<Item = &'static str> {
    RECORDED.keys().map(String::as_str)
}
