"""A flood of kept lines: few of them stay, and the counts, the first and the last moment with them."""

from collections import Counter
from dataclasses import replace

import pytest
from plain_reading import facts, split, tables

from mqlab.kernel import floods, pieces
from mqlab.kernel.output import COUNTS
from mqlab.tables import EVENTS

FLOOD = 950
WINDOWS = 3


def _log():
    """Ten quiet lines, a flood of 950 failures in 25 seconds with an exception below each, one line after it."""
    lines = [f"2026-11-21 12:00:{n:02d},000 INFO  [main] App: all is well, {n} sent" for n in range(10)]
    for n in range(FLOOD):
        at = 10_000 + n * 25_000 // FLOOD
        lines.append(
            f"2026-11-21 12:00:{at // 1000:02d},{at % 1000:03d} ERROR [main] App: send failed id={n} "
            "org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes"
        )
        lines.append("Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes")
    return "".join(f"{line}\n" for line in [*lines, "2026-11-21 12:00:40,000 INFO  [main] App: all is well again"])


@pytest.fixture
def flooded(tmp_path):
    """A function: the log, small or *large*, so that its floods are bounded."""
    path = tmp_path / "log.txt"
    path.write_text(_log())
    return lambda large: replace(split(path), large=large)


def test_few_lines_of_a_flood_are_kept_and_the_last_of_them_stands_for_the_rest(flooded):
    rows = {large: tables(flooded(large))[EVENTS] for large in (False, True)}
    assert len(rows[False]) == FLOOD
    assert len(rows[True]) == WINDOWS * (floods.MOST + 1)
    assert Counter(row["lines"] for row in rows[False]) == {1: FLOOD}
    assert sum(row["lines"] for row in rows[True]) == FLOOD


def test_lines_below_those_of_a_flood_that_are_not_kept_are_counted_like_any_other(flooded):
    kept = {large: sum(row["lines"] for row in tables(flooded(large))[COUNTS] if row["kept"]) for large in (0, 1)}
    assert kept == {0: 2 * FLOOD, 1: FLOOD + floods.MOST}


@pytest.mark.parametrize("block", [pieces.BLOCK, 50_000])
@pytest.mark.parametrize("large", [False, True])
def test_every_line_and_byte_of_a_flood_is_counted(flooded, monkeypatch, large, block):
    monkeypatch.setattr(pieces, "BLOCK", block)
    rows = tables(flooded(large))[COUNTS]
    total = sum(row["lines"] for row in rows), sum(row["bytes"] for row in rows)
    assert total == (_log().count("\n"), len(_log()))


@pytest.mark.parametrize("block", [pieces.BLOCK, 50_000])
def test_a_flood_gives_the_same_episodes_whether_it_is_bounded_or_not(flooded, monkeypatch, block):
    def told(large):
        columns = ("kind", "count", "first_at", "last_at", "first", "last", "value_min", "value_max")
        episodes = [tuple(row.get(name) for name in columns) for row in facts(flooded(large))["events"]]
        return sorted(episodes, key=lambda row: row[2])

    unbounded = told(False)
    monkeypatch.setattr(pieces, "BLOCK", block)
    assert told(True) == unbounded
    assert sum(row[1] for row in unbounded) == FLOOD


def test_of_a_brokers_messages_the_count_of_each_client_and_topic_stays_exact(tmp_path):
    names = ("evt/n1", "evt/n2", "evt/n3")
    lines = [
        f"{1795262400 + n // 20}: Sending PUBLISH to viewer-{n % 2} "
        f"(d0, q1, r0, m{n}, '{names[n % 3]}', ... ({n} bytes))\n"
        for n in range(600)
    ]
    path = tmp_path / "mosquitto.log"
    path.write_text("".join(lines))
    kept = tables(replace(split(path, "mosquitto-log"), large=True))[EVENTS]
    clients, topics = 2, 3
    assert len(kept) == clients * topics * WINDOWS * (floods.TRACED + 1)
    counts = Counter()
    for row in kept:
        counts[row["client_id"], row["topic"]] += row["lines"]
    assert counts == {(f"viewer-{n}", name): 100 for n in range(clients) for name in names}
