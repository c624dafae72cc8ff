//! Handlers of reports.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use chrono::{DateTime, Utc};

use super::{
    download::{self, Accepts, Cell, Report, Sheet},
    model::{
        Breakdown, Figure, Format, Overview, PagedReportQuery, Point, ReportQuery,
        ResellerBreakdown, ResellerSlice, Slice, Sums,
    },
    rules::{self, Percent, PeriodType, Window},
    series::series,
    store::{self, By, Daily, Part, ResellerSales},
};
use crate::reports::are_made;
use crate::{
    app::App,
    kernel::{
        caller::Caller,
        db::Total,
        error::Result,
        http::{Paged, Pages, Query, Reply},
        lang::{Lang, Text, text},
    },
    ledger::{self, Account, LedgerSums},
};

/// The requested window and the compared one.
fn windows(app: &App, query: &ReportQuery) -> (Window, Window) {
    let start = query.start_date.unwrap_or_else(|| app.today());
    let end = query.end_date.filter(|_| query.period_type == PeriodType::Custom);
    let current = Window::of(query.period_type, start, end);
    (current, current.previous(query.comparison_mode))
}

fn file_name(report: &str, window: Window) -> String {
    format!("dermaga-{report}-{}-{}", window.start_date, window.end_date)
}

fn span(window: Window) -> Cell {
    Cell::text(format!("{} – {}", window.start_date, window.end_date))
}

fn all(daily: &Daily) -> Sums {
    let mut sums = Sums::default();
    for day in daily.values() {
        sums += *day;
    }
    sums
}

pub async fn finance_overview(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<ReportQuery>,
) -> Result<Report<Reply<Overview>>> {
    let (period, previous) = windows(&app, &query);
    let (zone, as_of) = (app.config.timezone, app.clock.now());
    let db = &caller.on_replica(&app.db);
    let (daily, before, books, books_before, ()) = tokio::try_join!(
        store::sold(db, period, zone),
        store::sold(db, previous, zone),
        ledger::sums(db, period.start_date, period.end_date),
        ledger::sums(db, previous.start_date, previous.end_date),
        are_made(&app, db),
    )?;
    let (now, then) = (all(&daily), all(&before));
    let figure = |of: fn(&Sums) -> i64| Figure::new(of(&now), of(&then));
    let booked = |of: fn(&LedgerSums) -> i64| Figure::new(of(&books), of(&books_before));
    let overview = Overview {
        as_of,
        period,
        previous,
        gross_revenue: figure(|sums| sums.gross),
        discount: figure(|sums| sums.discount),
        tax: figure(|sums| sums.tax),
        refunds: figure(|sums| sums.refunds),
        refund_tax: figure(|sums| sums.refund_tax),
        net_revenue: figure(|sums| sums.gross - sums.refunds - (sums.tax - sums.refund_tax)),
        commission: figure(|sums| sums.commission),
        partner_payable: figure(|sums| sums.partner_net),
        commission_earned: booked(rules::commission_earned),
        tax_due: booked(|books| books.tax_due().0),
        promotion_cost: booked(|books| books.debited(Account::PromotionExpense).0),
        reseller_margin: booked(|books| books.debited(Account::ResellerMargin).0),
        gateway_fees: booked(|books| books.debited(Account::GatewayFees).0),
        platform_income: booked(rules::platform_income),
        bookings: figure(|sums| sums.bookings),
        passengers: figure(|sums| sums.passengers),
        average_booking: figure(|sums| rules::average(sums.gross, sums.bookings)),
        series: series(&daily, period),
    };
    Ok(match accepts.or(query.format) {
        Format::Json => Report::Json(Reply::data(overview)),
        format => {
            let sheets = overview_sheets(&overview);
            download::file(file_name("overview", period), format, sheets).await?
        }
    })
}

