//! Handlers of partner management.

use axum::extract::State;

use super::{PathPartner, onboarding::onboarding};
use crate::{
    accounts::{self, AccountChange, NewAccount, Status},
    app::App,
    events::{self, DomainEvent, PartnerRegistered},
    kernel::{
        access::Role,
        audit::{AuditedTx, Change},
        caller::Caller,
        clock::month_start,
        csv::harmless,
        db::Db,
        error::{Error, Result},
        http::{
            Body, FileOr, ListFormat, PageOrCsv, Query, Reply,
            export::{self, Row, plain, words},
        },
        ids::Uuid,
    },
    partners::{
        model::{
            Partner, PartnerForm, PartnerStatistics, PartnerStatus, PartnerType, PartnersByStatus,
            PartnersByType, PartnersQuery,
        },
        onboarding::{Onboarding, PartnerEdit},
        onboarding_store,
        store::{self, Count, NewPartner},
    },
};

pub async fn list_partners(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<PartnersQuery>,
) -> Result<PageOrCsv<Partner>> {
    if query.format == Some(ListFormat::Csv) {
        let db = caller.on_replica(&app.db);
        let ids = store::list_ids(&db, &query).await?;
        return file(db, ids);
    }
    store::list(&app.db, &query).await.map(FileOr::Json)
}

const HEADER: &[&str] = &[
    "name",
    "email",
    "phone",
    "address",
    "partner_type",
    "status",
    "commission_rate",
    "submitted_at",
    "verified_at",
    "suspended_at",
    "suspended_reason",
    "created_at",
];

fn file(db: Db, ids: Vec<Uuid>) -> Result<PageOrCsv<Partner>> {
    export::csv("partners", HEADER, ids, move |ids| {
        let db = db.clone();
        async move {
            let rows = store::get_all(&db, &ids).await?;
            Ok(rows.iter().map(|partner| (partner.id, cells(partner))).collect())
        }
    })
}

fn cells(partner: &Partner) -> Row {
    vec![
        harmless(&partner.name),
        harmless(&partner.email),
        words(partner.phone.as_deref()),
        harmless(&partner.address),
        partner.partner_type.to_string(),
        partner.status.to_string(),
        plain(partner.commission_rate.map(|rate| f64::from(rate.points()) / 100.0)),
        plain(partner.submitted_at.map(|at| at.to_rfc3339())),
        plain(partner.verified_at.map(|at| at.to_rfc3339())),
        plain(partner.suspended_at.map(|at| at.to_rfc3339())),
        words(partner.suspended_reason.as_deref()),
        partner.created_at.to_rfc3339(),
    ]
}

pub async fn partner_statistics(State(app): State<App>) -> Result<Reply<PartnerStatistics>> {
    let month = month_start(app.clock.now(), app.config.timezone);
    let counts = store::counts(&app.db, month).await?;
    let sum = |of: &dyn Fn(&Count) -> bool| {
        counts.iter().filter(|count| of(count)).map(|count| count.partners).sum()
    };
    let with = |status: PartnerStatus| sum(&|count| count.status == status);
    let of_type = |kind: PartnerType| sum(&|count| count.partner_type == kind);
    Ok(Reply::data(PartnerStatistics {
        total: sum(&|_| true),
        by_status: PartnersByStatus {
            draft: with(PartnerStatus::Draft),
            in_review: with(PartnerStatus::InReview),
            revision: with(PartnerStatus::Revision),
            active: with(PartnerStatus::Active),
            suspended: with(PartnerStatus::Suspended),
        },
        by_type: PartnersByType {
            individual: of_type(PartnerType::Individual),
            company: of_type(PartnerType::Company),
        },
        new_this_month: counts.iter().map(|count| count.new).sum(),
        awaiting_review: counts.iter().map(|count| count.awaiting).sum(),
    }))
}

