//! Templates of pages and mails.

use minijinja::{
    AutoEscape, Environment, Error as Failure, Output, State, Value, escape_formatter,
};

pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for_each_part(text, |part| {
        escaped.push_str(part);
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
    escaped
}

/// Calls `write` with the parts of the escaped text. Most texts have nothing to escape and are one part.
fn for_each_part<E>(text: &str, mut write: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| entity(byte).is_some()) {
        write(&rest[..at])?;
        write(entity(rest.as_bytes()[at]).unwrap_or_default())?;
        rest = &rest[at + 1..];
    }
    write(rest)
}

fn entity(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'"' => "&quot;",
        b'\'' => "&#39;",
        _ => return None,
    })
}

/// An engine with these templates: name and source. Values in `.html` templates are escaped.
pub fn engine(templates: &[(&'static str, &'static str)]) -> Result<Environment<'static>, Failure> {
    let mut engine = Environment::new();
    engine.set_formatter(write_escaped);
    for (name, source) in templates {
        engine.add_template(name, source)?;
    }
    Ok(engine)
}

/// The engine's own escaping also replaces every slash, which makes pages a third larger.
fn write_escaped(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Failure> {
    let is_escaped = !value.is_safe() && !matches!(state.auto_escape(), AutoEscape::None);
    match value.as_str() {
        Some(text) if is_escaped => {
            for_each_part(text, |part| out.write_str(part)).map_err(Failure::from)
        }
        _ => escape_formatter(out, state, value),
    }
}
