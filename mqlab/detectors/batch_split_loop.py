"""A batch over the broker's limit but within ``batch.size`` is "split" into itself and resent, again and again.

Fires: one client splits batches of one partition many times with the same number of attempts left (a split uses no
retry), although what it configured cannot make them smaller. Proven when the bytes agree: what the broker rejected,
or what left the host beyond what was accepted, is the number of splits times a batch between limit and batch.size. A
warning where a few such lines are all that there is.
Quiet: splits that end because ``batch.size`` is within the limit (a compression estimate that was wrong, a topic
that stores uncompressed), single records over the limit, retries whose attempts fall, clients from 4.2.0 on.
Source of the mechanism: KAFKA-8350, ``RecordAccumulator.splitAndReenqueue``; of the leak: KAFKA-8325.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding, together
from mqlab.models import kafka_defaults
from mqlab.shared import actors, counters, flows
from mqlab.shared.wording import sample
from mqlab.traffic import split_bytes, splits
from mqlab.traffic.split_bytes import CountedLoop
from mqlab.traffic.splits import EXHAUSTED, Loop, loops_seen, why_not
from mqlab.words import listed
from mqlab.words.filling import Value

INCIDENT = "batch-split-loop"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """Findings per client and topic, or why the splits seen are no loop."""
    judged = [(loop, why_not(facts, loop)) for loop in loops_seen(facts)]
    findings = tuple(_finding(facts, loop) for loop, because in judged if because is None)
    logged = frozenset(loop.client for loop, _ in judged)
    findings += tuple(_counted(facts, loop) for loop in split_bytes.counted_loops(facts, logged))
    if findings:
        return Result(findings)
    if cut := [loop for loop, _ in judged if splits.undecided(facts, loop)]:
        return together(_cut(loop) for loop in cut)
    if judged:
        return Result(rejected=listed(because for _, because in judged if because))
    seen = actors.producers_told(facts) or facts.named("producer.batch_splits") or flows.nothing_rejected(facts)
    if not seen:
        return Result(missing=(say("no-producers"),))
    return CLEAR


def _cut(loop: Loop) -> Result:
    """Of splits after which the log ends."""
    return Result(
        missing=(say("log-ends", client=loop.client, last=loop.last_at),),
        seen=say("cut", splits=loop.count, client=loop.client, topic=loop.topic),
        evidence=tuple(e.first for e in loop.splits[:1]),
    )


def _finding(facts: Facts, loop: Loop) -> Finding:
    ledger = split_bytes.of_loop(facts, loop.client, loop.topic, loop.splits, loop.window)
    crashes = splits.crashes(facts, loop.client, loop.splits)
    ended = max([t for t in (loop.last_at, *[c.last_at for c in crashes]) if t is not None], default=None)
    memory = splits.out_of_memory(facts, loop.client, loop.splits, crashes)
    lines = splits.lines(facts, loop.splits, loop.batch_size, loop.limit, crashes, memory)
    exhausted = sum(e.count for e in crashes if e.kind == "out-of-memory" or (memory and e.value_max == EXHAUSTED))
    return finding(
        INCIDENT,
        f"{loop.client} -> {loop.topic}",
        Certainty.PROVEN if ledger.agrees else Certainty.LIKELY,
        (ledger.began, loop.last_at if loop.last_at is not None else ledger.ended),
        severity=Severity.WARNING if loop.most < splits.MANY and splits.unended(facts, loop) else Severity.CRITICAL,
        ongoing=actors.goes_on(facts, {s.source for s in loop.splits}, ended),
        name=f"{loop.client}/{loop.topic}",
        slots={
            **_slots(facts, loop),
            "batch": ledger.batch,
            "exhausted": exhausted,
            "all_exhausted": exhausted == sum(e.count for e in crashes),
        },
        measures={
            **(ledger.measures or {}),
            "split_count": ledger.count,
            "crashes": sum(e.count for e in crashes) if crashes else None,
        },
        evidence=lines + split_bytes.evidence(facts, loop.client, loop.topic, ledger),
        explains=("log-explosion",),
        ledger=split_bytes.ledger(facts, ledger),
        facts=_remarks(loop, ledger),
        moments=_moments(loop, ledger.began, crashes),
    )


def _counted(facts: Facts, loop: CountedLoop) -> Finding:
    """Counters alone tell of the splits."""
    sums, ledger = loop.ledger.sums, loop.ledger
    return finding(
        INCIDENT,
        f"{loop.client} -> {loop.topic}",
        Certainty.LIKELY,
        (ledger.began, ledger.ended),
        severity=Severity.CRITICAL,
        ongoing=loop.ongoing,
        name=f"{loop.client}/{loop.topic}",
        slots={
            "counted": True,
            "client": loop.client,
            "split_count": ledger.count,
            "rejected": sums.rejected.likely if sums and sums.rejected else None,
            "accepted": sums.accepted.likely if sums and sums.accepted else None,
        },
        measures=ledger.measures or {},
        evidence=(
            *(sample(facts, s, ledger.ended or 0.0, say("counted")) for s in loop.splits),
            *split_bytes.evidence(facts, loop.client, loop.topic, ledger),
        ),
        explains=("log-explosion",),
        facts={"who": say("who", client=loop.client), "topic": loop.topic},
    )


def _slots(facts: Facts, loop: Loop) -> dict[str, Value]:
    """Who splits what, which settings let it, and what the client's version makes of it."""
    return {
        "client": loop.client,
        "topic": loop.topic,
        "batch_size": loop.setting,
        "limit": loop.limit.value if loop.limit else None,
        "partitions": len(loop.by_queue),
        "version": str(loop.version) if loop.version else None,
        "leaks": kafka_defaults.leaks(loop.version),
        "may_leak": kafka_defaults.leaks(loop.version) is not False,
        "counter": counters.queried(facts, "producer.batch_splits", loop.client),
    }


def _moments(loop: Loop, began: float | None, crashes: Sequence[Episode]) -> Iterator[tuple[float | None, str]]:
    """When it split first, where it did not begin with that, and last, and when the process ended."""
    if loop.first_at != began:
        yield loop.first_at, say("first")
    for crash in crashes:
        yield crash.first_at, say("memory" if crash.kind == "out-of-memory" else "exit")
    yield loop.last_at, say("last")


def _remarks(loop: Loop, ledger: split_bytes.SplitLedger) -> dict[str, str | None]:
    """Who it is and where, the settings, and how else the bytes come out."""
    attempts = loop.attempts[0]
    return {
        "who": say("who", client=loop.client, version=str(loop.version) if loop.version else None),
        "topic": loop.topic,
        "partitions": ", ".join(f"{queue}: {count}" for queue, count in loop.by_queue.items()),
        "attempts": f"{attempts:.0f}" if attempts is not None else "?",
        "second_way": listed(ledger.ways),
        "batch.size": loop.setting,
        "limit": loop.limit.value if loop.limit and loop.window else None,
    }
