//! The payment providers behind one interface: request a payment, read a notification, confirm it.

use std::time::Duration;

use axum::http::HeaderMap;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    model::PaymentStatus,
    notice::{self, Notice, RefundNotice, RefundOutcome},
};
use crate::{
    app::App,
    config::{Config, PaymentProvider, WebUrl},
    kernel::{
        error::{Error, Result},
        money::Rupiah,
        secret::Secret,
    },
    providers::{self, basic_auth, client, constant_time_eq, send},
};

#[derive(Clone)]
pub struct Gateway {
    pub provider: PaymentProvider,
    key: Secret,
    callback_token: Secret,
    /// Overrides the address of the provider.
    base: Option<String>,
    /// `None` for the simulator, which is not called. The certificates take memory.
    client: Option<reqwest::Client>,
}

impl App {
    /// The client of the payment provider.
    pub fn gateway(&self) -> &Gateway {
        self.domain()
    }
}

/// A payment to request.
pub struct Order<'a> {
    pub reference: &'a str,
    pub amount: Rupiah,
    pub name: &'a str,
    pub email: &'a str,
    pub phone: &'a str,
    pub description: String,
    pub now: DateTime<Utc>,
    /// The end of the hold: a virtual account must not outlive it.
    pub expires_at: DateTime<Utc>,
    /// The page that the customer returns to.
    pub return_url: String,
}

/// A payment at the provider.
pub struct Opened {
    /// Its page.
    pub address: String,
    /// The provider's id of it, if it has one already.
    pub transaction_id: Option<String>,
}

impl Opened {
    fn of(address: &Value, id: Option<&str>) -> Result<Self> {
        let missing = || Error::Unavailable("the provider returned no payment address".into());
        let address = address.as_str().ok_or_else(missing)?.to_owned();
        Ok(Self { address, transaction_id: id.map(str::to_owned) })
    }
}

impl Gateway {
    pub fn new(config: &Config, secret_key: &Secret) -> Result<Self, String> {
        let key = match (&config.payment_server_key, config.payment_provider) {
            (Some(key), _) => key.clone(),
            // The simulator needs a key like the others, so one is derived.
            (None, PaymentProvider::Simulator) => {
                let hash =
                    Sha256::new().chain_update("simulator:").chain_update(secret_key.reveal());
                let bytes = hash.finalize();
                Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
            (None, other) => {
                return Err(format!("DERMAGA_PAYMENT_SERVER_KEY: must be set for {other}"));
            }
        };
        let callback_token = config.payment_callback_token.clone().unwrap_or_else(|| key.clone());
        let client = match config.payment_provider {
            PaymentProvider::Simulator => None,
            PaymentProvider::Midtrans | PaymentProvider::Xendit => Some(client()?),
        };
        let base = config.payment_url.as_ref().map(|WebUrl(url)| url.0.clone());
        let base = base.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Self { provider: config.payment_provider, key, callback_token, base, client })
    }

    fn client(&self) -> Result<&reqwest::Client> {
        self.client.as_ref().ok_or_else(|| Error::internal("the simulator is never queried"))
    }

    /// Requests a payment. `Error::Internal`: the provider refuses this reference. Other failures
    /// are temporary.
    pub async fn create(&self, order: &Order<'_>) -> Result<Opened> {
        match self.provider {
            PaymentProvider::Simulator => Err(Error::internal("the simulator is never queried")),
            PaymentProvider::Midtrans => self.create_midtrans(order).await,
            PaymentProvider::Xendit => self.create_xendit(order).await,
        }
    }

    /// Verifies the sender of a notification.
    fn verify(&self, headers: &HeaderMap, body: &Value) -> Result<()> {
        let genuine = match self.provider {
            PaymentProvider::Simulator | PaymentProvider::Midtrans => {
                notice::midtrans_signed(body, &self.key)
            }
            PaymentProvider::Xendit => {
                let token = headers.get("x-callback-token").and_then(|token| token.to_str().ok());
                constant_time_eq(token.unwrap_or_default(), self.callback_token.reveal())
            }
        };
        if genuine { Ok(()) } else { Err(Error::InvalidToken) }
    }

    /// Reads a notification and verifies its sender.
    pub fn read(&self, headers: &HeaderMap, body: &Value) -> Result<Notice> {
        self.verify(headers, body)?;
        self.parse(body).ok_or_else(malformed)
    }

