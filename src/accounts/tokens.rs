//! The SQL of sessions, remembered devices and mailed tokens.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    email_change,
    model::{Credentials, OpenSession, SessionRow, SessionsQuery, Status},
};
use crate::kernel::{
    caller::{Context, network},
    db::{Db, Tx},
    error::{Error, Result},
    http::Page,
    ids::{self, Token, Uuid},
};

pub const SESSION: TimeDelta = TimeDelta::hours(8);
/// A session also ends after this time without a request.
pub const IDLE: TimeDelta = TimeDelta::hours(2);
/// `last_used_at` is written at most this often, so it may be this much too old.
pub const TOUCH: TimeDelta = TimeDelta::minutes(1);
pub const IMPERSONATION: TimeDelta = TimeDelta::minutes(15);
/// Life of a remember token, and of all tokens of a device together.
pub const REMEMBERED: TimeDelta = TimeDelta::days(30);
const FAMILY: TimeDelta = TimeDelta::days(90);
/// How long a device may still send a token that it has exchanged.
const EXCHANGING: TimeDelta = TimeDelta::seconds(30);

/// The session of a token with all data that determines its rights.
pub async fn session(db: &Db, hash: &[u8], now: DateTime<Utc>) -> Result<Option<SessionRow>> {
    let row = db
        .sql(
            "SELECT s.id AS session_id, s.last_used_at, s.authenticated_at,
               a.totp_confirmed_at IS NOT NULL AS second_factor, a.id AS account_id, a.name, a.email,
               a.role, a.status, p.level, p.rules,
               COALESCE(m.id, c.partner_id) AS partner_id, e.id AS reseller_id, s.impersonator_id,
               i.name AS impersonator_name, i.email AS impersonator_email,
               i.status AS impersonator_status, i.role AS impersonator_role,
               ip.rules AS impersonator_rules,
               i.totp_confirmed_at IS NOT NULL AS impersonator_second_factor
             FROM sessions s
             JOIN accounts a ON a.id = s.account_id AND a.deleted_at IS NULL
             LEFT JOIN staff st ON st.account_id = a.id
             LEFT JOIN permissions p ON p.id = st.permission_id
             LEFT JOIN partners m ON m.account_id = a.id
             LEFT JOIN crew c ON c.account_id = a.id
             LEFT JOIN resellers e ON e.account_id = a.id
             LEFT JOIN accounts i ON i.id = s.impersonator_id AND i.deleted_at IS NULL
             LEFT JOIN staff ist ON ist.account_id = s.impersonator_id
             LEFT JOIN permissions ip ON ip.id = ist.permission_id
             WHERE s.token_hash = $1 AND s.expires_at > $2 AND s.last_used_at > $3",
        )
        .bind(hash.to_vec())
        .bind(now)
        .bind(now - IDLE)
        .maybe()
        .await?;
    Ok(row)
}

/// Notes that the session was used. Of several requests at once, one writes.
pub async fn touch(db: &Db, id: Uuid, now: DateTime<Utc>) -> Result<()> {
    db.sql("UPDATE sessions SET last_used_at = $1 WHERE id = $2 AND last_used_at <= $3")
        .bind(now)
        .bind(id)
        .bind(now - TOUCH)
        .run()
        .await?;
    Ok(())
}

/// Notes that the password was given again; `false` if the session has ended.
pub async fn mark_authenticated(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let marked = tx
        .sql("UPDATE sessions SET authenticated_at = $1 WHERE id = $2 AND impersonator_id IS NULL")
        .bind(now)
        .bind(id)
        .run()
        .await?;
    Ok(marked == 1)
}

/// How a session was opened.
#[derive(Clone, Copy)]
pub enum OpenedBy {
    Password,
    /// A remember token of this family.
    Device(Uuid),
    /// Impersonation by another account.
    Impersonator(Uuid),
}

