//! The SQL of accounts.

use chrono::{DateTime, Utc};

use super::model::{
    AccountChange, Credentials, CredentialsFrom, Impersonator, NewAccount, Partnership, Permission,
    Profile, Status, UpdateProfile, User, UsersQuery, rules,
};
use crate::kernel::{
    access::{Level, Role},
    caller::Caller,
    db::{Db, Failure, Tx},
    email::Email,
    error::{Error, Result},
    http::Page,
    ids::{self, Uuid},
};

/// Columns of an account.
macro_rules! user {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.name, a.email, a.email_verified,
               (SELECT c.new_email FROM email_changes c
                WHERE c.account_id = a.id AND c.status = 'pending') AS pending_email,
               a.phone, a.role, a.status, a.avatar_file_id, a.last_login_at, a.created_at,
               a.totp_confirmed_at IS NOT NULL AS second_factor
             FROM accounts a",
            $rest
        )
    };
}

const USER_BY_ID: &str = user!(" WHERE a.id = $1 AND a.deleted_at IS NULL");

pub async fn credentials(db: &Db, email: &Email) -> Result<Option<Credentials>> {
    let row = db
        .sql(
            "SELECT id, name, email, role, status, password_hash,
               totp_confirmed_at IS NOT NULL AS second_factor
             FROM accounts
             WHERE email = $1 AND deleted_at IS NULL",
        )
        .bind(email.clone())
        .maybe()
        .await?;
    Ok(row)
}

/// Credentials with the last sign-in from a network.
pub async fn credentials_from(
    db: &Db,
    email: &Email,
    network: &str,
) -> Result<Option<CredentialsFrom>> {
    let row = db
        .sql(
            "SELECT a.id, a.name, a.email, a.role, a.status, a.password_hash,
               a.totp_confirmed_at IS NOT NULL AS second_factor,
               k.last_used_at AS network_used_at
             FROM accounts a
             LEFT JOIN known_networks k ON k.account_id = a.id AND k.network = $2
             WHERE a.email = $1 AND a.deleted_at IS NULL",
        )
        .bind(email.clone())
        .bind(network.to_owned())
        .maybe()
        .await?;
    Ok(row)
}

const CREDENTIALS_BY_ID: &str = "SELECT id, name, email, role, status, password_hash,
      totp_confirmed_at IS NOT NULL AS second_factor
    FROM accounts WHERE id = $1 AND deleted_at IS NULL";

pub async fn credentials_of(db: &Db, id: Uuid) -> Result<Option<Credentials>> {
    Ok(db.sql(CREDENTIALS_BY_ID).bind(id).maybe().await?)
}

pub async fn credentials_in(tx: &mut Tx, id: Uuid) -> Result<Option<Credentials>> {
    Ok(tx.sql(CREDENTIALS_BY_ID).bind(id).maybe().await?)
}

pub async fn insert(tx: &mut Tx, account: &NewAccount, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO accounts (id, name, email, phone, role, status, password_hash, created_at,
           updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
    )
    .bind(id)
    .bind(account.name.to_string())
    .bind(account.email.clone())
    .bind(account.phone.clone())
    .bind(account.role)
    .bind(account.status)
    .bind(account.password_hash.clone())
    .bind(now)
    .run()
    .await
    .map_err(taken)?;
    Ok(id)
}

fn taken(failure: Failure) -> Error {
    match failure.is_unique() || failure.names("email_reserved") {
        true => Error::email_taken(),
        false => failure.into(),
    }
}

/// Creates the account if there is no admin; one of several processes succeeds.
pub async fn insert_first_admin(
    tx: &mut Tx,
    name: &str,
    email: &Email,
    password_hash: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    tx.lock("admins").await?;
    let made = tx
        .sql(
            "INSERT INTO accounts (id, name, email, email_verified, role, status, password_hash,
               created_at, updated_at)
             SELECT $1, $2, $3, TRUE, 'admin', 'active', $4, $5, $5
             WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE role = 'admin' AND deleted_at IS NULL)",
        )
        .bind(ids::fresh())
        .bind(name.to_owned())
        .bind(email.clone())
        .bind(password_hash.to_owned())
        .bind(now)
        .run()
        .await?;
    Ok(made == 1)
}

pub async fn has_admin(db: &Db) -> Result<bool> {
    let any = db
        .sql("SELECT id FROM accounts WHERE role = 'admin' AND deleted_at IS NULL LIMIT 1")
        .maybe::<(Uuid,)>()
        .await?;
    Ok(any.is_some())
}

