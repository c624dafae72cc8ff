//! Managing partners: invitations, lists, suspension, and acting in their name.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    harbour::onboarding_body,
    on_both_engines,
    world::{PASSWORD, World},
};

on_both_engines![
    a_partner_is_invited_and_signs_in,
    an_invitation_is_mailed_again_until_it_is_accepted,
    a_partner_is_changed,
    faults_are_named,
    partners_are_listed_and_counted,
    an_overview_has_no_figures_of_its_own_making,
    an_overview_counts_what_was_sold,
    a_suspension_ends_the_sessions_and_is_undone,
    a_running_request_finishes_and_the_next_is_refused,
    two_suspensions_at_once_are_one,
    an_impersonated_session_says_who_is_behind_it,
    an_impersonator_may_not_do_what_is_the_partners_alone,
    an_impersonated_session_ends_with_its_time_its_rule_or_its_partner,
    what_an_impersonator_does_is_audited_in_both_names,
];

fn partner_body(email: &str) -> Value {
    json!({
        "name": "Made Bahari", "email": email, "phone": 81234567890_u64,
        "address": "Jl. Pantai Sanur 1", "partnerType": "individual",
    })
}

fn partner_path(partner: &Value) -> String {
    format!("/v1/mitra/manajemen/{}", partner["id"].as_str().unwrap())
}

async fn a_partner_is_invited_and_signs_in(world: World) {
    let desk_clerk = world.staff("ayu@dermaga.test", &[PartnersWrite]).await;
    let mut wanted = partner_body("Made@Bahari.id");
    wanted["commission_rate"] = json!(7.5);
    let made = world.post("/v1/mitra/manajemen", wanted).by(&desk_clerk).send().await.ok();
    assert_eq!(made["status"], "draft");
    assert_eq!(made["email"], "made@bahari.id");
    assert_eq!(made["phone"], "+6281234567890");
    assert_eq!(made["commission_rate"], 7.5);
    assert_eq!(made["speedboat_count"], 0);
    for empty in ["verified_at", "suspended_at", "suspended_reason"] {
        assert_eq!(made[empty], json!(null), "{empty}");
    }
    let again = world.post("/v1/mitra/manajemen", partner_body("made@bahari.id")).by(&desk_clerk);
    again.send().await.is(409, "email_taken");
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("made@bahari.id").len(), 1, "the invitation is its welcome");
    let token = world.mailed_token("made@bahari.id");
    let body = json!({ "token": token, "password": PASSWORD, "cpassword": PASSWORD });
    world.post("/auth/reset-password", body).send().await.ok();
    let made = world.signs_in("made@bahari.id", "mitra").await;
    assert_eq!(world.onboarding_status(&made).await, "draft");
}

async fn an_invitation_is_mailed_again_until_it_is_accepted(world: World) {
    let admin = world.admin().await;
    let made =
        world.post("/v1/mitra/manajemen", partner_body("made@bahari.id")).by(&admin).send().await;
    let path = format!("{}/resend-invitation", partner_path(&made.ok()));
    world.delivers_outbox().await;
    let first = world.mailed_token("made@bahari.id");
    world.post(&path, json!({})).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let second = world.mailed_token("made@bahari.id");
    let accept = |token: &str| {
        let body = json!({ "token": token, "password": PASSWORD, "cpassword": PASSWORD });
        world.post("/auth/reset-password", body).send()
    };
    accept(&first).await.is(401, "invalid_token");
    accept(&second).await.ok();
    world.post(&path, json!({})).by(&admin).send().await.is(409, "invalid_state");
}

