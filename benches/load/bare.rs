//! The limits of the machine: the same bytes without the service, and the same statements on the
//! bare engine.

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::{TimeDelta, Utc};
use dermaga::{
    bookings::{INSERT_BOOKING as SELL, SELECT_OFFER as LOOK},
    kernel::ids,
};
use rusqlite::{Connection, Statement, types::Value};

use super::{
    data::{Berth, Data},
    drive::Seen,
    machine::Process,
};

/// Answers every request with the content of a file.
pub async fn answer(file: &str, address: &str) {
    let body = axum::body::Bytes::from(std::fs::read(file).expect("the file"));
    let reply = move || {
        let body = body.clone();
        async move { ([("content-type", "application/json")], body) }
    };
    let router = axum::Router::new().fallback(reply);
    let listener = tokio::net::TcpListener::bind(address).await.expect("it binds");
    axum::serve(listener, router).await.expect("it serves");
}

/// A process that answers with these bytes from memory.
pub async fn handler(folder: &Path, bytes: &[u8]) -> Process {
    let file = folder.join("answer.json");
    std::fs::write(&file, bytes).expect("the file");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("--answer").arg(file);
    Process::start(command, |command, address| {
        command.arg(address.to_string());
    })
    .await
}

/// Two passengers with encrypted numbers, as the service stores them, except for the separator.
fn passengers(data: &Data, colon: &str) -> String {
    const STORED: &str = r#"[{"id":"01a1e084-2298-76e0-aa83-4b36baae464e","name":"Sari Wijaya","identity_type":"nik","identity_number":"SEALED","gender":"female","birth_date":"1990-05-04","nationality":"Indonesia","fare":"adult","unit_price":150000,"takes_seat":true},{"id":"01a1e084-2298-76e0-aa83-4b36baae464f","name":"Putri Wijaya","identity_type":"nik","identity_number":"SEALED","gender":"female","birth_date":"1990-05-04","nationality":"Indonesia","fare":"adult","unit_price":150000,"takes_seat":true}]"#;
    STORED.replace("SEALED", &data.sealed("5171000000000001")).replace(':', colon)
}

/// The writes of one payment. Triggers mark the attempt as paid and announce it.
const PAY: [&str; 3] = [
    "INSERT INTO payment_events (id, payment_id, provider, transaction_id, status, amount, method,
       raw, outcome, received_at)
     SELECT $1, id, 'simulator', reference, 'settlement', amount, 'qris', '{}', 'paid', $2
     FROM payments WHERE id = $3",
    "UPDATE bookings SET status = 'paid', paid_at = $2, updated_at = $2
     WHERE id = (SELECT booking_id FROM payments WHERE id = $3) AND status = 'pending_payment'",
    "INSERT INTO ledger_lines (id, source, source_id, kind, account, booking_id, amount, posted_on,
       created_at)
     SELECT a.id, 'booking', p.booking_id, 'paid', a.account, p.booking_id, a.sign * p.amount,
       CURRENT_DATE, $2
     FROM payments p, (SELECT $1 AS id, 'gateway_clearing' AS account, 1 AS sign
       UNION ALL SELECT $4, 'customer_deposits', -1) a WHERE p.id = $3",
];

/// Payments of bookings that wait for one, without those that a provider has reported before.
pub const WAITING: &str = "FROM payments p JOIN bookings k ON k.id = p.booking_id
     WHERE p.status = 'pending' AND k.status = 'pending_payment'
       AND NOT EXISTS (SELECT 1 FROM payment_events e WHERE e.payment_id = p.id)";

/// On SQLite: one thread, prepared statements, one commit for as many transactions as there are
/// clients.
pub struct Sqlite {
    conn: Connection,
    passengers: String,
    together: usize,
    time: Duration,
}

