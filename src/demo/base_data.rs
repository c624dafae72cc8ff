//! Base data: staff, partners with documents, boats, routes, prices and terms.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{
    FUTURE, Generator, PASSWORD,
    client::ApiClient,
    names::{PartnerNames, SAILING, WAITING},
    resale::{self, RESELLER, Resale},
};
use crate::{
    accounts::{self, Password},
    kernel::ids::Uuid,
};

/// A sailing that guests can choose.
#[derive(Clone, crate::kernel::db::FromRow)]
pub struct SailingChoice {
    pub id: Uuid,
    pub speedboat_id: Uuid,
    pub partner_id: Uuid,
    pub route_id: Uuid,
    pub day: NaiveDate,
    pub departure_at: DateTime<Utc>,
    /// Whether its line has more than one fare.
    pub has_fares: bool,
}

/// The created base data.
pub struct BaseData {
    pub by_day: BTreeMap<NaiveDate, Vec<SailingChoice>>,
    /// The partner that pays for the discount of [`OWN_CODE`].
    pub own_code_of: Uuid,
    pub resale: Resale,
}

/// A promotion at the expense of the platform, on all sailings.
pub const PLATFORM_CODE: &str = "LIBURAN";
/// A promotion at the expense of the first partner, on its own sailings.
pub const OWN_CODE: &str = "BAHARI15";

/// Taxes as practised in Indonesia since 2025. VAT is 12 percent on eleven twelfths of the price (PMK
/// 131/2024), that is on the platform's commission and on charters. Seats carry none: public
/// transport of passengers on water is exempt (PP 49/2022), and a boat that one customer hires is
/// not public transport. Name, code and what it applies to.
const TAXES: &[(&str, &str, &str)] =
    &[("PPN komisi", "PPN", "commission"), ("PPN sewa kapal", "PPN-SEWA", "charter")];

const STAFF: &[(&str, &str, &str, &[&str])] = &[
    (
        "Ketut Operasional",
        "ketut@dermaga.example",
        "manager",
        &[
            "bookings.read",
            "bookings.write",
            "routes.read",
            "routes.write",
            "harbours.write",
            "fleet.read",
        ],
    ),
    (
        "Dian Keuangan",
        "dian@dermaga.example",
        "supervisor",
        &[
            "settlements.read",
            "settlements.write",
            "settlements.release",
            "reports.read",
            "finance.read",
            "finance.write",
        ],
    ),
    (
        "Rahma Kemitraan",
        "rahma@dermaga.example",
        "operator",
        &["partners.read", "partners.write", "partners.approve", "contents.write", "terms.write"],
    ),
];

/// The crew member of the first partner: name and e-mail.
const CREW: (&str, &str) = ("Nyoman Awak", "nyoman@bahari.example");

/// Accounts that can sign in beside the admin, with their roles: staff, active partners, crew and
/// the reseller.
pub fn logins() -> Vec<(&'static str, &'static str)> {
    let staff = STAFF.iter().map(|one| ("staff", one.1));
    let partners = SAILING.iter().map(|house| ("mitra", house.email));
    staff.chain(partners).chain([("crew", CREW.1), ("reseller", RESELLER.1)]).collect()
}

/// Role and e-mail of the account that boards passengers: the partner's crew, if it has any.
pub fn boards(house: &PartnerNames) -> (&'static str, &'static str) {
    match house.email == SAILING[0].email {
        true => ("crew", CREW.1),
        false => ("mitra", house.email),
    }
}

