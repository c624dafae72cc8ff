//! Rescheduling bookings.

use chrono::TimeDelta;
use dermaga::config::{Config, Steps};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, charter, order, route},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_booking_moves_with_its_seats,
    a_lower_price_is_owed_to_the_customer,
    a_higher_price_is_paid_first,
    an_unpaid_reschedule_is_dropped,
    a_wrong_or_late_difference_needs_a_review,
    another_choice_replaces_the_first,
    a_fee_is_by_configuration,
    rescheduling_a_cancelled_sailing_is_free_of_charge,
    a_booking_is_reinstated_twice,
    cash_that_the_partner_took_moves_along,
    refusals_of_rescheduling_have_reasons,
    rescheduling_does_not_increase_the_refund,
    the_last_seat_goes_to_one,
    two_sailings_are_swapped_at_once,
    a_charter_moves_as_a_whole,
    pending_reschedules_are_dropped_with_their_sailing,
    a_promotion_that_is_used_up_loses_no_money,
    a_booking_without_a_price_is_rescheduled,
    the_provider_pays_back_what_it_took,
    a_sailing_that_moves_meanwhile_is_a_disruption,
    intermediate_reschedules_do_not_change_the_price,
    unpaid_reschedules_are_limited,
    a_dropped_reschedule_is_announced,
    reports_follow,
    a_moved_booking_is_settled_as_it_sailed,
];

impl World {
    /// Another sailing of the same partner on the same route, a day later.
    pub async fn another_sailing(
        &self,
        sailing: &Sailing,
        registration: &str,
        price: i64,
    ) -> Sailing {
        let boat = self.adds_boat(&sailing.partner, registration).await;
        let mut plan = route(&boat);
        plan["price"] = json!(price);
        plan["start_date"] = json!("2026-11-17");
        let id = self.creates_route(&sailing.partner, plan).await;
        self.publishes_route(&sailing.partner, &id).await.ok();
        let id = self.sailings(&sailing.partner, &id).await[0]["id"].as_str().unwrap().to_owned();
        Sailing { partner: sailing.partner.clone(), boat, id }
    }

    pub async fn requests_reschedule(&self, booking: &Value, to: &Sailing) -> Answer {
        let path = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
        let body = json!({
            "route_time_id": to.id, "reason": "x", "code": booking["code"],
            "email": booking["contact"]["email"],
        });
        self.post(&path, body).send_with_retry().await
    }

    /// Pays the difference of a pending reschedule.
    async fn pays_difference(&self, wish: &Value, amount: i64) -> Answer {
        let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
        let notice = callback_body(reference, amount, "settlement", &format!("d-{reference}"));
        self.post("/v1/payment/callback", notice).send().await
    }

    async fn records_refund(&self, booking: &Value, by: &Someone) -> Answer {
        let path = format!("/v1/booking/{}/refund", booking["id"].as_str().unwrap());
        self.post(&path, json!({ "reference": "BCA-1" })).by(by).send().await
    }
}

async fn a_booking_moves_with_its_seats(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let booking = world.paid_booking(&sailing, 2).await;
    let old = world.ticket_codes(&sailing).await.remove(0);
    world.delivers_outbox().await;
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!((&moved["status"], &moved["id"]), (&json!("paid"), &booking["id"]));
    assert_eq!(moved["route_time_id"], json!(other.id));
    assert_eq!(moved["item_id"], json!(other.boat));
    assert_eq!(moved["sailing"]["departure_at"], "2026-11-17T00:00:00Z");
    assert_eq!(moved["reschedule"]["status"], "done");
    assert_eq!(moved["reschedule"]["difference"], 0);
    assert_eq!(moved["reschedule"]["payment"], json!(null));
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&other).await), (0, 2));
    // Its tickets are new.
    world.scans_ticket(&sailing, &old).await.is(409, "wrong_sailing");
    world.scans_ticket(&other, &old).await.is(409, "ticket_replaced");
    world.scans_ticket(&other, &world.ticket_codes(&other).await[0]).await.ok();
    // The same once more is nothing new.
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let told: Vec<_> =
        letters.iter().filter(|l| l.contains("Your booking has been rescheduled")).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("Tue 17 Nov 2026, 08:00 WITA") && told[0].contains("filename="));
    assert_invariants(&world).await;
}

