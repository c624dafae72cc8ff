//! Forms and lists, without a browser.

use chrono::TimeDelta;
use dermaga::kernel::{
    access::Rule,
    ids::{self, Uuid},
};
use serde_json::json;

use crate::{harbour::order, on_both_engines, sites::session, world::World};

on_both_engines![
    a_refused_form_names_every_fault_and_keeps_what_was_typed,
    a_route_with_two_times_is_made_and_published,
    rows_are_added_without_losing_what_was_typed,
    the_language_changes_without_losing_what_was_typed,
    a_list_keeps_its_filters_in_every_link,
    a_booking_is_paid_in_cash_and_cancelled,
    the_record_of_another_partner_is_not_here,
    staff_see_what_they_may_do_and_nothing_else,
    a_file_is_uploaded_with_its_form,
    slow_forms_of_an_account_hold_up_nobody_else,
    a_page_stays_small,
    a_fixed_discount_is_typed_like_any_amount,
    a_record_behind_very_many_others_has_its_pages,
    an_id_of_another_form_is_not_here,
    a_refund_starts_with_what_is_owed,
    a_boat_in_use_names_its_sailings,
    days_without_anything_to_settle_are_at_fault,
];

async fn a_refused_form_names_every_fault_and_keeps_what_was_typed(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let fields = [
        ("name", "Bahari Express"),
        ("registration_number", ""),
        ("capacity", "9000"),
        ("year_built", "1700"),
        ("facilities", "AC\nToilet"),
    ];
    let refused = world.submits("/console/boats/new", &session(&partner), &fields).await;
    assert_eq!(refused.status, 422);
    assert!(refused.html.contains("<title>Error:"), "{}", refused.html);
    for id in ["f-registration-number", "f-capacity", "f-year-built"] {
        refused.says(&format!("href=\"#{id}\""));
        refused.says(&format!("aria-describedby=\"{id}-error\""));
    }
    refused.says("value=\"Bahari Express\"");
    refused.says("AC\nToilet</textarea>");
    assert_eq!(world.count("SELECT COUNT(*) FROM speedboats").await, 0);
}

fn route(boat: &str) -> Vec<(&str, &str)> {
    vec![
        ("from", "Sanur"),
        ("to", "Nusa Penida"),
        ("speedboat_id", boat),
        ("price", "150.000"),
        ("schedule_type", "weekly"),
        ("start_date", "2026-11-16"),
        ("end_date", "2026-11-29"),
        ("times[0].departure_time", "08:00"),
        ("times[0].arrival_time", "08:45"),
        ("times[0].days[]", "mon"),
        ("times[0].days[]", "wed"),
        ("times[1].departure_time", "15:00"),
        ("times[1].arrival_time", "15:45"),
        ("times[1].days[]", "mon"),
        ("times[1].price", "175.000"),
    ]
}

async fn a_route_with_two_times_is_made_and_published(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let cookies = session(&partner);
    let made = world.submits("/console/routes/new", &cookies, &route(&boat)).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let path = made.location().to_owned();
    let shown = world.page(&path, &format!("{cookies}; {}", made.cookies())).await;
    shown.says("Sanur · Nusa Penida");
    shown.says("Rp\u{a0}175.000");
    let published = world.submits(&format!("{path}/publish"), &cookies, &[]).await;
    assert_eq!((published.status, published.location()), (303, path.as_str()));
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 6);
    let clash = world.submits("/console/routes/new", &cookies, &route(&boat)).await;
    let refused = world.submits(&format!("{}/publish", clash.location()), &cookies, &[]).await;
    assert_eq!(refused.status, 409);
    refused.says("role=\"alert\"");
}

async fn rows_are_added_without_losing_what_was_typed(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let mut fields = route(&boat);
    fields.push(("_add", "times"));
    let shown = world.submits("/console/routes/new", &session(&partner), &fields).await;
    assert_eq!(shown.status, 200);
    shown.says("name=\"times[2].departure_time\"");
    shown.says("name=\"times[1].departure_time\" value=\"15:00\"");
    let new_row = shown.html.split("name=\"times[2].departure_time\"").nth(1).unwrap();
    assert!(new_row.split_once('>').unwrap().0.contains("autofocus"), "{new_row}");
    fields.pop();
    fields.push(("_remove", "times[0]"));
    let shown = world.submits("/console/routes/new", &session(&partner), &fields).await;
    shown.says("name=\"times[0].departure_time\" value=\"15:00\"");
    assert!(!shown.html.contains("times[1]"));
    assert_eq!(world.count("SELECT COUNT(*) FROM routes").await, 0);
}

