//! Cancelling some passengers of a booking: their money, their seats, and what happens to the rest.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use dermaga::{
    config::Steps,
    kernel::{access::Rule::*, ids::Uuid},
    reports,
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    fares::{bali, order_of},
    harbour::{Sailing, callback_body, charter, order, search_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    the_share_of_a_passenger_to_the_rupiah,
    partner_and_staff_decide_the_refund,
    what_cannot_be_cancelled_is_named,
    others_cannot_cancel_passengers,
    whoever_is_left_is_accompanied,
    different_passengers_at_once,
    the_same_passenger_at_once,
    some_and_all_at_once,
    the_old_ticket_is_refused_and_the_others_board,
    the_rest_is_cancelled,
    the_rest_is_rescheduled,
    a_rescheduled_booking_loses_a_passenger,
    a_pending_reschedule_is_dropped,
    the_sailing_of_the_rest_is_called_off,
    the_rest_sails_and_is_settled,
    cash_that_the_partner_took,
    a_cancelled_passenger_is_erased,
    a_repeated_request_cancels_once,
    the_booker_and_the_partner_are_told,
    a_chargeback_limits_what_is_refunded,
    a_second_payment_of_the_whole_is_a_duplicate,
    wrong_shares_are_found,
];

fn path(booking: &Value, last: &str) -> String {
    format!("/v1/booking/{}{last}", booking["id"].as_str().unwrap())
}

fn id_of(booking: &Value) -> Uuid {
    booking["id"].as_str().unwrap().parse().unwrap()
}

/// The ids of the passengers at these places.
fn ids(booking: &Value, places: &[usize]) -> Value {
    places.iter().map(|place| booking["passengers"][place]["id"].clone()).collect()
}

fn names(booking: &Value) -> Vec<&str> {
    let passengers = booking["passengers"].as_array().unwrap().iter();
    passengers.map(|passenger| passenger["name"].as_str().unwrap()).collect()
}

impl World {
    /// Cancels the passengers with these ids, as the booker or as somebody else.
    async fn cancels_some(
        &self,
        booking: &Value,
        ids: Value,
        by: Option<&Someone>,
        more: Value,
    ) -> Answer {
        let mut body = json!({ "reason": "x", "passenger_ids": ids });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        match by {
            Some(who) => self.post(&path(booking, "/cancel"), body).by(who).send_with_retry().await,
            None => {
                body["code"] = booking["code"].clone();
                body["email"] = booking["contact"]["email"].clone();
                self.post(&path(booking, "/cancel"), body).send_with_retry().await
            }
        }
    }

    async fn guest_cancels_all(&self, booking: &Value) -> Answer {
        let body = json!({
            "reason": "x", "code": booking["code"], "email": booking["contact"]["email"],
        });
        self.post(&path(booking, "/cancel"), body).send_with_retry().await
    }

    /// The refunds of a booking: kind, amount, tax in it, and whether it is of some passengers.
    async fn refunds_of(&self, booking: &Value) -> Vec<(String, i64, i64, bool)> {
        self.db()
            .sql(
                "SELECT kind, amount, tax, cancellation_id IS NOT NULL FROM refunds
                 WHERE booking_id = $1 AND status <> 'void' ORDER BY due_at, amount",
            )
            .bind(id_of(booking))
            .all()
            .await
            .unwrap()
    }

    /// The lines of a booking by posting and account.
    async fn lines_of(&self, booking: &Value, source: &str) -> BTreeMap<String, i64> {
        let lines: Vec<(String, String, Option<String>, i64)> = self
            .db()
            .sql(
                "SELECT kind, account, tax_code, CAST(SUM(amount) AS BIGINT) FROM ledger_lines
                 WHERE booking_id = $1 AND source = $2 GROUP BY kind, account, tax_code",
            )
            .bind(id_of(booking))
            .bind(source.to_owned())
            .all()
            .await
            .unwrap();
        let name = |kind, account, code: Option<String>| match code {
            Some(code) => format!("{kind} {account} {code}"),
            None => format!("{kind} {account}"),
        };
        let named =
            lines.into_iter().map(|(kind, account, code, sum)| (name(kind, account, code), sum));
        named.collect()
    }

    /// The audit finds nothing, also after the reports were built anew, which then say the same.
    async fn is_clean(&self) {
        assert_invariants(self).await;
        let figures = async || {
            let sums: Vec<(String, i64, i64, i64, i64, i64)> = self
                .db()
                .sql(
                    "SELECT CAST(day AS TEXT) || type || method, CAST(passengers AS BIGINT),
                       CAST(gross AS BIGINT), CAST(tax AS BIGINT), CAST(commission AS BIGINT),
                       CAST(partner_net AS BIGINT)
                     FROM sales_days ORDER BY 1",
                )
                .all()
                .await
                .unwrap();
            let standings: Vec<(String, i64, i64, i64)> = self
                .db()
                .sql(
                    "SELECT status, CAST(bookings AS BIGINT), CAST(passengers AS BIGINT),
                       CAST(subtotal AS BIGINT)
                     FROM partner_standings WHERE bookings <> 0 ORDER BY status, subtotal",
                )
                .all()
                .await
                .unwrap();
            let routes: Vec<(i64, i64)> = self
                .db()
                .sql(
                    "SELECT CAST(passengers AS BIGINT), CAST(gross AS BIGINT) FROM route_months
                     WHERE bookings <> 0 OR passengers <> 0 OR gross <> 0 ORDER BY 1, 2",
                )
                .all()
                .await
                .unwrap();
            let is_zero = |sum: &(String, i64, i64, i64, i64, i64)| {
                [sum.1, sum.2, sum.3, sum.4, sum.5] == [0; 5]
            };
            let sums: Vec<_> = sums.into_iter().filter(|sum| !is_zero(sum)).collect();
            (sums, standings, routes)
        };
        reports::roll_up(&self.app).await.unwrap();
        assert_invariants(self).await;
        let rolled_up = figures().await;
        reports::rebuild(&self.app).await.unwrap();
        assert_eq!(figures().await, rolled_up);
        assert_invariants(self).await;
    }
}

