//! The second factor, recent sign-ins, and who must have one.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use dermaga::{
    api,
    config::{Config, RequireSecondFactor, Switch},
    kernel::{
        access::{Access, Rule},
        ids,
        secret::Secret,
    },
    table::{BeforeEnrolment, Operation},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Answer, PASSWORD, Someone, World},
};

on_both_engines![
    enrolling_takes_the_password_and_a_code,
    a_pending_secret_does_not_count_and_lapses,
    confirming_ends_every_other_way_in,
    a_code_works_once,
    of_logins_at_the_same_moment_with_one_code_one_succeeds,
    a_code_may_be_one_step_early_or_late,
    a_recovery_code_works_once,
    of_logins_at_the_same_moment_with_one_recovery_code_one_succeeds,
    wrong_codes_lock_like_wrong_passwords,
    codes_are_guessed_from_everywhere_together,
    a_right_password_without_a_code_is_neither_failure_nor_success,
    a_remembered_device_needs_no_code,
    removing_takes_the_password_and_a_code,
    a_stolen_token_takes_nothing_over,
    a_stolen_token_cannot_guess,
    an_admin_resets_the_factor_of_somebody_else,
    a_deleted_account_leaves_no_secret,
    reauthenticating_makes_this_session_recent,
    reauthenticating_takes_the_code_as_well,
    a_resumed_session_is_not_recent,
    an_impersonated_session_proves_nothing,
    exactly_the_marked_operations_need_a_recent_sign_in,
    whoever_must_have_a_second_factor_sets_it_up_first,
    admins_alone_can_be_required,
    secrets_are_unreadable_at_rest,
    the_key_can_be_changed,
    the_log_tells_of_it_without_secrets,
    indonesian_passwords_are_refused,
    admins_and_staff_need_twelve_characters,
];

const ADMIN: &str = "admin@dermaga.test";
const HOME: &str = "203.0.113.7";
const NEW: &str = "layar putih 7 dermaga tua";

async fn begin(world: &World, who: &Someone, password: &str) -> Answer {
    world.post("/user/me/totp", json!({ "current_password": password })).by(who).send().await
}

async fn confirm(world: &World, who: &Someone, code: &str) -> Answer {
    world.post("/user/me/totp/confirm", json!({ "code": code })).by(who).send().await
}

async fn remove(world: &World, who: &Someone, password: &str, code: &str) -> Answer {
    let body = json!({ "current_password": password, "code": code });
    world.delete("/user/me/totp").json(body).by(who).send().await
}

async fn reauthenticate(world: &World, who: &Someone, body: Value) -> Answer {
    world.post("/user/me/reauthenticate", body).by(who).send().await
}

/// Needs a recent sign-in.
async fn create_webhook(world: &World, who: &Someone) -> Answer {
    let body = json!({ "url": "https://hooks.example", "events": ["terms.published"] });
    world.post("/v1/webhooks", body).by(who).send().await
}

async fn me(world: &World, who: &Someone) -> Answer {
    world.get("/user/me").by(who).send().await
}

/// With limits, and behind a proxy that says where requests come from.
async fn with_rate_limits(world: World) -> World {
    let change = |config: &mut Config| {
        config.rate_limit = Switch(true);
        config.trusted_hops = 1;
    };
    world.with(change).await
}

async fn login_from(world: &World, address: &str, password: &str, code: Option<&str>) -> Answer {
    let body = json!({ "email": ADMIN, "password": password, "role": "any", "code": code });
    world.post("/v1/auth/login", body).header("x-forwarded-for", address).send().await
}

async fn failures(world: &World, network: &str) -> i32 {
    let row: Option<(i32,)> = world
        .db()
        .sql("SELECT failures FROM login_failures WHERE email = $1 AND network = $2")
        .bind(ADMIN)
        .bind(network.to_owned())
        .maybe()
        .await
        .unwrap();
    row.map_or(0, |(failures,)| failures)
}

