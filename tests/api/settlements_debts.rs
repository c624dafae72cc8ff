//! What partners owe: statements, receipts, payouts that came back, and refunds after settling.

use chrono::TimeDelta;
use dermaga::{
    kernel::{access::Rule, ids::Uuid},
    settlements::{self, run_schedules},
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_debt_becomes_a_statement_and_is_netted_later,
    a_statement_is_cancelled_while_its_debt_is_open,
    the_schedule_makes_statements,
    a_partner_pays_what_it_owes,
    a_bad_receipt_is_refused_field_by_field,
    a_receipt_is_not_booked_into_a_closed_month,
    receipts_at_once_pay_a_debt_once,
    the_same_key_records_a_receipt_once,
    a_partner_sees_its_own_receipts_only,
    a_payout_that_came_back_is_payable_again,
    returns_at_once_are_one_return,
    a_refund_makes_a_settlement_stale,
    a_refund_that_another_settlement_nets_makes_it_stale_too,
    a_release_races_a_refund,
    a_provider_pays_out_and_takes_back,
    an_audit_asks_about_payouts_statements_and_receipts,
];

/// Two seats of 150,000, ten per cent of it commission.
const GROSS: i64 = 300_000;
const NET: i64 = 270_000;
const DEBT: i64 = GROSS - NET;

/// The partner takes the money of a journey itself and owes the commission.
async fn sails_for_cash(world: &World, sailing: &Sailing) -> Value {
    let booking = world.books(order(sailing, 2, "putu@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&sailing.partner).send().await.ok();
    world.completes_paid_bookings().await;
    booking
}

async fn sails(world: &World, sailing: &Sailing) -> Value {
    let booking = world.paid_booking(sailing, 2).await;
    world.completes_paid_bookings().await;
    booking
}

async fn cancels_booking(world: &World, booking: &Value, by: &Someone) -> Answer {
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "It leaked" })).by(by).send().await
}

fn path_of(settlement: &Value) -> String {
    format!("/v1/settlements/{}", settlement["id"].as_str().unwrap())
}

fn id_of(settlement: &Value) -> Uuid {
    settlement["id"].as_str().unwrap().parse().unwrap()
}

async fn cancels(world: &World, settlement: &Value, by: &Someone) -> Answer {
    world.post(&format!("{}/cancel", path_of(settlement)), json!({})).by(by).send().await
}

async fn returns(world: &World, settlement: &Value, by: &Someone) -> Answer {
    let body = json!({ "reason": "Account closed" });
    world.post(&format!("{}/return", path_of(settlement)), body).by(by).send().await
}

async fn receipt_body(world: &World, partner: &Someone, amount: i64) -> Value {
    json!({
        "mitra_id": world.partner_id(partner).await, "amount": amount, "method": "bank",
        "reference": "BCA-42", "received_on": "2026-11-14",
    })
}

async fn records_receipt(world: &World, body: &Value, by: &Someone) -> Answer {
    world.post("/v1/settlements/receipts", body.clone()).by(by).send().await
}

async fn unsettled(world: &World, partner: &Someone) -> i64 {
    let statistic = world.get("/v1/dashboard/mitra-statistic").by(partner).send().await.ok();
    statistic["unsettled"].as_i64().unwrap()
}

fn kinds(settlement: &Value) -> Vec<&str> {
    let items = settlement["items"].as_array().unwrap();
    items.iter().map(|item| item["kind"].as_str().unwrap()).collect()
}

