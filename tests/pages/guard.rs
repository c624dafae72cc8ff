//! What a hostile browser sends, and what strangers must not be able to do.

use std::time::Duration;

use chrono::TimeDelta;
use dermaga::{config::Origins, kernel::access::Rule};
use reqwest::Method;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::{
    form::Form,
    looks::picture,
    on_both_engines,
    sites::session,
    world::{PASSWORD, Someone, World},
};

on_both_engines![
    a_form_has_a_limit_of_rows,
    a_file_stays_in_its_row,
    a_form_stores_the_files_that_it_shows,
    forms_of_strangers_block_nobody,
    a_form_with_files_waits_for_its_turn,
    other_origins_read_no_pages,
    the_api_does_not_take_the_device_of_the_console,
    a_response_with_cookies_is_not_cached,
    requests_at_once_resume_a_device_once,
    a_device_that_is_used_twice_is_revoked,
    control_characters_are_no_failure,
    signing_out_ends_the_session_of_the_partner_too,
    a_failed_sign_out_keeps_the_cookies,
    a_code_is_not_held_for_a_sign_in,
    the_password_waits_five_minutes_for_a_code_and_no_longer,
    an_address_decides_nothing,
];

/// Far above any page with 200 rows.
const LARGE: usize = 2 * 1024 * 1024;

async fn a_form_has_a_limit_of_rows(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&partner);
    for row in ["20000", "18446744073709551615", "4000000000"] {
        for (path, list) in
            [("/console/routes/new", "times"), ("/console/onboarding/documents", "documents")]
        {
            let add = format!("{list}[{row}]");
            let shown = world.submits(path, &cookies, &[("_add", &add)]).await;
            assert_eq!(shown.status, 200, "{add}");
            assert!(shown.html.len() < LARGE, "{add}: {} bytes", shown.html.len());
            assert!(!shown.html.contains(&format!("{list}[1]")), "{add} adds nothing");
        }
    }
    for row in ["5000", "18446744073709551615"] {
        let field = format!("documents[{row}].file_id");
        let form = Form::new().file_as(&field, "nib.png", &picture());
        let refused = world.uploads("/console/onboarding/documents", &cookies, form).await;
        assert_eq!(refused.status, 422, "{row}: {}", refused.html);
        assert!(refused.html.len() < LARGE, "{row}: {} bytes", refused.html.len());
    }
    // 200 rows, and no more.
    let names: Vec<_> = (0..300).map(|row| format!("times[{row}].price")).collect();
    let mut fields: Vec<_> = names.iter().map(|name| (name.as_str(), "1")).collect();
    fields.push(("_add", "times"));
    let shown = world.submits("/console/routes/new", &cookies, &fields).await;
    shown.says("times[199]");
    assert!(!shown.html.contains("times[200]"));
}

async fn a_file_stays_in_its_row(world: World) {
    let partner = world.partner("made@bahari.id").await;
    let cookies = session(&partner);
    let path = "/console/onboarding/documents";
    // The first row was left empty.
    let form = Form::new()
        .text("documents[0].type", "")
        .text("documents[0].file_id", "")
        .text("documents[1].type", "nib")
        .text("documents[1].file_id", "")
        .file_as("documents[1].file_id", "nib.png", &picture());
    let stored = world.uploads(path, &cookies, form).await;
    assert_eq!(stored.status, 303, "{}", stored.html);
    let nib = "SELECT COUNT(*) FROM partner_documents WHERE type = 'nib'";
    assert_eq!(world.count(nib).await, 1);
    // The file of a row without a type is not that of the next row.
    let form = Form::new()
        .text("documents[0].type", "")
        .text("documents[0].file_id", "")
        .file_as("documents[0].file_id", "ktp.png", &picture())
        .text("documents[1].type", "npwp")
        .text("documents[1].file_id", "");
    let refused = world.uploads(path, &cookies, form).await;
    assert_eq!(refused.status, 422, "{:?}", refused.headers);
    assert_eq!(world.count("SELECT COUNT(*) FROM partner_documents").await, 1);
    // The uploaded file is kept in the first row.
    let after = refused.html.split("name=\"documents[0].file_id\" value=\"").nth(1).unwrap();
    assert!(!after.starts_with('"'), "{}", refused.html);
    refused.says("name=\"documents[1].file_id\" value=\"\"");
}

