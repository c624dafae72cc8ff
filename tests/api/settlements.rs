//! Settlements of partners.

use chrono::TimeDelta;
use dermaga::{kernel::access::Rule, settlements::run_schedules};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Someone, World},
};

on_both_engines![
    a_journey_completes_after_arrival,
    a_thousand_journeys_complete_once,
    earnings_are_paid_out,
    a_bad_settlement_is_refused_field_by_field,
    a_partner_sees_its_own_and_nothing_of_another,
    concurrent_releases_pay_once,
    the_same_key_settles_and_releases_once,
    a_manual_settlement_races_the_schedule,
    a_suspended_partner_is_not_paid,
    a_changed_account_holds_settlements,
    cancelling_frees_the_bookings,
    what_is_agreed_is_shown_as_it_holds,
    a_partner_reads_what_is_agreed_with_it,
    a_new_commission_does_not_touch_what_was_sold,
    a_weekly_schedule_carries_amounts_below_the_minimum,
    a_schedule_holds_journeys_for_some_days,
    a_refund_after_a_settlement_is_netted_in_the_next,
    a_refund_before_a_payout_leaves_nothing_to_pay,
    money_kept_of_a_cancellation_is_settled,
    cash_that_a_partner_took_is_netted,
    debts_are_netted_in_the_next_settlement,
    a_schedule_that_is_chosen_anew_begins_anew,
    the_next_settlement_is_announced,
    a_free_journey_is_paid_by_the_platform,
    settlements_are_listed_with_their_filters,
];

/// Two seats of 150,000, ten per cent of it commission.
const GROSS: i64 = 300_000;
const NET: i64 = 270_000;

async fn a_journey_completes_after_arrival(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let held = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 0);
    // It arrives on the 16th at 08:45 in Bali.
    world.advances_clock(TimeDelta::hours(21) + TimeDelta::minutes(45) - TimeDelta::seconds(1));
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 0);
    world.advances_clock(TimeDelta::seconds(1));
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 1);
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 0);
    assert_eq!(world.looks_up(&booking).await["status"], "completed");
    assert_eq!(world.looks_up(&held).await["status"], "pending_payment", "unpaid, it never sailed");
    assert_eq!(world.balance("customer_deposits").await, 0);
    assert_eq!(world.balance("partner_payable").await, -NET);
    assert_eq!(world.balance("commission_revenue").await, -(GROSS - NET));
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'booking.completed'";
    assert_eq!(world.count(told).await, 1);
    assert_invariants(&world).await;
    // After completion neither the booker nor the partner can cancel.
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let mine = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    world.post(&path, mine).send().await.is(409, "departed");
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let call = world.post(&path, json!({ "reason": "x" })).by(&partner);
    call.send().await.is(409, "departed");
}

/// Copies every booking with another id and code.
macro_rules! copied {
    ($id_and_code:literal) => {
        concat!(
            "INSERT INTO bookings (id, code, type, status, channel, sailing_id, speedboat_id,
               partner_id, departure_at, arrival_at, qty, seats, note, contact_name,
               contact_email, contact_phone, lang, passengers, accepted_terms, unit_price,
               subtotal, discount, taxes, tax, total, commission_rate, commission,
               commission_tax, commission_taxes, partner_net, expires_at, paid_at, created_at, updated_at)
             SELECT ",
            $id_and_code,
            ", type, status, channel, sailing_id, speedboat_id,
               partner_id, departure_at, arrival_at, qty, seats, note, contact_name,
               contact_email, contact_phone, lang, passengers, accepted_terms, unit_price,
               subtotal, discount, taxes, tax, total, commission_rate, commission,
               commission_tax, commission_taxes, partner_net, expires_at, paid_at, created_at, updated_at
             FROM bookings WHERE $1 >= 0"
        )
    };
}

async fn a_thousand_journeys_complete_once(world: World) {
    let sailing = world.sailing().await;
    world.db().sql("UPDATE sailings SET capacity = 2000").run().await.unwrap();
    let booking = world.paid_booking(&sailing, 1).await;
    // As many more, made from the first.
    for n in 0..10_i32 {
        let copied = match world.db().engine() {
            "sqlite" => copied!("randomblob(16), hex(randomblob(6))"),
            _ => copied!("gen_random_uuid(), substr(md5(random()::text), 1, 12)"),
        };
        world.db().sql(copied).bind(n).run().await.unwrap();
    }
    world.advances_clock(TimeDelta::days(1));
    let (a, b, c) = tokio::join!(
        dermaga::bookings::complete(&world.app),
        dermaga::bookings::complete(&world.app),
        dermaga::bookings::complete(&world.app),
    );
    let late = dermaga::bookings::complete(&world.app).await.unwrap();
    assert_eq!(a.unwrap() + b.unwrap() + c.unwrap() + late, 1_024);
    let posted = "SELECT COUNT(*) FROM ledger_lines WHERE kind = 'completed'
        AND account = 'partner_payable'";
    assert_eq!(world.count(posted).await, 1_024);
    assert_eq!(world.count("SELECT COUNT(*) FROM partner_dues").await, 1_024);
    assert_eq!(world.looks_up(&booking).await["status"], "completed");
}

