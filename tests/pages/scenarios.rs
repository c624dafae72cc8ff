//! What a real browser must show. After each scenario its log is empty: no violation of the policy, no
//! error of a script.

use dermaga::{config::Switch, kernel::access::Rule};
use serde_json::json;

use crate::{
    browser::{self, DESK, ENTER, PHONE},
    harbour::order,
    world::{PASSWORD, World},
};

#[macro_export]
macro_rules! in_a_browser {
    ($($test:ident),+ $(,)?) => {
        mod in_a_browser {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::world::World::on_sqlite().await).await;
            })+
        }
    };
}

in_a_browser![
    a_partner_signs_in_on_a_phone_and_works,
    a_single_fault_has_the_focus_and_all_else_is_kept,
    three_faults_are_in_a_summary_whose_first_link_moves_to_its_field,
    switching_the_language_in_a_form_keeps_page_and_values,
    ten_wrong_passwords_show_the_wait_to_the_right_one_too,
    a_session_that_ended_elsewhere_leads_through_the_sign_in_back_to_the_form,
    a_form_posted_from_another_origin_changes_nothing,
    staff_with_one_rule_see_one_menu_group_and_no_button,
    impersonating_shows_the_bar_until_stop,
    a_weekly_route_with_two_times_is_published,
    a_partner_sees_its_next_settlement_on_a_phone,
    filters_survive_a_row_and_back_and_reload,
    a_paid_booking_reaches_the_bell_of_an_open_console,
    a_chart_has_the_figures_of_its_table,
    the_manifest_prints_without_navigation,
    a_booking_is_made_at_the_counter_on_a_phone,
    seats_sold_meanwhile_are_said_and_the_names_kept,
    cancelling_shows_the_refund_and_exactly_that_is_owed,
    a_partner_fills_in_four_tasks_and_sees_why_a_document_was_rejected,
    the_console_works_without_scripts,
    a_day_is_typed_to_its_end,
    a_date_is_typed_on_the_keyboard,
    the_head_of_a_table_stays_in_sight,
];

async fn a_partner_signs_in_on_a_phone_and_works(world: World) {
    let sailing = world.sailing().await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.goes("/console/boats").await;
    browser.types("#email", &sailing.partner.email).await;
    browser.types("#password", PASSWORD).await;
    browser.presses(".gate button").await;
    browser.says("Bahari Express").await;
    assert_eq!(browser.path().await, "/console/boats");
    browser.follows("Bahari Express").await;
    browser.follows("Edit boat").await;
    browser.types("#f-engine", "2 x 300 HP").await;
    browser.presses(".send button").await;
    browser.says("2 x 300 HP").await;
    browser.presses(".bar a[href='#menu']").await;
    browser.follows("Bookings").await;
    browser.says("Nothing yet").await;
    browser.closes().await;
}

async fn a_single_fault_has_the_focus_and_all_else_is_kept(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    world.adds_boat(&partner, "GT. 1").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console/crew/new").await;
    browser.types("#f-name", "Ketut").await;
    browser.types("#f-email", "ketut@bahari.id").await;
    browser.types("#f-phone", "12").await;
    browser.presses(".send button").await;
    browser.says("Telephone").await;
    let focused = browser.runs("return document.activeElement.id").await;
    assert_eq!(focused, "f-phone");
    let described = browser
        .runs("return document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent")
        .await;
    assert!(described.as_str().is_some_and(|text| text.len() > 5), "{described}");
    assert_eq!(browser.runs("return document.getElementById('f-name').value").await, "Ketut");
    browser.closes().await;
}

