//! The partners that a reseller may sell, and for how much.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model::{NetFare, PolicyStep};
use crate::{
    fleet::Owner,
    kernel::{
        db::{Db, Json, Tx},
        error::{Error, Fault, Result},
        ids::{self, Uuid},
        lang::text,
        money::{Rate, Rupiah},
        patch::Patch,
        schema::Input,
    },
    lines::{Fare, FarePrice},
    partners::settlement_configuration::{default_resale_commission, resale_commissions},
};

/// A partner that a reseller may sell.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Grant {
    /// Null: every partner that has no grant of its own.
    pub mitra_id: Option<Uuid>,
    pub mitra: Option<Owner>,
    /// Percent of the fare that the reseller keeps.
    pub margin_rate: Rate,
    /// Agreed prices, instead of the margin.
    pub net_fares: Vec<NetFare>,
    /// What a cancellation gives back, longest first; null: the policy of the service.
    pub refund_policy: Option<Vec<PolicyStep>>,
    /// The margin may be higher than the partner's commission. Null for resellers.
    pub allow_loss: Option<bool>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Grants {
    pub grants: Vec<Grant>,
}

impl Grants {
    /// What the platform pays for a sale is not the reseller's business.
    pub fn for_reseller(mut self) -> Self {
        self.grants.iter_mut().for_each(|grant| grant.allow_loss = None);
        self
    }
}

/// The whole list: what it leaves out is withdrawn.
#[derive(Deserialize, JsonSchema)]
pub struct GrantsForm {
    #[schemars(length(max = 500))]
    pub grants: Vec<GrantForm>,
}

#[derive(Deserialize, JsonSchema)]
pub struct GrantForm {
    /// Null or left out: every partner that has no grant of its own.
    mitra_id: Option<Uuid>,
    /// Percent of the fare that the reseller keeps.
    margin_rate: Rate,
    /// Agreed prices, instead of the margin. Left out: those of the partner's grant stay.
    #[serde(default)]
    #[schemars(length(max = 500))]
    net_fares: Patch<Vec<NetFare>>,
    /// What a cancellation gives back: fewer hours give less. Null: the policy of the service. Left
    /// out: that of the partner's grant stays.
    #[serde(default)]
    #[schemars(length(min = 1, max = 10))]
    refund_policy: Patch<Vec<PolicyStep>>,
    /// Allows a margin above the partner's commission. Default: false. Left out: that of the
    /// partner's grant stays.
    #[serde(default)]
    allow_loss: Patch<bool>,
}

impl GrantForm {
    /// The agreed prices of the request.
    fn net_fares(&self) -> &[NetFare] {
        match &self.net_fares {
            Patch::Set(fares) => fares,
            Patch::Keep | Patch::Clear => &[],
        }
    }

    /// The grant after this update of the partner's grant.
    fn over(&self, before: Option<&Grant>) -> Grant {
        let fares = before.map(|grant| grant.net_fares.clone());
        let policy = before.and_then(|grant| grant.refund_policy.clone());
        let allow_loss = before.and_then(|grant| grant.allow_loss);
        Grant {
            mitra_id: self.mitra_id,
            mitra: None,
            margin_rate: self.margin_rate,
            net_fares: self.net_fares.clone().over(fares).unwrap_or_default(),
            refund_policy: self.refund_policy.clone().over(policy),
            allow_loss: Some(self.allow_loss.clone().over(allow_loss).unwrap_or(false)),
        }
    }
}

impl Input for GrantsForm {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let mut partners = HashSet::new();
        for (at, grant) in value["grants"].as_array().into_iter().flatten().enumerate() {
            if !partners.insert(grant["mitra_id"].as_str()) {
                let message = text("Each partner occurs once.", "Setiap mitra muncul sekali.");
                faults.push(Fault::new(format!("grants[{at}].mitra_id"), "unique", message));
            }
            check_net_fares(&format!("grants[{at}].net_fares"), &grant["net_fares"], faults);
            check_policy(&format!("grants[{at}].refund_policy"), &grant["refund_policy"], faults);
        }
    }
}

fn check_net_fares(field: &str, fares: &Value, faults: &mut Vec<Fault>) {
    let mut known = HashSet::new();
    for (at, fare) in fares.as_array().into_iter().flatten().enumerate() {
        if !known.insert((fare["line_id"].as_str(), fare["fare"].as_str())) {
            let message = text("Each fare occurs once.", "Setiap tarif muncul sekali.");
            faults.push(Fault::new(format!("{field}[{at}].fare"), "unique", message));
        }
    }
}

