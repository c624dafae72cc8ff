//! What customers paid, by day: the taxes in it, and what providers have settled of it. Both reports
//! say the same before, amid and after the roll-up, and after the totals were made anew.

use chrono::TimeDelta;
use dermaga::ledger;
use serde_json::{Value, json};

use crate::{
    harbour::{callback_body, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Someone, World},
};

on_both_engines![
    reports_are_the_same_before_and_after_the_roll_up,
    a_payment_can_be_settled_before_it_is_known,
    money_that_a_review_applies_counts_once,
    a_voided_payment_is_not_missing,
    payments_race_with_payouts,
];

const BOOKS: &str = "/v1/finance";

async fn reads(world: &World, path: &str, by: &Someone) -> Value {
    world.get(&format!("{BOOKS}/{path}")).by(by).send().await.ok()
}

async fn adds_tax(world: &World, code: &str, rate: f64, factor: &str, admin: &Someone) {
    let tax = json!({
        "name": code, "code": code, "rate": rate, "applies_to": "booking",
        "base_factor": factor, "is_active": true,
    });
    world.post("/v1/configurations/taxs", tax).by(admin).send().await.ok();
}

fn line(reference: &Value, gross: i64, fee: i64, fee_tax: i64) -> Value {
    json!({
        "reference": reference, "gross": gross, "fee": fee, "fee_tax": fee_tax,
        "net": gross - fee - fee_tax,
    })
}

async fn settles(world: &World, payout: &str, lines: Value, by: &Someone) -> Value {
    let body = json!({
        "provider": "simulator", "payout_id": payout, "paid_on": "2026-11-15", "lines": lines,
    });
    let path = format!("{BOOKS}/provider-settlements");
    world.post(&path, body).by(by).send_with_retry().await.ok()
}

async fn receives(world: &World, reference: &Value, amount: i64, transaction: &str) {
    let notice = callback_body(reference.as_str().unwrap(), amount, "settlement", transaction);
    world.post("/v1/payment/callback", notice).send_with_retry().await.ok();
}

fn amount(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// The amount of a tax in a price.
fn tax_in(booking: &Value, code: &str) -> i64 {
    let mut taxes = booking["price"]["taxes"].as_array().unwrap().iter();
    amount(&taxes.find(|tax| tax["code"] == code).unwrap()["amount"])
}

fn tax<'r>(report: &'r Value, code: &str) -> &'r Value {
    let mut taxes = report["taxes"].as_array().unwrap().iter();
    taxes.find(|tax| tax["tax_code"] == code).unwrap()
}

/// The amounts of a day and method, in the order of the report.
fn row(report: &Value, day: &str, method: &str) -> [i64; 7] {
    let mut rows = report["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["day"] == day && row["method"] == method);
    let row = row.unwrap_or_else(|| panic!("no {method} on {day}: {report}"));
    ["ours", "theirs", "refunds", "fees", "fee_taxes", "missing", "extra"]
        .map(|name| amount(&row[name]))
}

/// Reads the reports as they are, half rolled up, rolled up and made anew, and returns them.
async fn reports(world: &World, admin: &Someone) -> (Value, Value) {
    let read = async || {
        let mut taxes = reads(world, "taxes?month=2026-11", admin).await;
        let path = "reconciliation?start_date=2026-11-01&end_date=2026-11-30";
        let mut reconciliation = reads(world, path, admin).await;
        // One day at a time says the same.
        for day in reconciliation["rows"].as_array().unwrap() {
            let day = day["day"].as_str().unwrap();
            let path = format!("reconciliation?start_date={day}&end_date={day}");
            let alone = reads(world, &path, admin).await;
            let rows = reconciliation["rows"].as_array().unwrap().iter();
            let same: Vec<_> = rows.filter(|row| row["day"] == day).cloned().collect();
            assert_eq!(alone["rows"], json!(same), "{day}");
        }
        taxes["as_of"] = Value::Null;
        reconciliation["as_of"] = Value::Null;
        assert_invariants(world).await;
        (taxes, reconciliation)
    };
    let as_it_is = read().await;
    ledger::roll_up(&world.app).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_moves").await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM tax_moves").await, 0);
    assert_eq!(read().await, as_it_is, "rolled up");
    assert_eq!(ledger::roll_up(&world.app).await.unwrap(), 0);
    ledger::rebuild(&world.app).await.unwrap();
    assert_eq!(read().await, as_it_is, "made anew");
    as_it_is
}

