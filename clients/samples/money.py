"""What the back office does with money: settlements, books, resellers, reports."""

from __future__ import annotations

import json
from typing import Any

from journey import GUEST, Journey
from service import request


def tell(j: Journey) -> None:
    journals(j)
    settlements(j)
    receipts(j)
    books(j)
    periods(j)
    resellers(j)
    reseller_account(j)
    reports(j)


def journals(j: Journey) -> None:
    body = {
        "posted_on": j.day(0),
        "memo": "Compensation for the closed pier in Sanur",
        "mitra_id": j.partner_id("made@bahari.example"),
        "lines": [
            {"account": "losses", "debit": 2_500_000},
            {"account": "partner_payable", "credit": 2_500_000},
        ],
    }
    made = j.sample("create_journal", j.finance, body=body, show="journal: id, amount, status")
    j.sample("approve_journal", j.admin, made["id"], show="journal: memo, status, decided_at")
    twice = j.call("create_journal", j.finance, body=body)
    j.sample("reject_journal", j.admin, twice["id"], show="journal: memo, status")
    j.sample(
        "list_journals",
        j.finance,
        query={"status": "posted"},
        show="journal: posted_on, memo, amount",
    )


def posted(j: Journey, memo: str, lines: list[dict[str, Any]], partner: str | None = None) -> None:
    """A journal entry that is approved."""
    body: dict[str, Any] = {"posted_on": j.day(0), "memo": memo, "lines": lines}
    if partner:
        body["mitra_id"] = partner
    made = j.call("create_journal", j.finance, body=body)
    j.call("approve_journal", j.admin, made["id"])


def settlements(j: Journey) -> None:
    partner = j.partner_id("made@bahari.example")
    period = {"mitra_id": partner, "start_date": j.day(-7), "end_date": j.day(0)}
    made = j.sample("create_settlement", j.finance, body=period, show="settlement: code, net")
    j.sample(
        "get_settlement",
        j.finance,
        made["id"],
        show="item in settlement.items: kind, net",
    )
    j.sample(
        "list_settlements",
        j.finance,
        query={"status": "pending"},
        show="settlement: code, mitra.name, net",
    )
    j.sample(
        "cancel_settlement",
        j.finance,
        made["id"],
        body={"note": "Wait for the complaint of 30 November"},
        show="settlement: code, status",
    )
    again = j.call("create_settlement", j.finance, body=period)
    id = again["id"]
    j.sample(
        "release_settlement",
        j.admin,
        id,
        body={"reference": "BCA-20261201-0902"},
        show="settlement: code, status, released_at",
    )
    j.sample(
        "return_settlement",
        j.finance,
        id,
        body={"reason": "The bank could not credit the account"},
        show="settlement: code, status, failure",
    )
    j.call("release_settlement", j.admin, id, body={"method": "payout"})
    transfer = j.service.transfer_of("settlement_id", id)
    j.sample(
        "payout_callback",
        GUEST,
        headers={"x-callback-token": "XENDIT_CALLBACK_TOKEN"},
        body={
            "event": "payout.succeeded",
            "data": {"id": f"disb-{transfer}", "reference_id": transfer, "status": "SUCCEEDED"},
        },
    )
    j.sample(
        "configure_settlements",
        j.admin,
        body={
            "mitra_id": partner,
            "commission_rate": 9,
            "schedule": "weekly",
            "day": 1,
            "hold_days": 2,
            "minimum_amount": 250_000,
        },
        show="configuration: commission_rate, schedule, hold_days",
    )
    j.sample(
        "get_settlement_configuration",
        j.partner,
        show="configuration: schedule, next_settlement_on, minimum_amount",
    )


def receipts(j: Journey) -> None:
    debtor = j.partner_id("andi@selayar.example")
    lines = [
        {"account": "partner_payable", "debit": 400_000},
        {"account": "losses", "credit": 400_000},
    ]
    posted(j, "Damaged fender at the pier", lines, debtor)
    j.sample(
        "record_receipt",
        j.finance,
        body={
            "mitra_id": debtor,
            "amount": 400_000,
            "method": "bank",
            "reference": "MANDIRI-20261201-77",
            "received_on": j.day(0),
        },
        show="receipt: code, amount",
    )
    j.sample("list_receipts", j.finance, show="receipt: code, mitra.name, amount")


