//! What customers see of a partner: its public page.

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    fleet::{self, Photo},
    kernel::{
        db::{Db, Sort},
        error::{Error, Result},
        http::{Page, Pages, Path, Query, Reply},
        ids::Uuid,
        schema::Input,
    },
    sailings,
};

/// The most boats of a page.
const MOST_BOATS: i64 = 50;

/// A partner in the list of those that can be booked.
#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct CatalogEntry {
    pub id: Uuid,
    /// The partner's public page is `/p/{slug}`.
    pub slug: String,
    pub name: String,
}

/// A partner as customers see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogPartner {
    #[serde(flatten)]
    pub partner: CatalogEntry,
    pub description: Option<String>,
    pub city: Option<String>,
    pub province: Option<String>,
    /// Between which harbours it sails, while sailings are published.
    pub lines: Vec<CatalogLine>,
    /// Its boats in service, at most 50.
    pub speedboats: Vec<CatalogBoat>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogLine {
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogBoat {
    pub id: Uuid,
    pub name: String,
    pub capacity: i32,
    pub facilities: Vec<String>,
    pub description: Option<String>,
    pub photos: Vec<Photo>,
}

#[derive(Deserialize, JsonSchema)]
pub struct CatalogQuery {
    #[serde(flatten)]
    pub paging: Pages,
}

impl Input for CatalogQuery {}

pub async fn list_catalog_partners(
    State(app): State<App>,
    Query(query): Query<CatalogQuery>,
) -> Result<Page<CatalogEntry>> {
    let by_slug = Sort { column: "p.slug", descending: false };
    let db = app.db_of_offers();
    let list = db
        .list(
            "SELECT p.id, p.slug, a.name
             FROM partners p JOIN accounts a ON a.id = p.account_id",
        )
        .found_in("SELECT p.id FROM partners p")
        .only("p.slug IS NOT NULL")
        .only("p.status <> 'suspended'");
    let paging = &query.paging;
    Ok(paging.page(list.page(by_slug, "p.id", paging.limit(), paging.offset()).await?))
}

pub async fn get_catalog_partner(
    State(app): State<App>,
    Path(slug): Path<String>,
) -> Result<Reply<CatalogPartner>> {
    if !slug.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::NotFound);
    }
    // Links from sailings have its id.
    let db = app.db_of_offers();
    let about = about(&db, slug).await?.ok_or(Error::NotFound)?;
    let lines = sailings::lines_of(&app, &db, about.entry.id).await?;
    let boats = fleet::in_service(&app, &db, about.entry.id, MOST_BOATS).await?;
    let boats = boats.into_iter().map(|boat| CatalogBoat {
        id: boat.id,
        name: boat.name,
        capacity: boat.capacity,
        facilities: boat.facilities,
        description: boat.description,
        photos: boat.photos,
    });
    Ok(Reply::data(CatalogPartner {
        partner: about.entry,
        description: about.description,
        city: about.city,
        province: about.province,
        lines: lines.into_iter().map(|(from, to)| CatalogLine { from, to }).collect(),
        speedboats: boats.collect(),
    }))
}

#[derive(crate::kernel::db::FromRow)]
struct About {
    #[row(flatten)]
    entry: CatalogEntry,
    description: Option<String>,
    city: Option<String>,
    province: Option<String>,
}

async fn about(db: &Db, slug: String) -> Result<Option<About>> {
    let about = db
        .sql(
            "SELECT p.id, p.slug, a.name, o.description, o.city, o.province
             FROM partners p JOIN accounts a ON a.id = p.account_id
             LEFT JOIN onboardings o ON o.partner_id = p.id
             WHERE (p.slug = $2 OR p.id = $1) AND p.status <> 'suspended' AND p.verified_at IS NOT NULL",
        )
        .bind(slug.parse::<Uuid>().ok())
        .bind(slug)
        .maybe()
        .await?;
    Ok(about)
}
