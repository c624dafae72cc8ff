//! Reviews of documents in one round, and of bank accounts.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    harbour::{ACCOUNT, onboarding_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_rejected_account_leaves_the_approved_one_in_force,
    an_account_that_was_never_approved_is_not_paid_to,
    a_change_that_is_taken_back_needs_no_approval,
    documents_do_not_approve_an_account_that_was_rejected,
    approving_races_with_a_change,
    two_verdicts_at_once_are_one,
    all_documents_are_reviewed_in_one_round,
    a_verdict_can_be_changed_until_the_partner_submits_again,
    a_rejection_taken_back_activates_a_partner_that_is_complete,
    a_rejection_taken_back_does_not_submit_what_is_incomplete,
    documents_are_reviewed_once_they_are_submitted,
    reviewers_are_told_what_waits_for_them,
    what_waits_is_counted_and_found,
];

const OTHER: &str = "9988776655";

fn bank_account_body(number: &str) -> Value {
    json!({ "bank_account": { "account_number": number } })
}

async fn reviews_bank_account(world: &World, desk: &str, by: &Someone, body: Value) -> Answer {
    world.put(&format!("{desk}/bank-approval"), body).by(by).send().await
}

fn approval() -> Value {
    json!({ "status": "approved" })
}

fn rejection(note: &str) -> Value {
    json!({ "status": "rejected", "note": note })
}

async fn onboarding(world: &World, who: &Someone) -> Value {
    world.get("/v1/mitra/onboarding").by(who).send().await.ok()
}

async fn notifications_of(world: &World, who: &Someone) -> Vec<Value> {
    let told = world.get("/v1/notifications?page_size=100").by(who).send().await.ok();
    told.as_array().unwrap().clone()
}

