//! Handlers of permissions.

use axum::{
    extract::{FromRequestParts, State},
    http::{Method, request::Parts},
};

use crate::{
    app::App,
    kernel::{
        access::Rule,
        audit::Change,
        caller::{Caller, Context},
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
    },
    staff::{
        catalogue,
        model::{Permission, PermissionForm, PermissionsQuery, RuleGroup},
        permissions,
        rules::Authority,
        store,
    },
};

/// The permission of the path.
pub struct PathPermission(Permission);

impl FromRequestParts<App> for PathPermission {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let permission = permissions::get(&app.db, id).await?.ok_or(Error::NotFound)?;
        // Checked before the body is validated, and again in the transaction.
        let authority = Authority::of(&Caller::from_request_parts(parts, app).await?);
        if parts.method != Method::GET && !authority.covers(permission.level, &permission.rules) {
            return Err(Error::Forbidden);
        }
        Ok(Self(permission))
    }
}

impl aide::OperationInput for PathPermission {}

pub async fn list_permissions(
    State(app): State<App>,
    Query(query): Query<PermissionsQuery>,
) -> Result<Page<Permission>> {
    permissions::list(&app.db, &query).await
}

pub async fn get_permission(PathPermission(permission): PathPermission) -> Reply<Permission> {
    Reply::data(permission)
}

pub async fn get_permission_rules(context: Context) -> Reply<Vec<RuleGroup>> {
    Reply::data(catalogue::catalogue(context.lang))
}

pub async fn create_permission(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<PermissionForm>,
) -> Result<Reply<Permission>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let authority = store::authority(&mut tx, &caller).await?;
    ensure_manageable(&authority, Rule::PermissionsWrite, &form)?;
    let id = permissions::insert(&mut tx, &form, now).await?;
    let made = permissions::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "permission.created",
        entity: "permission",
        id,
        before: None,
        after: Some(&made),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(made).saying("The permission has been created.", "Hak akses dibuat."))
}

pub async fn update_permission(
    State(app): State<App>,
    caller: Caller,
    PathPermission(Permission { id, .. }): PathPermission,
    Body(form): Body<PermissionForm>,
) -> Result<Reply<Permission>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let authority = store::authority(&mut tx, &caller).await?;
    let before = permissions::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    // Checks the permission before and after the update.
    if !authority.covers(before.level, &before.rules) {
        return Err(Error::Forbidden);
    }
    ensure_manageable(&authority, Rule::PermissionsWrite, &form)?;
    permissions::update(&mut tx, id, &form, now).await?;
    let after = permissions::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "permission.updated",
        entity: "permission",
        id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("The permission has been saved.", "Hak akses tersimpan."))
}

pub async fn delete_permission(
    State(app): State<App>,
    caller: Caller,
    PathPermission(Permission { id, .. }): PathPermission,
) -> Result<Reply> {
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    let authority = store::authority(&mut tx, &caller).await?;
    let before = permissions::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let may = authority.holds(Rule::PermissionsWrite);
    if !may || !authority.covers(before.level, &before.rules) {
        return Err(Error::Forbidden);
    }
    if before.staff_count > 0 {
        return Err(Error::conflict(
            "in_use",
            "This permission is held by staff.",
            "Hak akses ini masih dipakai staf.",
        ));
    }
    permissions::delete(&mut tx, id).await?;
    tx.record(Change {
        action: "permission.deleted",
        entity: "permission",
        id,
        before: Some(&before),
        after: None,
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::done("The permission has been deleted.", "Hak akses dihapus."))
}

fn ensure_manageable(authority: &Authority, rule: Rule, form: &PermissionForm) -> Result<()> {
    let may = authority.holds(rule) && authority.covers(form.level, &form.rules);
    if may { Ok(()) } else { Err(Error::Forbidden) }
}
