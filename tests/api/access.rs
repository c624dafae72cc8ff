//! Who may call what. The expectation stands here, as the contract has it; the table must agree,
//! and the service must behave so. An operation without an expectation fails.

use std::collections::BTreeMap;

use dermaga::{
    api,
    kernel::access::{Access, Rule},
};
use reqwest::Method;
use serde_json::json;

use crate::{
    on_both_engines,
    world::{Answer, Someone, World},
};

on_both_engines![
    everyone_may_do_what_they_may_and_nothing_else,
    an_impersonator_needs_the_rule_that_staff_need,
];

/// P public · G public, with or without a token, G:rule staff by rule · own every account · session every account,
/// also an impersonated one whatever the rules of its impersonator are · any every account but crew · A admin ·
/// S:rule admin, or staff with the rule · M partner · M/S:rule · M/C/S:rule partner and crew, or staff with one of
/// the rules · R/S:rule reseller, or staff with the rule.
const WHO: &str = "
    POST   /v1/auth/login           P
    POST   /v1/auth/logout          session
    POST   /auth/register-mitra     P
    POST   /auth/forgot-password    P
    POST   /auth/reset-password     P
    POST   /auth/remember-me        G
    POST   /auth/verify-email       P
    POST   /auth/resend-verification own
    POST   /auth/confirm-email      P
    POST   /auth/cancel-email-change P
    GET    /user/me                 own
    PUT    /user/me                 own
    PUT    /user/me/password        own
    GET    /user/me/sessions        own
    DELETE /user/me/sessions/{id}   own
    POST   /user/me/reauthenticate  own
    POST   /user/me/totp            own
    DELETE /user/me/totp            own
    POST   /user/me/totp/confirm    own
    DELETE /v1/users/{id}/totp      A
    GET    /v1/users                S:users.read
    GET    /v1/users/statistics     S:users.read
    GET    /v1/users/{id}           S:users.read
    POST   /v1/users/admins         A
    PUT    /v1/users/{id}/status    A
    GET    /v1/staffs               S:staff.read
    POST   /v1/staff                S:staff.write
    GET    /v1/staff/{id}           S:staff.read
    PUT    /v1/staff/{id}           S:staff.write
    DELETE /v1/staff/{id}           S:staff.write
    GET    /v1/permissions          S:permissions.read
    POST   /v1/permission           S:permissions.write
    GET    /v1/permission/rules     S:permissions.read
    GET    /v1/permission/{id}      S:permissions.read
    PUT    /v1/permission/{id}      S:permissions.write
    DELETE /v1/permission/{id}      S:permissions.write
    GET    /v1/audit-logs           S:audit.read
    POST   /v1/privacy/export       S:privacy.manage
    POST   /v1/privacy/erase        S:privacy.manage
    GET    /v1/mitra/onboarding                         M
    PATCH  /v1/mitra/onboarding                         M
    GET    /v1/mitra/manajemen                          S:partners.read
    POST   /v1/mitra/manajemen                          S:partners.write
    GET    /v1/mitra/manajemen/statistics               S:partners.read
    PUT    /v1/mitra/manajemen/{id}                     S:partners.write
    GET    /v1/mitra/manajemen/{id}/edit                S:partners.read
    GET    /v1/mitra/manajemen/{id}/overview            S:partners.read
    GET    /v1/mitra/manajemen/{id}/documents           S:partners.read
    PUT    /v1/mitra/manajemen/{id}/document-approval   S:partners.approve
    PUT    /v1/mitra/manajemen/{id}/bank-approval       S:partners.approve
    POST   /v1/mitra/manajemen/{id}/suspend             S:partners.suspend
    POST   /v1/mitra/manajemen/{id}/unsuspend           S:partners.suspend
    POST   /v1/mitra/manajemen/{id}/impersonate         S:partners.impersonate
    POST   /v1/mitra/manajemen/{id}/resend-invitation   S:partners.write
    GET    /v1/mitra/crew                               M
    POST   /v1/mitra/crew                               M
    DELETE /v1/mitra/crew/{id}                          M
    POST   /v1/mitra/crew/{id}/resend-invitation        M
    GET    /v1/mitra/speedboats                         M/S:fleet.read
    GET    /v1/speedboats                               M/S:fleet.read
    POST   /v1/speedboats                               M/S:fleet.write
    GET    /v1/speedboats/summary                       M/S:fleet.read
    POST   /v1/speedboats/search                        P
    GET    /v1/speedboats/locations                     P
    GET    /v1/speedboats/{id}                          M/S:fleet.read
    PUT    /v1/speedboats/{id}                          M/S:fleet.write
    DELETE /v1/speedboats/{id}                          M/S:fleet.write
    GET    /v1/mitra/speedboat-routes                   M/S:routes.read
    POST   /v1/mitra/speedboat-routes                   M/S:routes.write
    PUT    /v1/mitra/speedboat-routes/{id}              M/S:routes.write
    DELETE /v1/mitra/speedboat-routes/{id}              M/S:routes.write
    GET    /v1/mitra/speedboat-routes/{id}/publish      M/S:routes.write
    POST   /v1/mitra/speedboat-routes/{id}/publish      M/S:routes.write
    GET    /v1/mitra/speedboat-routes/{id}              M/S:routes.read
    POST   /v1/mitra/speedboat-routes/{id}/extend       M/S:routes.write
    PATCH  /v1/mitra/speedboat-routes/{id}/sailings     M/S:routes.write
    GET    /v1/catalog/speedboats/{id}                  P
    GET    /v1/catalog/partners                         P
    GET    /v1/catalog/partners/{slug}                  P
    GET    /v1/mitra/speedboat-routes/{id}/times        M/S:routes.read
    GET    /v1/mitra/lines                              M/S:routes.read
    GET    /v1/mitra/lines/{id}                         M/S:routes.read
    PUT    /v1/mitra/lines/{id}                         M/S:routes.write
    GET    /v1/harbours                                 G
    POST   /v1/harbours                                 S:harbours.write
    PUT    /v1/harbours/{id}                            S:harbours.write
    DELETE /v1/harbours/{id}                            S:harbours.write
    POST   /v1/harbours/{id}/merge                      S:harbours.write
    GET    /v1/contents/promotions                      P
    POST   /v1/contents/promotion                       S:promotions.write
    GET    /v1/promotions                               S:promotions.read
    GET    /v1/promotion/{id}                           S:promotions.read
    PUT    /v1/promotion/{id}                           S:promotions.write
    DELETE /v1/promotion/{id}                           S:promotions.write
    GET    /v1/configurations/taxs                      S:taxes.read
    POST   /v1/configurations/taxs                      S:taxes.write
    PUT    /v1/configurations/taxs/{id}                 S:taxes.write
    DELETE /v1/configurations/taxs/{id}                 S:taxes.write
    POST   /v1/booking                                  G:bookings.write
    GET    /v1/booking                                  G:bookings.read
    POST   /v1/booking/validate-code-promo              G
    POST   /v1/booking/quote                            G
    GET    /v1/booking/{id}                             G:bookings.read
    POST   /v1/booking/find                             P
    GET    /v1/booking/{id}/options                     G:bookings.read
    PUT    /v1/booking/{id}/passengers                  G:bookings.write
    PUT    /v1/booking/{id}/contact                     M/S:bookings.write
    POST   /v1/booking/{id}/cancel                      G:bookings.write
    GET    /v1/mitra/route-times                        M/C/S:bookings.read|routes.read
    GET    /v1/mitra/route-times/{id}                   M/C/S:bookings.read|routes.read
    PUT    /v1/mitra/route-times/{id}                   M/S:routes.write
    POST   /v1/mitra/route-times/{id}/cancel            M/S:routes.write
    GET    /v1/mitra/route-times/{id}/manifest          M/C/S:bookings.read
    POST   /v1/mitra/route-times/{id}/manifest/close    M/C/S:bookings.write
    POST   /v1/mitra/route-times/{id}/manifest/reopen   M/C/S:bookings.write
    POST   /v1/mitra/route-times/{id}/check-in          M/C/S:bookings.write
    POST   /v1/mitra/route-times/{id}/check-in/undo     M/C/S:bookings.write
    POST   /v1/booking/{id}/reschedule                  G:bookings.write
    POST   /v1/booking/{id}/payment                     G:bookings.write
    GET    /v1/booking/{id}/ticket                      G:bookings.read
    POST   /v1/booking/{id}/resend-ticket               G:bookings.write
    GET    /v1/tickets/public-key                       P
    POST   /v1/booking/{id}/pay-cash                    M/S:bookings.write
    POST   /v1/booking/{id}/refund                      S:bookings.write
    PUT    /v1/booking/{id}/refund-account              G:bookings.write
    POST   /v1/payment/callback                         P
    POST   /v1/payment/payout-callback                  P
    GET    /v1/payment/reviews                          S:bookings.write
    POST   /v1/payment/reviews/{id}/resolve             S:bookings.write
    GET    /v1/refunds                                  M/S:bookings.read
    GET    /v1/refunds/{id}                             M/S:bookings.read
    POST   /v1/refunds/{id}/pay                         M/S:bookings.write
    POST   /v1/refunds/{id}/return                      S:bookings.write
    POST   /v1/refunds/{id}/retry                       S:bookings.write
    GET    /v1/settlements                              M/S:settlements.read
    POST   /v1/settlements/manual                       S:settlements.write
    GET    /v1/settlements/configuration                M/S:settlements.configure
    POST   /v1/settlements/configuration                S:settlements.configure
    GET    /v1/settlements/receipts                     M/S:settlements.read
    POST   /v1/settlements/receipts                     S:settlements.write
    GET    /v1/settlements/{id}                         M/S:settlements.read
    POST   /v1/settlements/{id}/release                 S:settlements.release
    POST   /v1/settlements/{id}/cancel                  S:settlements.write
    POST   /v1/settlements/{id}/return                  S:settlements.write
    GET    /v1/resellers                                R/S:resellers.read
    POST   /v1/resellers                                A
    GET    /v1/resellers/{id}                           R/S:resellers.read
    PUT    /v1/resellers/{id}                           S:resellers.write
    POST   /v1/resellers/{id}/suspend                   S:resellers.write
    POST   /v1/resellers/{id}/unsuspend                 S:resellers.write
    POST   /v1/resellers/{id}/resend-invitation         S:resellers.write
    GET    /v1/resellers/{id}/keys                      R/S:resellers.write
    POST   /v1/resellers/{id}/keys                      R/S:resellers.write
    DELETE /v1/resellers/{id}/keys/{key_id}             R/S:resellers.write
    GET    /v1/resellers/{id}/partners                  R/S:resellers.read
    PUT    /v1/resellers/{id}/partners                  S:resellers.write
    GET    /v1/resellers/{id}/statement                 R/S:resellers.finance
    GET    /v1/resellers/{id}/invoices                  R/S:resellers.finance
    POST   /v1/resellers/{id}/invoices                  S:resellers.finance
    POST   /v1/resellers/{id}/payments                  S:resellers.finance
    GET    /v1/finance/trial-balance                       S:finance.read
    GET    /v1/finance/entries                             S:finance.read
    GET    /v1/finance/partners/{id}/statement             M/S:finance.read
    GET    /v1/finance/taxes                               S:finance.read
    GET    /v1/finance/provider-settlements                S:finance.read
    POST   /v1/finance/provider-settlements                S:finance.write
    GET    /v1/finance/reconciliation                      S:finance.read
    POST   /v1/finance/tax-payments                        S:finance.write
    POST   /v1/finance/cash-deposits                       S:finance.write
    GET    /v1/finance/journals                            S:finance.read
    POST   /v1/finance/journals                            S:finance.write
    POST   /v1/finance/journals/{id}/approve               S:finance.write
    POST   /v1/finance/journals/{id}/reject                S:finance.write
    GET    /v1/finance/periods                             S:finance.read
    POST   /v1/finance/periods/{month}/close               S:finance.write
    POST   /v1/finance/periods/{month}/reopen              S:finance.write
    GET    /v1/finance/reports/overview                    S:reports.read
    GET    /v1/finance/reports/revenue-breakdown/payment   S:reports.read
    GET    /v1/finance/reports/revenue-breakdown/type      S:reports.read
    GET    /v1/finance/reports/revenue-breakdown/partner   S:reports.read
    GET    /v1/finance/reports/revenue-breakdown/reseller  S:reports.read
    GET    /v1/dashboard                                   any
    GET    /v1/dashboard/mitra-statistic                   M/S:partners.read
    GET    /v1/contents/cta-partnership                    P
    POST   /v1/contents/cta-partnership                    S:contents.write
    GET    /v1/configurations/term-conditions              P
    GET    /v1/configurations/term-conditions/history      S:terms.write
    POST   /v1/configurations/term-condition/create        S:terms.write
    PUT    /v1/configurations/term-condition/update        S:terms.write
    POST   /v1/configurations/term-condition/publish       S:terms.publish
    GET    /v1/notifications                               any
    GET    /v1/notifications/stream                        any
    PUT    /v1/notifications/read-all                      any
    GET    /v1/notifications/{id}                          any
    PUT    /v1/notifications/{id}/read                     any
    GET    /v1/notification/user/{id}                      any
    GET    /v1/webhooks                                    A
    POST   /v1/webhooks                                    A
    PUT    /v1/webhooks/{id}                               A
    DELETE /v1/webhooks/{id}                               A
    GET    /v1/webhooks/{id}/deliveries                    A
    POST   /v1/webhooks/{id}/deliveries/{delivery_id}/resend A
    POST   /v1/files/upload         own
    GET    /v1/files/presign-url    own
    GET    /v1/files/{id}           G
    PUT    /v1/files/{id}/content   P
    GET    /health                  P
    GET    /health/live             P
    GET    /health/ready            P
