//! Figures of the reports after random histories of money, compared day by day with the ledger and
//! the rows.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Days, FixedOffset, NaiveDate, TimeDelta, Utc};
use dermaga::{config::Steps, kernel::ids::Uuid, reports};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, charter, order, route},
    on_both_engines,
    storms::assert_invariants,
    world::{Answer, Someone, World},
};

on_both_engines![
    figures_of_a_first_history,
    figures_of_a_second_history,
    figures_of_a_third_history,
    a_reschedule_is_not_a_sale,
    a_refund_counts_when_it_is_paid,
    what_the_platform_earns_is_read_from_the_books,
];

const REPORTS: &str = "/v1/finance/reports";
const METHODS: [&str; 5] = ["qris", "bank_transfer", "credit_card", "gopay", "cstore"];

async fn figures_of_a_first_history(world: World) {
    figures_follow_the_money(world, 1).await;
}

async fn figures_of_a_second_history(world: World) {
    figures_follow_the_money(world, 2).await;
}

async fn figures_of_a_third_history(world: World) {
    figures_follow_the_money(world, 4).await;
}

async fn figures_follow_the_money(world: World, seed: u64) {
    let mut history = History::begins(world, seed).await;
    for n in 0..220 {
        history.continues(n).await;
        if n < 200 && history.random.random_bool(0.2) {
            reports::roll_up(&history.world.app).await.unwrap();
        }
    }
    let world = &history.world;
    for (what, least) in [
        ("SELECT COUNT(*) FROM reschedules WHERE status = 'done' AND difference > 0", 1),
        ("SELECT COUNT(*) FROM reschedules WHERE status = 'done' AND difference < 0", 1),
        ("SELECT COUNT(*) FROM ledger_lines WHERE kind = 'kept' AND account = 'tax_payable'", 1),
        ("SELECT COUNT(*) FROM ledger_lines WHERE kind = 'completion_reversed'", 1),
        ("SELECT COUNT(*) FROM ledger_lines WHERE kind = 'paid' AND account = 'cash'", 1),
        (
            "SELECT COUNT(*) FROM ledger_lines WHERE kind = 'paid' AND account = 'partner_payable'",
            1,
        ),
        ("SELECT COUNT(*) FROM refund_payments", 8),
        ("SELECT COUNT(*) FROM refund_payments WHERE returned_at IS NOT NULL", 1),
        ("SELECT COUNT(*) FROM refund_payments WHERE paid_by IN ('cash', 'partner')", 1),
        ("SELECT COUNT(*) FROM refunds WHERE kind = 'complaint'", 1),
        ("SELECT COUNT(*) FROM ledger_lines WHERE account = 'losses' AND amount > 0", 1),
        ("SELECT COUNT(*) FROM refunds WHERE kind = 'late'", 1),
        ("SELECT COUNT(*) FROM refunds WHERE kind IN ('excess', 'duplicate')", 1),
        ("SELECT COUNT(*) FROM booking_moves", 1),
        ("SELECT COUNT(*) FROM passenger_cancellations", 3),
    ] {
        let found = world.count(what).await;
        assert!(found >= least, "{what}: {found}");
    }
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    let facts = Facts::of(world).await;
    let as_it_is = facts.assert_reports(world, &admin).await;
    assert_invariants(world).await;
    reports::roll_up(&world.app).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM booking_moves").await, 0);
    assert!(facts.assert_reports(world, &admin).await == as_it_is, "rolled up");
    assert_invariants(world).await;
    reports::rebuild(&world.app).await.unwrap();
    assert!(facts.assert_reports(world, &admin).await == as_it_is, "rebuilt");
    assert_invariants(world).await;
}

/// A random history of two partners, each with two boats of different prices between the same
/// harbours. Steps that are not allowed at the time are refused, and nothing happens.
struct History {
    world: World,
    random: StdRng,
    admin: Someone,
    partners: Vec<Someone>,
    /// Of the partners.
    ids: Vec<Uuid>,
    /// By partner, with the time of departure.
    sailings: Vec<Vec<(DateTime<Utc>, Sailing)>>,
    unpaid: Vec<Value>,
}

/// A booking as its row says.
#[derive(Clone, Debug, dermaga::kernel::db::FromRow)]
struct Known {
    id: Uuid,
    code: String,
    contact_email: String,
    partner_id: Uuid,
    total: i64,
}

