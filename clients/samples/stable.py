"""Replaces what differs between runs by values that are the same in every run."""

from __future__ import annotations

import json
import random
import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

# When the journey takes place in the recorded file.
TODAY = date(2026, 12, 1)
NOW = datetime(2026, 12, 1, 2, 0, tzinfo=timezone.utc)
URL = "https://dermaga.example"
# Of signed addresses.
EXPIRES = "1796090700"
SIGNATURE = "q8ZbT0vYw3nLr5KxJ1mHs7DcFg2PaVe9RiUoWt4kEyM"
# Dates that are further away, such as dates of birth, do not depend on the current day.
NEAR = timedelta(days=400)
# Times of the running journey are told apart no finer than this.
STEP = timedelta(minutes=5)

UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TIMESTAMP = re.compile(r"\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")
DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
SIGNED = re.compile(r"(expires=)\d{10}(&signature=)[\w-]{43}")
# The name of a mail ends with a keyed hash of its address.
MAIL = re.compile(r"\.[0-9a-f]{16}\.eml\b")
MONTH = re.compile(r"(?<![\w-])(20\d\d)-(0[1-9]|1[0-2])(?![\w-])")
PLACE = re.compile("\ue000(\\d+)\ue001")

TOKEN = "ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz23456789"
LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
HEXADECIMAL = "0123456789ABCDEF"
# Fields whose values are random in each run, with the signs that they consist of.
RANDOM_FIELDS = {
    "access_token": TOKEN,
    "remember_token": TOKEN,
    "token": TOKEN,
    "secret": LETTERS,
    "recovery_codes": LETTERS,
    "ticket_code": HEXADECIMAL,
    "signature_key": HEXADECIMAL.lower(),
    "public_key": TOKEN,
    "key_id": HEXADECIMAL,
}
# Codes of records, API keys, secrets of webhooks.
CODE = re.compile(r"\b[A-Z]{3}-[0-9A-Z]{8}\b")
KEY = re.compile(r"\b(?:dmk|whsec)_[\w+/=-]+")
# What stays of a random value.
PREFIX = re.compile(r"[A-Z]{3}-(?=\w{8}$)|dmk_|whsec_|DMT1|")


class Stable:
    """The replacements of one run."""

    def __init__(self, today: date, started: datetime, address: str) -> None:
        self.shift = TODAY - today
        self.months = (TODAY.year - today.year) * 12 + TODAY.month - today.month
        self.today = today
        self.started = started
        self.words: dict[str, str] = {address: URL}
        # The last number, by the first one.
        self.last: dict[int, int] = {}

    def learn(self, value: Any, start: int = 0, name: str = "") -> None:
        """Makes stand-ins for ids and random values. They are numbered from `start`."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self.learn(inner, start, key)
        elif isinstance(value, list):
            for inner in value:
                self.learn(inner, start, name)
        elif isinstance(value, str):
            for id in UUID.findall(value):
                if id not in self.words:
                    self.words[id] = f"0199a5c8-7e00-7000-8000-{self.next(start):012d}"
            for pattern, alphabet in ((CODE, LETTERS), (KEY, TOKEN)):
                for found in pattern.findall(value):
                    self.invent(found, alphabet, start)
            if name in RANDOM_FIELDS and not UUID.fullmatch(value):
                self.invent(value, RANDOM_FIELDS[name], start)

    def invent(self, value: str, alphabet: str, start: int) -> None:
        """A stand-in that is as long, with the same prefix and the same groups."""
        if value in self.words:
            return
        # An API key is also shown with its first characters alone.
        longer = [fake for known, fake in self.words.items() if known.startswith(value)]
        if longer:
            self.words[value] = longer[0][: len(value)]
            return
        chosen = random.Random(self.next(start))
        prefix = PREFIX.match(value)
        kept = prefix[0] if prefix else ""
        # A hyphen is one of the signs of a token.
        signs = [
            "-" if sign == "-" and alphabet != TOKEN else chosen.choice(alphabet)
            for sign in value[len(kept) :]
        ]
        self.words[value] = kept + "".join(signs)

    def next(self, start: int) -> int:
        self.last[start] = self.last.get(start, start) + 1
        return self.last[start]

    def stand_in(self, value: str, fake: str) -> None:
        """Replaces a value by a certain one."""
        self.words[value] = fake

    def text(self, text: str) -> str:
        # What is put in is not replaced again.
        words = sorted(self.words, key=len, reverse=True)
        for number, word in enumerate(words):
            text = text.replace(word, f"\ue000{number}\ue001")
        text = SIGNED.sub(rf"\g<1>{EXPIRES}\g<2>{SIGNATURE}", text)
        text = MAIL.sub(".6be1b003eb8f72c5.eml", text)
        text = TIMESTAMP.sub(self.timestamp, text)
        text = DATE.sub(self.date, text)
        text = MONTH.sub(self.month, text)
        return PLACE.sub(lambda found: self.words[words[int(found[1])]], text)

    def json(self, value: Any) -> Any:
        return json.loads(self.text(json.dumps(self.whole_months(value), ensure_ascii=False)))

    def whole_months(self, value: Any) -> Any:
        """Moves periods of calendar months so that they are some after they are shifted."""
        if isinstance(value, list):
            return [self.whole_months(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        found = {name: self.whole_months(inner) for name, inner in value.items()}
        if is_whole(value):
            after = self.moved(date.fromisoformat(value["end_date"]) + timedelta(days=1))
            start = self.moved(date.fromisoformat(value["start_date"]))
            found["start_date"] = (start - self.shift).isoformat()
            found["end_date"] = (after - timedelta(days=1) - self.shift).isoformat()
        # The days of a report that has such a period.
        if is_whole(value.get("period")):
            for point in found.get("series", []):
                day = date.fromisoformat(point["bucket"])
                moved = self.moved(day) + timedelta(days=day.day - 1)
                point["bucket"] = (moved - self.shift).isoformat()
        return found

    def moved(self, day: date) -> date:
        """The first day of its month in the recorded file."""
        count = day.year * 12 + day.month - 1 + self.months
        return date(count // 12, count % 12 + 1, 1)

    def timestamp(self, found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[1]).replace(tzinfo=timezone.utc)
        if abs(at.date() - self.today) > NEAR:
            return found[0]
        # Only the clock has fractions of seconds; other times are those of schedules.
        at = NOW + round((at - self.started) / STEP) * STEP if found[2] else at + self.shift
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def date(self, found: re.Match[str]) -> str:
        day = date.fromisoformat(found[0])
        return found[0] if abs(day - self.today) > NEAR else (day + self.shift).isoformat()

    def month(self, found: re.Match[str]) -> str:
        return f"{self.moved(date(int(found[1]), int(found[2]), 1)):%Y-%m}"


def is_whole(period: Any) -> bool:
    """Whether it consists of calendar months."""
    if not isinstance(period, dict) or not {"start_date", "end_date"} <= period.keys():
        return False
    start, end = (date.fromisoformat(period[name]) for name in ("start_date", "end_date"))
    return start < end and start.day == 1 and (end + timedelta(days=1)).day == 1
