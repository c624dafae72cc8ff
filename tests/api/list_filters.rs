//! Lists of large tables: one filter drives the query and the others are checked. Whichever it is, a list
//! has what all its filters leave, in its order, and its total.

use chrono::{DateTime, TimeDelta, Utc};
use dermaga::kernel::{
    access::Rule,
    db::Tx,
    ids::{self, Uuid},
};
use serde_json::{Value, json};

use crate::{
    harbour::{order, route},
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    sailings_are_the_same_by_any_filters,
    audit_entries_are_the_same_by_any_filters,
    refunds_are_the_same_by_any_filters,
    ledger_entries_are_the_same_by_any_filters,
    sailings_are_found_by_rare_and_frequent_words,
    bookings_behind_very_many_others_are_found,
    audit_entries_are_found_by_rare_and_frequent_words,
    every_list_with_a_search_leaves_out_what_does_not_match,
];

async fn found(world: &World, path: &str, query: &str, by: &Someone) -> Vec<String> {
    let path = format!("{path}?page_size=100&{query}");
    let answer = world.get(&path).by(by).send().await;
    let total = answer.body["pagination"]["total_items"].clone();
    let rows = answer.ok();
    let ids = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
    let ids: Vec<_> = ids.collect();
    assert_eq!(total, ids.len(), "{query}");
    ids
}

/// Compares each pair of filters with what both leave of the whole list, in either order. The pages of
/// one row say the same.
async fn assert_same_by_any_filters(world: &World, path: &str, filters: &[String], by: &Someone) {
    let all = found(world, path, "", by).await;
    let mut alone = Vec::new();
    for filter in filters {
        let alike = found(world, path, filter, by).await;
        let expected: Vec<_> = all.iter().filter(|id| alike.contains(id)).cloned().collect();
        assert_eq!(alike, expected, "{filter}");
        alone.push(alike);
    }
    let telling = alone.iter().filter(|found| !found.is_empty() && found.len() < all.len());
    assert!(telling.count() * 2 >= filters.len(), "{alone:?}");
    let name = |filter: &str| filter.split('=').next().unwrap().to_owned();
    for (i, first) in filters.iter().enumerate() {
        for (j, second) in filters.iter().enumerate().skip(i + 1) {
            // A period that ends before it begins is refused.
            let is_period = name(first) == "start_date" && name(second) == "end_date";
            if name(first) == name(second) || is_period {
                continue;
            }
            let both = |id: &&String| alone[i].contains(id) && alone[j].contains(id);
            let mut expected: Vec<_> = all.iter().filter(both).cloned().collect();
            let query = format!("{first}&{second}");
            assert_eq!(found(world, path, &query, by).await, expected, "{query}");
            for page in 1..=expected.len().min(3) {
                let path = format!("{path}?{query}&page_size=1&page={page}");
                let answer = world.get(&path).by(by).send().await;
                assert_eq!(answer.body["pagination"]["total_items"], expected.len(), "{query}");
                assert_eq!(answer.ok()[0]["id"], json!(expected[page - 1]), "{query}");
            }
            let ascending = path.ends_with("route-times");
            let direction = if ascending { "desc" } else { "asc" };
            expected.reverse();
            let reversed = found(world, path, &format!("{query}&sort_dir={direction}"), by).await;
            assert_eq!(reversed, expected, "{query} reversed");
        }
    }
}