/// Taxes of 10 % on the price and of 11 % on the commission, and a promotion of 10,001.
async fn with_taxes_and_promotion(world: &World, admin: &Someone) {
    for (code, applies_to, rate) in [("PB1", "booking", 10), ("PPN", "commission", 11)] {
        let tax = json!({
            "name": code, "code": code, "rate": rate, "applies_to": applies_to, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(admin).send().await.ok();
    }
    let mut promotion = crate::promotions::promotion("HEMAT");
    promotion["discount"] = json!({ "type": "fixed", "value": 10_001 });
    world.post("/v1/contents/promotion", promotion).by(admin).send().await.ok();
}

const FAMILY: [&str; 5] = ["adult_domestic", "adult_foreign", "child", "infant", "adult_domestic"];

/// Five people for 475,749: 90,000, 150,000, 112,500, nothing and 90,000, less 10,001, with 10 % tax.
async fn family(world: &World) -> (Someone, Sailing, Value) {
    let admin = world.admin().await;
    with_taxes_and_promotion(world, &admin).await;
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let mut wanted = order_of(&sailing, &FAMILY, "sari@example.com");
    wanted["code_promo"] = json!("HEMAT");
    let booking = world.books(wanted).await.ok();
    assert_eq!(booking["price"]["total"], 475_749);
    world.pays(&booking).await;
    let booking = world.looks_up(&booking).await;
    (admin, sailing, booking)
}

async fn the_share_of_a_passenger_to_the_rupiah(world: World) {
    let (_, sailing, booking) = family(&world).await;
    assert_eq!(world.seats_taken(&sailing).await, 4);
    let before = world.searches(search_body(1)).await[0]["available_seats"].as_i64().unwrap();
    // 21 hours ahead the policy grants half.
    let after = world.cancels_some(&booking, ids(&booking, &[2]), None, json!({})).await.ok();
    assert_eq!((&after["status"], &after["qty"]), (&json!("paid"), &json!(4)));
    let price = &after["price"];
    let line = |fare: &str, unit: i64, count: i64| json!({ "fare": fare, "unit_price": unit, "count": count });
    assert_eq!(
        price["lines"],
        json!([
            line("adult_domestic", 90_000, 2),
            line("adult_foreign", 150_000, 1),
            line("infant", 0, 1)
        ])
    );
    // 10,001 × 330,000 ÷ 442,500 = 7,458.4.
    assert_eq!((&price["subtotal"], &price["discount"]), (&json!(330_000), &json!(7_458)));
    assert_eq!((&price["tax"], &price["total"]), (&json!(32_254), &json!(354_796)));
    assert_eq!((&after["owed"], &after["refund_amount"]), (&json!(60_476), &json!(null)));
    let gone = &after["cancelled_passengers"];
    assert_eq!(gone[0]["id"], booking["passengers"][2]["id"]);
    assert_eq!(gone[0]["name"], "Penumpang 3");
    assert_eq!(gone[0]["cancelled_at"], json!(world.now()));
    assert_eq!(names(&after), ["Penumpang 1", "Penumpang 2", "Penumpang 4", "Penumpang 5"]);
    assert_eq!(world.looks_up(&booking).await, after);
    assert_eq!(world.seats_taken(&sailing).await, 3);
    let offer = &world.searches(search_body(1)).await[0];
    assert_eq!(offer["available_seats"], before + 1, "on sale at once");
    // The share is 120,953: 112,500 less 2,543, and 10,996 of tax.
    let refund = ("cancellation".to_owned(), 60_476, 5_498, true);
    assert_eq!(world.refunds_of(&booking).await, [refund]);
    let posted = world.lines_of(&booking, "cancellation").await;
    let expected = [
        ("kept commission_revenue", -5_498),
        ("kept customer_deposits", 60_477),
        ("kept partner_payable", -48_876),
        ("kept tax_payable PB1", -5_498),
        ("kept tax_payable PPN", -605),
        ("refund_due customer_deposits", 60_476),
        ("refund_due refund_payable", -60_476),
    ];
    assert_eq!(posted, expected.map(|(name, sum)| (name.to_owned(), sum)).into());
    assert_eq!(world.balance("customer_deposits").await, -354_796);
    world.is_clean().await;
    // The others have the places of their tickets, and their places in the list.
    let tickets = |booking: &Value| -> Vec<String> {
        let passengers = booking["passengers"].as_array().unwrap().iter();
        passengers.map(|one| one["ticket_code"].as_str().unwrap().to_owned()).collect()
    };
    let (old, new) = (tickets(&booking), tickets(&after));
    assert_eq!(new, [old[0].clone(), old[1].clone(), old[3].clone(), old[4].clone()]);
    // One after the other.
    let last = world.cancels_some(&booking, ids(&booking, &[3, 0]), None, json!({})).await.ok();
    assert_eq!(names(&last), ["Penumpang 2", "Penumpang 5"]);
    assert_eq!(last["cancelled_passengers"].as_array().unwrap().len(), 3);
    // 240,000 less 5,424, with 23,458 of tax.
    assert_eq!(last["price"]["total"], 258_034);
    assert_eq!(last["owed"], 60_476 + (354_796 - 258_034) / 2);
    assert_eq!(world.seats_taken(&sailing).await, 2);
    world.is_clean().await;
}

async fn partner_and_staff_decide_the_refund(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let cancelled = async |by: &Someone, more: Value| {
        let booking = world.paid_booking(&sailing, 2).await;
        let some = world.cancels_some(&booking, ids(&booking, &[0]), Some(by), more).await;
        (booking, some)
    };
    for (by, more, owed) in [
        (&sailing.partner, json!({}), 150_000),
        (&sailing.partner, json!({ "refund": "policy" }), 75_000),
        (&admin, json!({ "refund": "full" }), 150_000),
        (&admin, json!({ "refund": "policy" }), 75_000),
        (&admin, json!({ "refund_amount": 150_000 }), 150_000),
        (&admin, json!({ "refund_amount": 1 }), 1),
        (&admin, json!({ "refund_amount": 0 }), 0),
    ] {
        let (_, some) = cancelled(by, more.clone()).await;
        let some = some.ok();
        assert_eq!((&some["owed"], &some["qty"]), (&json!(owed), &json!(1)), "{more}");
        assert_eq!(some["price"]["total"], 150_000);
    }
    for (by, more, field, rule) in [
        (&admin, json!({ "refund_amount": 150_001 }), "refund_amount", "max"),
        (&admin, json!({ "refund_amount": 1, "refund": "full" }), "refund_amount", "ambiguous"),
        (&admin, json!({ "borne_by": "platform" }), "borne_by", "not_allowed"),
        (&sailing.partner, json!({ "refund_amount": 1 }), "refund_amount", "not_allowed"),
    ] {
        let (booking, some) = cancelled(by, more).await;
        some.has_field_errors(&[(field, rule)]);
        assert_eq!(world.looks_up(&booking).await["qty"], 2);
    }
    let booking = world.paid_booking(&sailing, 2).await;
    let full = world.cancels_some(&booking, ids(&booking, &[0]), None, json!({ "refund": "full" }));
    full.await.has_field_errors(&[("refund", "not_allowed")]);
    // The entry in the log has no names.
    let log = world.get("/v1/audit-logs?page_size=100").by(&admin).send().await.ok();
    let entries = log.as_array().unwrap().iter();
    let entries: Vec<_> =
        entries.filter(|entry| entry["action"] == "booking.passengers_cancelled").collect();
    assert_eq!(entries.len(), 5, "those of staff");
    assert!(!json!(entries).to_string().contains("Penumpang"));
    world.is_clean().await;
}

async fn what_cannot_be_cancelled_is_named(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let unpaid = world.books(order(&sailing, 2, "putu@example.com")).await.ok();
    for by in [None, Some(&admin)] {
        let some = world.cancels_some(&unpaid, ids(&unpaid, &[0]), by, json!({})).await;
        some.is(409, "not_paid");
    }
    let booking = world.paid_booking(&sailing, 3).await;
    let wrong = async |ids: Value, rule: &str| {
        let some = world.cancels_some(&booking, ids, None, json!({})).await;
        some.has_field_errors(&[("passenger_ids", rule)]);
    };
    wrong(ids(&booking, &[0, 1, 2]), "all").await;
    wrong(ids(&booking, &[0, 0]), "unique").await;
    wrong(ids(&unpaid, &[0]), "unknown").await;
    wrong(json!([booking["passengers"][0]["id"], booking["id"]]), "unknown").await;
    let empty = world.cancels_some(&booking, json!([]), None, json!({})).await;
    assert!(empty.field_errors().iter().all(|(field, _)| field == "passenger_ids"));
    for bad in [json!("x"), json!([7]), json!(["x"]), json!(vec![booking["id"].clone(); 501])] {
        let refused = world.cancels_some(&booking, bad, None, json!({})).await;
        let faults = refused.field_errors();
        assert!(
            !faults.is_empty()
                && faults.iter().all(|(field, _)| field.starts_with("passenger_ids"))
        );
    }
    let some = world.cancels_some(&booking, ids(&booking, &[1]), None, json!({})).await.ok();
    assert_eq!(some["qty"], 2);
    wrong(ids(&booking, &[1]), "already_cancelled").await;
    wrong(ids(&booking, &[0, 1]), "already_cancelled").await;
    wrong(ids(&booking, &[0, 2]), "all").await;
    // Somebody who is checked in; whoever cancels.
    let codes = world.looks_up(&booking).await["passengers"].clone();
    let code = codes[1]["ticket_code"].as_str().unwrap();
    world.scans_ticket(&sailing, code).await.ok();
    for by in [None, Some(&admin), Some(&sailing.partner)] {
        let some = world.cancels_some(&booking, ids(&booking, &[2]), by, json!({})).await;
        some.is(409, "already_boarded");
    }
    // The other one is not.
    let other = world.paid_booking(&sailing, 2).await;
    world.closes_manifest(&sailing).await.ok();
    world.cancels_some(&other, ids(&other, &[0]), None, json!({})).await.is(409, "manifest_closed");
    world.cancels_some(&other, ids(&other, &[0]), Some(&admin), json!({})).await.ok();
    world.guest_cancels_all(&other).await.is(409, "manifest_closed");
    world.advances_clock(TimeDelta::hours(22));
    world.cancels_some(&booking, ids(&booking, &[0]), None, json!({})).await.is(409, "departed");
    world.completes_paid_bookings().await;
    let admin = world.signs_in(&admin.email, "admin").await;
    for by in [None, Some(&admin)] {
        let some = world.cancels_some(&booking, ids(&booking, &[0]), by, json!({})).await;
        some.is(409, "departed");
    }
    let body = json!({ "reason": "x" });
    world.post(&path(&booking, "/cancel"), body).by(&admin).send().await.ok();
    let over = world.cancels_some(&booking, ids(&booking, &[0]), None, json!({})).await;
    over.is(409, "already_refunded");
    world.is_clean().await;
}

async fn others_cannot_cancel_passengers(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let foreign = world.active_partner("other@bahari.id").await;
    let reader = world.staff("reader@dermaga.test", &[BookingsRead]).await;
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let some = async |by: &Someone| {
        world.cancels_some(&booking, ids(&booking, &[0]), Some(by), json!({})).await
    };
    some(&foreign).await.is(404, "not_found");
    some(&reader).await.is(403, "forbidden");
    some(&crew).await.is(403, "forbidden");
    let other = world.books(order(&sailing, 2, "budi@example.com")).await.ok();
    for (code, email) in [
        (&other["code"], &other["contact"]["email"]),
        (&booking["code"], &other["contact"]["email"]),
        (&json!(null), &json!(null)),
    ] {
        let body = json!({
            "reason": "x", "passenger_ids": ids(&booking, &[0]), "code": code, "email": email,
        });
        world.post(&path(&booking, "/cancel"), body).send().await.is(404, "not_found");
    }
    assert_eq!(world.looks_up(&booking).await["qty"], 2);
    let charter = charter(&world.sailing_of_another_day(&sailing).await, 3, "ketut@example.com");
    let charter = world.books(charter).await.ok();
    world.pays(&charter).await;
    let refused = world.cancels_some(&charter, ids(&charter, &[0]), None, json!({})).await;
    refused.has_field_errors(&[("passenger_ids", "charter")]);
    world.is_clean().await;
}

async fn whoever_is_left_is_accompanied(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let party = ["adult_foreign", "child", "infant", "adult_domestic", "infant"];
    let booking = world.books(order_of(&sailing, &party, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let some = async |places: &[usize]| {
        world.cancels_some(&booking, ids(&booking, places), None, json!({})).await
    };
    // Two infants and one adult; nobody with a seat; a child is no adult.
    for places in [&[0_usize][..], &[3], &[0, 1, 3], &[0, 3, 4]] {
        some(places).await.has_field_errors(&[("passenger_ids", "adult_required")]);
    }
    assert_eq!(world.seats_taken(&sailing).await, 3);
    let after = some(&[0, 2]).await.ok();
    assert_eq!(after["qty"], 3);
    assert_eq!(world.seats_taken(&sailing).await, 2);
    // An infant costs nothing, and has no seat.
    let owed = after["owed"].clone();
    let after = some(&[4]).await.ok();
    assert_eq!((&after["owed"], &after["qty"]), (&owed, &json!(2)));
    assert_eq!(world.seats_taken(&sailing).await, 2);
    some(&[3]).await.ok();
    assert_eq!(world.seats_taken(&sailing).await, 1);
    world.is_clean().await;
}

async fn different_passengers_at_once(world: World) {
    let (_, sailing, booking) = family(&world).await;
    let others = match world.db().engine() {
        "postgres" => vec![world.second_process().await],
        _ => Vec::new(),
    };
    let calls = [0_usize, 2, 4].map(|place| {
        let at = others.get(place % 4).unwrap_or(&world);
        at.cancels_some(&booking, ids(&booking, &[place]), None, json!({}))
    });
    for answer in join_all(calls).await {
        answer.ok();
    }
    let after = world.looks_up(&booking).await;
    assert_eq!(names(&after), ["Penumpang 2", "Penumpang 4"]);
    assert_eq!(after["price"]["subtotal"], 150_000);
    assert_eq!(world.seats_taken(&sailing).await, 1);
    let refunds = world.refunds_of(&booking).await;
    assert_eq!(refunds.len(), 3);
    let owed: i64 = refunds.iter().map(|refund| refund.1).sum();
    assert_eq!(after["owed"], owed);
    let total = after["price"]["total"].as_i64().unwrap();
    // Half of each share, rounded down.
    let half = (475_749 - total) / 2;
    assert!((half - 1..=half).contains(&owed), "{owed} of {half}");
    world.is_clean().await;
}

async fn the_same_passenger_at_once(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 3).await;
    let calls = (0..6).map(|_| world.cancels_some(&booking, ids(&booking, &[1]), None, json!({})));
    let (mut done, mut refused) = (0, 0);
    for answer in join_all(calls).await {
        match answer.status {
            200 => done += 1,
            _ => {
                answer.has_field_errors(&[("passenger_ids", "already_cancelled")]);
                refused += 1;
            }
        }
    }
    assert_eq!((done, refused), (1, 5));
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["qty"], &after["owed"]), (&json!(2), &json!(75_000)));
    assert_eq!(world.seats_taken(&sailing).await, 2);
    world.is_clean().await;
}

async fn some_and_all_at_once(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    for n in 0..4 {
        let booking = world.paid_booking(&sailing, 3).await;
        let all = async || {
            let body = json!({ "reason": "x" });
            world.post(&path(&booking, "/cancel"), body).by(&admin).send_with_retry().await
        };
        let moved = async || {
            let body = json!({ "route_time_id": other.id, "reason": "x" });
            world.post(&path(&booking, "/reschedule"), body).by(&admin).send_with_retry().await
        };
        let corrected = async || {
            let passenger = json!({ "id": booking["passengers"][2]["id"], "name": "Komang" });
            let body = json!({ "passengers": [passenger] });
            world.put(&path(&booking, "/passengers"), body).by(&admin).send_with_retry().await
        };
        let some = async |place: usize| {
            let ids = ids(&booking, &[place]);
            world.cancels_some(&booking, ids, Some(&admin), json!({})).await
        };
        let (first, second, whole) = match n % 2 {
            0 => {
                let (first, second, whole) = tokio::join!(some(0), some(1), all());
                (first.status, second.status, Some(whole))
            }
            _ => {
                let (first, second, moved, corrected) =
                    tokio::join!(some(0), some(1), moved(), corrected());
                moved.ok();
                corrected.ok();
                (first.status, second.status, None)
            }
        };
        let after = world.looks_up(&booking).await;
        match whole {
            Some(whole) => {
                whole.ok();
                assert_eq!(after["owed"], 450_000, "everything, in one order or the other");
                assert_eq!(after["status"], "refund_pending");
                assert!([first, second].iter().all(|status| [200, 409].contains(status)));
            }
            None => {
                assert_eq!((first, second), (200, 200));
                assert_eq!(names(&after), ["Komang"]);
                assert_eq!(after["route_time_id"], other.id.as_str());
            }
        }
        assert_invariants(&world).await;
    }
    world.is_clean().await;
}

async fn the_old_ticket_is_refused_and_the_others_board(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 4).await;
    let old = world.looks_up(&booking).await["passengers"].clone();
    let code = |place: usize| old[place]["ticket_code"].as_str().unwrap().to_owned();
    world.cancels_some(&booking, ids(&booking, &[0, 2]), None, json!({})).await.ok();
    let listed = world.ticket_codes(&sailing).await;
    assert_eq!(listed, [code(1), code(3)], "the manifest has those who travel");
    for gone in [0, 2] {
        world.scans_ticket(&sailing, &code(gone)).await.is(409, "cancelled");
        let undo = format!("/v1/mitra/route-times/{}/check-in/undo", sailing.id);
        let body = json!({ "ticket_code": code(gone), "reason": "x" });
        world.post(&undo, body).by(&sailing.partner).send().await.is(409, "cancelled");
    }
    for (stays, name) in [(1, "Penumpang 2"), (3, "Penumpang 4")] {
        let admitted = world.scans_ticket(&sailing, &code(stays)).await.ok();
        assert_eq!(admitted["passenger_name"], name);
    }
    let scans = json!({ "scans": [
        { "scan_id": "a", "ticket_code": code(0), "scanned_at": world.now() },
        { "scan_id": "b", "ticket_code": code(1), "scanned_at": world.now() },
    ] });
    let batch = format!("/v1/mitra/route-times/{}/check-in", sailing.id);
    let batch = world.post(&batch, scans).by(&sailing.partner).send().await.ok();
    let results = batch["results"].as_array().unwrap().iter();
    let results: Vec<_> = results.map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(results, ["cancelled", "already_boarded"]);
    world.is_clean().await;
}

