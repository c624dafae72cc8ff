//! What can be done with a booking, and that it then happens so.

use chrono::{DateTime, TimeDelta, Utc};
use dermaga::{
    config::Steps,
    kernel::{access::Rule::*, ids::Uuid},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    options_say_what_the_policy_grants,
    options_preview_a_partial_cancellation,
    options_are_for_whoever_may_read_the_booking,
    a_pending_reschedule_is_among_the_options,
    options_of_a_cancelled_sailing,
    a_dry_run_changes_nothing,
    options_are_what_then_happens,
    refusals_name_what_it_is,
];

impl World {
    async fn options(&self, booking: &Value, by: Option<&Someone>) -> Answer {
        self.options_of_some(booking, "", by).await
    }

    /// Passengers by their ids, separated by commas.
    async fn options_of_some(&self, booking: &Value, some: &str, by: Option<&Someone>) -> Answer {
        let path = format!("/v1/booking/{}/options", booking["id"].as_str().unwrap());
        let path = format!("{path}?passenger_ids={some}");
        match by {
            Some(who) => self.get(&path).by(who).send().await,
            None => {
                let (code, email) = (&booking["code"], &booking["contact"]["email"]);
                let (code, email) = (code.as_str().unwrap(), email.as_str().unwrap());
                self.get(&format!("{path}&code={code}&email={email}")).send().await
            }
        }
    }

    async fn acts(
        &self,
        booking: &Value,
        last: &str,
        mut body: Value,
        by: Option<&Someone>,
    ) -> Answer {
        let path = format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap());
        match by {
            Some(who) => self.post(&path, body).by(who).send_with_retry().await,
            None => {
                body["code"] = booking["code"].clone();
                body["email"] = booking["contact"]["email"].clone();
                self.post(&path, body).send_with_retry().await
            }
        }
    }
}

async fn options_say_what_the_policy_grants(world: World) {
    let sailing = world.sailing().await;
    let unpaid = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let options = world.options(&unpaid, None).await.ok();
    assert_eq!(
        options,
        json!({
            "cancel": {
                "allowed": true, "refund_amount": 0, "percent": 0, "until": "2026-11-15T03:30:00Z",
            },
            "reschedule": { "allowed": false, "reason": "not_paid", "fee": 0, "until": null },
            "pending_reschedule": null,
        })
    );
    // 21 hours ahead, half of it, until six hours ahead.
    let booking = world.paid_booking(&sailing, 2).await;
    let options = world.options(&booking, None).await.ok();
    assert_eq!(
        options["cancel"],
        json!({
            "allowed": true, "refund_amount": 150_000, "percent": 50,
            "until": "2026-11-15T18:00:00Z",
        })
    );
    assert_eq!(
        options["reschedule"],
        json!({ "allowed": true, "fee": 0, "until": "2026-11-16T00:00:00Z" })
    );
    let admin = world.admin().await;
    let by_admin = &world.options(&booking, Some(&admin)).await.ok()["cancel"];
    assert_eq!(
        by_admin,
        &json!({ "allowed": true, "refund_amount": 300_000, "percent": 100, "until": null })
    );
    let by_partner = &world.options(&booking, Some(&sailing.partner)).await.ok()["cancel"];
    assert_eq!(by_partner["until"], "2026-11-16T00:45:00Z", "until the arrival");
    world.advances_clock(TimeDelta::hours(21));
    let gone = json!({
        "allowed": false, "reason": "departed", "refund_amount": 0, "percent": 0, "until": null,
    });
    assert_eq!(world.options(&booking, None).await.ok()["cancel"], gone);
}

