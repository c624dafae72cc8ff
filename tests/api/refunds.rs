//! Refunds: what customers are owed, how it is paid, and what providers tell of it.

// The provider is axum's alone, so its own extractor is the right one.
#![allow(clippy::disallowed_types)]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use chrono::TimeDelta;
use dermaga::{
    config::{PaymentProvider, Url, WebUrl},
    kernel::access::Rule::*,
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, SERVER_KEY, Someone, World},
};

on_both_engines![
    refunds_are_listed_with_their_filters,
    a_partner_sees_its_own_refunds,
    a_refund_is_paid_once,
    hostile_payments_of_refunds_are_refused,
    two_clerks_pay_one_refund_once,
    a_repetition_never_pays_another_debt,
    several_refunds_are_paid_one_by_one,
    a_refund_that_bounced_is_due_again,
    a_refund_that_cannot_be_sent_is_not_retried,
    cash_goes_back_as_cash,
    a_partner_hands_back_the_cash_that_it_took,
    the_till_is_spent_once,
    partial_refunds_are_told_one_by_one_and_by_their_sum,
    two_notices_of_one_refund_post_once,
    four_notices_in_every_order_end_the_same,
    refunds_told_at_once_post_once,
    a_refund_told_before_its_payment_came_and_went,
    a_part_told_before_its_payment_leaves_the_booking_paid,
    a_chargeback_pays_no_refund,
    a_chargeback_of_the_sum_of_a_refund_is_posted,
    cash_goes_back_as_cash_and_the_rest_as_it_came,
    a_refund_with_a_key_of_somebody_else_pays_what_is_owed,
    money_that_is_gone_is_not_refunded_again,
    a_called_off_sailing_deducts_what_is_gone,
    a_refund_recorded_by_hand_is_recognised,
    a_refund_of_unapplied_money_resolves_its_review,
    a_payment_that_is_taken_back_needs_a_decision,
    unapplied_money_that_is_taken_back_is_dismissed,
    a_denial_is_confirmed_before_it_takes_money_back,
    a_settlement_that_is_refunded_meanwhile_came_and_went,
    xendit_tells_refunds_of_its_own,
    a_refund_of_xendit_needs_the_token_and_a_confirmation,
    xendit_tells_a_refund_and_its_invoice_once,
    a_review_is_refunded_and_paid_at_once,
    a_wrong_difference_is_applied_or_refunded,
    the_partner_is_charged_for_an_unowed_refund_once,
    the_dashboard_counts_and_sums_unpaid_refunds,
    clerks_are_told_of_refunds,
];

/// A cancelled booking of `qty` seats with a full refund due, and its refund.
async fn owed(world: &World, sailing: &Sailing, qty: usize, by: &Someone) -> (Value, Value) {
    let booking = world.paid_booking(sailing, qty).await;
    (booking.clone(), cancelled(world, &booking, by).await)
}

/// Cancels the booking; returns its refund.
async fn cancelled(world: &World, booking: &Value, by: &Someone) -> Value {
    let path = format!("/v1/booking/{}/cancel", id(booking));
    world.post(&path, json!({ "reason": "x" })).by(by).send().await.ok();
    refunds_of(world, booking, by).await.remove(0)
}

async fn refunds_of(world: &World, booking: &Value, by: &Someone) -> Vec<Value> {
    let path = format!("/v1/refunds?search={}", booking["code"].as_str().unwrap());
    world.get(&path).by(by).send().await.ok().as_array().unwrap().clone()
}

async fn reviews(world: &World, by: &Someone) -> Vec<Value> {
    let open = world.get("/v1/payment/reviews?open=true").by(by).send().await.ok();
    open.as_array().unwrap().clone()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

fn reference(booking: &Value) -> &str {
    booking["payment"]["reference"].as_str().unwrap()
}

async fn status(world: &World, booking: &Value) -> String {
    world.looks_up(booking).await["status"].as_str().unwrap().to_owned()
}

fn bank(reference: &str) -> Value {
    json!({ "by": "bank", "reference": reference })
}

impl World {
    async fn acts_on_refund(
        &self,
        refund: &Value,
        what: &str,
        body: Value,
        by: &Someone,
    ) -> Answer {
        let path = format!("/v1/refunds/{}/{what}", id(refund));
        self.post(&path, body).by(by).send_with_retry().await
    }

    async fn resolves(&self, review: &Value, mut body: Value, by: &Someone) -> Answer {
        let path = format!("/v1/payment/reviews/{}/resolve", id(review));
        body["note"] = json!("As agreed");
        self.post(&path, body).by(by).send_with_retry().await
    }

    /// A signed notification with more fields. The signature does not cover them.
    async fn is_told(
        &self,
        booking: &Value,
        status: &str,
        transaction: &str,
        more: Value,
    ) -> Answer {
        let amount = booking["price"]["total"].as_i64().unwrap();
        let mut body = callback_body(reference(booking), amount, status, transaction);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/v1/payment/callback", body).send_with_retry().await
    }

    async fn asserts_balances(&self, expected: &[(&'static str, i64)]) {
        for (account, amount) in expected {
            assert_eq!(self.balance(account).await, *amount, "{account}");
        }
    }
}

/// The refunds of a payment so far, as Midtrans lists them.
fn told_refunds(each: &[(&str, i64)]) -> Value {
    let total: i64 = each.iter().map(|(_, amount)| amount).sum();
    let list: Vec<_> = each
        .iter()
        .map(|(key, amount)| json!({ "refund_key": key, "refund_amount": format!("{amount}.00") }))
        .collect();
    json!({ "refund_amount": format!("{total}.00"), "refunds": list })
}

async fn refunds_are_listed_with_their_filters(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (first, refund) = owed(&world, &sailing, 2, &admin).await;
    let mitra = world.partner_id(&sailing.partner).await;
    assert_eq!(refund["booking_id"], first["id"]);
    assert_eq!(refund["booking_code"], first["code"]);
    assert_eq!((&refund["kind"], &refund["status"]), (&json!("cancellation"), &json!("due")));
    assert_eq!((&refund["amount"], &refund["unpaid"]), (&json!(300_000), &json!(300_000)));
    assert_eq!((&refund["mitra"]["id"], &refund["mitra_id"]), (&json!(mitra), &json!(mitra)));
    for empty in ["by", "account", "reference", "paid_at", "last_error"] {
        assert_eq!(refund[empty], json!(null), "{empty}");
    }
    assert_eq!(refund["attempts"], 0);
    assert_eq!(refund["due_at"], "2026-11-15T03:00:00Z");
    let path = format!("/v1/refunds/{}", id(&refund));
    assert_eq!(world.get(&path).by(&admin).send().await.ok(), refund);
    world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    world.advances_clock(TimeDelta::hours(14));
    // The session has expired meanwhile.
    let admin = world.signs_in(&admin.email, "admin").await;
    let (second, _) = owed(&world, &sailing, 1, &admin).await;
    let found = async |query: &str| {
        let all = world.get(&format!("/v1/refunds?{query}")).by(&admin).send().await.ok();
        let codes = all.as_array().unwrap().iter().map(|refund| refund["booking_code"].clone());
        codes.collect::<Vec<_>>()
    };
    let (one, two) = (&[first["code"].clone()][..], &[second["code"].clone()][..]);
    let both = [second["code"].clone(), first["code"].clone()];
    assert_eq!(found("").await, both, "newest first");
    assert_eq!(found("status=paid").await, one);
    assert_eq!(found("status=due").await, two);
    assert_eq!(found("by=bank").await, one);
    assert_eq!(found("kind=cancellation").await, both);
    assert_eq!(found("kind=late").await.len(), 0);
    assert_eq!(found(&format!("mitra_id={mitra}")).await, both);
    let stranger = "0199a5c8-7e00-7000-8000-000000000001";
    assert_eq!(found(&format!("mitra_id={stranger}")).await.len(), 0);
    // At 17:00 UTC the next day begins in Jakarta.
    assert_eq!(found("end_date=2026-11-15").await, one);
    assert_eq!(found("start_date=2026-11-16").await, two);
    assert_eq!(found("start_date=2026-11-15&end_date=2026-11-16").await, both);
    for (query, field, rule) in [
        ("start_date=2026-11-16&end_date=2026-11-15", "end_date", "min"),
        ("status=unknown", "status", "enum"),
        ("by=pigeon", "by", "enum"),
    ] {
        let answer = world.get(&format!("/v1/refunds?{query}")).by(&admin).send().await;
        answer.has_field_errors(&[(field, rule)]);
    }
    let reader = world.staff("ayu@dermaga.test", &[BookingsRead]).await;
    world.acts_on_refund(&refund, "pay", bank("x"), &reader).await.is(403, "forbidden");
}

async fn a_partner_sees_its_own_refunds(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, refund) = owed(&world, &sailing, 1, &admin).await;
    let other = world.active_partner("other@bahari.id").await;
    let path = format!("/v1/refunds/{}", id(&refund));
    assert_eq!(refunds_of(&world, &booking, &sailing.partner).await.len(), 1);
    world.get(&path).by(&sailing.partner).send().await.ok();
    let mitra = world.partner_id(&sailing.partner).await;
    let theirs = world.get(&format!("/v1/refunds?mitra_id={mitra}")).by(&other).send().await.ok();
    assert_eq!(theirs, json!([]));
    world.get(&path).by(&other).send().await.is(404, "not_found");
    let own_cash = json!({ "by": "partner", "reference": "x" });
    world.acts_on_refund(&refund, "pay", own_cash.clone(), &other).await.is(404, "not_found");
    // It was not paid in cash, and other money is the platform's.
    let answer = world.acts_on_refund(&refund, "pay", own_cash, &sailing.partner).await;
    answer.has_field_errors(&[("by", "other_way")]);
    let answer = world.acts_on_refund(&refund, "pay", bank("x"), &sailing.partner).await;
    answer.is(403, "forbidden");
    for (what, body) in [("return", json!({ "reason": "x" })), ("retry", json!({}))] {
        world.acts_on_refund(&refund, what, body, &sailing.partner).await.is(403, "forbidden");
    }
    let missing = "/v1/refunds/0199a5c8-7e00-7000-8000-000000000001";
    world.get(missing).by(&admin).send().await.is(404, "not_found");
    assert_eq!(world.balance("refund_payable").await, -150_000);
}

async fn a_refund_is_paid_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, refund) = owed(&world, &sailing, 1, &admin).await;
    let path = format!("/v1/refunds/{}/pay", id(&refund));
    let body = json!({ "by": "bank", "reference": "BCA-1", "note": "By hand" });
    let pay = || world.post(&path, body.clone()).by(&admin).header("idempotency-key", "k1").send();
    let paid = pay().await.ok();
    assert_eq!((&paid["status"], &paid["unpaid"]), (&json!("paid"), &json!(0)));
    assert_eq!((&paid["by"], &paid["reference"]), (&json!("bank"), &json!("BCA-1")));
    assert_eq!((&paid["note"], &paid["paid_at"]), (&json!("By hand"), &refund["due_at"]));
    let again = pay().await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok(), paid);
    let other = world.post(&path, bank("BCA-2")).by(&admin).header("idempotency-key", "k1");
    other.send().await.is(409, "idempotency_conflict");
    world.acts_on_refund(&refund, "pay", bank("BCA-2"), &admin).await.is(409, "invalid_state");
    assert_eq!(status(&world, &booking).await, "refunded");
    world.asserts_balances(&[("bank", -150_000), ("refund_payable", 0)]).await;
    assert_invariants(&world).await;
}

