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
        ReportsRead = "reports.read",
        AuditRead = "audit.read",
        PrivacyManage = "privacy.manage",
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
    pub enum Role { Admin = "admin", Staff = "staff", Mitra = "mitra" }
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
    /// Every signed-in account.
    SignedIn,
    Admin,
    /// Admins, and staff whose permission has the rule.
    Staff(Rule),
    /// Partners, for their own data.
    Partner,
    /// Partners for their own data, admins, and staff with the rule.
    PartnerOr(Rule),
}

impl Access {
    /// Whether the operation can be called without a token.
    pub fn admits_guests(self) -> bool {
        matches!(self, Self::Public | Self::Guest | Self::GuestOr(_))
    }
}
