"""Requests: session, retries, and what becomes of an answer."""

from __future__ import annotations

import json
import logging
import random
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar
from urllib.parse import quote, urlencode

from .connections import Answer, Connections, Stream
from .errors import (
    ApiError,
    ConflictError,
    DermagaError,
    ForbiddenError,
    NetworkError,
    RateLimitedError,
    UnauthenticatedError,
    UnavailableError,
    api_error,
)
from .events import read_events
from .files import File, downloaded, multipart
from .page import PageWith
from .types import SignedIn

VERSION = "0.2.0"
LOG = logging.getLogger("dermaga")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Session:
    """What identifies the caller. It can be stored and given to another client."""

    access_token: str
    email: str | None = None
    """With `remember_token`: the account's address."""
    remember_token: str | None = None
    """Renews the session when it has ended. It changes each time."""


@dataclass(frozen=True)
class Call:
    """One request, as an operation describes it."""

    method: str
    path: str
    repeat: Literal["read", "keyed", "change"]
    """`read` changes nothing, `keyed` accepts an `Idempotency-Key`, `change` does not."""
    query: Mapping[str, object] = field(default_factory=dict)
    json: object = None
    form: Mapping[str, object] | None = None
    content: File | None = None
    idempotency_key: str | None = None
    timeout: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport:
    def __init__(
        self,
        base_url: str,
        *,
        session: Session | None,
        on_session: Callable[[Session | None], None] | None,
        language: Literal["en", "id"],
        timeout: float,
        retries: int,
        backoff: float,
        max_wait: float,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self._connections = Connections(base_url, ssl_context)
        self._session = session
        self._on_session = on_session
        self._language = language
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._max_wait = max_wait
        self._renewal = threading.Lock()

    @property
    def session(self) -> Session | None:
        return self._session

    @session.setter
    def session(self, session: Session | None) -> None:
        self._session = session
        if self._on_session:
            self._on_session(session)

    def data(self, call: Call) -> Any:
        """The data of an answer; `None` if it has none."""
        return self._envelope(call).get("data")

    def page(
        self, call: Call, page_in: Literal["query", "json"], items: str | None = None
    ) -> PageWith[Any, Any]:
        """One page. `items` names the property of the data that has the items."""
        body = self._envelope(call)

        def turn(number: int) -> PageWith[Any, Any]:
            sent: Any = getattr(call, page_in)
            changed: dict[str, Any] = {page_in: {**sent, "page": number}}
            return self.page(replace(call, **changed), page_in, items)

        found = body["data"][items] if items else body["data"]
        return PageWith(found, body["pagination"], turn, body)

    def file(self, call: Call) -> File:
        answer = self._repeated(call, self._send)
        return downloaded(answer.headers, answer.content)

    def events(self, call: Call) -> Iterator[Any]:
        """The data of server-sent events. A lost stream is opened again where it was lost."""
        last_id, wait = "", self._backoff
        while True:
            headers = {"Accept": "text/event-stream"}
            if last_id:
                headers["Last-Event-ID"] = last_id
            stream = self._repeated(replace(call, headers=headers), self._open)
            try:
                for event in read_events(stream.lines()):
                    last_id = event.id or last_id
                    wait = event.retry or wait
                    if event.data:
                        yield json.loads(event.data)
            except NetworkError as lost:
                LOG.debug("the stream was lost: %s", lost)
            finally:
                stream.close()
            time.sleep(wait)

    def close(self) -> None:
        self._connections.close()

    def _envelope(self, call: Call) -> dict[str, Any]:
        answer = self._repeated(call, self._send)
        try:
            envelope = json.loads(answer.content)
        except ValueError:
            envelope = None
        if not isinstance(envelope, dict):
            raise api_error(answer.status, answer.headers, answer.content)
        return envelope

    def _repeated(self, call: Call, send: Callable[[Call, dict[str, str]], Result]) -> Result:
        """Sends a request, again if it may be, until it succeeds."""
        headers = {
            "User-Agent": f"dermaga-python/{VERSION}",
            "Accept-Language": self._language,
            "Accept-Encoding": "gzip",
            **call.headers,
        }
        if call.repeat == "keyed":
            headers["Idempotency-Key"] = call.idempotency_key or str(uuid.uuid4())
        attempt, renewed = 0, False
        while True:
            session = self._session
            if session:
                headers["Authorization"] = f"Bearer {session.access_token}"
            try:
                return send(call, headers)
            except DermagaError as error:
                if not renewed and session and session.remember_token and has_ended(error):
                    self._renew(session, error)
                    renewed = True
                    continue
                if attempt >= self._retries or not may_repeat(call, error):
                    raise
                wait = random.uniform(0.5, 1) * self._backoff * 2**attempt
                if isinstance(error, ApiError) and error.retry_after is not None:
                    wait += error.retry_after
                if wait > self._max_wait:
                    raise
                attempt += 1
                LOG.debug("%s %s: %s; again in %.1f s", call.method, call.path, error, wait)
                time.sleep(wait)

    def _send(self, call: Call, headers: dict[str, str]) -> Answer:
        headers, body = dict(headers), None
        if call.form is not None:
            body, headers["Content-Type"] = multipart(call.form)
        elif call.content is not None:
            body, headers["Content-Type"] = call.content.content, call.content.content_type
        elif call.json is not None:
            body, headers["Content-Type"] = json.dumps(call.json).encode(), "application/json"
        timeout = call.timeout or self._timeout
        answer = self._connections.send(call.method, target(call), headers, body, timeout)
        if answer.status != 200:
            raise api_error(answer.status, answer.headers, answer.content)
        return answer

    def _open(self, call: Call, headers: dict[str, str]) -> Stream:
        timeout = call.timeout or self._timeout
        # Events are not compressed: they would wait for each other.
        headers = {**headers, "Accept-Encoding": "identity"}
        stream = self._connections.open(call.method, target(call), headers, timeout)
        if stream.status != 200:
            try:
                answer = stream.answer()
            finally:
                stream.close()
            raise api_error(answer.status, answer.headers, answer.content)
        return stream

    def _renew(self, ended: Session, error: DermagaError) -> None:
        """Exchanges the remember token for a new session, unless another thread has done it."""
        with self._renewal:
            if self._session is not ended:
                return
            call = Call(
                "POST", "/auth/remember-me", repeat="change", json={"email": ended.email}
            )
            try:
                answer = self._send(call, {"X-Remember-Token": ended.remember_token or ""})
            except (UnauthenticatedError, ForbiddenError):
                # The device is no longer remembered, or the account is suspended.
                self.session = None
                raise error from None
            signed_in: SignedIn = json.loads(answer.content)["data"]
            self.session = Session(
                signed_in["access_token"], ended.email, signed_in.get("remember_token")
            )


class Group:
    """Operations that belong together."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def segment(value: str) -> str:
    """A value in a path. An empty one, or dots, would make the path of another operation."""
    if value in ("", ".", ".."):
        raise ValueError(f"not an id: {value!r}")
    return quote(value, safe="")


def target(call: Call) -> str:
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in call.query.items()
        if value is not None
    }
    return f"{call.path}?{urlencode(given)}" if given else call.path


def has_ended(error: DermagaError) -> bool:
    """Whether the error says that the session has ended. Wrong passwords are another error."""
    return isinstance(error, UnauthenticatedError) and error.code == "unauthenticated"


def may_repeat(call: Call, error: DermagaError) -> bool:
    """Whether a request can be sent again without the risk of doing something twice."""
    # The service has refused the request, and done nothing.
    if isinstance(error, RateLimitedError) or (
        isinstance(error, UnavailableError) and error.code == "unavailable"
    ):
        return True
    if call.repeat == "change":
        return False
    # An earlier attempt is still running.
    if isinstance(error, ConflictError):
        return error.code == "idempotency_in_progress"
    return isinstance(error, NetworkError) or (
        isinstance(error, ApiError) and error.status in (502, 503, 504)
    )
