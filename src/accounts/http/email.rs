//! Handlers of e-mail verification and of changes of an e-mail address.
//!
//! The token of a mailed link authenticates the caller. Its use and its effect are one transaction.

use axum::extract::State;

use crate::{
    accounts::{
        self, email_change,
        model::LinkToken,
        store,
        tokens::{self, MailedLink, TokenKind},
    },
    app::App,
    kernel::{
        audit::Change,
        caller::{Caller, Context},
        db::Tx,
        error::{Error, Result},
        http::{Body, Reply},
        ids,
    },
};

pub async fn verify_email(
    State(app): State<App>,
    Body(LinkToken { token }): Body<LinkToken>,
) -> Result<Reply> {
    let (mut tx, link) = use_link(&app, &token, TokenKind::Verification).await?;
    store::mark_email_verified(&mut tx, link.account_id, app.clock.now()).await?;
    tx.commit().await?;
    Ok(Reply::done("The e-mail address is verified.", "Alamat e-mail telah diverifikasi."))
}

pub async fn resend_verification(State(app): State<App>, caller: Caller) -> Result<Reply> {
    let now = app.clock.now();
    let id = caller.person.id;
    let mut tx = caller.begin(&app.db, now).await?;
    if store::is_email_verified(&mut tx, id).await? {
        return Err(Error::invalid_state(
            "The e-mail address is already verified.",
            "Alamat e-mail sudah diverifikasi.",
        ));
    }
    tokens::ensure_may_verify(&mut tx, id, now).await?;
    accounts::send_verification(&mut tx, id, caller.context.lang, now).await?;
    tx.record(Change {
        action: "account.verification_requested",
        entity: "account",
        id,
        before: None,
        after: None,
    })
    .await?;
    tx.commit().await?;
    Ok(Reply::done("A link has been sent.", "Tautan sudah dikirim."))
}

pub async fn confirm_email(
    State(app): State<App>,
    context: Context,
    Body(LinkToken { token }): Body<LinkToken>,
) -> Result<Reply> {
    let now = app.clock.now();
    let (mut tx, link) = use_link(&app, &token, TokenKind::EmailConfirmation).await?;
    let change = link.email_change_id.ok_or(Error::InvalidToken)?;
    email_change::confirm(&mut tx, link.account_id, change, context.lang, now).await?;
    tx.commit().await?;
    Ok(Reply::done(
        "The e-mail address has been changed. Sign in with the new address from now on.",
        "Alamat e-mail telah diubah. Mulai sekarang, masuk dengan alamat baru.",
    ))
}

pub async fn cancel_email_change(
    State(app): State<App>,
    Body(LinkToken { token }): Body<LinkToken>,
) -> Result<Reply> {
    let now = app.clock.now();
    let (mut tx, link) = use_link(&app, &token, TokenKind::EmailCancellation).await?;
    let change = link.email_change_id.ok_or(Error::InvalidToken)?;
    email_change::undo(&mut tx, link.account_id, change, now).await?;
    tx.commit().await?;
    Ok(Reply::done(
        "The change is cancelled and all sessions have ended. If you did not request it, choose a \
         new password.",
        "Perubahan dibatalkan dan semua sesi diakhiri. Jika Anda tidak memintanya, pilih kata \
         sandi baru.",
    ))
}

/// Begins a transaction in which the account's row is locked and the link is used; 401 unless it is
/// valid.
async fn use_link(app: &App, token: &str, kind: TokenKind) -> Result<(Tx, MailedLink)> {
    let now = app.clock.now();
    let hash = ids::hash(token);
    let link = tokens::mailed_link(&app.db, &hash, kind, now).await?;
    let link = link.ok_or(Error::InvalidToken)?;
    let mut tx = app.db.begin().await?;
    store::lock_row(&mut tx, link.account_id).await?;
    match tokens::use_mailed_token(&mut tx, &hash, now).await? {
        true => Ok((tx, link)),
        false => Err(Error::InvalidToken),
    }
}
