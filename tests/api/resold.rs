//! What staff and partners see of bookings that resellers have sold.

use chrono::TimeDelta;
use dermaga::{
    config::Steps,
    invariants,
    kernel::{access::Rule, ids::Uuid},
};
use serde_json::{Value, json};

use crate::{
    harbour::{Sailing, order},
    on_both_engines,
    resale::{Shop, sailing_of},
    storms::assert_invariants,
    world::{Someone, World},
};

on_both_engines![
    the_report_by_reseller_counts_sales_margin_and_refunds,
    the_figures_are_the_same_when_they_are_rebuilt,
    margins_reduce_the_income_of_the_platform,
    a_move_counts_on_its_day,
    staff_see_the_margin_and_partners_the_retail_price,
    partners_learn_no_net_price_of_a_move_or_refund,
    tickets_of_resellers_show_no_price,
    a_partner_refunds_resold_bookings_in_full,
    partners_see_their_sales_at_the_retail_price,
    a_fee_counts_as_a_part_of_the_retail_price,
    a_partners_list_by_total_is_in_the_order_of_the_retail_prices,
    a_wrong_surcharge_is_refused_or_found,
    earlier_sales_get_their_surcharges_by_the_migrations,
    bookings_are_found_by_their_reseller,
    settlements_name_the_channel,
];

const REPORTS: &str = "/v1/finance/reports";
const NET: i64 = 142_500;

fn of_day(day: &str) -> String {
    format!("period_type=Custom&comparison_mode=Month-over-month&start_date={day}&end_date={day}")
}

async fn by_reseller(world: &World, admin: &Someone, day: &str) -> Value {
    let path = format!("{REPORTS}/revenue-breakdown/reseller?{}", of_day(day));
    world.get(&path).by(admin).send().await.ok()
}

fn figures(slice: &Value) -> [i64; 5] {
    ["bookings", "passengers", "revenue", "margin", "refunds"]
        .map(|name| slice[name]["current"].as_i64().unwrap())
}

async fn the_report_by_reseller_counts_sales_margin_and_refunds(world: World) {
    let admin = world.admin().await;
    let shop = world.shop().await;
    let other = world.reseller_with_key("Agen Ubud").await;
    let gone = world.confirmed(&shop, 2).await;
    world.confirmed(&shop, 3).await;
    world.held(&shop, 1).await;
    let shop_of_other = Shop { reseller: other, ..shop };
    world.confirmed(&shop_of_other, 1).await;
    let shop =
        Shop { reseller: world_reseller(&world, &gone, &shop_of_other).await, ..shop_of_other };
    let sailing = sailing_of(&shop, &gone);
    world.paid_booking(&sailing, 1).await;
    world.cancels(&shop, &gone, json!({})).await.bare();
    for rolled_up in [false, true] {
        if rolled_up {
            dermaga::reports::roll_up(&world.app).await.unwrap();
        }
        let report = by_reseller(&world, &admin, "2026-11-15").await;
        let items = report["items"].as_array().unwrap();
        let seen: Vec<_> =
            items.iter().map(|item| (item["label"].as_str().unwrap(), figures(item))).collect();
        let expected = [
            ("Agen Kuta", [2, 5, 5 * NET, 5 * 7_500, 2 * NET]),
            ("Agen Ubud", [1, 1, NET, 7_500, 0]),
        ];
        assert_eq!(seen, expected, "rolled up: {rolled_up}");
        assert_eq!(report["total"]["current"], 6 * NET);
        let none = by_reseller(&world, &admin, "2026-11-14").await;
        assert_eq!(none["items"], json!([]));
        let path = format!("{REPORTS}/revenue-breakdown/payment?{}", of_day("2026-11-15"));
        let methods = world.get(&path).by(&admin).send().await.ok();
        let account = methods["items"].as_array().unwrap().iter();
        let account = account.clone().find(|item| item["key"] == "account").unwrap();
        assert_eq!(account["revenue"]["current"], 6 * NET);
        assert_eq!(account["label"], "On account");
        assert_invariants(&world).await;
    }
    let path = format!("{REPORTS}/revenue-breakdown/reseller?{}&format=csv", of_day("2026-11-15"));
    let (status, _, body) = world.get(&path).by(&admin).bytes().await;
    let body = String::from_utf8(body).unwrap().replace('"', "");
    assert_eq!(status, 200);
    assert!(
        body.contains(&format!("Agen Kuta,{},0,2,0,5,0,37500,0,{}", 5 * NET, 2 * NET)),
        "{body}"
    );
    let page = format!("{REPORTS}/revenue-breakdown/reseller?{}&page_size=1", of_day("2026-11-15"));
    let page = world.get(&page).by(&admin).send().await;
    assert_eq!(page.body["pagination"]["total_items"], 2);
    assert_eq!(page.ok()["items"].as_array().unwrap().len(), 1);
    let reader = world.staff("reports@dermaga.test", &[Rule::BookingsRead]).await;
    let path = format!("{REPORTS}/revenue-breakdown/reseller?{}", of_day("2026-11-15"));
    world.get(&path).by(&reader).send().await.is(403, "forbidden");
}

