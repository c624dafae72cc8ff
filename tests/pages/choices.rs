//! Choosing among many records: search steps, the filter by partner, and moving a booking by its day.

use serde_json::json;

use crate::{
    harbour::order,
    on_both_engines,
    sites::session,
    world::{Someone, World},
};

on_both_engines![
    a_field_with_many_records_is_searched,
    the_targets_of_a_promotion_are_chosen_by_name,
    a_list_is_filtered_by_the_name_of_a_partner,
    a_booking_moves_to_a_sailing_of_another_day,
    a_move_that_costs_more_waits_for_its_payment,
    the_audit_log_has_sentences,
    help_is_at_the_foot_of_every_page,
    mailed_links_lead_to_pages_of_the_console,
];

async fn a_field_with_many_records_is_searched(world: World) {
    let admin = world.admin().await;
    let partner = world.active_partner("made@bahari.id").await;
    for number in 1..=101 {
        let mut boat = crate::harbour::boat(&format!("GT. {number}"));
        boat["name"] = json!(format!("Kapal {number:03}"));
        world.post("/v1/speedboats", boat).by(&partner).send().await.ok();
    }
    let cookies = session(&admin);
    let form = world.page("/console/routes/new", &cookies).await;
    form.says("name=\"_search.speedboat_id\"");
    let listed = form.html.matches("<option value=\"0").count();
    assert_eq!(listed, 100);
    let missing = (1..=101).map(|number| format!("Kapal {number:03}"));
    let missing = missing.into_iter().find(|name| !form.html.contains(name.as_str())).unwrap();
    let find = [("from", "Sanur"), ("_search.speedboat_id", &missing), ("_find", "speedboat_id")];
    let found = world.submits("/console/routes/new", &cookies, &find).await;
    assert_eq!(found.status, 200);
    found.says(&missing);
    found.says("name=\"from\" value=\"Sanur\"");
    found.says(&format!("name=\"_search.speedboat_id\" value=\"{missing}\""));
    assert_eq!(found.html.matches("<option value=\"0").count(), 1);
}

async fn the_targets_of_a_promotion_are_chosen_by_name(world: World) {
    let admin = world.admin().await;
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let cookies = session(&admin);
    let form = world.page("/console/promotions/new", &cookies).await;
    form.says("name=\"_find\" value=\"target_ids\"");
    let chosen = [("title", "Lebaran"), ("target_type", "speedboat"), ("_find", "target_ids")];
    let listed = world.submits("/console/promotions/new", &cookies, &chosen).await;
    listed.says(&format!("name=\"target_ids[]\" value=\"{boat}\""));
    listed.says("Bahari Express");
    listed.says("name=\"title\" value=\"Lebaran\"");
    let fields = [
        ("title", "Lebaran"),
        ("code", "LEBARAN10"),
        ("discount.type", "percentage"),
        ("discount.value", "10"),
        ("period.start_date", "2026-11-01"),
        ("period.end_date", "2026-12-01"),
        ("quota", "100"),
        ("funded_by", "platform"),
        ("target_type", "speedboat"),
        ("target_ids[]", ""),
        ("target_ids[]", &boat),
        ("status", "active"),
        ("description", ""),
        ("tnc", ""),
    ];
    let made = world.submits("/console/promotions/new", &cookies, &fields).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let edit = world.page(&format!("{}/edit", made.location()), &cookies).await;
    edit.says(&format!("name=\"target_ids[]\" value=\"{boat}\" checked> Bahari Express"));
}

async fn a_list_is_filtered_by_the_name_of_a_partner(world: World) {
    let admin = world.admin().await;
    let made = world.active_partner("made@bahari.id").await;
    world.active_partner("putu@laut.id").await;
    let id = world.partner_id(&made).await;
    world
        .db()
        .sql("UPDATE accounts SET name = 'Laut Biru' WHERE email = 'putu@laut.id'")
        .run()
        .await
        .unwrap();
    let cookies = session(&admin);
    world.page("/console/boats", &cookies).await.says("name=\"_partner\"");
    let chosen = world.page("/console/boats?status=active&_partner=made+bahari", &cookies).await;
    assert_eq!(chosen.status, 303);
    assert_eq!(chosen.location(), format!("/console/boats?status=active&mitra_id={id}"));
    world.page(chosen.location(), &cookies).await.says("Partner: Made Bahari");
    let several = world.page("/console/boats?_partner=a", &cookies).await;
    several.says("Which partner?");
    several.says(&format!("href=\"/console/boats?mitra_id={id}\""));
    world.page("/console/boats?_partner=nobody", &cookies).await.says("There is no partner");
    // A partner sees its own only, and has no such filter.
    let own = world.page("/console/boats", &session(&made)).await;
    assert!(!own.html.contains("_partner"));
}

async fn paid(world: &World) -> (Someone, String, serde_json::Value) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let path = format!("/console/bookings/{}", booking["id"].as_str().unwrap());
    let wish = json!({ "from": "Sanur", "to": "Nusa Penida", "date": "2026-11-17", "qty": 2 });
    let next_day = world.searches(wish).await.remove(0);
    (sailing.partner, path, next_day)
}

