"""Run samples in their languages, through a proxy that keeps what was sent and answered."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from calls import CLIENTS, Call
from journey import Direct, first_event
from record import languages
from render import HELPERS, LANGUAGES
from service import SECRETS, Answer

TOOLS = Path(os.environ.get("CLIENT_TOOLS", CLIENTS.parent / "target" / "client-tools"))
NODE = Path(__file__).resolve().parent / "runner.mjs"
SECONDS = 60
HOP_BY_HOP = {"host", "connection", "accept-encoding", "transfer-encoding", "content-length"}


class SampleFailed(Exception):
    pass


@dataclass(frozen=True)
class Exchange:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    answer: Answer


class Proxy:
    def __init__(self, address: str) -> None:
        self.address = address
        self.exchanges: list[Exchange] = []
        handler = type("Bound", (Handler,), {"proxy": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"
    # Small answers are sent at once.
    disable_nagle_algorithm = True
    wbufsize = -1

    def forward(self) -> None:
        body = self.received()
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP
        }
        service = http.client.HTTPConnection(self.proxy.address, timeout=SECONDS)
        service.request(self.command, self.path, body or None, headers)
        answer = service.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)

        def keep(content: bytes) -> None:
            kept = Answer(answer.status, found, content)
            exchange = Exchange(self.command, self.path, dict(self.headers), body, kept)
            self.proxy.exchanges.append(exchange)

        # The exchange is kept before the sample has the answer, and can end.
        if found.get("content-type", "").startswith("text/event-stream"):
            self.stream(answer, keep)
        else:
            content = answer.read()
            keep(content)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        service.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def received(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def stream(self, answer: Iterable[bytes], keep: Callable[[bytes], None]) -> None:
        """Up to the first event, after which samples end."""
        self.close_connection = True
        self.send_header("Connection", "close")
        self.end_headers()
        lines = []
        for line in answer:
            lines.append(line)
            is_event = not line.strip() and any(part.startswith(b"data:") for part in lines)
            if is_event:
                keep(first_event(lines))
            self.wfile.write(line)
            self.wfile.flush()
            if is_event:
                return

    def log_message(self, format: str, *values: object) -> None:
        pass


class Samples:
    """Runs the samples of one language."""

    language: str

    def __init__(self, address: str, work: Path) -> None:
        self.proxy = Proxy(address)
        self.work = work
        self.direct = Direct(address, work)
        self.texts: dict[str, str] = {}

    def run(self, call: Call, token: str | None) -> Answer:
        if self.language not in languages(call.operation.id):
            return self.direct.run(call, token)
        text = LANGUAGES[self.language](call)
        self.texts[call.operation.id] = text
        self.proxy.exchanges.clear()
        try:
            self.execute(call, text, token)
        except Exception as why:
            answers = [exchange.answer.body[:600] for exchange in self.proxy.exchanges]
            raise SampleFailed(
                f"{call.operation.id} in {self.language}: {why}\n{text}\n{answers}"
            ) from why
        if len(self.proxy.exchanges) != 1:
            raise SampleFailed(f"{call.operation.id} sent {len(self.proxy.exchanges)} requests")
        [exchange] = self.proxy.exchanges
        different = difference(call, exchange)
        if different:
            raise SampleFailed(
                f"{call.operation.id} in {self.language} sent {different}: "
                f"{exchange.method} {exchange.target} {exchange.body!r}\n{text}"
            )
        return exchange.answer

    def execute(self, call: Call, text: str, token: str | None) -> None:
        raise NotImplementedError

    def environment(self, token: str | None) -> dict[str, str]:
        signed_in = {"DERMAGA_TOKEN": token} if token else {}
        return {"DERMAGA_URL": self.proxy.url, **SECRETS, **signed_in}

    def close(self) -> None:
        self.proxy.close()


def difference(call: Call, exchange: Exchange) -> str | None:
    """What a sample sent otherwise than the call says."""
    if exchange.method != call.operation.method:
        return "another method"
    sent, meant = urlsplit(exchange.target), urlsplit(call.target)
    if sent.path != meant.path or sorted(parse_qsl(sent.query)) != sorted(parse_qsl(meant.query)):
        return "another address"
    if call.operation.id in HELPERS:
        return None
    if call.operation.body_kind == "json" and call.body is not None:
        return None if json.loads(exchange.body) == call.body else "another body"
    return None


@contextlib.contextmanager
def limited(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Ends a process that takes too long."""
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Curl(Samples):
    language = "curl"

    def __init__(self, address: str, work: Path) -> None:
        super().__init__(address, work)
        # An error of the service is one of the command, too.
        (work / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")

    def execute(self, call: Call, text: str, token: str | None) -> None:
        own = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.work,
            env={**own, "CURL_HOME": str(self.work), **self.environment(token)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout
        with limited(process):
            if call.operation.answer.kind == "events":
                first_event(process.stdout)
                process.terminate()
                process.communicate()
                return
            output, errors = process.communicate()
        if process.returncode:
            raise SampleFailed(f"{errors.decode()}{output.decode(errors='replace')}")


class Python(Samples):
    language = "python"

    def execute(self, call: Call, text: str, token: str | None) -> None:
        before, folder = dict(os.environ), os.getcwd()
        os.environ.pop("DERMAGA_TOKEN", None)
        os.environ.update(self.environment(token))
        os.chdir(self.work)
        namespace: dict[str, Any] = {"__name__": "__main__"}
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(text, f"{call.operation.id}.py", "exec"), namespace)
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(before)
            if "client" in namespace:
                namespace["client"].close()
        if "print(" in text and call.operation.answer.kind == "data" and not printed.getvalue():
            raise SampleFailed("it printed nothing")


class TypeScript(Samples):
    """One process of Node.js translates and imports each sample as a module."""

    language = "typescript"

    def __init__(self, address: str, work: Path) -> None:
        super().__init__(address, work)
        # Inside of the package, where modules import it by its name.
        modules = TOOLS / "dermaga" / "build" / "samples"
        modules.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            ["node", str(NODE), str(TOOLS / "node_modules" / "typescript"), str(modules)],
            cwd=work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def execute(self, call: Call, text: str, token: str | None) -> None:
        assert self.process.stdin and self.process.stdout
        sample = {"name": call.operation.id, "text": text, "env": self.environment(token)}
        self.process.stdin.write(json.dumps(sample) + "\n")
        self.process.stdin.flush()
        with limited(self.process):
            answer = self.process.stdout.readline()
        if not answer:
            raise SampleFailed("Node.js has ended")
        error = json.loads(answer)["error"]
        if error:
            raise SampleFailed(error)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=SECONDS)
        super().close()


RUNNERS: tuple[type[Samples], ...] = (Curl, TypeScript, Python)