async fn the_rest_is_cancelled(world: World) {
    let (admin, sailing, booking) = family(&world).await;
    world.cancels_some(&booking, ids(&booking, &[2]), None, json!({})).await.ok();
    let after = world.guest_cancels_all(&booking).await.ok();
    assert_eq!(after["status"], "refund_pending");
    // Half of 120,953 and of 354,796.
    assert_eq!((&after["refund_amount"], &after["owed"]), (&json!(177_398), &json!(237_874)));
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_eq!(world.balance("customer_deposits").await, 0);
    world.is_clean().await;
    // The refund of the passenger does not end the booking.
    let search = format!("/v1/refunds?search={}", booking["code"].as_str().unwrap());
    let refunds = world.get(&search).by(&admin).send().await.ok();
    let refunds = refunds.as_array().unwrap();
    assert_eq!(refunds.len(), 2);
    for (amount, status) in [(60_476, "refund_pending"), (177_398, "refunded")] {
        let refund = refunds.iter().find(|refund| refund["amount"] == amount).unwrap();
        let pay = format!("/v1/refunds/{}/pay", refund["id"].as_str().unwrap());
        let body = json!({ "by": "bank", "reference": format!("BCA-{amount}") });
        world.post(&pay, body).by(&admin).send().await.ok();
        assert_eq!(world.looks_up(&booking).await["status"], status);
        world.is_clean().await;
    }
    // Nor does it bounce with it.
    let small = refunds.iter().find(|refund| refund["amount"] == 60_476).unwrap();
    let bounce = format!("/v1/refunds/{}/return", small["id"].as_str().unwrap());
    world.post(&bounce, json!({ "reason": "closed" })).by(&admin).send().await.ok();
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["status"], &after["owed"]), (&json!("refunded"), &json!(60_476)));
    world.is_clean().await;
}