impl History {
    async fn begins(world: World, seed: u64) -> Self {
        let world = world
            .with(|config| {
                config.refund_policy = Steps(vec![(60, 90), (6, 35)]);
                config.reschedule_fee = Steps(vec![(0, 7)]);
            })
            .await;
        let admin = world.admin().await;
        for (code, applies_to, rate) in
            [("PPN", "commission", 11.0), ("PAS", "booking", 2.5), ("PB1", "booking", 10.0)]
        {
            let tax = json!({
                "name": code, "code": code, "rate": rate, "applies_to": applies_to,
                "is_active": true,
            });
            world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
        }
        let mut promotion = crate::promotions::promotion("HEMAT");
        promotion["period"] = json!({ "start_date": "2026-01-01", "end_date": "2028-01-01" });
        promotion["quota"] = json!(null);
        world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
        let (mut partners, mut ids, mut sailings) = (Vec::new(), Vec::new(), Vec::new());
        for (email, prices) in
            [("made@bahari.id", [150_000, 210_000]), ("ketut@laut.id", [99_999, 60_001])]
        {
            let partner = world.active_partner(email).await;
            let mut own = Vec::new();
            for price in prices {
                let boat = world.adds_boat(&partner, &format!("GT. {price}")).await;
                let mut plan = route(&boat);
                plan["end_date"] = json!("2026-12-10");
                plan["price"] = json!(price);
                let route = world.creates_route(&partner, plan).await;
                world.publishes_route(&partner, &route).await.ok();
                let path =
                    format!("/v1/mitra/speedboat-routes/{route}/times?page_size=100&sort_dir=asc");
                for row in world.get(&path).by(&partner).send().await.ok().as_array().unwrap() {
                    let at = row["departure_at"].as_str().unwrap().parse().unwrap();
                    let id = row["id"].as_str().unwrap().to_owned();
                    own.push((at, Sailing { partner: partner.clone(), boat: boat.clone(), id }));
                }
            }
            own.sort_by_key(|(at, _)| *at);
            ids.push(world.partner_id(&partner).await.parse().unwrap());
            partners.push(partner);
            sailings.push(own);
        }
        let random = StdRng::seed_from_u64(seed);
        Self { world, random, admin, partners, ids, sailings, unpaid: Vec::new() }
    }

    async fn continues(&mut self, n: usize) {
        self.world.advances_clock(TimeDelta::minutes(self.random.random_range(1..180)));
        self.admin = self.world.signs_in(&self.admin.email, "admin").await;
        dermaga::bookings::expire(&self.world.app).await.unwrap();
        dermaga::bookings::complete(&self.world.app).await.unwrap();
        match self.random.random_range(0..20) {
            0..=6 => self.sells(n).await,
            7..=9 => self.moves(n).await,
            10 => self.customer_cancels().await,
            11 => self.staff_cancels().await,
            12..=13 => self.customer_complains().await,
            14..=16 => self.pays_refund(n).await,
            17 => self.refund_bounces().await,
            18 => self.pays_twice_or_late(n).await,
            _ if self.random.random_bool(0.3) => self.calls_off().await,
            _ => self.provider_tells_of_refund(n).await,
        }
        if n % 9 == 4 {
            self.cancels_a_passenger(n).await;
        }
        self.resolves_reviews().await;
    }

    /// The booker, or staff with some amount.
    async fn cancels_a_passenger(&self, n: usize) {
        let sold = self
            .known(
                "SELECT id, code, contact_email, partner_id, total FROM bookings
                 WHERE status = 'paid' AND qty > 1 AND type = 'speedboat'
                 ORDER BY created_at, code",
            )
            .await;
        let Some(Known { id, code, contact_email, total, .. }) = sold.get(n % sold.len().max(1))
        else {
            return;
        };
        let path = format!("/v1/booking/{id}");
        let booking = self.world.get(&path).by(&self.admin).send().await.ok();
        let mut body = json!({ "reason": "x", "passenger_ids": [booking["passengers"][0]["id"]] });
        let path = format!("{path}/cancel");
        if n.is_multiple_of(2) {
            body["code"] = json!(code);
            body["email"] = json!(contact_email);
            self.world.post(&path, body).send().await;
        } else {
            body["refund_amount"] = json!(total / 7);
            self.world.post(&path, body).by(&self.admin).send().await;
        }
    }

    /// A sailing of the partner that departs in the next days.
    fn sailing(&mut self, partner: usize) -> Sailing {
        let soon = self.world.now() + TimeDelta::hours(2);
        let from = self.sailings[partner].iter().position(|(at, _)| *at > soon).unwrap();
        let at = from + self.random.random_range(0..10);
        self.sailings[partner][at].1.clone()
    }