async fn three_faults_are_in_a_summary_whose_first_link_moves_to_its_field(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console/boats/new").await;
    // The browser itself would refuse them.
    browser.runs("document.getElementById('form').noValidate = true").await;
    browser.types("#f-name", "Bahari").await;
    browser.types("#f-capacity", "9000").await;
    browser.types("#f-year-built", "1700").await;
    browser.presses(".send button").await;
    browser.says("Please check this").await;
    assert_eq!(browser.runs("return document.activeElement.id").await, "summary");
    assert_eq!(browser.runs("return document.querySelectorAll('.summary li').length").await, 3);
    browser.presses(".summary li a").await;
    let focused = browser.runs("return document.activeElement.id").await;
    assert!(focused.as_str().is_some_and(|id| id.starts_with("f-")), "{focused}");
    let title = browser.title().await;
    assert!(title.starts_with("Error:"), "{title}");
    browser.closes().await;
}

async fn switching_the_language_in_a_form_keeps_page_and_values(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console/boats/new").await;
    browser.types("#f-name", "Bahari").await;
    browser.presses("button.language").await;
    browser.says("Nomor registrasi").await;
    assert_eq!(browser.path().await, "/console/boats/new");
    assert_eq!(browser.runs("return document.documentElement.lang").await, "id");
    assert_eq!(browser.runs("return document.getElementById('f-name').value").await, "Bahari");
    browser.closes().await;
}

async fn ten_wrong_passwords_show_the_wait_to_the_right_one_too(world: World) {
    let world = world.with(|config| config.rate_limit = Switch(true)).await;
    world.account("ayu@dermaga.test", "admin").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    let tries = std::iter::repeat_n("wrong", 10).chain([PASSWORD]);
    for password in tries {
        browser.goes("/console/login").await;
        browser.types("#email", "ayu@dermaga.test").await;
        browser.types("#password", password).await;
        browser.presses(".gate button").await;
        browser.says("Please check this").await;
    }
    browser.says("Try again in").await;
    browser.closes().await;
}

async fn a_session_that_ended_elsewhere_leads_through_the_sign_in_back_to_the_form(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console/boats/new").await;
    browser.types("#f-name", "Bahari").await;
    browser.types("#f-registration-number", "GT. 7").await;
    browser.types("#f-capacity", "30").await;
    world.post("/v1/auth/logout", json!({})).by(&partner).send().await.ok();
    browser.presses(".send button").await;
    browser.says("Your session has ended").await;
    browser.types("#email", &partner.email).await;
    browser.types("#password", PASSWORD).await;
    browser.presses(".gate button").await;
    browser.says("New boat").await;
    assert_eq!(browser.runs("return document.getElementById('f-name').value").await, "Bahari");
    assert_eq!(world.count("SELECT COUNT(*) FROM speedboats").await, 0, "it was not sent");
    browser.presses(".send button").await;
    browser.says("GT. 7").await;
    browser.closes().await;
}

async fn a_form_posted_from_another_origin_changes_nothing(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    // Another port is another origin, and the same site: the cookie is sent with the form.
    let other = World::on_sqlite().await;
    browser.opens(&format!("http://{}/health", other.address)).await;
    let script = format!(
        "const form = document.createElement('form'); form.method = 'post';
         form.action = '{}/console/crew/new';
         for (const [name, value] of [['name', 'Evil'], ['email', 'evil@evil.test'], ['phone', '081234567890']]) {{
           const field = document.createElement('input'); field.name = name; field.value = value; form.append(field);
         }}
         document.documentElement.append(form); form.submit();",
        browser.base
    );
    browser.runs(&script).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM crew").await, 0);
    browser.quits().await;
}

async fn staff_with_one_rule_see_one_menu_group_and_no_button(world: World) {
    let staff = world.staff("ayu@dermaga.test", &[Rule::PromotionsRead]).await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&staff).await;
    browser.goes("/console/promotions").await;
    let groups = browser
        .runs("return [...document.querySelectorAll('.rail nav h2')].map(h => h.textContent)")
        .await;
    assert_eq!(groups, json!(["Today", "Sales"]));
    assert!(!browser.text().await.contains("New promotion"));
    browser.goes("/console/promotions/new").await;
    browser.says("Not permitted").await;
    browser.closes().await;
}

