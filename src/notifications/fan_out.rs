//! The effects of each event: who is notified, whether a mail is sent, which tasks are queued.
//! Webhooks are decided in `webhooks::model`.

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    letters,
    store::{self, NewNotification},
};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus},
    config::PaymentProvider,
    events::{BookingRef, DomainEvent, LetterTask, PaymentReview, Task, TermsPublished},
    kernel::{
        access::Rule,
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        money::Rupiah,
        outbox::{self, Item, New},
    },
    partners, refunds, sailings, settlements,
    webhooks::{
        self, Announcement, BookingEvent, PartnerEvent, PaymentReviewEvent, RefundEvent,
        SailingEvent, SettlementEvent, TermsEvent,
    },
};

/// Who is notified.
enum Recipient {
    Partner(Uuid),
    AllPartners,
    /// Admins, and staff with the rule.
    StaffWith(Rule),
}

impl Recipient {
    fn partner(&self) -> Option<Uuid> {
        if let Self::Partner(id) = self { Some(*id) } else { None }
    }

    fn rule(&self) -> Option<Rule> {
        if let Self::StaffWith(rule) = self { Some(*rule) } else { None }
    }
}

/// An event with its effects.
struct FanOut<'a> {
    item: &'a Item,
    event: DomainEvent,
    recipients: Vec<Recipient>,
    /// The ids and codes concerned, as in notifications and webhooks.
    data: Value,
    /// Set for a new unpaid booking: its payment has to be requested.
    unpaid: Option<UnpaidBooking>,
    /// Whether a reseller has sold the booking.
    is_resold: bool,
    /// Whether the reseller does not know it from its own request.
    is_news: bool,
}

struct UnpaidBooking {
    booking_id: Uuid,
    remind_at: Option<DateTime<Utc>>,
}

/// How long before the end of a hold its booker is reminded.
const REMINDER: TimeDelta = TimeDelta::minutes(10);

/// Turns events into their effects and removes them, in one transaction.
pub async fn deliver(app: &App, items: &[Item]) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let mut events = Vec::with_capacity(items.len());
    for item in items {
        let event = DomainEvent::decode(&item.topic, &item.payload)?;
        let unknown = || Error::internal(format!("{} is no event", item.topic));
        events.push((item, event.ok_or_else(unknown)?));
    }
    let bookings = bookings_of(app, &events).await?;
    let mut fan_outs = Vec::with_capacity(items.len());
    for (item, event) in events {
        fan_outs.extend(fan_out(app, item, event, &bookings).await?);
    }
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let ours = outbox::done_all(&mut tx, items).await?;
    fan_outs.retain(|fan_out| ours.contains(&fan_out.item.id));
    notify(&mut tx, &fan_outs, now).await?;
    let announced: Vec<_> = fan_outs
        .iter()
        .map(|FanOut { item, event, data, .. }| Announcement { item, event, data })
        .collect();
    webhooks::queue(&mut tx, &announced, now).await?;
    for FanOut { item, event, .. } in fan_outs.iter().filter(|fan_out| fan_out.is_news) {
        webhooks::queue_booking_update(&mut tx, item, event.subject(), now).await?;
    }
    outbox::put_many(&mut tx, &tasks(app, &fan_outs, now)?, now).await?;
    tx.commit().await?;
    app.hub().wake();
    Ok(())
}

/// The bookings of many events, in one statement.
async fn bookings_of(
    app: &App,
    events: &[(&Item, DomainEvent)],
) -> Result<HashMap<Uuid, BookingRow>> {
    let ids: BTreeSet<_> = events.iter().filter_map(|(_, event)| event.booking_id()).collect();
    let ids: Vec<_> = ids.into_iter().collect();
    let bookings = bookings::get_all(&app.db, &ids).await?;
    Ok(bookings.into_iter().map(|booking| (booking.id, booking)).collect())
}

