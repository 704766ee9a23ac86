"""Ledgers thinned: counts by queue and ten seconds, and who notes the same message."""

from drawn_ledgers import rows

from mqlab.ledgers.layout import Layout
from mqlab.thinning import ledgers

NAMES = ("at", "source", "line", "role", "queue", "position", "key")
DRAWN = [
    (100, "sent", 2, "sent", "a/0", 1, "k1"), (101, "sent", 3, "sent", "a/0", 2, "k2"),
    (111, "c1", 2, "consumed", "a/0", 1, "k1"), (119, "c2", 2, "consumed", "a/0", 1, "k1"),
    (112, "c1", 3, "consumed", "a/0", 2, "k2"), (125, "c1", 4, "consumed", "a/0", 2, "k2"),
    (131, "c2", 3, "processed", None, None, "k9"), (None, "c2", 4, "consumed", "a/0", 7, "k7"),
]  # fmt: skip
"""Two consumers and a producer: message 1 is handled by both, message 2 twice by one of them."""


def told(fact, *names):
    drawn = rows([dict(zip(NAMES, row, strict=True), topic="orders") for row in DRAWN])
    return sorted(ledgers.thinned(drawn, ledgers.Known())[fact].select(names).rows())


def test_messages_are_counted_by_ledger_role_queue_and_ten_seconds():
    assert told("tallies", "source", "role", "topic", "queue", "at", "messages", "line") == [
        ("c1", "consumed", "orders", "a/0", 110, 2, 2),
        ("c1", "consumed", "orders", "a/0", 120, 1, 4),
        ("c2", "consumed", "orders", "a/0", 110, 1, 2),
        ("c2", "processed", "orders", "", 130, 1, 3),
        ("sent", "sent", "orders", "a/0", 100, 2, 2),
    ]


def test_a_message_is_told_with_every_ledger_that_notes_it():
    assert told("deliveries", "topic", "queue", "at", "sources", "messages") == [
        ("orders", "", 130, ["c2"], 1),
        ("orders", "a/0", 110, ["c1", "c1"], 1),
        ("orders", "a/0", 110, ["c1", "c2"], 1),
    ]


def test_messages_that_are_noted_again_within_the_same_seconds_are_dated_by_the_first_of_them():
    same = [(100 + n / 4, "c1", 2 + n, "consumed", "a/0", n, f"k{n}") for n in range(3)]
    same += [(110 + n / 4, "c2", 2 + n, "consumed", "a/0", n, f"k{n}") for n in (1, 2)]
    same += [(105 + n, "c1", 9 + n, "consumed", "a/0", 9 + n, f"k{9 + n}") for n in range(4)]
    drawn = rows([dict(zip(NAMES, row, strict=True), topic="orders") for row in same])
    found = ledgers.thinned(drawn, ledgers.Known())["deliveries"].select("times", "messages").rows()
    assert [row for row in found if row[0]] == [([100_250_000, 110_250_000], 2)]


def test_a_queue_of_which_most_is_handled_again_keeps_the_times_where_the_topic_is_not_like_that():
    again = [(at + n, "c1", at + n, "consumed", "a/0", n, f"k{n}") for n in range(2) for at in (100, 120)]
    once = [(100 + n, "c1", 200 + n, "consumed", "a/1", n, f"m{n}") for n in range(3)]
    drawn = rows([dict(zip(NAMES, row, strict=True), topic="orders") for row in again + once])
    found = ledgers.thinned(drawn, ledgers.Known())["deliveries"].select("queue", "times").rows()
    assert sorted(len(times) for queue, times in found if queue == "a/0") == [2, 2]
    assert not any(times for queue, times in found if queue == "a/1")


def test_two_ledgers_that_note_each_message_of_a_queue_once_keep_no_times():
    both = [(100 + n, c, 10 + n, "consumed", "a/0", n, f"k{n}") for n in range(3) for c in ("c1", "c2")]
    once = [(100 + n, "c1", 200 + n, "consumed", "a/1", n, f"m{n}") for n in range(4)]
    drawn = rows([dict(zip(NAMES, row, strict=True), topic="orders") for row in both + once])
    found = ledgers.thinned(drawn, ledgers.Known())["deliveries"].select("times").rows()
    assert not any(times for (times,) in found)


def test_ledgers_without_topic_or_place_are_of_mqtt_where_all_else_is():
    by_id = Layout({"time": "0", "key": "1"}, role="processed").text()
    placed = Layout({"time": "0", "key": "1", "offset": "2"}, role="processed").text()
    layouts = {"stored.csv": by_id, "topic.csv": Layout({"key": "0"}, topic="orders").text(), "sink.csv": placed}
    assert ledgers.Known.of(layouts).mqtt == frozenset()
    assert ledgers.Known.of(layouts, only_mqtt=True).mqtt == {"stored.csv"}