    fn method(&mut self) -> &'static str {
        METHODS[self.random.random_range(0..METHODS.len())]
    }

    async fn tells(&mut self, reference: &str, amount: i64, transaction: &str) -> Answer {
        let mut body = callback_body(reference, amount, "settlement", transaction);
        body["payment_type"] = json!(self.method());
        self.world.post("/v1/payment/callback", body).send().await
    }

    async fn sells(&mut self, n: usize) {
        let partner = self.random.random_range(0..2);
        let (sailing, email) = (self.sailing(partner), format!("b{n}@example.com"));
        let mut wish = match self.random.random_range(0..6) {
            0 => charter(&sailing, 3, &email),
            _ => order(&sailing, self.random.random_range(1..4), &email),
        };
        if self.random.random_bool(0.3) {
            wish["code_promo"] = json!("HEMAT");
        }
        let answer = self.world.books(wish).await;
        if answer.status != 201 && answer.status != 200 {
            return;
        }
        let booking = answer.ok();
        let total = booking["price"]["total"].as_i64().unwrap();
        let reference = booking["payment"]["reference"].as_str().unwrap().to_owned();
        let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
        match self.random.random_range(0..12) {
            0..=1 => {
                self.world.post(&path, json!({})).by(&self.admin).send().await.ok();
            }
            2..=3 => {
                let partner = self.world.signs_in(&self.partners[partner].email, "mitra").await;
                self.world.post(&path, json!({})).by(&partner).send().await.ok();
            }
            4 => drop(self.tells(&reference, total + 700, &format!("t{n}")).await),
            5 => self.unpaid.push(booking),
            _ => {
                self.tells(&reference, total, &format!("t{n}")).await.ok();
            }
        }
    }

    async fn known(&self, statement: &'static str) -> Vec<Known> {
        self.world.db().sql(statement).all().await.unwrap()
    }

    async fn one_of(&mut self, statement: &'static str) -> Option<Known> {
        let all = self.known(statement).await;
        let at = self.random.random_range(0..all.len().max(1));
        all.get(at).cloned()
    }

    async fn sold(&mut self) -> Option<Known> {
        self.one_of(
            "SELECT id, code, contact_email, partner_id, total FROM bookings
             WHERE status = 'paid' OR (status = 'refund_pending' AND called_off)
             ORDER BY created_at, code",
        )
        .await
    }

    async fn moves(&mut self, n: usize) {
        let Some(booking) = self.sold().await else { return };
        let partner = self.ids.iter().position(|id| *id == booking.partner_id).unwrap();
        let to = self.sailing(partner);
        let path = format!("/v1/booking/{}/reschedule", booking.id);
        let mut body = json!({ "route_time_id": to.id, "reason": "x" });
        let mut call = self.world.post(&path, body.clone()).by(&self.admin);
        if self.random.random_bool(0.8) {
            body["code"] = json!(booking.code);
            body["email"] = json!(booking.contact_email);
            call = self.world.post(&path, body);
        }
        let wish = call.send().await.body["data"].clone();
        let Some(reference) = wish["reschedule"]["payment"]["reference"].as_str() else { return };
        let difference = wish["reschedule"]["difference"].as_i64().unwrap();
        let amount = difference + if self.random.random_bool(0.1) { 300 } else { 0 };
        self.tells(reference, amount, &format!("d{n}")).await;
    }

    async fn customer_cancels(&mut self) {
        let Some(Known { id, code, contact_email, .. }) = self.sold().await else { return };
        let body = json!({ "reason": "", "code": code, "email": contact_email });
        self.world.post(&format!("/v1/booking/{id}/cancel"), body).send().await;
    }

    async fn staff_cancels(&mut self) {
        let Some(Known { id, .. }) = self.sold().await else { return };
        let path = format!("/v1/booking/{id}/cancel");
        self.world.post(&path, json!({ "reason": "x" })).by(&self.admin).send().await;
    }

    async fn customer_complains(&mut self) {
        let sailed = self.one_of(
            "SELECT id, code, contact_email, partner_id, total FROM bookings
             WHERE status = 'completed' AND total > 0 ORDER BY created_at, code",
        );
        let Some(Known { id, total, .. }) = sailed.await else { return };
        let mut body = json!({ "reason": "x" });
        if self.random.random_bool(0.7) {
            body["refund_amount"] = json!(self.random.random_range(1..=total));
        }
        if self.random.random_bool(0.4) {
            body["borne_by"] = json!("platform");
        }
        let path = format!("/v1/booking/{id}/cancel");
        self.world.post(&path, body).by(&self.admin).send().await;
    }

    /// Pays something that is owed; cash goes back as cash.
    async fn pays_refund(&mut self, n: usize) {
        let owed: Vec<(Uuid,)> = self
            .world
            .db()
            .sql("SELECT id FROM refunds WHERE unpaid > 0 ORDER BY due_at, code")
            .all()
            .await
            .unwrap();
        let Some((id,)) = owed.get(self.random.random_range(0..owed.len().max(1))) else { return };
        for by in ["bank", "partner", "cash"] {
            let body = json!({ "by": by, "reference": format!("BCA-{n}") });
            let path = format!("/v1/refunds/{id}/pay");
            self.world.post(&path, body).by(&self.admin).send().await;
        }
    }

    /// A transfer that came back.
    async fn refund_bounces(&mut self) {
        let paid: Vec<(Uuid,)> = self
            .world
            .db()
            .sql("SELECT id FROM refunds WHERE status = 'paid' ORDER BY due_at, code")
            .all()
            .await
            .unwrap();
        let Some((id,)) = paid.get(self.random.random_range(0..paid.len().max(1))) else { return };
        let path = format!("/v1/refunds/{id}/return");
        self.world.post(&path, json!({ "reason": "closed" })).by(&self.admin).send().await;
    }

    /// Pays a booking that is paid, or one that nobody paid in time.
    async fn pays_twice_or_late(&mut self, n: usize) {
        if self.random.random_bool(0.6) && !self.unpaid.is_empty() {
            let late = self.unpaid.swap_remove(self.random.random_range(0..self.unpaid.len()));
            let reference = late["payment"]["reference"].as_str().unwrap();
            let total = late["price"]["total"].as_i64().unwrap();
            self.tells(reference, total, &format!("l{n}")).await.ok();
        } else if let Some(booking) = self.sold().await {
            let reference = format!("{}-1", booking.code);
            self.tells(&reference, booking.total, &format!("l{n}")).await;
        }
    }

    async fn calls_off(&mut self) {
        let partner = self.random.random_range(0..2);
        let sailing = self.sailing(partner);
        let path = format!("/v1/mitra/route-times/{}/cancel", sailing.id);
        self.world.post(&path, json!({ "reason": "x" })).by(&self.admin).send().await;
    }

    /// A part of what is owed, all of it, or what nobody owes.
    async fn provider_tells_of_refund(&mut self, n: usize) {
        let owed = self.one_of(
            "SELECT k.id, k.code, k.contact_email, k.partner_id, k.total FROM bookings k
             WHERE k.status IN ('paid', 'refund_pending') AND k.total > 0
             ORDER BY k.created_at, k.code",
        );
        let Some(Known { code, total, .. }) = owed.await else { return };
        let mut body =
            callback_body(&format!("{code}-1"), total, "partial_refund", &format!("r{n}"));
        let amount = self.random.random_range(1..=total);
        body["refund_amount"] = json!(format!("{amount}.00"));
        self.world.post("/v1/payment/callback", body).send().await;
    }

    /// Decides all reviews, somehow.
    async fn resolves_reviews(&mut self) {
        if self.random.random_bool(0.5) {
            return;
        }
        let open: Vec<(Uuid, String)> = self
            .world
            .db()
            .sql(
                "SELECT id, reason FROM payment_reviews WHERE resolution IS NULL
                 ORDER BY created_at, id",
            )
            .all()
            .await
            .unwrap();
        for (id, reason) in open {
            let actions = match reason.as_str() {
                "unowed_refund" | "chargeback" => ["charge_partner", "write_off"],
                _ => ["apply", "refund"],
            };
            let first = usize::from(self.random.random_bool(0.5));
            for action in [actions[first], actions[1 - first]] {
                let path = format!("/v1/payment/reviews/{id}/resolve");
                let body = json!({ "action": action, "note": "x" });
                self.world.post(&path, body).by(&self.admin).send().await;
            }
        }
    }
}

