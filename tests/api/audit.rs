//! Every change of an admin, of staff or of an impersonated session leaves an entry.

use dermaga::kernel::{
    access::{Role, Rule},
    audit::Change,
    caller::{Caller, Context, Person},
    ids,
    lang::Lang,
};
use serde_json::{Value, json};

use crate::{on_both_engines, world::World};

on_both_engines![
    a_change_is_recorded_with_who_what_and_whence,
    a_change_without_an_entry_does_not_commit,
    a_partner_who_acts_in_person_is_not_audited,
];

#[derive(sqlx::FromRow)]
struct Entry {
    actor_email: String,
    action: String,
    entity_id: ids::Uuid,
    before_change: Option<Value>,
    after_change: Option<Value>,
    address: String,
    user_agent: Option<String>,
    request_id: String,
}

async fn a_change_is_recorded_with_who_what_and_whence(world: World) {
    let staff = world.staff("putu@dermaga.test", &[Rule::UsersRead]).await;
    let profile = json!({
        "name": "Putu", "email": "putu@dermaga.test", "phone": "081234567890", "avatar_file_id": "",
    });
    let call = world.put("/user/me", profile).by(&staff).header("user-agent", "harbour/1");
    call.header("x-request-id", "request-7").send().await.ok();
    let entry: Entry = world
        .db()
        .sql(
            "SELECT actor_email, action, entity_id, before_change, after_change, address,
               user_agent, request_id
             FROM audit_logs",
        )
        .one()
        .await
        .unwrap();
    assert_eq!(entry.actor_email, "putu@dermaga.test");
    assert_eq!(entry.action, "account.updated");
    assert_eq!(entry.entity_id.to_string(), staff.id);
    assert_eq!(entry.before_change.as_ref().unwrap()["name"], "Wayan");
    assert_eq!(entry.after_change.as_ref().unwrap()["name"], "Putu");
    assert_eq!(entry.address, "127.0.0.1");
    assert_eq!(entry.user_agent.as_deref(), Some("harbour/1"));
    assert_eq!(entry.request_id, "request-7");
    let text = format!("{:?}{:?}", entry.before_change, entry.after_change);
    assert!(!text.contains("argon2"));
}

async fn a_change_without_an_entry_does_not_commit(world: World) {
    let admin = world.admin().await;
    let caller = caller(&world, admin.id.parse().unwrap(), Role::Admin);
    let rename = "UPDATE accounts SET name = 'Renamed' WHERE email = 'admin@dermaga.test'";
    let renamed = "SELECT COUNT(*) FROM accounts WHERE name = 'Renamed'";

    let mut tx = caller.begin(world.db(), world.now()).await.unwrap();
    tx.sql(rename).run().await.unwrap();
    assert!(tx.commit().await.is_err());
    assert_eq!(world.count(renamed).await, 0);

    let mut tx = caller.begin(world.db(), world.now()).await.unwrap();
    tx.sql(rename).run().await.unwrap();
    let id = caller.person.id;
    let change = Change { action: "x", entity: "account", id, before: None, after: None };
    tx.record(change).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.count(renamed).await, 1);
}

async fn a_partner_who_acts_in_person_is_not_audited(world: World) {
    let made = world.partner("made@bahari.id").await;
    world.post("/v1/auth/logout", json!({})).by(&made).send().await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_logs").await, 0);
}

fn caller(_: &World, id: ids::Uuid, role: Role) -> Caller {
    Caller {
        session_id: ids::fresh(),
        person: Person { id, name: "Wayan".into(), email: "admin@dermaga.test".into() },
        role,
        level: None,
        rules: Vec::new(),
        partner_id: None,
        impersonator: None,
        context: Context {
            request_id: "r".into(),
            lang: Lang::En,
            address: [127, 0, 0, 1].into(),
            user_agent: None,
        },
    }
}
