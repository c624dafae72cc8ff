//! A guest changes a booking on the travellers' site.

use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    sites::{Page, session},
    world::World,
};

on_both_engines![
    a_booking_says_what_can_be_done_with_it,
    a_booking_is_cancelled_for_what_was_shown,
    some_passengers_are_cancelled,
    an_amount_that_has_changed_is_shown_again,
    a_booking_moves_to_another_day,
    a_dearer_sailing_waits_for_its_payment,
    names_are_corrected,
    tickets_are_mailed_again,
    a_failed_payment_is_opened_again,
    an_account_for_the_refund_is_stated,
    pages_of_a_booking_ask_strangers_for_code_and_address,
    a_form_cannot_name_another_booking,
    a_link_presses_no_button,
    the_language_of_a_form_changes_without_saving_it,
    the_language_of_a_cancellation_keeps_what_was_typed,
    the_language_of_a_move_keeps_what_was_typed,
    a_sale_that_ends_meanwhile_leads_to_the_other_sailings,
    a_link_fills_in_no_account,
    a_sailing_that_was_called_off_can_be_exchanged,
    a_price_that_has_changed_is_shown_before_the_sale,
    a_sale_with_a_used_up_code_is_repeated_once,
    a_limit_loses_nothing_that_was_typed,
    a_device_forgets_a_booking,
];

/// A paid booking of two passengers, the cookies of the browser that has opened it, and its page.
async fn opened(world: &World) -> (Sailing, Value, String, String) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let (cookies, page) = open(world, &booking).await;
    (sailing, booking, cookies, page)
}

async fn open(world: &World, booking: &Value) -> (String, String) {
    let code = booking["code"].as_str().unwrap();
    let fields = [("code", code), ("email", "sari@example.com")];
    let opened = world.submits("/en/booking", "", &fields).await;
    assert_eq!(opened.status, 303, "{}", opened.html);
    (opened.cookies(), opened.location().to_owned())
}

/// The value of a hidden field.
fn hidden<'p>(page: &'p Page, name: &str) -> &'p str {
    let field = format!("name=\"{name}\" value=\"");
    let rest = page.html.split(&field).nth(1).unwrap_or_else(|| panic!("{name} in {}", page.html));
    rest.split('"').next().unwrap()
}

async fn a_booking_says_what_can_be_done_with_it(world: World) {
    let (_, _, cookies, page) = opened(&world).await;
    let shown = world.page(&page, &cookies).await;
    for link in ["move", "passengers", "cancel", "ticket"] {
        shown.says(&format!("href=\"{page}/{link}\""));
    }
    // Less than a day before departure, half of the price comes back.
    shown.says("Rp\u{a0}150.000 (50&nbsp;%) back");
    assert_eq!(shown.headers["x-robots-tag"], "noindex");
}

async fn a_booking_is_cancelled_for_what_was_shown(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let cancel = format!("{page}/cancel");
    let shown = world.page(&cancel, &cookies).await;
    shown.says("The whole booking is cancelled.");
    shown.says("You get back <b>Rp\u{a0}150.000</b>");
    assert!(!shown.html.contains("refund_amount"), "a guest does not choose the amount");
    let (key, refund) = (hidden(&shown, "_key"), hidden(&shown, "_refund"));
    let fields = [("_do", "cancel"), ("_key", key), ("_refund", refund), ("reason", "Sakit")];
    let done = world.submits(&cancel, &cookies, &fields).await;
    assert_eq!((done.status, done.location()), (303, page.as_str()), "{}", done.html);
    let after = world.looks_up(&booking).await;
    assert_eq!(after["owed"], 150_000);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    let shown = world.page(&page, &cookies).await;
    shown.says("This booking is cancelled.");
    shown.says("We owe you <b>Rp\u{a0}150.000</b>");
    assert!(!shown.html.contains("/move"), "nothing is left to change");
    // Sent again, nothing more happens.
    world.submits(&cancel, &cookies, &fields).await;
    assert_eq!(world.looks_up(&booking).await["owed"], 150_000);
}

