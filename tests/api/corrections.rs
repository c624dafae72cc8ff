//! Correcting passengers and contact of a booking, finding bookings by address, tickets to another
//! address.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use serde_json::{Value, json};

use crate::{
    harbour::{NIK, Sailing, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_booker_corrects_passengers,
    corrections_are_for_booker_partner_and_staff,
    all_passengers_of_a_charter_are_corrected,
    faults_of_corrections_are_named,
    corrections_end_with_the_manifest_and_the_departure,
    a_booker_does_not_replace_who_is_on_board,
    a_closed_manifest_has_the_last_correction,
    a_contact_is_corrected_and_both_addresses_are_told,
    contacts_are_corrected_by_partner_and_staff_alone,
    a_corrected_contact_takes_its_promotion_along,
    a_replaced_contact_does_not_act,
    a_contact_changes_or_the_booking_is_cancelled,
    bookings_are_found_by_mail,
    bookings_are_found_three_times_an_hour,
    tickets_are_sent_to_another_address_by_partner_and_staff,
    paid_bookings_show_ticket_codes,
    payment_pages_lead_back_to_the_booking,
];

fn path(booking: &Value, last: &str) -> String {
    format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap())
}

/// The body of a guest who knows the booking.
fn by_guest(booking: &Value, mut body: Value) -> Value {
    body["code"] = booking["code"].clone();
    body["email"] = booking["contact"]["email"].clone();
    body
}

impl World {
    async fn corrects(&self, booking: &Value, passengers: Value, by: Option<&Someone>) -> Answer {
        let body = json!({ "passengers": passengers });
        match by {
            Some(who) => self.put(&path(booking, "passengers"), body).by(who).send().await,
            None => {
                let body = by_guest(booking, body);
                self.put(&path(booking, "passengers"), body).send_with_retry().await
            }
        }
    }

    async fn corrects_contact(&self, booking: &Value, contact: Value, by: &Someone) -> Answer {
        self.put(&path(booking, "contact"), contact).by(by).send_with_retry().await
    }

    async fn guest_cancels(&self, booking: &Value) -> Answer {
        let body = by_guest(booking, json!({ "reason": "x" }));
        self.post(&path(booking, "cancel"), body).send_with_retry().await
    }

    async fn names_on_manifest(&self, sailing: &Sailing) -> Vec<String> {
        let path = format!("/v1/mitra/route-times/{}/manifest", sailing.id);
        let manifest = self.get(&path).by(&sailing.partner).send().await.ok();
        let names = manifest["passengers"].as_array().unwrap().iter();
        names.map(|passenger| passenger["name"].as_str().unwrap().to_owned()).collect()
    }
}

async fn a_booker_corrects_passengers(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 2, "sari@example.com");
    wanted["passengers"][1] = json!({
        "name": "Putu", "identity_type": "nik", "identity_number": NIK, "gender": "female",
        "birth_date": "1990-02-28", "nationality": "Indonesia",
    });
    let booking = world.books(wanted).await.ok();
    let (first, second) = (&booking["passengers"][0]["id"], &booking["passengers"][1]["id"]);
    // Those that are named change, and of them what is given; null clears.
    let changes = json!([
        { "id": second, "name": "  Putu Ayu ", "gender": null, "nationality": "" },
    ]);
    let after = world.corrects(&booking, changes, None).await.ok();
    assert_eq!(after["passengers"][0], booking["passengers"][0]);
    let mut expected = booking["passengers"][1].clone();
    expected["name"] = json!("Putu Ayu");
    (expected["gender"], expected["nationality"]) = (json!(null), json!(null));
    assert_eq!(after["passengers"][1], expected);
    assert_eq!(world.looks_up(&booking).await, after);
    world.delivers_outbox().await;
    world.pays(&booking).await;
    let old = world.ticket_codes(&sailing).await;
    world.delivers_outbox().await;
    let told = |world: &World| {
        let letters = world.letters_to("sari@example.com");
        let told = letters.iter().filter(|one| one.contains("passengers of your booking were"));
        told.filter(|letter| letter.contains("filename=")).count()
    };
    assert_eq!(told(&world), 0, "an unpaid booking has no tickets");

    let passport = json!([
        { "id": first, "name": "Budi", "identity_type": "passport", "identity_number": "B1234567" },
    ]);
    let after = world.corrects(&booking, passport.clone(), None).await.ok();
    assert_eq!(after["passengers"][0]["identity_number"], "B1234567");
    world.delivers_outbox().await;
    assert_eq!(told(&world), 1, "with new tickets");
    // The same once more changes nothing, except that the number is sealed again.
    world.corrects(&booking, json!([{ "id": first, "name": "Budi" }]), None).await.ok();
    world.delivers_outbox().await;
    assert_eq!(told(&world), 1);
    // The ticket is of the place, so the old code admits the new person.
    assert_eq!(world.ticket_codes(&sailing).await.len(), old.len());
    for code in &old {
        let admitted = world.scans_ticket(&sailing, code).await.ok();
        let name = admitted["passenger_name"].as_str().unwrap();
        assert!(["Budi", "Putu Ayu"].contains(&name), "{name}");
    }
    assert_eq!(world.names_on_manifest(&sailing).await, ["Budi", "Putu Ayu"]);
    let admin = world.admin().await;
    for (name, found) in [("Putu Ayu", 1), ("PUTU", 1), ("Penumpang", 0), ("Budi", 1)] {
        let list = world.get(&format!("/v1/booking/?search={name}")).by(&admin).send().await.ok();
        assert_eq!(list.as_array().unwrap().len(), found, "{name}");
    }
    assert!(!world.all_stored_data().await.contains("B1234567"), "the number is sealed");
    assert_invariants(&world).await;
}

