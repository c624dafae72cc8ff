//! Staff, and that nobody reaches above themselves.

use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_staff_member_is_invited_and_signs_in,
    faults_are_named,
    a_staff_member_is_changed,
    switching_off_ends_the_sessions,
    a_deleted_member_frees_the_email_and_leaves_the_name,
    the_list_has_two_objects,
    a_salary_is_for_those_who_may_see_it,
    nobody_assigns_a_permission_beyond_them,
    nobody_touches_a_colleague_at_or_above_their_level,
    nobody_edits_themselves,
    the_own_profile_is_no_way_up,
    two_assignments_and_a_raise_at_once,
    bank_numbers_rest_sealed_and_never_reach_the_audit_log,
];

async fn create_permission(world: &World, admin: &Someone, level: &str) -> String {
    let name = dermaga::kernel::ids::fresh().to_string();
    let form = json!({ "name": name, "description": "", "level": level, "rules": ["fleet.read"] });
    let made = world.post("/v1/permission", form).by(admin).send().await.ok();
    made["id"].as_str().unwrap().to_owned()
}

fn staff_body(email: &str, permission: &str) -> Value {
    json!({
        "name": "Komang Ayu", "email": email, "msisdn": "081234567890",
        "join_date": "2026-11-01", "status": "active", "permission_id": permission,
        "working_type": "full_time", "show_salary": false, "salary": 7_500_000,
        "address": { "street": "Jl. Danau Tamblingan 5", "city": "Denpasar",
            "province": "Bali", "postal_code": "80228" },
        "bank_account": { "bank_code": "BCA", "account_number": "7712345678",
            "account_name": "Komang Ayu" },
    })
}

async fn create_staff(world: &World, who: &Someone, form: Value) -> Answer {
    world.post("/v1/staff", form).by(who).send().await
}

fn path(staff: &Value) -> String {
    format!("/v1/staff/{}", staff["id"].as_str().unwrap())
}

async fn a_staff_member_is_invited_and_signs_in(world: World) {
    let admin = world.admin().await;
    let desk = create_permission(&world, &admin, "operator").await;
    let made = create_staff(&world, &admin, staff_body("Komang@Dermaga.test", &desk)).await.ok();
    assert_eq!(made["email"], "komang@dermaga.test");
    assert_eq!(made["msisdn"], "+6281234567890");
    assert_eq!(made["permission"]["level"], "operator");
    assert_eq!(made["salary"], 7_500_000);
    assert_eq!(made["bank_account"]["account_number"], "7712345678");
    assert_eq!(world.get(&path(&made)).by(&admin).send().await.ok(), made);
    create_staff(&world, &admin, staff_body("komang@dermaga.test", &desk))
        .await
        .is(409, "email_taken");

    world.delivers_outbox().await;
    let password = "layar putih 7 dermaga tua";
    let body = json!({
        "token": world.mailed_token("komang@dermaga.test"),
        "password": password, "cpassword": password,
    });
    world.post("/auth/reset-password", body).send().await.ok();
    let body = json!({ "email": "komang@dermaga.test", "password": password, "role": "staff" });
    let data = world.post("/v1/auth/login", body).send().await.ok();
    assert_eq!(data["user"]["id"], made["user_id"]);
}

async fn faults_are_named(world: World) {
    let admin = world.admin().await;
    let unknown = dermaga::kernel::ids::fresh().to_string();
    let answer = create_staff(&world, &admin, staff_body("komang@dermaga.test", &unknown)).await;
    answer.has_field_errors(&[("permission_id", "unknown")]);
    let mut bad = staff_body("komang@dermaga.test", "rubbish");
    bad["join_date"] = json!("2026-02-30");
    bad["salary"] = json!(-1);
    bad["working_type"] = json!("sometimes");
    bad["show_salary"] = json!("no");
    bad["address"] = json!({ "street": "x" });
    bad["bank_account"]["account_number"] = json!("12 34");
    create_staff(&world, &admin, bad).await.has_field_errors(&[
        ("address.city", "required"),
        ("address.postal_code", "required"),
        ("address.province", "required"),
        ("bank_account.account_number", "format"),
        ("join_date", "format"),
        ("permission_id", "format"),
        ("salary", "min"),
        ("show_salary", "type"),
        ("working_type", "enum"),
    ]);
    assert_eq!(world.count("SELECT COUNT(*) FROM staff").await, 0);
}

