//! Handlers of receipts: money that partners pay us.

use axum::extract::State;
use serde_json::json;

use crate::{
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        error::Result,
        http::{Fingerprinted, IdempotencyKey, Once, Page, Query, Reply, once},
        idempotency::{Key, Running},
    },
    partners,
    settlements::receipts::{self, Receipt, ReceiptForm, ReceiptsQuery},
};

pub async fn list_receipts(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ReceiptsQuery>,
) -> Result<Page<Receipt>> {
    let owner = caller.partner_filter(query.mitra_id)?;
    Ok(receipts::list(&app.db, owner, &query).await?.each(Receipt::from))
}

/// Records money that a partner paid for what it owes.
pub async fn record_receipt(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ReceiptForm>,
) -> Result<Reply<Once<Receipt>>> {
    let key = Key::of_account(&caller, key, "record_receipt", "/v1/settlements/receipts", body);
    let recorded = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        record(&app, &caller, &form, running).await
    });
    Ok(recorded.await?.saying("The receipt has been recorded.", "Penerimaan tercatat."))
}

async fn record(
    app: &App,
    caller: &Caller,
    form: &ReceiptForm,
    running: Option<&Running>,
) -> Result<Receipt> {
    partners::known(&app.db, form.mitra_id).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let receipt = receipts::record(&mut tx, form, caller.person.id, now).await?;
    tx.record(Change {
        action: "receipt.recorded",
        entity: "settlement_receipt",
        id: receipt.id,
        before: None,
        after: Some(&receipt),
    })
    .await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(receipt)).await?;
    }
    tx.commit().await?;
    Ok(receipt)
}
