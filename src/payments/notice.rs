//! Parses the notifications of payment providers.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use sha2::{Digest, Sha256, Sha512};

use super::model::{Method, PaymentStatus};
use crate::kernel::{money::Rupiah, secret::Secret};

#[derive(Clone, Debug)]
pub struct Notice {
    pub reference: String,
    pub transaction_id: String,
    /// In the words of the provider.
    pub provider_status: String,
    pub status: PaymentStatus,
    pub amount: Rupiah,
    pub method: Method,
}

/// A notification of Midtrans or of the simulator; `None` if it is malformed.
pub fn midtrans(body: &Value) -> Option<Notice> {
    let text = |name: &str| body[name].as_str();
    let provider_status = text("transaction_status")?;
    let status = match (provider_status, text("fraud_status")) {
        ("capture", None | Some("accept")) | ("settlement", _) => PaymentStatus::Paid,
        ("deny" | "cancel" | "failure", _) => PaymentStatus::Failed,
        ("expire", _) => PaymentStatus::Expired,
        ("refund" | "partial_refund", _) => PaymentStatus::Refunded,
        _ => PaymentStatus::Pending,
    };
    // A refund has its own amount besides that of the payment.
    let amount = match status {
        PaymentStatus::Refunded => text("refund_amount").or(text("gross_amount")),
        _ => text("gross_amount"),
    };
    let method = match text("payment_type").unwrap_or_default() {
        "qris" => Method::Qris,
        "bank_transfer" | "echannel" | "permata" | "bca_va" | "bni_va" | "bri_va" => {
            Method::BankTransfer
        }
        "credit_card" => Method::CreditCard,
        "gopay" | "shopeepay" | "dana" | "ovo" => Method::Ewallet,
        "cstore" => Method::Retail,
        _ => Method::Other,
    };
    // A challenged capture and an accepted one are different states.
    let provider_status = match text("fraud_status") {
        Some(fraud) if provider_status == "capture" && fraud != "accept" => {
            format!("{provider_status}:{fraud}")
        }
        _ => provider_status.to_owned(),
    };
    let reference = text("order_id")?.to_owned();
    Some(Notice {
        transaction_id: text("transaction_id").map_or_else(|| reference.clone(), str::to_owned),
        reference,
        provider_status,
        status,
        amount: parse_rupiah(amount?)?,
        method,
    })
}