async fn the_rest_is_rescheduled(world: World) {
    let (admin, sailing, booking) = family(&world).await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let same = world.another_sailing(&sailing, "GT. 3", 150_000).await;
    world.cancels_some(&booking, ids(&booking, &[2]), None, json!({})).await.ok();
    let moves = async |to: &Sailing| {
        let body = json!({ "route_time_id": to.id, "reason": "x" });
        world.post(&path(&booking, "/reschedule"), body).by(&admin).send().await.ok()
    };
    // The remaining discount moves along.
    let moved = moves(&same).await;
    assert_eq!((&moved["reschedule"]["difference"], &moved["qty"]), (&json!(0), &json!(4)));
    assert_eq!(moved["price"]["total"], 354_796);
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&same).await), (0, 3));
    let wish = moves(&dear).await;
    // 440,000 less 7,458, with 43,254 of tax.
    assert_eq!(wish["reschedule"]["difference"], 475_796 - 354_796);
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let paid = callback_body(reference, 475_796 - 354_796, "settlement", "d");
    world.post("/v1/payment/callback", paid).send().await.ok();
    let moved = world.looks_up(&booking).await;
    assert_eq!(moved["price"]["total"], 475_796);
    assert_eq!(moved["cancelled_passengers"].as_array().unwrap().len(), 1);
    assert_eq!(world.seats_taken(&dear).await, 3);
    // New tickets, at the old places.
    let codes = moved["passengers"].as_array().unwrap().iter();
    let codes: Vec<_> = codes.map(|one| one["ticket_code"].as_str().unwrap().to_owned()).collect();
    let admitted = world.scans_ticket(&dear, &codes[2]).await.ok();
    assert_eq!(admitted["passenger_name"], "Penumpang 4");
    world.is_clean().await;
}

