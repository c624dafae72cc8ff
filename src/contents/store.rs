//! The SQL of contents.

use chrono::{DateTime, Utc};

use super::model::{CtaForm, CtaRow, HistoryQuery, Terms, TermsVersion};
use crate::kernel::{
    db::{Db, Failure, Tx},
    error::Result,
    http::Page,
    ids::{self, Uuid},
};

const CTA: &str = "SELECT title, description, button_label, button_url, image_file_id, is_active,
      updated_at
    FROM cta_partnership";

pub async fn cta(db: &Db) -> Result<Option<CtaRow>> {
    Ok(db.sql(CTA).maybe().await?)
}

pub async fn cta_in(tx: &mut Tx) -> Result<Option<CtaRow>> {
    Ok(tx.sql(CTA).maybe().await?)
}

pub async fn save_cta(
    tx: &mut Tx,
    form: &CtaForm,
    image: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "INSERT INTO cta_partnership (only_one, title, description, button_label, button_url,
           image_file_id, is_active, updated_at)
         VALUES (1, $1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (only_one) DO UPDATE SET title = excluded.title,
           description = excluded.description, button_label = excluded.button_label,
           button_url = excluded.button_url, image_file_id = excluded.image_file_id,
           is_active = excluded.is_active, updated_at = excluded.updated_at",
    )
    .bind(form.title.to_string())
    .bind(form.description.to_string())
    .bind(form.button_label.to_string())
    .bind(form.button_url.clone())
    .bind(image)
    .bind(form.is_active)
    .bind(now)
    .run()
    .await?;
    Ok(())
}

pub async fn published(db: &Db, kind: &str) -> Result<Option<Terms>> {
    let terms = db
        .sql(
            "SELECT id, type, content, version, status, published_at FROM terms
             WHERE type = $1 AND status = 'published'",
        )
        .bind(kind.to_owned())
        .maybe()
        .await?;
    Ok(terms)
}

macro_rules! version {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.type, t.content, t.version, t.status, t.published_at,
               t.created_by AS user_creator_id, c.name AS creator_name,
               t.edited_by AS user_editor_id, t.validated_by AS user_validator_id,
               v.name AS validator_name, t.created_at, t.updated_at
             FROM terms t JOIN accounts c ON c.id = t.created_by
             LEFT JOIN accounts v ON v.id = t.validated_by",
            $rest
        )
    };
}

pub async fn get(tx: &mut Tx, id: Uuid) -> Result<Option<TermsVersion>> {
    Ok(tx.sql(version!(" WHERE t.id = $1")).bind(id).maybe().await?)
}

pub async fn history(db: &Db, query: &HistoryQuery) -> Result<Page<TermsVersion>> {
    let paging = &query.paging;
    let rows = db
        .list(version!(""))
        .filter("t.type = ?", Some(query.kind.clone()))
        .page(paging.sort(None, "t.version"), "t.id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Inserts a draft of the next version. A unique violation means that there already is a draft.
pub async fn insert(
    tx: &mut Tx,
    kind: &str,
    content: &str,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<Uuid, Failure> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO terms (id, type, version, content, status, created_by, edited_by, created_at,
           updated_at)
         SELECT $1, $2, COALESCE(MAX(version), 0) + 1, $3, 'draft', $4, $4, $5, $5
         FROM terms WHERE type = $2",
    )
    .bind(id)
    .bind(kind.to_owned())
    .bind(content.to_owned())
    .bind(by)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

/// Updates a draft; `false` if it is no longer a draft.
pub async fn edit(
    tx: &mut Tx,
    id: Uuid,
    content: &str,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    let edited = tx
        .sql(
            "UPDATE terms SET content = $1, edited_by = $2, updated_at = $3
             WHERE id = $4 AND status = 'draft'",
        )
        .bind(content.to_owned())
        .bind(by)
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(edited == 1)
}

/// Publishes a draft and archives the previous version; `false` if the draft has changed.
pub async fn publish(
    tx: &mut Tx,
    seen: &TermsVersion,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    tx.sql(
        "UPDATE terms SET status = 'archived', updated_at = $1
         WHERE type = $2 AND status = 'published'",
    )
    .bind(now)
    .bind(seen.terms.kind.clone())
    .run()
    .await?;
    let published = tx
        .sql(
            "UPDATE terms SET status = 'published', validated_by = $1, published_at = $2,
               updated_at = $2
             WHERE id = $3 AND status = 'draft' AND edited_by = $4 AND updated_at = $5",
        )
        .bind(by)
        .bind(now)
        .bind(seen.terms.id)
        .bind(seen.user_editor_id)
        .bind(seen.updated_at)
        .run()
        .await?;
    Ok(published == 1)
}
