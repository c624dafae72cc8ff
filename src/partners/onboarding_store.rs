//! The SQL of onboarding data and documents. The partner's row must be locked for writing.

use chrono::{DateTime, Utc};

use super::onboarding::{
    BankAccount, BankAccountStatus, Business, DocumentRow, DocumentStatus, DocumentType,
    OnboardingData, Pic,
};
use crate::kernel::{
    db::{Db, Tx},
    error::{Error, Result},
    ids::{self, Uuid},
    seal::Sealer,
};

#[derive(crate::kernel::db::FromRow)]
pub struct PapersRow {
    legal_name: Option<String>,
    nib: Option<String>,
    npwp: Option<String>,
    address: Option<String>,
    city: Option<String>,
    province: Option<String>,
    postal_code: Option<String>,
    description: Option<String>,
    pic_name: Option<String>,
    pic_position: Option<String>,
    pic_phone: Option<String>,
    pic_email: Option<String>,
    pic_nik: Option<String>,
    bank_code: Option<String>,
    account_number: Option<String>,
    account_name: Option<String>,
    bank_account_status: Option<BankAccountStatus>,
    bank_account_note: Option<String>,
    bank_changed_by: Option<Uuid>,
    approved_bank_code: Option<String>,
    approved_account_number: Option<String>,
    approved_account_name: Option<String>,
}

impl PapersRow {
    fn open(self, sealer: &Sealer) -> Result<OnboardingData> {
        let approved_number = sealer.open_number(self.approved_account_number.as_deref())?;
        let approved_bank_account = approved_number.map(|number| BankAccount {
            bank_code: self.approved_bank_code,
            account_number: Some(number),
            account_name: self.approved_account_name,
        });
        Ok(OnboardingData {
            business: Business {
                legal_name: self.legal_name,
                nib: self.nib,
                npwp: sealer.open_number(self.npwp.as_deref())?,
                address: self.address,
                city: self.city,
                province: self.province,
                postal_code: self.postal_code,
                description: self.description,
            },
            pic: Pic {
                name: self.pic_name,
                position: self.pic_position,
                phone: self.pic_phone,
                email: self.pic_email,
                nik: sealer.open_number(self.pic_nik.as_deref())?,
            },
            bank_account: BankAccount {
                bank_code: self.bank_code,
                account_number: sealer.open_number(self.account_number.as_deref())?,
                account_name: self.account_name,
            },
            bank_account_status: self.bank_account_status,
            bank_account_note: self.bank_account_note,
            approved_bank_account,
            bank_changed_by: self.bank_changed_by,
        })
    }
}

const PAPERS: &str = "SELECT legal_name, nib, npwp, address, city, province, postal_code,
      description, pic_name, pic_position, pic_phone, pic_email, pic_nik, bank_code,
      account_number, account_name, bank_account_status, bank_account_note, bank_changed_by,
      approved_bank_code, approved_account_number, approved_account_name
    FROM onboardings WHERE partner_id = $1";

pub async fn papers(db: &Db, partner_id: Uuid, sealer: &Sealer) -> Result<OnboardingData> {
    let row: Option<PapersRow> = db.sql(PAPERS).bind(partner_id).maybe().await?;
    row.map_or(Ok(OnboardingData::default()), |row| row.open(sealer))
}

pub async fn papers_in(tx: &mut Tx, partner_id: Uuid, sealer: &Sealer) -> Result<OnboardingData> {
    let row: Option<PapersRow> = tx.sql(PAPERS).bind(partner_id).maybe().await?;
    row.map_or(Ok(OnboardingData::default()), |row| row.open(sealer))
}

