//! The crew of a partner: invited, removed, and on board with nothing but boarding.

use chrono::TimeDelta;
use dermaga::kernel::{access::Rule::*, ids::Uuid};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{NIK, Sailing, order},
    on_both_engines,
    support::form::Form,
    world::{Answer, PASSWORD, Someone, World},
};

on_both_engines![
    a_crew_member_is_invited_and_signs_in,
    only_an_active_partner_invites,
    an_impersonator_needs_the_rule_for_partners,
    an_address_is_used_once,
    faults_are_named,
    an_invitation_is_sent_again,
    a_removed_member_is_out_at_once,
    crew_is_the_partners_alone,
    a_partner_has_a_hundred_at_most,
    crew_boards_passengers,
    crew_sees_no_identity_number,
    crew_of_another_partner_finds_nothing,
    crew_of_a_suspended_partner_boards,
    crew_has_no_part_in_bookings,
    crew_has_a_picture_and_no_other_file,
];

const CREW: &str = "/v1/mitra/crew";

fn crew_body(email: &str) -> Value {
    json!({ "name": "Nyoman Suardana", "email": email, "phone": "081234567890" })
}

async fn invite(world: &World, partner: &Someone, email: &str) -> Answer {
    world.post(CREW, crew_body(email)).by(partner).send_with_retry().await
}

async fn accept(world: &World, token: &str) -> Answer {
    let body = json!({ "token": token, "password": PASSWORD, "cpassword": PASSWORD });
    world.post("/auth/reset-password", body).send().await
}

fn path(member: &Value) -> String {
    format!("{CREW}/{}", member["id"].as_str().unwrap())
}

fn sailing_path(sailing: &Sailing, last: &str) -> String {
    format!("/v1/mitra/route-times/{}/{last}", sailing.id)
}

impl World {
    async fn resends_invitation(&self, member: &Value, by: &Someone) -> Answer {
        let path = format!("{}/resend-invitation", path(member));
        self.post(&path, json!({})).by(by).send().await
    }

    async fn checks_in(&self, sailing: &Sailing, code: &str, by: &Someone) -> Answer {
        let body = json!({ "ticket_code": code });
        self.post(&sailing_path(sailing, "check-in"), body).by(by).send().await
    }

    async fn suspends_partner(&self, partner: &Someone) {
        let admin = self.admin().await;
        let path = format!("{}/suspend", self.partner_path(partner).await);
        self.post(&path, json!({ "reason": "Unsafe" })).by(&admin).send().await.ok();
    }

    /// Whose id is in this column.
    async fn account_id_in(&self, statement: &'static str) -> String {
        self.db().sql(statement).scalar::<Uuid>().await.unwrap().to_string()
    }
}

