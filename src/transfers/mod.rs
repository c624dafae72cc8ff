//! Transfers: calls of a provider that move money, a refund of a payment or a payout of a settlement.
//!
//! - created → sent → accepted → confirmed or failed; a confirmed one can be reversed. `sent` is
//!   committed before the provider is called, so that a call is never forgotten.
//! - The id of a transfer is its key at the provider. A new key is a new transfer, made only after a
//!   final failure.
//! - A job (`jobs::transfers`) works on due transfers. Each is leased, so that several processes never call at once.
//! - `rules` decides what an outcome makes of a transfer. What it means for the refund or the
//!   settlement is decided by `payments` and `settlements`, in the same transaction.

mod model;
mod rules;
mod store;

pub use model::{Change, NewTransfer, Transfer, TransferStatus};
pub use rules::FORGOTTEN;
pub use store::{
    by_key, by_provider_id, confirm_late, due, get, insert, lease, newest_of_provider,
    open_of_payment, open_of_refund, open_of_settlement, postpone, record, reseal, resolve,
    simulate_lost_response, stop,
};
