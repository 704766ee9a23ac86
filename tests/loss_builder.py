"""A Kafka group that loses records, drawn by hand: where its members begin to read, what they note, where it stands."""

from __future__ import annotations

from facts_builder import at, episode, facts, moment, settings
from kafka_builder import GROUP, TOPIC, client, coordinator
from message_builder import fates

from mqlab.delivery.group_audit import group_losses, group_rows
from mqlab.facts import Episode, Position
from mqlab.findings import Evidence
from mqlab.rows import Client, Tally

A, B = "clients/a-processed.csv", "clients/b-processed.csv"
_WORDS = {
    "set": ("offset-set", "Setting offset for partition {t}-{q} to the committed offset FetchPosition{{offset={n}}}"),
    "missing": ("offset-missing", "Found no committed offset for partition {t}-{q}"),
    "refused": ("offset-reset", "Fetch position FetchPosition{{offset={n}}} is out of range for partition {t}-{q}"),
    "diverged": ("offset-reset", "Truncation detected for partition {t}-{q} at offset {n}"),
    "reset": ("offset-reset-to", "Resetting offset for partition {t}-{q} to position FetchPosition{{offset={n}}}"),
    "sought": ("offset-sought", "Seeking to offset {n} for partition {t}-{q}"),
    "failed": ("record-failed", "record {t}-{q}@{n} failed"),
}  # fmt: skip


def begins(text, *, group=GROUP, topic=TOPIC) -> tuple[Episode, ...]:
    """Lines of consumers: ``clock client word partition [offset]``.

    The words are ``set`` (to the committed offset), ``missing``, ``refused`` (out of range), ``diverged``, ``reset``
    (to), ``sought``, and ``failed`` of the application.
    """
    found = []
    for line, row in enumerate(text.strip().splitlines(), 50):
        when, who, word, queue, *offset = row.split()
        kind, said = _WORDS[word]
        number = int(offset[0]) if offset else None
        found.append(
            episode(
                kind, when, f"clients/{who}.log", line=line, left=None if number is None else float(number),
                group=group, client_id=who, topic=topic, queue=queue, text=said.format(t=topic, q=queue, n=number),
            )
        )  # fmt: skip
    return tuple(found)


def stands(text, *, group=GROUP, topic=TOPIC, dumped=False) -> tuple[Position, ...]:
    """Rows ``clock partition committed end``; *dumped* ones are commits as a dump shows them, without an end."""
    found = []
    for line, row in enumerate(text.strip().splitlines(), 3):
        when, queue, committed, *end = row.split()
        place = "offsets/dump.txt" if dumped else f"offsets/describe.{when}.txt"
        numbers = (None if committed == "-" else int(committed), int(end[0]) if end else None)
        found.append(Position(at(when), group, topic, queue, *numbers, None, None, None, None, place, line, row))
    return tuple(found)


def log_starts(text, *, topic=TOPIC) -> tuple[Position, ...]:
    """Rows ``clock partition offset`` of kafka-get-offsets --time -2."""
    rows = [row.split() for row in text.strip().splitlines()]
    return tuple(
        Position(
            at(when), None, topic, queue, None, None, int(start), None, None, None, f"offsets/earliest.{when}.txt", 1,
            f"{topic}:{queue}:{start}",
        )
        for when, queue, start in rows
    )  # fmt: skip


def start_moved(when, queue, offset, *, topic=TOPIC) -> Episode:
    """The broker's line about its log start."""
    text = f"Incremented log start offset to {offset} due to segment deletion"
    return episode("log-start-moved", when, "logs/server.log", left=float(offset), topic=topic, queue=queue, text=text)


def noted(text, source=A, *, role="processed", topic=TOPIC) -> tuple[Tally, ...]:
    """Rows ``clock partition messages`` of a ledger."""
    rows = [row.split() for row in text.strip().splitlines()]
    return tuple(Tally(at(when), role, topic, queue, int(many), source, 2) for when, queue, many in rows)


def messages(text, **more):
    """Messages of the topic from a table, see ``message_builder.fates``."""
    return fates(text, topic=TOPIC, **more)


def consumer(text):
    """Settings of consumers: rows ``owner key value``, printed at 10:00."""
    rows = "\n".join(f"10:00:00 {row.strip()}" for row in text.strip().splitlines())
    return settings(f"at owner key value\n{rows}", scope="consumer")


def listed(*names, when="10:00:00", group=GROUP) -> tuple[Client, ...]:
    """``--members``."""
    return tuple(
        Client(moment(when), "kafka", group, n, "10.0.0.1", None, None, "offsets/members.txt", 3, n) for n in names
    )


def life(name="a", *, since="10:00:00", until="10:01:00", number=1) -> tuple[Episode, ...]:
    """A member that starts, joins and stops in good order, as its own log tells."""
    start = f"{since} settings\n{since} starting\n{since} joined {number} {{{name}{number}}} range"
    stop = f"\n{until} stopping\n{until} leaving {{{name}{number}}} the consumer is being closed\n{until} closed"
    return client(name, start + (stop if until else ""))


def killed(name="a", *, since="10:00:00", expired="10:01:00", number=1) -> tuple[Episode, ...]:
    """A member that starts, joins and is killed: the coordinator expels it."""
    start = client(name, f"{since} settings\n{since} starting\n{since} joined {number} {{{name}{number}}} range")
    gone = coordinator(f"{expired} expired {{{name}{number}}}\n{expired} empty {number + 1}")
    return (*start, *gone)


def subscribed(when, name="a", *, group=GROUP, topic=TOPIC) -> Episode:
    """A member's first line about its topic."""
    return episode(
        "subscribed", when, f"clients/{name}.log", line=20, group=group, client_id=name, reason=topic,
        text=f"Subscribed to topic(s): {topic}",
    )  # fmt: skip


def lost(*rows):
    """(class, partition, offsets, records) of everything that the groups lost."""
    return [
        (loss.incident, loss.queue, f"{loss.first_offset}..{loss.last_offset}", loss.records)
        for loss in group_losses(facts(*rows), TOPIC)
    ]


def counts(*rows):
    """(partition, handled, times, committed, pending, lost, doubled, unknown) of each partition."""
    return [
        (r.queue, r.handled, r.times, r.committed, r.pending, r.lost, r.doubled, r.unknown)
        for r in group_rows(facts(*rows), TOPIC)
    ]


def said(detector, *rows):
    """(severity, certainty, lost records) of each finding; else why not, what is missing, or that it is clear."""
    result = detector.detect(facts(*rows))
    if result.findings:
        return [(f.severity.name, f.certainty.name, f.measures.get("lost_records")) for f in result.findings]
    return result.rejected or result.missing or "clear"


LINE = Evidence("clients/a.log", 1, "a line")
