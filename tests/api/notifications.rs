//! Notifications in the application and by mail.

use std::time::Duration;

use chrono::TimeDelta;
use dermaga::{
    config::{MailUrl, Url},
    kernel::{
        access::Rule,
        outbox::{self, Queue},
    },
};
use futures_util::{StreamExt, future::join_all};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    harbour::order,
    on_both_engines,
    world::{Someone, World},
};

on_both_engines![
    a_partner_is_told_of_its_bookings_in_order,
    staff_are_notified_by_rule,
    notifications_are_read_one_by_one_or_all_at_once,
    notifications_are_their_owners_alone,
    texts_are_in_the_language_of_the_reader,
    new_notifications_are_streamed,
    a_stream_is_complete_under_load,
    a_stream_resumes_after_the_last_id,
    streams_are_limited_per_account,
    a_stream_ends_with_its_session,
    a_stream_does_not_hold_up_a_shutdown,
    events_are_delivered_after_a_crash,
    many_workers_notify_once_and_in_order,
    bookers_get_letters_about_their_booking,
    an_unpaid_booker_is_reminded_once,
    mails_about_a_booking_are_sent_in_order,
    a_hanging_mail_server_delays_only_mails,
    partners_get_letters_about_settlements,
];

async fn notifications_of(world: &World, who: &Someone) -> Vec<Value> {
    let list = world.get("/v1/notifications?page_size=100").by(who).send().await.ok();
    list.as_array().unwrap().clone()
}

fn kinds(told: &[Value]) -> Vec<&str> {
    told.iter().map(|told| told["type"].as_str().unwrap()).collect()
}

async fn a_partner_is_told_of_its_bookings_in_order(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let other = world.active_partner("ketut@laut.id").await;
    let booking = world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let seen = notifications_of(&world, &sailing.partner).await;
    let mut oldest_first = kinds(&seen);
    oldest_first.reverse();
    let of_booking: Vec<_> =
        oldest_first.iter().copied().filter(|kind| kind.starts_with("booking")).collect();
    assert_eq!(
        of_booking,
        ["booking.created", "booking.paid", "booking.completed", "booking.cancelled"]
    );
    let of_settlement: Vec<_> =
        oldest_first.iter().copied().filter(|kind| kind.starts_with("settlement")).collect();
    assert_eq!(of_settlement, ["settlement.created", "settlement.released"]);
    let paid = seen.iter().find(|told| told["type"] == "booking.paid").unwrap();
    assert_eq!(paid["user_id"], json!(sailing.partner.id));
    assert_eq!(paid["title"], "Booking paid");
    let code = booking["code"].as_str().unwrap();
    assert_eq!(
        paid["body"],
        format!(
            "{code} · Sanur – Nusa Penida, 2 passengers, Rp 300.000. The booking has been paid."
        )
    );
    assert_eq!(paid["data"]["booking_id"], booking["id"]);
    assert_eq!(paid["read_at"], json!(null));
    assert!(kinds(&notifications_of(&world, &other).await).is_empty(), "nothing of another");
    assert_eq!(world.count("SELECT COUNT(*) FROM outbox WHERE queue = 'event'").await, 0);
}

async fn staff_are_notified_by_rule(world: World) {
    let admin = world.admin().await;
    let reviewer = world.staff("periksa@dermaga.test", &[Rule::PartnersApprove]).await;
    let cashier = world.staff("kasir@dermaga.test", &[Rule::BookingsWrite]).await;
    let clerk = world.staff("juru@dermaga.test", &[Rule::FleetRead]).await;
    world.submitted_partner("new@bahari.id").await;
    let body = crate::world::registration("other@bahari.id");
    world.post("/auth/register-mitra", body).send().await.ok();
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let wrong = crate::harbour::callback_body(reference, 5, "settlement", "t");
    world.post("/v1/payment/callback", wrong).send().await.ok();
    world.delivers_outbox().await;
    let mut all = notifications_of(&world, &admin).await;
    all.sort_by_key(|told| told["type"].as_str().unwrap().to_owned());
    let mut heard = kinds(&all);
    assert_eq!(heard.len(), 5, "of three who registered");
    heard.dedup();
    assert_eq!(heard, ["partner.registered", "partner.submitted", "payment.review"]);
    assert_eq!(kinds(&notifications_of(&world, &reviewer).await), ["partner.submitted"]);
    let review = notifications_of(&world, &cashier).await;
    assert_eq!(kinds(&review), ["payment.review"]);
    assert_eq!(review[0]["data"]["amount"], 5);
    assert!(notifications_of(&world, &clerk).await.is_empty());
}