impl Sqlite {
    pub fn open(data: &Data, together: usize, time: Duration) -> Self {
        let conn = Connection::open(data.folder.join("dermaga.db")).expect("the database");
        conn.execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA foreign_keys = on;
             PRAGMA wal_autocheckpoint = 2000;
             PRAGMA cache_size = -8192",
        )
        .expect("as the service has it");
        Self { conn, passengers: passengers(data, ":"), together, time }
    }

    pub fn sell(&self, berths: Arc<Vec<Berth>>) -> Seen {
        let mut look = self.conn.prepare(LOOK).expect("prepares");
        let mut sell = self.conn.prepare(SELL).expect("prepares");
        self.grouped(|n| {
            sell_one(&mut look, &mut sell, &berths[n % berths.len()], &self.passengers, n);
            true
        })
    }

    pub fn pay(&self) -> Seen {
        let waiting = format!("SELECT p.id {WAITING}");
        let mut waiting = self.conn.prepare(&waiting).expect("prepares");
        let waiting = waiting.query_map([], |row| row.get::<_, Vec<u8>>(0)).expect("payments");
        let waiting: Vec<_> = waiting.flatten().collect();
        let look = "SELECT k.*, p.* FROM payments p JOIN bookings k ON k.id = p.booking_id
             WHERE p.id = ?";
        let mut look = self.conn.prepare(look).expect("prepares");
        let mut changes = PAY.map(|text| self.conn.prepare(text).expect("prepares"));
        self.grouped(|n| {
            let Some(id) = waiting.get(n) else { return false };
            look.query_row([id], |_| Ok(())).expect("looks");
            let now = Utc::now().to_rfc3339();
            for change in &mut changes {
                bind(change, &[fresh(), now.clone().into(), id.clone().into(), fresh()]);
                assert!(change.raw_execute().expect("pays") > 0, "it pays nothing");
            }
            true
        })
    }

    fn grouped(&self, mut one: impl FnMut(usize) -> bool) -> Seen {
        let (mut n, mut seen, started) = (0, Seen::default(), Instant::now());
        let mut more = true;
        while more && started.elapsed() < self.time {
            let begun = Instant::now();
            self.conn.execute_batch("BEGIN IMMEDIATE").expect("begins");
            let first = n;
            while more && n < first + self.together {
                more = one(n);
                n += usize::from(more);
            }
            self.conn.execute_batch("COMMIT").expect("commits");
            // All members of a group wait for its end.
            let micros = begun.elapsed().as_micros() as u32;
            seen.micros.extend(std::iter::repeat_n(micros, n - first));
        }
        seen.took = started.elapsed();
        seen.micros.sort_unstable();
        seen
    }
}

/// SQLite numbers named parameters in the order in which they appear.
fn bind(statement: &mut Statement, values: &[Value]) {
    for place in 1..=statement.parameter_count() {
        let name = statement.parameter_name(place).expect("a name");
        let which: usize = name[1..].parse().expect("a number");
        statement.raw_bind_parameter(place, &values[which - 1]).expect("binds");
    }
}

fn fresh() -> Value {
    ids::fresh().as_bytes().to_vec().into()
}

fn sell_one(look: &mut Statement, sell: &mut Statement, berth: &Berth, passengers: &str, n: usize) {
    let email = format!("langsung{n}@mail.example");
    let sailing = berth.id.as_bytes().to_vec();
    bind(look, &[sailing.clone().into(), email.clone().into()]);
    let mut rows = look.raw_query();
    let row = rows.next().expect("looks").expect("the sailing");
    let partner: Vec<u8> = row.get("partner_id").expect("a partner");
    let [departure, arrival]: [String; 2] =
        ["departure_at", "arrival_at"].map(|name| row.get(name).expect("a time"));
    let price: i64 = row.get("seat_price").expect("a price");
    drop(rows);
    let (subtotal, now) = (2 * price, Utc::now());
    let text = |text: &str| Value::from(text.to_owned());
    let values: [Value; 48] = [
        fresh(),
        text(&ids::code("BAR", rand::random())),
        text("speedboat"),
        text("pending_payment"),
        text("web"),
        sailing.into(),
        berth.speedboat_id.as_bytes().to_vec().into(),
        partner.into(),
        text(&departure),
        text(&arrival),
        2.into(),
        2.into(),
        Value::Null,
        Value::Null,
        text(""),
        text("Sari Wijaya"),
        text(&email),
        text("+6281234567890"),
        text("en"),
        text(passengers),
        1.into(),
        text("simulator"),
        price.into(),
        subtotal.into(),
        0.into(),
        text("[]"),
        0.into(),
        subtotal.into(),
        1000.into(),
        (subtotal / 10).into(),
        text("[]"),
        0.into(),
        0.into(),
        (subtotal - subtotal / 10).into(),
        text(&(now + TimeDelta::minutes(30)).to_rfc3339()),
        Value::Null,
        text(&now.to_rfc3339()),
        Value::Null,
        Value::Null,
        text("[]"),
        // No reseller.
        0.into(),
        Value::Null,
        Value::Null,
        Value::Null,
        0.into(),
        Value::Null,
        Value::Null,
        // No surcharge.
        0.into(),
    ];
    bind(sell, &values);
    sell.raw_execute().expect("sells");
}

/// On PostgreSQL: pgbench with prepared statements and one connection per client.
pub struct Pgbench<'a> {
    pub program: &'a Path,
    pub url: &'a str,
    pub clients: usize,
    pub seconds: u64,
}

/// A UUID of version 7, which begins with the time.
const FRESH: &str = "(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::BIGINT), 12, '0') \
     || substr(replace(gen_random_uuid()::TEXT, '-', ''), 13))::UUID";

const EMAIL: &str = "'langsung' || :client_id::TEXT || '-' || :m::TEXT || '@mail.example'";

