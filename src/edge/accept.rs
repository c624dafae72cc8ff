//! The accept loop. The number of connections and the time they take are limited, so that no client
//! can block others or the shutdown.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue,
        header::{CONNECTION, EXPECT},
    },
};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
};

use super::{
    Service,
    body::{TimeoutBody, UnreadBody},
    connections::{Busy, ConnectionLimits, Connections, Registered},
    io::{Deadlines, Io},
};
use crate::app::App;

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// For the first request head of a connection.
    pub first_head: Duration,
    /// For the next request head, idle time included.
    pub head: Duration,
    /// Between two frames of a body.
    pub stall: Duration,
    /// For a whole body.
    pub body: Duration,
    /// For a client that does not read its response.
    pub write: Duration,
    /// For a whole request, from its head to the head of its response.
    pub request: Duration,
    /// For running requests at shutdown.
    pub drain: Duration,
    pub connections: ConnectionLimits,
}

impl Default for Edge {
    fn default() -> Self {
        Self {
            first_head: Duration::from_secs(10),
            head: Duration::from_secs(30),
            stall: Duration::from_secs(10),
            body: Duration::from_secs(50),
            write: Duration::from_secs(30),
            request: Duration::from_secs(60),
            drain: Duration::from_secs(30),
            connections: ConnectionLimits::default(),
        }
    }
}

/// Connections that can wait to be accepted, as far as the system allows. When a sale opens, more
/// than the usual 128 arrive together; the kernel would drop the rest, and their clients would
/// retry after a second.
const BACKLOG: u32 = 4_096;

pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Allows a restart at once. On Windows it would let other programs use the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `shutdown` resolves, then finishes running requests.
pub async fn serve(
    app: App,
    listener: TcpListener,
    edge: Edge,
    shutdown: impl Future<Output = ()>,
) {
    let service = Service::new(&app, edge.request);
    // Behind proxies, the address of the peer does not identify the client.
    let open = Connections::new(edge.connections, app.config.trusted_hops > 0);
    let (drain, draining) = watch::channel(false);
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = async {
            let slot = open.slot().await;
            (slot, listener.accept().await)
        };
        let (slot, stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            (slot, accepted) = accepted => match accepted {
                Ok((stream, peer)) => (slot, stream, peer),
                Err(error) => {
                    // Most likely out of file descriptors; closing connections frees some.
                    tracing::warn!(%error, "cannot accept connections");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let Some(registered) = open.register(peer.ip(), slot) else {
            app.metrics.connections_refused.inc();
            continue;
        };
        let connection = Connection { service: service.clone(), edge, peer, registered };
        let (app, draining) = (app.clone(), draining.clone());
        connections.spawn(async move {
            app.metrics.connections.inc();
            connection.run(stream, draining).await;
            app.metrics.connections.dec();
        });
    }
    drop(listener);
    app.stop();
    let _ = drain.send(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(edge.drain, finished).await.is_err() {
        tracing::warn!(left = connections.len(), "some requests did not finish before shutdown");
    }
}

struct Connection {
    service: Service,
    edge: Edge,
    peer: SocketAddr,
    registered: Registered,
}

impl Connection {
    async fn run(self, stream: TcpStream, mut draining: watch::Receiver<bool>) {
        let _ = stream.set_nodelay(true);
        let Self { service, edge, peer, registered } = self;
        let state = registered.connection().clone();
        let unread = UnreadBody::default();
        let serve = service_fn(|request: hyper::Request<Incoming>| {
            let busy = state.begin();
            let (request, unread) = (with_deadlines(request, &edge, &unread), unread.clone());
            let response = service.respond(Some(peer), request);
            async move {
                let mut response = response.await;
                if !unread.is_drained(edge.stall) {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
                Ok::<_, Infallible>(response.map(|inner| TrackedBody { inner, _busy: busy }))
            }
        });
        let deadlines =
            Deadlines { first_head: edge.first_head, next_head: edge.head, write: edge.write };
        let connection = http1::Builder::new()
            // `Io` has the deadlines.
            .header_read_timeout(None)
            .max_buf_size(64 * 1024)
            .serve_connection(Io::new(stream, registered, deadlines), serve);
        tokio::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = draining.wait_for(|draining| *draining) => {}
            () = state.evicted() => {}
        }
        connection.as_mut().graceful_shutdown();
        // A connection without a complete request head can be closed at any time.
        while let Err(_still_open) =
            tokio::time::timeout(Duration::from_millis(100), connection.as_mut()).await
        {
            if state.is_idle() {
                return;
            }
        }
    }
}

fn with_deadlines(
    request: hyper::Request<Incoming>,
    edge: &Edge,
    unread: &UnreadBody,
) -> hyper::Request<Body> {
    let expects_continue = request.headers().contains_key(EXPECT);
    request.map(|body| match body.is_end_stream() {
        true => Body::empty(),
        false => {
            let (stall, whole, unread) = (edge.stall, edge.body, unread.clone());
            Body::new(TimeoutBody::new(body, stall, whole, expects_continue, unread))
        }
    })
}

/// The connection is busy until its response is sent.
struct TrackedBody {
    inner: Body,
    _busy: Busy,
}

impl HttpBody for TrackedBody {
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
