//! Verifying e-mail addresses, and changing them.

use chrono::TimeDelta;
use dermaga::{
    accounts,
    config::{Config, Switch},
    invariants,
    kernel::{access::Rule, ids::Uuid},
};
use serde_json::{Value, json};

use crate::{
    harbour::{REQUIRED, boat, onboarding_body, route},
    on_both_engines,
    world::{Answer, PASSWORD, Someone, World, registration},
};

on_both_engines![
    a_registered_partner_verifies_its_address,
    verification_letters_are_counted,
    a_verification_expires_with_the_registration,
    an_invitation_and_a_reset_verify_the_address,
    a_link_serves_its_own_purpose_only,
    opening_a_page_uses_no_link,
    an_unverified_account_stores_little,
    a_registration_that_is_never_verified_is_deleted,
    what_is_verified_submitted_or_invited_is_not_deleted,
    a_deletion_and_a_verification_exclude_each_other,
    a_change_waits_for_the_new_mailbox,
    a_change_needs_the_password,
    a_stolen_session_cannot_guess_the_password,
    the_current_address_keeps_a_pending_change,
    a_newer_request_replaces_a_pending_one,
    few_changes_are_requested_within_an_hour,
    a_pending_change_is_cancelled_from_the_old_mailbox,
    a_confirmed_change_is_undone_from_the_old_mailbox,
    undoing_a_change_removes_a_later_second_factor,
    undoing_a_change_keeps_an_earlier_second_factor,
    the_first_link_undoes_a_chain_of_changes,
    a_later_link_leaves_earlier_changes,
    links_of_a_change_expire,
    a_link_that_is_used_twice_at_once_works_once,
    confirming_and_cancelling_at_once_ends_at_the_old_address,
    a_taken_address_is_refused,
    of_two_confirmations_of_one_address_one_succeeds,
    an_old_address_is_reserved_until_the_change_is_final,
    an_old_address_is_not_taken_while_it_is_confirmed,
    setting_a_password_cancels_a_pending_change,
    staff_cannot_take_a_partner_over,
    a_staff_member_confirms_its_new_address,
    the_latest_request_is_remembered,
    a_deleted_account_reserves_nothing,
    letters_tell_little_about_others,
];

const NEW: &str = "layar putih 7 dermaga tua";

async fn use_link(world: &World, path: &str, token: &str) -> Answer {
    world.post(path, json!({ "token": token })).send().await
}

async fn verify(world: &World, token: &str) -> Answer {
    use_link(world, "/auth/verify-email", token).await
}

async fn confirm(world: &World, token: &str) -> Answer {
    use_link(world, "/auth/confirm-email", token).await
}

async fn cancel(world: &World, token: &str) -> Answer {
    use_link(world, "/auth/cancel-email-change", token).await
}

async fn reset(world: &World, token: &str) -> Answer {
    reset_to(world, token, NEW).await
}

async fn reset_to(world: &World, token: &str, password: &str) -> Answer {
    let body = json!({ "token": token, "password": password, "cpassword": password });
    world.post("/auth/reset-password", body).send().await
}

fn profile(email: &str) -> Value {
    json!({
        "name": "Made Bahari", "email": email, "phone": "081234567890", "avatar_file_id": "",
        "current_password": PASSWORD,
    })
}

/// Requests another address and returns the links: to confirm it, and to cancel it.
async fn requests_email_change(world: &World, who: &Someone, email: &str) -> (String, String) {
    let me = world.get("/user/me").by(who).send().await.ok();
    let after = world.put("/user/me", profile(email)).by(who).send().await.ok();
    assert_eq!(after["pending_email"], email);
    assert_eq!(after["email"], me["email"], "it is not confirmed yet");
    world.delivers_outbox().await;
    (world.mailed_token(email), world.mailed_token(me["email"].as_str().unwrap()))
}

/// Every token in the letters to somebody, oldest first.
fn tokens_to(world: &World, email: &str) -> Vec<String> {
    let of_token = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    let letters = world.letters_to(email);
    let tokens = letters.iter().filter_map(|letter| letter.split("token=").nth(1));
    tokens.map(|after| after.chars().take_while(of_token).collect()).collect()
}

async fn address_of(world: &World, id: &str) -> (String, bool) {
    let statement = "SELECT email, email_verified FROM accounts WHERE id = $1";
    world.db().sql(statement).bind(id.parse::<Uuid>().unwrap()).one().await.unwrap()
}

async fn is_signed_out(world: &World, who: &Someone) {
    world.get("/user/me").by(who).send().await.is(401, "unauthenticated");
}

async fn registers(world: &World, email: &str) -> Someone {
    world.post("/auth/register-mitra", registration(email)).send().await.ok();
    world.delivers_outbox().await;
    world.signs_in(email, "mitra").await
}

async fn a_registered_partner_verifies_its_address(world: World) {
    let made = registers(&world, "made@bahari.id").await;
    let letters = world.letters_to("made@bahari.id");
    assert_eq!(letters.len(), 2, "the welcome and the link");
    assert!(letters.iter().any(|letter| letter.contains("8080/verify-email?token=")));
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!((&me["email_verified"], &me["pending_email"]), (&json!(false), &json!(null)));
    world.updates_onboarding(&made, json!({ "submit": true })).await.is(409, "email_unverified");
    world.updates_onboarding(&made, onboarding_body()).await.ok();
    world.uploads_documents(&made, &REQUIRED).await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.is(409, "email_unverified");
    let token = world.mailed_token("made@bahari.id");
    verify(&world, "rubbish").await.is(401, "invalid_token");
    verify(&world, "").await.has_field_errors(&[("token", "min_length")]);
    let (a, b) = tokio::join!(verify(&world, &token), verify(&world, &token));
    let (won, lost) = if a.status == 200 { (a, b) } else { (b, a) };
    won.ok();
    lost.is(401, "invalid_token");
    verify(&world, &token).await.is(401, "invalid_token");
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(me["email_verified"], true, "the session goes on");
    let submitted = world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    assert_eq!(submitted["status"], "in_review");
}

