"""A batch over the broker's limit but within ``batch.size`` is "split" into itself and resent, again and again.

Fires: one client splits batches of one partition many times with the same number of attempts left (a split uses no
retry), although what it configured cannot make them smaller. Proven when the bytes agree: what the broker rejected,
or what left the host beyond what was accepted, is the number of splits times a batch between limit and batch.size.
Quiet: splits that end because ``batch.size`` is within the limit (a compression estimate that was wrong, a topic
that stores uncompressed), single records over the limit, retries whose attempts fall, clients from 4.2.0 on.
Source of the mechanism: KAFKA-8350, ``RecordAccumulator.splitAndReenqueue``; of the leak: KAFKA-8325.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import actors, configured, split_evidence, split_ledger, traffic, units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.models import clients, limits
from mqlab.models.versions import Version
from mqlab.wording import clock, moment

INCIDENT = "batch-split-loop"

REPEATED = 3
"""Splits of one partition that already show the loop where the settings make it certain."""
MANY = 12
"""Splits of one partition that show it where the settings are not known: no batch needs as many halvings."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One client's splits on one topic, with what was configured."""

    client: str
    topic: str
    splits: tuple[Episode, ...]
    version: Version | None
    batch_size: configured.Value | None
    limit: configured.Value | None

    @property
    def count(self) -> int:
        """Split lines."""
        return sum(e.count for e in self.splits)

    @property
    def by_queue(self) -> dict[str, int]:
        """Split lines per partition, most first."""
        found: Counter[str] = Counter()
        for episode in self.splits:
            found[episode.queue or "?"] += episode.count
        return dict(sorted(found.items(), key=lambda kv: (-kv[1], kv[0])))

    @property
    def first_at(self) -> float | None:
        """First split."""
        return self.splits[0].first_at

    @property
    def last_at(self) -> float | None:
        """Last split."""
        return max((e.last_at for e in self.splits if e.last_at is not None), default=None)

    @property
    def window(self) -> tuple[int, int] | None:
        """Sizes in bytes of batches that split into themselves; None where unknown or impossible."""
        size, most = (self.batch_size and self.batch_size.number), (self.limit and self.limit.number)
        return limits.loop_window(most, size) if size and most else None


def detect(facts: Facts) -> Result:
    """Findings per client and topic, or why the splits seen are no loop."""
    loops = [_loop(facts, client, splits) for client, splits in _splitting(facts)]
    findings = tuple(_finding(facts, loop) for loop in loops if _is_loop(loop))
    if findings:
        return Result(findings)
    if loops:
        return Result(rejected="; ".join(_why_not(loop) for loop in loops))
    counted = _counted_only(facts)
    if counted:
        return Result(counted)
    if not _could_be_seen(facts):
        return Result(missing=("a log or metrics of the producers",))
    return CLEAR


def _splitting(facts: Facts) -> list[tuple[str, list[Episode]]]:
    found: dict[tuple[str, str], list[Episode]] = {}
    for client, episodes in actors.by_client(facts, facts.of_kind("batch-split")).items():
        for episode in episodes:
            found.setdefault((client, episode.topic or "?"), []).append(episode)
    return [(client, episodes) for (client, _), episodes in found.items()]


def _loop(facts: Facts, client: str, splits: list[Episode]) -> Loop:
    topic, at = splits[0].topic or "?", splits[0].first_at
    return Loop(
        client,
        topic,
        tuple(splits),
        configured.version_of(facts, client, at),
        configured.producer_value(facts, client, "batch.size", at),
        configured.limit(facts, topic, at),
    )


def _is_loop(loop: Loop) -> bool:
    same_attempts = len({v for e in loop.splits for v in (e.value_min, e.value_max)}) <= 1
    if not same_attempts or clients.loops(loop.version) is False:
        return False
    most = max(loop.by_queue.values())
    size = loop.batch_size
    if size is not None and size.dated:
        return loop.window is not None and most >= REPEATED
    return most >= MANY


def _why_not(loop: Loop) -> str:
    who = f"{loop.count} splits by {loop.client} on {loop.topic} between {clock(loop.first_at)} and {clock(loop.last_at)} UTC"
    if clients.loops(loop.version) is False:
        return f"{who} ended by themselves: client {loop.version} halves a batch that it has split before"
    if loop.batch_size and loop.limit and loop.batch_size.dated and loop.window is None:
        return (
            f"{who} ended by themselves: batch.size {loop.batch_size.value} is within the limit "
            f"{loop.limit.value}, so that a split makes batches that fit"
        )
    return f"{who} ended by themselves after at most {max(loop.by_queue.values())} on one partition"


def _finding(facts: Facts, loop: Loop) -> Finding:
    ledger = split_ledger.of_loop(facts, loop.client, loop.topic, loop.splits, loop.window)
    started = ledger.started
    certainty = Certainty.PROVEN if ledger.agrees else Certainty.LIKELY
    crashes = split_evidence.crashes(facts, loop.splits)
    ended = max([t for t in (loop.last_at, *[c.last_at for c in crashes]) if t is not None], default=None)
    return Finding(
        id=f"{INCIDENT}:{loop.client}/{loop.topic}",
        incident=INCIDENT,
        severity=Severity.CRITICAL,
        certainty=certainty,
        subject=f"{loop.client} -> {loop.topic}",
        started_at=moment(started),
        ended_at=moment(loop.last_at),
        ongoing=split_evidence.ongoing(facts, loop.splits, ended),
        statement=_statement(facts, loop, ledger, crashes),
        measures=ledger.measures | {"split_count": loop.count} | _crash_measures(crashes),
        evidence=split_evidence.lines(facts, loop.splits, loop.batch_size, loop.limit, crashes) + ledger.evidence,
        explains=("log-explosion",),
        mitigate=_mitigate(loop),
        remedy=_remedy(loop),
        verify=_verify(facts, loop),
        ledger=ledger.traffic,
        facts=_words(facts, loop, ledger, crashes),
    )


