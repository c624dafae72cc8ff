//! Reports, compared with the bookings and the ledger.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, FixedOffset, Months, NaiveDate, TimeDelta, Utc};
use dermaga::{kernel::access::Rule, kernel::ids::Uuid, reports};
use futures_util::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, callback_body, charter, order},
    on_both_engines,
    storms::assert_invariants,
    world::{Someone, World},
};

on_both_engines![
    reports_agree_with_a_naive_calculation,
    a_bad_period_is_refused_field_by_field,
    a_payment_shows_at_once_and_on_its_day,
    rolling_up_races_with_payments,
    rebuilding_races_with_payments,
    reports_are_downloaded_as_files,
    the_partner_report_comes_in_pages,
    a_dashboard_shows_own_data,
    a_dashboard_without_the_rule_has_no_money,
    the_summary_of_a_partner,
    reports_of_another_time_zone_are_unavailable,
    figures_take_few_statements,
];

const REPORTS: &str = "/v1/finance/reports";
const KINDS: [&str; 3] = ["Bulanan", "Kuartalan", "Tahunan"];
const MODES: [(&str, u32); 3] =
    [("Month-over-month", 1), ("Quarter-over-Quarter", 3), ("Year-over-Year", 12)];

#[derive(Clone, Debug, dermaga::kernel::db::FromRow)]
struct Booked {
    partner_id: Uuid,
    #[row(rename = "type")]
    kind: String,
    method: Option<String>,
    paid_at: Option<DateTime<Utc>>,
    qty: i32,
    discount: i64,
    tax: i64,
    total: i64,
    commission: i64,
    partner_net: i64,
}

async fn booking_rows(world: &World) -> Vec<Booked> {
    world
        .db()
        .sql(
            "SELECT k.partner_id, k.type, y.method, k.paid_at, k.qty, k.discount, k.tax, k.total,
               k.commission, k.partner_net
             FROM bookings k LEFT JOIN payments y
               ON y.booking_id = k.id AND y.status IN ('paid', 'refunded')",
        )
        .all()
        .await
        .unwrap()
}

/// Money that came in beside the sale, or went back. All cancellations here are refunded in full.
#[derive(Clone, Debug, dermaga::kernel::db::FromRow)]
struct Moved {
    partner_id: Uuid,
    #[row(rename = "type")]
    kind: String,
    method: Option<String>,
    at: DateTime<Utc>,
    received: i64,
    refund: i64,
    refund_tax: i64,
}

async fn money_rows(world: &World) -> Vec<Moved> {
    world
        .db()
        .sql(
            "SELECT k.partner_id, k.type, y.method, f.due_at AS at, f.amount AS received,
               CAST(0 AS BIGINT) AS refund, CAST(0 AS BIGINT) AS refund_tax
             FROM refunds f JOIN bookings k ON k.id = f.booking_id LEFT JOIN payments y
               ON y.booking_id = k.id AND y.status IN ('paid', 'refunded')
             WHERE f.kind = 'excess'
             UNION ALL
             SELECT k.partner_id, k.type, y.method, p.paid_at, CAST(0 AS BIGINT), p.amount,
               CASE WHEN f.kind = 'excess' THEN 0 ELSE k.tax END
             FROM refund_payments p JOIN refunds f ON f.id = p.refund_id
             JOIN bookings k ON k.id = f.booking_id LEFT JOIN payments y
               ON y.booking_id = k.id AND y.status IN ('paid', 'refunded')",
        )
        .all()
        .await
        .unwrap()
}

type Days2 = (NaiveDate, NaiveDate);

/// A window, calculated another way than the service does.
fn window(kind: &str, day: NaiveDate) -> Days2 {
    use chrono::Datelike;
    let (first, months) = match kind {
        "Bulanan" => (day.month(), 1),
        "Kuartalan" => ((day.month() - 1) / 3 * 3 + 1, 3),
        _ => (1, 12),
    };
    let start = NaiveDate::from_ymd_opt(day.year(), first, 1).unwrap();
    let next = match first + months {
        13 => NaiveDate::from_ymd_opt(day.year() + 1, 1, 1),
        month => NaiveDate::from_ymd_opt(day.year(), month, 1),
    };
    (start, next.unwrap().pred_opt().unwrap())
}

fn previous((start, end): Days2, months: u32) -> Days2 {
    let back = |day: NaiveDate| day.checked_sub_months(Months::new(months)).unwrap();
    (back(start), back(end.succ_opt().unwrap()).pred_opt().unwrap())
}

/// The key of a slice, by partner, type and method.
type Key = fn(Uuid, &str, Option<&str>) -> String;

struct Naive<'a> {
    rows: &'a [Booked],
    money: &'a [Moved],
    zone: FixedOffset,
}

