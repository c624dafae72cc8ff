//! Limits of unpaid holds.

use std::pin::Pin;

use chrono::TimeDelta;
use dermaga::config::Config;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, charter, order, route},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, World},
};

on_both_engines![
    one_network_holds_ten_however_many_ask_at_once,
    one_email_holds_five_however_many_ask_at_once,
    a_prefix_of_ipv6_is_one_network,
    two_processes_count_together,
    one_network_cannot_empty_a_day,
    what_is_paid_expired_or_cancelled_is_not_counted,
    a_guest_charters_two_boats_for_ten_minutes,
    staff_and_partners_are_not_limited,
    without_rate_limits_nothing_is_counted,
    a_refused_sale_counts_nothing,
    all_that_frees_a_hold_at_once_is_counted,
];

/// Tests choose their network by header.
fn enable_rate_limit(config: &mut Config) {
    config.rate_limit.0 = true;
    config.trusted_hops = 1;
}

/// A boat that sails every hour of one day.
async fn sailings_of_today(world: &World) -> Vec<Sailing> {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let mut plan = route(&boat);
    (plan["start_date"], plan["end_date"]) = (json!("2026-11-15"), json!("2026-11-15"));
    // From one o'clock on every ten minutes: the manifests of the first ones can be closed.
    let time = |minutes: usize| format!("{}:{:02}", 13 + minutes / 60, minutes % 60);
    let times = (0..16)
        .map(|n| json!({ "departure_time": time(10 * n), "arrival_time": time(10 * n + 10) }));
    plan["times"] = times.collect();
    let route = world.creates_route(&partner, plan).await;
    world.publishes_route(&partner, &route).await.ok();
    let sailings = world.sailings(&partner, &route).await;
    assert_eq!(sailings.len(), 16);
    let sailing = |row: &Value| Sailing {
        partner: partner.clone(),
        boat: boat.clone(),
        id: row["id"].as_str().unwrap().to_owned(),
    };
    sailings.iter().map(sailing).collect()
}

impl World {
    async fn books_from(&self, network: &str, order: Value) -> Answer {
        self.post("/v1/booking/", order).header("x-forwarded-for", network).send_with_retry().await
    }
}

fn guest_email(n: usize) -> String {
    format!("guest{n}@example.com")
}

/// How many were sold; all others were refused by the limit.
#[track_caller]
fn count_sold(answers: Vec<Answer>) -> usize {
    let mut sold = 0;
    for answer in answers {
        match answer.status {
            200 => sold += 1,
            _ => drop(answer.is(409, "too_many_holds")),
        }
    }
    sold
}

const COUNTERS: &str = "SELECT COUNT(*) FROM unpaid_holds";

async fn one_network_holds_ten_however_many_ask_at_once(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    let asks = (0..40).map(|n| {
        let order = order(&sailings[n % sailings.len()], 1, &guest_email(n));
        world.books_from("203.0.113.7", order)
    });
    assert_eq!(count_sold(join_all(asks).await), 10);
    // Others are not concerned.
    world.books_from("203.0.113.8", order(&sailings[0], 1, &guest_email(99))).await.ok();
    assert_invariants(&world).await;
}

async fn one_email_holds_five_however_many_ask_at_once(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    let networks: Vec<_> = (0..20).map(|n| format!("203.0.113.{n}")).collect();
    let asks = networks.iter().enumerate().map(|(n, network)| {
        let email = if n % 2 == 0 { "sari@example.com" } else { "SARI@Example.com" };
        world.books_from(network, order(&sailings[n % sailings.len()], 1, email))
    });
    assert_eq!(count_sold(join_all(asks).await), 5);
    assert_invariants(&world).await;
}

async fn a_prefix_of_ipv6_is_one_network(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailing = world.sailing().await;
    let addresses: Vec<_> = (0..12).map(|n| format!("2001:db8:1:2:{n:x}::{n:x}")).collect();
    let asks = addresses
        .iter()
        .enumerate()
        .map(|(n, address)| world.books_from(address, order(&sailing, 1, &guest_email(n))));
    assert_eq!(count_sold(join_all(asks).await), 10);
    world.books_from("2001:db8:1:3::1", order(&sailing, 1, &guest_email(20))).await.ok();
}

