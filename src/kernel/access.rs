//! Access control: rules of permissions, levels, roles, and the access column of the table.

crate::string_enum! {
    /// A right that a permission grants.
    pub enum Rule {
        UsersRead = "users.read",
        StaffRead = "staff.read",
        StaffWrite = "staff.write",
        PermissionsRead = "permissions.read",
        PermissionsWrite = "permissions.write",
        PartnersRead = "partners.read",
        PartnersWrite = "partners.write",
        PartnersApprove = "partners.approve",
        PartnersSuspend = "partners.suspend",
        PartnersImpersonate = "partners.impersonate",
        FleetRead = "fleet.read",
        FleetWrite = "fleet.write",
        RoutesRead = "routes.read",
        RoutesWrite = "routes.write",
        HarboursWrite = "harbours.write",
        BookingsRead = "bookings.read",
        BookingsWrite = "bookings.write",
        PromotionsRead = "promotions.read",
        PromotionsWrite = "promotions.write",
        ContentsWrite = "contents.write",
        TermsWrite = "terms.write",
        TermsPublish = "terms.publish",
        TaxesRead = "taxes.read",
        TaxesWrite = "taxes.write",
        SettlementsRead = "settlements.read",
        SettlementsWrite = "settlements.write",
        SettlementsRelease = "settlements.release",
        SettlementsConfigure = "settlements.configure",
        FinanceRead = "finance.read",
        FinanceWrite = "finance.write",
        ReportsRead = "reports.read",
        AuditRead = "audit.read",
        PrivacyManage = "privacy.manage",
        ResellersRead = "resellers.read",
        ResellersWrite = "resellers.write",
        ResellersFinance = "resellers.finance",
    }
}

crate::string_enum! {
    /// Level of a permission, highest first.
    pub enum Level {
        Owner = "owner",
        Manager = "manager",
        Supervisor = "supervisor",
        Operator = "operator",
        Viewer = "viewer",
    }
}

crate::string_enum! {
    /// Role of an account.
    pub enum Role {
        Admin = "admin",
        Staff = "staff",
        Mitra = "mitra",
        Crew = "crew",
        Reseller = "reseller",
    }
}

/// The access column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everyone; a bearer token is ignored.
    Public,
    /// Everyone; a bearer token is optional but must be valid.
    Guest,
    /// Guests and partners as under `Guest`; admins, and staff with the rule.
    GuestOr(Rule),
    /// Every session, also an impersonated one whatever the rules of its impersonator are: for
    /// signing out.
    AnySession,
    /// Every signed-in account, crew included: its own profile, sessions and password.
    OwnAccount,
    /// Everyone but crew.
    SignedIn,
    Admin,
    /// Admins, and staff whose permission has the rule.
    Staff(Rule),
    /// Partners, for their own data.
    Partner,
    /// Partners for their own data, admins, and staff with the rule.
    PartnerOr(Rule),
    /// Partners and their crew for the partner's data, admins, and staff with the rule.
    PartnerCrewOr(Rule),
    /// The same, for staff with at least one of the rules.
    PartnerCrewOrAny(Rule, Rule),
    /// Resellers for their own data, admins, and staff with the rule.
    ResellerOr(Rule),
}

impl Access {
    /// Whether the operation can be called without a token.
    pub fn admits_guests(self) -> bool {
        matches!(self, Self::Public | Self::Guest | Self::GuestOr(_))
    }

    /// The rules of which an impersonator of a partner needs one: those that guard the operation for
    /// staff. What a partner does for itself alone is part of managing partners.
    pub fn rules_of_impersonator(self, changes: bool) -> Vec<Rule> {
        match self {
            Self::Public | Self::Guest | Self::AnySession => Vec::new(),
            Self::GuestOr(rule) | Self::Staff(rule) => vec![rule],
            Self::PartnerOr(rule) | Self::PartnerCrewOr(rule) => vec![rule],
            Self::ResellerOr(rule) => vec![rule],
            Self::PartnerCrewOrAny(one, other) => vec![one, other],
            Self::SignedIn | Self::OwnAccount | Self::Admin | Self::Partner => match changes {
                true => vec![Rule::PartnersWrite],
                false => vec![Rule::PartnersRead],
            },
        }
    }
}