async fn verification_letters_are_counted(world: World) {
    let made = registers(&world, "made@bahari.id").await;
    let again = || world.post("/auth/resend-verification", json!({})).by(&made).send();
    for _ in 0..3 {
        again().await.ok();
        world.delivers_outbox().await;
    }
    let refused = again().await;
    assert_eq!(refused.header("retry-after"), "3600");
    refused.is(429, "too_many_requests");
    assert_eq!(tokens_to(&world, "made@bahari.id").len(), 4, "with that of the registration");
    world.advances_clock(TimeDelta::hours(1));
    again().await.ok();
    world.delivers_outbox().await;
    let tokens = tokens_to(&world, "made@bahari.id");
    assert_eq!(tokens.len(), 5);
    // Any of them will do.
    verify(&world, &tokens[1]).await.ok();
    again().await.is(409, "invalid_state");
    world.delivers_outbox().await;
    assert_eq!(tokens_to(&world, "made@bahari.id").len(), 5);
    world.post("/auth/resend-verification", json!({})).send().await.is(401, "unauthenticated");
}

async fn a_verification_expires_with_the_registration(world: World) {
    registers(&world, "made@bahari.id").await;
    registers(&world, "ketut@bahari.id").await;
    world.advances_clock(TimeDelta::days(7) - TimeDelta::seconds(1));
    world.app.sweep().await.unwrap();
    verify(&world, &world.mailed_token("made@bahari.id")).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    verify(&world, &world.mailed_token("ketut@bahari.id")).await.is(401, "invalid_token");
}

async fn an_invitation_and_a_reset_verify_the_address(world: World) {
    let admin = world.admin().await;
    let me = world.get("/user/me").by(&admin).send().await.ok();
    assert_eq!(me["email_verified"], true);
    let form = json!({ "name": "Komang", "email": "komang@dermaga.test" });
    let komang = world.post("/v1/users/admins", form).by(&admin).send().await.ok();
    assert_eq!(komang["email_verified"], false);
    world.delivers_outbox().await;
    reset(&world, &world.mailed_token("komang@dermaga.test")).await.ok();
    let path = format!("/v1/users/{}", komang["id"].as_str().unwrap());
    assert_eq!(world.get(&path).by(&admin).send().await.ok()["email_verified"], true);

    let made = registers(&world, "made@bahari.id").await;
    let link = world.mailed_token("made@bahari.id");
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    world.delivers_outbox().await;
    reset(&world, &world.mailed_token("made@bahari.id")).await.ok();
    assert_eq!(address_of(&world, &made.id).await, ("made@bahari.id".into(), true));
    // Whoever opens the first letter afterwards sees no error.
    verify(&world, &link).await.ok();
}

async fn a_link_serves_its_own_purpose_only(world: World) {
    let made = registers(&world, "made@bahari.id").await;
    let verification = world.mailed_token("made@bahari.id");
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    world.delivers_outbox().await;
    let forgotten = world.mailed_token("made@bahari.id");
    let (confirmation, cancellation) = requests_email_change(&world, &made, "new@bahari.id").await;
    for token in [&verification, &confirmation, &cancellation] {
        reset(&world, token).await.is(401, "invalid_token");
    }
    for token in [&forgotten, &confirmation, &cancellation] {
        verify(&world, token).await.is(401, "invalid_token");
    }
    for token in [&forgotten, &verification, &cancellation] {
        confirm(&world, token).await.is(401, "invalid_token");
    }
    for token in [&forgotten, &verification, &confirmation] {
        cancel(&world, token).await.is(401, "invalid_token");
    }
    confirm(&world, &confirmation).await.ok();
    // The links in the old mailbox are void, except for the one that undoes it.
    verify(&world, &verification).await.is(401, "invalid_token");
    reset(&world, &forgotten).await.is(401, "invalid_token");
    cancel(&world, &cancellation).await.ok();
}

async fn opening_a_page_uses_no_link(world: World) {
    let made = registers(&world, "made@bahari.id").await;
    let verification = world.mailed_token("made@bahari.id");
    let (confirmation, cancellation) = requests_email_change(&world, &made, "new@bahari.id").await;
    for (page, token) in [
        ("/verify-email", &verification),
        ("/confirm-email", &confirmation),
        ("/cancel-email-change", &cancellation),
    ] {
        let (status, headers, content) = world.get(&format!("{page}?token={token}")).bytes().await;
        assert_eq!(status, 200);
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self'"), "{policy}");
        let content = String::from_utf8(content).unwrap();
        assert!(content.contains(&format!("action=\"/console{page}\"")), "{content}");
        assert!(content.contains(&format!("name=\"token\" value=\"{token}\"")), "{content}");
    }
    verify(&world, &verification).await.ok();
    confirm(&world, &confirmation).await.ok();
    cancel(&world, &cancellation).await.ok();
}

async fn an_unverified_account_stores_little(world: World) {
    let made = registers(&world, "made@bahari.id").await;
    let query = format!("filename=a.png&content_type=image/png&size={}&purpose=photo", 5 << 20);
    let path = format!("/v1/files/presign-url?{query}");
    let ask = || world.get(&path).by(&made).send();
    let asked = futures_util::future::join_all((0..8).map(|_| ask())).await;
    let (granted, refused): (Vec<_>, Vec<_>) = asked.into_iter().partition(|a| a.status == 200);
    assert_eq!(granted.len(), 4, "20 MiB");
    for answer in refused {
        answer.is(409, "quota_exceeded");
    }
    verify(&world, &world.mailed_token("made@bahari.id")).await.ok();
    ask().await.ok();
}

