//! Refunds through the payment provider, which loses answers and changes its mind.

use chrono::TimeDelta;
use dermaga::config::{PaymentProvider, SendRefunds, Url, WebUrl};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    fake_provider::{EntryState, Fake, Mood},
    harbour::{Sailing, callback_body, order},
    on_both_engines,
    storms::assert_invariants,
    world::{SERVER_KEY, Someone, World},
};

on_both_engines![
    a_cancelled_booking_is_refunded_at_midtrans,
    a_cancelled_booking_is_refunded_at_xendit,
    a_lost_answer_refunds_once,
    a_provider_that_cannot_now_is_asked_later,
    a_refused_refund_waits_for_a_person,
    a_refund_that_is_declined_later_waits_for_a_person,
    a_refund_waits_for_the_bank,
    a_refund_that_is_not_found_is_not_refused,
    a_confirmed_refund_that_failed_is_owed_again,
    concurrent_jobs_call_once,
    three_processes_send_each_refund_once,
    a_notification_comes_before_the_answer,
    a_refund_of_another_amount_is_reviewed,
    what_cannot_be_refunded_waits_for_a_person,
    customers_of_a_cancelled_sailing_can_choose_first,
    refunds_are_manual_by_default,
    a_refund_on_its_way_arrives_after_the_setting_was_changed,
    a_refund_on_its_way_is_not_paid_by_hand,
    a_refused_key_stops_refunds_until_it_is_right,
    several_payments_are_refunded_one_after_the_other,
    the_simulator_decides_on_its_page,
    a_dana_payment_is_known_by_the_id_of_the_provider,
];

/// A seat.
const PRICE: i64 = 150_000;

async fn with_fake(world: World, kind: PaymentProvider) -> (World, Fake) {
    let fake = Fake::start().await;
    let url = fake.url.clone();
    let world = world
        .with(|config| {
            config.payment_provider = kind;
            config.payment_url = Some(WebUrl(Url(url)));
            config.refunds = SendRefunds::Auto;
        })
        .await;
    (world, fake)
}

/// A refund in our books: status, unpaid, last error.
async fn refunds(world: &World) -> Vec<(String, i64)> {
    let rows = world.db().sql("SELECT status, unpaid FROM refunds ORDER BY due_at, id");
    rows.all().await.unwrap()
}

async fn transfer_statuses(world: &World) -> Vec<String> {
    let rows: Vec<(String,)> =
        world.db().sql("SELECT status FROM transfers ORDER BY id").all().await.unwrap();
    rows.into_iter().map(|(status,)| status).collect()
}

impl World {
    /// A booking that was paid at the fake.
    async fn booking_paid_at(&self, fake: &Fake, sailing: &Sailing, kind: &str) -> Value {
        let booking = self.books(order(sailing, 1, "sari@example.com")).await.ok();
        let reference = booking["payment"]["reference"].as_str().unwrap();
        let transaction = match self.app.gateway().provider {
            PaymentProvider::Xendit => format!("inv-{reference}"),
            _ => format!("t-{reference}"),
        };
        fake.receives(reference, PRICE, &transaction, kind);
        let told = match self.app.gateway().provider {
            PaymentProvider::Xendit => json!({
                "id": transaction, "external_id": reference, "status": "PAID", "amount": PRICE,
                "paid_amount": PRICE, "payment_method": kind, "payment_channel": "QRIS",
            }),
            _ => {
                let mut told = callback_body(reference, PRICE, "settlement", &transaction);
                told["payment_type"] = json!(kind);
                told
            }
        };
        let call = self.post("/v1/payment/callback", told);
        call.header("x-callback-token", SERVER_KEY).send().await.ok();
        assert_eq!(self.looks_up(&booking).await["status"], "paid");
        booking
    }

    async fn cancels_as(&self, admin: &Someone, booking: &Value) {
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        // The session may have ended while the clock went on.
        let admin = &self.signs_in(&admin.email, "admin").await;
        self.post(&path, json!({ "reason": "x" })).by(admin).send().await.ok();
    }

    /// Lets the job run for some hours.
    async fn runs_transfers_for(&self, hours: i64) {
        for _ in 0..hours {
            self.app.run_transfers().await.unwrap();
            self.advances_clock(TimeDelta::hours(1));
        }
        self.app.run_transfers().await.unwrap();
    }