";

fn expectations() -> BTreeMap<(String, String), Access> {
    let lines = WHO.lines().map(str::split_whitespace).map(Iterator::collect::<Vec<_>>);
    lines
        .filter(|words| !words.is_empty())
        .map(|words| ((words[0].to_owned(), words[1].to_owned()), access(words[2])))
        .collect()
}

fn access(who: &str) -> Access {
    match who {
        "P" => Access::Public,
        "G" => Access::Guest,
        "own" => Access::OwnAccount,
        "any" => Access::SignedIn,
        "session" => Access::AnySession,
        "A" => Access::Admin,
        "M" => Access::Partner,
        _ => match who.split_once("S:") {
            Some(("", rule)) => Access::Staff(rule.parse().unwrap()),
            None if who.starts_with("G:") => Access::GuestOr(who[2..].parse().unwrap()),
            Some(("M/", rule)) => Access::PartnerOr(rule.parse().unwrap()),
            Some(("R/", rule)) => Access::ResellerOr(rule.parse().unwrap()),
            Some(("M/C/", rules)) => match rules.split_once('|') {
                None => Access::PartnerCrewOr(rules.parse().unwrap()),
                Some((one, other)) => {
                    Access::PartnerCrewOrAny(one.parse().unwrap(), other.parse().unwrap())
                }
            },
            _ => panic!("{who} is nobody"),
        },
    }
}

