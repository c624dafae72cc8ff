//! Lines and their fares, and bookings with them.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{NIK, Sailing, callback_body, charter, order, route, search_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, World},
};

on_both_engines![
    a_line_is_made_with_its_first_route,
    a_route_without_fares_is_sold_as_before,
    a_line_is_changed_field_by_field,
    fares_are_validated,
    the_line_of_another_partner_is_unknown,
    every_passenger_pays_their_fare,
    wrong_passengers_are_named,
    an_infant_needs_an_adult_and_no_seat,
    the_last_seats_go_once_whatever_the_fares,
    a_change_in_a_rush_mixes_no_prices,
    manifest_and_tickets_show_the_fare,
    a_booking_moves_with_its_fares,
    a_fare_that_is_no_longer_sold_keeps_its_share,
    a_cancellation_gives_everything_back,
    a_late_payment_takes_its_seats_and_no_more,
    the_sale_ends_by_the_line,
    an_erased_booking_keeps_its_fares,
];

/// The fares of Bali.
pub fn bali() -> Value {
    json!([
        { "category": "adult", "residency": "domestic", "min_age": 12, "price": { "percent": 60 } },
        { "category": "adult", "residency": "foreign", "min_age": 12, "price": { "percent": 100 } },
        { "category": "child", "min_age": 3, "max_age": 11, "price": { "percent": 75 } },
        { "category": "infant", "max_age": 2, "price": { "amount": 0 }, "takes_seat": false },
    ])
}

impl World {
    /// The path of the only line of the sailing's partner.
    pub async fn line_of(&self, sailing: &Sailing) -> String {
        let lines = self.get("/v1/mitra/lines").by(&sailing.partner).send().await.ok();
        assert_eq!(lines.as_array().unwrap().len(), 1);
        format!("/v1/mitra/lines/{}", lines[0]["id"].as_str().unwrap())
    }

    pub async fn changes_line(&self, sailing: &Sailing, change: Value) -> Answer {
        let line = self.line_of(sailing).await;
        self.put(&line, change).by(&sailing.partner).send_with_retry().await
    }

    pub async fn sets_fares(&self, sailing: &Sailing, fares: Value) -> Value {
        self.changes_line(sailing, json!({ "fares": fares })).await.ok()
    }
}

/// A booking of passengers with these fares.
pub fn order_of(sailing: &Sailing, fares: &[&str], email: &str) -> Value {
    let mut order = order(sailing, fares.len(), email);
    for (index, fare) in fares.iter().enumerate() {
        order["passengers"][index]["fare"] = json!(fare);
    }
    order
}

fn lines_of(booking: &Value) -> Vec<(&str, i64, i64)> {
    let lines = booking["price"]["lines"].as_array().unwrap().iter();
    lines
        .map(|line| {
            let number = |name: &str| line[name].as_i64().unwrap();
            (line["fare"].as_str().unwrap(), number("unit_price"), number("count"))
        })
        .collect()
}

/// Fare, price and seat of each passenger.
fn passengers_of(booking: &Value) -> Vec<(&str, i64, bool)> {
    let passengers = booking["passengers"].as_array().unwrap().iter();
    passengers
        .map(|one| {
            let fare = one["fare"].as_str().unwrap();
            (fare, one["unit_price"].as_i64().unwrap(), one["takes_seat"].as_bool().unwrap())
        })
        .collect()
}

