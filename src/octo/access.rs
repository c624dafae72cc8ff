//! Who calls: the key, its reseller and what is granted to it, read in one statement with every
//! request, so that a revocation acts at once.

use std::net::IpAddr;

use axum::{
    extract::FromRequestParts,
    http::{
        HeaderMap,
        header::{AUTHORIZATION, HeaderName},
        request::Parts,
    },
};
use chrono::{DateTime, TimeDelta, Utc};

use super::error::{Problem, Result, Word};
use crate::{
    app::App,
    kernel::{
        caller::Context,
        db::Json,
        error::Error,
        http::PathParams,
        ids::{self, Uuid},
        lang::Lang,
        money::{BaseFactor, Rate, Rupiah},
    },
    resellers::{NetFare, PolicyStep, ResellerStatus, Scope, overdue_before},
    taxes::{AppliesTo, TaxRate},
};

pub const CAPABILITIES: HeaderName = HeaderName::from_static("octo-capabilities");
pub const ENVIRONMENT: HeaderName = HeaderName::from_static("octo-env");
pub const PRICING: &str = "octo/pricing";

/// The use of a key is noted once in this time.
const NOTED: TimeDelta = TimeDelta::minutes(1);

/// What is granted for one partner, or (without one) for all others.
#[derive(Clone, Debug)]
pub struct Grant {
    partner_id: Option<Uuid>,
    margin_rate: Rate,
    net_fares: Vec<NetFare>,
    refund_policy: Option<Vec<PolicyStep>>,
    pub allow_loss: bool,
}

impl Grant {
    /// What is left to the reseller of a fare: by the agreed net price, or by its rate.
    pub fn margin(&self, line: Uuid, key: &str, fare: Rupiah) -> Rupiah {
        let agreed = self.net_fares.iter().find(|net| net.line_id == line && net.fare == key);
        match agreed {
            Some(agreed) => (fare - agreed.net).max(Rupiah::ZERO),
            None => self.margin_rate.of(fare),
        }
    }

    /// By the grant, or else the service's: hours before departure, and percent.
    pub fn policy(&self, app: &App) -> Vec<(u32, u8)> {
        match &self.refund_policy {
            Some(steps) => steps.iter().map(|step| (step.hours_before, step.percent)).collect(),
            None => app.config.refund_policy.0.clone(),
        }
    }
}

/// The reseller of a request.
#[derive(Clone, Debug)]
pub struct Client {
    pub reseller_id: Uuid,
    scopes: Vec<Scope>,
    grants: Vec<Grant>,
    /// Of the service, in force now.
    pub taxes: Vec<TaxRate>,
    /// What it may still owe.
    credit: Rupiah,
    /// An invoice that has been due for too long ends the credit.
    is_overdue: bool,
    /// Amounts are multiplied by it: 1, or 100 for two decimal places.
    pub scale: i64,
    /// The only partner of the base or of the key.
    pub partner_id: Option<Uuid>,
    /// Whether the key is limited to one partner.
    has_partner_key: bool,
    /// Whether prices are shown.
    pub pricing: bool,
    pub lang: Lang,
    /// The address of this API, without a trailing slash.
    pub base: Base,
}

/// `/octo`, or the base of one partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Platform,
    Partner(Uuid),
}

impl Base {
    fn partner(self) -> Option<Uuid> {
        match self {
            Self::Platform => None,
            Self::Partner(id) => Some(id),
        }
    }
}

impl Client {
    /// FORBIDDEN without the scope.
    pub fn may(&self, scope: Scope) -> Result<()> {
        if self.scopes.contains(&scope) { Ok(()) } else { Err(forbidden()) }
    }

    /// FORBIDDEN for a key of one partner: what it asks about concerns all of them.
    pub fn may_for_all_partners(&self, scope: Scope) -> Result<()> {
        if self.has_partner_key { Err(forbidden()) } else { self.may(scope) }
    }

