//! Departures and seats by day: the figures of all partners, which are rolled up, are those of the only
//! partner, which are counted.

use chrono::{DateTime, TimeDelta, Utc};
use dermaga::sailings;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Someone, World},
};

on_both_engines![
    figures_are_the_same_before_and_after_the_roll_up,
    a_late_sailing_is_upcoming_again,
    rolling_up_races_with_changes,
];

/// Departures of today, this month and last month, upcoming ones, and the occupancy.
async fn figures(world: &World, who: &Someone) -> Value {
    let get = async |path: &str| world.get(path).by(who).send().await.ok();
    let dashboard = get("/v1/dashboard").await;
    let statistic = get("/v1/dashboard/mitra-statistic").await;
    assert_eq!(dashboard["today"]["departures"], statistic["sailings_today"]);
    json!({
        "today": statistic["sailings_today"],
        "month": dashboard["month"]["departures"]["current"],
        "last_month": dashboard["month"]["departures"]["previous"],
        "listed": dashboard["upcoming_departures"].as_array().unwrap().len(),
        "upcoming": get("/v1/speedboats/summary").await["upcoming_sailings"],
        "occupancy": statistic["occupancy_percent"],
    })
}

/// The figures of all, which are those of the partner: as they are, rolled up and made anew.
async fn same(world: &World, sailing: &Sailing) -> Value {
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let expected = figures(world, &partner).await;
    assert_eq!(figures(world, &admin).await, expected);
    assert_invariants(world).await;
    sailings::roll_up_days(&world.app).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM sailing_moves").await, 0);
    assert_eq!(figures(world, &admin).await, expected, "rolled up");
    assert_invariants(world).await;
    sailings::rebuild_days(&world.app).await.unwrap();
    assert_eq!(figures(world, &admin).await, expected, "made anew");
    assert_invariants(world).await;
    expected
}

async fn figures_are_the_same_before_and_after_the_roll_up(world: World) {
    world.admin().await;
    let sailing = world.sailing().await;
    let all = world.count("SELECT COUNT(*) FROM sailings").await;
    let first = same(&world, &sailing).await;
    assert_eq!((&first["today"], &first["upcoming"]), (&json!(0), &json!(all)));
    assert_eq!(first["occupancy"], 0);
    let booking = world.paid_booking(&sailing, 3).await;
    assert_eq!(same(&world, &sailing).await, first, "a sale changes nothing");

    // The first one departs: before and after it is tallied.
    world.advances_clock(TimeDelta::hours(26));
    let departed = same(&world, &sailing).await;
    assert_eq!((&departed["today"], &departed["upcoming"]), (&json!(1), &json!(all - 1)));
    assert_eq!(departed["occupancy"], 10);
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE tallied").await, 1);
    // Money back for a passage gives its seats back.
    world.completes_paid_bookings().await;
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    let refunded = same(&world, &sailing).await;
    assert_eq!(refunded["occupancy"], 0);

    // Another one is cancelled.
    let next = world.sailing_of_another_day(&sailing).await;
    let path = format!("/v1/mitra/route-times/{}/cancel", next.id);
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    let cancelled = same(&world, &sailing).await;
    assert_eq!(cancelled["upcoming"], json!(all - 2));
    // The next month.
    world.advances_clock(TimeDelta::days(16));
    let later = same(&world, &sailing).await;
    assert_eq!(later["last_month"], json!(all - 1));
    assert_eq!((&later["month"], &later["upcoming"]), (&json!(0), &json!(0)));
}

async fn a_late_sailing_is_upcoming_again(world: World) {
    world.admin().await;
    let sailing = world.sailing().await;
    let departure = "SELECT MIN(departure_at) FROM sailings";
    let (at,): (DateTime<Utc>,) = world.app.db.sql(departure).one().await.unwrap();
    world.advances_clock(at - world.app.clock.now() + TimeDelta::minutes(5));
    let departed = same(&world, &sailing).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE tallied").await, 1);
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let late = json!({ "departure_time": "23:30", "reason": "Mesin rusak" });
    let path = format!("/v1/mitra/route-times/{}", sailing.id);
    world.put(&path, late).by(&partner).send().await.ok();
    let upcoming = same(&world, &sailing).await;
    let one_more = departed["upcoming"].as_i64().unwrap() + 1;
    assert_eq!(upcoming["upcoming"], json!(one_more));
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE tallied").await, 0);
}

async fn rolling_up_races_with_changes(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let bookings = async {
        for n in 0..5 {
            let order = order(&sailing, 1, &format!("tamu{n}@example.com"));
            world.post("/v1/booking/", order).by(&admin).send_with_retry().await.ok();
        }
    };
    let next = world.sailing_of_another_day(&sailing).await;
    let cancelled = async {
        let path = format!("/v1/mitra/route-times/{}/cancel", next.id);
        world.post(&path, json!({ "reason": "x" })).by(&admin).send_with_retry().await.ok();
    };
    let rolled_up = async {
        for _ in 0..10 {
            drop(sailings::roll_up_days(&world.app).await);
        }
    };
    let made_anew = async {
        for _ in 0..3 {
            drop(sailings::rebuild_days(&world.app).await);
        }
    };
    tokio::join!(bookings, cancelled, rolled_up, made_anew);
    same(&world, &sailing).await;
}
