//! Parses the notifications of payment providers.

use serde_json::{Map, Value};
use sha2::{Digest, Sha512};

use super::{
    model::{Method, Payment, PaymentStatus},
    refunds::{ReportedKind, ReportedRefund},
};
use crate::{
    kernel::{ids::Uuid, money::Rupiah, secret::Secret},
    providers::constant_time_eq,
};

#[derive(Clone, Debug)]
pub struct Notice {
    pub reference: String,
    pub transaction_id: String,
    /// In the words of the provider.
    pub provider_status: String,
    pub status: PaymentStatus,
    /// The money that it tells of: of a notification about refunds, their sum.
    pub amount: Rupiah,
    /// The amount of the payment itself.
    pub gross: Rupiah,
    pub method: Method,
    /// Of a notification about refunds.
    pub refunds: Vec<ReportedRefund>,
    /// What decides whether and until when the payment can be refunded.
    pub channel: Value,
    /// The provider must be asked, although the notice only ends an attempt: its money was taken.
    pub takes_back: bool,
    /// Whether this is the provider's answer rather than what somebody sent.
    pub confirmed: bool,
}

impl Notice {
    /// The id by which Midtrans knows the payment: DANA only has the provider's own.
    pub fn id_at_midtrans(&self) -> &str {
        let kind = self.channel["payment_type"].as_str().unwrap_or_default();
        match kind.eq_ignore_ascii_case("dana") && is_safe_id(&self.transaction_id) {
            true => &self.transaction_id,
            false => &self.reference,
        }
    }

    /// What a notification of a payment says if the provider answers that it is refunded: it was
    /// paid before.
    pub fn paid_before(&self, told: &Self) -> Option<Self> {
        let before = told.status == PaymentStatus::Paid && self.status == PaymentStatus::Refunded;
        before.then(|| Self {
            provider_status: told.provider_status.clone(),
            status: PaymentStatus::Paid,
            amount: self.gross,
            refunds: Vec::new(),
            ..self.clone()
        })
    }
}

