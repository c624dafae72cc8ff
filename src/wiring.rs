//! Where the service is put together: the only file that knows what each domain keeps for the life of
//! the process.

use crate::{
    accounts::{self, Passwords},
    app::{App, DomainState},
    boarding,
    bookings::{self, GuestViews},
    config::Config,
    edge::Limits,
    harbours,
    kernel::{clock::Clock, error::Result, secret::Secret},
    notifications::Hub,
    octo::KeyLimits,
    partners,
    payments::Gateway,
    providers::Providers,
    resellers,
    sailings::Trips,
    staff,
    tickets::TicketKeys,
    transfers,
    webhooks::{self, WebhookClient},
};

impl App {
    /// Starts a service with all of its domains: checks the settings, opens the database, migrates it,
    /// encrypts what an earlier version has stored in clear, and adds the harbours that the service
    /// brings.
    pub async fn start(config: Config, clock: Clock) -> Result<Self, String> {
        let app = Self::connect(config, clock).await?;
        app.migrate().await?;
        let stored = app.store_key_check().await;
        stored.map_err(|why| format!("cannot check the secret key: {why}"))?;
        app.ensure_key_fits().await?;
        let sealed = resellers::seal_clear(&app).await;
        sealed.map_err(|why| format!("cannot encrypt the tax numbers of resellers: {why}"))?;
        let loaded = harbours::load(&app.db, app.clock.now()).await;
        loaded.map_err(|why| format!("cannot load the harbours: {why}"))?;
        Ok(app)
    }

    /// For commands on an existing database, which is neither created nor migrated.
    pub async fn attach(config: Config, clock: Clock) -> Result<Self, String> {
        config.ensure_database_exists()?;
        let app = Self::connect(config, clock).await?;
        app.db.ensure_current().await?;
        app.ensure_key_fits().await?;
        Ok(app)
    }

    /// All domains on the database as it is. SQLite creates the file if there is none.
    pub async fn connect(config: Config, clock: Clock) -> Result<Self, String> {
        Self::open(config, clock, domains).await
    }

    /// Seals everything that older keys have sealed with the current one.
    pub async fn reseal(&self) -> Result<u64> {
        let resealed = partners::reseal(self).await?
            + webhooks::reseal(self).await?
            + bookings::reseal(self).await?
            + boarding::reseal(self).await?
            + staff::reseal(self).await?
            + resellers::reseal(self).await?
            + accounts::reseal(self).await?
            + transfers::reseal(&self.db, &self.sealer).await?;
        // Last: from now on the service starts without the old key.
        self.reseal_key_check().await?;
        Ok(resealed)
    }
}

fn domains(config: &Config, secret_key: &Secret) -> Result<DomainState, String> {
    Ok(DomainState::default()
        .with(Gateway::new(config, secret_key)?)
        .with(Providers::new(config)?)
        .with(TicketKeys::new(secret_key, &config.old_secret_keys.0)?)
        .with(Passwords::new(config.rate_limit.0))
        .with(Hub::default())
        .with(Trips::default())
        .with(GuestViews::default())
        .with(WebhookClient::new(config.webhook_private_addresses.0))
        .with(KeyLimits::new(config.rate_limit.0))
        .with(Limits::new(config.rate_limit.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An accessor panics where its state is missing, so each is called here once.
    #[tokio::test]
    async fn every_accessor_finds_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: folder.path().to_owned(), ..Config::default() };
        let app = App::start(config, Clock::System).await.unwrap();
        app.gateway();
        app.providers();
        app.ticket_keys();
        app.passwords();
        app.hub();
        app.trips();
        app.guest_views();
        app.webhook_client();
        app.key_limits();
        app.limits();
    }
}
