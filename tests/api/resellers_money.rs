//! What resellers owe: statement, payments and invoices.

use chrono::{Days, TimeDelta};
use dermaga::{
    invariants,
    kernel::{
        access::Rule::*,
        ids::{self, Uuid},
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    resellers::run_schedules,
};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    a_statement_has_the_balance_after_each_line,
    a_statement_is_the_resellers_own,
    a_payment_lowers_the_balance,
    a_reference_is_recorded_once,
    a_payment_arrived_in_an_open_month,
    an_invoice_takes_what_is_in_none,
    payments_settle_the_oldest_invoice_first,
    a_credit_settles_other_invoices,
    every_line_is_in_one_invoice,
    weeks_are_invoiced_on_monday,
    months_are_invoiced_on_the_first,
    wrong_accounts_of_resellers_are_found,
    a_journal_cannot_change_what_resellers_owe,
];

/// Posts something that the reseller owes today, or (negative) gets back.
pub async fn owes(world: &World, reseller: &str, amount: i64) {
    let posting = Posting::new(Source::Booking, ids::fresh(), "paid")
        .of_reseller(Some(reseller.parse().unwrap()))
        .debit(Account::ResellerReceivable, Rupiah(amount))
        .credit(Account::Equity, Rupiah(amount));
    let mut tx = world.db().begin().await.unwrap();
    ledger::post(&mut tx, posting, world.now()).await.unwrap();
    tx.commit().await.unwrap();
}

struct Books {
    clerk: Someone,
    reseller: Someone,
    id: String,
    path: String,
}

async fn books(world: &World) -> Books {
    let clerk = world.staff("clerk@dermaga.test", &[ResellersFinance, ResellersRead]).await;
    let reseller = world.reseller("nusa@travel.test").await;
    let id = world.reseller_id(&reseller).await;
    let path = format!("/v1/resellers/{id}");
    Books { clerk, reseller, id, path }
}

fn payment(amount: i64, reference: &str) -> Value {
    json!({ "amount": amount, "reference": reference, "received_on": "2026-11-15" })
}

impl World {
    async fn records_payment(&self, books: &Books, body: Value) -> Answer {
        self.post(&format!("{}/payments", books.path), body).by(&books.clerk).send().await
    }

    /// An invoice of all days until today.
    async fn invoices(&self, books: &Books) -> Answer {
        let body = json!({ "start_date": "2026-11-01", "end_date": self.app.today() });
        let call = self.post(&format!("{}/invoices", books.path), body).by(&books.clerk);
        call.send_with_retry().await
    }

    /// The reseller signs in to see its invoices, oldest first.
    async fn listed_invoices(&self, books: &Books) -> Vec<Value> {
        let reseller = self.signs_in(&books.reseller.email, "reseller").await;
        let path = format!("{}/invoices?sort_dir=asc", books.path);
        let found = self.get(&path).by(&reseller).send().await.ok();
        found.as_array().unwrap().clone()
    }

    async fn reseller_balance(&self, books: &Books) -> i64 {
        let record = self.get(&books.path).by(&books.reseller).send().await.ok();
        record["balance"].as_i64().unwrap()
    }

    /// The questions about resellers that find something wrong. Reports count bookings, of which there
    /// are none here.
    async fn broken_accounts(&self) -> Vec<&'static str> {
        let checked = invariants::check(self.db()).await.unwrap();
        let is_about = |rule: &str| rule.contains("reseller") && !rule.contains("reports");
        let about = checked.into_iter().filter(|question| is_about(question.rule));
        about.filter(|question| !question.broken.is_empty()).map(|found| found.rule).collect()
    }
}

fn amounts(invoices: &[Value]) -> Vec<(i64, i64, &str)> {
    let of = |invoice: &Value, field: &str| invoice[field].as_i64().unwrap();
    invoices
        .iter()
        .map(|invoice| {
            (of(invoice, "amount"), of(invoice, "paid"), invoice["status"].as_str().unwrap())
        })
        .collect()
}

