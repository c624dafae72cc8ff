//! Papers: filled in step by step, handed in, looked at, handed in again.

use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    harbour::{ACCOUNT, NIK, REQUIRED, onboarding_body},
    on_both_engines,
    world::World,
};

on_both_engines![
    papers_are_filled_in_step_by_step,
    faults_are_named_and_nothing_is_written,
    an_incomplete_submission_names_each_missing_field,
    only_own_ready_documents_are_handed_in,
    a_partner_is_approved_document_by_document,
    a_rejection_asks_for_another_and_the_partner_submits_again,
    a_replaced_document_of_an_active_partner_is_reviewed_alone,
    a_verdict_on_a_replaced_document_is_too_late,
    a_document_of_another_partner_is_unknown_here,
    two_reviewers_at_once_activate_a_partner_once,
    a_changed_bank_account_waits_for_approval,
    an_account_changed_under_review_wants_its_bank_book_seen_again,
    the_type_changes_only_while_papers_can_be_handed_in,
    a_rejected_document_that_is_not_required_holds_nobody_up,
    what_was_handed_in_is_not_taken_back,
    sending_the_same_documents_again_changes_nothing,
    numbers_are_for_the_partner_and_its_reviewers,
    numbers_rest_sealed,
    the_key_can_be_changed,
    an_individual_needs_neither_nib_nor_npwp,
];

fn missing_counts(onboarding: &Value) -> Vec<(String, usize)> {
    let steps = onboarding["steps"].as_array().unwrap().iter();
    steps
        .map(|step| {
            let missing = step["missing"].as_array().unwrap().len();
            assert_eq!(step["complete"], missing == 0);
            (step["key"].as_str().unwrap().to_owned(), missing)
        })
        .collect()
}

fn expected_counts(list: [usize; 4]) -> Vec<(String, usize)> {
    let keys = ["business", "pic", "bank_account", "documents"].map(String::from);
    keys.into_iter().zip(list).collect()
}

async fn papers_are_filled_in_step_by_step(world: World) {
    let made = world.partner("made@bahari.id").await;
    let start = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(start["status"], "draft");
    assert_eq!(missing_counts(&start), expected_counts([7, 5, 3, 5]));
    for step in start["steps"].as_array().unwrap() {
        assert_eq!(step["required"], step["missing"], "nothing is there yet");
    }
    assert_eq!(start["business"]["legal_name"], json!(null));
    assert_eq!(start["documents"], json!([]));
    assert_eq!(start["submitted_at"], json!(null));

    // Part of a step, blanks included, as forms send them.
    let part =
        json!({ "business": { "legal_name": "PT Bahari", "nib": "", "city": " Denpasar " } });
    let saved = world.updates_onboarding(&made, part).await.ok();
    assert_eq!(missing_counts(&saved), expected_counts([5, 5, 3, 5]));
    assert_eq!(saved["business"]["city"], "Denpasar");
    let more = json!({ "business": { "nib": "1234567890123", "description": "Fast boats" } });
    let saved = world.updates_onboarding(&made, more).await.ok();
    assert_eq!(saved["business"]["legal_name"], "PT Bahari", "what is left out stays");
    assert_eq!(saved["business"]["description"], "Fast boats");
    let cleared = json!({ "business": { "city": null, "description": "" }, "pic": null });
    let saved = world.updates_onboarding(&made, cleared).await.ok();
    assert_eq!(saved["business"]["city"], json!(null));
    assert_eq!(saved["business"]["description"], json!(null));

    let saved = world.updates_onboarding(&made, onboarding_body()).await.ok();
    assert_eq!(missing_counts(&saved), expected_counts([0, 0, 0, 5]));
    assert_eq!(saved["pic"]["phone"], "+6281234567890");
    assert_eq!(saved["pic"]["email"], "made@bahari.id");
    assert_eq!(saved["pic"]["nik"], NIK, "the partner reads its own numbers");
    assert_eq!(saved["bank_account"]["account_number"], ACCOUNT);
    assert_eq!(saved["bank_account_status"], "pending");
    let handed = world.uploads_documents(&made, &REQUIRED).await.ok();
    assert_eq!(missing_counts(&handed), expected_counts([0, 0, 0, 0]));
    let document = &handed["documents"][0];
    assert_eq!(document["type"], "bank_book");
    assert_eq!(document["status"], "pending");
    assert_eq!(document["file"]["filename"], "bank_book.pdf");
    let url = document["file"]["url"].as_str().unwrap();
    let (_, path) = url.split_once("/v1").unwrap();
    let (status, headers, _) = world.get(&format!("/v1{path}")).bytes().await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "application/pdf"));

    let sent = world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    assert_eq!(sent["status"], "in_review");
    assert_eq!(sent["submitted_at"], "2026-11-15T03:00:00Z");
    assert_eq!(
        world.get("/v1/mitra/onboarding").by(&made).send().await.ok()["status"],
        "in_review"
    );
    world.updates_onboarding(&made, json!({ "submit": true })).await.is(409, "invalid_state");
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    assert_eq!(letters.len(), 2, "welcome, and that the papers have arrived");
    assert!(letters[1].contains("We have received your documents"));
}

