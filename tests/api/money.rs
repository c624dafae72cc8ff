//! The money of bookings, line by line: one seat of 150,000 with 11 % PPN, 10 % commission and 11 %
//! PPN on it, in the accounts of the ledger.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use dermaga::{
    config::Steps,
    kernel::{access::Rule::*, ids::Uuid, secret::Secret},
};
use serde_json::{Value, json};

use crate::{
    harbour::{ACCOUNT, Sailing, callback_body, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_journey_is_earned_on_arrival,
    half_is_kept_with_its_taxes,
    what_is_kept_in_full_is_shared_like_a_journey,
    a_full_refund_leaves_nothing,
    staff_states_the_refund,
    a_cancelled_sailing_owes_everything,
    a_dearer_sailing_is_paid_with_a_taxed_fee,
    a_cheaper_sailing_owes_the_difference_less_the_fee,
    the_fee_is_given_back_when_the_sailing_is_cancelled,
    another_sailing_instead_of_the_refund,
    a_refund_that_is_on_its_way_is_not_exchanged,
    a_complaint_takes_back_a_part_of_the_earnings,
    a_complaint_takes_back_all_earnings,
    the_platform_bears_a_complaint,
    a_promotion_is_paid_by_the_platform_or_the_partner,
    a_journey_that_is_free_by_the_partners_promotion_costs_it_the_commission,
    cash_of_staff_goes_back_as_cash,
    cash_of_the_partner_goes_back_by_the_partner,
    who_may_decide_the_refund,
    two_cancellations_refund_once,
    the_booker_states_an_account_for_refunds,
    an_account_is_stated_only_while_a_refund_is_due,
    an_account_for_refunds_is_kept_secret,
    letters_say_how_money_goes_back,
    bookings_with_a_refund_due_are_found,
];

/// Both taxes, and a sailing.
async fn taxed_sailing(world: &World, admin: &Someone) -> Sailing {
    for (code, applies_to) in [("PPN", "booking"), ("PPNJ", "commission")] {
        let tax = json!({
            "name": code, "code": code, "rate": 11, "applies_to": applies_to, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(admin).send().await.ok();
    }
    world.sailing().await
}

async fn start(world: &World) -> (Someone, Sailing) {
    let admin = world.admin().await;
    let sailing = taxed_sailing(world, &admin).await;
    (admin, sailing)
}

fn with_fee(config: &mut dermaga::config::Config) {
    config.reschedule_fee = Steps(vec![(20, 10)]);
}

fn id_of(booking: &Value) -> Uuid {
    booking["id"].as_str().unwrap().parse().unwrap()
}

fn path(booking: &Value, last: &str) -> String {
    format!("/v1/booking/{}{last}", booking["id"].as_str().unwrap())
}

/// Every ledger line of a booking: posting, account (with the tax), amount.
async fn entries(world: &World, booking: &Value) -> Value {
    let lines: Vec<(String, String, String, Option<String>, i64, Uuid)> = world
        .db()
        .sql(
            "SELECT source, kind, account, tax_code, amount, source_id FROM ledger_lines
             WHERE booking_id = $1",
        )
        .bind(id_of(booking))
        .all::<(String, String, String, Option<String>, i64, Uuid)>()
        .await
        .unwrap();
    let mut postings: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
    for (source, kind, account, tax_code, amount, _) in lines {
        let account = tax_code.map_or(account.clone(), |code| format!("{account} {code}"));
        let posting = postings.entry(format!("{source}/{kind}")).or_default();
        let known = posting.insert(account, amount);
        assert_eq!(known, None, "{source}/{kind} was posted once");
    }
    for (posting, lines) in &postings {
        assert_eq!(lines.values().sum::<i64>(), 0, "{posting} is balanced");
    }
    json!(postings)
}

/// Gross, commission, its tax, cash and net of a booking's dues, by kind.
async fn dues(world: &World, booking: &Value) -> Value {
    let dues: Vec<(String, i64, i64, i64, i64, i64)> = world
        .db()
        .sql(
            "SELECT kind, gross, commission, commission_tax, collected, net FROM partner_dues
             WHERE booking_id = $1",
        )
        .bind(id_of(booking))
        .all()
        .await
        .unwrap();
    let by_kind = dues.into_iter().map(|(kind, gross, commission, tax, collected, net)| {
        (kind, [gross, commission, tax, collected, net])
    });
    json!(by_kind.collect::<BTreeMap<_, _>>())
}

/// Kind, status, amount and what is unpaid of a booking's refunds, oldest first.
async fn refunds(world: &World, booking: &Value) -> Value {
    let refunds: Vec<(String, String, i64, i64)> = world
        .db()
        .sql(
            "SELECT kind, status, amount, unpaid FROM refunds WHERE booking_id = $1
             ORDER BY due_at, amount DESC",
        )
        .bind(id_of(booking))
        .all()
        .await
        .unwrap();
    json!(refunds)
}

fn paid() -> Value {
    json!({ "gateway_clearing": 166_500, "customer_deposits": -166_500 })
}

fn completed() -> Value {
    json!({
        "customer_deposits": 166_500, "partner_payable": -133_350, "commission_revenue": -15_000,
        "tax_payable PPN": -16_500, "tax_payable PPNJ": -1_650,
    })
}

fn owed(from: &str, amount: i64) -> Value {
    json!({ from: amount, "refund_payable": -amount })
}

async fn cancels(world: &World, booking: &Value, by: &Someone, body: Value) -> Answer {
    let mut body = body;
    body["reason"] = json!("x");
    world.post(&path(booking, "/cancel"), body).by(by).send_with_retry().await
}

async fn guest_cancels(world: &World, booking: &Value) -> Value {
    let body = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    world.post(&path(booking, "/cancel"), body).send().await.ok()
}

async fn records_refund(world: &World, booking: &Value, by: &Someone) -> Answer {
    let body = json!({ "reference": "BCA-1" });
    world.post(&path(booking, "/refund"), body).by(by).send().await
}

async fn pays_difference(world: &World, wish: &Value, amount: i64) {
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let notice = callback_body(reference, amount, "settlement", &format!("d-{reference}"));
    world.post("/v1/payment/callback", notice).send().await.ok();
}

async fn completed_booking(world: &World, sailing: &Sailing) -> Value {
    let booking = world.paid_booking(sailing, 1).await;
    assert_eq!(world.completes_paid_bookings().await, 1);
    booking
}

async fn a_journey_is_earned_on_arrival(world: World) {
    let (_, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    assert_eq!(entries(&world, &booking).await, json!({ "booking/paid": paid() }));
    world.completes_paid_bookings().await;
    assert_eq!(
        entries(&world, &booking).await,
        json!({ "booking/paid": paid(), "booking/completed": completed() })
    );
    assert_eq!(
        dues(&world, &booking).await,
        json!({ "sale": [150_000, 15_000, 1_650, 0, 133_350] })
    );
    assert_eq!(refunds(&world, &booking).await, json!([]));
    assert_invariants(&world).await;
}

async fn half_is_kept_with_its_taxes(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    // 21 hours before departure.
    let after = guest_cancels(&world, &booking).await;
    assert_eq!((&after["refund_amount"], &after["owed"]), (&json!(83_250), &json!(83_250)));
    let mut expected = json!({
        "booking/paid": paid(),
        "booking/kept": {
            "customer_deposits": 83_250, "partner_payable": -66_675,
            "commission_revenue": -7_500, "tax_payable PPN": -8_250, "tax_payable PPNJ": -825,
        },
        "booking/refund_due": owed("customer_deposits", 83_250),
    });
    assert_eq!(entries(&world, &booking).await, expected);
    assert_eq!(dues(&world, &booking).await, json!({ "kept": [75_000, 7_500, 825, 0, 66_675] }));
    assert_eq!(refunds(&world, &booking).await, json!([["cancellation", "due", 83_250, 83_250]]));
    assert_invariants(&world).await;
    let after = records_refund(&world, &booking, &admin).await.ok();
    assert_eq!((&after["status"], &after["owed"]), (&json!("refunded"), &json!(0)));
    expected["refund/paid"] = json!({ "refund_payable": 83_250, "bank": -83_250 });
    assert_eq!(entries(&world, &booking).await, expected);
    assert_eq!(refunds(&world, &booking).await, json!([["cancellation", "paid", 83_250, 0]]));
    assert_invariants(&world).await;
}

async fn what_is_kept_in_full_is_shared_like_a_journey(world: World) {
    let (admin, sailing) = start(&world).await;
    let by_policy = world.paid_booking(&sailing, 1).await;
    let by_staff = world.paid_booking(&sailing, 1).await;
    // Five hours before departure the policy keeps everything.
    world.advances_clock(TimeDelta::hours(16));
    let after = guest_cancels(&world, &by_policy).await;
    assert_eq!((&after["status"], &after["refund_amount"]), (&json!("cancelled"), &json!(null)));
    let admin = world.signs_in(&admin.email, "admin").await;
    let after = cancels(&world, &by_staff, &admin, json!({ "refund_amount": 0 })).await.ok();
    assert_eq!((&after["status"], &after["owed"]), (&json!("cancelled"), &json!(0)));
    for booking in [&by_policy, &by_staff] {
        assert_eq!(
            entries(&world, booking).await,
            json!({ "booking/paid": paid(), "booking/kept": completed() })
        );
        assert_eq!(
            dues(&world, booking).await,
            json!({ "kept": [150_000, 15_000, 1_650, 0, 133_350] })
        );
        assert_eq!(refunds(&world, booking).await, json!([]));
    }
    assert_invariants(&world).await;
}

async fn a_full_refund_leaves_nothing(world: World) {
    let (admin, sailing) = start(&world).await;
    for who in [&sailing.partner, &admin] {
        let booking = world.paid_booking(&sailing, 1).await;
        let after = cancels(&world, &booking, who, json!({})).await.ok();
        assert_eq!(after["refund_amount"], 166_500);
        records_refund(&world, &booking, &admin).await.ok();
        assert_eq!(
            entries(&world, &booking).await,
            json!({
                "booking/paid": paid(),
                "booking/refund_due": owed("customer_deposits", 166_500),
                "refund/paid": { "refund_payable": 166_500, "bank": -166_500 },
            })
        );
        assert_eq!(dues(&world, &booking).await, json!({}));
    }
    assert_invariants(&world).await;
}

async fn staff_states_the_refund(world: World) {
    let (_, sailing) = start(&world).await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite, BookingsRead]).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let after = cancels(&world, &booking, &clerk, json!({ "refund_amount": 55_500 })).await.ok();
    assert_eq!((&after["status"], &after["owed"]), (&json!("refund_pending"), &json!(55_500)));
    // Two thirds are kept.
    assert_eq!(
        entries(&world, &booking).await,
        json!({
            "booking/paid": paid(),
            "booking/kept": {
                "customer_deposits": 111_000, "partner_payable": -88_900,
                "commission_revenue": -10_000, "tax_payable PPN": -11_000,
                "tax_payable PPNJ": -1_100,
            },
            "booking/refund_due": owed("customer_deposits", 55_500),
        })
    );
    // The policy on request of the partner and of staff.
    for who in [&sailing.partner, &clerk] {
        let booking = world.paid_booking(&sailing, 1).await;
        let after = cancels(&world, &booking, who, json!({ "refund": "policy" })).await.ok();
        assert_eq!(after["refund_amount"], 83_250);
        let booking = world.paid_booking(&sailing, 1).await;
        let after = cancels(&world, &booking, who, json!({ "refund": "full" })).await.ok();
        assert_eq!(after["refund_amount"], 166_500);
    }
    assert_invariants(&world).await;
}

async fn a_cancelled_sailing_owes_everything(world: World) {
    let (_, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    assert_eq!(
        entries(&world, &booking).await,
        json!({
            "booking/paid": paid(), "booking/refund_due": owed("customer_deposits", 166_500),
        })
    );
    assert_eq!(refunds(&world, &booking).await, json!([["cancellation", "due", 166_500, 166_500]]));
    assert_invariants(&world).await;
}

/// A booking that was moved to a sailing of 200,000 for a fee of 16,650.
async fn moved_up(world: &World, sailing: &Sailing) -> (Value, Sailing) {
    let dear = world.another_sailing(sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(sailing, 1).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    assert_eq!(wish["reschedule"]["fee"], 16_650);
    assert_eq!(wish["reschedule"]["difference"], 72_150);
    pays_difference(world, &wish, 72_150).await;
    (booking, dear)
}

fn rescheduled_up() -> Value {
    json!({
        "gateway_clearing": 72_150, "customer_deposits": -55_500, "commission_revenue": -15_000,
        "tax_payable PPNJ": -1_650,
    })
}

async fn a_dearer_sailing_is_paid_with_a_taxed_fee(world: World) {
    let world = world.restarts_with(with_fee).await;
    let (_, sailing) = start(&world).await;
    let (booking, _) = moved_up(&world, &sailing).await;
    let mut expected = json!({
        "booking/paid": paid(), "reschedule/rescheduled": rescheduled_up(),
    });
    assert_eq!(entries(&world, &booking).await, expected);
    assert_invariants(&world).await;
    world.completes_paid_bookings().await;
    expected["reschedule/completed"] = json!({
        "customer_deposits": 222_000, "partner_payable": -177_800, "commission_revenue": -20_000,
        "tax_payable PPN": -22_000, "tax_payable PPNJ": -2_200,
    });
    assert_eq!(entries(&world, &booking).await, expected);
    assert_eq!(
        dues(&world, &booking).await,
        json!({ "sale": [200_000, 20_000, 2_200, 0, 177_800] })
    );
    assert_invariants(&world).await;
}

async fn a_cheaper_sailing_owes_the_difference_less_the_fee(world: World) {
    let world = world.restarts_with(with_fee).await;
    let (admin, sailing) = start(&world).await;
    let cheap = world.another_sailing(&sailing, "GT. 2", 100_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let moved = world.requests_reschedule(&booking, &cheap).await.ok();
    assert_eq!(
        (&moved["reschedule"]["difference"], &moved["owed"]),
        (&json!(-38_850), &json!(38_850))
    );
    let mut expected = json!({
        "booking/paid": paid(),
        "reschedule/rescheduled": {
            "customer_deposits": 55_500, "refund_payable": -38_850,
            "commission_revenue": -15_000, "tax_payable PPNJ": -1_650,
        },
    });
    assert_eq!(entries(&world, &booking).await, expected);
    assert_eq!(refunds(&world, &booking).await, json!([["difference", "due", 38_850, 38_850]]));
    assert_invariants(&world).await;
    let after = records_refund(&world, &booking, &admin).await.ok();
    assert_eq!((&after["status"], &after["owed"]), (&json!("paid"), &json!(0)));
    expected["refund/paid"] = json!({ "refund_payable": 38_850, "bank": -38_850 });
    assert_eq!(entries(&world, &booking).await, expected);
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let said = "We have refunded Rp 38.850, which you paid beyond what this booking costs.";
    assert_eq!(letters.iter().filter(|letter| letter.contains(said)).count(), 1);
    assert_invariants(&world).await;
}

async fn the_fee_is_given_back_when_the_sailing_is_cancelled(world: World) {
    let world = world.restarts_with(with_fee).await;
    let (admin, sailing) = start(&world).await;
    let (booking, dear) = moved_up(&world, &sailing).await;
    world.cancels_sailing(&dear, &sailing.partner).await.ok();
    assert_eq!(
        entries(&world, &booking).await,
        json!({
            "booking/paid": paid(),
            "reschedule/rescheduled": rescheduled_up(),
            "reschedule/refund_due": owed("customer_deposits", 222_000),
            "reschedule/fee_returned": {
                "commission_revenue": 15_000, "tax_payable PPNJ": 1_650, "refund_payable": -16_650,
            },
        })
    );
    assert_eq!(
        refunds(&world, &booking).await,
        json!([["cancellation", "due", 222_000, 222_000], ["difference", "due", 16_650, 16_650]])
    );
    let seen = world.looks_up(&booking).await;
    assert_eq!((&seen["refund_amount"], &seen["owed"]), (&json!(222_000), &json!(238_650)));
    // All that was paid, in two refunds.
    assert_eq!(world.balance("gateway_clearing").await, 238_650);
    records_refund(&world, &booking, &admin).await.is(409, "several_due");
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert!(letters.iter().any(|letter| letter.contains("We will refund Rp 238.650")));
    assert_invariants(&world).await;
}

async fn another_sailing_instead_of_the_refund(world: World) {
    let world = world.restarts_with(with_fee).await;
    let (_, sailing) = start(&world).await;
    let (booking, dear) = moved_up(&world, &sailing).await;
    let other = world.another_sailing(&sailing, "GT. 3", 200_000).await;
    world.cancels_sailing(&dear, &sailing.partner).await.ok();
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!((&moved["status"], &moved["reschedule"]["fee"]), (&json!("paid"), &json!(0)));
    assert_eq!((&moved["refund_amount"], &moved["owed"]), (&json!(null), &json!(16_650)));
    assert_eq!(
        refunds(&world, &booking).await,
        json!([["cancellation", "void", 222_000, 0], ["difference", "due", 16_650, 16_650]])
    );
    let posted = entries(&world, &booking).await;
    assert_eq!(
        posted["reschedule/reinstated"],
        json!({ "refund_payable": 222_000, "customer_deposits": -222_000 })
    );
    assert_eq!(posted["reschedule/fee_returned"]["refund_payable"], -16_650, "the fee stays owed");
    assert_invariants(&world).await;
    // Cancelled once more: the fee is not given back twice.
    world.cancels_sailing(&other, &sailing.partner).await.ok();
    assert_eq!(world.looks_up(&booking).await["owed"], 238_650);
    assert_invariants(&world).await;
}

async fn a_refund_that_is_on_its_way_is_not_exchanged(world: World) {
    let (_, sailing) = start(&world).await;
    let (same, dear) = (
        world.another_sailing(&sailing, "GT. 2", 150_000).await,
        world.another_sailing(&sailing, "GT. 3", 200_000).await,
    );
    let booking = world.paid_booking(&sailing, 1).await;
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    assert_eq!(wish["reschedule"]["difference"], 55_500);
    let sent = world.db().sql("UPDATE refunds SET status = 'sent' WHERE booking_id = $1");
    sent.bind(id_of(&booking)).run().await.unwrap();
    world.requests_reschedule(&booking, &same).await.is(409, "refund_sent");
    // The difference that was paid meanwhile is not lost: it waits for a decision.
    pays_difference(&world, &wish, 55_500).await;
    let seen = world.looks_up(&booking).await;
    assert_eq!((&seen["status"], &seen["owed"]), (&json!("refund_pending"), &json!(166_500)));
    assert_eq!(world.balance("unapplied_payments").await, -55_500);
    assert_eq!(
        refunds(&world, &booking).await,
        json!([["cancellation", "sent", 166_500, 166_500]])
    );
    assert_invariants(&world).await;
}

async fn a_complaint_takes_back_a_part_of_the_earnings(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = completed_booking(&world, &sailing).await;
    let after = cancels(&world, &booking, &admin, json!({ "refund_amount": 83_250 })).await.ok();
    assert_eq!((&after["status"], &after["owed"]), (&json!("refund_pending"), &json!(83_250)));
    let mut expected = json!({
        "booking/paid": paid(),
        "booking/completed": completed(),
        "booking/completion_reversed": {
            "customer_deposits": -83_250, "partner_payable": 66_675,
            "commission_revenue": 7_500, "tax_payable PPN": 8_250, "tax_payable PPNJ": 825,
        },
        "booking/refund_due": owed("customer_deposits", 83_250),
    });
    assert_eq!(entries(&world, &booking).await, expected);
    assert_eq!(
        dues(&world, &booking).await,
        json!({
            "sale": [150_000, 15_000, 1_650, 0, 133_350],
            "reversal": [-75_000, -7_500, -825, 0, -66_675],
        })
    );
    assert_eq!(refunds(&world, &booking).await, json!([["complaint", "due", 83_250, 83_250]]));
    assert_invariants(&world).await;
    assert_eq!(records_refund(&world, &booking, &admin).await.ok()["status"], "refunded");
    expected["refund/paid"] = json!({ "refund_payable": 83_250, "bank": -83_250 });
    assert_eq!(entries(&world, &booking).await, expected);
    cancels(&world, &booking, &admin, json!({ "refund_amount": 1 }))
        .await
        .is(409, "already_refunded");
    assert_invariants(&world).await;
}

async fn a_complaint_takes_back_all_earnings(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = completed_booking(&world, &sailing).await;
    let after = cancels(&world, &booking, &admin, json!({ "borne_by": "partner" })).await.ok();
    assert_eq!(after["refund_amount"], 166_500);
    assert_eq!(
        entries(&world, &booking).await["booking/completion_reversed"],
        json!({
            "customer_deposits": -166_500, "partner_payable": 133_350,
            "commission_revenue": 15_000, "tax_payable PPN": 16_500, "tax_payable PPNJ": 1_650,
        })
    );
    for account in ["partner_payable", "commission_revenue", "tax_payable", "customer_deposits"] {
        assert_eq!(world.balance(account).await, 0, "{account}");
    }
    assert_invariants(&world).await;
}

async fn the_platform_bears_a_complaint(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = completed_booking(&world, &sailing).await;
    let body = json!({ "refund_amount": 50_000, "borne_by": "platform" });
    cancels(&world, &booking, &admin, body).await.ok();
    assert_eq!(
        entries(&world, &booking).await,
        json!({
            "booking/paid": paid(), "booking/completed": completed(),
            "booking/refund_due": owed("losses", 50_000),
        })
    );
    assert_eq!(
        dues(&world, &booking).await,
        json!({ "sale": [150_000, 15_000, 1_650, 0, 133_350] }),
        "the partner keeps its earnings"
    );
    assert_eq!(refunds(&world, &booking).await, json!([["complaint", "due", 50_000, 50_000]]));
    assert_invariants(&world).await;
}

/// A paid booking with a promotion of `value` percent.
async fn booked_with_promotion(
    world: &World,
    sailing: &Sailing,
    admin: &Someone,
    value: i64,
    funded_by: &'static str,
) -> Value {
    let code = format!("{}{value}", funded_by.to_uppercase());
    let mut promotion = crate::promotions::promotion(&code);
    promotion["discount"]["value"] = json!(value);
    world.post("/v1/contents/promotion", promotion).by(admin).send().await.ok();
    let fund = world.db().sql("UPDATE promotions SET funded_by = $1 WHERE code = $2");
    fund.bind(funded_by).bind(code.clone()).run().await.unwrap();
    let mut wanted = order(sailing, 1, "sari@example.com");
    wanted["code_promo"] = json!(code);
    let booking = world.books(wanted).await.ok();
    if booking["price"]["total"] != 0 {
        world.pays(&booking).await;
    }
    booking
}

async fn a_promotion_is_paid_by_the_platform_or_the_partner(world: World) {
    let (admin, sailing) = start(&world).await;
    let platform = booked_with_promotion(&world, &sailing, &admin, 20, "platform").await;
    let partner = booked_with_promotion(&world, &sailing, &admin, 20, "partner").await;
    assert_eq!(platform["price"], partner["price"]);
    assert_eq!(partner["price"]["total"], 133_200);
    world.completes_paid_bookings().await;
    assert_eq!(
        entries(&world, &platform).await["booking/completed"],
        json!({
            "customer_deposits": 133_200, "promotion_expense": 30_000,
            "partner_payable": -133_350, "commission_revenue": -15_000,
            "tax_payable PPN": -13_200, "tax_payable PPNJ": -1_650,
        })
    );
    assert_eq!(
        entries(&world, &partner).await["booking/completed"],
        json!({
            "customer_deposits": 133_200, "partner_payable": -103_350,
            "commission_revenue": -15_000, "tax_payable PPN": -13_200, "tax_payable PPNJ": -1_650,
        })
    );
    assert_eq!(
        dues(&world, &partner).await,
        json!({ "sale": [120_000, 15_000, 1_650, 0, 103_350] })
    );
    assert_invariants(&world).await;
    // All of it taken back, with what the platform had added.
    cancels(&world, &platform, &admin, json!({})).await.ok();
    assert_eq!(world.balance("promotion_expense").await, 0);
    assert_invariants(&world).await;
}

async fn a_journey_that_is_free_by_the_partners_promotion_costs_it_the_commission(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = booked_with_promotion(&world, &sailing, &admin, 100, "partner").await;
    assert_eq!((&booking["status"], &booking["price"]["total"]), (&json!("paid"), &json!(0)));
    world.completes_paid_bookings().await;
    assert_eq!(
        entries(&world, &booking).await,
        json!({ "booking/completed": {
            "partner_payable": 16_650, "commission_revenue": -15_000, "tax_payable PPNJ": -1_650,
        } })
    );
    assert_eq!(dues(&world, &booking).await, json!({ "sale": [0, 15_000, 1_650, 0, -16_650] }));
    assert_invariants(&world).await;
    // There is nothing to refund.
    cancels(&world, &booking, &admin, json!({})).await.is(409, "invalid_state");
    let other = booked_with_promotion(&world, &sailing, &admin, 100, "platform").await;
    let after = cancels(&world, &other, &admin, json!({})).await.ok();
    assert_eq!((&after["status"], &after["refund_amount"]), (&json!("cancelled"), &json!(null)));
    assert_eq!(entries(&world, &other).await, json!({}));
    assert_invariants(&world).await;
}

async fn cash_booking(world: &World, sailing: &Sailing, by: &Someone) -> Value {
    let booking = world.books(order(sailing, 1, "sari@example.com")).await.ok();
    world.post(&path(&booking, "/pay-cash"), json!({})).by(by).send().await.ok();
    booking
}

async fn cash_of_staff_goes_back_as_cash(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = cash_booking(&world, &sailing, &admin).await;
    cancels(&world, &booking, &admin, json!({ "refund_amount": 66_500 })).await.ok();
    records_refund(&world, &booking, &admin).await.ok();
    let posted = entries(&world, &booking).await;
    assert_eq!(posted["booking/paid"], json!({ "cash": 166_500, "customer_deposits": -166_500 }));
    assert_eq!(posted["refund/paid"], json!({ "refund_payable": 66_500, "cash": -66_500 }));
    assert_eq!((world.balance("cash").await, world.balance("bank").await), (100_000, 0));
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert!(letters.iter().any(|letter| letter.contains("It was paid back in cash.")));
    assert_invariants(&world).await;
}

async fn cash_of_the_partner_goes_back_by_the_partner(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = cash_booking(&world, &sailing, &sailing.partner).await;
    cancels(&world, &booking, &admin, json!({ "refund": "policy" })).await.ok();
    assert_eq!(
        dues(&world, &booking).await,
        json!({ "kept": [75_000, 7_500, 825, 166_500, -99_825] })
    );
    assert_invariants(&world).await;
    records_refund(&world, &booking, &admin).await.ok();
    assert_eq!(
        entries(&world, &booking).await,
        json!({
            "booking/paid": { "partner_payable": 166_500, "customer_deposits": -166_500 },
            "booking/kept": {
                "customer_deposits": 83_250, "partner_payable": -66_675,
                "commission_revenue": -7_500, "tax_payable PPN": -8_250, "tax_payable PPNJ": -825,
            },
            "booking/refund_due": owed("customer_deposits", 83_250),
            "refund/paid": { "refund_payable": 83_250, "partner_payable": -83_250 },
        })
    );
    assert_eq!(
        dues(&world, &booking).await["returned"],
        json!([0, 0, 0, -83_250, 83_250]),
        "it is credited with what it handed back"
    );
    // It owes commission and taxes of what it kept.
    assert_eq!(world.balance("partner_payable").await, 7_500 + 825 + 8_250);
    assert_eq!(world.balance("bank").await, 0);
    assert_invariants(&world).await;
}

async fn who_may_decide_the_refund(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let guest = async |mut body: Value| {
        body["reason"] = json!("x");
        body["code"] = booking["code"].clone();
        body["email"] = json!("sari@example.com");
        world.post(&path(&booking, "/cancel"), body).send().await
    };
    for (body, field) in [
        (json!({ "refund_amount": 0 }), "refund_amount"),
        (json!({ "refund_amount": 166_500 }), "refund_amount"),
        (json!({ "borne_by": "platform" }), "borne_by"),
    ] {
        guest(body.clone()).await.has_field_errors(&[(field, "not_allowed")]);
        let refused = cancels(&world, &booking, &sailing.partner, body).await;
        refused.has_field_errors(&[(field, "not_allowed")]);
    }
    guest(json!({ "refund": "full" })).await.has_field_errors(&[("refund", "not_allowed")]);
    let staff = async |body: Value| cancels(&world, &booking, &admin, body).await;
    staff(json!({ "refund_amount": 166_501 })).await.has_field_errors(&[("refund_amount", "max")]);
    staff(json!({ "refund_amount": i64::MAX })).await.has_field_errors(&[("refund_amount", "max")]);
    staff(json!({ "refund_amount": -1 })).await.has_field_errors(&[("refund_amount", "min")]);
    staff(json!({ "refund_amount": 0.5 })).await.has_field_errors(&[("refund_amount", "type")]);
    staff(json!({ "refund": "most" })).await.has_field_errors(&[("refund", "enum")]);
    let both = staff(json!({ "refund": "full", "refund_amount": 1 })).await;
    both.has_field_errors(&[("refund_amount", "ambiguous")]);
    let early = staff(json!({ "borne_by": "platform" })).await;
    early.has_field_errors(&[("borne_by", "not_allowed")]);
    let other = world.active_partner("other@bahari.id").await;
    let foreign = cancels(&world, &booking, &other, json!({ "refund": "policy" })).await;
    foreign.is(404, "not_found");
    let reader = world.staff("putu@dermaga.test", &[BookingsRead]).await;
    let reads = cancels(&world, &booking, &reader, json!({ "refund_amount": 1 })).await;
    reads.is(403, "forbidden");
    assert_eq!(world.looks_up(&booking).await["status"], "paid", "nothing has changed");
    // Nothing was paid yet.
    let unpaid = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let refused = cancels(&world, &unpaid, &admin, json!({ "refund_amount": 1 })).await;
    refused.has_field_errors(&[("refund_amount", "max")]);
    cancels(&world, &unpaid, &admin, json!({ "refund_amount": 0 })).await.ok();
    // After the journey.
    world.completes_paid_bookings().await;
    staff(json!({ "refund_amount": 0 })).await.has_field_errors(&[("refund_amount", "min")]);
    staff(json!({ "refund_amount": 166_501 })).await.has_field_errors(&[("refund_amount", "max")]);
    staff(json!({ "refund": "policy" })).await.has_field_errors(&[("refund", "not_allowed")]);
    cancels(&world, &booking, &sailing.partner, json!({})).await.is(409, "departed");
    guest(json!({})).await.is(409, "departed");
    staff(json!({ "refund_amount": 1 })).await.ok();
    assert_invariants(&world).await;
}

async fn two_cancellations_refund_once(world: World) {
    let (admin, sailing) = start(&world).await;
    for is_completed in [false, true] {
        let booking = world.paid_booking(&sailing, 1).await;
        if is_completed {
            world.completes_paid_bookings().await;
        }
        let by =
            |amount: i64| cancels(&world, &booking, &admin, json!({ "refund_amount": amount }));
        let (one, two) = tokio::join!(by(10_000), by(20_000));
        let (won, lost) = if one.status == 200 { (one, two) } else { (two, one) };
        let won = won.ok();
        let word = if is_completed { "already_refunded" } else { "already_cancelled" };
        lost.is(409, word);
        let stored = world.looks_up(&booking).await;
        assert_eq!(won["refund_amount"], stored["refund_amount"]);
        assert_eq!(stored["owed"], stored["refund_amount"]);
        assert_eq!(refunds(&world, &booking).await.as_array().unwrap().len(), 1);
    }
    assert_invariants(&world).await;
}

fn account() -> Value {
    json!({ "bank_code": "BCA", "account_number": ACCOUNT, "account_name": "Sari Dewi" })
}

fn as_guest(booking: &Value, mut body: Value) -> Value {
    body["code"] = booking["code"].clone();
    body["email"] = json!("sari@example.com");
    body
}

async fn the_booker_states_an_account_for_refunds(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    guest_cancels(&world, &booking).await;
    let put = |body: Value| world.put(&path(&booking, "/refund-account"), body);
    let masked =
        json!({ "bank_code": "BCA", "account_number": "******5678", "account_name": "Sari Dewi" });
    let answer = put(as_guest(&booking, account())).send().await.ok();
    assert_eq!(answer["refund_account"], masked);
    assert_eq!(world.looks_up(&booking).await, answer);
    // Staff sees and corrects it; the partner does neither.
    let reader = world.staff("putu@dermaga.test", &[BookingsRead]).await;
    let writer = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    let seen = async |who: &Someone| {
        world.get(&path(&booking, "")).by(who).send().await.ok()["refund_account"].clone()
    };
    assert_eq!(seen(&reader).await, masked);
    assert_eq!(seen(&sailing.partner).await, json!(null));
    let mut other = account();
    other["account_number"] = json!("12345");
    let answer = put(other.clone()).by(&writer).send().await.ok();
    assert_eq!(answer["refund_account"], json!(null), "without bookings.read");
    assert_eq!(seen(&admin).await["account_number"], "***45");
    put(account()).by(&reader).send().await.is(403, "forbidden");
    put(account()).by(&sailing.partner).send().await.is(403, "forbidden");
    let stranger = world.active_partner("other@bahari.id").await;
    put(account()).by(&stranger).send().await.is(404, "not_found");
    let crew = world.crew(&sailing.partner, "crew@bahari.id").await;
    put(account()).by(&crew).send().await.is(403, "forbidden");
    put(account()).send().await.is(404, "not_found");
    let mut wrong = as_guest(&booking, account());
    wrong["email"] = json!("putu@example.com");
    put(wrong).send().await.is(404, "not_found");
    put(as_guest(&booking, json!({}))).send().await.has_field_errors(&[
        ("account_name", "required"),
        ("account_number", "required"),
        ("bank_code", "required"),
    ]);
    for (field, value, rule) in [
        ("account_number", json!("1234"), "format"),
        ("account_number", json!("77-12345678"), "format"),
        ("account_number", json!(7_712_345_678_i64), "type"),
        ("account_number", json!("1".repeat(21)), "format"),
        ("bank_code", json!("B".repeat(21)), "max_length"),
        ("bank_code", json!("  "), "required"),
        ("account_name", json!("Sari\u{7}"), "characters"),
        ("account_name", json!("S".repeat(121)), "max_length"),
    ] {
        let mut body = as_guest(&booking, account());
        body[field] = value.clone();
        let faults = put(body).send().await.field_errors();
        assert_eq!(faults, [(field.to_owned(), rule.to_owned())], "{field} {value}");
    }
    assert_eq!(seen(&admin).await["account_number"], "***45", "refusals change nothing");
    // Whoever has to transfer the money sees the whole number.
    let refund = world.get("/v1/refunds").by(&admin).send().await.ok()[0].clone();
    assert_eq!(refund["account"]["account_number"], "***45");
    let one = format!("/v1/refunds/{}", refund["id"].as_str().unwrap());
    let account_for = async |who: &Someone| {
        world.get(&one).by(who).send().await.ok()["account"]["account_number"].clone()
    };
    assert_eq!(account_for(&admin).await, "12345");
    assert_eq!(account_for(&reader).await, "***45");
    assert_eq!(account_for(&sailing.partner).await, json!(null));
    let paid = json!({ "by": "bank", "reference": "BCA-1" });
    world.post(&format!("{one}/pay"), paid).by(&admin).send().await.ok();
    assert_eq!(account_for(&admin).await, "***45", "nothing is left to transfer");
}

async fn an_account_is_stated_only_while_a_refund_is_due(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let states = async |booking: &Value| {
        let body = as_guest(booking, account());
        world.put(&path(booking, "/refund-account"), body).send().await
    };
    states(&booking).await.is(409, "invalid_state");
    cancels(&world, &booking, &admin, json!({})).await.ok();
    states(&booking).await.ok();
    records_refund(&world, &booking, &admin).await.ok();
    states(&booking).await.is(409, "invalid_state");
    let in_cash = cash_booking(&world, &sailing, &admin).await;
    cancels(&world, &in_cash, &admin, json!({})).await.ok();
    states(&in_cash).await.is(409, "paid_in_cash");
    let kept = world.paid_booking(&sailing, 1).await;
    cancels(&world, &kept, &admin, json!({ "refund_amount": 0 })).await.ok();
    states(&kept).await.is(409, "invalid_state");
}

async fn an_account_for_refunds_is_kept_secret(world: World) {
    let (admin, sailing) = start(&world).await;
    let booking = world.paid_booking(&sailing, 1).await;
    guest_cancels(&world, &booking).await;
    let change = world.put(&path(&booking, "/refund-account"), account()).by(&admin);
    change.send().await.ok();
    let stored = world.all_stored_data().await;
    assert!(!stored.contains(ACCOUNT) && !stored.contains("Sari Dewi"), "encrypted at rest");
    let log = "/v1/audit-logs?action=booking.refund_account_set";
    let log = world.get(log).by(&admin).send().await.ok();
    assert_eq!(log[0]["after"]["refund_account"]["account_number"], "[personal]");
    assert!(!log.to_string().contains("5678") && !log.to_string().contains("Dewi"), "{log}");
    // It is encrypted anew with a new key.
    let key = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=";
    let world = world.restarts_with(|config| {
        let old = config.secret_key.replace(Secret::new(key));
        config.old_secret_keys.0.extend(old);
    });
    let world = world.await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let sealed = async || {
        let sealed = world.db().sql("SELECT refund_account FROM bookings WHERE id = $1");
        sealed.bind(id_of(&booking)).scalar::<Option<String>>().await.unwrap()
    };
    let before = sealed().await;
    assert!(world.app.reseal().await.unwrap() > 0);
    assert_eq!(world.app.reseal().await.unwrap(), 0);
    assert_ne!(sealed().await, before);
    let seen = world.looks_up(&booking).await;
    assert_eq!(seen["refund_account"]["account_number"], "******5678");
    // Exported masked, and erased with the booking.
    let person = json!({ "email": "sari@example.com" });
    let export = world.post("/v1/privacy/export", person).by(&admin).send().await.ok();
    assert_eq!(export["bookings"][0]["refund_account"], seen["refund_account"]);
    records_refund(&world, &booking, &admin).await.ok();
    let person = json!({ "email": "sari@example.com", "reason": "Asked by letter" });
    world.post("/v1/privacy/erase", person).by(&admin).send().await.ok();
    assert_eq!(sealed().await, None);
    assert_invariants(&world).await;
}

async fn letters_say_how_money_goes_back(world: World) {
    let (admin, sailing) = start(&world).await;
    let cancelled_after = async |email: &str, payment: Option<&str>| {
        let booking = world.books(order(&sailing, 1, email)).await.ok();
        match payment {
            Some(method) => {
                let reference = booking["payment"]["reference"].as_str().unwrap();
                let mut notice = callback_body(reference, 166_500, "settlement", reference);
                notice["payment_type"] = json!(method);
                world.post("/v1/payment/callback", notice).send().await.ok();
            }
            None => {
                let call = world.post(&path(&booking, "/pay-cash"), json!({})).by(&admin);
                call.send().await.ok();
            }
        }
        cancels(&world, &booking, &admin, json!({ "refund_amount": 66_500 })).await.ok();
        booking
    };
    cancelled_after("qris@example.com", Some("qris")).await;
    let asked = cancelled_after("va@example.com", Some("bank_transfer")).await;
    cancelled_after("shop@example.com", Some("cstore")).await;
    cancelled_after("cash@example.com", None).await;
    world.delivers_outbox().await;
    let says = |email: &str, words: &str| {
        let letters = world.letters_to(email);
        let letter = letters.iter().find(|letter| letter.contains("Your booking is cancelled"));
        letter.expect(email).contains(words)
    };
    for email in ["qris@example.com", "va@example.com", "cash@example.com"] {
        assert!(says(email, "We will refund Rp 66.500."), "{email}");
    }
    let asks = "Please state a bank account for it";
    assert!(says("qris@example.com", "It is refunded to your original payment method."));
    assert!(says("va@example.com", asks) && says("shop@example.com", asks));
    assert!(says("cash@example.com", "it is paid back in cash"));
    assert!(!says("cash@example.com", asks) && !says("qris@example.com", asks));
    // Once the account is known, nobody is asked for it.
    let mut body = account();
    (body["code"], body["email"]) = (asked["code"].clone(), json!("va@example.com"));
    world.put(&path(&asked, "/refund-account"), body).send().await.ok();
    // After the journey it is no cancellation.
    let complaint = completed_booking(&world, &sailing).await;
    world.advances_clock(TimeDelta::hours(24));
    let admin = world.signs_in(&admin.email, "admin").await;
    cancels(&world, &complaint, &admin, json!({ "refund_amount": 10_000 })).await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert!(letters.iter().any(|letter| letter.contains("A refund for your journey")));
    assert!(!letters.iter().any(|letter| letter.contains("Your booking is cancelled")));
}

async fn bookings_with_a_refund_due_are_found(world: World) {
    let (admin, sailing) = start(&world).await;
    let cheap = world.another_sailing(&sailing, "GT. 2", 100_000).await;
    let (cancelled, moved, fine) = (
        world.paid_booking(&sailing, 1).await,
        world.paid_booking(&sailing, 1).await,
        world.paid_booking(&sailing, 1).await,
    );
    cancels(&world, &cancelled, &admin, json!({})).await.ok();
    world.requests_reschedule(&moved, &cheap).await.ok();
    let codes = async |query: &str, who: &Someone| {
        let list = world.get(&format!("/v1/booking?{query}")).by(who).send().await.ok();
        let mut codes: Vec<_> =
            list.as_array().unwrap().iter().map(|one| one["code"].to_string()).collect();
        codes.sort();
        codes
    };
    let sorted = |bookings: &[&Value]| {
        let mut codes: Vec<_> = bookings.iter().map(|one| one["code"].to_string()).collect();
        codes.sort();
        codes
    };
    assert_eq!(codes("refund_due=true", &admin).await, sorted(&[&cancelled, &moved]));
    assert_eq!(codes("refund_due=false", &admin).await, sorted(&[&fine]));
    assert_eq!(codes("refund_due=true&status=paid", &admin).await, sorted(&[&moved]));
    assert_eq!(codes("refund_due=true", &sailing.partner).await.len(), 2);
    let other = world.active_partner("other@bahari.id").await;
    assert_eq!(codes("refund_due=true", &other).await.len(), 0);
    records_refund(&world, &cancelled, &admin).await.ok();
    assert_eq!(codes("refund_due=true", &admin).await, sorted(&[&moved]));
    let rubbish = world.get("/v1/booking?refund_due=maybe").by(&admin).send().await;
    rubbish.has_field_errors(&[("refund_due", "type")]);
}