pub async fn create_partner(
    State(app): State<App>,
    caller: Caller,
    Body(form): Body<PartnerForm>,
) -> Result<Reply<Partner>> {
    let now = app.clock.now();
    let lang = caller.context.lang;
    let account = NewAccount {
        name: form.name,
        email: form.email,
        phone: Some(form.phone),
        role: Role::Mitra,
        status: Status::Active,
        password_hash: None,
    };
    let mut tx = caller.begin(&app.db, now).await?;
    let account_id = accounts::create(&mut tx, &account, now).await?;
    let partner = NewPartner {
        account_id,
        address: &form.address,
        partner_type: form.partner_type,
        commission_rate: form.commission_rate.over(None),
        lang,
        invited_by: Some(caller.person.id),
    };
    let id = store::insert(&mut tx, partner, now).await?;
    accounts::invite(&mut tx, account_id, lang, now).await?;
    let registered = PartnerRegistered { partner_id: id, invited: true };
    events::emit(&mut tx, DomainEvent::PartnerRegistered(registered), now).await?;
    let partner = store::get_in(&mut tx, id).await?;
    record(&mut tx, "partner.created", None, &partner).await?;
    tx.commit().await?;
    Ok(Reply::data(partner).saying("The invitation has been sent.", "Undangan telah dikirim."))
}

pub async fn edit_partner(
    State(app): State<App>,
    caller: Caller,
    PathPartner(partner): PathPartner,
) -> Result<Reply<PartnerEdit>> {
    let papers = onboarding_store::papers(&app.db, partner.id, &app.sealer).await?;
    let documents = onboarding_store::documents(&app.db, partner.id).await?;
    let Onboarding { steps, papers, documents, submitted_at, review_note, .. } =
        onboarding(&app, &caller, partner.clone(), papers, documents);
    Ok(Reply::data(PartnerEdit { partner, steps, papers, documents, submitted_at, review_note }))
}

pub async fn update_partner(
    State(app): State<App>,
    caller: Caller,
    PathPartner(Partner { id, .. }): PathPartner,
    Body(form): Body<PartnerForm>,
) -> Result<Reply<Partner>> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let before = store::lock_row(&mut tx, id, now).await?;
    let open = matches!(before.status, PartnerStatus::Draft | PartnerStatus::Revision);
    if form.partner_type != before.partner_type && !open {
        // Another type requires other documents, which must be submitted and reviewed.
        return Err(Error::invalid_state(
            "The type can only be changed before the documents are submitted.",
            "Jenis mitra hanya dapat diubah sebelum dokumen diajukan.",
        ));
    }
    let change = AccountChange {
        name: form.name.clone(),
        email: form.email.clone(),
        phone: form.phone.clone(),
        status: None,
    };
    accounts::update(&mut tx, before.user_id, &change, &caller, now).await?;
    store::update(&mut tx, &before, &form).await?;
    let after = store::get_in(&mut tx, id).await?;
    record(&mut tx, "partner.updated", Some(&before), &after).await?;
    tx.commit().await?;
    Ok(Reply::data(after).saying("Saved.", "Tersimpan."))
}

pub async fn resend_invitation(
    State(app): State<App>,
    caller: Caller,
    PathPartner(Partner { id, .. }): PathPartner,
) -> Result<Reply> {
    let now = app.clock.now();
    let mut tx = caller.begin(&app.db, now).await?;
    let partner = store::lock_row(&mut tx, id, now).await?;
    if !accounts::is_invited(&mut tx, partner.user_id).await? {
        return Err(Error::invalid_state(
            "This partner has already accepted its invitation.",
            "Mitra ini sudah menerima undangannya.",
        ));
    }
    accounts::invite(&mut tx, partner.user_id, caller.context.lang, now).await?;
    record(&mut tx, "partner.invited_again", None, &partner).await?;
    tx.commit().await?;
    Ok(Reply::done("The invitation has been sent.", "Undangan telah dikirim."))
}

pub(super) async fn record(
    tx: &mut AuditedTx,
    action: &'static str,
    before: Option<&Partner>,
    after: &Partner,
) -> Result<()> {
    tx.record(Change {
        action,
        entity: "partner",
        id: after.id,
        before: before.map(|partner| partner as _),
        after: Some(after),
    })
    .await
}