async fn impersonating_shows_the_bar_until_stop(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let id = world.partner_id(&partner).await;
    let admin = world.admin().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&admin).await;
    browser.goes(&format!("/console/partners/{id}")).await;
    browser.follows("Act for the partner").await;
    browser.presses(".send button").await;
    browser.says("You act as Made Bahari").await;
    for path in ["/console/boats", "/console/bookings", "/console/account", "/pier"] {
        browser.goes(path).await;
        browser.says("You act as Made Bahari").await;
        let title = browser.title().await;
        assert!(title.starts_with("[Made Bahari] "), "{title}");
    }
    assert!(!browser.text().await.contains("Change password"));
    browser.goes("/console/onboarding/bank").await;
    browser.says("locked while you act for the partner").await;
    let locked = "return [...document.querySelectorAll('#form input:not([type=hidden])')].map(e => e.matches(':disabled'))";
    assert_eq!(browser.runs(locked).await, json!([true, true, true]));
    assert_eq!(browser.runs("return document.querySelectorAll('#form button').length").await, 0);
    browser.presses(".acting button").await;
    browser.says("Partners").await;
    assert!(!browser.text().await.contains("You act as"));
    // The own session goes on.
    browser.goes("/console/audit").await;
    browser.says("began to act for a partner").await;
    browser.closes().await;
}

