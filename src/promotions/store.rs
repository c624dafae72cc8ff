//! The SQL of promotions.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::json;

use super::model::{Promotion, PromotionState, PromotionValues, PromotionsQuery, TargetType};
use crate::kernel::{
    db::{Db, Failure, List, Statement, Tx},
    error::{Error, Result},
    http::{Page, Paging},
    ids::{self, Uuid},
    lang::text,
};

macro_rules! promotion {
    ($rest:literal) => {
        concat!(
            "SELECT id, title, code, description, quota, used, per_customer_limit, target_type,
               target_ids, status, tnc, discount_type, discount_value, max_amount, min_purchase,
               funded_by, start_date, end_date, image_file_id, created_at
             FROM promotions",
            $rest
        )
    };
}

const BY_ID: &str = promotion!(" WHERE id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<Promotion>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<Promotion>> {
    Ok(tx.sql(BY_ID).bind(id).maybe().await?)
}

/// Finds a promotion by the code that a customer entered.
pub async fn by_code(db: &Db, code: &str) -> Result<Option<Promotion>> {
    let code = code.trim().to_ascii_uppercase();
    Ok(db.sql(promotion!(" WHERE code = $1")).bind(code).maybe().await?)
}

/// Uses by a customer.
pub async fn uses_of(db: &Db, id: Uuid, email: &str) -> Result<i32> {
    let uses: Option<(i32,)> = db
        .sql("SELECT used FROM promotion_uses WHERE promotion_id = $1 AND email = $2")
        .bind(id)
        .bind(email.to_owned())
        .maybe()
        .await?;
    Ok(uses.map_or(0, |(uses,)| uses))
}

fn in_state(list: List<'_>, state: Option<PromotionState>, today: NaiveDate) -> List<'_> {
    let Some(state) = state else { return list };
    let day = Some(today);
    match state {
        PromotionState::Draft => list.only("status = 'draft'"),
        PromotionState::Inactive => list.only("status = 'inactive'"),
        PromotionState::Ended => list.only("status = 'active'").filter("end_date < ?", day),
        PromotionState::Scheduled => list.only("status = 'active'").filter("start_date > ?", day),
        PromotionState::Exhausted => list
            .only("status = 'active' AND used >= quota")
            .filter("start_date <= ?", day)
            .filter("end_date >= ?", day),
        PromotionState::Running => list
            .only("status = 'active' AND (quota IS NULL OR used < quota)")
            .filter("start_date <= ?", day)
            .filter("end_date >= ?", day),
    }
}

pub async fn list(db: &Db, query: &PromotionsQuery, today: NaiveDate) -> Result<Page<Promotion>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "title" => "lower(title)",
        "code" => "code",
        "start_date" => "start_date",
        "end_date" => "end_date",
        _ => "created_at",
    });
    let paging = &query.paging;
    let list = in_state(db.list(promotion!("")), query.state, today);
    let rows = list
        .filter("status = ?", query.status)
        .filter("target_type = ?", query.target_type)
        .filter("funded_by = ?", query.funded_by)
        .search(&["title", "code"], paging.search())
        .page(paging.sort(sort, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn running(db: &Db, paging: &Paging, today: NaiveDate) -> Result<Page<Promotion>> {
    let rows = in_state(db.list(promotion!("")), Some(PromotionState::Running), today)
        .search(&["title", "code"], paging.search())
        .page(paging.sort(None, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Index of the first target that does not exist.
pub async fn unknown_target(db: &Db, values: &PromotionValues) -> Result<Option<usize>> {
    let text = match values.target_type {
        TargetType::All => return Ok(None),
        TargetType::Mitra => "SELECT id FROM partners WHERE id = $1",
        TargetType::Speedboat => "SELECT id FROM speedboats WHERE id = $1 AND deleted_at IS NULL",
        TargetType::Route => "SELECT id FROM routes WHERE id = $1",
    };
    for (index, id) in values.target_ids.iter().enumerate() {
        if db.sql(text).bind(*id).maybe::<(Uuid,)>().await?.is_none() {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

pub async fn insert(
    tx: &mut Tx,
    values: &PromotionValues,
    image: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    let statement = tx.sql(
        "INSERT INTO promotions (title, code, description, quota, per_customer_limit, target_type,
           target_ids, status, tnc, discount_type, discount_value, max_amount, min_purchase,
           start_date, end_date, image_file_id, updated_at, funded_by, id, used, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
           $19, 0, $17)",
    );
    bound(statement, values, image, now).bind(id).run().await.map_err(refused)?;
    Ok(id)
}

pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    values: &PromotionValues,
    image: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    let statement = tx.sql(
        "UPDATE promotions SET title = $1, code = $2, description = $3, quota = $4,
           per_customer_limit = $5, target_type = $6, target_ids = $7, status = $8, tnc = $9,
           discount_type = $10, discount_value = $11, max_amount = $12, min_purchase = $13,
           start_date = $14, end_date = $15, image_file_id = $16, updated_at = $17,
           funded_by = $18
         WHERE id = $19",
    );
    bound(statement, values, image, now).bind(id).run().await.map_err(refused)?;
    Ok(())
}

/// Binds the values that insert and update share, in order.
fn bound<'s>(
    statement: Statement<'s>,
    values: &PromotionValues,
    image: Option<Uuid>,
    now: DateTime<Utc>,
) -> Statement<'s> {
    statement
        .bind(values.title.clone())
        .bind(values.code.clone())
        .bind(values.description.clone())
        .bind(values.quota)
        .bind(values.per_customer_limit)
        .bind(values.target_type)
        .bind(json!(values.target_ids))
        .bind(values.status)
        .bind(values.tnc.clone())
        .bind(values.discount_type)
        .bind(values.discount_value)
        .bind(values.max_amount)
        .bind(values.min_purchase)
        .bind(values.period.start_date)
        .bind(values.period.end_date)
        .bind(image)
        .bind(now)
        .bind(values.funded_by)
}

/// Maps violated constraints to errors.
fn refused(failure: Failure) -> Error {
    match failure {
        f if f.is_unique() => Error::conflict(
            "already_exists",
            "A promotion with this code already exists.",
            "Promo dengan kode ini sudah ada.",
        ),
        f if f.is_check() => {
            let message =
                text("This is below the number of uses.", "Lebih kecil dari jumlah pemakaian.");
            Error::field("quota", "min", message)
        }
        f => f.into(),
    }
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM promotion_uses WHERE promotion_id = $1 AND used = 0")
        .bind(id)
        .run()
        .await?;
    let deleted = tx.sql("DELETE FROM promotions WHERE id = $1").bind(id).run().await;
    match deleted {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_foreign_key() => Err(Error::conflict(
            "in_use",
            "This promotion has been used and cannot be deleted.",
            "Promo ini sudah pernah dipakai dan tidak dapat dihapus.",
        )),
        Err(failure) => Err(failure.into()),
    }
}
