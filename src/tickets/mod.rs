//! Tickets of passengers.
//!
//! - A ticket is a signed statement that a passenger may board a sailing. It is not stored; it can be
//!   generated at any time and verified offline.
//! - Every passenger of a paid booking has one.

mod http;
mod page;

use crate::{
    app::App,
    bookings::{BookingRow, has_ticket},
    kernel::{
        error::{Error, Result},
        mail::Attachment,
    },
};

pub use crate::ticket_codes::{Ticket, TicketKeys};
pub use http::{get_ticket, get_ticket_key, resend_ticket};

/// The tickets as a mail attachment; `None` if the booking has none.
pub async fn attachment(app: &App, booking: BookingRow) -> Result<Option<Attachment>> {
    if !has_ticket(booking.status) {
        return Ok(None);
    }
    let name = file_name(&booking);
    let pdf = drawn(app, booking).await?;
    Ok(Some(Attachment { name, pdf }))
}

fn file_name(booking: &BookingRow) -> String {
    format!("{}.pdf", booking.code)
}

/// Rendered on a blocking thread, because it takes milliseconds.
async fn drawn(app: &App, booking: BookingRow) -> Result<Vec<u8>> {
    let _turn = app.drawings.acquire().await.map_err(Error::internal)?;
    let app = app.clone();
    let drawn = tokio::task::spawn_blocking(move || page::draw(&app, &booking)).await;
    drawn.map_err(Error::internal).flatten()
}
