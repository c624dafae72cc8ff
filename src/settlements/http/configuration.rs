//! Handlers of the settlement configuration.

use axum::extract::State;

use crate::{
    app::App,
    kernel::{
        audit::Change,
        caller::Caller,
        error::Result,
        http::{Body, Query, Reply},
        ids::Uuid,
    },
    partners::{
        self,
        settlement_configuration::{
            self, SettlementConfiguration, SettlementConfigurationForm,
            SettlementConfigurationQuery,
        },
    },
    settlements::{model::SettlementConfigurationView, rules, store},
};

/// The effective configuration of a partner, or the default, with the next settlement. A partner gets
/// its own.
pub async fn get_settlement_configuration(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<SettlementConfigurationQuery>,
) -> Result<Reply<SettlementConfigurationView>> {
    let partner = caller.partner_filter(query.mitra_id)?;
    known(&app, partner).await?;
    let configuration = settlement_configuration::get(&app.db, partner).await?;
    Ok(Reply::data(with_next_settlement(&app, configuration).await?))
}

pub async fn configure_settlements(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<SettlementConfigurationForm>,
) -> Result<Reply<SettlementConfigurationView>> {
    known(&app, form.mitra_id).await?;
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let (before, after) =
        settlement_configuration::change(&mut tx, &form, app.today(), now).await?;
    tx.record(Change {
        action: "settlement_configuration.changed",
        entity: "settlement_configuration",
        // The default has no partner.
        id: form.mitra_id.unwrap_or(Uuid::nil()),
        before: Some(&before),
        after: Some(&after),
    })
    .await?;
    tx.commit().await?;
    let after = with_next_settlement(&app, after).await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

async fn with_next_settlement(
    app: &App,
    configuration: SettlementConfiguration,
) -> Result<SettlementConfigurationView> {
    let next = match configuration.mitra_id {
        Some(partner) => {
            let (last_run, is_owed) = tokio::try_join!(
                store::last_run(&app.db, partner),
                store::has_open_dues(&app.db, partner),
            )?;
            rules::next_settlement(&configuration, last_run, is_owed, app.today())
        }
        None => None,
    };
    Ok(SettlementConfigurationView {
        configuration,
        next_settlement_on: next.map(|next| next.on),
        next_settlement_until: next.map(|next| next.until),
    })
}

async fn known(app: &App, partner: Option<Uuid>) -> Result<()> {
    match partner {
        Some(id) => partners::known(&app.db, id).await,
        None => Ok(()),
    }
}
