//! Every change of an admin, of staff or of an impersonated session leaves an entry.

use dermaga::kernel::{
    access::{Role, Rule},
    audit::Change,
    caller::{Caller, Context, Person},
    ids,
    lang::Lang,
};
use serde_json::{Value, json};

use crate::{authenticator::Authenticator, on_both_engines, world::World};

on_both_engines![
    a_change_is_recorded_with_who_what_and_whence,
    a_change_without_an_entry_does_not_commit,
    a_partner_who_acts_in_person_is_not_audited,
    every_changing_operation_leaves_an_entry,
    the_log_is_read_with_its_filters,
];

#[derive(dermaga::kernel::db::FromRow)]
struct Entry {
    actor_email: String,
    action: String,
    entity_id: ids::Uuid,
    before_change: Option<Value>,
    after_change: Option<Value>,
    address: String,
    user_agent: Option<String>,
    request_id: String,
}

async fn a_change_is_recorded_with_who_what_and_whence(world: World) {
    let staff = world.staff("putu@dermaga.test", &[Rule::UsersRead]).await;
    let profile = json!({
        "name": "Putu", "email": "putu@dermaga.test", "phone": "081234567890", "avatar_file_id": "",
    });
    let call = world.put("/user/me", profile).by(&staff).header("user-agent", "harbour/1");
    call.header("x-request-id", "request-7").send().await.ok();
    let entry: Entry = world
        .db()
        .sql(
            "SELECT actor_email, action, entity_id, before_change, after_change, address,
               user_agent, request_id
             FROM audit_logs",
        )
        .one()
        .await
        .unwrap();
    assert_eq!(entry.actor_email, "putu@dermaga.test");
    assert_eq!(entry.action, "account.updated");
    assert_eq!(entry.entity_id.to_string(), staff.id);
    // Which personal fields were changed, and not their values.
    let (before, after) = (entry.before_change.as_ref().unwrap(), entry.after_change.as_ref());
    let after = after.unwrap();
    assert_eq!((&before["name"], &before["phone"]), (&json!("[personal]"), &json!(null)));
    assert_eq!((&after["name"], &after["phone"]), (&json!("[personal]"), &json!("[personal]")));
    assert!(before.get("email").is_none() && after.get("email").is_none(), "it is the same");
    assert_eq!(entry.address, "127.0.0.1");
    assert_eq!(entry.user_agent.as_deref(), Some("harbour/1"));
    assert_eq!(entry.request_id, "request-7");
    let text = format!("{:?}{:?}", entry.before_change, entry.after_change);
    assert!(!text.contains("argon2") && !text.contains("Putu") && !text.contains("@"));
}

async fn a_change_without_an_entry_does_not_commit(world: World) {
    let admin = world.admin().await;
    let caller = caller(&world, admin.id.parse().unwrap(), Role::Admin);
    let rename = "UPDATE accounts SET name = 'Renamed' WHERE email = 'admin@dermaga.test'";
    let renamed = "SELECT COUNT(*) FROM accounts WHERE name = 'Renamed'";

    let mut tx = caller.begin(world.db(), world.now()).await.unwrap();
    tx.sql(rename).run().await.unwrap();
    assert!(tx.commit().await.is_err());
    assert_eq!(world.count(renamed).await, 0);

    let mut tx = caller.begin(world.db(), world.now()).await.unwrap();
    tx.sql(rename).run().await.unwrap();
    let id = caller.person.id;
    let change = Change { action: "x", entity: "account", id, before: None, after: None };
    tx.record(change).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.count(renamed).await, 1);
}

async fn a_partner_who_acts_in_person_is_not_audited(world: World) {
    let made = world.partner("made@bahari.id").await;
    let crew = world.crew(&made, "nyoman@bahari.id").await;
    world.post("/v1/auth/logout", json!({})).by(&crew).send().await.ok();
    world.post("/v1/auth/logout", json!({})).by(&made).send().await.ok();
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_logs").await, 0);
}

fn caller(_: &World, id: ids::Uuid, role: Role) -> Caller {
    Caller {
        session_id: ids::fresh(),
        authenticated_at: None,
        second_factor: false,
        person: Person { id, name: "Wayan".into(), email: "admin@dermaga.test".into() },
        role,
        level: None,
        rules: Vec::new(),
        partner_id: None,
        reseller_id: None,
        impersonator: None,
        context: Context {
            request_id: "r".into(),
            lang: Lang::En,
            address: [127, 0, 0, 1].into(),
            user_agent: None,
            accepts_gzip: false,
            is_page: false,
        },
    }
}

