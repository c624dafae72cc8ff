//! Lookups by guests. What is kept of them is never older than what is stored.

use chrono::TimeDelta;
use dermaga::kernel::{access::Rule::*, ids::Uuid};
use serde_json::{Value, json};

use crate::{harbour::order, on_both_engines, world::World};

on_both_engines![
    a_repeated_lookup_reads_one_row,
    a_lookup_shows_every_change_at_once,
    what_is_kept_opens_for_nobody_else,
    a_lookup_shows_the_new_name_of_a_boat,
    every_change_raises_the_revision,
];

impl World {
    /// Another process on the same database; on SQLite there is only this one.
    async fn other_process(&self) -> Option<World> {
        match self.db().engine() {
            "sqlite" => None,
            _ => Some(self.second_process().await),
        }
    }

    async fn revision(&self, booking: &Value) -> i64 {
        let id: Uuid = booking["id"].as_str().unwrap().parse().unwrap();
        let revision = self.db().sql("SELECT revision FROM bookings WHERE id = $1").bind(id);
        revision.scalar().await.unwrap()
    }

    /// The status of a lookup with these credentials.
    async fn opens(&self, booking: &Value, code: &str, email: &str) -> u16 {
        let id = booking["id"].as_str().unwrap();
        self.get(&format!("/v1/booking/{id}?code={code}&email={email}")).send().await.status
    }
}

fn path(booking: &Value, last: &str) -> String {
    format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap())
}

async fn a_repeated_lookup_reads_one_row(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    let reads = async || {
        let before = world.db().statements();
        let shown = world.looks_up(&booking).await;
        (world.db().statements() - before, shown)
    };
    let (first, shown) = reads().await;
    assert_eq!((first, &shown), (2, &booking));
    // On SQLite nobody else commits, so the service knows that nothing was.
    let unchanged = if world.db().engine() == "sqlite" { 0 } else { 1 };
    assert_eq!(reads().await, (unchanged, shown.clone()));
    // A change of another booking.
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    assert_eq!(reads().await, (1, shown.clone()));
    assert_eq!(reads().await, (unchanged, shown));
    // A change of this one makes the next lookup read everything.
    world.pays(&booking).await;
    let (again, paid) = reads().await;
    assert_eq!((again, &paid["status"]), (2, &json!("paid")));
    assert_eq!(reads().await, (unchanged, paid));
}

async fn a_lookup_shows_every_change_at_once(world: World) {
    let sailing = world.sailing().await;
    let other = world.other_process().await;
    let other = other.as_ref().unwrap_or(&world);
    let booking = world.books(order(&sailing, 3, "sari@example.com")).await.ok();
    // Both processes keep what they have shown.
    let seen = async || {
        let shown = world.looks_up(&booking).await;
        assert_eq!(other.looks_up(&booking).await, shown);
        assert_eq!(world.looks_up(&booking).await, shown);
        shown
    };
    assert_eq!(seen().await, booking);

    other.pays(&booking).await;
    let paid = seen().await;
    assert_eq!((&paid["status"], &paid["payment"]["method"]), (&json!("paid"), &json!("qris")));
    assert!(paid["passengers"][0]["ticket_code"].is_string());

    let guest = |mut body: Value| {
        body["code"] = booking["code"].clone();
        body["email"] = booking["contact"]["email"].clone();
        body
    };
    let id = &booking["passengers"][0]["id"];
    let names = guest(json!({ "passengers": [{ "id": id, "name": "Komang" }] }));
    world.put(&path(&booking, "passengers"), names).send_with_retry().await.ok();
    assert_eq!(seen().await["passengers"][0]["name"], "Komang");

    let fewer = guest(json!({ "reason": "x", "passenger_ids": [id] }));
    other.post(&path(&booking, "cancel"), fewer).send_with_retry().await.ok();
    let fewer = seen().await;
    assert_eq!(fewer["qty"], 2);
    let part = fewer["owed"].as_i64().unwrap();
    assert!(part > 0);

    let cancel = guest(json!({ "reason": "x" }));
    world.post(&path(&booking, "cancel"), cancel).send_with_retry().await.ok();
    let cancelled = seen().await;
    let all = cancelled["owed"].as_i64().unwrap();
    assert_eq!(cancelled["status"], "refund_pending");
    assert!(all > part);

    let clerk = world.staff("ayu@dermaga.test", &[BookingsRead, BookingsWrite]).await;
    let refunds = world.get("/v1/refunds").by(&clerk).send().await.ok();
    for (paid_back, refund) in refunds.as_array().unwrap().iter().enumerate() {
        let pay = format!("/v1/refunds/{}/pay", refund["id"].as_str().unwrap());
        let by = json!({ "by": "bank", "reference": format!("B-{paid_back}") });
        world.post(&pay, by).by(&clerk).send_with_retry().await.ok();
        assert!(seen().await["owed"].as_i64() < Some(all));
    }
    let refunded = seen().await;
    assert_eq!((&refunded["status"], &refunded["owed"]), (&json!("refunded"), &json!(0)));
    assert_eq!(refunded["payment"]["status"], "refunded");
}