async fn a_crew_member_is_invited_and_signs_in(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let member = invite(&world, &made, "Nyoman@Bahari.id").await.ok();
    assert_eq!(member["email"], "nyoman@bahari.id");
    assert_eq!(member["phone"], "+6281234567890");
    assert_eq!(member["status"], "active");
    assert_eq!(member["invited"], true);
    assert_eq!(member["last_login_at"], json!(null));
    assert_eq!(member["created_at"], "2026-11-15T03:00:00Z");
    assert!(member.get("invited_at").is_none());
    world.login("nyoman@bahari.id", "crew").await.is(401, "invalid_credentials");

    world.delivers_outbox().await;
    accept(&world, &world.mailed_token("nyoman@bahari.id")).await.ok();
    world.login("nyoman@bahari.id", "mitra").await.is(401, "invalid_credentials");
    let nyoman = world.signs_in("nyoman@bahari.id", "crew").await;
    assert_eq!(json!(nyoman.id), member["id"]);
    let listed = world.get(CREW).by(&made).send().await.ok();
    assert_eq!(listed[0]["invited"], false);
    assert_eq!(listed[0]["last_login_at"], "2026-11-15T03:00:00Z");

    let profile = world.get("/user/me").by(&nyoman).send().await.ok();
    assert_eq!(profile["role"], "crew");
    let mitra = json!({
        "id": world.partner_id(&made).await, "status": "active", "partnerType": "company",
    });
    assert_eq!(profile["mitra"], mitra);
    assert_eq!(profile["permission"], json!(null));
    let change = json!({
        "name": "Nyoman", "email": "nyoman@bahari.id", "phone": "081234567891",
        "avatar_file_id": "",
    });
    world.put("/user/me", change).by(&nyoman).send().await.ok();
    assert_eq!(world.get(CREW).by(&made).send().await.ok()[0]["name"], "Nyoman");
    let sessions = world.get("/user/me/sessions").by(&nyoman).send().await.ok();
    assert_eq!(sessions.as_array().unwrap().len(), 1);

    let desk = world.staff("desk@dermaga.test", &[UsersRead]).await;
    let users = world.get("/v1/users?role=crew").by(&desk).send().await.ok();
    assert_eq!(users.as_array().unwrap().len(), 1);
    assert_eq!(users[0]["id"], member["id"]);
    world.post("/v1/auth/logout", json!({})).by(&nyoman).send().await.ok();
    world.get("/user/me").by(&nyoman).send().await.is(401, "unauthenticated");
    crate::storms::assert_invariants(&world).await;
}

