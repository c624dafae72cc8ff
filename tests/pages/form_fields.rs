//! What the fields of forms start with, and what they offer to choose from.

use dermaga::kernel::access::Rule;
use reqwest::Method;
use serde_json::json;

use crate::{
    on_both_engines,
    sites::{Page, session},
    world::{World, client},
};

on_both_engines![
    a_checkbox_starts_as_the_operation_would_decide,
    clerks_choose_partners_by_name,
    the_way_of_a_refund_is_chosen,
    a_promotion_without_a_quota_is_created,
    sailings_of_a_route_are_in_its_zone_from_today_on,
    faults_are_listed_in_the_order_of_the_form,
    a_profile_is_locked_while_acting_for_a_partner,
    an_unknown_address_is_a_page_for_browsers,
    a_record_leads_back_to_the_filtered_list,
    a_settlement_and_a_balance_add_up,
    a_partner_is_told_of_its_next_settlement,
    papers_say_what_handing_in_needs,
    an_arrival_on_the_next_day_says_so,
    a_new_partner_reads_the_terms,
];

async fn a_checkbox_starts_as_the_operation_would_decide(world: World) {
    let admin = session(&world.admin().await);
    let webhook = world.page("/console/webhooks/new", &admin).await;
    webhook.says("name=\"active\" value=\"true\" checked");
    let fields =
        [("url", "https://example.com/x"), ("events[]", "booking.paid"), ("active", "false")];
    let made = world.submits("/console/webhooks/new", &admin, &fields).await;
    assert_eq!(made.status, 200, "{}", made.html);
    assert_eq!(world.count("SELECT COUNT(*) FROM webhooks WHERE active").await, 0);

    let sailing = world.sailing().await;
    let partner = session(&sailing.partner);
    let lines = world.get("/v1/mitra/lines").by(&sailing.partner).send().await.ok();
    let path = format!("/console/lines/{}/edit", lines[0]["id"].as_str().unwrap());
    let adult = [
        ("fares[0].name.en", "Adult"),
        ("fares[0].name.id", "Dewasa"),
        ("fares[0].category", "adult"),
        ("fares[0].price.percent", "100"),
        ("fares[0].takes_seat", "false"),
        ("_add", "fares"),
    ];
    let row = world.submits(&path, &partner, &adult).await;
    row.says("name=\"fares[1].takes_seat\" value=\"true\" checked");
    // What was cleared stays cleared.
    assert!(
        !row.html.contains("name=\"fares[0].takes_seat\" value=\"true\" checked"),
        "{}",
        row.html
    );
    row.says("name=\"fares[0].takes_seat\" value=\"true\"");
}

async fn clerks_choose_partners_by_name(world: World) {
    let sailing = world.sailing().await;
    let rules =
        [Rule::SettlementsRead, Rule::SettlementsWrite, Rule::FinanceRead, Rule::FinanceWrite];
    let clerk = session(&world.staff("dian@dermaga.test", &rules).await);
    let id = world.partner_id(&sailing.partner).await;
    for path in
        ["/console/settlements/new", "/console/receipts/new", "/console/finance/journals/new"]
    {
        let form = world.page(path, &clerk).await;
        assert_eq!(form.status, 200, "{path}");
        form.says("<select id=\"f-mitra-id\"");
        form.says(&format!("value=\"{id}\""));
    }
    // Nobody types an id: a partner has no other to choose.
    let boat = world.page("/console/boats/new", &session(&sailing.partner)).await;
    assert!(!boat.html.contains("name=\"mitra_id\""), "{}", boat.html);
}

async fn the_way_of_a_refund_is_chosen(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let admin = world.admin().await;
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "Sakit" })).by(&admin).send().await.ok();
    let refunds = world.get("/v1/refunds").by(&admin).send().await.ok();
    let path = format!("/console/refunds/{}/pay", refunds[0]["id"].as_str().unwrap());
    let form = world.page(&path, &session(&admin)).await;
    form.says("<select id=\"f-by\"");
    form.says("<option value=\"bank\"");
}

async fn a_promotion_without_a_quota_is_created(world: World) {
    let admin = session(&world.admin().await);
    let fields = [
        ("title", "Lebaran"),
        ("code", "LEBARAN"),
        ("discount.type", "percentage"),
        ("discount.value", "10"),
        ("period.start_date", "2026-11-01"),
        ("period.end_date", "2026-12-01"),
        ("quota", ""),
        ("funded_by", "platform"),
        ("target_type", "all"),
        ("status", "active"),
        ("description", ""),
        ("tnc", ""),
    ];
    let made = world.submits("/console/promotions/new", &admin, &fields).await;
    assert_eq!(made.status, 303, "{}", made.html);
    assert_eq!(world.count("SELECT COUNT(*) FROM promotions WHERE quota IS NULL").await, 1);
}

