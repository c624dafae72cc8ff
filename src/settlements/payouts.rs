//! Settlements that are paid out by a provider: pending → processing → released, or back to pending
//! with the reason. A payout that comes back later is like a transfer that bounced.

use axum::{
    extract::{FromRequest, Request, State},
    http::HeaderMap,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    model::{SettlementRow, SettlementStatus},
    release, store,
};
use crate::{
    app::App,
    events::{self, DomainEvent, SettlementRef},
    kernel::{
        db::Tx,
        error::{Error, Result},
        http::{MAX_BODY, Reply, unreadable},
        ids::Uuid,
        lang::text,
        money::Rupiah,
    },
    partners::{self, BankAccount},
    providers::{Outcome, PayoutAccount},
    transfers::{self, Change, NewTransfer, Transfer, TransferStatus},
};

/// Makes a transfer of the settlement, whose row has the account that it is paid to. 409 if it is no
/// longer pending. The caller has locked the partner.
pub async fn start(
    app: &App,
    tx: &mut Tx,
    settlement: &SettlementRow,
    account: &BankAccount,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let provider = app.providers().payouts.as_ref().ok_or_else(|| {
        let message = text(
            "Payouts through a provider are not set up.",
            "Pencairan melalui penyedia belum diatur.",
        );
        Error::field("method", "unavailable", message)
    })?;
    let processing = tx
        .sql(
            "UPDATE settlements SET status = 'processing', failure = NULL, released_by = $1
             WHERE id = $2 AND status = 'pending'",
        )
        .bind(by)
        .bind(settlement.id)
        .run()
        .await?;
    if processing != 1 {
        return Err(release::no_longer_pending());
    }
    let number = account.account_number.as_ref().map(|number| number.number().to_owned());
    let payee = PayoutAccount {
        bank_code: account.bank_code.clone().unwrap_or_default(),
        account_number: number.unwrap_or_default(),
        account_name: account.account_name.clone().unwrap_or_default(),
    };
    let payee = serde_json::to_string(&payee).map_err(Error::internal)?;
    let new = NewTransfer {
        refund_id: None,
        settlement_id: Some(settlement.id),
        payment_id: None,
        transaction_id: None,
        provider: provider.name(),
        amount: settlement.net,
        account: Some(app.sealer.seal(&payee)?),
    };
    transfers::insert(tx, new, now).await?;
    Ok(())
}

/// The account that a transfer pays to, and what the partner reads on its statement.
pub async fn facts(
    app: &App,
    transfer: &Transfer,
    settlement: Uuid,
) -> Result<(Option<PayoutAccount>, String)> {
    let settlement = store::get(&app.db, settlement).await?.ok_or(Error::NotFound)?;
    let account = match &transfer.account {
        Some(sealed) => {
            let account = app.sealer.open(sealed)?;
            Some(serde_json::from_str(&account).map_err(Error::internal)?)
        }
        None => None,
    };
    Ok((account, settlement.code))
}

/// Applies what the provider said about the payout.
pub async fn settle(
    app: &App,
    transfer: &Transfer,
    settlement: Uuid,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> Result<()> {
    let row = store::get(&app.db, settlement).await?.ok_or(Error::NotFound)?;
    let mut tx = app.db.begin().await?;
    partners::lock_row(&mut tx, row.partner_id, now).await?;
    let (transfer, change) = transfers::record(&mut tx, transfer.id, outcome, now).await?;
    match change {
        Change::None => {
            if let (TransferStatus::Failed, Outcome::Confirmed { provider_id, amount }) =
                (transfer.status, outcome)
            {
                let paid = amount.unwrap_or(transfer.amount);
                paid_late(&mut tx, &row, (transfer.id, paid), provider_id, now).await?;
            }
        }
        Change::Confirmed { reference, amount } => {
            let by = row.released_by;
            let transfer_id = Some(transfer.id);
            let payout =
                release::release_paid(&mut tx, settlement, &reference, by, transfer_id, now)
                    .await?;
            if amount != transfer.amount {
                release::post_difference(&mut tx, &row, payout, amount, now).await?;
                let failure = format!("the provider paid {amount} instead of {}", transfer.amount);
                set_failure(&mut tx, &row, &failure, now).await?;
            }
        }
        Change::Failed(reason) => release::take_back(&mut tx, settlement, &reason, now).await?,
        // A person may have recorded the return, and paid again, before.
        Change::Reversed(reason) if store::has_open_payout(&mut tx, transfer.id).await? => {
            release::take_back(&mut tx, settlement, &reason, now).await?;
        }
        Change::Reversed(_) => {
            release::take_back_unowed(&mut tx, &row, transfer.id, now).await?;
        }
    }
    Ok(tx.commit().await?)
}

/// The provider has paid a payout that it had reported as refused. The settlement is released if nobody
/// has paid it since; otherwise the money waits in `suspense` until a person has got it back.
async fn paid_late(
    tx: &mut Tx,
    row: &SettlementRow,
    (transfer, paid): (Uuid, Rupiah),
    reference: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    if !transfers::confirm_late(tx, transfer, now).await? {
        return Ok(());
    }
    if store::get_in(tx, row.id).await?.status == SettlementStatus::Pending {
        let payout =
            release::release_paid(tx, row.id, reference, None, Some(transfer), now).await?;
        if paid != row.net {
            release::post_difference(tx, row, payout, paid, now).await?;
        }
        return Ok(());
    }
    release::post_unowed(tx, row, transfer, paid, now).await?;
    set_failure(tx, row, "the provider paid a payout that had failed", now).await
}

/// The outcome is unknown, and the provider no longer recognises a repetition: a person has to look.
pub async fn stop(app: &App, transfer: &Transfer, now: DateTime<Utc>) -> Result<()> {
    let settlement = transfer.settlement_id.ok_or_else(|| Error::internal("not a payout"))?;
    let row = store::get(&app.db, settlement).await?.ok_or(Error::NotFound)?;
    let mut tx = app.db.begin().await?;
    partners::lock_row(&mut tx, row.partner_id, now).await?;
    let reason = "the provider did not say what became of the payout; look it up there, then \
                  release or cancel the settlement";
    if transfers::stop(&mut tx, transfer.id, reason, now).await? {
        set_failure(&mut tx, &row, reason, now).await?;
    }
    Ok(tx.commit().await?)
}

/// What a person records of a payout that was found to be paid.
pub struct PaidByHand<'a> {
    pub reference: &'a str,
    pub proof_file_id: Option<Uuid>,
    pub note: Option<&'a str>,
    pub by: Uuid,
}

