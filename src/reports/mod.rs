//! Reports: what was paid, refunded and earned, by day in the service's time zone.
//!
//! - Every move of a booking is a row of its own, written by the database in the statement that
//!   makes it, so sales never wait for one another. A job rolls these rows up into daily and
//!   monthly figures. A report reads the figures and what is not rolled up yet in one statement: it
//!   is exact at the moment it names, and its cost follows its window, not the history.
//! - Money counts on the day it was paid, refunds on the day they were refunded. What was paid in
//!   vain was no sale, and its way back no refund.
//! - The figures can be made anew from the bookings, and are when the zone changes. Until they are
//!   made, a report is unavailable rather than wrong.

mod download;
mod figures;
mod http;
mod model;
mod rollup;
mod rules;
mod series;
mod store;

pub use http::{finance_overview, revenue_by_partner, revenue_by_payment_method, revenue_by_type};
pub use model::{Figure, Point, Sums};
pub use rollup::{are_made, ensure, rebuild, roll_up, roll_up_some};
pub use rules::{Percent, Window};
pub use series::series;
pub use store::{
    PartnerSales, RouteSales, Seller, Standings, daily, standings, top_partners, top_routes,
};