async fn a_line_is_made_with_its_first_route(world: World) {
    let sailing = world.sailing().await;
    let boat = world.adds_boat(&sailing.partner, "GT. 2").await;
    let mut again = route(&boat);
    again["from"] = json!("  SANUR ");
    let draft = world.creates_route(&sailing.partner, again.clone()).await;
    let list = async || world.get("/v1/mitra/lines").by(&sailing.partner).send().await.ok();
    let lines = list().await;
    assert_eq!(lines.as_array().unwrap().len(), 1, "however it is written");
    assert_eq!(
        (&lines[0]["from"], &lines[0]["to"], &lines[0]["timezone"]),
        (&json!("Sanur"), &json!("Nusa Penida"), &json!("Asia/Makassar"))
    );
    let standard = json!([{
        "key": "adult", "category": "adult", "residency": "any", "min_age": 0, "max_age": 120,
        "price": { "percent": 100 }, "takes_seat": true, "id_required": false,
    }]);
    assert_eq!(lines[0]["fares"], standard);
    assert_eq!((&lines[0]["max_party"], &lines[0]["names"]), (&json!(9), &json!("lead")));
    assert_eq!((&lines[0]["resale"], &lines[0]["day_ticket"]), (&json!(false), &json!(false)));
    assert_eq!(lines[0]["cutoff_minutes"], Value::Null);
    // A draft that goes elsewhere belongs to another line.
    again["to"] = json!("Nusa Lembongan");
    let path = format!("/v1/mitra/speedboat-routes/{draft}");
    world.put(&path, again.clone()).by(&sailing.partner).send().await.ok();
    // The zone of a harbour that nobody has verified is the route's.
    again["from"] = json!("Teluk Baru");
    for (zone, lines) in [("Asia/Jakarta", 3), ("Asia/Makassar", 4)] {
        again["timezone"] = json!(zone);
        world.creates_route(&sailing.partner, again.clone()).await;
        assert_eq!(list().await.as_array().unwrap().len(), lines, "another zone is another line");
    }
    let found = world.get("/v1/mitra/lines?search=lembongan&page_size=1").by(&sailing.partner);
    let found = found.send().await;
    assert_eq!(found.body["pagination"]["total_items"], 3, "{}", found.body);
    let shared = "SELECT COUNT(*) FROM routes r JOIN lines l ON l.id = r.line_id
        AND l.partner_id = r.partner_id AND l.timezone = r.timezone";
    assert_eq!(world.count(shared).await, 4);
    let sailings = "SELECT COUNT(*) FROM sailings s JOIN routes r ON r.id = s.route_id
        WHERE s.line_id = r.line_id";
    assert_eq!(world.count(sailings).await, 3);
    // Two at once make one.
    let other = world.active_partner("putu@bahari.id").await;
    let boats = [world.adds_boat(&other, "GT. 3").await, world.adds_boat(&other, "GT. 4").await];
    join_all(boats.iter().map(|boat| {
        world.post("/v1/mitra/speedboat-routes/", route(boat)).by(&other).send_with_retry()
    }))
    .await
    .into_iter()
    .for_each(|made| drop(made.ok()));
    let lines = world.get("/v1/mitra/lines").by(&other).send().await.ok();
    assert_eq!(lines.as_array().unwrap().len(), 1);
}

async fn a_route_without_fares_is_sold_as_before(world: World) {
    let sailing = world.sailing().await;
    let offer = &world.searches(search_body(2)).await[0];
    assert_eq!((&offer["price"], &offer["total_price"]), (&json!(150_000), &json!(300_000)));
    let fares = json!([{ "key": "adult", "price": 150_000, "takes_seat": true }]);
    assert_eq!(offer["fares"], fares);
    let mut wanted = order(&sailing, 2, "sari@example.com");
    // No age is refused where there are no other fares.
    wanted["passengers"][0]["birth_date"] = json!("1890-01-01");
    wanted["passengers"][1]["birth_date"] = json!("2027-01-01");
    let booking = world.books(wanted).await.ok();
    assert_eq!(lines_of(&booking), [("adult", 150_000, 2)]);
    assert_eq!(passengers_of(&booking), [("adult", 150_000, true); 2]);
    let price = &booking["price"];
    assert_eq!((&price["unit_price"], &price["total"]), (&json!(150_000), &json!(300_000)));
    assert_eq!(world.seats_taken(&sailing).await, 2);
    assert_eq!(lines_of(&world.looks_up(&booking).await), [("adult", 150_000, 2)]);
    // A charter has the price of the boat.
    let other = world.sailing_of_another_day(&sailing).await;
    let boat = world.books(charter(&other, 3, "putu@example.com")).await.ok();
    assert_eq!(boat["price"]["lines"], json!([]));
    assert_eq!(boat["price"]["subtotal"], 4_500_000);
    assert_eq!(boat["passengers"][0]["fare"], Value::Null);
    assert_invariants(&world).await;
}