async fn enrolling_takes_the_password_and_a_code(world: World) {
    let admin = world.admin().await;
    assert_eq!(me(&world, &admin).await.ok()["second_factor"], false);
    begin(&world, &admin, "guess").await.has_field_errors(&[("current_password", "wrong")]);
    confirm(&world, &admin, "123456").await.is(409, "invalid_state");
    let begun = begin(&world, &admin, PASSWORD).await.ok();
    let secret = begun["secret"].as_str().unwrap();
    assert_eq!(secret.len(), 32, "160 bits");
    let url = begun["otpauth_url"].as_str().unwrap();
    assert!(url.starts_with("otpauth://totp/Dermaga:admin%40dermaga%2Etest?"), "{url}");
    assert!(url.contains(&format!("secret={secret}&issuer=Dermaga&algorithm=SHA1")), "{url}");
    let svg = begun["qr_svg"].as_str().unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");

    let app = crate::authenticator::Authenticator::new(secret);
    let wrong = app.wrong_code(world.now());
    confirm(&world, &admin, &wrong).await.has_field_errors(&[("code", "wrong")]);
    confirm(&world, &admin, "").await.has_field_errors(&[("code", "min_length")]);
    let codes = confirm(&world, &admin, &app.code(world.now())).await.ok();
    let codes = codes["recovery_codes"].as_array().unwrap().iter();
    let codes: BTreeSet<_> = codes.map(|code| code.as_str().unwrap()).collect();
    assert_eq!(codes.len(), 10);
    assert_eq!(me(&world, &admin).await.ok()["second_factor"], true);
    let path = format!("/v1/users/{}", admin.id);
    assert_eq!(world.get(&path).by(&admin).send().await.ok()["second_factor"], true);

    // Once it is set up it stays, until it is removed.
    begin(&world, &admin, PASSWORD).await.is(409, "invalid_state");
    confirm(&world, &admin, &app.code(world.now())).await.is(409, "invalid_state");
    world.delivers_outbox().await;
    let letter = world.letters_to(ADMIN).pop().unwrap();
    assert!(letter.contains("Two-factor authentication is on"), "{letter}");
}

async fn a_pending_secret_does_not_count_and_lapses(world: World) {
    let admin = world.admin().await;
    let first = begin(&world, &admin, PASSWORD).await.ok();
    world.login(ADMIN, "admin").await.ok();
    assert_eq!(me(&world, &admin).await.ok()["second_factor"], false);
    remove(&world, &admin, PASSWORD, "123456").await.is(409, "invalid_state");
    // Begun again, it is another one.
    let second = begin(&world, &admin, PASSWORD).await.ok();
    assert_ne!(first["secret"], second["secret"]);
    let app =
        |begun: &Value| crate::authenticator::Authenticator::new(begun["secret"].as_str().unwrap());
    let stale = app(&first).code(world.now());
    confirm(&world, &admin, &stale).await.has_field_errors(&[("code", "wrong")]);
    world.advances_clock(TimeDelta::minutes(30));
    let late = app(&second).code(world.now());
    confirm(&world, &admin, &late).await.is(409, "invalid_state");
}

async fn confirming_ends_every_other_way_in(world: World) {
    let here = world.admin().await;
    let there = world.signs_in(ADMIN, "admin").await;
    let bystander = world.partner("made@bahari.id").await;
    let enrolled = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let enrolled = enrolled.by(&there).send().await.ok();
    world.enrols(&here).await;
    me(&world, &here).await.ok();
    me(&world, &bystander).await.ok();
    me(&world, &there).await.is(401, "unauthenticated");
    let resume = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let token = enrolled["remember_token"].as_str().unwrap();
    resume.header("x-remember-token", token).send().await.is(401, "unauthenticated");
}

async fn a_code_works_once(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    // The one that confirmed it is used up.
    let used = app.code(world.now());
    world.login_with_code(ADMIN, &used).await.is(401, "invalid_credentials");
    world.advances_clock(TimeDelta::seconds(30));
    let code = app.code(world.now());
    let spaced = format!("{} {}", &code[..3], &code[3..]);
    assert_eq!(world.login_with_code(ADMIN, &spaced).await.ok()["user"]["second_factor"], true);
    world.login_with_code(ADMIN, &code).await.is(401, "invalid_credentials");
    remove(&world, &admin, PASSWORD, &code).await.has_field_errors(&[("code", "wrong")]);
    for missing in [json!(null), json!(""), json!("  ")] {
        let body =
            json!({ "email": ADMIN, "password": PASSWORD, "role": "admin", "code": missing });
        let answer = world.post("/v1/auth/login", body).send().await;
        assert_eq!(answer.body["data"], json!(null));
        answer.is(401, "second_factor_required");
    }
    // Whoever does not know the password learns nothing.
    let body = json!({ "email": ADMIN, "password": "guess", "role": "admin" });
    world.post("/v1/auth/login", body).send().await.is(401, "invalid_credentials");
    world.login(ADMIN, "mitra").await.is(401, "invalid_credentials");
}

