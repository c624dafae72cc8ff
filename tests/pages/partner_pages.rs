//! Public pages of partners, the search for other sites, and what search engines read.

use serde_json::{Value, json};

use crate::{on_both_engines, sites::Page, world::World};

on_both_engines![
    a_partner_has_a_page_with_its_lines_boats_and_search,
    the_page_of_a_partner_finds_its_own_sailings_only,
    a_partner_that_is_not_on_sale_has_no_page,
    an_approved_partner_gets_a_free_address,
    the_widget_can_be_embedded_and_nothing_else,
    search_engines_find_lines_and_partners_and_no_booking,
    sailings_are_described_for_search_engines,
    catalog_lists_partners_on_sale,
];

const SLUG: &str = "made-bahari.id";

fn header<'p>(page: &'p Page, name: &str) -> &'p str {
    page.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

async fn a_partner_has_a_page_with_its_lines_boats_and_search(world: World) {
    let sailing = world.sailing().await;
    let page = world.page(&format!("/en/p/{SLUG}"), "").await;
    assert_eq!(page.status, 200, "{}", page.html);
    page.says("<h1>Made Bahari</h1>");
    page.says("Bahari Express");
    page.says(&format!("href=\"/en/p/{SLUG}?from=Sanur&amp;to=Nusa+Penida\""));
    let found = world
        .page(&format!("/en/p/{SLUG}?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1"), "")
        .await;
    found.says(&format!("/en/book/{}", sailing.id));
    // A sailing knows its partner by id; the page has one address.
    let id = world.partner_id(&sailing.partner).await;
    let moved = world.page(&format!("/p/{id}"), "").await;
    assert_eq!((moved.status, moved.location()), (303, format!("/p/{SLUG}").as_str()));
    // The partner sees its address and the code for its own site.
    let own = world.page("/console/onboarding", &crate::sites::session(&sailing.partner)).await;
    own.says(&format!("/p/{SLUG}/widget"));
}

async fn the_page_of_a_partner_finds_its_own_sailings_only(world: World) {
    let sailing = world.sailing().await;
    world.active_partner("putu@laut.id").await;
    let query = "from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1";
    let other = world.page(&format!("/en/p/putu-laut.id?{query}"), "").await;
    assert_eq!(other.status, 200);
    other.says("No sailing with enough seats");
    assert!(!other.html.contains(&sailing.id));
    let id = world.partner_id(&sailing.partner).await;
    let wish = json!({ "from": "Sanur", "to": "Nusa Penida", "date": "2026-11-16", "qty": 1, "mitra_id": id });
    assert_eq!(world.searches(wish.clone()).await.len(), 1);
    let mut wrong = wish;
    wrong["mitra_id"] = json!("x");
    let refused = world.post("/v1/speedboats/search", wrong).send().await;
    assert_eq!(refused.status, 422);
}

async fn a_partner_that_is_not_on_sale_has_no_page(world: World) {
    let partner = world.partner("new@laut.id").await;
    let id = world.partner_id(&partner).await;
    assert_eq!(world.page(&format!("/p/{id}"), "").await.status, 404, "not approved");
    let sailing = world.sailing().await;
    let path = format!("/v1/catalog/partners/{SLUG}");
    world.get(&path).send().await.ok();
    let admin = world.admin().await;
    let desk = world.partner_path(&sailing.partner).await;
    let reason = json!({ "reason": "Izin berakhir" });
    world.post(&format!("{desk}/suspend"), reason).by(&admin).send().await.ok();
    world.get(&path).send().await.is(404, "not_found");
    assert_eq!(world.page(&format!("/p/{SLUG}"), "").await.status, 404);
    assert_eq!(world.page(&format!("/p/{SLUG}/widget"), "").await.status, 404);
    world.get("/v1/catalog/partners/no%20such%00").send().await.is(404, "not_found");
}

async fn an_approved_partner_gets_a_free_address(world: World) {
    let admin = world.admin().await;
    let mut slugs = Vec::new();
    for email in ["a@laut.id", "b@laut.id"] {
        let partner = world.submitted_partner(email).await;
        let before = world.get("/v1/mitra/onboarding").by(&partner).send().await.ok();
        assert_eq!(before["slug"], Value::Null);
        let desk = world.partner_path(&partner).await;
        world.approves_all_documents(&desk, &admin).await;
        let after = world.get("/v1/mitra/onboarding").by(&partner).send().await.ok();
        slugs.push(after["slug"].as_str().unwrap().to_owned());
    }
    // Both have the same name.
    assert_eq!(slugs[1], format!("{}-2", slugs[0]));
    assert_eq!(world.page(&format!("/p/{}", slugs[1]), "").await.status, 200);
}