    /// Refuses what the reseller could not confirm now.
    pub fn ensure_credit(&self, total: Rupiah) -> Result<()> {
        match total <= self.credit && !self.is_overdue {
            true => Ok(()),
            false => Err(Problem::unprocessable(
                "The credit of the reseller is used up.",
                "Kredit agen penjual sudah habis.",
            )),
        }
    }

    /// What is granted of a partner.
    pub fn grant(&self, partner: Uuid) -> Option<&Grant> {
        if self.partner_id.is_some_and(|only| only != partner) {
            return None;
        }
        let own = self.grants.iter().find(|grant| grant.partner_id == Some(partner));
        own.or_else(|| self.grants.iter().find(|grant| grant.partner_id.is_none()))
    }

    /// The refund policy of a partner's bookings, also if it is not granted any more.
    pub fn policy(&self, app: &App, partner: Uuid) -> Vec<(u32, u8)> {
        let grant = self.grant(partner);
        grant.map_or_else(|| app.config.refund_policy.0.clone(), |grant| grant.policy(app))
    }

    /// The partners whose products are listed. `None`: of all.
    pub fn partners(&self) -> Option<Vec<Uuid>> {
        if let Some(only) = self.partner_id {
            return Some(vec![only]);
        }
        let ids: Option<Vec<_>> = self.grants.iter().map(|grant| grant.partner_id).collect();
        ids
    }
}

#[derive(crate::kernel::db::FromRow)]
struct KeyRow {
    key_id: Uuid,
    scopes: Json<Vec<String>>,
    partner_id: Option<Uuid>,
    addresses: Json<Vec<String>>,
    expires_at: Option<DateTime<Utc>>,
    last_used_at: Option<DateTime<Utc>>,
    revoked_at: Option<DateTime<Utc>>,
    reseller_id: Uuid,
    status: ResellerStatus,
    account_status: String,
    rate_per_minute: i32,
    currency_precision: i32,
    credit: Rupiah,
    is_overdue: bool,
    /// Whether the partner of the base exists.
    bases: i64,
    grant_id: Option<Uuid>,
    grant_partner_id: Option<Uuid>,
    margin_rate: Option<Rate>,
    net_fares: Option<Json<Vec<NetFare>>>,
    refund_policy: Option<Json<Vec<PolicyStep>>>,
    allow_loss: Option<bool>,
    taxes: Option<String>,
}

impl KeyRow {
    fn grant(&self) -> Option<Grant> {
        self.grant_id?;
        Some(Grant {
            partner_id: self.grant_partner_id,
            margin_rate: self.margin_rate?,
            net_fares: self.net_fares.as_ref()?.0.clone(),
            refund_policy: self.refund_policy.as_ref().map(|policy| policy.0.clone()),
            allow_loss: self.allow_loss?,
        })
    }

    fn is_good(&self, address: IpAddr, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none()
            && self.expires_at.is_none_or(|expires_at| now < expires_at)
            && self.status == ResellerStatus::Active
            && self.account_status == "active"
            && (self.addresses.is_empty()
                || self.addresses.iter().any(|network| contains(network, address)))
    }
}

/// Taxes are few and rarely change; they come with the key, so that prices need no statement of their
/// own. The separators are control characters, which no text of ours contains.
const KEY: &str = "SELECT k.id AS key_id, k.scopes, k.partner_id, k.addresses, k.expires_at,
      k.last_used_at, k.revoked_at, e.id AS reseller_id, e.status, a.status AS account_status,
      e.rate_per_minute, e.currency_precision, e.credit_limit - e.balance AS credit, g.id AS grant_id,
      g.partner_id AS grant_partner_id, g.margin_rate, g.net_fares, g.refund_policy, g.allow_loss,
      (SELECT string_agg(t.code || '\u{1f}' || t.name || '\u{1f}' || CAST(t.rate AS TEXT) || '\u{1f}'
         || CAST(t.base_numerator AS TEXT) || '\u{1f}' || CAST(t.base_denominator AS TEXT)
         || '\u{1f}' || t.applies_to, '\u{1e}' ORDER BY t.code)
       FROM taxes t WHERE t.is_active) AS taxes,
      EXISTS (SELECT 1 FROM reseller_invoices v WHERE v.reseller_id = e.id AND v.status = 'open'
         AND v.due_on < $3) AS is_overdue,
      (SELECT COUNT(*) FROM partners p WHERE p.id = $2) AS bases
    FROM reseller_keys k
    JOIN resellers e ON e.id = k.reseller_id
    JOIN accounts a ON a.id = e.account_id
    LEFT JOIN reseller_grants g ON g.reseller_id = e.id
    WHERE k.hash = $1";