async fn partner_with_notifications(world: &World) -> (Someone, Vec<Value>) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    world.paid_booking(&sailing, 1).await;
    world.delivers_outbox().await;
    let list = notifications_of(world, &sailing.partner).await;
    assert_eq!(list.len(), 4);
    (sailing.partner, list)
}

async fn notifications_are_read_one_by_one_or_all_at_once(world: World) {
    let (partner, list) = partner_with_notifications(&world).await;
    let unread = async || {
        let answer = world.get("/v1/notifications?unread=true").by(&partner).send().await;
        let count = answer.body["unread_count"].as_i64().unwrap();
        assert_eq!(answer.body["pagination"]["total_items"], count);
        count
    };
    assert_eq!(unread().await, 4);
    let path = format!("/v1/notifications/{}", list[0]["id"].as_str().unwrap());
    world.advances_clock(TimeDelta::minutes(1));
    let read = world.put(&format!("{path}/read"), json!({})).by(&partner).send().await.ok();
    assert_eq!(read["read_at"], "2026-11-15T03:01:00Z");
    world.advances_clock(TimeDelta::minutes(1));
    let again = world.put(&format!("{path}/read"), json!({})).by(&partner).send().await.ok();
    assert_eq!(again["read_at"], "2026-11-15T03:01:00Z", "it was read when it was read");
    assert_eq!(world.get(&path).by(&partner).send().await.ok(), again);
    assert_eq!(unread().await, 3);
    world.put("/v1/notifications/read-all", json!({})).by(&partner).send().await.ok();
    assert_eq!(unread().await, 0);
    let all = world.get("/v1/notifications?page_size=3").by(&partner).send().await;
    assert_eq!(all.body["unread_count"], 0);
    assert_eq!(all.body["pagination"]["total_items"], 4);
    let bad = world.get("/v1/notifications?unread=maybe").by(&partner).send().await;
    bad.has_field_errors(&[("unread", "type")]);
}

async fn notifications_are_their_owners_alone(world: World) {
    let admin = world.admin().await;
    let (partner, list) = partner_with_notifications(&world).await;
    let other = world.active_partner("ketut@laut.id").await;
    let clerk = world.staff("juru@dermaga.test", &[Rule::UsersRead]).await;
    let path = format!("/v1/notifications/{}", list[0]["id"].as_str().unwrap());
    for stranger in [&other, &clerk, &admin] {
        world.get(&path).by(stranger).send().await.is(404, "not_found");
        let read = world.put(&format!("{path}/read"), json!({})).by(stranger);
        read.send().await.is(404, "not_found");
        world.put("/v1/notifications/read-all", json!({})).by(stranger).send().await.ok();
    }
    let of = |id: &str| format!("/v1/notification/user/{id}");
    let own = world.get(&of(&partner.id)).by(&partner).send().await;
    assert_eq!(own.body["unread_count"], 4);
    assert_eq!(own.ok().as_array().unwrap().len(), 4);
    assert_eq!(
        world.get(&of(&partner.id)).by(&admin).send().await.ok().as_array().unwrap().len(),
        4
    );
    for stranger in [&other, &clerk] {
        world.get(&of(&partner.id)).by(stranger).send().await.is(404, "not_found");
    }
    let nobody = dermaga::kernel::ids::fresh().to_string();
    world.get(&of(&nobody)).by(&admin).send().await.is(404, "not_found");
    world.get(&of("x")).by(&admin).send().await.is(404, "not_found");
}

async fn texts_are_in_the_language_of_the_reader(world: World) {
    let (partner, _) = partner_with_notifications(&world).await;
    let list = world.get("/v1/notifications").by(&partner).header("accept-language", "id");
    let list = list.send().await.ok();
    let titles: Vec<_> = list.as_array().unwrap().iter().map(|told| &told["title"]).collect();
    assert!(titles.contains(&&json!("Pemesanan dibayar")), "{titles:?}");
}