/// `SHA512(order_id + status_code + gross_amount + server_key)` in hexadecimal.
pub fn midtrans_signature(body: &Value, key: &Secret) -> Option<String> {
    let text = |name: &str| body[name].as_str();
    let hash = Sha512::new()
        .chain_update(text("order_id")?)
        .chain_update(text("status_code")?)
        .chain_update(text("gross_amount")?)
        .chain_update(key.reveal());
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

pub fn midtrans_signed(body: &Value, key: &Secret) -> bool {
    let given = body["signature_key"].as_str().unwrap_or_default().to_ascii_lowercase();
    midtrans_signature(body, key).is_some_and(|right| constant_time_eq(&given, &right))
}

/// An invoice of Xendit, from its callback or its API; `None` if it is malformed.
pub fn xendit(body: &Value) -> Option<Notice> {
    let text = |name: &str| body[name].as_str();
    let provider_status = text("status")?;
    // It becomes part of a URL.
    let id = text("id").filter(|id| is_safe_id(id))?;
    if text("currency").is_some_and(|currency| currency != "IDR") {
        return None;
    }
    let status = match provider_status {
        "PAID" | "SETTLED" => PaymentStatus::Paid,
        "EXPIRED" => PaymentStatus::Expired,
        "FAILED" => PaymentStatus::Failed,
        "REFUNDED" => PaymentStatus::Refunded,
        _ => PaymentStatus::Pending,
    };
    let amount = match (status, &body["paid_amount"]) {
        (PaymentStatus::Paid, paid) if !paid.is_null() => whole_rupiah(paid),
        _ => whole_rupiah(&body["amount"]),
    };
    let method = match text("payment_method").unwrap_or_default() {
        "QR_CODE" | "QRIS" => Method::Qris,
        "BANK_TRANSFER" | "CALLBACK_VIRTUAL_ACCOUNT" => Method::BankTransfer,
        "CREDIT_CARD" => Method::CreditCard,
        "EWALLET" => Method::Ewallet,
        "RETAIL_OUTLET" => Method::Retail,
        _ => Method::Other,
    };
    Some(Notice {
        reference: text("external_id")?.to_owned(),
        transaction_id: id.to_owned(),
        provider_status: provider_status.to_owned(),
        status,
        amount: amount?,
        method,
    })
}

/// Compares in constant time.
pub fn constant_time_eq(given: &str, right: &str) -> bool {
    let (given, right) = (Sha256::digest(given), Sha256::digest(right));
    given.iter().zip(right.iter()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

pub fn basic_auth(key: &Secret) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{}:", key.reveal())))
}

/// An amount without cents, as `150000` or `150000.0`.
fn whole_rupiah(amount: &Value) -> Option<Rupiah> {
    let exact = |n: &f64| n.fract() == 0.0 && n.abs() < 9e15;
    let amount = amount.as_i64().or_else(|| amount.as_f64().filter(exact).map(|n| n as i64));
    amount.filter(|amount| *amount >= 0).map(Rupiah)
}

fn is_safe_id(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=64).contains(&id.len()) && id.bytes().all(plain)
}

/// An amount without cents, as `"150000.00"` or `"150000"`.
fn parse_rupiah(text: &str) -> Option<Rupiah> {
    let (whole, cents) = text.split_once('.').unwrap_or((text, ""));
    let none = cents.bytes().all(|b| b == b'0');
    whole.parse().ok().filter(|amount| none && *amount >= 0).map(Rupiah)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_come_with_cents_that_must_be_none() {
        assert_eq!(parse_rupiah("150000.00"), Some(Rupiah(150_000)));
        assert_eq!(parse_rupiah("150000"), Some(Rupiah(150_000)));
        for bad in ["150000.50", "-1", "", "1e5", "150,000"] {
            assert_eq!(parse_rupiah(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_invoice_has_a_plain_id_and_whole_rupiah() {
        let invoice = |id: &str, paid: Value| {
            let body = json!({
                "id": id, "external_id": "a", "status": "PAID", "amount": 1, "paid_amount": paid,
                "currency": "IDR",
            });
            xendit(&body).map(|notice| notice.amount)
        };
        assert_eq!(invoice("65a-b_C", json!(150_000)), Some(Rupiah(150_000)));
        assert_eq!(invoice("1", json!(150_000.0)), Some(Rupiah(150_000)));
        assert_eq!(invoice("1", Value::Null), Some(Rupiah(1)), "what was asked for");
        for bad in [json!(0.5), json!(-1), json!("150000"), json!(1e300)] {
            assert_eq!(invoice("1", bad.clone()), None, "{bad}");
        }
        for bad in ["", "../x", "a/b", "a?b", "a%2fb", "a b", &"x".repeat(65)] {
            assert_eq!(invoice(bad, json!(1)), None, "{bad}");
        }
        let dollars = json!({
            "id": "1", "external_id": "a", "status": "PAID", "amount": 1, "currency": "USD",
        });
        assert!(xendit(&dollars).is_none());
    }

    #[test]
    fn a_capture_pays_only_when_it_is_accepted() {
        let said = |status: &str, fraud: Option<&str>| {
            let body = json!({
                "order_id": "a", "transaction_status": status, "fraud_status": fraud,
                "gross_amount": "1000.00", "transaction_id": "t",
            });
            midtrans(&body).unwrap().status
        };
        assert_eq!(said("capture", Some("accept")), PaymentStatus::Paid);
        assert_eq!(said("capture", Some("challenge")), PaymentStatus::Pending);
        assert_eq!(said("settlement", None), PaymentStatus::Paid);
        assert_eq!(said("deny", None), PaymentStatus::Failed);
        assert_eq!(said("expire", None), PaymentStatus::Expired);
        assert_eq!(said("pending", None), PaymentStatus::Pending);
        assert_eq!(said("refund", None), PaymentStatus::Refunded);
        assert_eq!(said("something new", None), PaymentStatus::Pending);
    }
}
