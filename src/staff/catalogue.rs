//! Labels and descriptions of rules.

use crate::kernel::{
    access::Rule,
    lang::{Lang, Text, text},
};

use super::model::{RuleGroup, RuleInfo};

/// The group of a rule is the first word of its key.
fn group_label(group: &str) -> Text {
    match group {
        "users" => text("Users", "Pengguna"),
        "staff" => text("Staff", "Staf"),
        "permissions" => text("Permissions", "Hak akses"),
        "partners" => text("Partners", "Mitra"),
        "fleet" => text("Fleet", "Armada"),
        "routes" => text("Routes", "Rute"),
        "harbours" => text("Harbours", "Pelabuhan"),
        "bookings" => text("Bookings", "Pemesanan"),
        "promotions" => text("Promotions", "Promosi"),
        "contents" => text("Contents", "Konten"),
        "terms" => text("Terms and conditions", "Syarat dan ketentuan"),
        "taxes" => text("Taxes", "Pajak"),
        "settlements" => text("Settlements", "Penyelesaian dana"),
        "finance" => text("Finance", "Keuangan"),
        "reports" => text("Reports", "Laporan"),
        "resellers" => text("Resellers", "Agen penjual"),
        "privacy" => text("Personal data", "Data pribadi"),
        _ => text("Audit log", "Log audit"),
    }
}