async fn a_booking_moves_to_a_sailing_of_another_day(world: World) {
    let (partner, path, next_day) = paid(&world).await;
    let cookies = session(&partner);
    let page = format!("{path}/reschedule");
    world.page(&path, &cookies).await.says(&format!("href=\"{page}\""));
    let same_day = world.page(&page, &cookies).await;
    same_day.says("No other sailing of this partner");
    let to = next_day["route_time_id"].as_str().unwrap();
    let other = world.page(&format!("{page}?date=2026-11-17"), &cookies).await;
    let link = format!("{page}?date=2026-11-17&amp;to={to}");
    other.says(&format!("href=\"{link}\""));
    let shown = world.page(&link.replace("&amp;", "&"), &cookies).await;
    shown.says("It costs nothing.");
    assert_eq!(world.count("SELECT COUNT(*) FROM reschedules").await, 0, "nothing has moved");
    let fields =
        [("to", to), ("date", "2026-11-17"), ("reason", "Permintaan tamu"), ("_do", "move")];
    let moved = world.submits(&page, &cookies, &fields).await;
    assert_eq!((moved.status, moved.location()), (303, path.as_str()), "{}", moved.html);
    world.page(&path, &cookies).await.says("Tue\u{a0}17\u{a0}Nov\u{a0}2026");
    let unknown = [("to", "x"), ("_do", "move")];
    let refused = world.submits(&page, &cookies, &unknown).await;
    assert_eq!(refused.status, 422);
}

async fn a_move_that_costs_more_waits_for_its_payment(world: World) {
    let (partner, path, next_day) = paid(&world).await;
    let cookies = session(&partner);
    let to = next_day["route_time_id"].as_str().unwrap();
    let dearer = json!({ "price": 200_000 });
    world.put(&format!("/v1/mitra/route-times/{to}"), dearer).by(&partner).send().await.ok();
    let page = format!("{path}/reschedule");
    let shown = world.page(&format!("{page}?date=2026-11-17&to={to}"), &cookies).await;
    shown.says("The customer pays <b>Rp\u{a0}100.000</b>");
    let moved = world.submits(&page, &cookies, &[("to", to), ("_do", "move")]).await;
    assert_eq!(moved.status, 303, "{}", moved.html);
    let waiting = world.page(&path, &cookies).await;
    waiting.says("A move to another sailing waits for <b>Rp\u{a0}100.000</b>");
    waiting.says("Mon\u{a0}16\u{a0}Nov\u{a0}2026");
}

async fn the_audit_log_has_sentences(world: World) {
    let admin = world.admin().await;
    let cookies = session(&admin);
    let fields = [("name", "Ayu"), ("email", "ayu@dermaga.test"), ("phone", "081234567890")];
    let invited = world.submits("/console/users/new", &cookies, &fields).await;
    assert_eq!(invited.status, 303, "{}", invited.html);
    let log = world.page("/console/audit", &cookies).await;
    log.says("invited an admin</summary>");
    log.says("href=\"/console/users/");
    let indonesian = cookies.replace("dermaga_lang=en", "dermaga_lang=id");
    world.page("/console/audit", &indonesian).await.says("mengundang admin</summary>");
}

async fn help_is_at_the_foot_of_every_page(world: World) {
    let login = world.page("/console/login", "").await;
    assert!(!login.html.contains("wa.me"), "not set");
    let world = world
        .with(|config| {
            config.help_phone = Some("0361 123456".parse().unwrap());
            config.help_whatsapp = Some("081234567890".parse().unwrap());
        })
        .await;
    for path in ["/console/login", "/console/nowhere", "/pay/transfers", "/pier/shell"] {
        let page = world.page(path, "").await;
        page.says("href=\"tel:+62361123456\"");
        page.says("href=\"https://wa.me/6281234567890\"");
    }
}

async fn mailed_links_lead_to_pages_of_the_console(world: World) {
    let moved = world.page("/reset-password?token=a%26b", "").await;
    assert_eq!((moved.status, moved.location()), (303, "/console/reset?token=a%26b"));
    world.page(moved.location(), "").await.says("name=\"token\" value=\"a&amp;b\"");
    world
        .post("/auth/register-mitra", crate::world::registration("made@bahari.id"))
        .send()
        .await
        .ok();
    world.delivers_outbox().await;
    let token = world.mailed_token("made@bahari.id");
    let moved = world.page(&format!("/verify-email?token={token}"), "").await;
    let page = world.page(moved.location(), "dermaga_lang=en").await;
    page.says("Verify e-mail address");
    let wrong = world.submits("/console/verify-email", "dermaga_lang=en", &[("token", "x")]).await;
    assert_eq!(wrong.status, 401);
    wrong.says("role=\"alert\"");
    let verified = world.submits("/console/verify-email", "", &[("token", &token)]).await;
    assert_eq!((verified.status, verified.location()), (303, "/console/login"));
    let again = world.submits("/console/verify-email", "", &[("token", &token)]).await;
    assert_eq!(again.status, 401, "a link is used once");
}
