//! Payments: notifications of providers and their effects.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    harbour::{callback_body, order},
    on_both_engines,
    storms::assert_invariants,
    world::World,
};

on_both_engines![
    an_event_with_a_wrong_signature_is_refused,
    an_unknown_reference_is_not_found,
    the_same_event_a_hundred_times_is_one,
    events_in_any_order_end_the_same,
    notices_at_the_same_time_end_like_one_after_the_other,
    a_wrong_amount_needs_a_review,
    a_late_payment_takes_the_seats_again_or_is_refunded,
    a_second_payment_needs_a_review,
    a_payment_for_a_cancelled_booking_needs_a_review,
    a_failed_attempt_is_followed_by_another,
    cash_is_taken_by_staff_and_partners,
    a_provider_refunds_what_is_due,
    a_review_is_resolved_once,
    the_simulators_page_pays_fails_and_expires,
    the_ledger_is_append_only,
    a_capture_and_its_settlement_are_one_payment,
    a_challenged_card_pays_once_it_is_accepted,
    a_refund_of_another_payment_settles_nothing,
    a_refund_made_before_it_was_due_is_applied_later,
    a_payment_after_departure_is_refunded,
];

async fn status(world: &World, booking: &Value) -> String {
    world.looks_up(booking).await["status"].as_str().unwrap().to_owned()
}

fn reference(booking: &Value) -> &str {
    booking["payment"]["reference"].as_str().unwrap()
}

async fn an_event_with_a_wrong_signature_is_refused(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let right = callback_body(reference(&booking), 150_000, "settlement", "t1");
    for (field, value) in [
        ("signature_key", json!("00")),
        ("signature_key", json!(null)),
        ("gross_amount", json!("1.00")),
        ("order_id", json!("DMG-22222222-1")),
    ] {
        let mut forged = right.clone();
        forged[field] = value;
        let answer = world.post("/v1/payment/callback", forged).send().await;
        answer.is(401, "invalid_token");
    }
    world
        .call(reqwest::Method::POST, "/v1/payment/callback")
        .body("rubbish")
        .send()
        .await
        .is(400, "malformed_request");
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 0);
    assert_eq!(status(&world, &booking).await, "pending_payment");
    world.post("/v1/payment/callback", right).send().await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
}

async fn an_unknown_reference_is_not_found(world: World) {
    let unknown = callback_body("DMG-22222222-1", 1, "settlement", "t");
    world.post("/v1/payment/callback", unknown).send().await.is(404, "not_found");
}

async fn the_same_event_a_hundred_times_is_one(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let calls = (0..100).map(|_| world.receives_callback(&booking, "settlement", "t1"));
    for answer in futures_util::future::join_all(calls).await {
        answer.ok();
    }
    assert_eq!(status(&world, &booking).await, "paid");
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
}

async fn events_in_any_order_end_the_same(world: World) {
    let sailing = world.sailing().await;
    for words in [
        ["pending", "settlement", "expire"],
        ["settlement", "pending", "expire"],
        ["expire", "settlement", "pending"],
        ["deny", "settlement", "expire"],
    ] {
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        for word in words {
            world.receives_callback(&booking, word, &format!("t-{}", booking["code"])).await.ok();
        }
        assert_eq!(status(&world, &booking).await, "paid", "{words:?}");
    }
    assert_eq!(world.balance("customer_deposits").await, -600_000);
}

/// Whichever notice is first, the payment counts, and no other is lost.
async fn notices_at_the_same_time_end_like_one_after_the_other(world: World) {
    let sailing = world.sailing().await;
    let mut bookings = Vec::new();
    for n in 0..8 {
        let email = format!("tamu{n}@example.com");
        bookings.push(world.books(order(&sailing, 1, &email)).await.ok());
    }
    let tell = async |booking: &Value, word: &'static str| {
        let transaction = format!("t-{}", booking["code"]);
        world.receives_callback(booking, word, &transaction).await.ok();
    };
    let all = bookings.iter().flat_map(|booking| {
        ["settlement", "expire", "deny", "settlement"].map(|word| tell(booking, word))
    });
    futures_util::future::join_all(all).await;
    for booking in &bookings {
        assert_eq!(status(&world, booking).await, "paid");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_events").await, 24);
    assert_eq!(world.balance("customer_deposits").await, -8 * 150_000);
    assert_invariants(&world).await;
}

