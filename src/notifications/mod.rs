//! What follows from what happened: people are told, letters are written, other systems hear of it.
//!
//! - A domain puts an event into the outbox in the transaction that causes it. Here, in one more
//!   transaction with other events, it becomes notifications and further items of the outbox (a
//!   letter, a webhook), and is gone: each follows exactly once from it, and none waits for another.
//! - The events of one thing are dealt with in order, and so are its letters and webhooks.
//! - A notification keeps what it is about; its words are found when it is read, in the reader's
//!   language. It is its owner's alone.

mod events;
mod http;
mod hub;
mod model;
mod store;
mod stream;
mod words;

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    app::App,
    bookings,
    kernel::{
        error::{Error, Result},
        mail::Letter,
        outbox::Item,
    },
    partners, settlements, tickets,
};

pub use events::deliver;
pub use http::{
    get_notification, list_notifications, list_notifications_of, read_all_notifications,
    read_notification,
};
pub use hub::{Hub, run_publish_loop};
pub use stream::stream_notifications;

/// A letter that is to be written.
#[derive(Deserialize)]
struct Due {
    event: String,
    news: Value,
}

/// Writes the letter of an event and sends it.
pub async fn send_letter(app: &App, item: &Item) -> Result<()> {
    let Due { event, news } = item.read()?;
    let letter = match event.split_once('.') {
        Some(("booking", _)) => with_ticket(app, &event, &news).await?,
        Some(("partner", _)) => partners::letter(app, &event, &news).await?,
        Some(("settlement", _)) => settlements::letter(app, &event, &news).await?,
        _ => return Err(Error::internal(format!("nobody writes about {event}"))),
    };
    match letter {
        Some(letter) => app.mailer.send(item.id, &letter).await,
        None => Ok(()),
    }
}

/// The letter about a booking, with its tickets where they are new to the booker.
async fn with_ticket(app: &App, event: &str, news: &Value) -> Result<Option<Letter>> {
    let Some((letter, booking)) = bookings::letter(app, event, news).await? else {
        return Ok(None);
    };
    let attachment = match event {
        "booking.paid" | "booking.ticket_wanted" | "booking.moved" | "booking.rescheduled" => {
            tickets::attachment(app, booking).await?
        }
        _ => None,
    };
    Ok(Some(Letter { attachment, ..letter }))
}

/// Forgets what is older than a year.
pub async fn sweep(app: &App) -> Result<()> {
    store::forget(&app.db, app.clock.now() - TimeDelta::days(365)).await
}
