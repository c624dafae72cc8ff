//! Which event concerns whom, and what else follows from it.

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::store::{self, Told};
use crate::{
    app::App,
    bookings::{self, BookingRow, BookingStatus},
    config::PaymentProvider,
    kernel::{
        access::Rule,
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        outbox::{self, Item, New, Queue},
    },
    partners, sailings, settlements,
    webhooks::{self, News},
};

/// Somebody who has to know.
enum Who {
    Partner(Uuid),
    AllPartners,
    Those(Rule),
}

impl Who {
    fn partner(&self) -> Option<Uuid> {
        if let Self::Partner(id) = self { Some(*id) } else { None }
    }

    fn rule(&self) -> Option<Rule> {
        if let Self::Those(rule) = self { Some(*rule) } else { None }
    }
}

struct Event {
    who: Vec<Who>,
    /// Ids and codes that the notification refers to.
    data: Value,
    /// What it happened to.
    about: Uuid,
    letter: bool,
    /// When a reminder is due, and that a payment has to be asked for: of a new booking.
    remind_at: Option<DateTime<Utc>>,
    pays: bool,
}

/// How long before their end holders of unpaid seats are reminded.
const REMINDER: TimeDelta = TimeDelta::minutes(10);

/// Turns events into what follows from them, and removes them, in one transaction: all or none.
pub async fn deliver(app: &App, items: &[Item]) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let bookings = bookings_of(app, items).await?;
    let mut events = Vec::with_capacity(items.len());
    for item in items {
        // Unless what it was about is gone.
        if let Some(event) = event(app, item, &bookings).await? {
            events.push((item, event));
        }
    }
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let ours = outbox::done_all(&mut tx, items).await?;
    events.retain(|(item, _)| ours.contains(&item.id));
    tell(&mut tx, &events, now).await?;
    let news = events.iter();
    let news = news.map(|(item, event)| News { item, about: event.about, data: &event.data });
    webhooks::queue(&mut tx, &news.collect::<Vec<_>>(), now).await?;
    outbox::put_many(&mut tx, &follow(app, &events, now), now).await?;
    tx.commit().await?;
    app.hub.wake();
    Ok(())
}

/// What many events are about, in one statement.
async fn bookings_of(app: &App, items: &[Item]) -> Result<HashMap<Uuid, BookingRow>> {
    let ids: BTreeSet<_> = items.iter().filter_map(|item| id_in(item, "booking_id").ok()).collect();
    let ids: Vec<_> = ids.into_iter().collect();
    let bookings = bookings::get_all(&app.db, &ids).await?;
    Ok(bookings.into_iter().map(|booking| (booking.id, booking)).collect())
}

async fn tell(tx: &mut Tx, events: &[(&Item, Event)], now: DateTime<Utc>) -> Result<()> {
    let who = || events.iter().flat_map(|(_, event)| &event.who);
    let partners: BTreeSet<_> = who().filter_map(Who::partner).collect();
    let partners = store::accounts_of(tx, &partners.into_iter().collect::<Vec<_>>()).await?;
    let mut ruled = HashMap::new();
    for rule in who().filter_map(Who::rule) {
        if let Entry::Vacant(vacant) = ruled.entry(rule) {
            vacant.insert(store::those_with(tx, rule).await?);
        }
    }
    let mut told = Vec::new();
    for (item, event) in events {
        let mut accounts = BTreeSet::new();
        for who in &event.who {
            match who {
                Who::Partner(id) => accounts.extend(partners.get(id)),
                Who::AllPartners => accounts.extend(store::all_partners(tx).await?),
                Who::Those(rule) => accounts.extend(&ruled[rule]),
            }
        }
        told.extend(accounts.into_iter().map(|account| Told { item, data: &event.data, account }));
    }
    store::insert(tx, &told, now).await
}

/// Letters, reminders and payments that have to be asked for.
fn follow<'a>(app: &App, events: &'a [(&Item, Event)], now: DateTime<Utc>) -> Vec<New<'a>> {
    let mut all = Vec::new();
    for (item, event) in events {
        let letter = |about: &str| json!({ "event": about, "news": item.payload });
        let (topic, queue) = ("mail.letter", Queue::Mail);
        if event.letter {
            let (payload, after) = (letter(&item.topic), Some(*item));
            let lane = Some(format!("mail/{}", outbox::lane(event.about)));
            all.push(New { topic, payload, lane, due_at: now, queue, after });
        }
        if let Some(due_at) = event.remind_at {
            let payload = letter("booking.expiring");
            all.push(New { topic, payload, lane: None, due_at, queue, after: None });
        }
        if event.pays && app.gateway.provider != PaymentProvider::Simulator {
            let (topic, queue, payload) = ("payment.wanted", Queue::Payment, item.payload.clone());
            all.push(New { topic, payload, lane: None, due_at: now, queue, after: None });
        }
    }
    all
}

