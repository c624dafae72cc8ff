//! The second factor of an account: an encrypted TOTP secret and hashed recovery codes.
//!
//! Each code works once. One conditional statement accepts it, and its row count decides, so of two
//! requests with the same code one is refused.

use chrono::{DateTime, TimeDelta, Utc};
use data_encoding::BASE32_NOPAD;

use super::totp::TotpSecret;
use crate::{
    app::App,
    kernel::{
        db::{Db, Tx},
        error::Result,
        ids::{self, Uuid},
        seal::Sealer,
    },
};

/// A new secret must be confirmed within this time.
const PENDING: TimeDelta = TimeDelta::minutes(30);
const RECOVERY_CODES: usize = 10;

/// A code of a request.
enum Code {
    Totp(String),
    Recovery(Vec<u8>),
}

impl Code {
    /// Ignores spaces and hyphens, which people copy along.
    fn read(text: &str) -> Self {
        let code: String = text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        match code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Self::Totp(code),
            false => Self::Recovery(hash_recovery_code(&code)),
        }
    }
}

/// Base32 has no 0, 1 and 8: they are read as the letters that look like them.
fn hash_recovery_code(code: &str) -> Vec<u8> {
    let letter = |c: char| match c.to_ascii_uppercase() {
        '0' => 'O',
        '1' => 'I',
        '8' => 'B',
        letter => letter,
    };
    ids::hash(&code.chars().map(letter).collect::<String>())
}

/// Stores a new secret, which counts once it is confirmed. Replaces a pending one; `false` if the
/// account has a second factor.
pub async fn begin(
    app: &App,
    tx: &mut Tx,
    account_id: Uuid,
    secret: &TotpSecret,
    now: DateTime<Utc>,
) -> Result<bool> {
    let begun = tx
        .sql(
            "UPDATE accounts SET totp_secret = $1, totp_created_at = $2
             WHERE id = $3 AND totp_confirmed_at IS NULL AND deleted_at IS NULL",
        )
        .bind(app.sealer.seal(&secret.base32())?)
        .bind(now)
        .bind(account_id)
        .run()
        .await?;
    Ok(begun == 1)
}

/// A secret that waits for its confirmation.
pub struct Pending {
    sealed: String,
    secret: TotpSecret,
}

impl Pending {
    /// The step of a valid code.
    pub fn step_of(&self, code: &str, now: DateTime<Utc>) -> Option<i64> {
        match Code::read(code) {
            Code::Totp(digits) => self.secret.step_of(&digits, now),
            Code::Recovery(_) => None,
        }
    }
}

pub async fn pending(app: &App, account_id: Uuid, now: DateTime<Utc>) -> Result<Option<Pending>> {
    let row: Option<(String,)> = app
        .db
        .sql(
            "SELECT totp_secret FROM accounts
             WHERE id = $1 AND totp_confirmed_at IS NULL AND totp_created_at > $2
               AND deleted_at IS NULL",
        )
        .bind(account_id)
        .bind(now - PENDING)
        .maybe()
        .await?;
    row.map(|(sealed,)| Ok(Pending { secret: open(&app.sealer, &sealed)?, sealed })).transpose()
}

/// Makes a pending secret the second factor and returns its recovery codes; `None` if it was
/// confirmed or replaced in the meantime. The code of `step` is used up.
pub async fn confirm(
    tx: &mut Tx,
    account_id: Uuid,
    pending: &Pending,
    step: i64,
    now: DateTime<Utc>,
) -> Result<Option<Vec<String>>> {
    let confirmed = tx
        .sql(
            "UPDATE accounts SET totp_confirmed_at = $1, totp_last_step = $2
             WHERE id = $3 AND totp_secret = $4 AND totp_confirmed_at IS NULL",
        )
        .bind(now)
        .bind(step)
        .bind(account_id)
        .bind(pending.sealed.clone())
        .run()
        .await?;
    if confirmed == 0 {
        return Ok(None);
    }
    let codes: Vec<String> = (0..RECOVERY_CODES).map(|_| recovery_code()).collect();
    for code in &codes {
        tx.sql("INSERT INTO recovery_codes (account_id, code_hash) VALUES ($1, $2)")
            .bind(account_id)
            .bind(hash_recovery_code(&code.replace('-', "")))
            .run()
            .await?;
    }
    Ok(Some(codes))
}

/// 80 random bits as `ABCD-EFGH-JKLM-NOPQ`: too many to find by hashing guesses, so a fast hash will
/// do.
fn recovery_code() -> String {
    let letters = BASE32_NOPAD.encode(&rand::random::<[u8; 10]>());
    let groups: Vec<&str> = [0, 4, 8, 12].map(|at| &letters[at..at + 4]).into();
    groups.join("-")
}