fn taxes(stored: &str) -> Option<Vec<TaxRate>> {
    let tax = |text: &str| {
        let mut parts = text.split('\u{1f}');
        let (code, name) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let rate = Rate::basis_points(parts.next()?.parse().ok()?)?;
        let (numerator, denominator) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let base_factor = BaseFactor::new(numerator, denominator)?;
        let applies_to: AppliesTo = parts.next()?.parse().ok()?;
        Some(TaxRate { code, name, rate, base_factor, applies_to })
    };
    stored.split('\u{1e}').map(tax).collect()
}

impl FromRequestParts<App> for Client {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let context = parts.extensions.get::<Context>().cloned();
        let context = context.ok_or_else(|| Problem::Failed(Error::internal("no context")))?;
        ensure_environment(app, &parts.headers)?;
        let key = bearer(&parts.headers).ok_or_else(unauthorized)?;
        let base = base(parts)?;
        let is_write = changes_bookings(parts);
        let mut client = authenticate(app, &context, key, base, is_write).await?;
        client.pricing = wants_pricing(&parts.headers);
        client.base = base;
        if let Base::Partner(partner) = base {
            if client.grant(partner).is_none() {
                return Err(forbidden());
            }
            client.partner_id = Some(partner);
        }
        Ok(client)
    }
}

async fn authenticate(
    app: &App,
    context: &Context,
    key: &str,
    base: Base,
    is_write: bool,
) -> Result<Client> {
    let hash = hex(&ids::hash(key));
    let limits = app.key_limits();
    limits.before_lookup(&hash, context.address).map_err(too_many)?;
    let now = app.clock.now();
    let partner = base.partner();
    let overdue = overdue_before(app.today());
    let key = app.db.sql(KEY).bind(hash.clone()).bind(partner).bind(overdue);
    let rows: Vec<KeyRow> = key.all().await?;
    let row = rows.first().filter(|row| row.is_good(context.address, now));
    let Some(row) = row else {
        limits.forget(&hash);
        return Err(forbidden());
    };
    limits.take(&hash, row.rate_per_minute, is_write).map_err(too_many)?;
    if row.last_used_at.is_none_or(|last| last + NOTED <= now) {
        note_use(app, row.key_id, context.address, now).await?;
    }
    // A grant for all partners grants none that does not exist.
    if partner.is_some() && row.bases == 0 {
        return Err(forbidden());
    }
    let taxes = row.taxes.as_deref().map_or_else(|| Some(Vec::new()), taxes);
    Ok(Client {
        reseller_id: row.reseller_id,
        scopes: row.scopes.iter().filter_map(|word| word.parse().ok()).collect(),
        grants: rows.iter().filter_map(KeyRow::grant).collect(),
        taxes: taxes.ok_or_else(|| Error::internal("taxes cannot be read"))?,
        credit: row.credit,
        is_overdue: row.is_overdue,
        scale: if row.currency_precision == 2 { 100 } else { 1 },
        partner_id: row.partner_id,
        has_partner_key: row.partner_id.is_some(),
        pricing: false,
        lang: context.lang,
        base: Base::Platform,
    })
}

async fn note_use(app: &App, key: Uuid, address: IpAddr, now: DateTime<Utc>) -> Result<()> {
    app.db
        .sql(
            "UPDATE reseller_keys SET last_used_at = $1, last_used_address = $2
             WHERE id = $3 AND (last_used_at IS NULL OR last_used_at <= $4)",
        )
        .bind(now)
        .bind(address.to_string())
        .bind(key)
        .bind(now - NOTED)
        .run()
        .await?;
    Ok(())
}