async fn everyone_may_do_what_they_may_and_nothing_else(world: World) {
    let table = api::table(world.app.clone());
    let mut expected = expectations();
    for operation in table.operations() {
        let key = (operation.method.to_string(), operation.path.to_owned());
        let Some(access) = expected.remove(&key) else {
            panic!("{} {} has no expectation", operation.method, operation.path)
        };
        assert_eq!(operation.access, access, "{key:?}");
    }
    assert!(expected.is_empty(), "expected, but not in the table: {expected:?}");

    let partner = world.active_partner("made@bahari.id").await;
    let crew = world.crew(&partner, "nyoman@bahari.id").await;
    let reseller = world.reseller("nusa@travel.test").await;
    let admin = world.admin().await;
    for operation in table.operations() {
        let path = operation.path.replace("{id}", &dermaga::kernel::ids::fresh().to_string());
        let (method, access) = (operation.method.clone(), operation.access);
        let (with, without) = staff_around(&world, access).await;
        let walk = async |who: Option<&Someone>| {
            let call = world.call(method.clone(), &path);
            let call = if method == Method::GET { call } else { call.json(json!({})) };
            match who {
                Some(who) => call.by(who).send().await,
                None => call.send().await,
            }
        };
        let name = format!("{method} {path}");
        check(&name, "nobody", &walk(None).await, access, None);
        if operation.id == "stream_notifications" {
            // Whoever is admitted would be answered for ever; its own tests do that.
            continue;
        }
        // What ends the caller's own session comes last.
        check(&name, "staff without", &walk(Some(&without)).await, access, Some("staff without"));
        for with in &with {
            check(&name, "staff with", &walk(Some(with)).await, access, Some("staff with"));
        }
        if operation.id != "logout" {
            check(&name, "crew", &walk(Some(&crew)).await, access, Some("crew"));
            check(&name, "a partner", &walk(Some(&partner)).await, access, Some("partner"));
            let by_reseller = walk(Some(&reseller)).await;
            match operation.id {
                // Figures of partners.
                "get_dashboard" => drop(by_reseller.is(403, "forbidden")),
                _ => check(&name, "a reseller", &by_reseller, access, Some("reseller")),
            }
            check(&name, "an admin", &walk(Some(&admin)).await, access, Some("admin"));
        }
    }
}

