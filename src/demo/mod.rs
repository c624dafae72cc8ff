//! Demo data: partners in every status, real routes, three months of history and one of future
//! sailings.
//!
//! All data is created by API calls with a simulated clock, so it is consistent and passes `dermaga
//! audit`.

mod base_data;
mod bulk;
mod client;
mod fleets;
mod history;
mod names;
mod progress;
mod resale;

use chrono::{DateTime, TimeDelta, Utc};
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
use base_data::BaseData;
use client::ApiClient;

pub use fleets::MAX_SCALE;
pub use progress::Progress;

/// Password of all demo accounts.
pub const PASSWORD: &str = "dermaga demo 2026";
pub const ADMIN: &str = "admin@dermaga.example";

/// Size of the demo: days of history and factor of the fleets.
#[derive(Clone, Copy)]
pub struct Extent {
    pub days: u64,
    pub scale: u16,
}

/// Days for which sailings are on sale.
const FUTURE: u64 = 30;
/// Maximum days of history, limited by the length of a route.
pub const MAX_DAYS: u64 = LONGEST_ROUTE - 1 - FUTURE;

/// State of the generation.
struct Generator {
    app: App,
    guest: ApiClient,
    /// The admin's session, and until when its sign-in is recent.
    admin: Option<(ApiClient, DateTime<Utc>)>,
    random: StdRng,
}

impl Generator {
    async fn admin(&mut self) -> Result<ApiClient, String> {
        let now = self.app.clock.now();
        if let Some((client, until)) = &self.admin
            && now < *until
        {
            return Ok(client.clone());
        }
        let client = self.guest.signed_in(ADMIN, PASSWORD, "admin").await?;
        self.admin = Some((client.clone(), now + TimeDelta::minutes(55)));
        Ok(client)
    }
}

/// Fills an empty database and prints the accounts.
pub async fn run(config: Config, seed: u64, extent: Extent) -> Result<(), String> {
    let app = fill(config, seed, extent, Progress::visible()).await?;
    println!("All accounts have the password: {PASSWORD}");
    println!("  admin    {ADMIN}");
    for (role, email) in base_data::logins() {
        println!("  {role:<8} {email}");
    }
    println!("  API key of the reseller: {}", resale::new_key(&ApiClient::of(&app)).await?);
    let count = |sql| app.db.sql(sql).scalar::<i64>();
    let said = |why: crate::kernel::db::Failure| why.to_string();
    let bookings = count("SELECT COUNT(*) FROM bookings").await.map_err(said)?;
    let sailings = count("SELECT COUNT(*) FROM sailings").await.map_err(said)?;
    println!(
        "{bookings} bookings on {sailings} sailings. Start the service with `dermaga`; check the \
         data with `dermaga audit`."
    );
    app.db.close().await;
    Ok(())
}

/// Fails if an account of the database has the password of the demo.
pub async fn no_printed_logins(app: &App) -> Result<(), String> {
    let others = base_data::logins().into_iter().map(|(_, email)| email);
    for email in [ADMIN].into_iter().chain(others) {
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
                "DERMAGA_DATABASE_URL: {email} has the password of the demo, which is public; \
                 DERMAGA_INSECURE_DEMO=true allows it for a demo"
            ));
        }
    }
    Ok(())
}

/// Generates all data.
pub async fn fill(
    config: Config,
    seed: u64,
    Extent { days, scale }: Extent,
    mut progress: Progress,
) -> Result<App, String> {
    if config.payment_provider != PaymentProvider::Simulator {
        return Err("DERMAGA_PAYMENT_PROVIDER: the demo requires the simulator".into());
    }
    let now = Utc::now();
    let today = now.with_timezone(&config.timezone).date_naive();
    let first = today - chrono::Days::new(days);
    let start = midnight(first, config.timezone) + TimeDelta::hours(5);
    // All calls come from one address, so rate limits are off.
    let config = Config { rate_limit: Switch(false), ..config };
    let app = App::start(config, Clock::manual(start)).await?;
    ensure_empty(&app).await?;
    reports::ensure(&app).await.map_err(|why| why.to_string())?;
    let name = Name::parse("Ibu Direktur").ok_or("a name")?;
    let email: Email = ADMIN.parse()?;
    let password = Password::parse(PASSWORD).ok_or("a password")?;
    let made = accounts::create_admin(&app, name, email, &password).await;
    made.map_err(|why| why.to_string())?;
    let random = StdRng::seed_from_u64(seed);
    let mut generator = Generator { guest: ApiClient::of(&app), admin: None, app, random };
    let lived = Box::pin(async {
        let base: BaseData = base_data::create(&mut generator, first, today).await?;
        progress.start("Days", days + 1);
        history::simulate(&mut generator, &base, (first, today), now, &mut progress).await
    });
    ids::seeded(seed, start, lived).await?;
    // Mails of the past are not sent.
    outbox::forget(&generator.app.db, Queue::Mail).await.map_err(|why| why.to_string())?;
    let multiplied = fleets::multiply(&generator.app, scale, &mut progress).await;
    multiplied.map_err(|why| why.to_string())?;
    progress.clear();
    Ok(generator.app)
}

async fn ensure_empty(app: &App) -> Result<(), String> {
    let used = app.db.sql(
        "SELECT (SELECT COUNT(*) FROM partners) + (SELECT COUNT(*) FROM bookings)
           + (SELECT COUNT(*) FROM accounts WHERE role <> 'admin')",
    );
    match used.scalar::<i64>().await.map_err(|why| why.to_string())? {
        0 => Ok(()),
        _ => Err("the database is not empty; the demo requires an empty one".into()),
    }
}
