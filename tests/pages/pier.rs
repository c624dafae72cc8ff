//! The pier: without a script over HTTP, and as an app in a real browser, with and without network.

use dermaga::{
    edge::{self, Edge},
    kernel::ids,
    tickets::Ticket,
};
use serde_json::{Value, json};

use crate::{
    browser::{self, Browser, DESK, Look, PHONE},
    harbour::{NIK, Sailing, order},
    looks::WALKER,
    on_both_engines,
    sites::session,
    world::{PASSWORD, Someone, World},
};

on_both_engines![
    crew_signs_in_and_lands_on_the_pier,
    on_a_day_without_sailings_the_next_ones_are_shown,
    a_passenger_is_found_by_booking_code_boarded_and_undone,
    a_refusal_is_shown_above_the_list,
    the_list_of_a_telephone_has_no_personal_numbers,
    another_partner_sees_nothing,
    a_batch_of_scans_has_an_outcome_for_each,
    scans_are_sent_by_whoever_made_them,
    the_app_is_installable,
    signing_out_clears_the_device,
    a_form_of_an_ended_session_leads_through_the_sign_in_to_the_list,
];

/// Boarding is today at 13.30; three have paid.
async fn boarding(world: &World) -> (Sailing, Value, Someone) {
    let sailing = world.sailing_soon().await;
    let booking = world.paid_booking(&sailing, 3).await;
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    (sailing, booking, crew)
}

async fn codes(world: &World, sailing: &Sailing, by: &Someone) -> Vec<String> {
    let path = format!("/v1/mitra/route-times/{}/manifest", sailing.id);
    let manifest = world.get(&path).by(by).send().await.ok();
    let passengers = manifest["passengers"].as_array().unwrap().iter();
    passengers.map(|one| one["ticket_code"].as_str().unwrap().to_owned()).collect()
}

async fn boarded(world: &World) -> i64 {
    world.count("SELECT COUNT(*) FROM boardings WHERE undone_at IS NULL").await
}

fn json_of(page: &crate::sites::Page) -> Value {
    assert_eq!(page.status, 200, "{}", page.html);
    serde_json::from_str(&page.html).unwrap()
}

async fn crew_signs_in_and_lands_on_the_pier(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let fields = [("email", crew.email.as_str()), ("password", PASSWORD)];
    let signed_in = world.submits("/console/login", "", &fields).await;
    let cookies = signed_in.cookies();
    let home = world.page(signed_in.location(), &cookies).await;
    assert_eq!((home.status, home.location()), (303, "/pier"));
    let pier = world.page("/pier", &cookies).await;
    assert_eq!(pier.status, 200);
    pier.says("13.30");
    pier.says(&format!("href=\"/pier/{}\"", sailing.id));
    let next = [("email", crew.email.as_str()), ("password", PASSWORD), ("_next", "/pier")];
    assert_eq!(world.submits("/console/login", "", &next).await.location(), "/pier");
}

async fn on_a_day_without_sailings_the_next_ones_are_shown(world: World) {
    let tomorrow = world.sailing().await;
    let pier = world.page("/pier", &session(&tomorrow.partner)).await;
    pier.says("These are the next departures");
    pier.says(&format!("href=\"/pier/{}\"", tomorrow.id));
    assert_eq!(pier.html.matches("class=\"ticket\" href").count(), 1, "of the next day alone");
}

async fn a_passenger_is_found_by_booking_code_boarded_and_undone(world: World) {
    let (sailing, booking, crew) = boarding(&world).await;
    let other = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world.pays(&other).await;
    let (path, cookies) = (format!("/pier/{}", sailing.id), session(&crew));
    let code = booking["code"].as_str().unwrap();
    let found = world.page(&format!("{path}?q={}", code.to_lowercase()), &cookies).await;
    assert_eq!(found.html.matches(&format!("action=\"{path}/board\"")).count(), 3);
    found.says("<b data-slot=\"on\">0</b> of <b data-slot=\"all\">4</b> on board");
    let none = world.page(&format!("{path}?q=nobody"), &cookies).await;
    none.says("Nobody on this list");
    let ticket = codes(&world, &sailing, &crew).await.remove(0);
    let fields = [("ticket_code", ticket.as_str()), ("q", code)];
    let done = world.submits(&format!("{path}/board"), &cookies, &fields).await;
    assert_eq!((done.status, done.location()), (303, format!("{path}?q={code}").as_str()));
    assert_eq!(boarded(&world).await, 1);
    let shown = world.page(done.location(), &format!("{cookies}; {}", done.cookies())).await;
    shown.says("Penumpang 1: The passenger is checked in.");
    shown.says("<b data-slot=\"on\">1</b>");
    assert_eq!(shown.html.matches(&format!("action=\"{path}/undo\"")).count(), 1);
    let undone = world.submits(&format!("{path}/undo"), &cookies, &fields).await;
    assert_eq!((undone.status, undone.location()), (303, format!("{path}?q={code}").as_str()));
    assert_eq!(boarded(&world).await, 0);
}

