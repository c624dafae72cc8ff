//! A running service on a fresh database, and its callers.

use std::{net::SocketAddr, path::PathBuf, sync::LazyLock};

use argon2::{Algorithm, Argon2, Params, Version, password_hash::PasswordHasher};
use chrono::{DateTime, TimeDelta, Utc};
use dermaga::{
    app::App,
    config::{Config, DatabaseUrl, Switch, Url},
    edge::{self, ConnectionLimits, Edge},
    kernel::{access::Rule, clock::Clock, db::Db, ids},
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{OnceCell, oneshot},
};

use super::{documented, form::Form, memory, postgres};

/// Runs each test on both engines.
#[macro_export]
macro_rules! on_both_engines {
    ($($test:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::world::World::on_sqlite().await).await;
            })+
        }

        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(world) = $crate::world::World::on_postgres().await {
                    let url = world.url().unwrap_or_default();
                    super::$test(world).await;
                    $crate::postgres::remove(&url).await;
                }
            })+
        }
    };
}

/// The key with which the payment provider signs.
pub const SERVER_KEY: &str = "kunci-server";
pub const PASSWORD: &str = "ombak tenang 9 perahu";

pub struct World {
    pub app: App,
    pub address: SocketAddr,
    client: reqwest::Client,
    folder: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<()>>,
}

/// A migrated SQLite database, the template of all others.
async fn migrated() -> &'static [u8] {
    static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let made = TEMPLATE.get_or_init(async || {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dermaga.db");
        let db = Db::open(file.to_str().unwrap()).await.unwrap();
        db.migrate().await.unwrap();
        db.close().await;
        assert!(!folder.path().join("dermaga.db-wal").exists(), "the file has it all");
        std::fs::read(file).unwrap()
    });
    made.await
}

/// A signed-in account.
#[derive(Clone)]
pub struct Someone {
    pub token: String,
    pub id: String,
    pub email: String,
}

impl World {
    pub async fn on_sqlite() -> Self {
        Self::start(None, |_| {}).await
    }

    pub async fn on_postgres() -> Option<Self> {
        Some(Self::start(Some(postgres::database().await?), |_| {}).await)
    }

    /// The address of its database; `None` on SQLite.
    pub fn url(&self) -> Option<String> {
        self.app.config.database_url.clone().map(|url| url.0.0)
    }

    /// The same with other settings.
    pub async fn with(self, change: impl FnOnce(&mut Config)) -> Self {
        Self::start(self.url(), change).await
    }

    /// Another process on the same PostgreSQL database.
    pub async fn second_process(&self) -> Self {
        Self::start(Some(self.url().expect("only PostgreSQL is shared")), |_| {}).await
    }

    /// Stops the service and closes the database; `restarts` starts it again.
    pub async fn stops(&mut self) -> (PathBuf, String) {
        self.drain().await;
        self.app.db.close().await;
        let config = &self.app.config;
        let url = match &config.database_url {
            Some(url) => url.0.0.clone(),
            None => format!("sqlite:{}", config.data_dir.join("dermaga.db").display()),
        };
        (config.data_dir.clone(), url)
    }

    pub async fn restarts(self) -> Self {
        let url = self.url();
        Self::start_in(self.folder, url, |_| {}).await
    }