async fn a_debt_becomes_a_statement_and_is_netted_later(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    sails_for_cash(&world, &sailing).await;
    let statement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(statement["status"], "statement");
    assert_eq!(statement["net"], -DEBT);
    assert_eq!(statement["collected"], GROSS);
    assert_eq!(statement["bank_account"], json!(null), "nothing is paid out");
    assert_eq!(kinds(&statement), ["sale"]);
    assert_eq!(unsettled(&world, &sailing.partner).await, -DEBT);
    assert_eq!(world.balance("partner_payable").await, DEBT);
    assert_invariants(&world).await;
    world.releases_settlement(&statement, &admin).await.is(409, "invalid_state");
    returns(&world, &statement, &admin).await.is(409, "invalid_state");
    // Nothing has happened since.
    world.creates_settlement(&sailing.partner, &admin).await.is(409, "nothing_to_settle");
    let listed = world.get("/v1/settlements?status=statement").by(&admin).send().await.ok();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    world.delivers_outbox().await;
    let told = world.get("/v1/notifications?page_size=100").by(&sailing.partner).send().await.ok();
    let told = told.as_array().unwrap();
    let told = told.iter().find(|told| told["type"] == "settlement.created").unwrap();
    assert_eq!(told["title"], "New statement");

    sails(&world, &sailing).await;
    let next = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&next["status"], &next["net"]), (&json!("pending"), &json!(NET - DEBT)));
    assert_eq!(next["booking_count"], 1);
    assert_eq!(kinds(&next), ["sale", "carried"]);
    let carried = &next["items"][1];
    assert_eq!((&carried["booking_id"], &carried["code"]), (&json!(null), &json!(null)));
    assert_eq!((&carried["net"], &carried["day"]), (&json!(-DEBT), &json!("2026-11-15")));
    assert_invariants(&world).await;
    world.releases_settlement(&next, &admin).await.ok();
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_eq!(world.balance("bank").await, -(NET - DEBT));
    assert_eq!(unsettled(&world, &sailing.partner).await, 0);
    assert_invariants(&world).await;
}

async fn a_statement_is_cancelled_while_its_debt_is_open(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails_for_cash(&world, &sailing).await;
    let first = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(cancels(&world, &first, &admin).await.ok()["status"], "cancelled");
    assert_eq!(unsettled(&world, &sailing.partner).await, -DEBT, "owed once");
    assert_invariants(&world).await;
    cancels(&world, &first, &admin).await.is(409, "invalid_state");

    let statement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(kinds(&statement), ["sale"]);
    sails(&world, &sailing).await;
    let next = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(next["net"], NET - DEBT);
    cancels(&world, &statement, &admin).await.is(409, "invalid_state");
    assert_invariants(&world).await;
    cancels(&world, &next, &admin).await.ok();
    cancels(&world, &statement, &admin).await.ok();
    assert_eq!(unsettled(&world, &sailing.partner).await, NET - DEBT);
    assert_invariants(&world).await;
    let seen = world.get(&path_of(&next)).by(&admin).send().await.ok();
    assert_eq!(kinds(&seen), ["sale", "carried"], "it shows what it was");
    let again = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(kinds(&again), ["sale", "sale"]);
    assert_eq!(again["net"], NET - DEBT);
    assert_invariants(&world).await;
}

