"""The delivery audit as a screen: for each topic the verdict, the way of its messages, what was lost and doubled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, tzinfo

import click

from mqlab import audit_words
from mqlab.audit_fetch import commands_for
from mqlab.audit_path import PathRow, groups, path, total
from mqlab.audit_rows import Audit, Doubled, Loss, Outcome
from mqlab.audit_words import NOT_TOLD, Toll, bounded, count, partition
from mqlab.facts import Facts
from mqlab.scope import systems
from mqlab.screen_rows import LABEL, ROOM, WIDTH, clipped, line, placed, row, safe
from mqlab.units import counted, number

_ALWAYS = ("partition", "sent", "acknowledged", "stored")
_READ = ("handled", "committed at")
_LESS_TELLING = ("of them stored", "unanswered", "log", "failed")
"""What goes first where numbers are too long for the screen."""
_MOST_ROWS = 24
_MOST_PARTS = 8
_COLOURS = {
    "LOST AND DOUBLED": "red", "LOST": "red", "DOUBLED": "yellow", "CANNOT SAY": "yellow", "NOTHING LOST": "green",
}  # fmt: skip
_GRAVE = (Outcome.LOST_AND_DOUBLED, Outcome.LOST, Outcome.DOUBLED, Outcome.UNKNOWN, Outcome.COMPLETE)


def audit_screen(audits: Sequence[Audit], tz: tzinfo = UTC, *, nothing: str = "") -> str:
    """Every topic, those with losses first; *nothing* is said where there is none."""
    ordered = sorted(audits, key=lambda audit: (_GRAVE.index(audit.outcome), audit.topic))
    lines = [one for audit in ordered for one in ("", *_topic(audit, tz))][1:]
    fetch = commands_for(words for audit in ordered for words in audit.missing)
    lines += [f"{'' if number_ else 'FETCH':<{LABEL}}{safe(one)}" for number_, one in enumerate(fetch)]
    return "\n".join(one.rstrip() for one in lines or [nothing]) + "\n"


def nothing(facts: Facts, topic: str | None) -> str:
    """Why there is nothing to audit, in a sentence."""
    if "kafka" not in systems(facts):
        return "Nothing in this material is of Kafka, so that there is no delivery to audit."
    named = f" {safe(topic)}" if topic else ""
    return f"This material cannot say whether messages were lost: it tells of no topic{named} of Kafka."


def exit_code(audits: Sequence[Audit]) -> int:
    """2 where something was lost or doubled, 1 where the material cannot say or tells nothing, else 0."""
    if not audits or all(audit.outcome in (Outcome.COMPLETE, Outcome.UNKNOWN) for audit in audits):
        return int(not audits or any(audit.outcome is Outcome.UNKNOWN for audit in audits))
    return 2


def coloured(text: str) -> str:
    """The screen for a terminal: verdicts in colour, labels bold."""
    return "\n".join(_coloured(one) for one in text.split("\n"))


def _coloured(text: str) -> str:
    head, gap, rest = text.partition("  ")
    if gap and head in _COLOURS and not rest.startswith(" ") and ":" not in rest:
        return click.style(head, fg=_COLOURS[head], bold=True) + gap + rest
    return click.style(text[:LABEL], bold=True) + text[LABEL:] if re.match(r"[A-Z]+ +\S", text[: LABEL + 1]) else text


def _topic(audit: Audit, tz: tzinfo) -> Iterator[str]:
    yield clipped(f"{audit.outcome.upper()}  {safe(audit.topic)}", WIDTH)
    yield from (text[LABEL:] for text in row("", audit.statement, 4))
    if audit.log or audit.groups:
        for group in groups(audit):
            yield from _path(path(audit, group), group)
    yield from _tolls("LOST", audit_words.losses(audit), tz)
    yield from _tolls("FAILED", audit_words.refused(audit), tz)
    yield from _tolls("DOUBLED", audit_words.doubles(audit), tz)
    for number_, words in enumerate(audit.missing):
        yield from row("" if number_ else "MISSING", words, 2)


def _path(rows: Sequence[PathRow], group: str | None) -> Iterator[str]:
    told = f"to group {group}" if group else "to the log; no group that reads it is told of"
    yield line("PATH", told)
    shown, hidden = _chosen(rows)
    cells = [_cells(one) for one in shown]
    cells += [_cells(total(rows))] if len(rows) > 1 else []
    widths = {
        name: max(len(name), *(len(one[name]) for one in cells)) for name in cells[0] if _shown(name, group, cells)
    }
    names = _fitting(widths)
    for one in ({name: name for name in names}, *cells):
        texts = (f"{one[n]:<{widths[n]}}" if n == "partition" else f"{one[n]:>{widths[n]}}" for n in names)
        yield " " * LABEL + "  ".join(texts)
    if hidden:
        yield line("", f"{counted(hidden, 'more partition')} in the sum (mqlab audit --format json lists them)")


def _fitting(widths: Mapping[str, int]) -> list[str]:
    """The columns that there is room for."""
    names = list(widths)
    for less in _LESS_TELLING:
        if sum(widths[name] + 2 for name in names) - 2 <= ROOM:
            break
        names = [name for name in names if name != less]
    return names


def _chosen(rows: Sequence[PathRow]) -> tuple[Sequence[PathRow], int]:
    """Of very many partitions those with losses, doubles or something unknown stay."""
    ranked = sorted(rows, key=lambda one: not (one.lost or one.doubled or one.unknown))
    kept = ranked[:_MOST_ROWS]
    return [one for one in rows if one in kept], len(rows) - len(kept)


def _cells(one: PathRow) -> dict[str, str]:
    def cell(name: str, value: int | None) -> str:
        return f"≥ {number(value)}" if value is not None and name in one.partly else count(value)

    whole = one.queue is None
    return {
        "partition": "all" if whole else safe(one.queue) or "not told",
        "sent": cell("sent", one.sent),
        "acknowledged": cell("acked", one.acked),
        "failed": cell("failed", one.failed),
        "of them stored": cell("failed_stored", one.failed_stored),
        "unanswered": cell("unanswered", one.unanswered),
        "stored": cell("stored", one.stored),
        "handled": cell("handled", one.handled),
        "committed at": "" if whole else count(one.committed),
        "log": "" if whole or one.start is None is one.end else f"{count(one.start)} to {count(one.end)}",
        "lost": number(one.lost),
        "pending": cell("pending", one.pending),
        "doubled": number(one.doubled),
        "unknown": number(one.unknown),
    }


def _shown(name: str, group: str | None, cells: Sequence[dict[str, str]]) -> bool:
    """Columns of the path always, others where they say something."""
    if name in (*_ALWAYS, "lost", "doubled"):
        return True
    if name in (*_READ, "pending"):
        return group is not None
    return any(one[name] not in ("", "0", NOT_TOLD) for one in cells)


def _tolls(label: str, tolls: Sequence[Toll], tz: tzinfo) -> Iterator[str]:
    verb = "acknowledged " if label == "LOST" else ""
    for toll in tolls:
        when = audit_words.between(toll.since, toll.until, tz)
        told = f"{toll.incident}: {bounded(toll.records, toll.least, toll.most)} {toll.where}"
        yield line(label, told + (f", {verb}{when}" if when else ""))
        yield from (_part(one) for one in toll.parts[:_MOST_PARTS])
        more = len(toll.parts) - _MOST_PARTS
        if more > 0:
            yield line("", f"  {number(more)} more (mqlab audit --format json lists them)")
        label = ""


def _part(one: Loss | Doubled) -> str:
    records = one.extra if isinstance(one, Doubled) else one.records
    told = f"  {partition(one.queue)}: {bounded(records, one.least, one.most)} {audit_words.offsets(one)}".rstrip()
    first = one.evidence[0] if one.evidence else None
    place = "" if first is None else f"{first.source}:{first.line}" if first.line else first.source
    text = f"{told}; {one.how}" if one.how else told
    return placed("", text, place) if place else line("", text)