async fn sailings_are_the_same_by_any_filters(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let other = world.active_partner("ketut@laut.id").await;
    let boat = world.adds_boat(&other, "GT. 3").await;
    let mut early = route(&boat);
    (early["from"], early["to"]) = (json!("Sorong"), json!("Waisai"));
    (early["timezone"], early["end_date"]) = (json!("Asia/Jayapura"), json!("2026-11-18"));
    early["times"] = json!([{ "departure_time": "00:30", "arrival_time": "02:00" }]);
    let early = world.creates_route(&other, early).await;
    world.publishes_route(&other, &early).await.ok();
    let cancelled = world.sailings(&other, &early).await[1]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/mitra/route-times/{cancelled}/cancel");
    world.post(&path, json!({ "reason": "x" })).by(&other).send().await.ok();
    let partner = world.partner_id(&sailing.partner).await;
    world.advances_clock(TimeDelta::hours(26));
    let admin = world.signs_in(&admin.email, "admin").await;
    let filters = [
        format!("route_id={early}"),
        format!("speedboat_id={}", sailing.boat),
        format!("speedboat_id={boat}"),
        format!("mitra_id={partner}"),
        "status=open".into(),
        "status=departed".into(),
        "status=cancelled".into(),
        "status=withdrawn".into(),
        "search=waisai".into(),
        "search=SANUR".into(),
        "search=express".into(),
        "search=nowhere".into(),
        "start_date=2026-11-17".into(),
        "end_date=2026-11-16".into(),
    ];
    assert_same_by_any_filters(&world, "/v1/mitra/route-times", &filters, &admin).await;
}

async fn audit_entries_are_the_same_by_any_filters(world: World) {
    let admin = world.admin().await;
    let mut taxes = Vec::new();
    for n in 0..2 {
        world.advances_clock(TimeDelta::hours(11));
        let admin = world.signs_in(&admin.email, "admin").await;
        let tax = json!({
            "name": "T", "code": format!("T{n}"), "rate": 1, "applies_to": "booking",
            "is_active": false,
        });
        taxes.push(world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok());
    }
    let clerk = world.staff("clerk@dermaga.test", &[Rule::TaxesWrite]).await;
    let path = format!("/v1/configurations/taxs/{}", taxes[0]["id"].as_str().unwrap());
    world.delete(&path).by(&clerk).send().await.ok();
    let admin = world.signs_in(&admin.email, "admin").await;
    let created = "/v1/audit-logs?action=tax.created";
    let created = world.get(created).by(&admin).send().await.ok();
    let tax = &created[0];
    assert_eq!(tax["action"], "tax.created", "{created}");
    let filters = [
        format!("actor_id={}", admin.id),
        format!("actor_id={}", clerk.id),
        format!("entity_id={}", tax["entity_id"].as_str().unwrap()),
        "entity_type=tax".into(),
        "entity_type=nothing".into(),
        "action=tax.created".into(),
        "action=tax.deleted".into(),
        "search=TAX.CRE".into(),
        "search=admin%40derm".into(),
        "search=nobody".into(),
        "start_date=2026-11-16".into(),
        "end_date=2026-11-15".into(),
    ];
    assert_same_by_any_filters(&world, "/v1/audit-logs", &filters, &admin).await;
}

async fn refunds_are_the_same_by_any_filters(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut codes = Vec::new();
    for n in 0..6 {
        world.advances_clock(TimeDelta::seconds(1));
        let booking = world.books(order(&sailing, 1, &format!("t{n}@example.com"))).await.ok();
        let path = |last: &str| format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap());
        if n % 2 == 0 {
            world.pays(&booking).await;
        } else {
            world.post(&path("pay-cash"), json!({})).by(&admin).send().await.ok();
        }
        if n == 5 {
            // Somebody pays twice.
            world.receives_callback(&booking, "settlement", "again").await.ok();
            let reviews = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
            let review = reviews[0]["id"].as_str().unwrap();
            let refund = json!({ "action": "refund", "note": "x" });
            let path = format!("/v1/payment/reviews/{review}/resolve");
            world.post(&path, refund).by(&admin).send().await.ok();
        }
        let reason = json!({ "reason": "x" });
        world.post(&path("cancel"), reason).by(&admin).send().await.ok();
        if n < 3 {
            let paid = json!({ "reference": "R" });
            world.post(&path("refund"), paid).by(&admin).send().await.ok();
        }
        codes.push(booking["code"].as_str().unwrap().to_owned());
    }
    let refunds = world.get("/v1/refunds").by(&admin).send().await.ok();
    let filters = [
        "status=due".into(),
        "status=paid".into(),
        "status=failed".into(),
        "kind=cancellation".into(),
        "kind=duplicate".into(),
        "by=bank".into(),
        "by=cash".into(),
        format!("mitra_id={}", world.partner_id(&sailing.partner).await),
        format!("search={}", codes[0]),
        format!("search={}", codes[1][4..].to_lowercase()),
        format!("search={}", refunds[0]["code"].as_str().unwrap()),
        "search=rfd-".into(),
        "search=nothing".into(),
        "start_date=2026-11-15&end_date=2026-11-15".into(),
        "end_date=2026-11-14".into(),
    ];
    assert_same_by_any_filters(&world, "/v1/refunds", &filters, &admin).await;
    // Another partner has none of them.
    let other = world.active_partner("ketut@laut.id").await;
    for filter in &filters {
        let found = found(&world, "/v1/refunds", filter, &other).await;
        assert!(found.is_empty() || filter.starts_with("mitra_id"), "{filter}");
    }
}

