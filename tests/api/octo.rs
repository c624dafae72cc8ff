//! The scenarios of the public validator of OCTO, each as a test.

use serde_json::{Value, json};

use crate::{
    octo_fields::{is_availability, is_booking, is_calendar_day, is_product, is_supplier},
    on_both_engines,
    resale::{FIRST_DAY, LAST_DAY, OPTION, Shop, UNKNOWN, wish},
    world::World,
};

on_both_engines![
    supplier_is_complete,
    products_list_is_complete_with_both_types,
    products_by_id,
    products_unknown_id,
    calendar_thirty_days_of_start_times,
    calendar_thirty_days_of_opening_hours,
    calendar_unknown_product,
    calendar_unknown_option,
    calendar_without_start_is_bad,
    availability_thirty_days_of_start_times,
    availability_thirty_days_of_opening_hours,
    availability_its_date_of_start_times,
    availability_its_date_of_opening_hours,
    availability_its_id_of_start_times,
    availability_its_id_of_opening_hours,
    availability_open_and_sold_out_of_start_times,
    availability_open_and_sold_out_of_opening_hours,
    availability_unknown_product,
    availability_unknown_option,
    availability_dates_and_ids_is_bad,
    reserve_open,
    reserve_sold_out_unprocessable,
    reserve_unknown_product,
    reserve_unknown_option,
    reserve_unknown_availability,
    reserve_no_unit_items_unprocessable,
    reserve_empty_unit_items_unprocessable,
    reserve_unknown_unit,
    extend_by_31_minutes_is_later,
    extend_unknown_uuid,
    confirm_contact_and_reference_echoed,
    confirm_two_items_to_three,
    confirm_unknown_uuid,
    confirm_unknown_unit,
    update_other_sailing,
    update_two_items_to_three,
    update_contact_and_notes_echoed,
    update_other_product,
    cancel_hold,
    cancel_confirmed,
    cancel_unknown_uuid,
    get_hold,
    get_confirmed,
    get_unknown_uuid,
    list_by_supplier_reference,
    list_by_reseller_reference,
    list_no_filter_is_bad,
];

/// The contact that the validator sends.
pub fn contact() -> Value {
    json!({
        "fullName": "John Doe", "firstName": "John", "lastName": "Doe",
        "emailAddress": "john.doe@mail.com", "phoneNumber": "+00000000", "locales": ["en"],
        "postalCode": "00000", "country": "GB", "notes": "test notes",
    })
}

fn path(booking: &Value, action: &str) -> String {
    format!("/bookings/{}{action}", booking["uuid"].as_str().unwrap())
}

fn range(product: &str) -> Value {
    json!({
        "productId": product, "optionId": OPTION, "localDateStart": "2026-11-15",
        "localDateEnd": LAST_DAY,
    })
}

async fn supplier_is_complete(world: World) {
    let shop = world.shop().await;
    let supplier = world.octo_get(&shop, "/supplier").send().await.bare();
    is_supplier(&supplier);
    let endpoint = supplier["endpoint"].as_str().unwrap();
    assert!(endpoint.ends_with("/octo"), "{endpoint}");
    assert_eq!(supplier["id"], "dermaga");
}

async fn products_list_is_complete_with_both_types(world: World) {
    let shop = world.shop().await;
    let products = world.octo_get(&shop, "/products").send().await.bare();
    let products = products.as_array().unwrap();
    for product in products {
        is_product(product, None);
    }
    let mut ids: Vec<_> = products.iter().map(|one| one["id"].as_str().unwrap()).collect();
    let day_ticket = shop.day_ticket();
    let mut expected = vec![shop.line.as_str(), shop.other_line.as_str(), day_ticket.as_str()];
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected);
}

async fn products_by_id(world: World) {
    let shop = world.shop().await;
    for id in [shop.line.clone(), shop.day_ticket()] {
        let product = world.octo_get(&shop, &format!("/products/{id}")).send().await.bare();
        is_product(&product, None);
        assert_eq!(product["id"], id);
    }
}

async fn products_unknown_id(world: World) {
    let shop = world.shop().await;
    for id in [UNKNOWN, "invalidProductId"] {
        let answer = world.octo_get(&shop, &format!("/products/{id}")).send().await;
        assert_eq!(answer.refuses("INVALID_PRODUCT_ID")["productId"], id);
    }
}