/// Accepts and uses up a code of the app or a recovery code. `false` if it is wrong or was used. The
/// account's row must be locked.
pub async fn accept(
    app: &App,
    tx: &mut Tx,
    account_id: Uuid,
    code: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    match Code::read(code) {
        Code::Totp(digits) => accept_totp(app, tx, account_id, &digits, now).await,
        Code::Recovery(hash) => {
            let used = tx
                .sql("DELETE FROM recovery_codes WHERE account_id = $1 AND code_hash = $2")
                .bind(account_id)
                .bind(hash)
                .run()
                .await?;
            Ok(used == 1)
        }
    }
}

async fn accept_totp(
    app: &App,
    tx: &mut Tx,
    account_id: Uuid,
    digits: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let row: Option<(String,)> = tx
        .sql("SELECT totp_secret FROM accounts WHERE id = $1 AND totp_confirmed_at IS NOT NULL")
        .bind(account_id)
        .maybe()
        .await?;
    let Some((sealed,)) = row else { return Ok(false) };
    let Some(step) = open(&app.sealer, &sealed)?.step_of(digits, now) else { return Ok(false) };
    let accepted = tx
        .sql(
            "UPDATE accounts SET totp_last_step = $1
             WHERE id = $2 AND totp_confirmed_at IS NOT NULL AND totp_last_step < $1",
        )
        .bind(step)
        .bind(account_id)
        .run()
        .await?;
    Ok(accepted == 1)
}

/// Removes the second factor, or a pending one; `false` if there was no confirmed one.
pub async fn remove(tx: &mut Tx, account_id: Uuid) -> Result<bool> {
    let confirmed: Option<(Uuid,)> = tx
        .sql("SELECT id FROM accounts WHERE id = $1 AND totp_confirmed_at IS NOT NULL")
        .bind(account_id)
        .maybe()
        .await?;
    tx.sql(
        "UPDATE accounts SET totp_secret = NULL, totp_created_at = NULL, totp_confirmed_at = NULL,
           totp_last_step = NULL
         WHERE id = $1 AND totp_secret IS NOT NULL",
    )
    .bind(account_id)
    .run()
    .await?;
    tx.sql("DELETE FROM recovery_codes WHERE account_id = $1").bind(account_id).run().await?;
    Ok(confirmed.is_some())
}

/// Removes a second factor, or a pending one, that was set up after a time.
pub async fn remove_newer(tx: &mut Tx, account_id: Uuid, than: DateTime<Utc>) -> Result<()> {
    let newer: Option<(Uuid,)> = tx
        .sql("SELECT id FROM accounts WHERE id = $1 AND totp_created_at >= $2")
        .bind(account_id)
        .bind(than)
        .maybe()
        .await?;
    if newer.is_some() {
        remove(tx, account_id).await?;
    }
    Ok(())
}

fn open(sealer: &Sealer, sealed: &str) -> Result<TotpSecret> {
    TotpSecret::parse(&sealer.open(sealed)?)
}

/// Encrypts secrets of older keys with the current one; returns how many.
pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let rows: Vec<(Uuid, String)> =
        db.sql("SELECT id, totp_secret FROM accounts WHERE totp_secret IS NOT NULL").all().await?;
    let mut resealed = 0;
    for (id, sealed) in rows {
        if let Some(new) = sealer.reseal(&sealed)? {
            // The secret may have been replaced in the meantime.
            let update =
                db.sql("UPDATE accounts SET totp_secret = $1 WHERE id = $2 AND totp_secret = $3");
            resealed += update.bind(new).bind(id).bind(sealed).run().await?;
        }
    }
    Ok(resealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_code_is_recognised_however_it_is_typed() {
        let code = recovery_code();
        assert_eq!(code.len(), 19);
        let stored = hash_recovery_code(&code.replace('-', ""));
        for typed in
            [code.clone(), code.to_lowercase(), code.replace('-', " "), format!(" {code} ")]
        {
            assert!(
                matches!(Code::read(&typed), Code::Recovery(hash) if hash == stored),
                "{typed}"
            );
        }
        let alike = code.replace('O', "0").replace('I', "1").replace('B', "8");
        assert!(matches!(Code::read(&alike), Code::Recovery(hash) if hash == stored));
        assert!(matches!(Code::read("123 456"), Code::Totp(digits) if digits == "123456"));
        assert!(matches!(Code::read("1234567"), Code::Recovery(_)));
    }
}
