//! What a real browser must show to travellers. After each scenario its log is empty.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    browser::{self, Browser, DESK, ENTER, PHONE, SPACE},
    harbour::order,
    in_a_browser,
    world::World,
};

in_a_browser![
    a_traveller_books_on_a_phone_pays_and_sees_two_codes,
    a_traveller_books_without_scripts,
    a_traveller_books_by_keyboard_alone,
    the_page_learns_of_the_payment,
    seats_sold_meanwhile_are_said_and_the_names_kept,
    cancelling_shows_the_refund_and_exactly_that_is_owed,
    switching_the_language_in_a_form_keeps_page_and_values,
    the_widget_searches_inside_of_another_site,
];

const SEARCH: &str = "/en?date=2026-11-16";

/// The page is not wider than its window.
async fn fits(browser: &Browser) {
    let widths = "const e = document.documentElement; return e.scrollWidth <= e.clientWidth";
    assert_eq!(browser.runs(widths).await, true, "{} is too wide", browser.path().await);
}

async fn searches(browser: &Browser) {
    browser.goes(SEARCH).await;
    fits(browser).await;
    browser.types("#f-from", "Sanur").await;
    browser.types("#f-to", "Nusa Penida").await;
    browser.types("#f-qty", "2").await;
    browser.presses(".hero button").await;
    browser.says("Sanur → Nusa Penida").await;
    fits(browser).await;
    browser.presses(".ticket").await;
    browser.says("Book seats").await;
}

async fn fills_in(browser: &Browser) {
    browser.types("#f-contact-name", "Sari").await;
    browser.types("#f-contact-email", "sari@example.com").await;
    browser.types("#f-contact-phone", "081234567890").await;
    browser.types("#f-passengers-0--name", "Ni Ketut Sari").await;
    browser.types("#f-passengers-1--name", "Wayan Putra").await;
}

/// Pays on the page of the simulator, which is at the public address of the service.
async fn pays(world: &World, browser: &Browser) {
    let href = browser.runs("return document.querySelector('.next .button').href").await;
    let href = href.as_str().unwrap();
    let path = href.strip_prefix(&world.app.config.public_url()).unwrap();
    browser.goes(path).await;
    browser.says("No money is charged.").await;
    browser.presses("button[value='pay']").await;
    // The page has the link before it is paid, too, but then it is not the main button.
    let main_link = ".send .button:not(.second)";
    browser.element("css selector", main_link).await;
    let back = browser.runs(&format!("return document.querySelector('{main_link}').href")).await;
    let back = back.as_str().unwrap();
    browser.goes(back.strip_prefix(&world.app.config.public_url()).unwrap()).await;
}

async fn sees_two_codes(browser: &Browser) {
    browser.says("Show these codes").await;
    assert_eq!(browser.runs("return document.querySelectorAll('.qr svg').length").await, 2);
}

async fn a_traveller_books_on_a_phone_pays_and_sees_two_codes(world: World) {
    world.sailing().await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    searches(&browser).await;
    fits(&browser).await;
    fills_in(&browser).await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    fits(&browser).await;
    browser.presses(".basket .send button").await;
    browser.says("Not paid.").await;
    fits(&browser).await;
    pays(&world, &browser).await;
    assert!(browser.path().await.starts_with("/en/booking/"), "the language is kept");
    sees_two_codes(&browser).await;
    fits(&browser).await;
    browser.closes().await;
}

async fn a_traveller_books_without_scripts(world: World) {
    world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.switches_scripts_off().await;
    searches(&browser).await;
    fills_in(&browser).await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    browser.presses(".basket .send button").await;
    browser.says("Not paid.").await;
    pays(&world, &browser).await;
    browser.goes_in_english().await;
    sees_two_codes(&browser).await;
    browser.closes().await;
}

async fn a_traveller_books_by_keyboard_alone(world: World) {
    world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.goes(SEARCH).await;
    for (field, text) in [("#f-from", "Sanur"), ("#f-to", "Nusa Penida")] {
        browser.tabs_to(field).await;
        browser.keys(text).await;
    }
    browser.tabs_to("#f-qty").await;
    browser.keys("\u{e00e}").await;
    browser.runs("document.activeElement.select()").await;
    browser.keys("2").await;
    browser.tabs_to(".wish button").await;
    browser.keys(ENTER).await;
    browser.says("Sanur → Nusa Penida").await;
    browser.tabs_to(".ticket").await;
    browser.keys(ENTER).await;
    browser.says("Book seats").await;
    for (field, text) in [
        ("#f-contact-name", "Sari"),
        ("#f-contact-email", "sari@example.com"),
        ("#f-contact-phone", "081234567890"),
    ] {
        browser.tabs_to(field).await;
        browser.keys(text).await;
    }
    // Passenger 1 is the contact.
    browser.tabs_to("#same").await;
    browser.keys(SPACE).await;
    browser.tabs_to("#f-passengers-1--name").await;
    browser.keys("Wayan Putra").await;
    browser.tabs_to(".basket .send button").await;
    browser.keys(ENTER).await;
    browser.says("Check the answers").await;
    browser.tabs_to(".basket .send button").await;
    browser.keys(ENTER).await;
    browser.says("Not paid.").await;
    browser.tabs_to(".next .button").await;
    let booked = world.count("SELECT COUNT(*) FROM bookings WHERE qty = 2").await;
    assert_eq!(booked, 1);
    pays(&world, &browser).await;
    browser.goes_in_english().await;
    sees_two_codes(&browser).await;
    browser.closes().await;
}