async fn a_line_is_changed_field_by_field(world: World) {
    let sailing = world.sailing().await;
    let line = world.sets_fares(&sailing, bali()).await;
    let keys: Vec<_> = line["fares"].as_array().unwrap().iter().map(|fare| &fare["key"]).collect();
    assert_eq!(keys, ["adult_domestic", "adult_foreign", "child", "infant"]);
    assert_eq!(line["fares"][3]["price"], json!({ "amount": 0 }));
    let change = json!({
        "resale": true, "day_ticket": true, "names": "all", "max_party": 50, "cutoff_minutes": 60,
    });
    let changed = world.changes_line(&sailing, change).await.ok();
    assert_eq!(changed["fares"], line["fares"], "kept");
    assert_eq!((&changed["names"], &changed["max_party"]), (&json!("all"), &json!(50)));
    let kept = world.changes_line(&sailing, json!({})).await.ok();
    for field in ["resale", "day_ticket", "names", "max_party", "cutoff_minutes", "fares"] {
        assert_eq!(kept[field], changed[field], "{field}");
    }
    let cleared = json!({ "cutoff_minutes": null, "fares": null });
    let cleared = world.changes_line(&sailing, cleared).await.ok();
    assert_eq!(cleared["cutoff_minutes"], Value::Null);
    assert_eq!(cleared["fares"][0]["key"], "adult");
    assert_eq!(cleared["max_party"], 50);
    // Search shows the change at once.
    assert_eq!(world.searches(search_body(1)).await[0]["fares"].as_array().unwrap().len(), 1);
    world.sets_fares(&sailing, bali()).await;
    let offer = &world.searches(search_body(2)).await[0];
    let priced = |key: &str, price: i64, seat: bool| json!({ "key": key, "price": price, "takes_seat": seat });
    let fares = json!([
        priced("adult_domestic", 90_000, true),
        priced("adult_foreign", 150_000, true),
        priced("child", 112_500, true),
        priced("infant", 0, false),
    ]);
    assert_eq!(offer["fares"], fares);
    assert_eq!((&offer["price"], &offer["total_price"]), (&json!(150_000), &json!(180_000)));
    let mut boat = search_body(2);
    boat["type"] = json!("charter");
    let offer = &world.searches(boat).await[0];
    assert_eq!((&offer["fares"], &offer["total_price"]), (&json!([]), &json!(4_500_000)));
}

async fn fares_are_validated(world: World) {
    let sailing = world.sailing().await;
    let adult = json!({ "category": "adult", "price": { "percent": 100 } });
    let with = |change: Value| {
        let mut fare = adult.clone();
        fare.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        fare
    };
    let all = |fare: Value| vec![fare];
    for (fares, field, rule) in [
        (vec![], "fares", "min_items"),
        (vec![adult.clone(); 13], "fares", "max_items"),
        (vec![adult.clone(); 2], "fares[1].key", "unique"),
        (all(with(json!({ "key": "grown_up" }))), "fares[0].key", "mismatch"),
        (all(with(json!({ "category": "dog" }))), "fares[0].category", "enum"),
        (all(with(json!({ "residency": "moon" }))), "fares[0].residency", "enum"),
        (all(with(json!({ "min_age": -1 }))), "fares[0].min_age", "min"),
        (all(with(json!({ "max_age": 121 }))), "fares[0].max_age", "max"),
        (all(with(json!({ "min_age": 12, "max_age": 11 }))), "fares[0].max_age", "order"),
        (all(with(json!({ "takes_seat": false }))), "fares", "seat_required"),
        (all(with(json!({ "price": {} }))), "fares[0].price", "one_of"),
        (
            all(with(json!({ "price": { "percent": 1, "amount": 1_000 } }))),
            "fares[0].price",
            "one_of",
        ),
        (all(with(json!({ "price": { "percent": -1 } }))), "fares[0].price.percent", "min"),
        (all(with(json!({ "price": { "percent": 1_001 } }))), "fares[0].price.percent", "max"),
        (all(with(json!({ "price": { "percent": 60.5 } }))), "fares[0].price.percent", "type"),
        (all(with(json!({ "price": { "amount": -1 } }))), "fares[0].price.amount", "min"),
        (
            all(with(json!({ "price": { "amount": 1_000_000_001 } }))),
            "fares[0].price.amount",
            "max",
        ),
        // A seat is not given away.
        (all(with(json!({ "price": { "percent": 0 } }))), "fares[0].price.percent", "min"),
        (all(with(json!({ "price": { "amount": 999 } }))), "fares[0].price.amount", "min"),
    ] {
        let answer = world.changes_line(&sailing, json!({ "fares": fares })).await;
        answer.has_field_errors(&[(field, rule)]);
    }
    for (change, field, rule) in [
        (json!({ "max_party": 0 }), "max_party", "min"),
        (json!({ "max_party": 51 }), "max_party", "max"),
        (json!({ "cutoff_minutes": -1 }), "cutoff_minutes", "min"),
        (json!({ "cutoff_minutes": 10_081 }), "cutoff_minutes", "max"),
        (json!({ "names": "none" }), "names", "enum"),
        (json!({ "fares": "free" }), "fares", "type"),
    ] {
        world.changes_line(&sailing, change).await.has_field_errors(&[(field, rule)]);
    }
    let line = world.get(&world.line_of(&sailing).await).by(&sailing.partner).send().await.ok();
    assert_eq!(line["fares"].as_array().unwrap().len(), 1, "nothing has changed");
    // The limits themselves are allowed, and twelve fares.
    let mut twelve = Vec::new();
    for category in ["adult", "child", "senior", "student"] {
        for residency in ["any", "domestic", "foreign"] {
            twelve.push(json!({
                "category": category, "residency": residency, "min_age": 0, "max_age": 120,
                "price": { "percent": 1_000 }, "id_required": true,
            }));
        }
    }
    twelve[11]["price"] = json!({ "amount": 1_000 });
    twelve[10]["key"] = json!("student_domestic");
    let line = world.sets_fares(&sailing, json!(twelve)).await;
    assert_eq!(line["fares"].as_array().unwrap().len(), 12);
}

