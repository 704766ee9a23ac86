"""Rows of the triage screen: labels, wrapping, excerpts of long lines, colour."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import click

from mqlab.findings import Evidence
from mqlab.languages import said
from mqlab.terminal import cells, filled, safe, wrapped

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
    r"(?:Leader|Follower) \S+ starts at|Incremented log start|State transition from"
)
"""What a reader looks for in a line."""
_HEAD = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:,.]+(?:Z|[+-]\d\d:?\d\d)?\]? *)(?:[A-Z]{4,5} +)?(?:\d+ --- )?(?:\[[^\]]*\]:? +)?"
    r"(?:\S+ +[-:] )?(?:\[(?:[A-Z]\w+ )?\w+=[^\]]*\]:? )?"
)
"""Moment, level, process, thread, logger and client of a log line."""
_IDS = re.compile(r"(?<=-[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
"""What follows the first part of a random id, which tells it from others."""


def row(label: str, text: str, most: int = 9) -> Iterator[str]:
    """*text* behind its label, on at most so many lines."""
    lines = wrapped(safe(said(text)), ROOM, "  ") or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], clipped(" ".join([lines[most - 1], *map(str.strip, lines[most:])]), ROOM)]
    for number, line in enumerate(lines):
        yield labelled(label if number == 0 else "") + line


def line(label: str, text: str) -> str:
    """*text* behind its label, on one line."""
    head = labelled(label)
    return head + clipped(safe(said(text)), WIDTH - cells(head))


def labelled(label: str) -> str:
    """The label column of a row, one wider where the label fills it."""
    return filled(said(label), max(LABEL, cells(said(label)) + 1))


def columns(table: Sequence[Sequence[str]], left: Collection[int]) -> Iterator[str]:
    """Rows of a table below each other; columns with these numbers begin at the left, all others end at the right."""
    told = [[said(text) for text in texts] for texts in table]
    widths = [max(map(cells, column)) for column in zip(*told, strict=True)]
    for texts in told:
        parts = zip(texts, widths, strict=True)
        yield " " * LABEL + "  ".join(
            filled(text, width, right=place not in left) for place, (text, width) in enumerate(parts)
        )


def placed(label: str, text: str, place: str) -> str:
    """*text* and at its end the place that proves it, on one line; however long that is, a severity and a class fit."""
    return f"{labelled(label)}{clipped(safe(said(text)), max(40, ROOM - len(place) - 3))}   {safe(place)}"


def placed_whole(label: str, text: str, place: str, most: int = 2) -> Iterator[str]:
    """*text* and the place that proves it, which has a line of its own where it would cut the text."""
    if cells(safe(said(text))) <= ROOM - len(place) - 3:
        yield placed(label, text, place)
    else:
        yield from row(label, text, most)
        yield line("", place)


def clipped(text: str, room: int) -> str:
    """*text*, cut at a word where it is too long."""
    if cells(text) <= room:
        return text
    if cells(text) > len(text):
        return wrapped(text, room - 2)[0].rstrip("，；：") + " …"
    return text[: room - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def sentences(text: str, most: int = 2) -> str:
    """The first sentences of *text*, as it is said, that fit on so many lines; at least one of them."""
    told = ""
    for sentence in re.split(r"(?<=[.;]) (?=[A-Z])|(?<=[。；])(?=.)", said(text)):
        longer = f"{told}{'' if told.endswith(('。', '；')) else ' '}{sentence}".strip()
        if told and len(wrapped(longer, ROOM - 2)) > most:
            break
        told = longer
    return told


def excerpt(text: str, room: int) -> str:
    """The telling part of a line of the material."""
    whole = text.strip()
    if len(whole) <= room:
        return whole
    whole = _IDS.sub("…", re.sub(r"\s{3,}", "  ", whole))
    if len(whole) <= room:
        return whole
    if re.match(r"[\w.]+ ?=", whole):
        return clipped(whole, room)
    found = _TELLING.search(whole)
    head = _HEAD.match(whole)
    start = found.start() if found else head.end() if head else 0
    fitting = len(whole) - room + 2
    if found and start > fitting:  # the end of the line fits whole, with more of what stands before it
        start = fitting + len(whole[fitting:]) - len(whole[fitting:].split(" ", 1)[-1])
    return "… " + clipped(whole[start:].lstrip(), room - 2) if start else clipped(whole, room)


def proof(label: str, evidence: Evidence, indent: str = "") -> str:
    """Where it stands, what it says, and what that shows, on one line."""
    return labelled(label) + clipped(safe(indent + _proof(evidence)), ROOM)


def _proof(evidence: Evidence) -> str:
    place = f"{evidence.source}:{evidence.line}" if evidence.line else evidence.source
    why = re.split("[:：]", said(evidence.why))[0]
    name = evidence.pointer.split("{")[0] if evidence.pointer and evidence.pointer.split("{")[0] not in place else ""
    text = " ".join((name, evidence.text.strip())).strip()
    room = ROOM - len(safe(place)) - 4
    beside = room - cells(why) - 2
    if len(text) > beside and (len(text) <= room or beside < 60):
        return f'{place}  "{excerpt(text, max(30, room))}"'
    return f'{place}  "{excerpt(text, beside)}"  {why}'.rstrip()


def coloured(text: str) -> str:
    """The screen for a terminal: verdicts in colour, labels bold."""
    return "\n".join(_coloured(one) for one in text.split("\n"))


def _coloured(text: str) -> str:
    head, gap, rest = text.partition("  ")
    colours = {said(words): colour for words, colour in _COLOURS.items()}
    if head in colours and gap and not rest.startswith(" ") and not re.match(r"[^ ]*:", rest):
        return click.style(head, fg=colours[head], bold=True) + gap + rest
    label = re.match(r"(?:[A-Z][A-Z ]*[A-Z]|[^\W\dA-Za-z_]+(?: [^\W\dA-Za-z_]+)*)(?= +\S)", text)
    if label is None:
        return text
    if cells(text[: len(text) - len(text[label.end() :].lstrip())]) != max(LABEL, cells(label[0]) + 1):
        return text
    return click.style(label[0], bold=True) + text[label.end() :]
