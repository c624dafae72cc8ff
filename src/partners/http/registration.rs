//! Handler of partner registration.

use axum::extract::State;

use crate::{
    accounts::{self, NewAccount, Origin, Status},
    app::App,
    events::{self, DomainEvent, PartnerRegistered},
    kernel::{
        access::Role,
        caller::Context,
        error::{Error, Result},
        http::{Body, Reply},
    },
    partners::{
        model::{RegisterMitra, Registered},
        store::{self, NewPartner},
    },
};

pub async fn register_mitra(
    State(app): State<App>,
    context: Context,
    Body(form): Body<RegisterMitra>,
) -> Result<Reply<Registered>> {
    let now = app.clock.now();
    let origin = Origin::new(context.address, false);
    app.passwords().strong(&form.password, &form.name, form.email.as_str(), origin).await?;
    let account = NewAccount {
        name: form.name,
        email: form.email,
        phone: Some(form.phone),
        role: Role::Mitra,
        status: Status::Active,
        password_hash: Some(app.passwords().hash(&form.password, origin).await?),
    };
    let mut tx = app.db.begin().await?;
    let account_id = accounts::create(&mut tx, &account, now).await?;
    let partner = NewPartner {
        account_id,
        address: &form.address,
        partner_type: form.partner_type,
        commission_rate: None,
        lang: context.lang,
        invited_by: None,
    };
    let id = store::insert(&mut tx, partner, now).await?;
    let user = accounts::user(&mut tx, account_id).await?.ok_or(Error::NotFound)?;
    let mitra = store::get_in(&mut tx, id).await?;
    accounts::send_verification(&mut tx, account_id, context.lang, now).await?;
    let registered = PartnerRegistered { partner_id: id, invited: false };
    events::emit(&mut tx, DomainEvent::PartnerRegistered(registered), now).await?;
    tx.commit().await?;
    Ok(Reply::data(Registered { user, mitra }).saying(
        "Welcome! Please verify your e-mail address and complete your onboarding.",
        "Selamat datang! Mohon verifikasi alamat e-mail serta lengkapi data dan dokumen.",
    ))
}