impl Naive<'_> {
    fn within(&self, at: Option<DateTime<Utc>>, (start, end): Days2) -> bool {
        at.is_some_and(|at| (start..=end).contains(&at.with_timezone(&self.zone).date_naive()))
    }

    fn paid_within(&self, days: Days2) -> Vec<&Booked> {
        self.rows.iter().filter(|row| self.within(row.paid_at, days)).collect()
    }

    fn moved_within(&self, days: Days2) -> Vec<&Moved> {
        self.money.iter().filter(|row| self.within(Some(row.at), days)).collect()
    }

    fn figures(&self, days: Days2) -> BTreeMap<&'static str, i64> {
        let sold = self.paid_within(days);
        let sum = |of: fn(&Booked) -> i64| sold.iter().map(|row| of(row)).sum::<i64>();
        let moved = self.moved_within(days);
        let money = |of: fn(&Moved) -> i64| moved.iter().map(|row| of(row)).sum::<i64>();
        let (refunds, refund_tax) = (money(|row| row.refund), money(|row| row.refund_tax));
        let gross = sum(|row| row.total) + money(|row| row.received);
        let (tax, count) = (sum(|row| row.tax), sold.len() as i64);
        let average = match count {
            0 => 0,
            _ => (gross as f64 / count as f64 + 0.5).floor() as i64,
        };
        BTreeMap::from([
            ("gross_revenue", gross),
            ("discount", sum(|row| row.discount)),
            ("tax", tax),
            ("refunds", refunds),
            ("refund_tax", refund_tax),
            ("net_revenue", gross - refunds - (tax - refund_tax)),
            ("commission", sum(|row| row.commission)),
            ("partner_payable", sum(|row| row.partner_net)),
            ("bookings", count),
            ("passengers", sum(|row| row.qty.into())),
            ("average_booking", average),
        ])
    }

    fn parts(&self, days: Days2, key: Key) -> BTreeMap<String, (i64, i64)> {
        let mut parts = BTreeMap::<_, (i64, i64)>::new();
        for row in self.paid_within(days) {
            let of = key(row.partner_id, &row.kind, row.method.as_deref());
            let part = parts.entry(of).or_default();
            *part = (part.0 + row.total, part.1 + 1);
        }
        for row in self.moved_within(days).into_iter().filter(|row| row.received > 0) {
            let of = key(row.partner_id, &row.kind, row.method.as_deref());
            parts.entry(of).or_default().0 += row.received;
        }
        parts
    }

    fn overview(&self, report: &Value, days: Days2, before: Days2) {
        let (now, then) = (self.figures(days), self.figures(before));
        for (name, current) in &now {
            let figure = &report[name];
            assert_eq!(figure["current"], *current, "{name} of {days:?}");
            assert_eq!(figure["previous"], then[name], "{name} of {before:?}");
            let change = figure["change_percent"].as_f64();
            match then[name] {
                0 => assert_eq!(change, None),
                old => {
                    let exact = (current - old) as f64 * 100.0 / old.abs() as f64;
                    assert!((change.unwrap() - exact).abs() <= 0.006, "{change:?} {exact}");
                }
            }
        }
        let period = |days: Days2| json!({ "start_date": days.0, "end_date": days.1 });
        assert_eq!(report["period"], period(days));
        assert_eq!(report["previous"], period(before));
        let (mut gross, mut bookings) = (0, 0);
        let series = report["series"].as_array().unwrap();
        for point in series {
            let bucket = point["bucket"].as_str().unwrap();
            let of = self.paid_within(days).into_iter().filter(|row| {
                let day = row.paid_at.unwrap().with_timezone(&self.zone).date_naive();
                day.to_string().starts_with(bucket)
            });
            let of: Vec<_> = of.collect();
            let beside = self.moved_within(days).into_iter().filter(|row| {
                let day = row.at.with_timezone(&self.zone).date_naive();
                day.to_string().starts_with(bucket)
            });
            let received: i64 = beside.map(|row| row.received).sum();
            let sold: i64 = of.iter().map(|row| row.total).sum();
            assert_eq!(point["gross_revenue"], sold + received);
            assert_eq!(point["bookings"], of.len());
            gross += point["gross_revenue"].as_i64().unwrap();
            bookings += point["bookings"].as_i64().unwrap();
        }
        assert_eq!((gross, bookings), (now["gross_revenue"], now["bookings"]));
        let length = (days.1 - days.0).num_days() + 1;
        if length <= 62 {
            assert_eq!(series.len() as i64, length);
        }
    }

    fn breakdown(&self, report: &Value, days: Days2, before: Days2, key: Key) {
        let (now, then) = (self.parts(days, key), self.parts(before, key));
        let total: i64 = now.values().map(|part| part.0).sum();
        assert_eq!(report["total"]["current"], total);
        assert_eq!(report["total"]["previous"], then.values().map(|part| part.0).sum::<i64>());
        let items = report["items"].as_array().unwrap();
        let revenues: Vec<_> = items.iter().map(|i| i["revenue"]["current"].as_i64()).collect();
        assert!(revenues.is_sorted_by(|a, b| a >= b), "largest first: {revenues:?}");
        let keys: std::collections::BTreeSet<_> = now.keys().chain(then.keys()).collect();
        assert_eq!(items.len(), keys.len());
        for item in items {
            let key = item["key"].as_str().unwrap();
            let (revenue, bookings) = now.get(key).copied().unwrap_or_default();
            assert_eq!(item["revenue"]["current"], revenue, "{key}");
            assert_eq!(item["bookings"]["current"], bookings);
            let (revenue, bookings) = then.get(key).copied().unwrap_or_default();
            assert_eq!(item["revenue"]["previous"], revenue);
            assert_eq!(item["bookings"]["previous"], bookings);
            let exact = match total {
                0 => 0.0,
                _ => item["revenue"]["current"].as_f64().unwrap() * 100.0 / total as f64,
            };
            assert!((item["share_percent"].as_f64().unwrap() - exact).abs() <= 0.006);
            assert!(!item["label"].as_str().unwrap().is_empty());
        }
    }
}

