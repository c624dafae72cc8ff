//! Financial reports: figures, a chart, and three breakdowns of the same period.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::web::{
    client::{Call, Envelope},
    forms::Values,
    kinds,
    view::data,
    visit::{Visit, with_query},
};

const PARAMETERS: &[&str] = &["period_type", "comparison_mode", "start_date", "end_date"];

pub fn reports(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let mut query: Vec<_> = visit
            .query
            .iter()
            .filter(|(name, value)| PARAMETERS.contains(&name.as_str()) && !value.is_empty())
            .cloned()
            .collect();
        let defaults = [("period_type", "Bulanan"), ("comparison_mode", "Month-over-month")];
        for (name, value) in defaults {
            if !query.iter().any(|(known, _)| known == name) {
                query.push((name.to_owned(), value.to_owned()));
            }
        }
        if let Some(report) = visit.parameter("report").and_then(operation) {
            return download(visit, report, query).await;
        }
        let ask = |operation: &'static str| {
            visit.ask(Call { query: query.clone(), ..Call::of(operation) })
        };
        let (overview, methods, types, partners, resellers) = tokio::join!(
            ask("finance_overview"),
            ask("revenue_by_payment_method"),
            ask("revenue_by_type"),
            ask("revenue_by_partner"),
            ask("revenue_by_reseller"),
        );
        if !overview.is_success() && overview.status != 422 {
            return visit.problem(&overview);
        }
        let faults: Vec<_> = overview.faults.iter().map(|fault| fault.message.clone()).collect();
        let status = overview.status;
        let chosen = |name: &str| {
            let found = query.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let breakdowns = [
            ("payment", &methods),
            ("type", &types),
            ("partner", &partners),
            ("reseller", &resellers),
        ];
        let breakdowns = breakdowns.map(|(name, envelope): (_, &Envelope)| (name, &envelope.data));
        let title = visit.page().title.say(visit.lang()).to_owned();
        let contents = context! {
            overview => data(&overview.data),
            breakdowns => data(breakdowns),
            faults => data(&faults),
            period_type => chosen("period_type"),
            comparison_mode => chosen("comparison_mode"),
            start_date => chosen("start_date"),
            end_date => chosen("end_date"),
            base => with_query(&visit.path, &query),
        };
        visit.render(status, "reports.html", &title, contents)
    }
    .boxed()
}

fn operation(report: &str) -> Option<&'static str> {
    match report {
        "overview" => Some("finance_overview"),
        "payment" => Some("revenue_by_payment_method"),
        "type" => Some("revenue_by_type"),
        "partner" => Some("revenue_by_partner"),
        "reseller" => Some("revenue_by_reseller"),
        _ => None,
    }
}

async fn download(
    visit: Visit,
    report: &'static str,
    mut query: Vec<(String, String)>,
) -> Response {
    let format = visit.parameter("format").unwrap_or("csv").to_owned();
    query.push(("format".to_owned(), format));
    kinds::send(visit, Call { query, ..Call::of(report) }).await
}
