//! What accounts say by mail. Tokens are made when the letter is: they never rest in the outbox.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{
    model::Credentials,
    store,
    tokens::{self, TokenKind},
};
use crate::{
    app::App,
    kernel::{
        email::Email,
        error::{Error, Result},
        ids::Uuid,
        lang::{Lang, Text, text},
        mail::Letter,
        outbox::Item,
    },
};

/// Somebody asked for a reset. Whether there is such an account is nobody's business until here.
#[derive(Serialize, Deserialize)]
pub struct Forgotten {
    pub email: Email,
    pub lang: Lang,
}

#[derive(Serialize, Deserialize)]
pub struct Invited {
    pub account_id: Uuid,
    pub lang: Lang,
}

#[derive(Serialize, Deserialize)]
pub struct PasswordChanged {
    pub account_id: Uuid,
    pub lang: Lang,
}

pub async fn deliver(app: &App, item: &Item) -> Result<()> {
    match item.topic.as_str() {
        "account.password_forgotten" => {
            let Forgotten { email, lang } = item.read()?;
            let account = store::credentials(&app.db, &email).await?;
            let Some(account) = account else { return Ok(()) };
            let link = link(app, &account, TokenKind::Reset, TimeDelta::minutes(30)).await?;
            send(
                app,
                item,
                &account,
                lang,
                reset(),
                Some((text("Choose a password", "Pilih kata sandi"), link)),
            )
            .await
        }
        "account.invited" => {
            let Invited { account_id, lang } = item.read()?;
            let account = store::credentials_of(&app.db, account_id).await?;
            let Some(account) = account else { return Ok(()) };
            let link = link(app, &account, TokenKind::Invitation, TimeDelta::hours(72)).await?;
            send(
                app,
                item,
                &account,
                lang,
                invitation(),
                Some((text("Choose a password", "Pilih kata sandi"), link)),
            )
            .await
        }
        "account.password_changed" => {
            let PasswordChanged { account_id, lang } = item.read()?;
            let account = store::credentials_of(&app.db, account_id).await?;
            let Some(account) = account else { return Ok(()) };
            send(app, item, &account, lang, changed(), None).await
        }
        other => Err(Error::internal(format!("accounts have no letter for {other}"))),
    }
}

async fn link(
    app: &App,
    account: &Credentials,
    kind: TokenKind,
    life: TimeDelta,
) -> Result<String> {
    let mut tx = app.db.begin().await?;
    let token = tokens::mailed_token(&mut tx, account.id, kind, app.clock.now() + life).await?;
    tx.commit().await?;
    Ok(format!("{}/reset-password?token={}", app.config.app_url(), token.reveal()))
}

async fn send(
    app: &App,
    item: &Item,
    account: &Credentials,
    lang: Lang,
    (subject, paragraphs): (Text, Vec<Text>),
    action: Option<(Text, String)>,
) -> Result<()> {
    let to = account.email.parse().map_err(Error::internal)?;
    let name = account.name.clone();
    app.mailer.send(item.id, &Letter { to, name, lang, subject, paragraphs, action }).await
}

fn reset() -> (Text, Vec<Text>) {
    (
        text("Choose a new password", "Pilih kata sandi baru"),
        vec![
            text(
                "You, or somebody who knows your e-mail address, asked for a new password.",
                "Anda, atau seseorang yang mengetahui alamat e-mail Anda, meminta kata sandi baru.",
            ),
            text(
                "The link below works once, within 30 minutes. If it was not you, do nothing: your password stays as it is.",
                "Tautan di bawah ini berlaku satu kali dalam 30 menit. Jika bukan Anda, abaikan saja: kata sandi Anda tetap sama.",
            ),
        ],
    )
}

fn invitation() -> (Text, Vec<Text>) {
    (
        text("Welcome to Dermaga", "Selamat datang di Dermaga"),
        vec![
            text(
                "An account was made for you. Choose a password to sign in.",
                "Sebuah akun telah dibuat untuk Anda. Pilih kata sandi untuk masuk.",
            ),
            text(
                "The link below works once, within 72 hours.",
                "Tautan di bawah ini berlaku satu kali dalam 72 jam.",
            ),
        ],
    )
}

fn changed() -> (Text, Vec<Text>) {
    (
        text("Your password was changed", "Kata sandi Anda telah diubah"),
        vec![
            text(
                "The password of your account has just been changed, and other sessions were ended.",
                "Kata sandi akun Anda baru saja diubah, dan sesi lain telah diakhiri.",
            ),
            text(
                "If it was not you, ask for a new password at once and tell us.",
                "Jika bukan Anda, segera minta kata sandi baru dan hubungi kami.",
            ),
        ],
    )
}
