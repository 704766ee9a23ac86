"""What is out of the ordinary, and whether a finding explains it: the guard against calling trouble health.

Symptoms are new ERROR and WARN shapes, events and counters that mean trouble, lag that grows, and a rise of bytes out
over bytes in. Which classes account for an event stands in the catalogue. Lines that brokers and clients print in every
start, restart or hand-over are no symptoms (``shared.benign_lines``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from mqlab.catalogue import INCIDENTS
from mqlab.delivery import loss_mechanisms, losses, positions
from mqlab.delivery.group_audit import dead_letter_topic
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.known_errors import PREFIX, known_errors, words
from mqlab.logs import explosion
from mqlab.mqtt import symptoms
from mqlab.plugins import remembered
from mqlab.rocketmq import shared_client_ids
from mqlab.rows import LineShape, Shape
from mqlab.shared import benign_lines, counters, flows, lag
from mqlab.symptoms.deaths import deaths
from mqlab.words import room

say = room("symptoms")


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that no finding explains."""

    at: float | None
    text: str
    kind: str
    """An event, a counter, or what else classes account for in the catalogue."""
    lines: int = 1
    """Lines or samples that show it."""


def explained(at: float | None, findings: Sequence[Finding], classes: Sequence[str] | None) -> bool:
    """True where a finding of one of these *classes* (None: of any) covers the moment *at*."""
    return any(covers(f, at) for f in findings if classes is None or f.incident in classes)


def covers(finding: Finding, at: float | None) -> bool:
    """True where *at* lies within the finding's time or near it; an unknown time is within every other."""
    if at is None or finding.started_at is None:
        return True
    if at < finding.started_at.timestamp() - explosion.NEAR:
        return False
    return finding.ongoing or finding.ended_at is None or at <= finding.ended_at.timestamp() + explosion.NEAR


UNHEARD = "messages-unheard"
"""Messages that nobody kept for a receiver that was not connected: it is known why they did not arrive."""
CRASHED, CRASH = "broker-crashed", "crash"
"""An event, and the text that tells of it."""
_UNACCOUNTED = ("replication-too-large", CRASHED)
"""Events that mean trouble, whether or not some class accounts for them."""


@remembered
def trouble() -> Mapping[str, Sequence[str]]:
    """Symptoms to the classes that account for them: events, counters that stand still in health, copies and gaps."""
    classes: dict[str, list[str]] = {kind: [] for kind in _UNACCOUNTED}
    for slug, incident in INCIDENTS.items():
        for kind in incident.accounts_for:
            classes.setdefault(kind, []).append(slug)
    for error in known_errors().values():
        if not error.event:
            classes.setdefault(error.kind, []).append(error.incident)
    return classes


SINGLE = {"produce-retry": 10, "request-timeout": 3, "call-failed": 3, **symptoms.SINGLE}
"""Events that any disturbance leaves, up to so many: one disconnect fails up to max.in.flight.requests.per.connection
(5) requests, and a client tries again three times by default."""
NOTICED = frozenset({"produce-retry", "request-timeout", "isr-shrunk", "broker-fenced"}) | symptoms.NOTICED
"""Events that clients and followers print when a broker is restarted in good order."""


OUT_PER_READER = 1.3
"""Bytes out over bytes in and reader that framing of fetches and scrapes of two moments leave (``fan-out``)."""


def _ordinary(rejected: Collection[str]) -> frozenset[str]:
    """Events and counters whose rule has looked at each of them and found nothing."""
    return frozenset(kind for slug in rejected for kind in INCIDENTS[slug].judges)


def rises(facts: Facts, findings: Sequence[Finding], rejected: Collection[str]) -> Iterator[Symptom]:
    """Counters that stand still in health and rose at a time that no finding covers."""
    for name, classes in trouble().items():
        if "." not in name or name in _ordinary(rejected):
            continue
        totals = flows.all_topics(facts, name) if name.startswith("broker.") else facts.named(name)
        rose = [
            (a, v)
            for a, b, v in counters.summed(totals)
            if v > 0 and not any(covers(f, a) or covers(f, b) for f in findings if f.incident in classes)
        ]
        if rose:
            total, original = sum(v for _, v in rose), next(s.original for s in totals)
            yield Symptom(rose[0][0], say("counter", at=rose[0][0], counter=original, total=round(total)), name)


