//! gzip for those who ask for it, and for what gains by it.

use std::{io::Read, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
};
use dermaga::edge::Service;
use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use image::{ImageFormat, RgbImage};
use reqwest::{Method, header::HeaderMap};
use serde_json::Value;

use crate::{
    exports::fill_log,
    harbour::search_body,
    on_both_engines,
    support::form::Form,
    world::{Call, World},
};

on_both_engines![
    a_list_is_compressed_for_those_who_ask,
    a_cached_search_is_compressed_for_those_who_ask,
    small_answers_are_not_compressed,
    pages_are_compressed,
    pictures_are_not_compressed,
    the_head_of_a_response_names_what_it_would_be,
    a_compressed_export_is_read_while_it_is_sent,
];

impl Call<'_> {
    async fn zipped(self) -> (u16, HeaderMap, Vec<u8>) {
        self.header("accept-encoding", "br, gzip").bytes().await
    }
}

fn unzipped(body: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(body).read_to_string(&mut text).expect("it is gzip");
    text
}

fn encoding(headers: &HeaderMap) -> Option<&str> {
    headers.get("content-encoding").map(|value| value.to_str().unwrap())
}

fn varies(headers: &HeaderMap) -> bool {
    let values = headers.get_all("vary").iter();
    let values: Vec<_> = values.map(|value| value.to_str().unwrap().to_lowercase()).collect();
    values.join(",").matches("accept-encoding").count() == 1
}

async fn a_list_is_compressed_for_those_who_ask(world: World) {
    let admin = world.admin().await;
    fill_log(&world, 50).await;
    let list = || world.get("/v1/audit-logs?entity_type=thing&page_size=50").by(&admin);
    let (status, headers, plain) = list().bytes().await;
    assert_eq!((status, encoding(&headers)), (200, None));
    assert_eq!(headers["content-length"], plain.len().to_string().as_str());
    let (status, headers, body) = list().zipped().await;
    assert_eq!((status, encoding(&headers)), (200, Some("gzip")));
    assert!(varies(&headers), "{headers:?}");
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(unzipped(&body).as_bytes(), plain);
    assert!(body.len() < plain.len() / 3, "{} of {} bytes", body.len(), plain.len());
    for refusal in ["gzip;q=0", "br", "identity", "gzip;q=0.0, *"] {
        let (_, headers, body) = list().header("accept-encoding", refusal).bytes().await;
        assert_eq!((encoding(&headers), body), (None, plain.clone()), "{refusal}");
    }
}

/// The answer is kept in both forms, whichever is asked for first.
async fn a_cached_search_is_compressed_for_those_who_ask(world: World) {
    let sailing = world.sailing().await;
    for registration in ["GT. 2", "GT. 3"] {
        world.creates_published_route(&sailing.partner, registration).await;
    }
    for zipped_first in [true, false] {
        world.app.response_cache.invalidate_all();
        let mut answers = Vec::new();
        for zipped in [zipped_first, !zipped_first, zipped_first] {
            let search = world.post("/v1/speedboats/search", search_body(1));
            let (status, headers, body) = match zipped {
                true => search.zipped().await,
                false => search.bytes().await,
            };
            let expected = zipped.then_some("gzip");
            assert_eq!((status, encoding(&headers)), (200, expected));
            assert_eq!(varies(&headers), zipped);
            assert_eq!(headers["content-length"], body.len().to_string().as_str());
            answers.push(match zipped {
                true => unzipped(&body),
                false => String::from_utf8(body).unwrap(),
            });
        }
        let found: Value = serde_json::from_str(&answers[0]).unwrap();
        assert_eq!(found["data"].as_array().map(Vec::len), Some(3), "{found}");
        assert!(answers.iter().all(|answer| *answer == answers[0]));
    }
}

async fn small_answers_are_not_compressed(world: World) {
    for path in ["/health/live", "/v1/speedboats/locations", "/v1/unknown"] {
        let (_, headers, body) = world.get(path).zipped().await;
        assert!(body.len() < 1_024 && serde_json::from_slice::<Value>(&body).is_ok(), "{path}");
        assert_eq!(encoding(&headers), None, "{path}");
    }
}

