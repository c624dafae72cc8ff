//! Types of the onboarding.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model::{Partner, PartnerStatus, Verdict};
use crate::kernel::{
    confidential::Confidential,
    email::Email,
    ids::Uuid,
    patch::Patch,
    phone::Phone,
    schema::Input,
    text::{Description, Line, Name},
};

crate::string_enum! {
    pub enum DocumentType {
        Ktp = "ktp",
        Npwp = "npwp",
        Nib = "nib",
        Deed = "deed",
        BankBook = "bank_book",
        OperatingPermit = "operating_permit",
    }
}

crate::string_enum! {
    pub enum DocumentStatus { Pending = "pending", Approved = "approved", Rejected = "rejected" }
}

impl From<Verdict> for DocumentStatus {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Approved => Self::Approved,
            Verdict::Rejected => Self::Rejected,
        }
    }
}

crate::string_enum! {
    pub enum BankAccountStatus {
        Pending = "pending",
        Approved = "approved",
        Rejected = "rejected",
    }
}

crate::string_enum! {
    pub enum StepKey {
        Business = "business",
        Pic = "pic",
        BankAccount = "bank_account",
        Documents = "documents",
    }
}

/// Business data of a partner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Business {
    pub legal_name: Option<String>,
    pub nib: Option<String>,
    pub npwp: Option<Confidential>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub province: Option<String>,
    pub postal_code: Option<String>,
    pub description: Option<String>,
}

/// The person in charge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pic {
    pub name: Option<String>,
    pub position: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub nik: Option<Confidential>,
}

/// Bank account for settlements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PartnerBankAccount")]
pub struct BankAccount {
    pub bank_code: Option<String>,
    pub account_number: Option<Confidential>,
    pub account_name: Option<String>,
}

/// Onboarding data of a partner. Numbers are masked for callers who may not read them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OnboardingData {
    pub business: Business,
    pub pic: Pic,
    pub bank_account: BankAccount,
    /// Settlements are held while a changed account is `pending`. After a rejection they are paid
    /// to the last approved account.
    pub bank_account_status: Option<BankAccountStatus>,
    /// Why the account was rejected.
    pub bank_account_note: Option<String>,
    /// The account that settlements are paid to: the last one that was approved.
    pub approved_bank_account: Option<BankAccount>,
    /// Who last changed the account in person.
    #[serde(skip)]
    pub bank_changed_by: Option<Uuid>,
}

impl OnboardingData {
    /// NIK and account number are for the partner and reviewers. An NPWP is only confidential if it
    /// is a person's.
    pub fn revealed_if(mut self, may: bool) -> Self {
        let is_nik = self.business.npwp.as_ref().is_some_and(Confidential::is_npwp_of_person);
        let reveal = |number: Option<Confidential>, may| number.map(|n| n.revealed_if(may));
        self.business.npwp = reveal(self.business.npwp, may || !is_nik);
        self.pic.nik = reveal(self.pic.nik, may);
        self.bank_account.account_number = reveal(self.bank_account.account_number, may);
        if let Some(approved) = &mut self.approved_bank_account {
            approved.account_number = reveal(approved.account_number.take(), may);
        }
        self
    }

    /// Replaces the bank account. Another account than the approved one awaits approval; going back
    /// to the approved one withdraws the change.
    pub fn set_bank_account(&mut self, account: BankAccount, by: Uuid) {
        let approved = self.approved_bank_account.as_ref() == Some(&account);
        self.bank_account_status = Some(match approved {
            true => BankAccountStatus::Approved,
            false => BankAccountStatus::Pending,
        });
        self.bank_account = account;
        self.bank_account_note = None;
        self.bank_changed_by = Some(by);
    }

    /// The account that can be paid to now: none while a change awaits approval.
    pub fn payable_account(self) -> Option<BankAccount> {
        match self.bank_account_status {
            Some(BankAccountStatus::Approved | BankAccountStatus::Rejected) => {
                self.approved_bank_account
            }
            Some(BankAccountStatus::Pending) | None => None,
        }
    }
}

