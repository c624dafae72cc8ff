//! Rules of OCTO that the public validator does not ask for.

use chrono::{DateTime, TimeDelta, Utc};
use dermaga::{
    config::Secrets,
    kernel::{
        ids::{self, Uuid},
        secret::Secret,
    },
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    fares::bali,
    octo::contact,
    octo_fields::{
        has_fields, is_availability, is_booking, is_calendar_day, is_pricing, is_product,
        is_supplier,
    },
    on_both_engines,
    resale::{FIRST_DAY, OPTION, Shop, UNKNOWN, sailing_of, wish},
    storms::assert_invariants,
    world::World,
};

on_both_engines![
    errors_come_in_their_order,
    keys_open_only_what_they_are_for,
    a_base_of_one_partner_has_only_its_lines,
    a_partner_that_is_not_granted_does_not_exist,
    a_line_without_consent_is_not_sold,
    a_test_is_not_sold_on_a_live_service,
    refusals_of_the_edge_have_the_shape_of_octo,
    capabilities_are_listed_and_chosen,
    every_field_is_there_with_prices,
    prices_of_units_add_up,
    prices_of_two_decimals_are_times_a_hundred,
    availability_says_what_is_left,
    restrictions_are_kept,
    names_of_all_are_asked_for,
    a_hold_lasts_as_asked,
    a_hold_ends_before_the_sale_does,
    an_expired_hold_is_over,
    a_hold_is_extended_within_limits,
    a_change_extends_a_hold_no_further,
    holds_are_limited,
    a_repeated_uuid_is_one_booking,
    a_uuid_of_other_content_is_refused,
    two_requests_at_once_make_one_booking,
    two_requests_for_the_last_seat_make_one_booking,
    a_hold_changes_as_a_whole_or_not_at_all,
    absent_fields_stay_and_null_clears,
    a_confirmed_booking_changes_little,
    names_stay_once_the_manifest_is_closed,
    confirming_twice_sells_once,
    a_booking_needs_a_contact_to_be_confirmed,
    cancelling_late_needs_force,
    one_hour_is_in_the_singular,
    nobody_cancels_after_boarding,
    cancelling_again_says_the_same,
    another_resellers_booking_does_not_exist,
    a_day_ticket_takes_the_emptiest_sailing,
    bookings_are_listed_by_day_of_travel,
    tickets_open_the_boat_and_redeem_the_booking,
    travellers_get_no_mail_unless_it_is_wanted,
    travellers_are_told_of_changes_only_if_it_is_wanted,
    a_vouchers_address_ends_with_the_booking,
    a_credited_refund_does_not_come_back,
];

fn path(booking: &Value, action: &str) -> String {
    format!("/bookings/{}{action}", booking["uuid"].as_str().unwrap())
}

async fn patched(world: &World, shop: &Shop, booking: &Value, body: Value) -> crate::world::Answer {
    world.octo("PATCH", shop, &path(booking, "")).json(body).send_with_retry().await
}

async fn read(world: &World, shop: &Shop, booking: &Value) -> Value {
    world.octo_get(shop, &path(booking, "")).send().await.bare()
}

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

async fn set_line(world: &World, shop: &Shop, line: &str, change: Value) {
    let path = format!("/v1/mitra/lines/{line}");
    world.put(&path, change).by(&shop.partner).send().await.ok();
}

async fn errors_come_in_their_order(world: World) {
    let shop = world.shop().await;
    let rubbish = "{ not json";
    let post = |path: &str| world.call("POST".parse().unwrap(), &format!("/octo{path}"));
    let send = async |call: crate::world::Call<'_>, body: &'static str| {
        call.header("content-type", "application/json").body(body).send().await
    };
    send(post("/bookings"), rubbish).await.refuses("UNAUTHORIZED");
    send(post("/bookings").with_token("dmk_nobody"), rubbish).await.refuses("FORBIDDEN");
    let keyed = |path: &str| post(path).with_token(&shop.reseller.key);
    send(keyed("/bookings"), rubbish).await.refuses("BAD_REQUEST");
    let unknown = format!("/bookings/{UNKNOWN}/confirm");
    send(keyed(&unknown), rubbish).await.refuses("BAD_REQUEST");
    send(keyed(&unknown), r#"{"contact": 5}"#).await.refuses("BAD_REQUEST");
    let ask = async |change: Value, word: &str| {
        let mut wish = world.wish(&shop, 1).await;
        wish.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        world.reserves(&shop, wish).await.refuses(word)
    };
    world.sells_out(&shop.line, FIRST_DAY).await;
    let (product, option) = (json!({ "productId": "a" }), json!({ "optionId": "b" }));
    let availability = json!({ "availabilityId": "c" });
    let unit = json!({ "unitItems": [{ "unitId": "d" }] });
    let all = |changes: &[&Value]| {
        let mut all = json!({});
        for change in changes {
            all.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        }
        all
    };
    ask(json!({ "productId": 5, "optionId": "b" }), "BAD_REQUEST").await;
    ask(all(&[&product, &option, &availability, &unit]), "INVALID_PRODUCT_ID").await;
    ask(all(&[&option, &availability, &unit]), "INVALID_OPTION_ID").await;
    ask(all(&[&availability, &unit]), "INVALID_AVAILABILITY_ID").await;
    ask(unit, "INVALID_UNIT_ID").await;
    ask(json!({}), "UNPROCESSABLE_ENTITY").await;
    // Dates come after the option and before the units.
    let dates = async |change: Value, word: &str| {
        let mut asked = json!({
            "productId": shop.line, "optionId": OPTION, "localDateStart": "2026-11-20",
            "localDateEnd": "2026-11-19", "units": [{ "id": "d", "quantity": 1 }],
        });
        asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        world.octo_post(&shop, "/availability", asked).send().await.refuses(word)
    };
    dates(option, "INVALID_OPTION_ID").await;
    dates(json!({}), "BAD_REQUEST").await;
    dates(json!({ "localDateEnd": "2026-11-20" }), "INVALID_UNIT_ID").await;
    for (end, word) in [("2027-11-22", "BAD_REQUEST"), ("2026-02-30", "BAD_REQUEST")] {
        dates(json!({ "localDateEnd": end, "units": [] }), word).await;
    }
    dates(json!({ "localDateEnd": "2026-11-21", "currency": "USD" }), "BAD_REQUEST").await;
    let ids: Vec<_> = (0..101).map(|_| UNKNOWN).collect();
    let many = json!({ "productId": shop.line, "optionId": OPTION, "availabilityIds": ids });
    world.octo_post(&shop, "/availability", many).send().await.refuses("BAD_REQUEST");
    let missing = json!({ "optionId": OPTION, "localDate": FIRST_DAY });
    let refusal = world.octo_post(&shop, "/availability", missing).send().await;
    has_fields(&refusal.refuses("INVALID_PRODUCT_ID"), "error errorMessage productId");
}

async fn keys_open_only_what_they_are_for(world: World) {
    let shop = world.shop().await;
    let id = shop.reseller.id;
    let asks = async |key: &str, path: &str| {
        world.get(&format!("/octo{path}")).with_token(key).send().await
    };
    let reads = format!("/bookings/{UNKNOWN}");
    let catalog = world.key_of(id, &["catalog"]).await;
    asks(&catalog, "/products").await.bare();
    asks(&catalog, &reads).await.refuses("FORBIDDEN");
    let reader = world.key_of(id, &["bookings.read"]).await;
    asks(&reader, &reads).await.refuses("INVALID_BOOKING_UUID");
    asks(&reader, "/products").await.refuses("FORBIDDEN");
    let wish = world.wish(&shop, 1).await;
    let call = world.post("/octo/bookings", wish.clone()).with_token(&reader);
    call.send().await.refuses("FORBIDDEN");
    let change = async |key: &str, set: &'static str| {
        let statement = format!("UPDATE reseller_keys SET {set} WHERE prefix = $1").leak();
        world.db().sql(statement).bind(key[..12].to_owned()).run().await.unwrap();
    };
    for set in [
        "revoked_at = '2026-11-15T02:00:00Z'",
        "expires_at = '2026-11-15T02:59:59Z'",
        r#"addresses = '["10.0.0.0/8", "2001:db8::/32"]'"#,
    ] {
        let key = world.key_of(id, &["catalog"]).await;
        asks(&key, "/products").await.bare();
        change(&key, set).await;
        asks(&key, "/products").await.refuses("FORBIDDEN");
    }
    let key = world.key_of(id, &["catalog"]).await;
    change(
        &key,
        r#"addresses = '["127.0.0.0/8"]', expires_at = '2026-11-15T03:00:01Z', revoked_at = NULL"#,
    )
    .await;
    asks(&key, "/products").await.bare();
    // A session is no key, and a key no session.
    asks(&shop.partner.token, "/products").await.refuses("FORBIDDEN");
    assert_eq!(
        world.get("/octo/supplier").send().await.refuses("UNAUTHORIZED")["error"],
        "UNAUTHORIZED"
    );
    world.get("/user/me").with_token(&key).send().await.is(401, "unauthenticated");
    let suspend = world.db().sql("UPDATE resellers SET status = 'suspended' WHERE id = $1");
    suspend.bind(id).run().await.unwrap();
    asks(&key, "/products").await.refuses("FORBIDDEN");
}