fn day_of(at: DateTime<Utc>) -> NaiveDate {
    at.with_timezone(&FixedOffset::east_opt(7 * 3600).unwrap()).date_naive()
}

/// `amount × part ÷ whole`, half up.
fn share(amount: i64, part: i64, whole: i64) -> i64 {
    let exact = i128::from(amount) * i128::from(part);
    let whole = i128::from(whole);
    ((2 * exact + whole) / (2 * whole)) as i64
}

type Sums = BTreeMap<String, i64>;

/// Revenue and bookings by key.
type Slices = BTreeMap<String, (i64, i64)>;

/// What the reports must say, from the ledger and the rows.
#[derive(Default)]
struct Facts {
    days: BTreeMap<NaiveDate, Sums>,
    /// By report and day: gross and bookings of each key.
    slices: BTreeMap<(&'static str, NaiveDate), Slices>,
}

#[derive(dermaga::kernel::db::FromRow)]
struct Receipt {
    day: NaiveDate,
    partner_id: Uuid,
    #[row(rename = "type")]
    kind: String,
    method: String,
    amount: i64,
}

#[derive(dermaga::kernel::db::FromRow)]
struct Sale {
    id: Uuid,
    partner_id: Uuid,
    #[row(rename = "type")]
    kind: String,
    method: String,
    paid_at: DateTime<Utc>,
    qty: i32,
    discount: i64,
    tax: i64,
    commission: i64,
    partner_net: i64,
}

/// What passengers who were cancelled had cost.
#[derive(dermaga::kernel::db::FromRow)]
struct Share {
    booking_id: Uuid,
    qty: i32,
    discount: i64,
    tax: i64,
    commission: i64,
    partner_net: i64,
}

impl Share {
    fn of(&self, part: &str) -> i64 {
        match part {
            "discount" => self.discount,
            "tax" => self.tax,
            "commission" => self.commission,
            _ => self.partner_net,
        }
    }
}

#[derive(dermaga::kernel::db::FromRow)]
struct Change {
    booking_id: Uuid,
    was: Value,
    becomes: Value,
    done_at: DateTime<Utc>,
}

#[derive(dermaga::kernel::db::FromRow)]
struct Paid {
    refund_id: Uuid,
    kind: String,
    whole: i64,
    amount: i64,
    paid_at: DateTime<Utc>,
    returned_at: Option<DateTime<Utc>>,
    booking_tax: i64,
    kept_tax: i64,
    reversed_tax: i64,
}

const PRICE: [&str; 4] = ["discount", "tax", "commission", "partner_net"];

impl Facts {
    async fn of(world: &World) -> Self {
        let mut facts = Self::default();
        facts.receipts(world).await;
        facts.sales(world).await;
        facts.refunds(world).await;
        facts.books(world).await;
        for sums in facts.days.values_mut() {
            let of = |name: &str| sums.get(name).copied().unwrap_or_default();
            let gross = of("gross_revenue");
            let net = gross - of("refunds") - (of("tax") - of("refund_tax"));
            let average = match of("bookings") {
                0 => 0,
                count => (gross as f64 / count as f64 + 0.5).floor() as i64,
            };
            sums.insert("net_revenue".into(), net);
            sums.insert("average_booking".into(), average);
        }
        facts
    }

