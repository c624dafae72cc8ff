//! Signing in and out, without a browser.

use chrono::TimeDelta;
use dermaga::{config::Switch, kernel::access::Rule};
use serde_json::json;

use crate::{
    on_both_engines,
    sites::session,
    world::{PASSWORD, World},
};

on_both_engines![
    a_person_signs_in_and_out,
    a_wrong_password_is_refused_and_keeps_the_address,
    a_second_factor_is_asked_for_in_a_second_step,
    a_remembered_device_resumes,
    pages_that_a_remembered_device_opens_at_once_do_not_revoke_it,
    a_form_from_another_site_changes_nothing,
    a_form_waits_for_a_sign_in_and_is_shown_again,
    an_old_sign_in_is_confirmed_before_a_grave_act,
    staff_act_for_a_partner_and_stop,
    a_tight_limit_of_an_operation_counts_for_its_page,
];

async fn a_person_signs_in_and_out(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let fields = [
        ("email", "admin@dermaga.test"),
        ("password", PASSWORD),
        ("_next", "/console/boats?page=2"),
    ];
    let signed_in = world.submits("/console/login", "", &fields).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, "/console/boats?page=2"));
    let cookies = signed_in.cookies();
    let line = signed_in.headers["set-cookie"].to_str().unwrap();
    assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
    assert_eq!(world.page("/console", &cookies).await.status, 200);
    let out = world.submits("/console/logout", &cookies, &[]).await;
    assert_eq!((out.status, out.location()), (303, "/console/login"));
    assert_eq!(world.page("/console", &cookies).await.status, 303, "the session has ended");
    let elsewhere =
        [("email", "admin@dermaga.test"), ("password", PASSWORD), ("_next", "//evil.test")];
    let signed_in = world.submits("/console/login", "", &elsewhere).await;
    assert_eq!(signed_in.location(), "/console");
}

async fn a_wrong_password_is_refused_and_keeps_the_address(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let fields = [
        ("email", "admin@dermaga.test"),
        ("password", "salah-sekali"),
        ("_next", "/console/boats"),
    ];
    let refused = world.submits("/console/login", "dermaga_lang=en", &fields).await;
    assert_eq!(refused.status, 401);
    refused.says("value=\"admin@dermaga.test\"");
    refused.says("value=\"/console/boats\"");
    assert!(!refused.html.contains("salah-sekali"), "a password is never shown");
    assert!(refused.cookies().is_empty());
}

async fn a_second_factor_is_asked_for_in_a_second_step(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    let fields = [("email", admin.email.as_str()), ("password", PASSWORD)];
    let asked = world.submits("/console/login", "dermaga_lang=en", &fields).await;
    assert_eq!(asked.status, 200);
    asked.says("Code of your authenticator app");
    assert!(!asked.html.contains(PASSWORD), "the password is sealed");
    let sealed = asked.html.split("name=\"_sealed\" value=\"").nth(1).unwrap();
    let sealed = sealed.split('"').next().unwrap().replace("&#x2b;", "+").replace("&#x2f;", "/");
    world.advances_clock(chrono::TimeDelta::minutes(1));
    let code = app.code(world.now());
    let wrong = app.wrong_code(world.now());
    let wrong =
        world.submits("/console/login", "", &[("_sealed", &sealed), ("_code", &wrong)]).await;
    assert_eq!(wrong.status, 401);
    let signed_in =
        world.submits("/console/login", "", &[("_sealed", &sealed), ("_code", &code)]).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, "/console"));
    world.advances_clock(chrono::TimeDelta::minutes(6));
    let code = app.code(world.now());
    let late = world.submits("/console/login", "", &[("_sealed", &sealed), ("_code", &code)]).await;
    assert_eq!(late.status, 200, "after five minutes the password is needed again");
}

async fn a_remembered_device_resumes(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let fields = [("email", "admin@dermaga.test"), ("password", PASSWORD), ("remember", "true")];
    let signed_in = world.submits("/console/login", "", &fields).await;
    let cookies = signed_in.cookies();
    let kept: Vec<_> =
        cookies.split("; ").filter(|pair| pair.starts_with("dermaga_remember")).collect();
    assert_eq!(kept.len(), 2, "{cookies}");
    let resumed = world.page("/console", &kept.join("; ")).await;
    assert_eq!(resumed.status, 200);
    assert!(resumed.cookies().contains("dermaga_session="));
    let forged =
        world.page("/console", "dermaga_remember=x; dermaga_remembered_email=a%40b.c").await;
    assert_eq!(forged.status, 303);
}

async fn pages_that_a_remembered_device_opens_at_once_do_not_revoke_it(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let fields = [("email", "admin@dermaga.test"), ("password", PASSWORD), ("remember", "true")];
    let cookies = world.submits("/console/login", "", &fields).await.cookies();
    let kept: Vec<_> =
        cookies.split("; ").filter(|pair| pair.starts_with("dermaga_remember")).collect();
    let kept = kept.join("; ");
    let resumed = world.page("/console", &kept).await;
    assert_eq!(resumed.status, 200);
    world.advances_clock(TimeDelta::seconds(29));
    // Another tab has sent the token that was just exchanged.
    assert_eq!(world.page("/console", &kept).await.status, 303);
    assert_eq!(world.page("/console", &resumed.cookies()).await.status, 200);
    // Later, the token was copied.
    world.advances_clock(TimeDelta::seconds(1));
    assert_eq!(world.page("/console", &kept).await.status, 303);
    assert_eq!(world.page("/console", &resumed.cookies()).await.status, 303);
}

