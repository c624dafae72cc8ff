//! Forgotten, reset and changed passwords.

use chrono::TimeDelta;
use dermaga::{
    accounts,
    app::App,
    config::Switch,
    events::AccountLetter,
    kernel::{error::Result, outbox},
};
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Answer, PASSWORD, World},
};

on_both_engines![
    a_forgotten_password_is_reset_by_mail,
    forgetting_does_the_same_for_every_address,
    a_reset_ends_every_way_in,
    a_token_works_once_and_not_for_ever,
    two_resets_at_once_set_one_password,
    an_older_link_works_until_one_is_used,
    three_letters_are_sent_within_an_hour,
    letters_at_the_same_moment_do_not_slip_through,
    a_letter_that_is_sent_twice_counts_once,
    a_stolen_session_cannot_guess_the_password,
    a_reset_forgives_failures,
    a_letter_that_is_sent_twice_carries_one_link,
    a_new_address_voids_links_in_the_old_mailbox,
    an_invitation_is_accepted_within_72_hours,
    a_reset_password_must_be_good,
    a_password_is_changed_and_other_sessions_end,
    tokens_rest_nowhere_in_clear,
    letters_speak_indonesian_too,
];

const NEW: &str = "layar putih 7 dermaga tua";

async fn request_reset(world: &World, email: &str) {
    world.post("/auth/forgot-password", json!({ "email": email })).send().await.ok();
    world.delivers_outbox().await;
}

async fn reset(world: &World, token: &str, password: &str) -> Answer {
    let body = json!({ "token": token, "password": password, "cpassword": password });
    world.post("/auth/reset-password", body).send().await
}

async fn login_with(world: &World, password: &str) -> Answer {
    let body = json!({ "email": "made@bahari.id", "password": password, "role": "mitra" });
    world.post("/v1/auth/login", body).send().await
}

async fn a_forgotten_password_is_reset_by_mail(world: World) {
    world.partner("made@bahari.id").await;
    request_reset(&world, "MADE@bahari.id").await;
    let letters = world.letters_to("made@bahari.id");
    let letter = letters.iter().find(|letter| letter.contains("Choose a new password")).unwrap();
    assert!(letter.contains("http://127.0.0.1:8080/reset-password?token="));
    assert!(letter.contains("text/html") && letter.contains("text/plain"));
    reset(&world, &world.mailed_token("made@bahari.id"), NEW).await.ok();
    login_with(&world, PASSWORD).await.is(401, "invalid_credentials");
    login_with(&world, NEW).await.ok();
    world.delivers_outbox().await;
    let letter = world.letters_to("made@bahari.id").pop().unwrap();
    assert!(letter.contains("Your password was changed"));
}

async fn forgetting_does_the_same_for_every_address(world: World) {
    world.partner("made@bahari.id").await;
    world.delivers_outbox().await;
    let mut answers = Vec::new();
    for email in ["made@bahari.id", "nobody@bahari.id"] {
        let before = world.db().statements();
        let answer = world.post("/auth/forgot-password", json!({ "email": email })).send().await;
        answers.push((answer.body, world.db().statements() - before));
    }
    assert_eq!(answers[0], answers[1]);
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("made@bahari.id").len(), 2, "the welcome, and this one");
    assert_eq!(world.letters_to("nobody@bahari.id").len(), 0);
}

async fn a_reset_ends_every_way_in(world: World) {
    let here = world.partner("made@bahari.id").await;
    let there = world.signs_in("made@bahari.id", "mitra").await;
    let other = world.partner("ketut@bahari.id").await;
    let enrolled = world.post("/auth/remember-me", json!({ "email": "made@bahari.id" }));
    let enrolled = enrolled.by(&here).send().await.ok();
    request_reset(&world, "made@bahari.id").await;
    reset(&world, &world.mailed_token("made@bahari.id"), NEW).await.ok();
    world.get("/user/me").by(&here).send().await.is(401, "unauthenticated");
    world.get("/user/me").by(&there).send().await.is(401, "unauthenticated");
    world
        .post("/auth/remember-me", json!({ "email": "made@bahari.id" }))
        .header("x-remember-token", enrolled["remember_token"].as_str().unwrap())
        .send()
        .await
        .is(401, "unauthenticated");
    world.get("/user/me").by(&other).send().await.ok();
}

