"""Calls of the running service."""

from __future__ import annotations

import base64
import contextlib
import csv
import inspect
import io
import json
import re
import unittest
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support import ADMIN, DAY, PARTNER, PASSWORD, ServiceTest, booking_form, pay

from dermaga import (
    ConflictError,
    Dermaga,
    File,
    ForbiddenError,
    NotFoundError,
    Page,
    UnauthenticatedError,
    ValidationError,
    types,
)

ROOT = Path(__file__).resolve().parents[3]
NOBODY = "00000000-0000-7000-8000-000000000000"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


class Signing(ServiceTest):
    def test_sign_in_and_out(self) -> None:
        sessions: list[object] = []
        client = self.guest(on_session=sessions.append)
        answer = client.sign_in(ADMIN, PASSWORD, role="admin")
        self.assertEqual(answer["user"]["email"], ADMIN)
        self.assertEqual(client.accounts.get_profile()["email"], ADMIN)
        client.sign_out()
        self.assertIsNone(client.session)
        self.assertEqual(len(sessions), 2)
        with self.assertRaises(UnauthenticatedError):
            client.accounts.get_profile()

    def test_wrong_password(self) -> None:
        client = self.guest()
        with self.assertRaises(UnauthenticatedError) as caught:
            client.sign_in(ADMIN, "not the password")
        self.assertEqual(caught.exception.code, "invalid_credentials")
        self.assertIsNone(client.session)


class Lists(ServiceTest):
    def setUp(self) -> None:
        self.client = self.signed_in()

    def test_all_items_of_all_pages(self) -> None:
        # The oldest first: bookings that other tests make come last.
        first = self.client.bookings.list(page_size=25, sort_by="created_at", sort_dir="asc")
        self.assertEqual(len(first.items), 25)
        self.assertGreater(first.pagination["total_pages"], 3)
        ids = [booking["id"] for booking in first.all()]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreaterEqual(len(ids), first.pagination["total_items"])

    def test_from_a_page_on(self) -> None:
        everything = list(self.client.harbours.list(page_size=10).all())
        rest = list(self.client.harbours.list(page_size=10, page=2).all())
        self.assertEqual([h["id"] for h in rest], [h["id"] for h in everything[10:]])

    def test_an_empty_page_is_the_end(self) -> None:
        page = self.client.bookings.list(page=1000)
        self.assertEqual(list(page.all()), [])
        self.assertIsNone(page.next())

    def test_filters(self) -> None:
        due = self.client.bookings.list(refund_due=True, channel="web").items
        self.assertGreater(len(due), 0)
        self.assertEqual({(b["channel"], b["owed"] > 0) for b in due}, {("web", True)})

    def test_items_inside_of_data(self) -> None:
        page = self.client.staff.list(page_size=1)
        self.assertEqual(len(page.items), 1)
        self.assertGreater(page.body["data"]["summary"]["total"], 1)
        self.assertEqual(len(list(page.all())), page.body["data"]["summary"]["total"])

    def test_page_number_in_the_body(self) -> None:
        form: types.SearchForm = {"from": "Sanur", "to": "Nusa Penida", "date": DAY, "qty": 1}
        found = list(self.client.routes.search_sailings(form).all())
        form["page_size"] = 2
        pages = list(self.client.routes.search_sailings(form).pages())
        self.assertGreater(len(pages), 1)
        self.assertEqual([offer for page in pages for offer in page.items], found)


class Bookings(ServiceTest):
    def setUp(self) -> None:
        self.client = self.guest()
        self.form = booking_form(self.client)

    def bookings_of_guest(self) -> list[types.Booking]:
        return self.signed_in().bookings.list(search=self.form["contact"]["email"]).items

    def test_the_same_key_makes_one_booking(self) -> None:
        key = str(uuid.uuid4())
        first = self.client.bookings.create(self.form, idempotency_key=key)
        second = self.client.bookings.create(self.form, idempotency_key=key)
        self.assertEqual(first["id"], second["id"])
        self.assertEqual(len(self.bookings_of_guest()), 1)
        other: types.BookingForm = {**self.form, "note": "Another request"}
        with self.assertRaises(ConflictError) as caught:
            self.client.bookings.create(other, idempotency_key=key)
        self.assertEqual(caught.exception.code, "idempotency_conflict")

    def test_every_call_has_a_key_of_its_own(self) -> None:
        self.client.bookings.create(self.form)
        self.client.bookings.create(self.form)
        self.assertEqual(len(self.bookings_of_guest()), 2)

    def test_paid_ticket_and_cancellation(self) -> None:
        booking = self.client.bookings.create(self.form)
        self.assertEqual(booking["status"], "pending_payment")
        pay(booking)
        id, code, email = booking["id"], booking["code"], self.form["contact"]["email"]
        booking = self.client.bookings.get(id, code=code, email=email)
        self.assertEqual(booking["status"], "paid")

        ticket = self.client.tickets.get(id, code=code, email=email)
        self.assertEqual(ticket.content_type, "application/pdf")
        self.assertTrue(ticket.content.startswith(b"%PDF"))

        cancelled = self.client.bookings.cancel(
            id, {"code": code, "email": email, "reason": "Fog"}
        )
        self.assertEqual(cancelled["status"], "refund_pending")

    def test_the_example_of_the_readme(self) -> None:
        folder = Path(__file__).resolve().parent.parent
        example = (folder / "examples" / "booking.py").read_text()
        self.assertIn(example, (folder / "README.md").read_text())
        module: dict[str, Any] = {"__name__": "example"}
        exec(compile(example, "booking.py", "exec"), module)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(module["book"](self.client, DAY), "cancelled")
        self.assertIn("pending_payment", printed.getvalue())


