//! Lists and records, without a browser: what they show first, what they link, and to whom.

use chrono::TimeDelta;
use dermaga::kernel::access::Rule;
use serde_json::{Value, json};

use crate::{
    harbour::{self, callback_body, order},
    on_both_engines,
    sites::session,
    world::World,
};

on_both_engines![
    cancelling_a_sailing_says_how_many_people_and_how_much_money,
];

async fn cancelling_a_sailing_says_how_many_people_and_how_much_money(world: World) {
    let sailing = world.sailing().await;
    let later = world.sailing_of_another_day(&sailing).await;
    let cookies = session(&sailing.partner);
    let cancel = format!("/console/sailings/{}/cancel", sailing.id);
    world.books(order(&sailing, 1, "putu@example.com")).await.ok();
    world
        .page(&cancel, &cookies)
        .await
        .says("1 booking with 1 passenger is cancelled. No booking is paid, so nothing is owed.");
    world.paid_booking(&sailing, 2).await;
    world.page(&cancel, &cookies).await.says(
        "2 bookings with 3 passengers are cancelled. Paid bookings: 1. Owed back: \
         <b>Rp\u{a0}300.000</b>.",
    );
    let empty = world.page(&format!("/console/sailings/{}/cancel", later.id), &cookies).await;
    empty.says("Nobody has booked");
    let done = world.submits(&cancel, &cookies, &[("reason", "Ombak tinggi")]).await;
    assert_eq!(done.status, 303, "{}", done.html);
}
