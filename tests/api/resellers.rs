//! Resellers: their accounts, API keys and granted partners.

use chrono::TimeDelta;
use dermaga::kernel::{
    access::Rule::*,
    ids::{self, Uuid},
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Answer, PASSWORD, Someone, World},
};

on_both_engines![
    a_reseller_is_invited_and_sees_itself_alone,
    what_a_new_reseller_has_by_default,
    an_address_has_one_account,
    faults_of_a_reseller_are_named,
    an_update_changes_terms_and_address,
    a_tax_number_is_encrypted_and_that_of_a_person_masked,
    a_start_encrypts_tax_numbers_that_are_stored_in_clear,
    a_suspended_reseller_still_signs_in,
    an_invitation_is_sent_until_it_is_accepted,
    a_key_is_shown_once_and_kept_as_a_hash,
    a_repeated_request_makes_one_key,
    faults_of_a_key_are_named,
    networks_are_written_in_one_way,
    a_reseller_has_ten_live_keys_at_most,
    a_revoked_key_stays_in_the_list,
    keys_are_the_resellers_own,
    a_new_key_needs_a_recent_sign_in,
    partners_are_granted_as_a_whole_list,
    a_key_is_for_a_granted_partner,
    faults_of_grants_are_named,
    a_margin_stays_within_the_commission,
    the_commission_for_resold_bookings_counts,
    a_net_fare_stays_within_the_commission,
];

const RESELLERS: &str = "/v1/resellers";

fn reseller_body(email: &str) -> Value {
    json!({
        "name": "Nusa Travel", "legal_name": "PT Nusa Travel", "email": email,
        "phone": "081234567890", "address": "Denpasar",
    })
}

fn key_body() -> Value {
    json!({ "name": "Engine", "scopes": ["catalog", "bookings.write"] })
}

impl World {
    async fn grants(&self, path: &str, grants: Value, by: &Someone) -> Answer {
        self.put(&format!("{path}/partners"), json!({ "grants": grants })).by(by).send().await
    }

    async fn creates_key(&self, path: &str, by: &Someone) -> Answer {
        self.post(&format!("{path}/keys"), key_body()).by(by).send_with_retry().await
    }
}

async fn a_reseller_is_invited_and_sees_itself_alone(world: World) {
    let admin = world.admin().await;
    let made = world.post(RESELLERS, reseller_body("Nusa@Travel.test")).by(&admin).send().await;
    let made = made.ok();
    let other = world.reseller("other@travel.test").await;
    let other_path = world.reseller_path(&other).await;
    world.login("nusa@travel.test", "reseller").await.is(401, "invalid_credentials");
    world.delivers_outbox().await;
    let token = world.mailed_token("nusa@travel.test");
    let accept = json!({ "token": token, "password": PASSWORD, "cpassword": PASSWORD });
    world.post("/auth/reset-password", accept).send().await.ok();
    let nusa = world.signs_in("nusa@travel.test", "reseller").await;
    assert_eq!(made["user_id"], json!(nusa.id));

    let listed = world.get(RESELLERS).by(&nusa).send().await.ok();
    assert_eq!(listed, json!([made]));
    let path = world.reseller_path(&nusa).await;
    assert_eq!(world.get(&path).by(&nusa).send().await.ok(), made);
    world.get(&other_path).by(&nusa).send().await.is(404, "not_found");
    world.get(&path).by(&other).send().await.is(404, "not_found");
    let desk = world.staff("desk@dermaga.test", &[ResellersRead]).await;
    let all = world.get(&format!("{RESELLERS}?sort_by=name")).by(&desk).send().await.ok();
    assert_eq!(all.as_array().unwrap().len(), 2);
    let found = world.get(&format!("{RESELLERS}?search=nusa+travel")).by(&desk).send().await.ok();
    assert_eq!(found, json!([made]));
    world.get(&format!("{RESELLERS}/{}", ids::fresh())).by(&desk).send().await.is(404, "not_found");

    // Bookings of guests and partners are not its business.
    world.get("/v1/booking").by(&nusa).send().await.is(403, "forbidden");
    world.get("/v1/refunds").by(&nusa).send().await.is(403, "forbidden");
    let profile = world.get("/user/me").by(&nusa).send().await.ok();
    assert_eq!(profile["role"], "reseller");
    crate::storms::assert_invariants(&world).await;
}