async fn a_token_works_once_and_not_for_ever(world: World) {
    world.partner("made@bahari.id").await;
    request_reset(&world, "made@bahari.id").await;
    let token = world.mailed_token("made@bahari.id");
    world.advances_clock(TimeDelta::minutes(30));
    reset(&world, &token, NEW).await.is(401, "invalid_token");
    request_reset(&world, "made@bahari.id").await;
    let token = world.mailed_token("made@bahari.id");
    reset(&world, &token, NEW).await.ok();
    reset(&world, &token, NEW).await.is(401, "invalid_token");
    reset(&world, "rubbish", NEW).await.is(401, "invalid_token");
}

async fn two_resets_at_once_set_one_password(world: World) {
    world.partner("made@bahari.id").await;
    request_reset(&world, "made@bahari.id").await;
    let token = world.mailed_token("made@bahari.id");
    let other = "karang biru 5 ikan terbang";
    let (a, b) = tokio::join!(reset(&world, &token, NEW), reset(&world, &token, other));
    let (won, lost, password) = if a.status == 200 { (a, b, NEW) } else { (b, a, other) };
    won.ok();
    lost.is(401, "invalid_token");
    login_with(&world, password).await.ok();
}

/// A crash between sending a letter and noting it sends the letter again.
async fn a_letter_that_is_sent_twice_carries_one_link(world: World) {
    world.partner("made@bahari.id").await;
    world.delivers_outbox().await;
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    let item = outbox::claim(world.db(), outbox::Queue::Mail, world.now(), 1)
        .await
        .unwrap()
        .pop()
        .unwrap();
    deliver(&world.app, &item).await.unwrap();
    let first = world.mailed_token("made@bahari.id");
    world.advances_clock(TimeDelta::seconds(61));
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("made@bahari.id").len(), 2, "the same letter, over the first");
    assert_eq!(world.mailed_token("made@bahari.id"), first);
    reset(&world, &first, NEW).await.ok();
}

async fn a_new_address_voids_links_in_the_old_mailbox(world: World) {
    let made = world.partner("made@bahari.id").await;
    request_reset(&world, "made@bahari.id").await;
    let token = world.mailed_token("made@bahari.id");
    let profile = json!({
        "name": "Made", "email": "new@bahari.id", "phone": "081234567890", "avatar_file_id": "",
        "current_password": PASSWORD,
    });
    world.put("/user/me", profile).by(&made).send().await.ok();
    world.delivers_outbox().await;
    let confirmation = json!({ "token": world.mailed_token("new@bahari.id") });
    world.post("/auth/confirm-email", confirmation).send().await.ok();
    reset(&world, &token, NEW).await.is(401, "invalid_token");
}

async fn an_older_link_works_until_one_is_used(world: World) {
    world.partner("made@bahari.id").await;
    let mut tokens = Vec::new();
    for _ in 0..3 {
        request_reset(&world, "made@bahari.id").await;
        tokens.push(world.mailed_token("made@bahari.id"));
        world.advances_clock(TimeDelta::minutes(10));
    }
    // Each lives its own 30 minutes.
    reset(&world, &tokens[0], NEW).await.is(401, "invalid_token");
    reset(&world, &tokens[1], NEW).await.ok();
    reset(&world, &tokens[1], NEW).await.is(401, "invalid_token");
    reset(&world, &tokens[2], NEW).await.is(401, "invalid_token");
}

async fn three_letters_are_sent_within_an_hour(world: World) {
    world.partner("made@bahari.id").await;
    world.partner("ketut@bahari.id").await;
    world.delivers_outbox().await;
    let letters = |email: &str| world.letters_to(email).len() - 1;
    for n in 1..=5 {
        request_reset(&world, "made@bahari.id").await;
        assert_eq!(letters("made@bahari.id"), n.min(3));
    }
    let third = world.mailed_token("made@bahari.id");
    request_reset(&world, "ketut@bahari.id").await;
    assert_eq!(letters("ketut@bahari.id"), 1, "each account has its own");
    // Neither the sweep nor the use of a link gives any back.
    reset(&world, &third, NEW).await.ok();
    world.advances_clock(TimeDelta::minutes(60) - TimeDelta::seconds(1));
    world.app.sweep().await.unwrap();
    request_reset(&world, "made@bahari.id").await;
    assert!(world.letters_to("made@bahari.id").pop().unwrap().contains("was changed"));
    let before = letters("made@bahari.id");
    world.advances_clock(TimeDelta::seconds(1));
    request_reset(&world, "made@bahari.id").await;
    assert_eq!(letters("made@bahari.id"), before + 1);
    let password = "karang biru 5 ikan terbang";
    reset(&world, &world.mailed_token("made@bahari.id"), password).await.ok();
    world.advances_clock(TimeDelta::days(1));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM mailed_tokens").await, 0);
}

