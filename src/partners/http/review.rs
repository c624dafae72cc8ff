//! Handlers of document and bank account reviews.

use axum::extract::State;

use super::{PathPartner, reads, to_response};
use crate::{
    accounts,
    app::App,
    events::{self, DomainEvent, PartnerChanged},
    kernel::{
        audit::Change,
        caller::Caller,
        confidential::Confidential,
        db::Tx,
        error::{Error, Result},
        http::{Body, Reply},
        lang::text,
    },
    partners::{
        model::{BankApproval, DocumentReview, Partner, Verdict},
        onboarding::{BankAccount, BankAccountStatus, Document, DocumentRow, Reviewed},
        onboarding_store, rules, store, transitions,
    },
};

pub async fn list_documents(
    State(app): State<App>,
    caller: Caller,
    PathPartner(partner): PathPartner,
) -> Result<Reply<Vec<Document>>> {
    let documents = onboarding_store::documents(&app.db, partner.id).await?;
    let readable = reads(&caller);
    Ok(Reply::data(documents.into_iter().map(|row| to_response(&app, row, readable)).collect()))
}

pub async fn review_document(
    State(app): State<App>,
    caller: Caller,
    PathPartner(Partner { id, .. }): PathPartner,
    Body(review): Body<DocumentReview>,
) -> Result<Reply<Reviewed>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let partner = store::lock_row(&mut tx, id, now).await?;
    let before =
        onboarding_store::document(&mut tx, id, review.document_id).await?.ok_or_else(|| {
            let message = text(
                "This partner does not have this document.",
                "Mitra ini tidak memiliki dokumen tersebut.",
            );
            Error::field("document_id", "unknown", message)
        })?;
    if before.replaced_at.is_some() {
        return Err(Error::invalid_state(
            "This document has been replaced by a newer one.",
            "Dokumen ini sudah diganti dengan yang lebih baru.",
        ));
    }
    if before.submitted_at.is_none() {
        return Err(Error::invalid_state(
            "The partner has not submitted this document yet.",
            "Mitra belum mengajukan dokumen ini.",
        ));
    }
    let status = review.status.into();
    if !rules::reviewable(partner.status, before.status, status) {
        return Err(transitions::invalid_transition());
    }
    let is_verified = partner.verified_at.is_some();
    if review.status == Verdict::Approved && rules::proves_bank_account(before.kind, is_verified) {
        ensure_another_person(&app, &mut tx, &caller, &partner, Some(&before)).await?;
    }
    let note = review.note.as_deref().filter(|note| !note.is_empty());
    onboarding_store::review(&mut tx, before.id, status, note, caller.person.id, now).await?;
    transitions::follow_verdict(&mut tx, &app.sealer, &partner, before.status, review.status, now)
        .await?;
    let after = onboarding_store::reviewed(&mut tx, id, before.id).await?;
    let mitra_status = store::get_in(&mut tx, id).await?.status;
    // The audit log contains no file addresses.
    let logged =
        |row, mitra_status| Reviewed { document: to_response(&app, row, false), mitra_status };
    tx.record(Change {
        action: match review.status {
            Verdict::Approved => "partner.document_approved",
            Verdict::Rejected => "partner.document_rejected",
        },
        entity: "partner",
        id,
        before: Some(&logged(before, partner.status)),
        after: Some(&logged(after.clone(), mitra_status)),
    })
    .await?;
    tx.commit().await?;
    let reviewed = Reviewed { document: to_response(&app, after, true), mitra_status };
    Ok(Reply::data(reviewed).saying("The decision has been saved.", "Keputusan tersimpan."))
}

