//! Mailing the codes of an address's bookings to it.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    bookings::store,
    events::{self, FoundBookings, Task},
    kernel::{
        caller::Context,
        email::Email,
        error::Result,
        http::{Body, Reply},
        schema::Input,
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct FindBookings {
    /// The contact address of the bookings.
    pub email: Email,
}

impl Input for FindBookings {}

/// Does the same work for every address; bookings are looked up after the response. More than three
/// requests per address and hour are ignored, without saying so.
pub async fn find_bookings(
    State(app): State<App>,
    context: Context,
    Body(FindBookings { email }): Body<FindBookings>,
) -> Result<Reply> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    if store::count_lookup(&mut tx, &app.address_hasher.hash(&email), now).await? {
        let wanted = Task::SendFoundBookings(FoundBookings { email, lang: context.lang });
        events::enqueue(&mut tx, &wanted, now).await?;
    }
    tx.commit().await?;
    Ok(Reply::done(
        "If there are bookings of this address, their codes have been sent to it.",
        "Jika ada pemesanan untuk alamat ini, kodenya sudah dikirim.",
    ))
}
