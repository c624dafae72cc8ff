//! Accumulation of report figures from sales, money and transitions.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    ops::AddAssign,
};

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use super::{model::Sums, rules::month_of};
use crate::{
    bookings::Price,
    kernel::{
        db::{Statement, Tx},
        error::Result,
        ids::Uuid,
    },
};

/// Pseudo status between two sailings: the old price is taken back and the new one is set.
const RESCHEDULED: &str = "rescheduled";
/// Pseudo status while passengers are cancelled: their share remains sold.
const REDUCED: &str = "reduced";

#[derive(crate::kernel::db::FromRow)]
pub struct StatusChange {
    partner_id: Uuid,
    route_id: Uuid,
    reseller_id: Option<Uuid>,
    #[row(rename = "type")]
    kind: String,
    method: String,
    from_status: Option<String>,
    /// `None`: money alone.
    to_status: Option<String>,
    at: DateTime<Utc>,
    #[row(flatten)]
    amounts: BookingAmounts,
    #[row(flatten)]
    money: Money,
}

/// Money that came in or went back beside the sale.
#[derive(Clone, Copy, Default, crate::kernel::db::FromRow)]
pub struct Money {
    pub received: i64,
    pub refund: i64,
    pub refund_tax: i64,
    /// What travellers would have paid beyond what was received for a move.
    pub surcharge: i64,
}

/// Amounts of a booking.
#[derive(Clone, Copy, crate::kernel::db::FromRow)]
pub struct BookingAmounts {
    pub passengers: i32,
    subtotal: i64,
    discount: i64,
    tax: i64,
    total: i64,
    commission: i64,
    partner_net: i64,
    margin: i64,
    surcharge: i64,
}

