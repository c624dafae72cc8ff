//! What resellers sell: credit, seats, the ledger, and the number of statements.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    resale::{FIRST_DAY, LAST_DAY, OPTION, Shop, sailing_of, wish},
    storms::assert_invariants,
    world::World,
};

on_both_engines![
    fifty_confirms_at_once_never_pass_the_limit,
    nothing_is_confirmed_without_credit,
    an_overdue_invoice_ends_the_credit,
    web_and_resellers_never_sell_a_seat_twice,
    a_sale_is_posted_from_confirm_to_arrival,
    a_cancelled_sale_goes_back_to_the_account,
    a_sailing_that_is_cancelled_is_credited_in_full,
    a_hold_keeps_its_price,
    a_move_is_paid_on_account,
    a_move_limits_refunds_by_the_policy_of_the_grant,
    a_moved_day_ticket_counts_from_its_last_departure,
    a_margin_above_the_commission_is_not_sold,
    an_agreed_net_fare_is_what_is_owed,
    a_years_calendar_is_one_statement,
    a_hundred_ids_are_one_statement,
    products_are_two_statements,
];

/// What an adult costs the reseller: 150,000 less 5 %.
const NET: i64 = 142_500;

async fn set_limit(world: &World, shop: &Shop, limit: i64) {
    let set = world.db().sql("UPDATE resellers SET credit_limit = $1 WHERE id = $2");
    set.bind(limit).bind(shop.reseller.id).run().await.unwrap();
}

async fn balance_of(world: &World, shop: &Shop) -> i64 {
    let owed = world.db().sql("SELECT balance FROM resellers WHERE id = $1");
    owed.bind(shop.reseller.id).scalar().await.unwrap()
}

/// The lines of the ledger of a kind, by account.
async fn posted(world: &World, kind: &'static str) -> Vec<(String, i64)> {
    world
        .db()
        .sql(
            "SELECT account, CAST(SUM(amount) AS BIGINT) FROM ledger_lines WHERE kind = $1
             GROUP BY account ORDER BY account",
        )
        .bind(kind)
        .all()
        .await
        .unwrap()
}

fn lines(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    expected.iter().map(|(account, amount)| ((*account).to_owned(), *amount)).collect()
}