pub async fn create(
    generator: &mut Generator,
    first: NaiveDate,
    today: NaiveDate,
) -> Result<BaseData, String> {
    let admin = generator.admin().await?;
    create_staff(generator, &admin, first).await?;
    create_prices(&admin, first, today).await?;
    let mut own_code_of = Uuid::default();
    for (index, house) in SAILING.iter().enumerate() {
        let partner = register(generator, house.name, house.email).await?;
        complete_onboarding(&partner, house.name, house.city, house.province).await?;
        approve(&admin, &partner, "approved").await?;
        create_fleet(&partner, house, index, first, today).await?;
        if house.province == "Bali" {
            create_fares(&partner).await?;
        }
        if index == 0 {
            create_crew(generator, &partner).await?;
            let id = id_of(&partner).await?;
            create_own_promotion(&admin, &id, first, today).await?;
            own_code_of = id.parse().map_err(|_| "a partner without id")?;
        }
    }
    for (name, email, state) in WAITING {
        let partner = register(generator, name, email).await?;
        if *state == "draft" {
            continue;
        }
        complete_onboarding(&partner, name, "Makassar", "Sulawesi Selatan").await?;
        match *state {
            "revision" => approve(&admin, &partner, "rejected").await?,
            "suspended" => {
                approve(&admin, &partner, "approved").await?;
                let desk = format!("/v1/mitra/manajemen/{}/suspend", id_of(&partner).await?);
                admin.post(&desk, json!({ "reason": "Izin berlayar kedaluwarsa" })).await?;
            }
            _ => {}
        }
    }
    publish_terms(generator, &admin).await?;
    let resale = resale::create(generator).await?;
    let choices: Vec<SailingChoice> = generator
        .app
        .db
        .sql(
            "SELECT s.id, s.speedboat_id, s.partner_id, s.route_id, s.day, s.departure_at,
               (l.fares -> 1) IS NOT NULL AS has_fares
             FROM sailings s JOIN lines l ON l.id = s.line_id
             ORDER BY s.departure_at, s.route_id",
        )
        .all()
        .await
        .map_err(|why| why.to_string())?;
    let mut by_day = BTreeMap::<_, Vec<_>>::new();
    for choice in choices {
        by_day.entry(choice.day).or_default().push(choice);
    }
    Ok(BaseData { by_day, own_code_of, resale })
}

async fn create_staff(
    generator: &Generator,
    admin: &ApiClient,
    first: NaiveDate,
) -> Result<(), String> {
    for (name, email, level, rules) in STAFF {
        let permission = json!({
            "name": name.split(' ').next_back(), "description": "", "level": level,
            "rules": rules,
        });
        let permission = admin.post("/v1/permission", permission).await?;
        let member = json!({
            "name": name, "email": email, "msisdn": "081234567890", "join_date": first,
            "status": "active", "permission_id": permission["id"], "working_type": "full_time",
            "show_salary": false, "salary": 7_500_000,
            "address": { "street": "Jl. Danau Tamblingan 5", "city": "Denpasar",
                "province": "Bali", "postal_code": "80228" },
            "bank_account": { "bank_code": "BCA", "account_number": "7712345678",
                "account_name": name },
        });
        let member = admin.post("/v1/staff", member).await?;
        give_password(generator, &member["user_id"]).await?;
    }
    Ok(())
}

/// Gives an invited account the password of the demo.
pub async fn give_password(generator: &Generator, account: &Value) -> Result<(), String> {
    let password = Password::parse(PASSWORD).ok_or("a password")?;
    let account = account.as_str().and_then(|id| id.parse().ok()).ok_or("no account")?;
    let given = accounts::set_invited_password(&generator.app, account, &password).await;
    given.map_err(|why| why.to_string())
}

async fn create_prices(
    admin: &ApiClient,
    first: NaiveDate,
    today: NaiveDate,
) -> Result<(), String> {
    for (name, code, applies_to) in TAXES {
        let ppn = json!({
            "name": name, "code": code, "rate": 12, "base_factor": "11/12",
            "applies_to": applies_to, "is_active": true,
        });
        admin.post("/v1/configurations/taxs", ppn).await?;
    }
    let agreed = json!({
        "commission_rate": 10, "schedule": "weekly", "day": 1, "hold_days": 1,
        "minimum_amount": 100_000,
    });
    admin.post("/v1/settlements/configuration", agreed).await?;
    let codes = [
        (
            PLATFORM_CODE,
            "Liburan akhir tahun",
            10,
            Some(2_000),
            first,
            today + Days::new(30),
            "active",
        ),
        (
            "MUSIMDINGIN",
            "Promo yang sudah lewat",
            15,
            Some(100),
            first,
            first + Days::new(20),
            "active",
        ),
        (
            "TAHUNBARU",
            "Tahun baru",
            20,
            Some(500),
            today + Days::new(10),
            today + Days::new(60),
            "active",
        ),
        ("RAHASIA", "Belum diumumkan", 25, None, first, today + Days::new(90), "draft"),
    ];
    for (code, title, value, quota, start, end, status) in codes {
        let promotion = json!({
            "title": title, "code": code, "description": "", "quota": quota,
            "target_type": "all", "status": status, "tnc": "Tidak dapat diuangkan.",
            "discount": { "type": "percentage", "value": value, "max_amount": 100_000 },
            "period": { "start_date": start, "end_date": end },
        });
        admin.post("/v1/contents/promotion", promotion).await?;
    }
    let call = json!({
        "title": "Punya kapal cepat?", "description": "Jual kursi Anda bersama kami.",
        "button_label": "Daftar", "button_url": "https://dermaga.example/mitra",
        "image_file_id": "", "is_active": true,
    });
    admin.post("/v1/contents/cta-partnership", call).await?;
    Ok(())
}