async fn the_page_learns_of_the_payment(world: World) {
    world.sailing().await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    searches(&browser).await;
    fills_in(&browser).await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    browser.presses(".basket .send button").await;
    browser.says("Not paid.").await;
    let path = browser.path().await;
    let code = path.rsplit('/').next().unwrap();
    let found = world.get(&format!("/v1/booking?code={code}&email=sari@example.com"));
    let booking = found.send().await.ok()[0].clone();
    world.pays(&booking).await;
    sees_two_codes(&browser).await;
    browser.presses(".mast a[hreflang='id']").await;
    browser.says("Tunjukkan kode ini di dermaga").await;
    assert_eq!(browser.path().await, format!("/booking/{code}"));
    browser.closes().await;
}

async fn seats_sold_meanwhile_are_said_and_the_names_kept(world: World) {
    let sailing = world.sailing().await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    searches(&browser).await;
    fills_in(&browser).await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    world.books(order(&sailing, 29, "many@example.com")).await.ok();
    browser.presses(".basket .send button").await;
    browser.says("Only 1 seat is left").await;
    let names = "return [0, 1].map(n => document.getElementById(`f-passengers-${n}--name`).value)";
    assert_eq!(browser.runs(names).await, json!(["Ni Ketut Sari", "Wayan Putra"]));
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 1);
    browser.closes().await;
}

async fn cancelling_shows_the_refund_and_exactly_that_is_owed(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.goes("/en/booking").await;
    browser.types("#code", booking["code"].as_str().unwrap()).await;
    browser.types("#email", "sari@example.com").await;
    browser.presses(".send button").await;
    sees_two_codes(&browser).await;
    browser.presses("a[href$='/cancel']").await;
    browser.says("You get back").await;
    fits(&browser).await;
    // One of the two.
    browser.presses(".choices li:nth-child(2) input").await;
    browser.presses("form[method='get'] button").await;
    browser.says("1 of 2").await;
    let shown = browser.runs("return document.querySelector('.sentence b').textContent").await;
    assert_eq!(shown, "Rp\u{a0}75.000");
    browser.types("#f-reason", "Sakit").await;
    browser.presses("button.danger").await;
    browser.says("We owe you").await;
    let owed = browser.runs("return document.querySelector('.next p b').textContent").await;
    assert_eq!(owed, shown);
    browser.closes().await;
}

async fn switching_the_language_in_a_form_keeps_page_and_values(world: World) {
    world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    searches(&browser).await;
    fills_in(&browser).await;
    browser.presses(".mast button").await;
    browser.says("Pesan kursi").await;
    assert_eq!(browser.runs("return document.documentElement.lang").await, "id");
    assert!(browser.path().await.starts_with("/book/"));
    let value = "return document.getElementById('f-passengers-1--name').value";
    assert_eq!(browser.runs(value).await, "Wayan Putra");
    browser.closes().await;
}

/// Serves one page at an origin of its own. Returns its address.
async fn another_site(html: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4_096]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
            let response = format!("{head}\r\ncontent-length: {}\r\n\r\n{html}", html.len());
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    format!("http://{address}/")
}

async fn the_widget_searches_inside_of_another_site(world: World) {
    world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    let html = format!(
        "<!doctype html><title>Villa</title><link rel=icon href=data:,><iframe id=w width=600 \
         height=500 src='http://{}/en/p/made-bahari.id/widget?date=2026-11-16'></iframe>",
        world.address
    );
    browser.opens(&another_site(html).await).await;
    browser.enters_frame("#w").await;
    browser.types("#f-from", "Sanur").await;
    browser.types("#f-to", "Nusa Penida").await;
    browser.presses(".wish button").await;
    browser.leaves_frame().await;
    // What is found has the whole window.
    browser.says("Bahari Express").await;
    assert!(browser.path().await.starts_with("/en/p/made-bahari.id?"));
    browser.closes().await;
}
