"""The recorded file: examples and samples of every operation."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import money
import office
import partners
import travellers
from calls import CLIENTS, OPERATIONS, Call
from journey import Journey, Taken
from render import LANGUAGES
from stable import Stable

FILE = CLIENTS.parent / "docs" / "operations" / "examples.json"
STORIES = (travellers, partners, office, money)
# The provider of payouts proves itself by a header, which the clients do not send.
ONLY_CURL = {"payout_callback"}
# An item of this many characters is large: one of it is enough.
LARGE = 650
# So many of plain values, such as names of rules.
FEW = 4
SHORTENED = {"qr_svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 61 61"></svg>'}
FIXED = {"uptime_seconds": 86_400}


def prepare(work: Path) -> None:
    """The files that samples upload."""
    work.mkdir(parents=True)
    (work / "boat.png").write_bytes(picture(64, 48))
    (work / "document.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n")


def picture(width: int, height: int) -> bytes:
    """A blue PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    row = b"\0" + b"\x10\x60\xa0" * width
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(row * height))
        + chunk(b"IEND", b"")
    )


def tell(journey: Journey) -> None:
    for story in STORIES:
        story.tell(journey)
    missing = OPERATIONS.keys() - journey.taken.keys()
    if missing:
        raise SystemExit(f"no sample of {', '.join(sorted(missing))}")


def languages(operation: str) -> list[str]:
    return ["curl"] if operation in ONLY_CURL else list(LANGUAGES)


def learned(journey: Journey) -> Stable:
    """The replacements. Calls come first, so that samples do not depend on answers."""
    for id in OPERATIONS:
        call = journey.taken[id].call
        journey.stable.learn(call.parameters())
        journey.stable.learn(jsonable(call))
    return journey.stable


def examples(journey: Journey) -> dict[str, Any]:
    stable = learned(journey)
    answers = {id: shortened(answered(journey.taken[id])) for id in OPERATIONS}
    # Each has numbers of its own, so that a change of one does not change the others.
    for place, answer in enumerate(answers.values(), start=1):
        stable.learn(answer, place * 1_000)
    return {id: example(stable, journey.taken[id].call, answers[id]) for id in OPERATIONS}


def example(stable: Stable, call: Call, answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if call.parameters():
        found["parameters"] = stable.json(call.parameters())
    if jsonable(call) is not None:
        found["request"] = stable.json(jsonable(call))
    if answer is not None:
        found["response"] = stable.json(answer)
    found["samples"] = {
        language: stable.text(LANGUAGES[language](call))
        for language in languages(call.operation.id)
    }
    return found


def jsonable(call: Call) -> Any:
    """The body, if it is JSON."""
    return call.body if call.operation.body_kind == "json" else None


def answered(taken: Taken) -> Any:
    kind = taken.answer.headers.get("content-type", "").split(";")[0]
    return taken.answer.json() if kind in ("application/json", "text/event-stream") else None


def shortened(value: Any, name: str = "") -> Any:
    """With fewer items, and without what only a machine reads."""
    if name in SHORTENED or name in FIXED:
        return SHORTENED.get(name) or FIXED[name]
    if isinstance(value, dict):
        return {key: shortened(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        if not any(isinstance(inner, (dict, list)) for inner in value):
            return value[:FEW]
        items = [shortened(inner, name) for inner in value[:2]]
        return items[:1] if items and len(json.dumps(items[0])) > LARGE else items
    return value


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def write(found: dict[str, Any]) -> None:
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
