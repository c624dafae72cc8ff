//! The builder of lists.

use dermaga::kernel::{
    db::{Sort, Total},
    ids::{self, Uuid},
};

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::{harbour::order, on_both_engines, world::World};

on_both_engines![
    filters_combine_and_absent_ones_do_not_count,
    every_page_has_the_total,
    totals_are_exact_up_to_ten_thousand,
    bookings_are_the_same_by_any_filters,
    slow_lists_do_not_block_logins,
];

async fn filters_combine_and_absent_ones_do_not_count(world: World) {
    for (email, role) in [("a@x.id", "admin"), ("b@x.id", "mitra"), ("c@x.id", "mitra")] {
        world.account(email, role).await;
    }
    let emails = async |role: Option<&'static str>, search: Option<&str>| {
        let (rows, total) = world
            .db()
            .list("SELECT email FROM accounts")
            .only("deleted_at IS NULL")
            .filter("role = ?", role)
            .search(&["email", "name"], search)
            .page::<(String,)>(Sort { column: "email", descending: true }, "id", 10, 0)
            .await
            .unwrap();
        assert_eq!(Total::exactly(rows.len() as i64), total);
        rows.into_iter().map(|(email,)| email.chars().next().unwrap()).collect::<String>()
    };
    assert_eq!(emails(None, None).await, "cba");
    assert_eq!(emails(Some("mitra"), None).await, "cb");
    assert_eq!(emails(Some("mitra"), Some("B@")).await, "b");
    assert_eq!(emails(None, Some("wayan")).await, "cba");
    assert_eq!(emails(Some("'; DROP TABLE accounts; --"), None).await, "");
}

async fn every_page_has_the_total(world: World) {
    for email in ["a@x.id", "b@x.id", "c@x.id"] {
        world.account(email, "mitra").await;
    }
    let page = async |limit, offset| {
        let sort = Sort { column: "email", descending: false };
        let of_all = world.db().list("SELECT email FROM accounts").only("deleted_at IS NULL");
        let found = of_all.page::<(String,)>(sort, "id", limit, offset).await.unwrap();
        let joined = world.db().list("SELECT email FROM accounts");
        let joined = joined.found_in("SELECT id FROM accounts").only("deleted_at IS NULL");
        assert_eq!(found, joined.page(sort, "id", limit, offset).await.unwrap());
        let (rows, total) = found;
        (rows.into_iter().map(|(email,)| email[..1].to_owned()).collect::<String>(), total)
    };
    for (limit, offset, rows) in
        [(4, 0, "abc"), (3, 0, "abc"), (2, 0, "ab"), (2, 2, "c"), (2, 3, ""), (2, 9, "")]
    {
        assert_eq!(
            page(limit, offset).await,
            (rows.into(), Total::exactly(3)),
            "{limit} from {offset}"
        );
    }
}

async fn totals_are_exact_up_to_ten_thousand(world: World) {
    let admin = world.admin().await;
    world.db().sql("DELETE FROM audit_logs").run().await.unwrap();
    let insert = async |count: i64| {
        let mut tx = world.db().begin().await.unwrap();
        let rows: Vec<i64> = (0..count).collect();
        tx.insert_all(
            "INSERT INTO audit_logs (id, actor_id, actor_name, actor_email, action, entity_type,
               entity_id, address, request_id, created_at)",
            10,
            &rows,
            |statement, _| {
                let statement = statement.bind(ids::fresh()).bind(ids::fresh()).bind("a").bind("b");
                let statement = statement.bind("counted").bind("test").bind(ids::fresh());
                statement.bind("").bind("").bind(world.now())
            },
        )
        .await
        .unwrap();
        tx.commit().await.unwrap();
    };
    let page = async |page: i64| {
        let path = format!("/v1/audit-logs?action=counted&page_size=100&page={page}");
        let answer = world.get(&path).by(&admin).send().await;
        let pagination = answer.body["pagination"].clone();
        (answer.ok().as_array().unwrap().len(), pagination)
    };
    insert(10_000).await;
    let (rows, exact) = page(100).await;
    assert_eq!(
        (rows, &exact["total_items"], &exact["total_pages"]),
        (100, &10_000.into(), &100.into())
    );
    assert!(exact.get("total_is_minimum").is_none(), "{exact}");
    assert_eq!(page(101).await.0, 0);
    insert(150).await;
    for (number, rows) in [(1, 100), (100, 100), (101, 100), (102, 50), (103, 0)] {
        let (found, pagination) = page(number).await;
        assert_eq!(found, rows, "page {number}");
        assert_eq!(pagination["total_items"], 10_000);
        assert_eq!(pagination["total_pages"], 100);
        assert_eq!(pagination["total_is_minimum"], true);
    }
    // Deep pages are read from the first row of the page before them.
    let all = "SELECT id FROM audit_logs WHERE action = 'counted' ORDER BY created_at, id";
    let mut all: Vec<(Uuid,)> = world.db().sql(all).all().await.unwrap();
    for direction in ["asc", "desc"] {
        for number in [101, 101, 102, 101, 102, 103] {
            let path = format!(
                "/v1/audit-logs?action=counted&page_size=100&page={number}&sort_dir={direction}"
            );
            let rows = world.get(&path).by(&admin).send().await.ok();
            let expected: Vec<_> = all.iter().skip(100 * (number - 1)).take(100).collect();
            let expected: Vec<_> = expected.into_iter().map(|(id,)| json!(id)).collect();
            let ids = rows.as_array().unwrap().iter().map(|row| row["id"].clone());
            assert_eq!(ids.collect::<Vec<_>>(), expected, "{direction} {number}");
        }
        all.reverse();
    }
}

