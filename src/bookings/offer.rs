//! Checks that a sailing is on sale, and computes the price.

use serde_json::json;

use super::{
    model::{Channel, SailingContext},
    prices::{self, Goods, Price},
    store,
};
use crate::{
    app::App,
    kernel::{
        access::Role,
        caller::Caller,
        error::{Conflict, Error, Result},
        ids::Uuid,
        lang::text,
    },
    partners::settlement_configuration,
    promotions::{self, Promotion, Purchase, Reason},
    sailings::{BookingType, SailingStatus},
    taxes::TaxRate,
};

/// The sailing and the taxes in force.
pub async fn load(app: &App, sailing: Uuid, boat: Uuid) -> Result<(SailingContext, Vec<TaxRate>)> {
    let looked = store::offer(&app.db, sailing).await?;
    let (context, taxes) = looked.ok_or_else(unknown_sailing)?;
    if context.speedboat_id != boat {
        let message =
            text("This sailing is operated by another boat.", "Jadwal ini dilayani kapal lain.");
        return Err(Error::field("item_id", "unknown", message));
    }
    Ok((context, taxes))
}

pub fn unknown_sailing() -> Error {
    let message = text("This sailing does not exist.", "Jadwal ini tidak ada.");
    Error::field("route_time_id", "unknown", message)
}

/// Refuses a sailing that is not on sale.
pub fn ensure_on_sale(app: &App, sailing: &SailingContext) -> Result<()> {
    let cutoff = chrono::TimeDelta::minutes(app.config.booking_cutoff_minutes.into());
    let open = sailing.sailing_status == SailingStatus::Open
        && sailing.manifest_closed_at.is_none()
        && sailing.speedboat_status == "active"
        && sailing.partner_status != "suspended"
        && sailing.partner_verified_at.is_some()
        && sailing.departure_at > app.clock.now() + cutoff;
    if open { Ok(()) } else { Err(booking_closed()) }
}

fn booking_closed() -> Error {
    Error::conflict(
        "booking_closed",
        "This sailing can no longer be booked.",
        "Jadwal ini tidak dapat dipesan lagi.",
    )
}

/// The number of seats to take; refuses more than are free.
pub fn seats_needed(sailing: &SailingContext, kind: BookingType, qty: i32) -> Result<i32> {
    if kind == BookingType::Charter && qty > sailing.capacity {
        let message =
            text("The boat does not have that many seats.", "Kapal tidak memuat sebanyak itu.");
        return Err(Error::field("qty", "max", message));
    }
    let free = free_seats(sailing);
    let enough = match kind {
        BookingType::Speedboat => qty <= free,
        BookingType::Charter => free == sailing.capacity,
    };
    if !enough {
        return Err(sold_out(free));
    }
    Ok(match kind {
        BookingType::Speedboat => qty,
        BookingType::Charter => sailing.capacity,
    })
}

pub fn free_seats(sailing: &SailingContext) -> i32 {
    match sailing.chartered {
        true => 0,
        false => sailing.capacity - sailing.seats_taken,
    }
}

pub fn sold_out(available: i32) -> Error {
    Error::Conflict(Box::new(Conflict {
        word: "sold_out",
        message: text("There are not enough seats left.", "Kursi yang tersisa tidak cukup."),
        data: Some(json!({ "available_seats": available })),
    }))
}

/// The channel of somebody who asks what a code is worth.
pub fn asked_on(caller: Option<&Caller>) -> Channel {
    match caller.map(|caller| caller.role) {
        None => Channel::Web,
        Some(Role::Mitra | Role::Crew) => Channel::Mitra,
        Some(Role::Admin | Role::Staff) => Channel::Staff,
    }
}

/// The promotion of a code, if it can be used for this purchase.
pub async fn usable_promotion(
    app: &App,
    code: &str,
    sailing: &SailingContext,
    full: &Price,
    email: Option<&str>,
    channel: Channel,
) -> Result<Result<Promotion, Reason>> {
    let Some(promotion) = promotions::by_code(&app.db, code).await? else {
        return Ok(Err(Reason::Unknown));
    };
    let uses = match (promotion.per_customer_limit, email) {
        (Some(_), Some(email)) => Some(promotions::uses_of(&app.db, promotion.id, email).await?),
        _ => None,
    };
    let purchase = Purchase {
        partner_id: sailing.partner_id,
        speedboat_id: sailing.speedboat_id,
        route_id: sailing.route_id,
        subtotal: full.subtotal,
        uses,
        is_by_partner: channel == Channel::Mitra,
    };
    let refused = promotions::unusable(&promotion, &purchase, app.today());
    Ok(match refused {
        Some(reason) => Err(reason),
        None => Ok(promotion),
    })
}

pub fn promotion_refused(reason: Reason) -> Error {
    let message = text("This code cannot be used.", "Kode ini tidak dapat digunakan.");
    Error::field("code_promo", reason.as_str(), message)
}

pub fn price(
    sailing: &SailingContext,
    kind: BookingType,
    seats: i32,
    promotion: Option<&Promotion>,
    taxes: &[TaxRate],
) -> Price {
    let commission =
        sailing.commission_rate.unwrap_or_else(settlement_configuration::standard_commission);
    let goods = Goods { kind, unit_price: sailing.seat_price, seats };
    let discount = promotion.map(|promotion| (promotion.discount(), promotion.funded_by));
    let discount = discount.as_ref().map(|(discount, funded_by)| (discount, *funded_by));
    prices::price(goods, discount, taxes, commission)
}
