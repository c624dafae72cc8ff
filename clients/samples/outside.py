"""What is outside of the service: the provider of payouts, and a receiver of webhooks."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOOKS = "/hooks"


class Outside:
    """Pays everything out, like Xendit, and accepts every webhook."""

    def __init__(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = parse_qs(address.query).get("reference_id")
        reference = asked[0] if asked else address.path.rsplit("disb-", 1)[-1]
        found = payout(reference, "SUCCEEDED")
        self.answer({"data": [found], "has_more": False} if asked else found)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == HOOKS:
            self.answer({})
        else:
            self.answer(payout(json.loads(body)["reference_id"], "ACCEPTED"))

    def answer(self, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: object) -> None:
        pass


def payout(reference: str, status: str) -> dict[str, Any]:
    return {"id": f"disb-{reference}", "reference_id": reference, "status": status}
