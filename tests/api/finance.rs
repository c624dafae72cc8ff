//! The books: balances, entries, statements, taxes, payouts of providers, journals and months.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use dermaga::{config::Switch, kernel::access::Rule, ledger as postings};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_trial_balance_equals_the_ledger,
    entries_are_listed_with_their_filters,
    a_partner_reads_its_own_statement,
    a_month_of_taxes_shows_what_is_owed,
    more_tax_than_is_owed_is_not_paid,
    a_payout_of_the_provider_is_posted,
    a_report_names_payments_and_refunds_by_any_id,
    a_wrong_payout_is_refused_field_by_field,
    payments_are_compared_with_payouts,
    cash_is_brought_to_the_bank_once,
    cash_is_not_taken_before_it_came,
    a_journal_is_posted_by_a_second_person,
    a_wrong_journal_is_refused_field_by_field,
    a_journal_of_a_partner_changes_its_settlement,
    one_person_approves_where_it_is_set_so,
    months_are_closed_in_order,
    nothing_is_posted_into_a_closed_month,
    closing_races_with_dated_postings,
    rolling_up_races_with_postings,
    every_list_is_also_a_file,
];

const BOOKS: &str = "/v1/finance";

/// Two seats of 150,000 with 11 % tax; ten per cent commission with 12 % tax.
const TOTAL: i64 = 333_000;
const TAX: i64 = 33_000;
const COMMISSION_TAX: i64 = 3_600;

async fn posts(world: &World, path: &str, body: Value, by: &Someone) -> Answer {
    world.post(&format!("{BOOKS}/{path}"), body).by(by).send_with_retry().await
}

async fn reads(world: &World, path: &str, by: &Someone) -> Value {
    world.get(&format!("{BOOKS}/{path}")).by(by).send().await.ok()
}

fn journal(day: &str, lines: Value) -> Value {
    json!({ "posted_on": day, "memo": "Opening balance", "lines": lines })
}

/// Opens the books with an amount on an account.
fn opening(day: &str, account: &str, amount: i64) -> Value {
    let lines = json!([
        { "account": account, "debit": amount }, { "account": "equity", "credit": amount },
    ]);
    journal(day, lines)
}

/// A journal entry that a second admin has approved.
pub async fn posts_journal(world: &World, body: Value, by: &Someone) -> Value {
    let draft = posts(world, "journals", body, by).await.ok();
    let path = format!("journals/{}/approve", draft["id"].as_str().unwrap());
    posts(world, &path, json!({}), &world.second_admin().await).await.ok()
}

