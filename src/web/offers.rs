//! Searching sailings to book: the search form, the days around, and what was found.

use chrono::{Days, NaiveDate};
use minijinja::{Value as Data, context};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    client::{Call, Envelope},
    fields::Form,
    forms::{self, Spec, Values},
    view::{by_name, data},
    visit::{Visit, with_query},
};

/// What is searched for: the parameters of the address.
const FIELDS: &str = "from to date qty type sort_by";
/// How many days are offered beside the chosen one.
const STRIP: u64 = 7;

pub struct Search {
    values: Values,
    found: Option<Envelope>,
    locations: Value,
}

#[derive(Serialize)]
struct Day {
    date: String,
    href: String,
    current: bool,
}

impl Search {
    /// Searches if the address says from where to where.
    pub async fn run(visit: &Visit) -> Self {
        let named = |name: &str| FIELDS.split(' ').any(|known| known == name);
        let query = visit.query.iter().filter(|(name, _)| named(name));
        let mut values = Values(query.cloned().collect());
        for (name, value) in [("date", today(visit).to_string()), ("qty", "1".to_owned())] {
            if values.get(name).is_none_or(str::is_empty) {
                values.set(name, value);
            }
        }
        let is_asked = ["from", "to"].iter().all(|name| visit.parameter(name).is_some());
        let searched = async {
            if !is_asked {
                return None;
            }
            let input = visit.web.client().input("search_sailings");
            let mut body = forms::body(&input, &values, false);
            body["page_size"] = json!(100);
            Some(visit.ask(Call::of("search_sailings").json(body)).await)
        };
        let (found, locations) = tokio::join!(searched, visit.ask(Call::of("list_locations")));
        Self { values, found, locations: locations.data }
    }

    /// Keeps the sailings of one partner.
    pub fn of_partner(mut self, partner: &str) -> Self {
        if let Some(Value::Array(offers)) = self.found.as_mut().map(|found| &mut found.data) {
            offers.retain(|offer| offer["mitra"]["id"] == partner);
        }
        self
    }

    /// The answer, if it is neither a result nor a refusal of what was typed.
    pub fn failure(&self) -> Option<&Envelope> {
        self.found.as_ref().filter(|found| !found.is_success() && found.status != 422)
    }

    pub fn status(&self) -> u16 {
        self.found.as_ref().map_or(200, |found| found.status)
    }

    /// What the templates show. `book` is the path of the page of a sailing.
    pub fn contents(&self, visit: &Visit, book: &str) -> Data {
        let input = visit.web.client().input("search_sailings");
        let faults = self.found.as_ref().map_or(&[][..], |found| found.faults.as_slice());
        let (values, lang) = (&self.values, visit.lang());
        let form = Form { input: &input, values, faults, choices: &Default::default(), lang };
        let fields = form.fields(&Spec::parse(FIELDS));
        let offers = self.found.as_ref().and_then(|found| found.data.as_array());
        let offers = offers.into_iter().flatten().map(|offer| (offer, self.link(book, offer)));
        let more = self.found.as_ref().and_then(|found| found.pagination["total_items"].as_i64());
        let names = self.locations.as_array().into_iter().flatten();
        context! {
            problems => data(form.problems(&fields)),
            fields => data(by_name(fields)),
            asked => self.found.as_ref().is_some_and(Envelope::is_success),
            offers => data(offers.collect::<Vec<_>>()),
            is_first_hundred => more.is_some_and(|total| total > 100),
            harbours => data(names.filter_map(|one| one["name"].as_str()).collect::<Vec<_>>()),
            strip => data(self.strip(visit)),
            chosen => values.get("date"),
        }
    }

    fn link(&self, book: &str, offer: &Value) -> String {
        let text = |name: &str| offer[name].as_str().unwrap_or_default().to_owned();
        let query = [
            ("item_id".to_owned(), text("item_id")),
            ("type".to_owned(), text("type")),
            ("qty".to_owned(), self.values.get("qty").unwrap_or("1").to_owned()),
        ];
        with_query(&format!("{book}/{}", text("route_time_id")), &query)
    }

    /// The same search on the days around.
    fn strip(&self, visit: &Visit) -> Vec<Day> {
        let today = today(visit);
        let chosen = self.values.get("date").and_then(|date| date.parse().ok()).unwrap_or(today);
        let first = chosen.checked_sub_days(Days::new(STRIP / 2)).unwrap_or(chosen).max(today);
        let days = (0..STRIP).filter_map(|offset| first.checked_add_days(Days::new(offset)));
        let day = |date: NaiveDate| {
            let mut query = self.values.clone();
            query.set("date", date.to_string());
            let href = with_query(&visit.path, &query.0);
            Day { date: date.to_string(), href, current: date == chosen }
        };
        days.map(day).collect()
    }
}

fn today(visit: &Visit) -> NaiveDate {
    let app = visit.web.app();
    app.clock.now().with_timezone(&app.config.timezone).date_naive()
}
