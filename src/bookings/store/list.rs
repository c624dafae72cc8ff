//! The list of bookings.
//!
//! One filter drives the query: the one that leaves the fewest bookings, by the order of [`Driver`].
//! An index has these bookings with all columns of the other filters, which are only checked. Their
//! conditions are written so that no index supports them. Where that index has not the order of the
//! list, its bookings are read first and then sorted. Thus the plan depends neither on the engine nor
//! on its statistics.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::words::Words;
use crate::{
    bookings::{
        forms::BookingsQuery,
        model::{BookingRow, BookingStatus, Channel},
    },
    kernel::{
        clock::midnight,
        db::{DEEP, Db, EXACT, List, Sort, ToValue, Total},
        error::Result,
        http::{Page, export},
        ids::Uuid,
    },
    sailings::BookingType,
};

/// The filterable columns. All of them are in the indexes that are sorted for the list, except those
/// that find few bookings. The surcharge is in that of a partner.
const COLUMNS: &str = "SELECT k.id, k.type, k.status, k.channel, k.qty, k.partner_id, k.speedboat_id,
   k.departure_at, k.total, k.created_at, k.sailing_id, k.contact_email, k.code, k.code_promo, k.note,
   k.refund_due, k.reseller_id, k.surcharge
 FROM bookings k";
/// The order by total of those who may not know what resellers owe: its neighbours would tell.
const RETAIL_TOTAL: &str = "k.total + k.surcharge";
/// A count checks at most this many bookings.
const EXAMINED: i64 = 25_000;
/// If their texts are searched. Each text is read from another table.
const SEARCHED: i64 = 1_000;
/// Words that more bookings contain do not drive the query for one of the first pages.
const RARE: i64 = 2_500;
/// A sailing with so many passengers is rare enough to have an index.
const MANY: i32 = 5;
/// More bookings than this are not sorted at once: in the order of the list, the first ones are usually
/// found soon.
const SORTED: i64 = 15_000;
/// If they are not found in so many, the bookings of the driver are sorted after all.
const WALKED: i64 = 20_000;
/// Unless there are more of them than this.
const MOST_SORTED: i64 = 300_000;
/// The condition of the partial index by status and departure, which is used only by queries that have
/// the same condition.
const IS_NOT_PENDING: &str = "k.status <> 'pending_payment'";
/// Pages behind this row are hardly ever found in the first [`WALKED`] bookings.
const FIRST_PAGES: i64 = WALKED / 10;

pub async fn list(
    db: &Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    zone: Tz,
) -> Result<Page<BookingRow>> {
    let paging = &query.paging;
    let (sort, limit, offset) = (sort(query), paging.limit(), paging.offset());
    let Found { mut list, instead } = found(db, owner, query, zone).await?;
    if let Some(instead) = instead {
        // All pages have the same total: that of the query that reads fewer bookings that do not match.
        let counted = match list.has_more_than(EXAMINED).await? {
            true => &instead,
            false => &list,
        };
        let total = counted.count(sort, "k.id").await?;
        list = list.known(Some(total));
        if offset < FIRST_PAGES
            && let Some(rows) = list.page_in_first(WALKED, sort, "k.id", limit, offset).await?
        {
            return Ok(paging.page(rows));
        }
        // Deeper pages begin at a remembered row of the order.
        if offset < DEEP && !instead.has_more_than(MOST_SORTED).await? {
            list = instead.known(Some(total));
        }
    }
    Ok(paging.page(list.page(sort, "k.id", limit, offset).await?))
}

/// The ids of all bookings of the list, in its order.
pub async fn list_ids(
    db: &Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    zone: Tz,
) -> Result<Vec<Uuid>> {
    let Found { mut list, instead } = found(db, owner, query, zone).await?;
    // A file has all of them, so the order of the list is no shortcut.
    if let Some(instead) = instead
        && !instead.has_more_than(MOST_SORTED).await?
    {
        list = instead;
    }
    Ok(list.ids(sort(query), "k.id", export::LIMIT).await?)
}

fn sort(query: &BookingsQuery) -> Sort {
    let chosen = query.sort_by.map(|by| match by.as_str() {
        "departure_at" => "k.departure_at",
        "total" if query.is_at_retail => RETAIL_TOTAL,
        "total" => "k.total",
        _ => "k.created_at",
    });
    query.paging.sort(chosen, "k.created_at")
}

