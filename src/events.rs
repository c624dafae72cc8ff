//! Everything that goes through the outbox, typed.
//!
//! - A [`DomainEvent`] says that something happened. Mail, notifications and webhooks follow from it.
//! - A [`Task`] is work for one worker: a letter, a call to another system, a question to the payment
//!   provider. An [`AccountLetter`] is a letter whose token is made when it is sent.
//!
//! The outbox stores the name and the payload of each. Names and payloads are stable: rows outlive
//! the version that wrote them, and several versions may run side by side. A name that this version
//! does not know belongs to a newer one; its row is kept for that (see `kernel::outbox::postpone`).
//!
//! Payloads hold ids and plain values, no types of domains: every domain depends on this file, and
//! this file on none of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::kernel::{
    db::Tx,
    email::Email,
    error::{Error, Result},
    ids::Uuid,
    lang::Lang,
    money::Rupiah,
    outbox::{self, Item, New, Queue},
};

/// Declares an enum of messages, each with its stable name and the type of its payload, and an enum
/// of the names alone.
macro_rules! messages {
    (
        $(#[$meta:meta])*
        pub enum $name:ident as $kind:ident {
            $($(#[$case_meta:meta])* $case:ident($payload:ty) = $word:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub enum $name { $($(#[$case_meta])* $case($payload)),+ }

        crate::string_enum! {
            #[doc = concat!("The names of [`", stringify!($name), "`].")]
            pub enum $kind { $($case = $word),+ }
        }

        impl $name {
            pub fn kind(&self) -> $kind {
                match self { $(Self::$case(_) => $kind::$case),+ }
            }

            pub fn name(&self) -> &'static str {
                self.kind().as_str()
            }

            pub fn payload(&self) -> Result<Value> {
                match self { $(Self::$case(payload) => to_json(payload)),+ }
            }

            /// `None`: this version does not know the name.
            pub fn decode(name: &str, payload: &Value) -> Result<Option<Self>> {
                let Ok(kind) = name.parse::<$kind>() else { return Ok(None) };
                let message = match kind { $($kind::$case => from_json(payload).map(Self::$case)),+ };
                message.map(Some)
            }
        }
    };
}

fn to_json(payload: &impl Serialize) -> Result<Value> {
    serde_json::to_value(payload).map_err(Error::internal)
}

fn from_json<T: DeserializeOwned>(payload: &Value) -> Result<T> {
    T::deserialize(payload).map_err(Error::internal)
}

messages! {
    /// Something that happened.
    pub enum DomainEvent as EventKind {
        /// Written by a trigger of the table.
        BookingCreated(BookingRef) = "booking.created",
        BookingPaid(BookingRef) = "booking.paid",
        BookingExpired(BookingRef) = "booking.expired",
        BookingCancelled(BookingCancelled) = "booking.cancelled",
        /// Some of its passengers; the rest travels.
        BookingPassengersCancelled(PassengersCancelled) = "booking.passengers_cancelled",
        BookingCompleted(BookingRef) = "booking.completed",
        BookingRefunded(BookingRef) = "booking.refunded",
        BookingRescheduled(BookingRescheduled) = "booking.rescheduled",
        /// Its sailing has a new time.
        BookingMoved(BookingRef) = "booking.moved",
        /// Its sailing has another boat, at the same time.
        BookingBoatChanged(BoatChanged) = "booking.boat_changed",
        /// A reschedule was not paid in time, or its sailing was closed.
        BookingMoveDropped(BookingRef) = "booking.move_dropped",
        BookingDifferenceRefunded(DifferenceRefunded) = "booking.difference_refunded",
        /// Somebody asked for the tickets again.
        BookingTicketWanted(BookingRef) = "booking.ticket_wanted",
        BookingPassengersCorrected(BookingRef) = "booking.passengers_corrected",
        BookingContactCorrected(BookingRef) = "booking.contact_corrected",
        PaymentReview(PaymentReview) = "payment.review",
        RefundDue(RefundRef) = "refund.due",
        /// The provider refused it, or the transfer bounced.
        RefundFailed(RefundRef) = "refund.failed",
        PartnerRegistered(PartnerRegistered) = "partner.registered",
        PartnerSubmitted(PartnerChanged) = "partner.submitted",
        PartnerApproved(PartnerChanged) = "partner.approved",
        PartnerRevision(PartnerChanged) = "partner.revision",
        /// A rejection was taken back: the partner need not correct anything.
        PartnerReviewResumed(PartnerChanged) = "partner.review_resumed",
        PartnerDocumentReplaced(DocumentsReplaced) = "partner.document_replaced",
        PartnerBankChanged(PartnerChanged) = "partner.bank_changed",
        PartnerBankApproved(PartnerChanged) = "partner.bank_approved",
        PartnerBankRejected(PartnerChanged) = "partner.bank_rejected",
        PartnerSuspended(PartnerChanged) = "partner.suspended",
        PartnerUnsuspended(PartnerChanged) = "partner.unsuspended",
        SettlementCreated(SettlementRef) = "settlement.created",
        SettlementReleased(SettlementRef) = "settlement.released",
        /// The payout failed or came back; it is payable again.
        SettlementReturned(SettlementRef) = "settlement.returned",
        /// The payout of the provider failed, came back, or has an unknown outcome.
        SettlementFailed(SettlementRef) = "settlement.failed",
        SailingCancelled(SailingCancelled) = "sailing.cancelled",
        SailingMoved(SailingMoved) = "sailing.moved",
        TermsPublished(TermsPublished) = "terms.published",
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BookingRef {
    pub booking_id: Uuid,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BookingCancelled {
    pub booking_id: Uuid,
    /// Whether the letter to the booker repeats the reason.
    #[serde(default, skip_serializing_if = "is_false")]
    pub tells_reason: bool,
    /// Together with its sailing: its partner is told of the sailing as a whole.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_sailing: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PassengersCancelled {
    pub booking_id: Uuid,
    /// Says who was cancelled.
    pub cancellation_id: Uuid,
    pub refund_amount: Rupiah,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BookingRescheduled {
    pub booking_id: Uuid,
    /// What the customer paid, or (negative) is owed.
    pub difference: Rupiah,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoatChanged {
    pub booking_id: Uuid,
    /// Name of the boat before.
    pub was_speedboat: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DifferenceRefunded {
    pub booking_id: Uuid,
    pub amount: Rupiah,
    /// For passengers who were cancelled.
    #[serde(default, skip_serializing_if = "is_false")]
    pub for_passengers: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefundRef {
    pub refund_id: Uuid,
    pub booking_id: Uuid,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PaymentReview {
    pub booking_id: Uuid,
    pub reason: String,
    pub amount: Rupiah,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartnerRegistered {
    pub partner_id: Uuid,
    /// Created by staff: the invitation is the only mail.
    #[serde(default)]
    pub invited: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartnerChanged {
    pub partner_id: Uuid,
    /// Reason of a suspension, or of the rejection of a bank account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Rejected documents with notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedDocument>,
}

impl PartnerChanged {
    pub fn of(partner_id: Uuid) -> Self {
        Self { partner_id, reason: None, rejected: Vec::new() }
    }
}

/// Documents that are reviewed without a submission.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DocumentsReplaced {
    pub partner_id: Uuid,
    /// Each a `DocumentType`.
    pub documents: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RejectedDocument {
    /// A `DocumentType`.
    #[serde(rename = "type")]
    pub kind: String,
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SettlementRef {
    pub settlement_id: Uuid,
    pub mitra_id: Uuid,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SailingCancelled {
    pub sailing_id: Uuid,
    /// Number of bookings that were cancelled with it.
    pub bookings: usize,
    /// Whether its partner has cancelled it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_partner: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SailingMoved {
    pub sailing_id: Uuid,
    /// Number of bookings that have the new times.
    pub bookings: usize,
    pub was_departure_at: DateTime<Utc>,
    /// Whether its partner has moved it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_partner: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TermsPublished {
    pub terms_id: Uuid,
    #[serde(rename = "type")]
    pub kind: String,
    pub version: i32,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl DomainEvent {
    /// What it happened to. Events of one subject are handled in order.
    pub fn subject(&self) -> Uuid {
        match self {
            Self::PartnerRegistered(event) => event.partner_id,
            Self::PartnerSubmitted(event)
            | Self::PartnerApproved(event)
            | Self::PartnerRevision(event)
            | Self::PartnerReviewResumed(event)
            | Self::PartnerBankChanged(event)
            | Self::PartnerBankApproved(event)
            | Self::PartnerBankRejected(event)
            | Self::PartnerSuspended(event)
            | Self::PartnerUnsuspended(event) => event.partner_id,
            Self::PartnerDocumentReplaced(event) => event.partner_id,
            Self::SettlementCreated(event)
            | Self::SettlementReleased(event)
            | Self::SettlementReturned(event)
            | Self::SettlementFailed(event) => event.settlement_id,
            Self::SailingCancelled(event) => event.sailing_id,
            Self::SailingMoved(event) => event.sailing_id,
            Self::TermsPublished(event) => event.terms_id,
            Self::BookingCreated(event)
            | Self::BookingPaid(event)
            | Self::BookingExpired(event)
            | Self::BookingCompleted(event)
            | Self::BookingRefunded(event)
            | Self::BookingMoved(event)
            | Self::BookingMoveDropped(event)
            | Self::BookingTicketWanted(event)
            | Self::BookingPassengersCorrected(event)
            | Self::BookingContactCorrected(event) => event.booking_id,
            Self::BookingCancelled(event) => event.booking_id,
            Self::BookingPassengersCancelled(event) => event.booking_id,
            Self::BookingRescheduled(event) => event.booking_id,
            Self::BookingBoatChanged(event) => event.booking_id,
            Self::BookingDifferenceRefunded(event) => event.booking_id,
            Self::PaymentReview(event) => event.booking_id,
            Self::RefundDue(event) | Self::RefundFailed(event) => event.booking_id,
        }
    }

    /// The booking that it is about, if it is about one.
    pub fn booking_id(&self) -> Option<Uuid> {
        match self {
            Self::BookingCreated(_)
            | Self::BookingPaid(_)
            | Self::BookingExpired(_)
            | Self::BookingCancelled(_)
            | Self::BookingPassengersCancelled(_)
            | Self::BookingCompleted(_)
            | Self::BookingRefunded(_)
            | Self::BookingRescheduled(_)
            | Self::BookingMoved(_)
            | Self::BookingBoatChanged(_)
            | Self::BookingMoveDropped(_)
            | Self::BookingDifferenceRefunded(_)
            | Self::BookingTicketWanted(_)
            | Self::BookingPassengersCorrected(_)
            | Self::BookingContactCorrected(_)
            | Self::PaymentReview(_)
            | Self::RefundDue(_)
            | Self::RefundFailed(_) => Some(self.subject()),
            Self::PartnerRegistered(_)
            | Self::PartnerSubmitted(_)
            | Self::PartnerApproved(_)
            | Self::PartnerRevision(_)
            | Self::PartnerReviewResumed(_)
            | Self::PartnerDocumentReplaced(_)
            | Self::PartnerBankChanged(_)
            | Self::PartnerBankApproved(_)
            | Self::PartnerBankRejected(_)
            | Self::PartnerSuspended(_)
            | Self::PartnerUnsuspended(_)
            | Self::SettlementCreated(_)
            | Self::SettlementReleased(_)
            | Self::SettlementReturned(_)
            | Self::SettlementFailed(_)
            | Self::SailingCancelled(_)
            | Self::SailingMoved(_)
            | Self::TermsPublished(_) => None,
        }
    }
}

messages! {
    /// Work for one worker.
    pub enum Task as TaskKind {
        SendLetter(LetterTask) = "mail.letter",
        DeliverWebhook(WebhookTask) = "webhook.delivery",
        RequestPayment(BookingRef) = "payment.wanted",
        ConfirmPayment(ConfirmPayment) = "payment.unconfirmed",
        /// The codes of the bookings of an address, to that address.
        SendFoundBookings(FoundBookings) = "mail.found_bookings",
        /// Tickets to another address than that of the booking.
        SendTickets(TicketsTo) = "mail.tickets",
        /// To the address that a booking had before.
        TellFormerContact(FormerContact) = "mail.former_contact",
        /// To the reseller that has sold a booking.
        TellReseller(LetterTask) = "mail.reseller",
    }
}

impl Task {
    /// The queue of its worker.
    pub fn queue(&self) -> Queue {
        match self {
            Self::SendLetter(_)
            | Self::SendFoundBookings(_)
            | Self::SendTickets(_)
            | Self::TellFormerContact(_)
            | Self::TellReseller(_) => Queue::Mail,
            Self::DeliverWebhook(_) => Queue::Webhook,
            Self::RequestPayment(_) | Self::ConfirmPayment(_) => Queue::Payment,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookTask {
    pub delivery_id: Uuid,
}

/// Somebody asked for the bookings of an address. Which there are is found out when the letter is
/// written, so that the answer does not tell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FoundBookings {
    pub email: Email,
    pub lang: Lang,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TicketsTo {
    pub booking_id: Uuid,
    pub email: Email,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FormerContact {
    pub booking_id: Uuid,
    pub name: String,
    pub email: Email,
}

/// A notice that the provider could not be asked about when it came.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConfirmPayment {
    pub booking_id: Uuid,
    pub notice: Value,
}

/// A letter to be written, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LetterTask {
    event: String,
    news: Value,
}

/// What a letter is about.
#[derive(Clone, Debug)]
pub enum LetterSubject {
    Event(DomainEvent),
    /// The hold of an unpaid booking ends soon.
    HoldExpiring(BookingRef),
}

impl LetterTask {
    const HOLD_EXPIRING: &str = "booking.expiring";

    pub fn about(event: &DomainEvent) -> Result<Self> {
        Ok(Self { event: event.name().to_owned(), news: event.payload()? })
    }

    pub fn hold_expiring(booking_id: Uuid) -> Self {
        let news = json!({ "booking_id": booking_id });
        Self { event: Self::HOLD_EXPIRING.to_owned(), news }
    }

    /// `None`: this version does not know the event.
    pub fn subject(&self) -> Result<Option<LetterSubject>> {
        if self.event == Self::HOLD_EXPIRING {
            return from_json(&self.news).map(LetterSubject::HoldExpiring).map(Some);
        }
        Ok(DomainEvent::decode(&self.event, &self.news)?.map(LetterSubject::Event))
    }
}

messages! {
    /// Letters of accounts. Their tokens are made when they are sent and are never stored.
    pub enum AccountLetter as AccountLetterKind {
        PasswordForgotten(PasswordForgotten) = "account.password_forgotten",
        Invited(AccountRef) = "account.invited",
        PasswordChanged(AccountRef) = "account.password_changed",
        /// A registered partner has to prove that it reads its mailbox.
        EmailVerification(AccountRef) = "account.email_verification",
        /// To the new address, with the link that confirms the change.
        EmailConfirmation(EmailChangeRef) = "account.email_confirmation",
        /// To the old address, with the link that cancels the change.
        EmailChangeRequested(EmailChangeRef) = "account.email_change_requested",
        SecondFactorEnrolled(AccountRef) = "account.second_factor_enrolled",
        SecondFactorRemoved(AccountRef) = "account.second_factor_removed",
        /// To the old address, after the change was confirmed.
        EmailChanged(EmailChanged) = "account.email_changed",
    }
}

/// Somebody asked for a reset. Whether the address has an account is found out when the letter is
/// written, so that the answer does not tell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PasswordForgotten {
    pub email: Email,
    pub lang: Lang,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AccountRef {
    pub account_id: Uuid,
    pub lang: Lang,
}

/// A row of `email_changes`, which has the addresses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EmailChangeRef {
    pub change_id: Uuid,
    pub lang: Lang,
}

/// Goes to the address that the account had before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EmailChanged {
    pub name: String,
    pub email: Email,
    pub lang: Lang,
}

/// An item of the outbox, decoded.
pub enum Message {
    Event(DomainEvent),
    Task(Task),
    AccountLetter(AccountLetter),
}

impl Message {
    /// `None`: this version does not know the name.
    pub fn decode(item: &Item) -> Result<Option<Self>> {
        let (name, payload) = (&item.topic, &item.payload);
        if let Some(event) = DomainEvent::decode(name, payload)? {
            return Ok(Some(Self::Event(event)));
        }
        if let Some(task) = Task::decode(name, payload)? {
            return Ok(Some(Self::Task(task)));
        }
        Ok(AccountLetter::decode(name, payload)?.map(Self::AccountLetter))
    }
}

/// Announces an event, behind those of the same subject.
pub async fn emit(tx: &mut Tx, event: DomainEvent, now: DateTime<Utc>) -> Result<()> {
    outbox::put_about(tx, event.subject(), event.name(), &event.payload()?, now).await.map(drop)
}

/// Announces many events in one statement.
pub async fn emit_all(
    tx: &mut Tx,
    events: impl IntoIterator<Item = DomainEvent>,
    now: DateTime<Utc>,
) -> Result<()> {
    let new = |event: DomainEvent| {
        let (lane, payload) = (Some(outbox::lane(event.subject())), event.payload()?);
        let (topic, queue) = (event.name(), Queue::Event);
        Ok(New { topic, payload, lane, due_at: now, queue, after: None })
    };
    let new: Vec<_> = events.into_iter().map(new).collect::<Result<_>>()?;
    outbox::put_many(tx, &new, now).await
}

/// Enqueues a task with high priority: before tasks that were enqueued within the last day.
pub async fn enqueue(tx: &mut Tx, task: &Task, now: DateTime<Utc>) -> Result<()> {
    outbox::put(tx, task.queue(), task.name(), &task.payload()?, now).await.map(drop)
}

/// Enqueues a letter about a booking, behind its earlier letters. It is deleted with the booking's
/// personal data.
pub async fn enqueue_mail(
    tx: &mut Tx,
    task: &Task,
    booking: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let (topic, payload, queue) = (task.name(), task.payload()?, task.queue());
    let lane = Some(format!("mail/{}", outbox::lane(booking)));
    let new = New { topic, payload, lane, due_at: now, queue, after: None };
    outbox::put_new(tx, new, now).await.map(drop)
}

/// Enqueues a letter that somebody waits for, with high priority.
pub async fn send(tx: &mut Tx, letter: &AccountLetter, now: DateTime<Utc>) -> Result<()> {
    outbox::put(tx, Queue::Mail, letter.name(), &letter.payload()?, now).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the outbox outlive the version that wrote them.
    #[test]
    fn stored_events_are_read_as_they_were_written() {
        let id = "0198a1b2-0000-7000-8000-000000000001";
        let stored = [
            ("booking.created", json!({ "booking_id": id })),
            ("booking.cancelled", json!({ "booking_id": id })),
            ("booking.cancelled", json!({ "booking_id": id, "tells_reason": true })),
            ("booking.cancelled", json!({ "booking_id": id, "by_sailing": true })),
            ("booking.rescheduled", json!({ "booking_id": id, "difference": -50_000 })),
            ("booking.difference_refunded", json!({ "booking_id": id, "amount": 50_000 })),
            ("payment.review", json!({ "booking_id": id, "reason": "late", "amount": 1 })),
            ("partner.registered", json!({ "partner_id": id, "invited": false })),
            ("partner.approved", json!({ "partner_id": id })),
            ("partner.suspended", json!({ "partner_id": id, "reason": "x" })),
            (
                "partner.revision",
                json!({ "partner_id": id, "rejected": [{ "type": "ktp", "note": "blurred" }] }),
            ),
            (
                "partner.document_replaced",
                json!({ "partner_id": id, "documents": ["operating_permit"] }),
            ),
            ("partner.bank_changed", json!({ "partner_id": id })),
            ("partner.bank_rejected", json!({ "partner_id": id, "reason": "x" })),
            ("settlement.created", json!({ "settlement_id": id, "mitra_id": id })),
            ("settlement.returned", json!({ "settlement_id": id, "mitra_id": id })),
            ("sailing.cancelled", json!({ "sailing_id": id, "bookings": 3 })),
            (
                "sailing.moved",
                json!({ "sailing_id": id, "bookings": 3,
                    "was_departure_at": "2026-11-16T00:00:00Z" }),
            ),
            ("terms.published", json!({ "terms_id": id, "type": "mitra", "version": 2 })),
        ];
        for (name, payload) in stored {
            let event = DomainEvent::decode(name, &payload).unwrap().unwrap();
            assert_eq!(event.name(), name);
            assert_eq!(event.payload().unwrap(), payload, "{name}");
            assert_eq!(event.subject().to_string(), id);
            let letter = LetterTask::about(&event).unwrap();
            let Some(LetterSubject::Event(again)) = letter.subject().unwrap() else {
                panic!("{name}")
            };
            assert_eq!(again.payload().unwrap(), payload);
        }
    }

    #[test]
    fn a_name_of_a_newer_version_is_unknown_and_no_error() {
        let payload = json!({ "whatever": 1 });
        assert!(DomainEvent::decode("booking.upgraded", &payload).unwrap().is_none());
        assert!(Task::decode("fax.send", &payload).unwrap().is_none());
        let letter = LetterTask { event: "booking.upgraded".into(), news: payload.clone() };
        assert!(letter.subject().unwrap().is_none());
        // A known name with a payload that does not belong to it is an error.
        assert!(DomainEvent::decode("booking.paid", &payload).is_err());
    }
}
