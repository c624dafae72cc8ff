//! A connection's stream with deadlines for request heads and for writing.
//!
//! There is one timer for each connection: moving a deadline to a later time costs next to nothing,
//! while creating a timer for each request costs more than most requests do.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep_until},
};

use super::connections::{HEAD_GRACE, Registered};

/// How long, and how many bytes, a closed connection is still read. Without that the system would
/// reset it while its client is still sending, and the client could lose the response.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// Deadlines of a connection.
#[derive(Clone, Copy)]
pub struct Deadlines {
    /// For the first request head.
    pub first_head: Duration,
    /// For the next request head, idle time included.
    pub next_head: Duration,
    /// For a write that makes no progress.
    pub write: Duration,
}

/// The next action of the client.
#[derive(Clone, Copy, PartialEq)]
enum Awaited {
    Nothing,
    /// Send a request head, after this many requests.
    Head(usize),
    /// Read the response.
    Reading,
    /// Close its side as well.
    Close,
}

pub struct Io {
    stream: TokioIo<TcpStream>,
    registered: Registered,
    deadlines: Deadlines,
    awaited: Awaited,
    /// The deadline of the head, while `timer` is set to the moment at which the network's
    /// incomplete heads are counted.
    grace_until: Option<Instant>,
    /// Bytes have arrived after this many requests.
    received_after: Option<usize>,
    lingered: usize,
    timer: Pin<Box<Sleep>>,
}

impl Io {
    pub fn new(stream: TcpStream, registered: Registered, deadlines: Deadlines) -> Self {
        let timer = Box::pin(sleep_until(Instant::now() + deadlines.first_head));
        Self {
            stream: TokioIo::new(stream),
            registered,
            deadlines,
            awaited: Awaited::Nothing,
            grace_until: None,
            received_after: None,
            lingered: 0,
            timer,
        }
    }

    /// Fails after the deadline.
    fn wait<T>(
        &mut self,
        what: Awaited,
        time: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if self.awaited != what {
            self.awaited = what;
            self.grace_until = None;
            self.timer.as_mut().reset(Instant::now() + time);
        }
        ready!(self.timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// While no request is running.
    fn wait_for_head<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let connection = self.registered.connection();
        let next = connection.begun();
        let time = match next {
            0 => self.deadlines.first_head,
            _ => self.deadlines.next_head,
        };
        let begins = self.awaited != Awaited::Head(next);
        // A head that arrives in pieces counts from its second piece on, because most arrive in
        // one.
        let incomplete = match next {
            0 => begins,
            _ => self.received_after == Some(next) && connection.head_begun(),
        };
        if begins {
            self.awaited = Awaited::Head(next);
            self.grace_until = None;
            self.timer.as_mut().reset(Instant::now() + time);
        }
        if incomplete {
            let until = self.timer.deadline();
            self.grace_until = Some(until);
            self.timer.as_mut().reset(until.min(Instant::now() + HEAD_GRACE));
        }
        if let Some(until) = self.grace_until {
            ready!(self.timer.as_mut().poll(cx));
            let limit = self.registered.incomplete_limit();
            if self.registered.connection().exceeds(limit) {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            self.grace_until = None;
            self.timer.as_mut().reset(until);
        }
        ready!(self.timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn wrote<T>(
        &mut self,
        wrote: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        self.registered.connection().set_writing(wrote.is_pending());
        match wrote {
            Poll::Ready(wrote) => {
                self.awaited = Awaited::Nothing;
                Poll::Ready(wrote)
            }
            Poll::Pending => self.wait(Awaited::Reading, self.deadlines.write, cx),
        }
    }

    /// Reads and discards what the client still sends, until it closes its side.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut discarded = [0; 8 * 1024];
        while self.lingered < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut discarded);
            match Pin::new(self.stream.inner_mut()).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.lingered += buffer.filled().len();
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {
                    return self.wait::<()>(Awaited::Close, LINGER, cx).map(drop);
                }
            }
        }
        Poll::Ready(())
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if !self.registered.connection().is_idle() {
            return read;
        }
        if read.is_pending() {
            return self.wait_for_head(cx);
        }
        self.received_after = Some(self.registered.connection().begun());
        read
    }
}

impl Write for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(wrote, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(wrote, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Also arms the deadline of the next head: hyper does not read again after a response if it has
    /// tried to while the request was running.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        if self.registered.connection().is_idle()
            && let Poll::Ready(late) = self.wait_for_head(cx)
        {
            return Poll::Ready(late);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.awaited != Awaited::Close {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        }
        ready!(self.linger(cx));
        Poll::Ready(Ok(()))
    }
}
