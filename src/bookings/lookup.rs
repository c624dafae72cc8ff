//! Who may read a booking, and which of its fields.

use super::{
    forms::GuestCredentials,
    model::{BookingRow, Channel, RefundAccount},
    prices::{self, Price},
    rules::{Actor, has_ticket},
    store,
    view::{
        BookedBoat, BookedSailing, Booking, BookingContact, FormerPassenger, Passenger,
        PaymentRecord, PriceRecord,
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
        money::Rupiah,
    },
    ticket_codes::Ticket,
};

/// Most tickets that are signed on the thread of a request.
pub const FEW_TICKETS: usize = 200;

/// In whose name the caller acts on bookings; 403 for crew, which has no part in them, and for
/// resellers, which act through OCTO.
pub fn actor(caller: Option<&Caller>) -> Result<Actor> {
    match caller.map(|caller| caller.role) {
        Some(Role::Admin | Role::Staff) => Ok(Actor::Staff),
        Some(Role::Mitra) => Ok(Actor::Partner),
        Some(Role::Crew | Role::Reseller) => Err(Error::Forbidden),
        None => Ok(Actor::Guest),
    }
}

/// The booking, if the caller may act on it; otherwise 404. The rules of staff were checked by the
/// table.
pub async fn booking_for(
    app: &App,
    caller: Option<&Caller>,
    id: Uuid,
    credentials: &GuestCredentials,
) -> Result<(BookingRow, Actor)> {
    let actor = actor(caller)?;
    let row = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    let may_act = match actor {
        Actor::Staff => true,
        Actor::Partner => caller.and_then(|caller| caller.partner_id) == Some(row.partner_id),
        Actor::Guest => credentials.open(row.channel, &row.code, &row.contact_email),
        Actor::Sailing => false,
    };
    if may_act { Ok((row, actor)) } else { Err(Error::NotFound) }
}

impl GuestCredentials {
    /// The booker of a reseller's booking is the reseller: what it costs is not for its traveller.
    pub fn open(&self, channel: Channel, code: &str, email: &str) -> bool {
        let of = self.code.as_deref().zip(self.email.as_ref());
        channel != Channel::Reseller
            && of.is_some_and(|(a_code, an_email)| {
                a_code.trim().eq_ignore_ascii_case(code) && an_email.as_str() == email
            })
    }
}

/// Whether identity numbers are for the caller: the booker, the sailing's partner in person, and
/// those who may read bookings. Crew sees them masked.
pub fn may_read_identity(caller: Option<&Caller>) -> bool {
    caller.is_none_or(|caller| match caller.role {
        Role::Mitra => caller.impersonator_may(Rule::BookingsRead),
        Role::Admin | Role::Staff => caller.may(Rule::BookingsRead),
        Role::Crew | Role::Reseller => false,
    })
}

/// Which confidential fields of a booking a caller sees.
#[derive(Clone, Copy, Debug)]
pub struct Readable {
    /// Identity numbers in full.
    identity: bool,
    /// The codes of tickets, each of which has to be signed.
    tickets: bool,
    /// The account for refunds, masked.
    refund_account: bool,
    /// What a reseller pays, and what is left to it.
    net: bool,
}

impl Readable {
    /// All that the booker may see.
    pub const ALL: Self = Self { identity: true, tickets: true, refund_account: true, net: false };

    /// For an audit entry, which shows what has changed. It is made inside of the transaction, and
    /// tickets do not change.
    pub const AUDITED: Self = Self { tickets: false, net: true, ..Self::ALL };

    /// The account for refunds is between the booker and the platform.
    pub fn by(caller: Option<&Caller>) -> Self {
        let is_reader = |caller: &Caller| match caller.role {
            Role::Admin | Role::Staff => caller.may(Rule::BookingsRead),
            Role::Mitra | Role::Crew | Role::Reseller => false,
        };
        let identity = may_read_identity(caller);
        Self {
            identity,
            tickets: identity,
            refund_account: caller.is_none_or(is_reader),
            net: caller.is_some_and(is_reader),
        }
    }

    /// A price: what a reseller pays, or for those who may not know that, the retail price.
    pub fn price(self, price: Price) -> PriceRecord {
        let margin = price.lines.iter().any(|line| line.margin.is_some()).then_some(price.margin);
        match (margin, self.net) {
            (Some(_), true) => PriceRecord { margin, ..price.into() },
            (Some(_), false) => price.retail().into(),
            (None, _) => price.into(),
        }
    }

    /// What a reschedule costs with its fee, in the prices that the caller may know.
    pub fn difference(
        self,
        difference: Rupiah,
        was: &Price,
        becomes: &Price,
        fee: Rupiah,
    ) -> Rupiah {
        match self.net {
            true => difference,
            false => difference + prices::change_of_surcharge(was, becomes, fee),
        }
    }

    /// The fee of a reschedule, which is a part of the price before.
    pub fn fee(self, fee: Rupiah, was: &Price) -> Rupiah {
        if self.net { fee } else { was.at_retail(fee) }
    }

    /// What a cancellation would give back of this percentage of the price.
    pub fn refund_offer(self, booking: &BookingRow, amount: Rupiah, percent: i32) -> Rupiah {
        match self.net || booking.reseller_id.is_none() {
            true => amount,
            false => {
                let retail = booking.price().retail().total;
                retail.share(Rupiah(percent.into()), Rupiah(100))
            }
        }
    }

