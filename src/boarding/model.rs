//! What boarding is made of, and what callers send and get.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    bookings::{Gender, IdentityType},
    fleet::Owner,
    kernel::{
        confidential::Confidential,
        error::Fault,
        ids::Uuid,
        lang::text,
        schema::Input,
        text::{Line, Note},
    },
    sailings::{SailingStatus, Zone},
};

/// Who sails.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    pub sailing: ListedSailing,
    /// When it was closed; nothing has changed since.
    pub closed_at: Option<DateTime<Utc>>,
    pub as_of: DateTime<Utc>,
    pub totals: Totals,
    pub passengers: Vec<Listed>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedSailing {
    pub id: Uuid,
    pub from: String,
    pub to: String,
    pub departure_at: DateTime<Utc>,
    pub arrival_at: DateTime<Utc>,
    pub timezone: Zone,
    pub status: SailingStatus,
    pub speedboat: ListedBoat,
    pub mitra: Owner,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedBoat {
    pub id: Uuid,
    pub name: String,
    pub registration_number: String,
    pub capacity: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub bookings: u32,
    pub passengers: u32,
    pub checked_in: u32,
    pub male: u32,
    pub female: u32,
    pub gender_unknown: u32,
    /// From 12 years on.
    pub adults: u32,
    /// From 2 years on.
    pub children: u32,
    pub infants: u32,
    pub age_unknown: u32,
    pub by_nationality: BTreeMap<String, u32>,
}

/// One passenger of the list.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    pub number: u32,
    pub passenger_id: Uuid,
    pub name: String,
    pub gender: Option<Gender>,
    /// On the day of departure.
    pub age: Option<u32>,
    pub birth_date: Option<NaiveDate>,
    pub identity_type: Option<IdentityType>,
    pub identity_number: Option<Confidential>,
    pub nationality: Option<String>,
    pub contact: ListedContact,
    pub booking_code: String,
    pub checked_in_at: Option<DateTime<Utc>>,
    /// For whoever has to be checked in by hand.
    pub ticket_code: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedContact {
    pub name: String,
    pub phone: String,
}

crate::words! {
    pub enum ManifestFormat { Json = "json", Csv = "csv", Pdf = "pdf" }
}

#[derive(Default, Deserialize, JsonSchema)]
pub struct ManifestQuery {
    /// More explicit than the `Accept` header.
    pub format: Option<ManifestFormat>,
}

impl Input for ManifestQuery {}

/// One code, or a batch of scans that were made offline.
#[derive(Deserialize, JsonSchema)]
pub struct CheckIn {
    #[schemars(length(max = 400))]
    pub ticket_code: Option<String>,
    #[schemars(length(min = 1, max = 500))]
    pub scans: Option<Vec<Scan>>,
}

impl Input for CheckIn {
    fn tidy(value: &mut Value) {
        if value["ticket_code"].as_str().is_some_and(|code| code.trim().is_empty()) {
            value["ticket_code"] = Value::Null;
        }
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        if value["ticket_code"].is_null() == value["scans"].is_null() {
            let message = text(
                "Send either a ticket's code or a batch of scans.",
                "Kirim satu kode tiket atau sekumpulan pindaian.",
            );
            faults.push(Fault::new("ticket_code", "required", message));
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Scan {
    /// The device's own, to be sent again with the same scan only.
    pub scan_id: Line<64>,
    #[schemars(length(max = 400))]
    pub ticket_code: String,
    pub scanned_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
pub struct UndoCheckIn {
    #[schemars(length(min = 1, max = 400))]
    pub ticket_code: String,
    pub reason: Option<Note>,
}

impl Input for UndoCheckIn {}

crate::words! {
    /// What came of a scan.
    pub enum Outcome {
        Boarded = "boarded",
        AlreadyBoarded = "already_boarded",
        /// No code of ours, or one that was changed.
        Forged = "forged",
        WrongSailing = "wrong_sailing",
        /// The booking has moved here; its new ticket is the right one.
        TicketReplaced = "ticket_replaced",
        Unpaid = "unpaid",
        Cancelled = "cancelled",
        Refunded = "refunded",
        ManifestClosed = "manifest_closed",
        /// This scan was undone after it was handed in.
        Undone = "undone",
        /// Another scan had that id.
        ScanIdReused = "scan_id_reused",
        /// Nothing to undo.
        NotBoarded = "not_boarded",
    }
}

/// What is known of whom a code lets on board.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Admitted {
    pub booking_id: Uuid,
    pub booking_code: String,
    pub passenger_id: Uuid,
    pub passenger_name: String,
    pub boarded_at: Option<DateTime<Utc>>,
}

/// The answer to one code, or to a batch.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CheckedIn {
    One(Admitted),
    Batch { boarded: usize, results: Vec<ScanResult> },
}

#[derive(Serialize, JsonSchema)]
pub struct ScanResult {
    pub scan_id: String,
    pub outcome: Outcome,
    pub message: String,
    /// Whether it had been handed in before.
    pub repeated: bool,
    #[serde(flatten)]
    pub admitted: Option<Admitted>,
}