async fn create_own_promotion(
    admin: &ApiClient,
    partner: &str,
    first: NaiveDate,
    today: NaiveDate,
) -> Result<(), String> {
    let promotion = json!({
        "title": "Diskon dari Bahari Express", "code": OWN_CODE, "description": "", "quota": null,
        "target_type": "mitra", "target_ids": [partner], "funded_by": "partner",
        "status": "active", "tnc": "Ditanggung mitra.",
        "discount": { "type": "percentage", "value": 15, "max_amount": 50_000 },
        "period": { "start_date": first, "end_date": today + Days::new(30) },
    });
    admin.post("/v1/contents/promotion", promotion).await.map(drop)
}

async fn register(generator: &Generator, name: &str, email: &str) -> Result<ApiClient, String> {
    let form = json!({
        "name": name, "email": email, "phone": 81_234_567_890_i64, "password": PASSWORD,
        "cpassword": PASSWORD, "address": "Jl. Pelabuhan 1", "partnerType": "company",
    });
    generator.guest.post("/auth/register-mitra", form).await?;
    let verified = accounts::mark_email_verified(&generator.app, &email.parse()?).await;
    verified.map_err(|why| why.to_string())?;
    generator.guest.signed_in(email, PASSWORD, "mitra").await
}

async fn complete_onboarding(
    partner: &ApiClient,
    name: &str,
    city: &str,
    province: &str,
) -> Result<(), String> {
    let legal = format!("PT {name}");
    let form = json!({
        "business": {
            "legal_name": legal, "nib": "1234567890123", "npwp": "123456789012345",
            "address": "Jl. Pelabuhan 1", "city": city, "province": province,
            "postal_code": "80228",
        },
        "pic": {
            "name": name, "position": "Direktur", "phone": 81_234_567_890_i64,
            "email": "direktur@dermaga.example", "nik": "5171012304850001",
        },
        "bank_account": {
            "bank_code": "BCA", "account_number": "7712345678", "account_name": legal,
        },
    });
    partner.patch("/v1/mitra/onboarding", form).await?;
    let mut documents = Vec::new();
    for kind in ["nib", "npwp", "deed", "bank_book", "operating_permit"] {
        let file_id = partner.upload(&format!("{kind}.pdf")).await?;
        documents.push(json!({ "type": kind, "file_id": file_id }));
    }
    partner.patch("/v1/mitra/onboarding", json!({ "documents": documents })).await?;
    partner.patch("/v1/mitra/onboarding", json!({ "submit": true })).await?;
    Ok(())
}

async fn id_of(partner: &ApiClient) -> Result<String, String> {
    let me = partner.get("/user/me").await?;
    me["mitra"]["id"].as_str().map(str::to_owned).ok_or_else(|| "no partner".into())
}

/// Reviews all documents; stops at a rejection.
async fn approve(admin: &ApiClient, partner: &ApiClient, verdict: &str) -> Result<(), String> {
    let desk = format!("/v1/mitra/manajemen/{}", id_of(partner).await?);
    let documents = admin.get(&format!("{desk}/documents")).await?;
    for document in documents.as_array().into_iter().flatten() {
        let body = json!({
            "document_id": document["id"], "status": verdict, "note": "Mohon pindai ulang.",
        });
        admin.put(&format!("{desk}/document-approval"), body).await?;
        if verdict == "rejected" {
            break;
        }
    }
    Ok(())
}