async fn notify(tx: &mut Tx, fan_outs: &[FanOut<'_>], now: DateTime<Utc>) -> Result<()> {
    let recipients = || fan_outs.iter().flat_map(|fan_out| &fan_out.recipients);
    let partners: BTreeSet<_> = recipients().filter_map(Recipient::partner).collect();
    let partners = store::accounts_of(tx, &partners.into_iter().collect::<Vec<_>>()).await?;
    let mut staff = HashMap::new();
    for rule in recipients().filter_map(Recipient::rule) {
        if let Entry::Vacant(vacant) = staff.entry(rule) {
            vacant.insert(store::staff_with(tx, rule).await?);
        }
    }
    let mut new = Vec::new();
    for FanOut { item, recipients, data, .. } in fan_outs {
        let mut accounts = BTreeSet::new();
        for recipient in recipients {
            match recipient {
                Recipient::Partner(id) => accounts.extend(partners.get(id)),
                Recipient::AllPartners => accounts.extend(store::all_partners(tx).await?),
                Recipient::StaffWith(rule) => accounts.extend(&staff[rule]),
            }
        }
        new.extend(accounts.into_iter().map(|account| NewNotification { item, data, account }));
    }
    store::insert(tx, &new, now).await
}

/// Mails, reminders and payment requests.
fn tasks<'a>(app: &App, fan_outs: &'a [FanOut<'_>], now: DateTime<Utc>) -> Result<Vec<New<'a>>> {
    let mut all = Vec::new();
    let mut add = |task: Task, lane, due_at, after| {
        let (topic, queue, payload) = (task.name(), task.queue(), task.payload()?);
        all.push(New { topic, payload, lane, due_at, queue, after });
        Ok::<_, Error>(())
    };
    for FanOut { item, event, unpaid, is_resold, .. } in fan_outs {
        let lane = || Some(format!("mail/{}", outbox::lane(event.subject())));
        if letters::has_letter(event) {
            add(Task::SendLetter(LetterTask::about(event)?), lane(), now, Some(*item))?;
        }
        if *is_resold && letters::is_for_reseller(event) {
            add(Task::TellReseller(LetterTask::about(event)?), lane(), now, None)?;
        }
        let Some(UnpaidBooking { booking_id, remind_at }) = unpaid else { continue };
        let booking_id = *booking_id;
        if let Some(due_at) = *remind_at {
            let reminder = LetterTask::hold_expiring(booking_id);
            add(Task::SendLetter(reminder), None, due_at, None)?;
        }
        if app.gateway().provider != PaymentProvider::Simulator {
            add(Task::RequestPayment(BookingRef { booking_id }), None, now, None)?;
        }
    }
    Ok(all)
}

/// `None`: the entity of the event no longer exists.
async fn fan_out<'a>(
    app: &App,
    item: &'a Item,
    event: DomainEvent,
    bookings: &HashMap<Uuid, BookingRow>,
) -> Result<Option<FanOut<'a>>> {
    use DomainEvent as E;
    let (mut unpaid, id) = (None, event.subject());
    let found = match &event {
        E::BookingCreated(_) => booking_data(bookings.get(&id), None).map(|(booking, data)| {
            unpaid = unpaid_booking(booking);
            (vec![Recipient::Partner(booking.partner_id)], json!(data))
        }),
        E::BookingPaid(_)
        | E::BookingExpired(_)
        | E::BookingCompleted(_)
        | E::BookingRefunded(_) => booking_data(bookings.get(&id), None)
            .map(|(booking, data)| (vec![Recipient::Partner(booking.partner_id)], json!(data))),
        E::BookingCancelled(cancelled) => {
            booking_data(bookings.get(&id), None).map(|(booking, data)| match cancelled {
                // The partner gets one notification about the sailing instead.
                cancelled if cancelled.by_sailing => (vec![], json!(data)),
                _ => (vec![Recipient::Partner(booking.partner_id)], json!(data)),
            })
        }
        E::BookingPassengersCancelled(cancelled) => {
            booking_data(bookings.get(&id), None).map(|(booking, mut data)| {
                let gone = booking.cancelled_passengers.iter();
                let gone = gone.filter(|one| one.cancellation_id == cancelled.cancellation_id);
                data.cancelled_qty = Some(gone.count());
                data.refund_amount =
                    Some(cancelled.refund_amount).filter(|_| booking.reseller_id.is_none());
                (vec![Recipient::Partner(booking.partner_id)], json!(data))
            })
        }
        E::BookingRescheduled(rescheduled) => {
            let difference = Some(rescheduled.difference);
            booking_data(bookings.get(&id), difference).map(|(booking, data)| {
                let mut recipients = vec![Recipient::Partner(booking.partner_id)];
                // The difference has to be paid back manually.
                if rescheduled.difference.0 < 0 && booking.reseller_id.is_none() {
                    recipients.push(Recipient::StaffWith(Rule::BookingsWrite));
                }
                (recipients, json!(data))
            })
        }
        // Only the booker is informed of these, by mail.
        E::BookingMoved(_)
        | E::BookingBoatChanged(_)
        | E::BookingMoveDropped(_)
        | E::BookingDifferenceRefunded(_)
        | E::BookingTicketWanted(_)
        | E::BookingPassengersCorrected(_)
        | E::BookingContactCorrected(_) => {
            booking_data(bookings.get(&id), None).map(|(_, data)| (vec![], json!(data)))
        }
        E::PaymentReview(PaymentReview { reason, amount, .. }) => {
            bookings.get(&id).map(|booking| {
                let (code, amount) = (booking.code.as_str(), *amount);
                let data = PaymentReviewEvent { booking_id: id, code, reason, amount };
                (vec![Recipient::StaffWith(Rule::BookingsWrite)], json!(data))
            })
        }
        E::RefundDue(due) | E::RefundFailed(due) => {
            let refund = refunds::get(&app.db, due.refund_id).await?;
            bookings.get(&id).zip(refund).map(|(booking, refund)| {
                let data = json!(RefundEvent {
                    booking_id: id,
                    code: &booking.code,
                    refund_id: refund.id,
                    refund_code: &refund.code,
                    kind: refund.kind.as_str(),
                    amount: refund.amount,
                    unpaid: refund.unpaid,
                    mitra_id: refund.partner_id,
                    reason: refund.last_error.as_deref(),
                });
                match refund.unpaid {
                    // It was paid at once: nobody has to do anything.
                    Rupiah::ZERO => (vec![], data),
                    _ => (vec![Recipient::StaffWith(Rule::BookingsWrite)], data),
                }
            })
        }
        E::PartnerRegistered(_) => {
            let recipient = Recipient::StaffWith(Rule::PartnersRead);
            partner_data(app, id, None).await?.map(|data| (vec![recipient], data))
        }
        E::PartnerSubmitted(_) | E::PartnerDocumentReplaced(_) | E::PartnerBankChanged(_) => {
            let recipient = Recipient::StaffWith(Rule::PartnersApprove);
            partner_data(app, id, None).await?.map(|data| (vec![recipient], data))
        }
        E::PartnerApproved(partner)
        | E::PartnerRevision(partner)
        | E::PartnerReviewResumed(partner)
        | E::PartnerBankApproved(partner)
        | E::PartnerBankRejected(partner)
        | E::PartnerSuspended(partner)
        | E::PartnerUnsuspended(partner) => {
            let data = partner_data(app, id, partner.reason.as_deref()).await?;
            data.map(|data| (vec![Recipient::Partner(id)], data))
        }
        E::SettlementCreated(_) => settlement_data(app, id).await?.map(|(partner, data)| {
            let mut recipients = vec![Recipient::Partner(partner)];
            // A statement is not released.
            if data["net"].as_i64().is_some_and(|net| net > 0) {
                recipients.push(Recipient::StaffWith(Rule::SettlementsRelease));
            }
            (recipients, data)
        }),
        E::SettlementReturned(_) => settlement_data(app, id).await?.map(|(partner, data)| {
            let releases = Recipient::StaffWith(Rule::SettlementsRelease);
            (vec![Recipient::Partner(partner), releases], data)
        }),
        E::SettlementReleased(_) => settlement_data(app, id)
            .await?
            .map(|(partner, data)| (vec![Recipient::Partner(partner)], data)),
        E::SettlementFailed(_) => settlement_data(app, id)
            .await?
            .map(|(_, data)| (vec![Recipient::StaffWith(Rule::SettlementsRelease)], data)),
        E::SailingCancelled(sailing) => {
            sailing_data(app, id, sailing.bookings, None).await?.map(|(partner, data)| {
                (concerned(partner, sailing.bookings, sailing.by_partner), data)
            })
        }
        E::SailingMoved(sailing) => {
            let was = Some(sailing.was_departure_at);
            sailing_data(app, id, sailing.bookings, was).await?.map(|(partner, data)| {
                (concerned(partner, sailing.bookings, sailing.by_partner), data)
            })
        }
        E::TermsPublished(terms) => {
            let mut recipients = vec![Recipient::StaffWith(Rule::TermsWrite)];
            if terms.kind == "mitra" {
                recipients.push(Recipient::AllPartners);
            }
            let TermsPublished { terms_id, kind, version } = terms;
            let data = TermsEvent { terms_id: *terms_id, kind, version: *version };
            Some((recipients, json!(data)))
        }
    };
    let is_resold = bookings.get(&id).is_some_and(|booking| booking.reseller_id.is_some());
    let is_news = is_resold && !matches!(event, E::BookingCreated(_));
    let fan_out =
        |(recipients, data)| FanOut { item, event, recipients, data, unpaid, is_resold, is_news };
    Ok(found.map(fan_out))
}