async fn a_base_of_one_partner_has_only_its_lines(world: World) {
    let shop = world.shop().await;
    let other = world.active_partner("putu@ombak.id").await;
    let boat = world.adds_boat(&other, "GT. 9").await;
    let line = world.resold_line(&other, &boat, "Gili Air", false).await;
    let base = format!("/partners/{}", world.partner_id(&other).await);
    let products = world.octo_get(&shop, &format!("{base}/products")).send().await.bare();
    let ids: Vec<_> = products.as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!(line)]);
    let supplier = world.octo_get(&shop, &format!("{base}/supplier")).send().await.bare();
    is_supplier(&supplier);
    assert_eq!(supplier["id"], world.partner_id(&other).await);
    assert!(supplier["endpoint"].as_str().unwrap().ends_with(&format!("/octo{base}")));
    let product = format!("{base}/products/{}", shop.line);
    world.octo_get(&shop, &product).send().await.refuses("INVALID_PRODUCT_ID");
    let all = world.octo_get(&shop, "/products").send().await.bare();
    assert_eq!(all.as_array().unwrap().len(), 4);
    world
        .octo_get(&shop, &format!("/partners/{UNKNOWN}/products"))
        .send()
        .await
        .refuses("FORBIDDEN");
    // A booking belongs to the reseller whatever the base.
    let held = world.held(&shop, 1).await;
    let path = format!("{base}{}", path(&held, ""));
    world.octo_get(&shop, &path).send().await.refuses("INVALID_BOOKING_UUID");
}

async fn a_partner_that_is_not_granted_does_not_exist(world: World) {
    let shop = world.shop().await;
    let other = world.active_partner("putu@ombak.id").await;
    let only = world.db().sql("UPDATE reseller_grants SET partner_id = $1 WHERE reseller_id = $2");
    let granted: Uuid = world.partner_id(&other).await.parse().unwrap();
    only.bind(granted).bind(shop.reseller.id).run().await.unwrap();
    let products = world.octo_get(&shop, "/products").send().await.bare();
    assert_eq!(products, json!([]));
    let product = format!("/products/{}", shop.line);
    world.octo_get(&shop, &product).send().await.refuses("INVALID_PRODUCT_ID");
    let asked = json!({ "productId": shop.line, "optionId": OPTION, "localDate": FIRST_DAY });
    world.octo_post(&shop, "/availability", asked).send().await.refuses("INVALID_PRODUCT_ID");
    let base = format!("/partners/{}/supplier", world.partner_id(&shop.partner).await);
    world.octo_get(&shop, &base).send().await.refuses("FORBIDDEN");
}

async fn a_line_without_consent_is_not_sold(world: World) {
    let shop = world.shop().await;
    let wish = world.wish(&shop, 1).await;
    set_line(&world, &shop, &shop.line, json!({ "resale": false })).await;
    world.reserves(&shop, wish).await.refuses("INVALID_PRODUCT_ID");
    set_line(&world, &shop, &shop.other_line, json!({ "day_ticket": false })).await;
    let day = format!("/products/{}", shop.day_ticket());
    world.octo_get(&shop, &day).send().await.refuses("INVALID_PRODUCT_ID");
}

async fn a_test_is_not_sold_on_a_live_service(world: World) {
    let shop = world.shop().await;
    let wish = world.wish(&shop, 1).await;
    let call = world.octo_post(&shop, "/bookings", wish.clone()).header("octo-env", "test");
    call.send().await.refuses("BAD_REQUEST");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0);
    let call = world.octo_post(&shop, "/bookings", wish).header("octo-env", "live");
    let answer = call.send().await;
    assert_eq!(answer.header("octo-env"), "live");
    assert_eq!(answer.bare()["testMode"], false);
}

