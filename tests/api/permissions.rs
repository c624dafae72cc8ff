//! Permissions, and that nobody rises by them.

use dermaga::kernel::access::Rule::{self, *};
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_permission_is_made_changed_and_removed,
    permissions_are_listed_by_level_and_name,
    faults_are_named,
    a_name_is_taken_once,
    a_permission_in_use_stays,
    the_catalogue_has_every_rule_in_both_languages,
    nobody_makes_a_permission_at_or_above_their_level,
    nobody_gives_a_rule_they_do_not_hold,
    nobody_changes_or_removes_what_is_above_them,
    nobody_raises_their_own_permission,
    a_change_acts_on_the_next_request,
    two_editors_cannot_get_around_it,
];

fn permission_body(name: &str, level: &str, rules: &[Rule]) -> Value {
    let rules: Vec<_> = rules.iter().map(|rule| rule.as_str()).collect();
    json!({ "name": name, "description": "", "level": level, "rules": rules })
}

async fn create_permission(world: &World, who: &Someone, form: Value) -> Answer {
    world.post("/v1/permission", form).by(who).send().await
}

fn path(permission: &Value) -> String {
    format!("/v1/permission/{}", permission["id"].as_str().unwrap())
}

async fn a_permission_is_made_changed_and_removed(world: World) {
    let admin = world.admin().await;
    let made =
        create_permission(&world, &admin, permission_body("Harbour", "operator", &[FleetRead]))
            .await
            .ok();
    assert_eq!(made["rules"], json!(["fleet.read"]));
    assert_eq!(made["staff_count"], 0);
    let changed = permission_body("Harbour", "viewer", &[FleetRead, RoutesRead]);
    let changed = world.put(&path(&made), changed).by(&admin).send().await.ok();
    assert_eq!((&changed["level"], &changed["id"]), (&json!("viewer"), &made["id"]));
    assert_eq!(world.get(&path(&made)).by(&admin).send().await.ok(), changed);
    world.delete(&path(&made)).by(&admin).send().await.ok();
    world.get(&path(&made)).by(&admin).send().await.is(404, "not_found");
    world.delete(&path(&made)).by(&admin).send().await.is(404, "not_found");
    world.put(&path(&made), json!({})).by(&admin).send().await.is(404, "not_found");
}

async fn permissions_are_listed_by_level_and_name(world: World) {
    let admin = world.admin().await;
    for (name, level) in [("b", "viewer"), ("a", "owner"), ("C", "manager")] {
        create_permission(&world, &admin, permission_body(name, level, &[FleetRead])).await.ok();
    }
    let names = async |query: &str| {
        let data = world.get(&format!("/v1/permissions?{query}")).by(&admin).send().await.ok();
        let all = data.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap().to_owned());
        all.collect::<String>()
    };
    assert_eq!(names("sort_by=name").await, "abC");
    assert_eq!(names("sort_by=level&sort_dir=desc").await, "aCb");
    assert_eq!(names("sort_by=level").await, "bCa");
    assert_eq!(names("level=manager").await, "C");
    assert_eq!(names("search=c&level=&sort_by=").await, "C");
    world
        .get("/v1/permissions?level=king")
        .by(&admin)
        .send()
        .await
        .has_field_errors(&[("level", "enum")]);
}

async fn faults_are_named(world: World) {
    let admin = world.admin().await;
    let bad = json!({ "name": " ", "level": "king", "rules": ["fleet.read", "everything"] });
    create_permission(&world, &admin, bad).await.has_field_errors(&[
        ("description", "required"),
        ("level", "enum"),
        ("name", "required"),
        ("rules[1]", "enum"),
    ]);
    create_permission(&world, &admin, permission_body("x", "viewer", &[]))
        .await
        .has_field_errors(&[("rules", "min_items")]);
    let twice = permission_body("x", "viewer", &[FleetRead, FleetRead]);
    create_permission(&world, &admin, twice).await.has_field_errors(&[("rules", "unique")]);
}

