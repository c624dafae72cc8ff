//! Bookings as their guests see them, kept between lookups: a page that waits for a payment asks every
//! few seconds, and most of the time nothing has changed. Each lookup compares the revision of the
//! booking, which is one read by key, shared with the lookups that wait at the same time. Without a
//! change it reads, decrypts and serializes nothing.

use chrono::TimeDelta;

use super::{
    forms::GuestCredentials,
    lookup::{Readable, to_answer},
    model::Channel,
    store::{self, REVISIONS},
    view::Booking,
};
use crate::{
    app::App,
    kernel::{
        batch::Batch,
        error::{Error, Result},
        http::{CacheTags, Rendered},
        ids::Uuid,
        read_cache::ReadCache,
    },
};

/// The revision covers everything but the names of boat, partner and harbours. A change of these
/// invalidates all entries in this process, and is seen after this time in others.
const LIFETIME: TimeDelta = TimeDelta::seconds(30);

pub struct GuestViews {
    /// By booking and revision.
    views: ReadCache<(Uuid, i64), GuestView>,
    revisions: Batch<Uuid, i64>,
}

impl Default for GuestViews {
    fn default() -> Self {
        Self { views: ReadCache::with_lifetime(LIFETIME), revisions: Batch::default() }
    }
}

impl App {
    pub fn guest_views(&self) -> &GuestViews {
        self.domain()
    }
}

struct GuestView {
    channel: Channel,
    code: String,
    email: String,
    booking: Rendered<Booking>,
}

/// The booking for a guest with these credentials; otherwise 404.
pub async fn guest_view(
    app: &App,
    id: Uuid,
    credentials: &GuestCredentials,
) -> Result<Rendered<Booking>> {
    let GuestViews { views, revisions } = app.guest_views();
    let db = app.db.clone();
    let revision = revisions.get(id, REVISIONS, move |ids| {
        let db = db.clone();
        async move { store::revisions(&db, &ids).await }
    });
    let revision = revision.await?.ok_or(Error::NotFound)?;
    // Boxed: most lookups do not need the memory of its future.
    let read = async || Box::pin(read(app, id, credentials)).await;
    let view = views.get_or_read(&app.response_cache, &app.clock, (id, revision), read).await?;
    match credentials.open(view.channel, &view.code, &view.email) {
        true => Ok(view.booking.clone()),
        false => Err(Error::NotFound),
    }
}

/// What is kept of the booking, what it depends on, and its size.
async fn read(
    app: &App,
    id: Uuid,
    credentials: &GuestCredentials,
) -> Result<(GuestView, CacheTags, usize)> {
    let row = store::get(&app.db, id).await?.ok_or(Error::NotFound)?;
    // Nothing is decrypted and signed for strangers.
    if !credentials.open(row.channel, &row.code, &row.contact_email) {
        return Err(Error::NotFound);
    }
    let (channel, code, email) = (row.channel, row.code.clone(), row.contact_email.clone());
    let booking = Rendered::new(&to_answer(app, row, Readable::by(None)).await?)?;
    let bytes = booking.bytes() + code.len() + email.len();
    Ok((GuestView { channel, code, email, booking }, CacheTags::default(), bytes))
}