/// A person has found out that a payout with an unknown outcome was paid: the settlement is released.
/// `false`: there is no such payout.
pub async fn resolve_paid(
    tx: &mut Tx,
    settlement: &SettlementRow,
    paid: PaidByHand<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let PaidByHand { reference, by, .. } = paid;
    partners::lock_row(tx, settlement.partner_id, now).await?;
    let Some(transfer) = transfers::open_of_settlement(tx, settlement.id).await? else {
        return Ok(false);
    };
    let confirmed = TransferStatus::Confirmed;
    if !transfers::resolve(tx, transfer.id, confirmed, Some(reference), now).await? {
        return Ok(false);
    }
    tx.sql(
        "UPDATE settlements SET proof_file_id = COALESCE($1, proof_file_id),
           note = COALESCE($2, note)
         WHERE id = $3",
    )
    .bind(paid.proof_file_id)
    .bind(paid.note.map(str::to_owned))
    .bind(settlement.id)
    .run()
    .await?;
    let transfer_id = Some(transfer.id);
    release::release_paid(tx, settlement.id, reference, Some(by), transfer_id, now).await?;
    Ok(true)
}

/// A person has found out that a payout with an unknown outcome was not paid: the settlement is
/// pending again. The caller has locked the partner.
pub async fn resolve_unpaid(tx: &mut Tx, settlement: Uuid, now: DateTime<Utc>) -> Result<()> {
    if let Some(transfer) = transfers::open_of_settlement(tx, settlement).await?
        && transfers::resolve(tx, transfer.id, TransferStatus::Failed, None, now).await?
    {
        back_to_pending(tx, settlement).await?;
    }
    Ok(())
}

async fn back_to_pending(tx: &mut Tx, settlement: Uuid) -> Result<()> {
    tx.sql(
        "UPDATE settlements SET status = 'pending', released_by = NULL
         WHERE id = $1 AND status = 'processing'",
    )
    .bind(settlement)
    .run()
    .await?;
    Ok(())
}

/// Records why the payout needs attention, and announces it.
async fn set_failure(
    tx: &mut Tx,
    settlement: &SettlementRow,
    failure: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql("UPDATE settlements SET failure = $1 WHERE id = $2")
        .bind(failure.to_owned())
        .bind(settlement.id)
        .run()
        .await?;
    let failed = SettlementRef { settlement_id: settlement.id, mitra_id: settlement.partner_id };
    events::emit(tx, DomainEvent::SettlementFailed(failed), now).await
}

/// Receives a callback about a payout. Its sender is verified; its content is not trusted: the
/// provider is asked, and the answer is applied once. If the provider does not answer, the job asks.
pub async fn payout_callback(
    State(app): State<App>,
    headers: HeaderMap,
    RawBytes(body): RawBytes,
) -> Result<Reply> {
    let provider = app.providers().payouts.as_ref().ok_or(Error::NotFound)?;
    if provider.name() == "simulator" {
        return Err(Error::NotFound);
    }
    let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let told = provider.read_payout_callback(header, &body).ok_or(Error::InvalidToken)?;
    let mut found = match told.transfer {
        Some(id) => transfers::get(&app.db, id).await?,
        None => None,
    };
    if let (None, Some(id)) = (&found, &told.provider_id) {
        found = transfers::by_provider_id(&app.db, provider.name(), id).await?;
    }
    let ours = |transfer: &Transfer| {
        transfer.settlement_id.is_some() && transfer.provider == provider.name()
    };
    let transfer = found.filter(ours).ok_or(Error::NotFound)?;
    let now = app.clock.now();
    match provider.payout_status(transfer.id, transfer.provider_id.as_deref()).await {
        Some(Outcome::Unknown(_) | Outcome::Config(_)) | None => {
            transfers::postpone(&app.db, transfer.id, now).await?;
        }
        Some(outcome) => {
            let settlement = transfer.settlement_id.ok_or(Error::NotFound)?;
            settle(&app, &transfer, settlement, &outcome, now).await?;
        }
    }
    Ok(Reply::done("Received.", "Diterima."))
}

/// The body as it arrived, which the provider has signed.
pub struct RawBytes(Bytes);

impl<S: Sync> FromRequest<S> for RawBytes {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes =
            axum::body::to_bytes(request.into_body(), MAX_BODY).await.map_err(unreadable)?;
        let object: Option<Value> = serde_json::from_slice(&bytes).ok().filter(Value::is_object);
        let why = text("The body is not a JSON object.", "Isi permintaan bukan objek JSON.");
        object.map(|_| Self(bytes)).ok_or(Error::Malformed(why))
    }
}

impl aide::OperationInput for RawBytes {
    fn operation_input(
        ctx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) {
        crate::kernel::http::Body::<AnyPayout>::operation_input(ctx, operation);
    }
}

/// In the format of the provider of payouts.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct AnyPayout {}

impl crate::kernel::schema::Input for AnyPayout {}
