"""Producers that send batches again, and applications that submit failed records again from a callback.

Many records over the limit and one such record again and again print the same lines, and both make the broker reject
far more than it accepts. What tells them apart is what came in: the application's own counter of resubmissions, or
more failures (or failed bytes) than it received. A card counts too, where the host only passes on what it receives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import TrafficLedger
from mqlab.models import kafka_defaults
from mqlab.shared import actors, configured, counters, failures, flows
from mqlab.shared.benign_lines import RESTART, STARTING
from mqlab.shared.failures import NONE, Failed
from mqlab.traffic import card

say = words.room("resending")

IN_CLIENT = "when serialized"
"""What the line says of a record that its own client refuses: no byte of it leaves."""
_PRECONDITIONS = ("enable.idempotence", "acks", "retries", "max.in.flight.requests.per.connection")


@dataclass(frozen=True, slots=True)
class Resending:
    """One client's retries between two moments; None where no counter says."""

    first: float | None
    last: float | None
    lines: int
    again: float | None
    """Records sent again."""
    sends: float | None
    """All transmissions of records."""
    failed: Failed
    idempotent: bool | None
    attempts: tuple[int, ...]
    """Numbers of attempts left that were printed, falling."""

    @property
    def share(self) -> float | None:
        """Share of repeats among all transmissions."""
        return self.again / self.sends if self.sends and self.again is not None else None

    @property
    def transmissions(self) -> float | None:
        """Transmissions a record."""
        return self.sends / (self.sends - self.again) if self.sends and self.again and self.sends > self.again else None


def of_client(facts: Facts, client: str, episodes: Sequence[Episode]) -> Resending:
    """What *episodes* of retries and the counters of *client* say."""
    first, last = actors.span(episodes)
    left = {round(v) for e in episodes for v in (e.value_min, e.value_max) if v is not None}
    return Resending(
        first,
        last,
        sum(e.count for e in episodes),
        counted(facts, client, "producer.record_retries", first, last),
        counted(facts, client, "producer.record_sends", first, last),
        failures.failed(facts, client, {e.topic for e in episodes if e.topic}, first, last) or NONE,
        idempotent(facts, client, first),
        tuple(sorted(left, reverse=True)),
    )


def counted(facts: Facts, client: str, name: str, first: float | None, last: float | None) -> float | None:
    """Increase of the counter *name* of *client*, all of it for lines without a date; None where it covers nothing."""
    own = [s for s in counters.of_client(facts, name, client) if s.points]
    begin, end = -inf if first is None else first, inf if last is None else last
    return counters.rise(own, begin, end, counters.first_scrapes(facts)) if own else None


def idempotent(facts: Facts, client: str, at: float | None) -> bool | None:
    """Whether the broker would drop second copies, as far as settings of *client* are known."""
    known = {k: v.value for k in _PRECONDITIONS if (v := configured.producer_value(facts, client, k, at)) and v.setting}
    return kafka_defaults.idempotence(known, configured.version_of(facts, client, at)) if known else None


def ledger(facts: Facts, client: str, found: Resending) -> TrafficLedger | None:
    """Bytes in to bytes out of the producer's host; None without its card and the share of repeats."""
    host, share = actors.host_of(facts, client), found.share
    if host is None or found.first is None or found.last is None or share is None:
        return None
    counted_by_card = counters.ratio(facts, host, found.first, found.last)
    if counted_by_card is None:
        return None
    own = counted(facts, client, "producer.outgoing_bytes", found.first, found.last)
    base = own if own is not None else counted_by_card.bytes_out
    once, again = round(base * (1 - share)), round(base * share)
    stages = (
        card.stage("accepted", say("first"), once, 0.1, say("sends-less-retries")),
        card.stage("retries", say("again"), again, 0.2, say("share-of-bytes")),
    )
    return card.ledger(host, counted_by_card, stages, None, None, ())


def wire(facts: Facts, told: TrafficLedger | None, found: Resending) -> dict[str, float]:
    """Measures of what came in and left meanwhile, by the card that *told* was counted at."""
    if told is None or found.first is None or found.last is None:
        return {}
    sent = counters.ratio(facts, told.host, found.first, found.last)
    return card.counted(sent, counters.ratios(facts, told.host, found.first, found.last)) if sent else {}


TIMED_OUT = "REQUEST_TIMED_OUT"
TRANSPORT = frozenset({"NETWORK_EXCEPTION", TIMED_OUT})
"""Errors after which the broker may have stored the batch already."""
FEW_RETRIES = 10
"""Retry lines below which they are what two disconnects leave: each fails up to max.in.flight.requests.per.connection
(5) requests."""


