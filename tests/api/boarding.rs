//! At the pier: the manifest, and who comes on board.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule::*;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_manifest_lists_who_sails,
    a_manifest_is_a_file_for_whoever_wants_one,
    identity_numbers_are_for_those_in_charge,
    a_manifest_is_closed_once_and_stays,
    nobody_joins_after_the_manifest_is_closed,
    twenty_devices_board_one_passenger,
    it_is_said_why_somebody_may_not_board,
    a_forged_changed_or_foreign_code_is_refused,
    scans_made_offline_are_handed_in_as_often_as_one_likes,
    a_check_in_is_undone,
    whoever_is_on_board_does_not_cancel_by_themselves,
    closing_races_with_check_ins_and_payments,
    closing_races_with_those_who_leave,
    nobody_is_locked_in_long_before_departure,
    a_seat_that_stays_empty_is_not_sold_again,
    rubbish_is_named,
];

fn sailing_path(sailing: &Sailing, last: &str) -> String {
    format!("/v1/mitra/route-times/{}/{last}", sailing.id)
}

impl World {
    pub async fn manifest(&self, sailing: &Sailing) -> Value {
        self.get(&sailing_path(sailing, "manifest")).by(&sailing.partner).send().await.ok()
    }

    /// The tickets of everyone who sails, by name.
    pub async fn ticket_codes(&self, sailing: &Sailing) -> Vec<String> {
        let manifest = self.manifest(sailing).await;
        let listed = manifest["passengers"].as_array().unwrap().iter();
        listed.map(|listed| listed["ticket_code"].as_str().unwrap().to_owned()).collect()
    }

    pub async fn scans_ticket(&self, sailing: &Sailing, code: &str) -> Answer {
        let body = json!({ "ticket_code": code });
        self.post(&sailing_path(sailing, "check-in"), body)
            .by(&sailing.partner)
            .send_with_retry()
            .await
    }

