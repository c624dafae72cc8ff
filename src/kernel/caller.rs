//! The caller of a request and its rights.

use std::net::{IpAddr, Ipv6Addr};

use axum::{extract::FromRequestParts, http::request::Parts};
use chrono::{DateTime, TimeDelta, Utc};

use super::{
    access::{Access, Level, Role, Rule},
    db::Db,
    error::{Error, Result},
    ids::Uuid,
    lang::Lang,
};

/// How long a sign-in counts as recent.
const RECENT: TimeDelta = TimeDelta::hours(1);

/// Request metadata, set by the edge.
#[derive(Clone, Debug)]
pub struct Context {
    pub request_id: String,
    pub lang: Lang,
    pub address: IpAddr,
    pub user_agent: Option<String>,
    pub accepts_gzip: bool,
    /// Whether a page of this process calls the operation.
    pub is_page: bool,
}

/// The network that rate limits count as one client: an IPv4 address, or the /64 of an IPv6
/// address, since IPv6 customers get at least a /64.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => prefix(v6, 64),
        v4 => v4,
    }
}

/// A network as it is stored. An IPv6 network carries its prefix length, so that it cannot be taken
/// for an address or for a [`site`].
pub fn network_text(address: IpAddr) -> String {
    match network(address) {
        IpAddr::V6(v6) => format!("{v6}/64"),
        IpAddr::V4(v4) => v4.to_string(),
    }
}

/// The /48 of an IPv6 address. A customer can have a whole /48, so each limit per [`network`] has a
/// second one, ten times as high, per site. IPv4 has no site.
pub fn site(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V6(v6) => Some(prefix(v6, 48)),
        IpAddr::V4(_) => None,
    }
}

fn prefix(address: Ipv6Addr, bits: u32) -> IpAddr {
    Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (128 - bits))).into()
}

#[derive(Clone, Debug)]
pub struct Person {
    pub id: Uuid,
    pub name: String,
    pub email: String,
}

/// The person who acts in an impersonated session.
#[derive(Clone, Debug)]
pub struct Impersonator {
    pub person: Person,
    pub role: Role,
    pub rules: Vec<Rule>,
    pub second_factor: bool,
}

impl Impersonator {
    pub fn may(&self, rule: Rule) -> bool {
        allows(self.role, &self.rules, rule)
    }
}

fn allows(role: Role, rules: &[Rule], rule: Rule) -> bool {
    match role {
        Role::Admin => true,
        Role::Staff => rules.contains(&rule),
        Role::Mitra | Role::Crew | Role::Reseller => false,
    }
}

/// Whether the access column admits an account with this role and these rules. The console decides by
/// it what to show.
pub fn admits(access: Access, role: Role, rules: &[Rule]) -> bool {
    let may = |rule| allows(role, rules, rule);
    let is_partner = role == Role::Mitra;
    let is_partner_or_crew = matches!(role, Role::Mitra | Role::Crew);
    match access {
        Access::Public | Access::Guest | Access::AnySession | Access::OwnAccount => true,
        Access::SignedIn => role != Role::Crew,
        Access::Admin => role == Role::Admin,
        Access::Staff(rule) => may(rule),
        Access::Partner => is_partner,
        Access::PartnerOr(rule) | Access::GuestOr(rule) => is_partner || may(rule),
        Access::PartnerCrewOr(rule) => is_partner_or_crew || may(rule),
        Access::PartnerCrewOrAny(one, other) => is_partner_or_crew || may(one) || may(other),
        Access::ResellerOr(rule) => role == Role::Reseller || may(rule),
    }
}

/// Whether an impersonator with this role and these rules may do what a partner may: it needs the
/// rule that guards the operation for staff as well.
pub fn admits_impersonator(access: Access, changes: bool, role: Role, rules: &[Rule]) -> bool {
    let needed = access.rules_of_impersonator(changes);
    needed.is_empty() || needed.into_iter().any(|rule| allows(role, rules, rule))
}

/// A signed-in account, loaded for this request.
#[derive(Clone, Debug)]
pub struct Caller {
    pub session_id: Uuid,
    /// When the password was last given in this session. `None` if a remember token or an
    /// impersonator opened it.
    pub authenticated_at: Option<DateTime<Utc>>,
    /// Whether the account has a second factor.
    pub second_factor: bool,
    pub person: Person,
    pub role: Role,
    /// Level and rules of a staff member's permission.
    pub level: Option<Level>,
    pub rules: Vec<Rule>,
    /// The partner that the account belongs to: its own, or that of a crew member. Check with
    /// [`Caller::partner`] whether the caller is the partner.
    pub partner_id: Option<Uuid>,
    /// The reseller that the account is.
    pub reseller_id: Option<Uuid>,
    pub impersonator: Option<Impersonator>,
    pub context: Context,
}

