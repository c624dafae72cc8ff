//! Remembered devices.

use chrono::TimeDelta;
use serde_json::json;

use crate::{
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_device_is_enrolled_and_resumes,
    an_email_alone_opens_nothing,
    a_rotated_token_kills_its_family,
    two_resumes_at_once_leave_no_second_way_in,
    a_token_lives_thirty_days,
    a_device_is_remembered_for_ninety_days_in_all,
    a_suspended_account_does_not_resume,
    logout_forgets_the_device_that_it_comes_from,
];

async fn remember_device(world: &World, who: &Someone) -> String {
    let answer =
        world.post("/auth/remember-me", json!({ "email": who.email })).by(who).send().await;
    let cookie = answer.header("set-cookie").to_owned();
    let token = answer.ok()["remember_token"].as_str().unwrap().to_owned();
    assert!(cookie.starts_with(&format!("dermaga_remember={token};")), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    token
}

async fn resume(world: &World, email: &str, token: &str) -> Answer {
    let call = world.post("/auth/remember-me", json!({ "email": email }));
    call.header("x-remember-token", token).send().await
}

async fn a_device_is_enrolled_and_resumes(world: World) {
    let made = world.partner("made@bahari.id").await;
    let first = remember_device(&world, &made).await;
    let data = resume(&world, "Made@Bahari.id", &first).await.ok();
    assert_eq!(data["token_type"], "Bearer");
    assert_eq!(data["user"]["email"], "made@bahari.id");
    let second = data["remember_token"].as_str().unwrap();
    assert_ne!(second, first);
    world.get("/user/me").with_token(data["access_token"].as_str().unwrap()).send().await.ok();

    // In the cookie it works the same.
    let call = world.post("/auth/remember-me", json!({ "email": "made@bahari.id" }));
    let cookie = format!("other=1; dermaga_remember={second}");
    call.header("cookie", &cookie).send().await.ok();
}

async fn an_email_alone_opens_nothing(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ketut = world.partner("ketut@bahari.id").await;
    let token = remember_device(&world, &made).await;
    let alone = world.post("/auth/remember-me", json!({ "email": "made@bahari.id" }));
    alone.send().await.is(401, "unauthenticated");
    resume(&world, "made@bahari.id", "rubbish").await.is(401, "unauthenticated");
    resume(&world, "ketut@bahari.id", &token).await.is(401, "unauthenticated");
    let foreign = world.post("/auth/remember-me", json!({ "email": "made@bahari.id" }));
    foreign.by(&ketut).send().await.is(401, "unauthenticated");
    let stale = world.post("/auth/remember-me", json!({ "email": "made@bahari.id" }));
    stale.with_token("rubbish").send().await.is(401, "unauthenticated");
    // None of that has spent the token.
    resume(&world, "made@bahari.id", &token).await.ok();
}

async fn a_rotated_token_kills_its_family(world: World) {
    let made = world.partner("made@bahari.id").await;
    let stolen = remember_device(&world, &made).await;
    let elsewhere = remember_device(&world, &made).await;
    let resumed = resume(&world, "made@bahari.id", &stolen).await.ok();
    let session = resumed["access_token"].as_str().unwrap();
    let newest = resumed["remember_token"].as_str().unwrap();

    resume(&world, "made@bahari.id", &stolen).await.is(401, "unauthenticated");
    resume(&world, "made@bahari.id", newest).await.is(401, "unauthenticated");
    world.get("/user/me").with_token(session).send().await.is(401, "unauthenticated");
    // The session that enrolled it and other devices go on.
    world.get("/user/me").by(&made).send().await.ok();
    resume(&world, "made@bahari.id", &elsewhere).await.ok();
}

async fn two_resumes_at_once_leave_no_second_way_in(world: World) {
    let made = world.partner("made@bahari.id").await;
    let token = remember_device(&world, &made).await;
    let (a, b, c) = tokio::join!(
        resume(&world, "made@bahari.id", &token),
        resume(&world, "made@bahari.id", &token),
        resume(&world, "made@bahari.id", &token),
    );
    let won = [&a, &b, &c].iter().filter(|answer| answer.status == 200).count();
    assert_eq!(won, 1);
    // The others used a token that was exchanged, so the device is revoked.
    assert_eq!(world.count("SELECT COUNT(*) FROM remember_tokens").await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM sessions WHERE family_id IS NOT NULL").await, 0);
}

async fn a_token_lives_thirty_days(world: World) {
    let made = world.partner("made@bahari.id").await;
    let token = remember_device(&world, &made).await;
    world.advances_clock(TimeDelta::days(30));
    resume(&world, "made@bahari.id", &token).await.is(401, "unauthenticated");
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM remember_tokens").await, 0);
}

async fn a_device_is_remembered_for_ninety_days_in_all(world: World) {
    let made = world.partner("made@bahari.id").await;
    let mut token = remember_device(&world, &made).await;
    for _ in 0..3 {
        world.advances_clock(TimeDelta::days(29));
        let data = resume(&world, "made@bahari.id", &token).await.ok();
        token = data["remember_token"].as_str().unwrap().to_owned();
    }
    // 87 days are over, three are left.
    world.advances_clock(TimeDelta::days(3) - TimeDelta::seconds(1));
    let answer = resume(&world, "made@bahari.id", &token).await;
    assert!(answer.header("set-cookie").contains("Max-Age=1;"), "{:?}", answer.headers);
    let last = answer.ok()["remember_token"].as_str().unwrap().to_owned();
    world.advances_clock(TimeDelta::seconds(1));
    resume(&world, "made@bahari.id", &last).await.is(401, "unauthenticated");
    // Another enrolment begins anew.
    let made = world.signs_in("made@bahari.id", "mitra").await;
    let token = remember_device(&world, &made).await;
    world.advances_clock(TimeDelta::days(29));
    resume(&world, "made@bahari.id", &token).await.ok();
}

async fn a_suspended_account_does_not_resume(world: World) {
    let made = world.partner("made@bahari.id").await;
    let token = remember_device(&world, &made).await;
    world.set_status(&made, "suspended").await;
    resume(&world, "made@bahari.id", &token).await.is(403, "account_suspended");
    world.set_status(&made, "active").await;
    resume(&world, "made@bahari.id", &token).await.ok();
}

async fn logout_forgets_the_device_that_it_comes_from(world: World) {
    let made = world.partner("made@bahari.id").await;
    let here = remember_device(&world, &made).await;
    let there = remember_device(&world, &made).await;
    let cookie = format!("dermaga_remember={here}");
    let call = world.post("/v1/auth/logout", json!({})).by(&made).header("cookie", &cookie);
    let answer = call.send().await;
    assert!(answer.header("set-cookie").starts_with("dermaga_remember=; Max-Age=0"));
    answer.ok();
    resume(&world, "made@bahari.id", &here).await.is(401, "unauthenticated");
    resume(&world, "made@bahari.id", &there).await.ok();
}
