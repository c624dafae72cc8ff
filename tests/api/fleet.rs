//! Boats.

use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    harbour::{boat, route, search_body},
    on_both_engines,
    support::form::Form,
    world::{Someone, World},
};

on_both_engines![
    a_partner_keeps_boats_before_it_is_approved,
    faults_are_named,
    staff_name_the_owner_and_partners_cannot,
    a_registration_number_is_one_boats_alone,
    boats_are_listed_and_counted,
    a_boat_is_changed,
    another_partners_boat_does_not_exist,
    capacity_reaches_the_sailings_to_come_and_stops_at_what_is_sold,
    a_sale_and_a_smaller_boat_at_once_never_oversell,
    a_boat_with_bookings_stays,
    a_deleted_boat_takes_its_routes_along,
    photos_are_the_uploaders_own,
];

fn boat_path(boat: &str) -> String {
    format!("/v1/speedboats/{boat}")
}

async fn a_partner_keeps_boats_before_it_is_approved(world: World) {
    let made = world.partner("made@bahari.id").await;
    let added = world.post("/v1/speedboats", boat("GT. 12 No. 345")).by(&made).send().await.ok();
    assert_eq!(added["name"], "Bahari Express");
    assert_eq!(added["status"], "active");
    assert_eq!(added["mitra"]["name"], "Made Bahari");
    assert_eq!(added["mitra_id"], added["mitra"]["id"]);
    assert_eq!(added["facilities"], json!(["Life jackets", "Toilet"]));
    assert_eq!(added["photos"], json!([]));
    let read = world.get(&boat_path(added["id"].as_str().unwrap())).by(&made).send().await.ok();
    assert_eq!(read, added);
    let bare = json!({ "name": "Kecil", "registration_number": "GT. 1", "capacity": 6 });
    let bare = world.post("/v1/speedboats", bare).by(&made).send().await.ok();
    assert_eq!(bare["engine"], json!(null));
    assert_eq!(bare["facilities"], json!([]));
    let admin = world.admin().await;
    let overview = format!("{}/overview", world.partner_path(&made).await);
    let overview = world.get(&overview).by(&admin).send().await.ok();
    assert_eq!(overview["mitra"]["speedboat_count"], 2);
    assert_eq!(overview["fleet"]["speedboats"], 2);
}

async fn faults_are_named(world: World) {
    let made = world.partner("made@bahari.id").await;
    let rubbish = json!({
        "name": " ", "capacity": 501, "year_built": "old", "facilities": ["", 7],
        "photo_file_ids": "none", "status": "sunk", "engine": "",
    });
    world.post("/v1/speedboats", rubbish).by(&made).send().await.has_field_errors(&[
        ("capacity", "max"),
        ("facilities[0]", "required"),
        ("facilities[1]", "type"),
        ("name", "required"),
        ("photo_file_ids", "type"),
        ("registration_number", "required"),
        ("status", "enum"),
        ("year_built", "type"),
    ]);
    let mut none = boat("GT. 1");
    none["capacity"] = json!(0);
    world
        .post("/v1/speedboats", none)
        .by(&made)
        .send()
        .await
        .has_field_errors(&[("capacity", "min")]);
    assert_eq!(world.count("SELECT COUNT(*) FROM speedboats").await, 0);
}

async fn staff_name_the_owner_and_partners_cannot(world: World) {
    let made = world.partner("made@bahari.id").await;
    let other = world.partner("other@bahari.id").await;
    let clerk = world.staff("ayu@dermaga.test", &[FleetWrite, FleetRead]).await;
    let add = async |mitra_id: Value, by: &Someone, number: &str| {
        let mut boat = boat(number);
        boat["mitra_id"] = mitra_id;
        world.post("/v1/speedboats", boat).by(by).send().await
    };
    add(json!(null), &clerk, "1").await.has_field_errors(&[("mitra_id", "required")]);
    add(json!("x"), &clerk, "1").await.has_field_errors(&[("mitra_id", "format")]);
    let nobody = json!(dermaga::kernel::ids::fresh());
    add(nobody, &clerk, "1").await.has_field_errors(&[("mitra_id", "unknown")]);
    let mine = json!(world.partner_id(&made).await);
    let theirs = json!(world.partner_id(&other).await);
    assert_eq!(add(mine.clone(), &clerk, "1").await.ok()["mitra_id"], mine);
    assert_eq!(add(theirs, &made, "2").await.ok()["mitra_id"], mine, "always its own");
}

async fn a_registration_number_is_one_boats_alone(world: World) {
    let made = world.partner("made@bahari.id").await;
    let other = world.partner("other@bahari.id").await;
    let first = world.adds_boat(&made, "GT. 12 No. 345").await;
    let again = world.post("/v1/speedboats", boat("gt. 12 no. 345")).by(&other).send().await;
    again.is(409, "already_exists");
    let second = world.adds_boat(&made, "GT. 13").await;
    let change = world.put(&boat_path(&second), boat("GT. 12 No. 345")).by(&made).send().await;
    change.is(409, "already_exists");
    world.put(&boat_path(&first), boat("GT. 12 No. 345")).by(&made).send().await.ok();
    world.delete(&boat_path(&first)).by(&made).send().await.ok();
    world.adds_boat(&other, "GT. 12 No. 345").await;
}

