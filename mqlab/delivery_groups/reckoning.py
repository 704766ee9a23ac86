"""What a Kafka group lost in one partition, and by which mechanism; what nothing tells is counted as unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.delivery.rows import Loss, Side
from mqlab.delivery_groups.aside import shelf
from mqlab.delivery_groups.cover import doubt, noted_at
from mqlab.delivery_groups.deleted import deleted
from mqlab.delivery_groups.early import early
from mqlab.delivery_groups.missing import below, position, sparse, unhandled
from mqlab.delivery_groups.offsets import offsets
from mqlab.delivery_groups.passed import losses
from mqlab.delivery_groups.ranges import Why
from mqlab.delivery_groups.runs import Run, inside, outside
from mqlab.delivery_groups.skips import skips
from mqlab.delivery_groups.stints import Stint, stints, until_given_back
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka.ledgers import noting
from mqlab.memo import per_facts

Place = tuple[str, str, str]
"""A group, a topic and a partition."""
EARLY = "commit-before-process-loss"
SKIPPED = "skipped after an error"


@dataclass(frozen=True, slots=True)
class Reckoning:
    """One partition."""

    losses: tuple[Loss, ...]
    unknown: int
    """Messages before the group's position that no ledger notes, where nothing tells whether it should."""
    doubts: tuple[str, ...]
    """What is not there that would tell."""
    by_hand: int = 0
    """Messages that were left out on purpose: somebody set the group's offset past them."""
    aside: int = 0
    """Messages that could not be handled and stand in a topic for such."""


@per_facts
def reckon(facts: Facts, group: str, topic: str, queue: str) -> Reckoning:
    """What *group* lost there, by mechanism."""
    place = (group, topic, queue)
    stood = position(facts, *place)
    found = list(losses(facts, place))
    rest = below(unhandled(facts, *place), stood) if stood is not None else []
    by_hand = 0
    for skip in skips(facts, *place):
        by_hand += sum(run.messages for run in inside(rest, skip.low, skip.high)) if skip.why is Why.HAND else 0
        rest = outside(rest, skip.low, skip.high)
    gone, rest = deleted(offsets(facts, *place), rest) if noting(facts, group, topic) else ([], rest)
    found += [_loss(place, str(Why.RETENTION), one.run, "ids right before the log start", one.place) for one in gone]
    if not noting(facts, group, topic):
        return Reckoning(tuple(found), _total(rest), _nothing(group, rest), by_hand)
    rest, failed = _failed(facts, place, rest)
    aside = sum(loss.records for loss in failed) if shelf(facts, topic) else 0
    found += [] if aside else failed
    unknown, doubts = 0, list[str]()
    for stint in reversed(stints(facts, *place)):
        runs = inside(rest, stint.low, stint.high)
        tail = any(run.high == stint.high for run in runs)
        for run in runs:
            own = _worked_on(facts, place, stint, run)
            why = doubt(facts, place, own, run)
            if why:
                unknown, doubts = unknown + run.least, [*doubts, why]
            else:
                found += _lost(facts, place, own, run, tail)
        rest = outside(rest, stint.low, stint.high)
    if _total(rest):
        unknown, doubts = unknown + _total(rest), [*doubts, f"who had {topic}-{queue}: the logs of the consumers"]
    return Reckoning(tuple(found), unknown, tuple(dict.fromkeys(doubts)), by_hand, aside)


def _worked_on(facts: Facts, place: Place, stint: Stint, run: Run) -> Stint:
    """The stint in which *run* was to be handled: up to where its process gave the partition back.

    That counts only where it noted what it read next: until then the records may have been in its memory.
    """
    part = until_given_back(stint, run.high)
    return part if part is not None and noted_at(facts, place, run.high) else stint


def _nothing(group: str, rest: Sequence[Run]) -> tuple[str, ...]:
    return (f"the ledger of every member of {group}",) if _total(rest) else ()


def _total(runs: Sequence[Run]) -> int:
    return sum(run.least for run in runs)


def _failed(facts: Facts, place: Place, rest: Sequence[Run]) -> tuple[list[Run], list[Loss]]:
    """*rest* without records of which the application says that they failed, and those."""
    found = []
    for episode in facts.of_kind("record-failed"):
        if (episode.topic, episode.queue) != place[1:] or episode.value_max is None:
            continue
        low, high = int(episode.value_min or 0), int(episode.value_max) + 1
        if high - low > episode.count:
            low = high - 1
        found += [_loss(place, None, run, SKIPPED, episode.first) for run in inside(rest, low, high)]
        rest = outside(rest, low, high)
    return list(rest), found


def _lost(facts: Facts, place: Place, stint: Stint, run: Run, tail: bool) -> Iterator[Loss]:
    """They were committed and never handled: the last ones before a commit tell why.

    A queue in memory is lost from some record on to its end (*tail*); several threads leave single ones before that.
    Offsets of which nothing tells that they hold a message count only beside a sign that commits were early.
    """
    signs, exact = early(facts, place, stint), run.least == run.most
    last, first = run.high == stint.high, run.first or stint.places[0]
    if last and (exact or (not sparse(facts, place[1]) and (signs.waiting or signs.ahead))):
        yield _loss(place, EARLY, run, f"committed up to {units.number(stint.high)}, noted by no ledger", first, stint)
    elif exact and tail and stint.stopped and (signs.auto or signs.waiting):
        yield _loss(place, EARLY, run, "committed, noted by no ledger, others behind them are", first, stint)
    elif exact:
        yield _loss(place, None, run, "noted by no ledger, others behind them are", first)


def _loss(place: Place, incident: str | None, run: Run, how: str, first: Evidence, stint: Stint | None = None) -> Loss:
    group, topic, queue = place
    evidence = (*(stint.places[1:] if stint else ()), first)
    return Loss(
        incident, Side.GROUP, topic, queue, group, run.messages, run.least, run.most, run.low, run.high - 1,
        run.since, run.until, how, evidence,
    )  # fmt: skip