async fn only_an_active_partner_invites(world: World) {
    let made = world.partner("made@bahari.id").await;
    invite(&world, &made, "nyoman@bahari.id").await.is(409, "invalid_state");
    for status in ["in_review", "revision"] {
        world.db().sql("UPDATE partners SET status = $1").bind(status).run().await.unwrap();
        invite(&world, &made, "nyoman@bahari.id").await.is(409, "invalid_state");
    }
    let ketut = world.active_partner("ketut@bahari.id").await;
    let member = invite(&world, &ketut, "nyoman@bahari.id").await.ok();
    world.delivers_outbox().await;
    accept(&world, &world.mailed_token("nyoman@bahari.id")).await.ok();
    let nyoman = world.signs_in("nyoman@bahari.id", "crew").await;
    let admin = world.admin().await;
    for outsider in [&nyoman, &admin] {
        invite(&world, outsider, "wayan@bahari.id").await.is(403, "forbidden");
        world.get(CREW).by(outsider).send().await.is(403, "forbidden");
        world.delete(&path(&member)).by(outsider).send().await.is(403, "forbidden");
        world.resends_invitation(&member, outsider).await.is(403, "forbidden");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM crew").await, 1);
}

async fn an_impersonator_needs_the_rule_for_partners(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let helper = world.staff("helper@dermaga.test", &[PartnersImpersonate, PartnersRead]).await;
    let acting = world.impersonates(&desk, &helper).await;
    let member = invite(&world, &made, "nyoman@bahari.id").await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_logs WHERE entity_type = 'crew'").await, 0);
    invite(&world, &acting, "wayan@bahari.id").await.is(403, "forbidden");
    world.delete(&path(&member)).by(&acting).send().await.is(403, "forbidden");
    world.advances_clock(TimeDelta::minutes(5));
    world.resends_invitation(&member, &acting).await.is(403, "forbidden");

    let manager = world.staff("manager@dermaga.test", &[PartnersImpersonate, PartnersWrite]).await;
    let acting = world.impersonates(&desk, &manager).await;
    world.delete(&path(&member)).by(&acting).send().await.ok();
    let admin = world.admin().await;
    let log = world.get("/v1/audit-logs?action=crew.removed").by(&admin).send().await.ok();
    assert_eq!(log[0]["actor"]["email"], "manager@dermaga.test");
    assert_eq!(log[0]["on_behalf_of"]["email"], "made@bahari.id");
    assert_eq!(log[0]["entity_id"], member["id"]);
}

async fn an_address_is_used_once(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let ketut = world.active_partner("ketut@bahari.id").await;
    invite(&world, &made, "nyoman@bahari.id").await.ok();
    for taken in ["nyoman@bahari.id", "NYOMAN@bahari.id", "made@bahari.id", "ketut@bahari.id"] {
        invite(&world, &made, taken).await.is(409, "email_taken");
    }
    invite(&world, &ketut, "nyoman@bahari.id").await.is(409, "email_taken");
    // One address at once, from two partners.
    let (a, b) = tokio::join!(
        invite(&world, &made, "wayan@bahari.id"),
        invite(&world, &ketut, "wayan@bahari.id")
    );
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(world.count("SELECT COUNT(*) FROM crew").await, 2);
    crate::storms::assert_invariants(&world).await;
}

async fn faults_are_named(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let faults = async |body: Value| world.post(CREW, body).by(&made).send().await.field_errors();
    let named = |faults: &[(&str, &str)]| -> Vec<(String, String)> {
        faults.iter().map(|(field, rule)| ((*field).to_owned(), (*rule).to_owned())).collect()
    };
    let required = [("email", "required"), ("name", "required"), ("phone", "required")];
    assert_eq!(faults(json!({})).await, named(&required));
    let mut bad = crew_body("not an address");
    bad["name"] = json!("Win a prize at https://evil.example");
    bad["phone"] = json!("12");
    let fields: Vec<_> = faults(bad).await.into_iter().map(|fault| fault.0).collect();
    assert_eq!(fields, ["email", "name", "phone"]);
    let mut long = crew_body("nyoman@bahari.id");
    long["name"] = json!("x".repeat(121));
    assert_eq!(faults(long).await, named(&[("name", "max_length")]));
    let mut nul = crew_body("nyoman@bahari.id");
    nul["name"] = json!("a\0b");
    assert_eq!(faults(nul).await, named(&[("name", "characters")]));
    // A role or a partner of one's own choice is not asked for, and changes nothing.
    let mut greedy = crew_body("nyoman@bahari.id");
    greedy["role"] = json!("admin");
    greedy["partner_id"] = json!(dermaga::kernel::ids::fresh());
    let member = world.post(CREW, greedy).by(&made).send().await.ok();
    let roles = "SELECT COUNT(*) FROM accounts WHERE role = 'crew'";
    assert_eq!(world.count(roles).await, 1);
    let query = "page=0&sort_by=password_hash&sort_dir=up";
    world.get(&format!("{CREW}?{query}")).by(&made).send().await.has_field_errors(&[
        ("page", "min"),
        ("sort_by", "enum"),
        ("sort_dir", "enum"),
    ]);
    for id in ["x", "00000000-0000-0000-0000-000000000000", "' OR 1=1"] {
        let path = format!("{CREW}/{id}");
        world.delete(&path).by(&made).send().await.is(404, "not_found");
    }
    // The partner's own account is not crew.
    world.delete(&format!("{CREW}/{}", made.id)).by(&made).send().await.is(404, "not_found");
    assert_eq!(world.get(CREW).by(&made).send().await.ok()[0]["id"], member["id"]);
}

async fn an_invitation_is_sent_again(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let ketut = world.active_partner("ketut@bahari.id").await;
    let member = invite(&world, &made, "nyoman@bahari.id").await.ok();
    world.delivers_outbox().await;
    let first = world.mailed_token("nyoman@bahari.id");
    world.advances_clock(TimeDelta::minutes(4));
    let early = world.resends_invitation(&member, &made).await;
    assert_eq!(early.header("retry-after"), "60");
    early.is(429, "too_many_requests");
    world.advances_clock(TimeDelta::minutes(1));
    world.resends_invitation(&member, &ketut).await.is(404, "not_found");
    // Of two at once, one sends.
    let (a, b) = tokio::join!(
        world.resends_invitation(&member, &made),
        world.resends_invitation(&member, &made)
    );
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 429]);
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("nyoman@bahari.id").len(), 2);
    accept(&world, &first).await.is(401, "invalid_token");
    accept(&world, &world.mailed_token("nyoman@bahari.id")).await.ok();
    world.advances_clock(TimeDelta::minutes(5));
    world.resends_invitation(&member, &made).await.is(409, "invalid_state");
}