async fn corrections_are_for_booker_partner_and_staff(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let id = &booking["passengers"][0]["id"];
    let foreign = world.active_partner("other@bahari.id").await;
    let reader = world.staff("reader@dermaga.test", &[BookingsRead]).await;
    let clerk = world.staff("clerk@dermaga.test", &[BookingsWrite]).await;
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let called = |name: &str| json!([{ "id": id, "name": name }]);
    world.corrects(&booking, called("A"), Some(&foreign)).await.is(404, "not_found");
    world.corrects(&booking, called("A"), Some(&reader)).await.is(403, "forbidden");
    world.corrects(&booking, called("A"), Some(&crew)).await.is(403, "forbidden");
    // A guest of another booking.
    let other = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    let body = by_guest(&other, json!({ "passengers": called("A") }));
    world.put(&path(&booking, "passengers"), body).send().await.is(404, "not_found");
    let body = json!({ "passengers": called("A") });
    world.put(&path(&booking, "passengers"), body).send().await.is(404, "not_found");
    let unchanged = &world.looks_up(&booking).await["passengers"][0]["name"];
    assert_eq!(unchanged, &booking["passengers"][0]["name"]);
    for (name, who) in [("Partner's", Some(&sailing.partner)), ("Staff's", Some(&clerk))] {
        let after = world.corrects(&booking, called(name), who).await.ok();
        assert_eq!(after["passengers"][0]["name"], name);
    }
    // The log has the fields and not their values.
    let log = world.get("/v1/audit-logs?action=booking.passengers_corrected&sort_dir=asc");
    let log = log.by(&world.admin().await).send().await.ok();
    let actors = log.as_array().unwrap().iter().map(|entry| entry["actor"]["email"].as_str());
    let actors: Vec<_> = actors.map(Option::unwrap).collect();
    assert_eq!(actors, ["made@bahari.id", "clerk@dermaga.test"]);
    for entry in log.as_array().unwrap() {
        assert_eq!(entry["entity_id"], booking["id"]);
        assert_eq!(entry["after"]["passengers"][0]["name"], "[personal]");
        assert_eq!(&entry["after"]["passengers"][0]["id"], id);
        let text = entry.to_string();
        for value in ["Staff's", "Partner's", "Penumpang"] {
            assert!(!text.contains(value), "{text}");
        }
    }
}

