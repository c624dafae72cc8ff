//! Personal data is kept for its time, and exported and erased on request. Canaries go in over HTTP
//! and are searched for in every table, in the raw files of the database and in the data folder.

use std::path::Path;

use chrono::TimeDelta;
use dermaga::{
    bookings,
    config::Switch,
    invariants,
    kernel::{access::Rule, email::Email, ids::Uuid},
    privacy,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, order},
    on_both_engines,
    resale::{Shop, sailing_of, wish},
    support::form::Form,
    world::{Answer, Someone, World},
};

on_both_engines![
    expired_personal_data_is_nowhere,
    nothing_expires_before_its_time_or_if_it_is_kept_for_ever,
    a_person_is_erased_at_once_and_the_rest_when_it_is_over,
    erasing_twice_and_erasing_nobody_is_fine,
    a_booking_that_owes_money_waits,
    a_partner_is_erased_when_its_business_is_over,
    a_reseller_is_exported_and_erased_when_its_business_is_over,
    mails_for_operations_are_erased_with_the_reseller,
    an_address_for_operations_is_exported_and_removed,
    an_erased_account_has_no_pending_address_and_no_second_factor,
    active_staff_is_deactivated_first,
    only_those_with_the_rule_may,
    an_export_has_everything_of_the_person_and_nothing_of_others,
    an_erasure_races_with_a_cancellation,
    a_bad_row_does_not_stop_the_others,
    letters_are_kept_for_thirty_days,
    a_provider_can_say_nothing_new_about_an_erased_booking,
    promotions_count_as_before,
];

const EMAIL: &str = "kenari.sastro@kutilang.example";
const OTHER: &str = "budi@example.com";
const RULES: [Rule; 1] = [Rule::PrivacyManage];
/// What must not be found afterwards: parts of names, addresses, numbers and free texts.
const CANARIES: [&str; 9] = [
    "kenari.sastro",
    "kutilang.example",
    "Kenari Sastrowardoyo",
    "Jalak Sastrowardoyo",
    "81377310077",
    "5171017731000177",
    "gelatik-catatan",
    "gelatik-alasan",
    "gelatik-pembayar",
];

/// Every byte that a thief of the disk could read, lower-case.
async fn all_stored_bytes(world: &World) -> String {
    let mut all = world.all_stored_data().await;
    read_all(&world.app.config.data_dir, &mut all);
    all.to_lowercase()
}

fn read_all(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        all.push_str(&entry.file_name().to_string_lossy());
        match entry.path() {
            path if path.is_dir() => read_all(&path, all),
            path => {
                all.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()))
            }
        }
    }
}

fn find_canaries<'c>(all: &str, canaries: &[&'c str]) -> Vec<&'c str> {
    canaries.iter().copied().filter(|canary| all.contains(&canary.to_lowercase())).collect()
}

async fn assert_invariants(world: &World) {
    for question in invariants::check(world.db()).await.unwrap() {
        assert!(question.broken.is_empty(), "{}: {:?}", question.rule, question.broken);
    }
}

/// What the platform's people see of the money.
async fn financial_reports(world: &World, admin: &Someone) -> Vec<Value> {
    let mut seen = Vec::new();
    for report in [
        "overview",
        "revenue-breakdown/payment",
        "revenue-breakdown/type",
        "revenue-breakdown/partner",
        "revenue-breakdown/reseller",
    ] {
        let path = format!(
            "/v1/finance/reports/{report}?period_type=Custom&comparison_mode=Month-over-month\
             &start_date=2026-11-01&end_date=2026-11-30"
        );
        seen.push(world.get(&path).by(admin).send().await.ok());
    }
    let ledger: Vec<(String, i64)> = world
        .db()
        .sql(
            "SELECT account, CAST(SUM(amount) AS BIGINT) FROM ledger_lines
             GROUP BY account ORDER BY account",
        )
        .all()
        .await
        .unwrap();
    seen.push(json!(ledger));
    seen
}

/// The order of somebody with much to hide.
fn secret_order(sailing: &Sailing, email: &str) -> Value {
    let mut order = order(sailing, 2, email);
    order["note"] = json!("gelatik-catatan: window seat");
    order["contact"]["name"] = json!("Kenari Sastrowardoyo");
    order["contact"]["phone"] = json!("081377310077");
    order["passengers"] = json!([
        { "name": "Kenari Sastrowardoyo", "identity_type": "nik",
          "identity_number": "5171017731000177", "gender": "female", "birth_date": "1990-02-03",
          "nationality": "ID" },
        { "name": "Jalak Sastrowardoyo" },
    ]);
    order
}

/// Pays as a provider does who tells much about the payer.
async fn pays(world: &World, booking: &Value) {
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let total = booking["price"]["total"].as_i64().unwrap();
    let mut told = callback_body(reference, total, "settlement", &format!("t-{reference}"));
    told["customer_details"] = json!({ "first_name": "gelatik-pembayar", "email": EMAIL });
    world.post("/v1/payment/callback", told).send_with_retry().await.ok();
}

fn with_guest_credentials(booking: &Value, mut body: Value) -> Value {
    body["code"] = booking["code"].clone();
    body["email"] = booking["contact"]["email"].clone();
    body
}

fn path(booking: &Value, last: &str) -> String {
    format!("/v1/booking/{}{last}", booking["id"].as_str().unwrap())
}

async fn erases(world: &World, email: &str, by: &Someone) -> Answer {
    let body = json!({ "email": email, "reason": "Asked by letter" });
    world.post("/v1/privacy/erase", body).by(by).send_with_retry().await
}

async fn exports(world: &World, email: &str, by: &Someone) -> Answer {
    world.post("/v1/privacy/export", json!({ "email": email })).by(by).send().await
}

/// Lets time pass, and everything happen that time brings.
async fn advances_clock_and_runs_jobs(world: &World, time: TimeDelta) {
    world.advances_clock(time);
    bookings::expire(&world.app).await.unwrap();
    bookings::complete(&world.app).await.unwrap();
    world.delivers_outbox().await;
}