async fn the_schedule_makes_statements(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let daily = json!({ "schedule": "daily", "minimum_amount": NET });
    world.post("/v1/settlements/configuration", daily).by(&admin).send().await.ok();
    // For cash on the 16th, otherwise on the 18th.
    let booking = world.books(order(&sailing, 2, "putu@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&sailing.partner).send().await.ok();
    let last = "SELECT id FROM sailings ORDER BY departure_at DESC LIMIT 1";
    let last: Uuid = world.db().sql(last).scalar().await.unwrap();
    let last = Sailing { id: last.to_string(), ..sailing };
    world.paid_booking(&last, 2).await;
    let made_on_next_day = async |days: i64| {
        world.advances_clock(TimeDelta::days(days));
        dermaga::bookings::complete(&world.app).await.unwrap();
        run_schedules(&world.app).await.unwrap()
    };
    let newest = async || {
        let admin = world.signs_in(&admin.email, "admin").await;
        world.get("/v1/settlements").by(&admin).send().await.ok()[0].clone()
    };
    assert_eq!(made_on_next_day(2).await, 1);
    let statement = newest().await;
    assert_eq!((&statement["status"], &statement["net"]), (&json!("statement"), &json!(-DEBT)));
    assert_eq!(statement["origin"], "scheduled");
    assert_eq!(made_on_next_day(1).await, 0, "the debt alone makes no further statement");
    assert_eq!(made_on_next_day(1).await, 0, "a positive amount below the minimum waits");
    assert_eq!(world.count("SELECT COUNT(*) FROM settlement_runs").await, 3);
    let admin = world.signs_in(&admin.email, "admin").await;
    let daily = json!({ "schedule": "daily", "minimum_amount": 0 });
    world.post("/v1/settlements/configuration", daily).by(&admin).send().await.ok();
    assert_eq!(made_on_next_day(1).await, 1);
    let settlement = newest().await;
    assert_eq!(
        (&settlement["status"], &settlement["net"]),
        (&json!("pending"), &json!(NET - DEBT))
    );
    assert_invariants(&world).await;
}

async fn a_partner_pays_what_it_owes(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let body = receipt_body(&world, &sailing.partner, 1).await;
    records_receipt(&world, &body, &admin).await.is(409, "nothing_owed");
    sails_for_cash(&world, &sailing).await;
    let statement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let too_much = receipt_body(&world, &sailing.partner, DEBT + 1).await;
    records_receipt(&world, &too_much, &admin).await.has_field_errors(&[("amount", "max")]);
    let body = receipt_body(&world, &sailing.partner, 10_000).await;
    let receipt = records_receipt(&world, &body, &admin).await.ok();
    assert!(receipt["code"].as_str().unwrap().starts_with("RCP-"));
    assert_eq!(receipt["mitra"]["name"], "Made Bahari");
    assert_eq!((&receipt["amount"], &receipt["method"]), (&json!(10_000), &json!("bank")));
    assert_eq!(receipt["received_on"], "2026-11-14");
    assert_eq!(receipt["recorded_by"]["id"], json!(admin.id));
    assert_eq!(world.balance("bank").await, 10_000);
    assert_eq!(unsettled(&world, &sailing.partner).await, 10_000 - DEBT);
    let posted = "SELECT COUNT(*) FROM ledger_lines
        WHERE source = 'receipt' AND posted_on = '2026-11-14'";
    assert_eq!(world.count(posted).await, 2);
    assert_invariants(&world).await;
    records_receipt(&world, &receipt_body(&world, &sailing.partner, DEBT).await, &admin)
        .await
        .has_field_errors(&[("amount", "max")]);
    let mut body = receipt_body(&world, &sailing.partner, DEBT - 10_000).await;
    body["method"] = json!("cash");
    records_receipt(&world, &body, &admin).await.ok();
    assert_eq!(world.balance("cash").await, DEBT - 10_000);
    assert_eq!(world.balance("partner_payable").await, 0);
    records_receipt(&world, &body, &admin).await.is(409, "nothing_owed");
    assert_invariants(&world).await;

    let closed = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&closed["status"], &closed["net"]), (&json!("statement"), &json!(0)));
    let mut seen = kinds(&closed);
    seen.sort();
    assert_eq!(seen, ["carried", "receipt", "receipt"]);
    assert_eq!(closed["booking_count"], 0);
    cancels(&world, &statement, &admin).await.is(409, "invalid_state");
    assert_eq!(unsettled(&world, &sailing.partner).await, 0);
    assert_invariants(&world).await;
}

async fn a_bad_receipt_is_refused_field_by_field(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails_for_cash(&world, &sailing).await;
    let good = receipt_body(&world, &sailing.partner, DEBT).await;
    let post = async |changes: Value| {
        let mut body = good.clone();
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        records_receipt(&world, &body, &admin).await
    };
    records_receipt(&world, &json!({}), &admin).await.has_field_errors(&[
        ("amount", "required"),
        ("method", "required"),
        ("mitra_id", "required"),
        ("received_on", "required"),
        ("reference", "required"),
    ]);
    post(json!({ "amount": 0 })).await.has_field_errors(&[("amount", "min")]);
    post(json!({ "amount": -5 })).await.has_field_errors(&[("amount", "min")]);
    post(json!({ "amount": i64::MAX })).await.has_field_errors(&[("amount", "max")]);
    assert_eq!(post(json!({ "amount": 1.5 })).await.field_errors()[0].0, "amount");
    assert_eq!(post(json!({ "amount": 1e300 })).await.field_errors()[0].0, "amount");
    post(json!({ "method": "gold" })).await.has_field_errors(&[("method", "enum")]);
    post(json!({ "reference": " " })).await.has_field_errors(&[("reference", "required")]);
    post(json!({ "received_on": "2026-11-16" })).await.has_field_errors(&[("received_on", "max")]);
    post(json!({ "received_on": "2025-11-01" })).await.has_field_errors(&[("received_on", "min")]);
    post(json!({ "received_on": "0001-01-01" })).await.has_field_errors(&[("received_on", "min")]);
    assert_eq!(
        post(json!({ "received_on": "2026-02-30" })).await.field_errors()[0].0,
        "received_on"
    );
    let unknown = dermaga::kernel::ids::fresh();
    post(json!({ "mitra_id": unknown })).await.has_field_errors(&[("mitra_id", "unknown")]);
    assert_eq!(world.count("SELECT COUNT(*) FROM settlement_receipts").await, 0);
    let reader = world.staff("ayu@dermaga.test", &[Rule::SettlementsRead]).await;
    records_receipt(&world, &good, &reader).await.is(403, "forbidden");
    records_receipt(&world, &good, &sailing.partner).await.is(403, "forbidden");
    // On the day itself it is in the books.
    post(json!({ "received_on": "2026-11-15" })).await.ok();
}