async fn reports_are_the_same_before_and_after_the_roll_up(world: World) {
    let admin = world.admin().await;
    adds_tax(&world, "PPN", 12.0, "11/12", &admin).await;
    adds_tax(&world, "PAS", 2.5, "1", &admin).await;
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 199_999).await;
    let plain = world.paid_booking(&sailing, 2).await;
    // Two passengers of three travel. What was paid does not change.
    let some = world.paid_booking(&sailing, 3).await;
    let path = format!("/v1/booking/{}/cancel", some["id"].as_str().unwrap());
    let passengers = world.looks_up(&some).await["passengers"].clone();
    let body = json!({ "reason": "x", "passenger_ids": [passengers[0]["id"]] });
    world.post(&path, body).by(&admin).send().await.ok();
    let moved = world.paid_booking(&sailing, 2).await;
    let wish = world.requests_reschedule(&moved, &dear).await.ok();
    let difference = amount(&wish["reschedule"]["difference"]);
    assert!(difference > 0);
    let first = reports(&world, &admin).await;
    let paid = [&plain, &some, &moved];
    let received: i64 = paid.iter().map(|booking| tax_in(booking, "PPN")).sum();
    assert_eq!(tax(&first.0, "PPN")["received"], received);
    assert_eq!(tax(&first.0, "PPN")["received_base"], 7 * 150_000 * 11 / 12);
    assert_eq!(tax(&first.0, "PAS")["received_base"], 7 * 150_000);
    let total: i64 = paid.iter().map(|booking| amount(&booking["price"]["total"])).sum();
    assert_eq!(row(&first.1, "2026-11-15", "qris"), [total, 0, 0, 0, 0, total, 0]);

    // The next day a difference is paid, and the provider settles: too much of one payment, and
    // something unknown.
    let of = |booking: &Value| booking["payment"]["reference"].clone();
    let gross = |booking: &Value| amount(&booking["price"]["total"]);
    let lines = json!([
        line(&of(&plain), gross(&plain) + 5_000, 4_000, 440),
        line(&of(&some), gross(&some), 3_000, 330),
        line(&of(&some), -10_000, 0, 0),
        line(&json!("stranger"), 50_000, 700, 77),
        line(&json!("other stranger"), -3_000, 0, 0),
    ]);
    settles(&world, "PO-1", lines, &admin).await;
    world.advances_clock(TimeDelta::hours(20));
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    receives(&world, &wish["reschedule"]["payment"]["reference"], difference, "d").await;
    let now = world.looks_up(&moved).await;
    assert_eq!(now["route_time_id"], json!(dear.id));
    let (taxes, reconciliation) = reports(&world, &admin).await;
    let received = received + tax_in(&now, "PPN") - tax_in(&moved, "PPN");
    assert_eq!(tax(&taxes, "PPN")["received"], received);
    let base = 5 * 150_000 + 2 * 199_999;
    assert_eq!(tax(&taxes, "PAS")["received_base"], base);
    let eleven_twelfths = (base * 11 * 2 + 12) / 24;
    assert_eq!(tax(&taxes, "PPN")["received_base"], eleven_twelfths);
    let theirs = gross(&plain) + 5_000 + gross(&some);
    assert_eq!(
        row(&reconciliation, "2026-11-15", "qris"),
        [total, theirs, 10_000, 7_000, 770, gross(&moved), 5_000]
    );
    assert_eq!(
        row(&reconciliation, "2026-11-15", "unknown"),
        [0, 50_000, 3_000, 700, 77, 0, 50_000]
    );
    let missing = [difference, 0, 0, 0, 0, difference, 0];
    assert_eq!(row(&reconciliation, "2026-11-16", "qris"), missing);
    // Another month has nothing of it.
    let next = reads(&world, "taxes?month=2026-12", &admin).await;
    assert!(next["taxes"].as_array().unwrap().iter().all(|tax| tax["received"] == 0));
}

