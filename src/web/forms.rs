//! Forms: what a browser posted becomes the JSON that an operation takes, and what an operation
//! refused is shown at its field.

use std::collections::BTreeMap;

use axum::{
    body::{Bytes, to_bytes},
    extract::{
        FromRequest, Multipart, Request,
        multipart::{Field as Part, MultipartError},
    },
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
};
use serde_json::{Map, Value, json};

use super::{
    format::at,
    schema::{Field, Input, Kind, find},
};
use crate::kernel::{
    error::{Error, Result},
    http::{MAX_BODY, unreadable},
    idempotency::Key,
    lang::text,
};

/// The most fields of one form.
const MAX_FIELDS: usize = 2_000;
/// The most rows of a list in a form.
const MAX_ROWS: usize = 200;

/// The fields of a form by their names, such as `times[0].departure_time` or `rules[]`. Names that
/// begin with `_` are not sent to the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(pub Vec<(String, String)>);

/// A file of a form.
pub struct Upload {
    /// The field that its id goes to.
    pub field: String,
    pub filename: String,
    pub content: Bytes,
}

/// Whether a form has files, or could have.
pub fn is_multipart(headers: &HeaderMap) -> bool {
    media_type(headers) == "multipart/form-data"
}

fn media_type(headers: &HeaderMap) -> String {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Reads a form. Files are kept for the fields that take them; others are read and dropped.
pub async fn read(request: Request, fields: &[Spec]) -> Result<(Values, Vec<Upload>)> {
    let (mut values, uploads) = match media_type(request.headers()).as_str() {
        "multipart/form-data" => read_multipart(request, fields).await?,
        "application/x-www-form-urlencoded" => {
            let bytes = to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)?;
            let mut values = Values::default();
            for (name, value) in form_urlencoded::parse(&bytes) {
                values.push(name.into_owned(), value.into_owned())?;
            }
            (values.normalized(), Vec::new())
        }
        _ => return Err(Error::UnsupportedMediaType),
    };
    // A form without a valid key is sent without one, and shown again with a fresh one.
    values.0.retain(|(name, value)| name != "_key" || Key::parse(value).is_ok());
    Ok((values, uploads))
}

async fn read_multipart(request: Request, fields: &[Spec]) -> Result<(Values, Vec<Upload>)> {
    let mut form = Multipart::from_request(request, &()).await.map_err(|_| malformed())?;
    let (mut values, mut uploads) = (Values::default(), Vec::new());
    // Stands for a file until rows are renumbered. Nobody can type it.
    let nonce = rand::random::<u128>();
    let placeholder = |index: usize| format!("file {index} {nonce:032x}");
    let mut left = MAX_BODY;
    while let Some(mut part) = form.next_field().await.map_err(unreadable_part)? {
        let name = part.name().unwrap_or_default().to_owned();
        match part.file_name().map(str::to_owned) {
            None => {
                let text = content(&mut part, &mut left).await?;
                values.push(name, String::from_utf8(text).map_err(|_| malformed())?)?;
            }
            Some(filename) if takes_file(fields, &name) => {
                // The size of the whole body is limited.
                let content = part.bytes().await.map_err(unreadable_part)?;
                // A browser sends an empty part for a file that was not chosen.
                if !content.is_empty() {
                    values.push(name.clone(), placeholder(uploads.len()))?;
                    uploads.push(Upload { field: name, filename, content });
                }
            }
            Some(_) => while part.chunk().await.map_err(unreadable_part)?.is_some() {},
        }
    }
    let mut values = values.normalized();
    let mut index = 0;
    // A file belongs to its row, whatever number the row has now.
    uploads.retain_mut(|upload| {
        let mark = placeholder(index);
        index += 1;
        let place = values.0.iter().position(|(_, value)| *value == mark);
        let is_kept = place.is_some();
        if let Some(place) = place {
            upload.field = values.0.remove(place).0;
        }
        is_kept
    });
    Ok((values, uploads))
}

/// The content of a part, and how many bytes are left for the texts of the form.
async fn content(part: &mut Part<'_>, left: &mut usize) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(unreadable_part)? {
        *left = left.checked_sub(chunk.len()).ok_or(Error::TooLarge)?;
        content.extend_from_slice(&chunk);
    }
    Ok(content)
}

fn malformed() -> Error {
    Error::Malformed(text("The form is malformed.", "Formulir tidak valid."))
}

fn unreadable_part(error: MultipartError) -> Error {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::TooLarge,
        _ => malformed(),
    }
}

/// Whether a form has a field for files with this name.
fn takes_file(fields: &[Spec], name: &str) -> bool {
    let find = |path: &str| fields.iter().find(|field| field.path == path);
    match split_row(name) {
        Some((list, _, rest)) => find(list).is_some_and(|list| {
            rest.strip_prefix('.').is_some_and(|path| takes_file(&list.children, path))
        }),
        None => find(name.strip_suffix("[]").unwrap_or(name)).is_some_and(Spec::is_file),
    }
}

