"""The way of MQTT messages on screens: a row of the triage screen, and a table of the audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

from mqlab.bridging import words
from mqlab.bridging.ids import BY_IDS
from mqlab.bridging.rows import Chain, Gap, Stage
from mqlab.findings import Evidence
from mqlab.screens.rows import LABEL, WIDTH, clipped, line, placed, row, safe
from mqlab.units import number

_MOST_SHARES = 8
_MOST_ROWS = 2
_WIDE = 12


def rows(chains: Sequence[Chain], tz: tzinfo = UTC) -> Iterator[str]:
    """A row for each bridge, the worst first."""
    shown = words.worst([chain for chain in chains if chain.system])[:_MOST_ROWS]
    for place, chain in enumerate(shown):
        yield from row("" if place else "CHAIN", words.sentence(chain, tz), 4)


def tables(chains: Sequence[Chain], tz: tzinfo = UTC) -> Iterator[str]:
    """For each way its verdict, its stages, and what is missing with the place that shows it."""
    for chain in words.worst(chains):
        yield ""
        yield clipped(f"{words.outcome(chain).upper()}  {safe(words.title(chain))}", WIDTH)
        yield from row("", words.sentence(chain, tz))
        known = "each message's id" if chain.by == "ids" else "counts"
        yield line("PATH", f"{'stage':<{_WIDE}}  {'messages':>{_WIDE}}  {'copies':>8}  who, by {known}")
        for stage in chain.stages:
            yield from _stage(stage)
        for place, gap in enumerate(chain.gaps):
            yield from _gap("" if place else "MISSING", gap, tz)
        for note in chain.notes:
            yield from row("", note, 2)


def exit_code(chains: Sequence[Chain]) -> int:
    """2 where messages were thrown away, 1 where nothing tells where some are, else 0."""
    told = {words.outcome(chain) for chain in chains}
    return 2 if words.LOST in told else int(words.UNKNOWN in told)


def _stage(stage: Stage) -> Iterator[str]:
    copies = number(stage.again) if stage.again else ""
    told = ", ".join(part for part in (stage.who, "" if stage.how == BY_IDS else stage.how) if part)
    yield line("", f"{stage.step.value:<{_WIDE}}  {words.amount(stage):>{_WIDE}}  {copies:>8}  {told}")
    several = len(stage.shares) > 1
    for share in stage.shares[:_MOST_SHARES] if several else ():
        yield placed("", f"{'':<{_WIDE}}  {number(share.messages):>{_WIDE}}  {'':>8}  {share.who}", share.place)
    if several and len(stage.shares) > _MOST_SHARES:
        yield line("", f"{number(len(stage.shares) - _MOST_SHARES)} more (mqlab audit --format json lists them)")


def _gap(label: str, gap: Gap, tz: tzinfo) -> Iterator[str]:
    yield from row(label, words.missing(gap, tz), 2)
    yield from row("", f"  {gap.how}", 2)
    for place in gap.evidence[:2]:
        yield _evidence(place)


def _evidence(place: Evidence) -> str:
    where = f"{place.source}:{place.line}" if place.line else place.source
    return f"{'':<{LABEL}}  {safe(where)}  {clipped(safe(place.text), 60)}".rstrip()