async fn a_name_is_taken_once(world: World) {
    let admin = world.admin().await;
    create_permission(&world, &admin, permission_body("Harbour", "viewer", &[FleetRead]))
        .await
        .ok();
    let again = permission_body("HARBOUR", "viewer", &[FleetRead]);
    create_permission(&world, &admin, again.clone()).await.is(409, "already_exists");
    let other = create_permission(&world, &admin, permission_body("Desk", "viewer", &[FleetRead]))
        .await
        .ok();
    world.put(&path(&other), again).by(&admin).send().await.is(409, "already_exists");
}

async fn a_permission_in_use_stays(world: World) {
    let admin = world.admin().await;
    let staff = world.staff("putu@dermaga.test", &[UsersRead]).await;
    let profile = world.get("/user/me").by(&staff).send().await.ok();
    let held = path(&profile["permission"]);
    assert_eq!(world.get(&held).by(&admin).send().await.ok()["staff_count"], 1);
    world.delete(&held).by(&admin).send().await.is(409, "in_use");
}

async fn the_catalogue_has_every_rule_in_both_languages(world: World) {
    let admin = world.admin().await;
    let catalogue = async |lang: &str| {
        let call = world.get("/v1/permission/rules").by(&admin).header("accept-language", lang);
        call.send().await.ok()
    };
    let (en, id) = (catalogue("en").await, catalogue("id").await);
    let rules = |catalogue: &Value, what: &str| -> Vec<String> {
        let groups = catalogue.as_array().unwrap().iter();
        let all = groups.flat_map(|group| group["rules"].as_array().unwrap());
        all.map(|rule| rule[what].as_str().unwrap().to_owned()).collect()
    };
    let keys: Vec<_> = Rule::ALL.iter().map(|rule| rule.to_string()).collect();
    assert_eq!(rules(&en, "key"), keys);
    for what in ["label", "description"] {
        let (en, id) = (rules(&en, what), rules(&id, what));
        assert!(en.iter().zip(&id).all(|(en, id)| !en.is_empty() && !id.is_empty() && en != id));
    }
}