async fn sailings_of_a_route_are_in_its_zone_from_today_on(world: World) {
    let sailing = world.sailing().await;
    let partner = session(&sailing.partner);
    let routes = world.get("/v1/mitra/speedboat-routes").by(&sailing.partner).send().await.ok();
    let path = format!("/console/routes/{}/sailings", routes[0]["id"].as_str().unwrap());
    let shown = world.page(&path, &partner).await;
    shown.says("WITA");
    assert!(!shown.html.contains("WIB</time>"), "{}", shown.html);
    shown.says("name=\"start_date\" type=\"date\" value=\"2026-11-15\"");
    shown.says(&sailing.id);
    world.advances_clock(chrono::TimeDelta::days(400));
    let later = session(&world.signs_in(&sailing.partner.email, "mitra").await);
    assert!(!world.page(&path, &later).await.html.contains(&sailing.id), "it has sailed");
    world.page(&format!("{path}?start_date=2026-11-01"), &later).await.says(&sailing.id);
}

async fn faults_are_listed_in_the_order_of_the_form(world: World) {
    let partner = session(&world.active_partner("made@bahari.id").await);
    let fields = [("name", ""), ("registration_number", ""), ("capacity", "9000")];
    let refused = world.submits("/console/boats/new", &partner, &fields).await;
    assert_eq!(refused.status, 422);
    let place = |id: &str| refused.html.find(&format!("href=\"#{id}\"")).expect("it is listed");
    assert!(place("f-name") < place("f-registration-number"), "{}", refused.html);
    assert!(place("f-registration-number") < place("f-capacity"), "{}", refused.html);
}

async fn a_profile_is_locked_while_acting_for_a_partner(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let admin = world.admin().await;
    let path = format!("/console/partners/{}/impersonate", world.partner_id(&partner).await);
    let acting = world.submits(&path, &session(&admin), &[("reason", "Bantuan")]).await;
    assert_eq!(acting.status, 303, "{}", acting.html);
    let cookies = format!("{}; {}", session(&admin), acting.cookies());
    for path in ["/console/account/edit", "/console/account/password"] {
        let form = world.page(path, &cookies).await;
        form.says("It is locked while you act for the partner.");
    }
}

async fn an_unknown_address_is_a_page_for_browsers(world: World) {
    let address = format!("http://{}/nope", world.address);
    let ask = async |accept: &str| {
        let request = client().request(Method::GET, &address).header("accept", accept);
        let response = request.send().await.unwrap();
        (
            response.status().as_u16(),
            response.headers()["content-type"].to_str().unwrap().to_owned(),
        )
    };
    let browser = ask("text/html,application/xhtml+xml,*/*;q=0.8").await;
    assert_eq!(browser, (404, "text/html; charset=utf-8".into()));
    let program = ask("*/*").await;
    assert_eq!(program, (404, "application/json".into()));
}

async fn a_record_leads_back_to_the_filtered_list(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let admin = session(&world.admin().await);
    let path = format!("/console/bookings/{}", booking["id"].as_str().unwrap());
    let from = async |referer: &str| {
        let address = format!("http://{}{path}", world.address);
        let request = client().request(Method::GET, address).header("cookie", &admin);
        let response = request.header("referer", referer).send().await.unwrap();
        response.text().await.unwrap()
    };
    let origin = format!("http://{}", world.address);
    let back = from(&format!("{origin}/console/bookings?channel=web&page=3")).await;
    assert!(back.contains("href=\"/console/bookings?channel=web&amp;page=3\""), "{back}");
    for other in ["/console/refunds?page=3", "//evil.example/console/bookings/x?page=3"] {
        let back = from(&format!("{origin}{other}")).await;
        assert!(back.contains("href=\"/console/bookings\""), "{back}");
        assert!(!back.contains("page=3"), "{back}");
    }
}

async fn a_partner_is_told_of_its_next_settlement(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let path = "/console/settlements";
    let (own, staff) = (session(&sailing.partner), session(&admin));
    assert!(!world.page(path, &own).await.html.contains("Next settlement"), "nothing is scheduled");
    let weekly = json!({ "schedule": "weekly", "day": 1, "hold_days": 2 });
    world.post("/v1/settlements/configuration", weekly).by(&admin).send().await.ok();
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    // Today is Sunday.
    let shown = world.page(path, &own).await;
    let day = "<time datetime=\"2026-11-16\">Mon\u{a0}16\u{a0}Nov\u{a0}2026</time>";
    shown.says(&format!("Next settlement: <b>{day}</b>"));
    shown.says("Not settled yet: <b>Rp\u{a0}270.000</b>");
    let indonesian = own.replace("dermaga_lang=en", "dermaga_lang=id");
    let shown = world.page(path, &indonesian).await;
    let day = day.replace("Mon", "Sen");
    shown.says(&format!("Pembayaran berikutnya: <b>{day}</b>"));
    shown.says("Belum dibayarkan: <b>Rp\u{a0}270.000</b>");
    let agreement = world.page("/console/agreement", &own).await;
    agreement.says("Includes departures until");
    let all = world.page(path, &staff).await;
    assert!(!all.html.contains("Next settlement"), "{}", all.html);
}

