"""What a file is that the user's map of ledgers names: for a table no format is asked, for lines of a log all are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace

from mqlab.formats import application_log, ledger_mapped
from mqlab.formats.base import Format, Head
from mqlab.ledgers.layout import is_mqtt
from mqlab.ledgers.line_layout import laid, party_of
from mqlab.ledgers.mapping import Entry
from mqlab.ledgers.patterns import shape
from mqlab.material import envelopes
from mqlab.material.recognition import Recognised, recognise, without_compression, writes_zone
from mqlab.sources import Envelope, Reading

_NEAR = 4000
"""Characters of a line in which topics are looked for."""


def mapped_lines(start: bytes, name: str, size: int, entries: Sequence[Entry], formats: Sequence[Format]) -> Recognised:
    """What a log is of which the user's map reads some lines: what it is without, else a log of an application."""
    known = recognise(start, name, size, formats)
    if known.reading is not Reading.LOG:
        known = replace(known, format=application_log.FORMAT, reading=Reading.LOG, zone_rule=None)
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
    head = Head(without_compression(name), text, size)
    layout = ledger_mapped.mapped(head, entry)
    return Recognised(ledger_mapped.FORMAT, ledger_mapped.READING, envelope, writes_zone(head.lines), layout=layout)