/// The reseller that sold the booking, with another key.
async fn world_reseller(world: &World, sold: &Value, shop: &Shop) -> crate::resale::Reseller {
    let id = world
        .db()
        .sql("SELECT reseller_id FROM bookings WHERE code = $1")
        .bind(sold["supplierReference"].as_str().unwrap().to_owned())
        .scalar()
        .await
        .unwrap();
    assert_ne!(id, shop.reseller.id);
    let key = world.key_of(id, &["bookings.read", "bookings.write", "catalog"]).await;
    crate::resale::Reseller { id, key }
}

async fn the_figures_are_the_same_when_they_are_rebuilt(world: World) {
    let admin = world.admin().await;
    let shop = world.shop().await;
    let (moved, gone) = (world.confirmed(&shop, 2).await, world.confirmed(&shop, 1).await);
    world.cancels(&shop, &gone, json!({})).await.bare();
    let id = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let dear = world.db().sql("UPDATE sailings SET price = 200000 WHERE id = $1");
    dear.bind(id.parse::<Uuid>().unwrap()).run().await.unwrap();
    let path = format!("/bookings/{}", moved["uuid"].as_str().unwrap());
    let body = json!({ "availabilityId": id });
    world.octo("PATCH", &shop, &path).json(body).send().await.bare();
    let before = by_reseller(&world, &admin, "2026-11-15").await;
    dermaga::reports::rebuild(&world.app).await.unwrap();
    let after = by_reseller(&world, &admin, "2026-11-15").await;
    assert_eq!(after["items"], before["items"]);
    // Sold for 285,000 and 142,500, and 95,000 more for the move; 10,000 are left of each dear seat.
    assert_eq!(figures(&after["items"][0]), [2, 3, 522_500, 20_000 + 7_500, NET]);
    assert_invariants(&world).await;
}

async fn margins_reduce_the_income_of_the_platform(world: World) {
    let admin = world.admin().await;
    let shop = world.shop().await;
    world.confirmed(&shop, 2).await;
    world.completes_paid_bookings().await;
    let path = format!("{REPORTS}/overview?{}", of_day("2026-11-15"));
    let overview = world.get(&path).by(&admin).send().await.ok();
    let figure = |name: &str| overview[name]["current"].as_i64().unwrap();
    assert_eq!(figure("commission_earned"), 30_000);
    assert_eq!(figure("reseller_margin"), 15_000);
    assert_eq!(figure("platform_income"), 15_000);
    assert_eq!(figure("gross_revenue"), 2 * NET);
    let entries = world.get("/v1/finance/entries?account=reseller_margin").by(&admin);
    assert_eq!(entries.send().await.ok().as_array().unwrap().len(), 1);
}