/// What finds the bookings of a list, the rarest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Driver {
    Code,
    Sailing,
    Email,
    Search,
    Note,
    Reseller,
    /// Among the bookings of the boat's partner.
    Boat,
    Partner,
    Charter,
    /// A period with few departures.
    Departure,
    CodePromo,
    /// Few bookings are unpaid at a time.
    Unpaid,
    RareStatus,
    RefundDue,
    Channel,
    Qty,
    /// A status that many bookings have.
    Status,
    /// The order of the list.
    Sort,
}

/// Filters by text. An empty one is none.
struct Texts {
    code: Option<String>,
    code_promo: Option<String>,
    note: Option<String>,
}

impl Texts {
    fn of(query: &BookingsQuery) -> Self {
        let text = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Self {
            code: text(&query.code).map(|code| code.to_ascii_uppercase()),
            code_promo: text(&query.code_promo).map(|code| code.to_ascii_uppercase()),
            note: text(&query.note),
        }
    }
}

/// What was counted to choose the driver.
#[derive(Clone, Copy, Default)]
struct Counts {
    has_rare_words: bool,
    has_few_departures: bool,
}

impl Driver {
    fn of(query: &BookingsQuery, texts: &Texts, owner: Option<Uuid>, counts: Counts) -> Self {
        let rare = |status| !matches!(status, BookingStatus::Completed | BookingStatus::Paid);
        let choices = [
            (texts.code.is_some(), Self::Code),
            (query.route_time_id.is_some(), Self::Sailing),
            (query.email.is_some(), Self::Email),
            (counts.has_rare_words, Self::Search),
            (texts.note.is_some(), Self::Note),
            // No other index has the surcharge.
            (owner.is_some() && sort(query).column == RETAIL_TOTAL, Self::Partner),
            // No other index has the reseller.
            (query.reseller_id.is_some(), Self::Reseller),
            (query.item_id.is_some(), Self::Boat),
            (owner.is_some(), Self::Partner),
            (query.kind == Some(BookingType::Charter), Self::Charter),
            (counts.has_few_departures, Self::Departure),
            // No other index has the code.
            (texts.code_promo.is_some(), Self::CodePromo),
            (query.status == Some(BookingStatus::PendingPayment), Self::Unpaid),
            (query.status.is_some_and(rare), Self::RareStatus),
            (query.refund_due == Some(true), Self::RefundDue),
            (query.channel.is_some_and(|channel| channel != Channel::Web), Self::Channel),
            (query.qty.is_some_and(|qty| qty >= MANY), Self::Qty),
            // No index has the bookings of a status by their total.
            (query.status.is_some() && sort(query).column != "k.total", Self::Status),
        ];
        choices.into_iter().find(|(given, _)| *given).map_or(Self::Sort, |(_, driver)| driver)
    }

    /// Whether the index of the driver has its bookings in this order.
    fn has_order(self, sort: Sort) -> bool {
        match self {
            Self::Sort => true,
            Self::Status | Self::RareStatus => sort.column != "k.total",
            Self::Departure => sort.column == "k.departure_at",
            Self::Channel => sort.column != "k.departure_at",
            Self::CodePromo
            | Self::RefundDue
            | Self::Reseller
            | Self::Boat
            | Self::Partner
            | Self::Charter
            | Self::Unpaid
            | Self::Qty => sort.column == "k.created_at",
            Self::Code | Self::Sailing | Self::Email | Self::Search | Self::Note => false,
        }
    }

    /// Whether the bookings are read in the order in which they were made, until the page is full.
    fn walks_creation(self, sort: Sort) -> bool {
        self.has_order(sort) && sort.column == "k.created_at"
    }
}

/// `driving` uses an index, `checking` does not.
fn by<'a>(
    list: List<'a>,
    drives: bool,
    driving: &'static str,
    checking: &'static str,
    value: Option<impl ToValue>,
) -> List<'a> {
    if drives { list.filter(driving, value) } else { list.check(checking, value) }
}

/// How a list is read.
struct Found<'a> {
    list: List<'a>,
    /// What to read instead if `list` has to examine many bookings for its page.
    instead: Option<List<'a>>,
}

