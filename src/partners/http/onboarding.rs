//! Handlers of the onboarding.

use axum::extract::State;

use super::{reads, to_response};
use crate::{
    accounts,
    app::App,
    events::{self, DocumentsReplaced, DomainEvent, PartnerChanged},
    files::{self, Purpose},
    kernel::{
        audit::Change,
        caller::Caller,
        db::Tx,
        error::{Error, Fault, Result},
        http::{Body, Reply},
        ids::Uuid,
        lang::text,
    },
    partners::{
        model::{Event, Partner, PartnerStatus},
        onboarding::{
            Document, DocumentForm, DocumentRow, DocumentType, Onboarding, OnboardingData,
            OnboardingForm, Step, StepKey,
        },
        onboarding_store::{self, NewDocument},
        rules, store, transitions,
    },
};

pub async fn get_onboarding(State(app): State<App>, caller: Caller) -> Result<Reply<Onboarding>> {
    let id = caller.partner()?;
    let partner = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let papers = onboarding_store::papers(&app.db, id, &app.sealer).await?;
    let documents = onboarding_store::documents(&app.db, id).await?;
    Ok(Reply::data(onboarding(&app, &caller, partner, papers, documents)))
}

pub async fn update_onboarding(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<OnboardingForm>,
) -> Result<Reply<Onboarding>> {
    let id = caller.partner()?;
    if form.bank_account.is_some() {
        caller.refuse_impersonation()?;
    }
    let submitted = files_of(&app, &caller, form.documents.as_deref().unwrap_or(&[])).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let partner = store::lock_row(&mut tx, id, now).await?;
    let is_verified = partner.verified_at.is_some();
    let before = onboarding_store::papers_in(&mut tx, id, &app.sealer).await?;
    let had = onboarding_store::documents_in(&mut tx, id).await?;
    let by = caller.acting_person().id;
    let at_once = rules::reviewed_at_once(partner.status);
    let new = |kind, file_id| NewDocument { kind, file_id, by, is_submitted: at_once };
    let mut papers = before.clone();
    if let Some(business) = form.business {
        papers.business = business.over(papers.business);
    }
    if let Some(pic) = form.pic {
        papers.pic = pic.over(papers.pic);
    }
    let account = form.bank_account.unwrap_or_default().over(papers.bank_account.clone());
    let account_changes = account != before.bank_account;
    if account_changes {
        papers.set_bank_account(account, by);
        let proof = |d: &&DocumentRow| rules::proves_bank_account(d.kind, is_verified);
        if let Some(book) = had.iter().find(proof).filter(|book| !book.is_rejected()) {
            // A changed account requires a new review of the document that proves it.
            let again = new(book.kind, book.file_id);
            onboarding_store::hand_in_document(&mut tx, id, again, now).await?;
        }
    }
    if papers != before {
        onboarding_store::save(&mut tx, id, &papers, &app.sealer, now).await?;
    }
    let mut replaced = Vec::new();
    for (kind, file_id) in submitted {
        // Handing in the same file again changes nothing.
        let same = |d: &DocumentRow| d.kind == kind && d.file_id == file_id && !d.is_rejected();
        if !had.iter().any(same) {
            onboarding_store::hand_in_document(&mut tx, id, new(kind, file_id), now).await?;
            replaced.push(kind.as_str().to_owned());
        }
    }
    let documents = onboarding_store::documents_in(&mut tx, id).await?;
    let steps = rules::steps(partner.partner_type, &papers, &documents);
    if account_changes && rules::awaits_approval(&partner, &papers, &steps) {
        let changed = PartnerChanged::of(id);
        events::emit(&mut tx, DomainEvent::PartnerBankChanged(changed), now).await?;
    }
    if at_once && !replaced.is_empty() {
        let replaced = DocumentsReplaced { partner_id: id, documents: replaced };
        events::emit(&mut tx, DomainEvent::PartnerDocumentReplaced(replaced), now).await?;
    }
    if form.submit == Some(true) {
        // The status is checked before missing fields, which could not be submitted now anyway.
        rules::next(partner.status, Event::Submit).ok_or_else(transitions::invalid_transition)?;
        ensure_reachable(&mut tx, &partner).await?;
        complete(&steps, &documents)?;
        transitions::apply(&mut tx, &partner, Event::Submit, None, now).await?;
        // All documents may already be approved.
        transitions::activate_if_complete(&mut tx, id, now).await?;
    } else if !matches!(partner.status, PartnerStatus::Draft | PartnerStatus::Revision) {
        // Submitted values can be changed but not removed.
        let earlier = rules::steps(partner.partner_type, &before, &had);
        let taken_back = rules::less(&steps, &earlier);
        complete(&taken_back, &documents)?;
    }
    if caller.impersonator.is_none() {
        store::set_lang(&mut tx, id, caller.context.lang).await?;
    }
    let after = store::get_in(&mut tx, id).await?;
    let logged = |partner: &Partner, papers: &OnboardingData, documents: &[DocumentRow]| Logged {
        status: partner.status,
        papers: papers.clone(),
        documents: documents.iter().map(|row| to_response(&app, row.clone(), false)).collect(),
    };
    tx.record(Change {
        action: "partner.onboarding_updated",
        entity: "partner",
        id,
        before: Some(&logged(&partner, &before, &had)),
        after: Some(&logged(&after, &papers, &documents)),
    })
    .await?;
    tx.commit().await?;
    let answer = onboarding(&app, &caller, after, papers, documents);
    let reply = Reply::data(answer);
    Ok(match form.submit {
        Some(true) => reply.saying(
            "Thank you. We will review your documents.",
            "Terima kasih. Kami akan memeriksa dokumen Anda.",
        ),
        _ => reply.saying("Saved.", "Tersimpan."),
    })
}