async fn a_form_from_another_site_changes_nothing(world: World) {
    let admin = world.admin().await;
    let fields = [
        ("name", "PPN"),
        ("code", "PPN"),
        ("rate", "11"),
        ("applies_to", "booking"),
        ("is_active", "true"),
    ];
    let evil = "https://evil.test";
    let refused = world.submits_from(evil, "/console/taxes/new", &session(&admin), &fields).await;
    assert_eq!(refused.status, 403);
    assert_eq!(world.count("SELECT COUNT(*) FROM taxes").await, 0);
    let made = world.submits("/console/taxes/new", &session(&admin), &fields).await;
    assert_eq!((made.status, made.location()), (303, "/console/taxes"));
    assert_eq!(world.count("SELECT COUNT(*) FROM taxes").await, 1);
}

async fn a_form_waits_for_a_sign_in_and_is_shown_again(world: World) {
    let admin = world.admin().await;
    world.post("/v1/auth/logout", json!({})).by(&admin).send().await.ok();
    let fields = [("name", "Pajak Pelabuhan"), ("code", "PLB"), ("rate", "2,5")];
    let held = world.submits("/console/taxes/new", &session(&admin), &fields).await;
    assert_eq!(held.status, 401);
    held.says("name=\"held.name\" value=\"Pajak Pelabuhan\"");
    let fields = [
        ("email", admin.email.as_str()),
        ("password", PASSWORD),
        ("_resume", "/console/taxes/new"),
        ("held.name", "Pajak Pelabuhan"),
        ("held.rate", "2,5"),
    ];
    let shown = world.submits("/console/login", "dermaga_lang=en", &fields).await;
    assert_eq!(shown.status, 200);
    shown.says("action=\"/console/taxes/new\"");
    shown.says("value=\"Pajak Pelabuhan\"");
    assert!(shown.cookies().contains("dermaga_session="));
    assert_eq!(world.count("SELECT COUNT(*) FROM taxes").await, 0, "filled in, not sent");
}

async fn an_old_sign_in_is_confirmed_before_a_grave_act(world: World) {
    let admin = world.admin().await;
    world.advances_clock(chrono::TimeDelta::minutes(61));
    let cookies = session(&admin);
    let fields = [("name", "Ayu"), ("email", "ayu@dermaga.test")];
    let asked = world.submits("/console/users/new", &cookies, &fields).await;
    assert_eq!(asked.status, 403);
    asked.says("Confirm it is you");
    asked.says("name=\"held.email\" value=\"ayu@dermaga.test\"");
    let confirm = [
        ("password", PASSWORD),
        ("_resume", "/console/users/new"),
        ("held.email", "ayu@dermaga.test"),
    ];
    let shown = world.submits("/console/confirm", &cookies, &confirm).await;
    assert_eq!(shown.status, 200);
    shown.says("value=\"ayu@dermaga.test\"");
    let invited = world.submits("/console/users/new", &cookies, &fields).await;
    assert_eq!(invited.status, 303, "{}", invited.html);
}

async fn staff_act_for_a_partner_and_stop(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let id = world.partner_id(&partner).await;
    let rules = [Rule::PartnersRead, Rule::PartnersImpersonate, Rule::FleetRead];
    let staff = world.staff("ayu@dermaga.test", &rules).await;
    let path = format!("/console/partners/{id}/impersonate");
    let acting = world.submits(&path, &session(&staff), &[]).await;
    assert_eq!((acting.status, acting.location()), (303, "/console"));
    let cookies = format!("{}; {}", session(&staff), acting.cookies());
    let boats = world.page("/console/boats", &cookies).await;
    boats.says("You act as <strong>Made Bahari</strong>");
    assert!(!boats.html.contains("/console/boats/new"), "the impersonator may not change boats");
    assert_eq!(world.page("/console/boats/new", &cookies).await.status, 403);
    let account = world.page("/console/account", &cookies).await;
    assert!(!account.html.contains("/console/account/password"));
    let stopped = world.submits("/console/stop", &cookies, &[]).await;
    assert_eq!((stopped.status, stopped.location()), (303, "/console/partners"));
    let own = world.page("/console/partners", &session(&staff)).await;
    assert_eq!(own.status, 200);
    assert_eq!(world.page("/console/boats", &cookies).await.status, 200, "the own session goes on");
}

async fn a_tight_limit_of_an_operation_counts_for_its_page(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    let fields = [("email", "sari@example.com")];
    for _ in 0..20 {
        let sent = world.submits("/console/forgot", "", &fields).await;
        assert_eq!(sent.status, 303);
    }
    let refused = world.submits("/console/forgot", "dermaga_lang=en", &fields).await;
    assert_eq!(refused.status, 429);
    refused.says("Try again in");
    refused.says("value=\"sari@example.com\"");
    assert_eq!(world.page("/console/forgot", "").await.status, 200, "the page itself is open");
}