async fn faults_are_named_and_nothing_is_written(world: World) {
    let made = world.partner("made@bahari.id").await;
    let rubbish = json!({
        "business": { "legal_name": 7, "nib": "123", "npwp": "12345678901234", "city": "Denpasar" },
        "pic": { "phone": "12", "email": "made", "nik": "517101230485000x" },
        "bank_account": { "account_number": "12 34", "bank_code": "B".repeat(21) },
        "documents": [{ "type": "passport", "file_id": "" }],
        "submit": "yes",
    });
    world.updates_onboarding(&made, rubbish).await.has_field_errors(&[
        ("bank_account.account_number", "format"),
        ("bank_account.bank_code", "max_length"),
        ("business.legal_name", "type"),
        ("business.nib", "format"),
        ("business.npwp", "format"),
        ("documents[0].type", "enum"),
        ("pic.email", "format"),
        ("pic.nik", "format"),
        ("pic.phone", "format"),
        ("submit", "type"),
    ]);
    let papers = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(missing_counts(&papers), expected_counts([7, 5, 3, 5]));
}

async fn an_incomplete_submission_names_each_missing_field(world: World) {
    let made = world.partner("made@bahari.id").await;
    let mut some = onboarding_body();
    some["business"].as_object_mut().unwrap().remove("npwp");
    some["pic"].as_object_mut().unwrap().remove("nik");
    some["submit"] = json!(true);
    world.updates_onboarding(&made, some).await.has_field_errors(&[
        ("business.npwp", "required"),
        ("documents.bank_book", "required"),
        ("documents.deed", "required"),
        ("documents.nib", "required"),
        ("documents.npwp", "required"),
        ("documents.operating_permit", "required"),
        ("pic.nik", "required"),
    ]);
    let after = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(after["status"], "draft");
    assert_eq!(after["business"]["legal_name"], json!(null), "a refusal writes nothing");

    let mut individual = crate::world::registration("ketut@bahari.id");
    individual["partnerType"] = json!("individual");
    world.post("/auth/register-mitra", individual).send().await.ok();
    let ketut = world.signs_in("ketut@bahari.id", "mitra").await;
    let steps = world.get("/v1/mitra/onboarding").by(&ketut).send().await.ok();
    assert_eq!(steps["steps"][3]["missing"], json!(["ktp", "bank_book", "operating_permit"]));
}

async fn only_own_ready_documents_are_handed_in(world: World) {
    let made = world.partner("made@bahari.id").await;
    let other = world.partner("other@bahari.id").await;
    let foreign = world.uploads_document(&other, "deed.pdf").await;
    let own = world.uploads_document(&made, "nib.pdf").await;
    let query = "filename=a.pdf&content_type=application/pdf&size=9&purpose=document";
    let pending = world.get(&format!("/v1/files/presign-url?{query}")).by(&made).send().await.ok();
    let documents = json!([
        { "type": "nib", "file_id": own }, { "type": "deed", "file_id": foreign },
        { "type": "npwp", "file_id": "rubbish" }, { "type": "ktp", "file_id": pending["file_id"] },
        { "type": "nib", "file_id": own },
    ]);
    world.updates_onboarding(&made, json!({ "documents": documents })).await.has_field_errors(&[
        ("documents[1].file_id", "unknown"),
        ("documents[2].file_id", "unknown"),
        ("documents[3].file_id", "unknown"),
        ("documents[4].type", "unique"),
    ]);
    assert_eq!(world.count("SELECT COUNT(*) FROM partner_documents").await, 0);
}