async fn ledger_entries_are_the_same_by_any_filters(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let cancelled = world.paid_booking(&sailing, 1).await;
    let path = |last: &str| format!("/v1/booking/{}/{last}", cancelled["id"].as_str().unwrap());
    world.post(&path("cancel"), json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.post(&path("refund"), json!({ "reference": "R" })).by(&admin).send().await.ok();
    world.completes_paid_bookings().await;
    let lines = json!([
        { "account": "bank", "debit": 1_000 }, { "account": "equity", "credit": 1_000 },
    ]);
    let opening = json!({ "posted_on": "2026-10-20", "memo": "Opening", "lines": lines });
    crate::finance::posts_journal(&world, opening, &admin).await;
    let filters = [
        "account=bank".into(),
        "account=gateway_clearing".into(),
        "account=partner_payable".into(),
        "account=suspense".into(),
        "source=booking".into(),
        "source=refund".into(),
        "source=journal".into(),
        "source=review".into(),
        format!("mitra_id={}", world.partner_id(&sailing.partner).await),
        format!("booking_id={}", booking["id"].as_str().unwrap()),
        "start_date=2026-11-01".into(),
        "end_date=2026-10-31".into(),
    ];
    assert_same_by_any_filters(&world, "/v1/finance/entries", &filters, &admin).await;
}

/// Copies a sailing to many later hours.
async fn copies_sailing(world: &World, id: &str, count: i64) {
    let first: DateTime<Utc> = "2027-01-01T00:00:00Z".parse().unwrap();
    let original: Uuid = id.parse().unwrap();
    let mut tx = world.db().begin().await.unwrap();
    for hour in 0..count {
        let departure = first + TimeDelta::hours(hour);
        tx.sql(
            "INSERT INTO sailings (id, route_id, line_id, speedboat_id, partner_id,
               from_harbour_id, to_harbour_id, day, departure_at, arrival_at, duration_minutes,
               price, capacity, seats_taken, chartered, status)
             SELECT $1, route_id, line_id, speedboat_id, partner_id, from_harbour_id,
               to_harbour_id, $3, $4, $5, 30, price, capacity, 0, FALSE, 'open'
             FROM sailings WHERE id = $2",
        )
        .bind(ids::fresh())
        .bind(original)
        .bind(departure.date_naive())
        .bind(departure)
        .bind(departure + TimeDelta::minutes(30))
        .run()
        .await
        .unwrap();
    }
    tx.commit().await.unwrap();
}

