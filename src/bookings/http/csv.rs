//! The list of bookings as a file. It has no identity numbers and no ticket codes.

use crate::{
    bookings::{lookup::Readable, model::BookingRow, store, view::Booking},
    kernel::{
        csv::harmless,
        db::Db,
        error::Result,
        http::{
            PageOrCsv,
            export::{self, Row, plain, words},
        },
        ids::Uuid,
    },
};

const HEADER: &[&str] = &[
    "code",
    "status",
    "type",
    "channel",
    "from",
    "to",
    "departure_at",
    "arrival_at",
    "speedboat",
    "mitra",
    "contact_name",
    "contact_email",
    "contact_phone",
    "qty",
    "passengers",
    "note",
    "code_promo",
    "unit_price",
    "subtotal",
    "discount",
    "tax",
    "total",
    "payment_method",
    "paid_at",
    "expires_at",
    "cancelled_at",
    "cancel_reason",
    "refund_amount",
    "owed",
    "created_at",
    "reseller",
    "margin",
];

pub fn file(db: Db, ids: Vec<Uuid>, readable: Readable) -> Result<PageOrCsv<Booking>> {
    export::csv("bookings", HEADER, ids, move |ids| {
        let db = db.clone();
        async move {
            let rows = store::get_all_long(&db, &ids).await?;
            Ok(rows.iter().map(|booking| (booking.id, row(booking, readable))).collect())
        }
    })
}

fn row(booking: &BookingRow, readable: Readable) -> Row {
    let price = readable.price(booking.price());
    let joined = &booking.joined;
    let names: Vec<_> = booking.passengers.iter().map(|one| one.name.as_str()).collect();
    vec![
        booking.code.clone(),
        booking.status.to_string(),
        booking.kind.to_string(),
        booking.channel.to_string(),
        harmless(&joined.from_name),
        harmless(&joined.to_name),
        booking.departure_at.to_rfc3339(),
        booking.arrival_at.to_rfc3339(),
        harmless(&joined.speedboat_name),
        harmless(&joined.partner_name),
        harmless(&booking.contact_name),
        harmless(&booking.contact_email),
        // In E.164, which begins with a plus.
        harmless(&booking.contact_phone),
        booking.qty.to_string(),
        harmless(&names.join(", ")),
        harmless(&booking.note),
        words(booking.code_promo.as_deref()),
        price.unit_price.0.to_string(),
        price.subtotal.0.to_string(),
        price.discount.0.to_string(),
        price.tax.0.to_string(),
        price.total.0.to_string(),
        words(joined.payment_method.as_deref()),
        plain(booking.paid_at.map(|at| at.to_rfc3339())),
        booking.expires_at.to_rfc3339(),
        plain(booking.cancelled_at.map(|at| at.to_rfc3339())),
        words(booking.cancel_reason.as_deref()),
        plain(readable.refund(booking).map(|amount| amount.0)),
        joined.owed.0.to_string(),
        booking.created_at.to_rfc3339(),
        words(joined.reseller_name.as_deref()),
        plain(price.margin.map(|margin| margin.0)),
    ]
}
