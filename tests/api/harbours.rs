//! Harbours: their names, the zones of routes, and merging.

use dermaga::kernel::access::Rule;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order, route, search_body},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    the_service_brings_real_harbours,
    harbours_are_loaded_once,
    harbours_are_searched_by_any_name_and_place,
    a_harbour_is_made_changed_and_removed,
    faults_are_named,
    hostile_names_are_refused_or_kept_as_they_are,
    a_name_belongs_to_one_harbour,
    the_same_name_at_once_makes_one_harbour,
    an_alias_finds_the_sailings,
    an_unknown_name_makes_an_unverified_harbour,
    an_unverified_harbour_is_public_with_a_published_route,
    an_unverified_harbour_goes_with_its_last_route,
    a_partner_names_few_harbours_that_are_not_on_sale,
    a_guess_of_one_partner_is_no_zone_of_another,
    two_names_of_one_harbour_are_no_route,
    a_zone_that_contradicts_a_verified_harbour_is_refused,
    arrivals_are_local_to_their_harbour,
    a_harbour_with_routes_stays,
    the_zone_of_a_harbour_with_routes_stays,
    a_draft_in_an_outdated_zone_is_not_published,
    a_renamed_harbour_is_found_by_both_names,
    a_merge_moves_everything,
    fares_survive_a_new_name_and_a_merge,
    a_merge_is_refused_where_it_makes_no_sense,
    a_merge_beside_sales_and_publications_loses_nothing,
    two_merges_in_opposite_directions,
    a_booking_moves_between_spellings_of_a_harbour,
    a_merge_invalidates_searches,
    changes_need_the_rule_and_are_recorded,
    a_harbour_without_its_name_is_found_by_the_audit,
];

const LIST: &str = "/v1/harbours";
const ROUTES: &str = "/v1/mitra/speedboat-routes/";

fn with(mut value: Value, changes: Value) -> Value {
    value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    value
}

fn new(name: &str) -> Value {
    json!({
        "name": name, "aliases": [], "city": "Klungkung", "province": "Bali",
        "timezone": "Asia/Makassar", "latitude": -8.7, "longitude": 115.5,
    })
}

fn path(harbour: &Value) -> String {
    format!("{LIST}/{}", harbour["id"].as_str().unwrap())
}

/// Words of a query, which have neither `&` nor `+`.
async fn find(world: &World, query: &str) -> Vec<Value> {
    let found = world.get(&format!("{LIST}?page_size=100&{query}")).send().await.ok();
    found.as_array().unwrap().clone()
}

/// As [`find`], by somebody who is signed in.
async fn find_by(world: &World, who: &Someone, query: &str) -> Vec<Value> {
    let found = world.get(&format!("{LIST}?page_size=100&{query}")).by(who).send().await.ok();
    found.as_array().unwrap().clone()
}

/// The harbour of this name.
async fn named(world: &World, name: &str) -> Value {
    let found = find(world, &format!("search={}", name.replace(' ', "%20"))).await;
    found.into_iter().find(|harbour| harbour["name"] == name).unwrap()
}

/// As [`named`], by somebody who is signed in.
async fn named_by(world: &World, who: &Someone, name: &str) -> Value {
    let found = find_by(world, who, &format!("search={}", name.replace(' ', "%20"))).await;
    found.into_iter().find(|harbour| harbour["name"] == name).unwrap()
}

fn names(harbours: &[Value]) -> Vec<&str> {
    harbours.iter().map(|harbour| harbour["name"].as_str().unwrap()).collect()
}

async fn creates(world: &World, by: &Someone, harbour: Value) -> Value {
    world.post(LIST, harbour).by(by).send().await.ok()
}

async fn merges(world: &World, by: &Someone, from: &Value, into: &Value) -> Answer {
    let body = json!({ "into_id": into["id"] });
    world.post(&format!("{}/merge", path(from)), body).by(by).send_with_retry().await
}

/// A published route of a boat between two names.
async fn publishes(world: &World, who: &Someone, boat: &str, changes: Value) -> String {
    let id = world.creates_route(who, with(route(boat), changes)).await;
    world.publishes_route(who, &id).await.ok();
    id
}

/// The number of offers between two names on the first day.
async fn offers(world: &World, from: &str, to: &str) -> usize {
    world.searches(with(search_body(1), json!({ "from": from, "to": to }))).await.len()
}

async fn the_service_brings_real_harbours(world: World) {
    let all = find(&world, "status=verified").await;
    assert!(all.len() >= 60);
    assert!(find(&world, "status=unverified").await.is_empty());
    assert!(names(&all).is_sorted_by_key(|name| name.to_lowercase()));
    let sanur = named(&world, "Sanur").await;
    let expected = ["Denpasar", "Bali", "Asia/Makassar", "verified"];
    let fields = ["city", "province", "timezone", "status"].map(|field| sanur[field].clone());
    assert_eq!(fields, expected);
    assert!(sanur["aliases"].as_array().unwrap().contains(&json!("Pelabuhan Sanur")));
    assert!((sanur["latitude"].as_f64().unwrap() + 8.67).abs() < 0.1);
    assert!((sanur["longitude"].as_f64().unwrap() - 115.26).abs() < 0.1);
    for (name, zone) in [
        ("Marina Ancol", "Asia/Jakarta"),
        ("Pontianak", "Asia/Jakarta"),
        ("Labuan Bajo", "Asia/Makassar"),
        ("Tarakan", "Asia/Makassar"),
        ("Ambon", "Asia/Jayapura"),
        ("Waisai", "Asia/Jayapura"),
    ] {
        assert_eq!(named(&world, name).await["timezone"], zone, "{name}");
    }
    let page = world.get(&format!("{LIST}?page=2&page_size=10")).send().await;
    assert_eq!(page.body["pagination"]["total_items"], all.len());
    assert_eq!(page.ok().as_array().unwrap().len(), 10);
}

/// What staff have changed is not undone by a restart, and what is missing is added.
async fn harbours_are_loaded_once(world: World) {
    let admin = world.admin().await;
    let before = find(&world, "").await.len();
    let (sanur, jayapura) = (named(&world, "Sanur").await, named(&world, "Jayapura").await);
    world.delete(&path(&jayapura)).by(&admin).send().await.ok();
    let renamed = json!({ "name": "Sanur Timur", "aliases": [] });
    world.put(&path(&sanur), renamed).by(&admin).send().await.ok();
    let now = world.now();
    assert_eq!(dermaga::harbours::load(world.db(), now).await.unwrap(), 0);
    // As on an upgrade that brings two more, one of which was made by a route before.
    let forget = "DELETE FROM loaded_harbours WHERE key IN ('jayapura', 'benoa')";
    world.db().sql(forget).run().await.unwrap();
    let both = join_all([(); 2].map(|()| dermaga::harbours::load(world.db(), now))).await;
    let added: usize = both.into_iter().map(|added| added.unwrap()).sum();
    assert_eq!(added, 1);
    assert_eq!(find(&world, "").await.len(), before);
    assert_eq!(named(&world, "Sanur Timur").await["aliases"], json!([]));
    assert_eq!(named(&world, "Jayapura").await["status"], "verified");
    assert_invariants(&world).await;
}

