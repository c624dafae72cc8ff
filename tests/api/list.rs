//! The builder of lists.

use dermaga::kernel::{db::Sort, ids};

use crate::{on_both_engines, world::World};

on_both_engines![
    filters_combine_and_absent_ones_do_not_count,
    every_page_has_the_total,
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
        assert_eq!(rows.len() as i64, total);
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
        assert_eq!(page(limit, offset).await, (rows.into(), 3), "{limit} from {offset}");
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