async fn a_rescheduled_booking_loses_a_passenger(world: World) {
    let world = world.with(|config| config.refund_policy = Steps(vec![(60, 90), (6, 40)])).await;
    let (admin, sailing, booking) = family(&world).await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_001).await;
    let back = world.another_sailing(&sailing, "GT. 3", 150_000).await;
    let moves = async |to: &Sailing| {
        let body = json!({
            "route_time_id": to.id, "reason": "x", "code": booking["code"],
            "email": "sari@example.com",
        });
        world.post(&path(&booking, "/reschedule"), body).send().await.ok()
    };
    let wish = moves(&dear).await;
    let difference = wish["reschedule"]["difference"].as_i64().unwrap();
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let paid = callback_body(reference, difference, "settlement", "d");
    world.post("/v1/payment/callback", paid).send().await.ok();
    let before = world.looks_up(&booking).await;
    // The cap of the reschedule is 40 %: also two days ahead.
    let after = world.cancels_some(&booking, ids(&booking, &[1]), None, json!({})).await.ok();
    let total = |booking: &Value| booking["price"]["total"].as_i64().unwrap();
    let share = total(&before) - total(&after);
    assert_eq!(after["owed"].as_i64().unwrap(), share * 40 / 100);
    world.is_clean().await;
    // On a sailing like the first one the rest costs what it did there: 292,500 less the discount
    // of the rest.
    let discount = after["price"]["discount"].as_i64().unwrap();
    let moved = {
        let body = json!({ "route_time_id": back.id, "reason": "x" });
        world.post(&path(&booking, "/reschedule"), body).by(&admin).send().await.ok()
    };
    assert_eq!(moved["price"]["subtotal"], 292_500);
    assert_eq!(moved["price"]["discount"], discount);
    assert_eq!((10_001 * 292_500 + 221_250) / 442_500, discount);
    world.is_clean().await;
    // Once more, from there.
    let last = world.cancels_some(&booking, ids(&booking, &[2]), Some(&admin), json!({})).await;
    let last = last.ok();
    let discount = last["price"]["discount"].clone();
    let again = {
        let body = json!({ "route_time_id": dear.id, "reason": "x", "dry_run": true });
        world.post(&path(&booking, "/reschedule"), body).by(&admin).send().await.ok()
    };
    assert_eq!(again["reschedule"]["price"]["discount"], discount, "{again}");
    world.is_clean().await;
}

