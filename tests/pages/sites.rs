//! A browser without a window: cookies and forms.

use reqwest::{Method, header::HeaderMap};

use crate::{
    form::Form,
    world::{Someone, World},
};

/// A page as a browser gets it.
pub struct Page {
    pub status: u16,
    pub headers: HeaderMap,
    pub html: String,
}

impl Page {
    pub fn location(&self) -> &str {
        self.headers.get("location").map_or("", |to| to.to_str().unwrap())
    }

    /// The cookies that it sets, as a request sends them.
    pub fn cookies(&self) -> String {
        let set = self.headers.get_all("set-cookie").iter().filter_map(|line| {
            let pair = line.to_str().ok()?.split(';').next()?;
            (!pair.ends_with('=')).then(|| pair.to_owned())
        });
        set.collect::<Vec<_>>().join("; ")
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        assert!(self.html.contains(words), "{words:?} is not on the page:\n{}", self.html);
    }
}

pub fn session(who: &Someone) -> String {
    format!("dermaga_session={}; dermaga_lang=en", who.token)
}

/// Like a browser without a window: it does not follow redirects by itself.
fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tls_certs_only([]);
    client.redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

async fn page(request: reqwest::RequestBuilder) -> Page {
    let response = request.send().await.expect("the service answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Page { status, headers, html: response.text().await.unwrap() }
}

impl World {
    pub async fn page(&self, path: &str, cookies: &str) -> Page {
        let address = format!("http://{}{path}", self.address);
        page(client().request(Method::GET, address).header("cookie", cookies)).await
    }

    pub async fn page_with(&self, path: &str, cookies: &str, headers: &[(&str, &str)]) -> Page {
        let address = format!("http://{}{path}", self.address);
        let request = client().request(Method::GET, address).header("cookie", cookies);
        page(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
            .await
    }

    /// Posts a form as a page of this service does.
    pub async fn submits(&self, path: &str, cookies: &str, fields: &[(&str, &str)]) -> Page {
        let origin = format!("http://{}", self.address);
        self.submits_from(&origin, path, cookies, fields).await
    }

    pub async fn submits_from(
        &self,
        origin: &str,
        path: &str,
        cookies: &str,
        fields: &[(&str, &str)],
    ) -> Page {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let address = format!("http://{}{path}", self.address);
        let request = client()
            .request(Method::POST, address)
            .header("cookie", cookies)
            .header("origin", origin)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        page(request).await
    }

    /// Posts a form with files.
    pub async fn uploads(&self, path: &str, cookies: &str, form: Form) -> Page {
        let (content_type, body) = form.finish();
        let request = client()
            .request(Method::POST, format!("http://{}{path}", self.address))
            .header("cookie", cookies)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", content_type)
            .body(body);
        page(request).await
    }
}
