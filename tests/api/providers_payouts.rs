//! Settlements that a provider pays out.

use chrono::TimeDelta;
use dermaga::{
    config::{PayoutProvider, Url, WebUrl},
    kernel::{ids::Uuid, secret::Secret},
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use crate::{
    fake_provider::{APPROVER, CREATOR, EntryState, Fake, MERCHANT, Mood, TOKEN},
    harbour::{ACCOUNT, Sailing},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_settlement_is_paid_out_by_xendit,
    a_settlement_is_paid_out_by_iris,
    a_lost_answer_pays_out_once,
    a_provider_without_balance_is_asked_later,
    a_failed_payout_is_pending_again,
    a_failed_payout_that_was_paid_after_all_is_released,
    a_failed_payout_that_was_paid_after_it_was_paid_by_hand_waits_in_suspense,
    a_payout_of_another_amount_leaves_the_difference_in_suspense,
    a_payout_that_comes_back_is_pending_again,
    a_reversal_takes_back_its_own_payout_alone,
    callbacks_count_once_in_any_order,
    a_forged_callback_is_refused,
    an_unknown_payout_is_left_to_a_person,
    a_payout_needs_a_provider_and_a_second_person,
    concurrent_releases_pay_out_once,
    the_simulator_pays_out_on_its_page,
];

/// A seat of 150,000 less ten per cent.
const NET: i64 = 135_000;

/// A service whose payouts go to the fake, with a settlement that can be released.
struct Scene {
    world: World,
    fake: Fake,
    sailing: Sailing,
    releaser: Someone,
    settlement: Value,
}

async fn scene(world: World, kind: PayoutProvider) -> Scene {
    let fake = Fake::start().await;
    let url = match kind {
        PayoutProvider::Midtrans => format!("{}/iris", fake.url),
        _ => fake.url.clone(),
    };
    let world = world
        .with(|config| {
            config.payouts = kind;
            config.payout_url = Some(WebUrl(Url(url)));
            config.payout_key = Some(Secret::new(CREATOR));
            config.payout_approver_key = Some(Secret::new(APPROVER));
            let signs = if kind == PayoutProvider::Midtrans { MERCHANT } else { TOKEN };
            config.payout_callback_key = Some(Secret::new(signs));
        })
        .await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    world.paid_booking(&sailing, 1).await;
    world.completes_paid_bookings().await;
    let settlement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let releaser = world.second_admin().await;
    Scene { world, fake, sailing, releaser, settlement }
}

impl Scene {
    fn path(&self, end: &str) -> String {
        format!("/v1/settlements/{}{end}", self.settlement["id"].as_str().unwrap())
    }

    async fn releases(&self) -> Answer {
        let by = self.world.second_admin().await;
        let body = json!({ "method": "payout" });
        self.world.post(&self.path("/release"), body).by(&by).send_with_retry().await
    }

    async fn status(&self) -> String {
        let shown = self.shown().await;
        shown["status"].as_str().unwrap().to_owned()
    }

    async fn shown(&self) -> Value {
        // The session may have ended while the clock went on.
        let by = self.world.second_admin().await;
        self.world.get(&self.path("")).by(&by).send().await.ok()
    }

    async fn runs(&self) {
        self.world.app.run_transfers().await.unwrap();
    }

    async fn runs_after(&self, minutes: i64) {
        self.world.advances_clock(TimeDelta::minutes(minutes));
        self.runs().await;
    }

    /// The provider's books and ours agree.
    async fn assert_same_money(&self) {
        assert_eq!(-self.world.balance("bank").await, self.fake.paid_out());
        assert_eq!(-self.world.balance("partner_payable").await, NET - self.fake.paid_out());
        self.fake.assert_each_once();
    }

    async fn events(&self, topic: &'static str) -> i64 {
        let count = self.world.db().sql("SELECT COUNT(*) FROM outbox WHERE topic = $1");
        count.bind(topic).scalar().await.unwrap()
    }

    /// Xendit's callback about the newest payout.
    async fn xendit_tells(&self, status: &str, token: &str) -> Answer {
        let (key, id) = {
            let books = self.fake.books();
            let payout = books.payouts.last().unwrap();
            (payout.key.clone(), payout.id.clone())
        };
        let body = json!({
            "event": "payout.succeeded",
            "data": { "id": id, "reference_id": key, "status": status, "amount": NET },
        });
        let call = self.world.post("/v1/payment/payout-callback", body);
        call.header("x-callback-token", token).send_with_retry().await
    }

    async fn iris_tells(&self, body: &str, key: &str) -> Answer {
        let hash = Sha512::digest(format!("{body}{key}"));
        let signature: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let call = self.world.call(reqwest::Method::POST, "/v1/payment/payout-callback");
        let call = call.header("content-type", "application/json");
        call.header("iris-signature", &signature).body(body.to_owned()).send().await
    }
}

async fn paid_out(world: World, kind: PayoutProvider) {
    let scene = scene(world, kind).await;
    let answer = scene.releases().await.ok();
    assert_eq!(answer["status"], "processing");
    assert_eq!(answer["released_at"], json!(null));
    assert_eq!(scene.world.balance("bank").await, 0, "nothing has moved yet");
    // It can neither be released nor cancelled on the side.
    scene.releases().await.is(409, "invalid_state");
    let by_hand = json!({ "reference": "BCA-1" });
    let call = scene.world.post(&scene.path("/release"), by_hand).by(&scene.releaser);
    call.send().await.is(409, "invalid_state");
    let call = scene.world.post(&scene.path("/cancel"), json!({})).by(&scene.releaser);
    call.send().await.is(409, "invalid_state");
    // The number of the account is not stored in plain text.
    assert!(!scene.world.all_stored_data().await.contains(ACCOUNT));
    scene.runs().await;
    assert_eq!(scene.status().await, "processing");
    scene.fake.finishes(EntryState::Done);
    scene.runs_after(5).await;
    let shown = scene.shown().await;
    assert_eq!((&shown["status"], &shown["failure"]), (&json!("released"), &json!(null)));
    assert_eq!(shown["released_by"]["id"], json!(scene.releaser.id));
    assert!(shown["reference"].is_string());
    assert_eq!(scene.events("settlement.released").await, 1);
    assert_eq!((scene.fake.paid_out(), scene.fake.calls()), (NET, 1));
    scene.assert_same_money().await;
    let kept = "SELECT COUNT(*) FROM transfers WHERE account IS NOT NULL";
    assert_eq!(scene.world.count(kept).await, 0, "the account is not kept");
}

async fn a_settlement_is_paid_out_by_xendit(world: World) {
    paid_out(world, PayoutProvider::Xendit).await;
}

async fn a_settlement_is_paid_out_by_iris(world: World) {
    paid_out(world, PayoutProvider::Midtrans).await;
}

async fn a_lost_answer_pays_out_once(mut world: World) {
    for kind in [PayoutProvider::Xendit, PayoutProvider::Midtrans] {
        let engine = world.url();
        // Xendit is asked after the first loss; Iris can only be called again.
        let moods: &[Mood] = match kind {
            PayoutProvider::Xendit => &[Mood::FailsBefore, Mood::NewWords],
            _ => &[
                Mood::FailsBefore,
                Mood::Drops,
                Mood::FailsAfter,
                Mood::StillRuns,
                Mood::Garbage,
                Mood::NewWords,
                Mood::Slow,
            ],
        };
        let scene = scene(world, kind).await;
        scene.fake.takes_next(moods);
        // Each repetition is answered in another way.
        scene.releases().await.ok();
        for _ in 0..10 {
            scene.runs_after(12).await;
        }
        assert_eq!(scene.fake.entries(), 1, "{kind}");
        let calls = if kind == PayoutProvider::Xendit { 2 } else { 8 };
        assert_eq!(scene.fake.calls(), calls, "{kind}");
        scene.fake.finishes(EntryState::Done);
        for _ in 0..3 {
            scene.runs_after(60).await;
        }
        assert_eq!(scene.status().await, "released", "{kind}");
        scene.assert_same_money().await;
        if kind == PayoutProvider::Midtrans {
            return;
        }
        world = match engine {
            None => World::on_sqlite().await,
            Some(_) => World::on_postgres().await.unwrap(),
        };
    }
}

async fn a_provider_without_balance_is_asked_later(world: World) {
    let scene = scene(world, PayoutProvider::Midtrans).await;
    scene.fake.takes_next(&[Mood::NoBalance, Mood::TooMany]);
    scene.releases().await.ok();
    scene.runs().await;
    scene.runs_after(0).await;
    assert_eq!((scene.status().await.as_str(), scene.fake.calls()), ("processing", 1));
    // What was not done cannot be forgotten, however long it takes.
    for _ in 0..3 {
        scene.runs_after(24 * 60).await;
    }
    scene.fake.finishes(EntryState::Done);
    scene.runs_after(60).await;
    assert_eq!(scene.status().await, "released");
    scene.assert_same_money().await;
}

async fn a_failed_payout_is_pending_again(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Declined);
    scene.runs_after(5).await;
    let shown = scene.shown().await;
    assert_eq!(shown["status"], "pending");
    assert_eq!(shown["failure"], "INVALID_DESTINATION");
    assert_eq!(shown["released_by"], json!(null));
    assert_eq!(scene.events("settlement.returned").await, 1);
    assert_eq!(scene.world.balance("bank").await, 0);
    // Again, as another transfer with another key.
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Done);
    scene.runs_after(5).await;
    assert_eq!(scene.status().await, "released");
    assert_eq!(scene.fake.entries(), 2);
    scene.assert_same_money().await;
}