/// All reports, compared with a calculation from the bookings.
async fn assert_reports_match_bookings(
    world: &World,
    admin: &Someone,
    zone: FixedOffset,
    starts: &[NaiveDate],
) {
    let rows = booking_rows(world).await;
    let money = money_rows(world).await;
    let naive = Naive { rows: &rows, money: &money, zone };
    let get = async |report: &str, query: &str| {
        let call = world.get(&format!("{REPORTS}/{report}?{query}&page_size=100")).by(admin);
        call.send().await.ok()
    };
    for start in starts {
        for (mode, months) in MODES {
            // By days, and by months with days around them.
            let custom = [40, 150].map(|days| ("Custom", (*start, *start + Days::new(days))));
            let kinds = KINDS.iter().map(|kind| (*kind, window(kind, *start)));
            for (kind, days) in kinds.chain(custom) {
                let mut query =
                    format!("period_type={kind}&comparison_mode={mode}&start_date={start}");
                if kind == "Custom" {
                    query += &format!("&end_date={}", days.1);
                }
                let before = previous(days, months);
                naive.overview(&get("overview", &query).await, days, before);
                let by = "revenue-breakdown";
                let report = get(&format!("{by}/payment"), &query).await;
                let method: Key = |_, _, method| method.unwrap_or("other").into();
                naive.breakdown(&report, days, before, method);
                let report = get(&format!("{by}/type"), &query).await;
                naive.breakdown(&report, days, before, |_, kind, _| kind.into());
                let report = get(&format!("{by}/partner"), &query).await;
                naive.breakdown(&report, days, before, |partner, _, _| partner.to_string());
            }
        }
    }
}

/// A partner whose boat sails every morning for a year.
async fn sailings_of_a_year(world: &World, email: &str, boat: &str, price: i64) -> Vec<Sailing> {
    let partner = world.active_partner(email).await;
    let id = world.adds_boat(&partner, boat).await;
    let mut route = crate::harbour::route(&id);
    route["end_date"] = json!("2027-11-16");
    route["price"] = json!(price);
    let route = world.creates_route(&partner, route).await;
    world.publishes_route(&partner, &route).await.ok();
    let mut sailings = Vec::new();
    for page in 1..=4 {
        let path = format!(
            "/v1/mitra/speedboat-routes/{route}/times?page_size=100&page={page}&sort_dir=asc"
        );
        let rows = world.get(&path).by(&partner).send().await.ok();
        for row in rows.as_array().unwrap() {
            let (partner, boat) = (partner.clone(), id.clone());
            let id = row["id"].as_str().unwrap().to_owned();
            sailings.push((row["departure_at"].clone(), Sailing { partner, boat, id }));
        }
    }
    sailings.sort_by_key(|(at, _)| at.as_str().unwrap().to_owned());
    sailings.into_iter().map(|(_, sailing)| sailing).collect()
}

