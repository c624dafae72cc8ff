//! The providers that move money for us: refunds of payments and payouts to bank accounts, behind one
//! interface with a file per provider.
//!
//! - Every call carries the id of its transfer as the key by which the provider recognises a
//!   repetition.
//! - An answer that does not arrive, or that says nothing, is [`Outcome::Unknown`] and never a
//!   failure: the money may have moved. The caller asks for the status, then repeats the call with the
//!   same key.

mod http;
mod midtrans;
mod simulator;
mod xendit;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::App,
    config::{Config, PaymentProvider, PayoutProvider, SendRefunds, WebUrl},
    kernel::{error::Result, ids::Uuid, money::Rupiah, secret::Secret},
};

pub use http::{answer, basic_auth, calls, client, constant_time_eq, send};
use midtrans::Midtrans;
use xendit::Xendit;

/// What a call, or a question about it, came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The provider works on it.
    Accepted { provider_id: String },
    /// The money has moved. `amount`: what the provider says has moved, if it says so.
    Confirmed { provider_id: String, amount: Option<Rupiah> },
    /// The money came back after a confirmation.
    Reversed(String),
    /// It may or may not have happened.
    Unknown(String),
    /// It has not happened, and may succeed later: too many requests, an empty balance, closed hours.
    Later(String),
    /// It has not happened and will not.
    Rejected(String),
    /// The provider refuses our key or our agreement: nothing succeeds until somebody changes it.
    Config(String),
}

/// How much of a payment its provider can refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refundability {
    Full,
    Partial,
    None,
}

/// What decides whether and until when a payment can be refunded.
#[derive(Clone, Debug)]
pub struct PaidPayment {
    /// Our name for it at the provider.
    pub reference: String,
    /// The provider's id of it.
    pub transaction_id: String,
    /// A `payments::Method`.
    pub method: String,
    /// What the provider said of it, see `payments::notice`.
    pub channel: Value,
    pub paid_at: DateTime<Utc>,
}

impl PaidPayment {
    fn said(&self, name: &str) -> String {
        self.channel[name].as_str().unwrap_or_default().to_lowercase()
    }

    fn is_within(&self, days: i64, now: DateTime<Utc>) -> bool {
        now - self.paid_at < TimeDelta::days(days)
    }
}

/// A bank account that is paid to.
#[derive(Clone, Serialize, Deserialize)]
pub struct PayoutAccount {
    pub bank_code: String,
    pub account_number: String,
    pub account_name: String,
}

/// A provider with its keys.
pub enum Provider {
    Simulator,
    Midtrans(Midtrans),
    Xendit(Xendit),
}

impl Provider {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Simulator => "simulator",
            Self::Midtrans(_) => "midtrans",
            Self::Xendit(_) => "xendit",
        }
    }

    /// By method and age of the payment.
    pub fn refundability(&self, payment: &PaidPayment, now: DateTime<Utc>) -> Refundability {
        match self {
            Self::Simulator => simulator::refundability(payment),
            Self::Midtrans(_) => midtrans::refundability(payment, now),
            Self::Xendit(_) => xendit::refundability(payment, now),
        }
    }

    pub async fn refund(
        &self,
        transfer: Uuid,
        payment: &PaidPayment,
        amount: Rupiah,
        reason: &str,
        now: DateTime<Utc>,
    ) -> Outcome {
        match self {
            Self::Simulator => simulator::accepted(transfer),
            Self::Midtrans(midtrans) => {
                midtrans.refund(transfer, payment, amount, reason, now).await
            }
            Self::Xendit(xendit) => xendit.refund(transfer, payment, amount).await,
        }
    }

    /// `None`: the provider does not know the refund.
    pub async fn refund_status(
        &self,
        transfer: Uuid,
        provider_id: Option<&str>,
        payment: &PaidPayment,
    ) -> Option<Outcome> {
        match self {
            Self::Simulator => Some(simulator::accepted(transfer)),
            Self::Midtrans(midtrans) => midtrans.refund_status(transfer, payment).await,
            Self::Xendit(xendit) => xendit.refund_status(transfer, provider_id, payment).await,
        }
    }

    /// `note` is what the recipient reads on the statement.
    pub async fn payout(
        &self,
        transfer: Uuid,
        account: &PayoutAccount,
        amount: Rupiah,
        note: &str,
    ) -> Outcome {
        match self {
            Self::Simulator => simulator::accepted(transfer),
            Self::Midtrans(midtrans) => midtrans.payout(transfer, account, amount, note).await,
            Self::Xendit(xendit) => xendit.payout(transfer, account, amount, note).await,
        }
    }

    /// `None`: the provider does not know the payout, or cannot be asked without its own id of it.
    pub async fn payout_status(
        &self,
        transfer: Uuid,
        provider_id: Option<&str>,
    ) -> Option<Outcome> {
        match self {
            Self::Simulator => Some(simulator::accepted(transfer)),
            Self::Midtrans(midtrans) => midtrans.payout_status(provider_id?).await,
            Self::Xendit(xendit) => xendit.payout_status(transfer, provider_id).await,
        }
    }

    /// How long after the first call a payout with an unknown outcome may be repeated, where the
    /// provider forgets the key and cannot be asked by it.
    pub fn forgets_payouts_after(&self) -> Option<TimeDelta> {
        match self {
            // Iris drops the key after 24 hours.
            Self::Midtrans(_) => Some(TimeDelta::hours(23)),
            Self::Simulator | Self::Xendit(_) => None,
        }
    }

    /// Verifies a payout callback and reads what it is about. `None`: not from this provider.
    pub fn read_payout_callback(
        &self,
        header: impl Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Option<PayoutNotice> {
        match self {
            Self::Simulator => None,
            Self::Midtrans(midtrans) => midtrans.read_payout_callback(header, body),
            Self::Xendit(xendit) => xendit.read_payout_callback(header, body),
        }
    }

    /// Checks that the provider answers and accepts the keys for payouts.
    pub async fn reach_payouts(&self) -> Result<String, String> {
        match self {
            Self::Simulator => Ok("simulator: no money is paid out".into()),
            Self::Midtrans(midtrans) => midtrans.reach_payouts().await,
            Self::Xendit(xendit) => xendit.reach_payouts().await,
        }
    }
}