async fn earnings_are_paid_out(world: World) {
    let admin = world.admin().await;
    let tax = json!({
        "name": "PPN", "code": "PPN", "rate": 11, "applies_to": "commission", "is_active": true,
    });
    world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    let sailing = world.sailing().await;
    let (partner, desk) = (&sailing.partner, world.partner_path(&sailing.partner).await);
    let booking = world.paid_booking(&sailing, 2).await;
    world.creates_settlement(partner, &admin).await.is(409, "nothing_to_settle");
    world.completes_paid_bookings().await;

    let net = GROSS - 30_000 - 3_300;
    let overview = world.get(&format!("{desk}/overview")).by(&admin).send().await.ok();
    assert_eq!(overview["finance"]["unsettled"], net);
    let made = world.creates_settlement(partner, &admin).await.ok();
    assert!(made["code"].as_str().unwrap().starts_with("STL-"));
    assert_eq!(made["mitra"]["name"], "Made Bahari");
    assert_eq!(made["period"], json!({ "start_date": "2026-11-01", "end_date": "2026-11-30" }));
    let figures = ["gross", "commission", "commission_tax", "collected", "net", "booking_count"];
    let seen: Vec<_> = figures.iter().map(|name| made[name].as_i64().unwrap()).collect();
    assert_eq!(seen, [GROSS, 30_000, 3_300, 0, net, 1]);
    assert_eq!((&made["status"], &made["origin"]), (&json!("pending"), &json!("manual")));
    assert_eq!(made["created_by"]["id"], json!(admin.id));
    assert_eq!(made["bank_account"], json!(null), "the partner has none yet");
    let item = &made["items"][0];
    assert_eq!(item["booking_id"], booking["id"]);
    assert_eq!(item["code"], booking["code"]);
    assert_eq!(item["departure_at"], "2026-11-16T00:00:00Z");
    assert_eq!(item["net"], net);
    world.creates_settlement(partner, &admin).await.is(409, "nothing_to_settle");
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'settlement.created'";
    assert_eq!(world.count(told).await, 1);

    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    world.adds_approved_bank_account(partner, &admin).await;
    let id = made["id"].as_str().unwrap();
    let seen = world.get(&format!("/v1/settlements/{id}")).by(&admin).send().await.ok();
    assert_eq!(seen["bank_account"]["account_number"], "******5678");
    let boss = world.second_admin().await;
    let proof = world.uploads_proof(&boss).await;
    let body = json!({ "reference": "BCA-77", "proof_file_id": proof, "note": "November" });
    let path = format!("/v1/settlements/{id}/release");
    let released = world.post(&path, body).by(&boss).send().await.ok();
    assert_eq!(released["status"], "released");
    assert_eq!(released["reference"], "BCA-77");
    assert_eq!(released["note"], "November");
    assert_eq!(released["released_by"]["id"], json!(boss.id));
    assert_eq!(released["released_at"], "2026-11-15T03:00:00Z");
    assert_eq!(released["bank_account"]["account_number"], "******5678");
    assert_eq!(released["proof_file_id"], json!(proof));
    let url = released["proof_url"].as_str().unwrap().split_once("/v1/").unwrap().1.to_owned();
    assert_eq!(world.get(&format!("/v1/{url}")).bytes().await.0, 200);
    assert_eq!(world.balance("bank").await, -net);
    assert_eq!(world.balance("partner_payable").await, 0);
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    let cancel = world.post(&format!("/v1/settlements/{id}/cancel"), json!({})).by(&admin);
    cancel.send().await.is(409, "invalid_state");
    let overview = world.get(&format!("{desk}/overview")).by(&admin).send().await.ok();
    assert_eq!(overview["finance"]["unsettled"], 0);
    assert_eq!(overview["finance"]["settled"], net);
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'settlement.released'";
    assert_eq!(world.count(told).await, 1);
    assert_invariants(&world).await;
}

async fn a_bad_settlement_is_refused_field_by_field(world: World) {
    let admin = world.admin().await;
    let path = "/v1/settlements/manual";
    let unknown = dermaga::kernel::ids::fresh().to_string();
    let post = async |body: Value| world.post(path, body).by(&admin).send().await;
    post(json!({})).await.has_field_errors(&[
        ("end_date", "required"),
        ("mitra_id", "required"),
        ("start_date", "required"),
    ]);
    let body = json!({ "mitra_id": unknown, "start_date": "2026-11-02", "end_date": "2026-11-01" });
    post(body).await.has_field_errors(&[("end_date", "min")]);
    let body = json!({ "mitra_id": unknown, "start_date": "2026-11-02", "end_date": "2026-11-02" });
    post(body).await.has_field_errors(&[("mitra_id", "unknown")]);
    let body = json!({ "mitra_id": "x", "start_date": "2026-02-30", "end_date": 7 });
    let faults = post(body).await.field_errors();
    assert_eq!(faults.len(), 3, "{faults:?}");

    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let path = format!("/v1/settlements/{}/release", made["id"].as_str().unwrap());
    let boss = world.second_admin().await;
    let post = async |body: Value| world.post(&path, body).by(&boss).send().await;
    post(json!({})).await.has_field_errors(&[("reference", "required")]);
    post(json!({ "reference": " " })).await.has_field_errors(&[("reference", "required")]);
    let body = json!({ "reference": "BCA-1", "proof_file_id": unknown });
    post(body).await.has_field_errors(&[("proof_file_id", "unknown")]);
    let missing = format!("/v1/settlements/{unknown}/release");
    let call = world.post(&missing, json!({ "reference": "BCA-1" })).by(&admin);
    call.send().await.is(404, "not_found");
    world.get("/v1/settlements/what").by(&admin).send().await.is(404, "not_found");
    let status = "SELECT COUNT(*) FROM settlements WHERE status = 'pending'";
    assert_eq!(world.count(status).await, 1);
}

