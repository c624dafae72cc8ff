//! Black-box tests through HTTP, each on SQLite and on PostgreSQL.

mod access;
mod audit;
mod documents;
mod edge;
mod envelope;
mod files;
mod harbour;
mod idempotency;
mod list;
mod login;
mod mail;
mod onboarding;
mod outbox;
mod partners;
mod passwords;
mod permissions;
mod postgres;
mod process;
mod profile;
mod registration;
mod remember;
mod s3;
mod staff;
mod transactions;
mod users;
mod world;
