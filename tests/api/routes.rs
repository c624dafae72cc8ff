//! Routes: drafts, publication and withdrawal.

use chrono::{DateTime, TimeDelta, Utc};
use dermaga::kernel::{access::Rule::*, ids::Uuid};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harbour::{route, search_body},
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    a_route_is_planned_and_becomes_sailings,
    faults_are_named,
    a_draft_is_changed_and_a_published_route_is_not,
    only_an_active_partner_with_an_active_boat_publishes,
    a_head_or_a_prefetch_publishes_nothing,
    publishing_twice_is_publishing_once,
    a_route_needs_a_departure_in_the_future,
    past_departures_are_omitted,
    sailings_of_a_boat_do_not_overlap,
    two_routes_published_at_once_never_overlap,
    the_database_itself_refuses_an_overlap,
    a_route_over_new_year_on_given_days,
    a_year_of_departures_is_published_at_once,
    routes_are_listed,
    another_partners_route_does_not_exist,
    a_route_is_withdrawn,
    staff_manage_routes_by_rule,
];

const ROUTES: &str = "/v1/mitra/speedboat-routes";

fn route_path(route: &str) -> String {
    format!("{ROUTES}/{route}")
}

fn with(mut route: Value, changes: Value) -> Value {
    route.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    route
}

/// A time of day, and when it arrives.
fn time(departs: &str, arrives: &str) -> Value {
    json!({ "departure_time": departs, "arrival_time": arrives })
}

async fn a_route_is_planned_and_becomes_sailings(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let plan = with(
        route(&boat),
        json!({ "from": " Sanur  Bali ", "times": [
        { "departure_time": "08:00", "arrival_time": "08:45" },
        { "departure_time": "23:30", "arrival_time": "00:15", "price": 200_000, "days": ["mon"] },
    ] }),
    );
    let call = world.post("/v1/mitra/speedboat-routes/", plan).by(&made);
    let answer = call.send().await;
    assert_eq!(answer.body["status"], "success", "the envelope's own");
    let draft = answer.ok();
    assert_eq!(draft["status"], "draft");
    assert_eq!(draft["from"], "Sanur  Bali");
    assert_eq!(draft["speedboat"]["capacity"], 30);
    assert_eq!(draft["timezone"], "Asia/Makassar");
    assert_eq!(draft["times"][1]["price"], 200_000);
    assert_eq!(draft["times"][1]["days"], json!(null), "a daily route sails each day");
    assert!(draft["times"][0]["id"].is_string());
    assert_eq!(draft["times"][0]["arrival_day_offset"], 0);
    let id = draft["id"].as_str().unwrap();
    assert!(world.sailings(&made, id).await.is_empty());

    let published = world.publishes_route(&made, id).await.ok();
    assert_eq!(published["status"], "published");
    assert_eq!(published["published_at"], "2026-11-15T03:00:00Z");
    let sailings = world.sailings(&made, id).await;
    assert_eq!(sailings.len(), 6);
    assert_eq!(
        sailings[1],
        json!({
            "id": sailings[1]["id"], "departure_at": "2026-11-16T15:30:00Z",
            "arrival_at": "2026-11-16T16:15:00Z", "price": 200_000, "capacity": 30,
            "seats_taken": 0, "status": "open", "timezone": "Asia/Makassar",
            "arrival_timezone": "Asia/Makassar",
        })
    );
    assert_eq!(sailings[0]["departure_at"], "2026-11-16T00:00:00Z");
    assert_eq!(sailings[0]["price"], 150_000);
    let path = format!("{}/times?start_date=2026-11-17&end_date=2026-11-17", route_path(id));
    let one_day = world.get(&path).by(&made).send().await.ok();
    assert_eq!(one_day.as_array().unwrap().len(), 2);
    world.advances_clock(TimeDelta::days(2));
    let made = world.signs_in("made@bahari.id", "mitra").await;
    let statuses: Vec<_> =
        world.sailings(&made, id).await.iter().map(|s| s["status"].clone()).collect();
    assert_eq!(statuses, ["departed", "departed", "departed", "open", "open", "open"]);
}

