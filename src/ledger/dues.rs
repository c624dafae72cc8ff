//! What partners are owed and owe. Each due belongs to a posting that changes the partner's payable
//! by its `net`.

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
        /// Cash that the partner handed back to a customer.
        Returned = "returned",
        /// A refund at the provider that the partner has to bear.
        Charge = "charge",
        /// Money that the partner paid us.
        Receipt = "receipt",
        /// The debt of an earlier statement.
        Carried = "carried",
        /// A correction by a journal entry.
        Journal = "journal",
    }
}

pub struct Due {
    pub partner_id: Uuid,
    pub booking_id: Option<Uuid>,
    /// The reschedule that started this segment of the booking.
    pub reschedule_id: Option<Uuid>,
    pub kind: DueKind,
    /// The cause of a due that is not of a sale, or the cancellation of some passengers.
    pub source_id: Option<Uuid>,
    /// Local day of departure, or the day of the cause.
    pub day: NaiveDate,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    /// Cash that the partner collected; negative: that it paid, or that a journal entry credits to it.
    pub collected: Rupiah,
}

impl Due {
    pub fn net(&self) -> Rupiah {
        self.gross - self.commission - self.commission_tax - self.collected
    }

    /// A due that is not of a sale. `earned` changes what the partner has earned, `collected` what
    /// it has collected.
    pub fn of_source(
        partner_id: Uuid,
        kind: DueKind,
        source_id: Uuid,
        day: NaiveDate,
        (earned, collected): (Rupiah, Rupiah),
    ) -> Self {
        Self {
            partner_id,
            booking_id: None,
            reschedule_id: None,
            kind,
            source_id: Some(source_id),
            day,
            gross: earned,
            commission: Rupiah::ZERO,
            commission_tax: Rupiah::ZERO,
            collected,
        }
    }
}

/// Stores the dues; dues of zero are omitted.
pub async fn record_dues(tx: &mut Tx, dues: &[Due], now: DateTime<Utc>) -> Result<()> {
    // A journey that the partner's own promotion made free still costs it the commission.
    let some =
        |due: &&Due| [due.gross, due.collected, due.net()].iter().any(|part| *part != Rupiah::ZERO);
    let dues: Vec<_> = dues.iter().filter(some).collect();
    tx.insert_all(
        "INSERT INTO partner_dues (id, partner_id, booking_id, kind, source_id, day, gross,
           commission, commission_tax, collected, net, reschedule_id, created_at)",
        13,
        &dues,
        |statement, due| {
            statement
                .bind(ids::fresh())
                .bind(due.partner_id)
                .bind(due.booking_id)
                .bind(due.kind)
                .bind(due.source_id)
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
    ($before:expr, $booking:literal, $after:literal) => {
        concat!(
            $before,
            " CAST(COALESCE((SELECT l.amount FROM ledger_lines l
                 WHERE l.source = 'booking' AND l.source_id = ",
            $booking,
            "      AND l.kind = 'paid' AND l.account = 'partner_payable'), 0)
               - COALESCE((SELECT SUM(d.collected) FROM partner_dues d
                 WHERE d.source_id IS NULL AND d.booking_id = ",
            $booking,
            "), 0) AS BIGINT) ",
            $after
        )
    };
}
pub(crate) use with_collected;

/// What one partner is owed and was not paid.
const UNSETTLED: &str = "SELECT CAST(COALESCE(SUM(net), 0) AS BIGINT) FROM
   (SELECT net FROM partner_dues WHERE settlement_id IS NULL AND partner_id = $1
    UNION ALL
    SELECT net FROM settlements
    WHERE status IN ('pending', 'processing') AND partner_id = $1) owed";

/// Amount owed to a partner (or all) and not paid out, including settlements that are pending or
/// being paid out. Negative if the partner owes.
pub async fn unsettled(db: &Db, partner: Option<Uuid>) -> Result<Rupiah> {
    let owed = match partner {
        Some(partner) => db.sql(UNSETTLED).bind(partner),
        None => db.sql(
            "SELECT CAST(COALESCE(SUM(net), 0) AS BIGINT) FROM
               (SELECT net FROM partner_dues WHERE settlement_id IS NULL
                UNION ALL
                SELECT net FROM settlements WHERE status IN ('pending', 'processing')) owed",
        ),
    };
    Ok(Rupiah(owed.long().scalar().await?))
}

/// The same in a transaction that has locked the partner.
pub async fn unsettled_in(tx: &mut Tx, partner: Uuid) -> Result<Rupiah> {
    Ok(Rupiah(tx.sql(UNSETTLED).bind(partner).scalar().await?))
}

/// What a partner (or all) has earned: gross less commission and its tax of all dues, kept money
/// included. Dues of settlements are read as the sums of those.
pub async fn earned(db: &Db, partner: Option<Uuid>) -> Result<Rupiah> {
    let earned = match partner {
        Some(partner) => db
            .sql(
                "SELECT CAST(COALESCE(SUM(earned), 0) AS BIGINT) FROM
                   (SELECT net + collected AS earned FROM partner_dues
                    WHERE settlement_id IS NULL AND partner_id = $1
                    UNION ALL
                    SELECT net + collected FROM settlements
                    WHERE status <> 'cancelled' AND partner_id = $1) each",
            )
            .bind(partner),
        None => db.sql(
            "SELECT CAST(COALESCE(SUM(earned), 0) AS BIGINT) FROM
               (SELECT net + collected AS earned FROM partner_dues WHERE settlement_id IS NULL
                UNION ALL
                SELECT net + collected FROM settlements WHERE status <> 'cancelled') each",
        ),
    };
    Ok(Rupiah(earned.long().scalar().await?))
}
