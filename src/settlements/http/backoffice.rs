//! Handlers that create, release, return and cancel settlements.

use axum::extract::State;
use serde_json::json;

use super::lookup::{PathSettlement, to_response};
use crate::{
    app::App,
    files::{self, Purpose},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        db::Tx,
        error::{Error, Result},
        http::{Body, Fingerprinted, IdempotencyKey, Once, OptionalBody, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        money::Rupiah,
    },
    partners,
    settlements::{
        gather::{SettlementRequest, settle_dues},
        model::{
            CancelSettlement, ManualSettlement, Origin, ReleaseForm, ReleaseMethod, ReturnForm,
            SettlementDetail, SettlementRow, SettlementStatus,
        },
        payouts, release, store,
    },
};

/// Settles a partner's completed bookings by day of departure.
pub async fn create_settlement(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ManualSettlement>,
) -> Result<Reply<Once<SettlementDetail>>> {
    let key = Key::of_account(&caller, key, "create_settlement", "/v1/settlements/manual", body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        create(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying("The settlement has been created.", "Settlement dibuat."))
}

async fn create(
    app: &App,
    caller: &Caller,
    form: &ManualSettlement,
    running: Option<&Running>,
) -> Result<SettlementDetail> {
    partners::known(&app.db, form.mitra_id).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let wanted = SettlementRequest {
        partner_id: form.mitra_id,
        start: form.start_date,
        end: form.end_date,
        from: form.start_date,
        origin: Origin::Manual,
        note: form.note.as_deref().unwrap_or_default(),
        by: Some(caller.person.id),
        minimum: Rupiah::ZERO,
    };
    let Some(id) = settle_dues(&mut tx, &app.sealer, wanted, now).await? else {
        return Err(Error::conflict(
            "nothing_to_settle",
            "Nothing of this partner is unsettled for these days.",
            "Tidak ada yang belum diselesaikan dari mitra ini untuk tanggal tersebut.",
        ));
    };
    record_and_commit(app, tx, None, id, "settlement.created", running).await
}

/// Records the transfer to the partner's account.
pub async fn release_settlement(
    State(app): State<App>,
    caller: Caller,
    PathSettlement(before): PathSettlement,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ReleaseForm>,
) -> Result<Reply<Once<SettlementDetail>>> {
    let path = format!("/v1/settlements/{}/release", before.id);
    let key = Key::of_account(&caller, key, "release_settlement", path, body);
    let released = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        release_once(&app, &caller, &before, &form, running).await
    });
    Ok(released.await?.saying("The settlement has been released.", "Settlement dirilis."))
}

async fn release_once(
    app: &App,
    caller: &Caller,
    before: &SettlementRow,
    form: &ReleaseForm,
    running: Option<&Running>,
) -> Result<SettlementDetail> {
    ensure_another_person(app, caller, before)?;
    let proof_file_id = match form.proof_file_id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => Some(files::refer(app, caller, "proof_file_id", id, Purpose::Proof).await?),
        None => None,
    };
    let (id, now) = (before.id, app.clock.now());
    let mut tx = caller.begin(&app.db, now).await?;
    let by = caller.person.id;
    let reference = form.reference.as_deref().unwrap_or_default();
    let note = form.note.as_deref().filter(|note| !note.is_empty());
    let paid = payouts::PaidByHand { reference, proof_file_id, note, by };
    if form.method != Some(ReleaseMethod::Payout)
        && payouts::resolve_paid(&mut tx, before, paid, now).await?
    {
        return record_and_commit(app, tx, Some(before), id, "settlement.released", running).await;
    }
    let account = release::ensure_payable(&mut tx, &app.sealer, before, now).await?;
    ensure_not_returned_by(app, &mut tx, caller, before).await?;
    store::set_payee(&mut tx, id, json!(account), proof_file_id, note).await?;
    if form.method == Some(ReleaseMethod::Payout) {
        payouts::start(app, &mut tx, before, &account, by, now).await?;
        return record_and_commit(app, tx, Some(before), id, "settlement.sent", running).await;
    }
    release::release_paid(&mut tx, id, reference, Some(by), None, now).await?;
    record_and_commit(app, tx, Some(before), id, "settlement.released", running).await
}

