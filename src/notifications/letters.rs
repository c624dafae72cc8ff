//! Mails about events.

use crate::{
    app::App,
    bookings::{self, BookingLetter},
    events::{DomainEvent, FormerContact, FoundBookings, LetterSubject, TicketsTo},
    kernel::{error::Result, ids::Uuid, mail::Letter, outbox::Item},
    partners::{self, PartnerLetter},
    settlements, tickets,
};

/// The mail of an event.
enum EventLetter {
    Booking(Uuid, BookingLetter),
    Partner(Uuid, PartnerLetter),
    /// The payout of the settlement was recorded.
    SettlementReleased(Uuid),
    /// The payout failed or came back.
    SettlementReturned(Uuid),
}

/// `None`: no mail is sent.
fn letter_of(event: &DomainEvent) -> Option<EventLetter> {
    use BookingLetter as B;
    use DomainEvent as E;
    use PartnerLetter as P;
    let booking = |letter| Some(EventLetter::Booking(event.subject(), letter));
    let partner = |letter| Some(EventLetter::Partner(event.subject(), letter));
    match event {
        E::BookingCreated(_) => booking(B::PaymentRequest),
        E::BookingPaid(_) => booking(B::Paid),
        E::BookingExpired(_) => booking(B::Expired),
        E::BookingCancelled(cancelled) => {
            booking(B::Cancelled { tells_reason: cancelled.tells_reason })
        }
        E::BookingPassengersCancelled(cancelled) => booking(B::PassengersCancelled {
            cancellation: cancelled.cancellation_id,
            refund: cancelled.refund_amount,
        }),
        E::BookingRefunded(_) => booking(B::Refunded),
        E::BookingRescheduled(rescheduled) => {
            booking(B::Rescheduled { difference: rescheduled.difference })
        }
        E::BookingMoved(_) => booking(B::SailingMoved),
        E::BookingBoatChanged(changed) => {
            booking(B::BoatChanged { was: changed.was_speedboat.clone() })
        }
        E::BookingMoveDropped(_) => booking(B::RescheduleDropped),
        E::BookingDifferenceRefunded(refunded) => booking(B::DifferenceRefunded {
            amount: refunded.amount,
            for_passengers: refunded.for_passengers,
        }),
        E::BookingTicketWanted(_) => booking(B::Tickets),
        E::BookingPassengersCorrected(_) => booking(B::PassengersCorrected),
        E::BookingContactCorrected(_) => booking(B::ContactCorrected),
        E::PartnerRegistered(registered) if registered.invited => None,
        E::PartnerRegistered(_) => partner(P::Welcome),
        E::PartnerSubmitted(_) => partner(P::Submitted),
        E::PartnerApproved(_) => partner(P::Approved),
        E::PartnerRevision(changed) => partner(P::Revision { rejected: changed.rejected.clone() }),
        E::PartnerReviewResumed(_) => partner(P::ReviewResumed),
        E::PartnerBankChanged(_) => partner(P::BankChanged),
        E::PartnerBankApproved(_) => partner(P::BankApproved),
        E::PartnerBankRejected(changed) => {
            partner(P::BankRejected { reason: changed.reason.clone().unwrap_or_default() })
        }
        E::PartnerSuspended(changed) => {
            partner(P::Suspended { reason: changed.reason.clone().unwrap_or_default() })
        }
        E::PartnerUnsuspended(_) => partner(P::Unsuspended),
        E::SettlementReleased(_) => Some(EventLetter::SettlementReleased(event.subject())),
        E::SettlementReturned(_) => Some(EventLetter::SettlementReturned(event.subject())),
        E::BookingCompleted(_)
        | E::PaymentReview(_)
        | E::RefundDue(_)
        | E::RefundFailed(_)
        | E::PartnerDocumentReplaced(_)
        | E::SettlementCreated(_)
        | E::SettlementFailed(_)
        | E::SailingCancelled(_)
        | E::SailingMoved(_)
        | E::TermsPublished(_) => None,
    }
}

pub fn has_letter(event: &DomainEvent) -> bool {
    letter_of(event).is_some()
}

/// Renders a mail and sends it, unless it is no longer relevant.
pub async fn send_letter(app: &App, item: &Item, subject: &LetterSubject) -> Result<()> {
    let letter = match subject {
        LetterSubject::HoldExpiring(booking) => {
            Some(EventLetter::Booking(booking.booking_id, BookingLetter::ExpiryReminder))
        }
        LetterSubject::Event(event) => letter_of(event),
    };
    let letter = match letter {
        Some(EventLetter::Booking(id, letter)) => to_booker(app, id, &letter).await?,
        Some(EventLetter::Partner(id, letter)) => partners::letter(app, id, letter).await?,
        Some(EventLetter::SettlementReleased(id)) => settlements::letter(app, id).await?,
        Some(EventLetter::SettlementReturned(id)) => settlements::return_letter(app, id).await?,
        None => None,
    };
    match letter {
        Some(letter) => app.mailer.send(item.id, &letter).await,
        None => Ok(()),
    }
}

/// Tells a reseller of what has happened to a booking that it sold.
pub async fn tell_reseller(app: &App, item: &Item, subject: &LetterSubject) -> Result<()> {
    let LetterSubject::Event(event) = subject else { return Ok(()) };
    let Some(EventLetter::Booking(id, kind)) = letter_of(event) else { return Ok(()) };
    match bookings::letter_to_reseller(app, id, &kind).await? {
        Some((letter, _)) => app.mailer.send(item.id, &letter).await,
        None => Ok(()),
    }
}

/// Whether a reseller is told of it by mail, besides the traveller.
pub fn is_for_reseller(event: &DomainEvent) -> bool {
    match event {
        DomainEvent::BookingMoved(_) | DomainEvent::BookingBoatChanged(_) => true,
        DomainEvent::BookingCancelled(cancelled) => cancelled.by_sailing,
        _ => false,
    }
}

/// Sends the tickets of a booking to another address than its own.
pub async fn send_tickets(app: &App, item: &Item, to: TicketsTo) -> Result<()> {
    let letter = to_booker(app, to.booking_id, &BookingLetter::Tickets).await?;
    match letter {
        Some(letter) => app.mailer.send(item.id, &Letter { to: to.email, ..letter }).await,
        None => Ok(()),
    }
}

/// Tells the address that a booking had before.
pub async fn tell_former_contact(app: &App, item: &Item, former: FormerContact) -> Result<()> {
    let FormerContact { booking_id, name, email: to } = former;
    let letter = to_booker(app, booking_id, &BookingLetter::ContactReplaced).await?;
    match letter {
        Some(letter) => app.mailer.send(item.id, &Letter { to, name, ..letter }).await,
        None => Ok(()),
    }
}

/// Sends the codes of an address's bookings to it, if it has any.
pub async fn send_found_bookings(app: &App, item: &Item, found: FoundBookings) -> Result<()> {
    match bookings::found_letter(app, found.email, found.lang).await? {
        Some(letter) => app.mailer.send(item.id, &letter).await,
        None => Ok(()),
    }
}

/// The mail to a booker, with tickets if they are new to the booker.
async fn to_booker(app: &App, id: Uuid, kind: &BookingLetter) -> Result<Option<Letter>> {
    let Some((letter, booking)) = bookings::letter(app, id, kind).await? else {
        return Ok(None);
    };
    let attachment = match kind.has_tickets() {
        true => tickets::attachment(app, booking).await?,
        false => None,
    };
    Ok(Some(Letter { attachment, ..letter }))
}