/// What a partner may do, somebody who acts for it may do with the rule that staff need for it.
async fn an_impersonator_needs_the_rule_that_staff_need(world: World) {
    let table = api::table(world.app.clone());
    let partner = world.active_partner("made@bahari.id").await;
    let desk = world.partner_path(&partner).await;
    let email =
        |word: &str| format!("{word}.{}@dermaga.test", dermaga::kernel::ids::fresh().simple());
    let all_but = |rules: &[Rule]| -> Vec<Rule> {
        Rule::ALL.iter().copied().filter(|one| !rules.contains(one)).collect()
    };
    let bare = world.staff(&email("bare"), &[Rule::PartnersImpersonate]).await;
    for operation in table.operations() {
        let (access, changes) = (operation.access, operation.changes);
        let guarding = guarding_rules(access, changes);
        assert_eq!(access.rules_of_impersonator(changes), guarding, "{}", operation.path);
        let for_partners = match access {
            Access::PartnerOr(_) | Access::PartnerCrewOr(_) | Access::PartnerCrewOrAny(..) => true,
            Access::GuestOr(_) | Access::Partner => true,
            Access::SignedIn | Access::OwnAccount | Access::AnySession => true,
            Access::Public | Access::Guest | Access::Admin => false,
            Access::Staff(_) | Access::ResellerOr(_) => false,
        };
        // Whoever is admitted to a stream would be answered for ever.
        if !for_partners || operation.id == "stream_notifications" {
            continue;
        }
        let path = operation.path.replace("{id}", &dermaga::kernel::ids::fresh().to_string());
        let name = format!("{} {path}", operation.method);
        let walk = async |who: &Someone| {
            let acting = world.impersonates(&desk, who).await;
            let call = world.call(operation.method.clone(), &path);
            let call = if operation.method == Method::GET { call } else { call.json(json!({})) };
            call.by(&acting).send().await
        };
        let others = world.staff(&email("others"), &all_but(&guarding)).await;
        let rule = guarding.first().copied();
        let with: Vec<_> = [Some(Rule::PartnersImpersonate), rule].into_iter().flatten().collect();
        let with = world.staff(&email("with"), &with).await;
        for who in [&bare, &others] {
            let answer = walk(who).await;
            match guarding.is_empty() {
                false => drop(answer.is(403, "forbidden")),
                true => assert_ne!(answer.status, 403, "{name}: {}", answer.body),
            }
        }
        let answer = walk(&with).await;
        // This is the partner's alone, whoever acts for it.
        let alone = operation.id == "end_session";
        assert_eq!(answer.status == 403, alone, "{name}: {}", answer.body);
        assert!(answer.status < 500, "{name}: {}", answer.body);
    }
}