/// Sends the same login several times at once; how many succeeded.
async fn concurrent_logins(world: &World, code: &str) -> usize {
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let body = json!({ "email": ADMIN, "password": PASSWORD, "role": "admin", "code": code });
        let url = format!("http://{}/v1/auth/login", world.address);
        let call = crate::world::client().post(url).json(&body);
        calls.spawn(async move { call.send().await.unwrap().status().as_u16() });
    }
    let answers = calls.join_all().await;
    assert!(answers.iter().all(|status| [200, 401].contains(status)), "{answers:?}");
    answers.iter().filter(|status| **status == 200).count()
}

async fn of_logins_at_the_same_moment_with_one_code_one_succeeds(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    for _ in 0..3 {
        world.advances_clock(TimeDelta::seconds(30));
        assert_eq!(concurrent_logins(&world, &app.code(world.now())).await, 1);
    }
}

async fn a_code_may_be_one_step_early_or_late(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    world.advances_clock(TimeDelta::minutes(10));
    let code = |steps: i64| app.code(world.now() + TimeDelta::seconds(30 * steps));
    for far in [-2, 2] {
        world.login_with_code(ADMIN, &code(far)).await.is(401, "invalid_credentials");
    }
    for near in [-1, 0, 1] {
        world.login_with_code(ADMIN, &code(near)).await.ok();
    }
    for older in [-1, 0, 1] {
        world.login_with_code(ADMIN, &code(older)).await.is(401, "invalid_credentials");
    }
}

async fn a_recovery_code_works_once(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    let [first, second, ..] = &app.recovery_codes[..] else { panic!() };
    world.login_with_code(ADMIN, first).await.ok();
    world.login_with_code(ADMIN, first).await.is(401, "invalid_credentials");
    world.login_with_code(ADMIN, &second.to_lowercase().replace('-', " ")).await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 8);
    world.login_with_code(ADMIN, "AAAA-AAAA-AAAA-AAAA").await.is(401, "invalid_credentials");
    // Those of another account are worth nothing.
    let other = world.admin_with_email("other@dermaga.test").await;
    let theirs = world.enrols(&other).await;
    let foreign = &theirs.recovery_codes[0];
    world.login_with_code(ADMIN, foreign).await.is(401, "invalid_credentials");
    // A new second factor has codes of its own.
    remove(&world, &admin, PASSWORD, &app.recovery_codes[2]).await.ok();
    world.enrols(&admin).await;
    world.login_with_code(ADMIN, &app.recovery_codes[3]).await.is(401, "invalid_credentials");
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 20);
}

async fn of_logins_at_the_same_moment_with_one_recovery_code_one_succeeds(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    for code in &app.recovery_codes[..3] {
        assert_eq!(concurrent_logins(&world, code).await, 1);
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 7);
}

/// An admin with a second factor, who has signed in from home.
async fn admin_with_second_factor(world: &World) -> (Someone, crate::authenticator::Authenticator) {
    world.account(ADMIN, "admin").await;
    let session = login_from(world, HOME, PASSWORD, None).await.ok();
    let token = session["access_token"].as_str().unwrap().to_owned();
    let id = session["user"]["id"].as_str().unwrap().to_owned();
    let owner = Someone { token, id, email: ADMIN.into() };
    let app = world.enrols(&owner).await;
    world.advances_clock(TimeDelta::minutes(20));
    (owner, app)
}

async fn wrong_codes_lock_like_wrong_passwords(world: World) {
    let world = with_rate_limits(world).await;
    let (_, app) = admin_with_second_factor(&world).await;
    let wrong = app.wrong_code(world.now());
    for _ in 0..10 {
        login_from(&world, HOME, PASSWORD, Some(&wrong)).await.is(401, "invalid_credentials");
    }
    let right = app.code(world.now());
    login_from(&world, HOME, PASSWORD, Some(&right)).await.is(429, "too_many_requests");
    login_from(&world, HOME, PASSWORD, None).await.is(429, "too_many_requests");
    world.advances_clock(TimeDelta::minutes(15));
    let right = app.code(world.now());
    login_from(&world, HOME, PASSWORD, Some(&right)).await.ok();
    assert_eq!(failures(&world, HOME).await, 0, "a success clears the slate");
}

