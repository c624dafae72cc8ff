//! Every list, dashboard and report with every documented filter, search, order and page, alone and in
//! pairs, at about a million bookings. The requests are made from the OpenAPI document and from a row
//! of each list.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Instant,
};

use dermaga::demo::LONGEST;
use serde_json::Value;

use super::{
    Engine, Extent,
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
const LEFT_OUT: [&str; 4] = [
    "/v1/mitra/crew",
    "/v1/mitra/speedboat-routes/{id}/times",
    "/v1/notification/user/{id}",
    "/v1/webhooks/{id}/deliveries",
];

/// Asks a service that runs already, with the data of the demo.
pub async fn run_at(address: SocketAddr) {
    let token = sign_in(address).await;
    walk(address, &token, format!("The service at {address}")).await;
}

pub async fn run(engine: &Engine, scale: Option<u16>) {
    let folder = tempfile::tempdir().expect("a folder");
    let extent = Extent { days: LONGEST, scale: scale.unwrap_or(FLEETS) };
    let data = engine.fill(folder.path(), extent).await;
    let service = data.serve().await;
    let token = sign_in(service.address).await;
    let title =
        format!("{}: {} bookings, {} sailings", engine.name(), data.bookings, data.sailings);
    walk(service.address, &token, title).await;
    data.close().await;
}

/// One line for each list, and one for each question that is slow.
async fn walk(service: SocketAddr, token: &str, title: String) {
    let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
    let mut table = Table::latencies(format!("{title}, {CALLS} calls of each question"));
    let (mut questions, mut slow) = (0, Vec::new());
    for (path, operations) in document["paths"].as_object().expect("paths") {
        let parameters = parameters(&operations["get"]);
        let is_list = parameters.contains_key("page") && !LEFT_OUT.contains(&path.as_str());
        if !is_list && !REPORTS.contains(&path.as_str()) {
            continue;
        }
        let (_, first) = ask(service, token, &with_id(service, token, path).await).await;
        let asked = questions_of(&parameters, &first["data"]);
        let (mut worst, mut all) = (0.0_f64, Seen::default());
        let path = with_id(service, token, path).await;
        for query in &asked {
            let seen = measure(service, token, &format!("{path}?{query}")).await;
            worst = worst.max(seen.at(1.0));
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

/// The path with the id of a partner.
async fn with_id(service: SocketAddr, token: &str, path: &str) -> String {
    if !path.contains("{id}") {
        return path.to_owned();
    }
    let (_, partners) = ask(service, token, "/v1/mitra/manajemen?page_size=1").await;
    path.replace("{id}", partners["data"][0]["id"].as_str().unwrap_or_default())
}

/// The values of each parameter of the query that can be known from its schema.
fn parameters(operation: &Value) -> BTreeMap<String, Vec<String>> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let values = |schema: &Value| -> Vec<String> {
        let of = match schema["anyOf"].as_array() {
            Some(any) => any[0].clone(),
            None => schema.clone(),
        };
        let is = |kind: &str| of["type"] == kind || of["type"][0] == kind;
        match of["enum"].as_array() {
            Some(values) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None if is("boolean") => vec!["true".into(), "false".into()],
            None => Vec::new(),
        }
    };
    all.filter(|parameter| parameter["in"] == "query")
        .map(|parameter| {
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            (name, values(&parameter["schema"]))
        })
        .collect()
}

/// The queries for a list: each filter, each order, pages, searches, and pairs of these.
fn questions_of(parameters: &BTreeMap<String, Vec<String>>, rows: &Value) -> BTreeSet<String> {
    let row = &rows[0];
    let today = chrono::Utc::now().date_naive();
    let ago = |days: u64| today - chrono::Days::new(days);
    let mut filters = Vec::new();
    let mut orders = vec![String::new()];
    for (name, values) in parameters {
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
            "start_date" if parameters.contains_key("end_date") => {
                for (start, end) in [(30, 0), (7, 7), (300, 270)] {
                    filters.push(format!("start_date={}&end_date={}", ago(start), ago(end)));
                }
                // Reports need both.
                if parameters.contains_key("page") {
                    filters.push(format!("start_date={}", ago(200)));
                    filters.push(format!("end_date={}", ago(200)));
                }
            }
            "end_date" | "comparison_mode" => {}
            "month" => filters.push(format!("month={}", ago(40).format("%Y-%m"))),
            "period_type" => filters.extend(["Bulanan", "Tahunan"].map(|p| format!("{name}={p}"))),
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
        let name = |query: &str| query.split('=').next().unwrap_or_default().to_owned();
        for other in filters[n + 1..].iter().filter(|other| name(other) != name(filter)) {
            asked.insert(format!("{filter}&{other}"));
        }
    }
    if !parameters.contains_key("page") {
        asked.retain(|query| !query.contains("page="));
    }
    asked
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
