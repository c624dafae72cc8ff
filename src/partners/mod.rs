//! The boat owners (mitra).
//!
//! - A partner is one account with one partnership. Registration makes both or neither.
//! - Every change of state goes through `moves`, along the one table in `rules`, while the
//!   partner's row is held: two reviewers cannot activate a partner twice.
//! - A document that is handed in again is a new document with a new id.
//! - What the platform takes and when it pays is one agreement, in `agreement`.
//! - NIK, NPWP and account numbers are sealed at rest and masked unless revealed.

pub mod agreement;
mod filing;
mod http;
mod letters;
mod model;
mod moves;
mod papers;
mod rules;
mod store;

use chrono::{DateTime, Utc};

use crate::{
    app::App,
    kernel::{
        db::{Db, Tx},
        error::{Error, Result},
        ids::Uuid,
        lang::text,
        seal::Sealer,
    },
};

pub use http::{
    PathPartner, approve_bank_account, create_partner, edit_partner, get_onboarding,
    impersonate_partner, list_documents, list_partners, partner_statistics, register_mitra,
    resend_invitation, review_document, suspend_partner, unsuspend_partner, update_onboarding,
    update_partner,
};
pub use letters::{PartnerLetter, letter};
pub use model::{Partner, PartnerStatus};
pub use papers::BankAccount;

pub async fn exists(db: &Db, id: Uuid) -> Result<bool> {
    Ok(store::get(db, id).await?.is_some())
}

/// Refuses a `mitra_id` that is nobody's.
pub async fn known(db: &Db, id: Uuid) -> Result<()> {
    match exists(db, id).await? {
        true => Ok(()),
        false => {
            let message = text("There is no such partner.", "Mitra ini tidak ada.");
            Err(Error::field("mitra_id", "unknown", message))
        }
    }
}

pub async fn status(tx: &mut Tx, id: Uuid) -> Result<PartnerStatus> {
    Ok(store::get_in(tx, id).await?.status)
}

/// Takes the partner's row, so that it stands still until this transaction ends.
pub async fn hold(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Partner> {
    store::hold(tx, id, now).await
}

/// Where the partner can be paid: its bank account, once that is approved.
pub async fn payable_account(
    tx: &mut Tx,
    id: Uuid,
    sealer: &Sealer,
) -> Result<Option<BankAccount>> {
    let papers = filing::papers_in(tx, id, sealer).await?;
    let approved = papers.bank_account_status == Some(papers::BankAccountStatus::Approved);
    Ok(approved.then_some(papers.bank_account))
}

pub async fn find(db: &Db, id: Uuid) -> Result<Option<Partner>> {
    store::get(db, id).await
}

/// Puts what older keys have sealed under the current one; says how many rows that were.
pub async fn reseal(app: &App) -> Result<u64> {
    filing::reseal(&app.db, &app.sealer).await
}
