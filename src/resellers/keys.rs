//! API keys of resellers. The key itself is shown once; its hash is kept.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{model::Scope, networks::Network};
use crate::kernel::{
    db::{Db, Json, Tx},
    error::{Fault, Result},
    http::{Page, Pages},
    ids::{self, Token, Uuid},
    lang::text,
    schema::Input,
    text::Name,
};

/// Maximum number of keys of a reseller that can be used.
pub const LIMIT: i64 = 10;

/// Length of the part by which people recognise a key.
const PREFIX: usize = 12;

#[derive(Clone, Debug, Serialize, JsonSchema, crate::kernel::db::FromRow)]
pub struct ResellerKey {
    pub id: Uuid,
    pub name: String,
    /// The first characters of the key.
    pub prefix: String,
    #[schemars(with = "Vec<Scope>")]
    pub scopes: Json<Vec<Scope>>,
    /// The only partner that it is for; null: all that are granted.
    pub mitra_id: Option<Uuid>,
    /// Networks that it may be used from; empty: all.
    #[schemars(with = "Vec<String>")]
    pub addresses: Json<Vec<String>>,
    pub expires_at: Option<DateTime<Utc>>,
    /// Exact to a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    pub last_used_address: Option<String>,
    pub revoked_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A key with its text, which is returned on creation only.
#[derive(Serialize, JsonSchema)]
pub struct NewResellerKey {
    #[serde(flatten)]
    pub record: ResellerKey,
    /// The key. Not shown again.
    pub key: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct ResellerKeyForm {
    pub name: Name,
    #[schemars(length(min = 1, max = 3), extend("uniqueItems" = true))]
    pub scopes: Vec<Scope>,
    /// The only partner that it is for. Left out or null: all that are granted.
    pub mitra_id: Option<Uuid>,
    /// Addresses, or networks in CIDR notation, that it may be used from. Left out, null or empty:
    /// all.
    #[schemars(length(max = 20), inner(length(max = 50)))]
    pub addresses: Option<Vec<String>>,
    /// In the future. Left out or null: never.
    pub expires_at: Option<DateTime<Utc>>,
}

impl ResellerKeyForm {
    /// The networks, each written in one way and once.
    fn networks(&self) -> Vec<Network> {
        let texts = self.addresses.as_deref().unwrap_or_default();
        let mut networks = Vec::new();
        for network in texts.iter().filter_map(|text| text.parse().ok()) {
            if !networks.contains(&network) {
                networks.push(network);
            }
        }
        networks
    }
}

impl Input for ResellerKeyForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        for (at, network) in value["addresses"].as_array().into_iter().flatten().enumerate() {
            if network.as_str().is_some_and(|text| text.parse::<Network>().is_err()) {
                let message = text(
                    "This is neither an IP address nor a network such as 203.0.113.0/24.",
                    "Ini bukan alamat IP atau jaringan seperti 203.0.113.0/24.",
                );
                faults.push(Fault::new(format!("addresses[{at}]"), "format", message));
            }
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ResellerKeysQuery {
    #[serde(flatten)]
    pub paging: Pages,
}

impl Input for ResellerKeysQuery {}

/// 256 random bits behind the letters by which secret scanners recognise it.
pub fn fresh() -> String {
    format!("dmk_{}", Token::fresh().reveal())
}

/// Lower-case hexadecimal SHA-256.
fn hash(key: &str) -> String {
    ids::hash(key).iter().map(|byte| format!("{byte:02x}")).collect()
}

macro_rules! key {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, prefix, scopes, partner_id AS mitra_id, addresses, expires_at,
               last_used_at, last_used_address, revoked_at, created_at
             FROM reseller_keys",
            $rest
        )
    };
}

pub async fn list(db: &Db, reseller: Uuid, query: &ResellerKeysQuery) -> Result<Page<ResellerKey>> {
    let paging = &query.paging;
    let rows = db
        .list(key!(""))
        .filter("reseller_id = ?", Some(reseller))
        .page(paging.sort(None, "created_at"), "id", paging.limit(), paging.offset())
        .await?;
    Ok(paging.page(rows))
}

pub async fn get_in(tx: &mut Tx, reseller: Uuid, id: Uuid) -> Result<Option<ResellerKey>> {
    let key = tx.sql(key!(" WHERE reseller_id = $1 AND id = $2"));
    Ok(key.bind(reseller).bind(id).maybe().await?)
}

/// Number of keys that can be used. The reseller's row must be locked.
pub async fn count_live(tx: &mut Tx, reseller: Uuid, now: DateTime<Utc>) -> Result<i64> {
    let count = tx.sql(
        "SELECT COUNT(*) FROM reseller_keys
         WHERE reseller_id = $1 AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > $2)",
    );
    Ok(count.bind(reseller).bind(now).scalar().await?)
}

pub async fn insert(
    tx: &mut Tx,
    reseller: Uuid,
    form: &ResellerKeyForm,
    key: &str,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    tx.sql(
        "INSERT INTO reseller_keys (id, reseller_id, name, prefix, hash, scopes, partner_id,
           addresses, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(id)
    .bind(reseller)
    .bind(form.name.to_string())
    .bind(key.chars().take(PREFIX).collect::<String>())
    .bind(hash(key))
    .bind(json!(form.scopes))
    .bind(form.mitra_id)
    .bind(json!(form.networks()))
    .bind(form.expires_at)
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

/// Whether the reseller may sell this partner, by its own grant or the grant for all.
pub async fn is_granted(tx: &mut Tx, reseller: Uuid, partner: Uuid) -> Result<bool> {
    let granted = tx.sql(
        "SELECT EXISTS (SELECT 1 FROM partners WHERE id = $2) AND EXISTS
           (SELECT 1 FROM reseller_grants
            WHERE reseller_id = $1 AND (partner_id = $2 OR partner_id IS NULL))",
    );
    Ok(granted.bind(reseller).bind(partner).scalar().await?)
}

/// `false` if it is revoked already.
pub async fn revoke(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let revoked =
        tx.sql("UPDATE reseller_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL");
    Ok(revoked.bind(now).bind(id).run().await? == 1)
}
