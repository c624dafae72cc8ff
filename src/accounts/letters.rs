//! Mails about accounts. Tokens are generated with the mail and never stored in the outbox.

use super::{
    email_change::{self, Change},
    model::Credentials,
    store,
    tokens::{self, MailedToken, TokenKind},
};
use crate::{
    app::App,
    events::{AccountLetter, AccountRef, EmailChangeRef, EmailChanged, PasswordForgotten},
    kernel::{
        db::Tx,
        email::Email,
        error::{Error, Result},
        ids::{Token, Uuid},
        lang::{Lang, Text, text},
        mail::Letter,
        outbox::Item,
    },
};

type Words = (Text, Vec<Text>);

pub async fn send_letter(app: &App, item: &Item, letter: AccountLetter) -> Result<()> {
    let (account, lang, kind) = match letter {
        AccountLetter::PasswordForgotten(PasswordForgotten { email, lang }) => {
            (store::credentials(&app.db, &email).await?, lang, Some(TokenKind::Reset))
        }
        AccountLetter::Invited(AccountRef { account_id, lang }) => {
            let account = store::credentials_of(&app.db, account_id).await?;
            (account, lang, Some(TokenKind::Invitation))
        }
        AccountLetter::EmailVerification(AccountRef { account_id, lang }) => {
            let account = store::credentials_of(&app.db, account_id).await?;
            (account, lang, Some(TokenKind::Verification))
        }
        AccountLetter::PasswordChanged(AccountRef { account_id, lang }) => {
            (store::credentials_of(&app.db, account_id).await?, lang, None)
        }
        AccountLetter::EmailConfirmation(change) => {
            return send_about_change(app, item, &change, TokenKind::EmailConfirmation).await;
        }
        AccountLetter::EmailChangeRequested(change) => {
            return send_about_change(app, item, &change, TokenKind::EmailCancellation).await;
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
    let Some(link) = account_link(app, item, &account, kind).await? else { return Ok(()) };
    let (words, label) = match kind {
        TokenKind::Verification => (verification(), text("Verify address", "Verifikasi alamat")),
        TokenKind::Invitation => (invitation(), text("Choose a password", "Pilih kata sandi")),
        _ => (reset(), text("Choose a password", "Pilih kata sandi")),
    };
    send(app, item, &account, lang, words, Some((label, link))).await
}

async fn send_notice(
    app: &App,
    item: &Item,
    account: Option<Credentials>,
    lang: Lang,
    words: Words,
) -> Result<()> {
    match account {
        Some(account) => send(app, item, &account, lang, words, None).await,
        None => Ok(()),
    }
}

/// The link of a mail to the address of the account. `None` if nothing is to be sent: the link has
/// expired or is no longer needed, a newer invitation exists, or the hourly limit is reached.
async fn account_link(
    app: &App,
    item: &Item,
    account: &Credentials,
    kind: TokenKind,
) -> Result<Option<String>> {
    let mut tx = app.db.begin().await?;
    store::lock_row(&mut tx, account.id).await?;
    // The address was read before the lock; a link must not be sent to an old address.
    let current = store::credentials_in(&mut tx, account.id).await?;
    if current.is_none_or(|current| current.email != account.email) {
        return Ok(None);
    }
    if kind == TokenKind::Verification && store::is_email_verified(&mut tx, account.id).await? {
        return Ok(None);
    }
    let link = store_link(app, &mut tx, item, account.id, kind, None).await?;
    tx.commit().await?;
    Ok(link)
}

/// Sends the confirmation of a change to the new address, or the notice to the old one. A change that
/// was cancelled in the meantime has no letters, and a confirmed one needs no confirmation.
async fn send_about_change(
    app: &App,
    item: &Item,
    EmailChangeRef { change_id, lang }: &EmailChangeRef,
    kind: TokenKind,
) -> Result<()> {
    let (change_id, lang) = (*change_id, *lang);
    let Some(account_id) = email_change::account_of(&app.db, change_id).await? else {
        return Ok(());
    };
    let mut tx = app.db.begin().await?;
    store::lock_row(&mut tx, account_id).await?;
    let account = store::credentials_in(&mut tx, account_id).await?;
    let change = email_change::get(&mut tx, change_id).await?;
    let (Some(account), Some(change)) = (account, change) else { return Ok(()) };
    let Some(letter) = change_letter(&account, &change, kind, lang)? else { return Ok(()) };
    let link = store_link(app, &mut tx, item, account_id, kind, Some(change_id)).await?;
    tx.commit().await?;
    let Some(link) = link else { return Ok(()) };
    let label = match kind {
        TokenKind::EmailConfirmation => text("Confirm address", "Konfirmasi alamat"),
        _ => text("Cancel the change", "Batalkan perubahan"),
    };
    app.mailer.send(item.id, &Letter { action: Some((label, link)), ..letter }).await
}

/// `None` if the addressee is no longer to be told.
fn change_letter(
    account: &Credentials,
    change: &Change,
    kind: TokenKind,
    lang: Lang,
) -> Result<Option<Letter>> {
    let parsed = |email: &Option<String>| -> Result<Option<Email>> {
        email.as_deref().map(str::parse).transpose().map_err(Error::internal)
    };
    let (old, new) = (parsed(&change.old_email)?, parsed(&change.new_email)?);
    Ok(match (kind, old, new) {
        (TokenKind::EmailConfirmation, _, Some(new)) => {
            let (subject, paragraphs) = confirmation(change.is_own());
            // The address may be mistyped, so the letter does not name the account's holder.
            let name = new.as_str().to_owned();
            Some(Letter::new(new, name, lang, subject, paragraphs))
        }
        (TokenKind::EmailCancellation, Some(old), new) => {
            let (subject, paragraphs) = requested(change.is_own(), new.as_ref());
            Some(Letter::new(old, account.name.clone(), lang, subject, paragraphs))
        }
        _ => None,
    })
}

/// Stores the token of a mail and returns its link, valid from the time of the request. A mail that
/// is sent twice contains the same link. `None` if the mail must not be sent.
async fn store_link(
    app: &App,
    tx: &mut Tx,
    item: &Item,
    account_id: Uuid,
    kind: TokenKind,
    email_change_id: Option<Uuid>,
) -> Result<Option<String>> {
    let now = app.clock.now();
    if item.created_at + kind.lifetime() <= now {
        return Ok(None);
    }
    let token = Token::of(item.id, &app.secret_key);
    let (item_id, asked_at) = (item.id, item.created_at);
    let mailed =
        MailedToken { account_id, kind, email_change_id, token: &token, item_id, asked_at };
    let page = match kind {
        TokenKind::Reset | TokenKind::Invitation => "reset-password",
        TokenKind::Verification => "verify-email",
        TokenKind::EmailConfirmation => "confirm-email",
        TokenKind::EmailCancellation => "cancel-email-change",
    };
    let stored = tokens::store_mailed(tx, &mailed, now).await?;
    Ok(stored.then(|| format!("{}/{page}?token={}", app.config.app_url(), token.reveal())))
}

async fn send(
    app: &App,
    item: &Item,
    account: &Credentials,
    lang: Lang,
    (subject, paragraphs): Words,
    action: Option<(Text, String)>,
) -> Result<()> {
    let to = account.email.parse().map_err(Error::internal)?;
    let name = account.name.clone();
    app.mailer
        .send(item.id, &Letter { action, ..Letter::new(to, name, lang, subject, paragraphs) })
        .await
}

fn reset() -> Words {
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

fn invitation() -> Words {
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

fn verification() -> Words {
    (
        text("Verify your e-mail address", "Verifikasi alamat e-mail Anda"),
        vec![
            text(
                "You registered at Dermaga with this address. Verify it, so that you can submit \
                 your documents.",
                "Anda mendaftar di Dermaga dengan alamat ini. Verifikasi alamat ini agar Anda \
                 dapat mengajukan dokumen.",
            ),
            text(
                "The link below works once, within 7 days. If it was not you, ignore this mail: \
                 an account whose address is not verified is deleted after 7 days.",
                "Tautan di bawah ini berlaku satu kali dalam 7 hari. Jika bukan Anda, abaikan \
                 saja: akun yang alamatnya tidak diverifikasi dihapus setelah 7 hari.",
            ),
        ],
    )
}

fn confirmation(is_own: bool) -> Words {
    let requested = match is_own {
        true => text(
            "You asked to use this e-mail address for your account at Dermaga.",
            "Anda meminta agar alamat e-mail ini digunakan untuk akun Anda di Dermaga.",
        ),
        false => text(
            "An administrator of Dermaga asked to use this e-mail address for your account.",
            "Administrator Dermaga meminta agar alamat e-mail ini digunakan untuk akun Anda.",
        ),
    };
    (
        text("Confirm your new e-mail address", "Konfirmasi alamat e-mail baru Anda"),
        vec![
            requested,
            text(
                "The link below works once, within 72 hours. All sessions end when it is used. If \
                 you do not expect this mail, ignore it: nothing changes.",
                "Tautan di bawah ini berlaku satu kali dalam 72 jam. Semua sesi berakhir setelah \
                 tautan digunakan. Jika Anda tidak mengharapkan surat ini, abaikan saja: tidak \
                 ada yang berubah.",
            ),
        ],
    )
}

/// `new` is `None` if the change is confirmed already.
fn requested(is_own: bool, new: Option<&Email>) -> Words {
    let to = |word: &str| new.map(|new| format!(" {word} {}", new.masked())).unwrap_or_default();
    let (en, id) = (to("to"), to("menjadi"));
    let requested = match is_own {
        true => Text::new(
            format!("You asked to change the e-mail address of your account{en}."),
            format!("Anda meminta agar alamat e-mail akun Anda diubah{id}."),
        ),
        false => Text::new(
            format!(
                "An administrator of Dermaga asked to change the e-mail address of your \
                 account{en}."
            ),
            format!("Administrator Dermaga meminta agar alamat e-mail akun Anda diubah{id}."),
        ),
    };
    (
        text("Your e-mail address is to be changed", "Alamat e-mail Anda akan diubah"),
        vec![
            requested,
            text(
                "The new address is used once it is confirmed. If you agree, there is nothing to \
                 do.",
                "Alamat baru digunakan setelah dikonfirmasi. Jika Anda setuju, Anda tidak perlu \
                 melakukan apa pun.",
            ),
            text(
                "If you do not agree, use the link below within 7 days. It cancels the change, \
                 even if the new address has been confirmed, and ends all sessions. Then choose a \
                 new password.",
                "Jika Anda tidak setuju, gunakan tautan di bawah ini dalam 7 hari. Perubahan \
                 dibatalkan, juga jika alamat baru sudah dikonfirmasi, dan semua sesi diakhiri. \
                 Setelah itu pilih kata sandi baru.",
            ),
        ],
    )
}

fn moved() -> Words {
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
                "If you do not agree, use the link in our earlier mail: it restores this address \
                 within 7 days of the request.",
                "Jika Anda tidak setuju, gunakan tautan di surat kami sebelumnya: alamat ini \
                 dipulihkan dalam 7 hari sejak permintaan.",
            ),
        ],
    )
}

fn enrolled() -> Words {
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

fn removed() -> Words {
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

fn changed() -> Words {
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