async fn a_weekly_route_with_two_times_is_published(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    let boat = world.adds_boat(&partner, "GT. 1").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    for attempt in ["first", "second"] {
        browser.goes("/console/routes/new").await;
        browser.types("#f-from", "Sanur").await;
        browser.types("#f-to", "Nusa Penida").await;
        browser.presses(&format!("#f-speedboat-id option[value='{boat}']")).await;
        browser.types("#f-price", "150.000").await;
        browser.presses("#f-schedule-type option[value='weekly']").await;
        browser.runs("document.getElementById('f-start-date').value = '2026-11-16'").await;
        browser.runs("document.getElementById('f-end-date').value = '2026-11-29'").await;
        browser.presses("button[name='_add']").await;
        browser.says("Time 2").await;
        for (row, time) in [("0", ["08:00", "08:45"]), ("1", ["23:30", "00:15"])] {
            let script = format!(
                "document.getElementById('f-times-{row}--departure-time').value = '{}';
                 document.getElementById('f-times-{row}--arrival-time').value = '{}';",
                time[0], time[1]
            );
            browser.runs(&script).await;
            browser.presses(&format!("input[name='times[{row}].days[]'][value='mon']")).await;
        }
        browser.presses(".send button").await;
        browser.says("Sanur · Nusa Penida").await;
        browser.says("00:15 +1\u{a0}day").await;
        browser.follows("Publish").await;
        browser.says("23:30 – 00:15 +1\u{a0}day (Mon)").await;
        browser.presses(".send button").await;
        match attempt {
            "first" => browser.says("Published").await,
            _ => browser.says("It clashes with").await,
        }
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM sailings").await, 4);
    // The other sailing is named, and the name leads to it.
    browser.says("Sanur → Nusa Penida, Mon").await;
    browser.presses(".grave a").await;
    browser.says("seats taken").await;
    assert!(browser.path().await.starts_with("/console/sailings/"));
    browser.closes().await;
}

async fn a_partner_sees_its_next_settlement_on_a_phone(world: World) {
    let sailing = world.sailing().await;
    let admin = world.admin().await;
    let weekly = json!({ "schedule": "weekly", "day": 1 });
    world.post("/v1/settlements/configuration", weekly).by(&admin).send().await.ok();
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.signs_in(&sailing.partner).await;
    browser.goes("/console/settlements").await;
    browser.says("Next settlement: Mon\u{a0}16\u{a0}Nov\u{a0}2026").await;
    browser.says("Not settled yet: Rp\u{a0}270.000.").await;
    is_not_wider_than_its_window(&browser).await;
    browser.closes().await;
}

async fn filters_survive_a_row_and_back_and_reload(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    for number in 1..=45 {
        world.adds_boat(&partner, &format!("GT. {number}")).await;
    }
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console/boats?status=active&sort_by=created_at").await;
    browser.follows("Next").await;
    browser.follows("Next").await;
    browser.says("page 3 of 3").await;
    let path = browser.path().await;
    browser.presses("tbody tr .stretch").await;
    browser.says("Edit boat").await;
    browser.goes_back().await;
    assert_eq!(browser.path().await, path);
    browser.says("page 3 of 3").await;
    browser.reloads().await;
    browser.says("page 3 of 3").await;
    assert!(path.contains("status=active") && path.contains("sort_by=created_at"), "{path}");
    browser.closes().await;
}

async fn a_paid_booking_reaches_the_bell_of_an_open_console(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    world.delivers_outbox().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    let worker = tokio::spawn(world.app.clone().run_jobs());
    browser.signs_in(&sailing.partner).await;
    browser.goes("/console/boats").await;
    let before = browser.runs("return Number(document.getElementById('unread').textContent)").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    world.pays(&booking).await;
    for _ in 0..300 {
        let now =
            browser.runs("return Number(document.getElementById('unread').textContent)").await;
        if now.as_i64() > before.as_i64() {
            worker.abort();
            return browser.closes().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the bell stays at {before}");
}

async fn a_chart_has_the_figures_of_its_table(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let admin = world.admin().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&admin).await;
    browser.goes("/console/reports").await;
    browser.says("Gross revenue").await;
    let same = browser
        .runs(
            "const dots = [...document.querySelectorAll('.chart title')].map(t => t.textContent.split(': ')[1]);
             const rows = [...document.querySelectorAll('#series tbody tr')].map(r => r.cells[2].textContent);
             return dots.length > 1 && JSON.stringify(dots) === JSON.stringify(rows);",
        )
        .await;
    assert_eq!(same, true);
    let csv = world.get("/v1/finance/reports/overview?period_type=Bulanan&comparison_mode=Month-over-month&format=csv");
    let (_, _, csv) = csv.by(&admin).bytes().await;
    assert!(String::from_utf8(csv).unwrap().contains("300000"));
    browser.closes().await;
}

async fn the_manifest_prints_without_navigation(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&sailing.partner).await;
    browser.goes(&format!("/console/sailings/{}", sailing.id)).await;
    browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" })).await;
    for selector in [".rail", ".top", ".bar", ".acts"] {
        assert!(!browser.is_any_displayed(selector).await, "{selector} is printed");
    }
    browser.says("Penumpang 2").await;
    let pdf = browser.prints().await;
    if let Some((size, text)) = read_pdf(&pdf) {
        assert!(size.contains("(A4)"), "{size}");
        for words in ["Penumpang 1", "Penumpang 2", "Sanur", "Nusa Penida", "as of"] {
            assert!(text.contains(words), "{words} is not printed: {text}");
        }
        for words in ["Sign out", "Bookings", "Menu", "Notifications", "Close manifest", "Board"] {
            assert!(!text.contains(words), "{words} is printed: {text}");
        }
    }
    browser.closes().await;
}

/// The page size and the text of a PDF. `None` where poppler is not installed.
fn read_pdf(pdf: &[u8]) -> Option<(String, String)> {
    let file = std::env::temp_dir().join(format!("{}.pdf", dermaga::kernel::ids::fresh()));
    std::fs::write(&file, pdf).unwrap();
    let run = |tool: &str, more: &[&str]| {
        let output = std::process::Command::new(tool).arg(&file).args(more).output();
        output.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let found = run("pdfinfo", &[]).zip(run("pdftotext", &["-layout", "-"]));
    std::fs::remove_file(&file).unwrap();
    let is_required = std::env::var_os("REQUIRE_PDF_TOOLS").is_some();
    assert!(found.is_some() || !is_required, "poppler is not installed");
    found.map(|(info, text)| {
        let size = info.lines().find(|line| line.starts_with("Page size")).unwrap_or_default();
        (size.to_owned(), text)
    })
}

async fn is_not_wider_than_its_window(browser: &browser::Browser) {
    let script = "const e = document.documentElement; return e.scrollWidth <= e.clientWidth";
    assert_eq!(browser.runs(script).await, true, "{}", browser.path().await);
}

async fn a_booking_is_made_at_the_counter_on_a_phone(world: World) {
    let sailing = world.sailing().await;
    let Some(browser) = browser::open(&world, PHONE).await else { return };
    browser.signs_in(&sailing.partner).await;
    browser.goes("/console/bookings").await;
    browser.presses("a[href='/console/bookings/new']").await;
    browser.says("New booking").await;
    browser.types("#f-from", "Sanur").await;
    browser.types("#f-to", "Nusa Penida").await;
    browser.runs("document.getElementById('f-date').value = '2026-11-16'").await;
    browser.types("#f-qty", "2").await;
    browser.presses(".wish button").await;
    browser.says("30 seats left").await;
    is_not_wider_than_its_window(&browser).await;
    browser.pictures("counter-search-phone").await;
    browser.presses(".tickets .ticket").await;
    browser.says("Passenger 2").await;
    is_not_wider_than_its_window(&browser).await;
    browser.types("#f-contact-name", "Sari Dewi").await;
    browser.types("#f-contact-email", "sari@example.com").await;
    browser.types("#f-contact-phone", "081234567890").await;
    browser.presses("#same").await;
    browser.types("#f-passengers-1--name", "Budi Hartono").await;
    browser.presses("#f-passengers-1--identity-type option[value='nik']").await;
    browser.types("#f-passengers-1--identity-number", "123").await;
    // Passenger 1 is the contact, whose name is still missing there.
    browser.runs("document.getElementById('form').noValidate = true").await;
    browser.pictures("counter-form-phone").await;
    browser.presses(".basket .send button").await;
    browser.says("A NIK has 16 digits").await;
    let focused = browser.runs("return document.activeElement.id").await;
    assert_eq!(focused, "f-passengers-1--identity-number");
    let value = "return document.getElementById('f-passengers-0--name').value";
    assert_eq!(browser.runs(value).await, "Sari Dewi");
    browser.types("#f-passengers-1--identity-number", "5171012304850001").await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    browser.says("Budi Hartono").await;
    is_not_wider_than_its_window(&browser).await;
    browser.pictures("counter-check-phone").await;
    browser.presses(".basket .send button").await;
    browser.says("Not paid.").await;
    browser.follows("Record cash").await;
    browser.presses(".send button").await;
    browser.says("Paid. Departure").await;
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings WHERE status = 'paid'").await, 1);
    browser.closes().await;
}

async fn seats_sold_meanwhile_are_said_and_the_names_kept(world: World) {
    let sailing = world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&sailing.partner).await;
    let path = format!("/console/bookings/new/{}?item_id={}&qty=2", sailing.id, sailing.boat);
    browser.goes(&path).await;
    browser.types("#f-contact-name", "Sari Dewi").await;
    browser.types("#f-contact-email", "sari@example.com").await;
    browser.types("#f-contact-phone", "081234567890").await;
    browser.types("#f-passengers-0--name", "Sari Dewi").await;
    browser.types("#f-passengers-1--name", "Budi Hartono").await;
    browser.pictures("counter-form-desk").await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    browser.pictures("counter-check-desk").await;
    world.books(order(&sailing, 29, "many@example.com")).await.ok();
    browser.presses(".basket .send button").await;
    browser.says("Only 1 seat is left").await;
    let names = "return [0, 1].map(n => document.getElementById(`f-passengers-${n}--name`).value)";
    assert_eq!(browser.runs(names).await, json!(["Sari Dewi", "Budi Hartono"]));
    // One of them travels.
    browser.types("#f-qty", "1").await;
    browser.presses("button[value='price']").await;
    browser.says("Rp\u{a0}150.000").await;
    browser.presses(".basket .send button").await;
    browser.says("Check the answers").await;
    // Pressed twice, booked once.
    browser
        .runs("const b = document.querySelector('.basket .send button'); b.click(); b.click();")
        .await;
    browser.says("Not paid.").await;
    assert_eq!(world.count("SELECT COUNT(*) FROM bookings").await, 2);
    browser.closes().await;
}

async fn cancelling_shows_the_refund_and_exactly_that_is_owed(world: World) {
    let sailing = world.sailing().await;
    let booking = world.books(order(&sailing, 2, "sari@example.com")).await.ok();
    world.pays(&booking).await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&sailing.partner).await;
    browser.goes(&format!("/console/bookings/{}", booking["id"].as_str().unwrap())).await;
    browser.follows("Cancel booking").await;
    let shown = browser.runs("return document.querySelector('.sentence b').textContent").await;
    assert_eq!(shown, "Rp\u{a0}300.000");
    browser.types("#f-reason", "Gelombang tinggi").await;
    browser.presses(".send button").await;
    browser.says("The customer is owed").await;
    let owed = browser.runs("return document.querySelector('.sentence b').textContent").await;
    assert_eq!(owed, shown);
    browser.closes().await;
}

