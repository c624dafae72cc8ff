//! Handlers of the second factor, and of giving the password again.
//!
//! A stolen token cannot enrol or remove a second factor: both need the password, removing needs a
//! code as well. An impersonated session can do none of this.

use axum::extract::State;
use chrono::{DateTime, Utc};

use super::{
    proof::{self, Proof},
    users::PathUser,
};
use crate::{
    accounts::{
        model::{ConfirmTotp, EnrolTotp, Reauthenticate, RecoveryCodes, RemoveTotp, TotpEnrolment},
        second_factor, store, tokens,
        totp::TotpSecret,
    },
    app::App,
    events::{self, AccountLetter, AccountRef},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        ids::Uuid,
        lang::text,
    },
};

/// Makes the sign-in of this session recent.
pub async fn reauthenticate(
    State(app): State<App>,
    caller: Caller,
    Body(given): Body<Reauthenticate>,
) -> Result<Reply> {
    caller.refuse_impersonation()?;
    let code = match (caller.second_factor, given.code()) {
        (true, None) => {
            let message = text("This is required.", "Wajib diisi.");
            return Err(Error::field("code", "required", message));
        }
        (second_factor, code) => code.filter(|_| second_factor),
    };
    let now = app.clock.now();
    let proof = proof::password(&app, &caller, "password", &given.password, now).await?;
    let mut tx = locked(&app, &caller, now).await?;
    if let Some(code) = code {
        proof::code(&app, &mut tx, &caller, code, now).await?;
    }
    if !tokens::mark_authenticated(&mut tx, caller.session_id, now).await? {
        return Err(Error::Unauthenticated);
    }
    proof.attempt.succeeded(&mut tx).await?;
    record(&mut tx, "session.reauthenticated", "session", caller.session_id).await?;
    tx.commit().await?;
    Ok(Reply::done("Your password is confirmed.", "Kata sandi Anda terkonfirmasi."))
}

/// Starts the enrolment: the secret counts once it is confirmed.
pub async fn enrol_totp(
    State(app): State<App>,
    caller: Caller,
    Body(given): Body<EnrolTotp>,
) -> Result<Reply<TotpEnrolment>> {
    caller.refuse_impersonation()?;
    let now = app.clock.now();
    let password = &given.current_password;
    let Proof { attempt, .. } =
        proof::password(&app, &caller, "current_password", password, now).await?;
    let (secret, id) = (TotpSecret::fresh(), caller.person.id);
    let mut tx = locked(&app, &caller, now).await?;
    if !second_factor::begin(&app, &mut tx, id, &secret, now).await? {
        return Err(Error::invalid_state(
            "Two-factor authentication is already on. Remove it first.",
            "Autentikasi dua faktor sudah aktif. Hapus dahulu.",
        ));
    }
    attempt.succeeded(&mut tx).await?;
    record(&mut tx, "second_factor.started", "account", id).await?;
    tx.commit().await?;
    let email = &caller.person.email;
    let enrolment = TotpEnrolment {
        secret: secret.base32(),
        otpauth_url: secret.otpauth_url(email),
        qr_svg: secret.qr_svg(email)?,
    };
    Ok(Reply::data(enrolment).saying(
        "Scan the QR code and confirm with a code of the app.",
        "Pindai kode QR, lalu konfirmasi dengan kode dari aplikasi.",
    ))
}

