//! The credit of resellers.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::kernel::{
    db::Tx,
    error::{Error, Result},
    ids::Uuid,
};

/// How long after it is due an unpaid invoice ends the credit.
const GRACE: TimeDelta = TimeDelta::days(7);

/// Unpaid invoices that were due before this end the credit today.
pub fn overdue_before(today: NaiveDate) -> NaiveDate {
    today - GRACE
}

/// 409 `credit_exceeded` unless the reseller has the credit for what this transaction has posted.
/// The posting has locked its row, so that no two sales take the same credit.
pub async fn ensure(tx: &mut Tx, reseller: Uuid, now: DateTime<Utc>) -> Result<()> {
    let overdue = overdue_before(tx.date_of(now));
    let has_credit: bool = tx
        .sql(
            "SELECT e.status = 'active' AND e.balance <= e.credit_limit
               AND NOT EXISTS (SELECT 1 FROM reseller_invoices v
                 WHERE v.reseller_id = e.id AND v.status = 'open' AND v.due_on < $2)
             FROM resellers e WHERE e.id = $1",
        )
        .bind(reseller)
        .bind(overdue)
        .scalar()
        .await?;
    match has_credit {
        true => Ok(()),
        false => Err(Error::conflict(
            "credit_exceeded",
            "The reseller does not have enough credit.",
            "Kredit agen penjual tidak cukup.",
        )),
    }
}
