//! Collecting what is stored about a person.

use super::{
    model::{
        AccountData, AccountRecord, LetterData, OnboardingRecord, PartnerData, PersonalData,
        ResellerData,
    },
    store,
};
use crate::{
    app::App,
    bookings,
    kernel::{email::Email, error::Result, ids::Uuid, seal::Sealer},
    resellers,
};

/// How many items of each list an export has.
const LIMIT: i64 = 1_000;

/// Reads everything that is stored under an address. The lists are read one after another, not in one
/// snapshot.
pub async fn collect(app: &App, email: &Email) -> Result<PersonalData> {
    let mut truncated = Truncated::default();
    let mut accounts = Vec::new();
    for account in store::accounts(&app.db, email).await? {
        accounts.push(account_data(app, account, &mut truncated).await?);
    }
    let letters = app.mailer.stored(email).await?.into_iter().map(|mail| LetterData {
        filename: mail.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        size: mail.size,
        written_at: mail.modified_at,
    });
    let resellers = store::resellers_of_ops_address(&app.db, email, LIMIT).await?;
    let failed = store::failed_sign_ins(&app.db, email, LIMIT).await?;
    Ok(PersonalData {
        accounts,
        bookings: booked(app, email, &mut truncated).await?,
        resellers: truncated.cut("resellers", resellers),
        letters: truncated.cut("letters", letters.collect()),
        failed_sign_ins: truncated.cut("failed_sign_ins", failed),
        truncated: truncated.0,
    })
}

/// Names of the lists that were cut.
#[derive(Default)]
struct Truncated(Vec<&'static str>);

impl Truncated {
    fn cut<T>(&mut self, name: &'static str, mut list: Vec<T>) -> Vec<T> {
        if list.len() as i64 > LIMIT {
            list.truncate(LIMIT as usize);
            if !self.0.contains(&name) {
                self.0.push(name);
            }
        }
        list
    }
}

async fn account_data(
    app: &App,
    account: AccountRecord,
    truncated: &mut Truncated,
) -> Result<AccountData> {
    let (db, id) = (&app.db, account.id);
    let mut staff = store::staff(db, id).await?;
    if let Some(staff) = &mut staff {
        let sealed = Some(staff.account_number.clone()).filter(|sealed| !sealed.is_empty());
        staff.account_number = opened(&app.sealer, sealed)?.unwrap_or_default();
    }
    let mitra = match store::partner(db, id).await? {
        Some(partner) => Some(partner_data(app, partner, truncated).await?),
        None => None,
    };
    let reseller = match store::reseller(db, id).await? {
        Some(reseller) => Some(reseller_data(app, reseller, truncated).await?),
        None => None,
    };
    Ok(AccountData {
        account,
        sessions: truncated.cut("sessions", store::sessions(db, id, LIMIT).await?),
        remembered_devices: truncated
            .cut("remembered_devices", store::devices(db, id, LIMIT).await?),
        networks: truncated.cut("networks", store::networks(db, id, LIMIT).await?),
        staff,
        mitra,
        reseller,
        notifications: truncated.cut("notifications", store::notifications(db, id, LIMIT).await?),
        files: truncated.cut("files", store::files(db, id, LIMIT).await?),
        audit_entries: truncated.cut("audit_entries", store::audit_entries(db, id, LIMIT).await?),
    })
}

async fn partner_data(
    app: &App,
    mut partner: PartnerData,
    truncated: &mut Truncated,
) -> Result<PartnerData> {
    let onboarding = store::onboarding(&app.db, partner.id).await?;
    partner.onboarding = onboarding.map(|papers| revealed(&app.sealer, papers)).transpose()?;
    let documents = store::documents(&app.db, partner.id, LIMIT).await?;
    partner.documents = truncated.cut("documents", documents);
    partner.paid_to = store::paid_to(&app.db, partner.id, LIMIT).await?;
    Ok(partner)
}

async fn reseller_data(
    app: &App,
    mut reseller: ResellerData,
    truncated: &mut Truncated,
) -> Result<ResellerData> {
    let npwp = resellers::open_npwp(&app.sealer, reseller.npwp.as_deref())?;
    reseller.npwp = npwp.map(|number| number.number().to_owned());
    let keys = store::reseller_keys(&app.db, reseller.id, LIMIT).await?;
    reseller.keys = truncated.cut("keys", keys);
    let subscriptions = store::subscriptions(&app.db, reseller.id, LIMIT).await?;
    reseller.subscriptions = truncated.cut("subscriptions", subscriptions);
    Ok(reseller)
}

fn revealed(sealer: &Sealer, papers: OnboardingRecord) -> Result<OnboardingRecord> {
    Ok(OnboardingRecord {
        npwp: opened(sealer, papers.npwp)?,
        pic_nik: opened(sealer, papers.pic_nik)?,
        account_number: opened(sealer, papers.account_number)?,
        ..papers
    })
}

fn opened(sealer: &Sealer, sealed: Option<String>) -> Result<Option<String>> {
    sealed.map(|sealed| sealer.open(&sealed)).transpose()
}

/// The person's bookings with all passengers and their identity numbers.
async fn booked(
    app: &App,
    email: &Email,
    truncated: &mut Truncated,
) -> Result<Vec<bookings::Booking>> {
    const AT_ONCE: usize = 100;
    let ids: Vec<Uuid> = truncated.cut("bookings", store::bookings(&app.db, email, LIMIT).await?);
    let mut booked = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        for row in bookings::get_all_long(&app.db, some).await? {
            booked.push(bookings::to_response(app, row, bookings::Readable::ALL)?);
        }
    }
    booked.sort_by_key(|booking| std::cmp::Reverse(booking.created_at));
    Ok(booked)
}