/// 409 unless the partner reads the mailbox that the result of the review is mailed to.
async fn ensure_reachable(tx: &mut Tx, partner: &Partner) -> Result<()> {
    match accounts::is_email_verified(tx, partner.user_id).await? {
        true => Ok(()),
        false => Err(Error::conflict(
            "email_unverified",
            "Verify your e-mail address first. We can send you the link again.",
            "Verifikasi alamat e-mail Anda terlebih dahulu. Tautannya dapat kami kirim ulang.",
        )),
    }
}

/// Audit form: masked numbers, no file addresses.
#[derive(serde::Serialize)]
struct Logged {
    status: PartnerStatus,
    #[serde(flatten)]
    papers: OnboardingData,
    documents: Vec<Document>,
}

pub(super) fn onboarding(
    app: &App,
    caller: &Caller,
    partner: Partner,
    papers: OnboardingData,
    documents: Vec<DocumentRow>,
) -> Onboarding {
    let readable = reads(caller);
    Onboarding {
        status: partner.status,
        slug: partner.slug,
        steps: rules::steps(partner.partner_type, &papers, &documents),
        papers: papers.revealed_if(readable),
        review_note: rules::review_note(&documents),
        documents: documents.into_iter().map(|row| to_response(app, row, readable)).collect(),
        submitted_at: partner.submitted_at,
    }
}

/// Validates the submitted files; reports every invalid one.
async fn files_of(
    app: &App,
    caller: &Caller,
    forms: &[DocumentForm],
) -> Result<Vec<(DocumentType, Uuid)>> {
    let mut submitted = Vec::new();
    let mut faults = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        if forms[..index].iter().any(|earlier| earlier.kind == form.kind) {
            let message =
                text("Each type can be sent once.", "Setiap jenis hanya boleh satu kali.");
            faults.push(Fault::new(format!("documents[{index}].type"), "unique", message));
        }
        let field = format!("documents[{index}].file_id");
        match files::refer(app, caller, &field, &form.file_id, Purpose::Document).await {
            Ok(file) => submitted.push((form.kind, file)),
            Err(Error::Invalid(more)) => faults.extend(more),
            Err(other) => return Err(other),
        }
    }
    if faults.is_empty() { Ok(submitted) } else { Err(Error::Invalid(faults)) }
}

/// 422 with every missing field.
fn complete(steps: &[Step], documents: &[DocumentRow]) -> Result<()> {
    let rejected = |step: &Step, name: &str| {
        step.key == StepKey::Documents
            && documents.iter().any(|d| d.kind.as_str() == name && d.is_rejected())
    };
    let fault = |step: &Step, name: &str| {
        let field = format!("{}.{name}", step.key);
        match rejected(step, name) {
            true => Fault::new(
                field,
                "rejected",
                text(
                    "This document was rejected. Send a new one.",
                    "Dokumen ini ditolak. Kirim yang baru.",
                ),
            ),
            false => Fault::new(field, "required", text("This is required.", "Wajib diisi.")),
        }
    };
    let faults: Vec<_> =
        steps.iter().flat_map(|step| step.missing.iter().map(|name| fault(step, name))).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}