async fn a_registration_that_is_never_verified_is_deleted(world: World) {
    let admin = world.admin().await;
    let made = registers(&world, "made@bahari.id").await;
    world.updates_onboarding(&made, onboarding_body()).await.ok();
    world.uploads_documents(&made, &["nib", "npwp"]).await.ok();
    let boat = world.post("/v1/speedboats", boat("GT. 1")).by(&made).send().await.ok();
    let mut plan = route(boat["id"].as_str().unwrap());
    plan["to"] = json!("Ujung");
    world.creates_route(&made, plan).await;
    let unverified = "SELECT COUNT(*) FROM harbours WHERE status = 'unverified'";
    assert_eq!(world.count(unverified).await, 1);
    requests_email_change(&world, &made, "arta@bahari.id").await;
    let mitra = world.partner_id(&made).await;
    let agreed = json!({ "mitra_id": mitra, "commission_rate": 5, "schedule": "manual" });
    world.post("/v1/settlements/configuration", agreed).by(&admin).send().await;
    assert_eq!(world.count("SELECT COUNT(*) FROM notifications").await, 1, "the admin's");
    world.advances_clock(TimeDelta::days(7) - TimeDelta::seconds(1));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM partners").await, 1);
    world.advances_clock(TimeDelta::seconds(1));
    // Every process does it, now and again at once.
    let (a, b) = tokio::join!(world.app.sweep(), world.app.sweep());
    a.and(b).unwrap();
    world.app.sweep().await.unwrap();
    assert_eq!(world.count(unverified).await, 0);
    for table in [
        "SELECT COUNT(*) FROM partners",
        "SELECT COUNT(*) FROM onboardings",
        "SELECT COUNT(*) FROM partner_documents",
        "SELECT COUNT(*) FROM files",
        "SELECT COUNT(*) FROM routes",
        "SELECT COUNT(*) FROM lines",
        "SELECT COUNT(*) FROM speedboats",
        "SELECT COUNT(*) FROM email_changes",
        "SELECT COUNT(*) FROM mailed_tokens",
        "SELECT COUNT(*) FROM notifications",
        "SELECT COUNT(*) FROM known_networks WHERE account_id NOT IN
           (SELECT id FROM accounts WHERE role = 'admin')",
        "SELECT COUNT(*) FROM set_aside",
        "SELECT COUNT(*) FROM accounts WHERE role = 'mitra' AND (deleted_at IS NULL
           OR name <> '' OR email <> '' OR phone IS NOT NULL OR password_hash IS NOT NULL)",
    ] {
        assert_eq!(world.count(table).await, 0, "{table}");
    }
    let admin = world.signs_in(&admin.email, "admin").await;
    let path = format!("/v1/mitra/manajemen/{mitra}/edit");
    world.get(&path).by(&admin).send().await.is(404, "not_found");
    world.login("made@bahari.id", "mitra").await.is(401, "invalid_credentials");
    // The address is free.
    world.partner("made@bahari.id").await;
    for checked in invariants::check(world.db()).await.unwrap() {
        assert!(checked.broken.is_empty(), "{}: {:?}", checked.rule, checked.broken);
    }
}

async fn what_is_verified_submitted_or_invited_is_not_deleted(world: World) {
    let admin = world.admin().await;
    world.partner("verified@bahari.id").await;
    world.submitted_partner("submitted@bahari.id").await;
    let unverified = "UPDATE accounts SET email_verified = FALSE
                      WHERE email = 'submitted@bahari.id'";
    world.db().sql(unverified).run().await.unwrap();
    let invited = json!({
        "name": "Made Bahari", "email": "invited@bahari.id", "phone": 81234567890_u64,
        "address": "Jl. Pantai Sanur 1", "partnerType": "individual",
    });
    world.post("/v1/mitra/manajemen", invited).by(&admin).send().await.ok();
    registers(&world, "gone@bahari.id").await;
    world.advances_clock(TimeDelta::days(30));
    world.app.sweep().await.unwrap();
    let left: Vec<(String,)> = world
        .db()
        .sql("SELECT email FROM accounts WHERE role = 'mitra' AND email <> '' ORDER BY email")
        .all()
        .await
        .unwrap();
    let left: Vec<_> = left.iter().map(|(email,)| email.as_str()).collect();
    assert_eq!(left, ["invited@bahari.id", "submitted@bahari.id", "verified@bahari.id"]);
    assert_eq!(world.count("SELECT COUNT(*) FROM partners").await, 3);
    world.signs_in("verified@bahari.id", "mitra").await;
}

async fn a_deletion_and_a_verification_exclude_each_other(world: World) {
    for n in 0..4 {
        let email = format!("n{n}@bahari.id");
        let made = registers(&world, &email).await;
        let token = world.mailed_token(&email);
        // The link is still valid when the account is due.
        let older = "UPDATE accounts SET created_at = $1 WHERE email = $2";
        let older = world.db().sql(older).bind(world.now() - TimeDelta::days(8));
        older.bind(email.clone()).run().await.unwrap();
        let (verified, swept) = tokio::join!(verify(&world, &token), world.app.sweep());
        swept.unwrap();
        let row: Vec<(Uuid,)> = world
            .db()
            .sql("SELECT id FROM partners WHERE account_id = $1")
            .bind(made.id.parse::<Uuid>().unwrap())
            .all()
            .await
            .unwrap();
        match verified.status {
            200 => assert_eq!((row.len(), address_of(&world, &made.id).await.0), (1, email)),
            _ => {
                verified.is(401, "invalid_token");
                assert_eq!((row.len(), address_of(&world, &made.id).await.0.as_str()), (0, ""));
            }
        }
    }
}

