//! What a stranger writes does not reach somebody else's mailbox as a link.

use dermaga::kernel::ids;
use serde_json::{Value, json};

use crate::{
    harbour::order,
    on_both_engines,
    world::{World, registration},
};

on_both_engines![
    a_guest_names_nobody_with_a_link,
    staff_and_partners_may_write_links,
    a_reason_of_a_guest_has_no_link_and_is_not_mailed,
    a_partner_registers_without_a_link,
];

const LINK: &str = "Menang! evil\u{ff0e}com/hadiah";

fn cancel(booking: &Value, reason: &str) -> (String, Value) {
    let body = json!({
        "reason": reason, "code": booking["code"], "email": booking["contact"]["email"],
    });
    (format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap()), body)
}

async fn a_guest_names_nobody_with_a_link(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 2, "sari@example.com");
    wanted["contact"]["name"] = json!("https://evil.example");
    wanted["passengers"][1]["name"] = json!(LINK);
    wanted["note"] = json!("Lihat evil.com");
    world.books(wanted.clone()).await.has_field_errors(&[
        ("contact.name", "url_not_allowed"),
        ("note", "url_not_allowed"),
        ("passengers[1].name", "url_not_allowed"),
    ]);
    assert_eq!(world.seats_taken(&sailing).await, 0);
    wanted["contact"]["name"] = json!("Drs. H. Amir, S.Kom");
    wanted["passengers"][1]["name"] = json!("A.A.Gde St.Joseph");
    wanted["note"] = json!("Kursi No.5. Hubungi sari@example.com");
    world.books(wanted).await.ok();
}

async fn staff_and_partners_may_write_links(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 1, "sari@example.com");
    wanted["note"] = json!("Voucher https://agen.example/7");
    let call = world.post("/v1/booking/", wanted).by(&sailing.partner);
    call.send().await.ok();
}

async fn a_reason_of_a_guest_has_no_link_and_is_not_mailed(world: World) {
    let sailing = world.sailing().await;
    let other = world.another_sailing(&sailing, "GT. 2", 150_000).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let (path, body) = cancel(&booking, LINK);
    world.post(&path, body).send().await.has_field_errors(&[("reason", "url_not_allowed")]);
    let reschedule = format!("/v1/booking/{}/reschedule", booking["id"].as_str().unwrap());
    let body = json!({
        "route_time_id": other.id, "reason": LINK, "code": booking["code"],
        "email": booking["contact"]["email"],
    });
    world.post(&reschedule, body).send().await.has_field_errors(&[("reason", "url_not_allowed")]);
    // Whoever does not know the booking is told nothing about it.
    let nowhere = format!("/v1/booking/{}/cancel", ids::fresh());
    world.post(&nowhere, json!({ "reason": LINK })).send().await.is(404, "not_found");
    let (path, body) = cancel(&booking, "Penawaran istimewa");
    world.post(&path, body).send().await.ok();
    let second = world.paid_booking(&sailing, 1).await;
    let (path, _) = cancel(&second, "");
    let body = json!({ "reason": "Mesin rusak, lihat https://bahari.example" });
    world.post(&path, body).by(&sailing.partner).send().await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    let cancelled = |booking: &Value| {
        let code = booking["code"].as_str().unwrap();
        let of = |letter: &&String| letter.contains(code) && letter.contains("is cancelled");
        let found: Vec<_> = letters.iter().filter(of).collect();
        assert_eq!(found.len(), 1, "{code}");
        found[0].clone()
    };
    assert!(!cancelled(&booking).contains("Penawaran"), "a guest's reason is not repeated");
    assert!(cancelled(&second).contains("Mesin rusak"), "a partner's is");
}

async fn a_partner_registers_without_a_link(world: World) {
    let mut form = registration("made@bahari.id");
    form["name"] = json!("Bahari www.evil.example");
    let answer = world.post("/auth/register-mitra", form.clone()).send().await;
    answer.has_field_errors(&[("name", "url_not_allowed")]);
    form["name"] = json!("PT. Laut Biru");
    world.post("/auth/register-mitra", form).send().await.ok();
    // Nor is the name changed to one afterwards.
    let partner = world.signs_in("made@bahari.id", "mitra").await;
    let profile = json!({
        "name": "evil.com/x", "email": "made@bahari.id", "phone": "081234567890",
        "avatar_file_id": "",
    });
    let answer = world.put("/user/me", profile).by(&partner).send().await;
    answer.has_field_errors(&[("name", "url_not_allowed")]);
}
