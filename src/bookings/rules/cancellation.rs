//! Cancellation of a booking or of some of its passengers, and what is paid back.

use chrono::{DateTime, Utc};

use super::{
    Actor, BookingState, ensure_not_boarded,
    policy::{percent_of, refund_percent, step_end},
    refusal::{Refusal, over},
    status::Event,
};
use crate::{bookings::model::BookingStatus, kernel::money::Rupiah};

crate::string_enum! {
    /// Who bears a refund after the journey.
    pub enum BorneBy { Partner = "partner", Platform = "platform" }
}

crate::string_enum! {
    /// How much of a cancelled booking is paid back: everything, or what the booker would get.
    pub enum RefundChoice { Full = "full", Policy = "policy" }
}

/// What somebody asks for with a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelRequest {
    pub actor: Actor,
    pub refund: Option<RefundChoice>,
    pub refund_amount: Option<Rupiah>,
    pub borne_by: Option<BorneBy>,
}

impl CancelRequest {
    /// A cancellation that leaves the refund to the rules.
    pub fn by(actor: Actor) -> Self {
        Self { actor, refund: None, refund_amount: None, borne_by: None }
    }
}

/// The refund of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    pub amount: Rupiah,
    /// Who bears a refund after the journey; `None` before it.
    pub borne_by: Option<BorneBy>,
}

impl Refund {
    pub const NONE: Self = Self::of(Rupiah::ZERO);

    /// A refund before the journey.
    const fn of(amount: Rupiah) -> Self {
        Self { amount, borne_by: None }
    }

    /// What the booker gets: everything after a disruption or of a suspended partner, otherwise by
    /// the policy, limited by the cap of an earlier reschedule.
    fn of_booker(booking: &BookingState, policy: &[(u32, u8)], now: DateTime<Utc>) -> Self {
        let percent = percent_of_booker(booking, policy, now);
        Self::of(percent_of(booking.total, percent).min(booking.refundable()))
    }

    pub fn is_due(self) -> bool {
        self.amount > Rupiah::ZERO
    }

    /// The transition of a cancellation with this refund.
    pub fn event(self) -> Event {
        if self.is_due() { Event::CancelOwing } else { Event::Cancel }
    }
}