pub async fn user(db: &Db, id: Uuid) -> Result<Option<User>> {
    Ok(db.sql(USER_BY_ID).bind(id).maybe().await?)
}

pub async fn user_in(tx: &mut Tx, id: Uuid) -> Result<Option<User>> {
    Ok(tx.sql(USER_BY_ID).bind(id).maybe().await?)
}

pub async fn users(db: &Db, query: &UsersQuery) -> Result<Page<User>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "name" => "lower(a.name)",
        "email" => "a.email",
        "role" => "a.role",
        _ => "a.created_at",
    });
    let paging = &query.paging;
    let rows = db
        .list(user!(""))
        .only("a.deleted_at IS NULL")
        .filter("a.role = ?", query.role)
        .filter("a.status = ?", query.status)
        .search(&["a.name", "a.email", "a.phone"], paging.search())
        .page(paging.sort(sort, "a.created_at"), "a.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Counts by role and status, and new accounts.
pub async fn counts(db: &Db, new_since: DateTime<Utc>) -> Result<Vec<(Role, Status, i64, i64)>> {
    let rows = db
        .sql(
            "SELECT role, status, COUNT(*),
               COUNT(CASE WHEN created_at >= $1 THEN 1 END)
             FROM accounts WHERE deleted_at IS NULL GROUP BY role, status",
        )
        .bind(new_since)
        .all()
        .await?;
    Ok(rows)
}

#[derive(crate::kernel::db::FromRow)]
struct ProfileRow {
    #[row(flatten)]
    user: User,
    permission_id: Option<Uuid>,
    permission_name: Option<String>,
    level: Option<Level>,
    rules: Option<serde_json::Value>,
    partner_id: Option<Uuid>,
    partner_status: Option<String>,
    partner_type: Option<String>,
}

pub async fn profile(db: &Db, caller: &Caller) -> Result<Profile> {
    let row: ProfileRow = db
        .sql(
            "SELECT a.id, a.name, a.email, a.email_verified,
               (SELECT c.new_email FROM email_changes c
                WHERE c.account_id = a.id AND c.status = 'pending') AS pending_email,
               a.phone, a.role, a.status, a.avatar_file_id,
               a.last_login_at, a.created_at, a.totp_confirmed_at IS NOT NULL AS second_factor,
               p.id AS permission_id, p.name AS permission_name, p.level, p.rules,
               m.id AS partner_id, m.status AS partner_status, m.partner_type
             FROM accounts a
             LEFT JOIN staff st ON st.account_id = a.id
             LEFT JOIN permissions p ON p.id = st.permission_id
             LEFT JOIN crew c ON c.account_id = a.id
             LEFT JOIN partners m ON m.id = COALESCE(c.partner_id,
               (SELECT o.id FROM partners o WHERE o.account_id = a.id))
             WHERE a.id = $1 AND a.deleted_at IS NULL",
        )
        .bind(caller.person.id)
        .maybe()
        .await?
        .ok_or(Error::Unauthenticated)?;
    let permission = row.permission_id.zip(row.permission_name).zip(row.level);
    let partnership = row.partner_id.zip(row.partner_status).zip(row.partner_type);
    let impersonator = caller.impersonator.as_ref();
    Ok(Profile {
        user: row.user,
        permission: permission.map(|((id, name), level)| Permission {
            id,
            name,
            level,
            rules: rules(row.rules),
        }),
        mitra: partnership.map(|((id, status), partner_type)| Partnership {
            id,
            status,
            partner_type,
        }),
        impersonated_by: impersonator
            .map(|behind| &behind.person)
            .map(|person| Impersonator { id: person.id, name: person.name.clone() }),
    })
}

pub async fn update_profile(
    tx: &mut Tx,
    id: Uuid,
    profile: &UpdateProfile,
    avatar: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE accounts SET name = $1, phone = $2, avatar_file_id = $3, updated_at = $4
         WHERE id = $5",
    )
    .bind(profile.name.to_string())
    .bind(profile.phone.clone())
    .bind(avatar)
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    change: &AccountChange,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE accounts SET name = $1, phone = $2, status = COALESCE($3, status),
           updated_at = $4
         WHERE id = $5",
    )
    .bind(change.name.to_string())
    .bind(change.phone.clone())
    .bind(change.status)
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Replaces the e-mail address; 409 if it is in use, or reserved by another account.
pub async fn set_email(
    tx: &mut Tx,
    id: Uuid,
    email: &str,
    verified: bool,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql("UPDATE accounts SET email = $1, email_verified = $2, updated_at = $3 WHERE id = $4")
        .bind(email.to_owned())
        .bind(verified)
        .bind(now)
        .bind(id)
        .run()
        .await
        .map_err(taken)?;
    Ok(())
}

