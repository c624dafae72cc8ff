//! Lists as CSV files, and what the list of bookings is searched by.

use dermaga::{
    bookings,
    kernel::{access::Rule::*, ids},
};
use serde_json::json;

use crate::{
    harbour::order,
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    bookings_are_exported_with_the_filters_of_the_list,
    exports_are_for_those_who_may_read_the_list,
    other_lists_are_exported,
    a_long_export_is_whole_and_in_order,
    an_export_has_a_limit,
    no_cell_is_a_formula,
    bookings_are_searched_by_people_and_numbers,
];

impl World {
    /// The records of a file, without its header.
    async fn exports(&self, path: &str, by: &Someone) -> Vec<Vec<String>> {
        let (status, headers, body) = self.get(path).by(by).bytes().await;
        let body = String::from_utf8(body).unwrap();
        assert_eq!(status, 200, "{body}");
        assert_eq!(headers["content-type"], "text/csv; charset=utf-8");
        assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
        let mut records = read(&body);
        let width = records.remove(0).len();
        assert!(records.iter().all(|record| record.len() == width), "{body}");
        records
    }
}

/// The records of a file (RFC 4180) in which every field is quoted.
fn read(file: &str) -> Vec<Vec<String>> {
    let (mut records, mut fields, mut quoted) = (Vec::new(), vec![String::new()], false);
    let mut rest = file.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => {
                fields.last_mut().unwrap().push('"')
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => records.push(std::mem::replace(&mut fields, vec![String::new()])),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted && fields == [""], "the file ends with a whole record");
    records
}

async fn bookings_are_exported_with_the_filters_of_the_list(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let paid = world.paid_booking(&sailing, 2).await;
    let held = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    let sold = world.post("/v1/booking/", order(&sailing, 1, "dewi@example.com"));
    let sold = sold.by(&sailing.partner).send().await.ok();
    let all = world.exports("/v1/booking/?format=csv&page=9&page_size=1", &admin).await;
    let codes: Vec<_> = all.iter().map(|record| record[0].as_str()).collect();
    let expected = [&sold, &held, &paid].map(|one| one["code"].as_str().unwrap());
    assert_eq!(codes, expected, "newest first");
    let record = all.iter().find(|one| one[0] == paid["code"].as_str().unwrap()).unwrap();
    for cell in ["paid", "web", "Sanur", "sari@example.com", "Penumpang 1, Penumpang 2", "300000"] {
        assert!(record.iter().any(|one| one == cell), "{cell} in {record:?}");
    }
    for (filter, count) in
        [("status=paid", 1), ("channel=mitra", 1), ("channel=web", 2), ("channel=staff", 0)]
    {
        let path = format!("/v1/booking/?{filter}");
        let listed = world.get(&path).by(&admin).send().await.ok();
        assert_eq!(listed.as_array().unwrap().len(), count, "{filter}");
        let exported = world.exports(&format!("{path}&format=csv"), &admin).await;
        assert_eq!(exported.len(), count, "{filter}");
    }
    let bad = world.get("/v1/booking/?format=pdf&channel=x").by(&admin).send().await;
    bad.has_field_errors(&[("channel", "enum"), ("format", "enum")]);
    let json = world.get("/v1/booking/?format=json").by(&admin).send().await;
    assert_eq!(json.body["pagination"]["total_items"], 3);
}