async fn the_line_of_another_partner_is_unknown(world: World) {
    let sailing = world.sailing().await;
    let line = world.line_of(&sailing).await;
    let other = world.active_partner("putu@bahari.id").await;
    world.get(&line).by(&other).send().await.is(404, "not_found");
    let change = json!({ "max_party": 5 });
    world.put(&line, change.clone()).by(&other).send().await.is(404, "not_found");
    let listed = world.get("/v1/mitra/lines").by(&other).send().await.ok();
    assert_eq!(listed, json!([]));
    let nothing = "/v1/mitra/lines/01a1e084-2298-76e0-aa83-4b36baae464e";
    world.get(nothing).by(&sailing.partner).send().await.is(404, "not_found");
    let reader = world.staff("putu@dermaga.test", &[Rule::RoutesRead]).await;
    assert_eq!(world.get(&line).by(&reader).send().await.ok()["max_party"], 9);
    world.put(&line, change.clone()).by(&reader).send().await.is(403, "forbidden");
    let writer = world.staff("dewi@dermaga.test", &[Rule::RoutesWrite]).await;
    assert_eq!(world.put(&line, change).by(&writer).send().await.ok()["max_party"], 5);
    let by = "SELECT COUNT(*) FROM audit_logs WHERE action = 'line.updated'";
    assert_eq!(world.count(by).await, 1);
}

async fn every_passenger_pays_their_fare(world: World) {
    let admin = world.admin().await;
    let tax = json!({
        "name": "PPN", "code": "PPN", "rate": 11, "applies_to": "booking", "is_active": true,
    });
    world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let fares = ["adult_foreign", "adult_domestic", "child", "infant", "child"];
    let mut wanted = order_of(&sailing, &fares, "sari@example.com");
    for (index, birth_date) in
        ["2014-11-16", "1990-01-01", "2014-11-17", "2023-11-17", "2023-11-16"].iter().enumerate()
    {
        wanted["passengers"][index]["birth_date"] = json!(birth_date);
    }
    let booking = world.books(wanted).await.ok();
    let lines = [
        ("adult_foreign", 150_000, 1),
        ("adult_domestic", 90_000, 1),
        ("child", 112_500, 2),
        ("infant", 0, 1),
    ];
    assert_eq!(lines_of(&booking), lines);
    let price = &booking["price"];
    assert_eq!((&price["unit_price"], &price["subtotal"]), (&json!(150_000), &json!(465_000)));
    assert_eq!((&price["tax"], &price["total"]), (&json!(51_150), &json!(516_150)));
    assert_eq!(booking["qty"], 5);
    assert_eq!(world.seats_taken(&sailing).await, 4);
    world.pays(&booking).await;
    // A later change is for others.
    world.sets_fares(&sailing, json!([{ "category": "adult", "price": { "percent": 10 } }])).await;
    let kept = world.looks_up(&booking).await;
    assert_eq!(lines_of(&kept), lines);
    let passengers = [
        ("adult_foreign", 150_000, true),
        ("adult_domestic", 90_000, true),
        ("child", 112_500, true),
        ("infant", 0, false),
        ("child", 112_500, true),
    ];
    assert_eq!(passengers_of(&kept), passengers);
    let next = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    assert_eq!(next["price"]["subtotal"], 15_000);
    // Figures count passengers; the journey is earned as it was sold.
    world.completes_paid_bookings().await;
    dermaga::reports::roll_up(&world.app).await.unwrap();
    let passengers = "SELECT CAST(SUM(passengers) AS BIGINT) FROM sales_days";
    assert_eq!(world.count(passengers).await, 5);
    dermaga::ledger::roll_up(&world.app).await.unwrap();
    assert_invariants(&world).await;
}

