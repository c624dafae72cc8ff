//! Signing in and out, sessions, lockout.

use chrono::TimeDelta;
use dermaga::config::Switch;
use serde_json::json;

use crate::{
    on_both_engines,
    world::{Answer, PASSWORD, World},
};

on_both_engines![
    an_admin_signs_in_and_out,
    an_answer_does_not_tell_whether_the_account_exists,
    a_right_password_of_a_suspended_account_says_so,
    an_invited_account_has_no_password_yet,
    a_session_ends_after_eight_hours,
    a_session_ends_after_two_hours_without_a_request,
    the_use_of_a_session_is_written_at_most_once_a_minute,
    a_login_for_any_role_finds_the_account_s_own,
    a_suspension_acts_on_the_next_request,
    bearer_headers_of_every_shape_are_understood_or_refused,
    ten_failures_lock_the_account_for_a_while,
    attempts_at_the_same_moment_do_not_slip_through,
    fifty_failures_lock_the_address,
    failures_elsewhere_do_not_lock_the_owner,
    guesses_from_many_networks_lock_unknown_ones,
    guesses_from_many_networks_at_the_same_moment_do_not_slip_through,
    a_network_is_known_for_thirty_days,
    a_remember_token_passes_where_its_network_is_locked,
    a_remember_token_is_no_way_to_guess,
    the_networks_of_a_site_are_limited_together,
    the_edge_limits_sites_too,
    a_flood_of_one_network_leaves_others_their_turn,
    own_sessions_are_listed_and_ended,
    what_a_login_and_a_request_cost,
];

async fn attempt(world: &World, email: &str, password: &str, role: &str) -> Answer {
    let body = json!({ "email": email, "password": password, "role": role });
    world.post("/v1/auth/login", body).send().await
}

/// As if it came from another address.
async fn attempt_from(world: &World, address: &str, email: &str, password: &str) -> Answer {
    let body = json!({ "email": email, "password": password, "role": "admin" });
    world.post("/v1/auth/login", body).header("x-forwarded-for", address).send().await
}

/// With limits, and behind a proxy that says where requests come from.
async fn with_rate_limits(world: World) -> World {
    let change = |config: &mut dermaga::config::Config| {
        config.rate_limit = Switch(true);
        config.trusted_hops = 1;
    };
    world.with(change).await
}

/// Failures that were counted before.
async fn failed_before(world: &World, email: &str, network: &str, failures: i32) {
    world
        .db()
        .sql(
            "INSERT INTO login_failures (email, network, failures, since) VALUES ($1, $2, $3, $4)
             ON CONFLICT (email, network) DO UPDATE SET failures = excluded.failures,
               since = excluded.since",
        )
        .bind(email.to_owned())
        .bind(network.to_owned())
        .bind(failures)
        .bind(world.now())
        .run()
        .await
        .unwrap();
}

/// How many failures are counted.
async fn failures(world: &World, email: &str, network: &str) -> i32 {
    let row: Option<(i32,)> = world
        .db()
        .sql("SELECT failures FROM login_failures WHERE email = $1 AND network = $2")
        .bind(email.to_owned())
        .bind(network.to_owned())
        .maybe()
        .await
        .unwrap();
    row.map_or(0, |(failures,)| failures)
}

const ADMIN: &str = "admin@dermaga.test";
const HOME: &str = "203.0.113.7";
const ELSEWHERE: &str = "198.51.100.9";

