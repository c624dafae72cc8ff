//! Published terms.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::web::{client::Call, forms::Values, view::data, visit::Visit};

pub fn site_terms(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let kind = visit.param("type").unwrap_or_default().to_owned();
        let answer = visit.ask(Call::of("get_terms").query("type", kind)).await;
        // A type that cannot exist is not found either.
        if answer.status == 422 || (answer.is_success() && answer.data.is_null()) {
            return visit.not_found();
        }
        if !answer.is_success() {
            return visit.problem(&answer);
        }
        let title = visit.lang().of("Terms and conditions", "Syarat dan ketentuan");
        visit.render(200, "site_terms.html", title, context! { terms => data(&answer.data) })
    }
    .boxed()
}
