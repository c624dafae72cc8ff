//! Mails about accounts. Tokens are generated with the mail and never stored in the outbox.

use super::{
    model::Credentials,
    store,
    tokens::{self, MailedToken, TokenKind},
};
use crate::{
    app::App,
    events::{AccountLetter, AccountRef, EmailChanged, PasswordForgotten},
    kernel::{
        error::{Error, Result},
        ids::Token,
        lang::{Lang, Text, text},
        mail::Letter,
        outbox::Item,
    },
};

pub async fn send_letter(app: &App, item: &Item, letter: AccountLetter) -> Result<()> {
    let (account, lang, kind) = match letter {
        AccountLetter::PasswordForgotten(PasswordForgotten { email, lang }) => {
            (store::credentials(&app.db, &email).await?, lang, Some(TokenKind::Reset))
        }
        AccountLetter::Invited(AccountRef { account_id, lang }) => {
            let account = store::credentials_of(&app.db, account_id).await?;
            (account, lang, Some(TokenKind::Invitation))
        }
        AccountLetter::PasswordChanged(AccountRef { account_id, lang }) => {
            (store::credentials_of(&app.db, account_id).await?, lang, None)
        }
        AccountLetter::SecondFactorEnrolled(AccountRef { account_id, lang }) => {
            let account = store::credentials_of(&app.db, account_id).await?;
            return send_notice(app, item, account, lang, enrolled()).await;
        }
        AccountLetter::SecondFactorRemoved(AccountRef { account_id, lang }) => {
            let account = store::credentials_of(&app.db, account_id).await?;
            return send_notice(app, item, account, lang, removed()).await;
        }
        AccountLetter::EmailChanged(EmailChanged { name, email: to, lang }) => {
            let (subject, paragraphs) = moved();
            let letter = Letter::new(to, name, lang, subject, paragraphs);
            return app.mailer.send(item.id, &letter).await;
        }
    };
    let Some(account) = account else { return Ok(()) };
    let Some(kind) = kind else {
        return send(app, item, &account, lang, changed(), None).await;
    };
    let Some(link) = link(app, item, &account, kind).await? else { return Ok(()) };
    let words = if kind == TokenKind::Reset { reset() } else { invitation() };
    let action = (text("Choose a password", "Pilih kata sandi"), link);
    send(app, item, &account, lang, words, Some(action)).await
}

async fn send_notice(
    app: &App,
    item: &Item,
    account: Option<Credentials>,
    lang: Lang,
    words: (Text, Vec<Text>),
) -> Result<()> {
    match account {
        Some(account) => send(app, item, &account, lang, words, None).await,
        None => Ok(()),
    }
}

/// A mail that is sent twice contains the same link, valid from the time of the request. `None` if
/// nothing is to be sent: the link has expired, a newer invitation exists, or the hourly limit of
/// reset mails is reached.
async fn link(
    app: &App,
    item: &Item,
    account: &Credentials,
    kind: TokenKind,
) -> Result<Option<String>> {
    let now = app.clock.now();
    let life = match kind {
        TokenKind::Reset => tokens::RESET,
        TokenKind::Invitation => tokens::INVITATION,
    };
    if item.created_at + life <= now {
        return Ok(None);
    }
    let token = Token::of(item.id, &app.secret_key);
    let (account_id, item_id, asked_at) = (account.id, item.id, item.created_at);
    let mailed = MailedToken { account_id, token: &token, item_id, asked_at };
    let mut tx = app.db.begin().await?;
    store::lock_row(&mut tx, account_id).await?;
    // The address was read before the lock; a link must not be sent to an old address.
    let current = store::credentials_in(&mut tx, account_id).await?;
    if current.is_none_or(|current| current.email != account.email) {
        return Ok(None);
    }
    let send = match kind {
        TokenKind::Reset => tokens::mail_reset(&mut tx, &mailed, now).await?,
        TokenKind::Invitation => tokens::mail_invitation(&mut tx, &mailed, now).await?,
    };
    tx.commit().await?;
    Ok(send.then(|| format!("{}/reset-password?token={}", app.config.app_url(), token.reveal())))
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
    app.mailer
        .send(item.id, &Letter { action, ..Letter::new(to, name, lang, subject, paragraphs) })
        .await
}

fn reset() -> (Text, Vec<Text>) {
    (
        text("Choose a new password", "Pilih kata sandi baru"),
        vec![
            text(
                "You, or someone who knows your e-mail address, requested a new password.",
                "Anda, atau seseorang yang mengetahui alamat e-mail Anda, meminta kata sandi baru.",
            ),
            text(
                "The link below works once, within 30 minutes. If it was not you, ignore this \
                 mail: your password stays the same.",
                "Tautan di bawah ini berlaku satu kali dalam 30 menit. Jika bukan Anda, abaikan \
                 saja: kata sandi Anda tetap sama.",
            ),
        ],
    )
}

fn invitation() -> (Text, Vec<Text>) {
    (
        text("Welcome to Dermaga", "Selamat datang di Dermaga"),
        vec![
            text(
                "An account has been created for you. Choose a password to sign in.",
                "Sebuah akun telah dibuat untuk Anda. Pilih kata sandi untuk masuk.",
            ),
            text(
                "The link below works once, within 72 hours.",
                "Tautan di bawah ini berlaku satu kali dalam 72 jam.",
            ),
        ],
    )
}

fn moved() -> (Text, Vec<Text>) {
    (
        text("Your e-mail address was changed", "Alamat e-mail Anda telah diubah"),
        vec![
            text(
                "The e-mail address of your account has been changed. You can no longer sign in \
                 with this one.",
                "Alamat e-mail akun Anda telah diubah. Anda tidak dapat lagi masuk dengan alamat \
                 ini.",
            ),
            text(
                "If you did not request this, please contact us immediately.",
                "Jika Anda tidak memintanya, segera hubungi kami.",
            ),
        ],
    )
}

fn enrolled() -> (Text, Vec<Text>) {
    (
        text("Two-factor authentication is on", "Autentikasi dua faktor telah aktif"),
        vec![
            text(
                "From now on, signing in to your account requires a code of your authenticator \
                 app. All other sessions have ended.",
                "Mulai sekarang, masuk ke akun Anda memerlukan kode dari aplikasi autentikator. \
                 Sesi lain telah diakhiri.",
            ),
            text(
                "If it was not you, please contact us immediately.",
                "Jika bukan Anda, segera hubungi kami.",
            ),
        ],
    )
}

fn removed() -> (Text, Vec<Text>) {
    (
        text("Two-factor authentication is off", "Autentikasi dua faktor telah nonaktif"),
        vec![
            text(
                "The second factor of your account has been removed. Your password alone is now \
                 enough to sign in.",
                "Faktor kedua akun Anda telah dihapus. Kini kata sandi saja cukup untuk masuk.",
            ),
            text(
                "If you did not request this, change your password and contact us immediately.",
                "Jika Anda tidak memintanya, ubah kata sandi dan segera hubungi kami.",
            ),
        ],
    )
}

fn changed() -> (Text, Vec<Text>) {
    (
        text("Your password was changed", "Kata sandi Anda telah diubah"),
        vec![
            text(
                "The password of your account has just been changed. All other sessions have \
                 ended.",
                "Kata sandi akun Anda baru saja diubah, dan sesi lain telah diakhiri.",
            ),
            text(
                "If it was not you, request a new password immediately and contact us.",
                "Jika bukan Anda, segera minta kata sandi baru dan hubungi kami.",
            ),
        ],
    )
}