async fn some_passengers_are_cancelled(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let cancel = format!("{page}/cancel");
    let one = booking["passengers"][0]["id"].as_str().unwrap();
    let shown = world.page(&format!("{cancel}?passenger_ids[]={one}"), &cookies).await;
    shown.says("1 of 2 passengers are cancelled.");
    shown.says("<b>Rp\u{a0}75.000</b>");
    let fields = [
        ("_do", "cancel"),
        ("_key", hidden(&shown, "_key")),
        ("_refund", hidden(&shown, "_refund")),
        ("passenger_ids[]", one),
        ("reason", "Sakit"),
    ];
    let done = world.submits(&cancel, &cookies, &fields).await;
    assert_eq!(done.status, 303, "{}", done.html);
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["qty"], &after["owed"]), (&json!(1), &json!(75_000)));
    assert_eq!(world.seats_taken(&sailing).await, 1);
    let shown = world.page(&page, &cookies).await;
    assert_eq!(shown.html.matches("class=\"qr\"").count(), 1);
    shown.says("We owe you <b>Rp\u{a0}75.000</b>");
}

async fn an_amount_that_has_changed_is_shown_again(world: World) {
    let (_, booking, cookies, page) = opened(&world).await;
    let fields = [("_do", "cancel"), ("_refund", "149000"), ("reason", "Sakit")];
    let refused = world.submits(&format!("{page}/cancel"), &cookies, &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.html);
    refused.says("The refund has changed.");
    refused.says(">Sakit</textarea>");
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
}

async fn a_booking_moves_to_another_day(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let later = world.sailing_of_another_day(&sailing).await;
    let path = format!("{page}/move?date=2026-11-17");
    let days = world.page(&path, &cookies).await;
    days.says(&format!("{page}/move?date=2026-11-17&amp;to={}", later.id));
    let shown = world.page(&format!("{path}&to={}", later.id), &cookies).await;
    shown.says("It costs nothing.");
    let key = hidden(&shown, "_key");
    let fields = [("_do", "move"), ("_key", key), ("date", "2026-11-17"), ("to", &later.id)];
    let moved = world.submits(&format!("{page}/move"), &cookies, &fields).await;
    assert_eq!((moved.status, moved.location()), (303, page.as_str()), "{}", moved.html);
    assert_eq!(world.looks_up(&booking).await["route_time_id"], later.id.as_str());
    assert_eq!((world.seats_taken(&sailing).await, world.seats_taken(&later).await), (0, 2));
}