async fn a_removed_member_is_out_at_once(world: World) {
    let sailing = world.sailing().await;
    let made = &sailing.partner;
    world.paid_booking(&sailing, 1).await;
    let code = world.ticket_codes(&sailing).await.remove(0);
    let nyoman = world.crew(made, "nyoman@bahari.id").await;
    world.checks_in(&sailing, &code, &nyoman).await.ok();
    let remember = json!({ "email": nyoman.email });
    let device = world.post("/auth/remember-me", remember.clone()).by(&nyoman).send().await.ok();
    let pending = invite(&world, made, "wayan@bahari.id").await.ok();
    world.delivers_outbox().await;
    let link = world.mailed_token("wayan@bahari.id");

    let removed = format!("{CREW}/{}", nyoman.id);
    let ketut = world.active_partner("ketut@bahari.id").await;
    world.delete(&removed).by(&ketut).send().await.is(404, "not_found");
    world.get("/user/me").by(&nyoman).send().await.ok();
    // Twice at once: one removes.
    let remove = || world.delete(&removed).by(made).send_with_retry();
    let (a, b) = tokio::join!(remove(), remove());
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 404]);
    world.get("/user/me").by(&nyoman).send().await.is(401, "unauthenticated");
    world
        .get(&sailing_path(&sailing, "manifest"))
        .by(&nyoman)
        .send()
        .await
        .is(401, "unauthenticated");
    world.checks_in(&sailing, &code, &nyoman).await.is(401, "unauthenticated");
    let token = device["remember_token"].as_str().unwrap();
    let resume = world.post("/auth/remember-me", remember).header("x-remember-token", token);
    resume.send().await.is(401, "unauthenticated");
    world.login("nyoman@bahari.id", "crew").await.is(401, "invalid_credentials");

    // An invitation that nobody has accepted is void.
    world.delete(&path(&pending)).by(made).send().await.ok();
    accept(&world, &link).await.is(401, "invalid_token");
    assert_eq!(world.get(CREW).by(made).send().await.ok(), json!([]));
    // The address is free, and what the member did stays.
    let again = invite(&world, &ketut, "nyoman@bahari.id").await.ok();
    assert_ne!(again["id"], json!(nyoman.id));
    assert_eq!(world.account_id_in("SELECT recorded_by FROM boardings").await, nyoman.id);
    crate::storms::assert_invariants(&world).await;
}

async fn crew_is_the_partners_alone(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let ketut = world.active_partner("ketut@bahari.id").await;
    for email in ["nyoman@bahari.id", "wayan@bahari.id", "a_b@bahari.id"] {
        world.advances_clock(TimeDelta::seconds(1));
        invite(&world, &made, email).await.ok();
    }
    invite(&world, &ketut, "putu@bahari.id").await.ok();
    let emails = async |query: &str| -> Vec<String> {
        let listed = world.get(&format!("{CREW}?{query}")).by(&made).send().await.ok();
        let email = |one: &Value| one["email"].as_str().unwrap().split('@').next().unwrap().into();
        listed.as_array().unwrap().iter().map(email).collect()
    };
    assert_eq!(emails("").await, ["a_b", "wayan", "nyoman"], "newest first");
    assert_eq!(emails("sort_by=created_at").await, ["nyoman", "wayan", "a_b"]);
    world
        .db()
        .sql("UPDATE accounts SET name = 'adi' WHERE email = 'wayan@bahari.id'")
        .run()
        .await
        .unwrap();
    assert_eq!(emails("sort_by=name").await[0], "wayan");
    assert_eq!(emails("search=WAYAN").await, ["wayan"]);
    assert_eq!(emails("search=a_b").await, ["a_b"], "a plain substring");
    assert!(emails("search=putu").await.is_empty());
    assert_eq!(emails("page=2&page_size=2&sort_by=created_at").await, ["a_b"]);
    let answer = world.get(&format!("{CREW}?page_size=1")).by(&made).send().await;
    assert_eq!(answer.body["pagination"]["total_items"], 3);
}

