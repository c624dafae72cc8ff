//! Multiplies the demo data: every partner is copied with boats, sailings, bookings and money,
//! between harbours of its own. Staff, taxes and promotions are not copied.
//!
//! Much faster than simulating the bookings. Notifications and audit entries are not copied.

use super::{
    Progress,
    bulk::{self, BulkClone},
};
use crate::{app::App, bookings, kernel::error::Result, reports, sailings};

/// Codes have three digits for the copy.
pub const MAX_SCALE: u16 = 999;

const fn of(table: &'static str, ids: &'static [&'static str]) -> BulkClone {
    BulkClone { table, by: "id", ids, late: &[], other: &[], only: "TRUE" }
}

/// Ordered by foreign keys.
const TABLES: &[BulkClone] = &[
    BulkClone {
        only: "role = 'mitra'",
        other: &[("name", "name || ' {n}'"), ("email", "'armada{n}.' || email")],
        ..of("accounts", &["id"])
    },
    BulkClone { other: &[("slug", "slug || '-{n}'")], ..of("partners", &["id", "account_id"]) },
    // A partner changes its bank account itself.
    BulkClone { by: "partner_id", ..of("onboardings", &["partner_id", "bank_changed_by"]) },
    BulkClone {
        other: &[("registration_number", "registration_number || '-{n}'")],
        ..of("speedboats", &["id", "partner_id"])
    },
    BulkClone {
        only: "(EXISTS (SELECT 1 FROM routes r WHERE r.from_harbour_id = harbours.id)
            OR EXISTS (SELECT 1 FROM routes r WHERE r.to_harbour_id = harbours.id))",
        other: &[
            ("name", "name || ' {n}'"),
            ("aliases", "'[]'"),
            ("status", "'unverified'"),
            ("search_keys", "search_keys || ' {n}'"),
        ],
        ..of("harbours", &["id"])
    },
    BulkClone {
        by: "harbour_id",
        only: "EXISTS (SELECT 1 FROM harbours h WHERE h.id = harbour_names.harbour_id
              AND h.name = harbour_names.name
              AND (EXISTS (SELECT 1 FROM routes r WHERE r.from_harbour_id = h.id)
                OR EXISTS (SELECT 1 FROM routes r WHERE r.to_harbour_id = h.id)))",
        other: &[("key", "key || ' {n}'"), ("name", "name || ' {n}'")],
        ..of("harbour_names", &["harbour_id"])
    },
    of("lines", &["id", "partner_id", "from_harbour_id", "to_harbour_id"]),
    BulkClone {
        other: &[("from_name", "from_name || ' {n}'"), ("to_name", "to_name || ' {n}'")],
        ..of(
            "routes",
            &["id", "partner_id", "speedboat_id", "line_id", "from_harbour_id", "to_harbour_id"],
        )
    },
    of(
        "sailings",
        &[
            "id",
            "route_id",
            "speedboat_id",
            "partner_id",
            "line_id",
            "from_harbour_id",
            "to_harbour_id",
        ],
    ),
    BulkClone {
        late: &["reschedule_id"],
        other: &[
            ("code", "'{nnn}-' || substr(code, 5)"),
            (
                "contact_email",
                "CASE WHEN contact_email = '' THEN '' ELSE 'armada{n}.' || contact_email END",
            ),
        ],
        ..of("bookings", &["id", "sailing_id", "speedboat_id", "partner_id", "octo_uuid"])
    },
    of("reschedules", &["id", "booking_id", "from_sailing_id", "to_sailing_id"]),
    of("passenger_cancellations", &["id", "booking_id", "sailing_id"]),
    BulkClone {
        by: "booking_id",
        other: &[("reference", "'{nnn}-' || substr(reference, 5)")],
        ..of("payments", &["id", "booking_id", "reschedule_id"])
    },
    of("payment_events", &["id", "payment_id"]),
    of("payment_reviews", &["id", "event_id", "payment_id", "booking_id"]),
    of("told_refunds", &["id", "payment_id", "event_id", "review_id"]),
    BulkClone {
        other: &[
            ("code", "'{nnn}-' || substr(code, 5)"),
            ("codes", "replace(replace(codes, 'dmg-', '{nnn}-'), 'rfd-', '{nnn}-')"),
        ],
        ..of(
            "refunds",
            &["id", "booking_id", "partner_id", "reschedule_id", "review_id", "cancellation_id"],
        )
    },
    // Transfers of the reseller are not copied.
    BulkClone {
        only: "source <> 'reseller_payment'",
        ..of("ledger_lines", &["id", "source_id", "partner_id", "booking_id"])
    },
    BulkClone {
        other: &[("code", "'{nnn}-' || substr(code, 5)")],
        ..of("settlements", &["id", "partner_id"])
    },
    of("transfers", &["id", "refund_id", "settlement_id", "payment_id"]),
    of("refund_payments", &["id", "refund_id", "transfer_id", "told_id"]),
    of(
        "partner_dues",
        &["id", "partner_id", "booking_id", "settlement_id", "source_id", "reschedule_id"],
    ),
    BulkClone { by: "settlement_id", ..of("settlement_items", &["settlement_id", "due_id"]) },
    of("settlement_payouts", &["id", "settlement_id", "transfer_id"]),
    BulkClone {
        other: &[("code", "'{nnn}-' || substr(code, 5)")],
        ..of("settlement_receipts", &["id", "partner_id"])
    },
    BulkClone { by: "partner_id", ..of("settlement_runs", &["partner_id", "settlement_id"]) },
    of("boardings", &["id", "sailing_id", "booking_id"]),
    BulkClone { by: "sailing_id", ..of("manifests", &["sailing_id"]) },
];

