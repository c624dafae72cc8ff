//! The SQL of products and availability. Each request reads one statement besides its key's.

use chrono::{DateTime, NaiveDate, Utc};

use crate::{
    kernel::{
        db::{Db, Json},
        error::Result,
        ids::Uuid,
        money::{Rate, Rupiah},
    },
    lines::{Fare, PassengerNames},
    sailings::{SailingStatus, Zone},
};

/// A line that partners let resellers sell.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct LineRow {
    pub line_id: Uuid,
    pub partner_id: Uuid,
    pub partner_name: String,
    pub from_name: String,
    pub to_name: String,
    pub from_harbour_id: Uuid,
    pub to_harbour_id: Uuid,
    pub timezone: Zone,
    pub resale: bool,
    pub day_ticket: bool,
    pub names: PassengerNames,
    pub max_party: i32,
    pub fares: Json<Vec<Fare>>,
    /// Whether the partner may sell now.
    pub on_sale: bool,
    /// For resold bookings. `None`: the default of the platform.
    pub commission_rate: Option<Rate>,
}

impl LineRow {
    /// The same day in the zone of the line.
    pub fn day_of(&self, time: DateTime<Utc>) -> NaiveDate {
        time.with_timezone(&self.timezone.tz()).date_naive()
    }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct SailingRow {
    pub sailing_id: Uuid,
    pub speedboat_id: Uuid,
    pub day: NaiveDate,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub price: Rupiah,
    pub capacity: i32,
    pub seats_taken: i32,
    pub chartered: bool,
    pub sailing_status: SailingStatus,
    pub is_manifest_closed: bool,
    pub cutoff_minutes: Option<i32>,
    pub is_boat_active: bool,
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
struct LineSailing {
    #[row(flatten)]
    line: LineRow,
    #[row(flatten)]
    sailing: SailingRow,
}

macro_rules! line_columns {
    () => {
        "l.id AS line_id, l.partner_id, a.name AS partner_name, f.name AS from_name,
         t.name AS to_name, l.from_harbour_id, l.to_harbour_id, l.timezone, l.resale, l.day_ticket,
         l.names, l.max_party, l.fares,
         (p.status <> 'suspended' AND p.verified_at IS NOT NULL) AS on_sale,
         COALESCE(own.resale_commission_rate, usual.resale_commission_rate, p.commission_rate,
           usual.commission_rate) AS commission_rate"
    };
}

macro_rules! line_tables {
    () => {
        " JOIN partners p ON p.id = l.partner_id
         JOIN accounts a ON a.id = p.account_id
         JOIN harbours f ON f.id = l.from_harbour_id
         JOIN harbours t ON t.id = l.to_harbour_id
         LEFT JOIN settlement_configurations own ON own.partner_id = l.partner_id
         LEFT JOIN settlement_configurations usual ON usual.partner_id IS NULL"
    };
}

macro_rules! sailing_columns {
    () => {
        "s.id AS sailing_id, s.speedboat_id, s.day, s.departure_at, s.arrival_at, s.price,
         s.capacity, s.seats_taken, s.chartered, s.status AS sailing_status,
         s.manifest_closed_at IS NOT NULL AS is_manifest_closed, s.cutoff_minutes,
         b.status = 'active' AS is_boat_active"
    };
}

macro_rules! lines {
    ($rest:literal) => {
        concat!("SELECT ", line_columns!(), " FROM lines l", line_tables!(), $rest)
    };
}

macro_rules! line_sailings {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            line_columns!(),
            ", ",
            sailing_columns!(),
            " FROM lines l",
            line_tables!(),
            " JOIN sailings s ON s.line_id = l.id AND s.status <> 'withdrawn'
             JOIN speedboats b ON b.id = s.speedboat_id",
            $rest
        )
    };
}

pub(super) use {line_columns, line_tables, sailing_columns};

pub async fn line(db: &Db, id: Uuid) -> Result<Option<LineRow>> {
    Ok(db.sql(lines!(" WHERE l.id = $1")).bind(id).maybe().await?)
}

pub async fn partner_name(db: &Db, id: Uuid) -> Result<Option<String>> {
    let name: Option<(String,)> = db
        .sql("SELECT a.name FROM partners p JOIN accounts a ON a.id = p.account_id WHERE p.id = $1")
        .bind(id)
        .maybe()
        .await?;
    Ok(name.map(|(name,)| name))
}