async fn a_dearer_sailing_waits_for_its_payment(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let later = world.sailing_of_another_day(&sailing).await;
    world
        .db()
        .sql("UPDATE sailings SET price = 200000 WHERE id = $1")
        .bind(later.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .run()
        .await
        .unwrap();
    let shown = world.page(&format!("{page}/move?date=2026-11-17&to={}", later.id), &cookies).await;
    shown.says("You pay <b>Rp\u{a0}100.000</b>");
    let fields = [("_do", "move"), ("_key", hidden(&shown, "_key")), ("to", &later.id)];
    let moved = world.submits(&format!("{page}/move"), &cookies, &fields).await;
    assert_eq!(moved.status, 303, "{}", moved.html);
    let shown = world.page(&page, &cookies).await;
    shown.says("The move to another sailing waits for");
    shown.says("Pay the difference");
    assert_eq!(world.looks_up(&booking).await["route_time_id"], sailing.id.as_str());
}

async fn names_are_corrected(world: World) {
    let (_, booking, cookies, page) = opened(&world).await;
    let form = world.page(&format!("{page}/passengers"), &cookies).await;
    assert_eq!(form.status, 200, "{}", form.html);
    form.says("For typing errors.");
    let ids = [0, 1].map(|row| booking["passengers"][row]["id"].as_str().unwrap().to_owned());
    let mut fields = vec![
        ("passengers[0].id", ids[0].as_str()),
        ("passengers[0].name", "Ni Luh Sari"),
        ("passengers[1].id", ids[1].as_str()),
        ("passengers[1].name", "Wayan Putra"),
    ];
    let saved = world.submits(&format!("{page}/passengers"), &cookies, &fields).await;
    assert_eq!((saved.status, saved.location()), (303, page.as_str()), "{}", saved.html);
    let shown = world.page(&page, &cookies).await;
    shown.says("Ni Luh Sari");
    shown.says("Wayan Putra");
    fields[1].1 = "";
    let refused = world.submits(&format!("{page}/passengers"), &cookies, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.html);
    refused.says("value=\"Wayan Putra\"");
}

async fn tickets_are_mailed_again(world: World) {
    let (_, booking, cookies, page) = opened(&world).await;
    world.delivers_outbox().await;
    let before = world.letters_to("sari@example.com").len();
    let sent = world.submits(&page, &cookies, &[("_do", "resend")]).await;
    assert_eq!((sent.status, sent.location()), (303, page.as_str()), "{}", sent.html);
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert_eq!(letters.len(), before + 1);
    assert!(letters.last().unwrap().contains(booking["code"].as_str().unwrap()));
}

async fn a_failed_payment_is_opened_again(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let (cookies, page) = open(&world, &booking).await;
    let first = booking["payment"]["redirect_url"].as_str().unwrap();
    world.page(&page, &cookies).await.says(&format!("href=\"{first}\""));
    world.receives_callback(&booking, "deny", "t-1").await;
    world.page(&page, &cookies).await.says("name=\"_do\" value=\"pay\"");
    let again = world.submits(&page, &cookies, &[("_do", "pay")]).await;
    assert_eq!((again.status, again.location()), (303, page.as_str()), "{}", again.html);
    let shown = world.page(&page, &cookies).await;
    let second = world.looks_up(&booking).await["payment"]["redirect_url"].clone();
    assert_ne!(second, first);
    shown.says(&format!("href=\"{}\"", second.as_str().unwrap()));
}

async fn an_account_for_the_refund_is_stated(world: World) {
    let (_, _, cookies, page) = opened(&world).await;
    let shown = world.page(&format!("{page}/cancel"), &cookies).await;
    let fields = [("_do", "cancel"), ("_refund", hidden(&shown, "_refund")), ("reason", "Sakit")];
    world.submits(&format!("{page}/cancel"), &cookies, &fields).await;
    let account = format!("{page}/refund-account");
    world.page(&page, &cookies).await.says(&format!("href=\"{account}\""));
    assert_eq!(world.page(&account, &cookies).await.status, 200);
    let fields =
        [("bank_code", "BCA"), ("account_number", "7788990011"), ("account_name", "Ni Luh Sari")];
    let saved = world.submits(&account, &cookies, &fields).await;
    assert_eq!((saved.status, saved.location()), (303, page.as_str()), "{}", saved.html);
    world.page(&page, &cookies).await.says("Change the account for the refund");
    let stored = world.all_stored_data().await;
    assert!(!stored.contains("7788990011"), "it is sealed");
}

async fn pages_of_a_booking_ask_strangers_for_code_and_address(world: World) {
    let (sailing, booking, _, page) = opened(&world).await;
    let code = booking["code"].as_str().unwrap();
    for part in ["", "/ticket", "/cancel", "/move", "/passengers", "/refund-account"] {
        for cookies in [String::new(), session(&sailing.partner)] {
            let path = format!("{page}{part}");
            let asked = world.page(&path, &cookies).await;
            assert_eq!(asked.location(), format!("/en/booking?code={code}"), "{part}");
            let sent = [("_do", "cancel"), ("reason", "Sakit"), ("_refund", "150000")];
            let posted = world.submits(&path, &cookies, &sent).await;
            assert_eq!((posted.status, posted.cookies().as_str()), (303, ""), "{part}");
        }
    }
    assert_eq!(world.looks_up(&booking).await["status"], "paid");
}

async fn a_form_cannot_name_another_booking(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let other = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world.pays(&other).await;
    // The cookie of one booking does not open the other, whatever the fields say.
    let foreign = format!("/en/booking/{}/cancel", other["code"].as_str().unwrap());
    let fields = [("_do", "cancel"), ("reason", "x"), ("_refund", "75000")];
    assert_eq!(world.submits(&foreign, &cookies, &fields).await.status, 303);
    let fields = [
        ("_do", "cancel"),
        ("reason", "x"),
        ("_refund", "150000"),
        ("id", other["id"].as_str().unwrap()),
        ("code", other["code"].as_str().unwrap()),
        ("email", "putu@example.com"),
        ("refund_amount", "1"),
    ];
    world.submits(&format!("{page}/cancel"), &cookies, &fields).await;
    assert_eq!(world.looks_up(&other).await["status"], "paid");
    assert_ne!(world.looks_up(&booking).await["owed"], 1);
}

/// Everything is done by forms of our own pages. Whoever follows a link from elsewhere changes nothing.
async fn a_link_presses_no_button(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let later = world.sailing_of_another_day(&sailing).await;
    let staff = session(&sailing.partner);
    let one = booking["passengers"][0]["id"].as_str().unwrap();
    let record = format!("/console/bookings/{}", booking["id"].as_str().unwrap());
    let order = format!(
        "item_id={}&type=speedboat&qty=1&contact.name=Sari&contact.email=sari@example.com\
         &contact.phone=081234567890&passengers[0].name=Sari&accept_terms=true&_do=book",
        sailing.boat
    );
    for (path, cookies) in [
        (format!("{page}/move?_do=move&to={}", later.id), &cookies),
        (format!("{page}/cancel?_do=cancel&reason=x&_refund=150000"), &cookies),
        (format!("{page}?_do=resend"), &cookies),
        (format!("{record}/reschedule?_do=move&to={}", later.id), &staff),
        (format!("{record}/cancel-passengers?_do=cancel&reason=x&passenger_ids[]={one}"), &staff),
        (format!("/en/book/{}?{order}", later.id), &String::new()),
        (format!("/console/bookings/new/{}?{order}", later.id), &staff),
    ] {
        let shown = world.page(&path, cookies).await;
        assert_eq!(shown.status, 200, "{path}");
        assert!(!shown.html.contains("081234567890\""), "a link fills in nothing personal: {path}");
    }
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["status"], &after["qty"]), (&json!("paid"), &json!(2)));
    assert_eq!(after["route_time_id"], sailing.id.as_str());
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
}