async fn a_partner_fills_in_four_tasks_and_sees_why_a_document_was_rejected(world: World) {
    let partner = world.partner("made@bahari.id").await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console").await;
    browser.says("Missing").await;
    let papers = crate::harbour::onboarding_body();
    let steps =
        [("Business", "business"), ("Contact person", "pic"), ("Bank account", "bank_account")];
    for (task, part) in steps {
        browser.goes("/console/onboarding").await;
        browser.follows(task).await;
        browser.says("(needed to hand in)").await;
        for (name, value) in papers[part].as_object().unwrap() {
            let id = format!("#f-{}-{}", part.replace('_', "-"), name.replace('_', "-"));
            let text = value.as_str().map_or_else(|| format!("0{value}"), str::to_owned);
            browser.types(&id, &text).await;
        }
        browser.presses(".send button").await;
        browser.arrives("/console/onboarding").await;
        browser.says("Papers").await;
    }
    let file = std::env::temp_dir().join(format!("{}.png", dermaga::kernel::ids::fresh()));
    std::fs::write(&file, crate::looks::picture()).unwrap();
    browser.goes("/console/onboarding/documents").await;
    for (row, kind) in crate::harbour::REQUIRED.iter().enumerate() {
        if row > 0 {
            // What was chosen before is stored, and kept.
            browser.presses("button[name='_add']").await;
            browser.says(&format!("Document {}", row + 1)).await;
        }
        browser.presses(&format!("#f-documents-{row}--type option[value='{kind}']")).await;
        browser.chooses_file(&format!("#f-documents-{row}--file-id"), &file).await;
    }
    browser.presses(".send button").await;
    browser.arrives("/console/onboarding").await;
    browser.says("Bank book").await;
    std::fs::remove_file(&file).unwrap();
    assert_eq!(
        browser.runs("return document.querySelectorAll('.steps-list .chip.ok').length").await,
        4
    );
    browser.follows("Hand in").await;
    browser.presses(".send button").await;
    browser.says("We review your papers").await;
    let admin = world.admin().await;
    let desk = world.partner_path(&partner).await;
    let documents = world.documents(&desk, &admin).await;
    assert_eq!(documents.len(), 5);
    world.reviews_document(&desk, &admin, &documents[0], "rejected").await.ok();
    browser.goes("/console/onboarding").await;
    browser.says("It is blurred.").await;
    browser.says("Rejected").await;
    browser.closes().await;
}