async fn codes_are_guessed_from_everywhere_together(world: World) {
    let world = with_rate_limits(world).await;
    let (_, app) = admin_with_second_factor(&world).await;
    let wrong = app.wrong_code(world.now());
    for n in 1..=10 {
        let address = format!("198.51.100.{n}");
        login_from(&world, &address, PASSWORD, Some(&wrong)).await.is(401, "invalid_credentials");
    }
    let right = app.code(world.now());
    let refused = login_from(&world, "198.51.100.99", PASSWORD, Some(&right)).await;
    refused.is(429, "too_many_requests");
    // The owner at home is not locked by them.
    login_from(&world, HOME, PASSWORD, Some(&right)).await.ok();
}

async fn a_right_password_without_a_code_is_neither_failure_nor_success(world: World) {
    let world = with_rate_limits(world).await;
    admin_with_second_factor(&world).await;
    for _ in 0..9 {
        login_from(&world, HOME, "guess", None).await.is(401, "invalid_credentials");
    }
    for _ in 0..3 {
        login_from(&world, HOME, PASSWORD, None).await.is(401, "second_factor_required");
        assert_eq!(failures(&world, HOME).await, 9);
    }
    login_from(&world, HOME, "guess", None).await.is(401, "invalid_credentials");
    login_from(&world, HOME, PASSWORD, None).await.is(429, "too_many_requests");
}

async fn a_remembered_device_needs_no_code(world: World) {
    let admin = world.admin().await;
    world.enrols(&admin).await;
    let enrolled = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let enrolled = enrolled.by(&admin).send().await.ok();
    let resume = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let token = enrolled["remember_token"].as_str().unwrap();
    resume.header("x-remember-token", token).send().await.ok();
}

async fn removing_takes_the_password_and_a_code(world: World) {
    let admin = world.admin().await;
    remove(&world, &admin, PASSWORD, "123456").await.is(409, "invalid_state");
    let app = world.enrols(&admin).await;
    world.advances_clock(TimeDelta::minutes(1));
    let code = app.code(world.now());
    remove(&world, &admin, "guess", &code).await.has_field_errors(&[("current_password", "wrong")]);
    let wrong = app.wrong_code(world.now());
    remove(&world, &admin, PASSWORD, &wrong).await.has_field_errors(&[("code", "wrong")]);
    let answer = world.delete("/user/me/totp").json(json!({})).by(&admin).send().await;
    answer.has_field_errors(&[("code", "required"), ("current_password", "required")]);
    remove(&world, &admin, PASSWORD, &code).await.ok();
    assert_eq!(me(&world, &admin).await.ok()["second_factor"], false);
    world.login(ADMIN, "admin").await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 0);
    world.delivers_outbox().await;
    let letter = world.letters_to(ADMIN).pop().unwrap();
    assert!(letter.contains("Two-factor authentication is off"), "{letter}");
}

async fn a_stolen_token_takes_nothing_over(world: World) {
    let stolen = world.admin().await;
    world.advances_clock(TimeDelta::minutes(61));
    begin(&world, &stolen, "guess").await.has_field_errors(&[("current_password", "wrong")]);
    confirm(&world, &stolen, "123456").await.is(409, "invalid_state");
    let change = json!({ "current_password": "guess", "password": NEW, "cpassword": NEW });
    let answer = world.put("/user/me/password", change).by(&stolen).send().await;
    answer.has_field_errors(&[("current_password", "wrong")]);
    create_webhook(&world, &stolen).await.is(403, "reauthentication_required");
    reauthenticate(&world, &stolen, json!({ "password": "guess" }))
        .await
        .has_field_errors(&[("password", "wrong")]);
    create_webhook(&world, &stolen).await.is(403, "reauthentication_required");

    let other = world.admin_with_email("other@dermaga.test").await;
    let app = world.enrols(&other).await;
    world.advances_clock(TimeDelta::minutes(61));
    let code = app.code(world.now());
    remove(&world, &other, "guess", &code).await.has_field_errors(&[("current_password", "wrong")]);
    // Nor does it free somebody else from theirs.
    let path = format!("/v1/users/{}/totp", other.id);
    let stolen = world.admin_with_email("third@dermaga.test").await;
    world.advances_clock(TimeDelta::minutes(61));
    world.delete(&path).by(&stolen).send().await.is(403, "reauthentication_required");
}