async fn a_change_waits_for_the_new_mailbox(world: World) {
    let made = world.partner("made@bahari.id").await;
    let elsewhere = world.signs_in("made@bahari.id", "mitra").await;
    let other = world.partner("ketut@bahari.id").await;
    let (confirmation, _) = requests_email_change(&world, &made, "arta@bahari.id").await;
    // Nothing has changed yet.
    world.signs_in("made@bahari.id", "mitra").await;
    world.login("arta@bahari.id", "mitra").await.is(401, "invalid_credentials");
    for email in ["made@bahari.id", "arta@bahari.id"] {
        let before = world.letters_to(email).len();
        world.post("/auth/forgot-password", json!({ "email": email })).send().await.ok();
        world.delivers_outbox().await;
        let sent = world.letters_to(email).len() - before;
        assert_eq!(sent, usize::from(email == "made@bahari.id"), "resets go to the old address");
    }
    confirm(&world, "rubbish").await.is(401, "invalid_token");
    confirm(&world, &confirmation).await.ok();
    confirm(&world, &confirmation).await.is(401, "invalid_token");
    is_signed_out(&world, &elsewhere).await;
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(me["email"], "arta@bahari.id", "the session that requested it goes on");
    world.get("/user/me").by(&other).send().await.ok();
    world.login("made@bahari.id", "mitra").await.is(401, "invalid_credentials");
    let arta = world.signs_in("arta@bahari.id", "mitra").await;
    let me = world.get("/user/me").by(&arta).send().await.ok();
    assert_eq!(me["id"], made.id);
    assert_eq!((&me["email_verified"], &me["pending_email"]), (&json!(true), &json!(null)));
    world.delivers_outbox().await;
    let letter = world.letters_to("made@bahari.id").pop().unwrap();
    assert!(letter.contains("Your e-mail address was changed"), "{letter}");
}

async fn a_change_needs_the_password(world: World) {
    let made = world.partner("made@bahari.id").await;
    let change = async |password: Value| {
        let mut form = profile("thief@bahari.id");
        form["name"] = json!("Thief");
        form["current_password"] = password;
        world.put("/user/me", form).by(&made).send().await
    };
    for missing in [json!(null), json!("")] {
        change(missing).await.has_field_errors(&[("current_password", "required")]);
    }
    change(json!("guess")).await.has_field_errors(&[("current_password", "wrong")]);
    change(json!("x".repeat(1025))).await.has_field_errors(&[("current_password", "max_length")]);
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!((&me["name"], &me["pending_email"]), (&json!("Made Bahari"), &json!(null)));
    world.delivers_outbox().await;
    assert!(world.letters_to("thief@bahari.id").is_empty());
    // Everything else needs none.
    let mut form = profile("made@bahari.id");
    form.as_object_mut().unwrap().remove("current_password");
    world.put("/user/me", form).by(&made).send().await.ok();
}

/// With limits, and behind a proxy that says where requests come from.
async fn with_rate_limits(world: World) -> World {
    let change = |config: &mut Config| {
        config.rate_limit = Switch(true);
        config.trusted_hops = 1;
    };
    world.with(change).await
}

async fn a_stolen_session_cannot_guess_the_password(world: World) {
    let world = with_rate_limits(world).await;
    let made = world.partner("made@bahari.id").await;
    world.partner("taken@bahari.id").await;
    let change = async |from: &str, email: &str, password: &str| {
        let mut form = profile(email);
        form["current_password"] = json!(password);
        let call = world.put("/user/me", form).by(&made);
        call.header("x-forwarded-for", from).send().await
    };
    // The right password does not count, whatever becomes of the request.
    for _ in 0..3 {
        change("198.51.100.1", "taken@bahari.id", PASSWORD).await.is(409, "email_taken");
    }
    for n in 0..10 {
        let answer = change(&format!("198.51.100.{n}"), "thief@bahari.id", "guess").await;
        answer.has_field_errors(&[("current_password", "wrong")]);
    }
    let answer = change("198.51.100.99", "thief@bahari.id", PASSWORD).await;
    answer.is(429, "too_many_requests");
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(me["pending_email"], json!(null));
    world.login("made@bahari.id", "mitra").await.ok();
}

async fn the_current_address_keeps_a_pending_change(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (confirmation, _) = requests_email_change(&world, &made, "arta@bahari.id").await;
    let mut form = profile("made@bahari.id");
    form["name"] = json!("Made Jaya");
    let after = world.put("/user/me", form).by(&made).send().await.ok();
    assert_eq!(
        (&after["name"], &after["pending_email"]),
        (&json!("Made Jaya"), &json!("arta@bahari.id"))
    );
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let form = json!({
        "name": "Made Baru", "email": "made@bahari.id", "phone": 81234567890_u64,
        "address": "Jl. Pantai Sanur 1", "partnerType": "company",
    });
    let after = world.put(&desk, form).by(&admin).send().await.ok();
    assert_eq!(
        (&after["name"], &after["pending_email"]),
        (&json!("Made Baru"), &json!("arta@bahari.id"))
    );
    assert_eq!(world.count("SELECT COUNT(*) FROM email_changes").await, 1);
    confirm(&world, &confirmation).await.ok();
}

async fn a_newer_request_replaces_a_pending_one(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (first, _) = requests_email_change(&world, &made, "one@bahari.id").await;
    let (second, _) = requests_email_change(&world, &made, "two@bahari.id").await;
    confirm(&world, &first).await.is(401, "invalid_token");
    // The same address again sends its letter again.
    let (third, _) = requests_email_change(&world, &made, "two@bahari.id").await;
    confirm(&world, &second).await.is(401, "invalid_token");
    confirm(&world, &third).await.ok();
    world.signs_in("two@bahari.id", "mitra").await;
    // Each notice cancels what was requested since.
    let notices = tokens_to(&world, "made@bahari.id");
    assert_eq!(notices.len(), 3);
    cancel(&world, &notices[0]).await.ok();
    world.signs_in("made@bahari.id", "mitra").await;
    for notice in &notices {
        cancel(&world, notice).await.is(401, "invalid_token");
    }
}

async fn few_changes_are_requested_within_an_hour(world: World) {
    let made = world.partner("made@bahari.id").await;
    for n in 0..5 {
        requests_email_change(&world, &made, &format!("n{n}@bahari.id")).await;
    }
    let more = || world.put("/user/me", profile("more@bahari.id")).by(&made).send();
    let answer = more().await;
    assert_eq!(answer.header("retry-after"), "3600");
    answer.is(429, "too_many_requests");
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(me["pending_email"], "n4@bahari.id");
    world.advances_clock(TimeDelta::hours(1));
    more().await.ok();
}

