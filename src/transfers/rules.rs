//! What an outcome makes of a transfer. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::model::{Change, Transfer, TransferStatus};
use crate::providers::Outcome;

/// A provider that refuses for now is asked again until then; Midtrans keeps a key for seven days.
const GIVE_UP: TimeDelta = TimeDelta::days(6);
/// An accepted transfer that the provider does not know any more has failed after this.
pub const FORGOTTEN: TimeDelta = TimeDelta::hours(24);
/// A confirmed payout can come back for some days.
const WATCH: TimeDelta = TimeDelta::days(7);
const DAY: TimeDelta = TimeDelta::days(1);

/// The next state of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    pub status: TransferStatus,
    pub next_at: Option<DateTime<Utc>>,
    pub change: Change,
    pub error: Option<String>,
}

/// `None`: the outcome changes nothing.
pub fn next(transfer: &Transfer, outcome: &Outcome, now: DateTime<Utc>) -> Option<Next> {
    use TransferStatus as S;
    let stays = |pause: TimeDelta, why: &str| Next {
        status: transfer.status,
        next_at: Some(now + pause),
        change: Change::None,
        error: Some(why.to_owned()),
    };
    let failed = |why: &str| Next {
        status: S::Failed,
        next_at: None,
        change: Change::Failed(why.to_owned()),
        error: Some(why.to_owned()),
    };
    Some(match (transfer.status, outcome) {
        // A late confirmation of a failed transfer is a decision for a person.
        (S::Failed | S::Reversed, _) => return None,
        (S::Confirmed, Outcome::Reversed(why) | Outcome::Rejected(why)) => Next {
            status: S::Reversed,
            next_at: None,
            change: Change::Reversed(why.clone()),
            error: Some(why.clone()),
        },
        (S::Confirmed, _) => Next {
            status: S::Confirmed,
            next_at: next_status_check(transfer, now),
            change: Change::None,
            error: None,
        },
        (_, Outcome::Accepted { .. }) => Next {
            status: S::Accepted,
            next_at: Some(now + pause(30, transfer.attempts, 6 * 60 * 60)),
            change: Change::None,
            error: None,
        },
        (_, Outcome::Confirmed { provider_id, amount }) => Next {
            status: S::Confirmed,
            next_at: transfer.settlement_id.map(|_| now + DAY),
            change: Change::Confirmed {
                reference: provider_id.clone(),
                amount: amount.unwrap_or(transfer.amount),
            },
            error: None,
        },
        // It came back before we knew that it had arrived: nothing was posted.
        (_, Outcome::Reversed(why) | Outcome::Rejected(why)) => failed(why),
        (S::Accepted, Outcome::Later(why)) | (_, Outcome::Unknown(why)) => {
            stays(pause(5, transfer.attempts, 10 * 60), why)
        }
        (_, Outcome::Later(why)) if now - transfer.created_at >= GIVE_UP => failed(why),
        (_, Outcome::Later(why)) => stays(pause(60, transfer.attempts, 60 * 60), why),
        (_, Outcome::Config(why)) => stays(pause(60, transfer.attempts, 60 * 60), why),
    })
}

/// When a confirmed payout is asked for again.
fn next_status_check(transfer: &Transfer, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let until = transfer.finished_at? + WATCH;
    (transfer.settlement_id.is_some() && now < until).then_some(now + DAY)
}

/// Doubles with each attempt.
fn pause(first: i64, attempts: i32, longest: i64) -> TimeDelta {
    let doubled = first.saturating_mul(1 << (attempts - 1).clamp(0, 30));
    TimeDelta::seconds(doubled.min(longest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{ids, money::Rupiah};

    fn transfer(status: TransferStatus, payout: bool) -> Transfer {
        let at = "2026-11-15T03:00:00Z".parse().unwrap();
        Transfer {
            id: ids::fresh(),
            refund_id: (!payout).then(ids::fresh),
            settlement_id: payout.then(ids::fresh),
            payment_id: (!payout).then(ids::fresh),
            transaction_id: None,
            provider: "xendit".into(),
            amount: Rupiah(1_000),
            status,
            account: None,
            provider_id: None,
            attempts: 1,
            next_at: None,
            sent_at: Some(at),
            accepted_at: None,
            last_error: None,
            created_at: at,
            finished_at: (!status.is_open()).then_some(at),
        }
    }

    fn outcomes() -> [Outcome; 7] {
        let why = || "why".to_owned();
        [
            Outcome::Accepted { provider_id: "p".into() },
            Outcome::Confirmed { provider_id: "p".into(), amount: None },
            Outcome::Reversed(why()),
            Outcome::Unknown(why()),
            Outcome::Later(why()),
            Outcome::Rejected(why()),
            Outcome::Config(why()),
        ]
    }

    proptest! {
        /// However outcomes are ordered and repeated, money is confirmed at most once and reversed at
        /// most once after that, and what is not known is never failed.
        #[test]
        fn money_moves_once(order in proptest::collection::vec(0..7_usize, 1..30), payout: bool) {
            let mut transfer = transfer(TransferStatus::Sent, payout);
            let (mut confirmed, mut reversed, mut failed) = (0, 0, 0);
            for n in order {
                let outcome = &outcomes()[n];
                let Some(next) = next(&transfer, outcome, transfer.created_at) else { continue };
                match &next.change {
                    Change::None => {}
                    Change::Confirmed { .. } => confirmed += 1,
                    Change::Failed(_) => {
                        failed += 1;
                        let definite = matches!(outcome, Outcome::Rejected(_) | Outcome::Reversed(_));
                        prop_assert!(definite);
                    }
                    Change::Reversed(_) => reversed += 1,
                }
                prop_assert!(next.status.is_open() == next.next_at.is_some() || payout);
                transfer.status = next.status;
                if !next.status.is_open() {
                    transfer.finished_at = Some(transfer.created_at);
                }
            }
            prop_assert!(confirmed + failed <= 1 && reversed <= confirmed);
        }
    }

    #[test]
    fn a_provider_that_refuses_for_days_is_given_up() {
        let transfer = transfer(TransferStatus::Sent, false);
        let later = Outcome::Later("balance".into());
        let at = |days| next(&transfer, &later, transfer.created_at + TimeDelta::days(days));
        assert_eq!(at(5).unwrap().status, TransferStatus::Sent);
        assert_eq!(at(6).unwrap().change, Change::Failed("balance".into()));
        let unknown = Outcome::Unknown("lost".into());
        let years = transfer.created_at + TimeDelta::days(1_000);
        assert_eq!(next(&transfer, &unknown, years).unwrap().status, TransferStatus::Sent);
    }

    #[test]
    fn a_payout_is_watched_for_a_week() {
        let payout = transfer(TransferStatus::Confirmed, true);
        let same = Outcome::Confirmed { provider_id: "p".into(), amount: None };
        let at =
            |days| next(&payout, &same, payout.created_at + TimeDelta::days(days)).unwrap().next_at;
        assert!(at(6).is_some());
        assert_eq!(at(7), None);
    }
}
