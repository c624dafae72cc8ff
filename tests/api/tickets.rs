//! Tickets: rendering, signature, mail.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    harbour::order,
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    a_paid_booking_has_a_ticket_for_each_passenger,
    tickets_need_the_credentials_of_the_booking,
    tickets_are_mailed_with_the_payment_and_again_when_asked,
    a_ticket_is_verified_offline,
];

impl World {
    /// Where a booker finds the tickets.
    pub fn ticket_of(&self, booking: &Value) -> String {
        let said = |value: &Value| value.as_str().unwrap().to_owned();
        format!(
            "/v1/booking/{}/ticket?code={}&email={}",
            said(&booking["id"]),
            said(&booking["code"]),
            said(&booking["contact"]["email"]),
        )
    }

    pub async fn pdf(&self, path: &str, by: Option<&Someone>) -> Vec<u8> {
        let mut request = reqwest::Client::new().get(format!("http://{}{path}", self.address));
        if let Some(someone) = by {
            request = request.bearer_auth(&someone.token);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/pdf");
        assert_eq!(response.headers()["cache-control"], "private, no-store");
        let pdf = response.bytes().await.unwrap().to_vec();
        assert!(pdf.starts_with(b"%PDF-"));
        pdf
    }

    /// Reads a PDF with other programs: its text, and its QR codes page by page. `None` if they are
    /// not installed.
    pub fn read_pdf(&self, pdf: &[u8]) -> Option<(String, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file.pdf");
        std::fs::write(&file, pdf).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let ran = Command::new(program).args(arguments).current_dir(folder.path()).output();
            let required = std::env::var_os("REQUIRE_PDF_TOOLS").is_some();
            assert!(ran.is_ok() || !required, "{program} is not installed");
            ran.ok().map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned())
        };
        let text = run("pdftotext", &["-layout", "file.pdf", "-"])?;
        // As on a phone: no finer than its screen.
        run("pdftoppm", &["-r", "110", "-gray", "file.pdf", "page"])?;
        let mut pages: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        pages.retain(|page| page.path().extension().is_some_and(|end| end == "pgm"));
        pages.sort_by_key(|page| page.path());
        let mut codes = Vec::new();
        for page in pages {
            let scanned = run("zbarimg", &["--raw", "-q", name(&page.path())])?;
            codes.extend(scanned.lines().map(str::to_owned));
        }
        Some((text, codes))
    }
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

async fn a_paid_booking_has_a_ticket_for_each_passenger(world: World) {
    let sailing = world.sailing().await;
    let mut wanted = order(&sailing, 3, "sari@example.com");
    wanted["passengers"][1]["name"] = json!("Nguyễn Thị Hạnh");
    wanted["passengers"][2]["name"] =
        json!("Raden Ajeng Kartini Djojoadhiningrat binti Raden Mas Adipati Ario Sosroningrat");
    let booking = world.books(wanted).await.ok();
    let path = world.ticket_of(&booking);
    world.get(&path).send().await.is(409, "not_paid");
    world.pays(&booking).await;

    let pdf = world.pdf(&path, None).await;
    if let Some((text, codes)) = world.read_pdf(&pdf) {
        for said in
            ["Sanur", "Nusa Penida", "08:00 WITA", "08:45 WITA", "Mon 16 Nov 2026", "Rp 450.000"]
        {
            assert!(text.contains(said), "{said} in {text}");
        }
        assert!(text.contains(booking["code"].as_str().unwrap()));
        assert!(text.contains("Nguyễn Thị Hạnh") && text.contains("Sosroningrat"));
        assert!(text.replace(' ', "").contains("3/3"));
        assert_eq!(codes.len(), 3, "one for each");
        assert!(codes.iter().all(|code| code.starts_with("DMT1")));
        assert!(codes[0] != codes[1] && codes[1] != codes[2]);
        let again = world.pdf(&path, None).await;
        assert_eq!(world.read_pdf(&again).unwrap().1, codes, "a ticket stays what it is");
    }

    let reason = json!({ "reason": "x" });
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&cancel, reason).by(&sailing.partner).send().await.ok();
    world.get(&path).send().await.is(409, "already_cancelled");
    world
        .post(&path.replace("/ticket?", "/resend-ticket?"), json!({}))
        .send()
        .await
        .is(404, "not_found");
}