async fn a_receipt_is_not_booked_into_a_closed_month(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails_for_cash(&world, &sailing).await;
    world
        .db()
        .sql("INSERT INTO finance_periods (month, closed_at) VALUES ('2026-10-01', $1)")
        .bind(world.now())
        .run()
        .await
        .unwrap();
    let mut body = receipt_body(&world, &sailing.partner, 1_000).await;
    // All months up to the last closed one are closed.
    let days = ["2026-09-30", "2026-10-01", "2026-10-31"].map(|day| (day, true));
    for (day, closed) in days.into_iter().chain([("2026-11-01", false)]) {
        body["received_on"] = json!(day);
        let answer = records_receipt(&world, &body, &admin).await;
        match closed {
            true => drop(answer.is(409, "period_closed")),
            false => drop(answer.ok()),
        }
    }
    world.db().sql("UPDATE finance_periods SET closed_at = NULL").run().await.unwrap();
    body["received_on"] = json!("2026-10-31");
    records_receipt(&world, &body, &admin).await.ok();
    assert_invariants(&world).await;
}

async fn receipts_at_once_pay_a_debt_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails_for_cash(&world, &sailing).await;
    let body = receipt_body(&world, &sailing.partner, DEBT).await;
    let answers = join_all((0..6).map(|_| records_receipt(&world, &body, &admin))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        answer.is(409, "nothing_owed");
    }
    assert_eq!(world.balance("bank").await, DEBT);
    assert_invariants(&world).await;
}

async fn the_same_key_records_a_receipt_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails_for_cash(&world, &sailing).await;
    let body = receipt_body(&world, &sailing.partner, 1_000).await;
    let post = async |body: &Value| {
        let call = world.post("/v1/settlements/receipts", body.clone()).by(&admin);
        call.header("idempotency-key", "r").send().await
    };
    let first = post(&body).await.ok();
    let again = post(&body).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok(), first);
    let other = receipt_body(&world, &sailing.partner, 2_000).await;
    post(&other).await.is(409, "idempotency_conflict");
    assert_eq!(world.balance("bank").await, 1_000);
}