async fn a_wrong_amount_needs_a_review(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    for (amount, transaction) in [(149_999, "t1"), (150_001, "t2"), (0, "t3")] {
        let wrong = callback_body(reference(&booking), amount, "settlement", transaction);
        world.post("/v1/payment/callback", wrong).send().await.ok();
    }
    assert_eq!(status(&world, &booking).await, "pending_payment");
    assert_eq!(world.balance("unapplied_payments").await, -300_000);
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    let reviews = world.get("/v1/payment/reviews").by(&clerk).send().await.ok();
    assert_eq!(reviews.as_array().unwrap().len(), 3);
    assert_eq!(reviews[0]["reason"], "wrong_amount");
    assert_eq!(reviews[0]["expected"], 150_000);
    assert_eq!(reviews[0]["resolution"], json!(null));
}

async fn a_late_payment_takes_the_seats_again_or_is_refunded(world: World) {
    let sailing = world.sailing().await;
    let first = world.books(order(&sailing, 20, "sari@example.com")).await.ok();
    let second = world.books(order(&sailing, 10, "putu@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(31));
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(world.seats_taken(&sailing).await, 0);
    world.pays(&first).await;
    assert_eq!(status(&world, &first).await, "paid");
    assert_eq!(world.seats_taken(&sailing).await, 20);
    world.books(order(&sailing, 5, "made@example.com")).await.ok();
    world.pays(&second).await;
    let late = world.looks_up(&second).await;
    assert_eq!(late["status"], "refund_pending");
    assert_eq!(late["refund_amount"], 1_500_000);
    assert_eq!(world.seats_taken(&sailing).await, 25);
    assert_eq!(world.balance("refund_payable").await, -1_500_000);
    assert_eq!(world.balance("customer_deposits").await, -3_000_000);
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'payment.review'";
    assert_eq!(world.count(told).await, 1);
}

async fn a_second_payment_needs_a_review(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    world.receives_callback(&booking, "settlement", "another").await.ok();
    let admin = world.admin().await;
    let reviews = world.get("/v1/payment/reviews?reason=duplicate").by(&admin).send().await.ok();
    assert_eq!(reviews[0]["amount"], 150_000);
    assert_eq!(world.balance("gateway_clearing").await, 300_000);
    assert_eq!(world.balance("customer_deposits").await, -150_000);
    assert_eq!(world.balance("unapplied_payments").await, -150_000);
}

async fn a_payment_for_a_cancelled_booking_needs_a_review(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let body = json!({ "reason": "", "code": booking["code"], "email": "sari@example.com" });
    world.post(&path, body).send().await.ok();
    world.pays(&booking).await;
    assert_eq!(status(&world, &booking).await, "cancelled");
    let admin = world.admin().await;
    let reviews = world.get("/v1/payment/reviews?open=true").by(&admin).send().await.ok();
    assert_eq!(reviews[0]["reason"], "late");
    assert_eq!(world.seats_taken(&sailing).await, 0);
}

async fn a_failed_attempt_is_followed_by_another(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}/payment", booking["id"].as_str().unwrap());
    let knows = json!({ "code": booking["code"], "email": "sari@example.com" });
    let again = || world.post(&path, knows.clone()).send();
    assert_eq!(again().await.ok()["payment"]["reference"], booking["payment"]["reference"]);
    world.receives_callback(&booking, "deny", "t1").await.ok();
    assert_eq!(world.looks_up(&booking).await["payment"]["status"], "failed");
    let second = again().await.ok();
    assert_eq!(
        second["payment"]["reference"],
        json!(format!("{}-2", booking["code"].as_str().unwrap()))
    );
    world
        .post(&path, json!({ "code": "x", "email": "sari@example.com" }))
        .send()
        .await
        .is(404, "not_found");
    // The old reference stays valid.
    world.pays(&booking).await;
    let paid = world.looks_up(&booking).await;
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["payment"]["reference"], booking["payment"]["reference"], "the one that paid");
    assert_eq!(paid["payment"]["status"], "paid");
    again().await.is(409, "already_paid");
    let late = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(30));
    let path = format!("/v1/booking/{}/payment", late["id"].as_str().unwrap());
    let knows = json!({ "code": late["code"], "email": "sari@example.com" });
    world.post(&path, knows).send().await.is(409, "expired");
}

async fn cash_is_taken_by_staff_and_partners(world: World) {
    let sailing = world.sailing().await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    let other = world.active_partner("other@bahari.id").await;
    for (who, account) in [(&clerk, "cash"), (&sailing.partner, "partner_payable")] {
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
        world.post(&path, json!({})).by(&other).send().await.is(404, "not_found");
        let paid = world.post(&path, json!({})).by(who).send().await.ok();
        assert_eq!(paid["status"], "paid");
        assert_eq!(paid["payment"]["method"], "cash");
        assert_eq!(world.balance(account).await, 150_000);
        world.post(&path, json!({})).by(who).send().await.is(409, "already_paid");
    }
    assert_eq!(world.balance("customer_deposits").await, -300_000);
    assert_eq!(world.balance("gateway_clearing").await, 0);
}