async fn a_failed_payout_that_was_paid_after_all_is_released(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Declined);
    scene.runs_after(30).await;
    assert_eq!(scene.status().await, "pending");
    scene.fake.books().payouts[0].state = EntryState::Done;
    for _ in 0..2 {
        scene.xendit_tells("SUCCEEDED", TOKEN).await.ok();
        assert_eq!(scene.status().await, "released");
    }
    scene.assert_same_money().await;
    assert_invariants(&scene.world).await;
}

async fn a_failed_payout_that_was_paid_after_it_was_paid_by_hand_waits_in_suspense(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Declined);
    scene.runs_after(30).await;
    let by = scene.world.second_admin().await;
    let by_hand = json!({ "reference": "BCA-1" });
    scene.world.post(&scene.path("/release"), by_hand).by(&by).send().await.ok();
    let balances = async |bank: i64, suspense: i64| {
        for (account, balance) in [("bank", bank), ("partner_payable", 0), ("suspense", suspense)] {
            assert_eq!(scene.world.balance(account).await, balance, "{account}");
        }
        assert_invariants(&scene.world).await;
    };
    scene.fake.books().payouts[0].state = EntryState::Done;
    for _ in 0..2 {
        scene.xendit_tells("SUCCEEDED", TOKEN).await.ok();
        let shown = scene.shown().await;
        assert_eq!(shown["status"], "released");
        assert_eq!(shown["failure"], "the provider paid a payout that had failed");
        balances(-2 * NET, NET).await;
    }
    // The bank of the partner sends it back.
    scene.fake.books().payouts[0].state = EntryState::Reversed;
    for _ in 0..2 {
        scene.xendit_tells("REVERSED", TOKEN).await.ok();
        assert_eq!(scene.status().await, "released");
        balances(-NET, 0).await;
    }
}

