//! The SQL of partners.

use chrono::{DateTime, Utc};

use super::model::{Partner, PartnerType};
use crate::kernel::{
    db::Tx,
    error::Result,
    ids::{self, Uuid},
};

pub async fn insert(
    tx: &mut Tx,
    account_id: Uuid,
    address: &str,
    partner_type: PartnerType,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO partners (id, account_id, address, partner_type, status, created_at,
           updated_at)
         VALUES ($1, $2, $3, $4, 'draft', $5, $5)",
    )
    .bind(id)
    .bind(account_id)
    .bind(address.to_owned())
    .bind(partner_type)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

pub async fn partner(tx: &mut Tx, id: Uuid) -> Result<Partner> {
    let partner = tx
        .sql(
            "SELECT p.id, p.account_id AS user_id, a.name, a.email, a.phone, p.address,
               p.partner_type, p.status, p.created_at
             FROM partners p JOIN accounts a ON a.id = p.account_id
             WHERE p.id = $1",
        )
        .bind(id)
        .one()
        .await?;
    Ok(partner)
}