async fn faults_are_named(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let plan = async |changes: Value| {
        world.post(ROUTES, with(route(&boat), changes)).by(&made).send().await
    };
    let rubbish = json!({
        "from": "S", "to": "x".repeat(81), "schedule_type": "hourly", "start_date": "2026-02-30",
        "price": 999, "timezone": "Europe/Paris",
        "times": [{ "departure_time": "24:00", "arrival_time": "8:45", "price": 1, "days": [] }],
    });
    plan(rubbish).await.has_field_errors(&[
        ("from", "min_length"),
        ("price", "min"),
        ("schedule_type", "enum"),
        ("start_date", "format"),
        ("times[0].arrival_time", "format"),
        ("times[0].days", "min_items"),
        ("times[0].departure_time", "format"),
        ("times[0].price", "min"),
        ("timezone", "enum"),
        ("to", "max_length"),
    ]);
    plan(json!({ "to": " SANUR " })).await.has_field_errors(&[("to", "same")]);
    plan(json!({ "end_date": "2026-11-15" })).await.has_field_errors(&[("end_date", "order")]);
    plan(json!({ "end_date": "2027-11-17" })).await.has_field_errors(&[("end_date", "max_days")]);
    let far = json!({ "start_date": "9999-12-31", "end_date": "9999-12-31" });
    plan(far).await.has_field_errors(&[("end_date", "max")]);
    plan(json!({ "from": " S " })).await.has_field_errors(&[("from", "min_length")]);
    plan(json!({ "schedule_type": "once" })).await.has_field_errors(&[("end_date", "once")]);
    plan(json!({ "schedule_type": "weekly" }))
        .await
        .has_field_errors(&[("times[0].days", "required")]);
    plan(json!({ "times": [] })).await.has_field_errors(&[("times", "min_items")]);
    let many: Vec<_> = (0..49).map(|_| time("08:00", "08:10")).collect();
    plan(json!({ "times": many })).await.has_field_errors(&[("times", "max_items")]);
    let missing = world.post(ROUTES, json!({})).by(&made).send().await;
    assert_eq!(missing.field_errors().len(), 8);
    let default = with(route(&boat), json!({ "timezone": "" }));
    let planned = world.post(ROUTES, default).by(&made).send().await.ok();
    assert_eq!(planned["timezone"], "Asia/Makassar", "the harbour's");
    let elsewhere = json!({ "timezone": "", "from": "Dermaga Baru" });
    let planned = plan(elsewhere).await.ok();
    assert_eq!(planned["timezone"], "Asia/Jakarta", "the service's own");
}

async fn a_draft_is_changed_and_a_published_route_is_not(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let id = world.creates_route(&made, route(&boat)).await;
    let change = with(route(&boat), json!({ "to": "Gili Trawangan", "price": 300_000 }));
    let after = world.put(&route_path(&id), change.clone()).by(&made).send().await.ok();
    assert_eq!(after["to"], "Gili Trawangan");
    assert_eq!(after["price"], 300_000);
    world.put(&route_path(&id), json!({})).by(&made).send().await.field_errors();
    world.publishes_route(&made, &id).await.ok();
    world.put(&route_path(&id), change).by(&made).send().await.is(409, "invalid_state");
    assert_eq!(world.searches(search_body(1)).await.len(), 0);
    let there = with(search_body(1), json!({ "to": "gili trawangan" }));
    assert_eq!(world.searches(there).await[0]["price"], 300_000);
}

