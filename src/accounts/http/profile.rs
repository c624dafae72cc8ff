//! One's own profile.

use axum::extract::State;

use crate::{
    accounts::{
        model::{Profile, UpdateProfile},
        store, tokens,
    },
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Body, Reply},
        lang::text,
    },
};

pub async fn get_profile(State(app): State<App>, caller: Caller) -> Result<Reply<Profile>> {
    Ok(Reply::data(store::profile(&app.db, &caller).await?))
}

pub async fn update_profile(
    State(app): State<App>,
    caller: Caller,
    Body(profile): Body<UpdateProfile>,
) -> Result<Reply<Profile>> {
    if caller.person.email != profile.email.as_str() {
        caller.in_person()?;
    }
    let id = caller.person.id;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::hold(&mut tx, id).await?;
    if !tokens::session_exists(&mut tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let before = store::user_in(&mut tx, id).await?.ok_or(Error::Unauthenticated)?;
    // One's present avatar may stay; there are no other files to choose from yet.
    let avatar = before.avatar_file_id.filter(|file| profile.avatar_file_id == file.to_string());
    if !profile.avatar_file_id.is_empty() && avatar.is_none() {
        let message = text("There is no such file.", "Berkas ini tidak ada.");
        return Err(Error::field("avatar_file_id", "unknown", message));
    }
    store::update_profile(&mut tx, id, &profile, avatar, now).await?;
    if before.email != profile.email.as_str() {
        // A link in the old mailbox must not open the account any more.
        tokens::void_mailed(&mut tx, id).await?;
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
    tx.commit().await?;
    let profile = store::profile(&app.db, &caller).await?;
    Ok(Reply::data(profile).saying("The profile is saved.", "Profil tersimpan."))
}
