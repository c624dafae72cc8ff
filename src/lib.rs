//! Dermaga: the backend of a speedboat booking platform.
//!
//! A request passes [`edge`] (connections, limits, headers), [`api`] (the table of operations and who
//! may call them) and the handler in the domain's `http` module, which does its work in one
//! transaction. [`edge`] renders the response. [`wiring`] puts the service together.

// Derived code names this crate, also from inside of it.
extern crate self as dermaga;

/// The table of operations: method, path, access, handler. One line per operation.
pub mod api;
/// The state that handlers and jobs share.
pub mod app;
/// Backup and restore of a service on SQLite.
pub mod backup;
/// The command line.
pub mod cli;
/// The settings.
pub mod config;
/// Demo data, for newcomers and benchmarks.
pub mod demo;
/// Checks of everything that the service needs.
pub mod doctor;
/// Connections, rate limits, headers and the response envelope.
pub mod edge;
/// Domain events and tasks that pass through the outbox.
pub mod events;
/// Invariants of the data, checked by a command.
pub mod invariants;
/// Background jobs.
pub mod jobs;
/// What every domain builds on. The kernel knows no domain.
pub mod kernel;
/// The table of pages. One line per page.
pub mod pages;
/// Health, metrics and API documentation.
pub mod service;
/// Turns a line of the table into a guarded, documented route.
pub mod table;
/// Pages of HTML: clients of the API in the same process.
pub mod web;
/// Builds the state of every domain and starts the service.
pub mod wiring;

/// Accounts, sign-in, sessions and passwords.
pub mod accounts;
/// Reading the audit log.
pub mod audit;
/// Manifests and check-in.
pub mod boarding;
/// Selling, holding, cancelling and moving bookings.
pub mod bookings;
/// What customers see of partners.
pub mod catalog;
/// Pages of the console that no kind covers.
pub mod console;
/// Public contents: the partnership page, terms and conditions.
pub mod contents;
/// The crew of partners.
pub mod crew;
/// The dashboard.
pub mod dashboard;
/// Sailings that are cancelled or moved.
pub mod disruptions;
/// Uploads and downloads.
pub mod files;
/// The books: balances, journal entries, periods.
pub mod finance;
/// Boats.
pub mod fleet;
/// Harbours, by name, alias and time zone.
pub mod harbours;
/// The ledger: every movement of money as balanced entries.
pub mod ledger;
/// Lines: what the routes between two harbours have in common, and their fares.
pub mod lines;
/// Fans domain events out to notifications, mail and webhooks.
pub mod notifications;
/// The OCTO API, through which resellers sell.
pub mod octo;
/// The overview of one partner.
pub mod overview;
/// Partners: boat owners and their onboarding.
pub mod partners;
/// Payments and the notifications of payment providers.
pub mod payments;
/// The pier: boarding on a telephone, with or without network.
pub mod pier;
/// Personal data: retention, export and erasure.
pub mod privacy;
/// Promotion codes.
pub mod promotions;
/// The providers that move money: refunds and payouts.
pub mod providers;
/// What customers are owed, until it is paid.
pub mod refunds;
/// Financial reports.
pub mod reports;
/// Resellers: their keys, grants and accounts.
pub mod resellers;
/// Routes, sailings and the search for them.
pub mod sailings;
/// Payouts to partners.
pub mod settlements;
/// The travellers' site.
pub mod site;
/// Staff and their permissions.
pub mod staff;
/// The statistics of one partner.
pub mod statistic;
/// Taxes on bookings and on commission.
pub mod taxes;
/// The signed codes of tickets.
pub mod ticket_codes;
/// Tickets: their PDF, and sending it.
pub mod tickets;
/// Calls of a provider that move money, until their outcome is known.
pub mod transfers;
/// Webhook subscriptions and deliveries.
pub mod webhooks;