async fn the_language_of_a_form_changes_without_saving_it(world: World) {
    let (_, booking, cookies, page) = opened(&world).await;
    let form = world.page(&format!("{page}/passengers"), &cookies).await;
    form.says("name=\"_show\"");
    let id = booking["passengers"][0]["id"].as_str().unwrap();
    let fields = [("_show", "1"), ("passengers[0].id", id), ("passengers[0].name", "Halfway ty")];
    let path = format!("{}/passengers", page.strip_prefix("/en").unwrap());
    let shown = world.submits(&path, &cookies, &fields).await;
    assert_eq!(shown.status, 200, "{}", shown.html);
    shown.says("<html lang=\"id\">");
    shown.says("value=\"Halfway ty\"");
    let after = world.looks_up(&booking).await;
    assert_eq!(after["passengers"][0]["name"], booking["passengers"][0]["name"]);
}

async fn the_language_of_a_cancellation_keeps_what_was_typed(world: World) {
    let (_, booking, cookies, page) = opened(&world).await;
    let one = booking["passengers"][0]["id"].as_str().unwrap();
    let path = format!("{page}/cancel");
    let other = path.strip_prefix("/en").unwrap();
    let switch = format!("formaction=\"{other}?passenger_ids%5B%5D={one}\" name=\"_show\"");
    world.page(&format!("{path}?passenger_ids[]={one}"), &cookies).await.says(&switch);
    let mut fields = vec![("passenger_ids[]", one), ("reason", "Sakit"), ("_refund", "1")];
    fields.push(("_do", "cancel"));
    let refused = world.submits(&path, &cookies, &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.html);
    refused.says(&format!("formaction=\"{other}\" name=\"_show\""));
    fields.pop();
    fields.push(("_show", "1"));
    let shown = world.submits(other, &cookies, &fields).await;
    assert_eq!(shown.status, 200, "{}", shown.html);
    shown.says("<html lang=\"id\">");
    shown.says(">Sakit</textarea>");
    shown.says(&format!("type=\"hidden\" name=\"passenger_ids[]\" value=\"{one}\""));
    shown.says("1 dari 2 penumpang dibatalkan.");
    assert_eq!(world.looks_up(&booking).await["qty"], 2);
}