/// As the contract has it. One of them is enough.
fn guarding_rules(access: Access, changes: bool) -> Vec<Rule> {
    match access {
        Access::PartnerOr(rule) | Access::PartnerCrewOr(rule) => vec![rule],
        Access::GuestOr(rule) | Access::Staff(rule) | Access::ResellerOr(rule) => vec![rule],
        Access::PartnerCrewOrAny(one, other) => vec![one, other],
        Access::Partner | Access::SignedIn | Access::OwnAccount | Access::Admin => {
            vec![if changes { Rule::PartnersWrite } else { Rule::PartnersRead }]
        }
        Access::Public | Access::Guest | Access::AnySession => Vec::new(),
    }
}

/// Staff with the rule, or with one of the two, and staff with every other.
async fn staff_around(world: &World, access: Access) -> (Vec<Someone>, Someone) {
    let rules = match access {
        Access::Staff(rule)
        | Access::PartnerOr(rule)
        | Access::PartnerCrewOr(rule)
        | Access::ResellerOr(rule)
        | Access::GuestOr(rule) => vec![rule],
        Access::PartnerCrewOrAny(one, other) => vec![one, other],
        Access::Public
        | Access::Guest
        | Access::AnySession
        | Access::OwnAccount
        | Access::SignedIn
        | Access::Admin
        | Access::Partner => Vec::new(),
    };
    let without: Vec<Rule> = Rule::ALL.iter().copied().filter(|one| !rules.contains(one)).collect();
    let email = || format!("{}@dermaga.test", dermaga::kernel::ids::fresh().simple());
    let mut with = Vec::new();
    for rule in &rules {
        with.push(world.staff(&email(), &[*rule]).await);
    }
    if rules.is_empty() {
        with.push(world.staff(&email(), &[]).await);
    }
    (with, world.staff(&email(), &without).await)
}

