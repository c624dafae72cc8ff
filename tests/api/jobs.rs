//! Background jobs: one bad row does not stop the others, every job is monitored.

use std::time::Duration;

use chrono::TimeDelta;
use dermaga::{
    bookings, doctor, invariants,
    kernel::{
        error::Error,
        ids::{self, Uuid},
        set_aside::{self, RowJob},
    },
    reports,
    settlements::run_schedules,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    harbour::{Sailing, onboarding_body, order},
    world::World,
};

crate::on_both_engines! {
    a_poisoned_booking_does_not_stop_completion,
    a_booking_that_makes_the_code_panic_does_not_stop_completion,
    a_poisoned_hold_does_not_keep_other_seats,
    a_partner_that_cannot_be_settled_does_not_stop_the_others,
    a_poisoned_move_does_not_stop_the_roll_up,
    a_transient_failure_sets_nothing_aside,
    a_sweep_that_fails_does_not_stop_the_others,
    a_stuck_job_makes_the_service_unready,
    every_job_runs_and_is_counted,
}

fn id_of(booking: &Value) -> Uuid {
    booking["id"].as_str().unwrap().parse().unwrap()
}

/// Twenty paid bookings whose boat has arrived.
async fn twenty_arrived(world: &World, sailing: &Sailing) -> Vec<Value> {
    let mut sold = Vec::new();
    for _ in 0..20 {
        sold.push(world.paid_booking(sailing, 1).await);
    }
    world.advances_clock(TimeDelta::days(3));
    sold
}

async fn count_completed(world: &World) -> i64 {
    world.count("SELECT COUNT(*) FROM bookings WHERE status = 'completed'").await
}

async fn count_set_aside(world: &World) -> i64 {
    world.count("SELECT COUNT(*) FROM set_aside").await
}

async fn assert_invariants(world: &World) {
    for question in invariants::check(world.db()).await.unwrap() {
        assert!(question.broken.is_empty(), "{}: {:?}", question.rule, question.broken);
    }
}

/// The finding of `doctor` about background jobs.
async fn doctor_finding(world: &World) -> Result<String, String> {
    let findings = doctor::examine(world.app.config.clone()).await;
    findings.into_iter().find(|finding| finding.what == "background jobs").unwrap().found
}

/// A due of its kind exists already, so that completion violates a unique constraint.
async fn poison_dues(world: &World, booking: Uuid) {
    world
        .db()
        .sql(
            "INSERT INTO partner_dues (id, partner_id, booking_id, kind, day, gross, commission,
               commission_tax, collected, net, created_at)
             SELECT $1, partner_id, id, 'sale', '2026-11-16', 0, 0, 0, 0, 0, created_at
             FROM bookings WHERE id = $2",
        )
        .bind(ids::fresh())
        .bind(booking)
        .run()
        .await
        .unwrap();
}

async fn a_poisoned_booking_does_not_stop_completion(world: World) {
    let sailing = world.sailing().await;
    let sold = twenty_arrived(&world, &sailing).await;
    let bad = id_of(&sold[3]);
    poison_dues(&world, bad).await;
    assert_eq!(bookings::complete(&world.app).await.unwrap(), 19);
    assert_eq!(count_completed(&world).await, 19);
    assert_eq!(count_set_aside(&world).await, 1);
    // It is not retried before its time, and counts as set aside from its third failure on.
    for failures in 1..=3 {
        assert_eq!(bookings::complete(&world.app).await.unwrap(), 0);
        let (count, rows) = set_aside::list(world.db(), 10).await.unwrap();
        assert_eq!(count, i64::from(failures == 3));
        assert_eq!(rows.len() as i64, count);
        if failures < 3 {
            world.advances_clock(TimeDelta::seconds(10));
            assert_eq!(bookings::complete(&world.app).await.unwrap(), 0);
        }
    }
    let counts = set_aside::counts(world.db()).await.unwrap();
    assert!(counts.contains(&(RowJob::CompleteJourneys, 1)), "{counts:?}");
    assert!(counts.contains(&(RowJob::ExpireHolds, 0)), "{counts:?}");
    let found = doctor_finding(&world).await.unwrap_err();
    assert!(found.contains("1 failed rows"), "{found}");
    assert!(found.contains(&format!("complete_journeys {bad} (3 failures since")), "{found}");
    // Others go on meanwhile, in a batch again.
    let statements = world.db().statements();
    assert_eq!(bookings::complete(&world.app).await.unwrap(), 0);
    assert!(world.db().statements() - statements <= 2, "a row set aside costs nothing meanwhile");
    // Once it is repaired it completes, and nothing is left behind.
    let repair = world.db().sql("DELETE FROM partner_dues WHERE booking_id = $1 AND gross = 0");
    assert_eq!(repair.bind(bad).run().await.unwrap(), 1);
    world.advances_clock(TimeDelta::hours(1));
    assert_eq!(bookings::complete(&world.app).await.unwrap(), 1);
    assert_eq!((count_completed(&world).await, count_set_aside(&world).await), (20, 0));
    assert_eq!(doctor_finding(&world).await.unwrap(), "no failed rows");
    assert_invariants(&world).await;
}

