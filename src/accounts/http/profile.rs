//! Handlers of the caller's profile.

use axum::extract::State;

use super::proof;
use crate::{
    accounts::{
        email_change::{self, Request},
        model::{Profile, UpdateProfile},
        store, tokens,
    },
    app::App,
    files::{self, Purpose},
    kernel::{
        access::Role,
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        lang::text,
    },
};

pub async fn get_profile(State(app): State<App>, caller: Caller) -> Result<Reply<Profile>> {
    Ok(Reply::data(profile_of(&app, &caller).await?))
}

async fn profile_of(app: &App, caller: &Caller) -> Result<Profile> {
    let profile = store::profile(&app.db, caller).await?;
    Ok(Profile { user: profile.user.to_response(app), ..profile })
}

/// Another e-mail address needs the password, and acts when it is confirmed. The current address
/// keeps a pending change: forms send it with every other change.
pub async fn update_profile(
    State(app): State<App>,
    caller: Caller,
    Body(profile): Body<UpdateProfile>,
) -> Result<Reply<Profile>> {
    let changes_email = caller.person.email != profile.email.as_str();
    if changes_email {
        verify_password(&app, &caller, &profile).await?;
    }
    let id = caller.person.id;
    let avatar = match profile.avatar_file_id.as_str() {
        "" => None,
        file => Some(files::refer(&app, &caller, "avatar_file_id", file, Purpose::Avatar).await?),
    };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_row(&mut tx, id).await?;
    // A changed address or password has ended the session.
    if !tokens::session_exists(&mut tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let before = store::user_in(&mut tx, id).await?.ok_or(Error::Unauthenticated)?;
    store::update_profile(&mut tx, id, &profile, avatar, now).await?;
    if changes_email {
        let account = store::credentials_in(&mut tx, id).await?.ok_or(Error::Unauthenticated)?;
        let session_id = Some(caller.session_id);
        let request = Request { requested_by: id, session_id, lang: caller.context.lang };
        email_change::request(&mut tx, &account, &profile.email, request, now).await?;
    }
    let after = store::user_in(&mut tx, id).await?.ok_or(Error::Unauthenticated)?;
    tx.record(Change {
        action: "account.updated",
        entity: "account",
        id,
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    // Offers show the names of partners.
    let renamed = caller.role == Role::Mitra && before.name != after.name;
    let invalidation = renamed.then(|| app.response_cache.invalidate_all_on_drop());
    tx.commit().await?;
    drop(invalidation);
    let profile = profile_of(&app, &caller).await?;
    Ok(Reply::data(profile).saying("The profile has been saved.", "Profil tersimpan."))
}

/// Only the account's holder may change the address: not an impersonator, and not whoever holds a
/// session without knowing the password.
async fn verify_password(app: &App, caller: &Caller, profile: &UpdateProfile) -> Result<()> {
    caller.refuse_impersonation()?;
    let password = profile.current_password.as_deref().filter(|password| !password.is_empty());
    let password = password.ok_or_else(|| {
        let message = text(
            "Your password is required to change the e-mail address.",
            "Kata sandi Anda wajib diisi untuk mengubah alamat e-mail.",
        );
        Error::field("current_password", "required", message)
    })?;
    let now = app.clock.now();
    let proof = proof::password(app, caller, "current_password", password, now).await?;
    proof.attempt.withdraw(&app.db).await
}