async fn a_partner_sees_its_own_and_nothing_of_another(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let path = format!("/v1/settlements/{}", made["id"].as_str().unwrap());
    let own = world.get(&path).by(&sailing.partner).send().await.ok();
    assert_eq!(own["items"].as_array().unwrap().len(), 1);
    let listed = world.get("/v1/settlements").by(&sailing.partner).send().await.ok();
    assert_eq!(listed.as_array().unwrap().len(), 1);

    let other = world.active_partner("ketut@laut.id").await;
    world.get(&path).by(&other).send().await.is(404, "not_found");
    let theirs = made["mitra_id"].as_str().unwrap();
    for query in ["", &format!("?mitra_id={theirs}")] {
        let listed = world.get(&format!("/v1/settlements{query}")).by(&other).send().await.ok();
        assert_eq!(listed, json!([]), "whatever it asks for");
    }
    let release = world.post(&format!("{path}/release"), json!({ "reference": "x" }));
    release.by(&sailing.partner).send().await.is(403, "forbidden");
}

async fn concurrent_releases_pay_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let boss = world.second_admin().await;
    let cashier = world.staff("kasir@dermaga.test", &[Rule::SettlementsRelease]).await;
    let presses =
        (0..8).map(|n| world.releases_settlement(&made, if n % 2 == 0 { &boss } else { &cashier }));
    let answers = join_all(presses).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        answer.is(409, "invalid_state");
    }
    assert_eq!(world.balance("bank").await, -NET);
    assert_invariants(&world).await;
}

async fn the_same_key_settles_and_releases_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let body = json!({
        "mitra_id": world.partner_id(&sailing.partner).await, "start_date": "2026-11-01",
        "end_date": "2026-11-30", "note": "",
    });
    let boss = world.second_admin().await;
    let post = async |path: &str, body: &Value, key: &'static str| {
        let who = if path.ends_with("/release") { &boss } else { &admin };
        let call = world.post(path, body.clone()).by(who);
        call.header("idempotency-key", key).send().await
    };
    let path = "/v1/settlements/manual";
    let first = post(path, &body, "k").await;
    let again = post(path, &body, "k").await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    let first = first.ok();
    assert_eq!(first, again.ok());
    let mut other = body.clone();
    other["note"] = json!("x");
    post(path, &other, "k").await.is(409, "idempotency_conflict");
    // A refusal is not kept.
    post(path, &body, "other").await.is(409, "nothing_to_settle");
    post(path, &body, "other").await.is(409, "nothing_to_settle");

    let path = format!("/v1/settlements/{}/release", first["id"].as_str().unwrap());
    let body = json!({ "reference": "BCA-1" });
    let all = join_all((0..6).map(|_| post(&path, &body, "r"))).await;
    for answer in all {
        match answer.status {
            200 => drop(answer.ok()),
            _ => drop(answer.is(409, "idempotency_in_progress")),
        }
    }
    let again = post(&path, &body, "r").await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok()["status"], "released");
    assert_eq!(world.balance("bank").await, -NET);
    assert_invariants(&world).await;
}

async fn configures_settlements(world: &World, admin: &Someone, body: Value) -> Value {
    world.post("/v1/settlements/configuration", body).by(admin).send().await.ok()
}