async fn the_language_changes_without_losing_what_was_typed(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let fields = [("name", "Bahari Express"), ("_lang", "id")];
    let shown = world.submits("/console/boats/new", &session(&partner), &fields).await;
    assert_eq!(shown.status, 200);
    shown.says("<html lang=\"id\">");
    shown.says("value=\"Bahari Express\"");
    shown.says("Nomor registrasi");
    assert!(shown.cookies().contains("dermaga_lang=id"));
    let link = world.page("/console/boats?status=active&_lang=id", &session(&partner)).await;
    assert_eq!((link.status, link.location()), (303, "/console/boats?status=active"));
}

async fn a_list_keeps_its_filters_in_every_link(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    for number in 1..=25 {
        world.adds_boat(&partner, &format!("GT. {number}")).await;
    }
    let one = world.page("/console/boats?search=GT.+25", &session(&partner)).await;
    one.says("1 record, page 1 of 1");
    let path = "/console/boats?status=active&search=Bahari&sort_by=name&sort_dir=desc";
    let shown = world.page(path, &session(&partner)).await;
    shown.says("25 records, page 1 of 2");
    shown.says("aria-sort=\"descending\"");
    let next = shown.html.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let next = next.replace("&amp;", "&");
    for part in ["status=active", "search=Bahari", "sort_by=name", "sort_dir=desc", "page=2"] {
        assert!(next.contains(part), "{next}");
    }
    world.page(&next, &session(&partner)).await.says("25 records, page 2 of 2");
    let none = world.page("/console/boats?search=nothing", &session(&partner)).await;
    none.says("Nothing found");
    let refused = world.page("/console/boats?status=nonsense", &session(&partner)).await;
    assert_eq!(refused.status, 422);
    refused.says("role=\"alert\"");
}

async fn a_booking_is_paid_in_cash_and_cancelled(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let path = format!("/console/bookings/{}", booking["id"].as_str().unwrap());
    let cookies = session(&sailing.partner);
    let shown = world.page(&path, &cookies).await;
    shown.says("Seats are held until");
    let paid = world.submits(&format!("{path}/pay-cash"), &cookies, &[]).await;
    assert_eq!((paid.status, paid.location()), (303, path.as_str()));
    world.page(&path, &cookies).await.says("Paid. Departure");
    let sailing_page = world.page(&format!("/console/sailings/{}", sailing.id), &cookies).await;
    sailing_page.says("Penumpang 2");
    let without_reason =
        world.submits(&format!("{path}/cancel"), &cookies, &[("refund", "full")]).await;
    assert_eq!(without_reason.status, 422);
    let fields = [("reason", "Ombak tinggi"), ("refund", "full")];
    let cancelled = world.submits(&format!("{path}/cancel"), &cookies, &fields).await;
    assert_eq!(cancelled.status, 303, "{}", cancelled.html);
    let shown = world.page(&path, &cookies).await;
    shown.says("The customer is owed");
    let again = world.submits(&format!("{path}/cancel"), &cookies, &fields).await;
    assert_eq!(again.status, 409);
    again.says("Ombak tinggi");
}

async fn the_record_of_another_partner_is_not_here(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let other = world.active_partner("ketut@laut.id").await;
    let id = booking["id"].as_str().unwrap();
    for path in [
        format!("/console/bookings/{id}"),
        format!("/console/bookings/{id}/cancel"),
        format!("/console/bookings/{id}/ticket"),
        format!("/console/sailings/{}", sailing.id),
        format!("/console/boats/{}", sailing.boat),
        format!("/console/boats/{}/edit", sailing.boat),
    ] {
        let shown = world.page(&path, &session(&other)).await;
        assert_eq!(shown.status, 404, "{path}");
        shown.says("Not here, or not yours");
    }
    let act =
        world.submits(&format!("/console/bookings/{id}/pay-cash"), &session(&other), &[]).await;
    assert_eq!(act.status, 404);
}