/// A whole boat is corrected at once. Its tickets stay.
async fn all_passengers_of_a_charter_are_corrected(world: World) {
    const PEOPLE: usize = 500;
    let partner = world.active_partner("made@bahari.id").await;
    let mut large = crate::harbour::boat("GT. 1");
    large["capacity"] = json!(PEOPLE);
    let boat = world.post("/v1/speedboats", large).by(&partner).send().await.ok();
    let boat = boat["id"].as_str().unwrap().to_owned();
    let route = world.creates_route(&partner, crate::harbour::route(&boat)).await;
    world.publishes_route(&partner, &route).await.ok();
    let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
    let sailing = Sailing { partner: partner.clone(), boat, id };
    let order = crate::harbour::charter(&sailing, PEOPLE, "sari@example.com");
    let booking = world.books(order).await.ok();
    world.pays(&booking).await;
    let before = world.looks_up(&booking).await;
    let codes = |booking: &Value| -> Vec<Value> {
        let passengers = booking["passengers"].as_array().unwrap().iter();
        passengers.map(|passenger| passenger["ticket_code"].clone()).collect()
    };
    let corrections = before["passengers"].as_array().unwrap().iter().enumerate();
    let corrections: Vec<_> = corrections
        .map(|(n, passenger)| json!({ "id": passenger["id"], "name": format!("Tamu {n}") }))
        .collect();
    let after = world.corrects(&booking, json!(corrections), Some(&partner)).await.ok();
    assert_eq!(after["passengers"][499]["name"], "Tamu 499");
    assert!(after["passengers"][499]["ticket_code"].is_string());
    assert_eq!(codes(&after), codes(&before));
    let log = world.get("/v1/audit-logs?action=booking.passengers_corrected");
    let log = log.by(&world.admin().await).send().await.ok();
    assert_eq!(log[0]["after"]["passengers"].as_array().unwrap().len(), PEOPLE);
    assert!(log[0]["after"]["passengers"][0].get("ticket_code").is_none_or(Value::is_null));
    assert!(!log[0].to_string().contains("Tamu"));
    assert_invariants(&world).await;
}

async fn faults_of_corrections_are_named(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 2, "sari@example.com");
    wanted["passengers"][0] =
        json!({ "name": "Sari", "identity_type": "nik", "identity_number": NIK });
    let booking = world.books(wanted).await.ok();
    let other = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let id = &booking["passengers"][0]["id"];
    let theirs = &other["passengers"][0]["id"];
    for (passengers, fault) in [
        (json!([]), ("passengers", "min_items")),
        (json!([{ "name": "A" }]), ("passengers[0].id", "required")),
        (json!([{ "id": "x", "name": "A" }]), ("passengers[0].id", "format")),
        (json!([{ "id": theirs, "name": "A" }]), ("passengers[0].id", "unknown")),
        (json!([{ "id": id }, { "id": id, "name": "A" }]), ("passengers[1].id", "unique")),
        (json!([{ "id": id, "name": "" }]), ("passengers[0].name", "required")),
        (json!([{ "id": id, "name": null }]), ("passengers[0].name", "required")),
        (json!([{ "id": id, "name": "x".repeat(121) }]), ("passengers[0].name", "max_length")),
        (
            json!([{ "id": id, "name": "see evil.example/x" }]),
            ("passengers[0].name", "url_not_allowed"),
        ),
        (json!([{ "id": id, "gender": "x" }]), ("passengers[0].gender", "enum")),
        (json!([{ "id": id, "birth_date": "2026-02-30" }]), ("passengers[0].birth_date", "format")),
        (
            json!([{ "id": id, "identity_number": "12" }]),
            ("passengers[0].identity_number", "format"),
        ),
        // The kept number must fit the type, and needs one.
        (json!([{ "id": id, "identity_type": null }]), ("passengers[0].identity_type", "required")),
    ] {
        let answer = world.corrects(&booking, passengers.clone(), None).await;
        assert_eq!(answer.status, 422, "{passengers}: {}", answer.body);
        let faults = answer.field_errors();
        assert_eq!(faults, [(fault.0.to_owned(), fault.1.to_owned())], "{passengers}");
    }
    let many: Vec<_> = (0..501).map(|_| json!({ "id": id, "name": "A" })).collect();
    world.corrects(&booking, json!(many), None).await.field_errors();
    for bad in ["name\u{0}", "\u{202e}"] {
        let answer = world.corrects(&booking, json!([{ "id": id, "name": bad }]), None).await;
        assert!(answer.status == 422 || answer.status == 200, "{}", answer.body);
    }
    let both = json!([{ "id": id, "identity_type": null, "identity_number": null }]);
    let after = world.corrects(&booking, both, None).await.ok();
    assert_eq!(after["passengers"][0]["identity_number"], json!(null));
    assert_eq!(world.looks_up(&other).await, other);
}