fn too_many(retry_after: u64) -> Problem {
    Problem::Failed(Error::TooManyRequests { retry_after })
}

pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

/// A real seat is never sold as a test.
fn ensure_environment(app: &App, headers: &HeaderMap) -> Result<()> {
    let asked = headers.get(ENVIRONMENT).and_then(|value| value.to_str().ok()).unwrap_or("live");
    let is_test = asked.trim().eq_ignore_ascii_case("test");
    match is_test && !app.config.octo_test.0 {
        true => Err(Problem::bad_request(
            "This is a live instance: it has no test environment.",
            "Ini adalah instans nyata tanpa lingkungan uji.",
        )),
        false => Ok(()),
    }
}

/// Ids with or without `octo/`; unknown ones are ignored.
pub fn wants_pricing(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CAPABILITIES);
    let mut asked = values.iter().filter_map(|value| value.to_str().ok());
    asked.any(|value| value.split(',').any(|id| matches!(id.trim(), PRICING | "pricing")))
}

/// Availability and subscriptions are requested by POST, too, and take nothing.
fn changes_bookings(parts: &Parts) -> bool {
    !parts.method.is_safe() && parts.uri.path().split('/').any(|part| part == "bookings")
}

fn base(parts: &Parts) -> Result<Base> {
    if !parts.uri.path().starts_with("/octo/partners/") {
        return Ok(Base::Platform);
    }
    let id = parts.extensions.get::<PathParams>().and_then(|params| params.0.first());
    let id = id.and_then(|id| Uuid::parse_str(id).ok());
    // A partner that does not exist is not granted.
    id.map(Base::Partner).ok_or_else(forbidden)
}

fn unauthorized() -> Problem {
    Problem::new(Word::Unauthorized, "An API key is required.", "Kunci API diperlukan.")
}

pub fn forbidden() -> Problem {
    Problem::new(
        Word::Forbidden,
        "The API key does not allow this.",
        "Kunci API tidak mengizinkan hal ini.",
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether an address is in a network in CIDR notation.
fn contains(network: &str, address: IpAddr) -> bool {
    let (start, bits) = network.split_once('/').unwrap_or((network, ""));
    let Ok(start) = start.parse::<IpAddr>() else { return false };
    let (start, address, width) = match (start, address) {
        (IpAddr::V4(start), IpAddr::V4(address)) => {
            (u128::from(start.to_bits()), u128::from(address.to_bits()), 32)
        }
        (IpAddr::V6(start), IpAddr::V6(address)) => (start.to_bits(), address.to_bits(), 128),
        _ => return false,
    };
    let bits: u32 = if bits.is_empty() { width } else { bits.parse().unwrap_or(u32::MAX) };
    match bits {
        0 => true,
        bits if bits > width => false,
        bits => start >> (width - bits) == address >> (width - bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_its_addresses() {
        let of = |network: &str, address: &str| contains(network, address.parse().unwrap());
        assert!(of("203.0.113.0/24", "203.0.113.77"));
        assert!(!of("203.0.113.0/24", "203.0.114.77"));
        assert!(of("203.0.113.7", "203.0.113.7"));
        assert!(of("2001:db8::/32", "2001:db8:1::1"));
        assert!(!of("2001:db8::/32", "2001:db9::1"));
        assert!(!of("0.0.0.0/0", "2001:db9::1"));
        assert!(of("0.0.0.0/0", "1.2.3.4"));
        assert!(!of("1.2.3.4/99", "1.2.3.4"));
        assert!(!of("rubbish", "1.2.3.4"));
    }

    #[test]
    fn capabilities_are_named_with_or_without_prefix() {
        let wants = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CAPABILITIES, value.parse().unwrap());
            wants_pricing(&headers)
        };
        assert!(wants("octo/pricing"));
        assert!(wants("octo/content, pricing"));
        assert!(!wants(""));
        assert!(!wants("octo/pricings"));
    }
}
