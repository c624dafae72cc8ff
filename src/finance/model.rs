//! Types of the books.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    kernel::{
        error::Fault,
        http::{Pages, Paging},
        ids::Uuid,
        lang::text,
        money::Rupiah,
        schema::Input,
        text::Line,
    },
    ledger::{Account, Month, Source},
    reports::Format,
};

/// Dates of the form `YYYY-MM-DD` can be compared as strings.
fn in_order(value: &Value, faults: &mut Vec<Fault>) {
    let (start, end) = (value["start_date"].as_str(), value["end_date"].as_str());
    if start.zip(end).is_some_and(|(start, end)| end < start) {
        let message = text("The end is before the start.", "Berakhir sebelum dimulai.");
        faults.push(Fault::new("end_date", "min", message));
    }
}

/// The first and the last day of a report. Default: this month until today.
#[derive(Deserialize, JsonSchema)]
pub struct BooksQuery {
    /// First day. Default: the first day of the month of `end_date`.
    pub start_date: Option<NaiveDate>,
    /// Last day. Default: today.
    pub end_date: Option<NaiveDate>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for BooksQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrialBalance {
    pub as_of: DateTime<Utc>,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub accounts: Vec<AccountBalance>,
    /// Sums of the accounts. Debit and credit are equal.
    pub total: BalanceTotal,
}

/// Debit balances are positive, credit balances negative.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct AccountBalance {
    pub account: Account,
    /// Of `tax_payable`.
    pub tax_code: Option<String>,
    pub opening: Rupiah,
    pub debit: Rupiah,
    pub credit: Rupiah,
    #[row(skip)]
    pub closing: Rupiah,
}

#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct BalanceTotal {
    pub opening: Rupiah,
    pub debit: Rupiah,
    pub credit: Rupiah,
    pub closing: Rupiah,
}

#[derive(Deserialize, JsonSchema)]
pub struct EntriesQuery {
    #[serde(flatten)]
    pub paging: Pages,
    pub account: Option<Account>,
    pub mitra_id: Option<Uuid>,
    pub booking_id: Option<Uuid>,
    pub source: Option<Source>,
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for EntriesQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}

/// A line of the ledger.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    pub id: Uuid,
    pub posted_on: NaiveDate,
    pub account: Account,
    /// Of `tax_payable`.
    pub tax_code: Option<String>,
    pub debit: Rupiah,
    pub credit: Rupiah,
    /// Of `partner_payable`.
    pub mitra_id: Option<Uuid>,
    pub booking_id: Option<Uuid>,
    pub booking_code: Option<String>,
    pub source: Source,
    /// Lines with the same source, `source_id` and kind are one posting.
    pub source_id: Uuid,
    pub kind: String,
    pub created_at: DateTime<Utc>,
}

#[derive(crate::kernel::db::FromRow)]
pub struct EntryRow {
    pub id: Uuid,
    pub posted_on: NaiveDate,
    pub account: Account,
    pub tax_code: Option<String>,
    pub amount: Rupiah,
    pub partner_id: Option<Uuid>,
    pub booking_id: Option<Uuid>,
    pub booking_code: Option<String>,
    pub source: Source,
    pub source_id: Uuid,
    pub kind: String,
    pub created_at: DateTime<Utc>,
}

