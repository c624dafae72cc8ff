//! Handlers of journal entries.

use axum::extract::State;
use serde_json::json;

use super::{
    files::{FILE_LIMIT, amount, ensure_fits, maybe, word},
    postings::unknown_tax,
};
use crate::{
    app::App,
    finance::{
        model::{Journal, JournalForm, JournalRow, JournalStatus, JournalsQuery},
        rules, store,
    },
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Page, Path, Query, Reply, once},
        idempotency::{Key, Running},
        ids::{self, Uuid},
        money::Rupiah,
    },
    ledger::{self, Account, Due, DueKind, Posting, Source},
    partners,
    reports::{self, Accepts, Format, Report, Sheet},
};

pub async fn list_journals(
    State(app): State<App>,
    accepts: Accepts,
    Query(query): Query<JournalsQuery>,
) -> Result<Report<Page<Journal>>> {
    let paging = &query.paging;
    let format = accepts.or(query.format);
    let (limit, offset) = match format {
        Format::Json => (paging.limit(), paging.offset()),
        _ => (FILE_LIMIT, 0),
    };
    let (rows, lines, total) = store::journals(&app.db, &query, paging, limit, offset).await?;
    if format == Format::Json {
        let page = paging.page((rows, total));
        return Ok(Report::Json(page.each(|row| Journal::new(row, &lines))));
    }
    ensure_fits(&lines)?;
    let journals = rows.into_iter().map(|row| Journal::new(row, &lines));
    let rows = journals.flat_map(|journal| {
        let lines = journal.lines.clone();
        lines.into_iter().map(move |line| {
            vec![
                word(journal.posted_on),
                word(journal.status),
                word(&journal.memo),
                maybe(journal.mitra_id),
                word(line.account),
                maybe(line.tax_code),
                amount(line.debit),
                amount(line.credit),
                word(journal.id),
            ]
        })
    });
    let sheet = Sheet {
        name: "Journals",
        header: &[
            "posted_on",
            "status",
            "memo",
            "mitra_id",
            "account",
            "tax_code",
            "debit",
            "credit",
            "id",
        ],
        rows: rows.collect(),
    };
    reports::file(format!("dermaga-journals-{}", app.today()), format, vec![sheet]).await
}

/// Makes a draft, which changes nothing in the books.
pub async fn create_journal(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<JournalForm>,
) -> Result<Reply<Once<Journal>>> {
    let key = Key::of_account(&caller, key, "create_journal", "/v1/finance/journals", body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        create(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying("The journal entry awaits approval.", "Jurnal menunggu persetujuan."))
}

async fn create(
    app: &App,
    caller: &Caller,
    form: &JournalForm,
    running: Option<&Running>,
) -> Result<Journal> {
    let faults = rules::journal_faults(form);
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    if let Some(partner) = form.mitra_id {
        partners::known(&app.db, partner).await?;
    }
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    ledger::ensure_postable(&mut tx, "posted_on", form.posted_on, now).await?;
    for (at, line) in form.lines.iter().enumerate() {
        if let Some(code) = &line.tax_code
            && !store::knows_tax(&mut tx, code).await?
        {
            return Err(unknown_tax(&format!("lines[{at}].tax_code")));
        }
    }
    let row = JournalRow {
        id: ids::fresh(),
        status: JournalStatus::Draft,
        posted_on: form.posted_on,
        memo: form.memo.to_string(),
        partner_id: form.mitra_id,
        amount: form.lines.iter().filter_map(|line| line.debit).sum(),
        created_by: caller.person.id,
        created_at: now,
        decided_by: None,
        decided_at: None,
    };
    store::insert_journal(&mut tx, &row, &form.lines).await?;
    record_and_commit(tx, None, row.id, "journal.created", running).await
}

/// Posts a draft of somebody else.
pub async fn approve_journal(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply<Journal>> {
    let journal = store::journal(&app.db, id).await?.ok_or(Error::NotFound)?;
    if app.config.four_eyes.0 && journal.created_by == caller.person.id {
        return Err(Error::conflict(
            "same_person",
            "Another person must approve this journal entry: you have made it.",
            "Jurnal ini harus disetujui orang lain: Anda yang membuatnya.",
        ));
    }
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let day = journal.posted_on;
    ledger::ensure_postable(&mut tx, "posted_on", day, now).await?;
    // After the books, as where a partner pays its debt.
    if let Some(partner) = journal.partner_id {
        partners::lock_row(&mut tx, partner, now).await?;
    }
    let before = decide(&mut tx, id, JournalStatus::Posted, &caller, now).await?;
    let lines = store::journal_lines_in(&mut tx, id).await?;
    let change = |account| -> Rupiah {
        lines.iter().filter(|line| line.account == account).map(|line| line.amount).sum()
    };
    let cash = change(Account::Cash);
    if cash < Rupiah::ZERO {
        ledger::ensure_cash(&mut tx, -cash, day).await?;
    }
    let posting = Posting::new(Source::Journal, id, "posted").on(day);
    let posting = match journal.partner_id {
        Some(partner) => posting.of_partner(partner),
        None => posting,
    };
    let posting = lines.iter().fold(posting, |posting, line| {
        posting.line(line.account, line.tax_code.clone(), line.amount)
    });
    ledger::post(&mut tx, posting, now).await?;
    if let Some(partner) = journal.partner_id {
        // A correction is no sale: it changes what is owed and not what was earned.
        let collected = change(Account::PartnerPayable);
        let due = Due::of_source(partner, DueKind::Journal, id, day, (Rupiah::ZERO, collected));
        ledger::record_dues(&mut tx, &[due], now).await?;
    }
    let journal = record_and_commit(tx, Some(&before), id, "journal.approved", None).await?;
    Ok(Reply::data(journal).saying("The journal entry has been posted.", "Jurnal dibukukan."))
}

/// Rejects a draft; its author may withdraw it so.
pub async fn reject_journal(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply<Journal>> {
    store::journal(&app.db, id).await?.ok_or(Error::NotFound)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = decide(&mut tx, id, JournalStatus::Rejected, &caller, now).await?;
    let journal = record_and_commit(tx, Some(&before), id, "journal.rejected", None).await?;
    Ok(Reply::data(journal).saying("The journal entry has been rejected.", "Jurnal ditolak."))
}

/// Returns the draft as it was.
async fn decide(
    tx: &mut AuditedTx,
    id: Uuid,
    status: JournalStatus,
    caller: &Caller,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<Journal> {
    let row = store::journal_in(tx, id).await?;
    let lines = store::journal_lines_in(tx, id).await?;
    if !store::decide_journal(tx, id, status, caller.person.id, now).await? {
        return Err(Error::invalid_state(
            "The journal entry is no longer a draft.",
            "Jurnal ini bukan draf lagi.",
        ));
    }
    Ok(Journal::new(row, &lines))
}

async fn record_and_commit(
    mut tx: AuditedTx,
    before: Option<&Journal>,
    id: Uuid,
    action: &'static str,
    running: Option<&Running>,
) -> Result<Journal> {
    let row = store::journal_in(&mut tx, id).await?;
    let lines = store::journal_lines_in(&mut tx, id).await?;
    let after = Journal::new(row, &lines);
    let before = before.map(|before| before as _);
    tx.record(Change { action, entity: "journal", id, before, after: Some(&after) }).await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(after)).await?;
    }
    tx.commit().await?;
    Ok(after)
}
