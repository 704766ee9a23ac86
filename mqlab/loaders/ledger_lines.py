"""Log lines in which an application notes each message it had acknowledged, received or processed, one a line → LEDGER.

Sample lines::

    2026-11-22 03:21:15,592 INFO web ack id=1 partition=1 offset=0 topic=clicks
    2026-11-22 03:19:55,396 INFO  [main] com.acme.Payer - paid PO-000001 (topic=payouts partition=1 offset=0)
    2026-11-22 04:03:22,384 acked SMS0000006

The same words stand at the same places in all lines (``ledgers.lines``); other lines are few and tell of no message. A
clock without a zone is read as UTC. Who noted it is taken from the file's name, ``web-acked.log``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from mqlab.ledgers.layout import Layout, party_in
from mqlab.ledgers.line_candidates import unlike
from mqlab.ledgers.line_shapes import found
from mqlab.ledgers.lines import Noted, noted
from mqlab.ledgers.words import APART, LINE
from mqlab.loaders import console, ledger_rows
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, quoted
from mqlab.tables import LEDGER, Table

FORMAT = "ledger-lines"
TABLES: tuple[Table, ...] = (LEDGER,)
READING = Reading.TABLE

_LOOKED_AT = 500
"""Lines by which words are told."""


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


def _is_told_so(lines: Sequence[str], name: str, told: Noted) -> bool:
    """Whether verbs and places say the same; where the file's name does not tell the role, they must say so."""
    shapes, mqtt = found(lines, name)
    same = all(one.role in (told.role, None) for one in shapes) if told.role else True
    return not mqtt and same and (bool(shapes) or told.told == "name")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a message; *rows* have their layout. Where lines note offsets, one without is about something else.

    It may be the failure of a message where each line tells what was done.
    """
    line = "rtrim('\r', text)"
    parted = rows.selectExpr("*", f"{group(line, LINE)} AS moment", f"{group(line, LINE, 2)} AS behind")
    cut = parted.selectExpr("*", f"split(behind, {quoted(APART)}) AS cut")
    placed, keyed = f"{_word('offset')} IS NOT NULL", f"{_word('key')} IS NOT NULL"
    told = cut.where(f"{placed} OR ({keyed} AND (p_offset IS NULL OR p_role IS NOT NULL))")
    return {LEDGER: ledger_rows.ledger(told, lambda field: "moment" if field == "time" else _word(field))}


def line_class(text: str) -> str:
    """Dated lines are data."""
    return f"CASE WHEN trim({text}) = '' THEN 'noise' WHEN {matches(text, LINE)} THEN 'data' END"


def _word(field: str) -> str:
    """The word at the place of *field*, where the word that names it stands before it."""
    place, name = f"try_cast(split_part(p_{field}, ':', 1) AS INT)", f"split_part(p_{field}, ':', 2)"
    return f"CASE WHEN {name} = '' OR get(cut, {place} - 1) = {name} THEN get(cut, {place}) END"