    /// Reads a callback about a refund and verifies its sender. `None`: it is about a payment.
    pub fn read_refund(&self, headers: &HeaderMap, body: &Value) -> Result<Option<RefundNotice>> {
        if !self.is_refund(body) {
            return Ok(None);
        }
        self.verify(headers, body)?;
        self.parse_refund(body).ok_or_else(malformed).map(Some)
    }

    /// Whether the callback is about a refund. Midtrans tells refunds with their payment.
    pub fn is_refund(&self, body: &Value) -> bool {
        self.provider == PaymentProvider::Xendit && notice::is_xendit_refund(body)
    }

    /// Parses a callback about a refund, without verifying its sender.
    pub fn parse_refund(&self, body: &Value) -> Option<RefundNotice> {
        notice::xendit_refund(&body["data"])
    }

    /// Parses a notification in the format of this provider, without verifying its sender.
    pub fn parse(&self, body: &Value) -> Option<Notice> {
        match self.provider {
            // The simulator has nobody to ask.
            PaymentProvider::Simulator => {
                notice::midtrans(body).map(|told| Notice { confirmed: true, ..told })
            }
            PaymentProvider::Midtrans => notice::midtrans(body),
            PaymentProvider::Xendit => notice::xendit(body),
        }
    }

    /// Asks the provider for the status, because a notification does not prove it: Midtrans does
    /// not sign the status, and the static token of Xendit signs nothing. The answer replaces the
    /// notification. `Error::NotFound`: the provider says that it belongs to another payment. Other
    /// failures are temporary.
    pub async fn confirm(&self, told: Notice) -> Result<Notice> {
        let address = match (self.provider, told.status) {
            (PaymentProvider::Simulator, _) | (_, PaymentStatus::Pending) => return Ok(told),
            (PaymentProvider::Midtrans, status)
                if told.takes_back
                    || matches!(status, PaymentStatus::Paid | PaymentStatus::Refunded) =>
            {
                let base = self.base.clone().unwrap_or_else(|| {
                    let host = if self.is_sandbox() { "api.sandbox" } else { "api" };
                    format!("https://{host}.midtrans.com")
                });
                format!("{base}/v2/{}/status", told.id_at_midtrans())
            }
            (PaymentProvider::Midtrans, _) => return Ok(told),
            (PaymentProvider::Xendit, _) => {
                let base = self.base.clone().unwrap_or_else(|| "https://api.xendit.co".into());
                format!("{base}/v2/invoices/{}", told.transaction_id)
            }
        };
        let request = self.client()?.get(address).header("authorization", basic_auth(&self.key));
        // Midtrans expects a response to its notification within five seconds.
        let request = request.timeout(Duration::from_secs(4));
        let answer = send(request).await?;
        let unknown =
            || Error::Unavailable("the provider does not confirm the notification yet".into());
        let now = self.parse(&answer).ok_or_else(unknown)?;
        let same_invoice =
            self.provider != PaymentProvider::Xendit || now.transaction_id == told.transaction_id;
        if now.reference != told.reference || !same_invoice {
            return Err(Error::NotFound);
        }
        match now.status {
            PaymentStatus::Pending => Err(unknown()),
            _ => Ok(Notice { confirmed: true, ..now }),
        }
    }

    /// Asks the provider for a refund that a callback tells of. `Error::NotFound`: it is another
    /// one. Other failures are temporary.
    pub async fn confirm_refund(&self, told: &RefundNotice) -> Result<RefundNotice> {
        let base = self.base.clone().unwrap_or_else(|| "https://api.xendit.co".into());
        let request = self
            .client()?
            .get(format!("{base}/refunds/{}", told.id))
            .header("authorization", basic_auth(&self.key))
            .timeout(Duration::from_secs(4));
        let answer = send(request).await?;
        let unknown = || Error::Unavailable("the provider does not confirm the refund yet".into());
        let now = notice::xendit_refund(&answer).ok_or_else(unknown)?;
        if !now.is_same(told) {
            return Err(Error::NotFound);
        }
        match now.outcome {
            RefundOutcome::Pending => Err(unknown()),
            RefundOutcome::Succeeded | RefundOutcome::Failed => Ok(now),
        }
    }