impl BookingAmounts {
    pub fn of(passengers: i32, price: &Price) -> Self {
        Self {
            passengers,
            subtotal: price.subtotal.0,
            discount: price.discount.0,
            tax: price.tax.0,
            total: price.total.0,
            commission: price.commission.0,
            partner_net: price.partner_net.0,
            margin: price.margin.0,
            surcharge: price.surcharge().0,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct StatusTotals {
    bookings: i64,
    passengers: i64,
    subtotal: i64,
    commission: i64,
    partner_net: i64,
}

impl AddAssign for StatusTotals {
    fn add_assign(&mut self, more: Self) {
        self.bookings += more.bookings;
        self.passengers += more.passengers;
        self.subtotal += more.subtotal;
        self.commission += more.commission;
        self.partner_net += more.partner_net;
    }
}

/// Dimensions of a sale.
pub struct SaleKey<'a> {
    pub partner_id: Uuid,
    pub route_id: Uuid,
    pub reseller_id: Option<Uuid>,
    pub kind: &'a str,
    pub method: &'a str,
}

/// Day or first of the month, booking type, payment method.
type Sold = (NaiveDate, String, String);

/// Changes to be added to the stored figures.
#[derive(Default)]
pub struct Figures {
    days: HashMap<Sold, Sums>,
    months: HashMap<Sold, Sums>,
    partner_days: HashMap<(Uuid, NaiveDate), Sums>,
    partner_months: HashMap<(NaiveDate, Uuid), Sums>,
    route_months: HashMap<(NaiveDate, Uuid, Uuid), Sums>,
    reseller_days: HashMap<(NaiveDate, Uuid), Sums>,
    standings: HashMap<(Uuid, String), StatusTotals>,
}

/// Upsert clause of the daily and monthly tables.
macro_rules! add_to {
    ($when:literal) => {
        concat!(
            "ON CONFLICT (",
            $when,
            ", type, method) DO UPDATE SET
               bookings = kept.bookings + excluded.bookings,
               passengers = kept.passengers + excluded.passengers,
               gross = kept.gross + excluded.gross,
               discount = kept.discount + excluded.discount,
               tax = kept.tax + excluded.tax,
               commission = kept.commission + excluded.commission,
               partner_net = kept.partner_net + excluded.partner_net,
               refunds = kept.refunds + excluded.refunds,
               refund_tax = kept.refund_tax + excluded.refund_tax"
        )
    };
}

impl Figures {
    /// Adds a sale, or (`times` -1) reverses it.
    pub fn sale(&mut self, of: &SaleKey<'_>, day: NaiveDate, amounts: BookingAmounts, times: i64) {
        let sold = Sums {
            bookings: times,
            passengers: times * i64::from(amounts.passengers),
            gross: times * amounts.total,
            surcharge: times * amounts.surcharge,
            ..Sums::default()
        };
        self.add(of, day, sold);
        self.add_sold(of, day, sold);
        self.price(of, day, amounts, times);
    }

    /// Adds the share of cancelled passengers to the sale of their booking.
    pub fn share(&mut self, of: &SaleKey<'_>, day: NaiveDate, amounts: BookingAmounts) {
        let (passengers, gross) = (i64::from(amounts.passengers), amounts.total);
        let sold = Sums { passengers, gross, ..Sums::default() };
        self.add(of, day, sold);
        self.add_sold(of, day, sold);
        self.price(of, day, amounts, 1);
    }

    /// Adds a price, or (`times` -1) takes it back, without a sale.
    pub fn price(&mut self, of: &SaleKey<'_>, day: NaiveDate, amounts: BookingAmounts, times: i64) {
        let price = Sums {
            discount: times * amounts.discount,
            tax: times * amounts.tax,
            commission: times * amounts.commission,
            partner_net: times * amounts.partner_net,
            margin: times * amounts.margin,
            ..Sums::default()
        };
        self.add(of, day, price);
    }

    pub fn money(&mut self, of: &SaleKey<'_>, day: NaiveDate, money: Money) {
        let Money { received, refund, refund_tax, surcharge } = money;
        let sums =
            Sums { gross: received, refunds: refund, refund_tax, surcharge, ..Sums::default() };
        self.add(of, day, sums);
        if received != 0 || surcharge != 0 {
            self.add_sold(of, day, sums);
        }
    }

    /// Adds to the figures of the partner and the route.
    fn add_sold(&mut self, of: &SaleKey<'_>, day: NaiveDate, sums: Sums) {
        let month = month_of(day);
        *self.partner_days.entry((of.partner_id, day)).or_default() += sums;
        *self.partner_months.entry((month, of.partner_id)).or_default() += sums;
        *self.route_months.entry((month, of.route_id, of.partner_id)).or_default() += sums;
    }

    fn add(&mut self, of: &SaleKey<'_>, day: NaiveDate, sums: Sums) {
        let sold = |day| (day, of.kind.into(), of.method.into());
        *self.days.entry(sold(day)).or_default() += sums;
        *self.months.entry(sold(month_of(day))).or_default() += sums;
        if let Some(reseller) = of.reseller_id {
            *self.reseller_days.entry((day, reseller)).or_default() += sums;
        }
    }

    /// Changes the number of bookings in a status. Pending ones and those in a pseudo status are not
    /// stored.
    pub fn stand(&mut self, partner: Uuid, status: &str, times: i64, amounts: BookingAmounts) {
        if ["pending_payment", RESCHEDULED, REDUCED].contains(&status) {
            return;
        }
        *self.standings.entry((partner, status.into())).or_default() += StatusTotals {
            bookings: times,
            passengers: times * i64::from(amounts.passengers),
            subtotal: times * amounts.subtotal,
            commission: times * amounts.commission,
            partner_net: times * amounts.partner_net,
        };
    }

    pub fn apply(&mut self, moved: &StatusChange, zone: Tz) {
        let StatusChange { partner_id, route_id, reseller_id, amounts, .. } = *moved;
        let day = moved.at.with_timezone(&zone).date_naive();
        let (kind, method) = (moved.kind.as_str(), moved.method.as_str());
        let of = &SaleKey { partner_id, route_id, reseller_id, kind, method };
        let Some(to) = moved.to_status.as_deref() else {
            return self.money(of, day, moved.money);
        };
        match (moved.from_status.as_deref(), to) {
            (_, RESCHEDULED) => self.price(of, day, amounts, -1),
            (Some(RESCHEDULED), _) => self.price(of, day, amounts, 1),
            (None | Some("pending_payment" | "expired"), "paid") => self.sale(of, day, amounts, 1),
            _ => {}
        }
        if let Some(from) = &moved.from_status {
            self.stand(partner_id, from, -1, amounts);
        }
        self.stand(partner_id, to, 1, amounts);
    }

    /// Adds the changes to the stored figures.
    pub async fn store(self, tx: &mut Tx) -> Result<()> {
        store_sales(
            tx,
            "INSERT INTO sales_days AS kept (day, type, method, bookings, passengers, gross,
               discount, tax, commission, partner_net, refunds, refund_tax)",
            add_to!("day"),
            self.days,
        )
        .await?;
        store_sales(
            tx,
            "INSERT INTO sales_months AS kept (month, type, method, bookings, passengers, gross,
               discount, tax, commission, partner_net, refunds, refund_tax)",
            add_to!("month"),
            self.months,
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO partner_days (partner_id, day, bookings, passengers, gross, surcharge)",
            6,
            &sorted(self.partner_days),
            "ON CONFLICT (partner_id, day) DO UPDATE SET
               bookings = partner_days.bookings + excluded.bookings,
               passengers = partner_days.passengers + excluded.passengers,
               gross = partner_days.gross + excluded.gross,
               surcharge = partner_days.surcharge + excluded.surcharge",
            |row, ((partner, day), sums)| {
                sold(row.bind(*partner).bind(*day), sums).bind(sums.surcharge)
            },
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO partner_months (month, partner_id, bookings, passengers, gross)",
            5,
            &sorted(self.partner_months),
            "ON CONFLICT (month, partner_id) DO UPDATE SET
               bookings = partner_months.bookings + excluded.bookings,
               passengers = partner_months.passengers + excluded.passengers,
               gross = partner_months.gross + excluded.gross",
            |row, ((month, partner), sums)| sold(row.bind(*month).bind(*partner), sums),
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO route_months (month, route_id, partner_id, bookings, passengers, gross,
               surcharge)",
            7,
            &sorted(self.route_months),
            "ON CONFLICT (month, route_id) DO UPDATE SET
               bookings = route_months.bookings + excluded.bookings,
               passengers = route_months.passengers + excluded.passengers,
               gross = route_months.gross + excluded.gross,
               surcharge = route_months.surcharge + excluded.surcharge",
            |row, ((month, route, partner), sums)| {
                let row = row.bind(*month).bind(*route).bind(*partner);
                sold(row, sums).bind(sums.surcharge)
            },
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO reseller_days (day, reseller_id, bookings, passengers, gross, margin,
               refunds)",
            7,
            &sorted(self.reseller_days),
            "ON CONFLICT (day, reseller_id) DO UPDATE SET
               bookings = reseller_days.bookings + excluded.bookings,
               passengers = reseller_days.passengers + excluded.passengers,
               gross = reseller_days.gross + excluded.gross,
               margin = reseller_days.margin + excluded.margin,
               refunds = reseller_days.refunds + excluded.refunds",
            |row, ((day, reseller), sums)| {
                sold(row.bind(*day).bind(*reseller), sums).bind(sums.margin).bind(sums.refunds)
            },
        )
        .await?;
        tx.upsert_all(
            "INSERT INTO partner_standings (partner_id, status, bookings, passengers, subtotal,
               commission, partner_net)",
            7,
            &sorted(self.standings),
            "ON CONFLICT (partner_id, status) DO UPDATE SET
               bookings = partner_standings.bookings + excluded.bookings,
               passengers = partner_standings.passengers + excluded.passengers,
               subtotal = partner_standings.subtotal + excluded.subtotal,
               commission = partner_standings.commission + excluded.commission,
               partner_net = partner_standings.partner_net + excluded.partner_net",
            |row, ((partner, status), standing)| {
                row.bind(*partner)
                    .bind(status.clone())
                    .bind(standing.bookings)
                    .bind(standing.passengers)
                    .bind(standing.subtotal)
                    .bind(standing.commission)
                    .bind(standing.partner_net)
            },
        )
        .await?;
        Ok(())
    }
}

async fn store_sales(
    tx: &mut Tx,
    insert: &'static str,
    add: &'static str,
    figures: HashMap<Sold, Sums>,
) -> Result<()> {
    tx.upsert_all(insert, 12, &sorted(figures), add, |row, ((when, kind, method), sums)| {
        sold(row.bind(*when).bind(kind.clone()).bind(method.clone()), sums)
            .bind(sums.discount)
            .bind(sums.tax)
            .bind(sums.commission)
            .bind(sums.partner_net)
            .bind(sums.refunds)
            .bind(sums.refund_tax)
    })
    .await
    .map_err(Into::into)
}

fn sold<'s>(row: Statement<'s>, sums: &Sums) -> Statement<'s> {
    row.bind(sums.bookings).bind(sums.passengers).bind(sums.gross)
}

/// Sorted by key, the order of the tables.
fn sorted<K: Ord + Hash + Eq, V>(figures: HashMap<K, V>) -> Vec<(K, V)> {
    figures.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}