async fn sailings_are_found_by_rare_and_frequent_words(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let boat = world.adds_boat(&sailing.partner, "GT. 2").await;
    let mut rare = route(&boat);
    (rare["from"], rare["to"]) = (json!("Sorong"), json!("Waisai"));
    rare["timezone"] = json!("Asia/Jayapura");
    let rare = world.creates_route(&sailing.partner, rare).await;
    world.publishes_route(&sailing.partner, &rare).await.ok();
    let of_rare = world.sailings(&sailing.partner, &rare).await.len();
    copies_sailing(&world, &sailing.id, 20_010).await;
    let find = async |query: &str| {
        let path = format!("/v1/mitra/route-times?{query}");
        let answer = world.get(&path).by(&admin).send().await;
        let pagination = answer.body["pagination"].clone();
        (answer.ok(), pagination)
    };
    let (_, all) = find("search=waisai").await;
    assert_eq!(all["total_items"], of_rare);
    assert!(all.get("total_is_minimum").is_none());
    let (rows, many) = find("search=sanur").await;
    assert_eq!((&many["total_items"], &many["total_is_minimum"]), (&json!(10_000), &json!(true)));
    assert_eq!(rows[0]["id"], json!(sailing.id), "the earliest");
    // Beyond the total, and from the end.
    let (rows, _) = find("search=sanur&page=1001&page_size=20").await;
    assert_eq!(rows.as_array().unwrap().len(), 13);
    assert_eq!(find("search=sanur&page=1002&page_size=20").await.0, json!([]));
    let (rows, _) = find("search=sanur&sort_dir=desc").await;
    assert_eq!(rows[0]["departure_at"], "2029-04-13T17:00:00Z");
    // With other filters it is exact again.
    let (_, day) = find("search=sanur&start_date=2027-01-02&end_date=2027-01-03").await;
    assert_eq!(day["total_items"], 48);
    let (_, rare) = find("search=waisai&status=open").await;
    assert_eq!(rare["total_items"], of_rare);
    let (_, boat) = find(&format!("search=sanur&speedboat_id={boat}")).await;
    assert_eq!(boat["total_items"], 0);
}

/// Copies a booking of one seat as ones that ended unpaid. In few transactions: PostgreSQL keeps all versions of the
/// sailing until the end of each.
async fn copies_booking(world: &World, id: &Value, channel: &'static str, total: i64, count: i64) {
    for start in (0..count).step_by(1_000) {
        let count = (count - start).min(1_000);
        copies_some(world, id, channel, "expired", total, count).await;
    }
}

async fn copies_some(
    world: &World,
    id: &Value,
    channel: &'static str,
    status: &'static str,
    total: i64,
    count: i64,
) {
    let original: Uuid = id.as_str().unwrap().parse().unwrap();
    let (id, code) = match world.db().engine() {
        "sqlite" => ("randomblob(16)", "hex(randomblob(8))"),
        _ => ("gen_random_uuid()", "left(upper(md5(random()::TEXT || n::TEXT)), 16)"),
    };
    let mut tx = world.db().begin_without_timeout().await.unwrap();
    // Each insert takes a seat.
    let seats = async |tx: &mut Tx, change: &'static str| {
        let sailing = "WHERE id = (SELECT sailing_id FROM bookings WHERE id = $2)";
        let text: &str = format!("UPDATE sailings SET {change} {sailing}").leak();
        tx.sql(text).bind(count).bind(original).run().await.unwrap();
    };
    seats(&mut tx, "capacity = capacity + CAST($1 AS BIGINT)").await;
    let text = format!(
        "INSERT INTO bookings (id, code, type, status, channel, sailing_id, speedboat_id,
           partner_id, departure_at, arrival_at, qty, seats, note, contact_name, contact_email,
           contact_phone, lang, passengers, accepted_terms, unit_price, subtotal, discount,
           taxes, tax, total, commission_rate, commission, commission_taxes, commission_tax,
           partner_net, expires_at, created_at, updated_at)
         WITH RECURSIVE numbers(n) AS (
           SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < $5)
         SELECT {id}, {code}, type, '{status}', $1, sailing_id, speedboat_id, partner_id,
           departure_at, arrival_at, qty, seats, note, contact_name, contact_email,
           contact_phone, lang, passengers, accepted_terms, unit_price, $2, 0,
           taxes, 0, $2, commission_rate, 0, commission_taxes, 0, $2, expires_at, $3, $3
         FROM bookings CROSS JOIN numbers WHERE id = $4"
    );
    tx.sql(text.leak())
        .bind(channel)
        .bind(total)
        .bind(world.now())
        .bind(original)
        .bind(count)
        .run()
        .await
        .unwrap();
    seats(
        &mut tx,
        "seats_taken = seats_taken - CAST($1 AS BIGINT), capacity = capacity - CAST($1 AS BIGINT)",
    )
    .await;
    tx.commit().await.unwrap();
}