async fn two_processes_count_together(world: World) {
    let world = world.with(enable_rate_limit).await;
    if world.url().is_none() {
        return;
    }
    let sailings = sailings_of_today(&world).await;
    let other = world.second_process().await.with(enable_rate_limit).await;
    let asks = (0..40).map(|n| {
        let at = if n % 2 == 0 { &world } else { &other };
        at.books_from("203.0.113.7", order(&sailings[n % sailings.len()], 1, &guest_email(n)))
    });
    assert_eq!(count_sold(join_all(asks).await), 10);
    assert_invariants(&world).await;
}

async fn one_network_cannot_empty_a_day(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    // Whole boats, as seats.
    let asks = sailings
        .iter()
        .enumerate()
        .map(|(n, sailing)| world.books_from("203.0.113.7", order(sailing, 30, &guest_email(n))));
    assert_eq!(count_sold(join_all(asks).await), 10);
    let left = "SELECT COUNT(*) FROM sailings WHERE seats_taken = 0";
    assert_eq!(world.count(left).await, 6);
}

async fn what_is_paid_expired_or_cancelled_is_not_counted(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    let network = "203.0.113.7";
    let email = "sari@example.com";
    let book = |n: usize| world.books_from(network, order(&sailings[n], 1, email));
    let mut held = Vec::new();
    for n in 0..5 {
        held.push(book(n).await.ok());
    }
    book(5).await.is(409, "too_many_holds");
    // Each end of a hold releases one.
    world.pays(&held[0]).await;
    book(5).await.ok();
    book(6).await.is(409, "too_many_holds");
    let cancel = format!("/v1/booking/{}/cancel", held[1]["id"].as_str().unwrap());
    let body = json!({ "reason": "", "code": held[1]["code"], "email": email });
    world.post(&cancel, body).send().await.ok();
    book(6).await.ok();
    book(7).await.is(409, "too_many_holds");
    world.cancels_sailing(&sailings[2], &sailings[2].partner).await.ok();
    book(7).await.ok();
    book(8).await.is(409, "too_many_holds");
    world.closes_manifest(&sailings[3]).await.ok();
    book(8).await.ok();
    book(9).await.is(409, "too_many_holds");
    assert_invariants(&world).await;
    world.advances_clock(TimeDelta::minutes(31));
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(world.count(COUNTERS).await, 0, "a counter at zero is removed");
    let kept = "SELECT COUNT(*) FROM bookings WHERE held_network IS NOT NULL";
    assert_eq!(world.count(kept).await, 0, "a network is kept while its booking is unpaid");
    // Paid after it had expired: it is paid, so it does not count.
    world.pays(&held[4]).await;
    assert_eq!(world.looks_up(&held[4]).await["status"], "paid");
    assert_eq!(world.count(COUNTERS).await, 0);
    for n in 9..14 {
        book(n).await.ok();
    }
    book(14).await.is(409, "too_many_holds");
    assert_invariants(&world).await;
}

async fn a_guest_charters_two_boats_for_ten_minutes(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    let asks =
        (0..6).map(|n| world.books_from("203.0.113.7", charter(&sailings[n], 3, &guest_email(n))));
    let answers = join_all(asks).await;
    let held = answers.iter().find(|answer| answer.status == 200).unwrap();
    assert_eq!(held.body["data"]["expires_at"], "2026-11-15T03:10:00Z");
    assert_eq!(count_sold(answers), 2);
    // Seats can still be had, and other networks can charter.
    world.books_from("203.0.113.7", order(&sailings[6], 1, &guest_email(6))).await.ok();
    world.books_from("203.0.113.8", charter(&sailings[7], 3, &guest_email(7))).await.ok();
    assert_invariants(&world).await;
    world.advances_clock(TimeDelta::minutes(10));
    dermaga::bookings::expire(&world.app).await.unwrap();
    world.books_from("203.0.113.7", charter(&sailings[8], 3, &guest_email(8))).await.ok();
    let partner = &sailings[9].partner;
    let call = world.post("/v1/booking/", charter(&sailings[9], 3, &guest_email(9))).by(partner);
    assert_eq!(call.send().await.ok()["expires_at"], "2026-11-15T03:40:00Z");
    // Where all holds are shorter, a charter's is too; without rate limits it is not longer.
    let world = world
        .restarts_with(|config| {
            config.booking_hold_seconds = 300;
        })
        .await;
    let booked = world.books(charter(&sailings[10], 3, &guest_email(10))).await.ok();
    assert_eq!(booked["expires_at"], "2026-11-15T03:05:00Z");
    let world = world.restarts_with(|_| {}).await;
    let booked = world.books(charter(&sailings[11], 3, &guest_email(11))).await.ok();
    assert_eq!(booked["expires_at"], "2026-11-15T03:10:00Z");
}

