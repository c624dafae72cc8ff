//! Midtrans: refunds by its core API, payouts by Iris.

use chrono::{DateTime, NaiveTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use super::{
    Outcome, PaidPayment, PayoutAccount, PayoutNotice, Refundability,
    http::{Answer, ask, basic_auth, client, constant_time_eq, is_safe_id, rupiah},
};
use crate::kernel::{ids::Uuid, money::Rupiah, secret::Secret};

pub struct Midtrans {
    /// Server key, or the key of the creator of payouts.
    key: Secret,
    approver: Option<Secret>,
    /// Signs callbacks of payouts.
    signs: Secret,
    base: String,
    client: reqwest::Client,
}

/// By payment type and age. Virtual accounts and stores cannot be refunded. Where it is not known
/// whether a part can be refunded, only the whole is.
pub fn refundability(payment: &PaidPayment, now: DateTime<Utc>) -> Refundability {
    use Refundability::{Full, None, Partial};
    let issuer = payment.said("issuer");
    let bank = || ["bca", "bni", "bri"].iter().any(|bank| issuer.contains(bank));
    let on_us = payment.said("transaction_type") == "on-us";
    let (days, kind) = match payment.said("payment_type").as_str() {
        "qris" if payment.said("acquirer").contains("shopee") => match on_us {
            true => (365, Partial),
            false if bank() => return None,
            false => (7, Partial),
        },
        "qris" if on_us => (45, Partial),
        "qris" => (7, Partial),
        "gopay" | "dana" => (45, Partial),
        "shopeepay" => (365, Full),
        "ovo" => (7, Full),
        "credit_card" => (180, Partial),
        _ => return None,
    };
    if payment.is_within(days, now) { kind } else { None }
}

/// ShopeePay refunds between 06:00 and 23:50 in Jakarta.
fn is_closed(payment: &PaidPayment, now: DateTime<Utc>) -> bool {
    let time = now.with_timezone(&chrono_tz::Asia::Jakarta).time();
    let at = |hour, minute| NaiveTime::from_hms_opt(hour, minute, 0).unwrap_or_default();
    payment.said("payment_type") == "shopeepay" && (time < at(6, 0) || time >= at(23, 50))
}

impl Midtrans {
    pub fn for_refunds(key: Secret, base: Option<String>) -> Result<Self, String> {
        let host = if key.reveal().starts_with("SB-") { "api.sandbox" } else { "api" };
        let base = base.unwrap_or_else(|| format!("https://{host}.midtrans.com"));
        Ok(Self { signs: key.clone(), key, approver: None, base, client: client()? })
    }

    pub fn for_payouts(
        key: Secret,
        approver: Option<Secret>,
        signs: Secret,
        base: Option<String>,
    ) -> Result<Self, String> {
        let host = if key.reveal().starts_with("SB-") { "app.sandbox" } else { "app" };
        let base = base.unwrap_or_else(|| format!("https://{host}.midtrans.com/iris/api/v1"));
        Ok(Self { key, approver, signs, base, client: client()? })
    }

    fn get(&self, path: &str, key: &Secret) -> reqwest::RequestBuilder {
        let request = self.client.get(format!("{}{path}", self.base));
        request.header("authorization", basic_auth(key)).header("accept", "application/json")
    }

    fn post(&self, path: &str, key: &Secret, body: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.base)).json(body);
        request.header("authorization", basic_auth(key)).header("accept", "application/json")
    }

    /// The body of most answers holds the real status.
    fn code(answer: &Answer) -> u16 {
        let code = &answer.body["status_code"];
        let said = code.as_str().and_then(|code| code.parse().ok());
        said.or_else(|| code.as_u64()?.try_into().ok()).unwrap_or(answer.status)
    }

    /// A DANA payment is only known by the provider's own id.
    fn payment_id(payment: &PaidPayment) -> Option<&str> {
        [&payment.transaction_id, &payment.reference]
            .into_iter()
            .map(String::as_str)
            .find(|id| is_safe_id(id))
    }

    pub async fn refund(
        &self,
        transfer: Uuid,
        payment: &PaidPayment,
        amount: Rupiah,
        reason: &str,
        now: DateTime<Utc>,
    ) -> Outcome {
        let Some(id) = Self::payment_id(payment) else {
            return Outcome::Rejected("the payment has no usable id".into());
        };
        if is_closed(payment, now) {
            return Outcome::Later("ShopeePay refunds from 06:00 to 23:50 WIB".into());
        }
        let reason: String = reason.chars().take(255).collect();
        let body = json!({ "refund_key": transfer, "amount": amount, "reason": reason });
        let answer = match ask(self.post(&format!("/v2/{id}/refund"), &self.key, &body)).await {
            Ok(answer) => answer,
            Err(unknown) => return unknown,
        };
        match Self::code(&answer) {
            200 | 201 => {
                let ours = answer.body["refund_key"].as_str() == Some(&transfer.to_string());
                let word = answer.body["transaction_status"].as_str().unwrap_or_default();
                let refunded = word.to_lowercase().contains("refund");
                match ours && refunded {
                    true => Outcome::Accepted { provider_id: refund_id(&answer.body, transfer) },
                    false => Outcome::Unknown(format!("not clear: {}", answer.reason())),
                }
            }
            // The bank has denied it; nothing has moved.
            202 => Outcome::Rejected(answer.reason()),
            // The key is known, or the state forbids it: perhaps because an earlier call succeeded.
            406 | 412 => match self.refund_status(transfer, payment).await {
                Some(outcome) => outcome,
                None if Self::code(&answer) == 406 => Outcome::Unknown(answer.reason()),
                None => self.not_refundable(id, answer.reason()).await,
            },
            // An invalid amount or too little balance; the amount is never more than is left.
            414 | 429 => Outcome::Later(answer.reason()),
            401..=403 => Outcome::Config(answer.reason()),
            500.. => Outcome::Unknown(answer.reason()),
            _ => Outcome::Rejected(answer.reason()),
        }
    }

    /// A payment that is not settled yet can be refunded later.
    async fn not_refundable(&self, id: &str, reason: String) -> Outcome {
        let answer = match ask(self.get(&format!("/v2/{id}/status"), &self.key)).await {
            Ok(answer) => answer,
            Err(unknown) => return unknown,
        };
        match answer.body["transaction_status"].as_str().map(str::to_lowercase).as_deref() {
            Some("capture" | "authorize" | "pending") => Outcome::Later(reason),
            _ => Outcome::Rejected(reason),
        }
    }

    pub async fn refund_status(&self, transfer: Uuid, payment: &PaidPayment) -> Option<Outcome> {
        let id = Self::payment_id(payment)?;
        let answer = match ask(self.get(&format!("/v2/{id}/status"), &self.key)).await {
            Ok(answer) => answer,
            Err(unknown) => return Some(unknown),
        };
        match Self::code(&answer) {
            200..=299 | 407 => {}
            401..=403 => return Some(Outcome::Config(answer.reason())),
            _ => return Some(Outcome::Unknown(answer.reason())),
        }
        let refunds = answer.body["refunds"].as_array()?;
        let key = transfer.to_string();
        let refund = refunds.iter().find(|refund| refund["refund_key"].as_str() == Some(&key))?;
        let word = refund["status"].as_str().unwrap_or_default().to_lowercase();
        Some(match word.as_str() {
            "deny" | "denied" | "failure" | "failed" | "cancel" | "rejected" => {
                Outcome::Rejected(format!("the bank has declined it ({word})"))
            }
            _ if refund["bank_confirmed_at"].is_string() => Outcome::Confirmed {
                provider_id: refund_id(refund, transfer),
                amount: rupiah(&refund["refund_amount"]),
            },
            _ => Outcome::Accepted { provider_id: refund_id(refund, transfer) },
        })
    }

    pub async fn payout(
        &self,
        transfer: Uuid,
        account: &PayoutAccount,
        amount: Rupiah,
        note: &str,
    ) -> Outcome {
        let plain = |c: &char| c.is_ascii_alphanumeric() || *c == ' ';
        let body = json!({ "payouts": [{
            "beneficiary_name": account.account_name,
            "beneficiary_account": account.account_number,
            "beneficiary_bank": account.bank_code.to_lowercase(),
            "amount": format!("{}.00", amount.0),
            "notes": note.chars().filter(plain).take(100).collect::<String>(),
        }] });
        let request = self.post("/payouts", &self.key, &body);
        let request = request.header("x-idempotency-key", transfer.to_string());
        let answer = match ask(request).await {
            Ok(answer) => answer,
            Err(unknown) => return unknown,
        };
        let reason = payout_reason(&answer);
        match answer.status {
            200 | 201 => match answer.body["payouts"][0]["reference_no"].as_str() {
                Some(id) if is_safe_id(id) => {
                    self.approve(id).await;
                    Outcome::Accepted { provider_id: id.to_owned() }
                }
                _ => Outcome::Unknown(format!("not clear: {reason}")),
            },
            401..=403 => Outcome::Config(reason),
            // Another body with the same key: what the first one came to is not known here.
            409 => Outcome::Unknown(reason),
            429 => Outcome::Later(reason),
            _ if reason.to_lowercase().contains("balance") => Outcome::Later(reason),
            _ => Outcome::Rejected(reason),
        }
    }

    /// Approves a queued payout. A failure is repaired when its status is asked for.
    async fn approve(&self, id: &str) {
        let Some(approver) = &self.approver else { return };
        let body = json!({ "reference_nos": [id] });
        match ask(self.post("/payouts/approve", approver, &body)).await {
            Ok(answer) if answer.status < 300 => {}
            Ok(answer) => tracing::warn!(id, why = payout_reason(&answer), "payout not approved"),
            Err(why) => tracing::warn!(id, ?why, "the approval of a payout is not answered"),
        }
    }

    pub async fn payout_status(&self, id: &str) -> Option<Outcome> {
        if !is_safe_id(id) {
            return Some(Outcome::Unknown("the payout has no usable id".into()));
        }
        let answer = match ask(self.get(&format!("/payouts/{id}"), &self.key)).await {
            Ok(answer) => answer,
            Err(unknown) => return Some(unknown),
        };
        if [401, 403].contains(&answer.status) {
            return Some(Outcome::Config(payout_reason(&answer)));
        }
        let provider_id = id.to_owned();
        let word = answer.body["status"].as_str().unwrap_or_default().to_lowercase();
        Some(match (answer.status, word.as_str()) {
            (200..=299, "completed") => {
                Outcome::Confirmed { provider_id, amount: rupiah(&answer.body["amount"]) }
            }
            (200..=299, "failed" | "rejected") => Outcome::Rejected(payout_reason(&answer)),
            (200..=299, "queued") => {
                self.approve(id).await;
                Outcome::Accepted { provider_id }
            }
            (200..=299, "approved" | "processed") => Outcome::Accepted { provider_id },
            _ => Outcome::Unknown(payout_reason(&answer)),
        })
    }

    /// `Iris-Signature` is SHA-512 of the body and the merchant key, in hexadecimal.
    pub fn read_payout_callback(
        &self,
        header: impl Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Option<PayoutNotice> {
        let given = header("iris-signature")?.to_ascii_lowercase();
        let hash = Sha512::new().chain_update(body).chain_update(self.signs.reveal()).finalize();
        let right: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        if !constant_time_eq(&given, &right) {
            return None;
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let provider_id = body["reference_no"].as_str().map(str::to_owned);
        Some(PayoutNotice { transfer: None, provider_id })
    }

    pub async fn reach_payouts(&self) -> Result<String, String> {
        let keys = [Some(("creator", &self.key)), self.approver.as_ref().map(|k| ("approver", k))];
        for (name, key) in keys.into_iter().flatten() {
            match ask(self.get("/balance", key)).await {
                Ok(answer) if [401, 403].contains(&answer.status) => {
                    return Err(format!("midtrans rejects the key of the {name}"));
                }
                Ok(_) => {}
                Err(why) => return Err(format!("midtrans: {why:?}")),
            }
        }
        Ok(match self.approver {
            Some(_) => "midtrans responds and accepts both keys".into(),
            None => {
                "midtrans responds and accepts the key; payouts are approved in its portal".into()
            }
        })
    }
}

fn refund_id(refund: &Value, transfer: Uuid) -> String {
    let id = &refund["refund_chargeback_id"];
    let number = id.as_u64().map(|id| id.to_string());
    let id = number.or_else(|| id.as_str().map(str::to_owned)).filter(|id| is_safe_id(id));
    id.unwrap_or_else(|| transfer.to_string())
}

fn payout_reason(answer: &Answer) -> String {
    match (answer.body["error_code"].as_str(), answer.body["error_message"].as_str()) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => answer.reason(),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn paid(channel: Value) -> PaidPayment {
        PaidPayment {
            reference: "A".into(),
            transaction_id: "t".into(),
            method: "other".into(),
            channel,
            paid_at: "2026-11-01T00:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn each_method_has_its_window() {
        use Refundability::{Full, None, Partial};
        let gopay = "gopay";
        for (channel, days, kind) in [
            (json!({ "payment_type": "credit_card" }), 180, Partial),
            (json!({ "payment_type": "gopay" }), 45, Partial),
            (json!({ "payment_type": "DANA" }), 45, Partial),
            (json!({ "payment_type": "ovo" }), 7, Full),
            (json!({ "payment_type": "shopeepay" }), 365, Full),
            (json!({ "payment_type": "qris", "acquirer": gopay }), 7, Partial),
            (
                json!({ "payment_type": "qris", "acquirer": gopay, "transaction_type": "on-us" }),
                45,
                Partial,
            ),
            (
                json!({
                    "payment_type": "qris", "acquirer": "airpay shopee",
                    "transaction_type": "on-us",
                }),
                365,
                Partial,
            ),
        ] {
            let payment = paid(channel.clone());
            let end = payment.paid_at + TimeDelta::days(days);
            assert_eq!(refundability(&payment, end - TimeDelta::seconds(1)), kind, "{channel}");
            assert_eq!(refundability(&payment, end), None, "{channel}");
        }
        let now = "2026-11-01T01:00:00Z".parse().unwrap();
        for channel in [
            json!({}),
            json!({ "payment_type": "bank_transfer" }),
            json!({ "payment_type": "echannel" }),
            json!({ "payment_type": "cstore" }),
            json!({ "payment_type": "something new" }),
            json!({ "payment_type": "qris", "acquirer": "airpay shopee", "issuer": "Bank BCA" }),
        ] {
            assert_eq!(refundability(&paid(channel.clone()), now), None, "{channel}");
        }
    }

    #[test]
    fn shopeepay_is_closed_at_night() {
        let payment = paid(json!({ "payment_type": "shopeepay" }));
        for (time, closed) in [
            ("2026-11-01T22:59:59Z", true),
            ("2026-11-01T23:00:00Z", false),
            ("2026-11-02T16:49:59Z", false),
            ("2026-11-02T16:50:00Z", true),
        ] {
            assert_eq!(is_closed(&payment, time.parse().unwrap()), closed, "{time}");
        }
        let other = paid(json!({ "payment_type": "gopay" }));
        assert!(!is_closed(&other, "2026-11-02T16:50:00Z".parse().unwrap()));
    }
}
