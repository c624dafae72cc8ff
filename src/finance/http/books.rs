//! Handlers that read the ledger.

use axum::extract::State;
use chrono::NaiveDate;

use super::files::{FILE_LIMIT, amount, days, ensure_fits, maybe, word};
use crate::{
    app::App,
    finance::{
        books::{self, Holder},
        model::{
            AccountBalance, BalanceTotal, BooksQuery, EntriesQuery, Entry, PartnerStatement,
            ResellerStatement, ResellerStatementLine, StatementLine, StatementQuery, StatementRow,
            TaxReport, TaxesQuery, TrialBalance,
        },
    },
    kernel::{
        caller::Caller,
        db::Total,
        error::{Error, Result},
        http::{Page, Paged, Path, Query, Reply},
        ids::Uuid,
        lang::text,
        money::Rupiah,
    },
    ledger::Month,
    partners,
    reports::{self, Accepts, Format, Report, Sheet},
    resellers,
};

pub async fn get_trial_balance(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<BooksQuery>,
) -> Result<Report<Reply<TrialBalance>>> {
    let (start_date, end_date) = days(&app, query.start_date, query.end_date)?;
    let as_of = app.clock.now();
    let accounts = books::trial_balance(&caller.on_replica(&app.db), start_date, end_date).await?;
    let mut total = BalanceTotal::default();
    for AccountBalance { opening, debit, credit, closing, .. } in &accounts {
        total.opening = total.opening + *opening;
        total.debit = total.debit + *debit;
        total.credit = total.credit + *credit;
        total.closing = total.closing + *closing;
    }
    let balance = TrialBalance { as_of, start_date, end_date, accounts, total };
    Ok(match accepts.or(query.format) {
        Format::Json => Report::Json(Reply::data(balance)),
        format => {
            let name = format!("dermaga-trial-balance-{start_date}-{end_date}");
            reports::file(name, format, vec![balance_sheet(&balance)]).await?
        }
    })
}

fn balance_sheet(balance: &TrialBalance) -> Sheet {
    let rows = balance.accounts.iter().map(|account| {
        vec![
            word(account.account),
            maybe(account.tax_code.as_deref()),
            amount(account.opening),
            amount(account.debit),
            amount(account.credit),
            amount(account.closing),
        ]
    });
    let BalanceTotal { opening, debit, credit, closing } = balance.total;
    let total = vec![
        word("total"),
        word(""),
        amount(opening),
        amount(debit),
        amount(credit),
        amount(closing),
    ];
    Sheet {
        name: "Trial balance",
        header: &["account", "tax_code", "opening", "debit", "credit", "closing"],
        rows: rows.chain([total]).collect(),
    }
}

/// JSON is paged; a file contains all lines of the selection.
pub async fn list_entries(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<EntriesQuery>,
) -> Result<Report<Page<Entry>>> {
    let (paging, db) = (&query.paging, &caller.on_replica(&app.db));
    Ok(match accepts.or(query.format) {
        Format::Json => {
            let page = books::entries(db, &query, paging.limit(), paging.offset()).await?;
            Report::Json(paging.page(page).each(Entry::from))
        }
        format => {
            let (rows, _) = books::entries(db, &query, FILE_LIMIT, 0).await?;
            ensure_fits(&rows)?;
            let rows = rows.into_iter().map(Entry::from).map(|entry| {
                vec![
                    word(entry.posted_on),
                    word(entry.account),
                    maybe(entry.tax_code),
                    amount(entry.debit),
                    amount(entry.credit),
                    maybe(entry.mitra_id),
                    maybe(entry.booking_code),
                    word(entry.source),
                    word(entry.source_id),
                    word(entry.kind),
                    word(entry.created_at.to_rfc3339()),
                ]
            });
            let sheet = Sheet {
                name: "Entries",
                header: &[
                    "posted_on",
                    "account",
                    "tax_code",
                    "debit",
                    "credit",
                    "mitra_id",
                    "booking_code",
                    "source",
                    "source_id",
                    "kind",
                    "created_at",
                ],
                rows: rows.collect(),
            };
            reports::file(format!("dermaga-entries-{}", app.today()), format, vec![sheet]).await?
        }
    })
}

/// A partner gets its own alone.
pub async fn get_partner_statement(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Path(id): Path<Uuid>,
    Query(query): Query<StatementQuery>,
) -> Result<Report<Paged<PartnerStatement>>> {
    let is_theirs = caller.partner_filter(Some(id))? == Some(id);
    if !is_theirs || partners::find(&app.db, id).await?.is_none() {
        return Err(Error::NotFound);
    }
    let format = accepts.or(query.format);
    let read = statement(&app, &caller, Holder::Partner(id), &query, format).await?;
    let statement = PartnerStatement {
        mitra_id: id,
        start_date: read.start_date,
        end_date: read.end_date,
        opening: read.opening,
        closing: read.closing,
        lines: read.lines.into_iter().map(StatementLine::from).collect(),
    };
    Ok(match format {
        Format::Json => Report::Json(paged(&query, read.total, statement)),
        format => {
            ensure_fits(&statement.lines)?;
            let name = format!("dermaga-statement-{}-{}", read.start_date, read.end_date);
            reports::file(name, format, vec![statement_sheet(&statement)]).await?
        }
    })
}