fn overview_sheets(overview: &Overview) -> Vec<Sheet> {
    let figures = [
        ("gross_revenue", overview.gross_revenue),
        ("discount", overview.discount),
        ("tax", overview.tax),
        ("refunds", overview.refunds),
        ("refund_tax", overview.refund_tax),
        ("net_revenue", overview.net_revenue),
        ("commission", overview.commission),
        ("partner_payable", overview.partner_payable),
        ("commission_earned", overview.commission_earned),
        ("tax_due", overview.tax_due),
        ("promotion_cost", overview.promotion_cost),
        ("reseller_margin", overview.reseller_margin),
        ("gateway_fees", overview.gateway_fees),
        ("platform_income", overview.platform_income),
        ("bookings", overview.bookings),
        ("passengers", overview.passengers),
        ("average_booking", overview.average_booking),
    ];
    let as_of = vec![Cell::text("as_of"), Cell::text(overview.as_of.to_rfc3339())];
    let period = vec![Cell::text("period"), span(overview.period), span(overview.previous)];
    let rows = figures.into_iter().map(|(name, figure)| {
        vec![
            Cell::text(name),
            Cell::Number(figure.current),
            Cell::Number(figure.previous),
            Cell::Percent(figure.change_percent),
        ]
    });
    let points = overview.series.iter().map(|Point { bucket, gross_revenue, bookings }| {
        vec![Cell::text(bucket), Cell::Number(*gross_revenue), Cell::Number(*bookings)]
    });
    vec![
        Sheet {
            name: "Overview",
            header: &["figure", "current", "previous", "change_percent"],
            rows: [as_of, period].into_iter().chain(rows).collect(),
        },
        Sheet {
            name: "Series",
            header: &["bucket", "gross_revenue", "bookings"],
            rows: points.collect(),
        },
    ]
}

pub async fn revenue_by_payment_method(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<ReportQuery>,
) -> Result<Report<Reply<Breakdown>>> {
    let format = accepts.or(query.format);
    revenue_by(&app, &caller, By::Method, query, "revenue-by-payment-method", format).await
}

pub async fn revenue_by_type(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<ReportQuery>,
) -> Result<Report<Reply<Breakdown>>> {
    let format = accepts.or(query.format);
    revenue_by(&app, &caller, By::Type, query, "revenue-by-type", format).await
}

async fn revenue_by(
    app: &App,
    caller: &Caller,
    by: By,
    query: ReportQuery,
    name: &str,
    format: Format,
) -> Result<Report<Reply<Breakdown>>> {
    let (period, previous) = windows(app, &query);
    let (zone, as_of) = (app.config.timezone, app.clock.now());
    let db = &caller.on_replica(&app.db);
    let (now, then, ()) = tokio::try_join!(
        store::parts(db, by, period, zone),
        store::parts(db, by, previous, zone),
        are_made(app, db),
    )?;
    let breakdown =
        breakdown(as_of, period, previous, now, then, |key| label(key, caller.context.lang));
    Ok(match format {
        Format::Json => Report::Json(Reply::data(breakdown)),
        format => file(name, format, &breakdown).await?,
    })
}

/// JSON is paged; files contain all partners.
pub async fn revenue_by_partner(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(PagedReportQuery { report, paging }): Query<PagedReportQuery>,
) -> Result<Report<Paged<Breakdown>>> {
    let (period, previous) = windows(&app, &report);
    let (zone, as_of) = (app.config.timezone, app.clock.now());
    let db = &caller.on_replica(&app.db);
    let (now, then, ()) = tokio::try_join!(
        store::by_partner(db, period, zone, i64::MAX),
        store::by_partner(db, previous, zone, i64::MAX),
        are_made(&app, db),
    )?;
    let mut names = HashMap::new();
    let mut parts = |sales: Vec<store::PartnerSales>| {
        let part = |sale: store::PartnerSales| {
            let key = sale.id.to_string();
            names.insert(key.clone(), sale.name);
            Part { key, gross: sale.gross, bookings: sale.bookings }
        };
        sales.into_iter().map(part).collect::<Vec<_>>()
    };
    let (now, then) = (parts(now), parts(then));
    let name = |key: &str| names.get(key).cloned().unwrap_or_default();
    let mut breakdown = breakdown(as_of, period, previous, now, then, name);
    Ok(match accepts.or(report.format) {
        Format::Json => {
            let count = breakdown.items.len() as i64;
            breakdown.items = page(breakdown.items, &paging);
            Report::Json(paging.page((Vec::<()>::new(), Total::exactly(count))).map(|_| breakdown))
        }
        format => file("revenue-by-partner", format, &breakdown).await?,
    })
}

