//! The pier: today's sailings and their passengers on a telephone, with or without network.
//!
//! Without a script the pages board by name, one form per passenger. With one, the telephone keeps the
//! lists of the day ([`data`]) and a worker answers for the service while there is no network
//! ([`worker`]). Scans wait on the telephone and are sent in batches; `check_in` has the last word.

mod board;
mod data;
mod list;
mod sailing;
mod worker;

pub use board::{board, undo};
pub use list::{pier, pier_data};
pub use sailing::{sailing, sailing_data};
pub use worker::{files, shell};