/// Multiplies the data by `scale`.
pub async fn multiply(app: &App, scale: u16, progress: &mut Progress) -> Result<()> {
    if scale == 1 {
        return Ok(());
    }
    progress.start("Fleets", scale.into());
    for number in 1..scale {
        progress.step();
        bulk::clone_rows(&app.db, TABLES, number).await?;
        // Statistics of a small table would lead to full scans of the large one.
        if number.is_power_of_two() {
            app.db.analyze(TABLES.iter().map(|clone| clone.table)).await?;
        }
    }
    bulk::fill_booking_search(&app.db).await?;
    while bookings::index_texts(&app.db, 400).await?.more {}
    app.db.analyze(TABLES.iter().map(|clone| clone.table).chain(["booking_search"])).await?;
    let mut tx = app.db.begin_without_timeout().await?;
    for text in USES.iter().chain(RESELLERS) {
        tx.sql(text).run().await?;
    }
    tx.commit().await?;
    reports::rebuild(app).await?;
    sailings::rebuild_days(app).await?;
    Ok(())
}

/// Updates of the resellers, which sell the copied bookings too.
const RESELLERS: &[&str] = &["UPDATE resellers SET
       balance = (SELECT COALESCE(SUM(l.amount), 0) FROM ledger_lines l
         WHERE l.reseller_id = resellers.id),
       held = (SELECT COUNT(*) FROM bookings k
         WHERE k.reseller_id = resellers.id AND k.status = 'pending_payment')"];

/// Updates of the promotion counters.
const USES: &[&str] = &[
    "DELETE FROM promotion_uses",
    "INSERT INTO promotion_uses (promotion_id, email, used)
     SELECT promotion_id, contact_email, COUNT(*) FROM bookings
     WHERE promotion_id IS NOT NULL AND status IN ('pending_payment', 'paid', 'completed')
     GROUP BY promotion_id, contact_email",
    "UPDATE promotions SET (used, quota) =
       (SELECT COALESCE(SUM(u.used), 0), CASE WHEN promotions.quota < COALESCE(SUM(u.used), 0)
          THEN COALESCE(SUM(u.used), 0) ELSE promotions.quota END
        FROM promotion_uses u WHERE u.promotion_id = promotions.id)",
];
