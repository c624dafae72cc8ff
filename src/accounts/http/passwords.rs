//! Handlers of password reset and change.

use axum::extract::State;

use super::proof::{self, Proof};
use crate::{
    accounts::{
        email_change,
        hash_queue::Origin,
        lockout,
        model::{ChangePassword, EmailForm, ResetPassword},
        store, tokens,
    },
    app::App,
    events::{self, AccountLetter, AccountRef, PasswordForgotten},
    kernel::{
        audit::Change,
        caller::{Caller, Context, Person},
        error::{Error, Result},
        http::{Body, Reply},
        ids,
    },
};

/// Does the same work for every address; the account is looked up after the response.
pub async fn forgot_password(
    State(app): State<App>,
    context: Context,
    Body(EmailForm { email }): Body<EmailForm>,
) -> Result<Reply> {
    let mut tx = app.db.begin().await?;
    let forgotten = PasswordForgotten { email, lang: context.lang };
    events::send(&mut tx, &AccountLetter::PasswordForgotten(forgotten), app.clock.now()).await?;
    tx.commit().await?;
    Ok(Reply::done(
        "If the address belongs to an account, a link has been sent.",
        "Jika alamat ini terdaftar, tautan sudah dikirim.",
    ))
}

/// Accepts tokens of resets and invitations.
pub async fn reset_password(
    State(app): State<App>,
    context: Context,
    Body(reset): Body<ResetPassword>,
) -> Result<Reply> {
    let now = app.clock.now();
    let token = ids::hash(&reset.token);
    let account = tokens::by_mailed_token(&app.db, &token, now).await?;
    let account = account.ok_or(Error::InvalidToken)?;
    // The token authenticates the caller like a session.
    let origin = Origin::new(context.address, true);
    reset.password.long_enough(account.role, account.second_factor)?;
    app.passwords().strong(&reset.password, &account.name, &account.email, origin).await?;
    let hash = app.passwords().hash(&reset.password, origin).await?;
    let first = account.password_hash.is_none();

    let mut tx = app.db.begin().await?;
    store::set_password(&mut tx, account.id, &hash, now).await?;
    if !tokens::use_mailed_token(&mut tx, &token, now).await? {
        return Err(Error::InvalidToken);
    }
    // The link was mailed to this address.
    store::mark_email_verified(&mut tx, account.id, now).await?;
    tokens::end_all(&mut tx, account.id, None, now).await?;
    email_change::cancel_pending(&mut tx, account.id, now).await?;
    // The owner of the mailbox can sign in from here despite failures of others.
    lockout::clear_failures(&mut tx, &account.email.parse().map_err(Error::internal)?).await?;
    lockout::remember_network(&mut tx, account.id, context.address, now).await?;
    if !first {
        let changed = AccountRef { account_id: account.id, lang: context.lang };
        events::send(&mut tx, &AccountLetter::PasswordChanged(changed), now).await?;
    }
    tx.commit().await?;
    Ok(Reply::done(
        "The password has been set. Please sign in.",
        "Kata sandi tersimpan. Silakan masuk.",
    ))
}

pub async fn change_password(
    State(app): State<App>,
    caller: Caller,
    Body(change): Body<ChangePassword>,
) -> Result<Reply> {
    caller.refuse_impersonation()?;
    let now = app.clock.now();
    let Person { id, name, email } = &caller.person;
    let origin = Origin::new(caller.context.address, true);
    change.password.long_enough(caller.role, caller.second_factor)?;
    app.passwords().strong(&change.password, name, email, origin).await?;
    let Proof { attempt, password_hash: old } =
        proof::password(&app, &caller, "current_password", &change.current_password, now).await?;
    let new = app.passwords().hash(&change.password, origin).await?;

    let mut tx = caller.begin(&app.db, now).await?;
    if !store::replace_password(&mut tx, *id, &old, &new, now).await? {
        return Err(Error::Unauthenticated);
    }
    tokens::end_all(&mut tx, *id, Some(caller.session_id), now).await?;
    email_change::cancel_pending(&mut tx, *id, now).await?;
    attempt.succeeded(&mut tx).await?;
    let changed = AccountRef { account_id: *id, lang: caller.context.lang };
    events::send(&mut tx, &AccountLetter::PasswordChanged(changed), now).await?;
    tx.record(Change {
        action: "account.password_changed",
        entity: "account",
        id: *id,
        before: None,
        after: None,
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::done(
        "The password has been changed. Other sessions have ended.",
        "Kata sandi telah diubah. Sesi lain telah diakhiri.",
    ))
}
