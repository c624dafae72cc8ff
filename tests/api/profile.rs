//! One's own profile.

use dermaga::kernel::{access::Rule, ids};
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{PASSWORD, World},
};

on_both_engines![
    a_profile_is_read_and_changed,
    an_email_of_somebody_else_is_taken,
    an_unknown_avatar_is_refused,
    staff_see_their_permission,
    an_impersonated_session_cannot_take_the_account_over,
];

fn profile() -> Value {
    json!({
        "name": "Made Arta", "email": "arta@bahari.id", "phone": "0812 9999 8888",
        "avatar_file_id": "", "current_password": PASSWORD,
    })
}

async fn a_profile_is_read_and_changed(world: World) {
    let made = world.partner("made@bahari.id").await;
    let data = world.put("/user/me", profile()).by(&made).send().await.ok();
    assert_eq!(data["name"], "Made Arta");
    assert_eq!(data["email"], "made@bahari.id", "it is not confirmed yet");
    assert_eq!(data["pending_email"], "arta@bahari.id");
    assert_eq!(data["phone"], "+6281299998888");
    assert_eq!(data["avatar_url"], json!(null));
    assert_eq!(data, world.get("/user/me").by(&made).send().await.ok());
    let answer = world.put("/user/me", json!({})).by(&made).send().await;
    answer.has_field_errors(&[
        ("avatar_file_id", "required"),
        ("email", "required"),
        ("name", "required"),
        ("phone", "required"),
    ]);
}

async fn an_email_of_somebody_else_is_taken(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.partner("arta@bahari.id").await;
    world.put("/user/me", profile()).by(&made).send().await.is(409, "email_taken");
    let unchanged = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(unchanged["name"], "Made Bahari");
}

async fn an_unknown_avatar_is_refused(world: World) {
    let made = world.partner("made@bahari.id").await;
    for unknown in [ids::fresh().to_string(), "rubbish".into()] {
        let mut profile = profile();
        profile["avatar_file_id"] = json!(unknown);
        let answer = world.put("/user/me", profile).by(&made).send().await;
        answer.has_field_errors(&[("avatar_file_id", "unknown")]);
    }
}

async fn staff_see_their_permission(world: World) {
    let staff = world.staff("putu@dermaga.test", &[Rule::UsersRead, Rule::AuditRead]).await;
    let data = world.get("/user/me").by(&staff).send().await.ok();
    assert_eq!(data["permission"]["level"], "operator");
    assert_eq!(data["permission"]["rules"], json!(["users.read", "audit.read"]));
    assert_eq!(data["mitra"], json!(null));
}

async fn an_impersonated_session_cannot_take_the_account_over(world: World) {
    let made = world.partner("made@bahari.id").await;
    let admin = world.admin().await;
    world
        .db()
        .sql(
            "UPDATE sessions SET impersonator_id = $1, authenticated_at = NULL
             WHERE account_id = $2",
        )
        .bind(admin.id.parse::<ids::Uuid>().unwrap())
        .bind(made.id.parse::<ids::Uuid>().unwrap())
        .run()
        .await
        .unwrap();
    let data = world.get("/user/me").by(&made).send().await.ok();
    assert_eq!(data["impersonated_by"]["id"], json!(admin.id));

    world.put("/user/me", profile()).by(&made).send().await.is(403, "forbidden");
    let body = json!({ "current_password": "x", "password": "layar putih 7 dermaga", "cpassword": "layar putih 7 dermaga" });
    world.put("/user/me/password", body).by(&made).send().await.is(403, "forbidden");
    let enrol = world.post("/auth/remember-me", json!({ "email": "made@bahari.id" }));
    enrol.by(&made).send().await.is(403, "forbidden");

    let mut same_email = profile();
    same_email["email"] = json!("made@bahari.id");
    world.put("/user/me", same_email).by(&made).send().await.ok();
    let (actor, behalf): (ids::Uuid, Option<ids::Uuid>) =
        world.db().sql("SELECT actor_id, on_behalf_of_id FROM audit_logs").one().await.unwrap();
    assert_eq!(
        (actor.to_string(), behalf.map(|id| id.to_string())),
        (admin.id.clone(), Some(made.id.clone()))
    );

    // Whoever loses their own account loses the other's too.
    world.set_status(&admin, "inactive").await;
    world.get("/user/me").by(&made).send().await.is(401, "unauthenticated");
}
