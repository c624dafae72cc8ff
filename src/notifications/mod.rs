//! Fan-out of domain events to notifications, mails and webhooks.
//!
//! - A domain inserts an event into the outbox in the transaction that causes it. Here a batch of
//!   events becomes notifications and further items of the outbox (mails, webhook deliveries) in
//!   one transaction, which also removes the events. So each effect is created exactly once, and
//!   their deliveries are independent of one another.
//! - The events of one entity are handled in order, and so are its mails and webhooks.
//! - A notification stores its event and the ids concerned. Its text is rendered when it is read,
//!   in the reader's language. Only its owner can read it.

mod fan_out;
mod http;
mod hub;
mod letters;
mod model;
mod store;
mod stream;
mod texts;

use chrono::TimeDelta;

use crate::{
    app::App,
    kernel::{error::Result, supervisor::Job},
};

pub use fan_out::deliver;
pub use http::{
    get_notification, list_notifications, list_notifications_of, read_all_notifications,
    read_notification,
};
pub use hub::Hub;
pub use letters::{
    send_found_bookings, send_letter, send_tickets, tell_former_contact, tell_reseller,
};
pub use stream::stream_notifications;

/// Publishes new notifications to open streams, until dropped.
pub async fn run_publish_loop(app: &App, job: &Job) {
    hub::run_publish_loop(app, job).await;
}

/// Deletes notifications older than a year.
pub async fn sweep(app: &App) -> Result<()> {
    store::delete_before(&app.db, app.clock.now() - TimeDelta::days(365)).await
}