async fn a_payout_of_another_amount_leaves_the_difference_in_suspense(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    let paid = NET + 5_000;
    scene.fake.takes_next(&[Mood::Pays(paid)]);
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Done);
    scene.runs_after(30).await;
    let shown = scene.shown().await;
    assert_eq!(shown["status"], "released");
    assert!(shown["failure"].as_str().unwrap().contains("Rp 140.000"), "{shown}");
    for (account, balance) in [("bank", -paid), ("partner_payable", 0), ("suspense", 5_000)] {
        assert_eq!(scene.world.balance(account).await, balance, "{account}");
    }
    assert_invariants(&scene.world).await;
}

async fn a_payout_that_comes_back_is_pending_again(mut world: World) {
    for kind in [PayoutProvider::Xendit, PayoutProvider::Midtrans] {
        let engine = world.url();
        let scene = scene(world, kind).await;
        scene.releases().await.ok();
        scene.runs().await;
        scene.fake.finishes(EntryState::Done);
        scene.runs_after(5).await;
        assert_eq!(scene.status().await, "released");
        scene.fake.reverses_payouts();
        // Nobody tells us; it is asked for on the next day.
        scene.runs_after(24 * 60).await;
        let shown = scene.shown().await;
        assert_eq!(shown["status"], "pending", "{kind}");
        assert!(shown["failure"].is_string());
        assert_eq!(shown["reference"], json!(null));
        scene.assert_same_money().await;
        assert_eq!(scene.world.balance("partner_payable").await, -NET);
        scene.runs_after(24 * 60).await;
        assert_eq!(scene.events("settlement.returned").await, 1);
        scene.releases().await.ok();
        scene.runs().await;
        scene.fake.finishes(EntryState::Done);
        scene.runs_after(5).await;
        assert_eq!(scene.status().await, "released");
        scene.assert_same_money().await;
        if kind == PayoutProvider::Midtrans {
            return;
        }
        world = match engine {
            None => World::on_sqlite().await,
            Some(_) => World::on_postgres().await.unwrap(),
        };
    }
}