async fn adds_taxes(world: &World, admin: &Someone) {
    for (code, rate, on) in [("PPN", 11, "booking"), ("PPN-K", 12, "commission")] {
        let tax = json!({
            "name": code, "code": code, "rate": rate, "applies_to": on, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(admin).send().await.ok();
    }
}

/// A paid booking with taxes, and its sailing.
async fn a_sale(world: &World, admin: &Someone) -> (Sailing, Value) {
    adds_taxes(world, admin).await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 2).await;
    (sailing, booking)
}

async fn pays_cash(world: &World, sailing: &Sailing, qty: usize, by: &Someone) {
    let booking = world.books(order(sailing, qty, "sari@example.com")).await.ok();
    let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
    world.post(&path, json!({})).by(by).send().await.ok();
}

type Balances = BTreeMap<(String, Option<String>), i64>;

fn closing(balance: &Value) -> Balances {
    let accounts = balance["accounts"].as_array().unwrap().iter();
    accounts
        .map(|row| {
            let code = row["tax_code"].as_str().map(str::to_owned);
            let key = (row["account"].as_str().unwrap().to_owned(), code);
            (key, row["closing"].as_i64().unwrap())
        })
        .collect()
}

async fn ledger(world: &World) -> Balances {
    let rows: Vec<(String, Option<String>, i64)> = world
        .db()
        .sql(
            "SELECT account, tax_code, CAST(SUM(amount) AS BIGINT) FROM ledger_lines
             GROUP BY account, tax_code",
        )
        .all()
        .await
        .unwrap();
    rows.into_iter().map(|(account, code, amount)| ((account, code), amount)).collect()
}

async fn a_trial_balance_equals_the_ledger(world: World) {
    let admin = world.admin().await;
    a_sale(&world, &admin).await;
    world.completes_paid_bookings().await;
    posts_journal(&world, opening("2026-10-20", "bank", 5_000_000), &admin).await;
    let expected = ledger(&world).await;
    assert_eq!(expected[&("tax_payable".into(), Some("PPN".into()))], -TAX);
    assert_eq!(expected[&("tax_payable".into(), Some("PPN-K".into()))], -COMMISSION_TAX);
    // Before, amid and after the roll-up.
    let path = "trial-balance?start_date=2026-11-01&end_date=2026-11-30";
    for step in 0..4 {
        match step {
            1 => assert!(postings::roll_up(&world.app).await.unwrap() > 0),
            2 => assert_eq!(postings::roll_up(&world.app).await.unwrap(), 0),
            3 => postings::rebuild(&world.app).await.unwrap(),
            _ => {}
        }
        let balance = reads(&world, path, &admin).await;
        assert_eq!(closing(&balance), expected, "step {step}");
        assert_eq!(balance["total"]["debit"], balance["total"]["credit"]);
        assert_eq!(
            (&balance["total"]["opening"], &balance["total"]["closing"]),
            (&json!(0), &json!(0))
        );
        let bank = &balance["accounts"].as_array().unwrap()[0];
        assert_eq!(
            (&bank["account"], &bank["opening"], &bank["debit"], &bank["closing"]),
            (&json!("bank"), &json!(5_000_000), &json!(0), &json!(5_000_000))
        );
        // A window that ends before the sale has the opening balance alone.
        let before = reads(&world, "trial-balance?end_date=2026-10-31", &admin).await;
        assert_eq!(before["start_date"], "2026-10-01");
        assert_eq!(before["accounts"].as_array().unwrap().len(), 2);
        assert_eq!(before["total"]["debit"], 5_000_000);
        assert_invariants(&world).await;
    }
    for (query, field, rule) in [
        ("start_date=2026-11-02&end_date=2026-11-01", "end_date", "min"),
        ("start_date=2027-01-01", "start_date", "max"),
        ("start_date=yesterday", "start_date", "format"),
        ("format=pdf", "format", "enum"),
    ] {
        let answer = world.get(&format!("{BOOKS}/trial-balance?{query}")).by(&admin).send().await;
        answer.has_field_errors(&[(field, rule)]);
    }
}

async fn entries_are_listed_with_their_filters(world: World) {
    let admin = world.admin().await;
    let (sailing, booking) = a_sale(&world, &admin).await;
    let other = world.paid_booking(&sailing, 1).await;
    world.completes_paid_bookings().await;
    posts_journal(&world, opening("2026-10-20", "bank", 1_000), &admin).await;
    let partner = world.partner_id(&sailing.partner).await;
    let id = booking["id"].as_str().unwrap();
    let all = world.count("SELECT COUNT(*) FROM ledger_lines").await;
    for (query, condition) in [
        ("x=".to_owned(), "1 = 1".to_owned()),
        ("account=tax_payable".into(), "account = 'tax_payable'".into()),
        ("source=journal".into(), "source = 'journal'".into()),
        (format!("mitra_id={partner}"), "account = 'partner_payable'".into()),
        ("end_date=2026-10-31".into(), "source = 'journal'".into()),
        ("start_date=2026-11-01&source=booking&account=cash".into(), "account = 'cash'".into()),
    ] {
        let path = format!("{BOOKS}/entries?page_size=100&{query}");
        let answer = world.get(&path).by(&admin).send().await;
        let total = answer.body["pagination"]["total_items"].as_i64().unwrap();
        let text = format!("SELECT COUNT(*) FROM ledger_lines WHERE {condition}").leak();
        assert_eq!(total, world.count(text).await, "{query}");
        assert_eq!(answer.ok().as_array().unwrap().len() as i64, total, "{query}");
    }
    // The lines of a booking are balanced postings, with its code.
    let lines = reads(&world, &format!("entries?page_size=100&booking_id={id}"), &admin).await;
    let lines = lines.as_array().unwrap();
    let sum = |name: &str| lines.iter().map(|line| line[name].as_i64().unwrap()).sum::<i64>();
    assert!(sum("debit") >= TOTAL && sum("debit") == sum("credit"));
    assert!(lines.iter().all(|line| line["booking_code"] == booking["code"]));
    assert!(lines.iter().all(|line| line["booking_code"] != other["code"]));
    // Pages do not overlap, and the newest come first.
    let mut seen = Vec::new();
    for page in 1..=all {
        let page = reads(&world, &format!("entries?page_size=3&page={page}"), &admin).await;
        seen.extend(page.as_array().unwrap().clone());
    }
    assert_eq!(seen.len() as i64, all);
    assert!(
        seen.windows(2).all(|two| two[0]["posted_on"].as_str() >= two[1]["posted_on"].as_str())
    );
    let ids: std::collections::BTreeSet<_> =
        seen.iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids.len() as i64, all);
    let bad =
        world.get(&format!("{BOOKS}/entries?account=pocket&source=x")).by(&admin).send().await;
    bad.has_field_errors(&[("account", "enum"), ("source", "enum")]);
}

async fn a_partner_reads_its_own_statement(world: World) {
    let admin = world.admin().await;
    let (sailing, _) = a_sale(&world, &admin).await;
    for qty in [1, 2, 3] {
        world.paid_booking(&sailing, qty).await;
    }
    world.completes_paid_bookings().await;
    let made = world.partner_id(&sailing.partner).await;
    let path = format!("partners/{made}/statement");
    let whole = reads(&world, &path, &sailing.partner).await;
    let owed = -world.balance("partner_payable").await;
    assert_eq!((&whole["opening"], &whole["closing"]), (&json!(0), &json!(owed)));
    let lines = whole["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3]["balance"], json!(owed));
    // A page continues the balance of the one before.
    for page in 1..=4 {
        let page_path = format!("{path}?page_size=1&page={page}");
        let one = reads(&world, &page_path, &sailing.partner).await;
        assert_eq!(one["lines"], json!([lines[page - 1]]));
        assert_eq!(one["closing"], json!(owed));
    }
    // Tomorrow it is the opening balance.
    world.advances_clock(TimeDelta::days(1));
    let tomorrow = format!("{path}?start_date=2026-11-16");
    let partner = world.signs_in(&sailing.partner.email, "mitra").await;
    let later = reads(&world, &tomorrow, &partner).await;
    assert_eq!((&later["opening"], &later["lines"]), (&json!(owed), &json!([])));
    let clerk = world.staff("dian@dermaga.test", &[Rule::FinanceRead]).await;
    assert_eq!(reads(&world, &path, &clerk).await["closing"], json!(owed));
    // Another partner's is not found, nor is one that does not exist.
    let other = world.active_partner("ketut@laut.id").await;
    let url = format!("{BOOKS}/{path}");
    world.get(&url).by(&other).send().await.is(404, "not_found");
    let nobody = format!("{BOOKS}/partners/{}/statement", dermaga::kernel::ids::fresh());
    for who in [&other, &clerk] {
        world.get(&nobody).by(who).send().await.is(404, "not_found");
    }
    let crew = world.crew(&sailing.partner, "nyoman@bahari.id").await;
    world.get(&url).by(&crew).send().await.is(403, "forbidden");
}

fn tax<'r>(report: &'r Value, code: &str) -> &'r Value {
    let mut taxes = report["taxes"].as_array().unwrap().iter();
    taxes.find(|tax| tax["tax_code"] == code).unwrap()
}

