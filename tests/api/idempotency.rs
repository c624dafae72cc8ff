//! The same request twice has one effect and one answer.

use chrono::TimeDelta;
use dermaga::kernel::{
    Error,
    idempotency::{self, Claim, Key},
    ids,
};
use serde_json::json;

use crate::{on_both_engines, world::World};

on_both_engines![
    a_repeat_gets_the_first_answer,
    another_body_or_caller_is_another_matter,
    a_repeat_that_comes_meanwhile_is_told_so,
    a_dead_claim_is_taken_over_and_its_owner_locked_out,
    a_refusal_frees_the_key,
    keys_are_kept_for_a_day,
    of_many_at_once_one_runs,
];

fn key(body: &str) -> Key {
    Key {
        caller: None,
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

fn word(result: Result<Claim, Error>) -> &'static str {
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
    assert_eq!(word(key("{}").claim(world.db(), world.now()).await), "replay");
    assert_eq!(word(key("{}").claim(world.db(), world.now()).await), "replay");
}

async fn another_body_or_caller_is_another_matter(world: World) {
    run(&world, &key("{}")).await;
    let now = world.now();
    assert_eq!(word(key("{ }").claim(world.db(), now).await), "idempotency_conflict");
    let other = Key { caller: Some(ids::fresh()), ..key("{}") };
    assert_eq!(word(other.claim(world.db(), now).await), "run");
    let other = Key { path: "/v1/booking/2".into(), ..key("{}") };
    assert_eq!(word(other.claim(world.db(), now).await), "idempotency_conflict");
    let other = Key { operation: "release_settlement", ..key("{}") };
    assert_eq!(word(other.claim(world.db(), now).await), "run");
}

async fn a_repeat_that_comes_meanwhile_is_told_so(world: World) {
    let running = key("{}").claim(world.db(), world.now()).await;
    assert_eq!(word(key("{}").claim(world.db(), world.now()).await), "idempotency_in_progress");
    assert_eq!(word(key("{ }").claim(world.db(), world.now()).await), "idempotency_conflict");
    assert_eq!(word(running), "run");
}

async fn a_dead_claim_is_taken_over_and_its_owner_locked_out(world: World) {
    let Ok(Claim::Run(slow)) = key("{}").claim(world.db(), world.now()).await else { panic!() };
    world.later(TimeDelta::seconds(61));
    run(&world, &key("{}")).await;
    let mut tx = world.db().begin().await.unwrap();
    let error = slow.keep(&mut tx, &json!({ "id": 2 })).await.unwrap_err();
    assert_eq!(error.describe().1, "idempotency_in_progress");
    drop(tx);
    assert_eq!(word(key("{}").claim(world.db(), world.now()).await), "replay");
}

async fn a_refusal_frees_the_key(world: World) {
    let Ok(Claim::Run(running)) = key("{}").claim(world.db(), world.now()).await else { panic!() };
    running.release(world.db()).await.unwrap();
    assert_eq!(word(key("{ }").claim(world.db(), world.now()).await), "run");
}

async fn keys_are_kept_for_a_day(world: World) {
    run(&world, &key("{}")).await;
    world.later(TimeDelta::hours(24) - TimeDelta::seconds(1));
    assert_eq!(word(key("{}").claim(world.db(), world.now()).await), "replay");
    world.later(TimeDelta::seconds(1));
    assert_eq!(word(key("{ }").claim(world.db(), world.now()).await), "run");
    world.later(TimeDelta::hours(24));
    assert_eq!(idempotency::sweep(world.db(), world.now()).await.unwrap(), 1);
}

async fn of_many_at_once_one_runs(world: World) {
    let mut claims = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (db, now) = (world.db().clone(), world.now());
        claims.spawn(async move { word(key("{}").claim(&db, now).await) });
    }
    let words = claims.join_all().await;
    assert_eq!(words.iter().filter(|word| **word == "run").count(), 1, "{words:?}");
    assert_eq!(words.iter().filter(|word| **word == "idempotency_in_progress").count(), 15);
}

#[test]
fn a_key_is_printable() {
    assert!(Key::parse("abc 123").is_ok());
    for bad in ["", "a\u{7f}", "é", &"x".repeat(256)] {
        assert!(Key::parse(bad).is_err(), "{bad:?}");
    }
}
