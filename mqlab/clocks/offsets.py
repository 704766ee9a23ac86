"""Clocks of hosts and ledgers that are off, and facts moved onto the clock of the others.

A broker notes a client's connection when it accepts it, the client a little later: the least difference of the two
lines is the offset of the client's clock, off by what the broker's line does not say (parts of a second) and by how
long an acceptance takes. Logs of clients that connect from one address share a clock, and so do the ledgers that lie
beside them under their name.

Where too few connections tell, messages do: none is received before it was sent, and the fastest is at once. A host is
off where all that it shares with others says the same, half of the messages of a pair too, and these others agree with
a broker or with a third one. Messages that
come late to one receiver may have waited for it, so lateness tells of a publisher's clock only, and only where several
receivers agree. Zones are settled before (``settling``); what is left here is a clock that is wrong.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from mqlab.facts import Episode, Facts, Series
from mqlab.rows import Flow, Passage, Receipt, TopicFlow
from mqlab.words import listed, room

say = room("clocks")

_SPANS = ("episodes", "shapes", "coverage", "flows", "topic_flows")
"""Rows of Facts with a first and a last moment."""


def shifted(facts: Facts, by: Mapping[str, float]) -> Facts:
    """*facts* with the moments of each source in *by* moved by its seconds; other sources stay as they are.

    Logs of clients and ledgers of MQTT messages are moved, and what passed between two ledgers takes the difference.
    """
    moved: dict[str, Any] = {name: tuple(_span(row, by) for row in getattr(facts, name)) for name in _SPANS}
    moved["episodes"] = tuple(sorted(moved["episodes"], key=_by_time))
    return replace(
        facts,
        **moved,
        series=tuple(_series(s, by) for s in facts.series),
        receipts=tuple(_receipt(r, by[r.source]) if r.source in by else r for r in facts.receipts),
        passages=tuple(_passage(p, by) for p in facts.passages),
    )


def _by_time(episode: Episode) -> tuple[float, str, str, int]:
    return (episode.first_at or 0.0, episode.source, episode.kind, episode.first.line or 0)


def _span(row: Any, by: Mapping[str, float]) -> Any:
    """A row with both its moments moved; a flow is on the clock of its sender."""
    source = row.sender or row.first.source if isinstance(row, Flow | TopicFlow) else row.source
    if source not in by:
        return row
    ends = {name: getattr(row, name) for name in ("first_at", "last_at")}
    return replace(row, **{name: None if at is None else at + by[source] for name, at in ends.items()})


def _series(row: Series, by: Mapping[str, float]) -> Series:
    seconds = by.get(row.source)
    return row if seconds is None else replace(row, points=tuple((at + seconds, value) for at, value in row.points))


def _receipt(row: Receipt, seconds: float) -> Receipt:
    last = None if row.last_at is None else row.last_at + seconds
    return replace(row, at=row.at + seconds, last_at=last)


def _passage(row: Passage, by: Mapping[str, float]) -> Passage:
    came, left = by.get(row.receiver, 0.0), by.get(row.sender, 0.0)
    if not came and not left:
        return row
    more = came - left
    taken = (row.least + more, row.median + more, row.most + more)
    return replace(row, least=taken[0], median=taken[1], most=taken[2], at=row.at + left)


LEAST = 10
"""Messages from which the fastest was not held up: of ten of which each second one is, all are once in 1,000 times."""
ERROR = 1.0
"""Seconds that the fastest message may take, and by which hosts may differ unseen: logs may write whole seconds."""
AGREE = 2 * ERROR
"""Seconds by which what several ledgers say of one clock may differ: each is off by ``ERROR`` at most."""
_FARTHEST = 14 * 3600.0
Host = tuple[str, ...]
"""Logs and ledgers that are written by one clock."""


@dataclass(frozen=True, slots=True)
class Offset:
    """A clock that is ahead of the others (behind them where negative)."""

    sources: Host
    seconds: float
    error: float
    """Seconds by which that may be wrong."""
    shared: int
    """Connections, or messages, that both noted."""
    broker: str | None = None
    """The log whose connections tell; None where messages do."""

    @property
    def said(self) -> str:
        """As a sentence's part."""
        return say(
            "corrected",
            seconds=abs(self.seconds),
            way="ahead" if self.seconds > 0 else "behind",
            broker=self.broker,
            shared=self.shared,
            error=self.error,
        )


@dataclass(frozen=True, slots=True)
class _Edge:
    other: Host
    ahead: float
    """By how much the host is ahead of *other*, if the fastest message took no time."""
    sends: bool
    messages: int
    steady: bool
    """At least half of the messages took as long as the fastest, by ``AGREE``: one noted wrongly is no clock."""