    /// A notification of the simulator, signed like those of Midtrans.
    pub fn simulate(&self, reference: &str, amount: Rupiah, status: &str, id: String) -> Value {
        let code = if status == "settlement" { "200" } else { "202" };
        let mut body = json!({
            "order_id": reference, "status_code": code, "transaction_status": status,
            "gross_amount": format!("{}.00", amount.0), "transaction_id": id,
            "payment_type": "qris", "fraud_status": "accept",
        });
        body["signature_key"] = json!(notice::midtrans_signature(&body, &self.key));
        body
    }

    /// Checks that the provider answers and accepts the key, without requesting a payment.
    pub async fn reach(&self) -> Result<String> {
        let nobody = "dermaga-doctor";
        let address = match self.provider {
            PaymentProvider::Simulator => return Ok("simulator".into()),
            PaymentProvider::Midtrans => {
                let host = if self.is_sandbox() { "api.sandbox" } else { "api" };
                let base = self.base.clone();
                let base = base.unwrap_or_else(|| format!("https://{host}.midtrans.com"));
                format!("{base}/v2/{nobody}/status")
            }
            PaymentProvider::Xendit => {
                let base = self.base.clone().unwrap_or_else(|| "https://api.xendit.co".into());
                format!("{base}/v2/invoices?external_id={nobody}")
            }
        };
        let request = self.client()?.get(address).header("authorization", basic_auth(&self.key));
        let (status, body) = providers::answer(request).await?;
        let (status, body) =
            (status.as_u16(), serde_json::from_slice(&body).unwrap_or(Value::Null));
        // Midtrans reports a refused key in the body.
        let refused = [401, 403].contains(&status) || body["status_code"] == "401";
        match refused {
            true => Err(Error::Unavailable(format!("{} rejects the server key", self.provider))),
            false if status >= 500 => {
                Err(Error::Unavailable(format!("{} responded with {status}", self.provider)))
            }
            false => Ok(format!("{} responds and accepts the key", self.provider)),
        }
    }

    fn is_sandbox(&self) -> bool {
        self.key.reveal().starts_with("SB-")
    }

    async fn create_midtrans(&self, order: &Order<'_>) -> Result<Opened> {
        let base = self.base.clone().unwrap_or_else(|| {
            let host = if self.is_sandbox() { "app.sandbox" } else { "app" };
            format!("https://{host}.midtrans.com")
        });
        let start = order.now.with_timezone(&chrono_tz::Asia::Jakarta);
        let minutes = (order.expires_at - order.now).num_minutes().max(1);
        let body = json!({
            "transaction_details": { "order_id": order.reference, "gross_amount": order.amount },
            "customer_details": {
                "first_name": order.name, "email": order.email, "phone": order.phone,
            },
            "expiry": {
                "start_time": start.format("%Y-%m-%d %H:%M:%S %z").to_string(),
                "unit": "minutes", "duration": minutes,
            },
            "callbacks": { "finish": order.return_url },
        });
        let request = self
            .client()?
            .post(format!("{base}/snap/v1/transactions"))
            .header("authorization", basic_auth(&self.key))
            .header("accept", "application/json")
            .json(&body);
        let answer = send(request).await?;
        // The transaction begins when the customer chooses a method.
        Opened::of(&answer["redirect_url"], None)
    }

    async fn create_xendit(&self, order: &Order<'_>) -> Result<Opened> {
        let base = self.base.clone().unwrap_or_else(|| "https://api.xendit.co".into());
        let body = json!({
            "external_id": order.reference,
            "amount": order.amount,
            "currency": "IDR",
            "description": order.description,
            "payer_email": order.email,
            "customer": {
                "given_names": order.name, "email": order.email, "mobile_number": order.phone,
            },
            "invoice_duration": (order.expires_at - order.now).num_seconds().max(60),
            "success_redirect_url": order.return_url,
        });
        let request = self
            .client()?
            .post(format!("{base}/v2/invoices"))
            .header("authorization", basic_auth(&self.key))
            .header("x-idempotency-key", order.reference)
            .json(&body);
        let answer = send(request).await?;
        Opened::of(&answer["invoice_url"], answer["id"].as_str())
    }
}

fn malformed() -> Error {
    let message = crate::kernel::lang::text(
        "This is not a payment notification.",
        "Ini bukan notifikasi pembayaran.",
    );
    Error::Malformed(message)
}
