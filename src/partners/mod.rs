//! Partners: the boat operators (mitra).
//!
//! - A partner has exactly one account. Registration creates both or neither.
//! - Every change of the status goes through `transitions`, by the table in `rules`, while the partner's
//!   row is locked: two reviewers cannot activate a partner twice.
//! - A registration whose e-mail address is not verified within 7 days is deleted (`unverified`).
//! - A document that is handed in again is a new document with a new id. Documents are reviewed once
//!   they are submitted, all in one round.
//! - Settlements are paid to the last approved bank account. A change of it is reviewed by somebody
//!   who has changed neither the account nor the partner's e-mail address (four eyes).
//! - `settlement_configuration` has commission and payout schedule.
//! - NIK, NPWP and account numbers are encrypted at rest and masked unless revealed.

mod http;
mod letters;
mod model;
mod onboarding;
mod onboarding_store;
mod rules;
pub mod settlement_configuration;
mod slug;
mod store;
mod transitions;
mod unverified;

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
pub use onboarding::{AccountNumber, BankAccount};
pub(crate) use store::{awaiting_approval, awaiting_review};
pub use unverified::delete_unverified;

pub async fn exists(db: &Db, id: Uuid) -> Result<bool> {
    Ok(store::get(db, id).await?.is_some())
}

/// 422 for an unknown `mitra_id`.
pub async fn known(db: &Db, id: Uuid) -> Result<()> {
    match exists(db, id).await? {
        true => Ok(()),
        false => {
            let message = text("This partner does not exist.", "Mitra ini tidak ada.");
            Err(Error::field("mitra_id", "unknown", message))
        }
    }
}

pub async fn status(tx: &mut Tx, id: Uuid) -> Result<PartnerStatus> {
    Ok(store::get_in(tx, id).await?.status)
}

/// Locks the partner's row until this transaction ends.
pub async fn lock_row(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Partner> {
    store::lock_row(tx, id, now).await
}

/// The bank account that the partner can be paid to: the last approved one, unless a change of it
/// awaits approval.
pub async fn payable_account(
    tx: &mut Tx,
    id: Uuid,
    sealer: &Sealer,
) -> Result<Option<BankAccount>> {
    Ok(onboarding_store::papers_in(tx, id, sealer).await?.payable_account())
}

pub async fn find(db: &Db, id: Uuid) -> Result<Option<Partner>> {
    store::get(db, id).await
}

/// Re-encrypts data of older keys; returns the number of rows.
pub async fn reseal(app: &App) -> Result<u64> {
    onboarding_store::reseal(&app.db, &app.sealer).await
}
