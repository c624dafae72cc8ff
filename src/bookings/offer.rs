//! Checks that a sailing is on sale, and computes the price.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{
    fares,
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
    lines::Fare,
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
    let open = sailing.sailing_status == SailingStatus::Open
        && sailing.manifest_closed_at.is_none()
        && sailing.speedboat_status == "active"
        && sailing.partner_status != "suspended"
        && sailing.partner_verified_at.is_some()
        && closes_at(app, sailing) > app.clock.now();
    if open { Ok(()) } else { Err(booking_closed()) }
}

/// When the sale ends: by the cutoff of the line, or else of the service.
pub fn closes_at(app: &App, sailing: &SailingContext) -> DateTime<Utc> {
    let minutes = match sailing.cutoff_minutes {
        Some(minutes) => minutes.into(),
        None => app.config.booking_cutoff_minutes.into(),
    };
    sailing.departure_at - TimeDelta::minutes(minutes)
}

fn booking_closed() -> Error {
    Error::conflict(
        "booking_closed",
        "This sailing can no longer be booked.",
        "Jadwal ini tidak dapat dipesan lagi.",
    )
}

/// What is sold, by the fares that are asked for, one per passenger. Charters ignore them.
pub fn goods(
    sailing: &SailingContext,
    kind: BookingType,
    fares: &[Option<&str>],
) -> Result<(Goods, Vec<Fare>)> {
    match kind {
        BookingType::Speedboat => {
            let chosen = fares::chosen(&sailing.fares, fares)?;
            Ok((Goods::passages(sailing.seat_price, &chosen), chosen))
        }
        BookingType::Charter => {
            ensure_boat_holds(sailing, fares.len())?;
            Ok((Goods::charter(sailing.seat_price, sailing.capacity), Vec::new()))
        }
    }
}

fn ensure_boat_holds(sailing: &SailingContext, passengers: usize) -> Result<()> {
    if i32::try_from(passengers).is_ok_and(|passengers| passengers <= sailing.capacity) {
        return Ok(());
    }
    let message =
        text("The boat does not have that many seats.", "Kapal tidak memuat sebanyak itu.");
    Err(Error::field("qty", "max", message))
}

/// Refuses more seats than are free.
pub fn ensure_free(sailing: &SailingContext, goods: &Goods) -> Result<()> {
    let free = free_seats(sailing);
    let enough = match goods.kind {
        BookingType::Speedboat => goods.seats <= free,
        BookingType::Charter => free == sailing.capacity,
    };
    if enough { Ok(()) } else { Err(sold_out(free)) }
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
pub fn channel_of(caller: Option<&Caller>) -> Channel {
    match caller.map(|caller| caller.role) {
        None | Some(Role::Reseller) => Channel::Web,
        Some(Role::Mitra | Role::Crew) => Channel::Mitra,
        Some(Role::Admin | Role::Staff) => Channel::Staff,
    }
}

/// The promotion of a code, if it can be used for this purchase.
async fn usable_promotion(
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

/// Who asks for a price.
pub struct Buyer<'a> {
    pub code_promo: Option<&'a str>,
    pub email: Option<&'a str>,
    pub channel: Channel,
}

/// A price, and the promotion that it includes.
pub struct Quoted {
    pub price: Price,
    /// `None`: no code was stated.
    pub promotion: Option<Result<Promotion, Reason>>,
}

/// The price of a sale, also for whoever only asks. It is without a discount if the promotion
/// cannot be used.
pub async fn quote(
    app: &App,
    sailing: &SailingContext,
    taxes: &[TaxRate],
    goods: &Goods,
    buyer: &Buyer<'_>,
) -> Result<Quoted> {
    let full = price(sailing, goods, None, taxes);
    let Some(code) = buyer.code_promo else { return Ok(Quoted { price: full, promotion: None }) };
    let found = usable_promotion(app, code, sailing, &full, buyer.email, buyer.channel).await?;
    let price = match &found {
        Ok(promotion) => price(sailing, goods, Some(promotion), taxes),
        Err(_) => full,
    };
    Ok(Quoted { price, promotion: Some(found) })
}

fn price(
    sailing: &SailingContext,
    goods: &Goods,
    promotion: Option<&Promotion>,
    taxes: &[TaxRate],
) -> Price {
    let commission =
        sailing.commission_rate.unwrap_or_else(settlement_configuration::standard_commission);
    let discount = promotion.map(|promotion| (promotion.discount(), promotion.funded_by));
    let discount = discount.as_ref().map(|(discount, funded_by)| (discount, *funded_by));
    prices::price(goods, discount, taxes, commission)
}