async fn refusals_of_the_edge_have_the_shape_of_octo(world: World) {
    let shop = world.shop().await;
    let unknown = world.octo_get(&shop, "/nothing").send().await;
    assert_eq!((unknown.status, &unknown.body["error"]), (404, &json!("NOT_FOUND")));
    assert!(!unknown.body["errorMessage"].as_str().unwrap().is_empty());
    world.octo("PUT", &shop, "/products").send().await.refuses("BAD_REQUEST");
    let large = format!(r#"{{"notes": "{}"}}"#, "x".repeat(3_000_000));
    let call = world.octo("POST", &shop, "/bookings").header("content-type", "application/json");
    call.body(large).send().await.refuses("BAD_REQUEST");
    let call = world.octo("POST", &shop, "/bookings").header("content-type", "text/plain");
    call.body("x").send().await.refuses("BAD_REQUEST");
    // A GET may say what a body would be.
    let call = world.octo_get(&shop, "/supplier").header("content-type", "application/json");
    is_supplier(&call.send().await.bare());
}

async fn capabilities_are_listed_and_chosen(world: World) {
    let shop = world.shop().await;
    let listed = world.octo_get(&shop, "/capabilities").send().await.bare();
    assert_eq!(
        listed,
        json!([{
            "id": "octo/pricing", "revision": 1, "required": false, "dependencies": [],
            "docs": null,
        }])
    );
    for (asked, active) in [
        ("", ""),
        ("octo/pricing", "octo/pricing"),
        ("pricing", "octo/pricing"),
        ("octo/content, octo/pricing", "octo/pricing"),
        ("octo/content", ""),
    ] {
        let call = world.octo_get(&shop, "/products").header("octo-capabilities", asked);
        let answer = call.send().await;
        assert_eq!(answer.header("octo-capabilities"), active, "{asked}");
        let pricing = (!active.is_empty()).then_some("pricingFrom");
        is_product(&answer.bare()[0], pricing);
    }
}

async fn priced(world: &World, method: &str, shop: &Shop, path: &str, body: Value) -> Value {
    let call = world.octo(method, shop, path).header("octo-capabilities", "octo/pricing");
    let call = if body.is_null() { call } else { call.json(body) };
    call.send().await.bare()
}

async fn every_field_is_there_with_prices(world: World) {
    let shop = world.shop().await;
    for product in [shop.line.clone(), shop.day_ticket()] {
        let one = priced(&world, "GET", &shop, &format!("/products/{product}"), Value::Null).await;
        is_product(&one, Some("pricingFrom"));
        assert_eq!(one["pricingPer"], "UNIT");
        assert_eq!(
            (&one["defaultCurrency"], &one["availableCurrencies"]),
            (&json!("IDR"), &json!(["IDR"]))
        );
        let mut asked = json!({
            "productId": product, "optionId": OPTION, "localDateStart": FIRST_DAY,
            "localDateEnd": FIRST_DAY,
        });
        for with_units in [false, true] {
            if with_units {
                asked["units"] = json!([{ "id": "adult", "quantity": 2 }]);
            }
            let more = if with_units { "unitPricing pricing" } else { "unitPricing" };
            let found = priced(&world, "POST", &shop, "/availability", asked.clone()).await;
            is_availability(&found[0], more);
            is_pricing(&found[0]["unitPricing"][0], "unitId");
            let more = if with_units { "unitPricingFrom pricingFrom" } else { "unitPricingFrom" };
            let days = priced(&world, "POST", &shop, "/availability/calendar", asked.clone()).await;
            is_calendar_day(&days[0], more);
            is_pricing(&days[0]["unitPricingFrom"][0], "unitId");
        }
        let id = world.availability_id(&shop, &product, FIRST_DAY).await;
        let held = priced(&world, "POST", &shop, "/bookings", wish(&product, &id, 2)).await;
        is_booking(&held, true);
        let body = json!({ "contact": contact() });
        let sold = priced(&world, "POST", &shop, &path(&held, "/confirm"), body).await;
        is_booking(&sold, true);
        let gone = priced(&world, "POST", &shop, &path(&held, "/cancel"), json!({})).await;
        is_booking(&gone, true);
    }
}

async fn with_tax(world: &World) {
    let admin = world.admin().await;
    let tax = json!({
        "name": "PB1", "code": "PB1", "rate": 11.0, "applies_to": "booking", "is_active": true,
    });
    world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
}

fn amounts(pricing: &Value) -> [i64; 3] {
    ["original", "retail", "net"].map(|name| pricing[name].as_i64().unwrap())
}

async fn prices_of_units_add_up(world: World) {
    let shop = world.shop().await;
    with_tax(&world).await;
    set_line(&world, &shop, &shop.line, json!({ "fares": bali() })).await;
    let id = world.availability_id(&shop, &shop.line, FIRST_DAY).await;
    let keys = ["adult_domestic", "adult_foreign", "child", "child", "infant"];
    let mut wish = wish(&shop.line, &id, 0);
    wish["unitItems"] = json!(keys.map(|key| json!({ "unitId": key })));
    let held = priced(&world, "POST", &shop, "/bookings", wish).await;
    is_booking(&held, true);
    let items = held["unitItems"].as_array().unwrap();
    let of = |key: &str| {
        let item = items.iter().find(|item| item["unitId"] == key).unwrap();
        amounts(&item["pricing"])
    };
    // 60 %, 100 % and 75 % of 150,000, taxes of 11 %, and a margin of 5 % before them.
    assert_eq!(of("adult_domestic"), [99_900, 99_900, 94_905]);
    assert_eq!(of("adult_foreign"), [166_500, 166_500, 158_175]);
    assert_eq!(of("child"), [124_875, 124_875, 118_631]);
    assert_eq!(of("infant"), [0, 0, 0]);
    let sum = items.iter().fold([0; 3], |sum, item| {
        let one = amounts(&item["pricing"]);
        [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]
    });
    assert_eq!(sum, amounts(&held["pricing"]));
    // The same before and after the sale, and in the books.
    let units: Vec<_> = [("adult_domestic", 1), ("adult_foreign", 1), ("child", 2), ("infant", 1)]
        .map(|(id, quantity)| json!({ "id": id, "quantity": quantity }))
        .to_vec();
    let asked = json!({
        "productId": shop.line, "optionId": OPTION, "availabilityIds": [id], "units": units,
    });
    let found = priced(&world, "POST", &shop, "/availability", asked).await;
    assert_eq!(amounts(&found[0]["pricing"]), sum);
    world.confirms(&shop, &held).await.bare();
    assert_eq!(world.balance("reseller_receivable").await, sum[2]);
    let taxes = &held["pricing"]["includedTaxes"];
    assert_eq!(taxes.as_array().unwrap().len(), 1);
    assert_eq!(taxes[0]["name"], "PB1");
    assert_eq!(taxes[0]["retail"], 9_900 + 16_500 + 2 * 12_375);
    assert_invariants(&world).await;
}

async fn prices_of_two_decimals_are_times_a_hundred(world: World) {
    let shop = world.shop().await;
    let set = world.db().sql("UPDATE resellers SET currency_precision = 2 WHERE id = $1");
    set.bind(shop.reseller.id).run().await.unwrap();
    let wish = world.wish(&shop, 2).await;
    let held = priced(&world, "POST", &shop, "/bookings", wish).await;
    assert_eq!(held["pricing"]["currencyPrecision"], 2);
    assert_eq!(amounts(&held["pricing"]), [30_000_000, 30_000_000, 28_500_000]);
    world.confirms(&shop, &held).await.bare();
    assert_eq!(world.balance("reseller_receivable").await, 285_000, "the books have rupiah");
}

async fn availability_says_what_is_left(world: World) {
    let shop = world.shop().await;
    let first = async |units: Value| {
        let asked = json!({
            "productId": shop.line, "optionId": OPTION, "localDate": FIRST_DAY, "units": units,
        });
        let found = world.octo_post(&shop, "/availability", asked).send().await.bare();
        found[0].clone()
    };
    let two = json!([{ "id": "adult", "quantity": 2 }]);
    let id: Uuid = first(json!([])).await["id"].as_str().unwrap().parse().unwrap();
    let take = async |seats: i32| {
        let set = world.db().sql("UPDATE sailings SET seats_taken = $1 WHERE id = $2");
        set.bind(seats).bind(id).run().await.unwrap();
    };
    for (taken, status, most) in
        [(15, "AVAILABLE", 9), (16, "LIMITED", 9), (28, "LIMITED", 2), (29, "SOLD_OUT", 1)]
    {
        take(taken).await;
        let found = first(two.clone()).await;
        assert_eq!((&found["status"], &found["maxUnits"]), (&json!(status), &json!(most)));
    }
    assert_eq!(first(json!([])).await["status"], "LIMITED", "one seat is left");
    take(0).await;
    // Fifteen minutes before departure the sale ends.
    assert_eq!(first(json!([])).await["utcCutoffAt"], "2026-11-17T23:45:00Z");
    world.advances_clock(time(&json!("2026-11-17T23:45:00Z")) - world.now());
    assert_eq!(first(two).await["status"], "CLOSED");
    let wish = wish(&shop.line, &id.to_string(), 1);
    world.reserves(&shop, wish).await.refuses("UNPROCESSABLE_ENTITY");
    // Departed ones answer by their id only.
    world.advances_clock(TimeDelta::hours(1));
    let found = world.availability(&shop, &shop.line, FIRST_DAY).await;
    assert_eq!(found.len(), 1);
    let asked = json!({ "productId": shop.line, "optionId": OPTION, "availabilityIds": [id] });
    let found = world.octo_post(&shop, "/availability", asked).send().await.bare();
    assert_eq!(found[0]["status"], "CLOSED");
}

async fn restrictions_are_kept(world: World) {
    let shop = world.shop().await;
    set_line(&world, &shop, &shop.line, json!({ "fares": bali(), "max_party": 3 })).await;
    let id = world.availability_id(&shop, &shop.line, FIRST_DAY).await;
    let ask = async |keys: &[&str]| {
        let mut wish = wish(&shop.line, &id, 0);
        let items: Vec<_> = keys.iter().map(|key| json!({ "unitId": key })).collect();
        wish["unitItems"] = json!(items);
        world.reserves(&shop, wish).await
    };
    ask(&["adult_foreign"; 4]).await.refuses("UNPROCESSABLE_ENTITY");
    ask(&["infant"]).await.refuses("UNPROCESSABLE_ENTITY");
    ask(&["child", "infant"]).await.refuses("UNPROCESSABLE_ENTITY");
    ask(&["adult_domestic", "infant", "infant"]).await.refuses("UNPROCESSABLE_ENTITY");
    let held = ask(&["adult_domestic", "child", "infant"]).await.bare();
    assert_eq!(held["availability"]["vacancies"], 28, "an infant takes no seat");
    assert_eq!(held["option"]["restrictions"]["maxUnits"], 3);
    let units = held["option"]["units"].as_array().unwrap();
    let infant = units.iter().find(|unit| unit["id"] == "infant").unwrap();
    assert_eq!(infant["restrictions"]["accompaniedBy"], json!(["adult_domestic", "adult_foreign"]));
    assert_eq!(infant["type"], "INFANT");
    let mut dollars = world.wish(&shop, 1).await;
    dollars["currency"] = json!("USD");
    world.reserves(&shop, dollars).await.refuses("BAD_REQUEST");
}

async fn names_of_all_are_asked_for(world: World) {
    let shop = world.shop().await;
    set_line(&world, &shop, &shop.line, json!({ "names": "all" })).await;
    let held = world.held(&shop, 2).await;
    let unit = &held["option"]["units"][0];
    assert_eq!(unit["requiredContactFields"], json!(["firstName", "lastName"]));
    world.confirms(&shop, &held).await.refuses("UNPROCESSABLE_ENTITY");
    let named = |item: &Value, first: &str| {
        let contact = json!({ "firstName": first, "lastName": "Dewi" });
        json!({ "uuid": item["uuid"], "unitId": "adult", "contact": contact })
    };
    let items = [named(&held["unitItems"][0], "Sari"), named(&held["unitItems"][1], "Putu")];
    let body = json!({ "contact": contact(), "unitItems": items });
    let sold = world.octo_post(&shop, &path(&held, "/confirm"), body).send().await.bare();
    assert_eq!(sold["unitItems"][1]["contact"]["firstName"], "Putu");
    let manifest = world.manifest(&sailing_of(&shop, &sold)).await;
    let names: Vec<_> =
        manifest["passengers"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, [&json!("Putu Dewi"), &json!("Sari Dewi")]);
    // And are kept.
    let mut items = sold["unitItems"].clone();
    items[0]["contact"] = json!(null);
    let body = json!({ "unitItems": items });
    patched(&world, &shop, &sold, body).await.refuses("UNPROCESSABLE_ENTITY");
    let body = json!({ "contact": { "fullName": "Ketut Rai" }, "notes": "late" });
    patched(&world, &shop, &sold, body).await.bare();
    let still = world.manifest(&sailing_of(&shop, &sold)).await;
    assert_eq!(&still["passengers"][0]["name"], names[0]);
}

async fn a_hold_lasts_as_asked(world: World) {
    let shop = world.shop().await;
    for (minutes, until) in [(1, "2026-11-15T03:01:00Z"), (60, "2026-11-15T04:00:00Z")] {
        let mut wish = world.wish(&shop, 1).await;
        wish["expirationMinutes"] = json!(minutes);
        assert_eq!(world.reserves(&shop, wish).await.bare()["utcExpiresAt"], until);
    }
    for minutes in [json!(0), json!(-1), json!("30"), json!(1.5)] {
        let mut wish = world.wish(&shop, 1).await;
        wish["expirationMinutes"] = minutes.clone();
        let answer = world.reserves(&shop, wish).await;
        assert_eq!(answer.status, 400, "{minutes}");
    }
}

async fn a_hold_ends_before_the_sale_does(world: World) {
    let shop = world.shop().await;
    world.advances_clock(time(&json!("2026-11-17T23:35:00Z")) - world.now());
    let held = world.held(&shop, 1).await;
    assert_eq!(held["utcExpiresAt"], "2026-11-17T23:45:00Z");
    let body = json!({ "expirationMinutes": 60 });
    let longer = world.octo_post(&shop, &path(&held, "/extend"), body).send().await.bare();
    assert_eq!(longer["utcExpiresAt"], "2026-11-17T23:45:00Z");
}

/// Whether or not the job has found it.
async fn an_expired_hold_is_over(world: World) {
    let shop = world.shop().await;
    for with_job in [false, true] {
        let held = world.held(&shop, 1).await;
        world.advances_clock(TimeDelta::minutes(30));
        if with_job {
            dermaga::bookings::expire(&world.app).await.unwrap();
        }
        let over = read(&world, &shop, &held).await;
        is_booking(&over, false);
        assert_eq!((&over["status"], &over["cancellable"]), (&json!("EXPIRED"), &json!(false)));
        assert_eq!(over["cancellation"]["refund"], "NONE");
        assert_eq!(over["cancellation"]["utcCancelledAt"], held["utcExpiresAt"]);
        let refusal = world.confirms(&shop, &held).await.refuses("INVALID_BOOKING_UUID");
        assert_eq!(refusal["uuid"], held["uuid"]);
        let note = json!({ "notes": "x" });
        patched(&world, &shop, &held, note).await.refuses("UNPROCESSABLE_ENTITY");
        let extend = world.octo_post(&shop, &path(&held, "/extend"), json!({}));
        extend.send().await.refuses("UNPROCESSABLE_ENTITY");
        assert_eq!(world.cancels(&shop, &held, json!({})).await.bare()["status"], "EXPIRED");
    }
}

async fn a_change_extends_a_hold_no_further(world: World) {
    let shop = world.shop().await;
    let mut wish = world.wish(&shop, 1).await;
    wish["expirationMinutes"] = json!(60);
    let held = world.reserves(&shop, wish).await.bare();
    let change = async |body: Value| {
        let changed = patched(&world, &shop, &held, body).await.bare();
        changed["utcExpiresAt"].as_str().unwrap().to_owned()
    };
    world.advances_clock(TimeDelta::minutes(50));
    let longer = json!({ "expirationMinutes": 60 });
    assert_eq!(change(longer.clone()).await, "2026-11-15T04:50:00Z");
    world.advances_clock(TimeDelta::minutes(50));
    assert_eq!(change(longer).await, "2026-11-15T05:00:00Z", "two hours after it was made");
    let items = json!({ "expirationMinutes": 60, "unitItems": held["unitItems"] });
    assert_eq!(change(items).await, "2026-11-15T05:00:00Z");
}

async fn a_hold_is_extended_within_limits(world: World) {
    let shop = world.shop().await;
    let mut wish = world.wish(&shop, 1).await;
    wish["expirationMinutes"] = json!(60);
    let held = world.reserves(&shop, wish).await.bare();
    let extend = async |minutes: i64| {
        let body = json!({ "expirationMinutes": minutes });
        let longer = world.octo_post(&shop, &path(&held, "/extend"), body).send().await.bare();
        longer["utcExpiresAt"].as_str().unwrap().to_owned()
    };
    assert_eq!(extend(1).await, "2026-11-15T04:00:00Z", "never shorter");
    world.advances_clock(TimeDelta::minutes(50));
    assert_eq!(extend(60).await, "2026-11-15T04:50:00Z");
    world.advances_clock(TimeDelta::minutes(50));
    assert_eq!(extend(60).await, "2026-11-15T05:00:00Z", "two hours after it was made");
    let default = world.octo_post(&shop, &path(&held, "/extend"), json!({})).send().await.bare();
    assert_eq!(default["utcExpiresAt"], "2026-11-15T05:00:00Z");
    world.confirms(&shop, &held).await.bare();
    let sold = world.octo_post(&shop, &path(&held, "/extend"), json!({}));
    sold.send().await.refuses("UNPROCESSABLE_ENTITY");
}

async fn holds_are_limited(world: World) {
    let shop = world.shop().await;
    let set = world.db().sql("UPDATE resellers SET max_holds = 2 WHERE id = $1");
    set.bind(shop.reseller.id).run().await.unwrap();
    let first = world.held(&shop, 1).await;
    world.held(&shop, 1).await;
    let wish = world.wish(&shop, 1).await;
    world.reserves(&shop, wish.clone()).await.refuses("UNPROCESSABLE_ENTITY");
    world.confirms(&shop, &first).await.bare();
    world.reserves(&shop, wish).await.bare();
    assert_invariants(&world).await;
}

async fn a_repeated_uuid_is_one_booking(world: World) {
    let shop = world.shop().await;
    let mut wish = world.wish(&shop, 2).await;
    let uuid = ids::fresh().to_string();
    wish["uuid"] = json!(uuid.to_uppercase());
    let held = world.reserves(&shop, wish.clone()).await.bare();
    assert_eq!(held["uuid"], uuid, "in lower case");
    assert_eq!(world.reserves(&shop, wish.clone()).await.bare(), held);
    world.confirms(&shop, &held).await.bare();
    let again = world.reserves(&shop, wish.clone()).await.bare();
    assert_eq!(again["status"], "CONFIRMED", "as it is now");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
    // Another reseller has uuids of its own.
    let other = Shop { reseller: world.reseller_with_key("Agen Ubud").await, ..shop };
    assert_eq!(world.reserves(&other, wish).await.bare()["status"], "ON_HOLD");
}

async fn a_uuid_of_other_content_is_refused(world: World) {
    let shop = world.shop().await;
    let mut wish = world.wish(&shop, 2).await;
    wish["uuid"] = json!(ids::fresh().to_string());
    world.reserves(&shop, wish.clone()).await.bare();
    let mut other = wish.clone();
    other["unitItems"] = json!([{ "unitId": "adult" }]);
    let refusal = world.reserves(&shop, other).await.refuses("INVALID_BOOKING_UUID");
    assert_eq!(refusal["uuid"], wish["uuid"]);
    let mut other = wish.clone();
    other["resellerReference"] = json!("AGN-1");
    world.reserves(&shop, other).await.refuses("INVALID_BOOKING_UUID");
    let mut malformed = wish;
    malformed["uuid"] = json!("not-a-uuid");
    world.reserves(&shop, malformed).await.refuses("INVALID_BOOKING_UUID");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
}

async fn two_requests_at_once_make_one_booking(world: World) {
    let shop = world.shop().await;
    for _ in 0..5 {
        let mut wish = world.wish(&shop, 1).await;
        wish["uuid"] = json!(ids::fresh().to_string());
        let before = world.count("SELECT COUNT(*) FROM bookings").await;
        let answers = join_all((0..8).map(|_| world.reserves(&shop, wish.clone()))).await;
        let references: Vec<_> =
            answers.into_iter().map(|answer| answer.bare()["supplierReference"].clone()).collect();
        assert!(references.iter().all(|one| *one == references[0]), "{references:?}");
        assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, before + 1);
    }
    assert_invariants(&world).await;
}

