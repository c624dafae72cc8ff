//! The JSON that an operation takes, from the values of a form.

use serde_json::{Map, Value, json};

use super::{MAX_ROWS, Values};
use crate::web::schema::{Field, Input, Kind, find};

/// The body that an operation takes. `clears` is for updates, where an empty field is null: what is
/// left out would keep its value.
pub fn body(input: &Input, values: &Values, clears: bool) -> Value {
    let fields = input.body.as_deref().unwrap_or_default();
    Value::Object(object(fields, values, "", clears))
}

fn object(fields: &[Field], values: &Values, prefix: &str, clears: bool) -> Map<String, Value> {
    let mut object = Map::new();
    for field in fields {
        let name = format!("{prefix}{}", field.name);
        if let Some(value) = value(field, values, &name, clears) {
            object.insert(field.name.clone(), value);
        }
    }
    object
}

/// The value of a field; `None` if the form does not have it.
fn value(field: &Field, values: &Values, name: &str, clears: bool) -> Option<Value> {
    match &field.kind {
        Kind::Object(fields) => {
            let inner = object(fields, values, &format!("{name}."), clears);
            (!inner.is_empty()).then_some(Value::Object(inner))
        }
        Kind::List(item) => list(item, values, name, clears),
        kind => {
            let text = values.get(name)?;
            match text.trim().is_empty() {
                true => empty(field, clears),
                false if is_amount(values, name) => Some(scalar(&Kind::Integer, text)),
                false => Some(scalar(kind, text)),
            }
        }
    }
}

/// Whether a value is rupiah by the type that is chosen beside it. `25.000` is then no decimal number.
fn is_amount(values: &Values, name: &str) -> bool {
    let beside = name.strip_suffix("value").map(|prefix| format!("{prefix}type"));
    beside.is_some_and(|beside| values.get(&beside) == Some("fixed"))
}

/// An empty field. A required text is sent, so that the API says what is wrong with it.
fn empty(field: &Field, clears: bool) -> Option<Value> {
    let is_text = matches!(field.kind, Kind::Text | Kind::Email | Kind::Password);
    match (field.required, field.nullable && clears) {
        (true, _) if is_text => Some(json!("")),
        (false, true) => Some(Value::Null),
        _ => None,
    }
}

fn list(item: &Kind, values: &Values, name: &str, clears: bool) -> Option<Value> {
    if let Kind::Object(fields) = item {
        let rows = values.rows(name).min(MAX_ROWS);
        let rows = (0..rows)
            .map(|row| Value::Object(object(fields, values, &format!("{name}[{row}]."), clears)));
        let rows: Vec<_> = rows.collect();
        return (!rows.is_empty()).then_some(Value::Array(rows));
    }
    // Several boxes, or one text with a line for each.
    let several = format!("{name}[]");
    let mut texts: Vec<&str> = values.all(&several).collect();
    let given = !texts.is_empty() || values.get(name).is_some();
    texts.extend(values.get(name).into_iter().flat_map(str::lines));
    let texts = texts.into_iter().map(str::trim).filter(|text| !text.is_empty());
    let items: Vec<_> = texts.map(|text| scalar(item, text)).collect();
    given.then_some(Value::Array(items))
}

/// What does not look like its kind is sent as text, and the API refuses it.
fn scalar(kind: &Kind, text: &str) -> Value {
    match kind {
        Kind::Integer => integer(text).map_or_else(|| text.into(), Value::from),
        Kind::Number => {
            let number = text.trim().replace(',', ".").parse::<f64>().ok();
            number.and_then(serde_json::Number::from_f64).map_or_else(
                || text.into(),
                |number| match number.as_f64() {
                    Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => {
                        json!(whole as i64)
                    }
                    _ => Value::Number(number),
                },
            )
        }
        Kind::Boolean => Value::Bool(text == "true"),
        Kind::Text | Kind::Password => text.into(),
        _ => text.trim().into(),
    }
}

/// `Rp 150.000` → 150000. `12.5` is none: only groups of three digits are separated.
fn integer(text: &str) -> Option<i64> {
    const SEPARATORS: [char; 3] = ['.', ' ', '\u{a0}'];
    let text = text.trim().trim_start_matches("Rp").trim_start_matches(SEPARATORS);
    let is_grouped = text.split(SEPARATORS).skip(1).all(|group| group.len() == 3);
    is_grouped.then(|| text.replace(SEPARATORS, "").parse().ok())?
}