impl Values {
    pub fn push(&mut self, name: String, value: String) -> Result<()> {
        if self.0.len() >= MAX_FIELDS {
            return Err(Error::TooLarge);
        }
        self.0.push((name, value));
        Ok(())
    }

    /// The named parameters of an address. A link fills in no more than that, and presses no button.
    pub fn of_address(query: &[(String, String)], names: &[&str]) -> Self {
        let is_named = |(name, _): &&(String, String)| names.contains(&name.as_str());
        Self(query.iter().filter(is_named).cloned().collect())
    }

    /// The last value of a name: a checkbox follows the hidden field that stands for its absence.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn take(&mut self, name: &str) -> Option<String> {
        let value = self.get(name).map(str::to_owned);
        self.0.retain(|(known, _)| known != name);
        value
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// Without what must not be shown again.
    pub fn without_secrets(mut self) -> Self {
        self.0.retain(|(name, _)| {
            let last = name.rsplit('.').next().unwrap_or(name);
            !matches!(last, "password" | "cpassword" | "current_password" | "_password" | "_code")
        });
        self
    }

    /// How many rows a list has. A name with a number that no form has is no row: whoever sends it
    /// must not make us build all rows before it.
    pub fn rows(&self, list: &str) -> usize {
        let indexes = self.0.iter().filter_map(|(name, _)| row_of(name, list));
        indexes.filter(|row| *row < MAX_ROWS).max().map_or(0, |last| last + 1)
    }

    /// Adds an empty row to a list. A form shows one row of a list without values.
    pub fn add_row(&mut self, list: &str) {
        let row = self.rows(list).clamp(1, MAX_ROWS - 1);
        self.0.push((format!("{list}[{row}]._row"), String::new()));
    }

    /// Removes a row, such as `times[1]`.
    pub fn remove_row(&mut self, row: &str) {
        let prefix = format!("{row}.");
        self.0.retain(|(name, _)| !name.starts_with(&prefix));
        *self = std::mem::take(self).renumbered();
    }

    /// Drops rows that were left empty, and numbers the others without gaps, so that faults of the API
    /// name the rows that the form shows.
    fn normalized(mut self) -> Self {
        let mut filled: BTreeMap<String, bool> = BTreeMap::new();
        for (name, value) in &self.0 {
            if let Some(row) = row_name(name) {
                let has = !value.trim().is_empty() && value != "false";
                *filled.entry(row.to_owned()).or_default() |= has;
            }
        }
        self.0.retain(|(name, _)| row_name(name).is_none_or(|row| filled[row]));
        self.renumbered()
    }

    fn renumbered(mut self) -> Self {
        let mut numbers: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut next: BTreeMap<String, usize> = BTreeMap::new();
        for (name, _) in &mut self.0 {
            let Some((list, row, rest)) = split_row(name) else { continue };
            let number = *numbers.entry((list.to_owned(), row)).or_insert_with(|| {
                let next = next.entry(list.to_owned()).or_default();
                *next += 1;
                *next - 1
            });
            *name = format!("{list}[{number}]{rest}");
        }
        self.0.retain(|(name, _)| split_row(name).is_none_or(|(_, row, _)| row < MAX_ROWS));
        self
    }

    /// The values of a record, for the fields of a form.
    pub fn of_record(record: &Value, fields: &[Spec]) -> Self {
        let mut values = Self::default();
        for field in fields {
            values.add(&field.path, at(record, &field.path), &field.children);
        }
        values
    }

    fn add(&mut self, name: &str, value: &Value, children: &[Spec]) {
        match value {
            Value::Null => {}
            Value::String(text) => self.0.push((name.to_owned(), text.clone())),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    match item {
                        Value::Object(_) => {
                            for child in children {
                                let value = at(item, &child.path);
                                let name = format!("{name}[{index}].{}", child.path);
                                self.add(&name, value, &child.children);
                            }
                        }
                        item => self.add(&format!("{name}[]"), item, children),
                    }
                }
            }
            Value::Object(_) => {}
            other => self.0.push((name.to_owned(), other.to_string())),
        }
    }
}

/// `times[3].days` → `times`, 3, `.days`
fn split_row(name: &str) -> Option<(&str, usize, &str)> {
    let (list, rest) = name.split_once('[')?;
    let (row, rest) = rest.split_once(']')?;
    Some((list, row.parse().ok()?, rest))
}

/// `times[3].days` → `times[3]`
fn row_name(name: &str) -> Option<&str> {
    let (list, ..) = split_row(name)?;
    let end = name[list.len()..].find(']')?;
    Some(&name[..=list.len() + end])
}

