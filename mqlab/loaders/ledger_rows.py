"""Rows of ledgers → LEDGER, once a line is cut into cells: what all loaders of ledgers share.

The layout of a source (``ledgers.layout``) is joined to its rows: it is small, and a window that finds it would
sort millions of them; for the same reason nothing of what stands around a line is asked for. Long keys become their
length and a hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from mqlab.ledgers.layout import FIELDS, ROLES, WORDS
from mqlab.ledgers.moments import instant
from mqlab.sql import filled, group, quoted
from mqlab.tables import LEDGER

_TOLD = ("separator", "role", "told", "party", "group", "topic")
_DOLLAR = "\\u0024"
"""A dollar in a literal: Spark's SQL takes a bare one for the beginning of a variable."""
LONGEST = 200
"""Characters of a key that is kept as it is."""
_PLACE = r"^(.+)[-:@#/](\d{1,9})$"
"""Topic and partition in one cell, as ``toString`` of Kafka's TopicPartition writes them."""
_YES = ("true", "1", "yes", "t", "y", "r1", "d1")
"""What a DUP or RETAIN flag that is set may look like; mosquitto writes d1 and r1."""
_NO = ("false", "0", "no", "f", "n", "r0", "d0")
_WORDS = {**{role: role for role in ROLES}, **WORDS}


def layouts(by_link: Mapping[str, str]) -> str:
    """SQL of a table with the layout of each source: ``laid_role`` and the like, and for each field its column.

    ``n_time`` is the number of the column, ``p_time`` its path in an object. Plain values only: Spark sees that two
    such tables are the same, and so reads what is joined to them once.
    """
    rows = [_literals(link, json.loads(text)) for link, text in sorted(by_link.items())]
    nobody = _literals("", {"columns": [None] * len(FIELDS)})
    names = [f"laid_{name}" for name in _TOLD] + [f"{kind}_{name}" for name in FIELDS for kind in ("n", "p")]
    return f"SELECT * FROM VALUES {', '.join([nobody, *rows])} AS laid(source, {', '.join(names)})"


def _literals(link: str, layout: Mapping[str, Any]) -> str:
    told = [_text(layout.get(name)) for name in _TOLD]
    numbers = [place if place and re.fullmatch(r"\d{1,6}", place) else None for place in layout["columns"]]
    paths = zip(numbers, layout["columns"], strict=True)
    columns = [part for number, path in paths for part in (f"CAST({number or 'NULL'} AS INT)", _text(path))]
    return f"({', '.join([_text(link), *told, *columns])})"


def _text(value: str | None) -> str:
    return "CAST(NULL AS STRING)" if value is None else quoted(value).replace("$", _DOLLAR)


def kept_key(text: str) -> str:
    """SQL for a key as LEDGER holds it; the same wherever keys are read, so that they compare."""
    hashed = f"concat(length({text}), ':', left(sha2({text}, 256), 32))"
    return f"CASE WHEN length({text}) > {LONGEST} THEN {hashed} ELSE {text} END"


def ledger(rows: DataFrame, cell: Callable[[str], str]) -> DataFrame:
    """LEDGER of rows with their layout (``layouts``); *cell* is SQL for the text of the field of this name.

    A row without a moment is left out.
    """
    cells = [f"CASE WHEN {cell(name)} <> '' THEN {cell(name)} END AS c_{name}" for name in FIELDS]
    known = rows.selectExpr("source", "line", "text", *[f"laid_{name}" for name in _TOLD], *cells)
    columns = {
        "at": instant("c_time"),
        "role": f"coalesce({_role('c_role')}, laid_role)",
        "told": f"CASE WHEN {_role('c_role')} IS NOT NULL THEN 'column' ELSE laid_told END",
        "party": "coalesce(c_party, laid_party)",
        "group": "coalesce(c_group, laid_group)",
        "topic": f"coalesce(c_topic, {filled(group('c_place', _PLACE))}, laid_topic)",
        "queue": f"""CASE WHEN c_queue IS NOT NULL THEN concat_ws('/', c_broker, c_queue)
            ELSE {filled(group("c_place", _PLACE, 2))} END""",
        "offset": "CASE WHEN c_offset NOT LIKE '-%' THEN try_cast(c_offset AS BIGINT) END",
        "key": kept_key("coalesce(c_key, c_message)"),
        "status": "left(c_status, 200)",
        "dup": f"""coalesce({_flag("c_dup")}, c_dup,
            CASE WHEN c_again = '0' THEN 'false' WHEN c_again IS NOT NULL THEN 'true' END)""",
        "bytes": "try_cast(c_bytes AS BIGINT)",
        "qos": "CASE WHEN c_qos IN ('0', '1', '2') THEN CAST(c_qos AS INT) END",
        "retained": _flag("c_retained"),
    }
    return LEDGER.rows(known, columns).where("at IS NOT NULL")


def _role(word: str) -> str:
    words = " ".join(f"WHEN '{told}' THEN '{role}'" for told, role in _WORDS.items())
    return f"CASE WHEN {word} IS NOT NULL THEN CASE lower({word}) {words} END END"


def _flag(text: str) -> str:
    return f"CASE WHEN {_one_of(text, _YES)} THEN 'true' WHEN {_one_of(text, _NO)} THEN 'false' END"


def _one_of(text: str, words: Sequence[str]) -> str:
    return f"lower({text}) IN ({', '.join(map(quoted, words))})"
