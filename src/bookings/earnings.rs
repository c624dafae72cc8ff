//! Earnings of completed bookings: posted when the boat has arrived, reversed when the booking is
//! refunded afterwards.

use chrono::{DateTime, NaiveDate, Utc};

use super::{
    model::{BookingRow, LedgerSegment},
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

/// The amounts of a booking whose boat has arrived.
#[derive(crate::kernel::db::FromRow)]
pub struct CompletedBooking {
    #[row(flatten)]
    pub segment: LedgerSegment,
    pub day: NaiveDate,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    pub tax: Rupiah,
    pub total: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub partner_net: Rupiah,
    /// Cash that the partner collected for it.
    pub collected: Rupiah,
}

impl CompletedBooking {
    fn posting(&self, kind: &'static str, times: i64) -> Posting {
        self.segment
            .posting(kind)
            .debit(Account::CustomerDeposits, self.total * times)
            .debit(Account::PromotionExpense, self.discount * times)
            .credit(Account::PartnerPayable, self.partner_net * times)
            .credit(Account::CommissionRevenue, self.commission * times)
            .credit(Account::TaxPayable, (self.tax + self.commission_tax) * times)
    }

    fn due(&self, kind: DueKind, times: i64) -> Due {
        Due {
            partner_id: self.segment.partner_id,
            booking_id: self.segment.id,
            reschedule_id: self.segment.reschedule_id,
            kind,
            day: self.day,
            gross: self.subtotal * times,
            commission: self.commission * times,
            commission_tax: self.commission_tax * times,
            collected: self.collected,
        }
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
    let postings: Vec<_> = sailed.iter().map(|sailed| sailed.posting("completed", 1)).collect();
    let dues: Vec<_> = sailed.iter().map(|sailed| sailed.due(DueKind::Sale, 1)).collect();
    let completed = |sailed: &CompletedBooking| BookingRef { booking_id: sailed.segment.id };
    let completed = sailed.iter().map(completed).map(DomainEvent::BookingCompleted);
    ledger::post_all(tx, &postings, now).await?;
    ledger::record_dues(tx, &dues, now).await?;
    events::emit_all(tx, completed, now).await
}

/// Postings that reverse the earnings of a completed booking. The amount that the partner was paid
/// for it is charged to its account and netted in its next settlement.
pub fn reversal(booking: &BookingRow) -> (Posting, Due) {
    let sailed = CompletedBooking {
        segment: booking.ledger_segment(),
        day: booking.day(),
        subtotal: booking.subtotal,
        discount: booking.discount,
        tax: booking.tax,
        total: booking.total,
        commission: booking.commission,
        commission_tax: booking.commission_tax,
        partner_net: booking.partner_net,
        // The cash stays recorded with the sale.
        collected: Rupiah::ZERO,
    };
    (sailed.posting("completion_reversed", -1), sailed.due(DueKind::Reversal, -1))
}