async fn a_booking_that_makes_the_code_panic_does_not_stop_completion(world: World) {
    let sailing = world.sailing().await;
    let sold = twenty_arrived(&world, &sailing).await;
    // Tax and the commission's tax are added up, which overflows.
    let poison = world.db().sql(
        "UPDATE bookings SET tax = tax + 1, total = total + 1,
           commission_tax = 9223372036854775807,
           partner_net = subtotal - commission - 9223372036854775807 WHERE id = $1",
    );
    poison.bind(id_of(&sold[0])).run().await.unwrap();
    assert_eq!(bookings::complete(&world.app).await.unwrap(), 19);
    assert_eq!(count_completed(&world).await, 19);
    let why = world.db().sql("SELECT last_error FROM set_aside").scalar::<String>().await.unwrap();
    assert!(why.contains("panic"), "{why}");
    // Somebody cancels it by hand: there is nothing left to complete.
    let cancel = world.db().sql("UPDATE bookings SET status = 'cancelled' WHERE id = $1");
    cancel.bind(id_of(&sold[0])).run().await.unwrap();
    world.advances_clock(TimeDelta::hours(1));
    assert_eq!(bookings::complete(&world.app).await.unwrap(), 0);
    assert_eq!(count_set_aside(&world).await, 0);
}

async fn a_poisoned_hold_does_not_keep_other_seats(world: World) {
    let sailing = world.sailing().await;
    let mut held = Vec::new();
    for n in 0..20 {
        let order = order(&sailing, 1, &format!("sari{n}@example.com"));
        held.push(world.books(order).await.ok());
    }
    // Its seats cannot be given back: the sailing would have fewer than none taken.
    let bad = id_of(&held[0]);
    let run = async |text: &'static str| world.db().sql(text).run().await.unwrap();
    run("UPDATE sailings SET capacity = 2000").await;
    let poison = world.db().sql("UPDATE bookings SET seats = 1000 WHERE id = $1");
    poison.bind(bad).run().await.unwrap();
    run("UPDATE sailings SET seats_taken = 20 WHERE seats_taken > 0").await;
    world.advances_clock(TimeDelta::hours(6));
    assert_eq!(bookings::expire(&world.app).await.unwrap(), 19);
    assert_eq!(world.seats_taken(&sailing).await, 1);
    for _ in 0..2 {
        world.advances_clock(TimeDelta::seconds(10));
        assert_eq!(bookings::expire(&world.app).await.unwrap(), 0);
    }
    let (count, rows) = set_aside::list(world.db(), 10).await.unwrap();
    assert_eq!((count, rows[0].job.as_str(), rows[0].entity_id), (1, "expire_holds", bad));
    run("UPDATE sailings SET seats_taken = 1000 WHERE seats_taken > 0").await;
    let repair = world.db().sql("UPDATE bookings SET seats = 1 WHERE id = $1");
    repair.bind(bad).run().await.unwrap();
    world.advances_clock(TimeDelta::hours(1));
    assert_eq!(bookings::expire(&world.app).await.unwrap(), 1);
    assert_eq!((world.seats_taken(&sailing).await, count_set_aside(&world).await), (0, 0));
    run("UPDATE sailings SET capacity = 30").await;
    assert_invariants(&world).await;
}

