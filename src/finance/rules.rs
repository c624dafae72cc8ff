//! Pure rules of the books.

use std::collections::BTreeSet;

use super::model::{JournalForm, SettledLine};
use crate::{
    kernel::{error::Fault, lang::text, money::Rupiah},
    ledger::Account,
};

/// Lines of a provider's report whose amounts do not add up.
pub fn settlement_faults(lines: &[SettledLine]) -> Vec<Fault> {
    let wrong = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.net != line.gross - line.fee - line.fee_tax);
    wrong
        .map(|(at, _)| {
            let message = text(
                "The net amount is not gross less fee and its tax.",
                "Nilai bersih bukan bruto dikurangi biaya dan pajaknya.",
            );
            Fault::new(format!("lines[{at}].net"), "sum", message)
        })
        .collect()
}

/// What is wrong with a journal entry beyond its schema.
pub fn journal_faults(form: &JournalForm) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, line) in form.lines.iter().enumerate() {
        let mut fault = |field: &str, rule, en, id| {
            faults.push(Fault::new(format!("lines[{at}].{field}"), rule, text(en, id)));
        };
        if line.debit.is_some() == line.credit.is_some() {
            fault(
                "debit",
                "one_of",
                "Enter either a debit or a credit.",
                "Isi debit atau kredit, salah satu saja.",
            );
        }
        if matches!(
            line.account,
            Account::CustomerDeposits
                | Account::RefundPayable
                | Account::UnappliedPayments
                | Account::ResellerReceivable
        ) {
            fault(
                "account",
                "not_allowed",
                "This account is kept by booking or reseller; journal entries cannot change it.",
                "Akun ini dicatat per pemesanan atau agen penjual dan tidak dapat diubah dengan \
                 jurnal.",
            );
        }
        let is_tax = line.account == Account::TaxPayable;
        if is_tax && line.tax_code.is_none() {
            fault(
                "tax_code",
                "required",
                "A line of tax_payable needs a tax code.",
                "Baris tax_payable memerlukan kode pajak.",
            );
        }
        if !is_tax && line.tax_code.is_some() {
            fault(
                "tax_code",
                "not_allowed",
                "Only lines of tax_payable have a tax code.",
                "Hanya baris tax_payable yang memiliki kode pajak.",
            );
        }
        if !seen.insert((line.account, line.tax_code.as_deref())) {
            fault(
                "account",
                "duplicate",
                "Each account occurs once.",
                "Setiap akun hanya boleh muncul sekali.",
            );
        }
    }
    let has_partner_line = form.lines.iter().any(|line| line.account == Account::PartnerPayable);
    match (has_partner_line, form.mitra_id) {
        (true, None) => faults.push(Fault::new(
            "mitra_id",
            "required",
            text("Name the partner of partner_payable.", "Sebutkan mitra untuk partner_payable."),
        )),
        (false, Some(_)) => faults.push(Fault::new(
            "mitra_id",
            "not_allowed",
            text("A partner needs a line of partner_payable.", "Tidak ada baris partner_payable."),
        )),
        _ => {}
    }
    let sum: Rupiah = form.lines.iter().map(|line| line.amount()).sum();
    if faults.is_empty() && sum != Rupiah::ZERO {
        faults.push(Fault::new(
            "lines",
            "unbalanced",
            text("Debits and credits differ.", "Debit dan kredit tidak sama."),
        ));
    }
    faults
}
