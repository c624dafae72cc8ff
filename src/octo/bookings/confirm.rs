//! Confirming a hold: it goes on the account of the reseller.

use super::{
    change::{self, ChangeForm},
    find, items,
    store::{self, Row},
    trip_of,
    view::Status,
    visible,
};
use crate::{
    app::App,
    bookings,
    events::{self, BookingRef, DomainEvent},
    kernel::{error::Error, patch::Patch},
    ledger::{self, Account, Posting, Source},
    octo::{
        access::Client,
        error::{Problem, Result},
        params::Params,
        request::Fields,
    },
    resellers,
};

pub async fn confirm(
    app: &App,
    client: &Client,
    params: &Params,
    fields: Fields<'_>,
) -> Result<Row> {
    let form = ChangeForm::read(fields)?;
    let uuid = params.booking()?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    store::lock(&mut tx, client.reseller_id, uuid).await?;
    let row = visible(client, store::get_in(&mut tx, client.reseller_id, uuid).await?, uuid)?;
    match row.status(now) {
        Status::OnHold => {}
        // Again: the same answer.
        Status::Confirmed | Status::Redeemed => return Ok(row),
        Status::Expired => return Err(Problem::booking(uuid.to_string())),
        Status::Cancelled => {
            return Err(Problem::unprocessable(
                "This booking is cancelled.",
                "Pemesanan ini sudah dibatalkan.",
            ));
        }
    }
    if !matches!(form.contact, Patch::Set(_)) {
        return Err(Problem::bad_request("`contact` is required.", "`contact` wajib diisi."));
    }
    let _invalidation = app.response_cache.invalidate_on_drop([trip_of(&row)]);
    let passengers = change::change_hold(app, client, &mut tx, &row, &form, None, now).await?;
    change::write_texts(&mut tx, &row, &form, passengers, now).await?;
    // As it was changed.
    let row = visible(client, store::get_in(&mut tx, client.reseller_id, uuid).await?, uuid)?;
    items::ensure_named(&row.line, &row.passengers)?;
    store::insert_payment(&mut tx, &row, now).await?;
    if !bookings::pay_held(&mut tx, row.id, row.total, now).await? {
        return Err(Problem::Failed(Error::Contention("the hold has ended".into())));
    }
    let posting = Posting::new(Source::Booking, row.id, "paid")
        .about_booking(row.id)
        .of_reseller(Some(client.reseller_id))
        .debit(Account::ResellerReceivable, row.total)
        .credit(Account::CustomerDeposits, row.total);
    ledger::post(&mut tx, posting, now).await?;
    resellers::ensure_credit(&mut tx, client.reseller_id, now).await?;
    let event = DomainEvent::BookingPaid(BookingRef { booking_id: row.id });
    events::emit(&mut tx, event, now).await?;
    tx.commit().await?;
    app.db.notify_outbox();
    find(app, client, uuid).await
}