async fn a_move_counts_on_its_day(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 1).await;
    let id = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let dear = world.db().sql("UPDATE sailings SET price = 200000 WHERE id = $1");
    dear.bind(id.parse::<Uuid>().unwrap()).run().await.unwrap();
    world.advances_clock(TimeDelta::days(1));
    let path = format!("/bookings/{}", sold["uuid"].as_str().unwrap());
    world.octo("PATCH", &shop, &path).json(json!({ "availabilityId": id })).send().await.bare();
    let admin = world.admin().await;
    let first = by_reseller(&world, &admin, "2026-11-15").await;
    assert_eq!(figures(&first["items"][0]), [1, 1, NET, 7_500, 0]);
    let second = by_reseller(&world, &admin, "2026-11-16").await;
    assert_eq!(figures(&second["items"][0]), [0, 0, 190_000 - NET, 2_500, 0]);
    assert_invariants(&world).await;
}

async fn staff_see_the_margin_and_partners_the_retail_price(world: World) {
    let admin = world.admin().await;
    let shop = world.shop().await;
    let tax = json!({
        "name": "PB1", "code": "PB1", "rate": 10.0, "applies_to": "booking", "is_active": true,
    });
    world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    let sold = world.confirmed(&shop, 2).await;
    let path = format!("/v1/booking/{}", sold["id"].as_str().unwrap());
    let seen = async |who: &Someone| world.get(&path).by(who).send().await.ok();
    let reseller = json!({ "id": shop.reseller.id, "name": "Agen Kuta" });
    let of_staff = seen(&admin).await;
    assert_eq!((&of_staff["reseller"], &of_staff["channel"]), (&reseller, &json!("reseller")));
    let price = |booking: &Value| {
        ["subtotal", "tax", "total", "margin"].map(|name| booking["price"][name].clone())
    };
    assert_eq!(price(&of_staff), [300_000, 28_500, 313_500, 15_000].map(|n| json!(n)));
    let of_partner = seen(&shop.partner).await;
    assert_eq!(of_partner["reseller"], reseller);
    let retail = [json!(300_000), json!(30_000), json!(330_000), json!(null)];
    assert_eq!(price(&of_partner), retail);
    assert_eq!(of_partner["price"]["taxes"][0]["amount"], 30_000);
    let csv = async |who: &Someone| {
        let (_, _, body) = world.get("/v1/booking/?format=csv").by(who).bytes().await;
        String::from_utf8(body).unwrap().replace('"', "")
    };
    let (staff, partner) = (csv(&admin).await, csv(&shop.partner).await);
    assert!(staff.contains(",300000,0,28500,313500,"), "{staff}");
    assert!(partner.contains(",300000,0,30000,330000,"), "{partner}");
    assert!(staff.contains(",Agen Kuta,15000\r\n"), "{staff}");
    assert!(partner.contains(",Agen Kuta,\r\n"), "{partner}");
    for net in [",313500,", ",28500,", ",15000\r"] {
        assert!(!partner.contains(net), "{net}");
    }
    world.cancels(&shop, &sold, json!({})).await.bare();
    assert_eq!(seen(&admin).await["refund_amount"], 313_500);
    assert_eq!(seen(&shop.partner).await["refund_amount"], json!(null));
    let own = world.paid_booking(&sailing_of(&shop, &sold), 1).await;
    assert_eq!((&own["reseller"], &own["price"]["margin"]), (&json!(null), &json!(null)));
}

async fn charges_tax(world: &World, admin: &Someone) {
    let tax = json!({
        "name": "PB1", "code": "PB1", "rate": 10.0, "applies_to": "booking", "is_active": true,
    });
    world.post("/v1/configurations/taxs", tax).by(admin).send().await.ok();
}

/// Another sailing of the line, for 200,000.
async fn dear_sailing(world: &World, shop: &Shop) -> String {
    sailing_for(world, shop, "2026-11-20", 200_000).await
}