    /// Restarts it with other settings.
    pub async fn restarts_with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        self.drain().await;
        self.app.db.close().await;
        let url = self.url();
        Self::start_in(self.folder, url, change).await
    }

    async fn start(database: Option<String>, change: impl FnOnce(&mut Config)) -> Self {
        Self::start_in(memory::folder("dermaga-").unwrap(), database, change).await
    }

    async fn start_in(
        folder: tempfile::TempDir,
        database: Option<String>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        // Prints the log with a failing test, because responses do not contain the cause of a
        // fault.
        let log = tracing_subscriber::fmt().with_ansi(false);
        let log = log.with_max_level(tracing::Level::ERROR);
        let _ = log.with_test_writer().try_init();
        let mut config = Config {
            data_dir: folder.path().to_owned(),
            database_url: database.map(|url| DatabaseUrl(Url(url))),
            secret_key: Some(dermaga::kernel::secret::Secret::new(
                "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
            )),
            rate_limit: Switch(false),
            payment_server_key: Some(dermaga::kernel::secret::Secret::new(SERVER_KEY)),
            ..Config::default()
        };
        change(&mut config);
        let file = config.data_dir.join("dermaga.db");
        if config.database_url.is_none() && !file.exists() {
            std::fs::write(file, migrated().await).unwrap();
        }
        let clock = Clock::manual("2026-11-15T03:00:00Z".parse().unwrap());
        let app = App::start(config, clock).await.unwrap();
        dermaga::reports::ensure(&app).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async { drop(stopped.await) };
        // Clients and service share the threads of a test, so many clients may be slow to send.
        let connections = ConnectionLimits { incomplete: 1_024, ..ConnectionLimits::default() };
        let edge = Edge { connections, ..Edge::default() };
        let served = tokio::spawn(edge::serve(app.clone(), listener, edge, shutdown));
        let client = client();
        Self { app, address, client, folder, stop: Some(stop), served: Some(served) }
    }

    /// Stops the service and waits for its end.
    pub async fn drain(&mut self) {
        drop(self.stop.take());
        self.served.take().unwrap().await.unwrap();
    }

    pub fn db(&self) -> &Db {
        &self.app.db
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.app.clock.now()
    }

    pub fn advances_clock(&self, by: TimeDelta) {
        self.app.clock.advance(by);
    }

    pub fn get(&self, path: &str) -> Call<'_> {
        self.call(Method::GET, path)
    }

    pub fn post(&self, path: &str, body: Value) -> Call<'_> {
        self.call(Method::POST, path).json(body)
    }

    pub fn put(&self, path: &str, body: Value) -> Call<'_> {
        self.call(Method::PUT, path).json(body)
    }

    pub fn delete(&self, path: &str) -> Call<'_> {
        self.call(Method::DELETE, path)
    }

    pub fn call(&self, method: Method, path: &str) -> Call<'_> {
        let request = self.client.request(method, format!("http://{}{path}", self.address));
        Call { request, _world: self }
    }

    pub async fn login(&self, email: &str, role: &str) -> Answer {
        let body = json!({ "email": email, "password": PASSWORD, "role": role });
        self.post("/v1/auth/login", body).send().await
    }

    pub async fn signs_in(&self, email: &str, role: &str) -> Someone {
        let data = self.login(email, role).await.ok();
        Someone {
            token: data["access_token"].as_str().unwrap().into(),
            id: data["user"]["id"].as_str().unwrap().into(),
            email: email.into(),
        }
    }

    /// A signed-in admin.
    pub async fn admin(&self) -> Someone {
        self.admin_with_email("admin@dermaga.test").await
    }

    pub async fn admin_with_email(&self, email: &str) -> Someone {
        self.account(email, "admin").await;
        self.signs_in(email, "admin").await
    }

    /// Staff with exactly these rules.
    pub async fn staff(&self, email: &str, rules: &[Rule]) -> Someone {
        self.staff_of_level("operator", email, rules).await
    }

    pub async fn staff_of_level(
        &self,
        level: &'static str,
        email: &str,
        rules: &[Rule],
    ) -> Someone {
        let account = self.account(email, "staff").await;
        let permission = ids::fresh();
        let words: Vec<_> = rules.iter().map(|rule| rule.as_str()).collect();
        self.db()
            .sql(
                "INSERT INTO permissions (id, name, description, level, rules, created_at,
                   updated_at)
                 VALUES ($1, $2, '', $5, $3, $4, $4)",
            )
            .bind(permission)
            .bind(permission.to_string())
            .bind(json!(words))
            .bind(self.now())
            .bind(level)
            .run()
            .await
            .unwrap();
        self.db()
            .sql(
                "INSERT INTO staff (id, account_id, permission_id, join_date, working_type,
                   show_salary, salary, address, bank_code, account_number, account_name,
                   created_at, updated_at)
                 VALUES ($1, $2, $3, $4, 'full_time', FALSE, 0, $5, '', '', '', $6, $6)",
            )
            .bind(ids::fresh())
            .bind(account)
            .bind(permission)
            .bind(self.now().date_naive())
            .bind(json!({ "street": "", "city": "", "province": "", "postal_code": "" }))
            .bind(self.now())
            .run()
            .await
            .unwrap();
        self.signs_in(email, "staff").await
    }

    /// A partner who has registered, verified its address and signed in.
    pub async fn partner(&self, email: &str) -> Someone {
        self.post("/auth/register-mitra", registration(email)).send().await.ok();
        self.verifies_email(email).await;
        self.signs_in(email, "mitra").await
    }

    /// Marks an address as verified, without the letter.
    pub async fn verifies_email(&self, email: &str) {
        let email = email.parse().unwrap();
        dermaga::accounts::mark_email_verified(&self.app, &email).await.unwrap();
    }

    /// An account put straight into the database, with the password of everyone here.
    pub async fn account(&self, email: &str, role: &'static str) -> ids::Uuid {
        let id = ids::fresh();
        // The cheapest parameters: verifying would take half of the time of all tests.
        static HASH: LazyLock<String> = LazyLock::new(|| {
            let params = Params::new(Params::MIN_M_COST, 1, 1, None).unwrap();
            let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
            argon2.hash_password(PASSWORD.as_bytes()).unwrap().to_string()
        });
        self.db()
            .sql(
                "INSERT INTO accounts (id, name, email, email_verified, role, status,
                   password_hash, created_at, updated_at)
                 VALUES ($1, 'Wayan', $2, TRUE, $3, 'active', $4, $5, $5)",
            )
            .bind(id)
            .bind(email.to_owned())
            .bind(role)
            .bind(HASH.clone())
            .bind(self.now())
            .run()
            .await
            .unwrap();
        id
    }

    pub async fn set_status(&self, who: &Someone, status: &'static str) {
        self.db()
            .sql("UPDATE accounts SET status = $1 WHERE id = $2")
            .bind(status)
            .bind(who.id.parse::<ids::Uuid>().unwrap())
            .run()
            .await
            .unwrap();
    }

    /// Sends raw text and reads the start of the response.
    pub async fn raw_response(&self, request: &str) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut start = vec![0; 512];
        let length = stream.read(&mut start).await.unwrap();
        String::from_utf8_lossy(&start[..length]).into_owned()
    }

    pub async fn count(&self, statement: &'static str) -> i64 {
        self.db().sql(statement).scalar().await.unwrap()
    }

    /// All data at rest: the files of SQLite, or every row of PostgreSQL as text.
    pub async fn all_stored_data(&self) -> String {
        if self.db().engine() == "sqlite" {
            let files = ["dermaga.db", "dermaga.db-wal"].map(|name| self.folder.path().join(name));
            let bytes = files.map(|file| std::fs::read(file).unwrap_or_default());
            return String::from_utf8_lossy(&bytes.concat()).into_owned();
        }
        let tables: Vec<(String,)> = self
            .db()
            .sql("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
            .all()
            .await
            .unwrap();
        let mut text = String::new();
        for (table,) in tables {
            let all: &'static str = format!("SELECT t::text FROM \"{table}\" t").leak();
            let rows: Vec<(String,)> = self.db().sql(all).all().await.unwrap();
            text.extend(rows.into_iter().map(|(row,)| row + "\n"));
        }
        text
    }

    /// Delivers everything in the outbox that is due.
    pub async fn delivers_outbox(&self) {
        while self.app.deliver_due().await.unwrap() > 0 {}
    }

    /// The mails to an address, oldest first, as text.
    pub fn letters_to(&self, email: &str) -> Vec<String> {
        let folder: PathBuf = self.folder.path().join("mail");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        // Mails that are still being written have another name.
        let mut files: Vec<_> = files
            .map(|file| file.path())
            .filter(|file| file.extension().is_some_and(|end| end == "eml"))
            .collect();
        files.sort();
        let letters = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
        letters.map(|letter| decode(&letter)).filter(|letter| letter.contains(email)).collect()
    }

    /// The token in the newest mail to an address.
    pub fn mailed_token(&self, email: &str) -> String {
        let letters = self.letters_to(email);
        let after = letters.iter().rev().find_map(|letter| letter.split("token=").nth(1));
        let after = after.expect("a letter with a link was sent");
        let of_token = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
        after.chars().take_while(of_token).collect()
    }
}