async fn two_requests_for_the_last_seat_make_one_booking(world: World) {
    let shop = world.shop().await;
    for day in ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22"] {
        let id = world.availability_id(&shop, &shop.line, day).await;
        let take = world.db().sql("UPDATE sailings SET seats_taken = 29 WHERE id = $1");
        take.bind(id.parse::<Uuid>().unwrap()).run().await.unwrap();
        let mut wish = wish(&shop.line, &id, 1);
        wish["uuid"] = json!(ids::fresh().to_string());
        let answers = join_all((0..8).map(|_| world.reserves(&shop, wish.clone()))).await;
        for answer in answers {
            assert_eq!(answer.bare()["uuid"], wish["uuid"]);
        }
        wish["uuid"] = json!(ids::fresh().to_string());
        world.reserves(&shop, wish).await.refuses("UNPROCESSABLE_ENTITY");
    }
}

async fn a_hold_changes_as_a_whole_or_not_at_all(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let full = world.availability_id(&shop, &shop.line, "2026-11-19").await;
    world.sells_out(&shop.line, "2026-11-19").await;
    let body = json!({ "availabilityId": full, "notes": "changed" });
    patched(&world, &shop, &held, body).await.refuses("UNPROCESSABLE_ENTITY");
    let now = read(&world, &shop, &held).await;
    assert_eq!((&now["availabilityId"], &now["notes"]), (&held["availabilityId"], &held["notes"]));
    assert_eq!(now["availability"]["vacancies"], 28);
    let items = json!([{ "unitId": "nobody" }]);
    let body = json!({ "unitItems": items });
    patched(&world, &shop, &held, body).await.refuses("INVALID_UNIT_ID");
    let body = json!({ "unitItems": [] });
    patched(&world, &shop, &held, body).await.refuses("UNPROCESSABLE_ENTITY");
    // To a day ticket of another line, and back.
    let day = world.availability_id(&shop, &shop.day_ticket(), FIRST_DAY).await;
    let body = json!({ "productId": shop.day_ticket(), "availabilityId": day });
    let moved = patched(&world, &shop, &held, body).await.bare();
    assert_eq!(
        (&moved["productId"], &moved["availabilityId"]),
        (&json!(shop.day_ticket()), &json!(day))
    );
    let items = |booking: &Value| -> Vec<Value> {
        booking["unitItems"].as_array().unwrap().iter().map(|item| item["uuid"].clone()).collect()
    };
    assert_eq!(items(&moved), items(&held), "its passengers are the same");
    let body = json!({ "productId": shop.line, "availabilityId": held["availabilityId"] });
    patched(&world, &shop, &held, body).await.bare();
    world.confirms(&shop, &held).await.bare();
    let free = world.db().sql("UPDATE sailings SET seats_taken = 0 WHERE seats_taken = capacity");
    free.run().await.unwrap();
    assert_invariants(&world).await;
}

