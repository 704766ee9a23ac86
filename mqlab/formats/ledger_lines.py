"""Log lines in which an application notes each message it had acknowledged, received or processed, one a line → LEDGER.

Sample lines::

    2026-11-22 03:21:15,592 INFO web ack id=1 partition=1 offset=0 topic=clicks
    2026-11-22 03:19:55,396 INFO  [main] com.acme.Payer - paid PO-000001 (topic=payouts partition=1 offset=0)
    2026-11-22 04:03:22,384 acked SMS0000006

The same words stand at the same places in all lines (``ledgers.lines``); other lines are few and tell of no message. A
clock without a zone is read as UTC. Who noted it is taken from the file's name, ``web-acked.log``.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from mqlab.formats import console, ledger_rows
from mqlab.formats.base import About, Block, Head, Spec
from mqlab.formats.values import rust
from mqlab.ledgers.alike_lines import APART, MOMENT, Noted, noted
from mqlab.ledgers.layout import Layout, party_in
from mqlab.ledgers.log_shapes import found, unlike
from mqlab.sources import Role
from mqlab.tables import LEDGER

FORMAT = Spec("ledger-lines", Role.LEDGER, (LEDGER,))

_LOOKED_AT = 500
"""Lines by which words are told."""
_LINE = rust(rf"^[\[(]?(?P<moment>{MOMENT})[\])]?(?P<behind>\s.*)$")
_APART, _PARTING = rust(APART), "\x1f"


def recognise(head: Head) -> bool:
    """True where nearly all lines are dated and note a message: its place, or what was done with which id.

    Positions, batches and what was not done are no messages. Messages of MQTT, and lines whose verb and place tell
    another role than their words alone, are read as lines of a log (``noted_lines``).
    """
    lines = console.plain_lines(head)[:_LOOKED_AT]
    told = noted(lines, head.name)
    return told.sure and not unlike(lines) and _is_told_so(lines, head.name, told)


def layout(head: Head) -> str:
    """Which word is which fact, as text for ``Source.layout``."""
    told = noted(console.plain_lines(head)[:_LOOKED_AT], head.name)
    return Layout(told.columns, "", told.role, told.told, party_in(head.name)).text()


def parse_block(lines: pl.DataFrame, about: About) -> Block:
    """One row a message; dated lines are data. Where lines note offsets, one without is about something else.

    It may be the failure of a message where each line tells what was done.
    """
    known = ledger_rows.layout(about.layout)
    text = ledger_rows.without_payload(lines["text"])
    parts = text.str.strip_chars_end("\r").str.extract_groups(_LINE).struct.unnest()
    cut = parts["behind"].str.replace_all(_APART, _PARTING).str.split(_PARTING)
    cells = {field: _word(place) for field, place in known.columns.items()}
    ids = ("offset", "key") if "role" in cells or "offset" not in cells else ("offset",)
    told = pl.any_horizontal(pl.lit(False), *[cells[name].is_not_null() for name in ids if name in cells])
    cells["time"] = pl.when(told).then(pl.col("moment"))
    rows = ledger_rows.ledger(lines.with_columns(text, parts["moment"], cut.alias("cut")), cells, known)
    kinds = pl.select(pl.when(parts["moment"].is_not_null()).then(pl.lit("data"))).to_series()
    return Block({LEDGER: ledger_rows.dated(rows)}, kinds)


def _is_told_so(lines: Sequence[str], name: str, told: Noted) -> bool:
    """Whether verbs and places say the same; where the file's name does not tell the role, they must say so."""
    shapes, mqtt = found(lines, name)
    same = all(one.role in (told.role, None) for one in shapes) if told.role else True
    return not mqtt and same and (bool(shapes) or told.told == "name")


def _word(place: str) -> pl.Expr:
    """The word at a *place* such as ``4:offset``, where the word that names it stands before it."""
    number, _, name = place.partition(":")
    words = pl.col("cut").list
    word = words.get(int(number), null_on_oob=True)
    return pl.when(words.get(int(number) - 1, null_on_oob=True) == name).then(word) if name else word
