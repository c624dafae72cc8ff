//! Forms that a limit or a failure interrupts keep what was typed.

use dermaga::config::Switch;
use futures_util::future::join_all;
use serde_json::json;

use crate::{
    form::Form,
    looks::picture,
    on_both_engines,
    sites::{Page, session},
    world::World,
};

on_both_engines![
    the_general_limit_keeps_a_form,
    a_failure_before_the_form_is_read_keeps_it,
    a_failure_behind_the_form_keeps_it,
    a_form_that_is_too_large_keeps_its_texts,
];

const KEY: &str = "0199a5c8-7e00-7000-8000-00000000abcd";

#[track_caller]
fn keeps(page: &Page, name: &str, value: &str) {
    page.says("Nothing you typed is lost.");
    page.says(&format!("type=\"hidden\" name=\"{name}\" value=\"{value}\""));
    page.says("Try again</button>");
}

/// Sends it when the general limit is used up.
async fn limited(world: &World, send: impl AsyncFn() -> Page) -> Page {
    for _ in 0..100 {
        join_all((0..100).map(|_| world.get("/nothing").bytes())).await;
        let page = send().await;
        if page.status == 429 {
            return page;
        }
    }
    panic!("there is no limit");
}

async fn the_general_limit_keeps_a_form(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&partner);
    let path = "/console/boats/new";
    let shown = limited(&world, async || world.page(&format!("{path}?a=1"), &cookies).await).await;
    shown.says("href=\"/console/boats/new?a=1\">Try again</a>");
    let fields = [("name", "Bahari \"Express\""), ("capacity", "30"), ("_key", KEY)];
    let refused = limited(&world, async || world.submits(path, &cookies, &fields).await).await;
    assert!(refused.headers.contains_key("retry-after"));
    keeps(&refused, "name", "Bahari &quot;Express&quot;");
    keeps(&refused, "_key", KEY);
    refused.says(&format!("action=\"{path}\""));
    // A refusal reads no large form.
    let large = format!("Bahari {}", "x".repeat(64 * 1024));
    let fields = [("name", large.as_str())];
    let refused = limited(&world, async || world.submits(path, &cookies, &fields).await).await;
    assert!(!refused.html.contains("Bahari"), "{}", refused.html);
    // A file is not kept, so the form is shown before it is sent.
    let form = || Form::new().text("name", "Bahari").file_as("photo_file_ids[]", "a", &picture());
    let refused = limited(&world, async || world.uploads(path, &cookies, form()).await).await;
    keeps(&refused, "name", "Bahari");
    refused.says("<button name=\"_show\"");
    refused.says("choose new files");
    // Neither is a password.
    let fields = [("current_password", "rahasia-satu"), ("password", "rahasia-dua")];
    let password = "/console/account/password";
    let refused = limited(&world, async || world.submits(password, &cookies, &fields).await).await;
    assert!(!refused.html.contains("rahasia"), "{}", refused.html);
    refused.says("<button name=\"_show\"");
    // What another site typed is not sent by a button of ours.
    let fields = [("name", "Mallory")];
    let evil = "https://evil.example";
    let sends = async || world.submits_from(evil, path, &cookies, &fields).await;
    let refused = limited(&world, sends).await;
    assert!(!refused.html.contains("Mallory"), "{}", refused.html);
    // The travellers' site.
    let path = "/en/booking/ABCDEF/cancel";
    let fields = [("reason", "Sakit"), ("_do", "cancel")];
    let refused = limited(&world, async || world.submits(path, "", &fields).await).await;
    keeps(&refused, "reason", "Sakit");
    refused.says("<button name=\"_do\" value=\"cancel\">");
    refused.says("formaction=\"/booking/ABCDEF/cancel\" name=\"_show\"");
}

/// Renames a table, so that whatever needs it fails.
async fn renames(world: &World, from: &str, to: &str) {
    let statement: &'static str = format!("ALTER TABLE {from} RENAME TO {to}").leak();
    world.db().sql(statement).run().await.unwrap();
}

async fn a_failure_before_the_form_is_read_keeps_it(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&partner);
    let fields = [("name", "Bahari Express"), ("_key", KEY)];
    renames(&world, "sessions", "sessions_gone").await;
    let failed = world.submits("/console/boats/new", &cookies, &fields).await;
    let shown = world.page("/console/boats", &cookies).await;
    renames(&world, "sessions_gone", "sessions").await;
    assert!(failed.status >= 500, "{}", failed.status);
    keeps(&failed, "name", "Bahari Express");
    keeps(&failed, "_key", KEY);
    assert!(shown.status >= 500, "{}", shown.status);
    shown.says("href=\"/console/boats\">Try again</a>");
    // The button shows the form, or its faults.
    let again = world.submits("/console/boats/new", &cookies, &[fields[0], ("_do", "")]).await;
    assert_eq!(again.status, 422);
    again.says("value=\"Bahari Express\"");
}

/// The act and reading the record of the form fail.
async fn a_failure_behind_the_form_keeps_it(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    let code = booking["code"].as_str().unwrap();
    let fields = [("code", code), ("email", "sari@example.com")];
    let opened = world.submits("/en/booking", "", &fields).await;
    let (cookies, page) = (opened.cookies(), opened.location().to_owned());
    let one = booking["passengers"][0]["id"].as_str().unwrap();
    let cancel = [("passenger_ids[]", one), ("reason", "Sakit"), ("_do", "cancel")];
    let names = [("passengers[0].id", one), ("passengers[0].name", "Ni Luh Sari")];
    renames(&world, "bookings", "bookings_gone").await;
    let cancelled = world.submits(&format!("{page}/cancel"), &cookies, &cancel).await;
    let corrected = world.submits(&format!("{page}/passengers"), &cookies, &names).await;
    renames(&world, "bookings_gone", "bookings").await;
    assert!(cancelled.status >= 500, "{}", cancelled.html);
    keeps(&cancelled, "reason", "Sakit");
    keeps(&cancelled, "passenger_ids[]", one);
    assert!(corrected.status >= 500, "{}", corrected.html);
    keeps(&corrected, "passengers[0].name", "Ni Luh Sari");
    corrected.says("<button name=\"_show\"");
    // The button shows the form.
    let again = [names[0], names[1], ("_show", "1")];
    let shown = world.submits(&format!("{page}/passengers"), &cookies, &again).await;
    assert_eq!(shown.status, 200, "{}", shown.html);
    shown.says("value=\"Ni Luh Sari\"");
    assert_eq!(world.looks_up(&booking).await["qty"], json!(2));
}

async fn a_form_that_is_too_large_keeps_its_texts(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let large = vec![0; 10 * 1024 * 1024 + 300 * 1024];
    let form = Form::new().text("name", "Bahari Express").text("_key", KEY).file_as(
        "photo_file_ids[]",
        "kapal.png",
        &large,
    );
    let refused = world.uploads("/console/boats/new", &session(&partner), form).await;
    assert_eq!(refused.status, 413);
    keeps(&refused, "name", "Bahari Express");
    keeps(&refused, "_key", KEY);
    assert!(!refused.html.contains("photo_file_ids"), "{}", refused.html);
    refused.says("<button name=\"_show\"");
    assert_eq!(world.count("SELECT COUNT(*) FROM speedboats").await, 0);
}