async fn calendar_of(world: &World, shop: &Shop, product: &str) -> Vec<Value> {
    let asked = range(product);
    let days = world.octo_post(shop, "/availability/calendar", asked).send().await.bare();
    let days = days.as_array().unwrap().clone();
    assert_eq!(days.len(), 27, "every day that has sailings");
    assert_eq!(
        (&days[0]["localDate"], &days[26]["localDate"]),
        (&json!(FIRST_DAY), &json!(LAST_DAY))
    );
    for day in &days {
        is_calendar_day(day, "");
        assert_eq!(day["status"], "AVAILABLE");
        assert_eq!((&day["vacancies"], &day["capacity"]), (&json!(30), &json!(60)));
    }
    days
}

async fn calendar_thirty_days_of_start_times(world: World) {
    let shop = world.shop().await;
    let days = calendar_of(&world, &shop, &shop.line).await;
    assert_eq!(days[0]["openingHours"], json!([]));
}

async fn calendar_thirty_days_of_opening_hours(world: World) {
    let shop = world.shop().await;
    let days = calendar_of(&world, &shop, &shop.day_ticket()).await;
    assert_eq!(days[0]["openingHours"], json!([{ "from": "08:00", "to": "14:00" }]));
}

/// Refused alike by availability and its calendar.
async fn refuses(world: World, path: &str, change: Value, word: &str) -> Value {
    let shop = world.shop().await;
    let mut asked = range(&shop.line);
    for (name, value) in change.as_object().unwrap() {
        match value.is_null() {
            true => drop(asked.as_object_mut().unwrap().remove(name)),
            false => asked[name] = value.clone(),
        }
    }
    world.octo_post(&shop, path, asked).send().await.refuses(word)
}

async fn calendar_unknown_product(world: World) {
    let change = json!({ "productId": UNKNOWN });
    let refusal = refuses(world, "/availability/calendar", change, "INVALID_PRODUCT_ID").await;
    assert_eq!(refusal["productId"], UNKNOWN);
}

async fn calendar_unknown_option(world: World) {
    let change = json!({ "optionId": "invalidOptionId" });
    let refusal = refuses(world, "/availability/calendar", change, "INVALID_OPTION_ID").await;
    assert_eq!(refusal["optionId"], "invalidOptionId");
}

async fn calendar_without_start_is_bad(world: World) {
    let change = json!({ "localDateStart": null });
    refuses(world, "/availability/calendar", change, "BAD_REQUEST").await;
}