    /// What is refunded for a booking: to the account of a reseller, what it had paid.
    pub fn refund(self, booking: &BookingRow) -> Option<Rupiah> {
        booking.refund_amount.filter(|_| self.net || booking.reseller_id.is_none())
    }
}

/// Whether identity numbers and ticket codes are readable; the account for refunds is not.
impl From<bool> for Readable {
    fn from(identity: bool) -> Self {
        Self { identity, tickets: identity, refund_account: false, net: false }
    }
}

/// Identity numbers are visible to the booker, the partner of the sailing and staff who may read
/// bookings. A caller who impersonates a partner sees what their own rules allow.
pub fn to_response(app: &App, row: BookingRow, readable: impl Into<Readable>) -> Result<Booking> {
    let readable = readable.into();
    let (price, refund_amount) = (readable.price(row.price()), readable.refund(&row));
    let BookingRow { stored: row, joined } = row;
    let account = row.refund_account.as_deref().filter(|_| readable.refund_account);
    let refund_account =
        account.map(|sealed| RefundAccount::open(&app.sealer, sealed)).transpose()?;
    let has_tickets = readable.tickets && has_ticket(row.status);
    let (sailing_id, booking_id) = (row.sailing_id, row.id);
    let mut passengers = Vec::with_capacity(row.passengers.len());
    for (index, passenger) in row.passengers.0.into_iter().enumerate() {
        let ticket_code = match has_tickets {
            true => {
                let place = passenger.place_at(index)?;
                Some(app.ticket_keys().sign(Ticket { sailing_id, booking_id, place }))
            }
            false => None,
        };
        let number = app.sealer.open_number(passenger.identity_number.as_deref())?;
        passengers.push(Passenger {
            checked_in_at: row.boarded.get(&passenger.id).copied(),
            id: passenger.id,
            name: passenger.name,
            identity_type: passenger.identity_type,
            identity_number: number.map(|number| number.revealed_if(readable.identity)),
            gender: passenger.gender,
            birth_date: passenger.birth_date,
            nationality: passenger.nationality,
            fare: passenger.fare,
            unit_price: passenger.unit_price,
            takes_seat: passenger.takes_seat,
            ticket_code,
        });
    }
    let payment = joined.payment_provider.zip(joined.payment_reference).zip(joined.payment_status);
    let page = |provider: &str, reference: &str| {
        // The page of the simulator is our own, so its address is not stored.
        let ours = provider == PaymentProvider::Simulator.as_str();
        ours.then(|| simulator_url(app, reference))
    };
    Ok(Booking {
        id: row.id,
        code: row.code,
        kind: row.kind,
        status: row.status,
        channel: row.channel,
        reseller: row.reseller_id.zip(joined.reseller_name).map(|(id, name)| Owner { id, name }),
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
        cancelled_passengers: row
            .cancelled_passengers
            .0
            .into_iter()
            .map(|one| FormerPassenger {
                id: one.id,
                name: one.name,
                cancelled_at: one.cancelled_at,
            })
            .collect(),
        sailing: BookedSailing {
            from: joined.from_name,
            to: joined.to_name,
            departure_at: row.departure_at,
            arrival_at: row.arrival_at,
            timezone: joined.timezone,
            arrival_timezone: joined.arrival_timezone,
            speedboat: BookedBoat { id: row.speedboat_id, name: joined.speedboat_name },
            mitra: Owner { id: row.partner_id, name: joined.partner_name },
        },
        price,
        payment: payment.map(|((provider, reference), status)| PaymentRecord {
            redirect_url: joined.payment_redirect_url.or_else(|| page(&provider, &reference)),
            provider,
            reference,
            status,
            method: joined.payment_method,
            paid_at: joined.payment_paid_at,
        }),
        accepted_terms_id: row.accepted_terms_id,
        expires_at: row.expires_at,
        cancelled_at: row.cancelled_at,
        cancel_reason: row.cancel_reason,
        refund_amount,
        owed: joined.owed,
        refund_account,
        created_at: row.created_at,
    })
}

/// [`to_response`] outside of a transaction. Many tickets are signed on a blocking thread.
pub async fn to_answer(app: &App, row: BookingRow, readable: Readable) -> Result<Booking> {
    if row.passengers.len() <= FEW_TICKETS {
        return to_response(app, row, readable);
    }
    let app = app.clone();
    let answer = tokio::task::spawn_blocking(move || to_response(&app, row, readable));
    answer.await.map_err(Error::internal).flatten()
}

/// 404 if the contact of a guest's booking has changed since the guest was authorized.
pub fn ensure_same_contact(seen: &BookingRow, now: &BookingRow) -> Result<()> {
    if seen.contact_email == now.contact_email { Ok(()) } else { Err(Error::NotFound) }
}

/// The page of the web app that shows a booking.
pub fn app_page(app: &App, booking: &BookingRow) -> String {
    format!("{}/booking/{}", app.config.app_url(), booking.code)
}

/// The page of the payment simulator.
pub fn simulator_url(app: &App, reference: &str) -> String {
    format!("{}/pay/{reference}", app.config.public_url())
}
