//! The list of sailings as a file.

use super::{model::RouteSailing, store};
use crate::{
    kernel::{
        clock::Clock,
        csv::harmless,
        db::Db,
        error::Result,
        http::{
            PageOrCsv,
            export::{self, Row, plain, words},
        },
        ids::Uuid,
    },
    sailings::{self, SailingDetail},
};

const HEADER: &[&str] = &[
    "id",
    "from",
    "to",
    "departure_at",
    "arrival_at",
    "timezone",
    "arrival_timezone",
    "speedboat",
    "registration_number",
    "mitra",
    "price",
    "capacity",
    "seats_taken",
    "checked_in",
    "status",
    "reason",
    "cancelled_at",
    "manifest_closed_at",
];

pub fn file(clock: Clock, db: Db, ids: Vec<Uuid>) -> Result<PageOrCsv<RouteSailing>> {
    export::csv("sailings", HEADER, ids, move |ids| {
        let (clock, db) = (clock.clone(), db.clone());
        async move {
            let checked_in = store::checked_in(&db, &ids).await?;
            let cells = |sailing: SailingDetail| {
                let count = checked_in.get(&sailing.id).copied().unwrap_or_default();
                (sailing.id, cells(sailing.seen_at(clock.now()), count))
            };
            Ok(sailings::get_all(&db, &ids).await?.into_iter().map(cells).collect())
        }
    })
}

fn cells(sailing: SailingDetail, checked_in: i64) -> Row {
    vec![
        sailing.id.to_string(),
        harmless(&sailing.from_name),
        harmless(&sailing.to_name),
        sailing.departure_at.to_rfc3339(),
        sailing.arrival_at.to_rfc3339(),
        sailing.timezone.to_string(),
        sailing.arrival_timezone.to_string(),
        harmless(&sailing.speedboat_name),
        harmless(&sailing.registration_number),
        harmless(&sailing.mitra_name),
        sailing.price.0.to_string(),
        sailing.capacity.to_string(),
        sailing.seats_taken.to_string(),
        checked_in.to_string(),
        sailing.status.to_string(),
        words(sailing.reason.as_deref()),
        plain(sailing.cancelled_at.map(|at| at.to_rfc3339())),
        plain(sailing.manifest_closed_at.map(|at| at.to_rfc3339())),
    ]
}
