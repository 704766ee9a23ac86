"""Clients that get as many copies of a message as their filters match, and who made the copies: broker or client.

Copies of one message stand one behind the other: between them is the time that the client takes for one message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from mqlab.facts import Facts, Setting
from mqlab.memo import per_facts
from mqlab.models.mqtt import matches, overlap, shared
from mqlab.mqtt import accounting
from mqlab.mqtt.brokers import LEAST, NEAR, brokers, increase
from mqlab.mqtt.circles import bridges
from mqlab.mqtt.copies import Receiver, copies_by_topic, receivers, senders, subscribers
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.rows import GRID, portion

JITTER = 1.0
"""Seconds that network and scheduling may put between packets that were written together, all of them by the
receiver's clock: as much as whole seconds do."""
DUPLICATES = "allow_duplicate_messages"
"""mosquitto sends one copy to a client unless this is true (``config__init_reload``: false)."""


@dataclass(frozen=True, slots=True)
class Doubled:
    """One client that gets messages of some topics several times, always as often."""

    client: str
    copies: Mapping[str, int]
    """Topic → copies of each message."""
    filters: tuple[Subscription, ...]
    """Its filters that match some of these topics."""
    receiver: Receiver | None
    """Its ledger."""
    messages: int
    """Different messages of these topics that it got."""
    extra: int
    """Copies beyond the first of each."""
    maker: str | None
    """``broker`` or ``client``, whoever made the copies; None where nothing tells."""
    others_once: bool
    """Other clients got the same messages once."""

    @property
    def explained(self) -> bool:
        """As many filters of the client match each topic as there are copies."""
        return bool(self.filters) and all(matching(self.filters, t) == n for t, n in self.copies.items())


@per_facts
def doubled(facts: Facts) -> tuple[Doubled, ...]:
    """All such clients, by name."""
    found = [case for ledger in subscribers(facts) if (case := _by_ledger(facts, ledger)) is not None]
    known = {r.client for r in receivers(facts)}
    found += [case for client in accounting.went_out(facts, None) if client not in known
              for case in _by_trace(facts, client)]  # fmt: skip
    return tuple(sorted(found, key=lambda d: d.client))


