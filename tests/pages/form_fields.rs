//! What the fields of forms start with, and what they offer to choose from.

use dermaga::kernel::access::Rule;
use reqwest::Method;
use serde_json::json;

use crate::{
    on_both_engines,
    sites::session,
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
