"""Stages of a chain whose messages ledgers follow by id: how many reached each, and which did not reach the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from mqlab.bridging import parties
from mqlab.bridging.parties import Rows
from mqlab.bridging.rows import Gap, Share, Stage, Step, Whereabouts
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.rows.mqtt import Flow, TopicFlow

Row = Flow | TopicFlow
BY_IDS = "each message by its id"


def stages(facts: Facts, rows: Rows, bridge: Sequence[str], readers: Mapping[str, Sequence[str]]) -> tuple[Stage, ...]:
    """Published, acknowledged, taken, stored and handled of the messages that a publisher's ledger notes.

    A message that was handled had been stored; one that the bridge took and nobody has handled yet may be.
    """
    sent = [row for row in rows if row.sender is not None]
    found = [_published(sent), _acknowledged(sent)]
    if bridge:
        found.append(taken(facts, sent, bridge))
    if readers:
        far = sorted({source for own in readers.values() for source in own})
        found.append(_stored(sent, bridge, far))
        found += [_noted(facts, Step.HANDLED, who, sent, own) for who, own in readers.items()]
    return tuple(found)


def taken(facts: Facts, rows: Rows, takers: Sequence[str]) -> Stage:
    """What the ledgers *takers* note of the messages of publishers."""
    return _noted(facts, Step.TAKEN, "", [row for row in rows if row.sender is not None], takers)


def receivers(rows: Rows) -> tuple[str, ...]:
    """Every ledger of a receiver, sorted."""
    return tuple(sorted({source for row in rows for source, _ in row.received}))


def count(rows: Iterable[Row]) -> int:
    """Messages of all of them."""
    return sum(row.messages for row in rows)


def noted(row: Row, ledgers: Iterable[str]) -> int:
    """How often these ledgers note each message of *row*."""
    own = set(ledgers)
    return sum(times for source, times in row.received if source in own)


def _published(sent: Rows) -> Stage:
    shares = tuple(
        Share(next((r.party for r in sent if r.sender == source and r.party), None) or source,
              count(r for r in sent if r.sender == source), source)
        for source in sorted({r.sender for r in sent if r.sender})
    )  # fmt: skip
    return replace(_stage(Step.PUBLISHED, "", sent, BY_IDS), shares=shares)


def _acknowledged(sent: Rows) -> Stage:
    good = [row for row in sent if not row.failed]
    promised = count(row for row in good if row.qos != 0)
    without = count(good) - promised
    how = f"{BY_IDS}; {without:,} of QoS 0, which nobody acknowledges" if without else BY_IDS
    return replace(_stage(Step.ACKNOWLEDGED, "", good, how), low=promised)


def _noted(facts: Facts, step: Step, who: str, sent: Rows, ledgers: Sequence[str]) -> Stage:
    here = [row for row in sent if noted(row, ledgers)]
    again = sum((noted(row, ledgers) - 1) * row.messages for row in here)
    shares = tuple(
        Share(parties.names(facts, [source])[0], count(r for r in here if noted(r, [source])), source)
        for source in ledgers
    )
    named = who or ", ".join(parties.names(facts, ledgers))
    return replace(_stage(step, named, here, BY_IDS), shares=shares, again=again)


def _stored(sent: Rows, bridge: Sequence[str], far: Sequence[str]) -> Stage:
    there = [row for row in sent if noted(row, far)]
    high = count(row for row in sent if noted(row, far) or noted(row, bridge)) if bridge else None
    how = "those that were handled had been stored"
    if high is not None and high > count(there):
        how += "; what the bridge took besides may be"
    return replace(_stage(Step.STORED, "", there, how), high=count(sent) if high is None else high)


def _stage(step: Step, who: str, rows: Rows, how: str) -> Stage:
    many = count(rows)
    return Stage(step, who, many, many, many, how, *ends(rows), evidence=places(rows))


def ends(rows: Rows) -> tuple[float | None, float | None]:
    """When the first and the last message of *rows* was published."""
    return span(at for row in rows for at in (row.first_at, row.last_at))


def places(rows: Rows) -> tuple[Evidence, ...]:
    """Where the first and the last of them are noted."""
    if not rows:
        return ()
    first, last = min(rows, key=_first), max(rows, key=_last)
    return tuple(dict.fromkeys((first.first, last.last)))


def _first(row: Row) -> tuple[float, str, int]:
    return (row.first_at, row.first.source, row.first.line or 0)


def _last(row: Row) -> tuple[float, str, int]:
    return (row.last_at, row.last.source, row.last.line or 0)


def refused(rows: Rows) -> tuple[Gap, ...]:
    """Messages whose publisher noted that it failed, and that nobody received."""
    gone = [row for row in rows if row.sender is not None and row.failed and not row.received]
    if not gone:
        return ()
    arrived = count(row for row in rows if row.failed and row.received)
    how = "their publishers noted a failure or no answer"
    how += f"; {arrived:,} more of those were received all the same" if arrived else ""
    return (gap(Step.PUBLISHED, Step.ACKNOWLEDGED, Whereabouts.REFUSED, gone, how),)


def gap(after: Step, before: Step, where: Whereabouts, rows: Rows, how: str, who: str = "") -> Gap:
    """All messages of *rows*, counted."""
    many = count(rows)
    return Gap(after, before, where, who, many, many, many, how, *ends(rows), evidence=places(rows))


def missing(rows: Rows, reached: Callable[[Row], bool], nexts: Sequence[str]) -> tuple[Row, ...]:
    """Acknowledged messages of publishers that *reached* a stage and that none of the ledgers *nexts* notes."""
    return tuple(r for r in rows if r.sender is not None and not r.failed and reached(r) and not noted(r, nexts))