async fn finish_erasures(world: &World) -> u64 {
    let mut done = 0;
    loop {
        let pass = privacy::finish_some(&world.app).await.unwrap();
        done += pass.done;
        if !pass.more {
            return done;
        }
    }
}

async fn erase_expired(world: &World) -> u64 {
    let mut done = 0;
    loop {
        let pass = privacy::erase_expired_some(&world.app).await.unwrap();
        done += pass.done;
        if !pass.more {
            return done;
        }
    }
}

/// A service that also tells a webhook, which cannot be reached.
async fn with_webhook(world: World) -> (World, Someone) {
    let world = world.with(|config| config.webhook_private_addresses = Switch(true)).await;
    let admin = world.admin().await;
    let events = json!([
        "booking.created",
        "booking.paid",
        "booking.cancelled",
        "booking.rescheduled",
        "partner.registered",
        "partner.approved",
        "partner.suspended"
    ]);
    let webhook = json!({ "url": "http://127.0.0.1:9/", "events": events });
    world.post("/v1/webhooks", webhook).by(&admin).send().await.ok();
    (world, admin)
}

/// One booking that sails after a reschedule, one that is cancelled and refunded, one that expires,
/// and one that staff makes and cancels. Returns the first.
async fn create_bookings(world: &World, admin: &Someone, sailing: &Sailing) -> Value {
    let promotion = crate::promotions::promotion("LIBUR");
    world.post("/v1/contents/promotion", promotion).by(admin).send().await.ok();
    let mut wanted = secret_order(sailing, EMAIL);
    wanted["code_promo"] = json!("LIBUR");
    let key = "key-of-a-guest";
    let call = world.post("/v1/booking/", wanted).header("idempotency-key", key);
    let sailed = call.send().await.ok();
    pays(world, &sailed).await;
    let other = world.sailing_of_another_day(sailing).await;
    let moved = with_guest_credentials(
        &sailed,
        json!({ "route_time_id": other.id, "reason": "gelatik-alasan: late" }),
    );
    world.post(&path(&sailed, "/reschedule"), moved).send().await.ok();
    let refunded = world.books(secret_order(sailing, EMAIL)).await.ok();
    pays(world, &refunded).await;
    let cancel = with_guest_credentials(&refunded, json!({ "reason": "gelatik-alasan: ill" }));
    world.post(&path(&refunded, "/cancel"), cancel).send().await.ok();
    let refund = json!({ "reference": "BCA-1" });
    world.post(&path(&refunded, "/refund"), refund).by(admin).send().await.ok();
    world.books(secret_order(sailing, EMAIL)).await.ok();
    let call = world.post("/v1/booking/", secret_order(sailing, EMAIL)).by(admin);
    let by_staff = call.send().await.ok();
    let cancel = json!({ "reason": "gelatik-alasan: wrong day" });
    world.post(&path(&by_staff, "/cancel"), cancel).by(admin).send().await.ok();
    world.delivers_outbox().await;
    // Manifests are closed shortly before the departure, which is on the 17th at midnight UTC.
    world.advances_clock(TimeDelta::hours(44));
    closes_manifest(world, &other).await;
    sailed
}

async fn closes_manifest(world: &World, sailing: &Sailing) {
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    world.closes_manifest(&Sailing { partner, ..sailing.clone() }).await.ok();
}