    fn add(&mut self, day: NaiveDate, name: &str, amount: i64) {
        *self.days.entry(day).or_default().entry(name.to_owned()).or_default() += amount;
    }

    fn add_slice(&mut self, day: NaiveDate, keys: [&str; 3], (gross, bookings): (i64, i64)) {
        for (report, key) in ["payment", "type", "partner"].into_iter().zip(keys) {
            let slices = self.slices.entry((report, day)).or_default();
            let slice = slices.entry(key.to_owned()).or_default();
            *slice = (slice.0 + gross, slice.1 + bookings);
        }
    }

    /// What came in and was applied, from the ledger.
    async fn receipts(&mut self, world: &World) {
        let lines: Vec<Receipt> = world
            .db()
            .sql(
                "SELECT l.posted_on AS day, k.partner_id, k.type, l.amount, COALESCE(
                   CASE l.source
                     WHEN 'review' THEN (SELECT e.method FROM payment_reviews v
                       JOIN payment_events e ON e.id = v.event_id WHERE v.id = l.source_id)
                     WHEN 'reschedule' THEN (SELECT y.method FROM payments y
                       WHERE y.reschedule_id = l.source_id AND y.status IN ('paid', 'refunded'))
                     ELSE (SELECT y.method FROM payments y WHERE y.booking_id = k.id
                       AND y.reschedule_id IS NULL AND y.status IN ('paid', 'refunded')) END,
                   'other') AS method
                 FROM ledger_lines l JOIN bookings k ON k.id = l.booking_id
                 WHERE l.account = 'unapplied_payments'
                   OR (l.account IN ('gateway_clearing', 'cash', 'partner_payable')
                     AND ((l.source = 'booking' AND l.kind IN ('paid', 'late_payment'))
                       OR (l.source = 'payment' AND l.kind = 'unapplied')
                       OR (l.source = 'reschedule' AND l.kind = 'rescheduled')
                       OR (l.source = 'review' AND l.kind IN ('apply', 'dismiss'))))",
            )
            .all()
            .await
            .unwrap();
        for Receipt { day, partner_id, kind, method, amount } in lines {
            self.add(day, "gross_revenue", amount);
            self.add_slice(day, [&method, &kind, &partner_id.to_string()], (amount, 0));
        }
    }

    /// What was sold at which price, from the bookings and their moves.
    async fn sales(&mut self, world: &World) {
        let sales: Vec<Sale> = world
            .db()
            .sql(
                "SELECT k.id, k.partner_id, k.type, k.paid_at, k.qty, k.discount, k.tax,
                   k.commission, k.partner_net, COALESCE((SELECT y.method FROM payments y
                     WHERE y.booking_id = k.id AND y.reschedule_id IS NULL
                       AND y.status IN ('paid', 'refunded')), 'other') AS method
                 FROM bookings k WHERE k.paid_at IS NOT NULL",
            )
            .all()
            .await
            .unwrap();
        let changes: Vec<Change> = world
            .db()
            .sql(
                "SELECT booking_id, was, becomes, done_at FROM reschedules WHERE status = 'done'
                 ORDER BY done_at, id",
            )
            .all()
            .await
            .unwrap();
        let shares: Vec<Share> = world
            .db()
            .sql(
                "SELECT booking_id, qty, discount, tax, commission, partner_net
                 FROM passenger_cancellations",
            )
            .all()
            .await
            .unwrap();
        for sale in sales {
            let day = day_of(sale.paid_at);
            let shares: Vec<_> = shares.iter().filter(|one| one.booking_id == sale.id).collect();
            self.add(day, "bookings", 1);
            self.add(day, "passengers", sale.qty.into());
            self.add(day, "passengers", shares.iter().map(|share| i64::from(share.qty)).sum());
            let keys = [&sale.method, &sale.kind, &sale.partner_id.to_string()];
            self.add_slice(day, keys.map(String::as_str), (0, 1));
            let moves: Vec<_> = changes.iter().filter(|one| one.booking_id == sale.id).collect();
            let now = [sale.discount, sale.tax, sale.commission, sale.partner_net];
            for (part, now) in PRICE.into_iter().zip(now) {
                let name = if part == "partner_net" { "partner_payable" } else { part };
                let of = |price: &Value| price[part].as_i64().unwrap();
                let share = |share: &&Share| share.of(part);
                let gone: i64 = shares.iter().map(share).sum();
                let moved: i64 = moves.iter().map(|one| of(&one.becomes) - of(&one.was)).sum();
                // Passengers who were cancelled remain sold.
                let first = now + gone - moved;
                self.add(day, name, first);
                for moved in &moves {
                    self.add(day_of(moved.done_at), name, of(&moved.becomes) - of(&moved.was));
                }
                if shares.is_empty() {
                    assert_eq!(moves.first().map_or(now, |one| of(&one.was)), first);
                    assert_eq!(moves.last().map_or(now, |last| of(&last.becomes)), now);
                }
            }
        }
    }

