//! Dermaga: the backend of a speedboat booking platform.
//!
//! A request's way: [`edge`] accepts it, [`api`] names its operation and who may call it, the
//! domain's `http` handles it between `begin` and `commit`, and [`edge`] renders the answer.

// Derived code names this crate, also from inside of it.
extern crate self as dermaga;

/// The table: verb, path, who may, handler. One line per operation.
pub mod api;
/// State, and how it starts.
pub mod app;
/// Backups of a service on SQLite.
pub mod backup;
/// The command line.
pub mod cli;
/// The settings.
pub mod config;
/// A platform that looks lived in, for newcomers and benchmarks.
pub mod demo;
/// Whether everything that the service needs is there.
pub mod doctor;
/// Connections, limits, headers and the envelope: what lies between the network and the table.
pub mod edge;
/// Whether everything adds up.
pub mod invariants;
/// What goes on in the background.
pub mod jobs;
/// What every domain stands on.
pub mod kernel;
/// Health, metrics and documentation of the service itself.
pub mod service;
/// How a line of the table becomes a guarded, documented route.
pub mod table;

/// Who has an account, how they sign in, and what they may do.
pub mod accounts;
/// Who changed what: reading the audit log.
pub mod audit;
/// Who is expected, who is on board.
pub mod boarding;
/// Seats sold, held, paid, cancelled.
pub mod bookings;
/// The call to become a partner, and terms and conditions.
pub mod contents;
/// The harbour at a glance, for everyone who has signed in.
pub mod dashboard;
/// Sailings that are cancelled or moved.
pub mod disruptions;
/// Uploads and downloads.
pub mod files;
/// The boats.
pub mod fleet;
/// Every movement of money, as balanced entries.
pub mod ledger;
/// What follows from what happened: people are told, letters are written.
pub mod notifications;
/// One partner at a glance, from every domain.
pub mod overview;
/// The boat owners.
pub mod partners;
/// Paying for bookings, and what providers tell us of it.
pub mod payments;
/// Codes that make a booking cheaper.
pub mod promotions;
/// What was paid, refunded and earned.
pub mod reports;
/// Routes, sailings and the search over them.
pub mod sailings;
/// Paying partners what they have earned.
pub mod settlements;
/// The platform's people, and what they may do.
pub mod staff;
/// A partner in numbers, from every domain.
pub mod statistic;
/// Taxes on bookings and on commission.
pub mod taxes;
/// What lets a passenger on board.
pub mod tickets;
/// Other systems that follow what happens.
pub mod webhooks;
