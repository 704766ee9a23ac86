"""Messages of MQTT drawn by hand: who published what and which ledgers note it, as the rows of Facts about them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from facts_builder import at

from mqlab.findings import Evidence
from mqlab.rows import Flow, Passage, Receipt, TopicFlow


@dataclass(frozen=True)
class Message:
    """One message, its topic, and how many seconds later which ledgers noted it, once for each number."""

    sender: str
    when: float
    number: int
    topic: str
    qos: int
    failed: bool
    to: dict = field(default_factory=dict)


def mail(to, *, sender="feed", topics=("plant/a/t",), start=0, seconds=60, rate=10, qos=1, failed=False, first=1):
    """*rate* messages a second; *to* is a tuple of clients, or says for a number and second which get it.

    It may also answer with a dict of client: delay in seconds, or client: list of delays, one for each copy.
    """
    made = []
    for n in range(round(seconds * rate)):
        when = at(start) + n / rate
        goes = to(n, when - at(0)) if callable(to) else to
        told = {
            c: d if isinstance(d, list) else [d]
            for c, d in (goes if isinstance(goes, dict) else dict.fromkeys(goes, 0.01)).items()
        }
        made.append(Message(sender, when, first + n, topics[n % len(topics)], qos, failed, told))
    return made


def noted(*mails, unpublished=False):
    """Flows, topic flows, receipts and passages of all messages; without publishers' ledgers if *unpublished*."""
    every = sorted((m for one in mails for m in one), key=lambda m: (m.when, m.sender, m.number))
    senders = sorted({m.sender for m in every})
    flows = [f for s in senders for f in _runs([m for m in every if m.sender == s], unpublished)]
    return (*flows, *_by_topic(every, unpublished), *_receipts(every, unpublished), *_passages(every, unpublished))


def published(sender):
    return f"clients/published-{sender}.csv"


def received(client):
    return f"clients/received-{client}.csv"


def _fate(message):
    return (message.failed, message.qos, tuple(sorted((received(c), len(d)) for c, d in message.to.items())))


def _runs(messages, unpublished):
    """As the facts have them: one after the other; by ten seconds where that changes too often."""
    by_cell = defaultdict(list)
    changes = sum(_fate(a) != _fate(b) for a, b in pairwise(messages))
    run = 0
    for number, message in enumerate(messages):
        run += bool(number and _fate(messages[number - 1]) != _fate(message))
        by_cell[(message.when // 10 if changes > 100 else run, _fate(message))].append(message)
    for key in sorted(by_cell, key=str):
        own = by_cell[key]
        first, last = own[0], own[-1]
        if unpublished and not first.to:
            continue
        failed, qos, ledgers = key[1]
        yield Flow(
            None if unpublished else published(first.sender), None if unpublished else first.sender, len(own), failed,
            qos, ledgers, first.when, last.when, _key(first), _key(last), _place(first), _place(last),
        )  # fmt: skip


def _by_topic(messages, unpublished):
    found = defaultdict(list)
    for message in messages:
        if message.to or not unpublished:
            found[(message.topic, message.sender, _fate(message))].append(message)
    for key in sorted(found, key=str):
        own = found[key]
        failed, qos, ledgers = key[2]
        yield TopicFlow(
            key[0], 1, None if unpublished else published(key[1]), None if unpublished else key[1], len(own), failed,
            qos, ledgers, own[0].when, own[-1].when, _place(own[0]), _place(own[-1]),
        )  # fmt: skip


def _receipts(messages, unpublished):
    rows = defaultdict(list)
    for m in messages:
        if not unpublished:
            rows[published(m.sender), "sent"].append((m.when, m.topic, m.when, _key(m)))
        for client, delays in m.to.items():
            rows[received(client), "received"] += [(m.when + d, m.topic, m.when, _key(m)) for d in delays]
    for (source, role), own in sorted(rows.items()):
        cells, seen = defaultdict(list), {}
        for line, (when, topic, _, key) in enumerate(sorted(own), 2):
            again = when - seen[key] if key in seen else None
            seen.setdefault(key, when)
            cells[when // 10 * 10].append((line, topic, again))
        for cell, inside in sorted(cells.items()):
            again = [(line, a) for line, _, a in inside if a is not None]
            yield Receipt(
                cell, source, role, len(inside), len({t for _, t, _ in inside}), 0, 0, len(again),
                max((a for _, a in again), default=0.0), inside[0][0], again[0][0] if again else None,
            )  # fmt: skip


def _passages(messages, unpublished):
    found = defaultdict(list)
    for m in messages:
        for client, delays in m.to.items():
            found[published(m.sender), received(client)] += [(d, m.when) for d in delays]
    for (sender, receiver), own in sorted(found.items()):
        if not unpublished:
            took = sorted(own)
            yield Passage(
                sender, receiver, len(took), took[0][0], took[len(took) // 2][0], took[-1][0], took[0][1]
            )  # fmt: skip


def _key(message):
    return f"{message.sender}-{message.number:06}"


def _place(message):
    return Evidence(published(message.sender), message.number + 1, f"{_key(message)},{message.topic}")


def ledger(client, text, *, role="received"):
    """A ledger of *client* from rows of time, rows, again, seconds, dup and retained, one for each ten seconds."""
    rows = [line.split() for line in text.strip().splitlines()]
    source = f"clients/{'published' if role == 'sent' else role}-{client}.csv"
    return tuple(
        Receipt(
            at(when), source, role, int(count), 1, int(dup), int(retained), int(again), float(late), number * 100,
            number * 100 + 1 if int(again) else None,
        )
        for number, (when, count, again, late, dup, retained) in enumerate(rows, 1)
    )  # fmt: skip


def came(text, *, sender="sensor", topic="s/1", failed=False):
    """Messages of one topic from rows of begin, end, messages and ``client:copies`` words, as flows of both kinds."""
    rows = [line.split() for line in text.strip().splitlines()]
    source = f"clients/published-{sender}.csv" if sender else None
    found = []
    for number, (begin, end, messages, *words) in enumerate(rows, 1):
        got = tuple(sorted((f"clients/received-{w.split(':')[0]}.csv", int(w.split(":")[1])) for w in words))
        keys = (f"{topic}-{number}-a", f"{topic}-{number}-b")
        places = tuple(Evidence(source or got[0][0], number * 10 + n, keys[n]) for n in (0, 1))
        told = (source, sender, int(messages), failed, 1, got, at(begin), at(end))
        found.append(Flow(*told, *keys, *places))
        found.append(TopicFlow(topic, 1, *told, *places))
    return tuple(found)