/// Whichever filter drives the query, the others are applied too: the list has what the same filters
/// leave of the list without filters.
async fn bookings_are_the_same_by_any_filters(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let other = world.sailing_of_another_day(&sailing).await;
    let mut all = Vec::new();
    for (n, (sailing, qty)) in
        [(&sailing, 1), (&other, 2), (&sailing, 5), (&other, 6), (&sailing, 1), (&other, 3)]
            .into_iter()
            .enumerate()
    {
        world.advances_clock(TimeDelta::seconds(1));
        let mut form = order(sailing, qty, &format!("guest{}@example.com", n % 4));
        form["contact"]["name"] = json!(["Ketut Lindung", "Raden Terang"][n % 2]);
        if n % 3 == 0 {
            form["note"] = json!("Window seat");
        }
        let call = world.post("/v1/booking/", form.clone());
        let booking = match n {
            4 => call.by(&admin).send().await.ok(),
            5 => call.by(&other.partner).send().await.ok(),
            _ => world.books(form).await.ok(),
        };
        if n == 0 || n == 3 {
            world.pays(&booking).await;
        }
        if n == 3 {
            let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
            world.post(&path, json!({ "reason": "Storm" })).by(&admin).send().await.ok();
        }
        all.push(booking["id"].as_str().unwrap().to_owned());
    }
    let found = async |query: &str| {
        let path = format!("/v1/booking/?{query}");
        let list = world.get(&path).by(&admin).send().await.ok();
        list.as_array().unwrap().clone()
    };
    let (one, of_partner) = (&found("").await[3], world.partner_id(&other.partner).await);
    let filters = [
        format!("code={}", one["code"].as_str().unwrap()),
        format!("route_time_id={}", other.id),
        "email=guest1@example.com".into(),
        "search=terang".into(),
        "note=Window%20seat".into(),
        "refund_due=true".into(),
        "refund_due=false".into(),
        format!("item_id={}", other.boat),
        format!("mitra_id={of_partner}"),
        "status=refund_pending".into(),
        "status=paid".into(),
        "status=pending_payment".into(),
        "type=speedboat".into(),
        "type=charter".into(),
        "channel=staff".into(),
        "channel=web".into(),
        "qty=6".into(),
        "qty=1".into(),
        "start_date=2026-11-16&end_date=2026-11-16".into(),
        "start_date=2026-11-17".into(),
    ];
    let ids = |list: Vec<Value>| -> Vec<String> {
        list.iter().map(|booking| booking["id"].as_str().unwrap().to_owned()).collect()
    };
    for empty in ["note=%20", "code_promo=%20", "code=%20", "note="] {
        assert_eq!(found(empty).await.len(), all.len(), "{empty}");
    }
    let mut alone = Vec::new();
    for filter in &filters {
        alone.push(ids(found(filter).await));
    }
    assert!(alone.iter().filter(|found| !found.is_empty() && found.len() < all.len()).count() > 12);
    for sort in ["", "&sort_by=departure_at", "&sort_by=total&sort_dir=desc"] {
        let sorted = ids(found(sort.trim_start_matches('&')).await);
        assert_eq!(sorted.len(), all.len());
        for (i, first) in filters.iter().enumerate() {
            for (j, second) in filters.iter().enumerate().skip(i + 1) {
                let name = |filter: &str| filter.split('=').next().unwrap().to_owned();
                if name(first) == name(second) {
                    continue;
                }
                let both = |id: &&String| alone[i].contains(id) && alone[j].contains(id);
                let expected: Vec<_> = sorted.iter().filter(both).cloned().collect();
                let query = format!("{first}&{second}{sort}");
                assert_eq!(ids(found(&query).await), expected, "{query}");
            }
        }
    }
}

async fn slow_lists_do_not_block_logins(world: World) {
    let admin = world.admin().await;
    // Every place in such a name is nearly what is looked for.
    let name = "a".repeat(40_000);
    let mut tx = world.db().begin().await.unwrap();
    for n in 0..400 {
        tx.sql(
            "INSERT INTO taxes (id, name, code, rate, applies_to, is_active, created_at)
             VALUES ($1, $2, $3, 0, 'booking', FALSE, $4)",
        )
        .bind(ids::fresh())
        .bind(name.clone())
        .bind(format!("T{n}"))
        .bind(world.now())
        .run()
        .await
        .unwrap();
    }
    tx.commit().await.unwrap();
    let path =
        format!("http://{}/v1/configurations/taxs?search={}b", world.address, "a".repeat(90));
    let client = crate::world::client();
    // More than there are connections.
    let lists: Vec<_> = (0..20)
        .map(|_| {
            let call = client.get(&path).bearer_auth(&admin.token);
            tokio::spawn(async move { call.send().await.map(|answer| answer.status()) })
        })
        .collect();
    // They are under way once the service has counted what they ask for.
    let before = world.db().statements();
    while world.db().statements() < before + 20 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    world.login(&admin.email, "admin").await.ok();
    world.get("/user/me").by(&admin).send().await.ok();
    assert!(lists.iter().any(|list| !list.is_finished()), "the lists were not slow");
    for list in lists {
        list.abort();
    }
}