async fn a_partner_is_changed(world: World) {
    let admin = world.admin().await;
    let mut wanted = partner_body("made@bahari.id");
    wanted["commission_rate"] = json!(5);
    let made = world.post("/v1/mitra/manajemen", wanted).by(&admin).send().await.ok();
    let path = partner_path(&made);
    let mut change = partner_body("new@bahari.id");
    change["name"] = json!("Made Jaya");
    change["partnerType"] = json!("company");
    let after = world.put(&path, change.clone()).by(&admin).send().await.ok();
    assert_eq!(after["name"], "Made Jaya");
    assert_eq!(after["email"], "new@bahari.id");
    assert_eq!(after["partnerType"], "company");
    assert_eq!(after["commission_rate"], 5, "what is left out stays");
    change["commission_rate"] = json!(null);
    let after = world.put(&path, change).by(&admin).send().await.ok();
    assert_eq!(after["commission_rate"], json!(null), "back to the default");
    let other = world.partner("other@bahari.id").await;
    world.put(&path, partner_body(&other.email)).by(&admin).send().await.is(409, "email_taken");
    let nowhere = partner_path(&json!({ "id": dermaga::kernel::ids::fresh().to_string() }));
    world.put(&nowhere, json!({})).by(&admin).send().await.is(404, "not_found");
    world
        .put("/v1/mitra/manajemen/rubbish", json!({}))
        .by(&admin)
        .send()
        .await
        .is(404, "not_found");
    let log = world.get("/v1/audit-logs?action=partner.updated").by(&admin).send().await.ok();
    assert_eq!(log[1]["before"]["email"], "[personal]");
    assert_eq!(log[1]["after"]["email"], "[personal]");
}

async fn faults_are_named(world: World) {
    let admin = world.admin().await;
    let rubbish = json!({
        "name": "", "email": "made", "phone": 1, "partnerType": "boat", "commission_rate": 100.5,
    });
    world.post("/v1/mitra/manajemen", rubbish).by(&admin).send().await.has_field_errors(&[
        ("address", "required"),
        ("commission_rate", "max"),
        ("email", "format"),
        ("name", "required"),
        ("partnerType", "enum"),
        ("phone", "format"),
    ]);
    let made = world.active_partner("made@bahari.id").await;
    let path = format!("{}/suspend", world.partner_path(&made).await);
    let suspend = |body| world.post(&path, body).by(&admin).send();
    suspend(json!({})).await.has_field_errors(&[("reason", "required")]);
    suspend(json!({ "reason": "  " })).await.has_field_errors(&[("reason", "required")]);
    let long = "x".repeat(1_001);
    suspend(json!({ "reason": long })).await.has_field_errors(&[("reason", "max_length")]);
}

async fn partners_are_listed_and_counted(world: World) {
    let reader = world.staff("ayu@dermaga.test", &[PartnersRead]).await;
    let admin = world.admin().await;
    world.advances_clock(-TimeDelta::days(20));
    for (name, kind) in [("Agus", "individual"), ("Budi", "company")] {
        let mut wanted = partner_body(&format!("{name}@bahari.id"));
        wanted["name"] = json!(name);
        wanted["partnerType"] = json!(kind);
        let admin = world.signs_in(&admin.email, "admin").await;
        world.post("/v1/mitra/manajemen", wanted).by(&admin).send().await.ok();
        world.advances_clock(TimeDelta::hours(1));
    }
    world.advances_clock(TimeDelta::days(20) - TimeDelta::hours(2));
    world.submitted_partner("citra@bahari.id").await;
    world.advances_clock(TimeDelta::minutes(1));
    world.active_partner("dewi@bahari.id").await;
    let list = async |query: &str| {
        let path = format!("/v1/mitra/manajemen?{query}");
        let answer = world.get(&path).by(&reader).send().await.ok();
        let emails = answer.as_array().unwrap().iter();
        emails.map(|p| p["email"].as_str().unwrap()[..1].to_owned()).collect::<String>()
    };
    assert_eq!(list("").await, "dcba", "newest first");
    assert_eq!(list("sort_dir=asc").await, "abcd");
    assert_eq!(list("sort_by=name&sort_dir=asc&page_size=2").await, "ab");
    assert_eq!(list("sort_by=status&sort_dir=desc&page_size=1").await, "c");
    assert_eq!(list("search=62812345").await.len(), 4);
    assert_eq!(list("sort_by=name&partnerType=company").await, "bcd");
    assert_eq!(list("status=in_review").await, "c");
    assert_eq!(list("status=&search=AGUS").await, "a");
    assert_eq!(list("search=budi@").await, "b");
    assert_eq!(list("page=3&page_size=2").await, "");
    let bad = world.get("/v1/mitra/manajemen?status=lost&sort_by=email").by(&reader).send().await;
    bad.has_field_errors(&[("sort_by", "enum"), ("status", "enum")]);

    let path = "/v1/mitra/manajemen/statistics";
    let statistics = world.get(path).by(&reader).send().await.ok();
    assert_eq!(
        statistics,
        json!({
            "total": 4,
            "by_status": { "draft": 2, "in_review": 1, "revision": 0, "active": 1, "suspended": 0 },
            "by_type": { "individual": 1, "company": 3 },
            "new_this_month": 2,
            "awaiting_review": 1,
        })
    );
}