async fn a_provider_refunds_what_is_due(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.receives_callback(&booking, "refund", "r1").await.ok();
    world.receives_callback(&booking, "refund", "r1").await.ok();
    let after = world.looks_up(&booking).await;
    assert_eq!(after["status"], "refunded");
    assert_eq!(after["payment"]["status"], "refunded");
    assert_eq!(world.balance("gateway_clearing").await, 0);
    assert_eq!(world.balance("refund_payable").await, 0);
    // A refund that is not owed is not dropped.
    let other = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.pays(&other).await;
    world.receives_callback(&other, "refund", "r2").await.ok();
    assert_eq!(status(&world, &other).await, "paid");
    let reviews = world.get("/v1/payment/reviews?open=true").by(&admin).send().await.ok();
    assert_eq!(reviews.as_array().unwrap().len(), 1);
    let path = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let body = |action: &str| json!({ "action": action, "note": "Looked at it" });
    assert_eq!(reviews[0]["reason"], "unowed_refund");
    assert_eq!(world.balance("suspense").await, 150_000);
    for action in ["apply", "refund", "dismiss"] {
        world.post(&path, body(action)).by(&admin).send().await.is(409, "invalid_state");
    }
    world.post(&path, body("write_off")).by(&admin).send().await.ok();
    assert_eq!(world.balance("suspense").await, 0);
    assert_eq!(world.balance("losses").await, 150_000);
}

async fn a_review_is_resolved_once(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let review = async |amount: i64, transaction: &str| {
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        let wrong = callback_body(reference(&booking), amount, "settlement", transaction);
        world.post("/v1/payment/callback", wrong).send().await.ok();
        let reviews = world.get("/v1/payment/reviews?open=true").by(&admin).send().await.ok();
        let id = reviews[0]["id"].as_str().unwrap();
        (booking, format!("/v1/payment/reviews/{id}/resolve"))
    };
    let resolve = |path: &str, action: &str| {
        let body = json!({ "action": action, "note": "As agreed" });
        world.post(path, body).by(&admin).send()
    };
    // Too little cannot be applied; too much can, and the excess is owed.
    let (_, path) = review(100_000, "t1").await;
    resolve(&path, "apply").await.is(409, "invalid_state");
    let (a, b) = tokio::join!(resolve(&path, "refund"), resolve(&path, "refund"));
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(world.balance("unapplied_payments").await, 0);
    // It is owed; nobody has paid it yet.
    assert_eq!(world.balance("bank").await, 0);
    assert_eq!(world.balance("refund_payable").await, -100_000);

    let (booking, path) = review(160_000, "t2").await;
    let resolved = resolve(&path, "apply").await.ok();
    assert_eq!(resolved["resolution"], "apply");
    assert_eq!(resolved["note"], "As agreed");
    assert_eq!(status(&world, &booking).await, "paid");
    assert_eq!(resolved["excess"], 10_000);
    assert_eq!(world.balance("refund_payable").await, -110_000);
    assert_eq!(world.balance("customer_deposits").await, -150_000);
    // The excess is paid back like any refund, and the booking stays paid.
    let refund = format!("/v1/booking/{}/refund", booking["id"].as_str().unwrap());
    let transfer = json!({ "reference": "BCA-7" });
    let after = world.post(&refund, transfer.clone()).by(&admin).send().await.ok();
    assert_eq!(after["status"], "paid");
    assert_eq!(world.balance("refund_payable").await, -100_000);
    assert_eq!(world.balance("bank").await, -10_000);
    world.post(&refund, transfer).by(&admin).send().await.is(409, "invalid_state");
    let other = json!({ "reference": "BCA-8" });
    world.post(&refund, other).by(&admin).send().await.is(409, "invalid_state");

    let (_, path) = review(1, "t3").await;
    resolve(&path, "dismiss").await.is(409, "money_taken");
    assert_eq!(world.balance("unapplied_payments").await, -1);
    let empty = json!({ "action": "dismiss", "note": " " });
    world.post(&path, empty).by(&admin).send().await.has_field_errors(&[("note", "required")]);
    assert_eq!(world.count("SELECT CAST(SUM(amount) AS BIGINT) FROM ledger_lines").await, 0);
}