/// What a field is in a form's spec, in rows of lists too.
pub fn field_of<'a>(input: &'a Input, list: Option<&str>, path: &str) -> Option<&'a Field> {
    match list {
        None => input.field(path),
        Some(list) => match &input.field(list)?.kind {
            Kind::List(item) => match item.as_ref() {
                Kind::Object(fields) => find(fields, path),
                _ => None,
            },
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::web::{
        forms::{Spec, tests::values},
        schema,
    };

    static INPUTS: LazyLock<std::collections::HashMap<String, Input>> = LazyLock::new(|| {
        let document = include_str!("../../../docs/openapi.json");
        schema::inputs(&serde_json::from_str(document).unwrap())
    });

    #[test]
    fn a_form_becomes_the_json_that_the_operation_takes() {
        let form = values(&[
            ("from", "Sanur"),
            ("price", "Rp 150.000"),
            ("timezone", ""),
            ("times[0].departure_time", "08:00"),
            ("times[0].days[]", "mon"),
            ("times[0].days[]", "tue"),
            ("times[1].departure_time", ""),
            ("times[1].price", ""),
            ("times[4].departure_time", "09:30"),
            ("times[4].price", "90000"),
            ("_key", "x"),
        ]);
        let body = body(&INPUTS["create_route"], &form, false);
        let times = json!([
            { "departure_time": "08:00", "days": ["mon", "tue"] },
            { "departure_time": "09:30", "price": 90_000 },
        ]);
        assert_eq!(body, json!({ "from": "Sanur", "price": 150_000, "times": times }));
    }

    #[test]
    fn an_empty_field_is_cleared_by_an_update_and_left_out_of_a_new_record() {
        let form =
            values(&[("name", ""), ("quota", ""), ("code", "A"), ("discount.value", "12,5")]);
        let made = body(&INPUTS["create_promotion"], &form, false);
        assert_eq!(made, json!({ "code": "A", "discount": { "value": 12.5 } }));
        let changed = body(&INPUTS["update_promotion"], &form, true);
        assert_eq!(changed, json!({ "code": "A", "quota": null, "discount": { "value": 12.5 } }));
    }

    #[test]
    fn a_fixed_discount_is_an_amount_and_a_percentage_a_decimal_number() {
        let value = |kind: &str, text: &str| {
            let form = values(&[("discount.type", kind), ("discount.value", text)]);
            body(&INPUTS["create_promotion"], &form, false)["discount"]["value"].clone()
        };
        for text in ["25.000", "25000", "Rp 25.000", "Rp. 25.000", "Rp\u{a0}25 000"] {
            assert_eq!(value("fixed", text), 25_000, "{text}");
        }
        // The API refuses a text.
        for text in ["12.5", "12,5", "25,000", "25.00", "25.000,00"] {
            assert_eq!(value("fixed", text), text);
        }
        for (text, percent) in [("12,5", 12.5), ("12.5", 12.5), ("0.25", 0.25)] {
            assert_eq!(value("percentage", text), percent);
        }
        assert_eq!(value("percentage", "25.000"), 25);
        assert_eq!(value("percentage", "1.000,5"), "1.000,5");
    }

    #[test]
    fn boxes_and_lines_become_lists() {
        let form = values(&[("rules[]", ""), ("rules[]", "fleet.read"), ("name", "Kapal")]);
        let body_of = |operation: &str, form| body(&INPUTS[operation], form, false);
        let expected = json!({ "name": "Kapal", "rules": ["fleet.read"] });
        assert_eq!(body_of("create_permission", &form), expected);
        let form = values(&[("facilities", "AC\r\n\r\nToilet"), ("status", "active")]);
        let expected = json!({ "facilities": ["AC", "Toilet"], "status": "active" });
        assert_eq!(body_of("create_speedboat", &form), expected);
        let form = values(&[("active", "false"), ("active", "true"), ("events[]", "")]);
        let expected = json!({ "active": true, "events": [] });
        assert_eq!(body_of("create_webhook", &form), expected);
    }

    #[test]
    fn a_form_is_filled_from_a_record_and_says_the_same_again() {
        let record = json!({
            "from": "Sanur", "to": "Nusa Penida", "price": 150_000, "schedule_type": "weekly",
            "times": [{ "id": "1", "departure_time": "08:00", "days": ["mon"], "price": null }],
        });
        let spec = Spec::parse("from to price schedule_type times[departure_time days price]");
        let filled = Values::of_record(&record, &spec);
        let body = body(&INPUTS["update_route"], &filled, true);
        let times = json!([{ "departure_time": "08:00", "days": ["mon"] }]);
        let expected = json!({
            "from": "Sanur", "to": "Nusa Penida", "price": 150_000, "schedule_type": "weekly",
            "times": times,
        });
        assert_eq!(body, expected);
    }
}