async fn boats_are_listed_and_counted(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("other@bahari.id").await;
    for (number, name, capacity, status) in [
        ("A-1", "Camar", 20, "active"),
        ("A-2", "Elang", 40, "maintenance"),
        ("B-3", "Bangau", 30, "inactive"),
    ] {
        let mut boat = boat(number);
        boat["name"] = json!(name);
        boat["capacity"] = json!(capacity);
        boat["status"] = json!(status);
        world.post("/v1/speedboats", boat).by(&made).send().await.ok();
        world.advances_clock(chrono::TimeDelta::seconds(1));
    }
    world.creates_published_route(&other, "C-4").await;
    let names = async |who: &Someone, query: &str| {
        let list = world.get(&format!("/v1/{query}")).by(who).send().await.ok();
        let list = list.as_array().unwrap().iter();
        list.map(|boat| boat["name"].as_str().unwrap()[..1].to_owned()).collect::<String>()
    };
    assert_eq!(names(&made, "speedboats").await, "BEC", "its own, newest first");
    assert_eq!(names(&made, "mitra/speedboats").await, "BEC");
    assert_eq!(names(&made, "speedboats?sort_by=capacity").await, "CBE");
    assert_eq!(names(&made, "speedboats?sort_by=name&sort_dir=desc").await, "ECB");
    assert_eq!(names(&made, "speedboats?search=a-").await, "EC");
    assert_eq!(names(&made, "speedboats?search=bang&status=").await, "B");
    assert_eq!(names(&made, "speedboats?status=maintenance").await, "E");
    let theirs = world.partner_id(&other).await;
    let foreign = format!("speedboats?mitra_id={theirs}");
    assert_eq!(names(&made, &foreign).await, "BEC", "a partner asks for its own whatever it says");

    let reader = world.staff("ayu@dermaga.test", &[FleetRead]).await;
    assert_eq!(names(&reader, "speedboats").await.len(), 4);
    assert_eq!(names(&reader, &foreign).await, "B");
    assert_eq!(names(&reader, &format!("mitra/{foreign}")).await, "B");
    let unnamed = world.get("/v1/mitra/speedboats").by(&reader).send().await;
    unnamed.has_field_errors(&[("mitra_id", "required")]);

    let summary =
        async |who: &Someone| world.get("/v1/speedboats/summary").by(who).send().await.ok();
    assert_eq!(
        summary(&made).await,
        json!({
            "total": 3, "active": 1, "maintenance": 1, "inactive": 1, "total_capacity": 90,
            "upcoming_sailings": 0,
        })
    );
    assert_eq!(summary(&other).await["upcoming_sailings"], 3);
    assert_eq!(summary(&reader).await["total"], 4);
    assert_eq!(summary(&reader).await["upcoming_sailings"], 3);
}

async fn a_boat_is_changed(world: World) {
    let made = world.partner("made@bahari.id").await;
    let id = world.adds_boat(&made, "GT. 1").await;
    let change = json!({
        "name": "Bahari Dua", "registration_number": "GT. 2", "capacity": 25,
        "engine": null, "facilities": ["Wi-Fi"], "status": "maintenance",
    });
    let after = world.put(&boat_path(&id), change).by(&made).send().await.ok();
    assert_eq!(after["name"], "Bahari Dua");
    assert_eq!(after["capacity"], 25);
    assert_eq!(after["engine"], json!(null), "null clears");
    assert_eq!(after["manufacturer"], "Karya Bahari", "what is left out stays");
    assert_eq!(after["facilities"], json!(["Wi-Fi"]));
    assert_eq!(after["status"], "maintenance");
}

async fn another_partners_boat_does_not_exist(world: World) {
    let made = world.partner("made@bahari.id").await;
    let other = world.partner("other@bahari.id").await;
    let theirs = world.adds_boat(&other, "GT. 1").await;
    world.get(&boat_path(&theirs)).by(&made).send().await.is(404, "not_found");
    world.put(&boat_path(&theirs), json!({})).by(&made).send().await.is(404, "not_found");
    world.delete(&boat_path(&theirs)).by(&made).send().await.is(404, "not_found");
    let plan = world.post("/v1/mitra/speedboat-routes/", route(&theirs)).by(&made).send().await;
    plan.has_field_errors(&[("speedboat_id", "unknown")]);
    world.get(&boat_path("rubbish")).by(&made).send().await.is(404, "not_found");
}

