//! The same request twice has one effect and one answer.

use chrono::TimeDelta;
use dermaga::kernel::{
    Error,
    idempotency::{self, Claim, Key, Owner},
};
use serde_json::{Value, json};

use crate::{
    harbour::{order, route},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Call, World},
};

on_both_engines![
    a_repeat_gets_the_first_answer,
    a_key_is_bound_to_body_and_caller,
    a_concurrent_repeat_is_refused,
    an_expired_claim_is_taken_over,
    a_refusal_frees_the_key,
    keys_are_kept_for_a_day,
    of_many_at_once_one_runs,
    guests_with_the_same_key_are_separate,
    a_route_is_planned_once,
    a_webhook_is_created_once_and_its_secret_is_stored_encrypted,
    a_booking_is_cancelled_and_refunded_once,
    a_booking_is_moved_once,
    a_repeat_resolves_a_commit_without_an_answer,
];

fn guest(email: &str) -> Owner {
    Owner::guest(&email.parse().unwrap())
}

fn key(body: &str) -> Key {
    Key {
        caller: guest("sari@example.com"),
        operation: "create_booking",
        key: "k1".into(),
        path: "/v1/booking".into(),
        body: body.into(),
    }
}

async fn run(world: &World, key: &Key) {
    let Ok(Claim::Run(running)) = key.claim(world.db(), world.now()).await else { panic!("runs") };
    let mut tx = world.db().begin().await.unwrap();
    running.keep(&mut tx, &json!({ "id": 1 })).await.unwrap();
    tx.commit().await.unwrap();
}

fn outcome(result: Result<Claim, Error>) -> &'static str {
    match result {
        Ok(Claim::Run(_)) => "run",
        Ok(Claim::Replay(answer)) => {
            assert_eq!(answer, json!({ "id": 1 }));
            "replay"
        }
        Err(error) => error.describe().1,
    }
}

async fn a_repeat_gets_the_first_answer(world: World) {
    run(&world, &key("{}")).await;
    assert_eq!(outcome(key("{}").claim(world.db(), world.now()).await), "replay");
    assert_eq!(outcome(key("{}").claim(world.db(), world.now()).await), "replay");
}

async fn a_key_is_bound_to_body_and_caller(world: World) {
    run(&world, &key("{}")).await;
    let now = world.now();
    assert_eq!(outcome(key("{ }").claim(world.db(), now).await), "idempotency_conflict");
    let other = Key { caller: guest("putu@example.com"), ..key("{}") };
    assert_eq!(outcome(other.claim(world.db(), now).await), "run");
    let other = Key { path: "/v1/booking/2".into(), ..key("{}") };
    assert_eq!(outcome(other.claim(world.db(), now).await), "idempotency_conflict");
    let other = Key { operation: "release_settlement", ..key("{}") };
    assert_eq!(outcome(other.claim(world.db(), now).await), "run");
}

async fn a_concurrent_repeat_is_refused(world: World) {
    let running = key("{}").claim(world.db(), world.now()).await;
    assert_eq!(outcome(key("{}").claim(world.db(), world.now()).await), "idempotency_in_progress");
    assert_eq!(outcome(key("{ }").claim(world.db(), world.now()).await), "idempotency_conflict");
    assert_eq!(outcome(running), "run");
}

async fn an_expired_claim_is_taken_over(world: World) {
    let Ok(Claim::Run(slow)) = key("{}").claim(world.db(), world.now()).await else { panic!() };
    world.advances_clock(TimeDelta::seconds(61));
    run(&world, &key("{}")).await;
    let mut tx = world.db().begin().await.unwrap();
    let error = slow.keep(&mut tx, &json!({ "id": 2 })).await.unwrap_err();
    assert_eq!(error.describe().1, "idempotency_in_progress");
    drop(tx);
    assert_eq!(outcome(key("{}").claim(world.db(), world.now()).await), "replay");
}

async fn a_refusal_frees_the_key(world: World) {
    let Ok(Claim::Run(running)) = key("{}").claim(world.db(), world.now()).await else { panic!() };
    running.release(world.db()).await;
    assert_eq!(outcome(key("{ }").claim(world.db(), world.now()).await), "run");
}

async fn keys_are_kept_for_a_day(world: World) {
    run(&world, &key("{}")).await;
    world.advances_clock(TimeDelta::hours(24) - TimeDelta::seconds(1));
    assert_eq!(outcome(key("{}").claim(world.db(), world.now()).await), "replay");
    world.advances_clock(TimeDelta::seconds(1));
    assert_eq!(outcome(key("{ }").claim(world.db(), world.now()).await), "run");
    world.advances_clock(TimeDelta::hours(24));
    assert_eq!(idempotency::sweep(world.db(), world.now()).await.unwrap(), 1);
}

async fn of_many_at_once_one_runs(world: World) {
    let mut claims = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (db, now) = (world.db().clone(), world.now());
        claims.spawn(async move { outcome(key("{}").claim(&db, now).await) });
    }
    let words = claims.join_all().await;
    assert_eq!(words.iter().filter(|word| **word == "run").count(), 1, "{words:?}");
    assert_eq!(words.iter().filter(|word| **word == "idempotency_in_progress").count(), 15);
}

/// Sends it twice with one key: both responses are equal, and the second is marked as a replay.
async fn send_twice<'w>(call: impl Fn() -> Call<'w>) -> Value {
    let send = async || call().header("idempotency-key", "k1").send().await;
    let first = send().await;
    assert_eq!(first.header("idempotency-replayed"), "");
    let first = first.ok();
    let again = send().await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok(), first);
    first
}