async fn a_manual_settlement_races_the_schedule(world: World) {
    let mut admin = world.admin().await;
    let sailing = world.sailing().await;
    configures_settlements(&world, &admin, json!({ "schedule": "daily" })).await;
    for _ in 0..10 {
        world.paid_booking(&sailing, 2).await;
    }
    let mut others = Vec::new();
    if world.db().engine() == "postgres" {
        others = vec![world.second_process().await, world.second_process().await];
    }
    for each in others.iter().chain([&world]) {
        // The 17th: yesterday's journeys are due.
        each.advances_clock(TimeDelta::days(2));
    }
    assert_eq!(dermaga::bookings::complete(&world.app).await.unwrap(), 10);
    admin = world.signs_in(&admin.email, "admin").await;
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let manual = join_all((0..4).map(|_| world.creates_settlement(&partner, &admin)));
    let scheduled = join_all((0..4_usize).map(|n| {
        let at = others.get(n % 3).unwrap_or(&world);
        run_schedules(&at.app)
    }));
    let (manual, scheduled) = tokio::join!(manual, scheduled);
    let by_hand = manual.iter().filter(|answer| answer.status == 200).count() as u64;
    let by_itself: u64 = scheduled.into_iter().map(|made| made.unwrap()).sum();
    assert_eq!(by_hand + by_itself, 1, "one of them took all ten");
    for answer in manual.into_iter().filter(|answer| answer.status != 200) {
        answer.is(409, "nothing_to_settle");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM settlements").await, 1);
    let net = "SELECT CAST(SUM(net) AS BIGINT) FROM settlements";
    assert_eq!(world.count(net).await, 10 * NET);
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    assert_invariants(&world).await;
}

async fn a_suspended_partner_is_not_paid(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let desk = world.partner_path(&sailing.partner).await;
    let mitra_id = world.partner_id(&sailing.partner).await;
    let reason = json!({ "reason": "Unsafe" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    let body =
        json!({ "mitra_id": mitra_id, "start_date": "2026-11-16", "end_date": "2026-11-16" });
    let made = world.post("/v1/settlements/manual", body).by(&admin).send().await.ok();
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    assert_eq!(world.balance("bank").await, 0);
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    assert_invariants(&world).await;
}

async fn a_changed_account_holds_settlements(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let account = json!({ "bank_account": { "account_number": "9988776655" } });
    world.updates_onboarding(&sailing.partner, account).await.ok();
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    let desk = world.partner_path(&sailing.partner).await;
    let approved = json!({ "status": "approved" });
    world.put(&format!("{desk}/bank-approval"), approved).by(&admin).send().await.ok();
    let released = world.releases_settlement(&made, &admin).await.ok();
    assert_eq!(released["bank_account"]["account_number"], "******6655");
    // A released settlement keeps the account that it was paid to.
    let account = json!({ "bank_account": { "account_number": "1122334455" } });
    world.updates_onboarding(&sailing.partner, account).await.ok();
    let path = format!("/v1/settlements/{}", made["id"].as_str().unwrap());
    let seen = world.get(&path).by(&admin).send().await.ok();
    assert_eq!(seen["bank_account"]["account_number"], "******6655");
}

async fn cancelling_frees_the_bookings(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let first = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let path = format!("/v1/settlements/{}", first["id"].as_str().unwrap());
    let cancel = async || {
        let call = world.post(&format!("{path}/cancel"), json!({ "note": "Wrong month" }));
        call.by(&admin).send().await
    };
    let cancelled = cancel().await.ok();
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["note"], "Wrong month");
    assert_eq!(cancelled["items"].as_array().unwrap().len(), 1, "it shows what it was");
    cancel().await.is(409, "invalid_state");
    world.releases_settlement(&first, &admin).await.is(409, "invalid_state");
    let second = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_ne!(second["id"], first["id"]);
    assert_eq!(second["net"], NET);
    assert_invariants(&world).await;
    // Cancelling and releasing at once: one of them happens.
    let id = second["id"].as_str().unwrap();
    let call = world.post(&format!("/v1/settlements/{id}/cancel"), json!({})).by(&admin);
    let (cancelled, released) =
        tokio::join!(call.send(), world.releases_settlement(&second, &admin));
    assert_eq!([cancelled.status, released.status].iter().filter(|s| **s == 200).count(), 1);
    assert_invariants(&world).await;
}

async fn a_partner_reads_what_is_agreed_with_it(world: World) {
    let admin = world.admin().await;
    let partner = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("ketut@laut.id").await;
    let (id, theirs) = (world.partner_id(&partner).await, world.partner_id(&other).await);
    configures_settlements(&world, &admin, json!({ "schedule": "weekly", "day": 1 })).await;
    configures_settlements(&world, &admin, json!({ "mitra_id": id, "commission_rate": 8 })).await;
    configures_settlements(&world, &admin, json!({ "mitra_id": theirs, "commission_rate": 3 }))
        .await;
    let path = "/v1/settlements/configuration";
    for query in ["", &format!("?mitra_id={id}"), &format!("?mitra_id={theirs}")] {
        let own = world.get(&format!("{path}{query}")).by(&partner).send().await.ok();
        assert_eq!(own["mitra_id"], json!(id), "whatever it asks for");
        assert_eq!(own["commission_rate"], 8);
        assert_eq!(own["schedule"], "weekly");
        let inherited = ["resale_commission_rate", "schedule", "hold_days", "minimum_amount"];
        assert_eq!(own["inherited"], json!(inherited));
    }
    let change = json!({ "commission_rate": 0 });
    world.post(path, change).by(&partner).send().await.is(403, "forbidden");
    let clerk = world.staff("ayu@dermaga.test", &[Rule::SettlementsRead]).await;
    world.get(path).by(&clerk).send().await.is(403, "forbidden");
    world.get(path).send().await.is(401, "unauthenticated");
}

async fn what_is_agreed_is_shown_as_it_holds(world: World) {
    let admin = world.admin().await;
    let partner = world.active_partner("made@bahari.id").await;
    let id = world.partner_id(&partner).await;
    let path = "/v1/settlements/configuration";
    let get = async |query: &str| world.get(&format!("{path}{query}")).by(&admin).send().await;
    let own = format!("?mitra_id={id}");
    assert_eq!(
        get("").await.ok(),
        json!({
            "mitra_id": null, "commission_rate": 10, "resale_commission_rate": null,
            "schedule": "manual", "day": null, "hold_days": 0, "minimum_amount": 0,
            "inherited": [], "next_settlement_on": null, "next_settlement_until": null,
        })
    );
    let body = json!({
        "commission_rate": 12.5, "schedule": "weekly", "day": 1, "hold_days": 2,
        "minimum_amount": 100_000,
    });
    configures_settlements(&world, &admin, body).await;
    let body = json!({ "mitra_id": id, "commission_rate": 8, "minimum_amount": 0 });
    let held = configures_settlements(&world, &admin, body).await;
    assert_eq!(held["commission_rate"], 8);
    assert_eq!(held["schedule"], "weekly");
    assert_eq!(held["day"], 1);
    assert_eq!(held["hold_days"], 2);
    assert_eq!(held["minimum_amount"], 0);
    assert_eq!(held["inherited"], json!(["resale_commission_rate", "schedule", "hold_days"]));
    assert_eq!(get(&own).await.ok(), held);
    // The same value is on the partner's record, and changes with it.
    let desk = world.partner_path(&partner).await;
    let edit = world.get(&format!("{desk}/edit")).by(&admin).send().await.ok();
    assert_eq!(edit["commission_rate"], 8);
    let body = json!({
        "name": "Made", "email": partner.email, "phone": "081234567890", "address": "",
        "partnerType": "company", "commission_rate": 7,
    });
    world.put(&desk, body).by(&admin).send().await.ok();
    assert_eq!(get(&own).await.ok()["commission_rate"], 7);
    let body = json!({ "mitra_id": id, "commission_rate": null, "schedule": "monthly", "day": 28 });
    let held = configures_settlements(&world, &admin, body).await;
    assert_eq!(held["commission_rate"], 12.5);
    assert_eq!((&held["schedule"], &held["day"]), (&json!("monthly"), &json!(28)));
    let held =
        configures_settlements(&world, &admin, json!({ "mitra_id": id, "schedule": "daily" }))
            .await;
    assert_eq!((&held["schedule"], &held["day"]), (&json!("daily"), &json!(null)));

    let post = async |body: Value| world.post(path, body).by(&admin).send().await;
    post(json!({ "schedule": "weekly" })).await.has_field_errors(&[("day", "required")]);
    post(json!({ "schedule": "weekly", "day": 8 })).await.has_field_errors(&[("day", "max")]);
    post(json!({ "schedule": "monthly", "day": 29 })).await.has_field_errors(&[("day", "max")]);
    post(json!({ "day": 3 })).await.has_field_errors(&[("schedule", "required")]);
    let body = json!({
        "commission_rate": 101, "hold_days": -1, "minimum_amount": -1, "schedule": "yearly",
    });
    let faults = post(body).await.field_errors();
    let fields: Vec<_> = faults.iter().map(|fault| fault.0.as_str()).collect();
    assert_eq!(fields, ["commission_rate", "hold_days", "minimum_amount", "schedule"]);
    let unknown = dermaga::kernel::ids::fresh();
    post(json!({ "mitra_id": unknown })).await.has_field_errors(&[("mitra_id", "unknown")]);
    get(&format!("?mitra_id={unknown}")).await.has_field_errors(&[("mitra_id", "unknown")]);
    assert_eq!(get("").await.ok()["commission_rate"], 12.5, "nothing of it was written");
}

async fn a_new_commission_does_not_touch_what_was_sold(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    configures_settlements(&world, &admin, json!({ "commission_rate": 20 })).await;
    world.paid_booking(&sailing, 2).await;
    let mitra_id = world.partner_id(&sailing.partner).await;
    configures_settlements(&world, &admin, json!({ "mitra_id": mitra_id, "commission_rate": 5 }))
        .await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let items = made["items"].as_array().unwrap();
    let mut commissions: Vec<_> = items.iter().map(|item| item["commission"].as_i64()).collect();
    commissions.sort();
    assert_eq!(commissions, [Some(15_000), Some(30_000), Some(60_000)]);
    assert_eq!(made["net"], 3 * GROSS - 105_000);
    configures_settlements(&world, &admin, json!({ "mitra_id": mitra_id, "commission_rate": 50 }))
        .await;
    let path = format!("/v1/settlements/{}", made["id"].as_str().unwrap());
    assert_eq!(world.get(&path).by(&admin).send().await.ok()["net"], made["net"]);
    assert_invariants(&world).await;
}

async fn a_weekly_schedule_carries_amounts_below_the_minimum(world: World) {
    let admin = world.admin().await;
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let mut route = crate::harbour::route(&boat);
    route["end_date"] = json!("2026-12-15");
    let route = world.creates_route(&partner, route).await;
    world.publishes_route(&partner, &route).await.ok();
    let sailings = world.sailings(&partner, &route).await;
    let on = |day: usize| Sailing {
        partner: partner.clone(),
        boat: boat.clone(),
        id: sailings[day]["id"].as_str().unwrap().to_owned(),
    };
    // Mondays; less than two bookings' worth waits.
    let body = json!({ "schedule": "weekly", "day": 1, "minimum_amount": NET + 1 });
    configures_settlements(&world, &admin, body).await;
    // On Wednesday the 18th and on Tuesday the 24th.
    world.paid_booking(&on(2), 2).await;
    world.paid_booking(&on(8), 2).await;
    let runs = async || {
        dermaga::bookings::complete(&world.app).await.unwrap();
        run_schedules(&world.app).await.unwrap()
    };
    world.advances_clock(TimeDelta::days(1));
    assert_eq!(runs().await, 0);
    // Monday the 23rd, in Jakarta: one journey, too little.
    world.advances_clock(TimeDelta::days(7));
    assert_eq!(runs().await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM settlement_runs").await, 1);
    // Until the week is over it stays so, whatever completes.
    world.advances_clock(TimeDelta::days(3));
    assert_eq!(runs().await, 0);
    // Monday the 30th: both.
    world.advances_clock(TimeDelta::days(4));
    assert_eq!(runs().await, 1);
    assert_eq!(runs().await, 0);
    let admin = world.signs_in(&admin.email, "admin").await;
    let made = world.get("/v1/settlements").by(&admin).send().await.ok();
    let made = &made[0];
    assert_eq!(made["origin"], "scheduled");
    assert_eq!(made["created_by"], json!(null));
    assert_eq!(made["net"], 2 * NET);
    assert_eq!(made["period"], json!({ "start_date": "2026-11-18", "end_date": "2026-11-29" }));
    assert_invariants(&world).await;
}

async fn a_schedule_holds_journeys_for_some_days(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    configures_settlements(&world, &admin, json!({ "schedule": "daily", "hold_days": 3 })).await;
    // It sails on the 16th; three days are held, so it is due on the 20th.
    world.advances_clock(TimeDelta::days(4));
    dermaga::bookings::complete(&world.app).await.unwrap();
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    world.advances_clock(TimeDelta::days(1));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    let admin = world.signs_in(&admin.email, "admin").await;
    // By hand nothing is held.
    let made = world.get("/v1/settlements").by(&admin).send().await.ok();
    let day = json!({ "start_date": "2026-11-16", "end_date": "2026-11-16" });
    assert_eq!(made[0]["period"], day);
    assert_invariants(&world).await;
}

async fn cancels_and_refunds(world: &World, booking: &Value, admin: &Someone) {
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    let cancel = world.post(&format!("{path}/cancel"), json!({ "reason": "It leaked" })).by(admin);
    let cancelled = cancel.send().await.ok();
    assert_eq!(cancelled["status"], "refund_pending");
    assert_eq!(cancelled["refund_amount"], booking["price"]["total"]);
    let refund = world.post(&format!("{path}/refund"), json!({ "reference": "BCA-9" })).by(admin);
    assert_eq!(refund.send().await.ok()["status"], "refunded");
}

async fn a_refund_after_a_settlement_is_netted_in_the_next(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let first = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&first, &admin).await.ok();
    cancels_and_refunds(&world, &booking, &admin).await;
    assert_eq!(world.balance("partner_payable").await, NET, "the partner owes");
    assert_eq!(world.balance("commission_revenue").await, 0);
    assert_invariants(&world).await;
    let statement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&statement["status"], &statement["net"]), (&json!("statement"), &json!(-NET)));

    world.paid_booking(&sailing, 4).await;
    world.completes_paid_bookings().await;
    // Of other days: debts of the partner are included nevertheless.
    world.db().sql("UPDATE partner_dues SET day = '2026-12-24' WHERE kind = 'sale' AND settlement_id IS NULL")
        .run().await.unwrap();
    let body = json!({
        "mitra_id": world.partner_id(&sailing.partner).await,
        "start_date": "2026-12-01", "end_date": "2026-12-31",
    });
    let second = world.post("/v1/settlements/manual", body).by(&admin).send().await.ok();
    assert_eq!(second["net"], 2 * NET - NET);
    assert_eq!(second["booking_count"], 1);
    let kinds: Vec<_> = second["items"].as_array().unwrap().iter().map(|i| &i["kind"]).collect();
    assert_eq!(kinds, ["sale", "carried"]);
    world.releases_settlement(&second, &admin).await.ok();
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_eq!(world.balance("bank").await, -NET - NET - GROSS, "two payouts and a refund");
    assert_invariants(&world).await;
}

