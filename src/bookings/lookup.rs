//! Who may look at a booking, and what they see of it.

use super::{
    forms::Knows,
    model::BookingRow,
    store,
    view::{
        BookedBoat, BookedSailing, Booking, BookingContact, Passenger, PaymentRecord, PriceRecord,
    },
};
use crate::{
    app::App,
    config::PaymentProvider,
    fleet::Owner,
    kernel::{
        access::{Role, Rule},
        caller::Caller,
        error::{Error, Result},
        ids::Uuid,
    },
};

/// In what right somebody deals with a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookingAccess {
    /// Knows its code and e-mail address.
    Booker,
    /// Its sailing is theirs.
    Partner,
    /// By rule.
    Staff,
}

/// The booking, if the caller may deal with it; else it does not exist. What staff may do the
/// table has seen to.
pub async fn booking_for(
    app: &App,
    caller: Option<&Caller>,
    id: Uuid,
    knows: &Knows,
) -> Result<(BookingRow, BookingAccess)> {
    let access = match caller.map(|caller| caller.role) {
        Some(Role::Admin | Role::Staff) => BookingAccess::Staff,
        Some(Role::Mitra) => BookingAccess::Partner,
        None => BookingAccess::Booker,
    };
    let row = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let known = match access {
        BookingAccess::Staff => true,
        BookingAccess::Partner => {
            caller.and_then(|caller| caller.partner_id) == Some(row.partner_id)
        }
        BookingAccess::Booker => knows.booking(&row),
    };
    if known { Ok((row, access)) } else { Err(Error::NotFound) }
}

impl Knows {
    fn booking(&self, row: &BookingRow) -> bool {
        let code = self.code.as_deref().map(|code| code.trim().to_ascii_uppercase());
        let email = self.email.as_ref().map(|email| email.as_str());
        code.as_deref() == Some(row.code.as_str()) && email == Some(row.contact_email.as_str())
    }
}

/// Whether identity numbers are for the caller: the booker, the sailing's partner in person, and
/// those who may read bookings.
pub fn readable(caller: Option<&Caller>) -> bool {
    caller.is_none_or(|caller| match caller.role {
        Role::Mitra => caller.in_person_or(Rule::BookingsRead),
        Role::Admin | Role::Staff => caller.may(Rule::BookingsRead),
    })
}

/// Identity numbers are for those in charge of the booking: its booker, the sailing's partner and
/// staff who may read bookings. Whoever impersonates a partner sees what their own rules allow.
pub fn shown(app: &App, row: BookingRow, readable: bool) -> Result<Booking> {
    let mut passengers = Vec::with_capacity(row.passengers.len());
    for passenger in row.passengers.0 {
        let number = app.sealer.open_number(passenger.identity_number.as_deref())?;
        passengers.push(Passenger {
            checked_in_at: row.boarded.get(&passenger.id).copied(),
            id: passenger.id,
            name: passenger.name,
            identity_type: passenger.identity_type,
            identity_number: number.map(|number| number.revealed_if(readable)),
            gender: passenger.gender,
            birth_date: passenger.birth_date,
            nationality: passenger.nationality,
        });
    }
    let payment = row.payment_provider.zip(row.payment_reference).zip(row.payment_status);
    let page = |provider: &str, reference: &str| {
        // The simulator's page is ours: its address need not be kept.
        let ours = provider == PaymentProvider::Simulator.as_str();
        ours.then(|| simulator_page(app, reference))
    };
    Ok(Booking {
        id: row.id,
        code: row.code,
        kind: row.kind,
        status: row.status,
        channel: row.channel,
        item_id: row.speedboat_id,
        route_time_id: row.sailing_id,
        qty: row.qty,
        code_promo: row.code_promo,
        note: row.note,
        contact: BookingContact {
            name: row.contact_name,
            email: row.contact_email,
            phone: row.contact_phone,
        },
        passengers,
        sailing: BookedSailing {
            from: row.from_name,
            to: row.to_name,
            departure_at: row.departure_at,
            arrival_at: row.arrival_at,
            timezone: row.timezone,
            speedboat: BookedBoat { id: row.speedboat_id, name: row.speedboat_name },
            mitra: Owner { id: row.partner_id, name: row.partner_name },
        },
        price: PriceRecord {
            currency: "IDR",
            unit_price: row.unit_price,
            subtotal: row.subtotal,
            discount: row.discount,
            taxes: row.taxes.0,
            tax: row.tax,
            total: row.total,
        },
        payment: payment.map(|((provider, reference), status)| PaymentRecord {
            redirect_url: row.payment_redirect_url.or_else(|| page(&provider, &reference)),
            provider,
            reference,
            status,
            method: row.payment_method,
            paid_at: row.payment_paid_at,
        }),
        accepted_terms_id: row.accepted_terms_id,
        expires_at: row.expires_at,
        cancelled_at: row.cancelled_at,
        cancel_reason: row.cancel_reason,
        refund_amount: row.refund_amount,
        owed: row.owed,
        created_at: row.created_at,
    })
}

/// Where a person plays the provider.
pub fn simulator_page(app: &App, reference: &str) -> String {
    format!("{}/pay/{reference}", app.config.public_url())
}