class Errors(ServiceTest):
    def test_invalid_fields(self) -> None:
        client = self.guest()
        form = booking_form(client)
        form["contact"]["email"] = "nobody"
        form["passengers"] = [{"name": ""}]
        with self.assertRaises(ValidationError) as caught:
            client.bookings.create(form)
        error = caught.exception
        self.assertEqual((error.status, error.code), (422, "validation_failed"))
        self.assertEqual(
            {fault["field"] for fault in error.fields}, {"contact.email", "passengers[0].name"}
        )
        self.assertTrue(error.request_id)

    def test_messages_in_indonesian(self) -> None:
        with self.assertRaises(NotFoundError) as caught:
            self.signed_in(language="id").bookings.get(NOBODY)
        self.assertEqual(caught.exception.message, "Tidak ditemukan.")

    def test_not_found(self) -> None:
        with self.assertRaises(NotFoundError) as caught:
            self.signed_in().bookings.get(NOBODY)
        self.assertEqual((caught.exception.status, caught.exception.code), (404, "not_found"))

    def test_forbidden(self) -> None:
        with self.assertRaises(ForbiddenError):
            self.signed_in(PARTNER).accounts.list_users()


class Files(ServiceTest):
    def setUp(self) -> None:
        self.client = self.signed_in()

    def test_upload_and_download_of_an_image(self) -> None:
        image = File("Kapal cepat é.png", PIXEL, "image/png")
        record = self.client.files.upload({"file": image, "purpose": "photo"})
        self.assertEqual((record["filename"], record["status"]), (image.name, "ready"))
        found = self.client.files.download(record["id"])
        self.assertEqual((found.name, found.content_type), (image.name, "image/png"))
        self.assertTrue(found.content.startswith(b"\x89PNG"))
        self.assertEqual(len(found.content), record["size"])

    def test_upload_to_a_signed_address(self) -> None:
        image = File("boat.png", PIXEL, "image/png")
        signed = self.client.files.presign_url(
            filename=image.name, content_type="image/png", size=len(PIXEL), purpose="photo"
        )
        query = parse_qs(urlsplit(signed["upload_url"]).query)
        record = self.guest().files.receive(
            signed["file_id"], image, expires=query["expires"][0], signature=query["signature"][0]
        )
        self.assertEqual(record["status"], "ready")

    def test_csv(self) -> None:
        file = self.client.bookings.list_file("csv", status="completed")
        self.assertEqual((file.name, file.content_type), ("bookings.csv", "text/csv"))
        rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
        listed = self.client.bookings.list(status="completed")
        self.assertEqual(len(rows), listed.pagination["total_items"])
        self.assertIn(listed.items[0]["code"], {row["code"] for row in rows})

    def test_xlsx_and_pdf(self) -> None:
        sheet = self.client.finance.get_trial_balance_file("xlsx")
        self.assertTrue(sheet.content.startswith(b"PK"))
        sailing = self.client.boarding.list_route_times(page_size=1).items[0]
        manifest = self.client.boarding.get_manifest_file(sailing["id"], "pdf")
        self.assertTrue(manifest.content.startswith(b"%PDF"))


class Coverage(ServiceTest):
    """Every operation of the document has a method, and those that need nothing can be called."""

    def test_all_operations(self) -> None:
        client, partner = self.signed_in(), self.signed_in(PARTNER)
        document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
        methods = methods_of(client)
        operations = {
            operation["operationId"]: verb
            for path in document["paths"].values()
            for verb, operation in path.items()
        }
        self.assertEqual(methods.keys(), operations.keys())

        called = 0
        for operation, verb in operations.items():
            method = methods[operation]
            required = [
                parameter
                for parameter in inspect.signature(method).parameters.values()
                if parameter.default is parameter.empty
            ]
            # The stream does not end.
            if verb != "get" or required or operation == "stream_notifications":
                continue
            if operation in ("get_onboarding", "list_crew", "list_own_speedboats"):
                method = methods_of(partner)[operation]
            with self.subTest(operation):
                answer = method()
                called += 1
                if isinstance(answer, Page):
                    self.assertEqual(answer.pagination["page"], 1)
                else:
                    self.assertIsInstance(answer, (dict, list, type(None)))
        self.assertGreater(called, 40)


def methods_of(client: Dermaga) -> dict[str, Callable[..., Any]]:
    """The methods by operation."""
    methods: dict[str, Callable[..., Any]] = {}
    for group in vars(client).values():
        for name, method in inspect.getmembers(group, inspect.ismethod):
            found = re.search(r"operation\s+`(\w+)`", method.__doc__ or "")
            if found and not name.endswith("_file"):
                methods[found[1]] = method
    return methods


if __name__ == "__main__":
    unittest.main()