fn booking_data(
    booking: Option<&BookingRow>,
    difference: Option<Rupiah>,
) -> Option<(&BookingRow, BookingEvent<'_>)> {
    let booking = booking?;
    // What a reseller pays is not for partners.
    let shown = |amount: Rupiah| booking.reseller_id.is_none().then_some(amount);
    let data = BookingEvent {
        booking_id: booking.id,
        code: &booking.code,
        mitra_id: booking.partner_id,
        from: &booking.joined.from_name,
        to: &booking.joined.to_name,
        departure_at: booking.departure_at,
        qty: booking.qty,
        total: shown(booking.total),
        refund_amount: booking.refund_amount.and_then(shown),
        difference: difference.and_then(shown),
        cancelled_qty: None,
    };
    Some((booking, data))
}

fn unpaid_booking(booking: &BookingRow) -> Option<UnpaidBooking> {
    let remind_at = booking.expires_at - REMINDER;
    // A reseller pays on account.
    let is_unpaid =
        booking.status == BookingStatus::PendingPayment && booking.reseller_id.is_none();
    is_unpaid.then(|| UnpaidBooking {
        booking_id: booking.id,
        remind_at: (remind_at > booking.created_at).then_some(remind_at),
    })
}

async fn partner_data(app: &App, id: Uuid, reason: Option<&str>) -> Result<Option<Value>> {
    let partner = partners::find(&app.db, id).await?;
    let data = |name: &str| json!(PartnerEvent { mitra_id: id, name, reason });
    Ok(partner.map(|partner| data(&partner.name)))
}