async fn expired_personal_data_is_nowhere(world: World) {
    let (world, admin) = with_webhook(world).await;
    let sailing = world.sailing().await;
    let other = world.books(order(&sailing, 1, OTHER)).await.ok();
    world.pays(&other).await;
    let sailed = create_bookings(&world, &admin, &sailing).await;
    advances_clock_and_runs_jobs(&world, TimeDelta::days(4)).await;
    let before = all_stored_bytes(&world).await;
    // Identity numbers are stored encrypted.
    assert_eq!(
        find_canaries(&before, &CANARIES).len(),
        CANARIES.len() - 1,
        "the search can find them"
    );
    assert!(!world.letters_to(EMAIL).is_empty());

    advances_clock_and_runs_jobs(&world, TimeDelta::days(1095)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let seen = financial_reports(&world, &admin).await;
    assert_eq!(erase_expired(&world).await, 5);
    world.app.sweep().await.unwrap();
    world.app.db.scrub().await.unwrap();

    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    assert_eq!(financial_reports(&world, &admin).await, seen);
    assert_invariants(&world).await;
    let booking = world.get(&path(&sailed, "")).by(&admin).send().await.ok();
    assert_eq!(booking["code"], sailed["code"]);
    assert_eq!(booking["status"], "completed");
    assert_eq!(booking["qty"], 2);
    assert_eq!(booking["contact"]["name"], "[erased]");
    assert_eq!(booking["contact"]["phone"], "");
    assert_eq!(booking["note"], "");
    for (passenger, was) in [0, 1].map(|n| (&booking["passengers"][n], &sailed["passengers"][n])) {
        assert_eq!(passenger["id"], was["id"]);
        assert_eq!(passenger["name"], "[erased]");
        for field in ["identity_type", "identity_number", "gender", "birth_date", "nationality"] {
            assert_eq!(passenger[field], json!(null), "{field}");
        }
    }
    // The closed manifest is sealed, so it is read by those who may.
    let sailing_id = booking["route_time_id"].as_str().unwrap();
    let manifest = format!("/v1/mitra/route-times/{sailing_id}/manifest");
    let manifest = world.get(&manifest).by(&admin).send().await.ok();
    assert_eq!(manifest["passengers"].as_array().unwrap().len(), 2);
    assert_eq!(find_canaries(&manifest.to_string().to_lowercase(), &CANARIES), [""; 0]);
    assert_eq!(manifest["passengers"][0]["contact"]["name"], "[erased]");
    // Its former guest cannot open it, not even with the placeholder.
    for email in [EMAIL, booking["contact"]["email"].as_str().unwrap()] {
        let code = sailed["code"].as_str().unwrap();
        let answer = world.get(&path(&sailed, &format!("?code={code}&email={email}"))).send().await;
        assert!([404, 422].contains(&answer.status), "{}", answer.body);
    }
    assert_eq!(erase_expired(&world).await, 0, "once is enough");
}

async fn nothing_expires_before_its_time_or_if_it_is_kept_for_ever(world: World) {
    let sailing = world.sailing().await;
    let sold = world.books(order(&sailing, 1, EMAIL)).await.ok();
    world.pays(&sold).await;
    let cancelled = world.books(order(&sailing, 1, OTHER)).await.ok();
    world.pays(&cancelled).await;
    let cancel = with_guest_credentials(&cancelled, json!({ "reason": "ill" }));
    world.post(&path(&cancelled, "/cancel"), cancel).send().await.ok();
    advances_clock_and_runs_jobs(&world, TimeDelta::days(4)).await;
    // It arrives on the 16th at 00:45.
    let arrival = "2026-11-16T00:45:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    world.advances_clock(arrival + TimeDelta::days(1095) - world.now() - TimeDelta::seconds(1));
    assert_eq!(erase_expired(&world).await, 0, "the cancelled one is owed money");
    world.advances_clock(TimeDelta::seconds(1));
    assert_eq!(erase_expired(&world).await, 1);
    let world = world.restarts_with(|config| config.personal_data_days = 0).await;
    world.advances_clock(TimeDelta::days(9_000));
    assert_eq!(erase_expired(&world).await, 0);
    let kept = "SELECT COUNT(*) FROM bookings WHERE erased_at IS NULL";
    assert_eq!(world.count(kept).await, 1);
}

async fn a_person_is_erased_at_once_and_the_rest_when_it_is_over(world: World) {
    let (world, admin) = with_webhook(world).await;
    let officer = world.staff("dpo@dermaga.test", &RULES).await;
    let sailing = world.sailing().await;
    create_bookings(&world, &admin, &sailing).await;
    advances_clock_and_runs_jobs(&world, TimeDelta::days(4)).await;
    let officer = world.signs_in(&officer.email, "staff").await;
    let admin = world.signs_in(&admin.email, "admin").await;
    // One more that is still to sail.
    let boat =
        world.adds_boat(&world.signs_in(&sailing.partner.email, "mitra").await, "GT. 9").await;
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let mut route = crate::harbour::route(&boat);
    route["start_date"] = json!("2026-11-25");
    route["end_date"] = json!("2026-11-25");
    let route = world.creates_route(&partner, route).await;
    world.publishes_route(&partner, &route).await.ok();
    let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
    let later = Sailing { partner, boat, id };
    let upcoming = world.books(secret_order(&later, EMAIL)).await.ok();
    pays(&world, &upcoming).await;
    world.delivers_outbox().await;
    let seen = financial_reports(&world, &admin).await;

    let erasure = erases(&world, &EMAIL.to_uppercase(), &officer).await.ok();
    assert_eq!((&erasure["erased"], &erasure["waiting"]), (&json!(4), &json!(1)), "{erasure}");
    assert_eq!(erasure["bookings"], json!({ "erased": 4, "waiting": 1 }));
    assert_eq!(erasure["accounts"], json!({ "erased": 0, "waiting": 0 }));
    assert!(erasure["letters"].as_u64().unwrap() > 5, "{erasure}");
    assert!(world.letters_to("kenari").is_empty());
    assert_eq!(financial_reports(&world, &admin).await, seen);
    // What waits goes on as before.
    let booking = world.looks_up(&upcoming).await;
    assert_eq!(booking["contact"]["name"], "Kenari Sastrowardoyo");
    let again = with_guest_credentials(&upcoming, json!({}));
    world.post(&path(&upcoming, "/resend-ticket"), again).send().await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("kenari").len(), 1);
    assert_eq!(finish_erasures(&world).await, 0, "it is not over");

    advances_clock_and_runs_jobs(&world, TimeDelta::days(8)).await;
    assert_eq!(finish_erasures(&world).await, 1);
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    assert_eq!(world.count("SELECT COUNT(*) FROM pending_erasures").await, 0);
    assert_invariants(&world).await;
    // The request is in the audit log, without the address.
    let admin = world.signs_in(&admin.email, "admin").await;
    let log = "/v1/audit-logs?action=privacy.erasure_requested";
    let log = world.get(log).by(&admin).send().await.ok();
    assert_eq!(log.as_array().unwrap().len(), 1);
    assert_eq!(log[0]["entity_type"], "person");
    assert_eq!(log[0]["after"]["reason"], "Asked by letter");
    assert_eq!(log[0]["after"]["bookings"], 5);
    assert_eq!(log[0]["after"]["subject"].as_str().map(str::len), Some(64));
}