impl Pgbench<'_> {
    pub fn sell(&self, folder: &Path, data: &Data, berths: &[Berth]) -> Option<f64> {
        let rows: Vec<_> =
            berths.iter().enumerate().map(|(n, berth)| format!("({n}, '{}')", berth.id)).collect();
        self.psql(&format!(
            "DROP TABLE IF EXISTS bare_berths;
             CREATE TABLE bare_berths (n INTEGER PRIMARY KEY, id UUID);
             INSERT INTO bare_berths VALUES {}",
            rows.join(", ")
        ))?;
        let look = placed(LOOK, |n| match n {
            1 => "(SELECT id FROM bare_berths WHERE n = :n)".into(),
            _ => EMAIL.into(),
        });
        let sell = placed(SELL, |n| match n {
            1 => FRESH.into(),
            2 => "'BAR-' || upper(substr(md5(random()::TEXT), 1, 10))".into(),
            3 => "'speedboat'".into(),
            4 => "'pending_payment'".into(),
            5 => "'web'".into(),
            6 => ":k_sailing_id::UUID".into(),
            7 => ":k_speedboat_id::UUID".into(),
            8 => ":k_partner_id::UUID".into(),
            9 => ":k_departure_at::TIMESTAMPTZ".into(),
            10 => ":k_arrival_at::TIMESTAMPTZ".into(),
            11 | 12 => "2".into(),
            13 | 14 | 36 | 38 | 39 | 42..=44 | 46 | 47 => "NULL".into(),
            15 => "''".into(),
            16 => "'Sari Wijaya'".into(),
            17 => EMAIL.into(),
            18 => "'+6281234567890'".into(),
            19 => "'en'".into(),
            // A name after a colon would be a variable of pgbench.
            20 => format!("replace('{}', '~', ':')::JSONB", passengers(data, "~")),
            21 => "TRUE".into(),
            45 => "FALSE".into(),
            22 => "'simulator'".into(),
            23 => ":k_seat_price::BIGINT".into(),
            24 | 28 => "2 * :k_seat_price::BIGINT".into(),
            26 | 31 | 40 => "'[]'".into(),
            29 => "1000".into(),
            30 => "(:k_seat_price::BIGINT / 5)".into(),
            34 => "2 * :k_seat_price::BIGINT - (:k_seat_price::BIGINT / 5)".into(),
            35 => "now() + INTERVAL '30 minutes'".into(),
            37 => "now()".into(),
            _ => "0".into(),
        });
        // The offer has a row for each tax, and \gset takes one.
        let script = format!(
            "\\set n random(0, {})\n\\set m random(0, 1000000000)\n{look} LIMIT 1 \\gset k_\n{sell};\n",
            berths.len() - 1
        );
        let file = folder.join("sell.sql");
        // One line per statement, so that the log of pgbench can be read.
        std::fs::write(&file, script).ok()?;
        self.run(&file, &["-T", &self.seconds.to_string()])
    }

    pub fn pay(&self, folder: &Path) -> Option<f64> {
        self.psql(&format!(
            "DROP TABLE IF EXISTS bare_payments; DROP SEQUENCE IF EXISTS bare_next;
             CREATE TABLE bare_payments AS SELECT row_number() OVER () AS n, p.id {WAITING};
             CREATE INDEX ON bare_payments (n); CREATE SEQUENCE bare_next CACHE 1;
             ANALYZE bare_payments"
        ))?;
        let changes = PAY.map(|text| {
            placed(text, |n| match n {
                2 => "now()::TIMESTAMPTZ".into(),
                3 => ":k_payment::UUID".into(),
                _ => FRESH.into(),
            })
        });
        let script = format!(
            "SELECT nextval('bare_next') AS n \\gset\n\
             SELECT p.id AS payment, k.* FROM bare_payments w JOIN payments p ON p.id = w.id \
             JOIN bookings k ON k.id = p.booking_id WHERE w.n = :n \\gset k_\n\
             BEGIN;\n{};\nCOMMIT;\n",
            changes.join(";\n")
        );
        let file = folder.join("pay.sql");
        std::fs::write(&file, script).ok()?;
        let waiting: u64 = self.psql("SELECT COUNT(*) FROM bare_payments")?.trim().parse().ok()?;
        let each = (waiting / self.clients as u64).clamp(1, 400 * self.seconds);
        let rate = self.run(&file, &["-t", &each.to_string()]);
        let paid = "SELECT COUNT(*) FROM bare_payments w
             JOIN payments p ON p.id = w.id JOIN bookings k ON k.id = p.booking_id
             WHERE p.status = 'paid' AND k.status = 'paid'";
        assert_eq!(self.psql(paid)?.trim().parse(), Ok(each * self.clients as u64), "all are paid");
        rate
    }

    fn psql(&self, text: &str) -> Option<String> {
        let mut psql = Command::new(self.program.with_file_name("psql"));
        let psql = psql.args(["-Atq", "-v", "ON_ERROR_STOP=1", "-c", text, self.url]);
        let done = psql.output().ok()?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).ok()
    }

    fn run(&self, file: &Path, long: &[&str]) -> Option<f64> {
        let clients = self.clients.to_string();
        let mut pgbench = Command::new(self.program);
        pgbench.args(["-n", "-M", "prepared", "-j", "2", "-c", &clients, "-f"]).arg(file);
        let done = pgbench.args(long).arg(self.url).output().ok()?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let failed = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{failed}");
        let line = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

/// A statement with expressions for its parameters, on one line.
fn placed(text: &str, value: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(before);
        out.push_str(&value(after[..digits].parse().expect("a number")));
        rest = &after[digits..];
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
