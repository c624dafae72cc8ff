//! Handlers of suspension and impersonation.

use axum::extract::State;

use super::{PathPartner, management::record};
use crate::{
    accounts::{self, Impersonation},
    app::App,
    kernel::{
        caller::Caller,
        error::Result,
        http::{Body, Reply},
    },
    partners::{
        model::{Event, Partner, PartnerStatus, Suspension},
        store, transitions,
    },
};

/// Ends the partner's sessions. Sales and settlements check its status.
pub async fn suspend_partner(
    State(app): State<App>,
    caller: Caller,
    PathPartner(partner): PathPartner,
    Body(Suspension { reason }): Body<Suspension>,
) -> Result<Reply<Partner>> {
    let after = moved(&app, &caller, partner, Event::Suspend, Some(&reason)).await?;
    Ok(Reply::data(after).saying("The partner has been suspended.", "Mitra ditangguhkan."))
}

pub async fn unsuspend_partner(
    State(app): State<App>,
    caller: Caller,
    PathPartner(partner): PathPartner,
) -> Result<Reply<Partner>> {
    let after = moved(&app, &caller, partner, Event::Unsuspend, None).await?;
    Ok(Reply::data(after).saying("The partner is active again.", "Mitra aktif kembali."))
}

async fn moved(
    app: &App,
    caller: &Caller,
    Partner { id, .. }: Partner,
    event: Event,
    reason: Option<&str>,
) -> Result<Partner> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::lock_row(&mut tx, id, now).await?;
    transitions::apply(&mut tx, &before, event, reason, now).await?;
    let after = store::get_in(&mut tx, id).await?;
    let action = match event {
        Event::Suspend => "partner.suspended",
        _ => "partner.unsuspended",
    };
    record(&mut tx, action, Some(&before), &after).await?;
    tx.commit().await?;
    Ok(after)
}

pub async fn impersonate_partner(
    State(app): State<App>,
    caller: Caller,
    PathPartner(Partner { id, .. }): PathPartner,
) -> Result<Reply<Impersonation>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let partner = store::lock_row(&mut tx, id, now).await?;
    if partner.status == PartnerStatus::Suspended {
        return Err(transitions::invalid_transition());
    }
    let session = accounts::impersonate(&mut tx, &caller, partner.user_id, now).await?;
    record(&mut tx, "partner.impersonated", None, &partner).await?;
    tx.commit().await?;
    let session = Impersonation { user: session.user.to_response(&app), ..session };
    Ok(Reply::data(session)
        .saying("You are now acting as the partner.", "Anda kini bertindak atas nama mitra."))
}
