//! Partner dues per booking. Each due belongs to a posting that changes the partner's payable by
//! its `net`.

use chrono::{DateTime, NaiveDate, Utc};

use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    ids::{self, Uuid},
    money::Rupiah,
};

crate::string_enum! {
    pub enum DueKind {
        /// The journey is completed.
        Sale = "sale",
        /// Cancelled, with part of the payment kept.
        Kept = "kept",
        /// Refunded after completion.
        Reversal = "reversal",
    }
}

pub struct Due {
    pub partner_id: Uuid,
    pub booking_id: Uuid,
    /// The reschedule that started this segment of the booking.
    pub reschedule_id: Option<Uuid>,
    pub kind: DueKind,
    /// Local day of departure.
    pub day: NaiveDate,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    /// Cash that the partner collected.
    pub collected: Rupiah,
}

impl Due {
    pub fn net(&self) -> Rupiah {
        self.gross - self.commission - self.commission_tax - self.collected
    }
}

/// Stores the dues; dues of zero are omitted.
pub async fn record_dues(tx: &mut Tx, dues: &[Due], now: DateTime<Utc>) -> Result<()> {
    let some = |due: &&Due| due.gross != Rupiah::ZERO || due.collected != Rupiah::ZERO;
    let dues: Vec<_> = dues.iter().filter(some).collect();
    tx.insert_all(
        "INSERT INTO partner_dues (id, partner_id, booking_id, kind, day, gross, commission,
           commission_tax, collected, net, reschedule_id, created_at)",
        12,
        &dues,
        |statement, due| {
            statement
                .bind(ids::fresh())
                .bind(due.partner_id)
                .bind(due.booking_id)
                .bind(due.kind)
                .bind(due.day)
                .bind(due.gross)
                .bind(due.commission)
                .bind(due.commission_tax)
                .bind(due.collected)
                .bind(due.net())
                .bind(due.reschedule_id)
                .bind(now)
        },
    )
    .await?;
    Ok(())
}

/// SQL expression: cash that the partner collected for a booking and that no due contains yet.
macro_rules! with_collected {
    ($before:literal, $booking:literal, $after:literal) => {
        concat!(
            $before,
            " CAST(COALESCE((SELECT l.amount FROM ledger_lines l
                 WHERE l.source = 'booking' AND l.source_id = ",
            $booking,
            "      AND l.kind = 'paid' AND l.account = 'partner_payable'), 0)
               - COALESCE((SELECT SUM(d.collected) FROM partner_dues d WHERE d.booking_id = ",
            $booking,
            "), 0) AS BIGINT) ",
            $after
        )
    };
}
pub(crate) use with_collected;

/// Amount owed to a partner (or all) and not paid out, including pending settlements. Negative if
/// the partner owes.
pub async fn unsettled(db: &Db, partner: Option<Uuid>) -> Result<Rupiah> {
    let owed = match partner {
        Some(partner) => db
            .sql(
                "SELECT CAST(COALESCE(SUM(net), 0) AS BIGINT) FROM
                   (SELECT net FROM partner_dues WHERE settlement_id IS NULL AND partner_id = $1
                    UNION ALL
                    SELECT net FROM settlements WHERE status = 'pending' AND partner_id = $1) owed",
            )
            .bind(partner),
        None => db.sql(
            "SELECT CAST(COALESCE(SUM(net), 0) AS BIGINT) FROM
               (SELECT net FROM partner_dues WHERE settlement_id IS NULL
                UNION ALL
                SELECT net FROM settlements WHERE status = 'pending') owed",
        ),
    };
    Ok(Rupiah(owed.long().scalar().await?))
}