async fn availability_of(world: &World, shop: &Shop, product: &str, asked: Value) -> Vec<Value> {
    let mut body = json!({ "productId": product, "optionId": OPTION });
    body.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
    let found = world.octo_post(shop, "/availability", body).send().await.bare();
    let found = found.as_array().unwrap().clone();
    for one in &found {
        is_availability(one, "");
    }
    let starts: Vec<_> =
        found.iter().map(|one| one["localDateTimeStart"].as_str().unwrap()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    found
}

async fn availability_thirty_days_of_start_times(world: World) {
    let shop = world.shop().await;
    let days = json!({ "localDateStart": "2026-11-15", "localDateEnd": LAST_DAY });
    let found = availability_of(&world, &shop, &shop.line, days).await;
    assert_eq!(found.len(), 54);
    let first = &found[0];
    assert_eq!(first["localDateTimeStart"], "2026-11-18T08:00:00+08:00");
    assert_eq!(first["localDateTimeEnd"], "2026-11-18T08:45:00+08:00");
    assert_eq!((&first["status"], &first["maxUnits"]), (&json!("AVAILABLE"), &json!(9)));
}

async fn availability_thirty_days_of_opening_hours(world: World) {
    let shop = world.shop().await;
    let days = json!({ "localDateStart": "2026-11-15", "localDateEnd": LAST_DAY });
    let found = availability_of(&world, &shop, &shop.day_ticket(), days).await;
    assert_eq!(found.len(), 27);
    let first = &found[0];
    assert_eq!(first["id"], "2026-11-18T00:00:00+08:00");
    assert_eq!(first["localDateTimeStart"], first["id"]);
    assert_eq!(first["localDateTimeEnd"], "2026-11-19T00:00:00+08:00");
    assert_eq!((&first["vacancies"], &first["capacity"]), (&json!(30), &json!(30)));
    assert_eq!(first["openingHours"], json!([{ "from": "08:00", "to": "14:00" }]));
}

async fn availability_its_date_of_start_times(world: World) {
    let shop = world.shop().await;
    let found = availability_of(&world, &shop, &shop.line, json!({ "localDate": FIRST_DAY })).await;
    assert_eq!(found.len(), 2);
}

async fn availability_its_date_of_opening_hours(world: World) {
    let shop = world.shop().await;
    let day = json!({ "localDate": FIRST_DAY });
    assert_eq!(availability_of(&world, &shop, &shop.day_ticket(), day).await.len(), 1);
}

async fn its_id(world: &World, shop: &Shop, product: &str) {
    let id = world.availability_id(shop, product, FIRST_DAY).await;
    let asked = json!({ "availabilityIds": [id, UNKNOWN] });
    let found = availability_of(world, shop, product, asked).await;
    assert_eq!(found.len(), 1, "unknown ones are left out");
    assert_eq!(found[0]["id"], id);
}

async fn availability_its_id_of_start_times(world: World) {
    let shop = world.shop().await;
    its_id(&world, &shop, &shop.line).await;
}

async fn availability_its_id_of_opening_hours(world: World) {
    let shop = world.shop().await;
    its_id(&world, &shop, &shop.day_ticket()).await;
}

async fn open_and_sold_out(world: &World, shop: &Shop, line: &str, product: &str) {
    world.sells_out(line, "2026-11-19").await;
    let days = json!({ "localDateStart": FIRST_DAY, "localDateEnd": "2026-11-19" });
    let found = availability_of(world, shop, product, days).await;
    for one in &found {
        let is_full = one["localDateTimeStart"].as_str().unwrap().starts_with("2026-11-19");
        let expected = if is_full { ("SOLD_OUT", 0) } else { ("AVAILABLE", 30) };
        assert_eq!(
            (one["status"].as_str(), one["vacancies"].as_i64()),
            (Some(expected.0), Some(expected.1))
        );
    }
    let full = found.iter().filter(|one| one["available"] == false).count();
    assert_eq!(full * 2, found.len());
}

async fn availability_open_and_sold_out_of_start_times(world: World) {
    let shop = world.shop().await;
    open_and_sold_out(&world, &shop, &shop.line, &shop.line).await;
}

async fn availability_open_and_sold_out_of_opening_hours(world: World) {
    let shop = world.shop().await;
    open_and_sold_out(&world, &shop, &shop.other_line, &shop.day_ticket()).await;
}

async fn availability_unknown_product(world: World) {
    let change = json!({ "productId": UNKNOWN });
    let refusal = refuses(world, "/availability", change, "INVALID_PRODUCT_ID").await;
    assert_eq!(refusal["productId"], UNKNOWN);
}

async fn availability_unknown_option(world: World) {
    let change = json!({ "optionId": "invalidOptionId" });
    let refusal = refuses(world, "/availability", change, "INVALID_OPTION_ID").await;
    assert_eq!(refusal["optionId"], "invalidOptionId");
}

async fn availability_dates_and_ids_is_bad(world: World) {
    let change = json!({ "availabilityIds": [UNKNOWN] });
    refuses(world, "/availability", change, "BAD_REQUEST").await;
}

async fn reserve_open(world: World) {
    let shop = world.shop().await;
    for product in [shop.line.clone(), shop.day_ticket()] {
        let id = world.availability_id(&shop, &product, FIRST_DAY).await;
        let booking = world.reserves(&shop, wish(&product, &id, 2)).await.bare();
        is_booking(&booking, false);
        assert_eq!(booking["status"], "ON_HOLD");
        assert_eq!(
            (&booking["productId"], &booking["availabilityId"]),
            (&json!(product), &json!(id))
        );
        assert_eq!(booking["unitItems"].as_array().unwrap().len(), 2);
        assert_eq!(booking["voucher"]["deliveryOptions"], json!([]));
        for item in booking["unitItems"].as_array().unwrap() {
            assert_eq!(item["status"], "ON_HOLD");
            assert_eq!(item["ticket"]["deliveryOptions"], json!([]));
        }
        assert_eq!(booking["utcExpiresAt"], "2026-11-15T03:30:00Z");
    }
}

/// The request with changes; null takes a field away.
async fn refused_wish(world: &World, shop: &Shop, change: Value, word: &str) -> Value {
    let mut asked = world.wish(shop, 1).await;
    for (name, value) in change.as_object().unwrap() {
        match value.is_null() {
            true => drop(asked.as_object_mut().unwrap().remove(name)),
            false => asked[name] = value.clone(),
        }
    }
    let refusal = world.reserves(shop, asked).await.refuses(word);
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0);
    refusal
}