async fn a_refund_before_a_payout_leaves_nothing_to_pay(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    cancels_and_refunds(&world, &booking, &admin).await;
    assert_eq!(world.balance("partner_payable").await, 0);
    let statement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&statement["status"], &statement["net"]), (&json!("statement"), &json!(0)));
    world.creates_settlement(&sailing.partner, &admin).await.is(409, "nothing_to_settle");
    assert_invariants(&world).await;
    // While one is pending: it is made anew.
    let booking = world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let waiting = world.creates_settlement(&sailing.partner, &admin).await.ok();
    cancels_and_refunds(&world, &booking, &admin).await;
    assert_invariants(&world).await;
    world.releases_settlement(&waiting, &admin).await.is(409, "stale");
    let path = format!("/v1/settlements/{}/cancel", waiting["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&admin).send().await.ok();
    let anew = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&anew["status"], &anew["net"]), (&json!("statement"), &json!(0)));
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_invariants(&world).await;
}

async fn money_kept_of_a_cancellation_is_settled(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    // Twelve hours ahead half of it is kept.
    world.advances_clock(TimeDelta::hours(9));
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let body = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    let cancelled = world.post(&path, body).send().await.ok();
    assert_eq!(cancelled["refund_amount"], GROSS / 2);
    let admin = world.signs_in(&admin.email, "admin").await;
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let made = world.creates_settlement(&partner, &admin).await.ok();
    assert_eq!(made["gross"], GROSS / 2);
    assert_eq!(made["commission"], GROSS / 20);
    assert_eq!(made["items"][0]["kind"], "kept");
    assert_invariants(&world).await;
}