async fn corrections_end_with_the_manifest_and_the_departure(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let [closed, late, over] = [
        world.paid_booking(&sailing, 1).await,
        world.paid_booking(&world.sailing_of_another_day(&sailing).await, 1).await,
        world.paid_booking(&sailing, 1).await,
    ];
    let unpaid = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let attempts = async |booking: &Value, word: &str| {
        let changes = json!([{ "id": booking["passengers"][0]["id"], "name": "A" }]);
        world.corrects(booking, changes.clone(), None).await.is(409, word);
        for who in [&sailing.partner, &admin] {
            world.corrects(booking, changes.clone(), Some(who)).await.is(409, word);
            let contact = json!({ "name": "A" });
            world.corrects_contact(booking, contact, who).await.is(409, word);
        }
    };
    world.guest_cancels(&over).await.ok();
    attempts(&over, "already_cancelled").await;
    world.advances_clock(TimeDelta::minutes(30));
    attempts(&unpaid, "expired").await;
    dermaga::bookings::expire(&world.app).await.unwrap();
    attempts(&unpaid, "expired").await;
    world.advances_clock(TimeDelta::hours(19));
    let admin_again = world.signs_in(&admin.email, "admin").await;
    let partner = world.signs_in("made@bahari.id", "mitra").await;
    let sailing = Sailing { partner: partner.clone(), ..sailing };
    world.closes_manifest(&sailing).await.ok();
    for who in [&partner, &admin_again] {
        let changes = json!([{ "id": closed["passengers"][0]["id"], "name": "A" }]);
        world.corrects(&closed, changes, Some(who)).await.is(409, "manifest_closed");
        world
            .corrects_contact(&closed, json!({ "name": "A" }), who)
            .await
            .is(409, "manifest_closed");
    }
    world.advances_clock(TimeDelta::hours(25) + TimeDelta::minutes(31));
    let changes = json!([{ "id": late["passengers"][0]["id"], "name": "A" }]);
    world.corrects(&late, changes, None).await.is(409, "departed");
}

async fn a_booker_does_not_replace_who_is_on_board(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let code = world.looks_up(&booking).await["passengers"][0]["ticket_code"].clone();
    world.scans_ticket(&sailing, code.as_str().unwrap()).await.ok();
    let [first, second] = [0, 1].map(|n| booking["passengers"][n]["id"].clone());
    let named = |id: &Value| json!([{ "id": id, "name": "A" }]);
    world.corrects(&booking, named(&first), None).await.is(409, "already_boarded");
    world.corrects(&booking, named(&second), None).await.ok();
    let after = world.corrects(&booking, named(&first), Some(&sailing.partner)).await.ok();
    assert_eq!(after["passengers"][0]["name"], "A", "who sees the person may correct the name");
}

/// Whichever comes first: the closed manifest shows what the booking has.
async fn a_closed_manifest_has_the_last_correction(world: World) {
    let first = world.sailing().await;
    let mut booked = Vec::new();
    for round in 0..8 {
        let sailing = world.another_sailing(&first, &format!("GT. {}", round + 2), 150_000).await;
        let booking = world.paid_booking(&sailing, 1).await;
        booked.push((sailing, booking));
    }
    // Two hours before the departure.
    world.advances_clock(TimeDelta::hours(43));
    let partner = world.signs_in("made@bahari.id", "mitra").await;
    for (sailing, booking) in booked {
        let sailing = Sailing { partner: partner.clone(), ..sailing };
        let changes = json!([{ "id": booking["passengers"][0]["id"], "name": "Corrected" }]);
        let (corrected, closed) =
            tokio::join!(world.corrects(&booking, changes, None), world.closes_manifest(&sailing));
        closed.ok();
        let is_corrected = corrected.status == 200;
        if !is_corrected {
            corrected.is(409, "manifest_closed");
        }
        let stored = world.looks_up(&booking).await["passengers"][0]["name"].clone();
        assert_eq!(stored == "Corrected", is_corrected);
        assert_eq!(json!(world.names_on_manifest(&sailing).await), json!([stored]));
    }
}