async fn harbours_are_searched_by_any_name_and_place(world: World) {
    for (words, name) in [
        ("sanur", "Sanur"),
        ("MATAHARI", "Sanur"),
        ("s%C3%A1nur", "Sanur"),
        ("matahari%20%20terbit", "Sanur"),
        ("jungut", "Nusa Lembongan"),
        ("kepulauan%20seribu", "Pulau Tidung"),
        ("maluku%20utara", "Ternate"),
    ] {
        let found = find(&world, &format!("search={words}")).await;
        assert!(names(&found).contains(&name), "{words}: {:?}", names(&found));
    }
    for nothing in ["atlantis", "%25", "_anur", "%5C"] {
        assert!(find(&world, &format!("search={nothing}")).await.is_empty(), "{nothing}");
    }
    let wrong = world.get(&format!("{LIST}?status=sunken&sort_by=depth")).send().await;
    wrong.has_field_errors(&[("sort_by", "enum"), ("status", "enum")]);
}

async fn a_harbour_is_made_changed_and_removed(world: World) {
    let admin = world.admin().await;
    let aliases = json!(["Dermaga Lama", "dermaga  lama", "DERMAGA BARU"]);
    let made = creates(&world, &admin, with(new("Dermaga Baru"), json!({ "aliases": aliases })));
    let made = made.await;
    assert_eq!(made["aliases"], json!(["Dermaga Lama"]), "each name once");
    assert_eq!((&made["status"], &made["latitude"]), (&json!("verified"), &json!(-8.7)));
    assert_eq!(named(&world, "Dermaga Baru").await, made);
    // What is left out stays, null clears.
    let change = json!({ "city": null, "status": "unverified", "timezone": "Asia/Jakarta" });
    let changed = world.put(&path(&made), change.clone()).by(&admin).send().await.ok();
    assert_eq!(changed, with(made.clone(), change));
    let nowhere = json!({ "latitude": null, "longitude": null, "province": " " });
    let changed = world.put(&path(&made), nowhere).by(&admin).send().await.ok();
    assert!(["latitude", "longitude", "province"].iter().all(|field| changed[field].is_null()));
    assert_eq!(changed["aliases"], json!(["Dermaga Lama"]));
    world.put(&path(&made), json!({ "aliases": [] })).by(&admin).send().await.ok();
    assert!(find(&world, "search=lama").await.is_empty());
    let aliases = json!({ "aliases": ["Dermaga Lama"] });
    world.put(&path(&made), aliases).by(&admin).send().await.ok();
    let cleared = json!({ "aliases": null, "name": "Dermaga Baru Sekali" });
    let cleared = world.put(&path(&made), cleared).by(&admin).send().await.ok();
    assert_eq!(cleared["aliases"], json!([]), "not even the old name");
    assert!(find(&world, "search=lama").await.is_empty());
    world.put(&path(&made), json!({ "name": "Dermaga Baru" })).by(&admin).send().await.ok();
    world.put(&path(&made), json!({ "aliases": null })).by(&admin).send().await.ok();
    world.delete(&path(&made)).by(&admin).send().await.ok();
    assert!(find(&world, "search=dermaga%20baru").await.is_empty());
    world.delete(&path(&made)).by(&admin).send().await.is(404, "not_found");
    world.put(&path(&made), json!({})).by(&admin).send().await.is(404, "not_found");
    // Its names are free again.
    creates(&world, &admin, new("Dermaga Lama")).await;
}

async fn faults_are_named(world: World) {
    let admin = world.admin().await;
    let create = async |changes| {
        world.post(LIST, with(new("Dermaga Baru"), changes)).by(&admin).send().await
    };
    world
        .post(LIST, json!({}))
        .by(&admin)
        .send()
        .await
        .has_field_errors(&[("name", "required"), ("timezone", "required")]);
    for (changes, field, rule) in [
        (json!({ "name": " a " }), "name", "min_length"),
        (json!({ "name": "a".repeat(81) }), "name", "max_length"),
        (json!({ "name": "\u{301}\u{301}" }), "name", "format"),
        (json!({ "aliases": ["Lama", "\u{301}\u{301}"] }), "aliases[1]", "format"),
        (json!({ "timezone": "Europe/Paris" }), "timezone", "enum"),
        (json!({ "status": "sunken" }), "status", "enum"),
        (json!({ "latitude": 90.5 }), "latitude", "max"),
        (json!({ "latitude": "north" }), "latitude", "type"),
        (json!({ "longitude": -181 }), "longitude", "min"),
        (json!({ "longitude": null }), "longitude", "required"),
        (json!({ "latitude": null }), "latitude", "required"),
        (json!({ "city": "a".repeat(81) }), "city", "max_length"),
    ] {
        create(changes).await.has_field_errors(&[(field, rule)]);
    }
    let sanur = named(&world, "Sanur").await;
    let change = async |change| world.put(&path(&sanur), change).by(&admin).send().await;
    change(json!({ "latitude": null })).await.has_field_errors(&[("latitude", "required")]);
    change(json!({ "name": "S" })).await.has_field_errors(&[("name", "min_length")]);
    let merge = format!("{}/merge", path(&sanur));
    let merge = async |body| world.post(&merge, body).by(&admin).send().await;
    merge(json!({})).await.has_field_errors(&[("into_id", "required")]);
    merge(json!({ "into_id": "x" })).await.has_field_errors(&[("into_id", "format")]);
}

async fn hostile_names_are_refused_or_kept_as_they_are(world: World) {
    let admin = world.admin().await;
    let create = async |harbour| world.post(LIST, harbour).by(&admin).send().await;
    let aliased = |aliases: Vec<String>| with(new("Dermaga Baru"), json!({ "aliases": aliases }));
    let many = |count| (0..count).map(|n| format!("Alias {n}")).collect::<Vec<_>>();
    create(aliased(many(1_000))).await.has_field_errors(&[("aliases", "max_items")]);
    create(aliased(vec!["a".repeat(81)])).await.has_field_errors(&[("aliases[0]", "max_length")]);
    create(aliased(vec!["a".repeat(60_000)]))
        .await
        .has_field_errors(&[("aliases[0]", "max_length")]);
    for control in ["a\nb", "a\u{7}b", "a\u{9f}b"] {
        let refused = create(aliased(vec!["Lama".into(), control.into()])).await;
        refused.has_field_errors(&[("aliases[1]", "characters")]);
        create(new(control)).await.has_field_errors(&[("name", "characters")]);
    }
    assert_eq!(create(aliased(vec!["a\0b".into()])).await.status, 422);
    let odd = ["'; DROP TABLE harbours; --", "50%_\\", "<script>", "港口", "Ａncol Ｔimur"];
    let made = create(aliased(odd.map(str::to_owned).to_vec())).await.ok();
    assert_eq!(made["aliases"], json!(odd));
    assert_eq!(names(&find(&world, "search=50%25_").await), ["Dermaga Baru"]);
    // Full-width letters are those letters.
    assert_eq!(names(&find(&world, "search=ancol%20timur").await), ["Dermaga Baru"]);
    let fifty = create(with(new("Dermaga Lain"), json!({ "aliases": many(50) }))).await.ok();
    assert_eq!(fifty["aliases"].as_array().unwrap().len(), 50);
}

