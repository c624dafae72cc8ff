//! Money leaves only with two people: who changes where it goes does not approve it, and who creates
//! a payout does not release it.

use dermaga::{config::Switch, kernel::access::Rule::*, settlements::run_schedules};
use serde_json::{Value, json};

use crate::{
    harbour::{REQUIRED, onboarding_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, PASSWORD, Someone, World},
};

on_both_engines![
    a_clerk_cannot_redirect_a_payout_alone,
    who_holds_the_mailbox_does_not_approve_the_bank_book,
    who_invites_a_partner_does_not_approve_its_bank_book,
    who_hands_in_the_bank_book_does_not_approve_it,
    who_changed_the_account_does_not_approve_it,
    a_settlement_is_released_by_another_person,
    one_person_is_enough_where_it_is_set_so,
];

const NET: i64 = 270_000;

/// Everything that one needs to pay a partner, in one hand.
async fn payout_clerk(world: &World) -> Someone {
    let rules = [
        PartnersRead,
        PartnersWrite,
        PartnersApprove,
        PartnersImpersonate,
        SettlementsRead,
        SettlementsWrite,
        SettlementsRelease,
    ];
    world.staff("ayu@dermaga.test", &rules).await
}

fn bank_account_body(number: &str) -> Value {
    json!({ "bank_account": { "account_number": number } })
}

async fn reviews_bank_account(world: &World, desk: &str, by: &Someone, status: &str) -> Answer {
    let body = json!({ "status": status, "note": "Not your account" });
    world.put(&format!("{desk}/bank-approval"), body).by(by).send().await
}

/// Gives the partner another e-mail address, with all that this takes.
async fn changes_email(world: &World, desk: &str, by: &Someone, email: &str) {
    let edit = json!({
        "name": "Made Bahari", "email": email, "phone": "081234567890", "address": "",
        "partnerType": "company",
    });
    let after = world.put(desk, edit).by(by).send().await.ok();
    confirms_email(world, &after, email).await;
}

/// Opens the link that the new address gets, if the change waits for that.
async fn confirms_email(world: &World, after: &Value, email: &str) {
    if after["pending_email"].is_string() {
        world.delivers_outbox().await;
        let token = json!({ "token": world.mailed_token(email) });
        world.post("/auth/confirm-email", token).send().await.ok();
    }
}

/// Whoever reads the mailbox signs in.
async fn signs_in_by_mail(world: &World, email: &str) -> Someone {
    world.post("/auth/forgot-password", json!({ "email": email })).send().await.ok();
    world.delivers_outbox().await;
    accepts_invitation(world, email).await
}

async fn accepts_invitation(world: &World, email: &str) -> Someone {
    let token = world.mailed_token(email);
    let body = json!({ "token": token, "password": PASSWORD, "cpassword": PASSWORD });
    world.post("/auth/reset-password", body).send().await.ok();
    world.signs_in(email, "mitra").await
}