async fn wrong_passengers_are_named(world: World) {
    let sailing = world.sailing().await;
    let mut fares = bali();
    fares[1]["id_required"] = json!(true);
    world.sets_fares(&sailing, fares).await;
    let refused = async |wanted: Value, faults: &[(&str, &str)]| {
        world.books(wanted).await.has_field_errors(faults);
    };
    let order_of = |fares: &[&str]| order_of(&sailing, fares, "sari@example.com");
    let unknown = order_of(&["adult_domestic", "adult", "Infant"]);
    refused(unknown, &[("passengers[1].fare", "unknown"), ("passengers[2].fare", "unknown")]).await;
    let hostile = order_of(&["' OR 1=1 --"]);
    refused(hostile, &[("passengers[0].fare", "unknown")]).await;
    let mut wanted = order_of(&["child"]);
    wanted["passengers"][0]["fare"] = json!("x".repeat(65));
    refused(wanted.clone(), &[("passengers[0].fare", "max_length")]).await;
    wanted["passengers"][0]["fare"] = json!(7);
    refused(wanted, &[("passengers[0].fare", "type")]).await;
    let mut aged = order_of(&["adult_domestic", "child", "infant"]);
    for (index, birth_date) in ["2014-11-17", "2014-11-16", "2023-11-16"].iter().enumerate() {
        aged["passengers"][index]["birth_date"] = json!(birth_date);
    }
    let ages = [0, 1, 2].map(|index| format!("passengers[{index}].birth_date"));
    let ages: Vec<_> = ages.iter().map(|field| (field.as_str(), "age")).collect();
    refused(aged, &ages).await;
    let mut identified = order_of(&["adult_foreign"]);
    refused(identified.clone(), &[("passengers[0].identity_number", "required")]).await;
    identified["passengers"][0]["identity_type"] = json!("nik");
    identified["passengers"][0]["identity_number"] = json!(NIK);
    let booking = world.books(identified).await.ok();
    // A booker does not correct a passenger out of their fare; staff may.
    let path = format!("/v1/booking/{}/passengers", booking["id"].as_str().unwrap());
    let correction = json!({
        "id": booking["passengers"][0]["id"], "identity_number": null, "birth_date": "2020-01-01",
    });
    let by_guest = json!({
        "code": booking["code"], "email": "sari@example.com", "passengers": [correction],
    });
    world.put(&path, by_guest).send().await.has_field_errors(&[
        ("passengers[0].birth_date", "age"),
        ("passengers[0].identity_number", "required"),
    ]);
    let admin = world.admin().await;
    let by_staff = json!({ "passengers": [correction] });
    world.put(&path, by_staff).by(&admin).send().await.ok();
    // Blank is the first fare.
    let first = world.books(order_of(&[""])).await.ok();
    assert_eq!(lines_of(&first), [("adult_domestic", 90_000, 1)]);
    // A charter ignores them.
    let other = world.sailing_of_another_day(&sailing).await;
    let mut boat = charter(&other, 1, "putu@example.com");
    boat["passengers"][0]["fare"] = json!("nobody");
    assert_eq!(world.books(boat).await.ok()["price"]["subtotal"], 4_500_000);
    assert_eq!(world.seats_taken(&sailing).await, 2, "nothing was taken by refusals");
}

async fn an_infant_needs_an_adult_and_no_seat(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let refused = async |fares: &[&str], faults: &[(&str, &str)]| {
        let wanted = order_of(&sailing, fares, "sari@example.com");
        world.books(wanted).await.has_field_errors(faults);
    };
    refused(&["infant"], &[("passengers[0].fare", "adult_required")]).await;
    refused(&["infant", "child"], &[("passengers[0].fare", "adult_required")]).await;
    let two = ["infant", "adult_domestic", "infant", "infant"];
    let faults =
        [("passengers[2].fare", "adult_required"), ("passengers[3].fare", "adult_required")];
    refused(&two, &faults).await;
    // The last seat is for an adult with an infant.
    world.books(order(&sailing, 29, "many@example.com")).await.ok();
    let pair = ["adult_domestic", "infant"];
    let booking = world.books(order_of(&sailing, &pair, "sari@example.com")).await.ok();
    assert_eq!((&booking["qty"], &booking["price"]["total"]), (&json!(2), &json!(90_000)));
    assert_eq!(world.seats_taken(&sailing).await, 30);
    let full = world.books(order_of(&sailing, &pair, "putu@example.com")).await;
    assert_eq!(full.is(409, "sold_out")["data"]["available_seats"], 0);
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "x" })).by(&sailing.partner).send().await.ok();
    assert_eq!(world.seats_taken(&sailing).await, 29, "it gives back what it took");
    let couple = ["adult_domestic", "adult_foreign"];
    let two = world.books(order_of(&sailing, &couple, "putu@example.com")).await;
    assert_eq!(two.is(409, "sold_out")["data"]["available_seats"], 1);
    assert_invariants(&world).await;
}