def books(j: Journey) -> None:
    days = {"start_date": j.day(-7), "end_date": j.day(0)}
    sold = j.booking(4, "Agus Permana", "agus.permana@example.com", j.admin)
    j.call("pay_cash", j.admin, sold["id"])
    j.sample(
        "create_cash_deposit",
        j.finance,
        body={"amount": 90_000, "deposited_on": j.day(0), "reference": "SETOR-20261201"},
        show="deposit: amount, deposited_on",
    )
    lines = [
        {"account": "commission_revenue", "debit": 250_000},
        {"account": "tax_payable", "tax_code": "PPN", "credit": 250_000},
    ]
    posted(j, "VAT of the commission, corrected", lines)
    j.sample(
        "create_tax_payment",
        j.finance,
        body={
            "tax_code": "PPN",
            "amount": 250_000,
            "paid_on": j.day(0),
            "reference": "0A1B2C3D4E5F6G7H",
        },
        show="payment: tax_code, amount",
    )
    paid = j.paid_booking(5, "Hendra Kusuma", "hendra.kusuma@example.com")
    j.sample(
        "create_provider_settlement",
        j.finance,
        body={
            "provider": "simulator",
            "payout_id": "PO-20261201-1",
            "paid_on": j.day(0),
            "lines": [
                {
                    "reference": paid["payment"]["reference"],
                    "gross": 90_000,
                    "fee": 4_000,
                    "fee_tax": 440,
                    "net": 85_560,
                }
            ],
        },
        show="payout: gross, fee, net, unknown_references",
    )
    j.sample("list_provider_settlements", j.finance, show="payout: paid_on, provider, net")
    j.sample(
        "get_reconciliation",
        j.finance,
        query=days,
        show="row in report.rows: day, method, ours, theirs, missing",
    )
    j.sample(
        "get_trial_balance",
        j.finance,
        query=days,
        show="line in balance.accounts: account, debit, credit, closing",
    )
    j.sample(
        "list_entries",
        j.finance,
        query={"account": "partner_payable", **days},
        show="entry: posted_on, kind, debit, credit",
    )
    j.sample(
        "get_partner_statement",
        j.finance,
        j.partner_id("made@bahari.example"),
        query=days,
        show="line: posted_on, kind, amount, balance",
    )
    j.sample(
        "get_tax_report",
        j.finance,
        query={"month": j.month(0)},
        show="tax in report.taxes: tax_code, collected, paid, owed",
    )


def periods(j: Journey) -> None:
    # Nothing was posted then.
    month = j.month(-2)
    j.sample("close_period", j.finance, month, show="period: month, status")
    j.sample(
        "reopen_period",
        j.finance,
        month,
        body={"reason": "A late invoice of the bank"},
        show="period: month, status",
    )
    j.sample("list_periods", j.finance, show="period: month, status")


def resellers(j: Journey) -> None:
    form = {
        "name": "Bali Tiket",
        "legal_name": "PT Bali Tiket Indonesia",
        "npwp": "091234567809000",
        "email": "b2b@balitiket.example",
        "ops_email": "ops@balitiket.example",
        "phone": "0361280123",
        "address": "Jl. Sunset Road 88, Kuta",
        "credit_limit": 50_000_000,
        "invoice_schedule": "weekly",
        "terms_days": 7,
    }
    made = j.sample("create_reseller", j.admin, body=form, show="reseller: id, status")
    id = made["id"]
    j.sample("resend_reseller_invitation", j.admin, id)
    j.sample(
        "update_reseller",
        j.admin,
        id,
        body={**form, "credit_limit": 75_000_000},
        show="reseller: name, credit_limit",
    )
    j.sample(
        "suspend_reseller",
        j.admin,
        id,
        body={"reason": "Invoices are overdue"},
        show="reseller: name, status",
    )
    j.sample("unsuspend_reseller", j.admin, id, show="reseller: name, status")
    j.sample("list_resellers", j.admin, show="reseller: name, balance, credit_limit")