async fn an_overview_counts_what_was_sold(world: World) {
    let reader = world.staff("ayu@dermaga.test", &[PartnersRead]).await;
    let sailing = world.sailing().await;
    let paid = world.books(crate::harbour::order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&paid).await;
    world.books(crate::harbour::order(&sailing, 1, "putu@example.com")).await.ok();
    let path = format!("{}/overview", world.partner_path(&sailing.partner).await);
    let overview = world.get(&path).by(&reader).send().await.ok();
    assert_eq!(
        overview["fleet"],
        json!({ "speedboats": 1, "active_routes": 1, "upcoming_sailings": 3 })
    );
    assert_eq!(
        overview["bookings"],
        json!({ "total": 2, "paid": 1, "completed": 0, "cancelled": 0, "passengers": 2 })
    );
    assert_eq!(overview["finance"]["gross"], 300_000);
    assert_eq!(overview["finance"]["net"], 0, "nothing is earned before it has sailed");
    assert_eq!(overview["finance"]["unsettled"], 0);
    assert_eq!(overview["recent_bookings"].as_array().unwrap().len(), 2);
    world.completes_paid_bookings().await;
    // Half of another one is kept, twelve hours ahead.
    let kept = world.paid_booking(&sailing, 2).await;
    world.advances_clock(chrono::TimeDelta::hours(9));
    let cancel = format!("/v1/booking/{}/cancel", kept["id"].as_str().unwrap());
    let own = json!({ "reason": "x", "code": kept["code"], "email": "sari@example.com" });
    assert_eq!(world.post(&cancel, own).send().await.ok()["refund_amount"], 150_000);
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let reader = world.signs_in(&reader.email, "staff").await;
    let figures = async || {
        let overview = world.get(&path).by(&reader).send().await.ok()["finance"].clone();
        let own = world.get("/v1/dashboard/mitra-statistic").by(&partner).send().await.ok();
        let all = world.get("/v1/dashboard/mitra-statistic").by(&reader).send().await.ok();
        for figure in ["net", "unsettled"] {
            assert_eq!(overview[figure], own[figure], "{figure}");
            assert_eq!(overview[figure], all[figure], "{figure}");
        }
        (overview["net"].as_i64().unwrap(), overview["unsettled"].as_i64().unwrap())
    };
    assert_eq!(figures().await, (405_000, 405_000), "sailed and kept");
    let admin = world.admin().await;
    world.creates_settlement(&partner, &admin).await.ok();
    assert_eq!(figures().await, (405_000, 405_000));
}

async fn an_overview_has_no_figures_of_its_own_making(world: World) {
    let reader = world.staff("ayu@dermaga.test", &[PartnersRead]).await;
    let made = world.active_partner("made@bahari.id").await;
    let path = format!("{}/overview", world.partner_path(&made).await);
    let overview = world.get(&path).by(&reader).send().await.ok();
    assert_eq!(overview["mitra"]["email"], "made@bahari.id");
    assert_eq!(overview["fleet"]["speedboats"], 0);
    assert_eq!(overview["finance"]["unsettled"], 0);
    assert_eq!(overview["recent_bookings"], json!([]));
}