async fn absent_fields_stay_and_null_clears(world: World) {
    let shop = world.shop().await;
    let mut wish = world.wish(&shop, 1).await;
    wish["contact"] = contact();
    wish["notes"] = json!("by the window");
    wish["resellerReference"] = json!("AGN-1");
    let held = world.reserves(&shop, wish).await.bare();
    let same = patched(&world, &shop, &held, json!({})).await.bare();
    for name in ["contact", "notes", "resellerReference", "unitItems"] {
        assert_eq!(same[name], held[name], "{name}");
    }
    let body = json!({ "notes": null, "resellerReference": null });
    let cleared = patched(&world, &shop, &held, body).await.bare();
    assert_eq!((&cleared["notes"], &cleared["resellerReference"]), (&json!(null), &json!(null)));
    assert_eq!(cleared["contact"], contact());
}

async fn a_confirmed_booking_changes_little(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let body = json!({ "notes": "late", "resellerReference": "AGN-9", "contact": contact() });
    let changed = patched(&world, &shop, &sold, body).await.bare();
    assert_eq!((&changed["status"], &changed["notes"]), (&json!("CONFIRMED"), &json!("late")));
    assert_eq!((&changed["resellerReference"], &changed["contact"]), (&json!("AGN-9"), &contact()));
    // Items are matched by their uuid first, whatever their order.
    let named = |name: &str| json!({ "unitId": "adult", "contact": { "fullName": name } });
    let mut items = [named("Putu"), named("Sari")];
    items[1]["uuid"] = sold["unitItems"][0]["uuid"].clone();
    let changed = patched(&world, &shop, &sold, json!({ "unitItems": items })).await.bare();
    for (index, name) in [(0_usize, "Sari"), (1, "Putu")] {
        let item = &changed["unitItems"][index];
        assert_eq!(item["uuid"], sold["unitItems"][index]["uuid"]);
        assert_eq!(item["contact"]["fullName"], name);
    }
    let other = world.availability_id(&shop, &shop.other_line, FIRST_DAY).await;
    for body in [
        json!({ "productId": shop.other_line, "availabilityId": other }),
        json!({ "unitItems": [{ "unitId": "adult" }] }),
        json!({ "unitItems": vec![json!({ "unitId": "adult" }); 3] }),
    ] {
        patched(&world, &shop, &sold, body).await.refuses("UNPROCESSABLE_ENTITY");
    }
    let next = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let moved = patched(&world, &shop, &sold, json!({ "availabilityId": next })).await.bare();
    assert_eq!((&moved["status"], &moved["availabilityId"]), (&json!("CONFIRMED"), &json!(next)));
    let codes = |booking: &Value| booking["unitItems"][0]["ticket"]["deliveryOptions"].clone();
    assert_ne!(codes(&moved), codes(&sold), "its tickets are new");
    assert_invariants(&world).await;
}