async fn cash_that_a_partner_took_is_netted(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let takes_cash = async |email: &str| {
        let booking = world.books(order(&sailing, 2, email)).await.ok();
        let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
        world.post(&path, json!({})).by(&sailing.partner).send().await.ok();
        booking
    };
    let cash = takes_cash("putu@example.com").await;
    assert_invariants(&world).await;
    world.completes_paid_bookings().await;
    assert_invariants(&world).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(made["gross"], 2 * GROSS);
    assert_eq!(made["collected"], GROSS);
    assert_eq!(made["net"], 2 * NET - GROSS, "less the commission on what it already holds");
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    world.releases_settlement(&made, &admin).await.ok();
    assert_eq!(world.balance("partner_payable").await, 0);
    // It hands back what it took, and gets back the commission that it had paid.
    cancels_and_refunds(&world, &cash, &admin).await;
    assert_eq!(world.balance("partner_payable").await, NET - GROSS);
    assert_invariants(&world).await;
    let cancelled = takes_cash("made@example.com").await;
    let path = format!("/v1/booking/{}/cancel", cancelled["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert_eq!(world.balance("partner_payable").await, NET, "and holds the cash of another");
    assert_invariants(&world).await;
    let statement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&statement["status"], &statement["net"]), (&json!("statement"), &json!(-NET)));
    assert_invariants(&world).await;
}

