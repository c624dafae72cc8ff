//! The SQL of partners.

use chrono::{DateTime, Utc};

use super::{
    model::{Partner, PartnerForm, PartnerStatus, PartnerType, PartnersQuery},
    onboarding::BankAccountStatus,
    slug,
};
use crate::kernel::{
    db::{Db, List, Sort, Tx},
    error::{Error, Result},
    http::{Page, export},
    ids::{self, Uuid},
    lang::Lang,
    money::Rate,
    set_aside::RowJob,
};

macro_rules! partner {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.account_id AS user_id, a.name, a.email,
               (SELECT c.new_email FROM email_changes c
                WHERE c.account_id = a.id AND c.status = 'pending') AS pending_email,
               a.phone, p.address, p.partner_type, p.status, p.commission_rate,
               (SELECT COUNT(*) FROM speedboats b
                WHERE b.partner_id = p.id AND b.deleted_at IS NULL) AS speedboat_count,
               p.verified_at, p.suspended_at, p.suspended_reason, p.created_at, p.submitted_at,
               p.lang, p.invited_by, p.slug
             FROM partners p JOIN accounts a ON a.id = p.account_id",
            $rest
        )
    };
}

const BY_ID: &str = partner!(" WHERE p.id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Partner>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Partner> {
    tx.sql(BY_ID).bind(id).maybe().await?.ok_or(Error::NotFound)
}

/// Locks the partner's row until this transaction ends, then reads it.
pub async fn lock_row(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<Partner> {
    tx.sql("UPDATE partners SET updated_at = $1 WHERE id = $2").bind(now).bind(id).run().await?;
    get_in(tx, id).await
}

pub struct NewPartner<'a> {
    pub account_id: Uuid,
    pub address: &'a str,
    pub partner_type: PartnerType,
    pub commission_rate: Option<Rate>,
    pub lang: Lang,
    /// `None` if it registers itself.
    pub invited_by: Option<Uuid>,
}

/// Creates a partner in status `draft`.
pub async fn insert(tx: &mut Tx, partner: NewPartner<'_>, now: DateTime<Utc>) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO partners (id, account_id, address, partner_type, status, commission_rate,
           lang, invited_by, created_at, updated_at)
         VALUES ($1, $2, $3, $4, 'draft', $5, $6, $7, $8, $8)",
    )
    .bind(id)
    .bind(partner.account_id)
    .bind(partner.address.to_owned())
    .bind(partner.partner_type)
    .bind(partner.commission_rate)
    .bind(partner.lang)
    .bind(partner.invited_by)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

pub async fn set_lang(tx: &mut Tx, id: Uuid, lang: Lang) -> Result<()> {
    tx.sql("UPDATE partners SET lang = $1 WHERE id = $2").bind(lang).bind(id).run().await?;
    Ok(())
}

/// Updates the partner's own columns; name and e-mail belong to the account.
pub async fn update(tx: &mut Tx, before: &Partner, form: &PartnerForm) -> Result<()> {
    tx.sql(
        "UPDATE partners SET address = $1, partner_type = $2, commission_rate = $3 WHERE id = $4",
    )
    .bind(form.address.to_string())
    .bind(form.partner_type)
    .bind(form.commission_rate.clone().over(before.commission_rate))
    .bind(before.id)
    .run()
    .await?;
    Ok(())
}

/// Stores the status and its timestamps.
pub async fn set_state(tx: &mut Tx, partner: &Partner) -> Result<()> {
    tx.sql(
        "UPDATE partners SET status = $1, submitted_at = $2, verified_at = $3, suspended_at = $4,
           suspended_reason = $5
         WHERE id = $6",
    )
    .bind(partner.status)
    .bind(partner.submitted_at)
    .bind(partner.verified_at)
    .bind(partner.suspended_at)
    .bind(partner.suspended_reason.clone())
    .bind(partner.id)
    .run()
    .await?;
    Ok(())
}

/// Gives the partner the first address that is free. It stays when the name changes: others link to it.
pub async fn give_slug(tx: &mut Tx, partner: &Partner) -> Result<()> {
    let wanted = slug::of(&partner.name);
    for candidate in slug::candidates(&wanted) {
        let taken: Option<(Uuid,)> = tx
            .sql("SELECT id FROM partners WHERE slug = $1")
            .bind(candidate.clone())
            .maybe()
            .await?;
        if taken.is_none() {
            let given = tx
                .sql("UPDATE partners SET slug = $1 WHERE id = $2")
                .bind(candidate)
                .bind(partner.id)
                .run()
                .await;
            given.map_err(|failure| match failure.is_unique() {
                true => Error::Contention("the address of the partner was just taken".into()),
                false => failure.into(),
            })?;
            return Ok(());
        }
    }
    Err(Error::Contention("no address is free for the partner".into()))
}

/// Drafts of partners that registered until `created_until` and never verified their address, the
/// oldest first, some at a time. Those that could not be deleted before are left out.
pub async fn unverified(db: &Db, created_until: DateTime<Utc>, limit: i64) -> Result<Vec<Uuid>> {
    let rows: Vec<(Uuid,)> = db
        .sql(
            "SELECT p.id FROM accounts a JOIN partners p ON p.account_id = a.id
             WHERE a.email_verified = FALSE AND a.password_hash IS NOT NULL
               AND a.deleted_at IS NULL AND a.created_at <= $1 AND p.submitted_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM set_aside s WHERE s.job = $3 AND s.entity_id = p.id)
             ORDER BY a.created_at LIMIT CAST($2 AS BIGINT)",
        )
        .bind(created_until)
        .bind(limit)
        .bind(RowJob::DeleteUnverified)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Deletes a draft with everything that refers to it. Nothing of it was ever published.