/// A stream that is being read, event by event.
struct Stream {
    text: String,
    body: std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<Vec<u8>>> + Send>>,
}

impl Stream {
    async fn open(world: &World, who: &Someone, last: Option<&str>) -> Self {
        let url = format!("http://{}/v1/notifications/stream", world.address);
        let mut request = crate::world::client().get(url).bearer_auth(&who.token);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let body = response.bytes_stream().map(|piece| piece.map(|bytes| bytes.to_vec()));
        Self { text: String::new(), body: Box::pin(body) }
    }

    /// The next notification; `None` when the stream is over.
    async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = event.to_owned();
                self.text = rest.to_owned();
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                    let data: Value = serde_json::from_str(data).unwrap();
                    let id = format!("id: {}", data["id"].as_str().unwrap());
                    assert!(event.lines().any(|line| line == id), "{event}");
                    return Some(data);
                }
            }
            let piece = tokio::time::timeout(Duration::from_secs(20), self.body.next()).await;
            match piece.expect("something comes") {
                Some(Ok(bytes)) => self.text += std::str::from_utf8(&bytes).unwrap(),
                _ => return None,
            }
        }
    }
}

async fn new_notifications_are_streamed(world: World) {
    let sailing = world.sailing().await;
    let other = world.active_partner("ketut@laut.id").await;
    // One process shows what another was told.
    let beside = match world.db().engine() {
        "postgres" => Some(world.second_process().await),
        _ => None,
    };
    let at = beside.as_ref().unwrap_or(&world);
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let shower = beside.as_ref().map(|beside| {
        let app = beside.app.clone();
        let job = app.jobs.add("show_notifications", Duration::from_secs(1));
        tokio::spawn(async move { dermaga::notifications::run_publish_loop(&app, &job).await })
    });
    let mut stream = Stream::open(at, &sailing.partner, None).await;
    let mut foreign = Stream::open(at, &other, None).await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let event = stream.next().await.unwrap();
    assert_eq!(event["type"], "booking.created");
    assert_eq!(event["data"]["code"], booking["code"]);
    world.pays(&booking).await;
    assert_eq!(stream.next().await.unwrap()["type"], "booking.paid");
    let quiet = tokio::time::timeout(Duration::from_millis(1_500), foreign.next()).await;
    assert!(quiet.is_err(), "nothing of another's");
    worker.abort();
    if let Some(shower) = shower {
        shower.abort();
    }
}

/// Not even when many notifications of others are created at the same time.
async fn a_stream_is_complete_under_load(world: World) {
    let sailing = world.sailing().await;
    let other = world.active_partner("ketut@laut.id").await;
    world.delivers_outbox().await;
    let mut tx = world.db().begin().await.unwrap();
    for _ in 0..1_100 {
        tx.sql(
            "INSERT INTO notifications (id, event_id, account_id, type, data, created_at)
             VALUES ($1, $1, $2, 'x', '{}', $3)",
        )
        .bind(dermaga::kernel::ids::fresh())
        .bind(other.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
        .bind(world.now())
        .run()
        .await
        .unwrap();
    }
    tx.commit().await.unwrap();
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let mut stream = Stream::open(&world, &sailing.partner, None).await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let event = tokio::time::timeout(Duration::from_secs(30), stream.next()).await;
    assert_eq!(event.unwrap().unwrap()["type"], "booking.created");
    worker.abort();
}

async fn a_stream_resumes_after_the_last_id(world: World) {
    let (partner, list) = partner_with_notifications(&world).await;
    // The oldest is known, the other three are not.
    let last = list[3]["id"].as_str().unwrap().to_owned();
    let mut stream = Stream::open(&world, &partner, Some(&last)).await;
    for missed in list[..3].iter().rev() {
        assert_eq!(stream.next().await.unwrap()["id"], missed["id"]);
    }
    let mut rubbish = Stream::open(&world, &partner, Some("rubbish")).await;
    let quiet = tokio::time::timeout(Duration::from_millis(500), rubbish.next()).await;
    assert!(quiet.is_err(), "as if it had not said so");
}

async fn streams_are_limited_per_account(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(Stream::open(&world, &partner, None).await);
    }
    let refused = world.get("/v1/notifications/stream").by(&partner).send().await;
    refused.is(429, "too_many_requests");
    let other = world.active_partner("ketut@laut.id").await;
    Stream::open(&world, &other, None).await;
}

