//! The rules of bookings: transitions, cancellation and rescheduling. Pure functions; time is an
//! argument.

use chrono::{DateTime, TimeDelta, Utc};

use super::model::BookingStatus;
use crate::kernel::{
    error::{Conflict, Error},
    ids::Uuid,
    lang::{Text, text},
    money::{Rate, Rupiah},
};

crate::string_enum! {
    /// Events of a booking's life cycle.
    pub enum Event {
        Pay = "pay",
        Expire = "expire",
        /// Cancelled without a refund.
        Cancel = "cancel",
        /// Cancelled with a refund due.
        CancelOwing = "cancel_owing",
        /// Paid after the hold ended, and the seats are sold out.
        LatePayment = "late_payment",
        Complete = "complete",
        Refund = "refund",
        /// Rescheduled after its sailing was cancelled, instead of refunded.
        Reinstate = "reinstate",
        /// The transfer of its refund bounced.
        RefundReturned = "refund_returned",
    }
}

crate::string_enum! {
    /// Who bears a refund after the journey.
    pub enum BorneBy { Partner = "partner", Platform = "platform" }
}

crate::string_enum! {
    /// How much of a cancelled booking is paid back: everything, or what the booker would get.
    pub enum RefundChoice { Full = "full", Policy = "policy" }
}

/// All transitions. Any other is refused.
const TRANSITIONS: &[(BookingStatus, Event, BookingStatus)] = {
    use BookingStatus::*;
    &[
        (PendingPayment, Event::Pay, Paid),
        (PendingPayment, Event::Expire, Expired),
        (PendingPayment, Event::Cancel, Cancelled),
        (Expired, Event::Pay, Paid),
        (Expired, Event::LatePayment, RefundPending),
        (Paid, Event::Cancel, Cancelled),
        (Paid, Event::CancelOwing, RefundPending),
        (Paid, Event::Complete, Completed),
        (Completed, Event::CancelOwing, RefundPending),
        (RefundPending, Event::Refund, Refunded),
        (RefundPending, Event::Reinstate, Paid),
        (Refunded, Event::RefundReturned, RefundPending),
        // Free of charge, so there was no refund.
        (Cancelled, Event::Reinstate, Paid),
    ]
};

pub fn next(from: BookingStatus, event: Event) -> Option<BookingStatus> {
    TRANSITIONS.iter().find(|m| m.0 == from && m.1 == event).map(|m| m.2)
}

/// Whether it holds its seats and its promotion. The triggers of the database use the same rule.
pub fn is_live(status: BookingStatus) -> bool {
    use BookingStatus::*;
    matches!(status, PendingPayment | Paid | Completed)
}

/// Whether its passengers may board, or have boarded.
pub fn has_ticket(status: BookingStatus) -> bool {
    matches!(status, BookingStatus::Paid | BookingStatus::Completed)
}

/// The role in which a booking is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The booker, who knows the code and the e-mail address.
    Guest,
    /// The partner whose sailing it is.
    Partner,
    /// Admins, and staff by rule.
    Staff,
    /// The system: the whole sailing is cancelled.
    Sailing,
}

/// The input of the rules of cancelling and rescheduling.
#[derive(Clone, Debug)]
pub struct BookingState {
    pub status: BookingStatus,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    /// Until when it is held unpaid.
    pub expires_at: DateTime<Utc>,
    /// The departure that it was sold with, if its sailing was moved.
    pub promised_at: Option<DateTime<Utc>>,
    pub is_boarded: bool,
    pub is_manifest_closed: bool,
    /// Cancelled together with its sailing.
    pub is_called_off: bool,
    pub is_partner_suspended: bool,
    pub was_paid: bool,
    pub total: Rupiah,
    /// What the provider has sent back of it without being owed.
    pub gone: Rupiah,
    /// The maximum refund in percent, after a reschedule.
    pub refund_cap: Option<i32>,
}

impl BookingState {
    /// The most that can be refunded.
    fn refundable(&self) -> Rupiah {
        (self.total - self.gone).max(Rupiah::ZERO)
    }

    fn has_departed(&self, now: DateTime<Utc>) -> bool {
        self.departure_at <= now
    }

