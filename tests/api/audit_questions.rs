//! What went wrong with money before is found by the audit: each wrong case is made by hand, as the
//! service had done it, and its questions name it.

use dermaga::{
    invariants,
    kernel::ids::{self, Uuid},
};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Someone, World},
};

on_both_engines![wrong_postings_are_found, wrong_rows_are_found,];

/// A journey that was settled, a cancellation with half of the money kept, cash that the partner took
/// and handed back, and a payment that waits for a decision.
struct History {
    admin: Someone,
    partner_id: Uuid,
    sailed: Uuid,
    kept: Uuid,
}

fn id_of(row: &Value) -> Uuid {
    row["id"].as_str().unwrap().parse().unwrap()
}

async fn history(world: &World) -> History {
    let admin = world.admin().await;
    for (code, applies_to) in [("PPN", "booking"), ("PPNJ", "commission")] {
        let tax = json!({
            "name": code, "code": code, "rate": 11, "applies_to": applies_to, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    }
    let sailing: Sailing = world.sailing().await;
    let path = |booking: &Value, last: &str| {
        format!("/v1/booking/{}/{last}", booking["id"].as_str().unwrap())
    };
    let kept = world.paid_booking(&sailing, 1).await;
    let reason = json!({ "reason": "x", "refund_amount": 83_250 });
    world.post(&path(&kept, "cancel"), reason).by(&admin).send().await.ok();
    let cash = world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world.post(&path(&cash, "pay-cash"), json!({})).by(&sailing.partner).send().await.ok();
    let reason = json!({ "reason": "x" });
    world.post(&path(&cash, "cancel"), reason).by(&admin).send().await.ok();
    let handed = json!({ "reference": "KAS-1" });
    world.post(&path(&cash, "refund"), handed).by(&admin).send().await.ok();
    let wrong = world.books(order(&sailing, 1, "dewi@example.com")).await.ok();
    let reference = wrong["payment"]["reference"].as_str().unwrap();
    let wrong = callback_body(reference, 1_000, "settlement", "wrong");
    world.post("/v1/payment/callback", wrong).send().await.ok();
    let sailed = world.paid_booking(&sailing, 1).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&sailing.partner, &admin).await;
    let made = world.creates_settlement(&sailing.partner, &admin).await.ok();
    world.releases_settlement(&made, &admin).await.ok();
    dermaga::reports::roll_up(&world.app).await.unwrap();
    dermaga::ledger::roll_up(&world.app).await.unwrap();
    assert_invariants(world).await;
    let partner_id = world.partner_id(&sailing.partner).await.parse().unwrap();
    History { admin, partner_id, sailed: id_of(&sailed), kept: id_of(&kept) }
}

/// The questions that find something wrong.
async fn broken(world: &World) -> Vec<&'static str> {
    let checked = invariants::check(world.db()).await.unwrap();
    checked.iter().filter(|checked| !checked.broken.is_empty()).map(|c| c.rule).collect()
}

/// Posts lines (account, tax, amount) of a booking by hand.
async fn post(
    world: &World,
    history: &History,
    (booking, kind): (Uuid, &'static str),
    lines: &[(&str, &str, i64)],
) {
    let source = ids::fresh();
    for (account, tax, amount) in lines {
        let partner = (*account == "partner_payable").then_some(history.partner_id);
        world
            .db()
            .sql(
                "INSERT INTO ledger_lines (id, source, source_id, kind, account, partner_id,
                   booking_id, tax_code, amount, posted_on, created_at)
                 VALUES ($1, 'booking', $2, $9, $3, $4, $5, $6, $7, '2026-11-15', $8)",
            )
            .bind(ids::fresh())
            .bind(source)
            .bind((*account).to_owned())
            .bind(partner)
            .bind(booking)
            .bind((!tax.is_empty()).then(|| (*tax).to_owned()))
            .bind(*amount)
            .bind(world.now())
            .bind(kind)
            .run()
            .await
            .unwrap();
    }
}

async fn wrong_postings_are_found(world: World) {
    let history = history(&world).await;
    for (what, booking, lines, question) in [
        (
            "a second press of refund pays what nobody is owed",
            (history.sailed, "by_hand"),
            vec![("refund_payable", "", 1_000), ("bank", "", -1_000)],
            "unpaid refunds equal the refund payable",
        ),
        (
            "the tax of kept money goes to the partner",
            (history.kept, "kept"),
            vec![("tax_payable", "PPN", 8_250), ("partner_payable", "", -8_250)],
            "a cancelled booking's tax is kept in proportion",
        ),
        (
            "the partner is paid more than its dues",
            (history.kept, "by_hand"),
            vec![("losses", "", 8_250), ("partner_payable", "", -8_250)],
            "partner postings of a booking equal its dues",
        ),
        (
            "commission is posted that the reports do not have",
            (history.sailed, "completed"),
            vec![("losses", "", 500), ("commission_revenue", "", -500)],
            "reported commission equals what was posted for journeys, and what has not sailed",
        ),
        (
            "money leaves the till that was never in it",
            (history.sailed, "by_hand"),
            vec![("losses", "", 1_000_000), ("cash", "", -1_000_000)],
            "cash and prepaid taxes are not below zero at the end of any day",
        ),
        (
            "a deposit is kept of a journey that took place",
            (history.sailed, "by_hand"),
            vec![("bank", "", 1_000), ("customer_deposits", "", -1_000)],
            "deposits equal the totals of paid bookings",
        ),
        (
            "a payment that was decided still waits",
            (history.sailed, "by_hand"),
            vec![("bank", "", 1_000), ("unapplied_payments", "", -1_000)],
            "unapplied payments equal the open reviews of money that came in",
        ),
    ] {
        post(&world, &history, booking, &lines).await;
        let found = broken(&world).await;
        assert!(found.contains(&question), "{what}: {found:?}");
        let undone: Vec<_> = lines.iter().map(|(account, tax, n)| (*account, *tax, -n)).collect();
        post(&world, &history, booking, &undone).await;
        assert_eq!(broken(&world).await, Vec::<&str>::new(), "undone: {what}");
    }
}

