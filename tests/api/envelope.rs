//! One shape for everything that goes out, framework defaults included.

use reqwest::Method;
use serde_json::json;

use crate::{on_both_engines, world::World};

on_both_engines![
    refusals_of_the_framework_come_in_the_envelope,
    bodies_are_json_objects_or_refused,
    a_slash_at_the_end_makes_no_difference,
    messages_are_translated_and_words_are_not,
    request_ids_are_kept_when_sane,
    every_answer_is_protected,
    head_is_a_get_without_a_body,
    checks_come_in_order,
];

async fn refusals_of_the_framework_come_in_the_envelope(world: World) {
    world.get("/nowhere").send().await.is(404, "not_found");
    world.get("/nowhere").send().await.is(404, "not_found");
    let answer = world.delete("/user/me").send().await;
    assert_eq!(answer.header("allow"), "GET,HEAD,PUT");
    answer.is(405, "method_not_allowed");
    let odd = world.call(Method::from_bytes(b"BREW").unwrap(), "/health").send().await;
    odd.is(405, "method_not_allowed");
}

async fn bodies_are_json_objects_or_refused(world: World) {
    let login = || world.call(Method::POST, "/v1/auth/login");
    login().send().await.is(415, "unsupported_media_type");
    login()
        .header("content-type", "text/plain")
        .body("{}")
        .send()
        .await
        .is(415, "unsupported_media_type");
    let form = "application/x-www-form-urlencoded";
    login().header("content-type", form).body("a=b").send().await.is(415, "unsupported_media_type");
    let json = || login().header("content-type", "application/json; charset=utf-8");
    for bad in ["", "{", "nonsense", "[]", "null", "\"text\"", "{} {}", "{\"a\": 1,}"] {
        json().body(bad).send().await.is(400, "malformed_request");
    }
    json()
        .body(vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}'])
        .send()
        .await
        .is(400, "malformed_request");
    json().body("[".repeat(100_000)).send().await.is(400, "malformed_request");
    json().body("{}").send().await.has_field_errors(&[
        ("email", "required"),
        ("password", "required"),
        ("role", "required"),
    ]);
    let large = json!({ "email": "a@b.id", "password": "x".repeat(1024 * 1024), "role": "admin" });
    json().body(large.to_string()).send().await.is(413, "payload_too_large");
    json()
        .body(json!({ "email": 7, "password": null, "role": {} }).to_string())
        .send()
        .await
        .has_field_errors(&[
            ("email", "type"),
            ("password", "type"),
            ("role", "enum"),
            ("role", "type"),
        ]);
}

async fn a_slash_at_the_end_makes_no_difference(world: World) {
    let admin = world.admin().await;
    for path in ["/health/", "/v1/users/", "/v1/users/statistics/", "/v1/users/?page=1"] {
        world.get(path).by(&admin).send().await.ok();
    }
    let answer = world.post("/v1/auth/login/", json!({})).send().await;
    assert_eq!(answer.status, 422);
}

async fn messages_are_translated_and_words_are_not(world: World) {
    let call = world.get("/user/me").header("accept-language", "id-ID, en;q=0.5");
    let answer = call.send().await;
    assert_eq!(answer.header("content-language"), "id");
    let body = answer.is(401, "unauthenticated");
    assert_eq!(body["message"], "Silakan masuk terlebih dahulu.");
    let call = world.post("/v1/auth/login", json!({})).header("accept-language", "id");
    let body = call.send().await.body;
    assert_eq!(body["errors"][0]["message"], "Wajib diisi.");
    assert_eq!(body["errors"][0]["rule"], "required");
}

async fn request_ids_are_kept_when_sane(world: World) {
    let id = async |id: &str| {
        let answer = world.get("/health").header("x-request-id", id).send().await;
        answer.header("x-request-id").to_owned()
    };
    assert_eq!(id("abc-DEF_1.2").await, "abc-DEF_1.2");
    for bad in ["", "a b", "<script>", &"x".repeat(129)] {
        assert_eq!(id(bad).await.len(), 36, "{bad:?}");
    }
}

async fn every_answer_is_protected(world: World) {
    for path in ["/health", "/nowhere", "/docs", "/metrics", "/openapi.json", "/reset-password"] {
        let answer = world.get(path).send().await;
        for name in [
            "x-content-type-options",
            "x-frame-options",
            "referrer-policy",
            "cache-control",
            "content-security-policy",
            "x-request-id",
        ] {
            assert!(!answer.header(name).is_empty(), "{path} lacks {name}");
        }
    }
}

async fn head_is_a_get_without_a_body(world: World) {
    let answer = world.call(Method::HEAD, "/health").send().await;
    assert_eq!((answer.status, answer.body.as_str()), (200, Some("")));
    world.call(Method::HEAD, "/v1/users").send().await.headers.get("content-type").unwrap();
}

/// 401, 403, then 404 for a path id, then 415 and 422.
async fn checks_come_in_order(world: World) {
    let partner = world.partner("made@bahari.id").await;
    let admin = world.admin().await;
    let path = "/v1/users/rubbish/status";
    world.call(Method::PUT, path).body("x").send().await.is(401, "unauthenticated");
    world.call(Method::PUT, path).by(&partner).body("x").send().await.is(403, "forbidden");
    world.call(Method::PUT, path).by(&admin).body("x").send().await.is(404, "not_found");
    let unknown = format!("/v1/users/{}/status", dermaga::kernel::ids::fresh());
    world.call(Method::PUT, &unknown).by(&admin).body("x").send().await.is(404, "not_found");
    let known = format!("/v1/users/{}/status", admin.id);
    let call = world.call(Method::PUT, &known).by(&admin).body("x");
    call.send().await.is(415, "unsupported_media_type");
}
