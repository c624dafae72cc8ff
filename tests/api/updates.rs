//! Every PUT: optional fields that are left out keep their value, and null clears them.

use dermaga::kernel::access::{Level, Rule::*};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::{
    harbour::order,
    on_both_engines,
    support::form::Form,
    world::{Someone, World},
};

on_both_engines![
    what_an_update_leaves_out_stays_and_null_clears,
    a_salary_survives_who_does_not_see_it,
];

/// Optional fields that are part of the request and not of the record: credentials, verdicts, and
/// what a request is based on. `*`: the whole operation is an action.
const NOT_OF_THE_RECORD: &[(&str, &str)] = &[
    ("update_profile", "current_password"),
    ("review_document", "*"),
    ("approve_bank_account", "*"),
    ("update_sailing", "*"),
    ("set_refund_account", "*"),
    ("correct_passengers", "code"),
    ("correct_passengers", "email"),
];

/// Fields that every record has, so that null keeps or refuses them.
const NEVER_EMPTY: &[(&str, &str)] = &[
    ("update_speedboat", "status"),
    // A promotion for some has targets.
    ("update_promotion", "target_ids"),
    // Null is the zone of the harbour.
    ("update_route", "timezone"),
    ("update_line", "resale"),
    ("update_line", "day_ticket"),
    ("update_line", "names"),
    ("update_line", "max_party"),
    ("update_reseller", "credit_limit"),
    ("update_reseller", "invoice_schedule"),
    ("update_reseller", "terms_days"),
    ("update_reseller", "max_holds"),
    ("update_reseller", "rate_per_minute"),
    ("update_reseller", "currency_precision"),
    ("update_harbour", "name"),
    ("update_harbour", "timezone"),
    ("update_harbour", "status"),
    // Coordinates go together.
    ("update_harbour", "latitude"),
    ("update_harbour", "longitude"),
    ("correct_contact", "name"),
    ("correct_contact", "email"),
    ("correct_contact", "phone"),
];

/// A body with every optional field set to something that is not its default, the field of the
/// record that shows each, and the path.
struct Recipe {
    path: String,
    full: Value,
    /// Where the record shows a field, if under another name.
    shown_as: &'static [(&'static str, &'static str)],
}

fn of_table(table: &[(&str, &str)], id: &str, field: &str) -> bool {
    table.iter().any(|entry| entry.0 == id && (entry.1 == field || entry.1 == "*"))
}

/// The optional fields of the body of a PUT.
fn optional_fields(document: &Value, path: &str) -> Vec<String> {
    let body = &document["paths"][path]["put"]["requestBody"]["content"]["application/json"];
    let schema = &body["schema"];
    let schema = match schema["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => schema,
    };
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
    fields.filter(|name| !required.contains(&name.as_str())).cloned().collect()
}

async fn what_an_update_leaves_out_stays_and_null_clears(world: World) {
    let admin = world.admin().await;
    let document = world.get("/openapi.json").send().await.body;
    let table = dermaga::api::table(world.app.clone());
    let puts = table.operations().iter().filter(|operation| operation.method == Method::PUT);
    let (mut updates, mut checked) = (0, 0);
    for operation in puts {
        let id = operation.id;
        let mut optional = optional_fields(&document, operation.path);
        optional.retain(|field| !of_table(NOT_OF_THE_RECORD, id, field));
        if optional.is_empty() {
            continue;
        }
        updates += 1;
        let Recipe { path, full, shown_as } = recipe(&world, &admin, id).await;
        let put = async |body: &Value| {
            let mut record = world.put(&path, body.clone()).by(&admin).send().await.ok();
            record.as_object_mut().unwrap().remove("updated_at");
            // The departures of a draft are replaced as a whole.
            for time in record["times"].as_array_mut().into_iter().flatten() {
                time.as_object_mut().unwrap().remove("id");
            }
            record
        };
        let before = put(&full).await;
        let mut without: Map<String, Value> = full.as_object().unwrap().clone();
        for field in &optional {
            assert!(without.remove(field).is_some(), "the recipe of {id} leaves out {field}");
        }
        assert_eq!(put(&Value::Object(without)).await, before, "{id} changes what is left out");
        for field in optional.iter().filter(|field| !of_table(NEVER_EMPTY, id, field)) {
            let mut cleared = full.clone();
            cleared[field] = json!(null);
            let shown = shown_as.iter().find(|entry| entry.0 == field);
            let shown = shown.map_or(field.as_str(), |entry| entry.1);
            assert_ne!(put(&cleared).await[shown], before[shown], "{id} does not clear {field}");
            assert_eq!(put(&full).await, before);
            checked += 1;
        }
    }
    assert!(updates >= 7 && checked >= 14, "{updates} {checked}");
}