async fn an_admin_signs_in_and_out(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let data = world.login("Admin@Dermaga.Test", "admin").await.ok();
    assert_eq!(data["token_type"], "Bearer");
    assert_eq!(data["expires_in"], 8 * 3600);
    assert_eq!(data["expires_at"], "2026-11-15T11:00:00Z");
    assert_eq!(data["user"]["last_login_at"], "2026-11-15T03:00:00Z");
    let token = data["access_token"].as_str().unwrap();
    assert_eq!(token.len(), 43, "256 bits");

    world.get("/user/me").with_token(token).send().await.ok();
    world.post("/v1/auth/logout", json!({})).with_token(token).send().await.ok();
    world.get("/user/me").with_token(token).send().await.is(401, "unauthenticated");
    world
        .post("/v1/auth/logout", json!({}))
        .with_token(token)
        .send()
        .await
        .is(401, "unauthenticated");
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
        let (statements, verified) = (world.db().statements(), world.app.passwords().verified());
        let answer = attempt(&world, email, password, role).await;
        let mut body = answer.is(401, "invalid_credentials");
        body.as_object_mut().unwrap().remove("request_id");
        // The same work, so the same time: one verification, as many statements.
        let cost =
            (world.db().statements() - statements, world.app.passwords().verified() - verified);
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

/// Waits until the use of the session is written down, which happens beside the request.
async fn wait_for_session_use(world: &World) {
    let used = async || -> chrono::DateTime<chrono::Utc> {
        world.db().sql("SELECT MAX(last_used_at) FROM sessions").scalar().await.unwrap()
    };
    while used().await < world.now() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn a_session_ends_after_eight_hours(world: World) {
    let admin = world.admin().await;
    for _ in 0..4 {
        world.advances_clock(TimeDelta::hours(2) - TimeDelta::seconds(1));
        world.get("/user/me").by(&admin).send().await.ok();
        wait_for_session_use(&world).await;
    }
    world.advances_clock(TimeDelta::seconds(3));
    world.get("/user/me").by(&admin).send().await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    world.get("/user/me").by(&admin).send().await.is(401, "unauthenticated");
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM sessions").await, 0);
}

async fn a_session_ends_after_two_hours_without_a_request(world: World) {
    let admin = world.admin().await;
    let other = world.signs_in(&admin.email, "admin").await;
    world.advances_clock(TimeDelta::hours(2) - TimeDelta::seconds(1));
    world.get("/user/me").by(&admin).send().await.ok();
    wait_for_session_use(&world).await;
    let listed = world.get("/user/me/sessions").by(&admin).send().await.ok();
    let of = |current: bool| {
        let mut all = listed.as_array().unwrap().iter();
        all.find(|session| session["current"] == current).unwrap()["last_used_at"].clone()
    };
    assert_eq!(
        (of(true), of(false)),
        (json!("2026-11-15T04:59:59Z"), json!("2026-11-15T03:00:00Z"))
    );
    world.advances_clock(TimeDelta::seconds(1));
    world.get("/user/me").by(&other).send().await.is(401, "unauthenticated");
    let listed = world.get("/user/me/sessions").by(&admin).send().await.ok();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    world.advances_clock(TimeDelta::hours(2));
    world.get("/user/me").by(&admin).send().await.is(401, "unauthenticated");
}

/// Once a minute, however many requests there are.
async fn the_use_of_a_session_is_written_at_most_once_a_minute(world: World) {
    let admin = world.admin().await;
    let before = world.db().statements();
    for _ in 0..5 {
        world.get("/v1/users/statistics").by(&admin).send().await.ok();
        world.advances_clock(TimeDelta::seconds(11));
    }
    assert_eq!(world.db().statements() - before, 10, "two each, and no write");
    world.advances_clock(TimeDelta::seconds(5));
    world.get("/v1/users/statistics").by(&admin).send().await.ok();
    wait_for_session_use(&world).await;
    let before = world.db().statements();
    world.get("/v1/users/statistics").by(&admin).send().await.ok();
    assert_eq!(world.db().statements() - before, 2);
}

async fn a_login_for_any_role_finds_the_account_s_own(world: World) {
    world.account(ADMIN, "admin").await;
    world.partner("made@bahari.id").await;
    assert_eq!(world.login(ADMIN, "any").await.ok()["user"]["role"], "admin");
    assert_eq!(world.login("made@bahari.id", "any").await.ok()["user"]["role"], "mitra");
    attempt(&world, ADMIN, "wrong password", "any").await.is(401, "invalid_credentials");
    world.login(ADMIN, "captain").await.has_field_errors(&[("role", "enum")]);
    let body = json!({ "email": ADMIN, "password": PASSWORD });
    world.post("/v1/auth/login", body).send().await.has_field_errors(&[("role", "required")]);
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
    world.advances_clock(TimeDelta::minutes(15));
    world.login("admin@dermaga.test", "admin").await.ok();

    // A success clears the slate.
    for _ in 0..9 {
        attempt(&world, "admin@dermaga.test", "wrong password", "admin").await;
    }
    world.login("admin@dermaga.test", "admin").await.ok();
    attempt(&world, "admin@dermaga.test", "wrong password", "admin")
        .await
        .is(401, "invalid_credentials");
    assert_eq!(failures(&world, ADMIN, "127.0.0.1").await, 1);
}

/// Sends wrong passwords at the same moment, one from each address.
async fn guess_at_once(world: &World, addresses: impl Iterator<Item = String>) -> Vec<u16> {
    let mut calls = tokio::task::JoinSet::new();
    for address in addresses {
        let body = json!({ "email": ADMIN, "password": "guess", "role": "admin" });
        let url = format!("http://{}/v1/auth/login", world.address);
        let call = crate::world::client().post(url).json(&body);
        let call = call.header("x-forwarded-for", address);
        calls.spawn(async move { call.send().await.unwrap().status().as_u16() });
    }
    calls.join_all().await
}

async fn attempts_at_the_same_moment_do_not_slip_through(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    let before = world.app.passwords().verified();
    let answers = guess_at_once(&world, (0..40).map(|_| HOME.to_owned())).await;
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), 10);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 30);
    assert_eq!(world.app.passwords().verified() - before, 10);
}