async fn a_stolen_token_cannot_guess(world: World) {
    let world = with_rate_limits(world).await;
    let (stolen, app) = admin_with_second_factor(&world).await;
    let wrong = app.wrong_code(world.now());
    let guess = async |n: i32| {
        let address = format!("198.51.100.{n}");
        let (body, path) = match n % 3 {
            0 => (json!({ "password": "guess", "code": "1" }), "/user/me/reauthenticate"),
            1 => (json!({ "current_password": "guess" }), "/user/me/totp"),
            // Even with the password: codes are counted, too.
            _ => (json!({ "password": PASSWORD, "code": wrong }), "/user/me/reauthenticate"),
        };
        world.post(path, body).by(&stolen).header("x-forwarded-for", &address).send().await
    };
    for n in 0..10 {
        let answer = guess(n).await;
        assert_eq!(answer.status, 422, "{}", answer.body);
    }
    for n in 10..13 {
        guess(n).await.is(429, "too_many_requests");
    }
    // The owner signs in all the same.
    let code = app.code(world.now());
    login_from(&world, HOME, PASSWORD, Some(&code)).await.ok();
}

async fn an_admin_resets_the_factor_of_somebody_else(world: World) {
    let admin = world.admin().await;
    let made = world.partner("made@bahari.id").await;
    let path = format!("/v1/users/{}/totp", made.id);
    let reset = async |path: &str, who: &Someone| world.delete(path).by(who).send().await;
    reset(&path, &admin).await.is(409, "invalid_state");
    world.enrols(&made).await;
    let clerk = world.staff("ayu@dermaga.test", Rule::ALL).await;
    reset(&path, &clerk).await.is(403, "forbidden");
    reset(&path, &made).await.is(403, "forbidden");
    let unknown = format!("/v1/users/{}/totp", ids::fresh());
    reset(&unknown, &admin).await.is(404, "not_found");
    let own = format!("/v1/users/{}/totp", admin.id);
    reset(&own, &admin).await.is(409, "invalid_state");
    world.enrols(&admin).await;
    reset(&own, &admin).await.is(409, "invalid_state");

    reset(&path, &admin).await.ok();
    me(&world, &made).await.is(401, "unauthenticated");
    let again = world.signs_in("made@bahari.id", "mitra").await;
    assert_eq!(me(&world, &again).await.ok()["second_factor"], false);
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    let told = letters.iter().any(|letter| letter.contains("Two-factor authentication is off"));
    assert!(told, "{letters:?}");
    // A pending one lapses with it: whoever began it may have been somebody else.
    begin(&world, &again, PASSWORD).await.ok();
    reset(&path, &admin).await.is(409, "invalid_state");
}

async fn a_deleted_account_leaves_no_secret(world: World) {
    let admin = world.admin().await;
    let clerk = world.staff("ayu@dermaga.test", &[Rule::StaffRead]).await;
    world.enrols(&clerk).await;
    let staff = world.get("/v1/staffs").by(&admin).send().await.ok();
    let path = format!("/v1/staff/{}", staff["items"][0]["id"].as_str().unwrap());
    world.delete(&path).by(&admin).send().await.ok();
    let secrets = "SELECT COUNT(*) FROM accounts WHERE totp_secret IS NOT NULL";
    assert_eq!(world.count(secrets).await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 0);
}

