//! The job that calls providers and asks them what became of earlier calls.

use chrono::{DateTime, Utc};

use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        ids::Uuid,
        set_aside::{self, Pass, RowJob},
    },
    payments,
    providers::{Outcome, PaidPayment, PayoutAccount, Provider},
    refunds, settlements,
    transfers::{self, FORGOTTEN, Transfer, TransferStatus},
};

/// Works on some due transfers, a few at a time, and retries those that have failed before.
pub async fn run_some(app: &App) -> Result<Pass> {
    const SOME: i64 = 4;
    const JOB: RowJob = RowJob::CallProvider;
    let now = app.clock.now();
    let due = transfers::due(&app.db, SOME, now).await?;
    let more = due.len() == SOME as usize;
    let done = set_aside::each(&app.db, JOB, due, 4, now, |id| work_on(app, id)).await?;
    let again = set_aside::retry(&app.db, JOB, now, |id| work_on(app, id)).await?;
    Ok(Pass { done: done + again, more })
}

/// Leases the transfer, which commits that the provider is called, and takes it one step further.
async fn work_on(app: &App, id: Uuid) -> Result<bool> {
    let now = app.clock.now();
    let Some(transfer) = transfers::get(&app.db, id).await? else { return Ok(false) };
    if !transfers::lease(&app.db, &transfer, now).await? {
        return Ok(false);
    }
    let done = step(app, &transfer, now).await;
    if done.is_err() {
        transfers::postpone(&app.db, id, now).await?;
    }
    done.map(|()| true)
}

/// What a transfer does.
enum Work {
    Refund {
        payment: PaidPayment,
        reason: String,
    },
    /// The account is removed when the payout is finished.
    Payout {
        account: Option<PayoutAccount>,
        note: String,
    },
}

/// `transfer` is as it was before its lease.
async fn step(app: &App, transfer: &Transfer, now: DateTime<Utc>) -> Result<()> {
    let (provider, work) = match transfer.settlement_id {
        None => {
            let (payment, reason) = payments::refund_facts(&app.db, transfer).await?;
            (Some(&app.providers().refunds), Work::Refund { payment, reason })
        }
        Some(settlement) => {
            let (account, note) = settlements::payout_facts(app, transfer, settlement).await?;
            (app.providers().payouts.as_ref(), Work::Payout { account, note })
        }
    };
    // What was sent through another provider can only be asked for with its keys.
    let provider = provider.filter(|provider| provider.name() == transfer.provider);
    let provider = provider.ok_or_else(|| {
        Error::internal(format!("{} is no longer the configured provider", transfer.provider))
    })?;
    let outcome = match transfer.status {
        TransferStatus::Created if !is_owed(app, transfer).await? => no_longer_owed(),
        TransferStatus::Created => call(provider, transfer, &work, now).await,
        TransferStatus::Sent => match ask(provider, transfer, &work).await {
            Some(outcome) => outcome,
            None if is_forgotten(provider, transfer, now) => {
                return settlements::stop_payout(app, transfer, now).await;
            }
            None if !is_owed(app, transfer).await? => no_longer_owed(),
            None => call(provider, transfer, &work, now).await,
        },
        TransferStatus::Accepted => match ask(provider, transfer, &work).await {
            Some(outcome) => outcome,
            None => {
                let why = "the provider no longer knows what it had accepted".to_owned();
                let long = transfer.accepted_at.is_some_and(|at| now - at >= FORGOTTEN);
                if long { Outcome::Rejected(why) } else { Outcome::Unknown(why) }
            }
        },
        TransferStatus::Confirmed => match ask(provider, transfer, &work).await {
            Some(outcome) => outcome,
            None => Outcome::Unknown("not found".into()),
        },
        TransferStatus::Failed | TransferStatus::Reversed => return Ok(()),
    };
    settle(app, transfer, &outcome, now).await?;
    match outcome {
        // Set aside: `doctor` and the metrics show it.
        Outcome::Config(why) => {
            Err(Error::internal(format!("{} refuses us: {why}", transfer.provider)))
        }
        _ => Ok(()),
    }
}

/// Whether the refund still owes what the transfer sends. An earlier transfer that was given up may
/// have been paid meanwhile.
async fn is_owed(app: &App, transfer: &Transfer) -> Result<bool> {
    let Some(id) = transfer.refund_id else { return Ok(true) };
    let refund = refunds::get(&app.db, id).await?;
    Ok(refund.is_some_and(|refund| refund.unpaid >= transfer.amount))
}

fn no_longer_owed() -> Outcome {
    Outcome::Rejected("the refund is no longer owed".into())
}

/// Applies what a provider said about a transfer, at most once.
async fn settle(
    app: &App,
    transfer: &Transfer,
    outcome: &Outcome,
    now: DateTime<Utc>,
) -> Result<()> {
    match transfer.settlement_id {
        None => payments::settle_refund(app, transfer, outcome, now).await,
        Some(settlement) => {
            settlements::settle_payout(app, transfer, settlement, outcome, now).await
        }
    }
}

/// Calls the provider with the key of the transfer. A refusal of a repeated call may follow from an
/// earlier one that succeeded, so the provider is asked before it is believed.
async fn call(
    provider: &Provider,
    transfer: &Transfer,
    work: &Work,
    now: DateTime<Utc>,
) -> Outcome {
    let (id, amount) = (transfer.id, transfer.amount);
    let outcome = match work {
        Work::Refund { payment, reason } => provider.refund(id, payment, amount, reason, now).await,
        Work::Payout { account: Some(account), note } => {
            provider.payout(id, account, amount, note).await
        }
        Work::Payout { account: None, .. } => Outcome::Unknown("the account is gone".into()),
    };
    match outcome {
        Outcome::Rejected(why) if transfer.attempts > 0 => {
            match ask(provider, transfer, work).await {
                Some(outcome) => outcome,
                // It cannot be asked without the id of an answer that was lost.
                None if transfer.sent_at.is_some()
                    && provider.forgets_payouts_after().is_some()
                    && transfer.settlement_id.is_some() =>
                {
                    Outcome::Unknown(why)
                }
                None => Outcome::Rejected(why),
            }
        }
        outcome => outcome,
    }
}

async fn ask(provider: &Provider, transfer: &Transfer, work: &Work) -> Option<Outcome> {
    let id = transfer.provider_id.as_deref();
    match work {
        Work::Refund { payment, .. } => provider.refund_status(transfer.id, id, payment).await,
        Work::Payout { .. } => provider.payout_status(transfer.id, id).await,
    }
}

/// Whether the provider may have dropped the key, so that repeating the call could pay twice.
fn is_forgotten(provider: &Provider, transfer: &Transfer, now: DateTime<Utc>) -> bool {
    let keeps = provider.forgets_payouts_after().filter(|_| transfer.settlement_id.is_some());
    keeps.zip(transfer.sent_at).is_some_and(|(keeps, sent)| now - sent >= keeps)
}