async fn staff_see_what_they_may_do_and_nothing_else(world: World) {
    let staff = world.staff("ayu@dermaga.test", &[Rule::PromotionsRead]).await;
    let cookies = session(&staff);
    let shown = world.page("/console/promotions", &cookies).await;
    assert_eq!(shown.status, 200);
    shown.says("href=\"/console/promotions\"");
    for other in
        ["/console/boats", "/console/partners", "/console/promotions/new", "/console/staff"]
    {
        assert!(!shown.html.contains(&format!("href=\"{other}\"")), "{other} is in the menu");
        assert_eq!(world.page(other, &cookies).await.status, 403, "{other}");
    }
    let fields = [("title", "Promo"), ("code", "PROMO")];
    let act = world.submits("/console/promotions/new", &cookies, &fields).await;
    assert_eq!(act.status, 403);
}

async fn a_file_is_uploaded_with_its_form(world: World) {
    use crate::form::Form;
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let path = format!("/console/boats/{boat}/edit");
    let photo = crate::looks::picture();
    let send = async |content: &[u8]| {
        let form = Form::new()
            .text("name", "Bahari Express")
            .text("registration_number", "GT. 1")
            .text("capacity", "30")
            .file_as("photo_file_ids[]", "kapal.png", content);
        let call = world
            .call(reqwest::Method::POST, &path)
            .header("cookie", &session(&partner))
            .header("sec-fetch-site", "same-origin")
            .multipart(form);
        call.bytes().await
    };
    let (status, ..) = send(&photo).await;
    assert_eq!(status, 200, "redirected to the boat");
    let boat = world.get(&format!("/v1/speedboats/{boat}")).by(&partner).send().await.ok();
    let photos = boat["photos"].as_array().unwrap();
    assert_eq!(photos.len(), 1);
    let id = photos[0]["file_id"].as_str().unwrap();
    let file = world.call(reqwest::Method::GET, &format!("/console/files/{id}"));
    let (status, headers, _) = file.header("cookie", &session(&partner)).bytes().await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "image/png"));
    let (status, _, html) = send(b"no picture").await;
    assert!(status == 415 || status == 422, "{status}");
    let html = String::from_utf8(html).unwrap();
    assert!(html.contains("f-photo-file-ids-error"), "{html}");
}

/// More of them than there are slots.
async fn slow_forms_of_an_account_hold_up_nobody_else(world: World) {
    use tokio::{io::AsyncWriteExt, net::TcpStream};

    use crate::form::Form;
    let made = world.active_partner("made@bahari.id").await;
    let ketut = world.active_partner("ketut@bahari.id").await;
    let path = "/console/boats/new";
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nCookie: {}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\n",
        session(&made)
    );
    let mut slow = Vec::new();
    for _ in 0..10 {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let send = async |who| {
        let form = Form::new()
            .text("name", "Bahari Express")
            .text("registration_number", "GT. 1")
            .text("capacity", "30")
            .file_as("photo_file_ids[]", "kapal.png", &crate::looks::picture());
        let call = world
            .call(reqwest::Method::POST, path)
            .header("cookie", &session(who))
            .header("sec-fetch-site", "same-origin")
            .multipart(form);
        call.bytes().await.0
    };
    assert_eq!(send(&made).await, 429);
    assert_eq!(send(&ketut).await, 200, "redirected to the boat");
}

/// The budgets of a page with 20 rows.
async fn a_page_stays_small(world: World) {
    let sailing = world.sailing().await;
    for number in 0..20 {
        let email = format!("sari{number}@example.com");
        world.books(order(&sailing, 1, &email)).await.ok();
    }
    world.advances_clock(TimeDelta::seconds(1));
    let shown = world.page("/console/bookings", &session(&sailing.partner)).await;
    shown.says("20 records");
    assert!(shown.html.len() <= 60 * 1024, "{} bytes", shown.html.len());
    let call = world.get("/console/bookings").header("cookie", &session(&sailing.partner));
    let (_, headers, zipped) = call.header("accept-encoding", "gzip").bytes().await;
    assert_eq!(headers["content-encoding"], "gzip");
    assert!(zipped.len() <= 14 * 1024, "{} bytes compressed", zipped.len());
    let style = shown.html.split("rel=\"stylesheet\" href=\"").nth(1).unwrap();
    let style = world.page(style.split('"').next().unwrap(), "").await;
    assert!(style.html.len() <= 40 * 1024);
    let kept = style.headers["cache-control"].to_str().unwrap();
    assert!(kept.contains("immutable"), "{kept}");
}