async fn hostile_payments_of_refunds_are_refused(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (_, refund) = owed(&world, &sailing, 1, &admin).await;
    for (what, body, field, rule) in [
        ("pay", json!({ "by": "bank" }), "reference", "required"),
        ("pay", json!({ "reference": "x" }), "by", "required"),
        ("pay", bank(" "), "reference", "required"),
        ("pay", bank(&"x".repeat(121)), "reference", "max_length"),
        ("pay", json!({ "by": "crypto", "reference": "x" }), "by", "enum"),
        ("pay", json!({ "by": 7, "reference": "x" }), "by", "type"),
        ("return", json!({ "reason": "x".repeat(201) }), "reason", "max_length"),
    ] {
        let errors = world.acts_on_refund(&refund, what, body.clone(), &admin).await.field_errors();
        let named: Vec<_> = errors.iter().map(|(field, _)| field.as_str()).collect();
        assert!(!named.is_empty() && named.iter().all(|name| *name == field), "{body}: {errors:?}");
        if rule != "required" {
            assert!(errors.iter().any(|(_, broken)| broken == rule), "{body}: {errors:?}");
        }
    }
    let path = "/v1/refunds/not-an-id/pay";
    assert!([404, 422].contains(&world.post(path, bank("x")).by(&admin).send().await.status));
    assert_eq!(world.count("SELECT COUNT(*) FROM refund_payments").await, 0);
}

async fn two_clerks_pay_one_refund_once(world: World) {
    let (one, two) = (world.admin().await, world.second_admin().await);
    let sailing = world.sailing().await;
    let (_, refund) = owed(&world, &sailing, 1, &one).await;
    let calls = (0..8).map(|n| {
        let by = if n % 2 == 0 { &one } else { &two };
        world.acts_on_refund(&refund, "pay", bank(&format!("BCA-{n}")), by)
    });
    let mut statuses: Vec<_> = join_all(calls).await.iter().map(|answer| answer.status).collect();
    statuses.sort();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(world.balance("bank").await, -150_000);
    assert_invariants(&world).await;
}

async fn a_repetition_never_pays_another_debt(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.receives_callback(&booking, "settlement", "twice").await.ok();
    let review = reviews(&world, &admin).await.remove(0);
    world.resolves(&review, json!({ "action": "refund" }), &admin).await.ok();
    let path = format!("/v1/booking/{}/refund", id(&booking));
    let transfer = json!({ "reference": "BCA-1" });
    world.post(&path, transfer.clone()).by(&admin).send().await.ok();
    assert_eq!(world.balance("bank").await, -150_000);
    // Now another debt of the same amount is due, and the same request comes again.
    cancelled(&world, &booking, &admin).await;
    world.post(&path, transfer).by(&admin).send().await.is(409, "already_paid");
    assert_eq!(world.balance("bank").await, -150_000);
    let wrong = json!({ "reference": "BCA-2", "by": "cash" });
    world.post(&path, wrong).by(&admin).send().await.has_field_errors(&[("by", "other_way")]);
    let right = json!({ "reference": "BCA-2", "by": "provider" });
    let after = world.post(&path, right).by(&admin).send().await.ok();
    assert_eq!(after["status"], "refunded");
    world.asserts_balances(&[("bank", -150_000), ("gateway_clearing", 150_000)]).await;
    assert_invariants(&world).await;
}

