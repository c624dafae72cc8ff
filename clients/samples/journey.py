"""The journey: calls that build on each other, one sample for every operation."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from calls import KEY, OPERATIONS, Call, Show, Upload
from outside import Outside
from service import PAYMENT_KEY, SECRETS, Answer, Service, request
from stable import Stable

PASSWORD = "dermaga demo 2026"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
# The service counts its days in this zone.
JAKARTA = timezone(timedelta(hours=7))
MAKASSAR = timezone(timedelta(hours=8))


@dataclass(frozen=True)
class Account:
    email: str
    token: str


@dataclass(frozen=True)
class Line:
    """Where a boat of the demo sails."""

    start: str
    end: str
    boat: str


SANUR = Line("Sanur", "Nusa Penida", "Bahari Express 1")
PADANG_BAI = Line("Padang Bai", "Gili Trawangan", "Gili Samudra")

GUEST = None
Caller = Account | None


class Runner(Protocol):
    """Carries out calls of samples."""

    def run(self, call: Call, token: str | None) -> Answer: ...


class Refused(Exception):
    """An answer other than 2xx."""


@dataclass(frozen=True)
class Taken:
    """A sample and the answer to it."""

    call: Call
    answer: Answer


class Direct:
    """Sends calls itself."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address = address
        self.folder = folder

    def run(self, call: Call, token: str | None, *, keyed: bool = True) -> Answer:
        headers = {"User-Agent": BROWSER}
        headers |= {name: SECRETS[variable] for name, variable in call.headers.items()}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        # A preparation may repeat an operation, and has no key.
        if keyed and call.key:
            headers[KEY] = call.key
        body = None
        if isinstance(call.body, Upload):
            headers["Content-Type"] = call.body.content_type
            body = (self.folder / call.body.name).read_bytes()
        elif call.operation.body_kind == "form":
            body, headers["Content-Type"] = self.form(call.body)
        elif call.body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(call.body).encode()
        if call.operation.answer.kind == "events":
            connection = http.client.HTTPConnection(self.address, timeout=60)
            connection.request(call.operation.method, call.target, headers=headers)
            event = first_event(connection.getresponse())
            connection.close()
            return Answer(200, {"content-type": "text/event-stream"}, event)
        return request(self.address, call.operation.method, call.target, headers, body)

    def form(self, body: Mapping[str, Any]) -> tuple[bytes, str]:
        boundary = uuid.uuid4().hex
        parts = b""
        for name, value in body.items():
            parts += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'.encode()
            if isinstance(value, Upload):
                parts += f'; filename="{value.name}"\r\n'.encode()
                parts += f"Content-Type: {value.content_type}\r\n\r\n".encode()
                parts += (self.folder / value.name).read_bytes()
            else:
                parts += f"\r\n\r\n{value}".encode()
            parts += b"\r\n"
        return parts + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


@contextmanager
def repeating(action: Callable[[], object] | None) -> Iterator[None]:
    ended = threading.Event()

    def repeat() -> None:
        while action and not ended.wait(0.5):
            action()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def first_event(lines: Iterable[bytes]) -> bytes:
    """The data of the first server-sent event."""
    data = b""
    for line in lines:
        if line.startswith(b"data:"):
            data += line[5:].strip()
        elif not line.strip() and data:
            return data
    raise Refused("the stream ended without an event")