async fn only_an_active_partner_with_an_active_boat_publishes(world: World) {
    let draft = world.partner("draft@bahari.id").await;
    let boat = world.adds_boat(&draft, "GT. 1").await;
    let id = world.creates_route(&draft, route(&boat)).await;
    world.publishes_route(&draft, &id).await.is(409, "invalid_state");

    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 2").await;
    let id = world.creates_route(&made, route(&boat)).await;
    let status = async |status: &str| {
        let change = with(crate::harbour::boat("GT. 2"), json!({ "status": status }));
        world.put(&format!("/v1/speedboats/{boat}"), change).by(&made).send().await.ok();
    };
    for idle in ["maintenance", "inactive"] {
        status(idle).await;
        world.publishes_route(&made, &id).await.is(409, "invalid_state");
    }
    assert_eq!(world.sailings(&made, &id).await.len(), 0);
    status("active").await;
    world.db().sql("UPDATE partners SET status = 'revision'").run().await.unwrap();
    world.publishes_route(&made, &id).await.is(409, "invalid_state");
    world.db().sql("UPDATE partners SET status = 'active'").run().await.unwrap();
    world.publishes_route(&made, &id).await.ok();
}

async fn a_head_or_a_prefetch_publishes_nothing(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let id = world.creates_route(&made, route(&boat)).await;
    let path = format!("{}/publish", route_path(&id));
    let head = world.call(Method::HEAD, &path).by(&made).bytes().await;
    assert_eq!(head.0, 405);
    for (name, hint) in
        [("sec-purpose", "prefetch;prerender"), ("purpose", "prefetch"), ("x-moz", "prefetch")]
    {
        let call = world.get(&path).by(&made).header(name, hint);
        call.send().await.is(403, "forbidden");
    }
    world.get(&path).send().await.is(401, "unauthenticated");
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 0);
    world.get(&path).by(&made).send().await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 3);
}

async fn publishing_twice_is_publishing_once(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let id = world.creates_route(&made, route(&boat)).await;
    let (a, b) = tokio::join!(world.publishes_route(&made, &id), world.publishes_route(&made, &id));
    a.ok();
    b.ok();
    let path = format!("{}/publish", route_path(&id));
    let again = world.post(&path, json!({})).by(&made).send().await.ok();
    assert_eq!(again["status"], "published");
    assert_eq!(world.sailings(&made, &id).await.len(), 3);
}

async fn a_route_needs_a_departure_in_the_future(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    // It is 11:00 in Makassar.
    let today = json!({
        "schedule_type": "once", "start_date": "2026-11-15", "end_date": "2026-11-15",
        "times": [time("11:00", "12:00")],
    });
    let id = world.creates_route(&made, with(route(&boat), today)).await;
    world.publishes_route(&made, &id).await.is(409, "invalid_state");
    let never = json!({ "schedule_type": "weekly", "times": [
        { "departure_time": "08:00", "arrival_time": "09:00", "days": ["sun"] },
    ] });
    let id = world.creates_route(&made, with(route(&boat), never)).await;
    world.publishes_route(&made, &id).await.is(409, "invalid_state");
}

async fn past_departures_are_omitted(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let since = json!({ "start_date": "2026-11-01", "end_date": "2026-11-16" });
    let id = world.creates_route(&made, with(route(&boat), since)).await;
    world.publishes_route(&made, &id).await.ok();
    let sailings = world.sailings(&made, &id).await;
    assert_eq!(sailings.len(), 1, "what has not sailed by now never did");
    assert_eq!(sailings[0]["departure_at"], "2026-11-16T00:00:00Z");
    // A new route for the rest of the day does not overlap this morning's.
    world.advances_clock(TimeDelta::days(1));
    let made = world.signs_in("made@bahari.id", "mitra").await;
    world.delete(&route_path(&id)).by(&made).send().await.ok();
    let again = json!({ "start_date": "2026-11-01", "end_date": "2026-11-20" });
    let id = world.creates_route(&made, with(route(&boat), again)).await;
    world.publishes_route(&made, &id).await.ok();
    assert_eq!(world.sailings(&made, &id).await.len(), 4);
}