async fn settlement_data(app: &App, id: Uuid) -> Result<Option<(Uuid, Value)>> {
    let Some(settlement) = settlements::find(app, id).await? else { return Ok(None) };
    let data = json!(SettlementEvent {
        settlement_id: id,
        code: &settlement.code,
        mitra_id: settlement.partner_id,
        net: settlement.net,
        reason: settlement.failure.as_deref(),
    });
    Ok(Some((settlement.partner_id, data)))
}

async fn sailing_data(
    app: &App,
    id: Uuid,
    bookings: usize,
    was_departure_at: Option<DateTime<Utc>>,
) -> Result<Option<(Uuid, Value)>> {
    let Some(sailing) = sailings::sailing(&app.db, None, id).await? else { return Ok(None) };
    let data = json!(SailingEvent {
        sailing_id: id,
        mitra_id: sailing.mitra_id,
        from: &sailing.from_name,
        to: &sailing.to_name,
        departure_at: sailing.departure_at,
        was_departure_at,
        reason: sailing.reason.as_deref(),
        bookings,
    });
    Ok(Some((sailing.mitra_id, data)))
}

/// Who is notified of a change of a sailing. Without bookings staff need not act, and only a partner
/// that did not make the change is notified.
fn concerned(partner: Uuid, bookings: usize, by_partner: bool) -> Vec<Recipient> {
    match (bookings, by_partner) {
        (0, true) => vec![],
        (0, false) => vec![Recipient::Partner(partner)],
        _ => vec![Recipient::Partner(partner), Recipient::StaffWith(Rule::BookingsWrite)],
    }
}
