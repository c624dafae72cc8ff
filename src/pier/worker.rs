//! What makes the pier an app: its manifest and icons, the worker that answers while there is no
//! network, and the page that it answers with.

use std::sync::LazyLock;

use axum::{
    http::{HeaderName, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use futures_util::{FutureExt, future::BoxFuture};
use minijinja::context;

use crate::{
    app::App,
    web::{
        answer,
        assets::{ICONS, PIER_SCRIPT, PIER_STYLE},
        forms::Values,
        visit::Visit,
    },
};

/// The pier without any data. The worker keeps it, and its script fills it with what the telephone has.
pub fn shell(mut visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        // It stays on the telephone when somebody else signs in.
        (visit.me, visit.session.acting) = (None, None);
        let title = visit.lang().of("Pier", "Dermaga");
        visit.render(200, "pier_shell.html", title, context! {})
    }
    .boxed()
}

/// The files of the app that have no hash in their names.
pub fn files() -> Vec<(&'static str, MethodRouter<App>)> {
    let icon = |bytes: &'static [u8]| {
        let fixed =
            [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "public, max-age=86400")];
        get(async move || (fixed, bytes))
    };
    let manifest = [
        (header::CONTENT_TYPE, "application/manifest+json"),
        (header::CACHE_CONTROL, "public, max-age=86400"),
    ];
    let manifest = get(async move || (manifest, include_str!("../../web/manifest.webmanifest")));
    vec![
        ("/pier/sw.js", get(worker)),
        ("/pier/manifest.webmanifest", manifest),
        ("/pier/icon-180.png", icon(include_bytes!("../../web/icon-180.png"))),
        ("/pier/icon-192.png", icon(include_bytes!("../../web/icon-192.png"))),
        ("/pier/icon-512.png", icon(include_bytes!("../../web/icon-512.png"))),
        ("/pier/icon-maskable.png", icon(include_bytes!("../../web/icon-maskable.png"))),
    ]
}

/// The script of the worker. It names the files that it keeps, so another version of one of them is
/// another worker.
static WORKER: LazyLock<String> = LazyLock::new(|| {
    let files = [&PIER_STYLE, &PIER_SCRIPT, &ICONS].map(|asset| asset.path.as_str());
    let files = serde_json::json!(files).to_string();
    let script = concat!(include_str!("../../web/kept.js"), include_str!("../../web/sw.js"));
    script.replace("[\"FILES\"]", &files)
});

async fn worker() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        // The folder of the script is /pier/, which does not include /pier itself.
        (HeaderName::from_static("service-worker-allowed"), "/pier"),
    ];
    // Its requests are subject to its own policy.
    answer::with_policy((headers, WORKER.as_str()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_names_its_files() {
        assert!(WORKER.contains(&PIER_SCRIPT.path) && !WORKER.contains("FILES\"]"));
    }
}
