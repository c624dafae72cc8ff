//! The call to become a partner, and terms and conditions.

use dermaga::{config::Switch, kernel::access::Rule};
use futures_util::future::join_all;
use image::ImageFormat;
use serde_json::{Value, json};

use crate::{
    files::picture,
    harbour::order,
    on_both_engines,
    support::form::Form,
    world::{Answer, Someone, World},
};

on_both_engines![
    the_call_to_action_is_saved_and_returned,
    an_invalid_call_to_action_is_refused,
    terms_go_through_versions,
    scripts_are_removed_from_terms,
    terms_are_not_published_by_their_author,
    one_person_is_enough_where_it_is_set_so,
    identity_never_comes_from_a_body,
    there_is_one_draft_of_a_type,
    what_was_published_never_changes,
    a_draft_that_changed_meanwhile_is_not_published,
    a_booking_keeps_which_terms_were_accepted,
];

const CTA: &str = "/v1/contents/cta-partnership";
const TERMS: &str = "/v1/configurations/term-condition";

fn call_to_action_body() -> Value {
    json!({
        "title": "Become a partner", "description": "Sell your seats", "button_label": "Join",
        "button_url": "https://dermaga.id/join?x=1", "image_file_id": "", "is_active": true,
    })
}

async fn the_call_to_action_is_saved_and_returned(world: World) {
    let admin = world.admin().await;
    world.get(CTA).send().await.is(404, "not_found");
    let form = Form::new().text("purpose", "content").file("a.png", &picture(ImageFormat::Png));
    let upload = world.call(reqwest::Method::POST, "/v1/files/upload").by(&admin).multipart(form);
    let image = upload.send().await.ok()["id"].as_str().unwrap().to_owned();
    let mut body = call_to_action_body();
    body["image_file_id"] = json!(image);
    world.post(CTA, body.clone()).by(&admin).send().await.ok();
    let seen = world.get(CTA).send().await.ok();
    assert_eq!(seen["title"], "Become a partner");
    assert_eq!(seen["image_file_id"], json!(image));
    assert!(seen["image_url"].as_str().unwrap().ends_with(&image));
    // Somebody else changes the words and keeps the picture.
    let editor = world.staff("isi@dermaga.test", &[Rule::ContentsWrite]).await;
    body["title"] = json!("Sail with us");
    body["is_active"] = json!(false);
    world.post(CTA, body).by(&editor).send().await.ok();
    let seen = world.get(CTA).send().await.ok();
    assert_eq!((&seen["title"], &seen["is_active"]), (&json!("Sail with us"), &json!(false)));
    assert_eq!(seen["image_file_id"], json!(image));
    world.post(CTA, call_to_action_body()).by(&editor).send().await.ok();
    assert_eq!(world.get(CTA).send().await.ok()["image_file_id"], json!(null));
    assert_eq!(world.count("SELECT COUNT(*) FROM cta_partnership").await, 1);
}

async fn an_invalid_call_to_action_is_refused(world: World) {
    let admin = world.admin().await;
    let with = |change: Value| {
        let mut body = call_to_action_body();
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        world.post(CTA, body).by(&admin).send()
    };
    for url in ["javascript:alert(1)", "ftp://x.id", "https://", "dermaga.id", "https://a b"] {
        with(json!({ "button_url": url })).await.has_field_errors(&[("button_url", "format")]);
    }
    let bad = with(json!({ "title": " ", "is_active": "yes", "image_file_id": "x" })).await;
    bad.has_field_errors(&[("is_active", "type"), ("title", "required")]);
    with(json!({ "image_file_id": "x" })).await.has_field_errors(&[("image_file_id", "unknown")]);
    let faults = world.post(CTA, json!({})).by(&admin).send().await.field_errors();
    assert_eq!(faults.len(), 5, "{faults:?}");
    world.get(CTA).send().await.is(404, "not_found");
}

async fn creates_terms(world: &World, by: &Someone, kind: &str, content: &str) -> Answer {
    let body = json!({ "type": kind, "content": content, "user_creator_id": by.id });
    world.post(&format!("{TERMS}/create"), body).by(by).send().await
}

async fn updates_terms(world: &World, by: &Someone, id: &Value, content: &str) -> Answer {
    let body = json!({ "id": id, "content": content, "user_creator_id": by.id });
    world.put(&format!("{TERMS}/update"), body).by(by).send().await
}

async fn publishes_terms(world: &World, by: &Someone, id: &Value) -> Answer {
    let body = json!({ "id": id, "user_validator_id": by.id });
    world.post(&format!("{TERMS}/publish"), body).by(by).send().await
}