async fn a_contact_is_corrected_and_both_addresses_are_told(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let before = world.letters_to("sari@example.com").len();
    let contact = json!({ "name": "Dewi", "email": "Dewi@Example.com" });
    let after = world.corrects_contact(&booking, contact.clone(), &sailing.partner).await.ok();
    assert_eq!(
        after["contact"],
        json!({ "name": "Dewi", "email": "dewi@example.com", "phone": "+6281234567890" })
    );
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert_eq!(letters.len(), before + 1);
    let old = letters.iter().find(|one| one.contains("The contact of your booking was changed"));
    let old = old.expect("the old address is told");
    assert!(old.contains("d***@example.com") && !old.contains("filename="), "{old}");
    let new = world.letters_to("dewi@example.com");
    assert_eq!(new.len(), 1);
    assert!(new[0].contains("filename=") && new[0].contains(booking["code"].as_str().unwrap()));
    // Now the new address opens the booking, and the old one does not.
    let old = format!("{}?code={}&email=sari@example.com", path(&booking, ""), after["code"])
        .replace("/?", "?")
        .replace('"', "");
    world.get(&old).send().await.is(404, "not_found");
    world.guest_cancels(&booking).await.is(404, "not_found");
    assert_eq!(world.looks_up(&after).await["contact"], after["contact"]);
    // The same again tells nobody; a new phone number tells the contact.
    world.corrects_contact(&booking, contact, &sailing.partner).await.ok();
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("dewi@example.com").len(), 1);
    let phone = json!({ "phone": "0811 111 1111" });
    let after = world.corrects_contact(&booking, phone, &sailing.partner).await.ok();
    assert_eq!(after["contact"]["phone"], "+628111111111");
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("dewi@example.com").len(), 2);
    assert_eq!(world.letters_to("sari@example.com").len(), before + 1);
    world.guest_cancels(&after).await.ok();
    assert_invariants(&world).await;
}

async fn contacts_are_corrected_by_partner_and_staff_alone(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let contact = json!({ "name": "Dewi" });
    let body = by_guest(&booking, contact.clone());
    world.put(&path(&booking, "contact"), body).send().await.is(401, "unauthenticated");
    let foreign = world.active_partner("other@bahari.id").await;
    world.corrects_contact(&booking, contact.clone(), &foreign).await.is(404, "not_found");
    let reader = world.staff("reader@dermaga.test", &[BookingsRead]).await;
    world.corrects_contact(&booking, contact.clone(), &reader).await.is(403, "forbidden");
    for (bad, fault) in [
        (json!({ "email": "dewi" }), ("email", "format")),
        (json!({ "email": null }), ("email", "required")),
        (json!({ "name": "" }), ("name", "required")),
        (json!({ "phone": "12" }), ("phone", "format")),
    ] {
        world.corrects_contact(&booking, bad, &sailing.partner).await.has_field_errors(&[fault]);
    }
    assert_eq!(world.looks_up(&booking).await["contact"], booking["contact"]);
    let clerk = world.staff("clerk@dermaga.test", &[BookingsWrite]).await;
    world.corrects_contact(&booking, contact, &clerk).await.ok();
    let admin = world.admin().await;
    let log = async || {
        let log = world.get("/v1/audit-logs?action=booking.contact_corrected");
        log.by(&admin).send().await.ok().as_array().unwrap().clone()
    };
    assert_eq!(log().await[0]["after"]["contact"], json!({ "name": "[personal]" }));
    let phone = json!({ "phone": "0811 111 1111" });
    world.corrects_contact(&booking, phone, &sailing.partner).await.ok();
    let log = log().await;
    assert_eq!(log.len(), 2);
    let by_partner = log.iter().find(|entry| entry["actor"]["email"] == "made@bahari.id");
    let entry = by_partner.expect("the partner's correction is recorded");
    assert_eq!(entry["after"]["contact"], json!({ "phone": "[personal]" }));
}

async fn a_corrected_contact_takes_its_promotion_along(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let mut promotion = crate::promotions::promotion("HEMAT");
    promotion["per_customer_limit"] = json!(1);
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["code_promo"] = json!("HEMAT");
    let booking = world.books(wanted.clone()).await.ok();
    let contact = json!({ "email": "dewi@example.com" });
    let after = world.corrects_contact(&booking, contact, &admin).await.ok();
    assert_invariants(&world).await;
    // The use is counted under the new address.
    let again = world.books(wanted.clone()).await.ok();
    wanted["contact"]["email"] = json!("dewi@example.com");
    let refused = world.books(wanted.clone()).await;
    refused.has_field_errors(&[("code_promo", "limit_reached")]);
    world.guest_cancels(&after).await.ok();
    world.books(wanted).await.ok();
    world.guest_cancels(&again).await.ok();
    assert_invariants(&world).await;
}