fn row_of(name: &str, list: &str) -> Option<usize> {
    let (known, row, _) = split_row(name)?;
    (known == list).then_some(row)
}

/// A field of a form: its path, how it is edited, and what a row of a list has.
/// `description:long times[departure_time days]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub path: String,
    pub widget: String,
    pub children: Vec<Spec>,
}

impl Spec {
    pub fn parse(text: &str) -> Vec<Self> {
        let mut specs = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find([' ', '\n', '[']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let (path, widget) = word.split_once(':').unwrap_or((word, ""));
            let (children, after) = match after.strip_prefix('[') {
                Some(inner) => {
                    let (inner, after) = inner.split_once(']').unwrap_or((inner, ""));
                    (Self::parse(inner), after)
                }
                None => (Vec::new(), after),
            };
            specs.push(Self { path: path.into(), widget: widget.into(), children });
            rest = after.trim_start();
        }
        specs
    }

    /// Whether files are chosen in it.
    pub fn is_file(&self) -> bool {
        match self.widget.as_str() {
            "" => self.path.ends_with("file_id") || self.path.ends_with("file_ids"),
            widget => widget.starts_with("file"),
        }
    }

    /// Whether files are chosen in it or in its rows.
    pub fn has_files(&self) -> bool {
        self.is_file() || self.children.iter().any(Self::has_files)
    }
}

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
                false => Some(scalar(kind, text)),
            }
        }
    }
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

/// `Rp 150.000` → 150000
fn integer(text: &str) -> Option<i64> {
    let text = text.trim().trim_start_matches("Rp");
    let digits: String = text.chars().filter(|c| !matches!(c, '.' | ' ' | '\u{a0}')).collect();
    digits.parse().ok()
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

/// A multipart body for the upload of one file.
pub fn multipart(purpose: &str, upload: &Upload) -> (String, Bytes) {
    let boundary = format!("dermaga{:032x}", rand::random::<u128>());
    let filename: String =
        upload.filename.chars().filter(|c| !c.is_control() && *c != '"').collect();
    let mut body = Vec::with_capacity(upload.content.len() + 512);
    body.extend_from_slice(
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n{purpose}\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .as_bytes(),
    );
    body.extend_from_slice(&upload.content);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body.into())
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::web::schema;

    static INPUTS: LazyLock<std::collections::HashMap<String, Input>> = LazyLock::new(|| {
        let document = include_str!("../../docs/openapi.json");
        schema::inputs(&serde_json::from_str(document).unwrap())
    });

    fn values(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Values(pairs.collect()).normalized()
    }

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

    #[test]
    fn rows_are_added_and_removed() {
        let mut form = values(&[("lines[0].account", "bank"), ("lines[1].account", "cash")]);
        form.remove_row("lines[0]");
        assert_eq!(form.get("lines[0].account"), Some("cash"));
        form.add_row("lines");
        assert_eq!(form.rows("lines"), 2);
        let mut untouched = values(&[]);
        untouched.add_row("lines");
        assert_eq!(untouched.rows("lines"), 2);
    }

    #[test]
    fn a_row_beyond_the_limit_is_none() {
        let row = |number: &str| Values(vec![(format!("lines[{number}].account"), "x".into())]);
        for number in ["200", "4000000000", "18446744073709551615", "99999999999999999999"] {
            assert_eq!(row(number).rows("lines"), 0, "{number}");
        }
        assert_eq!(row("199").rows("lines"), 200);
    }

    #[test]
    fn files_are_taken_by_the_fields_of_the_form() {
        let fields = Spec::parse("name photo_file_ids proof:file documents[type file_id]");
        for name in ["photo_file_ids[]", "photo_file_ids", "proof", "documents[3].file_id"] {
            assert!(takes_file(&fields, name), "{name}");
        }
        for name in
            ["name", "file_id", "documents[3].type", "documents[3]", "documents", "other_file_id"]
        {
            assert!(!takes_file(&fields, name), "{name}");
        }
        assert!(!takes_file(&[], "photo_file_ids[]"));
    }

    #[test]
    fn a_spec_names_paths_widgets_and_rows() {
        let spec = Spec::parse("name description:long times[departure_time days] discount.type");
        let paths: Vec<_> = spec.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["name", "description", "times", "discount.type"]);
        assert_eq!(spec[1].widget, "long");
        assert_eq!(spec[2].children.len(), 2);
    }

    #[test]
    fn passwords_are_not_shown_again() {
        let form = values(&[("email", "a@b.c"), ("password", "x"), ("current_password", "y")]);
        assert_eq!(form.without_secrets().0, [("email".into(), "a@b.c".into())]);
    }
}
