"""What truly happened, counted in the loads' own books: ledgers, facts, and the log read to its end.

A counter never asks mqlab: it reads the files that loads wrote row by row while they worked.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mqlab.lab.kafka_admin import Stored
from mqlab.lab.scenario import Load, Scenario

Place = tuple[str, int, int]
"""Topic, partition, offset."""


Committed = Mapping[tuple[str, str], Mapping[int, int]]
"""Committed offsets by (group, topic), then by partition."""
Ends = Mapping[str, Mapping[int, int]]
"""Log end offsets by topic, then by partition."""


@dataclass(frozen=True)
class Books:
    """All that was written down of one run."""

    scenario: Scenario
    ledgers: Path
    facts: tuple[Mapping[str, Any], ...]
    log: tuple[Stored, ...] = ()
    """All records that the topics held after the run."""
    committed: Committed = field(default_factory=dict)
    ends: Ends = field(default_factory=dict)

    def rows(self, name: str) -> list[dict[str, str]]:
        """Rows of one ledger; one that was cut in the middle of a row ends before it."""
        path = self.ledgers / f"{name}.csv"
        if not path.exists():
            return []
        with path.open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if None not in row.values() and None not in row]
        return [{**row, "partition": row["queue"]} if "queue" in row else row for row in rows]

    def told(self, kind: str, who: str | None = None) -> list[Mapping[str, Any]]:
        """Facts of a kind, of one load or of all."""
        return [fact for fact in self.facts if fact["kind"] == kind and who in (None, fact["who"])]

    def of_kind(self, *kinds: str) -> list[Load]:
        """Loads of these kinds."""
        return [load for load in self.scenario.loads if load.kind in kinds]

    def groups(self) -> dict[str, list[Load]]:
        """Consumers by group."""
        return groups_of(self.scenario)

    def handled(self, group: str) -> list[dict[str, str]]:
        """Rows that the members of a group noted."""
        return [row for load in self.groups()[group] for row in self.rows(f"{load.name}-processed")]

    def acked(self) -> dict[str, Place]:
        """Where each id was acknowledged."""
        rows = [row for load in self.scenario.loads for row in self.rows(f"{load.name}-acked")]
        return {row["id"]: (row["topic"], int(row["partition"]), int(row["offset"])) for row in rows}


def groups_of(scenario: Scenario) -> dict[str, list[Load]]:
    """Consumers of Kafka and RocketMQ by group."""
    found: dict[str, list[Load]] = defaultdict(list)
    for load in scenario.loads:
        if load.kind in ("kafka-consumer", "rocketmq-consumer"):
            found[load.options.get("group", "lab")].append(load)
    return dict(found)


def read_facts(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """All facts by time; a line that a kill cut is none."""
    lines = [line for path in sorted(folder.glob("*.ndjson")) for line in path.read_text().splitlines()]
    return tuple(sorted((json.loads(line) for line in lines if line.endswith("}")), key=lambda fact: fact["at"]))


def handled_again(books: Books) -> int:
    """Copies of records that a group handled beyond the first."""
    count = 0
    for group in books.groups():
        places = [(row["topic"], row["partition"], row["offset"]) for row in books.handled(group)]
        count += len(places) - len(set(places))
    return count


def longest_poll(books: Books) -> float:
    """Seconds of the longest poll."""
    return max((float(fact["seconds"]) for fact in books.told("poll")), default=0.0)


def never_handled(books: Books) -> int:
    """Acknowledged records below the committed offset that no member of a group ever handled."""
    count = 0
    for group in books.groups():
        seen = {row["id"] for row in books.handled(group)}
        for key, (topic, partition, offset) in books.acked().items():
            below = books.committed.get((group, topic), {}).get(partition, 0)
            count += offset < below and key not in seen
    return count


def lost_in_log(books: Books) -> int:
    """Acknowledged ids that the log does not hold."""
    return len(set(books.acked()) - {record.key for record in books.log})


def stored_again(books: Books) -> int:
    """Copies in the log beyond the first of each id."""
    return len(books.log) - len({record.key for record in books.log})


def pending(books: Books) -> int:
    """Records behind the committed offsets of all groups when the run ended."""
    return sum(
        books.ends.get(topic, {}).get(partition, offset) - offset
        for (_, topic), offsets in books.committed.items()
        for partition, offset in offsets.items()
    )


def _connects(books: Books) -> Iterator[int]:
    """Connects of each client id that more than one process used."""
    users: dict[str, set[str]] = defaultdict(set)
    times: Counter[str] = Counter()
    for fact in books.told("connected"):
        users[fact["client_id"]].add(fact["who"])
        times[fact["client_id"]] += 1
    yield from (times[client] for client, who in users.items() if len(who) > 1)


def takeovers(books: Books) -> int:
    """Connects with an id that another process held: all but the first."""
    return sum(count - 1 for count in _connects(books))


def _published(books: Books, filters: Sequence[str]) -> set[str]:
    """Ids that the broker took over on topics that one of *filters* matches."""
    return {
        row["id"]
        for load in books.of_kind("mqtt-client")
        for row in books.rows(f"published-{load.name}")
        if row["result"] == "ok" and any(matches(one, row["topic"]) for one in filters)
    }


def matches(wanted: str, topic: str) -> bool:
    """Whether an MQTT filter, maybe of a share group, takes a topic."""
    parts = (wanted.split("/", 2)[2] if wanted.startswith("$share/") else wanted).split("/")
    own = topic.split("/")
    if parts[-1] == "#":
        parts, own = parts[:-1], own[: len(parts) - 1]
    return len(parts) == len(own) and all(p in ("+", o) for p, o in zip(parts, own, strict=True))


def never_received(books: Books) -> int:
    """Messages that the broker took over and a subscriber of its own never got, summed over subscribers."""
    count = 0
    for load in books.of_kind("mqtt-client"):
        filters = [one for one in load.options.get("subscribe", []) if not one.startswith("$share/")]
        if filters:
            count += len(_published(books, filters) - {row["id"] for row in books.rows(f"received-{load.name}")})
    return count


def diverted(books: Books) -> int:
    """Messages that the broker took over and no member of a share group noted."""
    shared = [load for load in books.of_kind("mqtt-client") if _shared(load)]
    filters = [one for load in shared for one in load.options["subscribe"] if one.startswith("$share/")]
    seen = {row["id"] for load in shared for row in books.rows(f"received-{load.name}")}
    return len(_published(books, filters) - seen)


def _shared(load: Load) -> bool:
    return any(one.startswith("$share/") for one in load.options.get("subscribe", []))


_SETTLED = 60.0
"""Seconds at the end of a run in which owners of queues no longer change."""


def _late_rows(books: Books, stem: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(load, row) of ledgers whose names end so, of the last minute in which anything was acknowledged."""
    rows = [(load.name, row) for load in books.scenario.loads for row in books.rows(f"{load.name}-{stem}")]
    column = f"{stem}_at"
    last = max((_moment(row[column]) for _, row in rows), default=0.0)
    yield from ((name, row) for name, row in rows if last - _moment(row[column]) < _SETTLED)


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def orphan_queues(books: Books) -> int:
    """Queues that got records in the last minute while no member handled any of them."""
    came = {(row["topic"], row["partition"]) for _, row in _late_rows(books, "acked")}
    return len(came - {(row["topic"], row["partition"]) for _, row in _late_rows(books, "processed")})