async fn a_lower_price_is_owed_to_the_customer(world: World) {
    let sailing = world.sailing().await;
    let cheap = world.another_sailing(&sailing, "GT. 2", 100_000).await;
    let admin = world.admin().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let moved = world.requests_reschedule(&booking, &cheap).await.ok();
    assert_eq!(moved["price"]["total"], 200_000);
    assert_eq!(moved["reschedule"]["difference"], -100_000);
    assert_eq!(world.balance("refund_payable").await, -100_000);
    assert_eq!(world.balance("customer_deposits").await, -200_000);
    assert_invariants(&world).await;
    world.delivers_outbox().await;
    let told = world.get("/v1/notifications").by(&admin).send().await.ok();
    let told = told.as_array().unwrap().iter().find(|one| one["type"] == "booking.rescheduled");
    assert!(told.expect("staff hear of it")["body"].as_str().unwrap().contains("Rp 100.000"));
    assert_eq!(world.looks_up(&booking).await["owed"], 100_000);
    let board = world.get("/v1/dashboard").by(&admin).send().await.ok();
    assert_eq!(board["pending"]["refunds"], 1);
    let path = format!("/v1/booking/{}/refund", booking["id"].as_str().unwrap());
    let wrong = json!({ "reference": "BCA-1", "amount": 300_000 });
    let faults = world.post(&path, wrong).by(&admin).send().await.field_errors();
    assert_eq!(faults, [("amount".into(), "due".into())]);
    world.records_refund(&booking, &admin).await.ok();
    assert_eq!(world.balance("refund_payable").await, 0);
    assert_eq!(world.balance("bank").await, -100_000);
    assert_eq!(world.looks_up(&booking).await["owed"], 0);
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert!(letters.iter().any(|letter| letter.contains("We have refunded Rp 100.000")));
    world.records_refund(&booking, &admin).await.is(409, "invalid_state");
    assert_invariants(&world).await;
    // What it costs now is what comes back.
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let done = world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert_eq!(done["refund_amount"], 200_000);
    assert_invariants(&world).await;
}

async fn a_higher_price_is_paid_first(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 2).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    assert_eq!(wish["route_time_id"], json!(sailing.id), "it stays where it is");
    assert_eq!(wish["reschedule"]["status"], "pending");
    assert_eq!(wish["reschedule"]["difference"], 100_000);
    assert_eq!(wish["reschedule"]["price"]["total"], 400_000);
    assert_eq!(wish["reschedule"]["expires_at"], "2026-11-15T03:30:00Z");
    let payment = &wish["reschedule"]["payment"];
    assert_eq!(payment["reference"], json!(format!("{}-2", booking["code"].as_str().unwrap())));
    assert!(payment["redirect_url"].as_str().unwrap().contains("/pay/DMG-"));
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&dear).await), (2, 2));
    assert_invariants(&world).await;
    let again = world.requests_reschedule(&booking, &dear).await.ok();
    assert_eq!(again["reschedule"], wish["reschedule"], "asking again changes nothing");
    assert_eq!(world.seats_taken(&dear).await, 2);

    world.pays_difference(&wish, 100_000).await.ok();
    world.pays_difference(&wish, 100_000).await.ok();
    let moved = world.looks_up(&booking).await;
    assert_eq!(moved["route_time_id"], json!(dear.id));
    assert_eq!((&moved["status"], &moved["price"]["total"]), (&json!("paid"), &json!(400_000)));
    assert_eq!(moved["payment"]["reference"], booking["payment"]["reference"]);
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&dear).await), (0, 2));
    assert_eq!(world.balance("gateway_clearing").await, 400_000);
    assert_eq!(world.balance("customer_deposits").await, -400_000);
    assert_invariants(&world).await;
}

async fn an_unpaid_reschedule_is_dropped(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 2).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    world.advances_clock(TimeDelta::minutes(31));
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&dear).await), (2, 0));
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
    // Too late: the payment needs a review.
    world.pays_difference(&wish, 100_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["route_time_id"], json!(sailing.id));
    assert_eq!(world.balance("unapplied_payments").await, -100_000);
    assert_invariants(&world).await;
    // A denied attempt is followed by another.
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let denied = callback_body(reference, 100_000, "deny", "no");
    world.post("/v1/payment/callback", denied).send().await.ok();
    let next = world.requests_reschedule(&booking, &dear).await.ok();
    assert_ne!(next["reschedule"]["payment"]["reference"], json!(reference));
    world.pays_difference(&next, 100_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["route_time_id"], json!(dear.id));
    assert_invariants(&world).await;
}