async fn a_partner_is_approved_document_by_document(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let reviewer = world.staff("putu@dermaga.test", &[PartnersRead, PartnersApprove]).await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &reviewer).await;
    let kinds: Vec<_> = documents.iter().map(|d| d["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["bank_book", "deed", "nib", "npwp", "operating_permit"]);
    let (last, first) = documents.split_last().unwrap();
    for document in first {
        let answer = world.reviews_document(&desk, &reviewer, document, "approved").await.ok();
        assert_eq!(answer["status"], "approved");
        assert_eq!(answer["mitra_status"], "in_review");
        assert_eq!(answer["reviewed_at"], "2026-11-15T03:00:00Z");
    }
    world.reviews_document(&desk, &reviewer, &first[0], "approved").await.is(409, "invalid_state");
    let answer = world.reviews_document(&desk, &reviewer, last, "approved").await.ok();
    assert_eq!(answer["mitra_status"], "active");
    let partner = world.get(&format!("{desk}/overview")).by(&reviewer).send().await.ok();
    assert_eq!(partner["mitra"]["status"], "active");
    assert_eq!(partner["mitra"]["verified_at"], "2026-11-15T03:00:00Z");
    let onboarding = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(onboarding["bank_account_status"], "approved", "its bank book was approved");
    for document in &documents {
        world
            .reviews_document(&desk, &reviewer, document, "rejected")
            .await
            .is(409, "invalid_state");
    }
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    assert!(letters.last().unwrap().contains("You can start selling"));
}

async fn a_rejection_asks_for_another_and_the_partner_submits_again(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    let silent = json!({ "document_id": documents[1]["id"], "status": "rejected", "note": " " });
    let path = format!("{desk}/document-approval");
    world.put(&path, silent).by(&admin).send().await.has_field_errors(&[("note", "required")]);
    world.reviews_document(&desk, &admin, &documents[0], "approved").await.ok();
    let answer = world.reviews_document(&desk, &admin, &documents[1], "rejected").await.ok();
    assert_eq!(answer["mitra_status"], "revision");

    let onboarding = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(onboarding["status"], "revision");
    assert_eq!(onboarding["review_note"], "It is blurred.");
    assert_eq!(onboarding["steps"][3]["missing"], json!(["deed"]));
    assert_eq!(onboarding["documents"][1]["note"], "It is blurred.");
    let again = world.updates_onboarding(&made, json!({ "submit": true })).await;
    again.has_field_errors(&[("documents.deed", "rejected")]);
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    assert!(letters.last().unwrap().contains("Deed of establishment: It is blurred."));

    world.uploads_documents(&made, &["deed"]).await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    let onboarding = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(onboarding["status"], "in_review");
    assert_eq!(onboarding["review_note"], json!(null));
    assert_eq!(onboarding["documents"][0]["status"], "approved", "what has passed has passed");
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(world.onboarding_status(&made).await, "active");
}

async fn a_replaced_document_of_an_active_partner_is_reviewed_alone(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    world.approves_all_documents(&desk, &admin).await;
    let waiting = async || {
        let statistics = world.get("/v1/mitra/manajemen/statistics").by(&admin).send().await.ok();
        statistics["awaiting_review"].clone()
    };
    assert_eq!(waiting().await, 0);
    let replaced = world.uploads_documents(&made, &["operating_permit"]).await.ok();
    assert_eq!(replaced["status"], "active", "business goes on");
    assert_eq!(replaced["documents"][4]["status"], "pending");
    assert_eq!(waiting().await, 1);
    world.updates_onboarding(&made, json!({ "submit": true })).await.is(409, "invalid_state");
    let permit = world.documents(&desk, &admin).await.pop().unwrap();
    let answer = world.reviews_document(&desk, &admin, &permit, "approved").await.ok();
    assert_eq!(answer["mitra_status"], "active");

    world.uploads_documents(&made, &["operating_permit"]).await.ok();
    let permit = world.documents(&desk, &admin).await.pop().unwrap();
    let answer = world.reviews_document(&desk, &admin, &permit, "rejected").await.ok();
    assert_eq!(answer["mitra_status"], "revision");
    world.uploads_documents(&made, &["operating_permit"]).await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(world.onboarding_status(&made).await, "active");
    let topics: Vec<(String, i64)> = world
        .db()
        .sql("SELECT topic, COUNT(*) FROM outbox GROUP BY topic ORDER BY topic")
        .all()
        .await
        .unwrap();
    let expected = [
        ("account.email_verification", 1),
        ("partner.approved", 2),
        ("partner.document_replaced", 2),
        ("partner.registered", 1),
        ("partner.revision", 1),
        ("partner.submitted", 2),
    ];
    assert_eq!(topics, expected.map(|(topic, count)| (topic.to_owned(), count)));
}

async fn a_verdict_on_a_replaced_document_is_too_late(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let seen = world.documents(&desk, &admin).await.remove(1);
    world.uploads_documents(&made, &["deed"]).await.ok();
    world.reviews_document(&desk, &admin, &seen, "approved").await.is(409, "invalid_state");
    let now = world.documents(&desk, &admin).await.remove(1);
    assert_ne!(now["id"], seen["id"]);
    assert_eq!(now["status"], "pending");
    assert_eq!(world.count("SELECT COUNT(*) FROM partner_documents").await, 6, "history stays");
}

async fn a_document_of_another_partner_is_unknown_here(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let other = world.submitted_partner("other@bahari.id").await;
    let admin = world.admin().await;
    let foreign = world.documents(&world.partner_path(&other).await, &admin).await.remove(0);
    let desk = world.partner_path(&made).await;
    let answer = world.reviews_document(&desk, &admin, &foreign, "approved").await;
    answer.has_field_errors(&[("document_id", "unknown")]);
    let untouched = world.documents(&world.partner_path(&other).await, &admin).await.remove(0);
    assert_eq!(untouched["status"], "pending");
    let nowhere = format!("/v1/mitra/manajemen/{}", dermaga::kernel::ids::fresh());
    world.reviews_document(&nowhere, &admin, &foreign, "approved").await.is(404, "not_found");
}

async fn two_reviewers_at_once_activate_a_partner_once(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let (one, two) = (world.admin().await, world.admin_with_email("two@dermaga.test").await);
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &one).await;
    for document in &documents[..3] {
        world.reviews_document(&desk, &one, document, "approved").await.ok();
    }
    let (a, b) = tokio::join!(
        world.reviews_document(&desk, &one, &documents[3], "approved"),
        world.reviews_document(&desk, &two, &documents[4], "approved"),
    );
    let mut statuses = [a.ok()["mitra_status"].clone(), b.ok()["mitra_status"].clone()];
    statuses.sort_by_key(Value::to_string);
    assert_eq!(statuses, ["active", "in_review"], "whoever is last activates");
    let approved = "SELECT COUNT(*) FROM outbox WHERE topic = 'partner.approved'";
    assert_eq!(world.count(approved).await, 1);
}