async fn terms_go_through_versions(world: World) {
    let writer = world.staff("tulis@dermaga.test", &[Rule::TermsWrite]).await;
    let boss = world.admin().await;
    let path = "/v1/configurations/term-conditions?type=customer";
    world.get(path).send().await.is(404, "not_found");
    let first = creates_terms(&world, &writer, "customer", "<p>One</p>").await.ok();
    assert_eq!((&first["version"], &first["status"]), (&json!(1), &json!("draft")));
    world.get(path).send().await.is(404, "not_found");
    publishes_terms(&world, &boss, &first["id"]).await.ok();
    let seen = world.get(path).send().await.ok();
    assert_eq!(
        seen,
        json!({
            "id": first["id"], "type": "customer", "content": "<p>One</p>", "version": 1,
            "status": "published", "published_at": "2026-11-15T03:00:00Z",
        })
    );
    // What is published is not touched: the next draft is.
    let second = updates_terms(&world, &writer, &first["id"], "<p>Two</p>").await.ok();
    assert_ne!(second["id"], first["id"]);
    assert_eq!((&second["version"], &second["status"]), (&json!(2), &json!("draft")));
    assert_eq!(world.get(path).send().await.ok()["content"], "<p>One</p>");
    updates_terms(&world, &writer, &second["id"], "<p>Two, better</p>").await.ok();
    publishes_terms(&world, &boss, &second["id"]).await.ok();
    assert_eq!(world.get(path).send().await.ok()["content"], "<p>Two, better</p>");
    publishes_terms(&world, &boss, &second["id"]).await.is(409, "invalid_state");
    updates_terms(&world, &writer, &first["id"], "<p>x</p>").await.is(409, "invalid_state");
    let history = "/v1/configurations/term-conditions/history?type=customer";
    let all = world.get(history).by(&writer).send().await.ok();
    let seen: Vec<_> =
        all.as_array().unwrap().iter().map(|v| (&v["version"], &v["status"])).collect();
    assert_eq!(seen, [(&json!(2), &json!("published")), (&json!(1), &json!("archived"))]);
    assert_eq!(all[1]["content"], "<p>One</p>", "history stays readable");
    assert_eq!(all[1]["user_creator_id"], json!(writer.id));
    assert_eq!(all[1]["user_validator_id"], json!(boss.id));
    // Other types count for themselves.
    let other = creates_terms(&world, &writer, "mitra", "<p>Other</p>").await.ok();
    assert_eq!(other["version"], 1);
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'terms.published'";
    assert_eq!(world.count(told).await, 2);

    world
        .get("/v1/configurations/term-conditions")
        .send()
        .await
        .has_field_errors(&[("type", "required")]);
    creates_terms(&world, &writer, "Not A Slug", "<p>x</p>")
        .await
        .has_field_errors(&[("type", "format")]);
    let unknown = json!(dermaga::kernel::ids::fresh());
    updates_terms(&world, &writer, &unknown, "x").await.has_field_errors(&[("id", "unknown")]);
    publishes_terms(&world, &boss, &unknown).await.has_field_errors(&[("id", "unknown")]);
    creates_terms(&world, &writer, "empty", " ").await.has_field_errors(&[("content", "required")]);
}

async fn scripts_are_removed_from_terms(world: World) {
    let writer = world.admin().await;
    let content = r#"<h1 onclick="steal()">Syarat</h1><script>alert(1)</script>
        <p style="background:url(javascript:1)">Teks <b>tebal</b></p>
        <a href="javascript:alert(1)">a</a><a href="JaVaScRiPt:alert(1)">b</a>
        <a href="data:text/html,<script>1</script>">c</a><a href="https://dermaga.id">d</a>
        <img src=x onerror=alert(1)><iframe src="https://evil"></iframe><svg/onload=alert(1)>
        <math><mtext></p><style><img src=x onerror=alert(1)></style></mtext></math>
        <form action="https://evil"><input></form><base href="https://evil"><meta http-equiv=refresh>"#;
    let draft = creates_terms(&world, &writer, "customer", content).await.ok();
    let clean = draft["content"].as_str().unwrap().to_lowercase();
    for bad in [
        "script",
        "onclick",
        "onerror",
        "onload",
        "javascript:",
        "data:",
        "iframe",
        "<form",
        "<svg",
        "<math",
        "<base",
        "<meta",
        "style",
    ] {
        assert!(!clean.contains(bad), "{bad} in {clean}");
    }
    for good in ["<h1>syarat</h1>", "<b>tebal</b>", "https://dermaga.id"] {
        assert!(clean.contains(good), "{good} not in {clean}");
    }
    let nothing = updates_terms(&world, &writer, &draft["id"], "<script>alert(1)</script>").await;
    nothing.has_field_errors(&[("content", "required")]);
}

async fn terms_are_not_published_by_their_author(world: World) {
    let writer = world.admin_with_email("tulis@dermaga.test").await;
    let editor = world.admin_with_email("ubah@dermaga.test").await;
    let boss = world.admin().await;
    let draft = creates_terms(&world, &writer, "customer", "<p>One</p>").await.ok();
    publishes_terms(&world, &writer, &draft["id"]).await.is(409, "same_person");
    updates_terms(&world, &editor, &draft["id"], "<p>One!</p>").await.ok();
    publishes_terms(&world, &editor, &draft["id"]).await.is(409, "same_person");
    publishes_terms(&world, &writer, &draft["id"]).await.is(409, "same_person");
    publishes_terms(&world, &boss, &draft["id"]).await.ok();
}

