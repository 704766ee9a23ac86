"""What a file is, by its first 64 KB, by the user's map of ledgers, and as a log with messages between its lines."""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import dedent

from mqlab.formats import application_log, console, layouts, ledger_mapped, other_clients, signatures
from mqlab.formats.base import Clocked, Format, Head, LaidOut
from mqlab.formats.signatures import Found
from mqlab.ledgers import log_shapes
from mqlab.ledgers.layout import is_mqtt
from mqlab.ledgers.log_shapes import laid, party_of
from mqlab.ledgers.mapping import Entry, shape
from mqlab.material import envelopes
from mqlab.material.names import copied_name
from mqlab.sources import Envelope, Reading

HEAD = 64 << 10
NOBODY = "unrecognised"
"""The format of what nobody recognised."""

BELONGS = re.compile(
    r"\s+\S|Caused by|\.\.\. \d+ more|(?:\w+\.)+\w*(?:Exception|Error)\b|[}\])]+[,;]?$|(?:Traceback|\w*Error:) ?"
)
"""What begins a line that goes on with the one above."""
_FRAME = re.compile(r"\s+(?:at |File |\.\.\. )")
"""A frame of a stack trace; what else is indented may be a table."""
_QUOTED = re.compile(r"\s*[\"'{}\[\]]*\"?\w+\"?\s*:\s*[\"{\[]")
"""A line of a JSON or YAML document."""
_MOMENT = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?P<zone> ?(?:Z|UTC|GMT)(?!\w)| ?[+-]\d\d:?\d\d(?!\d))?|"
    r"(?<![\w.#@\-])(?P<epoch>(?:1[2-9]|20)\d{8}(?:\d{3}|\.\d{1,9})?)(?!\w)"
)
_DATED_LINES = 20
_SPOKEN = 2000
"""Lines whose words are looked for."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """Format, reading and envelope of a source, and what its lines say of their zone."""

    format: str
    reading: Reading = Reading.COUNT
    envelope: Envelope = Envelope.NONE
    zone_written: bool = False
    zone_rule: str | None = None
    """Offset that the layout fixes, see ``formats.base.Clocked``."""
    layout: str | None = None
    """How rows stand, see ``formats.base.LaidOut``."""


def recognise(start: bytes, name: str, size: int, formats: Sequence[Format]) -> Recognised:
    """The first form that knows the content; ``binary`` with NUL bytes, else ``unrecognised``.

    Args:
        start: the first bytes of the content, HEAD of them where there are more.
        name: base name of the file.
        size: bytes on disk.
        formats: asked one after the other.
    """
    if b"\0" in start:
        return Recognised("binary")
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start.removeprefix(codecs.BOM_UTF8))
    whole_lines = text.split("\n")
    if len(start) >= HEAD and len(whole_lines) > 1:
        whole_lines.pop()
    envelope = envelopes.detect(whole_lines)
    plain = Head(copied_name(name), text, size)
    if envelope is not Envelope.NONE:
        inner = "\n".join(envelopes.peel(line.rstrip("\r"), envelope) for line in whole_lines)
        peeled = _asked(Head(plain.name, inner, size), envelope, formats)
        if peeled.format != NOBODY and peeled.reading is not Reading.DOCUMENT:
            return peeled
        document = _asked(plain, Envelope.NONE, [form for form in formats if form.FORMAT.reading is Reading.DOCUMENT])
        if document.format != NOBODY or peeled.format != NOBODY:
            return document if document.format != NOBODY else peeled
        form = other_clients.format_of(inner) or application_log.FORMAT.name  # a collector dates lines of a log
        return replace(peeled, format=form, reading=Reading.LOG)
    return _asked(plain, Envelope.NONE, formats)


def writes_zone(lines: Sequence[str]) -> bool:
    """True when most of the first dated lines carry a zone, or count seconds or milliseconds since 1970."""
    told = [zoned for line in lines if (zoned := _is_zoned(line)) is not None][:_DATED_LINES]
    return bool(told) and 2 * sum(told) > len(told)


def _is_zoned(line: str) -> bool | None:
    """Whether the moment of a line tells its zone; None for a line without one."""
    if other := layouts.other_moment(line[:200]):
        return bool(other.zone)
    match = _MOMENT.search(line[:2000])
    return None if match is None else bool(match["zone"] or match["epoch"])


def _asked(head: Head, envelope: Envelope, formats: Sequence[Format]) -> Recognised:
    zone = writes_zone(head.lines)
    for form in formats:
        if form.recognise(head):
            rule = form.zone(head) if isinstance(form, Clocked) else None
            layout = form.layout(head) if isinstance(form, LaidOut) else None
            named = _named(head) if form is application_log else None
            return Recognised(named or form.FORMAT.name, form.FORMAT.reading, envelope, zone, rule, layout)
    return Recognised(NOBODY, Reading.COUNT, envelope, zone)


def _named(head: Head) -> str | None:
    """What a log with moments is that no other format knows; its words tell only of a short one."""
    return other_clients.format_of(head.text) or (spoken(head.lines) if head.size < HEAD else None)


def spoken(lines: Sequence[str]) -> str | None:
    """The format whose signatures select most of the *lines*, a third of all at least; None where none does.

    Where nothing but prose and a stack trace is there, one line of it suffices.
    """
    lines = [line for line in dedent("\n".join(lines[:_SPOKEN])).split("\n") if line.strip()]
    indented = [line for line in lines if line[0].isspace()]
    if 2 * len(indented) > len(lines) and not any(map(_FRAME.match, indented)):
        lines = [line.strip() for line in lines]
    lines = [line for line in lines if not line[0].isspace()]
    # The first line goes on with none: the end of a stack trace is often all that is pasted.
    aside = [BELONGS.match(line) is not None or console.is_remark(line) for line in lines]
    records = [line for number, line in enumerate(lines) if number == 0 or not aside[number]]
    votes = _votes(records)
    if 3 * sum(votes.values()) < max(1, len(records)) and not any(map(application_log.is_dated, records)):
        votes, records = _votes([line for line, is_aside in zip(lines, aside, strict=True) if is_aside]), []
    return max(votes, key=lambda name: votes[name]) if votes and 3 * sum(votes.values()) >= len(records) else None


def _votes(lines: Sequence[str]) -> dict[str, int]:
    votes: dict[str, int] = defaultdict(int)
    for line in lines:
        if not _QUOTED.match(line) and (found := selected(line) or selected(f"- {line}")):
            is_error = signatures.is_error(found.number)
            votes[application_log.FORMAT.name if is_error else signatures.ORIGINS[found.number].name] += 1
    return votes


def selected(line: str) -> Found | None:
    """The signature that selects a *line*, whatever software it is of."""
    words, near = signatures.words(), line[: signatures.FAR]
    held = (n for kind in (words.begins, words.contains) for word, ns in kind.items() if word in near for n in ns)
    severe = layouts.level(near) in (None, "WARN", "ERROR", "FATAL")
    numbers = set(held)
    return signatures.select(near, numbers, severe=severe, is_plain=False) if numbers else None


_NEAR = 4000
"""Characters of a line in which topics are looked for."""


def mapped_lines(start: bytes, name: str, size: int, entries: Sequence[Entry], formats: Sequence[Format]) -> Recognised:
    """What a log is of which the user's map reads some lines: what it is without, else a log of an application."""
    known = recognise(start, name, size, formats)
    if known.reading is not Reading.LOG:
        known = replace(known, format=application_log.FORMAT.name, reading=Reading.LOG, zone_rule=None)
    shapes = tuple(shape(entry.pattern or "", entry.role, _fixed(entry)) for entry in entries)
    lines = start.decode("utf-8", "replace").splitlines()
    topics = [
        found[one.groups["topic"]] or ""
        for one in shapes if "topic" in one.groups
        for line in lines if (found := re.search(one.pattern, line[:_NEAR]))
    ]  # fmt: skip
    fields = {field for one in shapes for field in one.groups}
    told = is_mqtt(dict.fromkeys(fields), [*topics, *(entry.topic or "" for entry in entries)])
    mqtt = told and "offset" not in fields
    return replace(known, layout=laid(shapes, party_of(name), mqtt=mqtt))