async fn with_taxes(world: &World) {
    let admin = world.admin().await;
    for (code, applies_to) in [("PPN", "commission"), ("PB1", "booking")] {
        let tax = json!({
            "name": code, "code": code, "rate": 10.0, "applies_to": applies_to, "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    }
}

async fn fifty_confirms_at_once_never_pass_the_limit(world: World) {
    let shop = world.shop().await;
    // On several sailings, so that they do not wait for one.
    let mut held = Vec::new();
    for day in ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22"] {
        let id = world.availability_id(&shop, &shop.line, day).await;
        for _ in 0..10 {
            held.push(world.reserves(&shop, wish(&shop.line, &id, 1)).await.bare());
        }
    }
    set_limit(&world, &shop, 20 * NET + NET - 1).await;
    let answers = join_all(held.iter().map(|held| world.confirms(&shop, held))).await;
    let (sold, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(sold.len(), 20);
    for answer in refused {
        answer.refuses("UNPROCESSABLE_ENTITY");
    }
    assert_eq!(balance_of(&world, &shop).await, 20 * NET);
    let left = "SELECT COUNT(*) FROM bookings WHERE status = 'pending_payment'";
    assert_eq!(world.count(left).await, 30, "a refused hold stays one");
    assert_invariants(&world).await;
}

async fn nothing_is_confirmed_without_credit(world: World) {
    let shop = world.shop().await;
    set_limit(&world, &shop, 2 * NET - 1).await;
    let too_many = world.wish(&shop, 2).await;
    // A reservation looks at the credit, and does not take it.
    world.reserves(&shop, too_many).await.refuses("UNPROCESSABLE_ENTITY");
    let (first, second) = (world.held(&shop, 1).await, world.held(&shop, 1).await);
    world.confirms(&shop, &first).await.bare();
    world.confirms(&shop, &second).await.refuses("UNPROCESSABLE_ENTITY");
    let suspend = "UPDATE resellers SET credit_limit = 100000000, status = 'suspended'";
    world.db().sql(suspend).run().await.unwrap();
    world.confirms(&shop, &second).await.refuses("FORBIDDEN");
    world.db().sql("UPDATE resellers SET status = 'active'").run().await.unwrap();
    world.confirms(&shop, &second).await.bare();
    assert_eq!(balance_of(&world, &shop).await, 2 * NET);
    // Prepaid: no limit, and a balance below zero.
    set_limit(&world, &shop, 0).await;
    let third = world.wish(&shop, 1).await;
    world.reserves(&shop, third).await.refuses("UNPROCESSABLE_ENTITY");
    assert_invariants(&world).await;
}

async fn an_overdue_invoice_ends_the_credit(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 1).await;
    world
        .db()
        .sql(
            "INSERT INTO reseller_invoices (id, code, reseller_id, start_date, end_date, amount,
               due_on, status, created_at)
             VALUES ($1, 'INV-1', $2, '2026-10-01', '2026-10-31', 1000, '2026-11-07', 'open', $3)",
        )
        .bind(dermaga::kernel::ids::fresh())
        .bind(shop.reseller.id)
        .bind(world.now())
        .run()
        .await
        .unwrap();
    world.confirms(&shop, &held).await.refuses("UNPROCESSABLE_ENTITY");
    let wish = world.wish(&shop, 1).await;
    world.reserves(&shop, wish.clone()).await.refuses("UNPROCESSABLE_ENTITY");
    let later = "UPDATE reseller_invoices SET due_on = '2026-11-08'";
    world.db().sql(later).run().await.unwrap();
    world.confirms(&shop, &held).await.bare();
    world.reserves(&shop, wish).await.bare();
}

/// Many guests and a reseller want the last seats of one sailing.
async fn web_and_resellers_never_sell_a_seat_twice(world: World) {
    let shop = world.shop().await;
    let id = world.availability_id(&shop, &shop.line, FIRST_DAY).await;
    let sailing = Sailing { partner: shop.partner.clone(), boat: shop.boat.clone(), id };
    let web = join_all(
        (0..30_usize)
            .map(|n| world.books(order(&sailing, 1 + n % 3, &format!("guest{n}@example.com")))),
    );
    let resold =
        join_all((0..30).map(|n| world.reserves(&shop, wish(&shop.line, &sailing.id, 1 + n % 3))));
    let (web, resold) = tokio::join!(web, resold);
    let mut taken = 0;
    for answer in web {
        match answer.status {
            200 => taken += answer.body["data"]["qty"].as_i64().unwrap(),
            _ => assert_eq!(answer.status, 409, "{}", answer.body),
        }
    }
    for answer in resold {
        match answer.status {
            200 => taken += answer.body["unitItems"].as_array().unwrap().len() as i64,
            _ => drop(answer.refuses("UNPROCESSABLE_ENTITY")),
        }
    }
    assert!((29..=30).contains(&taken), "{taken} of 30 seats");
    assert_eq!(world.seats_taken(&sailing).await, taken);
    assert_invariants(&world).await;
}

async fn a_sale_is_posted_from_confirm_to_arrival(world: World) {
    let shop = world.shop().await;
    with_taxes(&world).await;
    let sold = world.confirmed(&shop, 2).await;
    // 300,000 less 15,000, and 10 % on that.
    let total = 285_000 + 28_500;
    let paid = lines(&[("customer_deposits", -total), ("reseller_receivable", total)]);
    assert_eq!(posted(&world, "paid").await, paid);
    assert_eq!(balance_of(&world, &shop).await, total);
    let payment: (String, String, String, i64, String) = world
        .db()
        .sql("SELECT provider, method, status, amount, reference FROM payments")
        .one()
        .await
        .unwrap();
    let reference = format!("{}-1", sold["supplierReference"].as_str().unwrap());
    let account = "account".to_owned();
    assert_eq!(payment, (account.clone(), account, "paid".to_owned(), total, reference));
    assert_invariants(&world).await;
    assert_eq!(world.completes_paid_bookings().await, 1);
    let earned = lines(&[
        ("commission_revenue", -30_000),
        ("customer_deposits", total),
        ("partner_payable", -(300_000 - 30_000 - 3_000)),
        ("reseller_margin", 15_000),
        ("tax_payable", -(28_500 + 3_000)),
    ]);
    assert_eq!(posted(&world, "completed").await, earned);
    assert_eq!(balance_of(&world, &shop).await, total, "the reseller still owes it");
    assert_invariants(&world).await;
}

async fn a_cancelled_sale_goes_back_to_the_account(world: World) {
    let shop = world.shop().await;
    let (full, half) = (world.confirmed(&shop, 1).await, world.confirmed(&shop, 2).await);
    world.cancels(&shop, &full, json!({ "reason": "ill" })).await.bare();
    assert_eq!(
        posted(&world, "refund_due").await,
        lines(&[("customer_deposits", NET), ("refund_payable", -NET)])
    );
    assert_eq!(balance_of(&world, &shop).await, 2 * NET);
    assert_eq!(world.balance("refund_payable").await, 0, "it is credited at once");
    assert_invariants(&world).await;
    world.advances_clock(TimeDelta::hours(57));
    let forced = json!({ "reason": "late", "force": true });
    let gone = world.cancels(&shop, &half, forced).await.bare();
    assert_eq!(gone["cancellation"]["refund"], "PARTIAL");
    assert_eq!(balance_of(&world, &shop).await, NET, "half of it is kept");
    assert_eq!(world.balance("customer_deposits").await, 0);
    assert_eq!(world.count("SELECT COUNT(*) FROM refunds WHERE unpaid > 0").await, 0);
    assert_invariants(&world).await;
}

async fn a_sailing_that_is_cancelled_is_credited_in_full(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let held = world.held(&shop, 1).await;
    let sailing = sailing_of(&shop, &sold);
    // Shortly before departure, when a reseller would get nothing.
    world.advances_clock(TimeDelta::hours(66));
    let partner = world.signs_in(&shop.partner.email, "mitra").await;
    world.cancels_sailing(&sailing, &partner).await.ok();
    assert_eq!(balance_of(&world, &shop).await, 0);
    let path = format!("/bookings/{}", sold["uuid"].as_str().unwrap());
    let gone = world.octo_get(&shop, &path).send().await.bare();
    assert_eq!(
        (&gone["status"], &gone["cancellation"]["refund"]),
        (&json!("CANCELLED"), &json!("FULL"))
    );
    let path = format!("/bookings/{}", held["uuid"].as_str().unwrap());
    let hold = world.octo_get(&shop, &path).send().await.bare();
    assert_ne!(hold["status"], "ON_HOLD");
    assert_invariants(&world).await;
}

/// The first sailing of a day at another price.
async fn priced(world: &World, shop: &Shop, day: &str, price: i64) -> String {
    let id = world.availability_id(shop, &shop.line, day).await;
    let set = world.db().sql("UPDATE sailings SET price = $1 WHERE id = $2");
    set.bind(price).bind(id.parse::<dermaga::kernel::ids::Uuid>().unwrap()).run().await.unwrap();
    id
}

async fn a_hold_keeps_its_price(world: World) {
    let shop = world.shop().await;
    let held = world.held(&shop, 2).await;
    let sailing = sailing_of(&shop, &held);
    world.updates_sailing(&sailing, json!({ "price": 200_000 })).await.ok();
    // Above the commission.
    world.db().sql("UPDATE reseller_grants SET margin_rate = 1001").run().await.unwrap();
    let path = format!("/bookings/{}", held["uuid"].as_str().unwrap());
    let patch = async |items: Value| {
        let body = json!({ "unitItems": items });
        world.octo("PATCH", &shop, &path).json(body).send_with_retry().await
    };
    patch(held["unitItems"].clone()).await.bare();
    let adult = json!({ "unitId": "adult", "contact": { "fullName": "Putu Ayu" } });
    // Another number of units has the price of today.
    patch(json!([adult, adult, adult])).await.refuses("UNPROCESSABLE_ENTITY");
    let body = json!({ "contact": { "fullName": "Sari Dewi" }, "unitItems": [adult, adult] });
    let confirm = world.octo_post(&shop, &format!("{path}/confirm"), body);
    let sold = confirm.send_with_retry().await.bare();
    assert_eq!(sold["unitItems"][1]["contact"]["fullName"], "Putu Ayu");
    assert_eq!(balance_of(&world, &shop).await, 2 * NET);
    assert_invariants(&world).await;
}

async fn a_move_is_paid_on_account(world: World) {
    let shop = world.shop().await;
    let dear = priced(&world, &shop, "2026-11-20", 200_000).await;
    let cheap = priced(&world, &shop, "2026-11-21", 100_000).await;
    let sold = world.confirmed(&shop, 2).await;
    let path = format!("/bookings/{}", sold["uuid"].as_str().unwrap());
    let to = async |id: &str| {
        let body = json!({ "availabilityId": id });
        world.octo("PATCH", &shop, &path).json(body).send_with_retry().await
    };
    to(&dear).await.bare();
    // 5 % of 200,000 are left to the reseller.
    assert_eq!(balance_of(&world, &shop).await, 380_000);
    assert_eq!(world.count("SELECT COUNT(*) FROM payments WHERE method = 'account'").await, 2);
    assert_invariants(&world).await;
    to(&cheap).await.bare();
    assert_eq!(balance_of(&world, &shop).await, 190_000);
    assert_eq!(world.balance("refund_payable").await, 0);
    assert_invariants(&world).await;
    // The difference needs credit too.
    set_limit(&world, &shop, 300_000).await;
    to(&dear).await.refuses("UNPROCESSABLE_ENTITY");
    assert_eq!(balance_of(&world, &shop).await, 190_000);
    world.completes_paid_bookings().await;
    assert_eq!(world.balance("reseller_margin").await, 10_000);
    assert_invariants(&world).await;
}

/// Moves a booking to another day at this time, and cancels it then.
async fn moves_and_cancels(
    world: &World,
    shop: &Shop,
    (booking, at): (&Value, &str),
    to: &str,
) -> Value {
    world.advances_clock(at.parse::<chrono::DateTime<chrono::Utc>>().unwrap() - world.now());
    let path = format!("/bookings/{}", booking["uuid"].as_str().unwrap());
    let body = json!({ "availabilityId": to });
    world.octo("PATCH", shop, &path).json(body).send_with_retry().await.bare();
    let gone = world.cancels(shop, booking, json!({})).await.bare();
    assert_invariants(world).await;
    gone["cancellation"]["refund"].clone()
}

async fn a_move_limits_refunds_by_the_policy_of_the_grant(world: World) {
    let (shop, admin) = (world.shop().await, world.admin().await);
    let policy = json!([{ "hours_before": 6, "percent": 100 }]);
    let grants = json!([{ "mitra_id": null, "margin_rate": 5, "refund_policy": policy }]);
    let path = format!("/v1/resellers/{}/partners", shop.reseller.id);
    world.put(&path, json!({ "grants": grants })).by(&admin).send().await.ok();
    let sold = world.confirmed(&shop, 1).await;
    let next = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    // By the policy of the service half of it is kept twelve hours before departure.
    let late = (&sold, "2026-11-17T12:00:00Z");
    assert_eq!(moves_and_cancels(&world, &shop, late, &next).await, "FULL");
}

async fn a_moved_day_ticket_counts_from_its_last_departure(world: World) {
    let shop = world.shop().await;
    let product = shop.day_ticket();
    let day = world.availability_id(&shop, &product, FIRST_DAY).await;
    let held = world.reserves(&shop, wish(&product, &day, 1)).await.bare();
    let sold = world.confirms(&shop, &held).await.bare();
    let next = world.availability_id(&shop, &product, "2026-11-20").await;
    // 21 hours before its own departure, and 27 before the last one of the day.
    let late = (&sold, "2026-11-17T03:00:00Z");
    assert_eq!(moves_and_cancels(&world, &shop, late, &next).await, "FULL");
}

async fn a_margin_above_the_commission_is_not_sold(world: World) {
    let shop = world.shop().await;
    let wish = world.wish(&shop, 1).await;
    let set = async |set: &'static str| {
        let statement = format!("UPDATE reseller_grants SET {set}").leak();
        world.db().sql(statement).run().await.unwrap();
    };
    // The commission is 10 %.
    set("margin_rate = 1001").await;
    world.reserves(&shop, wish.clone()).await.refuses("UNPROCESSABLE_ENTITY");
    set("margin_rate = 1000").await;
    world.reserves(&shop, wish.clone()).await.bare();
    set("margin_rate = 1001, allow_loss = TRUE").await;
    world.reserves(&shop, wish).await.bare();
}