    /// What went back and its tax, from the rows; the tax that stays is in the ledger.
    async fn refunds(&mut self, world: &World) {
        let paid: Vec<Paid> = world
            .db()
            .sql(
                "SELECT p.refund_id, f.kind, f.amount AS whole, p.amount, p.paid_at, p.returned_at,
                   COALESCE((SELECT c.tax FROM passenger_cancellations c
                     WHERE c.id = f.cancellation_id), k.tax) AS booking_tax,
                   CAST(COALESCE((SELECT -SUM(l.amount) FROM ledger_lines l
                     WHERE l.booking_id = k.id AND l.kind = 'kept' AND l.account = 'tax_payable'
                       AND CASE l.source WHEN 'cancellation' THEN l.source_id ELSE k.id END
                         = COALESCE(f.cancellation_id, k.id)), 0)
                   - COALESCE((SELECT SUM(d.commission_tax) FROM partner_dues d
                     WHERE d.booking_id = k.id AND d.kind = 'kept'
                       AND COALESCE(d.source_id, k.id) = COALESCE(f.cancellation_id, k.id)), 0)
                     AS BIGINT) AS kept_tax,
                   CAST(COALESCE((SELECT SUM(l.amount) FROM ledger_lines l
                     WHERE l.booking_id = k.id AND l.kind = 'completion_reversed'
                       AND l.account = 'tax_payable'), 0)
                   + COALESCE((SELECT SUM(d.commission_tax) FROM partner_dues d
                     WHERE d.booking_id = k.id AND d.kind = 'reversal'), 0) AS BIGINT)
                     AS reversed_tax
                 FROM refund_payments p JOIN refunds f ON f.id = p.refund_id
                 JOIN bookings k ON k.id = f.booking_id ORDER BY p.paid_at, p.id",
            )
            .all()
            .await
            .unwrap();
        for (n, one) in paid.iter().enumerate() {
            let tax = match one.kind.as_str() {
                "cancellation" => one.booking_tax - one.kept_tax,
                "complaint" => one.reversed_tax,
                _ => 0,
            };
            let earlier = paid[..n].iter().filter(|other| {
                other.refund_id == one.refund_id
                    && other.returned_at.is_none_or(|returned| returned > one.paid_at)
            });
            let before: i64 = earlier.map(|other| other.amount).sum();
            let tax = share(tax, before + one.amount, one.whole) - share(tax, before, one.whole);
            self.add(day_of(one.paid_at), "refunds", one.amount);
            self.add(day_of(one.paid_at), "refund_tax", tax);
            if let Some(returned) = one.returned_at {
                self.add(day_of(returned), "refunds", -one.amount);
                self.add(day_of(returned), "refund_tax", -tax);
            }
        }
        let posted: Vec<(NaiveDate, i64)> = world
            .db()
            .sql(
                "SELECT posted_on, CAST(SUM(amount) AS BIGINT) FROM ledger_lines
                 WHERE source = 'refund' AND account = 'refund_payable' GROUP BY posted_on",
            )
            .all()
            .await
            .unwrap();
        for (day, amount) in posted {
            let refunds = self.days.get(&day).and_then(|sums| sums.get("refunds"));
            assert_eq!(refunds, Some(&amount), "posted on {day}");
        }
    }

    async fn books(&mut self, world: &World) {
        let lines: Vec<(NaiveDate, String, i64)> = world
            .db()
            .sql(
                "SELECT posted_on, account, CAST(SUM(amount) AS BIGINT) FROM ledger_lines
                 WHERE source <> 'tax_payment' GROUP BY posted_on, account",
            )
            .all()
            .await
            .unwrap();
        for (day, account, amount) in lines {
            let (name, spent) = match account.as_str() {
                "commission_revenue" => ("commission_earned", amount),
                "tax_payable" => ("tax_due", 0),
                "promotion_expense" => ("promotion_cost", amount),
                "reseller_margin" => ("reseller_margin", amount),
                "gateway_fees" => ("gateway_fees", amount),
                "losses" | "bank_fees" => ("", amount),
                _ => continue,
            };
            let is_credit = ["commission_earned", "tax_due"].contains(&name);
            self.add(day, name, if is_credit { -amount } else { amount });
            self.add(day, "platform_income", -spent);
        }
    }