async fn the_last_seats_go_once_whatever_the_fares(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let parties: [&[&str]; 4] = [
        &["adult_domestic"],
        &["adult_foreign", "infant"],
        &["adult_domestic", "child", "infant"],
        &["adult_domestic", "adult_foreign", "infant", "infant", "child"],
    ];
    let calls = (0..60_usize).map(|n| {
        let fares = parties[n % parties.len()];
        world.books(order_of(&sailing, fares, &format!("buyer{n}@example.com")))
    });
    let mut seats = 0;
    for (n, answer) in join_all(calls).await.into_iter().enumerate() {
        match answer.status {
            200 => seats += [1, 1, 2, 3][n % parties.len()],
            _ => drop(answer.is(409, "sold_out")),
        }
    }
    assert_eq!(seats, 30, "single seats fill the boat");
    assert_eq!(world.seats_taken(&sailing).await, 30);
    assert_invariants(&world).await;
}

async fn a_change_in_a_rush_mixes_no_prices(world: World) {
    let sailing = world.sailing().await;
    let fares = |adult: i64, child: i64| {
        json!([
            { "category": "adult", "price": { "percent": adult } },
            { "category": "child", "price": { "percent": child } },
        ])
    };
    world.sets_fares(&sailing, fares(100, 50)).await;
    let line = world.line_of(&sailing).await;
    let sales = join_all((0..15_usize).map(|n| {
        world.books(order_of(&sailing, &["adult", "child"], &format!("buyer{n}@example.com")))
    }));
    let changes = async {
        for n in 0..6 {
            let (adult, child) = if n % 2 == 0 { (80, 40) } else { (100, 50) };
            let change = json!({ "fares": fares(adult, child) });
            world.put(&line, change).by(&sailing.partner).send_with_retry().await.ok();
        }
    };
    let (sold, ()) = tokio::join!(sales, changes);
    for answer in sold {
        let booking = answer.ok();
        let lines = lines_of(&booking);
        let (old, new) = (
            [("adult", 150_000, 1), ("child", 75_000, 1)],
            [("adult", 120_000, 1), ("child", 60_000, 1)],
        );
        assert!(lines == old || lines == new, "{lines:?}");
        let each = passengers_of(&booking);
        assert_eq!((each[0].1, each[1].1), (lines[0].1, lines[1].1));
    }
    // After the answer, nobody pays the old price.
    world.sets_fares(&sailing, fares(10, 10)).await;
    let other = world.sailing_of_another_day(&sailing).await;
    let after = world.books(order_of(&other, &["adult", "child"], "after@example.com")).await.ok();
    assert_eq!(after["price"]["subtotal"], 30_000);
    assert_invariants(&world).await;
}

