//! Changing many sailings of a route at once.
//!
//! - The number of statements does not depend on the number of sailings.
//! - Sailings that move are planned once to find out which ones they are, and again when their rows
//!   are locked, so what was decided about a sailing is still true when it is changed. Times and boats
//!   cannot change in between, since the boats are locked. A new price and a withdrawal are
//!   conditional updates.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    change::NewBoat,
    http::conflict,
    model::{SailingStatus, TimeOfDay, Weekday},
    rules::{self, Span},
    zone::Zone,
};
use crate::kernel::{
    db::{Statement, Tx},
    error::Result,
    ids::{self, Uuid},
    money::Rupiah,
};

/// The sailings of a route in a period.
pub struct Period {
    pub route: Uuid,
    pub start: NaiveDate,
    pub end: NaiveDate,
}

/// A condition on sailings; [`Period::bind`] binds its values. The departures limit the range of the
/// index, which does not contain the day.
macro_rules! in_period {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "route_id = $1 AND day >= $2 AND day <= $3 AND departure_at >= $4
               AND departure_at < $5",
            $after
        )
    };
}

impl Period {
    pub fn bind<'s>(&self, statement: Statement<'s>) -> Statement<'s> {
        let midnight = |day: Option<NaiveDate>, or: NaiveDate| {
            day.unwrap_or(or).and_time(NaiveTime::MIN).and_utc()
        };
        statement
            .bind(self.route)
            .bind(self.start)
            .bind(self.end)
            .bind(midnight(self.start.checked_sub_days(Days::new(1)), self.start))
            .bind(midnight(self.end.checked_add_days(Days::new(2)), self.end))
    }
}

/// Locks the boats of the sailings and the new boat, in the order in which all lock boats; returns
/// their names.
pub async fn lock_boats(
    tx: &mut Tx,
    period: &Period,
    boat: Option<Uuid>,
) -> Result<HashMap<Uuid, String>> {
    let select = tx.sql(in_period!(
        "SELECT id FROM speedboats WHERE id IN (SELECT speedboat_id FROM sailings WHERE ",
        " UNION SELECT $6) ORDER BY id"
    ));
    let ids: Vec<(Uuid,)> = period.bind(select).bind(boat).all().await?;
    let mut boats = HashMap::new();
    for (id,) in ids {
        let lock =
            tx.sql("UPDATE speedboats SET updated_at = updated_at WHERE id = $1 RETURNING name");
        let (name,): (String,) = lock.bind(id).one().await?;
        boats.insert(id, name);
    }
    Ok(boats)
}

/// A sailing of a period.
#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct SelectedSailing {
    pub id: Uuid,
    pub speedboat_id: Uuid,
    day: NaiveDate,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    price: Rupiah,
    capacity: i32,
    pub seats_taken: i32,
    status: SailingStatus,
    manifest_closed_at: Option<DateTime<Utc>>,
}

impl SelectedSailing {
    fn span(&self) -> Span {
        (self.departure_at, self.arrival_at)
    }

    /// Why it cannot be changed.
    fn refusal(&self, now: DateTime<Utc>) -> Option<SkipReason> {
        match self.status {
            SailingStatus::Withdrawn => Some(SkipReason::Withdrawn),
            SailingStatus::Cancelled => Some(SkipReason::Cancelled),
            _ if self.departure_at <= now => Some(SkipReason::Departed),
            _ if self.manifest_closed_at.is_some() => Some(SkipReason::ManifestClosed),
            SailingStatus::Open | SailingStatus::Departed => None,
        }
    }
}

macro_rules! selected {
    () => {
        "id, speedboat_id, day, departure_at, arrival_at, price, capacity, seats_taken, status,
         manifest_closed_at"
    };
}

/// Reads the sailings of a period, by departure.
pub async fn read(tx: &mut Tx, period: &Period) -> Result<Vec<SelectedSailing>> {
    let read = tx.sql(concat!(
        "SELECT ",
        selected!(),
        in_period!(" FROM sailings WHERE ", " ORDER BY departure_at, id")
    ));
    Ok(period.bind(read).all().await?)
}