impl Caller {
    /// True for the partner's own session, false for an impersonated one.
    pub fn is_partner_in_person(&self) -> bool {
        self.role == Role::Mitra && self.impersonator.is_none()
    }

    pub fn may(&self, rule: Rule) -> bool {
        allows(self.role, &self.rules, rule)
    }

    /// The person who acts: the impersonator, if there is one.
    pub fn acting_person(&self) -> &Person {
        self.impersonator.as_ref().map_or(&self.person, |behind| &behind.person)
    }

    /// A handle for reports: its reads may be served by a replica, which is some seconds behind but has
    /// the changes that the acting person has made in this process.
    pub fn on_replica(&self, db: &Db) -> Db {
        db.on_replica_for(self.acting_person().id)
    }

    /// True for the account's holder, and for an impersonator with the rule.
    pub fn impersonator_may(&self, rule: Rule) -> bool {
        self.impersonator.as_ref().is_none_or(|behind| behind.may(rule))
    }

    /// The partner that the caller is; 403 for other roles, also for crew.
    pub fn partner(&self) -> Result<Uuid> {
        match self.role {
            Role::Mitra => self.partner_id.ok_or(Error::Forbidden),
            Role::Admin | Role::Staff | Role::Crew | Role::Reseller => Err(Error::Forbidden),
        }
    }

    /// Refuses resellers that are not this one. 404, as for one that does not exist.
    pub fn reseller(&self, id: Uuid) -> Result<Uuid> {
        match self.role {
            Role::Admin | Role::Staff => Ok(id),
            Role::Reseller if self.reseller_id == Some(id) => Ok(id),
            Role::Reseller => Err(Error::NotFound),
            Role::Mitra | Role::Crew => Err(Error::Forbidden),
        }
    }

    /// Owner filter of a query: a partner is restricted to its own data; admins and staff get what
    /// they ask for; crew is refused.
    pub fn partner_filter(&self, wanted: Option<Uuid>) -> Result<Option<Uuid>> {
        match self.role {
            Role::Mitra => self.partner().map(Some),
            Role::Admin | Role::Staff => Ok(wanted),
            Role::Crew | Role::Reseller => Err(Error::Forbidden),
        }
    }

    /// Owner filter of what crew may see: crew is restricted to the data of its partner.
    pub fn crew_filter(&self, wanted: Option<Uuid>) -> Result<Option<Uuid>> {
        match self.role {
            Role::Crew => self.partner_id.map(Some).ok_or(Error::Forbidden),
            Role::Admin | Role::Staff | Role::Mitra | Role::Reseller => self.partner_filter(wanted),
        }
    }

    /// Whether all changes by this caller are recorded in the audit log: those of everyone but
    /// partners and crew in person.
    pub fn is_audited(&self) -> bool {
        match self.role {
            Role::Admin | Role::Staff => true,
            Role::Mitra | Role::Crew => self.impersonator.is_some(),
            // Its keys sell on account.
            Role::Reseller => true,
        }
    }

    /// Whether the access column admits this caller.
    pub fn admitted(&self, access: Access) -> bool {
        admits(access, self.role, &self.rules)
    }

    /// Whether the password was given in this session within the last hour.
    pub fn has_recent_sign_in(&self, now: DateTime<Utc>) -> bool {
        self.authenticated_at.is_some_and(|at| now < at + RECENT)
    }

    /// Whether the one who acts may do it: an impersonator needs the rule that guards the operation
    /// for staff as well, so that impersonation gives nobody more rights than their permission.
    pub fn impersonation_admitted(&self, access: Access, changes: bool) -> bool {
        let Some(behind) = &self.impersonator else { return true };
        admits_impersonator(access, changes, behind.role, &behind.rules)
    }

    /// Refuses impersonated sessions.
    pub fn refuse_impersonation(&self) -> Result<()> {
        if self.impersonator.is_some() { Err(Error::Forbidden) } else { Ok(()) }
    }
}

impl<S: Sync> FromRequestParts<S> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let context = parts.extensions.get::<Context>().cloned();
        context.ok_or_else(|| Error::internal("the request has no context"))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Caller>().cloned().ok_or(Error::Unauthenticated)
    }
}

impl<S: Sync> axum::extract::OptionalFromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>> {
        Ok(parts.extensions.get::<Caller>().cloned())
    }
}

impl aide::OperationInput for Context {}
impl aide::OperationInput for Caller {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_has_a_network_and_a_site() {
        let v6: IpAddr = "2001:db8:1:2:3:4:5:6".parse().unwrap();
        assert_eq!(network(v6).to_string(), "2001:db8:1:2::");
        assert_eq!(network_text(v6), "2001:db8:1:2::/64");
        assert_eq!(site(v6).map(|site| site.to_string()).as_deref(), Some("2001:db8:1::"));
        let v4: IpAddr = "203.0.113.7".parse().unwrap();
        assert_eq!((network(v4), site(v4)), (v4, None));
    }
}
