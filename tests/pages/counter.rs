//! Booking at the counter, and cancelling some passengers, without a browser.

use dermaga::kernel::access::Rule;
use serde_json::json;

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    sites::{Page, session},
    world::{PASSWORD, World},
};

on_both_engines![
    a_booking_is_made_at_the_counter_and_paid_in_cash,
    faults_of_a_booking_are_at_their_fields_before_anything_is_sold,
    too_few_seats_say_how_many_are_left_and_keep_what_was_typed,
    a_promotion_code_is_checked_by_its_own_button,
    passengers_choose_among_the_fares_of_the_line,
    the_number_of_passengers_changes_without_losing_names,
    a_partner_finds_its_own_sailings_only,
    a_booking_form_waits_for_a_sign_in,
    a_sailing_that_is_closed_leads_back_to_the_search,
    some_passengers_are_cancelled_for_what_was_shown,
    passengers_who_cannot_be_cancelled_together_are_refused,
];

fn path(sailing: &Sailing) -> String {
    format!("/console/bookings/new/{}", sailing.id)
}

/// The fields of a party of two.
fn typed(sailing: &Sailing) -> Vec<(&str, &str)> {
    vec![
        ("item_id", &sailing.boat),
        ("type", "speedboat"),
        ("qty", "2"),
        ("contact.name", "Sari Dewi"),
        ("contact.email", "sari@example.com"),
        ("contact.phone", "081234567890"),
        ("passengers[0]._row", "1"),
        ("passengers[0].name", "Sari Dewi"),
        ("passengers[1]._row", "1"),
        ("passengers[1].name", "Budi Hartono"),
        ("passengers[1].identity_type", "nik"),
        ("passengers[1].identity_number", "5171012304850001"),
        ("note", "Dua koper"),
    ]
}

fn with<'a>(
    fields: &[(&'a str, &'a str)],
    changes: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let kept = fields.iter().filter(|(name, _)| changes.iter().all(|(other, _)| other != name));
    kept.chain(changes).copied().collect()
}

/// The value of a hidden field.
fn hidden<'p>(page: &'p Page, name: &str) -> &'p str {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.html.split(&start).nth(1).unwrap_or_else(|| panic!("{name}: {}", page.html));
    rest.split('"').next().unwrap()
}

async fn a_booking_is_made_at_the_counter_and_paid_in_cash(world: World) {
    let sailing = world.sailing().await;
    let cookies = session(&sailing.partner);
    world.page("/console/bookings", &cookies).await.says("href=\"/console/bookings/new\"");
    let search = "/console/bookings/new?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=2";
    let found = world.page(search, &cookies).await;
    let link = format!("{}?item_id={}&amp;type=speedboat&amp;qty=2", path(&sailing), sailing.boat);
    found.says(&format!("href=\"{link}\""));
    found.says("30 seats left");
    let form = world.page(&link.replace("&amp;", "&"), &cookies).await;
    assert_eq!(form.status, 200);
    form.says("name=\"passengers[1].name\"");
    form.says("Rp\u{a0}300.000");

    let fields = typed(&sailing);
    let check = with(&fields, &[("_do", "check")]);
    let checked = world.submits(&path(&sailing), &cookies, &check).await;
    assert_eq!(checked.status, 200, "{}", checked.html);
    checked.says("Check the answers");
    checked.says("Budi Hartono");
    checked.says("Book · Rp\u{a0}300.000");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0, "nothing is sold yet");

    let key = hidden(&checked, "_key").to_owned();
    let book = with(&fields, &[("_do", "book"), ("_at", "check"), ("_key", &key)]);
    let booked = world.submits(&path(&sailing), &cookies, &book).await;
    assert_eq!(booked.status, 303, "{}", booked.html);
    let again = world.submits(&path(&sailing), &cookies, &book).await;
    assert_eq!(again.location(), booked.location(), "pressed twice, booked once");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);

    let shown = world.page(booked.location(), &cookies).await;
    shown.says("Not paid.");
    shown.says("Sari Dewi");
    shown.says("2 × Adult");
    let cash = format!("{}/pay-cash", booked.location());
    shown.says(&format!("href=\"{cash}\""));
    world.submits(&cash, &cookies, &[]).await;
    world.page(booked.location(), &cookies).await.says("Paid. Departure");
}

