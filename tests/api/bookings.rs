//! Bookings: sale, lookup, cancellation.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, charter, order},
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    a_guest_books_and_pays,
    faults_are_named_and_nothing_is_taken,
    seats_beyond_the_capacity_are_not_sold,
    a_charter_takes_the_whole_boat,
    closed_sailings_are_not_sold,
    a_hold_expires_to_the_second_and_frees_its_seats,
    staff_and_partners_book_for_others,
    a_booking_is_visible_to_its_booker_partner_and_staff,
    lists_filter_by_query_and_by_body,
    the_pages_of_a_list_do_not_overlap,
    cancelling_follows_the_policy,
    partner_and_staff_cancel_in_full,
    a_guest_holds_at_most_five,
    the_same_request_twice_books_once,
    a_booking_takes_few_statements,
    a_payment_takes_few_statements,
    a_cancel_takes_few_statements,
    a_cancellation_is_decided_by_the_current_row,
    identity_numbers_are_stored_encrypted_and_masked,
];

async fn a_guest_books_and_pays(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 2, "Sari@Example.com");
    wanted["passengers"][0] = json!({
        "name": "Sari", "identity_type": "nik", "identity_number": "5171012304850001",
        "gender": "female", "birth_date": "1990-02-28", "nationality": "Indonesia",
    });
    wanted["note"] = json!("Window, please");
    let booking = world.books(wanted).await.ok();
    let code = booking["code"].as_str().unwrap();
    assert!(code.starts_with("DMG-") && code.len() == 12, "{code}");
    assert_eq!(booking["status"], "pending_payment");
    assert_eq!(booking["channel"], "web");
    assert_eq!(booking["contact"]["email"], "sari@example.com");
    assert_eq!(booking["passengers"][0]["identity_number"], "5171012304850001");
    assert_eq!(booking["passengers"][1]["checked_in_at"], json!(null));
    assert_eq!(booking["sailing"]["from"], "Sanur");
    assert_eq!(booking["sailing"]["speedboat"]["id"], json!(sailing.boat));
    assert_eq!(
        booking["price"],
        json!({
            "currency": "IDR", "unit_price": 150_000, "subtotal": 300_000, "discount": 0,
            "taxes": [], "tax": 0, "total": 300_000,
            "lines": [{ "fare": "adult", "unit_price": 150_000, "count": 2 }],
        })
    );
    assert_eq!(booking["payment"]["provider"], "simulator");
    assert_eq!(booking["payment"]["reference"], json!(format!("{code}-1")));
    assert_eq!(booking["expires_at"], "2026-11-15T03:30:00Z");
    assert_eq!(world.seats_taken(&sailing).await, 2);
    assert_eq!(world.looks_up(&booking).await, booking);

    world.pays(&booking).await;
    let paid = world.looks_up(&booking).await;
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["payment"]["status"], "paid");
    assert_eq!(paid["payment"]["method"], "qris");
    assert_eq!(world.balance("gateway_clearing").await, 300_000);
    assert_eq!(world.balance("customer_deposits").await, -300_000);
    world.advances_clock(TimeDelta::hours(1));
    dermaga::bookings::expire(&world.app).await.unwrap();
    assert_eq!(world.seats_taken(&sailing).await, 2, "what is paid does not expire");
    world.delivers_outbox().await;
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox").await, 0);
}

