//! The table: verb, path, who may, handler, what it is for. One line per operation.
//!
//! A changing operation says in the first column what it does to offers, which cached responses show
//! (ADR 15). Where that is not obvious:
//!
//! - `update_profile` and `update_partner` change them: an offer shows the name of its partner.
//! - `review_document` and `update_onboarding` keep them: before its first approval a partner has
//!   nothing on sale, and a later review takes nothing off sale.
//! - `create_speedboat`, `create_route` and `update_route` keep them: only publication offers
//!   something. A published price never changes; another price is another publication.
//! - Promotions and taxes keep them: an offer shows the price before both.
//! - `pay_cash`, `pay_again` and `record_refund` keep them: seats were taken when the booking was
//!   made, and came back when it was cancelled. `payment_callback` and `resolve_payment_review` can
//!   take seats again for a payment that came late.
//! - `check_in` and `undo_check_in` keep them: they change passengers, and not the sailing.

use crate::{
    accounts::*,
    app::App,
    audit::*,
    boarding::*,
    bookings::*,
    contents::*,
    dashboard::*,
    disruptions::*,
    files::*,
    fleet::*,
    kernel::access::{Access::*, Rule::*},
    notifications::*,
    overview::*,
    partners::*,
    payments::*,
    promotions::*,
    reports::*,
    sailings::*,
    service::*,
    settlements::*,
    staff::*,
    statistic::*,
    table::{Table, UnsafeMethod, Verb},
    taxes::*,
    tickets::*,
    webhooks::*,
};

const GET: Verb = Verb::GET;
const POST: UnsafeMethod = UnsafeMethod::POST;
const PUT: UnsafeMethod = UnsafeMethod::PUT;
const PATCH: UnsafeMethod = UnsafeMethod::PATCH;
const DELETE: UnsafeMethod = UnsafeMethod::DELETE;