async fn a_staff_member_is_changed(world: World) {
    let admin = world.admin().await;
    let desk = create_permission(&world, &admin, "operator").await;
    let made = create_staff(&world, &admin, staff_body("komang@dermaga.test", &desk)).await.ok();
    let other = create_permission(&world, &admin, "viewer").await;
    let mut change = staff_body("ayu@dermaga.test", &other);
    change["name"] = json!("Ayu");
    change["salary"] = json!(8_000_000);
    let changed = world.put(&path(&made), change).by(&admin).send().await.ok();
    assert_eq!((&changed["id"], &changed["user_id"]), (&made["id"], &made["user_id"]));
    assert_eq!(changed["email"], "ayu@dermaga.test");
    assert_eq!(changed["permission"]["level"], "viewer");
    assert_eq!(changed["salary"], 8_000_000);
    // The link in the first mailbox is dead, and the second has a new one.
    world.delivers_outbox().await;
    let reset = async |email: &str| {
        let password = "layar putih 7 dermaga tua";
        let token = world.mailed_token(email);
        let body = json!({ "token": token, "password": password, "cpassword": password });
        world.post("/auth/reset-password", body).send().await
    };
    reset("ayu@dermaga.test").await.ok();
    assert!(world.letters_to("komang@dermaga.test").is_empty(), "it was corrected in time");
    create_staff(&world, &admin, staff_body("komang@dermaga.test", &desk)).await.ok();
    let taken = world.put(&path(&made), staff_body("komang@dermaga.test", &desk)).by(&admin);
    taken.send().await.is(409, "email_taken");
}

async fn staff_record(world: &World, admin: &Someone, who: &Someone) -> Value {
    let found = world.get(&format!("/v1/staffs?search={}", who.email)).by(admin).send().await.ok();
    found["items"][0].clone()
}

async fn switching_off_ends_the_sessions(world: World) {
    let admin = world.admin().await;
    let putu = world.staff("putu@dermaga.test", &[UsersRead]).await;
    let record = staff_record(&world, &admin, &putu).await;
    let desk = create_permission(&world, &admin, "operator").await;
    let mut off = staff_body("putu@dermaga.test", &desk);
    off["status"] = json!("inactive");
    world.put(&path(&record), off.clone()).by(&admin).send().await.ok();
    world.get("/user/me").by(&putu).send().await.is(401, "unauthenticated");
    world.login("putu@dermaga.test", "staff").await.is(403, "account_inactive");
    off["status"] = json!("active");
    world.put(&path(&record), off).by(&admin).send().await.ok();
    world.login("putu@dermaga.test", "staff").await.ok();
}

async fn a_deleted_member_frees_the_email_and_leaves_the_name(world: World) {
    let admin = world.admin().await;
    let putu = world.staff("putu@dermaga.test", &[UsersRead]).await;
    let record = staff_record(&world, &admin, &putu).await;
    let held = record["permission_id"].as_str().unwrap();
    world.delete(&path(&record)).by(&admin).send().await.ok();
    world.get("/user/me").by(&putu).send().await.is(401, "unauthenticated");
    world.login("putu@dermaga.test", "staff").await.is(401, "invalid_credentials");
    world.get(&path(&record)).by(&admin).send().await.is(404, "not_found");
    world.delete(&path(&record)).by(&admin).send().await.is(404, "not_found");
    world.get(&format!("/v1/users/{}", putu.id)).by(&admin).send().await.is(404, "not_found");
    world.delete(&format!("/v1/permission/{held}")).by(&admin).send().await.ok();
    let desk = create_permission(&world, &admin, "operator").await;
    create_staff(&world, &admin, staff_body("putu@dermaga.test", &desk)).await.ok();
    let gone = "SELECT COUNT(*) FROM accounts WHERE name = 'Wayan' AND deleted_at IS NOT NULL";
    assert_eq!(world.count(gone).await, 1);
}

