//! Resellers, and lines that they sell through OCTO.

use dermaga::kernel::ids::{self, Uuid};
use serde_json::{Value, json};

use super::{
    harbour::{Sailing, route},
    world::{Answer, Call, Someone, World},
};

/// The option of every product.
pub const OPTION: &str = "DEFAULT";
/// What no product, option, sailing, unit or booking is called.
pub const UNKNOWN: &str = "0199a5c8-7e00-7000-8000-00000000dead";
/// The first and the last day of the sailings of a [`Shop`].
pub const FIRST_DAY: &str = "2026-11-18";
pub const LAST_DAY: &str = "2026-12-14";
/// Basis points of the fare that resellers keep here.
pub const MARGIN: i64 = 500;

/// A reseller with credit, a key for everything, and a grant for all partners.
#[derive(Clone)]
pub struct Reseller {
    pub id: Uuid,
    pub key: String,
}

/// A partner with two lines that are resold, two sailings a day each, and a reseller of them. Tickets of
/// the second line are also sold for a day.
#[derive(Clone)]
pub struct Shop {
    pub partner: Someone,
    pub boat: String,
    pub reseller: Reseller,
    pub line: String,
    pub other_line: String,
}

impl Shop {
    /// The product of the line with day tickets.
    pub fn day_ticket(&self) -> String {
        format!("{}.day", self.other_line)
    }
}