/// A notification of Midtrans or of the simulator; `None` if it is malformed.
pub fn midtrans(body: &Value) -> Option<Notice> {
    let text = |name: &str| body[name].as_str();
    // One method writes its words in capitals.
    let provider_status = text("transaction_status")?.to_ascii_lowercase();
    let status = match (provider_status.as_str(), text("fraud_status")) {
        ("capture", None | Some("accept")) | ("settlement", _) => PaymentStatus::Paid,
        ("deny" | "cancel" | "failure", _) => PaymentStatus::Failed,
        ("expire", _) => PaymentStatus::Expired,
        ("refund" | "partial_refund" | "chargeback" | "partial_chargeback", _) => {
            PaymentStatus::Refunded
        }
        _ => PaymentStatus::Pending,
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
    let reference = text("order_id")?.to_owned();
    let transaction_id = text("transaction_id").map_or_else(|| reference.clone(), str::to_owned);
    let gross = parse_rupiah(text("gross_amount")?)?;
    let (amount, refunds) = match status {
        PaymentStatus::Refunded => {
            midtrans_refunds(body, &provider_status, &transaction_id, gross)?
        }
        _ => (gross, Vec::new()),
    };
    // A challenged capture and an accepted one are different states.
    let provider_status = match text("fraud_status") {
        Some(fraud) if provider_status == "capture" && fraud != "accept" => {
            format!("{provider_status}:{fraud}")
        }
        _ => provider_status,
    };
    let channel = ["payment_type", "issuer", "acquirer", "transaction_type", "bank", "store"];
    Some(Notice {
        reference,
        transaction_id,
        provider_status,
        status,
        amount,
        gross,
        method,
        refunds,
        channel: picked(body, &channel),
        takes_back: false,
        confirmed: false,
    })
}

/// The refunds or chargebacks of a payment so far, and their sum. Each has an id in `refunds`; what
/// is missing there is told by the sum alone.
fn midtrans_refunds(
    body: &Value,
    provider_status: &str,
    transaction: &str,
    gross: Rupiah,
) -> Option<(Rupiah, Vec<ReportedRefund>)> {
    let kind = match provider_status.ends_with("chargeback") {
        true => ReportedKind::Chargeback,
        false => ReportedKind::Refund,
    };
    let entry = |entry: &Value| {
        // What the bank has declined moved no money.
        let status = entry["status"].as_str().unwrap_or_default().to_ascii_lowercase();
        if ["deny", "denied", "failure", "failed", "cancel", "rejected"].contains(&&*status) {
            return None;
        }
        let id = &entry["refund_chargeback_id"];
        let id = id.as_i64().map(|id| id.to_string()).or(id.as_str().map(str::to_owned));
        let own = entry["refund_key"].as_str().filter(|key| !key.is_empty());
        let key = own.map(str::to_owned).or(id.map(|id| format!("id:{id}")))?;
        let amount = rupiah(&entry["refund_amount"]).filter(|amount| *amount > Rupiah::ZERO)?;
        let is_final = entry["bank_confirmed_at"].is_string();
        (key.len() <= MAX_KEY).then_some((key, amount, is_final))
    };
    let list = body["refunds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let entries: Vec<_> = list.iter().take(MAX_REFUNDS).filter_map(entry).collect();
    // A chargeback may repeat the sum of earlier refunds beside its own.
    let told = match kind {
        ReportedKind::Chargeback => [&body["chargeback_amount"], &body["refund_amount"]],
        _ => [&body["refund_amount"], &body["chargeback_amount"]],
    };
    let total = match told.into_iter().find(|amount| !amount.is_null()) {
        Some(amount) => rupiah(amount)?,
        None if !entries.is_empty() => entries.iter().map(|(_, amount, _)| *amount).sum(),
        // Without an amount, all of it.
        None if provider_status.starts_with("partial") => return None,
        None => gross,
    };
    let each = entries.into_iter().map(|(key, amount, is_final)| (Some(key), amount, is_final));
    let told = each.chain([(None, total, true)]).map(|(key, amount, is_final)| ReportedRefund {
        kind,
        transaction: transaction.to_owned(),
        transfer: key.as_deref().and_then(|key| key.parse().ok()),
        key,
        amount,
        total: Some(total),
        is_final,
    });
    Some((total, told.collect()))
}

/// More refunds of one payment than this are told by their sum alone.
const MAX_REFUNDS: usize = 100;
const MAX_KEY: usize = 100;

/// The named texts of a notification.
fn picked(body: &Value, names: &[&str]) -> Value {
    let short = |text: &&str| text.len() <= 100;
    let all = names.iter().filter_map(|name| {
        let text = body[*name].as_str().filter(short)?;
        Some(((*name).to_owned(), Value::from(text)))
    });
    Value::Object(all.collect::<Map<_, _>>())
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
        (PaymentStatus::Paid | PaymentStatus::Refunded, paid) if !paid.is_null() => {
            whole_rupiah(paid)
        }
        _ => whole_rupiah(&body["amount"]),
    }?;
    let method = match text("payment_method").unwrap_or_default() {
        "QR_CODE" | "QRIS" => Method::Qris,
        "BANK_TRANSFER" | "CALLBACK_VIRTUAL_ACCOUNT" => Method::BankTransfer,
        "CREDIT_CARD" => Method::CreditCard,
        "EWALLET" => Method::Ewallet,
        "RETAIL_OUTLET" => Method::Retail,
        _ => Method::Other,
    };
    let refunds = match status {
        PaymentStatus::Refunded => vec![ReportedRefund {
            kind: ReportedKind::Refund,
            transaction: String::new(),
            key: None,
            amount,
            total: Some(amount),
            transfer: None,
            is_final: true,
        }],
        _ => Vec::new(),
    };
    let channel = ["payment_method", "payment_channel", "payment_id", "payment_request_id"];
    Some(Notice {
        reference: text("external_id")?.to_owned(),
        transaction_id: id.to_owned(),
        provider_status: provider_status.to_owned(),
        status,
        amount,
        gross: amount,
        method,
        refunds,
        channel: picked(body, &channel),
        takes_back: false,
        confirmed: false,
    })
}

/// A refund at Xendit, from its callback or its API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundNotice {
    pub id: String,
    /// The ids by which it names the payment.
    pub invoice_id: Option<String>,
    pub payment_id: Option<String>,
    pub payment_request_id: Option<String>,
    /// Our id, if we have asked for it.
    pub transfer: Option<Uuid>,
    pub amount: Rupiah,
    pub outcome: RefundOutcome,
    pub failure_code: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    Pending,
    Succeeded,
    Failed,
}

/// Whether a callback of Xendit is about a refund.
pub fn is_xendit_refund(body: &Value) -> bool {
    body["event"].as_str().is_some_and(|event| event.starts_with("refund."))
}

/// `None` if it is malformed. An invoice is paid once, so its refunds need no transaction.
pub fn xendit_refund(data: &Value) -> Option<RefundNotice> {
    let text = |name: &str| data[name].as_str();
    let named = |name: &str| text(name).filter(|id| is_safe_id(id)).map(str::to_owned);
    if text("currency").is_some_and(|currency| currency != "IDR") {
        return None;
    }
    let notice = RefundNotice {
        id: named("id")?,
        invoice_id: named("invoice_id"),
        payment_id: named("payment_id"),
        payment_request_id: named("payment_request_id"),
        transfer: text("reference_id").and_then(|id| id.parse().ok()),
        amount: whole_rupiah(&data["amount"]).filter(|amount| *amount > Rupiah::ZERO)?,
        outcome: match text("status")? {
            "SUCCEEDED" => RefundOutcome::Succeeded,
            "FAILED" | "CANCELLED" => RefundOutcome::Failed,
            _ => RefundOutcome::Pending,
        },
        failure_code: text("failure_code").map(|code| code.chars().take(100).collect()),
    };
    Some(notice)
}

