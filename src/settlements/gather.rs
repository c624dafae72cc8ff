//! Creation of a settlement from a partner's dues.

use chrono::{DateTime, NaiveDate, Utc};

use super::{
    model::{Origin, SettlementStatus},
    store::{self, NewSettlement},
};
use crate::{
    events::{self, DomainEvent, SettlementRef},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
        seal::Sealer,
    },
    ledger::{self, Due, DueKind},
    partners,
};

pub struct SettlementRequest<'a> {
    pub partner_id: Uuid,
    /// The period; its start is moved back if earlier dues are included.
    pub start: NaiveDate,
    pub end: NaiveDate,
    /// First day of departure that is included.
    pub from: NaiveDate,
    pub origin: Origin,
    pub note: &'a str,
    /// `None` for the schedule.
    pub by: Option<Uuid>,
    /// Minimum amount of the payout.
    pub minimum: Rupiah,
}

/// Collects the partner's dues. If they leave nothing to pay out, the settlement is a statement: its
/// dues are closed and the debt is carried. `None` if nothing has happened since the last statement,
/// or for less than the minimum; the transaction must then be rolled back.
pub async fn settle_dues(
    tx: &mut Tx,
    sealer: &Sealer,
    wanted: SettlementRequest<'_>,
    now: DateTime<Utc>,
) -> Result<Option<Uuid>> {
    let SettlementRequest { partner_id, start, end, from, .. } = wanted;
    partners::lock_row(tx, partner_id, now).await?;
    let account = partners::payable_account(tx, partner_id, sealer).await?;
    let id = ids::fresh();
    let new = NewSettlement {
        id,
        code: &ids::fresh_code("STL"),
        partner_id,
        start_date: start,
        end_date: end,
        origin: wanted.origin,
        bank_account: &serde_json::to_value(account).map_err(Error::internal)?,
        note: wanted.note,
        created_by: wanted.by,
    };
    store::insert(tx, new, now).await?;
    store::assign_dues(tx, id, partner_id, from, end).await?;
    let sums = store::sums(tx, id).await?;
    let pays_out = sums.net > Rupiah::ZERO;
    if sums.news == 0 || (pays_out && sums.net < wanted.minimum) {
        return Ok(None);
    }
    let start = sums.first_day.map_or(start, |first| first.min(start));
    let status = if pays_out { SettlementStatus::Pending } else { SettlementStatus::Statement };
    store::set_sums(tx, id, &sums, start, status).await?;
    if !pays_out {
        let debt = (Rupiah::ZERO, -sums.net);
        let today = tx.date_of(now);
        let carried = Due::of_source(partner_id, DueKind::Carried, id, today, debt);
        ledger::record_dues(tx, &[carried], now).await?;
    }
    let created = SettlementRef { settlement_id: id, mitra_id: partner_id };
    events::emit(tx, DomainEvent::SettlementCreated(created), now).await?;
    Ok(Some(id))
}