def doubled_queues(books: Books) -> int:
    """Queues of which more than one member handled the same record in the last minute."""
    who: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for name, row in _late_rows(books, "processed"):
        who[row["topic"], row["partition"], row["offset"]].add(name)
    return len({place[:2] for place, names in who.items() if len(names) > 1})


def _of_lives(key: str) -> Callable[[Books], float]:
    """What the Java producers' own counters say: the last of each life, summed."""

    def count(books: Books) -> float:
        last = {(fact["who"], fact["life"]): float(fact[key]) for fact in books.told("producer")}
        return sum(last.values())

    return count


COUNTERS: Mapping[str, Callable[[Books], float]] = {
    "handled-again": handled_again,
    "longest-poll": longest_poll,
    "late-polls": lambda books: len(books.told("poll-timeout")),
    "never-handled": never_handled,
    "lost-in-log": lost_in_log,
    "stored-again": stored_again,
    "pending": pending,
    "takeovers": takeovers,
    "never-received": never_received,
    "diverted": diverted,
    "orphan-queues": orphan_queues,
    "doubled-queues": doubled_queues,
    "groups": lambda books: len(books.groups()),
    "retries": _of_lives("retries"),
    "splits": _of_lives("splits"),
    "failed-sends": _of_lives("errors"),
    "fenced": lambda books: len(books.told("fenced")),
    "crashes": lambda books: len(books.told("crashed")),
    "most-copies": lambda books: max(
        (max(Counter(r["id"] for r in books.rows(f"received-{load.name}")).values(), default=0)
         for load in books.of_kind("mqtt-client")), default=0,
    ),
}  # fmt: skip
"""What a scenario may name in its ``[numbers]``."""


def counted(books: Books) -> dict[str, float]:
    """Every counter that found anything."""
    values = {name: float(count(books)) for name, count in COUNTERS.items()}
    return {name: value for name, value in values.items() if value}