async fn the_list_has_two_objects(world: World) {
    let admin = world.admin().await;
    let (desk, low) = (
        create_permission(&world, &admin, "supervisor").await,
        create_permission(&world, &admin, "viewer").await,
    );
    create_staff(&world, &admin, staff_body("b@dermaga.test", &desk)).await.ok();
    let mut off = staff_body("a@dermaga.test", &low);
    off["status"] = json!("inactive");
    off["join_date"] = json!("2026-12-01");
    create_staff(&world, &admin, off).await.ok();

    let emails = async |query: &str| {
        let data = world.get(&format!("/v1/staffs?{query}")).by(&admin).send().await.ok();
        let summary = json!({ "total": 2, "active": 1, "inactive": 1 });
        assert_eq!(data["summary"], summary);
        let items = data["items"].as_array().unwrap().iter();
        items
            .map(|item| item["email"].as_str().unwrap().chars().next().unwrap())
            .collect::<String>()
    };
    assert_eq!(emails("sort_by=email").await, "ab");
    assert_eq!(emails("sort_by=level&sort_dir=desc").await, "ba");
    assert_eq!(emails("sort_by=join_date&sort_dir=desc").await, "ab");
    assert_eq!(emails("search=SUPERVIS").await, "b");
    assert_eq!(emails("search=a@derm").await, "a");
    assert_eq!(emails("search=komang").await.len(), 2);
    assert_eq!(emails("level=viewer").await, "a");
    assert_eq!(emails("status=active&level=&search=").await, "b");
    let answer = world.get("/v1/staffs?page_size=1").by(&admin).send().await;
    assert_eq!(answer.body["pagination"]["total_pages"], 2);
    let bad = world.get("/v1/staffs?status=asleep&sort_by=salary").by(&admin).send().await;
    bad.has_field_errors(&[("sort_by", "enum"), ("status", "enum")]);
}

async fn a_salary_is_for_those_who_may_see_it(world: World) {
    let admin = world.admin().await;
    let reader = world.staff("reader@dermaga.test", &[StaffRead]).await;
    let desk = create_permission(&world, &admin, "viewer").await;
    let made = create_staff(&world, &admin, staff_body("komang@dermaga.test", &desk)).await.ok();
    let seen = async |who: &Someone, path: &str| {
        world.get(path).by(who).send().await.ok()["salary"].clone()
    };
    assert_eq!(seen(&admin, &path(&made)).await, 7_500_000);
    assert_eq!(seen(&reader, &path(&made)).await, json!(null));
    let list = world.get("/v1/staffs?search=komang").by(&reader).send().await.ok();
    assert_eq!(list["items"][0]["salary"], json!(null));
    let own = staff_record(&world, &admin, &reader).await;
    assert_eq!(seen(&reader, &path(&own)).await, 0);
    let mut shown = staff_body("komang@dermaga.test", &desk);
    shown["show_salary"] = json!(true);
    world.put(&path(&made), shown).by(&admin).send().await.ok();
    assert_eq!(seen(&reader, &path(&made)).await, 7_500_000);
}

