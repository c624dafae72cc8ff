//! Handlers of invoices and payments.

use axum::extract::State;
use serde_json::json;

use super::PathReseller;
use crate::{
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Page, Query, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        lang::text,
    },
    resellers::{
        invoices::{self, Period, ResellerInvoice, ResellerInvoiceForm, ResellerInvoicesQuery},
        payments::{self, ResellerPayment, ResellerPaymentForm},
        store,
    },
};

pub async fn list_reseller_invoices(
    State(app): State<App>,
    PathReseller(reseller): PathReseller,
    Query(query): Query<ResellerInvoicesQuery>,
) -> Result<Page<ResellerInvoice>> {
    invoices::list(&app.db, reseller.id, &query).await
}

pub async fn create_reseller_invoice(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ResellerInvoiceForm>,
) -> Result<Reply<Once<ResellerInvoice>>> {
    let path = format!("/v1/resellers/{}/invoices", reseller.id);
    let key = Key::of_account(&caller, key, "create_reseller_invoice", path, body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        invoice(&app, &caller, reseller.id, &form, running).await
    });
    Ok(made.await?.saying("The invoice has been created.", "Tagihan dibuat."))
}

async fn invoice(
    app: &App,
    caller: &Caller,
    reseller: Uuid,
    form: &ResellerInvoiceForm,
    running: Option<&Running>,
) -> Result<ResellerInvoice> {
    if form.end_date > app.today() {
        let message = text("This day is in the future.", "Tanggal ini belum tiba.");
        return Err(Error::field("end_date", "max", message));
    }
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let reseller = store::lock_row(&mut tx, reseller, now).await?;
    let period = Period { from: form.start_date, start: form.start_date, end: form.end_date };
    let by = Some(caller.person.id);
    let Some(id) = invoices::make(&mut tx, &reseller, period, by, now).await? else {
        return Err(Error::conflict(
            "nothing_to_invoice",
            "Everything of these days is invoiced already.",
            "Semua transaksi pada tanggal tersebut sudah ditagih.",
        ));
    };
    let invoice = invoices::get_in(&mut tx, id).await?;
    // The bookings of an invoice are in the ledger; the log does not repeat them.
    let logged = ResellerInvoice { lines: Vec::new(), ..invoice.clone() };
    tx.record(Change {
        action: "reseller_invoice.created",
        entity: "reseller_invoice",
        id,
        before: None,
        after: Some(&logged),
    })
    .await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(invoice)).await?;
    }
    tx.commit().await?;
    Ok(invoice)
}

pub async fn record_reseller_payment(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ResellerPaymentForm>,
) -> Result<Reply<Once<ResellerPayment>>> {
    let path = format!("/v1/resellers/{}/payments", reseller.id);
    let key = Key::of_account(&caller, key, "record_reseller_payment", path, body);
    let recorded = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        pay(&app, &caller, reseller.id, &form, running).await
    });
    Ok(recorded.await?.saying("The payment has been recorded.", "Pembayaran tercatat."))
}

async fn pay(
    app: &App,
    caller: &Caller,
    reseller: Uuid,
    form: &ResellerPaymentForm,
    running: Option<&Running>,
) -> Result<ResellerPayment> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let payment = payments::record(&mut tx, reseller, form, caller.person.id, now).await?;
    tx.record(Change {
        action: "reseller_payment.recorded",
        entity: "reseller_payment",
        id: payment.id,
        before: None,
        after: Some(&payment),
    })
    .await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(payment)).await?;
    }
    tx.commit().await?;
    Ok(payment)
}
