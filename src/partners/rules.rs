//! Pure rules of partners: required onboarding data, and status transitions.

use super::{
    model::{Event, Partner, PartnerStatus, PartnerType, Verdict},
    onboarding::{
        BankAccountStatus, DocumentRow, DocumentStatus, DocumentType, OnboardingData, Step, StepKey,
    },
};

/// All allowed transitions.
const MOVES: &[(PartnerStatus, Event, PartnerStatus)] = {
    use Event::*;
    use PartnerStatus::*;
    &[
        (Draft, Submit, InReview),
        (Revision, Submit, InReview),
        (InReview, Approve, Active),
        (InReview, Reject, Revision),
        // Another document of the same round was rejected.
        (Revision, Reject, Revision),
        (Revision, Resume, InReview),
        // A replaced document of an active partner was rejected.
        (Active, Reject, Revision),
        (Active, Suspend, Suspended),
        (Suspended, Unsuspend, Active),
    ]
};

/// Status after the event; `None` if it is not allowed.
pub fn next(from: PartnerStatus, event: Event) -> Option<PartnerStatus> {
    let fits = |m: &&(PartnerStatus, Event, PartnerStatus)| m.0 == from && m.1 == event;
    MOVES.iter().find(fits).map(|m| m.2)
}

/// Whether a submitted document can be reviewed now. All documents are reviewed in one round: a
/// rejection leaves the others open, and a verdict can be changed until the partner submits again.
/// Documents of an active partner are reviewed when they are replaced.
pub fn reviewable(
    partner: PartnerStatus,
    document: DocumentStatus,
    verdict: DocumentStatus,
) -> bool {
    match partner {
        PartnerStatus::InReview | PartnerStatus::Revision => document != verdict,
        PartnerStatus::Active => document == DocumentStatus::Pending,
        PartnerStatus::Draft | PartnerStatus::Suspended => false,
    }
}

/// What a verdict does to the partner; `None` if it keeps its status. `documents` and `steps` are
/// as they are after the verdict.
///
/// - A rejection asks for a revision. Each further one is told to the partner as well.
/// - A rejection that was taken back resumes the review, if it was the last one and the partner has
///   not removed anything since. The partner need not submit again.
/// - Otherwise a partner in revision stays there until it submits.
pub fn after_verdict(
    partner: PartnerStatus,
    was: DocumentStatus,
    verdict: Verdict,
    documents: &[DocumentRow],
    steps: &[Step],
) -> Option<Event> {
    match verdict {
        Verdict::Rejected => Some(Event::Reject),
        Verdict::Approved => {
            let taken_back = partner == PartnerStatus::Revision && was == DocumentStatus::Rejected;
            let resumes = taken_back
                && !documents.iter().any(DocumentRow::is_rejected)
                && steps.iter().all(|step| step.complete);
            resumes.then_some(Event::Resume)
        }
    }
}

/// Whether an approval of this document also approves the bank account that it proves: until the
/// partner is first activated. Later accounts are approved separately.
pub fn proves_bank_account(kind: DocumentType, is_verified: bool) -> bool {
    kind == DocumentType::BankBook && !is_verified
}

/// Whether reviewers are told of a changed bank account: once it is complete, unless the partner
/// submits it together with its documents.
pub fn awaits_approval(partner: &Partner, papers: &OnboardingData, steps: &[Step]) -> bool {
    let complete = steps.iter().any(|step| step.key == StepKey::BankAccount && step.complete);
    let is_pending = papers.bank_account_status == Some(BankAccountStatus::Pending);
    let is_reviewed = partner.verified_at.is_some() || partner.status == PartnerStatus::InReview;
    complete && is_pending && is_reviewed
}

/// Whether a document that is handed in now is reviewed at once. Before, and during a revision, the
/// partner submits all documents together.
pub fn reviewed_at_once(partner: PartnerStatus) -> bool {
    match partner {
        PartnerStatus::InReview | PartnerStatus::Active | PartnerStatus::Suspended => true,
        PartnerStatus::Draft | PartnerStatus::Revision => false,
    }
}