async fn nobody_makes_a_permission_at_or_above_their_level(world: World) {
    let rules = [PermissionsWrite, PermissionsRead, FleetRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    for level in ["owner", "manager"] {
        create_permission(&world, &boss, permission_body("x", level, &[FleetRead]))
            .await
            .is(403, "forbidden");
    }
    create_permission(&world, &boss, permission_body("x", "supervisor", &[FleetRead])).await.ok();
}

async fn nobody_gives_a_rule_they_do_not_hold(world: World) {
    let rules = [PermissionsWrite, PermissionsRead, FleetRead];
    let boss = world.staff_of_level("owner", "boss@dermaga.test", &rules).await;
    let made =
        create_permission(&world, &boss, permission_body("x", "viewer", &[FleetRead])).await.ok();
    let more = permission_body("y", "viewer", &[FleetRead, SettlementsRelease]);
    create_permission(&world, &boss, more.clone()).await.is(403, "forbidden");
    world.put(&path(&made), more).by(&boss).send().await.is(403, "forbidden");
}

async fn nobody_changes_or_removes_what_is_above_them(world: World) {
    let admin = world.admin().await;
    let rules = [PermissionsWrite, PermissionsRead, FleetRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    let beyond = [
        permission_body("peer", "manager", &[FleetRead]),
        permission_body("above", "owner", &[FleetRead]),
        permission_body("richer", "viewer", &[FleetRead, SettlementsRelease]),
    ];
    for beyond in beyond {
        let made = create_permission(&world, &admin, beyond).await.ok();
        // Not even to make it less.
        let less = permission_body("less", "viewer", &[FleetRead]);
        world.put(&path(&made), less).by(&boss).send().await.is(403, "forbidden");
        world.delete(&path(&made)).by(&boss).send().await.is(403, "forbidden");
    }
}

async fn nobody_raises_their_own_permission(world: World) {
    let rules = [PermissionsWrite, PermissionsRead, UsersRead];
    let boss = world.staff_of_level("manager", "boss@dermaga.test", &rules).await;
    let own = world.get("/user/me").by(&boss).send().await.ok()["permission"].clone();
    for (level, rules) in [("owner", &rules[..]), ("manager", Rule::ALL), ("viewer", &rules[..])] {
        let raised = permission_body("own", level, rules);
        world.put(&path(&own), raised).by(&boss).send().await.is(403, "forbidden");
    }
    world.delete(&path(&own)).by(&boss).send().await.is(403, "forbidden");
}

async fn a_change_acts_on_the_next_request(world: World) {
    let admin = world.admin().await;
    let staff = world.staff("putu@dermaga.test", &[UsersRead]).await;
    let own = world.get("/user/me").by(&staff).send().await.ok()["permission"].clone();
    world.get("/v1/users").by(&staff).send().await.ok();
    let less = permission_body("less", "viewer", &[AuditRead]);
    world.put(&path(&own), less).by(&admin).send().await.ok();
    world.get("/v1/users").by(&staff).send().await.is(403, "forbidden");
    world.get("/v1/audit-logs").by(&staff).send().await.ok();
}

/// An admin takes a manager's rule away while the manager hands it out: whoever comes second is
/// judged by what the first has left.
async fn two_editors_cannot_get_around_it(world: World) {
    let admin = world.admin().await;
    let rules = [PermissionsWrite, PermissionsRead, SettlementsRelease];
    for round in 0..5 {
        let email = format!("boss{round}@dermaga.test");
        let boss = world.staff_of_level("manager", &email, &rules).await;
        let own = world.get("/user/me").by(&boss).send().await.ok()["permission"].clone();
        let stripped = permission_body(&format!("stripped {round}"), "manager", &rules[..2]);
        let given = permission_body(&format!("given {round}"), "operator", &[SettlementsRelease]);
        let own_path = path(&own);
        let strip = world.put(&own_path, stripped).by(&admin).send();
        let (strip, give) = tokio::join!(strip, create_permission(&world, &boss, given));
        let stripped_at = strip.ok()["updated_at"].clone();
        assert_eq!(stripped_at, json!("2026-11-15T03:00:00Z"));
        // Who came first stands in the audit log, whose ids are in the order of the lock.
        let log =
            world.get("/v1/audit-logs?sort_dir=asc&page_size=100").by(&admin).send().await.ok();
        let at = |action: &str, name: String| {
            let mut entries = log.as_array().unwrap().iter();
            entries.position(|e| e["action"] == action && e["after"]["name"] == json!(name))
        };
        let made = at("permission.created", format!("given {round}"));
        let taken = at("permission.updated", format!("stripped {round}"));
        match give.status {
            200 => assert!(made.unwrap() < taken.unwrap(), "it was still theirs to give"),
            _ => drop(give.is(403, "forbidden")),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_acts_on_every_process() {
    let Some(here) = World::on_postgres().await else { return };
    let there = here.second_process().await;
    let admin = here.admin().await;
    let putu = here.staff("putu@dermaga.test", &[UsersRead]).await;
    there.get("/v1/users").by(&putu).send().await.ok();
    let own = there.get("/user/me").by(&putu).send().await.ok()["permission"].clone();
    let less = permission_body("less", "viewer", &[AuditRead]);
    here.put(&path(&own), less).by(&admin).send().await.ok();
    there.get("/v1/users").by(&putu).send().await.is(403, "forbidden");
    let record = here.get("/v1/staffs?search=putu").by(&admin).send().await.ok();
    let record = record["items"][0]["id"].as_str().unwrap().to_owned();
    here.delete(&format!("/v1/staff/{record}")).by(&admin).send().await.ok();
    there.get("/user/me").by(&putu).send().await.is(401, "unauthenticated");
}