    /// Closes the manifest. If it is too early for that, the clock goes to the time when it can be
    /// closed, and back: not for races.
    pub async fn closes_manifest(&self, sailing: &Sailing) -> Answer {
        let path = sailing_path(sailing, "manifest/close");
        let departs = self
            .db()
            .sql("SELECT departure_at FROM sailings WHERE id = $1")
            .bind(sailing.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
            .scalar::<chrono::DateTime<chrono::Utc>>()
            .await
            .unwrap();
        let ahead = departs - TimeDelta::hours(3) - self.now();
        if ahead <= TimeDelta::zero() {
            return self.post(&path, json!({})).by(&sailing.partner).send_with_retry().await;
        }
        self.advances_clock(ahead);
        let partner = self.signs_in(&sailing.partner.email, "mitra").await;
        let answer = self.post(&path, json!({})).by(&partner).send_with_retry().await;
        self.advances_clock(-ahead);
        answer
    }

    async fn manifest_file(&self, sailing: &Sailing, accept: &str, by: &Someone) -> Vec<u8> {
        let path = format!("http://{}{}", self.address, sailing_path(sailing, "manifest"));
        let request = reqwest::Client::new().get(path).bearer_auth(&by.token);
        let response = request.header("accept", accept).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        assert!(kind.starts_with(accept), "{kind}");
        response.bytes().await.unwrap().to_vec()
    }

    /// Another sailing of the same partner, a day later.
    async fn next_day_sailing(&self, sailing: &Sailing) -> Sailing {
        let path = "/v1/mitra/speedboat-routes/";
        let routes = self.get(path).by(&sailing.partner).send().await.ok();
        let route = routes[0]["id"].as_str().unwrap();
        let id = self.sailings(&sailing.partner, route).await[1]["id"].as_str().unwrap().to_owned();
        Sailing { partner: sailing.partner.clone(), boat: sailing.boat.clone(), id }
    }
}

/// A family, with all that a harbour master asks for.
fn family_booking(sailing: &Sailing) -> Value {
    let mut order = order(sailing, 3, "sari@example.com");
    order["passengers"] = json!([
        {
            "name": "Sari Dewi", "identity_type": "nik", "identity_number": "5171012304850001",
            "gender": "female", "birth_date": "1990-11-17", "nationality": "Indonesia",
        },
        {
            "name": "Anders Berg", "identity_type": "passport", "identity_number": "N1234567",
            "gender": "male", "birth_date": "1988-11-16", "nationality": "Sweden",
        },
        { "name": "=Bayu", "gender": "male", "birth_date": "2025-12-01" },
    ]);
    order
}

async fn a_manifest_lists_who_sails(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(family_booking(&sailing)).await.ok();
    assert_eq!(world.manifest(&sailing).await["passengers"], json!([]), "unpaid");
    world.pays(&booking).await;
    world.paid_booking(&sailing, 1).await;
    let codes = world.ticket_codes(&sailing).await;
    world.scans_ticket(&sailing, &codes[1]).await.ok();

    let manifest = world.manifest(&sailing).await;
    assert_eq!(manifest["closed_at"], json!(null));
    assert_eq!(manifest["sailing"]["speedboat"]["registration_number"], "GT. 1");
    assert_eq!(manifest["sailing"]["from"], "Sanur");
    assert_eq!(
        manifest["totals"],
        json!({
            "bookings": 2, "passengers": 4, "checked_in": 1, "male": 2, "female": 1,
            "gender_unknown": 1, "adults": 2, "children": 0, "infants": 1, "age_unknown": 1,
            "by_nationality": { "Indonesia": 1, "Sweden": 1 },
        })
    );
    let listed = manifest["passengers"].as_array().unwrap();
    let names: Vec<_> = listed.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["=Bayu", "Anders Berg", "Penumpang 1", "Sari Dewi"]);
    assert_eq!(listed[1]["age"], 38, "on the day of departure");
    assert_eq!(listed[3]["age"], 35, "the day before the birthday");
    assert_eq!(listed[3]["identity_number"], "5171012304850001");
    assert_eq!(listed[3]["contact"], json!({ "name": "Sari", "phone": "+6281234567890" }));
    assert_eq!(listed[1]["checked_in_at"], "2026-11-15T03:00:00Z");
    let seen = world.looks_up(&booking).await;
    assert_eq!(seen["passengers"][1]["checked_in_at"], "2026-11-15T03:00:00Z");
    assert_eq!(seen["passengers"][0]["checked_in_at"], json!(null));

    let foreign = world.active_partner("other@bahari.id").await;
    for (path, body) in [
        ("manifest/close", json!({})),
        ("check-in", json!({ "ticket_code": codes[0] })),
        ("check-in/undo", json!({ "ticket_code": codes[1] })),
    ] {
        world
            .post(&sailing_path(&sailing, path), body)
            .by(&foreign)
            .send()
            .await
            .is(404, "not_found");
    }
    world.get(&sailing_path(&sailing, "manifest")).by(&foreign).send().await.is(404, "not_found");
}