/// Who may cancel a booking when, and what is paid back. The only place that decides it.
///
/// - What is not paid is cancelled by anyone, for nothing.
/// - A guest gets the refund of the policy, or everything when the sailing was moved far or its
///   partner is suspended. A guest cannot cancel after departure, nor near departure after check-in
///   or a closed manifest.
/// - Partner and staff cancel a paid booking in full, or with what a guest would get, at any time
///   until the journey is completed. Staff may also state the amount, from nothing to the price.
/// - A cancelled sailing cancels its bookings in full.
/// - Staff can refund a completed journey, in full or with an amount of at least one rupiah, for a
///   complaint. The partner bears it, unless staff decides for the platform. They can do so once:
///   earnings are taken back by one posting and one due of a booking.
pub fn cancellation(
    booking: &BookingState,
    request: CancelRequest,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<Refund, Refusal> {
    use BookingStatus::*;
    ensure_fields_allowed(booking, request)?;
    match (booking.status, request.actor) {
        (PendingPayment, _) => {
            ensure_before_journey(request)?;
            match request.refund_amount {
                Some(amount) if amount > Rupiah::ZERO => Err(Refusal::TooMuch(Rupiah::ZERO)),
                _ => Ok(Refund::NONE),
            }
        }
        (Paid, Actor::Guest) if booking.has_departed(now) => Err(Refusal::Departed),
        (Paid, Actor::Guest) => {
            ensure_not_boarded(booking, now)?;
            Ok(Refund::of_booker(booking, policy, now))
        }
        (Paid, Actor::Partner | Actor::Staff | Actor::Sailing) => {
            ensure_before_journey(request)?;
            match (request.refund_amount, request.refund) {
                (Some(amount), _) if amount > booking.refundable() => {
                    Err(Refusal::TooMuch(booking.refundable()))
                }
                (Some(amount), _) => Ok(Refund::of(amount)),
                (None, Some(RefundChoice::Policy)) => Ok(Refund::of_booker(booking, policy, now)),
                (None, Some(RefundChoice::Full) | None) => Ok(Refund::of(booking.refundable())),
            }
        }
        (Completed, Actor::Staff) => {
            let amount = request.refund_amount.unwrap_or(booking.refundable());
            match amount {
                _ if request.refund == Some(RefundChoice::Policy) => {
                    Err(Refusal::NotAllowed("refund"))
                }
                _ if booking.total == Rupiah::ZERO => Err(Refusal::FreeOfCharge),
                amount if amount > booking.refundable() => {
                    Err(Refusal::TooMuch(booking.refundable()))
                }
                amount if amount < Rupiah(1) => Err(Refusal::TooLittle),
                amount => Ok(Refund {
                    amount,
                    borne_by: Some(request.borne_by.unwrap_or(BorneBy::Partner)),
                }),
            }
        }
        (Completed, Actor::Guest | Actor::Partner | Actor::Sailing) => Err(Refusal::Departed),
        (RefundPending | Refunded, _) if booking.has_sailed => Err(Refusal::AlreadyRefunded),
        (status @ (Expired | Cancelled | RefundPending | Refunded), _) => Err(over(status)),
    }
}

/// Whether some passengers of a booking may be cancelled, and what is paid back of their share. The
/// refund is decided as that of a whole cancellation.
///
/// - `share`: what they cost, of the booking's total.
/// - `are_boarded`: one of them is checked in. Whoever cancels has to undo that first.
pub fn cancelling_some(
    booking: &BookingState,
    share: Rupiah,
    are_boarded: bool,
    request: CancelRequest,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<Refund, Refusal> {
    cancellation(&part(booking, share, are_boarded)?, request, policy, now)
}

/// The state of some passengers of a booking, as if they were one of their own.
fn part(booking: &BookingState, share: Rupiah, are_boarded: bool) -> Result<BookingState, Refusal> {
    use BookingStatus::*;
    match booking.status {
        // An open payment asks for the price of all.
        PendingPayment => return Err(Refusal::NotPaid),
        Completed => return Err(Refusal::Departed),
        Paid => {}
        RefundPending | Refunded if booking.has_sailed => return Err(Refusal::AlreadyRefunded),
        status @ (Expired | Cancelled | RefundPending | Refunded) => return Err(over(status)),
    }
    if are_boarded {
        return Err(Refusal::AlreadyBoarded);
    }
    // What the provider has sent back of the whole is taken off the rest first.
    let gone = (booking.gone - (booking.total - share)).max(Rupiah::ZERO);
    Ok(BookingState { total: share, gone, is_boarded: false, ..booking.clone() })
}

/// Which fields an actor may decide. A guest may repeat that the policy applies.
fn ensure_fields_allowed(booking: &BookingState, request: CancelRequest) -> Result<(), Refusal> {
    let CancelRequest { actor, refund, refund_amount, borne_by } = request;
    match actor {
        Actor::Staff if refund.is_some() && refund_amount.is_some() => Err(Refusal::Ambiguous),
        Actor::Staff => Ok(()),
        _ if refund_amount.is_some() => Err(Refusal::NotAllowed("refund_amount")),
        _ if borne_by.is_some() => Err(Refusal::NotAllowed("borne_by")),
        Actor::Guest if refund == Some(RefundChoice::Full) => Err(Refusal::NotAllowed("refund")),
        // A reseller gets everything back from a partner. What is kept would also show its net price.
        Actor::Partner if booking.is_resold && refund == Some(RefundChoice::Policy) => {
            Err(Refusal::NotAllowed("refund"))
        }
        _ => Ok(()),
    }
}

/// Before the journey a refund is borne by nobody: the money was not earned yet.
fn ensure_before_journey(request: CancelRequest) -> Result<(), Refusal> {
    match request.borne_by {
        Some(_) => Err(Refusal::NotAllowed("borne_by")),
        None => Ok(()),
    }
}

/// Whether a cancellation by this actor depends on the manifest, which is not part of the booking's
/// row. If so, both have to be read under a lock.
pub fn depends_on_manifest(booking: &BookingState, actor: Actor, now: DateTime<Utc>) -> bool {
    booking.status == BookingStatus::Paid && actor == Actor::Guest && booking.is_near_departure(now)
}

/// What part of the price a booker gets back, in percent.
fn percent_of_booker(booking: &BookingState, policy: &[(u32, u8)], now: DateTime<Utc>) -> i32 {
    if booking.is_disrupted() || booking.is_partner_suspended {
        return 100;
    }
    let percent = refund_percent(policy, booking.departure_at, now);
    booking.refund_cap.unwrap_or(percent).min(percent)
}

/// What a cancellation now brings to somebody who leaves the refund to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelOffer {
    pub refund: Refund,
    /// The part of the price that is paid back, in percent.
    pub percent: i32,
    /// Until when it stays so, if nothing else happens; `None`: without an end.
    pub until: Option<DateTime<Utc>>,
}

/// What [`cancellation`] decides for this actor now, and until when.
pub fn cancel_offer(
    booking: &BookingState,
    actor: Actor,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<CancelOffer, Refusal> {
    use BookingStatus::*;
    let refund = cancellation(booking, CancelRequest::by(actor), policy, now)?;
    let (percent, until) = match (booking.status, actor) {
        (Paid, Actor::Guest) => {
            let percent = percent_of_booker(booking, policy, now);
            let changes_at = step_end(policy, booking.departure_at, now, |later| {
                percent_of_booker(booking, policy, later) != percent
            });
            let last = booking.guest_leaves_before();
            (percent, Some(changes_at.map_or(last, |at| at.min(last))))
        }
        (Paid, Actor::Staff) => (100, None),
        (Paid, _) => (100, Some(booking.arrival_at)),
        (Completed, _) => (100, None),
        _ => (0, Some(booking.expires_at)),
    };
    Ok(CancelOffer { refund, percent, until })
}

/// What [`cancelling_some`] decides for this actor now, and until when.
pub fn cancel_offer_of_some(
    booking: &BookingState,
    share: Rupiah,
    are_boarded: bool,
    actor: Actor,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<CancelOffer, Refusal> {
    cancel_offer(&part(booking, share, are_boarded)?, actor, policy, now)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::bookings::rules::{
        rescheduling::rescheduling,
        samples::{POLICY, any_actor, any_state, at_noon, booking},
        status::{is_live, next},
    };

    fn by(actor: Actor, booking: &BookingState) -> Result<Refund, Refusal> {
        cancellation(booking, CancelRequest::by(actor), &POLICY, at_noon())
    }

    /// The whole matrix, two days before departure.
    #[test]
    fn who_cancels_what_is_as_drawn() {
        use BookingStatus::*;
        let all = Rupiah(100_000);
        let (none, full) = (Ok(Refund::NONE), Ok(Refund::of(all)));
        let complaint = Ok(Refund { amount: all, borne_by: Some(BorneBy::Partner) });
        let (departed, over) = (Err(Refusal::Departed), Err(Refusal::AlreadyCancelled));
        let expired = Err(Refusal::Expired);
        #[rustfmt::skip]
        let drawn = [
            // status        guest     partner   staff      sailing
            (PendingPayment, [none,     none,     none,      none]),
            (Paid,           [full,     full,     full,      full]),
            (Completed,      [departed, departed, complaint, departed]),
            (Expired,        [expired,  expired,  expired,   expired]),
            (Cancelled,      [over,     over,     over,      over]),
            (RefundPending,  [over,     over,     over,      over]),
            (Refunded,       [over,     over,     over,      over]),
        ];
        assert_eq!(drawn.len(), BookingStatus::ALL.len());
        for (status, row) in drawn {
            let actors = [Actor::Guest, Actor::Partner, Actor::Staff, Actor::Sailing];
            for (actor, expected) in actors.into_iter().zip(row) {
                let found = by(actor, &booking(status));
                assert_eq!(found, expected, "{status} {actor:?}");
            }
        }
    }

    #[test]
    fn a_journey_is_refunded_once() {
        for status in [BookingStatus::RefundPending, BookingStatus::Refunded] {
            let refunded = BookingState { has_sailed: true, ..booking(status) };
            for actor in [Actor::Guest, Actor::Partner, Actor::Staff, Actor::Sailing] {
                assert_eq!(by(actor, &refunded), Err(Refusal::AlreadyRefunded), "{actor:?}");
            }
        }
    }

    #[test]
    fn a_guest_stays_on_board_near_departure() {
        let by = |booking: &BookingState, actor| by(actor, booking);
        let departing = |hours| BookingState {
            departure_at: at_noon() + TimeDelta::hours(hours),
            ..booking(BookingStatus::Paid)
        };
        for (state, why) in [
            (BookingState { is_manifest_closed: true, ..departing(24) }, Refusal::ManifestClosed),
            (BookingState { is_boarded: true, ..departing(1) }, Refusal::AlreadyBoarded),
            (BookingState { is_boarded: true, ..departing(0) }, Refusal::Departed),
        ] {
            assert_eq!(by(&state, Actor::Guest), Err(why));
            assert_eq!(rescheduling(&state, at_noon()), Err(why));
            assert!(by(&state, Actor::Partner).is_ok() && by(&state, Actor::Staff).is_ok());
        }
        // Long before departure neither restricts a guest.
        let early = BookingState { is_boarded: true, is_manifest_closed: true, ..departing(25) };
        assert_eq!(by(&early, Actor::Guest), Ok(Refund::of(Rupiah(100_000))));
    }

    #[test]
    fn staff_decides_the_refund() {
        use BookingStatus::*;
        let asks = |status, actor, amount: Option<i64>, refund, borne_by| {
            let request =
                CancelRequest { actor, refund, refund_amount: amount.map(Rupiah), borne_by };
            cancellation(&booking(status), request, &POLICY, at_noon())
        };
        let amount = |status, amount| asks(status, Actor::Staff, Some(amount), None, None);
        assert_eq!(amount(Paid, 0), Ok(Refund::NONE));
        assert_eq!(amount(Paid, 100_000), Ok(Refund::of(Rupiah(100_000))));
        assert_eq!(amount(Paid, 100_001), Err(Refusal::TooMuch(Rupiah(100_000))));
        assert_eq!(amount(PendingPayment, 0), Ok(Refund::NONE));
        assert_eq!(amount(PendingPayment, 1), Err(Refusal::TooMuch(Rupiah::ZERO)));
        assert_eq!(amount(Completed, 0), Err(Refusal::TooLittle));
        assert_eq!(amount(Completed, 100_001), Err(Refusal::TooMuch(Rupiah(100_000))));
        assert_eq!(amount(Refunded, 1), Err(Refusal::AlreadyCancelled));
        let (full, policy) = (Some(RefundChoice::Full), Some(RefundChoice::Policy));
        let platform = Some(BorneBy::Platform);
        assert_eq!(
            asks(Completed, Actor::Staff, Some(1), None, platform),
            Ok(Refund { amount: Rupiah(1), borne_by: platform })
        );
        let refused = |field| Err(Refusal::NotAllowed(field));
        assert_eq!(asks(Paid, Actor::Staff, None, None, platform), refused("borne_by"));
        assert_eq!(asks(Completed, Actor::Staff, None, policy, None), refused("refund"));
        assert_eq!(asks(Paid, Actor::Staff, Some(1), full, None), Err(Refusal::Ambiguous));
        let resold = BookingState { is_resold: true, ..booking(Paid) };
        let by_policy = CancelRequest { refund: policy, ..CancelRequest::by(Actor::Partner) };
        assert_eq!(cancellation(&resold, by_policy, &POLICY, at_noon()), refused("refund"));
        for actor in [Actor::Guest, Actor::Partner] {
            assert_eq!(asks(Paid, actor, Some(0), None, None), refused("refund_amount"));
            assert_eq!(asks(Completed, actor, None, None, platform), refused("borne_by"));
        }
        assert_eq!(asks(Paid, Actor::Guest, None, full, None), refused("refund"));
        assert!(asks(Paid, Actor::Guest, None, policy, None).is_ok());
        assert!(asks(Paid, Actor::Partner, None, full, None).is_ok());
        let free = BookingState { total: Rupiah::ZERO, ..booking(Completed) };
        assert_eq!(by(Actor::Staff, &free), Err(Refusal::FreeOfCharge));
    }

    #[test]
    fn a_guest_of_a_suspended_partner_gets_everything_back() {
        let by = |booking: &BookingState| by(Actor::Guest, booking);
        let departing = |hours| BookingState {
            departure_at: at_noon() + TimeDelta::hours(hours),
            refund_cap: Some(50),
            is_partner_suspended: true,
            ..booking(BookingStatus::Paid)
        };
        assert_eq!(by(&departing(1)), Ok(Refund::of(Rupiah(100_000))));
        assert_eq!(by(&departing(0)), Err(Refusal::Departed));
        let boarded = BookingState { is_boarded: true, ..departing(1) };
        assert_eq!(by(&boarded), Err(Refusal::AlreadyBoarded));
        let active = BookingState { is_partner_suspended: false, ..departing(1) };
        assert_eq!(by(&active), Ok(Refund::NONE), "by the policy");
    }

    #[test]
    fn what_the_provider_has_sent_back_is_not_refunded_again() {
        let paid = BookingState { gone: Rupiah(70_000), ..booking(BookingStatus::Paid) };
        for actor in [Actor::Guest, Actor::Partner, Actor::Staff] {
            let refund = by(actor, &paid).unwrap();
            assert_eq!(refund.amount, Rupiah(30_000), "{actor:?}");
        }
    }

    fn any_request() -> impl Strategy<Value = CancelRequest> {
        let refund = prop_oneof![
            Just(None),
            Just(Some(RefundChoice::Full)),
            Just(Some(RefundChoice::Policy))
        ];
        let borne_by =
            prop_oneof![Just(None), Just(Some(BorneBy::Partner)), Just(Some(BorneBy::Platform))];
        let amount = proptest::option::of(0_i64..12_000_000);
        (any_actor(), refund, amount, borne_by).prop_map(|(actor, refund, amount, borne_by)| {
            CancelRequest { actor, refund, refund_amount: amount.map(Rupiah), borne_by }
        })
    }

    proptest! {
        #[test]
        fn a_cancellation_is_a_transition_and_pays_back_at_most_the_price(
            booking in any_state(), request in any_request(),
        ) {
            let decided = cancellation(&booking, request, &POLICY, at_noon());
            if let Ok(refund) = decided {
                prop_assert!(Rupiah::ZERO <= refund.amount);
                prop_assert!(refund.amount <= booking.refundable());
                prop_assert!(next(booking.status, refund.event()).is_some());
                prop_assert!(is_live(booking.status));
                let is_over = booking.status == BookingStatus::Completed;
                prop_assert_eq!(refund.borne_by.is_some(), is_over);
            }
        }

        #[test]
        fn only_staff_gets_the_amount_that_it_states(
            booking in any_state(), request in any_request(),
        ) {
            if let (Some(amount), Ok(refund)) =
                (request.refund_amount, cancellation(&booking, request, &POLICY, at_noon()))
            {
                prop_assert_eq!(request.actor, Actor::Staff);
                prop_assert_eq!(refund.amount, amount);
            }
        }

        #[test]
        fn the_policy_gives_a_guest_and_those_who_ask_for_it_the_same(booking in any_state()) {
            let booking = BookingState { is_resold: false, ..booking };
            let policy = Some(RefundChoice::Policy);
            let asked = |actor| {
                let request = CancelRequest { refund: policy, ..CancelRequest::by(actor) };
                cancellation(&booking, request, &POLICY, at_noon())
            };
            if let Ok(guest) = by(Actor::Guest, &booking) {
                for actor in [Actor::Guest, Actor::Partner, Actor::Staff] {
                    prop_assert_eq!(asked(actor), Ok(guest));
                }
            }
        }

        #[test]
        fn a_guest_is_never_better_off_than_staff_and_never_leaves_a_departed_boat(
            booking in any_state(),
        ) {
            let by = |actor| by(actor, &booking);
            if let Ok(refund) = by(Actor::Guest) {
                let staff = by(Actor::Staff);
                prop_assert!(staff.is_ok_and(|staff| refund.amount <= staff.amount));
                let unpaid = booking.status == BookingStatus::PendingPayment;
                prop_assert!(unpaid || booking.departure_at > at_noon());
            }
        }

        #[test]
        fn only_near_departure_the_manifest_matters(booking in any_state(), actor in any_actor()) {
            if !depends_on_manifest(&booking, actor, at_noon()) {
                let decided = |closed, boarded| {
                    let state = BookingState {
                        is_manifest_closed: closed, is_boarded: boarded, ..booking.clone()
                    };
                    by(actor, &state)
                };
                let first = decided(false, false);
                for (closed, boarded) in [(false, true), (true, false), (true, true)] {
                    prop_assert_eq!(decided(closed, boarded), first);
                }
            }
        }

        #[test]
        fn an_offer_is_what_happens_and_holds_until_it_ends(
            booking in any_state(), actor in any_actor(), share in 0.0_f64..1.0,
        ) {
            let (now, tick) = (at_noon(), TimeDelta::seconds(1));
            let cancels = |at| cancellation(&booking, CancelRequest::by(actor), &POLICY, at);
            let offer = cancel_offer(&booking, actor, &POLICY, now);
            prop_assert_eq!(offer.map(|offer| offer.refund), cancels(now));
            if let Ok(CancelOffer { refund, percent, until }) = offer {
                prop_assert!(refund.amount <= percent_of(booking.total, percent));
                prop_assert!((0..=100).contains(&percent));
                if let (BookingStatus::Paid, Actor::Guest, Some(until)) =
                    (booking.status, actor, until)
                {
                    let part = ((until - now).num_seconds() as f64 * share) as i64;
                    prop_assert_eq!(cancels(now + TimeDelta::seconds(part)), Ok(refund));
                    let after = cancel_offer(&booking, actor, &POLICY, until + tick);
                    prop_assert!(after.map(|after| after.percent) != Ok(percent));
                }
            }
        }

        #[test]
        fn waiting_never_pays(booking in any_state(), hours in 1_i64..72) {
            let guest = CancelRequest::by(Actor::Guest);
            let at = |now| cancellation(&booking, guest, &POLICY, now);
            if let (Ok(now), Ok(later)) = (at(at_noon()), at(at_noon() + TimeDelta::hours(hours))) {
                prop_assert!(later.amount <= now.amount);
            }
        }
    }
}