async fn fifty_failures_lock_the_address(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    world.account("admin@dermaga.test", "admin").await;
    for n in 0..50 {
        let email = format!("nobody{n}@dermaga.test");
        attempt(&world, &email, "wrong password", "admin").await.is(401, "invalid_credentials");
    }
    world.login("admin@dermaga.test", "admin").await.is(429, "too_many_requests");
    world.advances_clock(TimeDelta::minutes(15));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM login_failures").await, 0);
}

async fn failures_elsewhere_do_not_lock_the_owner(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    for _ in 0..10 {
        attempt_from(&world, ELSEWHERE, ADMIN, "wrong password")
            .await
            .is(401, "invalid_credentials");
    }
    let answer = attempt_from(&world, ELSEWHERE, ADMIN, PASSWORD).await;
    assert_eq!(answer.header("retry-after"), "900");
    answer.is(429, "too_many_requests");
    // The owner has never signed in from here.
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    // That does not help whoever guesses, nor does it count against the owner.
    attempt_from(&world, ELSEWHERE, ADMIN, PASSWORD).await.is(429, "too_many_requests");
    assert_eq!(failures(&world, ADMIN, HOME).await, 0);
    assert_eq!(failures(&world, ADMIN, "").await, 10);
    assert_eq!(failures(&world, "", HOME).await, 0);
    // Other accounts may sign in from there.
    world.account("other@dermaga.test", "admin").await;
    attempt_from(&world, ELSEWHERE, "other@dermaga.test", PASSWORD).await.ok();
}

async fn guesses_from_many_networks_lock_unknown_ones(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    for email in [ADMIN, "nobody@dermaga.test"] {
        failed_before(&world, email, "", 98).await;
        for n in 1..=2 {
            let address = format!("198.51.100.{n}");
            attempt_from(&world, &address, email, "guess").await.is(401, "invalid_credentials");
        }
        attempt_from(&world, ELSEWHERE, email, PASSWORD).await.is(429, "too_many_requests");
    }
    // The owner's network is not locked by them; its own failures do.
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    for _ in 0..10 {
        attempt_from(&world, HOME, ADMIN, "typo").await.is(401, "invalid_credentials");
    }
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.is(429, "too_many_requests");
    assert_eq!(failures(&world, ADMIN, "").await, 100, "a known network counts for itself");
    world.advances_clock(TimeDelta::minutes(15));
    attempt_from(&world, ELSEWHERE, ADMIN, PASSWORD).await.ok();
}

