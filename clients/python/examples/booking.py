"""Searches a sailing, books it, reads the state of the payment, and cancels."""

import os
from datetime import date, timedelta

from dermaga import ConflictError, Dermaga
from dermaga.types import Contact

GUEST: Contact = {"name": "Sari Dewi", "email": "sari@example.com", "phone": "081234567890"}


def book(client: Dermaga, day: str) -> str:
    sailings = client.routes.search_sailings(
        {"from": "Sanur", "to": "Nusa Penida", "date": day, "qty": 1, "sort_by": "price"}
    )
    sailing = sailings.items[0]
    try:
        booking = client.bookings.create(
            {
                "type": "speedboat",
                "item_id": sailing["item_id"],
                "route_time_id": sailing["route_time_id"],
                "qty": 1,
                "contact": GUEST,
                "passengers": [{"name": GUEST["name"]}],
            }
        )
    except ConflictError as error:
        if error.code == "sold_out":
            print(f"Only {error.data['available_seats']} seats are left.")
        raise
    payment = booking.get("payment")
    if payment:
        print(f"Pay at {payment.get('redirect_url')} before {booking['expires_at']}.")

    # `pending_payment` until the customer has paid, then `paid`.
    booking = client.bookings.get(booking["id"], code=booking["code"], email=GUEST["email"])
    print(f"{booking['code']}: {booking['status']}, Rp {booking['price']['total']:,}")

    cancelled = client.bookings.cancel(
        booking["id"],
        {"code": booking["code"], "email": GUEST["email"], "reason": "Change of plans"},
    )
    return cancelled["status"]


if __name__ == "__main__":
    with Dermaga(os.environ.get("DERMAGA_URL", "http://127.0.0.1:8080")) as client:
        print(book(client, (date.today() + timedelta(days=3)).isoformat()))
