//! Tickets: what lets a passenger on board.
//!
//! - A ticket is a signed sentence: this passenger may board this sailing. Nothing of it is stored;
//!   it can be written again at any time, and checked without the network.
//! - There is one for each passenger of a booking that is paid, and for nobody else.

mod code;
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

pub use code::{Ticket, TicketKeys, place};
pub use http::{get_ticket, get_ticket_key, resend_ticket};

/// The tickets of a booking as they go with a letter; `None` when it has none.
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

/// Off the threads that answer requests: it takes milliseconds.
async fn drawn(app: &App, booking: BookingRow) -> Result<Vec<u8>> {
    let _turn = app.drawings.acquire().await.map_err(Error::internal)?;
    let app = app.clone();
    let drawn = tokio::task::spawn_blocking(move || page::draw(&app, &booking)).await;
    drawn.map_err(Error::internal).flatten()
}