/// The first sailing of the line on this day, for this price.
async fn sailing_for(world: &World, shop: &Shop, day: &str, price: i64) -> String {
    let id = world.availability_id(shop, &shop.line, day).await;
    let priced = world.db().sql("UPDATE sailings SET price = $1 WHERE id = $2");
    priced.bind(price).bind(id.parse::<Uuid>().unwrap()).run().await.unwrap();
    id
}

/// The retail price of a seat is 165,000 with tax, and the net price 156,750.
async fn partners_learn_no_net_price_of_a_move_or_refund(world: World) {
    let (admin, shop) = (world.admin().await, world.shop().await);
    charges_tax(&world, &admin).await;
    let sold = world.confirmed(&shop, 2).await;
    let path = format!("/v1/booking/{}", sold["id"].as_str().unwrap());
    let cancel = async |who: &Someone, query: &str| {
        let options = world.get(&format!("{path}/options{query}")).by(who).send().await.ok();
        options["cancel"].clone()
    };
    assert_eq!(cancel(&admin, "").await["refund_amount"], 313_500);
    assert_eq!(cancel(&shop.partner, "").await["refund_amount"], 330_000);
    let booking = world.get(&path).by(&shop.partner).send().await.ok();
    let one = format!("?passenger_ids={}", booking["passengers"][0]["id"].as_str().unwrap());
    let some = cancel(&shop.partner, &one).await;
    assert_eq!(
        (&some["allowed"], &some["reason"], &some["refund_amount"]),
        (&json!(false), &json!("on_account"), &json!(0))
    );

    let to = dear_sailing(&world, &shop).await;
    let difference = async |who: &Someone| {
        let wish = json!({ "route_time_id": to, "reason": "Low tide", "dry_run": true });
        let answer = world.post(&format!("{path}/reschedule"), wish).by(who).send().await.ok();
        answer["reschedule"]["difference"].clone()
    };
    assert_eq!(difference(&admin).await, 104_500);
    assert_eq!(difference(&shop.partner).await, 110_000);

    world.cancels(&shop, &sold, json!({})).await.bare();
    let refunds = async |who: &Someone| world.get("/v1/refunds").by(who).send().await.ok();
    let seen = refunds(&admin).await;
    assert_eq!((seen.as_array().unwrap().len(), &seen[0]["amount"]), (1, &json!(313_500)));
    assert_eq!(refunds(&shop.partner).await, json!([]));
    let refund = format!("/v1/refunds/{}", seen[0]["id"].as_str().unwrap());
    world.get(&refund).by(&admin).send().await.ok();
    world.get(&refund).by(&shop.partner).send().await.is(404, "not_found");

    let other = world.confirmed(&shop, 1).await;
    let gone = world.cancels_sailing(&sailing_of(&shop, &other), &shop.partner).await.ok();
    assert_eq!(
        gone["bookings"],
        json!({ "cancelled": 0, "refund_due": 1, "refund_total": 165_000 })
    );
    assert_invariants(&world).await;
}

async fn tickets_of_resellers_show_no_price(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let path = format!("/v1/booking/{}/ticket", sold["id"].as_str().unwrap());
    let pdf = world.pdf(&path, Some(&shop.partner)).await;
    let own = world.paid_booking(&sailing_of(&shop, &sold), 2).await;
    let of_own = world.pdf(&world.ticket_of(&own), None).await;
    let (Some((text, _)), Some((of_own, _))) = (world.read_pdf(&pdf), world.read_pdf(&of_own))
    else {
        return;
    };
    assert!(of_own.contains("Total"), "{of_own}");
    assert!(!text.contains("Total") && !text.contains("Rp"), "{text}");
}

async fn a_partner_refunds_resold_bookings_in_full(world: World) {
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let cancel = async |refund: &str| {
        let path = format!("/v1/booking/{}/cancel", sold["id"].as_str().unwrap());
        let body = json!({ "refund": refund, "reason": "Engine" });
        world.post(&path, body).by(&shop.partner).send_with_retry().await
    };
    cancel("policy").await.has_field_errors(&[("refund", "not_allowed")]);
    assert_eq!(cancel("full").await.ok()["status"], "refunded");
    assert_invariants(&world).await;
}

