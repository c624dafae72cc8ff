//! Types of boarding.

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
    sailings::{SailingDetail, SailingStatus, Zone},
};

/// A sailing with its boat, its partner and the number of passengers on board.
#[derive(Serialize, JsonSchema)]
pub struct RouteSailing {
    #[serde(flatten)]
    pub sailing: SailingDetail,
    pub speedboat: ListedBoat,
    pub mitra: Owner,
    pub checked_in: i64,
}

impl RouteSailing {
    pub fn new(sailing: SailingDetail, checked_in: i64) -> Self {
        Self {
            speedboat: ListedBoat {
                id: sailing.speedboat_id,
                name: sailing.speedboat_name.clone(),
                registration_number: sailing.registration_number.clone(),
                capacity: sailing.capacity,
            },
            mitra: Owner { id: sailing.mitra_id, name: sailing.mitra_name.clone() },
            checked_in,
            sailing,
        }
    }
}

/// Passengers of a sailing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    pub sailing: ListedSailing,
    /// When the manifest was closed. It does not change afterwards.
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
    pub arrival_timezone: Zone,
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
    /// 12 years and older.
    pub adults: u32,
    /// 2 to 11 years.
    pub children: u32,
    pub infants: u32,
    pub age_unknown: u32,
    pub by_nationality: BTreeMap<String, u32>,
}

/// A passenger of the manifest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    pub number: u32,
    pub passenger_id: Uuid,
    pub name: String,
    /// False if a reseller named the booker alone: then it is that name.
    #[serde(default = "given")]
    pub name_given: bool,
    pub gender: Option<Gender>,
    /// On the day of departure.
    pub age: Option<u32>,
    pub birth_date: Option<NaiveDate>,
    pub identity_type: Option<IdentityType>,
    pub identity_number: Option<Confidential>,
    pub nationality: Option<String>,
    /// Key of the fare. Null on a charter.
    pub fare: Option<String>,
    pub takes_seat: bool,
    pub contact: ListedContact,
    pub booking_code: String,
    pub checked_in_at: Option<DateTime<Utc>>,
    /// For checking in manually.
    pub ticket_code: String,
}

fn given() -> bool {
    true
}

impl Listed {
    /// The name, marked if it is that of the booker.
    pub fn marked_name(&self) -> String {
        match self.name_given {
            true => self.name.clone(),
            false => format!("{} *", self.name),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedContact {
    pub name: String,
    pub phone: String,
}

crate::string_enum! {
    pub enum ManifestFormat { Json = "json", Csv = "csv", Pdf = "pdf" }
}

#[derive(Default, Deserialize, JsonSchema)]
pub struct ManifestQuery {
    /// Takes precedence over the `Accept` header.
    pub format: Option<ManifestFormat>,
}

impl Input for ManifestQuery {}

/// One ticket code, or a batch of scans made offline.
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
                "Send either a ticket code or a batch of scans.",
                "Kirim satu kode tiket atau sekumpulan pindaian.",
            );
            faults.push(Fault::new("ticket_code", "required", message));
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Scan {
    /// Unique id of the scan, chosen by the device.
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

#[derive(Deserialize, JsonSchema)]
pub struct ReopenManifest {
    /// For the audit log.
    pub reason: Line<500>,
}

impl Input for ReopenManifest {}

crate::string_enum! {
    /// Outcome of a scan.
    pub enum Outcome {
        Boarded = "boarded",
        AlreadyBoarded = "already_boarded",
        /// The signature is invalid.
        Forged = "forged",
        WrongSailing = "wrong_sailing",
        /// The booking was rescheduled to this sailing; the code is of its old ticket.
        TicketReplaced = "ticket_replaced",
        Unpaid = "unpaid",
        Cancelled = "cancelled",
        Refunded = "refunded",
        ManifestClosed = "manifest_closed",
        /// The check-in of this scan was undone.
        Undone = "undone",
        /// Another scan has the same id.
        ScanIdReused = "scan_id_reused",
        /// Nothing to undo.
        NotBoarded = "not_boarded",
    }
}

/// Passenger and booking of a ticket code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Admitted {
    pub booking_id: Uuid,
    pub booking_code: String,
    pub passenger_id: Uuid,
    pub passenger_name: String,
    pub boarded_at: Option<DateTime<Utc>>,
}

/// Result for one code, or for a batch.
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
    /// Whether the scan was submitted before.
    pub repeated: bool,
    #[serde(flatten)]
    pub admitted: Option<Admitted>,
}
