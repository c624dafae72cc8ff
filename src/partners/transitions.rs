//! Status transitions of partners. All changes of the status go through here.

use chrono::{DateTime, Utc};

use super::{
    model::{Event, Partner, PartnerStatus, Verdict},
    onboarding::{DocumentRow, DocumentStatus},
    onboarding_store, rules, store,
};
use crate::{
    accounts::{self, Status},
    events::{self, DomainEvent, PartnerChanged, RejectedDocument},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        seal::Sealer,
    },
};

/// Applies an event to a partner whose row is locked, with all side effects. 409 if it is not
/// allowed.
pub async fn apply(
    tx: &mut Tx,
    partner: &Partner,
    event: Event,
    reason: Option<&str>,
    now: DateTime<Utc>,
) -> Result<()> {
    let to = rules::next(partner.status, event).ok_or_else(invalid_transition)?;
    let mut moved = Partner { status: to, ..partner.clone() };
    match event {
        Event::Submit => moved.submitted_at = Some(now),
        Event::Approve => moved.verified_at = Some(partner.verified_at.unwrap_or(now)),
        Event::Suspend => {
            moved.suspended_at = Some(now);
            moved.suspended_reason = reason.map(str::to_owned);
        }
        Event::Unsuspend => {
            moved.suspended_at = None;
            moved.suspended_reason = None;
        }
        Event::Reject | Event::Resume => {}
    }
    store::set_state(tx, &moved).await?;
    match event {
        Event::Submit | Event::Resume => {
            onboarding_store::submit_documents(tx, partner.id, now).await?;
        }
        // The first approval includes the bank book. An account that was rejected on its own stays
        // rejected, and later ones are approved separately.
        Event::Approve if partner.verified_at.is_none() => {
            let reviewer = onboarding_store::bank_book_reviewer(tx, partner.id).await?;
            onboarding_store::approve_bank_account(tx, partner.id, reviewer, now).await?;
            store::give_slug(tx, partner).await?;
        }
        Event::Suspend => {
            accounts::set_status(tx, partner.user_id, Status::Suspended, now).await?;
        }
        Event::Unsuspend => accounts::set_status(tx, partner.user_id, Status::Active, now).await?,
        _ => {}
    }
    let rejected = match event {
        Event::Reject => rejected(tx, partner.id).await?,
        _ => Vec::new(),
    };
    let reason = reason.map(str::to_owned);
    let changed = PartnerChanged { partner_id: partner.id, reason, rejected };
    let announced = match event {
        Event::Submit => DomainEvent::PartnerSubmitted(changed),
        Event::Approve => DomainEvent::PartnerApproved(changed),
        Event::Reject => DomainEvent::PartnerRevision(changed),
        Event::Resume => DomainEvent::PartnerReviewResumed(changed),
        Event::Suspend => DomainEvent::PartnerSuspended(changed),
        Event::Unsuspend => DomainEvent::PartnerUnsuspended(changed),
    };
    events::emit(tx, announced, now).await
}

/// Does to the partner what follows from a verdict that has been stored.
pub async fn follow_verdict(
    tx: &mut Tx,
    sealer: &Sealer,
    partner: &Partner,
    was: DocumentStatus,
    verdict: Verdict,
    now: DateTime<Utc>,
) -> Result<()> {
    let documents = onboarding_store::documents_in(tx, partner.id).await?;
    let papers = onboarding_store::papers_in(tx, partner.id, sealer).await?;
    let steps = rules::steps(partner.partner_type, &papers, &documents);
    if let Some(event) = rules::after_verdict(partner.status, was, verdict, &documents, &steps) {
        apply(tx, partner, event, None, now).await?;
    }
    activate_if_complete(tx, partner.id, now).await
}

/// Activates a partner under review once all required documents are approved.
pub async fn activate_if_complete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    let partner = store::get_in(tx, id).await?;
    let documents = onboarding_store::documents_in(tx, id).await?;
    let complete = rules::all_approved(partner.partner_type, &documents);
    if partner.status == PartnerStatus::InReview && complete {
        apply(tx, &partner, Event::Approve, None, now).await?;
    }
    Ok(())
}

async fn rejected(tx: &mut Tx, partner_id: Uuid) -> Result<Vec<RejectedDocument>> {
    let documents = onboarding_store::documents_in(tx, partner_id).await?;
    let rejected = documents.into_iter().filter(|d| d.is_rejected());
    let document = |d: DocumentRow| RejectedDocument {
        kind: d.kind.as_str().to_owned(),
        note: d.note.unwrap_or_default(),
    };
    Ok(rejected.map(document).collect())
}

pub fn invalid_transition() -> Error {
    Error::invalid_state(
        "The current status of the partner does not allow this.",
        "Status mitra saat ini tidak memungkinkan hal ini.",
    )
}
