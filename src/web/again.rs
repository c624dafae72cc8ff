//! Forms that a limit or a failure has interrupted: what was typed is shown with a button that sends it
//! once more. Nothing repeats by itself.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use minijinja::{Value, context};

use super::{
    client::Envelope,
    forms::{Values, is_multipart},
    page::Page,
    view::data,
};

/// Fields that a pressed button sends.
const BUTTONS: &[&str] = &["_do", "_lang", "_add", "_find", "_remove", "_show"];

/// Whether the same request may succeed later.
pub fn may_pass(status: u16) -> bool {
    status == 429 || status >= 500
}

/// A form that can be sent once more.
pub struct Again {
    values: Values,
    /// The button that was pressed.
    pressed: (&'static str, String),
    had_files: bool,
}

impl Again {
    pub fn new(page: &Page, headers: &HeaderMap, values: Values) -> Self {
        let count = values.0.len();
        let mut values = page.without_secrets(values);
        let had_files = is_multipart(headers);
        let is_whole = values.0.len() == count && !had_files;
        let mut pressed = ("_do", String::new());
        for name in BUTTONS {
            if let Some(value) = values.take(name) {
                pressed = (name, value);
            }
        }
        // Secrets and files are not repeated: the form is shown, to be completed.
        if !is_whole {
            pressed = ("_show", "1".to_owned());
        }
        Self { values, pressed, had_files }
    }

    /// For `try_again.html`.
    pub fn contents(&self, refusal: &Envelope) -> Value {
        context! {
            kind => "form",
            hidden => data(&self.values.0),
            pressed => data(&self.pressed),
            had_files => self.had_files,
            refusal => refusal.message.as_str(),
            retry_after => refusal.retry_after,
        }
    }
}

/// The form of a request, for an answer that its page does not give. An extension of the request.
#[derive(Clone, Default)]
pub struct Typed(Arc<Mutex<Option<Again>>>);

impl Typed {
    pub fn keep(&self, form: Again) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(form);
    }

    pub fn take(&self) -> Option<Again> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