async fn faults_of_a_booking_are_at_their_fields_before_anything_is_sold(world: World) {
    let sailing = world.sailing().await;
    let cookies = session(&sailing.partner);
    let fields = typed(&sailing);
    let wrong =
        [("_do", "check"), ("passengers[1].identity_number", "123"), ("contact.email", "sari")];
    let refused = world.submits(&path(&sailing), &cookies, &with(&fields, &wrong)).await;
    assert_eq!(refused.status, 422);
    refused.says("<title>Error:");
    refused.says("href=\"#f-passengers-1--identity-number\">Passenger 2, Identity number:");
    refused.says("href=\"#f-contact-email\"");
    refused.says("name=\"passengers[1].identity_number\" value=\"123\"");
    refused.says("name=\"passengers[1].name\" value=\"Budi Hartono\"");
    refused.says(">Dua koper</textarea>");
    // A single fault has the focus.
    let wrong = [("_do", "check"), ("passengers[1].name", "")];
    let refused = world.submits(&path(&sailing), &cookies, &with(&fields, &wrong)).await;
    assert_eq!(refused.status, 422);
    refused.says("aria-describedby=\"f-passengers-1--name-error\" autofocus");
    refused.says("name=\"passengers[0].name\" value=\"Sari Dewi\"");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0);
}