/// Opens a session and returns its token.
pub async fn open_session(
    tx: &mut Tx,
    account_id: Uuid,
    opened: OpenedBy,
    context: &Context,
    now: DateTime<Utc>,
) -> Result<Token> {
    let token = Token::fresh();
    let (family_id, impersonator_id, life) = match opened {
        OpenedBy::Password => (None, None, SESSION),
        OpenedBy::Device(family) => (Some(family), None, SESSION),
        OpenedBy::Impersonator(id) => (None, Some(id), IMPERSONATION),
    };
    let authenticated_at = matches!(opened, OpenedBy::Password).then_some(now);
    tx.sql(
        "INSERT INTO sessions (id, account_id, token_hash, family_id, impersonator_id, address,
           user_agent, created_at, last_used_at, expires_at, authenticated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)",
    )
    .bind(ids::fresh())
    .bind(account_id)
    .bind(token.hash())
    .bind(family_id)
    .bind(impersonator_id)
    .bind(context.address.to_string())
    .bind(context.user_agent.clone())
    .bind(now)
    .bind(now + life)
    .bind(authenticated_at)
    .run()
    .await?;
    Ok(token)
}

pub async fn sessions(
    db: &Db,
    account_id: Uuid,
    query: &SessionsQuery,
    now: DateTime<Utc>,
) -> Result<Page<OpenSession>> {
    let paging = &query.paging;
    let rows = db
        .list("SELECT id, address, user_agent, created_at, last_used_at, expires_at FROM sessions")
        .filter("account_id = ?", Some(account_id))
        .filter("expires_at > ?", Some(now))
        .filter("last_used_at > ?", Some(now - IDLE))
        // Impersonated sessions are not listed.
        .only("impersonator_id IS NULL")
        .search(&["address", "user_agent"], paging.search())
        .page(paging.sort(None, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

/// Ends a session of the account; `false` if it does not exist.
pub async fn end_session(tx: &mut Tx, account_id: Uuid, id: Uuid) -> Result<bool> {
    let ended = tx
        .sql("DELETE FROM sessions WHERE account_id = $1 AND id = $2")
        .bind(account_id)
        .bind(id)
        .run()
        .await?;
    Ok(ended == 1)
}

/// Ends the impersonations that the account has started.
pub async fn end_impersonations(tx: &mut Tx, account_id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM sessions WHERE impersonator_id = $1").bind(account_id).run().await?;
    Ok(())
}

/// Ends all sessions and devices of the account, except for `but`, and voids links that set a
/// password. Links that cancel a change of the e-mail address stay valid: whoever took the account
/// over must not be able to void them. The account's row must be locked.
pub async fn end_all(
    tx: &mut Tx,
    account_id: Uuid,
    but: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    // Also impersonations started by the account.
    tx.sql("DELETE FROM sessions WHERE (account_id = $1 OR impersonator_id = $1) AND id <> $2")
        .bind(account_id)
        .bind(but.unwrap_or(Uuid::nil()))
        .run()
        .await?;
    tx.sql("DELETE FROM remember_tokens WHERE account_id = $1").bind(account_id).run().await?;
    tx.sql(
        "UPDATE mailed_tokens SET voided_at = $1
         WHERE account_id = $2 AND kind IN ('reset', 'invitation') AND voided_at IS NULL",
    )
    .bind(now)
    .bind(account_id)
    .run()
    .await?;
    Ok(())
}

/// A remember token with its account.
#[derive(crate::kernel::db::FromRow)]
pub struct Remembered {
    pub family_id: Uuid,
    pub account_id: Uuid,
    pub email: String,
    pub status: Status,
    pub expires_at: DateTime<Utc>,
    /// When the device was enrolled.
    pub enrolled_at: DateTime<Utc>,
    /// Set once the token was exchanged.
    pub rotated_at: Option<DateTime<Utc>>,
}

pub async fn remembered(db: &Db, hash: &[u8]) -> Result<Option<Remembered>> {
    let row = db
        .sql(
            "SELECT r.family_id, r.account_id, a.email, a.status, r.expires_at, r.enrolled_at,
               r.rotated_at
             FROM remember_tokens r
             JOIN accounts a ON a.id = r.account_id AND a.deleted_at IS NULL
             WHERE r.token_hash = $1",
        )
        .bind(hash.to_vec())
        .maybe()
        .await?;
    Ok(row)
}

/// Marks a token as exchanged; `false` if it already was, or no longer exists.
pub async fn mark_exchanged(tx: &mut Tx, hash: &[u8], now: DateTime<Utc>) -> Result<bool> {
    let rotated = tx
        .sql("UPDATE remember_tokens SET rotated_at = $1 WHERE token_hash = $2 AND rotated_at IS NULL")
        .bind(now)
        .bind(hash.to_vec())
        .run()
        .await?;
    Ok(rotated == 1)
}

/// Whether the device that sends a token has exchanged it a moment ago. The exchange has opened a session,
/// which knows browser and network.
pub async fn was_just_exchanged(
    tx: &mut Tx,
    hash: &[u8],
    context: &Context,
    now: DateTime<Utc>,
) -> Result<bool> {
    let opened: Option<(String, Option<String>)> = tx
        .sql(
            "SELECT s.address, s.user_agent FROM remember_tokens r
             JOIN sessions s ON s.family_id = r.family_id AND s.created_at = r.rotated_at
             WHERE r.token_hash = $1 AND r.rotated_at > $2",
        )
        .bind(hash.to_vec())
        .bind(now - EXCHANGING)
        .maybe()
        .await?;
    Ok(opened.is_some_and(|(address, user_agent)| {
        let address = address.parse().ok().map(network);
        address == Some(network(context.address)) && user_agent == context.user_agent
    }))
}

/// A new remember token and its expiry. `enrolled_at` is the time of the device's first token.
pub async fn remember(
    tx: &mut Tx,
    account_id: Uuid,
    family_id: Uuid,
    enrolled_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(Token, DateTime<Utc>)> {
    let token = Token::fresh();
    let expires_at = (now + REMEMBERED).min(enrolled_at + FAMILY);
    tx.sql(
        "INSERT INTO remember_tokens (id, family_id, account_id, token_hash, created_at, expires_at,
           enrolled_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(ids::fresh())
    .bind(family_id)
    .bind(account_id)
    .bind(token.hash())
    .bind(now)
    .bind(expires_at)
    .bind(enrolled_at)
    .run()
    .await?;
    Ok((token, expires_at))
}

/// Revokes a device: its remember tokens and sessions.
pub async fn end_family(tx: &mut Tx, family_id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM sessions WHERE family_id = $1").bind(family_id).run().await?;
    tx.sql("DELETE FROM remember_tokens WHERE family_id = $1").bind(family_id).run().await?;
    Ok(())
}

pub async fn session_exists(tx: &mut Tx, id: Uuid) -> Result<bool> {
    let found = tx.sql("SELECT id FROM sessions WHERE id = $1").bind(id).maybe::<(Uuid,)>().await?;
    Ok(found.is_some())
}

crate::string_enum! {
    pub enum TokenKind {
        Reset = "reset",
        Invitation = "invitation",
        Verification = "verification",
        EmailConfirmation = "email_confirmation",
        EmailCancellation = "email_cancellation",
    }
}

impl TokenKind {
    /// Maximum number of mails per account and hour. Verification mails: that of the registration and
    /// three more.
    fn mails_per_hour(self) -> i32 {
        match self {
            Self::Verification => 4,
            _ => 3,
        }
    }

    /// How long a link is valid.
    pub fn lifetime(self) -> TimeDelta {
        match self {
            Self::Reset => TimeDelta::minutes(30),
            Self::Invitation => TimeDelta::hours(72),
            Self::Verification => TimeDelta::days(7),
            Self::EmailConfirmation => email_change::CONFIRMATION,
            Self::EmailCancellation => email_change::CANCELLATION,
        }
    }
}

/// Token of a mail.
pub struct MailedToken<'a> {
    pub account_id: Uuid,
    pub kind: TokenKind,
    /// The change that the link confirms or cancels.
    pub email_change_id: Option<Uuid>,
    pub token: &'a Token,
    /// Outbox item of the mail, and the time of the request.
    pub item_id: Uuid,
    pub asked_at: DateTime<Utc>,
}

/// Whether the mail was rendered before: `Some(true)` if it may be sent again, `None` if this is
/// the first time. The account's row must be locked.
async fn earlier(tx: &mut Tx, item_id: Uuid) -> Result<Option<bool>> {
    let row: Option<(Option<DateTime<Utc>>,)> = tx
        .sql("SELECT voided_at FROM mailed_tokens WHERE item_id = $1")
        .bind(item_id)
        .maybe()
        .await?;
    Ok(row.map(|(voided_at,)| voided_at.is_none()))
}

/// Stores the token of a mail. `false` if the mail must not be sent. The account's row must be locked,
/// so that mails are counted one after the other.
pub async fn store_mailed(
    tx: &mut Tx,
    mailed: &MailedToken<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
    if let Some(live) = earlier(tx, mailed.item_id).await? {
        return Ok(live);
    }
    match mailed.kind {
        TokenKind::Reset | TokenKind::Verification => store_counted(tx, mailed, now).await,
        TokenKind::Invitation => store_invitation(tx, mailed, now).await,
        TokenKind::EmailConfirmation | TokenKind::EmailCancellation => {
            store_of_change(tx, mailed).await
        }
    }
}

/// Fails while the account has got as many verification mails within an hour as it may.
pub async fn ensure_may_verify(tx: &mut Tx, account_id: Uuid, now: DateTime<Utc>) -> Result<()> {
    let kind = TokenKind::Verification;
    let hour_after = TimeDelta::hours(1) - kind.lifetime();
    let mailed: Vec<(DateTime<Utc>,)> = tx
        .sql(
            "SELECT expires_at FROM mailed_tokens
             WHERE account_id = $1 AND kind = $2 AND expires_at > $3 ORDER BY expires_at",
        )
        .bind(account_id)
        .bind(kind)
        .bind(now - hour_after)
        .all()
        .await?;
    match mailed.first() {
        Some((oldest,)) if mailed.len() as i32 >= kind.mails_per_hour() => {
            let wait = (*oldest + hour_after - now).num_seconds().max(1).unsigned_abs();
            Err(Error::TooManyRequests { retry_after: wait })
        }
        _ => Ok(()),
    }
}

/// `false` if the hourly limit is reached, or links of the kind were invalidated after the request.
async fn store_counted(tx: &mut Tx, mailed: &MailedToken<'_>, now: DateTime<Utc>) -> Result<bool> {
    let lifetime = mailed.kind.lifetime();
    // Links requested within the last hour expire after this time.
    let within_the_hour = now + lifetime - TimeDelta::hours(1);
    let stored = tx
        .sql(
            "INSERT INTO mailed_tokens (item_id, account_id, kind, token_hash, expires_at)
             SELECT $1, $2, $8, $3, $4
             WHERE (SELECT COUNT(*) FROM mailed_tokens
                    WHERE account_id = $2 AND kind = $8 AND expires_at > $5) < $6
               AND NOT EXISTS (SELECT 1 FROM mailed_tokens
                               WHERE account_id = $2 AND kind = $8 AND voided_at > $7)",
        )
        .bind(mailed.item_id)
        .bind(mailed.account_id)
        .bind(mailed.token.hash())
        .bind(mailed.asked_at + lifetime)
        .bind(within_the_hour)
        .bind(mailed.kind.mails_per_hour())
        .bind(mailed.asked_at)
        .bind(mailed.kind)
        .run()
        .await?;
    Ok(stored == 1)
}

/// Also invalidates older invitations. `false` if a newer one exists.
async fn store_invitation(
    tx: &mut Tx,
    mailed: &MailedToken<'_>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let stored = tx
        .sql(
            "INSERT INTO mailed_tokens (item_id, account_id, kind, token_hash, expires_at)
             SELECT $1, $2, 'invitation', $3, $4
             WHERE NOT EXISTS (SELECT 1 FROM mailed_tokens
                               WHERE account_id = $2 AND kind = 'invitation' AND item_id > $1)",
        )
        .bind(mailed.item_id)
        .bind(mailed.account_id)
        .bind(mailed.token.hash())
        .bind(mailed.asked_at + mailed.kind.lifetime())
        .run()
        .await?;
    if stored == 0 {
        return Ok(false);
    }
    tx.sql(
        "UPDATE mailed_tokens SET voided_at = $1
         WHERE account_id = $2 AND kind = 'invitation' AND item_id < $3 AND voided_at IS NULL",
    )
    .bind(now)
    .bind(mailed.account_id)
    .bind(mailed.item_id)
    .run()
    .await?;
    Ok(true)
}

async fn store_of_change(tx: &mut Tx, mailed: &MailedToken<'_>) -> Result<bool> {
    tx.sql(
        "INSERT INTO mailed_tokens (item_id, account_id, kind, email_change_id, token_hash,
           expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(mailed.item_id)
    .bind(mailed.account_id)
    .bind(mailed.kind)
    .bind(mailed.email_change_id)
    .bind(mailed.token.hash())
    .bind(mailed.asked_at + mailed.kind.lifetime())
    .run()
    .await?;
    Ok(true)
}

/// Invalidates the links that prove the mailbox of the account: those that set a password, and those
/// that verify the address.
pub async fn invalidate_mailed_links(
    tx: &mut Tx,
    account_id: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE mailed_tokens SET voided_at = $1
         WHERE account_id = $2 AND kind IN ('reset', 'invitation', 'verification')
           AND voided_at IS NULL",
    )
    .bind(now)
    .bind(account_id)
    .run()
    .await?;
    Ok(())
}

/// Invalidates the links that confirm a change of the e-mail address.
pub async fn invalidate_confirmations(
    tx: &mut Tx,
    account_id: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE mailed_tokens SET voided_at = $1
         WHERE account_id = $2 AND kind = 'email_confirmation' AND voided_at IS NULL",
    )
    .bind(now)
    .bind(account_id)
    .run()
    .await?;
    Ok(())
}

/// Invalidates the links that cancel a change of the account from this number on.
pub async fn invalidate_cancellations(
    tx: &mut Tx,
    account_id: Uuid,
    number: i32,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE mailed_tokens SET voided_at = $1
         WHERE account_id = $2 AND kind = 'email_cancellation' AND voided_at IS NULL
           AND email_change_id IN
             (SELECT id FROM email_changes WHERE account_id = $2 AND number >= $3)",
    )
    .bind(now)
    .bind(account_id)
    .bind(number)
    .run()
    .await?;
    Ok(())
}

/// What a valid link belongs to.
#[derive(crate::kernel::db::FromRow)]
pub struct MailedLink {
    pub account_id: Uuid,
    pub email_change_id: Option<Uuid>,
}

pub async fn mailed_link(
    db: &Db,
    hash: &[u8],
    kind: TokenKind,
    now: DateTime<Utc>,
) -> Result<Option<MailedLink>> {
    let row = db
        .sql(
            "SELECT t.account_id, t.email_change_id FROM mailed_tokens t
             JOIN accounts a ON a.id = t.account_id AND a.deleted_at IS NULL
             WHERE t.token_hash = $1 AND t.kind = $2 AND t.expires_at > $3
               AND t.voided_at IS NULL",
        )
        .bind(hash.to_vec())
        .bind(kind)
        .bind(now)
        .maybe()
        .await?;
    Ok(row)
}

/// The account of a valid link that sets a password.
pub async fn by_mailed_token(
    db: &Db,
    hash: &[u8],
    now: DateTime<Utc>,
) -> Result<Option<Credentials>> {
    let row = db
        .sql(
            "SELECT a.id, a.name, a.email, a.role, a.status, a.password_hash,
               a.totp_confirmed_at IS NOT NULL AS second_factor
             FROM mailed_tokens t
             JOIN accounts a ON a.id = t.account_id AND a.deleted_at IS NULL
             WHERE t.token_hash = $1 AND t.kind IN ('reset', 'invitation')
               AND t.expires_at > $2 AND t.voided_at IS NULL",
        )
        .bind(hash.to_vec())
        .bind(now)
        .maybe()
        .await?;
    Ok(row)
}

/// Consumes a token; `false` if it was already used.
pub async fn use_mailed_token(tx: &mut Tx, hash: &[u8], now: DateTime<Utc>) -> Result<bool> {
    let used = tx
        .sql("UPDATE mailed_tokens SET voided_at = $1 WHERE token_hash = $2 AND voided_at IS NULL")
        .bind(now)
        .bind(hash.to_vec())
        .run()
        .await?;
    Ok(used == 1)
}

pub async fn sweep(db: &Db, now: DateTime<Utc>) -> Result<()> {
    // Sessions that ended for lack of use are deleted with the others, within 8 hours.
    db.sql("DELETE FROM sessions WHERE expires_at <= $1").bind(now).run().await?;
    db.sql("DELETE FROM remember_tokens WHERE expires_at <= $1").bind(now).run().await?;
    // Needed for the hourly limit.
    let counted = now - TimeDelta::hours(1);
    db.sql("DELETE FROM mailed_tokens WHERE expires_at <= $1").bind(counted).run().await?;
    Ok(())
}