async fn found<'a>(
    db: &'a Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    zone: Tz,
) -> Result<Found<'a>> {
    let texts = Texts::of(query);
    let words = query.paging.search().map(Words::new);
    let (start, end) = period(query, zone);
    let frequency = match &words {
        Some(words) => words.frequency(db).await?,
        None => None,
    };
    let rare = if query.paging.offset() > 100 { EXACT } else { RARE };
    let counts = Counts {
        has_rare_words: frequency.is_some_and(|found| found <= rare),
        has_few_departures: has_few_departures(db, start, end, words.is_some()).await?,
    };
    let driver = Driver::of(query, &texts, owner, counts);
    let booked_since = match start {
        Some(start) if driver.walks_creation(sort(query)) => {
            Some(first_booking(db, start, end).await?)
        }
        _ => None,
    };
    let driven_by =
        |driver| narrowed(db, owner, query, (start, end), driver, frequency, booked_since);
    let list = driven_by(driver);
    // Words and a period drive if they were counted and are rare; and no other index has the codes of
    // promotions.
    if matches!(driver, Driver::Search | Driver::Departure | Driver::CodePromo) {
        return Ok(Found { list, instead: None });
    }
    // To read the texts of many bookings takes longer than to find the first ones.
    let may_sort = words.is_none();
    if driver.has_order(sort(query)) {
        // In the order of the total, bookings of other periods may come first; in that of creation, a few
        // of the period may have been made long before the others.
        let is_period = matches!(driver, Driver::Sort | Driver::Status | Driver::RareStatus)
            && start.or(end).is_some()
            && sort(query).column != "k.departure_at";
        let instead = (may_sort && is_period).then(|| driven_by(Driver::Departure));
        return Ok(Found { list, instead });
    }
    // No index has all bookings in the order of the retail price.
    let is_walked = sort(query).column != RETAIL_TOTAL && list.has_more_than(SORTED).await?;
    Ok(match is_walked {
        true => Found { list: driven_by(Driver::Sort), instead: may_sort.then_some(list) },
        false => Found { list, instead: None },
    })
}

/// The list with all filters. `frequency` is that of the words, if it was counted, and no booking of the
/// period was made before `booked_since`.
fn narrowed<'a>(
    db: &'a Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    (start, end): Period,
    driver: Driver,
    frequency: Option<i64>,
    booked_since: Option<DateTime<Utc>>,
) -> List<'a> {
    let words = query.paging.search().map(Words::new);
    let drives = |one| driver == one;
    let sort = sort(query);
    let list = db.list(booking!("")).found_in("SELECT k.id FROM bookings k");
    let list = list
        .examining(COLUMNS, if words.is_some() { SEARCHED } else { EXAMINED })
        .sorted_apart(!driver.has_order(sort))
        .few(driver == Driver::Search);
    let list = match driver {
        Driver::Charter => list.only("k.type = 'charter'"),
        // As in the index of this order.
        Driver::Channel if sort.column == "k.total" => {
            list.only("k.channel <> 'web' AND k.total >= 0")
        }
        Driver::Channel => list.only("k.channel <> 'web'"),
        Driver::Qty => list.only("k.qty >= 5"),
        Driver::Note => list.only("k.note <> ''"),
        _ => list,
    };
    let list = match driver {
        Driver::RefundDue => list.only("k.refund_due"),
        _ => list.check("COALESCE(k.refund_due, FALSE) = ?", query.refund_due),
    };
    let Texts { code, code_promo, note } = Texts::of(query);
    let sorted_by_departure = sort.column == "k.departure_at";
    let has_departure_index =
        query.status.is_some_and(|status| status != BookingStatus::PendingPayment);
    let by_status = match driver {
        Driver::Unpaid | Driver::RareStatus | Driver::Status => true,
        Driver::Departure => sorted_by_departure && has_departure_index,
        _ => false,
    };
    let list = match by_status && sorted_by_departure && has_departure_index {
        true => list.only(IS_NOT_PENDING),
        false => list,
    };
    let by_departure = match driver {
        Driver::Departure => true,
        Driver::RareStatus | Driver::Status | Driver::Sort => sorted_by_departure,
        _ => false,
    };
    let by_creation = driver.walks_creation(sort);
    let list = list.filter("k.created_at >= ?", booked_since.filter(|_| by_creation));
    // A booking is made before its departure.
    let list = list.filter("k.created_at < ?", end.filter(|_| by_creation));
    let list = by(list, drives(Driver::Code), "k.code = ?", "k.code || '' = ?", code);
    let list = by(
        list,
        drives(Driver::Sailing),
        "k.sailing_id = ?",
        "COALESCE(k.sailing_id, k.id) = ?",
        query.route_time_id,
    );
    let list = by(
        list,
        drives(Driver::Email),
        "k.contact_email = ?",
        "k.contact_email || '' = ?",
        query.email.clone(),
    );
    let list = by(
        list,
        drives(Driver::CodePromo),
        "k.code_promo = ?",
        "COALESCE(k.code_promo, '') = ?",
        code_promo,
    );
    let list = by(
        list,
        drives(Driver::Note),
        "substr(k.note, 1, 100) = substr(?, 1, 100) AND k.note = ?",
        "k.note = ?",
        note,
    );
    let list = by(
        list,
        drives(Driver::Reseller),
        "k.reseller_id = ?",
        "COALESCE(k.reseller_id, k.id) = ?",
        query.reseller_id,
    );
    let list = list.check("k.channel <> ?", query.is_of_guest.then_some(Channel::Reseller));
    let list = list.filter(
        "k.partner_id = (SELECT b.partner_id FROM speedboats b WHERE b.id = ?)",
        query.item_id.filter(|_| drives(Driver::Boat)),
    );
    let list = list.check("COALESCE(k.speedboat_id, k.id) = ?", query.item_id);
    let list = by(
        list,
        drives(Driver::Partner),
        "k.partner_id = ?",
        "COALESCE(k.partner_id, k.id) = ?",
        owner,
    );
    let list = by(list, by_status, "k.status = ?", "k.status || '' = ?", query.status);
    let list = list.check("k.type = ?", query.kind);
    let list = by(list, drives(Driver::Channel), "k.channel = ?", "k.channel = ?", query.channel);
    let list = by(list, drives(Driver::Qty), "k.qty = ?", "k.qty = ?", query.qty);
    let list = by(
        list,
        by_departure,
        "k.departure_at >= ?",
        "COALESCE(k.departure_at, k.created_at) >= ?",
        start,
    );
    let list = by(
        list,
        by_departure,
        "k.departure_at < ?",
        "COALESCE(k.departure_at, k.created_at) < ?",
        end,
    );
    let Some(words) = words else { return list };
    // With wildcards, more are counted than match.
    let is_total = !words.has_wildcards && is_unfiltered(query, owner);
    let total = frequency.filter(|_| is_total);
    words.narrow(list, drives(Driver::Search), sort).known(total.map(Total::counted))
}