async fn nobody_assigns_a_permission_beyond_them(world: World) {
    let admin = world.admin().await;
    let rules = [StaffWrite, StaffRead, FleetRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    let below = create_permission(&world, &admin, "supervisor").await;
    let made = create_staff(&world, &boss, staff_body("a@dermaga.test", &below)).await.ok();
    let richer = json!({
        "name": "richer", "description": "", "level": "viewer",
        "rules": ["fleet.read", "settlements.release"],
    });
    let richer = world.post("/v1/permission", richer).by(&admin).send().await.ok();
    for beyond in [
        create_permission(&world, &admin, "manager").await,
        create_permission(&world, &admin, "owner").await,
        richer["id"].as_str().unwrap().to_owned(),
    ] {
        create_staff(&world, &boss, staff_body("b@dermaga.test", &beyond))
            .await
            .is(403, "forbidden");
        let raise = world.put(&path(&made), staff_body("a@dermaga.test", &beyond)).by(&boss);
        raise.send().await.is(403, "forbidden");
    }
}

async fn nobody_touches_a_colleague_at_or_above_their_level(world: World) {
    let admin = world.admin().await;
    let rules = [StaffWrite, StaffRead, FleetRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    let below = create_permission(&world, &admin, "viewer").await;
    for (n, level) in ["owner", "manager"].into_iter().enumerate() {
        let theirs = create_permission(&world, &admin, level).await;
        let email = format!("above{n}@dermaga.test");
        let above = create_staff(&world, &admin, staff_body(&email, &theirs)).await.ok();
        let lower = world.put(&path(&above), staff_body(&email, &below)).by(&boss);
        lower.send().await.is(403, "forbidden");
        world.put(&path(&above), json!({})).by(&boss).send().await.is(403, "forbidden");
        world.delete(&path(&above)).by(&boss).send().await.is(403, "forbidden");
    }
}

async fn nobody_edits_themselves(world: World) {
    let admin = world.admin().await;
    let rules = [StaffWrite, StaffRead, FleetRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    let own = staff_record(&world, &admin, &boss).await;
    let below = create_permission(&world, &admin, "viewer").await;
    for permission in [own["permission_id"].as_str().unwrap(), below.as_str()] {
        let edit = world.put(&path(&own), staff_body("boss@dermaga.test", permission)).by(&boss);
        edit.send().await.is(403, "forbidden");
    }
    world.delete(&path(&own)).by(&boss).send().await.is(403, "forbidden");
}

async fn the_own_profile_is_no_way_up(world: World) {
    let admin = world.admin().await;
    let putu = world.staff("putu@dermaga.test", &[UsersRead]).await;
    let owner = create_permission(&world, &admin, "owner").await;
    let profile = json!({
        "name": "Putu", "email": "putu@dermaga.test", "phone": "081234567890", "avatar_file_id": "",
        "role": "admin", "status": "active", "permission_id": owner, "level": "owner",
        "permission": { "rules": ["settlements.release"] }, "salary": 1_000_000_000,
    });
    world.put("/user/me", profile).by(&putu).send().await.ok();
    let me = world.get("/user/me").by(&putu).send().await.ok();
    assert_eq!(me["role"], "staff");
    assert_eq!(me["permission"]["level"], "operator");
    assert_eq!(me["permission"]["rules"], json!(["users.read"]));
}

/// A manager hires with a permission while an admin raises it above the manager.
async fn two_assignments_and_a_raise_at_once(world: World) {
    let admin = world.admin().await;
    let rules = [StaffWrite, StaffRead, FleetRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    for round in 0..5 {
        let desk = create_permission(&world, &admin, "operator").await;
        let raised = json!({
            "name": format!("raised {round}"), "description": "", "level": "owner",
            "rules": ["fleet.read"],
        });
        let raise_path = format!("/v1/permission/{desk}");
        let raise = world.put(&raise_path, raised).by(&admin).send();
        let first =
            create_staff(&world, &boss, staff_body(&format!("a{round}@dermaga.test"), &desk));
        let second =
            create_staff(&world, &boss, staff_body(&format!("b{round}@dermaga.test"), &desk));
        let (raise, first, second) = tokio::join!(raise, first, second);
        raise.ok();
        let hired = [&first, &second].iter().filter(|answer| answer.status == 200).count();
        let count = world.get(&raise_path).by(&admin).send().await.ok()["staff_count"].clone();
        assert_eq!(count, json!(hired));
        for answer in [first, second] {
            match answer.status {
                200 => assert_eq!(answer.ok()["permission"]["level"], "operator"),
                _ => drop(answer.is(403, "forbidden")),
            }
        }
    }
}

async fn bank_numbers_rest_sealed_and_never_reach_the_audit_log(world: World) {
    let admin = world.admin().await;
    let desk = create_permission(&world, &admin, "operator").await;
    let made = create_staff(&world, &admin, staff_body("komang@dermaga.test", &desk)).await.ok();
    world.put(&path(&made), staff_body("ayu@dermaga.test", &desk)).by(&admin).send().await.ok();
    world.delete(&path(&made)).by(&admin).send().await.ok();
    create_staff(&world, &admin, staff_body("wayan@dermaga.test", &desk)).await.ok();
    let at_rest: String =
        world.db().sql("SELECT account_number FROM staff").scalar().await.unwrap();
    assert!(!at_rest.contains("7712345678"), "{at_rest}");
    let log = world.get("/v1/audit-logs?entity_type=staff").by(&admin).send().await.ok();
    assert_eq!(log.as_array().unwrap().len(), 4);
    let text = log.to_string();
    assert!(!text.contains("7712345678") && !text.contains("7500000"), "{text}");
    // That a salary or an account was changed is seen, not what it is.
    let other = create_staff(&world, &admin, staff_body("ketut@dermaga.test", &desk)).await.ok();
    let mut change = staff_body("ketut@dermaga.test", &desk);
    change["bank_account"]["account_number"] = json!("9990001111");
    change["salary"] = json!(9_999_999);
    world.put(&path(&other), change).by(&admin).send().await.ok();
    let entry = world.get("/v1/audit-logs?page_size=1").by(&admin).send().await.ok()[0].clone();
    assert_eq!(entry["before"]["account_number"], "[personal]");
    assert_eq!(entry["after"]["account_number"], "[personal]");
    assert_eq!(entry["after"].get("email"), None, "it is the same");
    assert_eq!(entry["after"]["salary_changed"], true);
    assert!(!entry.to_string().contains("9999999"));
}