async fn reports_agree_with_a_naive_calculation(world: World) {
    let mut random = StdRng::seed_from_u64(7);
    let mut admin = world.admin().await;
    for (code, applies_to, rate) in [("PPN", "commission", 11.0), ("PAS", "booking", 2.5)] {
        let tax = json!({
            "name": code, "code": code, "rate": rate, "applies_to": applies_to, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    }
    let mut promotion = crate::promotions::promotion("HEMAT");
    promotion["period"] = json!({ "start_date": "2026-01-01", "end_date": "2028-01-01" });
    promotion["quota"] = json!(null);
    world.post("/v1/contents/promotion", promotion).by(&admin).send().await.ok();
    let fleets = [
        sailings_of_a_year(&world, "made@bahari.id", "GT. 1", 150_000).await,
        sailings_of_a_year(&world, "ketut@laut.id", "GT. 2", 99_999).await,
    ];
    let methods = ["qris", "bank_transfer", "credit_card", "gopay", "cstore", "alien"];
    let mut paid: Vec<Value> = Vec::new();
    for n in 0..130 {
        world.advances_clock(TimeDelta::minutes(random.random_range(1..8_000)));
        // The first sailing whose morning is still to come.
        let days =
            (world.now() - "2026-11-16T00:00:00Z".parse::<DateTime<Utc>>().unwrap()).num_days();
        let fleet = &fleets[random.random_range(0..2)];
        let Some(sailing) = fleet.get(days.max(0) as usize + random.random_range(2..12)) else {
            break;
        };
        let email = format!("b{n}@example.com");
        let mut wish = match random.random_range(0..5) {
            0 => charter(sailing, 3, &email),
            _ => order(sailing, random.random_range(1..4), &email),
        };
        if random.random_bool(0.3) {
            wish["code_promo"] = json!("HEMAT");
        }
        let Value::Object(booking) = world.books(wish).await.body["data"].clone() else { continue };
        let booking = Value::Object(booking);
        let Some(reference) = booking["payment"]["reference"].as_str() else { continue };
        let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
        if random.random_bool(0.15) {
            admin = world.signs_in(&admin.email, "admin").await;
            world.post(&format!("{path}/pay-cash"), json!({})).by(&admin).send().await.ok();
            paid.push(booking);
        } else if random.random_bool(0.1) {
            // Too much: somebody decides that it pays the booking.
            let total = booking["price"]["total"].as_i64().unwrap() + 500;
            let event = callback_body(reference, total, "settlement", &format!("t{n}"));
            world.post("/v1/payment/callback", event).send().await.ok();
            admin = world.signs_in(&admin.email, "admin").await;
            let open = world.get("/v1/payment/reviews").by(&admin).send().await.ok();
            let resolve =
                format!("/v1/payment/reviews/{}/resolve", open[0]["id"].as_str().unwrap());
            let body = json!({ "action": "apply", "note": "x" });
            world.post(&resolve, body).by(&admin).send().await.ok();
            let body = json!({ "reference": "BCA" });
            world.post(&format!("{path}/refund"), body).by(&admin).send().await.ok();
            paid.push(booking);
        } else if random.random_bool(0.85) {
            let total = booking["price"]["total"].as_i64().unwrap();
            let mut event = callback_body(reference, total, "settlement", &format!("t{n}"));
            event["payment_type"] = json!(methods[random.random_range(0..methods.len())]);
            world.post("/v1/payment/callback", event).send().await.ok();
            paid.push(booking);
        }
        if !paid.is_empty() && random.random_bool(0.3) {
            // Somebody cancels, or complains; most get their money back some day.
            let booking = paid.swap_remove(random.random_range(0..paid.len()));
            admin = world.signs_in(&admin.email, "admin").await;
            let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
            let cancel = world.post(&format!("{path}/cancel"), json!({ "reason": "x" })).by(&admin);
            cancel.send().await.ok();
            if random.random_bool(0.8) {
                let body = json!({ "reference": format!("BCA-{n}") });
                world.post(&format!("{path}/refund"), body).by(&admin).send().await.ok();
            }
        }
        dermaga::bookings::expire(&world.app).await.unwrap();
        dermaga::bookings::complete(&world.app).await.unwrap();
        // The last ones are not rolled up; reports include them nevertheless.
        if n < 110 && random.random_bool(0.5) {
            reports::roll_up(&world.app).await.unwrap();
        }
    }
    assert_invariants(&world).await;
    assert!(world.count("SELECT COUNT(*) FROM booking_moves").await > 0, "some are not folded");
    assert!(world.count("SELECT COUNT(*) FROM bookings WHERE status = 'refunded'").await > 5);
    assert!(world.count("SELECT COUNT(*) FROM ledger_lines WHERE kind = 'apply'").await > 2);
    assert!(world.count("SELECT COUNT(*) FROM payments WHERE method = 'cash'").await > 5);
    let admin = world.signs_in(&admin.email, "admin").await;
    let jakarta = FixedOffset::east_opt(7 * 3600).unwrap();
    let date = |text: &str| text.parse::<NaiveDate>().unwrap();
    let starts = ["2026-11-15", "2026-12-31", "2027-03-31", "2027-11-01"].map(date);
    assert_reports_match_bookings(&world, &admin, jakarta, &starts).await;
    assert_reports_match_ledger(&world, &admin).await;

    reports::roll_up(&world.app).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM booking_moves").await, 0);
    assert_reports_match_bookings(&world, &admin, jakarta, &starts[..2]).await;
    assert_invariants(&world).await;
    let all = world.count("SELECT COUNT(*) FROM bookings").await as u64;
    assert_eq!(reports::rebuild(&world.app).await.unwrap(), all);
    assert_reports_match_bookings(&world, &admin, jakarta, &starts[..2]).await;
    assert_invariants(&world).await;

    // In another zone days are others, and so are the figures.
    let world =
        world.restarts_with(|config| config.timezone = "Asia/Jayapura".parse().unwrap()).await;
    let admin = world.signs_in(&admin.email, "admin").await;
    assert_reports_match_bookings(
        &world,
        &admin,
        FixedOffset::east_opt(9 * 3600).unwrap(),
        &starts[..2],
    )
    .await;
    assert_invariants(&world).await;
}

/// Day by day what came in and went back, from the ledger alone.
async fn assert_reports_match_ledger(world: &World, admin: &Someone) {
    let lines: Vec<(String, i64, NaiveDate)> = world
        .db()
        .sql(
            "SELECT source, amount, posted_on FROM ledger_lines
             WHERE (source IN ('booking', 'payment', 'review') AND account
                 IN ('gateway_clearing', 'cash', 'unapplied_payments'))
               OR (source = 'refund' AND account = 'refund_payable')",
        )
        .all()
        .await
        .unwrap();
    let mut days = BTreeMap::<NaiveDate, (i64, i64)>::new();
    for (source, amount, day) in lines {
        let day = days.entry(day).or_default();
        match source.as_str() {
            "refund" => day.1 += amount,
            _ => day.0 += amount,
        }
    }
    assert!(days.len() > 50);
    for (day, (paid, refunded)) in days {
        let query = format!(
            "period_type=Custom&comparison_mode=Month-over-month&start_date={day}&end_date={day}"
        );
        let path = format!("{REPORTS}/overview?{query}");
        let report = world.get(&path).by(admin).send().await.ok();
        assert_eq!(report["gross_revenue"]["current"], paid, "{day}");
        assert_eq!(report["refunds"]["current"], refunded, "{day}");
    }
}

async fn a_bad_period_is_refused_field_by_field(world: World) {
    let admin = world.admin().await;
    let get = async |query: &str| {
        world.get(&format!("{REPORTS}/overview?{query}")).by(&admin).send().await
    };
    get("").await.has_field_errors(&[("comparison_mode", "required"), ("period_type", "required")]);
    let bad = get("period_type=Weekly&comparison_mode=x&start_date=2026-02-30&format=pdf").await;
    let fields: Vec<_> = bad.field_errors().into_iter().map(|fault| fault.0).collect();
    assert_eq!(fields, ["comparison_mode", "format", "period_type", "start_date"]);
    let custom = "period_type=Custom&comparison_mode=Year-over-Year";
    get(custom).await.has_field_errors(&[("end_date", "required"), ("start_date", "required")]);
    let days = |days: &str| format!("{custom}&{days}");
    let backwards = get(&days("start_date=2026-11-15&end_date=2026-11-14")).await;
    backwards.has_field_errors(&[("end_date", "min")]);
    let long = get(&days("start_date=2021-11-15&end_date=2026-11-15")).await;
    long.has_field_errors(&[("end_date", "max")]);
    let report = get(&days("start_date=2021-11-15&end_date=2026-11-14")).await.ok();
    assert_eq!(report["series"].as_array().unwrap().len(), 61, "months, empty ones too");
    assert_eq!(
        report["gross_revenue"],
        json!({
            "current": 0, "previous": 0, "change_percent": null,
        })
    );
    // Without dates it is about today.
    let today = get("period_type=Kuartalan&comparison_mode=Month-over-month&end_date=").await.ok();
    assert_eq!(today["period"], json!({ "start_date": "2026-10-01", "end_date": "2026-12-31" }));
    assert_eq!(today["as_of"], "2026-11-15T03:00:00Z");
    let partner = world.partner("made@bahari.id").await;
    let path = format!("{REPORTS}/overview?period_type=Bulanan&comparison_mode=Year-over-Year");
    world.get(&path).by(&partner).send().await.is(403, "forbidden");
}

async fn gross(world: &World, admin: &Someone, day: &str) -> i64 {
    let query = format!(
        "period_type=Custom&comparison_mode=Month-over-month&start_date={day}&end_date={day}"
    );
    let report = world.get(&format!("{REPORTS}/overview?{query}")).by(admin).send().await.ok();
    report["gross_revenue"]["current"].as_i64().unwrap()
}

async fn a_payment_shows_at_once_and_on_its_day(world: World) {
    let sailing = world.sailing().await;
    let hold = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
    // A minute before midnight in Jakarta, and a minute after.
    world.advances_clock(TimeDelta::hours(13) + TimeDelta::minutes(59));
    let admin = world.admin().await;
    world.paid_booking(&sailing, 1).await;
    assert_eq!(gross(&world, &admin, "2026-11-15").await, 150_000);
    world.advances_clock(TimeDelta::minutes(2));
    world.paid_booking(&sailing, 2).await;
    reports::roll_up(&world.app).await.unwrap();
    assert_eq!(gross(&world, &admin, "2026-11-15").await, 150_000);
    assert_eq!(gross(&world, &admin, "2026-11-16").await, 300_000);
    // Paid late, when the seats were let go, it counts when it was paid.
    dermaga::bookings::expire(&world.app).await.unwrap();
    world.pays(&hold).await;
    assert_eq!(gross(&world, &admin, "2026-11-16").await, 450_000);
    assert_invariants(&world).await;
    // If the seats are gone, it is no sale, but it came in and goes back.
    let late = world.books(order(&sailing, 1, "late@example.com")).await.ok();
    world.advances_clock(TimeDelta::hours(1));
    dermaga::bookings::expire(&world.app).await.unwrap();
    world.db().sql("UPDATE sailings SET seats_taken = capacity").run().await.unwrap();
    world.pays(&late).await;
    assert_eq!(world.looks_up(&late).await["status"], "refund_pending");
    let path = format!("/v1/booking/{}/refund", late["id"].as_str().unwrap());
    world.post(&path, json!({ "reference": "BCA" })).by(&admin).send().await.ok();
    let path = format!("{REPORTS}/overview?period_type=Bulanan&comparison_mode=Month-over-month");
    let report = world.get(&path).by(&admin).send().await.ok();
    assert_eq!(report["gross_revenue"]["current"], 750_000);
    assert_eq!(report["bookings"]["current"], 3);
    assert_eq!(report["refunds"]["current"], 150_000);
    assert_eq!(report["net_revenue"]["current"], 600_000);
}

async fn rolling_up_races_with_payments(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut bookings = Vec::new();
    for n in 0..30 {
        bookings.push(world.books(order(&sailing, 1, &format!("b{n}@example.com"))).await.ok());
    }
    let mut others = Vec::new();
    if world.db().engine() == "postgres" {
        others = vec![world.second_process().await, world.second_process().await];
    }
    let paying = join_all(bookings.iter().map(|booking| world.pays(booking)));
    let folding = async {
        for n in 0..20 {
            let at = others.get(n % 3).unwrap_or(&world);
            reports::roll_up(&at.app).await.unwrap();
        }
    };
    let reading = async {
        let mut seen = 0;
        for _ in 0..20 {
            let now = gross(&world, &admin, "2026-11-15").await;
            assert!(now >= seen && now % 150_000 == 0, "{seen} {now}");
            seen = now;
        }
    };
    tokio::join!(paying, folding, reading);
    assert_eq!(gross(&world, &admin, "2026-11-15").await, 30 * 150_000);
    assert_invariants(&world).await;
    reports::roll_up(&world.app).await.unwrap();
    assert_eq!(gross(&world, &admin, "2026-11-15").await, 30 * 150_000);
    assert_invariants(&world).await;
}

async fn rebuilding_races_with_payments(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let mut bookings = Vec::new();
    for n in 0..30 {
        bookings.push(world.books(order(&sailing, 1, &format!("b{n}@example.com"))).await.ok());
    }
    let paying = join_all(bookings.iter().map(|booking| world.pays(booking)));
    let folding = async {
        for _ in 0..10 {
            reports::roll_up(&world.app).await.unwrap();
        }
    };
    let rebuilding = async {
        for _ in 0..3 {
            reports::rebuild(&world.app).await.unwrap();
        }
    };
    tokio::join!(paying, folding, rebuilding);
    assert_eq!(gross(&world, &admin, "2026-11-15").await, 30 * 150_000);
    assert_invariants(&world).await;
}

async fn reports_are_downloaded_as_files(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world
        .db()
        .sql("UPDATE accounts SET name = '=HYPERLINK(\"x\"), Ltd' WHERE email = 'made@bahari.id'")
        .run()
        .await
        .unwrap();
    world.paid_booking(&sailing, 2).await;
    let query = "period_type=Bulanan&comparison_mode=Month-over-month";
    let csv = world.get(&format!("{REPORTS}/overview?{query}&format=csv")).by(&admin);
    let (status, headers, body) = csv.bytes().await;
    assert_eq!(status, 200);
    assert_eq!(headers["content-type"], "text/csv; charset=utf-8");
    let name = "attachment; filename=\"dermaga-overview-2026-11-01-2026-11-30.csv\"";
    assert_eq!(headers["content-disposition"], name);
    let text = String::from_utf8(body).unwrap();
    let header = "\"figure\",\"current\",\"previous\",\"change_percent\"\r\n";
    assert!(text.starts_with(header), "{text}");
    assert!(text.contains("\r\n\"gross_revenue\",\"300000\",\"0\",\"\"\r\n"), "{text}");
    assert!(text.contains("\r\n\"2026-11-15\",\"300000\",\"1\"\r\n"), "{text}");
    assert_eq!(text.lines().count(), 20 + 1 + 31);

    let path = format!("{REPORTS}/revenue-breakdown/partner?{query}");
    let csv = world.get(&path).by(&admin).header("accept", "text/csv");
    let text = String::from_utf8(csv.bytes().await.2).unwrap();
    let partner = r#","'=HYPERLINK(""x""), Ltd","300000","0","","1","0","100""#;
    assert!(text.contains(partner), "{text}");
    assert!(text.contains(r#""total","","300000","0","","","","""#), "{text}");
    assert!(text.ends_with("\"as_of\",\"2026-11-15T03:00:00+00:00\"\r\n"), "{text}");

    for report in ["overview", "revenue-breakdown/payment", "revenue-breakdown/type"] {
        let xlsx = world.get(&format!("{REPORTS}/{report}?{query}&format=xlsx")).by(&admin);
        let (status, headers, body) = xlsx.bytes().await;
        assert_eq!(status, 200);
        let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
        assert_eq!(headers["content-type"], kind);
        assert!(body.starts_with(b"PK"), "a zip archive");
    }
    // The query takes precedence over the header.
    let both = world.get(&format!("{path}&format=json")).by(&admin).header("accept", "text/csv");
    both.send().await.ok();
    let browser = world.get(&path).by(&admin).header("accept", "text/html,*/*;q=0.8");
    browser.send().await.ok();
}

async fn the_partner_report_comes_in_pages(world: World) {
    let admin = world.admin().await;
    for n in 0..3 {
        let partner = world.active_partner(&format!("p{n}@bahari.id")).await;
        let (boat, route) = world.creates_published_route(&partner, &format!("GT. {n}")).await;
        let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
        world.paid_booking(&Sailing { partner, boat, id }, n + 1).await;
        if n == 1 {
            reports::roll_up(&world.app).await.unwrap();
        }
    }
    let query = "period_type=Tahunan&comparison_mode=Year-over-Year";
    let path = format!("{REPORTS}/revenue-breakdown/partner?{query}&page_size=2");
    let first = world.get(&path).by(&admin).send().await;
    assert_eq!(
        first.body["pagination"],
        json!({
            "page": 1, "page_size": 2, "total_items": 3, "total_pages": 2,
        })
    );
    let first = first.ok();
    assert_eq!(first["items"][0]["revenue"]["current"], 450_000);
    assert_eq!(first["items"][0]["share_percent"], 50);
    assert_eq!(first["items"][1]["share_percent"], 33.33);
    assert_eq!(first["total"]["current"], 900_000);
    let second = world.get(&format!("{path}&page=2")).by(&admin).send().await.ok();
    assert_eq!(second["items"].as_array().unwrap().len(), 1);
    assert_eq!(second["items"][0]["share_percent"], 16.67);
    let last = world.get(&format!("{path}&page=3")).by(&admin).send().await.ok();
    assert_eq!(last["items"], json!([]));
}

async fn a_dashboard_shows_own_data(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    let other = world.active_partner("ketut@laut.id").await;
    let (boat, route) = world.creates_published_route(&other, "GT. 2").await;
    let id = world.sailings(&other, &route).await[0]["id"].as_str().unwrap().to_owned();
    let theirs = Sailing { partner: other.clone(), boat, id };
    world.paid_booking(&sailing, 2).await;
    reports::roll_up(&world.app).await.unwrap();
    world.paid_booking(&theirs, 3).await;
    let refunded = world.paid_booking(&theirs, 1).await;
    let path = format!("/v1/booking/{}/cancel", refunded["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.submitted_partner("new@bahari.id").await;

    let all = world.get("/v1/dashboard").by(&admin).send().await.ok();
    assert_eq!(all["as_of"], "2026-11-15T03:00:00Z");
    assert_eq!(
        all["today"],
        json!({
            "bookings": 3, "passengers": 6, "gross_revenue": 900_000, "departures": 0,
        })
    );
    assert_eq!(
        all["month"]["gross_revenue"],
        json!({
            "current": 900_000, "previous": 0, "change_percent": null,
        })
    );
    assert_eq!(all["month"]["departures"]["current"], 6);
    assert_eq!(
        all["pending"],
        json!({
            "partner_reviews": 1, "bank_approvals": 0, "settlements": 0, "refunds": 1, "refunds_amount": 150_000, "payment_reviews": 0,
        })
    );
    let series = all["revenue_series"].as_array().unwrap();
    assert_eq!(series.len(), 30);
    let today = json!({ "bucket": "2026-11-15", "gross_revenue": 900_000, "bookings": 3 });
    assert_eq!(series[29], today);
    assert_eq!(all["top_routes"][0]["gross_revenue"], 600_000);
    assert_eq!(all["top_routes"][0]["from"], "Sanur");
    assert_eq!(all["top_partners"][0]["gross_revenue"], 600_000);
    assert_eq!(all["top_partners"].as_array().unwrap().len(), 2);
    assert_eq!(all["upcoming_departures"].as_array().unwrap().len(), 6);

    let own = world.get("/v1/dashboard").by(&sailing.partner).send().await.ok();
    assert_eq!(own["today"]["gross_revenue"], 300_000);
    assert_eq!(own["month"]["departures"]["current"], 3);
    assert_eq!(
        own["pending"],
        json!({
            "partner_reviews": null, "bank_approvals": null, "settlements": 0, "refunds": 0, "refunds_amount": 0, "payment_reviews": null,
        })
    );
    assert_eq!(own["top_partners"], json!(null));
    assert_eq!(own["top_routes"].as_array().unwrap().len(), 1);
    assert_eq!(own["revenue_series"][29]["gross_revenue"], 300_000);
    assert_eq!(own["upcoming_departures"].as_array().unwrap().len(), 3);
    let mitra = world.partner_id(&sailing.partner).await;
    let departures = own["upcoming_departures"].as_array().unwrap();
    assert!(departures.iter().all(|sailing| sailing["mitra"]["id"] == json!(mitra)));
}

async fn a_dashboard_without_the_rule_has_no_money(world: World) {
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let clerk = world.staff("kasir@dermaga.test", &[Rule::FleetRead]).await;
    let seen = world.get("/v1/dashboard").by(&clerk).send().await.ok();
    assert_eq!(seen["today"]["bookings"], 1);
    for path in [
        "/today/gross_revenue",
        "/month/gross_revenue",
        "/revenue_series",
        "/top_routes",
        "/top_partners",
    ] {
        assert_eq!(seen.pointer(path), Some(&json!(null)), "{path}");
    }
    assert!(!seen.to_string().contains("300000"));
    // Nor does somebody who only acts for the partner.
    let rules = [Rule::PartnersImpersonate, Rule::PartnersRead];
    let helper = world.staff("bantu@dermaga.test", &rules).await;
    let desk = world.partner_path(&sailing.partner).await;
    let acting = world.impersonates(&desk, &helper).await;
    let seen = world.get("/v1/dashboard").by(&acting).send().await.ok();
    assert!(!seen.to_string().contains("300000"));
    let reader = world.staff("lapor@dermaga.test", &[Rule::ReportsRead]).await;
    let seen = world.get("/v1/dashboard").by(&reader).send().await.ok();
    assert_eq!(seen["month"]["gross_revenue"]["current"], 300_000);
}

/// Figures of another time zone or none: reports answer 503.
async fn reports_of_another_time_zone_are_unavailable(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 1).await;
    world.db().sql("UPDATE report_zones SET zone = 'Asia/Jayapura'").run().await.unwrap();
    let query = "period_type=Bulanan&comparison_mode=Month-over-month";
    for path in [&format!("{REPORTS}/overview?{query}"), "/v1/dashboard"] {
        world.get(path).by(&admin).send().await.is(503, "unavailable");
    }
    assert!(reports::roll_up(&world.app).await.is_err());
    let (a, b) = tokio::join!(reports::ensure(&world.app), reports::ensure(&world.app));
    a.unwrap();
    b.unwrap();
    assert_eq!(gross(&world, &admin, "2026-11-15").await, 150_000);
    assert_invariants(&world).await;
}

async fn the_summary_of_a_partner(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    reports::roll_up(&world.app).await.unwrap();
    world.completes_paid_bookings().await;
    let cancelled = world.paid_booking(&sailing, 1).await;
    let path = format!("/v1/booking/{}/cancel", cancelled["id"].as_str().unwrap());
    world.post(&path, json!({ "reason": "x" })).by(&admin).send().await.ok();
    world.paid_booking(&sailing, 3).await;
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    let path = "/v1/dashboard/mitra-statistic";
    let own = world.get(path).by(&sailing.partner).send().await.ok();
    assert_eq!((&own["speedboats"], &own["routes"]), (&json!(1), &json!(1)));
    assert_eq!(
        own["bookings"],
        json!({
            "pending_payment": 1, "paid": 1, "completed": 1, "expired": 0, "cancelled": 0,
            "refund_pending": 1, "refunded": 0,
        })
    );
    assert_eq!(own["passengers"], 5);
    assert_eq!(own["gross"], 750_000);
    assert_eq!(own["net"], 270_000, "of what has sailed");
    assert_eq!(own["unsettled"], 270_000);
    assert_eq!(own["occupancy_percent"], 0, "nothing has departed yet");
    assert_eq!(own["series"][29]["bookings"], 3, "paid today, whatever became of it");
    // The same in the overview, folded or not.
    reports::roll_up(&world.app).await.unwrap();
    assert_eq!(world.get(path).by(&sailing.partner).send().await.ok(), own);
    let desk = world.partner_path(&sailing.partner).await;
    let overview = world.get(&format!("{desk}/overview")).by(&admin).send().await.ok();
    assert_eq!(
        overview["bookings"],
        json!({
            "total": 4, "paid": 1, "completed": 1, "cancelled": 1, "passengers": 5,
        })
    );
    assert_eq!(overview["finance"]["gross"], 750_000);

    let other = world.active_partner("ketut@laut.id").await;
    let mine = world.partner_id(&sailing.partner).await;
    let nothing = world.get(&format!("{path}?mitra_id={mine}")).by(&other).send().await.ok();
    assert_eq!(nothing["gross"], 0, "whatever it asks for, it is about itself");
    let asked = world.get(&format!("{path}?mitra_id={mine}")).by(&admin).send().await.ok();
    assert_eq!(asked["gross"], 750_000);
    let all = world.get(path).by(&admin).send().await.ok();
    assert_eq!(all["gross"], 750_000);
    let unknown = dermaga::kernel::ids::fresh();
    let bad = world.get(&format!("{path}?mitra_id={unknown}")).by(&admin).send().await;
    bad.has_field_errors(&[("mitra_id", "unknown")]);
    // Afterwards, of 30 seats six were taken on the first of three days.
    world.advances_clock(TimeDelta::days(4));
    let admin = world.signs_in(&admin.email, "admin").await;
    let later = world.get(&format!("{path}?mitra_id={mine}")).by(&admin).send().await.ok();
    assert_eq!(later["occupancy_percent"], 6.67);
}

async fn figures_take_few_statements(world: World) {
    let admin = world.admin().await;
    let sailing = world.sailing().await;
    world.paid_booking(&sailing, 2).await;
    let query = "period_type=Tahunan&comparison_mode=Year-over-Year";
    // One more to know the caller, and one that the figures are made.
    for (path, at_most) in [
        ("/v1/dashboard".to_owned(), 8),
        ("/v1/dashboard/mitra-statistic".to_owned(), 7),
        (format!("{REPORTS}/overview?{query}"), 6),
        (format!("{REPORTS}/revenue-breakdown/partner?{query}"), 4),
    ] {
        let before = world.db().statements();
        world.get(&path).by(&admin).send().await.ok();
        let took = world.db().statements() - before;
        assert!(took <= at_most, "{path} took {took}");
    }
}