    /// The provider's books and ours agree, and nothing was done twice.
    async fn assert_same_money(&self, fake: &Fake) {
        assert_eq!(self.balance("gateway_clearing").await, fake.holds());
        let unpaid = "SELECT CAST(COALESCE(SUM(unpaid), 0) AS BIGINT) FROM refunds";
        assert_eq!(-self.balance("refund_payable").await, self.count(unpaid).await);
        fake.assert_each_once();
    }
}

async fn a_cancelled_booking_is_refunded(world: World, kind: PaymentProvider, channel: &str) {
    let (world, fake) = with_fake(world, kind).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, channel).await;
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    assert_eq!(refunds(&world).await, [("sent".to_owned(), PRICE)]);
    assert_eq!(transfer_statuses(&world).await, ["accepted"]);
    assert_eq!(world.looks_up(&booking).await["status"], "refund_pending");
    assert_eq!(world.balance("gateway_clearing").await, PRICE, "accepted is not received");
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(2).await;
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    assert_eq!(transfer_statuses(&world).await, ["confirmed"]);
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    assert_eq!((fake.holds(), fake.calls()), (0, 1));
    world.assert_same_money(&fake).await;
    // Nothing is left to do, and the row of the payment names the transfer.
    assert_eq!(world.app.run_transfers().await.unwrap(), 0);
    let linked = "SELECT COUNT(*) FROM refund_payments WHERE transfer_id IS NOT NULL
        AND told_id IS NOT NULL AND paid_by = 'provider' AND reference IS NOT NULL";
    assert_eq!(world.count(linked).await, 1);
}

async fn a_cancelled_booking_is_refunded_at_midtrans(world: World) {
    a_cancelled_booking_is_refunded(world, PaymentProvider::Midtrans, "qris").await;
}

async fn a_cancelled_booking_is_refunded_at_xendit(world: World) {
    a_cancelled_booking_is_refunded(world, PaymentProvider::Xendit, "QR_CODE").await;
}

async fn a_lost_answer_refunds_once(mut world: World) {
    for (kind, channel) in
        [(PaymentProvider::Midtrans, "gopay"), (PaymentProvider::Xendit, "CREDIT_CARD")]
    {
        let fake;
        (world, fake) = with_fake(world, kind).await;
        let admin = world.admin_with_email(&format!("{kind}@dermaga.test")).await;
        let partner = world.active_partner(&format!("{kind}@bahari.id")).await;
        let (boat, route) = world.creates_published_route(&partner, kind.as_str()).await;
        let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
        let sailing = Sailing { partner, boat, id };
        let before = refunds(&world).await.len();
        let held = world.balance("gateway_clearing").await;
        for mood in [
            Mood::Drops,
            Mood::FailsAfter,
            Mood::StillRuns,
            Mood::Garbage,
            Mood::NewWords,
            Mood::FailsBefore,
            Mood::Slow,
        ] {
            let booking = world.booking_paid_at(&fake, &sailing, channel).await;
            world.cancels_as(&admin, &booking).await;
            fake.takes_next(&[mood]);
            world.app.run_transfers().await.unwrap();
            assert_eq!(transfer_statuses(&world).await.last().unwrap(), "sent", "{mood:?}");
            world.advances_clock(TimeDelta::minutes(1));
            world.app.run_transfers().await.unwrap();
            assert_eq!(transfer_statuses(&world).await.last().unwrap(), "accepted", "{mood:?}");
            fake.finishes(EntryState::Done);
            world.advances_clock(TimeDelta::minutes(10));
            world.app.run_transfers().await.unwrap();
            assert_eq!(world.looks_up(&booking).await["status"], "refunded", "{mood:?}");
            assert_eq!(world.balance("gateway_clearing").await, held, "{mood:?}");
        }
        let all = refunds(&world).await;
        assert_eq!(all.len() - before, 7);
        assert!(all.iter().all(|refund| *refund == ("paid".to_owned(), 0)), "{all:?}");
        assert_eq!((fake.entries(), fake.holds()), (7, 0));
        fake.assert_each_once();
    }
}