class Journey:
    """Takes samples by a runner. What prepares them is sent directly."""

    def __init__(
        self, service: Service, outside: Outside, work: Path, runner: Runner | None = None
    ) -> None:
        self.service = service
        self.outside = outside
        self.direct = Direct(service.address, work)
        self.runner = runner or self.direct
        self.taken: dict[str, Taken] = {}
        self.accounts: dict[str, Account] = {}
        started = datetime.now(timezone.utc)
        self.today = started.astimezone(JAKARTA).date()
        self.stable = Stable(self.today, started, service.url)

    def sample(
        self,
        operation: str,
        by: Caller,
        *path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        show: str = "",
        meanwhile: Callable[[], object] | None = None,
    ) -> Any:
        """Takes the sample of an operation and returns the data of its answer.

        `meanwhile` happens while the sample runs, again and again until it has ended.
        """
        if operation in self.taken:
            raise RuntimeError(f"two samples of {operation}")
        call = self.made(operation, by, path, body, query, headers, show)
        with repeating(meanwhile):
            answer = self.runner.run(call, by.token if by else None)
        self.taken[operation] = Taken(call, answer)
        return self.data(call, answer)

    def call(
        self,
        operation: str,
        by: Caller,
        *path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """Prepares a sample: calls an operation and returns the data of its answer."""
        call = self.made(operation, by, path, body, query, None, "")
        answer = self.direct.run(call, by.token if by else None, keyed=False)
        return self.data(call, answer)

    def made(
        self,
        operation: str,
        by: Caller,
        path: tuple[str, ...],
        body: Any,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
        show: str,
    ) -> Call:
        described = OPERATIONS[operation]
        placed = dict(zip(described.path_parameters, path, strict=True))
        return Call(
            described, by is not None, placed, query or {}, headers or {}, body, Show.parse(show)
        )

    def data(self, call: Call, answer: Answer) -> Any:
        if not 200 <= answer.status < 300:
            text = answer.body.decode(errors="replace")
            sent = json.dumps(call.body, default=str)
            raise Refused(f"{call.operation.id}: {answer.status} {text}\n{call.target} {sent}")
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json().get("data") if is_json else None

    def sign_in(self, email: str, password: str = PASSWORD) -> Account:
        body = {"email": email, "password": password, "role": "any"}
        return Account(email, self.call("login", GUEST, body=body)["access_token"])

    def account(self, email: str) -> Account:
        """A session that samples share."""
        if email not in self.accounts:
            self.accounts[email] = self.sign_in(email)
        return self.accounts[email]

    @property
    def admin(self) -> Account:
        return self.account("admin@dermaga.example")

    @property
    def finance(self) -> Account:
        """Of the staff: settlements and books."""
        return self.account("dian@dermaga.example")

    @property
    def editor(self) -> Account:
        """Of the staff: partners and texts."""
        return self.account("rahma@dermaga.example")

    @property
    def partner(self) -> Account:
        return self.account("made@bahari.example")

    @property
    def crew(self) -> Account:
        return self.account("nyoman@bahari.example")

    @property
    def reseller(self) -> Account:
        return self.account("agen@wisatakuta.example")

    def day(self, days: int) -> str:
        """Days from today."""
        return (self.today + timedelta(days=days)).isoformat()

    def month(self, months: int) -> str:
        """Months from the current one."""
        count = self.today.year * 12 + self.today.month - 1 + months
        return date(count // 12, count % 12 + 1, 1).strftime("%Y-%m")

    def partner_id(self, email: str) -> str:
        found = self.call("list_partners", self.admin, query={"search": email})
        id: str = found[0]["id"]
        return id

    def sailing(self, days: int, line: Line = SANUR) -> Any:
        """The first sailing of a boat on a day."""
        body = {"from": line.start, "to": line.end, "date": self.day(days), "qty": 4}
        offers = self.call("search_sailings", GUEST, body=body)
        return next(offer for offer in offers if offer["speedboat"]["name"] == line.boat)

    def booking(
        self, days: int, name: str, email: str, by: Caller = GUEST, line: Line = SANUR
    ) -> Any:
        """An unpaid booking of one passenger."""
        sailing = self.sailing(days, line)
        body = {
            "type": "speedboat",
            "item_id": sailing["item_id"],
            "route_time_id": sailing["route_time_id"],
            "qty": 1,
            "contact": {"name": name, "email": email, "phone": "081234567890"},
            "passengers": [{"name": name, "fare": "adult_domestic"}],
        }
        return self.call("create_booking", by, body=body)

    def paid_booking(self, days: int, name: str, email: str, method: str = "bank_transfer") -> Any:
        booking = self.booking(days, name, email)
        self.call("payment_callback", GUEST, body=self.notice(booking, method))
        return booking

    def notice(self, booking: Any, method: str, amount: int | None = None) -> dict[str, str]:
        """What the payment provider sends when a booking was paid."""
        reference = booking["payment"]["reference"]
        gross = f"{booking['price']['total'] if amount is None else amount}.00"
        signed = f"{reference}200{gross}{PAYMENT_KEY}"
        return {
            "order_id": reference,
            "status_code": "200",
            "transaction_status": "settlement",
            "gross_amount": gross,
            "transaction_id": f"trx-{reference}",
            "payment_type": method,
            "fraud_status": "accept",
            "signature_key": hashlib.sha512(signed.encode()).hexdigest(),
        }

    def press(self, address: str, action: str) -> None:
        """Presses a button on a page of the payment simulator."""
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        form = urlencode({"action": action}).encode()
        answer = request(self.service.address, "POST", urlsplit(address).path, headers, form)
        if answer.status != 200:
            raise Refused(f"{address}: {answer.status}")


def code_of(secret: str, at: float) -> str:
    """The code of an authenticator app (RFC 6238) at a time."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, int(at // 30).to_bytes(8, "big"), "sha1").digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFF_FFFF
    return f"{number % 1_000_000:06d}"