async fn names_stay_once_the_manifest_is_closed(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let sailing = sailing_of(&shop, &sold);
    world.closes_manifest(&sailing).await.ok();
    let mut items = sold["unitItems"].clone();
    items[0]["contact"] = json!({ "fullName": "Ketut Rai" });
    for body in [
        json!({ "contact": { "fullName": "Ketut Rai" } }),
        json!({ "contact": null }),
        json!({ "unitItems": items }),
    ] {
        patched(&world, &shop, &sold, body).await.refuses("UNPROCESSABLE_ENTITY");
    }
    let manifest = world.manifest(&sailing).await;
    assert_eq!(manifest["passengers"][0]["name"], "Sari Dewi");
    // The manifest shows no references; and what was sent before may be sent again.
    let mut items = sold["unitItems"].clone();
    items[0]["resellerReference"] = json!("AGN-7");
    let body = json!({ "notes": "late", "contact": sold["contact"], "unitItems": items });
    let changed = patched(&world, &shop, &sold, body).await.bare();
    assert_eq!(changed["notes"], "late");
    assert_eq!(changed["unitItems"][0]["resellerReference"], "AGN-7");
}

async fn confirming_twice_sells_once(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let sold = world.confirms(&shop, &held).await.bare();
    world.advances_clock(TimeDelta::minutes(5));
    let again = world.confirms(&shop, &held).await.bare();
    assert_eq!(again, sold);
    let at_once = world.held(&shop, 1).await;
    let answers = join_all((0..6).map(|_| world.confirms(&shop, &at_once))).await;
    assert!(answers.into_iter().all(|answer| answer.bare()["status"] == "CONFIRMED"));
    assert_eq!(world.balance("reseller_receivable").await, 3 * 142_500);
    assert_eq!(world.count("SELECT COUNT(*) FROM payments").await, 2);
    assert_invariants(&world).await;
}

async fn a_booking_needs_a_contact_to_be_confirmed(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 1).await;
    for body in [json!({}), json!({ "contact": null })] {
        let answer = world.octo_post(&shop, &path(&held, "/confirm"), body).send().await;
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    // Any of its fields is enough.
    let body = json!({ "contact": { "notes": "arrives by taxi" } });
    let sold = world.octo_post(&shop, &path(&held, "/confirm"), body).send().await.bare();
    is_booking(&sold, false);
    assert_eq!(sold["contact"]["notes"], "arrives by taxi");
}

