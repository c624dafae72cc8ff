//! Handlers of providers' payouts, and their comparison with our payments.

use std::collections::HashMap;

use axum::extract::State;
use chrono::Days;
use serde_json::json;

use super::files::{FILE_LIMIT, amount, days, ensure_fits, word};
use crate::{
    app::App,
    finance::{
        books,
        model::{
            BooksQuery, ProviderSettlement, ProviderSettlementDetail, ProviderSettlementForm,
            ProviderSettlementsQuery, ReconciledTotal, Reconciliation, SettledLine,
        },
        rules, store,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Page, Query, Reply, once},
        idempotency::{Key, Running},
        ids,
        lang::text,
        money::Rupiah,
    },
    ledger::{self, Account, Posting, Source},
    reports::{self, Accepts, Format, Report, Sheet},
};

/// The longest reconciliation.
const MOST_DAYS: u64 = 92;

/// Records what a provider has paid to our bank account.
pub async fn create_provider_settlement(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ProviderSettlementForm>,
) -> Result<Reply<Once<ProviderSettlementDetail>>> {
    let path = "/v1/finance/provider-settlements";
    let key = Key::of_account(&caller, key, "create_provider_settlement", path, body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        create(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying("The payout has been recorded.", "Pencairan penyedia dicatat."))
}

async fn create(
    app: &App,
    caller: &Caller,
    form: &ProviderSettlementForm,
    running: Option<&Running>,
) -> Result<ProviderSettlementDetail> {
    let faults = rules::settlement_faults(&form.lines);
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    ledger::ensure_postable(&mut tx, "paid_on", form.paid_on, now).await?;
    let names: Vec<&str> = form.lines.iter().map(|line| &*line.reference).collect();
    let mut payments = HashMap::new();
    for payment in store::payments_named(&mut tx, form.provider, &names).await? {
        // Our own reference comes first, should another payment have it as its id.
        payments.insert(payment.reference, payment.id);
        if let Some(name) = payment.name {
            payments.entry(name).or_insert(payment.id);
        }
    }
    // A payment is settled once; another line of it is not matched. Refunds are lines below zero.
    let ids: Vec<_> = payments.values().copied().collect();
    let mut settled = store::settled_payments(&mut tx, &ids).await?;
    let mut of_payment = |line: &SettledLine| {
        let payment = payments.get(&*line.reference).copied()?;
        (line.gross <= Rupiah::ZERO || settled.insert(payment)).then_some(payment)
    };
    let lines: Vec<_> = form.lines.iter().map(|line| (line, of_payment(line))).collect();
    let unknown = || lines.iter().filter(|(_, payment)| payment.is_none()).map(|(line, _)| line);
    let settlement = ProviderSettlement {
        id: ids::fresh(),
        provider: form.provider,
        payout_id: form.payout_id.to_string(),
        paid_on: form.paid_on,
        gross: form.lines.iter().map(|line| line.gross).sum(),
        fee: form.lines.iter().map(|line| line.fee).sum(),
        fee_tax: form.lines.iter().map(|line| line.fee_tax).sum(),
        net: form.lines.iter().map(|line| line.net).sum(),
        unknown_gross: unknown().map(|line| line.gross).sum(),
        line_count: i32::try_from(lines.len()).unwrap_or(i32::MAX),
        created_by: caller.person.id,
        created_at: now,
    };
    if !store::insert_provider_settlement(&mut tx, &settlement, &lines).await? {
        return Err(Error::conflict(
            "already_exists",
            "This payout is recorded already.",
            "Pencairan ini sudah dicatat.",
        ));
    }
    ledger::post(&mut tx, posting(&settlement), now).await?;
    tx.record(Change {
        action: "provider_settlement.created",
        entity: "provider_settlement",
        id: settlement.id,
        before: None,
        after: Some(&settlement),
    })
    .await?;
    let unknown_references = unknown().map(|line| line.reference.to_string()).collect();
    let detail = ProviderSettlementDetail { settlement, unknown_references };
    if let Some(running) = running {
        running.keep(&mut tx, &json!(detail)).await?;
    }
    tx.commit().await?;
    Ok(detail)
}

fn posting(settlement: &ProviderSettlement) -> Posting {
    let known: Rupiah = settlement.gross - settlement.unknown_gross;
    Posting::new(Source::ProviderSettlement, settlement.id, "settled")
        .on(settlement.paid_on)
        .debit(Account::Bank, settlement.net)
        .debit(Account::GatewayFees, settlement.fee)
        .debit(Account::VatInput, settlement.fee_tax)
        .credit(Account::GatewayClearing, known)
        .credit(Account::Suspense, settlement.unknown_gross)
}

pub async fn list_provider_settlements(
    State(app): State<App>,
    accepts: Accepts,
    Query(query): Query<ProviderSettlementsQuery>,
) -> Result<Report<Page<ProviderSettlement>>> {
    let paging = &query.paging;
    Ok(match accepts.or(query.format) {
        Format::Json => {
            let (limit, offset) = (paging.limit(), paging.offset());
            let page = store::provider_settlements(&app.db, &query, limit, offset).await?;
            Report::Json(paging.page(page))
        }
        format => {
            let (rows, _) = store::provider_settlements(&app.db, &query, FILE_LIMIT, 0).await?;
            ensure_fits(&rows)?;
            let rows = rows.iter().map(|settlement| {
                vec![
                    word(settlement.paid_on),
                    word(settlement.provider),
                    word(&settlement.payout_id),
                    amount(settlement.gross),
                    amount(settlement.fee),
                    amount(settlement.fee_tax),
                    amount(settlement.net),
                    amount(settlement.unknown_gross),
                ]
            });
            let sheet = Sheet {
                name: "Provider settlements",
                header: &[
                    "paid_on",
                    "provider",
                    "payout_id",
                    "gross",
                    "fee",
                    "fee_tax",
                    "net",
                    "unknown_gross",
                ],
                rows: rows.collect(),
            };
            let name = format!("dermaga-provider-settlements-{}", app.today());
            reports::file(name, format, vec![sheet]).await?
        }
    })
}

pub async fn get_reconciliation(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<BooksQuery>,
) -> Result<Report<Reply<Reconciliation>>> {
    let (start_date, end_date) = days(&app, query.start_date, query.end_date)?;
    if start_date + Days::new(MOST_DAYS) <= end_date {
        let message = text("At most 92 days.", "Paling lama 92 hari.");
        return Err(Error::field("end_date", "max", message));
    }
    let as_of = app.clock.now();
    let rows = books::reconciliation(&caller.on_replica(&app.db), start_date, end_date).await?;
    let mut total = ReconciledTotal::default();
    for row in &rows {
        total += row.amounts;
    }
    let reconciliation = Reconciliation { as_of, start_date, end_date, rows, total };
    Ok(match accepts.or(query.format) {
        Format::Json => Report::Json(Reply::data(reconciliation)),
        format => {
            let row = |day: String, method: &str, amounts: ReconciledTotal| {
                let ReconciledTotal { ours, theirs, refunds, fees, fee_taxes, missing, extra } =
                    amounts;
                let amounts = [ours, theirs, refunds, fees, fee_taxes, missing, extra];
                let names = [word(day), word(method)];
                names.into_iter().chain(amounts.into_iter().map(amount)).collect()
            };
            let rows = reconciliation.rows.iter();
            let rows = rows.map(|day| row(day.day.to_string(), &day.method, day.amounts));
            let total = row("total".to_owned(), "", reconciliation.total);
            let sheet = Sheet {
                name: "Reconciliation",
                header: &[
                    "day",
                    "method",
                    "ours",
                    "theirs",
                    "refunds",
                    "fees",
                    "fee_taxes",
                    "missing",
                    "extra",
                ],
                rows: rows.chain([total]).collect(),
            };
            let name = format!("dermaga-reconciliation-{start_date}-{end_date}");
            reports::file(name, format, vec![sheet]).await?
        }
    })
}