async fn a_rejected_account_leaves_the_approved_one_in_force(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (partner, desk) = (&sailing.partner, world.partner_path(&sailing.partner).await);
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(partner, &admin).await;
    world.updates_onboarding(partner, bank_account_body(OTHER)).await.ok();
    let made = world.creates_settlement(partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");

    let note = |body| reviews_bank_account(&world, &desk, &admin, body);
    note(json!({ "status": "rejected" })).await.has_field_errors(&[("note", "required")]);
    note(rejection("  ")).await.has_field_errors(&[("note", "required")]);
    note(rejection(&"x".repeat(1_001))).await.has_field_errors(&[("note", "max_length")]);
    let mut unseen = rejection("The name differs");
    unseen["account_number"] = json!(ACCOUNT);
    note(unseen).await.is(409, "invalid_state");
    note(rejection("The name differs")).await.ok();
    note(rejection("The name differs")).await.is(409, "invalid_state");
    note(approval()).await.is(409, "invalid_state");

    let own = onboarding(&world, partner).await;
    assert_eq!(own["bank_account_status"], "rejected");
    assert_eq!(own["bank_account_note"], "The name differs");
    assert_eq!(own["bank_account"]["account_number"], OTHER, "it can be corrected");
    assert_eq!(own["approved_bank_account"]["account_number"], ACCOUNT);
    assert_eq!(own["status"], "active");
    let reader = world.staff("ayu@dermaga.test", &[PartnersRead]).await;
    let masked = world.get(&format!("{desk}/edit")).by(&reader).send().await.ok();
    assert_eq!(masked["approved_bank_account"]["account_number"], "******5678");
    assert_eq!(masked["bank_account_note"], "The name differs");

    let path = format!("/v1/settlements/{}", made["id"].as_str().unwrap());
    let seen = world.get(&path).by(&admin).send().await.ok();
    assert_eq!(seen["bank_account"]["account_number"], "******5678");
    let released = world.releases_settlement(&made, &admin).await.ok();
    assert_eq!(released["bank_account"]["account_number"], "******5678");
    assert_invariants(&world).await;

    world.delivers_outbox().await;
    let letters = world.letters_to(&partner.email);
    let letter = letters.iter().find(|letter| letter.contains("bank account is rejected"));
    assert!(letter.unwrap().contains("Reason: The name differs"));
    let told = notifications_of(&world, partner).await;
    let told = told.iter().find(|told| told["type"] == "partner.bank_rejected").unwrap();
    assert_eq!(told["body"], "Reason: The name differs");
    let log = world.get("/v1/audit-logs?action=partner.bank_account_rejected");
    let log = log.by(&admin).send().await.ok();
    assert_eq!(log[0]["after"]["account_number"], "[personal]");
    assert_eq!(log[0]["after"]["note"], "The name differs");

    // The corrected account is reviewed again, and paid to once it is approved.
    let saved = world.updates_onboarding(partner, bank_account_body("9988776656")).await.ok();
    assert_eq!(saved["bank_account_status"], "pending");
    assert_eq!(saved["bank_account_note"], json!(null));
    reviews_bank_account(&world, &desk, &admin, approval()).await.ok();
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let made = world.creates_settlement(partner, &admin).await.ok();
    let released = world.releases_settlement(&made, &admin).await.ok();
    assert_eq!(released["bank_account"]["account_number"], "******6656");
    assert_invariants(&world).await;
}

async fn an_account_that_was_never_approved_is_not_paid_to(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let (partner, desk) = (&sailing.partner, world.partner_path(&sailing.partner).await);
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world
        .updates_onboarding(partner, json!({ "bank_account": onboarding_body()["bank_account"] }))
        .await
        .ok();
    let made = world.creates_settlement(partner, &admin).await.ok();
    assert_eq!(made["bank_account"], json!(null));
    reviews_bank_account(&world, &desk, &admin, rejection("No such account")).await.ok();
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    assert_eq!(world.balance("bank").await, 0);
    // What the partner sends again unchanged is not reviewed again.
    let same = json!({ "bank_account": onboarding_body()["bank_account"] });
    assert_eq!(
        world.updates_onboarding(partner, same).await.ok()["bank_account_status"],
        "rejected"
    );
    reviews_bank_account(&world, &desk, &admin, approval()).await.is(409, "invalid_state");
    // The database has no approved account without its number.
    let broken = "UPDATE onboardings SET bank_account_status = 'approved'";
    assert!(world.db().sql(broken).run().await.is_err());
}

async fn a_change_that_is_taken_back_needs_no_approval(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let partner = &sailing.partner;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(partner, &admin).await;
    let made = world.creates_settlement(partner, &admin).await.ok();
    assert_eq!(
        world.updates_onboarding(partner, bank_account_body(OTHER)).await.ok()["bank_account_status"],
        "pending"
    );
    world.releases_settlement(&made, &admin).await.is(409, "invalid_state");
    let back = world.updates_onboarding(partner, bank_account_body(ACCOUNT)).await.ok();
    assert_eq!(back["bank_account_status"], "approved");
    let released = world.releases_settlement(&made, &admin).await.ok();
    assert_eq!(released["bank_account"]["account_number"], "******5678");
}

async fn documents_do_not_approve_an_account_that_was_rejected(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    reviews_bank_account(&world, &desk, &admin, rejection("Not the company's")).await.ok();
    world.approves_all_documents(&desk, &admin).await;
    let own = onboarding(&world, &made).await;
    assert_eq!(own["status"], "active");
    assert_eq!(own["bank_account_status"], "rejected");
    assert_eq!(own["approved_bank_account"], json!(null));
    world.updates_onboarding(&made, bank_account_body(OTHER)).await.ok();
    reviews_bank_account(&world, &desk, &admin, approval()).await.ok();
    let own = onboarding(&world, &made).await;
    assert_eq!(own["approved_bank_account"]["account_number"], OTHER);
}

/// What the reviewer has not seen is never approved.
async fn approving_races_with_a_change(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    world
        .updates_onboarding(&made, json!({ "bank_account": onboarding_body()["bank_account"] }))
        .await
        .ok();
    let mut seen = ACCOUNT.to_owned();
    for n in 0..10 {
        let next = format!("77{n:08}");
        let body = json!({ "status": "approved", "account_number": seen });
        let (answer, changed) = tokio::join!(
            reviews_bank_account(&world, &desk, &admin, body),
            world.updates_onboarding(&made, bank_account_body(&next)),
        );
        changed.ok();
        let own = onboarding(&world, &made).await;
        assert_eq!(own["bank_account_status"], "pending", "the change came after all");
        match answer.status {
            200 => assert_eq!(own["approved_bank_account"]["account_number"], json!(seen)),
            _ => drop(answer.is(409, "invalid_state")),
        }
        seen = next;
    }
}

async fn two_verdicts_at_once_are_one(world: World) {
    let (one, two) = (world.admin().await, world.second_admin().await);
    let made = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    world
        .updates_onboarding(&made, json!({ "bank_account": onboarding_body()["bank_account"] }))
        .await
        .ok();
    let (a, b) = tokio::join!(
        reviews_bank_account(&world, &desk, &one, approval()),
        reviews_bank_account(&world, &desk, &two, rejection("Wrong")),
    );
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [200, 409]);
    let verdicts = "SELECT COUNT(*) FROM outbox
        WHERE topic IN ('partner.bank_approved', 'partner.bank_rejected')";
    assert_eq!(world.count(verdicts).await, 1);
    let own = onboarding(&world, &made).await;
    let expected = if a.status == 200 { "approved" } else { "rejected" };
    assert_eq!(own["bank_account_status"], expected);
}