async fn a_partner_sees_its_own_receipts_only(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails_for_cash(&world, &sailing).await;
    for amount in [1_000, 2_000] {
        let body = receipt_body(&world, &sailing.partner, amount).await;
        records_receipt(&world, &body, &admin).await.ok();
        world.advances_clock(TimeDelta::minutes(1));
    }
    let path = "/v1/settlements/receipts";
    let list = async |who: &Someone, query: &str| {
        let listed = world.get(&format!("{path}{query}")).by(who).send().await.ok();
        let listed = listed.as_array().unwrap().clone();
        listed.iter().map(|receipt| receipt["amount"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let own = world.partner_id(&sailing.partner).await;
    assert_eq!(list(&sailing.partner, "").await, [2_000, 1_000]);
    assert_eq!(list(&admin, "?sort_by=amount&sort_dir=asc").await, [1_000, 2_000]);
    assert_eq!(list(&admin, &format!("?mitra_id={own}&search=bca-42")).await.len(), 2);
    assert!(list(&admin, &format!("?mitra_id={}", dermaga::kernel::ids::fresh())).await.is_empty());
    let other = world.active_partner("ketut@laut.id").await;
    for query in ["", &format!("?mitra_id={own}")] {
        assert!(list(&other, query).await.is_empty(), "whatever it asks for");
    }
    let clerk = world.staff("ayu@dermaga.test", &[Rule::SettlementsWrite]).await;
    world.get(path).by(&clerk).send().await.is(403, "forbidden");
    let bad = world.get(&format!("{path}?sort_by=colour")).by(&admin).send().await;
    bad.has_field_errors(&[("sort_by", "enum")]);
}

async fn a_payout_that_came_back_is_payable_again(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails(&world, &sailing).await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    returns(&world, &made, &admin).await.is(409, "invalid_state");
    let released = world.releases_settlement(&made, &admin).await.ok();
    assert_eq!(released["payouts"].as_array().unwrap().len(), 1);
    assert_eq!(released["payouts"][0]["method"], "manual");
    let path = format!("{}/return", path_of(&made));
    let post = async |body: Value| world.post(&path, body).by(&admin).send().await;
    post(json!({})).await.has_field_errors(&[("reason", "required")]);
    post(json!({ "reason": " " })).await.has_field_errors(&[("reason", "required")]);
    returns(&world, &made, &sailing.partner).await.is(403, "forbidden");
    let cashier = world.staff("kasir@dermaga.test", &[Rule::SettlementsRelease]).await;
    returns(&world, &made, &cashier).await.is(403, "forbidden");
    let missing = format!("/v1/settlements/{}/return", dermaga::kernel::ids::fresh());
    let call = world.post(&missing, json!({ "reason": "x" })).by(&admin);
    call.send().await.is(404, "not_found");

    let clerk =
        world.staff("ayu@dermaga.test", &[Rule::SettlementsWrite, Rule::SettlementsRelease]).await;
    let back = returns(&world, &made, &clerk).await.ok();
    assert_eq!((&back["status"], &back["failure"]), (&json!("pending"), &json!("Account closed")));
    for field in ["released_at", "released_by", "reference"] {
        assert_eq!(back[field], json!(null), "{field}");
    }
    let payout = &back["payouts"][0];
    assert_eq!((&payout["reference"], &payout["amount"]), (&json!("BCA-1"), &json!(NET)));
    assert_eq!(payout["return_reason"], "Account closed");
    assert_eq!(world.balance("bank").await, 0);
    assert_eq!(world.balance("partner_payable").await, -NET);
    assert_eq!(unsettled(&world, &sailing.partner).await, NET);
    assert_invariants(&world).await;
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    let letter = letters.iter().find(|letter| letter.contains("Account closed")).unwrap();
    assert!(letter.contains("Rp 270.000") && !letter.contains("7712345678"), "{letter}");
    for who in [&sailing.partner, &admin] {
        let told = world.get("/v1/notifications?page_size=100").by(who).send().await.ok();
        let told = told.as_array().unwrap();
        let told = told.iter().find(|told| told["type"] == "settlement.returned").unwrap();
        assert!(told["body"].as_str().unwrap().contains("Account closed"), "{told}");
    }

    // Whoever says that it came back does not pay it again.
    world.releases_settlement(&made, &clerk).await.is(409, "same_person");
    let again = world.releases_settlement(&made, &cashier).await.ok();
    assert_eq!((&again["status"], &again["failure"]), (&json!("released"), &json!(null)));
    assert_eq!(again["payouts"].as_array().unwrap().len(), 2);
    assert_eq!(world.balance("bank").await, -NET);
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_invariants(&world).await;
    // Taken back once more it can be cancelled, and settled anew.
    returns(&world, &made, &clerk).await.ok();
    cancels(&world, &made, &admin).await.ok();
    assert_eq!(world.creates_settlement(&sailing.partner, &admin).await.ok()["net"], NET);
    assert_eq!(world.balance("bank").await, 0);
    assert_invariants(&world).await;
}

async fn returns_at_once_are_one_return(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails(&world, &sailing).await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    let answers = join_all((0..6).map(|_| returns(&world, &made, &admin))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        answer.is(409, "invalid_state");
    }
    assert_eq!(world.balance("bank").await, 0);
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'settlement.returned'";
    assert_eq!(world.count(told).await, 1);
    assert_invariants(&world).await;
}

async fn a_refund_makes_a_settlement_stale(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = sails(&world, &sailing).await;
    sails(&world, &sailing).await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(made["net"], 2 * NET);
    cancels_booking(&world, &booking, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.is(409, "stale");
    assert_eq!(world.balance("bank").await, 0);
    assert_invariants(&world).await;
    cancels(&world, &made, &admin).await.ok();
    let anew = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&anew["status"], &anew["net"]), (&json!("pending"), &json!(NET)));
    assert_eq!(anew["items"].as_array().unwrap().len(), 3);
    world.releases_settlement(&anew, &admin).await.ok();
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_invariants(&world).await;
}

async fn a_refund_that_another_settlement_nets_makes_it_stale_too(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = sails(&world, &sailing).await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let first = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.advances_clock(TimeDelta::minutes(1));
    cancels_booking(&world, &booking, &admin).await.ok();
    let second = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&second["status"], &second["net"]), (&json!("statement"), &json!(-NET)));
    world.releases_settlement(&first, &admin).await.is(409, "stale");
    cancels(&world, &first, &admin).await.ok();
    // The sale and the carried debt of its reversal.
    let anew = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&anew["status"], &anew["net"]), (&json!("statement"), &json!(0)));
    assert_eq!(unsettled(&world, &sailing.partner).await, 0);
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_invariants(&world).await;
}

