//! What lies between the network and the table.

mod accept;
mod body;
mod connections;
mod cors;
mod frame;
mod io;
mod limits;
mod lines;
mod service;

pub use accept::{Edge, listen, serve};
pub use connections::ConnectionLimits;
pub use limits::Limits;
pub use service::Service;