async fn exports_are_for_those_who_may_read_the_list(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let other = world.active_partner("other@bahari.id").await;
    assert_eq!(world.exports("/v1/booking/?format=csv", &sailing.partner).await.len(), 1);
    assert_eq!(world.exports("/v1/booking/?format=csv", &other).await.len(), 0);
    assert_eq!(world.exports("/v1/mitra/route-times?format=csv", &sailing.partner).await.len(), 3);
    assert_eq!(world.exports("/v1/mitra/route-times?format=csv", &other).await.len(), 0);
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    assert_eq!(world.exports("/v1/mitra/route-times?format=csv", &crew).await.len(), 3);
    world.get("/v1/booking/?format=csv").by(&crew).send().await.is(403, "forbidden");
    let reader = world.staff("reader@dermaga.test", &[BookingsRead]).await;
    assert_eq!(world.exports("/v1/booking/?format=csv", &reader).await.len(), 1);
    for path in ["/v1/audit-logs", "/v1/mitra/manajemen", "/v1/settlements"] {
        let path = format!("{path}?format=csv");
        world.get(&path).by(&reader).send().await.is(403, "forbidden");
        world.get(&path).send().await.is(401, "unauthenticated");
    }
    // A guest exports the one booking that it knows.
    let missing = world.get("/v1/booking/?format=csv").send().await;
    missing.has_field_errors(&[("code", "required"), ("email", "required")]);
    let code = booking["code"].as_str().unwrap();
    let own = format!("/v1/booking/?format=csv&code={code}&email=sari@example.com");
    let (status, _, body) = world.get(&own).bytes().await;
    assert_eq!((status, read(&String::from_utf8(body).unwrap()).len()), (200, 2));
}

async fn other_lists_are_exported(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    world.paid_booking(&sailing, 1).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let settlements = world.exports("/v1/settlements?format=csv", &admin).await;
    assert_eq!(settlements.len(), 1);
    assert_eq!(settlements[0][0], made["code"].as_str().unwrap());
    assert!(settlements[0].contains(&"135000".to_owned()), "{settlements:?}");
    let none = world.exports("/v1/settlements?format=csv&status=released", &admin).await;
    assert!(none.is_empty());
    world.partner("draft@bahari.id").await;
    let partners = world.exports("/v1/mitra/manajemen?format=csv&status=active", &admin).await;
    assert_eq!(partners.len(), 1);
    assert_eq!(partners[0][1], "made@bahari.id");
    let by_name = "/v1/mitra/manajemen?format=csv&sort_by=name&search=bahari";
    assert_eq!(world.exports(by_name, &admin).await.len(), 2);
    let sailings = world.exports("/v1/mitra/route-times?format=csv&search=sanur", &admin).await;
    assert_eq!(sailings.len(), 3);
    assert_eq!(sailings[0][0], sailing.id, "the earliest first");
    let log = world.exports("/v1/audit-logs?format=csv", &admin).await;
    assert!(log.iter().any(|record| record[5] == "settlement.created"), "{log:?}");
    let one = world.exports("/v1/audit-logs?format=csv&action=settlement.created", &admin).await;
    assert_eq!(one.len(), 1);
    assert!(one[0][9].starts_with('{'), "the state after, as JSON");
}

/// Many entries of the audit log.
pub async fn fill_log(world: &World, count: usize) {
    let rows: Vec<_> = (0..count).collect();
    let (actor, now) = (ids::fresh(), world.now());
    for some in rows.chunks(500) {
        let mut tx = world.db().begin().await.unwrap();
        tx.insert_all(
            "INSERT INTO audit_logs (id, actor_id, actor_name, actor_email, action, entity_type,
               entity_id, address, request_id, created_at)",
            10,
            some,
            |statement, n| {
                statement
                    .bind(ids::fresh())
                    .bind(actor)
                    .bind("Wayan")
                    .bind("w@x.id")
                    .bind(format!("entry.{n}"))
                    .bind("thing")
                    .bind(actor)
                    .bind("127.0.0.1")
                    .bind("r")
                    .bind(now + chrono::TimeDelta::seconds(*n as i64))
            },
        )
        .await
        .unwrap();
        tx.commit().await.unwrap();
    }
}