    /// Compares every day, and their month; returns what the reports say.
    async fn assert_reports(&self, world: &World, admin: &Someone) -> Vec<Value> {
        let get = async |path: String| world.get(&path).by(admin).send().await.ok();
        let custom = |first: NaiveDate, last: NaiveDate| {
            format!(
                "period_type=Custom&comparison_mode=Year-over-Year&start_date={first}&end_date={last}"
            )
        };
        let mut said = Vec::new();
        let (first, last) = (day_of("2026-11-15T03:00:00Z".parse().unwrap()), day_of(world.now()));
        let mut names: BTreeSet<_> = self.days.values().flat_map(|sums| sums.keys()).collect();
        names.remove(&String::new());
        assert!(names.len() >= 15, "{names:?}");
        let mut day = first;
        while day <= last {
            let report = get(format!("{REPORTS}/overview?{}", custom(day, day))).await;
            for name in &names {
                let sums = self.days.get(&day);
                let expected = sums.and_then(|sums| sums.get(*name)).copied().unwrap_or_default();
                assert_eq!(report[name]["current"], expected, "{name} of {day}");
            }
            said.push(report);
            for by in ["payment", "type", "partner"] {
                let path = format!("{REPORTS}/revenue-breakdown/{by}?{}", custom(day, day));
                let report = get(path).await;
                let slices = report["items"].as_array().unwrap().iter().map(|slice| {
                    let figure = |name: &str| slice[name]["current"].as_i64().unwrap();
                    (slice["key"].as_str().unwrap().into(), (figure("revenue"), figure("bookings")))
                });
                let slices: BTreeMap<String, _> = slices.collect();
                let mut expected = self.slices.get(&(by, day)).cloned().unwrap_or_default();
                expected.retain(|_, slice| *slice != (0, 0));
                assert_eq!(slices, expected, "by {by} on {day}");
                said.push(report);
            }
            day = day + Days::new(1);
        }
        let whole = get(format!("{REPORTS}/overview?{}", custom(first, last))).await;
        for name in names.into_iter().filter(|name| *name != "average_booking") {
            let sum: i64 = self.days.values().filter_map(|sums| sums.get(name)).sum();
            assert_eq!(whole[name]["current"], sum, "{name} of all days");
        }
        let board = get("/v1/dashboard".into()).await;
        let month =
            get(format!("{REPORTS}/overview?period_type=Bulanan&comparison_mode=Month-over-month"))
                .await;
        assert_eq!(board["month"]["gross_revenue"], month["gross_revenue"]);
        assert_eq!(board["month"]["bookings"], month["bookings"]);
        said.extend([whole, board, month, get("/v1/dashboard/mitra-statistic".into()).await]);
        said
    }
}

/// The figures of a day.
async fn overview(world: &World, day: &str) -> impl Fn(&str) -> i64 + use<> {
    let admin = world.signs_in("admin@dermaga.test", "admin").await;
    let query = format!(
        "period_type=Custom&comparison_mode=Month-over-month&start_date={day}&end_date={day}"
    );
    let report = world.get(&format!("{REPORTS}/overview?{query}")).by(&admin).send().await.ok();
    move |name| report[name]["current"].as_i64().unwrap()
}

