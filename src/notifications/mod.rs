//! What follows from what happened: people are told, letters are written, other systems hear of it.
//!
//! - A domain puts an event into the outbox in the transaction that causes it. Here, in one more
//!   transaction with other events, it becomes notifications and further items of the outbox (a
//!   letter, a webhook), and is gone: each follows exactly once from it, and none waits for another.
//! - The events of one thing are dealt with in order, and so are its letters and webhooks.
//! - A notification keeps what it is about; its words are found when it is read, in the reader's
//!   language. It is its owner's alone.

mod fan_out;
mod http;
mod hub;
mod letters;
mod model;
mod store;
mod stream;
mod words;

use chrono::TimeDelta;

use crate::{app::App, jobs::Job, kernel::error::Result};

pub use fan_out::deliver;
pub use http::{
    get_notification, list_notifications, list_notifications_of, read_all_notifications,
    read_notification,
};
pub use hub::Hub;
pub use letters::send_letter;
pub use stream::stream_notifications;

/// Shows new notifications to those who are looking, until dropped.
pub async fn show_for_ever(app: &App, job: &Job) {
    hub::show_for_ever(app, job).await;
}

/// Forgets what is older than a year.
pub async fn sweep(app: &App) -> Result<()> {
    store::forget(&app.db, app.clock.now() - TimeDelta::days(365)).await
}