async fn faults_are_named_and_nothing_is_taken(world: World) {
    let sailing = world.sailing().await;
    let rubbish = json!({
        "type": "raft", "item_id": "x", "qty": 0, "contact": { "name": "", "email": "sari" },
        "passengers": [{ "name": "  " }],
    });
    world.books(rubbish).await.has_field_errors(&[
        ("contact.email", "format"),
        ("contact.name", "required"),
        ("contact.phone", "required"),
        ("item_id", "format"),
        ("passengers", "count"),
        ("passengers[0].name", "required"),
        ("qty", "min"),
        ("route_time_id", "required"),
        ("type", "enum"),
    ]);
    let with = |changes: Value| {
        let mut wanted = order(&sailing, 1, "sari@example.com");
        wanted.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        wanted
    };
    let unknown = dermaga::kernel::ids::fresh().to_string();
    let answer = world.books(with(json!({ "route_time_id": unknown }))).await;
    answer.has_field_errors(&[("route_time_id", "unknown")]);
    let answer = world.books(with(json!({ "item_id": unknown }))).await;
    answer.has_field_errors(&[("item_id", "unknown")]);
    let passengers = json!([{ "name": "Sari", "identity_type": "nik", "identity_number": "12" }]);
    let answer = world.books(with(json!({ "passengers": passengers }))).await;
    answer.has_field_errors(&[("passengers[0].identity_number", "format")]);
    let passengers = json!([{ "name": "Sari", "identity_number": "A1234567" }]);
    let answer = world.books(with(json!({ "passengers": passengers }))).await;
    answer.has_field_errors(&[("passengers[0].identity_type", "required")]);
    world.books(order(&sailing, 51, "sari@example.com")).await.has_field_errors(&[("qty", "max")]);
    let answer = world.books(with(json!({ "code_promo": "NOPE" }))).await;
    answer.has_field_errors(&[("code_promo", "unknown")]);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0);
}

async fn seats_beyond_the_capacity_are_not_sold(world: World) {
    let sailing = world.sailing().await;
    world.books(order(&sailing, 28, "sari@example.com")).await.ok();
    let body = world.books(order(&sailing, 3, "putu@example.com")).await.is(409, "sold_out");
    assert_eq!(body["data"]["available_seats"], 2);
    world.books(order(&sailing, 2, "putu@example.com")).await.ok();
    let body = world.books(order(&sailing, 1, "putu@example.com")).await.is(409, "sold_out");
    assert_eq!(body["data"]["available_seats"], 0);
    assert_eq!(world.seats_taken(&sailing).await, 30);
}

async fn a_charter_takes_the_whole_boat(world: World) {
    let sailing = world.sailing().await;
    let seat = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.books(charter(&sailing, 12, "putu@example.com")).await.is(409, "sold_out");
    cancel(&world, &seat, "sari@example.com").await;
    let crowd = world.books(charter(&sailing, 31, "putu@example.com")).await;
    crowd.has_field_errors(&[("qty", "max")]);
    let whole = world.books(charter(&sailing, 12, "putu@example.com")).await.ok();
    assert_eq!(whole["price"]["subtotal"], 30 * 150_000);
    assert_eq!(whole["qty"], 12);
    assert_eq!(world.seats_taken(&sailing).await, 30);
    // The boat grows; the sailing stays closed.
    let mut boat = crate::harbour::boat("GT. 1");
    boat["capacity"] = json!(40);
    let path = format!("/v1/speedboats/{}", sailing.boat);
    world.put(&path, boat).by(&sailing.partner).send().await.ok();
    let body = world.books(order(&sailing, 1, "sari@example.com")).await.is(409, "sold_out");
    assert_eq!(body["data"]["available_seats"], 0);
    cancel(&world, &whole, "putu@example.com").await;
    assert_eq!(world.seats_taken(&sailing).await, 0);
    world.books(order(&sailing, 40, "sari@example.com")).await.ok();
}

async fn cancel(world: &World, booking: &Value, email: &str) -> Value {
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let body = json!({ "reason": "Plans changed", "code": booking["code"], "email": email });
    world.post(&path, body).send().await.ok()
}

async fn closed_sailings_are_not_sold(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let book = || world.books(order(&sailing, 1, "sari@example.com"));
    let desk = world.partner_path(&sailing.partner).await;
    world.post(&format!("{desk}/suspend"), json!({ "reason": "x" })).by(&admin).send().await.ok();
    book().await.is(409, "booking_closed");
    world.post(&format!("{desk}/unsuspend"), json!({})).by(&admin).send().await.ok();
    world.db().sql("UPDATE speedboats SET status = 'maintenance'").run().await.unwrap();
    book().await.is(409, "booking_closed");
    world.db().sql("UPDATE speedboats SET status = 'active'").run().await.unwrap();
    let departure: chrono::DateTime<chrono::Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
    world.advances_clock(departure - TimeDelta::minutes(15) - TimeDelta::seconds(1) - world.now());
    book().await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    book().await.is(409, "booking_closed");
    world.db().sql("UPDATE sailings SET status = 'withdrawn'").run().await.unwrap();
    world.advances_clock(-TimeDelta::hours(2));
    book().await.is(409, "booking_closed");
}