async fn a_pending_reschedule_is_dropped(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 3).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    assert_eq!(world.seats_taken(&dear).await, 3);
    world.cancels_some(&booking, ids(&booking, &[0]), None, json!({})).await.ok();
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&dear).await), (2, 0));
    world.is_clean().await;
    // Paid nevertheless, the difference waits for a decision.
    let difference = wish["reschedule"]["difference"].as_i64().unwrap();
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let paid = callback_body(reference, difference, "settlement", "d");
    world.post("/v1/payment/callback", paid).send().await.ok();
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["qty"], &after["route_time_id"]), (&json!(2), &json!(sailing.id)));
    assert_eq!(world.balance("unapplied_payments").await, -difference);
    world.is_clean().await;
    // The rest can ask again.
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    assert!(wish["reschedule"]["difference"].as_i64().unwrap() < difference);
    assert_eq!(world.seats_taken(&dear).await, 2);
}

async fn the_sailing_of_the_rest_is_called_off(world: World) {
    let (admin, sailing, booking) = family(&world).await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    world.cancels_some(&booking, ids(&booking, &[2]), None, json!({})).await.ok();
    world.cancels_sailing(&sailing, &admin).await.ok();
    let after = world.looks_up(&booking).await;
    assert_eq!(after["status"], "refund_pending");
    assert_eq!((&after["refund_amount"], &after["owed"]), (&json!(354_796), &json!(415_272)));
    world.is_clean().await;
    // Another sailing instead: the refund of the passenger stays owed.
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!((&moved["status"], &moved["owed"]), (&json!("paid"), &json!(60_476)));
    assert_eq!((&moved["qty"], &moved["price"]["total"]), (&json!(4), &json!(354_796)));
    assert_eq!(world.seats_taken(&other).await, 3);
    world.is_clean().await;
}