/// JSON is paged; files contain all resellers.
pub async fn revenue_by_reseller(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(PagedReportQuery { report, paging }): Query<PagedReportQuery>,
) -> Result<Report<Paged<ResellerBreakdown>>> {
    let (period, previous) = windows(&app, &report);
    let (zone, as_of) = (app.config.timezone, app.clock.now());
    let db = &caller.on_replica(&app.db);
    let (now, then, ()) = tokio::try_join!(
        store::by_reseller(db, period, zone),
        store::by_reseller(db, previous, zone),
        are_made(&app, db),
    )?;
    let mut breakdown = by_reseller(as_of, (period, now), (previous, then));
    Ok(match accepts.or(report.format) {
        Format::Json => {
            let count = breakdown.items.len() as i64;
            breakdown.items = page(breakdown.items, &paging);
            Report::Json(paging.page((Vec::<()>::new(), Total::exactly(count))).map(|_| breakdown))
        }
        format => reseller_file(format, &breakdown).await?,
    })
}

fn by_reseller(
    as_of: DateTime<Utc>,
    (period, now): (Window, Vec<ResellerSales>),
    (previous, then): (Window, Vec<ResellerSales>),
) -> ResellerBreakdown {
    let mut names = HashMap::new();
    let mut sums = BTreeMap::<String, [Sums; 2]>::new();
    for (at, sales) in [now, then].into_iter().enumerate() {
        for sale in sales {
            let key = sale.id.to_string();
            sums.entry(key.clone()).or_default()[at] = sale.sums();
            names.insert(key, sale.name);
        }
    }
    let parts = |at: usize| {
        let part = |(key, pair): (&String, &[Sums; 2])| Part {
            key: key.clone(),
            gross: pair[at].gross,
            bookings: pair[at].bookings,
        };
        sums.iter().map(part).collect()
    };
    let name = |key: &str| names.get(key).cloned().unwrap_or_default();
    let Breakdown { total, items, .. } =
        breakdown(as_of, period, previous, parts(0), parts(1), name);
    let with_more = |slice: Slice| {
        let [now, then] = sums.get(&slice.key).copied().unwrap_or_default();
        ResellerSlice {
            slice,
            passengers: Figure::new(now.passengers, then.passengers),
            margin: Figure::new(now.margin, then.margin),
            refunds: Figure::new(now.refunds, then.refunds),
        }
    };
    let items = items.into_iter().map(with_more).collect();
    ResellerBreakdown { as_of, period, previous, total, items }
}

async fn reseller_file<R>(format: Format, breakdown: &ResellerBreakdown) -> Result<Report<R>> {
    let row = |item: &ResellerSlice| {
        let slice = &item.slice;
        let figures = [slice.revenue, slice.bookings, item.passengers, item.margin, item.refunds];
        let figures = figures.into_iter().flat_map(|figure| [figure.current, figure.previous]);
        let names = [Cell::text(&slice.key), Cell::text(&slice.label)];
        let share = Cell::Percent(Some(slice.share_percent));
        names.into_iter().chain(figures.map(Cell::Number)).chain([share]).collect()
    };
    let total = &breakdown.total;
    let total = vec![
        Cell::text("total"),
        Cell::text(""),
        Cell::Number(total.current),
        Cell::Number(total.previous),
    ];
    let as_of = vec![Cell::text("as_of"), Cell::text(breakdown.as_of.to_rfc3339())];
    let sheet = Sheet {
        name: "Revenue",
        header: &[
            "key",
            "label",
            "revenue",
            "previous_revenue",
            "bookings",
            "previous_bookings",
            "passengers",
            "previous_passengers",
            "margin",
            "previous_margin",
            "refunds",
            "previous_refunds",
            "share_percent",
        ],
        rows: breakdown.items.iter().map(row).chain([total, as_of]).collect(),
    };
    let name = file_name("revenue-by-reseller", breakdown.period);
    download::file(name, format, vec![sheet]).await
}