/// Stores what the partner fills in. The approved account is stored by a review alone.
pub async fn save(
    tx: &mut Tx,
    partner_id: Uuid,
    papers: &OnboardingData,
    sealer: &Sealer,
    now: DateTime<Utc>,
) -> Result<()> {
    let OnboardingData { business, pic, bank_account, bank_account_status, .. } = papers.clone();
    tx.sql(
        "INSERT INTO onboardings (partner_id, updated_at) VALUES ($1, $2)
         ON CONFLICT (partner_id) DO NOTHING",
    )
    .bind(partner_id)
    .bind(now)
    .run()
    .await?;
    tx.sql(
        "UPDATE onboardings SET legal_name = $1, nib = $2, npwp = $3, address = $4, city = $5,
           province = $6, postal_code = $7, description = $8, pic_name = $9, pic_position = $10,
           pic_phone = $11, pic_email = $12, pic_nik = $13, bank_code = $14,
           account_number = $15, account_name = $16, bank_account_status = $17,
           bank_account_note = $18, bank_changed_by = $19, updated_at = $20
         WHERE partner_id = $21",
    )
    .bind(business.legal_name)
    .bind(business.nib)
    .bind(sealer.seal_number(business.npwp.as_ref())?)
    .bind(business.address)
    .bind(business.city)
    .bind(business.province)
    .bind(business.postal_code)
    .bind(business.description)
    .bind(pic.name)
    .bind(pic.position)
    .bind(pic.phone)
    .bind(pic.email)
    .bind(sealer.seal_number(pic.nik.as_ref())?)
    .bind(bank_account.bank_code)
    .bind(sealer.seal_number(bank_account.account_number.as_ref())?)
    .bind(bank_account.account_name)
    .bind(bank_account_status)
    .bind(papers.bank_account_note.clone())
    .bind(papers.bank_changed_by)
    .bind(now)
    .bind(partner_id)
    .run()
    .await?;
    Ok(())
}

/// Approves a pending account: from now on settlements are paid to it. `false` if none is pending.
pub async fn approve_bank_account(
    tx: &mut Tx,
    partner_id: Uuid,
    reviewer: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let approved = tx
        .sql(
            "UPDATE onboardings SET bank_account_status = 'approved',
               approved_bank_code = bank_code, approved_account_number = account_number,
               approved_account_name = account_name, approved_at = $2, bank_reviewed_by = $1,
               bank_reviewed_at = $2
             WHERE partner_id = $3 AND bank_account_status = 'pending'",
        )
        .bind(reviewer)
        .bind(now)
        .bind(partner_id)
        .run()
        .await?;
    Ok(approved == 1)
}

/// Rejects a pending account: the last approved one stays in force. `false` if none is pending.
pub async fn reject_bank_account(
    tx: &mut Tx,
    partner_id: Uuid,
    note: &str,
    reviewer: Uuid,
    now: DateTime<Utc>,
) -> Result<bool> {
    let rejected = tx
        .sql(
            "UPDATE onboardings SET bank_account_status = 'rejected', bank_account_note = $1,
               bank_reviewed_by = $2, bank_reviewed_at = $3
             WHERE partner_id = $4 AND bank_account_status = 'pending'",
        )
        .bind(note.to_owned())
        .bind(reviewer)
        .bind(now)
        .bind(partner_id)
        .run()
        .await?;
    Ok(rejected == 1)
}

/// Who reviewed the partner's current bank book.
pub async fn bank_book_reviewer(tx: &mut Tx, partner_id: Uuid) -> Result<Option<Uuid>> {
    let reviewer: Option<(Option<Uuid>,)> = tx
        .sql(
            "SELECT reviewed_by FROM partner_documents
             WHERE partner_id = $1 AND type = 'bank_book' AND replaced_at IS NULL",
        )
        .bind(partner_id)
        .maybe()
        .await?;
    Ok(reviewer.and_then(|(reviewer,)| reviewer))
}

macro_rules! documents {
    ($rest:literal) => {
        concat!(
            "SELECT d.id, d.type, d.file_id, f.filename, d.status, d.note, d.reviewed_at,
               d.handed_in_by, d.submitted_at, d.replaced_at, d.created_at
             FROM partner_documents d JOIN files f ON f.id = d.file_id
             WHERE d.partner_id = $1 AND ",
            $rest
        )
    };
}

const CURRENT: &str = documents!("d.replaced_at IS NULL ORDER BY d.type");

pub async fn documents(db: &Db, partner_id: Uuid) -> Result<Vec<DocumentRow>> {
    Ok(db.sql(CURRENT).bind(partner_id).all().await?)
}

pub async fn documents_in(tx: &mut Tx, partner_id: Uuid) -> Result<Vec<DocumentRow>> {
    Ok(tx.sql(CURRENT).bind(partner_id).all().await?)
}

/// A document of the partner, even if it was replaced.
pub async fn document(tx: &mut Tx, partner_id: Uuid, id: Uuid) -> Result<Option<DocumentRow>> {
    Ok(tx.sql(documents!("d.id = $2")).bind(partner_id).bind(id).maybe().await?)
}

/// A document that somebody hands in.
pub struct NewDocument {
    pub kind: DocumentType,
    pub file_id: Uuid,
    pub by: Uuid,
    /// Whether it is reviewed at once, without a submission by the partner.
    pub is_submitted: bool,
}

