//! Partners, boats, routes and bookings for tests.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    form::Form,
    world::{Answer, Someone, World},
};

pub const NIK: &str = "5171012304850001";
pub const ACCOUNT: &str = "7712345678";
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n";

/// The documents that a company must submit.
pub const REQUIRED: [&str; 5] = ["nib", "npwp", "deed", "bank_book", "operating_permit"];

pub fn onboarding_body() -> Value {
    json!({
        "business": {
            "legal_name": "PT Bahari Jaya", "nib": "1234567890123", "npwp": "123456789012345",
            "address": "Jl. Pantai Sanur 1", "city": "Denpasar", "province": "Bali",
            "postal_code": "80228",
        },
        "pic": {
            "name": "Made Bahari", "position": "Director", "phone": 81234567890_u64,
            "email": "Made@Bahari.id", "nik": NIK,
        },
        "bank_account": {
            "bank_code": "BCA", "account_number": ACCOUNT, "account_name": "PT Bahari Jaya",
        },
    })
}

pub fn boat(registration: &str) -> Value {
    json!({
        "name": "Bahari Express", "registration_number": registration, "capacity": 30,
        "year_built": 2019, "manufacturer": "Karya Bahari", "engine": "3 x 250 HP",
        "facilities": ["Life jackets", "Toilet"], "description": "Fast and dry",
    })
}

/// Sanur to Nusa Penida, every morning for three days from tomorrow.
pub fn route(boat: &str) -> Value {
    json!({
        "speedboat_id": boat, "from": "Sanur", "to": "Nusa Penida", "schedule_type": "daily",
        "start_date": "2026-11-16", "end_date": "2026-11-18", "price": 150_000,
        "timezone": "Asia/Makassar",
        "times": [{ "departure_time": "08:00", "arrival_time": "08:45" }],
    })
}

/// The same, today at half past one.
pub fn route_soon(boat: &str) -> Value {
    let mut soon = route(boat);
    (soon["start_date"], soon["end_date"]) = (json!("2026-11-15"), json!("2026-11-15"));
    soon["times"] = json!([{ "departure_time": "13:30", "arrival_time": "14:15" }]);
    soon
}

/// A search for the first day of that route.
pub fn search_body(qty: i64) -> Value {
    json!({ "from": "Sanur", "to": "Nusa Penida", "date": "2026-11-16", "qty": qty })
}

impl World {
    pub async fn adds_boat(&self, who: &Someone, registration: &str) -> String {
        let added = self.post("/v1/speedboats", boat(registration)).by(who).send().await.ok();
        added["id"].as_str().unwrap().to_owned()
    }

    pub async fn creates_route(&self, who: &Someone, route: Value) -> String {
        let call = self.post("/v1/mitra/speedboat-routes/", route).by(who);
        call.send().await.ok()["id"].as_str().unwrap().to_owned()
    }

    pub async fn publishes_route(&self, who: &Someone, route: &str) -> Answer {
        let path = format!("/v1/mitra/speedboat-routes/{route}/publish");
        self.get(&path).by(who).send().await
    }

    /// Creates a boat with a published route; returns the ids of both.
    pub async fn creates_published_route(
        &self,
        who: &Someone,
        registration: &str,
    ) -> (String, String) {
        let boat = self.adds_boat(who, registration).await;
        let route = self.creates_route(who, route(&boat)).await;
        self.publishes_route(who, &route).await.ok();
        (boat, route)
    }

    pub async fn sailings(&self, who: &Someone, route: &str) -> Vec<Value> {
        let path = format!("/v1/mitra/speedboat-routes/{route}/times?page_size=100");
        self.get(&path).by(who).send().await.ok().as_array().unwrap().clone()
    }

    pub async fn searches(&self, wish: Value) -> Vec<Value> {
        let found = self.post("/v1/speedboats/search", wish).send().await.ok();
        found.as_array().unwrap().clone()
    }

    /// Sets the number of seats taken, as bookings would.
    pub async fn sets_seats_taken(&self, sailing: &Value, seats: i32) {
        self.db()
            .sql("UPDATE sailings SET seats_taken = $1 WHERE id = $2")
            .bind(seats)
            .bind(sailing["id"].as_str().unwrap().parse::<dermaga::kernel::ids::Uuid>().unwrap())
            .run()
            .await
            .unwrap();
        self.app.response_cache.invalidate_all();
    }

