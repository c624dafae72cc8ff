//! The table: verb, path, who may, handler, what it is for. One line per operation.
//!
//! A changing operation says in the first column what it does to offers, which cached responses show
//! (ADR 15). Where that is not obvious:
//!
//! - `update_profile` and `update_partner` change them: an offer shows the name of its partner.
//! - `review_document` and `update_onboarding` keep them: before its first approval a partner has
//!   nothing on sale, and a later review takes nothing off sale.
//! - `create_speedboat`, `create_route` and `update_route` keep them: only publication offers
//!   something.
//! - `create_harbour` and `delete_harbour` keep them: nothing sails from a harbour without routes.
//! - `update_line` changes them: an offer shows the fares of its line.
//! - `update_sailing` and `update_sailings` change the price, times and boat of what is published, for
//!   the harbours of one route.
//! - Promotions and taxes keep them: an offer shows the price before both.
//! - `pay_cash`, `pay_again`, `record_refund` and `pay_refund` keep them: seats were taken when the
//!   booking was made, and came back when it was cancelled. `payment_callback` and `resolve_payment_review` can
//!   take seats again for a payment that came late.
//! - `check_in` and `undo_check_in` keep them: they change passengers, and not the sailing.
//!
//! `recent_sign_in()` marks what a stolen token must not be able to do for long: money, rights,
//! webhooks, acting for others. `before_enrolment()` marks the little that an account may do that has
//! to set up a second factor first; `before_enrolment_for_pages()` what a page may read for it.
//!
//! Whoever impersonates a partner also needs the rule that guards an operation for staff. Where there
//! is none, it is `partners.write` for a changing operation and `partners.read` for another one
//! (`Access::rules_of_impersonator`).