/// Takes what waits to be mailed, as a process does that then crashes.
async fn claim(world: &World, limit: i64) -> Vec<outbox::Item> {
    outbox::claim(world.db(), outbox::Queue::Mail, world.now(), limit).await.unwrap()
}

async fn deliver(app: &App, item: &outbox::Item) -> Result<()> {
    let letter = AccountLetter::decode(&item.topic, &item.payload)?.unwrap();
    accounts::send_letter(app, item, letter).await
}

async fn letters_at_the_same_moment_do_not_slip_through(world: World) {
    world.partner("made@bahari.id").await;
    world.delivers_outbox().await;
    for _ in 0..12 {
        world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    }
    let items = claim(&world, 12).await;
    assert_eq!(items.len(), 12);
    let mut deliveries = tokio::task::JoinSet::new();
    for item in items {
        let app = world.app.clone();
        deliveries.spawn(async move { deliver(&app, &item).await });
    }
    for delivered in deliveries.join_all().await {
        delivered.unwrap();
    }
    assert_eq!(world.letters_to("made@bahari.id").len(), 1 + 3, "the welcome, and three links");
    assert_eq!(world.count("SELECT COUNT(*) FROM mailed_tokens").await, 3);
}

async fn a_letter_that_is_sent_twice_counts_once(world: World) {
    world.partner("made@bahari.id").await;
    world.delivers_outbox().await;
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    let item = claim(&world, 1).await.pop().unwrap();
    for _ in 0..4 {
        deliver(&world.app, &item).await.unwrap();
    }
    let first = world.mailed_token("made@bahari.id");
    request_reset(&world, "made@bahari.id").await;
    request_reset(&world, "made@bahari.id").await;
    assert_eq!(world.letters_to("made@bahari.id").len(), 1 + 3);
    let third = world.mailed_token("made@bahari.id");
    reset(&world, &third, NEW).await.ok();
    // Sent once more, the letter does not revive its link.
    deliver(&world.app, &item).await.unwrap();
    reset(&world, &first, NEW).await.is(401, "invalid_token");
}

/// With limits, and behind a proxy that says where requests come from.
async fn with_rate_limits(world: World) -> World {
    let change = |config: &mut dermaga::config::Config| {
        config.rate_limit = Switch(true);
        config.trusted_hops = 1;
    };
    world.with(change).await
}

async fn login_from(world: &World, address: &str, password: &str) -> Answer {
    let body = json!({ "email": "made@bahari.id", "password": password, "role": "mitra" });
    world.post("/v1/auth/login", body).header("x-forwarded-for", address).send().await
}

async fn a_stolen_session_cannot_guess_the_password(world: World) {
    let world = with_rate_limits(world).await;
    let register = crate::world::registration("made@bahari.id");
    world.post("/auth/register-mitra", register).send().await.ok();
    let session = login_from(&world, "203.0.113.7", PASSWORD).await.ok();
    let session = session["access_token"].as_str().unwrap();
    let change = async |address: &str, current: &str| {
        let body = json!({ "current_password": current, "password": NEW, "cpassword": NEW });
        let call = world.put("/user/me/password", body).with_token(session);
        call.header("x-forwarded-for", address).send().await
    };
    // From wherever the thief comes.
    for n in 0..10 {
        let answer = change(&format!("198.51.100.{n}"), "guess").await;
        answer.has_field_errors(&[("current_password", "wrong")]);
    }
    change("198.51.100.99", PASSWORD).await.is(429, "too_many_requests");
    // The owner signs in, from a known network and from any other.
    login_from(&world, "203.0.113.7", PASSWORD).await.ok();
    login_from(&world, "192.0.2.1", PASSWORD).await.ok();
    change("203.0.113.7", "typo").await.has_field_errors(&[("current_password", "wrong")]);
    change("203.0.113.7", PASSWORD).await.ok();
    login_from(&world, "203.0.113.7", NEW).await.ok();
}

