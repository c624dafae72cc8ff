//! Lists and records, without a browser: what they show first, what they link, and to whom.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule;
use serde_json::{Value, json};

use crate::{
    harbour::{self, callback_body, order},
    on_both_engines,
    sites::session,
    world::World,
};

on_both_engines![
    a_day_of_sailings_keeps_its_filters_and_has_pages_and_a_file,
    cancelling_a_sailing_says_how_many_people_and_how_much_money,
    payment_reviews_show_what_waits_with_its_booking,
    home_shows_departures_before_figures,
    codes_link_bookings_for_those_who_may_open_them,
    a_departure_names_the_zones_of_both_ends,
    refunds_begin_with_the_oldest,
];

async fn a_day_of_sailings_keeps_its_filters_and_has_pages_and_a_file(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let times = (0..24).flat_map(|hour| {
        [("00", "20"), ("30", "50")].map(|(departs, arrives)| {
            json!({
                "departure_time": format!("{hour:02}:{departs}"),
                "arrival_time": format!("{hour:02}:{arrives}"),
            })
        })
    });
    let times: Vec<_> = times.collect();
    let mut boats = Vec::new();
    for number in 1..=3 {
        let boat = world.adds_boat(&partner, &format!("GT. {number}")).await;
        let mut route = harbour::route(&boat);
        (route["end_date"], route["times"]) = (json!("2026-11-16"), json!(times));
        let route = world.creates_route(&partner, route).await;
        world.publishes_route(&partner, &route).await.ok();
        boats.push(boat);
    }
    let cookies = session(&partner);
    let first = world.page("/console/sailings?date=2026-11-16", &cookies).await;
    first.says("144 departures, page 1 of 2");
    assert_eq!(first.html.matches("class=\"ticket\"").count(), 100);
    first.says("href=\"/console/sailings?date=2026-11-15\" rel=\"prev\"");
    first.says("href=\"/console/sailings?date=2026-11-16&amp;page=2\"");
    let second = world.page("/console/sailings?date=2026-11-16&page=2", &cookies).await;
    assert_eq!(second.html.matches("class=\"ticket\"").count(), 44);
    second.says("href=\"/console/sailings?date=2026-11-16&amp;page=1\"");

    let kept = format!("speedboat_id={}", boats[0]);
    let path = format!("/console/sailings?date=2026-11-16&{kept}");
    let shown = world.page(&path, &cookies).await;
    assert_eq!(shown.html.matches("class=\"ticket\"").count(), 48);
    for date in ["2026-11-15", "2026-11-17", "2026-11-18"] {
        shown.says(&format!("href=\"/console/sailings?date={date}&amp;{kept}\""));
    }
    shown.says(&format!("{}&amp;format=csv\"", path.replace('&', "&amp;")));
    let file = world.page(&format!("{path}&format=csv"), &cookies).await;
    assert!(file.headers["content-type"].to_str().unwrap().starts_with("text/csv"));
    assert_eq!(file.html.lines().count(), 1 + 48);
    let other = format!("/console/sailings?date=2026-11-17&{kept}&format=csv");
    assert_eq!(world.page(&other, &cookies).await.html.lines().count(), 1, "of the day alone");
    assert!(!shown.html.contains("data-submit"), "a date is not sent while it is typed");
}

async fn cancelling_a_sailing_says_how_many_people_and_how_much_money(world: World) {
    let sailing = world.sailing().await;
    let later = world.sailing_of_another_day(&sailing).await;
    let cookies = session(&sailing.partner);
    let cancel = format!("/console/sailings/{}/cancel", sailing.id);
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world
        .page(&cancel, &cookies)
        .await
        .says("1 booking with 1 passenger is cancelled. No booking is paid, so nothing is owed.");
    world.paid_booking(&sailing, 2).await;
    world.page(&cancel, &cookies).await.says(
        "2 bookings with 3 passengers are cancelled. Paid bookings: 1. Owed back: \
         <b>Rp\u{a0}300.000</b>.",
    );
    let empty = world.page(&format!("/console/sailings/{}/cancel", later.id), &cookies).await;
    empty.says("Nobody has booked");
    let done = world.submits(&cancel, &cookies, &[("reason", "Ombak tinggi")]).await;
    assert_eq!(done.status, 303, "{}", done.html);
}