async fn a_refusal_is_shown_above_the_list(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let (path, cookies) = (format!("/pier/{}", sailing.id), session(&crew));
    let ticket = codes(&world, &sailing, &crew).await.remove(0);
    let fields = [("ticket_code", ticket.as_str())];
    world.submits(&format!("{path}/board"), &cookies, &fields).await;
    let twice = world.submits(&format!("{path}/board"), &cookies, &fields).await;
    assert_eq!(twice.status, 409);
    twice.says("This passenger is already checked in.");
    twice.says("Penumpang 2");
    let forged = [("ticket_code", "DMT1")];
    let forged = world.submits(&format!("{path}/board"), &cookies, &forged).await;
    assert_eq!(forged.status, 422);
    assert_eq!(boarded(&world).await, 1);
    let close = format!("/v1/mitra/route-times/{}/manifest/close", sailing.id);
    world.post(&close, json!({})).by(&crew).send().await.ok();
    let closed = world.page(&path, &cookies).await;
    closed.says("The list is final.");
    assert!(!closed.html.contains(&format!("{path}/board")), "nobody boards any more");
}

async fn the_list_of_a_telephone_has_no_personal_numbers(world: World) {
    let sailing = world.sailing_soon().await;
    let mut order = order(&sailing, 1, "sari@example.com");
    order["passengers"][0] = json!({
        "name": "Ni Ketut Sari", "identity_type": "nik", "identity_number": NIK,
        "birth_date": "1985-04-23", "gender": "female", "nationality": "ID",
    });
    let booking = world.books(order).await.ok();
    world.pays(&booking).await;
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    let secrets = [NIK, "0001", "1985", "81234567890", "sari@example.com"];
    // The partner, who may read identity numbers, keeps none of them on a telephone either.
    for who in [&sailing.partner, &crew] {
        let kept = world.page(&format!("/pier/{}/data", sailing.id), &session(who)).await;
        let data = json_of(&kept);
        let passenger = data["passengers"][0].as_object().unwrap();
        let mut fields: Vec<_> = passenger.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            ["age", "booking_code", "checked_in_at", "gender", "name", "ticket_code"]
        );
        assert_eq!((&passenger["age"], &passenger["gender"]), (&json!(41), &json!("female")));
        assert_eq!(data["person"], who.id.as_str());
        assert_eq!(data["keys"][0]["key"].as_str().map(str::len), Some(44));
        let page = world.page(&format!("/pier/{}", sailing.id), &session(who)).await;
        let without_codes = |text: &str| {
            let mut text = text.to_owned();
            for code in
                [&passenger["ticket_code"], &booking["code"], &json!(sailing.id), &json!(who.id)]
            {
                text = text.replace(code.as_str().unwrap(), "");
            }
            text
        };
        let people = data["passengers"].to_string();
        let list =
            page.html.split("class=\"riders\"").nth(1).unwrap().split("</ul>").next().unwrap();
        for text in [without_codes(&people), without_codes(list)] {
            assert!(text.contains("Ni Ketut Sari"));
            for secret in secrets {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
        }
    }
    let list = json_of(&world.page("/pier/data", &session(&crew)).await);
    assert_eq!(list["sailings"][0]["id"], sailing.id.as_str());
    assert_eq!(list["sailings"][0]["departs"], "13.30");
    assert_eq!(list["sailings"][0]["zone"], "WITA");
}

