//! Accounts as the platform's people see them.

use dermaga::kernel::{access::Rule, ids};
use serde_json::json;

use crate::{on_both_engines, world::World};

on_both_engines![
    users_are_listed_filtered_and_sorted,
    pages_never_overlap,
    bad_parameters_are_named,
    a_search_is_a_plain_substring,
    statistics_count_everyone_once,
    a_user_is_found_by_id,
    an_admin_is_invited,
    an_admin_is_switched_off_and_on,
    two_admins_cannot_switch_each_other_off,
    only_admins_are_switched,
];

async fn names(world: &World, who: &crate::world::Someone, query: &str) -> Vec<String> {
    let data = world.get(&format!("/v1/users?{query}")).by(who).send().await.ok();
    let emails = data.as_array().unwrap().iter().map(|user| user["email"].as_str().unwrap());
    emails.map(|email| email.split('@').next().unwrap().to_owned()).collect()
}

async fn users_are_listed_filtered_and_sorted(world: World) {
    let admin = world.admin().await;
    for email in ["made@bahari.id", "ketut@bahari.id"] {
        world.advances_clock(chrono::TimeDelta::seconds(1));
        world.partner(email).await;
    }
    world.staff("putu@dermaga.test", &[Rule::UsersRead]).await;
    let all = "page=1&page_size=10&sort_by=&sort_dir=&search=&role=";
    assert_eq!(names(&world, &admin, all).await, ["putu", "ketut", "made", "admin"]);
    assert_eq!(names(&world, &admin, "sort_by=email").await, ["admin", "ketut", "made", "putu"]);
    let backwards = "sort_by=email&sort_dir=desc&role=mitra";
    assert_eq!(names(&world, &admin, backwards).await, ["made", "ketut"]);
    assert_eq!(names(&world, &admin, "search=BAHARI&sort_dir=asc").await, ["made", "ketut"]);
    assert_eq!(names(&world, &admin, "search=6281234567890&search=%2B62812").await.len(), 2);
    assert_eq!(names(&world, &admin, "status=suspended").await.len(), 0);
    let answer = world.get("/v1/users?page=99").by(&admin).send().await;
    let page = answer.body["pagination"].clone();
    assert_eq!(page, json!({ "page": 99, "page_size": 20, "total_items": 4, "total_pages": 1 }));
    assert_eq!(answer.ok(), json!([]));
}

async fn pages_never_overlap(world: World) {
    let admin = world.admin().await;
    for n in 0..6 {
        world.account(&format!("twin{n}@bahari.id"), "mitra").await;
    }
    let mut seen = Vec::new();
    for page in 1..=4 {
        let query = format!("page={page}&page_size=2&sort_by=name");
        seen.extend(names(&world, &admin, &query).await);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7);
}

async fn bad_parameters_are_named(world: World) {
    let admin = world.admin().await;
    let query = "page=0&page_size=101&sort_by=password_hash&sort_dir=up&role=captain&status=x";
    let answer = world.get(&format!("/v1/users?{query}")).by(&admin).send().await;
    answer.has_field_errors(&[
        ("page", "min"),
        ("page_size", "max"),
        ("role", "enum"),
        ("sort_by", "enum"),
        ("sort_dir", "enum"),
        ("status", "enum"),
    ]);
    let answer = world.get("/v1/users?page=two&search=%00").by(&admin).send().await;
    // A NUL character ends validation.
    answer.has_field_errors(&[("search", "characters")]);
    world.get("/v1/users?page=two").by(&admin).send().await.has_field_errors(&[("page", "type")]);
}

async fn a_search_is_a_plain_substring(world: World) {
    let admin = world.admin().await;
    world.account("a_b@bahari.id", "mitra").await;
    assert_eq!(names(&world, &admin, "search=a_b").await, ["a_b"]);
    let rename = "UPDATE accounts SET name = 'Élodie' WHERE email = 'a_b@bahari.id'";
    world.db().sql(rename).run().await.unwrap();
    assert_eq!(names(&world, &admin, "search=%C3%89LO").await, ["a_b"]);
    for nothing in ["%25", "_%25", "%5C", "%27%3B--", "%27%20OR%201=1"] {
        assert_eq!(names(&world, &admin, &format!("search={nothing}")).await.len(), 0, "{nothing}");
    }
}

