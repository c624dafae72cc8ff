//! What a sailed booking earns: whose the money becomes when the boat has arrived, and how that is
//! taken back when the booking is refunded after all.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::json;

use super::{
    model::{BookingRow, Chapter},
    moves::not_now,
    rules,
    rules::Event,
    store,
};
use crate::{
    app::App,
    bookings::BookingStatus,
    kernel::{db::Tx, error::Result, money::Rupiah, outbox},
    ledger::{self, Account, Due, DueKind, Posting},
};

/// A booking whose boat has arrived, as far as money goes.
#[derive(sqlx::FromRow)]
pub struct Sailed {
    #[sqlx(flatten)]
    pub chapter: Chapter,
    pub day: NaiveDate,
    pub subtotal: Rupiah,
    pub discount: Rupiah,
    pub tax: Rupiah,
    pub total: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub partner_net: Rupiah,
    /// Cash that the partner took for it.
    pub collected: Rupiah,
}

impl Sailed {
    fn posting(&self, kind: &'static str, times: i64) -> Posting {
        self.chapter
            .posting(kind)
            .debit(Account::CustomerDeposits, self.total * times)
            .debit(Account::PromotionExpense, self.discount * times)
            .credit(Account::PartnerPayable, self.partner_net * times)
            .credit(Account::CommissionRevenue, self.commission * times)
            .credit(Account::TaxPayable, (self.tax + self.commission_tax) * times)
    }

    fn due(&self, kind: DueKind, times: i64) -> Due {
        Due {
            partner_id: self.chapter.partner_id,
            booking_id: self.chapter.id,
            reschedule_id: self.chapter.reschedule_id,
            kind,
            day: self.day,
            gross: self.subtotal * times,
            commission: self.commission * times,
            commission_tax: self.commission_tax * times,
            collected: self.collected,
        }
    }
}

/// Completes what has arrived, many to a transaction: five statements for up to so many of them.
/// One process at a time: two would take the same rows in different orders.
pub async fn complete_due(app: &App) -> Result<u64> {
    const SOME: i64 = 500;
    let mut completed = 0;
    loop {
        let now = app.clock.now();
        if !store::any_arrived(&app.db, now).await? {
            return Ok(completed);
        }
        let mut tx = app.db.begin().await?;
        tx.lock("completion").await?;
        let done = complete_some(&mut tx, SOME, now).await?;
        tx.commit().await?;
        completed += done;
        if done < SOME as u64 {
            return Ok(completed);
        }
    }
}

async fn complete_some(tx: &mut Tx, limit: i64, now: DateTime<Utc>) -> Result<u64> {
    let to = rules::next(BookingStatus::Paid, Event::Complete).ok_or_else(not_now)?;
    let sailed = store::complete(tx, to, limit, now).await?;
    let postings: Vec<_> = sailed.iter().map(|sailed| sailed.posting("completed", 1)).collect();
    let dues: Vec<_> = sailed.iter().map(|sailed| sailed.due(DueKind::Sale, 1)).collect();
    let news: Vec<_> = sailed
        .iter()
        .map(|sailed| sailed.chapter.id)
        .map(|id| (id, json!({ "booking_id": id })))
        .collect();
    ledger::post_all(tx, &postings, now).await?;
    ledger::owe_all(tx, &dues, now).await?;
    outbox::put_all(tx, "booking.completed", &news, now).await?;
    Ok(sailed.len() as u64)
}

/// Takes back what a completed booking has earned. What the partner was paid for it is on its
/// account from now on, and netted in its next settlement.
pub async fn reverse(tx: &mut Tx, booking: &BookingRow, now: DateTime<Utc>) -> Result<()> {
    let sailed = Sailed {
        chapter: booking.chapter(),
        day: booking.day(),
        subtotal: booking.subtotal,
        discount: booking.discount,
        tax: booking.tax,
        total: booking.total,
        commission: booking.commission,
        commission_tax: booking.commission_tax,
        partner_net: booking.partner_net,
        // The cash stays counted with the sale.
        collected: Rupiah::ZERO,
    };
    ledger::post(tx, sailed.posting("completion_reversed", -1), now).await?;
    ledger::owe_all(tx, &[sailed.due(DueKind::Reversal, -1)], now).await
}