async fn a_partner_has_a_hundred_at_most(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let ketut = world.active_partner("ketut@bahari.id").await;
    let partner: Uuid = world.partner_id(&made).await.parse().unwrap();
    for n in 0..98 {
        let account = world.account(&format!("old{n}@bahari.id"), "crew").await;
        world
            .db()
            .sql(
                "INSERT INTO crew (account_id, partner_id, invited_at, created_at)
                 VALUES ($1, $2, $3, $3)",
            )
            .bind(account)
            .bind(partner)
            .bind(world.now())
            .run()
            .await
            .unwrap();
    }
    let emails: Vec<_> = (0..6).map(|n| format!("new{n}@bahari.id")).collect();
    let answers = join_all(emails.iter().map(|email| invite(&world, &made, email))).await;
    let (mut invited, mut refused) = (Vec::new(), 0);
    for answer in answers {
        match answer.status {
            200 => invited.push(answer.ok()),
            _ => {
                answer.is(409, "quota_exceeded");
                refused += 1;
            }
        }
    }
    assert_eq!((invited.len(), refused), (2, 4));
    assert_eq!(world.count("SELECT COUNT(*) FROM crew").await, 100);
    invite(&world, &ketut, "other@bahari.id").await.ok();
    world.delete(&path(&invited[0])).by(&made).send().await.ok();
    invite(&world, &made, "instead@bahari.id").await.ok();
    invite(&world, &made, "more@bahari.id").await.is(409, "quota_exceeded");
}

async fn crew_boards_passengers(world: World) {
    let sailing = world.sailing_soon().await;
    let nyoman = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let wayan = world.crew(&sailing.partner, "wayan@bahari.id").await;
    world.paid_booking(&sailing, 2).await;
    let found = world.get("/v1/mitra/route-times").by(&nyoman).send().await.ok();
    assert_eq!(found[0]["id"], json!(sailing.id));
    let manifest = world.get(&sailing_path(&sailing, "manifest")).by(&nyoman).send().await.ok();
    let code = |n: usize| manifest["passengers"][n]["ticket_code"].as_str().unwrap().to_owned();
    world.checks_in(&sailing, &code(0), &nyoman).await.ok();
    world.checks_in(&sailing, &code(0), &wayan).await.is(409, "already_boarded");
    assert_eq!(world.account_id_in("SELECT recorded_by FROM boardings").await, nyoman.id);
    let undo = json!({ "ticket_code": code(0), "reason": "Wrong person" });
    world.post(&sailing_path(&sailing, "check-in/undo"), undo).by(&wayan).send().await.ok();
    assert_eq!(world.account_id_in("SELECT undone_by FROM boardings").await, wayan.id);
    let scans = json!({ "scans": [
        { "scan_id": "a", "ticket_code": code(1), "scanned_at": "2026-11-15T02:59:00Z" },
    ] });
    let answer =
        world.post(&sailing_path(&sailing, "check-in"), scans).by(&nyoman).send().await.ok();
    assert_eq!(answer["boarded"], 1);
    let detail = format!("/v1/mitra/route-times/{}", sailing.id);
    assert_eq!(world.get(&detail).by(&nyoman).send().await.ok()["checked_in"], 1);
    let close = world.post(&sailing_path(&sailing, "manifest/close"), json!({})).by(&nyoman);
    assert_eq!(close.send().await.ok()["totals"]["checked_in"], 1);
    assert_eq!(world.account_id_in("SELECT closed_by FROM manifests").await, nyoman.id);
    world.checks_in(&sailing, &code(0), &nyoman).await.is(409, "manifest_closed");
    // Crew neither moves nor cancels the sailing.
    let times = json!({ "departure_time": "10:00", "arrival_time": "10:45", "reason": "x" });
    world.put(&detail, times).by(&nyoman).send().await.is(403, "forbidden");
    let cancel = world.post(&sailing_path(&sailing, "cancel"), json!({ "reason": "x" }));
    cancel.by(&nyoman).send().await.is(403, "forbidden");
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_logs").await, 0);
    crate::storms::assert_invariants(&world).await;
}

