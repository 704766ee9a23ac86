"""What became of MQTT messages, against a plain reference on ledgers drawn by lot."""

import random
from collections import Counter, defaultdict

import drawn_ledgers
import pytest

from mqlab.thinning import ledgers

START = 600_000
"""Milliseconds at which everything begins."""
NAMES = ("source", "line", "role", "topic", "key", "status", "dup", "qos", "retained", "at")


def drawn(seed):
    """Two publishers that count alike, each for its own topics, a share group, an app that gets copies, and Kafka."""
    dice = random.Random(seed)
    rows, lines = [], Counter()

    def note(source, role, topic, key, at, status=None, copy=None):
        lines[source] += 1
        flags = ("true" if copy == "dup" else "false", 1, "true" if copy == "retained" else "false")
        rows.append((source, lines[source], role, topic, key, status, *flags, at))

    for n in range(400):
        topic, key, at = f"{'ab'[n % 2]}/{n % 3}", str(n // 2) if n < 100 else f"x{n}", START + n * 100
        note(f"p-{'ab'[n % 2]}", "sent", topic, key, at, "ok" if dice.random() < 0.95 else "timeout")
        if dice.random() < 0.9:
            note(f"share-{n // 40 % 2}", "received", topic, key, at + dice.randrange(90))
        for _ in range(dice.choice((1, 1, 1, 2))):
            copy = dice.choice(("dup", "retained", *[None] * 20))
            note("app", "received", topic, key, at + dice.randrange(20_000), copy=copy)
        if n >= 100 and dice.random() < 0.8:
            note("etl", "consumed", "kafka", key, at + 95)
    return rows


def by_message(rows):
    """What ledgers note of each message, by time: Kafka's ids are of one topic only."""
    topics = {(row["key"]): row["topic"] for row in rows if row["role"] == "sent"}
    found = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["at"], row["source"], row["line"])):
        topic = topics[row["key"]] if row["role"] == "consumed" else row["topic"]
        found[row["key"], topic].append(row)
    return found


def flows_of(messages):
    """Runs of each publisher: sender, messages, failed, received, first and last moment and id."""
    told = []
    for (key, _), rows in messages.items():
        sent = next(row for row in rows if row["role"] == "sent")
        received = Counter(row["source"] for row in rows if row["role"] != "sent")
        told.append((sent["source"], sent["at"], key, (sent["status"] != "ok", str(sorted(received.items())))))
    runs = []
    for sender, at, key, fate in sorted(told):
        if runs and runs[-1][0] == sender and runs[-1][2] == fate:
            runs[-1] = (sender, runs[-1][1] + 1, fate, *runs[-1][3:5], at, key)
        else:
            runs.append((sender, 1, fate, at, key, at, key))
    return runs


def receipts_of(rows, messages):
    """Source, begin, rows, topics, dup, retained, again, seconds, first line, and first line and last moment again."""
    first = {id(row): row["at"] - found["at"] for of in messages.values() for row, found in again(of)}
    buckets = defaultdict(list)
    for row in rows:
        buckets[row["source"], row["at"] // 10_000 * 10].append(row)
    for (source, at), these in buckets.items():
        later = [row for row in these if id(row) in first]
        yield (
            source, at, len(these), len({row["topic"] for row in these}), sum(row["dup"] == "true" for row in these),
            sum(row["retained"] == "true" for row in these), len(later) or None,
            max((first[id(row)] / 1000 for row in later), default=None), min(row["line"] for row in these),
            min((row["line"] for row in later), default=None), max((row["at"] * 1000 for row in later), default=None),
        )  # fmt: skip


def again(rows):
    """Rows with which a ledger notes a message once more, with its first one."""
    first = {}
    for row in rows:
        if first.setdefault(row["source"], row) is not row:
            yield row, first[row["source"]]


def passages_of(messages):
    """Publisher, receiver, messages, least and most milliseconds."""
    took = defaultdict(list)
    for rows in messages.values():
        sent = next(row for row in rows if row["role"] == "sent")
        for source in {row["source"] for row in rows} - {sent["source"]}:
            came = next(row["at"] for row in rows if row["source"] == source)
            took[sent["source"], source].append(came - sent["at"])
    return sorted((*pair, len(these), min(these), max(these)) for pair, these in took.items())


def thinned(rows, dice):
    """Facts of *rows*, which come in any order."""
    known = ledgers.Known(mqtt=frozenset(row["source"] for row in rows) - {"etl"})
    dated = [{**row, "at": row["at"] / 1000} for row in dice.sample(rows, len(rows))]
    return {fact: frame.to_dicts() for fact, frame in ledgers.thinned(drawn_ledgers.rows(dated), known).items()}


@pytest.mark.parametrize("seed", range(6))
def test_drawn_ledgers_give_the_tables_of_a_plain_reference(seed):
    rows = [dict(zip(NAMES, row, strict=True)) for row in drawn(seed)]
    made, messages = thinned(rows, random.Random(seed)), by_message(rows)

    assert sorted(
        (
            f["sender"], f["messages"], (f["failed"], str([(r["source"], r["n"]) for r in f["received"]])),
            f["first_at"] // 1000, f["first"]["key"], f["last_at"] // 1000, f["last"]["key"],
        )
        for f in made["flows"]
    ) == sorted(flows_of(messages))  # fmt: skip
    names = (
        "source", "at", "rows", "topics", "dup", "retained", "again", "again_seconds", "line", "again_line",
        "again_last_at",
    )  # fmt: skip
    assert sorted(tuple(r[name] for name in names) for r in made["receipts"]) == sorted(receipts_of(rows, messages))
    assert sorted(
        (p["source"], p["receiver"], p["messages"], p["least"] // 1000, p["most"] // 1000) for p in made["passages"]
    ) == passages_of(messages)
