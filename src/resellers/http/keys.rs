//! Handlers of API keys.

use axum::extract::State;

use super::{PathReseller, find};
use crate::{
    app::App,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Page, Path, Query, Reply, once},
        idempotency::{Key, Running},
        ids::Uuid,
        lang::text,
    },
    resellers::{
        keys::{self, LIMIT, NewResellerKey, ResellerKey, ResellerKeyForm, ResellerKeysQuery},
        store,
    },
};

/// Revoked and expired keys stay in the list.
pub async fn list_reseller_keys(
    State(app): State<App>,
    PathReseller(reseller): PathReseller,
    Query(query): Query<ResellerKeysQuery>,
) -> Result<Page<ResellerKey>> {
    keys::list(&app.db, reseller.id, &query).await
}

pub async fn create_reseller_key(
    State(app): State<App>,
    caller: Caller,
    PathReseller(reseller): PathReseller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<ResellerKeyForm>,
) -> Result<Reply<Once<NewResellerKey>>> {
    let path = format!("/v1/resellers/{}/keys", reseller.id);
    let key = Key::of_account(&caller, key, "create_reseller_key", path, body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        create(&app, &caller, reseller.id, &form, running).await
    });
    Ok(made.await?.saying(
        "The key has been created. Store it: it is not shown again.",
        "Kunci dibuat. Simpan kuncinya: tidak ditampilkan lagi.",
    ))
}

async fn create(
    app: &App,
    caller: &Caller,
    reseller: Uuid,
    form: &ResellerKeyForm,
    running: Option<&Running>,
) -> Result<NewResellerKey> {
    let now = app.clock.now();
    if form.expires_at.is_some_and(|at| at <= now) {
        let message = text("This must be in the future.", "Harus di masa depan.");
        return Err(Error::field("expires_at", "min", message));
    }
    let mut tx = caller.begin(&app.db, now).await?;
    // Serialises new keys, for the count, with each other and with changes of grants.
    store::lock_row(&mut tx, reseller, now).await?;
    if let Some(partner) = form.mitra_id
        && !keys::is_granted(&mut tx, reseller, partner).await?
    {
        let message = text(
            "This partner is not granted to the reseller.",
            "Mitra ini tidak diberikan kepada agen penjual.",
        );
        return Err(Error::field("mitra_id", "not_granted", message));
    }
    if keys::count_live(&mut tx, reseller, now).await? >= LIMIT {
        return Err(Error::conflict(
            "quota_exceeded",
            "A reseller can have at most 10 keys in use.",
            "Agen penjual paling banyak memiliki 10 kunci yang berlaku.",
        ));
    }
    let key = keys::fresh();
    let id = keys::insert(&mut tx, reseller, form, &key, now).await?;
    let made = keys::get_in(&mut tx, reseller, id).await?.ok_or(Error::NotFound)?;
    record(&mut tx, "reseller_key.created", None, &made).await?;
    let made = NewResellerKey { record: made, key };
    if let Some(running) = running {
        running.keep_sealed(&mut tx, &app.sealer, &made).await?;
    }
    tx.commit().await?;
    Ok(made)
}

/// Acts at once: every request of the OCTO API reads its key.
pub async fn revoke_reseller_key(
    State(app): State<App>,
    caller: Caller,
    Path((reseller, id)): Path<(Uuid, Uuid)>,
) -> Result<Reply<ResellerKey>> {
    let reseller = find(&app, &caller, reseller).await?.id;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = keys::get_in(&mut tx, reseller, id).await?.ok_or(Error::NotFound)?;
    if !keys::revoke(&mut tx, id, now).await? {
        return Err(Error::invalid_state(
            "This key is revoked already.",
            "Kunci ini sudah dicabut.",
        ));
    }
    let after = keys::get_in(&mut tx, reseller, id).await?.ok_or(Error::NotFound)?;
    record(&mut tx, "reseller_key.revoked", Some(&before), &after).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("The key has been revoked.", "Kunci telah dicabut."))
}

/// Neither the key nor its hash is part of the record.
async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&ResellerKey>,
    after: &ResellerKey,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "reseller_key",
        id: after.id,
        before: before.map(|key| key as _),
        after: Some(after),
    })
    .await
}