async fn makes(world: &World, figures: &str) {
    if figures == "rolled up" {
        dermaga::reports::roll_up(&world.app).await.unwrap();
    }
    if figures == "rebuilt" {
        dermaga::reports::rebuild(&world.app).await.unwrap();
    }
}

fn gross_of_day(series: &Value, day: &str) -> i64 {
    let mut points = series.as_array().unwrap().iter();
    points.find(|point| point["bucket"] == day).unwrap()["gross_revenue"].as_i64().unwrap()
}

async fn partners_see_their_sales_at_the_retail_price(world: World) {
    let (admin, shop) = (world.admin().await, world.shop().await);
    charges_tax(&world, &admin).await;
    let sold = world.confirmed(&shop, 2).await;
    world.paid_booking(&sailing_of(&shop, &sold), 1).await;
    let (retail, net) = (330_000 + 165_000, 313_500 + 165_000);
    let statistic =
        format!("/v1/dashboard/mitra-statistic?mitra_id={}", world.partner_id(&shop.partner).await);
    for rolled_up in [false, true] {
        if rolled_up {
            dermaga::reports::roll_up(&world.app).await.unwrap();
        }
        for (who, gross) in [(&shop.partner, retail), (&admin, net)] {
            let seen = world.get("/v1/dashboard").by(who).send().await.ok();
            assert_eq!(seen["today"]["gross_revenue"], gross);
            assert_eq!(seen["month"]["gross_revenue"]["current"], gross);
            assert_eq!(gross_of_day(&seen["revenue_series"], "2026-11-15"), gross);
            assert_eq!(seen["top_routes"][0]["gross_revenue"], gross);
            let seen = world.get(&statistic).by(who).send().await.ok();
            assert_eq!(gross_of_day(&seen["series"], "2026-11-15"), gross);
        }
    }

    // The difference of a move is paid on its day, and counts for the route of the sale.
    world.advances_clock(TimeDelta::days(1));
    let to = dear_sailing(&world, &shop).await;
    let path = format!("/bookings/{}", sold["uuid"].as_str().unwrap());
    world.octo("PATCH", &shop, &path).json(json!({ "availabilityId": to })).send().await.bare();
    let partner = world.signs_in(&shop.partner.email, "mitra").await;
    for figures in ["of moves", "rolled up", "rebuilt"] {
        makes(&world, figures).await;
        let seen = world.get("/v1/dashboard").by(&partner).send().await.ok();
        assert_eq!(gross_of_day(&seen["revenue_series"], "2026-11-15"), retail, "{figures}");
        assert_eq!(gross_of_day(&seen["revenue_series"], "2026-11-16"), 110_000, "{figures}");
        assert_eq!(seen["top_routes"][0]["gross_revenue"], retail + 110_000, "{figures}");
        assert_invariants(&world).await;
    }
}

