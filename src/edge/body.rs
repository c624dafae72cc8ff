//! The body of a request, with deadlines for its sender, and the handling of unread bodies.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{BoxError, body::Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// The most that is read and discarded of an unread body to keep its connection.
const DRAIN: u64 = 1024 * 1024;

/// Most bodies arrive with their heads: a timer is created only when the next frame is waited for.
pub struct TimeoutBody {
    /// `None` after its end.
    body: Option<Incoming>,
    /// Between two frames.
    stall: Duration,
    /// For all of them.
    until: Instant,
    waits: bool,
    timer: Option<Pin<Box<Sleep>>>,
    /// The client has sent `Expect: 100-continue`.
    expects_continue: bool,
    timed_out: bool,
    unread: UnreadBody,
}

/// Receives the body of a connection when it is dropped before its end. HTTP/1 has one at a time.
#[derive(Clone, Default)]
pub struct UnreadBody(Arc<Mutex<Option<Unread>>>);

struct Unread {
    body: Incoming,
    keeps_connection: bool,
}

impl UnreadBody {
    /// Whether the connection can be used for another request. The rest of a short body is drained
    /// for that; after a long one, or one of unknown length, the connection has to be closed.
    pub fn is_drained(&self, within: Duration) -> bool {
        let unread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Unread { mut body, keeps_connection }) = unread else { return true };
        let short = body.size_hint().exact().is_some_and(|rest| rest <= DRAIN);
        if !short || !keeps_connection {
            return false;
        }
        tokio::spawn(timeout(within, async move { while let Some(Ok(_)) = body.frame().await {} }));
        true
    }
}

impl TimeoutBody {
    pub fn new(
        body: Incoming,
        stall: Duration,
        whole: Duration,
        expects_continue: bool,
        unread: UnreadBody,
    ) -> Self {
        Self {
            body: Some(body),
            stall,
            until: Instant::now() + whole,
            waits: false,
            timer: None,
            expects_continue,
            timed_out: false,
            unread,
        }
    }
}

impl Body for TimeoutBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            this.waits = false;
            if frame.is_none() {
                this.body = None;
            }
            return Poll::Ready(frame.map(|frame| Ok(frame?)));
        }
        let at = this.until.min(Instant::now() + this.stall);
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if !std::mem::replace(&mut this.waits, true) {
            timer.as_mut().reset(at);
        }
        ready!(timer.as_mut().poll(cx));
        this.timed_out = true;
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for TimeoutBody {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            let keeps_connection = !self.timed_out && !self.expects_continue;
            let unread = Some(Unread { body, keeps_connection });
            *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = unread;
        }
    }
}