async fn a_payment_can_be_settled_before_it_is_known(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].clone();
    settles(&world, "PO-1", json!([line(&reference, 150_000, 4_000, 440)]), &admin).await;
    let (_, nothing) = reports(&world, &admin).await;
    assert_eq!(nothing["rows"], json!([]));
    receives(&world, &reference, 150_000, "t").await;
    let (_, settled) = reports(&world, &admin).await;
    let even = [150_000, 150_000, 0, 4_000, 440, 0, 0];
    assert_eq!(row(&settled, "2026-11-15", "qris"), even);
    // Somebody pays the same booking again, two days later: it counts with the payment.
    world.advances_clock(TimeDelta::hours(10));
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    receives(&world, &reference, 150_000, "t2").await;
    let (_, twice) = reports(&world, &admin).await;
    let missing = [300_000, 150_000, 0, 4_000, 440, 150_000, 0];
    assert_eq!(row(&twice, "2026-11-15", "qris"), missing);
    assert_eq!(twice["rows"].as_array().unwrap().len(), 1);
}

/// Applying the money of a review to a reschedule posts it to the clearing account a second time, and
/// takes it off.
async fn money_that_a_review_applies_counts_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    receives(&world, &wish["reschedule"]["payment"]["reference"], 50_500, "much").await;
    let (_, waits) = reports(&world, &admin).await;
    assert_eq!(row(&waits, "2026-11-15", "qris")[0], 200_500);
    let reviews = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    let path = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let apply = json!({ "action": "apply", "note": "x" });
    world.post(&path, apply).by(&admin).send().await.ok();
    assert_eq!(world.looks_up(&booking).await["route_time_id"], json!(dear.id));
    let (_, applied) = reports(&world, &admin).await;
    let missing = [200_500, 0, 0, 0, 0, 200_500, 0];
    assert_eq!(row(&applied, "2026-11-15", "qris"), missing);
}

async fn a_voided_payment_is_not_missing(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].clone();
    receives(&world, &reference, 7_000, "wrong").await;
    let (_, waits) = reports(&world, &admin).await;
    assert_eq!(row(&waits, "2026-11-15", "qris"), [7_000, 0, 0, 0, 0, 7_000, 0]);
    let voided = "UPDATE payment_events SET outcome = 'voided'";
    world.db().sql(voided).run().await.unwrap();
    let reviews = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    let path = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let dismiss = json!({ "action": "dismiss", "note": "x" });
    world.post(&path, dismiss).by(&admin).send().await.ok();
    let (_, gone) = reports(&world, &admin).await;
    assert_eq!(gone["rows"], json!([]));
}

async fn payments_race_with_payouts(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut references = Vec::new();
    for n in 0..8 {
        let order = order(&sailing, 1, &format!("tamu{n}@example.com"));
        let booking = world.post("/v1/booking/", order).by(&admin).send().await.ok();
        references.push(booking["payment"]["reference"].clone());
    }
    let paid = references.iter().map(async |reference| {
        receives(&world, reference, 150_000, &format!("t-{reference}")).await;
    });
    let settled = references.chunks(2).enumerate().map(async |(n, some)| {
        let lines: Vec<_> = some.iter().map(|name| line(name, 150_000, 1_000, 110)).collect();
        settles(&world, &format!("PO-{n}"), json!(lines), &admin).await;
    });
    let rolled_up = async {
        for _ in 0..5 {
            drop(ledger::roll_up(&world.app).await);
        }
    };
    tokio::join!(
        futures_util::future::join_all(paid),
        futures_util::future::join_all(settled),
        rolled_up
    );
    let (_, report) = reports(&world, &admin).await;
    let even = [1_200_000, 1_200_000, 0, 8_000, 880, 0, 0];
    assert_eq!(row(&report, "2026-11-15", "qris"), even);
}