async fn options_preview_a_partial_cancellation(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 3).await;
    let id = |n: usize| booking["passengers"][n]["id"].as_str().unwrap().to_owned();
    let two = format!("{},{}", id(0), id(2));
    let cancel = async |some: &str, by: Option<&Someone>| {
        world.options_of_some(&booking, some, by).await.ok()["cancel"].clone()
    };
    assert_eq!(
        cancel(&two, None).await,
        json!({
            "allowed": true, "refund_amount": 150_000, "percent": 50,
            "until": "2026-11-15T18:00:00Z",
        })
    );
    let by_partner = cancel(&id(1), Some(&sailing.partner)).await;
    assert_eq!(by_partner["refund_amount"], 150_000);
    // Refused as the cancellation itself.
    let all = format!("{two},{}", id(1));
    let twice = format!("{0},{0}", id(1));
    let other = world.paid_booking(&sailing, 2).await;
    let theirs = other["passengers"][0]["id"].as_str().unwrap();
    for (some, rule) in
        [(all.as_str(), "all"), (&twice, "unique"), (theirs, "unknown"), ("x,y", "format")]
    {
        let answer = world.options_of_some(&booking, some, None).await;
        answer.has_field_errors(&[("passenger_ids", rule)]);
        if rule != "format" {
            let ids: Vec<_> = some.split(',').collect();
            let body = json!({ "reason": "x", "passenger_ids": ids });
            let answer = world.acts(&booking, "cancel", body, None).await;
            answer.has_field_errors(&[("passenger_ids", rule)]);
        }
    }
    let long = vec![id(1); 60].join(",");
    let answer = world.options_of_some(&booking, &long, None).await;
    answer.has_field_errors(&[("passenger_ids", "max_length")]);
    let unpaid = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let first = unpaid["passengers"][0]["id"].as_str().unwrap();
    let option = world.options_of_some(&unpaid, first, None).await.ok()["cancel"].clone();
    assert_eq!((&option["allowed"], &option["reason"]), (&json!(false), &json!("not_paid")));
    let mut stranger = booking.clone();
    stranger["contact"]["email"] = json!("budi@example.com");
    world.options_of_some(&stranger, &two, None).await.is(404, "not_found");
    // What it said is what happens.
    let body = json!({ "reason": "x", "passenger_ids": [id(0), id(2)] });
    let after = world.acts(&booking, "cancel", body, None).await.ok();
    assert_eq!((&after["owed"], &after["qty"]), (&json!(150_000), &json!(1)));
    let answer = world.options_of_some(&booking, &id(0), None).await;
    answer.has_field_errors(&[("passenger_ids", "already_cancelled")]);
    assert_invariants(&world).await;
}

async fn options_are_for_whoever_may_read_the_booking(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let foreign = world.active_partner("other@bahari.id").await;
    world.options(&booking, Some(&foreign)).await.is(404, "not_found");
    let mut other = booking.clone();
    other["contact"]["email"] = json!("budi@example.com");
    world.options(&other, None).await.is(404, "not_found");
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    world.options(&booking, Some(&crew)).await.is(403, "forbidden");
    let writer = world.staff("writer@dermaga.test", &[BookingsWrite]).await;
    world.options(&booking, Some(&writer)).await.is(403, "forbidden");
    // Who reads but does not write is told so.
    let reader = world.staff("reader@dermaga.test", &[BookingsRead]).await;
    let options = world.options(&booking, Some(&reader)).await.ok();
    for what in ["cancel", "reschedule"] {
        assert_eq!(options[what]["allowed"], false);
        assert_eq!(options[what]["reason"], "forbidden");
    }
}

async fn a_pending_reschedule_is_among_the_options(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 2).await;
    let wish = world.requests_reschedule(&booking, &dear).await.ok();
    let pending = &world.options(&booking, None).await.ok()["pending_reschedule"];
    assert_eq!(
        pending,
        &json!({
            "route_time_id": dear.id, "difference": 100_000,
            "redirect_url": wish["reschedule"]["payment"]["redirect_url"],
            "expires_at": wish["reschedule"]["expires_at"],
        })
    );
    world.advances_clock(TimeDelta::minutes(30));
    let options = world.options(&booking, None).await.ok();
    assert_eq!(options["pending_reschedule"], json!(null), "its time is over");
}

async fn options_of_a_cancelled_sailing(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let admin = world.admin().await;
    let [first, second] =
        [world.paid_booking(&sailing, 1).await, world.paid_booking(&sailing, 1).await];
    world.cancels_sailing(&sailing, &sailing.partner).await.ok();
    let options = world.options(&first, None).await.ok();
    assert_eq!(options["cancel"]["reason"], "already_cancelled");
    assert_eq!(options["reschedule"], json!({ "allowed": true, "fee": 0, "until": null }));
    world.requests_reschedule(&first, &other).await.ok();
    // Once its refund is paid, it is over.
    world.acts(&second, "refund", json!({ "reference": "BCA-1" }), Some(&admin)).await.ok();
    let options = world.options(&second, None).await.ok();
    assert_eq!(options["reschedule"]["reason"], "already_cancelled");
    world.requests_reschedule(&second, &other).await.is(409, "already_cancelled");
}

