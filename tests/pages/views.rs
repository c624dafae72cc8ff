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
    the_history_of_a_record_is_one_click_away,
    a_departure_names_the_zones_of_both_ends,
    refunds_begin_with_the_oldest,
    a_draft_of_terms_stands_beside_what_is_in_force,
    records_say_what_they_are_about,
    nothing_waits_for_those_who_may_not_decide,
    a_page_past_the_end_leads_to_the_first,
    an_old_link_leads_to_a_new_one,
    a_departure_of_another_day_names_it,
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
    // Partners who act for themselves are not in the log.
    let admin = world.admin().await;
    world.post(&cancel, json!({ "reason": "x" })).by(&admin).send().await.ok();
    let log = format!("/console/audit?entity_id={}", booking["id"].as_str().unwrap());
    for (path, says) in [("/console/finance/entries", code), (&log, "booking.")] {
        let shown = world.page(path, &session(&clerk)).await;
        shown.says(says);
        assert!(!shown.html.contains(&link), "{path}");
        world.page(path, &session(&other)).await.says(&link);
    }
}

async fn the_history_of_a_record_is_one_click_away(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let settlement = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let settlement = settlement["id"].as_str().unwrap();
    for (page, id) in
        [("boats", sailing.boat.as_str()), ("sailings", &sailing.id), ("settlements", settlement)]
    {
        let (path, link) =
            (format!("/console/{page}/{id}"), format!("href=\"/console/audit?entity_id={id}\""));
        world.page(&path, &session(&admin)).await.says(&link);
        let own = world.page(&path, &session(&sailing.partner)).await;
        assert_eq!(own.status, 200);
        assert!(!own.html.contains(&link), "a partner may not read the log");
        assert_eq!(
            world.page(&format!("/console/audit?entity_id={id}"), &session(&admin)).await.status,
            200
        );
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

async fn a_draft_of_terms_stands_beside_what_is_in_force(world: World) {
    let (author, publisher) = (world.admin().await, world.second_admin().await);
    let drafts = async |content: &str| {
        let body = json!({ "type": "customer", "content": content, "user_creator_id": author.id });
        let draft = world.post("/v1/configurations/term-condition/create", body).by(&author);
        draft.send().await.ok()
    };
    let first = drafts("Tiba awal.").await;
    let body = json!({ "id": first["id"], "user_validator_id": publisher.id });
    let published = world.post("/v1/configurations/term-condition/publish", body).by(&publisher);
    published.send().await.ok();
    drafts("Tiba lebih awal.").await;
    let shown = world.page("/console/terms?type=customer", &session(&author)).await;
    shown.says("<h3>In force: version 1</h3><pre class=\"terms\">Tiba awal.</pre>");
    shown.says("<h3>Draft</h3><pre class=\"terms\">Tiba lebih awal.</pre>");
}

async fn records_say_what_they_are_about(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let admin = world.admin().await;
    let promotion = json!({
        "title": "Lebaran", "code": "LEBARAN", "discount": { "type": "percentage", "value": 10 },
        "period": { "start_date": "2026-11-01", "end_date": "2026-12-01" },
        "funded_by": "platform", "target_type": "all", "status": "active", "quota": 40,
        "description": "", "tnc": "",
    });
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let cookies = session(&admin);
    let promotions = world.page("/console/promotions", &cookies).await;
    promotions.says("</svg> 0/40</span>");
    let system = world.page("/console/system", &cookies).await;
    system.says("href=\"/docs\"");
    system.says("href=\"/metrics\"");
    let indonesian = cookies.replace("dermaga_lang=en", "dermaga_lang=id");
    let reports = world.page("/console/reports?start_date=2026-11-15", &indonesian).await;
    reports.says("<caption class=\"hide\">Menurut mitra</caption>");
    let found = world.page("/console/find?q=Bahari", &cookies).await;
    found.says("<thead><tr><th scope=\"col\">Name</th>");
    let partner = world.partner_id(&sailing.partner).await;
    let partner = world.page(&format!("/console/partners/{partner}"), &cookies).await;
    partner.says("<thead><tr><th scope=\"col\">Code</th>");
    let booking = format!("/console/bookings/{}", booking["id"].as_str().unwrap());
    world.page(&booking, &cookies).await.says("<p class=\"small\">As of <time");
}

async fn nothing_waits_for_those_who_may_not_decide(world: World) {
    world.submitted_partner("made@bahari.id").await;
    let reviewer = session(&world.staff("ayu@dermaga.test", &[Rule::PartnersRead]).await);
    world.page("/console", &reviewer).await.says("id=\"waits\"");
    let clerk = session(&world.staff("dian@dermaga.test", &[Rule::FinanceRead]).await);
    let home = world.page("/console", &clerk).await;
    assert_eq!(home.status, 200);
    assert!(!home.html.contains("id=\"waits\""), "{}", home.html);
}

async fn a_page_past_the_end_leads_to_the_first(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    world.adds_boat(&partner, "GT. 1").await;
    let past = world.page("/console/boats?status=active&page=99", &session(&partner)).await;
    past.says("There is no such page");
    past.says("href=\"/console/boats?status=active&amp;page_size=20\"");
}

async fn an_old_link_leads_to_a_new_one(world: World) {
    let form = world.page("/console/reset?token=unknown", "dermaga_lang=en").await;
    assert!(!form.html.contains("/console/forgot"), "{}", form.html);
    let fields =
        [("token", "unknown"), ("password", "ombak tinggi 7"), ("cpassword", "ombak tinggi 7")];
    let refused = world.submits("/console/reset", "dermaga_lang=en", &fields).await;
    assert_eq!(refused.status, 401, "{}", refused.html);
    refused.says("href=\"/console/forgot\"");
}

async fn a_departure_of_another_day_names_it(world: World) {
    let sailing = world.sailing().await;
    let partner = session(&sailing.partner);
    world
        .page("/console", &partner)
        .await
        .says("<span class=\"on-day small\">Mon\u{a0}16\u{a0}Nov\u{a0}2026</span>");
    // Midnight at the harbour.
    world.advances_clock(TimeDelta::hours(14));
    let partner = session(&world.signs_in(&sailing.partner.email, "mitra").await);
    let home = world.page("/console", &partner).await;
    let first = home.html.split("class=\"ticket\"").nth(1).expect("a departure").to_owned();
    assert!(!first.contains("on-day"), "{first}");
}