async fn a_fixed_discount_is_typed_like_any_amount(world: World) {
    let cookies = session(&world.admin().await);
    let makes = async |code: &str, kind: &str, value: &str| {
        let fields = [
            ("title", "Lebaran"),
            ("code", code),
            ("discount.type", kind),
            ("discount.value", value),
            ("period.start_date", "2026-11-01"),
            ("period.end_date", "2026-12-01"),
            ("quota", "10"),
            ("funded_by", "platform"),
            ("target_type", "all"),
            ("status", "active"),
            ("description", ""),
            ("tnc", ""),
        ];
        world.submits("/console/promotions/new", &cookies, &fields).await
    };
    let made = makes("TETAP", "fixed", "25.000").await;
    assert_eq!(made.status, 303, "{}", made.html);
    let stored = "SELECT discount_value FROM promotions WHERE discount_type = 'fixed'";
    assert_eq!(world.count(stored).await, 25_000);
    // A change of nothing changes nothing.
    let form = world.page(&format!("{}/edit", made.location()), &cookies).await;
    form.says("name=\"discount.value\" value=\"25000\"");
    for value in ["12.5", "25,000"] {
        let refused = makes("TETAP2", "fixed", value).await;
        assert_eq!(refused.status, 422, "{value}");
        refused.says("aria-describedby=\"f-discount-value-error\"");
        refused.says(&format!("name=\"discount.value\" value=\"{value}\""));
    }
    for (code, value) in [("PERSEN1", "12,5"), ("PERSEN2", "12.5")] {
        let made = makes(code, "percentage", value).await;
        assert_eq!(made.status, 303, "{}", made.html);
    }
    let points = "SELECT SUM(discount_value) FROM promotions WHERE discount_type = 'percentage'";
    let points = format!("SELECT CAST(({points}) AS BIGINT)").leak();
    assert_eq!(world.count(points).await, 2_500);
}

