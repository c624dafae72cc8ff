//! Pure rules of partners: required onboarding data, and status transitions.

use super::{
    model::{Event, PartnerStatus, PartnerType},
    onboarding::{DocumentRow, DocumentStatus, DocumentType, OnboardingData, Step, StepKey},
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

/// Whether a document can be reviewed now. During a review, an approval can still be changed;
/// documents of an active partner are reviewed when they are replaced.
pub fn reviewable(
    partner: PartnerStatus,
    document: DocumentStatus,
    verdict: DocumentStatus,
) -> bool {
    use DocumentStatus::*;
    match partner {
        PartnerStatus::InReview => matches!(
            (document, verdict),
            (Pending, Approved) | (Pending, Rejected) | (Approved, Rejected)
        ),
        PartnerStatus::Active => document == Pending && verdict != Pending,
        _ => false,
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

/// The steps with their missing fields. A rejected document counts as missing.
pub fn steps(
    partner_type: PartnerType,
    papers: &OnboardingData,
    documents: &[DocumentRow],
) -> Vec<Step> {
    let OnboardingData { business, pic, bank_account, .. } = papers;
    let missing = |fields: &[(&'static str, bool)]| -> Vec<&'static str> {
        fields.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect()
    };
    let business = missing(&[
        ("legal_name", business.legal_name.is_some()),
        ("nib", business.nib.is_some()),
        ("npwp", business.npwp.is_some()),
        ("address", business.address.is_some()),
        ("city", business.city.is_some()),
        ("province", business.province.is_some()),
        ("postal_code", business.postal_code.is_some()),
    ]);
    let pic = missing(&[
        ("name", pic.name.is_some()),
        ("position", pic.position.is_some()),
        ("phone", pic.phone.is_some()),
        ("email", pic.email.is_some()),
        ("nik", pic.nik.is_some()),
    ]);
    let bank_account = missing(&[
        ("bank_code", bank_account.bank_code.is_some()),
        ("account_number", bank_account.account_number.is_some()),
        ("account_name", bank_account.account_name.is_some()),
    ]);
    let wanted =
        |kind: &&DocumentType| !documents.iter().any(|d| d.kind == **kind && !d.is_rejected());
    let documents =
        required(partner_type).iter().filter(wanted).map(|kind| kind.as_str()).collect();
    [
        (StepKey::Business, business),
        (StepKey::Pic, pic),
        (StepKey::BankAccount, bank_account),
        (StepKey::Documents, documents),
    ]
    .map(|(key, missing)| Step { key, complete: missing.is_empty(), missing })
    .into()
}

/// Fields that are missing now and were present before.
pub fn less(now: &[Step], earlier: &[Step]) -> Vec<Step> {
    let gone = |(now, earlier): (&Step, &Step)| {
        let gone = now.missing.iter().filter(|name| !earlier.missing.contains(name));
        let missing: Vec<_> = gone.copied().collect();
        Step { key: now.key, complete: missing.is_empty(), missing }
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

    /// The same transitions as a diagram.
    #[test]
    fn every_edge_is_as_drawn_and_there_is_no_other() {
        #[rustfmt::skip]
        let drawn = [
            // from        submit       approve     reject      suspend      unsuspend
            ("draft",     ["in_review", "-",        "-",        "-",         "-"]),
            ("in_review", ["-",         "active",   "revision", "-",         "-"]),
            ("revision",  ["in_review", "-",        "-",        "-",         "-"]),
            ("active",    ["-",         "-",        "revision", "suspended", "-"]),
            ("suspended", ["-",         "-",        "-",        "-",         "active"]),
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
    fn a_verdict_is_given_in_review_or_on_what_an_active_partner_replaced() {
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
                "active pending approved",
                "active pending rejected",
            ]
        );
    }
}
