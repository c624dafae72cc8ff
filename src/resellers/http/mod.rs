//! Handlers of resellers.

mod accounts;
mod grants;
mod keys;
mod money;

use axum::{extract::FromRequestParts, http::request::Parts};

use super::{model::ResellerRow, store};
use crate::{
    app::App,
    kernel::{
        caller::Caller,
        error::{Error, Result},
        http::Path,
        ids::Uuid,
    },
};

pub use accounts::{
    create_reseller, get_reseller, list_resellers, resend_reseller_invitation, suspend_reseller,
    unsuspend_reseller, update_reseller,
};
pub use grants::{get_reseller_grants, set_reseller_grants};
pub use keys::{create_reseller_key, list_reseller_keys, revoke_reseller_key};
pub use money::{create_reseller_invoice, list_reseller_invoices, record_reseller_payment};

/// The reseller of the path. 404 for a reseller that asks for another one.
pub struct PathReseller(ResellerRow);

impl FromRequestParts<App> for PathReseller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = Caller::from_request_parts(parts, app).await?;
        find(app, &caller, id).await.map(Self)
    }
}

impl aide::OperationInput for PathReseller {}

/// 404 for a reseller that asks for another one.
pub async fn find(app: &App, caller: &Caller, id: Uuid) -> Result<ResellerRow> {
    store::get(&app.db, caller.reseller(id)?).await?.ok_or(Error::NotFound)
}