async fn a_partner_that_cannot_be_settled_does_not_stop_the_others(world: World) {
    let admin = world.admin().await;
    let body = json!({ "schedule": "daily" });
    world.post("/v1/settlements/configuration", body).by(&admin).send().await.ok();
    let mut partners = Vec::new();
    for n in 0..3 {
        let partner = world.active_partner(&format!("made{n}@bahari.id")).await;
        let (boat, route) = world.creates_published_route(&partner, &format!("GT. {n}")).await;
        let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
        let sailing = Sailing { partner: partner.clone(), boat, id };
        world.paid_booking(&sailing, 1).await;
        partners.push(world.partner_id(&partner).await.parse::<Uuid>().unwrap());
        if n == 0 {
            world.updates_onboarding(&partner, onboarding_body()).await.ok();
        }
    }
    // A value that was encrypted with an unknown key cannot be decrypted.
    let sealed = "SELECT pic_nik FROM onboardings WHERE partner_id = $1";
    let sealed: String = world.db().sql(sealed).bind(partners[0]).scalar().await.unwrap();
    let set = "UPDATE onboardings SET pic_nik = $1 WHERE partner_id = $2";
    let broken = world.db().sql(set).bind("broken".to_owned()).bind(partners[0]);
    assert_eq!(broken.run().await.unwrap(), 1);
    world.advances_clock(TimeDelta::days(2));
    assert_eq!(bookings::complete(&world.app).await.unwrap(), 3);
    assert_eq!(run_schedules(&world.app).await.unwrap(), 2);
    assert_eq!(set_aside::noted(world.db(), RowJob::SettleSchedules).await.unwrap().len(), 1);
    for _ in 0..2 {
        world.advances_clock(TimeDelta::seconds(10));
        assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    }
    let (_, rows) = set_aside::list(world.db(), 10).await.unwrap();
    assert_eq!((rows[0].job.as_str(), rows[0].entity_id), ("settle_schedules", partners[0]));
    world.db().sql(set).bind(sealed).bind(partners[0]).run().await.unwrap();
    world.advances_clock(TimeDelta::hours(1));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    assert_eq!(count_set_aside(&world).await, 0);
    assert_invariants(&world).await;
}

async fn a_poisoned_move_does_not_stop_the_roll_up(world: World) {
    let sailing = world.sailing().await;
    for _ in 0..5 {
        world.paid_booking(&sailing, 1).await;
    }
    // Not a time that can be read.
    let bad = world.count("SELECT MIN(id) FROM booking_moves").await;
    let set = "UPDATE booking_moves SET at = 'infinity' WHERE id = $1";
    world.db().sql(set).bind(bad).run().await.unwrap();
    assert_eq!(reports::roll_up(&world.app).await.unwrap(), 4);
    assert_eq!(world.count("SELECT COUNT(*) FROM booking_moves").await, 1);
    for _ in 0..2 {
        world.advances_clock(TimeDelta::seconds(10));
        assert_eq!(reports::roll_up(&world.app).await.unwrap(), 0);
    }
    let found = doctor_finding(&world).await.unwrap_err();
    let row = Uuid::from_u128(bad as u128);
    assert!(found.contains(&format!("roll_up_reports {row} (3 failures since")), "{found}");
    // What moves meanwhile is rolled up.
    world.paid_booking(&sailing, 1).await;
    assert_eq!(reports::roll_up(&world.app).await.unwrap(), 1);
    let repair = world.db().sql("UPDATE booking_moves SET at = $1 WHERE id = $2");
    repair.bind(world.now()).bind(bad).run().await.unwrap();
    world.advances_clock(TimeDelta::hours(1));
    assert_eq!(reports::roll_up(&world.app).await.unwrap(), 1);
    assert_eq!(count_set_aside(&world).await, 0);
    assert_invariants(&world).await;
}

