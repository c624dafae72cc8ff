//! A record: what it is, and what can be done with it.

use axum::response::Response;
use futures_util::future::join_all;
use minijinja::context;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Cell, Link, actions, back, cells, pages_under};
use crate::{
    kernel::{
        access::{Access, Role},
        lang::Lang,
    },
    web::{
        client::{Call, Envelope},
        format::{Locale, at},
        page::Page,
        view::data,
        visit::Visit,
        words,
    },
};

pub async fn show(visit: Visit) -> Response {
    let operation = visit.page().operation;
    let main = visit.ask(visit.call(operation));
    let (main, further) = tokio::join!(main, further(&visit));
    match main.is_success() {
        true => render(visit, &main.data, &further),
        false => visit.problem(&main),
    }
}

/// The answers of the further operations that only read, by operation. What the person may not see is
/// left out.
pub async fn further(visit: &Visit) -> Map<String, Value> {
    let page = visit.page();
    let of_partner = if visit.role() == Some(Role::Mitra) { page.of_partner } else { &[] };
    let also = page.also.iter().chain(of_partner).copied().filter(|id| {
        let operation = visit.web.client().operation(id).filter(|operation| !operation.changes);
        operation.is_some_and(|operation| operation.access == Access::Public || visit.may(id))
    });
    let answers = join_all(also.map(|id| async move {
        let record = visit.params.first().cloned().unwrap_or_default();
        let call = visit.call(id);
        let answer = match id {
            "list_audit_logs" => {
                visit.ask(call.query("entity_id", record).query("page_size", "20")).await
            }
            "list_bookings" => live_bookings(visit, &record).await,
            "get_terms" => visit.ask(call.query("type", "mitra")).await,
            _ => visit.ask(call).await,
        };
        (id, answer)
    }));
    let answers = answers.await.into_iter().filter(|(_, envelope)| envelope.is_success());
    answers.map(|(id, envelope)| (id.to_owned(), envelope.data)).collect()
}

/// What the cancellation of a sailing concerns: its bookings that are paid or wait for their payment.
async fn live_bookings(visit: &Visit, sailing: &str) -> Envelope {
    const PAGE_SIZE: usize = 100;
    let (mut bookings, mut passengers, mut paid, mut amount) = (0, 0, 0, 0);
    for status in ["paid", "pending_payment"] {
        for page in 1.. {
            let call = Call::of("list_bookings")
                .query("route_time_id", sailing)
                .query("status", status)
                .query("page", page.to_string())
                .query("page_size", PAGE_SIZE.to_string());
            let answer = visit.ask(call).await;
            let Some(rows) = answer.data.as_array().filter(|_| answer.is_success()) else {
                return answer;
            };
            bookings += rows.len();
            for row in rows {
                passengers += row["qty"].as_i64().unwrap_or_default();
                if status == "paid" {
                    paid += 1;
                    amount += row["price"]["total"].as_i64().unwrap_or_default();
                }
            }
            if rows.len() < PAGE_SIZE {
                break;
            }
        }
    }
    let data = json!({
        "bookings": bookings, "passengers": passengers, "paid": paid, "amount": amount,
    });
    Envelope { status: 200, data, ..Envelope::default() }
}

fn render(visit: Visit, record: &Value, further: &Map<String, Value>) -> Response {
    let page = visit.page();
    let locale = visit.locale();
    let title = heading(record, page, visit.lang());
    let contents = context! {
        kind => "show",
        record => data(record),
        further => data(further),
        cells => data(cells(record, page.columns, locale)),
        tables => data(page.tables.iter().map(|(path, columns)| table(record, path, columns, locale)).collect::<Vec<_>>()),
        actions => data(actions(&visit, &pages_under(&visit, page.path), record)),
        back => data(back(&visit)),
        kind_of => page.title.say(visit.lang()),
        state => record["status"].as_str(),
    };
    let template = page.template;
    visit.render(200, template, &title, contents)
}

/// The name of a record: the fields that the page names, else the page's title.
pub fn heading(record: &Value, page: &Page, lang: Lang) -> String {
    let parts = page.heading.split(' ').filter_map(|path| at(record, path).as_str());
    let name = parts.collect::<Vec<_>>().join(" · ");
    if name.is_empty() { page.title.say(lang).to_owned() } else { name }
}

#[derive(Serialize)]
struct Table {
    title: String,
    columns: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    links: Vec<Link>,
}

fn table(record: &Value, path: &str, columns: &str, locale: Locale) -> Table {
    let rows = at(record, path).as_array().map_or(&[][..], Vec::as_slice);
    let rows: Vec<_> = rows.iter().map(|row| cells(row, columns, locale)).collect();
    let heads = columns.split_whitespace().enumerate().map(|(index, column)| {
        let path = column.split(':').next().unwrap_or(column);
        let class = rows.first().and_then(|row| row.get(index)).map_or("", |cell| cell.class);
        Cell { label: words::label(path, locale.lang), html: String::new(), class }
    });
    Table {
        title: words::label(path, locale.lang),
        columns: heads.collect(),
        rows,
        links: Vec::new(),
    }
}
