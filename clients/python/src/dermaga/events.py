"""Server-sent events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass
class Event:
    id: str = ""
    data: str = ""
    retry: float | None = None
    """Seconds after which a lost stream should be opened again."""


def read_events(lines: Iterable[str]) -> Iterator[Event]:
    """The events of a stream. One that the end of the stream cuts off is left out."""
    event = Event()
    data: list[str] = []
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            event.data = "\n".join(data)
            yield event
            event, data = Event(), []
        elif name == "id":
            event.id = value
        elif name == "data":
            data.append(value)
        elif name == "retry" and value.isdigit():
            event.retry = int(value) / 1000