async fn the_simulators_page_pays_fails_and_expires(world: World) {
    let sailing = world.sailing().await;
    let press = async |booking: &Value, action: &str| {
        let path = format!("/pay/{}", reference(booking));
        let (status, _, page) = world.get(&path).bytes().await;
        assert_eq!(status, 200);
        assert!(String::from_utf8(page).unwrap().contains("Rp 150.000"));
        let call = world.call(reqwest::Method::POST, &path).body(format!("action={action}"));
        let call = call.header("content-type", "application/x-www-form-urlencoded");
        call.bytes().await.0
    };
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let url = booking["payment"]["redirect_url"].as_str().unwrap();
    assert!(url.ends_with(&format!("/pay/{}", reference(&booking))));
    assert_eq!(press(&booking, "fail").await, 200);
    assert_eq!(world.looks_up(&booking).await["payment"]["status"], "failed");
    assert_eq!(press(&booking, "pay").await, 200);
    assert_eq!(press(&booking, "pay").await, 200);
    assert_eq!(status(&world, &booking).await, "paid");
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0, "twice is once");
    let other = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(press(&other, "expire").await, 200);
    assert_eq!(world.looks_up(&other).await["payment"]["status"], "expired");
    assert_eq!(world.get("/pay/DMG-22222222-1").bytes().await.0, 404);
}

async fn the_ledger_is_append_only(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    assert!(world.db().sql("UPDATE ledger_lines SET amount = 1").run().await.is_err());
    assert!(world.db().sql("DELETE FROM ledger_lines").run().await.is_err());
    assert_eq!(world.balance("gateway_clearing").await, 150_000);
}

async fn a_capture_and_its_settlement_are_one_payment(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.receives_callback(&booking, "capture", "t1").await.ok();
    world.receives_callback(&booking, "settlement", "t1").await.ok();
    let other = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let wrong = |word| callback_body(reference(&other), 1, word, "t2");
    for word in ["capture", "settlement"] {
        world.post("/v1/payment/callback", wrong(word)).send().await.ok();
    }
    assert_eq!(status(&world, &booking).await, "paid");
    assert_eq!(world.balance("gateway_clearing").await, 150_001);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 1);
    crate::storms::assert_invariants(&world).await;
}

async fn a_challenged_card_pays_once_it_is_accepted(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let mut challenged = callback_body(reference(&booking), 150_000, "capture", "t1");
    challenged["fraud_status"] = json!("challenge");
    world.post("/v1/payment/callback", challenged).send().await.ok();
    assert_eq!(status(&world, &booking).await, "pending_payment");
    world.receives_callback(&booking, "capture", "t1").await.ok();
    assert_eq!(status(&world, &booking).await, "paid");
}

async fn a_refund_of_another_payment_settles_nothing(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.receives_callback(&booking, "deny", "t1").await.ok();
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    let second = world.post(&format!("{path}/payment"), json!({})).by(&admin).send().await.ok();
    world.pays(&booking).await;
    world.receives_callback(&second, "settlement", "t2").await.ok();
    let cancel = json!({ "reason": "x" });
    world.post(&format!("{path}/cancel"), cancel).by(&admin).send().await.ok();
    world.receives_callback(&second, "refund", "r2").await.ok();
    assert_eq!(status(&world, &booking).await, "refund_pending", "that was the other money");
    world.receives_callback(&booking, "refund", "r1").await.ok();
    assert_eq!(status(&world, &booking).await, "refunded");
    crate::storms::assert_invariants(&world).await;
}

async fn a_refund_made_before_it_was_due_is_applied_later(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    world.receives_callback(&booking, "refund", "r1").await.ok();
    let reviews = world.get("/v1/payment/reviews?open=true").by(&admin).send().await.ok();
    let resolve = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let apply = json!({ "action": "match", "note": "Refunded in the dashboard" });
    world.post(&resolve, apply.clone()).by(&admin).send().await.is(409, "nothing_due");
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.post(&resolve, apply).by(&admin).send().await.ok();
    assert_eq!(status(&world, &booking).await, "refunded");
    assert_eq!(world.balance("gateway_clearing").await, 0);
    crate::storms::assert_invariants(&world).await;
}

async fn a_payment_after_departure_is_refunded(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::days(1));
    // The hold has not been expired by the job yet.
    world.pays(&booking).await;
    assert_eq!(status(&world, &booking).await, "refund_pending");
    assert_eq!(world.seats_taken(&sailing).await, 0);
    crate::storms::assert_invariants(&world).await;
}
