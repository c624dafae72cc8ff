//! The demo with few days: its data satisfies all invariants.

use chrono::Utc;
use dermaga::{
    config::Config,
    demo, invariants,
    kernel::{clock::midnight, ids::Uuid},
};

use crate::postgres;

const DAYS: demo::Extent = demo::Extent { days: 3, scale: 3 };

#[tokio::test(flavor = "multi_thread")]
async fn demo_data_satisfies_the_invariants_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    satisfies_the_invariants(Config { data_dir: folder.path().into(), ..Config::default() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn demo_data_satisfies_the_invariants_on_postgres() {
    let Some(url) = postgres::database().await else { return };
    let folder = tempfile::tempdir().unwrap();
    satisfies_the_invariants(Config {
        data_dir: folder.path().into(),
        database_url: Some(dermaga::config::DatabaseUrl(dermaga::config::Url(url))),
        secret_key: Some(dermaga::kernel::secret::Secret::new(
            "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        )),
        ..Config::default()
    })
    .await;
}

async fn satisfies_the_invariants(config: Config) {
    let app = demo::fill(config.clone(), 1, DAYS, demo::Progress::hidden()).await.unwrap();
    for checked in invariants::check(&app.db).await.unwrap() {
        assert!(checked.broken.is_empty(), "{}: {:?}", checked.rule, checked.broken);
    }
    let count = async |sql: &'static str| app.db.sql(sql).scalar::<i64>().await.unwrap();
    let lived = count("SELECT COUNT(*) FROM bookings WHERE code LIKE 'DMG-%'").await;
    assert!(lived > 100);
    assert_eq!(count("SELECT COUNT(*) FROM bookings").await, 3 * lived, "two fleets more");
    let rewritten = app.db.sql("UPDATE ledger_lines SET amount = -amount").run().await;
    assert!(rewritten.is_err(), "the triggers are awake again");
    assert_eq!(count("SELECT COUNT(DISTINCT status) FROM partners").await, 5);
    assert!(count("SELECT COUNT(DISTINCT status) FROM bookings").await >= 5);
    assert!(count("SELECT COUNT(*) FROM notifications").await > 100);
    assert_eq!(count("SELECT COUNT(*) FROM outbox").await, 0, "nobody is mailed now");
    // Every kind of money: owed and paid back, complained about, taken by partners, given away by them.
    for some in [
        "SELECT COUNT(*) FROM refunds WHERE status = 'paid'",
        "SELECT COUNT(*) FROM refunds WHERE status = 'due'",
        "SELECT COUNT(*) FROM refunds WHERE kind = 'complaint'",
        "SELECT COUNT(*) FROM refund_payments WHERE paid_by = 'partner'",
        "SELECT COUNT(*) FROM partner_dues WHERE kind = 'sale' AND collected > 0",
        "SELECT COUNT(*) FROM partner_dues WHERE kind = 'reversal'",
        "SELECT COUNT(*) FROM partner_dues WHERE kind = 'returned'",
        "SELECT COUNT(*) FROM passenger_cancellations",
        "SELECT COUNT(*) FROM refunds WHERE cancellation_id IS NOT NULL",
        "SELECT COUNT(*) FROM bookings WHERE partner_discount > 0",
        "SELECT COUNT(*) FROM bookings WHERE seats < qty",
        "SELECT COUNT(*) FROM bookings WHERE subtotal < unit_price * qty AND seats = qty",
        "SELECT COUNT(*) FROM bookings WHERE discount > partner_discount",
        "SELECT COUNT(*) FROM ledger_lines WHERE tax_code = 'PPN' AND kind = 'completed'",
        // A reseller that sells what the validator of OCTO asks for.
        "SELECT COUNT(*) FROM bookings WHERE channel = 'reseller' AND status = 'paid'",
        "SELECT COUNT(*) FROM bookings WHERE channel = 'reseller' AND status = 'completed'",
        "SELECT COUNT(*) FROM bookings WHERE channel = 'reseller' AND status = 'refunded'",
        "SELECT COUNT(*) FROM bookings WHERE channel = 'reseller' AND status = 'expired'",
        "SELECT COUNT(*) FROM reseller_invoices WHERE status = 'paid'",
        "SELECT COUNT(*) FROM reseller_invoices WHERE status = 'open'",
        "SELECT COUNT(*) FROM reseller_keys WHERE revoked_at IS NOT NULL",
        "SELECT COUNT(*) FROM sailings s JOIN lines l ON l.id = s.line_id
         WHERE l.resale AND s.chartered AND s.seats_taken = s.capacity",
    ] {
        assert!(count(some).await > 0, "{some}");
    }
    let days = count("SELECT COUNT(DISTINCT posted_on) FROM ledger_lines").await;
    assert!(days >= 3, "posted on {days} days");
    let own = count("SELECT COUNT(*) FROM refunds WHERE code LIKE 'RFD-%'").await;
    assert_eq!(count("SELECT COUNT(*) FROM refunds").await, 3 * own);
    let foreign = "SELECT COUNT(*) FROM refunds r JOIN passenger_cancellations c
         ON c.id = r.cancellation_id WHERE c.booking_id <> r.booking_id";
    assert_eq!(count(foreign).await, 0, "refunds of clones refer to clones");
    let foreign = "SELECT COUNT(*) FROM partner_dues d JOIN reschedules r ON r.id = d.reschedule_id
         WHERE r.booking_id <> d.booking_id";
    assert_eq!(count(foreign).await, 0, "dues of clones refer to clones");
    // Real harbours on the map; those of the other fleets are invented.
    assert_eq!(count("SELECT COUNT(*) FROM harbours WHERE latitude IS NULL").await, 0);
    let real = count(
        "SELECT COUNT(*) FROM routes r JOIN harbours f ON f.id = r.from_harbour_id
         JOIN harbours t ON t.id = r.to_harbour_id
         WHERE f.status = 'verified' AND t.status = 'verified'",
    );
    assert_eq!(count("SELECT COUNT(*) FROM routes").await, 3 * real.await);
    app.db.close().await;
    let again = demo::fill(config, 1, DAYS, demo::Progress::hidden()).await.err().unwrap();
    assert!(again.contains("requires an empty one"), "{again}");
}

/// Names, seats, prices and booking codes are equal; only secrets differ.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_makes_the_same_data() {
    async fn made(seed: u64) -> Vec<(Uuid, String, String, i64)> {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: folder.path().into(), ..Config::default() };
        let zone = config.timezone;
        let extent = demo::Extent { days: 2, scale: 1 };
        let app = demo::fill(config, seed, extent, demo::Progress::hidden()).await.unwrap();
        // What happened today depends on the time of day.
        let today = midnight(Utc::now().with_timezone(&zone).date_naive(), zone);
        let bookings = app.db.sql(
            "SELECT id, code, contact_name, total FROM bookings
             WHERE created_at < $1 ORDER BY id",
        );
        bookings.bind(today).all().await.unwrap()
    }
    let (first, again, other) = loop {
        let day = || Utc::now().with_timezone(&Config::default().timezone).date_naive();
        let before = day();
        let three = (made(7).await, made(7).await, made(8).await);
        // At midnight the data changes.
        if before == day() {
            break three;
        }
    };
    assert!(first.len() > 50);
    assert_eq!(first, again);
    assert_ne!(first, other);
}