def reseller_account(j: Journey) -> None:
    [found] = j.call("list_resellers", j.reseller)
    id = found["id"]
    partner = j.partner_id("putu@gili.example")
    j.sample("get_reseller", j.reseller, id, show="reseller: name, balance, credit_limit")
    j.sample("get_reseller_grants", j.reseller, id, show="grant in found.grants: margin_rate")
    j.sample(
        "set_reseller_grants",
        j.admin,
        id,
        body={
            "grants": [
                {
                    "mitra_id": partner,
                    "margin_rate": 8,
                    "refund_policy": [{"hours_before": 24, "percent": 100}],
                }
            ]
        },
        show="grant in found.grants: mitra_id, margin_rate",
    )
    key = j.sample(
        "create_reseller_key",
        j.reseller,
        id,
        body={"name": "Booking engine", "scopes": ["catalog", "bookings.read", "bookings.write"]},
        show="key: id, key",
    )
    sells(j, key["key"])
    j.sample("list_reseller_keys", j.reseller, id, show="key: name, prefix, last_used_at")
    j.sample("revoke_reseller_key", j.reseller, id, key["id"], show="key: name, revoked_at")
    invoice = j.sample(
        "create_reseller_invoice",
        j.admin,
        id,
        body={"start_date": j.day(0), "end_date": j.day(0)},
        show="invoice: code, amount, due_on",
    )
    j.sample("list_reseller_invoices", j.reseller, id, show="invoice: code, amount, paid, status")
    j.sample(
        "record_reseller_payment",
        j.admin,
        id,
        body={
            "amount": invoice["amount"],
            "reference": "BCA-WK-20261201",
            "received_on": j.day(0),
        },
        show="payment: amount, balance",
    )
    j.sample(
        "get_reseller_statement",
        j.reseller,
        id,
        query={"start_date": j.day(-7), "end_date": j.day(0)},
        show="line: posted_on, kind, amount, balance",
    )


def sells(j: Journey, key: str) -> None:
    """The reseller sells two seats through OCTO."""

    def octo(path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        sent = json.dumps(body).encode()
        answer = request(j.service.address, "POST", f"/octo{path}", headers, sent)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {answer.body.decode()}")
        return answer.json()

    lines = j.call("list_lines", j.account("putu@gili.example"))
    line = next(line["id"] for line in lines if line["from"] == "Padang Bai")
    wanted = {"productId": line, "optionId": "DEFAULT"}
    open = octo("/availability", {**wanted, "localDate": j.day(3)})
    items = [{"unitId": "adult_foreign"}, {"unitId": "adult_foreign"}]
    order = {**wanted, "availabilityId": open[0]["id"], "unitItems": items}
    held = octo("/bookings", order)
    contact = {"fullName": "Emma Jansen", "emailAddress": "emma@example.com"}
    octo(f"/bookings/{held['uuid']}/confirm", {"contact": contact})


def reports(j: Journey) -> None:
    period = {"period_type": "Bulanan", "comparison_mode": "Month-over-month"}
    j.sample("finance_overview", j.admin, query=period, show="report: gross_revenue, net_revenue")
    j.sample(
        "revenue_by_payment_method",
        j.admin,
        query=period,
        show="method in report.items: label, share_percent",
    )
    j.sample(
        "revenue_by_type",
        j.admin,
        query=period,
        show="kind in report.items: label, share_percent",
    )
    j.sample("revenue_by_partner", j.admin, query=period, show="partner: label, share_percent")
    j.sample("revenue_by_reseller", j.admin, query=period, show="reseller: label, share_percent")
    j.sample("get_dashboard", j.admin, show="dashboard: today, pending")
    j.sample("mitra_statistic", j.partner, show="figures: passengers, gross, occupancy_percent")