fn page<T>(items: Vec<T>, paging: &Pages) -> Vec<T> {
    let start = usize::try_from(paging.offset()).unwrap_or(usize::MAX);
    let limit = usize::try_from(paging.limit()).unwrap_or(0);
    items.into_iter().skip(start).take(limit).collect()
}

/// Combines both windows, sorted by the current revenue.
fn breakdown(
    as_of: DateTime<Utc>,
    period: Window,
    previous: Window,
    now: Vec<Part>,
    then: Vec<Part>,
    label: impl Fn(&str) -> String,
) -> Breakdown {
    let mut pairs = BTreeMap::<String, [(i64, i64); 2]>::new();
    for (at, parts) in [now, then].into_iter().enumerate() {
        for part in parts {
            pairs.entry(part.key).or_default()[at] = (part.gross, part.bookings);
        }
    }
    let total = |at: usize| pairs.values().map(|pair| pair[at].0).sum::<i64>();
    let (whole, before) = (total(0), total(1));
    let mut items: Vec<_> = pairs
        .into_iter()
        .map(|(key, [now, then])| Slice {
            label: label(&key),
            key,
            revenue: Figure::new(now.0, then.0),
            bookings: Figure::new(now.1, then.1),
            share_percent: Percent::share(now.0, whole),
        })
        .collect();
    // A stable sort keeps equal items in the order of their keys.
    items.sort_by_key(|item| std::cmp::Reverse((item.revenue.current, item.revenue.previous)));
    Breakdown { as_of, period, previous, total: Figure::new(whole, before), items }
}

async fn file<R>(name: &str, format: Format, breakdown: &Breakdown) -> Result<Report<R>> {
    let row = |key: &str, label: &str, revenue: Figure, bookings: Option<Figure>, share| {
        let count = |count: Option<i64>| count.map_or(Cell::Percent(None), Cell::Number);
        vec![
            Cell::text(key),
            Cell::text(label),
            Cell::Number(revenue.current),
            Cell::Number(revenue.previous),
            Cell::Percent(revenue.change_percent),
            count(bookings.map(|bookings| bookings.current)),
            count(bookings.map(|bookings| bookings.previous)),
            Cell::Percent(share),
        ]
    };
    let items = breakdown.items.iter().map(|item| {
        row(&item.key, &item.label, item.revenue, Some(item.bookings), Some(item.share_percent))
    });
    let total = row("total", "", breakdown.total, None, None);
    let as_of = vec![Cell::text("as_of"), Cell::text(breakdown.as_of.to_rfc3339())];
    let sheet = Sheet {
        name: "Revenue",
        header: &[
            "key",
            "label",
            "revenue",
            "previous_revenue",
            "change_percent",
            "bookings",
            "previous_bookings",
            "share_percent",
        ],
        rows: items.chain([total, as_of]).collect(),
    };
    download::file(file_name(name, breakdown.period), format, vec![sheet]).await
}

/// Label of a payment method or booking type.
fn label(key: &str, lang: Lang) -> String {
    const LABELS: &[(&str, Text)] = &[
        ("qris", text("QRIS", "QRIS")),
        ("bank_transfer", text("Bank transfer", "Transfer bank")),
        ("credit_card", text("Credit card", "Kartu kredit")),
        ("ewallet", text("E-wallet", "Dompet digital")),
        ("retail", text("Convenience store", "Gerai ritel")),
        ("cash", text("Cash", "Tunai")),
        ("account", text("On account", "Rekening agen")),
        ("other", text("Other", "Lainnya")),
        ("speedboat", text("Seats", "Kursi")),
        ("charter", text("Charter", "Sewa kapal")),
    ];
    let known = LABELS.iter().find(|(word, _)| *word == key);
    known.map_or_else(|| key.to_owned(), |(_, text)| text.say(lang).to_owned())
}