#[derive(Clone, Debug, crate::kernel::db::FromRow)]
pub struct DocumentRow {
    pub id: Uuid,
    #[row(rename = "type")]
    pub kind: DocumentType,
    pub file_id: Uuid,
    pub filename: String,
    pub status: DocumentStatus,
    pub note: Option<String>,
    pub reviewed_at: Option<DateTime<Utc>>,
    /// Who handed it in, in person.
    pub handed_in_by: Uuid,
    /// `None` until the partner submits it.
    pub submitted_at: Option<DateTime<Utc>>,
    pub replaced_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

impl DocumentRow {
    pub fn is_rejected(&self) -> bool {
        self.status == DocumentStatus::Rejected
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Document {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub kind: DocumentType,
    pub file: DocumentFile,
    pub status: DocumentStatus,
    pub note: Option<String>,
    pub reviewed_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DocumentFile {
    pub id: Uuid,
    pub filename: String,
    /// Signed address, valid for five minutes; null for callers who may not read the document.
    pub url: Option<String>,
}

/// A step of the onboarding.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    pub key: StepKey,
    pub complete: bool,
    /// Fields, or types of documents, without which the papers cannot be handed in.
    pub required: Vec<&'static str>,
    /// Those of them that are missing.
    pub missing: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
pub struct Onboarding {
    pub status: PartnerStatus,
    /// The partner's public page is `/p/{slug}`. Null until the first activation.
    pub slug: Option<String>,
    pub steps: Vec<Step>,
    #[serde(flatten)]
    pub papers: OnboardingData,
    pub documents: Vec<Document>,
    pub submitted_at: Option<DateTime<Utc>>,
    /// What the reviewers ask to correct.
    pub review_note: Option<String>,
}

/// Data and onboarding of a partner, for an edit form.
#[derive(Serialize, JsonSchema)]
pub struct PartnerEdit {
    #[serde(flatten)]
    pub partner: Partner,
    pub steps: Vec<Step>,
    #[serde(flatten)]
    pub papers: OnboardingData,
    pub documents: Vec<Document>,
    pub submitted_at: Option<DateTime<Utc>>,
    pub review_note: Option<String>,
}

/// A reviewed document and the resulting status of the partner.
#[derive(Serialize, JsonSchema)]
pub struct Reviewed {
    #[serde(flatten)]
    pub document: Document,
    pub mitra_status: PartnerStatus,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BusinessForm {
    pub legal_name: Patch<Name>,
    pub nib: Patch<Nib>,
    pub npwp: Patch<Npwp>,
    pub address: Patch<Line<300>>,
    pub city: Patch<Name>,
    pub province: Patch<Name>,
    pub postal_code: Patch<Line<12>>,
    pub description: Patch<Description>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PicForm {
    pub name: Patch<Name>,
    pub position: Patch<Name>,
    pub phone: Patch<Phone>,
    pub email: Patch<Email>,
    pub nik: Patch<Nik>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "PartnerBankAccountForm")]
pub struct BankAccountForm {
    pub bank_code: Patch<Line<20>>,
    pub account_number: Patch<AccountNumber>,
    pub account_name: Patch<Name>,
}

#[derive(Deserialize, JsonSchema)]
pub struct DocumentForm {
    #[serde(rename = "type")]
    pub kind: DocumentType,
    pub file_id: String,
}

/// Fields that are left out keep their value; null or an empty string clears them.
#[derive(Deserialize, JsonSchema)]
pub struct OnboardingForm {
    pub business: Option<BusinessForm>,
    pub pic: Option<PicForm>,
    pub bank_account: Option<BankAccountForm>,
    #[schemars(length(max = 6))]
    pub documents: Option<Vec<DocumentForm>>,
    pub submit: Option<bool>,
}

impl Input for OnboardingForm {
    /// Forms send missing values as empty strings.
    fn tidy(value: &mut Value) {
        for step in ["business", "pic", "bank_account"] {
            let Some(fields) = value.get_mut(step).and_then(Value::as_object_mut) else { continue };
            let blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
            fields.values_mut().filter(|value| blank(value)).for_each(|value| *value = Value::Null);
        }
    }
}

/// Numbers of a known length, digits only.
macro_rules! digits {
    ($($name:ident: $pattern:literal;)+) => {
        $(#[derive(Clone, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name(#[schemars(regex(pattern = $pattern))] String);

        impl From<$name> for Confidential {
            fn from(number: $name) -> Self {
                Self::new(number.0)
            }
        }

        impl From<$name> for String {
            fn from(number: $name) -> Self {
                number.0
            }
        })+
    };
}

digits! {
    Nib: "^[0-9]{13}$";
    Npwp: "^[0-9]{15,16}$";
    Nik: "^[0-9]{16}$";
    AccountNumber: "^[0-9]{5,20}$";
}

impl BusinessForm {
    pub fn over(self, old: Business) -> Business {
        Business {
            legal_name: self.legal_name.over(old.legal_name),
            nib: self.nib.over(old.nib),
            npwp: self.npwp.over(old.npwp),
            address: self.address.over(old.address),
            city: self.city.over(old.city),
            province: self.province.over(old.province),
            postal_code: self.postal_code.over(old.postal_code),
            description: self.description.over(old.description),
        }
    }
}

impl PicForm {
    pub fn over(self, old: Pic) -> Pic {
        Pic {
            name: self.name.over(old.name),
            position: self.position.over(old.position),
            phone: self.phone.over(old.phone),
            email: self.email.over(old.email),
            nik: self.nik.over(old.nik),
        }
    }
}

impl BankAccountForm {
    pub fn over(self, old: BankAccount) -> BankAccount {
        BankAccount {
            bank_code: self.bank_code.over(old.bank_code),
            account_number: self.account_number.over(old.account_number),
            account_name: self.account_name.over(old.account_name),
        }
    }
}