async fn wrong_rows_are_found(world: World) {
    let history = history(&world).await;
    let told = ids::fresh();
    world
        .db()
        .sql(
            "INSERT INTO told_refunds (id, payment_id, transaction_id, told_key, kind, amount,
               unmatched, told_at)
             SELECT $1, y.id, 't', 'k', 'refund', 1000, 0, y.created_at FROM payments y
             WHERE y.booking_id = $2",
        )
        .bind(told)
        .bind(history.sailed)
        .run()
        .await
        .unwrap();
    let found = broken(&world).await;
    assert_eq!(found, ["refunds that a provider told are posted, each once"]);
    world.db().sql("DELETE FROM told_refunds").run().await.unwrap();
    let partner = world.signs_in("made@bahari.id", "mitra").await;
    world.adds_boat(&partner, "GT. 2").await;
    for (what, breaks, mends, question) in [
        (
            "cash that the partner took goes back by bank",
            "UPDATE refund_payments SET paid_by = 'bank' WHERE paid_by = 'partner'",
            "UPDATE refund_payments SET paid_by = 'partner' WHERE paid_by = 'bank'",
            "cash goes back as cash, by whoever took it, and to the account of a reseller",
        ),
        (
            "an amount that is owed is invisible",
            "UPDATE refunds SET unpaid = unpaid - 1 WHERE unpaid > 1",
            "UPDATE refunds SET unpaid = unpaid + 1 WHERE unpaid > 1",
            "unpaid refunds equal the refund payable",
        ),
        (
            "money that the provider took is dismissed",
            "UPDATE payment_reviews SET resolution = 'dismiss'",
            "UPDATE payment_reviews SET resolution = NULL",
            "no review of money that the provider took is dismissed",
        ),
        (
            "a settlement is paid to an account that nobody approved",
            "UPDATE settlement_payouts SET account_approved_at = NULL",
            "UPDATE settlement_payouts SET account_approved_at = '2026-11-01T00:00:00Z'",
            "every released settlement was paid to a bank account that had been approved",
        ),
        (
            "a refunded booking is settled",
            "UPDATE partner_dues SET settlement_id = NULL WHERE settlement_id IS NOT NULL",
            "UPDATE partner_dues SET settlement_id = (SELECT id FROM settlements)
             WHERE id IN (SELECT due_id FROM settlement_items)",
            "dues of live settlements are assigned to them, those of cancelled ones are not",
        ),
        (
            "a move turns a day's revenue negative",
            "UPDATE sales_days SET gross = gross - 10000000",
            "UPDATE sales_days SET gross = gross + 10000000",
            "receipts equal the reported gross and unapplied payments",
        ),
        (
            "a refund is counted twice in the reports",
            "UPDATE sales_days SET refunds = refunds * 2 + 1",
            "UPDATE sales_days SET refunds = (refunds - 1) / 2",
            "refunds of the reports equal what was posted as paid back",
        ),
        (
            "an infant takes a seat that was not sold",
            "UPDATE bookings SET seats = seats + 1",
            "UPDATE bookings SET seats = seats - 1",
            "seats and subtotal of a booking equal those of its passengers",
        ),
        (
            "a fare is charged that no passenger has",
            "UPDATE bookings SET fare_lines = '[]'",
            "UPDATE bookings SET fare_lines =
               '[{\"fare\":\"adult\",\"unit_price\":150000,\"count\":1,\"takes_seat\":true}]'",
            "the lines of a price add up to its subtotal, its margin and its passengers",
        ),
        (
            "a seat is lost",
            "UPDATE sailings SET seats_taken = seats_taken + 1",
            "UPDATE sailings SET seats_taken = seats_taken - 1",
            "seats taken equal the seats of live bookings and pending reschedules",
        ),
        (
            "a booking is left on the boat that was replaced",
            "UPDATE bookings SET speedboat_id =
               (SELECT b.id FROM speedboats b WHERE b.registration_number = 'GT. 2')",
            "UPDATE bookings SET speedboat_id =
               (SELECT s.speedboat_id FROM sailings s WHERE s.id = bookings.sailing_id)",
            "a booking has the boat of its sailing",
        ),
        (
            "a booking is older than its day of departure",
            "UPDATE departure_days SET booked_since = '2027-01-01T00:00:00+00:00'",
            "UPDATE departure_days SET booked_since = '2026-01-01T00:00:00+00:00'",
            "no booking was made before what is known as the first one of its day of departure",
        ),
        (
            "a harbour is renamed, and its names are not",
            "UPDATE harbours SET name = 'Sanoer' WHERE name = 'Sanur'",
            "UPDATE harbours SET name = 'Sanur' WHERE name = 'Sanoer'",
            "a harbour is found by its name",
        ),
        (
            "day totals differ from the ledger",
            "UPDATE ledger_days SET debit = debit + 1",
            "UPDATE ledger_days SET debit = debit - 1",
            "totals of ledger days equal the ledger",
        ),
    ] {
        world.db().sql(breaks).run().await.unwrap();
        let found = broken(&world).await;
        assert!(found.contains(&question), "{what}: {found:?}");
        world.db().sql(mends).run().await.unwrap();
        assert_eq!(broken(&world).await, Vec::<&str>::new(), "mended: {what}");
    }
    world.get("/v1/refunds").by(&history.admin).send().await.ok();
}