async fn the_rest_sails_and_is_settled(world: World) {
    let (admin, sailing, booking) = family(&world).await;
    world.cancels_some(&booking, ids(&booking, &[2]), None, json!({})).await.ok();
    assert_eq!(world.completes_paid_bookings().await, 1);
    assert_eq!(world.looks_up(&booking).await["status"], "completed");
    world.is_clean().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let settlement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    // 330,000 less 33,000 and 3,630, and what was kept of the child.
    assert_eq!(settlement["net"], 330_000 - 33_000 - 3_630 + 48_876);
    world.releases_settlement(&settlement, &admin).await.ok();
    world.is_clean().await;
    // A complaint is about the rest.
    let cancel = path(&booking, "/cancel");
    let body = json!({ "reason": "x", "refund_amount": 354_797 });
    let refused = world.post(&cancel, body).by(&admin).send().await;
    refused.has_field_errors(&[("refund_amount", "max")]);
    let body = json!({ "reason": "x", "refund_amount": 354_796 });
    world.post(&cancel, body).by(&admin).send().await.ok();
    world.is_clean().await;
}

async fn cash_that_the_partner_took(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let booking = world.books(order(&sailing, 3, "sari@example.com")).await.ok();
    world.post(&path(&booking, "/pay-cash"), json!({})).by(&sailing.partner).send().await.ok();
    world.cancels_some(&booking, ids(&booking, &[0]), Some(&sailing.partner), json!({})).await.ok();
    world.is_clean().await;
    let body = json!({ "reference": "KAS-1" });
    world.post(&path(&booking, "/refund"), body).by(&admin).send().await.ok();
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["status"], &after["owed"]), (&json!("paid"), &json!(0)));
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let sent =
        letters.iter().filter(|one| one.contains("We have refunded Rp 150.000 for passengers"));
    assert_eq!(sent.count(), 1);
    world.is_clean().await;
    world.cancels_some(&booking, ids(&booking, &[1]), None, json!({})).await.ok();
    world.is_clean().await;
    world.completes_paid_bookings().await;
    // It has 450,000, handed 150,000 back, and earns 135,000 and 67,500; 75,000 are still owed.
    let dues = "SELECT CAST(SUM(net) AS BIGINT) FROM partner_dues";
    assert_eq!(world.count(dues).await, 135_000 + 67_500 - 450_000 + 150_000);
    world.is_clean().await;
}

async fn a_cancelled_passenger_is_erased(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let mut wanted = order(&sailing, 2, "sari@example.com");
    wanted["passengers"][0] = json!({
        "name": "Komang Rahasia", "identity_type": "nik", "identity_number": crate::harbour::NIK,
        "nationality": "Indonesia",
    });
    let booking = world.books(wanted).await.ok();
    world.pays(&booking).await;
    let more = json!({ "reason": "Komang Rahasia is ill", "refund_amount": 0 });
    world.cancels_some(&booking, ids(&booking, &[0]), Some(&admin), more).await.ok();
    let export = json!({ "email": "sari@example.com" });
    let export = world.post("/v1/privacy/export", export).by(&admin).send().await.ok();
    let gone = &export["bookings"][0]["cancelled_passengers"][0];
    assert_eq!(gone["name"], "Komang Rahasia");
    world.delivers_outbox().await;
    world.completes_paid_bookings().await;
    world.delivers_outbox().await;
    let body = json!({ "email": "sari@example.com", "reason": "Asked by letter" });
    let erased = world.post("/v1/privacy/erase", body).by(&admin).send().await.ok();
    assert_eq!(erased["bookings"]["erased"], 1);
    let kept = world.get(&path(&booking, "")).by(&admin).send().await.ok();
    assert_eq!(kept["cancelled_passengers"][0]["name"], "[erased]");
    assert!(!world.all_stored_data().await.contains("Komang Rahasia"));
    world.is_clean().await;
}

async fn a_repeated_request_cancels_once(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 3).await;
    let body = |place: usize| {
        json!({
            "reason": "x", "code": booking["code"], "email": "sari@example.com",
            "passenger_ids": ids(&booking, &[place]),
        })
    };
    let call = async |place: usize| {
        let call = world.post(&path(&booking, "/cancel"), body(place));
        call.header("idempotency-key", "once").send().await
    };
    let first = call(0).await.ok();
    assert_eq!(call(0).await.ok(), first);
    assert_eq!(call(1).await.status, 409, "another request with the same key");
    assert_eq!(world.looks_up(&booking).await["qty"], 2);
    assert_eq!(world.refunds_of(&booking).await.len(), 1);
}

