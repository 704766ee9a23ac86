"""Logs of the JVM's garbage collector and safepoints → EVENTS of kind ``gc-pause``: times in which the process stood.

Sample lines::

    [2026-11-21T12:00:00.123+0000][12.345s][info][gc] GC(12) Pause Full (Allocation Failure) 300M->200M(512M) 2512.345ms
    [12.345s][info][safepoint] Safepoint "RevokeBias", Time since last: 9 ns, …, Total: 2512345678 ns
    2020-01-01T10:00:00.123+0000: 12.345: [Full GC (Ergonomics) [PSYoungGen: 0K->0K(1K)] 9K->5K(9K), 2.5123456 secs]

The value is seconds, the reason what kind of pause. The moment is that of its END: unified logs write the line then; to
the begin that older collections write their length is added. A line that only counts the seconds since the process
began has no moment, unless a pause above it tells both. A collection's own safepoint is no second pause. What runs
beside the application, such as a concurrent mark, is no pause.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted
from mqlab.tables import EVENTS, Table

FORMAT = "gc-log"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_UNIFIED = r"^(?:\[[^\]]*\])*\[ *(?:gc|safepoint)\b[^\]]*\] *"
_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}[+-]\d{4}"
_STAMP = rf"^(?:{_DATE}: )?(?:\d+[.,]\d{{3}}: )?(?:#\d+: )?"
_PAUSE = r"\bGC\(\d+\) (?:[A-Za-z]: )?(Pause(?: [A-Z]\w*)+)\b.* (\d+(?:[.,]\d+)?)ms\s*$"
_SAFEPOINT = r'Safepoint "([^"]+)", .*\bTotal: +(\d+) ns'
_STOPPED = r"Total time for which application threads were stopped: (\d+[.,]\d+) seconds"
_COLLECTION = (
    r"\[((?:Full )?GC(?: pause| remark| cleanup)?)\b(?! ?concurrent).*, (\d+[.,]\d+) secs\](?: \[Times: .*\])?\s*$"
)
_PAUSES = rf"{_UNIFIED}(?:{_PAUSE}|{_SAFEPOINT}|{_STOPPED})|{_STAMP}(?:{_COLLECTION}|{_STOPPED})"
_OLD = rf"{_STAMP}(?:\[(?:Full )?GC[ -]|{_STOPPED})"
_NOISE = (
    rf"^\[[^\]]*\]\[|{_UNIFIED}|^(?:{_DATE}: )?\d+[.,]\d{{3}}: |^{_DATE}: |^\s|^CommandLine flags: |^Memory: |^Heap"
    r"|HotSpot\(TM\)|^OpenJDK |^[{}]|^\[(?:Times|Eden|PSYoungGen|ParOldGen|Metaspace)|^Desired survivor|^- age "
    r"|^Total time for which|^Application time: |^={5,}|^, \d|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GC log file "
)
_UPTIME = rf"^(?:\[[^\]]*\])*?\[(\d+[.,]\d{{3}})s\]|^(?:{_DATE}: )?(\d+[.,]\d{{3}}): "
_FORM = "yyyy-MM-dd'T'HH:mm:ss.SSSxx"
_LIKELY = 0.5
"""Share of lines that the collector or a safepoint begins; older collectors print many lines about one pause."""


def recognise(head: Head) -> bool:
    """True when most lines are unified logging of gc or safepoints, or older lines about collections stand there."""
    lines = console.plain_lines(head)
    unified = sum(bool(re.search(_UNIFIED, line)) for line in lines)
    old = any(re.search(_OLD, line) for line in lines)
    return bool(lines) and (
        unified >= _LIKELY * len(lines) or (old and all(re.search(f"{_OLD}|{_NOISE}", line) for line in lines))
    )


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One event a pause."""
    pauses = rows.where(matches("plain", _PAUSES)).selectExpr(
        "source", "line", "text",
        f"{_kind()} AS reason",
        f"{_seconds()} AS seconds",
        f"{_number(f'concat({_cut(_UPTIME, 1)}, {_cut(_UPTIME, 2)})')} AS uptime",
        f"try_to_timestamp({filled(_point(_cut(_DATE, 0)))}, {quoted(_FORM)}) AS written",
    )  # fmt: skip
    ended = f"CASE WHEN {_begun('reason')} THEN {_later('written', 'seconds')} ELSE written END AS ended"
    began = f"last({_later('written', '-uptime')}, true) OVER ({console.IN_ORDER}) AS began"
    dated = pauses.selectExpr("*", ended, began).selectExpr("*", f"coalesce(ended, {_later('began', 'uptime')}) AS at")
    clocked = dated.selectExpr("*", "coalesce(unix_micros(at) / 1e6, uptime) AS clock")
    placed = clocked.selectExpr("*", *[f"lag({n}) OVER ({console.IN_ORDER}) AS {n}_before" for n in _LAGGED])
    columns = {"at": "at", "system": "'os'", "kind": "'gc-pause'", "reason": "reason", "value": "seconds"}
    return {EVENTS: EVENTS.rows(placed.where(f"NOT coalesce({_TOLD_BEFORE}, false)"), columns)}


def line_class(text: str) -> str:
    """Pauses are data, all else that the machine writes noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, _PAUSES)} THEN 'data'
        WHEN {matches(line, f"{_OLD}|{_NOISE}")} OR ({console.remark_class(line)}) IS NOT NULL THEN 'noise' END"""


_LAGGED = ("reason", "seconds", "clock")
_TOLD_BEFORE = (
    "startswith(reason, 'Safepoint') AND NOT startswith(reason_before, 'Safepoint') "
    "AND seconds_before <= seconds AND clock - clock_before <= 1"
)
"""The safepoint in which a collection was made, written right after it and longer by a little."""


def _cut(pattern: str, part: int) -> str:
    return group("plain", pattern, part)


def _point(text: str) -> str:
    return f"translate({text}, ',', '.')"


def _number(text: str) -> str:
    return f"try_cast({_point(text)} AS DOUBLE)"


def _later(moment: str, seconds: str) -> str:
    return f"timestamp_micros(unix_micros({moment}) + CAST(round(({seconds}) * 1e6) AS BIGINT))"


def _kind() -> str:
    safepoint = f"concat('Safepoint ', {filled(_cut(_SAFEPOINT, 1))})"
    return f"coalesce({filled(_cut(_PAUSE, 1))}, {safepoint}, {filled(_cut(_COLLECTION, 1))}, 'Safepoint')"


def _begun(reason: str) -> str:
    """SQL: true for a line whose moment is the pause's begin."""
    return f"({reason} LIKE 'GC%' OR {reason} LIKE 'Full GC%')"


def _seconds() -> str:
    parts = ((_PAUSE, 2, "1e3"), (_SAFEPOINT, 2, "1e9"), (_STOPPED, 1, "1"), (_COLLECTION, 2, "1"))
    return f"coalesce({', '.join(f'{_number(_cut(pattern, part))} / {unit}' for pattern, part, unit in parts)})"