async fn a_release_races_a_refund(world: World) {
    let admin = world.admin().await;
    let boss = world.second_admin().await;
    let sailing = world.sailing().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let mut paid_out = 0;
    for _ in 0..4 {
        let booking = sails(&world, &sailing).await;
        sails(&world, &sailing).await;
        sails(&world, &sailing).await;
        let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
        assert_eq!(made["status"], "pending");
        let release =
            world.post(&format!("{}/release", path_of(&made)), json!({ "reference": "B" }));
        let (released, refunded) =
            tokio::join!(release.by(&boss).send(), cancels_booking(&world, &booking, &admin));
        refunded.ok();
        match released.status {
            200 => paid_out += released.ok()["net"].as_i64().unwrap(),
            _ => {
                released.is(409, "stale");
                cancels(&world, &made, &admin).await.ok();
            }
        }
        assert_eq!(world.balance("bank").await, -paid_out);
        assert_invariants(&world).await;
    }
    assert_eq!(unsettled(&world, &sailing.partner).await, 8 * NET - paid_out);
}

async fn a_provider_pays_out_and_takes_back(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    sails(&world, &sailing).await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let id = id_of(&made);
    let transfer = async |status: &'static str| {
        let transfer = dermaga::kernel::ids::fresh();
        let insert =
            "INSERT INTO transfers (id, settlement_id, provider, amount, status, created_at,
             updated_at) VALUES ($1, $2, 'simulator', 270000, $3, $4, $4)";
        let insert = world.db().sql(insert).bind(transfer).bind(id).bind(status);
        insert.bind(world.now()).run().await.unwrap();
        let processing = "UPDATE settlements SET status = 'processing',
             bank_account = '{\"account_number\": \"******5678\"}',
             account_approved_at = created_at WHERE id = $1";
        world.db().sql(processing).bind(id).run().await.unwrap();
        transfer
    };
    transfer("failed").await;
    let listed = world.get("/v1/settlements?status=processing").by(&admin).send().await.ok();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let dashboard = world.get("/v1/dashboard").by(&admin).send().await.ok();
    assert_eq!(dashboard["pending"]["settlements"], 1);
    assert_eq!(unsettled(&world, &sailing.partner).await, NET);
    cancels(&world, &made, &admin).await.is(409, "invalid_state");
    returns(&world, &made, &admin).await.is(409, "invalid_state");
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    assert_invariants(&world).await;

    // Refused by the provider: nothing was posted.
    let now = world.now();
    let mut tx = world.db().begin().await.unwrap();
    settlements::take_back(&mut tx, id, "Invalid account", now).await.unwrap();
    tx.commit().await.unwrap();
    let seen = world.get(&path_of(&made)).by(&admin).send().await.ok();
    assert_eq!((&seen["status"], &seen["failure"]), (&json!("pending"), &json!("Invalid account")));
    assert_eq!(seen["payouts"], json!([]));
    assert_eq!(world.balance("bank").await, 0);

    let second = transfer("confirmed").await;
    let mut tx = world.db().begin().await.unwrap();
    let paid = settlements::release_paid(&mut tx, id, "IRIS-1", None, Some(second), now);
    paid.await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = world.db().begin().await.unwrap();
    let again = settlements::release_paid(&mut tx, id, "IRIS-1", None, Some(second), now).await;
    assert!(again.is_err(), "it is paid once");
    drop(tx);
    let seen = world.get(&path_of(&made)).by(&admin).send().await.ok();
    assert_eq!((&seen["status"], &seen["reference"]), (&json!("released"), &json!("IRIS-1")));
    assert_eq!(seen["payouts"][0]["method"], "payout");
    assert_eq!(world.balance("bank").await, -NET);
    assert_invariants(&world).await;

    let mut tx = world.db().begin().await.unwrap();
    settlements::take_back(&mut tx, id, "Reversed by the bank", now).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = world.db().begin().await.unwrap();
    assert!(settlements::take_back(&mut tx, id, "x", now).await.is_err(), "it came back once");
    drop(tx);
    assert_eq!(world.balance("bank").await, 0);
    assert_eq!(world.balance("partner_payable").await, -NET);
    assert_invariants(&world).await;
}