async fn bookings_behind_very_many_others_are_found(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let later = world.sailing_of_another_day(&sailing).await;
    let moves = world.paid_booking(&sailing, 1).await;
    world.advances_clock(TimeDelta::minutes(1));
    let first = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let second = world.books(order(&later, 1, "dewi@example.com")).await.ok();
    copies_booking(&world, &first["id"], "web", 1_000, 20_020).await;
    world.advances_clock(TimeDelta::minutes(1));
    copies_booking(&world, &second["id"], "staff", 2_000, 15_020).await;
    world.advances_clock(TimeDelta::minutes(1));
    copies_booking(&world, &second["id"], "web", 3_000, 40).await;
    let find = async |query: &str| {
        let answer = world.get(&format!("/v1/booking/?{query}")).by(&admin).send().await;
        let pagination = answer.body["pagination"].clone();
        let rows = answer.ok().as_array().unwrap().clone();
        (rows, pagination)
    };
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    let total = |row: &Value| row["price"]["total"].as_i64().unwrap();
    // Three pages in a row: no booking is missing or shown twice, and all have the same total.
    let pages_of = async |query: &str, from: i64, ok: &dyn Fn(&Value) -> bool| {
        let mut seen = Vec::new();
        let mut totals = Vec::new();
        for page in from..from + 3 {
            let (rows, pagination) = find(&format!("{query}&page_size=5&page={page}")).await;
            assert_eq!(rows.len(), 5, "{query} {page}");
            assert!(rows.iter().all(ok), "{query} {page}: {rows:?}");
            seen.extend(ids(&rows));
            totals.push(pagination);
        }
        let (all, _) = find(&format!("{query}&page_size=15&page={}", (from - 1) / 3 + 1)).await;
        assert_eq!(seen, ids(&all), "{query}");
        for pagination in &totals {
            assert_eq!(pagination["total_items"], 10_000, "{query}");
            assert_eq!(pagination["total_is_minimum"], true, "{query}");
        }
        all
    };
    let is_staff = |row: &Value| row["channel"] == "staff" && total(row) == 2_000;
    // The oldest of a day: all of the day before were made earlier.
    let day = "start_date=2026-11-17&end_date=2026-11-17";
    let departs = |row: &Value| row["route_time_id"] == *later.id;
    let oldest = pages_of(&format!("{day}&sort_dir=asc"), 1, &departs).await;
    assert_eq!(oldest[0]["id"], second["id"]);
    pages_of(&format!("{day}&sort_dir=asc&status=expired"), 1, &departs).await;
    // The newest are found at once.
    let newest = pages_of(day, 1, &departs).await;
    assert_eq!(newest[0]["price"]["total"], 3_000);
    // The earliest departures of a channel: those of the day before are of another one.
    let earliest = "channel=staff&sort_by=departure_at&sort_dir=asc";
    pages_of(earliest, 1, &is_staff).await;
    // Behind the pages that are looked for in the order of the list.
    pages_of(earliest, 601, &is_staff).await;
    // The latest: few of the other channel depart on that day.
    pages_of("channel=staff&sort_by=departure_at&sort_dir=desc", 1, &is_staff).await;
    // An index has the bookings of a channel by their total.
    let cheapest = "channel=staff&sort_by=total&sort_dir=asc";
    pages_of(cheapest, 1, &is_staff).await;
    pages_of("channel=staff&sort_by=total&sort_dir=desc", 601, &is_staff).await;
    // The last page.
    let last = format!("{cheapest}&page_size=100&page=151");
    assert_eq!(find(&last).await.0.len(), 20);
    // A period has more bookings than are examined. The total is that of the status.
    copies_some(&world, &second["id"], "web", "cancelled", 4_000, 30).await;
    let cancelled = "start_date=2026-11-15&end_date=2026-11-17&status=cancelled";
    let (rows, pagination) = find(cancelled).await;
    assert_eq!(rows.len(), 20);
    assert_eq!(pagination["total_items"], 30);
    assert_eq!(pagination["total_is_minimum"], Value::Null);
    // A page past the end says nothing of the pages before it.
    let (rows, pagination) = find(&format!("{cancelled}&page=90")).await;
    assert_eq!((rows.len(), &pagination["total_items"]), (0, &json!(30)));
    let (rows, pagination) = find("channel=staff&status=cancelled&page=90").await;
    assert_eq!((rows.len(), &pagination["total_items"]), (0, &json!(0)));
    // A partner's list by total has an index of its own. Deep pages begin at a remembered row.
    let of_partner = async |page: i64| {
        let path = format!("/v1/booking/?sort_by=total&sort_dir=asc&page_size=100&page={page}");
        let rows = world.get(&path).by(&sailing.partner).send().await.ok();
        rows.as_array().unwrap().clone()
    };
    let (before, after) = (ids(&of_partner(150).await), ids(&of_partner(151).await));
    assert_eq!((before.len(), after.len()), (100, 100));
    assert!(before.iter().all(|id| !after.contains(id)));
    let border: Vec<_> = of_partner(201).await.iter().map(total).collect();
    assert_eq!(border, [vec![1_000_i64; 20], vec![2_000; 80]].concat());
    // A booking that is moved to the day is older than all that were made for it.
    world.requests_reschedule(&moves, &later).await.ok();
    let oldest = pages_of(&format!("{day}&sort_dir=asc"), 1, &departs).await;
    assert_eq!((&oldest[0]["id"], &oldest[1]["id"]), (&moves["id"], &second["id"]));
}