async fn one_person_is_enough_where_it_is_set_so(world: World) {
    let world = world.with(|config| config.four_eyes = Switch(false)).await;
    let boss = world.admin().await;
    let draft = creates_terms(&world, &boss, "customer", "<p>One</p>").await.ok();
    publishes_terms(&world, &boss, &draft["id"]).await.ok();
}

async fn identity_never_comes_from_a_body(world: World) {
    let writer = world.admin_with_email("tulis@dermaga.test").await;
    let boss = world.admin().await;
    let body = json!({ "type": "customer", "content": "x", "user_creator_id": boss.id });
    let path = format!("{TERMS}/create");
    world.post(&path, body).by(&writer).send().await.is(403, "forbidden");
    let body = json!({ "type": "customer", "content": "x", "user_creator_id": "me" });
    world.post(&path, body).by(&writer).send().await.is(403, "forbidden");
    let draft = creates_terms(&world, &writer, "customer", "<p>One</p>").await.ok();
    let body = json!({ "id": draft["id"], "user_validator_id": boss.id });
    let call = world.post(&format!("{TERMS}/publish"), body).by(&writer);
    call.send().await.is(403, "forbidden");
    assert_eq!(world.count("SELECT COUNT(*) FROM terms").await, 1);
}

async fn there_is_one_draft_of_a_type(world: World) {
    let writer = world.admin().await;
    let answers =
        join_all((0..8).map(|_| creates_terms(&world, &writer, "customer", "<p>x</p>"))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        answer.is(409, "already_exists");
    }
}

async fn what_was_published_never_changes(world: World) {
    let writer = world.admin_with_email("tulis@dermaga.test").await;
    let boss = world.admin().await;
    let draft = creates_terms(&world, &writer, "customer", "<p>One</p>").await.ok();
    publishes_terms(&world, &boss, &draft["id"]).await.ok();
    // Past all our code.
    for statement in [
        "UPDATE terms SET content = 'x'",
        "UPDATE terms SET version = 7",
        "UPDATE terms SET status = 'draft', published_at = NULL",
        "DELETE FROM terms",
    ] {
        assert!(world.db().sql(statement).run().await.is_err(), "{statement}");
    }
}

async fn a_draft_that_changed_meanwhile_is_not_published(world: World) {
    let writer = world.admin_with_email("tulis@dermaga.test").await;
    let boss = world.admin().await;
    for n in 0..5 {
        let draft = creates_terms(&world, &writer, &format!("t{n}"), "<p>One</p>").await.ok();
        world.advances_clock(chrono::TimeDelta::seconds(1));
        let (edited, published) = tokio::join!(
            updates_terms(&world, &boss, &draft["id"], "<p>By the boss</p>"),
            publishes_terms(&world, &boss, &draft["id"]),
        );
        // Edited by the boss, it is not the boss's to publish; published, an edit begins the next.
        let path = format!("/v1/configurations/term-conditions?type=t{n}");
        let live = world.get(&path).send().await;
        if edited.status != 200 {
            edited.is(409, "invalid_state");
        }
        match published.status {
            200 => assert_eq!(live.ok()["content"], "<p>One</p>"),
            _ => drop(live.is(404, "not_found")),
        }
    }
}

async fn a_booking_keeps_which_terms_were_accepted(world: World) {
    let writer = world.admin_with_email("tulis@dermaga.test").await;
    let boss = world.admin().await;
    let sailing = world.sailing().await;
    let books = async |accept: Value| {
        let mut order = order(&sailing, 1, "sari@example.com");
        order["accept_terms"] = accept;
        world.books(order).await.ok()["id"].as_str().unwrap().to_owned()
    };
    let seen = async |id: &str| {
        let booking = world.get(&format!("/v1/booking/{id}")).by(&boss).send().await.ok();
        booking["accepted_terms_id"].clone()
    };
    let before = books(json!(true)).await;
    assert_eq!(seen(&before).await, json!(null), "there were none");
    let draft = creates_terms(&world, &writer, "customer", "<p>One</p>").await.ok();
    publishes_terms(&world, &boss, &draft["id"]).await.ok();
    let accepted = books(json!(true)).await;
    let silent = books(json!(false)).await;
    let next = updates_terms(&world, &writer, &draft["id"], "<p>Two</p>").await.ok();
    publishes_terms(&world, &boss, &next["id"]).await.ok();
    assert_eq!(seen(&accepted).await, draft["id"]);
    assert_eq!(seen(&silent).await, json!(null));
    assert_eq!(seen(&books(json!(true)).await).await, next["id"]);
}