fn check_policy(field: &str, policy: &Value, faults: &mut Vec<Fault>) {
    let steps = policy.as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, pair) in steps.windows(2).enumerate() {
        for (name, is_first) in [("hours_before", true), ("percent", false)] {
            let (longer, shorter) = (pair[0][name].as_u64(), pair[1][name].as_u64());
            let is_lower = longer.zip(shorter).is_none_or(|(longer, shorter)| shorter < longer);
            if !is_lower {
                let message = match is_first {
                    true => text("List the most hours first.", "Urutkan dari jam terbanyak."),
                    false => text(
                        "Fewer hours give back a smaller percentage.",
                        "Semakin dekat keberangkatan, semakin kecil persentasenya.",
                    ),
                };
                faults.push(Fault::new(format!("{field}[{}].{name}", at + 1), "order", message));
            }
        }
    }
}

#[derive(crate::kernel::db::FromRow)]
struct GrantRow {
    partner_id: Option<Uuid>,
    partner_name: Option<String>,
    margin_rate: Rate,
    net_fares: Json<Vec<NetFare>>,
    refund_policy: Option<Value>,
    allow_loss: bool,
}

impl GrantRow {
    fn into_grant(self) -> Result<Grant> {
        let policy = self.refund_policy.map(serde_json::from_value).transpose();
        Ok(Grant {
            mitra_id: self.partner_id,
            mitra: self.partner_id.zip(self.partner_name).map(|(id, name)| Owner { id, name }),
            margin_rate: self.margin_rate,
            net_fares: self.net_fares.0,
            refund_policy: policy.map_err(Error::internal)?,
            allow_loss: Some(self.allow_loss),
        })
    }
}

/// The grant for all comes last.
const OF_RESELLER: &str = "SELECT g.partner_id, a.name AS partner_name, g.margin_rate,
       g.net_fares, g.refund_policy, g.allow_loss
     FROM reseller_grants g LEFT JOIN partners p ON p.id = g.partner_id
     LEFT JOIN accounts a ON a.id = p.account_id
     WHERE g.reseller_id = $1 ORDER BY (g.partner_id IS NULL), a.name, g.partner_id";

pub async fn get(db: &Db, reseller: Uuid) -> Result<Grants> {
    let rows: Vec<GrantRow> = db.sql(OF_RESELLER).bind(reseller).all().await?;
    read(rows)
}

pub async fn get_in(tx: &mut Tx, reseller: Uuid) -> Result<Grants> {
    let rows: Vec<GrantRow> = tx.sql(OF_RESELLER).bind(reseller).all().await?;
    read(rows)
}

fn read(rows: Vec<GrantRow>) -> Result<Grants> {
    let grants = rows.into_iter().map(GrantRow::into_grant).collect::<Result<_>>()?;
    Ok(Grants { grants })
}

/// Replaces the list. The reseller's row must be locked.
pub async fn replace(
    tx: &mut Tx,
    reseller: Uuid,
    before: &Grants,
    form: &GrantsForm,
    now: DateTime<Utc>,
) -> Result<()> {
    let held: HashMap<_, _> = before.grants.iter().map(|grant| (grant.mitra_id, grant)).collect();
    let over = |grant: &GrantForm| grant.over(held.get(&grant.mitra_id).copied());
    let grants: Vec<_> = form.grants.iter().map(over).collect();
    ensure_sound(tx, form, &grants, now).await?;
    tx.sql("DELETE FROM reseller_grants WHERE reseller_id = $1").bind(reseller).run().await?;
    tx.insert_all(
        "INSERT INTO reseller_grants (id, reseller_id, partner_id, margin_rate, net_fares,
           refund_policy, allow_loss, created_at)",
        8,
        &grants,
        |statement, grant| {
            statement
                .bind(ids::fresh())
                .bind(reseller)
                .bind(grant.mitra_id)
                .bind(grant.margin_rate)
                .bind(json!(grant.net_fares))
                .bind(grant.refund_policy.as_ref().map(|policy| json!(policy)))
                .bind(grant.allow_loss == Some(true))
                .bind(now)
        },
    )
    .await?;
    Ok(())
}

