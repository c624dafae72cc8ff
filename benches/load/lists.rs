//! Every list, dashboard and report with every documented filter, search, order and page, alone and in
//! pairs, at about a million bookings. The requests are made from the OpenAPI document and from a row
//! of each list.

use std::{collections::BTreeSet, net::SocketAddr, time::Instant};

use dermaga::demo::MAX_DAYS;
use serde_json::Value;

use super::{
    Engine, Extent, Options,
    data::sign_in,
    drive::{Connection, Seen, call, request},
    show::{Line, Table},
};

const DOCUMENT: &str = include_str!("../../docs/openapi.json");
/// About a million bookings.
const FLEETS: u16 = 54;
/// Calls of each question, after one that warms up.
const CALLS: usize = 12;
/// Questions that are slower are listed one by one.
const SLOW: f64 = 50.0;
/// Lists and reports; `{id}` is that of a partner, a route, an account or a webhook.
const REPORTS: [&str; 13] = [
    "/v1/dashboard",
    "/v1/dashboard/mitra-statistic",
    "/v1/users/statistics",
    "/v1/mitra/manajemen/statistics",
    "/v1/speedboats/summary",
    "/v1/finance/trial-balance",
    "/v1/finance/taxes",
    "/v1/finance/reconciliation",
    "/v1/finance/reports/overview",
    "/v1/finance/reports/revenue-breakdown/payment",
    "/v1/finance/reports/revenue-breakdown/type",
    "/v1/finance/reports/revenue-breakdown/partner",
    "/v1/finance/reports/revenue-breakdown/reseller",
];
/// They are of the caller itself, a partner's own, or have no rows in the demo.
const LEFT_OUT: [&str; 5] = [
    "/v1/mitra/crew",
    "/v1/mitra/speedboats",
    "/v1/mitra/speedboat-routes/{id}/times",
    "/v1/notification/user/{id}",
    "/v1/webhooks/{id}/deliveries",
];

/// Asks a service that runs already, with the data of the demo.
pub async fn run_at(address: SocketAddr, only: Option<&str>) {
    let token = sign_in(address).await;
    walk(address, &token, only, format!("The service at {address}")).await;
}

pub async fn run(options: &Options, engine: &Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let extent = Extent { days: MAX_DAYS, scale: options.scale.unwrap_or(FLEETS) };
    let data = engine.fill(folder.path(), extent).await;
    let service = data.serve().await;
    let token = sign_in(service.address).await;
    let title =
        format!("{}: {} bookings, {} sailings", engine.name(), data.bookings, data.sailings);
    walk(service.address, &token, options.only.as_deref(), title).await;
    data.close().await;
}

/// One line for each list, and one for each question that is slow.
async fn walk(service: SocketAddr, token: &str, only: Option<&str>, title: String) {
    let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
    let mut table = Table::latencies(format!("{title}, {CALLS} calls of each question"));
    let (mut questions, mut slow) = (0, Vec::new());
    for (path, operations) in document["paths"].as_object().expect("paths") {
        let parameters = parameters(&document, &operations["get"]);
        let is_list = parameters.iter().any(|parameter| parameter.name == "page")
            && !LEFT_OUT.contains(&path.as_str());
        let is_chosen = only.is_none_or(|only| only == path);
        if !is_chosen || !is_list && !REPORTS.contains(&path.as_str()) {
            continue;
        }
        let path = with_id(service, token, path).await;
        let mut asked = BTreeSet::new();
        for required in required(&parameters) {
            let (_, first) = ask(service, token, &format!("{path}?{required}")).await;
            let queries = questions_of(&parameters, &first["data"]);
            asked.extend(queries.iter().map(|query| format!("{required}{query}")));
        }
        let mut all = Seen::default();
        for query in &asked {
            let seen = measure(service, token, &format!("{path}?{query}")).await;
            if seen.at(0.99) > SLOW || !seen.others.is_empty() {
                slow.push(Line::latencies(&format!("  {path}?{query}"), &seen));
            }
            all.add(seen);
        }
        questions += asked.len();
        all.micros.sort_unstable();
        table.line(Line::latencies(&format!("{path} ({} questions)", asked.len()), &all));
    }
    table.print();
    let mut table = Table::latencies(format!("{} of {questions} are slow or fail", slow.len()));
    slow.into_iter().for_each(|line| table.line(line));
    table.print();
}

/// The path with the id of a reseller or a partner.
async fn with_id(service: SocketAddr, token: &str, path: &str) -> String {
    if !path.contains("{id}") {
        return path.to_owned();
    }
    let owners = match path.starts_with("/v1/resellers/") {
        true => "/v1/resellers?page_size=1",
        false => "/v1/mitra/manajemen?page_size=1",
    };
    let (_, owners) = ask(service, token, owners).await;
    path.replace("{id}", owners["data"][0]["id"].as_str().unwrap_or_default())
}

/// A parameter of the query.
struct Parameter {
    name: String,
    /// Those that can be known from the document.
    values: Vec<String>,
    is_required: bool,
}

fn parameters(document: &Value, operation: &Value) -> Vec<Parameter> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    all.filter(|parameter| parameter["in"] == "query")
        .map(|parameter| {
            let is_required = parameter["required"] == true;
            let mut values = values(document, &parameter["schema"]);
            if is_required && values.is_empty() {
                values.extend(parameter["example"].as_str().map(str::to_owned));
            }
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            Parameter { name, values, is_required }
        })
        .collect()
}

