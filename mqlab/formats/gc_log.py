r"""Logs of the JVM's garbage collector and safepoints → EVENTS of kind ``gc-pause``: times in which the process stood.

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
from typing import NamedTuple

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import MICRO, instant
from mqlab.sources import Role
from mqlab.tables import EVENTS, Row

FORMAT = Spec("gc-log", Role.LOG, (EVENTS,))

_UNIFIED = r"(?:\[[^\]]*\])*\[ *(?:gc|safepoint)\b[^\]]*\] *"
_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}[+-]\d{4}"
_STAMP = rf"(?:{_DATE}: )?(?:\d+[.,]\d{{3}}: )?(?:#\d+: )?"
_STOPPED = r"Total time for which application threads were stopped: (?P<seconds>\d{1,9}[.,]\d+) seconds"
_UNIFIED_PAUSE = regex(
    rf"{_UNIFIED}(?:"
    r"GC\(\d+\) (?:[A-Za-z]: )?(?P<kind>Pause(?: [A-Z]\w*)++)\b.* (?P<millis>\d{1,12}(?:[.,]\d+)?)ms\s*$"
    rf'|Safepoint "(?P<why>[^"]+)", .*\bTotal: +(?P<nanos>\d{{1,18}}) ns|{_STOPPED})'
)
_OLD_PAUSE = regex(
    rf"{_STAMP}(?:"
    r"\[(?P<kind>(?:Full )?GC(?: pause| remark| cleanup)?)\b(?! ?concurrent).*, (?P<length>\d{1,9}[.,]\d+) secs\]"
    rf"(?: \[Times: [^\]]*\])?\s*$|{_STOPPED})"
)
_UNITS = {"millis": 1e3, "nanos": 1e9, "seconds": 1.0, "length": 1.0}
_COLLECTOR = regex(_UNIFIED)
_OLD = regex(rf"{_STAMP}(?:\[(?:Full )?GC[ -]|{_STOPPED})")
_NOISE = regex(
    rf"\[[^\]]*\]\[|{_UNIFIED}|(?:{_DATE}: )?\d+[.,]\d{{3}}: |{_DATE}: |\s|CommandLine flags: |Memory: |Heap"
    r"|.*HotSpot\(TM\)|OpenJDK |[{}]|\[(?:Times|Eden|PSYoungGen|ParOldGen|Metaspace)|Desired survivor|- age "
    r"|Total time for which|Application time: |={5,}|, \d|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GC log file "
)
_WRITTEN = regex(_DATE)
_UPTIME = regex(rf"(?:\[[^\]]*\])*?\[(\d{{1,9}}[.,]\d{{3}})s\]|(?:{_DATE}: )?(\d{{1,9}}[.,]\d{{3}}): ")
_LIKELY = 0.5
"""Share of lines that the collector or a safepoint begins; older collectors print many lines about one pause."""


class _Pause(NamedTuple):
    """A time in which the process stood."""

    reason: str
    seconds: float
    at: int | None
    """Its end."""
    clock: float | None
    """The same in seconds, of the process where nothing tells more."""


def recognise(head: Head) -> bool:
    """True when most lines are unified logging of gc or safepoints, or older lines about collections stand there."""
    lines = console.plain_lines(head)
    unified = sum(bool(_COLLECTOR.match(line)) for line in lines)
    old = any(_OLD.match(line) for line in lines)
    return bool(lines) and (
        unified >= _LIKELY * len(lines) or (old and all(_OLD.match(line) or _NOISE.match(line) for line in lines))
    )


def parse(lines: Lines, about: About) -> Items:  # noqa: ARG001 - these logs date themselves
    """One event a pause; all else that the machine writes is noise."""
    began: int | None = None
    before: _Pause | None = None
    for line in lines:
        text = console.plain(line.text)
        found = _UNIFIED_PAUSE.match(text) or _OLD_PAUSE.match(text)
        if found:
            pause, began = _pause(text, found, began)
            again = before is not None and _is_again(pause, before)
            yield Data(line, () if again else (_event(pause),))
            before = pause
        elif _NOISE.match(text) or _OLD.match(text) or console.is_remark(text):
            yield Noise(line)
        else:
            yield Reject(line)


def _pause(text: str, found: re.Match[str], began: int | None) -> tuple[_Pause, int | None]:
    """What a line tells of a pause, and the moment at which the process began where that is known by now."""
    parts, unit = found.groupdict(), found.lastgroup or ""
    reason = parts["kind"] or " ".join(filter(None, ("Safepoint", parts.get("why"))))
    seconds = _number(parts[unit]) / _UNITS[unit]
    written, up = _WRITTEN.search(text), _UPTIME.match(text)
    at = instant(written[0]) if written else None
    uptime = _number(up[1] or up[2]) if up else None
    if at is not None and uptime is not None:
        began = at - round(uptime * MICRO)
    if at is not None and unit == "length":
        at += round(seconds * MICRO)
    elif at is None and began is not None and uptime is not None:
        at = began + round(uptime * MICRO)
    return _Pause(reason, seconds, at, uptime if at is None else at / MICRO), began


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _is_again(pause: _Pause, before: _Pause) -> bool:
    """True for the safepoint in which a collection was made, written right after it and longer by a little."""
    told = pause.reason.startswith("Safepoint") and not before.reason.startswith("Safepoint")
    if not told or pause.clock is None or before.clock is None:
        return False
    return before.seconds <= pause.seconds and pause.clock - before.clock <= 1


def _event(pause: _Pause) -> Row:
    return EVENTS.row(at=pause.at, system="os", kind="gc-pause", reason=pause.reason, value=pause.seconds)
