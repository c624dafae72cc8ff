//! Release of settlements, and payouts that failed or came back.

use chrono::{DateTime, Utc};

use super::{
    model::{SettlementRow, SettlementStatus},
    store::{self, Release},
};
use crate::{
    events::{self, DomainEvent, SettlementRef},
    kernel::{
        db::Tx,
        error::{Error, Result},
        ids::{self, Uuid},
        money::Rupiah,
        seal::Sealer,
    },
    ledger::{self, Account, Posting, Source},
    partners::{self, BankAccount, PartnerStatus},
};

/// Locks the partner and makes sure that the settlement may be paid out now. Returns the account
/// that it is paid to.
pub async fn ensure_payable(
    tx: &mut Tx,
    sealer: &Sealer,
    settlement: &SettlementRow,
    now: DateTime<Utc>,
) -> Result<BankAccount> {
    let partner = partners::lock_row(tx, settlement.partner_id, now).await?;
    match store::get_in(tx, settlement.id).await?.status {
        SettlementStatus::Pending => {}
        SettlementStatus::Statement => {
            return Err(Error::invalid_state(
                "A statement has nothing to pay out.",
                "Pernyataan tidak memiliki pencairan.",
            ));
        }
        _ => return Err(no_longer_pending()),
    }
    if partner.status == PartnerStatus::Suspended {
        return Err(Error::invalid_state(
            "The partner is suspended; its settlements are held.",
            "Mitra sedang ditangguhkan; settlement-nya ditahan.",
        ));
    }
    let Some(account) = partners::payable_account(tx, partner.id, sealer).await? else {
        return Err(Error::invalid_state(
            "The partner has no approved bank account, or a change of it awaits approval; its \
             settlements are held.",
            "Mitra belum memiliki rekening yang disetujui, atau perubahannya belum disetujui; \
             settlement-nya ditahan.",
        ));
    };
    if store::is_stale(tx, settlement.id).await? {
        return Err(Error::conflict(
            "stale",
            "A booking of this settlement was refunded since it was made; cancel it and make it \
             again.",
            "Pemesanan dalam settlement ini dikembalikan setelah settlement dibuat; batalkan dan \
             buat kembali.",
        ));
    }
    Ok(account)
}

/// Records that the settlement was paid out to `bank_account` of its row: by a person if it is
/// pending, or by a provider (`transfer_id`) if it is processing.
pub async fn release_paid(
    tx: &mut Tx,
    settlement_id: Uuid,
    reference: &str,
    by: Option<Uuid>,
    transfer_id: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let settlement = locked(tx, settlement_id, now).await?;
    let payout_id = ids::fresh();
    let release = Release { payout_id, settlement: &settlement, reference, transfer_id, by };
    if !store::release(tx, &release, now).await? {
        return Err(no_longer_pending());
    }
    let posting = Posting::new(Source::Settlement, payout_id, "released")
        .of_partner(settlement.partner_id)
        .debit(Account::PartnerPayable, settlement.net)
        .credit(Account::Bank, settlement.net);
    ledger::post(tx, posting, now).await?;
    let released = SettlementRef { settlement_id, mitra_id: settlement.partner_id };
    events::emit(tx, DomainEvent::SettlementReleased(released), now).await?;
    Ok(payout_id)
}

/// The provider has paid more or less than the settlement: the difference waits in `suspense`.
pub async fn post_difference(
    tx: &mut Tx,
    settlement: &SettlementRow,
    payout_id: Uuid,
    paid: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let difference = paid - settlement.net;
    let posting = Posting::new(Source::Settlement, payout_id, "difference")
        .of_partner(settlement.partner_id)
        .debit(Account::Suspense, difference)
        .credit(Account::Bank, difference);
    ledger::post(tx, posting, now).await
}

/// The provider has paid a settlement that was paid otherwise, or cancelled: the money waits in
/// `suspense`.
pub async fn post_unowed(
    tx: &mut Tx,
    settlement: &SettlementRow,
    transfer: Uuid,
    paid: Rupiah,
    now: DateTime<Utc>,
) -> Result<()> {
    let posting = Posting::new(Source::Settlement, transfer, "paid_twice")
        .of_partner(settlement.partner_id)
        .debit(Account::Suspense, paid)
        .credit(Account::Bank, paid);
    ledger::post(tx, posting, now).await
}

/// The money of `post_unowed`, if there was any, is back in the bank.
pub async fn take_back_unowed(
    tx: &mut Tx,
    settlement: &SettlementRow,
    transfer: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let Some(paid) = store::paid_twice(tx, transfer).await? else { return Ok(()) };
    let posting = Posting::new(Source::Settlement, transfer, "paid_twice_returned")
        .of_partner(settlement.partner_id)
        .debit(Account::Bank, paid)
        .credit(Account::Suspense, paid);
    ledger::post(tx, posting, now).await
}

/// Makes a settlement payable again whose payout failed at the provider (`processing`) or came back
/// (`released`); the latter is posted.
pub async fn take_back(
    tx: &mut Tx,
    settlement_id: Uuid,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let settlement = locked(tx, settlement_id, now).await?;
    match settlement.status {
        SettlementStatus::Released | SettlementStatus::Processing => {
            make_payable_again(tx, &settlement, reason, None, now).await
        }
        _ => Err(not_released()),
    }
}

/// Records that a person found the transfer of a released settlement to have come back.
pub async fn give_back(
    tx: &mut Tx,
    settlement_id: Uuid,
    reason: &str,
    by: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    let settlement = locked(tx, settlement_id, now).await?;
    match settlement.status {
        SettlementStatus::Released => {
            make_payable_again(tx, &settlement, reason, Some(by), now).await
        }
        _ => Err(not_released()),
    }
}

async fn make_payable_again(
    tx: &mut Tx,
    settlement: &SettlementRow,
    reason: &str,
    by: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<()> {
    let SettlementRow { id, partner_id, .. } = *settlement;
    if let Some((payout, amount)) = store::return_payout(tx, id, reason, by, now).await? {
        let posting = Posting::new(Source::Settlement, payout, "returned")
            .of_partner(partner_id)
            .debit(Account::Bank, amount)
            .credit(Account::PartnerPayable, amount);
        ledger::post(tx, posting, now).await?;
    }
    store::reopen(tx, id, reason).await?;
    let returned = SettlementRef { settlement_id: id, mitra_id: partner_id };
    events::emit(tx, DomainEvent::SettlementReturned(returned), now).await
}

/// The settlement as it is once its partner is locked: every change of it takes that lock.
async fn locked(tx: &mut Tx, id: Uuid, now: DateTime<Utc>) -> Result<SettlementRow> {
    let partner = store::get_in(tx, id).await?.partner_id;
    partners::lock_row(tx, partner, now).await?;
    store::get_in(tx, id).await
}

pub fn no_longer_pending() -> Error {
    Error::invalid_state("The settlement is no longer pending.", "Settlement tidak lagi menunggu.")
}

fn not_released() -> Error {
    Error::invalid_state("The settlement is not released.", "Settlement belum dirilis.")
}