/// The values that a schema allows, if they are few.
fn values(document: &Value, schema: &Value) -> Vec<String> {
    if let Some(any) = schema["anyOf"].as_array() {
        return values(document, &any[0]);
    }
    if let Some(path) = schema["$ref"].as_str() {
        let found = document.pointer(path.trim_start_matches('#')).expect("a schema");
        return values(document, found);
    }
    let is = |kind: &str| schema["type"] == kind || schema["type"][0] == kind;
    match schema["enum"].as_array() {
        Some(values) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None if is("boolean") => vec!["true".into(), "false".into()],
        None => Vec::new(),
    }
}

/// Every combination of the required parameters. A custom period would need its dates.
fn required(parameters: &[Parameter]) -> Vec<String> {
    let required = parameters.iter().filter(|parameter| parameter.is_required);
    required.fold(vec![String::new()], |queries, Parameter { name, values, .. }| {
        let values = values.iter().filter(|value| *value != "Custom");
        let pairs: Vec<_> = values.map(|value| format!("{name}={value}&")).collect();
        queries
            .iter()
            .flat_map(|query| pairs.iter().map(move |pair| format!("{query}{pair}")))
            .collect()
    })
}

/// The queries for a list: each filter, each order, pages, searches, and pairs of these.
fn questions_of(parameters: &[Parameter], rows: &Value) -> BTreeSet<String> {
    let row = &rows[0];
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    let today = chrono::Utc::now().date_naive();
    let ago = |days: u64| today - chrono::Days::new(days);
    let mut filters = Vec::new();
    let mut orders = vec![String::new()];
    for Parameter { name, values, .. } in parameters.iter().filter(|one| !one.is_required) {
        match name.as_str() {
            "format" | "page" | "page_size" | "sort_dir" => {}
            "sort_by" => orders.extend(
                values
                    .iter()
                    .flat_map(|by| ["asc", "desc"].map(|to| format!("sort_by={by}&sort_dir={to}"))),
            ),
            "search" => filters.extend(
                ["sari", "zzqxw", "wijaya@", "DMG-", "081", "a"].map(|w| format!("search={w}")),
            ),
            "start_date" if has("end_date") => {
                for (start, end) in [(30, 0), (7, 7), (300, 270)] {
                    filters.push(format!("start_date={}&end_date={}", ago(start), ago(end)));
                }
                // Reports need both.
                if has("page") {
                    filters.push(format!("start_date={}", ago(200)));
                    filters.push(format!("end_date={}", ago(200)));
                }
            }
            "end_date" => {}
            "month" => filters.push(format!("month={}", ago(40).format("%Y-%m"))),
            "note" => filters.push("note=Window%20seat%2C%20please".into()),
            "qty" => filters.extend(["1", "2", "6", "40"].map(|qty| format!("qty={qty}"))),
            _ if !values.is_empty() => {
                filters.extend(values.iter().map(|value| format!("{name}={value}")));
            }
            _ => filters.extend(sample(name, row).map(|value| format!("{name}={value}"))),
        }
    }
    let mut asked: BTreeSet<String> = orders.iter().cloned().collect();
    for page in [2, 50, 500, 5_000, 45_000] {
        asked.extend(orders.iter().map(|order| format!("{order}&page={page}")));
    }
    for (n, filter) in filters.iter().enumerate() {
        asked.extend(orders.iter().map(|order| format!("{filter}&{order}")));
        asked.insert(format!("{filter}&page=30"));
        let others =
            filters[n + 1..].iter().filter(|other| names(other).is_disjoint(&names(filter)));
        asked.extend(others.map(|other| format!("{filter}&{other}")));
    }
    if !has("page") {
        asked.retain(|query| !query.contains("page="));
    }
    asked
}

/// The names of the parameters of a query.
fn names(query: &str) -> BTreeSet<&str> {
    query.split('&').filter_map(|pair| pair.split('=').next()).collect()
}

/// A value of a filter, from a row of the list.
fn sample(name: &str, row: &Value) -> Option<String> {
    let field = match name {
        "mitra_id" => [&row["mitra"]["id"], &row["mitra_id"], &row["sailing"]["mitra"]["id"]],
        "speedboat_id" => [&row["speedboat"]["id"], &row["speedboat_id"], &row[name]],
        "email" => [&row["contact"]["email"], &row["email"], &row[name]],
        name => [&row[name]; 3],
    };
    field.into_iter().find_map(Value::as_str).map(str::to_owned)
}

async fn ask(service: SocketAddr, token: &str, path: &str) -> (u16, Value) {
    let request = request("GET", path, Some(token), "");
    let (status, body) = call(&mut None, service, &request).await.expect("an answer");
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

async fn measure(service: SocketAddr, token: &str, path: &str) -> Seen {
    let request = request("GET", path, Some(token), "");
    let (mut seen, mut connection) = (Seen::default(), Connection::default());
    for n in 0..=CALLS {
        let asked = Instant::now();
        let status = match call(&mut connection, service, &request).await {
            Ok((status, _)) => status,
            Err(_) => {
                connection = None;
                0
            }
        };
        if n > 0 {
            seen.count(status, asked.elapsed());
            seen.took += asked.elapsed();
        }
    }
    seen.micros.sort_unstable();
    seen
}