use crate::{
    accounts::*,
    app::App,
    audit::*,
    boarding::*,
    bookings::*,
    catalog::*,
    contents::*,
    crew::*,
    dashboard::*,
    disruptions::*,
    files::*,
    finance::*,
    fleet::*,
    harbours::*,
    kernel::access::{Access::*, Rule::*},
    lines::*,
    notifications::*,
    overview::*,
    partners::*,
    payments::*,
    privacy::*,
    promotions::*,
    reports::*,
    resellers::*,
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
    .op(POST.keeps_offers(),                    "/v1/auth/login",            Public,     login,               "Sign in").at_most(60)
    .op(POST.keeps_offers().before_enrolment(), "/v1/auth/logout",           AnySession, logout,              "Sign out")
    .op(POST.keeps_offers(),                    "/auth/register-mitra",      Public,     register_mitra,      "Register partner").at_most(20)
    .op(POST.keeps_offers(),                    "/auth/forgot-password",     Public,     forgot_password,     "Request password reset").at_most(20)
    .op(POST.keeps_offers(),                    "/auth/reset-password",      Public,     reset_password,      "Reset password").at_most(20)
    .op(POST.keeps_offers(),                    "/auth/remember-me",         Guest,      remember_me,         "Enrol or resume remembered device").at_most(60)
    .op(POST.keeps_offers(),                    "/auth/verify-email",        Public,     verify_email,        "Verify e-mail address").at_most(20)
    .op(POST.keeps_offers(),                    "/auth/resend-verification", OwnAccount, resend_verification, "Resend verification mail").at_most(20)
    .op(POST.keeps_offers(),                    "/auth/confirm-email",       Public,     confirm_email,       "Confirm new e-mail address").at_most(20)
    .op(POST.keeps_offers(),                    "/auth/cancel-email-change", Public,     cancel_email_change, "Cancel change of e-mail address").at_most(20)
    // One's own account
    .op(GET.before_enrolment_for_pages(),       "/user/me",                OwnAccount, get_profile,     "Get own profile")
    .op(PUT.changes_some_offers(),              "/user/me",                OwnAccount, update_profile,  "Update own profile")
    .op(PUT.keeps_offers(),                     "/user/me/password",       OwnAccount, change_password, "Change own password")
    .op(GET,                                    "/user/me/sessions",       OwnAccount, list_sessions,   "List own sessions")
    .op(DELETE.keeps_offers(),                  "/user/me/sessions/{id}",  OwnAccount, end_session,     "End own session")
    .op(POST.keeps_offers(),                    "/user/me/reauthenticate", OwnAccount, reauthenticate,  "Confirm own password")
    .op(POST.keeps_offers().before_enrolment(), "/user/me/totp",           OwnAccount, enrol_totp,      "Enrol second factor")
    .op(POST.keeps_offers().before_enrolment(), "/user/me/totp/confirm",   OwnAccount, confirm_totp,    "Confirm second factor")
    .op(DELETE.keeps_offers(),                  "/user/me/totp",           OwnAccount, remove_totp,     "Remove own second factor")
    // Accounts, for the platform's people
    .op(GET,                                    "/v1/users",             Staff(UsersRead), list_users,          "List users")
    .op(GET,                                    "/v1/users/statistics",  Staff(UsersRead), user_statistics,     "Get user statistics")
    .op(GET,                                    "/v1/users/{id}",        Staff(UsersRead), get_user,            "Get user")
    .op(POST.keeps_offers().recent_sign_in(),   "/v1/users/admins",      Admin,            invite_admin,        "Invite admin")
    .op(PUT.keeps_offers(),                     "/v1/users/{id}/status", Admin,            change_admin_status, "Update admin status")
    .op(DELETE.keeps_offers().recent_sign_in(), "/v1/users/{id}/totp",   Admin,            reset_totp,          "Reset second factor of an account")
    // The platform's people and what they may do
    .op(GET,                                    "/v1/staffs",           Staff(StaffRead),        list_staff,           "List staff members")
    .op(POST.keeps_offers().recent_sign_in(),   "/v1/staff",            Staff(StaffWrite),       create_staff,         "Create staff member")
    .op(GET,                                    "/v1/staff/{id}",       Staff(StaffRead),        get_staff,            "Get staff member")
    .op(PUT.keeps_offers().recent_sign_in(),    "/v1/staff/{id}",       Staff(StaffWrite),       update_staff,         "Update staff member")
    .op(DELETE.keeps_offers(),                  "/v1/staff/{id}",       Staff(StaffWrite),       delete_staff,         "Delete staff member")
    .op(GET,                                    "/v1/permissions",      Staff(PermissionsRead),  list_permissions,     "List permissions")
    .op(POST.keeps_offers().recent_sign_in(),   "/v1/permission",       Staff(PermissionsWrite), create_permission,    "Create permission")
    .op(GET,                                    "/v1/permission/rules", Staff(PermissionsRead),  get_permission_rules, "List permission rules")
    .op(GET,                                    "/v1/permission/{id}",  Staff(PermissionsRead),  get_permission,       "Get permission")
    .op(PUT.keeps_offers().recent_sign_in(),    "/v1/permission/{id}",  Staff(PermissionsWrite), update_permission,    "Update permission")
    .op(DELETE.keeps_offers().recent_sign_in(), "/v1/permission/{id}",  Staff(PermissionsWrite), delete_permission,    "Delete permission")
    .op(GET,                                    "/v1/audit-logs",       Staff(AuditRead),        list_audit_logs,      "List audit log entries")
    // Personal data
    .op(POST.keeps_offers(), "/v1/privacy/export", Staff(PrivacyManage), export_personal_data, "Export personal data")
    .op(POST.changes_offers(), "/v1/privacy/erase",  Staff(PrivacyManage), erase_personal_data,  "Erase personal data")
    // Partners
    .op(GET,                                  "/v1/mitra/onboarding",                       Partner,                    get_onboarding,       "Get own onboarding")
    .op(PATCH.keeps_offers(),                 "/v1/mitra/onboarding",                       Partner,                    update_onboarding,    "Update or submit own onboarding")
    .op(GET,                                  "/v1/mitra/manajemen",                        Staff(PartnersRead),        list_partners,        "List partners")
    .op(POST.keeps_offers(),                  "/v1/mitra/manajemen",                        Staff(PartnersWrite),       create_partner,       "Create partner")
    .op(GET,                                  "/v1/mitra/manajemen/statistics",             Staff(PartnersRead),        partner_statistics,   "Get partner statistics")
    .op(PUT.changes_offers(),                 "/v1/mitra/manajemen/{id}",                   Staff(PartnersWrite),       update_partner,       "Update partner")
    .op(GET,                                  "/v1/mitra/manajemen/{id}/edit",              Staff(PartnersRead),        edit_partner,         "Get partner for editing")
    .op(GET,                                  "/v1/mitra/manajemen/{id}/overview",          Staff(PartnersRead),        partner_overview,     "Get partner overview")
    .op(GET,                                  "/v1/mitra/manajemen/{id}/documents",         Staff(PartnersRead),        list_documents,       "List partner documents")
    .op(PUT.keeps_offers(),                   "/v1/mitra/manajemen/{id}/document-approval", Staff(PartnersApprove),     review_document,      "Review partner document")
    .op(PUT.keeps_offers().recent_sign_in(),  "/v1/mitra/manajemen/{id}/bank-approval",     Staff(PartnersApprove),     approve_bank_account, "Review partner bank account")
    .op(POST.changes_offers(),                "/v1/mitra/manajemen/{id}/suspend",           Staff(PartnersSuspend),     suspend_partner,      "Suspend partner")
    .op(POST.changes_offers(),                "/v1/mitra/manajemen/{id}/unsuspend",         Staff(PartnersSuspend),     unsuspend_partner,    "Lift partner suspension")
    .op(POST.keeps_offers().recent_sign_in(), "/v1/mitra/manajemen/{id}/impersonate",       Staff(PartnersImpersonate), impersonate_partner,  "Impersonate partner")
    .op(POST.keeps_offers(),                  "/v1/mitra/manajemen/{id}/resend-invitation", Staff(PartnersWrite),       resend_invitation,    "Resend partner invitation")
    // The crew of a partner
    .op(GET,                   "/v1/mitra/crew",                        Partner, list_crew,              "List own crew")
    .op(POST.keeps_offers(),   "/v1/mitra/crew",                        Partner, invite_crew,            "Invite crew member").at_most(20)
    .op(DELETE.keeps_offers(), "/v1/mitra/crew/{id}",                   Partner, remove_crew,            "Remove crew member")
    .op(POST.keeps_offers(),   "/v1/mitra/crew/{id}/resend-invitation", Partner, resend_crew_invitation, "Resend crew invitation").at_most(20)
    // Boats, routes and sailings
    .op(GET,                       "/v1/mitra/speedboats",                    PartnerOr(FleetRead),   list_own_speedboats,   "List speedboats of one partner")
    .op(GET,                       "/v1/speedboats",                          PartnerOr(FleetRead),   list_speedboats,       "List speedboats")
    .op(POST.keeps_offers(),       "/v1/speedboats",                          PartnerOr(FleetWrite),  create_speedboat,      "Create speedboat")
    .op(GET,                       "/v1/speedboats/summary",                  PartnerOr(FleetRead),   speedboat_summary,     "Get fleet summary")
    .op(POST.read_only().cached(), "/v1/speedboats/search",                   Public,                 search_sailings,       "Search sailings")
    .op(GET.cached(),              "/v1/speedboats/locations",                Public,                 list_locations,        "List locations")
    .op(GET,                       "/v1/speedboats/{id}",                     PartnerOr(FleetRead),   get_speedboat,         "Get speedboat")
    .op(PUT.changes_offers(),      "/v1/speedboats/{id}",                     PartnerOr(FleetWrite),  update_speedboat,      "Update speedboat")
    .op(DELETE.changes_offers(),   "/v1/speedboats/{id}",                     PartnerOr(FleetWrite),  delete_speedboat,      "Delete speedboat")
    .op(GET,                       "/v1/mitra/speedboat-routes",              PartnerOr(RoutesRead),  list_routes,           "List routes")
    .op(POST.keeps_offers(),       "/v1/mitra/speedboat-routes",              PartnerOr(RoutesWrite), create_route,          "Create route")
    .op(GET,                       "/v1/mitra/speedboat-routes/{id}",         PartnerOr(RoutesRead),  get_route,             "Get route")
    .op(PUT.keeps_offers(),        "/v1/mitra/speedboat-routes/{id}",         PartnerOr(RoutesWrite), update_route,          "Update route")
    .op(DELETE.changes_offers(),   "/v1/mitra/speedboat-routes/{id}",         PartnerOr(RoutesWrite), delete_route,          "Delete or archive route")
    .op(GET.changes_offers(),      "/v1/mitra/speedboat-routes/{id}/publish", PartnerOr(RoutesWrite), publish_route,         "Publish route (GET)")
    .op(POST.changes_offers(),     "/v1/mitra/speedboat-routes/{id}/publish", PartnerOr(RoutesWrite), publish_route_by_post, "Publish route")
    .op(GET,                       "/v1/mitra/speedboat-routes/{id}/times",   PartnerOr(RoutesRead),  list_sailings,         "List sailings of a route")
    .op(GET,                       "/v1/mitra/lines",                         PartnerOr(RoutesRead),  list_lines,            "List lines")
    .op(GET,                       "/v1/mitra/lines/{id}",                    PartnerOr(RoutesRead),  get_line,              "Get line")
    .op(PUT.changes_offers(),      "/v1/mitra/lines/{id}",                    PartnerOr(RoutesWrite), update_line,           "Update line")
    // What is published
    .op(GET.cached(),                "/v1/catalog/speedboats/{id}",              Public,                 get_catalog_speedboat, "Get catalog speedboat")
    .op(GET.cached(),                "/v1/catalog/partners",                     Public,                 list_catalog_partners, "List catalog partners")
    .op(GET.cached(),                "/v1/catalog/partners/{slug}",              Public,                 get_catalog_partner,   "Get catalog partner")
    .op(POST.changes_offers(),       "/v1/mitra/speedboat-routes/{id}/extend",   PartnerOr(RoutesWrite), extend_route,          "Extend route")
    .op(PATCH.changes_some_offers(), "/v1/mitra/speedboat-routes/{id}/sailings", PartnerOr(RoutesWrite), update_sailings,       "Update sailings of a route")
    // At the pier
    .op(GET,                        "/v1/mitra/route-times",                      PartnerCrewOrAny(BookingsRead, RoutesRead), list_route_times, "List sailings of all routes")
    .op(GET,                        "/v1/mitra/route-times/{id}",                 PartnerCrewOrAny(BookingsRead, RoutesRead), get_route_time,   "Get sailing")
    .op(PUT.changes_some_offers(),  "/v1/mitra/route-times/{id}",                 PartnerOr(RoutesWrite),                     update_sailing,   "Update sailing")
    .op(POST.changes_some_offers(), "/v1/mitra/route-times/{id}/cancel",          PartnerOr(RoutesWrite),                     cancel_sailing,   "Cancel sailing")
    .op(GET,                        "/v1/mitra/route-times/{id}/manifest",        PartnerCrewOr(BookingsRead),                get_manifest,     "Get manifest")
    .op(POST.changes_some_offers(), "/v1/mitra/route-times/{id}/manifest/close",  PartnerCrewOr(BookingsWrite),               close_manifest,   "Close manifest")
    .op(POST.changes_some_offers(), "/v1/mitra/route-times/{id}/manifest/reopen", PartnerCrewOr(BookingsWrite),               reopen_manifest,  "Reopen manifest")
    .op(POST.keeps_offers(),        "/v1/mitra/route-times/{id}/check-in",        PartnerCrewOr(BookingsWrite),               check_in,         "Check in passengers")
    .op(POST.keeps_offers(),        "/v1/mitra/route-times/{id}/check-in/undo",   PartnerCrewOr(BookingsWrite),               undo_check_in,    "Undo check-in")
    // Harbours
    .op(GET,                    "/v1/harbours",            Guest,                list_harbours,  "List harbours")
    .op(POST.keeps_offers(),    "/v1/harbours",            Staff(HarboursWrite), create_harbour, "Create harbour")
    .op(PUT.changes_offers(),   "/v1/harbours/{id}",       Staff(HarboursWrite), update_harbour, "Update harbour")
    .op(DELETE.keeps_offers(),  "/v1/harbours/{id}",       Staff(HarboursWrite), delete_harbour, "Delete harbour")
    .op(POST.changes_offers(),  "/v1/harbours/{id}/merge", Staff(HarboursWrite), merge_harbour,  "Merge harbour into another")
    // Promotions and taxes
    .op(GET,                   "/v1/contents/promotions",      Public,                 list_running_promotions, "List current promotions")
    .op(POST.keeps_offers(),   "/v1/contents/promotion",       Staff(PromotionsWrite), create_promotion,        "Create promotion")
    .op(GET,                   "/v1/promotions",               Staff(PromotionsRead),  list_promotions,         "List promotions")
    .op(GET,                   "/v1/promotion/{id}",           Staff(PromotionsRead),  get_promotion,           "Get promotion")
    .op(PUT.keeps_offers(),    "/v1/promotion/{id}",           Staff(PromotionsWrite), update_promotion,        "Update promotion")
    .op(DELETE.keeps_offers(), "/v1/promotion/{id}",           Staff(PromotionsWrite), delete_promotion,        "Delete promotion")
    .op(GET,                   "/v1/configurations/taxs",      Staff(TaxesRead),       list_taxes,              "List taxes")
    .op(POST.keeps_offers(),   "/v1/configurations/taxs",      Staff(TaxesWrite),      create_tax,              "Create tax")
    .op(PUT.keeps_offers(),    "/v1/configurations/taxs/{id}", Staff(TaxesWrite),      update_tax,              "Update tax")
    .op(DELETE.keeps_offers(), "/v1/configurations/taxs/{id}", Staff(TaxesWrite),      delete_tax,              "Delete tax")
    // Bookings and payments
    .op(POST.changes_some_offers(), "/v1/booking",                      GuestOr(BookingsWrite),   create_booking::<PaymentAttempts>, "Create booking").at_most(60)
    .op(GET,                        "/v1/booking",                      GuestOr(BookingsRead),    list_bookings,                     "List bookings")
    .op(POST.read_only(),           "/v1/booking/validate-code-promo",  Guest,                    validate_promo,                    "Validate promotion code").at_most(60)
    .op(POST.read_only(),           "/v1/booking/quote",                Guest,                    quote_booking,                     "Quote booking").at_most(60)
    .op(POST.keeps_offers(),        "/v1/booking/find",                 Public,                   find_bookings,                     "Find bookings by e-mail address").at_most(20)
    .op(GET,                        "/v1/booking/{id}",                 GuestOr(BookingsRead),    get_booking,                       "Get booking")
    .op(GET,                        "/v1/booking/{id}/options",         GuestOr(BookingsRead),    get_booking_options,               "Get options of a booking")
    .op(PUT.keeps_offers(),         "/v1/booking/{id}/passengers",      GuestOr(BookingsWrite),   correct_passengers,                "Correct passengers").at_most(60)
    .op(PUT.keeps_offers(),         "/v1/booking/{id}/contact",         PartnerOr(BookingsWrite), correct_contact,                   "Correct contact")
    .op(POST.changes_some_offers(), "/v1/booking/{id}/cancel",          GuestOr(BookingsWrite),   cancel_booking,                    "Cancel booking").at_most(60)
    .op(POST.changes_some_offers(), "/v1/booking/{id}/reschedule",      GuestOr(BookingsWrite),   reschedule_booking,                "Reschedule booking").at_most(60)
    .op(POST.keeps_offers(),        "/v1/booking/{id}/payment",         GuestOr(BookingsWrite),   pay_again,                         "Get or open payment attempt").at_most(60)
    .op(POST.keeps_offers(),        "/v1/booking/{id}/pay-cash",        PartnerOr(BookingsWrite), pay_cash,                          "Record cash payment")
    .op(POST.keeps_offers(),        "/v1/booking/{id}/refund",          Staff(BookingsWrite),     record_refund,                     "Record refund")
    .op(PUT.keeps_offers(),         "/v1/booking/{id}/refund-account",  GuestOr(BookingsWrite),   set_refund_account,                "Set account for refunds").at_most(60)
    .op(GET,                        "/v1/booking/{id}/ticket",          GuestOr(BookingsRead),    get_ticket,                        "Get tickets as PDF")
    .op(POST.keeps_offers(),        "/v1/booking/{id}/resend-ticket",   GuestOr(BookingsWrite),   resend_ticket,                     "Resend tickets").at_most(20)
    .op(GET,                        "/v1/tickets/public-key",           Public,                   get_ticket_key,                    "Get ticket public keys")
    .op(POST.changes_some_offers(), "/v1/payment/callback",             Public,                   payment_callback,                  "Receive payment notification")
    .op(POST.keeps_offers(),        "/v1/payment/payout-callback",      Public,                   payout_callback,                   "Receive payout notification")
    .op(GET,                        "/v1/payment/reviews",              Staff(BookingsWrite),     list_payment_reviews,              "List payment reviews")
    .op(POST.changes_offers(),      "/v1/payment/reviews/{id}/resolve", Staff(BookingsWrite),     resolve_payment_review,            "Resolve payment review")
    .op(GET,                        "/v1/refunds",                      PartnerOr(BookingsRead),  list_refunds,                      "List refunds")
    .op(GET,                        "/v1/refunds/{id}",                 PartnerOr(BookingsRead),  get_refund,                        "Get refund")
    .op(POST.keeps_offers(),        "/v1/refunds/{id}/pay",             PartnerOr(BookingsWrite), pay_refund,                        "Record payment of a refund")
    .op(POST.keeps_offers(),        "/v1/refunds/{id}/return",          Staff(BookingsWrite),     return_refund,                     "Record returned refund")
    .op(POST.keeps_offers(),        "/v1/refunds/{id}/retry",           Staff(BookingsWrite),     retry_refund,                      "Retry refund")
    // Paying partners
    .op(GET,                                  "/v1/settlements",               PartnerOr(SettlementsRead),      list_settlements,             "List settlements")
    .op(POST.keeps_offers(),                  "/v1/settlements/manual",        Staff(SettlementsWrite),         create_settlement,            "Create settlement")
    .op(GET,                                  "/v1/settlements/configuration", PartnerOr(SettlementsConfigure), get_settlement_configuration, "Get settlement configuration")
    .op(POST.keeps_offers(),                  "/v1/settlements/configuration", Staff(SettlementsConfigure),     configure_settlements,        "Update settlement configuration")
    .op(GET,                                  "/v1/settlements/receipts",      PartnerOr(SettlementsRead),      list_receipts,                "List receipts from partners")
    .op(POST.keeps_offers(),                  "/v1/settlements/receipts",      Staff(SettlementsWrite),         record_receipt,               "Record receipt from partner")
    .op(GET,                                  "/v1/settlements/{id}",          PartnerOr(SettlementsRead),      get_settlement,               "Get settlement")
    .op(POST.keeps_offers().recent_sign_in(), "/v1/settlements/{id}/release",  Staff(SettlementsRelease),       release_settlement,           "Release settlement")
    .op(POST.keeps_offers(),                  "/v1/settlements/{id}/cancel",   Staff(SettlementsWrite),         cancel_settlement,            "Cancel settlement")
    .op(POST.keeps_offers(),                  "/v1/settlements/{id}/return",   Staff(SettlementsWrite),         return_settlement,            "Return settlement")
    // Resellers
    .op(GET,                                  "/v1/resellers",                        ResellerOr(ResellersRead),    list_resellers,             "List resellers")
    .op(POST.keeps_offers().recent_sign_in(), "/v1/resellers",                        Admin,                        create_reseller,            "Create reseller")
    .op(GET,                                  "/v1/resellers/{id}",                   ResellerOr(ResellersRead),    get_reseller,               "Get reseller")
    .op(PUT.keeps_offers(),                   "/v1/resellers/{id}",                   Staff(ResellersWrite),        update_reseller,            "Update reseller")
    .op(POST.keeps_offers(),                  "/v1/resellers/{id}/suspend",           Staff(ResellersWrite),        suspend_reseller,           "Suspend reseller")
    .op(POST.keeps_offers(),                  "/v1/resellers/{id}/unsuspend",         Staff(ResellersWrite),        unsuspend_reseller,         "Lift reseller suspension")
    .op(POST.keeps_offers(),                  "/v1/resellers/{id}/resend-invitation", Staff(ResellersWrite),        resend_reseller_invitation, "Resend reseller invitation")
    .op(GET,                                  "/v1/resellers/{id}/keys",              ResellerOr(ResellersWrite),   list_reseller_keys,         "List API keys")
    .op(POST.keeps_offers().recent_sign_in(), "/v1/resellers/{id}/keys",              ResellerOr(ResellersWrite),   create_reseller_key,        "Create API key")
    .op(DELETE.keeps_offers(),                "/v1/resellers/{id}/keys/{key_id}",     ResellerOr(ResellersWrite),   revoke_reseller_key,        "Revoke API key")
    .op(GET,                                  "/v1/resellers/{id}/partners",          ResellerOr(ResellersRead),    get_reseller_grants,        "Get partners of a reseller")
    .op(PUT.keeps_offers(),                   "/v1/resellers/{id}/partners",          Staff(ResellersWrite),        set_reseller_grants,        "Update partners of a reseller")
    .op(GET,                                  "/v1/resellers/{id}/statement",         ResellerOr(ResellersFinance), get_reseller_statement,     "Get statement of a reseller")
    .op(GET,                                  "/v1/resellers/{id}/invoices",          ResellerOr(ResellersFinance), list_reseller_invoices,     "List invoices of a reseller")
    .op(POST.keeps_offers(),                  "/v1/resellers/{id}/invoices",          Staff(ResellersFinance),      create_reseller_invoice,    "Create invoice of a reseller")
    .op(POST.keeps_offers(),                  "/v1/resellers/{id}/payments",          Staff(ResellersFinance),      record_reseller_payment,    "Record payment of a reseller")
    // The books
    .op(GET,                                  "/v1/finance/trial-balance",           Staff(FinanceRead),     get_trial_balance,          "Get trial balance")
    .op(GET,                                  "/v1/finance/entries",                 Staff(FinanceRead),     list_entries,               "List ledger entries")
    .op(GET,                                  "/v1/finance/partners/{id}/statement", PartnerOr(FinanceRead), get_partner_statement,      "Get statement of a partner")
    .op(GET,                                  "/v1/finance/taxes",                   Staff(FinanceRead),     get_tax_report,             "Get monthly tax report")
    .op(GET,                                  "/v1/finance/provider-settlements",    Staff(FinanceRead),     list_provider_settlements,  "List provider settlements")
    .op(POST.keeps_offers(),                  "/v1/finance/provider-settlements",    Staff(FinanceWrite),    create_provider_settlement, "Record provider settlement")
    .op(GET,                                  "/v1/finance/reconciliation",          Staff(FinanceRead),     get_reconciliation,         "Get reconciliation with providers")
    .op(POST.keeps_offers(),                  "/v1/finance/tax-payments",            Staff(FinanceWrite),    create_tax_payment,         "Record tax payment")
    .op(POST.keeps_offers(),                  "/v1/finance/cash-deposits",           Staff(FinanceWrite),    create_cash_deposit,        "Record cash deposit")
    .op(GET,                                  "/v1/finance/journals",                Staff(FinanceRead),     list_journals,              "List journal entries")
    .op(POST.keeps_offers(),                  "/v1/finance/journals",                Staff(FinanceWrite),    create_journal,             "Create journal entry")
    .op(POST.keeps_offers().recent_sign_in(), "/v1/finance/journals/{id}/approve",   Staff(FinanceWrite),    approve_journal,            "Approve journal entry")
    .op(POST.keeps_offers(),                  "/v1/finance/journals/{id}/reject",    Staff(FinanceWrite),    reject_journal,             "Reject journal entry")
    .op(GET,                                  "/v1/finance/periods",                 Staff(FinanceRead),     list_periods,               "List accounting periods")
    .op(POST.keeps_offers(),                  "/v1/finance/periods/{month}/close",   Staff(FinanceWrite),    close_period,               "Close month")
    .op(POST.keeps_offers(),                  "/v1/finance/periods/{month}/reopen",  Staff(FinanceWrite),    reopen_period,              "Reopen month")
    // Figures
    .op(GET, "/v1/finance/reports/overview",                  Staff(ReportsRead),      finance_overview,          "Get finance overview")
    .op(GET, "/v1/finance/reports/revenue-breakdown/payment", Staff(ReportsRead),      revenue_by_payment_method, "Get revenue by payment method")
    .op(GET, "/v1/finance/reports/revenue-breakdown/type",    Staff(ReportsRead),      revenue_by_type,           "Get revenue by booking type")
    .op(GET, "/v1/finance/reports/revenue-breakdown/partner", Staff(ReportsRead),      revenue_by_partner,        "Get revenue by partner")
    .op(GET, "/v1/finance/reports/revenue-breakdown/reseller", Staff(ReportsRead),     revenue_by_reseller,       "Get revenue by reseller")
    .op(GET, "/v1/dashboard",                                 SignedIn,                get_dashboard,             "Get dashboard")
    .op(GET, "/v1/dashboard/mitra-statistic",                 PartnerOr(PartnersRead), mitra_statistic,           "Get partner figures")
    // Contents
    .op(GET,                 "/v1/contents/cta-partnership",               Public,               get_cta_partnership,  "Get partnership call to action")
    .op(POST.keeps_offers(), "/v1/contents/cta-partnership",               Staff(ContentsWrite), save_cta_partnership, "Update partnership call to action")
    .op(GET,                 "/v1/configurations/term-conditions",         Public,               get_terms,            "Get published terms")
    .op(GET,                 "/v1/configurations/term-conditions/history", Staff(TermsWrite),    list_terms_history,   "List terms versions")
    .op(POST.keeps_offers(), "/v1/configurations/term-condition/create",   Staff(TermsWrite),    create_terms,         "Create terms draft")
    .op(PUT.keeps_offers(),  "/v1/configurations/term-condition/update",   Staff(TermsWrite),    update_terms,         "Update terms draft")
    .op(POST.keeps_offers(), "/v1/configurations/term-condition/publish",  Staff(TermsPublish),  publish_terms,        "Publish terms")
    // What people are told
    .op(GET,                "/v1/notifications",           SignedIn, list_notifications,     "List own notifications")
    .op(GET,                "/v1/notifications/stream",    SignedIn, stream_notifications,   "Stream own notifications")
    .op(PUT.keeps_offers(), "/v1/notifications/read-all",  SignedIn, read_all_notifications, "Mark all notifications as read")
    .op(GET,                "/v1/notifications/{id}",      SignedIn, get_notification,       "Get notification")
    .op(PUT.keeps_offers(), "/v1/notifications/{id}/read", SignedIn, read_notification,      "Mark notification as read")
    .op(GET,                "/v1/notification/user/{id}",  SignedIn, list_notifications_of,  "List notifications of an account")
    // Other systems
    .op(GET,                                    "/v1/webhooks",                                      Admin, list_webhooks,   "List webhooks")
    .op(POST.keeps_offers().recent_sign_in(),   "/v1/webhooks",                                      Admin, create_webhook,  "Create webhook")
    .op(PUT.keeps_offers().recent_sign_in(),    "/v1/webhooks/{id}",                                 Admin, update_webhook,  "Update webhook")
    .op(DELETE.keeps_offers().recent_sign_in(), "/v1/webhooks/{id}",                                 Admin, delete_webhook,  "Delete webhook")
    .op(GET,                                    "/v1/webhooks/{id}/deliveries",                      Admin, list_deliveries, "List webhook deliveries")
    .op(POST.keeps_offers().recent_sign_in(),   "/v1/webhooks/{id}/deliveries/{delivery_id}/resend", Admin, resend_delivery, "Resend webhook delivery")
    // Files
    .op(POST.keeps_offers(), "/v1/files/upload",       OwnAccount, upload_file,   "Upload file")
    .op(GET.keeps_offers(),  "/v1/files/presign-url",  OwnAccount, presign_url,   "Create upload URL")
    .op(GET,                 "/v1/files/{id}",         Guest,      download_file, "Download file")
    .op(PUT.keeps_offers(),  "/v1/files/{id}/content", Public,     receive_file,  "Upload file content to signed URL")
    // The service itself
    .op(GET, "/health",       Public, health, "Get health")
    .op(GET, "/health/live",  Public, live,   "Check liveness")
    .op(GET, "/health/ready", Public, ready,  "Check readiness")
    .page("/metrics", metrics)
    .page("/reset-password", reset_page)
    .page("/verify-email", verify_email_page)
    .page("/confirm-email", confirm_email_page)
    .page("/cancel-email-change", cancel_email_change_page)
    .page_with_form("/pay/{reference}", pay_page, pay_page_pressed)
    .page("/pay/transfers", transfers_page)
    .page_with_form("/pay/transfers/{id}", transfer_page, transfer_page_pressed)
}
