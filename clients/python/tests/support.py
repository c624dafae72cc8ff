"""The running service, and a proxy in front of it that fails on purpose."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import threading
import unittest
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from dermaga import Dermaga, types

URL = os.environ["DERMAGA_URL"]
ADMIN = "admin@dermaga.example"
PARTNER = "made@bahari.example"
PASSWORD = "dermaga demo 2026"
DAY = (date.today() + timedelta(days=3)).isoformat()


class ServiceTest(unittest.TestCase):
    def guest(self, url: str = URL, **settings: Any) -> Dermaga:
        client = Dermaga(url, **settings)
        self.addCleanup(client.close)
        return client

    def signed_in(self, email: str = ADMIN, url: str = URL, **settings: Any) -> Dermaga:
        client = self.guest(url, **settings)
        client.sign_in(email, PASSWORD)
        return client


def booking_form(client: Dermaga) -> types.BookingForm:
    """A booking of a guest of its own, on the emptiest sailing of the partner."""
    sailings = client.routes.search_sailings(
        {"from": "Sanur", "to": "Nusa Penida", "date": DAY, "qty": 1}
    )
    of_partner = [s for s in sailings.items if s["mitra"]["name"] == "Bahari Express"]
    sailing = max(of_partner, key=lambda sailing: sailing["available_seats"])
    return {
        "type": "speedboat",
        "item_id": sailing["item_id"],
        "route_time_id": sailing["route_time_id"],
        "qty": 1,
        "contact": {
            "name": "Sari Dewi",
            "email": f"{uuid.uuid4().hex}@example.com",
            "phone": "081234567890",
        },
        "passengers": [{"name": "Sari Dewi"}],
    }


def pay(booking: types.Booking) -> None:
    """Pays on the page of the payment simulator."""
    payment = booking.get("payment")
    assert payment
    address = payment.get("redirect_url")
    assert address
    urlopen(address, urlencode({"action": "pay"}).encode()).close()


@dataclass
class Seen:
    """A request as the proxy has received it."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Reply:
    """An answer that the proxy gives itself."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(status: int, error: str, **headers: str) -> Reply:
    """An error of the service."""
    body = {"status": "error", "code": status, "message": error, "error": error}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, {**body, "request_id": "r-1"}, named)


LOSE_REQUEST = "lose the request"
LOSE_ANSWER = "lose the answer"
CUT_STREAM = "cut after the first event"
HANG = "hang"


class Proxy:
    """Forwards requests to the service. Each entry of `faults` is what happens to one request."""

    def __init__(self) -> None:
        self.faults: list[str | Reply] = []
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        handler = type("Bound", (Handler,), {"proxy": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.proxy.seen.append(Seen(self.command, self.path, dict(self.headers), body))
        fault = self.proxy.faults.pop(0) if self.proxy.faults else None
        if isinstance(fault, Reply):
            self.reply(fault)
        elif fault == LOSE_REQUEST:
            self.cut()
        elif fault == HANG:
            self.proxy.closing.wait(5)
            self.cut()
        else:
            self.forward(body, fault)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request

    def reply(self, reply: Reply) -> None:
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def forward(self, body: bytes, fault: str | None) -> None:
        url = urlsplit(URL)
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
        with contextlib.closing(connection):
            self.pass_on(connection, body, fault)

    def pass_on(
        self, connection: http.client.HTTPConnection, body: bytes, fault: str | None
    ) -> None:
        headers = {name: value for name, value in self.headers.items() if name != "Connection"}
        connection.request(self.command, self.path, body or None, headers)
        response = connection.getresponse()
        if fault == LOSE_ANSWER:
            response.read()
            self.cut()
            return
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name not in ("transfer-encoding", "content-length", "connection", "date"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        for line in response:
            self.wfile.write(line)
            if fault == CUT_STREAM and line.startswith(b"data:"):
                self.wfile.write(b"\n")
                break
        self.close_connection = True

    def cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        pass
