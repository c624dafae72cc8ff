//! Terms and conditions: what is in force beside its versions.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::web::{client::Call, forms::Values, view::data, visit::Visit};

/// Shown if no kind is chosen.
const FIRST: &str = "customer";

pub fn terms(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let kind = visit.parameter("type").unwrap_or(FIRST).to_owned();
        let history = Call::of("list_terms_history").query("type", kind.clone());
        let history = history.query("page_size", "50");
        let published = Call::of("get_terms").query("type", kind.clone());
        let (history, published) = tokio::join!(visit.ask(history), visit.ask(published));
        if !history.is_success() && history.status != 422 {
            return visit.problem(&history);
        }
        let title = visit.page().title.say(visit.lang()).to_owned();
        let status = history.status;
        let contents = context! {
            chosen => kind.as_str(),
            versions => data(&history.data),
            published => data(published.is_success().then_some(&published.data)),
            faults => data(history.faults.iter().map(|fault| fault.message.clone()).collect::<Vec<_>>()),
        };
        visit.render(status, "terms.html", &title, contents)
    }
    .boxed()
}