async fn a_stream_ends_with_its_session(world: World) {
    let sailing = world.sailing().await;
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let mut stream = Stream::open(&world, &sailing.partner, None).await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert!(stream.next().await.is_some());
    world.post("/v1/auth/logout", json!({})).by(&sailing.partner).send().await.ok();
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    assert!(stream.next().await.is_none(), "nothing more is told to it");
    worker.abort();
}

async fn a_stream_does_not_hold_up_a_shutdown(mut world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let mut stream = Stream::open(&world, &partner, None).await;
    let ended = tokio::time::timeout(Duration::from_secs(15), world.drain()).await;
    assert!(ended.is_ok());
    assert!(stream.next().await.is_none());
}

async fn events_are_delivered_after_a_crash(mut world: World) {
    let sailing = world.sailing().await;
    world.delivers_outbox().await;
    world.paid_booking(&sailing, 1).await;
    // A process claims the first event and crashes; then this one stops.
    let claimed = outbox::claim(world.db(), Queue::Event, world.now(), 1).await.unwrap();
    assert_eq!(claimed[0].topic, "booking.created");
    world.stops().await;
    let world = world.restarts().await;
    world.delivers_outbox().await;
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    assert!(notifications_of(&world, &partner).await.is_empty(), "what comes after waits, too");
    world.advances_clock(TimeDelta::minutes(2));
    world.delivers_outbox().await;
    let seen = notifications_of(&world, &partner).await;
    assert_eq!(kinds(&seen), ["booking.paid", "booking.created"]);
    assert!(!world.letters_to("sari@example.com").is_empty());
}

async fn many_workers_notify_once_and_in_order(world: World) {
    let sailing = world.sailing().await;
    let mut bookings = Vec::new();
    for n in 0..15 {
        let booking = world.books(order(&sailing, 1, &format!("b{n}@example.com"))).await.ok();
        world.pays(&booking).await;
        bookings.push(booking);
    }
    let mut others = Vec::new();
    if world.db().engine() == "postgres" {
        others = vec![world.second_process().await, world.second_process().await];
    }
    let works = (0..6_usize).map(|n| {
        let at = others.get(n % 3).unwrap_or(&world);
        at.delivers_outbox()
    });
    join_all(works).await;
    world.delivers_outbox().await;
    let seen = notifications_of(&world, &sailing.partner).await;
    assert_eq!(seen.len(), 30);
    for booking in bookings {
        let of: Vec<_> =
            seen.iter().filter(|told| told["data"]["code"] == booking["code"]).cloned().collect();
        assert_eq!(kinds(&of), ["booking.paid", "booking.created"], "newest first");
    }
}

async fn bookers_get_letters_about_their_booking(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut wish = order(&sailing, 2, "sari@example.com");
    wish["contact"]["name"] = json!("Sari <b>");
    let call = world.post("/v1/booking/", wish).header("accept-language", "id");
    let booking = call.send().await.ok();
    world.delivers_outbox().await;
    world.pays(&booking).await;
    world.delivers_outbox().await;
    let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
    let reason = json!({ "reason": "Ombak tinggi" });
    world.post(&format!("{path}/cancel"), reason).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let body = json!({ "reference": "BCA" });
    world.post(&format!("{path}/refund"), body).by(&admin).send().await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert_eq!(letters.len(), 4);
    let code = booking["code"].as_str().unwrap();
    let says = |letter: &str, words: &[&str]| {
        for word in words.iter().chain(&[code]) {
            assert!(letter.contains(word), "{word} is not in {letter}");
        }
    };
    says(
        &letters[0],
        &["Mohon bayar", "Sen 16 Nov 2026, 08.00 WITA", "Rp 300.000", "/pay/", "Bahari Express"],
    );
    says(&letters[1], &["lunas", "Sanur"]);
    says(&letters[2], &["dibatalkan", "Ombak tinggi", "Rp 300.000 akan dikembalikan"]);
    says(&letters[3], &["telah mengembalikan Rp 300.000"]);
    assert!(letters[0].contains("Sari &lt;b&gt;"), "a name is no markup: {}", letters[0]);

    let english = world.books(order(&sailing, 1, "sam@example.com")).await.ok();
    world.delivers_outbox().await;
    world.advances_clock(TimeDelta::hours(1));
    dermaga::bookings::expire(&world.app).await.unwrap();
    world.delivers_outbox().await;
    let letters = world.letters_to("sam@example.com");
    assert!(letters[0].contains("Please pay for your booking"), "{}", letters[0]);
    assert!(letters.last().unwrap().contains("has expired"));
    assert!(letters.last().unwrap().contains(english["code"].as_str().unwrap()));
}

