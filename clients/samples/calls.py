"""The operations of the document, and concrete calls of them."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

CLIENTS = Path(__file__).resolve().parent.parent
sys.path.append(str(CLIENTS))

import generate  # noqa: E402

DOCUMENT: dict[str, Any] = json.loads(generate.DOCUMENT.read_text(encoding="utf-8"))
KEY = generate.IDEMPOTENCY_KEY
JSON = generate.JSON
camel = generate.camel
snake = generate.snake


def operations() -> dict[str, generate.Operation]:
    """By their ids, in the order of the document."""
    api = generate.Api(DOCUMENT)
    by_id = {operation.id: operation for group in api.groups for operation in group.operations}
    ids = [method["operationId"] for path in DOCUMENT["paths"].values() for method in path.values()]
    return {id: by_id[id] for id in ids}


OPERATIONS = operations()


@dataclass(frozen=True)
class Upload:
    """A file of the working directory that a call sends."""

    name: str
    content_type: str


@dataclass(frozen=True)
class Show:
    """What a sample does with the answer: `name` is its variable, `fields` are printed.

    If `name` is an item, `of` is the variable that has the list, such as `balance.accounts`.
    """

    name: str = ""
    fields: tuple[str, ...] = ()
    of: str = ""

    @classmethod
    def parse(cls, text: str) -> Show:
        """`booking: code, price.total` or `account in balance.accounts: name, closing`."""
        head, _, fields = text.partition(":")
        name, _, of = head.partition(" in ")
        listed = tuple(part.strip() for part in fields.split(",") if part.strip())
        return cls(name.strip(), listed, of.strip())


@dataclass(frozen=True)
class Call:
    """One call of an operation, with all of its values."""

    operation: generate.Operation
    signed_in: bool
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    # By name: the environment variable that has the value.
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    show: Show = Show()

    @property
    def target(self) -> str:
        """Path and query."""
        path = self.operation.path
        for name, value in self.path.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        pairs = [f"{name}={quote(plain(value), safe='@,:/')}" for name, value in self.query.items()]
        return path + ("?" + "&".join(pairs) if pairs else "")

    @property
    def key(self) -> str | None:
        """A key for operations that accept one. It is the same in every run."""
        keyed = self.operation.repeat == "keyed"
        return str(uuid.uuid5(uuid.NAMESPACE_URL, self.operation.id)) if keyed else None

    def parameters(self) -> dict[str, Any]:
        keyed = {KEY: self.key} if self.key else {}
        return {**self.path, **self.query, **keyed}


def plain(value: object) -> str:
    """A value in a query."""
    return str(value).lower() if isinstance(value, bool) else str(value)