/// 10 % of 330,000, and not of the net price of 313,500.
async fn a_fee_counts_as_a_part_of_the_retail_price(world: World) {
    let world = world.with(|config| config.reschedule_fee = Steps(vec![(0, 10)])).await;
    let (admin, shop) = (world.admin().await, world.shop().await);
    charges_tax(&world, &admin).await;
    let sold = world.confirmed(&shop, 2).await;
    let path = format!("/v1/booking/{}", sold["id"].as_str().unwrap());
    world.advances_clock(TimeDelta::days(1));
    let to = world.availability_id(&shop, &shop.line, "2026-11-20").await;
    let change = json!({ "availabilityId": to });
    let moved = format!("/bookings/{}", sold["uuid"].as_str().unwrap());
    world.octo("PATCH", &shop, &moved).json(change).send().await.bare();
    let admin = world.signs_in(&admin.email, "admin").await;
    let partner = world.signs_in(&shop.partner.email, "mitra").await;
    let statistic =
        format!("/v1/dashboard/mitra-statistic?mitra_id={}", world.partner_id(&partner).await);
    for figures in ["of moves", "rolled up", "rebuilt"] {
        makes(&world, figures).await;
        for (who, total, fee) in [(&partner, 330_000, 33_000), (&admin, 313_500, 31_350)] {
            let seen = world.get("/v1/dashboard").by(who).send().await.ok();
            assert_eq!(seen["today"]["gross_revenue"], fee);
            assert_eq!(seen["month"]["gross_revenue"]["current"], total + fee);
            assert_eq!(gross_of_day(&seen["revenue_series"], "2026-11-16"), fee);
            assert_eq!(seen["top_routes"][0]["gross_revenue"], total + fee);
            let seen = world.get(&statistic).by(who).send().await.ok();
            assert_eq!(gross_of_day(&seen["series"], "2026-11-16"), fee);
        }
    }
    // Neither a notification nor the options of the booking tell an amount of it.
    world.delivers_outbox().await;
    let told = world.get("/v1/notifications?page_size=100").by(&partner).send().await.ok();
    let moves = told.as_array().unwrap().iter();
    let moves = moves.filter(|one| one["type"] == "booking.rescheduled");
    let amounts: Vec<_> = moves
        .map(|one| (one["data"]["difference"].clone(), one["data"]["total"].clone()))
        .collect();
    assert_eq!(amounts, [(json!(null), json!(null))]);
    let options = world.get(&format!("{path}/options")).by(&partner).send().await.ok();
    assert_eq!(options["reschedule"]["fee"], 0, "a partner pays none");
    assert_eq!(options["pending_reschedule"], json!(null));
    let wish =
        json!({ "route_time_id": sold["availabilityId"], "reason": "Tide", "dry_run": true });
    let preview = world.post(&format!("{path}/reschedule"), wish).by(&partner).send().await.ok();
    let preview = &preview["reschedule"];
    assert_eq!((&preview["fee"], &preview["difference"]), (&json!(0), &json!(0)));
    assert_invariants(&world).await;
}

