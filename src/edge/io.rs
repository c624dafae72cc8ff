//! A connection's stream, whose client is not waited for for ever.
//!
//! One timer for each connection: a deadline that is moved to a later time costs next to nothing,
//! one that is made for each request costs more than most requests do.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};

/// How far a connection is.
#[derive(Default)]
pub struct Progress {
    /// How many requests have begun, and how many of them are not answered yet.
    begun: AtomicUsize,
    busy: AtomicUsize,
    /// An answer waits for its client to read.
    waiting: AtomicBool,
}

impl Progress {
    /// Counts a request from its head until its answer is on its way; `waiting` is the rest.
    pub fn begin(self: &Arc<Self>) -> Busy {
        self.begun.fetch_add(1, Relaxed);
        self.busy.fetch_add(1, Relaxed);
        Busy(self.clone())
    }

    pub fn is_idle(&self) -> bool {
        self.busy.load(Relaxed) == 0 && !self.waiting.load(Relaxed)
    }
}

pub struct Busy(Arc<Progress>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Relaxed);
    }
}

/// What the client is waited for.
#[derive(Clone, Copy, PartialEq)]
enum Awaited {
    Nothing,
    /// The head of the request after so many.
    Head(usize),
    /// That it goes on reading.
    Reading,
}

pub struct Io {
    stream: TokioIo<TcpStream>,
    progress: Arc<Progress>,
    /// For a head, idle time included, and for a write that makes no progress.
    head: Duration,
    write: Duration,
    awaited: Awaited,
    deadline: Pin<Box<Sleep>>,
}

impl Io {
    pub fn new(
        stream: TcpStream,
        progress: Arc<Progress>,
        head: Duration,
        write: Duration,
    ) -> Self {
        let (stream, deadline) = (TokioIo::new(stream), Box::pin(sleep(head)));
        Self { stream, progress, head, write, awaited: Awaited::Nothing, deadline }
    }

    /// Fails when it has taken too long.
    fn wait<T>(
        &mut self,
        what: Awaited,
        patience: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if self.awaited != what {
            self.awaited = what;
            self.deadline.as_mut().reset(Instant::now() + patience);
        }
        ready!(self.deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// While nothing is asked nor answered.
    fn wait_for_head<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let next = self.progress.begun.load(Relaxed);
        self.wait(Awaited::Head(next), self.head, cx)
    }

    fn wrote<T>(
        &mut self,
        wrote: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        self.progress.waiting.store(wrote.is_pending(), Relaxed);
        match wrote {
            Poll::Ready(wrote) => {
                self.awaited = Awaited::Nothing;
                Poll::Ready(wrote)
            }
            Poll::Pending => self.wait(Awaited::Reading, self.write, cx),
        }
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        match read.is_pending() && self.progress.is_idle() {
            true => self.wait_for_head(cx),
            false => read,
        }
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

    /// Comes last whatever was done: who has tried to read while it was busy does not try again.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        if self.progress.is_idle()
            && let Poll::Ready(late) = self.wait_for_head(cx)
        {
            return Poll::Ready(late);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
