//! The list of bookings.
//!
//! One filter drives the query: the one that leaves the fewest bookings, by the order of [`Driver`].
//! An index has these bookings with all columns of the other filters, which are only checked. Their
//! conditions are written so that no index supports them. Thus the plan depends neither on the
//! engine nor on its statistics.

use chrono::TimeDelta;

use crate::{
    bookings::{
        forms::BookingsQuery,
        model::{BookingRow, BookingStatus, Channel},
    },
    kernel::{
        clock::midnight,
        db::{Db, EXACT, List, Sort, ToValue},
        error::Result,
        http::{Page, export},
        ids::Uuid,
        set_aside::Pass,
    },
    sailings::BookingType,
};

/// The filterable columns. All of them are in the indexes that are sorted for the list, except those
/// that find few bookings.
const COLUMNS: &str = "SELECT k.id, k.type, k.status, k.channel, k.qty, k.partner_id, k.speedboat_id,
   k.departure_at, k.total, k.created_at, k.sailing_id, k.contact_email, k.code, k.code_promo, k.note,
   k.refund_due
 FROM bookings k";
/// A count checks at most this many bookings.
const EXAMINED: i64 = 200_000;
/// If their texts are searched. Each text is read from another table.
const SEARCHED: i64 = 20_000;
/// A sailing with so many passengers is rare enough to have an index.
const MANY: i32 = 5;
/// Departures of a longer period are no small part of all bookings.
const PERIOD: TimeDelta = TimeDelta::days(100);

pub async fn list(
    db: &Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    zone: chrono_tz::Tz,
) -> Result<Page<BookingRow>> {
    let paging = &query.paging;
    let rows = found(db, owner, query, zone)
        .await?
        .page(sort(query), "k.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// The ids of all bookings of the list, in its order.
pub async fn list_ids(
    db: &Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    zone: chrono_tz::Tz,
) -> Result<Vec<Uuid>> {
    Ok(found(db, owner, query, zone).await?.ids(sort(query), "k.id", export::LIMIT).await?)
}

fn sort(query: &BookingsQuery) -> Sort {
    let chosen = query.sort_by.map(|by| match by.as_str() {
        "departure_at" => "k.departure_at",
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
    CodePromo,
    Note,
    RefundDue,
    Boat,
    Partner,
    RareStatus,
    Charter,
    Channel,
    Qty,
    /// Departures of a short period, or from a day on, with or without a status.
    Departure,
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

impl Driver {
    fn of(query: &BookingsQuery, texts: &Texts, owner: Option<Uuid>, rare_words: bool) -> Self {
        let is_short = query.start_date.is_some_and(|start| {
            query.end_date.is_none_or(|end| end.signed_duration_since(start) <= PERIOD)
        });
        let rare = |status| !matches!(status, BookingStatus::Completed | BookingStatus::Paid);
        let by_total = query.sort_by.is_some_and(|by| by.as_str() == "total");
        let choices = [
            (texts.code.is_some(), Self::Code),
            (query.route_time_id.is_some(), Self::Sailing),
            (query.email.is_some(), Self::Email),
            (rare_words, Self::Search),
            (texts.code_promo.is_some(), Self::CodePromo),
            (texts.note.is_some(), Self::Note),
            (query.refund_due == Some(true), Self::RefundDue),
            (query.item_id.is_some(), Self::Boat),
            (owner.is_some(), Self::Partner),
            (query.status.is_some_and(rare), Self::RareStatus),
            (query.kind == Some(BookingType::Charter), Self::Charter),
            (query.channel.is_some_and(|channel| channel != Channel::Web), Self::Channel),
            (query.qty.is_some_and(|qty| qty >= MANY), Self::Qty),
            (is_short, Self::Departure),
            // No index has the bookings of a status by their total.
            (query.status.is_some() && !by_total, Self::Status),
        ];
        choices.into_iter().find(|(given, _)| *given).map_or(Self::Sort, |(_, driver)| driver)
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

async fn found<'a>(
    db: &'a Db,
    owner: Option<Uuid>,
    query: &BookingsQuery,
    zone: chrono_tz::Tz,
) -> Result<List<'a>> {
    let texts = Texts::of(query);
    let words = query.paging.search().map(Words::new);
    let rare_words = match &words {
        Some(words) => words.are_rare(db).await?,
        None => false,
    };
    let driver = Driver::of(query, &texts, owner, rare_words);
    let drives = |one| driver == one;
    let list = db.list(booking!("")).found_in("SELECT k.id FROM bookings k");
    let list = list.examining(COLUMNS, if words.is_some() { SEARCHED } else { EXAMINED });
    let list = match driver {
        Driver::Charter => list.only("k.type = 'charter'"),
        Driver::Channel => list.only("k.channel <> 'web'"),
        Driver::Qty => list.only("k.qty >= 5"),
        Driver::Note => list.only("k.note <> ''"),
        _ => list,
    };
    let list = match driver {
        Driver::RefundDue => list.only("k.refund_due"),
        _ => list.check("COALESCE(k.refund_due, FALSE) = ?", query.refund_due),
    };
    let Texts { code, code_promo, note } = texts;
    let start = query.start_date.map(|date| midnight(date, zone));
    let day_after = query.end_date.and_then(|date| date.succ_opt());
    let end = day_after.map(|date| midnight(date, zone));
    let by_status = matches!(driver, Driver::RareStatus | Driver::Status | Driver::Departure);
    let sorted_by_departure = sort(query).column == "k.departure_at";
    let by_departure = match driver {
        Driver::RareStatus | Driver::Departure => true,
        Driver::Status | Driver::Sort => sorted_by_departure,
        _ => false,
    };
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
        drives(Driver::Boat),
        "k.speedboat_id = ?",
        "COALESCE(k.speedboat_id, k.id) = ?",
        query.item_id,
    );
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
    Ok(match words {
        Some(words) => words.narrow(list, drives(Driver::Search)),
        None => list,
    })
}

/// What a search looks for: a part of the code, the contact or the name of a passenger.
struct Words {
    /// As the index of three characters knows it: any character stands for a wildcard.
    like: String,
    /// With wildcards escaped.
    exactly: String,
    has_wildcards: bool,
    /// The index finds no fewer than three characters.
    is_short: bool,
}

/// The texts that contain `?`. Those that are not indexed yet are few.
macro_rules! matching {
    ($value:literal) => {
        concat!(
            "SELECT i.rowid AS number FROM booking_search_index i WHERE i.text LIKE lower(",
            $value,
            ") UNION ALL SELECT t.number FROM booking_search t
             WHERE t.number > (SELECT w.indexed_to FROM booking_search_state w)
               AND t.text LIKE lower(",
            $value,
            ")"
        )
    };
}

impl Words {
    /// A phone number is searched as it is stored, however it is written.
    fn new(words: &str) -> Self {
        let phone = phone_digits(words);
        let words = phone.as_deref().unwrap_or(words);
        let is_wildcard = |c: char| matches!(c, '%' | '_' | '\\');
        let like = words.replace(is_wildcard, "_");
        let mut exactly = String::new();
        for c in words.chars() {
            exactly.extend(is_wildcard(c).then_some('\\').into_iter().chain([c]));
        }
        Self {
            has_wildcards: words.contains(is_wildcard),
            is_short: like.split('_').all(|part| part.chars().count() < 3),
            like: format!("%{like}%"),
            exactly: format!("%{exactly}%"),
        }
    }

    /// Whether few bookings contain them, so that they can drive the query.
    async fn are_rare(&self, db: &Db) -> Result<bool> {
        if self.is_short {
            return Ok(false);
        }
        let found: i64 = db
            .sql(concat!(
                "SELECT COUNT(*) FROM (",
                matching!("$1"),
                " LIMIT CAST($2 AS BIGINT)) AS found"
            ))
            .without_cached_plan()
            .bind(self.like.clone())
            .bind(EXACT + 1)
            .long()
            .scalar()
            .await?;
        Ok(found <= EXACT)
    }

    fn narrow<'a>(self, list: List<'a>, drives: bool) -> List<'a> {
        let list = match drives {
            true => list.filter(
                concat!(
                    "k.id IN (SELECT n.booking_id FROM booking_search n WHERE n.number IN (",
                    matching!("?"),
                    "))"
                ),
                Some(self.like),
            ),
            false if self.is_short => list.only(
                "k.created_at >= (SELECT MIN(c.created_at) FROM (SELECT created_at FROM bookings
                   ORDER BY created_at DESC LIMIT 20000) AS c)",
            ),
            false => list,
        };
        let check = (!drives || self.has_wildcards).then_some(self.exactly);
        list.check(
            "EXISTS (SELECT 1 FROM booking_search e WHERE e.booking_id = k.id
               AND e.text LIKE lower(?) ESCAPE '\\')",
            check,
        )
    }
}

