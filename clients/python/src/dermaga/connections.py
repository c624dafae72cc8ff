"""HTTP with the standard library."""

from __future__ import annotations

import gzip
import http.client
import selectors
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import NetworkError, RequestTimeoutError

# The service closes a connection that is idle for 30 seconds.
IDLE_SECONDS = 20
IDLE_CONNECTIONS = 10


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """With lower-case names."""
    content: bytes


class Connections:
    """Sends requests to one server and keeps its connections open in between. Safe for threads."""

    def __init__(self, base_url: str, ssl_context: ssl.SSLContext | None) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(f"not the address of a service: {base_url}")
        self._host, self._port = url.hostname, url.port
        self._prefix = url.path.rstrip("/")
        self._tls = None
        if url.scheme == "https":
            self._tls = ssl_context or ssl.create_default_context()
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()

    def send(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
    ) -> Answer:
        """One request and its whole answer."""
        with failures():
            connection = self._take(timeout)
            try:
                response = self._request(connection, method, target, headers, body)
                content = response.read()
                if response.getheader("Content-Encoding") == "gzip":
                    content = gzip.decompress(content)
            except BaseException:
                connection.close()
                raise
        if not response.will_close:
            self._keep(connection)
        return Answer(response.status, names_in_lower_case(response), content)

    def open(self, method: str, target: str, headers: Mapping[str, str], timeout: float) -> Stream:
        """One request whose answer is read as it arrives, on a connection of its own."""
        connection = self._connect(timeout)
        try:
            with failures():
                return Stream(connection, self._request(connection, method, target, headers, None))
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        with self._lock:
            for _, connection in self._idle:
                connection.close()
            self._idle.clear()

    def _request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> http.client.HTTPResponse:
        connection.request(method, self._prefix + target, body, dict(headers))
        return connection.getresponse()

    def _take(self, timeout: float) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                if not self._idle:
                    break
                since, connection = self._idle.pop()
            if time.monotonic() - since < IDLE_SECONDS and is_silent(connection):
                connection.timeout = timeout
                connection.sock.settimeout(timeout)
                return connection
            connection.close()
        return self._connect(timeout)

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout, context=self._tls
        )

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()


class Stream:
    """An answer that arrives piece by piece."""

    def __init__(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse
    ) -> None:
        self._connection = connection
        self._response = response
        self.status = response.status

    def answer(self) -> Answer:
        """All of it."""
        with failures():
            content = self._response.read()
        return Answer(self.status, names_in_lower_case(self._response), content)

    def lines(self) -> Iterator[str]:
        with failures():
            for line in self._response:
                yield line.decode().rstrip("\r\n")

    def close(self) -> None:
        self._connection.close()


def is_silent(connection: http.client.HTTPConnection) -> bool:
    """Whether nothing has arrived since the last answer. The end of the connection would have."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return not selector.select(timeout=0)


def names_in_lower_case(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


@contextmanager
def failures() -> Iterator[None]:
    try:
        yield
    except TimeoutError as cause:
        raise RequestTimeoutError("the service did not answer in time") from cause
    except (OSError, EOFError, zlib.error, http.client.HTTPException) as cause:
        raise NetworkError(f"no answer of the service: {cause!r}") from cause
