//! Reports: payments, refunds and earnings by day in the service's time zone.
//!
//! - A trigger stores every status transition of a booking as a row, so sales never wait for each
//!   other. A job rolls these rows up into daily and monthly figures. A report reads the figures and
//!   the remaining rows in one statement: it is exact, and its cost depends on its window only.
//! - Gross is all money that was received for bookings, on the day on which it was applied: the totals
//!   of sales, paid differences of reschedules, and what was paid too much, twice or too late and is
//!   owed back. Money that waits for a review is not part of it. Refunds are all money that was paid
//!   back, on its day, less what bounced.
//! - A reschedule is no sale: the counts stay, and the price changes on its day. All money of a booking
//!   counts for the route that it was sold for.
//! - A partner sees the sales of resellers at the retail price: it must not know the margin. The figures
//!   of partners and routes have what travellers paid beyond what came in (`surcharge`).
//! - What the platform has earned is read from the ledger.
//! - The figures can be rebuilt from the bookings; they are when the time zone changes. Until then
//!   reports respond with 503.

mod download;
mod figures;
mod http;
mod model;
mod rollup;
mod rules;
mod series;
mod store;

pub use download::{Accepts, Cell, Report, Sheet, file};
pub use http::{
    finance_overview, revenue_by_partner, revenue_by_payment_method, revenue_by_reseller,
    revenue_by_type,
};
pub use model::{Figure, Format, Point, Sums};
pub use rollup::{are_made, ensure, rebuild, roll_up, roll_up_batch};
pub use rules::{Percent, Window};
pub use series::series;
pub use store::{
    PartnerSales, RouteSales, Seller, Standings, at_retail, daily, standings, top_partners,
    top_routes,
};