/// The digits of a text that can be part of a phone number, as they are stored: without the zero
/// before the area, which stands for the country.
fn phone_digits(text: &str) -> Option<String> {
    let is_of_number = |c: char| c.is_ascii_digit() || "+-. ()".contains(c);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.strip_prefix('0').map(str::to_owned).unwrap_or(digits);
    (text.chars().all(is_of_number) && digits.len() >= 3).then_some(digits)
}

/// Indexes some of the texts that were stored since the last run. They are found before that too, and
/// a batch costs a fraction of indexing each of them alone. PostgreSQL indexes them itself, so there
/// is nothing to do.
pub async fn index_some(db: &Db) -> Result<Pass> {
    const SOME: i64 = 200;
    let waiting: Vec<(i64,)> = db
        .sql(
            "SELECT number FROM booking_search
             WHERE number > (SELECT indexed_to FROM booking_search_state)
             ORDER BY number LIMIT CAST($1 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(SOME)
        .all()
        .await?;
    let Some((last,)) = waiting.last().copied() else { return Ok(Pass::default()) };
    let mut tx = db.begin().await?;
    let indexed = tx
        .sql(
            "INSERT INTO booking_search_index (rowid, text)
             SELECT number, text FROM booking_search
             WHERE number > (SELECT indexed_to FROM booking_search_state) AND number <= $1",
        )
        .bind(last)
        .run()
        .await?;
    let state = tx.sql("UPDATE booking_search_state SET indexed_to = $1 WHERE indexed_to < $1");
    state.bind(last).run().await?;
    tx.commit().await?;
    Ok(Pass { done: indexed, more: waiting.len() as i64 == SOME })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_number_is_found_as_people_write_it() {
        let digits = |text: &str| phone_digits(text);
        assert_eq!(digits("0812-3456 7890").as_deref(), Some("81234567890"));
        assert_eq!(digits("+62 812 3456").as_deref(), Some("628123456"));
        assert_eq!(digits("7890").as_deref(), Some("7890"));
        for no_number in ["Sari", "12", "DMG-1234", ""] {
            assert_eq!(digits(no_number), None, "{no_number}");
        }
    }

    #[test]
    fn wildcards_are_plain_characters() {
        let words = Words::new(r"50%_\a bcd");
        assert_eq!(words.like, "%50___a bcd%");
        assert_eq!(words.exactly, r"%50\%\_\\a bcd%");
        assert!(words.has_wildcards && !words.is_short);
        assert!(Words::new("a_bc%").is_short);
        assert!(!Words::new("abc").is_short);
    }
}
