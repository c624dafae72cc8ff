//! What a booking would cost.

use axum::extract::State;

use crate::{
    app::App,
    bookings::{
        forms::QuoteForm,
        offer::{self, Buyer, Quoted},
        view::{BookedBoat, BookedSailing, Quote, QuotedFare, QuotedPromo, RefundStep},
    },
    fleet::Owner,
    kernel::{
        caller::Caller,
        error::Result,
        http::{Body, Reply},
    },
    sailings::BookingType,
};

/// The price of a sale by the same caller. A promotion that cannot be used is no refusal, and
/// neither are too few seats, which the answer states.
pub async fn quote_booking(
    State(app): State<App>,
    caller: Option<Caller>,
    Body(form): Body<QuoteForm>,
) -> Result<Reply<Quote>> {
    let (sailing, taxes) = offer::load(&app, form.route_time_id, form.item_id).await?;
    offer::ensure_on_sale(&app, &sailing)?;
    let (goods, _) = offer::goods(&sailing, form.kind, &form.fares())?;
    let buyer = Buyer {
        code_promo: form.promo(),
        email: form.email.as_ref().map(|email| email.as_str()),
        channel: offer::channel_of(caller.as_ref()),
    };
    let Quoted { price, promotion } = offer::quote(&app, &sailing, &taxes, &goods, &buyer).await?;
    let promo = promotion.map(|found| QuotedPromo { valid: found.is_ok(), reason: found.err() });
    let policy = &app.config.refund_policy.0;
    let step = |(hours_before, percent): &(u32, u8)| RefundStep {
        hours_before: *hours_before,
        percent: *percent,
    };
    let fares = match form.kind {
        BookingType::Speedboat => sailing.fares.as_slice(),
        BookingType::Charter => &[],
    };
    Ok(Reply::data(Quote {
        fares: fares.iter().map(|fare| QuotedFare::new(fare, sailing.seat_price)).collect(),
        available_seats: offer::free_seats(&sailing),
        closes_at: offer::closes_at(&app, &sailing),
        refund_policy: policy.iter().map(step).collect(),
        price: price.into(),
        promo,
        sailing: BookedSailing {
            from: sailing.from_name,
            to: sailing.to_name,
            departure_at: sailing.departure_at,
            arrival_at: sailing.arrival_at,
            timezone: sailing.timezone,
            arrival_timezone: sailing.arrival_timezone,
            speedboat: BookedBoat { id: sailing.speedboat_id, name: sailing.speedboat_name },
            mitra: Owner { id: sailing.partner_id, name: sailing.partner_name },
        },
    }))
}
