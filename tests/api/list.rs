//! The builder of lists.

use dermaga::kernel::db::Sort;

use crate::{on_both_engines, world::World};

on_both_engines![filters_combine_and_absent_ones_do_not_count];

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
