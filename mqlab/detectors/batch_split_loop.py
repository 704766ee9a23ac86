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

from collections.abc import Sequence

from mqlab import units
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding, together
from mqlab.models import kafka_defaults
from mqlab.shared import actors, flows
from mqlab.shared.wording import clock, sample
from mqlab.traffic import split_bytes, splits
from mqlab.traffic.split_bytes import CountedLoop
from mqlab.traffic.splits import Loop, loops_seen, why_not

INCIDENT = "batch-split-loop"
SYSTEMS: tuple[str, ...] = ("kafka",)


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
        return Result(rejected="; ".join(because for _, because in judged if because))
    seen = actors.producers_told(facts) or facts.named("producer.batch_splits") or flows.nothing_rejected(facts)
    if not seen:
        return Result(missing=("a log or metrics of the producers",))
    return CLEAR


def _cut(loop: Loop) -> Result:
    """Of splits after which the log ends."""
    return Result(
        missing=(f"the log of {loop.client} after {clock(loop.last_at)} UTC, or its batch.size and max.message.bytes",),
        seen=f"{loop.count} splits by {loop.client} on {loop.topic}, up to the end of its log",
        evidence=tuple(e.first for e in loop.splits[:1]),
    )


def _finding(facts: Facts, loop: Loop) -> Finding:
    ledger = split_bytes.of_loop(facts, loop.client, loop.topic, loop.splits, loop.window)
    crashes = splits.crashes(facts, loop.client, loop.splits)
    ended = max([t for t in (loop.last_at, *[c.last_at for c in crashes]) if t is not None], default=None)
    lines = splits.lines(facts, loop.splits, loop.batch_size, loop.limit, crashes)
    return finding(
        INCIDENT,
        f"{loop.client} -> {loop.topic}",
        Certainty.PROVEN if ledger.agrees else Certainty.LIKELY,
        (ledger.started, loop.last_at if loop.last_at is not None else ledger.ended),
        severity=Severity.WARNING if loop.most < splits.MANY and splits.unended(facts, loop) else Severity.CRITICAL,
        ongoing=actors.goes_on(facts, {s.source for s in loop.splits}, ended),
        name=f"{loop.client}/{loop.topic}",
        statement=_statement(facts, loop, ledger, crashes),
        measures={
            **(ledger.measures or {}),
            "split_count": ledger.count,
            "crashes": _sum(crashes) if crashes else None,
        },
        evidence=lines + split_bytes.evidence(facts, loop.client, loop.topic, ledger),
        explains=("log-explosion",),
        mitigate=_mitigate(loop),
        remedy=_remedy(loop),
        verify=_verify(facts, loop),
        ledger=split_bytes.ledger(facts, ledger),
        facts=_words(facts, loop, ledger, crashes),
    )


def _counted(facts: Facts, loop: CountedLoop) -> Finding:
    """Counters alone tell of the splits."""
    sums, ledger = loop.ledger.sums, loop.ledger
    rejected = sums.rejected.likely if sums and sums.rejected else None
    thrown = f" while the broker rejected {units.size(rejected)}" if rejected else ""
    kept = f" and accepted {units.size(sums.accepted)}" if sums and rejected and sums.accepted else ""
    return finding(
        INCIDENT,
        f"{loop.client} -> {loop.topic}",
        Certainty.LIKELY,
        (ledger.started, ledger.ended),
        severity=Severity.CRITICAL,
        ongoing=loop.ongoing,
        name=f"{loop.client}/{loop.topic}",
        statement=(
            f"{loop.client} split batches {loop.count:.0f} times{thrown}{kept}. The counters fit batches that are "
            "split into themselves; the client's log would prove it."
        ),
        measures=ledger.measures or {},
        evidence=(
            *(sample(facts, s, ledger.ended or 0.0, "splits counted by the producer") for s in loop.splits),
            *split_bytes.evidence(facts, loop.client, loop.topic, ledger),
        ),
        explains=("log-explosion",),
        mitigate="Set batch.size below the topic's max.message.bytes; side effect: more and smaller requests.",
        remedy="Keep batch.size within max.message.bytes; upgrade the client to 4.2.0 or later.",
        verify="batch-split-total stands still during the next burst.",
        facts={"who": f"producer {loop.client}", "topic": loop.topic},
    )


