"""Rows of the triage screen: labels, wrapping, excerpts of long lines, colour."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

import click

from mqlab.findings import Evidence

WIDTH = 118
LABEL = 9
ROOM = WIDTH - LABEL
"""Characters beside the label."""

_COLOURS = {
    "CRITICAL": "red", "WARNING": "yellow", "HEALTHY": "green", "UNDETERMINED": "yellow", "LOST AND DOUBLED": "red",
    "LOST": "red", "DOUBLED": "yellow", "CANNOT SAY": "yellow", "WAITING": "yellow", "NOTHING LOST": "green",
    "NOTHING LOST FROM THE LOG": "green",
}  # fmt: skip
"""Of verdicts about a capture and about messages."""
_TELLING = re.compile(
    r"\S+, (?:splitting and )?retrying \(\d+ attempts left\)|The (?:message|request) (?:is|included) |"
    r"\S+ ms has passed since|exited with status|splitting and retrying|\w+ (?:\S+ )?-> \w+|"
    r"(?:Preparing to rebalance|Rebalanced?) group|\w+(?:Exception|Error):|Expiring \d+|"
    r"Fetch position FetchPosition|Resetting offset for partition|Truncation detected|Truncating (?!to \S+ has no)|"
    r"(?:Leader|Follower) \S+ starts at|Incremented log start"
)
"""What a reader looks for in a line."""
_HEAD = re.compile(r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:,.]+Z?\]? *)(?:[A-Z]{4,5} +)?(?:\[[^\]]*\]:? +)?(?:\S+ - )?")
"""Moment, level, thread and logger of a log line."""


def safe(text: str | None) -> str:
    """*text* without anything that could move the cursor or change the terminal."""
    return "".join(c if c.isprintable() else "�" for c in (text or "").replace("\t", " "))


def row(label: str, text: str, most: int = 9) -> Iterator[str]:
    """*text* behind its label, on at most so many lines."""
    lines = textwrap.wrap(safe(text), ROOM, subsequent_indent="  ", break_on_hyphens=False) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], clipped(" ".join([lines[most - 1], *map(str.strip, lines[most:])]), ROOM)]
    for number, line in enumerate(lines):
        yield f"{label if number == 0 else '':<{LABEL}}{line}"


def line(label: str, text: str) -> str:
    """*text* behind its label, on one line."""
    return f"{label:<{LABEL}}{clipped(safe(text), ROOM)}"


def columns(cells: Sequence[Sequence[str]], left: Collection[int]) -> Iterator[str]:
    """Rows of a table below each other; columns with these numbers begin at the left, all others end at the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for texts in cells:
        parts = zip(texts, widths, strict=True)
        yield " " * LABEL + "  ".join(
            f"{text:<{width}}" if place in left else f"{text:>{width}}" for place, (text, width) in enumerate(parts)
        )


def placed(label: str, text: str, place: str) -> str:
    """*text* and at its end the place that proves it, on one line."""
    return f"{label:<{LABEL}}{clipped(safe(text), max(30, ROOM - len(place) - 3))}   {safe(place)}"


def clipped(text: str, room: int) -> str:
    """*text*, cut at a word where it is too long."""
    if len(text) <= room:
        return text
    return text[: room - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def sentences(text: str, most: int = 2) -> str:
    """The first sentences of *text* that fit on so many lines; at least one of them."""
    told = ""
    for sentence in re.split(r"(?<=[.;]) (?=[A-Z])", text):
        longer = f"{told} {sentence}".strip()
        if told and len(textwrap.wrap(longer, ROOM - 2)) > most:
            break
        told = longer
    return told


def excerpt(text: str, room: int) -> str:
    """The telling part of a line of the material."""
    whole = text.strip()
    if len(whole) <= room:
        return whole
    if re.match(r"[\w.]+ ?=", whole):
        return clipped(whole, room)
    found = _TELLING.search(whole)
    head = _HEAD.match(whole)
    start = found.start() if found else head.end() if head else 0
    fitting = len(whole) - room + 2
    if start > fitting:  # the end of the line fits whole, with more of what stands before it
        start = fitting + len(whole[fitting:]) - len(whole[fitting:].split(" ", 1)[-1])
    return "… " + clipped(whole[start:].lstrip(), room - 2) if start else clipped(whole, room)


def proof(evidence: Evidence) -> str:
    """Where it stands, what it says, and what that shows."""
    place = f"{evidence.source}:{evidence.line}" if evidence.line else evidence.source
    why = evidence.why.split(":")[0]
    name = evidence.pointer.split("{")[0] if evidence.pointer and evidence.pointer.split("{")[0] not in place else ""
    text = " ".join((name, evidence.text.strip())).strip()
    room = ROOM - len(safe(place)) - 4
    beside = room - len(why) - 2
    if len(text) > beside and (len(text) <= room or beside < 60):
        return f'{place}  "{excerpt(text, max(30, room))}"'
    return f'{place}  "{excerpt(text, beside)}"  {why}'.rstrip()


def local(text: str, day: datetime | None, tz: tzinfo) -> tuple[datetime | None, str]:
    """(moment, text) of words that begin with a UTC time of day, the time shown in *tz*."""
    found = re.match(r"(\d\d):(\d\d):(\d\d)(?=\s)", text)
    if found is None or day is None:
        return None, text
    hour, minute, second = (int(part) for part in found.groups())
    at = day.astimezone(UTC).replace(hour=hour, minute=minute, second=second, microsecond=0)
    if at < day.astimezone(UTC) - timedelta(hours=12):
        at += timedelta(days=1)
    return at, f"{at.astimezone(tz):%H:%M:%S}{text[found.end() :]}"


def coloured(text: str) -> str:
    """The screen for a terminal: verdicts in colour, labels bold."""
    return "\n".join(_coloured(one) for one in text.split("\n"))


def _coloured(text: str) -> str:
    head, gap, rest = text.partition("  ")
    if head in _COLOURS and gap and not rest.startswith(" ") and not re.match(r"[^ ]*:", rest):
        return click.style(head, fg=_COLOURS[head], bold=True) + gap + rest
    return (
        re.sub(r"^[A-Z][A-Z ]*[A-Z](?= )", lambda label: click.style(label[0], bold=True), text[:LABEL]) + text[LABEL:]
    )