async fn the_console_works_without_scripts(world: World) {
    let sailing = world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.switches_scripts_off().await;
    browser.goes("/console/boats?status=inactive").await;
    browser.types("#email", &sailing.partner.email).await;
    browser.types("#password", PASSWORD).await;
    browser.presses(".gate button").await;
    browser.says("Nothing found").await;
    // A choice alone does nothing: no script runs.
    browser.presses("#q-status option[value='active']").await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert!(browser.path().await.ends_with("status=inactive"));
    browser.presses(".filters button").await;
    browser.says("Bahari Express").await;
    // Rows are added and the language is changed by buttons.
    browser.goes("/console/routes/new").await;
    browser.types("#f-from", "Sanur").await;
    browser.presses("button[name='_add']").await;
    browser.says("Time 2").await;
    browser.presses("button.language").await;
    browser.says("Rute baru").await;
    assert_eq!(browser.runs("return document.getElementById('f-from').value").await, "Sanur");
    // A booking from the search to the cash.
    browser.goes("/console/bookings/new?from=Sanur&to=Nusa+Penida&date=2026-11-16&qty=1").await;
    browser.presses(".tickets .ticket").await;
    browser.types("#f-contact-name", "Sari Dewi").await;
    browser.types("#f-contact-email", "sari@example.com").await;
    browser.types("#f-contact-phone", "081234567890").await;
    browser.types("#f-passengers-0--name", "Sari Dewi").await;
    browser.presses(".basket .send button").await;
    browser.says("Periksa isian").await;
    browser.presses(".basket .send button").await;
    browser.says("Belum dibayar.").await;
    browser.follows("Catat tunai").await;
    browser.presses(".send button").await;
    browser.says("Lunas. Berangkat").await;
    browser.closes().await;
}