async fn an_agreed_net_fare_is_what_is_owed(world: World) {
    let shop = world.shop().await;
    let agreed = json!([{ "line_id": shop.line, "fare": "adult", "net": 140_000 }]);
    let set = world.db().sql("UPDATE reseller_grants SET net_fares = $1");
    set.bind(agreed).run().await.unwrap();
    world.confirmed(&shop, 2).await;
    assert_eq!(balance_of(&world, &shop).await, 280_000);
    let other = world.availability_id(&shop, &shop.other_line, FIRST_DAY).await;
    let held = world.reserves(&shop, wish(&shop.other_line, &other, 1)).await.bare();
    world.confirms(&shop, &held).await.bare();
    assert_eq!(balance_of(&world, &shop).await, 280_000 + NET, "the other line has the margin");
    assert_invariants(&world).await;
}

/// The number of statements of a call, after one that wrote when the key was used.
async fn statements(world: &World, shop: &Shop, path: &str, body: Value) -> u64 {
    let call = || match body.is_null() {
        true => world.octo_get(shop, path),
        false => world.octo_post(shop, path, body.clone()),
    };
    call().send().await.bare();
    let before = world.db().statements();
    call().send().await.bare();
    world.db().statements() - before
}

async fn a_years_calendar_is_one_statement(world: World) {
    let shop = world.shop().await;
    for product in [shop.line.clone(), shop.day_ticket()] {
        let asked = json!({
            "productId": product, "optionId": OPTION, "localDateStart": "2026-11-15",
            "localDateEnd": "2027-11-15", "units": [{ "id": "adult", "quantity": 2 }],
        });
        let count = statements(&world, &shop, "/availability/calendar", asked.clone()).await;
        assert_eq!(count, 2, "that of the key, and one");
        assert_eq!(statements(&world, &shop, "/availability", asked).await, 2);
    }
}

async fn a_hundred_ids_are_one_statement(world: World) {
    let shop = world.shop().await;
    let mut ids = Vec::new();
    let asked = json!({
        "productId": shop.line, "optionId": OPTION, "localDateStart": FIRST_DAY,
        "localDateEnd": LAST_DAY,
    });
    let found = world.octo_post(&shop, "/availability", asked).send().await.bare();
    ids.extend(found.as_array().unwrap().iter().map(|one| one["id"].clone()));
    ids.extend((ids.len()..100).map(|_| json!(dermaga::kernel::ids::fresh().to_string())));
    let asked = json!({ "productId": shop.line, "optionId": OPTION, "availabilityIds": ids });
    assert_eq!(statements(&world, &shop, "/availability", asked).await, 2);
}

async fn products_are_two_statements(world: World) {
    let shop = world.shop().await;
    world.octo_get(&shop, "/supplier").send().await.bare();
    let before = world.db().statements();
    world.octo_get(&shop, "/products").send().await.bare();
    let count = world.db().statements() - before;
    assert!(count <= 3, "{count}: that of the key, and two");
}