def _statement(facts: Facts, loop: Loop, ledger: split_ledger.SplitLedger, crashes: Sequence[Episode]) -> str:
    size = f"~{units.size(ledger.batch)} " if ledger.batch else ""
    what = f"{loop.client} resends the same {size}batches to {loop.topic}"
    if loop.window and loop.batch_size and loop.limit:
        why = (
            f"{loop.batch_size.key} {loop.batch_size.value} > limit {loop.limit.value}, so each \"split\" returns "
            "the same batch and uses no retry"
        )
    else:
        why = "each \"split\" returns the same batch and uses no retry"
    damage = f"{loop.count} splits on {len(loop.by_queue)} partition(s) held everything behind them up"
    if crashes and clients.leaks(loop.version):
        damage = f"Client {loop.version} leaks heap with each of the {loop.count} splits: {_ends(facts, crashes)}"
    elif crashes:
        damage += f", {_ends(facts, crashes)}"
    return f"{what}: {why}. {damage}."


def _ends(facts: Facts, crashes: Sequence[Episode]) -> str:
    count = sum(c.count for c in crashes)
    memory = sum(e.count for e in facts.of_kind("out-of-memory")) >= count
    word = "out-of-memory exit" if memory else "abnormal exit"
    return f"{count} {word}{'s' if count != 1 else ''}"


def _crash_measures(crashes: Sequence[Episode]) -> dict[str, float]:
    return {"crashes": sum(c.count for c in crashes)} if crashes else {}


def _mitigate(loop: Loop) -> str:
    most = loop.limit.value if loop.limit else "the topic's max.message.bytes"
    return (
        f"Set batch.size of {loop.client} to 16384 (at most {most}) and restart every replica; "
        "side effect: more and smaller requests. Raising max.message.bytes of the topic ends the loop at the next "
        "resend; side effect: consumers and followers must be able to fetch such batches."
    )


def _remedy(loop: Loop) -> str:
    parts = ["keep batch.size below max.message.bytes of every topic written"]
    if clients.leaks(loop.version) is not False:
        parts.append("upgrade the client to 2.3.1 or later (heap leak, KAFKA-8325)")
    parts.append("4.2.0 is the first client that ends such a loop by itself (KAFKA-8350)")
    return f"{parts[0][0].upper()}{parts[0][1:]}; {'; '.join(parts[1:])}."


def _verify(facts: Facts, loop: Loop) -> str:
    name = next((s.original for s in facts.named("producer.batch_splits")), "batch-split-total")
    where = f'{{client_id="{loop.client}"}}' if not loop.client.endswith("?") else ""
    return f"increase({name}{where}[10m]) = 0, and no \"splitting and retrying\" line, during the next burst"


def _words(
    facts: Facts, loop: Loop, ledger: split_ledger.SplitLedger, crashes: Sequence[Episode]
) -> dict[str, str]:
    words = {
        "who": f"producer {loop.client}" + (f" (kafka-clients {loop.version})" if loop.version else ""),
        "topic": loop.topic,
        "partitions": ", ".join(f"{queue}: {count}" for queue, count in loop.by_queue.items()),
        "attempts": f"{loop.splits[0].value_min:.0f}" if loop.splits[0].value_min is not None else "?",
        "first": f"{clock(loop.first_at)} first split",
        "last": f"{clock(loop.last_at)} last split",
        "second_way": ledger.second_way,
    }
    if loop.batch_size:
        words["batch.size"] = loop.batch_size.value
    if loop.limit:
        words["limit"] = loop.limit.value
    for number, crash in enumerate(crashes, start=1):
        words[f"crash {number}"] = f"{clock(crash.first_at)} {crash.reason or crash.kind}"
    trigger = split_evidence.trigger(facts, loop.splits, ledger.started)
    if trigger:
        words["trigger"] = trigger
    return {key: value for key, value in words.items() if value}


def _counted_only(facts: Facts) -> tuple[Finding, ...]:
    """Clients without a log whose split counters and the broker's rejected bytes tell the same."""
    found = []
    for client in sorted({s.labels.get("client_id") or "" for s in facts.named("producer.batch_splits")} - {""}):
        own = [s for s in facts.named("producer.batch_splits") if s.labels.get("client_id") == client]
        finding = split_ledger.from_counters(facts, client, own, INCIDENT, MANY)
        found += [finding] if finding else []
    return tuple(found)


def _could_be_seen(facts: Facts) -> bool:
    clients_seen = any(s.scope == "producer" and s.origin == "printed" for s in facts.settings)
    return clients_seen or bool(facts.named("producer.batch_splits")) or traffic.scrape(facts.named("producer.record_sends")) is not None
