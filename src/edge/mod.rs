//! What lies between the network and the table.

mod accept;
mod body;
mod connections;
mod cors;
mod frame;
mod io;
mod limits;
mod lines;
mod metrics;
mod service;
mod shared;

pub use accept::{Edge, listen, serve};
pub use connections::ConnectionLimits;
pub use limits::Limits;
pub use metrics::Metrics;
pub use service::Service;
pub use shared::Shared;
