//! Every page, as nobody, as a partner, as a reseller, and as staff with and without its rule.

use std::collections::{HashMap, hash_map::Entry};

use dermaga::{
    api,
    kernel::{
        access::{Access, Rule},
        ids,
    },
    pages,
    web::{
        page::{Kind, Page},
        site_language,
    },
};

use crate::{
    on_both_engines,
    sites::session,
    world::{Someone, World},
};

on_both_engines![
    nobody_sees_a_page_without_signing_in,
    a_page_is_open_to_those_who_may_call_its_operation,
    an_error_is_a_page_with_the_policy_of_all_pages,
];

fn address(page: &Page) -> String {
    let parts = page.path.split('/').map(|part| match part {
        "{month}" => "2026-10".to_owned(),
        "{type}" => "customer".to_owned(),
        part if part.starts_with('{') => ids::fresh().to_string(),
        part => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Streams do not end, so they are not walked.
fn walked() -> impl Iterator<Item = Page> {
    let pages = pages::pages().pages.into_iter();
    // The travellers' site is open to everyone.
    let pages = pages.filter(|page| site_language(page.path).is_none());
    pages.filter(|page| page.operation != "stream_notifications")
}

async fn nobody_sees_a_page_without_signing_in(world: World) {
    for page in walked() {
        let shown = world.page(&address(&page), "").await;
        match page.public {
            true => assert_eq!(shown.status, 200, "{}", page.path),
            false => {
                assert_eq!(shown.status, 303, "{}", page.path);
                assert!(shown.location().starts_with("/console/login?next="), "{}", page.path);
            }
        }
    }
}

async fn a_page_is_open_to_those_who_may_call_its_operation(world: World) {
    let access = access_of_pages(&world);
    let partner = world.active_partner("made@bahari.id").await;
    let reseller = world.reseller("nusa@travel.test").await;
    let mut staff: HashMap<Rule, (Someone, Someone)> = HashMap::new();
    for page in walked().filter(|page| !page.public) {
        let access = access[page.path];
        let by_partner = world.page(&address(&page), &session(&partner)).await;
        let expected = matches!(
            access,
            Access::Partner
                | Access::PartnerOr(_)
                | Access::PartnerCrewOr(_)
                | Access::PartnerCrewOrAny(..)
                | Access::GuestOr(_)
                | Access::SignedIn
                | Access::OwnAccount
                | Access::AnySession
                | Access::Guest
                | Access::Public
        );
        assert_eq!(by_partner.status != 403, expected, "partner: {}", page.path);
        assert!(by_partner.status < 500, "partner: {}: {}", page.path, by_partner.html);
        let by_reseller = world.page(&address(&page), &session(&reseller)).await;
        let expected = matches!(
            access,
            Access::ResellerOr(_)
                | Access::SignedIn
                | Access::OwnAccount
                | Access::AnySession
                | Access::Guest
                | Access::Public
        );
        assert_eq!(by_reseller.status != 403, expected, "reseller: {}", page.path);
        assert!(by_reseller.status < 500, "reseller: {}: {}", page.path, by_reseller.html);
        let Some(rule) = rule_of(access) else { continue };
        if let Entry::Vacant(new) = staff.entry(rule) {
            let others: Vec<_> = Rule::ALL.iter().copied().filter(|other| *other != rule).collect();
            let with = world.staff(&format!("with-{rule}@dermaga.test"), &[rule]).await;
            let without = world.staff(&format!("without-{rule}@dermaga.test"), &others).await;
            new.insert((with, without));
        }
        let (with, without) = &staff[&rule];
        let shown = world.page(&address(&page), &session(with)).await;
        // A form may need another rule to read its record, and a page with a guard that of its own
        // operation.
        let reads_more = match page.kind {
            Kind::Form => !page.subject.is_empty(),
            _ => page.also.contains(&"get_booking") || page.guard != page.operation,
        };
        assert!(shown.status != 403 || reads_more, "with {rule}: {}", page.path);
        assert!(shown.status < 500, "with {rule}: {}: {}", page.path, shown.html);
        let refused = world.page(&address(&page), &session(without)).await;
        let has_other = matches!(access, Access::PartnerCrewOrAny(..));
        assert!(refused.status == 403 || has_other, "without {rule}: {}", page.path);
    }
}

fn access_of_pages(world: &World) -> HashMap<&'static str, Access> {
    let table = api::table(world.app.clone());
    let pages = pages::pages().pages.into_iter().map(|page| {
        let operation = table.operations().iter().find(|operation| operation.id == page.guard);
        (page.path, operation.unwrap_or_else(|| panic!("{}", page.guard)).access)
    });
    pages.collect()
}

fn rule_of(access: Access) -> Option<Rule> {
    match access {
        Access::Staff(rule)
        | Access::PartnerOr(rule)
        | Access::PartnerCrewOr(rule)
        | Access::GuestOr(rule)
        | Access::ResellerOr(rule)
        | Access::PartnerCrewOrAny(rule, _) => Some(rule),
        _ => None,
    }
}

async fn an_error_is_a_page_with_the_policy_of_all_pages(world: World) {
    let shown = world.page("/console/nowhere", "dermaga_lang=en").await;
    assert_eq!(shown.status, 404);
    shown.says("Not here, or not yours");
    let header = |name: &str| shown.headers[name].to_str().unwrap();
    assert!(header("content-security-policy").starts_with("default-src 'self'"));
    assert_eq!(header("content-type"), "text/html; charset=utf-8");
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("referrer-policy"), "same-origin");
    assert!(shown.headers.contains_key("x-request-id"));
    let api = world.get("/v1/nowhere").send().await;
    api.is(404, "not_found");
}