pub async fn mark_email_verified(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE accounts SET email_verified = TRUE, updated_at = $1 WHERE id = $2")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

pub async fn is_email_verified(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let verified = tx
        .sql("SELECT email_verified FROM accounts WHERE id = $1 AND deleted_at IS NULL")
        .bind(id)
        .maybe::<(bool,)>()
        .await?;
    Ok(verified.is_some_and(|(verified,)| verified))
}

/// Removes the personal data of an account that was created until `created_until` and never verified
/// its address; `false` if there is no such account. Its address becomes available.
pub async fn erase_unverified(
    tx: &mut Tx,
    id: Uuid,
    created_until: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let erased = tx
        .sql(
            "UPDATE accounts SET name = '', email = '', phone = NULL, password_hash = NULL,
               avatar_file_id = NULL, deleted_at = $1, updated_at = $1
             WHERE id = $2 AND email_verified = FALSE AND password_hash IS NOT NULL
               AND deleted_at IS NULL AND created_at <= $3",
        )
        .bind(now)
        .bind(id)
        .bind(created_until)
        .run()
        .await?;
    Ok(erased == 1)
}

/// Deletes everything that accounts keep about an erased account.
pub async fn delete_traces(tx: &mut Tx, id: Uuid) -> Result<()> {
    for statement in [
        "DELETE FROM sessions WHERE account_id = $1",
        "DELETE FROM remember_tokens WHERE account_id = $1",
        "DELETE FROM mailed_tokens WHERE account_id = $1",
        "DELETE FROM known_networks WHERE account_id = $1",
        "DELETE FROM email_changes WHERE account_id = $1",
    ] {
        tx.sql(statement).bind(id).run().await?;
    }
    Ok(())
}

pub async fn delete(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE accounts SET deleted_at = $1, updated_at = $1 WHERE id = $2")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// Locks the account's row for a sign-in; `false` if the verified password was changed, or the
/// account deactivated or deleted in the meantime, or its second factor set up or removed.
pub async fn lock_for_login(
    tx: &mut Tx,
    id: Uuid,
    password_hash: &str,
    second_factor: bool,
    now: DateTime<Utc>,
) -> Result<bool> {
    let held = tx
        .sql(
            "UPDATE accounts SET last_login_at = $1
             WHERE id = $2 AND password_hash = $3 AND status = 'active' AND deleted_at IS NULL
               AND (totp_confirmed_at IS NOT NULL) = $4",
        )
        .bind(now)
        .bind(id)
        .bind(password_hash.to_owned())
        .bind(second_factor)
        .run()
        .await?;
    Ok(held == 1)
}

/// Locks the account's row, so that its sessions cannot end until this transaction does.
pub async fn lock_row(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("UPDATE accounts SET updated_at = updated_at WHERE id = $1").bind(id).run().await?;
    Ok(())
}

pub async fn mark_login(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE accounts SET last_login_at = $1 WHERE id = $2").bind(now).bind(id).run().await?;
    Ok(())
}

/// Replaces the verified password; `false` if it was changed in the meantime.
pub async fn replace_password(
    tx: &mut Tx,
    id: Uuid,
    old_hash: &str,
    new_hash: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let replaced = tx
        .sql(
            "UPDATE accounts SET password_hash = $1, updated_at = $2
             WHERE id = $3 AND password_hash = $4",
        )
        .bind(new_hash.to_owned())
        .bind(now)
        .bind(id)
        .bind(old_hash.to_owned())
        .run()
        .await?;
    Ok(replaced == 1)
}

pub async fn set_password(tx: &mut Tx, id: Uuid, hash: &str, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE accounts SET password_hash = $1, updated_at = $2 WHERE id = $3")
        .bind(hash.to_owned())
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

pub async fn set_status(tx: &mut Tx, id: Uuid, status: Status, now: DateTime<Utc>) -> Result<()> {
    tx.sql("UPDATE accounts SET status = $1, updated_at = $2 WHERE id = $3")
        .bind(status)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(())
}

pub async fn other_active_admins(tx: &mut Tx, id: Uuid) -> Result<i64> {
    let others = tx
        .sql(
            "SELECT COUNT(*) FROM accounts
             WHERE role = 'admin' AND status = 'active' AND deleted_at IS NULL AND id <> $1
               AND password_hash IS NOT NULL",
        )
        .bind(id)
        .scalar()
        .await?;
    Ok(others)
}