def _sum(episodes: Sequence[Episode]) -> int:
    return sum(e.count for e in episodes)


def _statement(facts: Facts, loop: Loop, ledger: split_bytes.SplitLedger, crashes: Sequence[Episode]) -> str:
    size = f"~{units.size(ledger.batch)} " if ledger.batch else ""
    what = f"{loop.client} resends the same {size}batches to {loop.topic}"
    why = 'each "split" returns the same batch and uses no retry'
    if loop.window and loop.window[1] and loop.batch_size and loop.limit:
        why = f"batch.size {loop.batch_size.value} > limit {loop.limit.value}, so {why}"
    damage = f"{ledger.count} splits on {units.counted(len(loop.by_queue), 'partition')} held everything behind them up"
    if crashes and kafka_defaults.leaks(loop.version):
        damage = f"Client {loop.version} leaks heap with each of the {ledger.count} splits: {_ends(facts, crashes)}"
    elif crashes:
        damage += f", {_ends(facts, crashes)}"
    return f"{what}: {why}. {damage}."


def _ends(facts: Facts, crashes: Sequence[Episode]) -> str:
    count = _sum(crashes)
    word = "out-of-memory exit" if facts.of_kind("out-of-memory") else "abnormal exit"
    return f"{count} {word}{'s' if count != 1 else ''}"


def _mitigate(loop: Loop) -> str:
    most = loop.limit.value if loop.limit else "the topic's max.message.bytes"
    return (
        f"Set batch.size of {loop.client} to 16384 (at most {most}) and restart every replica; "
        "side effect: more and smaller requests. Raising max.message.bytes of the topic ends the loop at the next "
        "resend; side effect: consumers and followers must be able to fetch such batches."
    )


def _remedy(loop: Loop) -> str:
    parts = ["Keep batch.size below max.message.bytes of every topic written"]
    if kafka_defaults.leaks(loop.version) is not False:
        parts.append("upgrade the client to 2.3.1 or later (heap leak, KAFKA-8325)")
    parts.append("4.2.0 is the first client that ends such a loop by itself (KAFKA-8350)")
    return f"{'; '.join(parts)}."


def _verify(facts: Facts, loop: Loop) -> str:
    name = next((s.original for s in facts.named("producer.batch_splits")), "batch-split-total")
    return (
        f'increase({name}{{client_id="{loop.client}"}}[10m]) = 0, and no "splitting and retrying" line, '
        "during the next burst"
    )


def _words(
    facts: Facts, loop: Loop, ledger: split_bytes.SplitLedger, crashes: Sequence[Episode]
) -> dict[str, str | None]:
    attempts = loop.attempts[0]
    words: dict[str, str | None] = {
        "who": f"producer {loop.client}" + (f" (kafka-clients {loop.version})" if loop.version else ""),
        "topic": loop.topic,
        "partitions": ", ".join(f"{queue}: {count}" for queue, count in loop.by_queue.items()),
        "attempts": f"{attempts:.0f}" if attempts is not None else "?",
        "first": f"{clock(loop.first_at)} first split",
        "last": f"{clock(loop.last_at)} last split",
        "second_way": ledger.second_way,
        "batch.size": loop.batch_size.value if loop.batch_size and loop.window and loop.window[1] else None,
        "limit": loop.limit.value if loop.limit and loop.window else None,
        "trigger": splits.trigger(facts, loop.splits, ledger.started),
    }
    for number, crash in enumerate(crashes, start=1):
        words[f"crash {number}"] = f"{clock(crash.first_at)} {crash.reason or crash.kind}"
    return words