async fn statistics_count_everyone_once(world: World) {
    let admin = world.admin().await;
    let made = world.partner("made@bahari.id").await;
    world.partner("ketut@bahari.id").await;
    world.crew(&made, "nyoman@bahari.id").await;
    world.set_status(&made, "suspended").await;
    world
        .db()
        .sql("UPDATE accounts SET created_at = $1 WHERE email = 'ketut@bahari.id'")
        .bind("2026-10-31T16:59:59Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap())
        .run()
        .await
        .unwrap();
    let data = world.get("/v1/users/statistics").by(&admin).send().await.ok();
    assert_eq!(
        data,
        json!({
            "total": 4,
            "by_role": { "admin": 1, "staff": 0, "mitra": 2, "crew": 1, "reseller": 0 },
            "by_status": { "active": 3, "inactive": 0, "suspended": 1 },
            "new_this_month": 3,
        })
    );
}

async fn a_user_is_found_by_id(world: World) {
    let admin = world.admin().await;
    let made = world.partner("made@bahari.id").await;
    let path = format!("/v1/users/{}", made.id);
    let data = world.get(&path).by(&admin).send().await.ok();
    assert_eq!(data["email"], "made@bahari.id");
    for unknown in [ids::fresh().to_string(), "rubbish".into(), "%00".into()] {
        world.get(&format!("/v1/users/{unknown}")).by(&admin).send().await.is(404, "not_found");
    }
    world.get(&path).by(&made).send().await.is(403, "forbidden");
}

async fn an_admin_is_invited(world: World) {
    let admin = world.admin().await;
    let form = json!({ "name": "Komang", "email": "komang@dermaga.test" });
    let data = world.post("/v1/users/admins", form.clone()).by(&admin).send().await.ok();
    assert_eq!((&data["role"], &data["status"]), (&json!("admin"), &json!("active")));
    world.post("/v1/users/admins", form).by(&admin).send().await.is(409, "email_taken");
    world.delivers_outbox().await;
    let letters = world.letters_to("komang@dermaga.test");
    assert_eq!(letters.len(), 1);
    assert!(letters[0].contains("Welcome to Dermaga"));
}

async fn an_admin_is_switched_off_and_on(world: World) {
    let admin = world.admin().await;
    let komang = world.admin_with_email("komang@dermaga.test").await;
    let path = format!("/v1/users/{}/status", komang.id);
    let switch =
        async |status: &str| world.put(&path, json!({ "status": status })).by(&admin).send().await;
    let data = switch("inactive").await.ok();
    assert_eq!(data["status"], "inactive");
    world.get("/user/me").by(&komang).send().await.is(401, "unauthenticated");
    world.login("komang@dermaga.test", "admin").await.is(403, "account_inactive");
    switch("active").await.ok();
    world.get("/user/me").by(&komang).send().await.is(401, "unauthenticated");
    world.login("komang@dermaga.test", "admin").await.ok();
    switch("suspended").await.has_field_errors(&[("status", "enum")]);
    let own = format!("/v1/users/{}/status", admin.id);
    let body = json!({ "status": "inactive" });
    world.put(&own, body.clone()).by(&admin).send().await.is(409, "invalid_state");
    let nobody = format!("/v1/users/{}/status", ids::fresh());
    world.put(&nobody, body).by(&admin).send().await.is(404, "not_found");
}

async fn two_admins_cannot_switch_each_other_off(world: World) {
    for round in 0..5 {
        let a = world.admin_with_email(&format!("a{round}@dermaga.test")).await;
        let b = world.admin_with_email(&format!("b{round}@dermaga.test")).await;
        world
            .db()
            .sql("UPDATE accounts SET status = 'inactive' WHERE id <> $1 AND id <> $2")
            .bind(a.id.parse::<ids::Uuid>().unwrap())
            .bind(b.id.parse::<ids::Uuid>().unwrap())
            .run()
            .await
            .unwrap();
        let off = async |who: &crate::world::Someone, whom: &crate::world::Someone| {
            let path = format!("/v1/users/{}/status", whom.id);
            world.put(&path, json!({ "status": "inactive" })).by(who).send().await
        };
        let (x, y) = tokio::join!(off(&a, &b), off(&b, &a));
        assert!(x.status != 200 || y.status != 200);
        let left = "SELECT COUNT(*) FROM accounts WHERE role = 'admin' AND status = 'active'";
        assert_eq!(world.count(left).await, 1);
    }
}

async fn only_admins_are_switched(world: World) {
    let admin = world.admin().await;
    let made = world.partner("made@bahari.id").await;
    let path = format!("/v1/users/{}/status", made.id);
    let call = world.put(&path, json!({ "status": "inactive" })).by(&admin);
    call.send().await.is(409, "invalid_state");
}