async fn a_transient_failure_sets_nothing_aside(world: World) {
    let rows: Vec<_> = (0..5).map(|_| ids::fresh()).collect();
    let (job, now) = (RowJob::ExpireHolds, world.now());
    let busy = |id: Uuid| {
        let transient = id == rows[0] || id == rows[1];
        async move {
            match transient {
                true if id.as_bytes()[15].is_multiple_of(2) => {
                    Err(Error::Unavailable("busy".into()))
                }
                true => Err(Error::Contention("in the way".into())),
                false => Ok(true),
            }
        }
    };
    let failed = set_aside::each(world.db(), job, rows.clone(), 2, now, busy).await;
    assert!(failed.unwrap_err().is_transient());
    assert_eq!(count_set_aside(&world).await, 0);
    // A failure of the row's own is noted, and does not fail the others.
    let wrong = |id: Uuid| {
        let bad = id == rows[2];
        async move {
            assert!(!bad, "this row is bad");
            Ok(true)
        }
    };
    let done = set_aside::each(world.db(), job, rows.clone(), 2, now, wrong).await;
    assert_eq!(done.unwrap(), 4);
    assert!(set_aside::noted(world.db(), job).await.unwrap().contains(&rows[2]));
    // A transient failure of a noted row is not counted, either.
    world.advances_clock(TimeDelta::minutes(1));
    let busy = |_: Uuid| async { Err(Error::Unavailable("busy".into())) };
    assert!(set_aside::retry(world.db(), job, world.now(), busy).await.is_err());
    assert_eq!(world.count("SELECT CAST(MAX(failures) AS BIGINT) FROM set_aside").await, 1);
}

async fn a_sweep_that_fails_does_not_stop_the_others(world: World) {
    world.admin().await;
    world.advances_clock(TimeDelta::hours(9));
    let rename = "ALTER TABLE idempotency_keys RENAME TO elsewhere";
    world.db().sql(rename).run().await.unwrap();
    assert!(world.app.sweep().await.is_err());
    assert_eq!(world.count("SELECT COUNT(*) FROM sessions").await, 0);
}

async fn a_stuck_job_makes_the_service_unready(world: World) {
    world.get("/health/ready").send().await.ok();
    let job = world.app.jobs.add("stuck", Duration::from_secs(1));
    world.get("/health/ready").send().await.ok();
    let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
    job.succeeded(long_ago);
    let answer = world.get("/health/ready").send().await;
    assert!(!answer.body.to_string().contains("stuck"), "that is for the log");
    answer.is(503, "unavailable");
    world.get("/health/live").send().await.ok();
    job.succeeded(Instant::now());
    world.get("/health/ready").send().await.ok();
}

async fn every_job_runs_and_is_counted(world: World) {
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let have_run = async {
        loop {
            let jobs = world.app.jobs.all();
            if !jobs.is_empty() && jobs.iter().all(|job| job.state().runs > 0) {
                return jobs.len();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let jobs = tokio::time::timeout(Duration::from_secs(60), have_run).await.unwrap();
    assert_eq!(jobs, 32);
    world.get("/health/ready").send().await.ok();
    let (_, _, text) = world.get("/metrics").bytes().await;
    let text = String::from_utf8(text).unwrap();
    for job in ["expire_holds", "complete_journeys", "settle_schedules", "deliver_mail"] {
        for line in [
            format!("dermaga_job_runs_total{{task=\"{job}\",outcome=\"ok\"}} "),
            format!("dermaga_job_runs_total{{task=\"{job}\",outcome=\"panic\"}} 0"),
            format!("dermaga_job_last_success_timestamp_seconds{{task=\"{job}\"}} 1"),
        ] {
            assert!(text.contains(&line), "{line} in {text}");
        }
    }
    assert!(text.contains("dermaga_rows_set_aside{task=\"expire_holds\"} 0"), "{text}");
    world.app.stop();
    worker.await.unwrap();
}