/// Approves or rejects a changed bank account, which releases held settlements: to the new account
/// or to the last approved one.
pub async fn approve_bank_account(
    State(app): State<App>,
    caller: Caller,
    PathPartner(Partner { id, .. }): PathPartner,
    Body(review): Body<BankApproval>,
) -> Result<Reply<Partner>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let partner = store::lock_row(&mut tx, id, now).await?;
    let papers = onboarding_store::papers_in(&mut tx, id, &app.sealer).await?;
    let whole = rules::steps(partner.partner_type, &papers, &[])[2].complete;
    if papers.bank_account_status != Some(BankAccountStatus::Pending) || !whole {
        return Err(nothing_to_review());
    }
    ensure_as_seen(&papers.bank_account, &review)?;
    let note = review.note.as_deref().filter(|note| !note.is_empty());
    let done = match review.status {
        Verdict::Approved => {
            ensure_another_person(&app, &mut tx, &caller, &partner, None).await?;
            let by = Some(caller.person.id);
            onboarding_store::approve_bank_account(&mut tx, id, by, now).await?
        }
        Verdict::Rejected => {
            let (note, by) = (note.unwrap_or_default(), caller.person.id);
            onboarding_store::reject_bank_account(&mut tx, id, note, by, now).await?
        }
    };
    if !done {
        return Err(nothing_to_review());
    }
    let changed = PartnerChanged::of(id);
    let event = match review.status {
        Verdict::Approved => DomainEvent::PartnerBankApproved(changed),
        Verdict::Rejected => {
            let reason = note.map(str::to_owned);
            DomainEvent::PartnerBankRejected(PartnerChanged { reason, ..changed })
        }
    };
    events::emit(&mut tx, event, now).await?;
    tx.record(Change {
        action: match review.status {
            Verdict::Approved => "partner.bank_account_approved",
            Verdict::Rejected => "partner.bank_account_rejected",
        },
        entity: "partner",
        id,
        before: None,
        after: Some(&LoggedAccount { account: papers.bank_account, note }),
    })
    .await?;
    tx.commit().await?;
    let reply = Reply::data(partner);
    Ok(match review.status {
        Verdict::Approved => {
            reply.saying("The bank account has been approved.", "Rekening telah disetujui.")
        }
        Verdict::Rejected => {
            reply.saying("The bank account has been rejected.", "Rekening telah ditolak.")
        }
    })
}

/// Audit form: the number is masked.
#[derive(serde::Serialize)]
struct LoggedAccount<'a> {
    #[serde(flatten)]
    account: BankAccount,
    note: Option<&'a str>,
}

fn nothing_to_review() -> Error {
    Error::invalid_state(
        "There is no changed bank account to review.",
        "Tidak ada perubahan rekening yang perlu diperiksa.",
    )
}

/// 409 if the account is another than the reviewer has seen.
fn ensure_as_seen(account: &BankAccount, seen: &BankApproval) -> Result<()> {
    let number = account.account_number.as_ref().map(Confidential::number);
    let other = |seen: Option<&str>, now: Option<&str>| seen.is_some() && seen != now;
    if other(seen.account_number.as_deref(), number)
        || other(seen.bank_code.as_deref(), account.bank_code.as_deref())
        || other(seen.account_name.as_deref(), account.account_name.as_deref())
    {
        return Err(Error::invalid_state(
            "The bank account has changed in the meantime. Please review it again.",
            "Rekening telah diubah. Mohon periksa lagi.",
        ));
    }
    Ok(())
}

/// Four eyes: a bank account is not approved by whoever last changed it, or handed in the document
/// that proves it, or last chose the e-mail address of the partner. An e-mail address is enough to
/// sign in as the partner and to change the account.
async fn ensure_another_person(
    app: &App,
    tx: &mut Tx,
    caller: &Caller,
    partner: &Partner,
    proof: Option<&DocumentRow>,
) -> Result<()> {
    if !app.config.four_eyes.0 {
        return Ok(());
    }
    let papers = onboarding_store::papers_in(tx, partner.id, &app.sealer).await?;
    let email_by = accounts::last_email_change_by(tx, partner.user_id).await?;
    let involved = [
        papers.bank_changed_by,
        proof.map(|document| document.handed_in_by),
        email_by.or(partner.invited_by),
    ];
    match involved.contains(&Some(caller.person.id)) {
        true => Err(Error::conflict(
            "same_person",
            "Another person must approve this bank account: you have changed it, its proof or the \
             e-mail address of the partner.",
            "Rekening ini harus disetujui orang lain: Anda telah mengubah rekening, buktinya, atau \
             e-mail mitra ini.",
        )),
        false => Ok(()),
    }
}