async fn sailings_of_a_boat_do_not_overlap(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (boat, first) = world.creates_published_route(&made, "GT. 1").await;
    let publish = async |changes: Value| {
        let id = world.creates_route(&made, with(route(&boat), changes)).await;
        (id.clone(), world.publishes_route(&made, &id).await)
    };
    let back = |times: Value| json!({ "from": "Nusa Penida", "to": "Sanur", "times": times });
    for clash in [("08:44", "09:30"), ("07:30", "08:01"), ("07:00", "10:00"), ("08:10", "08:20")] {
        let (id, answer) = publish(back(json!([time(clash.0, clash.1)]))).await;
        let body = answer.is(409, "schedule_conflict");
        let named = &body["data"]["conflicts_with"]["departure_at"];
        assert_eq!(named, "2026-11-16T00:00:00Z", "the clash is named");
        assert!(body["data"]["planned"]["departure_at"].is_string());
        assert_eq!(body["data"]["conflicts_with"]["route_id"], json!(first));
        assert_eq!(world.sailings(&made, &id).await.len(), 0);
    }
    // A late one of the day before reaches into the morning.
    let late = json!({
        "start_date": "2026-11-16", "end_date": "2026-11-16", "times": [time("09:00", "08:01")],
    });
    publish(late).await.1.is(409, "schedule_conflict");
    let twice = back(json!([time("12:00", "13:00"), time("12:30", "13:30")]));
    publish(twice).await.1.is(409, "schedule_conflict");
    // From the moment it arrives it is free, and elsewhere in time it is, too.
    publish(back(json!([time("08:45", "09:30"), time("07:15", "08:00")]))).await.1.ok();
    // Withdrawn sailings do not count.
    let (id, answer) = publish(back(json!([time("15:00", "16:00")]))).await;
    answer.ok();
    world.delete(&route_path(&id)).by(&made).send().await.ok();
    publish(back(json!([time("15:30", "16:30")]))).await.1.ok();
}

async fn two_routes_published_at_once_never_overlap(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let mut drafts = Vec::new();
    for minute in 0..4 {
        let times = json!([time(&format!("08:{minute:02}"), "08:45")]);
        drafts
            .push(world.creates_route(&made, with(route(&boat), json!({ "times": times }))).await);
    }
    // On PostgreSQL half of them on another process.
    let beside = match world.db().engine() {
        "postgres" => Some(world.second_process().await),
        _ => None,
    };
    let other = beside.as_ref().unwrap_or(&world);
    let (a, b, c, d) = tokio::join!(
        world.publishes_route(&made, &drafts[0]),
        other.publishes_route(&made, &drafts[1]),
        world.publishes_route(&made, &drafts[2]),
        other.publishes_route(&made, &drafts[3]),
    );
    let (won, lost): (Vec<_>, Vec<_>) = [a, b, c, d].into_iter().partition(|a| a.status == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        answer.is(409, "schedule_conflict");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 3);
}