#[rustfmt::skip]
pub fn table(app: App) -> Table {
    Table::new(app)
    // Signing in
    .op(POST.keeps_offers(), "/v1/auth/login",        Public,   login,           "Sign in").at_most(60)
    .op(POST.keeps_offers(), "/v1/auth/logout",       SignedIn, logout,          "End this session")
    .op(POST.keeps_offers(), "/auth/register-mitra",  Public,   register_mitra,  "Register as a partner").at_most(20)
    .op(POST.keeps_offers(), "/auth/forgot-password", Public,   forgot_password, "Have a reset link mailed").at_most(20)
    .op(POST.keeps_offers(), "/auth/reset-password",  Public,   reset_password,  "Set a password with a mailed token").at_most(20)
    .op(POST.keeps_offers(), "/auth/remember-me",     Guest,    remember_me,     "Enrol a device, or resume on it").at_most(60)
    // One's own account
    .op(GET,                       "/user/me",               SignedIn, get_profile,     "Profile")
    .op(PUT.changes_some_offers(), "/user/me",               SignedIn, update_profile,  "Update the profile")
    .op(PUT.keeps_offers(),        "/user/me/password",      SignedIn, change_password, "Change the password")
    .op(GET,                       "/user/me/sessions",      SignedIn, list_sessions,   "Open sessions")
    .op(DELETE.keeps_offers(),     "/user/me/sessions/{id}", SignedIn, end_session,     "End a session")
    // Accounts, for the platform's people
    .op(GET,                 "/v1/users",             Staff(UsersRead), list_users,          "Users")
    .op(GET,                 "/v1/users/statistics",  Staff(UsersRead), user_statistics,     "User statistics")
    .op(GET,                 "/v1/users/{id}",        Staff(UsersRead), get_user,            "A user")
    .op(POST.keeps_offers(), "/v1/users/admins",      Admin,            invite_admin,        "Invite an admin")
    .op(PUT.keeps_offers(),  "/v1/users/{id}/status", Admin,            change_admin_status, "Switch an admin on or off")
    // The platform's people and what they may do
    .op(GET,                   "/v1/staffs",           Staff(StaffRead),        list_staff,           "Staff")
    .op(POST.keeps_offers(),   "/v1/staff",            Staff(StaffWrite),       create_staff,         "Invite a staff member")
    .op(GET,                   "/v1/staff/{id}",       Staff(StaffRead),        get_staff,            "A staff member")
    .op(PUT.keeps_offers(),    "/v1/staff/{id}",       Staff(StaffWrite),       update_staff,         "Change a staff member")
    .op(DELETE.keeps_offers(), "/v1/staff/{id}",       Staff(StaffWrite),       delete_staff,         "Remove a staff member")
    .op(GET,                   "/v1/permissions",      Staff(PermissionsRead),  list_permissions,     "Permissions")
    .op(POST.keeps_offers(),   "/v1/permission",       Staff(PermissionsWrite), create_permission,    "Make a permission")
    .op(GET,                   "/v1/permission/rules", Staff(PermissionsRead),  get_permission_rules, "The catalogue of rules")
    .op(GET,                   "/v1/permission/{id}",  Staff(PermissionsRead),  get_permission,       "A permission")
    .op(PUT.keeps_offers(),    "/v1/permission/{id}",  Staff(PermissionsWrite), update_permission,    "Change a permission")
    .op(DELETE.keeps_offers(), "/v1/permission/{id}",  Staff(PermissionsWrite), delete_permission,    "Remove a permission")
    .op(GET,                   "/v1/audit-logs",       Staff(AuditRead),        list_audit_logs,      "Who changed what")
    // Partners
    .op(GET,                   "/v1/mitra/onboarding",                       Partner,                    get_onboarding,       "The papers of a partner")
    .op(PATCH.keeps_offers(),  "/v1/mitra/onboarding",                       Partner,                    update_onboarding,    "Fill in and hand in papers")
    .op(GET,                   "/v1/mitra/manajemen",                        Staff(PartnersRead),        list_partners,        "Partners")
    .op(POST.keeps_offers(),   "/v1/mitra/manajemen",                        Staff(PartnersWrite),       create_partner,       "Invite a partner")
    .op(GET,                   "/v1/mitra/manajemen/statistics",             Staff(PartnersRead),        partner_statistics,   "Partner statistics")
    .op(PUT.changes_offers(),  "/v1/mitra/manajemen/{id}",                   Staff(PartnersWrite),       update_partner,       "Change a partner")
    .op(GET,                   "/v1/mitra/manajemen/{id}/edit",              Staff(PartnersRead),        edit_partner,         "A partner, for a form")
    .op(GET,                   "/v1/mitra/manajemen/{id}/overview",          Staff(PartnersRead),        partner_overview,     "A partner at a glance")
    .op(GET,                   "/v1/mitra/manajemen/{id}/documents",         Staff(PartnersRead),        list_documents,       "A partner's documents")
    .op(PUT.keeps_offers(),    "/v1/mitra/manajemen/{id}/document-approval", Staff(PartnersApprove),     review_document,      "Approve or reject a document")
    .op(PUT.keeps_offers(),    "/v1/mitra/manajemen/{id}/bank-approval",     Staff(PartnersApprove),     approve_bank_account, "Approve a changed bank account")
    .op(POST.changes_offers(), "/v1/mitra/manajemen/{id}/suspend",           Staff(PartnersSuspend),     suspend_partner,      "Suspend a partner")
    .op(POST.changes_offers(), "/v1/mitra/manajemen/{id}/unsuspend",         Staff(PartnersSuspend),     unsuspend_partner,    "Let a partner back")
    .op(POST.keeps_offers(),   "/v1/mitra/manajemen/{id}/impersonate",       Staff(PartnersImpersonate), impersonate_partner,  "Act in a partner's name")
    .op(POST.keeps_offers(),   "/v1/mitra/manajemen/{id}/resend-invitation", Staff(PartnersWrite),       resend_invitation,    "Mail the invitation again")
    // Boats, routes and sailings
    .op(GET,                       "/v1/mitra/speedboats",                    PartnerOr(FleetRead),   list_own_speedboats,   "A partner's boats")
    .op(GET,                       "/v1/speedboats",                          PartnerOr(FleetRead),   list_speedboats,       "Boats")
    .op(POST.keeps_offers(),       "/v1/speedboats",                          PartnerOr(FleetWrite),  create_speedboat,      "Add a boat")
    .op(GET,                       "/v1/speedboats/summary",                  PartnerOr(FleetRead),   speedboat_summary,     "The fleet in numbers")
    .op(POST.read_only().cached(), "/v1/speedboats/search",                   Public,                 search_sailings,       "Search sailings")
    .op(GET.cached(),              "/v1/speedboats/locations",                Public,                 list_locations,        "Where one can go")
    .op(GET,                       "/v1/speedboats/{id}",                     PartnerOr(FleetRead),   get_speedboat,         "A boat")
    .op(PUT.changes_offers(),      "/v1/speedboats/{id}",                     PartnerOr(FleetWrite),  update_speedboat,      "Change a boat")
    .op(DELETE.changes_offers(),   "/v1/speedboats/{id}",                     PartnerOr(FleetWrite),  delete_speedboat,      "Remove a boat")
    .op(GET,                       "/v1/mitra/speedboat-routes",              PartnerOr(RoutesRead),  list_routes,           "Routes")
    .op(POST.keeps_offers(),       "/v1/mitra/speedboat-routes",              PartnerOr(RoutesWrite), create_route,          "Plan a route")
    .op(PUT.keeps_offers(),        "/v1/mitra/speedboat-routes/{id}",         PartnerOr(RoutesWrite), update_route,          "Change a draft")
    .op(DELETE.changes_offers(),   "/v1/mitra/speedboat-routes/{id}",         PartnerOr(RoutesWrite), delete_route,          "Take a route off")
    .op(GET.changes_offers(),      "/v1/mitra/speedboat-routes/{id}/publish", PartnerOr(RoutesWrite), publish_route,         "Publish a route")
    .op(POST.changes_offers(),     "/v1/mitra/speedboat-routes/{id}/publish", PartnerOr(RoutesWrite), publish_route_by_post, "Publish a route")
    .op(GET,                       "/v1/mitra/speedboat-routes/{id}/times",   PartnerOr(RoutesRead),  list_sailings,         "The sailings of a route")
    // At the pier
    .op(PUT.changes_some_offers(),  "/v1/mitra/route-times/{id}",                PartnerOr(RoutesWrite),   move_sailing,   "Give a sailing another time")
    .op(POST.changes_some_offers(), "/v1/mitra/route-times/{id}/cancel",         PartnerOr(RoutesWrite),   cancel_sailing, "Cancel a sailing and its bookings")
    .op(GET,                        "/v1/mitra/route-times/{id}/manifest",       PartnerOr(BookingsRead),  get_manifest,   "Who sails")
    .op(POST.changes_some_offers(), "/v1/mitra/route-times/{id}/manifest/close", PartnerOr(BookingsWrite), close_manifest, "Close the manifest")
    .op(POST.keeps_offers(),        "/v1/mitra/route-times/{id}/check-in",       PartnerOr(BookingsWrite), check_in,       "Let passengers on board")
    .op(POST.keeps_offers(),        "/v1/mitra/route-times/{id}/check-in/undo",  PartnerOr(BookingsWrite), undo_check_in,  "Take a passenger off again")
    // Promotions and taxes
    .op(GET,                   "/v1/contents/promotions",      Public,                 list_running_promotions, "Promotions that run")
    .op(POST.keeps_offers(),   "/v1/contents/promotion",       Staff(PromotionsWrite), create_promotion,        "Make a promotion")
    .op(GET,                   "/v1/promotions",               Staff(PromotionsRead),  list_promotions,         "Promotions")
    .op(GET,                   "/v1/promotion/{id}",           Staff(PromotionsRead),  get_promotion,           "A promotion")
    .op(PUT.keeps_offers(),    "/v1/promotion/{id}",           Staff(PromotionsWrite), update_promotion,        "Change a promotion")
    .op(DELETE.keeps_offers(), "/v1/promotion/{id}",           Staff(PromotionsWrite), delete_promotion,        "Remove a promotion")
    .op(GET,                   "/v1/configurations/taxs",      Staff(TaxesRead),       list_taxes,              "Taxes")
    .op(POST.keeps_offers(),   "/v1/configurations/taxs",      Staff(TaxesWrite),      create_tax,              "Add a tax")
    .op(PUT.keeps_offers(),    "/v1/configurations/taxs/{id}", Staff(TaxesWrite),      update_tax,              "Change a tax")
    .op(DELETE.keeps_offers(), "/v1/configurations/taxs/{id}", Staff(TaxesWrite),      delete_tax,              "Remove a tax")
    // Bookings and payments
    .op(POST.changes_some_offers(), "/v1/booking",                      GuestOr(BookingsWrite),   create_booking::<PaymentAttempts>, "Book").at_most(60)
    .op(GET,                        "/v1/booking",                      GuestOr(BookingsRead),    list_bookings,          "Bookings")
    .op(POST.read_only(),           "/v1/booking/validate-code-promo",  Public,                   validate_promo,         "Try a promotion's code").at_most(60)
    .op(GET,                        "/v1/booking/{id}",                 GuestOr(BookingsRead),    get_booking,            "A booking")
    .op(POST.changes_some_offers(), "/v1/booking/{id}/cancel",          GuestOr(BookingsWrite),   cancel_booking,         "Cancel a booking").at_most(60)
    .op(POST.changes_some_offers(), "/v1/booking/{id}/reschedule",      GuestOr(BookingsWrite),   reschedule_booking,     "Move to another sailing").at_most(60)
    .op(POST.keeps_offers(),        "/v1/booking/{id}/payment",         GuestOr(BookingsWrite),   pay_again,              "Open another attempt to pay").at_most(60)
    .op(POST.keeps_offers(),        "/v1/booking/{id}/pay-cash",        PartnerOr(BookingsWrite), pay_cash,               "Take cash for a booking")
    .op(POST.keeps_offers(),        "/v1/booking/{id}/refund",          Staff(BookingsWrite),     record_refund,          "Record that a refund was paid")
    .op(GET,                        "/v1/booking/{id}/ticket",          GuestOr(BookingsRead),    get_ticket,             "The tickets of a booking, as PDF")
    .op(POST.keeps_offers(),        "/v1/booking/{id}/resend-ticket",   GuestOr(BookingsWrite),   resend_ticket,          "Mail the tickets again").at_most(20)
    .op(GET,                        "/v1/tickets/public-key",           Public,                   get_ticket_key,         "What tickets are checked with")
    .op(POST.changes_some_offers(), "/v1/payment/callback",             Public,                   payment_callback,       "A provider's notification")
    .op(GET,                        "/v1/payment/reviews",              Staff(BookingsWrite),     list_payment_reviews,   "Money that waits for a decision")
    .op(POST.changes_offers(),      "/v1/payment/reviews/{id}/resolve", Staff(BookingsWrite),     resolve_payment_review, "Decide about it")
    // Paying partners
    .op(GET,                 "/v1/settlements",               PartnerOr(SettlementsRead),  list_settlements,             "Settlements")
    .op(POST.keeps_offers(), "/v1/settlements/manual",        Staff(SettlementsWrite),     create_settlement,            "Settle with a partner")
    .op(GET,                 "/v1/settlements/configuration", Staff(SettlementsConfigure), get_settlement_configuration, "What is agreed with partners")
    .op(POST.keeps_offers(), "/v1/settlements/configuration", Staff(SettlementsConfigure), configure_settlements,        "Agree on something else")
    .op(GET,                 "/v1/settlements/{id}",          PartnerOr(SettlementsRead),  get_settlement,               "A settlement")
    .op(POST.keeps_offers(), "/v1/settlements/{id}/release",  Staff(SettlementsRelease),   release_settlement,           "Record that it was paid out")
    .op(POST.keeps_offers(), "/v1/settlements/{id}/cancel",   Staff(SettlementsWrite),     cancel_settlement,            "Call a settlement off")
    // Figures
    .op(GET, "/v1/finance/reports/overview",                  Staff(ReportsRead),      finance_overview,          "What was paid, refunded and earned")
    .op(GET, "/v1/finance/reports/revenue-breakdown/payment", Staff(ReportsRead),      revenue_by_payment_method, "Revenue by payment method")
    .op(GET, "/v1/finance/reports/revenue-breakdown/type",    Staff(ReportsRead),      revenue_by_type,           "Revenue by booking type")
    .op(GET, "/v1/finance/reports/revenue-breakdown/partner", Staff(ReportsRead),      revenue_by_partner,        "Revenue by partner")
    .op(GET, "/v1/dashboard",                                 SignedIn,                get_dashboard,             "The harbour at a glance")
    .op(GET, "/v1/dashboard/mitra-statistic",                 PartnerOr(PartnersRead), mitra_statistic,           "A partner in numbers")
    // Contents
    .op(GET,                 "/v1/contents/cta-partnership",               Public,               get_cta_partnership,  "The call to become a partner")
    .op(POST.keeps_offers(), "/v1/contents/cta-partnership",               Staff(ContentsWrite), save_cta_partnership, "Change the call")
    .op(GET,                 "/v1/configurations/term-conditions",         Public,               get_terms,            "Terms that are in force")
    .op(GET,                 "/v1/configurations/term-conditions/history", Staff(TermsWrite),    list_terms_history,   "Every version of terms")
    .op(POST.keeps_offers(), "/v1/configurations/term-condition/create",   Staff(TermsWrite),    create_terms,         "Draft terms")
    .op(PUT.keeps_offers(),  "/v1/configurations/term-condition/update",   Staff(TermsWrite),    update_terms,         "Change a draft, or begin the next")
    .op(POST.keeps_offers(), "/v1/configurations/term-condition/publish",  Staff(TermsPublish),  publish_terms,        "Publish a draft")
    // What people are told
    .op(GET,                "/v1/notifications",           SignedIn, list_notifications,     "What one was told")
    .op(GET,                "/v1/notifications/stream",    SignedIn, stream_notifications,   "What one is told, as it happens")
    .op(PUT.keeps_offers(), "/v1/notifications/read-all",  SignedIn, read_all_notifications, "Mark all as read")
    .op(GET,                "/v1/notifications/{id}",      SignedIn, get_notification,       "A notification")
    .op(PUT.keeps_offers(), "/v1/notifications/{id}/read", SignedIn, read_notification,      "Mark as read")
    .op(GET,                "/v1/notification/user/{id}",  SignedIn, list_notifications_of,  "What somebody was told")
    // Other systems
    .op(GET,                   "/v1/webhooks",                                      Admin, list_webhooks,   "Webhooks")
    .op(POST.keeps_offers(),   "/v1/webhooks",                                      Admin, create_webhook,  "Follow events")
    .op(PUT.keeps_offers(),    "/v1/webhooks/{id}",                                 Admin, update_webhook,  "Change a webhook")
    .op(DELETE.keeps_offers(), "/v1/webhooks/{id}",                                 Admin, delete_webhook,  "Remove a webhook")
    .op(GET,                   "/v1/webhooks/{id}/deliveries",                      Admin, list_deliveries, "What was sent, and what came of it")
    .op(POST.keeps_offers(),   "/v1/webhooks/{id}/deliveries/{delivery_id}/resend", Admin, resend_delivery, "Send it again")
    // Files
    .op(POST.keeps_offers(), "/v1/files/upload",       SignedIn, upload_file,   "Upload a file")
    .op(GET.keeps_offers(),  "/v1/files/presign-url",  SignedIn, presign_url,   "An address to upload to")
    .op(GET,                 "/v1/files/{id}",         Guest,    download_file, "A file's content")
    .op(PUT.keeps_offers(),  "/v1/files/{id}/content", Public,   receive_file,  "Upload to a signed address")
    // The service itself
    .op(GET, "/health",       Public, health, "Health")
    .op(GET, "/health/live",  Public, live,   "Is the process alive?")
    .op(GET, "/health/ready", Public, ready,  "Can it serve?")
    .page("/metrics", metrics)
    .page("/reset-password", reset_page)
    .page_with_form("/pay/{reference}", pay_page, pay_page_pressed)
}