async fn pages_are_compressed(world: World) {
    world.sailing().await;
    // One that is kept for all visitors, one that is not, an error, and what lies in the binary.
    for path in ["/", "/console/login", "/console/unknown", "/openapi.json", "/docs/reference.js"] {
        // Some pages show the id of the request.
        let get = || world.get(path).header("x-request-id", "r");
        let (status, headers, plain) = get().bytes().await;
        assert_eq!(encoding(&headers), None, "{path}");
        for _ in 0..2 {
            let (again, headers, body) = get().zipped().await;
            assert_eq!((again, encoding(&headers)), (status, Some("gzip")), "{path}");
            assert!(varies(&headers), "{path}: {headers:?}");
            assert!(unzipped(&body).as_bytes() == plain, "{path}");
        }
    }
}

async fn pictures_are_not_compressed(world: World) {
    let made = world.partner("made@bahari.id").await;
    let mut png = std::io::Cursor::new(Vec::new());
    // Large enough.
    RgbImage::from_fn(200, 200, |x, y| image::Rgb([x as u8, y as u8, (x * y) as u8]))
        .write_to(&mut png, ImageFormat::Png)
        .unwrap();
    let form = Form::new().text("purpose", "photo").file("boat.png", png.get_ref());
    let upload = world.call(Method::POST, "/v1/files/upload").by(&made).multipart(form);
    let file = upload.send().await.ok();
    let path = format!("/v1/{}", file["url"].as_str().unwrap().split_once("/v1/").unwrap().1);
    let (status, headers, body) = world.get(&path).zipped().await;
    assert_eq!((status, encoding(&headers)), (200, None));
    assert!(body == *png.get_ref() && body.len() > 1_024);
    let etag = headers["etag"].to_str().unwrap();
    let (status, headers, body) = world.get(&path).header("if-none-match", etag).zipped().await;
    assert_eq!((status, encoding(&headers), body.len()), (304, None, 0));
    assert_eq!(headers["etag"], etag);
}

async fn the_head_of_a_response_names_what_it_would_be(world: World) {
    let admin = world.admin().await;
    fill_log(&world, 50).await;
    for path in ["/v1/audit-logs?entity_type=thing&page_size=50", "/", "/openapi.json"] {
        let call = |method| world.call(method, path).by(&admin);
        let (status, of_get, plain) = call(Method::GET).bytes().await;
        let (status_of_head, of_head, body) = call(Method::HEAD).zipped().await;
        assert_eq!((status_of_head, body.len()), (status, 0), "{path}");
        assert_eq!(of_head["content-type"], of_get["content-type"], "{path}");
        // The length is that of the encoding that is named.
        let length = of_head.get("content-length").map(|length| length.to_str().unwrap());
        match encoding(&of_head) {
            None => assert_eq!(length, Some(plain.len().to_string().as_str()), "{path}"),
            Some(_) => assert!(length.is_none_or(|length| length != plain.len().to_string())),
        }
    }
}

/// Rows that are deleted after the first bytes were sent are not in the file.
async fn a_compressed_export_is_read_while_it_is_sent(world: World) {
    const ROWS: usize = 20_000;
    let admin = world.admin().await;
    fill_log(&world, ROWS).await;
    let service = Service::new(&world.app, Duration::from_secs(60));
    let request = Request::get("/v1/audit-logs?format=csv&entity_type=thing")
        .header("authorization", format!("Bearer {}", admin.token))
        .header("accept-encoding", "gzip")
        .body(Body::empty());
    let response = service.respond(None, request.unwrap()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let mut body = response.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    world.db().sql("DELETE FROM audit_logs WHERE entity_type = 'thing'").run().await.unwrap();
    let rest = to_bytes(body, usize::MAX).await.unwrap();
    let rows = unzipped(&[first, rest].concat()).lines().count();
    assert!((1..ROWS / 2).contains(&rows), "{rows} lines");
}
