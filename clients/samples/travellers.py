"""What guests do: search, book, pay, change and cancel. And what staff do with their money."""

from __future__ import annotations

import re
import time
from typing import Any

from journey import GUEST, Journey

EMAIL = "sari.dewi@example.com"


def tell(j: Journey) -> None:
    public(j)
    booking(j)
    changes(j)
    refunds(j)
    reviews(j)
    personal_data(j)


def public(j: Journey) -> None:
    j.sample("health", GUEST, show="health: version, database, uptime_seconds")
    j.sample("live", GUEST)
    j.sample("ready", GUEST)
    j.sample("list_locations", GUEST, show="harbour in harbours: name, destinations")
    offers = j.sample(
        "search_sailings",
        GUEST,
        body={"from": "Sanur", "to": "Nusa Penida", "date": j.day(3), "qty": 2},
        show="sailing: departure_at, speedboat.name, price",
    )
    j.sample(
        "get_catalog_speedboat",
        GUEST,
        offers[0]["item_id"],
        show="boat: name, capacity, facilities",
    )
    j.sample("list_catalog_partners", GUEST, show="partner: name, slug")
    j.sample("get_catalog_partner", GUEST, "bahari-express", show="line in partner.lines: from, to")
    j.sample("list_harbours", GUEST, query={"search": "Bali"}, show="harbour: name, timezone")
    j.sample("list_running_promotions", GUEST, show="promotion: code, title")
    j.sample("get_terms", GUEST, query={"type": "customer"}, show="terms: version, content")
    j.sample("get_cta_partnership", GUEST, show="call: title, button_url")
    j.sample("get_ticket_key", GUEST, show="key: key_id, pem")


def booking(j: Journey) -> None:
    sailing = j.sailing(3)
    chosen = {
        "type": "speedboat",
        "item_id": sailing["item_id"],
        "route_time_id": sailing["route_time_id"],
        "qty": 2,
    }
    j.sample(
        "quote_booking",
        GUEST,
        body={
            **chosen,
            "code_promo": "LIBURAN",
            "passengers": [{"fare": "adult_domestic"}, {"fare": "adult_foreign"}],
        },
        show="quote: price.subtotal, price.discount, price.total",
    )
    j.sample(
        "validate_promo",
        GUEST,
        body={**chosen, "code_promo": "LIBURAN"},
        show="promotion: valid, discount",
    )
    made = j.sample(
        "create_booking",
        GUEST,
        body={
            **chosen,
            "code_promo": "LIBURAN",
            "contact": {"name": "Sari Dewi", "email": EMAIL, "phone": "081234567890"},
            "passengers": [
                {
                    "name": "Sari Dewi",
                    "fare": "adult_domestic",
                    "identity_type": "nik",
                    "identity_number": "5171014509900002",
                },
                {
                    "name": "Anders Berg",
                    "fare": "adult_foreign",
                    "nationality": "Sweden",
                    "identity_type": "passport",
                    "identity_number": "AA1234567",
                },
            ],
        },
        show="booking: code, status, price.total, expires_at",
    )
    guest = {"code": made["code"], "email": EMAIL}
    j.sample("pay_again", GUEST, made["id"], body=guest, show="booking: status, payment")
    j.sample("payment_callback", GUEST, body=j.notice(made, "bank_transfer"))
    j.sample(
        "get_booking", GUEST, made["id"], query=guest, show="booking: code, status, price.total"
    )
    j.sample(
        "get_booking_options",
        GUEST,
        made["id"],
        query=guest,
        show="options: cancel, reschedule",
    )
    j.sample("get_ticket", GUEST, made["id"], query=guest, show="ticket.pdf")
    j.sample("resend_ticket", GUEST, made["id"], body=guest)
    j.sample("find_bookings", GUEST, body={"email": EMAIL})
    j.sample(
        "list_bookings",
        j.admin,
        query={"status": "paid", "search": "Sari Dewi"},
        show="booking: code, status, contact.name, price.total",
    )