async fn a_clerk_cannot_redirect_a_payout_alone(world: World) {
    let boss = world.admin().await;
    let clerk = payout_clerk(&world).await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &boss).await;
    let desk = world.partner_path(&sailing.partner).await;

    // Acting for the partner, neither its account nor its address can be changed.
    let acting = world.impersonates(&desk, &clerk).await;
    world.updates_onboarding(&acting, bank_account_body("9988776655")).await.is(403, "forbidden");
    world.updates_onboarding(&acting, json!({ "bank_account": {} })).await.is(403, "forbidden");
    let profile = json!({
        "name": "Made", "email": "ayu@example.com", "phone": "081234567890", "avatar_file_id": "",
    });
    world.put("/user/me", profile).by(&acting).send().await.is(403, "forbidden");
    let own = world.get("/v1/mitra/onboarding").by(&sailing.partner).send().await.ok();
    assert_eq!(own["bank_account_status"], "approved");

    // With the partner's mailbox the account can be changed. Then the first gate is closed.
    changes_email(&world, &desk, &clerk, "ayu@example.com").await;
    let thief = signs_in_by_mail(&world, "ayu@example.com").await;
    let changed = world.updates_onboarding(&thief, bank_account_body("9988776655")).await.ok();
    assert_eq!(changed["bank_account_status"], "pending");
    reviews_bank_account(&world, &desk, &clerk, "approved").await.is(409, "same_person");
    // Nor does it help to change the address once more, now as the partner.
    let own = json!({
        "name": "Made", "email": "ayu.two@example.com", "phone": "081234567890",
        "avatar_file_id": "", "current_password": PASSWORD,
    });
    let after = world.put("/user/me", own).by(&thief).send().await.ok();
    confirms_email(&world, &after, "ayu.two@example.com").await;
    reviews_bank_account(&world, &desk, &clerk, "approved").await.is(409, "same_person");
    let thief = world.signs_in("ayu.two@example.com", "mitra").await;
    world.uploads_documents(&thief, &["bank_book"]).await.ok();
    let book = world.documents(&desk, &clerk).await.remove(0);
    world.reviews_document(&desk, &clerk, &book, "approved").await.ok();
    let own = world.get("/v1/mitra/onboarding").by(&thief).send().await.ok();
    assert_eq!(own["bank_account_status"], "pending", "the book alone approves nothing");

    // The second gate, and the money that waits behind the first one.
    let made = world.creates_settlement(&thief, &clerk).await.ok();
    let path = format!("/v1/settlements/{}/release", made["id"].as_str().unwrap());
    let release = json!({ "reference": "BCA-1" });
    world.post(&path, release.clone()).by(&clerk).send().await.is(409, "same_person");
    world.post(&path, release.clone()).by(&boss).send().await.is(409, "invalid_state");
    assert_eq!(world.balance("bank").await, 0);

    // A colleague looks at it: what was approved before is paid.
    reviews_bank_account(&world, &desk, &boss, "rejected").await.ok();
    world.post(&path, release.clone()).by(&clerk).send().await.is(409, "same_person");
    let released = world.post(&path, release).by(&boss).send().await.ok();
    assert_eq!(released["bank_account"]["account_number"], "******5678");
    assert_eq!(world.balance("bank").await, -NET);
    assert_invariants(&world).await;
}