/// A clerk has recorded the return, and somebody has paid again, before the provider tells it.
async fn a_reversal_takes_back_its_own_payout_alone(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Done);
    scene.runs_after(5).await;
    assert_eq!(scene.status().await, "released");
    let admin = scene.world.signs_in("admin@dermaga.test", "admin").await;
    let reason = json!({ "reason": "Invalid account" });
    scene.world.post(&scene.path("/return"), reason).by(&admin).send().await.ok();
    let by = scene.world.second_admin().await;
    let by_hand = json!({ "reference": "BCA-1" });
    scene.world.post(&scene.path("/release"), by_hand).by(&by).send().await.ok();
    scene.fake.reverses_payouts();
    scene.runs_after(24 * 60).await;
    scene.xendit_tells("REVERSED", TOKEN).await.ok();
    assert_eq!(scene.status().await, "released");
    assert_eq!(scene.world.balance("bank").await, -NET);
    assert_eq!(scene.world.balance("partner_payable").await, 0);
    crate::storms::assert_invariants(&scene.world).await;
}

async fn callbacks_count_once_in_any_order(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    scene.releases().await.ok();
    scene.fake.takes_next(&[Mood::Drops]);
    scene.runs().await;
    // Before the answer; it says more than is true, so it is not believed.
    scene.xendit_tells("SUCCEEDED", TOKEN).await.ok();
    assert_eq!(scene.status().await, "processing");
    scene.fake.finishes(EntryState::Done);
    for answer in join_all((0..4).map(|_| scene.xendit_tells("SUCCEEDED", TOKEN))).await {
        answer.ok();
    }
    assert_eq!(scene.status().await, "released");
    assert_eq!(scene.events("settlement.released").await, 1);
    // An older one arrives late.
    scene.xendit_tells("ACCEPTED", TOKEN).await.ok();
    assert_eq!(scene.status().await, "released");
    scene.assert_same_money().await;
    scene.fake.reverses_payouts();
    for answer in join_all((0..4).map(|_| scene.xendit_tells("REVERSED", TOKEN))).await {
        answer.ok();
    }
    assert_eq!(scene.status().await, "pending");
    assert_eq!(scene.events("settlement.returned").await, 1);
    scene.assert_same_money().await;
    assert_eq!(scene.fake.calls(), 1);
}

async fn a_forged_callback_is_refused(world: World) {
    let scene = scene(world, PayoutProvider::Midtrans).await;
    scene.releases().await.ok();
    scene.runs().await;
    scene.fake.finishes(EntryState::Done);
    let id = scene.fake.books().payouts[0].id.clone();
    let body = json!({ "reference_no": id, "status": "completed", "amount": "1.00" }).to_string();
    scene.iris_tells(&body, "another key").await.is(401, "invalid_token");
    let call = scene.world.post("/v1/payment/payout-callback", json!({ "reference_no": id }));
    call.send().await.is(401, "invalid_token");
    let stranger = json!({ "reference_no": "iris-99", "status": "completed" }).to_string();
    scene.iris_tells(&stranger, MERCHANT).await.is(404, "not_found");
    for bad in ["[]", "nonsense", ""] {
        assert_eq!(scene.iris_tells(bad, MERCHANT).await.status, 400, "{bad}");
    }
    let hostile = json!({ "reference_no": "../balance", "status": "completed" }).to_string();
    scene.iris_tells(&hostile, MERCHANT).await.is(404, "not_found");
    assert_eq!(scene.status().await, "processing");
    scene.iris_tells(&body, MERCHANT).await.ok();
    assert_eq!(scene.status().await, "released");
    scene.assert_same_money().await;
}