async fn a_wrong_or_late_difference_needs_a_review(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let admin = world.admin().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    world.pays_difference(&wish, 1_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["route_time_id"], json!(sailing.id));
    let reviews = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
    assert_eq!((&reviews[0]["amount"], &reviews[0]["expected"]), (&json!(1_000), &json!(50_000)));
    let path = format!("/v1/payment/reviews/{}/resolve", reviews[0]["id"].as_str().unwrap());
    let apply = json!({ "action": "apply", "note": "x" });
    world.post(&path, apply).by(&admin).send().await.is(409, "invalid_state");
    let refund = json!({ "action": "refund", "note": "x" });
    world.post(&path, refund).by(&admin).send().await.ok();
    assert_invariants(&world).await;
    // Cancelled meanwhile: the reschedule is dropped, and its payment has to be refunded.
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert_eq!(world.seats_taken(&dear).await, 0, "nothing is held any more");
    world.pays_difference(&wish, 50_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "refund_pending");
    assert_eq!(world.balance("unapplied_payments").await, -50_000);
    assert_invariants(&world).await;
}

async fn another_choice_replaces_the_first(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let dearer = world.another_sailing(&sailing, "GT. 3", 250_000).await;
    let cheap = world.another_sailing(&sailing, "GT. 4", 150_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let first = world.requests_reschedule(&booking, &dear).await.ok();
    world.requests_reschedule(&booking, &dearer).await.ok();
    assert_eq!((world.seats_taken(&dear).await, world.seats_taken(&dearer).await), (0, 1));
    assert_invariants(&world).await;
    world.requests_reschedule(&booking, &cheap).await.ok();
    assert_eq!((world.seats_taken(&cheap).await, world.seats_taken(&dearer).await), (1, 0));
    world.pays_difference(&first, 50_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["route_time_id"], json!(cheap.id));
    assert_invariants(&world).await;
}

async fn a_fee_is_by_configuration(world: World) {
    let fee = |config: &mut Config| {
        config.reschedule_fee = Steps(vec![(20, 10)]);
    };
    let world = world.restarts_with(fee).await;
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let cheap = world.another_sailing(&sailing, "GT. 3", 120_000).await;
    let (booking, second) =
        (world.paid_booking(&sailing, 1).await, world.paid_booking(&sailing, 1).await);
    let wish = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!(
        (&wish["reschedule"]["fee"], &wish["reschedule"]["difference"]),
        (&json!(15_000), &json!(15_000))
    );
    world.pays_difference(&wish, 15_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["price"]["total"], 150_000);
    assert_eq!(world.balance("commission_revenue").await, -15_000);
    assert_invariants(&world).await;
    // It is taken from what is owed.
    let moved = world.requests_reschedule(&second, &cheap).await.ok();
    assert_eq!(moved["reschedule"]["difference"], -15_000);
    assert_invariants(&world).await;
    // The partner moves a customer for nothing.
    let third = world.paid_booking(&sailing, 1).await;
    let path = format!("/v1/booking/{}/reschedule", third["id"].as_str().unwrap());
    let body = json!({ "route_time_id": other.id });
    let moved = world.post(&path, body).by(&sailing.partner).send().await.ok();
    assert_eq!(moved["reschedule"]["fee"], 0);
    let fourth = world.paid_booking(&sailing, 1).await;
    world.advances_clock(TimeDelta::hours(2));
    world.requests_reschedule(&fourth, &other).await.is(409, "too_late");
    assert_invariants(&world).await;
}

async fn rescheduling_a_cancelled_sailing_is_free_of_charge(world: World) {
    let fee = |config: &mut Config| {
        config.reschedule_fee = Steps(vec![(0, 50)]);
    };
    let world = world.restarts_with(fee).await;
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let dear = world.another_sailing(&sailing, "GT. 3", 200_000).await;
    let admin = world.admin().await;
    let gone = world.paid_booking(&sailing, 1).await;
    let cancel = format!("/v1/booking/{}/cancel", gone["id"].as_str().unwrap());
    let knows = json!({ "reason": "x", "code": gone["code"], "email": "sari@example.com" });
    world.post(&cancel, knows).send().await.ok();
    let (one, two, paid_back) = (
        world.paid_booking(&sailing, 2).await,
        world.paid_booking(&sailing, 1).await,
        world.paid_booking(&sailing, 1).await,
    );
    world.advances_clock(TimeDelta::minutes(1));
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    world.records_refund(&paid_back, &admin).await.ok();

    let moved = world.requests_reschedule(&one, &other).await.ok();
    assert_eq!((&moved["status"], &moved["reschedule"]["fee"]), (&json!("paid"), &json!(0)));
    assert_eq!(moved["refund_amount"], json!(null));
    assert_eq!(moved["cancelled_at"], json!(null));
    assert_eq!(world.seats_taken(&other).await, 2);
    assert_invariants(&world).await;
    // One that costs more: the refund stays due until the difference is paid.
    let wish = world.requests_reschedule(&two, &dear).await.ok();
    assert_eq!(wish["status"], "refund_pending");
    assert_eq!(wish["reschedule"]["difference"], 50_000);
    world.pays_difference(&wish, 50_000).await.ok();
    assert_eq!(world.looks_up(&two).await["status"], "paid");
    assert_invariants(&world).await;
    // A booking that was refunded manually, even at the same instant, cannot be rescheduled.
    let fourth = world.another_sailing(&sailing, "GT. 4", 150_000).await;
    let by_hand = world.paid_booking(&fourth, 1).await;
    let cancel = format!("/v1/booking/{}/cancel", by_hand["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.cancels_sailing(&fourth, &sailing.partner).await.ok();
    world.requests_reschedule(&by_hand, &dear).await.is(409, "already_cancelled");
    // Refunded bookings, and those cancelled before, cannot be rescheduled.
    world.requests_reschedule(&paid_back, &other).await.is(409, "already_cancelled");
    world.requests_reschedule(&gone, &other).await.is(409, "already_cancelled");
    world.delivers_outbox().await;
    world.completes_paid_bookings().await;
    assert_eq!(world.looks_up(&one).await["status"], "completed");
    assert_invariants(&world).await;
}

async fn a_booking_is_reinstated_twice(world: World) {
    let sailing = world.sailing().await;
    let second = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let third = world.another_sailing(&sailing, "GT. 3", 180_000).await;
    let admin = world.admin().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    world.requests_reschedule(&booking, &second).await.ok();
    world.cancels_sailing(&second, &sailing.partner).await.ok();
    assert_invariants(&world).await;
    let wish = world.requests_reschedule(&booking, &third).await.ok();
    world.pays_difference(&wish, 30_000).await.ok();
    assert_invariants(&world).await;
    world.cancels_sailing(&third, &sailing.partner).await.ok();
    let seen = world.looks_up(&booking).await;
    assert_eq!(
        (&seen["status"], &seen["refund_amount"]),
        (&json!("refund_pending"), &json!(180_000))
    );
    world.records_refund(&booking, &admin).await.ok();
    assert_eq!(world.balance("refund_payable").await, 0);
    assert_eq!(world.balance("customer_deposits").await, 0);
    assert_invariants(&world).await;
}

async fn cash_that_the_partner_took_moves_along(world: World) {
    let sailing = world.sailing().await;
    let second = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let third = world.another_sailing(&sailing, "GT. 3", 150_000).await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    world.post(&format!("{path}/pay-cash"), json!({})).by(&sailing.partner).send().await.ok();
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    world.requests_reschedule(&booking, &second).await.ok();
    assert_invariants(&world).await;
    world.cancels_sailing(&second, &sailing.partner).await.ok();
    world.requests_reschedule(&booking, &third).await.ok();
    assert_invariants(&world).await;
    world.completes_paid_bookings().await;
    // Commission of ten percent on what it holds.
    assert_eq!(world.balance("partner_payable").await, 15_000);
    assert_invariants(&world).await;
}

async fn refusals_of_rescheduling_have_reasons(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let unpaid = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.requests_reschedule(&unpaid, &other).await.is(409, "not_paid");
    world.pays(&unpaid).await;
    let booking = unpaid;
    let path = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
    let wrong = json!({ "route_time_id": other.id, "code": booking["code"], "email": "x@y.id" });
    world.post(&path, wrong).send().await.is(404, "not_found");
    let foreign = world.active_partner("other@bahari.id").await;
    let there = json!({ "route_time_id": other.id });
    world.post(&path, there).by(&foreign).send().await.is(404, "not_found");
    assert_eq!(
        world.post(&path, json!({})).by(&sailing.partner).send().await.field_errors(),
        [("route_time_id".into(), "required".into())]
    );
    let nowhere = Sailing { id: dermaga::kernel::ids::fresh().to_string(), ..other };
    assert_eq!(
        world.requests_reschedule(&booking, &nowhere).await.field_errors(),
        [("route_time_id".into(), "unknown".into())]
    );
    // Of another partner, and the other way round.
    let (boat, theirs) = world.creates_published_route(&foreign, "GT. 9").await;
    let id = world.sailings(&foreign, &theirs).await[0]["id"].as_str().unwrap().to_owned();
    let elsewhere = Sailing { partner: foreign, boat, id };
    let other_route = [("route_time_id".to_owned(), "other_route".to_owned())];
    assert_eq!(world.requests_reschedule(&booking, &elsewhere).await.field_errors(), other_route);
    let back_boat = world.adds_boat(&sailing.partner, "GT. 5").await;
    let mut back = route(&back_boat);
    (back["from"], back["to"]) = (json!("Nusa Penida"), json!("Sanur"));
    let back = world.creates_route(&sailing.partner, back).await;
    world.publishes_route(&sailing.partner, &back).await.ok();
    let id = world.sailings(&sailing.partner, &back).await[0]["id"].as_str().unwrap().to_owned();
    let back = Sailing { partner: sailing.partner.clone(), boat: back_boat, id };
    assert_eq!(world.requests_reschedule(&booking, &back).await.field_errors(), other_route);
    // Full, closed, or gone.
    let full = world.another_sailing(&sailing, "GT. 6", 150_000).await;
    let seats = world.books(charter(&full, 1, "budi@example.com")).await.ok();
    let refused = world.requests_reschedule(&booking, &full).await.is(409, "sold_out");
    assert_eq!(refused["data"]["available_seats"], 0);
    world.pays(&seats).await;
    let closed = world.another_sailing(&sailing, "GT. 7", 150_000).await;
    world.closes_manifest(&closed).await.ok();
    world.requests_reschedule(&booking, &closed).await.is(409, "booking_closed");
    let off = world.another_sailing(&sailing, "GT. 8", 150_000).await;
    world.cancels_sailing(&off, &sailing.partner).await.ok();
    world.requests_reschedule(&booking, &off).await.is(409, "booking_closed");
    // Where it is already.
    assert_eq!(world.requests_reschedule(&booking, &sailing).await.ok()["reschedule"], json!(null));
    // On board, or departed.
    let code = world.ticket_codes(&sailing).await.remove(0);
    world.scans_ticket(&sailing, &code).await.ok();
    let free = world.another_sailing(&sailing, "GT. 10", 150_000).await;
    world.requests_reschedule(&booking, &free).await.is(409, "already_boarded");
    let late = world.paid_booking(&sailing, 1).await;
    world.advances_clock(TimeDelta::hours(21) + TimeDelta::minutes(1));
    world.requests_reschedule(&late, &free).await.is(409, "departed");
    assert_invariants(&world).await;
}

/// The refund policy cannot be evaded by moving to a later sailing.
async fn rescheduling_does_not_increase_the_refund(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    // Less than a day ahead: half comes back. On the other it would be all.
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!(moved["status"], "paid");
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    let done = world.post(&cancel, knows).send().await.ok();
    assert_eq!(done["refund_amount"], 75_000);
    assert_invariants(&world).await;
}

async fn the_last_seat_goes_to_one(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let dear = world.another_sailing(&sailing, "GT. 3", 160_000).await;
    for full in [&other, &dear] {
        let most = world.books(order(full, 29, "budi@example.com")).await.ok();
        world.pays(&most).await;
    }
    let mut bookings = Vec::new();
    for _ in 0..8 {
        bookings.push(world.paid_booking(&sailing, 1).await);
    }
    let wishes =
        join_all(bookings.iter().map(|booking| world.requests_reschedule(booking, &other)));
    let books = join_all((0..4).map(|n| {
        let email = format!("guest{n}@example.com");
        let order = order(&other, 1, &email);
        world.books(order)
    }));
    let (wished, booked) = tokio::join!(wishes, books);
    let won = wished.iter().chain(&booked).filter(|answer| answer.status == 200).count();
    assert_eq!(won, 1, "one seat, one passenger");
    for answer in wished.into_iter().chain(booked).filter(|answer| answer.status != 200) {
        answer.is(409, "sold_out");
    }
    assert_eq!(world.seats_taken(&other).await, 30);
    assert_invariants(&world).await;
    // The same where the difference has to be paid: one holds it.
    let waiting: Vec<_> =
        bookings.iter().map(|booking| world.requests_reschedule(booking, &dear)).collect();
    let waiting = join_all(waiting).await;
    assert_eq!(waiting.iter().filter(|answer| answer.status == 200).count(), 1);
    let held = waiting.into_iter().find(|answer| answer.status == 200).unwrap().ok();
    assert_eq!(world.seats_taken(&dear).await, 30);
    world.pays_difference(&held, 10_000).await.ok();
    assert_eq!(world.looks_up(&held).await["route_time_id"], json!(dear.id));
    assert_invariants(&world).await;
}

async fn two_sailings_are_swapped_at_once(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        here.push(world.paid_booking(&sailing, 1).await);
        there.push(world.paid_booking(&other, 1).await);
    }
    let go = join_all(here.iter().map(|booking| world.requests_reschedule(booking, &other)));
    let come = join_all(there.iter().map(|booking| world.requests_reschedule(booking, &sailing)));
    let (went, came) = tokio::join!(go, come);
    for answer in went.into_iter().chain(came) {
        answer.ok();
    }
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&other).await), (8, 8));
    assert_invariants(&world).await;
}