async fn too_few_seats_say_how_many_are_left_and_keep_what_was_typed(world: World) {
    let sailing = world.sailing().await;
    let cookies = session(&sailing.partner);
    let fields = typed(&sailing);
    let checked =
        world.submits(&path(&sailing), &cookies, &with(&fields, &[("_do", "check")])).await;
    let key = hidden(&checked, "_key").to_owned();
    // Sold meanwhile: refused by the sale, and by the next check.
    world.books(order(&sailing, 29, "many@example.com")).await.ok();
    for step in ["book", "check"] {
        let sent = with(&fields, &[("_do", step), ("_key", &key)]);
        let refused = world.submits(&path(&sailing), &cookies, &sent).await;
        assert_eq!(refused.status, 409, "{step}");
        refused.says("Only <b>1</b> seat is left");
        refused.says("name=\"passengers[1].name\" value=\"Budi Hartono\"");
        refused.says("/console/bookings/new?from=Sanur&amp;to=Nusa+Penida&amp;date=2026-11-16");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
}

async fn a_promotion_code_is_checked_by_its_own_button(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let promotion = json!({
        "title": "Lebaran", "code": "LEBARAN10", "discount": { "type": "percentage", "value": 10 },
        "period": { "start_date": "2026-11-01", "end_date": "2026-12-01" },
        "funded_by": "platform", "target_type": "all", "status": "active", "quota": 100,
        "description": "", "tnc": "",
    });
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let (cookies, fields) = (session(&admin), typed(&sailing));
    let price = |code| with(&fields, &[("_do", "price"), ("code_promo", code)]);
    let valid = world.submits(&path(&sailing), &cookies, &price("lebaran10")).await;
    assert_eq!(valid.status, 200, "{}", valid.html);
    valid.says("The code is valid. Discount: Rp\u{a0}30.000");
    valid.says("Rp\u{a0}270.000");
    let unknown = world.submits(&path(&sailing), &cookies, &price("NOWHERE")).await;
    unknown.says("id=\"f-code-promo-error\"");
    unknown.says("This code cannot be used");
    unknown.says("Rp\u{a0}300.000");
    let checked = with(&fields, &[("_do", "check"), ("code_promo", "NOWHERE")]);
    let refused = world.submits(&path(&sailing), &cookies, &checked).await;
    assert_eq!(refused.status, 422);
    refused.says("id=\"f-code-promo-error\"");
}

async fn passengers_choose_among_the_fares_of_the_line(world: World) {
    let sailing = world.sailing().await;
    let cookies = session(&sailing.partner);
    let lines = world.get("/v1/mitra/lines").by(&sailing.partner).send().await.ok();
    let fares = json!({ "fares": [
        { "category": "adult", "min_age": 12, "price": { "percent": 100 } },
        { "category": "infant", "max_age": 2, "price": { "amount": 0 }, "takes_seat": false },
    ] });
    let line = format!("/v1/mitra/lines/{}", lines[0]["id"].as_str().unwrap());
    world.put(&line, fares).by(&sailing.partner).send().await.ok();
    let form =
        world.page(&format!("{}?item_id={}&qty=2", path(&sailing), sailing.boat), &cookies).await;
    form.says("<option value=\"adult\" selected>Adult (from age 12) · Rp\u{a0}150.000</option>");
    form.says("Infant (age 0–2) · Rp\u{a0}0, without a seat");
    let fields = typed(&sailing);
    let infants =
        [("passengers[0].fare", "infant"), ("passengers[1].fare", "infant"), ("_do", "check")];
    let refused = world.submits(&path(&sailing), &cookies, &with(&fields, &infants)).await;
    assert_eq!(refused.status, 422);
    refused.says("needs an adult");
    // The infant needs no seat: one is enough.
    world.books(order(&sailing, 29, "many@example.com")).await.ok();
    let family =
        [("passengers[0].fare", "adult"), ("passengers[1].fare", "infant"), ("_do", "check")];
    let checked = world.submits(&path(&sailing), &cookies, &with(&fields, &family)).await;
    assert_eq!(checked.status, 200, "{}", checked.html);
    checked.says("1 × Infant");
    let key = hidden(&checked, "_key").to_owned();
    let book = with(&with(&fields, &family), &[("_do", "book"), ("_key", &key)]);
    let booked = world.submits(&path(&sailing), &cookies, &book).await;
    assert_eq!(booked.status, 303, "{}", booked.html);
}

async fn the_number_of_passengers_changes_without_losing_names(world: World) {
    let sailing = world.sailing().await;
    let cookies = session(&sailing.partner);
    let fields = with(&typed(&sailing), &[("qty", "3"), ("_do", "price")]);
    let more = world.submits(&path(&sailing), &cookies, &fields).await;
    assert_eq!(more.status, 200);
    more.says("name=\"passengers[1].name\" value=\"Budi Hartono\"");
    more.says("name=\"passengers[2].name\" value=\"\"");
    more.says("Rp\u{a0}450.000");
    let fields = with(&typed(&sailing), &[("qty", "1"), ("_do", "price"), ("_lang", "id")]);
    let fewer = world.submits(&path(&sailing), &cookies, &fields).await;
    assert!(!fewer.html.contains("Budi Hartono"));
    fewer.says("Penumpang 1");
    // The contact travels.
    let same = [("passengers[0].name", ""), ("_same", "true"), ("_do", "check")];
    let checked = world.submits(&path(&sailing), &cookies, &with(&typed(&sailing), &same)).await;
    assert_eq!(checked.status, 200, "{}", checked.html);
    checked.says("<b>Sari Dewi</b>");
}

async fn a_partner_finds_its_own_sailings_only(world: World) {
    let sailing = world.sailing().await;
    let other = world.active_partner("putu@laut.id").await;
    let search = "/console/bookings/new?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1";
    let found = world.page(search, &session(&other)).await;
    assert_eq!(found.status, 200);
    found.says("No sailing with enough seats");
    let staff = world.staff("ayu@dermaga.test", &[Rule::BookingsWrite]).await;
    world.page(search, &session(&staff)).await.says(&sailing.id);
    // By its address it can be looked at, and not sold.
    let book = with(
        &typed(&sailing),
        &[("_do", "book"), ("_key", "0199a5c8-7e00-7000-8000-000000000001")],
    );
    let refused = world.submits(&path(&sailing), &session(&other), &book).await;
    assert_eq!(refused.status, 422);
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0);
    let wrong =
        world.page("/console/bookings/new?from=S&to=Nusa&date=2026-11-16", &session(&staff)).await;
    assert_eq!(wrong.status, 422);
    wrong.says("f-from-error");
}