/// The lines of the partners, or of all, that are on sale.
pub async fn listed(db: &Db, partners: Option<&[Uuid]>) -> Result<Vec<LineRow>> {
    const LISTED: &str =
        lines!(" WHERE l.resale AND p.status <> 'suspended' AND p.verified_at IS NOT NULL");
    let statement = match partners {
        Some([]) => return Ok(Vec::new()),
        Some(partners) => {
            const OF_PARTNERS: &str = lines!(
                " WHERE l.resale AND p.status <> 'suspended' AND p.verified_at IS NOT NULL
                  AND l.partner_id IN"
            );
            let statement =
                db.sql_among(OF_PARTNERS, partners.len(), "ORDER BY l.created_at, l.id");
            partners.iter().fold(statement, |statement, id| statement.bind(*id))
        }
        None => db.sql(LISTED),
    };
    Ok(statement.long().all().await?)
}

/// A time of day at which open sailings of a line depart, with the lowest price of them.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct StartTime {
    pub line_id: Uuid,
    /// Of one of them: lines have zones without daylight saving time.
    pub departure_at: DateTime<Utc>,
    pub price: Rupiah,
}

/// Sailings that departed are asked about only where there are none ahead.
pub enum Period {
    /// From now on, until a day.
    Ahead { today: NaiveDate, last: NaiveDate, now: DateTime<Utc> },
    /// From a day until now.
    Past { first: NaiveDate, today: NaiveDate, now: DateTime<Utc> },
}

macro_rules! start_times {
    ($when:literal) => {
        concat!(
            "SELECT s.line_id, MIN(s.departure_at) AS departure_at, MIN(s.price) AS price
             FROM sailings s WHERE s.status = 'open' AND s.day BETWEEN $1 AND $2 AND s.departure_at ",
            $when,
            " $3 AND s.line_id IN"
        )
    };
}

/// The start times of lines.
pub async fn start_times(db: &Db, lines: &[Uuid], period: &Period) -> Result<Vec<StartTime>> {
    const BY_TIME: &str =
        "GROUP BY s.line_id, to_char(s.departure_at AT TIME ZONE 'UTC', 'HH24:MI')";
    const BY_TEXT: &str = "GROUP BY s.line_id, substr(s.departure_at, 12, 5)";
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let by_time = if db.engine() == "sqlite" { BY_TEXT } else { BY_TIME };
    let (head, first, last, now) = match period {
        Period::Ahead { today, last, now } => (start_times!(">"), today, last, now),
        Period::Past { first, today, now } => (start_times!("<="), first, today, now),
    };
    let mut times = Vec::new();
    for lines in lines.chunks(10_000) {
        let statement =
            db.sql_among(head, lines.len(), by_time).bind(*first).bind(*last).bind(*now);
        let statement = lines.iter().fold(statement, |statement, id| statement.bind(*id));
        times.extend(statement.long().all::<StartTime>().await?);
    }
    Ok(times)
}

/// The line with its sailings of a period of days, in order of departure. `None`: there are no
/// sailings, and the line may not exist.
pub async fn of_days(
    db: &Db,
    line: Uuid,
    (first, last): (NaiveDate, NaiveDate),
) -> Result<Option<(LineRow, Vec<SailingRow>)>> {
    let rows = db
        .sql(line_sailings!(
            " WHERE l.id = $1 AND s.day BETWEEN $2 AND $3 ORDER BY s.departure_at, s.id"
        ))
        .bind(line)
        .bind(first)
        .bind(last)
        .all()
        .await?;
    Ok(parted(rows))
}

/// The same for sailings by id.
pub async fn of_ids(
    db: &Db,
    line: Uuid,
    ids: &[Uuid],
) -> Result<Option<(LineRow, Vec<SailingRow>)>> {
    if ids.is_empty() {
        return Ok(None);
    }
    let statement = db.sql_among(
        line_sailings!(" WHERE l.id = $1 AND s.id IN"),
        ids.len(),
        "ORDER BY s.departure_at, s.id",
    );
    let rows =
        ids.iter().fold(statement.bind(line), |statement, id| statement.bind(*id)).all().await?;
    Ok(parted(rows))
}

/// The same for several days.
pub async fn of_some_days(
    db: &Db,
    line: Uuid,
    days: &[NaiveDate],
) -> Result<Option<(LineRow, Vec<SailingRow>)>> {
    if days.is_empty() {
        return Ok(None);
    }
    let statement = db.sql_among(
        line_sailings!(" WHERE l.id = $1 AND s.day IN"),
        days.len(),
        "ORDER BY s.departure_at, s.id",
    );
    let rows =
        days.iter().fold(statement.bind(line), |statement, day| statement.bind(*day)).all().await?;
    Ok(parted(rows))
}

fn parted(rows: Vec<LineSailing>) -> Option<(LineRow, Vec<SailingRow>)> {
    let line = rows.first()?.line.clone();
    Some((line, rows.into_iter().map(|row| row.sailing).collect()))
}
