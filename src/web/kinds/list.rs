//! Lists. The state of a list is its address: filters, order and page are parameters of the operation.

use axum::response::Response;
use minijinja::context;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Cell, Column, Link, TableRow, actions, back, cells, fill, pages_under, show::further};
use crate::web::{
    client::{Call, Envelope},
    fields::{Choice, FieldView},
    format::{Locale, at},
    page::Page,
    schema::{Field, Input, Kind},
    view::data,
    visit::{Visit, with_query},
    words,
};

const PAGE_SIZE: &str = "20";
/// Parameters that are no filters.
const PAGING: &[&str] = &["page", "page_size", "sort_by", "sort_dir", "format"];

pub async fn list(visit: Visit) -> Response {
    let operation = visit.page().operation;
    let input = visit.web.client().input(operation);
    let mut call = visit.call(operation);
    let filters = visit.query.iter();
    let filters =
        filters.filter(|(name, value)| !value.is_empty() && input.parameter(name).is_some());
    call.query.extend(filters.cloned());
    let first = visit.page().first.iter().filter(|(name, _)| visit.parameter(name).is_none());
    call.query.extend(first.map(|(name, value)| ((*name).to_owned(), initial(&visit, value))));
    if visit.parameter("format").is_some() {
        return super::send(visit, call).await;
    }
    for field in input.query.iter().filter(|field| field.required) {
        if let (None, Kind::Choice(words)) = (visit.parameter(&field.name), &field.kind) {
            call = call.query(&field.name, words[0].clone());
        }
    }
    if input.parameter("page_size").is_some() && visit.parameter("page_size").is_none() {
        call = call.query("page_size", PAGE_SIZE);
    }
    let (envelope, further, partner) =
        tokio::join!(visit.ask(call), further(&visit), partner_filter(&visit, &input));
    if let Some(PartnerFilter { found: Some(id), .. }) = &partner {
        let address = changed(&visit, &[("mitra_id", id), (PARTNER, ""), ("page", "")]);
        return visit.redirect(&address);
    }
    // A filter that the API refuses is shown as nothing found, with the filters to change.
    if !envelope.is_success() && envelope.status != 422 {
        return visit.problem(&envelope);
    }
    render(visit, &input, &envelope, &further, partner.as_ref())
}

/// The value of a parameter that the address leaves out.
fn initial(visit: &Visit, value: &str) -> String {
    match value {
        "{today}" => visit.today().to_string(),
        value => value.to_owned(),
    }
}

/// The parameter with the name of a partner, which becomes its id.
const PARTNER: &str = "_partner";

/// The filter by partner of a list, for those who see several.
#[derive(Default, Serialize)]
struct PartnerFilter {
    /// What was typed.
    text: String,
    /// The name of the partner in force.
    name: Option<String>,
    /// Partners that the text fits, with the address of the list for each.
    candidates: Vec<Link>,
    /// The only one that fits.
    #[serde(skip)]
    found: Option<String>,
}

async fn partner_filter(visit: &Visit, input: &Input) -> Option<PartnerFilter> {
    input.parameter("mitra_id").filter(|_| visit.may("list_partners"))?;
    let text = visit.parameter(PARTNER).unwrap_or_default().trim().to_owned();
    if text.is_empty() {
        let name = async {
            let id = visit.parameter("mitra_id").filter(|_| visit.may("edit_partner"))?;
            let partner = visit.ask(Call::of("edit_partner").params(&[id.to_owned()])).await;
            partner.data["name"].as_str().map(str::to_owned)
        };
        return Some(PartnerFilter { name: name.await, ..PartnerFilter::default() });
    }
    let call = Call::of("list_partners").query("search", text.clone()).query("page_size", "20");
    let answer = visit.ask(call).await;
    let partners = answer.data.as_array().into_iter().flatten();
    let partners: Vec<_> = partners
        .filter_map(|partner| Some((partner["id"].as_str()?, partner["name"].as_str()?)))
        .collect();
    let exact = partners.iter().filter(|(_, name)| name.eq_ignore_ascii_case(&text));
    let exact: Vec<_> = exact.collect();
    let only = match (partners.as_slice(), exact.as_slice()) {
        ([(id, _)], _) | (_, [(id, _)]) => Some((*id).to_owned()),
        _ => None,
    };
    let candidates = partners.iter().map(|(id, name)| Link {
        href: changed(visit, &[("mitra_id", id), (PARTNER, ""), ("page", "")]),
        label: (*name).to_owned(),
        danger: false,
    });
    Some(PartnerFilter { candidates: candidates.collect(), text, name: None, found: only })
}

