//! The SQL of boarding.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::model::Outcome;
use crate::{
    app::App,
    kernel::{
        db::{Db, Failure, Tx},
        error::Result,
        ids::{self, Uuid},
    },
};

pub struct NewBoarding<'a> {
    pub sailing_id: Uuid,
    pub booking_id: Uuid,
    pub passenger_id: Uuid,
    pub scan_id: Option<&'a str>,
    pub boarded_at: DateTime<Utc>,
    pub by: Uuid,
}

pub async fn insert(tx: &mut Tx, new: NewBoarding<'_>, now: DateTime<Utc>) -> Result<(), Failure> {
    tx.sql(
        "INSERT INTO boardings (id, sailing_id, booking_id, passenger_id, scan_id, boarded_at,
           recorded_at, recorded_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(ids::fresh())
    .bind(new.sailing_id)
    .bind(new.booking_id)
    .bind(new.passenger_id)
    .bind(new.scan_id.map(str::to_owned))
    .bind(new.boarded_at)
    .bind(now)
    .bind(new.by)
    .run()
    .await
    .map(drop)
}

/// A scan that was submitted before.
#[derive(crate::kernel::db::FromRow)]
pub struct EarlierScan {
    pub booking_id: Uuid,
    pub passenger_id: Uuid,
    pub boarded_at: DateTime<Utc>,
    pub undone_at: Option<DateTime<Utc>>,
}

pub async fn earlier_scan(
    tx: &mut Tx,
    sailing: Uuid,
    scan_id: &str,
) -> Result<Option<EarlierScan>> {
    let earlier = tx
        .sql(
            "SELECT booking_id, passenger_id, boarded_at, undone_at FROM boardings
             WHERE sailing_id = $1 AND scan_id = $2",
        )
        .bind(sailing)
        .bind(scan_id.to_owned())
        .maybe()
        .await?;
    Ok(earlier)
}

/// Stores the outcome of a refused scan.
pub async fn keep_refused(
    db: &Db,
    sailing: Uuid,
    scan_id: &str,
    digest: String,
    outcome: Outcome,
    now: DateTime<Utc>,
) -> Result<()> {
    db.sql(
        "INSERT INTO refused_scans (sailing_id, scan_id, digest, outcome, recorded_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
    )
    .bind(sailing)
    .bind(scan_id.to_owned())
    .bind(digest)
    .bind(outcome)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

/// Outcome and code of a refused scan.
pub async fn refused(db: &Db, sailing: Uuid, scan_id: &str) -> Result<Option<(Outcome, String)>> {
    let refused = db
        .sql("SELECT outcome, digest FROM refused_scans WHERE sailing_id = $1 AND scan_id = $2")
        .bind(sailing)
        .bind(scan_id.to_owned())
        .maybe()
        .await?;
    Ok(refused)
}

/// Returns `false` if there is nothing to undo.
pub async fn undo(
    tx: &mut Tx,
    sailing: Uuid,
    passenger: Uuid,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<bool, Failure> {
    let undone = tx
        .sql(
            "UPDATE boardings SET undone_at = $1, undone_by = $2
             WHERE sailing_id = $3 AND passenger_id = $4 AND undone_at IS NULL",
        )
        .bind(now)
        .bind(by)
        .bind(sailing)
        .bind(passenger)
        .run()
        .await?;
    Ok(undone == 1)
}

/// Number of passengers on board by sailing; a sailing without any is left out. Passengers of a
/// booking that was cancelled or moved after their check-in do not count, as in the manifest.
pub async fn checked_in(db: &Db, sailings: &[Uuid]) -> Result<HashMap<Uuid, i64>> {
    if sailings.is_empty() {
        return Ok(HashMap::new());
    }
    let statement = db.sql_among(
        "SELECT g.sailing_id, COUNT(*) FROM boardings g
         JOIN bookings k ON k.id = g.booking_id AND k.sailing_id = g.sailing_id
         WHERE g.undone_at IS NULL AND k.status IN ('paid', 'completed') AND g.sailing_id IN",
        sailings.len(),
        "GROUP BY g.sailing_id",
    );
    let statement = sailings.iter().fold(statement, |statement, id| statement.bind(*id));
    let counts: Vec<(Uuid, i64)> = statement.long().all().await?;
    Ok(counts.into_iter().collect())
}

/// Marks the manifest as closed; `false` if it already is, the sailing is not open, or it departs after
/// `last_departure`.
pub async fn close(
    tx: &mut Tx,
    sailing: Uuid,
    last_departure: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let closed = tx
        .sql(
            "UPDATE sailings SET manifest_closed_at = $1
             WHERE id = $2 AND status = 'open' AND manifest_closed_at IS NULL
               AND departure_at <= $3",
        )
        .bind(now)
        .bind(sailing)
        .bind(last_departure)
        .run()
        .await?;
    Ok(closed == 1)
}

/// Opens a closed manifest again and removes the stored one; `false` if it is not closed, or its
/// sailing has departed or is cancelled. Scans that were refused because of the close are forgotten,
/// so that devices can submit them again.
pub async fn reopen(tx: &mut Tx, sailing: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let reopened = tx
        .sql(
            "UPDATE sailings SET manifest_closed_at = NULL
             WHERE id = $1 AND status = 'open' AND manifest_closed_at IS NOT NULL
               AND departure_at > $2",
        )
        .bind(sailing)
        .bind(now)
        .run()
        .await?;
    if reopened == 0 {
        return Ok(false);
    }
    tx.sql("DELETE FROM manifests WHERE sailing_id = $1").bind(sailing).run().await?;
    tx.sql("DELETE FROM refused_scans WHERE sailing_id = $1 AND outcome = $2")
        .bind(sailing)
        .bind(Outcome::ManifestClosed)
        .run()
        .await?;
    Ok(true)
}

/// Stores a closed manifest, encrypted.
pub async fn store_manifest(
    tx: &mut Tx,
    sailing: Uuid,
    sealed: String,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO manifests (sailing_id, content, closed_by, closed_at)
         VALUES ($1, $2, $3, $4)",
    )
    .bind(sailing)
    .bind(sealed)
    .bind(by)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

pub async fn closed_manifest(db: &Db, sailing: Uuid) -> Result<Option<String>> {
    let kept = db.sql("SELECT content FROM manifests WHERE sailing_id = $1").bind(sailing);
    Ok(kept.maybe::<(String,)>().await?.map(|(content,)| content))
}

/// The closed manifests that may list passengers of a booking: those of its sailing and of the
/// sailings that it was moved between. Their rows are locked.
pub async fn lock_manifests(tx: &mut Tx, booking: Uuid) -> Result<Vec<(Uuid, String)>> {
    let manifests = tx
        .sql(
            "UPDATE manifests SET closed_at = closed_at WHERE sailing_id IN
               (SELECT sailing_id FROM bookings WHERE id = $1
                UNION SELECT from_sailing_id FROM reschedules WHERE booking_id = $1
                UNION SELECT to_sailing_id FROM reschedules WHERE booking_id = $1)
             RETURNING sailing_id, content",
        )
        .bind(booking)
        .all()
        .await?;
    Ok(manifests)
}

pub async fn replace_manifest(tx: &mut Tx, sailing: Uuid, sealed: String) -> Result<()> {
    tx.sql("UPDATE manifests SET content = $1 WHERE sailing_id = $2")
        .bind(sealed)
        .bind(sailing)
        .run()
        .await?;
    Ok(())
}

/// Re-encrypts manifests of older keys; returns their number.
pub async fn reseal(app: &App) -> Result<u64> {
    let (mut resealed, mut last) = (0, Uuid::nil());
    loop {
        let rows: Vec<(Uuid, String)> = app
            .db
            .sql(
                "SELECT sailing_id, content FROM manifests WHERE sailing_id > $1
                 ORDER BY sailing_id LIMIT 100",
            )
            .bind(last)
            .all()
            .await?;
        let Some((id, _)) = rows.last() else { return Ok(resealed) };
        last = *id;
        for (id, content) in rows {
            let Some(new) = app.sealer.reseal(&content)? else { continue };
            // Passengers that were erased since it was read stay erased.
            let update = app
                .db
                .sql("UPDATE manifests SET content = $1 WHERE sailing_id = $2 AND content = $3");
            resealed += update.bind(new).bind(id).bind(content).run().await?;
        }
    }
}
