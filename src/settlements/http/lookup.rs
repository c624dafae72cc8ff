//! Handlers that read settlements.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use serde_json::Value;

use crate::{
    app::App,
    files,
    fleet::Owner,
    kernel::{
        caller::Caller,
        csv::harmless,
        db::Db,
        error::{Error, Result},
        http::{
            FileOr, ListFormat, PageOrCsv, Path, Query, Reply,
            export::{self, Row, plain, words},
        },
        ids::Uuid,
    },
    partners::BankAccount,
    settlements::{
        model::{
            By, Period, Settlement, SettlementDetail, SettlementRow, SettlementStatus,
            SettlementsQuery,
        },
        store,
    },
};

pub async fn list_settlements(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<SettlementsQuery>,
) -> Result<PageOrCsv<Settlement>> {
    let owner = caller.partner_filter(query.mitra_id)?;
    if query.format == Some(ListFormat::Csv) {
        let db = caller.on_replica(&app.db);
        let ids = store::list_ids(&db, owner, &query).await?;
        return file(db, ids);
    }
    let page = store::list(&app.db, owner, &query).await?;
    page.try_each(|row| to_response(&app, row)).map(FileOr::Json)
}

const HEADER: &[&str] = &[
    "code",
    "mitra",
    "start_date",
    "end_date",
    "gross",
    "commission",
    "commission_tax",
    "collected",
    "adjustment",
    "net",
    "booking_count",
    "status",
    "origin",
    "reference",
    "note",
    "released_at",
    "cancelled_at",
    "created_at",
];

fn file(db: Db, ids: Vec<Uuid>) -> Result<PageOrCsv<Settlement>> {
    export::csv("settlements", HEADER, ids, move |ids| {
        let db = db.clone();
        async move {
            let rows = store::get_all(&db, &ids).await?;
            Ok(rows.iter().map(|settlement| (settlement.id, cells(settlement))).collect())
        }
    })
}

fn cells(row: &SettlementRow) -> Row {
    vec![
        row.code.clone(),
        harmless(&row.partner_name),
        row.start_date.to_string(),
        row.end_date.to_string(),
        row.gross.0.to_string(),
        row.commission.0.to_string(),
        row.commission_tax.0.to_string(),
        (row.collected + row.adjustment).0.to_string(),
        row.adjustment.0.to_string(),
        row.net.0.to_string(),
        row.booking_count.to_string(),
        row.status.to_string(),
        row.origin.to_string(),
        words(row.reference.as_deref()),
        harmless(&row.note),
        plain(row.released_at.map(|at| at.to_rfc3339())),
        plain(row.cancelled_at.map(|at| at.to_rfc3339())),
        row.created_at.to_rfc3339(),
    ]
}

/// The settlement of the path; 404 if it belongs to another partner.
pub struct PathSettlement(pub SettlementRow);

impl FromRequestParts<App> for PathSettlement {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let caller = <Caller as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let row = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
        let theirs = caller.partner_filter(Some(row.partner_id))? == Some(row.partner_id);
        if theirs { Ok(Self(row)) } else { Err(Error::NotFound) }
    }
}

impl aide::OperationInput for PathSettlement {}

pub async fn get_settlement(
    State(app): State<App>,
    PathSettlement(row): PathSettlement,
) -> Result<Reply<SettlementDetail>> {
    let items = store::items(&app.db, row.id).await?;
    let payouts = store::payouts(&app.db, row.id).await?;
    Ok(Reply::data(SettlementDetail { settlement: to_response(&app, row)?, items, payouts }))
}

pub fn to_response(app: &App, row: SettlementRow) -> Result<Settlement> {
    let bank_account = match row.status {
        // A pending settlement shows the account that it would be paid to.
        SettlementStatus::Pending => {
            let account = BankAccount {
                account_number: app.sealer.open_number(row.account_number.as_deref())?,
                bank_code: row.bank_code,
                account_name: row.account_name,
            };
            let known = account.account_number.is_some().then_some(account);
            serde_json::to_value(known).map_err(Error::internal)?
        }
        SettlementStatus::Statement => Value::Null,
        _ => row.bank_account.unwrap_or(Value::Null),
    };
    let by = |id: Option<Uuid>, name: Option<String>| {
        id.map(|id| By { id, name: name.unwrap_or_default() })
    };
    Ok(Settlement {
        id: row.id,
        code: row.code,
        mitra_id: row.partner_id,
        mitra: Owner { id: row.partner_id, name: row.partner_name },
        period: Period { start_date: row.start_date, end_date: row.end_date },
        gross: row.gross,
        commission: row.commission,
        commission_tax: row.commission_tax,
        collected: row.collected + row.adjustment,
        adjustment: row.adjustment,
        net: row.net,
        booking_count: row.booking_count,
        status: row.status,
        origin: row.origin,
        bank_account,
        note: row.note,
        reference: row.reference,
        proof_file_id: row.proof_file_id,
        proof_url: row.proof_file_id.map(|id| files::private_url(app, id)),
        created_by: by(row.created_by, row.created_by_name),
        released_by: by(row.released_by, row.released_by_name),
        released_at: row.released_at,
        cancelled_at: row.cancelled_at,
        created_at: row.created_at,
        failure: row.failure,
    })
}
