//! The first page: what waits for this person, the next departures, then figures.

use axum::response::Response;
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::{
    kernel::access::Role,
    web::{client::Call, forms::Values, view::data, visit::Visit},
};

pub fn home(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let role = visit.role();
        if role == Some(Role::Crew) {
            return visit.redirect("/pier");
        }
        if role == Some(Role::Reseller) {
            let own = visit.ask(Call::of("list_resellers")).await;
            return match own.data[0]["id"].as_str() {
                Some(id) => visit.redirect(&format!("/console/resellers/{id}")),
                None => visit.problem(&own),
            };
        }
        let standing = visit.me.as_ref().and_then(|me| me.profile["mitra"]["status"].as_str());
        // Before its approval a partner has papers to fill in, and nothing else.
        if matches!(standing, Some("draft" | "in_review")) {
            return visit.redirect("/console/onboarding");
        }
        let in_revision = standing == Some("revision");
        let statistic = async {
            match role {
                Some(Role::Mitra) => Some(visit.ask(Call::of("mitra_statistic")).await.data),
                _ => None,
            }
        };
        let (dashboard, statistic) = tokio::join!(visit.ask(Call::of("get_dashboard")), statistic);
        if !dashboard.is_success() {
            return visit.problem(&dashboard);
        }
        let title = visit.page().title.say(visit.lang()).to_owned();
        let contents = context! {
            board => data(&dashboard.data),
            statistic => data(&statistic),
            in_revision,
        };
        visit.render(200, "home.html", &title, contents)
    }
    .boxed()
}