async fn reauthenticating_makes_this_session_recent(world: World) {
    let here = world.admin().await;
    let there = world.signs_in(ADMIN, "admin").await;
    world.advances_clock(TimeDelta::hours(1) - TimeDelta::seconds(1));
    create_webhook(&world, &here).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    create_webhook(&world, &here).await.is(403, "reauthentication_required");
    reauthenticate(&world, &here, json!({})).await.has_field_errors(&[("password", "required")]);
    // A code is ignored where there is no second factor.
    reauthenticate(&world, &here, json!({ "password": PASSWORD, "code": "123456" })).await.ok();
    create_webhook(&world, &here).await.ok();
    create_webhook(&world, &there).await.is(403, "reauthentication_required");
    world.advances_clock(TimeDelta::hours(1));
    create_webhook(&world, &here).await.is(403, "reauthentication_required");
    let fresh = world.signs_in(ADMIN, "admin").await;
    create_webhook(&world, &fresh).await.ok();
}

async fn reauthenticating_takes_the_code_as_well(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    world.advances_clock(TimeDelta::minutes(61));
    let code = app.code(world.now());
    let give = async |code: Value| {
        let body = json!({ "password": PASSWORD, "code": code });
        reauthenticate(&world, &admin, body).await
    };
    let bare = reauthenticate(&world, &admin, json!({ "password": PASSWORD })).await;
    bare.has_field_errors(&[("code", "required")]);
    give(json!(" ")).await.has_field_errors(&[("code", "required")]);
    give(json!(app.wrong_code(world.now()))).await.has_field_errors(&[("code", "wrong")]);
    create_webhook(&world, &admin).await.is(403, "reauthentication_required");
    give(json!(code)).await.ok();
    create_webhook(&world, &admin).await.ok();
    give(json!(code)).await.has_field_errors(&[("code", "wrong")]);
    give(json!(app.recovery_codes[0])).await.ok();
    give(json!(app.recovery_codes[0])).await.has_field_errors(&[("code", "wrong")]);
}

async fn a_resumed_session_is_not_recent(world: World) {
    let admin = world.admin().await;
    let enrolled = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let enrolled = enrolled.by(&admin).send().await.ok();
    let resume = world.post("/auth/remember-me", json!({ "email": ADMIN }));
    let token = enrolled["remember_token"].as_str().unwrap();
    let resumed = resume.header("x-remember-token", token).send().await.ok();
    let token = resumed["access_token"].as_str().unwrap().to_owned();
    let resumed = Someone { token, ..admin };
    me(&world, &resumed).await.ok();
    create_webhook(&world, &resumed).await.is(403, "reauthentication_required");
    reauthenticate(&world, &resumed, json!({ "password": PASSWORD })).await.ok();
    create_webhook(&world, &resumed).await.ok();
}

async fn an_impersonated_session_proves_nothing(world: World) {
    let admin = world.admin().await;
    let made = world.partner("made@bahari.id").await;
    let acting = world.impersonates(&world.partner_path(&made).await, &admin).await;
    begin(&world, &acting, PASSWORD).await.is(403, "forbidden");
    confirm(&world, &acting, "123456").await.is(403, "forbidden");
    remove(&world, &acting, PASSWORD, "123456").await.is(403, "forbidden");
    let body = json!({ "password": PASSWORD });
    reauthenticate(&world, &acting, body).await.is(403, "forbidden");
    let recent = "SELECT COUNT(*) FROM sessions
        WHERE impersonator_id IS NOT NULL AND authenticated_at IS NOT NULL";
    assert_eq!(world.count(recent).await, 0);
}

/// Calls an operation with rubbish.
async fn call_operation(world: &World, operation: &Operation, who: &Someone) -> Answer {
    let path = operation.path.replace("{id}", &ids::fresh().to_string());
    let path = path.replace("{delivery_id}", &ids::fresh().to_string());
    let call = world.call(operation.method.clone(), &path).by(who);
    let call = if operation.method == Method::GET { call } else { call.json(json!({})) };
    let answer = call.send().await;
    assert!(answer.status < 500, "{} {}: {}", operation.method, path, answer.body);
    answer
}

/// Neither ends the session nor answers for ever.
fn is_callable(operation: &&Operation) -> bool {
    !["logout", "stream_notifications"].contains(&operation.id)
}