async fn a_month_of_taxes_shows_what_is_owed(world: World) {
    let admin = world.admin().await;
    a_sale(&world, &admin).await;
    // Due with the payment, and not in the ledger before the journey is over.
    let paid = reads(&world, "taxes?month=2026-11", &admin).await;
    assert_eq!(paid["taxes"].as_array().unwrap().len(), 1);
    let ppn = tax(&paid, "PPN");
    assert_eq!((&ppn["received"], &ppn["received_base"]), (&json!(TAX), &json!(300_000)));
    assert_eq!((&ppn["collected"], &ppn["owed"]), (&json!(0), &json!(0)));

    world.completes_paid_bookings().await;
    let body = json!({
        "tax_code": "PPN", "amount": 20_000, "paid_on": "2026-11-15", "reference": "NTPN-1",
    });
    posts(&world, "tax-payments", body, &admin).await.ok();
    let lines = json!([
        { "account": "losses", "debit": 500 },
        { "account": "tax_payable", "tax_code": "PPN", "credit": 500 },
    ]);
    posts_journal(&world, journal("2026-11-15", lines), &admin).await;
    let report = reads(&world, "taxes", &admin).await;
    assert_eq!(report["month"], "2026-11");
    let ppn = tax(&report, "PPN");
    for (name, amount) in [
        ("received", TAX),
        ("opening", 0),
        ("collected", TAX),
        ("reversed", 0),
        ("adjusted", 500),
        ("paid", 20_000),
        ("owed", TAX + 500 - 20_000),
    ] {
        assert_eq!(ppn[name], amount, "{name}");
    }
    let on_commission = tax(&report, "PPN-K");
    assert_eq!(on_commission["received"], 0);
    assert_eq!(on_commission["owed"], COMMISSION_TAX);
    let next = reads(&world, "taxes?month=2026-12", &admin).await;
    let ppn = tax(&next, "PPN");
    assert_eq!((&ppn["opening"], &ppn["owed"]), (&json!(13_500), &json!(13_500)));
    assert_eq!((&ppn["received"], &ppn["paid"]), (&json!(0), &json!(0)));
    for bad in ["2026-13", "2026", "1999-01", "x"] {
        let answer = world.get(&format!("{BOOKS}/taxes?month={bad}")).by(&admin).send().await;
        answer.has_field_errors(&[("month", "format")]);
    }
    assert_invariants(&world).await;
}

async fn more_tax_than_is_owed_is_not_paid(world: World) {
    let admin = world.admin().await;
    a_sale(&world, &admin).await;
    world.completes_paid_bookings().await;
    let payment = |amount: i64, day: &str, reference: &str| json!({ "tax_code": "PPN", "amount": amount, "paid_on": day, "reference": reference });
    let pay = async |body: Value| posts(&world, "tax-payments", body, &admin).await;
    pay(payment(TAX + 1, "2026-11-15", "A")).await.has_field_errors(&[("amount", "max")]);
    pay(payment(TAX, "2026-11-14", "A")).await.has_field_errors(&[("amount", "max")]);
    pay(payment(1, "2026-11-16", "A")).await.has_field_errors(&[("paid_on", "max")]);
    pay(payment(1, "1999-12-31", "A")).await.has_field_errors(&[("paid_on", "min")]);
    pay(payment(0, "2026-11-15", "A")).await.has_field_errors(&[("amount", "min")]);
    let mut unknown = payment(1, "2026-11-15", "A");
    unknown["tax_code"] = json!("PPNBM");
    pay(unknown).await.has_field_errors(&[("tax_code", "unknown")]);
    pay(json!({ "reference": " " })).await.has_field_errors(&[
        ("amount", "required"),
        ("paid_on", "required"),
        ("reference", "required"),
        ("tax_code", "required"),
    ]);
    pay(payment(1_000, "2026-11-15", "A")).await.ok();
    pay(payment(1_000, "2026-11-15", "A")).await.is(409, "already_exists");
    // Two payments of the rest at once.
    let rest = TAX - 1_000;
    let (a, b) =
        tokio::join!(pay(payment(rest, "2026-11-15", "B")), pay(payment(rest, "2026-11-15", "C")));
    let (paid, refused) = if a.status == 200 { (a, b) } else { (b, a) };
    paid.ok();
    refused.has_field_errors(&[("amount", "max")]);
    assert_eq!(world.balance("bank").await, -TAX);
    assert_eq!(ledger(&world).await[&("tax_payable".into(), Some("PPN".into()))], 0);
    assert_invariants(&world).await;
}

fn line(reference: &Value, gross: i64, fee: i64, fee_tax: i64) -> Value {
    json!({
        "reference": reference, "gross": gross, "fee": fee, "fee_tax": fee_tax,
        "net": gross - fee - fee_tax,
    })
}

fn payout(id: &str, lines: Value) -> Value {
    json!({ "provider": "simulator", "payout_id": id, "paid_on": "2026-11-15", "lines": lines })
}

