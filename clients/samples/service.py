"""A service with the demo's data, in a folder and a process of its own."""

from __future__ import annotations

import email
import email.policy
import http.client
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BINARY = Path(__file__).resolve().parents[2] / "target" / "debug" / "dermaga"
# Callbacks are signed with these keys.
PAYMENT_KEY = "SB-Mid-server-samples"
PAYOUT_TOKEN = "payout-callback-token-of-the-samples"
# Environment variables that samples read besides the address and the token.
SECRETS = {"XENDIT_CALLBACK_TOKEN": PAYOUT_TOKEN}
READY_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    address: str,
    method: str,
    target: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request(method, target, body, dict(headers or {}))
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())
    finally:
        connection.close()


def binary() -> str:
    return str(Path(os.environ.get("SERVICE_BINARY", BINARY)).resolve())


def settings(folder: Path, address: str, payouts: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("DERMAGA_")}
    return own | {
        "DERMAGA_DATA_DIR": str(folder / "data"),
        "DERMAGA_LISTEN": address,
        "DERMAGA_LOG": "error",
        "DERMAGA_RATE_LIMIT": "off",
        "DERMAGA_PAYMENT_SERVER_KEY": PAYMENT_KEY,
        "DERMAGA_REFUNDS": "auto",
        "DERMAGA_PAYOUTS": "xendit",
        "DERMAGA_PAYOUT_KEY": "xnd_development_samples",
        "DERMAGA_PAYOUT_CALLBACK_KEY": PAYOUT_TOKEN,
        "DERMAGA_PAYOUT_URL": payouts,
        "DERMAGA_WEBHOOK_PRIVATE_ADDRESSES": "on",
    }


def make_demo(folder: Path) -> None:
    """Fills the database of a folder, which services are then copies of."""
    folder.mkdir(parents=True)
    subprocess.run(
        [binary(), "demo", "--days", "2"],
        cwd=folder,
        env=settings(folder, "127.0.0.1:1", "http://127.0.0.1:1"),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class Service:
    """A running copy of the demo."""

    def __init__(self, demo: Path, folder: Path, payouts: str) -> None:
        shutil.copytree(demo, folder)
        self.folder = folder
        self.address = free_address()
        self.url = f"http://{self.address}"
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [binary()],
                cwd=folder,
                env=settings(folder, self.address, payouts),
                stdout=log,
                stderr=log,
            )
        try:
            self.wait()
        except BaseException:
            self.stop()
            raise

    def wait(self) -> None:
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if request(self.address, "GET", "/health/ready").status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        log = (self.folder / "log").read_text(errors="replace")
        raise RuntimeError(f"the service does not start: {log}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def mailed_token(self, address: str, page: str, count: int = 1) -> str:
        """The token of the newest of so many mails to an address that link to a page."""
        link = re.compile(rf"/{page}\?token=([\w.~-]+)")
        texts = self.mails(address, count, link)
        found = link.search(texts[-1])
        assert found
        return found[1]

    def mails(self, address: str, count: int, having: re.Pattern[str]) -> list[str]:
        """Waits for so many mails to an address."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = []
            # Their names are ids, in the order in which they were made.
            for file in sorted((self.folder / "data" / "mail").glob("*.eml")):
                raw = file.read_bytes()
                if address.encode() not in raw:
                    continue
                mail = email.message_from_bytes(raw, policy=email.policy.default)
                text = mail.get_body(("plain",))
                content = text.get_content() if text else ""
                if address in mail["To"] and having.search(content):
                    found.append(content)
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise RuntimeError(f"fewer than {count} mails to {address}")

    def wait_for_events(self) -> None:
        """Until everybody has been notified of what has happened."""
        query = "SELECT COUNT(*) FROM outbox WHERE queue = 'event' AND dead_at IS NULL"
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with closing(self.database()) as database:
                [(waiting,)] = database.execute(query).fetchall()
            if not waiting:
                return
            time.sleep(0.05)
        raise RuntimeError("events are not delivered")

    def transfer_of(self, column: str, id: str) -> str:
        """The transfer of a refund or settlement, which the API does not tell."""
        query = f"SELECT id FROM transfers WHERE {column} = ?"
        with closing(self.database()) as database:
            [(found,)] = database.execute(query, (uuid.UUID(id).bytes,)).fetchall()
        return str(uuid.UUID(bytes=found))

    def let_invitation_age(self, account: str) -> None:
        """As if the invitation of a crew member had been sent long ago."""
        update = "UPDATE crew SET invited_at = ? WHERE account_id = ?"
        with closing(self.database()) as database, database:
            database.execute(update, ("2020-01-01T00:00:00+00:00", uuid.UUID(account).bytes))

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / "data" / "dermaga.db", timeout=30)