fn render(
    visit: Visit,
    input: &Input,
    envelope: &Envelope,
    further: &Map<String, Value>,
    partner: Option<&PartnerFilter>,
) -> Response {
    let page = visit.page();
    let locale = visit.locale();
    let rows = at_rows(&envelope.data, page.rows);
    let detail = format!("{}/{{id}}", page.path);
    let has_detail =
        visit.web.pages().iter().any(|other| other.path == detail && visit.may(other.guard));
    let target = match page.row {
        "" if has_detail => Some(detail.as_str()),
        "" => None,
        row => Some(row),
    };
    let pages_of_rows = if has_detail { Vec::new() } else { pages_under(&visit, &detail) };
    let view = rows.iter().map(|record| TableRow {
        href: target.and_then(|path| fill(path, &visit, record)),
        cells: cells(record, page.columns, locale),
        actions: actions(&visit, &pages_of_rows, record),
    });
    let view: Vec<_> = view.collect();
    let mut filters: Vec<_> =
        input.query.iter().filter_map(|field| filter(&visit, page, field)).collect();
    // A period begins with its first day.
    filters.sort_by_key(|filter| match filter.name.as_str() {
        "start_date" => 0,
        "end_date" => 1,
        _ => 2,
    });
    // Of the whole list, in its columns.
    let total = Some(&envelope.data["total"]).filter(|total| total.is_object());
    let contents = context! {
        kind => "list",
        total => data(total.map(|total| cells(total, page.columns, locale))),
        columns => data(columns(&visit, page, input, &view)),
        has_actions => view.iter().any(|row| !row.actions.is_empty()),
        rows => data(&view),
        figures => data(figures(page, further, locale)),
        further => data(further),
        // Converting them is a large part of a page's time: only for templates that show records.
        records => match page.record {
            _ if ["list.html", "settlements.html"].contains(&page.template) => data(()),
            Some(shown) => {
                data(rows.iter().map(|record| shown(record, locale)).collect::<Vec<_>>())
            }
            None => data(rows),
        },
        beside => data(&envelope.beside),
        faults => data(envelope.faults.iter().map(|fault| fault.message.clone()).collect::<Vec<_>>()),
        tabs => data(tabs(&visit, page, input)),
        search => input.parameter("search").map(|_| visit.parameter("search").unwrap_or_default()),
        hidden => data(hidden(&visit, input, &filters)),
        chips => data(chips(&visit, input, partner)),
        partner => data(partner),
        filters => data(filters),
        clear => visit.path.as_str(),
        filtered => visit.query.iter().any(|(name, value)| !PAGING.contains(&name.as_str()) && !value.is_empty()),
        paging => data(paging(&visit, &envelope.pagination, view.len())),
        exports => data(exports(&visit, input)),
        news => data(actions(&visit, &pages_under(&visit, page.path), &Value::Null)),
        back => data(back(&visit)),
        says => page.says.as_ref().map(|says| says.say(visit.lang())),
        empty => page.empty.as_ref().map(|empty| empty.say(visit.lang())),
    };
    let (template, title) = (page.template, page.title.say(visit.lang()).to_owned());
    let status = if envelope.status == 422 { 422 } else { 200 };
    visit.render(status, template, &title, contents)
}

/// The counts that stand above a list: the numbers of its summaries.
fn figures(page: &Page, further: &Map<String, Value>, locale: Locale) -> Vec<Cell> {
    let fields = page.also.iter().filter_map(|id| further.get(*id)?.as_object());
    let names = fields.flat_map(|fields| {
        let numbers = fields.iter().filter(|(_, value)| value.is_number());
        numbers.map(|(name, _)| (name, Value::Object(fields.clone())))
    });
    names.flat_map(|(name, record)| cells(&record, name, locale)).collect()
}

