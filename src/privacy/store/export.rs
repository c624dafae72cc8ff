//! What an export shows. Each list has one item more than the limit if there are more.

use serde_json::Value;

use crate::{
    kernel::{db::Db, email::Email, error::Result, ids::Uuid},
    privacy::model::{
        AuditData, DeviceData, DocumentData, FailedSignIns, FileData, KeyData, NetworkData,
        NotificationData, OnboardingRecord, OpsReseller, PartnerData, ResellerData, SessionData,
        StaffData,
    },
};

pub async fn sessions(db: &Db, account: Uuid, limit: i64) -> Result<Vec<SessionData>> {
    let rows = db
        .sql(
            "SELECT id, address, user_agent, created_at, expires_at FROM sessions
             WHERE account_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn devices(db: &Db, account: Uuid, limit: i64) -> Result<Vec<DeviceData>> {
    let rows = db
        .sql(
            "SELECT created_at, expires_at FROM remember_tokens
             WHERE account_id = $1 AND rotated_at IS NULL
             ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn networks(db: &Db, account: Uuid, limit: i64) -> Result<Vec<NetworkData>> {
    let rows = db
        .sql(
            "SELECT network, last_used_at FROM known_networks
             WHERE account_id = $1 ORDER BY last_used_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn failed_sign_ins(db: &Db, email: &Email, limit: i64) -> Result<Vec<FailedSignIns>> {
    let rows = db
        .sql(
            "SELECT network, failures, since FROM login_failures
             WHERE email = $1 ORDER BY since DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(email.clone())
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn staff(db: &Db, account: Uuid) -> Result<Option<StaffData>> {
    let row = db
        .sql(
            "SELECT id, join_date, working_type, salary, address, bank_code, account_number,
               account_name
             FROM staff WHERE account_id = $1",
        )
        .bind(account)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn partner(db: &Db, account: Uuid) -> Result<Option<PartnerData>> {
    let row = db
        .sql(
            "SELECT id, address, partner_type, status, suspended_reason, created_at
             FROM partners WHERE account_id = $1",
        )
        .bind(account)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn onboarding(db: &Db, partner: Uuid) -> Result<Option<OnboardingRecord>> {
    let row = db
        .sql(
            "SELECT legal_name, nib, npwp, address, city, province, postal_code, description,
               pic_name, pic_position, pic_phone, pic_email, pic_nik, bank_code, account_number,
               account_name
             FROM onboardings WHERE partner_id = $1",
        )
        .bind(partner)
        .maybe()
        .await?;
    Ok(row)
}

pub async fn documents(db: &Db, partner: Uuid, limit: i64) -> Result<Vec<DocumentData>> {
    let rows = db
        .sql(
            "SELECT id, type, file_id, status, note, created_at FROM partner_documents
             WHERE partner_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(partner)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn paid_to(db: &Db, partner: Uuid, limit: i64) -> Result<Vec<Value>> {
    let rows: Vec<(Value,)> = db
        .sql(
            "SELECT bank_account FROM settlements
             WHERE partner_id = $1 AND bank_account IS NOT NULL
             ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(partner)
        .bind(limit)
        .all()
        .await?;
    let mut accounts: Vec<Value> = Vec::new();
    for (account,) in rows {
        if !accounts.contains(&account) {
            accounts.push(account);
        }
    }
    Ok(accounts)
}

pub async fn reseller(db: &Db, account: Uuid) -> Result<Option<ResellerData>> {
    let row = db
        .sql(
            "SELECT id, legal_name, npwp, ops_email, address, status, status_reason, created_at
             FROM resellers WHERE account_id = $1",
        )
        .bind(account)
        .maybe()
        .await?;
    Ok(row)
}

/// Resellers that have an address for operations, the newest first.
pub async fn resellers_of_ops_address(
    db: &Db,
    email: &Email,
    limit: i64,
) -> Result<Vec<OpsReseller>> {
    let rows = db
        .sql(
            "SELECT e.id, a.name FROM resellers e JOIN accounts a ON a.id = e.account_id
             WHERE e.ops_email = $1 ORDER BY e.created_at DESC, e.id LIMIT CAST($2 AS BIGINT)",
        )
        .bind(email.clone())
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn reseller_keys(db: &Db, reseller: Uuid, limit: i64) -> Result<Vec<KeyData>> {
    let rows = db
        .sql(
            "SELECT name, prefix, addresses, last_used_at, last_used_address, revoked_at, created_at
             FROM reseller_keys
             WHERE reseller_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(reseller)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

/// The addresses that a reseller is notified at.
pub async fn subscriptions(db: &Db, reseller: Uuid, limit: i64) -> Result<Vec<String>> {
    let rows: Vec<(String,)> = db
        .sql(
            "SELECT url FROM webhooks
             WHERE reseller_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(reseller)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(url,)| url).collect())
}

pub async fn notifications(db: &Db, account: Uuid, limit: i64) -> Result<Vec<NotificationData>> {
    let rows = db
        .sql(
            "SELECT id, type, data, created_at FROM notifications
             WHERE account_id = $1 ORDER BY id DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn files(db: &Db, account: Uuid, limit: i64) -> Result<Vec<FileData>> {
    let rows = db
        .sql(
            "SELECT id, filename, content_type, size, purpose, created_at FROM files
             WHERE owner_id = $1 ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

pub async fn audit_entries(db: &Db, account: Uuid, limit: i64) -> Result<Vec<AuditData>> {
    let rows = db
        .sql(
            "SELECT action, entity_type, entity_id, address, user_agent, created_at
             FROM audit_logs WHERE actor_id = $1
             ORDER BY created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(account)
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows)
}

/// Ids of the bookings with a contact address, the newest first.
pub async fn bookings(db: &Db, email: &Email, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(
            "SELECT k.id FROM bookings k WHERE k.contact_email = $1
             ORDER BY k.created_at DESC LIMIT CAST($2 AS BIGINT)",
        )
        .bind(email.clone())
        .bind(limit + 1)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}
