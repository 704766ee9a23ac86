"""CSV in which an application notes each message it sent, had acknowledged, received or processed → LEDGER.

Sample lines::

    ts_ms,topic,broker,queueId,queueOffset,tag,key,status
    1795261150883,ORDER_EVENTS,broker-a,11,0,TagA,OD-0000000,SEND_OK
    1795262756811,orders,0,0,2
    2;0;0;2026-11-21T12:04:26.225Z

Cells are parted by commas, semicolons, tabs or bars. Names in the header say what a column is; without a header it is
told by what stands in the columns (``ledgers.columns``). Who noted it is taken from the file's name,
``sink-received.csv``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from mqlab.formats import console, ledger_rows
from mqlab.formats.base import About, Block, Data, Head, Line, Noise, Spec, regex
from mqlab.formats.values import rust
from mqlab.ledgers import columns as ledgers_columns
from mqlab.ledgers import mqtt_columns
from mqlab.ledgers.layout import MOMENT as NAMED_MOMENT
from mqlab.ledgers.layout import Layout, is_mqtt, named_columns, party_in, role_in
from mqlab.ledgers.words import MOMENT
from mqlab.sources import Role
from mqlab.tables import LEDGER

FORMAT = Spec("ledger-csv", Role.LEDGER, (LEDGER,))

SEPARATORS = (",", ";", "\t", "|")
_TIME = r"(?i)^(?:ts|time|timestamp|date|at)(?:_ms|_utc)?$|_(?:utc|ms|at)$"
_MESSAGE = r"(?i)^(?:id|key|topic|partition|offset|queue_?id|queue_?offset|msg_?id|message_?id|packet_?id|qos)$"
_EPOCH = r"(?:^|,)1\d{12}(?:,|$)"
_PARTED = r"[,;\t|]"
_PARTING = "\x1f"
"""Stands for a separator in lines that have others within quotes."""
_ROW = rust(
    rf"(?:^|{_PARTED})\s?\"?(?:1\d{{9}}(?:\d{{3}}){{0,3}}(?:\.\d+)?|20\d\d-\d\d-\d\d[T ]\d\d:\d\d[^,;\t|]*"
    rf"(?:,\d+)?|{MOMENT.pattern})\"?\s?(?:{_PARTED}|\s*$)"
)
_BEFORE = r"[\s\"#\ufeff]*"
_WORD = r"[^\d\s,;\t|\"+-][^,;\t|]*"
_HEADER = regex(
    rf"(?i)^(?=(?:.*{_PARTED})?{_BEFORE}(?:{NAMED_MOMENT})[\s\"]*(?:{_PARTED}|$))"
    rf"{_BEFORE}(?:[@a-z][\w .-]*\"?{_PARTED}\s*\"?)+[@a-z][\w .-]*\"?\s*$"
    rf"|^(?=(?:.*{_PARTED})?{_BEFORE}(?:mqtt_?)?(?:topic|channel)[\s\"]*(?:{_PARTED}|$))"
    rf"{_BEFORE}(?:[@a-z][^/,;\t|]*\"?{_PARTED}\s*\"?)+[@a-z][^/,;\t|]*\"?\s*$"
    rf"|^{_BEFORE}(?:{_WORD}{_PARTED}\s*\"?){{2,}}{_WORD}$"
)
"""A header that names a moment, or a topic, or one of three words or more in any language."""
_BEGIN = 20
"""Lines among which the header is."""
_LOOKED_AT = 500
"""Rows by which columns are told."""
_NAME = re.compile(r"(?:@|[^\W\d])[\w .-]*")
_COLUMN = regex(r"\d{1,6}")


def recognise(head: Head) -> bool:
    """True for a header that names a time and two facts of a message, or for even rows that hold a moment.

    A time and one fact are enough where a name tells what was done with the message.
    """
    lines = console.plain_lines(head)[:_LOOKED_AT]
    if lines and any(_is_header(lines[0], s) or _is_ledger(lines, s, head.name) for s in SEPARATORS):
        return True
    rows = lines[:200]
    even = len({line.count(",") for line in rows}) == 1 and bool(rows) and "," in rows[0]
    if even and all(re.search(_EPOCH, line) and '"' not in line for line in rows):
        return True
    found = next(((kept, s) for s in SEPARATORS if (kept := _rows(rows, s))), None)
    if not found or not len(found[0]) == len(rows) > 2:
        return False
    placed = ledgers_columns.places(found[0])
    return mqtt_columns.places(found[0]) is not None or (placed is not None and "offset" in placed[0])


def layout(head: Head) -> str:
    """Where each fact of a message stands in this file, as text for ``Source.layout``."""
    return laid_out(head).text()


def laid_out(head: Head, separator: str | None = None, header: bool | None = None) -> Layout:
    """The layout of a file whose *separator* and *header* may be known."""
    lines = console.plain_lines(head)
    for one in (separator,) if separator else SEPARATORS:
        named = next(iter(lines), None) if header else None if header is False else _header(lines[:_LOOKED_AT], one)
        if named is not None:
            return _by_header(
                [_bare(cell) for cell in cells(named, one)], _rows(lines[:_LOOKED_AT], one), one, head.name
            )
    best = separator or max(SEPARATORS, key=lambda s: len(_rows(lines[:_LOOKED_AT], s)))
    rows = _rows(lines[:_LOOKED_AT], best)
    columns, shape = mqtt_columns.places(rows) or ledgers_columns.places(rows) or ({}, None)
    role = role_in(head.name)
    told = "name" if role else "shape" if shape else None
    return Layout(
        columns, best, role or shape, told, party_in(head.name), mqtt=is_mqtt(columns, _topics(columns, rows))
    )


def _topics(columns: Mapping[str, str], rows: Sequence[Sequence[str]]) -> list[str]:
    """What stands in the column of topics."""
    return [row[int(columns["topic"])] for row in rows] if "topic" in columns else []


def cells(line: str, separator: str) -> list[str]:
    """The cells of a line; separators within quotes part nothing."""
    parts = parted(line, separator).split(_PARTING) if '"' in line else line.split(separator)
    return [part.strip().strip('"') for part in parts]


def parted(line: str, separator: str) -> str:
    """The line with another mark instead of the separators that an even number of quotes follows."""
    pieces = line.split('"')
    last = len(pieces) - 1
    return '"'.join(p if (last - n) % 2 else p.replace(separator, _PARTING) for n, p in enumerate(pieces))


def parse_block(lines: pl.DataFrame, about: About) -> Block:
    """One row a message; rows with a moment are data, headers noise."""
    found = rows(lines, ledger_rows.layout(about.layout))
    kinds = found.select(pl.when(pl.col("at").is_not_null()).then(pl.lit("data"))).to_series()
    left = kinds.is_null().arg_true()
    if len(left):
        kinds = kinds.scatter(left, _kinds(lines[left]))
    return Block({LEDGER: ledger_rows.dated(found)}, kinds)


def rows(lines: pl.DataFrame, known: Layout) -> pl.DataFrame:
    """LEDGER of all *lines*, cut by their layout."""
    cut, quoted = _cut(lines["text"], known.separator)
    places = {field: int(place) for field, place in known.columns.items() if _COLUMN.fullmatch(place)}
    found = {field: pl.col("cut").list.get(n, null_on_oob=True) for field, n in places.items()}
    if quoted:
        found = {field: cell.str.strip_chars(" ").str.strip_chars('"') for field, cell in found.items()}
    return ledger_rows.ledger(lines.with_columns(cut.alias("cut")), found, known)


def _cut(text: pl.Series, separator: str) -> tuple[pl.Series, bool]:
    """The cells of each line, and whether some wear quotes or blanks."""
    line, mark = text.str.strip_chars_end("\r"), re.escape(separator)
    worn = line.filter(line.str.contains(f'"| {mark}|{mark} '))
    if len(worn) == 0 or worn.str.contains(_simple(mark)).all():
        return line.str.split(separator), len(worn) > 0
    within = (~line.str.contains(_simple(mark))).arg_true()
    again = [parted(one, separator) for one in line.gather(within)]
    return line.str.replace_all(separator, _PARTING, literal=True).scatter(within, again).str.split(_PARTING), True


def _simple(mark: str) -> str:
    """Regex for lines with no separator within quotes: but for the first cell all have an even number of quotes."""
    return rf'^[^{mark}]*(?:{mark}(?:[^"{mark}]|"[^"{mark}]*")*)*$'


def _kinds(lines: pl.DataFrame) -> pl.Series:
    """What lines are from which no row came."""
    text = lines["text"]
    is_row = text.str.contains(_ROW) & text.str.contains(_PARTED)
    others = [Line(*one) for one in lines.filter(~is_row).select("number", "text").iter_rows()]
    told = [_kind(one) for one in console.shown(others, About(""))]
    kinds = pl.select(pl.when(is_row).then(pl.lit("data"))).to_series()
    return kinds.scatter((~is_row).arg_true(), pl.Series(told, dtype=pl.String))


def _kind(one: console.Shown) -> str | None:
    if _HEADER.search(one.line.text):
        return "noise"
    item = console.remark(one)
    return "data" if isinstance(item, Data) else "noise" if isinstance(item, Noise) else None


def _bare(cell: str) -> str:
    return cell.strip('"#\ufeff ')


def _header(lines: Sequence[str], separator: str) -> str | None:
    """The line that names columns: one of words only, that names a moment, or that stands over as many columns."""
    for n, line in enumerate(lines[:_BEGIN]):
        names = [_bare(cell) for cell in cells(line, separator)]
        if len(names) < 2 or not all(_NAME.fullmatch(name) for name in names):
            continue
        known = "time" in named_columns(dict.fromkeys(names, "")) or mqtt_columns.names_messages(names)
        below = [] if known else _rows(lines[n + 1 :], separator)
        if known or (below and len(below[0]) == len(names)):
            return line
    return None


def _is_header(line: str, separator: str) -> bool:
    names = [cell.strip().strip('"') for cell in line.split(separator)]
    facts = [name for name in names if re.search(_MESSAGE, name)]
    return len(facts) >= 2 and any(re.search(_TIME, name) for name in names)


def _rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Rows with as many cells as most have, one of them a moment."""
    parted = [cells(line, separator) for line in lines if separator in line]
    dated = [row for row in parted if any(MOMENT.fullmatch(cell) for cell in row)]
    many = Counter(map(len, dated)).most_common(1)
    return [row for row in dated if len(row) == many[0][0]] if many else []


def _is_ledger(lines: Sequence[str], separator: str, name: str) -> bool:
    """Whether a header and the rows below it are about messages."""
    if _header(lines[:_LOOKED_AT], separator) != lines[0]:
        return False
    names = [_bare(cell) for cell in cells(lines[0], separator)]
    rows = [cells(line, separator) for line in lines[1:_LOOKED_AT]]
    return all(len(row) == len(names) for row in rows) and mqtt_columns.named(names, rows, name).sure


def _by_header(names: Sequence[str], rows: Sequence[Sequence[str]], separator: str, name: str) -> Layout:
    """The layout of columns with names over *rows*."""
    even = [row for row in rows if len(row) == len(names)]
    found = mqtt_columns.named(names, even, name)
    columns = {field: str(n) for field, n in found.columns.items()}
    lower = [bare.lower() for bare in names]
    likely = "consumed" if any(n.startswith("reconsume") for n in lower) else "sent" if "status" in columns else None
    role, by = (found.role, found.told) if found.role else (likely, "column" if likely else None)
    return Layout(
        columns,
        separator,
        role,
        by,
        party_in(name),
        mqtt=is_mqtt(columns, _topics(columns, even)),
        answered=found.answered,
    )