async fn a_changed_bank_account_waits_for_approval(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let approve =
        async |body| world.put(&format!("{desk}/bank-approval"), body).by(&admin).send().await;
    world.approves_all_documents(&desk, &admin).await;
    approve(json!({ "status": "approved" })).await.is(409, "invalid_state");
    let same = json!({ "bank_account": onboarding_body()["bank_account"] });
    let saved = world.updates_onboarding(&made, same).await.ok();
    assert_eq!(saved["bank_account_status"], "approved", "nothing has changed");
    let other = json!({ "bank_account": { "account_number": "9987654321" } });
    let saved = world.updates_onboarding(&made, other).await.ok();
    assert_eq!(saved["bank_account_status"], "pending");
    assert_eq!(saved["status"], "active");
    approve(json!({})).await.has_field_errors(&[("status", "required")]);
    approve(json!({ "status": "seen" })).await.has_field_errors(&[("status", "enum")]);
    let seen = |number: Value| json!({ "status": "approved", "account_number": number });
    approve(seen(json!(ACCOUNT))).await.is(409, "invalid_state");
    approve(seen(json!(5))).await.has_field_errors(&[("account_number", "type")]);
    approve(seen(json!("9987654321"))).await.ok();
    let edit = world.get(&format!("{desk}/edit")).by(&admin).send().await.ok();
    assert_eq!(edit["bank_account_status"], "approved");

    world.updates_onboarding(&made, json!({ "bank_account": { "bank_code": "BNI" } })).await.ok();
    let seen = json!({ "status": "approved", "bank_code": "BCA" });
    approve(seen).await.is(409, "invalid_state");
    approve(json!({ "status": "approved" })).await.ok();
    approve(json!({ "status": "approved" })).await.is(409, "invalid_state");
}

