//! The time zones of routes are those of harbours.

pub use crate::harbours::Zone;