async fn a_dry_run_changes_nothing(world: World) {
    let world = world.with(|config| config.reschedule_fee = Steps(vec![(0, 10)])).await;
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let cheap = world.another_sailing(&sailing, "GT. 3", 100_000).await;
    let booking = world.paid_booking(&sailing, 2).await;
    let before = world.looks_up(&booking).await;
    world.delivers_outbox().await;
    let tries = async |to: &Sailing, by: Option<&Someone>| {
        let body = json!({ "route_time_id": to.id, "dry_run": true });
        world.acts(&booking, "reschedule", body, by).await
    };
    for (to, total, difference, status) in
        [(&dear, 400_000, 130_000, "pending"), (&cheap, 200_000, -70_000, "done")]
    {
        let answer = tries(to, None).await.ok();
        let planned = &answer["reschedule"];
        assert_eq!(planned["id"], json!(null));
        assert_eq!((&planned["fee"], &planned["price"]["total"]), (&json!(30_000), &json!(total)));
        assert_eq!(planned["difference"], difference);
        assert_eq!((&planned["status"], &planned["payment"]), (&json!(status), &json!(null)));
        assert_eq!(planned["route_time_id"], json!(to.id));
        assert_eq!(answer["route_time_id"], json!(sailing.id), "it stays where it is");
    }
    let by_partner = tries(&dear, Some(&sailing.partner)).await.ok();
    assert_eq!(by_partner["reschedule"]["difference"], 100_000, "without a fee");
    assert_eq!(world.looks_up(&booking).await, before);
    for table in ["reschedules", "outbox", "audit_logs"] {
        let count = match table {
            "reschedules" => "SELECT COUNT(*) FROM reschedules",
            "outbox" => "SELECT COUNT(*) FROM outbox",
            _ => "SELECT COUNT(*) FROM audit_logs",
        };
        assert_eq!(world.count(count).await, 0, "{table}");
    }
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&dear).await), (2, 0));
    // It is refused as the move itself would be, and needs the same credentials.
    world.cancels_sailing(&cheap, &sailing.partner).await.ok();
    tries(&cheap, None).await.is(409, "booking_closed");
    let path = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
    let wrong = json!({
        "route_time_id": dear.id, "dry_run": true, "code": booking["code"], "email": "x@y.id",
    });
    world.post(&path, wrong).send().await.is(404, "not_found");
    let bad = json!({ "route_time_id": dear.id, "dry_run": "yes" });
    let bad = world.acts(&booking, "reschedule", bad, None).await;
    bad.has_field_errors(&[("dry_run", "type")]);
    // What it said is what happens.
    let moved = world.requests_reschedule(&booking, &dear).await.ok();
    assert_eq!(moved["reschedule"]["difference"], 130_000);
    assert_invariants(&world).await;
}

/// A booking in some state.
struct State {
    booking: Value,
    sailing: Sailing,
}

impl World {
    async fn random_state(&self, first: &Sailing, n: usize, random: &mut StdRng) -> State {
        let sailing = self.another_sailing(first, &format!("GT. {n}"), 150_000).await;
        let booking = self.books(order(&sailing, 2, "sari@example.com")).await.ok();
        let is_paid = random.random_bool(0.9);
        if is_paid {
            self.pays(&booking).await;
        }
        if is_paid && random.random_bool(0.2) {
            let code = self.ticket_codes(&sailing).await.remove(0);
            self.scans_ticket(&sailing, &code).await.ok();
        }
        match random.random_range(0..12) {
            0 => drop(self.cancels_sailing(&sailing, &sailing.partner).await.ok()),
            1 => drop(self.acts(&booking, "cancel", json!({ "reason": "x" }), None).await),
            2 => {
                let times = json!({
                    "departure_time": "09:00", "arrival_time": "09:45", "reason": "x",
                });
                self.updates_sailing_times(&sailing, times).await.ok();
            }
            3 => {
                let id: Uuid = booking["id"].as_str().unwrap().parse().unwrap();
                let capped = self.db().sql("UPDATE bookings SET refund_cap = 30 WHERE id = $1");
                capped.bind(id).run().await.unwrap();
            }
            _ => {}
        }
        State { booking, sailing }
    }
}