impl From<EntryRow> for Entry {
    fn from(row: EntryRow) -> Self {
        Self {
            id: row.id,
            posted_on: row.posted_on,
            account: row.account,
            tax_code: row.tax_code,
            debit: row.amount.max(Rupiah::ZERO),
            credit: (-row.amount).max(Rupiah::ZERO),
            mitra_id: row.partner_id,
            booking_id: row.booking_id,
            booking_code: row.booking_code,
            source: row.source,
            source_id: row.source_id,
            kind: row.kind,
            created_at: row.created_at,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct StatementQuery {
    #[serde(flatten)]
    pub paging: Pages,
    /// First day. Default: the first day of the month of `end_date`.
    pub start_date: Option<NaiveDate>,
    /// Last day. Default: today.
    pub end_date: Option<NaiveDate>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for StatementQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}

/// The account of a partner. Positive balances are owed to the partner.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartnerStatement {
    pub mitra_id: Uuid,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    /// Balance before the first day.
    pub opening: Rupiah,
    /// Balance after the last day.
    pub closing: Rupiah,
    pub lines: Vec<StatementLine>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatementLine {
    pub posted_on: NaiveDate,
    pub source: Source,
    pub kind: String,
    pub booking_id: Option<Uuid>,
    pub booking_code: Option<String>,
    /// Positive: owed to the partner.
    pub amount: Rupiah,
    /// Balance after this line.
    pub balance: Rupiah,
}

impl From<StatementRow> for StatementLine {
    fn from(row: StatementRow) -> Self {
        Self {
            posted_on: row.posted_on,
            source: row.source,
            kind: row.kind,
            booking_id: row.booking_id,
            booking_code: row.booking_code,
            amount: row.amount,
            balance: row.balance,
        }
    }
}

/// A line of a partner's or a reseller's statement.
#[derive(crate::kernel::db::FromRow)]
pub struct StatementRow {
    pub posted_on: NaiveDate,
    pub source: Source,
    pub kind: String,
    pub booking_id: Option<Uuid>,
    pub booking_code: Option<String>,
    pub reseller_reference: Option<String>,
    pub amount: Rupiah,
    #[row(skip)]
    pub balance: Rupiah,
}

/// The account of a reseller. Positive balances are owed by the reseller.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResellerStatement {
    pub reseller_id: Uuid,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    /// Balance before the first day.
    pub opening: Rupiah,
    /// Balance after the last day.
    pub closing: Rupiah,
    pub lines: Vec<ResellerStatementLine>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResellerStatementLine {
    pub posted_on: NaiveDate,
    pub source: Source,
    pub kind: String,
    pub booking_id: Option<Uuid>,
    pub booking_code: Option<String>,
    /// The reseller's own reference of the booking.
    pub reseller_reference: Option<String>,
    /// Positive: owed by the reseller.
    pub amount: Rupiah,
    /// Balance after this line.
    pub balance: Rupiah,
}

impl From<StatementRow> for ResellerStatementLine {
    fn from(row: StatementRow) -> Self {
        Self {
            posted_on: row.posted_on,
            source: row.source,
            kind: row.kind,
            booking_id: row.booking_id,
            booking_code: row.booking_code,
            reseller_reference: row.reseller_reference,
            amount: row.amount,
            balance: row.balance,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct TaxesQuery {
    /// Default: the current month.
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])$"))]
    pub month: Option<String>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for TaxesQuery {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaxReport {
    #[schemars(with = "String")]
    pub month: Month,
    pub as_of: DateTime<Utc>,
    pub taxes: Vec<TaxOfMonth>,
}

/// One tax in a month. `received` is what customers paid, by the day of the payment, on which the tax
/// is due; the other amounts are those of the ledger, which knows the tax when the journey is over.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TaxOfMonth {
    pub tax_code: String,
    /// Tax in the payments of bookings that were received in the month. Zero for taxes on
    /// commission.
    pub received: Rupiah,
    /// The part of these payments that the tax was charged on.
    pub received_base: Rupiah,
    /// Owed before the month.
    pub opening: Rupiah,
    /// Of journeys and kept money of the month.
    pub collected: Rupiah,
    /// Taken back with journeys that were refunded.
    pub reversed: Rupiah,
    /// By journal entries.
    pub adjusted: Rupiah,
    /// Paid to the state.
    pub paid: Rupiah,
    /// Owed after the month.
    pub owed: Rupiah,
}

crate::string_enum! {
    /// A provider that pays us out.
    pub enum PayingProvider { Midtrans = "midtrans", Xendit = "xendit", Simulator = "simulator" }
}

/// A line of a provider's report.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SettledLine {
    /// Our reference of the payment, or the provider's id of it.
    pub reference: Line<100>,
    /// Negative for a refund.
    #[schemars(range(min = -1_000_000_000_000_i64, max = 1_000_000_000_000_i64))]
    pub gross: Rupiah,
    #[schemars(range(min = -1_000_000_000_000_i64, max = 1_000_000_000_000_i64))]
    pub fee: Rupiah,
    /// VAT on the fee.
    #[schemars(range(min = -1_000_000_000_000_i64, max = 1_000_000_000_000_i64))]
    pub fee_tax: Rupiah,
    /// Gross less fee and its tax.
    #[schemars(range(min = -1_000_000_000_000_i64, max = 1_000_000_000_000_i64))]
    pub net: Rupiah,
}

#[derive(Deserialize, JsonSchema)]
pub struct ProviderSettlementForm {
    pub provider: PayingProvider,
    /// The provider's name for the payout.
    pub payout_id: Line<100>,
    /// The day on which it reached our bank account.
    pub paid_on: NaiveDate,
    #[schemars(length(min = 1, max = 5_000))]
    pub lines: Vec<SettledLine>,
}

impl Input for ProviderSettlementForm {}

/// A payout of a provider to our bank account.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ProviderSettlement {
    pub id: Uuid,
    pub provider: PayingProvider,
    pub payout_id: String,
    pub paid_on: NaiveDate,
    pub gross: Rupiah,
    pub fee: Rupiah,
    pub fee_tax: Rupiah,
    pub net: Rupiah,
    /// The part of `gross` that belongs to no payment of ours; it waits in `suspense`.
    pub unknown_gross: Rupiah,
    pub line_count: i32,
    pub created_by: Uuid,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProviderSettlementDetail {
    #[serde(flatten)]
    pub settlement: ProviderSettlement,
    /// References that no payment of ours has.
    pub unknown_references: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct ProviderSettlementsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    pub provider: Option<PayingProvider>,
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for ProviderSettlementsQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reconciliation {
    pub as_of: DateTime<Utc>,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub rows: Vec<ReconciledDay>,
    pub total: ReconciledTotal,
}

/// Payments that we received on a day by one method, and what the provider has settled of them.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ReconciledDay {
    pub day: NaiveDate,
    /// Method of payment; `unknown` for what the provider paid for no payment of ours, by the day of
    /// the payout.
    pub method: String,
    #[serde(flatten)]
    #[row(flatten)]
    pub amounts: ReconciledTotal,
}

#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ReconciledTotal {
    /// Received according to our books.
    pub ours: Rupiah,
    /// Settled according to the provider.
    pub theirs: Rupiah,
    /// Refunds in the provider's reports.
    pub refunds: Rupiah,
    pub fees: Rupiah,
    pub fee_taxes: Rupiah,
    /// Received and not settled yet.
    pub missing: Rupiah,
    /// Settled and not received.
    pub extra: Rupiah,
}

#[derive(Deserialize, JsonSchema)]
pub struct TaxPaymentForm {
    /// Code of the tax.
    pub tax_code: Line<32>,
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub amount: Rupiah,
    pub paid_on: NaiveDate,
    /// NTPN: the state's number of the payment.
    pub reference: Line<120>,
}

impl Input for TaxPaymentForm {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaxPayment {
    pub id: Uuid,
    pub tax_code: String,
    pub amount: Rupiah,
    pub paid_on: NaiveDate,
    pub reference: String,
    pub created_by: Uuid,
    pub created_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct CashDepositForm {
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub amount: Rupiah,
    pub deposited_on: NaiveDate,
    /// Reference of the deposit at the bank.
    pub reference: Line<120>,
}

impl Input for CashDepositForm {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CashDeposit {
    pub id: Uuid,
    pub amount: Rupiah,
    pub deposited_on: NaiveDate,
    pub reference: String,
    pub created_by: Uuid,
    pub created_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct JournalForm {
    /// The day in the books.
    pub posted_on: NaiveDate,
    /// What it is for.
    pub memo: Line<500>,
    /// The partner of the line of `partner_payable`.
    #[serde(default)]
    pub mitra_id: Option<Uuid>,
    /// Debits and credits are equal; each account occurs once.
    #[schemars(length(min = 2, max = 50))]
    pub lines: Vec<JournalLineForm>,
}

impl Input for JournalForm {}

/// Either a debit or a credit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct JournalLineForm {
    pub account: Account,
    /// Of `tax_payable`.
    #[serde(default)]
    pub tax_code: Option<Line<32>>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub debit: Option<Rupiah>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub credit: Option<Rupiah>,
}

impl JournalLineForm {
    /// Debits are positive.
    pub fn amount(&self) -> Rupiah {
        self.debit.unwrap_or_default() - self.credit.unwrap_or_default()
    }
}

crate::string_enum! {
    pub enum JournalStatus { Draft = "draft", Posted = "posted", Rejected = "rejected" }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct JournalRow {
    pub id: Uuid,
    pub status: JournalStatus,
    pub posted_on: NaiveDate,
    pub memo: String,
    pub partner_id: Option<Uuid>,
    pub amount: Rupiah,
    pub created_by: Uuid,
    pub created_at: DateTime<Utc>,
    pub decided_by: Option<Uuid>,
    pub decided_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct JournalLineRow {
    pub journal_id: Uuid,
    pub account: Account,
    pub tax_code: Option<String>,
    pub amount: Rupiah,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Journal {
    pub id: Uuid,
    pub status: JournalStatus,
    pub posted_on: NaiveDate,
    pub memo: String,
    pub mitra_id: Option<Uuid>,
    /// Sum of the debits.
    pub amount: Rupiah,
    pub lines: Vec<JournalLine>,
    pub created_by: Uuid,
    pub created_at: DateTime<Utc>,
    /// Who approved or rejected it.
    pub decided_by: Option<Uuid>,
    pub decided_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JournalLine {
    pub account: Account,
    pub tax_code: Option<String>,
    pub debit: Rupiah,
    pub credit: Rupiah,
}

impl Journal {
    pub fn new(row: JournalRow, lines: &[JournalLineRow]) -> Self {
        let own = lines.iter().filter(|line| line.journal_id == row.id);
        let lines = own.map(|line| JournalLine {
            account: line.account,
            tax_code: line.tax_code.clone(),
            debit: line.amount.max(Rupiah::ZERO),
            credit: (-line.amount).max(Rupiah::ZERO),
        });
        Self {
            id: row.id,
            status: row.status,
            posted_on: row.posted_on,
            memo: row.memo,
            mitra_id: row.partner_id,
            amount: row.amount,
            lines: lines.collect(),
            created_by: row.created_by,
            created_at: row.created_at,
            decided_by: row.decided_by,
            decided_at: row.decided_at,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct JournalsQuery {
    #[serde(flatten)]
    pub paging: Paging,
    /// Only the journal entry with this id.
    pub id: Option<Uuid>,
    pub status: Option<JournalStatus>,
    pub start_date: Option<NaiveDate>,
    pub end_date: Option<NaiveDate>,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for JournalsQuery {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        in_order(value, faults);
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct PeriodsQuery {
    #[serde(flatten)]
    pub paging: Pages,
    /// File format; alternative to the `Accept` header.
    pub format: Option<Format>,
}

impl Input for PeriodsQuery {}

#[derive(Default, Deserialize, JsonSchema)]
pub struct ReopenForm {
    /// Why the month is reopened.
    #[serde(default)]
    pub reason: Option<Line<500>>,
}

impl Input for ReopenForm {}

crate::string_enum! {
    pub enum PeriodStatus { Open = "open", Closed = "closed" }
}

/// A month of the books.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FinancePeriod {
    #[schemars(with = "String")]
    pub month: Month,
    pub status: PeriodStatus,
    pub closed_at: Option<DateTime<Utc>>,
    pub closed_by: Option<Uuid>,
    pub reopened_at: Option<DateTime<Utc>>,
    pub reopened_by: Option<Uuid>,
    /// Why it was reopened.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct PeriodRow {
    pub month: NaiveDate,
    pub closed_at: Option<DateTime<Utc>>,
    pub closed_by: Option<Uuid>,
    pub reopened_at: Option<DateTime<Utc>>,
    pub reopened_by: Option<Uuid>,
    pub reason: Option<String>,
}
