//! Closing and reopening months.

use super::store;
use crate::{
    app::App,
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::Uuid,
    },
    ledger::{self, Month},
};

/// Closes a month. Earlier months with postings are closed first.
pub async fn close(app: &App, tx: &mut Tx, month: Month, by: Uuid) -> Result<()> {
    ledger::lock(tx).await?;
    // After the lock, so that everything that was posted before it has an earlier time.
    let now = app.clock.now();
    if !month.can_be_closed(app.config.timezone, now) {
        return Err(Error::conflict(
            "too_early",
            "A month can be closed an hour after its end.",
            "Bulan dapat ditutup satu jam setelah berakhir.",
        ));
    }
    let closed = ledger::last_closed(tx).await?;
    if closed.is_some_and(|closed| month <= closed) {
        return Err(Error::conflict(
            "already_closed",
            "This month is already closed.",
            "Bulan ini sudah ditutup.",
        ));
    }
    let open_since = closed.map(|closed| closed.next().first_day());
    if store::has_postings(tx, open_since, month.first_day()).await? {
        return Err(Error::conflict(
            "earlier_open",
            "An earlier month is still open.",
            "Bulan sebelumnya masih terbuka.",
        ));
    }
    store::close(tx, month, by, now).await
}

/// Reopens the month that was closed last.
pub async fn reopen(app: &App, tx: &mut Tx, month: Month, by: Uuid, reason: &str) -> Result<()> {
    ledger::lock(tx).await?;
    let now = app.clock.now();
    match ledger::last_closed(tx).await? {
        Some(closed) if closed == month => store::reopen(tx, month, by, reason, now).await,
        Some(closed) if month < closed => Err(Error::conflict(
            "later_closed",
            "A later month is closed. Reopen that first.",
            "Bulan sesudahnya sudah ditutup. Buka kembali bulan itu dahulu.",
        )),
        _ => Err(Error::invalid_state("This month is not closed.", "Bulan ini tidak ditutup.")),
    }
}