async fn payment_reviews_show_what_waits_with_its_booking(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let reference = booking["payment"]["reference"].as_str().unwrap();
    let wrong = callback_body(reference, 149_999, "settlement", "t1");
    world.post("/v1/payment/callback", wrong).send().await.ok();
    let clerk = world.staff("ayu@dermaga.test", &[Rule::BookingsRead, Rule::BookingsWrite]).await;
    let reviews = world.get("/v1/payment/reviews").by(&clerk).send().await.ok();
    assert_eq!(reviews[0]["booking_code"], booking["code"]);
    assert_eq!(reviews[0]["booking_status"], "pending_payment");

    let (code, cookies) = (booking["code"].as_str().unwrap(), session(&clerk));
    let waits = world.page("/console/payment-reviews", &cookies).await;
    let id = booking["id"].as_str().unwrap();
    waits.says(&format!("href=\"/console/bookings/{id}\">{code}</a>"));
    waits.says("Awaiting payment</span>");
    waits.says("href=\"/console/payment-reviews?open=false\"");
    let review = reviews[0]["id"].as_str().unwrap();
    let decision = json!({ "action": "refund", "note": "Salah jumlah" });
    let resolve = format!("/v1/payment/reviews/{review}/resolve");
    world.post(&resolve, decision).by(&clerk).send().await.ok();
    let none = world.page("/console/payment-reviews", &cookies).await;
    none.says("Nothing waits");
    assert!(!none.html.contains(code));
    let decided = world.page("/console/payment-reviews?open=false", &cookies).await;
    decided.says(code);
    decided.says("Salah jumlah");
}

async fn home_shows_departures_before_figures(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let home = world.page("/console", &session(&admin)).await;
    let at = |words: &str| home.html.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(at("id=\"next\"") < at("class=\"figures\""));
    home.says(&format!("href=\"/console/sailings/{}\"", sailing.id));
    // Whoever may not open a sailing sees it without a link.
    let staff = world.staff("ayu@dermaga.test", &[Rule::PromotionsRead]).await;
    let home = world.page("/console", &session(&staff)).await;
    home.says("class=\"ticket\"");
    assert!(!home.html.contains("href=\"/console/sailings/"), "{}", home.html);
    assert!(!home.html.contains("href=\"/console/routes/"));
}

async fn codes_link_bookings_for_those_who_may_open_them(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let link = format!("href=\"/console/bookings/{}\"", booking["id"].as_str().unwrap());
    let code = booking["code"].as_str().unwrap();
    let clerk = world.staff("ayu@dermaga.test", &[Rule::FinanceRead, Rule::AuditRead]).await;
    let other = [Rule::FinanceRead, Rule::AuditRead, Rule::BookingsRead];
    let other = world.staff("komang@dermaga.test", &other).await;
    let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&cancel, json!({ "reason": "x" })).by(&sailing.partner).send().await.ok();
    let log = format!("/console/audit?entity_id={}", booking["id"].as_str().unwrap());
    for (path, says) in [("/console/finance/entries", code), (&log, "booking.")] {
        let shown = world.page(path, &session(&clerk)).await;
        shown.says(says);
        assert!(!shown.html.contains(&link), "{path}");
        world.page(path, &session(&other)).await.says(&link);
    }
}

async fn a_departure_names_the_zones_of_both_ends(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let mut route = harbour::route(&boat);
    (route["from"], route["to"]) = (json!("Banyuwangi"), json!("Gilimanuk"));
    // Java is one hour behind Bali.
    route["timezone"] = Value::Null;
    route["times"] = json!([{ "departure_time": "08:00", "arrival_time": "09:45" }]);
    let route = world.creates_route(&partner, route).await;
    world.publishes_route(&partner, &route).await.ok();
    let cookies = session(&partner);
    let day = world.page("/console/sailings?date=2026-11-16", &cookies).await;
    day.says(" · WIB</span>");
    day.says(" · WITA</span>");
    let pier = world.page("/pier", &cookies).await;
    pier.says("<small data-t=\"zone\">WIB</small>");
    pier.says("<small data-t=\"arrival_zone\">WITA</small>");
    // A state does not take its place.
    let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
    let reason = json!({ "reason": "Ombak tinggi" });
    let cancel = format!("/v1/mitra/route-times/{id}/cancel");
    world.post(&cancel, reason).by(&partner).send().await.ok();
    let day = world.page("/console/sailings?date=2026-11-16", &cookies).await;
    day.says("chip bad");
    day.says(" · WIB</span>");
}

async fn refunds_begin_with_the_oldest(world: World) {
    let sailing = world.sailing().await;
    let mut codes = Vec::new();
    for _ in 0..2 {
        let booking = world.paid_booking(&sailing, 1).await;
        let cancel = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
        let reason = json!({ "reason": "x" });
        world.post(&cancel, reason).by(&sailing.partner).send().await.ok();
        codes.push(booking["code"].as_str().unwrap().to_owned());
        world.advances_clock(TimeDelta::minutes(1));
    }
    let shown = world.page("/console/refunds", &session(&sailing.partner)).await;
    let at = |code: &str| shown.html.find(code).unwrap_or_else(|| panic!("{code}"));
    assert!(at(&codes[0]) < at(&codes[1]));
}