async fn a_booking_form_waits_for_a_sign_in(world: World) {
    let sailing = world.sailing().await;
    let book = with(&typed(&sailing), &[("_do", "book")]);
    let held = world.submits(&path(&sailing), "dermaga_lang=en", &book).await;
    assert_eq!(held.status, 401);
    held.says("name=\"held.contact.name\" value=\"Sari Dewi\"");
    let mut fields = vec![("email", sailing.partner.email.as_str()), ("password", PASSWORD)];
    let path = path(&sailing);
    fields.push(("_resume", &path));
    let names: Vec<_> = book.iter().map(|(name, value)| (format!("held.{name}"), *value)).collect();
    fields.extend(names.iter().map(|(name, value)| (name.as_str(), *value)));
    let shown = world.submits("/console/login", "dermaga_lang=en", &fields).await;
    assert_eq!(shown.status, 200);
    shown.says("name=\"passengers[1].name\" value=\"Budi Hartono\"");
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 0, "filled in, not sent");
}

async fn a_sailing_that_is_closed_leads_back_to_the_search(world: World) {
    let sailing = world.sailing().await;
    world.advances_clock(chrono::TimeDelta::days(2));
    let address = format!("{}?item_id={}", path(&sailing), sailing.boat);
    let cookies = session(&world.signs_in(&sailing.partner.email, "mitra").await);
    let closed = world.page(&address, &cookies).await;
    assert_eq!((closed.status, closed.location()), (303, "/console/bookings/new"));
    let unknown = format!("/console/bookings/new/{}?item_id={}", sailing.boat, sailing.boat);
    assert_eq!(world.page(&unknown, &cookies).await.status, 404);
}

async fn some_passengers_are_cancelled_for_what_was_shown(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 3, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let admin = world.admin().await;
    let cookies = session(&admin);
    let id = booking["id"].as_str().unwrap();
    let detail = format!("/console/bookings/{id}");
    let path = format!("{detail}/cancel-passengers");
    world.page(&detail, &cookies).await.says(&format!("href=\"{path}\""));
    let asked = world.page(&path, &cookies).await;
    asked.says("Who does not travel?");
    assert!(!asked.html.contains("Cancel these passengers"), "nobody is chosen yet");
    let two = [0, 1].map(|index| booking["passengers"][index]["id"].as_str().unwrap());
    let chosen = format!("{path}?passenger_ids[]={}&passenger_ids[]={}", two[0], two[1]);
    let shown = world.page(&chosen, &cookies).await;
    shown.says("2 of 3 passengers are cancelled. The customer gets back <b>Rp\u{a0}300.000</b>");
    let fields = [("passenger_ids[]", two[0]), ("passenger_ids[]", two[1]), ("_do", "cancel")];
    let missing = world.submits(&path, &cookies, &fields).await;
    assert_eq!(missing.status, 422);
    missing.says("f-reason-error");
    missing.says("<b>Rp\u{a0}300.000</b>");
    let fields = [&fields[..], &[("reason", "Sakit")]].concat();
    let cancelled = world.submits(&path, &cookies, &fields).await;
    assert_eq!((cancelled.status, cancelled.location()), (303, detail.as_str()));
    let now = world.get(&format!("/v1/booking/{id}")).by(&admin).send().await.ok();
    assert_eq!((&now["owed"], &now["qty"]), (&json!(300_000), &json!(1)), "exactly what was shown");
}

async fn passengers_who_cannot_be_cancelled_together_are_refused(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let path = format!("/console/bookings/{}/cancel-passengers", booking["id"].as_str().unwrap());
    let all = [0, 1].map(|index| booking["passengers"][index]["id"].as_str().unwrap());
    let chosen = format!("{path}?passenger_ids[]={}&passenger_ids[]={}", all[0], all[1]);
    let shown = world.page(&chosen, &session(&sailing.partner)).await;
    shown.says("id=\"unfit\"");
    assert!(!shown.html.contains("Cancel these passengers"));
    let other = world.active_partner("putu@laut.id").await;
    assert_eq!(world.page(&path, &session(&other)).await.status, 404);
}