/// Signed in here and there, with a remembered device and a reset link.
struct WaysIn {
    sessions: Vec<Someone>,
    device: String,
    link: String,
}

async fn create_credentials(world: &World, email: &str) -> WaysIn {
    let here = world.signs_in(email, "mitra").await;
    let there = world.signs_in(email, "mitra").await;
    let enrolled = world.post("/auth/remember-me", json!({ "email": email })).by(&here);
    let device = enrolled.send().await.ok()["remember_token"].as_str().unwrap().to_owned();
    world.post("/auth/forgot-password", json!({ "email": email })).send().await.ok();
    world.delivers_outbox().await;
    WaysIn { sessions: vec![here, there], device, link: world.mailed_token(email) }
}

async fn assert_credentials_revoked(world: &World, email: &str, ways: &WaysIn) {
    for session in &ways.sessions {
        is_signed_out(world, session).await;
    }
    let resume = world.post("/auth/remember-me", json!({ "email": email }));
    let resume = resume.header("x-remember-token", &ways.device).send().await;
    resume.is(401, "unauthenticated");
    reset(world, &ways.link).await.is(401, "invalid_token");
}

async fn a_pending_change_is_cancelled_from_the_old_mailbox(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (confirmation, cancellation) =
        requests_email_change(&world, &made, "thief@bahari.id").await;
    let ways = create_credentials(&world, "made@bahari.id").await;
    cancel(&world, "rubbish").await.is(401, "invalid_token");
    cancel(&world, &cancellation).await.ok();
    cancel(&world, &cancellation).await.is(401, "invalid_token");
    confirm(&world, &confirmation).await.is(401, "invalid_token");
    is_signed_out(&world, &made).await;
    assert_credentials_revoked(&world, "made@bahari.id", &ways).await;
    let made = world.signs_in("made@bahari.id", "mitra").await;
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!((&me["email"], &me["pending_email"]), (&json!("made@bahari.id"), &json!(null)));
    // No address is kept of a change that is over.
    let kept = "SELECT COUNT(*) FROM email_changes
                WHERE old_email IS NOT NULL OR new_email IS NOT NULL";
    assert_eq!(world.count(kept).await, 0);
}

async fn a_confirmed_change_is_undone_from_the_old_mailbox(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (confirmation, cancellation) =
        requests_email_change(&world, &made, "thief@bahari.id").await;
    confirm(&world, &confirmation).await.ok();
    // Whoever has the account now sets a password; the link outlives that.
    world.post("/auth/forgot-password", json!({ "email": "thief@bahari.id" })).send().await.ok();
    world.delivers_outbox().await;
    reset_to(&world, &world.mailed_token("thief@bahari.id"), PASSWORD).await.ok();
    let ways = create_credentials(&world, "thief@bahari.id").await;
    cancel(&world, &cancellation).await.ok();
    cancel(&world, &cancellation).await.is(401, "invalid_token");
    assert_credentials_revoked(&world, "thief@bahari.id", &ways).await;
    assert_credentials_revoked(&world, "made@bahari.id", &ways).await;
    assert_eq!(address_of(&world, &made.id).await, ("made@bahari.id".into(), true));
    world.login("thief@bahari.id", "mitra").await.is(401, "invalid_credentials");
    // The owner gets the account back by its mailbox.
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    world.delivers_outbox().await;
    reset(&world, &world.mailed_token("made@bahari.id")).await.ok();
    // The other address is free.
    world.partner("thief@bahari.id").await;
}

/// Somebody who knows the password must not keep the account by a second factor of their own.
async fn undoing_a_change_removes_a_later_second_factor(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (confirmation, cancellation) = requests_email_change(&world, &made, "evil@bahari.id").await;
    confirm(&world, &confirmation).await.ok();
    let thief = world.signs_in("evil@bahari.id", "mitra").await;
    world.enrols(&thief).await;
    world.login("evil@bahari.id", "mitra").await.is(401, "second_factor_required");

    cancel(&world, &cancellation).await.ok();
    is_signed_out(&world, &thief).await;
    let holder = world.signs_in("made@bahari.id", "mitra").await;
    let me = world.get("/user/me").by(&holder).send().await.ok();
    assert_eq!(me["second_factor"], false);
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 0);
}

/// The old mailbox alone does not remove the holder's own second factor.
async fn undoing_a_change_keeps_an_earlier_second_factor(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.enrols(&made).await;
    world.advances_clock(TimeDelta::minutes(1));
    let (_, cancellation) = requests_email_change(&world, &made, "baru@bahari.id").await;
    cancel(&world, &cancellation).await.ok();
    world.login("made@bahari.id", "mitra").await.is(401, "second_factor_required");
    assert_eq!(world.count("SELECT COUNT(*) FROM recovery_codes").await, 10);
}

async fn the_first_link_undoes_a_chain_of_changes(world: World) {
    for confirmed in [false, true] {
        let (a, b, c) = match confirmed {
            false => ("a1@bahari.id", "b1@bahari.id", "c1@bahari.id"),
            true => ("a2@bahari.id", "b2@bahari.id", "c2@bahari.id"),
        };
        let owner = world.partner(a).await;
        let (to_b, from_a) = requests_email_change(&world, &owner, b).await;
        confirm(&world, &to_b).await.ok();
        let thief = world.signs_in(b, "mitra").await;
        let (to_c, from_b) = requests_email_change(&world, &thief, c).await;
        if confirmed {
            confirm(&world, &to_c).await.ok();
        }
        world.advances_clock(TimeDelta::days(7) - TimeDelta::seconds(1));
        world.app.sweep().await.unwrap();
        cancel(&world, &from_a).await.ok();
        assert_eq!(address_of(&world, &owner.id).await, (a.into(), true));
        is_signed_out(&world, &thief).await;
        // No later link brings the thief back.
        cancel(&world, &from_b).await.is(401, "invalid_token");
        confirm(&world, &to_c).await.is(401, "invalid_token");
        assert_eq!(address_of(&world, &owner.id).await, (a.into(), true));
        let me = world.signs_in(a, "mitra").await;
        let me = world.get("/user/me").by(&me).send().await.ok();
        assert_eq!(me["pending_email"], json!(null));
    }
}

