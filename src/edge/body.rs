//! A request's body, whose sender is not waited for for ever.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{BoxError, body::Bytes};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

/// Most bodies come with their heads: only who waits for the next piece has a timer.
pub struct Patient {
    body: Incoming,
    /// Between two pieces.
    stall: Duration,
    /// For all of them.
    until: Instant,
    waits: bool,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    pub fn new(body: Incoming, stall: Duration, whole: Duration) -> Self {
        Self { body, stall, until: Instant::now() + whole, waits: false, deadline: None }
    }
}

impl Body for Patient {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.waits = false;
            return Poll::Ready(frame.map(|frame| Ok(frame?)));
        }
        let at = this.until.min(Instant::now() + this.stall);
        let deadline = this.deadline.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if !std::mem::replace(&mut this.waits, true) {
            deadline.as_mut().reset(at);
        }
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