/// A guest whose address was replaced meanwhile neither moves the booking nor states an account.
async fn a_replaced_contact_does_not_act(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let contact = json!({ "email": "dewi@example.com" });
    let after = world.corrects_contact(&booking, contact, &sailing.partner).await.ok();
    world.requests_reschedule(&booking, &other).await.is(404, "not_found");
    let changes = json!([{ "id": booking["passengers"][0]["id"], "name": "A" }]);
    world.corrects(&booking, changes, None).await.is(404, "not_found");
    world.guest_cancels(&after).await.ok();
    let account = json!({
        "bank_code": "BCA", "account_number": "7712345678", "account_name": "Sari",
    });
    let state = |booking: &Value| {
        let body = by_guest(booking, account.clone());
        world.put(&path(booking, "refund-account"), body).send()
    };
    state(&booking).await.is(404, "not_found");
    // Nor does whoever reads the address that the partner has chosen.
    state(&after).await.is(409, "contact_replaced");
    let none = "SELECT COUNT(*) FROM bookings WHERE refund_account IS NULL";
    assert_eq!(world.count(none).await, 1);
    let admin = world.admin().await;
    let by_staff = world.put(&path(&booking, "refund-account"), account.clone()).by(&admin);
    by_staff.send().await.ok();
}

async fn a_contact_changes_or_the_booking_is_cancelled(world: World) {
    let sailing = world.sailing().await;
    for _ in 0..8 {
        let booking = world.paid_booking(&sailing, 1).await;
        let contact = json!({ "email": "dewi@example.com" });
        let (cancelled, changed) = tokio::join!(
            world.guest_cancels(&booking),
            world.corrects_contact(&booking, contact, &sailing.partner)
        );
        match (cancelled.status, changed.status) {
            (200, 409) => drop(changed.is(409, "already_cancelled")),
            (404, 200) => {}
            other => panic!("{other:?}: {} {}", cancelled.body, changed.body),
        }
        let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
        let stored = world.get(&path).by(&sailing.partner).send().await.ok();
        let is_changed = stored["contact"]["email"] == "dewi@example.com";
        assert_eq!(stored["status"] == "paid", is_changed);
    }
    assert_invariants(&world).await;
}

async fn bookings_are_found_by_mail(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let other = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    world.delivers_outbox().await;
    let find =
        async |email: &str| world.post("/v1/booking/find", json!({ "email": email })).send().await;
    let letters = |email: &str| {
        let letters = world.letters_to(email);
        letters.into_iter().filter(|one| one.contains("Subject: Your bookings")).collect::<Vec<_>>()
    };
    let known = find("Sari@Example.com").await;
    let unknown = find("nobody@example.com").await;
    assert_eq!(known.body, unknown.body, "the answer does not tell");
    assert_eq!((known.status, unknown.status), (200, 200));
    world.delivers_outbox().await;
    let found = letters("sari@example.com");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains(booking["code"].as_str().unwrap()));
    assert!(!found[0].contains(other["code"].as_str().unwrap()));
    assert!(world.letters_to("nobody@example.com").is_empty());
    // More than a month after the departure it is not listed any more.
    world.advances_clock(TimeDelta::days(33));
    find("sari@example.com").await.ok();
    world.delivers_outbox().await;
    assert_eq!(letters("sari@example.com").len(), 1);
    find("sari").await.has_field_errors(&[("email", "format")]);
    world
        .post("/v1/booking/find", json!({}))
        .send()
        .await
        .has_field_errors(&[("email", "required")]);
    let twice = json!({ "email": ["sari@example.com"] });
    world.post("/v1/booking/find", twice).send().await.has_field_errors(&[("email", "type")]);
}

async fn bookings_are_found_three_times_an_hour(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    let find =
        || world.post("/v1/booking/find", json!({ "email": "sari@example.com" })).send_with_retry();
    let sent = async || {
        world.delivers_outbox().await;
        let letters = world.letters_to("sari@example.com");
        letters.iter().filter(|one| one.contains("Subject: Your bookings")).count()
    };
    let asked = futures_util::future::join_all((0..8).map(|_| find())).await;
    assert!(asked.iter().all(|answer| answer.status == 200));
    assert_eq!(sent().await, 3);
    world.advances_clock(TimeDelta::minutes(59));
    find().await.ok();
    assert_eq!(sent().await, 3);
    world.advances_clock(TimeDelta::minutes(1));
    find().await.ok();
    assert_eq!(sent().await, 4);
    // Another address has its own limit.
    let count = "SELECT COUNT(*) FROM booking_lookups";
    world.post("/v1/booking/find", json!({ "email": "x@example.com" })).send().await.ok();
    assert_eq!(world.count(count).await, 2);
    let plain = "SELECT COUNT(*) FROM booking_lookups WHERE address LIKE '%@%'";
    assert_eq!(world.count(plain).await, 0, "the address is not stored");
    world.app.sweep().await.unwrap();
    assert_eq!(world.count(count).await, 2, "they still count");
    world.advances_clock(TimeDelta::hours(1));
    world.app.sweep().await.unwrap();
    assert_eq!(world.count(count).await, 0);
}