async fn a_charter_moves_as_a_whole(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let taken = world.another_sailing(&sailing, "GT. 3", 150_000).await;
    world.paid_booking(&taken, 1).await;
    let booking = world.books(charter(&sailing, 3, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    world.requests_reschedule(&booking, &taken).await.is(409, "sold_out");
    world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&other).await), (0, 30));
    world.paid_booking(&sailing, 1).await;
    world.books(order(&other, 1, "budi@example.com")).await.is(409, "sold_out");
    // Held as a whole, too.
    let dear = world.another_sailing(&sailing, "GT. 4", 160_000).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    world.books(order(&dear, 1, "budi@example.com")).await.is(409, "sold_out");
    assert_invariants(&world).await;
    world.pays_difference(&wish, 300_000).await.ok();
    world.books(order(&dear, 1, "budi@example.com")).await.is(409, "sold_out");
    world.paid_booking(&other, 1).await;
    assert_invariants(&world).await;
}

async fn pending_reschedules_are_dropped_with_their_sailing(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let dearer = world.another_sailing(&sailing, "GT. 3", 250_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    world.cancels_sailing(&dear, &sailing.partner).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "paid", "where it was");
    world.pays_difference(&wish, 50_000).await.ok();
    assert_eq!(world.balance("unapplied_payments").await, -50_000);
    assert_invariants(&world).await;
    let wish = world.requests_reschedule(&booking, &dearer).await.ok();
    world.closes_manifest(&dearer).await.ok();
    assert_eq!(world.seats_taken(&dearer).await, 0);
    world.pays_difference(&wish, 100_000).await.ok();
    assert_eq!(world.looks_up(&booking).await["route_time_id"], json!(sailing.id));
    assert_invariants(&world).await;
}