async fn several_refunds_are_paid_one_by_one(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.receives_callback(&booking, "settlement", "twice").await.ok();
    let review = reviews(&world, &admin).await.remove(0);
    world.resolves(&review, json!({ "action": "refund" }), &admin).await.ok();
    cancelled(&world, &booking, &admin).await;
    let path = format!("/v1/booking/{}/refund", id(&booking));
    let transfer = json!({ "reference": "BCA-1" });
    world.post(&path, transfer.clone()).by(&admin).send().await.is(409, "several_due");
    let both = refunds_of(&world, &booking, &admin).await;
    let of = |kind: &str| both.iter().find(|refund| refund["kind"] == kind).unwrap();
    // The duplicate does not end the booking; the cancellation does.
    world.acts_on_refund(of("duplicate"), "pay", bank("BCA-1"), &admin).await.ok();
    assert_eq!(status(&world, &booking).await, "refund_pending");
    let after = world.looks_up(&booking).await;
    assert_eq!(after["owed"], 150_000);
    world.acts_on_refund(of("cancellation"), "pay", bank("BCA-2"), &admin).await.ok();
    assert_eq!(status(&world, &booking).await, "refunded");
    assert_invariants(&world).await;
}

async fn a_refund_that_bounced_is_due_again(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, refund) = owed(&world, &sailing, 1, &admin).await;
    let bounce =
        || world.acts_on_refund(&refund, "return", json!({ "reason": "Account closed" }), &admin);
    bounce().await.is(409, "invalid_state");
    world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    let (a, b) = tokio::join!(bounce(), bounce());
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 409], "once");
    let after = refunds_of(&world, &booking, &admin).await.remove(0);
    assert_eq!((&after["status"], &after["unpaid"]), (&json!("returned"), &json!(150_000)));
    assert_eq!(after["last_error"], "Account closed");
    assert_eq!(after["paid_at"], json!(null));
    let seen = world.looks_up(&booking).await;
    assert_eq!((&seen["status"], &seen["owed"]), (&json!("refund_pending"), &json!(150_000)));
    assert_eq!(seen["payment"]["status"], "paid");
    world.asserts_balances(&[("bank", 0), ("refund_payable", -150_000)]).await;
    // It is paid again, also with the same reference.
    let paid = world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    assert_eq!((&paid["status"], &paid["last_error"]), (&json!("paid"), &json!(null)));
    assert_eq!(status(&world, &booking).await, "refunded");
    world.asserts_balances(&[("bank", -150_000), ("refund_payable", 0)]).await;
    assert_invariants(&world).await;
}

async fn a_refund_that_cannot_be_sent_is_not_retried(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (_, refund) = owed(&world, &sailing, 1, &admin).await;
    let retry = || world.acts_on_refund(&refund, "retry", json!({}), &admin);
    retry().await.is(409, "not_refundable");
    world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    retry().await.is(409, "invalid_state");
}

/// A booking of one seat that was paid in cash.
async fn paid_in_cash(world: &World, sailing: &Sailing, by: &Someone) -> Value {
    let booking = world.books(order(sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", id(&booking));
    world.post(&path, json!({})).by(by).send().await.ok();
    booking
}

async fn cash_goes_back_as_cash(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = paid_in_cash(&world, &sailing, &admin).await;
    let refund = cancelled(&world, &booking, &admin).await;
    for by in ["bank", "provider", "partner"] {
        let body = json!({ "by": by, "reference": "x" });
        let answer = world.acts_on_refund(&refund, "pay", body, &admin).await;
        answer.has_field_errors(&[("by", "other_way")]);
    }
    // A refund of the provider is of other money, too.
    world.receives_callback(&booking, "refund", "r1").await.ok();
    assert_eq!(status(&world, &booking).await, "refund_pending");
    let cash = json!({ "by": "cash", "reference": "Receipt 1" });
    world.acts_on_refund(&refund, "pay", cash, &admin).await.ok();
    world.asserts_balances(&[("cash", 0), ("bank", 0), ("refund_payable", 0)]).await;
    // By default cash goes back as cash as well.
    let booking = paid_in_cash(&world, &sailing, &admin).await;
    cancelled(&world, &booking, &admin).await;
    let path = format!("/v1/booking/{}/refund", id(&booking));
    world.post(&path, json!({ "reference": "Receipt 2" })).by(&admin).send().await.ok();
    world.asserts_balances(&[("cash", 0), ("bank", 0)]).await;
    assert_invariants(&world).await;
}

async fn a_partner_hands_back_the_cash_that_it_took(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = paid_in_cash(&world, &sailing, &sailing.partner).await;
    assert_eq!(world.balance("partner_payable").await, 150_000);
    let refund = cancelled(&world, &booking, &admin).await;
    let cash = json!({ "by": "cash", "reference": "x" });
    world.acts_on_refund(&refund, "pay", cash.clone(), &sailing.partner).await.is(403, "forbidden");
    // The platform has no cash to pay it with.
    world.acts_on_refund(&refund, "pay", cash, &admin).await.is(409, "not_enough_cash");
    let own = json!({ "by": "partner", "reference": "Receipt 1" });
    let paid = world.acts_on_refund(&refund, "pay", own, &sailing.partner).await.ok();
    assert_eq!(paid["by"], "partner");
    assert_eq!(status(&world, &booking).await, "refunded");
    world.asserts_balances(&[("partner_payable", 0), ("refund_payable", 0), ("bank", 0)]).await;
    let due = "SELECT CAST(SUM(net) AS BIGINT) FROM partner_dues WHERE kind = 'returned'";
    assert_eq!(world.count(due).await, 150_000);
    assert_invariants(&world).await;
    // Taken back, the partner owes the cash again.
    let bounce = json!({ "reason": "Recorded by mistake" });
    world.acts_on_refund(&refund, "return", bounce, &admin).await.ok();
    assert_eq!(world.balance("partner_payable").await, 150_000);
    assert_eq!(world.count(due).await, 0);
    assert_invariants(&world).await;
}

/// Two refunds of the same cash: one finds the till empty.
async fn the_till_is_spent_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut refunds = Vec::new();
    for _ in 0..2 {
        let booking = paid_in_cash(&world, &sailing, &sailing.partner).await;
        refunds.push(cancelled(&world, &booking, &admin).await);
    }
    paid_in_cash(&world, &sailing, &admin).await;
    assert_eq!(world.balance("cash").await, 150_000);
    let cash = json!({ "by": "cash", "reference": "x" });
    let calls = refunds.iter().map(|due| world.acts_on_refund(due, "pay", cash.clone(), &admin));
    let mut statuses: Vec<_> = join_all(calls).await.iter().map(|answer| answer.status).collect();
    statuses.sort();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(world.balance("cash").await, 0);
    assert_invariants(&world).await;
}

async fn partial_refunds_are_told_one_by_one_and_by_their_sum(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, _) = owed(&world, &sailing, 1, &admin).await;
    let tell = async |status: &str, more: Value| {
        world.is_told(&booking, status, "t1", more).await.ok();
        let refund = refunds_of(&world, &booking, &admin).await.remove(0);
        refund["unpaid"].as_i64().unwrap()
    };
    // By a sum, then by its id: the same money.
    assert_eq!(tell("partial_refund", json!({ "refund_amount": "40000.00" })).await, 110_000);
    assert_eq!(tell("partial_refund", told_refunds(&[("a", 40_000)])).await, 110_000);
    assert_eq!(tell("partial_refund", told_refunds(&[("a", 40_000), ("b", 60_000)])).await, 50_000);
    // An older notice comes late.
    assert_eq!(tell("partial_refund", told_refunds(&[("b", 60_000)])).await, 50_000);
    assert_eq!(status(&world, &booking).await, "refund_pending");
    world.asserts_balances(&[("gateway_clearing", 50_000), ("refund_payable", -50_000)]).await;
    let all = told_refunds(&[("a", 40_000), ("b", 60_000), ("c", 50_000)]);
    assert_eq!(tell("refund", all).await, 0);
    assert_eq!(status(&world, &booking).await, "refunded");
    world.asserts_balances(&[("gateway_clearing", 0), ("refund_payable", 0)]).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
    assert_invariants(&world).await;
}

