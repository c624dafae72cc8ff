//! What can be done with a booking now.

use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    bookings::{self, PathBooking, Readable, reschedule},
    config::PaymentProvider,
    kernel::{
        access::{Access, Rule},
        caller::Caller,
        error::{Error, Result},
        http::{Query, Reply},
        ids::Uuid,
        lang::text,
        money::Rupiah,
        schema::Input,
    },
    payments::{model::PaymentStatus, store},
};

/// What the caller can do with a booking now. Decided by the rules that cancelling and rescheduling
/// follow.
#[derive(Serialize, JsonSchema)]
pub struct BookingOptions {
    pub cancel: CancelOption,
    pub reschedule: RescheduleOption,
    /// The reschedule whose difference is not paid yet.
    pub pending_reschedule: Option<PendingReschedule>,
}

#[derive(Serialize, JsonSchema)]
pub struct CancelOption {
    pub allowed: bool,
    /// The error code with which it would be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What would be paid back: for the whole booking, or for `passenger_ids`.
    pub refund_amount: Rupiah,
    /// The part of the price that would be paid back, in percent.
    pub percent: i32,
    /// Time until which this applies. Null: unlimited, or not allowed.
    pub until: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
pub struct RescheduleOption {
    pub allowed: bool,
    /// The error code with which it would be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Paid besides the difference of the prices.
    pub fee: Rupiah,
    /// Time until which this applies. Null: unlimited, or not allowed.
    pub until: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
pub struct PendingReschedule {
    pub route_time_id: Uuid,
    /// Amount to pay.
    pub difference: Rupiah,
    /// Payment page; null until the provider has responded.
    pub redirect_url: Option<String>,
    /// Deadline of the payment.
    pub expires_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct OptionsQuery {
    /// UUIDs of some of the passengers, separated by commas: what `cancel` says is about cancelling
    /// them alone.
    #[schemars(length(max = 2_000))]
    passenger_ids: Option<String>,
}

impl Input for OptionsQuery {}

impl OptionsQuery {
    fn passengers(&self) -> Result<Option<Vec<Uuid>>> {
        let Some(ids) = &self.passenger_ids else { return Ok(None) };
        let ids: Option<Vec<Uuid>> = ids.split(',').map(|id| id.trim().parse().ok()).collect();
        ids.map(Some).ok_or_else(|| {
            let message =
                text("State UUIDs, separated by commas.", "Sebutkan UUID, dipisahkan koma.");
            Error::field("passenger_ids", "format", message)
        })
    }
}

/// For whoever may read the booking. Those who may not change it are told so.
pub async fn get_booking_options(
    State(app): State<App>,
    caller: Option<Caller>,
    PathBooking(booking, _): PathBooking,
    Query(query): Query<OptionsQuery>,
) -> Result<Reply<BookingOptions>> {
    let actor = bookings::actor(caller.as_ref())?;
    let passengers = query.passengers()?;
    let access = Access::GuestOr(Rule::BookingsWrite);
    let may_change = caller.as_ref().is_none_or(|caller| {
        caller.admitted(access) && caller.impersonation_admitted(access, true)
    });
    let (cancel, reschedule) = match may_change {
        false => (Err("forbidden"), Err("forbidden")),
        true => {
            let (policy, now) = (&app.config.refund_policy.0, app.clock.now());
            let cancel = match &passengers {
                Some(some) => bookings::offer_of_some(&app, &booking, some, actor).await?,
                None => bookings::cancel_offer(&booking.state(), actor, policy, now)
                    .map_err(|why| why.word()),
            };
            (cancel, reschedule::offer(&app, &booking, actor).await?)
        }
    };
    let pending_reschedule = match reschedule::pending(&app, booking.id).await? {
        Some(pending) => Some(PendingReschedule {
            route_time_id: pending.to_sailing_id,
            difference: pending.difference,
            redirect_url: payment_page(&app, pending.id).await?,
            expires_at: pending.expires_at,
        }),
        None => None,
    };
    Ok(Reply::data(BookingOptions {
        cancel: match cancel {
            Ok(offer) => CancelOption {
                allowed: true,
                reason: None,
                refund_amount: Readable::by(caller.as_ref()).refund_offer(
                    &booking,
                    offer.refund.amount,
                    offer.percent,
                ),
                percent: offer.percent,
                until: offer.until,
            },
            Err(reason) => CancelOption {
                allowed: false,
                reason: Some(reason),
                refund_amount: Rupiah::ZERO,
                percent: 0,
                until: None,
            },
        },
        reschedule: match reschedule {
            Ok(offer) => {
                RescheduleOption { allowed: true, reason: None, fee: offer.fee, until: offer.until }
            }
            Err(reason) => RescheduleOption {
                allowed: false,
                reason: Some(reason),
                fee: Rupiah::ZERO,
                until: None,
            },
        },
        pending_reschedule,
    }))
}

/// The page of the newest attempt to pay a difference. Reading does not open one.
async fn payment_page(app: &App, reschedule: Uuid) -> Result<Option<String>> {
    let newest = store::newest_of(&app.db, reschedule).await?;
    let open = newest.filter(|payment| payment.status == PaymentStatus::Pending);
    Ok(open.and_then(|payment| match payment.provider.as_str() {
        ours if ours == PaymentProvider::Simulator.as_str() => {
            Some(bookings::simulator_url(app, &payment.reference))
        }
        _ => payment.redirect_url,
    }))
}
