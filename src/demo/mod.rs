//! A platform that looks lived in: partners in every state, real routes, three months of the past
//! and one of the future.
//!
//! Everything is done through the doors of the service by people who call it, with a clock that is
//! turned: what comes out is what the service would have become, and `dermaga audit` is clean.

mod fleets;
mod founding;
mod history;
mod places;
mod voice;

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::{ProgressBar, ProgressStyle};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    accounts::{self, Origin, Password},
    app::App,
    config::{Config, PaymentProvider, Switch},
    kernel::{
        clock::{Clock, midnight},
        email::Email,
        ids,
        outbox::{self, Queue},
        text::Name,
    },
    reports,
    sailings::LONGEST_ROUTE,
};
use founding::Founded;
use voice::Voice;

pub use fleets::MOST;

/// What everyone of the demo signs in with.
pub const PASSWORD: &str = "dermaga demo 2026";
pub const ADMIN: &str = "admin@dermaga.example";

/// How much of it: so many days of the past, and so many times the fleets.
#[derive(Clone, Copy)]
pub struct Extent {
    pub days: u64,
    pub scale: u16,
}

/// How far sailings are on sale, in days.
const FUTURE: u64 = 30;
/// How far its past reaches at most: a route runs from its first day to the last that is on sale.
pub const LONGEST: u64 = LONGEST_ROUTE - 1 - FUTURE;

/// The demo in the making.
struct Stage {
    app: App,
    guest: Voice,
    /// The admin's session, and until when it is fresh enough.
    admin: Option<(Voice, DateTime<Utc>)>,
    random: StdRng,
}

impl Stage {
    async fn admin(&mut self) -> Result<Voice, String> {
        let now = self.app.clock.now();
        if let Some((voice, until)) = &self.admin
            && now < *until
        {
            return Ok(voice.clone());
        }
        let voice = self.guest.signed_in(ADMIN, PASSWORD, "admin").await?;
        self.admin = Some((voice.clone(), now + TimeDelta::hours(7)));
        Ok(voice)
    }
}

/// Fills an empty database, and prints who can sign in.
pub async fn run(config: Config, seed: u64, extent: Extent) -> Result<(), String> {
    let app = fill(config, seed, extent, bar(extent.days + 1)).await?;
    let (partners, staff) = founding::logins();
    println!("Everyone signs in with the password: {PASSWORD}");
    println!("  admin    {ADMIN}");
    for email in staff {
        println!("  staff    {email}");
    }
    for email in partners {
        println!("  mitra    {email}");
    }
    let count = |sql| app.db.sql(sql).scalar::<i64>();
    let said = |why: crate::kernel::db::Failure| why.to_string();
    let bookings = count("SELECT COUNT(*) FROM bookings").await.map_err(said)?;
    let sailings = count("SELECT COUNT(*) FROM sailings").await.map_err(said)?;
    println!(
        "{bookings} bookings on {sailings} sailings. `dermaga` serves it, `dermaga audit` checks it."
    );
    app.db.close().await;
    Ok(())
}

/// Refuses a database in which somebody still signs in with the password that the demo prints.
pub async fn no_printed_logins(app: &App) -> Result<(), String> {
    let (partners, staff) = founding::logins();
    for email in [ADMIN].into_iter().chain(staff).chain(partners) {
        let found = app.db.sql(
            "SELECT password_hash FROM accounts
             WHERE email = $1 AND deleted_at IS NULL AND password_hash IS NOT NULL",
        );
        let hash: Option<(String,)> =
            found.bind(email.to_owned()).maybe().await.map_err(|why| why.to_string())?;
        let Some((hash,)) = hash else { continue };
        let same = app.passwords().verify(PASSWORD, Some(&hash), Origin::local()).await;
        if same.map_err(|why| why.to_string())? {
            return Err(format!(
                "DERMAGA_DATABASE_URL: {email} signs in with the demo's password, which everybody \
                 can know; DERMAGA_INSECURE_DEMO=true allows it for a demo"
            ));
        }
    }
    Ok(())
}

fn bar(days: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len}, {eta} left");
    let bar = ProgressBar::new(days);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message("Days at sea")
}

/// Makes the whole of it, day by day.
pub async fn fill(
    config: Config,
    seed: u64,
    Extent { days, scale }: Extent,
    bar: ProgressBar,
) -> Result<App, String> {
    if config.payment_provider != PaymentProvider::Simulator {
        return Err("DERMAGA_PAYMENT_PROVIDER: the demo pays with the simulator alone".into());
    }
    let now = Utc::now();
    let today = now.with_timezone(&config.timezone).date_naive();
    let first = today - chrono::Days::new(days);
    let start = midnight(first, config.timezone) + TimeDelta::hours(5);
    // Nobody is in a hurry, or mistaken for one caller.
    let config = Config { rate_limit: Switch(false), ..config };
    let app = App::start(config, Clock::manual(start)).await?;
    empty(&app).await?;
    reports::ensure(&app).await.map_err(|why| why.to_string())?;
    let name = Name::parse("Ibu Direktur").ok_or("a name")?;
    let email: Email = ADMIN.parse()?;
    let password = Password::parse(PASSWORD).ok_or("a password")?;
    let made = accounts::create_admin(&app, name, email, &password).await;
    made.map_err(|why| why.to_string())?;
    let random = StdRng::seed_from_u64(seed);
    let mut stage = Stage { guest: Voice::of(&app), admin: None, app, random };
    let lived = async {
        let founded: Founded = founding::found(&mut stage, first, today).await?;
        history::live(&mut stage, &founded, (first, today), now, &bar).await
    };
    ids::seeded(seed, start, lived).await?;
    // What would have been mailed long ago is not mailed now.
    outbox::forget(&stage.app.db, Queue::Mail).await.map_err(|why| why.to_string())?;
    fleets::multiply(&stage.app, scale, &bar).await.map_err(|why| why.to_string())?;
    bar.finish_and_clear();
    Ok(stage.app)
}

async fn empty(app: &App) -> Result<(), String> {
    let used = app.db.sql(
        "SELECT (SELECT COUNT(*) FROM partners) + (SELECT COUNT(*) FROM bookings)
           + (SELECT COUNT(*) FROM accounts WHERE role <> 'admin')",
    );
    match used.scalar::<i64>().await.map_err(|why| why.to_string())? {
        0 => Ok(()),
        _ => Err("there is something in this database; the demo wants an empty one".into()),
    }
}