async fn cancelling_late_needs_force(world: World) {
    let shop = world.shop().await;
    let (half, none) = (world.confirmed(&shop, 2).await, world.confirmed(&shop, 1).await);
    assert_eq!(half["cancellable"], true);
    assert_eq!(
        (&half["option"]["cancellationCutoff"], &half["option"]["cancellationCutoffAmount"]),
        (&json!("24 hours"), &json!(24))
    );
    // Twelve hours before departure half is given back, three hours before nothing.
    for (booking, hours, refund) in [(&half, 12, "PARTIAL"), (&none, 3, "NONE")] {
        let departure = time(&json!("2026-11-18T00:00:00Z"));
        world.advances_clock(departure - TimeDelta::hours(hours) - world.now());
        assert_eq!(read(&world, &shop, booking).await["cancellable"], false);
        let late = world.cancels(&shop, booking, json!({ "reason": "ill" })).await;
        late.refuses("UNPROCESSABLE_ENTITY");
        let body = json!({ "reason": "ill", "force": true });
        let gone = world.cancels(&shop, booking, body).await.bare();
        assert_eq!(
            (&gone["status"], &gone["cancellation"]["refund"]),
            (&json!("CANCELLED"), &json!(refund))
        );
    }
    assert_eq!(world.balance("reseller_receivable").await, 142_500 + 142_500);
    assert_invariants(&world).await;
}

async fn one_hour_is_in_the_singular(world: World) {
    let (shop, admin) = (world.shop().await, world.admin().await);
    let policy = json!([{ "hours_before": 1, "percent": 100 }]);
    let grants = json!([{ "mitra_id": null, "margin_rate": 5, "refund_policy": policy }]);
    let path = format!("/v1/resellers/{}/partners", shop.reseller.id);
    world.put(&path, json!({ "grants": grants })).by(&admin).send().await.ok();
    let product = world.octo_get(&shop, &format!("/products/{}", shop.line)).send().await.bare();
    let option = &product["options"][0];
    assert_eq!(
        [
            &option["cancellationCutoff"],
            &option["cancellationCutoffAmount"],
            &option["cancellationCutoffUnit"],
        ],
        [&json!("1 hour"), &json!(1), &json!("hour")]
    );
}

async fn nobody_cancels_after_boarding(world: World) {
    let shop = world.shop().await;
    let (boarded, listed) = (world.confirmed(&shop, 1).await, world.confirmed(&shop, 1).await);
    world.advances_clock(time(&json!("2026-11-17T22:00:00Z")) - world.now());
    let partner = world.signs_in(&shop.partner.email, "mitra").await;
    let shop = Shop { partner, ..shop };
    let sailing = sailing_of(&shop, &boarded);
    let code = boarded["unitItems"][0]["ticket"]["deliveryOptions"][0]["deliveryValue"].clone();
    world.scans_ticket(&sailing, code.as_str().unwrap()).await.ok();
    let force = json!({ "force": true });
    world.cancels(&shop, &boarded, force.clone()).await.refuses("UNPROCESSABLE_ENTITY");
    world.closes_manifest(&sailing).await.ok();
    world.cancels(&shop, &listed, force).await.refuses("UNPROCESSABLE_ENTITY");
}

async fn cancelling_again_says_the_same(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 1).await;
    let gone = world.cancels(&shop, &sold, json!({ "reason": "ill" })).await.bare();
    world.advances_clock(TimeDelta::minutes(5));
    assert_eq!(world.cancels(&shop, &sold, json!({ "reason": "other" })).await.bare(), gone);
    let deleted = world.octo("DELETE", &shop, &path(&sold, "")).send().await.bare();
    assert_eq!(deleted, gone);
    patched(&world, &shop, &sold, json!({ "notes": "x" })).await.refuses("UNPROCESSABLE_ENTITY");
    // DELETE cancels too.
    let held = world.held(&shop, 1).await;
    let call = world.octo("DELETE", &shop, &path(&held, "")).json(json!({ "reason": "wrong day" }));
    let gone = call.send().await.bare();
    assert_eq!(
        (&gone["status"], &gone["cancellation"]["reason"]),
        (&json!("CANCELLED"), &json!("wrong day"))
    );
    assert_eq!(world.balance("reseller_receivable").await, 0);
    assert_invariants(&world).await;
}

async fn another_resellers_booking_does_not_exist(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 1).await;
    let other = Shop { reseller: world.reseller_with_key("Agen Ubud").await, ..shop };
    let unknown = |answer: crate::world::Answer| answer.refuses("INVALID_BOOKING_UUID");
    unknown(world.octo_get(&other, &path(&sold, "")).send().await);
    unknown(world.confirms(&other, &sold).await);
    unknown(world.cancels(&other, &sold, json!({})).await);
    unknown(patched(&world, &other, &sold, json!({ "notes": "x" })).await);
    let query =
        format!("/bookings?supplierReference={}", sold["supplierReference"].as_str().unwrap());
    assert_eq!(world.octo_get(&other, &query).send().await.bare(), json!([]));
    // The traveller is no guest of ours either.
    let code = sold["supplierReference"].as_str().unwrap();
    let path = format!("/v1/booking/?code={code}&email=john.doe@mail.com");
    assert_eq!(world.get(&path).send().await.ok(), json!([]));
}

async fn a_day_ticket_takes_the_emptiest_sailing(world: World) {
    let shop = world.shop().await;
    let product = shop.day_ticket();
    let id = world.availability_id(&shop, &product, FIRST_DAY).await;
    let mut free = Vec::new();
    for _ in 0..3 {
        world.reserves(&shop, wish(&product, &id, 1)).await.bare();
        let sailings = world.availability(&shop, &shop.other_line, FIRST_DAY).await;
        free.push([0, 1].map(|n: usize| sailings[n]["vacancies"].as_i64().unwrap()));
    }
    assert_eq!(free, [[29, 30], [29, 29], [28, 29]], "the earliest on a tie");
    let day = world.availability(&shop, &product, FIRST_DAY).await;
    assert_eq!(day[0]["vacancies"], 29, "the most on one sailing");
    let asked = json!({
        "productId": product, "optionId": OPTION, "localDate": FIRST_DAY,
        "units": [{ "id": "adult", "quantity": 9 }],
    });
    let found = world.octo_post(&shop, "/availability", asked).send().await.bare();
    assert_eq!(found[0]["available"], true);
    for bad in ["2026-11-18", "2026-11-18T01:00:00+08:00", "2026-11-18T00:00:00+07:00"] {
        let refusal = world.reserves(&shop, wish(&product, bad, 1)).await;
        assert_eq!(refusal.refuses("INVALID_AVAILABILITY_ID")["availabilityId"], bad);
    }
    assert_invariants(&world).await;
}