/// 422 for unknown partners, lines and fares, and for sales below cost. Agreed prices that stay were
/// checked when they were agreed.
async fn ensure_sound(
    tx: &mut Tx,
    form: &GrantsForm,
    grants: &[Grant],
    now: DateTime<Utc>,
) -> Result<()> {
    let partners: Vec<_> = form.grants.iter().filter_map(|grant| grant.mitra_id).collect();
    let commissions = resale_commissions(tx, &partners).await?;
    let default = default_resale_commission(tx).await?;
    let net_fares = form.grants.iter().flat_map(GrantForm::net_fares);
    let lines: HashSet<_> = net_fares.map(|fare| fare.line_id).collect();
    let lines = lines_of(tx, &lines.into_iter().collect::<Vec<_>>(), now).await?;
    let mut faults = Vec::new();
    for (at, (grant, after)) in form.grants.iter().zip(grants).enumerate() {
        let allow_loss = after.allow_loss == Some(true);
        let commission = match grant.mitra_id {
            None => Some(default),
            Some(partner) => commissions.get(&partner).copied(),
        };
        match commission {
            Some(commission) => {
                let most = (!allow_loss).then_some(commission);
                check_grant(at, grant, most, &lines, &mut faults);
            }
            None => {
                let message = text("This partner does not exist.", "Mitra ini tidak ada.");
                faults.push(Fault::new(format!("grants[{at}].mitra_id"), "unknown", message));
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

/// `most` is the highest margin, if it is limited.
fn check_grant(
    at: usize,
    grant: &GrantForm,
    most: Option<Rate>,
    lines: &HashMap<Uuid, LineRow>,
    faults: &mut Vec<Fault>,
) {
    if most.is_some_and(|most| grant.margin_rate > most) {
        faults.push(below_cost(format!("grants[{at}].margin_rate")));
    }
    for (index, agreed) in grant.net_fares().iter().enumerate() {
        let field = |name: &str| format!("grants[{at}].net_fares[{index}].{name}");
        // A line of the partner; of any partner in the grant for all.
        let is_theirs =
            |line: &&LineRow| grant.mitra_id.is_none_or(|partner| partner == line.partner_id);
        let Some(line) = lines.get(&agreed.line_id).filter(is_theirs) else {
            let message = text(
                "This is not a line of the partner.",
                "Ini bukan lintasan milik mitra tersebut.",
            );
            faults.push(Fault::new(field("line_id"), "unknown", message));
            continue;
        };
        let Some(fare) = line.fares.iter().find(|fare| fare.key == agreed.fare) else {
            let message = text("The line has no such fare.", "Lintasan tidak memiliki tarif ini.");
            faults.push(Fault::new(field("fare"), "unknown", message));
            continue;
        };
        let is_below_cost = |(most, price): (Rate, Rupiah)| price - agreed.net > most.of(price);
        if most.zip(line.lowest(fare)).is_some_and(is_below_cost) {
            faults.push(below_cost(field("net")));
        }
    }
}

fn below_cost(field: String) -> Fault {
    let message = text(
        "The reseller would keep more than the partner's commission. Set allow_loss to agree to it.",
        "Bagian agen penjual melebihi komisi mitra. Setel allow_loss untuk menyetujuinya.",
    );
    Fault::new(field, "below_cost", message)
}

#[derive(crate::kernel::db::FromRow)]
struct LineRow {
    id: Uuid,
    partner_id: Uuid,
    fares: Json<Vec<Fare>>,
    /// Of the sailings ahead.
    lowest_price: Option<Rupiah>,
}

impl LineRow {
    /// The lowest price of the fare; `None` if nothing sails that it is a percentage of.
    fn lowest(&self, fare: &Fare) -> Option<Rupiah> {
        match fare.price {
            FarePrice::Amount(amount) => Some(amount),
            FarePrice::Percent(_) => self.lowest_price.map(|price| fare.of(price)),
        }
    }
}

async fn lines_of(
    tx: &mut Tx,
    lines: &[Uuid],
    now: DateTime<Utc>,
) -> Result<HashMap<Uuid, LineRow>> {
    if lines.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = tx.sql_among(
        "SELECT l.id, l.partner_id, l.fares,
           (SELECT MIN(s.price) FROM sailings s
            WHERE s.line_id = l.id AND s.departure_at > $1 AND s.status = 'open') AS lowest_price
         FROM lines l WHERE l.id IN",
        lines.len(),
        "",
    );
    let rows: Vec<LineRow> =
        lines.iter().fold(rows.bind(now), |rows, id| rows.bind(*id)).all().await?;
    Ok(rows.into_iter().map(|line| (line.id, line)).collect())
}