async fn what_a_new_reseller_has_by_default(world: World) {
    let admin = world.admin().await;
    let made = world.post(RESELLERS, reseller_body("nusa@travel.test")).by(&admin).send().await;
    let mut made = made.ok();
    let fields = made.as_object_mut().unwrap();
    assert!(fields.remove("id").is_some() && fields.remove("user_id").is_some());
    let expected = json!({
        "name": "Nusa Travel", "legal_name": "PT Nusa Travel", "npwp": null,
        "email": "nusa@travel.test", "ops_email": null, "phone": "+6281234567890",
        "address": "Denpasar", "status": "active", "credit_limit": 0, "balance": 0,
        "invoice_schedule": "monthly", "terms_days": 14, "max_holds": 200,
        "rate_per_minute": 1200, "currency_precision": 0, "created_at": "2026-11-15T03:00:00Z",
    });
    assert_eq!(made, expected);
}

async fn an_address_has_one_account(world: World) {
    let admin = world.admin().await;
    world.partner("made@bahari.id").await;
    for taken in ["admin@dermaga.test", "made@bahari.id"] {
        let refused = world.post(RESELLERS, reseller_body(taken)).by(&admin).send().await;
        refused.is(409, "email_taken");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM resellers").await, 0);
}

async fn faults_of_a_reseller_are_named(world: World) {
    let admin = world.admin().await;
    world.post(RESELLERS, json!({})).by(&admin).send().await.has_field_errors(&[
        ("address", "required"),
        ("email", "required"),
        ("legal_name", "required"),
        ("name", "required"),
        ("phone", "required"),
    ]);
    let faulty = [
        ("name", json!("see www.evil.example"), "url_not_allowed"),
        ("npwp", json!("1"), "format"),
        ("email", json!("nusa"), "format"),
        ("ops_email", json!("ops"), "format"),
        ("credit_limit", json!(-1), "min"),
        ("invoice_schedule", json!("daily"), "enum"),
        ("terms_days", json!(366), "max"),
        ("max_holds", json!(-1), "min"),
        ("rate_per_minute", json!(0), "min"),
        ("currency_precision", json!(1), "enum"),
        ("currency_precision", json!(3), "max"),
    ];
    for (field, value, rule) in faulty {
        let mut body = reseller_body("nusa@travel.test");
        body[field] = value;
        let errors = world.post(RESELLERS, body).by(&admin).send().await.field_errors();
        assert_eq!(errors, [(field.to_owned(), rule.to_owned())]);
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM resellers").await, 0);
}

async fn an_update_changes_terms_and_address(world: World) {
    let admin = world.admin().await;
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let mut body = reseller_body("new@travel.test");
    body["credit_limit"] = json!(5);
    let after = world.put(&path, body).by(&admin).send().await.ok();
    assert_eq!(after["name"], "Nusa Travel");
    assert_eq!(after["credit_limit"], 5);
    // A new address is confirmed first.
    assert_eq!(after["email"], "nusa@travel.test");
    let reader = world.staff("reader@dermaga.test", &[ResellersRead, ResellersFinance]).await;
    for outsider in [&nusa, &reader] {
        let body = reseller_body("nusa@travel.test");
        world.put(&path, body).by(outsider).send().await.is(403, "forbidden");
    }
}

async fn a_tax_number_is_encrypted_and_that_of_a_person_masked(world: World) {
    let admin = world.admin().await;
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let reader = world.staff("reader@dermaga.test", &[ResellersRead]).await;
    let seen = async |by: &Someone| world.get(&path).by(by).send().await.ok()["npwp"].clone();
    let stored =
        async || -> String { world.db().sql("SELECT npwp FROM resellers").scalar().await.unwrap() };
    let mut body = reseller_body("nusa@travel.test");
    for (number, masked) in
        [("012345678901234", "012345678901234"), ("5171012304850001", "************0001")]
    {
        body["npwp"] = json!(number);
        let after = world.put(&path, body.clone()).by(&admin).send().await.ok();
        assert_eq!(after["npwp"], number);
        assert_eq!((seen(&nusa).await, seen(&reader).await), (json!(number), json!(masked)));
        assert!(!stored().await.contains(number));
    }
    let listed = world.get(RESELLERS).by(&reader).send().await.ok();
    assert_eq!(listed[0]["npwp"], "************0001");
    body.as_object_mut().unwrap().remove("npwp");
    world.put(&path, body).by(&admin).send().await.ok();
    assert_eq!(seen(&admin).await, "5171012304850001");

    // One that was stored before.
    let clear = world.db().sql("UPDATE resellers SET npwp = '5171012304850002'");
    clear.run().await.unwrap();
    assert_eq!(seen(&admin).await, "5171012304850002");
    assert_eq!(world.app.reseal().await.unwrap(), 1);
    assert!(!stored().await.contains("5171012304850002"));
    assert_eq!(seen(&admin).await, "5171012304850002");
    assert_eq!(world.app.reseal().await.unwrap(), 0);
}

async fn a_start_encrypts_tax_numbers_that_are_stored_in_clear(world: World) {
    const CLEAR: &str = "5171012304850002";
    const ENCRYPTED: &str = "5171012304850001";
    const BAD: &str = "5171 0123 0485 0003";
    let admin = world.admin().await;
    let reader = world.staff("reader@dermaga.test", &[ResellersRead]).await;
    let mut paths = Vec::new();
    for email in ["clear@travel.test", "encrypted@travel.test", "bad@travel.test"] {
        let reseller = world.reseller(email).await;
        paths.push(world.reseller_path(&reseller).await);
    }
    let [clear, encrypted, bad]: [String; 3] = paths.try_into().unwrap();
    let mut body = reseller_body("encrypted@travel.test");
    body["npwp"] = json!(ENCRYPTED);
    world.put(&encrypted, body).by(&admin).send().await.ok();
    for (path, number) in [(&clear, CLEAR), (&bad, BAD)] {
        let update = world.db().sql("UPDATE resellers SET npwp = $1 WHERE id = $2");
        update.bind(number).bind(id_in(path)).run().await.unwrap();
    }
    let before = stored_npwp(&world, &encrypted).await;

    if world.db().engine() == "postgres" {
        tokio::join!(world.second_process(), world.second_process());
    }
    let world = world.restarts_with(|_| {}).await;
    let sealed = stored_npwp(&world, &clear).await;
    assert_eq!(world.app.sealer.open(&sealed).unwrap(), CLEAR);
    assert!(!world.all_stored_data().await.contains(CLEAR), "not even in unused pages");
    assert_eq!(stored_npwp(&world, &encrypted).await, before);
    assert_eq!(stored_npwp(&world, &bad).await, BAD, "it does not stop the start");
    for (path, number, masked) in
        [(&clear, CLEAR, "************0002"), (&encrypted, ENCRYPTED, "************0001")]
    {
        assert_eq!(world.get(path).by(&admin).send().await.ok()["npwp"], number);
        assert_eq!(world.get(path).by(&reader).send().await.ok()["npwp"], masked);
    }
    let world = world.restarts_with(|_| {}).await;
    assert_eq!(stored_npwp(&world, &clear).await, sealed, "once is enough");
}

fn id_in(path: &str) -> Uuid {
    path.rsplit('/').next().unwrap().parse().unwrap()
}

async fn stored_npwp(world: &World, path: &str) -> String {
    let stored = world.db().sql("SELECT npwp FROM resellers WHERE id = $1").bind(id_in(path));
    stored.scalar().await.unwrap()
}

async fn a_suspended_reseller_still_signs_in(world: World) {
    let admin = world.admin().await;
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let (suspend, unsuspend) = (format!("{path}/suspend"), format!("{path}/unsuspend"));
    world
        .post(&suspend, json!({}))
        .by(&admin)
        .send()
        .await
        .has_field_errors(&[("reason", "required")]);
    world.post(&unsuspend, json!({})).by(&admin).send().await.is(409, "invalid_state");
    let reason = json!({ "reason": "Invoices are overdue" });
    let after = world.post(&suspend, reason.clone()).by(&admin).send().await.ok();
    assert_eq!(after["status"], "suspended");
    world.post(&suspend, reason).by(&admin).send().await.is(409, "invalid_state");
    assert_eq!(world.get(&path).by(&nusa).send().await.ok()["status"], "suspended");
    world.signs_in("nusa@travel.test", "reseller").await;
    let found = world.get(&format!("{RESELLERS}?status=active")).by(&admin).send().await.ok();
    assert_eq!(found, json!([]));
    let after = world.post(&unsuspend, json!({})).by(&admin).send().await.ok();
    assert_eq!(after["status"], "active");
}

async fn an_invitation_is_sent_until_it_is_accepted(world: World) {
    let admin = world.admin().await;
    let made = world.post(RESELLERS, reseller_body("nusa@travel.test")).by(&admin).send().await;
    let again = format!("{RESELLERS}/{}/resend-invitation", made.ok()["id"].as_str().unwrap());
    world.delivers_outbox().await;
    world.post(&again, json!({})).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("nusa@travel.test").len(), 2);
    let token = world.mailed_token("nusa@travel.test");
    let accept = json!({ "token": token, "password": PASSWORD, "cpassword": PASSWORD });
    world.post("/auth/reset-password", accept).send().await.ok();
    world.post(&again, json!({})).by(&admin).send().await.is(409, "invalid_state");
}

async fn a_key_is_shown_once_and_kept_as_a_hash(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let made = world.creates_key(&path, &nusa).await.ok();
    let key = made["key"].as_str().unwrap();
    assert_eq!(key.len(), "dmk_".len() + 43);
    assert!(key.starts_with("dmk_"));
    assert_eq!(made["prefix"], key[..12]);
    assert_eq!(made["scopes"], json!(["catalog", "bookings.write"]));
    assert_eq!(made["addresses"], json!([]));
    for field in ["mitra_id", "expires_at", "last_used_at", "last_used_address", "revoked_at"] {
        assert_eq!(made[field], json!(null), "{field}");
    }
    let hash: String = world.db().sql("SELECT hash FROM reseller_keys").scalar().await.unwrap();
    let hex: String = ids::hash(key).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, hex);

    let listed = world.get(&format!("{path}/keys")).by(&nusa).send().await.ok();
    assert!(listed[0].get("key").is_none());
    assert_eq!(listed[0]["id"], made["id"]);
    // Neither the key nor its hash is in the log.
    assert!(!world.all_stored_data().await.contains(key));
    let logged: Value = world
        .db()
        .sql("SELECT after_change FROM audit_logs WHERE action = 'reseller_key.created'")
        .scalar()
        .await
        .unwrap();
    assert_eq!(logged["prefix"], made["prefix"]);
    assert!(!logged.to_string().contains(&hash));
}

