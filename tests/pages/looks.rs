//! How pages look: contrast, names, targets (44 pixels on phones), width, in light and dark, on desks and phones. Pictures
//! of all pages are written to `target/screenshots`.

use std::io::Cursor;

use serde_json::{Value, json};

use crate::{
    browser::{self, Browser, DESK, Look, PHONE},
    harbour::order,
    world::{Someone, World},
};

/// A picture of a boat, as small as it gets.
pub fn picture() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(8, 6, image::Rgb([10, 95, 120]));
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// What a page must have: one heading, labels, names, unique ids, landmarks, large targets, contrast.
pub const WALKER: &str = r#"
const faults = [];
const visible = (e) => { const b = e.getBoundingClientRect(); const s = getComputedStyle(e); return b.width > 1 && b.height > 1 && s.visibility !== "hidden" && s.clipPath === "none"; };
if (document.querySelectorAll("h1").length !== 1) faults.push("h1: " + document.querySelectorAll("h1").length);
if (!document.title) faults.push("no title");
if (!document.documentElement.lang) faults.push("no lang");
if (document.querySelectorAll("main").length !== 1) faults.push("no main");
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("id twice: " + id);
for (const e of document.querySelectorAll("input:not([type=hidden]),select,textarea"))
  if (!e.labels.length && !e.getAttribute("aria-label")) faults.push("no label: " + e.outerHTML.slice(0, 80));