/// Locks sailings and reads them again.
pub async fn lock(tx: &mut Tx, sailings: &[Uuid]) -> Result<Vec<SelectedSailing>> {
    let mut locked = Vec::new();
    for ids in sailings.chunks(CHUNK) {
        let lock = tx.sql_among(
            "UPDATE sailings SET seats_taken = seats_taken WHERE id IN",
            ids.len(),
            concat!("RETURNING ", selected!()),
        );
        locked.extend(ids.iter().fold(lock, |lock, id| lock.bind(*id)).all().await?);
    }
    Ok(locked)
}

/// Which sailings of the period are meant; `None` means all.
pub struct Filter<'a> {
    pub days: Option<&'a [Weekday]>,
    pub departure_times: Option<&'a [TimeOfDay]>,
}

impl Filter<'_> {
    pub fn matches(&self, sailing: &SelectedSailing, zone: Zone) -> bool {
        let weekday = Weekday::ALL[sailing.day.weekday().num_days_from_monday() as usize];
        let time = TimeOfDay::local(sailing.departure_at, zone.tz());
        self.days.is_none_or(|days| days.contains(&weekday))
            && self.departure_times.is_none_or(|times| times.contains(&time))
    }
}

/// What is set; `None` stays.
#[derive(Default)]
pub struct NewValues {
    pub price: Option<Rupiah>,
    pub boat: Option<NewBoat>,
    pub departure_time: Option<TimeOfDay>,
    pub arrival_time: Option<TimeOfDay>,
}

crate::string_enum! {
    /// Why a sailing was not changed.
    pub enum SkipReason {
        Withdrawn = "withdrawn",
        Cancelled = "cancelled",
        Departed = "departed",
        ManifestClosed = "manifest_closed",
        /// It has bookings, or more seats are sold than the boat has.
        InUse = "in_use",
        /// The boat would be in two places at once.
        ScheduleConflict = "schedule_conflict",
        /// The new departure is not in the future.
        Past = "past",
    }
}

#[derive(Serialize, JsonSchema)]
pub struct SkippedSailing {
    pub route_time_id: Uuid,
    pub reason: SkipReason,
}

/// A sailing and what it becomes.
pub struct PlannedChange {
    pub sailing: SelectedSailing,
    pub boat: Uuid,
    capacity: i32,
    span: Span,
    price: Rupiah,
}

impl PlannedChange {
    pub fn is_retimed(&self) -> bool {
        self.span != self.sailing.span()
    }

    pub fn has_other_boat(&self) -> bool {
        self.boat != self.sailing.speedboat_id
    }

    fn moves(&self) -> bool {
        self.is_retimed() || self.has_other_boat()
    }

    fn is_empty(&self) -> bool {
        !self.moves() && self.price == self.sailing.price
    }
}

/// What happens to each sailing.
#[derive(Default)]
pub struct Plan {
    pub changes: Vec<PlannedChange>,
    skipped: Vec<(DateTime<Utc>, SkippedSailing)>,
    /// Number of sailings that have these values already.
    pub unchanged: usize,
}

impl Plan {
    fn skip(&mut self, sailing: &SelectedSailing, reason: SkipReason) {
        let skipped = SkippedSailing { route_time_id: sailing.id, reason };
        self.skipped.push((sailing.departure_at, skipped));
    }

    /// Takes out the sailings that move.
    pub fn take_moving(&mut self) -> Vec<PlannedChange> {
        let (moving, priced) =
            std::mem::take(&mut self.changes).into_iter().partition(PlannedChange::moves);
        self.changes = priced;
        moving
    }

    /// Adds the sailings of another plan.
    pub fn add(&mut self, other: Plan) {
        self.changes.extend(other.changes);
        self.skipped.extend(other.skipped);
        self.unchanged += other.unchanged;
    }

    /// By departure.
    pub fn into_skipped(mut self) -> Vec<SkippedSailing> {
        self.skipped.sort_by_key(|(departure_at, skipped)| (*departure_at, skipped.route_time_id));
        self.skipped.into_iter().map(|(_, skipped)| skipped).collect()
    }
}