fn at_rows<'v>(envelope: &'v Value, rows: &str) -> &'v [Value] {
    let list = if rows.is_empty() { envelope } else { at(envelope, rows) };
    list.as_array().map_or(&[], Vec::as_slice)
}

fn columns(visit: &Visit, page: &Page, input: &Input, rows: &[TableRow]) -> Vec<Column> {
    let sorts = match input.parameter("sort_by").map(|field| &field.kind) {
        Some(Kind::Choice(words)) => words.as_slice(),
        _ => &[],
    };
    let columns = page.columns.split_whitespace().enumerate().map(|(index, column)| {
        let path = column.split(':').next().unwrap_or(column);
        let name = path.rsplit('.').next().unwrap_or(path);
        // `mitra.name` is not the `name` that a list is sorted by.
        let is_own = name != "name" || path == name;
        let is_sorted = is_own && visit.parameter("sort_by") == Some(name);
        let descending = visit.parameter("sort_dir") == Some("desc");
        let order = if is_sorted && !descending { "desc" } else { "asc" };
        let is_sortable = is_own && sorts.iter().any(|sort| sort == name);
        let sort = is_sortable
            .then(|| changed(visit, &[("sort_by", name), ("sort_dir", order), ("page", "")]));
        Column {
            label: words::label(path, visit.lang()),
            sort,
            sorted: is_sorted.then_some(if descending { "descending" } else { "ascending" }),
            class: rows.first().and_then(|row| row.cells.get(index)).map_or("", |cell| cell.class),
        }
    });
    columns.collect()
}

/// The address with other parameters; an empty one is left out.
fn changed(visit: &Visit, changes: &[(&str, &str)]) -> String {
    let mut query = visit.query.clone();
    query.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    query.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    with_query(&visit.path, &query)
}

/// A filter of its own: words, dates and yes or no. Ids come from links, and are shown as chips.
fn filter(visit: &Visit, page: &Page, field: &Field) -> Option<FieldView> {
    let name = field.name.as_str();
    if PAGING.contains(&name) || name == "search" || name == page.tabs {
        return None;
    }
    let lang = visit.lang();
    let first = page.first.iter().find(|(known, _)| *known == name);
    let value = match (visit.parameter(name), first) {
        (Some(value), _) => value.to_owned(),
        (None, Some((_, first))) => initial(visit, first),
        (None, None) => String::new(),
    };
    let choice = |value: &str, label: &str| Choice { value: value.into(), label: label.into() };
    let (widget, options) = match &field.kind {
        Kind::Choice(all) => (
            "select",
            all.iter().map(|word| choice(word, words::value_of(name, word, lang))).collect(),
        ),
        Kind::Boolean => {
            let (yes, no) = (lang.of("Yes", "Ya"), lang.of("No", "Tidak"));
            ("select", vec![choice("true", yes), choice("false", no)])
        }
        Kind::Date => ("date", Vec::new()),
        Kind::Text if name == "month" => ("month", Vec::new()),
        Kind::Text if name == "type" => ("text", Vec::new()),
        _ => return None,
    };
    Some(FieldView {
        name: name.into(),
        id: format!("q-{name}"),
        label: words::label(name, lang),
        widget: widget.into(),
        value,
        options,
        required: field.required,
        ..FieldView::default()
    })
}

/// Parameters that the form of the filters keeps without showing them.
fn hidden(visit: &Visit, input: &Input, filters: &[FieldView]) -> Vec<(String, String)> {
    let kept = visit.query.iter().filter(|(name, value)| {
        !value.is_empty()
            && input.parameter(name).is_some()
            && !["page", "search", "format"].contains(&name.as_str())
            && !filters.iter().any(|filter| filter.name == *name)
    });
    kept.cloned().collect()
}