async fn a_provider_that_cannot_now_is_asked_later(mut world: World) {
    for (kind, channel) in
        [(PaymentProvider::Midtrans, "qris"), (PaymentProvider::Xendit, "QR_CODE")]
    {
        let fake;
        (world, fake) = with_fake(world, kind).await;
        let admin = world.admin_with_email(&format!("{kind}@dermaga.test")).await;
        let partner = world.active_partner(&format!("{kind}@bahari.id")).await;
        let (boat, route) = world.creates_published_route(&partner, kind.as_str()).await;
        let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
        let sailing = Sailing { partner, boat, id };
        let booking = world.booking_paid_at(&fake, &sailing, channel).await;
        world.cancels_as(&admin, &booking).await;
        fake.takes_next(&[Mood::NoBalance, Mood::TooMany, Mood::NoBalance]);
        world.app.run_transfers().await.unwrap();
        assert_eq!(world.app.run_transfers().await.unwrap(), 0, "not at once");
        assert_eq!(refunds(&world).await.last().unwrap(), &("sent".to_owned(), PRICE));
        world.runs_transfers_for(4).await;
        fake.finishes(EntryState::Done);
        world.runs_transfers_for(8).await;
        assert_eq!(world.looks_up(&booking).await["status"], "refunded");
        assert_eq!((fake.holds(), fake.calls()), (0, 4));
        fake.assert_each_once();
    }
}

async fn a_refused_refund_waits_for_a_person(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Xendit).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "QR_CODE").await;
    world.cancels_as(&admin, &booking).await;
    fake.takes_next(&[Mood::Refuses]);
    world.runs_transfers_for(3).await;
    assert_eq!(refunds(&world).await, [("failed".to_owned(), PRICE)]);
    assert_eq!(transfer_statuses(&world).await, ["failed"]);
    assert_eq!(world.looks_up(&booking).await["status"], "refund_pending");
    assert_eq!(fake.calls(), 1, "a refusal is final");
    let told = "SELECT COUNT(*) FROM outbox WHERE topic = 'refund.failed'";
    assert_eq!(world.count(told).await, 1);
    let why = "SELECT COUNT(*) FROM refunds WHERE last_error LIKE '%REFUND_NOT_SUPPORTED%'
        AND send_at IS NULL";
    assert_eq!(world.count(why).await, 1);
    world.assert_same_money(&fake).await;
    // A person pays it by bank.
    let admin = world.signs_in(&admin.email, "admin").await;
    let path = format!("/v1/booking/{}/refund", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reference": "BCA-1" })).by(&admin).send().await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    world.assert_same_money(&fake).await;
}

async fn a_refund_that_is_declined_later_waits_for_a_person(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "credit_card").await;
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    assert_eq!(transfer_statuses(&world).await, ["accepted"]);
    fake.finishes(EntryState::Declined);
    world.runs_transfers_for(2).await;
    assert_eq!(refunds(&world).await, [("failed".to_owned(), PRICE)]);
    assert_eq!(transfer_statuses(&world).await, ["failed"]);
    world.assert_same_money(&fake).await;
}

async fn a_refund_waits_for_the_bank(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "credit_card").await;
    world.cancels_as(&admin, &booking).await;
    fake.takes_next(&[Mood::Drops]);
    world.app.run_transfers().await.unwrap();
    assert_eq!(transfer_statuses(&world).await, ["sent"]);
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let key = fake.books().refunds[0].key.clone();
    let tell = async |confirmed: bool| {
        let mut told = callback_body(reference, PRICE, "refund", &format!("t-{reference}"));
        let mut entry = json!({ "refund_key": key, "refund_amount": format!("{PRICE}.00") });
        if confirmed {
            entry["bank_confirmed_at"] = json!("2026-11-15 12:00:00");
        }
        told["refunds"] = json!([entry]);
        told["refund_amount"] = json!(format!("{PRICE}.00"));
        world.post("/v1/payment/callback", told).send_with_retry().await.ok();
    };
    for _ in 0..2 {
        tell(false).await;
        assert_eq!(transfer_statuses(&world).await, ["accepted"]);
        assert_eq!(refunds(&world).await, [("sent".to_owned(), PRICE)]);
    }
    assert_eq!(world.balance("gateway_clearing").await, PRICE, "the bank can still decline it");
    assert_eq!(world.count("SELECT COUNT(*) FROM told_refunds").await, 0);
    fake.finishes(EntryState::Done);
    for confirmed in [true, true, false] {
        tell(confirmed).await;
        assert_eq!(transfer_statuses(&world).await, ["confirmed"]);
        assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM told_refunds").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
    world.assert_same_money(&fake).await;
}