/// Whether nothing but words is looked for.
fn is_unfiltered(query: &BookingsQuery, owner: Option<Uuid>) -> bool {
    let texts = Texts::of(query);
    owner.is_none()
        && [texts.code, texts.code_promo, texts.note].iter().all(Option::is_none)
        && [query.route_time_id, query.item_id, query.reseller_id].iter().all(Option::is_none)
        && query.email.is_none()
        && query.refund_due.is_none()
        && query.status.is_none()
        && query.kind.is_none()
        && query.channel.is_none()
        && query.qty.is_none()
        && query.start_date.is_none()
        && query.end_date.is_none()
}

/// The time of the first departure of a period, and the time after its last one.
type Period = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

fn period(query: &BookingsQuery, zone: Tz) -> Period {
    let day_after = query.end_date.and_then(|date| date.succ_opt());
    (query.start_date.map(|date| midnight(date, zone)), day_after.map(|date| midnight(date, zone)))
}

/// Whether few bookings depart in a period, so that it can drive the query. `false` without a period.
async fn has_few_departures(
    db: &Db,
    start: Option<DateTime<Utc>>,
    end: Option<DateTime<Utc>>,
    has_words: bool,
) -> Result<bool> {
    /// With words: the texts of all of them are read.
    const SEARCHED: i64 = 1_500;
    if start.or(end).is_none() {
        return Ok(false);
    }
    let few = if has_words { SEARCHED } else { SORTED };
    let found: i64 = db
        .sql(
            "SELECT COUNT(*) FROM (SELECT 1 FROM bookings
               WHERE departure_at >= $1 AND departure_at < $2 LIMIT CAST($3 AS BIGINT)) AS found",
        )
        .without_cached_plan()
        .bind(start.unwrap_or(DateTime::UNIX_EPOCH))
        .bind(end.unwrap_or(DateTime::from_timestamp_nanos(i64::MAX)))
        .bind(few + 1)
        .long()
        .scalar()
        .await?;
    Ok(found <= few)
}

/// When the first booking of a period was made, or earlier.
async fn first_booking(
    db: &Db,
    start: DateTime<Utc>,
    end: Option<DateTime<Utc>>,
) -> Result<DateTime<Utc>> {
    let end = end.unwrap_or(DateTime::from_timestamp_nanos(i64::MAX));
    let last = (end - TimeDelta::microseconds(1)).date_naive();
    let since: Option<DateTime<Utc>> = db
        .sql("SELECT MIN(booked_since) FROM departure_days WHERE day >= $1 AND day <= $2")
        .bind(start.date_naive())
        .bind(last)
        .scalar()
        .await?;
    // Nothing departs.
    Ok(since.unwrap_or(start))
}