/// All orders of a list.
fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let insert = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    permutations(rest).into_iter().flat_map(insert).collect()
}

async fn four_notices_in_every_order_end_the_same(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let notices = [
        ("partial_refund", told_refunds(&[("a", 40_000)])),
        ("partial_refund", told_refunds(&[("a", 40_000), ("b", 60_000)])),
        ("refund", told_refunds(&[("a", 40_000), ("b", 60_000), ("c", 50_000)])),
        // Without a list: the sum alone.
        ("refund", json!({ "refund_amount": "150000.00" })),
    ];
    let orders = permutations(&[0, 1, 2, 3]);
    assert_eq!(orders.len(), 24);
    for order in orders {
        let (booking, _) = owed(&world, &sailing, 1, &admin).await;
        for at in &order {
            let (word, told) = notices[*at].clone();
            let transaction = format!("t-{}", booking["code"]);
            world.is_told(&booking, word, &transaction, told).await.ok();
        }
        assert_eq!(status(&world, &booking).await, "refunded", "{order:?}");
        world.asserts_balances(&[("gateway_clearing", 0), ("refund_payable", 0)]).await;
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
    assert_invariants(&world).await;
}

async fn two_notices_of_one_refund_post_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, _) = owed(&world, &sailing, 1, &admin).await;
    let mut told = told_refunds(&[("k1", 150_000)]);
    world.is_told(&booking, "refund", "t1", told.clone()).await.ok();
    told["refunds"][0]["bank_confirmed_at"] = json!("2026-11-15 10:00:00");
    world.is_told(&booking, "refund", "t1", told).await.ok();
    assert_eq!(status(&world, &booking).await, "refunded");
    assert_eq!(world.count("SELECT COUNT(*) FROM told_refunds").await, 1);
    assert_eq!(world.balance("gateway_clearing").await, 0);
    // Another refund with the same sum is told by another id only after the first one was declined;
    // more than the sum is never posted.
    world.is_told(&booking, "refund", "t1", told_refunds(&[("k2", 150_000)])).await.ok();
    assert_eq!(world.balance("gateway_clearing").await, 0);
    assert_invariants(&world).await;
}

async fn refunds_told_at_once_post_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (due, _) = owed(&world, &sailing, 1, &admin).await;
    let unowed = world.paid_booking(&sailing, 1).await;
    for booking in [&due, &unowed] {
        let calls = (0..12).map(|n| {
            let told = match n % 3 {
                0 => told_refunds(&[("a", 50_000)]),
                1 => told_refunds(&[("a", 50_000), ("b", 100_000)]),
                _ => json!({ "refund_amount": "150000.00" }),
            };
            let word = if n % 3 == 0 { "partial_refund" } else { "refund" };
            world.is_told(booking, word, "t1", told)
        });
        for answer in join_all(calls).await {
            answer.ok();
        }
    }
    assert_eq!(status(&world, &due).await, "refunded");
    assert_eq!(status(&world, &unowed).await, "paid");
    let told = "SELECT CAST(SUM(amount) AS BIGINT) FROM told_refunds";
    assert_eq!(world.count(told).await, 300_000);
    let waiting = "SELECT CAST(SUM(amount) AS BIGINT) FROM payment_reviews";
    assert_eq!(world.count(waiting).await, 150_000);
    world
        .asserts_balances(&[("gateway_clearing", 0), ("refund_payable", 0), ("suspense", 150_000)])
        .await;
    assert_invariants(&world).await;
}

async fn a_refund_told_before_its_payment_came_and_went(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.is_told(&booking, "refund", "t1", told_refunds(&[("a", 150_000)])).await.ok();
    assert_eq!(status(&world, &booking).await, "pending_payment");
    assert_eq!(reviews(&world, &admin).await[0]["reason"], "unowed_refund");
    world.asserts_balances(&[("suspense", 150_000), ("gateway_clearing", -150_000)]).await;
    assert_invariants(&world).await;
    let calls = (0..8).map(|n| {
        let word = if n % 2 == 0 { "settlement" } else { "capture" };
        world.is_told(&booking, word, "t1", json!({}))
    });
    for answer in join_all(calls).await {
        answer.ok();
    }
    assert_eq!(status(&world, &booking).await, "pending_payment", "there is no money");
    world.asserts_balances(&[("suspense", 0), ("gateway_clearing", 0)]).await;
    assert_eq!(reviews(&world, &admin).await.len(), 0);
    let all = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    assert_eq!((&all[0]["resolution"], all.as_array().unwrap().len()), (&json!("match"), 1));
    // The customer can pay again.
    let path = format!("/v1/booking/{}/payment", id(&booking));
    let second = world.post(&path, json!({})).by(&admin).send().await.ok();
    world.receives_callback(&second, "settlement", "t2").await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
    assert_invariants(&world).await;
}

async fn a_part_told_before_its_payment_leaves_the_booking_paid(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.is_told(&booking, "partial_refund", "t1", told_refunds(&[("a", 50_000)])).await.ok();
    world.is_told(&booking, "settlement", "t1", json!({})).await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
    assert_eq!(reviews(&world, &admin).await[0]["amount"], 50_000);
    world.asserts_balances(&[("suspense", 50_000), ("gateway_clearing", 100_000)]).await;
    assert_invariants(&world).await;
}

async fn a_chargeback_pays_no_refund(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, refund) = owed(&world, &sailing, 1, &admin).await;
    for _ in 0..2 {
        world.is_told(&booking, "chargeback", "t1", json!({})).await.ok();
    }
    assert_eq!(status(&world, &booking).await, "refund_pending");
    let review = reviews(&world, &admin).await.remove(0);
    assert_eq!((&review["reason"], &review["amount"]), (&json!("chargeback"), &json!(150_000)));
    world.asserts_balances(&[("suspense", 150_000), ("refund_payable", -150_000)]).await;
    assert_invariants(&world).await;
    // A person decides that it has paid the refund.
    let body = json!({ "action": "match" });
    let calls = (0..4).map(|_| world.resolves(&review, body.clone(), &admin));
    let mut statuses: Vec<_> = join_all(calls).await.iter().map(|answer| answer.status).collect();
    statuses.sort();
    assert_eq!(statuses, [200, 409, 409, 409]);
    let paid = refunds_of(&world, &booking, &admin).await.remove(0);
    assert_eq!((id(&paid), &paid["status"]), (id(&refund), &json!("paid")));
    assert_eq!(paid["by"], "provider");
    assert_eq!(status(&world, &booking).await, "refunded");
    world
        .asserts_balances(&[("suspense", 0), ("refund_payable", 0), ("gateway_clearing", 0)])
        .await;
    assert_invariants(&world).await;
    // A part of a chargeback.
    let other = world.paid_booking(&sailing, 1).await;
    let part = json!({ "refund_amount": "20000.00" });
    world.is_told(&other, "partial_chargeback", "t2", part).await.ok();
    assert_eq!(reviews(&world, &admin).await[0]["amount"], 20_000);
    assert_invariants(&world).await;
}

async fn a_chargeback_of_the_sum_of_a_refund_is_posted(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let told = async |word: &str, more: Value, suspense: i64| {
        for _ in 0..2 {
            world.is_told(&booking, word, "t1", more.clone()).await.ok();
            world.asserts_balances(&[("suspense", suspense)]).await;
            assert_invariants(&world).await;
        }
    };
    told("partial_refund", json!({ "refund_amount": "20000.00" }), 20_000).await;
    let same = json!({ "refund_amount": "20000.00", "chargeback_amount": "20000.00" });
    told("partial_chargeback", same, 40_000).await;
    let more = json!({ "refund_amount": "20000.00", "chargeback_amount": "50000.00" });
    told("partial_chargeback", more, 70_000).await;
    let amounts: Vec<_> =
        reviews(&world, &admin).await.iter().map(|review| review["amount"].clone()).collect();
    assert_eq!(amounts, [30_000, 20_000, 20_000]);
}