/// Whatever the state and the time: what the options say is what happens.
async fn options_are_what_then_happens(world: World) {
    let fees = Steps(vec![(30, 0), (10, 5), (3, 20)]);
    let world = world.with(|config| config.reschedule_fee = fees).await;
    let mut random = StdRng::seed_from_u64(25);
    let first = world.sailing().await;
    // It departs last, so that all can move there.
    let boat = world.adds_boat(&first.partner, "GT. 1000").await;
    let mut plan = crate::harbour::route(&boat);
    (plan["start_date"], plan["end_date"]) = (json!("2026-11-20"), json!("2026-11-20"));
    let route = world.creates_route(&first.partner, plan).await;
    world.publishes_route(&first.partner, &route).await.ok();
    let id = world.sailings(&first.partner, &route).await[0]["id"].as_str().unwrap().to_owned();
    let target = Sailing { partner: first.partner.clone(), boat, id };
    let mut states = Vec::new();
    for n in 0..24 {
        states.push(world.random_state(&first, n + 2, &mut random).await);
    }
    // The departures are 45 hours ahead.
    let mut steps: Vec<i64> = (0..states.len()).map(|_| random.random_range(0..46 * 60)).collect();
    steps.sort();
    let began = world.now();
    let (mut allowed, mut refused, mut some_allowed) = (0, 0, 0);
    for (State { booking, sailing }, minutes) in states.iter().zip(steps) {
        let wanted = began + TimeDelta::minutes(minutes);
        world.advances_clock(wanted - world.now());
        dermaga::bookings::expire(&world.app).await.unwrap();
        dermaga::bookings::complete(&world.app).await.unwrap();
        let partner = world.signs_in(&sailing.partner.email, "mitra").await;
        if random.random_bool(0.25) {
            // Refused if it is too early, or the sailing is cancelled.
            let there = Sailing { partner: partner.clone(), ..sailing.clone() };
            world.closes_manifest(&there).await;
        }
        let who = match random.random_range(0..3) {
            0 => Some(&partner),
            _ => None,
        };
        let options = world.options(booking, who).await.ok();
        let reschedule = &options["reschedule"];
        let ends = [&options["cancel"], reschedule];
        assert!(ends.into_iter().all(|option| still_holds(option, world.now())));
        let there = json!({ "route_time_id": target.id, "dry_run": true });
        let moved = world.acts(booking, "reschedule", there, who).await;
        match reschedule["allowed"].as_bool().unwrap() {
            true => assert_eq!(moved.ok()["reschedule"]["fee"], reschedule["fee"]),
            false => drop(moved.is(409, reschedule["reason"].as_str().unwrap())),
        }
        if random.random_bool(0.5) {
            let some = booking["passengers"][0]["id"].as_str().unwrap();
            let option = world.options_of_some(booking, some, who).await.ok()["cancel"].clone();
            assert!(still_holds(&option, world.now()));
            let owed = world.looks_up(booking).await["owed"].as_i64().unwrap();
            let body = json!({ "reason": "x", "passenger_ids": [some] });
            let answer = world.acts(booking, "cancel", body, who).await;
            match option["allowed"].as_bool().unwrap() {
                true => {
                    some_allowed += 1;
                    let refund = answer.ok()["owed"].as_i64().unwrap() - owed;
                    assert_eq!(json!(refund), option["refund_amount"], "{option}");
                }
                false => drop(answer.is(409, option["reason"].as_str().unwrap())),
            }
        }
        let options = world.options(booking, who).await.ok();
        let cancel = &options["cancel"];
        let cancelled = world.acts(booking, "cancel", json!({ "reason": "x" }), who).await;
        match cancel["allowed"].as_bool().unwrap() {
            true => {
                allowed += 1;
                let after = cancelled.ok();
                let refund = after["refund_amount"].as_i64().unwrap_or_default();
                assert_eq!(json!(refund), cancel["refund_amount"], "{options}");
            }
            false => {
                refused += 1;
                cancelled.is(409, cancel["reason"].as_str().unwrap());
            }
        }
    }
    assert!(allowed > 3 && refused > 3 && some_allowed > 2, "{allowed} {refused} {some_allowed}");
    assert_invariants(&world).await;
}

/// What is offered ends later.
fn still_holds(option: &Value, now: DateTime<Utc>) -> bool {
    option["until"].as_str().is_none_or(|until| until.parse::<DateTime<Utc>>().unwrap() >= now)
}

async fn refusals_name_what_it_is(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let expired = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(31));
    dermaga::bookings::expire(&world.app).await.unwrap();
    let cancelled = world.paid_booking(&sailing, 1).await;
    world.acts(&cancelled, "cancel", json!({ "reason": "x" }), None).await.ok();
    for (booking, word) in [(&expired, "expired"), (&cancelled, "already_cancelled")] {
        let there = json!({ "route_time_id": other.id });
        world.acts(booking, "cancel", json!({ "reason": "x" }), None).await.is(409, word);
        world.acts(booking, "reschedule", there, None).await.is(409, word);
        world.acts(booking, "payment", json!({}), None).await.is(409, word);
        world.acts(booking, "resend-ticket", json!({}), None).await.is(409, word);
        world.acts(booking, "pay-cash", json!({}), Some(&sailing.partner)).await.is(409, word);
        let path = format!(
            "/v1/booking/{}/ticket?code={}&email=sari@example.com",
            booking["id"].as_str().unwrap(),
            booking["code"].as_str().unwrap()
        );
        world.get(&path).send().await.is(409, word);
    }
    // In the caller's language.
    let path = format!("/v1/booking/{}/cancel", cancelled["id"].as_str().unwrap());
    let body = json!({
        "reason": "x", "code": cancelled["code"], "email": cancelled["contact"]["email"],
    });
    let said = world.post(&path, body).header("accept-language", "id").send().await;
    let said = said.is(409, "already_cancelled");
    assert_eq!(said["message"], "Pemesanan ini sudah dibatalkan.");
}