async fn an_account_changed_under_review_wants_its_bank_book_seen_again(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    world.reviews_document(&desk, &admin, &documents[0], "approved").await.ok();
    let other = |number: &str| json!({ "bank_account": { "account_number": number } });
    let saved = world.updates_onboarding(&made, other("9987654321")).await.ok();
    assert_eq!(saved["documents"][0]["status"], "pending");
    for document in &documents[1..] {
        world.reviews_document(&desk, &admin, document, "approved").await.ok();
    }
    assert_eq!(world.onboarding_status(&made).await, "in_review");
    // Whoever looks at it just now looks at an account that is about to be another.
    let seen = world.documents(&desk, &admin).await.remove(0);
    world.updates_onboarding(&made, other("1112223334")).await.ok();
    world.reviews_document(&desk, &admin, &seen, "approved").await.is(409, "invalid_state");
    let seen = world.documents(&desk, &admin).await.remove(0);
    world.reviews_document(&desk, &admin, &seen, "approved").await.ok();
    assert_eq!(world.onboarding_status(&made).await, "active");
}

async fn the_type_changes_only_while_papers_can_be_handed_in(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let clerk = world.staff("ayu@dermaga.test", &[PartnersRead, PartnersWrite]).await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let form = |kind: &str| {
        json!({
            "name": "Made", "email": "made@bahari.id", "phone": "081234567890", "address": "",
            "partnerType": kind,
        })
    };
    let put = async |kind| world.put(&desk, form(kind)).by(&clerk).send().await;
    put("company").await.ok();
    put("individual").await.is(409, "invalid_state");
    let deed = world.documents(&desk, &admin).await.remove(1);
    assert_eq!(deed["type"], "deed");
    world.reviews_document(&desk, &admin, &deed, "rejected").await.ok();
    put("individual").await.ok();
    let papers = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(papers["steps"][3]["missing"], json!(["ktp"]), "a person needs no deed");
    world.uploads_documents(&made, &["ktp"]).await.ok();
    world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    world.approves_all_documents(&desk, &admin).await;
    assert_eq!(world.onboarding_status(&made).await, "active");
    put("company").await.is(409, "invalid_state");
}

async fn a_rejected_document_that_is_not_required_holds_nobody_up(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    world.uploads_documents(&made, &["ktp"]).await.ok();
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    let documents = world.documents(&desk, &admin).await;
    let ktp = documents.iter().find(|d| d["type"] == "ktp").unwrap();
    for document in &documents {
        if document["type"] != "ktp" {
            world.reviews_document(&desk, &admin, document, "approved").await.ok();
        }
    }
    assert_eq!(world.onboarding_status(&made).await, "active");
    let answer = world.reviews_document(&desk, &admin, ktp, "rejected").await.ok();
    assert_eq!(answer["mitra_status"], "revision");
    let after = world.updates_onboarding(&made, json!({ "submit": true })).await.ok();
    assert_eq!(after["status"], "active", "all that is required has passed");
}

