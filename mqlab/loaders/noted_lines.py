"""Lines of logs in which an application notes each message → LEDGER; the other lines of such a log stay what they are.

Sample lines::

    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid PO-17 (topic=payouts partition=1 offset=33)
    2026-11-22T07:00:01.123Z level=info msg=sent topic=orders partition=3 offset=1032 key=ord-17
    {"ts":"2026-11-22T07:00:01.123Z","level":"info","msg":"acked","topic":"orders","partition":3,"offset":1032}

Which lines these are is told by the first of them (``ledgers.line_shapes``) or by the user's map; the layout of the
log holds the regex of each shape. Only lines of logs that have such a layout are looked at; files of nothing but such
lines are read by ``ledger_lines``. What a line shows of a record's value is not kept. A moment without a zone is read
as UTC.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.ledgers.layout import FIELDS
from mqlab.ledgers.payloads import NAMED, STEPS
from mqlab.ledgers.statements import FAR
from mqlab.ledgers.verbs import HARMLESS, NEGATIVE
from mqlab.loaders import layouts, ledger_lines, ledger_rows
from mqlab.sources import Envelope, Reading
from mqlab.sql import matches, quoted, replaced

_FILE = f".{ledger_lines.FORMAT}."
_PARTED = "\x01"
_DOLLAR = "\\u0024"


@dataclass(frozen=True, slots=True)
class _Shape:
    """One shape and the logs in which it is found, as SQL needs it."""

    pattern: str
    cells: str
    """What a line is replaced by: the fields in their order, role and what it is known by."""
    mapped: bool
    links: list[str] = field(default_factory=list)


def of_logs(by_link: Mapping[str, str | None]) -> dict[str, str]:
    """Those of the layouts *by_link* that are of logs."""
    return {link: text for link, text in by_link.items() if text and link.startswith(Reading.LOG.value)}


def in_words(by_link: Mapping[str, str | None]) -> dict[str, str]:
    """Those of the layouts *by_link* that are of logs, or of files of nothing but such lines."""
    files = {link: text for link, text in by_link.items() if text and _FILE in link}
    return of_logs(by_link) | files


def is_file(link: str) -> str:
    """SQL: true for the *link* of a file that holds nothing but lines of a ledger."""
    return f"contains({link}, {quoted(_FILE)})"


def is_row(link: str, line: str, by_link: Mapping[str, str]) -> str:
    """SQL: true for a *line* that is a row of the ledger in its log; *link* is that of the log."""
    shapes = _shapes(by_link)
    if not shapes:
        return "false"
    cases = " ".join(f"WHEN {_within(link, one)} AND {_fits(_near(line), one)} THEN true" for one in shapes)
    return f"({link} IN ({_list(by_link)}) AND CASE {cases} ELSE false END)"


def line(link: str, raw: str, inner: str) -> str:
    """SQL: what of a line is looked at: an object of a structured log as it stands, else what is in the envelope."""
    return f"CASE WHEN substring({link}, 2, 1) = '{Envelope.STRUCTURED.value}' THEN {raw} ELSE {inner} END"


def without_payload(text: str) -> str:
    """SQL: the line *text* without what it prints of a record's value."""
    cut = text
    for pattern, rest in STEPS:
        cut = f"regexp_replace({cut}, {_literal(pattern)}, {_literal(rest)})"
    return f"CASE WHEN {matches(text, NAMED)} THEN {cut} ELSE {text} END"


def load(rows: DataFrame, by_link: Mapping[str, str]) -> DataFrame:
    """LEDGER of kept *rows* of logs: source, line, text, inner (what is in the envelope) and at (its clock)."""
    known = rows.where(f"source IN ({_list(by_link)})").selectExpr(
        "source", "line", "text", "at", f"{_near(line('source', 'text', 'inner'))} AS said"
    )  # fmt: skip
    cut = known.selectExpr("*", f"{_cut('said', by_link)} AS cut").where("cut IS NOT NULL")
    named = rows.sparkSession.sql(ledger_rows.layouts(by_link)).selectExpr(
        "source", "laid_separator", "laid_party", "laid_group", "laid_topic"
    )
    role, told_by = (f"nullif(get(cut, {len(FIELDS) + n}), '')" for n in (0, 1))
    told = cut.join(F.broadcast(named), "source").selectExpr("*", f"{role} AS laid_role", f"{told_by} AS laid_told")
    return ledger_rows.ledger(told, lambda name: _moment() if name == "time" else _cell(name))


def _cell(name: str) -> str:
    return f"get(cut, {FIELDS.index(name)})"


def _moment() -> str:
    """SQL: the text of the moment of a line: that under a name, else what its log shows, else its envelope's."""
    written = layouts.wall("said")
    own = f"timestamp_micros(unix_micros({written}) - coalesce({layouts.offset('said')}, 0) * 1000000L)"
    return f"coalesce(nullif({_cell('time')}, ''), CAST({own} AS STRING), CAST(at AS STRING))"


def _cut(said: str, by_link: Mapping[str, str]) -> str:
    cases = [
        f"WHEN {_within('source', one)} AND {_fits(said, one)} THEN "
        f"split(regexp_replace({said}, {_literal(_whole(one))}, {_literal(one.cells)}), {_literal(_PARTED)})"
        for one in _shapes(by_link)
    ]
    return f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS ARRAY<STRING>)"


def _whole(one: _Shape) -> str:
    """A regex for all of a line, whose groups are those of the shape."""
    return f"^.*?(?:{one.pattern}).*$" if one.mapped else f"{one.pattern}.*$"


def _fits(said: str, one: _Shape) -> str:
    """SQL: true for a line of a shape that does not deny behind it what it says."""
    found = f"{said} RLIKE {_literal(one.pattern)}"
    if one.mapped:
        return found
    rest = f"regexp_replace({said}, {_literal(one.pattern)}, '')"
    return f"{found} AND NOT {replaced(rest, HARMLESS, ' ')} RLIKE {quoted(NEGATIVE)}"


def _near(text: str) -> str:
    return f"CASE WHEN length({text}) <= {FAR} THEN {text} END"


def _within(link: str, one: _Shape) -> str:
    return f"{link} IN ({_list(one.links)})"


def _list(links: Iterable[str]) -> str:
    return ", ".join(map(quoted, sorted(links)))


def _shapes(by_link: Mapping[str, str]) -> Sequence[_Shape]:
    """Every shape once, those of one log in their order."""
    found: dict[tuple[int, str, str], _Shape] = {}
    for link, text in sorted(by_link.items()):
        for number, given in enumerate(json.loads(text)["lines"]):
            cells = _cells(given)
            key = (number, given["pattern"], cells)
            found.setdefault(key, _Shape(given["pattern"], cells, given["told"] == "map")).links.append(link)
    return [found[key] for key in sorted(found)]


def _cells(given: Mapping[str, Any]) -> str:
    groups = given["groups"]
    fixed = {name: re.sub(r"([\\$])", r"\\\1", text) for name, text in given["fixed"].items()}
    fields = [f"${groups[name]}" if name in groups else fixed.get(name, "") for name in FIELDS]
    return _PARTED.join([*fields, str(given["role"] or ""), str(given["told"] or "")])


def _literal(text: str) -> str:
    """*text* as SQL; a bare dollar may begin a variable there."""
    return quoted(text).replace("$", _DOLLAR)