async fn a_form_stores_the_files_that_it_shows(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&partner);
    let files = "SELECT COUNT(*) FROM files WHERE status = 'ready'";
    let before = world.count(files).await;
    let password = Form::new().text("current_password", "x").file_as("z", "z.png", &picture());
    let refused = world.uploads("/console/account/password", &cookies, password).await;
    assert_eq!(refused.status, 415, "the page has no field for files");
    refused.says("<h1>");
    let other = Form::new()
        .text("name", "Bahari Express")
        .file_as("avatar", "z.png", &picture())
        .file_as("manufacturer", "z.png", &picture())
        .file_as("times[0].file_id", "z.png", &picture());
    let refused = world.uploads("/console/boats/new", &cookies, other).await;
    assert_eq!(refused.status, 422);
    refused.says("value=\"Bahari Express\"");
    assert_eq!(world.count(files).await, before, "fields that the form does not have");
    let many = Form::new().text("name", "Bahari Express");
    let many = (0..21).fold(many, |form, _| form.file_as("photo_file_ids[]", "a.png", &picture()));
    let refused = world.uploads("/console/boats/new", &cookies, many).await;
    assert_eq!(refused.status, 422);
    refused.says("At most 20 files");
    refused.says("value=\"Bahari Express\"");
    assert_eq!(world.count(files).await, before);
}

