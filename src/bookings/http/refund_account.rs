//! The bank account for refunds that the payment provider cannot send.

use axum::extract::State;

use super::PathOwnBooking;
use crate::{
    app::App,
    bookings::{
        forms::RefundAccountForm,
        lookup::{Readable, ensure_same_contact, to_response},
        model::{BookingRow, RefundAccount},
        rules::Actor,
        store,
        view::Booking,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        db::Tx,
        error::{Error, Result},
        http::{Body, Reply},
        ids::Uuid,
        money::Rupiah,
    },
};

/// Stated by the booker or staff, while a refund is due. A partner has no part in refunds of the
/// platform.
pub async fn set_refund_account(
    State(app): State<App>,
    caller: Option<Caller>,
    path: PathOwnBooking,
    Body(form): Body<RefundAccountForm>,
) -> Result<Reply<Booking>> {
    let (booking, actor) = path.authorize(&app, &form.credentials).await?;
    if actor == Actor::Partner {
        return Err(Error::Forbidden);
    }
    let account = RefundAccount {
        bank_code: form.bank_code.to_string(),
        account_number: form.account_number.into(),
        account_name: form.account_name.to_string(),
    };
    let sealed = account.seal(&app.sealer)?;
    let now = app.clock.now();
    let after = match &caller {
        None => {
            let mut tx = app.db.begin().await?;
            let (before, after) = replace(&app, &mut tx, booking.id, &sealed).await?;
            ensure_same_contact(&booking, &before)?;
            if store::has_contact_by_partner(&mut tx, booking.id).await? {
                return Err(contact_replaced());
            }
            tx.commit().await?;
            after
        }
        Some(caller) => {
            let mut tx = caller.begin(&app.db, now).await?;
            let (before, after) = replace(&app, &mut tx, booking.id, &sealed).await?;
            tx.record(Change {
                action: "booking.refund_account_set",
                entity: "booking",
                id: booking.id,
                before: Some(&to_response(&app, before, Readable::AUDITED)?),
                after: Some(&to_response(&app, after.clone(), Readable::AUDITED)?),
            })
            .await?;
            tx.commit().await?;
            after
        }
    };
    let answer = to_response(&app, after, Readable::by(caller.as_ref()))?;
    Ok(Reply::data(answer).saying("Saved.", "Tersimpan."))
}

/// A partner could otherwise have refunds of the platform sent to an account of its own.
fn contact_replaced() -> Error {
    Error::conflict(
        "contact_replaced",
        "The partner has replaced the contact of this booking. Ask us to record the account.",
        "Mitra telah mengganti kontak pemesanan ini. Minta kami mencatat rekeningnya.",
    )
}

/// Returns the booking before and after.
async fn replace(
    app: &App,
    tx: &mut Tx,
    id: Uuid,
    sealed: &str,
) -> Result<(BookingRow, BookingRow)> {
    store::lock_row(tx, id).await?;
    let before = store::get_in(tx, id).await?.ok_or(Error::NotFound)?;
    if before.joined.owed == Rupiah::ZERO {
        return Err(Error::invalid_state(
            "No refund of this booking is due.",
            "Tidak ada pengembalian dana untuk pemesanan ini.",
        ));
    }
    if before.was_paid_in_cash() {
        return Err(Error::conflict(
            "paid_in_cash",
            "This booking was paid in cash and is refunded in cash.",
            "Pemesanan ini dibayar tunai dan dikembalikan tunai.",
        ));
    }
    store::set_refund_account(tx, id, sealed, app.clock.now()).await?;
    let mut after = before.clone();
    after.stored.refund_account = Some(sealed.to_owned());
    Ok((before, after))
}
