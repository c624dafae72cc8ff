//! Signing in and out, sessions, lockout.

use chrono::TimeDelta;
use dermaga::config::Switch;
use serde_json::json;

use crate::{
    on_both_engines,
    world::{PASSWORD, World},
};

on_both_engines![
    an_admin_signs_in_and_out,
    an_answer_does_not_tell_whether_the_account_exists,
    a_right_password_of_a_suspended_account_says_so,
    an_invited_account_has_no_password_yet,
    a_session_ends_after_eight_hours,
    a_suspension_acts_on_the_next_request,
    bearer_headers_of_every_shape_are_understood_or_refused,
    ten_failures_lock_the_account_for_a_while,
    attempts_at_the_same_moment_do_not_slip_through,
    fifty_failures_lock_the_address,
    own_sessions_are_listed_and_ended,
    what_a_login_and_a_request_cost,
];

async fn attempt(world: &World, email: &str, password: &str, role: &str) -> crate::world::Answer {
    let body = json!({ "email": email, "password": password, "role": role });
    world.post("/v1/auth/login", body).send().await
}

async fn an_admin_signs_in_and_out(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let data = world.login("Admin@Dermaga.Test", "admin").await.ok();
    assert_eq!(data["token_type"], "Bearer");
    assert_eq!(data["expires_in"], 8 * 3600);
    assert_eq!(data["expires_at"], "2026-11-15T11:00:00Z");
    assert_eq!(data["user"]["last_login_at"], "2026-11-15T03:00:00Z");
    let token = data["access_token"].as_str().unwrap();
    assert_eq!(token.len(), 43, "256 bits");

    world.get("/user/me").bearing(token).send().await.ok();
    world.post("/v1/auth/logout", json!({})).bearing(token).send().await.ok();
    world.get("/user/me").bearing(token).send().await.is(401, "unauthenticated");
    world.post("/v1/auth/logout", json!({})).bearing(token).send().await.is(401, "unauthenticated");
}

async fn an_answer_does_not_tell_whether_the_account_exists(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let cases = [
        ("nobody@dermaga.test", PASSWORD, "admin"),
        ("admin@dermaga.test", "wrong password", "admin"),
        ("admin@dermaga.test", PASSWORD, "mitra"),
    ];
    let mut answers = Vec::new();
    for (email, password, role) in cases {
        let (statements, verified) = (world.db().statements(), world.app.passwords.verified());
        let answer = attempt(&world, email, password, role).await;
        let mut body = answer.is(401, "invalid_credentials");
        body.as_object_mut().unwrap().remove("request_id");
        // The same work, so the same time: one verification, as many statements.
        let cost =
            (world.db().statements() - statements, world.app.passwords.verified() - verified);
        answers.push((body, cost));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    assert_eq!(answers[0].1, (1, 1));
}

async fn a_right_password_of_a_suspended_account_says_so(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.set_status(&made, "suspended").await;
    world.login("made@bahari.id", "mitra").await.is(403, "account_suspended");
    attempt(&world, "made@bahari.id", "wrong password", "mitra")
        .await
        .is(401, "invalid_credentials");
    world.set_status(&made, "inactive").await;
    world.login("made@bahari.id", "mitra").await.is(403, "account_inactive");
}

async fn an_invited_account_has_no_password_yet(world: World) {
    let admin = world.admin().await;
    let form = json!({ "name": "Komang", "email": "komang@dermaga.test" });
    world.post("/v1/users/admins", form).by(&admin).send().await.ok();
    for guess in ["", " ", "null"] {
        let answer = attempt(&world, "komang@dermaga.test", guess, "admin").await;
        assert!(answer.status == 401 || answer.status == 422, "{}", answer.body);
    }
}

async fn a_session_ends_after_eight_hours(world: World) {
    let admin = world.admin().await;
    world.later(TimeDelta::hours(8) - TimeDelta::seconds(1));
    world.get("/user/me").by(&admin).send().await.ok();
    world.later(TimeDelta::seconds(1));
    world.get("/user/me").by(&admin).send().await.is(401, "unauthenticated");
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM sessions").await, 0);
}

async fn a_suspension_acts_on_the_next_request(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.get("/user/me").by(&made).send().await.ok();
    world.set_status(&made, "suspended").await;
    world.get("/user/me").by(&made).send().await.is(403, "account_suspended");
    world.set_status(&made, "active").await;
    world.get("/user/me").by(&made).send().await.ok();
}

async fn bearer_headers_of_every_shape_are_understood_or_refused(world: World) {
    let admin = world.admin().await;
    let me = |header: String| {
        let call = world.get("/user/me").header("authorization", &header);
        call.send()
    };
    me(format!("bearer {}", admin.token)).await.ok();
    me(format!("Bearer  {}", admin.token)).await.ok();
    for bad in ["", "Bearer", "Bearer ", "Basic YTpi", &admin.token, "Bearer x y", "Bearer \u{e9}"]
    {
        me(bad.to_owned()).await.is(401, "unauthenticated");
    }
}

async fn ten_failures_lock_the_account_for_a_while(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    world.account("admin@dermaga.test", "admin").await;
    for known in ["admin@dermaga.test", "nobody@dermaga.test"] {
        for _ in 0..10 {
            attempt(&world, known, "wrong password", "admin").await.is(401, "invalid_credentials");
        }
        let answer = attempt(&world, known, PASSWORD, "admin").await;
        assert_eq!(answer.header("retry-after"), "900");
        answer.is(429, "too_many_requests");
    }
    world.later(TimeDelta::minutes(15));
    world.login("admin@dermaga.test", "admin").await.ok();

    // A success clears the slate.
    for _ in 0..9 {
        attempt(&world, "admin@dermaga.test", "wrong password", "admin").await;
    }
    world.login("admin@dermaga.test", "admin").await.ok();
    attempt(&world, "admin@dermaga.test", "wrong password", "admin")
        .await
        .is(401, "invalid_credentials");
    assert_eq!(world.count("SELECT CAST(MIN(failures) AS BIGINT) FROM login_failures").await, 1);
}

async fn attempts_at_the_same_moment_do_not_slip_through(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    world.account("admin@dermaga.test", "admin").await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let body = json!({ "email": "admin@dermaga.test", "password": "guess", "role": "admin" });
        let client = crate::world::client();
        let url = format!("http://{}/v1/auth/login", world.address);
        calls.spawn(async move { client.post(url).json(&body).send().await.unwrap().status() });
    }
    let answers = calls.join_all().await;
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), 10);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 10);
}

