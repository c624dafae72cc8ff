//! Which event concerns whom, and what else follows from it.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{Due, store};
use crate::{
    app::App,
    bookings::{self, BookingStatus},
    config::PaymentProvider,
    kernel::{
        access::Rule,
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
        outbox::{self, Item, New, Queue},
    },
    partners, sailings, settlements, webhooks,
};

/// Somebody who has to know.
enum Who {
    Partner(Uuid),
    AllPartners,
    Those(Rule),
}

struct Event {
    who: Vec<Who>,
    /// The ids and codes concerned.
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

/// Turns the event into what follows from it, and removes it, in one transaction.
pub async fn deliver(app: &App, item: &Item) -> Result<()> {
    let event = event(app, item).await?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    if !outbox::done(&mut tx, item).await? {
        // Somebody else has it by now.
        return Ok(());
    }
    if let Some(event) = event {
        tell(&mut tx, item, &event, now).await?;
        follow(app, &mut tx, item, &event, now).await?;
    }
    tx.commit().await?;
    app.hub.wake();
    Ok(())
}

async fn tell(tx: &mut Tx, item: &Item, event: &Event, now: DateTime<Utc>) -> Result<()> {
    let mut accounts = Vec::new();
    for who in &event.who {
        accounts.extend(match who {
            Who::Partner(id) => store::account_of(tx, *id).await?,
            Who::AllPartners => store::all_partners(tx).await?,
            Who::Those(rule) => store::those_with(tx, *rule).await?,
        });
    }
    accounts.sort();
    accounts.dedup();
    store::insert(tx, item.id, &item.topic, &event.data, &accounts, now).await
}

async fn follow(
    app: &App,
    tx: &mut Tx,
    item: &Item,
    event: &Event,
    now: DateTime<Utc>,
) -> Result<()> {
    webhooks::queue(tx, item, event.about, &event.data, now).await?;
    if event.letter {
        let payload = &Due { event: item.topic.clone(), news: item.payload.clone() };
        let lane = Some(format!("mail/{}", outbox::lane(event.about)));
        let (queue, after) = (Queue::Mail, Some(item));
        let new = New { topic: "mail.letter", payload, lane, due_at: now, queue, after };
        outbox::put_new(tx, new, now).await?;
    }
    if let Some(due_at) = event.remind_at {
        let payload = &Due { event: "booking.expiring".into(), news: item.payload.clone() };
        let (queue, after) = (Queue::Mail, None);
        let new = New { topic: "mail.letter", payload, lane: None, due_at, queue, after };
        outbox::put_new(tx, new, now).await?;
    }
    if event.pays && app.gateway.provider != PaymentProvider::Simulator {
        outbox::put(tx, Queue::Payment, "payment.wanted", &item.payload, now).await?;
    }
    Ok(())
}

fn id_in(item: &Item, name: &str) -> Result<Uuid> {
    let id = item.payload[name].as_str().and_then(|id| id.parse().ok());
    id.ok_or_else(|| Error::internal(format!("{} says no {name}", item.topic)))
}

/// `None`: what it was about is gone.
async fn event(app: &App, item: &Item) -> Result<Option<Event>> {
    let plain =
        |who, data, about| Event { who, data, about, letter: false, remind_at: None, pays: false };
    Ok(match item.topic.split_once('.') {
        Some(("booking", what)) => {
            let id = id_in(item, "booking_id")?;
            let Some(booking) = bookings::get(&app.db, id).await? else { return Ok(None) };
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
            let Some(booking) = bookings::get(&app.db, id).await? else { return Ok(None) };
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