async fn an_audit_asks_about_payouts_statements_and_receipts(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    sails(&world, &sailing).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    sails_for_cash(&world, &sailing).await;
    world.creates_settlement(&sailing.partner, &admin).await.ok();
    let body = receipt_body(&world, &sailing.partner, 1_000).await;
    records_receipt(&world, &body, &admin).await.ok();
    assert_invariants(&world).await;
    let broken = async |statement: &'static str| {
        world.db().sql(statement).run().await.unwrap();
        let checked = dermaga::invariants::check(world.db()).await.unwrap();
        let broken = checked.iter().filter(|question| !question.broken.is_empty());
        broken.map(|question| question.rule).collect::<Vec<_>>()
    };
    let stands = "exactly the released settlements have a payout that stands";
    let posted = "payouts of settlements are posted to the bank, and again when they came back";
    let carried = "the debt of a statement is carried once, and not after it was cancelled";
    let payable = "partner payable equals dues not paid out less cash collected in advance";
    let receipts = "receipts of partners are posted and reduce what they owe";
    let approved = "every released settlement was paid to a bank account that had been approved";
    for (breaks, mends, questions) in [
        (
            "UPDATE settlement_payouts SET amount = amount + 1",
            "UPDATE settlement_payouts SET amount = amount - 1",
            vec![stands, posted],
        ),
        (
            "UPDATE settlement_payouts SET returned_at = released_at, return_reason = 'x'",
            "UPDATE settlement_payouts SET returned_at = NULL, return_reason = NULL",
            vec![stands, posted],
        ),
        (
            "UPDATE settlement_payouts SET account_approved_at = NULL",
            "UPDATE settlement_payouts SET account_approved_at = released_at",
            vec![approved],
        ),
        (
            "UPDATE settlements SET bank_account = NULL WHERE status = 'released'",
            "UPDATE settlements SET bank_account = '{\"account_number\": \"1\"}'
             WHERE status = 'released'",
            vec![approved],
        ),
        (
            "UPDATE partner_dues SET collected = collected - 1, net = net + 1
             WHERE kind = 'carried'",
            "UPDATE partner_dues SET collected = collected + 1, net = net - 1
             WHERE kind = 'carried'",
            vec![payable, carried],
        ),
        (
            "UPDATE settlement_receipts SET amount = amount + 1",
            "UPDATE settlement_receipts SET amount = amount - 1",
            vec![receipts],
        ),
        (
            "UPDATE settlement_receipts SET method = 'cash'",
            "UPDATE settlement_receipts SET method = 'bank'",
            vec![receipts],
        ),
    ] {
        assert_eq!(broken(breaks).await, questions, "{breaks}");
        assert_eq!(broken(mends).await, Vec::<&str>::new(), "{mends}");
    }
}