/// The partner took 150,000 in cash; a move to a dearer sailing brought 50,000 through the provider.
async fn cash_goes_back_as_cash_and_the_rest_as_it_came(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let dearer = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let cancelled = async || {
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        let path = format!("/v1/booking/{}", id(&booking));
        world.post(&format!("{path}/pay-cash"), json!({})).by(&sailing.partner).send().await.ok();
        let wish = world.requests_reschedule(&booking, &dearer).await.ok();
        let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
        let notice = callback_body(reference, 50_000, "settlement", &format!("d-{reference}"));
        world.post("/v1/payment/callback", notice).send().await.ok();
        let all = json!({ "reason": "x", "refund_amount": 200_000 });
        world.post(&format!("{path}/cancel"), all).by(&admin).send().await.ok();
        let refund = refunds_of(&world, &booking, &admin).await.remove(0);
        assert_eq!(refund["unpaid"], 200_000);
        (booking, refund)
    };
    let pays = async |refund: &Value, by: &str, who: &Someone| {
        let body = json!({ "by": by, "reference": format!("{by}-{}", id(refund)) });
        world.post(&format!("/v1/refunds/{}/pay", id(refund)), body).by(who).send().await
    };
    let (booking, refund) = cancelled().await;
    let after = pays(&refund, "partner", &sailing.partner).await.ok();
    assert_eq!((&after["unpaid"], &after["status"]), (&json!(50_000), &json!("due")));
    assert_eq!(status(&world, &booking).await, "refund_pending");
    world.asserts_balances(&[("partner_payable", 0), ("refund_payable", -50_000)]).await;
    for (by, who) in [("partner", &sailing.partner), ("cash", &admin)] {
        pays(&refund, by, who).await.has_field_errors(&[("by", "other_way")]);
    }
    assert_eq!(pays(&refund, "bank", &admin).await.ok()["status"], "paid");
    assert_eq!(status(&world, &booking).await, "refunded");
    assert_invariants(&world).await;
    // The other way round; and the provider tells of what came through it.
    let (booking, refund) = cancelled().await;
    assert_eq!(pays(&refund, "bank", &admin).await.ok()["unpaid"], 150_000);
    pays(&refund, "bank", &admin).await.has_field_errors(&[("by", "other_way")]);
    let path = format!("/v1/booking/{}/refund", id(&booking));
    let wrong = json!({ "reference": "x", "amount": 200_000 });
    world.post(&path, wrong).by(&admin).send().await.has_field_errors(&[("amount", "due")]);
    let right = json!({ "reference": "x", "amount": 150_000 });
    assert_eq!(world.post(&path, right).by(&admin).send().await.ok()["status"], "refunded");
    world.asserts_balances(&[("partner_payable", 0), ("refund_payable", 0)]).await;
    assert_invariants(&world).await;
}

async fn a_refund_with_a_key_of_somebody_else_pays_what_is_owed(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, _) = owed(&world, &sailing, 1, &admin).await;
    let key = "0199a5c8-7e00-7000-8000-000000000001";
    let told = told_refunds(&[(key, 150_000)]);
    world.is_told(&booking, "refund", "t1", told).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    // An entry that the bank has declined moves nothing.
    let (other, _) = owed(&world, &sailing, 1, &admin).await;
    let mut told = told_refunds(&[("k", 150_000)]);
    told["refunds"][0]["status"] = json!("deny");
    told["refund_amount"] = json!("0.00");
    world.is_told(&other, "partial_refund", "t2", told).await;
    assert_eq!(world.looks_up(&other).await["status"], "refund_pending");
    assert_invariants(&world).await;
}

async fn money_that_is_gone_is_not_refunded_again(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    for action in ["charge_partner", "write_off"] {
        let booking = world.paid_booking(&sailing, 1).await;
        world.is_told(&booking, "chargeback", action, json!({})).await.ok();
        let review = reviews(&world, &admin).await.remove(0);
        world.resolves(&review, json!({ "action": action }), &admin).await.ok();
        assert_invariants(&world).await;
        let path = format!("/v1/booking/{}/cancel", id(&booking));
        let asked = json!({ "reason": "x", "refund_amount": 1 });
        let answer = world.post(&path, asked).by(&admin).send().await;
        answer.has_field_errors(&[("refund_amount", "max")]);
        let after = world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
        assert_eq!((&after["status"], &after["owed"]), (&json!("cancelled"), &json!(0)));
        assert_invariants(&world).await;
    }
}

async fn a_called_off_sailing_deducts_what_is_gone(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let whole = world.paid_booking(&sailing, 1).await;
    let (gone, part) =
        (world.paid_booking(&sailing, 1).await, world.paid_booking(&sailing, 1).await);
    world.is_told(&gone, "chargeback", "t1", json!({})).await.ok();
    let amount = json!({ "refund_amount": "40000.00" });
    world.is_told(&part, "partial_chargeback", "t2", amount).await.ok();
    for review in reviews(&world, &admin).await {
        world.resolves(&review, json!({ "action": "write_off" }), &admin).await.ok();
    }
    let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
    let answer = world.post(&path, json!({ "reason": "storm" })).by(&admin).send().await.ok();
    let counts = json!({ "cancelled": 1, "refund_due": 2, "refund_total": 260_000 });
    assert_eq!(answer["bookings"], counts);
    for (booking, status, owed) in [
        (&whole, "refund_pending", 150_000),
        (&gone, "cancelled", 0),
        (&part, "refund_pending", 110_000),
    ] {
        let after = world.looks_up(booking).await;
        assert_eq!((&after["status"], &after["owed"]), (&json!(status), &json!(owed)));
    }
    world.asserts_balances(&[("refund_payable", -260_000), ("customer_deposits", 0)]).await;
    assert_invariants(&world).await;
    // What the bank has taken back does not pay for another journey.
    let later = world.sailing_of_another_day(&sailing).await;
    for (booking, word) in [(&part, 409), (&whole, 200)] {
        let path = format!("/v1/booking/{}/reschedule", id(booking));
        let body = json!({ "route_time_id": later.id });
        let answer = world.post(&path, body).by(&admin).send().await;
        assert_eq!(answer.status, word, "{}", answer.body);
        assert_invariants(&world).await;
    }
}

async fn a_refund_recorded_by_hand_is_recognised(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (booking, refund) = owed(&world, &sailing, 1, &admin).await;
    let by_hand = json!({ "by": "provider", "reference": "dashboard" });
    world.acts_on_refund(&refund, "pay", by_hand, &admin).await.ok();
    assert_eq!(world.balance("gateway_clearing").await, 0);
    world.is_told(&booking, "refund", "t1", told_refunds(&[("a", 150_000)])).await.ok();
    world.asserts_balances(&[("gateway_clearing", 0), ("suspense", 0)]).await;
    assert_eq!(reviews(&world, &admin).await.len(), 0);
    assert_invariants(&world).await;
}

async fn a_refund_of_unapplied_money_resolves_its_review(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.receives_callback(&booking, "settlement", "twice").await.ok();
    world.is_told(&booking, "refund", "twice", told_refunds(&[("a", 150_000)])).await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
    let all = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    assert_eq!(all.as_array().unwrap().len(), 1);
    assert_eq!((&all[0]["reason"], &all[0]["resolution"]), (&json!("duplicate"), &json!("refund")));
    let refund = refunds_of(&world, &booking, &admin).await.remove(0);
    assert_eq!((&refund["kind"], &refund["status"]), (&json!("duplicate"), &json!("paid")));
    world.asserts_balances(&[("unapplied_payments", 0), ("gateway_clearing", 150_000)]).await;
    assert_invariants(&world).await;
}

