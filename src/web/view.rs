//! Templates, and the functions that they call.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use chrono::{DateTime, NaiveDate, Utc};
use minijinja::{Environment, Value, context, value::Serde};
use serde::Serialize;

use super::{
    assets, chart,
    fields::FieldView,
    format::{self, Locale, fill_bar, time},
    rights::Rights,
    words,
};
use crate::{
    app::App,
    kernel::{
        error::{Error, Result},
        html,
        lang::Lang,
        phone::Phone,
    },
    lines::fare_name,
};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        const TEMPLATES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../web/", $name)))),+];
    };
}

templates![
    "base.html",
    "ui.html",
    "list.html",
    "show.html",
    "system.html",
    "form.html",
    "problem.html",
    "login.html",
    "home.html",
    "account.html",
    "notifications.html",
    "find.html",
    "onboarding.html",
    "booking.html",
    "booking_cancel.html",
    "cancel_passengers.html",
    "reschedule.html",
    "checkout.html",
    "try_again.html",
    "counter_search.html",
    "counter_form.html",
    "counter_check.html",
    "day.html",
    "sailing.html",
    "sailing_cancel.html",
    "partner.html",
    "papers.html",
    "settlement.html",
    "settlements.html",
    "reports.html",
    "permission.html",
    "audit.html",
    "pay.html",
    "transfers.html",
    "terms.html",
    "answer_totp.html",
    "answer_codes.html",
    "answer_key.html",
    "answer_webhook.html",
    "answer_export.html",
    "answer_changed.html",
    "pier_base.html",
    "pier_parts.html",
    "pier.html",
    "pier_sailing.html",
    "pier_shell.html",
    "site_base.html",
    "site_problem.html",
    "site_front.html",
    "site_search.html",
    "site_terms.html",
    "site_bookings.html",
    "site_booking.html",
    "site_form.html",
    "site_check.html",
    "site_partner.html",
    "site_widget.html",
];

/// One environment for all services of a process.
static TEMPLATE_ENGINE: LazyLock<Environment<'static>> =
    LazyLock::new(|| html::engine(TEMPLATES).expect("a test compiles all templates"));

pub fn render(template: &str, context: Value) -> Result<String> {
    let template = TEMPLATE_ENGINE.get_template(template).map_err(Error::internal)?;
    template.render(context).map_err(|error| Error::internal(format!("{error:#}")))
}

/// Data for a template.
pub fn data(value: impl Serialize) -> Value {
    Value::from(Serde(value))
}

/// The fields of a form by their names.
pub fn by_name(fields: Vec<FieldView>) -> HashMap<String, FieldView> {
    fields.into_iter().map(|field| (field.name.clone(), field)).collect()
}

