//! Receipts: money that partners pay us for what they owe.

use chrono::{DateTime, Days, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::By;
use crate::{
    fleet::Owner,
    kernel::{
        db::{Db, Tx},
        error::{Error, Result},
        http::{Page, Paging},
        ids::{self, Uuid},
        lang::text,
        money::Rupiah,
        schema::Input,
        text::Line,
    },
    ledger::{self, Account, Due, DueKind, Posting, Source},
    partners,
};

crate::string_enum! {
    pub enum ReceiptMethod { Bank = "bank", Cash = "cash" }
}

impl ReceiptMethod {
    /// The account that the money arrives in.
    fn account(self) -> Account {
        match self {
            Self::Bank => Account::Bank,
            Self::Cash => Account::Cash,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ReceiptForm {
    pub mitra_id: Uuid,
    #[schemars(range(min = 1))]
    pub amount: Rupiah,
    pub method: ReceiptMethod,
    /// Reference of the transfer, or number of the cash receipt.
    #[schemars(length(min = 1, max = 120), regex(pattern = r"\S"))]
    pub reference: Line<120>,
    /// Day on which the money arrived: today or earlier, in a month that is open.
    pub received_on: NaiveDate,
}

impl Input for ReceiptForm {}

crate::string_enum! {
    pub enum ReceiptSort {
        CreatedAt = "created_at",
        ReceivedOn = "received_on",
        Amount = "amount",
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ReceiptsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub mitra_id: Option<Uuid>,
    pub sort_by: Option<ReceiptSort>,
}

impl Input for ReceiptsQuery {}

#[derive(crate::kernel::db::FromRow)]
pub struct ReceiptRow {
    id: Uuid,
    code: String,
    partner_id: Uuid,
    partner_name: String,
    amount: Rupiah,
    method: ReceiptMethod,
    reference: String,
    received_on: NaiveDate,
    recorded_by: Uuid,
    recorded_by_name: String,
    created_at: DateTime<Utc>,
}

/// Money that a partner paid us.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Receipt {
    pub id: Uuid,
    pub code: String,
    pub mitra_id: Uuid,
    pub mitra: Owner,
    pub amount: Rupiah,
    pub method: ReceiptMethod,
    pub reference: String,
    pub received_on: NaiveDate,
    pub recorded_by: By,
    pub created_at: DateTime<Utc>,
}

impl From<ReceiptRow> for Receipt {
    fn from(row: ReceiptRow) -> Self {
        Self {
            id: row.id,
            code: row.code,
            mitra_id: row.partner_id,
            mitra: Owner { id: row.partner_id, name: row.partner_name },
            amount: row.amount,
            method: row.method,
            reference: row.reference,
            received_on: row.received_on,
            recorded_by: By { id: row.recorded_by, name: row.recorded_by_name },
            created_at: row.created_at,
        }
    }
}

/// Records a receipt and credits the partner with it.
pub async fn record(
    tx: &mut Tx,
    form: &ReceiptForm,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<Receipt> {
    ensure_day(tx, form.received_on, now).await?;
    let (partner, amount) = (form.mitra_id, form.amount);
    partners::lock_row(tx, partner, now).await?;
    let owed = -ledger::unsettled_in(tx, partner).await?;
    if owed <= Rupiah::ZERO {
        return Err(Error::conflict(
            "nothing_owed",
            "This partner owes nothing.",
            "Mitra ini tidak memiliki utang.",
        ));
    }
    if amount > owed {
        let message = text("This is more than the partner owes.", "Utang mitra lebih kecil.");
        return Err(Error::field("amount", "max", message));
    }
    let id = ids::fresh();
    insert(tx, id, form, by, now).await?;
    let posting = Posting::new(Source::Receipt, id, "received")
        .of_partner(partner)
        .on(form.received_on)
        .debit(form.method.account(), amount)
        .credit(Account::PartnerPayable, amount);
    ledger::post(tx, posting, now).await?;
    let paid = (Rupiah::ZERO, -amount);
    let due = Due::of_source(partner, DueKind::Receipt, id, form.received_on, paid);
    ledger::record_dues(tx, &[due], now).await?;
    let row: ReceiptRow = tx.sql(BY_ID).bind(id).one().await?;
    Ok(row.into())
}

/// The day is in the books: not ahead, not more than a year ago, and in a month that is open.
async fn ensure_day(tx: &mut Tx, day: NaiveDate, now: DateTime<Utc>) -> Result<()> {
    let today = tx.date_of(now);
    if day > today {
        let message = text("The day is in the future.", "Tanggal ada di masa depan.");
        return Err(Error::field("received_on", "max", message));
    }
    if day < today - Days::new(366) {
        let message = text("More than a year ago.", "Lebih dari setahun yang lalu.");
        return Err(Error::field("received_on", "min", message));
    }
    ledger::ensure_open(tx, day).await
}

async fn insert(
    tx: &mut Tx,
    id: Uuid,
    form: &ReceiptForm,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO settlement_receipts (id, code, partner_id, amount, method, reference,
           received_on, recorded_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(id)
    .bind(ids::fresh_code("RCP"))
    .bind(form.mitra_id)
    .bind(form.amount)
    .bind(form.method)
    .bind(form.reference.to_string())
    .bind(form.received_on)
    .bind(by)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

macro_rules! receipt {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.code, t.partner_id, a.name AS partner_name, t.amount, t.method,
               t.reference, t.received_on, t.recorded_by, r.name AS recorded_by_name, t.created_at
             FROM settlement_receipts t
             JOIN partners p ON p.id = t.partner_id
             JOIN accounts a ON a.id = p.account_id
             JOIN accounts r ON r.id = t.recorded_by",
            $rest
        )
    };
}

const BY_ID: &str = receipt!(" WHERE t.id = $1");

pub async fn list(db: &Db, owner: Option<Uuid>, query: &ReceiptsQuery) -> Result<Page<ReceiptRow>> {
    let sort = query.sort_by.map(|by| match by {
        ReceiptSort::CreatedAt => "t.created_at",
        ReceiptSort::ReceivedOn => "t.received_on",
        ReceiptSort::Amount => "t.amount",
    });
    let paging = &query.paging;
    let rows = db
        .list(receipt!(""))
        .filter("t.partner_id = ?", owner)
        .search(&["t.code", "a.name", "t.reference"], paging.search())
        .page(paging.sort(sort, "t.created_at"), "t.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}