    /// Whether the sailing was moved so far that the booker may refuse it.
    fn is_disrupted(&self) -> bool {
        is_disrupted(self.promised_at, self.departure_at)
    }

    /// Check-in and the manifest restrict a guest within this time before departure. Earlier they
    /// do not, so that a partner cannot lock customers in.
    fn is_near_departure(&self, now: DateTime<Utc>) -> bool {
        self.departure_at - now <= NEAR
    }

    /// The time from which a guest can no longer leave the sailing.
    fn guest_leaves_before(&self) -> DateTime<Utc> {
        match self.is_boarded || self.is_manifest_closed {
            true => self.departure_at - NEAR,
            false => self.departure_at,
        }
    }
}

const NEAR: TimeDelta = TimeDelta::hours(24);

/// Why a booking cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The sailing has departed.
    Departed,
    /// The partner has closed the manifest.
    ManifestClosed,
    /// A passenger of the booking is checked in.
    AlreadyBoarded,
    /// It is cancelled, or was refunded.
    AlreadyCancelled,
    /// It was not paid in time.
    Expired,
    /// Only a paid booking can be rescheduled, and has tickets.
    NotPaid,
    /// It needs no further payment.
    AlreadyPaid,
    /// No step of the policy allows a guest to reschedule so shortly before departure.
    TooLate,
    /// After the journey: nothing was paid, so that nothing can be refunded.
    FreeOfCharge,
    /// The actor may not decide this field, or not at this time.
    NotAllowed(&'static str),
    /// A reseller pays for it on account, as a whole.
    OnAccount,
    /// `refund` and `refund_amount` are both stated.
    Ambiguous,
    /// The amount exceeds what was paid.
    TooMuch(Rupiah),
    /// A refund after the journey is at least one rupiah.
    TooLittle,
}

impl Refusal {
    /// The error code.
    pub fn word(self) -> &'static str {
        match self {
            Self::Departed => "departed",
            Self::ManifestClosed => "manifest_closed",
            Self::AlreadyBoarded => "already_boarded",
            Self::AlreadyCancelled => "already_cancelled",
            Self::Expired => "expired",
            Self::NotPaid => "not_paid",
            Self::AlreadyPaid => "already_paid",
            Self::TooLate => "too_late",
            Self::FreeOfCharge => "invalid_state",
            Self::OnAccount => "on_account",
            Self::NotAllowed(_) | Self::Ambiguous | Self::TooMuch(_) | Self::TooLittle => {
                "validation_failed"
            }
        }
    }

    /// What it is about, if it is about a field of the request, and what is said.
    fn said(self) -> (Option<(&'static str, &'static str)>, Text) {
        let of_state = |en, id| (None, text(en, id));
        match self {
            Self::Departed => of_state(
                "This sailing has departed, so the booking can no longer be changed.",
                "Kapal sudah berangkat, sehingga pemesanan tidak dapat diubah lagi.",
            ),
            Self::ManifestClosed => of_state(
                "The manifest of this sailing is closed.",
                "Manifes penumpang pelayaran ini sudah ditutup.",
            ),
            Self::AlreadyBoarded => of_state(
                "A passenger of this booking is already checked in.",
                "Ada penumpang pemesanan ini yang sudah check-in.",
            ),
            Self::AlreadyCancelled => {
                of_state("This booking is cancelled.", "Pemesanan ini sudah dibatalkan.")
            }
            Self::Expired => of_state(
                "This booking was not paid in time and has expired.",
                "Pemesanan ini tidak dibayar tepat waktu dan sudah kedaluwarsa.",
            ),
            Self::NotPaid => of_state("This booking is not paid.", "Pemesanan ini belum dibayar."),
            Self::AlreadyPaid => {
                of_state("This booking is already paid.", "Pemesanan ini sudah dibayar.")
            }
            Self::TooLate => of_state(
                "It is too late to reschedule this booking.",
                "Sudah terlambat untuk memindahkan pemesanan ini.",
            ),
            Self::FreeOfCharge => of_state(
                "Nothing was paid for this booking, so there is nothing to refund.",
                "Pemesanan ini tidak berbayar, sehingga tidak ada yang dikembalikan.",
            ),
            Self::OnAccount => of_state(
                "A reseller has sold this booking on account.",
                "Pemesanan ini dijual oleh agen penjual secara kredit.",
            ),
            Self::NotAllowed(field) => (
                Some((field, "not_allowed")),
                text(
                    "You cannot decide this for this booking.",
                    "Anda tidak dapat menentukan ini untuk pemesanan ini.",
                ),
            ),
            Self::Ambiguous => (
                Some(("refund_amount", "ambiguous")),
                text(
                    "State the refund or its amount, not both.",
                    "Sebutkan jenis pengembalian atau jumlahnya, bukan keduanya.",
                ),
            ),
            Self::TooMuch(most) => (
                Some(("refund_amount", "max")),
                Text::new(
                    format!("At most {most} can be refunded."),
                    format!("Paling banyak {most} dapat dikembalikan."),
                ),
            ),
            Self::TooLittle => (
                Some(("refund_amount", "min")),
                text(
                    "A refund after the journey is at least 1 rupiah.",
                    "Pengembalian setelah perjalanan paling sedikit 1 rupiah.",
                ),
            ),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal.said() {
            (Some((field, rule)), message) => Self::field(field, rule, message),
            (None, message) => {
                let word = refusal.word();
                Self::Conflict(Box::new(Conflict { word, message, data: None }))
            }
        }
    }
}