async fn the_booker_and_the_partner_are_told(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 3).await;
    world.delivers_outbox().await;
    world.cancels_some(&booking, ids(&booking, &[0, 2]), None, json!({})).await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let told: Vec<_> =
        letters.iter().filter(|letter| letter.contains("Penumpang 1, Penumpang 3")).collect();
    assert_eq!(told.len(), 1, "{letters:?}");
    assert!(told[0].contains("We will refund Rp 150.000"), "{}", told[0]);
    let told = world.get("/v1/notifications").by(&sailing.partner).send().await.ok();
    let told = told.as_array().unwrap().iter();
    let told: Vec<_> = told.filter(|one| one["type"] == "booking.passengers_cancelled").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["data"]["cancelled_qty"], 2);
    assert_eq!(told[0]["data"]["refund_amount"], 150_000);
    // In the language of the booking.
    let mut call = world.post("/v1/booking/", order(&sailing, 2, "putu@example.com"));
    call = call.header("accept-language", "id");
    let indonesian = call.send().await.ok();
    world.pays(&indonesian).await;
    let id = json!({ "refund_amount": 0 });
    let admin = world.admin().await;
    world.cancels_some(&indonesian, ids(&indonesian, &[1]), Some(&admin), id).await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("putu@example.com");
    assert_eq!(letters.iter().filter(|one| one.contains("dibatalkan: Penumpang 2")).count(), 1);
}

async fn a_chargeback_limits_what_is_refunded(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let mut body = callback_body(reference, 300_000, "partial_refund", "t-gone");
    body["refund_amount"] = json!("200000.00");
    world.post("/v1/payment/callback", body).send().await.ok();
    let reviews = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    let resolve = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let action = json!({ "action": "charge_partner", "note": "x" });
    world.post(&resolve, action).by(&admin).send().await.ok();
    // 100,000 of 300,000 are left.
    let more = json!({ "refund_amount": 100_001 });
    let refused = world.cancels_some(&booking, ids(&booking, &[0]), Some(&admin), more).await;
    refused.has_field_errors(&[("refund_amount", "max")]);
    let after = world.cancels_some(&booking, ids(&booking, &[0]), Some(&admin), json!({})).await;
    assert_eq!(after.ok()["owed"], 100_000);
    world.is_clean().await;
    let body = json!({ "reason": "x" });
    let rest = world.post(&path(&booking, "/cancel"), body).by(&admin).send().await.ok();
    assert_eq!(rest["owed"], 100_000, "and nothing more");
    world.is_clean().await;
}

/// Whatever the booking costs meanwhile, the price of the attempt that comes twice is a duplicate.
async fn a_second_payment_of_the_whole_is_a_duplicate(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let booking = world.paid_booking(&sailing, 2).await;
    world.cancels_some(&booking, ids(&booking, &[0]), None, json!({})).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    for (amount, transaction) in [(300_000, "second"), (150_000, "third")] {
        let body = callback_body(reference, amount, "settlement", transaction);
        world.post("/v1/payment/callback", body).send().await.ok();
    }
    let reviews = world.get("/v1/payment/reviews?sort_dir=asc").by(&admin).send().await.ok();
    let mut told: Vec<_> = reviews
        .as_array()
        .unwrap()
        .iter()
        .map(|review| {
            let number = |field: &str| review[field].as_i64().unwrap();
            (review["reason"].as_str().unwrap(), number("amount"), number("expected"))
        })
        .collect();
    told.sort_unstable();
    assert_eq!(told, [("duplicate", 300_000, 300_000), ("wrong_amount", 150_000, 300_000)]);
    assert_eq!(world.balance("unapplied_payments").await, -450_000);
    let mut duplicate = reviews.as_array().unwrap().iter();
    let duplicate = duplicate.find(|review| review["reason"] == "duplicate").unwrap();
    let resolve = format!("/v1/payment/reviews/{}/resolve", duplicate["id"].as_str().unwrap());
    let action = json!({ "action": "refund", "note": "x" });
    world.post(&resolve, action).by(&admin).send().await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
    world.is_clean().await;
}

/// What is made wrong by hand is named by the audit.
async fn wrong_shares_are_found(world: World) {
    let (_, _, booking) = family(&world).await;
    world.cancels_some(&booking, ids(&booking, &[2]), None, json!({})).await.ok();
    let broken = async || -> Vec<&'static str> {
        let checked = dermaga::invariants::check(world.db()).await.unwrap();
        checked.iter().filter(|one| !one.broken.is_empty()).map(|one| one.rule).collect()
    };
    assert_eq!(broken().await, [""; 0]);
    let sums = "the shares of a partly cancelled booking sum to what was paid";
    let list = "the cancelled passengers of a booking are those of its cancellations";
    for (breaks, mends, question) in [
        (
            "UPDATE passenger_cancellations SET refund = refund - 1",
            "UPDATE passenger_cancellations SET refund = refund + 1",
            sums,
        ),
        (
            "UPDATE passenger_cancellations SET subtotal = subtotal + 1, total = total + 1,
               partner_net = partner_net + 1",
            "UPDATE passenger_cancellations SET subtotal = subtotal - 1, total = total - 1,
               partner_net = partner_net - 1",
            sums,
        ),
        (
            "UPDATE bookings SET subtotal = subtotal - 1, total = total - 1,
               partner_net = partner_net - 1",
            "UPDATE bookings SET subtotal = subtotal + 1, total = total + 1,
               partner_net = partner_net + 1",
            sums,
        ),
        (
            "UPDATE passenger_cancellations SET qty = 2",
            "UPDATE passenger_cancellations SET qty = 1",
            list,
        ),
    ] {
        world.db().sql(breaks).run().await.unwrap();
        let found = broken().await;
        assert!(found.contains(&question), "{breaks}: {found:?}");
        world.db().sql(mends).run().await.unwrap();
        assert_eq!(broken().await, [""; 0], "{mends}");
    }
    world.db().sql("UPDATE bookings SET cancelled_passengers = '[]'").run().await.unwrap();
    assert_eq!(broken().await, [list]);
}