def harmless(facts: Facts, client: str, episodes: Sequence[Episode], found: Resending) -> str | None:
    """Why these retries of *client* amplify nothing; None where they do."""
    if found.lines < FEW_RETRIES:
        return say("few", retries=found.lines)
    restarts = _restarts(facts)
    if all(e.first_at is not None and any(a <= e.first_at <= b for a, b in restarts) for e in episodes):
        return say("restart", retries=found.lines, within=RESTART)
    late = [e for e in facts.of_kind("request-timeout") if actors.client_of(facts, e) == client]
    if not late and len(found.attempts) < 2:
        return say("first-attempt", retries=found.lines)
    moved = [
        e.first_at
        for e in facts.of_kind("produce-retry")
        if (e.reason or "").startswith("NOT_LEADER") and e.first_at is not None and actors.client_of(facts, e) == client
    ]
    if not late and all(_near(e, moved) for e in episodes):
        return say("moved", retries=found.lines, within=RESTART)
    if found.again is not None and found.sends and found.again < counters.REPEATED * found.sends:
        return say("few-repeats", again=round(found.again), sends=round(found.sends))
    return None


def _restarts(facts: Facts) -> tuple[tuple[float, float], ...]:
    """Times around restarts of brokers; of a start with which a log begins, that before it: it is no restart."""
    begins = {c.source: c.first_at for c in facts.coverage if c.first_at is not None}
    seen: set[str] = set()
    found = []
    for line in facts.of_kind("broker-started", "broker-stopping"):
        at = line.first_at
        if at is not None:
            ran = line.kind == "broker-stopping" or line.source in seen
            ran = ran or at - begins.get(line.source, at) > STARTING
            found.append((at - RESTART, at + RESTART if ran else at))
        seen.add(line.source)
    return tuple(found)


def _near(episode: Episode, moments: Sequence[float]) -> bool:
    return episode.first_at is not None and any(abs(episode.first_at - m) <= RESTART for m in moments)


def other_reasons(facts: Facts) -> Iterator[str]:
    """Splits, and retries that neither the connection nor a timeout caused."""
    splits = facts.of_kind("batch-split")
    left = {value for e in splits for value in (e.value_min, e.value_max) if value is not None}
    if len(left) == 1 and not facts.of_kind("produce-retry"):
        yield say("attempts-stay", left=f"{left.pop():.0f}")
    elif splits:
        yield say("splits", splits=sum(e.count for e in splits))
    others = reasons([e for e in facts.of_kind("produce-retry") if e.reason not in TRANSPORT])
    if sum(n for _, n in others) >= FEW_RETRIES:
        yield say("others", reasons=[say("times", count=n, reason=reason) for reason, n in sorted(others)])


def untold(facts: Facts) -> Iterator[str]:
    """Repeats that only counters, or only time-outs, tell of: the reason is not in the material."""
    logged = {actors.client_of(facts, e) for e in facts.of_kind("produce-retry", "batch-split")}
    for client in sorted({s.labels.get("client_id") or "" for s in facts.named("producer.record_retries")} - {""}):
        again, sends = (
            counted(facts, client, name, 0.0, inf) for name in ("producer.record_retries", "producer.record_sends")
        )
        if client not in logged and again and again >= FEW_RETRIES and again >= counters.REPEATED * (sends or again):
            yield say("no-log", client=client, again=round(again))
    late = [e for e in facts.of_kind("request-timeout") if actors.client_of(facts, e) not in logged]
    if sum(e.count for e in late) >= FEW_RETRIES:
        yield say("no-counters", late=sum(e.count for e in late))


def reasons(episodes: Iterable[Episode]) -> list[tuple[str, int]]:
    """Errors that made a producer send again and how often, the most frequent first."""
    often: Counter[str] = Counter()
    for episode in episodes:
        often[episode.reason or say("unknown")] += episode.count
    return sorted(often.items(), key=lambda kv: (-kv[1], kv[0]))


FEW_FAILURES = 10
"""Failures below which nobody can tell, and nothing is amplified. Judgement, no default behind it."""
MORE = 1.5
"""Times more failures, or failed bytes, than came in from which records must have been submitted again: midway between
one, where each fails once, and two, where each is submitted again. Judgement, no default behind it."""
FORWARDS = 0.3, 3.0
"""Bytes out over bytes in of a host that passes on what it receives: it may pack it otherwise, by up to three times."""
JUMP = 3.0
"""Times its usual out over in from which the card of such a host shows bytes that never came in: packing otherwise
makes less. Judgement, no default behind it, as ``FORWARDS``."""
REJECTED = 0.7
"""Share of the failed records' bytes that the broker must count as rejected: it counts batches, compressed ones it may
be, and a scrape misses some. Judgement, no default behind it."""
LAG = 60.0
"""Seconds by which a counter may end before the last failure: applications print theirs now and then, and scrapes come
every 60 s at the latest (scrape_interval of Prometheus, by default)."""


@dataclass(frozen=True, slots=True)
class Resubmission:
    """Failed records that went out again."""

    client: str
    first: float
    last: float
    count: float
    """Submissions that the application counted, else failures."""
    how: str
    """What shows it, in words."""
    lines: tuple[Episode, ...]
    counters: tuple[Series, ...]
    rejected: float | None
    accepted: float | None
    agrees: bool
    """The bytes rejected, or sent beyond the usual, fit."""


def found(facts: Facts) -> list[Resubmission]:
    """Every client whose application submits failed records again."""
    return [r for client, lines in _failing(facts).items() if (r := _of_client(facts, client, lines)) is not None]