async fn erasing_twice_and_erasing_nobody_is_fine(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.books(secret_order(&sailing, EMAIL)).await.ok();
    world.books(secret_order(&sailing, OTHER)).await.ok();
    advances_clock_and_runs_jobs(&world, TimeDelta::days(3)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let first = erases(&world, EMAIL, &admin).await.ok();
    assert_eq!((&first["erased"], &first["waiting"]), (&json!(1), &json!(0)));
    let nothing = json!({
        "erased": 0, "waiting": 0, "accounts": { "erased": 0, "waiting": 0 },
        "bookings": { "erased": 0, "waiting": 0 }, "resellers": 0, "letters": 0,
    });
    assert_eq!(erases(&world, EMAIL, &admin).await.ok(), nothing);
    assert_eq!(erases(&world, "nobody@example.com", &admin).await.ok(), nothing);
    let others = "SELECT COUNT(*) FROM bookings WHERE contact_email = 'budi@example.com'";
    assert_eq!(world.count(others).await, 1, "others are not touched");
    // Nobody writes a contact into an erased booking.
    let contact = "UPDATE bookings SET contact_name = 'Kenari' WHERE erased_at IS NOT NULL";
    assert!(world.db().sql(contact).run().await.unwrap_err().is_check());
    // The reason is kept, so it does not repeat the address.
    let body = json!({ "email": EMAIL, "reason": format!("Mail from {}", EMAIL.to_uppercase()) });
    let answer = world.post("/v1/privacy/erase", body).by(&admin).send().await;
    answer.has_field_errors(&[("reason", "personal")]);
    let answer = world.post("/v1/privacy/erase", json!({ "email": "x" })).by(&admin).send().await;
    answer.has_field_errors(&[("email", "format"), ("reason", "required")]);
}

async fn a_booking_that_owes_money_waits(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let cancelled = world.books(secret_order(&sailing, EMAIL)).await.ok();
    pays(&world, &cancelled).await;
    let cancel = with_guest_credentials(&cancelled, json!({ "reason": "ill" }));
    world.post(&path(&cancelled, "/cancel"), cancel).send().await.ok();
    let reviewed = world.books(secret_order(&sailing, EMAIL)).await.ok();
    let reference = reviewed["payment"]["reference"].as_str().unwrap();
    let wrong = callback_body(reference, 1, "settlement", "wrong");
    world.post("/v1/payment/callback", wrong).send().await.ok();
    advances_clock_and_runs_jobs(&world, TimeDelta::days(3)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let erasure = erases(&world, EMAIL, &admin).await.ok();
    assert_eq!((&erasure["erased"], &erasure["waiting"]), (&json!(0), &json!(2)));
    let refund = json!({ "reference": "BCA-1" });
    world.post(&path(&cancelled, "/refund"), refund.clone()).by(&admin).send().await.ok();
    let reviews = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    let review = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let decision = json!({ "action": "refund", "note": "gelatik-alasan" });
    world.post(&review, decision).by(&admin).send().await.ok();
    // Decided, and owed until it is paid.
    world.post(&path(&reviewed, "/refund"), refund).by(&admin).send().await.ok();
    advances_clock_and_runs_jobs(&world, TimeDelta::hours(2)).await;
    assert_eq!(finish_erasures(&world).await, 2);
    world.app.db.scrub().await.unwrap();
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    assert_invariants(&world).await;
}

async fn a_partner_is_erased_when_its_business_is_over(world: World) {
    const CANARIES: [&str; 8] = [
        "kenari.mitra",
        "Kenari Bahari",
        "81377310099",
        "Jalan Kutilang 77",
        "Jalak Direktur",
        "gelatik-ktp",
        "gelatik-isi",
        "Rekening Kenari",
    ];
    let (world, admin) = with_webhook(world).await;
    let email = "kenari.mitra@bahari.id";
    let partner = world.partner(email).await;
    let desk = world.partner_path(&partner).await;
    let edited = json!({
        "name": "Kenari Bahari", "email": email, "phone": "081377310099",
        "address": "Jalan Kutilang 77", "partnerType": "company",
    });
    world.put(&desk, edited).by(&admin).send().await.ok();
    let mut papers = crate::harbour::onboarding_body();
    papers["pic"]["name"] = json!("Jalak Direktur");
    papers["pic"]["email"] = json!(email);
    papers["business"]["address"] = json!("Jalan Kutilang 77");
    papers["bank_account"]["account_name"] = json!("Rekening Kenari");
    world.updates_onboarding(&partner, papers).await.ok();
    let mut documents = Vec::new();
    for kind in crate::harbour::REQUIRED {
        let content = format!("%PDF-1.4\n% gelatik-isi {kind}\ntrailer\n<<>>\n%%EOF\n");
        let form =
            Form::new().text("purpose", "document").file("gelatik-ktp.pdf", content.as_bytes());
        let call = world.call(Method::POST, "/v1/files/upload").by(&partner).multipart(form);
        let file_id = call.send().await.ok()["id"].clone();
        documents.push(json!({ "type": kind, "file_id": file_id }));
    }
    world.updates_onboarding(&partner, json!({ "documents": documents })).await.ok();
    world.updates_onboarding(&partner, json!({ "submit": true })).await.ok();
    world.approves_all_documents(&desk, &admin).await;
    let approval = json!({ "status": "approved" });
    world.put(&format!("{desk}/bank-approval"), approval).by(&admin).send().await;
    assert_eq!(world.onboarding_status(&partner).await, "active");
    let acting = world.impersonates(&desk, &admin).await;
    world.updates_onboarding(&acting, json!({ "pic": { "position": "Owner" } })).await.ok();
    let (boat, route) = world.creates_published_route(&partner, "GT. 7").await;
    let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
    let sailing = Sailing { partner: partner.clone(), boat, id };
    world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES).len(), CANARIES.len());

    let waits = |erasure: &Value| {
        assert_eq!(erasure["accounts"], json!({ "erased": 0, "waiting": 1 }), "{erasure}");
    };
    waits(&erases(&world, email, &admin).await.ok());
    world.get("/user/me").by(&partner).send().await.ok();
    // Suspended, but its passengers have not sailed yet, and then it is owed money.
    let reason = json!({ "reason": "Ends its business" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    waits(&erases(&world, email, &admin).await.ok());
    advances_clock_and_runs_jobs(&world, TimeDelta::days(4)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    waits(&erases(&world, email, &admin).await.ok());
    let settlement = {
        let mitra_id = desk.rsplit('/').next().unwrap();
        let body = json!({
            "mitra_id": mitra_id, "start_date": "2026-11-01", "end_date": "2026-11-30", "note": "",
        });
        world.post("/v1/settlements/manual", body).by(&admin).send().await.ok()
    };
    waits(&erases(&world, email, &admin).await.ok());
    // What a suspended partner is owed is held, so it is active again until it is paid.
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    let releaser = world.admin_with_email("releaser@dermaga.test").await;
    world.releases_settlement(&settlement, &releaser).await.ok();
    let reason = json!({ "reason": "Ends its business" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let seen = financial_reports(&world, &admin).await;
    advances_clock_and_runs_jobs(&world, TimeDelta::hours(2)).await;
    assert_eq!(finish_erasures(&world).await, 1);
    assert!(world.letters_to(email).is_empty());
    // Letters to passengers name the operator of their boat, and are kept for their time.
    let old = std::time::SystemTime::from(world.now() - TimeDelta::days(31));
    for letter in std::fs::read_dir(world.app.config.data_dir.join("mail")).unwrap() {
        let letter = std::fs::OpenOptions::new().write(true).open(letter.unwrap().path()).unwrap();
        letter.set_modified(old).unwrap();
    }
    world.app.sweep().await.unwrap();

    world.app.db.scrub().await.unwrap();
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    let admin = world.signs_in(&admin.email, "admin").await;
    assert_invariants(&world).await;
    let before: Vec<_> = seen.iter().map(|report| without_names(report.clone())).collect();
    let after = financial_reports(&world, &admin).await;
    assert_eq!(after.into_iter().map(without_names).collect::<Vec<_>>(), before);
    world.login(email, "mitra").await.is(401, "invalid_credentials");
    let shown = world.get(&format!("{desk}/edit")).by(&admin).send().await.ok();
    assert_eq!(shown["name"], "[erased]");
    assert_eq!(shown["documents"], json!([]));
    let paid = format!("/v1/settlements/{}", settlement["id"].as_str().unwrap());
    let paid = world.get(&paid).by(&admin).send().await.ok();
    assert_eq!(paid["bank_account"]["account_name"], "[erased]");
    assert_eq!(paid["net"], settlement["net"]);
    // The address is free again.
    world.post("/auth/register-mitra", crate::world::registration(email)).send().await.ok();
}

async fn a_reseller_is_exported_and_erased_when_its_business_is_over(world: World) {
    const OF_KEY: [&str; 2] = ["kenari engine", "203.0.113.77"];
    const CANARIES: [&str; 6] = [
        "Kenari Agen",
        "Kenari Legal",
        "kenari.ops",
        "81377310099",
        "Jalan Kutilang 77",
        "Ends its business",
    ];
    let (shop, admin) = (world.shop().await, world.admin().await);
    let (email, path) = ("agen.kuta@agen.test", format!("/v1/resellers/{}", shop.reseller.id));
    let edited = json!({
        "name": "Kenari Agen", "legal_name": "Kenari Legal", "npwp": "012345678901234",
        "email": email, "ops_email": "kenari.ops@agen.test", "phone": "081377310099",
        "address": "Jalan Kutilang 77",
    });
    world.put(&path, edited).by(&admin).send().await.ok();
    let key = json!({
        "name": "Kenari Engine", "scopes": ["catalog"], "addresses": ["203.0.113.77"],
    });
    world.post(&format!("{path}/keys"), key).by(&admin).send_with_retry().await.ok();
    world.confirmed(&shop, 1).await;
    world.delivers_outbox().await;

    let found = exports(&world, email, &admin).await.ok()["accounts"][0]["reseller"].clone();
    assert_eq!(
        (&found["legal_name"], &found["npwp"]),
        (&json!("Kenari Legal"), &json!("012345678901234"))
    );
    assert_eq!(found["ops_email"], "kenari.ops@agen.test");
    let keys = found["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 2);
    assert!(keys.iter().any(|key| key["name"] == "Kenari Engine"), "{found}");

    let waits = |erasure: &Value| {
        assert_eq!(erasure["accounts"], json!({ "erased": 0, "waiting": 1 }), "{erasure}");
    };
    waits(&erases(&world, email, &admin).await.ok());
    // Suspended, but its passengers have not sailed yet, and then it owes money.
    let reason = json!({ "reason": "Ends its business" });
    world.post(&format!("{path}/suspend"), reason).by(&admin).send().await.ok();
    waits(&erases(&world, email, &admin).await.ok());
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES).len(), CANARIES.len());
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &OF_KEY).len(), OF_KEY.len());
    advances_clock_and_runs_jobs(&world, TimeDelta::days(5)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    waits(&erases(&world, email, &admin).await.ok());
    let owed = world.get(&path).by(&admin).send().await.ok()["balance"].clone();
    assert!(owed.as_i64().is_some_and(|owed| owed > 0), "{owed}");
    let paid = json!({ "amount": owed, "reference": "BCA-9", "received_on": "2026-11-19" });
    world.post(&format!("{path}/payments"), paid).by(&admin).send_with_retry().await.ok();
    advances_clock_and_runs_jobs(&world, TimeDelta::minutes(90)).await;
    assert_eq!(finish_erasures(&world).await, 1);

    world.app.db.scrub().await.unwrap();
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &OF_KEY), [""; 0]);
    assert_invariants(&world).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let left = world.get(&path).by(&admin).send().await.ok();
    for (field, value) in [
        ("name", json!("[erased]")),
        ("legal_name", json!("[erased]")),
        ("npwp", json!(null)),
        ("ops_email", json!(null)),
        ("address", json!("")),
        ("balance", json!(0)),
    ] {
        assert_eq!(left[field], value, "{field}");
    }
    let keys = world.get(&format!("{path}/keys")).by(&admin).send().await.ok();
    for key in keys.as_array().unwrap() {
        assert!(key["revoked_at"].is_string(), "{keys}");
        assert_eq!((&key["name"], &key["addresses"]), (&json!("[erased]"), &json!([])), "{keys}");
    }
    world.octo_get(&shop, "/supplier").send().await.refuses("FORBIDDEN");
}

const OPS: &str = "kenari.ops@kutilang.example";

/// A shop whose reseller has an address for operations, an admin, and the path of the reseller.
async fn shop_with_ops_email(world: &World) -> (Shop, Someone, String) {
    let (shop, admin) = (world.shop().await, world.admin().await);
    let path = format!("/v1/resellers/{}", shop.reseller.id);
    sets_ops_email(world, &path, OPS, &admin).await;
    (shop, admin, path)
}

async fn sets_ops_email(world: &World, path: &str, ops_email: &str, by: &Someone) {
    let reseller = world.get(path).by(by).send().await.ok();
    let edited = json!({
        "name": reseller["name"], "legal_name": reseller["legal_name"],
        "email": reseller["email"], "ops_email": ops_email, "phone": "081377310099",
        "address": reseller["address"],
    });
    world.put(path, edited).by(by).send().await.ok();
}

/// Cancels a sailing of a day that the reseller has sold, of which it is told by mail.
async fn cancels_resold_sailing(world: &World, shop: &Shop, day: &str) {
    let id = world.availability_id(shop, &shop.line, day).await;
    let held = world.reserves(shop, wish(&shop.line, &id, 1)).await.bare();
    let sold = world.confirms(shop, &held).await.bare();
    world.cancels_sailing(&sailing_of(shop, &sold), &shop.partner).await.ok();
    world.delivers_outbox().await;
}

async fn mails_for_operations_are_erased_with_the_reseller(world: World) {
    let (shop, admin, path) = shop_with_ops_email(&world).await;
    cancels_resold_sailing(&world, &shop, "2026-11-18").await;
    assert_eq!(world.letters_to(OPS).len(), 1);
    let ops: Email = OPS.parse().unwrap();
    let mail = world.app.mailer.stored(&ops).await.unwrap().remove(0).path;
    let content = std::fs::read(&mail).unwrap();
    let reason = json!({ "reason": "Ends its business" });
    world.post(&format!("{path}/suspend"), reason).by(&admin).send().await.ok();
    let erasure = erases(&world, "agen.kuta@agen.test", &admin).await.ok();
    assert_eq!(erasure["accounts"], json!({ "erased": 1, "waiting": 0 }), "{erasure}");
    assert!(!mail.exists());

    // One that was being sent meanwhile is written after that.
    std::fs::write(&mail, content).unwrap();
    world.advances_clock(TimeDelta::minutes(3));
    finish_erasures(&world).await;
    assert!(!mail.exists());
    assert_eq!(world.count("SELECT COUNT(*) FROM pending_erasures").await, 0);
    world.app.db.scrub().await.unwrap();
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &["kenari.ops"]), [""; 0]);
}

