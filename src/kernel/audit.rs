//! The audit log, written in the transaction of the change.
//!
//! `AuditedTx` refuses to commit a change by an admin, staff or an impersonated session without an
//! audit entry, so no entry can be forgotten. Partners are audited where they correct the personal data
//! of bookings. Entries hold the names of changed personal fields and
//! not their values (`personal`).

use std::ops::{Deref, DerefMut};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use super::{
    caller::Caller,
    db::{Db, Tx},
    error::{Error, Result},
    ids::{self, Uuid},
    personal,
};

pub struct AuditedTx {
    tx: Tx,
    caller: Caller,
    now: DateTime<Utc>,
    owed: bool,
}

/// An audit entry. `before` and `after` are response types, which contain no secrets.
pub struct Change<'a> {
    pub action: &'static str,
    pub entity: &'static str,
    pub id: Uuid,
    pub before: Option<&'a dyn ErasedJson>,
    pub after: Option<&'a dyn ErasedJson>,
}

pub trait ErasedJson: Sync {
    fn json(&self) -> Result<Value>;
}

impl<T: Serialize + Sync> ErasedJson for T {
    fn json(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(Error::internal)
    }
}

impl Caller {
    /// Begins a transaction for a change by this caller. It does not commit without an audit entry
    /// where one is required.
    pub async fn begin(&self, db: &Db, now: DateTime<Utc>) -> Result<AuditedTx> {
        let owed = self.is_audited();
        Ok(AuditedTx { tx: db.begin().await?, caller: self.clone(), now, owed })
    }
}

impl AuditedTx {
    /// Writes the entry. Partners and crew acting for themselves are not audited.
    pub async fn record(&mut self, change: Change<'_>) -> Result<()> {
        match self.caller.is_audited() {
            true => self.record_anyone(change).await,
            false => Ok(()),
        }
    }

    /// Writes the entry, also for partners: they have changed data that is about others.
    pub async fn record_anyone(&mut self, change: Change<'_>) -> Result<()> {
        let Caller { person, impersonator, context, .. } = &self.caller;
        let actor = impersonator.as_ref().map_or(person, |behind| &behind.person);
        let on_behalf_of = impersonator.is_some().then_some(person);
        let before = change.before.map(ErasedJson::json).transpose()?;
        let after = change.after.map(ErasedJson::json).transpose()?;
        let (before, after) = personal::redact(change.entity, before, after);
        self.tx
            .sql(
                "INSERT INTO audit_logs
                   (id, actor_id, actor_name, actor_email, on_behalf_of_id, on_behalf_of_name,
                    on_behalf_of_email, action, entity_type, entity_id, before_change,
                    after_change, address, user_agent, request_id, created_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            )
            .bind(ids::fresh())
            .bind(actor.id)
            .bind(actor.name.clone())
            .bind(actor.email.clone())
            .bind(on_behalf_of.map(|person| person.id))
            .bind(on_behalf_of.map(|person| person.name.clone()))
            .bind(on_behalf_of.map(|person| person.email.clone()))
            .bind(change.action)
            .bind(change.entity)
            .bind(change.id)
            .bind(before)
            .bind(after)
            .bind(context.address.to_string())
            .bind(context.user_agent.clone())
            .bind(context.request_id.clone())
            .bind(self.now)
            .run()
            .await?;
        self.owed = false;
        Ok(())
    }

    pub async fn commit(self) -> Result<()> {
        if self.owed {
            return Err(Error::internal(
                "a transaction without an audit entry cannot be committed",
            ));
        }
        Ok(self.tx.commit().await?)
    }
}

impl Deref for AuditedTx {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.tx
    }
}

impl DerefMut for AuditedTx {
    fn deref_mut(&mut self) -> &mut Tx {
        &mut self.tx
    }
}