async fn an_unknown_payout_is_left_to_a_person(world: World) {
    let scene = scene(world, PayoutProvider::Midtrans).await;
    scene.releases().await.ok();
    scene.fake.takes_next(&[Mood::Drops]);
    scene.runs().await;
    // The service could not run for a day, and Iris has forgotten the key.
    scene.fake.books().forgetful = true;
    scene.runs_after(23 * 60).await;
    scene.runs_after(24 * 60).await;
    assert_eq!((scene.fake.calls(), scene.fake.entries()), (1, 1));
    let shown = scene.shown().await;
    assert_eq!(shown["status"], "processing");
    assert!(shown["failure"].as_str().unwrap().contains("look it up"), "{shown}");
    assert_eq!(scene.events("settlement.failed").await, 1);
    // A person has seen there that it was paid.
    scene.fake.finishes(EntryState::Done);
    let found = json!({ "reference": "iris-0" });
    let by = scene.world.second_admin().await;
    let call = scene.world.post(&scene.path("/release"), found).by(&by);
    assert_eq!(call.send().await.ok()["status"], "released");
    scene.assert_same_money().await;
    scene.runs_after(60).await;
    assert_eq!(scene.fake.calls(), 1);
}

async fn a_payout_needs_a_provider_and_a_second_person(world: World) {
    let scene = scene(world, PayoutProvider::Manual).await;
    scene.releases().await.has_field_errors(&[("method", "unavailable")]);
    let release = |body: Value| scene.world.post(&scene.path("/release"), body).by(&scene.releaser);
    release(json!({})).send().await.has_field_errors(&[("reference", "required")]);
    let manual = json!({ "method": "manual" });
    release(manual).send().await.has_field_errors(&[("reference", "required")]);
    assert_eq!(release(json!({ "method": "cash" })).send().await.status, 422);
    let call = scene.world.post("/v1/payment/payout-callback", json!({ "id": "x" }));
    call.send().await.is(404, "not_found");
    let admin = scene.world.signs_in("admin@dermaga.test", "admin").await;
    let call = scene.world.post(&scene.path("/release"), json!({ "method": "payout" }));
    call.by(&admin).send().await.is(409, "same_person");
    let other = scene.world.active_partner("ketut@laut.id").await;
    let call = scene.world.post(&scene.path("/release"), json!({ "method": "payout" }));
    call.by(&other).send().await.is(403, "forbidden");
    assert_eq!(scene.world.count("SELECT COUNT(*) FROM transfers").await, 0);
    let _ = &scene.sailing;
}

async fn concurrent_releases_pay_out_once(world: World) {
    let scene = scene(world, PayoutProvider::Xendit).await;
    let answers = join_all((0..6).map(|_| scene.releases())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    join_all((0..6).map(|_| scene.world.app.run_transfers())).await;
    scene.runs().await;
    assert_eq!((scene.fake.calls(), scene.fake.entries()), (1, 1));
    scene.fake.finishes(EntryState::Done);
    scene.world.advances_clock(TimeDelta::minutes(5));
    join_all((0..6).map(|_| scene.world.app.run_transfers())).await;
    scene.runs_after(5).await;
    assert_eq!(scene.status().await, "released");
    scene.assert_same_money().await;
}

async fn the_simulator_pays_out_on_its_page(world: World) {
    let scene = scene(world, PayoutProvider::Simulator).await;
    let press = async |action: &str| {
        let newest = "SELECT id FROM transfers ORDER BY id DESC LIMIT 1";
        let id: Uuid = scene.world.db().sql(newest).scalar().await.unwrap();
        let call = scene.world.call(reqwest::Method::POST, &format!("/pay/transfers/{id}"));
        let call = call.header("content-type", "application/x-www-form-urlencoded");
        assert_eq!(call.body(format!("action={action}")).bytes().await.0, 200);
    };
    scene.releases().await.ok();
    scene.runs().await;
    press("decline").await;
    assert_eq!(scene.status().await, "pending");
    scene.releases().await.ok();
    scene.runs().await;
    press("accept").await;
    assert_eq!(scene.status().await, "released");
    assert_eq!(scene.world.balance("bank").await, -NET);
    press("reverse").await;
    assert_eq!(scene.status().await, "pending");
    assert_eq!(scene.world.balance("bank").await, 0);
    let call = scene.world.post("/v1/payment/payout-callback", json!({ "id": "x" }));
    call.send().await.is(404, "not_found");
}