async fn an_address_for_operations_is_exported_and_removed(world: World) {
    const ACCOUNT: &str = "agen.kuta@agen.test";
    let (shop, admin, path) = shop_with_ops_email(&world).await;
    let other = world.reseller_with_key("Agen Lain").await;
    let other_path = format!("/v1/resellers/{}", other.id);
    sets_ops_email(&world, &other_path, OTHER, &admin).await;
    cancels_resold_sailing(&world, &shop, "2026-11-18").await;
    let ops_email = async |path: &str| -> Value {
        world.get(path).by(&admin).send().await.ok()["ops_email"].clone()
    };

    let data = exports(&world, &OPS.to_uppercase(), &admin).await.ok();
    assert_eq!(data["resellers"], json!([{ "id": shop.reseller.id, "name": "Agen Kuta" }]));
    assert_eq!(data["letters"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["accounts"], json!([]), "the account is somebody else's");
    let account = exports(&world, ACCOUNT, &admin).await.ok();
    assert_eq!(account["resellers"], json!([]));
    assert_eq!(account["accounts"][0]["reseller"]["ops_email"], OPS);

    let none = json!({ "erased": 0, "waiting": 0 });
    let removed = json!({
        "erased": 0, "waiting": 0, "accounts": none, "bookings": none, "resellers": 1,
        "letters": 1,
    });
    assert_eq!(erases(&world, &OPS.to_uppercase(), &admin).await.ok(), removed);
    assert_eq!(ops_email(&path).await, json!(null));
    assert_eq!(ops_email(&other_path).await, OTHER);
    world.app.db.scrub().await.unwrap();
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &["kenari.ops"]), [""; 0]);
    let log = "/v1/audit-logs?action=privacy.erasure_requested";
    let log = world.get(log).by(&admin).send().await.ok();
    assert_eq!(log[0]["after"]["resellers"], 1);
    assert_eq!(log[0]["after"]["subject"].as_str().map(str::len), Some(64));
    let again = erases(&world, OPS, &admin).await.ok();
    assert_eq!((&again["resellers"], &again["letters"]), (&json!(0), &json!(0)));

    // The reseller is active, and is told at the address of its account.
    assert_eq!(world.get(&path).by(&admin).send().await.ok()["status"], "active");
    let before = world.letters_to(ACCOUNT).len();
    cancels_resold_sailing(&world, &shop, "2026-11-20").await;
    assert_eq!(world.letters_to(ACCOUNT).len(), before + 1);
    assert!(world.letters_to(OPS).is_empty());
    // The address of an active admin stays whole.
    sets_ops_email(&world, &path, &admin.email, &admin).await;
    erases(&world, &admin.email, &admin).await.is(409, "in_use");
    assert_eq!(ops_email(&path).await, json!(admin.email));
}