async fn a_refund_that_is_not_found_is_not_refused(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Xendit).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "QR_CODE").await;
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    assert_eq!(transfer_statuses(&world).await, ["accepted"]);
    let hidden = std::mem::take(&mut fake.books().refunds);
    world.runs_transfers_for(30).await;
    assert_eq!(transfer_statuses(&world).await, ["accepted"]);
    assert_eq!(refunds(&world).await, [("sent".to_owned(), PRICE)]);
    fake.books().refunds = hidden;
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(7).await;
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    assert_eq!(fake.calls(), 1);
    world.assert_same_money(&fake).await;
}

async fn a_confirmed_refund_that_failed_is_owed_again(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Xendit).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "QR_CODE").await;
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(1).await;
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    fake.books().refunds[0].state = EntryState::Reversed;
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let (id, key) = {
        let books = fake.books();
        (books.refunds[0].id.clone(), books.refunds[0].key.clone())
    };
    let told = json!({
        "event": "refund.failed",
        "data": {
            "id": id, "reference_id": key, "invoice_id": format!("inv-{reference}"),
            "amount": PRICE, "currency": "IDR", "status": "FAILED",
        },
    });
    // Twice at once: it comes back once.
    let tell = || {
        let call = world.post("/v1/payment/callback", told.clone());
        call.header("x-callback-token", SERVER_KEY).send_with_retry()
    };
    for answer in join_all((0..4).map(|_| tell())).await {
        answer.ok();
    }
    assert_eq!(transfer_statuses(&world).await, ["reversed"]);
    assert_eq!(refunds(&world).await, [("returned".to_owned(), PRICE)]);
    assert_eq!(world.looks_up(&booking).await["status"], "refund_pending");
    assert_eq!(world.balance("gateway_clearing").await, PRICE);
    assert_eq!(world.balance("refund_payable").await, -PRICE);
    assert_invariants(&world).await;
    // What came back can be sent again.
    let admin = world.signs_in(&admin.email, "admin").await;
    let id: dermaga::kernel::ids::Uuid =
        world.db().sql("SELECT id FROM refunds").scalar().await.unwrap();
    let retry = || world.post(&format!("/v1/refunds/{id}/retry"), json!({})).by(&admin).send();
    retry().await.ok();
    world.app.run_transfers().await.unwrap();
    assert_eq!(transfer_statuses(&world).await, ["reversed", "accepted"]);
    fake.books().refunds[1].state = EntryState::Done;
    world.runs_transfers_for(1).await;
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    assert_eq!(world.balance("gateway_clearing").await, 0);
    assert_invariants(&world).await;
}

async fn a_dana_payment_is_known_by_the_id_of_the_provider(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "dana").await;
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(2).await;
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    world.assert_same_money(&fake).await;
}

async fn concurrent_jobs_call_once(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    for _ in 0..3 {
        let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
        world.cancels_as(&admin, &booking).await;
    }
    // Some lose the race for a transaction, which is no fault.
    join_all((0..8).map(|_| world.app.run_transfers())).await;
    for _ in 0..3 {
        world.app.run_transfers().await.unwrap();
    }
    assert_eq!((fake.calls(), fake.entries()), (3, 3));
    fake.finishes(EntryState::Done);
    world.advances_clock(TimeDelta::hours(1));
    join_all((0..8).map(|_| world.app.run_transfers())).await;
    world.runs_transfers_for(2).await;
    assert_eq!(transfer_statuses(&world).await, ["confirmed"; 3]);
    assert_eq!((fake.holds(), fake.calls()), (0, 3));
    world.assert_same_money(&fake).await;
}

