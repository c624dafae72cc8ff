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
const FIELDS: &str = "from to date return_date qty type sort_by";
/// How many days are offered beside the chosen one.
const STRIP: u64 = 7;
/// Sailings of a page.
const PAGE: usize = 20;

pub struct Search {
    values: Values,
    found: Option<Envelope>,
    locations: Envelope,
}

#[derive(Serialize)]
struct Day {
    date: String,
    href: String,
    current: bool,
}

impl Search {
    /// The form alone, for pages that show no sailings.
    pub async fn form(visit: &Visit) -> Self {
        Self { found: None, values: Self::values(visit), locations: locations(visit).await }
    }

    fn values(visit: &Visit) -> Values {
        let named = |name: &str| FIELDS.split(' ').any(|known| known == name);
        let query = visit.query.iter().filter(|(name, _)| named(name));
        let mut values = Values(query.cloned().collect());
        for (name, value) in [("date", visit.today().to_string()), ("qty", "1".to_owned())] {
            if values.get(name).is_none_or(str::is_empty) {
                values.set(name, value);
            }
        }
        values
    }

    /// Searches if the address says from where to where: all sailings, or those of one partner.
    pub async fn run(visit: &Visit, partner: Option<&str>) -> Self {
        let values = Self::values(visit);
        let is_asked = ["from", "to"].iter().all(|name| visit.parameter(name).is_some());
        let searched = async {
            if !is_asked {
                return None;
            }
            let input = visit.web.client().input("search_sailings");
            let mut body = forms::body(&input, &values, false);
            body["page_size"] = json!(PAGE);
            body["mitra_id"] = json!(partner);
            if let Some(page) = visit.parameter("page") {
                body["page"] = page.parse().map_or_else(|_| json!(page), |page: i64| json!(page));
            }
            Some(visit.ask(Call::of("search_sailings").json(body)).await)
        };
        let (found, locations) = tokio::join!(searched, locations(visit));
        Self { values, found, locations }
    }

    /// The answer, if it is neither a result nor a refusal of what was typed.
    pub fn failure(&self) -> Option<&Envelope> {
        let searched = self.found.as_ref().filter(|found| found.status != 422);
        let answers = searched.into_iter().chain([&self.locations]);
        answers.into_iter().find(|answer| !answer.is_success())
    }

    /// The harbours and where one can go from there.
    pub fn locations(&self) -> &Value {
        &self.locations.data
    }

    /// The sailings that were found.
    pub fn offers(&self) -> &[Value] {
        let found = self.found.as_ref().filter(|found| found.is_success());
        found.and_then(|found| found.data.as_array()).map_or(&[], Vec::as_slice)
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
        let found = self.found.as_ref().filter(|found| found.is_success());
        let link = |offers: Option<&Value>| -> Vec<_> {
            let offers = offers.and_then(Value::as_array).into_iter().flatten();
            offers.take(PAGE).map(|offer| (offer.clone(), self.link(book, offer))).collect()
        };
        let figure = |name: &str| found.and_then(|found| found.pagination[name].as_i64());
        let (page, pages) = (figure("page"), figure("total_pages"));
        let page_link = |page: i64| {
            let mut query = values.clone();
            query.set("page", page.to_string());
            with_query(&visit.path, &query.0)
        };
        let names = self.locations().as_array().into_iter().flatten();
        context! {
            problems => data(form.problems(&fields)),
            fields => data(by_name(fields)),
            asked => self.found.as_ref().is_some_and(Envelope::is_success),
            offers => data(link(found.map(|found| &found.data))),
            // The way back is not paged: it has a search of its own.
            back => data(link(found.and_then(|found| found.beside.get("return")))),
            earlier => page.filter(|page| *page > 1).map(|page| page_link(page - 1)),
            later => page.zip(pages).filter(|(page, pages)| page < pages).map(|(page, _)| page_link(page + 1)),
            harbours => data(names.filter_map(|one| one["name"].as_str()).collect::<Vec<_>>()),
            strip => data(self.strip(visit)),
            chosen => values.get("date"),
            returns_on => values.get("return_date").filter(|day| !day.is_empty()),
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
        let today = visit.today();
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

async fn locations(visit: &Visit) -> Envelope {
    visit.ask(Call::of("list_locations")).await
}
