//! Forms: a new record, a change of one, or an act. Nothing that was typed is lost: a form that is
//! refused is shown again with its values.

use std::collections::HashMap;

use axum::response::Response;
use futures_util::future::join_all;
use minijinja::context;
use serde_json::{Value, json};

use super::{
    back, cells, fill,
    show::{further, heading},
};
use crate::{
    kernel::{
        ids,
        lang::{Lang, text},
    },
    web::{
        client::{Call, Envelope, Fault, Payload, Shown},
        fields::{self, Choice, FieldView, Form},
        format::at,
        forms::{self, Spec, Upload, Values},
        page::{Choices, Page},
        rescheduling::day_of,
        schema::Input,
        view::data,
        visit::{Visit, placeholders, with_query},
    },
};

/// The most files of one form. Each is stored before the form is validated.
const MAX_FILES: usize = 20;

pub async fn form(visit: Visit) -> Response {
    form_with(visit, Values::default(), Shown::plain()).await
}

/// A form with these values, or with those of its record if there are none.
pub async fn form_with(visit: Visit, values: Values, shown: Shown) -> Response {
    let page = visit.page();
    let input = visit.web.client().input(page.operation);
    let refusal = shown.refusal.as_ref();
    let (record, further, clash, sailings) = tokio::join!(
        subject(&visit),
        further(&visit),
        clash(&visit, refusal),
        sailings_of_boat(&visit, refusal)
    );
    let record = match record {
        Ok(record) => record,
        Err(envelope) => return visit.interrupted(values, &envelope),
    };
    let specs = Spec::parse(page.fields);
    let mut values = match values.0.is_empty() {
        true => first_values(&visit, page, &specs, &record),
        false => values,
    };
    let choices = choices(&visit, page, &mut values).await;
    let lang = visit.lang();
    let form =
        Form { input: &input, values: &values, faults: &shown.faults, choices: &choices, lang };
    let mut fields = form.fields(&specs);
    mark_needed(&mut fields, &record, lang);
    let problems = form.problems(&fields);
    let title = page.title.say(lang).to_owned();
    let name = (!record.is_null()).then(|| heading(&record, page, lang));
    let title = match name.filter(|name| *name != title) {
        Some(name) => format!("{title}: {name}"),
        None => title,
    };
    let has_files = fields.iter().any(|field| field.has_files());
    let contents = context! {
        kind => "form",
        record => data(&record),
        further => data(&further),
        facts => data(match record.is_null() {
            true => Vec::new(),
            false => cells(&record, page.columns, visit.locale()),
        }),
        fields => data(&fields),
        values => data(values.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<HashMap<_, _>>()),
        chosen => data(&values.0),
        problems => data(&problems),
        refusal => shown.message(),
        refused => data(refusal.map(|refusal| &refusal.data)),
        refused_as => refusal.map(|refusal| refusal.error.as_str()),
        clash => data(&clash),
        sailings,
        retry_after => shown.retry_after(),
        key => values.get("_key").map_or_else(|| ids::fresh().to_string(), str::to_owned),
        has_files,
        locked => page.locked && visit.session.acting.is_some(),
        danger => page.danger,
        says => page.says.as_ref().map(|says| says.say(lang)),
        button => page.button.as_ref().map_or_else(
            || match page.prefilled || page.path.ends_with("/new") {
                true => lang.of("Save", "Simpan"),
                false => page.title.say(lang),
            },
            |button| button.say(lang),
        ),
        choices => data(&choices),
        back => data(back(&visit)),
    };
    let template = page.template;
    visit.render(shown.status, template, &title, contents)
}