async fn a_payout_of_the_provider_is_posted(world: World) {
    let admin = world.admin().await;
    let (sailing, booking) = a_sale(&world, &admin).await;
    let other = world.paid_booking(&sailing, 2).await;
    // The provider knows the second one by its own id.
    let named = "UPDATE payments SET transaction_id = 'trx-9' WHERE reference = $1";
    let reference = other["payment"]["reference"].as_str().unwrap().to_owned();
    world.db().sql(named).bind(reference).run().await.unwrap();
    let lines = json!([
        line(&booking["payment"]["reference"], TOTAL, 4_000, 440),
        line(&json!("trx-9"), TOTAL, 4_000, 440),
        line(&json!("trx-9"), -33_000, 0, 0),
        line(&json!("stranger"), 50_000, 700, 77),
    ]);
    let body = payout("PO-1", lines);
    let send = async |body: &Value, key: &str| {
        let call = world.post(&format!("{BOOKS}/provider-settlements"), body.clone()).by(&admin);
        call.header("idempotency-key", key).send_with_retry().await
    };
    let made = send(&body, "one").await.ok();
    let gross = 2 * TOTAL - 33_000 + 50_000;
    for (name, amount) in [
        ("gross", gross),
        ("fee", 8_700),
        ("fee_tax", 957),
        ("net", gross - 8_700 - 957),
        ("unknown_gross", 50_000),
        ("line_count", 4),
    ] {
        assert_eq!(made[name], amount, "{name}");
    }
    assert_eq!(made["unknown_references"], json!(["stranger"]));
    let balances = async || {
        let mut balances = Vec::new();
        for account in ["bank", "gateway_fees", "vat_input", "gateway_clearing", "suspense"] {
            balances.push(world.balance(account).await);
        }
        balances
    };
    let after = [gross - 8_700 - 957, 8_700, 957, 33_000, -50_000];
    assert_eq!(balances().await, after);
    // The same request, and the same payout by another one.
    let again = send(&body, "one").await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.ok()["id"], made["id"]);
    send(&body, "two").await.is(409, "already_exists");
    let mut elsewhere = body.clone();
    elsewhere["payout_id"] = json!("PO-2");
    let (a, b) = tokio::join!(send(&elsewhere, "a"), send(&elsewhere, "b"));
    let (made, refused) = if a.status == 200 { (a, b) } else { (b, a) };
    refused.is(409, "already_exists");
    // A payment is settled once: under another payout its money belongs to nobody.
    let reference = &booking["payment"]["reference"];
    assert_eq!(made.ok()["unknown_references"], json!([reference, "trx-9", "stranger"]));
    assert_eq!(world.balance("suspense").await, -2 * TOTAL - 2 * 50_000);
    let listed = reads(&world, "provider-settlements?search=po-2", &admin).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    // A payment of one provider is not known to another.
    let mut foreign = payout("PO-1", json!([line(&booking["payment"]["reference"], 10, 0, 0)]));
    foreign["provider"] = json!("xendit");
    let foreign = posts(&world, "provider-settlements", foreign, &admin).await.ok();
    assert_eq!(foreign["unknown_gross"], 10);
    assert_invariants(&world).await;
}