async fn a_name_belongs_to_one_harbour(world: World) {
    let admin = world.admin().await;
    let sanur = named(&world, "Sanur").await;
    let made = creates(&world, &admin, new("Dermaga Baru")).await;
    for taken in ["SANUR", "matahari  térbit"] {
        let call = world.post(LIST, new(taken)).by(&admin);
        let refused = call.send().await.is(409, "already_exists");
        assert_eq!(refused["data"]["harbour"], json!({ "id": sanur["id"], "name": "Sanur" }));
        for change in [json!({ "name": taken }), json!({ "aliases": ["Free", taken] })] {
            let call = world.put(&path(&made), change).by(&admin);
            call.send().await.is(409, "already_exists");
        }
    }
    assert_eq!(named(&world, "Dermaga Baru").await, made);
    // Its own names may be shuffled.
    let shuffled = json!({ "name": "Matahari Terbit", "aliases": ["Sanur", "Sindhu"] });
    world.put(&path(&sanur), shuffled).by(&admin).send().await.ok();
    assert_eq!(offers(&world, "Sanur", "Nusa Penida").await, 0);
    // The database decides.
    let insert = "INSERT INTO harbour_names (key, harbour_id, name)
        SELECT 'sanur', harbour_id, name FROM harbour_names WHERE key = 'dermaga baru'";
    assert!(world.db().sql(insert).run().await.unwrap_err().is_unique());
}

async fn the_same_name_at_once_makes_one_harbour(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let drafts = (0..6).map(|n| {
        let (from, to) = if n % 2 == 0 { ("Ujung", "PANGKAL") } else { ("Pangkal", "ujung") };
        let plan = with(route(&boat), json!({ "from": from, "to": to }));
        world.post(ROUTES, plan).by(&made).send_with_retry()
    });
    let created = (0..2).map(|_| world.post(LIST, new("Ujung")).by(&admin).send_with_retry());
    let (drafts, created) = tokio::join!(join_all(drafts), join_all(created));
    assert!(drafts.iter().all(|draft| draft.status == 200));
    assert!(created.iter().filter(|created| created.status == 200).count() <= 1);
    assert_eq!(find_by(&world, &admin, "search=ujung").await.len(), 1);
    assert_eq!(find_by(&world, &admin, "search=pangkal").await.len(), 1);
    assert_invariants(&world).await;
}

async fn an_alias_finds_the_sailings(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    publishes(&world, &made, &boat, json!({ "from": "PELABUHAN SANUR" })).await;
    let other = world.adds_boat(&made, "GT. 2").await;
    publishes(&world, &made, &other, json!({ "to": "banjar nyuh" })).await;
    for (from, to) in [
        ("Sanur", "Nusa Penida"),
        ("sanur  harbour", "Banjar Nyuh"),
        ("Matahari Térbit", "nusa penida"),
    ] {
        assert_eq!(offers(&world, from, to).await, 2, "{from} {to}");
    }
    assert_eq!(offers(&world, "Sanur", "Toyapakeh").await, 0);
    assert_eq!(offers(&world, "Atlantis", "Nusa Penida").await, 0);
    let found = world.searches(search_body(1)).await;
    let mut written: Vec<_> = found.iter().map(|offer| offer["from"].as_str().unwrap()).collect();
    written.sort_unstable();
    assert_eq!(written, ["PELABUHAN SANUR", "Sanur"], "as the partner has written it");
    let back = with(
        search_body(1),
        json!({
            "from": "Nusa Penida", "to": "Sanur Port", "return_date": "2026-11-16",
        }),
    );
    let answer = world.post("/v1/speedboats/search", back).send().await;
    assert_eq!(answer.body["return"].as_array().unwrap().len(), 2);
    // One place with one destination, whatever it was called.
    let places = world.get("/v1/speedboats/locations").send().await.ok();
    assert_eq!(places.as_array().unwrap().len(), 1);
    assert_eq!(
        (&places[0]["name"], &places[0]["destinations"]),
        (&json!("Sanur"), &json!(["Nusa Penida"]))
    );
    assert_eq!(places[0]["harbour_id"], named(&world, "Sanur").await["id"]);
    // A response for an alias is invalidated by a sale as any other.
    let alias = with(search_body(1), json!({ "from": "Sanur Port" }));
    let sailing = &world.searches(alias.clone()).await[0];
    let booked = Sailing {
        partner: made,
        boat: sailing["item_id"].as_str().unwrap().into(),
        id: sailing["route_time_id"].as_str().unwrap().into(),
    };
    world.books(order(&booked, 2, "sari@example.com")).await.ok();
    assert_eq!(world.searches(alias).await[0]["available_seats"], 28);
}

async fn an_unknown_name_makes_an_unverified_harbour(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let create = async |changes| {
        let plan = with(route(&boat), changes);
        world.post(ROUTES, plan).by(&made).send().await
    };
    let plan = json!({ "to": " Dermaga  Baru ", "timezone": null });
    let draft = create(plan).await.ok();
    assert_eq!(
        (&draft["timezone"], &draft["to"]),
        (&json!("Asia/Makassar"), &json!("Dermaga  Baru"))
    );
    let new = find_by(&world, &made, "status=unverified").await;
    assert_eq!(names(&new), ["Dermaga  Baru"]);
    assert_eq!((&new[0]["timezone"], &new[0]["aliases"]), (&json!("Asia/Makassar"), &json!([])));
    assert!(new[0]["latitude"].is_null() && new[0]["city"].is_null());
    assert_eq!(draft["to_harbour_id"], new[0]["id"]);
    // In the route's zone if it says one, else in the service's.
    let ends = |from: &str, to: &str, zone: Value| {
        create(json!({ "from": from, "to": to, "timezone": zone }))
    };
    ends("Satu", "Dua", json!("Asia/Jayapura")).await.ok();
    ends("Tiga", "Empat", json!(null)).await.ok();
    for (name, zone) in [
        ("Satu", "Asia/Jayapura"),
        ("Dua", "Asia/Jayapura"),
        ("Tiga", "Asia/Jakarta"),
        ("Empat", "Asia/Jakarta"),
    ] {
        let harbour = named_by(&world, &made, name).await;
        assert_eq!(
            (&harbour["timezone"], &harbour["status"]),
            (&json!(zone), &json!("unverified"))
        );
    }
    // The zone of an unverified harbour is a guess, which a route may contradict at both ends.
    let draft = ends("Tiga", "empat", json!("Asia/Makassar")).await.ok();
    assert_eq!(
        (&draft["timezone"], &draft["arrival_timezone"]),
        (&json!("Asia/Makassar"), &json!("Asia/Makassar"))
    );
    // A refused draft makes none.
    let refused = create(json!({ "from": "Atlantis", "speedboat_id": made.id })).await;
    refused.has_field_errors(&[("speedboat_id", "unknown")]);
    assert!(find_by(&world, &made, "search=atlantis").await.is_empty());
}

