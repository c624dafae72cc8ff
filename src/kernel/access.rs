//! Who may do what: the catalogue of rules, and the access column of the table.

crate::words! {
    /// What a permission can allow.
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
    }
}

crate::words! {
    /// The rank of a permission, highest first.
    pub enum Level {
        Owner = "owner",
        Manager = "manager",
        Supervisor = "supervisor",
        Operator = "operator",
        Viewer = "viewer",
    }
}

crate::words! {
    /// What an account is for.
    pub enum Role { Admin = "admin", Staff = "staff", Mitra = "mitra" }
}

/// The access column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone; a bearer token is not looked at.
    Public,
    /// Anyone; a bearer token that is sent must be good, and says who.
    Guest,
    /// Guests and partners as under `Guest`; admins, and staff with the rule.
    GuestOr(Rule),
    /// Whoever has signed in.
    SignedIn,
    Admin,
    /// Admins, and staff whose permission has the rule.
    Staff(Rule),
    /// The partner, for its own.
    Partner,
    /// The partner for its own, admins, and staff with the rule.
    PartnerOr(Rule),
}

impl Access {
    /// Whether one can come without a token.
    pub fn admits_guests(self) -> bool {
        matches!(self, Self::Public | Self::Guest | Self::GuestOr(_))
    }
}
