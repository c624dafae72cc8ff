//! Xendit: refunds and payouts (v2).

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    Outcome, PaidPayment, PayoutAccount, PayoutNotice, Refundability,
    http::{Answer, ask, basic_auth, client, constant_time_eq, is_safe_id, rupiah},
};
use crate::kernel::{ids::Uuid, money::Rupiah, secret::Secret};

pub struct Xendit {
    key: Secret,
    base: String,
    /// Token of payout callbacks.
    token: Option<Secret>,
    client: reqwest::Client,
}

/// By channel and age. Virtual accounts, stores and one-off OVO payments cannot be refunded.
pub fn refundability(payment: &PaidPayment, now: DateTime<Utc>) -> Refundability {
    let issuer = payment.said("issuer");
    let listed = !["bca", "bni", "bri", "mandiri"].iter().any(|bank| issuer.contains(bank));
    let days = match (payment.method.as_str(), payment.said("payment_channel").as_str()) {
        ("qris", _) if listed => 7,
        ("ewallet", "gopay" | "id_gopay") => 45,
        ("ewallet", "shopeepay" | "id_shopeepay") => 365,
        ("ewallet", "dana" | "id_dana") => 30,
        ("credit_card", _) => 365,
        _ => return Refundability::None,
    };
    match payment.is_within(days, now) {
        true => Refundability::Partial,
        false => Refundability::None,
    }
}

/// What a refused call means.
fn refusal(answer: &Answer) -> Outcome {
    let reason = answer.reason();
    let code = answer.body["error_code"].as_str().unwrap_or_default();
    match (answer.status, code) {
        (_, "DUPLICATE_ERROR" | "IDEMPOTENCY_ERROR") | (409, _) => Outcome::Unknown(reason),
        (
            _,
            "REFUND_IN_PROGRESS"
            | "INSUFFICIENT_BALANCE"
            | "TEMPORARILY_UNAVAILABLE"
            | "CHANNEL_UNAVAILABLE"
            | "RATE_LIMIT_EXCEEDED"
            | "TEMPORARY_TRANSFER_ERROR",
        )
        | (429, _) => Outcome::Later(reason),
        (_, "SERVER_ERROR") => Outcome::Unknown(reason),
        (
            _,
            "REFUND_NOT_SUPPORTED"
            | "PARTIAL_REFUND_NOT_SUPPORTED"
            | "REFUND_AMOUNT_EXCEEDED"
            | "INELIGIBLE_TRANSACTION_STATUS",
        ) => Outcome::Rejected(reason),
        (401..=403, _) => Outcome::Config(reason),
        (400.., _) => Outcome::Rejected(reason),
        _ => Outcome::Unknown(reason),
    }
}

