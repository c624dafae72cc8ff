//! Fixtures: a running service, its callers, and temporary servers. Benchmarks share `cluster`.

/// An authenticator app.
pub mod authenticator;
/// The binary itself, as a process.
pub mod binary;
/// A temporary PostgreSQL server.
pub mod cluster;
/// The errors that operations document.
pub mod documented;
/// A provider of payments and payouts.
pub mod fake_provider;
/// Forms with files.
pub mod form;
/// Partners, boats, routes and bookings.
pub mod harbour;
/// Temporary folders in memory.
pub mod memory;
/// A PostgreSQL database per test.
pub mod postgres;
/// Resellers, and lines that they sell.
pub mod resale;
/// A temporary S3 server.
pub mod s3;
/// A running service on a fresh database, and its callers.
pub mod world;