async fn an_erased_account_has_no_pending_address_and_no_second_factor(world: World) {
    const CANARIES: [&str; 2] = ["kenari.mitra", "nuri.pindah"];
    let admin = world.admin().await;
    let email = "kenari.mitra@bahari.id";
    let partner = world.partner(email).await;
    let desk = world.partner_path(&partner).await;
    let password = json!({ "current_password": crate::world::PASSWORD });
    world.post("/user/me/totp", password).by(&partner).send().await.ok();
    let edited = json!({
        "name": "Kenari Bahari", "email": "nuri.pindah@bahari.id", "phone": "081377310099",
        "address": "Jalan Kutilang 77", "partnerType": "company",
    });
    world.put(&desk, edited).by(&admin).send().await.ok();
    let data = exports(&world, email, &admin).await.ok();
    assert_eq!(data["accounts"][0]["pending_email"], "nuri.pindah@bahari.id", "{data}");
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES).len(), CANARIES.len());

    let erasure = erases(&world, email, &admin).await.ok();
    assert_eq!(erasure["accounts"], json!({ "erased": 1, "waiting": 0 }), "{erasure}");
    // Letters that were still to be sent have nobody to go to.
    world.delivers_outbox().await;
    world.app.db.scrub().await.unwrap();
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    assert_eq!(world.count("SELECT COUNT(*) FROM email_changes").await, 0);
    let secrets = "SELECT COUNT(*) FROM accounts WHERE totp_secret IS NOT NULL";
    assert_eq!(world.count(secrets).await, 0);
}

/// Reports show the names of partners, and when they were made.
fn without_names(mut value: Value) -> Value {
    match &mut value {
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_names(item.take())),
        Value::Object(fields) => {
            fields.remove("label");
            fields.remove("as_of");
            fields.values_mut().for_each(|field| *field = without_names(field.take()));
        }
        _ => {}
    }
    value
}