async fn bookings_are_listed_by_day_of_travel(world: World) {
    let shop = world.shop().await;
    let first = world.held(&shop, 1).await;
    world.advances_clock(TimeDelta::seconds(1));
    let second = world.held(&shop, 1).await;
    world.advances_clock(TimeDelta::seconds(1));
    let id = world.availability_id(&shop, &shop.other_line, "2026-11-20").await;
    let third = world.reserves(&shop, wish(&shop.other_line, &id, 1)).await.bare();
    let list = async |query: &str| {
        let found = world.octo_get(&shop, &format!("/bookings?{query}")).send().await.bare();
        let found = found.as_array().unwrap().iter();
        found.map(|one| one["uuid"].clone()).collect::<Vec<_>>()
    };
    let newest = [third["uuid"].clone(), second["uuid"].clone(), first["uuid"].clone()];
    assert_eq!(list("localDate=2026-11-18").await, newest[1..]);
    assert_eq!(list("localDateStart=2026-11-18&localDateEnd=2026-11-20").await, newest);
    let query =
        format!("localDateStart=2026-11-18&localDateEnd=2026-11-20&productId={}", shop.line);
    assert_eq!(list(&query).await, newest[1..]);
    for bad in [
        "localDateStart=2026-11-18",
        "localDateStart=2026-11-18&localDateEnd=2026-12-20",
        "localDateStart=2026-11-18&localDateEnd=2026-11-17",
        "localDate=18.11.2026",
        "productId=x",
    ] {
        let answer = world.octo_get(&shop, &format!("/bookings?{bad}")).send().await;
        answer.refuses("BAD_REQUEST");
    }
}

async fn tickets_open_the_boat_and_redeem_the_booking(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    world.advances_clock(time(&json!("2026-11-17T22:00:00Z")) - world.now());
    let partner = world.signs_in(&shop.partner.email, "mitra").await;
    let shop = Shop { partner, ..shop };
    let sailing = sailing_of(&shop, &sold);
    for (index, status) in [(0_usize, "CONFIRMED"), (1, "REDEEMED")] {
        let ticket = &sold["unitItems"][index]["ticket"]["deliveryOptions"][0];
        world.scans_ticket(&sailing, ticket["deliveryValue"].as_str().unwrap()).await.ok();
        let now = read(&world, &shop, &sold).await;
        is_booking(&now, false);
        assert_eq!(now["status"], status);
        assert_eq!(now["unitItems"][index]["status"], "REDEEMED");
        assert_eq!(now["unitItems"][index]["utcRedeemedAt"], "2026-11-17T22:00:00Z");
        assert_eq!(now["utcRedeemedAt"].is_string(), status == "REDEEMED");
    }
    world.advances_clock(TimeDelta::hours(4));
    dermaga::bookings::complete(&world.app).await.unwrap();
    assert_eq!(read(&world, &shop, &sold).await["status"], "REDEEMED");
    assert_invariants(&world).await;
}

async fn travellers_get_no_mail_unless_it_is_wanted(world: World) {
    let shop = world.shop().await;
    for (email, wants) in [("no@mail.test", false), ("yes@mail.test", true)] {
        let held = world.held(&shop, 1).await;
        let mut traveller = contact();
        traveller["emailAddress"] = json!(email);
        let body = json!({ "contact": traveller, "emailReceipt": wants });
        world.octo_post(&shop, &path(&held, "/confirm"), body).send().await.bare();
        world.delivers_outbox().await;
        assert_eq!(!world.letters_to(email).is_empty(), wants, "{email}");
    }
    world.held(&shop, 1).await;
    let before = world.letters_to("@").len();
    world.advances_clock(TimeDelta::hours(1));
    dermaga::bookings::expire(&world.app).await.unwrap();
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("@").len(), before, "no letter of expiry");
    // A sailing that is cancelled is told to the traveller and to the reseller.
    let partner = world.signs_in(&shop.partner.email, "mitra").await;
    let id = world.availability_id(&shop, &shop.line, FIRST_DAY).await;
    let sailing = crate::harbour::Sailing { partner: partner.clone(), boat: shop.boat.clone(), id };
    world.cancels_sailing(&sailing, &partner).await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("no@mail.test").len(), 1);
    assert!(!world.letters_to("agen.kuta@agen.test").is_empty());
}

async fn travellers_are_told_of_changes_only_if_it_is_wanted(world: World) {
    let shop = world.shop().await;
    let emails = ["no@mail.test", "yes@mail.test"];
    let told = async || {
        world.delivers_outbox().await;
        emails.map(|email| world.letters_to(email).len())
    };
    let next = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let mut sold = Vec::new();
    for (email, wants) in emails.into_iter().zip([false, true]) {
        let held = world.held(&shop, 1).await;
        let traveller = json!({ "fullName": "Sari Dewi", "emailAddress": email });
        let body = json!({ "contact": traveller, "emailReceipt": wants });
        let call = world.octo_post(&shop, &path(&held, "/confirm"), body);
        sold.push(call.send().await.bare());
    }
    assert_eq!(told().await, [0, 1]);
    for booking in &sold {
        patched(&world, &shop, booking, json!({ "availabilityId": next })).await.bare();
    }
    assert_eq!(told().await, [0, 2]);
    let mut other = crate::harbour::boat("GT. 3");
    other["name"] = json!("Ombak Biru");
    let other = world.post("/v1/speedboats", other).by(&shop.partner).send().await.ok();
    let (partner, boat) = (shop.partner.clone(), shop.boat.clone());
    let sailing = crate::harbour::Sailing { partner, boat, id: next };
    world.updates_sailing(&sailing, json!({ "speedboat_id": other["id"] })).await.ok();
    assert_eq!(told().await, [0, 3]);
    assert!(!world.letters_to("agen.kuta@agen.test").is_empty(), "the reseller knows");
}

async fn a_vouchers_address_ends_with_the_booking(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let url = sold["voucher"]["deliveryOptions"][0]["deliveryValue"].as_str().unwrap();
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = &path[path.find('/').unwrap()..];
    let (status, headers, body) = world.get(path).bytes().await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "application/pdf"));
    assert!(body.starts_with(b"%PDF"));
    let forged = path.replacen("signature=", "signature=0", 1);
    assert_ne!(forged, path);
    assert_ne!(world.get(&forged).bytes().await.0, 200);
    // It survives a new secret key.
    let world = world
        .restarts_with(|config| {
            let new = Secret::new("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=");
            let old = config.secret_key.replace(new).unwrap();
            config.old_secret_keys = Secrets(vec![old]);
        })
        .await;
    assert_eq!(world.get(path).bytes().await.0, 200);
    world.cancels(&shop, &sold, json!({})).await.bare();
    assert_eq!(world.get(path).bytes().await.0, 410);
}

async fn a_credited_refund_does_not_come_back(world: World) {
    let (shop, admin) = (world.shop().await, world.admin_with_email("uang@dermaga.test").await);
    let sold = world.confirmed(&shop, 1).await;
    world.cancels(&shop, &sold, json!({})).await.bare();
    let refunds = world.get("/v1/refunds").by(&admin).send().await.ok();
    let path = format!("/v1/refunds/{}/return", refunds[0]["id"].as_str().unwrap());
    let returned = world.post(&path, json!({ "reason": "closed account" })).by(&admin);
    returned.send().await.is(409, "on_account");
}