def repeats(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Producers that sent a good part of their records again."""
    for client in sorted({s.labels.get("client_id") or "" for s in facts.named("producer.record_retries")} - {""}):
        names = ("producer.record_retries", "producer.record_sends")
        again, sends = (counters.of_client(facts, name, client) for name in names)
        rose = [(a, v) for a, _, v in counters.summed(again) if v > 0]
        total, every = sum(v for _, v in rose), sum(v for _, _, v in counters.summed(sends))
        if total < max(SINGLE["produce-retry"], counters.REPEATED * every):
            continue
        if not explained(rose[0][0], findings, trouble()["produce-retry"]):
            told = say("repeats", at=rose[0][0], client=client, total=total)
            yield Symptom(rose[0][0], told, "produce-retry")


def ratio(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """A rise of bytes out over bytes in, above what the readers account for."""
    pieces = flows.warm(flows.flows(facts))
    shift = counters.shift([(p.since, p.until, p.out_per_in) for p in pieces])
    if shift is None or explained(shift.at, [f for f in findings if f.severity > Severity.NOTICE], None):
        return
    of_traffic = [f for f in findings if INCIDENTS[f.incident].of_traffic]
    readers = max((flows.readers(facts, p) or 0 for p in pieces), default=0)
    if shift.after > OUT_PER_READER * max(1, readers) and not explained(shift.at, of_traffic, None):
        told = say("ratio", at=shift.at, before=shift.before, after=shift.after)
        yield Symptom(shift.at, told, "traffic-ratio")


def troubles(
    facts: Facts, findings: Sequence[Finding], rejected: Collection[str], loud: Collection[LineShape]
) -> Iterator[Symptom]:
    """Kinds of trouble that are left; splits that end by themselves (*rejected*) and lines of *loud* shapes are not."""
    orderly = [e.first_at for e in facts.of_kind("broker-stopping") if e.first_at is not None]
    for kind, classes in trouble().items():
        left = [e for e in facts.of_kind(kind) if not explained(e.first_at, findings, classes) and abnormal(facts, e)]
        if kind in _ordinary(rejected):
            continue
        flooded = explosion.accounted_sources(loud, facts.of_kind(kind))
        left = [e for e in left if e.source not in flooded]
        if kind in NOTICED:
            left = [e for e in left if not _at_restart(e, orderly)]
        count = sum(e.count for e in left)
        if not left or count < SINGLE.get(kind, 1):
            continue
        place = f"{left[0].source}:{left[0].first.line}"
        told = say("trouble", at=left[0].first_at, what=words()[kind], times=count, several=count > 1, place=place)
        yield Symptom(left[0].first_at, told, kind, count)


def _at_restart(episode: Episode, restarts: Sequence[float]) -> bool:
    return episode.first_at is not None and any(abs(episode.first_at - r) <= benign_lines.RESTART for r in restarts)


def abnormal(facts: Facts, episode: Episode) -> bool:
    """False for an event that looks like trouble and is an ordinary end: an orderly exit, a good-bye, a first start."""
    if episode.kind.startswith(PREFIX):
        return False  # the rule of its class tells of it, or it belongs to a start
    if episode.kind == "record-failed" and episode.topic and dead_letter_topic(facts, episode.topic):
        return False
    if episode.kind in ("offset-missing", "offset-reset-to") and episode.group and episode.first_at is not None:
        told = positions.generations_told(facts, episode.group)
        return not (told and told[0][1] == 1 and positions.first_start(facts, episode.group, episode.first_at))
    if episode.kind != "process-exit":
        return symptoms.abnormal(facts, episode)
    if episode.value_max is None:
        return "Killed" in episode.first.text
    return episode.value_max not in benign_lines.ORDERLY


def crashes_of_brokers(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Brokers that started again without having stopped in good order."""
    for one in deaths(facts):
        if one.back is not None and not explained(one.back, findings, trouble()[CRASHED]):
            place = f"{one.evidence[-1].source}:{one.evidence[-1].line}"
            crashed = say(CRASH, at=one.back, since=one.since, who=one.who, place=place)
            yield Symptom(one.back, crashed, CRASHED)


def unexplained(facts: Facts, findings: Sequence[Finding], rejected: Collection[str] = ()) -> tuple[Symptom, ...]:
    """What remains, earliest first; splits that were found to end by themselves (*rejected*) are explained."""
    # A log that exploded explains nothing but its own lines: why they are printed, it does not say.
    known = [f for f in findings if f.certainty > Certainty.POSSIBLE and f.incident != explosion.INCIDENT]
    loud = [s for f in findings if f.incident == explosion.INCIDENT for s in explosion.shapes_of(facts, f)]
    copied, missing = (trouble()[kind] for kind in ("messages-copied", "messages-missing"))
    found = [
        *troubles(facts, known, rejected, loud),
        *crashes_of_brokers(facts, known),
        *rises(facts, known, rejected),
        *repeats(facts, known),
        *_losses(facts),
        *_shapes(facts, [f for f in known if not INCIDENTS[f.incident].of_traffic], loud),
        *(
            Symptom(grown.at, grown.told, "backlog-grows")
            for grown in lag.grown(facts)
            if not explained(grown.at, known, None)
        ),
        *(Symptom(at, told, "backlog-stands") for at, told in lag.stuck(facts) if not explained(at, known, None)),
        *(Symptom(at, told, "queue-locked-by-other") for at, told in shared_client_ids.doubtful(facts)),
        *(Symptom(a, told, "messages-copied") for a, told in symptoms.copies(facts) if not explained(a, known, copied)),
        *(Symptom(at, told, "connection-lost") for at, told in symptoms.cut_off_when_idle(facts)),
        *(
            Symptom(at, told, "messages-missing")
            for at, told in symptoms.missing(facts)
            if not explained(at, known, missing)
        ),
        *(Symptom(at, told, UNHEARD) for at, told in symptoms.absent(facts) if not explained(at, known, missing)),
        *(
            Symptom(a, told, "messages-waiting")
            for a, told in symptoms.waiting(facts)
            if not explained(a, known, missing)
        ),
        *ratio(facts, known),
    ]
    return tuple(sorted(found, key=lambda s: (s.at if s.at is not None else float("inf"), s.text)))


def _losses(facts: Facts) -> Iterator[Symptom]:
    """Acknowledged records that a log or a group lost by no mechanism that the material tells."""
    for piece in (case.piece for case in loss_mechanisms.of_incident(facts, None) if case.piece.least):
        partition = f"{piece.topic}-{piece.queue}"
        told = say("gone", at=piece.since, records=piece.records, partition=partition)
        yield Symptom(piece.since, told, "records-lost")
    for own in losses.by_groups(facts, None):
        names = {"amount": own.amount, "topic": own.topic, "group": own.group, "how": own.losses[0].how}
        at = losses.gone_past(facts, own)
        yield Symptom(at, say("passed", at=at, **names), "passed-over")


def _shapes(facts: Facts, findings: Sequence[Finding], loud: Collection[LineShape]) -> Iterator[Symptom]:
    """Lines that complain and are no event; a notice, such as a release, accounts for a few of a shape only."""
    known = benign_lines.starts(facts)
    left: dict[tuple[str, str | None], list[Shape]] = defaultdict(list)
    for shape in facts.shapes:
        if not benign_lines.notable(facts, shape) or explosion.accounts_for_shape(loud, shape):
            continue
        able = [f for f in findings if f.severity > Severity.NOTICE or benign_lines.is_slow(facts, shape)]
        if not known.account_for(facts, shape) and not explained(shape.first_at, able, None):
            left[shape.shape, shape.level].append(shape)
    for (text, level), own in left.items():
        first, lines = min(own, key=lambda one: (one.first_at or inf, one.source)), sum(one.lines for one in own)
        place, files = f"{first.source}:{first.first_line}", len(own) if own[1:] else None
        what = text.strip()[:120]
        told = say("shape", at=first.first_at, level=level, lines=lines, place=place, shape=what, files=files)
        yield Symptom(first.first_at, told, "line-shape", lines)