async fn uploads(world: &World, who: &Someone, purpose: &str) -> Value {
    let png = crate::files::picture(image::ImageFormat::Png);
    let form = Form::new().text("purpose", purpose).file("a.png", &png);
    let call = world.call(Method::POST, "/v1/files/upload").by(who).multipart(form);
    call.send().await.ok()["id"].clone()
}

fn staff(permission: &Value) -> Value {
    json!({
        "name": "Ayu", "email": "ayu@dermaga.test", "msisdn": "081234567890",
        "join_date": "2026-11-01", "status": "active", "permission_id": permission,
        "working_type": "contract", "show_salary": false, "salary": 7_500_000,
        "address": { "street": "", "city": "", "province": "", "postal_code": "" },
        "bank_account": { "bank_code": "BCA", "account_number": "12345", "account_name": "Ayu" },
    })
}

async fn recipe(world: &World, admin: &Someone, operation: &str) -> Recipe {
    let made = async |path: &str, body: &Value| {
        let made = world.post(path, body.clone()).by(admin).send().await.ok();
        made["id"].as_str().unwrap().to_owned()
    };
    let plain = |path: String, full: Value| Recipe { path, full, shown_as: &[] };
    match operation {
        "update_staff" => {
            let permission = json!({
                "name": "Desk", "description": "", "level": "viewer", "rules": ["fleet.read"],
            });
            let permission = world.post("/v1/permission", permission).by(admin).send().await.ok();
            let full = staff(&permission["id"]);
            let id = made("/v1/staff", &full).await;
            plain(format!("/v1/staff/{id}"), full)
        }
        "update_reseller" => {
            let full = json!({
                "name": "Nusa", "legal_name": "PT Nusa", "npwp": "012345678901234",
                "email": "nusa@travel.test", "ops_email": "ops@travel.test",
                "phone": "081234567890", "address": "Denpasar", "credit_limit": 1_000_000,
                "invoice_schedule": "weekly", "terms_days": 30, "max_holds": 7,
                "rate_per_minute": 60, "currency_precision": 2,
            });
            let id = made("/v1/resellers", &full).await;
            plain(format!("/v1/resellers/{id}"), full)
        }
        "update_partner" => {
            let full = json!({
                "name": "Made", "email": "partner@bahari.id", "phone": "081234567890",
                "address": "", "partnerType": "company", "commission_rate": 7.5,
            });
            let id = made("/v1/mitra/manajemen", &full).await;
            plain(format!("/v1/mitra/manajemen/{id}"), full)
        }
        "update_speedboat" => {
            let partner = world.active_partner("boat@bahari.id").await;
            let mut full = crate::harbour::boat("GT. 9");
            full["mitra_id"] = json!(world.partner_id(&partner).await);
            let id = made("/v1/speedboats", &full).await;
            full.as_object_mut().unwrap().remove("mitra_id");
            full["status"] = json!("maintenance");
            full["photo_file_ids"] = json!([uploads(world, admin, "photo").await]);
            Recipe {
                path: format!("/v1/speedboats/{id}"),
                full,
                shown_as: &[("photo_file_ids", "photos")],
            }
        }
        "update_route" => {
            let partner = world.active_partner("route@bahari.id").await;
            let boat = world.adds_boat(&partner, "GT. 2").await;
            let full = crate::harbour::route(&boat);
            let id = world.creates_route(&partner, full.clone()).await;
            plain(format!("/v1/mitra/speedboat-routes/{id}"), full)
        }
        "update_line" => {
            let partner = world.active_partner("line@bahari.id").await;
            let boat = world.adds_boat(&partner, "GT. 4").await;
            world.creates_route(&partner, crate::harbour::route(&boat)).await;
            let lines = world.get("/v1/mitra/lines").by(&partner).send().await.ok();
            let full = json!({
                "resale": true, "day_ticket": true, "names": "all", "max_party": 4,
                "cutoff_minutes": 90,
                "fares": [{ "category": "adult", "price": { "percent": 90 } }],
            });
            plain(format!("/v1/mitra/lines/{}", lines[0]["id"].as_str().unwrap()), full)
        }
        "update_harbour" => {
            let full = json!({
                "name": "Teluk Uji", "aliases": ["Uji"], "city": "Uji", "province": "Bali",
                "timezone": "Asia/Makassar", "latitude": -8.5, "longitude": 115.25,
                "status": "unverified",
            });
            let id = made("/v1/harbours", &full).await;
            plain(format!("/v1/harbours/{id}"), full)
        }
        "update_promotion" => {
            let partner = world.active_partner("promotion@bahari.id").await;
            let mut full = crate::promotions::promotion("HEMAT");
            full["target_type"] = json!("mitra");
            full["target_ids"] = json!([world.partner_id(&partner).await]);
            full["funded_by"] = json!("partner");
            full["per_customer_limit"] = json!(3);
            full["quota"] = json!(9);
            full["image_file_id"] = uploads(world, admin, "content").await;
            let id = made("/v1/contents/promotion", &full).await;
            Recipe { path: format!("/v1/promotion/{id}"), full, shown_as: &[] }
        }
        "update_tax" => {
            let full = json!({
                "name": "PPN", "code": "PPN12", "rate": 12, "applies_to": "commission",
                "base_factor": "11/12", "is_active": false,
            });
            let id = made("/v1/configurations/taxs", &full).await;
            plain(format!("/v1/configurations/taxs/{id}"), full)
        }
        "update_webhook" => {
            let full = json!({
                "url": "https://hooks.example", "events": ["terms.published"], "active": false,
            });
            let id = made("/v1/webhooks", &full).await;
            plain(format!("/v1/webhooks/{id}"), full)
        }
        "correct_contact" => {
            let sailing = world.sailing().await;
            let booking = world.books(order(&sailing, 1, "sari@example.com")).await.ok();
            let full = json!({
                "name": "Dewi", "email": "dewi@example.com", "phone": "+628111111111",
            });
            plain(format!("/v1/booking/{}/contact", booking["id"].as_str().unwrap()), full)
        }
        other => panic!("{other} has optional fields; show here that it keeps them"),
    }
}