async fn a_reset_forgives_failures(world: World) {
    let world = with_rate_limits(world).await;
    let register = crate::world::registration("made@bahari.id");
    world.post("/auth/register-mitra", register).send().await.ok();
    for _ in 0..10 {
        login_from(&world, "203.0.113.7", "typo").await.is(401, "invalid_credentials");
    }
    login_from(&world, "203.0.113.7", NEW).await.is(429, "too_many_requests");
    request_reset(&world, "made@bahari.id").await;
    let token = world.mailed_token("made@bahari.id");
    let body = json!({ "token": token, "password": NEW, "cpassword": NEW });
    let call = world.post("/auth/reset-password", body);
    call.header("x-forwarded-for", "203.0.113.7").send().await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM login_failures WHERE email <> ''").await, 0);
    // Others go on guessing: the network of the reset is known from now on.
    world
        .db()
        .sql(
            "INSERT INTO login_failures (email, network, failures, since)
             VALUES ('made@bahari.id', '', 100, $1)",
        )
        .bind(world.now())
        .run()
        .await
        .unwrap();
    login_from(&world, "192.0.2.1", NEW).await.is(429, "too_many_requests");
    login_from(&world, "203.0.113.7", NEW).await.ok();
}

async fn an_invitation_is_accepted_within_72_hours(world: World) {
    let admin = world.admin().await;
    let invite = async |name: &str| {
        let email = format!("{name}@dermaga.test");
        let form = json!({ "name": name, "email": email });
        world.post("/v1/users/admins", form).by(&admin).send().await.ok();
        world.delivers_outbox().await;
        world.mailed_token(&email)
    };
    let (komang, wayan) = (invite("komang").await, invite("wayan").await);
    world.advances_clock(TimeDelta::hours(72) - TimeDelta::seconds(1));
    reset(&world, &komang, NEW).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    reset(&world, &wayan, NEW).await.is(401, "invalid_token");
    let body = json!({ "email": "komang@dermaga.test", "password": NEW, "role": "admin" });
    world.post("/v1/auth/login", body).send().await.ok();
}

async fn a_reset_password_must_be_good(world: World) {
    world.partner("made@bahari.id").await;
    request_reset(&world, "made@bahari.id").await;
    let token = world.mailed_token("made@bahari.id");
    reset(&world, &token, "made bahari").await.has_field_errors(&[("password", "weak")]);
    reset(&world, &token, "short").await.has_field_errors(&[("password", "min_length")]);
    let body = json!({ "token": token, "password": NEW, "cpassword": "other" });
    let answer = world.post("/auth/reset-password", body).send().await;
    answer.has_field_errors(&[("cpassword", "same")]);
    // None of that has spent the token.
    reset(&world, &token, NEW).await.ok();
}

async fn a_password_is_changed_and_other_sessions_end(world: World) {
    let here = world.partner("made@bahari.id").await;
    let there = world.signs_in("made@bahari.id", "mitra").await;
    let change = async |current: &str, new: &str| {
        let body = json!({ "current_password": current, "password": new, "cpassword": new });
        world.put("/user/me/password", body).by(&here).send().await
    };
    change("not this", NEW).await.has_field_errors(&[("current_password", "wrong")]);
    change(PASSWORD, "made bahari").await.has_field_errors(&[("password", "weak")]);
    change(PASSWORD, NEW).await.ok();
    world.get("/user/me").by(&here).send().await.ok();
    world.get("/user/me").by(&there).send().await.is(401, "unauthenticated");
    login_with(&world, PASSWORD).await.is(401, "invalid_credentials");
    login_with(&world, NEW).await.ok();
}

async fn tokens_rest_nowhere_in_clear(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    let waiting: Value = world
        .db()
        .sql("SELECT payload FROM outbox ORDER BY id DESC LIMIT 1")
        .scalar()
        .await
        .unwrap();
    assert_eq!(waiting, json!({ "email": "made@bahari.id", "lang": "en" }));
    world.delivers_outbox().await;
    let token = world.mailed_token("made@bahari.id");
    for secret in [token, made.token] {
        for statement in ["SELECT token_hash FROM mailed_tokens", "SELECT token_hash FROM sessions"]
        {
            let hashes: Vec<(Vec<u8>,)> = world.db().sql(statement).all().await.unwrap();
            assert!(hashes.iter().all(|(hash,)| hash.len() == 32 && hash != secret.as_bytes()));
        }
    }
}

async fn letters_speak_indonesian_too(world: World) {
    world.partner("made@bahari.id").await;
    let call = world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" }));
    call.header("accept-language", "id-ID,id;q=0.9").send().await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    let letter = letters.iter().find(|letter| letter.contains("Pilih kata sandi baru")).unwrap();
    assert!(letter.contains("Halo Made Bahari"));
}
