"""Rows of ledgers → LEDGER, once a line is cut into cells: what all loaders of ledgers share.

The ``layout`` of a source (``ledger_layout``) is joined to its rows: it is small, and a window that finds it would
sort millions of them; for the same reason nothing of what stands around a line is asked for. Long keys become their
length and a hash.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from mqlab.ledger_layout import FIELDS, ROLES, WORDS
from mqlab.sql import quoted
from mqlab.tables import LEDGER

SCHEMA = (
    "struct<separator string, role string, told string, party string, `group` string, topic string, "
    "columns array<string>>"
)
LONGEST = 200
"""Characters of a key that is kept as it is."""
_SECONDS = r"^\d{10}(?:\.\d+)?$"
_WORDS = {**{role: role for role in ROLES}, **WORDS}


def kept_key(text: str) -> str:
    """SQL for a key as LEDGER holds it; the same wherever keys are read, so that they compare."""
    hashed = f"concat(length({text}), ':', left(sha2({text}, 256), 32))"
    return f"CASE WHEN length({text}) > {LONGEST} THEN {hashed} ELSE {text} END"


def ledger(rows: DataFrame, cell: Callable[[int], str]) -> DataFrame:
    """LEDGER of rows with source, line, text and layout; *cell* is SQL for the text of the field with this number.

    A row without a moment is left out.
    """
    cells = [f"CASE WHEN {cell(n)} <> '' THEN {cell(n)} END AS c_{name}" for n, name in enumerate(FIELDS)]
    known = rows.selectExpr("source", "line", "text", "layout", *cells)
    columns = {
        "at": instant("c_time"),
        "role": f"coalesce({_role('c_role')}, layout.role)",
        "told": f"CASE WHEN {_role('c_role')} IS NOT NULL THEN 'column' ELSE layout.told END",
        "party": "coalesce(c_party, layout.party)",
        "group": "coalesce(c_group, layout.`group`)",
        "topic": "coalesce(c_topic, layout.topic)",
        "queue": "CASE WHEN c_queue IS NOT NULL THEN concat_ws('/', c_broker, c_queue) END",
        "offset": "CASE WHEN c_offset NOT LIKE '-%' THEN try_cast(c_offset AS BIGINT) END",
        "key": kept_key("coalesce(c_key, c_message)"),
        "status": "left(c_status, 200)",
        "dup": "coalesce(c_dup, CASE WHEN c_again = '0' THEN 'false' WHEN c_again IS NOT NULL THEN 'true' END)",
        "bytes": "try_cast(c_bytes AS BIGINT)",
    }
    return LEDGER.rows(known, columns).where("at IS NOT NULL")


def _role(word: str) -> str:
    words = " ".join(f"WHEN '{told}' THEN '{role}'" for told, role in _WORDS.items())
    return f"CASE WHEN {word} IS NOT NULL THEN CASE lower({word}) {words} END END"


def instant(text: str) -> str:
    """Timestamp of epoch seconds or milliseconds, or of ISO text, where no zone is UTC."""
    whole = f"try_cast({text} AS BIGINT)"
    return f"""CASE
        WHEN length({text}) = 13 THEN timestamp_millis({whole})
        WHEN {text} RLIKE {quoted(_SECONDS)} THEN
            timestamp_micros(CAST(try_cast({text} AS DECIMAL(20, 6)) * 1000000 AS BIGINT))
        ELSE try_cast(replace({text}, ',', '.') AS TIMESTAMP) END"""