/// Debts of the partner are netted in the next settlement, whatever its period.
async fn debts_are_netted_in_the_next_settlement(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "putu@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&sailing.partner).send().await.ok();
    world.completes_paid_bookings().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    // Another month.
    let moved = "UPDATE partner_dues SET day = '2026-12-24' WHERE net > 0";
    world.db().sql(moved).run().await.unwrap();
    let body = json!({
        "mitra_id": world.partner_id(&sailing.partner).await,
        "start_date": "2026-12-01", "end_date": "2026-12-31",
    });
    let made = world.post("/v1/settlements/manual", body).by(&admin).send().await.ok();
    assert_eq!(made["net"], NET - (GROSS - NET));
    assert_eq!(made["period"]["start_date"], "2026-11-16", "from its first journey on");
    assert_invariants(&world).await;
}

async fn a_schedule_that_is_chosen_anew_begins_anew(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mitra_id = world.partner_id(&sailing.partner).await;
    configures_settlements(&world, &admin, json!({ "schedule": "weekly", "day": 7 })).await;
    configures_settlements(&world, &admin, json!({ "mitra_id": mitra_id, "schedule": "manual" }))
        .await;
    world.paid_booking(&sailing, 2).await;
    // The 24th, a Tuesday, two days after the schedule's day.
    world.advances_clock(TimeDelta::days(9));
    dermaga::bookings::complete(&world.app).await.unwrap();
    let admin = world.signs_in(&admin.email, "admin").await;
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    let body = json!({ "mitra_id": mitra_id, "schedule": null });
    assert_eq!(configures_settlements(&world, &admin, body).await["schedule"], "weekly");
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0, "that day was not its own");
    // Suspended, a settlement is made and waits.
    let desk = format!("/v1/mitra/manajemen/{mitra_id}/suspend");
    world.post(&desk, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.advances_clock(TimeDelta::days(5));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    let admin = world.signs_in(&admin.email, "admin").await;
    let made = world.get("/v1/settlements").by(&admin).send().await.ok();
    world.releases_settlement(&made[0], &admin).await.is(409, "invalid_state");
}

