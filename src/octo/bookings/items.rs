//! Unit items: passengers by fare, and what they cost. Pure functions.

use serde_json::json;

use crate::{
    bookings::{FareLine, Goods, Price, ResoldPassenger, StoredPassenger, chosen_fares, price},
    kernel::{
        ids,
        money::{Rate, Rupiah},
    },
    lines::{Fare, PassengerNames},
    octo::{
        access::{Client, Grant},
        error::{Problem, Result},
        request::{Contact, ItemForm},
        store::LineRow,
    },
    partners::settlement_configuration,
};

/// The fares of the items. Refuses units that the line does not have, too many of them, and passengers
/// without a seat and without an adult.
pub fn fares(line: &LineRow, items: Option<&[ItemForm]>) -> Result<Vec<Fare>> {
    let items = items.unwrap_or_default();
    for item in items {
        if !line.fares.iter().any(|fare| fare.key == item.unit_id) {
            return Err(Problem::unit(json!(item.unit_id)));
        }
    }
    if items.is_empty() {
        return Err(Problem::unprocessable(
            "At least one unit item is required.",
            "Paling sedikit satu unitItems diperlukan.",
        ));
    }
    if items.len() > line.max_party.unsigned_abs() as usize {
        return Err(Problem::unprocessable(
            "These are more units than the option allows.",
            "Jumlah unit melebihi batas opsi ini.",
        ));
    }
    let keys: Vec<_> = items.iter().map(|item| Some(item.unit_id.as_str())).collect();
    let fares = chosen_fares(&line.fares, &keys)?;
    if !fares.iter().any(|fare| fare.takes_seat) {
        return Err(Problem::unprocessable(
            "At least one unit must take a seat.",
            "Paling sedikit satu unit harus memakai kursi.",
        ));
    }
    Ok(fares)
}

/// Whether a booking of these fares has exactly the units of the items.
pub fn are_units_of(sold: &[FareLine], items: &[ItemForm]) -> bool {
    let asked = |line: &FareLine| items.iter().filter(|item| item.unit_id == line.fare).count();
    let is_same = |line: &FareLine| usize::try_from(line.count).is_ok_and(|n| n == asked(line));
    sold.iter().all(is_same) && sold.iter().map(asked).sum::<usize>() == items.len()
}

/// What a reseller pays for these fares on a sailing of this price.
pub fn priced(
    client: &Client,
    grant: &Grant,
    line: &LineRow,
    seat_price: Rupiah,
    fares: &[Fare],
) -> Result<(Price, i32)> {
    let mut goods = Goods::passages(seat_price, fares);
    for sold in &mut goods.lines {
        sold.margin = Some(grant.margin(line.line_id, &sold.fare, sold.unit_price));
    }
    let rate: Rate =
        line.commission_rate.unwrap_or_else(settlement_configuration::standard_commission);
    let price = price(&goods, None, &client.taxes, rate);
    if price.margin > price.commission && !grant.allow_loss {
        return Err(Problem::unprocessable(
            "The agreed margin is above the commission of this partner; ask the platform.",
            "Margin yang disepakati melebihi komisi mitra ini; hubungi platform.",
        ));
    }
    Ok((price, goods.seats))
}

/// The passengers of the items. Those that are known keep their tickets: an item is matched by its
/// uuid, and else by its unit, in order.
pub fn passengers(
    known: &[StoredPassenger],
    items: &[ItemForm],
    sold: &[FareLine],
) -> Vec<StoredPassenger> {
    let mut left: Vec<Option<&StoredPassenger>> = known.iter().map(Some).collect();
    let mut take = |matches: &dyn Fn(&StoredPassenger) -> bool| {
        let found = left.iter_mut().find(|one| one.is_some_and(matches));
        found.and_then(Option::take)
    };
    let uuid = |passenger: &StoredPassenger| passenger.resold.as_ref().map(|resold| resold.uuid);
    let by_uuid: Vec<_> = items
        .iter()
        .map(|item| item.uuid.and_then(|wanted| take(&|one| uuid(one) == Some(wanted))))
        .collect();
    let mut all = Vec::with_capacity(items.len());
    for (item, by_uuid) in items.iter().zip(by_uuid) {
        let is_alike = |one: &StoredPassenger| one.fare.as_ref() == Some(&item.unit_id);
        let known = by_uuid.or_else(|| match item.uuid {
            Some(_) => None,
            None => take(&is_alike),
        });
        let fare = sold.iter().find(|line| line.fare == item.unit_id);
        all.push(passenger(known, item, fare));
    }
    all
}

fn passenger(
    known: Option<&StoredPassenger>,
    item: &ItemForm,
    fare: Option<&FareLine>,
) -> StoredPassenger {
    let said = known.and_then(|known| known.resold.clone());
    let contact = item.contact.clone().over(known.and_then(contact_of));
    let reference = said.as_ref().and_then(|said| said.reference.clone());
    let uuid = item.uuid.or(said.map(|said| said.uuid)).unwrap_or_else(ids::fresh);
    StoredPassenger {
        id: known.map_or_else(ids::fresh, |known| known.id),
        // Set by `named`.
        name: String::new(),
        identity_type: known.and_then(|known| known.identity_type),
        identity_number: known.and_then(|known| known.identity_number.clone()),
        gender: known.and_then(|known| known.gender),
        birth_date: known.and_then(|known| known.birth_date),
        nationality: known.and_then(|known| known.nationality.clone()),
        fare: Some(item.unit_id.clone()),
        unit_price: fare.map(|fare| fare.unit_price),
        takes_seat: fare.is_none_or(|fare| fare.takes_seat),
        place: None,
        resold: Some(ResoldPassenger {
            uuid,
            reference: item.reference.clone().over(reference),
            contact: contact.map(|contact| json!(contact)),
            name_given: false,
        }),
    }
}

/// The contact of a unit item.
pub fn contact_of(passenger: &StoredPassenger) -> Option<Contact> {
    let contact = passenger.resold.as_ref()?.contact.clone()?;
    serde_json::from_value(contact).ok()
}

/// Names the passengers: each by its own contact, or else by that of the booking.
pub fn named(passengers: &mut [StoredPassenger], lead: Option<&Contact>) {
    let lead = lead.and_then(Contact::name).unwrap_or_default();
    for passenger in passengers {
        let own = contact_of(passenger).and_then(|own| own.name());
        let Some(resold) = &mut passenger.resold else { continue };
        resold.name_given = own.is_some();
        passenger.name = own.unwrap_or_else(|| lead.clone());
    }
}

/// Refuses passengers without a name: the lead's, or that of each.
pub fn ensure_named(line: &LineRow, passengers: &[StoredPassenger]) -> Result<()> {
    let is_given = |passenger: &StoredPassenger| {
        passenger.resold.as_ref().is_none_or(|resold| resold.name_given)
    };
    let missing = match line.names {
        PassengerNames::All => passengers.iter().any(|one| !is_given(one)),
        PassengerNames::Lead => false,
    };
    match missing {
        true => Err(Problem::unprocessable(
            "Every unit item needs a contact with a name.",
            "Setiap unitItems memerlukan kontak dengan nama.",
        )),
        false => Ok(()),
    }
}
