//! Handlers of the caller's profile.

use axum::extract::State;

use crate::{
    accounts::{
        self,
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
    },
};

pub async fn get_profile(State(app): State<App>, caller: Caller) -> Result<Reply<Profile>> {
    Ok(Reply::data(profile_of(&app, &caller).await?))
}

async fn profile_of(app: &App, caller: &Caller) -> Result<Profile> {
    let profile = store::profile(&app.db, caller).await?;
    Ok(Profile { user: profile.user.to_response(app), ..profile })
}

pub async fn update_profile(
    State(app): State<App>,
    caller: Caller,
    Body(profile): Body<UpdateProfile>,
) -> Result<Reply<Profile>> {
    if caller.person.email != profile.email.as_str() {
        caller.refuse_impersonation()?;
    }
    let id = caller.person.id;
    let avatar = match profile.avatar_file_id.as_str() {
        "" => None,
        file => Some(files::refer(&app, &caller, "avatar_file_id", file, Purpose::Avatar).await?),
    };
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::lock_row(&mut tx, id).await?;
    if !tokens::session_exists(&mut tx, caller.session_id).await? {
        return Err(Error::Unauthenticated);
    }
    let before = store::user_in(&mut tx, id).await?.ok_or(Error::Unauthenticated)?;
    if before.email != profile.email.as_str() {
        // The address may have changed since the request was authenticated.
        caller.refuse_impersonation()?;
        let lang = caller.context.lang;
        accounts::notify_old_address(&mut tx, &before.name, &before.email, lang, now).await?;
    }
    store::update_profile(&mut tx, id, &profile, avatar, now).await?;
    if before.email != profile.email.as_str() {
        // Links mailed to the old address must no longer work.
        tokens::invalidate_mailed_links(&mut tx, id, now).await?;
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