/// Until a published route uses it, others do not see it.
async fn an_unverified_harbour_is_public_with_a_published_route(world: World) {
    let admin = world.admin().await;
    let clerk = world.staff("putu@dermaga.test", &[Rule::RoutesWrite]).await;
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("ayu@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let plan = with(route(&boat), json!({ "to": "Ujung" }));
    let draft = world.creates_route(&made, plan).await;
    let query = "search=ujung";
    assert!(find(&world, query).await.is_empty());
    assert!(find(&world, "status=unverified").await.is_empty());
    for (who, seen) in [(&admin, 1), (&made, 1), (&other, 0), (&clerk, 0)] {
        assert_eq!(find_by(&world, who, query).await.len(), seen, "{}", who.email);
    }
    let page = world.get(&format!("{LIST}?{query}")).send().await;
    assert_eq!(page.body["pagination"]["total_items"], 0);
    let forged = world.get(LIST).with_token("x").send().await;
    forged.is(401, "unauthenticated");
    world.publishes_route(&made, &draft).await.ok();
    assert_eq!(names(&find(&world, query).await), ["Ujung"]);
    assert_eq!(names(&find_by(&world, &other, query).await), ["Ujung"]);
    // An archived route shows it to its partner alone.
    world.delete(&format!("{ROUTES}{draft}")).by(&made).send().await.ok();
    assert!(find(&world, query).await.is_empty());
    assert_eq!(find_by(&world, &made, query).await.len(), 1);
    assert_invariants(&world).await;
}

async fn an_unverified_harbour_goes_with_its_last_route(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("ayu@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let other_boat = world.adds_boat(&other, "GT. 2").await;
    let to = |boat: &str, to: &str| with(route(boat), json!({ "to": to }));
    let all = async || {
        let found = find_by(&world, &admin, "status=unverified").await;
        names(&found).join(", ")
    };
    let draft = world.creates_route(&made, to(&boat, "Ujnug")).await;
    let others = world.creates_route(&other, to(&other_boat, "UJNUG")).await;
    let change = async |name: &str| {
        let change = to(&boat, name);
        world.put(&format!("{ROUTES}{draft}"), change).by(&made).send().await.ok()
    };
    change("Ujung").await;
    assert_eq!(all().await, "Ujnug, Ujung", "another partner's route uses it");
    world.delete(&format!("{ROUTES}{others}")).by(&other).send().await.ok();
    assert_eq!(all().await, "Ujung");
    // What staff have added is kept.
    let ujung = path(&named_by(&world, &admin, "Ujung").await);
    world.put(&ujung, json!({ "city": "Amlapura" })).by(&admin).send().await.ok();
    change("Pangkal").await;
    assert_eq!(all().await, "Pangkal, Ujung");
    change("Nusa Penida").await;
    assert_eq!(all().await, "Ujung");
    assert_eq!(named(&world, "Nusa Penida").await["status"], "verified");
    // A refused change deletes nothing.
    change("Pangkal").await;
    let wrong = world.put(&format!("{ROUTES}{draft}"), to(&boat, "Sanur")).by(&made).send().await;
    wrong.has_field_errors(&[("to", "same")]);
    assert_eq!(all().await, "Pangkal, Ujung");
    // It is named again while its last route is deleted.
    for _ in 0..5 {
        let draft = world.creates_route(&made, to(&boat, "Sementara")).await;
        let draft = format!("{ROUTES}{draft}");
        let (deleted, created) = tokio::join!(
            world.delete(&draft).by(&made).send_with_retry(),
            world.post(ROUTES, to(&other_boat, "sementara")).by(&other).send_with_retry(),
        );
        deleted.ok();
        let created = format!("{ROUTES}{}", created.ok()["id"].as_str().unwrap());
        assert_eq!(find_by(&world, &admin, "search=sementara").await.len(), 1);
        world.delete(&created).by(&other).send_with_retry().await.ok();
        assert!(find_by(&world, &admin, "search=sementara").await.is_empty());
    }
    assert_invariants(&world).await;
}

async fn a_partner_names_few_harbours_that_are_not_on_sale(world: World) {
    const MOST: usize = 50;
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("ayu@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let other_boat = world.adds_boat(&other, "GT. 2").await;
    let between =
        |boat: &str, from: &str, to: &str| with(route(boat), json!({ "from": from, "to": to }));
    let mut drafts = Vec::new();
    for n in 0..MOST / 2 {
        let plan = between(&boat, &format!("Ujung {n}"), &format!("Pangkal {n}"));
        drafts.push(world.creates_route(&made, plan).await);
    }
    let create = async |from: &str, to: &str| {
        world.post(ROUTES, between(&boat, from, to)).by(&made).send_with_retry().await
    };
    create("Sanur", "Baru").await.has_field_errors(&[("to", "max")]);
    create("Baru", "Sanur").await.has_field_errors(&[("from", "max")]);
    create("Satu", "Dua").await.has_field_errors(&[("from", "max"), ("to", "max")]);
    assert!(find_by(&world, &made, "search=baru").await.is_empty());
    // Known ones can be named, and a name can be corrected.
    create("Ujung 0", "Pangkal 1").await.ok();
    let corrected = between(&boat, "Ujung 9", "Pangkal Sembilan");
    let draft = format!("{ROUTES}{}", drafts[9]);
    world.put(&draft, corrected).by(&made).send().await.ok();
    let two = between(&boat, "Sanur", "Ujung Sembilan");
    world.put(&draft, two).by(&made).send().await.ok();
    // Now there is one too few. Of several at once, one gets it.
    let at_once = join_all(["Satu", "Dua", "Tiga"].map(|name| create("Sanur", name))).await;
    let made_now = at_once.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(made_now, 1);
    create("Sanur", "Baru").await.has_field_errors(&[("to", "max")]);
    // Another partner has a limit of its own.
    let others = between(&other_boat, "Baru", "Lama");
    world.post(ROUTES, others).by(&other).send().await.ok();
    // What is on sale does not count.
    world.publishes_route(&made, &drafts[20]).await.ok();
    create("Satu Lagi", "Dua Lagi").await.ok();
    create("Sanur", "Tiga Lagi").await.has_field_errors(&[("to", "max")]);
    assert_invariants(&world).await;
}

async fn a_guess_of_one_partner_is_no_zone_of_another(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let other = world.active_partner("ayu@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let other_boat = world.adds_boat(&other, "GT. 2").await;
    let create = async |who: &Someone, boat: &str, changes: Value| {
        let draft = world.post(ROUTES, with(route(boat), changes)).by(who).send().await.ok();
        ["timezone", "arrival_timezone"].map(|field| draft[field].as_str().unwrap().to_owned())
    };
    let jakarta = "Asia/Jakarta";
    let far = json!({ "from": "Timur", "to": "Barat", "timezone": "Asia/Jayapura" });
    create(&made, &boat, far).await;
    let same = json!({ "from": "Timur", "to": "Barat", "timezone": null });
    let zones = create(&other, &other_boat, same.clone()).await;
    assert_eq!(zones, [jakarta, jakarta], "the zone of the service");
    let arriving = json!({ "to": "Barat", "timezone": null });
    let zones = create(&other, &other_boat, arriving).await;
    assert_eq!(zones, ["Asia/Makassar", jakarta], "as its own other route");
    let zones = create(&made, &boat, same).await;
    assert_eq!(zones, ["Asia/Jayapura"; 2], "as its own other route");
    let back = json!({ "from": "Barat", "to": "Sanur", "timezone": null });
    let zones = create(&made, &boat, back).await;
    assert_eq!(zones, ["Asia/Jayapura", "Asia/Makassar"]);
}

async fn two_names_of_one_harbour_are_no_route(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let plan = with(route(&boat), json!({ "to": "Pelabuhan Sanur" }));
    let refused = world.post(ROUTES, plan).by(&made).send().await;
    refused.has_field_errors(&[("to", "same")]);
}

async fn a_zone_that_contradicts_a_verified_harbour_is_refused(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let wrong = with(route(&boat), json!({ "from": "sanur harbour", "timezone": "Asia/Jakarta" }));
    let refused = world.post(ROUTES, wrong.clone()).by(&made).send().await;
    refused.has_field_errors(&[("timezone", "contradiction")]);
    let id = world.creates_route(&made, route(&boat)).await;
    let refused = world.put(&format!("{ROUTES}{id}"), wrong).by(&made).send().await;
    refused.has_field_errors(&[("timezone", "contradiction")]);
    assert_eq!(world.count("SELECT COUNT(*) FROM routes").await, 1);
    assert!(find(&world, "status=unverified").await.is_empty());
    // An unknown harbour of arrival does not hide it.
    let both = json!({ "to": "Atlantis", "timezone": "Asia/Jayapura" });
    let refused = world.post(ROUTES, with(route(&boat), both)).by(&made).send().await;
    refused.has_field_errors(&[("timezone", "contradiction")]);
    assert!(find(&world, "status=unverified").await.is_empty());
}

/// Java is one hour behind Bali.
async fn arrivals_are_local_to_their_harbour(world: World) {
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let time = |departs: &str, arrives: &str| json!([{ "departure_time": departs, "arrival_time": arrives }]);
    let there = json!({
        "from": "Banyuwangi", "to": "Gilimanuk", "timezone": null, "times": time("08:00", "09:45"),
    });
    let there = publishes(&world, &made, &boat, there).await;
    let back = json!({
        "from": "Gilimanuk", "to": "Banyuwangi", "timezone": null, "times": time("12:00", "11:45"),
    });
    publishes(&world, &made, &boat, back).await;
    let zones = |record: &Value| {
        ["timezone", "arrival_timezone"].map(|field| record[field].as_str().unwrap().to_owned())
    };
    let search = async |from: &str, to: &str| {
        world.searches(with(search_body(1), json!({ "from": from, "to": to }))).await.remove(0)
    };
    let offer = search("Ketapang", "Gilimanuk").await;
    assert_eq!(zones(&offer), ["Asia/Jakarta", "Asia/Makassar"]);
    assert_eq!(offer["departure_at"], "2026-11-16T01:00:00Z");
    assert_eq!(offer["arrival_at"], "2026-11-16T01:45:00Z");
    assert_eq!(offer["duration_minutes"], 45);
    let west = search("Gilimanuk", "Ketapang").await;
    assert_eq!(zones(&west), ["Asia/Makassar", "Asia/Jakarta"]);
    assert_eq!(west["duration_minutes"], 45);
    assert_eq!(west["arrival_at"], "2026-11-16T04:45:00Z");
    // The same everywhere: route, list of sailings, booking, manifest, letter and ticket.
    let routes = world.get(&format!("{ROUTES}?sort_by=created_at")).by(&made).send().await.ok();
    assert_eq!(zones(&routes[0]), ["Asia/Jakarta", "Asia/Makassar"]);
    let id = offer["route_time_id"].as_str().unwrap().to_owned();
    let pier = format!("/v1/mitra/route-times/{id}");
    let shown = world.get(&pier).by(&made).send().await.ok();
    assert_eq!(zones(&shown), ["Asia/Jakarta", "Asia/Makassar"]);
    let sailing = Sailing { partner: made.clone(), boat: boat.clone(), id };
    let booking = world.paid_booking(&sailing, 1).await;
    assert_eq!(zones(&booking["sailing"]), ["Asia/Jakarta", "Asia/Makassar"]);
    assert_eq!(
        zones(&world.looks_up(&booking).await["sailing"]),
        ["Asia/Jakarta", "Asia/Makassar"]
    );
    let manifest = world.get(&format!("{pier}/manifest")).by(&made).send().await.ok();
    assert_eq!(zones(&manifest["sailing"]), ["Asia/Jakarta", "Asia/Makassar"]);
    let lists = [
        (format!("{pier}/manifest?format=csv"), r#"Z","Asia/Makassar""#),
        ("/v1/mitra/route-times?format=csv".into(), r#""Asia/Jakarta","Asia/Makassar""#),
    ];
    for (list, zones) in lists {
        let (_, _, file) = world.get(&list).by(&made).bytes().await;
        let file = String::from_utf8(file).unwrap();
        let line = file.lines().nth(1).unwrap().replace("+00:00", "Z");
        assert!(line.contains("Asia/Jakarta") && line.contains(zones), "{file}");
    }
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com").join("\n");
    assert!(letters.contains("08:00 WIB") || letters.contains("08.00 WIB"), "{letters}");
    assert!(letters.contains("09:45 WITA") || letters.contains("09.45 WITA"), "{letters}");
    // A move reads its times in the same zones.
    let later = json!({ "departure_time": "09:00", "arrival_time": "11:15", "reason": "Tide" });
    let moved = world.put(&pier, later).by(&made).send().await.ok();
    assert_eq!(moved["departure_at"], "2026-11-16T02:00:00Z");
    assert_eq!(moved["arrival_at"], "2026-11-16T03:15:00Z");
    assert_eq!(world.sailings(&made, &there).await[0]["arrival_at"], "2026-11-16T03:15:00Z");
}

async fn a_harbour_with_routes_stays(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let draft = world.creates_route(&made, with(route(&boat), json!({ "to": "Ujung" }))).await;
    for name in ["Sanur", "Ujung"] {
        let harbour = named_by(&world, &admin, name).await;
        world.delete(&path(&harbour)).by(&admin).send().await.is(409, "in_use");
    }
    let ujung = path(&named_by(&world, &admin, "Ujung").await);
    world.put(&ujung, json!({ "city": "Amlapura" })).by(&admin).send().await.ok();
    world.delete(&format!("{ROUTES}{draft}")).by(&made).send().await.ok();
    world.delete(&ujung).by(&admin).send().await.ok();
    // An archived route has sailings of the past.
    let (_, published) = world.creates_published_route(&made, "GT. 2").await;
    world.delete(&format!("{ROUTES}{published}")).by(&made).send().await.ok();
    let sanur = named(&world, "Sanur").await;
    world.delete(&path(&sanur)).by(&admin).send().await.is(409, "in_use");
}

async fn the_zone_of_a_harbour_with_routes_stays(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    publishes(&world, &made, &boat, json!({ "to": "Ujung" })).await;
    let change = async |name: &str, zone: &str| {
        let body = json!({ "timezone": zone });
        world.put(&path(&named(&world, name).await), body).by(&admin).send().await
    };
    change("Sanur", "Asia/Jakarta").await.is(409, "in_use");
    change("Sanur", "Asia/Makassar").await.ok();
    change("Amed", "Asia/Jakarta").await.ok();
    // That of an unverified one was a guess. What is on sale does not move.
    let before = world.searches(with(search_body(1), json!({ "to": "Ujung" }))).await;
    change("Ujung", "Asia/Jakarta").await.ok();
    assert_eq!(world.searches(with(search_body(1), json!({ "to": "Ujung" }))).await, before);
}

async fn a_draft_in_an_outdated_zone_is_not_published(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    let plan = with(route(&boat), json!({ "from": "Ujung", "to": "Pangkal" }));
    let draft = world.creates_route(&made, plan.clone()).await;
    let verified = json!({ "status": "verified", "timezone": "Asia/Jakarta" });
    let pangkal = path(&named_by(&world, &admin, "Pangkal").await);
    world.put(&pangkal, verified).by(&admin).send().await.ok();
    world.publishes_route(&made, &draft).await.is(409, "invalid_state");
    let saved = world.put(&format!("{ROUTES}{draft}"), plan).by(&made).send().await.ok();
    assert_eq!(saved["arrival_timezone"], "Asia/Jakarta");
    world.publishes_route(&made, &draft).await.ok();
    // A zone that nobody states again gives way to the harbour's; saving repairs the draft.
    let boat = world.adds_boat(&made, "GT. 2").await;
    let mut plan = with(route(&boat), json!({ "from": "Timur", "to": "Barat" }));
    plan["timezone"] = json!("Asia/Jayapura");
    let draft = world.creates_route(&made, plan.clone()).await;
    plan.as_object_mut().unwrap().remove("timezone");
    let save = || world.put(&format!("{ROUTES}{draft}"), plan.clone()).by(&made).send();
    assert_eq!(save().await.ok()["timezone"], "Asia/Jayapura", "it is kept");
    let verified = json!({ "status": "verified", "timezone": "Asia/Makassar" });
    let timur = path(&named_by(&world, &admin, "Timur").await);
    world.put(&timur, verified).by(&admin).send().await.ok();
    world.publishes_route(&made, &draft).await.is(409, "invalid_state");
    assert_eq!(save().await.ok()["timezone"], "Asia/Makassar");
    world.publishes_route(&made, &draft).await.ok();
}

async fn a_renamed_harbour_is_found_by_both_names(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let sanur = named(&world, "Sanur").await;
    assert_eq!(offers(&world, "Sanur Baru", "Nusa Penida").await, 0);
    let call = world.put(&path(&sanur), json!({ "name": "Sanur Baru" })).by(&admin);
    let renamed = call.send().await.ok();
    assert!(renamed["aliases"].as_array().unwrap().contains(&json!("Sanur")));
    assert_eq!(offers(&world, "Sanur Baru", "Nusa Penida").await, 1, "at once");
    assert_eq!(offers(&world, "Sanur", "Nusa Penida").await, 1);
    let places = world.get("/v1/speedboats/locations").send().await.ok();
    assert_eq!(places[0]["name"], "Sanur Baru");
    // A list of aliases is the whole list.
    let only = json!({ "aliases": ["Sanur Indah"] });
    world.put(&path(&sanur), only).by(&admin).send().await.ok();
    assert_eq!(offers(&world, "Sanur", "Nusa Penida").await, 0);
    assert_eq!(offers(&world, "sanur indah", "Nusa Penida").await, 1);
}

async fn a_merge_moves_everything(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let boat = world.adds_boat(&made, "GT. 2").await;
    let there = publishes(&world, &made, &boat, json!({ "from": "Sanurr" })).await;
    let back = json!({
        "from": "Nusa Penida", "to": "SANURR",
        "times": [{ "departure_time": "10:00", "arrival_time": "10:45" }],
    });
    publishes(&world, &made, &boat, back).await;
    let draft = world.creates_route(&made, with(route(&boat), json!({ "from": "Sanurr" }))).await;
    let (typo, sanur) = (named(&world, "Sanurr").await, named(&world, "Sanur").await);
    let alias = json!({ "aliases": ["Sanurrr"] });
    world.put(&path(&typo), alias).by(&admin).send().await.ok();
    assert_eq!(offers(&world, "Sanur", "Nusa Penida").await, 1);
    let before = world.sailings(&made, &there).await;
    let merged = merges(&world, &admin, &typo, &sanur).await.ok();
    assert_eq!((&merged["id"], &merged["name"]), (&sanur["id"], &json!("Sanur")));
    for kept in ["Sanurr", "Sanurrr", "Pelabuhan Sanur"] {
        assert!(merged["aliases"].as_array().unwrap().contains(&json!(kept)), "{kept}");
    }
    for name in ["Sanur", "Sanurr", "sanurrr"] {
        assert_eq!(offers(&world, name, "Nusa Penida").await, 2, "{name}");
        assert_eq!(offers(&world, "Nusa Penida", name).await, 1, "{name}");
    }
    assert_eq!(world.sailings(&made, &there).await, before, "no sailing has moved");
    // Its past goes along, and its drafts are published to the other harbour.
    world.delete(&format!("{ROUTES}{there}")).by(&made).send().await.ok();
    world.publishes_route(&made, &draft).await.ok();
    assert_eq!(offers(&world, "Sanur", "Nusa Penida").await, 2);
    assert!(find(&world, "status=unverified").await.is_empty());
    world.put(&path(&typo), json!({})).by(&admin).send().await.is(404, "not_found");
    let strays = "SELECT COUNT(*) FROM sailings s JOIN routes r ON r.id = s.route_id
        WHERE s.from_harbour_id <> r.from_harbour_id OR s.to_harbour_id <> r.to_harbour_id";
    assert_eq!(world.count(strays).await, 0);
    // A route that names the typo again is one of Sanur.
    let draft = world.creates_route(&made, with(route(&boat), json!({ "from": "Sanurr" }))).await;
    let routes = world.get(&format!("{ROUTES}?page_size=100")).by(&made).send().await.ok();
    let draft = routes.as_array().unwrap().iter().find(|route| route["id"] == json!(draft));
    assert_eq!(draft.unwrap()["from_harbour_id"], sanur["id"]);
    assert_invariants(&world).await;
}

async fn fares_survive_a_new_name_and_a_merge(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let boats = [world.adds_boat(&made, "GT. 1").await, world.adds_boat(&made, "GT. 2").await];
    publishes(&world, &made, &boats[0], json!({})).await;
    let typo = json!({ "from": "Sanurr" });
    publishes(&world, &made, &boats[1], typo.clone()).await;
    let lines = async || {
        let lines = world.get("/v1/mitra/lines").by(&made).send().await.ok();
        lines.as_array().unwrap().clone()
    };
    let line = lines().await.into_iter().find(|line| line["from"] == "Sanur").unwrap();
    let path_of_line = format!("/v1/mitra/lines/{}", line["id"].as_str().unwrap());
    let fares = json!([
        { "category": "adult", "price": { "percent": 90 } },
        { "category": "child", "price": { "percent": 50 } },
    ]);
    let change = json!({ "fares": fares, "cutoff_minutes": 60 });
    world.put(&path_of_line, change).by(&made).send().await.ok();
    let sanur = named(&world, "Sanur").await;
    let renamed = json!({ "name": "Sanur Baru" });
    world.put(&path(&sanur), renamed).by(&admin).send().await.ok();
    world.creates_route(&made, route(&boats[0])).await;
    assert_eq!(lines().await.len(), 2, "a new name makes no other line");
    let other = named(&world, "Sanurr").await;
    merges(&world, &admin, &other, &sanur).await.ok();
    let left = lines().await;
    assert_eq!(left.len(), 1, "the partner's line there takes the routes");
    assert_eq!((&left[0]["id"], &left[0]["from"]), (&line["id"], &json!("Sanur Baru")));
    let strays = "SELECT COUNT(*) FROM sailings WHERE cutoff_minutes IS NULL";
    assert_eq!(world.count(strays).await, 0);
    let found = world.searches(search_body(1)).await;
    assert_eq!(found.len(), 2);
    for offer in &found {
        assert_eq!(offer["fares"][1]["key"], "child");
    }
    // A harbour that is merged with nothing there keeps its lines.
    publishes(
        &world,
        &made,
        &boats[1],
        json!({ "from": "Teluk", "start_date": "2026-11-20", "end_date": "2026-11-20" }),
    )
    .await;
    let teluk = named(&world, "Teluk").await;
    let new =
        creates(&world, &admin, json!({ "name": "Teluk Besar", "timezone": "Asia/Makassar" }));
    merges(&world, &admin, &teluk, &new.await).await.ok();
    assert!(lines().await.iter().any(|line| line["from"] == "Teluk Besar"));
    assert_invariants(&world).await;
}

async fn a_merge_is_refused_where_it_makes_no_sense(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&made, "GT. 1").await;
    publishes(&world, &made, &boat, json!({ "to": "Ujung" })).await;
    let (sanur, ujung) = (named(&world, "Sanur").await, named(&world, "Ujung").await);
    merges(&world, &admin, &sanur, &sanur).await.has_field_errors(&[("into_id", "same")]);
    let nobody = json!({ "id": "01980000-0000-7000-8000-000000000000" });
    merges(&world, &admin, &sanur, &nobody).await.has_field_errors(&[("into_id", "unknown")]);
    merges(&world, &admin, &nobody, &sanur).await.is(404, "not_found");
    merges(&world, &admin, &sanur, &ujung).await.is(409, "connected");
    merges(&world, &admin, &ujung, &sanur).await.is(409, "connected");
    // The zone of a verified harbour with routes is a fact.
    merges(&world, &admin, &sanur, &named(&world, "Merak").await).await.is(409, "in_use");
    assert_eq!(named(&world, "Sanur").await, sanur);
    assert_eq!(offers(&world, "Sanur", "Ujung").await, 1);
    // That of an unverified one is a guess: its sailings keep their times.
    let before = world.searches(with(search_body(1), json!({ "to": "Ujung" }))).await;
    merges(&world, &admin, &ujung, &named(&world, "Merak").await).await.ok();
    assert_eq!(world.searches(with(search_body(1), json!({ "to": "Merak" }))).await, before);
    // Too many names.
    for n in 0..5 {
        let many: Vec<_> = (0..50).map(|m| format!("Alias {n} {m}")).collect();
        let made = with(new(&format!("Harbour {n}")), json!({ "aliases": many }));
        creates(&world, &admin, made).await;
    }
    let into = named(&world, "Harbour 0").await;
    for n in 1..3 {
        merges(&world, &admin, &named(&world, &format!("Harbour {n}")).await, &into).await.ok();
    }
    let full = merges(&world, &admin, &named(&world, "Harbour 3").await, &into).await;
    full.is(409, "too_many_aliases");
    assert_eq!(named(&world, "Harbour 0").await["aliases"].as_array().unwrap().len(), 152);
}

async fn a_merge_beside_sales_and_publications_loses_nothing(world: World) {
    const SPELLINGS: usize = 4;
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let (mut sailings, mut drafts) = (Vec::new(), Vec::new());
    for n in 0..SPELLINGS {
        let boat = world.adds_boat(&made, &format!("GT. {n}")).await;
        let from = json!({ "from": format!("Sanur {n}") });
        let id = publishes(&world, &made, &boat, from.clone()).await;
        let id = world.sailings(&made, &id).await[0]["id"].as_str().unwrap().to_owned();
        let times = json!([{ "departure_time": "14:00", "arrival_time": "15:00" }]);
        let later = with(with(route(&boat), from), json!({ "times": times }));
        drafts.push(world.creates_route(&made, later).await);
        sailings.push(Sailing { partner: made.clone(), boat, id });
    }
    let into = named(&world, "Sanur").await;
    let mut typos = Vec::new();
    for n in 0..SPELLINGS {
        typos.push(named(&world, &format!("Sanur {n}")).await);
    }
    let merging = join_all(typos.iter().map(|typo| merges(&world, &admin, typo, &into)));
    let publishing =
        join_all(drafts.iter().map(|draft| {
            world.get(&format!("{ROUTES}{draft}/publish")).by(&made).send_with_retry()
        }));
    let booking = join_all((0..40).map(|n: usize| {
        world.books(order(&sailings[n % SPELLINGS], 1, &format!("{n}@example.com")))
    }));
    let drafting = join_all((0..SPELLINGS).map(|n| {
        let plan = json!({ "from": format!("SANUR {n}"), "end_date": "2026-11-16" });
        let plan = with(route(&sailings[n].boat), plan);
        world.post(ROUTES, plan).by(&made).send_with_retry()
    }));
    let (merged, published, booked, drafted) = tokio::join!(merging, publishing, booking, drafting);
    for answer in merged.into_iter().chain(published).chain(booked).chain(drafted) {
        answer.ok();
    }
    for name in ["Sanur", "Sanur 0", "Sanur 3"] {
        assert_eq!(offers(&world, name, "Nusa Penida").await, 2 * SPELLINGS, "{name}");
    }
    for sailing in &sailings {
        assert_eq!(world.seats_taken(sailing).await, 10);
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 6 * SPELLINGS as i64);
    // A name that was free for a moment has not become a harbour of its own.
    let routes = world.get(&format!("{ROUTES}?page_size=100")).by(&made).send().await.ok();
    let harbours: Vec<_> =
        routes.as_array().unwrap().iter().map(|route| &route["from_harbour_id"]).collect();
    assert_eq!(harbours, vec![&into["id"]; 3 * SPELLINGS]);
    assert_invariants(&world).await;
}

async fn two_merges_in_opposite_directions(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    for n in 0..5 {
        let ends = [format!("Ujung {n}"), format!("Pangkal {n}")];
        let mut harbours = Vec::new();
        for (boat, end) in ends.iter().enumerate() {
            let boat = world.adds_boat(&made, &format!("GT. {n}-{boat}")).await;
            publishes(&world, &made, &boat, json!({ "from": end })).await;
            harbours.push(named(&world, end).await);
        }
        let (one, other) = tokio::join!(
            merges(&world, &admin, &harbours[0], &harbours[1]),
            merges(&world, &admin, &harbours[1], &harbours[0]),
        );
        let mut answers = [one.status, other.status];
        answers.sort_unstable();
        assert!(matches!(answers, [200, 404] | [200, 422]), "{answers:?}");
        for end in &ends {
            assert_eq!(offers(&world, end, "Nusa Penida").await, 2, "{end}");
        }
    }
    assert_invariants(&world).await;
}

async fn a_booking_moves_between_spellings_of_a_harbour(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    let (boat, route) = world.creates_published_route(&made, "GT. 1").await;
    let id = world.sailings(&made, &route).await[0]["id"].as_str().unwrap().to_owned();
    let sailing = Sailing { partner: made.clone(), boat, id };
    let booking = world.paid_booking(&sailing, 1).await;
    let boat = world.adds_boat(&made, "GT. 2").await;
    let alias = json!({ "from": "Pelabuhan Sanur", "to": "Banjar Nyuh" });
    let alias = publishes(&world, &made, &boat, alias).await;
    let elsewhere = world.adds_boat(&made, "GT. 3").await;
    let elsewhere = publishes(&world, &made, &elsewhere, json!({ "to": "Toyapakeh" })).await;
    let path = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
    let to = async |route: &str| {
        let to = world.sailings(&made, route).await[1]["id"].clone();
        let body = json!({ "route_time_id": to, "reason": "x" });
        world.post(&path, body).by(&admin).send().await
    };
    to(&elsewhere).await.has_field_errors(&[("route_time_id", "other_route")]);
    to(&alias).await.ok();
}

async fn a_merge_invalidates_searches(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    world.creates_published_route(&made, "GT. 1").await;
    let typo = creates(&world, &admin, new("Sanurr")).await;
    assert_eq!(offers(&world, "Sanurr", "Nusa Penida").await, 0);
    let before = world.db().statements();
    assert_eq!(offers(&world, "Sanurr", "Nusa Penida").await, 0);
    assert_eq!(world.db().statements() - before, 0, "it is cached");
    merges(&world, &admin, &typo, &named(&world, "Sanur").await).await.ok();
    assert_eq!(offers(&world, "Sanurr", "Nusa Penida").await, 1);
}

async fn changes_need_the_rule_and_are_recorded(world: World) {
    let clerk = world.staff("putu@dermaga.test", &[Rule::HarboursWrite]).await;
    let other = world.staff("kadek@dermaga.test", &[Rule::RoutesWrite]).await;
    let made = world.active_partner("made@bahari.id").await;
    for who in [&other, &made] {
        world.post(LIST, new("Dermaga Baru")).by(who).send().await.is(403, "forbidden");
    }
    world.post(LIST, new("Dermaga Baru")).send().await.is(401, "unauthenticated");
    let one = creates(&world, &clerk, new("Dermaga Baru")).await;
    let two = creates(&world, &clerk, new("Dermaga Lama")).await;
    let three = creates(&world, &clerk, new("Dermaga Lain")).await;
    world.put(&path(&one), json!({ "city": "Amlapura" })).by(&clerk).send().await.ok();
    merges(&world, &clerk, &one, &two).await.ok();
    world.delete(&path(&three)).by(&clerk).send().await.ok();
    let admin = world.admin().await;
    let log = world.get("/v1/audit-logs?sort_dir=asc&page_size=100").by(&admin).send().await.ok();
    let log: Vec<_> = log
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"].as_str().unwrap().starts_with("harbour."))
        .collect();
    let mut actions: Vec<_> = log.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    actions.sort_unstable();
    assert_eq!(
        actions,
        [
            "harbour.created",
            "harbour.created",
            "harbour.created",
            "harbour.deleted",
            "harbour.merged",
            "harbour.updated",
        ]
    );
    let merge = log.iter().find(|entry| entry["action"] == "harbour.merged").unwrap();
    assert_eq!(
        (&merge["before"]["name"], &merge["before"]["id"]),
        (&json!("Dermaga Baru"), &one["id"])
    );
    assert_eq!(
        (&merge["after"]["aliases"], &merge["after"]["id"]),
        (&json!(["Dermaga Baru"]), &two["id"])
    );
}

async fn a_harbour_without_its_name_is_found_by_the_audit(world: World) {
    assert_invariants(&world).await;
    world.db().sql("DELETE FROM harbour_names WHERE key = 'sanur'").run().await.unwrap();
    let checked = dermaga::invariants::check(world.db()).await.unwrap();
    let broken: Vec<_> = checked.into_iter().filter(|checked| !checked.broken.is_empty()).collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(
        (broken[0].rule, &broken[0].broken[0]),
        ("a harbour is found by its name", &"Sanur".to_owned())
    );
}