/// In the order of the net prices, the booking of the reseller would come before one that costs less.
async fn a_partners_list_by_total_is_in_the_order_of_the_retail_prices(world: World) {
    let (admin, shop) = (world.admin().await, world.shop().await);
    let sold = world.confirmed(&shop, 1).await;
    let of = |id: &str| Sailing { id: id.to_owned(), ..sailing_of(&shop, &sold) };
    let cheap = sailing_for(&world, &shop, "2026-11-19", 145_000).await;
    world.books(order(&of(&cheap), 1, "sari@example.com")).await.ok();
    let dear = dear_sailing(&world, &shop).await;
    world.books(order(&of(&dear), 1, "dewi@example.com")).await.ok();
    let totals = async |who: &Someone, query: &str| {
        let path = format!("/v1/booking/?sort_by=total&{query}");
        let list = world.get(&path).by(who).send().await.ok();
        let list = list.as_array().unwrap().iter();
        list.map(|one| one["price"]["total"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let mitra = format!("mitra_id={}", world.partner_id(&shop.partner).await);
    for all in ["page=1", &mitra] {
        let up = format!("{all}&sort_dir=asc");
        assert_eq!(totals(&admin, &up).await, [142_500, 145_000, 200_000], "{all}");
    }
    let boat = format!("item_id={}", shop.boat);
    for all in [
        "page=1",
        &mitra,
        &boat,
        "type=speedboat&qty=1",
        "start_date=2026-11-18&end_date=2026-11-20",
        "search=sari",
        "search=sa",
    ] {
        let (up, down) = (format!("{all}&sort_dir=asc"), format!("{all}&sort_dir=desc"));
        assert_eq!(totals(&shop.partner, &up).await, [145_000, 150_000, 200_000], "{all}");
        assert_eq!(totals(&shop.partner, &down).await, [200_000, 150_000, 145_000], "{all}");
    }
    for (page, total) in [(1, 145_000), (2, 150_000), (3, 200_000)] {
        let page = format!("sort_dir=asc&page_size=1&page={page}");
        assert_eq!(totals(&shop.partner, &page).await, [total]);
    }
    for (one, total) in [
        (format!("route_time_id={cheap}"), 145_000),
        (format!("reseller_id={}", shop.reseller.id), 150_000),
        (format!("code={}", sold["supplierReference"].as_str().unwrap()), 150_000),
        ("channel=reseller&status=paid".to_owned(), 150_000),
        ("email=dewi@example.com".to_owned(), 200_000),
    ] {
        assert_eq!(totals(&shop.partner, &one).await, [total], "{one}");
    }
    let path = "/v1/booking/?sort_by=total&sort_dir=asc&format=csv";
    let (_, _, csv) = world.get(path).by(&shop.partner).bytes().await;
    let csv = String::from_utf8(csv).unwrap().replace('"', "");
    let places = [",145000,", ",150000,", ",200000,"].map(|total| csv.find(total).unwrap());
    assert!(places.is_sorted(), "{csv}");
    assert_invariants(&world).await;
}

/// A booking of a reseller that has moved to a dearer sailing for a fee, another one, and one of a guest.
async fn with_a_move(world: World) -> World {
    let world = world.with(|config| config.reschedule_fee = Steps(vec![(0, 7)])).await;
    let (admin, shop) = (world.admin().await, world.shop().await);
    for (code, rate, factor) in [("PB1", 10.0, "1"), ("PPN", 12.0, "11/12")] {
        let tax = json!({
            "name": code, "code": code, "rate": rate, "base_factor": factor,
            "applies_to": "booking", "is_active": true,
        });
        world.post("/v1/configurations/taxs", tax).by(&admin).send().await.ok();
    }
    let sold = world.confirmed(&shop, 3).await;
    world.confirmed(&shop, 1).await;
    world.paid_booking(&sailing_of(&shop, &sold), 1).await;
    let to = dear_sailing(&world, &shop).await;
    let path = format!("/bookings/{}", sold["uuid"].as_str().unwrap());
    world.octo("PATCH", &shop, &path).json(json!({ "availabilityId": to })).send().await.bare();
    dermaga::reports::roll_up(&world.app).await.unwrap();
    assert_invariants(&world).await;
    world
}

async fn a_wrong_surcharge_is_refused_or_found(world: World) {
    let world = with_a_move(world).await;
    for refused in [
        "UPDATE bookings SET surcharge = 1 WHERE channel = 'web'",
        "UPDATE bookings SET surcharge = -1 WHERE channel = 'reseller'",
        "UPDATE reschedules SET status = 'dropped', done_at = NULL",
    ] {
        world.db().sql(refused).run().await.unwrap_err();
    }
    let of_reports =
        "surcharges of partners in the reports equal those of their bookings and reschedules";
    for (breaks, mends, question) in [
        (
            "UPDATE bookings SET surcharge = surcharge + 1 WHERE channel = 'reseller'",
            "UPDATE bookings SET surcharge = surcharge - 1 WHERE channel = 'reseller'",
            "the surcharge of a booking leads from its net price to the fares with their taxes",
        ),
        (
            "UPDATE reschedules SET surcharge = surcharge + 1",
            "UPDATE reschedules SET surcharge = surcharge - 1",
            "the surcharge of a reschedule follows from its prices, its fee and its difference",
        ),
        (
            "UPDATE partner_days SET surcharge = surcharge + 1",
            "UPDATE partner_days SET surcharge = surcharge - 1",
            of_reports,
        ),
        (
            "UPDATE route_months SET surcharge = surcharge + 1",
            "UPDATE route_months SET surcharge = surcharge - 1",
            of_reports,
        ),
    ] {
        world.db().sql(breaks).run().await.unwrap();
        let checked = invariants::check(world.db()).await.unwrap();
        let broken = checked.iter().filter(|checked| !checked.broken.is_empty());
        let broken: Vec<_> = broken.map(|checked| checked.rule).collect();
        assert!(broken.contains(&question), "{breaks}: {broken:?}");
        world.db().sql(mends).run().await.unwrap();
        assert_invariants(&world).await;
    }
}

async fn earlier_sales_get_their_surcharges_by_the_migrations(world: World) {
    let world = with_a_move(world).await;
    let none = [
        "UPDATE bookings SET surcharge = 0",
        "UPDATE reschedules SET surcharge = 0",
        "UPDATE partner_days SET surcharge = 0",
        "UPDATE route_months SET surcharge = 0",
    ];
    for text in none {
        world.db().sql(text).run().await.unwrap();
    }
    for (migration, fills) in [
        (include_str!("../../migrations/0006_partner_totals.sql"), "UPDATE bookings SET"),
        (include_str!("../../migrations/0007_retail_figures.sql"), "UPDATE reschedules SET"),
    ] {
        let fills = migration.split(";\n").find(|text| text.contains(fills)).unwrap();
        world.db().execute_script(fills).await.unwrap();
    }
    dermaga::reports::rebuild(&world.app).await.unwrap();
    assert_invariants(&world).await;
}

async fn bookings_are_found_by_their_reseller(world: World) {
    let admin = world.admin().await;
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 2).await;
    let held = world.held(&shop, 1).await;
    world.books(order(&sailing_of(&shop, &sold), 1, "sari@example.com")).await.ok();
    let other = world.reseller_with_key("Agen Ubud").await;
    let id = shop.reseller.id;
    let list = async |query: &str, who: &Someone| {
        let found = world.get(&format!("/v1/booking/?{query}")).by(who).send().await.ok();
        let found = found.as_array().unwrap().iter();
        let mut codes: Vec<_> = found.map(|one| one["code"].clone()).collect();
        codes.sort_by_key(|code| code.to_string());
        codes
    };
    let mut both = vec![sold["supplierReference"].clone(), held["supplierReference"].clone()];
    both.sort_by_key(|code| code.to_string());
    for who in [&admin, &shop.partner] {
        assert_eq!(list(&format!("reseller_id={id}"), who).await, both);
        for sort in ["departure_at", "total", "created_at"] {
            assert_eq!(list(&format!("reseller_id={id}&sort_by={sort}"), who).await, both);
        }
        let paid = format!("reseller_id={id}&status=paid");
        assert_eq!(list(&paid, who).await, [sold["supplierReference"].clone()]);
        assert!(list(&format!("reseller_id={}", other.id), who).await.is_empty());
        assert_eq!(list("channel=reseller", who).await, both);
        let boat = format!("reseller_id={id}&item_id={}", shop.boat);
        assert_eq!(list(&boat, who).await, both);
        let code = format!("reseller_id={id}&code={}", sold["supplierReference"].as_str().unwrap());
        assert_eq!(list(&code, who).await.len(), 1);
    }
    let bad = world.get("/v1/booking/?reseller_id=x").by(&admin).send().await;
    bad.has_field_errors(&[("reseller_id", "format")]);
}

async fn settlements_name_the_channel(world: World) {
    let admin = world.admin().await;
    let shop = world.shop().await;
    let sold = world.confirmed(&shop, 1).await;
    world.paid_booking(&sailing_of(&shop, &sold), 1).await;
    world.completes_paid_bookings().await;
    world.adds_approved_bank_account(&shop.partner, &admin).await;
    let settlement = world.creates_settlement(&shop.partner, &admin).await.ok();
    let path = format!("/v1/settlements/{}", settlement["id"].as_str().unwrap());
    let items = world.get(&path).by(&admin).send().await.ok()["items"].clone();
    let mut channels: Vec<_> =
        items.as_array().unwrap().iter().map(|item| item["channel"].as_str().unwrap()).collect();
    channels.sort_unstable();
    assert_eq!(channels, ["reseller", "web"]);
    // Both earn the partner the same.
    assert_eq!(items[0]["net"], items[1]["net"]);
}
