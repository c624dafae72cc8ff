//! The ledger: every movement of money as a balanced double entry, append-only, written in the
//! transaction that causes it.
//!
//! Debits are positive and credits negative; the lines of a posting sum to zero. A posting is
//! unique by its source and kind, so that no repetition can post twice; the database refuses to
//! change or remove a line.

mod days;
mod dues;
mod periods;
mod receipts;
mod sums;

use chrono::{DateTime, NaiveDate, Utc};

use crate::kernel::{
    db::Tx,
    error::{Error, Result},
    ids::{self, Uuid},
    money::Rupiah,
};

pub use days::{changes_by_day, ensure_cash, lowest_balance, rebuild, roll_up, roll_up_batch};
pub(crate) use dues::with_collected;
pub use dues::{Due, DueKind, earned, record_dues, unsettled, unsettled_in};
pub use periods::{Month, ensure_open, ensure_postable, last_closed, lock};
pub use sums::{LedgerSums, sums};

crate::string_enum! {
    pub enum Account {
        GatewayClearing = "gateway_clearing",
        CustomerDeposits = "customer_deposits",
        UnappliedPayments = "unapplied_payments",
        RefundPayable = "refund_payable",
        PartnerPayable = "partner_payable",
        CommissionRevenue = "commission_revenue",
        PromotionExpense = "promotion_expense",
        TaxPayable = "tax_payable",
        Bank = "bank",
        Cash = "cash",
        /// What the provider charges for payments.
        GatewayFees = "gateway_fees",
        /// VAT on what we bought, which reduces what we owe the state.
        VatInput = "vat_input",
        /// Money that moved and that nobody has explained yet.
        Suspense = "suspense",
        Losses = "losses",
        /// Income tax that partners have withheld from our commission.
        PrepaidPph23 = "prepaid_pph23",
        BankFees = "bank_fees",
        /// Opening balances.
        Equity = "equity",
        /// What resellers owe for bookings, or (negative) have paid in advance.
        ResellerReceivable = "reseller_receivable",
        /// What the platform leaves to resellers of the price.
        ResellerMargin = "reseller_margin",
    }
}

crate::string_enum! {
    /// Source of a posting.
    pub enum Source {
        Booking = "booking",
        Payment = "payment",
        Review = "review",
        Settlement = "settlement",
        /// A reschedule and everything after it.
        Reschedule = "reschedule",
        /// Passengers who were cancelled while the rest travels (`passenger_cancellations`).
        Cancellation = "cancellation",
        /// A payment of a refund (`refund_payments`).
        Refund = "refund",
        /// Money that a partner paid us.
        Receipt = "receipt",
        /// A payout of the payment provider to our bank account.
        ProviderSettlement = "provider_settlement",
        TaxPayment = "tax_payment",
        CashDeposit = "cash_deposit",
        Journal = "journal",
        /// A transfer of a reseller (`reseller_payments`).
        ResellerPayment = "reseller_payment",
    }
}

/// A balanced posting under construction.
pub struct Posting {
    source: Source,
    source_id: Uuid,
    kind: &'static str,
    /// Partner whose payable changes, if any.
    partner_id: Option<Uuid>,
    /// Reseller whose receivable changes, if any.
    reseller_id: Option<Uuid>,
    booking_id: Option<Uuid>,
    /// The day in the books; `None`: today.
    posted_on: Option<NaiveDate>,
    lines: Vec<Line>,
}

struct Line {
    account: Account,
    /// Of a line of `tax_payable`.
    tax_code: Option<String>,
    amount: Rupiah,
}

impl Posting {
    pub fn new(source: Source, source_id: Uuid, kind: &'static str) -> Self {
        Self {
            source,
            source_id,
            kind,
            partner_id: None,
            reseller_id: None,
            booking_id: None,
            posted_on: None,
            lines: Vec::new(),
        }
    }

    pub fn of_booking(mut self, booking: Uuid, partner: Uuid) -> Self {
        (self.booking_id, self.partner_id) = (Some(booking), Some(partner));
        self
    }

    /// Without a partner, whose account it does not change.
    pub fn about_booking(mut self, booking: Uuid) -> Self {
        self.booking_id = Some(booking);
        self
    }

    pub fn of_partner(mut self, partner: Uuid) -> Self {
        self.partner_id = Some(partner);
        self
    }

    pub fn of_reseller(mut self, reseller: Option<Uuid>) -> Self {
        self.reseller_id = reseller;
        self
    }

    /// Posts on another day than today. The caller has made sure that its month is open.
    pub fn on(mut self, day: NaiveDate) -> Self {
        self.posted_on = Some(day);
        self
    }

    pub fn debit(self, account: Account, amount: Rupiah) -> Self {
        self.line(account, None, amount)
    }

    pub fn credit(self, account: Account, amount: Rupiah) -> Self {
        self.line(account, None, -amount)
    }

    /// Credits `tax_payable` with each tax; negative amounts debit it.
    pub fn credit_taxes<'a>(self, taxes: impl IntoIterator<Item = (&'a str, Rupiah)>) -> Self {
        taxes.into_iter().fold(self, |posting, (code, amount)| {
            posting.line(Account::TaxPayable, Some(code.to_owned()), -amount)
        })
    }

    /// Adds to the line of the account and tax, if there is one.
    pub fn line(mut self, account: Account, tax_code: Option<String>, amount: Rupiah) -> Self {
        let known = |line: &&mut Line| line.account == account && line.tax_code == tax_code;
        match self.lines.iter_mut().find(known) {
            Some(line) => line.amount = line.amount + amount,
            None => self.lines.push(Line { account, tax_code, amount }),
        }
        self
    }
}

/// Stores the posting unless all amounts are zero.
pub async fn post(tx: &mut Tx, posting: Posting, now: DateTime<Utc>) -> Result<()> {
    post_all(tx, &[posting], now).await
}

/// Stores many postings in one statement.
pub async fn post_all(tx: &mut Tx, postings: &[Posting], now: DateTime<Utc>) -> Result<()> {
    for Posting { source, kind, lines, .. } in postings {
        let sum: Rupiah = lines.iter().map(|line| line.amount).sum();
        if sum != Rupiah::ZERO {
            let off = format!("the posting {source} {kind} is unbalanced by {}", sum.0);
            return Err(Error::internal(off));
        }
    }
    let lines = postings.iter().flat_map(|posting| posting.lines.iter().map(move |l| (posting, l)));
    let lines: Vec<_> = lines.filter(|(_, line)| line.amount != Rupiah::ZERO).collect();
    let today = tx.date_of(now);
    tx.insert_all(
        "INSERT INTO ledger_lines (id, source, source_id, kind, account, partner_id,
           reseller_id, booking_id, tax_code, amount, posted_on, created_at)",
        12,
        &lines,
        |statement, (posting, line)| {
            let partner = posting.partner_id.filter(|_| line.account == Account::PartnerPayable);
            let reseller =
                posting.reseller_id.filter(|_| line.account == Account::ResellerReceivable);
            statement
                .bind(ids::fresh())
                .bind(posting.source)
                .bind(posting.source_id)
                .bind(posting.kind)
                .bind(line.account)
                .bind(partner)
                .bind(reseller)
                .bind(posting.booking_id)
                .bind(line.tax_code.clone())
                .bind(line.amount)
                .bind(posting.posted_on.unwrap_or(today))
                .bind(now)
        },
    )
    .await?;
    Ok(())
}