async fn tickets_need_the_credentials_of_the_booking(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let plain = format!("/v1/booking/{}/ticket", booking["id"].as_str().unwrap());
    let admin = world.admin().await;
    world.pdf(&plain, Some(&sailing.partner)).await;
    world.pdf(&plain, Some(&admin)).await;
    world.get(&plain).send().await.is(404, "not_found");
    let other = world.ticket_of(&booking).replace("sari%40", "budi%40").replace("sari@", "budi@");
    world.get(&other).send().await.is(404, "not_found");
    let foreign = world.active_partner("other@bahari.id").await;
    world.get(&plain).by(&foreign).send().await.is(404, "not_found");
    let resend = plain.replace("/ticket", "/resend-ticket");
    world.post(&resend, json!({})).by(&foreign).send().await.is(404, "not_found");
    let wrong = json!({ "code": booking["code"], "email": "budi@example.com" });
    world.post(&resend, wrong).send().await.is(404, "not_found");
}

async fn tickets_are_mailed_with_the_payment_and_again_when_asked(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    let attached = format!("filename=\"{}.pdf\"", booking["code"].as_str().unwrap());
    let with_ticket = || {
        let letters = world.letters_to("sari@example.com");
        letters.iter().filter(|letter| letter.contains(&attached)).count()
    };
    let resend = format!("/v1/booking/{}/resend-ticket", booking["id"].as_str().unwrap());
    let knows = json!({ "code": booking["code"], "email": "sari@example.com" });
    world.post(&resend, knows.clone()).send().await.is(409, "not_paid");
    world.delivers_outbox().await;
    assert_eq!(with_ticket(), 0, "nothing to send so far");
    world.pays(&booking).await;
    world.delivers_outbox().await;
    assert_eq!(with_ticket(), 1);
    world.post(&resend, knows).send().await.ok();
    world.post(&resend, json!({})).by(&sailing.partner).send().await.ok();
    world.delivers_outbox().await;
    assert_eq!(with_ticket(), 3);
    let told = world.get("/v1/notifications").by(&sailing.partner).send().await.ok();
    assert!(told.as_array().unwrap().iter().all(|n| n["type"] != "booking.ticket_wanted"));
}

/// Verifies a ticket offline with the fetched key, as described in `docs/tickets.md`.
async fn a_ticket_is_verified_offline(world: World) {
    use base64::{Engine, prelude::BASE64_STANDARD};
    use ring::signature::{ED25519, UnparsedPublicKey};
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let keys = world.get("/v1/tickets/public-key").send().await.ok();
    assert_eq!((&keys["algorithm"], &keys["older"]), (&json!("Ed25519"), &json!([])));
    let pdf = world.pdf(&world.ticket_of(&booking), None).await;
    let Some((_, codes)) = world.read_pdf(&pdf) else { return };
    let code = codes[0].strip_prefix("DMT1").unwrap();
    assert_eq!(&code[..8], keys["key_id"]);
    let bytes: Vec<u8> = (0..code.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&code[at..at + 2], 16).unwrap())
        .collect();
    let (body, signature) = bytes.split_at(bytes.len() - 64);
    let key = BASE64_STANDARD.decode(keys["public_key"].as_str().unwrap()).unwrap();
    let key = UnparsedPublicKey::new(&ED25519, key);
    key.verify(&[b"DMT1", body].concat(), signature).unwrap();
    let id = |at: usize| dermaga::kernel::ids::Uuid::from_slice(&body[at..at + 16]).unwrap();
    assert_eq!(id(4).to_string(), sailing.id);
    assert_eq!(json!(id(20)), booking["id"]);
    assert_eq!(body[36..], [0, 0]);
    let mut changed = body.to_vec();
    changed[37] = 1;
    assert!(key.verify(&[b"DMT1", changed.as_slice()].concat(), signature).is_err());
}