async fn papers_say_what_handing_in_needs(world: World) {
    let partner = session(&world.partner("made@bahari.id").await);
    let count = |page: &Page, words: &str| page.html.matches(words).count();
    for (step, needed, optional) in [("business", 7, 1), ("pic", 5, 0), ("bank", 3, 0)] {
        let form = world.page(&format!("/console/onboarding/{step}"), &partner).await;
        assert_eq!(count(&form, "(needed to hand in)"), needed, "{step}: {}", form.html);
        assert_eq!(count(&form, "(optional)"), optional, "{step}: {}", form.html);
    }
    let documents = world.page("/console/onboarding/documents", &partner).await;
    assert_eq!(count(&documents, " (needed)</option>"), 5, "{}", documents.html);
    documents.says("Bank book (needed)</option>");
    assert_eq!(count(&documents, "(optional)"), 0, "{}", documents.html);
    let indonesian = partner.replace("dermaga_lang=en", "dermaga_lang=id");
    let form = world.page("/console/onboarding/pic", &indonesian).await;
    assert_eq!(count(&form, "(wajib untuk pengajuan)"), 5);
}

async fn an_arrival_on_the_next_day_says_so(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let mut night = crate::harbour::route(&boat);
    night["times"] = json!([{ "departure_time": "23:30", "arrival_time": "01:00" }]);
    let route = world.creates_route(&partner, night).await;
    let cookies = session(&partner);
    let shown = world.page(&format!("/console/routes/{route}"), &cookies).await;
    shown.says("01:00 +1\u{a0}day");
    let publish = world.page(&format!("/console/routes/{route}/publish"), &cookies).await;
    publish.says("23:30 – 01:00 +1\u{a0}day");
    world.publishes_route(&partner, &route).await.ok();
    let sign = "<b><time datetime=\"2026-11-16T17:00:00Z\">01.00</time></b>\
        <span>Nusa Penida · +1\u{a0}day</span>";
    world.page("/console/sailings?date=2026-11-16", &cookies).await.says(sign);
    let search = "search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1";
    let found = world.page(&format!("/en/{search}"), "").await;
    found.says(sign);
    let book = found.html.split("href=\"/en/book/").nth(1).unwrap().split('"').next().unwrap();
    let book = format!("/en/book/{}", book.replace("&amp;", "&"));
    world.page(&book, "").await.says(sign);
    world.page(&format!("/{search}"), "").await.says("+1\u{a0}hari");
}

async fn a_settlement_and_a_balance_add_up(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let admin = world.admin().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    world.advances_clock(chrono::TimeDelta::days(3));
    world.completes_paid_bookings().await;
    let admin = world.signs_in(&admin.email, "admin").await;
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let settlement = world.creates_settlement(&partner, &admin).await.ok();
    let path = format!("/console/settlements/{}", settlement["id"].as_str().unwrap());
    let cookies = session(&admin);
    let shown = world.page(&path, &cookies).await;
    let table = shown.html.split("<table class=\"ledger\"").nth(1).expect("its items");
    let head = table.split("</thead>").next().unwrap().matches("<th scope").count();
    let total = table.split("<tfoot>").nth(1).expect("a total");
    let total = total.split("</tfoot>").next().unwrap();
    assert_eq!(total.matches("<td").count() + 3, head, "{table}");
    let balance = world.page("/console/finance/balance?start_date=2026-11-01", &cookies).await;
    let total = balance.html.split("<tfoot>").nth(1).expect("a total");
    assert!(total.contains("Rp"), "{total}");
}

async fn a_new_partner_reads_the_terms(world: World) {
    let before = world.page("/console/register", "").await;
    assert!(!before.html.contains("class=\"conditions\""), "nothing is published yet");
    let admin = world.admin().await;
    let terms = |by: &str| json!({ "type": "mitra", "content": "<h1>Syarat</h1><p>Perahu laik laut.</p>", "user_creator_id": by });
    let path = "/v1/configurations/term-condition";
    let draft =
        world.post(&format!("{path}/create"), terms(&admin.id)).by(&admin).send().await.ok();
    let other = world.second_admin().await;
    let publish = json!({ "id": draft["id"], "user_validator_id": other.id });
    world.post(&format!("{path}/publish"), publish).by(&other).send().await.ok();
    let register = world.page("/console/register", "").await;
    register.says("Perahu laik laut.");
    assert_eq!(register.html.matches("<h1").count(), 1, "{}", register.html);
}