/// What a payout callback is about. Its status is not trusted: the provider is asked.
#[derive(Debug, PartialEq, Eq)]
pub struct PayoutNotice {
    /// The id of our transfer, if the provider repeats it.
    pub transfer: Option<Uuid>,
    pub provider_id: Option<String>,
}

/// The providers of this service.
pub struct Providers {
    /// The payment provider, which refunds. It is asked about earlier refunds even if people send new
    /// ones.
    pub refunds: Provider,
    /// Whether due refunds are sent without a person.
    pub sends_refunds: bool,
    /// Pays settlements out; `None`: people do.
    pub payouts: Option<Provider>,
}

impl App {
    /// The providers that move money.
    pub fn providers(&self) -> &Providers {
        self.domain()
    }
}

impl Providers {
    pub fn new(config: &Config) -> Result<Self, String> {
        Ok(Self {
            refunds: refunds(config)?,
            sends_refunds: config.refunds == SendRefunds::Auto,
            payouts: payouts(config)?,
        })
    }
}

fn address(url: Option<&WebUrl>) -> Option<String> {
    url.map(|WebUrl(url)| url.0.trim_end_matches('/').to_owned())
}

fn refunds(config: &Config) -> Result<Provider, String> {
    let key = || {
        let unset = || "DERMAGA_PAYMENT_SERVER_KEY: must be set".to_owned();
        config.payment_server_key.clone().ok_or_else(unset)
    };
    let base = address(config.payment_url.as_ref());
    Ok(match config.payment_provider {
        PaymentProvider::Simulator => Provider::Simulator,
        PaymentProvider::Midtrans => Provider::Midtrans(Midtrans::for_refunds(key()?, base)?),
        PaymentProvider::Xendit => Provider::Xendit(Xendit::new(key()?, base, None)?),
    })
}

fn payouts(config: &Config) -> Result<Option<Provider>, String> {
    let base = address(config.payout_url.as_ref());
    let unset = |name: &str| format!("DERMAGA_{name}: must be set for these payouts");
    let same = config.payment_provider == PaymentProvider::Xendit;
    let of_payments = |key: &Option<Secret>| key.clone().filter(|_| same);
    Ok(Some(match config.payouts {
        PayoutProvider::Manual => return Ok(None),
        PayoutProvider::Simulator => Provider::Simulator,
        PayoutProvider::Midtrans => {
            let key = config.payout_key.clone().ok_or_else(|| unset("PAYOUT_KEY"))?;
            let signs = config.payout_callback_key.clone();
            let signs = signs.ok_or_else(|| unset("PAYOUT_CALLBACK_KEY"))?;
            let approver = config.payout_approver_key.clone();
            Provider::Midtrans(Midtrans::for_payouts(key, approver, signs, base)?)
        }
        PayoutProvider::Xendit => {
            let key = config.payout_key.clone();
            let key = key.or_else(|| of_payments(&config.payment_server_key));
            let token = config.payout_callback_key.clone();
            let token = token.or_else(|| of_payments(&config.payment_callback_token));
            let key = key.ok_or_else(|| unset("PAYOUT_KEY"))?;
            let token = token.ok_or_else(|| unset("PAYOUT_CALLBACK_KEY"))?;
            Provider::Xendit(Xendit::new(key, base, Some(token))?)
        }
    }))
}
