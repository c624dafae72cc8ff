//! Handlers of the accounts of resellers.

use axum::extract::State;

use super::PathReseller;
use crate::{
    accounts::{self, AccountChange, NewAccount, Status},
    app::App,
    kernel::{
        access::Role,
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Page, Query, Reply},
    },
    resellers::{
        model::{
            Reseller, ResellerForm, ResellerRow, ResellerStatus, ResellerSuspension, ResellersQuery,
        },
        store,
    },
};

/// A reseller finds itself alone.
pub async fn list_resellers(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ResellersQuery>,
) -> Result<Page<Reseller>> {
    let page = store::list(&app.db, caller.reseller_id, &query).await?;
    page.try_each(|reseller| reseller.shown_to(&caller, &app.sealer))
}

pub async fn get_reseller(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
) -> Result<Reply<Reseller>> {
    reseller.shown_to(&caller, &app.sealer).map(Reply::data)
}

pub async fn create_reseller(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<ResellerForm>,
) -> Result<Reply<Reseller>> {
    let (now, lang) = (app.clock.now(), caller.context.lang);
    let terms = form.over(None, &app.sealer)?;
    let account = NewAccount {
        name: form.name,
        email: form.email,
        phone: Some(form.phone),
        role: Role::Reseller,
        status: Status::Active,
        password_hash: None,
    };
    let mut tx = caller.begin(&app.db, now).await?;
    let account_id = accounts::create(&mut tx, &account, now).await?;
    let id = store::insert(&mut tx, account_id, &terms, now).await?;
    accounts::invite(&mut tx, account_id, lang, now).await?;
    let reseller = store::get_in(&mut tx, id).await?.revealed_if(true, &app.sealer)?;
    record(&mut tx, "reseller.created", None, &reseller).await?;
    tx.commit().await?;
    Ok(Reply::data(reseller).saying("The invitation has been sent.", "Undangan telah dikirim."))
}

pub async fn update_reseller(
    State(app): State<App>,
    caller: Caller,
    PathReseller(ResellerRow { id, .. }): PathReseller,
    Body(form): Body<ResellerForm>,
) -> Result<Reply<Reseller>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::lock_row(&mut tx, id, now).await?;
    let terms = form.over(Some(&before), &app.sealer)?;
    let change =
        AccountChange { name: form.name, email: form.email, phone: form.phone, status: None };
    accounts::update(&mut tx, before.user_id, &change, &caller, now).await?;
    store::update(&mut tx, id, &terms).await?;
    let before = before.revealed_if(true, &app.sealer)?;
    let after = store::get_in(&mut tx, id).await?.revealed_if(true, &app.sealer)?;
    record(&mut tx, "reseller.updated", Some(&before), &after).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

/// Ends its sales alone: what it has sold stays, and it still sees its account.
pub async fn suspend_reseller(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
    Body(ResellerSuspension { reason }): Body<ResellerSuspension>,
) -> Result<Reply<Reseller>> {
    let after =
        set_status(&app, &caller, reseller, ResellerStatus::Suspended, Some(&reason)).await?;
    Ok(Reply::data(after).saying("The reseller has been suspended.", "Agen penjual ditangguhkan."))
}

pub async fn unsuspend_reseller(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
) -> Result<Reply<Reseller>> {
    let after = set_status(&app, &caller, reseller, ResellerStatus::Active, None).await?;
    Ok(Reply::data(after).saying("The reseller is active again.", "Agen penjual aktif kembali."))
}

async fn set_status(
    app: &App,
    caller: &Caller,
    ResellerRow { id, .. }: ResellerRow,
    status: ResellerStatus,
    reason: Option<&str>,
) -> Result<Reseller> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::lock_row(&mut tx, id, now).await?;
    let action = match status {
        _ if before.status == status => {
            return Err(Error::invalid_state(
                "The reseller has this status already.",
                "Agen penjual sudah berstatus ini.",
            ));
        }
        ResellerStatus::Suspended => "reseller.suspended",
        ResellerStatus::Active => "reseller.unsuspended",
    };
    store::set_status(&mut tx, id, status, reason).await?;
    let before = before.revealed_if(true, &app.sealer)?;
    let after = store::get_in(&mut tx, id).await?.revealed_if(true, &app.sealer)?;
    record(&mut tx, action, Some(&before), &after).await?;
    tx.commit().await?;
    Ok(after)
}

pub async fn resend_reseller_invitation(
    State(app): State<App>,
    caller: Caller,
    PathReseller(ResellerRow { id, .. }): PathReseller,
) -> Result<Reply> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let reseller = store::lock_row(&mut tx, id, now).await?;
    if !accounts::is_invited(&mut tx, reseller.user_id).await? {
        return Err(Error::invalid_state(
            "This reseller has already accepted its invitation.",
            "Agen penjual ini sudah menerima undangannya.",
        ));
    }
    accounts::invite(&mut tx, reseller.user_id, caller.context.lang, now).await?;
    let reseller = reseller.revealed_if(true, &app.sealer)?;
    record(&mut tx, "reseller.invited_again", None, &reseller).await?;
    tx.commit().await?;
    Ok(Reply::done("The invitation has been sent.", "Undangan telah dikirim."))
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Reseller>,
    after: &Reseller,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "reseller",
        id: after.row.id,
        before: before.map(|reseller| reseller as _),
        after: Some(after),
    })
    .await
}