async fn all_documents_are_reviewed_in_one_round(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    let review = async |n: usize, word: &str| {
        let answer = world.reviews_document(&desk, &admin, &documents[n], word).await.ok();
        assert_eq!(answer["mitra_status"], "revision");
    };
    review(1, "rejected").await;
    review(0, "approved").await;
    review(2, "rejected").await;
    review(3, "approved").await;
    review(4, "approved").await;
    world.reviews_document(&desk, &admin, &documents[4], "approved").await.is(409, "invalid_state");
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    let last = letters.last().unwrap();
    assert!(last.contains("Deed of establishment: It is blurred."), "{last}");
    assert!(last.contains("Business number (NIB): It is blurred."), "{last}");
    // The partner corrects everything at once, and the rest is done.
    world.uploads_documents(&made, &["deed", "nib"]).await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    for document in &documents[1..3] {
        world.reviews_document(&desk, &admin, document, "approved").await.is(409, "invalid_state");
    }
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(world.onboarding_status(&made).await, "active");
}

async fn a_verdict_can_be_changed_until_the_partner_submits_again(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    let review = async |n: usize, word: &str| {
        let answer = world.reviews_document(&desk, &admin, &documents[n], word).await.ok();
        assert_eq!(answer["status"], word);
        answer["mitra_status"].as_str().unwrap().to_owned()
    };
    assert_eq!(review(0, "approved").await, "in_review");
    assert_eq!(review(0, "rejected").await, "revision");
    assert_eq!(review(1, "rejected").await, "revision");
    assert_eq!(review(0, "approved").await, "revision", "another one is rejected");
    assert_eq!(review(1, "approved").await, "in_review", "none is rejected any more");
    let own = onboarding(&world, &made).await;
    assert_eq!(own["review_note"], json!(null));
    world.updates_onboarding(&made, json!({ "submit": true })).await.is(409, "invalid_state");
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    assert!(letters.last().unwrap().contains("You need not send it again."));
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(world.onboarding_status(&made).await, "active");
    for document in &documents {
        world.reviews_document(&desk, &admin, document, "rejected").await.is(409, "invalid_state");
    }
}

async fn a_rejection_taken_back_activates_a_partner_that_is_complete(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    world.reviews_document(&desk, &admin, &documents[2], "rejected").await.ok();
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(world.onboarding_status(&made).await, "revision");
    let answer = world.reviews_document(&desk, &admin, &documents[2], "approved").await.ok();
    assert_eq!(answer["mitra_status"], "active");
    // Likewise one that was active before.
    world.uploads_documents(&made, &["operating_permit"]).await.ok();
    let permit = world.documents(&desk, &admin).await.pop().unwrap();
    let answer = world.reviews_document(&desk, &admin, &permit, "rejected").await.ok();
    assert_eq!(answer["mitra_status"], "revision");
    let answer = world.reviews_document(&desk, &admin, &permit, "approved").await.ok();
    assert_eq!(answer["mitra_status"], "active");
}