def skews(facts: Facts, hosts: Sequence[Host], good: Collection[Host]) -> tuple[Offset, ...]:
    """Clocks that are off, by source; *good* are hosts whose clock agrees with a broker's."""
    edges = _edges(facts, hosts)
    found = [skew for host in sorted(edges) if host not in good for skew in _skew(host, edges, good)]
    return tuple(found)


def _edges(facts: Facts, hosts: Sequence[Host]) -> Mapping[Host, list[_Edge]]:
    place = {source: host for host in hosts for source in host}
    found: dict[Host, list[_Edge]] = defaultdict(list)
    for passage in facts.passages:
        one, other = place.get(passage.sender, (passage.sender,)), place.get(passage.receiver, (passage.receiver,))
        if one != other and passage.messages >= LEAST and abs(passage.least) <= _FARTHEST:
            steady = passage.median - passage.least <= AGREE
            found[one].append(_Edge(other, -passage.least, True, passage.messages, steady))
            found[other].append(_Edge(one, passage.least, False, passage.messages, steady))
    return found


def _skew(host: Host, edges: Mapping[Host, Sequence[_Edge]], good: Collection[Host]) -> Sequence[Offset]:
    own = edges[host]
    told = [edge.ahead for edge in own]
    ahead = max(told) if min(told) < 0 else min(told)
    if abs(ahead) <= AGREE or max(told) - min(told) > AGREE or not all(_sure(e, host, edges, good) for e in own):
        return ()
    if not any(edge.steady for edge in own):
        return ()
    before = all(edge.ahead > 0 if edge.sends else edge.ahead < 0 for edge in own)
    late = all(edge.sends for edge in own) and len({edge.other for edge in own}) > 1
    return (Offset(host, round(ahead, 3), ERROR, max(edge.messages for edge in own)),) if before or late else ()


def _sure(edge: _Edge, host: Host, edges: Mapping[Host, Sequence[_Edge]], good: Collection[Host]) -> bool:
    """The other host agrees with a broker, or with a third host."""
    return edge.other in good or any(abs(e.ahead) <= ERROR for e in edges[edge.other] if e.other != host)


SHARED = 2
"""Connections that must agree: one alone may be the client's, and another one the broker's."""
ACCEPTING = 0.5
"""Seconds between a broker's line about a connection and the client's own where no packet was lost: the first SYN that
is sent again comes after one second (RFC 6298)."""
_ROUNDING = 1e-5
"""Seconds that differences of moments may be rounded by."""
_TOLD = ("connection-made", "client-configured")


def corrected(facts: Facts) -> Facts:
    """*facts*, in which rows of clocks that are off are on the broker's clock; coverage says so.

    First by connections, then by messages for those of which too few connections tell.
    """
    moved = _moved_by_connections(facts, offsets(facts))
    measured = _measured(moved)
    good = {offset.sources for offset in measured if abs(offset.seconds) <= offset.error}
    hosts = [tuple(dict.fromkeys((*logs, *_ledgers(moved, logs)))) for logs in _hosts(moved)]
    return _moved_by_connections(moved, skews(moved, hosts, good))


def _moved_by_connections(facts: Facts, found: Sequence[Offset]) -> Facts:
    if not found:
        return facts
    by_source = {source: offset for offset in found for source in offset.sources}
    moved = shifted(facts, {source: -offset.seconds for source, offset in by_source.items()})
    coverage = tuple(
        replace(c, zone_why=listed([c.zone_why, by_source[c.source].said])) if c.source in by_source else c
        for c in moved.coverage
    )
    return replace(moved, coverage=coverage)


def offsets(facts: Facts) -> tuple[Offset, ...]:
    """Clocks that are off by more than the error of that estimate, by source."""
    return tuple(o for o in _measured(facts) if abs(o.seconds) > o.error and o.shared >= SHARED)


def _measured(facts: Facts) -> tuple[Offset, ...]:
    """What connections tell of each clock, be it off or not, and by however few."""
    brokers = _accepted(facts)
    hosts = _hosts(facts)
    made: dict[tuple[str, ...], list[tuple[str, float]]] = defaultdict(list)
    for sources in hosts:
        for source in sources:
            made[sources] += _made(facts, source)
    found = (_offset(facts, sources, pairs, brokers) for sources, pairs in sorted(made.items()))
    return tuple(offset for offset in found if offset is not None)