async fn reserve_sold_out_unprocessable(world: World) {
    let shop = world.shop().await;
    let id = world.availability_id(&shop, &shop.line, "2026-11-19").await;
    world.sells_out(&shop.line, "2026-11-19").await;
    let change = json!({ "availabilityId": id });
    refused_wish(&world, &shop, change, "UNPROCESSABLE_ENTITY").await;
    let day = world.availability_id(&shop, &shop.day_ticket(), "2026-11-19").await;
    world.sells_out(&shop.other_line, "2026-11-19").await;
    let change = json!({ "productId": shop.day_ticket(), "availabilityId": day });
    refused_wish(&world, &shop, change, "UNPROCESSABLE_ENTITY").await;
}

async fn reserve_unknown_product(world: World) {
    let shop = world.shop().await;
    let change = json!({ "productId": "invalidProductId" });
    let refusal = refused_wish(&world, &shop, change, "INVALID_PRODUCT_ID").await;
    assert_eq!(refusal["productId"], "invalidProductId");
}

async fn reserve_unknown_option(world: World) {
    let shop = world.shop().await;
    let change = json!({ "optionId": "invalidOptionId" });
    let refusal = refused_wish(&world, &shop, change, "INVALID_OPTION_ID").await;
    assert_eq!(refusal["optionId"], "invalidOptionId");
}

async fn reserve_unknown_availability(world: World) {
    let shop = world.shop().await;
    let of_other = world.availability_id(&shop, &shop.other_line, FIRST_DAY).await;
    for id in ["invalidAvailabilityId", UNKNOWN, &of_other] {
        let change = json!({ "availabilityId": id });
        let refusal = refused_wish(&world, &shop, change, "INVALID_AVAILABILITY_ID").await;
        assert_eq!(refusal["availabilityId"], id);
    }
}

async fn reserve_no_unit_items_unprocessable(world: World) {
    let shop = world.shop().await;
    refused_wish(&world, &shop, json!({ "unitItems": null }), "UNPROCESSABLE_ENTITY").await;
}

async fn reserve_empty_unit_items_unprocessable(world: World) {
    let shop = world.shop().await;
    refused_wish(&world, &shop, json!({ "unitItems": [] }), "UNPROCESSABLE_ENTITY").await;
}

async fn reserve_unknown_unit(world: World) {
    let shop = world.shop().await;
    let change = json!({ "unitItems": [{ "unitId": "invalidUnitId" }] });
    let refusal = refused_wish(&world, &shop, change, "INVALID_UNIT_ID").await;
    assert_eq!(refusal["unitId"], "invalidUnitId");
}

async fn extend_by_31_minutes_is_later(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 1).await;
    let body = json!({ "expirationMinutes": 31 });
    let longer = world.octo_post(&shop, &path(&held, "/extend"), body).send().await.bare();
    is_booking(&longer, false);
    assert_eq!(longer["utcExpiresAt"], "2026-11-15T03:31:00Z");
    assert_eq!(longer["uuid"], held["uuid"]);
}

async fn unknown_uuid(world: World, method: &str, action: &str, body: Value) {
    let shop = world.shop().await;
    for uuid in [UNKNOWN, "invalidUuid"] {
        let call = world.octo(method, &shop, &format!("/bookings/{uuid}{action}"));
        let call = if body.is_null() { call } else { call.json(body.clone()) };
        let refusal = call.send().await.refuses("INVALID_BOOKING_UUID");
        assert_eq!(refusal["uuid"], uuid);
    }
}