async fn a_later_link_leaves_earlier_changes(world: World) {
    let owner = world.partner("a@bahari.id").await;
    let (to_b, from_a) = requests_email_change(&world, &owner, "b@bahari.id").await;
    confirm(&world, &to_b).await.ok();
    let owner = world.signs_in("b@bahari.id", "mitra").await;
    let (to_c, from_b) = requests_email_change(&world, &owner, "c@bahari.id").await;
    confirm(&world, &to_c).await.ok();
    cancel(&world, &from_b).await.ok();
    assert_eq!(address_of(&world, &owner.id).await.0, "b@bahari.id");
    // The way back to the first address is still open.
    let owner = world.signs_in("b@bahari.id", "mitra").await;
    let (to_a, from_b) = requests_email_change(&world, &owner, "a@bahari.id").await;
    confirm(&world, &to_a).await.ok();
    assert_eq!(address_of(&world, &owner.id).await.0, "a@bahari.id");
    cancel(&world, &from_a).await.ok();
    assert_eq!(address_of(&world, &owner.id).await.0, "a@bahari.id");
    cancel(&world, &from_b).await.is(401, "invalid_token");
}

async fn links_of_a_change_expire(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ketut = world.partner("ketut@bahari.id").await;
    let (late, _) = requests_email_change(&world, &made, "arta@bahari.id").await;
    let (in_time, undo) = requests_email_change(&world, &ketut, "putu@bahari.id").await;
    world.advances_clock(TimeDelta::hours(72) - TimeDelta::seconds(1));
    confirm(&world, &in_time).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    confirm(&world, &late).await.is(401, "invalid_token");
    world.app.sweep().await.unwrap();
    let made = world.signs_in("made@bahari.id", "mitra").await;
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!((&me["email"], &me["pending_email"]), (&json!("made@bahari.id"), &json!(null)));
    world.advances_clock(TimeDelta::hours(96));
    cancel(&world, &undo).await.is(401, "invalid_token");
    assert_eq!(address_of(&world, &ketut.id).await.0, "putu@bahari.id");
}

async fn a_link_that_is_used_twice_at_once_works_once(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (confirmation, cancellation) = requests_email_change(&world, &made, "arta@bahari.id").await;
    for (path, token) in
        [("/auth/confirm-email", &confirmation), ("/auth/cancel-email-change", &cancellation)]
    {
        let calls = (0..4).map(|_| use_link(&world, path, token));
        let answers = futures_util::future::join_all(calls).await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|a| a.status == 200);
        assert_eq!(won.len(), 1, "{path}");
        for answer in lost {
            answer.is(401, "invalid_token");
        }
    }
    assert_eq!(address_of(&world, &made.id).await.0, "made@bahari.id");
}

async fn confirming_and_cancelling_at_once_ends_at_the_old_address(world: World) {
    for n in 0..4 {
        let email = format!("made{n}@bahari.id");
        let made = world.partner(&email).await;
        let new = format!("arta{n}@bahari.id");
        let (confirmation, cancellation) = requests_email_change(&world, &made, &new).await;
        let (confirmed, cancelled) =
            tokio::join!(confirm(&world, &confirmation), cancel(&world, &cancellation));
        cancelled.ok();
        assert!([200, 401].contains(&confirmed.status), "{}", confirmed.body);
        assert_eq!(address_of(&world, &made.id).await.0, email);
        confirm(&world, &confirmation).await.is(401, "invalid_token");
    }
}

async fn a_taken_address_is_refused(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.partner("ketut@bahari.id").await;
    let change = world.put("/user/me", profile("Ketut@bahari.id")).by(&made).send().await;
    change.is(409, "email_taken");
    // Taken between the request and its confirmation.
    let (confirmation, _) = requests_email_change(&world, &made, "arta@bahari.id").await;
    world.partner("arta@bahari.id").await;
    confirm(&world, &confirmation).await.is(409, "email_taken");
    world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(address_of(&world, &made.id).await.0, "made@bahari.id");
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let form = json!({
        "name": "Made", "email": "ketut@bahari.id", "phone": 81234567890_u64,
        "address": "Jl. Pantai Sanur 1", "partnerType": "company",
    });
    world.put(&desk, form).by(&admin).send().await.is(409, "email_taken");
}

async fn of_two_confirmations_of_one_address_one_succeeds(world: World) {
    for n in 0..4 {
        let wanted = format!("wanted{n}@bahari.id");
        let made = world.partner(&format!("made{n}@bahari.id")).await;
        let ketut = world.partner(&format!("ketut{n}@bahari.id")).await;
        requests_email_change(&world, &made, &wanted).await;
        requests_email_change(&world, &ketut, &wanted).await;
        let tokens = tokens_to(&world, &wanted);
        let (a, b) = tokio::join!(confirm(&world, &tokens[0]), confirm(&world, &tokens[1]));
        let (won, lost) = if a.status == 200 { (a, b) } else { (b, a) };
        won.ok();
        lost.is(409, "email_taken");
    }
}

