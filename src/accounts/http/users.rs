//! Handlers of accounts for admins and staff.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};

use crate::{
    accounts::{
        self,
        model::{
            AdminStatus, ByRole, ByStatus, ChangeAdminStatus, InviteAdmin, NewAccount, Status,
            User, UserStatistics, UsersQuery,
        },
        store, tokens,
    },
    app::App,
    kernel::{
        access::Role,
        audit::Change,
        caller::Caller,
        clock::month_start,
        error::{Error, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
    },
};

pub async fn list_users(
    State(app): State<App>,
    Query(query): Query<UsersQuery>,
) -> Result<Page<User>> {
    let page = store::users(&app.db, &query).await?;
    Ok(page.each(|user| user.to_response(&app)))
}

pub async fn get_user(State(app): State<App>, PathUser(user): PathUser) -> Reply<User> {
    Reply::data(user.to_response(&app))
}

pub async fn user_statistics(State(app): State<App>) -> Result<Reply<UserStatistics>> {
    let month = month_start(app.clock.now(), app.config.timezone);
    let counts = store::counts(&app.db, month).await?;
    let sum = |of: &dyn Fn(Role, Status) -> bool| {
        counts.iter().filter(|(role, status, ..)| of(*role, *status)).map(|row| row.2).sum()
    };
    Ok(Reply::data(UserStatistics {
        total: sum(&|_, _| true),
        by_role: ByRole {
            admin: sum(&|role, _| role == Role::Admin),
            staff: sum(&|role, _| role == Role::Staff),
            mitra: sum(&|role, _| role == Role::Mitra),
            crew: sum(&|role, _| role == Role::Crew),
            reseller: sum(&|role, _| role == Role::Reseller),
        },
        by_status: ByStatus {
            active: sum(&|_, status| status == Status::Active),
            inactive: sum(&|_, status| status == Status::Inactive),
            suspended: sum(&|_, status| status == Status::Suspended),
        },
        new_this_month: counts.iter().map(|row| row.3).sum(),
    }))
}

pub async fn invite_admin(
    State(app): State<App>,
    caller: Caller,
    Body(admin): Body<InviteAdmin>,
) -> Result<Reply<User>> {
    let now = app.clock.now();
    let account = NewAccount {
        name: admin.name,
        email: admin.email,
        phone: admin.phone,
        role: Role::Admin,
        status: Status::Active,
        password_hash: None,
    };
    let mut tx = caller.begin(&app.db, now).await?;
    let id = store::insert(&mut tx, &account, now).await?;
    accounts::invite(&mut tx, id, caller.context.lang, now).await?;
    let user = store::user_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "admin.invited",
        entity: "account",
        id,
        before: None,
        after: Some(&user),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(user).saying("The invitation has been sent.", "Undangan telah dikirim."))
}

/// The account of the path; 404 before the body is validated.
pub struct PathUser(pub User);

impl FromRequestParts<App> for PathUser {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::user(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathUser {}

/// For admins only; staff and partners have other operations.
pub async fn change_admin_status(
    State(app): State<App>,
    caller: Caller,
    PathUser(User { id, .. }): PathUser,
    Body(change): Body<ChangeAdminStatus>,
) -> Result<Reply<User>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    // Without the lock, two admins could deactivate each other.
    tx.lock("admins").await?;
    if !tokens::session_exists(&mut tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let before = store::user_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    if before.role != Role::Admin {
        return Err(Error::invalid_state(
            "Only the status of admins can be changed here.",
            "Hanya status admin yang dapat diubah di sini.",
        ));
    }
    if id == caller.person.id {
        return Err(Error::invalid_state(
            "You cannot deactivate yourself.",
            "Anda tidak dapat menonaktifkan diri sendiri.",
        ));
    }
    if change.status == AdminStatus::Inactive && store::other_active_admins(&mut tx, id).await? == 0
    {
        return Err(Error::invalid_state(
            "This is the last active admin.",
            "Ini admin aktif terakhir.",
        ));
    }
    let status = match change.status {
        AdminStatus::Active => Status::Active,
        AdminStatus::Inactive => Status::Inactive,
    };
    accounts::set_status(&mut tx, id, status, now).await?;
    let after = store::user_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    tx.record(Change {
        action: "admin.status_changed",
        entity: "account",
        id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::data(after.to_response(&app))
        .saying("The status has been changed.", "Status diubah."))
}