async fn staff_and_partners_are_not_limited(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    let admin = world.admin().await;
    for (n, sailing) in sailings.iter().enumerate() {
        let who = if n % 2 == 0 { &admin } else { &sailing.partner };
        let call = world.post("/v1/booking/", order(sailing, 1, "sari@example.com"));
        call.by(who).send().await.ok();
    }
    assert_eq!(world.count(COUNTERS).await, 0);
    world.books(order(&sailings[0], 1, "sari@example.com")).await.ok();
    assert_eq!(world.count(COUNTERS).await, 2);
    assert_invariants(&world).await;
}

async fn without_rate_limits_nothing_is_counted(world: World) {
    let sailings = sailings_of_today(&world).await;
    let (seats, boats) = sailings.split_at(12);
    for sailing in seats {
        world.books(order(sailing, 1, "sari@example.com")).await.ok();
    }
    for sailing in boats.iter().take(4) {
        world.books(charter(sailing, 3, "sari@example.com")).await.ok();
    }
    assert_eq!(world.count(COUNTERS).await, 0);
}

async fn a_refused_sale_counts_nothing(world: World) {
    let world = world.with(enable_rate_limit).await;
    let sailing = world.sailing().await;
    let network = "203.0.113.7";
    world.books_from(network, order(&sailing, 28, &guest_email(0))).await.ok();
    for n in 1..12 {
        let answer = world.books_from(network, order(&sailing, 3, &guest_email(n))).await;
        answer.is(409, "sold_out");
    }
    // With a key the sale is in a transaction with the kept answer.
    let keyed = |key: &str, order: Value| {
        world
            .post("/v1/booking/", order)
            .header("x-forwarded-for", network)
            .header("idempotency-key", key)
            .send()
    };
    keyed("k1", order(&sailing, 1, &guest_email(0))).await.ok();
    keyed("k1", order(&sailing, 1, &guest_email(0))).await.ok();
    let counted = "SELECT CAST(SUM(held) AS BIGINT) FROM unpaid_holds WHERE kind = 'network'";
    assert_eq!(world.count(counted).await, 2);
    assert_invariants(&world).await;
}

/// Sales, payments, cancellations, expiry and cancelled sailings change the same counters.
async fn all_that_frees_a_hold_at_once_is_counted(world: World) {
    type Step<'a> = Pin<Box<dyn Future<Output = Answer> + 'a>>;
    let world = world.with(enable_rate_limit).await;
    let sailings = sailings_of_today(&world).await;
    let network = |n: usize| format!("203.0.113.{}", n % 8);
    let networks: Vec<_> = (0..48).map(network).collect();
    let sell = |n: usize| {
        let order = order(&sailings[n % sailings.len()], 1, &guest_email(n % 12));
        world.books_from(&networks[n], order)
    };
    let held: Vec<_> =
        join_all((0..48).map(sell)).await.into_iter().map(|answer| answer.ok()).collect();
    assert_invariants(&world).await;
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (n, booking) in held.iter().enumerate() {
        steps.push(match n % 3 {
            0 => Box::pin(world.receives_callback(booking, "settlement", "t-1")),
            1 => {
                let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
                let email = &booking["contact"]["email"];
                let body = json!({ "reason": "", "code": booking["code"], "email": email });
                let call = world.post(&path, body).header("x-forwarded-for", &networks[n]);
                Box::pin(call.send_with_retry())
            }
            _ => Box::pin(sell(n)),
        });
    }
    for sailing in &sailings[..4] {
        steps.push(Box::pin(world.cancels_sailing(sailing, &sailing.partner)));
    }
    for sailing in &sailings[4..6] {
        steps.push(Box::pin(world.closes_manifest(sailing)));
    }
    for answer in join_all(steps).await {
        assert!(answer.status < 500, "{}", answer.body);
    }
    assert_invariants(&world).await;
    world.advances_clock(TimeDelta::minutes(31));
    let (one, two) =
        tokio::join!(dermaga::bookings::expire(&world.app), dermaga::bookings::expire(&world.app),);
    one.unwrap();
    two.unwrap();
    assert_invariants(&world).await;
    assert_eq!(world.count(COUNTERS).await, 0);
}
