//! The SQL of settlements.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;

use super::model::{
    Origin, PayoutMethod, SettlementItem, SettlementPayout, SettlementRow, SettlementStatus,
    SettlementsQuery,
};
use crate::kernel::{
    db::{Db, List, Sort, Tx, like},
    error::Result,
    http::{Page, export},
    ids::Uuid,
    money::Rupiah,
};

/// Corrections by journal entries are stored in `collected`, like what a partner pays; they are shown
/// apart. There are few journal entries, and a settlement can have many items: the subquery begins with
/// the former.
macro_rules! settlement {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.code, t.partner_id, a.name AS partner_name, t.start_date, t.end_date,
               t.gross, t.commission, t.commission_tax, t.collected, t.net, t.booking_count,
               t.status, t.origin, t.bank_account, t.note, t.reference, t.proof_file_id,
               t.created_by, c.name AS created_by_name, t.released_by, r.name AS released_by_name,
               t.released_at, t.cancelled_at, t.created_at, t.failure,
               (SELECT CAST(COALESCE(SUM(d.net), 0) AS BIGINT)
                FROM journals j CROSS JOIN partner_dues d CROSS JOIN settlement_items i
                WHERE j.partner_id = t.partner_id AND d.kind = 'journal' AND d.source_id = j.id
                  AND i.due_id = d.id AND i.settlement_id = t.id) AS adjustment,
               o.approved_bank_code AS bank_code,
               o.approved_account_number AS account_number, o.approved_account_name AS account_name
             FROM settlements t
             JOIN partners p ON p.id = t.partner_id
             JOIN accounts a ON a.id = p.account_id
             LEFT JOIN onboardings o ON o.partner_id = t.partner_id
             LEFT JOIN accounts c ON c.id = t.created_by
             LEFT JOIN accounts r ON r.id = t.released_by",
            $rest
        )
    };
}

const BY_ID: &str = settlement!(" WHERE t.id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<SettlementRow>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<SettlementRow> {
    Ok(tx.sql(BY_ID).bind(id).one().await?)
}

pub async fn list(
    db: &Db,
    owner: Option<Uuid>,
    query: &SettlementsQuery,
) -> Result<Page<SettlementRow>> {
    let paging = &query.paging;
    let rows =
        found(db, owner, query).page(sort(query), "t.id", paging.limit(), paging.offset()).await?;
    Ok(paging.page(rows))
}

/// The ids of all settlements of the list, in its order.
pub async fn list_ids(db: &Db, owner: Option<Uuid>, query: &SettlementsQuery) -> Result<Vec<Uuid>> {
    Ok(found(db, owner, query).ids(sort(query), "t.id", export::LIMIT).await?)
}

pub async fn get_all(db: &Db, ids: &[Uuid]) -> Result<Vec<SettlementRow>> {
    let rows = db.sql_among(settlement!(" WHERE t.id IN"), ids.len(), "");
    Ok(ids.iter().fold(rows, |rows, id| rows.bind(*id)).long().all().await?)
}

fn sort(query: &SettlementsQuery) -> Sort {
    let chosen = query.sort_by.map(|by| match by.as_str() {
        "end_date" => "t.end_date",
        "net" => "t.net",
        "status" => "t.status",
        _ => "t.created_at",
    });
    query.paging.sort(chosen, "t.created_at")
}

fn found<'a>(db: &'a Db, owner: Option<Uuid>, query: &SettlementsQuery) -> List<'a> {
    let words = query.paging.search().map(like);
    db.list(settlement!(""))
        .found_in("SELECT t.id FROM settlements t")
        .filter("t.partner_id = ?", owner)
        .filter("t.status = ?", query.status)
        .filter("t.origin = ?", query.origin)
        .filter("t.end_date >= ?", query.start_date)
        .filter("t.start_date <= ?", query.end_date)
        .filter(
            // Codes are stored in upper case.
            "(t.code LIKE upper(?) ESCAPE '\\'
              OR lower(t.reference) LIKE lower(?) ESCAPE '\\'
              OR t.partner_id IN (SELECT p.id FROM partners p JOIN accounts a ON a.id = p.account_id
                WHERE lower(a.name) LIKE lower(?) ESCAPE '\\'))",
            words,
        )
}