/// Inserts directly into the table, bypassing all checks of the code.
async fn the_database_itself_refuses_an_overlap(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (_, id) = world.creates_published_route(&made, "GT. 1").await;
    let insert = async |start: &str, end: &str, status: &'static str| {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        world
            .db()
            .sql(
                "INSERT INTO sailings (id, route_id, speedboat_id, partner_id, from_harbour_id,
                   to_harbour_id, day, departure_at, arrival_at, duration_minutes, price, capacity,
                   seats_taken, chartered, status, line_id)
                 SELECT $1, id, speedboat_id, partner_id, from_harbour_id, to_harbour_id,
                   start_date, $2, $3, 45, price, 30, 0, FALSE, $4, line_id
                 FROM routes WHERE id = $5",
            )
            .bind(dermaga::kernel::ids::fresh())
            .bind(at(start))
            .bind(at(end))
            .bind(status)
            .bind(id.parse::<Uuid>().unwrap())
            .run()
            .await
    };
    // There is one from 00:00 to 00:45 on each of three days.
    for (start, end) in [
        ("2026-11-16T00:44:00Z", "2026-11-16T01:00:00Z"),
        ("2026-11-15T23:00:00Z", "2026-11-16T00:01:00Z"),
        ("2026-11-15T23:00:00Z", "2026-11-18T23:00:00Z"),
        ("2026-11-17T00:10:00Z", "2026-11-17T00:20:00Z"),
    ] {
        let refused = insert(start, end, "open").await.unwrap_err();
        assert!(refused.is_exclusion(), "{refused}");
        insert(start, end, "cancelled").await.unwrap();
    }
    insert("2026-11-16T00:45:00Z", "2026-11-16T01:00:00Z", "open").await.unwrap();
    let revived = world.db().sql("UPDATE sailings SET status = 'open'").run().await.unwrap_err();
    assert!(revived.is_exclusion(), "{revived}");
}

async fn a_route_over_new_year_on_given_days(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let weekly = json!({
        "schedule_type": "weekly", "start_date": "2026-12-28", "end_date": "2027-01-10",
        "timezone": "Asia/Jayapura", "from": "Sorong", "to": "Waisai",
        "times": [{ "departure_time": "00:30", "arrival_time": "01:30", "days": ["thu", "fri"] }],
    });
    let id = world.creates_route(&made, with(route(&boat), weekly)).await;
    world.publishes_route(&made, &id).await.ok();
    let departures: Vec<_> = world
        .sailings(&made, &id)
        .await
        .iter()
        .map(|s| s["departure_at"].as_str().unwrap()[..16].to_owned())
        .collect();
    let expected = ["2026-12-30T15:30", "2026-12-31T15:30", "2027-01-06T15:30", "2027-01-07T15:30"];
    assert_eq!(departures, expected);
    let new_year = json!({ "from": "Sorong", "to": "Waisai", "date": "2027-01-01", "qty": 1 });
    assert_eq!(world.searches(new_year).await[0]["departure_at"], "2026-12-31T15:30:00Z");
}

/// 366 days × 48 times in one transaction of few statements.
async fn a_year_of_departures_is_published_at_once(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let times: Vec<_> = (0..48)
        .map(|n| {
            let (hour, minute) = (n / 2, n % 2 * 30);
            time(&format!("{hour:02}:{minute:02}"), &format!("{hour:02}:{:02}", minute + 20))
        })
        .collect();
    let year = json!({ "start_date": "2026-11-16", "end_date": "2027-11-16", "times": times });
    let id = world.creates_route(&made, with(route(&boat), year)).await;
    let before = world.db().statements();
    world.publishes_route(&made, &id).await.ok();
    let statements = world.db().statements() - before;
    assert!(statements <= 22, "{statements} statements");
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 17_568);
    let clash = json!({ "end_date": "2026-11-16", "times": [time("23:10", "23:40")] });
    let clash = world.creates_route(&made, with(route(&boat), clash)).await;
    world.publishes_route(&made, &clash).await.is(409, "schedule_conflict");
    world.delete(&route_path(&id)).by(&made).send().await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings WHERE status = 'open'").await, 0);
}