async fn an_old_address_is_reserved_until_the_change_is_final(world: World) {
    let made = world.partner("made@bahari.id").await;
    let ketut = world.partner("ketut@bahari.id").await;
    let (confirmation, _) = requests_email_change(&world, &made, "arta@bahari.id").await;
    confirm(&world, &confirmation).await.ok();
    let register = || world.post("/auth/register-mitra", registration("made@bahari.id")).send();
    register().await.is(409, "email_taken");
    let wish = || world.put("/user/me", profile("made@bahari.id")).by(&ketut).send();
    wish().await.is(409, "email_taken");
    let admin = world.admin().await;
    let invite = json!({ "name": "Komang", "email": "made@bahari.id" });
    let invite = world.post("/v1/users/admins", invite).by(&admin).send().await;
    invite.is(409, "email_taken");
    let form = |email: &str| {
        json!({
            "name": "Putu", "email": email, "phone": 81234567890_u64,
            "address": "Jl. Pantai Sanur 1", "partnerType": "company",
        })
    };
    let putu = world.post("/v1/mitra/manajemen", form("putu@bahari.id")).by(&admin).send().await;
    let desk = format!("/v1/mitra/manajemen/{}", putu.ok()["id"].as_str().unwrap());
    // An invited account changes at once, and not to this one.
    let answer = world.put(&desk, form("made@bahari.id")).by(&admin).send().await;
    answer.is(409, "email_taken");
    for checked in invariants::check(world.db()).await.unwrap() {
        assert!(checked.broken.is_empty(), "{}: {:?}", checked.rule, checked.broken);
    }
    world.advances_clock(TimeDelta::days(7));
    world.app.sweep().await.unwrap();
    register().await.ok();
}

/// Somebody waits for an address that is just being left.
async fn an_old_address_is_not_taken_while_it_is_confirmed(world: World) {
    for n in 0..4 {
        let email = format!("made{n}@bahari.id");
        let made = world.partner(&email).await;
        let (confirmation, cancellation) =
            requests_email_change(&world, &made, &format!("arta{n}@bahari.id")).await;
        let register = || world.post("/auth/register-mitra", registration(&email)).send();
        let (confirmed, a, b, c) =
            tokio::join!(confirm(&world, &confirmation), register(), register(), register());
        confirmed.ok();
        for answer in [a, b, c] {
            answer.is(409, "email_taken");
        }
        cancel(&world, &cancellation).await.ok();
        assert_eq!(address_of(&world, &made.id).await.0, email);
    }
}

async fn setting_a_password_cancels_a_pending_change(world: World) {
    let made = world.partner("made@bahari.id").await;
    let (confirmation, cancellation) = requests_email_change(&world, &made, "one@bahari.id").await;
    let change = json!({ "current_password": PASSWORD, "password": NEW, "cpassword": NEW });
    world.put("/user/me/password", change).by(&made).send().await.ok();
    confirm(&world, &confirmation).await.is(401, "invalid_token");
    cancel(&world, &cancellation).await.is(401, "invalid_token");
    let me = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(me["pending_email"], json!(null));

    let mut form = profile("two@bahari.id");
    form["current_password"] = json!(NEW);
    world.put("/user/me", form).by(&made).send().await.ok();
    world.delivers_outbox().await;
    let confirmation = world.mailed_token("two@bahari.id");
    world.post("/auth/forgot-password", json!({ "email": "made@bahari.id" })).send().await.ok();
    world.delivers_outbox().await;
    reset(&world, &world.mailed_token("made@bahari.id")).await.ok();
    confirm(&world, &confirmation).await.is(401, "invalid_token");
}

/// The letter with the link that cancels a change.
fn cancellation_mail_to(world: &World, email: &str) -> String {
    let letters = world.letters_to(email);
    let notice = letters.iter().rev().find(|letter| letter.contains("/cancel-email-change"));
    notice.expect("a notice was sent").clone()
}

async fn staff_cannot_take_a_partner_over(world: World) {
    let made = world.partner("made@bahari.id").await;
    let clerk = world.staff("ayu@dermaga.test", &[Rule::PartnersWrite, Rule::PartnersRead]).await;
    let desk = world.partner_path(&made).await;
    let change = async |email: &str| {
        let form = json!({
            "name": "Made Bahari", "email": email, "phone": 81234567890_u64,
            "address": "Jl. Pantai Sanur 1", "partnerType": "company",
        });
        let after = world.put(&desk, form).by(&clerk).send().await.ok();
        world.delivers_outbox().await;
        after
    };
    let after = change("evil@bahari.id").await;
    assert_eq!(
        (&after["email"], &after["pending_email"]),
        (&json!("made@bahari.id"), &json!("evil@bahari.id"))
    );
    let shown = world.get(&format!("{desk}/edit")).by(&clerk).send().await.ok();
    assert_eq!(shown["pending_email"], "evil@bahari.id");
    world.get("/user/me").by(&made).send().await.ok();
    // The new mailbox gets no password before it is confirmed.
    world.post("/auth/forgot-password", json!({ "email": "evil@bahari.id" })).send().await.ok();
    world.delivers_outbox().await;
    assert_eq!(tokens_to(&world, "evil@bahari.id").len(), 1, "only the confirmation");
    // The partner is told, and rules.
    let notice = cancellation_mail_to(&world, "made@bahari.id");
    assert!(notice.contains("An administrator of Dermaga asked"), "{notice}");
    assert!(!notice.contains("ayu@dermaga.test") && !notice.contains("Wayan"), "{notice}");
    confirm(&world, &world.mailed_token("evil@bahari.id")).await.ok();
    cancel(&world, &world.mailed_token("made@bahari.id")).await.ok();
    assert_eq!(address_of(&world, &made.id).await.0, "made@bahari.id");
    // The change of staff is audited with both addresses.
    let admin = world.admin().await;
    let log = world.get("/v1/audit-logs?action=partner.updated").by(&admin).send().await.ok();
    assert_eq!(log[0]["before"]["pending_email"], json!(null));
    assert_ne!(log[0]["after"], log[0]["before"]);
}