pub fn required(partner_type: PartnerType) -> &'static [DocumentType] {
    use DocumentType::*;
    match partner_type {
        PartnerType::Individual => &[Ktp, BankBook, OperatingPermit],
        PartnerType::Company => &[Nib, Npwp, Deed, BankBook, OperatingPermit],
    }
}

/// Whether all required documents are approved.
pub fn all_approved(partner_type: PartnerType, documents: &[DocumentRow]) -> bool {
    let approved = |kind: &DocumentType| {
        documents.iter().any(|d| d.kind == *kind && d.status == DocumentStatus::Approved)
    };
    required(partner_type).iter().all(approved)
}

/// The steps with what they need and what of it is missing. A rejected document counts as missing. An individual needs
/// neither NIB nor NPWP.
pub fn steps(
    partner_type: PartnerType,
    papers: &OnboardingData,
    documents: &[DocumentRow],
) -> Vec<Step> {
    let OnboardingData { business, pic, bank_account, .. } = papers;
    let is_company = partner_type == PartnerType::Company;
    let step = |key, fields: &[(&'static str, bool, bool)]| {
        let required = fields.iter().filter(|(_, is_required, _)| *is_required);
        let missing = required.clone().filter(|(.., is_there)| !is_there);
        let missing: Vec<_> = missing.map(|(name, ..)| *name).collect();
        let required = required.map(|(name, ..)| *name).collect();
        Step { key, complete: missing.is_empty(), required, missing }
    };
    let is_there =
        |kind: &DocumentType| documents.iter().any(|d| d.kind == *kind && !d.is_rejected());
    let kinds = required(partner_type).iter().map(|kind| (kind.as_str(), true, is_there(kind)));
    vec![
        step(
            StepKey::Business,
            &[
                ("legal_name", true, business.legal_name.is_some()),
                ("nib", is_company, business.nib.is_some()),
                ("npwp", is_company, business.npwp.is_some()),
                ("address", true, business.address.is_some()),
                ("city", true, business.city.is_some()),
                ("province", true, business.province.is_some()),
                ("postal_code", true, business.postal_code.is_some()),
            ],
        ),
        step(
            StepKey::Pic,
            &[
                ("name", true, pic.name.is_some()),
                ("position", true, pic.position.is_some()),
                ("phone", true, pic.phone.is_some()),
                ("email", true, pic.email.is_some()),
                ("nik", true, pic.nik.is_some()),
            ],
        ),
        step(
            StepKey::BankAccount,
            &[
                ("bank_code", true, bank_account.bank_code.is_some()),
                ("account_number", true, bank_account.account_number.is_some()),
                ("account_name", true, bank_account.account_name.is_some()),
            ],
        ),
        step(StepKey::Documents, &kinds.collect::<Vec<_>>()),
    ]
}

/// Fields that are missing now and were present before.
pub fn less(now: &[Step], earlier: &[Step]) -> Vec<Step> {
    let gone = |(now, earlier): (&Step, &Step)| {
        let gone = now.missing.iter().filter(|name| !earlier.missing.contains(name));
        let missing: Vec<_> = gone.copied().collect();
        let required = now.required.clone();
        Step { key: now.key, complete: missing.is_empty(), required, missing }
    };
    now.iter().zip(earlier).map(gone).collect()
}

/// The latest note of a rejected document.
pub fn review_note(documents: &[DocumentRow]) -> Option<String> {
    documents
        .iter()
        .filter(|d| d.is_rejected())
        .max_by_key(|d| d.reviewed_at)
        .and_then(|d| d.note.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ids::Uuid;

    /// The same transitions as a diagram.
    #[test]
    fn every_edge_is_as_drawn_and_there_is_no_other() {
        #[rustfmt::skip]
        let drawn = [
            // from        submit       approve     reject      resume       suspend      unsuspend
            ("draft",     ["in_review", "-",        "-",        "-",         "-",         "-"]),
            ("in_review", ["-",         "active",   "revision", "-",         "-",         "-"]),
            ("revision",  ["in_review", "-",        "revision", "in_review", "-",         "-"]),
            ("active",    ["-",         "-",        "revision", "-",         "suspended", "-"]),
            ("suspended", ["-",         "-",        "-",        "-",         "-",         "active"]),
        ];
        assert_eq!(drawn.len(), PartnerStatus::ALL.len());
        for (from, row) in drawn {
            for (event, to) in Event::ALL.iter().zip(row) {
                let found = next(from.parse().unwrap(), *event).map_or("-", PartnerStatus::as_str);
                assert_eq!(found, to, "{from} {event}");
            }
        }
    }

    #[test]
    fn a_verdict_is_given_during_a_round_or_on_what_an_active_partner_replaced() {
        use DocumentStatus::*;
        let mut allowed = Vec::new();
        for partner in PartnerStatus::ALL {
            for document in DocumentStatus::ALL {
                for verdict in [Approved, Rejected] {
                    if reviewable(*partner, *document, verdict) {
                        allowed.push(format!("{partner} {document} {verdict}"));
                    }
                }
            }
        }
        assert_eq!(
            allowed,
            [
                "in_review pending approved",
                "in_review pending rejected",
                "in_review approved rejected",
                "in_review rejected approved",
                "revision pending approved",
                "revision pending rejected",
                "revision approved rejected",
                "revision rejected approved",
                "active pending approved",
                "active pending rejected",
            ]
        );
    }

    fn document(kind: DocumentType, status: DocumentStatus) -> DocumentRow {
        DocumentRow {
            id: Uuid::nil(),
            kind,
            file_id: Uuid::nil(),
            filename: String::new(),
            status,
            note: None,
            reviewed_at: None,
            handed_in_by: Uuid::nil(),
            submitted_at: None,
            replaced_at: None,
            created_at: chrono::DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_rejection_taken_back_resumes_the_review_only_if_it_was_the_last() {
        use DocumentStatus::*;
        use DocumentType::*;
        let step = |complete, missing| {
            [Step { key: StepKey::Business, complete, required: vec!["city"], missing }]
        };
        let complete = step(true, vec![]);
        let lacking = step(false, vec!["city"]);
        let passed = [document(Deed, Approved), document(Nib, Pending)];
        let another = [document(Deed, Approved), document(Nib, Rejected)];
        let revision = |was, verdict, documents: &[DocumentRow], steps: &[Step]| {
            after_verdict(PartnerStatus::Revision, was, verdict, documents, steps)
        };
        let approved = Verdict::Approved;
        assert_eq!(revision(Rejected, approved, &passed, &complete), Some(Event::Resume));
        assert_eq!(revision(Rejected, approved, &another, &complete), None, "one is left");
        assert_eq!(revision(Rejected, approved, &passed, &lacking), None, "a field is missing");
        // The rejected document may have been replaced and not submitted yet.
        assert_eq!(revision(Pending, approved, &passed, &complete), None);
        for status in [PartnerStatus::InReview, PartnerStatus::Active] {
            let kept = after_verdict(status, Rejected, approved, &passed, &complete);
            assert_eq!(kept, None, "{status}");
        }
        for was in [Pending, Approved] {
            let rejected = revision(was, Verdict::Rejected, &another, &complete);
            assert_eq!(rejected, Some(Event::Reject));
        }
    }

    #[test]
    fn an_individual_needs_neither_nib_nor_npwp() {
        let missing = |kind| steps(kind, &OnboardingData::default(), &[]).remove(0).missing;
        let individual = missing(PartnerType::Individual);
        assert_eq!(individual, ["legal_name", "address", "city", "province", "postal_code"]);
        let company = missing(PartnerType::Company);
        assert!(company.contains(&"nib") && company.contains(&"npwp"));
    }
}