/// Label and description.
fn words(rule: Rule) -> (Text, Text) {
    use Rule::*;
    let (en, id, more_en, more_id) = match rule {
        UsersRead => (
            "See users",
            "Lihat pengguna",
            "List and open all accounts, and their statistics.",
            "Melihat daftar, rincian, dan statistik semua akun.",
        ),
        StaffRead => {
            ("See staff", "Lihat staf", "List and open staff.", "Melihat daftar dan rincian staf.")
        }
        StaffWrite => (
            "Manage staff",
            "Kelola staf",
            "Create, update and delete staff below one's own level.",
            "Mengundang, mengubah, dan menghapus staf di bawah tingkat sendiri.",
        ),
        PermissionsRead => (
            "See permissions",
            "Lihat hak akses",
            "List and open permissions and the catalogue of rules.",
            "Melihat hak akses dan katalog aturannya.",
        ),
        PermissionsWrite => (
            "Manage permissions",
            "Kelola hak akses",
            "Create, update and delete permissions below one's own level.",
            "Membuat, mengubah, dan menghapus hak akses di bawah tingkat sendiri.",
        ),
        PartnersRead => (
            "See partners",
            "Lihat mitra",
            "List and open partners, their documents and figures.",
            "Melihat mitra, dokumen, dan angkanya.",
        ),
        PartnersWrite => (
            "Manage partners",
            "Kelola mitra",
            "Create and update partners, and resend invitations.",
            "Membuat dan mengubah mitra, serta mengirim ulang undangan.",
        ),
        PartnersApprove => (
            "Approve partners",
            "Setujui mitra",
            "Review documents and bank accounts; see their numbers in full.",
            "Meninjau dokumen dan rekening; melihat nomornya secara lengkap.",
        ),
        PartnersSuspend => (
            "Suspend partners",
            "Tangguhkan mitra",
            "Suspend partners and lift the suspension.",
            "Menangguhkan mitra dan mencabutnya.",
        ),
        PartnersImpersonate => (
            "Act as a partner",
            "Bertindak sebagai mitra",
            "Open a short session as a partner, within one's own rules.",
            "Membuka sesi singkat atas nama mitra, sebatas hak sendiri.",
        ),
        FleetRead => (
            "See the fleet",
            "Lihat armada",
            "List and open all speedboats.",
            "Melihat semua speedboat.",
        ),
        FleetWrite => (
            "Manage the fleet",
            "Kelola armada",
            "Create, update and delete speedboats of any partner.",
            "Membuat, mengubah, dan menghapus speedboat mitra mana pun.",
        ),
        RoutesRead => (
            "See routes",
            "Lihat rute",
            "List routes and their sailings.",
            "Melihat rute dan keberangkatannya.",
        ),
        RoutesWrite => (
            "Manage routes",
            "Kelola rute",
            "Create, publish and delete routes; move and cancel sailings.",
            "Membuat, menerbitkan, dan menghapus rute; memindah dan membatalkan keberangkatan.",
        ),
        HarboursWrite => (
            "Manage harbours",
            "Kelola pelabuhan",
            "Create, update, merge and delete harbours.",
            "Membuat, mengubah, menggabungkan, dan menghapus pelabuhan.",
        ),
        BookingsRead => (
            "See bookings",
            "Lihat pemesanan",
            "List and open all bookings, identity numbers included.",
            "Melihat semua pemesanan, termasuk nomor identitas.",
        ),
        BookingsWrite => (
            "Manage bookings",
            "Kelola pemesanan",
            "Book, cancel, take cash, refund, check in and review payments.",
            "Memesan, membatalkan, menerima tunai, mengembalikan dana, check-in, dan meninjau \
             pembayaran.",
        ),
        PromotionsRead => (
            "See promotions",
            "Lihat promosi",
            "List and open all promotions.",
            "Melihat semua promosi.",
        ),
        PromotionsWrite => (
            "Manage promotions",
            "Kelola promosi",
            "Create, update and delete promotions.",
            "Membuat, mengubah, dan menghapus promosi.",
        ),
        ContentsWrite => (
            "Manage contents",
            "Kelola konten",
            "Update the partnership call to action.",
            "Mengubah ajakan kemitraan.",
        ),
        TermsWrite => (
            "Write terms",
            "Tulis ketentuan",
            "Draft terms and read their history.",
            "Menyusun ketentuan dan membaca riwayatnya.",
        ),
        TermsPublish => (
            "Publish terms",
            "Terbitkan ketentuan",
            "Publish terms that someone else has written.",
            "Menerbitkan ketentuan yang ditulis orang lain.",
        ),
        TaxesRead => ("See taxes", "Lihat pajak", "List taxes.", "Melihat daftar pajak."),
        TaxesWrite => (
            "Manage taxes",
            "Kelola pajak",
            "Create, update and delete taxes.",
            "Membuat, mengubah, dan menghapus pajak.",
        ),
        SettlementsRead => (
            "See settlements",
            "Lihat penyelesaian dana",
            "List and open settlements.",
            "Melihat penyelesaian dana.",
        ),
        SettlementsWrite => (
            "Create settlements",
            "Buat penyelesaian dana",
            "Create and cancel settlements.",
            "Menyusun dan membatalkan penyelesaian dana.",
        ),
        SettlementsRelease => (
            "Release settlements",
            "Cairkan dana",
            "Release settlements to partners.",
            "Mencairkan dana kepada mitra.",
        ),
        SettlementsConfigure => (
            "Configure settlements",
            "Atur penyelesaian dana",
            "Set commission and schedule.",
            "Mengatur komisi dan jadwal.",
        ),
        FinanceRead => (
            "See the books",
            "Lihat pembukuan",
            "Trial balance, journal, statements of partners, taxes and reconciliation.",
            "Neraca saldo, jurnal, rekening mitra, pajak, dan rekonsiliasi.",
        ),
        FinanceWrite => (
            "Keep the books",
            "Kelola pembukuan",
            "Record payouts of providers, tax payments and deposits; write and approve journal \
             entries; close months.",
            "Mencatat pencairan penyedia, pembayaran pajak, dan setoran; membuat dan menyetujui \
             jurnal; menutup bulan.",
        ),
        ReportsRead => (
            "See reports",
            "Lihat laporan",
            "Finance reports, and amounts on the dashboard.",
            "Laporan keuangan dan nilai uang di dasbor.",
        ),
        AuditRead => (
            "See the audit log",
            "Lihat log audit",
            "Who changed what, and when.",
            "Siapa mengubah apa, dan kapan.",
        ),
        PrivacyManage => (
            "Manage personal data",
            "Kelola data pribadi",
            "Export and erase the personal data of a person.",
            "Mengekspor dan menghapus data pribadi seseorang.",
        ),
        ResellersRead => (
            "See resellers",
            "Lihat agen penjual",
            "List and open resellers and their partners.",
            "Melihat daftar dan rincian agen penjual beserta mitranya.",
        ),
        ResellersWrite => (
            "Manage resellers",
            "Kelola agen penjual",
            "Update and suspend resellers, grant partners, create and revoke keys.",
            "Mengubah dan menangguhkan agen penjual, memberi akses mitra, membuat dan mencabut \
             kunci.",
        ),
        ResellersFinance => (
            "Accounts of resellers",
            "Rekening agen penjual",
            "Statements, invoices and payments of resellers.",
            "Rekening, tagihan, dan pembayaran agen penjual.",
        ),
    };
    (text(en, id), text(more_en, more_id))
}

pub fn catalogue(lang: Lang) -> Vec<RuleGroup> {
    let mut groups: Vec<RuleGroup> = Vec::new();
    for rule in Rule::ALL {
        let group = rule.as_str().split('.').next().unwrap_or_default();
        let (label, description) = words(*rule);
        let info = RuleInfo {
            key: *rule,
            label: label.say(lang).to_owned(),
            description: description.say(lang).to_owned(),
        };
        match groups.last_mut().filter(|last| last.group == group) {
            Some(last) => last.rules.push(info),
            None => groups.push(RuleGroup {
                group: group.to_owned(),
                label: group_label(group).say(lang).to_owned(),
                rules: vec![info],
            }),
        }
    }
    groups
}
