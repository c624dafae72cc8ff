//! Sends deliveries: signed, to public addresses.

use std::{sync::OnceLock, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{StatusCode, Url, header::HeaderMap};
use sha2::Sha256;

use super::{
    address::{PublicResolver, is_public},
    model::{DeliveryStatus, DisabledReason, parse_url},
    resellers,
    store::{self, Attempt, Outgoing},
};
use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        outbox::Item,
        telemetry,
    },
};

/// A subscription is deactivated after this time without success. It is less than the 23 hours
/// until the last attempt of a single delivery.
const MAX_FAILING: TimeDelta = TimeDelta::hours(22);
const PREFIX: &str = "whsec_";

/// The HTTP client of webhooks.
pub struct WebhookClient {
    /// Created on first use, because the certificates take memory and many installations have no
    /// webhooks.
    client: OnceLock<reqwest::Client>,
    private_too: bool,
}

impl App {
    /// The client that delivers webhooks.
    pub fn webhook_client(&self) -> &WebhookClient {
        self.domain()
    }
}

impl WebhookClient {
    pub fn new(private_too: bool) -> Self {
        Self { client: OnceLock::new(), private_too }
    }

    fn client(&self) -> reqwest::Result<&reqwest::Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let private_too = self.private_too;
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(10))
            .connect_timeout(Duration::from_secs(5))
            // Redirects and proxies would bypass the check of the address.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .dns_resolver(std::sync::Arc::new(PublicResolver { private_too }))
            .user_agent(concat!("Dermaga/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Checks addresses that are written as numbers, which the resolver does not see.
    pub fn may_call(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let number = host.trim_start_matches('[').trim_end_matches(']').parse();
        self.private_too || number.map_or(true, is_public)
    }

    async fn call(
        &self,
        outgoing: &Outgoing,
        secret: &str,
        headers: HeaderMap,
        now: DateTime<Utc>,
    ) -> Attempt {
        let failed = |response_status, error: String| Attempt {
            status: DeliveryStatus::Pending,
            response_status,
            error: Some(error.chars().take(500).collect()),
        };
        let Some(url) = parse_url(&outgoing.url).filter(|url| self.may_call(url)) else {
            return failed(None, "its address is not public".into());
        };
        let body = outgoing.payload.to_string();
        let (id, timestamp) = (outgoing.event_id.to_string(), now.timestamp());
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return failed(None, reason(&error)),
        };
        let request = client
            .post(url)
            .headers(headers)
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature(secret, &id, timestamp, &body))
            .body(body);
        match telemetry::call(request).await {
            Ok(answer) if answer.status().is_success() => Attempt {
                status: DeliveryStatus::Delivered,
                response_status: Some(answer.status().as_u16().into()),
                error: None,
            },
            Ok(answer) => {
                let status = answer.status().as_u16();
                failed(Some(status.into()), format!("the receiver responded with {status}"))
            }
            Err(error) => failed(None, reason(&error)),
        }
    }
}

/// The innermost cause is the specific one; the outer ones repeat the address.
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// A fresh secret in the format of the Standard Webhooks specification.
pub fn fresh_secret() -> String {
    format!("{PREFIX}{}", BASE64_STANDARD.encode(rand::random::<[u8; 32]>()))
}

/// `v1,` and the HMAC of id, time and body.
fn signature(secret: &str, id: &str, timestamp: i64, body: &str) -> String {
    let key = BASE64_STANDARD.decode(secret.trim_start_matches(PREFIX)).unwrap_or_default();
    let mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length will do");
    let mac = mac.chain_update(format!("{id}.{timestamp}.{body}"));
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

/// Makes an attempt and records its outcome. An error schedules a retry.
pub async fn deliver(app: &App, item: &Item, id: Uuid) -> Result<()> {
    // It was deleted, or delivered by a process whose lease had expired.
    let Some(outgoing) = store::outgoing(&app.db, id).await? else { return Ok(()) };
    let mut attempt = match outgoing.active {
        true => {
            let secret = app.sealer.open(&outgoing.secret)?;
            let headers = resellers::open_headers(app, outgoing.headers.as_deref())?;
            let headers = resellers::header_map(&headers);
            app.webhook_client().call(&outgoing, &secret, headers, app.clock.now()).await
        }
        false => Attempt {
            status: DeliveryStatus::Failed,
            response_status: None,
            error: Some("the webhook is not active".into()),
        },
    };
    let now = app.clock.now();
    let webhook = outgoing.webhook_id;
    let gone = attempt.response_status == Some(StatusCode::GONE.as_u16().into());
    let mut tx = app.db.begin().await?;
    match attempt.status {
        DeliveryStatus::Delivered => store::mark_working(&mut tx, webhook).await?,
        DeliveryStatus::Failed => {}
        DeliveryStatus::Pending => {
            let since = store::mark_failing(&mut tx, webhook, &outgoing.url, now).await?;
            let reason = since.and_then(|since| match gone {
                true => Some(DisabledReason::Gone),
                false => (now - since >= MAX_FAILING).then_some(DisabledReason::Failing),
            });
            if let Some(reason) = reason {
                store::switch_off(&mut tx, webhook, reason, now).await?;
            }
            if reason.is_some() || item.is_last_try() {
                attempt.status = DeliveryStatus::Failed;
            }
        }
    }
    store::record_attempt(&mut tx, id, &attempt, now).await?;
    tx.commit().await?;
    match attempt.status {
        DeliveryStatus::Pending => Err(Error::Unavailable(attempt.error.unwrap_or_default())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn a_delivery_is_signed_as_the_specification_has_it() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signed = signature(
            secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn numbers_are_looked_at_however_they_are_written() {
        let caller = WebhookClient::new(false);
        let may = |url: &str| caller.may_call(&parse_url(url).unwrap());
        for bad in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://[::1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://169.254.169.254/latest/meta-data",
        ] {
            assert!(!may(bad), "{bad}");
        }
        assert!(may("https://8.8.8.8/") && may("https://hooks.example.com/x"));
        assert!(WebhookClient::new(true).may_call(&parse_url("http://127.0.0.1/").unwrap()));
    }
}
