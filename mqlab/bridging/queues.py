"""Messages that an MQTT broker acknowledged and nobody took: in the queue of a session, thrown away, or not known."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.bridging import ids, parties
from mqlab.bridging.ids import Row
from mqlab.bridging.rows import Gap, Step, Whereabouts
from mqlab.bridging.sessions import away, unseen
from mqlab.facts import Facts, Series
from mqlab.findings import Evidence
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import Subscription
from mqlab.questions.traffic import increase
from mqlab.questions.wording import clock, sample

ROUNDED = 1.0
"""Seconds: brokers print whole ones, so that a client may be away that much earlier than its line says."""
STORED, DROPPED = "mqtt.stored_messages", "mqtt.publish_dropped"


def whereabouts(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> tuple[Gap, ...]:
    """Where the messages of *rows* are, which the broker acknowledged and none of the ledgers *takers* notes."""
    if not rows:
        return ()
    clients = {client for source in takers if (client := client_of(facts, source))}
    waiting = away(facts, clients)
    since = min((one.away[-1][0] for one in waiting), default=END) - ROUNDED
    queued = [row for row in rows if row.last_at >= since]
    late, other = _split(facts, [row for row in rows if row.last_at < since], takers)
    found = _lost(facts, other, takers)
    if queued:
        gone = clients <= {one.client_id for one in waiting}
        unsure = ids.count(rows) if unseen(facts, takers) else 0 if gone else _late(facts, queued, takers)
        found = [*_queued(facts, queued, waiting, unsure), *found]
    if late:
        how = "published after the last message that the next ledgers note: on its way, or the ledgers end"
        found.append(ids.gap(Step.ACKNOWLEDGED, Step.TAKEN, Whereabouts.AFTER_END, late, how))
    return tuple(found)


def _late(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> int:
    return ids.count(_split(facts, rows, takers)[0])


def _split(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Those that were published when all ledgers of the takers had ended, and the others."""
    ends = [r.at + 10.0 for r in facts.receipts if r.source in takers]
    last = max(ends, default=END)
    return [row for row in rows if row.first_at > last], [row for row in rows if row.first_at <= last]


def _queued(facts: Facts, rows: Sequence[Row], waiting: Sequence[Subscription], unsure: int) -> list[Gap]:
    """What was published since the clients have been away, and was not taken: it waits for them, or was thrown away.

    Others that are there may have got *unsure* of it.
    """
    begin = min(one.away[-1][0] for one in waiting)
    clients = sorted({one.client_id for one in waiting})
    many, thrown = ids.count(rows), _thrown(facts, begin, clients)
    grown = _grown(facts, begin)
    dropped = min(many, thrown)
    kept = many - dropped
    low = max(0, kept - unsure) if grown is None else max(0, min(kept, round(grown[0])))
    how = "published since then and noted by no receiver"
    how += f"; the broker stored {grown[0]:,.0f} more by {clock(grown[1])}" if grown is not None else ""
    steps, (first, last) = (Step.ACKNOWLEDGED, Step.TAKEN), ids.ends(rows)
    places = (*_places(facts, waiting), *ids.places(rows))
    queue = Gap(*steps, Whereabouts.QUEUED, ", ".join(clients), kept, low, many, how, first, last, begin, places)
    return [queue, *_dropped(facts, dropped, rows, clients)]


def _thrown(facts: Facts, since: float, clients: Sequence[str]) -> int:
    """Messages that the broker counts as thrown away since, where its lines do not say that it was for others only."""
    told = {e.client_id for e in facts.of_kind("session-queue-dropping") if e.client_id}
    found = increase(facts.named(DROPPED), since, END)
    return 0 if found is None or (told and not told & set(clients)) else round(found.value)


def _dropped(facts: Facts, many: int, rows: Sequence[Row], clients: Sequence[str]) -> list[Gap]:
    if not many:
        return []
    told = [e for e in facts.of_kind("session-queue-dropping") if e.client_id in clients]
    how = "the broker counts as many as thrown away, and says that a queue was full" if told else (
        "the broker counts as many as thrown away, of this queue or of others"
    )  # fmt: skip
    first, last = ids.ends(rows)
    places = (*(e.first for e in told[:2]), *_samples(facts, DROPPED, "thrown away"))
    who = ", ".join(sorted({e.client_id for e in told if e.client_id}))
    steps = (Step.ACKNOWLEDGED, Step.TAKEN)
    low = many if len({e.client_id for e in facts.of_kind("session-queue-dropping")}) == 1 and told else 0
    return [Gap(*steps, Whereabouts.DROPPED, who, many, low, many, how, first, last, evidence=places)]


def _places(facts: Facts, waiting: Sequence[Subscription]) -> tuple[Evidence, ...]:
    ends = [one.session.last.end for one in waiting if one.session is not None]
    stored = _samples(facts, STORED, "stored messages")
    return tuple(dict.fromkeys((*(place for place in ends if place is not None), *stored)))


def _samples(facts: Facts, name: str, why: str) -> list[Evidence]:
    """The last sample of each series of that name."""
    return [sample(facts, s, s.points[-1][0], why) for s in facts.named(name) if s.points]


def _grown(facts: Facts, since: float) -> tuple[float, float] | None:
    """By how much all brokers' stores grew from *since* on, and when that was seen last."""
    series = [s for s in facts.named(STORED) if s.points and s.points[0][0] <= since < s.points[-1][0]]
    if not series:
        return None
    return sum(_rise(s, since) for s in series), max(s.points[-1][0] for s in series)


def _rise(series: Series, since: float) -> float:
    return series.points[-1][1] - [value for at, value in series.points if at <= since][-1]


def _lost(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> list[Gap]:
    """Messages for which no session waits: as many as the broker counts as thrown away, and the others."""
    first, last = ids.ends(rows)
    if first is None or last is None:
        return []
    own, others = parties.names(facts, takers), unseen(facts, takers)
    full = sorted({e.client_id for e in facts.of_kind("session-queue-dropping") if e.client_id})
    many, dropped = ids.count(rows), _counted(facts, first, last)
    dropped = min(ids.count(rows), dropped) if not full or set(full) & set(own) else 0
    steps, rest = (Step.ACKNOWLEDGED, Step.TAKEN), many - dropped
    how = "noted by no receiver; no queue is known in which they wait"
    how += "".join(f"; the broker stores {n:,.0f} at the end, retained ones included" for n in _left(facts))
    how += f"; {', '.join(others)} got messages, too, and the material has no ledger of it" if others else ""
    place = ids.places(rows)
    unknown = Gap(*steps, Whereabouts.UNKNOWN, ", ".join(own), rest, rest if not dropped else 0, many, how, first, last,
                  evidence=place)  # fmt: skip
    return [*_dropped(facts, dropped, rows, own), *([unknown] if rest else [])]


def _left(facts: Facts) -> list[float]:
    """What each broker stores at the end: a receiver that is connected may have a queue, too."""
    return [s.points[-1][1] for s in facts.named(STORED) if s.points]


def _counted(facts: Facts, since: float, until: float) -> int:
    found = increase(facts.named(DROPPED), since, until)
    return round(found.value) if found else 0