async fn the_widget_can_be_embedded_and_nothing_else(world: World) {
    world.sailing().await;
    for path in ["/widget".to_owned(), format!("/en/p/{SLUG}/widget")] {
        let page = world.page(&path, "dermaga_bookings=x; dermaga_flash=Hello").await;
        assert_eq!(page.status, 200);
        assert!(header(&page, "content-security-policy").ends_with("frame-ancestors *"));
        assert_eq!(header(&page, "x-frame-options"), "");
        assert_eq!(header(&page, "set-cookie"), "", "a frame changes nothing");
        assert_eq!(header(&page, "x-robots-tag"), "noindex");
        page.says("target=\"_top\"");
        assert!(!page.html.contains("<script"));
    }
    world.page(&format!("/en/p/{SLUG}/widget"), "").await.says(&format!("action=\"/en/p/{SLUG}\""));
    for path in ["/", "/en/booking", "/console/login", "/search"] {
        let page = world.page(path, "").await;
        assert!(header(&page, "content-security-policy").ends_with("frame-ancestors 'none'"));
        assert_eq!(header(&page, "x-frame-options"), "DENY");
    }
}

async fn search_engines_find_lines_and_partners_and_no_booking(world: World) {
    world.sailing().await;
    let base = world.app.config.public_url();
    let robots = world.page("/robots.txt", "").await;
    assert!(header(&robots, "content-type").starts_with("text/plain"));
    robots.says("Disallow: /booking");
    robots.says(&format!("Sitemap: {base}/sitemap.xml"));
    let index = world.page("/sitemap.xml", "").await;
    assert!(header(&index, "content-type").starts_with("application/xml"));
    index.says(&format!("<loc>{base}/sitemap/lines.xml</loc>"));
    index.says(&format!("<loc>{base}/sitemap/partners.xml?page=1</loc>"));
    let lines = world.page("/sitemap/lines.xml", "").await;
    lines.says(&format!("<loc>{base}/</loc>"));
    lines.says(&format!("<loc>{base}/en/search?from=Sanur&amp;to=Nusa+Penida</loc>"));
    let partners = world.page("/sitemap/partners.xml?page=1", "").await;
    partners.says(&format!("<loc>{base}/p/{SLUG}</loc>"));
    assert_eq!(world.page("/sitemap/partners.xml?page=x", "").await.status, 422);
    // A line is one page, whatever the day.
    let page = world.page("/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=2", "").await;
    page.says(&format!(
        "<link rel=\"canonical\" href=\"{base}/search?from=Sanur&amp;to=Nusa+Penida\">"
    ));
    page.says("property=\"og:title\" content=\"Sanur → Nusa Penida\"");
    assert_eq!(header(&page, "x-robots-tag"), "");
    let made_up = world.page("/search?from=Cheap+pills&to=Nusa+Penida", "").await;
    assert_eq!(header(&made_up, "x-robots-tag"), "noindex", "no line");
    let lookup = world.page("/booking", "").await;
    assert_eq!(header(&lookup, "x-robots-tag"), "noindex");
    assert!(!lookup.html.contains("canonical"));
}

async fn sailings_are_described_for_search_engines(world: World) {
    let sailing = world.sailing().await;
    world
        .db()
        .sql("UPDATE accounts SET name = '</script><script>alert(1)' WHERE role = 'mitra'")
        .run()
        .await
        .unwrap();
    let page = world.page("/search?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1", "").await;
    let block = page.html.split("<script type=\"application/ld+json\">").nth(1).unwrap();
    let block = block.split("</script>").next().unwrap();
    let document: Value = serde_json::from_str(block).unwrap();
    let trip = &document["@graph"][0];
    assert_eq!(trip["@type"], "BoatTrip");
    assert_eq!(trip["departureBoatTerminal"]["name"], "Sanur");
    assert_eq!(trip["provider"]["name"], "</script><script>alert(1)");
    let offer = &trip["offers"];
    assert_eq!((&offer["price"], &offer["priceCurrency"]), (&json!(150_000), &json!("IDR")));
    let url = offer["url"].as_str().unwrap();
    assert!(url.contains(&sailing.id));
    let base = world.app.config.public_url();
    assert_eq!(world.page(url.strip_prefix(&base).unwrap(), "").await.status, 200);
}

async fn catalog_lists_partners_on_sale(world: World) {
    world.partner("draft@laut.id").await;
    world.active_partner("putu@laut.id").await;
    let sailing = world.sailing().await;
    let listed = world.get("/v1/catalog/partners").send().await.ok();
    let slugs: Vec<_> = listed.as_array().unwrap().iter().map(|one| &one["slug"]).collect();
    assert_eq!(slugs, [SLUG, "putu-laut.id"]);
    let one = world.get(&format!("/v1/catalog/partners/{SLUG}")).send().await.ok();
    assert_eq!(one["lines"], json!([{ "from": "Sanur", "to": "Nusa Penida" }]));
    assert_eq!(one["speedboats"][0]["id"], sailing.boat.as_str());
    let text = one.to_string();
    assert!(!text.contains("made@bahari.id") && !text.contains("0812"), "nothing personal: {text}");
}