impl Xendit {
    pub fn new(key: Secret, base: Option<String>, token: Option<Secret>) -> Result<Self, String> {
        let base = base.unwrap_or_else(|| "https://api.xendit.co".into());
        Ok(Self { key, base, token, client: client()? })
    }

    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.get(format!("{}{path}", self.base));
        request.header("authorization", basic_auth(&self.key))
    }

    fn post(&self, path: &str, transfer: Uuid, body: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.base)).json(body);
        let request = request.header("authorization", basic_auth(&self.key));
        request.header("idempotency-key", transfer.to_string())
    }

    /// By which the payment is refunded: its request, or the invoice that it was paid by.
    fn payment_id(payment: &PaidPayment) -> Option<(&'static str, &str)> {
        let request = payment.channel["payment_request_id"].as_str();
        let request = request.filter(|id| is_safe_id(id)).map(|id| ("payment_request_id", id));
        let invoice = Some(payment.transaction_id.as_str()).filter(|id| is_safe_id(id));
        request.or_else(|| invoice.map(|id| ("invoice_id", id)))
    }

    pub async fn refund(&self, transfer: Uuid, payment: &PaidPayment, amount: Rupiah) -> Outcome {
        let Some((name, id)) = Self::payment_id(payment) else {
            return Outcome::Rejected("the payment has no usable id".into());
        };
        let mut body = json!({
            "reference_id": transfer, "amount": amount, "currency": "IDR", "reason": "CANCELLATION",
        });
        body[name] = json!(id);
        match ask(self.post("/refunds", transfer, &body)).await {
            Ok(answer) if answer.status < 300 => refund_outcome(&answer.body),
            Ok(answer) => refusal(&answer),
            Err(unknown) => unknown,
        }
    }

    pub async fn refund_status(
        &self,
        transfer: Uuid,
        provider_id: Option<&str>,
        payment: &PaidPayment,
    ) -> Option<Outcome> {
        if let Some(id) = provider_id.filter(|id| is_safe_id(id)) {
            return Some(self.by_id(&format!("/refunds/{id}"), refund_outcome).await);
        }
        let (name, id) = Self::payment_id(payment)?;
        let found = self.list(&format!("/refunds?{name}={id}&limit=100"), transfer).await;
        match found {
            Ok(refund) => refund.map(|refund| refund_outcome(&refund)),
            Err(outcome) => Some(outcome),
        }
    }

    /// The row of a list with the id of our transfer.
    async fn list(&self, path: &str, transfer: Uuid) -> Result<Option<Value>, Outcome> {
        let answer = ask(self.get(path)).await?;
        if [401, 403].contains(&answer.status) {
            return Err(Outcome::Config(answer.reason()));
        }
        let rows = answer.body["data"].as_array().or(answer.body.as_array());
        let rows = rows.filter(|_| answer.status < 300);
        let rows = rows.ok_or_else(|| Outcome::Unknown(answer.reason()))?;
        let key = transfer.to_string();
        let ours = rows.iter().find(|row| row["reference_id"].as_str() == Some(&key));
        match ours {
            Some(row) => Ok(Some(row.clone())),
            // A later page may have it.
            None if answer.body["has_more"] == true => {
                Err(Outcome::Unknown("the list is longer than a page".into()))
            }
            None => Ok(None),
        }
    }

    pub async fn payout(
        &self,
        transfer: Uuid,
        account: &PayoutAccount,
        amount: Rupiah,
        note: &str,
    ) -> Outcome {
        let bank = account.bank_code.to_uppercase();
        let bank = if bank.starts_with("ID_") { bank } else { format!("ID_{bank}") };
        let body = json!({
            "reference_id": transfer, "channel_code": bank, "amount": amount, "currency": "IDR",
            "channel_properties": {
                "account_number": account.account_number,
                "account_holder_name": account.account_name,
            },
            "description": note.chars().take(100).collect::<String>(),
        });
        match ask(self.post("/v2/payouts", transfer, &body)).await {
            Ok(answer) if answer.status < 300 => payout_outcome(&answer.body),
            Ok(answer) => refusal(&answer),
            Err(unknown) => unknown,
        }
    }

    pub async fn payout_status(
        &self,
        transfer: Uuid,
        provider_id: Option<&str>,
    ) -> Option<Outcome> {
        let Some(id) = provider_id.filter(|id| is_safe_id(id)) else {
            let found = self.list(&format!("/v2/payouts?reference_id={transfer}"), transfer).await;
            return match found {
                Ok(payout) => payout.map(|payout| payout_outcome(&payout)),
                Err(outcome) => Some(outcome),
            };
        };
        Some(self.by_id(&format!("/v2/payouts/{id}"), payout_outcome).await)
    }

    /// What became of something that the provider has given an id. It is never taken as refused
    /// because it is not found.
    async fn by_id(&self, path: &str, outcome: fn(&Value) -> Outcome) -> Outcome {
        match ask(self.get(path)).await {
            Ok(answer) if answer.status < 300 => outcome(&answer.body),
            Ok(answer) if [401, 403].contains(&answer.status) => Outcome::Config(answer.reason()),
            Ok(answer) => Outcome::Unknown(answer.reason()),
            Err(unknown) => unknown,
        }
    }

    /// The static token does not sign the body.
    pub fn read_payout_callback(
        &self,
        header: impl Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Option<PayoutNotice> {
        let (given, right) = (header("x-callback-token")?, self.token.as_ref()?);
        if !constant_time_eq(&given, right.reveal()) {
            return None;
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let payout = if body["data"].is_object() { &body["data"] } else { &body };
        let said = |name: &str| payout[name].as_str();
        let transfer = said("reference_id").and_then(|id| id.parse().ok());
        Some(PayoutNotice { transfer, provider_id: said("id").map(str::to_owned) })
    }

    pub async fn reach_payouts(&self) -> Result<String, String> {
        match ask(self.get("/balance")).await {
            Ok(answer) if [401, 403].contains(&answer.status) => {
                Err("xendit rejects the key for payouts".into())
            }
            Ok(_) => Ok("xendit responds and accepts the key".into()),
            Err(why) => Err(format!("xendit: {why:?}")),
        }
    }
}

fn refund_outcome(refund: &Value) -> Outcome {
    let Some(id) = refund["id"].as_str().filter(|id| is_safe_id(id)) else {
        return Outcome::Unknown("the answer has no id".into());
    };
    let provider_id = id.to_owned();
    match refund["status"].as_str().unwrap_or_default() {
        "SUCCEEDED" => Outcome::Confirmed { provider_id, amount: rupiah(&refund["amount"]) },
        "FAILED" | "CANCELLED" => Outcome::Rejected(failure(refund)),
        // Pending, or a word that is not known yet: it is asked for again.
        _ => Outcome::Accepted { provider_id },
    }
}

fn payout_outcome(payout: &Value) -> Outcome {
    let Some(id) = payout["id"].as_str().filter(|id| is_safe_id(id)) else {
        return Outcome::Unknown("the answer has no id".into());
    };
    let provider_id = id.to_owned();
    match payout["status"].as_str().unwrap_or_default() {
        "SUCCEEDED" => Outcome::Confirmed { provider_id, amount: rupiah(&payout["amount"]) },
        "REVERSED" => Outcome::Reversed(failure(payout)),
        "FAILED" | "CANCELLED" | "COMPLIANCE_REJECTED" => Outcome::Rejected(failure(payout)),
        _ => Outcome::Accepted { provider_id },
    }
}

fn failure(row: &Value) -> String {
    let said = row["failure_code"].as_str().or(row["status"].as_str());
    said.unwrap_or("refused").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn each_channel_has_its_window() {
        let paid = |method: &str, channel: &str, issuer: &str| PaidPayment {
            reference: "A".into(),
            transaction_id: "t".into(),
            method: method.into(),
            channel: json!({ "payment_channel": channel, "issuer": issuer }),
            paid_at: "2026-11-01T00:00:00Z".parse().unwrap(),
        };
        for (method, channel, days) in [
            ("qris", "QRIS", 7),
            ("ewallet", "ID_DANA", 30),
            ("ewallet", "GOPAY", 45),
            ("ewallet", "SHOPEEPAY", 365),
            ("credit_card", "CREDIT_CARD", 365),
        ] {
            let payment = paid(method, channel, "");
            let end = payment.paid_at + TimeDelta::days(days);
            let before = refundability(&payment, end - TimeDelta::seconds(1));
            assert_eq!(before, Refundability::Partial, "{channel}");
            assert_eq!(refundability(&payment, end), Refundability::None, "{channel}");
        }
        let now = "2026-11-01T01:00:00Z".parse().unwrap();
        for (method, channel, issuer) in [
            ("bank_transfer", "BCA", ""),
            ("retail", "ALFAMART", ""),
            ("ewallet", "OVO", ""),
            ("qris", "QRIS", "Bank Mandiri"),
            ("other", "", ""),
        ] {
            let none = refundability(&paid(method, channel, issuer), now);
            assert_eq!(none, Refundability::None, "{channel}");
        }
    }

    #[test]
    fn errors_are_final_or_not() {
        let told = |status: u16, code: &str| {
            refusal(&Answer { status, body: json!({ "error_code": code }) })
        };
        for code in ["INSUFFICIENT_BALANCE", "REFUND_IN_PROGRESS", "CHANNEL_UNAVAILABLE"] {
            assert!(matches!(told(400, code), Outcome::Later(_)), "{code}");
        }
        for code in ["REFUND_NOT_SUPPORTED", "REFUND_AMOUNT_EXCEEDED", "SOMETHING_NEW"] {
            assert!(matches!(told(400, code), Outcome::Rejected(_)), "{code}");
        }
        for code in ["DUPLICATE_ERROR", "IDEMPOTENCY_ERROR", "SERVER_ERROR"] {
            assert!(matches!(told(409, code), Outcome::Unknown(_)), "{code}");
        }
        assert!(matches!(told(429, ""), Outcome::Later(_)));
        assert!(matches!(told(401, "INVALID_API_KEY"), Outcome::Config(_)));
    }
}