async fn a_staff_member_confirms_its_new_address(world: World) {
    let admin = world.admin().await;
    let putu = world.staff("putu@dermaga.test", &[Rule::UsersRead]).await;
    let found = world.get("/v1/staffs?search=putu@dermaga.test").by(&admin).send().await.ok();
    let record = &found["items"][0];
    let form = json!({
        "name": "Putu", "email": "baru@dermaga.test", "msisdn": "081234567890",
        "join_date": "2026-11-01", "status": "active", "permission_id": record["permission_id"],
        "working_type": "contract", "show_salary": true, "salary": 1,
        "address": { "street": "", "city": "", "province": "", "postal_code": "" },
        "bank_account": { "bank_code": "BCA", "account_number": "12345", "account_name": "Putu" },
    });
    let path = format!("/v1/staff/{}", record["id"].as_str().unwrap());
    let after = world.put(&path, form).by(&admin).send().await.ok();
    assert_eq!(after["email"], "putu@dermaga.test");
    assert_eq!(after["pending_email"], "baru@dermaga.test");
    assert_eq!(world.get(&path).by(&admin).send().await.ok()["pending_email"], "baru@dermaga.test");
    world.get("/user/me").by(&putu).send().await.ok();
    world.delivers_outbox().await;
    confirm(&world, &world.mailed_token("baru@dermaga.test")).await.ok();
    is_signed_out(&world, &putu).await;
    world.signs_in("baru@dermaga.test", "staff").await;
}

async fn last_change_by(world: &World, id: &str) -> Option<String> {
    let mut tx = world.db().begin().await.unwrap();
    let by = accounts::last_email_change_by(&mut tx, id.parse().unwrap()).await.unwrap();
    by.map(|id| id.to_string())
}

async fn the_latest_request_is_remembered(world: World) {
    let made = world.partner("made@bahari.id").await;
    let clerk = world.staff("ayu@dermaga.test", &[Rule::PartnersWrite]).await;
    assert_eq!(last_change_by(&world, &made.id).await, None);
    let (confirmation, _) = requests_email_change(&world, &made, "arta@bahari.id").await;
    assert_eq!(last_change_by(&world, &made.id).await, None, "its own requests do not count");
    confirm(&world, &confirmation).await.ok();
    let arta = world.signs_in("arta@bahari.id", "mitra").await;
    let desk = world.partner_path(&arta).await;
    let form = |email: &str| {
        json!({
            "name": "Made Bahari", "email": email, "phone": 81234567890_u64,
            "address": "Jl. Pantai Sanur 1", "partnerType": "company",
        })
    };
    world.put(&desk, form("evil@bahari.id")).by(&clerk).send().await.ok();
    assert_eq!(
        last_change_by(&world, &made.id).await,
        Some(clerk.id.clone()),
        "also while pending"
    );
    world.delivers_outbox().await;
    cancel(&world, &world.mailed_token("arta@bahari.id")).await.ok();
    assert_eq!(
        last_change_by(&world, &made.id).await,
        Some(clerk.id.clone()),
        "also when cancelled"
    );
    world.advances_clock(TimeDelta::days(365));
    world.app.sweep().await.unwrap();
    assert_eq!(last_change_by(&world, &made.id).await, Some(clerk.id), "it is never forgotten");

    // Also the change of an invited account, which acts at once.
    let clerk = world.signs_in("ayu@dermaga.test", "staff").await;
    let putu = world.post("/v1/mitra/manajemen", form("putu@bahari.id")).by(&clerk).send().await;
    let putu = putu.ok();
    let account = putu["user_id"].as_str().unwrap();
    assert_eq!(last_change_by(&world, account).await, None);
    let desk = format!("/v1/mitra/manajemen/{}", putu["id"].as_str().unwrap());
    let after = world.put(&desk, form("evil@bahari.id")).by(&clerk).send().await.ok();
    assert_eq!(
        (&after["email"], &after["pending_email"]),
        (&json!("evil@bahari.id"), &json!(null))
    );
    assert_eq!(last_change_by(&world, account).await, Some(clerk.id));
}

async fn a_deleted_account_reserves_nothing(world: World) {
    let admin = world.admin().await;
    let putu = world.staff("putu@dermaga.test", &[]).await;
    let (confirmation, cancellation) =
        requests_email_change(&world, &putu, "baru@dermaga.test").await;
    confirm(&world, &confirmation).await.ok();
    let found = world.get("/v1/staffs?search=baru@dermaga.test").by(&admin).send().await.ok();
    let path = format!("/v1/staff/{}", found["items"][0]["id"].as_str().unwrap());
    world.delete(&path).by(&admin).send().await.ok();
    cancel(&world, &cancellation).await.is(401, "invalid_token");
    for email in ["putu@dermaga.test", "baru@dermaga.test"] {
        world.account(email, "admin").await;
    }
}

async fn letters_tell_little_about_others(world: World) {
    let made = world.partner("made@bahari.id").await;
    let call = world.put("/user/me", profile("secret.arta@bahari.id")).by(&made);
    call.header("accept-language", "id").send().await.ok();
    world.delivers_outbox().await;
    let notice = cancellation_mail_to(&world, "made@bahari.id");
    assert!(notice.contains("Alamat e-mail Anda akan diubah") || notice.contains("Batalkan"));
    assert!(
        notice.contains("s***@bahari.id") && notice.contains("8080/cancel-email-change?token=")
    );
    assert!(!notice.contains("secret.arta"), "{notice}");
    let letter = world.letters_to("secret.arta@bahari.id").pop().unwrap();
    assert!(letter.contains("8080/confirm-email?token="));
    for personal in ["made@bahari.id", "Made Bahari", "+62812"] {
        assert!(!letter.contains(personal), "{letter}");
    }
    // No link rests in clear.
    for email in ["made@bahari.id", "secret.arta@bahari.id"] {
        let token = world.mailed_token(email);
        let hashes: Vec<(Vec<u8>,)> =
            world.db().sql("SELECT token_hash FROM mailed_tokens").all().await.unwrap();
        assert!(hashes.iter().all(|(hash,)| hash.len() == 32 && hash != token.as_bytes()));
    }
}