/// The id in a path, which lists of more than a page do not show at once.
async fn a_record_behind_very_many_others_has_its_pages(world: World) {
    let admin = world.admin().await;
    let cookies = session(&admin);
    let later = world.now() + TimeDelta::hours(1);
    let id = |record: &serde_json::Value| record["id"].as_str().unwrap().parse::<Uuid>().unwrap();
    let sailing = world.sailing().await;
    let mut booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    booking["price"]["total"] = json!(1_000);
    world.receives_callback(&booking, "settlement", "t-1").await.ok();
    let review = id(&world.get("/v1/payment/reviews").by(&admin).send().await.ok()[0]);
    let hook = json!({ "url": "https://example.com/hook", "events": ["booking.paid"] });
    let hook = id(&world.post("/v1/webhooks", hook).by(&admin).send().await.ok());
    let lines = json!([{ "account": "bank", "debit": 1 }, { "account": "equity", "credit": 1 }]);
    let journal = json!({ "posted_on": "2026-11-15", "memo": "Opening", "lines": lines });
    let journal = id(&world.post("/v1/finance/journals", journal).by(&admin).send().await.ok());
    let harbour = world.get("/v1/harbours?search=Sanur").send().await.ok();
    let delivery = ids::fresh();
    for number in 0..101 {
        world
            .db()
            .sql(
                "INSERT INTO payment_reviews (id, event_id, payment_id, booking_id, reason, amount,
                   expected, created_at)
                 SELECT $1, event_id, payment_id, booking_id, reason, amount, expected, $2
                 FROM payment_reviews WHERE id = $3",
            )
            .bind(ids::fresh())
            .bind(later)
            .bind(review)
            .run()
            .await
            .unwrap();
        world
            .db()
            .sql(
                "INSERT INTO journals (id, status, posted_on, memo, amount, created_by, created_at)
                 SELECT $1, status, posted_on, memo, amount, created_by, $2
                 FROM journals WHERE id = $3",
            )
            .bind(ids::fresh())
            .bind(later)
            .bind(journal)
            .run()
            .await
            .unwrap();
        world
            .db()
            .sql(
                "INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, payload, lane,
                   status, attempts, created_at)
                 VALUES ($1, $2, $3, 'booking.paid', $4, 'x', 'failed', 1, $5)",
            )
            .bind(if number == 0 { delivery } else { ids::fresh() })
            .bind(hook)
            .bind(ids::fresh())
            .bind(json!({}))
            .bind(if number == 0 { world.now() } else { later })
            .run()
            .await
            .unwrap();
        world
            .db()
            .sql(
                "INSERT INTO harbours (id, name, aliases, city, province, timezone, status,
                   search_keys, created_at, updated_at)
                 VALUES ($1, $2, $3, '', '', 'Asia/Makassar', 'verified', $2, $4, $4)",
            )
            .bind(ids::fresh())
            .bind(format!("aa {number}"))
            .bind(json!([]))
            .bind(later)
            .run()
            .await
            .unwrap();
    }
    for path in [
        format!("/console/payment-reviews/{review}/resolve"),
        format!("/console/finance/journals/{journal}/approve"),
        format!("/console/finance/journals/{journal}/reject"),
        format!("/console/webhooks/{hook}/deliveries/{delivery}/resend"),
        format!("/console/harbours/{}/edit", id(&harbour[0])),
        format!("/console/harbours/{}/delete", id(&harbour[0])),
    ] {
        let shown = world.page(&path, &cookies).await;
        assert_eq!(shown.status, 200, "{path}: {}", shown.html);
    }
    // The delivery of another webhook is none of this one.
    let path = format!("/v1/webhooks/{hook}/deliveries?delivery_id={}", ids::fresh());
    assert_eq!(world.get(&path).by(&admin).send().await.ok(), json!([]));
}

async fn an_id_of_another_form_is_not_here(world: World) {
    let cookies = session(&world.admin().await);
    for id in ["x", "019f0000-0000-7000-8000-000000000000"] {
        for path in ["/console/harbours/{}/edit", "/console/finance/journals/{}/approve"] {
            let shown = world.page(&path.replace("{}", id), &cookies).await;
            assert_eq!(shown.status, 404, "{path} {id}");
        }
    }
}

async fn a_refund_starts_with_what_is_owed(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let admin = world.admin().await;
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    let cancel = json!({ "reason": "Sakit", "refund_amount": 120_000 });
    world.post(&path, cancel).by(&admin).send().await.ok();
    let path = format!("/console/bookings/{}/refund", booking["id"].as_str().unwrap());
    let form = world.page(&path, &session(&admin)).await;
    form.says("name=\"amount\" value=\"120000\"");
}

async fn a_boat_in_use_names_its_sailings(world: World) {
    let sailing = world.sailing().await;
    let later = world.sailing_of_another_day(&sailing).await;
    world.paid_booking(&later, 1).await;
    let cookies = session(&sailing.partner);
    let path = format!("/console/boats/{}/delete", sailing.boat);
    let refused = world.submits(&path, &cookies, &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.html);
    assert!(refused.html.contains("<title>Error:"), "{}", refused.html);
    let day = format!("/console/sailings?speedboat_id={}&amp;date=2026-11-17", sailing.boat);
    refused.says(&format!("href=\"{day}\""));
    let day = world.page(&day.replace("&amp;", "&"), &cookies).await;
    day.says(&later.id);
}

async fn days_without_anything_to_settle_are_at_fault(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&world.admin().await);
    let mitra = world.partner_id(&partner).await;
    let fields = [
        ("mitra_id", mitra.as_str()),
        ("start_date", "2026-11-01"),
        ("end_date", "2026-11-30"),
        ("note", "November"),
    ];
    let refused = world.submits("/console/settlements/new", &cookies, &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.html);
    refused.says("aria-describedby=\"f-start-date-error\"");
    refused.says("aria-describedby=\"f-end-date-error\"");
    refused.says("November");
}