async fn audit_entries_are_found_by_rare_and_frequent_words(world: World) {
    let admin = world.admin().await;
    let (often, seldom) = (ids::fresh(), ids::fresh());
    let rows: Vec<_> = (0..10_020).map(|n| if n % 2_505 == 0 { seldom } else { often }).collect();
    let mut tx = world.db().begin().await.unwrap();
    tx.insert_all(
        "INSERT INTO audit_logs (id, actor_id, actor_name, actor_email, action, entity_type,
           entity_id, address, request_id, created_at)",
        10,
        &rows,
        |statement, actor| {
            let name = if *actor == often { "Ketut Lindung" } else { "Raden Terang" };
            let statement = statement.bind(ids::fresh()).bind(*actor).bind(name).bind("b");
            let statement = statement.bind("counted").bind("test").bind(ids::fresh());
            statement.bind("").bind("").bind(world.now())
        },
    )
    .await
    .unwrap();
    tx.commit().await.unwrap();
    let find = async |query: &str| {
        let path = format!("/v1/audit-logs?{query}");
        let answer = world.get(&path).by(&admin).send().await;
        let pagination = answer.body["pagination"].clone();
        (answer.ok(), pagination)
    };
    let (rows, rare) = find("search=terang").await;
    assert_eq!((&rare["total_items"], rows.as_array().unwrap().len()), (&json!(4), 4));
    let (rows, many) = find("search=counted").await;
    assert_eq!(rows.as_array().unwrap().len(), 20);
    assert_eq!(many["total_is_minimum"], true);
    let (rows, _) = find("search=lindung&page=500").await;
    assert_eq!(rows.as_array().unwrap().len(), 20);
    let (_, both) = find(&format!("search=terang&actor_id={often}")).await;
    assert_eq!(both["total_items"], 0);
    let (_, both) = find("search=terang&action=counted&entity_type=test").await;
    assert_eq!(both["total_items"], 4);
    assert_eq!(find("search=nobody").await.1["total_items"], 0);
}

async fn every_list_with_a_search_leaves_out_what_does_not_match(world: World) {
    let document: serde_json::Value =
        serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap();
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    let mut lists = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let parameters = operations["get"]["parameters"].as_array().into_iter().flatten();
        let mut names = parameters.map(|parameter| parameter["name"].as_str().unwrap());
        if path.contains('{') || !names.any(|name| name == "search") {
            continue;
        }
        let answer = world.get(&format!("{path}?search=zzqqzzqq")).by(&admin).send().await;
        if answer.status == 200 {
            let data = answer.ok();
            // A list with a summary beside it.
            let rows = data.get("items").unwrap_or(&data);
            assert_eq!(*rows, json!([]), "{path}");
            lists += 1;
        }
    }
    assert!(lists > 15, "{lists}");
}
