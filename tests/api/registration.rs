//! Registering as a partner.

use serde_json::json;

use crate::{
    on_both_engines,
    world::{World, registration},
};

on_both_engines![
    a_partner_registers_and_starts_as_a_draft,
    two_registrations_with_one_email_at_once_make_one_account,
    every_fault_is_named_at_once,
    phones_are_kept_as_e164,
    a_password_that_knows_the_person_is_weak,
    what_postgres_cannot_store_is_refused,
];

async fn a_partner_registers_and_starts_as_a_draft(world: World) {
    let data = world.post("/auth/register-mitra", registration("Made@Bahari.ID")).send().await.ok();
    assert_eq!(data["user"]["email"], "made@bahari.id");
    assert_eq!(data["user"]["role"], "mitra");
    assert_eq!(data["user"]["status"], "active");
    assert_eq!(data["user"]["email_verified"], false);
    assert_eq!(data["mitra"]["status"], "draft");
    assert_eq!(data["mitra"]["partnerType"], "company");
    assert_eq!(data["mitra"]["user_id"], data["user"]["id"]);
    assert!(data["user"].get("password_hash").is_none());

    let made = world.signs_in("made@bahari.id", "mitra").await;
    let profile = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(profile["mitra"]["id"], data["mitra"]["id"]);
    assert_eq!(profile["mitra"]["partnerType"], "company");
    assert_eq!(profile["permission"], json!(null));
    world.delivers_outbox().await;
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, 0);
}

async fn two_registrations_with_one_email_at_once_make_one_account(world: World) {
    let forms = ["made@bahari.id", "MADE@bahari.id", "made@bahari.id", "Made@Bahari.id"];
    let calls = forms.map(|email| world.post("/auth/register-mitra", registration(email)).send());
    let [a, b, c, d] = calls;
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    let (won, lost): (Vec<_>, Vec<_>) = [a, b, c, d].into_iter().partition(|a| a.status == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        answer.is(409, "email_taken");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM accounts").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM partners").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, 2, "the event and a letter");
}

async fn every_fault_is_named_at_once(world: World) {
    let answer = world
        .post(
            "/auth/register-mitra",
            json!({
                "name": "   ", "email": "made", "phone": "12", "password": "short",
                "cpassword": "other", "partnerType": "boat",
            }),
        )
        .send()
        .await;
    answer.has_field_errors(&[
        ("address", "required"),
        ("cpassword", "same"),
        ("email", "format"),
        ("name", "required"),
        ("partnerType", "enum"),
        ("password", "min_length"),
        ("phone", "format"),
    ]);
    // A vast name must not keep the service busy.
    let mut form = registration("made@bahari.id");
    form["name"] = json!("p4ssw0rd ".repeat(100_000));
    world
        .post("/auth/register-mitra", form)
        .send()
        .await
        .has_field_errors(&[("name", "max_length")]);
    assert_eq!(world.count("SELECT COUNT(*) FROM accounts").await, 0);
}

async fn phones_are_kept_as_e164(world: World) {
    let phones = [
        json!(81234567890_u64),
        json!(6281234567890_u64),
        json!("081234567890"),
        json!("+62 812-3456-7890"),
    ];
    for (n, phone) in phones.into_iter().enumerate() {
        let mut form = registration(&format!("made{n}@bahari.id"));
        form["phone"] = phone;
        let data = world.post("/auth/register-mitra", form).send().await.ok();
        assert_eq!(data["user"]["phone"], "+6281234567890");
    }
    let mut form = registration("tourist@bahari.id");
    form["phone"] = json!("+61 412 345 678");
    let data = world.post("/auth/register-mitra", form).send().await.ok();
    assert_eq!(data["user"]["phone"], "+61412345678");
}

async fn a_password_that_knows_the_person_is_weak(world: World) {
    for weak in ["password1", "Made Bahari", "madebahari", "bahari2026"] {
        let mut form = registration("made@bahari.id");
        form["password"] = json!(weak);
        form["cpassword"] = json!(weak);
        let answer = world.post("/auth/register-mitra", form).send().await;
        answer.has_field_errors(&[("password", "weak")]);
    }
}

async fn what_postgres_cannot_store_is_refused(world: World) {
    let mut form = registration("made@bahari.id");
    form["name"] = json!("Ma\u{0}de");
    form["address"] = json!("a\u{0}b");
    let answer = world.post("/auth/register-mitra", form).send().await;
    // A NUL character ends validation.
    answer.has_field_errors(&[("address", "characters")]);
}
