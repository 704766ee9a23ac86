"""Evidence with the lines around it, read again from the material."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import polars as pl

from mqlab.findings import Evidence, Finding
from mqlab.material import remote
from mqlab.material.envelopes import peel
from mqlab.secrets import mask_all, mask_spanning, within
from mqlab.sources import Source
from mqlab.terminal import visible

SHOWN = 400
"""Characters shown of one line."""
_ABOVE = 100
"""Lines before these that are looked at, since a secret may begin in them."""


def shown(finding: Finding, sources: Sequence[Source], lines: int) -> str:
    """The finding's statement and each of its places with *lines* lines before and after."""
    places = {s.path: s for s in sources}
    parts = [f"{finding.id}  {finding.severity.name} {finding.certainty.name}\n{finding.statement}\n"]
    actions = (("DO NOW", finding.mitigate), ("FIX", finding.remedy), ("VERIFY", finding.verify))
    parts += [f"{label:<7} {text}\n" for label, text in actions if text]
    for evidence in finding.evidence:
        parts.append("\n" + "\n".join(_place(evidence, places.get(evidence.source), lines)) + "\n")
    return "".join(parts)


def _place(evidence: Evidence, source: Source | None, lines: int) -> Iterator[str]:
    yield f"{evidence.source}:{evidence.line or '?'}  {evidence.why}".rstrip()
    if evidence.pointer:
        yield f"    {evidence.pointer}"
        return
    if source is None or evidence.line is None or not remote.is_there(source.location):
        yield f"  > {evidence.text}"
        return
    yield from excerpt(source, evidence.line, lines)


def excerpt(source: Source, line: int, around: int) -> Iterator[str]:
    """The lines of *source* from *around* before to *around* after *line*, numbered, with secrets masked."""
    first = max(1, line - around)
    above = max(1, first - _ABOVE)
    with remote.opened(source.location) as file:
        raw = [one.decode("utf-8", "replace").rstrip("\r\n") for one in islice(file, above - 1, line + around)]
    inner = pl.Series([peel(one, source.envelope) for one in raw], dtype=pl.String)
    hidden = mask_all(within(pl.Series(raw, dtype=pl.String), inner, mask_all(mask_spanning(inner))))
    for number, text in enumerate(hidden, start=above):
        if number >= first:
            yield f"{'  > ' if number == line else '    '}{number:>6}  {visible(text)[:SHOWN]}"
