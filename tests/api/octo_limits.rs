//! How often resellers may send requests to OCTO.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    resale::{FIRST_DAY, OPTION, UNKNOWN},
    world::World,
};

on_both_engines![
    only_changes_of_bookings_count_as_writes,
    what_no_key_limits_has_the_general_limit,
];

fn question(product: &str) -> Value {
    json!({ "productId": product, "optionId": OPTION, "localDate": FIRST_DAY })
}

async fn only_changes_of_bookings_count_as_writes(world: World) {
    let world = world.with(|config| config.rate_limit.0 = true).await;
    let shop = world.shop().await;
    let asks = || world.octo_post(&shop, "/availability", question(&shop.line)).send();
    let answers = join_all((0..100).map(|_| asks())).await;
    answers.into_iter().for_each(|answer| drop(answer.bare()));
    let path = format!("/bookings/{UNKNOWN}/cancel");
    let cancels = || world.octo_post(&shop, &path, json!({})).send();
    let answers = join_all((0..100).map(|_| cancels())).await;
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert_eq!(refused.body["error"], "TOO_MANY_REQUESTS");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    asks().await.bare();
}

async fn what_no_key_limits_has_the_general_limit(world: World) {
    let world = world.with(|config| config.rate_limit.0 = true).await;
    let shop = world.shop().await;
    let policy = async |call: crate::world::Call<'_>| {
        call.send().await.header("ratelimit-policy").to_owned()
    };
    let base = format!("/octo/partners/{}", world.partner_id(&shop.partner).await);
    for path in ["/octo/supplier".to_owned(), format!("{base}/supplier")] {
        let keyed = world.get(&path).with_token(&shop.reseller.key);
        assert_eq!(policy(keyed).await, "", "{path}");
        assert_eq!(policy(world.get(&path)).await, "\"default\";q=600;w=60", "{path}");
    }
    for path in [format!("/octo/vouchers/{UNKNOWN}"), "/octo/nothing".to_owned()] {
        let keyed = world.get(&path).with_token(&shop.reseller.key);
        assert_eq!(policy(keyed).await, "\"default\";q=600;w=60", "{path}");
    }
}
