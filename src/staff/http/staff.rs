//! Handlers of staff.

use axum::{
    extract::{FromRequestParts, State},
    http::{Method, request::Parts},
};

use crate::{
    accounts::{self, AccountChange, NewAccount, Status},
    app::App,
    kernel::{
        access::{Role, Rule},
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Paged, Path, Query, Reply},
        ids::Uuid,
        lang::text,
        patch::Patch,
    },
    staff::{
        model::{NewStaff, Staff, StaffForm, StaffList, StaffQuery, StaffStatus},
        permissions,
        rules::Authority,
        store::{self, StaffRow},
    },
};

/// The staff member of the path.
pub struct PathStaff {
    id: Uuid,
    row: StaffRow,
}

impl FromRequestParts<App> for PathStaff {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let row = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
        // Checked before the body is validated, and again in the transaction.
        let caller = Caller::from_request_parts(parts, app).await?;
        if parts.method != Method::GET && !Authority::of(&caller).is_above(row.level()) {
            return Err(Error::Forbidden);
        }
        Ok(Self { id, row })
    }
}

impl aide::OperationInput for PathStaff {}

pub async fn list_staff(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<StaffQuery>,
) -> Result<Paged<StaffList>> {
    store::list(&app.db, &query, &caller, &app.sealer).await
}

pub async fn get_staff(
    State(app): State<App>,
    caller: Caller,
    PathStaff { row, .. }: PathStaff,
) -> Result<Reply<Staff>> {
    Ok(Reply::data(row.seen_by(&caller, &app.sealer)?))
}

pub async fn create_staff(
    State(app): State<App>,
    caller: Caller,
    Body(NewStaff(form)): Body<NewStaff>,
) -> Result<Reply<Staff>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let authority = store::authority(&mut tx, &caller).await?;
    ensure_assignable(&mut tx, &authority, form.permission_id).await?;
    let account = NewAccount {
        name: form.name.clone(),
        email: form.email.clone(),
        phone: Some(form.msisdn.clone()),
        role: Role::Staff,
        status: status(&form),
        password_hash: None,
    };
    let account_id = accounts::create(&mut tx, &account, now).await?;
    let salary = form.salary.clone().over(None);
    let id = store::insert(&mut tx, account_id, &form, salary, &app.sealer, now).await?;
    accounts::invite(&mut tx, account_id, caller.context.lang, now).await?;
    let made = current(&mut tx, &app, &caller, id).await?;
    record(&mut tx, "staff.created", None, Some(&made), true).await?;
    tx.commit().await?;
    Ok(Reply::data(made).saying("The invitation has been sent.", "Undangan telah dikirim."))
}

pub async fn update_staff(
    State(app): State<App>,
    caller: Caller,
    PathStaff { id, .. }: PathStaff,
    Body(form): Body<StaffForm>,
) -> Result<Reply<Staff>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let authority = store::authority(&mut tx, &caller).await?;
    let before = manageable_staff(&mut tx, &app, &caller, &authority, id).await?;
    ensure_assignable(&mut tx, &authority, form.permission_id).await?;
    let paid_before = store::salary(&mut tx, id).await?;
    let change = AccountChange {
        name: form.name.clone(),
        email: form.email.clone(),
        phone: form.msisdn.clone(),
        status: Some(status(&form)),
    };
    accounts::update(&mut tx, before.user_id, &change, &caller, now).await?;
    // Whoever may not see the salary was shown null.
    let salary = match (&form.salary, before.salary) {
        (Patch::Keep, _) | (Patch::Clear, None) => paid_before,
        (Patch::Clear, Some(_)) => None,
        (Patch::Set(salary), _) => Some(*salary),
    };
    store::update(&mut tx, id, &form, salary, &app.sealer, now).await?;
    let after = current(&mut tx, &app, &caller, id).await?;
    let raised = paid_before != salary;
    record(&mut tx, "staff.updated", Some(&before), Some(&after), raised).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn delete_staff(
    State(app): State<App>,
    caller: Caller,
    PathStaff { id, .. }: PathStaff,
) -> Result<Reply> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let authority = store::authority(&mut tx, &caller).await?;
    let before = manageable_staff(&mut tx, &app, &caller, &authority, id).await?;
    if !authority.holds(Rule::StaffWrite) {
        return Err(Error::Forbidden);
    }
    accounts::delete(&mut tx, before.user_id, now).await?;
    store::delete(&mut tx, id).await?;
    record(&mut tx, "staff.deleted", Some(&before), None, false).await?;
    tx.commit().await?;
    Ok(Reply::done("The staff member has been deleted.", "Staf dihapus."))
}

fn status(form: &StaffForm) -> Status {
    match form.status {
        StaffStatus::Active => Status::Active,
        StaffStatus::Inactive => Status::Inactive,
    }
}

async fn current(tx: &mut AuditedTx, app: &App, caller: &Caller, id: Uuid) -> Result<Staff> {
    let row = store::get_in(tx, id).await?.ok_or(Error::NotFound)?;
    row.seen_by(caller, &app.sealer)
}

/// 403 unless the member's level is below the caller's. Nobody is below themselves.
async fn manageable_staff(
    tx: &mut AuditedTx,
    app: &App,
    caller: &Caller,
    authority: &Authority,
    id: Uuid,
) -> Result<Staff> {
    let staff = current(tx, app, caller, id).await?;
    let may = authority.is_above(staff.permission.level);
    if may { Ok(staff) } else { Err(Error::Forbidden) }
}

/// 403 unless the caller may manage the permission.
async fn ensure_assignable(
    tx: &mut AuditedTx,
    authority: &Authority,
    permission_id: Uuid,
) -> Result<()> {
    let permission = permissions::get_in(tx, permission_id).await?.ok_or_else(|| {
        let message = text("This permission does not exist.", "Hak akses ini tidak ada.");
        Error::field("permission_id", "unknown", message)
    })?;
    let may =
        authority.holds(Rule::StaffWrite) && authority.covers(permission.level, &permission.rules);
    if may { Ok(()) } else { Err(Error::Forbidden) }
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Staff>,
    after: Option<&Staff>,
    salary_changed: bool,
) -> Result<()> {
    let id = before.or(after).map(|staff| staff.id).unwrap_or_default();
    let before = before.map(|staff| staff.for_audit(false));
    let after = after.map(|staff| staff.for_audit(salary_changed));
    tx.record(Change {
        action,
        entity: "staff",
        id,
        before: before.as_ref().map(|staff| staff as _),
        after: after.as_ref().map(|staff| staff as _),
    })
    .await
}