    pub async fn uploads_document(&self, who: &Someone, name: &str) -> String {
        let form = Form::new().text("purpose", "document").file(name, PDF);
        let call = self.call(Method::POST, "/v1/files/upload").by(who).multipart(form);
        call.send().await.ok()["id"].as_str().unwrap().to_owned()
    }

    pub async fn uploads_proof(&self, who: &Someone) -> String {
        let form = Form::new().text("purpose", "proof").file("transfer.pdf", PDF);
        let call = self.call(Method::POST, "/v1/files/upload").by(who).multipart(form);
        call.send().await.ok()["id"].as_str().unwrap().to_owned()
    }

    pub async fn updates_onboarding(&self, who: &Someone, papers: Value) -> Answer {
        self.call(Method::PATCH, "/v1/mitra/onboarding").json(papers).by(who).send().await
    }

    pub async fn uploads_documents(&self, who: &Someone, kinds: &[&str]) -> Answer {
        let mut documents = Vec::new();
        for kind in kinds {
            let file_id = self.uploads_document(who, &format!("{kind}.pdf")).await;
            documents.push(json!({ "type": kind, "file_id": file_id }));
        }
        self.updates_onboarding(who, json!({ "documents": documents })).await
    }

    /// A partner whose onboarding is complete and under review.
    pub async fn submitted_partner(&self, email: &str) -> Someone {
        let partner = self.partner(email).await;
        self.updates_onboarding(&partner, onboarding_body()).await.ok();
        self.uploads_documents(&partner, &REQUIRED).await.ok();
        self.updates_onboarding(&partner, json!({ "submit": true })).await.ok();
        partner
    }

    /// An active partner, without onboarding.
    pub async fn active_partner(&self, email: &str) -> Someone {
        let partner = self.partner(email).await;
        self.db()
            .sql(
                "UPDATE partners SET status = 'active', verified_at = $1, slug = $3
                 WHERE account_id = $2",
            )
            .bind(self.now())
            .bind(partner.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
            .bind(email.split('@').collect::<Vec<_>>().join("-"))
            .run()
            .await
            .unwrap();
        partner
    }

    /// A crew member of the partner, put there without an invitation, who has signed in.
    pub async fn crew(&self, partner: &Someone, email: &str) -> Someone {
        let account = self.account(email, "crew").await;
        self.db()
            .sql(
                "INSERT INTO crew (account_id, partner_id, invited_at, created_at)
                 SELECT $1, id, $2, $2 FROM partners WHERE account_id = $3",
            )
            .bind(account)
            .bind(self.now())
            .bind(partner.id.parse::<dermaga::kernel::ids::Uuid>().unwrap())
            .run()
            .await
            .unwrap();
        self.signs_in(email, "crew").await
    }

    /// A reseller with a credit of ten million, put there without an invitation, who has signed in.
    pub async fn reseller(&self, email: &str) -> Someone {
        let account = self.account(email, "reseller").await;
        self.db()
            .sql(
                "INSERT INTO resellers (id, account_id, legal_name, address, status, credit_limit,
                   invoice_schedule, terms_days, max_holds, rate_per_minute, currency_precision,
                   created_at, updated_at)
                 VALUES ($1, $2, 'PT Nusa', 'Denpasar', 'active', 10000000, 'monthly', 14, 200,
                   1200, 0, $3, $3)",
            )
            .bind(dermaga::kernel::ids::fresh())
            .bind(account)
            .bind(self.now())
            .run()
            .await
            .unwrap();
        self.signs_in(email, "reseller").await
    }

    /// The id of the reseller's record.
    pub async fn reseller_id(&self, reseller: &Someone) -> String {
        let found = self.get("/v1/resellers").by(reseller).send().await.ok();
        found[0]["id"].as_str().unwrap().to_owned()
    }

    /// Where the reseller's record is.
    pub async fn reseller_path(&self, reseller: &Someone) -> String {
        format!("/v1/resellers/{}", self.reseller_id(reseller).await)
    }

    /// Where the platform's people find the partner.
    pub async fn partner_path(&self, partner: &Someone) -> String {
        format!("/v1/mitra/manajemen/{}", self.partner_id(partner).await)
    }

    pub async fn partner_id(&self, partner: &Someone) -> String {
        let profile = self.get("/user/me").by(partner).send().await.ok();
        profile["mitra"]["id"].as_str().unwrap().to_owned()
    }

    pub async fn documents(&self, desk: &str, by: &Someone) -> Vec<Value> {
        let documents = self.get(&format!("{desk}/documents")).by(by).send().await.ok();
        documents.as_array().unwrap().clone()
    }