const ITEMS: &str =
    "SELECT d.booking_id, k.code, k.channel, k.departure_at, d.kind, d.day, d.gross,
      d.commission, d.commission_tax,
      CASE d.kind WHEN 'journal' THEN 0 ELSE d.collected END AS collected,
      CASE d.kind WHEN 'journal' THEN d.net ELSE 0 END AS adjustment, d.net
    FROM settlement_items i
    JOIN partner_dues d ON d.id = i.due_id
    LEFT JOIN bookings k ON k.id = d.booking_id
    WHERE i.settlement_id = $1
    ORDER BY (d.booking_id IS NULL), k.departure_at, k.code, d.day, d.kind DESC, d.id";

pub async fn items(db: &Db, id: Uuid) -> Result<Vec<SettlementItem>> {
    Ok(db.sql(ITEMS).bind(id).all().await?)
}

pub async fn items_in(tx: &mut Tx, id: Uuid) -> Result<Vec<SettlementItem>> {
    Ok(tx.sql(ITEMS).bind(id).all().await?)
}

const PAYOUTS: &str =
    "SELECT id, amount, method, reference, released_at, returned_at, return_reason
    FROM settlement_payouts WHERE settlement_id = $1 ORDER BY released_at, id";

pub async fn payouts(db: &Db, id: Uuid) -> Result<Vec<SettlementPayout>> {
    Ok(db.sql(PAYOUTS).bind(id).all().await?)
}

pub async fn payouts_in(tx: &mut Tx, id: Uuid) -> Result<Vec<SettlementPayout>> {
    Ok(tx.sql(PAYOUTS).bind(id).all().await?)
}

pub struct NewSettlement<'a> {
    pub id: Uuid,
    pub code: &'a str,
    pub partner_id: Uuid,
    pub start_date: NaiveDate,
    pub end_date: NaiveDate,
    pub origin: Origin,
    pub bank_account: &'a Value,
    pub note: &'a str,
    pub created_by: Option<Uuid>,
}

/// Inserts an empty settlement; its sums are set when dues are taken.
pub async fn insert(tx: &mut Tx, new: NewSettlement<'_>, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "INSERT INTO settlements (id, code, partner_id, start_date, end_date, gross, commission,
           commission_tax, collected, net, booking_count, status, origin, bank_account, note,
           created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, 0, 'pending', $6, $7, $8, $9, $10)",
    )
    .bind(new.id)
    .bind(new.code.to_owned())
    .bind(new.partner_id)
    .bind(new.start_date)
    .bind(new.end_date)
    .bind(new.origin)
    .bind(new.bank_account.clone())
    .bind(new.note.to_owned())
    .bind(new.created_by)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

/// Assigns the dues of departures from `start` to `end` with all that is open of their bookings,
/// bookings with which the partner owes money from earlier days, refunds or charges, which are
/// netted, and everything that is not of a booking: carried debts, receipts, corrections.
pub async fn assign_dues(
    tx: &mut Tx,
    id: Uuid,
    partner: Uuid,
    start: NaiveDate,
    end: NaiveDate,
) -> Result<()> {
    tx.sql(
        "UPDATE partner_dues SET settlement_id = $1
         WHERE partner_id = $2 AND settlement_id IS NULL
           AND (booking_id IS NULL OR booking_id IN
             (SELECT booking_id FROM partner_dues
              WHERE partner_id = $2 AND settlement_id IS NULL AND booking_id IS NOT NULL
              GROUP BY booking_id
              HAVING COUNT(CASE WHEN day BETWEEN $3 AND $4 THEN 1 END) > 0
                OR (SUM(net) < 0 AND (MIN(day) < $3
                  OR COUNT(CASE WHEN kind IN ('reversal', 'charge') THEN 1 END) > 0))))",
    )
    .bind(id)
    .bind(partner)
    .bind(start)
    .bind(end)
    .run()
    .await?;
    tx.sql(
        "INSERT INTO settlement_items (settlement_id, due_id)
         SELECT settlement_id, id FROM partner_dues WHERE settlement_id = $1",
    )
    .bind(id)
    .run()
    .await?;
    Ok(())
}