def overlapping(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """(client, filter, filter) of every client with filters that have topics in common."""
    own: dict[str, set[str]] = {}
    for subscription in subscriptions(facts):
        if shared(subscription.filter)[0] is None:
            own.setdefault(subscription.client_id, set()).add(subscription.filter)
    for client, filters in sorted(own.items()):
        yield from ((client, a, b) for a, b in combinations(sorted(filters), 2) if overlap(a, b))


def matching(filters: tuple[Subscription, ...], topic: str) -> int:
    """How many of a client's different filters match *topic*."""
    return len({f.filter for f in filters if matches(f.filter, topic)})


def settings(facts: Facts) -> tuple[Setting, ...]:
    """What mosquitto is told about copies for filters that overlap."""
    return tuple(s for s in facts.settings if s.key == DUPLICATES)


def _by_ledger(facts: Facts, ledger: Receiver) -> Doubled | None:
    topics = _while_copied(facts, ledger.source)
    copies = {topic: max(counts) for topic, counts in topics.items() if _steady(counts)}
    if not ledger.unflagged or not copies or not _together(ledger, max(copies.values())):
        return None
    others = _others(facts, ledger.source, copies)
    own = _filters(facts, ledger.client, copies)
    if any(sender.again for sender in senders(facts)) or not (others or own):
        return None
    messages = sum(n for t in copies for n in topics[t].values())
    extra = sum((times - 1) * n for t in copies for times, n in topics[t].items())
    return Doubled(ledger.client, copies, own, ledger, messages, extra, _maker(facts, ledger, copies), others)


def _while_copied(facts: Facts, source: str) -> Mapping[str, Mapping[int, int]]:
    """What ``copies_by_topic`` tells, between the first and the last message of a topic that came most often.

    The client may have got other filters before or after; of a few messages that is not told.
    """
    whole = copies_by_topic(facts, source)
    found: dict[str, Mapping[int, int]] = {}
    for topic, counts in whole.items():
        own = [
            (f, dict(f.received)[source]) for f in facts.topic_flows if f.topic == topic and source in dict(f.received)
        ]
        most = [f for f, times in own if times == max(counts)]
        since, until = min(f.first_at for f in most), max(f.last_at for f in most)
        within: Counter[int] = Counter()
        for flow, times in own:
            within[times] += round(flow.messages * portion(flow.first_at, flow.last_at, since, until))
        found[topic] = +within if within[max(counts)] >= LEAST else counts
    return found


def copied_at_once(facts: Facts) -> tuple[str, ...]:
    """Clients to which copies came at the same moment, of which no flag says why, and whose filters nothing tells."""
    if bridges(facts) or any(sender.again for sender in senders(facts)):
        return ()
    told = {s.client_id for s in subscriptions(facts)}
    unknown = [ledger for ledger in subscribers(facts) if ledger.client not in told]
    return tuple(ledger.client for ledger in unknown if ledger.unflagged >= LEAST and _together(ledger, 2))


def _steady(counts: Mapping[int, int]) -> bool:
    """Nearly every message of the topic came as often as the one that came most often, and more than once."""
    most = max(counts)
    return most > 1 and counts[most] >= (1 - 2 * NEAR) * sum(counts.values())


def _together(ledger: Receiver, copies: int) -> bool:
    """In nearly all ten seconds the copies came at the same moment, or while the client handled as many messages."""
    copied = ledger.copied()
    late = sum(r.again_seconds > JITTER + GRID / r.rows * copies for r in copied)
    return late <= 2 * NEAR * len(copied)


def _others(facts: Facts, source: str, copies: Mapping[str, int]) -> bool:
    """Every other ledger that notes messages of these topics notes each of them once, and there is one.

    Where brokers are bridged it tells nothing: an echo over a bridge comes to the clients of one broker alone.
    """
    if bridges(facts) or len(brokers(facts)) > 1:
        return False
    others = [ledger.source for ledger in receivers(facts) if ledger.source != source]
    found = [t for other in others for topic, counts in copies_by_topic(facts, other).items()
             if topic in copies for t in counts]  # fmt: skip
    return bool(found) and max(found) == 1


def _filters(facts: Facts, client: str, copies: Mapping[str, int]) -> tuple[Subscription, ...]:
    """The client's filters that match some of the topics, if two of them match one; shared ones have their own."""
    own = tuple(
        s for s in subscriptions(facts)
        if s.client_id == client and shared(s.filter)[0] is None and any(matches(s.filter, t) for t in copies)
    )  # fmt: skip
    return own if any(matching(own, topic) > 1 for topic in copies) else ()


def _maker(facts: Facts, ledger: Receiver, copies: Mapping[str, int]) -> str | None:
    """Who made the copies: as the broker's trace counts, as its counter bounds, as it is told to."""
    sent = [(times, n) for topic, n in copies.items() if (times := _sent(facts, ledger.client, topic)) is not None]
    if sent:
        return "broker" if all(times == n for times, n in sent) else "client"
    if _fewer_sent(facts, ledger):
        return "client"
    configured = settings(facts)
    if configured:
        return "broker" if configured[-1].value.lower() == "true" else "client"
    mosquitto = any(s.key in ("listener", "persistence", "log_dest") and s.scope == "broker" for s in facts.settings)
    return "client" if mosquitto else None


def _sent(facts: Facts, client: str, topic: str) -> int | None:
    """How often a broker sent each message of *topic* to *client*, as its trace counts; None where it does not."""
    came = accounting.came_in(facts).get(topic)
    went = accounting.went_out(facts, None).get(client, {}).get(topic)
    if came is None or went is None:
        return None
    times = round(went.messages / came.messages)
    return times if times and abs(went.messages / came.messages - times) <= 2 * NEAR * times else None


def _fewer_sent(facts: Facts, ledger: Receiver) -> bool:
    """The broker sent less than all receivers note: some of it was counted twice at the client."""
    for series in facts.named("mqtt.publish_sent"):
        start, end = series.points[0][0], series.points[-1][0]
        noted = [r for receiver in receivers(facts) for r in receiver.receipts if start <= r.at and r.at + GRID <= end]
        rose = increase(series, start, end)
        mine = sum(r.again for r in noted if r.source == ledger.source)
        if rose is not None and mine and rose < sum(r.rows for r in noted) - mine / 2:
            return True
    return False


def _by_trace(facts: Facts, client: str) -> Iterator[Doubled]:
    """A client without ledger to which a trace shows several copies of each message of some topics."""
    came = accounting.came_in(facts)
    every = {t: n for t in accounting.went_out(facts, None)[client] if (n := _sent(facts, client, t)) is not None}
    copies = {t: n for t, n in every.items() if n > 1 and came[t].messages >= LEAST}
    others = [
        n for other in accounting.went_out(facts, None) if other != client
        for t in copies if (n := _sent(facts, other, t)) is not None
    ]  # fmt: skip
    own = _filters(facts, client, copies)
    if copies and (own or Counter(others)[1] == len(others) > 0):
        messages = sum(came[t].messages for t in copies)
        extra = sum(came[t].messages * (n - 1) for t, n in copies.items())
        yield Doubled(client, copies, own, None, messages, extra, "broker", bool(others))
