//! Handlers that create, release and cancel settlements.

use axum::extract::State;
use serde_json::json;

use super::lookup::{PathSettlement, to_response};
use crate::{
    app::App,
    events::{self, DomainEvent, SettlementRef},
    files::{self, Purpose},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, OptionalBody, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    partners::{self, PartnerStatus},
    settlements::{
        gather::{SettlementRequest, settle_dues},
        model::{
            CancelSettlement, ManualSettlement, Origin, ReleaseForm, SettlementDetail,
            SettlementRow,
        },
        store::{self, Release},
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
            "Nothing is payable to this partner for these days.",
            "Tidak ada yang perlu dibayarkan kepada mitra ini untuk tanggal tersebut.",
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
        release(&app, &caller, &before, &form, running).await
    });
    Ok(released.await?.saying("The settlement has been released.", "Settlement dirilis."))
}

async fn release(
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
    let partner = partners::lock_row(&mut tx, before.partner_id, now).await?;
    if partner.status == PartnerStatus::Suspended {
        return Err(Error::invalid_state(
            "The partner is suspended; its settlements are held.",
            "Mitra sedang ditangguhkan; settlement-nya ditahan.",
        ));
    }
    let account = partners::payable_account(&mut tx, partner.id, &app.sealer).await?;
    let Some(account) = account else {
        return Err(Error::invalid_state(
            "The partner has no approved bank account, or a change of it awaits approval; its \
             settlements are held.",
            "Mitra belum memiliki rekening yang disetujui, atau perubahannya belum disetujui; \
             settlement-nya ditahan.",
        ));
    };
    let release = Release {
        reference: &form.reference,
        proof_file_id,
        note: form.note.as_deref().filter(|note| !note.is_empty()),
        bank_account: &json!(account),
        by: caller.person.id,
    };
    if !store::release(&mut tx, id, release, now).await? {
        return Err(no_longer_pending());
    }
    let posting = Posting::new(Source::Settlement, id, "released")
        .of_partner(partner.id)
        .debit(Account::PartnerPayable, before.net)
        .credit(Account::Bank, before.net);
    ledger::post(&mut tx, posting, now).await?;
    let released = SettlementRef { settlement_id: id, mitra_id: partner.id };
    events::emit(&mut tx, DomainEvent::SettlementReleased(released), now).await?;
    record_and_commit(app, tx, Some(before), id, "settlement.released", running).await
}

/// Four eyes: a settlement is not released by whoever created it. Anybody releases one of the
/// schedule.
fn ensure_another_person(app: &App, caller: &Caller, settlement: &SettlementRow) -> Result<()> {
    match app.config.four_eyes.0 && settlement.created_by == Some(caller.person.id) {
        true => Err(Error::conflict(
            "same_person",
            "Somebody else must release this settlement: you have created it.",
            "Settlement ini harus dirilis orang lain: Anda yang membuatnya.",
        )),
        false => Ok(()),
    }
}

/// Its bookings can be settled again.
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
    if !store::cancel(&mut tx, before.id, note, now).await? {
        return Err(no_longer_pending());
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
    let kept = SettlementDetail { settlement: logged(after.clone())?, items };
    if let Some(running) = running {
        running.keep(&mut tx, &json!(kept)).await?;
    }
    tx.commit().await?;
    Ok(SettlementDetail { settlement: to_response(app, after)?, items: kept.items })
}

fn no_longer_pending() -> Error {
    Error::invalid_state("The settlement is no longer pending.", "Settlement tidak lagi menunggu.")
}
