//! What tests stand on: a running service, the people who call it, and throw-away servers. Benchmarks
//! share `cluster`.

/// An authenticator app.
pub mod authenticator;
/// The binary itself, as a process.
pub mod binary;
/// A throw-away PostgreSQL.
pub mod cluster;
/// Partners, boats, routes and bookings.
pub mod harbour;
/// A PostgreSQL database per test.
pub mod postgres;
/// A throw-away S3 server.
pub mod s3;
/// A running service on a fresh database, and its callers.
pub mod world;