/// The filters in force, each with the address without it.
fn chips(visit: &Visit, input: &Input, partner: Option<&PartnerFilter>) -> Vec<Link> {
    let lang = visit.lang();
    let chips = visit.query.iter().filter_map(|(name, value)| {
        let field = input.parameter(name)?;
        if PAGING.contains(&name.as_str()) || value.is_empty() || name == visit.page().tabs {
            return None;
        }
        let label = words::label(name, lang);
        let label = match &field.kind {
            Kind::Id if name == "mitra_id" => {
                let partner = partner.and_then(|partner| partner.name.as_deref());
                partner.map_or(label.clone(), |partner| format!("{label}: {partner}"))
            }
            Kind::Id => label,
            Kind::Boolean => {
                let word =
                    if value == "true" { lang.of("yes", "ya") } else { lang.of("no", "tidak") };
                format!("{label}: {word}")
            }
            Kind::Date => match value.parse() {
                Ok(day) => format!("{label}: {}", visit.locale().day(day)),
                Err(_) => format!("{label}: {value}"),
            },
            _ => format!("{label}: {}", words::value_of(name, value, lang)),
        };
        let href = changed(visit, &[(name, ""), ("page", "")]);
        Some(Link { href, label, danger: false })
    });
    chips.collect()
}

#[derive(Serialize)]
struct Tab {
    href: String,
    label: String,
    current: bool,
}

fn tabs(visit: &Visit, page: &Page, input: &Input) -> Vec<Tab> {
    let Some(Field { kind, required, .. }) = input.parameter(page.tabs) else {
        return Vec::new();
    };
    let words: Vec<_> = match kind {
        Kind::Choice(words) => words.iter().map(String::as_str).collect(),
        Kind::Boolean => vec!["true", "false"],
        _ => return Vec::new(),
    };
    let first = page.first.iter().find(|(name, _)| *name == page.tabs).map(|(_, value)| *value);
    let chosen = visit.parameter(page.tabs).or(first).unwrap_or_default();
    let lang = visit.lang();
    let all = (!required && first.is_none()).then(|| ("", lang.of("All", "Semua")));
    let words = words.into_iter().map(|word| (word, words::value_of(page.tabs, word, lang)));
    let tab = |(word, label): (&str, &str)| Tab {
        href: changed(
            visit,
            &[(page.tabs, if Some(word) == first { "" } else { word }), ("page", "")],
        ),
        label: label.to_owned(),
        current: chosen == word,
    };
    all.into_iter().chain(words).map(tab).collect()
}

#[derive(Serialize)]
struct Paging {
    page: i64,
    total_pages: i64,
    total_items: i64,
    is_minimum: bool,
    previous: Option<String>,
    next: Option<String>,
    sizes: Vec<Tab>,
}

fn paging(visit: &Visit, pagination: &Value, rows: usize) -> Option<Paging> {
    let figure = |name: &str| pagination[name].as_i64();
    let (page, total_pages) = (figure("page")?, figure("total_pages")?);
    let to = |page: i64| changed(visit, &[("page", &page.to_string())]);
    let sizes = ["20", "50", "100"].map(|size| Tab {
        href: changed(visit, &[("page_size", size), ("page", "")]),
        label: size.into(),
        current: figure("page_size").is_some_and(|known| known.to_string() == size),
    });
    // There may be more rows than were counted.
    let is_minimum = pagination["total_is_minimum"] == true;
    let is_full = figure("page_size").is_some_and(|size| rows as i64 == size);
    Some(Paging {
        page,
        total_pages,
        total_items: figure("total_items")?,
        is_minimum,
        previous: (page > 1).then(|| to(page - 1)),
        next: (page < total_pages || is_minimum && is_full).then(|| to(page + 1)),
        sizes: sizes.into(),
    })
}

/// Downloads of the same list.
pub fn exports(visit: &Visit, input: &Input) -> Vec<Link> {
    let Some(Field { kind: Kind::Choice(formats), .. }) = input.parameter("format") else {
        return Vec::new();
    };
    let formats = formats.iter().filter(|format| *format != "json");
    let link = |format: &String| Link {
        href: changed(visit, &[("format", format), ("page", ""), ("page_size", "")]),
        label: format.to_uppercase(),
        danger: false,
    };
    formats.map(link).collect()
}