async fn an_unpaid_booker_is_reminded_once(world: World) {
    let sailing = world.sailing().await;
    world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let paid = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world.delivers_outbox().await;
    world.pays(&paid).await;
    world.advances_clock(TimeDelta::minutes(19));
    world.delivers_outbox().await;
    assert_eq!(world.letters_to("sari@example.com").len(), 1);
    world.advances_clock(TimeDelta::minutes(1));
    world.delivers_outbox().await;
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert_eq!(letters.len(), 2);
    assert!(letters.iter().any(|letter| letter.contains("about to expire")));
    let others = world.letters_to("putu@example.com");
    assert!(others.iter().all(|letter| !letter.contains("about to expire")));
}

/// A mail server that accepts connections and never answers.
async fn silent_mail_server() -> (TcpListener, MailUrl) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, MailUrl(Url(format!("smtp://127.0.0.1:{port}"))))
}

async fn mails_about_a_booking_are_sent_in_order(world: World) {
    let closed = silent_mail_server().await.1;
    let world = world.with(|config| config.mail_url = closed).await;
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    world.pays(&booking).await;
    world.delivers_outbox().await;
    let tried = "SELECT COUNT(*) FROM outbox WHERE lane LIKE 'mail/%' AND attempts > 0
        AND CAST(payload AS TEXT) LIKE '%booking.%'";
    assert_eq!(world.count(tried).await, 1, "the second is not even tried");
    let waiting = "SELECT COUNT(*) FROM outbox WHERE lane LIKE 'mail/%'
        AND CAST(payload AS TEXT) LIKE '%booking.%'";
    assert_eq!(world.count(waiting).await, 2);
    // The server is back.
    let world = world.restarts_with(|_| {}).await;
    world.advances_clock(TimeDelta::minutes(10));
    world.delivers_outbox().await;
    let letters = world.letters_to("sari@example.com");
    assert_eq!(letters.len(), 1, "by now it is paid: the first has nothing to say");
    assert!(letters[0].contains("paid"));
}

async fn a_hanging_mail_server_delays_only_mails(world: World) {
    let (listener, url) = silent_mail_server().await;
    let world = world.with(|config| config.mail_url = url).await;
    let admin = world.admin().await;
    // Its address is unreachable, which is detected at once.
    let hook = json!({ "url": "http://localhost:1/", "events": ["booking.created"] });
    world.post("/v1/webhooks", hook).by(&admin).send().await.ok();
    let sailing = world.sailing().await;
    let started = std::time::Instant::now();
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let booked = async {
        for n in 0..40 {
            world.books(order(&sailing, 1, &format!("b{n}@example.com"))).await;
        }
        // Notifications are delivered while mails hang.
        while notifications_of(&world, &sailing.partner).await.len() < 30 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), booked).await.unwrap();
    let letters = "SELECT COUNT(*) FROM outbox WHERE lane LIKE 'mail/%'
        AND CAST(payload AS TEXT) LIKE '%booking.%'";
    assert_eq!(world.count(letters).await, 30);
    // Webhooks do not wait for mails, either.
    let calls = "SELECT COUNT(*) FROM webhook_deliveries WHERE attempts > 0";
    while world.count(calls).await < 30 {
        assert!(started.elapsed() < Duration::from_secs(60), "letters hold up calls");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    worker.abort();
    drop(listener);
}

async fn partners_get_letters_about_settlements(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    world.delivers_outbox().await;
    let letters = world.letters_to("made@bahari.id");
    let letter = letters.iter().find(|letter| letter.contains("STL-")).unwrap();
    for word in ["Rp 270.000", "BCA ******5678", "BCA-1"] {
        assert!(letter.contains(word), "{word} is not in {letter}");
    }
    assert!(!letter.contains("7712345678"));
}