async fn tickets_are_sent_to_another_address_by_partner_and_staff(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let resend = path(&booking, "resend-ticket");
    let there = json!({ "email": "hotel@example.com" });
    let before = world.letters_to("sari@example.com").len();
    world.post(&resend, there.clone()).by(&sailing.partner).send().await.ok();
    let admin = world.admin().await;
    let with_code = json!({ "email": "hotel@example.com", "code": booking["code"] });
    world.post(&resend, with_code).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let sent = world.letters_to("hotel@example.com");
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|letter| letter.contains("filename=")));
    assert_eq!(world.letters_to("sari@example.com").len(), before);
    // A booker names the contact address, and no other.
    let elsewhere = json!({ "code": booking["code"], "email": "hotel@example.com" });
    world.post(&resend, elsewhere).send().await.is(404, "not_found");
    let wrong = json!({ "code": "DMG-00000000" });
    let refused = world.post(&resend, wrong).by(&admin).send().await;
    refused.has_field_errors(&[("code", "mismatch")]);
    let bad = json!({ "email": "hotel" });
    world.post(&resend, bad).by(&admin).send().await.has_field_errors(&[("email", "format")]);
    let foreign = world.active_partner("other@bahari.id").await;
    world.post(&resend, there).by(&foreign).send().await.is(404, "not_found");
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("hotel@example.com").len(), 2);
}

async fn paid_bookings_show_ticket_codes(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    assert_eq!(booking["passengers"][0]["ticket_code"], json!(null), "it is not paid");
    world.pays(&booking).await;
    let mut codes = world.ticket_codes(&sailing).await;
    codes.sort();
    let of = |booking: &Value| {
        let passengers = booking["passengers"].as_array().unwrap().iter();
        let mut codes: Vec<_> = passengers.map(|one| one["ticket_code"].clone()).collect();
        codes.sort_by_key(Value::to_string);
        json!(codes)
    };
    assert_eq!(of(&world.looks_up(&booking).await), json!(codes));
    let reader = world.staff("reader@dermaga.test", &[BookingsRead]).await;
    let plain = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    for who in [&sailing.partner, &reader] {
        assert_eq!(of(&world.get(&plain).by(who).send().await.ok()), json!(codes));
        assert_eq!(of(&world.get("/v1/booking/").by(who).send().await.ok()[0]), json!(codes));
    }
    // Who changes bookings without reading them does not see them.
    let writer = world.staff("writer@dermaga.test", &[BookingsWrite]).await;
    let id = &booking["passengers"][0]["id"];
    let named = world.corrects(&booking, json!([{ "id": id, "name": "A" }]), Some(&writer)).await;
    assert_eq!(of(&named.ok()), json!([null, null]));
    // Crew finds them in the manifest.
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let manifest = format!("/v1/mitra/route-times/{}/manifest", sailing.id);
    assert_eq!(of(&world.get(&manifest).by(&crew).send().await.ok()), json!(codes));
    world.scans_ticket(&sailing, &codes[0]).await.ok();
    let after = world.post(&path(&booking, "cancel"), json!({ "reason": "x" }));
    let after = after.by(&sailing.partner).send().await.ok();
    assert_eq!(of(&after), json!([null, null]), "cancelled, it has no tickets");
}

async fn payment_pages_lead_back_to_the_booking(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let page = format!("/pay/{}", booking["payment"]["reference"].as_str().unwrap());
    let (status, _, body) = world.get(&page).bytes().await;
    assert_eq!(status, 200);
    let back =
        format!("{}/booking/{}", world.app.config.app_url(), booking["code"].as_str().unwrap());
    assert!(String::from_utf8(body).unwrap().contains(&format!("href=\"{back}\"")));
}