/// Decodes quoted-printable.
fn decode(letter: &str) -> String {
    let mut bytes = Vec::new();
    let unfolded = letter.replace("=\r\n", "");
    let mut rest = unfolded.bytes();
    while let Some(byte) = rest.next() {
        let hex = |rest: &std::str::Bytes<'_>| {
            let mut ahead = rest.clone();
            let pair = [ahead.next()?, ahead.next()?];
            u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()
        };
        match (byte, hex(&rest)) {
            (b'=', Some(decoded)) => {
                bytes.push(decoded);
                rest.nth(1);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Tests do not use TLS, and reading the system's certificates takes time.
    reqwest::Client::builder().tls_certs_only([]).build().unwrap()
}

pub fn registration(email: &str) -> Value {
    json!({
        "name": "Made Bahari",
        "email": email,
        "phone": 81234567890_u64,
        "password": PASSWORD,
        "cpassword": PASSWORD,
        "address": "Jl. Pantai Sanur 1, Denpasar",
        "partnerType": "company",
    })
}

#[must_use]
pub struct Call<'w> {
    request: reqwest::RequestBuilder,
    _world: &'w World,
}

impl Call<'_> {
    pub fn by(self, who: &Someone) -> Self {
        self.with_token(&who.token)
    }

    pub fn with_token(self, token: &str) -> Self {
        Self { request: self.request.bearer_auth(token), ..self }
    }

    pub fn json(self, body: Value) -> Self {
        Self { request: self.request.json(&body), ..self }
    }

    pub fn header(self, name: &'static str, value: &str) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    pub fn body(self, body: impl Into<reqwest::Body>) -> Self {
        Self { request: self.request.body(body), ..self }
    }

    pub fn multipart(self, form: Form) -> Self {
        let (content_type, body) = form.finish();
        self.header("content-type", &content_type).body(body)
    }

    /// Status, headers and body of a response that is not JSON.
    pub async fn bytes(self) -> (u16, reqwest::header::HeaderMap, Vec<u8>) {
        let response = self.request.send().await.expect("the service answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        (status, headers, response.bytes().await.unwrap().to_vec())
    }

    /// Sends it again while the response is 503: on a slow machine the queues are long.
    pub async fn send_with_retry(self) -> Answer {
        for _ in 0..30 {
            let again = self.request.try_clone().expect("nothing is streamed");
            let answer = Call { request: again, ..self }.send().await;
            if answer.status != 503 {
                return answer;
            }
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        self.send().await
    }

    pub async fn send(self) -> Answer {
        let (client, request) = self.request.build_split();
        let request = request.expect("a valid request");
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = client.execute(request).await.expect("the service answers");
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if let Value::String(error) = &body["error"] {
            documented::check(method.as_str(), &path, error);
        }
        Answer { status, headers, body }
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

impl Answer {
    /// Asserts success and returns `data`.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        assert_eq!(self.body["status"], "success");
        assert_eq!(self.body["code"], 200);
        assert!(self.body["message"].as_str().is_some_and(|message| !message.is_empty()));
        self.body["data"].clone()
    }

    /// Asserts a refusal with this status and error code.
    #[track_caller]
    pub fn is(self, status: u16, word: &str) -> Value {
        assert_eq!(
            (self.status, self.body["error"].as_str()),
            (status, Some(word)),
            "{}",
            self.body
        );
        assert_eq!(self.body["status"], "error");
        assert_eq!(self.body["code"], status);
        assert!(self.body["message"].as_str().is_some_and(|message| !message.is_empty()));
        assert_eq!(self.body["request_id"].as_str(), Some(self.header("x-request-id")));
        self.body
    }

    /// The invalid fields with their codes.
    #[track_caller]
    pub fn field_errors(self) -> Vec<(String, String)> {
        let body = self.is(422, "validation_failed");
        let word = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
        let faults = body["errors"].as_array().unwrap().iter();
        let mut faults: Vec<_> =
            faults.map(|fault| (word(fault, "field"), word(fault, "rule"))).collect();
        faults.sort();
        faults
    }

    #[track_caller]
    pub fn has_field_errors(self, expected: &[(&str, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(f, r)| ((*f).to_owned(), (*r).to_owned())).collect();
        assert_eq!(self.field_errors(), expected);
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