async fn fifty_failures_lock_the_address(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    world.account("admin@dermaga.test", "admin").await;
    for n in 0..50 {
        let email = format!("nobody{n}@dermaga.test");
        attempt(&world, &email, "wrong password", "admin").await.is(401, "invalid_credentials");
    }
    world.login("admin@dermaga.test", "admin").await.is(429, "too_many_requests");
    world.later(TimeDelta::minutes(15));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM login_failures").await, 0);
}

async fn own_sessions_are_listed_and_ended(world: World) {
    let here = world.partner("made@bahari.id").await;
    let there = world.signs_in("made@bahari.id", "mitra").await;
    let other = world.partner("ketut@bahari.id").await;

    let answer = world.get("/user/me/sessions").by(&here).send().await;
    assert_eq!(answer.body["pagination"]["total_items"], 2);
    let sessions = answer.ok();
    let of = |current: bool| {
        let mut all = sessions.as_array().unwrap().iter();
        all.find(|s| s["current"] == current).unwrap()["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(sessions[0]["address"], "127.0.0.1");
    let theirs = format!("/user/me/sessions/{}", of(false));
    world.delete(&theirs).by(&other).send().await.is(404, "not_found");
    world.delete(&theirs).by(&here).send().await.ok();
    world.delete(&theirs).by(&here).send().await.is(404, "not_found");
    world.delete("/user/me/sessions/rubbish").by(&here).send().await.is(404, "not_found");
    world.get("/user/me").by(&there).send().await.is(401, "unauthenticated");
    world.get("/user/me").by(&here).send().await.ok();
}

/// Not a limit to be raised lightly: every request pays it.
async fn what_a_login_and_a_request_cost(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let before = world.db().statements();
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    assert_eq!(world.db().statements() - before, 4, "statements of a login");
    let before = world.db().statements();
    world.get("/v1/users/statistics").by(&admin).send().await.ok();
    assert_eq!(world.db().statements() - before, 2, "one to know the caller, one for the answer");
}