async fn a_hold_expires_to_the_second_and_frees_its_seats(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 3, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::seconds(1_799));
    assert_eq!(dermaga::bookings::expire(&world.app).await.unwrap(), 0);
    world.advances_clock(TimeDelta::seconds(1));
    assert_eq!(dermaga::bookings::expire(&world.app).await.unwrap(), 1);
    assert_eq!(dermaga::bookings::expire(&world.app).await.unwrap(), 0);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_eq!(world.looks_up(&booking).await["status"], "expired");
}

async fn staff_and_partners_book_for_others(world: World) {
    let sailing = world.sailing().await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite, BookingsRead, AuditRead]).await;
    let stranger = world.active_partner("other@bahari.id").await;
    let wanted = order(&sailing, 1, "sari@example.com");
    let by = |who| world.post("/v1/booking/", wanted.clone()).by(who).send();
    assert_eq!(by(&clerk).await.ok()["channel"], "staff");
    assert_eq!(by(&sailing.partner).await.ok()["channel"], "mitra");
    by(&stranger).await.has_field_errors(&[("route_time_id", "unknown")]);
    let reader = world.staff("putu@dermaga.test", &[BookingsRead]).await;
    by(&reader).await.is(403, "forbidden");
    let log = world.get("/v1/audit-logs?action=booking.created").by(&clerk).send().await.ok();
    assert_eq!(log.as_array().unwrap().len(), 1);
}

async fn a_booking_is_visible_to_its_booker_partner_and_staff(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    let code = booking["code"].as_str().unwrap();
    for wrong in [
        String::new(),
        format!("?code={code}"),
        "?email=sari@example.com".into(),
        format!("?code={code}&email=putu@example.com"),
        "?code=DMG-22222222&email=sari@example.com".into(),
        format!("?code={code}&email=rubbish"),
    ] {
        world.get(&format!("{path}{wrong}")).send().await.is(404, "not_found");
    }
    let right = format!("{path}?code={}&email=SARI@example.com", code.to_lowercase());
    world.get(&right).send().await.ok();
    let other = world.active_partner("other@bahari.id").await;
    world.get(&path).by(&other).send().await.is(404, "not_found");
    world.get(&path).by(&sailing.partner).send().await.ok();
    let reader = world.staff("putu@dermaga.test", &[BookingsRead]).await;
    world.get(&path).by(&reader).send().await.ok();
    let rubbish = world.get(&format!("{path}?email=rubbish")).by(&reader).send().await;
    rubbish.has_field_errors(&[("email", "format")]);
    let cancel = json!({ "reason": "x", "code": code, "email": "putu@example.com" });
    world.post(&format!("{path}/cancel"), cancel).send().await.is(404, "not_found");
}

async fn the_pages_of_a_list_do_not_overlap(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    for number in 0..23 {
        let seats = 1 + usize::from(number % 7 == 0);
        world.books(order(&sailing, seats, &format!("tamu{number}@pantai.id"))).await.ok();
        world.advances_clock(TimeDelta::seconds(1));
    }
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    for sort in ["", "&sort_by=total", "&sort_by=total&sort_dir=desc", "&sort_by=created_at"] {
        let page = async |size: i64, number: i64| {
            let path = format!("/v1/booking?search=PANTAI&page_size={size}&page={number}{sort}");
            let answer = world.get(&path).by(&admin).send().await;
            assert_eq!(answer.body["pagination"]["total_items"], 23, "{sort}");
            let list = answer.ok();
            let list = list.as_array().unwrap().iter().map(|booking| booking["code"].clone());
            list.collect::<Vec<_>>()
        };
        let whole = page(100, 1).await;
        assert_eq!(whole.len(), 23);
        let mut parts = Vec::new();
        for number in 1..=4 {
            parts.extend(page(7, number).await);
        }
        assert_eq!(parts, whole, "{sort}");
    }
}