async fn a_payment_that_is_taken_back_needs_a_decision(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let transaction = format!("t-{}", booking["code"]);
    // Another attempt of the same order fails: nothing is taken back.
    world.is_told(&booking, "deny", "another", json!({})).await.ok();
    assert_eq!(reviews(&world, &admin).await.len(), 0);
    let calls = (0..8).map(|n| {
        let word = if n % 2 == 0 { "deny" } else { "cancel" };
        world.is_told(&booking, word, &transaction, json!({}))
    });
    for answer in join_all(calls).await {
        answer.ok();
    }
    let open = reviews(&world, &admin).await;
    assert_eq!(open.len(), 1);
    assert_eq!((&open[0]["reason"], &open[0]["amount"]), (&json!("chargeback"), &json!(150_000)));
    world.asserts_balances(&[("gateway_clearing", 0), ("suspense", 150_000)]).await;
    // Its settlement is repeated: still taken back.
    world.pays(&booking).await;
    assert_eq!(world.balance("gateway_clearing").await, 0);
    assert_invariants(&world).await;
    // With a refund due, nothing is owed any more: the customer never paid.
    let (other, _) = owed(&world, &sailing, 1, &admin).await;
    let transaction = format!("t-{}", other["code"]);
    world.is_told(&other, "deny", &transaction, json!({})).await.ok();
    assert_eq!(status(&world, &other).await, "refunded");
    world.asserts_balances(&[("gateway_clearing", 0), ("refund_payable", 0)]).await;
    assert_invariants(&world).await;
}

async fn unapplied_money_that_is_taken_back_is_dismissed(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.receives_callback(&booking, "settlement", "twice").await.ok();
    let review = reviews(&world, &admin).await.remove(0);
    let decide = |action: &str| world.resolves(&review, json!({ "action": action }), &admin);
    decide("dismiss").await.is(409, "money_taken");
    world.is_told(&booking, "deny", "another", json!({})).await.ok();
    decide("dismiss").await.is(409, "money_taken");
    world.is_told(&booking, "deny", "twice", json!({})).await.ok();
    assert_eq!(reviews(&world, &admin).await.len(), 1, "the same review");
    for action in ["apply", "refund"] {
        decide(action).await.is(409, "voided");
    }
    for action in ["match", "write_off", "charge_partner"] {
        decide(action).await.is(409, "invalid_state");
    }
    decide("dismiss").await.ok();
    decide("dismiss").await.is(409, "invalid_state");
    world.asserts_balances(&[("unapplied_payments", 0), ("gateway_clearing", 150_000)]).await;
    assert_invariants(&world).await;
}

/// A provider that answers what it was told to, by path.
#[derive(Clone, Default)]
struct Provider(Arc<Mutex<HashMap<String, Value>>>);

impl Provider {
    fn says(&self, path: &str, answer: Value) {
        self.0.lock().unwrap().insert(path.to_owned(), answer);
    }

    fn is_silent(&self, path: &str) {
        self.0.lock().unwrap().remove(path);
    }

