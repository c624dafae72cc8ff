//! The sailings of all routes, for those who sell, board and plan.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    a_sailing_is_shown_with_what_boarding_needs,
    sailings_are_found_by_day_status_and_words,
    passengers_who_left_are_not_on_board,
    a_partner_sees_its_own_and_staff_sees_all,
    bad_parameters_are_named,
];

const LIST: &str = "/v1/mitra/route-times";

async fn list_sailings(world: &World, who: &Someone, query: &str) -> Vec<Value> {
    let found = world.get(&format!("{LIST}?{query}")).by(who).send().await.ok();
    found.as_array().unwrap().clone()
}

fn departures(found: &[Value]) -> Vec<&str> {
    found.iter().map(|sailing| sailing["departure_at"].as_str().unwrap()).collect()
}

async fn a_sailing_is_shown_with_what_boarding_needs(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 3).await;
    let codes = world.ticket_codes(&sailing).await;
    world.scans_ticket(&sailing, &codes[0]).await.ok();
    let mine = list_sailings(&world, &sailing.partner, "").await;
    let partner = world.partner_id(&sailing.partner).await;
    let routes = world.get("/v1/mitra/speedboat-routes").by(&sailing.partner).send().await.ok();
    assert_eq!(
        mine[0],
        json!({
            "id": sailing.id, "route_id": routes[0]["id"], "mitra_id": partner,
            "speedboat_id": sailing.boat, "from": "Sanur", "to": "Nusa Penida",
            "timezone": "Asia/Makassar", "arrival_timezone": "Asia/Makassar",
            "departure_at": "2026-11-16T00:00:00Z",
            "arrival_at": "2026-11-16T00:45:00Z", "price": 150_000, "capacity": 30,
            "seats_taken": 3, "status": "open", "reason": null, "cancelled_at": null,
            "manifest_closed_at": null, "checked_in": 1,
            "speedboat": {
                "id": sailing.boat, "name": "Bahari Express", "registration_number": "GT. 1",
                "capacity": 30,
            },
            "mitra": { "id": partner, "name": "Made Bahari" },
        })
    );
    let path = format!("{LIST}/{}", sailing.id);
    assert_eq!(world.get(&path).by(&sailing.partner).send().await.ok(), mine[0]);
    assert_eq!(mine[1]["checked_in"], 0);
    world.closes_manifest(&sailing).await.ok();
    world.advances_clock(TimeDelta::days(1));
    let sailing = world.signs_in("made@bahari.id", "mitra").await;
    let later = world.get(&path).by(&sailing).send().await.ok();
    assert_eq!(later["status"], "departed");
    assert_eq!(later["manifest_closed_at"], "2026-11-15T21:00:00Z");
}

async fn sailings_are_found_by_day_status_and_words(world: World) {
    let sailing = world.sailing().await;
    let made = &sailing.partner;
    // Early in the morning in the east of Indonesia, which is the day before in UTC.
    let boat = world.adds_boat(made, "GT. 2").await;
    let mut early = crate::harbour::route(&boat);
    (early["from"], early["to"]) = (json!("Sorong"), json!("Waisai"));
    (early["timezone"], early["end_date"]) = (json!("Asia/Jayapura"), json!("2026-11-16"));
    early["times"] = json!([{ "departure_time": "00:30", "arrival_time": "02:00" }]);
    let early = world.creates_route(made, early).await;
    world.publishes_route(made, &early).await.ok();

    let all = list_sailings(&world, made, "").await;
    let expected = [
        "2026-11-15T15:30:00Z",
        "2026-11-16T00:00:00Z",
        "2026-11-17T00:00:00Z",
        "2026-11-18T00:00:00Z",
    ];
    assert_eq!(departures(&all), expected, "by departure");
    let backwards = list_sailings(&world, made, "sort_by=departure_at&sort_dir=desc").await;
    assert_eq!(departures(&backwards)[0], expected[3]);
    let day = list_sailings(&world, made, "start_date=2026-11-16&end_date=2026-11-16").await;
    assert_eq!(departures(&day), expected[..2], "the day at the harbour");
    assert!(list_sailings(&world, made, "end_date=2026-11-15").await.is_empty());
    assert_eq!(list_sailings(&world, made, "start_date=2026-11-17").await.len(), 2);
    // Days at the ends of the calendar are days like any other.
    let ever = "start_date=0001-01-01&end_date=9999-12-31";
    assert_eq!(list_sailings(&world, made, ever).await.len(), 4);
    assert!(list_sailings(&world, made, "start_date=9999-12-31").await.is_empty());
    assert!(list_sailings(&world, made, "end_date=0001-01-01").await.is_empty());

    assert_eq!(list_sailings(&world, made, "search=SORONG").await.len(), 1);
    assert_eq!(
        list_sailings(&world, made, "search=bahari%20express").await.len(),
        4,
        "the boat's name"
    );
    assert!(list_sailings(&world, made, "search=%25").await.is_empty());
    assert_eq!(list_sailings(&world, made, &format!("route_id={early}")).await.len(), 1);
    assert_eq!(
        list_sailings(&world, made, &format!("speedboat_id={}", sailing.boat)).await.len(),
        3
    );
    let both = format!("speedboat_id={boat}&search=Sanur");
    assert!(list_sailings(&world, made, &both).await.is_empty());
    let answer = world.get(&format!("{LIST}?page=2&page_size=3")).by(made).send().await;
    assert_eq!(answer.body["pagination"]["total_items"], 4);
    assert_eq!(departures(answer.ok().as_array().unwrap()), expected[3..]);

    let cancel = format!("{LIST}/{}/cancel", all[2]["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "High waves" })).by(made).send().await.ok();
    world.advances_clock(TimeDelta::hours(13));
    let made = &world.signs_in("made@bahari.id", "mitra").await;
    assert_eq!(departures(&list_sailings(&world, made, "status=departed").await), expected[..1]);
    let open = [expected[1], expected[3]];
    assert_eq!(departures(&list_sailings(&world, made, "status=open").await), open);
    let cancelled = list_sailings(&world, made, "status=cancelled").await;
    assert_eq!(departures(&cancelled), expected[2..3]);
    assert_eq!(cancelled[0]["reason"], "High waves");
    let route = format!("/v1/mitra/speedboat-routes/{}", all[1]["route_id"].as_str().unwrap());
    world.delete(&route).by(made).send().await.ok();
    let withdrawn = list_sailings(&world, made, "status=withdrawn").await;
    assert_eq!(departures(&withdrawn), open);
    assert!(list_sailings(&world, made, "status=open").await.is_empty());
}

async fn passengers_who_left_are_not_on_board(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let codes = world.ticket_codes(&sailing).await;
    for code in &codes {
        world.scans_ticket(&sailing, code).await.ok();
    }
    let path = format!("{LIST}/{}", sailing.id);
    let checked_in =
        async || world.get(&path).by(&sailing.partner).send().await.ok()["checked_in"].clone();
    assert_eq!(checked_in().await, 2);
    let undo = json!({ "ticket_code": codes[0] });
    world.post(&format!("{path}/check-in/undo"), undo).by(&sailing.partner).send().await.ok();
    assert_eq!(checked_in().await, 1);
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "x" })).by(&sailing.partner).send().await.ok();
    assert_eq!(checked_in().await, 0, "as in the manifest");
    assert_eq!(world.manifest(&sailing).await["totals"]["checked_in"], 0);
}