/// Four eyes: a settlement is not released by whoever created it. Anybody releases one of the
/// schedule.
fn ensure_another_person(app: &App, caller: &Caller, settlement: &SettlementRow) -> Result<()> {
    match app.config.four_eyes.0 && settlement.created_by == Some(caller.person.id) {
        true => Err(Error::conflict(
            "same_person",
            "Another person must release this settlement: you have created it.",
            "Settlement ini harus dirilis orang lain: Anda yang membuatnya.",
        )),
        false => Ok(()),
    }
}

/// Nor by whoever recorded that a payout of it came back.
async fn ensure_not_returned_by(
    app: &App,
    tx: &mut Tx,
    caller: &Caller,
    settlement: &SettlementRow,
) -> Result<()> {
    let own = store::was_returned_by(tx, settlement.id, caller.person.id).await?;
    match app.config.four_eyes.0 && own {
        true => Err(Error::conflict(
            "same_person",
            "Another person must release this settlement: you have recorded that it came back.",
            "Settlement ini harus dirilis orang lain: Anda yang mencatat pengembaliannya.",
        )),
        false => Ok(()),
    }
}

/// Records that the transfer of a released settlement came back; it is payable again.
pub async fn return_settlement(
    State(app): State<App>,
    caller: Caller,
    PathSettlement(before): PathSettlement,
    Body(form): Body<ReturnForm>,
) -> Result<Reply<SettlementDetail>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    release::give_back(&mut tx, before.id, &form.reason, caller.person.id, now).await?;
    let after =
        record_and_commit(&app, tx, Some(&before), before.id, "settlement.returned", None).await?;
    Ok(Reply::data(after)
        .saying("The settlement is payable again.", "Settlement dapat dibayar lagi."))
}

/// Its bookings can be settled again. The debt that a statement carried is no longer owed then,
/// unless a later settlement has it already.
pub async fn cancel_settlement(
    State(app): State<App>,
    caller: Caller,
    PathSettlement(before): PathSettlement,
    OptionalBody(form): OptionalBody<CancelSettlement>,
) -> Result<Reply<SettlementDetail>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    partners::lock_row(&mut tx, before.partner_id, now).await?;
    let note = form.note.as_deref().filter(|note| !note.is_empty());
    if before.status == SettlementStatus::Processing {
        payouts::resolve_unpaid(&mut tx, before.id, now).await?;
    }
    if !store::cancel(&mut tx, before.id, note, now).await? {
        return Err(release::no_longer_pending());
    }
    if !store::close_carried(&mut tx, before.id).await? {
        return Err(Error::invalid_state(
            "The debt of this statement is part of a later settlement; cancel that one first.",
            "Utang pada pernyataan ini sudah masuk settlement berikutnya; batalkan itu dahulu.",
        ));
    }
    let after =
        record_and_commit(&app, tx, Some(&before), before.id, "settlement.cancelled", None).await?;
    Ok(Reply::data(after).saying("The settlement has been cancelled.", "Settlement dibatalkan."))
}

/// Writes the audit entry and the idempotent response, then commits.
async fn record_and_commit(
    app: &App,
    mut tx: AuditedTx,
    before: Option<&SettlementRow>,
    id: Uuid,
    action: &'static str,
    running: Option<&Running>,
) -> Result<SettlementDetail> {
    // Neither the audit log nor a stored response contains file addresses.
    let logged = |row: SettlementRow| {
        let mut settlement = to_response(app, row)?;
        settlement.proof_url = None;
        Ok::<_, Error>(settlement)
    };
    let after = store::get_in(&mut tx, id).await?;
    let before = before.cloned().map(logged).transpose()?;
    tx.record(Change {
        action,
        entity: "settlement",
        id,
        before: before.as_ref().map(|before| before as _),
        after: Some(&logged(after.clone())?),
    })
    .await?;
    let items = store::items_in(&mut tx, id).await?;
    let payouts = store::payouts_in(&mut tx, id).await?;
    let kept = SettlementDetail { settlement: logged(after.clone())?, items, payouts };
    if let Some(running) = running {
        running.keep(&mut tx, &json!(kept)).await?;
    }
    tx.commit().await?;
    Ok(SettlementDetail { settlement: to_response(app, after)?, ..kept })
}
