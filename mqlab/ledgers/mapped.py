"""What a file is that the user's map of ledgers names: no loader is asked."""

from __future__ import annotations

import codecs

from mqlab.ledgers.mapping import Entry
from mqlab.loaders import ledger_mapped
from mqlab.loaders.base import Head
from mqlab.material import envelopes
from mqlab.material.recognition import Recognised, without_compression, writes_zone
from mqlab.sources import Envelope


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