async fn what_is_kept_opens_for_nobody_else(world: World) {
    let sailing = world.sailing().await;
    let other = world.other_process().await;
    let other = other.as_ref().unwrap_or(&world);
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let foreign = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    let (code, wrong) = (booking["code"].as_str().unwrap(), foreign["code"].as_str().unwrap());
    let email = "sari@example.com";
    // Before and after it is kept.
    for _ in 0..2 {
        assert_eq!(world.opens(&booking, wrong, email).await, 404);
        assert_eq!(world.opens(&booking, code, "putu@example.com").await, 404);
        assert_eq!(world.opens(&booking, "", email).await, 404);
        assert_eq!(world.opens(&booking, code, "").await, 404);
        assert_eq!(world.opens(&booking, &code.to_lowercase(), email).await, 200);
        assert_eq!(other.opens(&booking, code, email).await, 200);
    }
    // A replaced contact does not read it any more, in no process.
    let contact = json!({ "name": "Putu", "email": "putu@example.com", "phone": "081234567891" });
    let changed = world.put(&path(&booking, "contact"), contact).by(&sailing.partner);
    changed.send_with_retry().await.ok();
    for process in [&world, other] {
        assert_eq!(process.opens(&booking, code, email).await, 404);
        assert_eq!(process.opens(&booking, code, "putu@example.com").await, 200);
    }
}

async fn a_lookup_shows_the_new_name_of_a_boat(world: World) {
    let sailing = world.sailing().await;
    let other = world.other_process().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.looks_up(&booking).await;
    let boat = format!("/v1/speedboats/{}", sailing.boat);
    if let Some(other) = &other {
        other.looks_up(&booking).await;
    }
    let mut renamed = crate::harbour::boat("GT. 1");
    renamed["name"] = json!("Segara Baru");
    world.put(&boat, renamed).by(&sailing.partner).send_with_retry().await.ok();
    assert_eq!(world.looks_up(&booking).await["sailing"]["speedboat"]["name"], "Segara Baru");
    if let Some(other) = &other {
        other.advances_clock(TimeDelta::seconds(31));
        assert_eq!(other.looks_up(&booking).await["sailing"]["speedboat"]["name"], "Segara Baru");
    }
}

async fn every_change_raises_the_revision(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let id: Uuid = booking["id"].as_str().unwrap().parse().unwrap();
    let mut before = world.revision(&booking).await;
    assert_eq!(before, 0);
    for (statement, raises) in [
        ("UPDATE bookings SET note = 'x' WHERE id = $1", true),
        // A lock.
        ("UPDATE bookings SET updated_at = updated_at WHERE id = $1", true),
        ("UPDATE payments SET redirect_url = 'https://pay.example' WHERE booking_id = $1", true),
        ("UPDATE payments SET leased_until = created_at WHERE booking_id = $1", false),
        ("UPDATE payments SET status = 'expired' WHERE booking_id = $1", true),
        (
            "INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount,
               leased_until, created_at)
             SELECT booking_id, booking_id, 2, provider, reference || 'x', 'pending', amount,
               leased_until, created_at FROM payments WHERE booking_id = $1",
            true,
        ),
    ] {
        world.db().sql(statement).bind(id).run().await.unwrap();
        let after = world.revision(&booking).await;
        assert_eq!(after > before, raises, "{statement}");
        before = after;
    }
}
