//! Earnings of completed bookings: posted when the boat has arrived, reversed when the booking is
//! refunded afterwards.

use chrono::{DateTime, NaiveDate, Utc};

use super::{
    model::{BookingRow, LedgerSegment, StoredPrice},
    prices::{self, Shares},
    rules,
    rules::Event,
    store,
    transitions::invalid_transition,
};
use crate::{
    app::App,
    bookings::BookingStatus,
    events::{self, BookingRef, DomainEvent},
    kernel::{
        db::Tx,
        error::Result,
        ids::Uuid,
        money::Rupiah,
        set_aside::{self, Pass, RowJob},
    },
    ledger::{self, Account, Due, DueKind, Posting},
};

const JOB: RowJob = RowJob::CompleteJourneys;
const LOCK: &str = "completion";

/// A booking whose boat has arrived.
#[derive(crate::kernel::db::FromRow)]
pub struct CompletedBooking {
    #[row(flatten)]
    pub segment: LedgerSegment,
    pub day: NaiveDate,
    #[row(flatten)]
    pub price: StoredPrice,
    /// Cash that the partner collected for it.
    pub collected: Rupiah,
}

impl CompletedBooking {
    fn posting(&self, shares: &Shares) -> Posting {
        self.segment
            .posting("completed")
            .debit(Account::CustomerDeposits, shares.paid)
            .debit(Account::PromotionExpense, shares.promotion)
            .debit(Account::ResellerMargin, shares.margin)
            .credit(Account::PartnerPayable, shares.partner)
            .credit(Account::CommissionRevenue, shares.commission)
            .credit_taxes(shares.by_code())
    }

    fn due(&self, shares: &Shares) -> Due {
        self.segment.due(DueKind::Sale, self.day, shares, 1, self.collected)
    }
}

/// Completes all bookings that have arrived.
pub async fn complete_due(app: &App) -> Result<u64> {
    let mut completed = 0;
    loop {
        let pass = complete_some(app).await?;
        completed += pass.done;
        if !pass.more {
            return Ok(completed);
        }
    }
}

/// Completes a batch of bookings that have arrived, and retries those that have failed before. A
/// batch is one transaction of five statements. If it fails, its bookings are completed one by one,
/// and those that fail again are set aside.
pub async fn complete_some(app: &App) -> Result<Pass> {
    const SOME: i64 = 500;
    let now = app.clock.now();
    let one = |id| complete_one(app, id);
    let (done, more) = match set_aside::guarded(complete_batch(app, SOME, now)).await {
        Ok(done) => (done, done == SOME as u64),
        Err(error) if error.is_transient() => return Err(error),
        Err(error) => {
            tracing::warn!(
                %error,
                "completing a batch of bookings failed; retrying them one by one"
            );
            let arrived = store::arrived(&app.db, SOME, now).await?;
            let more = arrived.len() == SOME as usize;
            (set_aside::each(&app.db, JOB, arrived, 1, now, one).await?, more)
        }
    };
    let again = set_aside::retry(&app.db, JOB, now, one).await?;
    Ok(Pass { done: done + again, more })
}

/// One process at a time: two would lock the same rows in different orders.
async fn complete_batch(app: &App, limit: i64, now: DateTime<Utc>) -> Result<u64> {
    if store::arrived(&app.db, 1, now).await?.is_empty() {
        return Ok(0);
    }
    let mut tx = app.db.begin().await?;
    tx.lock(LOCK).await?;
    let sailed = store::complete(&mut tx, completed_status()?, limit, now).await?;
    post_earnings(&mut tx, &sailed, now).await?;
    tx.commit().await?;
    Ok(sailed.len() as u64)
}

async fn complete_one(app: &App, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    tx.lock(LOCK).await?;
    let sailed = store::complete_one(&mut tx, id, completed_status()?, now).await?;
    post_earnings(&mut tx, sailed.as_slice(), now).await?;
    tx.commit().await?;
    Ok(sailed.is_some())
}

fn completed_status() -> Result<BookingStatus> {
    rules::next(BookingStatus::Paid, Event::Complete).ok_or_else(invalid_transition)
}

/// Posts the earnings of bookings that were just completed, and announces them.
async fn post_earnings(tx: &mut Tx, sailed: &[CompletedBooking], now: DateTime<Utc>) -> Result<()> {
    let shares: Vec<_> =
        sailed.iter().map(|sailed| (sailed, prices::earned(&sailed.price.to_price()))).collect();
    let postings: Vec<_> = shares.iter().map(|(sailed, shares)| sailed.posting(shares)).collect();
    let dues: Vec<_> = shares.iter().map(|(sailed, shares)| sailed.due(shares)).collect();
    let completed = |sailed: &CompletedBooking| BookingRef { booking_id: sailed.segment.id };
    let completed = sailed.iter().map(completed).map(DomainEvent::BookingCompleted);
    ledger::post_all(tx, &postings, now).await?;
    ledger::record_dues(tx, &dues, now).await?;
    events::emit_all(tx, completed, now).await
}

/// Takes back the part of the earnings that belongs to a refund after the journey. What the partner
/// was paid for it is charged to its account and netted in its next settlement; the cash that it
/// collected stays recorded with the sale.
pub fn reversal(booking: &BookingRow, refund: Rupiah) -> (Posting, Due) {
    let shares = prices::taken_back(&booking.price(), refund);
    let segment = booking.ledger_segment();
    let posting = segment
        .posting("completion_reversed")
        .credit(Account::CustomerDeposits, shares.paid)
        .credit(Account::PromotionExpense, shares.promotion)
        .credit(Account::ResellerMargin, shares.margin)
        .debit(Account::PartnerPayable, shares.partner)
        .debit(Account::CommissionRevenue, shares.commission)
        .credit_taxes(shares.by_code().map(|(code, amount)| (code, -amount)));
    (posting, segment.due(DueKind::Reversal, booking.day(), &shares, -1, Rupiah::ZERO))
}