async fn active_staff_is_deactivated_first(world: World) {
    let admin = world.admin().await;
    let clerk = world.staff("kenari.staf@kutilang.example", &[Rule::FleetRead]).await;
    let profile = json!({
        "name": "Kenari Sastrowardoyo", "email": clerk.email, "phone": "081377310077",
        "avatar_file_id": "",
    });
    world.put("/user/me", profile).by(&clerk).send().await.ok();
    world.put("/v1/notifications/read-all", json!({})).by(&clerk).send().await.ok();
    erases(&world, &clerk.email, &admin).await.is(409, "in_use");
    erases(&world, &admin.email, &admin).await.is(409, "in_use");
    assert_eq!(world.count("SELECT COUNT(*) FROM pending_erasures").await, 0);
    let staff = world.get("/v1/staffs?search=kenari.staf").by(&admin).send().await.ok();
    let id = staff["items"][0]["id"].as_str().unwrap();
    world.delete(&format!("/v1/staff/{id}")).by(&admin).send().await.ok();
    let erasure = erases(&world, &clerk.email, &admin).await.ok();
    assert_eq!(erasure["accounts"], json!({ "erased": 1, "waiting": 0 }));
    assert_eq!(
        find_canaries(&all_stored_bytes(&world).await, &["kenari.staf", "Kenari", "81377310077"]),
        [""; 0]
    );
    // The log still says that it was one person.
    let log = world.get(&format!("/v1/audit-logs?actor_id={}", clerk.id)).by(&admin).send().await;
    let log = log.ok();
    assert_eq!(log.as_array().unwrap().len(), 2);
    assert_eq!(log[0]["actor"], json!({ "id": clerk.id, "name": "[erased]", "email": "" }));
    assert_eq!(log[0]["address"], "");
    let still = world.get(&format!("/v1/audit-logs?actor_id={}", admin.id)).by(&admin).send().await;
    assert_eq!(still.ok()[0]["actor"]["email"], json!(admin.email), "others keep their names");
}

async fn only_those_with_the_rule_may(world: World) {
    let partner = world.partner("made@bahari.id").await;
    let all_but: Vec<_> =
        Rule::ALL.iter().copied().filter(|rule| *rule != Rule::PrivacyManage).collect();
    let clerk = world.staff("ayu@dermaga.test", &all_but).await;
    for who in [&partner, &clerk] {
        erases(&world, EMAIL, who).await.is(403, "forbidden");
        exports(&world, EMAIL, who).await.is(403, "forbidden");
    }
    for operation in ["export", "erase"] {
        let path = format!("/v1/privacy/{operation}");
        let body = json!({ "email": EMAIL, "reason": "x" });
        world.post(&path, body).send().await.is(401, "unauthenticated");
    }
    let officer = world.staff("dpo@dermaga.test", &RULES).await;
    erases(&world, EMAIL, &officer).await.ok();
    exports(&world, EMAIL, &officer).await.ok();
}

async fn an_export_has_everything_of_the_person_and_nothing_of_others(world: World) {
    let officer = world.staff("dpo@dermaga.test", &RULES).await;
    let sailing = world.sailing().await;
    let own = world.books(secret_order(&sailing, EMAIL)).await.ok();
    let other = world.books(order(&sailing, 1, OTHER)).await.ok();
    world.delivers_outbox().await;
    let answer = exports(&world, EMAIL, &officer).await.ok();
    assert_eq!(answer["bookings"].as_array().unwrap().len(), 1);
    assert_eq!(answer["bookings"][0]["id"], own["id"]);
    assert_eq!(answer["bookings"][0]["contact"]["email"], EMAIL);
    let passengers = &answer["bookings"][0]["passengers"];
    assert_eq!(passengers[0]["identity_number"], "5171017731000177");
    assert_eq!(passengers[1]["name"], "Jalak Sastrowardoyo");
    assert_eq!(answer["letters"].as_array().unwrap().len(), world.letters_to(EMAIL).len());
    assert_eq!(answer["accounts"], json!([]));
    assert_eq!(answer["truncated"], json!([]));
    let text = answer.to_string();
    assert!(!text.contains(OTHER) && !text.contains(other["code"].as_str().unwrap()));

    // A partner: the account and all that belongs to it.
    let partner = world.submitted_partner("made.export@bahari.id").await;
    world.login(&partner.email, "admin").await.is(401, "invalid_credentials");
    world.delivers_outbox().await;
    let answer = exports(&world, &partner.email, &officer).await.ok();
    let account = &answer["accounts"][0];
    assert_eq!(account["id"], json!(partner.id));
    assert_eq!(account["phone"], "+6281234567890");
    assert_eq!(account["sessions"][0]["address"], "127.0.0.1");
    assert_eq!(account["mitra"]["onboarding"]["pic_nik"], crate::harbour::NIK);
    assert_eq!(account["mitra"]["onboarding"]["account_number"], crate::harbour::ACCOUNT);
    assert_eq!(account["mitra"]["documents"].as_array().unwrap().len(), 5);
    assert_eq!(account["files"].as_array().unwrap().len(), 5);
    assert!(!answer.to_string().contains("argon2"));
    assert!(!answer.to_string().contains(EMAIL));

    // Staff: the record, and what they changed.
    let answer = exports(&world, &officer.email, &officer).await.ok();
    let account = &answer["accounts"][0];
    assert_eq!(account["role"], "staff");
    assert_eq!(account["staff"]["working_type"], "full_time");
    assert_eq!(account["audit_entries"].as_array().unwrap().len(), 2);
    assert_eq!(account["audit_entries"][0]["action"], "privacy.exported");

    let nobody = exports(&world, "nobody@example.com", &officer).await.ok();
    let nothing = json!({
        "accounts": [], "bookings": [], "resellers": [], "letters": [], "failed_sign_ins": [],
        "truncated": [],
    });
    assert_eq!(nobody, nothing);
    let entries: Vec<(Value,)> = world
        .db()
        .sql("SELECT after_change FROM audit_logs WHERE action = 'privacy.exported'")
        .all()
        .await
        .unwrap();
    assert_eq!(entries.len(), 4);
    assert!(entries.iter().all(|(entry,)| !entry.to_string().contains('@')), "{entries:?}");
}