    pub async fn reviews_document(
        &self,
        desk: &str,
        by: &Someone,
        document: &Value,
        word: &str,
    ) -> Answer {
        let note = if word == "rejected" { "It is blurred." } else { "" };
        let body = json!({ "document_id": document["id"], "status": word, "note": note });
        self.put(&format!("{desk}/document-approval"), body).by(by).send().await
    }

    pub async fn approves_all_documents(&self, desk: &str, by: &Someone) {
        for document in self.documents(desk, by).await {
            if document["status"] == "pending" {
                self.reviews_document(desk, by, &document, "approved").await.ok();
            }
        }
    }

    pub async fn onboarding_status(&self, partner: &Someone) -> String {
        let onboarding = self.get("/v1/mitra/onboarding").by(partner).send().await.ok();
        onboarding["status"].as_str().unwrap().to_owned()
    }

    /// The admin impersonates the partner.
    pub async fn impersonates(&self, desk: &str, by: &Someone) -> Someone {
        let call = self.post(&format!("{desk}/impersonate"), json!({})).by(by);
        let session = call.send().await.ok();
        Someone {
            token: session["access_token"].as_str().unwrap().into(),
            id: session["user"]["id"].as_str().unwrap().into(),
            email: session["user"]["email"].as_str().unwrap().into(),
        }
    }
}

/// A bookable sailing: 30 seats of 150,000 on the morning of the 16th.
#[derive(Clone)]
pub struct Sailing {
    pub partner: Someone,
    pub boat: String,
    pub id: String,
}

/// A booking of `qty` seats.
pub fn order(sailing: &Sailing, qty: usize, email: &str) -> Value {
    let passengers: Vec<_> =
        (1..=qty).map(|n| json!({ "name": format!("Penumpang {n}") })).collect();
    json!({
        "type": "speedboat", "item_id": sailing.boat, "route_time_id": sailing.id, "qty": qty,
        "code_promo": "", "note": "",
        "contact": { "name": "Sari", "email": email, "phone": "081234567890" },
        "passengers": passengers,
    })
}

/// A charter.
pub fn charter(sailing: &Sailing, qty: usize, email: &str) -> Value {
    let mut order = order(sailing, qty, email);
    order["type"] = json!("charter");
    order
}

/// A signed notification of the provider.
pub fn callback_body(reference: &str, amount: i64, status: &str, transaction: &str) -> Value {
    use sha2::{Digest, Sha512};
    let gross = format!("{amount}.00");
    let text = format!("{reference}200{gross}{}", super::world::SERVER_KEY);
    let signature: String = Sha512::digest(text).iter().map(|b| format!("{b:02x}")).collect();
    json!({
        "order_id": reference, "status_code": "200", "gross_amount": gross,
        "signature_key": signature, "transaction_status": status, "fraud_status": "accept",
        "transaction_id": transaction, "payment_type": "qris",
    })
}

impl World {
    pub async fn sailing(&self) -> Sailing {
        let partner = self.active_partner("made@bahari.id").await;
        let (boat, route) = self.creates_published_route(&partner, "GT. 1").await;
        let id = self.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
        Sailing { partner, boat, id }
    }

    /// A sailing of today, 2 hours and 30 minutes ahead: its manifest can be closed.
    pub async fn sailing_soon(&self) -> Sailing {
        let partner = self.active_partner("made@bahari.id").await;
        let boat = self.adds_boat(&partner, "GT. 1").await;
        let route = self.creates_route(&partner, route_soon(&boat)).await;
        self.publishes_route(&partner, &route).await.ok();
        let id = self.sailings(&partner, &route).await[0]["id"].as_str().unwrap().to_owned();
        Sailing { partner, boat, id }
    }

    /// A sailing of the same boat on the next day.
    pub async fn sailing_of_another_day(&self, first: &Sailing) -> Sailing {
        let found = self
            .db()
            .sql("SELECT id FROM sailings WHERE departure_at > $1 ORDER BY departure_at LIMIT 1")
            .bind(self.now() + chrono::TimeDelta::hours(30))
            .scalar::<dermaga::kernel::ids::Uuid>()
            .await;
        let (partner, boat) = (first.partner.clone(), first.boat.clone());
        Sailing { partner, boat, id: found.unwrap().to_string() }
    }

    pub async fn books(&self, order: Value) -> Answer {
        self.post("/v1/booking/", order).send_with_retry().await
    }