async fn the_language_of_a_move_keeps_what_was_typed(world: World) {
    let (sailing, booking, ..) = opened(&world).await;
    let later = world.sailing_of_another_day(&sailing).await;
    let cookies = session(&sailing.partner);
    let path = format!("/console/bookings/{}/reschedule", booking["id"].as_str().unwrap());
    let form = world.page(&format!("{path}?date=2026-11-17&to={}", later.id), &cookies).await;
    form.says("form=\"form\" name=\"_lang\" value=\"id\"");
    let fields =
        [("date", "2026-11-17"), ("to", &later.id), ("reason", "Diminta tamu"), ("_lang", "id")];
    let shown = world.submits(&path, &cookies, &fields).await;
    assert_eq!(shown.status, 200, "{}", shown.html);
    shown.says("<html lang=\"id\">");
    shown.says("Diminta tamu");
    shown.says("Tanpa biaya.");
    assert_eq!(world.looks_up(&booking).await["route_time_id"], sailing.id.as_str());
}

async fn a_sale_that_ends_meanwhile_leads_to_the_other_sailings(world: World) {
    let sailing = world.sailing().await;
    let path = format!("/en/book/{}", sailing.id);
    let form = world.page(&format!("{path}?item_id={}&qty=2", sailing.boat), "").await;
    let others = hidden(&form, "_others").replace("&amp;", "&");
    let expected = "/en/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=2&type=speedboat";
    assert_eq!(others, expected);
    // Ten minutes before departure.
    world.advances_clock(chrono::TimeDelta::minutes(20 * 60 + 50));
    let fields = [
        ("item_id", sailing.boat.as_str()),
        ("type", "speedboat"),
        ("qty", "2"),
        ("_others", &others),
        ("contact.name", "Sari"),
        ("_do", "check"),
    ];
    let closed = world.submits(&path, "", &fields).await;
    assert_eq!((closed.status, closed.location()), (303, expected), "{}", closed.html);
    world.page(expected, &closed.cookies()).await.says("can no longer be booked");
    // Only the search is taken from the form.
    let fields = [fields[0], ("_others", "https://evil.example/?from=Sanur")];
    let closed = world.submits(&path, "", &fields).await;
    assert_eq!(closed.location(), "/en/search?from=Sanur");
}

async fn a_link_fills_in_no_account(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let query = "bank_code=BCA&account_number=7788990011&account_name=Mallory";
    let form = world.page(&format!("{page}/refund-account?{query}"), &cookies).await;
    assert_eq!(form.status, 200);
    assert!(!form.html.contains("value=\"Mallory\""));
    let admin = world.admin().await;
    let id = booking["id"].as_str().unwrap();
    let path = format!("/console/bookings/{id}/refund-account?{query}");
    let form = world.page(&path, &session(&admin)).await;
    assert!(!form.html.contains("value=\"Mallory\""), "{}", form.status);
    drop(sailing);
}

async fn a_sailing_that_was_called_off_can_be_exchanged(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let later = world.sailing_of_another_day(&sailing).await;
    let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
    let reason = json!({ "reason": "Gelombang tinggi" });
    world.post(&path, reason).by(&sailing.partner).send().await.ok();
    let shown = world.page(&page, &cookies).await;
    shown.says("Gelombang tinggi");
    shown.says(&format!("href=\"{page}/move\""));
    let shown = world.page(&format!("{page}/move?date=2026-11-17&to={}", later.id), &cookies).await;
    shown.says("It costs nothing.");
    let fields = [
        ("_do", "move"),
        ("_key", hidden(&shown, "_key")),
        ("_difference", hidden(&shown, "_difference")),
        ("to", &later.id),
    ];
    let moved = world.submits(&format!("{page}/move"), &cookies, &fields).await;
    assert_eq!(moved.status, 303, "{}", moved.html);
    let after = world.looks_up(&booking).await;
    assert_eq!((&after["status"], &after["owed"]), (&json!("paid"), &json!(0)));
}

async fn sets_price(world: &World, sailing: &Sailing, price: i64) {
    let id = sailing.id.parse::<dermaga::kernel::ids::Uuid>().unwrap();
    let change = world.db().sql("UPDATE sailings SET price = $1 WHERE id = $2");
    change.bind(price).bind(id).run().await.unwrap();
}