async fn routes_are_listed(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("other@bahari.id").await;
    let (boat, published) = world.creates_published_route(&made, "GT. 1").await;
    let cheap = with(route(&boat), json!({ "to": "Gili Air", "price": 100_000 }));
    world.advances_clock(TimeDelta::seconds(1));
    let draft = world.creates_route(&made, cheap).await;
    world.creates_published_route(&other, "GT. 2").await;
    let ids = async |who: &Someone, query: &str| {
        let list = world.get(&format!("{ROUTES}/?{query}")).by(who).send().await.ok();
        let ids = list.as_array().unwrap().iter();
        ids.map(|route| route["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&made, "").await, [draft.clone(), published.clone()]);
    assert_eq!(ids(&made, "status=draft").await, [draft.as_str()]);
    assert_eq!(ids(&made, "search=penida").await, [published.as_str()]);
    assert_eq!(ids(&made, "sort_by=price&sort_dir=desc").await, [published, draft]);
    assert_eq!(ids(&made, &format!("speedboat_id={boat}&page_size=1")).await.len(), 1);
    let reader = world.staff("ayu@dermaga.test", &[RoutesRead]).await;
    assert_eq!(ids(&reader, "").await.len(), 3);
    let theirs = world.partner_id(&other).await;
    assert_eq!(ids(&reader, &format!("mitra_id={theirs}")).await.len(), 1);
    assert_eq!(ids(&made, &format!("mitra_id={theirs}")).await.len(), 2, "only its own");
}

async fn another_partners_route_does_not_exist(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("other@bahari.id").await;
    let boat = world.adds_boat(&other, "GT. 1").await;
    let theirs = world.creates_route(&other, route(&boat)).await;
    world.put(&route_path(&theirs), json!({})).by(&made).send().await.is(404, "not_found");
    world.delete(&route_path(&theirs)).by(&made).send().await.is(404, "not_found");
    world.publishes_route(&made, &theirs).await.is(404, "not_found");
    let times = format!("{}/times", route_path(&theirs));
    world.get(&times).by(&made).send().await.is(404, "not_found");
    let own = world.adds_boat(&made, "GT. 2").await;
    let id = world.creates_route(&made, route(&own)).await;
    let stolen = world.put(&route_path(&id), route(&boat)).by(&made).send().await;
    stolen.has_field_errors(&[("speedboat_id", "unknown")]);
}

async fn a_route_is_withdrawn(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let (boat, id) = world.creates_published_route(&made, "GT. 1").await;
    let draft = world.creates_route(&made, route(&boat)).await;
    // A body is ignored, whatever it holds.
    let call = world.call(Method::DELETE, &route_path(&draft)).by(&made).body("{not json");
    call.header("content-type", "application/json").send().await.ok();
    world.delete(&route_path(&draft)).by(&made).send().await.is(404, "not_found");

    let sailings = world.sailings(&made, &id).await;
    world.sets_seats_taken(&sailings[2], 1).await;
    world.delete(&route_path(&id)).by(&made).send().await.is(409, "in_use");
    assert_eq!(world.searches(search_body(1)).await.len(), 1, "nothing was withdrawn");
    world.sets_seats_taken(&sailings[2], 0).await;
    world.delete(&route_path(&id)).by(&made).send().await.ok();
    assert_eq!(world.searches(search_body(1)).await.len(), 0);
    let sailings = world.sailings(&made, &id).await;
    assert!(sailings.iter().all(|sailing| sailing["status"] == "withdrawn"));
    let archived = world.get(&format!("{ROUTES}?status=archived")).by(&made).send().await.ok();
    assert_eq!(archived[0]["id"], json!(id));
    world.delete(&route_path(&id)).by(&made).send().await.is(409, "invalid_state");
    world.publishes_route(&made, &id).await.is(409, "invalid_state");
}

async fn staff_manage_routes_by_rule(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let clerk = world.staff("ayu@dermaga.test", &[RoutesRead, RoutesWrite, AuditRead]).await;
    let id = world.creates_route(&clerk, route(&boat)).await;
    let published = world.publishes_route(&clerk, &id).await.ok();
    assert_eq!(published["mitra_id"], json!(world.partner_id(&made).await));
    let log = world.get("/v1/audit-logs?action=route.published").by(&clerk).send().await.ok();
    assert_eq!(log[0]["before"]["status"], "draft");
    assert_eq!(log[0]["after"]["status"], "published");
    assert_eq!(log[0]["actor"]["email"], "ayu@dermaga.test");
}
