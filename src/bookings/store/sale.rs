//! The SQL of a sale.

use crate::kernel::db::Json;

use crate::{
    bookings::model::{NewBooking, SailingContext},
    kernel::{
        db::{Db, Statement},
        error::Result,
        ids::Uuid,
        money::{BaseFactor, Rate},
    },
    taxes::{AppliesTo, TaxRate},
};

/// Everything that a sale reads: the sailing, joined with each tax in force.
pub const SELECT_OFFER: &str =
    "SELECT s.id AS sailing_id, s.status AS sailing_status, s.departure_at,
      s.arrival_at, s.price AS seat_price, s.capacity, s.seats_taken, s.chartered,
      s.manifest_closed_at, s.cutoff_minutes, l.fares, r.id AS route_id, r.from_name, r.to_name,
      r.timezone, r.arrival_timezone, s.from_harbour_id, s.to_harbour_id,
      b.id AS speedboat_id, b.name AS speedboat_name, b.status AS speedboat_status,
      p.id AS partner_id, a.name AS partner_name, p.status AS partner_status,
      p.verified_at AS partner_verified_at,
      COALESCE(p.commission_rate, (SELECT c.commission_rate
        FROM settlement_configurations c WHERE c.partner_id IS NULL)) AS commission_rate,
      t.code AS tax_code, t.name AS tax_name, t.rate AS tax_rate, t.base_numerator,
      t.base_denominator, t.applies_to AS tax_applies_to
    FROM sailings s
    JOIN routes r ON r.id = s.route_id
    JOIN lines l ON l.id = s.line_id
    JOIN speedboats b ON b.id = s.speedboat_id
    JOIN partners p ON p.id = s.partner_id
    JOIN accounts a ON a.id = p.account_id
    LEFT JOIN taxes t ON t.is_active
    WHERE s.id = $1 ORDER BY t.code";

#[derive(crate::kernel::db::FromRow)]
struct OfferRow {
    #[row(flatten)]
    sailing: SailingContext,
    tax_code: Option<String>,
    tax_name: Option<String>,
    tax_rate: Option<Rate>,
    base_numerator: Option<i32>,
    base_denominator: Option<i32>,
    tax_applies_to: Option<AppliesTo>,
}

impl OfferRow {
    fn tax(&self) -> Option<TaxRate> {
        Some(TaxRate {
            code: self.tax_code.clone()?,
            name: self.tax_name.clone()?,
            rate: self.tax_rate?,
            base_factor: BaseFactor::new(self.base_numerator?, self.base_denominator?)?,
            applies_to: self.tax_applies_to?,
        })
    }
}

/// The sailing and the taxes, ordered by code.
pub async fn offer(db: &Db, sailing: Uuid) -> Result<Option<(SailingContext, Vec<TaxRate>)>> {
    let rows: Vec<OfferRow> = db.sql(SELECT_OFFER).bind(sailing).all().await?;
    let taxes = rows.iter().filter_map(OfferRow::tax).collect();
    Ok(rows.into_iter().next().map(|row| (row.sailing, taxes)))
}

/// The triggers of the table take the seats and the promotion, count an unpaid hold, open the first
/// payment and insert the event.
pub const INSERT_BOOKING: &str =
    "INSERT INTO bookings (id, code, type, status, channel, sailing_id,
      speedboat_id, partner_id, departure_at, arrival_at, qty, seats, promotion_id, code_promo,
      note, contact_name, contact_email, contact_phone, lang, passengers, accepted_terms, provider,
      unit_price, subtotal, discount, taxes, tax, total, commission_rate, commission,
      commission_taxes, commission_tax, partner_discount, partner_net, expires_at, paid_at,
      created_at, updated_at, held_email, held_network, accepted_terms_id, fare_lines,
      margin, reseller_id, octo_uuid, reseller_reference, day_ticket, octo_contact, request_digest,
      surcharge)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
      $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $37, $38,
      $39,
      CASE WHEN $21 THEN (SELECT t.id FROM terms t
        WHERE t.type = 'customer' AND t.status = 'published') END, $40, $41, $42, $43, $44, $45, $46,
      $47, $48)";

/// Binds the values of a new booking to [`INSERT_BOOKING`].
pub fn bind_new<'s>(statement: Statement<'s>, new: &NewBooking) -> Statement<'s> {
    let (price, counted, resold) = (&new.price, new.counted.as_ref(), new.resold.as_ref());
    statement
        .bind(new.id)
        .bind(new.code.clone())
        .bind(new.kind)
        .bind(new.status)
        .bind(new.channel)
        .bind(new.sailing_id)
        .bind(new.speedboat_id)
        .bind(new.partner_id)
        .bind(new.departure_at)
        .bind(new.arrival_at)
        .bind(new.qty)
        .bind(new.seats)
        .bind(new.promotion_id)
        .bind(new.code_promo.clone())
        .bind(new.note.clone())
        .bind(new.contact_name.clone())
        .bind(new.contact_email.clone())
        .bind(new.contact_phone.clone())
        .bind(new.lang)
        .bind(Json(new.passengers.clone()))
        .bind(new.accepted_terms)
        .bind(new.provider)
        .bind(price.unit_price)
        .bind(price.subtotal)
        .bind(price.discount)
        .bind(Json(price.taxes.clone()))
        .bind(price.tax)
        .bind(price.total)
        .bind(price.commission_rate)
        .bind(price.commission)
        .bind(Json(price.commission_taxes.clone()))
        .bind(price.commission_tax)
        .bind(price.partner_discount)
        .bind(price.partner_net)
        .bind(new.expires_at)
        .bind(new.paid_at)
        .bind(new.created_at)
        .bind(counted.map(|counted| counted.email.clone()))
        .bind(counted.map(|counted| counted.network.clone()))
        .bind(Json(price.lines.clone()))
        .bind(price.margin)
        .bind(resold.map(|resold| resold.reseller_id))
        .bind(resold.map(|resold| resold.octo_uuid))
        .bind(resold.and_then(|resold| resold.reference.clone()))
        .bind(resold.is_some_and(|resold| resold.day_ticket))
        .bind(resold.and_then(|resold| resold.contact.clone()))
        .bind(resold.map(|resold| resold.request_digest.clone()))
        .bind(price.surcharge())
}