for (const e of document.querySelectorAll("a,button")) {
  if (!e.textContent.trim() && !e.getAttribute("aria-label") && !e.querySelector("img[alt]")) faults.push("no name: " + e.outerHTML.slice(0, 80));
  // The link of a row covers the row.
  const b = (e.matches(".stretch") ? e.closest(".linked") : e).getBoundingClientRect();
  const inline = getComputedStyle(e).display === "inline";
  const least = innerWidth <= 640 ? 44 : 24;
  if (visible(e) && !inline && (b.height < least || b.width < least)) faults.push(`small ${b.width}x${b.height}: ` + e.outerHTML.slice(0, 80));
}
for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) faults.push("no alt");
for (const e of document.querySelectorAll("table")) if (!e.caption) faults.push("no caption");
if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
  faults.push("wide: " + document.documentElement.scrollWidth + " > " + document.documentElement.clientWidth + " " + [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".tabs")).slice(0, 3).map(e => e.tagName + "." + e.className).join(" "));
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const rgb = (text) => text.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; if (c[3] > 0) return null; } return [255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let n = walker.nextNode(); n; n = walker.nextNode()) {
  const e = n.parentElement;
  if (!n.textContent.trim() || !visible(e) || e.closest("svg,script,[disabled]")) continue;
  const back = ground(e); if (!back) continue;
  const [a, b] = [light(rgb(getComputedStyle(e).color)), light(back)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${n.textContent.trim().slice(0, 40)} in ${e.className || e.tagName}`);
}
return faults;
"#;

/// A small world with something on every page.
async fn furnished(world: &World) -> (Someone, Someone, Vec<(&'static str, String)>) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let admin = world.admin().await;
    let partner = world.partner_id(&sailing.partner).await;
    let id = booking["id"].as_str().unwrap();
    let reseller = world.reseller_id(&world.reseller("nusa@travel.test").await).await;
    let of_reseller = |last: &str| format!("/console/resellers/{reseller}{last}");
    let api = format!("/v1/resellers/{reseller}");
    let grants = json!({ "grants": [{ "mitra_id": partner, "margin_rate": 7.5 }] });
    world.put(&format!("{api}/partners"), grants).by(&admin).send().await.ok();
    let key = json!({
        "name": "Engine", "scopes": ["catalog", "bookings.read", "bookings.write"],
        "addresses": ["203.0.113.0/24"],
    });
    world.post(&format!("{api}/keys"), key).by(&admin).send().await.ok();
    let paid = json!({ "amount": 2_500_000, "reference": "BCA-1", "received_on": "2026-11-15" });
    world.post(&format!("{api}/payments"), paid).by(&admin).send().await.ok();
    let of_admin = [
        ("home", "/console".to_owned()),
        ("sailings", "/console/sailings?date=2026-11-16".into()),
        ("sailing", format!("/console/sailings/{}", sailing.id)),
        ("bookings", "/console/bookings".into()),
        ("booking", format!("/console/bookings/{id}")),
        ("booking-cancel", format!("/console/bookings/{id}/cancel")),
        ("booking-cancel-some", format!("/console/bookings/{id}/cancel-passengers")),
        ("booking-move", format!("/console/bookings/{id}/reschedule?date=2026-11-17")),
        (
            "counter-search",
            "/console/bookings/new?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=2".into(),
        ),
        (
            "counter-form",
            format!("/console/bookings/new/{}?item_id={}&qty=2", sailing.id, sailing.boat),
        ),
        ("boats", "/console/boats".into()),
        ("boat", format!("/console/boats/{}", sailing.boat)),
        ("boat-new", "/console/boats/new".into()),
        ("routes", "/console/routes".into()),
        ("route-new", "/console/routes/new".into()),
        ("partners", "/console/partners".into()),
        ("partner", format!("/console/partners/{partner}")),
        ("papers", format!("/console/partners/{partner}/documents")),
        ("resellers", "/console/resellers".into()),
        ("reseller", of_reseller("")),
        ("reseller-edit", of_reseller("/edit")),
        ("reseller-suspend", of_reseller("/suspend")),
        ("reseller-partners", of_reseller("/partners")),
        ("reseller-partners-edit", of_reseller("/partners/edit")),
        ("reseller-keys", of_reseller("/keys")),
        ("reseller-key-new", of_reseller("/keys/new")),
        ("reseller-statement", of_reseller("/statement")),
        ("reseller-invoices", of_reseller("/invoices")),
        ("reseller-invoice-new", of_reseller("/invoices/new")),
        ("reseller-pay", of_reseller("/pay")),
        ("settlements", "/console/settlements".into()),
        ("reports", "/console/reports".into()),
        ("promotions", "/console/promotions".into()),
        ("promotion-new", "/console/promotions/new".into()),
        ("permission-new", "/console/permissions/new".into()),
        ("staff-new", "/console/staff/new".into()),
        ("audit", "/console/audit".into()),
        ("harbours", "/console/harbours".into()),
        ("balance", "/console/finance/balance".into()),
        ("journal-new", "/console/finance/journals/new".into()),
        ("account", "/console/account".into()),
        ("notifications", "/console/notifications".into()),
        ("forbidden", "/console/crew".into()),
    ];
    (admin, sailing.partner, of_admin.into())
}

async fn walk(browser: &Browser, pages: &[(&'static str, String)], kind: &str) -> Vec<Value> {
    let mut faults = Vec::new();
    for (name, path) in pages {
        browser.goes(path).await;
        let found = browser.runs(WALKER).await;
        if found != json!([]) {
            faults.push(json!({ "page": path, "look": kind, "faults": found }));
        }
        browser.pictures(&format!("{name}-{kind}")).await;
    }
    faults
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_can_be_read_and_used_in_light_and_dark_on_desks_and_phones() {
    let world = World::on_sqlite().await;
    let (admin, _, pages) = furnished(&world).await;
    let reference =
        world.db().sql("SELECT reference FROM payments").scalar::<String>().await.unwrap();
    let outside = [
        ("login", "/console/login".to_owned()),
        ("register", "/console/register".to_owned()),
        ("verify-email", "/verify-email?token=x".to_owned()),
        ("pay", format!("/pay/{reference}")),
        ("transfers", "/pay/transfers".to_owned()),
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
        faults.extend(walk(&browser, &outside, kind).await);
        browser.signs_in(&admin).await;
        faults.extend(walk(&browser, &pages, kind).await);
        browser.closes().await;
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