async fn what_was_handed_in_is_not_taken_back(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let gone = json!({ "pic": { "nik": null }, "bank_account": { "account_number": "" } });
    let expected = [("bank_account.account_number", "required"), ("pic.nik", "required")];
    world.updates_onboarding(&made, gone.clone()).await.has_field_errors(&expected);
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    world.approves_all_documents(&desk, &admin).await;
    world.updates_onboarding(&made, gone).await.has_field_errors(&expected);
    let other = json!({ "business": { "city": "Gianyar", "description": "New" } });
    assert_eq!(world.updates_onboarding(&made, other).await.ok()["business"]["city"], "Gianyar");
}

async fn sending_the_same_documents_again_changes_nothing(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    world.approves_all_documents(&desk, &admin).await;
    let documents = world.documents(&desk, &admin).await;
    let again: Vec<_> = documents
        .iter()
        .map(|d| json!({ "type": d["type"], "file_id": d["file"]["id"] }))
        .collect();
    let after = world.updates_onboarding(&made, json!({ "documents": again })).await.ok();
    assert_eq!(after["documents"][0]["status"], "approved");
    assert_eq!(after["documents"][0]["id"], documents[0]["id"]);
}

async fn numbers_are_for_the_partner_and_its_reviewers(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let desk = world.partner_path(&made).await;
    let reader = world.staff("ayu@dermaga.test", &[PartnersRead, PartnersImpersonate]).await;
    let reviewer = world.staff("putu@dermaga.test", &[PartnersRead, PartnersApprove]).await;
    let edit = async |who| world.get(&format!("{desk}/edit")).by(who).send().await.ok();
    let masked = edit(&reader).await;
    assert_eq!(masked["pic"]["nik"], "************0001");
    assert_eq!(masked["bank_account"]["account_number"], "******5678");
    assert_eq!(masked["business"]["npwp"], "123456789012345");
    assert_eq!(masked["name"], "Made Bahari");
    assert_eq!(masked["partnerType"], "company");
    assert_eq!(masked["documents"][0]["file"]["url"], json!(null));
    let file = masked["documents"][0]["file"]["id"].as_str().unwrap();
    let (status, ..) = world.get(&format!("/v1/files/{file}")).by(&reader).bytes().await;
    assert_eq!(status, 404);

    let clear = edit(&reviewer).await;
    assert_eq!(clear["pic"]["nik"], NIK);
    assert_eq!(clear["bank_account"]["account_number"], ACCOUNT);
    assert!(clear["documents"][0]["file"]["url"].is_string());
    let (status, ..) = world.get(&format!("/v1/files/{file}")).by(&reviewer).bytes().await;
    assert_eq!(status, 200);

    // Acting for the partner shows no more than one may see anyway.
    let acting = world.impersonates(&desk, &reader).await;
    let masked = world.get("/v1/mitra/onboarding").by(&acting).send().await.ok();
    assert_eq!(masked["pic"]["nik"], "************0001");
    assert_eq!(masked["documents"][0]["file"]["url"], json!(null));
    let (status, ..) = world.get(&format!("/v1/files/{file}")).by(&acting).bytes().await;
    assert_eq!(status, 404);

    // The NPWP of a person is their NIK, whoever is in charge.
    world
        .updates_onboarding(&made, json!({ "business": { "npwp": "5171012304859999" } }))
        .await
        .ok();
    assert_eq!(edit(&reader).await["business"]["npwp"], "************9999");
    assert_eq!(edit(&reviewer).await["business"]["npwp"], "5171012304859999");
    world
        .updates_onboarding(&made, json!({ "business": { "npwp": "0123456789012345" } }))
        .await
        .ok();
    assert_eq!(edit(&reader).await["business"]["npwp"], "0123456789012345");
    // What is masked cannot be sent back as if it were the number.
    let echo = json!({ "pic": { "nik": "************0001" } });
    world.updates_onboarding(&made, echo).await.has_field_errors(&[("pic.nik", "format")]);
}