def unclear(facts: Facts) -> list[str]:
    """What could be resubmission and cannot be told from many records of one size."""
    known = {r.client for r in found(facts)}
    told: list[str] = []
    for client, lines in _failing(facts).items():
        sizes = {v for e in lines for v in (e.value_min, e.value_max)}
        count = sum(e.count for e in lines)
        if (
            client not in known
            and count >= FEW_FAILURES
            and len(sizes) == 1
            and _came_in(facts, lines, "records") is None
            and not _name_several(lines)
        ):
            told.append(say("unclear", client=client, failures=count))
    return told


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.,]+")
_ID = re.compile(r"\b(?:key|id)\W{1,2}\w+|\b[A-Za-z][\w-]*\d[\w-]*")


def _name_several(lines: Sequence[Episode]) -> bool:
    """Each line that is kept names something that not all do, such as its record: these are several."""
    told = [set(_ID.findall(_MOMENT.sub("", text))) for text in {t for e in lines for t in (e.first.text, e.last.text)}]
    return len(told) > 1 and all(own - set.intersection(*told) for own in told)


def _failing(facts: Facts) -> dict[str, list[Episode]]:
    """Records that the broker refused, by client; another story is that of split batches and dead producers."""
    others = failures.dead(facts) | {actors.client_of(facts, e) for e in facts.of_kind("batch-split")}
    refused = [e for e in facts.of_kind("record-too-large") if e.reason != IN_CLIENT and e.first_at is not None]
    return {client: lines for client, lines in actors.by_client(facts, refused).items() if client not in others}


def _of_client(facts: Facts, client: str, lines: Sequence[Episode]) -> Resubmission | None:
    first, last = _span(lines)
    failures = sum(e.count for e in lines)
    sources = {e.source for e in lines}
    own = tuple(s for s in facts.series if s.name.startswith("app.resubmitted") and s.source in sources)
    counted = [(a, b, v) for a, b, v in counters.summed(own) if v > 0]
    times = sum(v for _, _, v in counted)
    if (
        times >= FEW_FAILURES
    ):  # A counter rose between two moments: by the end of the first pair, after the begin of the last.
        first, last = min(first, counted[0][1]), max(last, counted[-1][0])
    how = say("own-counter", times=round(times)) if times >= FEW_FAILURES else _more_than_came_in(facts, client, lines)
    if how is None or failures < FEW_FAILURES:
        return None
    rejected = _increase(flows.all_topics(facts, "broker.bytes_rejected"), first, last)
    accepted = _increase(flows.all_topics(facts, "broker.bytes_in"), first, last)
    agrees = _fits(lines, rejected) or _jumped(facts, client, first, last) is not None
    count = times if times >= FEW_FAILURES else float(failures)
    return Resubmission(client, first, last, count, how, tuple(lines), own, rejected, accepted, agrees)


def _more_than_came_in(facts: Facts, client: str, lines: Sequence[Episode]) -> str | None:
    failures, records = sum(e.count for e in lines), _came_in(facts, lines, "records")
    if records is not None and failures >= MORE * records:
        return say("records", failures=failures, came=round(records))
    size, came = sum(e.count * (e.value_min or 0) for e in lines), _came_in(facts, lines, "bytes")
    if came is not None and size >= MORE * came:
        return say("bytes", failures=size, came=came)
    if records is not None or came is not None:
        return None
    return _jumped(facts, client, *_span(lines))


def _came_in(facts: Facts, lines: Sequence[Episode], what: str) -> float | None:
    sources = {e.source for e in lines}
    received = [s for s in facts.series if s.source in sources and s.name.startswith(("app.received", "app.consumed"))]
    of_kind = [s for s in received if ("ytes" in s.name or "ayload" in s.name) == (what == "bytes")]
    return _increase(of_kind, *_span(lines))


def _span(lines: Sequence[Episode]) -> tuple[float, float]:
    """First and last moment of lines that have one, as those that fail have."""
    first, last = actors.span(lines)
    return -inf if first is None else first, inf if last is None else last


def _increase(series: Sequence[Series], first: float, last: float) -> float | None:
    rose = counters.increase(series, first, last)
    return rose.value if rose and rose.since <= first and rose.until >= last - LAG else None


def _fits(lines: Sequence[Episode], rejected: float | None) -> bool:
    failed = sum(e.count * (e.value_min or 0) for e in lines)
    return bool(rejected) and failed > 0 and (rejected or 0) >= REJECTED * failed


def _jumped(facts: Facts, client: str, first: float, last: float) -> str | None:
    """What the card of a forwarding host shows, None where it shows nothing out of the ordinary."""
    host = actors.host_of(facts, client)
    usual = counters.usual_factor(facts, host, 0, first) if host else None
    now = counters.ratio(facts, host, first, last) if host else None
    if usual is None or now is None or now.factor is None or not FORWARDS[0] <= usual <= FORWARDS[1]:
        return None
    if now.factor < JUMP * usual:
        return None
    return say("card", now=now.factor, usual=usual)