async fn manifest_and_tickets_show_the_fare(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let pair = ["adult_foreign", "infant"];
    let booking = world.books(order_of(&sailing, &pair, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let path = format!("/v1/mitra/route-times/{}/manifest", sailing.id);
    let manifest = world.get(&path).by(&sailing.partner).send().await.ok();
    let listed: Vec<_> = manifest["passengers"].as_array().unwrap().iter().collect();
    assert_eq!(listed[0]["fare"], "adult_foreign");
    assert_eq!((&listed[1]["fare"], &listed[1]["takes_seat"]), (&json!("infant"), &json!(false)));
    assert_eq!(manifest["totals"]["passengers"], 2);
    let csv = world.get(&format!("{path}?format=csv")).by(&sailing.partner).bytes().await.2;
    let csv = String::from_utf8(csv).unwrap();
    let column =
        csv.lines().next().unwrap().split(',').position(|name| name == "\"fare\"").unwrap();
    let fares: Vec<_> = csv.lines().skip(1).map(|line| line.split(',').nth(column)).collect();
    assert_eq!(fares, [Some("\"adult_foreign\""), Some("\"infant\"")]);
    let pdf = world.get(&world.ticket_of(&booking)).bytes().await.2;
    if let Some((text, codes)) = world.read_pdf(&pdf) {
        for said in ["Adult (foreign) · 1 / 2", "Infant, no seat · 2 / 2", "1 Adult (foreign) ×"]
        {
            assert!(text.contains(said), "{said} in {text}");
        }
        assert_eq!(codes.len(), 2, "an infant has a ticket as well");
        let pdf = world.get(&format!("{path}?format=pdf")).by(&sailing.partner).bytes().await.2;
        let (text, _) = world.read_pdf(&pdf).unwrap();
        assert!(text.contains("Infant") && text.contains("Adult (foreign)"), "{text}");
    }
    // Both board.
    for one in listed {
        let scan = json!({ "ticket_code": one["ticket_code"] });
        let check_in = format!("/v1/mitra/route-times/{}/check-in", sailing.id);
        world.post(&check_in, scan).by(&sailing.partner).send().await.ok();
    }
}

async fn a_booking_moves_with_its_fares(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let dearer = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let cheaper = world.another_sailing(&sailing, "GT. 3", 100_000).await;
    let family = ["adult_domestic", "child", "infant"];
    let booking = world.books(order_of(&sailing, &family, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    assert_eq!(booking["price"]["total"], 202_500);
    // A lower price: at once.
    world.requests_reschedule(&booking, &cheaper).await.ok();
    let moved = world.looks_up(&booking).await;
    assert_eq!(
        lines_of(&moved),
        [("adult_domestic", 60_000, 1), ("child", 75_000, 1), ("infant", 0, 1)]
    );
    assert_eq!(
        passengers_of(&moved),
        [("adult_domestic", 60_000, true), ("child", 75_000, true), ("infant", 0, false)]
    );
    assert_eq!(moved["price"]["total"], 135_000);
    assert_eq!((&moved["owed"], &moved["qty"]), (&json!(67_500), &json!(3)));
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_eq!(world.seats_taken(&cheaper).await, 2);
    assert_invariants(&world).await;
    // A higher one: when it is paid, and as it was quoted.
    let wish = world.requests_reschedule(&booking, &dearer).await.ok();
    assert_eq!(wish["reschedule"]["difference"], 135_000);
    assert_eq!(world.seats_taken(&dearer).await, 2, "held");
    assert_eq!(passengers_of(&world.looks_up(&booking).await)[0].1, 60_000);
    let mut fares = bali();
    fares[0]["price"] = json!({ "percent": 100 });
    world.sets_fares(&sailing, fares).await;
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let notice = callback_body(reference, 135_000, "settlement", "difference");
    world.post("/v1/payment/callback", notice).send().await.ok();
    let moved = world.looks_up(&booking).await;
    assert_eq!(moved["route_time_id"], json!(dearer.id));
    assert_eq!(
        passengers_of(&moved),
        [("adult_domestic", 120_000, true), ("child", 150_000, true), ("infant", 0, false)]
    );
    assert_eq!(moved["price"]["total"], 270_000);
    assert_eq!(world.seats_taken(&dearer).await, 2);
    assert_eq!(world.seats_taken(&cheaper).await, 0);
    assert_invariants(&world).await;
}

async fn a_fare_that_is_no_longer_sold_keeps_its_share(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let booking = world.books(order_of(&sailing, &["child"], "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let mut fares = bali();
    fares.as_array_mut().unwrap().remove(2);
    world.sets_fares(&sailing, fares).await;
    let moved = world.requests_reschedule(&booking, &other).await.ok();
    assert_eq!(moved["price"]["lines"][0]["unit_price"], 112_500, "three quarters, as it was sold");
    assert_eq!(world.seats_taken(&other).await, 1);
    // A fare that takes no seat any more: this passenger has one.
    let mut fares = bali();
    fares[2]["takes_seat"] = json!(false);
    world.sets_fares(&sailing, fares).await;
    world.requests_reschedule(&booking, &sailing).await.ok();
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&other).await), (1, 0));
    assert_invariants(&world).await;
}

async fn a_cancellation_gives_everything_back(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let family = ["adult_foreign", "child", "infant"];
    let booking = world.books(order_of(&sailing, &family, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let second = world.books(order_of(&sailing, &family, "putu@example.com")).await.ok();
    world.pays(&second).await;
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let cancelled = world.post(&cancel, json!({ "reason": "x" })).by(&sailing.partner);
    let cancelled = cancelled.send().await.ok();
    assert_eq!(cancelled["refund_amount"], 262_500);
    assert_eq!(world.seats_taken(&sailing).await, 2);
    // The whole sailing is called off.
    let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
    world.post(&path, json!({ "reason": "Storm" })).by(&sailing.partner).send().await.ok();
    assert_eq!(world.looks_up(&second).await["refund_amount"], 262_500);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    // Its booker takes another sailing instead of the money.
    let other = world.sailing_of_another_day(&sailing).await;
    world.requests_reschedule(&second, &other).await.ok();
    assert_eq!(world.seats_taken(&other).await, 2);
    assert_invariants(&world).await;
}

async fn a_late_payment_takes_its_seats_and_no_more(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let pair = ["adult_foreign", "infant"];
    let booking = world.books(order_of(&sailing, &pair, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(31));
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(world.seats_taken(&sailing).await, 0);
    // One seat is left, which is enough for both.
    world.books(order(&sailing, 29, "many@example.com")).await.ok();
    world.pays(&booking).await;
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
    assert_eq!(world.seats_taken(&sailing).await, 30);
    assert_invariants(&world).await;
}

async fn the_sale_ends_by_the_line(world: World) {
    let sailing = world.sailing().await;
    // It is 21 hours before departure.
    let found = async || world.searches(search_body(1)).await.len();
    let closes_at = async || {
        let body = json!({
            "type": "speedboat", "item_id": sailing.boat, "route_time_id": sailing.id, "qty": 1,
        });
        world.post("/v1/booking/quote", body).send().await
    };
    assert_eq!(found().await, 1);
    assert_eq!(closes_at().await.ok()["closes_at"], "2026-11-15T23:45:00Z");
    world.changes_line(&sailing, json!({ "cutoff_minutes": 21 * 60 })).await.ok();
    assert_eq!(found().await, 0, "the answer is not the cached one");
    let late = world.books(order(&sailing, 1, "sari@example.com")).await;
    late.is(409, "booking_closed");
    closes_at().await.is(409, "booking_closed");
    // A route that is published later has it as well, and other days do not close.
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    world.books(order(&other, 1, "sari@example.com")).await.ok();
    let copied = "SELECT COUNT(*) FROM sailings WHERE cutoff_minutes = 1260";
    assert_eq!(world.count(copied).await, world.count("SELECT COUNT(*) FROM sailings").await);
    world.changes_line(&sailing, json!({ "cutoff_minutes": 21 * 60 - 1 })).await.ok();
    assert_eq!(closes_at().await.ok()["closes_at"], "2026-11-15T03:01:00Z");
    assert_eq!(found().await, 1);
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(1));
    assert_eq!(found().await, 0, "a cached answer ends with the sale");
    world.books(order(&sailing, 1, "dewi@example.com")).await.is(409, "booking_closed");
    // None at all: until departure.
    world.changes_line(&sailing, json!({ "cutoff_minutes": 0 })).await.ok();
    assert_eq!(closes_at().await.ok()["closes_at"], "2026-11-16T00:00:00Z");
    assert_eq!(found().await, 1);
    // A moved sailing closes as much earlier or later.
    let moved = json!({ "departure_time": "09:00", "arrival_time": "09:45", "reason": "Tide" });
    let path = format!("/v1/mitra/route-times/{}", sailing.id);
    world.put(&path, moved).by(&sailing.partner).send().await.ok();
    assert_eq!(closes_at().await.ok()["closes_at"], "2026-11-16T01:00:00Z");
    world.advances_clock(TimeDelta::minutes(21 * 60 + 30));
    assert_eq!(found().await, 1);
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let again = Sailing { partner, ..sailing.clone() };
    world.changes_line(&again, json!({ "cutoff_minutes": null })).await.ok();
    assert_eq!(closes_at().await.ok()["closes_at"], "2026-11-16T00:45:00Z");
}

async fn an_erased_booking_keeps_its_fares(world: World) {
    let sailing = world.sailing().await;
    world.sets_fares(&sailing, bali()).await;
    let pair = ["adult_foreign", "infant"];
    let booking = world.books(order_of(&sailing, &pair, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::days(2));
    dermaga::bookings::expire(&world.app).await.unwrap();
    let admin = world.admin().await;
    let body = json!({ "email": "sari@example.com", "reason": "Asked by letter" });
    let erased = world.post("/v1/privacy/erase", body).by(&admin).send().await.ok();
    assert_eq!(erased["bookings"]["erased"], 1);
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    let kept = world.get(&path).by(&admin).send().await.ok();
    assert_eq!(kept["passengers"][0]["name"], "[erased]");
    assert_eq!(passengers_of(&kept), [("adult_foreign", 150_000, true), ("infant", 0, false)]);
    assert_invariants(&world).await;
}