def changes(j: Journey) -> None:
    made = j.paid_booking(4, "Ketut Ariawan", "ketut.ariawan@example.com")
    guest = {"code": made["code"], "email": "ketut.ariawan@example.com"}
    j.sample(
        "correct_passengers",
        GUEST,
        made["id"],
        body={
            **guest,
            "passengers": [{"id": made["passengers"][0]["id"], "name": "I Ketut Ariawan"}],
        },
        show="passenger in booking.passengers: name",
    )
    later = j.sailing(5)
    j.sample(
        "reschedule_booking",
        GUEST,
        made["id"],
        body={**guest, "route_time_id": later["route_time_id"], "reason": "Flight arrives late"},
        show="booking: status, sailing.departure_at, reschedule",
    )
    j.sample(
        "correct_contact",
        j.admin,
        made["id"],
        body={"phone": "081338765432"},
        show="booking: contact.name, contact.phone",
    )
    j.sample(
        "cancel_booking",
        GUEST,
        made["id"],
        body={**guest, "reason": "Change of plans"},
        show="booking: status, refund_amount",
    )
    j.sample(
        "set_refund_account",
        GUEST,
        made["id"],
        body={
            **guest,
            "bank_code": "BCA",
            "account_number": "7712345678",
            "account_name": "Ketut Ariawan",
        },
        show="booking: owed, refund_account",
    )
    j.sample(
        "record_refund",
        j.admin,
        made["id"],
        body={"by": "bank", "reference": "BCA-20261201-0417"},
        show="booking: status, owed",
    )
    cash = j.booking(3, "Wayan Sudarma", "wayan.sudarma@example.com", j.partner)
    j.sample("pay_cash", j.partner, cash["id"], show="booking: code, status")


def refunds(j: Journey) -> None:
    by_transfer = j.paid_booking(4, "Dewi Lestari", "dewi.lestari@example.com")
    by_qris = j.paid_booking(4, "Bayu Saputra", "bayu.saputra@example.com", "qris")
    for booking in (by_transfer, by_qris):
        j.call("cancel_booking", j.admin, booking["id"], body={"reason": "Boat out of order"})
    j.sample(
        "list_refunds",
        j.admin,
        query={"status": "due"},
        show="refund: code, booking_code, unpaid",
    )
    [found] = j.call("list_refunds", j.admin, query={"search": by_transfer["code"]})
    id = found["id"]
    j.sample("get_refund", j.admin, id, show="refund: code, status, unpaid")
    j.sample(
        "pay_refund",
        j.admin,
        id,
        body={"by": "bank", "reference": "BCA-20261201-0418"},
        show="refund: code, status, paid_at",
    )
    j.sample(
        "return_refund",
        j.admin,
        id,
        body={"reason": "Account closed"},
        show="refund: code, status, unpaid",
    )
    # The provider declines what the service sends.
    declined = waited_for(j, by_qris["code"], "sent")
    transfer = j.service.transfer_of("refund_id", declined["id"])
    j.press(f"/pay/transfers/{transfer}", "decline")
    j.sample("retry_refund", j.admin, declined["id"], show="refund: code, status")


def waited_for(j: Journey, booking: str, status: str) -> Any:
    """The refund of a booking as soon as it has a status."""
    for _ in range(100):
        [refund] = j.call("list_refunds", j.admin, query={"search": booking})
        if refund["status"] == status:
            return refund
        time.sleep(0.1)
    raise RuntimeError(f"the refund is not {status}")


def reviews(j: Journey) -> None:
    booking = j.booking(5, "Rina Halim", "rina.halim@example.com")
    short = j.notice(booking, "bank_transfer", booking["price"]["total"] - 10_000)
    j.call("payment_callback", GUEST, body=short)
    [review] = j.sample(
        "list_payment_reviews",
        j.admin,
        query={"open": True},
        show="review: reason, expected, amount",
    )
    j.sample(
        "resolve_payment_review",
        j.admin,
        review["id"],
        body={"action": "refund", "note": "The customer paid Rp 10.000 too little"},
        show="review: resolution, resolved_at",
    )


def personal_data(j: Journey) -> None:
    email = "yusuf.hidayat@example.com"
    over = j.booking(5, "Yusuf Hidayat", email)
    # Its mail is part of the data.
    j.service.mails(email, 1, re.compile(over["code"]))
    guest = {"code": over["code"], "email": email}
    j.call("cancel_booking", GUEST, over["id"], body={**guest, "reason": "Booked twice"})
    j.service.mails(email, 2, re.compile(over["code"]))
    j.sample(
        "export_personal_data",
        j.admin,
        body={"email": email},
        show="booking in data.bookings: code, status",
    )
    j.sample(
        "erase_personal_data",
        j.admin,
        body={"email": email, "reason": "Request of the customer by e-mail"},
        show="erasure: erased, waiting",
    )
