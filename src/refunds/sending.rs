//! Refunds on their way through a provider.

use chrono::{DateTime, Utc};

use crate::kernel::{
    db::{Db, Tx},
    error::Result,
    ids::Uuid,
    set_aside::RowJob,
};

/// Refunds that may be sent now and have not failed to be processed before.
pub async fn to_send(db: &Db, limit: i64, now: DateTime<Utc>) -> Result<Vec<Uuid>> {
    let due: Vec<(Uuid,)> = db
        .sql(
            "SELECT r.id FROM refunds r
             WHERE r.send_at IS NOT NULL AND r.send_at <= $1 AND r.status = 'due' AND NOT EXISTS
               (SELECT 1 FROM set_aside a WHERE a.job = $3 AND a.entity_id = r.id)
             ORDER BY r.send_at LIMIT CAST($2 AS BIGINT)",
        )
        .without_cached_plan()
        .bind(now)
        .bind(limit)
        .bind(RowJob::SendRefunds)
        .all()
        .await?;
    Ok(due.into_iter().map(|(id,)| id).collect())
}

/// `false`: it is no longer to be sent.
pub async fn set_sent(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let sent = tx
        .sql(
            "UPDATE refunds SET status = 'sent', paid_by = 'provider', send_at = NULL,
               attempts = attempts + 1, last_error = NULL
             WHERE id = $1 AND status = 'due' AND unpaid > 0",
        )
        .bind(id)
        .run()
        .await?;
    Ok(sent == 1)
}

/// A part of it is paid; the rest is sent on its own.
pub async fn send_rest(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE refunds SET status = 'due', send_at = $1
         WHERE id = $2 AND status = 'sent' AND NOT EXISTS
           (SELECT 1 FROM transfers t WHERE t.refund_id = $2
              AND t.status IN ('created', 'sent', 'accepted'))",
    )
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// A person has to pay it. It stays due.
pub async fn leave_to_a_person(tx: &mut Tx, id: Uuid, reason: &str) -> Result<()> {
    tx.sql("UPDATE refunds SET send_at = NULL, last_error = $1 WHERE id = $2 AND status = 'due'")
        .bind(reason.to_owned())
        .bind(id)
        .run()
        .await?;
    Ok(())
}

/// The provider did not pay it, or not all of it. `false`: it was not on its way.
pub async fn set_failed(tx: &mut Tx, id: Uuid, reason: &str) -> Result<bool> {
    let failed = tx
        .sql(
            "UPDATE refunds SET status = 'failed', last_error = $1, send_at = NULL
             WHERE id = $2 AND status = 'sent'",
        )
        .bind(reason.to_owned())
        .bind(id)
        .run()
        .await?;
    Ok(failed == 1)
}