async fn a_manifest_is_a_file_for_whoever_wants_one(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(family_booking(&sailing)).await.ok();
    world.pays(&booking).await;
    let csv = world.manifest_file(&sailing, "text/csv", &sailing.partner).await;
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("\"number\",\"name\",\"gender\",\"age\","));
    assert!(lines[0].ends_with(r#","departure_at","timezone","arrival_at","arrival_timezone""#));
    let first = r#""1","'=Bayu","male","0","2025-12-01","","","","Sari","'+6281234567890","DMG-"#;
    assert!(lines[1].starts_with(first), "{csv}");
    assert!(lines[3].contains(r#","nik","5171012304850001","Indonesia","#), "{csv}");
    let asked = format!("{}?format=csv", sailing_path(&sailing, "manifest"));
    assert_eq!(world.get(&asked).by(&sailing.partner).send().await.status, 200);
    let wrong = format!("{}?format=xml", sailing_path(&sailing, "manifest"));
    world.get(&wrong).by(&sailing.partner).send().await.is(422, "validation_failed");

    // Over several pages.
    let many = world.books(order(&sailing, 27, "budi@example.com")).await.ok();
    world.pays(&many).await;
    let pdf = world.manifest_file(&sailing, "application/pdf", &sailing.partner).await;
    if let Some((text, _)) = world.read_pdf(&pdf) {
        for said in ["Sari Dewi", "NIK 5171012304850001", "Penumpang 27", "GT. 1", "Open, as of"] {
            assert!(text.contains(said), "{said} in {text}");
        }
        assert!(text.contains("30 passengers in 2 bookings"), "{text}");
    }
}

async fn identity_numbers_are_for_those_in_charge(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(family_booking(&sailing)).await.ok();
    world.pays(&booking).await;
    let admin = world.admin().await;
    let path = sailing_path(&sailing, "manifest");
    let number = |manifest: &Value| manifest["passengers"][2]["identity_number"].clone();
    let desk = world.staff("desk@dermaga.test", &[BookingsRead]).await;
    assert_eq!(number(&world.get(&path).by(&desk).send().await.ok()), "5171012304850001");
    // Whoever acts in the partner's name sees what their own rules allow.
    let helper = world.staff("helper@dermaga.test", &[PartnersImpersonate]).await;
    let token = world.impersonates(&world.partner_path(&sailing.partner).await, &helper).await;
    world.get(&path).by(&token).send().await.is(403, "forbidden");
    world.closes_manifest(&sailing).await.ok();
    world.get(&path).by(&token).send().await.is(403, "forbidden");
    assert_eq!(number(&world.get(&path).by(&admin).send().await.ok()), "5171012304850001");
    let kept: String = world.db().sql("SELECT content FROM manifests").scalar().await.unwrap();
    assert!(!kept.contains("5171012304850001") && !kept.contains("Sari"), "sealed");
    let logged = world.get("/v1/audit-logs?page_size=100").by(&admin).send().await.ok();
    assert!(!logged.to_string().contains("5171012304850001"));
}

async fn a_manifest_is_closed_once_and_stays(world: World) {
    let sailing = world.sailing_soon().await;
    let booking = world.books(family_booking(&sailing)).await.ok();
    world.pays(&booking).await;
    let codes = world.ticket_codes(&sailing).await;
    world.scans_ticket(&sailing, &codes[0]).await.ok();
    let closed = world.closes_manifest(&sailing).await.ok();
    assert_eq!(closed["closed_at"], "2026-11-15T03:00:00Z");
    world.advances_clock(TimeDelta::minutes(5));
    assert_eq!(world.closes_manifest(&sailing).await.ok(), closed, "once is enough");
    assert_eq!(world.manifest(&sailing).await, closed);

    world.scans_ticket(&sailing, &codes[1]).await.is(409, "manifest_closed");
    let undo = json!({ "ticket_code": codes[0] });
    world
        .post(&sailing_path(&sailing, "check-in/undo"), undo)
        .by(&sailing.partner)
        .send()
        .await
        .is(409, "manifest_closed");
    let scans = json!({ "scans": [
        { "scan_id": "a", "ticket_code": codes[1], "scanned_at": "2026-11-15T02:59:00Z" },
    ] });
    let answer = world
        .post(&sailing_path(&sailing, "check-in"), scans)
        .by(&sailing.partner)
        .send()
        .await
        .ok();
    assert_eq!(answer["results"][0]["outcome"], "manifest_closed");
    let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&cancel, knows).send().await.is(409, "manifest_closed");
    // The platform's people make good what went wrong; what was handed over stays.
    let admin = world.admin().await;
    world.post(&cancel, json!({ "reason": "x" })).by(&admin).send().await.ok();
    assert_eq!(world.manifest(&sailing).await, closed);
    crate::storms::assert_invariants(&world).await;
}

async fn nobody_joins_after_the_manifest_is_closed(world: World) {
    let sailing = world.sailing().await;
    let unpaid = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let lapsed = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    world.advances_clock(TimeDelta::minutes(31));
    dermaga::bookings::expire(&world.app).await.unwrap();
    let held = world.books(order(&sailing, 2, "wayan@example.com")).await.ok();
    world.closes_manifest(&sailing).await.ok();
    assert_eq!(world.seats_taken(&sailing).await, 0, "unpaid holds are let go");
    assert_eq!(world.looks_up(&held).await["status"], "expired");
    assert_eq!(world.searches(crate::harbour::search_body(1)).await.len(), 0);
    let refused = world.books(order(&sailing, 1, "putu@example.com")).await;
    refused.is(409, "booking_closed");
    // Money that comes too late goes back.
    for late in [&unpaid, &lapsed, &held] {
        world.pays(late).await;
        assert_eq!(world.looks_up(late).await["status"], "refund_pending");
    }
    assert_eq!(world.manifest(&sailing).await["totals"]["passengers"], 0);
    crate::storms::assert_invariants(&world).await;
}

async fn twenty_devices_board_one_passenger(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let codes = world.ticket_codes(&sailing).await;
    let answers = join_all((0..20).map(|_| world.scans_ticket(&sailing, &codes[0]))).await;
    let boarded: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(boarded.len(), 1);
    for answer in answers.into_iter().filter(|answer| answer.status != 200) {
        let refused = answer.is(409, "already_boarded");
        assert_eq!(refused["data"]["boarded_at"], "2026-11-15T03:00:00Z");
        assert_eq!(refused["data"]["passenger_name"], "Penumpang 1");
    }
    assert_eq!(world.manifest(&sailing).await["totals"]["checked_in"], 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM boardings").await, 1);
    // The same of batches that several devices hand in.
    let batch = |device: usize| {
        let scan = |n: usize| {
            json!({
                "scan_id": format!("{device}-{n}"), "ticket_code": codes[n],
                "scanned_at": "2026-11-15T02:58:00Z",
            })
        };
        json!({ "scans": [scan(1), scan(0)] })
    };
    let path = sailing_path(&sailing, "check-in");
    let hand_in = |device| world.post(&path, batch(device)).by(&sailing.partner).send_with_retry();
    let answers = join_all((0..8).map(hand_in)).await;
    let boarded: i64 = answers.into_iter().map(|a| a.ok()["boarded"].as_i64().unwrap()).sum();
    assert_eq!(boarded, 1);
}

async fn it_is_said_why_somebody_may_not_board(world: World) {
    let sailing = world.sailing().await;
    let tomorrow = world.next_day_sailing(&sailing).await;
    let admin = world.admin().await;
    let code_of = |booking: &Value, sailing: &Sailing| {
        world.app.ticket_keys().sign(dermaga::tickets::Ticket {
            sailing_id: sailing.id.parse().unwrap(),
            booking_id: booking["id"].as_str().unwrap().parse().unwrap(),
            place: 0,
        })
    };
    let unpaid = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let code = code_of(&unpaid, &sailing);
    world.scans_ticket(&sailing, &code).await.is(409, "unpaid");
    world.pays(&unpaid).await;
    world.scans_ticket(&tomorrow, &code).await.is(409, "wrong_sailing");
    let path = format!("/v1/booking/{}", unpaid["id"].as_str().unwrap());
    let reason = json!({ "reason": "x" });
    world.post(&format!("{path}/cancel"), reason).by(&admin).send().await.ok();
    world.scans_ticket(&sailing, &code).await.is(409, "cancelled");
    let reference = json!({ "reference": "BCA-1" });
    world.post(&format!("{path}/refund"), reference).by(&admin).send().await.ok();
    world.scans_ticket(&sailing, &code).await.is(409, "refunded");
    // A sailing that the booking has left, and one that it has come to since.
    let booking = world.paid_booking(&tomorrow, 1).await;
    world.scans_ticket(&tomorrow, &code_of(&booking, &sailing)).await.is(409, "ticket_replaced");
    world.scans_ticket(&sailing, &code_of(&booking, &sailing)).await.is(409, "wrong_sailing");
    let indonesian = world
        .post(&sailing_path(&sailing, "check-in"), json!({ "ticket_code": code }))
        .header("accept-language", "id")
        .by(&sailing.partner)
        .send()
        .await
        .is(409, "refunded");
    assert_eq!(indonesian["message"], "Dana pemesanan telah dikembalikan.");
}

async fn a_forged_changed_or_foreign_code_is_refused(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let code = world.ticket_codes(&sailing).await.remove(0);
    let forged = [("ticket_code".to_owned(), "forged".to_owned())];
    let mut last = code.clone();
    let end = if last.pop() == Some('0') { '1' } else { '0' };
    last.push(end);
    let place = format!("{}0001{}", &code[..76], &code[80..]);
    let stolen = dermaga::tickets::TicketKeys::new(&dermaga::kernel::secret::Secret::new("x"), &[]);
    let theirs = stolen.unwrap().sign(dermaga::tickets::Ticket {
        sailing_id: sailing.id.parse().unwrap(),
        booking_id: booking["id"].as_str().unwrap().parse().unwrap(),
        place: 0,
    });
    // Right in every way, but of a passenger or a booking that is not there.
    let nobody = |booking_id, place| {
        let sailing_id = sailing.id.parse().unwrap();
        world.app.ticket_keys().sign(dermaga::tickets::Ticket { sailing_id, booking_id, place })
    };
    let id = booking["id"].as_str().unwrap().parse().unwrap();
    let codes = [
        last,
        place,
        theirs,
        "DMT1".into(),
        "rubbish".into(),
        nobody(id, 1),
        nobody(dermaga::kernel::ids::Uuid::max(), 0),
    ];
    for code in codes {
        assert_eq!(world.scans_ticket(&sailing, &code).await.field_errors(), forged, "{code}");
    }
    let foreign = world.active_partner("other@bahari.id").await;
    let (boat, route) = world.creates_published_route(&foreign, "GT. 9").await;
    let id = world.sailings(&foreign, &route).await[0]["id"].as_str().unwrap().to_owned();
    let other = Sailing { partner: foreign, boat, id };
    let refused = world.scans_ticket(&other, &code).await.is(409, "wrong_sailing");
    assert_eq!(refused["data"], json!(null), "nothing of another partner's passenger");
    assert_eq!(world.count("SELECT COUNT(*) FROM boardings").await, 0);
    world.scans_ticket(&sailing, &code.to_lowercase()).await.ok();
}

async fn scans_made_offline_are_handed_in_as_often_as_one_likes(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 3).await;
    let codes = world.ticket_codes(&sailing).await;
    let path = sailing_path(&sailing, "check-in");
    let hand_in = async |scans: Value| {
        let scans = json!({ "scans": scans });
        world.post(&path, scans).by(&sailing.partner).send().await.ok()
    };
    let batch = json!([
        { "scan_id": "a", "ticket_code": codes[0], "scanned_at": "2026-11-15T02:40:00Z" },
        { "scan_id": "b", "ticket_code": "rubbish", "scanned_at": "2026-11-15T02:41:00Z" },
        { "scan_id": "c", "ticket_code": codes[1], "scanned_at": "2027-01-01T00:00:00Z" },
        { "scan_id": "d", "ticket_code": codes[0], "scanned_at": "2026-11-15T02:42:00Z" },
        { "scan_id": "a", "ticket_code": codes[2], "scanned_at": "2026-11-15T02:43:00Z" },
        { "scan_id": "a", "ticket_code": codes[0], "scanned_at": "2026-11-15T02:40:00Z" },
    ]);
    let outcomes = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().unwrap().iter();
        results.map(|result| result["outcome"].as_str().unwrap().to_owned()).collect()
    };
    let first = hand_in(batch.clone()).await;
    let expected = ["boarded", "forged", "boarded", "already_boarded", "scan_id_reused", "boarded"];
    assert_eq!(outcomes(&first), expected);
    assert_eq!(first["boarded"], 2);
    assert_eq!(first["results"][0]["boarded_at"], "2026-11-15T02:40:00Z");
    assert_eq!(first["results"][2]["boarded_at"], "2026-11-15T03:00:00Z", "not in the future");
    assert_eq!(first["results"][5]["repeated"], true);
    assert_eq!(first["results"][3]["boarded_at"], "2026-11-15T02:40:00Z");
    let second = hand_in(batch).await;
    assert_eq!(outcomes(&second), expected);
    assert_eq!(second["boarded"], 0);
    assert_eq!(world.manifest(&sailing).await["totals"]["checked_in"], 2);
    // One that was undone does not come back by being handed in again.
    let undo = json!({ "ticket_code": codes[0], "reason": "wrong person" });
    world.post(&format!("{path}/undo"), undo).by(&sailing.partner).send().await.ok();
    let again = json!([
        { "scan_id": "a", "ticket_code": codes[0], "scanned_at": "2026-11-15T02:40:00Z" },
        { "scan_id": "d", "ticket_code": codes[0], "scanned_at": "2026-11-15T02:42:00Z" },
        { "scan_id": "d", "ticket_code": codes[2], "scanned_at": "2026-11-15T02:42:00Z" },
    ]);
    let expected = ["undone", "already_boarded", "scan_id_reused"];
    assert_eq!(outcomes(&hand_in(again).await), expected, "nor by another's that was refused");
    let anew = json!([
        { "scan_id": "e", "ticket_code": codes[0], "scanned_at": "2026-11-15T02:59:00Z" },
    ]);
    assert_eq!(outcomes(&hand_in(anew).await), ["boarded"]);
}

async fn a_check_in_is_undone(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let code = world.ticket_codes(&sailing).await.remove(0);
    let admin = world.admin().await;
    let path = sailing_path(&sailing, "check-in/undo");
    let undo = || {
        let body = json!({ "ticket_code": code, "reason": "Wrong person" });
        world.post(&path, body).by(&admin).send()
    };
    undo().await.is(409, "not_boarded");
    world.scans_ticket(&sailing, &code).await.ok();
    undo().await.ok();
    assert_eq!(world.looks_up(&booking).await["passengers"][0]["checked_in_at"], json!(null));
    undo().await.is(409, "not_boarded");
    world.scans_ticket(&sailing, &code).await.ok();
    let log = world.get("/v1/audit-logs?action=passenger.unboarded").by(&admin).send().await.ok();
    assert_eq!(log.as_array().unwrap().len(), 1);
    assert_eq!(log[0]["after"]["reason"], "[personal]");
    assert!(!log.to_string().contains("Penumpang 1"), "the passenger is named by id");
}

async fn whoever_is_on_board_does_not_cancel_by_themselves(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let code = world.ticket_codes(&sailing).await.remove(0);
    world.scans_ticket(&sailing, &code).await.ok();
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    world.post(&path, knows).send().await.is(409, "already_boarded");
    world.post(&path, json!({ "reason": "x" })).by(&sailing.partner).send().await.ok();
}

/// Whatever comes first, what was closed has everyone who is on board and nobody else.
async fn closing_races_with_check_ins_and_payments(world: World) {
    let sailing = world.sailing_soon().await;
    world.paid_booking(&sailing, 6).await;
    let codes = world.ticket_codes(&sailing).await;
    let mut pending = Vec::new();
    for n in 0..6 {
        let email = format!("guest{n}@example.com");
        pending.push(world.books(order(&sailing, 1, &email)).await.ok());
    }
    let scans = join_all(codes.iter().map(|code| world.scans_ticket(&sailing, code)));
    let pays = join_all(pending.iter().map(|booking| world.pays(booking)));
    let (_, scanned, _) = tokio::join!(world.closes_manifest(&sailing), scans, pays);
    let boarded = scanned.iter().filter(|answer| answer.status == 200).count();
    let manifest = world.manifest(&sailing).await;
    assert_eq!(manifest["totals"]["checked_in"], json!(boarded));
    let mut paid = 6;
    for booking in &pending {
        let status = world.looks_up(booking).await["status"].as_str().unwrap().to_owned();
        assert!(["paid", "refund_pending"].contains(&status.as_str()), "{status}");
        paid += i64::from(status == "paid");
    }
    assert_eq!(manifest["totals"]["passengers"], json!(paid));
    assert_eq!(world.seats_taken(&sailing).await, paid);
    crate::storms::assert_invariants(&world).await;
}

/// Whoever cancels or moves while the manifest is closed is not on it, or does not leave.
async fn closing_races_with_those_who_leave(world: World) {
    let sailing = world.sailing_soon().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let (mut cancels, mut moves) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        cancels.push(world.paid_booking(&sailing, 1).await);
        moves.push(world.paid_booking(&sailing, 1).await);
    }
    let leave = join_all(cancels.iter().map(|booking| {
        let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
        world.post(&path, knows).send_with_retry()
    }));
    let go = join_all(moves.iter().map(|booking| world.requests_reschedule(booking, &other)));
    let (left, closed, gone) = tokio::join!(leave, world.closes_manifest(&sailing), go);
    let still = left.iter().chain(&gone).filter(|answer| answer.status != 200).count();
    let listed = closed.ok()["passengers"].as_array().unwrap().len();
    assert_eq!(listed, still, "who left is not listed, who is listed has not left");
    for answer in left.into_iter().chain(gone).filter(|answer| answer.status != 200) {
        answer.is(409, "manifest_closed");
    }
    crate::storms::assert_invariants(&world).await;
}

