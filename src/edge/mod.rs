//! Between the network and the handlers: connections, limits, routing, cached responses.

mod accept;
mod body;
mod compression;
mod connections;
mod context;
mod cors;
mod io;
mod limits;
mod service;

pub use accept::{Edge, listen, serve};
pub use connections::ConnectionLimits;
pub use limits::Limits;
pub use service::Service;
