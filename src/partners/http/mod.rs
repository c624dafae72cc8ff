//! Handlers of partners.

mod management;
mod onboarding;
mod registration;
mod review;
mod suspension;

use axum::{extract::FromRequestParts, http::request::Parts};

use super::{
    model::Partner,
    onboarding::{Document, DocumentFile, DocumentRow},
    store,
};
use crate::{
    app::App,
    files,
    kernel::{
        access::Rule,
        caller::Caller,
        error::{Error, Result},
        http::Path,
        ids::Uuid,
    },
};

pub use management::{
    create_partner, edit_partner, list_partners, partner_statistics, resend_invitation,
    update_partner,
};
pub use onboarding::{get_onboarding, update_onboarding};
pub use registration::register_mitra;
pub use review::{approve_bank_account, list_documents, review_document};
pub use suspension::{impersonate_partner, suspend_partner, unsuspend_partner};

/// The partner of the path; 404 before the body is validated.
pub struct PathPartner(pub Partner);

impl FromRequestParts<App> for PathPartner {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::get(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathPartner {}

/// Whether the caller may read numbers and documents: the partner itself, and reviewers.
fn reads(caller: &Caller) -> bool {
    caller.may(Rule::PartnersApprove)
        || (caller.partner().is_ok() && caller.impersonator_may(Rule::PartnersApprove))
}

/// A scan of a card shows its number, so its address is only for callers who may read that.
fn to_response(app: &App, document: DocumentRow, readable: bool) -> Document {
    let DocumentRow { id, kind, file_id, filename, status, note, reviewed_at, created_at, .. } =
        document;
    let url = readable.then(|| files::private_url(app, file_id));
    let file = DocumentFile { id: file_id, filename, url };
    Document { id, kind, file, status, note, reviewed_at, created_at }
}