async fn extend_unknown_uuid(world: World) {
    unknown_uuid(world, "POST", "/extend", json!({ "expirationMinutes": 31 })).await;
}

async fn confirm_contact_and_reference_echoed(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let body = json!({ "contact": contact(), "resellerReference": "AGN-1" });
    let sold = world.octo_post(&shop, &path(&held, "/confirm"), body).send().await.bare();
    is_booking(&sold, false);
    assert_eq!(sold["status"], "CONFIRMED");
    assert_eq!(sold["contact"], contact());
    assert_eq!(sold["resellerReference"], "AGN-1");
    assert_eq!(sold["utcConfirmedAt"], "2026-11-15T03:00:00Z");
    let voucher = &sold["voucher"]["deliveryOptions"];
    assert_eq!(voucher[0]["deliveryFormat"], "PDF_URL");
    for item in sold["unitItems"].as_array().unwrap() {
        assert_eq!(item["status"], "CONFIRMED");
        let ticket = &item["ticket"]["deliveryOptions"][0];
        assert_eq!(ticket["deliveryFormat"], "QRCODE");
        assert!(ticket["deliveryValue"].as_str().unwrap().starts_with("DMT1"));
    }
}

fn three_items(booking: &Value) -> Value {
    let items = booking["unitItems"].as_array().unwrap().iter();
    let mut items: Vec<_> =
        items.map(|item| json!({ "uuid": item["uuid"], "unitId": item["unitId"] })).collect();
    items.push(json!({ "unitId": "adult" }));
    json!(items)
}

fn has_three_items(before: &Value, after: &Value) {
    let uuids = |booking: &Value| -> Vec<Value> {
        booking["unitItems"].as_array().unwrap().iter().map(|item| item["uuid"].clone()).collect()
    };
    let (before, after) = (uuids(before), uuids(after));
    assert_eq!(after.len(), 3);
    assert_eq!(before, after[..2]);
}

async fn confirm_two_items_to_three(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let body = json!({ "contact": contact(), "unitItems": three_items(&held) });
    let sold = world.octo_post(&shop, &path(&held, "/confirm"), body).send().await.bare();
    is_booking(&sold, false);
    assert_eq!(sold["status"], "CONFIRMED");
    has_three_items(&held, &sold);
    assert_eq!(sold["availability"]["vacancies"], 27);
}

async fn confirm_unknown_uuid(world: World) {
    unknown_uuid(world, "POST", "/confirm", json!({ "contact": contact() })).await;
}

async fn confirm_unknown_unit(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 1).await;
    let items = json!([{ "unitId": "invalidUnitId" }]);
    let body = json!({ "contact": contact(), "unitItems": items });
    let answer = world.octo_post(&shop, &path(&held, "/confirm"), body).send().await;
    assert_eq!(answer.refuses("INVALID_UNIT_ID")["unitId"], "invalidUnitId");
    let now = world.octo_get(&shop, &path(&held, "")).send().await.bare();
    assert_eq!(now["status"], "ON_HOLD");
}

async fn updated(world: &World, shop: &Shop, booking: &Value, body: Value) -> Value {
    let call = world.octo("PATCH", shop, &path(booking, "")).json(body);
    let after = call.send().await.bare();
    is_booking(&after, false);
    assert_eq!((&after["uuid"], &after["status"]), (&booking["uuid"], &json!("ON_HOLD")));
    after
}

async fn update_other_sailing(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let other = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let after = updated(&world, &shop, &held, json!({ "availabilityId": other })).await;
    assert_eq!(after["availabilityId"], other);
    assert_eq!(after["availability"]["vacancies"], 28);
    let left = world.availability(&shop, &shop.line, FIRST_DAY).await;
    assert_eq!(left[0]["vacancies"], 30, "its seats are free again");
}

async fn update_two_items_to_three(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let after = updated(&world, &shop, &held, json!({ "unitItems": three_items(&held) })).await;
    has_three_items(&held, &after);
    assert_eq!(after["availability"]["vacancies"], 27);
}