def _fixed(entry: Entry) -> dict[str, str]:
    told = {"party": entry.party, "group": entry.group, "topic": entry.topic}
    return {field: text for field, text in told.items() if text}


def mapped(start: bytes, name: str, size: int, entry: Entry) -> Recognised:
    """What the file is by the user's map: a ledger, even if nobody would recognise it."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start.removeprefix(codecs.BOM_UTF8))
    lines = text.split("\n")
    envelope = envelopes.detect(lines)
    if envelope in (Envelope.NONE, Envelope.STRUCTURED):
        envelope = Envelope.NONE
    else:
        text = "\n".join(envelopes.peel(line.rstrip("\r"), envelope) for line in lines)
    head = Head(copied_name(name), text, size)
    layout = ledger_mapped.mapped(head, entry)
    return Recognised(
        ledger_mapped.FORMAT.name, ledger_mapped.FORMAT.reading, envelope, writes_zone(head.lines), layout=layout
    )


def noting(known: Recognised, start: bytes, name: str) -> Recognised:
    """*known*, with a layout where it is an application's log, or nobody's, and holds lines of a ledger.

    *start* are the first bytes of the content, *name* is that of the file.
    """
    if known.format not in {*log_shapes.APPLICATIONS, NOBODY}:
        return known
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start.removeprefix(codecs.BOM_UTF8))
    lines = [line.rstrip("\r") for line in text.split("\n")]
    whole = lines[:-1] if len(start) >= HEAD and len(lines) > 1 else lines
    if known.envelope not in (Envelope.NONE, Envelope.STRUCTURED):
        whole = [envelopes.peel(line, known.envelope) for line in whole]
    layout = log_shapes.layout(whole, copied_name(name), known.envelope)
    if layout is None or known.format != NOBODY:
        return replace(known, layout=layout)
    return replace(known, format=log_shapes.PLAIN, reading=Reading.LOG, layout=layout)