async fn three_processes_send_each_refund_once(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    for _ in 0..6 {
        let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
        world.cancels_as(&admin, &booking).await;
    }
    // On SQLite there is one process.
    let mut others = Vec::new();
    if world.db().engine() == "postgres" {
        for _ in 0..2 {
            let url = fake.url.clone();
            let other = world.second_process().await;
            let other = other.with(|config| {
                config.payment_provider = PaymentProvider::Midtrans;
                config.payment_url = Some(WebUrl(Url(url)));
                config.refunds = SendRefunds::Auto;
            });
            others.push(other.await);
        }
    }
    let all = || [&world].into_iter().chain(&others);
    for _ in 0..4 {
        // Some lose the race for a transaction, which is no fault.
        join_all(all().chain(all()).map(|world| world.app.run_transfers())).await;
    }
    assert_eq!((fake.calls(), fake.entries()), (6, 6));
    fake.finishes(EntryState::Done);
    for world in all() {
        world.advances_clock(TimeDelta::hours(1));
    }
    for _ in 0..4 {
        join_all(all().chain(all()).map(|world| world.app.run_transfers())).await;
    }
    world.runs_transfers_for(2).await;
    assert_eq!(transfer_statuses(&world).await, ["confirmed"; 6]);
    assert_eq!((fake.holds(), fake.calls()), (0, 6));
    world.assert_same_money(&fake).await;
    assert_invariants(&world).await;
}

async fn a_notification_comes_before_the_answer(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    world.cancels_as(&admin, &booking).await;
    fake.takes_next(&[Mood::Drops]);
    world.app.run_transfers().await.unwrap();
    assert_eq!(transfer_statuses(&world).await, ["sent"]);
    fake.finishes(EntryState::Done);
    // Twice at once.
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let told = callback_body(reference, PRICE, "refund", &format!("t-{reference}"));
    let tell = || world.post("/v1/payment/callback", told.clone()).send_with_retry();
    for answer in join_all((0..4).map(|_| tell())).await {
        answer.ok();
    }
    assert_eq!(transfer_statuses(&world).await, ["confirmed"]);
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    world.runs_transfers_for(3).await;
    tell().await.ok();
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    assert_eq!(world.count("SELECT COUNT(*) FROM payment_reviews").await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM told_refunds").await, 1);
    assert_eq!((fake.calls(), fake.holds()), (1, 0));
    world.assert_same_money(&fake).await;
}

async fn a_refund_of_another_amount_is_reviewed(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Xendit).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    for paid in [PRICE - 50_000, PRICE + 10_000] {
        let booking = world.booking_paid_at(&fake, &sailing, "QR_CODE").await;
        world.cancels_as(&admin, &booking).await;
        fake.takes_next(&[Mood::Pays(paid)]);
        world.app.run_transfers().await.unwrap();
        fake.finishes(EntryState::Done);
        world.runs_transfers_for(3).await;
        world.assert_same_money(&fake).await;
    }
    let all = refunds(&world).await;
    assert_eq!(all, [("failed".to_owned(), 50_000), ("paid".to_owned(), 0)]);
    assert_eq!(world.balance("suspense").await, 10_000);
    let review = "SELECT COUNT(*) FROM payment_reviews WHERE reason = 'unowed_refund'
        AND amount = 10000 AND resolution IS NULL";
    assert_eq!(world.count(review).await, 1);
    assert_eq!(fake.calls(), 2, "the rest is not sent without a person");
}

async fn what_cannot_be_refunded_waits_for_a_person(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let transfer = world.booking_paid_at(&fake, &sailing, "bank_transfer").await;
    world.cancels_as(&admin, &transfer).await;
    // Cash never went through the provider.
    let cash = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", cash["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&admin).send().await.ok();
    world.cancels_as(&admin, &cash).await;
    world.runs_transfers_for(2).await;
    let due = ("due".to_owned(), PRICE);
    assert_eq!(refunds(&world).await, [due.clone(), due]);
    assert_eq!(world.count("SELECT COUNT(*) FROM refunds WHERE send_at IS NOT NULL").await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM transfers").await, 0);
    assert_eq!(fake.calls(), 0);
}

