//! Examples and code samples of the operations, recorded from a service with the demo's data
//! (`clients/samples`).

use std::collections::BTreeMap;

use aide::openapi::{MediaType, Operation, ReferenceOr, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

/// The examples of all operations by id. They are large, so they are not kept.
pub struct Examples(BTreeMap<String, Recorded>);

#[derive(Deserialize)]
struct Recorded {
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    request: Option<Value>,
    response: Option<Value>,
    samples: BTreeMap<String, String>,
}

/// Key in the file, language and label of the samples, in the order of the document.
const LANGUAGES: [(&str, &str, &str); 3] = [
    ("curl", "shell", "curl"),
    ("typescript", "typescript", "TypeScript"),
    ("python", "python", "Python"),
];

impl Examples {
    pub fn read() -> Self {
        let text = include_str!("../../../docs/operations/examples.json");
        Self(serde_json::from_str(text).expect("docs/operations/examples.json is valid"))
    }

    /// The operation ids that have examples.
    pub fn operations(self) -> impl Iterator<Item = String> {
        self.0.into_keys()
    }

    /// Adds the examples and code samples of an operation.
    pub fn add_to(&self, operation: &mut Operation) {
        let recorded = operation.operation_id.as_ref().and_then(|id| self.0.get(id));
        if let Some(recorded) = recorded {
            recorded.add_to(operation);
        }
    }
}

impl Recorded {
    fn add_to(&self, operation: &mut Operation) {
        for parameter in &mut operation.parameters {
            if let ReferenceOr::Item(parameter) = parameter {
                let data = parameter.parameter_data_mut();
                data.example = self.parameters.get(&data.name).cloned();
            }
        }
        if let Some(ReferenceOr::Item(body)) = &mut operation.request_body {
            let json = body.content.get_mut("application/json");
            set_example(json, self.request.as_ref());
        }
        let responses = operation.responses.iter_mut().flat_map(|all| &mut all.responses);
        for (status, response) in responses {
            if let (StatusCode::Code(200..=299), ReferenceOr::Item(response)) = (status, response) {
                let json = response.content.get_mut("application/json");
                set_example(json, self.response.as_ref());
            }
        }
        let samples = LANGUAGES.iter().filter_map(|(key, lang, label)| {
            let source = self.samples.get(*key)?;
            Some(json!({ "lang": lang, "label": label, "source": source }))
        });
        operation.extensions.insert("x-codeSamples".into(), samples.collect());
    }
}

fn set_example(media: Option<&mut MediaType>, example: Option<&Value>) {
    if let Some(media) = media {
        media.example = example.cloned();
    }
}