fn id_in(item: &Item, name: &str) -> Result<Uuid> {
    let id = item.payload[name].as_str().and_then(|id| id.parse().ok());
    id.ok_or_else(|| Error::internal(format!("{} says no {name}", item.topic)))
}

/// `None`: what it was about is gone.
async fn event(
    app: &App,
    item: &Item,
    bookings: &HashMap<Uuid, BookingRow>,
) -> Result<Option<Event>> {
    let plain =
        |who, data, about| Event { who, data, about, letter: false, remind_at: None, pays: false };
    Ok(match item.topic.split_once('.') {
        Some(("booking", what)) => {
            let id = id_in(item, "booking_id")?;
            let Some(booking) = bookings.get(&id) else { return Ok(None) };
            let data = json!({
                "booking_id": id, "code": booking.code, "mitra_id": booking.partner_id,
                "from": booking.from_name, "to": booking.to_name,
                "departure_at": booking.departure_at, "qty": booking.qty, "total": booking.total,
                "refund_amount": booking.refund_amount, "difference": item.payload["difference"],
            });
            let fresh = what == "created" && booking.status == BookingStatus::PendingPayment;
            let remind_at = booking.expires_at - REMINDER;
            let who = match what {
                // Between the service and the booker.
                "ticket_wanted" | "moved" | "move_dropped" | "difference_refunded" => vec![],
                // They hear of the sailing as a whole.
                _ if item.payload["by_sailing"] == true => vec![],
                // Somebody has to pay it back.
                "rescheduled" if item.payload["difference"].as_i64().is_some_and(|d| d < 0) => {
                    vec![Who::Partner(booking.partner_id), Who::Those(Rule::BookingsWrite)]
                }
                _ => vec![Who::Partner(booking.partner_id)],
            };
            Some(Event {
                letter: what != "completed",
                remind_at: (fresh && remind_at > booking.created_at).then_some(remind_at),
                pays: fresh,
                ..plain(who, data, id)
            })
        }
        Some(("sailing", _)) => {
            let id = id_in(item, "sailing_id")?;
            let Some(voyage) = sailings::voyage(&app.db, None, id).await? else {
                return Ok(None);
            };
            let data = json!({
                "sailing_id": id, "mitra_id": voyage.mitra_id, "from": voyage.from_name,
                "to": voyage.to_name, "departure_at": voyage.departure_at,
                "was_departure_at": item.payload["was_departure_at"],
                "reason": voyage.reason, "bookings": item.payload["bookings"],
            });
            let who = vec![Who::Partner(voyage.mitra_id), Who::Those(Rule::BookingsWrite)];
            Some(plain(who, data, id))
        }
        Some(("payment", "review")) => {
            let id = id_in(item, "booking_id")?;
            let Some(booking) = bookings.get(&id) else { return Ok(None) };
            let data = json!({
                "booking_id": id, "code": booking.code, "reason": item.payload["reason"],
                "amount": item.payload["amount"],
            });
            Some(plain(vec![Who::Those(Rule::BookingsWrite)], data, id))
        }
        Some(("partner", what)) => {
            let id = id_in(item, "partner_id")?;
            let Some(partner) = partners::find(&app.db, id).await? else { return Ok(None) };
            let data = json!({
                "mitra_id": id, "name": partner.name, "reason": item.payload["reason"],
            });
            let who = match what {
                "registered" => Who::Those(Rule::PartnersRead),
                "submitted" => Who::Those(Rule::PartnersApprove),
                _ => Who::Partner(id),
            };
            Some(Event { letter: true, ..plain(vec![who], data, id) })
        }
        Some(("settlement", what)) => {
            let id = id_in(item, "settlement_id")?;
            let Some(settlement) = settlements::find(app, id).await? else { return Ok(None) };
            let data = json!({
                "settlement_id": id, "code": settlement.code, "mitra_id": settlement.partner_id,
                "net": settlement.net,
            });
            let mut who = vec![Who::Partner(settlement.partner_id)];
            if what == "created" {
                who.push(Who::Those(Rule::SettlementsRelease));
            }
            Some(Event { letter: what == "released", ..plain(who, data, id) })
        }
        Some(("terms", "published")) => {
            let mut who = vec![Who::Those(Rule::TermsWrite)];
            if item.payload["type"] == "mitra" {
                who.push(Who::AllPartners);
            }
            Some(plain(who, item.payload.clone(), id_in(item, "terms_id")?))
        }
        _ => return Err(Error::internal(format!("nobody takes {}", item.topic))),
    })
}