impl RefundNotice {
    /// Whether both are about the same refund of the same payment.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |one: &Option<String>, other: &Option<String>| {
            one.as_ref().zip(other.as_ref()).is_none_or(|(one, other)| one == other)
        };
        self.id == other.id
            && same(&self.invoice_id, &other.invoice_id)
            && same(&self.payment_id, &other.payment_id)
            && same(&self.payment_request_id, &other.payment_request_id)
    }

    /// As a notification of the payment. A refund that failed moves no money.
    pub fn of_payment(&self, payment: &Payment) -> Notice {
        let (status, word) = match self.outcome {
            RefundOutcome::Succeeded => (PaymentStatus::Refunded, "refund.succeeded"),
            RefundOutcome::Failed => (PaymentStatus::Pending, "refund.failed"),
            RefundOutcome::Pending => (PaymentStatus::Pending, "refund.pending"),
        };
        let told = ReportedRefund {
            kind: ReportedKind::Refund,
            transaction: String::new(),
            key: Some(self.id.clone()),
            amount: self.amount,
            total: None,
            transfer: self.transfer,
            is_final: true,
        };
        Notice {
            reference: payment.reference.clone(),
            transaction_id: self.id.clone(),
            provider_status: word.to_owned(),
            status,
            amount: self.amount,
            gross: payment.amount,
            method: Method::Other,
            refunds: match status {
                PaymentStatus::Refunded => vec![told],
                _ => Vec::new(),
            },
            channel: Value::Object(Map::new()),
            takes_back: false,
            confirmed: true,
        }
    }
}

/// An amount without cents, as `150000` or `150000.0`.
fn whole_rupiah(amount: &Value) -> Option<Rupiah> {
    let exact = |n: &f64| n.fract() == 0.0 && n.abs() < 9e15;
    let amount = amount.as_i64().or_else(|| amount.as_f64().filter(exact).map(|n| n as i64));
    amount.filter(|amount| *amount >= 0).map(Rupiah)
}

/// An amount as a text or as a number.
fn rupiah(amount: &Value) -> Option<Rupiah> {
    match amount.as_str() {
        Some(text) => parse_rupiah(text),
        None => whole_rupiah(amount),
    }
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
        assert_eq!(said("chargeback", None), PaymentStatus::Refunded);
        assert_eq!(said("PENDING", None), PaymentStatus::Pending);
        assert_eq!(said("something new", None), PaymentStatus::Pending);
    }

    #[test]
    fn refunds_are_told_one_by_one_and_by_their_sum() {
        let told = |status: &str, more: Value| {
            let mut body = json!({
                "order_id": "a", "transaction_status": status, "gross_amount": "1000.00",
                "transaction_id": "t",
            });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            midtrans(&body).map(|notice| {
                let each = notice.refunds.into_iter();
                let each: Vec<_> =
                    each.map(|told| (told.key, told.amount.0, told.total.unwrap().0)).collect();
                (notice.amount.0, each)
            })
        };
        let sum = |amount| (None, amount, amount);
        assert_eq!(told("refund", json!({})), Some((1000, vec![sum(1000)])));
        assert_eq!(told("partial_refund", json!({})), None, "how much is unknown");
        let by_sum = json!({ "refund_amount": "400.00" });
        assert_eq!(told("partial_refund", by_sum), Some((400, vec![sum(400)])));
        let listed = json!({
            "refund_amount": "700.00",
            "refunds": [
                { "refund_key": "k1", "refund_chargeback_id": 1, "refund_amount": "400.00" },
                { "refund_chargeback_id": 2, "refund_amount": "300.00" },
                { "refund_amount": "9.00" }, { "refund_key": "bad", "refund_amount": "-1" }, 7,
            ],
        });
        let both = vec![(Some("k1".into()), 400, 700), (Some("id:2".into()), 300, 700), sum(700)];
        assert_eq!(told("partial_refund", listed), Some((700, both)));
        assert_eq!(told("refund", json!({ "refund_amount": "0.5" })), None);
        assert_eq!(told("partial_chargeback", json!({ "chargeback_amount": 5 })).unwrap().0, 5);
    }

    #[test]
    fn a_refund_of_xendit_names_its_payment_by_plain_ids() {
        let body = json!({
            "id": "rfd-1", "invoice_id": "inv-1", "payment_id": "../x", "amount": 5,
            "status": "SUCCEEDED", "reference_id": "not ours",
        });
        let told = xendit_refund(&body).unwrap();
        assert_eq!((told.invoice_id.as_deref(), told.payment_id.as_deref()), (Some("inv-1"), None));
        assert_eq!((told.outcome, told.transfer), (RefundOutcome::Succeeded, None));
        for (field, value) in [
            ("id", json!("a/b")),
            ("amount", json!(0)),
            ("amount", json!(0.5)),
            ("currency", json!("USD")),
            ("status", json!(null)),
        ] {
            let mut odd = body.clone();
            odd[field] = value;
            assert_eq!(xendit_refund(&odd), None, "{field}");
        }
        let mut other = told.clone();
        other.payment_id = Some("p".into());
        assert!(told.is_same(&other));
        other.invoice_id = Some("inv-2".into());
        assert!(!told.is_same(&other));
    }
}
