//! Between the network and the handlers: connections, limits, routing, cached responses.

mod accept;
mod body;
mod connections;
mod context;
mod cors;
mod envelope;
mod io;
mod limits;
mod routes;
mod service;

pub use accept::{Edge, listen, serve};
pub use connections::ConnectionLimits;
pub use envelope::render;
pub use limits::Limits;
pub use routes::Routes;
pub use service::Service;