async fn the_next_settlement_is_announced(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mitra_id = world.partner_id(&sailing.partner).await;
    let path = "/v1/settlements/configuration";
    let announced = async || {
        let partner = world.signs_in(&sailing.partner.email, "mitra").await;
        let own = world.get(path).by(&partner).send().await.ok();
        let day = |field: &str| own[field].as_str().map(str::to_owned);
        day("next_settlement_on").zip(day("next_settlement_until"))
    };
    let days = |on: &str, until: &str| Some((on.to_owned(), until.to_owned()));
    assert_eq!(announced().await, None, "nothing is scheduled");
    // Sunday the 15th: Mondays, two days after departure.
    let body = json!({ "mitra_id": mitra_id, "schedule": "weekly", "day": 1, "hold_days": 2 });
    let agreed = configures_settlements(&world, &admin, body).await;
    assert_eq!(agreed["next_settlement_on"], "2026-11-16");
    assert_eq!(announced().await, days("2026-11-16", "2026-11-13"));
    let default = world.get(path).by(&admin).send().await.ok();
    assert_eq!(default["next_settlement_on"], json!(null), "the default has no partner");
    world.paid_booking(&sailing, 2).await;
    // Tuesday the 17th in Jakarta. It sailed on the 16th, so yesterday was left out.
    world.advances_clock(TimeDelta::days(2));
    assert_eq!(announced().await, days("2026-11-23", "2026-11-20"));
    dermaga::bookings::complete(&world.app).await.unwrap();
    assert_eq!(announced().await, days("2026-11-17", "2026-11-13"), "it is made up for");
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0, "it is held");
    assert_eq!(announced().await, days("2026-11-23", "2026-11-20"));
    // Monday the 23rd, before and after the schedule has run.
    world.advances_clock(TimeDelta::days(6));
    assert_eq!(announced().await, days("2026-11-23", "2026-11-20"));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    assert_eq!(announced().await, days("2026-11-30", "2026-11-27"));
    let admin = world.signs_in(&admin.email, "admin").await;
    let made = world.get("/v1/settlements").by(&admin).send().await.ok();
    assert_eq!(made[0]["period"]["end_date"], "2026-11-20");
    // A monthly schedule that is chosen on its own day begins a month later.
    let body = json!({ "mitra_id": mitra_id, "schedule": "monthly", "day": 23 });
    configures_settlements(&world, &admin, body).await;
    assert_eq!(announced().await, days("2026-12-23", "2026-12-20"));
    let body = json!({ "mitra_id": mitra_id, "schedule": "daily", "hold_days": 0 });
    configures_settlements(&world, &admin, body).await;
    assert_eq!(announced().await, days("2026-11-24", "2026-11-23"));
    let body = json!({ "mitra_id": mitra_id, "schedule": "manual" });
    configures_settlements(&world, &admin, body).await;
    assert_eq!(announced().await, None);
    assert_invariants(&world).await;
}

async fn a_free_journey_is_paid_by_the_platform(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut promotion = crate::promotions::promotion("GRATIS");
    promotion["discount"] = json!({ "type": "percentage", "value": 100 });
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let mut order = order(&sailing, 2, "sari@example.com");
    order["code_promo"] = json!("GRATIS");
    assert_eq!(world.books(order).await.ok()["status"], "paid");
    world.completes_paid_bookings().await;
    assert_eq!(world.balance("promotion_expense").await, GROSS);
    assert_eq!(world.creates_settlement(&sailing.partner, &admin).await.ok()["net"], NET);
    assert_invariants(&world).await;
}

async fn settlements_are_listed_with_their_filters(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mitra_id = world.partner_id(&sailing.partner).await;
    for _ in 0..3 {
        world.paid_booking(&sailing, 2).await;
        world.completes_paid_bookings().await;
        world.creates_settlement(&sailing.partner, &admin).await.ok();
        world.advances_clock(TimeDelta::minutes(1));
    }
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let all = world.get("/v1/settlements").by(&admin).send().await.ok();
    world.releases_settlement(&all[1], &admin).await.ok();
    let count = async |query: &str| {
        let call = world.get(&format!("/v1/settlements?{query}")).by(&admin);
        let answer = call.send().await;
        let total = answer.body["pagination"]["total_items"].as_i64().unwrap();
        assert_eq!(answer.ok().as_array().unwrap().len() as i64, total);
        total
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count(&format!("mitra_id={mitra_id}&status=pending")).await, 2);
    assert_eq!(count("status=released&origin=manual").await, 1);
    assert_eq!(count("start_date=2026-12-01").await, 0);
    assert_eq!(count("start_date=2026-11-30&end_date=2026-12-30").await, 3);
    assert_eq!(count("end_date=2026-10-31").await, 0);
    assert_eq!(count("search=bca-1").await, 1);
    assert_eq!(count(&format!("search={}", all[0]["code"].as_str().unwrap())).await, 1);
    assert_eq!(count(&format!("mitra_id={}", dermaga::kernel::ids::fresh())).await, 0);
    let bad = world.get("/v1/settlements?status=lost&sort_by=colour").by(&admin).send().await;
    bad.has_field_errors(&[("sort_by", "enum"), ("status", "enum")]);
}