/// Sends the head of a form and no more than the start of its body.
async fn slow(world: &World, path: &str, cookies: &str, content_type: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nCookie: {cookies}\r\n\
         Content-Type: {content_type}\r\nContent-Length: 100000\r\n\r\n--x\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

const MULTIPART: &str = "multipart/form-data; boundary=x";
const URLENCODED: &str = "application/x-www-form-urlencoded";

fn boat() -> Form {
    Form::new()
        .text("name", "Bahari Express")
        .text("registration_number", "GT. 9")
        .text("capacity", "30")
        .text("status", "active")
        .file_as("photo_file_ids[]", "kapal.png", &picture())
}

async fn signs_in_at_once(world: &World, who: &Someone) {
    let fields = [("email", who.email.as_str()), ("password", PASSWORD)];
    let signed_in = world.submits("/console/login", "", &fields);
    let signed_in = timeout(Duration::from_secs(8), signed_in).await.expect("nobody has to wait");
    assert_eq!(signed_in.status, 303);
}

async fn forms_of_strangers_block_nobody(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let mut open = Vec::new();
    for _ in 0..10 {
        open.push(slow(&world, "/console/login", "", URLENCODED).await);
        open.push(slow(&world, "/console/boats/new", "", MULTIPART).await);
        open.push(slow(&world, "/console/boats/new", "dermaga_session=x", MULTIPART).await);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    signs_in_at_once(&world, &partner).await;
    let cookies = session(&partner);
    let made = world.uploads("/console/boats/new", &cookies, boat());
    let made = timeout(Duration::from_secs(8), made).await.expect("nobody has to wait");
    assert_eq!(made.status, 303, "{}", made.html);
    // What a stranger typed is held for the sign-in, without files.
    let held = world.uploads("/console/boats/new", "", boat()).await;
    assert_eq!(held.status, 401);
    held.says("name=\"held.name\" value=\"Bahari Express\"");
    assert!(!held.html.contains("photo_file_ids"), "{}", held.html);
}

async fn a_form_with_files_waits_for_its_turn(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&partner);
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(slow(&world, "/console/boats/new", &cookies, MULTIPART).await);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let refused = world.uploads("/console/boats/new", &cookies, boat());
    let refused = timeout(Duration::from_secs(8), refused).await.expect("the wait is short");
    // An account has two of the slots, so that others have some.
    assert_eq!(refused.status, 429);
    assert!(refused.headers.contains_key("retry-after"));
    signs_in_at_once(&world, &partner).await;
    drop(open);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let made = world.uploads("/console/boats/new", &cookies, boat()).await;
    assert_eq!(made.status, 303, "{}", made.html);
}

async fn other_origins_read_no_pages(world: World) {
    let origin = "https://app.example";
    let origins = Origins(vec![origin.parse().unwrap()]);
    let world = world.with(|config| config.cors_origins = origins).await;
    for (method, path) in [
        (Method::GET, "/console/login"),
        (Method::OPTIONS, "/console"),
        (Method::GET, "/console/x"),
    ] {
        let call = world.call(method, path).header("origin", origin);
        let call = call.header("access-control-request-method", "GET");
        let (_, headers, _) = call.bytes().await;
        for name in ["access-control-allow-origin", "access-control-allow-credentials"] {
            assert!(!headers.contains_key(name), "{path}: {headers:?}");
        }
    }
    let api = world.get("/user/me").header("origin", origin).send().await;
    assert_eq!(api.header("access-control-allow-origin"), origin, "the API is open to it");
}

async fn remembered(world: &World, email: &str) -> String {
    let fields = [("email", email), ("password", PASSWORD), ("remember", "true")];
    let cookies = world.submits("/console/login", "", &fields).await.cookies();
    let kept: Vec<_> =
        cookies.split("; ").filter(|pair| !pair.starts_with("dermaga_session")).collect();
    assert_eq!(kept.len(), 2, "{cookies}");
    kept.join("; ")
}

async fn the_api_does_not_take_the_device_of_the_console(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let device = remembered(&world, "admin@dermaga.test").await;
    let call = world.post("/auth/remember-me", json!({ "email": "admin@dermaga.test" }));
    call.header("cookie", &device).send().await.is(401, "unauthenticated");
    assert_eq!(world.page("/console", &device).await.status, 200, "the console does");
}

async fn a_response_with_cookies_is_not_cached(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let cookies = session(&partner);
    let made = world.uploads("/console/boats/new", &cookies, boat()).await;
    let id = made.location().rsplit('/').next().unwrap();
    let boat = world.get(&format!("/v1/speedboats/{id}")).by(&partner).send().await.ok();
    let file = format!("/console/files/{}", boat["photos"][0]["file_id"].as_str().unwrap());
    let cached = async |cookies: &str| {
        let shown = world.page(&file, cookies).await;
        assert_eq!(shown.status, 200);
        let cached = shown.headers["cache-control"].to_str().unwrap().to_owned();
        (cached, shown.headers.contains_key("set-cookie"))
    };
    let (plain, sets) = cached(&cookies).await;
    assert!(plain.starts_with("private") && !sets, "{plain}");
    // An impersonation that has ended: its cookie is removed.
    let ended = format!("{cookies}; dermaga_acting=x.1");
    assert_eq!(cached(&ended).await, ("private, no-store".to_owned(), true));
    let page = world.page("/console/boats", &ended).await;
    assert_eq!(page.headers["cache-control"], "private, no-store");
}

async fn requests_at_once_resume_a_device_once(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let device = remembered(&world, "admin@dermaga.test").await;
    // Neither files nor streams resume a device.
    for path in ["/console/live", "/console/files/019a8f5e-0000-7000-8000-000000000000"] {
        let shown = world.page(path, &device).await;
        assert_eq!((shown.status, shown.cookies().as_str()), (303, ""), "{path}");
    }
    let call = world.get("/console").header("cookie", &device).header("sec-fetch-mode", "cors");
    let (_, headers, _) = call.bytes().await;
    assert!(!headers.contains_key("set-cookie"), "a script does not, either");
    let first = world.page("/console/boats", &device).await;
    assert_eq!(first.status, 200);
    // A second tab sent the same token a moment later.
    let second = world.page("/console/routes", &device).await;
    assert_eq!(second.location(), "/console/login?next=%2Fconsole%2Froutes");
    assert!(!second.headers.contains_key("set-cookie"), "the device is not forgotten");
    let next = world.page(second.location(), &first.cookies()).await;
    assert_eq!((next.status, next.location()), (303, "/console/routes"));
    assert_eq!(world.page("/console/routes", &first.cookies()).await.status, 200);
    // The new token of the first one works.
    let cookies = first.cookies();
    let kept = cookies.split("; ").filter(|pair| pair.starts_with("dermaga_remembered"));
    let email = device.split("; ").filter(|pair| pair.starts_with("dermaga_remembered_email"));
    let kept = kept.chain(email).collect::<Vec<_>>().join("; ");
    assert_eq!(world.page("/console", &kept).await.status, 200);
}

async fn a_device_that_is_used_twice_is_revoked(world: World) {
    world.account("admin@dermaga.test", "admin").await;
    let stolen = remembered(&world, "admin@dermaga.test").await;
    let resumed = world.page("/console", &stolen).await;
    world.advances_clock(TimeDelta::seconds(31));
    let replayed = world.page("/console", &stolen).await;
    assert_eq!(replayed.status, 303);
    assert!(replayed.headers.contains_key("set-cookie"), "the device is forgotten");
    assert_eq!(world.page("/console", &resumed.cookies()).await.status, 303, "for both");
}

async fn control_characters_are_no_failure(world: World) {
    let admin = world.admin().await;
    for cookie in [
        "dermaga_session=a%0Ab",
        "dermaga_acting=a%0Ab.17",
        "dermaga_session=%C3%A9",
        "dermaga_remembered_device=a%00b; dermaga_remembered_email=a%40b.c",
    ] {
        let shown = world.page("/console/boats", cookie).await;
        assert_eq!(shown.status, 303, "{cookie}: {}", shown.html);
    }
    let fields = [
        ("name", "PPN"),
        ("code", "PPN"),
        ("rate", "11"),
        ("applies_to", "booking"),
        ("is_active", "true"),
        ("_key", "a\nb"),
    ];
    let made = world.submits("/console/taxes/new", &session(&admin), &fields).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let faulty = [("_key", "a\nb")];
    let refused = world.submits("/console/routes/new", &session(&admin), &faulty).await;
    assert_eq!(refused.status, 422, "{}", refused.html);
}

/// The cookies of staff who act for a partner, and the path of the partner.
async fn acting(world: &World) -> (String, String, String) {
    let partner = world.active_partner("made@bahari.id").await;
    let id = world.partner_id(&partner).await;
    let rules = [Rule::PartnersRead, Rule::PartnersImpersonate, Rule::FleetRead];
    let staff = world.staff("ayu@dermaga.test", &rules).await;
    let path = format!("/console/partners/{id}/impersonate");
    world.page(&path, &session(&staff)).await.says("For 15 minutes");
    let acting = world.submits(&path, &session(&staff), &[]).await.cookies();
    let acting = acting.split("; ").find(|pair| pair.starts_with("dermaga_acting=")).unwrap();
    (session(&staff), acting.to_owned(), id)
}

async fn signing_out_ends_the_session_of_the_partner_too(world: World) {
    let (own, acting, _) = acting(&world).await;
    assert_eq!(world.page("/console/boats", &acting).await.status, 200);
    // The own session has ended already.
    let cookies = format!("dermaga_session=gone; {acting}");
    let out = world.submits("/console/logout", &cookies, &[]).await;
    assert_eq!((out.status, out.location()), (303, "/console/login"));
    assert_eq!(world.page("/console/boats", &acting).await.status, 303, "the acting one, too");
    assert_eq!(world.page("/console/partners", &own).await.status, 200, "was not named");
    let out = world.submits("/console/logout", &own, &[]).await;
    assert_eq!(out.status, 303);
    assert_eq!(world.page("/console/partners", &own).await.status, 303);
}

async fn a_failed_sign_out_keeps_the_cookies(world: World) {
    let admin = world.admin().await;
    // Signing out is recorded, so it fails without the audit log.
    let rename = async |statement: &'static str| world.db().sql(statement).run().await.unwrap();
    rename("ALTER TABLE audit_logs RENAME TO audit_gone").await;
    let failed = world.submits("/console/logout", &session(&admin), &[]).await;
    rename("ALTER TABLE audit_gone RENAME TO audit_logs").await;
    assert!(failed.status >= 500, "{}", failed.status);
    assert!(!failed.headers.contains_key("set-cookie"));
    failed.says("<h1>");
    assert_eq!(world.page("/console", &session(&admin)).await.status, 200);
}

async fn a_code_is_not_held_for_a_sign_in(world: World) {
    for page in ["confirm", "remove"] {
        let path = format!("/console/account/second-factor/{page}");
        let fields = [("current_password", "rahasia-satu"), ("code", "918273")];
        let held = world.submits(&path, "", &fields).await;
        assert_eq!(held.status, 401);
        held.says("name=\"_resume\"");
        assert!(!held.html.contains("918273"), "{path}");
        assert!(!held.html.contains("rahasia-satu"), "{path}");
    }
    // Other codes are not secret.
    let held = world.submits("/console/taxes/new", "", &[("code", "PPN")]).await;
    held.says("name=\"held.code\" value=\"PPN\"");
}

fn sealed(html: &str) -> String {
    let sealed = html.split("name=\"_sealed\" value=\"").nth(1).expect("a code is asked for");
    sealed.split('"').next().unwrap().replace("&#x2b;", "+").replace("&#x2f;", "/")
}

async fn the_password_waits_five_minutes_for_a_code_and_no_longer(world: World) {
    let admin = world.admin().await;
    let app = world.enrols(&admin).await;
    let fields = [("email", admin.email.as_str()), ("password", PASSWORD)];
    let asked = world.submits("/console/login", "", &fields).await;
    world.advances_clock(TimeDelta::minutes(4));
    let sent = [("_sealed", sealed(&asked.html)), ("_code", String::new())];
    let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let again = world.submits("/console/login", "", &sent).await;
    let renewed = sealed(&again.html);
    world.advances_clock(TimeDelta::minutes(2));
    let code = app.code(world.now());
    let late =
        world.submits("/console/login", "", &[("_sealed", &renewed), ("_code", &code)]).await;
    assert_eq!(late.status, 200, "the password is needed again");
    late.says("name=\"password\"");
}

async fn an_address_decides_nothing(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let id = world.partner_id(&partner).await;
    let admin = session(&world.admin().await);
    let path = format!("/console/partners/{id}/documents/review");
    let shown = world.page(&format!("{path}?document_id=abc7&status=approved"), &admin).await;
    assert_eq!(shown.status, 200);
    assert!(!shown.html.contains("value=\"abc7\"") && !shown.html.contains(" selected"));
    let path = format!("/console/partners/{id}/documents/bank");
    let shown = world.page(&format!("{path}?status=approved&account_number=55501"), &admin).await;
    assert!(!shown.html.contains("value=\"55501\"") && !shown.html.contains(" selected"));
    // What the person sees before pressing the button is filled in.
    let shown = world.page("/console/terms/new?type=mitra", &admin).await;
    shown.says("name=\"type\" value=\"mitra\"");
    let undo = "/console/sailings/019a8f5e-0000-7000-8000-000000000000/undo?ticket_code=TKT7";
    let shown = world.page(undo, &session(&partner)).await;
    shown.says("id=\"f-ticket-code\" name=\"ticket_code\" value=\"TKT7\"");
    let shown = world.page("/console/reset?token=tok7", "").await;
    shown.says("name=\"token\" value=\"tok7\"");
}
