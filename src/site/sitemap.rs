//! What search engines read: which pages there are, and which ones they leave alone.

use std::fmt::Write;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::{FutureExt, future::BoxFuture};

use super::front::pairs;
use crate::web::{
    answer,
    client::{Call, Envelope},
    forms::Values,
    visit::{Visit, with_query},
};

/// A sitemap has at most 50,000 pages; each of these is one in two languages.
const MOST_PAGES: usize = 20_000;
const PARTNERS: i64 = 100;

/// The index: one sitemap of lines, and as many of partners as there are pages of the list.
pub fn sitemap(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let partners = match partners(&visit, "1").await {
            Ok(partners) => partners,
            Err(failure) => return visit.problem(&failure),
        };
        let base = visit.web.app().config.public_url();
        let pages = partners.pagination["total_pages"].as_i64().unwrap_or_default();
        let mut xml =
            String::from("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
        let _ = write!(xml, "<sitemap><loc>{base}/sitemap/lines.xml</loc></sitemap>");
        for page in 1..=pages {
            let loc = format!("{base}/sitemap/partners.xml?page={page}");
            let _ = write!(xml, "<sitemap><loc>{loc}</loc></sitemap>");
        }
        xml.push_str("</sitemapindex>");
        document(xml)
    }
    .boxed()
}

/// The first page, and a page for each line.
pub fn sitemap_lines(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let locations = visit.ask(Call::of("list_locations")).await;
        if !locations.is_success() {
            return visit.problem(&locations);
        }
        let lines = pairs(&locations.data).map(|(from, to)| {
            with_query("/search", &[("from".into(), from.into()), ("to".into(), to.into())])
        });
        pages(&visit, std::iter::once(String::new()).chain(lines))
    }
    .boxed()
}

pub fn sitemap_partners(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let found = match partners(&visit, visit.parameter("page").unwrap_or("1")).await {
            Ok(found) => found,
            Err(failure) => return visit.problem(&failure),
        };
        let slugs = found.data.as_array().into_iter().flatten();
        let slugs = slugs.filter_map(|one| one["slug"].as_str());
        pages(&visit, slugs.map(|slug| format!("/p/{slug}")))
    }
    .boxed()
}

async fn partners(visit: &Visit, page: &str) -> Result<Envelope, Envelope> {
    let call = Call::of("list_catalog_partners").query("page", page);
    let found = visit.ask(call.query("page_size", PARTNERS.to_string())).await;
    if found.is_success() { Ok(found) } else { Err(found) }
}

/// Pages with both languages, by their addresses in Indonesian.
fn pages(visit: &Visit, paths: impl Iterator<Item = String>) -> Response {
    let base = escape(&visit.web.app().config.public_url());
    let mut xml = String::from(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">",
    );
    for path in paths.take(MOST_PAGES) {
        let path = escape(&path);
        let home = if path.is_empty() { "/" } else { "" };
        let (id, en) = (format!("{base}{path}{home}"), format!("{base}/en{path}"));
        for loc in [&id, &en] {
            let _ = write!(
                xml,
                "<url><loc>{loc}</loc>\
                 <xhtml:link rel=\"alternate\" hreflang=\"id\" href=\"{id}\"/>\
                 <xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"{en}\"/></url>"
            );
        }
    }
    xml.push_str("</urlset>");
    document(xml)
}

fn document(xml: String) -> Response {
    let xml = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{xml}");
    let kind = [(header::CONTENT_TYPE, "application/xml; charset=utf-8")];
    answer::with_policy((kind, xml).into_response())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

pub fn robots(visit: Visit, _: Option<Values>) -> BoxFuture<'static, Response> {
    async move {
        let base = visit.web.app().config.public_url();
        let mut text = String::from("User-agent: *\n");
        for path in
            ["/console", "/pier", "/booking", "/en/booking", "/pay", "/v1", "/auth", "/user"]
        {
            let _ = writeln!(text, "Disallow: {path}");
        }
        for path in ["/console/assets/", "/pier/icon-512.png", "/v1/files/"] {
            let _ = writeln!(text, "Allow: {path}");
        }
        let _ = writeln!(text, "\nSitemap: {base}/sitemap.xml");
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        answer::with_policy((kind, text).into_response())
    }
    .boxed()
}
