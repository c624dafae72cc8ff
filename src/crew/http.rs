//! Handlers of crew.

use axum::extract::State;

use super::{
    model::{CrewMember, CrewQuery, InviteCrew, LIMIT, RESEND_AFTER},
    store,
};
use crate::{
    accounts::{self, NewAccount, Status},
    app::App,
    kernel::{
        access::{Role, Rule},
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
    },
    partners::{self, PartnerStatus},
};

pub async fn list_crew(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<CrewQuery>,
) -> Result<Page<CrewMember>> {
    store::list(&app.db, caller.partner()?, &query).await
}

pub async fn invite_crew(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<InviteCrew>,
) -> Result<Reply<CrewMember>> {
    let partner_id = managed_partner(&caller)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    // Serialises invitations with each other, for the count, and with a suspension.
    let partner = partners::lock_row(&mut tx, partner_id, now).await?;
    if partner.status != PartnerStatus::Active {
        return Err(Error::invalid_state(
            "Only an active partner can invite crew.",
            "Hanya mitra aktif yang dapat mengundang awak kapal.",
        ));
    }
    if store::count(&mut tx, partner_id).await? >= LIMIT {
        return Err(Error::conflict(
            "quota_exceeded",
            "A partner can have at most 100 crew members.",
            "Mitra paling banyak memiliki 100 awak kapal.",
        ));
    }
    let account = NewAccount {
        name: form.name,
        email: form.email,
        phone: Some(form.phone),
        role: Role::Crew,
        status: Status::Active,
        password_hash: None,
    };
    let id = accounts::create(&mut tx, &account, now).await?;
    store::insert(&mut tx, partner_id, id, now).await?;
    accounts::invite(&mut tx, id, caller.context.lang, now).await?;
    let member = member(&mut tx, partner_id, id).await?;
    record(&mut tx, "crew.invited", id, None, Some(&member)).await?;
    tx.commit().await?;
    Ok(Reply::data(member).saying("The invitation has been sent.", "Undangan telah dikirim."))
}

pub async fn resend_crew_invitation(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply> {
    let partner_id = managed_partner(&caller)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let member = member(&mut tx, partner_id, id).await?;
    if !member.invited {
        return Err(Error::invalid_state(
            "This crew member has already accepted the invitation.",
            "Awak kapal ini sudah menerima undangannya.",
        ));
    }
    if !store::mark_invited(&mut tx, partner_id, id, now - RESEND_AFTER, now).await? {
        let wait = member.invited_at + RESEND_AFTER - now;
        let retry_after = wait.num_seconds().max(1).unsigned_abs();
        return Err(Error::TooManyRequests { retry_after });
    }
    accounts::invite(&mut tx, id, caller.context.lang, now).await?;
    record(&mut tx, "crew.invited_again", id, None, Some(&member)).await?;
    tx.commit().await?;
    Ok(Reply::done("The invitation has been sent.", "Undangan telah dikirim."))
}

/// Ends the sessions of the member and frees its e-mail address. What it has done keeps its name.
pub async fn remove_crew(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<Reply> {
    let partner_id = managed_partner(&caller)?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = member(&mut tx, partner_id, id).await?;
    // Lock order: the account's row first.
    accounts::delete(&mut tx, id, now).await?;
    if !store::delete(&mut tx, partner_id, id).await? {
        return Err(Error::NotFound);
    }
    record(&mut tx, "crew.removed", id, Some(&before), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The crew member has been removed.", "Awak kapal telah dihapus."))
}

/// The partner whose crew the caller may change: an impersonator needs the rule for partners.
fn managed_partner(caller: &Caller) -> Result<Uuid> {
    match caller.impersonator_may(Rule::PartnersWrite) {
        true => caller.partner(),
        false => Err(Error::Forbidden),
    }
}

/// 404 for crew of another partner.
async fn member(tx: &mut AuditedTx, partner_id: Uuid, id: Uuid) -> Result<CrewMember> {
    store::get_in(tx, partner_id, id).await?.ok_or(Error::NotFound)
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    id: Uuid,
    before: Option<&CrewMember>,
    after: Option<&CrewMember>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "crew",
        id,
        before: before.map(|member| member as _),
        after: after.map(|member| member as _),
    })
    .await
}