async fn an_erasure_races_with_a_cancellation(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut sold = Vec::new();
    for n in 0..8 {
        let booking = world.books(secret_order(&sailing, &format!("k{n}@kutilang.example"))).await;
        let booking = booking.ok();
        pays(&world, &booking).await;
        sold.push(booking);
    }
    advances_clock_and_runs_jobs(&world, TimeDelta::days(3)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    for booking in &sold {
        let email = booking["contact"]["email"].as_str().unwrap();
        let cancel = world
            .post(&path(booking, "/cancel"), json!({ "reason": "Complaint" }))
            .by(&admin)
            .send_with_retry();
        let (erasure, cancelled) = tokio::join!(erases(&world, email, &admin), cancel);
        let (erasure, _) = (erasure.ok(), cancelled.ok());
        let id: Uuid = booking["id"].as_str().unwrap().parse().unwrap();
        let (is_erased, contact): (bool, String) = world
            .db()
            .sql("SELECT erased_at IS NOT NULL, contact_name FROM bookings WHERE id = $1")
            .bind(id)
            .one()
            .await
            .unwrap();
        // The cancelled one owes money: it waits. The erased one was erased whole.
        assert_eq!(erasure["erased"], json!(u8::from(is_erased)));
        assert_eq!(erasure["waiting"], json!(u8::from(!is_erased)));
        assert_eq!(contact == "[erased]", is_erased);
    }
    assert_invariants(&world).await;
    // Once the money is paid back, nothing is left of anybody.
    for booking in &sold {
        let refund = json!({ "reference": "BCA-1" });
        world.post(&path(booking, "/refund"), refund).by(&admin).send().await.ok();
    }
    advances_clock_and_runs_jobs(&world, TimeDelta::hours(2)).await;
    finish_erasures(&world).await;
    let left = "SELECT COUNT(*) FROM bookings WHERE erased_at IS NULL";
    assert_eq!(world.count(left).await, 0);
    assert_invariants(&world).await;
}

async fn a_bad_row_does_not_stop_the_others(world: World) {
    let sailing = world.sailing().await;
    let other = world.sailing_of_another_day(&sailing).await;
    for (sailing, email) in [(&sailing, EMAIL), (&sailing, OTHER), (&other, "c@example.com")] {
        let booking = world.books(order(sailing, 1, email)).await.ok();
        world.pays(&booking).await;
    }
    world.advances_clock(TimeDelta::hours(20));
    closes_manifest(&world, &sailing).await;
    let sealed: String = world.db().sql("SELECT content FROM manifests").scalar().await.unwrap();
    world.db().sql("UPDATE manifests SET content = 'x'").run().await.unwrap();
    advances_clock_and_runs_jobs(&world, TimeDelta::days(1100)).await;
    assert_eq!(erase_expired(&world).await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM set_aside").await, 2);
    let repaired = world.db().sql("UPDATE manifests SET content = $1").bind(sealed);
    repaired.run().await.unwrap();
    world.advances_clock(TimeDelta::hours(1));
    assert_eq!(erase_expired(&world).await, 2);
    assert_eq!(world.count("SELECT COUNT(*) FROM set_aside").await, 0);
}

async fn letters_are_kept_for_thirty_days(world: World) {
    let sailing = world.sailing().await;
    for email in [EMAIL, OTHER] {
        let booking = world.books(order(&sailing, 1, email)).await.ok();
        world.pays(&booking).await;
    }
    world.delivers_outbox().await;
    let folder = world.app.config.data_dir.join("mail");
    let days_ago = |days: i64| std::time::SystemTime::from(world.now() - TimeDelta::days(days));
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 2);
    for (age, file) in [(31, &files[0]), (29, &files[1])] {
        let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
        file.set_modified(days_ago(age)).unwrap();
    }
    world.app.sweep().await.unwrap();
    assert!(!files[0].exists());
    assert!(files[1..].iter().all(|file| file.exists()));
    // No name of a file tells whom it is to.
    let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    assert!(!names.concat().contains('@'));
}

async fn a_provider_can_say_nothing_new_about_an_erased_booking(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(secret_order(&sailing, EMAIL)).await.ok();
    advances_clock_and_runs_jobs(&world, TimeDelta::days(3)).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    assert_eq!(erases(&world, EMAIL, &admin).await.ok()["erased"], 1);
    // A payment that nobody expected any more: its money is taken in, its payer is not stored.
    pays(&world, &booking).await;
    world.delivers_outbox().await;
    assert_eq!(find_canaries(&all_stored_bytes(&world).await, &CANARIES), [""; 0]);
    assert_invariants(&world).await;
}

async fn promotions_count_as_before(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut promotion = crate::promotions::promotion("SEKALI");
    promotion["per_customer_limit"] = json!(1);
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let wanted = |email: &str| {
        let mut wanted = order(&sailing, 1, email);
        wanted["code_promo"] = json!("SEKALI");
        wanted
    };
    let booking = world.books(wanted(EMAIL)).await.ok();
    world.pays(&booking).await;
    let other = world.books(wanted(OTHER)).await.ok();
    world.pays(&other).await;
    world.completes_paid_bookings().await;
    assert_eq!(erases(&world, EMAIL, &admin).await.ok()["erased"], 1);
    assert_invariants(&world).await;
    let uses = "SELECT COUNT(*) FROM promotion_uses WHERE used = 1";
    assert_eq!(world.count(uses).await, 2);
    let named = "SELECT COUNT(*) FROM promotion_uses WHERE email LIKE '%@%'";
    assert_eq!(world.count(named).await, 1);
    let answer = world.books(wanted(OTHER)).await;
    assert_ne!(answer.status, 200, "the other has used it");
    // A refund gives the use back under the placeholder.
    let cancel = json!({ "reason": "Complaint" });
    world.post(&path(&booking, "/cancel"), cancel).by(&admin).send().await.ok();
    assert_invariants(&world).await;
}