/// Whoever may not see the salary gets null, and sends that back with what was changed.
async fn a_salary_survives_who_does_not_see_it(world: World) {
    let admin = world.admin().await;
    let permission = json!({
        "name": "Desk", "description": "", "level": "viewer", "rules": ["fleet.read"],
    });
    let permission = world.post("/v1/permission", permission).by(&admin).send().await.ok();
    let full = staff(&permission["id"]);
    let member = world.post("/v1/staff", full.clone()).by(&admin).send().await.ok();
    let path = format!("/v1/staff/{}", member["id"].as_str().unwrap());
    let salary = async || world.get(&path).by(&admin).send().await.ok()["salary"].clone();
    let rules = [StaffRead, StaffWrite, FleetRead];
    let chief = world.staff_of_level(Level::Manager.as_str(), "chief@dermaga.test", &rules).await;
    let seen = world.get(&path).by(&chief).send().await.ok();
    assert_eq!(seen["salary"], json!(null));
    let mut back = full.clone();
    (back["name"], back["salary"]) = (json!("Ayu Dewi"), json!(null));
    let after = world.put(&path, back.clone()).by(&chief).send().await.ok();
    assert_eq!((&after["name"], &after["salary"]), (&json!("Ayu Dewi"), &json!(null)));
    assert_eq!(salary().await, 7_500_000);
    back.as_object_mut().unwrap().remove("salary");
    world.put(&path, back.clone()).by(&chief).send().await.ok();
    assert_eq!(salary().await, 7_500_000);
    // Somebody who sees it clears it with null.
    back["salary"] = json!(null);
    world.put(&path, back.clone()).by(&admin).send().await.ok();
    assert_eq!(salary().await, json!(null));
    assert_eq!(world.count("SELECT COUNT(*) FROM staff WHERE salary IS NULL").await, 1);
    // Nothing is not zero.
    back["salary"] = json!(0);
    world.put(&path, back.clone()).by(&admin).send().await.ok();
    assert_eq!(salary().await, 0);
    back["salary"] = json!(null);
    world.put(&path, back.clone()).by(&chief).send().await.ok();
    assert_eq!(salary().await, 0);
    world.put(&path, back.clone()).by(&admin).send().await.ok();
    let exported = json!({ "email": "ayu@dermaga.test" });
    let exported = world.post("/v1/privacy/export", exported).by(&admin).send().await.ok();
    assert_eq!(exported["staff"]["salary"], json!(null));
    back["salary"] = json!(-1);
    world.put(&path, back).by(&admin).send().await.has_field_errors(&[("salary", "min")]);
    // A new member needs one.
    let mut new = full;
    new.as_object_mut().unwrap().remove("salary");
    new["email"] = json!("new@dermaga.test");
    let refused = world.post("/v1/staff", new).by(&admin).send().await;
    refused.has_field_errors(&[("salary", "required")]);
}
