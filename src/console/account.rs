//! The person's own account: profile, password, second factor, sessions.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::web::{client::Call, forms::Values, view::data, visit::Visit};

pub fn account(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let sessions = visit.ask(Call::of("list_sessions").query("page_size", "50")).await;
        if !sessions.is_success() {
            return visit.problem(&sessions);
        }
        let title = visit.page().title.say(visit.lang()).to_owned();
        visit.render(200, "account.html", &title, context! { sessions => data(&sessions.data) })
    }
    .boxed()
}
