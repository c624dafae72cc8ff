//! What resellers may send to OCTO, how often, and how much they get at once.

use chrono::TimeDelta;
use dermaga::kernel::ids::Uuid;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    resale::{FIRST_DAY, OPTION, Shop, UNKNOWN, wish},
    world::World,
};

on_both_engines![
    only_changes_of_bookings_count_as_writes,
    what_no_key_limits_has_the_general_limit,
    a_date_has_no_sign,
    a_period_has_at_most_366_days,
    a_body_holds_a_limited_number_of_values,
    a_list_of_many_tickets_shows_its_bookings,
    a_list_counts_the_bookings_that_are_asked_for,
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

async fn a_date_has_no_sign(world: World) {
    let shop = world.shop().await;
    for bad in ["-9999-1-01", "+2026-1-01", "2026-1-018"] {
        let mut asked = question(&shop.line);
        asked["localDate"] = json!(bad);
        world.octo_post(&shop, "/availability", asked).send().await.refuses("BAD_REQUEST");
        let query = format!("/bookings?localDate={}", bad.replace('+', "%2B"));
        world.octo_get(&shop, &query).send().await.refuses("BAD_REQUEST");
        let wish = wish(&shop.day_ticket(), &format!("{bad}T00:00:00+08:00"), 1);
        world.reserves(&shop, wish).await.refuses("INVALID_AVAILABILITY_ID");
    }
}

async fn a_period_has_at_most_366_days(world: World) {
    let shop = world.shop().await;
    for path in ["/availability", "/availability/calendar"] {
        let ask = async |last: &str| {
            let asked = json!({
                "productId": shop.line, "optionId": OPTION, "localDateStart": "2026-11-15",
                "localDateEnd": last,
            });
            world.octo_post(&shop, path, asked).send().await
        };
        ask("2027-11-15").await.bare();
        ask("2027-11-16").await.refuses("BAD_REQUEST");
    }
}

async fn a_body_holds_a_limited_number_of_values(world: World) {
    let shop = world.shop().await;
    let asks = async |more: Value| {
        let mut asked = question(&shop.line);
        asked["more"] = more;
        world.octo_post(&shop, "/availability", asked).send().await
    };
    asks(json!("x".repeat(200_000))).await.bare();
    asks(json!(vec![json!({}); 19_000])).await.bare();
    asks(json!(vec![json!({}); 20_000])).await.refuses("BAD_REQUEST");
}

async fn a_list_of_many_tickets_shows_its_bookings(world: World) {
    let shop = world.shop().await;
    let asked = json!({
        "productId": shop.line, "optionId": OPTION, "localDateStart": FIRST_DAY,
        "localDateEnd": "2026-11-21",
    });
    let sailings = world.octo_post(&shop, "/availability", asked).send().await.bare();
    let mut newest = Vec::new();
    for sailing in sailings.as_array().unwrap() {
        for _ in 0..3 {
            let wish = wish(&shop.line, sailing["id"].as_str().unwrap(), 9);
            let held = world.reserves(&shop, wish).await.bare();
            newest.insert(0, world.confirms(&shop, &held).await.bare()["uuid"].clone());
            world.advances_clock(TimeDelta::seconds(1));
        }
    }
    assert_eq!(newest.len() * 9, 216);
    let query = format!("/bookings?localDateStart={FIRST_DAY}&localDateEnd=2026-11-21");
    let listed = world.octo_get(&shop, &query).send().await.bare();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.iter().map(|one| one["uuid"].clone()).collect::<Vec<_>>(), newest);
    for one in [&listed[0], &listed[23]] {
        let path = format!("/bookings/{}", one["uuid"].as_str().unwrap());
        assert_eq!(world.octo_get(&shop, &path).send().await.bare(), *one);
    }
}

/// Copies a reseller's booking that has expired.
async fn copies(world: &World, booking: &Value, count: i64) {
    let original: Uuid = booking["id"].as_str().unwrap().parse().unwrap();
    let (id, code) = match world.db().engine() {
        "sqlite" => ("randomblob(16)", "hex(randomblob(8))"),
        _ => ("gen_random_uuid()", "left(upper(md5(random()::TEXT || n::TEXT)), 16)"),
    };
    // Each insert takes a seat.
    let seats = async |change: &'static str| {
        let sailing = "WHERE id = (SELECT sailing_id FROM bookings WHERE id = $2)";
        let text: &str = format!("UPDATE sailings SET {change} {sailing}").leak();
        world.db().sql(text).bind(count).bind(original).run().await.unwrap();
    };
    seats("capacity = capacity + CAST($1 AS BIGINT)").await;
    let copied = "type, status, channel, sailing_id, speedboat_id, partner_id, departure_at,
        arrival_at, qty, seats, note, contact_name, contact_email, contact_phone, lang, passengers,
        accepted_terms, unit_price, fare_lines, subtotal, discount, taxes, tax, total,
        commission_rate, commission, commission_taxes, commission_tax, partner_net, expires_at,
        created_at, updated_at, reseller_id, margin, surcharge, day_ticket";
    let text = format!(
        "INSERT INTO bookings (id, octo_uuid, code, {copied})
         WITH RECURSIVE numbers(n) AS (
           SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
         SELECT {id}, {id}, {code}, {copied} FROM bookings CROSS JOIN numbers WHERE id = $2"
    );
    world.db().sql(text.leak()).bind(count).bind(original).run().await.unwrap();
    seats(
        "seats_taken = seats_taken - CAST($1 AS BIGINT), capacity = capacity - CAST($1 AS BIGINT)",
    )
    .await;
}

async fn a_list_counts_the_bookings_that_are_asked_for(world: World) {
    let shop = world.shop().await;
    let partner = world.active_partner("putu@ombak.id").await;
    let boat = world.adds_boat(&partner, "GT. 9").await;
    let line = world.resold_line(&partner, &boat, "Gili Air", false).await;
    let many = world.held(&shop, 1).await;
    world.advances_clock(TimeDelta::hours(1));
    dermaga::bookings::expire(&world.app).await.unwrap();
    // In several transactions: PostgreSQL keeps all versions of the sailing until the end of each.
    for _ in 0..10 {
        copies(&world, &many, 200).await;
    }
    let hold = async |shop: &Shop, product: &str| {
        let id = world.availability_id(shop, product, FIRST_DAY).await;
        world.reserves(shop, wish(product, &id, 1)).await.bare()["uuid"].clone()
    };
    let sailing = hold(&shop, &shop.other_line).await;
    let day = hold(&shop, &shop.day_ticket()).await;
    let of_other = hold(&shop, &line).await;
    let list = async |base: &str, query: &str| {
        let path = format!("{base}/bookings?localDate={FIRST_DAY}{query}");
        world.octo_get(&shop, &path).send().await
    };
    let uuids = |answer: crate::world::Answer| {
        let found = answer.bare();
        found.as_array().unwrap().iter().map(|one| one["uuid"].clone()).collect::<Vec<_>>()
    };
    list("", "").await.refuses("BAD_REQUEST");
    list("", &format!("&productId={}", shop.line)).await.refuses("BAD_REQUEST");
    for (product, booking) in
        [(&shop.other_line, &sailing), (&shop.day_ticket(), &day), (&line, &of_other)]
    {
        assert_eq!(
            uuids(list("", &format!("&productId={product}")).await),
            std::slice::from_ref(booking)
        );
    }
    assert_eq!(uuids(list("", "&optionId=OTHER").await), [] as [Value; 0]);
    let base = format!("/partners/{}", world.partner_id(&partner).await);
    assert_eq!(uuids(list(&base, "").await), [of_other]);
}
