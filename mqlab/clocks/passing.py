"""Clocks of ledgers that are off, told by messages: none is received before it was sent, and the fastest is at once.

Ledgers lie on hosts; those that lie beside a client's log share its clock. A host is off where all that it shares with
others says the same, and these agree with a broker or with a third one. Messages that come late to one receiver may
have waited for it, so lateness tells of a publisher's clock only, and only where several receivers agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts

LEAST = 10
"""Messages from which the fastest was not held up."""
ERROR = 1.0
"""Seconds that the fastest message may take, and by which hosts may differ unseen."""
AGREE = 2.0
"""Seconds by which what several ledgers say of one clock may differ."""
_FARTHEST = 14 * 3600.0
Host = tuple[str, ...]
"""Logs and ledgers that are written by one clock."""


@dataclass(frozen=True, slots=True)
class Skew:
    """A clock that is ahead of the others (behind them where negative)."""

    sources: Host
    seconds: float
    messages: int
    """Messages that tell of it."""

    @property
    def said(self) -> str:
        """As a sentence's part."""
        way = "ahead of" if self.seconds > 0 else "behind"
        return (
            f"its clock is {abs(self.seconds):.1f} s {way} those of the ledgers that note the same {self.messages} "
            f"messages (± {ERROR:.1f} s): corrected"
        )


@dataclass(frozen=True, slots=True)
class _Edge:
    other: Host
    ahead: float
    """By how much the host is ahead of *other*, if the fastest message took no time."""
    sends: bool
    messages: int


def skews(facts: Facts, hosts: Sequence[Host], good: Collection[Host]) -> tuple[Skew, ...]:
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
            found[one].append(_Edge(other, -passage.least, True, passage.messages))
            found[other].append(_Edge(one, passage.least, False, passage.messages))
    return found


def _skew(host: Host, edges: Mapping[Host, Sequence[_Edge]], good: Collection[Host]) -> Sequence[Skew]:
    own = edges[host]
    told = [edge.ahead for edge in own]
    ahead = max(told) if min(told) < 0 else min(told)
    if abs(ahead) <= AGREE or max(told) - min(told) > AGREE or not all(_sure(e, host, edges, good) for e in own):
        return ()
    before = all(edge.ahead > 0 if edge.sends else edge.ahead < 0 for edge in own)
    late = all(edge.sends for edge in own) and len({edge.other for edge in own}) > 1
    return (Skew(host, round(ahead, 3), max(edge.messages for edge in own)),) if before or late else ()


def _sure(edge: _Edge, host: Host, edges: Mapping[Host, Sequence[_Edge]], good: Collection[Host]) -> bool:
    """The other host agrees with a broker, or with a third host."""
    return edge.other in good or any(abs(e.ahead) <= ERROR for e in edges[edge.other] if e.other != host)