/// Every changing operation, done by an admin, leaves an entry, and no outdated response in the
/// cache. A new one needs its line here.
async fn every_changing_operation_leaves_an_entry(world: World) {
    let table = dermaga::api::table(world.app.clone());
    let guarded = table.operations().iter().filter(|operation| {
        operation.changes && operation.access != dermaga::kernel::access::Access::Public
    });
    // Refunds are retried only where they are sent automatically.
    for operation in guarded.filter(|operation| operation.id != "retry_refund") {
        let admin = world.admin_with_email(&format!("{}@dermaga.test", operation.id)).await;
        let before = world.count("SELECT COUNT(*) FROM audit_logs").await;
        let (path, body) = recipe(&world, &admin, operation.id).await;
        // What only partners do is done for one of them.
        let caller = match operation.access {
            dermaga::kernel::access::Access::Partner => {
                let email = format!("{}@bahari.id", operation.id);
                let partner = match operation.id.contains("crew") {
                    // The recipe has made it.
                    true => world.signs_in(&email, "mitra").await,
                    false => world.partner(&email).await,
                };
                world.impersonates(&world.partner_path(&partner).await, &admin).await
            }
            _ => admin.clone(),
        };
        let prepared = world.count("SELECT COUNT(*) FROM audit_logs").await;
        let call = world.call(operation.method.clone(), &path).by(&caller);
        let call = match operation.id {
            "upload_file" => {
                let png = crate::files::picture(image::ImageFormat::Png);
                let form = crate::support::form::Form::new();
                call.multipart(form.text("purpose", "photo").file("a.png", &png))
            }
            _ => call.json(body),
        };
        public_offers(&world).await;
        call.send().await.ok();
        let cached = public_offers(&world).await;
        world.app.response_cache.invalidate_all();
        assert_eq!(cached, public_offers(&world).await, "{} leaves outdated offers", operation.id);
        let after = world.count("SELECT COUNT(*) FROM audit_logs").await;
        assert!(prepared >= before);
        assert_eq!(after, prepared + 1, "{} leaves no entry", operation.id);
    }
    no_entry_holds_personal_values(&world).await;
}

/// None of the people that the recipes know is in an entry, except as its actor.
async fn no_entry_holds_personal_values(world: &World) {
    let entries: Vec<(String, Option<Value>, Option<Value>)> = world
        .db()
        .sql("SELECT action, before_change, after_change FROM audit_logs")
        .all()
        .await
        .unwrap();
    assert!(entries.len() > 50);
    let personal = [
        "@",
        "Wayan",
        "Sari",
        "Made",
        "Ayu",
        "Boss",
        "Komang",
        "Penumpang",
        "81234567890",
        "Jl. Pantai",
        "Bahari Jaya",
        "transfer.pdf",
        crate::harbour::NIK,
        crate::harbour::ACCOUNT,
    ];
    for (action, before, after) in entries {
        assert!(dermaga::web::words::has_action(&action), "{action} has no words in actions.txt");
        let states = [before, after].into_iter().flatten().map(|state| state.to_string());
        for state in states {
            for value in personal {
                assert!(!state.contains(value), "{action} has {value}: {state}");
            }
        }
    }
}

/// The offers that the public API shows.
async fn public_offers(world: &World) -> (Value, Value) {
    let mut all = crate::harbour::search_body(1);
    all["page_size"] = json!(100);
    let found = world.post("/v1/speedboats/search", all).send().await.ok();
    (found, world.get("/v1/speedboats/locations").send().await.ok())
}