async fn guesses_from_many_networks_at_the_same_moment_do_not_slip_through(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    failed_before(&world, ADMIN, "", 90).await;
    let answers = guess_at_once(&world, (1..=40).map(|n| format!("198.51.100.{n}"))).await;
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), 10);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 30);
    assert_eq!(failures(&world, ADMIN, "").await, 100);
}

async fn a_network_is_known_for_thirty_days(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    attempt_from(&world, "2001:db8:1:2:3:4:5:6", ADMIN, PASSWORD).await.ok();
    let networks: Vec<(String,)> =
        world.db().sql("SELECT network FROM known_networks ORDER BY network").all().await.unwrap();
    let networks: Vec<_> = networks.into_iter().map(|(network,)| network).collect();
    assert_eq!(networks, ["2001:db8:1:2::/64", HOME], "nothing more of the address is kept");

    // A sign-in of the same day is not written down again, one of another day is.
    world.advances_clock(TimeDelta::hours(23));
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    world.advances_clock(TimeDelta::days(30));
    world.app.sweep().await.unwrap();
    failed_before(&world, ADMIN, "", 100).await;
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    world.advances_clock(TimeDelta::days(31));
    failed_before(&world, ADMIN, "", 100).await;
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.is(429, "too_many_requests");
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM known_networks").await, 0);
}

async fn remember_device(world: &World, email: &str) -> String {
    let session = attempt_from(world, HOME, email, PASSWORD).await.ok();
    let call = world.post("/auth/remember-me", json!({ "email": email }));
    let call = call.with_token(session["access_token"].as_str().unwrap());
    call.send().await.ok()["remember_token"].as_str().unwrap().to_owned()
}

async fn attempt_with(world: &World, token: &str, password: &str) -> Answer {
    let body = json!({ "email": ADMIN, "password": password, "role": "admin" });
    let call = world.post("/v1/auth/login", body).header("x-forwarded-for", ELSEWHERE);
    call.header("x-remember-token", token).send().await
}

async fn a_remember_token_passes_where_its_network_is_locked(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    world.account("other@dermaga.test", "admin").await;
    let token = remember_device(&world, ADMIN).await;
    let foreign = remember_device(&world, "other@dermaga.test").await;
    failed_before(&world, ADMIN, "", 100).await;
    failed_before(&world, ADMIN, ELSEWHERE, 10).await;
    failed_before(&world, "", ELSEWHERE, 50).await;
    attempt_from(&world, ELSEWHERE, ADMIN, PASSWORD).await.is(429, "too_many_requests");
    attempt_with(&world, &foreign, PASSWORD).await.is(429, "too_many_requests");
    attempt_with(&world, "rubbish", PASSWORD).await.is(429, "too_many_requests");
    attempt_with(&world, &token, PASSWORD).await.ok();
    // In the cookie it works the same.
    let body = json!({ "email": ADMIN, "password": PASSWORD, "role": "admin" });
    let call = world.post("/v1/auth/login", body).header("x-forwarded-for", ELSEWHERE);
    call.header("cookie", &format!("dermaga_remember={token}")).send().await.ok();
    // Once it was replaced it is worth nothing.
    let call = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let resumed = call.header("x-remember-token", &token).send().await.ok();
    attempt_with(&world, &token, PASSWORD).await.is(429, "too_many_requests");
    let newer = resumed["remember_token"].as_str().unwrap();
    attempt_with(&world, newer, PASSWORD).await.ok();
    world.advances_clock(TimeDelta::days(30));
    failed_before(&world, ADMIN, ELSEWHERE, 10).await;
    attempt_with(&world, newer, PASSWORD).await.is(429, "too_many_requests");
}

