"""The delivery audit as a screen: for each topic the verdict, the way of its messages, what was lost and doubled."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

import click

from mqlab.bridging.rows import Chain
from mqlab.delivery import words as audit_words
from mqlab.delivery.fetch import commands_for
from mqlab.delivery.path import groups, path
from mqlab.delivery.rows import Audit, Doubled, Loss, Outcome
from mqlab.delivery.summary import by_gravity
from mqlab.delivery.words import Toll, bounded, partition
from mqlab.delivery_risks.rows import Risk
from mqlab.findings import Evidence
from mqlab.screens import chain
from mqlab.screens.audit_path import path_rows
from mqlab.screens.rows import LABEL, WIDTH, clipped, line, placed, row, safe
from mqlab.units import number

_MOST_PARTS = 8
_MOST_RISKS = 8
_COLOURS = {
    "LOST AND DOUBLED": "red", "LOST": "red", "DOUBLED": "yellow", "CANNOT SAY": "yellow", "WAITING": "yellow",
    "NOTHING LOST": "green", "NOTHING LOST FROM THE LOG": "green",
}  # fmt: skip


def audit_screen(
    audits: Sequence[Audit],
    tz: tzinfo = UTC,
    because: str = "",
    risks: Sequence[Risk] = (),
    ways: Sequence[Chain] = (),
) -> str:
    """Every topic and every way of MQTT messages, those with losses first, and what settings may do.

    *because* says why there is neither.
    """
    ordered = by_gravity(audits)
    lines = [one for audit in ordered for one in ("", *_topic(audit, tz))][1:]
    lines += [*chain.tables(ways, tz)][0 if lines else 1 :]
    lines = lines or textwrap.wrap(safe(because), WIDTH, break_on_hyphens=False)
    lines += ["", *_risks(risks)] if risks else []
    fetch = commands_for(
        [*(words for audit in ordered for words in audit.missing), *([] if audits or ways else [because])]
    )
    lines += [f"{'' if number_ else 'FETCH':<{LABEL}}{safe(one)}" for number_, one in enumerate(fetch)]
    return "\n".join(one.rstrip() for one in lines) + "\n"


def exit_code(audits: Sequence[Audit], ways: Sequence[Chain] = ()) -> int:
    """2 where something was lost or doubled, 1 where the material cannot say or tells nothing, else 0."""
    if ways:
        return max(chain.exit_code(ways), exit_code(audits) if audits else 0)
    if any(audit.outcome not in (Outcome.COMPLETE, Outcome.IN_LOG, Outcome.UNKNOWN) for audit in audits):
        return 2
    return int(not audits or any(audit.outcome is not Outcome.COMPLETE for audit in audits))


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
    yield from textwrap.wrap(safe(audit.statement), WIDTH, break_on_hyphens=False)
    if audit.log or audit.groups:
        for group in groups(audit):
            yield from path_rows(path(audit, group), group)
    yield from _tolls("LOST", audit_words.losses(audit), tz)
    yield from _tolls("FAILED", audit_words.refused(audit), tz)
    yield from _tolls("DOUBLED", audit_words.doubles(audit), tz)
    for number_, words in enumerate(audit.missing):
        yield from row("" if number_ else "MISSING", words, 2)


def _tolls(label: str, tolls: Sequence[Toll], tz: tzinfo) -> Iterator[str]:
    verb = "acknowledged " if label == "LOST" else ""
    for toll in tolls:
        when = audit_words.between(toll.since, toll.until, tz)
        told = f"{toll.incident}: {bounded(toll.records, toll.least, toll.most)} {toll.where}"
        yield line(label, told + (f", {verb}{when}" if when else ""))
        ways = {one.how for one in toll.parts}
        yield from row("", f"  counted: {', '.join(ways)}", 2) if len(ways) == 1 and all(ways) else ()
        yield from (_part(one, len(ways) > 1) for one in toll.parts[:_MOST_PARTS])
        more = len(toll.parts) - _MOST_PARTS
        if more > 0:
            yield line("", f"  {number(more)} more (mqlab audit --format json lists them)")
        label = ""


def _risks(risks: Sequence[Risk]) -> Iterator[str]:
    """What settings make possible, whether or not it happened."""
    for place, risk in enumerate(risks[:_MOST_RISKS]):
        told = f"{risk.setting}={risk.value} of {risk.owner}: {risk.may}"
        yield from row("" if place else "RISKS", told, 2)
        each = ", ".join(part for part in (audit_words.at_stake(risk), audit_words.due(risk)) if part)
        yield _placed(f"  {f'each time {each}' if each else 'how many is not known'}; {risk.effective}", risk.evidence)
    if len(risks) > _MOST_RISKS:
        yield line("", f"{number(len(risks) - _MOST_RISKS)} more (mqlab audit --format json lists them)")


def _placed(text: str, evidence: Sequence[Evidence]) -> str:
    """*text*, and at its end the first place that shows it."""
    first = evidence[0] if evidence else None
    place = "" if first is None else f"{first.source}:{first.line}" if first.line else first.source
    return placed("", text, place) if place else line("", text)


def _part(one: Loss | Doubled, own_way: bool) -> str:
    records = one.extra if isinstance(one, Doubled) else one.records
    told = f"  {partition(one.queue)}: {bounded(records, one.least, one.most)} {audit_words.offsets(one)}".rstrip()
    text = f"{told}; counted: {one.how}" if one.how and own_way else told
    return _placed(text, one.evidence)
