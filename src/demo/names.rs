//! Names of partners, boats, routes and passengers of the demo.

pub struct Line {
    pub from: &'static str,
    pub to: &'static str,
    pub zone: &'static str,
    pub minutes: u32,
    pub price: i64,
}

const WIB: &str = "Asia/Jakarta";
const WITA: &str = "Asia/Makassar";
const WIT: &str = "Asia/Jayapura";

pub struct PartnerNames {
    pub name: &'static str,
    pub email: &'static str,
    pub city: &'static str,
    pub province: &'static str,
    pub boats: &'static [(&'static str, i32)],
    pub line: Line,
}

const fn line(
    from: &'static str,
    to: &'static str,
    zone: &'static str,
    minutes: u32,
    price: i64,
) -> Line {
    Line { from, to, zone, minutes, price }
}

/// Active partners.
pub const SAILING: &[PartnerNames] = &[
    PartnerNames {
        name: "Bahari Express",
        email: "made@bahari.example",
        city: "Denpasar",
        province: "Bali",
        boats: &[("Bahari Express 1", 60), ("Bahari Express 2", 45), ("Bahari Express 3", 45)],
        line: line("Sanur", "Nusa Penida", WITA, 45, 150_000),
    },
    PartnerNames {
        name: "Lembongan Cepat",
        email: "wayan@lembongan.example",
        city: "Denpasar",
        province: "Bali",
        boats: &[("Lembongan Jaya", 40), ("Lembongan Indah", 40)],
        line: line("Sanur", "Nusa Lembongan", WITA, 35, 140_000),
    },
    PartnerNames {
        name: "Gili Samudra",
        email: "putu@gili.example",
        city: "Karangasem",
        province: "Bali",
        boats: &[("Gili Samudra", 80), ("Gili Permata", 55)],
        line: line("Padang Bai", "Gili Trawangan", WITA, 90, 350_000),
    },
    PartnerNames {
        name: "Seribu Pulau Lestari",
        email: "rina@seribu.example",
        city: "Jakarta Utara",
        province: "DKI Jakarta",
        boats: &[("Pramuka Satu", 50), ("Pramuka Dua", 50)],
        line: line("Marina Ancol", "Pulau Pramuka", WIB, 90, 200_000),
    },
    PartnerNames {
        name: "Komodo Wisata Bahari",
        email: "yosef@komodo.example",
        city: "Labuan Bajo",
        province: "Nusa Tenggara Timur",
        boats: &[("Naga Laut", 30), ("Rinca", 25)],
        line: line("Labuan Bajo", "Pulau Komodo", WITA, 110, 450_000),
    },
    PartnerNames {
        name: "Kepri Ekspres",
        email: "hasan@kepri.example",
        city: "Tanjung Pinang",
        province: "Kepulauan Riau",
        boats: &[("Kepri Satu", 70), ("Kepri Dua", 70), ("Kepri Tiga", 40)],
        line: line("Tanjung Pinang", "Telaga Punggur", WIB, 60, 75_000),
    },
    PartnerNames {
        name: "Bunaken Trans",
        email: "maria@bunaken.example",
        city: "Manado",
        province: "Sulawesi Utara",
        boats: &[("Bunaken Biru", 25)],
        line: line("Manado", "Pulau Bunaken", WITA, 45, 100_000),
    },
    PartnerNames {
        name: "Raja Ampat Lines",
        email: "simon@rajaampat.example",
        city: "Sorong",
        province: "Papua Barat Daya",
        boats: &[("Waisai Indah", 45)],
        line: line("Sorong", "Waisai", WIT, 110, 250_000),
    },
];

/// Partners that are not active, with their status.
pub const WAITING: &[(&str, &str, &str)] = &[
    ("Derawan Jaya", "adi@derawan.example", "draft"),
    ("Karimun Sejahtera", "sri@karimun.example", "in_review"),
    ("Togean Bahari", "lukas@togean.example", "revision"),
    ("Selayar Makmur", "andi@selayar.example", "suspended"),
];

pub const FIRST: &[&str] = &[
    "Sari", "Budi", "Dewi", "Agus", "Putri", "Rizky", "Ayu", "Bayu", "Lestari", "Eko", "Indah",
    "Fajar", "Ratna", "Hendra", "Kartika", "Yusuf", "Melati", "Dimas", "Nadia", "Gede", "Komang",
    "Teguh", "Wulan", "Arif", "Citra", "Johan", "Siti", "Rahmat", "Maya", "Anders", "Sophie",
    "Liam", "Hana", "Kenji", "Clara", "Mateo",
];

pub const LAST: &[&str] = &[
    "Wijaya",
    "Santoso",
    "Pratama",
    "Lestari",
    "Saputra",
    "Hidayat",
    "Siregar",
    "Nasution",
    "Wirawan",
    "Suryani",
    "Halim",
    "Kusuma",
    "Setiawan",
    "Rahayu",
    "Simanjuntak",
    "Permana",
    "Utami",
    "Berg",
    "Tanaka",
    "Müller",
    "Dupont",
    "Silva",
];