/// Path and body with which the operation succeeds.
async fn recipe(world: &World, admin: &crate::world::Someone, operation: &str) -> (String, Value) {
    let own = async |path: &str| world.get(path).by(admin).send().await.ok();
    let made = async |path: &str, body: Value| {
        let made = world.post(path, body).by(admin).send().await.ok();
        made["id"].as_str().unwrap().to_owned()
    };
    let permission = || {
        let name = ids::fresh().to_string();
        json!({ "name": name, "description": "", "level": "viewer", "rules": ["fleet.read"] })
    };
    let staff = async || {
        let held = made("/v1/permission", permission()).await;
        json!({
            "name": "Ayu", "email": format!("{}@dermaga.test", ids::fresh().simple()),
            "msisdn": "081234567890", "join_date": "2026-11-01", "status": "active",
            "permission_id": held, "working_type": "contract", "show_salary": true, "salary": 1,
            "address": { "street": "", "city": "", "province": "", "postal_code": "" },
            "bank_account": { "bank_code": "BCA", "account_number": "12345", "account_name": "Ayu" },
        })
    };
    let partner = || {
        json!({
            "name": "Made", "email": format!("{}@bahari.id", ids::fresh().simple()),
            "phone": "081234567890", "address": "", "partnerType": "company",
        })
    };
    let reseller = || {
        json!({
            "name": "Made Travel", "legal_name": "Bahari Jaya", "npwp": "012345678901234",
            "email": format!("{}@travel.test", ids::fresh().simple()),
            "ops_email": "ops@travel.test", "phone": "081234567890", "address": "Jl. Pantai 1",
        })
    };
    // Inactive: one that was charged cannot be deleted.
    let tax = |code: &str| {
        json!({
            "name": "PPN", "code": code, "rate": 11, "applies_to": "commission",
            "is_active": false,
        })
    };
    let invitation =
        || json!({ "name": "Komang", "email": format!("{}@dermaga.test", ids::fresh().simple()) });
    match operation {
        "logout" => ("/v1/auth/logout".into(), json!({})),
        "remember_me" => ("/auth/remember-me".into(), json!({ "email": admin.email })),
        "update_profile" => (
            "/user/me".into(),
            json!({ "name": "Boss", "email": admin.email, "phone": "081234567890", "avatar_file_id": "" }),
        ),
        "resend_verification" => {
            let unverified = "UPDATE accounts SET email_verified = FALSE WHERE email = $1";
            world.db().sql(unverified).bind(admin.email.clone()).run().await.unwrap();
            ("/auth/resend-verification".into(), json!({}))
        }
        "change_password" => {
            let new = "layar putih 7 dermaga tua";
            let body = json!({
                "current_password": crate::world::PASSWORD, "password": new, "cpassword": new,
            });
            ("/user/me/password".into(), body)
        }
        "end_session" => {
            let sessions = own("/user/me/sessions").await;
            let session = sessions[0]["id"].as_str().unwrap();
            (format!("/user/me/sessions/{session}"), json!({}))
        }
        "reauthenticate" => {
            ("/user/me/reauthenticate".into(), json!({ "password": crate::world::PASSWORD }))
        }
        "enrol_totp" => {
            ("/user/me/totp".into(), json!({ "current_password": crate::world::PASSWORD }))
        }
        "confirm_totp" => {
            let body = json!({ "current_password": crate::world::PASSWORD });
            let begun = world.post("/user/me/totp", body).by(admin).send().await.ok();
            let app = Authenticator::new(begun["secret"].as_str().unwrap());
            ("/user/me/totp/confirm".into(), json!({ "code": app.code(world.now()) }))
        }
        "remove_totp" => {
            let app = world.enrols(admin).await;
            let body = json!({
                "current_password": crate::world::PASSWORD, "code": app.recovery_codes[0],
            });
            ("/user/me/totp".into(), body)
        }
        "reset_totp" => {
            let other = world.admin_with_email("lost.phone@dermaga.test").await;
            world.enrols(&other).await;
            (format!("/v1/users/{}/totp", other.id), json!({}))
        }
        "invite_admin" => ("/v1/users/admins".into(), invitation()),
        "change_admin_status" => {
            let other = made("/v1/users/admins", invitation()).await;
            (format!("/v1/users/{other}/status"), json!({ "status": "inactive" }))
        }
        "create_permission" => ("/v1/permission".into(), permission()),
        "update_permission" | "delete_permission" => {
            let id = made("/v1/permission", permission()).await;
            (format!("/v1/permission/{id}"), permission())
        }
        "create_staff" => ("/v1/staff".into(), staff().await),
        "update_staff" | "delete_staff" => {
            let id = made("/v1/staff", staff().await).await;
            (format!("/v1/staff/{id}"), staff().await)
        }
        "export_personal_data" => {
            ("/v1/privacy/export".into(), json!({ "email": "sari@example.com" }))
        }
        "erase_personal_data" => {
            let body = json!({ "email": "nobody@example.com", "reason": "By request" });
            ("/v1/privacy/erase".into(), body)
        }
        "presign_url" => {
            let query = "filename=a.png&content_type=image/png&size=9&purpose=photo";
            (format!("/v1/files/presign-url?{query}"), json!({}))
        }
        "upload_file" => ("/v1/files/upload".into(), json!({})),
        "update_onboarding" => {
            ("/v1/mitra/onboarding".into(), json!({ "pic": { "name": "Made" } }))
        }
        "invite_crew" | "remove_crew" | "resend_crew_invitation" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let email = format!("{operation}@crew.test");
            let person = json!({ "name": "Nyoman", "email": email, "phone": "081234567890" });
            if operation == "invite_crew" {
                return ("/v1/mitra/crew".into(), person);
            }
            let member = world.post("/v1/mitra/crew", person).by(&partner).send().await.ok();
            let path = format!("/v1/mitra/crew/{}", member["id"].as_str().unwrap());
            if operation == "remove_crew" {
                return (path, json!({}));
            }
            world.advances_clock(chrono::TimeDelta::minutes(5));
            (format!("{path}/resend-invitation"), json!({}))
        }
        "create_reseller" => ("/v1/resellers".into(), reseller()),
        "update_reseller"
        | "suspend_reseller"
        | "unsuspend_reseller"
        | "resend_reseller_invitation"
        | "create_reseller_key"
        | "revoke_reseller_key"
        | "set_reseller_grants"
        | "create_reseller_invoice"
        | "record_reseller_payment" => {
            let id = made("/v1/resellers", reseller()).await;
            let path = format!("/v1/resellers/{id}");
            let key = || json!({ "name": "Engine", "scopes": ["catalog"] });
            match operation {
                "resend_reseller_invitation" => (format!("{path}/resend-invitation"), json!({})),
                "create_reseller_key" => (format!("{path}/keys"), key()),
                "revoke_reseller_key" => {
                    let keys = format!("{path}/keys");
                    let id = made(&keys, key()).await;
                    (format!("{keys}/{id}"), json!({}))
                }
                "set_reseller_grants" => {
                    let body = json!({ "grants": [{ "margin_rate": 5 }] });
                    (format!("{path}/partners"), body)
                }
                "create_reseller_invoice" => {
                    crate::resellers_money::owes(world, &id, 100_000).await;
                    let today = world.app.today();
                    let body = json!({ "start_date": today, "end_date": today });
                    (format!("{path}/invoices"), body)
                }
                "record_reseller_payment" => {
                    let body = json!({
                        "amount": 100_000, "reference": "BCA-1",
                        "received_on": world.app.today(),
                    });
                    (format!("{path}/payments"), body)
                }
                "suspend_reseller" => (format!("{path}/suspend"), json!({ "reason": "Overdue" })),
                "unsuspend_reseller" => {
                    let reason = json!({ "reason": "Overdue" });
                    world.post(&format!("{path}/suspend"), reason).by(admin).send().await.ok();
                    (format!("{path}/unsuspend"), json!({}))
                }
                _ => (path, reseller()),
            }
        }
        "create_partner" => ("/v1/mitra/manajemen".into(), partner()),
        "update_partner" | "resend_invitation" | "impersonate_partner" => {
            let id = made("/v1/mitra/manajemen", partner()).await;
            let path = format!("/v1/mitra/manajemen/{id}");
            match operation {
                "resend_invitation" => (format!("{path}/resend-invitation"), json!({})),
                "impersonate_partner" => (format!("{path}/impersonate"), json!({})),
                _ => (path, partner()),
            }
        }
        "suspend_partner" | "unsuspend_partner" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let desk = world.partner_path(&partner).await;
            if operation == "unsuspend_partner" {
                let reason = json!({ "reason": "Unsafe" });
                world.post(&format!("{desk}/suspend"), reason).by(admin).send().await.ok();
            }
            let last = operation.trim_end_matches("_partner");
            (format!("{desk}/{last}"), json!({ "reason": "Unsafe" }))
        }
        "review_document" => {
            let partner = world.submitted_partner("review@bahari.id").await;
            let desk = world.partner_path(&partner).await;
            let document = world.documents(&desk, admin).await.remove(0);
            let body = json!({ "document_id": document["id"], "status": "approved" });
            (format!("{desk}/document-approval"), body)
        }
        "approve_bank_account" => {
            let partner = world.submitted_partner("bank@bahari.id").await;
            let body = json!({ "status": "approved" });
            (format!("{}/bank-approval", world.partner_path(&partner).await), body)
        }
        "create_speedboat" => {
            let partner = world.active_partner("create.boat@bahari.id").await;
            let mut boat = crate::harbour::boat("GT. 1");
            boat["mitra_id"] = json!(world.partner_id(&partner).await);
            ("/v1/speedboats".into(), boat)
        }
        "update_speedboat" | "delete_speedboat" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let boat = world.adds_boat(&partner, operation).await;
            (format!("/v1/speedboats/{}", boat.as_str()), crate::harbour::boat(operation))
        }
        "extend_route" | "update_sailings" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let (_, id) = world.creates_published_route(&partner, operation).await;
            let path = format!("/v1/mitra/speedboat-routes/{id}");
            match operation {
                "extend_route" => (format!("{path}/extend"), json!({ "end_date": "2026-11-20" })),
                _ => {
                    let body = json!({
                        "start_date": "2026-11-16", "end_date": "2026-11-17",
                        "set": { "price": 160_000 },
                    });
                    (format!("{path}/sailings"), body)
                }
            }
        }
        "create_route"
        | "update_route"
        | "delete_route"
        | "publish_route"
        | "publish_route_by_post" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let boat = world.adds_boat(&partner, operation).await;
            let route = crate::harbour::route(&boat);
            let path = "/v1/mitra/speedboat-routes";
            if operation == "create_route" {
                return (path.into(), route);
            }
            let id = world.creates_route(&partner, route.clone()).await;
            let last = if operation.starts_with("publish") { "/publish" } else { "" };
            (format!("{path}/{id}{last}"), route)
        }
        "update_line" => {
            let partner = world.active_partner("line@bahari.id").await;
            let boat = world.adds_boat(&partner, operation).await;
            world.creates_route(&partner, crate::harbour::route(&boat)).await;
            let lines = world.get("/v1/mitra/lines").by(&partner).send().await.ok();
            let path = format!("/v1/mitra/lines/{}", lines[0]["id"].as_str().unwrap());
            (path, json!({ "max_party": 5 }))
        }
        "create_harbour" | "update_harbour" | "delete_harbour" | "merge_harbour" => {
            let harbour =
                |name: &str| json!({ "name": name, "aliases": [], "timezone": "Asia/Makassar" });
            if operation == "create_harbour" {
                return ("/v1/harbours".into(), harbour(operation));
            }
            let id = made("/v1/harbours", harbour(operation)).await;
            if operation != "merge_harbour" {
                return (format!("/v1/harbours/{id}"), harbour("Another name"));
            }
            let into = made("/v1/harbours", harbour("Remains")).await;
            (format!("/v1/harbours/{id}/merge"), json!({ "into_id": into }))
        }
        "create_tax" => ("/v1/configurations/taxs".into(), tax("NEW")),
        "update_tax" | "delete_tax" => {
            let id = made("/v1/configurations/taxs", tax(operation)).await;
            (format!("/v1/configurations/taxs/{id}"), tax(operation))
        }
        "create_promotion" => {
            ("/v1/contents/promotion".into(), crate::promotions::promotion("NEW"))
        }
        "update_promotion" | "delete_promotion" => {
            let promotion = crate::promotions::promotion(operation);
            let id = made("/v1/contents/promotion", promotion.clone()).await;
            (format!("/v1/promotion/{id}"), promotion)
        }
        "create_booking"
        | "cancel_booking"
        | "pay_again"
        | "pay_cash"
        | "resend_ticket"
        | "reschedule_booking"
        | "close_manifest"
        | "reopen_manifest"
        | "update_sailing"
        | "cancel_sailing"
        | "check_in"
        | "undo_check_in"
        | "record_refund"
        | "correct_passengers"
        | "correct_contact"
        | "set_refund_account"
        | "pay_refund"
        | "return_refund"
        | "resolve_payment_review" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let (boat, route) = match operation.ends_with("_manifest") {
                true => {
                    let boat = world.adds_boat(&partner, operation).await;
                    let soon = crate::harbour::route_soon(&boat);
                    let route = world.creates_route(&partner, soon).await;
                    world.publishes_route(&partner, &route).await.ok();
                    (boat, route)
                }
                false => world.creates_published_route(&partner, operation).await,
            };
            let sailings = world.sailings(&partner, &route).await;
            let id = sailings[0]["id"].as_str().unwrap().to_owned();
            let pier = format!("/v1/mitra/route-times/{id}");
            let sailing = crate::harbour::Sailing { partner, boat, id };
            let order = crate::harbour::order(&sailing, 1, "sari@example.com");
            if operation == "create_booking" {
                return ("/v1/booking".into(), order);
            }
            let booking = world.books(order).await.ok();
            let path = format!("/v1/booking/{}", booking["id"].as_str().unwrap());
            match operation {
                "cancel_booking" => (format!("{path}/cancel"), json!({ "reason": "x" })),
                "pay_again" => (format!("{path}/payment"), json!({})),
                "correct_passengers" => {
                    let id = &booking["passengers"][0]["id"];
                    let passenger = json!({
                        "id": id, "name": "Komang", "identity_type": "nik",
                        "identity_number": crate::harbour::NIK,
                    });
                    (format!("{path}/passengers"), json!({ "passengers": [passenger] }))
                }
                "correct_contact" => {
                    let contact = json!({ "name": "Komang", "email": "komang@example.com" });
                    (format!("{path}/contact"), contact)
                }
                "pay_cash" => (format!("{path}/pay-cash"), json!({})),
                "cancel_sailing" => (format!("{pier}/cancel"), json!({ "reason": "x" })),
                "update_sailing" => (
                    pier,
                    json!({ "departure_time": "10:00", "arrival_time": "10:45", "reason": "x" }),
                ),
                "close_manifest" => (format!("{pier}/manifest/close"), json!({})),
                "reopen_manifest" => {
                    world.closes_manifest(&sailing).await.ok();
                    (format!("{pier}/manifest/reopen"), json!({ "reason": "x" }))
                }
                "check_in" | "undo_check_in" => {
                    world.pays(&booking).await;
                    let code = world.ticket_codes(&sailing).await.remove(0);
                    if operation == "check_in" {
                        return (format!("{pier}/check-in"), json!({ "ticket_code": code }));
                    }
                    world.scans_ticket(&sailing, &code).await.ok();
                    (format!("{pier}/check-in/undo"), json!({ "ticket_code": code }))
                }
                "reschedule_booking" => {
                    world.pays(&booking).await;
                    let body = json!({ "route_time_id": sailings[1]["id"], "reason": "x" });
                    (format!("{path}/reschedule"), body)
                }
                "resend_ticket" => {
                    world.pays(&booking).await;
                    (format!("{path}/resend-ticket"), json!({}))
                }
                "record_refund" | "set_refund_account" => {
                    world.pays(&booking).await;
                    let reason = json!({ "reason": "x" });
                    world.post(&format!("{path}/cancel"), reason).by(admin).send().await.ok();
                    if operation == "record_refund" {
                        return (format!("{path}/refund"), json!({ "reference": "BCA-1" }));
                    }
                    let account = json!({
                        "bank_code": "BCA", "account_number": "7712345678",
                        "account_name": "Sari Dewi",
                    });
                    (format!("{path}/refund-account"), account)
                }
                "pay_refund" | "return_refund" => {
                    world.pays(&booking).await;
                    let reason = json!({ "reason": "x" });
                    world.post(&format!("{path}/cancel"), reason).by(admin).send().await.ok();
                    let code = booking["code"].as_str().unwrap();
                    let refunds = own(&format!("/v1/refunds?search={code}")).await;
                    let refund = format!("/v1/refunds/{}", refunds[0]["id"].as_str().unwrap());
                    let transfer = json!({ "by": "bank", "reference": "BCA-1" });
                    if operation == "pay_refund" {
                        return (format!("{refund}/pay"), transfer);
                    }
                    world.post(&format!("{refund}/pay"), transfer).by(admin).send().await.ok();
                    (format!("{refund}/return"), json!({ "reason": "x" }))
                }
                _ => {
                    let reference = booking["payment"]["reference"].as_str().unwrap();
                    let wrong = crate::harbour::callback_body(reference, 1, "settlement", "t");
                    world.post("/v1/payment/callback", wrong).send().await.ok();
                    let reviews = own("/v1/payment/reviews").await;
                    let id = reviews[0]["id"].as_str().unwrap();
                    let body = json!({ "action": "refund", "note": "x" });
                    (format!("/v1/payment/reviews/{id}/resolve"), body)
                }
            }
        }
        "configure_settlements" => {
            ("/v1/settlements/configuration".into(), json!({ "commission_rate": 10 }))
        }
        "record_receipt" => {
            let partner = world.active_partner("record_receipt@bahari.id").await;
            let (boat, route) = world.creates_published_route(&partner, operation).await;
            let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
            let sailing = crate::harbour::Sailing { partner, boat, id };
            let order = crate::harbour::order(&sailing, 1, "sari@example.com");
            let booking = world.books(order).await.ok();
            let path = format!("/v1/booking/{}/pay-cash", booking["id"].as_str().unwrap());
            world.post(&path, json!({})).by(&sailing.partner).send().await.ok();
            world.completes_paid_bookings().await;
            let body = json!({
                "mitra_id": world.partner_id(&sailing.partner).await, "amount": 1,
                "method": "bank", "reference": "BCA-1", "received_on": "2026-11-15",
            });
            ("/v1/settlements/receipts".into(), body)
        }
        "create_settlement" | "release_settlement" | "cancel_settlement" | "return_settlement" => {
            let partner = world.active_partner(&format!("{operation}@bahari.id")).await;
            let (boat, route) = world.creates_published_route(&partner, operation).await;
            let id = world.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
            let sailing = crate::harbour::Sailing { partner, boat, id };
            world.paid_booking(&sailing, 1).await;
            world.completes_paid_bookings().await;
            world.adds_approved_bank_account(&sailing.partner, admin).await;
            if operation == "create_settlement" {
                let body = json!({
                    "mitra_id": world.partner_id(&sailing.partner).await,
                    "start_date": "2026-11-16", "end_date": "2026-11-16",
                });
                return ("/v1/settlements/manual".into(), body);
            }
            let made =
                world.creates_settlement(&sailing.partner, &world.second_admin().await).await.ok();
            let last = operation.trim_end_matches("_settlement");
            if operation == "return_settlement" {
                world.releases_settlement(&made, admin).await.ok();
            }
            let path = format!("/v1/settlements/{}/{last}", made["id"].as_str().unwrap());
            (path, json!({ "reference": "BCA-1", "reason": "x" }))
        }
        "create_provider_settlement" => {
            let lines =
                json!([{ "reference": "x", "gross": 10, "fee": 1, "fee_tax": 0, "net": 9 }]);
            let body = json!({
                "provider": "xendit", "payout_id": "P-1", "paid_on": "2026-11-15", "lines": lines,
            });
            ("/v1/finance/provider-settlements".into(), body)
        }
        "create_tax_payment"
        | "create_cash_deposit"
        | "create_journal"
        | "approve_journal"
        | "reject_journal" => {
            made("/v1/configurations/taxs", tax(operation)).await;
            let body = json!({
                "posted_on": "2026-11-15", "memo": "x",
                "lines": [
                    { "account": "cash", "debit": 10 },
                    { "account": "tax_payable", "tax_code": operation, "credit": 10 },
                ],
            });
            match operation {
                "create_journal" => return ("/v1/finance/journals".into(), body),
                "create_tax_payment" | "create_cash_deposit" => {
                    crate::finance::posts_journal(world, body, admin).await;
                }
                _ => {
                    let colleague = world.second_admin().await;
                    let call = world.post("/v1/finance/journals", body).by(&colleague);
                    let draft = call.send().await.ok();
                    let last = operation.trim_end_matches("_journal");
                    let id = draft["id"].as_str().unwrap();
                    return (format!("/v1/finance/journals/{id}/{last}"), json!({}));
                }
            }
            let body = json!({
                "tax_code": operation, "amount": 10, "paid_on": "2026-11-15",
                "deposited_on": "2026-11-15", "reference": "x",
            });
            let last = operation.trim_start_matches("create_").replace('_', "-");
            (format!("/v1/finance/{last}s"), body)
        }
        "close_period" => ("/v1/finance/periods/2026-10/close".into(), json!({})),
        "reopen_period" => {
            // Closed unless that was done before.
            let close = world.post("/v1/finance/periods/2026-10/close", json!({})).by(admin);
            close.send().await;
            ("/v1/finance/periods/2026-10/reopen".into(), json!({ "reason": "x" }))
        }
        "save_cta_partnership" => (
            "/v1/contents/cta-partnership".into(),
            json!({
                "title": "Join", "description": "", "button_label": "Go",
                "button_url": "https://dermaga.id", "is_active": true,
            }),
        ),
        "create_terms" | "update_terms" | "publish_terms" => {
            let path = "/v1/configurations/term-condition";
            let writer = world.admin_with_email(&format!("writer.{operation}@dermaga.test")).await;
            let who = if operation == "create_terms" { admin } else { &writer };
            let body = json!({
                "type": operation.replace('_', "-"), "content": "<p>x</p>",
                "user_creator_id": who.id,
            });
            if operation == "create_terms" {
                return (format!("{path}/create"), body);
            }
            let call = world.post(&format!("{path}/create"), body).by(&writer);
            let id = call.send().await.ok()["id"].clone();
            let body = json!({
                "id": id, "content": "<p>y</p>", "user_creator_id": admin.id,
                "user_validator_id": admin.id,
            });
            (format!("{path}/{}", operation.trim_end_matches("_terms")), body)
        }
        "read_all_notifications" => ("/v1/notifications/read-all".into(), json!({})),
        "read_notification" => {
            // Somebody registers, and the admin is told.
            let body = crate::world::registration("told@bahari.id");
            world.post("/auth/register-mitra", body).send().await.ok();
            world.delivers_outbox().await;
            let told = own("/v1/notifications").await;
            let id = told[0]["id"].as_str().unwrap();
            (format!("/v1/notifications/{id}/read"), json!({}))
        }
        "create_webhook" | "update_webhook" | "delete_webhook" | "resend_delivery" => {
            let body = json!({ "url": "https://hooks.example", "events": ["terms.published"] });
            if operation == "create_webhook" {
                return ("/v1/webhooks".into(), body);
            }
            let id = made("/v1/webhooks", body.clone()).await;
            if operation != "resend_delivery" {
                return (format!("/v1/webhooks/{id}"), body);
            }
            let delivery = ids::fresh();
            world
                .db()
                .sql(
                    "INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, payload, lane,
                       status, attempts, created_at)
                     VALUES ($1, $2, $1, 'terms.published', '{}', 'x', 'failed', 1, $3)",
                )
                .bind(delivery)
                .bind(id.parse::<ids::Uuid>().unwrap())
                .bind(world.now())
                .run()
                .await
                .unwrap();
            (format!("/v1/webhooks/{id}/deliveries/{delivery}/resend"), json!({}))
        }
        other => panic!("{other} changes something, and nobody looks whether it is audited"),
    }
}