async fn exactly_the_marked_operations_need_a_recent_sign_in(world: World) {
    let table = api::table(world.app.clone());
    let marked: BTreeSet<_> =
        table.operations().iter().filter(|op| op.recent_sign_in).map(|op| op.id).collect();
    assert_eq!(
        marked,
        BTreeSet::from([
            "approve_bank_account",
            "approve_journal",
            "create_permission",
            "create_reseller",
            "create_reseller_key",
            "create_staff",
            "create_webhook",
            "delete_permission",
            "delete_webhook",
            "impersonate_partner",
            "invite_admin",
            "release_settlement",
            "resend_delivery",
            "reset_totp",
            "update_permission",
            "update_staff",
            "update_webhook",
        ])
    );
    let old = [
        world.admin().await,
        world.staff("ayu@dermaga.test", Rule::ALL).await,
        world.partner("made@bahari.id").await,
    ];
    world.advances_clock(TimeDelta::minutes(61));
    let fresh = world.signs_in(ADMIN, "admin").await;
    let wanted = |answer: &Answer| {
        answer.status == 403 && answer.body["error"] == "reauthentication_required"
    };
    for operation in table.operations().iter().filter(is_callable) {
        for (n, who) in old.iter().enumerate() {
            let answer = call_operation(&world, operation, who).await;
            let admitted = match n {
                0 => operation.access != Access::Partner,
                1 => !matches!(operation.access, Access::Partner | Access::Admin),
                _ => false,
            };
            let expected = operation.recent_sign_in && admitted;
            assert_eq!(wanted(&answer), expected, "{} as {}", operation.id, who.email);
        }
        assert!(!wanted(&call_operation(&world, operation, &fresh).await), "{}", operation.id);
    }
}

async fn whoever_must_have_a_second_factor_sets_it_up_first(world: World) {
    let change = |config: &mut Config| config.require_second_factor = RequireSecondFactor::Staff;
    let world = world.with(change).await;
    let table = api::table(world.app.clone());
    let is_allowed = |op: &Operation| op.before_enrolment == BeforeEnrolment::Everybody;
    let allowed: BTreeSet<_> =
        table.operations().iter().filter(|op| is_allowed(op)).map(|op| op.id).collect();
    assert_eq!(allowed, BTreeSet::from(["confirm_totp", "enrol_totp", "logout"]));

    let admin = world.admin().await;
    let clerk = world.staff("ayu@dermaga.test", Rule::ALL).await;
    let partner = world.partner("made@bahari.id").await;
    let refused = |answer: &Answer| {
        answer.status == 403 && answer.body["error"] == "second_factor_enrolment_required"
    };
    for operation in table.operations() {
        let free = is_allowed(operation) || operation.access == Access::Public;
        if operation.id != "logout" {
            for who in [&admin, &clerk] {
                let answer = call_operation(&world, operation, who).await;
                assert_eq!(refused(&answer), !free, "{} as {}", operation.id, who.email);
            }
        }
        if is_callable(&operation) {
            assert!(
                !refused(&call_operation(&world, operation, &partner).await),
                "{}",
                operation.id
            );
        }
    }
    // Signing out works, and so does the way out.
    let third = world.signs_in(ADMIN, "admin").await;
    world.post("/v1/auth/logout", json!({})).by(&third).send().await.ok();
    let app = world.enrols(&admin).await;
    world.enrols(&clerk).await;
    for operation in table.operations().iter().filter(is_callable) {
        for who in [&admin, &clerk] {
            assert!(!refused(&call_operation(&world, operation, who).await), "{}", operation.id);
        }
    }
    // Whoever acts for a partner needs it as well.
    let acting = world.impersonates(&world.partner_path(&partner).await, &admin).await;
    me(&world, &acting).await.ok();
    world.get("/v1/dashboard").by(&acting).send().await.ok();
    remove(&world, &admin, PASSWORD, &app.recovery_codes[0]).await.ok();
    world.get("/v1/dashboard").by(&acting).send().await.is(403, "second_factor_enrolment_required");
    world.get("/v1/dashboard").by(&admin).send().await.is(403, "second_factor_enrolment_required");
}

async fn admins_alone_can_be_required(world: World) {
    let change = |config: &mut Config| config.require_second_factor = RequireSecondFactor::Admins;
    let world = world.with(change).await;
    let admin = world.admin().await;
    let clerk = world.staff("ayu@dermaga.test", &[Rule::UsersRead]).await;
    let users = async |who: &Someone| world.get("/v1/users").by(who).send().await;
    users(&admin).await.is(403, "second_factor_enrolment_required");
    users(&clerk).await.ok();
    world.enrols(&admin).await;
    users(&admin).await.ok();
}