async fn capacity_reaches_the_sailings_to_come_and_stops_at_what_is_sold(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (id, route) = world.creates_published_route(&made, "GT. 1").await;
    let sailings = world.sailings(&made, &route).await;
    world.sets_seats_taken(&sailings[1], 20).await;
    // The first has departed, with all it had.
    world.advances_clock(
        "2026-11-16T00:30:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap() - world.now(),
    );
    let made = world.signs_in("made@bahari.id", "mitra").await;
    let resize = async |capacity: i32| {
        let mut boat = boat("GT. 1");
        boat["capacity"] = json!(capacity);
        world.put(&boat_path(&id), boat).by(&made).send().await
    };
    let capacities = async || {
        let sailings = world.sailings(&made, &route).await;
        sailings.iter().map(|s| s["capacity"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    resize(40).await.ok();
    assert_eq!(capacities().await, [30, 40, 40]);
    resize(20).await.ok();
    assert_eq!(capacities().await, [30, 20, 20]);
    resize(19).await.is(409, "in_use");
    assert_eq!(capacities().await, [30, 20, 20]);
    assert_eq!(world.get(&boat_path(&id)).by(&made).send().await.ok()["capacity"], 20);
}

async fn a_sale_and_a_smaller_boat_at_once_never_oversell(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (id, route) = world.creates_published_route(&made, "GT. 1").await;
    let sailing = world.sailings(&made, &route).await.remove(0);
    let sailing: dermaga::kernel::ids::Uuid = sailing["id"].as_str().unwrap().parse().unwrap();
    let mut smaller = boat("GT. 1");
    smaller["capacity"] = json!(10);
    // Seats are sold as a booking sells them: one conditional statement.
    let sale = world
        .db()
        .sql(
            "UPDATE sailings SET seats_taken = seats_taken + $1
             WHERE id = $2 AND status = 'open' AND seats_taken + $1 <= capacity",
        )
        .bind(20)
        .bind(sailing)
        .run();
    let (sold, shrunk) = tokio::join!(sale, world.put(&boat_path(&id), smaller).by(&made).send());
    assert_ne!(sold.unwrap() == 1, shrunk.status == 200, "one of them, never both");
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE seats_taken > capacity").await, 0);
}

async fn a_boat_with_bookings_stays(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (id, route) = world.creates_published_route(&made, "GT. 1").await;
    let sailings = world.sailings(&made, &route).await;
    world.sets_seats_taken(&sailings[0], 1).await;
    world.delete(&boat_path(&id)).by(&made).send().await.is(409, "in_use");
    assert_eq!(world.searches(search_body(1)).await.len(), 1, "nothing was withdrawn");
    world.advances_clock(chrono::TimeDelta::days(1));
    let made = world.signs_in("made@bahari.id", "mitra").await;
    world.delete(&boat_path(&id)).by(&made).send().await.ok();
}

async fn a_deleted_boat_takes_its_routes_along(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (id, published) = world.creates_published_route(&made, "GT. 1").await;
    let draft = world.creates_route(&made, route(&id)).await;
    world.delete(&boat_path(&id)).by(&made).send().await.ok();
    world.get(&boat_path(&id)).by(&made).send().await.is(404, "not_found");
    world.delete(&boat_path(&id)).by(&made).send().await.is(404, "not_found");
    assert_eq!(world.searches(search_body(1)).await.len(), 0);
    let sailings = world.sailings(&made, &published).await;
    assert!(sailings.iter().all(|sailing| sailing["status"] == "withdrawn"));
    world.publishes_route(&made, &draft).await.is(409, "invalid_state");
    let gone = world.post("/v1/mitra/speedboat-routes/", route(&id)).by(&made).send().await;
    gone.has_field_errors(&[("speedboat_id", "unknown")]);
}

async fn photos_are_the_uploaders_own(world: World) {
    let made = world.partner("made@bahari.id").await;
    let other = world.partner("other@bahari.id").await;
    let upload = async |who: &Someone| {
        let png = crate::files::picture(image::ImageFormat::Png);
        let form = Form::new().text("purpose", "photo").file("boat.png", &png);
        let call = world.call(reqwest::Method::POST, "/v1/files/upload").by(who).multipart(form);
        call.send().await.ok()["id"].as_str().unwrap().to_owned()
    };
    let (own, foreign) = (upload(&made).await, upload(&other).await);
    let with = |photos: Value| {
        let mut boat = boat("GT. 1");
        boat["photo_file_ids"] = photos;
        boat
    };
    let bad = with(json!([own, foreign, "x"]));
    world
        .post("/v1/speedboats", bad)
        .by(&made)
        .send()
        .await
        .has_field_errors(&[("photo_file_ids[1]", "unknown"), ("photo_file_ids[2]", "unknown")]);
    let added = world.post("/v1/speedboats", with(json!([own]))).by(&made).send().await.ok();
    assert_eq!(added["photos"][0]["file_id"], json!(own));
    let url = added["photos"][0]["url"].as_str().unwrap();
    let (_, path) = url.split_once("/v1").unwrap();
    assert_eq!(world.get(&format!("/v1{path}")).bytes().await.0, 200, "anyone may look");
    // Staff who change the boat may leave its photos as they are.
    let clerk = world.staff("ayu@dermaga.test", &[FleetWrite]).await;
    let path = boat_path(added["id"].as_str().unwrap());
    world.put(&path, with(json!([own]))).by(&clerk).send().await.ok();
    let none = world.put(&path, with(json!([]))).by(&clerk).send().await.ok();
    assert_eq!(none["photos"], json!([]));
}