async fn a_price_that_has_changed_is_shown_before_the_sale(world: World) {
    let (sailing, booking, cookies, page) = opened(&world).await;
    let later = world.sailing_of_another_day(&sailing).await;
    let path = format!("/en/book/{}", later.id);
    let mut fields = vec![
        ("item_id", later.boat.as_str()),
        ("type", "speedboat"),
        ("qty", "1"),
        ("contact.name", "Sari"),
        ("contact.email", "sari@example.com"),
        ("contact.phone", "081234567890"),
        ("passengers[0].name", "Sari"),
        ("accept_terms", "true"),
        ("_do", "check"),
    ];
    let check = world.submits(&path, "", &fields).await;
    let total = hidden(&check, "_total").to_owned();
    assert_eq!(total, "150000");
    sets_price(&world, &later, 200_000).await;
    fields.pop();
    fields.extend([("_do", "book"), ("_key", hidden(&check, "_key")), ("_total", &total)]);
    let refused = world.submits(&path, "", &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.html);
    refused.says("The price has changed.");
    refused.says("Rp\u{a0}200.000");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
    // The same for a move.
    let fields = [("_do", "move"), ("_difference", "0"), ("to", later.id.as_str())];
    let refused = world.submits(&format!("{page}/move"), &cookies, &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.html);
    refused.says("The price has changed.");
    assert_eq!(world.looks_up(&booking).await["route_time_id"], sailing.id.as_str());
    assert_eq!(world.count("SELECT COUNT(*) FROM reschedules").await, 0);
}

async fn a_sale_with_a_used_up_code_is_repeated_once(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let promotion = json!({
        "title": "Lebaran", "code": "SEKALI", "discount": { "type": "percentage", "value": 10 },
        "period": { "start_date": "2026-11-01", "end_date": "2026-12-01" },
        "funded_by": "platform", "target_type": "all", "status": "active", "quota": 1,
        "per_customer_limit": 1, "description": "", "tnc": "",
    });
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let path = format!("/en/book/{}", sailing.id);
    let mut fields = vec![
        ("item_id", sailing.boat.as_str()),
        ("type", "speedboat"),
        ("qty", "1"),
        ("contact.name", "Sari"),
        ("contact.email", "sari@example.com"),
        ("contact.phone", "081234567890"),
        ("passengers[0].name", "Sari"),
        ("code_promo", "SEKALI"),
        ("accept_terms", "true"),
        ("_do", "check"),
    ];
    let check = world.submits(&path, "", &fields).await;
    let (key, total) = (hidden(&check, "_key"), hidden(&check, "_total"));
    assert_eq!(total, "135000");
    fields.pop();
    fields.extend([("_do", "book"), ("_key", key), ("_total", total)]);
    let first = world.submits(&path, "", &fields).await;
    assert_eq!(first.status, 303, "{}", first.html);
    // The code is used up now, by this booking.
    let second = world.submits(&path, "", &fields).await;
    assert_eq!((second.status, second.location()), (303, first.location()), "{}", second.html);
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
}

async fn a_limit_loses_nothing_that_was_typed(world: World) {
    let world = world.with(|config| config.rate_limit = dermaga::config::Switch(true)).await;
    let sailing = world.sailing().await;
    let fields = [
        ("item_id", sailing.boat.as_str()),
        ("type", "speedboat"),
        ("qty", "1"),
        ("contact.name", "Sari \"Dewi\" & co"),
        ("_do", "check"),
    ];
    let path = format!("/en/book/{}", sailing.id);
    for _ in 0..100 {
        let shown = world.submits(&path, "", &fields).await;
        if shown.status == 429 {
            shown.says("Nothing you typed is lost.");
            shown.says("name=\"contact.name\" value=\"Sari &quot;Dewi&quot; &amp; co\"");
            shown.says("name=\"_do\" value=\"check\"");
            return;
        }
    }
    panic!("there is no limit");
}

async fn a_device_forgets_a_booking(world: World) {
    let (_, booking, cookies, page) = opened(&world).await;
    let code = booking["code"].as_str().unwrap();
    let forgotten =
        world.submits("/en/booking", &cookies, &[("_do", "forget"), ("code", code)]).await;
    assert_eq!((forgotten.status, forgotten.location()), (303, "/en/booking"));
    assert_eq!(world.page(&page, &forgotten.cookies()).await.status, 303);
    // A copy of the cookie ends as well.
    assert_eq!(world.page(&page, &cookies).await.status, 200);
    world.advances_clock(chrono::TimeDelta::days(31));
    assert_eq!(world.page(&page, &cookies).await.status, 303);
}