async fn a_repeated_request_makes_one_key(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let keys = format!("{}/keys", world.reseller_path(&nusa).await);
    let post = async |body: Value| {
        world.post(&keys, body).by(&nusa).header("idempotency-key", "one").send().await
    };
    let first = post(key_body()).await.ok();
    assert_eq!(post(key_body()).await.ok(), first);
    let mut other = key_body();
    other["name"] = json!("Other");
    post(other).await.is(409, "idempotency_conflict");
    assert_eq!(world.count("SELECT COUNT(*) FROM reseller_keys").await, 1);
    assert!(!world.all_stored_data().await.contains(first["key"].as_str().unwrap()));
}

async fn faults_of_a_key_are_named(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let keys = format!("{}/keys", world.reseller_path(&nusa).await);
    world
        .post(&keys, json!({}))
        .by(&nusa)
        .send()
        .await
        .has_field_errors(&[("name", "required"), ("scopes", "required")]);
    let made = world.active_partner("made@bahari.id").await;
    let many: Vec<_> = (0..21).map(|at| format!("203.0.113.{at}")).collect();
    let faulty = [
        ("scopes", json!([]), "scopes", "min_items"),
        ("scopes", json!(["catalog", "catalog"]), "scopes", "unique"),
        ("scopes", json!(["all"]), "scopes[0]", "enum"),
        ("addresses", json!(["203.0.113.0/33"]), "addresses[0]", "format"),
        ("addresses", json!(["203.0.113.7", "office"]), "addresses[1]", "format"),
        ("addresses", json!(many), "addresses", "max_items"),
        ("expires_at", json!("2026-11-15T03:00:00Z"), "expires_at", "min"),
        ("expires_at", json!("soon"), "expires_at", "format"),
        ("mitra_id", json!(world.partner_id(&made).await), "mitra_id", "not_granted"),
        ("mitra_id", json!(ids::fresh()), "mitra_id", "not_granted"),
    ];
    for (field, value, named, rule) in faulty {
        let mut body = key_body();
        body[field] = value;
        let errors = world.post(&keys, body).by(&nusa).send().await.field_errors();
        assert_eq!(errors, [(named.to_owned(), rule.to_owned())]);
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM reseller_keys").await, 0);
}

async fn networks_are_written_in_one_way(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let keys = format!("{}/keys", world.reseller_path(&nusa).await);
    let mut body = key_body();
    body["addresses"] = json!(["203.0.113.9/24", "2001:DB8::1", "203.0.113.0/24", "198.51.100.4"]);
    body["expires_at"] = json!("2026-12-15T03:00:00Z");
    let made = world.post(&keys, body).by(&nusa).send().await.ok();
    let networks = json!(["203.0.113.0/24", "2001:db8::1/128", "198.51.100.4/32"]);
    assert_eq!(made["addresses"], networks);
    assert_eq!(made["expires_at"], "2026-12-15T03:00:00Z");
}

async fn a_reseller_has_ten_live_keys_at_most(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let keys = format!("{path}/keys");
    let mut brief = key_body();
    brief["expires_at"] = json!("2026-11-15T03:30:00Z");
    let brief = world.post(&keys, brief).by(&nusa).send().await.ok();
    for _ in 0..8 {
        world.creates_key(&path, &nusa).await.ok();
    }
    // The tenth is made once, whoever asks at the same time.
    let answers = join_all((0..5).map(|_| world.creates_key(&path, &nusa))).await;
    let (made, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(made.len(), 1);
    for answer in refused {
        answer.is(409, "quota_exceeded");
    }
    // An expired key and a revoked one make room.
    world.advances_clock(TimeDelta::minutes(30));
    let made = world.creates_key(&path, &nusa).await.ok();
    world.creates_key(&path, &nusa).await.is(409, "quota_exceeded");
    world.delete(&format!("{keys}/{}", made["id"].as_str().unwrap())).by(&nusa).send().await.ok();
    world.creates_key(&path, &nusa).await.ok();
    let listed = world.get(&format!("{keys}?page_size=100")).by(&nusa).send().await.ok();
    assert_eq!(listed.as_array().unwrap().len(), 12);
    assert_eq!(listed[11]["id"], brief["id"]);
}

async fn a_revoked_key_stays_in_the_list(world: World) {
    let admin = world.admin().await;
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let made = world.creates_key(&path, &admin).await.ok();
    let key = format!("{path}/keys/{}", made["id"].as_str().unwrap());
    let revoked = world.delete(&key).by(&nusa).send().await.ok();
    assert_eq!(revoked["revoked_at"], "2026-11-15T03:00:00Z");
    world.delete(&key).by(&nusa).send().await.is(409, "invalid_state");
    let listed = world.get(&format!("{path}/keys")).by(&nusa).send().await.ok();
    assert_eq!(listed, json!([revoked]));
    let log = world.get("/v1/audit-logs?action=reseller_key.revoked").by(&admin).send().await.ok();
    assert_eq!(log[0]["actor"]["email"], "nusa@travel.test");
    assert_eq!(log[0]["after"]["revoked_at"], revoked["revoked_at"]);
    // It can be the name of a person.
    assert_ne!(log[0]["after"]["name"], "Engine");
}

async fn keys_are_the_resellers_own(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let other = world.reseller("other@travel.test").await;
    let (path, others) = (world.reseller_path(&nusa).await, world.reseller_path(&other).await);
    let made = world.creates_key(&path, &nusa).await.ok();
    let id = made["id"].as_str().unwrap();
    world.creates_key(&path, &other).await.is(404, "not_found");
    world.get(&format!("{path}/keys")).by(&other).send().await.is(404, "not_found");
    for key in [format!("{path}/keys/{id}"), format!("{others}/keys/{id}")] {
        world.delete(&key).by(&other).send().await.is(404, "not_found");
    }
    let reader = world.staff("reader@dermaga.test", &[ResellersRead]).await;
    world.get(&format!("{path}/keys")).by(&reader).send().await.is(403, "forbidden");
    let manager = world.staff("manager@dermaga.test", &[ResellersWrite]).await;
    world.delete(&format!("{path}/keys/{id}")).by(&manager).send().await.ok();
}

async fn a_new_key_needs_a_recent_sign_in(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    world.advances_clock(TimeDelta::hours(1));
    world.creates_key(&path, &nusa).await.is(403, "reauthentication_required");
    assert_eq!(world.count("SELECT COUNT(*) FROM reseller_keys").await, 0);
}

async fn partners_are_granted_as_a_whole_list(world: World) {
    let admin = world.admin().await;
    let nusa = world.reseller("nusa@travel.test").await;
    let other = world.reseller("other@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let made = world.partner_id(&world.active_partner("made@bahari.id").await).await;
    let partners = format!("{path}/partners");
    assert_eq!(world.get(&partners).by(&nusa).send().await.ok(), json!({ "grants": [] }));

    let policy = json!([
        { "hours_before": 48, "percent": 100 }, { "hours_before": 12, "percent": 50 },
    ]);
    let list = json!([
        { "margin_rate": 5 },
        { "mitra_id": made, "margin_rate": 7.25, "refund_policy": policy, "allow_loss": true },
    ]);
    let after = world.grants(&path, list, &admin).await.ok();
    let name = world.get(&format!("/v1/mitra/manajemen/{made}/edit")).by(&admin).send().await.ok();
    let theirs = json!({
        "mitra_id": made, "mitra": { "id": made, "name": name["name"] }, "margin_rate": 7.25,
        "net_fares": [], "refund_policy": policy, "allow_loss": true,
    });
    let all = json!({
        "mitra_id": null, "mitra": null, "margin_rate": 5, "net_fares": [],
        "refund_policy": null, "allow_loss": false,
    });
    assert_eq!(after, json!({ "grants": [theirs, all] }));
    assert_eq!(world.get(&partners).by(&admin).send().await.ok(), after);

    // The reseller does not see what the platform pays for.
    let seen = world.get(&partners).by(&nusa).send().await.ok();
    assert_eq!(seen["grants"][0]["margin_rate"], 7.25);
    assert_eq!(seen["grants"][0]["allow_loss"], json!(null));
    world.get(&partners).by(&other).send().await.is(404, "not_found");
    world.grants(&path, json!([]), &nusa).await.is(403, "forbidden");

    let one = json!([{ "mitra_id": made, "margin_rate": 0 }]);
    let after = world.grants(&path, one, &admin).await.ok();
    assert_eq!(after["grants"].as_array().unwrap().len(), 1);
    assert_eq!(after["grants"][0]["margin_rate"], 0);
    // What a grant leaves out stays, and null clears it.
    assert_eq!(after["grants"][0]["refund_policy"], policy);
    assert_eq!(after["grants"][0]["allow_loss"], true);
    let cleared = json!([
        { "mitra_id": made, "margin_rate": 0, "refund_policy": null, "allow_loss": null },
    ]);
    let after = world.grants(&path, cleared, &admin).await.ok();
    assert_eq!(after["grants"][0]["refund_policy"], json!(null));
    assert_eq!(after["grants"][0]["allow_loss"], false);
    world.grants(&path, json!([]), &admin).await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM reseller_grants").await, 0);
}

async fn a_key_is_for_a_granted_partner(world: World) {
    let admin = world.admin().await;
    let nusa = world.reseller("nusa@travel.test").await;
    let path = world.reseller_path(&nusa).await;
    let made = world.partner_id(&world.active_partner("made@bahari.id").await).await;
    let mut body = key_body();
    body["mitra_id"] = json!(made);
    let post = async || {
        world.post(&format!("{path}/keys"), body.clone()).by(&nusa).send_with_retry().await
    };
    post().await.has_field_errors(&[("mitra_id", "not_granted")]);
    for grant in [json!({ "mitra_id": made, "margin_rate": 5 }), json!({ "margin_rate": 5 })] {
        world.grants(&path, json!([grant]), &admin).await.ok();
        assert_eq!(post().await.ok()["mitra_id"], json!(made));
    }
}

async fn faults_of_grants_are_named(world: World) {
    let admin = world.admin().await;
    let path = world.reseller_path(&world.reseller("nusa@travel.test").await).await;
    let sailing = world.sailing().await;
    let made = world.partner_id(&sailing.partner).await;
    let ketut = world.partner_id(&world.active_partner("ketut@laut.id").await).await;
    let lines = world.get("/v1/mitra/lines").by(&sailing.partner).send().await.ok();
    let line = &lines[0]["id"];
    world
        .put(&format!("{path}/partners"), json!({}))
        .by(&admin)
        .send()
        .await
        .has_field_errors(&[("grants", "required")]);
    let net = |line: &Value, fare: &str| json!({ "line_id": line, "fare": fare, "net": 150_000 });
    let policy = |steps: &[(u32, u32)]| -> Value {
        steps.iter().map(|(h, p)| json!({ "hours_before": h, "percent": p })).collect()
    };
    let long: Vec<_> = (0..11).map(|n| (100 - n, 100 - n)).collect();
    let with = |field: &str, value: Value| {
        let mut grant = json!({ "mitra_id": made, "margin_rate": 5 });
        grant[field] = value;
        json!([grant])
    };
    let all = json!({ "margin_rate": 5 });
    let faulty = [
        (json!([{}]), "grants[0].margin_rate", "required"),
        (with("margin_rate", json!(101)), "grants[0].margin_rate", "max"),
        (json!([all, all]), "grants[1].mitra_id", "unique"),
        (with("mitra_id", json!(ids::fresh())), "grants[0].mitra_id", "unknown"),
        (
            with("net_fares", json!([net(line, "adult"), net(line, "adult")])),
            "grants[0].net_fares[1].fare",
            "unique",
        ),
        (
            with("net_fares", json!([net(&json!(ids::fresh()), "adult")])),
            "grants[0].net_fares[0].line_id",
            "unknown",
        ),
        (with("net_fares", json!([net(line, "pilot")])), "grants[0].net_fares[0].fare", "unknown"),
        (
            json!([{ "mitra_id": ketut, "margin_rate": 5, "net_fares": [net(line, "adult")] }]),
            "grants[0].net_fares[0].line_id",
            "unknown",
        ),
        (with("refund_policy", json!([])), "grants[0].refund_policy", "min_items"),
        (with("refund_policy", policy(&long)), "grants[0].refund_policy", "max_items"),
        (with("refund_policy", policy(&[(24, 101)])), "grants[0].refund_policy[0].percent", "max"),
        (
            with("refund_policy", policy(&[(24, 100), (24, 50)])),
            "grants[0].refund_policy[1].hours_before",
            "order",
        ),
        (
            with("refund_policy", policy(&[(24, 50), (6, 100)])),
            "grants[0].refund_policy[1].percent",
            "order",
        ),
    ];
    for (grants, field, rule) in faulty {
        let errors = world.grants(&path, grants.clone(), &admin).await.field_errors();
        assert_eq!(errors, [(field.to_owned(), rule.to_owned())], "{grants}");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM reseller_grants").await, 0);
}

async fn a_margin_stays_within_the_commission(world: World) {
    let admin = world.admin().await;
    let path = world.reseller_path(&world.reseller("nusa@travel.test").await).await;
    let made = world.partner_id(&world.active_partner("made@bahari.id").await).await;
    let below_cost = &[("grants[0].margin_rate", "below_cost")];
    // The usual commission is 10 percent.
    for mitra_id in [json!(null), json!(made)] {
        let grant = |margin: f64| json!([{ "mitra_id": mitra_id, "margin_rate": margin }]);
        world.grants(&path, grant(10.0), &admin).await.ok();
        world.grants(&path, grant(10.01), &admin).await.has_field_errors(below_cost);
    }
    let mut loss = json!([{ "mitra_id": made, "margin_rate": 12, "allow_loss": true }]);
    world.grants(&path, loss.clone(), &admin).await.ok();
    loss[0]["allow_loss"] = json!(null);
    world.grants(&path, loss, &admin).await.has_field_errors(below_cost);
    // One bad grant keeps the list as it was.
    let after = world.get(&format!("{path}/partners")).by(&admin).send().await.ok();
    assert_eq!(after["grants"][0]["margin_rate"], 12);
}

async fn the_commission_for_resold_bookings_counts(world: World) {
    let admin = world.admin().await;
    let path = world.reseller_path(&world.reseller("nusa@travel.test").await).await;
    let made = world.partner_id(&world.active_partner("made@bahari.id").await).await;
    let configure = async |mut body: Value, mitra_id: Option<&str>| {
        body["mitra_id"] = json!(mitra_id);
        world.post("/v1/settlements/configuration", body).by(&admin).send().await.ok()
    };
    let most = async |mitra_id: Option<&str>, rate: f64| {
        let grant = |margin: f64| json!([{ "mitra_id": mitra_id, "margin_rate": margin }]);
        world.grants(&path, grant(rate), &admin).await.ok();
        let refused = world.grants(&path, grant(rate + 0.01), &admin).await;
        refused.has_field_errors(&[("grants[0].margin_rate", "below_cost")]);
    };
    configure(json!({ "commission_rate": 12 }), Some(&made)).await;
    most(Some(&made), 12.0).await;
    most(None, 10.0).await;
    // The default's rate for resold bookings goes before the usual commission of a partner.
    configure(json!({ "resale_commission_rate": 8 }), None).await;
    most(Some(&made), 8.0).await;
    most(None, 8.0).await;
    let own = configure(json!({ "resale_commission_rate": 15.5 }), Some(&made)).await;
    assert_eq!(own["resale_commission_rate"], 15.5);
    assert_eq!(own["commission_rate"], 12);
    most(Some(&made), 15.5).await;
    most(None, 8.0).await;
    let kept = configure(json!({ "hold_days": 1 }), Some(&made)).await;
    assert_eq!(kept["resale_commission_rate"], 15.5);
    let cleared = configure(json!({ "resale_commission_rate": null }), Some(&made)).await;
    assert_eq!(cleared["resale_commission_rate"], 8);
    let cleared = configure(json!({ "resale_commission_rate": null }), None).await;
    assert_eq!(cleared["resale_commission_rate"], json!(null));
    most(Some(&made), 12.0).await;
}

async fn a_net_fare_stays_within_the_commission(world: World) {
    let admin = world.admin().await;
    let path = world.reseller_path(&world.reseller("nusa@travel.test").await).await;
    let sailing = world.sailing().await;
    let made = world.partner_id(&sailing.partner).await;
    let lines = world.get("/v1/mitra/lines").by(&sailing.partner).send().await.ok();
    let line = lines[0]["id"].as_str().unwrap();
    let fares = json!({ "fares": [
        { "category": "adult", "price": { "percent": 100 } },
        { "category": "child", "price": { "amount": 50_000 } },
    ] });
    let line_path = format!("/v1/mitra/lines/{line}");
    world.put(&line_path, fares).by(&sailing.partner).send().await.ok();
    let grant = |fare: &str, net: i64| {
        let net = json!({ "line_id": line, "fare": fare, "net": net });
        json!([{ "mitra_id": made, "margin_rate": 5, "net_fares": [net], "allow_loss": false }])
    };
    let below_cost = &[("grants[0].net_fares[0].net", "below_cost")];
    // 10 percent of 150,000 and of 50,000.
    for (fare, least) in [("adult", 135_000), ("child", 45_000)] {
        let after = world.grants(&path, grant(fare, least), &admin).await.ok();
        assert_eq!(after["grants"][0]["net_fares"][0]["net"], least);
        world.grants(&path, grant(fare, least - 1), &admin).await.has_field_errors(below_cost);
    }
    let mut loss = grant("adult", 1);
    loss[0]["allow_loss"] = json!(true);
    world.grants(&path, loss, &admin).await.ok();
    // The cheapest sailing counts.
    let cheap = "UPDATE sailings SET price = 100000
         WHERE departure_at = (SELECT MAX(departure_at) FROM sailings)";
    world.db().sql(cheap).run().await.unwrap();
    world.grants(&path, grant("adult", 90_000), &admin).await.ok();
    world.grants(&path, grant("adult", 89_999), &admin).await.has_field_errors(below_cost);
    // Nothing sails: the price cannot be known.
    world.advances_clock(TimeDelta::days(10));
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    world.grants(&path, grant("adult", 1), &admin).await.ok();
    world.grants(&path, grant("child", 1), &admin).await.has_field_errors(below_cost);
}
