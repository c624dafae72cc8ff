//! Resellers in the console: how the platform manages them, and what they see.

use dermaga::kernel::access::Rule;
use serde_json::json;

use crate::{
    on_both_engines,
    sites::session,
    world::{PASSWORD, World},
};

on_both_engines![
    a_reseller_is_made_and_granted_a_partner,
    a_reseller_lands_on_its_own_record,
    a_key_is_shown_once_and_revoked,
    money_is_for_those_who_may_see_it,
];

async fn a_reseller_is_made_and_granted_a_partner(world: World) {
    let admin = world.admin().await;
    let partner = world.partner_id(&world.active_partner("made@bahari.id").await).await;
    let cookies = session(&admin);
    let fields = [
        ("name", "Nusa Travel"),
        ("legal_name", "PT Nusa Travel"),
        ("email", "nusa@travel.test"),
        ("phone", "081234567890"),
        ("address", "Denpasar"),
        ("credit_limit", "5.000.000"),
        ("invoice_schedule", "weekly"),
    ];
    let made = world.submits("/console/resellers/new", &cookies, &fields).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let path = made.location().to_owned();
    let shown = world.page(&path, &cookies).await;
    for words in ["Nusa Travel", "5.000.000", "Weekly", "Granted partners", "Record payment"] {
        shown.says(words);
    }
    let listed = world.page("/console/resellers", &cookies).await;
    listed.says(&format!("href=\"{path}\""));

    let edit = format!("{path}/partners/edit");
    world.page(&edit, &cookies).await.says(&partner);
    let fields = [
        ("grants[0].mitra_id", partner.as_str()),
        ("grants[0].margin_rate", "7.5"),
        ("grants[1].mitra_id", ""),
        ("grants[1].margin_rate", "50"),
    ];
    let refused = world.submits(&edit, &cookies, &fields).await;
    assert_eq!(refused.status, 422);
    refused.says("id=\"f-grants-1--margin-rate-error\"");
    let saved = world.submits(&edit, &cookies, &fields[..2]).await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    let granted = world.page(saved.location(), &cookies).await;
    granted.says("7.5");
    let suspended =
        world.submits(&format!("{path}/suspend"), &cookies, &[("reason", "Overdue")]).await;
    assert_eq!(suspended.status, 303, "{}", suspended.html);
    world.page(&path, &cookies).await.says("Lift suspension");
}

async fn a_reseller_lands_on_its_own_record(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let other = world.reseller("other@travel.test").await;
    let id = world.reseller_id(&nusa).await;
    let path = format!("/console/resellers/{id}");
    let fields = [("email", "nusa@travel.test"), ("password", PASSWORD)];
    let signed_in = world.submits("/console/login", "", &fields).await;
    assert_eq!(signed_in.location(), "/console");
    let home = world.page("/console", &session(&nusa)).await;
    assert_eq!(home.location(), path);
    let own = world.page(&path, &session(&nusa)).await;
    assert_eq!(own.status, 200);
    for last in ["keys", "statement", "invoices", "partners"] {
        own.says(&format!("href=\"{path}/{last}\""));
        assert_eq!(world.page(&format!("{path}/{last}"), &session(&nusa)).await.status, 200);
        let theirs = world.page(&format!("{path}/{last}"), &session(&other)).await;
        assert_eq!(theirs.status, 404);
    }
    for hidden in ["/suspend", "/edit", "/pay", "/invite", "/console/bookings", "/console/find"] {
        assert!(!own.html.contains(&format!("{hidden}\"")), "{hidden}");
    }
}

async fn a_key_is_shown_once_and_revoked(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let keys = format!("/console/resellers/{}/keys", world.reseller_id(&nusa).await);
    let cookies = session(&nusa);
    let fields = [
        ("name", "Booking engine"),
        ("scopes[]", "catalog"),
        ("scopes[]", "bookings.read"),
        ("addresses", "203.0.113.0/24\n198.51.100.4"),
    ];
    let made = world.submits(&format!("{keys}/new"), &cookies, &fields).await;
    assert_eq!(made.status, 200, "{}", made.html);
    made.says("shown only once");
    let key = made.html.split("dmk_").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert_eq!(key.len(), 43);
    let listed = world.page(&keys, &cookies).await;
    listed.says("Booking engine");
    listed.says("203.0.113.0/24");
    listed.says("See products and availability");
    assert!(!listed.html.contains(&key));
    let api = world.get(&keys.replace("/console", "/v1")).by(&nusa).send().await.ok();
    let revoke = format!("{keys}/{}/revoke", api[0]["id"].as_str().unwrap());
    listed.says(&format!("href=\"{revoke}\""));
    world.page(&revoke, &cookies).await.says("cannot be undone");
    let revoked = world.submits(&revoke, &cookies, &[]).await;
    assert_eq!(revoked.location(), keys, "{}", revoked.html);
    assert!(!world.page(&keys, &cookies).await.html.contains(&revoke));
}

async fn money_is_for_those_who_may_see_it(world: World) {
    let nusa = world.reseller("nusa@travel.test").await;
    let path = format!("/console/resellers/{}", world.reseller_id(&nusa).await);
    let clerk =
        world.staff("clerk@dermaga.test", &[Rule::ResellersRead, Rule::ResellersFinance]).await;
    let reader = world.staff("reader@dermaga.test", &[Rule::ResellersRead]).await;
    let pay = format!("{path}/pay");
    let fields = [("amount", "250.000"), ("reference", "BCA-1"), ("received_on", "2026-11-15")];
    let paid = world.submits(&pay, &session(&clerk), &fields).await;
    assert_eq!(paid.location(), format!("{path}/statement"), "{}", paid.html);
    let statement = world.page(paid.location(), &session(&clerk)).await;
    statement.says("Payment of a reseller");
    statement.says("250.000");
    let body = json!({ "start_date": "2026-11-01", "end_date": "2026-11-15" });
    let invoices = format!("{}/invoices", path.replace("/console", "/v1"));
    world.post(&invoices, body).by(&clerk).send().await.is(409, "nothing_to_invoice");
    assert_eq!(world.page(&pay, &session(&reader)).await.status, 403);
    let shown = world.page(&path, &session(&reader)).await;
    assert!(!shown.html.contains("/statement\"") && !shown.html.contains("/keys\""));
}
