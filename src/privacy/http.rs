//! Handlers of personal data.

use axum::extract::State;

use super::{
    erase, export,
    model::{AuditedRequest, Erasure, ErasureRequest, ExportRequest, Found, PersonalData},
    store,
};
use crate::{
    app::App,
    kernel::{
        audit::{AuditedTx, Change},
        caller::Caller,
        email::Email,
        error::Result,
        http::{Body, Reply},
    },
};

/// Returns everything that is stored about a person.
pub async fn export_personal_data(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<ExportRequest>,
) -> Result<Reply<PersonalData>> {
    let data = export::collect(&app, &form.email).await?;
    let mut tx = caller.begin(&app.db, app.clock.now()).await?;
    let found = Found {
        accounts: data.accounts.len() as u64,
        bookings: data.bookings.len() as u64,
        resellers: data.resellers.len() as u64,
    };
    record(&app, &mut tx, "privacy.exported", &form.email, None, found).await?;
    tx.commit().await?;
    Ok(Reply::data(data))
}

/// Erases what is over now, and stores the rest for the job.
pub async fn erase_personal_data(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<ErasureRequest>,
) -> Result<Reply<Erasure>> {
    let subject = app.address_hasher.hash(&form.email);
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let resellers = erase::request(&mut tx, &form.email, subject, now).await?;
    let (accounts, bookings) = store::count_pending_in(&mut tx, &subject.text()).await?;
    let found = Found { accounts, bookings, resellers };
    let (action, reason) = ("privacy.erasure_requested", Some(&*form.reason));
    record(&app, &mut tx, action, &form.email, reason, found).await?;
    tx.commit().await?;
    let (accounts, bookings) = erase::erase_now(&app, &subject.text()).await?;
    // After the bookings: no further mail about them is written. The job deletes what fails here.
    let letters = app.mailer.forget(&form.email).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "stored mails could not be deleted");
        0
    });
    if let Err(error) = app.db.scrub().await {
        tracing::warn!(%error, "the database could not be scrubbed");
    }
    let erasure = Erasure {
        erased: accounts.erased + bookings.erased,
        waiting: accounts.waiting + bookings.waiting,
        accounts,
        bookings,
        resellers,
        letters,
    };
    Ok(Reply::data(erasure).saying_for(|erasure| match erasure.waiting {
        0 => ("The personal data has been erased.", "Data pribadi telah dihapus."),
        _ => (
            "What is over has been erased. The rest follows when it is over.",
            "Data yang sudah selesai telah dihapus. Sisanya dihapus setelah selesai.",
        ),
    }))
}

/// The entry names the person by the keyed hash of the address.
async fn record(
    app: &App,
    tx: &mut AuditedTx,
    action: &'static str,
    email: &Email,
    reason: Option<&str>,
    found: Found,
) -> Result<()> {
    let subject = app.address_hasher.hash(email);
    let request = AuditedRequest { subject: subject.text(), reason, found };
    let (entity, id) = ("person", subject.id());
    tx.record(Change { action, entity, id, before: None, after: Some(&request) }).await
}