/// Decides what is withdrawn: sailings without bookings.
pub fn plan_withdrawal(sailings: Vec<SelectedSailing>, now: DateTime<Utc>) -> (Vec<Uuid>, Plan) {
    let (mut plan, mut withdrawn) = (Plan::default(), Vec::new());
    for sailing in sailings {
        match sailing.refusal(now) {
            Some(SkipReason::Withdrawn) => plan.unchanged += 1,
            Some(reason) => plan.skip(&sailing, reason),
            None if sailing.seats_taken > 0 => plan.skip(&sailing, SkipReason::InUse),
            None => withdrawn.push(sailing.id),
        }
    }
    (withdrawn, plan)
}

/// Decides what is changed, without regard to other sailings of the boats: see [`drop_conflicts`].
pub fn plan(
    sailings: Vec<SelectedSailing>,
    new: &NewValues,
    (zone, arrival_zone): (Zone, Zone),
    now: DateTime<Utc>,
) -> Plan {
    let mut plan = Plan::default();
    for sailing in sailings {
        if let Some(reason) = sailing.refusal(now) {
            plan.skip(&sailing, reason);
            continue;
        }
        let (departs, arrives) = (new.departure_time, new.arrival_time);
        let zones = (zone.tz(), arrival_zone.tz());
        let span = rules::moved_span(sailing.day, sailing.span(), departs, arrives, zones);
        let Some(span) = span.filter(|span| span.0 > now) else {
            plan.skip(&sailing, SkipReason::Past);
            continue;
        };
        let boat = new.boat.as_ref().map_or(sailing.speedboat_id, |boat| boat.id);
        let capacity = match &new.boat {
            Some(boat) if boat.id != sailing.speedboat_id => boat.capacity,
            _ => sailing.capacity,
        };
        if sailing.seats_taken > capacity {
            plan.skip(&sailing, SkipReason::InUse);
            continue;
        }
        let price = new.price.unwrap_or(sailing.price);
        let change = PlannedChange { sailing, boat, capacity, span, price };
        match change.is_empty() {
            true => plan.unchanged += 1,
            false => plan.changes.push(change),
        }
    }
    plan
}

/// Open sailings of a boat: departure, arrival and id, by departure.
pub type Calendar = Vec<(DateTime<Utc>, DateTime<Utc>, Uuid)>;

/// Skips sailings whose boat has another sailing at the new time. The old time of a sailing that
/// moves is not free for another: the database checks each row when it is changed.
pub fn drop_conflicts(plan: &mut Plan, calendars: &HashMap<Uuid, Calendar>) {
    let mut changes = std::mem::take(&mut plan.changes);
    changes.sort_by_key(|change| (change.span.0, change.sailing.departure_at, change.sailing.id));
    let mut last_arrival: HashMap<Uuid, DateTime<Utc>> = HashMap::new();
    for change in changes {
        if change.moves() {
            let (start, end) = change.span;
            let calendar = calendars.get(&change.boat).map_or(&[][..], |calendar| calendar);
            // Open sailings of a boat do not overlap: those that arrive after `start` are the last
            // ones of those that depart before `end`.
            let before = calendar.partition_point(|there| there.0 < end);
            let mut there = calendar[..before].iter().rev().take_while(|there| there.1 > start);
            let is_taken = there.any(|there| there.2 != change.sailing.id)
                || last_arrival.get(&change.boat).is_some_and(|arrival| *arrival > start);
            if is_taken {
                plan.skip(&change.sailing, SkipReason::ScheduleConflict);
                continue;
            }
            last_arrival.insert(change.boat, end);
        }
        plan.changes.push(change);
    }
}