async fn customers_of_a_cancelled_sailing_can_choose_first(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
    world.post(&path, json!({ "reason": "Gelombang tinggi" })).by(&admin).send().await.ok();
    world.app.run_transfers().await.unwrap();
    world.advances_clock(TimeDelta::hours(24) - TimeDelta::seconds(1));
    world.app.run_transfers().await.unwrap();
    assert_eq!((refunds(&world).await, fake.calls()), (vec![("due".into(), PRICE)], 0));
    world.advances_clock(TimeDelta::seconds(1));
    world.app.run_transfers().await.unwrap();
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(2).await;
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    world.assert_same_money(&fake).await;
}

async fn refunds_are_manual_by_default(world: World) {
    let fake = Fake::start().await;
    let world = world.with(|config| {
        config.payment_provider = PaymentProvider::Midtrans;
        config.payment_url = Some(WebUrl(Url(fake.url.clone())));
    });
    let world = world.await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    world.cancels_as(&admin, &booking).await;
    world.runs_transfers_for(2).await;
    assert_eq!((refunds(&world).await, fake.calls()), (vec![("due".into(), PRICE)], 0));
}

async fn a_refund_on_its_way_arrives_after_the_setting_was_changed(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    world.cancels_as(&admin, &booking).await;
    fake.takes_next(&[Mood::Drops]);
    world.app.run_transfers().await.unwrap();
    let url = fake.url.clone();
    let changed = world.restarts_with(|config| {
        config.payment_provider = PaymentProvider::Midtrans;
        config.payment_url = Some(WebUrl(Url(url)));
    });
    let world = changed.await;
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(2).await;
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    world.assert_same_money(&fake).await;
}

async fn a_refund_on_its_way_is_not_paid_by_hand(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    let path = format!("/v1/booking/{}/refund", booking["id"].as_str().unwrap());
    let by_hand = || world.post(&path, json!({ "reference": "BCA-1" })).by(&admin).send();
    by_hand().await.is(409, "invalid_state");
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(1).await;
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    assert_eq!(world.balance("bank").await, 0);
    world.assert_same_money(&fake).await;
}

async fn a_refused_key_stops_refunds_until_it_is_right(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    world.cancels_as(&admin, &booking).await;
    fake.books().locked_out = true;
    world.runs_transfers_for(4).await;
    assert_eq!(refunds(&world).await, [("sent".to_owned(), PRICE)]);
    let (count, rows) = dermaga::kernel::set_aside::list(world.db(), 10).await.unwrap();
    assert_eq!((count, rows[0].job.as_str()), (1, "call_provider"));
    assert!(rows[0].last_error.contains("401"), "{}", rows[0].last_error);
    fake.books().locked_out = false;
    world.runs_transfers_for(2).await;
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(6).await;
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    assert_eq!(dermaga::kernel::set_aside::list(world.db(), 10).await.unwrap().0, 0);
    world.assert_same_money(&fake).await;
}