async fn a_partner_sees_its_own_and_staff_sees_all(world: World) {
    let sailing = world.sailing().await;
    let ketut = world.active_partner("ketut@bahari.id").await;
    let (boat, _) = world.creates_published_route(&ketut, "GT. 9").await;
    let theirs = world.partner_id(&ketut).await;
    assert_eq!(list_sailings(&world, &sailing.partner, "").await.len(), 3);
    let foreign = format!("mitra_id={theirs}");
    let mine = list_sailings(&world, &sailing.partner, &foreign).await;
    assert!(mine.iter().all(|one| one["mitra_id"] != json!(theirs)), "whatever is asked for");
    assert!(
        list_sailings(&world, &sailing.partner, &format!("speedboat_id={boat}")).await.is_empty()
    );
    let path = format!("{LIST}/{}", sailing.id);
    world.get(&path).by(&ketut).send().await.is(404, "not_found");
    for rule in [BookingsRead, RoutesRead] {
        let desk = world.staff(&format!("{rule}@dermaga.test"), &[rule]).await;
        assert_eq!(list_sailings(&world, &desk, "").await.len(), 6);
        assert_eq!(list_sailings(&world, &desk, &foreign).await.len(), 3);
        assert_eq!(list_sailings(&world, &desk, &format!("speedboat_id={boat}")).await.len(), 3);
        assert!(list_sailings(&world, &desk, "status=cancelled").await.is_empty());
        assert_eq!(list_sailings(&world, &desk, "status=open&search=sanur").await.len(), 6);
        world.get(&path).by(&desk).send().await.ok();
    }
    let nobody = dermaga::kernel::ids::fresh();
    let admin = world.admin().await;
    assert!(list_sailings(&world, &admin, &format!("mitra_id={nobody}")).await.is_empty());
    assert!(list_sailings(&world, &admin, &format!("speedboat_id={nobody}")).await.is_empty());
    world.get(&format!("{LIST}/{nobody}")).by(&admin).send().await.is(404, "not_found");
}

async fn bad_parameters_are_named(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let query = "start_date=2026-02-30&end_date=soon&mitra_id=x&speedboat_id=x&route_id=x\
                 &status=sunk&sort_by=price&page_size=101";
    world.get(&format!("{LIST}?{query}")).by(&made).send().await.has_field_errors(&[
        ("end_date", "format"),
        ("mitra_id", "format"),
        ("page_size", "max"),
        ("route_id", "format"),
        ("sort_by", "enum"),
        ("speedboat_id", "format"),
        ("start_date", "format"),
        ("status", "enum"),
    ]);
    let blank = "start_date=&end_date=&mitra_id=&speedboat_id=&route_id=&status=&sort_by=&search=";
    assert!(list_sailings(&world, &made, blank).await.is_empty());
    world.get(&format!("{LIST}/x")).by(&made).send().await.is(404, "not_found");
}
