//! Handlers of speedboats that do not affect sailings.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use serde_json::{Value, json};

use super::{
    model::{
        BoatStatus, CatalogSpeedboat, NewSpeedboat, Owner, Photo, PhotoIds, Speedboat,
        SpeedboatRow, SpeedboatsQuery,
    },
    store,
};
use crate::{
    app::App,
    files::{self, Purpose},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        db::Tx,
        error::{Error, Fault, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
        lang::text,
        patch::Patch,
    },
    partners,
};

/// The speedboat of the path, if the caller may see it.
pub struct PathSpeedboat(pub SpeedboatRow);

impl FromRequestParts<App> for PathSpeedboat {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        let caller = Caller::from_request_parts(parts, app).await?;
        Ok(Self(
            store::get(&app.db, caller.partner_filter(None)?, id).await?.ok_or(Error::NotFound)?,
        ))
    }
}

impl aide::OperationInput for PathSpeedboat {}

pub async fn list_speedboats(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<SpeedboatsQuery>,
) -> Result<Page<Speedboat>> {
    let owner = caller.partner_filter(query.mitra_id)?;
    let page = store::list(&app.db, owner, &query).await?;
    Ok(page.each(|row| to_response(&app, row)))
}

/// Speedboats of one partner: the caller, or the one named by admins and staff.
pub async fn list_own_speedboats(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<SpeedboatsQuery>,
) -> Result<Page<Speedboat>> {
    let owner = caller.partner_filter(query.mitra_id)?.ok_or_else(missing_partner)?;
    let page = store::list(&app.db, Some(owner), &query).await?;
    Ok(page.each(|row| to_response(&app, row)))
}

pub async fn get_speedboat(
    State(app): State<App>,
    PathSpeedboat(row): PathSpeedboat,
) -> Reply<Speedboat> {
    Reply::data(to_response(&app, row))
}

pub async fn get_catalog_speedboat(
    State(app): State<App>,
    Path(id): Path<Uuid>,
) -> Result<Reply<CatalogSpeedboat>> {
    let row = store::on_sale(&app.db_of_offers(), id).await?.ok_or(Error::NotFound)?;
    let boat = to_response(&app, row);
    Ok(Reply::data(CatalogSpeedboat {
        id: boat.id,
        mitra: boat.mitra,
        name: boat.name,
        capacity: boat.capacity,
        facilities: boat.facilities,
        description: boat.description,
        photos: boat.photos,
    }))
}

pub async fn create_speedboat(
    State(app): State<App>,
    caller: Caller,
    Body(NewSpeedboat { mitra_id, boat }): Body<NewSpeedboat>,
) -> Result<Reply<Speedboat>> {
    let owner = caller.partner_filter(mitra_id)?.ok_or_else(missing_partner)?;
    if caller.partner().is_err() && !partners::exists(&app.db, owner).await? {
        let message = text("This partner does not exist.", "Mitra ini tidak ada.");
        return Err(Error::field("mitra_id", "unknown", message));
    }
    let photos = photos(&app, &caller, &boat.photo_file_ids, None).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let id = store::insert(&mut tx, owner, boat, photos, now).await?;
    let row = store::get_in(&mut tx, None, id).await?.ok_or(Error::NotFound)?;
    let boat = to_response(&app, row);
    record(&mut tx, "speedboat.created", None, Some(&boat)).await?;
    tx.commit().await?;
    Ok(Reply::data(boat).saying("The speedboat has been created.", "Kapal telah ditambahkan."))
}

fn missing_partner() -> Error {
    let message = text("State the partner.", "Sebutkan mitranya.");
    Error::field("mitra_id", "required", message)
}

/// Validates the photos of an update. New files must belong to the caller; existing ones are kept.
pub async fn photos(
    app: &App,
    caller: &Caller,
    change: &Patch<PhotoIds>,
    before: Option<&Value>,
) -> Result<Patch<Value>> {
    let PhotoIds(ids) = match change {
        Patch::Keep => return Ok(Patch::Keep),
        Patch::Clear => return Ok(Patch::Clear),
        Patch::Set(ids) => ids,
    };
    let known = |id: &str| before.and_then(Value::as_array)?.iter().find(|one| *one == id).cloned();
    let (mut photos, mut faults) = (Vec::new(), Vec::<Fault>::new());
    for (index, id) in ids.iter().enumerate() {
        if let Some(same) = known(id) {
            photos.push(same);
            continue;
        }
        let field = format!("photo_file_ids[{index}]");
        match files::refer(app, caller, &field, id, Purpose::Photo).await {
            Ok(file) => photos.push(json!(file)),
            Err(Error::Invalid(more)) => faults.extend(more),
            Err(other) => return Err(other),
        }
    }
    match faults.is_empty() {
        true => Ok(Patch::Set(Value::Array(photos))),
        false => Err(Error::Invalid(faults)),
    }
}

pub fn to_response(app: &App, row: SpeedboatRow) -> Speedboat {
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let photos = texts(&row.photos).into_iter().filter_map(|id| id.parse().ok());
    Speedboat {
        id: row.id,
        mitra_id: row.partner_id,
        mitra: Owner { id: row.partner_id, name: row.partner_name },
        name: row.name,
        registration_number: row.registration_number,
        capacity: row.capacity,
        year_built: row.year_built,
        manufacturer: row.manufacturer,
        engine: row.engine,
        facilities: texts(&row.facilities),
        description: row.description,
        photos: photos.map(|id| Photo { file_id: id, url: files::public_url(app, id) }).collect(),
        status: row.status,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

pub async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Speedboat>,
    after: Option<&Speedboat>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "speedboat",
        id: before.or(after).map(|boat| boat.id).unwrap_or_default(),
        before: before.map(|boat| boat as _),
        after: after.map(|boat| boat as _),
    })
    .await
}

/// A boat of the partner that a sailing can get, named by a field of the request. 422 unless it is in
/// service. The caller has locked its row.
pub async fn boat_in_service(
    tx: &mut Tx,
    owner: Uuid,
    id: Uuid,
    field: &'static str,
) -> Result<SpeedboatRow> {
    let boat = store::get_in(tx, Some(owner), id).await?.ok_or_else(|| {
        let message = text("This speedboat does not exist.", "Kapal ini tidak ada.");
        Error::field(field, "unknown", message)
    })?;
    match boat.status {
        BoatStatus::Active => Ok(boat),
        BoatStatus::Maintenance | BoatStatus::Inactive => {
            let message = text("The boat is not in service.", "Kapal sedang tidak beroperasi.");
            Err(Error::field(field, "not_active", message))
        }
    }
}