async fn a_rejection_taken_back_does_not_submit_what_is_incomplete(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    world.reviews_document(&desk, &admin, &documents[1], "rejected").await.ok();
    world.updates_onboarding(&made, json!({ "business": { "city": null } })).await.ok();
    let answer = world.reviews_document(&desk, &admin, &documents[1], "approved").await.ok();
    assert_eq!(answer["mitra_status"], "revision");
    let city = json!({ "business": { "city": "Denpasar" }, "submit": true });
    assert_eq!(world.updates_onboarding(&made, city).await.ok()["status"], "in_review");
}

async fn documents_are_reviewed_once_they_are_submitted(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    world.reviews_document(&desk, &admin, &documents[1], "rejected").await.ok();
    world.uploads_documents(&made, &["deed"]).await.ok();
    let deed = world.documents(&desk, &admin).await.remove(1);
    assert_eq!(deed["status"], "pending");
    for word in ["approved", "rejected"] {
        world.reviews_document(&desk, &admin, &deed, word).await.is(409, "invalid_state");
        world.reviews_document(&desk, &admin, &documents[1], word).await.is(409, "invalid_state");
    }
    // The others are still open.
    world.reviews_document(&desk, &admin, &documents[2], "approved").await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    world.reviews_document(&desk, &admin, &deed, "approved").await.ok();
    let draft = world.partner("draft@bahari.id").await;
    world.uploads_documents(&draft, &["deed"]).await.ok();
    let desk = world.partner_path(&draft).await;
    let deed = world.documents(&desk, &admin).await.remove(0);
    world.reviews_document(&desk, &admin, &deed, "approved").await.is(409, "invalid_state");
}