async fn who_holds_the_mailbox_does_not_approve_the_bank_book(world: World) {
    let clerk = payout_clerk(&world).await;
    let made = world.submitted_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    changes_email(&world, &desk, &clerk, "ayu@example.com").await;
    let thief = signs_in_by_mail(&world, "ayu@example.com").await;
    world.updates_onboarding(&thief, bank_account_body("9988776655")).await.ok();
    for document in world.documents(&desk, &clerk).await {
        let answer = world.reviews_document(&desk, &clerk, &document, "approved").await;
        match document["type"].as_str() {
            Some("bank_book") => drop(answer.is(409, "same_person")),
            _ => drop(answer.ok()),
        }
    }
    reviews_bank_account(&world, &desk, &clerk, "approved").await.is(409, "same_person");
    assert_eq!(world.onboarding_status(&thief).await, "in_review");
    let boss = world.admin().await;
    world.approves_all_documents(&desk, &boss).await;
    assert_eq!(world.onboarding_status(&thief).await, "active");
    let by: i64 = world
        .db()
        .sql("SELECT COUNT(*) FROM onboardings WHERE bank_reviewed_by = $1")
        .bind(boss.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .scalar()
        .await
        .unwrap();
    assert_eq!(by, 1, "who saw the book has approved the account");
}

async fn who_invites_a_partner_does_not_approve_its_bank_book(world: World) {
    let clerk = payout_clerk(&world).await;
    let invitation = json!({
        "name": "Made Bahari", "email": "ayu@example.com", "phone": "081234567890",
        "address": "", "partnerType": "company",
    });
    world.post("/v1/mitra/manajemen", invitation).by(&clerk).send().await.ok();
    world.delivers_outbox().await;
    let made = accepts_invitation(&world, "ayu@example.com").await;
    world.updates_onboarding(&made, onboarding_body()).await.ok();
    world.uploads_documents(&made, &REQUIRED).await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    let desk = world.partner_path(&made).await;
    let book = world.documents(&desk, &clerk).await.remove(0);
    world.reviews_document(&desk, &clerk, &book, "approved").await.is(409, "same_person");
    reviews_bank_account(&world, &desk, &clerk, "approved").await.is(409, "same_person");
    world.reviews_document(&desk, &world.admin().await, &book, "approved").await.ok();
}

async fn who_hands_in_the_bank_book_does_not_approve_it(world: World) {
    let clerk = payout_clerk(&world).await;
    let made = world.submitted_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let acting = world.impersonates(&desk, &clerk).await;
    world.uploads_documents(&acting, &["bank_book", "deed"]).await.ok();
    let documents = world.documents(&desk, &clerk).await;
    world.reviews_document(&desk, &clerk, &documents[0], "approved").await.is(409, "same_person");
    world.reviews_document(&desk, &clerk, &documents[0], "rejected").await.ok();
    world.reviews_document(&desk, &clerk, &documents[0], "approved").await.is(409, "same_person");
    world.reviews_document(&desk, &clerk, &documents[1], "approved").await.ok();
    world.reviews_document(&desk, &world.admin().await, &documents[0], "approved").await.ok();
}

async fn who_changed_the_account_does_not_approve_it(world: World) {
    let clerk = payout_clerk(&world).await;
    let made = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    world
        .updates_onboarding(&made, json!({ "bank_account": onboarding_body()["bank_account"] }))
        .await
        .ok();
    let changed_by: dermaga::kernel::ids::Uuid =
        world.db().sql("SELECT bank_changed_by FROM onboardings").scalar().await.unwrap();
    assert_eq!(changed_by.to_string(), made.id, "the person who acts");
    world
        .db()
        .sql("UPDATE onboardings SET bank_changed_by = $1")
        .bind(clerk.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .run()
        .await
        .unwrap();
    reviews_bank_account(&world, &desk, &clerk, "approved").await.is(409, "same_person");
    reviews_bank_account(&world, &desk, &world.admin().await, "approved").await.ok();
}

async fn a_settlement_is_released_by_another_person(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let release = async |settlement: &Value, by: &Someone| {
        let path = format!("/v1/settlements/{}/release", settlement["id"].as_str().unwrap());
        world.post(&path, json!({ "reference": "BCA-1" })).by(by).send().await
    };
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    assert_eq!(made["created_by"]["id"], json!(admin.id));
    let (a, b) = tokio::join!(release(&made, &admin), release(&made, &admin));
    a.is(409, "same_person");
    b.is(409, "same_person");
    // Cancelled and created again, it is no one else's.
    let path = format!("/v1/settlements/{}/cancel", made["id"].as_str().unwrap());
    world.post(&path, json!({})).by(&admin).send().await.ok();
    let again = world.creates_settlement(&sailing.partner, &admin).await.ok();
    release(&again, &admin).await.is(409, "same_person");
    let colleague = world.second_admin().await;
    release(&again, &colleague).await.ok();
    assert_eq!(world.balance("bank").await, -NET);

    // Nor does it help to say that it came back.
    let path = format!("/v1/settlements/{}/return", again["id"].as_str().unwrap());
    let reason = json!({ "reason": "Account closed" });
    world.post(&path, reason).by(&colleague).send().await.ok();
    release(&again, &colleague).await.is(409, "same_person");
    release(&again, &admin).await.is(409, "same_person");
    let third = world.staff("kasir@dermaga.test", &[SettlementsRelease]).await;
    release(&again, &third).await.ok();
    assert_eq!(world.balance("bank").await, -NET);

    // One of the schedule has been created by nobody.
    let daily = json!({ "schedule": "daily" });
    world.post("/v1/settlements/configuration", daily).by(&admin).send().await.ok();
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.advances_clock(chrono::TimeDelta::days(2));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    let admin = world.signs_in(&admin.email, "admin").await;
    let listed = world.get("/v1/settlements?origin=scheduled").by(&admin).send().await.ok();
    assert_eq!(listed[0]["created_by"], json!(null));
    release(&listed[0], &admin).await.ok();
    assert_invariants(&world).await;
}

async fn one_person_is_enough_where_it_is_set_so(world: World) {
    let world = world.with(|config| config.four_eyes = Switch(false)).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let desk = world.partner_path(&sailing.partner).await;
    changes_email(&world, &desk, &admin, "new@bahari.id").await;
    let partner = signs_in_by_mail(&world, "new@bahari.id").await;
    world.adds_approved_bank_account(&partner, &admin).await;
    let made = world.creates_settlement(&partner, &admin).await.ok();
    let path = format!("/v1/settlements/{}/release", made["id"].as_str().unwrap());
    world.post(&path, json!({ "reference": "BCA-1" })).by(&admin).send().await.ok();
    assert_eq!(world.balance("bank").await, -NET);
}