/// Marks what the steps of the record need to be handed in: fields of the form, or what the rows of a
/// list are for.
fn mark_needed(fields: &mut [FieldView], record: &Value, lang: Lang) {
    for step in record["steps"].as_array().into_iter().flatten() {
        let key = step["key"].as_str().unwrap_or_default();
        let required = step["required"].as_array().map_or(&[][..], Vec::as_slice);
        let is_required = |name: &str| required.iter().any(|one| one == name);
        for field in fields.iter_mut() {
            match field.name.split_once('.') {
                Some((step, name)) if step == key => field.needed = is_required(name),
                None if field.name == key => {
                    let children = field.rows.iter_mut().flat_map(|row| &mut row.fields);
                    for child in children {
                        // An empty row is left out; of one that is filled in, all is.
                        child.conditional = true;
                        for option in &mut child.options {
                            if is_required(&option.value) {
                                option.label.push_str(lang.of(" (needed)", " (wajib)"));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The sailing that a schedule overlaps with.
async fn clash(visit: &Visit, refusal: Option<&Envelope>) -> Option<Value> {
    let refusal = refusal.filter(|refusal| refusal.error == "schedule_conflict")?;
    let id = refusal.data["conflicts_with"]["id"].as_str()?;
    let found = visit.ask(Call::of("get_route_time").params(&[id.to_owned()])).await;
    found.is_success().then_some(found.data)
}

/// The page of the first day on which a boat sails with passengers, if that is why it cannot be changed.
async fn sailings_of_boat(visit: &Visit, refusal: Option<&Envelope>) -> Option<String> {
    refusal.filter(|refusal| refusal.error == "in_use")?;
    let boat = visit.param("id").filter(|_| visit.page().subject == "get_speedboat")?;
    let call = Call::of("list_route_times").query("speedboat_id", boat).query("status", "open");
    let found = visit.ask(call.query("page_size", "100")).await;
    let sailings = found.data.as_array()?;
    let is_booked = |sailing: &&Value| sailing["seats_taken"].as_i64() > Some(0);
    let day = day_of(sailings.iter().find(is_booked).or_else(|| sailings.first())?)?;
    let query = [("speedboat_id", boat.to_owned()), ("date", day.to_string())];
    Some(with_query("/console/sailings", &query.map(|(name, value)| (name.to_owned(), value))))
}

/// The values that an untouched form has: those of its record, or of the address that led to it.
fn first_values(visit: &Visit, page: &Page, specs: &[Spec], record: &Value) -> Values {
    let mut values = match page.prefilled {
        true if page.part.is_empty() => Values::of_record(record, specs),
        true => Values::of_record(at(record, page.part), specs),
        false => Values::default(),
    };
    if let Some((field, path)) = page.amount
        && let Some(amount) = at(record, path).as_i64()
    {
        values.set(field, amount.to_string());
    }
    // A record has its photos as objects.
    if page.fields.contains("photo_file_ids") {
        let photos = record["photos"].as_array().into_iter().flatten();
        let ids = photos.filter_map(|photo| photo["file_id"].as_str());
        values.0.extend(ids.map(|id| ("photo_file_ids[]".to_owned(), id.to_owned())));
    }
    if !page.prefilled && visit.guest.is_none() && !decides(page, specs) {
        // On a page for everyone the address cannot use the rights of a person.
        let is_open = |spec: &Spec| page.public || spec.widget != "hidden";
        let known = |name: &str| specs.iter().any(|spec| spec.path == name && is_open(spec));
        values.0.extend(visit.query.iter().filter(|(name, _)| known(name)).cloned());
    }
    values
}

/// Whether the form is a decision. Nobody else makes it by a link: the person fills it in.
fn decides(page: &Page, specs: &[Spec]) -> bool {
    let is_new = page.path.ends_with("/new");
    let is_choice = |spec: &Spec| {
        let is_account = spec.path.starts_with("account_") || spec.path.starts_with("bank_");
        is_account || matches!(spec.path.as_str(), "status" | "action" | "decision")
    };
    page.danger || (!is_new && specs.iter().any(is_choice))
}

/// The record that the form is about.
async fn subject(visit: &Visit) -> Result<Value, Envelope> {
    match visit.page().subject {
        "" => Ok(Value::Null),
        // Some records are only part of a list. A list that can be long has a filter for the id, which
        // is a parameter of the page.
        list if list.starts_with("list_") => {
            let id = visit.params.last().cloned().unwrap_or_default();
            let call = visit.call(list).query("page_size", "100");
            let found = visit.ask(call).await;
            // What is no id belongs to no record.
            if found.status == 422 {
                return Err(Envelope { status: 404, ..Envelope::default() });
            }
            if !found.is_success() {
                return Err(found);
            }
            let rows = found.data.as_array().into_iter().flatten();
            let row = rows
                .into_iter()
                .find(|row| row["id"] == id.as_str() || row["month"] == id.as_str());
            row.cloned().ok_or(Envelope { status: 404, ..Envelope::default() })
        }
        operation => {
            let found = visit.ask(visit.call(operation)).await;
            if found.is_success() { Ok(found.data) } else { Err(found) }
        }
    }
}

/// How many records a field lists. Where there are more, they are searched.
const LISTED: i64 = 100;

/// The records that the fields of the form choose from.
async fn choices(
    visit: &Visit,
    page: &Page,
    values: &mut Values,
) -> HashMap<&'static str, Vec<Choice>> {
    let fits = |choices: &&Choices| {
        choices.when.is_none_or(|(field, value)| values.get(field) == Some(value))
    };
    // Of several operations for one field, the first that the caller may use.
    let mut asked: Vec<&Choices> = Vec::new();
    for choices in page.choices.iter().filter(fits).filter(|choices| visit.may(choices.operation)) {
        if !asked.iter().any(|known| known.field == choices.field) {
            asked.push(choices);
        }
    }
    let known = &*values;
    let found = join_all(asked.into_iter().map(|choices| listed(visit, choices, known))).await;
    let mut all = HashMap::new();
    for (field, records, search) in found {
        // The search box is shown with what it was asked for.
        if let Some(search) = search {
            values.set(&format!("_search.{field}"), search);
        }
        all.insert(field, records);
    }
    all
}

/// The first records, or those that are searched for, and the ones that are chosen already.
async fn listed(
    visit: &Visit,
    choices: &Choices,
    values: &Values,
) -> (&'static str, Vec<Choice>, Option<String>) {
    let input = visit.web.client().input(choices.operation);
    let search = values.get(&format!("_search.{}", choices.field)).unwrap_or_default().trim();
    let mut call = Call::of(choices.operation).params(&visit.params_of(choices.operation));
    if input.parameter("page_size").is_some() {
        call = call.query("page_size", LISTED.to_string());
    }
    for (name, value) in choices.query {
        call = call.query(name, *value);
    }
    let is_searched = !search.is_empty() && input.parameter("search").is_some();
    if is_searched {
        call = call.query("search", search);
    }
    let found = visit.ask(call).await;
    let mut records = fields::choices(&found.data, choices.label, visit.locale());
    if !choices.one.is_empty() {
        let several = format!("{}[]", choices.field);
        let is_missing =
            |id: &&str| !id.is_empty() && !records.iter().any(|record| record.value == **id);
        let missing: Vec<_> = values.all(&several).filter(is_missing).take(50).collect();
        let read = missing.into_iter().map(|id| async move {
            let record = visit.ask(Call::of(choices.one).params(&[id.to_owned()])).await;
            fields::choices(&json!([record.data]), choices.label, visit.locale()).pop()
        });
        records.extend(join_all(read).await.into_iter().flatten());
    }
    let is_long = found.pagination["total_items"].as_i64().is_some_and(|total| total > LISTED);
    (choices.field, records, (is_searched || is_long).then(|| search.to_owned()))
}

/// Files are stored first, so that they are kept whatever button was pressed.
pub async fn submit(mut visit: Visit, mut values: Values, uploads: Vec<Upload>) -> Response {
    if let Some(first) = uploads.first().filter(|_| uploads.len() > MAX_FILES) {
        let message = text("At most 20 files at once.", "Paling banyak 20 berkas sekaligus.");
        let message = message.say(visit.lang()).to_owned();
        let field = first.field.trim_end_matches("[]").to_owned();
        let faults = vec![Fault { field, rule: "max_items".into(), message }];
        let answer = Envelope { status: 422, faults, ..Envelope::default() };
        return refused(visit, values, answer).await;
    }
    for upload in &uploads {
        match store(&visit, upload).await {
            Ok(id) => keep(&mut values, &upload.field, id),
            Err(refusal) => {
                let faults = upload_faults(&refusal, &upload.field);
                return refused(visit, values, Envelope { faults, ..refusal }).await;
            }
        }
    }
    if let Some(lang) = values.take("_lang").and_then(|lang| lang.parse().ok()) {
        visit.jar.language(lang);
        visit.context.lang = lang;
        return form_with(visit, values, Shown::plain()).await;
    }
    if values.take("_show").is_some() {
        return form_with(visit, values, Shown::plain()).await;
    }
    if let Some(list) = values.take("_add") {
        let specs = Spec::parse(visit.page().fields);
        if specs.iter().any(|spec| spec.path == list && !spec.children.is_empty()) {
            values.add_row(&list);
        }
        return form_with(visit, values, Shown::plain()).await;
    }
    if values.take("_find").is_some() {
        return form_with(visit, values, Shown::plain()).await;
    }
    if let Some(row) = values.take("_remove") {
        values.remove_row(&row);
        return form_with(visit, values, Shown::plain()).await;
    }
    let page = visit.page();
    let input = visit.web.client().input(page.operation);
    let answer = visit.ask(call(&visit, page, &input, &values)).await;
    match answer.is_success() {
        true => succeeded(visit, answer),
        false => refused(visit, values, answer).await,
    }
}

fn call(visit: &Visit, page: &Page, input: &Input, values: &Values) -> Call {
    let mut call = Call::of(page.operation).params(&visit.params_of(page.operation));
    if input.body.is_some() {
        let mut values = values.clone();
        for (name, value) in page.fixed {
            values.set(name, if *value == "{me}" { visit.my_id() } else { *value });
        }
        let mut body = forms::body(input, &values, page.prefilled);
        if !page.stated.is_empty() && body.get(page.stated).is_none() {
            body[page.stated] = Value::Null;
        }
        // A parameter of the page's path that the operation takes in its body.
        for (name, value) in placeholders(page.path).zip(&visit.params) {
            let is_field = input.field(name).is_some();
            if is_field && !call.params.contains(value) && body[name].is_null() {
                body[name] = json!(value);
            }
        }
        call = visit.change(page.operation, body);
    }
    if input.takes_key {
        call.key = values.get("_key").map(str::to_owned);
    }
    call
}

fn succeeded(mut visit: Visit, answer: Envelope) -> Response {
    (visit.web.sign_in().after)(&mut visit, &answer);
    let page = visit.page();
    if page.shows_answer {
        let title = page.title.say(visit.lang()).to_owned();
        let template = page.then;
        let contents = context! {
            kind => "answer",
            answer => data(&answer.data),
            message => answer.message.as_str(),
            back => data(back(&visit)),
        };
        return visit.render(200, template, &title, contents);
    }
    let to = match page.then {
        "" => default_target(&visit, &answer.data),
        then => fill(then, &visit, &answer.data),
    };
    let to = to.unwrap_or_else(|| "/console".into());
    visit.redirect_saying(&to, &answer.message)
}

/// A new record leads to its page, anything else to the page above.
fn default_target(visit: &Visit, record: &Value) -> Option<String> {
    let (above, _) = visit.page().path.rsplit_once('/')?;
    let detail = format!("{above}/{{id}}");
    let is_new = visit.page().path.ends_with("/new");
    match visit.web.pages().iter().any(|page| page.path == detail) && is_new {
        true => fill(&detail, visit, record),
        false => {
            fill(above, visit, record).filter(|path| visit.web.find(path).is_some()).or_else(|| {
                let (above, _) = above.rsplit_once('/')?;
                fill(above, visit, record)
            })
        }
    }
}

async fn refused(visit: Visit, values: Values, answer: Envelope) -> Response {
    match answer.error.as_str() {
        _ if answer.needs_sign_in() => (visit.web.sign_in().hold)(visit, &values),
        "reauthentication_required" => (visit.web.sign_in().confirm)(visit, &values),
        "second_factor_enrolment_required" => visit.problem(&answer),
        _ => {
            let values = visit.page().without_secrets(values);
            form_with(visit, values, shown(answer)).await
        }
    }
}

/// A refusal that is about the days of the form names no field.
fn shown(refusal: Envelope) -> Shown {
    if refusal.error != "nothing_to_settle" {
        return Shown::refused(refusal);
    }
    let fault = |field: &str| Fault {
        field: field.to_owned(),
        rule: refusal.error.clone(),
        message: refusal.message.clone(),
    };
    let faults = ["start_date", "end_date"].map(fault).into();
    Shown { status: refusal.status, faults, refusal: None }
}

/// Uploads a file before the form that names it.
async fn store(visit: &Visit, upload: &Upload) -> Result<String, Envelope> {
    let purpose = match upload.field.as_str() {
        field if field.starts_with("avatar") => "avatar",
        field if field.starts_with("photo") => "photo",
        field if field.starts_with("image") => "content",
        field if field.starts_with("proof") => "proof",
        _ => "document",
    };
    let (content_type, body) = forms::multipart(purpose, upload);
    let call = Call { body: Payload::Form(content_type, body), ..Call::of("upload_file") };
    let answer = visit.ask(call).await;
    match answer.data["id"].as_str() {
        Some(id) if answer.is_success() => Ok(id.to_owned()),
        _ => Err(answer),
    }
}

fn keep(values: &mut Values, field: &str, id: String) {
    match field.ends_with("[]") {
        true => values.0.push((field.to_owned(), id)),
        false => values.set(field, id),
    }
}

/// A fault of the upload is one of the field that it was for.
fn upload_faults(refusal: &Envelope, field: &str) -> Vec<Fault> {
    let field = field.trim_end_matches("[]").to_owned();
    match refusal.status {
        413 | 415 | 422 => {
            let message = refusal.faults.first().map_or(&refusal.message, |fault| &fault.message);
            vec![Fault { field, rule: "file".into(), message: message.clone() }]
        }
        _ => Vec::new(),
    }
}