/// A reseller gets its own alone.
pub async fn get_reseller_statement(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Path(id): Path<Uuid>,
    Query(query): Query<StatementQuery>,
) -> Result<Report<Paged<ResellerStatement>>> {
    let reseller_id = resellers::find(&app, &caller, id).await?.id;
    let format = accepts.or(query.format);
    let read = statement(&app, &caller, Holder::Reseller(reseller_id), &query, format).await?;
    let statement = ResellerStatement {
        reseller_id,
        start_date: read.start_date,
        end_date: read.end_date,
        opening: read.opening,
        closing: read.closing,
        lines: read.lines.into_iter().map(ResellerStatementLine::from).collect(),
    };
    Ok(match format {
        Format::Json => Report::Json(paged(&query, read.total, statement)),
        format => {
            ensure_fits(&statement.lines)?;
            let name = format!("dermaga-reseller-{}-{}", read.start_date, read.end_date);
            reports::file(name, format, vec![reseller_sheet(&statement)]).await?
        }
    })
}

/// What both kinds of statements are made of.
struct Read {
    start_date: NaiveDate,
    end_date: NaiveDate,
    opening: Rupiah,
    closing: Rupiah,
    lines: Vec<StatementRow>,
    total: i64,
}

/// JSON is paged; a file contains all lines.
async fn statement(
    app: &App,
    caller: &Caller,
    holder: Holder,
    query: &StatementQuery,
    format: Format,
) -> Result<Read> {
    let (start_date, end_date) = days(app, query.start_date, query.end_date)?;
    let db = &caller.on_replica(&app.db);
    let sums = books::statement_sums(db, holder, start_date, end_date).await?;
    let (limit, offset) = match format {
        Format::Json => (query.paging.limit(), query.paging.offset()),
        _ => (FILE_LIMIT, 0),
    };
    let window = (start_date, end_date);
    let lines = books::statement_lines(db, holder, window, sums.opening, limit, offset).await?;
    Ok(Read {
        start_date,
        end_date,
        opening: sums.opening,
        closing: sums.opening + sums.change,
        lines,
        total: sums.lines,
    })
}

fn paged<T>(query: &StatementQuery, total: i64, statement: T) -> Paged<T> {
    let page = query.paging.page((Vec::<()>::new(), Total::exactly(total)));
    page.map(|_| statement)
}

fn statement_sheet(statement: &PartnerStatement) -> Sheet {
    let edge = |day: NaiveDate, name: &str, balance| {
        vec![word(day), word(name), word(""), word(""), word(""), amount(balance)]
    };
    let opening = edge(statement.start_date, "opening", statement.opening);
    let closing = edge(statement.end_date, "closing", statement.closing);
    let lines = statement.lines.iter().map(|line| {
        vec![
            word(line.posted_on),
            word(line.source),
            word(&line.kind),
            maybe(line.booking_code.as_deref()),
            amount(line.amount),
            amount(line.balance),
        ]
    });
    Sheet {
        name: "Statement",
        header: &["posted_on", "source", "kind", "booking_code", "amount", "balance"],
        rows: [opening].into_iter().chain(lines).chain([closing]).collect(),
    }
}

fn reseller_sheet(statement: &ResellerStatement) -> Sheet {
    let edge = |day: NaiveDate, name: &str, balance| {
        vec![word(day), word(name), word(""), word(""), word(""), word(""), amount(balance)]
    };
    let opening = edge(statement.start_date, "opening", statement.opening);
    let closing = edge(statement.end_date, "closing", statement.closing);
    let lines = statement.lines.iter().map(|line| {
        vec![
            word(line.posted_on),
            word(line.source),
            word(&line.kind),
            maybe(line.booking_code.as_deref()),
            maybe(line.reseller_reference.as_deref()),
            amount(line.amount),
            amount(line.balance),
        ]
    });
    Sheet {
        name: "Statement",
        header: &[
            "posted_on",
            "source",
            "kind",
            "booking_code",
            "reseller_reference",
            "amount",
            "balance",
        ],
        rows: [opening].into_iter().chain(lines).chain([closing]).collect(),
    }
}

pub async fn get_tax_report(
    State(app): State<App>,
    caller: Caller,
    accepts: Accepts,
    Query(query): Query<TaxesQuery>,
) -> Result<Report<Reply<TaxReport>>> {
    let as_of = app.clock.now();
    let month = match query.month.as_deref().map(str::parse::<Month>) {
        None => Month::of(app.today()),
        Some(Ok(month)) => month,
        Some(Err(())) => {
            let message = text("Write the month as 2026-11.", "Tulis bulan seperti 2026-11.");
            return Err(Error::field("month", "format", message));
        }
    };
    let taxes = books::taxes(&caller.on_replica(&app.db), month).await?;
    let report = TaxReport { month, as_of, taxes };
    Ok(match accepts.or(query.format) {
        Format::Json => Report::Json(Reply::data(report)),
        format => {
            let rows = report.taxes.iter().map(|tax| {
                let amounts = [
                    tax.received_base,
                    tax.received,
                    tax.opening,
                    tax.collected,
                    tax.reversed,
                    tax.adjusted,
                    tax.paid,
                    tax.owed,
                ];
                let code = word(&tax.tax_code);
                [code].into_iter().chain(amounts.into_iter().map(amount)).collect()
            });
            let sheet = Sheet {
                name: "Taxes",
                header: &[
                    "tax_code",
                    "received_base",
                    "received",
                    "opening",
                    "collected",
                    "reversed",
                    "adjusted",
                    "paid",
                    "owed",
                ],
                rows: rows.collect(),
            };
            reports::file(format!("dermaga-taxes-{month}"), format, vec![sheet]).await?
        }
    })
}