/// Weeks ahead nobody is on board, whatever a partner says.
async fn nobody_is_locked_in_long_before_departure(world: World) {
    let sailing = world.sailing().await;
    let far = world.next_day_sailing(&sailing).await;
    let booking = world.paid_booking(&far, 1).await;
    let code = world.ticket_codes(&far).await.remove(0);
    world.scans_ticket(&far, &code).await.ok();
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let knows = json!({ "reason": "x", "code": booking["code"], "email": "sari@example.com" });
    let done = world.post(&path, knows).send().await.ok();
    assert_eq!(done["refund_amount"], 150_000);
    crate::storms::assert_invariants(&world).await;
}

async fn a_seat_that_stays_empty_is_not_sold_again(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let code = world.ticket_codes(&sailing).await.remove(0);
    world.scans_ticket(&sailing, &code).await.ok();
    world.advances_clock(TimeDelta::hours(21) + TimeDelta::minutes(1));
    world.books(order(&sailing, 1, "budi@example.com")).await.is(409, "booking_closed");
    assert_eq!(world.seats_taken(&sailing).await, 2);
    world.completes_paid_bookings().await;
    let sailed = world.looks_up(&booking).await;
    assert_eq!(sailed["status"], "completed", "no-show or not");
    assert_eq!(sailed["passengers"][1]["checked_in_at"], json!(null));
    crate::storms::assert_invariants(&world).await;
}

async fn rubbish_is_named(world: World) {
    let sailing = world.sailing().await;
    let path = sailing_path(&sailing, "check-in");
    let faults = |body: Value| async {
        world.post(&path, body).by(&sailing.partner).send().await.field_errors()
    };
    let required = [("ticket_code".to_owned(), "required".to_owned())];
    assert_eq!(faults(json!({})).await, required);
    assert_eq!(faults(json!({ "ticket_code": "", "scans": null })).await, required);
    assert_eq!(faults(json!({ "scans": [] })).await[0].0, "scans");
    let scans = json!({ "scans": [{ "scan_id": "", "ticket_code": 5 }] });
    let named: Vec<_> = faults(scans).await.into_iter().map(|fault| fault.0).collect();
    assert_eq!(named, ["scans[0].scan_id", "scans[0].scanned_at", "scans[0].ticket_code"]);
    world
        .get("/v1/mitra/route-times/x/manifest")
        .by(&sailing.partner)
        .send()
        .await
        .is(404, "not_found");
}
