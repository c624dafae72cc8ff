//! The outbox delivers every item at least once.

use chrono::TimeDelta;
use dermaga::kernel::{
    ids,
    outbox::{self, Queue},
    set_aside,
};
use serde_json::json;

use crate::{on_both_engines, world::World};

on_both_engines![
    an_item_exists_only_if_its_transaction_does,
    an_item_is_claimed_by_one_at_a_time,
    an_expired_lease_is_claimed_again,
    a_lane_is_delivered_in_order,
    items_with_high_priority_are_claimed_first,
    a_claim_is_fast_on_a_long_queue,
    a_failed_item_is_retried_and_becomes_a_dead_letter,
    unknown_topics_are_kept_for_a_newer_version,
    the_worker_wakes_up_by_itself,
    the_backlog_of_each_queue_is_measured,
];

async fn put(world: &World, topic: &'static str) {
    let mut tx = world.db().begin().await.unwrap();
    outbox::put(&mut tx, Queue::Mail, topic, &json!({ "n": 1 }), world.now()).await.unwrap();
    tx.commit().await.unwrap();
}

async fn claim(world: &World) -> Vec<outbox::Item> {
    outbox::claim(world.db(), Queue::Mail, world.now(), 10).await.unwrap()
}

async fn an_item_exists_only_if_its_transaction_does(world: World) {
    let mut tx = world.db().begin().await.unwrap();
    outbox::put(&mut tx, Queue::Mail, "x", &json!({}), world.now()).await.unwrap();
    drop(tx);
    assert_eq!(claim(&world).await.len(), 0);
    put(&world, "x").await;
    assert_eq!(claim(&world).await.len(), 1);
}

async fn an_item_is_claimed_by_one_at_a_time(world: World) {
    for _ in 0..20 {
        put(&world, "x").await;
    }
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (db, now) = (world.db().clone(), world.now());
        workers.spawn(async move { outbox::claim(&db, Queue::Mail, now, 5).await.unwrap() });
    }
    let mut claimed: Vec<_> =
        workers.join_all().await.into_iter().flatten().map(|i| i.id).collect();
    // On PostgreSQL two workers may select the same rows, and one of them gets fewer.
    claimed.extend(
        outbox::claim(world.db(), Queue::Mail, world.now(), 20).await.unwrap().iter().map(|i| i.id),
    );
    assert_eq!(claimed.len(), 20);
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), 20);
}

async fn an_expired_lease_is_claimed_again(world: World) {
    put(&world, "x").await;
    let first = claim(&world).await.pop().unwrap();
    world.advances_clock(TimeDelta::seconds(59));
    assert_eq!(claim(&world).await.len(), 0);
    world.advances_clock(TimeDelta::seconds(1));
    let second = claim(&world).await.pop().unwrap();
    assert_eq!((first.id, second.attempts), (second.id, 2));

    // Whoever lost the lease can no longer finish it.
    let mut tx = world.db().begin().await.unwrap();
    let (id, done) = (first.id, async |tx: &mut _, item| outbox::done_all(tx, &[item]).await);
    assert!(done(&mut tx, first).await.unwrap().is_empty());
    assert_eq!(done(&mut tx, second).await.unwrap(), [id]);
    tx.commit().await.unwrap();
    world.advances_clock(TimeDelta::days(1));
    assert_eq!(claim(&world).await.len(), 0);
}

async fn a_lane_is_delivered_in_order(world: World) {
    let about = ids::fresh();
    for n in 0..3 {
        let mut tx = world.db().begin().await.unwrap();
        outbox::put_about(&mut tx, about, "x", &json!({ "n": n }), world.now()).await.unwrap();
        tx.commit().await.unwrap();
    }
    let events = async || outbox::claim(world.db(), Queue::Event, world.now(), 10).await.unwrap();
    // Of many concurrent claims one gets the first item, and none gets the items behind it.
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (db, now) = (world.db().clone(), world.now());
        workers.spawn(async move { outbox::claim(&db, Queue::Event, now, 10).await.unwrap() });
    }
    let mut claimed: Vec<_> = workers.join_all().await.into_iter().flatten().collect();
    let first = claimed.pop().unwrap();
    assert!(claimed.is_empty());
    assert_eq!(first.payload["n"], 0);
    assert!(events().await.is_empty(), "it is still being told");
    outbox::done(world.db(), &first).await.unwrap();

    // A dead letter does not block the next item.
    let mut second = events().await.pop().unwrap();
    assert_eq!(second.payload["n"], 1);
    second.attempts = 1_000;
    outbox::failed(world.db(), &second, "no", world.now()).await.unwrap();
    let third = events().await;
    assert_eq!(third.len(), 1);
    assert_eq!(third[0].payload["n"], 2);
}

async fn items_with_high_priority_are_claimed_first(world: World) {
    let letter = |_| outbox::New {
        topic: "mail.letter",
        payload: json!({}),
        lane: None,
        due_at: world.now(),
        queue: Queue::Mail,
        after: None,
    };
    let rush: Vec<_> = (0..30).map(letter).collect();
    let mut tx = world.db().begin().await.unwrap();
    outbox::put_many(&mut tx, &rush, world.now()).await.unwrap();
    tx.commit().await.unwrap();
    world.advances_clock(TimeDelta::minutes(5));
    put(&world, "account.password_forgotten").await;
    let next = outbox::claim(world.db(), Queue::Mail, world.now(), 1).await.unwrap();
    assert_eq!(next[0].topic, "account.password_forgotten");
}