pub async fn delete_draft(tx: &mut Tx, id: Uuid) -> Result<()> {
    for statement in [
        "DELETE FROM partner_documents WHERE partner_id = $1",
        "DELETE FROM onboardings WHERE partner_id = $1",
        "DELETE FROM routes WHERE partner_id = $1",
        "DELETE FROM lines WHERE partner_id = $1",
        "DELETE FROM speedboats WHERE partner_id = $1",
        "DELETE FROM settlement_configurations WHERE partner_id = $1",
        "DELETE FROM settlement_runs WHERE partner_id = $1",
        "DELETE FROM partners WHERE id = $1",
    ] {
        tx.sql(statement).bind(id).run().await?;
    }
    Ok(())
}

/// Deletes the notifications to an account, and those about its registration, which name it.
pub async fn delete_notifications(tx: &mut Tx, partner: &Partner) -> Result<()> {
    tx.sql("DELETE FROM notifications WHERE account_id = $1").bind(partner.user_id).run().await?;
    tx.sql(
        "DELETE FROM notifications
         WHERE type = 'partner.registered' AND data ->> 'mitra_id' = $1",
    )
    .bind(partner.id.to_string())
    .run()
    .await?;
    Ok(())
}

/// The partners with documents that await review, found by the index of pending documents. Nobody
/// reviews the documents of a suspended partner.
macro_rules! awaiting_review {
    () => {
        "(SELECT d.partner_id FROM partner_documents d JOIN partners w ON w.id = d.partner_id
          WHERE d.status = 'pending' AND d.replaced_at IS NULL AND d.submitted_at IS NOT NULL
            AND w.status <> 'suspended')"
    };
}

/// The activated partners whose bank account awaits approval, found by the index of pending
/// accounts.
macro_rules! awaiting_approval {
    () => {
        "(SELECT o.partner_id FROM onboardings o JOIN partners w ON w.id = o.partner_id
          WHERE o.bank_account_status = 'pending' AND w.verified_at IS NOT NULL)"
    };
}

pub(crate) use {awaiting_approval, awaiting_review};

pub async fn list(db: &Db, query: &PartnersQuery) -> Result<Page<Partner>> {
    let paging = &query.paging;
    let rows = found(db, query).page(sort(query), "p.id", paging.limit(), paging.offset()).await?;
    Ok(paging.page(rows))
}

/// The ids of all partners of the list, in its order.
pub async fn list_ids(db: &Db, query: &PartnersQuery) -> Result<Vec<Uuid>> {
    Ok(found(db, query).ids(sort(query), "p.id", export::LIMIT).await?)
}

pub async fn get_all(db: &Db, ids: &[Uuid]) -> Result<Vec<Partner>> {
    let rows = db.sql_among(partner!(" WHERE p.id IN"), ids.len(), "");
    Ok(ids.iter().fold(rows, |rows, id| rows.bind(*id)).long().all().await?)
}

fn sort(query: &PartnersQuery) -> Sort {
    let chosen = query.sort_by.map(|by| match by.as_str() {
        "name" => "lower(a.name)",
        "status" => "p.status",
        _ => "p.created_at",
    });
    query.paging.sort(chosen, "p.created_at")
}

fn found<'a>(db: &'a Db, query: &PartnersQuery) -> List<'a> {
    let mut list = db
        .list(partner!(""))
        .found_in("SELECT p.id FROM partners p JOIN accounts a ON a.id = p.account_id")
        .filter("p.status = ?", query.status)
        .filter("p.partner_type = ?", query.partner_type);
    list = match query.awaiting_review {
        Some(true) => list.only(concat!("p.id IN ", awaiting_review!())),
        Some(false) => list.only(concat!("p.id NOT IN ", awaiting_review!())),
        None => list,
    };
    list = match query.bank_account_status {
        Some(BankAccountStatus::Pending) => list.only(concat!("p.id IN ", awaiting_approval!())),
        Some(BankAccountStatus::Rejected) => list.only(
            "p.id IN (SELECT o.partner_id FROM onboardings o
               WHERE o.bank_account_status = 'rejected')",
        ),
        Some(BankAccountStatus::Approved) => list.only(
            "EXISTS (SELECT 1 FROM onboardings o
               WHERE o.partner_id = p.id AND o.bank_account_status = 'approved')",
        ),
        None => list,
    };
    list.search(&["a.name", "a.email", "a.phone"], query.paging.search())
}

#[derive(crate::kernel::db::FromRow)]
pub struct Count {
    pub status: PartnerStatus,
    pub partner_type: PartnerType,
    pub partners: i64,
    pub new: i64,
    pub awaiting: i64,
}

/// Counts by status and type, new partners, and those awaiting review.
pub async fn counts(db: &Db, new_since: DateTime<Utc>) -> Result<Vec<Count>> {
    let counts = db
        .sql(concat!(
            "SELECT p.status, p.partner_type, COUNT(*) AS partners,
               COUNT(CASE WHEN p.created_at >= $1 THEN 1 END) AS new,
               COUNT(CASE WHEN p.id IN ",
            awaiting_review!(),
            " THEN 1 END) AS awaiting
             FROM partners p GROUP BY p.status, p.partner_type"
        ))
        .bind(new_since)
        .all()
        .await?;
    Ok(counts)
}
