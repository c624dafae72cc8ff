//! The task list of a partner who is not approved yet.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::web::{client::Call, forms::Values, view::data, visit::Visit};

pub fn onboarding(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let answer = visit.ask(Call::of("get_onboarding")).await;
        if !answer.is_success() {
            return visit.problem(&answer);
        }
        let title = visit.page().title.say(visit.lang()).to_owned();
        visit.render(200, "onboarding.html", &title, context! { record => data(&answer.data) })
    }
    .boxed()
}
