//! The accept loop: no client can hold a connection, a slot or the shutdown for ever.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};

use super::{
    Service,
    body::Patient,
    io::{Busy, Io, Progress},
};
use crate::app::App;

/// How patient the edge is.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Until the head of the next request is there, idle time included.
    pub head: Duration,
    /// Between two pieces of a body.
    pub stall: Duration,
    /// For a whole body.
    pub body: Duration,
    /// For a client to go on reading its answer.
    pub write: Duration,
    /// For what still runs at shutdown.
    pub drain: Duration,
    pub connections: usize,
}

impl Default for Edge {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            stall: Duration::from_secs(10),
            body: Duration::from_secs(50),
            write: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            connections: 8_192,
        }
    }
}

/// So many connections wait to be accepted, as far as the system allows. The usual 128 are fewer than
/// come at once when a sale opens; the rest would be dropped, and try again a second later.
const BACKLOG: u32 = 4_096;

pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // So that it can be started again at once; elsewhere it would share the port with others.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `shutdown` resolves, then finishes what runs.
pub async fn serve(
    app: App,
    listener: TcpListener,
    edge: Edge,
    shutdown: impl Future<Output = ()>,
) {
    let service = Service::new(&app);
    let slots = Arc::new(Semaphore::new(edge.connections));
    let (drain, draining) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = async {
            let slot = slots.clone().acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            (slot, accepted) = accepted => match accepted {
                Ok((stream, peer)) => (slot, stream, peer),
                Err(error) => {
                    // Out of file descriptors, most likely; closing connections will free some.
                    tracing::warn!(%error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let connection = Connection { service: service.clone(), edge, peer };
        let (app, draining) = (app.clone(), draining.clone());
        connections.spawn(async move {
            app.metrics.connections.inc();
            connection.run(stream, draining).await;
            app.metrics.connections.dec();
            drop(slot);
        });
    }
    drop(listener);
    app.stop();
    let _ = drain.send(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(edge.drain, finished).await.is_err() {
        tracing::warn!(left = connections.len(), "some requests did not finish in time");
    }
}

struct Connection {
    service: Service,
    edge: Edge,
    peer: SocketAddr,
}

impl Connection {
    async fn run(self, stream: TcpStream, mut draining: watch::Receiver<bool>) {
        let _ = stream.set_nodelay(true);
        let Self { service, edge, peer } = self;
        let progress = Arc::new(Progress::default());
        let serve = service_fn(|request: hyper::Request<Incoming>| {
            let busy = progress.begin();
            let request = request.map(|body| Body::new(Patient::new(body, edge.stall, edge.body)));
            let answer = service.answer(Some(peer), request);
            async move { Ok::<_, Infallible>(answer.await.map(|inner| Counted { inner, _busy: busy })) }
        });
        let connection = http1::Builder::new()
            // `Io` sees to it.
            .header_read_timeout(None)
            .max_buf_size(64 * 1024)
            .serve_connection(Io::new(stream, progress.clone(), edge.head, edge.write), serve);
        tokio::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = draining.wait_for(|draining| *draining) => connection.as_mut().graceful_shutdown(),
        }
        // Whoever has not sent a whole head by now has nothing to lose.
        while let Err(_still_open) =
            tokio::time::timeout(Duration::from_millis(100), connection.as_mut()).await
        {
            if progress.is_idle() {
                return;
            }
        }
    }
}

struct Counted {
    inner: Body,
    _busy: Busy,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