    async fn with(world: World, kind: PaymentProvider) -> (World, Self) {
        async fn answer(State(provider): State<Provider>, Path(path): Path<String>) -> Response {
            match provider.0.lock().unwrap().get(&path) {
                Some(answer) => answer.to_string().into_response(),
                None => StatusCode::BAD_GATEWAY.into_response(),
            }
        }
        async fn snap() -> String {
            json!({ "redirect_url": "https://snap.test/x" }).to_string()
        }
        async fn invoice(body: String) -> String {
            let body: Value = serde_json::from_str(&body).unwrap();
            let id = format!("inv-{}", body["external_id"].as_str().unwrap());
            json!({ "id": id, "invoice_url": "https://xendit.test/x" }).to_string()
        }
        let provider = Self::default();
        let router = Router::new()
            .route("/snap/v1/transactions", post(snap))
            .route("/v2/invoices", post(invoice))
            .route("/{*path}", get(answer))
            .with_state(provider.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let world = world
            .with(|config| {
                config.payment_provider = kind;
                config.payment_url = Some(WebUrl(Url(url)));
            })
            .await;
        (world, provider)
    }
}

async fn a_denial_is_confirmed_before_it_takes_money_back(world: World) {
    let (world, provider) = Provider::with(world, PaymentProvider::Midtrans).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("v2/{}/status", reference(&booking));
    let settled = callback_body(reference(&booking), 150_000, "settlement", "t1");
    let denied = callback_body(reference(&booking), 150_000, "deny", "t1");
    let tell = |body: &Value| world.post("/v1/payment/callback", body.clone()).send();
    provider.says(&path, settled.clone());
    tell(&settled).await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
    // The signature of the settlement fits a denial as well; the provider knows better.
    tell(&denied).await.ok();
    provider.is_silent(&path);
    tell(&denied).await.ok();
    world.delivers_outbox().await;
    assert_eq!(reviews(&world, &admin).await.len(), 0);
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
    provider.says(&path, denied.clone());
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    assert_eq!(reviews(&world, &admin).await[0]["reason"], "chargeback");
    world.asserts_balances(&[("gateway_clearing", 0), ("suspense", 150_000)]).await;
    // A denial that is stored before the settlement that it follows.
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("v2/{}/status", reference(&booking));
    let settled = callback_body(reference(&booking), 150_000, "settlement", "t2");
    let denied = callback_body(reference(&booking), 150_000, "deny", "t2");
    tell(&denied).await.ok();
    provider.says(&path, settled.clone());
    tell(&settled).await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
    provider.says(&path, denied);
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    assert_eq!(reviews(&world, &admin).await.len(), 2);
    assert_eq!(world.balance("gateway_clearing").await, 0);
    assert_invariants(&world).await;
}

async fn a_settlement_that_is_refunded_meanwhile_came_and_went(world: World) {
    let (world, provider) = Provider::with(world, PaymentProvider::Midtrans).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let settled = callback_body(reference(&booking), 150_000, "settlement", "t1");
    let mut refunded = callback_body(reference(&booking), 150_000, "refund", "t1");
    refunded
        .as_object_mut()
        .unwrap()
        .extend(told_refunds(&[("a", 150_000)]).as_object().unwrap().clone());
    provider.says(&format!("v2/{}/status", reference(&booking)), refunded.clone());
    for body in [&settled, &refunded, &settled] {
        world.post("/v1/payment/callback", body.clone()).send().await.ok();
    }
    assert_eq!(status(&world, &booking).await, "pending_payment");
    world.asserts_balances(&[("gateway_clearing", 0), ("suspense", 0)]).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM told_refunds").await, 1);
    assert_invariants(&world).await;
}

/// A booking that was paid by an invoice of Xendit.
async fn paid_by_invoice(world: &World, sailing: &Sailing, provider: &Provider) -> Value {
    let booking = world.books(order(sailing, 1, "sari@example.com")).await.ok();
    let paid = invoice(&booking, "PAID");
    provider.says(&format!("v2/invoices/{}", id(&paid)), paid.clone());
    hear(world, &paid).await.ok();
    assert_eq!(status(world, &booking).await, "paid");
    booking
}

fn invoice(booking: &Value, status: &str) -> Value {
    json!({
        "id": format!("inv-{}", reference(booking)), "external_id": reference(booking),
        "status": status, "amount": 150_000, "paid_amount": 150_000, "currency": "IDR",
        "payment_method": "EWALLET", "payment_channel": "OVO",
        "payment_id": format!("py-{}", reference(booking)),
    })
}

async fn hear(world: &World, body: &Value) -> Answer {
    let call = world.post("/v1/payment/callback", body.clone());
    call.header("x-callback-token", SERVER_KEY).send_with_retry().await
}

fn xendit_refund(key: &str, amount: i64, status: &str, by: (&str, String)) -> Value {
    let mut refund = json!({
        "id": key, "amount": amount, "currency": "IDR", "status": status,
        "reference_id": "somebody's own",
    });
    refund[by.0] = json!(by.1);
    refund
}

fn event(refund: &Value) -> Value {
    let word = refund["status"].as_str().unwrap().to_lowercase();
    json!({ "event": format!("refund.{word}"), "business_id": "b", "data": refund })
}

async fn xendit_tells_refunds_of_its_own(world: World) {
    let (world, provider) = Provider::with(world, PaymentProvider::Xendit).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = paid_by_invoice(&world, &sailing, &provider).await;
    let channel: Value = world.db().sql("SELECT channel FROM payments").scalar().await.unwrap();
    assert_eq!(channel["payment_channel"], "OVO");
    cancelled(&world, &booking, &admin).await;
    // In parts, by either id; each once.
    let by_payment = ("payment_id", format!("py-{}", reference(&booking)));
    let by_invoice = ("invoice_id", format!("inv-{}", reference(&booking)));
    let first = xendit_refund("rfd-1", 50_000, "SUCCEEDED", by_payment.clone());
    let second = xendit_refund("rfd-2", 100_000, "SUCCEEDED", by_invoice);
    let failed = xendit_refund("rfd-3", 100_000, "FAILED", by_payment);
    for refund in [&first, &second, &failed] {
        provider.says(&format!("refunds/{}", id(refund)), refund.clone());
    }
    hear(&world, &event(&failed)).await.ok();
    assert_eq!(world.balance("refund_payable").await, -150_000);
    let calls = (0..12).map(|n| {
        let refund = if n % 2 == 0 { &first } else { &second };
        let told = event(refund);
        let world = &world;
        async move { hear(world, &told).await }
    });
    for answer in join_all(calls).await {
        answer.ok();
    }
    assert_eq!(status(&world, &booking).await, "refunded");
    world.asserts_balances(&[("gateway_clearing", 0), ("refund_payable", 0)]).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM told_refunds").await, 2);
    assert_invariants(&world).await;
    // Told before its payment, by the invoice that was opened.
    let booking = world.books(order(&sailing, 1, "tono@example.com")).await.ok();
    let by_invoice = ("invoice_id", format!("inv-{}", reference(&booking)));
    let early = xendit_refund("rfd-4", 150_000, "SUCCEEDED", by_invoice);
    provider.says("refunds/rfd-4", early.clone());
    hear(&world, &event(&early)).await.ok();
    assert_eq!(world.balance("suspense").await, 150_000);
    let paid = invoice(&booking, "PAID");
    provider.says(&format!("v2/invoices/{}", id(&paid)), paid.clone());
    hear(&world, &paid).await.ok();
    assert_eq!(status(&world, &booking).await, "pending_payment");
    world.asserts_balances(&[("gateway_clearing", 0), ("suspense", 0)]).await;
    assert_invariants(&world).await;
}

async fn a_refund_of_xendit_needs_the_token_and_a_confirmation(world: World) {
    let (world, provider) = Provider::with(world, PaymentProvider::Xendit).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = paid_by_invoice(&world, &sailing, &provider).await;
    let other = paid_by_invoice(&world, &sailing, &provider).await;
    cancelled(&world, &booking, &admin).await;
    let of = |booking: &Value| ("payment_id", format!("py-{}", reference(booking)));
    let right = xendit_refund("rfd-1", 150_000, "SUCCEEDED", of(&booking));
    let told = event(&right);
    world.post("/v1/payment/callback", told.clone()).send().await.is(401, "invalid_token");
    let stray = xendit_refund("rfd-1", 1, "SUCCEEDED", ("payment_id", "py-nobody".into()));
    hear(&world, &event(&stray)).await.is(404, "not_found");
    for (field, value) in [("id", json!("../x")), ("amount", json!(0.5)), ("amount", json!(-1))] {
        let mut odd = told.clone();
        odd["data"][field] = value;
        hear(&world, &odd).await.is(400, "malformed_request");
    }
    // The provider knows it as a refund of another payment.
    provider.says("refunds/rfd-1", xendit_refund("rfd-1", 150_000, "SUCCEEDED", of(&other)));
    hear(&world, &told).await.is(404, "not_found");
    // It has not succeeded, or the provider cannot be asked: nothing happens yet.
    provider.says("refunds/rfd-1", xendit_refund("rfd-1", 150_000, "PENDING", of(&booking)));
    hear(&world, &told).await.ok();
    provider.is_silent("refunds/rfd-1");
    hear(&world, &told).await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.balance("refund_payable").await, -150_000);
    // The amount is the provider's.
    provider.says("refunds/rfd-1", xendit_refund("rfd-1", 100_000, "SUCCEEDED", of(&booking)));
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    assert_eq!(world.balance("refund_payable").await, -50_000);
    hear(&world, &told).await.ok();
    assert_eq!(world.balance("refund_payable").await, -50_000);
    assert_eq!(status(&world, &other).await, "paid");
    assert_invariants(&world).await;
}

async fn xendit_tells_a_refund_and_its_invoice_once(world: World) {
    let (world, provider) = Provider::with(world, PaymentProvider::Xendit).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    for (n, invoice_first) in [(1, true), (2, false)] {
        let booking = paid_by_invoice(&world, &sailing, &provider).await;
        cancelled(&world, &booking, &admin).await;
        let refunded = invoice(&booking, "REFUNDED");
        provider.says(&format!("v2/invoices/{}", id(&refunded)), refunded.clone());
        let by = ("payment_id", format!("py-{}", reference(&booking)));
        let refund = xendit_refund(&format!("rfd-{n}"), 150_000, "SUCCEEDED", by);
        provider.says(&format!("refunds/rfd-{n}"), refund.clone());
        let mut told = [refunded, event(&refund)];
        if !invoice_first {
            told.reverse();
        }
        for body in told.iter().chain(&told) {
            hear(&world, body).await.ok();
        }
        assert_eq!(status(&world, &booking).await, "refunded");
        world.asserts_balances(&[("gateway_clearing", 0), ("suspense", 0)]).await;
    }
    assert_invariants(&world).await;
}

async fn a_review_is_refunded_and_paid_at_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.receives_callback(&booking, "settlement", "twice").await.ok();
    let review = reviews(&world, &admin).await.remove(0);
    for (body, field, rule) in [
        (json!({ "action": "refund", "by": "bank" }), "reference", "required"),
        (json!({ "action": "dismiss", "by": "bank" }), "by", "not_applicable"),
        (json!({ "action": "apply", "reference": "x" }), "reference", "not_applicable"),
        (json!({ "action": "refund", "by": "cash", "reference": "x" }), "by", "other_way"),
        (json!({ "action": "refund", "by": "partner", "reference": "x" }), "by", "other_way"),
    ] {
        world.resolves(&review, body, &admin).await.has_field_errors(&[(field, rule)]);
    }
    let body = json!({ "action": "refund", "by": "bank", "reference": "BCA-1" });
    let calls = (0..4).map(|_| world.resolves(&review, body.clone(), &admin));
    let mut statuses: Vec<_> = join_all(calls).await.iter().map(|answer| answer.status).collect();
    statuses.sort();
    assert_eq!(statuses, [200, 409, 409, 409]);
    let refund = refunds_of(&world, &booking, &admin).await.remove(0);
    assert_eq!((&refund["kind"], &refund["status"]), (&json!("duplicate"), &json!("paid")));
    assert_eq!(refund["reference"], "BCA-1");
    assert_eq!(status(&world, &booking).await, "paid");
    world.asserts_balances(&[("bank", -150_000), ("unapplied_payments", 0)]).await;
    world.delivers_outbox().await;
    let told = world.get("/v1/notifications?page_size=100").by(&admin).send().await.ok();
    let due = told.as_array().unwrap().iter().filter(|told| told["type"] == "refund.due");
    assert_eq!(due.count(), 0, "nobody has to pay it");
    let log = "SELECT COUNT(*) FROM audit_logs WHERE action = 'payment_review.resolved'";
    assert_eq!(world.count(log).await, 1);
    assert_invariants(&world).await;
}

