"""What a log is in which an application may note its messages between other lines."""

from __future__ import annotations

import codecs
from dataclasses import replace

from mqlab.ledgers import line_layout
from mqlab.material import envelopes
from mqlab.material.recognition import HEAD, Recognised, without_compression
from mqlab.sources import Envelope, Reading

_NOBODY = "unrecognised"


def noting(known: Recognised, start: bytes, name: str) -> Recognised:
    """*known*, with a layout where it is an application's log, or nobody's, and holds lines of a ledger.

    *start* are the first bytes of the content, *name* is that of the file.
    """
    if known.format not in {*line_layout.APPLICATIONS, _NOBODY}:
        return known
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start.removeprefix(codecs.BOM_UTF8))
    lines = [line.rstrip("\r") for line in text.split("\n")]
    whole = lines[:-1] if len(start) >= HEAD and len(lines) > 1 else lines
    if known.envelope not in (Envelope.NONE, Envelope.STRUCTURED):
        whole = [envelopes.peel(line, known.envelope) for line in whole]
    layout = line_layout.layout(whole, without_compression(name), known.envelope)
    if layout is None or known.format != _NOBODY:
        return replace(known, layout=layout)
    return replace(known, format=line_layout.PLAIN, reading=Reading.LOG, layout=layout)