async fn several_payments_are_refunded_one_after_the_other(world: World) {
    let (world, fake) = with_fake(world, PaymentProvider::Midtrans).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let booking = world.booking_paid_at(&fake, &sailing, "qris").await;
    // As after a move to a dearer sailing: 60,000 of the price were paid by a second payment.
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let second = format!("{reference}0");
    fake.receives(reference, PRICE - 60_000, &format!("t-{reference}"), "qris");
    fake.receives(&second, 60_000, "t-second", "qris");
    let change = "UPDATE payment_events SET amount = 90000";
    world.db().sql(change).run().await.unwrap();
    for copied in [
        "INSERT INTO payments (id, booking_id, attempt, provider, reference, status, amount, method,
           transaction_id, channel, leased_until, paid_at, created_at)
         SELECT $1, booking_id, 9, provider, $2, 'pending', 60000, method, 't-second', channel,
           leased_until, NULL, created_at FROM payments",
        "INSERT INTO payment_events (id, payment_id, provider, transaction_id, status, amount,
           method, raw, outcome, received_at)
         SELECT $1, y.id, e.provider, 't-second', e.status, 60000, e.method, e.raw, e.outcome,
           e.received_at FROM payment_events e, payments y WHERE y.reference = $2",
    ] {
        let id = dermaga::kernel::ids::fresh();
        world.db().sql(copied).bind(id).bind(second.clone()).run().await.unwrap();
    }
    world.cancels_as(&admin, &booking).await;
    world.app.run_transfers().await.unwrap();
    let sent = |fake: &Fake| fake.books().refunds.iter().map(|e| e.amount).collect::<Vec<_>>();
    assert_eq!(sent(&fake), [90_000], "the larger one first");
    fake.finishes(EntryState::Done);
    world.advances_clock(TimeDelta::hours(1));
    world.app.run_transfers().await.unwrap();
    world.runs_transfers_for(1).await;
    assert_eq!(sent(&fake), [90_000, 60_000]);
    assert_eq!(refunds(&world).await, [("sent".to_owned(), 60_000)]);
    // If the first comes back now, nobody pays what is still on its way.
    let admin = world.signs_in(&admin.email, "admin").await;
    let set = |status: &str| {
        let set = world.db().sql("UPDATE refunds SET status = $1").bind(status.to_owned());
        async { set.run().await.unwrap() }
    };
    set("returned").await;
    let id: dermaga::kernel::ids::Uuid =
        world.db().sql("SELECT id FROM refunds").scalar().await.unwrap();
    let by_hand = json!({ "by": "bank", "reference": "BCA-1" });
    let answer = world.post(&format!("/v1/refunds/{id}/pay"), by_hand).by(&admin).send().await;
    answer.is(409, "invalid_state");
    set("sent").await;
    fake.finishes(EntryState::Done);
    world.runs_transfers_for(2).await;
    assert_eq!(refunds(&world).await, [("paid".to_owned(), 0)]);
    assert_eq!((fake.holds(), fake.calls()), (0, 2));
    world.assert_same_money(&fake).await;
}

async fn the_simulator_decides_on_its_page(world: World) {
    let world = world.with(|config| config.refunds = SendRefunds::Auto).await;
    let (admin, sailing) = (world.admin().await, world.sailing().await);
    let press = async |id: &str, action: &str| {
        let call = world.call(reqwest::Method::POST, &format!("/pay/transfers/{id}"));
        let call = call.header("content-type", "application/x-www-form-urlencoded");
        call.body(format!("action={action}")).bytes().await.0
    };
    let newest = async || {
        let id: dermaga::kernel::ids::Uuid = world
            .db()
            .sql("SELECT id FROM transfers ORDER BY id DESC LIMIT 1")
            .scalar()
            .await
            .unwrap();
        id.to_string()
    };
    for (action, status) in [("accept", "refunded"), ("decline", "refund_pending")] {
        let booking = world.paid_booking(&sailing, 1).await;
        world.cancels_as(&admin, &booking).await;
        world.app.run_transfers().await.unwrap();
        let id = newest().await;
        assert_eq!(world.looks_up(&booking).await["status"], "refund_pending");
        // Dropped: the answer is lost, and the job asks.
        assert_eq!(press(&id, "drop").await, 200);
        assert_eq!(transfer_statuses(&world).await.last().unwrap(), "sent");
        world.app.run_transfers().await.unwrap();
        assert_eq!(transfer_statuses(&world).await.last().unwrap(), "accepted");
        assert_eq!(press(&id, "delay").await, 200);
        world.advances_clock(TimeDelta::minutes(59));
        assert_eq!(world.app.run_transfers().await.unwrap(), 0);
        let (code, _, page) = world.get("/pay/transfers").bytes().await;
        assert!(code == 200 && String::from_utf8_lossy(&page).contains(&id));
        assert_eq!(press(&id, action).await, 200);
        assert_eq!(press(&id, action).await, 200, "again");
        assert_eq!(world.looks_up(&booking).await["status"], status);
        assert_eq!(press(&id, "nonsense").await, 404);
    }
    assert_eq!(world.balance("gateway_clearing").await, PRICE, "one of two is refunded");
    let nobody = dermaga::kernel::ids::fresh().to_string();
    assert_eq!(press(&nobody, "accept").await, 404);
    // Where the simulator is not the provider, there are no such pages.
    let id = newest().await;
    let world = world.restarts_with(|config| config.payment_provider = PaymentProvider::Midtrans);
    let world = world.await;
    assert_eq!(world.get("/pay/transfers").bytes().await.0, 404);
    assert_eq!(world.get(&format!("/pay/transfers/{id}")).bytes().await.0, 404);
}