/// A plan that was cached for an empty table would scan a full one for each of its rows, and exceed
/// the time limit of a statement.
async fn a_claim_is_fast_on_a_long_queue(world: World) {
    let events =
        async || outbox::claim(world.db(), Queue::Event, world.now(), 2_000).await.unwrap();
    let rush = async |lanes: std::ops::Range<usize>, payload: &str| {
        let event = |n: usize| outbox::New {
            topic: "x",
            payload: payload.into(),
            lane: Some(format!("booking {n}")),
            due_at: world.now(),
            queue: Queue::Event,
            after: None,
        };
        let rush: Vec<_> = lanes.map(event).collect();
        let mut tx = world.db().begin().await.unwrap();
        outbox::put_many(&mut tx, &rush, world.now()).await.unwrap();
        tx.commit().await.unwrap();
        world.advances_clock(TimeDelta::seconds(1));
    };
    if world.db().engine() == "postgres" {
        world.db().sql("VACUUM ANALYZE outbox").run().await.unwrap();
    }
    for n in 0..8 {
        rush(n..n + 1, "quiet").await;
        assert_eq!(events().await.len(), 1);
    }
    rush(8..15_000, "first").await;
    rush(8..15_000, "second").await;
    for _ in 0..3 {
        let claimed = events().await;
        assert_eq!(claimed.len(), 2_000);
        assert!(claimed.iter().all(|item| item.payload == "first"));
    }
}

async fn a_failed_item_is_retried_and_becomes_a_dead_letter(world: World) {
    // Not the payload of a letter.
    put(&world, "mail.letter").await;
    let mut tries = 0;
    let started = world.now();
    while world.count("SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL").await == 1 {
        tries += world.app.deliver_due().await.unwrap();
        world.advances_clock(TimeDelta::minutes(10));
    }
    assert_eq!(tries, 16);
    assert!(world.now() - started < TimeDelta::days(2));
    let why: String = world.db().sql("SELECT last_error FROM outbox").scalar().await.unwrap();
    assert!(why.contains("missing field"), "{why}");
}

async fn unknown_topics_are_kept_for_a_newer_version(world: World) {
    let sailing = world.sailing().await;
    world.delivers_outbox().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let id: ids::Uuid = booking["id"].as_str().unwrap().parse().unwrap();
    // An event and a letter of a newer version; a known event waits behind the first.
    let mut tx = world.db().begin().await.unwrap();
    outbox::put_about(&mut tx, id, "booking.upgraded", &json!({ "seat": 7 }), world.now())
        .await
        .unwrap();
    let known = json!({ "booking_id": id });
    outbox::put_about(&mut tx, id, "booking.refunded", &known, world.now()).await.unwrap();
    let letter = json!({ "event": "booking.upgraded", "news": { "seat": 7 } });
    outbox::put(&mut tx, Queue::Mail, "mail.letter", &letter, world.now()).await.unwrap();
    tx.commit().await.unwrap();
    for _ in 0..40 {
        world.app.deliver_due().await.unwrap();
        world.advances_clock(TimeDelta::hours(1));
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, 3, "nothing is lost");
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL").await, 0);
    let (count, rows) = set_aside::list(world.db(), 10).await.unwrap();
    assert_eq!(count, 2);
    assert!(rows.iter().all(|row| row.job == "deliver_outbox"), "{rows:?}");
    assert!(rows.iter().any(|row| row.last_error.contains("booking.upgraded")), "{rows:?}");
    // The newer version knows the event; here it is played by one that is known.
    world
        .db()
        .sql("UPDATE outbox SET topic = 'booking.paid', payload = $1 WHERE topic = $2")
        .bind(known)
        .bind("booking.upgraded")
        .run()
        .await
        .unwrap();
    world.advances_clock(TimeDelta::hours(2));
    world.delivers_outbox().await;
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, 1, "the letter");
    let (count, _) = set_aside::list(world.db(), 10).await.unwrap();
    assert_eq!(count, 1, "the note of what was delivered is gone");
}

async fn the_worker_wakes_up_by_itself(world: World) {
    world.partner("made@bahari.id").await;
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let body = json!({ "email": "made@bahari.id" });
    world.post("/auth/forgot-password", body).send().await.ok();
    while world.letters_to("made@bahari.id").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    worker.abort();
}

async fn the_backlog_of_each_queue_is_measured(world: World) {
    put(&world, "mail.one").await;
    put(&world, "mail.two").await;
    let created = world.now();
    world.advances_clock(TimeDelta::minutes(7));
    let mail = async || {
        let all = outbox::backlog(world.db(), world.now()).await.unwrap();
        assert_eq!(all.len(), Queue::ALL.len());
        let is_empty = |one: &outbox::Backlog| (one.due, one.due_since, one.dead) == (0, None, 0);
        assert!(all.iter().filter(|one| one.queue != Queue::Mail).all(is_empty), "{all:?}");
        all.into_iter().find(|one| one.queue == Queue::Mail).unwrap()
    };
    let backlog = mail().await;
    assert_eq!((backlog.due, backlog.dead), (2, 0));
    assert_eq!(backlog.due_since, Some(created), "high priority does not make it older");
    world.app.metrics.outbox(&[backlog], world.now());
    let text = world.app.metrics.text(world.db());
    assert!(text.contains("dermaga_outbox_delay_seconds{queue=\"mail\"} 420"), "{text}");
    // What is claimed is not due, and what was given up is counted apart.
    outbox::claim(world.db(), Queue::Mail, world.now(), 1).await.unwrap();
    assert_eq!(mail().await.due, 1);
    let dead = world.db().sql("UPDATE outbox SET dead_at = $1").bind(world.now());
    dead.run().await.unwrap();
    let backlog = mail().await;
    assert_eq!((backlog.due, backlog.due_since, backlog.dead), (0, None, 2));
}