#[derive(crate::kernel::db::FromRow)]
pub struct Sums {
    pub bookings: i64,
    /// Number of dues other than debts of earlier statements.
    pub news: i64,
    pub gross: Rupiah,
    pub commission: Rupiah,
    pub commission_tax: Rupiah,
    pub collected: Rupiah,
    pub net: Rupiah,
    /// First day of departure of the sales.
    pub first_day: Option<NaiveDate>,
}

pub async fn sums(tx: &mut Tx, id: Uuid) -> Result<Sums> {
    let sums = tx
        .sql(
            "SELECT COUNT(DISTINCT booking_id) AS bookings,
               COUNT(CASE WHEN kind <> 'carried' THEN 1 END) AS news,
               CAST(COALESCE(SUM(gross), 0) AS BIGINT) AS gross,
               CAST(COALESCE(SUM(commission), 0) AS BIGINT) AS commission,
               CAST(COALESCE(SUM(commission_tax), 0) AS BIGINT) AS commission_tax,
               CAST(COALESCE(SUM(collected), 0) AS BIGINT) AS collected,
               CAST(COALESCE(SUM(net), 0) AS BIGINT) AS net,
               MIN(CASE WHEN kind IN ('sale', 'kept') THEN day END) AS first_day
             FROM partner_dues WHERE settlement_id = $1",
        )
        .bind(id)
        .one()
        .await?;
    Ok(sums)
}

pub async fn set_sums(
    tx: &mut Tx,
    id: Uuid,
    sums: &Sums,
    start: NaiveDate,
    status: SettlementStatus,
) -> Result<()> {
    tx.sql(
        "UPDATE settlements SET booking_count = $1, gross = $2, commission = $3,
           commission_tax = $4, collected = $5, net = $6, start_date = $7, status = $8
         WHERE id = $9",
    )
    .bind(i32::try_from(sums.bookings).unwrap_or(i32::MAX))
    .bind(sums.gross)
    .bind(sums.commission)
    .bind(sums.commission_tax)
    .bind(sums.collected)
    .bind(sums.net)
    .bind(start)
    .bind(status)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Whether a booking of the settlement was reversed, charged or refunded in cash since it was made:
/// all that was open of its bookings then is in it.
pub async fn is_stale(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let newer: i64 = tx
        .sql(
            "SELECT COUNT(*) FROM settlements t
             JOIN settlement_items i ON i.settlement_id = t.id
             JOIN partner_dues d ON d.id = i.due_id
             JOIN partner_dues n ON n.booking_id = d.booking_id
             WHERE t.id = $1 AND n.kind IN ('reversal', 'charge', 'returned')
               AND (n.settlement_id IS NULL
                 OR (n.settlement_id <> t.id AND n.created_at > t.created_at))",
        )
        .bind(id)
        .scalar()
        .await?;
    Ok(newer > 0)
}

/// Whether this person has recorded that a payout of the settlement came back.
pub async fn was_returned_by(tx: &mut Tx, id: Uuid, person: Uuid) -> Result<bool> {
    let returns: i64 = tx
        .sql(
            "SELECT COUNT(*) FROM settlement_payouts
             WHERE settlement_id = $1 AND returned_by = $2",
        )
        .bind(id)
        .bind(person)
        .scalar()
        .await?;
    Ok(returns > 0)
}

/// Sets where a pending settlement is paid to, and what is said about it.
pub async fn set_payee(
    tx: &mut Tx,
    id: Uuid,
    bank_account: Value,
    proof_file_id: Option<Uuid>,
    note: Option<&str>,
) -> Result<()> {
    tx.sql(
        "UPDATE settlements SET bank_account = $1, proof_file_id = $2, note = COALESCE($3, note),
           account_approved_at = (SELECT o.approved_at FROM onboardings o
             WHERE o.partner_id = settlements.partner_id)
         WHERE id = $4 AND status = 'pending'",
    )
    .bind(bank_account)
    .bind(proof_file_id)
    .bind(note.map(str::to_owned))
    .bind(id)
    .run()
    .await?;
    Ok(())
}

pub struct Release<'a> {
    pub payout_id: Uuid,
    pub settlement: &'a SettlementRow,
    pub reference: &'a str,
    pub transfer_id: Option<Uuid>,
    pub by: Option<Uuid>,
}

