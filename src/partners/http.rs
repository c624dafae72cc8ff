//! Handlers of partners.

use axum::extract::State;
use serde_json::json;

use super::{
    model::{RegisterMitra, Registered},
    store,
};
use crate::{
    accounts::{self, NewAccount, Status},
    app::App,
    kernel::{
        access::Role,
        error::{Error, Result},
        http::{Body, Reply},
        outbox,
    },
};

pub async fn register_mitra(
    State(app): State<App>,
    Body(form): Body<RegisterMitra>,
) -> Result<Reply<Registered>> {
    let now = app.clock.now();
    app.passwords.strong(&form.password, &form.name, form.email.as_str()).await?;
    let account = NewAccount {
        name: form.name,
        email: form.email,
        phone: Some(form.phone),
        role: Role::Mitra,
        status: Status::Active,
        password_hash: Some(app.passwords.hash(&form.password).await?),
    };
    let mut tx = app.db.begin().await?;
    let user_id = accounts::create(&mut tx, &account, now).await?;
    let id = store::insert(&mut tx, user_id, &form.address, form.partner_type, now).await?;
    let user = accounts::user(&mut tx, user_id).await?.ok_or(Error::NotFound)?;
    let mitra = store::partner(&mut tx, id).await?;
    outbox::put(&mut tx, "partner.registered", &json!({ "partner_id": id }), now).await?;
    tx.commit().await?;
    Ok(Reply::data(Registered { user, mitra })
        .saying("Welcome! Please complete your papers.", "Selamat datang! Mohon lengkapi dokumen."))
}