async fn a_wrong_difference_is_applied_or_refunded(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let dear = world.sailing_of_another_day(&sailing).await;
    let set = "UPDATE sailings SET price = 180000 WHERE id = $1";
    let to: dermaga::kernel::ids::Uuid = dear.id.parse().unwrap();
    world.db().sql(set).bind(to).run().await.unwrap();
    let moving = async || {
        let booking = world.paid_booking(&sailing, 1).await;
        let path = format!("/v1/booking/{}/reschedule", id(&booking));
        let body = json!({ "route_time_id": dear.id, "reason": "x" });
        let asked = world.post(&path, body).by(&admin).send().await.ok();
        let payment = &asked["reschedule"]["payment"];
        (booking, payment["reference"].as_str().unwrap().to_owned())
    };
    let pay = async |reference: &str, amount: i64| {
        let body = callback_body(reference, amount, "settlement", reference);
        world.post("/v1/payment/callback", body).send().await.ok();
        reviews(&world, &admin).await.remove(0)
    };
    // Too much is applied, and the excess is owed.
    let (booking, reference) = moving().await;
    let review = pay(&reference, 40_000).await;
    assert_eq!((&review["reason"], &review["expected"]), (&json!("wrong_amount"), &json!(30_000)));
    world.resolves(&review, json!({ "action": "apply" }), &admin).await.ok();
    let moved = world.looks_up(&booking).await;
    assert_eq!((&moved["price"]["total"], &moved["owed"]), (&json!(180_000), &json!(10_000)));
    let excess = refunds_of(&world, &booking, &admin).await.remove(0);
    assert_eq!((&excess["kind"], &excess["amount"]), (&json!("excess"), &json!(10_000)));
    world
        .asserts_balances(&[
            ("gateway_clearing", 190_000),
            ("customer_deposits", -180_000),
            ("unapplied_payments", 0),
            ("refund_payable", -10_000),
        ])
        .await;
    assert_invariants(&world).await;
    // Too little, or too late, goes back.
    let (booking, reference) = moving().await;
    let review = pay(&reference, 20_000).await;
    world.resolves(&review, json!({ "action": "apply" }), &admin).await.is(409, "invalid_state");
    world.resolves(&review, json!({ "action": "refund" }), &admin).await.ok();
    let (late, reference) = moving().await;
    world.advances_clock(TimeDelta::hours(1));
    dermaga::bookings::expire(&world.app).await.unwrap();
    let review = pay(&reference, 30_000).await;
    assert_eq!(review["reason"], "late");
    world.resolves(&review, json!({ "action": "apply" }), &admin).await.is(409, "invalid_state");
    world.resolves(&review, json!({ "action": "refund" }), &admin).await.ok();
    let kinds = [
        refunds_of(&world, &booking, &admin).await[0]["kind"].clone(),
        refunds_of(&world, &late, &admin).await[0]["kind"].clone(),
    ];
    assert_eq!(kinds, [json!("excess"), json!("late")]);
    // Paying that one leaves a later cancellation alone.
    let refund = refunds_of(&world, &late, &admin).await.remove(0);
    cancelled(&world, &late, &admin).await;
    world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    assert_eq!(status(&world, &late).await, "refund_pending");
    assert_invariants(&world).await;
}

async fn the_partner_is_charged_for_an_unowed_refund_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.completes_paid_bookings().await;
    let earned = -world.balance("partner_payable").await;
    world.is_told(&booking, "refund", "t1", told_refunds(&[("a", 150_000)])).await.ok();
    let review = reviews(&world, &admin).await.remove(0);
    let body = json!({ "action": "charge_partner" });
    let calls = (0..4).map(|_| world.resolves(&review, body.clone(), &admin));
    let mut statuses: Vec<_> = join_all(calls).await.iter().map(|answer| answer.status).collect();
    statuses.sort();
    assert_eq!(statuses, [200, 409, 409, 409]);
    assert_eq!(-world.balance("partner_payable").await, earned - 150_000);
    assert_eq!(world.balance("suspense").await, 0);
    let due = "SELECT CAST(SUM(net) AS BIGINT) FROM partner_dues WHERE kind = 'charge'";
    assert_eq!(world.count(due).await, -150_000);
    let reader = world.staff("ayu@dermaga.test", &[BookingsRead]).await;
    world.resolves(&review, body, &reader).await.is(403, "forbidden");
}

async fn the_dashboard_counts_and_sums_unpaid_refunds(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (_, refund) = owed(&world, &sailing, 1, &admin).await;
    let (booking, _) = owed(&world, &sailing, 2, &admin).await;
    world.is_told(&booking, "partial_refund", "t1", told_refunds(&[("a", 100_000)])).await.ok();
    let other = world.active_partner("other@bahari.id").await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    let pending = async |who: &Someone| {
        let seen = world.get("/v1/dashboard").by(who).send().await.ok();
        (seen["pending"]["refunds"].clone(), seen["pending"]["refunds_amount"].clone())
    };
    assert_eq!(pending(&admin).await, (json!(2), json!(350_000)));
    assert_eq!(pending(&sailing.partner).await, (json!(2), json!(350_000)));
    assert_eq!(pending(&other).await, (json!(0), json!(0)));
    assert_eq!(pending(&clerk).await, (json!(2), json!(null)), "amounts need reports.read");
    world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    assert_eq!(pending(&admin).await, (json!(1), json!(200_000)));
}

async fn clerks_are_told_of_refunds(world: World) {
    let admin = world.admin().await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    let reader = world.staff("budi@dermaga.test", &[BookingsRead]).await;
    let sailing = world.sailing().await;
    let (booking, refund) = owed(&world, &sailing, 1, &admin).await;
    world.delivers_outbox().await;
    world.acts_on_refund(&refund, "pay", bank("BCA-1"), &admin).await.ok();
    let bounced = json!({ "reason": "Account closed" });
    world.acts_on_refund(&refund, "return", bounced, &admin).await.ok();
    world.delivers_outbox().await;
    let told = async |who: &Someone, kind: &str| {
        let all = world.get("/v1/notifications?page_size=100").by(who).send().await.ok();
        let all = all.as_array().unwrap().clone();
        all.into_iter().filter(|told| told["type"] == kind).collect::<Vec<_>>()
    };
    let code = booking["code"].as_str().unwrap();
    for who in [&admin, &clerk] {
        let due = told(who, "refund.due").await;
        let body = format!("{code}: Rp 150.000 is owed to the customer (cancelled booking).");
        assert_eq!((due.len(), &due[0]["body"]), (1, &json!(body)));
        assert_eq!(due[0]["data"]["refund_id"], refund["id"]);
        let failed = told(who, "refund.failed").await;
        let body =
            format!("{code}: Rp 150.000 is still owed to the customer. Reason: Account closed");
        assert_eq!((failed.len(), &failed[0]["body"]), (1, &json!(body)));
    }
    for who in [&reader, &sailing.partner] {
        assert_eq!(told(who, "refund.due").await.len() + told(who, "refund.failed").await.len(), 0);
    }
}