async fn a_suspension_ends_the_sessions_and_is_undone(world: World) {
    let guard = world.staff("putu@dermaga.test", &[PartnersSuspend]).await;
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let acting = world.impersonates(&desk, &admin).await;
    let act = async |word: &str| {
        let body = json!({ "reason": "Sails at night" });
        world.post(&format!("{desk}/{word}"), body).by(&guard).send().await
    };
    act("unsuspend").await.is(409, "invalid_state");
    let after = act("suspend").await.ok();
    assert_eq!(after["status"], "suspended");
    assert_eq!(after["suspended_reason"], "Sails at night");
    assert_eq!(after["suspended_at"], "2026-11-15T03:00:00Z");
    act("suspend").await.is(409, "invalid_state");
    for session in [&made, &acting] {
        world.get("/user/me").by(session).send().await.is(401, "unauthenticated");
    }
    world.login("made@bahari.id", "mitra").await.is(403, "account_suspended");
    let path = format!("{desk}/impersonate");
    world.post(&path, json!({})).by(&admin).send().await.is(409, "invalid_state");

    let after = act("unsuspend").await.ok();
    assert_eq!(after["status"], "active");
    assert_eq!(after["suspended_reason"], json!(null));
    let made = world.signs_in("made@bahari.id", "mitra").await;
    assert_eq!(world.onboarding_status(&made).await, "active");
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    let letters = &letters[letters.len() - 2..];
    assert!(letters[0].contains("Reason: Sails at night"));
    assert!(letters[1].contains("active again"));

    for status in ["draft", "in_review", "revision"] {
        let other = world.partner(&format!("{status}@bahari.id")).await;
        world
            .db()
            .sql("UPDATE partners SET status = $1 WHERE account_id = $2")
            .bind(status)
            .bind(other.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
            .run()
            .await
            .unwrap();
        let path = format!("{}/suspend", world.partner_path(&other).await);
        let call = world.post(&path, json!({ "reason": "No" })).by(&guard);
        call.send().await.is(409, "invalid_state");
    }
}

async fn a_running_request_finishes_and_the_next_is_refused(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let body = onboarding_body().to_string();
    let (start, rest) = body.split_at(20);
    let head = format!(
        "PATCH /v1/mitra/onboarding HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{start}",
        made.token,
        body.len(),
    );
    let mut running = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let before = world.db().statements();
    running.write_all(head.as_bytes()).await.unwrap();
    // It is past the guard once that has looked; the body is still to come.
    while world.db().statements() == before {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let path = format!("{}/suspend", world.partner_path(&made).await);
    world.post(&path, json!({ "reason": "Unsafe" })).by(&admin).send().await.ok();
    running.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = vec![0; 64];
    let length = running.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    world.updates_onboarding(&made, onboarding_body()).await.is(401, "unauthenticated");
}

async fn two_suspensions_at_once_are_one(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let path = format!("{}/suspend", world.partner_path(&made).await);
    let suspend = || world.post(&path, json!({ "reason": "Unsafe" })).by(&admin).send();
    let (a, b) = tokio::join!(suspend(), suspend());
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 409]);
    let events = "SELECT COUNT(*) FROM outbox WHERE topic = 'partner.suspended'";
    assert_eq!(world.count(events).await, 1);
}

async fn an_impersonated_session_says_who_is_behind_it(world: World) {
    let helper = world.staff("ayu@dermaga.test", &[PartnersImpersonate, PartnersRead]).await;
    let made = world.partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let call = world.post(&format!("{desk}/impersonate"), json!({})).by(&helper);
    let session = call.send().await.ok();
    assert_eq!(session["expires_in"], 900);
    assert_eq!(session["user"]["email"], "made@bahari.id");
    let token = session["access_token"].as_str().unwrap();
    let profile = world.get("/user/me").with_token(token).send().await.ok();
    assert_eq!(profile["id"], json!(made.id));
    assert_eq!(profile["impersonated_by"]["id"], json!(helper.id));
    let own = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(own["impersonated_by"], json!(null));
    let sessions = world.get("/user/me/sessions").by(&made).send().await.ok();
    assert_eq!(sessions.as_array().unwrap().len(), 1, "it is no device of the partner's");
}

