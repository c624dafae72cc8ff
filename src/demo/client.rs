//! In-process client of the API.

use axum::{
    body::{Body, to_bytes},
    http::{Method, Request, StatusCode, header},
};
use serde_json::{Value, json};

use crate::{
    app::App,
    edge::{Edge, Service},
};

#[derive(Clone)]
pub struct ApiClient {
    service: Service,
    token: Option<String>,
}

impl ApiClient {
    pub fn of(app: &App) -> Self {
        Self { service: Service::new(app, Edge::default().request), token: None }
    }

    /// A signed-in client.
    pub async fn signed_in(&self, email: &str, password: &str, role: &str) -> Result<Self, String> {
        let body = json!({ "email": email, "password": password, "role": role });
        let session = self.post("/v1/auth/login", body).await?;
        let token = session["access_token"].as_str().map(str::to_owned);
        Ok(Self { service: self.service.clone(), token })
    }

    /// A client with this token or API key.
    pub fn with_token(&self, token: String) -> Self {
        Self { service: self.service.clone(), token: Some(token) }
    }

    pub async fn get(&self, path: &str) -> Result<Value, String> {
        self.call(Method::GET, path, Body::empty(), None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Result<Value, String> {
        self.call(Method::POST, path, body.to_string().into(), Some("application/json")).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Result<Value, String> {
        self.call(Method::PUT, path, body.to_string().into(), Some("application/json")).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Result<Value, String> {
        self.call(Method::PATCH, path, body.to_string().into(), Some("application/json")).await
    }

    pub async fn delete(&self, path: &str) -> Result<Value, String> {
        self.call(Method::DELETE, path, Body::empty(), None).await
    }

    /// Posts to the OCTO API, which has no envelope.
    pub async fn octo(&self, path: &str, body: Value) -> Result<Value, String> {
        let kind = Some("application/json");
        let (status, answer) = self.send(Method::POST, path, body.to_string().into(), kind).await?;
        if status.is_success() { Ok(answer) } else { Err(format!("POST {path}: {answer}")) }
    }

    /// Uploads a document and returns its id.
    pub async fn upload(&self, name: &str) -> Result<Value, String> {
        const EDGE: &str = "dermaga-demo";
        const PDF: &str = "%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n";
        let body = format!(
            "--{EDGE}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\ndocument\r\n\
             --{EDGE}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/pdf\r\n\r\n{PDF}\r\n--{EDGE}--\r\n"
        );
        let kind = format!("multipart/form-data; boundary={EDGE}");
        let file = self.call(Method::POST, "/v1/files/upload", body.into(), Some(&kind)).await?;
        Ok(file["id"].clone())
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Body,
        kind: Option<&str>,
    ) -> Result<Value, String> {
        let what = format!("{method} {path}");
        let (_, mut answer) = self.send(method, path, body, kind).await?;
        match answer["status"] == "success" {
            true => Ok(answer["data"].take()),
            false => Err(format!("{what}: {answer}")),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Body,
        kind: Option<&str>,
    ) -> Result<(StatusCode, Value), String> {
        let what = format!("{method} {path}");
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(kind) = kind {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        let fault = |why: &dyn std::fmt::Display| format!("{what}: {why}");
        let request = request.body(body).map_err(|why| fault(&why))?;
        // In a box: it is large, and part of every future that makes a request.
        let response = Box::pin(self.service.respond(None, request)).await;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.map_err(|why| fault(&why))?;
        Ok((status, serde_json::from_slice(&bytes).map_err(|why| fault(&why))?))
    }
}