/// The last use was taken by another booking while its sailing was cancelled.
async fn a_promotion_that_is_used_up_loses_no_money(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let dear = world.another_sailing(&sailing, "GT. 3", 200_000).await;
    let admin = world.admin().await;
    let mut promotion = crate::promotions::promotion("SATU");
    promotion["quota"] = json!(1);
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let with_code = |sailing: &Sailing, email: &str| {
        let mut order = order(sailing, 1, email);
        order["code_promo"] = json!("SATU");
        order
    };
    let booking = world.books(with_code(&sailing, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    let thief = world.books(with_code(&other, "budi@example.com")).await.ok();
    let amount = wish["reschedule"]["difference"].as_i64().unwrap();
    world.pays_difference(&wish, amount).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "refund_pending");
    assert_eq!(world.balance("unapplied_payments").await, -amount, "it waits for a person");
    assert_invariants(&world).await;
    world.requests_reschedule(&booking, &other).await.is(409, "promotion_exhausted");
    let cancel = format!("/v1/booking/{}/cancel", thief["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "x" })).by(&admin).send().await.ok();
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!(
        (&moved["status"], &moved["price"]["discount"]),
        (&json!("paid"), &booking["price"]["discount"])
    );
    assert_invariants(&world).await;
}

async fn a_booking_without_a_price_is_rescheduled(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let admin = world.admin().await;
    let mut promotion = crate::promotions::promotion("GRATIS");
    promotion["discount"] = json!({ "type": "percentage", "value": 100 });
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["code_promo"] = json!("GRATIS");
    let booking = world.books(wanted).await.ok();
    assert_eq!((&booking["status"], &booking["price"]["total"]), (&json!("paid"), &json!(0)));
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "cancelled");
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!((&moved["status"], &moved["route_time_id"]), (&json!("paid"), &json!(other.id)));
    assert_eq!(moved["cancelled_at"], json!(null));
    assert_invariants(&world).await;
    world.completes_paid_bookings().await;
    assert_invariants(&world).await;
}

async fn the_provider_pays_back_what_it_took(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let cheap = world.another_sailing(&sailing, "GT. 3", 100_000).await;
    let back = async |reference: &str, amount: i64, id: &str| {
        let notice = callback_body(reference, amount, "refund", id);
        world.post("/v1/payment/callback", notice).send().await.ok();
    };
    // In two parts, as it was paid.
    let booking = world.paid_booking(&sailing, 1).await;
    let first = booking["payment"]["reference"].as_str().unwrap();
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    world.pays_difference(&wish, 50_000).await.ok();
    world.cancels_sailing(&dear, &sailing.partner).await.ok();
    back(first, 150_000, "r1").await;
    assert_eq!(world.looks_up(&booking).await["status"], "refund_pending", "not all of it");
    back(wish["reschedule"]["payment"]["reference"].as_str().unwrap(), 50_000, "r2").await;
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    assert_eq!(world.balance("gateway_clearing").await, 0);
    assert_invariants(&world).await;
    // A difference by itself.
    let booking = world.paid_booking(&sailing, 1).await;
    let moved = world.requests_reschedule(&booking, &cheap).await.ok();
    assert_eq!(moved["owed"], 50_000);
    back(booking["payment"]["reference"].as_str().unwrap(), 50_000, "r3").await;
    assert_eq!(world.looks_up(&booking).await["owed"], 0);
    assert_eq!(world.balance("gateway_clearing").await, 100_000);
    assert_eq!(world.balance("bank").await, 0);
    assert_invariants(&world).await;
}

async fn a_sailing_that_moves_meanwhile_is_a_disruption(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    let times = json!({ "departure_time": "16:00", "arrival_time": "16:45", "reason": "x" });
    world.updates_sailing_times(&dear, times).await.ok();
    world.pays_difference(&wish, 50_000).await.ok();
    let moved = world.looks_up(&booking).await;
    assert_eq!(moved["sailing"]["departure_at"], "2026-11-17T08:00:00Z");
    // The booker did not choose this: a full refund, although the reschedule was late.
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    assert_eq!(world.post(&cancel, knows).send().await.ok()["refund_amount"], 200_000);
    assert_invariants(&world).await;
}

async fn intermediate_reschedules_do_not_change_the_price(world: World) {
    let sailing = world.sailing().await;
    let cheap = world.another_sailing(&sailing, "GT. 2", 30_000).await;
    let admin = world.admin().await;
    let mut promotion = crate::promotions::promotion("TETAP");
    promotion["discount"] = json!({ "type": "fixed", "value": 50_000 });
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["code_promo"] = json!("TETAP");
    let booking = world.books(wanted).await.ok();
    world.pays(&booking).await;
    assert_eq!(world.requests_reschedule(&booking, &cheap).await.ok()["price"]["total"], 0);
    let wish = world.requests_reschedule(&booking, &sailing).await.ok();
    assert_eq!(wish["reschedule"]["difference"], 100_000);
    world.pays_difference(&wish, 100_000).await.ok();
    let back = world.looks_up(&booking).await;
    assert_eq!(back["price"], booking["price"]);
    assert_invariants(&world).await;
}

async fn unpaid_reschedules_are_limited(world: World) {
    let limited = |config: &mut Config| config.rate_limit = dermaga::config::Switch(true);
    let world = world.restarts_with(limited).await;
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    for _ in 0..3 {
        world.requests_reschedule(&booking, &dear).await.ok();
        world.advances_clock(TimeDelta::minutes(31));
        dermaga::bookings::expire(&world.app).await.unwrap();
    }
    world.requests_reschedule(&booking, &dear).await.is(409, "too_many_holds");
    assert_eq!(world.seats_taken(&dear).await, 0);
}

async fn a_dropped_reschedule_is_announced(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.requests_reschedule(&booking, &dear).await.ok();
    world.cancels_sailing(&dear, &sailing.partner).await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let told =
        letters.iter().filter(|letter| letter.contains("Your booking was not rescheduled")).count();
    assert_eq!(told, 1);
    // A delayed mail about the cancelled sailing is not sent after the booking was rescheduled.
    let second = world.paid_booking(&sailing, 1).await;
    let other = world.another_sailing(&sailing, "GT. 3", 150_000).await;
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    world.requests_reschedule(&second, &other).await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let code = second["code"].as_str().unwrap();
    let of = |said: &str| letters.iter().filter(|l| l.contains(code) && l.contains(said)).count();
    assert_eq!((of("cancelled"), of("Your booking has been rescheduled")), (0, 1));
}

async fn reports_follow(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let cheap = world.another_sailing(&sailing, "GT. 3", 100_000).await;
    let admin = world.admin().await;
    let (one, two) = (world.paid_booking(&sailing, 2).await, world.paid_booking(&sailing, 1).await);
    dermaga::reports::roll_up(&world.app).await.unwrap();
    // The day after where the service is.
    world.advances_clock(TimeDelta::hours(15));
    let admin = world.signs_in(&admin.email, "admin").await;
    let wish = world.requests_reschedule(&one, &dear).await.ok();
    world.pays_difference(&wish, 100_000).await.ok();
    world.requests_reschedule(&two, &cheap).await.ok();
    let days = async || {
        let path = "/v1/finance/reports/overview?period_type=Bulanan&comparison_mode=Month-over-month&start_date=2026-11-15";
        let report = world.get(path).by(&admin).send().await.ok();
        let series = report["series"].as_array().unwrap().clone();
        let of = |bucket: &str| {
            let day = series.iter().find(|day| day["bucket"] == bucket).unwrap();
            (day["gross_revenue"].as_i64().unwrap(), day["bookings"].as_i64().unwrap())
        };
        let path = "/v1/dashboard";
        let board = world.get(path).by(&admin).send().await.ok();
        (
            of("2026-11-15"),
            of("2026-11-16"),
            report["gross_revenue"]["current"].clone(),
            board["top_routes"].clone(),
        )
    };
    let unfolded = days().await;
    assert_eq!(unfolded.0, (450_000, 2), "as it was sold");
    assert_eq!(unfolded.1, (100_000, 0), "what was paid; the cheaper one leaves the revenue alone");
    assert_eq!(unfolded.2, 550_000);
    dermaga::reports::roll_up(&world.app).await.unwrap();
    assert_eq!(days().await, unfolded);
    assert_invariants(&world).await;
    dermaga::reports::rebuild(&world.app).await.unwrap();
    assert_eq!(days().await, unfolded);
    assert_invariants(&world).await;
}

async fn a_moved_booking_is_settled_as_it_sailed(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let admin = world.admin().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    world.pays_difference(&wish, 50_000).await.ok();
    world.completes_paid_bookings().await;
    let settled = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!((&settled["gross"], &settled["net"]), (&json!(200_000), &json!(180_000)));
    world.releases_settlement(&settled, &admin).await.ok();
    assert_invariants(&world).await;
    // And a complaint after that.
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let done = world.post(&cancel, json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert_eq!(done["refund_amount"], 200_000);
    world.records_refund(&booking, &admin).await.ok();
    assert_invariants(&world).await;
}
