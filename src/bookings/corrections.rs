//! Corrections of passengers and of the contact.
//!
//! - A ticket is of a place in the booking, so its code stays valid when the name changes; the name on
//!   the printed page is old.
//! - The contact's e-mail address opens the booking, so the old and the new address are told of a
//!   change.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    forms::{GuestCredentials, blank_details_are_null, identity_fault},
    model::{Boarded, Gender, IdentityType, StoredPassenger},
    rules::{Actor, Refusal},
};
use crate::kernel::{
    email::Email,
    error::{Error, Fault, Result},
    ids::Uuid,
    lang::text,
    patch::Patch,
    phone::Phone,
    schema::Input,
    seal::Sealer,
    text::{Line, Name, without_url},
};

/// Details that are left out keep their value; null clears them.
#[derive(Deserialize, JsonSchema)]
pub struct PassengerCorrection {
    /// UUID of the passenger.
    pub id: Uuid,
    pub name: Option<Name>,
    #[serde(default)]
    pub identity_type: Patch<IdentityType>,
    #[serde(default)]
    pub identity_number: Patch<Line<30>>,
    #[serde(default)]
    pub gender: Patch<Gender>,
    #[serde(default)]
    pub birth_date: Patch<NaiveDate>,
    #[serde(default)]
    pub nationality: Patch<Line<60>>,
}

/// Passengers that are not named stay as they are.
#[derive(Deserialize, JsonSchema)]
pub struct CorrectPassengers {
    #[schemars(length(min = 1, max = 500))]
    pub passengers: Vec<PassengerCorrection>,
    #[serde(flatten)]
    pub credentials: GuestCredentials,
}

impl Input for CorrectPassengers {
    fn tidy(value: &mut Value) {
        blank_details_are_null(value);
    }

    fn check(value: &Value, faults: &mut Vec<Fault>) {
        let mut seen = HashSet::new();
        for (index, passenger) in value["passengers"].as_array().into_iter().flatten().enumerate() {
            refuse_null(passenger, "name", format!("passengers[{index}].name"), faults);
            let id = passenger["id"].as_str().map(str::to_ascii_lowercase);
            if id.is_some_and(|id| !seen.insert(id)) {
                let message =
                    text("This passenger is named twice.", "Penumpang ini disebut dua kali.");
                faults.push(Fault::new(format!("passengers[{index}].id"), "unique", message));
            }
        }
    }
}

/// Fields that are left out keep their value.
#[derive(Deserialize, JsonSchema)]
pub struct CorrectContact {
    pub name: Option<Name>,
    pub email: Option<Email>,
    pub phone: Option<Phone>,
}

impl Input for CorrectContact {
    fn check(value: &Value, faults: &mut Vec<Fault>) {
        for name in ["name", "email", "phone"] {
            refuse_null(value, name, name.to_owned(), faults);
        }
    }
}

/// A contact always has these, so null cannot clear them.
fn refuse_null(value: &Value, name: &str, field: String, faults: &mut Vec<Fault>) {
    if value.get(name).is_some_and(Value::is_null) {
        let message = text("This cannot be cleared.", "Ini tidak dapat dikosongkan.");
        faults.push(Fault::new(field, "required", message));
    }
}

/// The passengers after the corrections. A booker cannot change who is already on board.
pub fn apply(
    before: &[StoredPassenger],
    boarded: &Boarded,
    corrections: &[PassengerCorrection],
    actor: Actor,
    sealer: &Sealer,
) -> Result<Vec<StoredPassenger>> {
    let (mut after, mut faults) = (before.to_vec(), Vec::new());
    let places: HashMap<Uuid, usize> =
        before.iter().enumerate().map(|(place, passenger)| (passenger.id, place)).collect();
    for (index, correction) in corrections.iter().enumerate() {
        let field = |name: &str| format!("passengers[{index}].{name}");
        let place = places.get(&correction.id);
        let Some(passenger) = place.and_then(|place| after.get_mut(*place)) else {
            let message = text(
                "This passenger is not of this booking.",
                "Penumpang ini bukan dari pemesanan ini.",
            );
            faults.push(Fault::new(field("id"), "unknown", message));
            continue;
        };
        if actor == Actor::Guest && boarded.contains_key(&passenger.id) {
            return Err(Refusal::AlreadyBoarded.into());
        }
        if let Some(name) = &correction.name {
            if actor == Actor::Guest {
                without_url(field("name"), name, &mut faults);
            }
            passenger.name = name.to_string();
        }
        passenger.gender = correction.gender.clone().over(passenger.gender);
        passenger.birth_date = correction.birth_date.clone().over(passenger.birth_date);
        passenger.nationality = correction.nationality.clone().over(passenger.nationality.take());
        passenger.identity_type = correction.identity_type.clone().over(passenger.identity_type);
        let kind = passenger.identity_type.map(IdentityType::as_str);
        match &correction.identity_number {
            Patch::Set(number) => {
                faults.extend(identity_fault(kind, number, field));
                passenger.identity_number = Some(sealer.seal(number)?);
            }
            Patch::Clear => passenger.identity_number = None,
            // Another type must fit the number that is kept.
            Patch::Keep if correction.identity_type != Patch::Keep => {
                if let Some(sealed) = &passenger.identity_number {
                    faults.extend(identity_fault(kind, &sealer.open(sealed)?, field));
                }
            }
            Patch::Keep => {}
        }
    }
    if faults.is_empty() { Ok(after) } else { Err(Error::Invalid(faults)) }
}

/// Whether a correction changed something. An identity number is encrypted again when it is sent again,
/// so it counts as changed.
pub fn differ(before: &[StoredPassenger], after: &[StoredPassenger]) -> bool {
    let same = |(one, other): (&StoredPassenger, &StoredPassenger)| {
        one.name == other.name
            && one.identity_type == other.identity_type
            && one.identity_number == other.identity_number
            && one.gender == other.gender
            && one.birth_date == other.birth_date
            && one.nationality == other.nationality
    };
    !before.iter().zip(after).all(same)
}