/// Marks it released and stores the payout. Returns `false` if it is not payable: a provider pays
/// out what it processes, or what was taken back meanwhile; a person what is pending.
pub async fn release(tx: &mut Tx, release: &Release<'_>, now: DateTime<Utc>) -> Result<bool> {
    let Release { settlement, .. } = release;
    let by_provider = release.transfer_id.is_some();
    let released = tx
        .sql(
            "UPDATE settlements SET status = 'released', reference = $1, released_by = $2,
               released_at = $3, failure = NULL
             WHERE id = $4 AND (status = 'pending' OR (status = 'processing' AND $5))",
        )
        .bind(release.reference.to_owned())
        .bind(release.by)
        .bind(now)
        .bind(settlement.id)
        .bind(by_provider)
        .run()
        .await?;
    if released != 1 {
        return Ok(false);
    }
    let method = if by_provider { PayoutMethod::Payout } else { PayoutMethod::Manual };
    tx.sql(
        "INSERT INTO settlement_payouts (id, settlement_id, amount, method, transfer_id,
           reference, proof_file_id, released_by, released_at, account_approved_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
           (SELECT account_approved_at FROM settlements WHERE id = $2))",
    )
    .bind(release.payout_id)
    .bind(settlement.id)
    .bind(settlement.net)
    .bind(method)
    .bind(release.transfer_id)
    .bind(release.reference.to_owned())
    .bind(settlement.proof_file_id)
    .bind(release.by)
    .bind(now)
    .run()
    .await?;
    Ok(true)
}

/// What the transfer paid of a settlement that was paid otherwise.
pub async fn paid_twice(tx: &mut Tx, transfer: Uuid) -> Result<Option<Rupiah>> {
    let paid: Option<(Rupiah,)> = tx
        .sql(
            "SELECT amount FROM ledger_lines WHERE source = 'settlement' AND source_id = $1
               AND kind = 'paid_twice' AND account = 'suspense'",
        )
        .bind(transfer)
        .maybe()
        .await?;
    Ok(paid.map(|(amount,)| amount))
}

/// Whether the payout that a transfer made has not come back.
pub async fn has_open_payout(tx: &mut Tx, transfer: Uuid) -> Result<bool> {
    let has_open_payout: Option<(Uuid,)> = tx
        .sql("SELECT id FROM settlement_payouts WHERE transfer_id = $1 AND returned_at IS NULL")
        .bind(transfer)
        .maybe()
        .await?;
    Ok(has_open_payout.is_some())
}

