//! Handlers of promotions.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use serde_json::json;

use super::{
    model::{
        DiscountRecord, DiscountValue, NewPromotion, Period, Promotion, PromotionForm,
        PromotionRecord, PromotionValues, PromotionsQuery, RunningQuery,
    },
    rules, store,
};
use crate::{
    app::App,
    files::{self, Purpose},
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        error::{Error, Fault, Result},
        http::{Body, Page, Path, Query, Reply},
        ids::Uuid,
        lang::text,
        patch::Patch,
    },
};

/// The promotion of the path.
pub struct PathPromotion(Promotion);

impl FromRequestParts<App> for PathPromotion {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, app).await?;
        Ok(Self(store::get(&app.db, id).await?.ok_or(Error::NotFound)?))
    }
}

impl aide::OperationInput for PathPromotion {}

pub async fn list_promotions(
    State(app): State<App>,
    Query(query): Query<PromotionsQuery>,
) -> Result<Page<PromotionRecord>> {
    let page = store::list(&app.db, &query, app.today()).await?;
    Ok(page.each(|promotion| to_response(&app, promotion)))
}

pub async fn list_running_promotions(
    State(app): State<App>,
    Query(query): Query<RunningQuery>,
) -> Result<Page<PromotionRecord>> {
    let page = store::running(&app.db, &query.paging, app.today()).await?;
    Ok(page.each(|promotion| to_response(&app, promotion)))
}

pub async fn get_promotion(
    State(app): State<App>,
    PathPromotion(promotion): PathPromotion,
) -> Reply<PromotionRecord> {
    Reply::data(to_response(&app, promotion))
}

pub async fn create_promotion(
    State(app): State<App>,
    caller: Caller,
    Body(NewPromotion(form)): Body<NewPromotion>,
) -> Result<Reply<PromotionRecord>> {
    let values = form.over(None)?;
    let image = referred(&app, &caller, &values, None).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let id = store::insert(&mut tx, &values, image, now).await?;
    let made = store::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let made = to_response(&app, made);
    record(&mut tx, "promotion.created", None, Some(&made)).await?;
    tx.commit().await?;
    Ok(Reply::data(made).saying("The promotion has been created.", "Promo dibuat."))
}

pub async fn update_promotion(
    State(app): State<App>,
    caller: Caller,
    PathPromotion(before): PathPromotion,
    Body(form): Body<PromotionForm>,
) -> Result<Reply<PromotionRecord>> {
    let id = before.id;
    let values = form.over(Some(&before))?;
    let image = referred(&app, &caller, &values, before.image_file_id).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    store::update(&mut tx, id, &values, image, now).await?;
    let after = store::get_in(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let (before, after) = (to_response(&app, before), to_response(&app, after));
    record(&mut tx, "promotion.updated", Some(&before), Some(&after)).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn delete_promotion(
    State(app): State<App>,
    caller: Caller,
    PathPromotion(before): PathPromotion,
) -> Result<Reply> {
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    store::delete(&mut tx, before.id).await?;
    record(&mut tx, "promotion.deleted", Some(&to_response(&app, before)), None).await?;
    tx.commit().await?;
    Ok(Reply::done("The promotion has been deleted.", "Promo dihapus."))
}

/// Validates references: all targets must exist, and the image must belong to the caller.
async fn referred(
    app: &App,
    caller: &Caller,
    values: &PromotionValues,
    before: Option<Uuid>,
) -> Result<Option<Uuid>> {
    if let Some(index) = store::unknown_target(&app.db, values).await? {
        let message = text("This target does not exist.", "Sasaran ini tidak ada.");
        let fault = Fault::new(format!("target_ids[{index}]"), "unknown", message);
        return Err(Error::Invalid(vec![fault]));
    }
    let given = match &values.image {
        Patch::Keep => return Ok(before),
        Patch::Clear => "",
        Patch::Set(id) => id.trim(),
    };
    match given {
        "" => Ok(None),
        same if before.is_some_and(|id| id.to_string() == same) => Ok(before),
        id => files::refer(app, caller, "image_file_id", id, Purpose::Content).await.map(Some),
    }
}

fn to_response(app: &App, promotion: Promotion) -> PromotionRecord {
    let state = rules::state(&promotion, app.today());
    let discount = promotion.discount();
    PromotionRecord {
        id: promotion.id,
        title: promotion.title,
        code: promotion.code,
        description: promotion.description,
        quota: promotion.quota,
        used: promotion.used,
        remaining: promotion.quota.map(|quota| quota - promotion.used),
        per_customer_limit: promotion.per_customer_limit,
        target_type: promotion.target_type,
        target_ids: promotion.target_ids,
        status: promotion.status,
        state,
        tnc: promotion.tnc,
        discount: DiscountRecord {
            kind: promotion.discount_type,
            value: match discount.kind {
                DiscountValue::Percentage(rate) => json!(rate),
                DiscountValue::Fixed(amount) => json!(amount),
            },
            max_amount: promotion.max_amount,
            min_purchase: promotion.min_purchase,
        },
        funded_by: promotion.funded_by,
        period: Period { start_date: promotion.start_date, end_date: promotion.end_date },
        image_file_id: promotion.image_file_id,
        image_url: promotion.image_file_id.map(|id| files::public_url(app, id)),
        created_at: promotion.created_at,
    }
}

async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&PromotionRecord>,
    after: Option<&PromotionRecord>,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "promotion",
        id: before.or(after).map(|promotion| promotion.id).unwrap_or_default(),
        before: before.map(|promotion| promotion as _),
        after: after.map(|promotion| promotion as _),
    })
    .await
}
