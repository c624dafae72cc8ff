//! Bookings as their guests see them, kept between lookups: a page that waits for a payment asks every
//! few seconds, and most of the time nothing has changed. Each lookup compares the revision of the
//! booking, which is one read by key, shared with the lookups that wait at the same time. Without a
//! change it reads, decrypts and serializes nothing. On SQLite not even the revision is read unless
//! something was committed meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

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
    views: ReadCache<Uuid, GuestView>,
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

impl GuestViews {
    /// Forgets all of them: nothing of a booking stays in memory that was erased, or that nobody looks
    /// up any more.
    pub fn clear(&self) {
        self.views.clear();
    }
}

struct GuestView {
    revision: i64,
    /// After how many commits of this process it was compared with the stored revision; none of them
    /// has changed it since if there was none.
    compared_at: AtomicU64,
    channel: Channel,
    code: String,
    email: String,
    booking: Rendered<Booking>,
}

impl GuestView {
    fn open(&self, credentials: &GuestCredentials) -> Result<Rendered<Booking>> {
        match credentials.open(self.channel, &self.code, &self.email) {
            true => Ok(self.booking.clone()),
            false => Err(Error::NotFound),
        }
    }
}

/// The booking for a guest with these credentials; otherwise 404.
pub async fn guest_view(
    app: &App,
    id: Uuid,
    credentials: &GuestCredentials,
) -> Result<Rendered<Booking>> {
    let GuestViews { views, revisions } = app.guest_views();
    let (responses, clock) = (&app.response_cache, &app.clock);
    let commits = app.db.commits();
    if let Some(commits) = commits
        && let Some(view) = views.get(responses, clock, &id)
        && view.compared_at.load(Ordering::Relaxed) == commits
    {
        return view.open(credentials);
    }
    let db = app.db.clone();
    let revision = revisions.get(id, REVISIONS, move |ids| {
        let db = db.clone();
        async move { store::revisions(&db, &ids).await }
    });
    let revision = revision.await?.ok_or(Error::NotFound)?;
    // Boxed: most lookups do not need the memory of its future.
    let read = async || Box::pin(read(app, id, revision, credentials)).await;
    let is_current = |view: &GuestView| view.revision == revision;
    let view = views.get_current_or_read(responses, clock, id, is_current, read).await?;
    view.compared_at.store(commits.unwrap_or_default(), Ordering::Relaxed);
    view.open(credentials)
}

/// What is kept of the booking, what it depends on, and its size. The row may be newer than the
/// revision, which was read before; then the next lookup reads it again.
async fn read(
    app: &App,
    id: Uuid,
    revision: i64,
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
    let compared_at = AtomicU64::default();
    Ok((
        GuestView { revision, compared_at, channel, code, email, booking },
        CacheTags::default(),
        bytes,
    ))
}