async fn a_report_names_payments_and_refunds_by_any_id(world: World) {
    let admin = world.admin().await;
    let (_, booking) = a_sale(&world, &admin).await;
    let reference = booking["payment"]["reference"].as_str().unwrap().to_owned();
    let channel = r#"UPDATE payments SET channel = '{"payment_id": "pay-3"}' WHERE reference = $1"#;
    world.db().sql(channel).bind(reference.clone()).run().await.unwrap();
    let path = format!("/v1/booking/{}/cancel", booking["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    let transfer = dermaga::kernel::ids::fresh();
    world
        .db()
        .sql(
            "INSERT INTO transfers (id, refund_id, payment_id, provider, provider_id, amount, status,
               created_at, updated_at)
             SELECT $1, r.id, y.id, y.provider, 'rfd-3', 1000, 'confirmed', r.due_at, r.due_at
             FROM payments y JOIN refunds r ON r.booking_id = y.booking_id WHERE y.reference = $2",
        )
        .bind(transfer)
        .bind(reference)
        .run()
        .await
        .unwrap();
    let lines = json!([
        line(&json!("pay-3"), TOTAL, 0, 0),
        line(&json!("rfd-3"), -1_000, 0, 0),
        line(&json!(transfer.to_string()), -1_000, 0, 0),
        line(&json!("rfd-4"), -1_000, 0, 0),
        line(&json!(dermaga::kernel::ids::fresh().to_string()), -1_000, 0, 0),
    ]);
    let made = posts(&world, "provider-settlements", payout("PO-1", lines.clone()), &admin).await;
    let made = made.ok();
    assert_eq!(made["unknown_references"], json!([lines[3]["reference"], lines[4]["reference"]]));
    assert_eq!((&made["unknown_gross"], &made["gross"]), (&json!(-2_000), &json!(TOTAL - 4_000)));
    let mut foreign = payout("PO-1", lines);
    foreign["provider"] = json!("xendit");
    let foreign = posts(&world, "provider-settlements", foreign, &admin).await.ok();
    assert_eq!(foreign["unknown_references"].as_array().unwrap().len(), 5);
}

async fn a_wrong_payout_is_refused_field_by_field(world: World) {
    let admin = world.admin().await;
    let send = async |body: Value| posts(&world, "provider-settlements", body, &admin).await;
    let good = line(&json!("a"), 100, 10, 1);
    let mut bad = good.clone();
    bad["net"] = json!(90);
    send(payout("P", json!([good, bad, bad])))
        .await
        .has_field_errors(&[("lines[1].net", "sum"), ("lines[2].net", "sum")]);
    send(payout("P", json!([]))).await.has_field_errors(&[("lines", "min_items")]);
    send(payout(
        " ",
        json!([{ "reference": "a", "gross": 1.5, "fee": 0, "fee_tax": 0,
        "net": 10_000_000_000_000_000_i64 }]),
    ))
    .await
    .has_field_errors(&[
        ("lines[0].gross", "type"),
        ("lines[0].net", "max"),
        ("payout_id", "required"),
    ]);
    let many: Vec<_> = (0..5_001).map(|n| line(&json!(n.to_string()), 1, 0, 0)).collect();
    send(payout("P", json!(many))).await.has_field_errors(&[("lines", "max_items")]);
    let mut future = payout("P", json!([good]));
    future["paid_on"] = json!("2026-11-16");
    send(future).await.has_field_errors(&[("paid_on", "max")]);
    let mut cash = payout("P", json!([good]));
    cash["provider"] = json!("cash");
    send(cash).await.has_field_errors(&[("provider", "enum")]);
    assert_eq!(world.count("SELECT COUNT(*) FROM ledger_lines").await, 0);
    // As many as are allowed.
    let made = send(payout("P", json!(many[..5_000]))).await.ok();
    assert_eq!((&made["line_count"], &made["unknown_gross"]), (&json!(5_000), &json!(5_000)));
    assert_eq!(made["unknown_references"].as_array().unwrap().len(), 5_000);
    assert_invariants(&world).await;
}

async fn payments_are_compared_with_payouts(world: World) {
    let admin = world.admin().await;
    let (sailing, settled) = a_sale(&world, &admin).await;
    world.paid_booking(&sailing, 2).await;
    // Cash is no matter of the provider.
    pays_cash(&world, &sailing, 1, &admin).await;
    let path = "reconciliation?start_date=2026-11-01&end_date=2026-11-30";
    let before = reads(&world, path, &admin).await;
    let days = before["rows"].as_array().unwrap();
    assert_eq!(days.len(), 1);
    assert_eq!((&days[0]["day"], &days[0]["method"]), (&json!("2026-11-15"), &json!("qris")));
    assert_eq!((&days[0]["ours"], &days[0]["missing"]), (&json!(2 * TOTAL), &json!(2 * TOTAL)));
    let lines = json!([
        line(&settled["payment"]["reference"], TOTAL, 4_000, 440),
        line(&json!("stranger"), 50_000, 700, 77),
    ]);
    posts(&world, "provider-settlements", payout("PO-1", lines), &admin).await.ok();
    let after = reads(&world, path, &admin).await;
    let days = after["rows"].as_array().unwrap();
    for (at, method, ours, theirs, fees, missing, extra) in
        [(0, "qris", 2 * TOTAL, TOTAL, 4_000, TOTAL, 0), (1, "unknown", 0, 50_000, 700, 0, 50_000)]
    {
        let day = &days[at];
        assert_eq!(day["method"], method);
        let found = ["ours", "theirs", "fees", "missing", "extra"].map(|name| &day[name]);
        assert_eq!(json!(found), json!([ours, theirs, fees, missing, extra]), "{method}");
    }
    assert_eq!(after["total"]["missing"], TOTAL);
    // A payment with a wrong amount is in the books as well: it was received.
    let wrong = world.books(order(&sailing, 1, "budi@example.com")).await.ok();
    let reference = wrong["payment"]["reference"].as_str().unwrap();
    let notice = crate::harbour::callback_body(reference, 7_000, "settlement", "t-wrong");
    world.post("/v1/payment/callback", notice).send().await.ok();
    let with_wrong = reads(&world, path, &admin).await;
    assert_eq!(with_wrong["total"]["ours"], 2 * TOTAL + 7_000);
    assert_eq!(with_wrong["total"]["missing"], TOTAL + 7_000);
    let long = "start_date=2026-08-01&end_date=2026-11-01";
    let answer = world.get(&format!("{BOOKS}/reconciliation?{long}")).by(&admin).send().await;
    answer.has_field_errors(&[("end_date", "max")]);
    reads(&world, "reconciliation?start_date=2026-08-01&end_date=2026-10-31", &admin).await;
}

fn deposit(amount: i64, day: &str) -> Value {
    json!({ "amount": amount, "deposited_on": day, "reference": "SETOR-1" })
}

async fn cash_is_brought_to_the_bank_once(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    pays_cash(&world, &sailing, 2, &admin).await;
    let send = async |body: Value| posts(&world, "cash-deposits", body, &admin).await;
    send(deposit(300_001, "2026-11-15")).await.is(409, "not_enough_cash");
    send(deposit(0, "2026-11-15")).await.has_field_errors(&[("amount", "min")]);
    send(deposit(1, "2026-11-16")).await.has_field_errors(&[("deposited_on", "max")]);
    send(deposit(100_000, "2026-11-15")).await.ok();
    // Many deposits of the last cash: one is made.
    let all = (0..6).map(|_| send(deposit(200_000, "2026-11-15")));
    let (made, refused): (Vec<_>, Vec<_>) =
        join_all(all).await.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(made.len(), 1);
    for refused in refused {
        refused.is(409, "not_enough_cash");
    }
    assert_eq!((world.balance("cash").await, world.balance("bank").await), (0, 300_000));
    // The same key deposits once.
    pays_cash(&world, &sailing, 2, &admin).await;
    for _ in 0..2 {
        let call = world.post(&format!("{BOOKS}/cash-deposits"), deposit(1_000, "2026-11-15"));
        call.by(&admin).header("idempotency-key", "k").send().await.ok();
    }
    assert_eq!(world.balance("cash").await, 299_000);
    assert_invariants(&world).await;
}

async fn cash_is_not_taken_before_it_came(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    pays_cash(&world, &sailing, 2, &admin).await;
    let send = async |body: Value| posts(&world, "cash-deposits", body, &admin).await;
    send(deposit(1, "2026-11-14")).await.is(409, "not_enough_cash");
    // What a journal entry takes must be there as well, when it is approved.
    let lines = json!([
        { "account": "losses", "debit": 300_000 }, { "account": "cash", "credit": 300_000 },
    ]);
    let draft = posts(&world, "journals", journal("2026-11-15", lines), &admin).await.ok();
    send(deposit(1, "2026-11-15")).await.ok();
    let path = format!("journals/{}/approve", draft["id"].as_str().unwrap());
    let boss = world.second_admin().await;
    posts(&world, &path, json!({}), &boss).await.is(409, "not_enough_cash");
    posts_journal(&world, opening("2026-11-15", "cash", 1), &admin).await;
    posts(&world, &path, json!({}), &boss).await.ok();
    assert_eq!(world.balance("cash").await, 0);
    assert_invariants(&world).await;
}

async fn a_journal_is_posted_by_a_second_person(world: World) {
    let admin = world.admin().await;
    let colleague = world.second_admin().await;
    let body = opening("2026-11-01", "bank", 1_000_000);
    let draft = posts(&world, "journals", body.clone(), &admin).await.ok();
    assert_eq!((&draft["status"], &draft["amount"]), (&json!("draft"), &json!(1_000_000)));
    assert_eq!(world.count("SELECT COUNT(*) FROM ledger_lines").await, 0);
    let path = |journal: &Value, last: &str| {
        format!("journals/{}/{last}", journal["id"].as_str().unwrap())
    };
    posts(&world, &path(&draft, "approve"), json!({}), &admin).await.is(409, "same_person");
    // Of many approvals one posts.
    let calls = (0..4)
        .map(|_| async { posts(&world, &path(&draft, "approve"), json!({}), &colleague).await });
    let (done, refused): (Vec<_>, Vec<_>) =
        join_all(calls).await.into_iter().partition(|answer| answer.status == 200);
    assert_eq!((done.len(), refused.len()), (1, 3));
    for refused in refused {
        refused.is(409, "invalid_state");
    }
    assert_eq!(world.balance("bank").await, 1_000_000);
    posts(&world, &path(&draft, "reject"), json!({}), &admin).await.is(409, "invalid_state");
    // A rejected one is never posted.
    let other = posts(&world, "journals", body, &admin).await.ok();
    let rejected = posts(&world, &path(&other, "reject"), json!({}), &admin).await.ok();
    assert_eq!(rejected["decided_by"], json!(admin.id));
    posts(&world, &path(&other, "approve"), json!({}), &colleague).await.is(409, "invalid_state");
    let nobody = json!({ "id": dermaga::kernel::ids::fresh() });
    for last in ["approve", "reject"] {
        posts(&world, &path(&nobody, last), json!({}), &admin).await.is(404, "not_found");
    }
    for (status, count) in [("draft", 0), ("posted", 1), ("rejected", 1)] {
        let listed = reads(&world, &format!("journals?status={status}"), &admin).await;
        assert_eq!(listed.as_array().unwrap().len(), count, "{status}");
    }
    let posted = reads(&world, "journals?status=posted&search=opening", &admin).await;
    assert_eq!(posted[0]["lines"], draft["lines"]);
    assert_eq!(posted[0]["decided_by"], json!(colleague.id));
    assert_invariants(&world).await;
}

async fn a_wrong_journal_is_refused_field_by_field(world: World) {
    let admin = world.admin().await;
    adds_taxes(&world, &admin).await;
    let send =
        async |lines: Value| posts(&world, "journals", journal("2026-11-15", lines), &admin).await;
    send(json!([{ "account": "bank", "debit": 2 }, { "account": "equity", "credit": 1 }]))
        .await
        .has_field_errors(&[("lines", "unbalanced")]);
    send(json!([
        { "account": "bank", "debit": 1, "credit": 1 }, { "account": "equity" },
        { "account": "tax_payable", "credit": 1 },
        { "account": "cash", "tax_code": "PPN", "debit": 1 }, { "account": "cash", "debit": 1 },
        { "account": "cash", "debit": 1 }, { "account": "partner_payable", "credit": 1 },
    ]))
    .await
    .has_field_errors(&[
        ("lines[0].debit", "one_of"),
        ("lines[1].debit", "one_of"),
        ("lines[2].tax_code", "required"),
        ("lines[3].tax_code", "not_allowed"),
        ("lines[5].account", "duplicate"),
        ("mitra_id", "required"),
    ]);
    // These are kept by booking.
    for account in ["customer_deposits", "refund_payable", "unapplied_payments"] {
        send(json!([{ "account": account, "debit": 1 }, { "account": "equity", "credit": 1 }]))
            .await
            .has_field_errors(&[("lines[0].account", "not_allowed")]);
    }
    send(json!([
        { "account": "losses", "debit": 1 },
        { "account": "tax_payable", "tax_code": "PPNX", "credit": 1 },
    ]))
    .await
    .has_field_errors(&[("lines[1].tax_code", "unknown")]);
    send(json!([{ "account": "pocket", "debit": -1 }])).await.has_field_errors(&[
        ("lines", "min_items"),
        ("lines[0].account", "enum"),
        ("lines[0].debit", "min"),
    ]);
    let mut body = opening("2026-11-15", "bank", 1);
    body["mitra_id"] = json!(dermaga::kernel::ids::fresh());
    let answer = posts(&world, "journals", body.clone(), &admin).await;
    answer.has_field_errors(&[("mitra_id", "not_allowed")]);
    body["lines"][0]["account"] = json!("partner_payable");
    let answer = posts(&world, "journals", body, &admin).await;
    answer.has_field_errors(&[("mitra_id", "unknown")]);
    let answer = posts(&world, "journals", opening("2026-11-16", "bank", 1), &admin).await;
    answer.has_field_errors(&[("posted_on", "max")]);
    assert_eq!(world.count("SELECT COUNT(*) FROM journals").await, 0);
}

async fn a_journal_of_a_partner_changes_its_settlement(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    world.completes_paid_bookings().await;
    let partner = world.partner_id(&sailing.partner).await;
    // The partner has withheld 2 % of our commission of 30,000 for the state.
    let mut body = journal(
        "2026-11-15",
        json!([
            { "account": "prepaid_pph23", "debit": 600 },
            { "account": "partner_payable", "credit": 600 },
        ]),
    );
    body["mitra_id"] = json!(partner);
    posts_journal(&world, body, &admin).await;
    assert_eq!(world.balance("partner_payable").await, -270_600);
    assert_eq!(world.balance("prepaid_pph23").await, 600);
    let due: i64 = world
        .db()
        .sql("SELECT net FROM partner_dues WHERE kind = 'journal'")
        .scalar()
        .await
        .unwrap();
    assert_eq!(due, 600);
    let statement = reads(&world, &format!("partners/{partner}/statement"), &admin).await;
    assert_eq!(statement["closing"], 270_600);
    let lines = statement["lines"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["source"] == "journal" && line["amount"] == 600));

    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    let figures = |of: &Value| {
        ["gross", "commission", "collected", "adjustment", "net"].map(|name| of[name].as_i64())
    };
    let whole = [300_000, 30_000, 0, 600, 270_600].map(Some);
    assert_eq!(figures(&made), whole);
    let items = made["items"].as_array().unwrap();
    let correction = items.iter().find(|item| item["kind"] == "journal").unwrap();
    assert_eq!(figures(correction), [0, 0, 0, 600, 600].map(Some));
    let listed = world.get("/v1/settlements").by(&sailing.partner).send().await.ok();
    assert_eq!(figures(&listed[0]), whole);
    let file = world.get("/v1/settlements?format=csv").by(&admin).bytes().await.2;
    let file = String::from_utf8(file).unwrap();
    assert!(file.contains(r#""0","600","270600""#), "{file}");
    assert_invariants(&world).await;
}

async fn one_person_approves_where_it_is_set_so(world: World) {
    let world = world.with(|config| config.four_eyes = Switch(false)).await;
    let admin = world.admin().await;
    let draft = posts(&world, "journals", opening("2026-11-01", "bank", 5), &admin).await.ok();
    let path = format!("journals/{}/approve", draft["id"].as_str().unwrap());
    posts(&world, &path, json!({}), &admin).await.ok();
    assert_eq!(world.balance("bank").await, 5);
}

async fn closes(world: &World, month: &str, by: &Someone) -> Answer {
    posts(world, &format!("periods/{month}/close"), json!({}), by).await
}

async fn reopens(world: &World, month: &str, by: &Someone) -> Answer {
    posts(world, &format!("periods/{month}/reopen"), json!({ "reason": "Late bill" }), by).await
}

async fn months_are_closed_in_order(world: World) {
    let admin = world.admin().await;
    for month in ["2026-11", "2026-12", "9999-12"] {
        closes(&world, month, &admin).await.is(409, "too_early");
    }
    for hostile in ["2026-13", "2026-1", "november", "1999-12", "2026-10-01", "%00", "-026-10"] {
        closes(&world, hostile, &admin).await.is(404, "not_found");
        reopens(&world, hostile, &admin).await.is(404, "not_found");
    }
    posts_journal(&world, opening("2026-08-31", "bank", 5), &admin).await;
    posts_journal(&world, opening("2026-09-01", "cash", 5), &admin).await;
    closes(&world, "2026-10", &admin).await.is(409, "earlier_open");
    closes(&world, "2026-09", &admin).await.is(409, "earlier_open");
    // Before the first posting there is nothing to close first.
    let closed = closes(&world, "2026-08", &admin).await.ok();
    assert_eq!((&closed["month"], &closed["status"]), (&json!("2026-08"), &json!("closed")));
    assert_eq!(closed["closed_by"], json!(admin.id));
    closes(&world, "2026-08", &admin).await.is(409, "already_closed");
    closes(&world, "2026-07", &admin).await.is(409, "already_closed");
    closes(&world, "2026-09", &admin).await.ok();
    reopens(&world, "2026-10", &admin).await.is(409, "invalid_state");
    reopens(&world, "2026-08", &admin).await.is(409, "later_closed");
    let path = format!("{BOOKS}/periods/2026-09/reopen");
    let long = json!({ "reason": "x".repeat(501) });
    let refused = world.post(&path, long).by(&admin).send().await;
    refused.has_field_errors(&[("reason", "max_length")]);
    let open = reopens(&world, "2026-09", &admin).await.ok();
    assert_eq!((&open["status"], &open["reason"]), (&json!("open"), &json!("Late bill")));
    reopens(&world, "2026-08", &admin).await.ok();
    for month in ["2026-08", "2026-09", "2026-10"] {
        closes(&world, month, &admin).await.ok();
    }
    let listed = reads(&world, "periods", &admin).await;
    let months: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|period| (period["month"].as_str().unwrap(), period["status"].as_str().unwrap()))
        .collect();
    let expected =
        [("2026-11", "open"), ("2026-10", "closed"), ("2026-09", "closed"), ("2026-08", "closed")];
    assert_eq!(months, expected);
    assert_eq!(reads(&world, "periods?page_size=1&page=2", &admin).await[0]["month"], "2026-10");
    // November ends at 17:00 in UTC; an hour later it can be closed.
    let midnight: chrono::DateTime<chrono::Utc> = "2026-11-30T17:59:59Z".parse().unwrap();
    world.advances_clock(midnight - world.now());
    let admin = world.signs_in(&admin.email, "admin").await;
    closes(&world, "2026-11", &admin).await.is(409, "too_early");
    world.advances_clock(TimeDelta::seconds(1));
    closes(&world, "2026-11", &admin).await.ok();
    assert_invariants(&world).await;
}

async fn nothing_is_posted_into_a_closed_month(world: World) {
    let admin = world.admin().await;
    a_sale(&world, &admin).await;
    world.completes_paid_bookings().await;
    posts_journal(&world, opening("2026-09-10", "cash", 500), &admin).await;
    let draft = posts(&world, "journals", opening("2026-09-11", "bank", 5), &admin).await.ok();
    closes(&world, "2026-09", &admin).await.ok();
    let lines = world.count("SELECT COUNT(*) FROM ledger_lines").await;
    for day in ["2026-09-30", "2026-09-01", "2026-08-31", "2001-01-01"] {
        let mut settled = payout("P", json!([line(&json!("a"), 1, 0, 0)]));
        settled["paid_on"] = json!(day);
        let tax = json!({ "tax_code": "PPN", "amount": 1, "paid_on": day, "reference": "N" });
        for (path, body) in [
            ("provider-settlements", settled),
            ("tax-payments", tax),
            ("cash-deposits", deposit(1, day)),
            ("journals", opening(day, "bank", 1)),
        ] {
            posts(&world, path, body, &admin).await.is(409, "period_closed");
        }
    }
    // A draft from before waits until the month is opened again.
    let approve = format!("journals/{}/approve", draft["id"].as_str().unwrap());
    let boss = world.second_admin().await;
    posts(&world, &approve, json!({}), &boss).await.is(409, "period_closed");
    assert_eq!(world.count("SELECT COUNT(*) FROM ledger_lines").await, lines);
    posts(&world, "cash-deposits", deposit(1, "2026-10-01"), &admin).await.ok();
    world.advances_clock(TimeDelta::minutes(1));
    reopens(&world, "2026-09", &admin).await.ok();
    posts(&world, &approve, json!({}), &boss).await.ok();
    world.advances_clock(TimeDelta::minutes(1));
    closes(&world, "2026-09", &admin).await.ok();
    assert_invariants(&world).await;
    // The check can fail.
    world
        .db()
        .sql("UPDATE finance_periods SET closed_at = $1")
        .bind(world.now() - TimeDelta::minutes(2))
        .run()
        .await
        .unwrap();
    let broken = dermaga::invariants::check(world.db()).await.unwrap();
    let rule = "nothing was posted into a month after it was closed";
    let broken = broken.into_iter().find(|checked| checked.rule == rule).unwrap();
    assert_eq!(broken.broken.len(), 2, "{:?}", broken.broken);
}

async fn closing_races_with_dated_postings(world: World) {
    let admin = world.admin().await;
    posts_journal(&world, opening("2026-10-01", "cash", 1_000), &admin).await;
    world.advances_clock(TimeDelta::seconds(1));
    let depositing =
        join_all((0..8).map(|_| async {
            posts(&world, "cash-deposits", deposit(1, "2026-10-31"), &admin).await
        }));
    let closing = async {
        tokio::task::yield_now().await;
        closes(&world, "2026-10", &admin).await
    };
    let (deposits, closed) = tokio::join!(depositing, closing);
    closed.ok();
    let mut made = 0;
    for answer in deposits {
        match answer.status {
            200 => made += 1,
            _ => drop(answer.is(409, "period_closed")),
        }
    }
    assert_eq!(world.balance("bank").await, made);
    posts(&world, "cash-deposits", deposit(1, "2026-10-31"), &admin).await.is(409, "period_closed");
    assert_invariants(&world).await;
}

async fn rolling_up_races_with_postings(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut bookings = Vec::new();
    for n in 0..12 {
        let order = order(&sailing, 1, &format!("guest{n}@example.com"));
        bookings.push(world.books(order).await.ok());
    }
    let paying = join_all(bookings.iter().map(|booking| world.pays(booking)));
    let rolling = async {
        for _ in 0..10 {
            postings::roll_up(&world.app).await.unwrap();
        }
    };
    let rebuilding = async {
        for _ in 0..3 {
            postings::rebuild(&world.app).await.unwrap();
        }
    };
    let reading = async {
        for _ in 0..10 {
            let balance = reads(&world, "trial-balance", &admin).await;
            assert_eq!(balance["total"]["debit"], balance["total"]["credit"]);
        }
    };
    tokio::join!(paying, rolling, rebuilding, reading);
    postings::roll_up(&world.app).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM ledger_moves").await, 0);
    assert_eq!(closing(&reads(&world, "trial-balance", &admin).await), ledger(&world).await);
    assert_invariants(&world).await;
    // The check can fail.
    world.db().sql("UPDATE ledger_days SET debit = debit + 1").run().await.unwrap();
    let checked = dermaga::invariants::check(world.db()).await.unwrap();
    let rule = "totals of ledger days equal the ledger";
    assert!(checked.iter().any(|checked| checked.rule == rule && !checked.broken.is_empty()));
    postings::rebuild(&world.app).await.unwrap();
    assert_invariants(&world).await;
}

async fn every_list_is_also_a_file(world: World) {
    const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let admin = world.admin().await;
    let (sailing, booking) = a_sale(&world, &admin).await;
    world.completes_paid_bookings().await;
    let lines = json!([line(&booking["payment"]["reference"], TOTAL, 0, 0)]);
    posts(&world, "provider-settlements", payout("=PO()", lines), &admin).await.ok();
    posts_journal(&world, opening("2026-10-01", "cash", 1_000), &admin).await;
    let partner = world.partner_id(&sailing.partner).await;
    let statement = format!("partners/{partner}/statement");
    for (path, header, has) in [
        (
            "trial-balance",
            "account,tax_code,opening,debit,credit,closing",
            "tax_payable,PPN,0,0,33000,-33000",
        ),
        ("entries", "posted_on,account,tax_code", "2026-10-01,cash,,1000,0"),
        (&*statement, "posted_on,source,kind,booking_code,amount,balance", "opening"),
        (
            "taxes",
            "tax_code,received_base,received,opening",
            "PPN,300000,33000,0,33000,0,0,0,33000",
        ),
        ("provider-settlements", "paid_on,provider,payout_id,gross", "simulator,'=PO(),333000"),
        ("reconciliation", "day,method,ours,theirs", "2026-11-15,qris,333000,333000"),
        ("journals", "posted_on,status,memo", "2026-10-01,posted,Opening balance,,cash,,1000,0"),
        ("periods", "month,status,closed_at,reopened_at,reason", "2026-10,open"),
    ] {
        let url = format!("{BOOKS}/{path}");
        let (status, headers, csv) =
            world.get(&format!("{url}?format=csv")).by(&admin).bytes().await;
        let csv = String::from_utf8(csv).unwrap().replace('"', "");
        assert_eq!(status, 200, "{csv}");
        assert_eq!(headers["content-type"], "text/csv; charset=utf-8");
        assert!(csv.starts_with(header), "{path}: {csv}");
        assert!(csv.contains(has), "{path} has no {has}: {csv}");
        let call = world.call(Method::GET, &url).by(&admin).header("accept", XLSX);
        let (status, headers, file) = call.bytes().await;
        assert_eq!(status, 200, "{path}");
        assert_eq!(headers["content-type"], XLSX);
        assert!(file.starts_with(b"PK"), "{path}");
    }
}