/// What every template can use. The functions are values of the context, so that macros, which see
/// only what they name, have them too.
pub fn functions(app: &App, lang: Lang, rights: Arc<Rights>) -> Value {
    let (config, now) = (&app.config, app.clock.now());
    let locale = Locale { lang, zone: config.timezone, opens_bookings: rights.may("get_booking") };
    let safe = Value::from_safe_string;
    let zone_of =
        move |zone: Option<&str>| zone.and_then(|zone| zone.parse().ok()).unwrap_or(locale.zone);
    let moment = |text: &str| text.parse::<DateTime<Utc>>().ok();
    context! {
        lang => lang.as_str(),
        help_phone => config.help_phone.as_ref().map(Phone::as_str),
        help_whatsapp => config.help_whatsapp.as_ref().map(Phone::as_str),
        public_url => config.public_url(),
        picture => format!("{}/pier/icon-512.png", config.public_url()),
        now => now.to_rfc3339(),
        today => now.with_timezone(&locale.zone).date_naive().to_string(),
        style => assets::STYLE.path.as_str(),
        script => assets::SCRIPT.path.as_str(),
        icons => assets::ICONS.path.as_str(),
        pier_style => assets::PIER_STYLE.path.as_str(),
        pier_script => assets::PIER_SCRIPT.path.as_str(),
        site_style => assets::SITE_STYLE.path.as_str(),
        t => Value::from_function(move |en: String, id: String| match lang {
            Lang::En => en,
            Lang::Id => id,
        }),
        may => Value::from_function(move |operation: String| rights.may(&operation)),
        label => Value::from_function(move |path: String| words::label(&path, lang)),
        word => Value::from_function(move |value: String| words::value(&value, lang).to_owned()),
        fare => Value::from_function(move |key: Option<String>| {
            key.map_or_else(|| "–".to_owned(), |key| fare_name(&key).say(lang).to_owned())
        }),
        action => Value::from_function(move |action: String| words::action(&action, lang).to_owned()),
        chip => Value::from_function(move |value: String| safe(locale.chip(&value))),
        number => Value::from_function(move |value: i64| format::number(value, lang)),
        percent => Value::from_function(move |value: f64| {
            format!("{}\u{a0}%", format::decimal(value, lang))
        }),
        rupiah => Value::from_function(move |value: Option<i64>| match value {
            Some(value) => format::rupiah(value),
            None => "–".into(),
        }),
        when => Value::from_function(move |at: Option<String>, zone: Option<String>| {
            let at = at.unwrap_or_default();
            let words = moment(&at).map(|moment| locale.when(moment, zone_of(zone.as_deref())));
            words.map_or_else(|| Value::from("–"), |words| safe(time(&at, &words)))
        }),
        clock => Value::from_function(move |at: String, zone: Option<String>| {
            let words = moment(&at).map(|moment| locale.clock(moment, zone_of(zone.as_deref())));
            safe(time(&at, &words.unwrap_or_default()))
        }),
        // `+1 day` of an arrival that is not on the day of the departure.
        later => Value::from_function(move |departure_at: String, zone: Option<String>, arrival_at: String, arrival_zone: Option<String>| {
            let day = |at: String, zone: Option<String>| {
                let zone = zone_of(zone.as_deref());
                moment(&at).map(|at| at.with_timezone(&zone).date_naive())
            };
            let (from, to) = (day(departure_at, zone), day(arrival_at, arrival_zone));
            let days = to.zip(from).map(|(to, from)| (to - from).num_days());
            locale.days_later(days.unwrap_or_default())
        }),
        zone => Value::from_function(move |at: String, zone: String| {
            let zone = zone_of(Some(&zone));
            moment(&at).map(|moment| format::zone_name(zone, moment)).unwrap_or_default()
        }),
        // Empty for the present day.
        other_day => Value::from_function(move |at: String, zone: Option<String>| {
            let zone = zone_of(zone.as_deref());
            let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
            let day = moment(&at).map(day).filter(|date| *date != day(now));
            day.map(|date| locale.day(date)).unwrap_or_default()
        }),
        day => Value::from_function(move |date: String| {
            let words = date.parse::<NaiveDate>().map(|date| locale.day(date));
            safe(time(&date, &words.unwrap_or_default()))
        }),
        until => Value::from_function(move |seconds: i64| {
            DateTime::from_timestamp(seconds, 0)
                .map(|at| {
                    let zone = format::zone_name(locale.zone, at);
                    format!("{} {zone}", locale.clock(at, locale.zone))
                })
                .unwrap_or_default()
        }),
        bucket => Value::from_function(move |text: String| chart::bucket(&text, locale)),
        chart => Value::from_function(move |points: Serde<Vec<serde_json::Value>>, label: String| {
            safe(chart::line(&points.0, "gross_revenue", &label, locale))
        }),
        pretty => Value::from_function(move |value: Serde<serde_json::Value>| {
            serde_json::to_string_pretty(&value.0).unwrap_or_default()
        }),
        fill => Value::from_function(move |taken: i64, capacity: i64| safe(fill_bar(taken, capacity))),
        cell => Value::from_function(move |record: Serde<serde_json::Value>, path: String| {
            safe(locale.cell(&record.0, &path))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_templates_compile() {
        for template in TEMPLATES {
            if let Err(error) = html::engine(&[*template]) {
                panic!("{}: {error:#}", template.0);
            }
        }
    }

    #[test]
    fn no_template_has_styles_or_scripts_of_its_own() {
        for (name, source) in TEMPLATES {
            for forbidden in [" style=", "<style", " onclick=", "javascript:"] {
                assert!(!source.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