async fn secrets_are_unreadable_at_rest(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    let clerk = world.staff("ayu@dermaga.test", &[]).await;
    let pending = begin(&world, &clerk, PASSWORD).await.ok();
    world.delivers_outbox().await;
    let everything = world.all_stored_data().await;
    assert!(everything.contains(ADMIN), "this is where they would be");
    let pending = pending["secret"].as_str().unwrap();
    assert!(!everything.contains(&app.secret) && !everything.contains(pending));
    for code in &app.recovery_codes {
        assert!(!everything.contains(code) && !everything.contains(&code.replace('-', "")));
    }
}

async fn the_key_can_be_changed(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    let key = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=";
    let world = world.restarts_with(|config| {
        let old = config.secret_key.replace(Secret::new(key));
        config.old_secret_keys.0.extend(old);
    });
    let world = world.await;
    world.advances_clock(TimeDelta::minutes(1));
    world.login_with_code(ADMIN, &app.code(world.now())).await.ok();
    assert_eq!(world.app.reseal().await.unwrap(), 1);
    assert_eq!(world.app.reseal().await.unwrap(), 0);
    // The old key is no longer needed, neither for codes nor for recovery codes.
    let world = world.restarts_with(|config| config.secret_key = Some(Secret::new(key))).await;
    world.advances_clock(TimeDelta::minutes(2));
    world.login_with_code(ADMIN, &app.code(world.now())).await.ok();
    world.login_with_code(ADMIN, &app.recovery_codes[0]).await.ok();
}

async fn the_log_tells_of_it_without_secrets(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    let body = json!({ "password": PASSWORD, "code": app.recovery_codes[0] });
    reauthenticate(&world, &admin, body).await.ok();
    remove(&world, &admin, PASSWORD, &app.recovery_codes[1]).await.ok();
    let entries = world.get("/v1/audit-logs?sort_dir=asc").by(&admin).send().await.ok();
    let actions: Vec<_> =
        entries.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        [
            "second_factor.started",
            "second_factor.enrolled",
            "session.reauthenticated",
            "second_factor.removed",
        ]
    );
    let text = entries.to_string();
    assert!(!text.contains(&app.secret));
    assert!(app.recovery_codes.iter().all(|code| !text.contains(code)));
}

async fn indonesian_passwords_are_refused(world: World) {
    for (n, weak) in
        ["katasandi", "Merdeka1945", "nusapenida2026", "Bismillah123", "S4y4ngku!", "Rahasia738214"]
            .into_iter()
            .enumerate()
    {
        let mut form = crate::world::registration(&format!("made{n}@bahari.id"));
        form["password"] = json!(weak);
        form["cpassword"] = json!(weak);
        let answer = world.post("/auth/register-mitra", form).send().await;
        answer.has_field_errors(&[("password", "weak")]);
    }
}

async fn admins_and_staff_need_twelve_characters(world: World) {
    const SHORT: &str = "xK9#mQ2$vL5";
    const LONG: &str = "xK9#mQ2$vL5p";
    let admin = world.admin().await;
    let invite = json!({ "name": "Komang", "email": "komang@dermaga.test" });
    world.post("/v1/users/admins", invite).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let token = world.mailed_token("komang@dermaga.test");
    let reset = async |password: &str| {
        let body = json!({ "token": token, "password": password, "cpassword": password });
        world.post("/auth/reset-password", body).send().await
    };
    reset(SHORT).await.has_field_errors(&[("password", "min_length")]);
    reset(LONG).await.ok();
    let change = async |who: &Someone, current: &str, new: &str| {
        let body = json!({ "current_password": current, "password": new, "cpassword": new });
        world.put("/user/me/password", body).by(who).send().await
    };
    change(&admin, PASSWORD, SHORT).await.has_field_errors(&[("password", "min_length")]);
    let clerk = world.staff("ayu@dermaga.test", &[]).await;
    change(&clerk, PASSWORD, SHORT).await.has_field_errors(&[("password", "min_length")]);
    // With a second factor eight will do, and for partners they always do.
    world.enrols(&clerk).await;
    change(&clerk, PASSWORD, SHORT).await.ok();
    let made = world.partner("made@bahari.id").await;
    change(&made, PASSWORD, SHORT).await.ok();
}