async fn another_partner_sees_nothing(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let other = world.active_partner("ketut@laut.id").await;
    let (path, cookies) = (format!("/pier/{}", sailing.id), session(&other));
    for page in [path.clone(), format!("{path}/data")] {
        assert_eq!(world.page(&page, &cookies).await.status, 404, "{page}");
        assert_eq!(world.page(&page, "").await.status, 303, "{page}");
    }
    let list = world.page("/pier/data", &cookies).await;
    assert_eq!(json_of(&list)["sailings"], json!([]));
    let ticket = codes(&world, &sailing, &crew).await.remove(0);
    for act in ["board", "undo"] {
        let fields = [("ticket_code", ticket.as_str())];
        let refused = world.submits(&format!("{path}/{act}"), &cookies, &fields).await;
        assert_eq!(refused.status, 404, "{act}");
    }
    let (board, fields) = (format!("{path}/board"), [("ticket_code", ticket.as_str())]);
    let evil = "https://evil.test";
    let evil = world.submits_from(evil, &board, &session(&crew), &fields).await;
    assert_eq!(evil.status, 403, "from another site");
    assert_eq!(boarded(&world).await, 0);
}

async fn a_batch_of_scans_has_an_outcome_for_each(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let (path, cookies) = (format!("/pier/{}/board", sailing.id), session(&crew));
    let tickets = codes(&world, &sailing, &crew).await;
    let scan = |id: &str, code: &str| json!({ "scan_id": id, "ticket_code": code, "scanned_at": world.now() });
    let scans = json!([scan("a", &tickets[0]), scan("b", &tickets[0]), scan("c", "DMT1")]);
    let outcomes = async || {
        let sent = world.submits(&path, &cookies, &[("scans", &scans.to_string())]).await;
        let results = json_of(&sent)["data"]["results"].clone();
        let results = results.as_array().unwrap().iter();
        results.map(|one| one["outcome"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(outcomes().await, ["boarded", "already_boarded", "forged"]);
    assert_eq!(outcomes().await, ["boarded", "already_boarded", "forged"], "sent again");
    assert_eq!(boarded(&world).await, 1);
    let many: Vec<_> = (0..501).map(|n| scan(&n.to_string(), &tickets[1])).collect();
    for wrong in [json!(many).to_string(), "rubbish".into(), "[]".into()] {
        let refused = world.submits(&path, &cookies, &[("scans", &wrong)]).await;
        assert_eq!(refused.status, 422);
    }
    // The largest batch fits into a form.
    let most: Vec<_> = (0..500).map(|n| scan(&format!("{n:032}"), &tickets[1])).collect();
    let sent = world.submits(&path, &cookies, &[("scans", &json!(most).to_string())]).await;
    assert_eq!(json_of(&sent)["data"]["boarded"], 1);
    assert_eq!(boarded(&world).await, 2);
}

async fn scans_are_sent_by_whoever_made_them(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let codes = codes(&world, &sailing, &crew).await;
    let scans = json!([{ "scan_id": "1", "ticket_code": codes[0], "scanned_at": world.now() }]);
    let (path, scans) = (format!("/pier/{}/board", sailing.id), scans.to_string());
    let fields = [("scans", scans.as_str()), ("owner", sailing.partner.id.as_str())];
    let refused = world.submits(&path, &session(&crew), &fields).await;
    assert_eq!(refused.status, 409);
    refused.says("another_person");
    assert_eq!(boarded(&world).await, 0);
    let fields = [("scans", scans.as_str()), ("owner", crew.id.as_str())];
    assert_eq!(world.submits(&path, &session(&crew), &fields).await.status, 200);
    assert_eq!(boarded(&world).await, 1);
}

async fn the_app_is_installable(world: World) {
    let worker = world.page("/pier/sw.js", "").await;
    let header = |page: &crate::sites::Page, name: &str| {
        page.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert_eq!(worker.status, 200);
    assert_eq!(header(&worker, "service-worker-allowed"), "/pier");
    assert_eq!(header(&worker, "cache-control"), "no-cache");
    assert!(header(&worker, "content-type").starts_with("text/javascript"));
    assert!(header(&worker, "content-security-policy").starts_with("default-src 'self'"));
    for file in worker.html.split('"').filter(|part| part.starts_with("/console/assets/")) {
        assert_eq!(world.page(file, "").await.status, 200, "{file}");
    }
    let manifest = world.page("/pier/manifest.webmanifest", "").await;
    assert_eq!(header(&manifest, "content-type"), "application/manifest+json");
    let manifest = json_of(&manifest);
    assert_eq!(manifest["start_url"], "/pier");
    for icon in manifest["icons"].as_array().unwrap() {
        let (status, _, bytes) = world.get(icon["src"].as_str().unwrap()).bytes().await;
        assert_eq!(status, 200);
        let picture = image::load_from_memory(&bytes).unwrap();
        let size = format!("{}x{}", picture.width(), picture.height());
        assert_eq!(icon["sizes"], size);
    }
    let shell = world.page("/pier/shell", "").await;
    assert_eq!(header(&shell, "permissions-policy"), "camera=(self)");
    assert_eq!(header(&shell, "cache-control"), "no-store");
    let elsewhere = world.page("/console/login", "").await;
    assert_eq!(header(&elsewhere, "permissions-policy"), "camera=()");
}

async fn signing_out_clears_the_device(world: World) {
    let (_, _, crew) = boarding(&world).await;
    let out = world.submits("/console/logout", &session(&crew), &[]).await;
    assert_eq!(out.headers["clear-site-data"], "\"storage\"");
}

async fn a_form_of_an_ended_session_leads_through_the_sign_in_to_the_list(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let path = format!("/pier/{}/board", sailing.id);
    world.post("/v1/auth/logout", json!({})).by(&crew).send().await.ok();
    let held = world.submits(&path, &session(&crew), &[("scans", "[]")]).await;
    assert_eq!(held.status, 401, "a script knows that it has to ask for a sign-in");
    let fields =
        [("email", crew.email.as_str()), ("password", PASSWORD), ("_resume", path.as_str())];
    let signed_in = world.submits("/console/login", "", &fields).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, path.as_str()));
    let list = world.page(&path, &signed_in.cookies()).await;
    assert_eq!(list.location(), format!("/pier/{}", sailing.id));
}

mod in_a_browser {
    use crate::world::World;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn scans_wait_for_the_service() {
        super::scans_wait_for_the_service(World::on_sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn without_a_script_a_passenger_is_found_boarded_and_undone() {
        super::without_a_script(World::on_sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_ended_session_goes_on_scanning_and_asks_to_sign_in() {
        super::ended_session(World::on_sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_phone_forgets_after_a_day_and_at_sign_out() {
        super::phone_forgets(World::on_sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_verdict_covers_nothing_that_has_the_focus() {
        super::focus_under_a_verdict(World::on_sqlite().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_pier_can_be_read_in_light_and_dark() {
        super::looks(World::on_sqlite().await).await;
    }
}

/// A detector that reads what the test holds before the camera. Chromium has none on Linux.
const DETECTOR: &str = "window.tickets = [];
    window.BarcodeDetector = class {
      static async getSupportedFormats() { return ['qr_code']; }
      async detect() { const code = tickets.shift(); return code ? [{ rawValue: code }] : []; }
    };";

impl Browser {
    async fn has_a_detector(&self) {
        let script = json!({ "source": DETECTOR });
        self.devtools("Page.addScriptToEvaluateOnNewDocument", script).await;
    }

    /// Opens a list and waits until it is saved and the worker has the page.
    async fn keeps(&self, sailing: &Sailing) {
        self.goes(&format!("/pier/{}", sailing.id)).await;
        self.says("Saved on this phone").await;
        let ready = "return (async () => Boolean(navigator.serviceWorker.controller && await caches.match('/pier/shell', { ignoreVary: true })))()";
        self.waits_for(ready).await;
    }

    async fn waits_for(&self, script: &str) {
        for _ in 0..200 {
            if self.runs(script).await == true {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{script}: {}", self.text().await);
    }

    async fn scans(&self, code: &str, verdict: &str) {
        self.runs(&format!("tickets.push('{code}')")).await;
        let word = "return document.querySelector('.say .word')?.textContent ?? ''";
        for _ in 0..100 {
            if self.runs(word).await == verdict {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{verdict:?} is not shown:\n{}", self.text().await);
    }
}

async fn scans_wait_for_the_service(mut world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let tickets = codes(&world, &sailing, &crew).await;
    let check_in = format!("/v1/mitra/route-times/{}/check-in", sailing.id);
    let body = json!({ "ticket_code": tickets[1] });
    world.post(&check_in, body).by(&crew).send().await.ok();
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.has_a_detector().await;
    browser.signs_in(&crew).await;
    browser.keeps(&sailing).await;
    browser.says("1 of 3 on board").await;
    browser.has_empty_log().await;

    world.drain().await;
    browser.reloads().await;
    browser.says("No network").await;
    browser.says("1 of 3 on board").await;
    browser.presses(".scan").await;
    browser.scans(&tickets[0], "On the list").await;
    browser.says("2 of 3 on board").await;
    browser.says("1 not sent").await;
    browser.pictures("pier-go-phone").await;
    browser.scans(&tickets[1], "Boarded before").await;
    browser.pictures("pier-seen-phone").await;
    let forged =
        format!("{}{}", &tickets[2][..207], if tickets[2].ends_with('0') { "1" } else { "0" });
    browser.scans(&forged, "Not ours").await;
    browser.pictures("pier-stop-phone").await;
    // Signed by the service, for this sailing, and of no booking: the crew decides.
    let sailing_id = sailing.id.parse().unwrap();
    let unknown = Ticket { sailing_id, booking_id: ids::fresh(), place: 0 };
    let unknown = world.app.ticket_keys().sign(unknown);
    browser.scans(&unknown, "Genuine, not on this list").await;
    browser.pictures("pier-ask-phone").await;
    browser.presses(".say button").await;
    browser.says("2 not sent").await;
    assert_eq!(boarded(&world).await, 1);

    let listener = edge::listen(world.address).unwrap();
    let app = world.app.clone();
    tokio::spawn(edge::serve(app, listener, Edge::default(), std::future::pending()));
    browser.waits_for("return !document.body.innerText.includes('not sent')").await;
    browser.says("Look at these").await;
    browser.says("This ticket is not valid.").await;
    browser.says("2 of 3 on board").await;
    assert_eq!(boarded(&world).await, 2, "the one before, and the one that was scanned");
    browser.reloads().await;
    browser.says("2 of 3 on board").await;
    browser.waits_for("return !document.body.innerText.includes('No network')").await;
    browser.presses(".looks button").await;
    browser.waits_for("return !document.body.innerText.includes('Look at these')").await;
    assert_eq!(boarded(&world).await, 2);
    let passengers = world.count("SELECT COUNT(DISTINCT passenger_id) FROM boardings").await;
    assert_eq!(passengers, 2, "once each");
    browser.forgets_log().await;
    browser.closes().await;
}

async fn without_a_script(world: World) {
    let (sailing, booking, crew) = boarding(&world).await;
    // The driver cannot touch a page without scripts, but it can click.
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    browser.signs_in(&crew).await;
    browser.goes("/pier").await;
    browser.presses(".ticket").await;
    browser.says("0 of 3 on board").await;
    browser.types("#q", booking["code"].as_str().unwrap()).await;
    browser.presses(".seek button").await;
    browser.presses(".rider button").await;
    browser.says("1 of 3 on board").await;
    browser.says("Penumpang 1: The passenger is checked in.").await;
    assert_eq!(boarded(&world).await, 1);
    let path = browser.path().await;
    assert!(path.starts_with(&format!("/pier/{}?q=", sailing.id)), "{path}");
    assert_eq!(browser.runs("return document.getElementById('main').dataset.app ?? ''").await, "");
    browser.presses(".rider.on button").await;
    browser.says("0 of 3 on board").await;
    assert_eq!(boarded(&world).await, 0);
    browser.closes().await;
}

async fn ended_session(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let tickets = codes(&world, &sailing, &crew).await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.signs_in(&crew).await;
    browser.keeps(&sailing).await;
    world.post("/v1/auth/logout", json!({})).by(&crew).send().await.ok();
    // As a Bluetooth scanner types it.
    browser.types("#q", &tickets[0]).await;
    browser.says("On the list").await;
    browser.says("1 not sent").await;
    browser.says("Scanning goes on").await;
    // By name, from the list.
    browser.types("#q", "penumpang 3").await;
    browser.presses(".rider button").await;
    browser.says("2 not sent").await;
    assert_eq!(boarded(&world).await, 0);
    browser.follows("Sign in to send").await;
    browser.types("#email", &crew.email).await;
    browser.types("#password", PASSWORD).await;
    browser.presses(".gate button").await;
    browser.says("2 of 3 on board").await;
    browser.waits_for("return !document.body.innerText.includes('not sent')").await;
    assert_eq!(boarded(&world).await, 2);
    // Undo of what was sent goes through the service.
    browser.presses(".rider.on button").await;
    browser.says("1 of 3 on board").await;
    browser.waits_for("return !busy").await;
    assert_eq!(boarded(&world).await, 1);
    browser.closes().await;
}

async fn phone_forgets(mut world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.signs_in(&crew).await;
    browser.goes("/pier").await;
    browser.says("Saved").await;
    browser.keeps(&sailing).await;
    let lists = "return (async () => { await load(); return all('s:').length === 1; })()";
    browser.waits_for(lists).await;
    browser.has_empty_log().await;
    world.drain().await;
    // Arrival is at 14.15; the next day at 14.14 the list is there, and two minutes later it is not.
    let arrives = "Date.parse('2026-11-15T06:15:00Z')";
    for (minutes, shown) in [(-1, "0 of 3 on board"), (1, "This list is not saved")] {
        let clock = format!(
            "return save('clock', {arrives} + DAY + {minutes} * 60000 - Date.now()).then(() => true)"
        );
        browser.waits_for(&clock).await;
        browser.reloads().await;
        browser.says(shown).await;
    }
    let listener = edge::listen(world.address).unwrap();
    let app = world.app.clone();
    tokio::spawn(edge::serve(app, listener, Edge::default(), std::future::pending()));
    browser.keeps(&sailing).await;
    browser.forgets_log().await;
    browser.presses("#sign-out button").await;
    browser.says("Sign in").await;
    let left = "return (async () => {
        const stores = await indexedDB.databases();
        const workers = await navigator.serviceWorker.getRegistrations();
        return stores.length + (await caches.keys()).length + workers.length === 0;
    })()";
    browser.waits_for(left).await;
    browser.forgets_log().await;
    browser.closes().await;
}

async fn focus_under_a_verdict(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let other = world.books(order(&sailing, 12, "putu@example.com")).await.ok();
    world.pays(&other).await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.signs_in(&crew).await;
    browser.keeps(&sailing).await;
    browser.presses(".rider button").await;
    browser.says("On the list").await;
    browser.waits_for("return !busy && !document.body.innerText.includes('not sent')").await;
    browser.runs("[...document.querySelectorAll('.rider button')].at(-1).focus()").await;
    let covered = "const e = document.activeElement;
        return e.matches('.rider button') ? e.getBoundingClientRect().top < document.querySelector('.verdict').getBoundingClientRect().bottom : null";
    for _ in 0..14 {
        browser.tabs_back().await;
        assert_eq!(browser.runs(covered).await, false);
    }
    browser.closes().await;
}

async fn looks(world: World) {
    let (sailing, _, crew) = boarding(&world).await;
    let tickets = codes(&world, &sailing, &crew).await;
    let mut faults = Vec::new();
    for (index, (kind, look)) in
        [("phone", PHONE), ("phone-dark", Look { dark: true, ..PHONE })].into_iter().enumerate()
    {
        let Some(browser) = browser::open(&world, look).await else { return };
        browser.has_a_detector().await;
        browser.signs_in(&crew).await;
        browser.goes("/pier").await;
        browser.says("Saved on this phone").await;
        faults.push((kind, "list", browser.runs(WALKER).await));
        browser.pictures(&format!("pier-{kind}")).await;
        browser.keeps(&sailing).await;
        faults.push((kind, "sailing", browser.runs(WALKER).await));
        browser.pictures(&format!("pier-sailing-{kind}")).await;
        browser.types("#q", &tickets[index]).await;
        browser.says("On the list").await;
        faults.push((kind, "go", browser.runs(WALKER).await));
        browser.pictures(&format!("pier-board-{kind}")).await;
        browser.types("#q", &tickets[index]).await;
        browser.says("Boarded before").await;
        faults.push((kind, "seen", browser.runs(WALKER).await));
        browser.closes().await;
    }
    faults.retain(|(_, _, found)| *found != json!([]));
    assert!(faults.is_empty(), "{faults:#?}");
}