async fn crew_sees_no_identity_number(world: World) {
    let sailing = world.sailing_soon().await;
    let nyoman = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let mut order = order(&sailing, 1, "sari@example.com");
    order["passengers"][0]["identity_type"] = json!("nik");
    order["passengers"][0]["identity_number"] = json!(NIK);
    let booking = world.books(order).await.ok();
    world.pays(&booking).await;
    let path = sailing_path(&sailing, "manifest");
    let masked = "************0001";
    for closed in [false, true] {
        if closed {
            let close =
                world.post(&sailing_path(&sailing, "manifest/close"), json!({})).by(&nyoman);
            let shown = close.send().await.ok();
            assert_eq!(shown["passengers"][0]["identity_number"], masked);
            assert!(!shown.to_string().contains(NIK));
        }
        let partners = world.get(&path).by(&sailing.partner).send().await.ok();
        assert_eq!(partners["passengers"][0]["identity_number"], NIK, "the partner sees it");
        let shown = world.get(&path).by(&nyoman).send().await.ok();
        assert_eq!(shown["passengers"][0]["identity_number"], masked);
        assert!(!shown.to_string().contains(NIK));
        let (status, _, csv) = world.get(&format!("{path}?format=csv")).by(&nyoman).bytes().await;
        let csv = String::from_utf8(csv).unwrap();
        assert!(status == 200 && csv.contains(masked) && !csv.contains(NIK), "{csv}");
        let (status, _, pdf) = world.get(&format!("{path}?format=pdf")).by(&nyoman).bytes().await;
        assert_eq!(status, 200);
        assert!(!String::from_utf8_lossy(&pdf).contains(NIK));
        if let Some((text, _)) = world.read_pdf(&pdf) {
            assert!(text.contains(masked) && !text.contains(NIK), "{text}");
        }
    }
}

async fn crew_of_another_partner_finds_nothing(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    let code = world.ticket_codes(&sailing).await.remove(0);
    let ketut = world.active_partner("ketut@bahari.id").await;
    world.creates_published_route(&ketut, "GT. 9").await;
    let stranger = world.crew(&ketut, "putu@bahari.id").await;
    for (last, body) in [
        ("manifest/close", json!({})),
        ("check-in", json!({ "ticket_code": code })),
        ("check-in/undo", json!({ "ticket_code": code })),
    ] {
        let call = world.post(&sailing_path(&sailing, last), body).by(&stranger);
        call.send().await.is(404, "not_found");
    }
    world.get(&sailing_path(&sailing, "manifest")).by(&stranger).send().await.is(404, "not_found");
    let detail = format!("/v1/mitra/route-times/{}", sailing.id);
    world.get(&detail).by(&stranger).send().await.is(404, "not_found");
    // Whatever partner is asked for, crew sees its own.
    let theirs = world.partner_id(&sailing.partner).await;
    for query in [String::new(), format!("?mitra_id={theirs}"), "?search=Sanur".to_owned()] {
        let path = format!("/v1/mitra/route-times{query}");
        let found = world.get(&path).by(&stranger).send().await.ok();
        let own = json!(world.partner_id(&ketut).await);
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|sailing| sailing["mitra_id"] == own));
    }
    // On the own sailing, a ticket of another partner says nothing of its passenger.
    let own = world.get("/v1/mitra/route-times").by(&stranger).send().await.ok();
    let own = format!("/v1/mitra/route-times/{}/check-in", own[0]["id"].as_str().unwrap());
    let call = world.post(&own, json!({ "ticket_code": code })).by(&stranger);
    assert_eq!(call.send().await.is(409, "wrong_sailing")["data"], json!(null));
    assert_eq!(world.count("SELECT COUNT(*) FROM boardings").await, 0);
}