/// The open sailings of all boats of a plan, for [`drop_conflicts`].
pub async fn calendars(
    tx: &mut Tx,
    period: &Period,
    boat: Option<Uuid>,
    plan: &Plan,
) -> Result<HashMap<Uuid, Calendar>> {
    let moved = || plan.changes.iter().filter(|change| change.moves());
    let first = moved().map(|change| change.span.0).min();
    let last = moved().map(|change| change.span.1).max();
    let Some((first, last)) = first.zip(last) else { return Ok(HashMap::new()) };
    let read = tx.sql(in_period!(
        "SELECT speedboat_id, departure_at, arrival_at, id FROM sailings
         WHERE status = 'open' AND departure_at >= $7 AND departure_at < $8 AND speedboat_id IN
           (SELECT speedboat_id FROM sailings WHERE ",
        " UNION SELECT $6) ORDER BY departure_at"
    ));
    // No sailing takes longer than a day and the difference of two time zones.
    let rows: Vec<(Uuid, DateTime<Utc>, DateTime<Utc>, Uuid)> = period
        .bind(read)
        .bind(boat)
        .bind(first - chrono::TimeDelta::days(2))
        .bind(last)
        .all()
        .await?;
    let mut calendars: HashMap<Uuid, Calendar> = HashMap::new();
    for (boat, departure_at, arrival_at, id) in rows {
        calendars.entry(boat).or_default().push((departure_at, arrival_at, id));
    }
    Ok(calendars)
}

/// Ids in one statement.
pub const CHUNK: usize = 10_000;

/// Sets the price of the planned sailings; returns their number. Those that were closed since they
/// were read are skipped.
pub async fn set_price(
    tx: &mut Tx,
    period: &Period,
    plan: &mut Plan,
    price: Rupiah,
    now: DateTime<Utc>,
) -> Result<usize> {
    let planned: Vec<_> = plan.changes.iter().map(|change| change.sailing.id).collect();
    let mut changed: HashSet<Uuid> = HashSet::new();
    for ids in planned.chunks(CHUNK) {
        let set = tx.sql_among(
            "UPDATE sailings SET price = $1
             WHERE status = 'open' AND manifest_closed_at IS NULL AND id IN",
            ids.len(),
            "RETURNING id",
        );
        let rows = ids.iter().fold(set.bind(price), |set, id| set.bind(*id)).all::<(Uuid,)>();
        changed.extend(rows.await?.into_iter().map(|(id,)| id));
    }
    skip_others(tx, period, plan, &planned, &changed, now).await?;
    Ok(changed.len())
}

/// Withdraws sailings without bookings; returns their number. Those that were sold or closed since
/// they were read are skipped.
pub async fn withdraw(
    tx: &mut Tx,
    period: &Period,
    plan: &mut Plan,
    planned: &[Uuid],
    now: DateTime<Utc>,
) -> Result<usize> {
    let mut changed: HashSet<Uuid> = HashSet::new();
    for ids in planned.chunks(CHUNK) {
        let withdraw = tx.sql_among(
            "UPDATE sailings SET status = 'withdrawn'
             WHERE seats_taken = 0 AND status = 'open' AND manifest_closed_at IS NULL AND id IN",
            ids.len(),
            "RETURNING id",
        );
        let rows = ids.iter().fold(withdraw, |withdraw, id| withdraw.bind(*id)).all::<(Uuid,)>();
        changed.extend(rows.await?.into_iter().map(|(id,)| id));
    }
    skip_others(tx, period, plan, planned, &changed, now).await?;
    Ok(changed.len())
}

/// Reads again why some sailings were not changed.
async fn skip_others(
    tx: &mut Tx,
    period: &Period,
    plan: &mut Plan,
    planned: &[Uuid],
    changed: &HashSet<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    if planned.len() == changed.len() {
        return Ok(());
    }
    let left: HashSet<Uuid> = planned.iter().filter(|id| !changed.contains(id)).copied().collect();
    for sailing in read(tx, period).await? {
        if left.contains(&sailing.id) {
            plan.skip(&sailing, sailing.refusal(now).unwrap_or(SkipReason::InUse));
        }
    }
    Ok(())
}

/// Moves sailings to other times or another boat; returns the id of the change in
/// `sailing_changes`, for their bookings.
pub async fn move_all(
    tx: &mut Tx,
    period: &Period,
    changes: &[PlannedChange],
    reason: Option<&str>,
) -> Result<Uuid> {
    let change_id = ids::fresh();
    tx.insert_all(
        "INSERT INTO sailing_changes (change_id, sailing_id, speedboat_id, capacity, departure_at,
           arrival_at, duration_minutes, price)",
        8,
        changes,
        |statement, change| {
            let (departure_at, arrival_at) = change.span;
            statement
                .bind(change_id)
                .bind(change.sailing.id)
                .bind(change.boat)
                .bind(change.capacity)
                .bind(departure_at)
                .bind(arrival_at)
                .bind((arrival_at - departure_at).num_minutes() as i32)
                .bind(change.price)
        },
    )
    .await?;
    let update = tx.sql(in_period!(
        "UPDATE sailings SET reason = COALESCE($7, reason),
           (speedboat_id, capacity, departure_at, arrival_at, duration_minutes, price) =
             (SELECT c.speedboat_id, c.capacity, c.departure_at, c.arrival_at, c.duration_minutes,
                c.price
              FROM sailing_changes c WHERE c.change_id = $6 AND c.sailing_id = sailings.id)
         WHERE ",
        " AND id IN (SELECT c.sailing_id FROM sailing_changes c WHERE c.change_id = $6)"
    ));
    period
        .bind(update.without_cached_plan())
        .bind(change_id)
        .bind(reason.map(str::to_owned))
        .run()
        .await
        .map_err(|failure| if failure.is_exclusion() { conflict(None) } else { failure.into() })?;
    Ok(change_id)
}

