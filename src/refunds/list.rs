//! Refunds as the API shows them.

use chrono::{DateTime, Days, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model::{PaidBy, RefundKind, RefundStatus};
use crate::{
    app::App,
    fleet::Owner,
    kernel::{
        access::Role,
        clock::midnight,
        db::{Total, Tx, like},
        error::{Fault, Result},
        http::{Page, Paging},
        ids::Uuid,
        lang::text,
        money::Rupiah,
        schema::Input,
    },
    partners::BankAccount,
};

/// What a customer is owed, or was paid back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refund")]
pub struct RefundRecord {
    pub id: Uuid,
    pub code: String,
    pub booking_id: Uuid,
    pub booking_code: String,
    pub mitra_id: Uuid,
    pub mitra: Owner,
    /// Why it is owed.
    pub kind: RefundKind,
    pub amount: Rupiah,
    /// What is still owed. A provider may pay in parts.
    pub unpaid: Rupiah,
    pub status: RefundStatus,
    /// How it was paid last, or how it is being sent.
    pub by: Option<PaidBy>,
    /// Where the customer wants it, if the provider cannot refund the payment. The number is masked,
    /// except for those who pay a refund and ask for it alone. Null for partners.
    pub account: Option<BankAccount>,
    pub reference: Option<String>,
    pub note: Option<String>,
    pub due_at: DateTime<Utc>,
    pub paid_at: Option<DateTime<Utc>>,
    /// How often it was sent to the provider.
    pub attempts: i32,
    /// Why it was refused or came back.
    pub last_error: Option<String>,
}

impl RefundRecord {
    /// Shows the whole number of the customer's account if `may`.
    pub fn revealed_if(mut self, may: bool) -> Self {
        if let Some(account) = &mut self.account {
            let number = account.account_number.take();
            account.account_number = number.map(|number| number.revealed_if(may));
        }
        self
    }

    /// A partner does not see the customer's account.
    pub fn shown_to(self, role: Role) -> Self {
        match role {
            Role::Mitra | Role::Crew | Role::Reseller => Self { account: None, ..self },
            Role::Admin | Role::Staff => self,
        }
    }
}

#[derive(crate::kernel::db::FromRow)]
struct RefundRow {
    id: Uuid,
    code: String,
    booking_id: Uuid,
    booking_code: String,
    partner_id: Uuid,
    partner_name: String,
    kind: RefundKind,
    amount: Rupiah,
    unpaid: Rupiah,
    status: RefundStatus,
    paid_by: Option<PaidBy>,
    refund_account: Option<String>,
    reference: Option<String>,
    note: Option<String>,
    due_at: DateTime<Utc>,
    paid_at: Option<DateTime<Utc>>,
    attempts: i32,
    last_error: Option<String>,
}

impl RefundRow {
    fn into_record(self, app: &App) -> Result<RefundRecord> {
        let account = match self.refund_account.as_deref() {
            Some(sealed) => serde_json::from_str(&app.sealer.open(sealed)?).ok(),
            None => None,
        };
        Ok(RefundRecord {
            id: self.id,
            code: self.code,
            booking_id: self.booking_id,
            booking_code: self.booking_code,
            mitra_id: self.partner_id,
            mitra: Owner { id: self.partner_id, name: self.partner_name },
            kind: self.kind,
            amount: self.amount,
            unpaid: self.unpaid,
            status: self.status,
            by: self.paid_by,
            account: account.as_ref().map(bank_account),
            reference: self.reference,
            note: self.note,
            due_at: self.due_at,
            paid_at: self.paid_at,
            attempts: self.attempts,
            last_error: self.last_error,
        })
    }
}

fn bank_account(stored: &Value) -> BankAccount {
    let text = |name: &str| stored[name].as_str().map(str::to_owned);
    BankAccount {
        bank_code: text("bank_code"),
        account_number: text("account_number").map(Into::into),
        account_name: text("account_name"),
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct RefundsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub status: Option<RefundStatus>,
    pub kind: Option<RefundKind>,
    pub by: Option<PaidBy>,
    pub mitra_id: Option<Uuid>,
    /// Days on which it became due, in the time zone of the service.
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
}

impl Input for RefundsQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let (start, end) = (value["start_date"].as_str(), value["end_date"].as_str());
        if start.zip(end).is_some_and(|(start, end)| end < start) {
            let message = text("The end is before the start.", "Berakhir sebelum dimulai.");
            faults.push(Fault::new("end_date", "min", message));
        }
    }
}

macro_rules! refund {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.code, r.booking_id, k.code AS booking_code, r.partner_id,
               a.name AS partner_name, r.kind, r.amount, r.unpaid, r.status, r.paid_by,
               k.refund_account, r.reference, r.note, r.due_at, r.paid_at, r.attempts,
               r.last_error
             FROM refunds r
             JOIN bookings k ON k.id = r.booking_id
             JOIN partners p ON p.id = r.partner_id
             JOIN accounts a ON a.id = p.account_id",
            $rest
        )
    };
}

/// What goes to the account of a reseller is between it and the platform: a partner does not know what
/// it pays.
const ACCOUNT: PaidBy = PaidBy::Account;

/// The refunds of one partner, or of all, as somebody with `role` sees them.
pub async fn list(
    app: &App,
    role: Role,
    owner: Option<Uuid>,
    query: &RefundsQuery,
) -> Result<Page<RefundRecord>> {
    let paging = &query.paging;
    let start = |day: NaiveDate| midnight(day, app.config.timezone);
    let until = query.end_date.and_then(|day| day.checked_add_days(Days::new(1)));
    let list = app.db.list(refund!("")).found_in("SELECT r.id FROM refunds r");
    let list = match role {
        // As in the index `refunds_to_customers`.
        Role::Mitra => list.only("COALESCE(r.paid_by, '') <> 'account'"),
        _ => list,
    };
    let rows: (Vec<RefundRow>, Total) = list
        .filter("r.partner_id = ?", owner)
        .filter("r.status = ?", query.status)
        .filter("r.kind = ?", query.kind)
        .filter("r.paid_by = ?", query.by)
        .filter("r.due_at >= ?", query.start_date.map(start))
        .filter("r.due_at < ?", until.map(start))
        // They are stored in lower case.
        .filter("r.codes LIKE lower(?) ESCAPE '\\'", paging.search().map(like))
        .page(paging.sort(None, "r.due_at"), "r.id", paging.limit(), paging.offset())
        .await?;
    paging.page(rows).try_each(|row| row.into_record(app))
}

/// One refund of one partner that it may see, or of any.
pub async fn record(app: &App, owner: Option<Uuid>, id: Uuid) -> Result<Option<RefundRecord>> {
    let row: Option<RefundRow> = app.db.sql(refund!(" WHERE r.id = $1")).bind(id).maybe().await?;
    let theirs = |row: &RefundRow| {
        owner.is_none_or(|owner| owner == row.partner_id && row.paid_by != Some(ACCOUNT))
    };
    row.filter(theirs).map(|row| row.into_record(app)).transpose()
}

pub async fn record_in(app: &App, tx: &mut Tx, id: Uuid) -> Result<RefundRecord> {
    let row: RefundRow = tx.sql(refund!(" WHERE r.id = $1")).bind(id).one().await?;
    row.into_record(app)
}
