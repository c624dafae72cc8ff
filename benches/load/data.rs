//! The data set and the requests of the clients.

use std::{
    collections::HashSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use chrono::{Datelike, NaiveDate, TimeDelta, Utc};
use dermaga::{
    app::App,
    config::{Config, DatabaseUrl, Switch, Url},
    demo::{self, Extent},
    kernel::{clock::Clock, db::Db, ids::Uuid, money::Rupiah, secret::Secret},
};
use serde_json::{Value, json};

use super::{
    bare,
    drive::{Request, Script, call, request},
    machine::Process,
};

const SECRET: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
/// Days of simulated history, unless given.
pub const DAYS: u64 = 2;
/// The number of different searches, which are repeated.
const QUESTIONS: usize = 500;

/// A filled database.
pub struct Data {
    pub folder: PathBuf,
    pub url: Option<String>,
    app: App,
    pub berths: Arc<Vec<Berth>>,
    pub sailings: i64,
    pub bookings: i64,
}

/// A sailing that can be booked.
#[derive(Clone, dermaga::kernel::db::FromRow)]
pub struct Berth {
    pub id: Uuid,
    pub speedboat_id: Uuid,
    pub from_name: String,
    pub to_name: String,
    pub day: NaiveDate,
}

impl Data {
    /// Fills a database in this folder, or the given one on PostgreSQL.
    pub async fn fill(folder: &Path, url: Option<String>, extent: Extent) -> Self {
        let config = Config {
            data_dir: folder.into(),
            database_url: url.clone().map(|url| DatabaseUrl(Url(url))),
            secret_key: Some(Secret::new(SECRET)),
            rate_limit: Switch(false),
            ..Config::default()
        };
        let app = demo::fill(config.clone(), 1, extent, demo::Progress::hidden()).await;
        app.expect("the demo is filled").db.close().await;
        let app = App::start(config, Clock::System).await.expect("the data open");
        let soon = Utc::now() + TimeDelta::days(3);
        // Sailings that never sell out, so that every booking succeeds.
        let file = format!("sqlite:{}", folder.join("dermaga.db").display());
        let patient =
            Db::open_without_timeout(url.as_deref().unwrap_or(&file)).await.expect("opens");
        patient
            .sql("UPDATE sailings SET capacity = 1000000000 WHERE departure_at > $1")
            .bind(soon)
            .run()
            .await
            .expect("boats grow");
        patient.close().await;
        let berths: Vec<Berth> = app
            .db
            .sql(
                "SELECT s.id, s.speedboat_id, r.from_name, r.to_name, s.day FROM sailings s
                 JOIN routes r ON r.id = s.route_id
                 WHERE s.departure_at > $1 AND s.status = 'open' AND NOT s.chartered
                 ORDER BY s.speedboat_id, s.id",
            )
            .bind(soon)
            .all()
            .await
            .expect("sailings");
        // Spreads the searches over days and harbours.
        let step = (berths.len() / 2_000).max(1);
        let mut berths: Vec<_> = berths.into_iter().step_by(step).collect();
        berths.sort_by_key(|berth| berth.id.as_u128() as u64);
        let count = async |sql| app.db.sql(sql).scalar::<i64>().await.expect("a count");
        let sailings = count("SELECT COUNT(*) FROM sailings").await;
        let bookings = count("SELECT COUNT(*) FROM bookings").await;
        Self { folder: folder.into(), url, app, berths: Arc::new(berths), sailings, bookings }
    }

    /// Starts the service on this database.
    pub async fn serve(&self) -> Process {
        let binary = std::env::var_os("BENCH_BINARY");
        let binary = binary.unwrap_or_else(|| env!("CARGO_BIN_EXE_dermaga").into());
        let mut command = Command::new(binary);
        command
            .current_dir(&self.folder)
            .env("DERMAGA_DATA_DIR", &self.folder)
            .env("DERMAGA_SECRET_KEY", SECRET)
            .env("DERMAGA_RATE_LIMIT", "off")
            .env("DERMAGA_LOG", "error");
        if let Some(url) = &self.url {
            command.env("DERMAGA_DATABASE_URL", url);
        }
        Process::start(command, |command, address| {
            command.env("DERMAGA_LISTEN", address.to_string());
        })
        .await
    }

    pub async fn close(&self) {
        self.app.db.close().await;
    }

    /// Searches that many clients repeat.
    pub fn searches(&self) -> impl Script + use<> {
        let requests: Vec<_> = self.questions().map(|berth| search(berth, 2)).collect();
        move |n| Some(requests[n as usize % requests.len()].clone())
    }

    /// Searches that are not repeated within the lifetime of the cache.
    pub fn rare_searches(&self) -> impl Script + use<> {
        let berths: Vec<_> = self.questions().cloned().collect();
        move |n| {
            let (turn, which) = (n as usize / berths.len(), n as usize % berths.len());
            Some(search(&berths[which], 1 + turn % 40))
        }
    }

    /// One sailing for each search.
    fn questions(&self) -> impl Iterator<Item = &Berth> {
        let mut asked = HashSet::new();
        let berths = self.berths.iter();
        let new = berths.filter(move |berth| {
            asked.insert((berth.from_name.clone(), berth.to_name.clone(), berth.day))
        });
        new.take(QUESTIONS)
    }

    /// The number of events and mails in the outbox.
    pub async fn waiting(&self) -> i64 {
        let due = "SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL AND due_at <= $1";
        self.app.db.sql(due).bind(Utc::now()).scalar().await.expect("a count")
    }

    /// Empties the outbox.
    pub async fn forget(&self) {
        self.app.db.sql("DELETE FROM outbox").run().await.expect("they are forgotten");
    }

    pub fn sealed(&self, number: &str) -> String {
        self.app.sealer.seal(number).expect("it is sealed")
    }

    pub fn sales(&self, hot: bool) -> impl Script + use<> {
        let berths = self.berths.clone();
        move |n| Some(sale(&berths[if hot { 0 } else { n as usize % berths.len() }], n))
    }

    /// A provider's notification for each booking that is not paid yet.
    pub async fn payments(&self) -> impl Script + use<> {
        let waiting: Vec<(String, i64)> = self
            .app
            .db
            .sql(format!("SELECT p.reference, p.amount {}", bare::WAITING).leak())
            .all()
            .await
            .expect("payments");
        let notification = |(reference, amount): &(String, i64)| self.payment(reference, *amount);
        let notifications: Vec<_> = waiting.iter().map(notification).collect();
        move |n| notifications.get(n as usize).cloned()
    }

    /// A provider's notification that a booking is paid.
    pub fn payment(&self, reference: &str, amount: i64) -> Request {
        let (amount, id) = (Rupiah(amount), reference.to_owned());
        let body = self.app.gateway().simulate(reference, amount, "settlement", id);
        request("POST", "/v1/payment/callback", None, &body.to_string())
    }

    /// Lookups of bookings by guests.
    pub async fn lookups(&self) -> impl Script + use<> {
        let booked: Vec<(Uuid, String, String)> = self
            .app
            .db
            .sql("SELECT id, code, contact_email FROM bookings WHERE reseller_id IS NULL ORDER BY code LIMIT 2000")
            .all()
            .await
            .expect("bookings");
        let look = |(id, code, email): &(Uuid, String, String)| {
            request("GET", &format!("/v1/booking/{id}?code={code}&email={email}"), None, "")
        };
        let requests: Vec<_> = booked.iter().map(look).collect();
        move |n| Some(requests[n as usize % requests.len()].clone())
    }

    pub fn pages(&self, token: &str) -> impl Script + use<> {
        let token = token.to_owned();
        move |n| {
            let path = format!("/v1/booking?page_size=20&page={}", 1 + n % 5);
            Some(request("GET", &path, Some(&token), ""))
        }
    }

    /// Searches of the list of bookings, for names that many have and for one that nobody has.
    pub fn booking_searches(&self, token: &str) -> impl Script + use<> {
        const QUERIES: [&str; 6] = [
            "search=sari",
            "search=nobody%20at%20all",
            "search=wijaya&status=paid",
            "status=paid&sort_by=departure_at",
            "search=0812",
            "sort_by=total&sort_dir=desc",
        ];
        let token = token.to_owned();
        move |n| {
            let path = format!("/v1/booking?{}", QUERIES[n as usize % QUERIES.len()]);
            Some(request("GET", &path, Some(&token), ""))
        }
    }

    pub fn years(&self, token: &str) -> impl Script + use<> {
        let path = format!(
            "/v1/finance/reports/overview?period_type=Tahunan&comparison_mode=Year-over-Year\
             &year={}",
            Utc::now().year()
        );
        let request = request("GET", &path, Some(token), "");
        move |_| Some(request.clone())
    }
}

pub fn sign_in_request() -> Request {
    let body = json!({ "email": demo::ADMIN, "password": demo::PASSWORD, "role": "admin" });
    request("POST", "/v1/auth/login", None, &body.to_string())
}

pub async fn sign_in(service: SocketAddr) -> String {
    let ask = sign_in_request();
    let (_, answer) = call(&mut None, service, &ask).await.expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    answer["data"]["access_token"].as_str().expect("a token").to_owned()
}

fn search(berth: &Berth, qty: usize) -> Request {
    let Berth { from_name, to_name, day, .. } = berth;
    let body = json!({ "from": from_name, "to": to_name, "date": day, "qty": qty });
    request("POST", "/v1/speedboats/search", None, &body.to_string())
}

fn sale(berth: &Berth, n: u64) -> Request {
    let passenger = |name: &str, number: u64| {
        json!({
            "name": name, "gender": "female", "birth_date": "1990-05-04",
            "nationality": "Indonesia", "identity_type": "nik",
            "identity_number": format!("51710{number:011}"),
        })
    };
    let body = json!({
        "type": "speedboat", "item_id": berth.speedboat_id, "route_time_id": berth.id, "qty": 2,
        "code_promo": "", "note": "", "accept_terms": true,
        "contact": {
            "name": "Sari Wijaya", "email": format!("pembeli{n}@mail.example"),
            "phone": "081234567890",
        },
        "passengers": [passenger("Sari Wijaya", 2 * n), passenger("Putri Wijaya", 2 * n + 1)],
    });
    request("POST", "/v1/booking", None, &body.to_string())
}