/// Ends a change begun by [`move_all`].
pub async fn forget(tx: &mut Tx, change_id: Uuid) -> Result<()> {
    let forget = tx.sql("DELETE FROM sailing_changes WHERE change_id = $1");
    forget.bind(change_id).run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minute * 60, 0).unwrap()
    }

    fn change(boat: Uuid, was: (i64, i64), becomes: (i64, i64)) -> PlannedChange {
        let sailing = SelectedSailing {
            id: ids::fresh(),
            speedboat_id: boat,
            day: NaiveDate::MIN,
            departure_at: at(was.0),
            arrival_at: at(was.1),
            price: Rupiah(1),
            capacity: 1,
            seats_taken: 0,
            status: SailingStatus::Open,
            manifest_closed_at: None,
        };
        let span = (at(becomes.0), at(becomes.1));
        PlannedChange { boat, capacity: 1, span, price: Rupiah(1), sailing }
    }

    /// The numbers of the changes that are left.
    fn left(changes: Vec<PlannedChange>, others: &[(i64, i64)]) -> Vec<usize> {
        let ids: Vec<_> = changes.iter().map(|change| change.sailing.id).collect();
        let boat = changes[0].boat;
        let mut calendar: Calendar = changes
            .iter()
            .map(|one| (one.sailing.departure_at, one.sailing.arrival_at, one.sailing.id))
            .chain(others.iter().map(|(start, end)| (at(*start), at(*end), ids::fresh())))
            .collect();
        calendar.sort();
        let mut plan = Plan { changes, ..Plan::default() };
        drop_conflicts(&mut plan, &HashMap::from([(boat, calendar)]));
        let left = plan.changes.iter().map(|change| change.sailing.id);
        left.map(|id| ids.iter().position(|other| *other == id).unwrap()).collect()
    }

    #[test]
    fn a_boat_is_in_one_place_at_a_time() {
        let boat = ids::fresh();
        let one = || change(boat, (0, 10), (5, 15));
        assert_eq!(left(vec![one()], &[]), [0], "over its own old time");
        assert_eq!(left(vec![one()], &[(15, 20)]), [0], "until the next departs");
        assert_eq!(left(vec![one()], &[(14, 20)]), [] as [usize; 0]);
        assert_eq!(left(vec![one()], &[(11, 12)]), [] as [usize; 0], "around another");
        let same = || vec![change(boat, (0, 10), (50, 60)), change(boat, (20, 30), (50, 60))];
        assert_eq!(left(same(), &[]), [0], "two at the same time");
        let onto = vec![change(boat, (0, 10), (20, 30)), change(boat, (20, 30), (40, 50))];
        assert_eq!(left(onto, &[]), [1], "the old time of another is not free yet");
    }
}