async fn a_day_is_typed_to_its_end(world: World) {
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&sailing.partner).await;
    let path = format!("/console/bookings/{}/reschedule", booking["id"].as_str().unwrap());
    browser.goes(&path).await;
    browser.runs("document.getElementById('date').focus()").await;
    // The first digit makes another date already.
    browser.keys("12052026").await;
    browser.presses(".filters.day button").await;
    browser.arrives(&format!("{path}?date=2026-12-05")).await;
    browser.closes().await;
}

async fn a_date_is_typed_on_the_keyboard(world: World) {
    let sailing = world.sailing().await;
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&sailing.partner).await;
    browser.goes("/console/sailings?date=2026-11-15").await;
    browser.tabs_to("#date").await;
    // Month, day and year, as the language of the browser has them.
    browser.keys("11162026").await;
    assert_eq!(browser.path().await, "/console/sailings?date=2026-11-15");
    browser.keys(ENTER).await;
    browser.arrives("/console/sailings?date=2026-11-16").await;
    browser.says("Bahari Express").await;
    browser.closes().await;
}

async fn the_head_of_a_table_stays_in_sight(world: World) {
    let partner = world.active_partner("made@bahari.id").await;
    for number in 1..=30 {
        world.adds_boat(&partner, &format!("GT. {number}")).await;
    }
    let Some(browser) = browser::open(&world, DESK).await else { return };
    browser.signs_in(&partner).await;
    browser.goes("/console/boats?page_size=50").await;
    let head =
        "scrollTo(0, 600); return document.querySelector('thead th').getBoundingClientRect().top";
    assert_eq!(browser.runs(head).await, 0);
    // A table that does not fit is scrolled in its box instead.
    let wide = "document.querySelector('.ledger').style.width = '3000px'; dispatchEvent(new Event('resize'));
        return getComputedStyle(document.querySelector('.scroll')).overflowX";
    assert_eq!(browser.runs(wide).await, "auto");
    browser.closes().await;
}