async fn the_log_is_read_with_its_filters(world: World) {
    let admin = world.admin().await;
    let other = world.admin_with_email("other@dermaga.test").await;
    let permission = json!({
        "name": "Desk", "description": "", "level": "viewer", "rules": ["fleet.read"],
    });
    let made = world.post("/v1/permission", permission).by(&admin).send().await.ok();
    let id = made["id"].as_str().unwrap().to_owned();
    world.advances_clock(chrono::TimeDelta::hours(14));
    let other = world.signs_in(&other.email, "admin").await;
    world.delete(&format!("/v1/permission/{id}")).by(&other).send().await.ok();

    let actions = async |query: &str| {
        let path = format!("/v1/audit-logs?{query}");
        let data = world.get(&path).by(&other).send().await.ok();
        let entries = data.as_array().unwrap().iter();
        entries
            .map(|entry| entry["action"].as_str().unwrap().split('.').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(actions("").await, ["deleted", "created"], "newest first");
    assert_eq!(actions(&format!("actor_id={}", admin.id)).await, ["created"]);
    assert_eq!(actions(&format!("entity_type=permission&entity_id={id}")).await.len(), 2);
    assert_eq!(actions("action=permission.deleted").await, ["deleted"]);
    // Days count in the service's zone: the second was made on the 16th in Jakarta.
    assert_eq!(actions("end_date=2026-11-15").await, ["created"]);
    assert_eq!(actions("start_date=2026-11-16&end_date=2026-11-16").await, ["deleted"]);
    assert_eq!(actions("search=other@").await, ["deleted"]);
    let bad = world.get("/v1/audit-logs?actor_id=x&start_date=2026-02-30").by(&other).send().await;
    bad.has_field_errors(&[("actor_id", "format"), ("start_date", "format")]);

    let entry = world.get("/v1/audit-logs?action=permission.created").by(&other).send().await.ok();
    let entry = &entry[0];
    assert_eq!(entry["actor"]["email"], "admin@dermaga.test");
    assert_eq!(entry["on_behalf_of"], json!(null));
    assert_eq!(entry["before"], json!(null));
    assert_eq!(entry["after"]["name"], "Desk");
    assert_eq!(entry["entity_id"], json!(id));
    assert_eq!(entry["created_at"], "2026-11-15T03:00:00Z");
}