/// Marks the open payout as returned; its id and amount, if there is one.
pub async fn return_payout(
    tx: &mut Tx,
    id: Uuid,
    reason: &str,
    by: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Option<(Uuid, Rupiah)>> {
    let returned = tx
        .sql(
            "UPDATE settlement_payouts SET returned_at = $1, returned_by = $2, return_reason = $3
             WHERE settlement_id = $4 AND returned_at IS NULL RETURNING id, amount",
        )
        .bind(now)
        .bind(by)
        .bind(reason.to_owned())
        .bind(id)
        .maybe()
        .await?;
    Ok(returned)
}

/// Makes a released or processed settlement payable again.
pub async fn reopen(tx: &mut Tx, id: Uuid, reason: &str) -> Result<()> {
    tx.sql(
        "UPDATE settlements SET status = 'pending', failure = $1, reference = NULL,
           proof_file_id = NULL, released_by = NULL, released_at = NULL
         WHERE id = $2 AND status IN ('released', 'processing')",
    )
    .bind(reason.to_owned())
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Releases its dues; `false` if it is neither pending nor a statement.
pub async fn cancel(tx: &mut Tx, id: Uuid, note: Option<&str>, now: DateTime<Utc>) -> Result<bool> {
    let cancelled = tx
        .sql(
            "UPDATE settlements SET status = 'cancelled', cancelled_at = $1,
               note = COALESCE($2, note)
             WHERE id = $3 AND status IN ('pending', 'statement')",
        )
        .bind(now)
        .bind(note.map(str::to_owned))
        .bind(id)
        .run()
        .await?;
    tx.sql(
        "UPDATE partner_dues SET settlement_id = NULL WHERE settlement_id IN
           (SELECT id FROM settlements WHERE id = $1 AND status = 'cancelled')",
    )
    .bind(id)
    .run()
    .await?;
    Ok(cancelled == 1)
}

/// Closes the debt that a cancelled statement had carried; `false` if a later settlement has it.
pub async fn close_carried(tx: &mut Tx, statement: Uuid) -> Result<bool> {
    tx.sql(
        "UPDATE partner_dues SET settlement_id = $1
         WHERE kind = 'carried' AND source_id = $1 AND settlement_id IS NULL",
    )
    .bind(statement)
    .run()
    .await?;
    let elsewhere: i64 = tx
        .sql(
            "SELECT COUNT(*) FROM partner_dues
             WHERE kind = 'carried' AND source_id = $1 AND settlement_id <> $1",
        )
        .bind(statement)
        .scalar()
        .await?;
    Ok(elsewhere == 0)
}

/// Claims a period of a partner's schedule; `false` if it is already done.
pub async fn claim_run(tx: &mut Tx, partner: Uuid, due_on: NaiveDate) -> Result<bool> {
    let claimed = tx
        .sql(
            "INSERT INTO settlement_runs (partner_id, due_on) VALUES ($1, $2)
             ON CONFLICT (partner_id, due_on) DO NOTHING",
        )
        .bind(partner)
        .bind(due_on)
        .run()
        .await?;
    Ok(claimed == 1)
}

pub async fn set_run(tx: &mut Tx, partner: Uuid, due_on: NaiveDate, id: Uuid) -> Result<()> {
    tx.sql("UPDATE settlement_runs SET settlement_id = $1 WHERE partner_id = $2 AND due_on = $3")
        .bind(id)
        .bind(partner)
        .bind(due_on)
        .run()
        .await?;
    Ok(())
}

/// The last due day that the schedule has processed for a partner.
pub async fn last_run(db: &Db, partner: Uuid) -> Result<Option<NaiveDate>> {
    Ok(db
        .sql("SELECT MAX(due_on) FROM settlement_runs WHERE partner_id = $1")
        .bind(partner)
        .scalar()
        .await?)
}

/// Whether a partner has dues that are in no settlement.
pub async fn has_open_dues(db: &Db, partner: Uuid) -> Result<bool> {
    Ok(db
        .sql(
            "SELECT EXISTS (SELECT 1 FROM partner_dues
               WHERE partner_id = $1 AND settlement_id IS NULL)",
        )
        .bind(partner)
        .scalar()
        .await?)
}

pub async fn settled(db: &Db, partner: Uuid) -> Result<Rupiah> {
    let settled = db
        .sql(
            "SELECT CAST(COALESCE(SUM(net), 0) AS BIGINT) FROM settlements
             WHERE partner_id = $1 AND status = 'released'",
        )
        .bind(partner)
        .scalar()
        .await?;
    Ok(Rupiah(settled))
}