/// Ends all other sessions and remember tokens: they were opened without the second factor.
pub async fn confirm_totp(
    State(app): State<App>,
    caller: Caller,
    Body(ConfirmTotp { code }): Body<ConfirmTotp>,
) -> Result<Reply<RecoveryCodes>> {
    caller.refuse_impersonation()?;
    let (now, id) = (app.clock.now(), caller.person.id);
    let pending = second_factor::pending(&app, id, now).await?.ok_or_else(nothing_pending)?;
    let attempt = proof::code_attempt(&app, &caller, now).await?;
    let step = pending.step_of(&code, now).ok_or_else(proof::wrong_code)?;
    let mut tx = locked(&app, &caller, now).await?;
    let recovery_codes = second_factor::confirm(&mut tx, id, &pending, step, now).await?;
    let recovery_codes = recovery_codes.ok_or_else(nothing_pending)?;
    tokens::end_all(&mut tx, id, Some(caller.session_id), now).await?;
    attempt.succeeded(&mut tx).await?;
    let enrolled = AccountRef { account_id: id, lang: caller.context.lang };
    events::send(&mut tx, &AccountLetter::SecondFactorEnrolled(enrolled), now).await?;
    record(&mut tx, "second_factor.enrolled", "account", id).await?;
    tx.commit().await?;
    Ok(Reply::data(RecoveryCodes { recovery_codes }).saying(
        "Two-factor authentication is on. Keep the recovery codes in a safe place.",
        "Autentikasi dua faktor aktif. Simpan kode pemulihan di tempat yang aman.",
    ))
}

fn nothing_pending() -> Error {
    Error::invalid_state(
        "There is no second factor to confirm. Start again.",
        "Tidak ada faktor kedua yang perlu dikonfirmasi. Mulai dari awal.",
    )
}

pub async fn remove_totp(
    State(app): State<App>,
    caller: Caller,
    Body(given): Body<RemoveTotp>,
) -> Result<Reply> {
    caller.refuse_impersonation()?;
    if !caller.second_factor {
        return Err(no_second_factor());
    }
    let now = app.clock.now();
    let password = &given.current_password;
    let Proof { attempt, .. } =
        proof::password(&app, &caller, "current_password", password, now).await?;
    let mut tx = locked(&app, &caller, now).await?;
    proof::code(&app, &mut tx, &caller, &given.code, now).await?;
    remove(&mut tx, &caller, caller.person.id, now).await?;
    attempt.succeeded(&mut tx).await?;
    tx.commit().await?;
    Ok(removed())
}

/// For people who have lost their phone and their recovery codes.
pub async fn reset_totp(
    State(app): State<App>,
    caller: Caller,
    PathUser(user): PathUser,
) -> Result<Reply> {
    if user.id == caller.person.id {
        return Err(Error::invalid_state(
            "You cannot reset your own second factor. Remove it with a code.",
            "Anda tidak dapat mereset faktor kedua sendiri. Hapus dengan kode.",
        ));
    }
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_row(&mut tx, user.id).await?;
    remove(&mut tx, &caller, user.id, now).await?;
    tokens::end_all(&mut tx, user.id, None, now).await?;
    tx.commit().await?;
    Ok(removed())
}

/// Removes the second factor and tells its owner.
async fn remove(
    tx: &mut AuditedTx,
    caller: &Caller,
    account_id: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    if !second_factor::remove(tx, account_id).await? {
        return Err(no_second_factor());
    }
    let removed = AccountRef { account_id, lang: caller.context.lang };
    events::send(tx, &AccountLetter::SecondFactorRemoved(removed), now).await?;
    record(tx, "second_factor.removed", "account", account_id).await
}

fn no_second_factor() -> Error {
    Error::invalid_state("There is no second factor.", "Tidak ada faktor kedua.")
}

fn removed() -> Reply {
    Reply::done("The second factor has been removed.", "Faktor kedua telah dihapus.")
}

/// A transaction that holds the account's row, in a session that has not ended.
async fn locked(app: &App, caller: &Caller, now: DateTime<Utc>) -> Result<AuditedTx> {
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_row(&mut tx, caller.person.id).await?;
    match tokens::session_exists(&mut tx, caller.session_id).await? {
        true => Ok(tx),
        false => Err(Error::Unauthenticated),
    }
}

/// Without a before and an after: they would hold secrets.
async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    entity: &'static str,
    id: Uuid,
) -> Result<()> {
    tx.record(Change { action, entity, id, before: None, after: None }).await
}
