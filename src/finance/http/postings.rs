//! Handlers of tax payments and cash deposits.

use axum::extract::State;
use serde_json::json;

use crate::{
    app::App,
    finance::{
        model::{CashDeposit, CashDepositForm, TaxPayment, TaxPaymentForm},
        store,
    },
    kernel::{
        audit::Change,
        caller::Caller,
        error::{Error, Result},
        http::{Fingerprinted, IdempotencyKey, Once, Reply, once},
        idempotency::{Key, Running},
        ids,
        lang::text,
    },
    ledger::{self, Account, Posting, Source},
};

/// Records a tax that was paid to the state.
pub async fn create_tax_payment(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<TaxPaymentForm>,
) -> Result<Reply<Once<TaxPayment>>> {
    let path = "/v1/finance/tax-payments";
    let key = Key::of_account(&caller, key, "create_tax_payment", path, body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        pay_tax(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying("The tax payment has been recorded.", "Pembayaran pajak dicatat."))
}

async fn pay_tax(
    app: &App,
    caller: &Caller,
    form: &TaxPaymentForm,
    running: Option<&Running>,
) -> Result<TaxPayment> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    ledger::ensure_postable(&mut tx, "paid_on", form.paid_on, now).await?;
    if !store::knows_tax(&mut tx, &form.tax_code).await? {
        return Err(unknown_tax("tax_code"));
    }
    // The lock of the books is held, so the balance of the tax can only grow.
    let changes = ledger::changes_by_day(&mut tx, Account::TaxPayable, &form.tax_code).await?;
    let owed: Vec<_> = changes.into_iter().map(|(day, change)| (day, -change)).collect();
    if ledger::lowest_balance(&owed, form.paid_on) < form.amount {
        let message = text("This is more than is owed.", "Jumlah ini melebihi pajak terutang.");
        return Err(Error::field("amount", "max", message));
    }
    let payment = TaxPayment {
        id: ids::fresh(),
        tax_code: form.tax_code.to_string(),
        amount: form.amount,
        paid_on: form.paid_on,
        reference: form.reference.to_string(),
        created_by: caller.person.id,
        created_at: now,
    };
    if !store::insert_tax_payment(&mut tx, &payment).await? {
        return Err(Error::conflict(
            "already_exists",
            "A payment of this tax with this reference is recorded already.",
            "Pembayaran pajak dengan referensi ini sudah dicatat.",
        ));
    }
    let posting = Posting::new(Source::TaxPayment, payment.id, "paid")
        .on(form.paid_on)
        .line(Account::TaxPayable, Some(payment.tax_code.clone()), form.amount)
        .credit(Account::Bank, form.amount);
    ledger::post(&mut tx, posting, now).await?;
    tx.record(Change {
        action: "tax_payment.created",
        entity: "tax_payment",
        id: payment.id,
        before: None,
        after: Some(&payment),
    })
    .await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(payment)).await?;
    }
    tx.commit().await?;
    Ok(payment)
}

pub fn unknown_tax(field: &str) -> Error {
    let message = text("This tax does not exist.", "Pajak ini tidak ada.");
    Error::field(field, "unknown", message)
}

/// Records cash that was brought to the bank.
pub async fn create_cash_deposit(
    State(app): State<App>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Fingerprinted(form, body): Fingerprinted<CashDepositForm>,
) -> Result<Reply<Once<CashDeposit>>> {
    let path = "/v1/finance/cash-deposits";
    let key = Key::of_account(&caller, key, "create_cash_deposit", path, body);
    let made = once(&app.db, &app.sealer, key, app.clock.now(), async |running| {
        deposit(&app, &caller, &form, running).await
    });
    Ok(made.await?.saying("The deposit has been recorded.", "Setoran tunai dicatat."))
}

async fn deposit(
    app: &App,
    caller: &Caller,
    form: &CashDepositForm,
    running: Option<&Running>,
) -> Result<CashDeposit> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    ledger::ensure_postable(&mut tx, "deposited_on", form.deposited_on, now).await?;
    ledger::ensure_cash(&mut tx, form.amount, form.deposited_on).await?;
    let deposit = CashDeposit {
        id: ids::fresh(),
        amount: form.amount,
        deposited_on: form.deposited_on,
        reference: form.reference.to_string(),
        created_by: caller.person.id,
        created_at: now,
    };
    store::insert_cash_deposit(&mut tx, &deposit).await?;
    let posting = Posting::new(Source::CashDeposit, deposit.id, "deposited")
        .on(form.deposited_on)
        .debit(Account::Bank, form.amount)
        .credit(Account::Cash, form.amount);
    ledger::post(&mut tx, posting, now).await?;
    tx.record(Change {
        action: "cash_deposit.created",
        entity: "cash_deposit",
        id: deposit.id,
        before: None,
        after: Some(&deposit),
    })
    .await?;
    if let Some(running) = running {
        running.keep(&mut tx, &json!(deposit)).await?;
    }
    tx.commit().await?;
    Ok(deposit)
}