/// However many devices a stolen session has enrolled.
async fn a_remember_token_is_no_way_to_guess(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    failed_before(&world, ADMIN, ELSEWHERE, 10).await;
    let tokens = [remember_device(&world, ADMIN).await, remember_device(&world, ADMIN).await];
    for n in 0..10 {
        attempt_with(&world, &tokens[n % 2], "guess").await.is(401, "invalid_credentials");
    }
    attempt_with(&world, &tokens[0], PASSWORD).await.is(429, "too_many_requests");
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
}

async fn the_networks_of_a_site_are_limited_together(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    // All addresses of a /64 are one network.
    for n in 1..=10 {
        let address = format!("2001:db8:1:1::{n}");
        attempt_from(&world, &address, ADMIN, "guess").await.is(401, "invalid_credentials");
    }
    attempt_from(&world, "2001:db8:1:1::99", ADMIN, PASSWORD).await.is(429, "too_many_requests");
    assert_eq!(failures(&world, "", "2001:db8:1::/48").await, 10);
    // All networks of a /48 have ten times what one has.
    failed_before(&world, "", "2001:db8:1::/48", 499).await;
    let guess = async |address: &str, email: &str| attempt_from(&world, address, email, "x").await;
    guess("2001:db8:1:2::1", "a@dermaga.test").await.is(401, "invalid_credentials");
    guess("2001:db8:1:3::1", "b@dermaga.test").await.is(429, "too_many_requests");
    guess("2001:db8:2:3::1", "b@dermaga.test").await.is(401, "invalid_credentials");
}

async fn the_edge_limits_sites_too(world: World) {
    let world = with_rate_limits(world).await;
    let register = async |address: &str| {
        let call = world.post("/auth/register-mitra", json!({}));
        call.header("x-forwarded-for", address).send().await
    };
    // Each network may send 20 in a minute, the site 200; it gets some back meanwhile.
    let mut refused = None;
    for n in 0..400 {
        let answer = register(&format!("2001:db8:1:{:x}::1", n / 10)).await;
        if answer.status == 429 {
            refused = Some((n, answer));
            break;
        }
        assert_eq!(answer.status, 422, "{}", answer.body);
    }
    let (n, answer) = refused.expect("the site is limited");
    assert!(n >= 200, "{n}");
    assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
    answer.is(429, "too_many_requests");
    assert_eq!(register("2001:db8:2::1").await.status, 422);
    assert_eq!(register(HOME).await.status, 422);
}

/// As many attempts as one network may make, all at once; what the queue does not take is not
/// counted as a failure.
async fn a_flood_of_one_network_leaves_others_their_turn(world: World) {
    let world = with_rate_limits(world).await;
    world.account(ADMIN, "admin").await;
    let mut flood = tokio::task::JoinSet::new();
    for n in 0..50 {
        let email = format!("nobody{n}@dermaga.test");
        let body = json!({ "email": email, "password": "guess", "role": "admin" });
        let url = format!("http://{}/v1/auth/login", world.address);
        let call = crate::world::client().post(url).json(&body);
        let call = call.header("x-forwarded-for", ELSEWHERE);
        flood.spawn(async move { call.send().await.unwrap().status().as_u16() });
    }
    attempt_from(&world, HOME, ADMIN, PASSWORD).await.ok();
    let answers = flood.join_all().await;
    let verified = answers.iter().filter(|status| **status == 401).count();
    let refused = answers.iter().filter(|status| **status == 503).count();
    assert_eq!(verified + refused, 50, "{answers:?}");
    assert_eq!(failures(&world, "", ELSEWHERE).await, verified as i32);
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
    world.signs_in("admin@dermaga.test", "admin").await;
    assert_eq!(world.db().statements() - before, 5, "the first from a network writes it down");
    let before = world.db().statements();
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    assert_eq!(world.db().statements() - before, 4, "statements of a login");
    let before = world.db().statements();
    world.get("/v1/users/statistics").by(&admin).send().await.ok();
    assert_eq!(world.db().statements() - before, 2, "one to know the caller, one for the answer");
}