async fn create_crew(generator: &Generator, partner: &ApiClient) -> Result<(), String> {
    let (name, email) = CREW;
    let member = json!({ "name": name, "email": email, "phone": "081234567891" });
    let member = partner.post("/v1/mitra/crew", member).await?;
    give_password(generator, &member["id"]).await
}

/// Each boat sails a return trip twice a day.
async fn create_fleet(
    partner: &ApiClient,
    house: &PartnerNames,
    index: usize,
    first: NaiveDate,
    today: NaiveDate,
) -> Result<(), String> {
    for (number, (name, capacity)) in house.boats.iter().enumerate() {
        let boat = json!({
            "name": name, "registration_number": format!("GT.{}-{}", index + 1, number + 1),
            "capacity": capacity, "year_built": 2016 + number, "manufacturer": "Karya Bahari",
            "engine": "3 x 250 HP", "facilities": ["Jaket pelampung", "Toilet", "AC"],
            "description": "Kapal cepat dengan kursi empuk.",
        });
        let boat = partner.post("/v1/speedboats", boat).await?;
        let hour = |minutes: i64| {
            let time = NaiveTime::MIN + TimeDelta::minutes(minutes);
            time.format("%H:%M").to_string()
        };
        let ways = [
            (house.line.from, house.line.to, 7 * 60, 13 * 60),
            (house.line.to, house.line.from, 10 * 60, 16 * 60),
        ];
        for (from, to, early, late) in ways {
            let shift = 20 * number as i64;
            let time = |start: i64| {
                let (start, length) = (start + shift, i64::from(house.line.minutes));
                json!({ "departure_time": hour(start), "arrival_time": hour(start + length) })
            };
            let route = json!({
                "speedboat_id": boat["id"], "from": from, "to": to, "schedule_type": "daily",
                "start_date": first, "end_date": today + Days::new(FUTURE),
                "price": house.line.price, "timezone": house.line.zone,
                "times": [time(early), time(late)],
            });
            let route = partner.post("/v1/mitra/speedboat-routes/", route).await?;
            let id = route["id"].as_str().unwrap_or_default();
            let publish = format!("/v1/mitra/speedboat-routes/{id}/publish");
            partner.post(&publish, Value::Null).await?;
        }
    }
    Ok(())
}

/// The lines of Bali have other fares for residents and foreigners, children and infants.
async fn create_fares(partner: &ApiClient) -> Result<(), String> {
    let adult = |residency: &str, percent: i32| {
        json!({
            "category": "adult", "residency": residency, "min_age": 12,
            "price": { "percent": percent },
        })
    };
    let fares = json!([
        adult("domestic", 60),
        adult("foreign", 100),
        { "category": "child", "min_age": 3, "max_age": 11, "price": { "percent": 75 } },
        {
            "category": "infant", "min_age": 0, "max_age": 2, "price": { "amount": 0 },
            "takes_seat": false,
        },
    ]);
    let lines = partner.get("/v1/mitra/lines").await?;
    for line in lines.as_array().into_iter().flatten() {
        let path = format!("/v1/mitra/lines/{}", line["id"].as_str().unwrap_or_default());
        partner.put(&path, json!({ "fares": fares })).await?;
    }
    Ok(())
}

/// Drafted and published by different accounts.
async fn publish_terms(generator: &Generator, admin: &ApiClient) -> Result<(), String> {
    let writer = generator.guest.signed_in(STAFF[2].1, PASSWORD, "staff").await?;
    let (me, boss) = (writer.get("/user/me").await?, admin.get("/user/me").await?);
    let terms = [
        ("customer", "<h1>Ketentuan penumpang</h1><p>Tiba 30 menit sebelum berangkat.</p>"),
        ("mitra", "<h1>Ketentuan mitra</h1><p>Kapal laik laut, penumpang selamat.</p>"),
        ("privacy", "<h1>Privasi</h1><p>Data Anda untuk perjalanan Anda saja.</p>"),
    ];
    for (kind, content) in terms {
        let draft = json!({ "type": kind, "content": content, "user_creator_id": me["id"] });
        let draft = writer.post("/v1/configurations/term-condition/create", draft).await?;
        let publish = json!({ "id": draft["id"], "user_validator_id": boss["id"] });
        admin.post("/v1/configurations/term-condition/publish", publish).await?;
    }
    Ok(())
}