/// Why a booking that is over cannot be changed.
fn over(status: BookingStatus) -> Refusal {
    match status {
        BookingStatus::Expired => Refusal::Expired,
        _ => Refusal::AlreadyCancelled,
    }
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
///   complaint. The partner bears it, unless staff decides for the platform.
pub fn cancellation(
    booking: &BookingState,
    request: CancelRequest,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<Refund, Refusal> {
    use BookingStatus::*;
    ensure_may_ask(request)?;
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
        status @ (Expired | Cancelled | RefundPending | Refunded) => return Err(over(status)),
    }
    if are_boarded {
        return Err(Refusal::AlreadyBoarded);
    }
    // What the provider has sent back of the whole is taken off the rest first.
    let gone = (booking.gone - (booking.total - share)).max(Rupiah::ZERO);
    Ok(BookingState { total: share, gone, is_boarded: false, ..booking.clone() })
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

/// The end of the first step of a policy that ends after now and changes something.
fn step_end(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
    changes: impl Fn(DateTime<Utc>) -> bool,
) -> Option<DateTime<Utc>> {
    let ends = policy.iter().map(|(hours, _)| departure_at - TimeDelta::hours((*hours).into()));
    // A step includes its last moment.
    ends.filter(|end| *end >= now).find(|end| changes(*end + TimeDelta::microseconds(1)))
}

/// Which fields an actor may decide. A guest may repeat that the policy applies.
fn ensure_may_ask(request: CancelRequest) -> Result<(), Refusal> {
    let CancelRequest { actor, refund, refund_amount, borne_by } = request;
    match actor {
        Actor::Staff if refund.is_some() && refund_amount.is_some() => Err(Refusal::Ambiguous),
        Actor::Staff => Ok(()),
        _ if refund_amount.is_some() => Err(Refusal::NotAllowed("refund_amount")),
        _ if borne_by.is_some() => Err(Refusal::NotAllowed("borne_by")),
        Actor::Guest if refund == Some(RefundChoice::Full) => Err(Refusal::NotAllowed("refund")),
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

/// A guest cannot leave a sailing near departure after check-in, or after the manifest was closed.
fn ensure_not_boarded(booking: &BookingState, now: DateTime<Utc>) -> Result<(), Refusal> {
    match booking {
        booking if !booking.is_near_departure(now) => Ok(()),
        booking if booking.is_manifest_closed => Err(Refusal::ManifestClosed),
        booking if booking.is_boarded => Err(Refusal::AlreadyBoarded),
        _ => Ok(()),
    }
}

/// Why a booking may be rescheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RescheduleCause {
    /// By choice of the booker, the partner or staff.
    Choice,
    /// Its sailing was cancelled, or moved far. There is no fee.
    Disruption,
}

/// Whether a booking may be rescheduled, by any actor. The only place that decides it; the cost
/// depends on the other sailing (`reschedule`).
pub fn rescheduling(
    booking: &BookingState,
    now: DateTime<Utc>,
) -> Result<RescheduleCause, Refusal> {
    use BookingStatus::*;
    match booking.status {
        PendingPayment => Err(Refusal::NotPaid),
        Paid if booking.has_departed(now) => Err(Refusal::Departed),
        Paid => {
            ensure_not_boarded(booking, now)?;
            match booking.is_disrupted() {
                true => Ok(RescheduleCause::Disruption),
                false => Ok(RescheduleCause::Choice),
            }
        }
        // Its sailing was cancelled. A booking that was free of charge is `cancelled` and may be
        // rescheduled as well. What a chargeback has taken does not pay for another journey.
        RefundPending | Cancelled
            if booking.is_called_off && booking.was_paid && booking.gone == Rupiah::ZERO =>
        {
            Ok(RescheduleCause::Disruption)
        }
        Completed => Err(Refusal::Departed),
        status @ (Expired | Cancelled | RefundPending | Refunded) => Err(over(status)),
    }
}

/// The fee of a reschedule. A guest who chooses to move pays it, by the policy; nobody else does.
pub fn reschedule_fee(
    booking: &BookingState,
    actor: Actor,
    cause: RescheduleCause,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<Rupiah, Refusal> {
    match (cause, actor) {
        (RescheduleCause::Choice, Actor::Guest) => {
            let percent = fee_percent(policy, booking.departure_at, now);
            Ok(percent_of(booking.total, percent.ok_or(Refusal::TooLate)?))
        }
        _ => Ok(Rupiah::ZERO),
    }
}

/// What a reschedule now costs beside the difference of the prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescheduleOffer {
    pub fee: Rupiah,
    /// Until when it stays so, if nothing else happens; `None`: without an end.
    pub until: Option<DateTime<Utc>>,
}

/// What [`rescheduling`] and [`reschedule_fee`] decide for this actor now, and until when.
pub fn reschedule_offer(
    booking: &BookingState,
    actor: Actor,
    policy: &[(u32, u8)],
    now: DateTime<Utc>,
) -> Result<RescheduleOffer, Refusal> {
    let cause = rescheduling(booking, now)?;
    let fee = reschedule_fee(booking, actor, cause, policy, now)?;
    // A booking whose sailing was cancelled has no departure to wait for.
    if booking.status != BookingStatus::Paid {
        return Ok(RescheduleOffer { fee, until: None });
    }
    let changes_at = step_end(policy, booking.departure_at, now, |later| {
        reschedule_fee(booking, actor, cause, policy, later) != Ok(fee)
    });
    // Check-in and the manifest bind whoever reschedules.
    let last = booking.guest_leaves_before();
    Ok(RescheduleOffer { fee, until: Some(changes_at.map_or(last, |at| at.min(last))) })
}

/// Whether passengers and contact of a booking can be corrected, by any actor: until the manifest is
/// closed, which names them.
pub fn correcting(booking: &BookingState, now: DateTime<Utc>) -> Result<(), Refusal> {
    use BookingStatus::*;
    match booking.status {
        PendingPayment if booking.expires_at <= now => Err(Refusal::Expired),
        PendingPayment | Paid if booking.has_departed(now) => Err(Refusal::Departed),
        PendingPayment | Paid if booking.is_manifest_closed => Err(Refusal::ManifestClosed),
        PendingPayment | Paid => Ok(()),
        Completed => Err(Refusal::Departed),
        status @ (Expired | Cancelled | RefundPending | Refunded) => Err(over(status)),
    }
}

/// Whether customers pay for a booking, and not a reseller.
pub fn ensure_not_resold(reseller: Option<Uuid>) -> Result<(), Refusal> {
    if reseller.is_some() { Err(Refusal::OnAccount) } else { Ok(()) }
}

/// Whether a booking waits for its payment.
pub fn ensure_unpaid(status: BookingStatus) -> Result<(), Refusal> {
    use BookingStatus::*;
    match status {
        PendingPayment => Ok(()),
        Paid | Completed => Err(Refusal::AlreadyPaid),
        Expired | Cancelled | RefundPending | Refunded => Err(over(status)),
    }
}

/// Whether a booking can still be paid at the provider: its hold has not ended.
pub fn payable(
    status: BookingStatus,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), Refusal> {
    ensure_unpaid(status)?;
    if expires_at <= now { Err(Refusal::Expired) } else { Ok(()) }
}

/// Whether a booking has tickets.
pub fn ensure_ticket(status: BookingStatus) -> Result<(), Refusal> {
    match status {
        status if has_ticket(status) => Ok(()),
        BookingStatus::PendingPayment => Err(Refusal::NotPaid),
        status => Err(over(status)),
    }
}

/// Whether a sailing was moved so far that bookers may refuse it.
pub fn is_disrupted(promised_at: Option<DateTime<Utc>>, departure_at: DateTime<Utc>) -> bool {
    promised_at.is_some_and(|promised| (departure_at - promised).abs() >= TimeDelta::minutes(30))
}

/// The percentage of the first step whose hours before departure are reached. Steps are sorted by
/// hours, descending.
fn policy_step(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<i32> {
    let ahead = departure_at - now;
    let step = policy.iter().find(|(hours, _)| ahead >= TimeDelta::hours((*hours).into()));
    step.map(|(_, percent)| i32::from(*percent))
}

/// The refund of a cancellation by the booker, in percent.
pub fn refund_percent(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> i32 {
    policy_step(policy, departure_at, now).unwrap_or(0)
}

/// The fee of a reschedule by choice, in percent; `None` if it is too late.
pub fn fee_percent(
    policy: &[(u32, u8)],
    departure_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<i32> {
    policy_step(policy, departure_at, now)
}

/// Whether a payment by this method can go back at the payment provider. Virtual accounts and shops
/// cannot take a refund.
pub fn goes_back_at_provider(method: Option<&str>) -> bool {
    matches!(method, Some("qris" | "credit_card" | "ewallet"))
}

/// Rounded down.
pub fn percent_of(total: Rupiah, percent: i32) -> Rupiah {
    Rate::basis_points(percent * 100).unwrap_or_default().floor_of(total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same transitions as a matrix.
    #[test]
    fn every_edge_is_as_drawn_and_there_is_no_other() {
        #[rustfmt::skip]
        let drawn = [
            // from              pay     expire     cancel       owing             late payment      complete     refund        reinstate     returned
            ("pending_payment", ["paid", "expired", "cancelled", "-",              "-",              "-",         "-",          "-", "-"]),
            ("paid",            ["-",    "-",       "cancelled", "refund_pending", "-",              "completed", "-",          "-", "-"]),
            ("completed",       ["-",    "-",       "-",         "refund_pending", "-",              "-",         "-",          "-", "-"]),
            ("expired",         ["paid", "-",       "-",         "-",              "refund_pending", "-",         "-",          "-", "-"]),
            ("cancelled",       ["-",    "-",       "-",         "-",              "-",              "-",         "-",          "paid", "-"]),
            ("refund_pending",  ["-",    "-",       "-",         "-",              "-",              "-",         "refunded",   "paid", "-"]),
            ("refunded",        ["-",    "-",       "-",         "-",              "-",              "-",         "-",          "-", "refund_pending"]),
        ];
        assert_eq!(drawn.len(), BookingStatus::ALL.len());
        for (from, row) in drawn {
            for (event, to) in Event::ALL.iter().zip(row) {
                let found = next(from.parse().unwrap(), *event).map_or("-", BookingStatus::as_str);
                assert_eq!(found, to, "{from} {event}");
            }
        }
    }

    #[test]
    fn a_refund_follows_the_policy_to_the_second() {
        let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let policy = [(24, 100), (6, 50)];
        let at = |ahead: TimeDelta| {
            percent_of(Rupiah(99_999), refund_percent(&policy, departure, departure - ahead)).0
        };
        assert_eq!(at(TimeDelta::hours(24)), 99_999);
        assert_eq!(at(TimeDelta::hours(24) - TimeDelta::seconds(1)), 49_999, "rounded down");
        assert_eq!(at(TimeDelta::hours(6)), 49_999);
        assert_eq!(at(TimeDelta::hours(6) - TimeDelta::seconds(1)), 0);
        assert_eq!(at(-TimeDelta::hours(1)), 0);
        assert_eq!(refund_percent(&[], departure, departure), 0);
        assert_eq!(fee_percent(&[(6, 10)], departure, departure), None, "too late to change");
        assert_eq!(fee_percent(&[(0, 0)], departure, departure), Some(0));
    }

    #[test]
    fn half_an_hour_more_or_less_is_too_much() {
        let departure: DateTime<Utc> = "2026-11-16T00:00:00Z".parse().unwrap();
        let moved_by =
            |minutes| is_disrupted(Some(departure), departure + TimeDelta::minutes(minutes));
        assert!(!is_disrupted(None, departure));
        assert!(!moved_by(29) && !moved_by(-29) && moved_by(30) && moved_by(-30));
    }

    const POLICY: [(u32, u8); 2] = [(24, 100), (6, 50)];

    fn at_noon() -> DateTime<Utc> {
        "2026-11-16T12:00:00Z".parse().unwrap()
    }

    /// Two days before departure.
    fn booking(status: BookingStatus) -> BookingState {
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
            was_paid: !matches!(status, BookingStatus::PendingPayment | BookingStatus::Expired),
            total: Rupiah(100_000),
            gone: Rupiah::ZERO,
            refund_cap: None,
        }
    }

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
    fn who_may_reschedule() {
        use BookingStatus::*;
        let of = |status| rescheduling(&booking(status), at_noon());
        assert_eq!(of(Paid), Ok(RescheduleCause::Choice));
        assert_eq!(of(PendingPayment), Err(Refusal::NotPaid));
        assert_eq!(of(Completed), Err(Refusal::Departed));
        assert_eq!(of(Expired), Err(Refusal::Expired));
        for over in [Cancelled, RefundPending, Refunded] {
            assert_eq!(of(over), Err(Refusal::AlreadyCancelled));
        }
        for called_off in [Cancelled, RefundPending] {
            let state = BookingState { is_called_off: true, ..booking(called_off) };
            assert_eq!(rescheduling(&state, at_noon()), Ok(RescheduleCause::Disruption));
            let unpaid = BookingState { was_paid: false, ..state };
            assert_eq!(rescheduling(&unpaid, at_noon()), Err(Refusal::AlreadyCancelled));
        }
    }

    #[test]
    fn what_the_provider_has_sent_back_is_not_refunded_again() {
        let paid = BookingState { gone: Rupiah(70_000), ..booking(BookingStatus::Paid) };
        for actor in [Actor::Guest, Actor::Partner, Actor::Staff] {
            let refund = by(actor, &paid).unwrap();
            assert_eq!(refund.amount, Rupiah(30_000), "{actor:?}");
        }
    }

    fn any_state() -> impl Strategy<Value = BookingState> {
        let flags = proptest::array::uniform5(any::<bool>());
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
                    total: Rupiah(total),
                    gone: Rupiah(gone),
                    refund_cap,
                }
            },
        )
    }

    fn any_actor() -> impl Strategy<Value = Actor> {
        prop_oneof![
            Just(Actor::Guest),
            Just(Actor::Partner),
            Just(Actor::Staff),
            Just(Actor::Sailing)
        ]
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
            const FEES: [(u32, u8); 3] = [(48, 0), (12, 10), (2, 25)];
            let fee_at = |at| {
                let cause = rescheduling(&booking, at)?;
                reschedule_fee(&booking, actor, cause, &FEES, at)
            };
            let offer = reschedule_offer(&booking, actor, &FEES, now);
            prop_assert_eq!(offer.map(|offer| offer.fee), fee_at(now));
            if let Ok(RescheduleOffer { fee, until: Some(until) }) = offer {
                let part = ((until - now).num_seconds() as f64 * share) as i64;
                prop_assert_eq!(fee_at(now + TimeDelta::seconds(part)), Ok(fee));
                prop_assert!(fee_at(until + tick) != Ok(fee));
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