async fn update_contact_and_notes_echoed(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 1).await;
    let body = json!({
        "contact": contact(), "notes": "window seats", "resellerReference": "AGN-2",
    });
    let after = updated(&world, &shop, &held, body).await;
    assert_eq!(after["contact"], contact());
    assert_eq!(
        (&after["notes"], &after["resellerReference"]),
        (&json!("window seats"), &json!("AGN-2"))
    );
}

async fn update_other_product(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let other = world.availability_id(&shop, &shop.other_line, FIRST_DAY).await;
    let body = json!({
        "productId": shop.other_line, "optionId": OPTION, "availabilityId": other,
        "unitItems": [{ "unitId": "adult" }],
    });
    let after = updated(&world, &shop, &held, body).await;
    assert_eq!(
        (&after["productId"], &after["availabilityId"]),
        (&json!(shop.other_line), &json!(other))
    );
    assert_eq!(after["unitItems"].as_array().unwrap().len(), 1);
    let left = world.availability(&shop, &shop.line, FIRST_DAY).await;
    assert_eq!(left[0]["vacancies"], 30);
    assert_eq!(after["availability"]["vacancies"], 29);
}

async fn is_cancelled(world: &World, shop: &Shop, booking: &Value) {
    let body = json!({ "reason": "the guest is ill" });
    let after = world.cancels(shop, booking, body).await.bare();
    is_booking(&after, false);
    assert_eq!(after["status"], "CANCELLED");
    assert_eq!(after["cancellation"]["reason"], "the guest is ill");
    assert_eq!(after["cancellation"]["refund"], "FULL");
    assert_eq!(after["cancellation"]["utcCancelledAt"], "2026-11-15T03:00:00Z");
    assert_eq!(after["cancellable"], false);
    assert_eq!(after["voucher"]["deliveryOptions"], json!([]));
    let left = world.availability(shop, &shop.line, FIRST_DAY).await;
    assert_eq!(left[0]["vacancies"], 30);
}

async fn cancel_hold(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    is_cancelled(&world, &shop, &held).await;
}

async fn cancel_confirmed(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    assert_eq!(sold["cancellable"], true);
    is_cancelled(&world, &shop, &sold).await;
}

async fn cancel_unknown_uuid(world: World) {
    unknown_uuid(world, "POST", "/cancel", json!({ "reason": "none" })).await;
}

async fn get_hold(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let got = world.octo_get(&shop, &path(&held, "")).send().await.bare();
    is_booking(&got, false);
    assert_eq!(got, held);
}

async fn get_confirmed(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let got = world.octo_get(&shop, &path(&sold, "")).send().await.bare();
    is_booking(&got, false);
    assert_eq!((&got["status"], &got["uuid"]), (&json!("CONFIRMED"), &sold["uuid"]));
    assert_eq!(got["unitItems"], sold["unitItems"]);
}

async fn get_unknown_uuid(world: World) {
    unknown_uuid(world, "GET", "", Value::Null).await;
}

async fn list_by_supplier_reference(world: World) {
    let shop = world.shop().await;
    // Confirmed with a full name alone.
    let sold = world.confirmed(&shop, 1).await;
    world.held(&shop, 1).await;
    let code = sold["supplierReference"].as_str().unwrap();
    let query = format!("/bookings?supplierReference={code}");
    let found = world.octo_get(&shop, &query).send().await.bare();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 1);
    is_booking(&found[0], false);
    assert_eq!(found[0]["uuid"], sold["uuid"]);
    assert_eq!(found[0]["contact"]["fullName"], "Sari Dewi");
}

async fn list_by_reseller_reference(world: World) {
    let shop = world.shop().await;
    for reference in ["AGN-1", "AGN-2"] {
        let mut wish = world.wish(&shop, 1).await;
        wish["resellerReference"] = json!(reference);
        world.reserves(&shop, wish).await.bare();
    }
    let found = world.octo_get(&shop, "/bookings?resellerReference=AGN-2").send().await.bare();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 1);
    is_booking(&found[0], false);
    assert_eq!(found[0]["resellerReference"], "AGN-2");
}

async fn list_no_filter_is_bad(world: World) {
    let shop = world.shop().await;
    world.octo_get(&shop, "/bookings").send().await.refuses("BAD_REQUEST");
}
