//! Admins created without another admin: the first one, and those of the command line.

use rand::seq::IndexedRandom;

use super::{
    hash_queue::Origin,
    model::{NewAccount, Status},
    password::Password,
    second_factor, store, tokens,
};
use crate::{
    app::App,
    events::{self, AccountLetter, AccountRef},
    kernel::{
        access::Role,
        email::Email,
        error::{Error, Result},
        ids::Uuid,
        lang::Lang,
        text::Name,
    },
};

pub struct FirstAdmin {
    pub email: Email,
    /// The generated password; `None` if it was configured.
    pub generated_password: Option<String>,
}

/// Creates the first admin if there is none. If several processes start together, one of them does.
pub async fn first_admin(app: &App) -> Result<Option<FirstAdmin>> {
    if store::has_admin(&app.db).await? {
        return Ok(None);
    }
    let email = match &app.config.admin_email {
        Some(email) => email.clone(),
        None => "admin@localhost".parse().map_err(Error::Internal)?,
    };
    let chosen = app.config.admin_password.as_ref().map(|secret| secret.reveal().to_owned());
    let word = chosen.clone().unwrap_or_else(generate);
    let password = Password::parse(&word).ok_or_else(|| {
        Error::internal("DERMAGA_ADMIN_PASSWORD: a password must have 8 to 128 characters")
    })?;
    let local = Origin::local();
    // A generated password is strong. Estimating it would keep the word lists in memory.
    if chosen.is_some()
        && app.passwords().is_weak(&password, "Admin", email.as_str(), local).await?
    {
        tracing::warn!("DERMAGA_ADMIN_PASSWORD is too easy to guess");
    }
    let hash = app.passwords().hash(&password, local).await?;
    let mut tx = app.db.begin().await?;
    let made = store::insert_first_admin(&mut tx, "Admin", &email, &hash, app.clock.now()).await?;
    tx.commit().await?;
    let generated_password = chosen.is_none().then_some(word);
    Ok(made.then_some(FirstAdmin { email, generated_password }))
}

pub async fn create_admin(app: &App, name: Name, email: Email, password: &Password) -> Result<()> {
    password.long_enough(Role::Admin, false)?;
    app.passwords().strong(password, &name, email.as_str(), Origin::local()).await?;
    let password_hash = Some(app.passwords().hash(password, Origin::local()).await?);
    let account = NewAccount {
        name,
        email,
        phone: None,
        role: Role::Admin,
        status: Status::Active,
        password_hash,
    };
    let mut tx = app.db.begin().await?;
    let now = app.clock.now();
    let id = store::insert(&mut tx, &account, now).await?;
    // Nobody mails a link to an admin of the command line.
    store::mark_email_verified(&mut tx, id, now).await?;
    Ok(tx.commit().await?)
}

/// Marks the address of an account as verified, without a letter.
pub async fn mark_email_verified(app: &App, email: &Email) -> Result<()> {
    let account = store::credentials(&app.db, email).await?.ok_or(Error::NotFound)?;
    let mut tx = app.db.begin().await?;
    store::mark_email_verified(&mut tx, account.id, app.clock.now()).await?;
    Ok(tx.commit().await?)
}

/// Removes the second factor of an account whose holder has lost it, ends its sessions and mails the
/// person; `false` if there is none. For the command line: an admin who has lost the phone and is the
/// last one cannot ask another admin.
pub async fn reset_second_factor(app: &App, email: &Email) -> Result<bool> {
    let account = store::credentials(&app.db, email).await?.ok_or(Error::NotFound)?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    store::lock_row(&mut tx, account.id).await?;
    if !second_factor::remove(&mut tx, account.id).await? {
        return Ok(false);
    }
    tokens::end_all(&mut tx, account.id, None, now).await?;
    let removed = AccountRef { account_id: account.id, lang: Lang::En };
    events::send(&mut tx, &AccountLetter::SecondFactorRemoved(removed), now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Sets the password of an invited account.
pub async fn set_invited_password(app: &App, id: Uuid, password: &Password) -> Result<()> {
    let hash = app.passwords().hash(password, Origin::local()).await?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    store::set_password(&mut tx, id, &hash, now).await?;
    store::mark_email_verified(&mut tx, id, now).await?;
    Ok(tx.commit().await?)
}

/// Twenty characters without look-alikes: 100 bits.
fn generate() -> String {
    const CHARACTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789A";
    let mut random = rand::rng();
    let pick = |_| char::from(*CHARACTERS.choose(&mut random).unwrap_or(&b'a'));
    let letters: Vec<char> = (0..20).map(pick).collect();
    letters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-")
}