async fn numbers_rest_sealed(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    world.updates_onboarding(&made, json!({ "business": { "npwp": NIK } })).await.ok();
    let admin = world.admin().await;
    let desk = world.partner_path(&made).await;
    world.approves_all_documents(&desk, &admin).await;
    let acting = world.impersonates(&desk, &admin).await;
    world.updates_onboarding(&acting, json!({ "pic": { "nik": "5171012304850002" } })).await.ok();
    let everything = world.all_stored_data().await;
    assert!(everything.contains("PT Bahari Jaya"), "this is where it would be");
    for number in [NIK, ACCOUNT, "5171012304850002"] {
        assert!(!everything.contains(number), "{number} can be read at rest");
    }
}

async fn an_individual_needs_neither_nib_nor_npwp(world: World) {
    let mut registration = crate::world::registration("ketut@bahari.id");
    registration["partnerType"] = json!("individual");
    world.post("/auth/register-mitra", registration).send().await.ok();
    world.verifies_email("ketut@bahari.id").await;
    let ketut = world.signs_in("ketut@bahari.id", "mitra").await;
    let mut some = onboarding_body();
    for number in ["nib", "npwp"] {
        some["business"].as_object_mut().unwrap().remove(number);
    }
    let saved = world.updates_onboarding(&ketut, some).await.ok();
    assert_eq!(missing_counts(&saved), expected_counts([0, 0, 0, 3]));
    world.uploads_documents(&ketut, &["ktp", "bank_book", "operating_permit"]).await.ok();
    let sent = world.updates_onboarding(&ketut, json!({ "submit": true })).await.ok();
    assert_eq!(sent["status"], "in_review");
    // They may be given, and taken back.
    let given = json!({ "business": { "nib": "1234567890123", "npwp": "123456789012345" } });
    assert_eq!(
        world.updates_onboarding(&ketut, given).await.ok()["business"]["nib"],
        "1234567890123"
    );
    let wrong = json!({ "business": { "nib": "12" } });
    world.updates_onboarding(&ketut, wrong).await.has_field_errors(&[("business.nib", "format")]);
    let taken_back = json!({ "business": { "nib": null, "npwp": "" } });
    assert_eq!(
        world.updates_onboarding(&ketut, taken_back).await.ok()["business"]["nib"],
        json!(null)
    );
    let admin = world.admin().await;
    world.approves_all_documents(&world.partner_path(&ketut).await, &admin).await;
    assert_eq!(world.onboarding_status(&ketut).await, "active");
}

async fn the_key_can_be_changed(world: World) {
    let made = world.submitted_partner("made@bahari.id").await;
    let admin = world.admin().await;
    world.approves_all_documents(&world.partner_path(&made).await, &admin).await;
    let old = world.app.sealer.seal("x").unwrap();
    let key = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=";
    let world = world.restarts_with(|config| {
        let old = config.secret_key.replace(dermaga::kernel::secret::Secret::new(key));
        config.old_secret_keys.0.extend(old);
    });
    let world = world.await;
    let made = world.signs_in(&made.email, "mitra").await;
    let nik = async |world: &World| {
        let papers = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
        papers["pic"]["nik"].clone()
    };
    assert_eq!(nik(&world).await, NIK);
    assert_eq!(world.app.reseal().await.unwrap(), 1);
    assert_eq!(world.app.reseal().await.unwrap(), 0);
    assert_eq!(nik(&world).await, NIK);
    let papers = world.get("/v1/mitra/onboarding").by(&made).send().await.ok();
    assert_eq!(papers["approved_bank_account"]["account_number"], ACCOUNT);
    let prefix = old.split(':').next().unwrap().to_owned();
    let under_it: i64 = world
        .db()
        .sql(
            "SELECT COUNT(*) FROM onboardings
             WHERE pic_nik LIKE $1 OR account_number LIKE $1 OR npwp LIKE $1
               OR approved_account_number LIKE $1",
        )
        .bind(format!("{prefix}%"))
        .scalar()
        .await
        .unwrap();
    assert_eq!(under_it, 0);
}