async fn a_statement_has_the_balance_after_each_line(world: World) {
    let books = books(&world).await;
    let sailing = world.sailing().await;
    let booking = world.paid_booking(&sailing, 1).await;
    owes(&world, &books.id, 300_000).await;
    world.advances_clock(TimeDelta::days(1));
    world
        .db()
        .sql(
            "UPDATE bookings SET channel = 'reseller', reseller_id = $1, octo_uuid = $2,
               reseller_reference = 'NT-1'",
        )
        .bind(books.id.parse::<Uuid>().unwrap())
        .bind(ids::fresh())
        .run()
        .await
        .unwrap();
    let posting = Posting::new(Source::Booking, ids::fresh(), "paid")
        .about_booking(booking["id"].as_str().unwrap().parse().unwrap())
        .of_reseller(Some(books.id.parse().unwrap()))
        .debit(Account::ResellerReceivable, Rupiah(142_500))
        .credit(Account::Equity, Rupiah(142_500));
    let mut tx = world.db().begin().await.unwrap();
    ledger::post(&mut tx, posting, world.now()).await.unwrap();
    tx.commit().await.unwrap();
    let mut received = payment(200_000, "BCA-1");
    received["received_on"] = json!("2026-11-16");
    let clerk = world.signs_in("clerk@dermaga.test", "staff").await;
    world.post(&format!("{}/payments", books.path), received).by(&clerk).send().await.ok();

    let path = format!("{}/statement?start_date=2026-11-16&end_date=2026-11-30", books.path);
    let reseller = world.signs_in("nusa@travel.test", "reseller").await;
    let statement = world.get(&path).by(&reseller).send().await.ok();
    assert_eq!(statement["opening"], 300_000);
    assert_eq!(statement["closing"], 242_500);
    let lines = statement["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["booking_code"], booking["code"]);
    assert_eq!(lines[0]["reseller_reference"], "NT-1");
    assert_eq!((&lines[0]["amount"], &lines[0]["balance"]), (&json!(142_500), &json!(442_500)));
    assert_eq!(lines[1]["source"], "reseller_payment");
    assert_eq!((&lines[1]["amount"], &lines[1]["balance"]), (&json!(-200_000), &json!(242_500)));
    // The second page goes on with the balance of the first.
    let answer = world.get(&format!("{path}&page_size=1&page=2")).by(&clerk).send().await;
    assert_eq!(answer.ok()["lines"][0]["balance"], 242_500);

    let (status, headers, file) = world.get(&format!("{path}&format=csv")).by(&clerk).bytes().await;
    assert_eq!(status, 200);
    assert!(headers["content-type"].to_str().unwrap().starts_with("text/csv"));
    let file = String::from_utf8(file).unwrap();
    assert!(file.contains(r#""NT-1","142500","442500""#), "{file}");
    assert!(file.contains(r#""2026-11-30","closing","","","","","242500""#), "{file}");
    let (status, _, _) = world.get(&format!("{path}&format=xlsx")).by(&clerk).bytes().await;
    assert_eq!(status, 200);
    let wrong = format!("{}/statement?start_date=2026-11-30&end_date=2026-11-16", books.path);
    world.get(&wrong).by(&clerk).send().await.has_field_errors(&[("end_date", "min")]);
}

async fn a_statement_is_the_resellers_own(world: World) {
    let books = books(&world).await;
    let other = world.reseller("other@travel.test").await;
    let reader = world.staff("reader@dermaga.test", &[ResellersRead, ResellersWrite]).await;
    for last in ["statement", "invoices"] {
        let path = format!("{}/{last}", books.path);
        world.get(&path).by(&books.reseller).send().await.ok();
        world.get(&path).by(&books.clerk).send().await.ok();
        world.get(&path).by(&other).send().await.is(404, "not_found");
        world.get(&path).by(&reader).send().await.is(403, "forbidden");
    }
    for last in ["payments", "invoices"] {
        let path = format!("{}/{last}", books.path);
        world.post(&path, json!({})).by(&books.reseller).send().await.is(403, "forbidden");
    }
    let nobody = format!("/v1/resellers/{}/statement", ids::fresh());
    world.get(&nobody).by(&books.clerk).send().await.is(404, "not_found");
}

async fn a_payment_lowers_the_balance(world: World) {
    let books = books(&world).await;
    owes(&world, &books.id, 100_000).await;
    let made = world.records_payment(&books, payment(250_000, "BCA-1")).await.ok();
    assert_eq!(made["balance"], -150_000);
    assert_eq!(made["reference"], "BCA-1");
    assert_eq!(world.reseller_balance(&books).await, -150_000);
    assert_eq!(world.balance("bank").await, 250_000);
    assert_eq!(world.balance("reseller_receivable").await, -150_000);
    world.records_payment(&books, json!({})).await.has_field_errors(&[
        ("amount", "required"),
        ("received_on", "required"),
        ("reference", "required"),
    ]);
    let faulty = [
        ("amount", json!(0), "min"),
        ("received_on", json!("2026-11-16"), "max"),
        ("reference", json!(" "), "required"),
    ];
    for (field, value, rule) in faulty {
        let mut body = payment(1, "BCA-2");
        body[field] = value;
        world.records_payment(&books, body).await.has_field_errors(&[(field, rule)]);
    }
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn a_reference_is_recorded_once(world: World) {
    let books = books(&world).await;
    let path = format!("{}/payments", books.path);
    let post = async |body: Value, key: &str| {
        let call = world.post(&path, body).by(&books.clerk);
        call.header("idempotency-key", key).send().await
    };
    let first = post(payment(10, "BCA-1"), "one").await.ok();
    assert_eq!(post(payment(10, "BCA-1"), "one").await.ok(), first);
    post(payment(10, "BCA-1"), "two").await.is(409, "already_recorded");
    let answers =
        join_all((0..4).map(|_| world.records_payment(&books, payment(10, "BCA-2")))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(world.reseller_balance(&books).await, -20);
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn a_payment_arrived_in_an_open_month(world: World) {
    let books = books(&world).await;
    let finance = world.staff("finance@dermaga.test", &[FinanceWrite]).await;
    world.post("/v1/finance/periods/2026-10/close", json!({})).by(&finance).send().await.ok();
    let mut body = payment(10, "BCA-1");
    body["received_on"] = json!("2026-10-31");
    world.records_payment(&books, body.clone()).await.is(409, "period_closed");
    body["received_on"] = json!("2026-11-01");
    world.records_payment(&books, body).await.ok();
}

async fn an_invoice_takes_what_is_in_none(world: World) {
    let books = books(&world).await;
    world.invoices(&books).await.is(409, "nothing_to_invoice");
    world.records_payment(&books, payment(1_000, "BCA-1")).await.ok();
    // A payment is not invoiced.
    world.invoices(&books).await.is(409, "nothing_to_invoice");
    owes(&world, &books.id, 100_000).await;
    owes(&world, &books.id, -30_000).await;
    let made = world.invoices(&books).await.ok();
    assert!(made["code"].as_str().unwrap().starts_with("INV-"));
    assert_eq!(made["amount"], 70_000);
    assert_eq!(made["paid"], 1_000);
    assert_eq!(made["status"], "open");
    assert_eq!(made["due_on"], "2026-11-29");
    assert_eq!(
        (&made["start_date"], &made["end_date"]),
        (&json!("2026-11-01"), &json!("2026-11-15"))
    );
    assert_eq!(made["line_count"], 2);
    assert_eq!(made["lines"][1]["amount"], -30_000);
    world.invoices(&books).await.is(409, "nothing_to_invoice");
    assert_eq!(world.listed_invoices(&books).await, [made]);
    let path = format!("{}/invoices", books.path);
    let faulty = [
        (json!({ "start_date": "2026-11-02", "end_date": "2026-11-01" }), "min"),
        (json!({ "start_date": "2026-11-02", "end_date": "2026-11-16" }), "max"),
    ];
    for (body, rule) in faulty {
        let refused = world.post(&path, body).by(&books.clerk).send().await;
        refused.has_field_errors(&[("end_date", rule)]);
    }
    // Only lines of its days.
    owes(&world, &books.id, 1).await;
    let body = json!({ "start_date": "2026-11-01", "end_date": "2026-11-14" });
    let refused = world.post(&path, body).by(&books.clerk).send().await;
    refused.is(409, "nothing_to_invoice");
    let unknown = format!("{path}?status=late");
    world.get(&unknown).by(&books.clerk).send().await.has_field_errors(&[("status", "enum")]);
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn payments_settle_the_oldest_invoice_first(world: World) {
    let books = books(&world).await;
    for amount in [100, 200, 300] {
        owes(&world, &books.id, amount).await;
        world.invoices(&books).await.ok();
        world.advances_clock(TimeDelta::seconds(1));
    }
    let after = async |amount: i64, reference: &str| {
        world.records_payment(&books, payment(amount, reference)).await.ok();
        world.listed_invoices(&books).await
    };
    let invoices = after(150, "BCA-1").await;
    assert_eq!(amounts(&invoices), [(100, 100, "paid"), (200, 50, "open"), (300, 0, "open")]);
    let invoices = after(500, "BCA-2").await;
    assert_eq!(amounts(&invoices), [(100, 100, "paid"), (200, 200, "paid"), (300, 300, "paid")]);
    // What is left pays for the next one.
    owes(&world, &books.id, 80).await;
    world.invoices(&books).await.ok();
    let invoices = world.listed_invoices(&books).await;
    assert_eq!(amounts(&invoices)[3], (80, 50, "open"));
    let open = format!("{}/invoices?status=open", books.path);
    let open = world.get(&open).by(&books.reseller).send().await.ok();
    assert_eq!(open, json!([invoices[3]]));
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn a_credit_settles_other_invoices(world: World) {
    let books = books(&world).await;
    owes(&world, &books.id, 100).await;
    world.invoices(&books).await.ok();
    world.advances_clock(TimeDelta::seconds(1));
    owes(&world, &books.id, -130).await;
    let credit = world.invoices(&books).await.ok();
    assert_eq!((&credit["amount"], &credit["status"]), (&json!(-130), &json!("paid")));
    world.advances_clock(TimeDelta::seconds(1));
    owes(&world, &books.id, 50).await;
    world.invoices(&books).await.ok();
    let invoices = world.listed_invoices(&books).await;
    assert_eq!(amounts(&invoices), [(100, 100, "paid"), (-130, 0, "paid"), (50, 30, "open")]);
    assert_eq!(world.reseller_balance(&books).await, 20);
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn every_line_is_in_one_invoice(world: World) {
    let books = books(&world).await;
    let sale = async |amount: i64| {
        owes(&world, &books.id, amount).await;
        world.invoices(&books).await.status
    };
    let statuses = join_all((1..=8).map(sale)).await;
    assert!(statuses.contains(&200) && statuses.iter().all(|code| [200, 409].contains(code)));
    if world.invoices(&books).await.status == 200 {
        world.invoices(&books).await.is(409, "nothing_to_invoice");
    }
    let invoices = world.listed_invoices(&books).await;
    let (sums, lines) = invoices.iter().fold((0, 0), |(sum, lines), invoice| {
        (sum + invoice["amount"].as_i64().unwrap(), lines + invoice["line_count"].as_i64().unwrap())
    });
    assert_eq!((sums, lines), (36, 8));
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn weeks_are_invoiced_on_monday(world: World) {
    let books = books(&world).await;
    let weekly = "UPDATE resellers SET invoice_schedule = 'weekly'";
    world.db().sql(weekly).run().await.unwrap();
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    owes(&world, &books.id, 100).await;
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0, "the week is not over");
    // Sunday noon in Bali to Monday.
    world.advances_clock(TimeDelta::hours(24));
    owes(&world, &books.id, 900).await;
    // Of two at once, one makes it.
    let (one, two) = tokio::join!(run_schedules(&world.app), run_schedules(&world.app));
    assert_eq!(one.unwrap() + two.unwrap(), 1);
    let invoices = world.listed_invoices(&books).await;
    assert_eq!(amounts(&invoices), [(100, 0, "open")]);
    assert_eq!(invoices[0]["start_date"], "2026-11-09");
    assert_eq!(invoices[0]["end_date"], "2026-11-15");
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    // A missed week is caught up with the next one.
    world.advances_clock(TimeDelta::days(14));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    let invoices = world.listed_invoices(&books).await;
    assert_eq!(amounts(&invoices), [(100, 0, "open"), (900, 0, "open")]);
    assert_eq!(invoices[1]["start_date"], "2026-11-16");
    assert_eq!(invoices[1]["end_date"], "2026-11-29");
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn months_are_invoiced_on_the_first(world: World) {
    let books = books(&world).await;
    owes(&world, &books.id, 100).await;
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    world.advances_clock(TimeDelta::days(15));
    assert_eq!(world.app.today().to_string(), "2026-11-30");
    assert_eq!(run_schedules(&world.app).await.unwrap(), 0);
    world.advances_clock(TimeDelta::days(1));
    assert_eq!(run_schedules(&world.app).await.unwrap(), 1);
    let invoices = world.listed_invoices(&books).await;
    assert_eq!(invoices[0]["start_date"], "2026-11-01");
    assert_eq!(invoices[0]["end_date"], "2026-11-30");
    let due = world.app.today() + Days::new(14);
    assert_eq!(invoices[0]["due_on"], json!(due));
}

async fn wrong_accounts_of_resellers_are_found(world: World) {
    let books = books(&world).await;
    owes(&world, &books.id, 100).await;
    world.invoices(&books).await.ok();
    world.records_payment(&books, payment(30, "BCA-1")).await.ok();
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
    for (breaks, mends, question) in [
        (
            "UPDATE resellers SET balance = balance + 1",
            "UPDATE resellers SET balance = balance - 1",
            "the balance of a reseller is what it owes by the ledger",
        ),
        (
            "UPDATE resellers SET held = 1",
            "UPDATE resellers SET held = 0",
            "the unpaid bookings of a reseller are counted",
        ),
        (
            "UPDATE reseller_invoices SET amount = amount + 1",
            "UPDATE reseller_invoices SET amount = amount - 1",
            "an invoice is the sum of what its reseller owes by its lines",
        ),
        (
            "UPDATE reseller_invoices SET paid = paid + 1",
            "UPDATE reseller_invoices SET paid = paid - 1",
            "payments and credits of a reseller have settled its invoices or are unapplied",
        ),
        (
            "UPDATE resellers SET unapplied = 1",
            "UPDATE resellers SET unapplied = 0",
            "payments and credits of a reseller have settled its invoices or are unapplied",
        ),
        (
            "UPDATE accounts SET role = 'reseller' WHERE role = 'staff'",
            "UPDATE accounts SET role = 'staff' WHERE email = 'clerk@dermaga.test'",
            "an account has a reseller's record if and only if its role is reseller",
        ),
    ] {
        world.db().sql(breaks).run().await.unwrap();
        assert_eq!(world.broken_accounts().await, [question]);
        world.db().sql(mends).run().await.unwrap();
    }
    assert_eq!(world.broken_accounts().await, Vec::<&str>::new());
}

async fn a_journal_cannot_change_what_resellers_owe(world: World) {
    let finance = world.staff("finance@dermaga.test", &[FinanceWrite]).await;
    let body = json!({
        "posted_on": "2026-11-15", "memo": "Correction",
        "lines": [
            { "account": "reseller_receivable", "debit": 10 }, { "account": "equity", "credit": 10 },
        ],
    });
    let refused = world.post("/v1/finance/journals", body).by(&finance).send().await;
    refused.has_field_errors(&[("lines[0].account", "not_allowed")]);
}