async fn an_impersonator_may_not_do_what_is_the_partners_alone(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let acting = world.impersonates(&desk, &admin).await;
    let profile = |email: &str| json!({ "name": "Made", "email": email, "phone": "081234567890", "avatar_file_id": "" });
    let put = |path, body| world.put(path, body).by(&acting).send();
    put("/user/me", profile("thief@bahari.id")).await.is(403, "forbidden");
    put("/user/me", profile("made@bahari.id")).await.ok();
    let sessions = world.get("/user/me/sessions").by(&made).send().await.ok();
    let path = format!("/user/me/sessions/{}", sessions[0]["id"].as_str().unwrap());
    world.delete(&path).by(&acting).send().await.is(403, "forbidden");
    let new = "layar putih 7 dermaga tua";
    let password = json!({ "current_password": PASSWORD, "password": new, "cpassword": new });
    put("/user/me/password", password).await.is(403, "forbidden");
    let account = json!({ "bank_account": { "account_number": "9987654321" } });
    world.updates_onboarding(&acting, account).await.is(403, "forbidden");
    world.updates_onboarding(&acting, json!({ "pic": { "name": "Made" } })).await.ok();
    let remember = json!({ "email": "made@bahari.id" });
    world.post("/auth/remember-me", remember).by(&acting).send().await.is(403, "forbidden");
    let path = format!("{desk}/impersonate");
    world.post(&path, json!({})).by(&acting).send().await.is(403, "forbidden");
}

async fn an_impersonated_session_ends_with_its_time_its_rule_or_its_partner(world: World) {
    let admin = world.admin().await;
    let helper = world.staff("ayu@dermaga.test", &[PartnersImpersonate, PartnersRead]).await;
    let made = world.partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let alive = async |who| world.get("/user/me").by(who).send().await.status == 200;

    let acting = world.impersonates(&desk, &admin).await;
    world.advances_clock(TimeDelta::seconds(899));
    assert!(alive(&acting).await);
    world.advances_clock(TimeDelta::seconds(1));
    assert!(!alive(&acting).await, "not past 15 minutes");

    let acting = world.impersonates(&desk, &helper).await;
    world.db().sql("UPDATE permissions SET rules = '[\"partners.read\"]'").run().await.unwrap();
    assert!(!alive(&acting).await, "not without the rule");

    let acting = world.impersonates(&desk, &admin).await;
    world.post("/v1/auth/logout", json!({})).by(&acting).send().await.ok();
    assert!(!alive(&acting).await);
    assert!(alive(&made).await, "the partner's own session goes on");

    let acting = world.impersonates(&desk, &admin).await;
    world.post("/v1/auth/logout", json!({})).by(&admin).send().await.ok();
    assert!(!alive(&acting).await, "not after its impersonator has signed out");
    let admin = world.signs_in(&admin.email, "admin").await;

    let acting = world.impersonates(&desk, &admin).await;
    let boss = world.admin_with_email("boss@dermaga.test").await;
    let path = format!("/v1/users/{}/status", admin.id);
    world.put(&path, json!({ "status": "inactive" })).by(&boss).send().await.ok();
    assert!(!alive(&acting).await, "not after its impersonator is switched off");
}

async fn what_an_impersonator_does_is_audited_in_both_names(world: World) {
    let admin = world.admin().await;
    let made = world.partner("made@bahari.id").await;
    let acting = world.impersonates(&world.partner_path(&made).await, &admin).await;
    world
        .updates_onboarding(
            &acting,
            json!({ "pic": { "name": "Made", "nik": "5171012304850001" } }),
        )
        .await
        .ok();
    world.updates_onboarding(&made, json!({ "pic": { "position": "Owner" } })).await.ok();
    let log = world.get("/v1/audit-logs").by(&admin).send().await.ok();
    let log = log.as_array().unwrap();
    assert_eq!(log.len(), 2, "the partner in person is not audited");
    assert_eq!(log[0]["action"], "partner.onboarding_updated");
    assert_eq!(log[0]["actor"]["email"], "admin@dermaga.test");
    assert_eq!(log[0]["on_behalf_of"]["email"], "made@bahari.id");
    assert_eq!(log[0]["before"]["pic"]["nik"], json!(null));
    assert_eq!(log[0]["after"]["pic"]["nik"], "[personal]");
    assert_eq!(log[0]["after"]["status"], "draft");
    assert_eq!(log[1]["action"], "partner.impersonated");
    assert_eq!(log[1]["actor"]["email"], "admin@dermaga.test");
    assert_eq!(log[1]["after"]["email"], "[personal]");
}
