//! Transfers of resellers to our bank account.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{invoices, store};
use crate::{
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
        schema::Input,
        text::Line,
    },
    ledger::{self, Account, Posting, Source},
};

#[derive(Deserialize, JsonSchema)]
pub struct ResellerPaymentForm {
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub amount: Rupiah,
    /// Reference of the transfer. Each is recorded once.
    pub reference: Line<120>,
    /// Day on which the money arrived: today or earlier, in a month that is open.
    pub received_on: NaiveDate,
}

impl Input for ResellerPaymentForm {}

/// A transfer of a reseller.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ResellerPayment {
    pub id: Uuid,
    pub reseller_id: Uuid,
    pub amount: Rupiah,
    pub reference: String,
    pub received_on: NaiveDate,
    /// UUID of the account that recorded it.
    pub recorded_by: Uuid,
    /// What the reseller owes after it; negative if it has paid in advance.
    pub balance: Rupiah,
    pub created_at: DateTime<Utc>,
}

/// Records a transfer: it lowers the balance and settles the oldest invoices.
///
/// Lock order: the books, then the reseller's row.
pub async fn record(
    tx: &mut Tx,
    reseller: Uuid,
    form: &ResellerPaymentForm,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<ResellerPayment> {
    ledger::ensure_postable(tx, "received_on", form.received_on, now).await?;
    store::lock_row(tx, reseller, now).await?;
    let id = ids::fresh();
    if !insert(tx, id, reseller, form, by, now).await? {
        return Err(Error::conflict(
            "already_recorded",
            "A payment with this reference is recorded already.",
            "Pembayaran dengan referensi ini sudah tercatat.",
        ));
    }
    let posting = Posting::new(Source::ResellerPayment, id, "received")
        .of_reseller(Some(reseller))
        .on(form.received_on)
        .debit(Account::Bank, form.amount)
        .credit(Account::ResellerReceivable, form.amount);
    ledger::post(tx, posting, now).await?;
    invoices::settle(tx, reseller, form.amount).await?;
    let payment = tx.sql(
        "SELECT y.id, y.reseller_id, y.amount, y.reference, y.received_on, y.recorded_by,
           e.balance, y.created_at
         FROM reseller_payments y JOIN resellers e ON e.id = y.reseller_id WHERE y.id = $1",
    );
    Ok(payment.bind(id).one().await?)
}

/// `false` if the reference was recorded before.
async fn insert(
    tx: &mut Tx,
    id: Uuid,
    reseller: Uuid,
    form: &ResellerPaymentForm,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    let inserted = tx
        .sql(
            "INSERT INTO reseller_payments (id, reseller_id, amount, reference, received_on,
               recorded_by, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (reference) DO NOTHING",
        )
        .bind(id)
        .bind(reseller)
        .bind(form.amount)
        .bind(form.reference.to_string())
        .bind(form.received_on)
        .bind(by)
        .bind(now)
        .run()
        .await?;
    Ok(inserted == 1)
}