impl World {
    pub async fn reseller_with_key(&self, name: &str) -> Reseller {
        let address = format!("{}@agen.test", name.to_lowercase().replace(' ', "."));
        let account = self.account(&address, "reseller").await;
        let id = ids::fresh();
        let named = self.db().sql("UPDATE accounts SET name = $1 WHERE id = $2");
        named.bind(name.to_owned()).bind(account).run().await.unwrap();
        self.db()
            .sql(
                "INSERT INTO resellers (id, account_id, legal_name, address, status, credit_limit,
                   invoice_schedule, terms_days, max_holds, rate_per_minute, currency_precision,
                   created_at, updated_at)
                 VALUES ($1, $2, $3, 'Jl. Kuta 1, Badung', 'active', 100000000, 'monthly', 14, 200,
                   60000, 0, $4, $4)",
            )
            .bind(id)
            .bind(account)
            .bind(format!("PT {name}"))
            .bind(self.now())
            .run()
            .await
            .unwrap();
        let grant = self.db().sql(
            "INSERT INTO reseller_grants (id, reseller_id, margin_rate, net_fares, allow_loss,
               created_at)
             VALUES ($1, $2, $3, $4, FALSE, $5)",
        );
        let grant = grant.bind(ids::fresh()).bind(id).bind(MARGIN as i32).bind(json!([]));
        grant.bind(self.now()).run().await.unwrap();
        let key = self.key_of(id, &["catalog", "bookings.read", "bookings.write"]).await;
        Reseller { id, key }
    }

    /// Another key of the reseller.
    pub async fn key_of(&self, reseller: Uuid, scopes: &[&str]) -> String {
        use sha2::{Digest, Sha256};
        // Ids begin with the time, and keys are told apart by their beginning.
        let random: String = ids::fresh().simple().to_string().chars().rev().collect();
        let key = format!("dmk_{random}");
        let hash: String = Sha256::digest(&key).iter().map(|byte| format!("{byte:02x}")).collect();
        self.db()
            .sql(
                "INSERT INTO reseller_keys (id, reseller_id, name, prefix, hash, scopes, addresses,
                   created_at)
                 VALUES ($1, $2, 'Tests', $3, $4, $5, $6, $7)",
            )
            .bind(ids::fresh())
            .bind(reseller)
            .bind(key[..12].to_owned())
            .bind(hash)
            .bind(json!(scopes))
            .bind(json!([]))
            .bind(self.now())
            .run()
            .await
            .unwrap();
        key
    }

    pub async fn shop(&self) -> Shop {
        let partner = self.active_partner("made@bahari.id").await;
        let boat = self.adds_boat(&partner, "GT. 1").await;
        let line = self.resold_line(&partner, &boat, "Nusa Penida", false).await;
        let other = self.adds_boat(&partner, "GT. 2").await;
        let other_line = self.resold_line(&partner, &other, "Nusa Lembongan", true).await;
        let reseller = self.reseller_with_key("Agen Kuta").await;
        Shop { partner, boat, reseller, line, other_line }
    }

    /// A line with sailings at eight and at two of every day from [`FIRST_DAY`] on.
    pub async fn resold_line(
        &self,
        partner: &Someone,
        boat: &str,
        to: &str,
        day_ticket: bool,
    ) -> String {
        let mut plan = route(boat);
        plan["to"] = json!(to);
        (plan["start_date"], plan["end_date"]) = (json!(FIRST_DAY), json!(LAST_DAY));
        plan["times"] = json!([
            { "departure_time": "08:00", "arrival_time": "08:45" },
            { "departure_time": "14:00", "arrival_time": "14:45" },
        ]);
        let planned = self.creates_route(partner, plan).await;
        self.publishes_route(partner, &planned).await.ok();
        let lines = self.get("/v1/mitra/lines").by(partner).send().await.ok();
        let line = lines.as_array().unwrap().iter().find(|line| line["to"] == to);
        let line = line.unwrap()["id"].as_str().unwrap().to_owned();
        let change = json!({ "resale": true, "day_ticket": day_ticket });
        self.put(&format!("/v1/mitra/lines/{line}"), change).by(partner).send().await.ok();
        line
    }

    /// A call with the key of the shop's reseller; `path` follows `/octo`.
    pub fn octo(&self, method: &str, shop: &Shop, path: &str) -> Call<'_> {
        let method = method.parse().unwrap();
        self.call(method, &format!("/octo{path}")).with_token(&shop.reseller.key)
    }

    pub fn octo_get(&self, shop: &Shop, path: &str) -> Call<'_> {
        self.octo("GET", shop, path)
    }

    pub fn octo_post(&self, shop: &Shop, path: &str, body: Value) -> Call<'_> {
        self.octo("POST", shop, path).json(body)
    }

    /// What of a product can be booked on a day.
    pub async fn availability(&self, shop: &Shop, product: &str, day: &str) -> Vec<Value> {
        let asked = json!({ "productId": product, "optionId": OPTION, "localDate": day });
        let answer = self.octo_post(shop, "/availability", asked).send().await.bare();
        answer.as_array().unwrap().clone()
    }

    /// The id of the first sailing of a line on a day.
    pub async fn availability_id(&self, shop: &Shop, product: &str, day: &str) -> String {
        let first = self.availability(shop, product, day).await;
        first[0]["id"].as_str().unwrap().to_owned()
    }

    /// A request for `count` adults on the first sailing of [`FIRST_DAY`].
    pub async fn wish(&self, shop: &Shop, count: usize) -> Value {
        let sailing = self.availability_id(shop, &shop.line, FIRST_DAY).await;
        wish(&shop.line, &sailing, count)
    }

    pub async fn reserves(&self, shop: &Shop, wish: Value) -> Answer {
        self.octo_post(shop, "/bookings", wish).send_with_retry().await
    }

    /// A booking on hold.
    pub async fn held(&self, shop: &Shop, count: usize) -> Value {
        let wish = self.wish(shop, count).await;
        self.reserves(shop, wish).await.bare()
    }

    pub async fn confirms(&self, shop: &Shop, booking: &Value) -> Answer {
        let path = format!("/bookings/{}/confirm", booking["uuid"].as_str().unwrap());
        let body = json!({ "contact": { "fullName": "Sari Dewi" } });
        self.octo_post(shop, &path, body).send_with_retry().await
    }

    pub async fn confirmed(&self, shop: &Shop, count: usize) -> Value {
        let held = self.held(shop, count).await;
        self.confirms(shop, &held).await.bare()
    }

    pub async fn cancels(&self, shop: &Shop, booking: &Value, body: Value) -> Answer {
        let path = format!("/bookings/{}/cancel", booking["uuid"].as_str().unwrap());
        self.octo_post(shop, &path, body).send_with_retry().await
    }

    /// Takes every seat of the sailings of a line on a day, as bookings would.
    pub async fn sells_out(&self, line: &str, day: &str) {
        self.db()
            .sql("UPDATE sailings SET seats_taken = capacity WHERE line_id = $1 AND day = $2")
            .bind(line.parse::<Uuid>().unwrap())
            .bind(day.parse::<chrono::NaiveDate>().unwrap())
            .run()
            .await
            .unwrap();
        self.app.response_cache.invalidate_all();
    }
}

pub fn wish(product: &str, availability: &str, count: usize) -> Value {
    json!({
        "productId": product, "optionId": OPTION, "availabilityId": availability,
        "unitItems": vec![json!({ "unitId": "adult" }); count],
    })
}

/// The sailing of a reseller's booking, as the harbour knows it.
pub fn sailing_of(shop: &Shop, booking: &Value) -> Sailing {
    Sailing {
        partner: shop.partner.clone(),
        boat: shop.boat.clone(),
        id: booking["availabilityId"].as_str().unwrap().to_owned(),
    }
}

impl Answer {
    /// Asserts success of OCTO, which has no envelope.
    #[track_caller]
    pub fn bare(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        assert!(self.body.is_array() || self.body["error"].is_null(), "{}", self.body);
        self.body
    }

    /// Asserts a refusal of OCTO with this word.
    #[track_caller]
    pub fn refuses(self, word: &str) -> Value {
        assert_eq!((self.status, self.body["error"].as_str()), (400, Some(word)), "{}", self.body);
        let message = self.body["errorMessage"].as_str();
        assert!(message.is_some_and(|message| !message.is_empty()), "{}", self.body);
        self.body
    }
}