async fn guests_with_the_same_key_are_separate(world: World) {
    let sailing = world.sailing().await;
    let book = async |email: &str| -> Answer {
        let order = order(&sailing, 1, email);
        world.post("/v1/booking/", order).header("idempotency-key", "k1").send().await
    };
    let sari = book("sari@example.com").await.ok();
    let putu = book("putu@example.com").await.ok();
    assert_ne!(sari["code"], putu["code"]);
    assert_eq!(book("sari@example.com").await.ok(), sari);
    assert_eq!(book("putu@example.com").await.ok(), putu);
    assert_eq!(world.seats_taken(&sailing).await, 2);
}

async fn a_route_is_planned_once(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let plan = route(&world.adds_boat(&partner, "GT. 1").await);
    send_twice(|| world.post("/v1/mitra/speedboat-routes/", plan.clone()).by(&partner)).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM routes").await, 1);
    let mut other = plan.clone();
    other["price"] = json!(1_000);
    let call = world.post("/v1/mitra/speedboat-routes/", other).by(&partner);
    call.header("idempotency-key", "k1").send().await.is(409, "idempotency_conflict");
}

async fn a_webhook_is_created_once_and_its_secret_is_stored_encrypted(world: World) {
    let admin = world.admin().await;
    let body = json!({ "url": "https://mitra.example/hook", "events": ["booking.paid"] });
    let made = send_twice(|| world.post("/v1/webhooks", body.clone()).by(&admin)).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM webhooks").await, 1);
    let secret = made["secret"].as_str().unwrap();
    assert!(!world.all_stored_data().await.contains(secret), "a kept answer is sealed");
    // Another person's key is another key.
    let other = world.admin_with_email("ayu@dermaga.test").await;
    let call = world.post("/v1/webhooks", body).by(&other).header("idempotency-key", "k1");
    assert_ne!(call.send().await.ok()["id"], made["id"]);
}

async fn a_booking_is_cancelled_and_refunded_once(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["passengers"][0]["identity_type"] = json!("passport");
    wanted["passengers"][0]["identity_number"] = json!("X7654321");
    let booking = world.books(wanted).await.ok();
    world.pays(&booking).await;
    let path = |last: &str| format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap());
    let body = json!({ "reason": "", "code": booking["code"], "email": "sari@example.com" });
    let cancelled = send_twice(|| world.post(&path("cancel"), body.clone())).await;
    assert_eq!(cancelled["status"], "refund_pending");
    assert_eq!(cancelled["passengers"][0]["identity_number"], "X7654321");
    // The stored answer is not returned to a guest with wrong credentials.
    let stranger = json!({ "reason": "", "code": "DMG-AAAAAAAA", "email": "sari@example.com" });
    let call = world.post(&path("cancel"), stranger).header("idempotency-key", "k1");
    call.send().await.is(404, "not_found");
    // Without the key the repeat is told that it is cancelled already.
    assert_eq!(world.post(&path("cancel"), body).send().await.status, 409);
    let body = json!({ "reference": "BCA-1" });
    let refunded = send_twice(|| world.post(&path("refund"), body.clone()).by(&admin)).await;
    assert_eq!(refunded["status"], "refunded");
    assert!(!world.all_stored_data().await.contains("X7654321"), "kept answers are sealed");
    assert_invariants(&world).await;
}

async fn a_booking_is_moved_once(world: World) {
    let sailing = world.sailing().await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let path = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
    let body = json!({
        "route_time_id": dear.id, "code": booking["code"], "email": "sari@example.com",
    });
    let moved = send_twice(|| world.post(&path, body.clone())).await;
    assert!(moved["reschedule"]["payment"]["redirect_url"].is_string());
    // By the partner, who pays nothing for it.
    let second = world.paid_booking(&sailing, 1).await;
    let other = world.another_sailing(&sailing, "GT. 3", 150_000).await;
    let path = format!("/v1/booking/{}/reschedule", second["id"].as_str().unwrap());
    let body = json!({ "route_time_id": other.id });
    let moved = send_twice(|| world.post(&path, body.clone()).by(&sailing.partner)).await;
    assert_eq!(moved["route_time_id"], json!(other.id));
    assert_eq!(world.count("SELECT COUNT(*) FROM reschedules").await, 2);
    assert_invariants(&world).await;
}

/// The server ends the connection in the middle of the COMMIT.
async fn a_repeat_resolves_a_commit_without_an_answer(world: World) {
    if world.db().engine() != "postgres" {
        return;
    }
    let sailing = world.sailing().await;
    for statement in [
        "CREATE FUNCTION cut() RETURNS TRIGGER LANGUAGE plpgsql AS $$
         BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON bookings DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION cut()",
    ] {
        world.db().sql(statement).run().await.unwrap();
    }
    let wanted = order(&sailing, 1, "sari@example.com");
    let keyed = || world.post("/v1/booking/", wanted.clone()).header("idempotency-key", "k1");
    // In a transaction, and as a statement of its own.
    for call in [keyed(), world.post("/v1/booking/", wanted.clone())] {
        let answer = call.send().await;
        assert_eq!(answer.header("retry-after"), "", "it is not to be repeated blindly");
        answer.is(503, "outcome_unknown");
    }
    world.db().sql("DROP TRIGGER cut ON bookings").run().await.unwrap();
    let booking = keyed().send().await.ok();
    assert_eq!(keyed().send().await.ok(), booking);
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
    assert_invariants(&world).await;
}

#[test]
fn a_key_is_printable() {
    assert!(Key::parse("abc 123").is_ok());
    for bad in ["", "a\u{7f}", "é", &"x".repeat(256)] {
        assert!(Key::parse(bad).is_err(), "{bad:?}");
    }
}