async fn a_long_export_is_whole_and_in_order(world: World) {
    let admin = world.admin().await;
    fill_log(&world, 1_234).await;
    let log = world.exports("/v1/audit-logs?format=csv&entity_type=thing", &admin).await;
    let actions: Vec<_> = log.iter().map(|record| record[5].clone()).collect();
    let expected: Vec<_> = (0..1_234).rev().map(|n| format!("entry.{n}")).collect();
    assert_eq!(actions, expected);
    let up = "/v1/audit-logs?format=csv&entity_type=thing&sort_dir=asc";
    assert_eq!(world.exports(up, &admin).await[0][5], "entry.0");
}

async fn an_export_has_a_limit(world: World) {
    let admin = world.admin().await;
    fill_log(&world, 50_000).await;
    let path = "/v1/audit-logs?format=csv&entity_type=thing";
    assert_eq!(world.exports(path, &admin).await.len(), 50_000);
    fill_log(&world, 1).await;
    world.get(path).by(&admin).send().await.has_field_errors(&[("format", "max_items")]);
    assert_eq!(world.exports(&format!("{path}&action=entry.7"), &admin).await.len(), 1);
}

async fn no_cell_is_a_formula(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["contact"]["name"] = json!("=cmd|' /C calc'!A0");
    wanted["passengers"][0]["name"] = json!("+1;@SUM(1)");
    wanted["note"] = json!("\"quoted\", and\r\n-2");
    world.books(wanted).await.ok();
    let record = world.exports("/v1/booking/?format=csv", &sailing.partner).await.remove(0);
    assert_eq!(record[10], "'=cmd|' /C calc'!A0");
    assert_eq!(record[12], "'+6281234567890");
    assert_eq!(record[14], "'+1;@SUM(1)");
    assert!(record[15].starts_with("\"quoted\", and"), "{:?}", record[15]);
}

async fn bookings_are_searched_by_people_and_numbers(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let mut wanted = order(&sailing, 2, "sari@example.com");
    wanted["passengers"][0]["name"] = json!("Ketut Lindung");
    wanted["passengers"][1]["name"] = json!("Raden 50%_x");
    wanted["contact"]["phone"] = json!("081299988877");
    let booking = world.books(wanted).await.ok();
    world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    let found = async |words: &str| {
        let path = format!("/v1/booking/?search={words}");
        world.get(&path).by(&admin).send().await.ok().as_array().unwrap().len()
    };
    let expected = [
        ("lindung", 1),
        ("KETUT", 1),
        ("50%25_X", 1),
        ("081299988877", 1),
        ("0812-9998", 1),
        ("%2B62 812 9998", 1),
        ("62812", 2),
        ("budi@", 1),
        ("sari", 2),
        (booking["code"].as_str().unwrap(), 1),
        // Neither fields of the stored record nor a pattern over two names.
        ("identity", 0),
        ("Lindung%25Raden", 0),
        ("null", 0),
        ("9998887799", 0),
        // Too short for the index.
        ("li", 1),
        ("%25_", 1),
        ("_", 1),
        // No code has such a part by chance.
        ("z-", 0),
    ];
    for (words, count) in expected {
        assert_eq!(found(words).await, count, "{words}, not indexed yet");
    }
    // Two texts are not enough for this batch.
    assert_eq!(bookings::index_texts(world.db(), 3).await.unwrap().done, 0);
    while bookings::index_texts(world.db(), 1).await.unwrap().more {}
    world.books(order(&sailing, 1, "nyoman@example.com")).await.ok();
    for (words, count) in
        expected.into_iter().filter(|(words, _)| !["sari", "62812"].contains(words))
    {
        assert_eq!(found(words).await, count, "{words}, indexed");
    }
    assert_eq!(found("nyoman@").await, 1, "stored since");
    let path = format!("/v1/booking/{}/passengers", booking["id"].as_str().unwrap());
    let passenger = json!({ "id": booking["passengers"][0]["id"], "name": "Ketut Terang" });
    world.put(&path, json!({ "passengers": [passenger] })).by(&admin).send().await.ok();
    assert_eq!((found("lindung").await, found("terang").await), (0, 1), "corrected");
}