def _accepted(facts: Facts) -> Mapping[str, Mapping[str, tuple[float, ...]]]:
    """By log of a broker: when it saw each client id connect."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for episode in facts.of_kind("client-connected"):
        if episode.client_id and episode.first_at is not None:
            found[episode.source][episode.client_id].append(episode.first_at)
    return {log: {client: tuple(times) for client, times in ids.items()} for log, ids in found.items()}


def _hosts(facts: Facts) -> tuple[tuple[str, ...], ...]:
    """Logs of clients that share a host: those whose clients connect from the same addresses."""
    addresses: dict[str, set[str]] = defaultdict(set)
    for episode in facts.of_kind("client-connected"):
        if episode.client_id and episode.peer:
            addresses[episode.client_id].add(episode.peer.rpartition(":")[0] or episode.peer)
    logs: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for episode in facts.of_kind(*_TOLD):
        ids = _ids(facts, episode.source)
        seen = sorted({address for client in ids for address in addresses.get(client, ())})
        logs[tuple(seen) if len(seen) == 1 else (episode.source,)].add(episode.source)
    return tuple(sorted(tuple(sorted(sources)) for sources in logs.values()))


def _ids(facts: Facts, source: str) -> frozenset[str]:
    return frozenset(client for kind, client in facts.named_clients(source) if kind in _TOLD)


def _made(facts: Facts, source: str) -> Iterator[tuple[str, float]]:
    """Client id and moment of each connection that the log of a client tells of."""
    ids = _ids(facts, source)
    own = next(iter(ids)) if len(ids) == 1 else None
    for episode in facts.of_kind("connection-made"):
        client = episode.client_id or own
        if episode.source == source and client and episode.first_at is not None:
            yield client, episode.first_at


def _offset(
    facts: Facts,
    sources: tuple[str, ...],
    made: Sequence[tuple[str, float]],
    brokers: Mapping[str, Mapping[str, tuple[float, ...]]],
) -> Offset | None:
    """The offset that nearly all connections of one clock agree on, against the log that saw most of them."""
    answers = [(log, told) for log, accepted in sorted(brokers.items()) if (told := _agreed(made, accepted))]
    if not answers:
        return None
    log, agreed = max(answers, key=lambda answer: len(answer[1]))
    whole = all(at == int(at) for times in brokers[log].values() for at in times)
    unsaid = 1.0 if whole else 0.0
    seconds, error = min(agreed) - unsaid / 2, unsaid / 2 + ACCEPTING
    host = tuple(dict.fromkeys((*sources, *_ledgers(facts, sources))))
    return Offset(host, round(seconds, 3), error, len(agreed), log)


def _agreed(made: Sequence[tuple[str, float]], accepted: Mapping[str, tuple[float, ...]]) -> list[float]:
    """Differences of all pairs by the only offset that explains every connection; empty without such.

    Clients that come back in a regular rhythm fit several offsets.
    """
    known = sorted((at, tuple(sorted(accepted[client]))) for client, at in made if client in accepted)
    if not known:
        return []
    ends_first = known[::-1][:1] + known[:-1]
    tried = sorted({at - seen for at, times in known for seen in times if abs(at - seen) <= _FARTHEST})
    fitting = [pairs for offset in tried if (pairs := _fitting(ends_first, offset)) is not None]
    least = sorted(min(pairs) for pairs in fitting)
    return fitting[0] if least and least[-1] - least[0] <= ACCEPTING else []


def _fitting(known: Sequence[tuple[float, tuple[float, ...]]], offset: float) -> list[float] | None:
    """The difference of each connection, the latest that *offset* allows; None where one is over ``AGREE`` more."""
    differences = []
    for at, times in known:
        latest = bisect_right(times, at - offset + _ROUNDING)
        if not latest or at - times[latest - 1] - offset > AGREE:
            return None
        differences.append(at - times[latest - 1])
    return differences


def _ledgers(facts: Facts, logs: Sequence[str]) -> Iterator[str]:
    """Ledgers of the same folder whose name ends or begins as a log's does: ``received-sink.csv``, ``sink.log``."""
    stems = {(str(PurePosixPath(log).parent), PurePosixPath(log).name.partition(".")[0]) for log in logs}
    noted = {r.source for r in facts.receipts}
    for source in sorted(noted):
        place, name = str(PurePosixPath(source).parent), PurePosixPath(source).name.partition(".")[0]
        if any(place == folder and _share(name, stem) for folder, stem in stems):
            yield source


def _share(ledger: str, log: str) -> bool:
    """One of the names holds the other one's last words, or its first."""
    one, two = ledger.replace("_", "-").split("-"), log.replace("_", "-").split("-")
    return "-".join(one[1:]) in (log, "-".join(two[1:])) or "-".join(one[:-1]) == log