    /// Sends a notification of the provider; `transaction` distinguishes events.
    pub async fn receives_callback(
        &self,
        booking: &Value,
        status: &str,
        transaction: &str,
    ) -> Answer {
        let reference = booking["payment"]["reference"].as_str().unwrap();
        let amount = booking["price"]["total"].as_i64().unwrap();
        self.post("/v1/payment/callback", callback_body(reference, amount, status, transaction))
            .send_with_retry()
            .await
    }

    pub async fn pays(&self, booking: &Value) {
        self.receives_callback(booking, "settlement", &format!("t-{}", booking["code"])).await.ok();
    }

    /// The booking as its booker sees it.
    pub async fn looks_up(&self, booking: &Value) -> Value {
        let path = format!(
            "/v1/booking/{}?code={}&email={}",
            booking["id"].as_str().unwrap(),
            booking["code"].as_str().unwrap(),
            booking["contact"]["email"].as_str().unwrap(),
        );
        self.get(&path).send().await.ok()
    }

    pub async fn seats_taken(&self, sailing: &Sailing) -> i64 {
        let id: dermaga::kernel::ids::Uuid = sailing.id.parse().unwrap();
        let row: i32 = self
            .db()
            .sql("SELECT seats_taken FROM sailings WHERE id = $1")
            .bind(id)
            .scalar()
            .await
            .unwrap();
        row.into()
    }

    /// The balance of an account in the ledger.
    pub async fn balance(&self, account: &'static str) -> i64 {
        self.db()
            .sql("SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM ledger_lines WHERE account = $1")
            .bind(account)
            .scalar()
            .await
            .unwrap()
    }

    /// Completes the paid bookings after their arrival.
    pub async fn completes_paid_bookings(&self) -> u64 {
        let past = self.now() - chrono::TimeDelta::minutes(1);
        self.db()
            .sql("UPDATE bookings SET departure_at = $1, arrival_at = $1 WHERE status = 'paid'")
            .bind(past)
            .run()
            .await
            .unwrap();
        let completed = dermaga::bookings::complete(&self.app).await.unwrap();
        self.db()
            .sql(
                "UPDATE bookings SET departure_at =
                   (SELECT s.departure_at FROM sailings s WHERE s.id = bookings.sailing_id)
                 WHERE departure_at = $1",
            )
            .bind(past)
            .run()
            .await
            .unwrap();
        completed
    }

    /// A paid booking of `qty` seats.
    pub async fn paid_booking(&self, sailing: &Sailing, qty: usize) -> Value {
        let booking = self.books(order(sailing, qty, "sari@example.com")).await.ok();
        self.pays(&booking).await;
        booking
    }

    /// Gives a partner an approved bank account.
    pub async fn adds_approved_bank_account(&self, partner: &Someone, admin: &Someone) {
        self.updates_onboarding(
            partner,
            json!({ "bank_account": onboarding_body()["bank_account"] }),
        )
        .await
        .ok();
        let desk = self.partner_path(partner).await;
        let approved = json!({ "status": "approved" });
        self.put(&format!("{desk}/bank-approval"), approved).by(admin).send().await.ok();
    }

    /// Another admin, where two people are needed.
    pub async fn second_admin(&self) -> Someone {
        let email = "rekan@dermaga.test";
        let known = self.db().sql("SELECT COUNT(*) FROM accounts WHERE email = $1").bind(email);
        if known.scalar::<i64>().await.unwrap() == 0 {
            self.account(email, "admin").await;
        }
        self.signs_in(email, "admin").await
    }

    /// Creates a settlement of the days around the first sailing.
    pub async fn creates_settlement(&self, partner: &Someone, by: &Someone) -> Answer {
        let mitra_id = self.partner_id(partner).await;
        let body = json!({
            "mitra_id": mitra_id, "start_date": "2026-11-01", "end_date": "2026-11-30", "note": "",
        });
        self.post("/v1/settlements/manual", body).by(by).send().await
    }

    /// Releases it; by a colleague, if `by` has created it.
    pub async fn releases_settlement(&self, settlement: &Value, by: &Someone) -> Answer {
        let own = settlement["created_by"]["id"] == json!(by.id);
        let by = if own { &self.second_admin().await } else { by };
        let path = format!("/v1/settlements/{}/release", settlement["id"].as_str().unwrap());
        self.post(&path, json!({ "reference": "BCA-1" })).by(by).send().await
    }
}
