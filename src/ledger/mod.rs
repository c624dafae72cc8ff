//! The ledger: every movement of money as a balanced double entry, append-only, written in the
//! transaction that causes it.
//!
//! Debits are positive and credits negative; the lines of a posting sum to zero. A posting is
//! unique by its source and kind, so that no repetition can post twice; the database refuses to
//! change or remove a line.

mod dues;

use chrono::{DateTime, Utc};

use crate::kernel::{
    db::Tx,
    error::{Error, Result},
    ids::{self, Uuid},
    money::Rupiah,
};

pub(crate) use dues::with_collected;
pub use dues::{Due, DueKind, record_dues, unsettled};

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
    }
}

/// A balanced posting under construction.
pub struct Posting {
    source: Source,
    source_id: Uuid,
    kind: &'static str,
    /// Partner whose payable changes, if any.
    partner_id: Option<Uuid>,
    booking_id: Option<Uuid>,
    lines: Vec<(Account, Rupiah)>,
}

impl Posting {
    pub fn new(source: Source, source_id: Uuid, kind: &'static str) -> Self {
        Self { source, source_id, kind, partner_id: None, booking_id: None, lines: Vec::new() }
    }

    pub fn of_booking(mut self, booking: Uuid, partner: Uuid) -> Self {
        (self.booking_id, self.partner_id) = (Some(booking), Some(partner));
        self
    }

    pub fn of_partner(mut self, partner: Uuid) -> Self {
        self.partner_id = Some(partner);
        self
    }

    pub fn debit(self, account: Account, amount: Rupiah) -> Self {
        self.line(account, amount)
    }

    pub fn credit(self, account: Account, amount: Rupiah) -> Self {
        self.line(account, -amount)
    }

    /// Adds to the line of the account, if there is one.
    fn line(mut self, account: Account, amount: Rupiah) -> Self {
        match self.lines.iter_mut().find(|(known, _)| *known == account) {
            Some((_, sum)) => *sum = *sum + amount,
            None => self.lines.push((account, amount)),
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
        let sum: Rupiah = lines.iter().map(|(_, amount)| *amount).sum();
        if sum != Rupiah::ZERO {
            let off = format!("the posting {source} {kind} is unbalanced by {}", sum.0);
            return Err(Error::internal(off));
        }
    }
    let lines = postings.iter().flat_map(|posting| posting.lines.iter().map(move |l| (posting, l)));
    let lines: Vec<_> = lines.filter(|(_, (_, amount))| *amount != Rupiah::ZERO).collect();
    tx.insert_all(
        "INSERT INTO ledger_lines (id, source, source_id, kind, account, partner_id, booking_id,
           amount, created_at)",
        9,
        &lines,
        |statement, (posting, (account, amount))| {
            let partner = posting.partner_id.filter(|_| *account == Account::PartnerPayable);
            statement
                .bind(ids::fresh())
                .bind(posting.source)
                .bind(posting.source_id)
                .bind(posting.kind)
                .bind(*account)
                .bind(partner)
                .bind(posting.booking_id)
                .bind(*amount)
                .bind(now)
        },
    )
    .await?;
    Ok(())
}
