//! Which fare a passenger has, and whether they may have it. Pure functions.

use chrono::{Datelike, NaiveDate};

use super::{forms::PassengerForm, model::StoredPassenger};
use crate::{
    kernel::{
        error::{Error, Fault, Result},
        lang::text,
    },
    lines::{Category, Fare},
};

/// The fares of the passengers: what each asks for, or else the first one. Somebody without a seat
/// needs an adult with one of their own.
pub fn chosen(fares: &[Fare], asked: &[Option<&str>]) -> Result<Vec<Fare>> {
    let mut faults = Vec::new();
    let mut chosen = Vec::with_capacity(asked.len());
    for (index, key) in asked.iter().enumerate() {
        let found = match key {
            Some(key) => fares.iter().find(|fare| fare.key == key.trim()),
            None => fares.first(),
        };
        match found {
            Some(fare) => chosen.push(fare.clone()),
            None => {
                let message = text("This fare does not exist.", "Tarif ini tidak ada.");
                faults.push(Fault::new(field(index, "fare"), "unknown", message));
            }
        }
    }
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    let is_adult = |fare: &&Fare| fare.category == Category::Adult && fare.takes_seat;
    let adults = chosen.iter().filter(is_adult).count();
    let without_seat = chosen.iter().enumerate().filter(|(_, fare)| !fare.takes_seat);
    for (index, _) in without_seat.skip(adults) {
        let message = text(
            "A passenger without a seat needs an adult of their own.",
            "Penumpang tanpa kursi harus didampingi satu orang dewasa.",
        );
        faults.push(Fault::new(field(index, "fare"), "adult_required", message));
    }
    if faults.is_empty() { Ok(chosen) } else { Err(Error::Invalid(faults)) }
}

/// Refuses passengers whose age, as far as it is known, is not that of their fare, or who have to
/// identify themselves and do not.
pub fn ensure_entitled(fares: &[Fare], passengers: &[PassengerForm], day: NaiveDate) -> Result<()> {
    let mut faults = Vec::new();
    for (index, (fare, passenger)) in fares.iter().zip(passengers).enumerate() {
        let is_identified = passenger.identity_number.is_some();
        check(fare, index, passenger.birth_date, is_identified, day, &mut faults);
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

/// The same for passengers who were corrected, each with the index of the correction. `fares` are
/// those of the line; a fare that it no longer has demands nothing.
pub fn ensure_still_entitled<'a>(
    fares: &[Fare],
    corrected: impl Iterator<Item = (usize, &'a StoredPassenger)>,
    day: NaiveDate,
) -> Result<()> {
    let mut faults = Vec::new();
    for (index, passenger) in corrected {
        let fare = fares.iter().find(|fare| passenger.fare.as_ref() == Some(&fare.key));
        if let Some(fare) = fare {
            let is_identified = passenger.identity_number.is_some();
            check(fare, index, passenger.birth_date, is_identified, day, &mut faults);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

fn check(
    fare: &Fare,
    index: usize,
    birth_date: Option<NaiveDate>,
    is_identified: bool,
    day: NaiveDate,
    faults: &mut Vec<Fault>,
) {
    if birth_date.is_some_and(|birth| !fare.admits(age(birth, day))) {
        let message = text(
            "The fare is for passengers of another age.",
            "Tarif ini untuk penumpang dengan usia lain.",
        );
        faults.push(Fault::new(field(index, "birth_date"), "age", message));
    }
    if fare.id_required && !is_identified {
        let message =
            text("This fare needs an identity number.", "Tarif ini memerlukan nomor identitas.");
        faults.push(Fault::new(field(index, "identity_number"), "required", message));
    }
}

fn field(index: usize, name: &str) -> String {
    format!("passengers[{index}].{name}")
}

/// Years on a day; negative for somebody who is born later.
fn age(birth: NaiveDate, on: NaiveDate) -> i32 {
    let had = (on.month(), on.day()) >= (birth.month(), birth.day());
    on.year() - birth.year() - i32::from(!had)
}