async fn reviewers_are_told_what_waits_for_them(world: World) {
    let reviewer = world.staff("periksa@dermaga.test", &[PartnersApprove]).await;
    let clerk = world.staff("juru@dermaga.test", &[PartnersWrite]).await;
    let admin = world.admin().await;
    let made = world.submitted_partner("made@bahari.id").await;
    let other = world.active_partner("other@bahari.id").await;
    let kinds = async |who: &Someone| {
        world.delivers_outbox().await;
        let told = notifications_of(&world, who).await;
        told.iter().map(|told| told["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&reviewer).await, ["partner.submitted"], "not of what is filled in before");
    world.approves_all_documents(&world.partner_path(&made).await, &admin).await;
    world.advances_clock(TimeDelta::minutes(1));
    world.updates_onboarding(&made, bank_account_body(OTHER)).await.ok();
    world.delivers_outbox().await;
    world.advances_clock(TimeDelta::minutes(1));
    world.uploads_documents(&made, &["operating_permit"]).await.ok();
    let expected = ["partner.document_replaced", "partner.bank_changed", "partner.submitted"];
    assert_eq!(kinds(&reviewer).await, expected, "newest first");
    let told = notifications_of(&world, &reviewer).await;
    assert_eq!(told[1]["title"], "A bank account to approve");
    assert_eq!(told[1]["body"], "Made Bahari has changed its bank account.");
    assert_eq!(told[1]["data"]["mitra_id"], json!(world.partner_id(&made).await));
    assert!(kinds(&clerk).await.is_empty());
    assert!(kinds(&other).await.is_empty(), "nothing of another");
    let letters = world.letters_to("made@bahari.id");
    assert!(letters.last().unwrap().contains("Your bank account was changed"));
    // What changes nothing tells nobody anything.
    world.updates_onboarding(&made, bank_account_body(OTHER)).await.ok();
    assert_eq!(kinds(&reviewer).await.len(), 3);
}

async fn what_waits_is_counted_and_found(world: World) {
    let admin = world.admin().await;
    let reader = world.staff("ayu@dermaga.test", &[PartnersRead]).await;
    let counts = async || {
        let pending = world.get("/v1/dashboard").by(&admin).send().await.ok()["pending"].clone();
        let statistics = world.get("/v1/mitra/manajemen/statistics").by(&reader).send().await.ok();
        assert_eq!(statistics["awaiting_review"], pending["partner_reviews"]);
        (pending["partner_reviews"].as_i64().unwrap(), pending["bank_approvals"].as_i64().unwrap())
    };
    let found = async |query: &str| {
        let path = format!("/v1/mitra/manajemen?{query}&sort_by=created_at&sort_dir=asc");
        let answer = world.get(&path).by(&reader).send().await;
        let total = answer.body["pagination"]["total_items"].as_u64().unwrap() as usize;
        let partners = answer.ok();
        let partners = partners.as_array().unwrap();
        assert_eq!(partners.len(), total);
        partners.iter().map(|p| p["email"].as_str().unwrap()[..1].to_owned()).collect::<String>()
    };
    // One who fills in its papers, one under review, one whose account and permit are new.
    let agus = world.partner("agus@bahari.id").await;
    world.updates_onboarding(&agus, onboarding_body()).await.ok();
    world.uploads_documents(&agus, &["deed"]).await.ok();
    assert_eq!(counts().await, (0, 0));
    world.advances_clock(TimeDelta::minutes(1));
    let budi = world.submitted_partner("budi@bahari.id").await;
    world.advances_clock(TimeDelta::minutes(1));
    let citra = world.submitted_partner("citra@bahari.id").await;
    assert_eq!(counts().await, (2, 0));
    world.approves_all_documents(&world.partner_path(&citra).await, &admin).await;
    assert_eq!(counts().await, (1, 0));
    assert_eq!(found("awaiting_review=true").await, "b");
    assert_eq!(found("awaiting_review=false").await, "ac");
    assert_eq!(found("bank_account_status=pending").await, "");
    assert_eq!(found("bank_account_status=approved").await, "c");
    world.updates_onboarding(&citra, bank_account_body(OTHER)).await.ok();
    world.uploads_documents(&citra, &["operating_permit", "deed"]).await.ok();
    assert_eq!(counts().await, (2, 1));
    assert_eq!(found("awaiting_review=true").await, "bc");
    assert_eq!(found("awaiting_review=true&status=active").await, "c");
    assert_eq!(found("bank_account_status=pending").await, "c");
    assert_eq!(found("awaiting_review=&bank_account_status=").await, "abc");
    // A rejection leaves the other documents of the round open.
    let desk = world.partner_path(&budi).await;
    let documents = world.documents(&desk, &admin).await;
    world.reviews_document(&desk, &admin, &documents[1], "rejected").await.ok();
    assert_eq!(found("awaiting_review=true&status=revision").await, "b");
    for document in [&documents[0], &documents[2], &documents[3], &documents[4]] {
        world.reviews_document(&desk, &admin, document, "approved").await.ok();
    }
    assert_eq!(counts().await, (1, 1));
    world.uploads_documents(&budi, &["deed"]).await.ok();
    assert_eq!(found("awaiting_review=true").await, "c", "what is not submitted does not wait");
    let desk = world.partner_path(&citra).await;
    reviews_bank_account(&world, &desk, &admin, rejection("Wrong name")).await.ok();
    assert_eq!(counts().await, (1, 0));
    assert_eq!(found("bank_account_status=rejected").await, "c");
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(counts().await, (0, 0));
    let bad = world.get("/v1/mitra/manajemen?awaiting_review=perhaps&bank_account_status=lost");
    let faults = bad.by(&reader).send().await.field_errors();
    assert_eq!(faults.len(), 2, "{faults:?}");
    let partner = world.get("/v1/mitra/manajemen?awaiting_review=true").by(&citra).send().await;
    partner.is(403, "forbidden");
}
