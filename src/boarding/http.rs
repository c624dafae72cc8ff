//! Handlers of boarding.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use serde_json::json;

use super::{
    checkin::{self, ScanOutcome, TicketScan},
    csv, manifest,
    model::{
        Admitted, CheckIn, CheckedIn, Manifest, ManifestFormat, ManifestQuery, Outcome,
        ReopenManifest, RouteSailing, ScanResult, UndoCheckIn,
    },
    page, rules, store,
};
use crate::{
    app::App,
    bookings,
    kernel::{
        caller::Caller,
        error::{Conflict, Error, Result},
        http::{Body, File, FileOr, Kinds, ListFormat, PageOrCsv, Query, Reply, accepted},
    },
    sailings::{self, PathSailing, RouteTimesQuery, SailingDetail},
};

const CSV: &str = "text/csv; charset=utf-8";
const PDF: &str = "application/pdf";

pub struct Lists;

impl Kinds for Lists {
    const KINDS: &'static [&'static str] = &["text/csv", PDF];
}

/// Format preferred by the `Accept` header.
pub struct Accepts(ManifestFormat);

impl<S: Sync> FromRequestParts<S> for Accepts {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let known = |kind: &str| match kind {
            "text/csv" => Some(ManifestFormat::Csv),
            PDF => Some(ManifestFormat::Pdf),
            "application/json" | "*/*" | "application/*" => Some(ManifestFormat::Json),
            _ => None,
        };
        Ok(Self(accepted(&parts.headers).find_map(known).unwrap_or(ManifestFormat::Json)))
    }
}

impl aide::OperationInput for Accepts {}

pub async fn list_route_times(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<RouteTimesQuery>,
) -> Result<PageOrCsv<RouteSailing>> {
    let owner = caller.crew_filter(query.mitra_id)?;
    if query.format == Some(ListFormat::Csv) {
        let now = app.clock.now();
        let db = caller.on_replica(&app.db);
        let ids = sailings::list_ids(&db, owner, &query, now).await?;
        return csv::file(app.clock.clone(), db, ids);
    }
    let (sailings, total) = sailings::sailings(&app.db, owner, &query, app.clock.now()).await?;
    let ids: Vec<_> = sailings.iter().map(|sailing| sailing.id).collect();
    let checked_in = store::checked_in(&app.db, &ids).await?;
    let with_count = |sailing: SailingDetail| {
        let count = checked_in.get(&sailing.id).copied().unwrap_or_default();
        RouteSailing::new(sailing, count)
    };
    let page = query.paging.page((sailings.into_iter().map(with_count).collect(), total));
    Ok(FileOr::Json(page))
}

pub async fn get_route_time(
    State(app): State<App>,
    PathSailing(sailing): PathSailing,
) -> Result<Reply<RouteSailing>> {
    let checked_in = store::checked_in(&app.db, &[sailing.id]).await?;
    let count = checked_in.get(&sailing.id).copied().unwrap_or_default();
    Ok(Reply::data(RouteSailing::new(sailing.seen_at(app.clock.now()), count)))
}

/// The stored manifest if closed, else the current one.
pub async fn get_manifest(
    State(app): State<App>,
    caller: Caller,
    PathSailing(sailing): PathSailing,
    Accepts(accepted): Accepts,
    Query(query): Query<ManifestQuery>,
) -> Result<FileOr<Reply<Manifest>, Lists>> {
    let manifest =
        manifest::read(&app, sailing, bookings::may_read_identity(Some(&caller))).await?;
    let sailing = &manifest.sailing;
    let local = sailing.departure_at.with_timezone(&sailing.timezone.tz());
    let name = format!("manifest-{}", local.format("%Y-%m-%d-%H%M"));
    Ok(match query.format.unwrap_or(accepted) {
        ManifestFormat::Json => FileOr::Json(Reply::data(manifest)),
        ManifestFormat::Csv => {
            let csv = manifest::csv(&manifest);
            FileOr::File(File::attached(&format!("{name}.csv"), CSV, csv)?)
        }
        ManifestFormat::Pdf => {
            let lang = caller.context.lang;
            let _turn = app.drawings.acquire().await.map_err(Error::internal)?;
            let drawn = tokio::task::spawn_blocking(move || page::draw(&manifest, lang)).await;
            let pdf = drawn.map_err(Error::internal).flatten()?;
            FileOr::File(File::inline(&format!("{name}.pdf"), PDF, pdf)?)
        }
    })
}

