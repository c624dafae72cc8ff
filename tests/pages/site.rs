//! The travellers' site, over HTTP and in a browser.

use serde_json::{Value, json};

use crate::{
    browser::{self, DESK, Look, PHONE},
    harbour::order,
    looks::WALKER,
    on_both_engines,
    sites::{Page, session},
    world::World,
};

on_both_engines![
    the_first_page_shows_lines_in_the_language_of_its_path,
    the_site_never_reads_the_session_of_the_console,
    a_search_finds_sailings_and_days_around,
    a_wrong_search_names_its_fields,
    a_search_page_is_kept_until_something_changes,
    terms_are_shown_once_they_are_published,
    a_booking_is_opened_by_code_and_address,
    a_browser_remembers_five_bookings,
    a_traveller_comes_back_from_paying_in_the_same_language,
    codes_are_mailed_without_saying_whether_there_are_any,
    a_guest_books_pays_and_sees_tickets,
    an_error_on_the_site_leads_back_to_the_search,
];

fn header<'p>(page: &'p Page, name: &str) -> &'p str {
    page.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

async fn the_first_page_shows_lines_in_the_language_of_its_path(world: World) {
    let empty = world.page("/", "").await;
    assert_eq!(empty.status, 200);
    empty.says("Saat ini belum ada kapal");
    world.sailing().await;
    // The path decides, whatever the browser or a cookie says.
    for (path, lang, words) in [("/", "id", "Dari Sanur"), ("/en", "en", "From Sanur")] {
        let page = world.page(path, "dermaga_lang=en").await;
        page.says(&format!("<html lang=\"{lang}\">"));
        page.says(words);
        let base = world.app.config.public_url();
        page.says(&format!("hreflang=\"id\" href=\"{base}/\""));
        page.says(&format!("hreflang=\"en\" href=\"{base}/en\""));
        let prefix = if lang == "en" { "/en" } else { "" };
        page.says(&format!("href=\"{prefix}/search?from=Sanur&amp;to=Nusa+Penida\""));
        assert_eq!(header(&page, "cache-control"), "private, no-cache");
        assert_eq!(header(&page, "content-language"), lang);
        assert!(header(&page, "content-security-policy").starts_with("default-src 'self'"));
    }
}

async fn the_site_never_reads_the_session_of_the_console(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    // The partner may read the booking in the console; here it is a guest without a code.
    let cookies = session(&sailing.partner);
    let page = world.page("/en", &cookies).await;
    assert!(!page.html.contains("Made Bahari"));
    let code = booking["code"].as_str().unwrap();
    let shown = world.page(&format!("/en/booking/{code}"), &cookies).await;
    assert_eq!(
        (shown.status, shown.location()),
        (303, format!("/en/booking?code={code}").as_str())
    );
}

async fn a_search_finds_sailings_and_days_around(world: World) {
    let sailing = world.sailing().await;
    let path = "/en/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=2";
    let page = world.page(path, "").await;
    assert_eq!(page.status, 200);
    page.says("08.00");
    page.says("Rp\u{a0}150.000");
    let book =
        format!("/en/book/{}?item_id={}&amp;type=speedboat&amp;qty=2", sailing.id, sailing.boat);
    page.says(&book);
    let days = page.html.split("class=\"tabs\"").nth(1).unwrap().split("</nav>").next().unwrap();
    assert_eq!(days.matches("date=2026-11-").count(), 7);
    page.says("Search the way back");
    page.says("hreflang=\"id\"");
    let none = world.page("/search?from=Sanur&to=Nusa+Penida&date=2026-11-20", "").await;
    none.says("Tidak ada jadwal dengan cukup kursi");
    none.says("Tujuan lain dari");
}

