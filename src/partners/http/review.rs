//! Handlers of document and bank account reviews.

use axum::extract::State;

use super::{PathPartner, reads, to_response};
use crate::{
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        confidential::Confidential,
        error::{Error, Result},
        http::{Body, OptionalBody, Reply},
        lang::text,
    },
    partners::{
        model::{BankApproval, DocumentReview, Event, Partner, Verdict},
        onboarding::{BankAccountStatus, Document, Reviewed},
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
    let status = review.status.into();
    if !rules::reviewable(partner.status, before.status, status) {
        return Err(transitions::invalid_transition());
    }
    let note = review.note.as_deref().filter(|note| !note.is_empty());
    onboarding_store::review(&mut tx, before.id, status, note, caller.person.id, now).await?;
    match review.status {
        Verdict::Rejected => {
            transitions::apply(&mut tx, &partner, Event::Reject, None, now).await?
        }
        Verdict::Approved => transitions::activate_if_complete(&mut tx, id, now).await?,
    }
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

/// Approves a changed bank account, which releases held settlements.
pub async fn approve_bank_account(
    State(app): State<App>,
    caller: Caller,
    PathPartner(Partner { id, .. }): PathPartner,
    OptionalBody(seen): OptionalBody<BankApproval>,
) -> Result<Reply<Partner>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let partner = store::lock_row(&mut tx, id, now).await?;
    let papers = onboarding_store::papers_in(&mut tx, id, &app.sealer).await?;
    let whole = rules::steps(partner.partner_type, &papers, &[])[2].complete;
    if papers.bank_account_status != Some(BankAccountStatus::Pending) || !whole {
        return Err(Error::invalid_state(
            "There is no changed bank account to approve.",
            "Tidak ada perubahan rekening yang perlu disetujui.",
        ));
    }
    let account = &papers.bank_account;
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
    onboarding_store::approve_bank_account(&mut tx, id).await?;
    tx.record(Change {
        action: "partner.bank_account_approved",
        entity: "partner",
        id,
        before: None,
        after: Some(&papers.bank_account),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(partner)
        .saying("The bank account has been approved.", "Rekening telah disetujui."))
}