pub async fn close_manifest(
    State(app): State<App>,
    caller: Caller,
    PathSailing(seen): PathSailing,
) -> Result<Reply<Manifest>> {
    let id = seen.id;
    manifest::close(&app, &caller, seen).await?;
    let sailing = sailings::sailing(&app.db, None, id).await?.ok_or(Error::NotFound)?;
    let manifest =
        manifest::read(&app, sailing, bookings::may_read_identity(Some(&caller))).await?;
    Ok(Reply::data(manifest).saying("The manifest has been closed.", "Manifes telah ditutup."))
}

pub async fn reopen_manifest(
    State(app): State<App>,
    caller: Caller,
    PathSailing(seen): PathSailing,
    Body(form): Body<ReopenManifest>,
) -> Result<Reply<Manifest>> {
    let id = seen.id;
    manifest::reopen(&app, &caller, seen, &form.reason).await?;
    let sailing = sailings::sailing(&app.db, None, id).await?.ok_or(Error::NotFound)?;
    let manifest =
        manifest::read(&app, sailing, bookings::may_read_identity(Some(&caller))).await?;
    Ok(Reply::data(manifest).saying("The manifest is open again.", "Manifes dibuka kembali."))
}

/// A single code is refused with a reason; a batch has an outcome for each scan.
pub async fn check_in(
    State(app): State<App>,
    caller: Caller,
    PathSailing(sailing): PathSailing,
    Body(form): Body<CheckIn>,
) -> Result<Reply<CheckedIn>> {
    if let Some(code) = &form.ticket_code {
        let scan = TicketScan { code, scan_id: None, at: app.clock.now() };
        let admitted = admitted(checkin::board(&app, &caller, &sailing, &scan).await?)?;
        let reply = Reply::data(CheckedIn::One(admitted));
        return Ok(reply.saying("The passenger is checked in.", "Penumpang sudah check-in."));
    }
    let (mut results, mut boarded) = (Vec::new(), 0);
    // Each scan has its own transaction; submitting the batch again after a failure is harmless.
    for scan in form.scans.unwrap_or_default() {
        let (code, at) = (scan.ticket_code.as_str(), scan.scanned_at);
        let ticket = TicketScan { code, scan_id: Some(&scan.scan_id), at };
        let scanned = checkin::board_scan(&app, &caller, &sailing, &scan.scan_id, &ticket).await?;
        boarded += usize::from(scanned.outcome == Outcome::Boarded && !scanned.repeated);
        results.push(ScanResult {
            scan_id: scan.scan_id.to_string(),
            outcome: scanned.outcome,
            message: rules::outcome_text(scanned.outcome).say(caller.context.lang).to_owned(),
            repeated: scanned.repeated,
            admitted: scanned.admitted,
        });
    }
    Ok(Reply::data(CheckedIn::Batch { boarded, results }))
}

pub async fn undo_check_in(
    State(app): State<App>,
    caller: Caller,
    PathSailing(sailing): PathSailing,
    Body(form): Body<UndoCheckIn>,
) -> Result<Reply<Admitted>> {
    let reason = form.reason.as_deref().unwrap_or_default();
    let undone = checkin::undo(&app, &caller, &sailing, &form.ticket_code, reason).await?;
    let admitted = admitted(undone)?;
    Ok(Reply::data(admitted).saying("The check-in has been undone.", "Check-in telah dibatalkan."))
}

/// The passenger, or the refusal as an error.
fn admitted(scanned: ScanOutcome) -> Result<Admitted> {
    match (scanned.outcome, scanned.admitted) {
        (Outcome::Boarded | Outcome::Undone, Some(admitted)) => Ok(admitted),
        (Outcome::Forged, _) => {
            Err(Error::field("ticket_code", "forged", rules::outcome_text(Outcome::Forged)))
        }
        (outcome, admitted) => Err(Error::Conflict(Box::new(Conflict {
            word: outcome.as_str(),
            message: rules::outcome_text(outcome),
            data: admitted.map(|admitted| json!(admitted)),
        }))),
    }
}