async fn a_search_page_is_kept_until_something_changes(world: World) {
    let sailing = world.sailing().await;
    let path = "/en/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1";
    let id = sailing.id.parse::<dermaga::kernel::ids::Uuid>().unwrap();
    world.page(path, "").await.says("30 seats left");
    // Behind the back of the service.
    let change = world.db().sql("UPDATE sailings SET price = 99000 WHERE id = $1").bind(id);
    change.run().await.unwrap();
    world.page(path, "").await.says("Rp\u{a0}150.000");
    // A message is for one visitor.
    let told = world.page(path, "dermaga_flash=Saved").await;
    told.says("Saved");
    told.says("30 seats left");
    assert!(!world.page(path, "").await.html.contains("Saved"));
    // A sale by this process is seen at once, with the rest.
    world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let after = world.page(path, "").await;
    after.says("28 seats left");
    after.says("Rp\u{a0}99.000");
    // So is a partner that is suspended.
    let admin = world.admin().await;
    let desk = world.partner_path(&sailing.partner).await;
    let reason = json!({ "reason": "Izin berakhir" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    world.page(path, "").await.says("No sailing with enough seats");
}

async fn a_wrong_search_names_its_fields(world: World) {
    let page = world.page("/en/search?from=S&to=Nusa+Penida&date=2026-11-16&qty=0", "").await;
    assert_eq!(page.status, 422);
    page.says("Please check this");
    page.says("value=\"Nusa Penida\"");
}

async fn terms_are_shown_once_they_are_published(world: World) {
    assert_eq!(world.page("/en/terms/customer", "").await.status, 404);
    assert_eq!(world.page("/en/terms/No!", "").await.status, 404);
    let (author, publisher) = (world.admin().await, world.second_admin().await);
    let body = json!({ "type": "customer", "content": "<h1>Ketentuan</h1><p>Tiba awal.</p><script>alert(1)</script>", "user_creator_id": author.id });
    let draft = world.post("/v1/configurations/term-condition/create", body).by(&author);
    let draft = draft.send().await.ok();
    assert_eq!(world.page("/terms/customer", "").await.status, 404, "a draft");
    let body = json!({ "id": draft["id"], "user_validator_id": publisher.id });
    let published = world.post("/v1/configurations/term-condition/publish", body).by(&publisher);
    published.send().await.ok();
    let page = world.page("/terms/customer", "").await;
    assert_eq!(page.status, 200);
    page.says("<h2>Ketentuan</h2><p>Tiba awal.</p>");
    assert!(!page.html.contains("alert(1)"));
    assert_eq!(page.html.matches("<h1").count(), 1);
}

async fn a_booking_is_opened_by_code_and_address(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let code = booking["code"].as_str().unwrap();
    let sentence = "There is no booking with this code and e-mail address.";
    for (code, email) in [
        (code, "putu@example.com"),
        ("DMG-ZZZZZZZZ", "sari@example.com"),
        (code, "no address"),
        ("", "sari@example.com"),
    ] {
        let refused = world.submits("/en/booking", "", &[("code", code), ("email", email)]).await;
        assert_eq!(refused.status, 404, "{code} {email}");
        refused.says(sentence);
        assert!(refused.cookies().is_empty());
    }
    let lower = code.to_lowercase();
    let fields = [("code", lower.as_str()), ("email", "sari@example.com")];
    let opened = world.submits("/en/booking", "", &fields).await;
    let page = format!("/en/booking/{code}");
    assert_eq!((opened.status, opened.location()), (303, page.as_str()));
    let cookie = header(&opened, "set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert!(!cookie.contains("sari") && !cookie.contains(code), "it is sealed: {cookie}");
    let cookies = opened.cookies();
    let shown = world.page(&page, &cookies).await;
    assert_eq!(shown.status, 200);
    shown.says("Not paid.");
    shown.says("Rp\u{a0}300.000");
    shown.says(&format!("href=\"{}\"", booking["payment"]["redirect_url"].as_str().unwrap()));
    assert!(!shown.html.contains("sari@example.com"), "nothing that the traveller did not ask for");
    let elsewhere = world.page(&page, "").await;
    assert_eq!(elsewhere.location(), format!("/en/booking?code={code}"));
    let forged = world.page(&page, "dermaga_bookings=x%3Ay").await;
    assert_eq!(forged.status, 303);
    world.page(elsewhere.location(), "").await.says(&format!("value=\"{code}\""));
}

async fn a_traveller_comes_back_from_paying_in_the_same_language(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    let code = booking["code"].as_str().unwrap();
    let (page, in_english) = (format!("/booking/{code}"), format!("/en/booking/{code}"));
    let fields = [("code", code), ("email", "sari@example.com")];
    let elsewhere = [("sec-fetch-site", "cross-site")];
    let here = [("sec-fetch-site", "same-origin")];
    let simulator = format!("http://{}/pay/x", world.address);
    let simulator = [("sec-fetch-site", "same-origin"), ("referer", simulator.as_str())];
    let own = format!("http://{}{in_english}", world.address);
    let switch = [("sec-fetch-site", "same-origin"), ("referer", own.as_str())];

    let cookies = world.submits("/en/booking", "", &fields).await.cookies();
    for headers in [&elsewhere[..], &simulator, &[("sec-fetch-site", "none")]] {
        let back = world.page_with(&page, &cookies, headers).await;
        assert_eq!((back.status, back.location()), (303, in_english.as_str()), "{headers:?}");
    }
    let again = world.page_with(&in_english, &cookies, &elsewhere).await;
    assert!(again.status == 200 && again.cookies().is_empty(), "nothing to remember");
    // The link to the other language leads there. An old browser does not say where it comes from.
    for headers in [&here[..], &switch, &[]] {
        let shown = world.page_with(&page, &cookies, headers).await;
        assert_eq!(shown.status, 200, "{headers:?}");
        shown.says("Belum dibayar");
        // The language that was chosen last is kept.
        let in_indonesian = shown.cookies();
        let back = world.page_with(&page, &in_indonesian, &elsewhere).await;
        assert_eq!(back.status, 200, "{headers:?}");
        let switched = world.page_with(&in_english, &in_indonesian, &here).await.cookies();
        assert_eq!(world.page_with(&page, &switched, &elsewhere).await.status, 303);
    }
}

async fn a_browser_remembers_five_bookings(world: World) {
    let sailing = world.sailing().await;
    let mut cookies = String::new();
    let mut codes = Vec::new();
    for guest in 0..6 {
        let email = format!("guest{guest}@example.com");
        let booking = world.books(order(&sailing, 1, &email)).await.ok();
        let code = booking["code"].as_str().unwrap().to_owned();
        let fields = [("code", code.as_str()), ("email", email.as_str())];
        let opened = world.submits("/booking", &cookies, &fields).await;
        assert_eq!(opened.status, 303);
        cookies = opened.cookies();
        codes.push(code);
    }
    assert!(cookies.len() < 4000, "a browser keeps 4 KB");
    assert_eq!(world.page(&format!("/booking/{}", codes[0]), &cookies).await.status, 303);
    for code in &codes[1..] {
        assert_eq!(world.page(&format!("/booking/{code}"), &cookies).await.status, 200);
    }
    let lookup = world.page("/booking", &cookies).await;
    lookup.says(&format!("href=\"/booking/{}\"", codes[5]));
}

async fn codes_are_mailed_without_saying_whether_there_are_any(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    let mut flashes = Vec::new();
    for email in ["sari@example.com", "nobody@example.com"] {
        let sent = world.submits("/en/booking", "", &[("_do", "find"), ("email", email)]).await;
        assert_eq!((sent.status, sent.location()), (303, "/en/booking"));
        flashes.push(sent.cookies());
    }
    assert_eq!(flashes[0], flashes[1]);
    world.delivers_outbox().await;
    let code = booking["code"].as_str().unwrap();
    let letters = world.letters_to("sari@example.com");
    assert!(letters.last().is_some_and(|letter| letter.contains(code)));
}

/// The hidden fields of the last page.
fn hidden(html: &str) -> Vec<(String, String)> {
    let fields = html.split("<input type=\"hidden\" name=\"").skip(1);
    let fields = fields.filter_map(|rest| {
        let (name, rest) = rest.split_once("\" value=\"")?;
        Some((name.to_owned(), rest.split_once('"')?.0.replace("&amp;", "&")))
    });
    fields.collect()
}

async fn a_guest_books_pays_and_sees_tickets(world: World) {
    let sailing = world.sailing().await;
    let path = format!("/en/book/{}", sailing.id);
    let asked = format!("{path}?item_id={}&type=speedboat&qty=2", sailing.boat);
    let form = world.page(&asked, "").await;
    assert_eq!(form.status, 200, "{}", form.html);
    form.says("Rp\u{a0}300.000");
    let fields = [
        ("item_id", sailing.boat.as_str()),
        ("type", "speedboat"),
        ("qty", "2"),
        ("contact.name", "Sari"),
        ("contact.email", "sari@example.com"),
        ("contact.phone", "081234567890"),
        ("passengers[0].name", "Ni Ketut Sari"),
        ("passengers[1].name", "Wayan Putra"),
        ("accept_terms", "true"),
        ("_do", "check"),
    ];
    let check = world.submits(&path, "", &fields).await;
    assert_eq!(check.status, 200, "{}", check.html);
    check.says("Wayan Putra");
    let mut confirmed = hidden(&check.html);
    confirmed.push(("_do".into(), "book".into()));
    let confirmed: Vec<_> =
        confirmed.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let booked = world.submits(&path, "", &confirmed).await;
    assert_eq!(booked.status, 303, "{}", booked.html);
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
    let (page, cookies) = (booked.location().to_owned(), booked.cookies());
    assert!(page.starts_with("/en/booking/DMG-"), "{page}");
    world.page(&page, &cookies).await.says("Not paid.");
    let code = page.rsplit('/').next().unwrap();
    let found = world.get(&format!("/v1/booking?code={code}&email=sari@example.com"));
    let booking: Value = found.send().await.ok()[0].clone();
    world.pays(&booking).await;
    let paid = world.page(&page, &cookies).await;
    assert_eq!(paid.html.matches("class=\"qr\"").count(), 2);
    paid.says("Wayan Putra");
    let pdf = world.page(&format!("{page}/ticket"), &cookies).await;
    assert_eq!((pdf.status, header(&pdf, "content-type")), (200, "application/pdf"));
    assert_eq!(world.page(&format!("{page}/ticket"), "").await.status, 303);
}

async fn an_error_on_the_site_leads_back_to_the_search(world: World) {
    for (path, words, home) in
        [("/booking/x/y/z", "Tidak ada", "href=\"/\""), ("/en/nowhere", "Not here", "href=\"/en\"")]
    {
        let page = world.page(path, "").await;
        assert_eq!(page.status, 404, "{path}");
        page.says(words);
        page.says(home);
    }
    world.get("/nowhere").send().await.is(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_site_can_be_read_and_used_in_light_and_dark_on_desks_and_phones() {
    let world = World::on_sqlite().await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let code = booking["code"].as_str().unwrap();
    let fields = [("code", code), ("email", "sari@example.com")];
    let opened = world.submits("/en/booking", "", &fields).await;
    let cookies = opened.cookies();
    let sealed = cookies.strip_prefix("dermaga_bookings=").unwrap();
    let pages = [
        ("site-front", "/en".to_owned()),
        ("site-front-id", "/".to_owned()),
        ("site-search", "/en/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=2".into()),
        ("site-none", "/en/search?from=Sanur&to=Nusa+Penida&date=2026-11-20".into()),
        (
            "site-book",
            format!("/en/book/{}?item_id={}&type=speedboat&qty=2", sailing.id, sailing.boat),
        ),
        (
            "site-return",
            "/en/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&return_date=2026-11-17".into(),
        ),
        ("site-lookup", "/en/booking?code=DMG-1".into()),
        ("site-booking", format!("/en/booking/{code}")),
        ("site-cancel", format!("/en/booking/{code}/cancel")),
        ("site-move", format!("/en/booking/{code}/move?date=2026-11-17")),
        ("site-names", format!("/en/booking/{code}/passengers")),
        ("site-partner", "/en/p/made-bahari.id".into()),
        ("site-widget", "/en/p/made-bahari.id/widget".into()),
        ("site-problem", "/en/nowhere".into()),
    ];
    let looks = [
        ("desk", DESK),
        ("dark", Look { dark: true, ..DESK }),
        ("phone", PHONE),
        ("phone-dark", Look { dark: true, ..PHONE }),
    ];
    let mut faults = Vec::new();
    for (kind, look) in looks {
        let Some(browser) = browser::open(&world, look).await else { return };
        browser.goes("/en").await;
        browser.cookie("dermaga_bookings", sealed).await;
        for (name, path) in &pages {
            browser.goes(path).await;
            let found = browser.runs(WALKER).await;
            if found != json!([]) {
                faults.push(json!({ "page": path, "look": kind, "faults": found }));
            }
            browser.pictures(&format!("{name}-{kind}")).await;
        }
        browser.closes().await;
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