async fn lists_filter_by_query_and_by_body(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let first = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    let second = world.books(order(&sailing, 2, "putu@example.com")).await.ok();
    world.pays(&second).await;
    let codes = async |call: crate::world::Call<'_>| {
        let list = call.send().await.ok();
        let list = list.as_array().unwrap().iter();
        list.map(|booking| booking["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let by = |query: &str| world.get(&format!("/v1/booking/?{query}")).by(&admin);
    let (a, b) = (first["code"].as_str().unwrap(), second["code"].as_str().unwrap());
    assert_eq!(codes(by("")).await, [b, a]);
    assert_eq!(codes(by("status=paid")).await, [b]);
    assert_eq!(codes(by("sort_by=total&sort_dir=asc")).await, [a, b]);
    assert_eq!(codes(by("search=SARI@")).await, [a]);
    assert_eq!(codes(by("email=putu@example.com&qty=2")).await, [b]);
    assert_eq!(codes(by("start_date=2026-11-16&end_date=2026-11-16")).await.len(), 2);
    assert_eq!(codes(by("start_date=2026-11-17")).await.len(), 0);
    // Filters in a body, with empty values and objects that are ignored.
    let body = json!({
        "type": "speedboat", "item_id": sailing.boat, "route_time_id": "", "qty": 1,
        "code_promo": "", "note": "", "contact": {}, "passengers": [{ "name": "x" }],
    });
    assert_eq!(codes(by("").json(body)).await, [a]);
    by("").json(json!({ "qty": "two" })).send().await.has_field_errors(&[("qty", "type")]);
    by("").body("{").send().await.is(400, "malformed_request");

    assert_eq!(codes(world.get("/v1/booking/").by(&sailing.partner)).await.len(), 2);
    let other = world.active_partner("other@bahari.id").await;
    assert_eq!(codes(world.get("/v1/booking/").by(&other)).await.len(), 0);
    world
        .get("/v1/booking/")
        .send()
        .await
        .has_field_errors(&[("code", "required"), ("email", "required")]);
    let own = format!("/v1/booking/?code={}&email=sari@example.com", a);
    assert_eq!(codes(world.get(&own)).await, [a]);
    let not_own = format!("/v1/booking/?code={}&email=putu@example.com", a);
    assert_eq!(codes(world.get(&not_own)).await.len(), 0);
}

async fn cancelling_follows_the_policy(world: World) {
    let sailing = world.sailing().await;
    // 21 hours before departure half is refunded.
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let after = cancel(&world, &booking, "sari@example.com").await;
    assert_eq!(after["status"], "refund_pending");
    assert_eq!(after["refund_amount"], 150_000);
    assert_eq!(after["cancel_reason"], "Plans changed");
    assert_eq!(world.seats_taken(&sailing).await, 0);
    assert_eq!(world.balance("customer_deposits").await, 0);
    assert_eq!(world.balance("refund_payable").await, -150_000);
    assert_eq!(world.balance("partner_payable").await, -135_000);
    assert_eq!(world.balance("commission_revenue").await, -15_000);
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let again = json!({ "reason": "", "code": booking["code"], "email": "sari@example.com" });
    world.post(&path, again).send().await.is(409, "already_cancelled");

    let admin = world.admin().await;
    let refund = format!("/v1/booking/{}/refund", booking["id"].as_str().unwrap());
    let body = json!({ "reference": "BCA-1" });
    let after = world.post(&refund, body.clone()).by(&admin).send().await.ok();
    assert_eq!(after["status"], "refunded");
    assert_eq!(world.balance("refund_payable").await, 0);
    assert_eq!(world.balance("bank").await, -150_000);
    world.post(&refund, body).by(&admin).send().await.is(409, "invalid_state");

    // An unpaid booking is cancelled freely; five hours before departure nothing is refunded.
    let unpaid = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert_eq!(cancel(&world, &unpaid, "sari@example.com").await["status"], "cancelled");
    let late = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.pays(&late).await;
    world.advances_clock(TimeDelta::hours(16));
    let after = cancel(&world, &late, "sari@example.com").await;
    assert_eq!(after["status"], "cancelled");
    assert_eq!(after["refund_amount"], json!(null));
    assert_eq!(world.balance("customer_deposits").await, 0);
    assert_eq!(world.count("SELECT CAST(SUM(amount) AS BIGINT) FROM ledger_lines").await, 0);
}

async fn partner_and_staff_cancel_in_full(world: World) {
    let sailing = world.sailing().await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    for who in [&sailing.partner, &clerk] {
        let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
        world.pays(&booking).await;
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let body = json!({ "reason": "Engine trouble" });
        let after = world.post(&path, body).by(who).send().await.ok();
        assert_eq!(after["status"], "refund_pending");
        assert_eq!(after["refund_amount"], 150_000);
    }
    assert_eq!(world.balance("partner_payable").await, 0);
    assert_eq!(world.balance("refund_payable").await, -300_000);
}

async fn a_guest_holds_at_most_five(world: World) {
    let world = world.with(|config| config.rate_limit.0 = true).await;
    let sailing = world.sailing().await;
    for _ in 0..5 {
        world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    }
    world.books(order(&sailing, 1, "SARI@example.com")).await.is(409, "too_many_holds");
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    let call = world.post("/v1/booking/", order(&sailing, 1, "sari@example.com"));
    call.by(&sailing.partner).send().await.ok();
}

async fn the_same_request_twice_books_once(world: World) {
    let sailing = world.sailing().await;
    let wanted = order(&sailing, 2, "sari@example.com");
    let with = |key: &str, body: &Value| {
        world.post("/v1/booking/", body.clone()).header("idempotency-key", key).send()
    };
    let (a, b) = tokio::join!(with("k1", &wanted), with("k1", &wanted));
    let (first, other) = if a.status == 200 { (a, b) } else { (b, a) };
    if other.status == 409 {
        other.is(409, "idempotency_in_progress");
    }
    let first = first.ok();
    let again = with("k1", &wanted).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok(), first);
    assert_eq!(world.seats_taken(&sailing).await, 2);
    let mut another = wanted.clone();
    another["note"] = json!("x");
    with("k1", &another).await.is(409, "idempotency_conflict");
    with("k2", &another).await.ok();
    assert_eq!(world.seats_taken(&sailing).await, 4);
    // A refusal is not kept.
    let many = order(&sailing, 27, "sari@example.com");
    with("k3", &many).await.is(409, "sold_out");
    cancel(&world, &first, "sari@example.com").await;
    with("k3", &many).await.ok();
    with("", &wanted).await.has_field_errors(&[("Idempotency-Key", "format")]);
    let mut named = order(&sailing, 1, "sari@example.com");
    named["passengers"][0]["identity_type"] = json!("passport");
    named["passengers"][0]["identity_number"] = json!("X7654321");
    let first = with("k4", &named).await.ok();
    assert_eq!(with("k4", &named).await.ok(), first);
    assert!(!world.all_stored_data().await.contains("X7654321"), "a kept answer is sealed");
}

/// Two concurrent reads and one write.
async fn a_booking_takes_few_statements(world: World) {
    let sailing = world.sailing().await;
    let before = world.db().statements();
    world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    assert_eq!(world.db().statements() - before, 2);
}

/// One loads the attempt, one records the notification, one pays the booking and one posts it.
async fn a_payment_takes_few_statements(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let before = world.db().statements();
    world.pays(&booking).await;
    assert_eq!(world.db().statements() - before, 4);
}

/// One loads the booking, one cancels it, one posts the refund, one stores it and one announces both. A session, an audit entry and a stored answer have further statements.
async fn a_cancel_takes_few_statements(world: World) {
    let first = world.sailing().await;
    let later = world.sailing_of_another_day(&first).await;
    let clerk = world.staff("ayu@dermaga.test", &[BookingsWrite]).await;
    let took = async |sailing: &Sailing, who: Option<&Someone>, paid: bool| {
        let booking = world.books(order(sailing, 1, "sari@example.com")).await.ok();
        if paid {
            world.pays(&booking).await;
        }
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let mut call = json!({ "reason": "x" });
        if who.is_none() {
            call["code"] = booking["code"].clone();
            call["email"] = json!("sari@example.com");
        }
        let call = world.post(&path, call);
        let before = world.db().statements();
        let after = match who {
            Some(who) => call.by(who).send().await.ok(),
            None => call.send().await.ok(),
        };
        let took = world.db().statements() - before;
        // The response, which was made without another read, equals the stored booking.
        let stored = world.looks_up(&booking).await;
        for (name, value) in stored.as_object().unwrap() {
            assert_eq!(after[name], *value, "{name}");
        }
        took
    };
    assert_eq!(took(&later, None, false).await, 3);
    assert_eq!(took(&later, None, true).await, 5);
    assert_eq!(took(&later, Some(&first.partner), true).await, 1 + 5);
    assert_eq!(took(&later, Some(&clerk), true).await, 1 + 5 + 1);
    // Near departure the manifest matters: locked and read again. Keeping half is one due more.
    assert_eq!(took(&first, None, true).await, 5 + 2 + 1);
}

/// The booking is loaded before the transaction; a change in between is detected.
async fn a_cancellation_is_decided_by_the_current_row(world: World) {
    let first = world.sailing().await;
    let later = world.sailing_of_another_day(&first).await;
    for sailing in [&first, &later] {
        let booking = world.books(order(sailing, 1, "sari@example.com")).await.ok();
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let body = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
        let cancel = async || world.post(&path, body.clone()).send_with_retry().await;
        let pay = world.receives_callback(&booking, "settlement", "t-1");
        let (one, two, paid) = tokio::join!(cancel(), cancel(), pay);
        paid.ok();
        let won = [&one, &two].iter().filter(|answer| answer.status == 200).count();
        assert_eq!(won, 1, "{} {}", one.body, two.body);
        world.delivers_outbox().await;
        let stored = world.looks_up(&booking).await;
        let status = stored["status"].as_str().unwrap();
        // Paid before it was cancelled, or after.
        assert!(["refund_pending", "cancelled"].contains(&status), "{stored}");
        assert_eq!(status == "refund_pending", stored["refund_amount"].is_i64(), "{stored}");
    }
    assert_eq!(world.count("SELECT CAST(SUM(amount) AS BIGINT) FROM ledger_lines").await, 0);
}

async fn identity_numbers_are_stored_encrypted_and_masked(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["passengers"][0]["identity_type"] = json!("passport");
    wanted["passengers"][0]["identity_number"] = json!("X7654321");
    let booking = world.books(wanted.clone()).await.ok();
    let admin = world.admin().await;
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    let cancel = json!({ "reason": "x" });
    world.post(&format!("{path}/cancel"), cancel).by(&admin).send().await.ok();
    assert!(!world.all_stored_data().await.contains("X7654321"));
    let helper = world.staff("ayu@dermaga.test", &[PartnersImpersonate, PartnersRead]).await;
    let acting = world.impersonates(&world.partner_path(&sailing.partner).await, &helper).await;
    let number = async |call: crate::world::Call<'_>| {
        call.send().await.ok()["passengers"][0]["identity_number"].clone()
    };
    world.get(&path).by(&acting).send().await.is(403, "forbidden");
    assert_eq!(number(world.get(&path).by(&sailing.partner)).await, "X7654321");
    let writer = world.staff("putu@dermaga.test", &[BookingsWrite]).await;
    let other = world.books(wanted).await.ok();
    let cancel = format!("/v1/booking/{}/cancel", other["id"].as_str().unwrap());
    let call = world.post(&cancel, json!({ "reason": "x" })).by(&writer);
    assert_eq!(number(call).await, "****4321");
    let nowhere = format!("/v1/booking/{}/cancel", dermaga::kernel::ids::fresh());
    world.post(&nowhere, json!({})).by(&writer).send().await.is(404, "not_found");
}