async fn with_taxes(world: &World, admin: &Someone) {
    for (code, applies_to) in [("PPN", "commission"), ("PB1", "booking")] {
        let tax = json!({
            "name": code, "code": code, "rate": 10.0, "applies_to": applies_to, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(admin).send().await.ok();
    }
}

/// A dearer sailing adds what was paid, a cheaper one nothing; neither is counted again.
async fn a_reschedule_is_not_a_sale(world: World) {
    let world = world.with(|config| config.reschedule_fee = Steps(vec![(0, 10)])).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    with_taxes(&world, &admin).await;
    let dear = world.another_sailing(&sailing, "GT. 2", 200_000).await;
    let cheap = world.another_sailing(&sailing, "GT. 3", 100_000).await;
    let (up, down) = (world.paid_booking(&sailing, 2).await, world.paid_booking(&sailing, 1).await);
    world.advances_clock(TimeDelta::hours(15));
    let wish = world.requests_reschedule(&up, &dear).await.ok();
    // 110,000 more, and a fee of 10 % of 330,000.
    assert_eq!(wish["reschedule"]["difference"], 143_000);
    let reference = wish["reschedule"]["payment"]["reference"].as_str().unwrap();
    let mut paid = callback_body(reference, 143_000, "settlement", "d");
    paid["payment_type"] = json!("credit_card");
    world.post("/v1/payment/callback", paid).send().await.ok();
    let moved = world.requests_reschedule(&down, &cheap).await.ok();
    assert_eq!(moved["reschedule"]["difference"], 110_000 + 16_500 - 165_000);
    let sold = overview(&world, "2026-11-15").await;
    let figures = ["gross_revenue", "tax", "commission", "bookings", "passengers", "refunds"];
    assert_eq!(figures.map(&sold), [495_000, 45_000, 45_000, 2, 3, 0], "as it was sold");
    let moved = overview(&world, "2026-11-16").await;
    // The tax and the commission of 100,000 more and of 50,000 less.
    assert_eq!(figures.map(&moved), [143_000, 5_000, 5_000, 0, 0, 0]);
    // Both fees, which contain their tax.
    assert_eq!(moved("commission_earned"), 30_000 + 15_000);
    assert_eq!(moved("tax_due"), 3_000 + 1_500);
    let admin = world.signs_in(&admin.email, "admin").await;
    let path = format!(
        "{REPORTS}/revenue-breakdown/payment?period_type=Custom&comparison_mode=Month-over-month&start_date=2026-11-16&end_date=2026-11-16"
    );
    let by_method = world.get(&path).by(&admin).send().await.ok();
    assert_eq!(by_method["items"].as_array().unwrap().len(), 1);
    assert_eq!(by_method["items"][0]["key"], "credit_card", "its own method");
    assert_eq!(by_method["items"][0]["bookings"]["current"], 0);
    // Everything counts for the route that it was sold for.
    let board = world.get("/v1/dashboard").by(&admin).send().await.ok();
    let routes = board["top_routes"].as_array().unwrap();
    assert_eq!(routes.len(), 1);
    assert_eq!((&routes[0]["gross_revenue"], &routes[0]["bookings"]), (&json!(638_000), &json!(2)));
    // Paid back, the difference is a refund. Its tax was taken off when the price changed.
    world.advances_clock(TimeDelta::days(1));
    let admin = world.signs_in(&admin.email, "admin").await;
    let path = format!("/v1/booking/{}/refund", down["id"].as_str().unwrap());
    world.post(&path, json!({ "reference": "BCA" })).by(&admin).send().await.ok();
    let returned = overview(&world, "2026-11-17").await;
    assert_eq!(figures.map(&returned), [0, 0, 0, 0, 0, 38_500]);
    assert_eq!((returned("refund_tax"), returned("net_revenue")), (0, -38_500));
    reports::rebuild(&world.app).await.unwrap();
    assert_eq!(figures.map(overview(&world, "2026-11-15").await), figures.map(&sold));
    assert_eq!(figures.map(overview(&world, "2026-11-16").await), figures.map(&moved));
    assert_eq!(figures.map(overview(&world, "2026-11-17").await), figures.map(&returned));
    let board = world.get("/v1/dashboard").by(&admin).send().await.ok();
    assert_eq!(&board["top_routes"], &json!(routes));
    assert_invariants(&world).await;
}

/// Half of the price is kept, with half of its tax; the refund is told in two parts.
async fn a_refund_counts_when_it_is_paid(world: World) {
    let world = world.with(|config| config.refund_policy = Steps(vec![(0, 50)])).await;
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    with_taxes(&world, &admin).await;
    let booking = world.paid_booking(&sailing, 1).await;
    let id = booking["id"].as_str().unwrap();
    let body = json!({ "reason": "", "code": booking["code"], "email": "sari@example.com" });
    let done = world.post(&format!("/v1/booking/{id}/cancel"), body).send().await.ok();
    assert_eq!(done["refund_amount"], 82_500);
    let sold = overview(&world, "2026-11-15").await;
    let figures = ["gross_revenue", "refunds", "tax", "refund_tax", "net_revenue"];
    assert_eq!(figures.map(&sold), [165_000, 0, 15_000, 0, 150_000], "nothing is paid back yet");
    assert_eq!(sold("tax_due"), 7_500 + 750, "of what is kept, and of the commission on it");
    let reference = booking["payment"]["reference"].as_str().unwrap();
    for (so_far, day, expected) in [
        ("30000.00", "2026-11-16", [0, 30_000, 0, 2_727, -27_273]),
        ("82500.00", "2026-11-17", [0, 52_500, 0, 4_773, -47_727]),
    ] {
        world.advances_clock(TimeDelta::days(1));
        let mut told = callback_body(reference, 165_000, "partial_refund", &format!("r{so_far}"));
        told["refund_amount"] = json!(so_far);
        world.post("/v1/payment/callback", told).send().await.ok();
        assert_eq!(figures.map(overview(&world, day).await), expected, "{day}");
    }
    assert_eq!(world.looks_up(&booking).await["status"], "refunded");
    reports::rebuild(&world.app).await.unwrap();
    let last = overview(&world, "2026-11-17").await;
    assert_eq!(figures.map(last), [0, 52_500, 0, 4_773, -47_727]);
    assert_invariants(&world).await;
}

/// Commission of journeys, less the promotion that the platform pays for.
async fn what_the_platform_earns_is_read_from_the_books(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    with_taxes(&world, &admin).await;
    let promotion = crate::promotions::promotion("HEMAT");
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let mut wish = order(&sailing, 2, "sari@example.com");
    wish["code_promo"] = json!("HEMAT");
    let booking = world.books(wish).await.ok();
    world.pays(&booking).await;
    let sold = overview(&world, "2026-11-15").await;
    assert_eq!(sold("commission"), 30_000, "as sold");
    let earned =
        ["commission_earned", "promotion_cost", "gateway_fees", "platform_income", "tax_due"];
    assert_eq!(earned.map(&sold), [0; 5], "nothing has sailed");
    world.advances_clock(TimeDelta::days(1));
    world.completes_paid_bookings().await;
    let sailed = overview(&world, "2026-11-16").await;
    assert_eq!(earned.map(&sailed), [30_000, 30_000, 0, 0, 27_000 + 3_000]);
    assert_eq!(sailed("commission"), 0);
    // What the tax office gets reduces what is owed to it, not what became due.
    let paid = json!({
        "tax_code": "PB1", "amount": 27_000, "paid_on": "2026-11-16", "reference": "NTPN-1",
    });
    // The session has expired meanwhile.
    let admin = world.signs_in(&admin.email, "admin").await;
    world.post("/v1/finance/tax-payments", paid).by(&admin).send().await.ok();
    assert_eq!(overview(&world, "2026-11-16").await("tax_due"), 30_000);
    assert_invariants(&world).await;
}