async fn crew_of_a_suspended_partner_boards(world: World) {
    let sailing = world.sailing_soon().await;
    world.paid_booking(&sailing, 2).await;
    let codes = world.ticket_codes(&sailing).await;
    let nyoman = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    world.suspends_partner(&sailing.partner).await;
    world.get("/user/me").by(&sailing.partner).send().await.is(401, "unauthenticated");
    world.checks_in(&sailing, &codes[0], &nyoman).await.ok();
    let again = world.signs_in("nyoman@bahari.id", "crew").await;
    let profile = world.get("/user/me").by(&again).send().await.ok();
    assert_eq!(profile["mitra"]["status"], "suspended");
    world.checks_in(&sailing, &codes[1], &again).await.ok();
    let found = world.get("/v1/mitra/route-times?status=open").by(&again).send().await.ok();
    assert_eq!(found[0]["checked_in"], 2);
    let close = world.post(&sailing_path(&sailing, "manifest/close"), json!({})).by(&again);
    assert_eq!(close.send().await.ok()["totals"]["checked_in"], 2);
}

async fn crew_has_no_part_in_bookings(world: World) {
    let sailing = world.sailing().await;
    let nyoman = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let booking = world.paid_booking(&sailing, 1).await;
    let id = booking["id"].as_str().unwrap();
    let knows = format!("code={}&email=sari@example.com", booking["code"].as_str().unwrap());
    for path in [
        format!("/v1/booking/{id}?{knows}"),
        format!("/v1/booking?{knows}"),
        format!("/v1/booking/{id}/ticket?{knows}"),
    ] {
        world.get(&path).by(&nyoman).send().await.is(403, "forbidden");
    }
    let sells = world.post("/v1/booking", order(&sailing, 1, "budi@example.com")).by(&nyoman);
    sells.send().await.is(403, "forbidden");
    for last in ["cancel", "reschedule", "payment", "pay-cash", "resend-ticket", "refund"] {
        let path = format!("/v1/booking/{id}/{last}");
        world.post(&path, json!({ "reason": "x" })).by(&nyoman).send().await.is(403, "forbidden");
    }
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
}

async fn crew_has_a_picture_and_no_other_file(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let nyoman = world.crew(&made, "nyoman@bahari.id").await;
    let uploads = async |purpose: &'static str| {
        let png = crate::files::picture(image::ImageFormat::Png);
        let form = Form::new().text("purpose", purpose).file("a.png", &png);
        let call = world.call(reqwest::Method::POST, "/v1/files/upload").by(&nyoman);
        call.multipart(form).send().await
    };
    for purpose in ["photo", "content", "document", "proof"] {
        uploads(purpose).await.is(403, "forbidden");
        let query = format!("filename=a.png&content_type=image/png&size=9&purpose={purpose}");
        let path = format!("/v1/files/presign-url?{query}");
        world.get(&path).by(&nyoman).send().await.is(403, "forbidden");
    }
    let avatar = uploads("avatar").await.ok();
    let profile = json!({
        "name": "Nyoman", "email": "nyoman@bahari.id", "phone": "081234567890",
        "avatar_file_id": avatar["id"],
    });
    let saved = world.put("/user/me", profile).by(&nyoman).send().await.ok();
    assert_eq!(saved["avatar_file_id"], avatar["id"]);
    let shown = format!("/v1/files/{}", avatar["id"].as_str().unwrap());
    assert_eq!(world.get(&shown).by(&nyoman).bytes().await.0, 200);
    // A partner's papers are not for its crew.
    let papers = format!("/v1/files/{}", world.uploads_document(&made, "nib.pdf").await);
    world.get(&papers).by(&nyoman).send().await.is(404, "not_found");
}
