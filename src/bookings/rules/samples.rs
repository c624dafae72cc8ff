//! Bookings for the tests of the rules.

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::{Actor, BookingState};
use crate::{bookings::model::BookingStatus, kernel::money::Rupiah};

pub(super) const POLICY: [(u32, u8); 2] = [(24, 100), (6, 50)];

pub(super) fn at_noon() -> DateTime<Utc> {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

/// Two days before departure.
pub(super) fn booking(status: BookingStatus) -> BookingState {
    BookingState {
        status,
        departure_at: at_noon() + TimeDelta::days(2),
        arrival_at: at_noon() + TimeDelta::days(2) + TimeDelta::hours(1),
        expires_at: at_noon() + TimeDelta::minutes(30),
        promised_at: None,
        is_boarded: false,
        is_manifest_closed: false,
        is_called_off: false,
        is_partner_suspended: false,
        has_sailed: status == BookingStatus::Completed,
        is_resold: false,
        was_paid: !matches!(status, BookingStatus::PendingPayment | BookingStatus::Expired),
        total: Rupiah(100_000),
        gone: Rupiah::ZERO,
        refund_cap: None,
    }
}

pub(super) fn any_state() -> impl Strategy<Value = BookingState> {
    let flags = proptest::array::uniform7(any::<bool>());
    let times = (-3_000_i64..5_000, proptest::option::of(-120_i64..120));
    let cap = proptest::option::of(0_i32..=100);
    let money = (0_i64..10_000_000, 0_i64..12_000_000, cap);
    (0..BookingStatus::ALL.len(), flags, times, money).prop_map(
        |(status, flags, (minutes, moved_by), (total, gone, refund_cap))| {
            let departure_at = at_noon() + TimeDelta::minutes(minutes);
            BookingState {
                status: BookingStatus::ALL[status],
                departure_at,
                arrival_at: departure_at + TimeDelta::hours(1),
                expires_at: at_noon() + TimeDelta::minutes(30),
                promised_at: moved_by.map(|by| departure_at + TimeDelta::minutes(by)),
                is_boarded: flags[0],
                is_manifest_closed: flags[1],
                is_called_off: flags[2],
                was_paid: flags[3],
                is_partner_suspended: flags[4],
                is_resold: flags[5],
                has_sailed: flags[6],
                total: Rupiah(total),
                gone: Rupiah(gone),
                refund_cap,
            }
        },
    )
}

pub(super) fn any_actor() -> impl Strategy<Value = Actor> {
    prop_oneof![Just(Actor::Guest), Just(Actor::Partner), Just(Actor::Staff), Just(Actor::Sailing)]
}