fn check(name: &str, caller: &str, answer: &Answer, access: Access, who: Option<&str>) {
    let admitted = match (access, who) {
        (Access::Public | Access::Guest | Access::GuestOr(_), None) => true,
        (Access::Public | Access::Guest, _) => true,
        (_, None) => false,
        (Access::AnySession | Access::OwnAccount, _) => true,
        (Access::SignedIn, who) => who != Some("crew"),
        (Access::Admin, who) => who == Some("admin"),
        (Access::Staff(_), who) => matches!(who, Some("admin" | "staff with")),
        (Access::Partner, who) => who == Some("partner"),
        (Access::PartnerOr(_) | Access::GuestOr(_), who) => {
            matches!(who, Some("admin" | "staff with" | "partner"))
        }
        (Access::ResellerOr(_), who) => matches!(who, Some("admin" | "staff with" | "reseller")),
        (Access::PartnerCrewOr(_) | Access::PartnerCrewOrAny(..), who) => {
            matches!(who, Some("admin" | "staff with" | "partner" | "crew"))
        }
    };
    let word = answer.body["error"].as_str().unwrap_or_default();
    let refused = match who {
        None => answer.status == 401 && word == "unauthenticated",
        Some(_) => answer.status == 403 && word == "forbidden",
    };
    assert_ne!(admitted, refused, "{name} as {caller}: {} {}", answer.status, answer.body);
    assert!(answer.status < 500, "{name} as {caller}: {}", answer.body);
}
