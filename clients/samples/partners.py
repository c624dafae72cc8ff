"""What partners and their crew do: onboarding, boats, routes, boarding. And their reviews."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from calls import Upload
from journey import GUEST, MAKASSAR, Journey

DOCUMENT = Upload("document.pdf", "application/pdf")


def tell(j: Journey) -> None:
    registration(j)
    review(j)
    management(j)
    crew(j)
    boats(j)
    routes(j)
    lines(j)
    boarding(j)


def registration(j: Journey) -> None:
    email = "info@segaracepat.example"
    j.sample(
        "register_mitra",
        GUEST,
        body={
            "name": "Segara Cepat",
            "email": email,
            "phone": "081337001122",
            "password": "angin timur 88 layar",
            "cpassword": "angin timur 88 layar",
            "address": "Jl. Hang Tuah 12, Sanur",
            "partnerType": "company",
        },
        show="registered: mitra.id, mitra.status",
    )
    partner = j.sign_in(email, "angin timur 88 layar")
    j.sample("resend_verification", partner)
    token = j.service.mailed_token(email, "verify-email", count=2)
    j.sample("verify_email", GUEST, body={"token": token})
    j.sample("get_onboarding", partner, show="step in onboarding.steps: key, complete")
    document = j.call("upload_file", partner, body={"file": DOCUMENT, "purpose": "document"})
    j.sample(
        "update_onboarding",
        partner,
        body={
            "business": {
                "legal_name": "PT Segara Cepat Nusantara",
                "nib": "9120304050607",
                "npwp": "012345678901000",
                "address": "Jl. Hang Tuah 12",
                "city": "Denpasar",
                "province": "Bali",
                "postal_code": "80227",
            },
            "pic": {
                "name": "Gede Suardana",
                "position": "Director",
                "phone": "081337001122",
                "email": "gede@segaracepat.example",
                "nik": "5171031207850003",
            },
            "bank_account": {
                "bank_code": "BNI",
                "account_number": "0451234567",
                "account_name": "PT Segara Cepat Nusantara",
            },
            "documents": [{"type": "nib", "file_id": document["id"]}],
        },
        show="step in onboarding.steps: key, complete",
    )


def review(j: Journey) -> None:
    j.sample(
        "list_partners",
        j.admin,
        query={"awaiting_review": True},
        show="partner: name, status",
    )
    waiting = j.partner_id("sri@karimun.example")
    documents = j.sample(
        "list_documents", j.editor, waiting, show="document in documents: type, status"
    )
    j.sample(
        "review_document",
        j.editor,
        waiting,
        body={"document_id": documents[0]["id"], "status": "approved"},
        show="document: type, status, mitra_status",
    )
    wayan = j.account("wayan@lembongan.example")
    account = {
        "bank_code": "MANDIRI",
        "account_number": "1450012345678",
        "account_name": "PT Lembongan Cepat",
    }
    j.call("update_onboarding", wayan, body={"bank_account": account})
    j.sample(
        "approve_bank_account",
        j.admin,
        j.partner_id(wayan.email),
        body={"status": "approved", **account},
        show="partner: name, status",
    )


def management(j: Journey) -> None:
    j.sample("partner_statistics", j.admin, show="partners: total, awaiting_review, new_this_month")
    invited = j.sample(
        "create_partner",
        j.admin,
        body={
            "name": "Nusa Laut",
            "email": "kontak@nusalaut.example",
            "phone": "081239887766",
            "address": "Jl. Pantai Serangan 3, Denpasar",
            "partnerType": "company",
            "commission_rate": 8.5,
        },
        show="partner: id, status",
    )
    j.sample("resend_invitation", j.admin, invited["id"])
    j.sample(
        "update_partner",
        j.admin,
        invited["id"],
        body={
            "name": "Nusa Laut",
            "email": "kontak@nusalaut.example",
            "phone": "081239887766",
            "address": "Jl. Pantai Serangan 7, Denpasar",
            "partnerType": "company",
        },
        show="partner: name, address",
    )
    id = j.partner_id("made@bahari.example")
    j.sample("edit_partner", j.admin, id, show="partner: name, business.legal_name")
    j.sample("partner_overview", j.admin, id, show="overview: mitra.name, fleet, bookings")
    other = j.partner_id("maria@bunaken.example")
    j.sample(
        "suspend_partner",
        j.admin,
        other,
        body={"reason": "The sailing permit has expired"},
        show="partner: name, status",
    )
    j.sample("unsuspend_partner", j.admin, other, show="partner: name, status")
    j.sample("impersonate_partner", j.admin, id, show="session: user.name, expires_in")


def crew(j: Journey) -> None:
    member = j.sample(
        "invite_crew",
        j.partner,
        body={
            "name": "Kadek Ardana",
            "email": "kadek@bahari.example",
            "phone": "081246813579",
        },
        show="member: id, invited",
    )
    j.sample("list_crew", j.partner, show="member: name, email, invited")
    j.service.let_invitation_age(member["id"])
    j.sample("resend_crew_invitation", j.partner, member["id"])
    j.sample("remove_crew", j.partner, member["id"])


def boats(j: Journey) -> None:
    form = {
        "name": "Bahari Express 4",
        "registration_number": "GT.1-4",
        "capacity": 48,
        "year_built": 2024,
        "manufacturer": "Karya Bahari",
        "engine": "3 x 250 HP",
        "facilities": ["Life jackets", "Toilet", "AC"],
    }
    made = j.sample(
        "create_speedboat", j.partner, body=form, show="boat: id, name, capacity, status"
    )
    j.sample("get_speedboat", j.partner, made["id"], show="boat: name, capacity, status")
    j.sample(
        "update_speedboat",
        j.partner,
        made["id"],
        body={**form, "capacity": 50, "status": "active"},
        show="boat: name, capacity, status",
    )
    j.sample("list_own_speedboats", j.partner, show="boat: name, registration_number")
    j.sample(
        "list_speedboats",
        j.admin,
        query={"status": "active"},
        show="boat: name, mitra.name, capacity",
    )
    j.sample("speedboat_summary", j.partner, show="fleet: total, total_capacity, upcoming_sailings")
    sold = {"name": "Bahari Tua", "registration_number": "GT.1-0", "capacity": 30}
    old = j.call("create_speedboat", j.partner, body=sold)
    j.sample("delete_speedboat", j.partner, old["id"])


def routes(j: Journey) -> None:
    boat = j.call("list_own_speedboats", j.partner, query={"search": "Bahari Express 4"})[0]
    form = {
        "speedboat_id": boat["id"],
        "from": "Sanur",
        "to": "Nusa Penida",
        "schedule_type": "daily",
        "start_date": j.day(7),
        "end_date": j.day(20),
        "price": 165_000,
        "times": [{"departure_time": "09:00", "arrival_time": "09:45"}],
    }
    made = j.sample("create_route", j.partner, body=form, show="route: id, from, to, status")
    id = made["id"]
    j.sample("get_route", j.partner, id, show="route: from, to, status")
    j.sample(
        "update_route",
        j.partner,
        id,
        body={
            **form,
            "times": [
                {"departure_time": "09:00", "arrival_time": "09:45"},
                {"departure_time": "15:00", "arrival_time": "15:45", "price": 150_000},
            ],
        },
        show="time in route.times: departure_time, arrival_time",
    )
    j.sample("publish_route_by_post", j.partner, id, show="route: status, published_at")
    back = {**form, "from": "Nusa Penida", "to": "Sanur"}
    back["times"] = [{"departure_time": "11:00", "arrival_time": "11:45"}]
    second = j.call("create_route", j.partner, body=back)
    j.sample("publish_route", j.partner, second["id"], show="route: status, published_at")
    third = j.call("create_route", j.partner, body=form)
    j.sample("delete_route", j.partner, third["id"])
    j.sample(
        "list_routes",
        j.partner,
        query={"status": "published"},
        show="route: from, to, speedboat.name, price",
    )
    sailings = j.sample(
        "list_sailings",
        j.partner,
        id,
        query={"start_date": j.day(7), "end_date": j.day(9)},
        show="sailing: departure_at, seats_taken, capacity",
    )
    j.sample(
        "extend_route",
        j.partner,
        id,
        body={"end_date": j.day(27)},
        show="route: start_date, end_date",
    )
    j.sample(
        "update_sailings",
        j.partner,
        id,
        body={
            "start_date": j.day(7),
            "end_date": j.day(20),
            "departure_times": ["09:00"],
            "set": {"price": 175_000},
        },
        show="result: changed, skipped_count",
    )
    j.sample(
        "update_sailing",
        j.partner,
        sailings[0]["id"],
        body={
            "departure_time": "09:30",
            "arrival_time": "10:15",
            "reason": "Low tide in the morning",
        },
        show="sailing: departure_at, arrival_at, moved_bookings",
    )
    j.sample(
        "cancel_sailing",
        j.partner,
        sailings[1]["id"],
        body={"reason": "High waves, the harbour master has closed the strait"},
        show="sailing: status, bookings",
    )


def lines(j: Journey) -> None:
    found = j.sample("list_lines", j.partner, show="line: from, to, cutoff_minutes")
    line = next(line for line in found if line["from"] == "Sanur")
    j.sample("get_line", j.partner, line["id"], show="fare in line.fares: key, price")
    j.sample(
        "update_line",
        j.partner,
        line["id"],
        body={"cutoff_minutes": 30, "resale": True, "max_party": 10},
        show="line: cutoff_minutes, resale, max_party",
    )


def boarding(j: Journey) -> None:
    sailing = departing_soon(j)
    codes = boarding_codes(j, sailing)
    id = sailing["id"]
    j.sample(
        "list_route_times",
        j.crew,
        query={"start_date": j.day(3), "end_date": j.day(3)},
        show="sailing: departure_at, speedboat.name, seats_taken",
    )
    j.sample("get_route_time", j.crew, id, show="sailing: departure_at, checked_in, seats_taken")
    j.sample("get_manifest", j.partner, id, show="passenger in manifest.passengers: name, fare")
    j.sample("check_in", j.crew, id, body={"ticket_code": codes[0]}, show="admitted:")
    j.sample(
        "undo_check_in",
        j.crew,
        id,
        body={"ticket_code": codes[0], "reason": "Wrong passenger"},
        show="passenger: passenger_name, booking_code",
    )
    j.sample("close_manifest", j.crew, id, show="manifest: closed_at, totals")
    j.sample(
        "reopen_manifest",
        j.crew,
        id,
        body={"reason": "Two passengers arrived late"},
        show="manifest: closed_at, totals",
    )


def departing_soon(j: Journey) -> Any:
    """A sailing whose manifest can be closed, on a boat of its own."""
    boat = {"name": "Bahari Cepat", "registration_number": "GT.1-9", "capacity": 30}
    made = j.call("create_speedboat", j.partner, body=boat)
    departs = datetime.now(MAKASSAR) + timedelta(minutes=100)
    arrives = departs + timedelta(minutes=45)
    day = departs.date().isoformat()
    times = {"departure_time": f"{departs:%H:%M}", "arrival_time": f"{arrives:%H:%M}"}
    form = {
        "speedboat_id": made["id"],
        "from": "Sanur",
        "to": "Nusa Penida",
        "schedule_type": "once",
        "start_date": day,
        "end_date": day,
        "price": 150_000,
        "times": [times],
    }
    route = j.call("create_route", j.partner, body=form)
    j.call("publish_route_by_post", j.partner, route["id"])
    [sailing] = j.call("list_sailings", j.partner, route["id"])
    j.stable.stand_in(sailing["departure_at"], "2026-12-01T03:30:00Z")
    j.stable.stand_in(sailing["arrival_at"], "2026-12-01T04:15:00Z")
    return {**sailing, "speedboat_id": made["id"]}


def boarding_codes(j: Journey, sailing: Any) -> list[str]:
    """The tickets of two passengers who have paid."""
    body = {
        "type": "speedboat",
        "item_id": sailing["speedboat_id"],
        "route_time_id": sailing["id"],
        "qty": 2,
        "contact": {
            "name": "Putu Wirawan",
            "email": "putu.wirawan@example.com",
            "phone": "081353344556",
        },
        "passengers": [
            {"name": "Putu Wirawan", "fare": "adult_domestic"},
            {"name": "Luh Suryani", "fare": "adult_domestic"},
        ],
    }
    booking = j.call("create_booking", GUEST, body=body)
    j.call("payment_callback", GUEST, body=j.notice(booking, "qris"))
    query = {"code": booking["code"], "email": "putu.wirawan@example.com"}
    paid = j.call("get_booking", GUEST, booking["id"], query=query)
    return [passenger["ticket_code"] for passenger in paid["passengers"]]