/// Replaces the document of this type. The new document has a new id, so that a review of the old
/// one cannot apply to it.
pub async fn hand_in_document(
    tx: &mut Tx,
    partner_id: Uuid,
    document: NewDocument,
    now: DateTime<Utc>,
) -> Result<()> {
    let NewDocument { kind, file_id, by, is_submitted } = document;
    tx.sql(
        "UPDATE partner_documents SET replaced_at = $1
         WHERE partner_id = $2 AND type = $3 AND replaced_at IS NULL",
    )
    .bind(now)
    .bind(partner_id)
    .bind(kind)
    .run()
    .await?;
    tx.sql(
        "INSERT INTO partner_documents (id, partner_id, type, file_id, status, handed_in_by,
           submitted_at, created_at)
         VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7)",
    )
    .bind(ids::fresh())
    .bind(partner_id)
    .bind(kind)
    .bind(file_id)
    .bind(by)
    .bind(is_submitted.then_some(now))
    .bind(now)
    .run()
    .await?;
    Ok(())
}

/// Marks all current documents as submitted.
pub async fn submit_documents(tx: &mut Tx, partner_id: Uuid, now: DateTime<Utc>) -> Result<()> {
    tx.sql(
        "UPDATE partner_documents SET submitted_at = $1
         WHERE partner_id = $2 AND replaced_at IS NULL AND submitted_at IS NULL",
    )
    .bind(now)
    .bind(partner_id)
    .run()
    .await?;
    Ok(())
}

pub async fn review(
    tx: &mut Tx,
    document: Uuid,
    status: DocumentStatus,
    note: Option<&str>,
    reviewer: Uuid,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.sql(
        "UPDATE partner_documents SET status = $1, note = $2, reviewed_by = $3, reviewed_at = $4
         WHERE id = $5",
    )
    .bind(status)
    .bind(note.map(str::to_owned))
    .bind(reviewer)
    .bind(now)
    .bind(document)
    .run()
    .await?;
    Ok(())
}

#[derive(crate::kernel::db::FromRow)]
struct Sealed {
    partner_id: Uuid,
    npwp: Option<String>,
    pic_nik: Option<String>,
    account_number: Option<String>,
    approved_account_number: Option<String>,
}

/// Re-encrypts data of older keys; returns the number of rows.
pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let rows: Vec<Sealed> = db
        .sql(
            "SELECT partner_id, npwp, pic_nik, account_number, approved_account_number
             FROM onboardings
             WHERE npwp IS NOT NULL OR pic_nik IS NOT NULL OR account_number IS NOT NULL
               OR approved_account_number IS NOT NULL",
        )
        .all()
        .await?;
    let mut resealed = 0;
    for row in rows {
        let new = |sealed: &Option<String>| match sealed {
            Some(sealed) => sealer.reseal(sealed),
            None => Ok(None),
        };
        let (npwp, nik, number) = (new(&row.npwp)?, new(&row.pic_nik)?, new(&row.account_number)?);
        let approved = new(&row.approved_account_number)?;
        if npwp.is_none() && nik.is_none() && number.is_none() && approved.is_none() {
            continue;
        }
        // Only if unchanged: a concurrent update uses the current key anyway.
        resealed += db
            .sql(
                "UPDATE onboardings SET npwp = COALESCE($1, npwp),
                   pic_nik = COALESCE($2, pic_nik), account_number = COALESCE($3, account_number),
                   approved_account_number = COALESCE($4, approved_account_number)
                 WHERE partner_id = $5 AND npwp IS NOT DISTINCT FROM $6
                   AND pic_nik IS NOT DISTINCT FROM $7 AND account_number IS NOT DISTINCT FROM $8
                   AND approved_account_number IS NOT DISTINCT FROM $9",
            )
            .bind(npwp)
            .bind(nik)
            .bind(number)
            .bind(approved)
            .bind(row.partner_id)
            .bind(row.npwp)
            .bind(row.pic_nik)
            .bind(row.account_number)
            .bind(row.approved_account_number)
            .run()
            .await?;
    }
    Ok(resealed)
}

/// The document after its review.
pub async fn reviewed(tx: &mut Tx, partner_id: Uuid, id: Uuid) -> Result<DocumentRow> {
    document(tx, partner_id, id)
        .await?
        .ok_or_else(|| Error::internal("the document no longer exists"))
}
