"""What became of MQTT messages: ledgers drawn as text."""

from collections import Counter

import drawn_ledgers
import pytest

from mqlab.assembly import messages as assembly_messages
from mqlab.thinning import ledgers, mqtt_flows

NOT_MQTT = {"etl", "other"}
"""Ledgers of Kafka clients."""

CASES = {
    "copies": """
        published  sent      a/1  1  10:00  q1
        published  sent      a/1  2  10:01  q1
        published  sent      a/1  3  10:02  q1
        app        received  a/1  1  10:00  q1
        app        received  a/1  2  10:01  q1
        app        received  a/1  2  10:11  q1
        app        received  a/1  2  10:25  q1
        app        received  a/1  3  10:26  q1
    """,
    "flags": """
        app  received  a/1  1  11:00  q1
        app  received  a/1  2  11:01  q1
        app  received  a/1  1  11:04  q1  dup
        app  received  a/2  2  11:05  q1  retained
        app  received  a/1  3  11:06  q1
    """,
    "counting": """
        one  sent      a/1  0  10:00  q1
        two  sent      b/1  0  10:01  q0
        one  sent      a/1  1  10:02  q1
        two  sent      b/1  1  10:03  q0
        app  received  a/1  0  10:04  q1
        app  received  b/1  0  10:05  q0
        app  received  a/1  1  10:06  q1
    """,
    "clash": """
        one  sent      a/1  0  10:00  q1
        two  sent      a/1  0  10:01  q1
        one  sent      a/1  1  10:02  q1
        app  received  a/1  0  10:04  q1
        app  received  a/1  1  10:05  q1
    """,
    "devices": """
        published  sent      a/1  d1  10:00  q1
        published  sent      a/1  d2  10:01  q1
        published  sent      a/1  d1  10:02  q1
        published  sent      a/1  d2  10:03  q1
        app        received  a/1  d1  10:04  q1
        app        received  a/1  d1  10:05  q1
    """,
    "no-ids": """
        app  received  a/1  -  10:00  q1
        app  received  a/2  -  10:01  q1
        app  received  a/2  -  10:10  q1
    """,
    "share": """
        published  sent      a/1  1  10:00  q1
        published  sent      a/1  2  10:01  q1
        published  sent      a/1  3  10:02  q1
        published  sent      a/1  4  10:03  q1
        one        received  a/1  1  10:00  q1
        two        received  a/1  2  10:01  q1
        three      received  a/1  3  10:02  q1
        one        received  a/1  4  10:03  q1
    """,
    "kafka": """
        published  sent       a/1  1  10:00  q1
        published  sent       a/1  2  10:01  q1
        published  sent       a/1  3  10:02  q1
        bridge     received   a/1  1  10:00  q1
        bridge     received   a/1  2  10:01  q1
        bridge     received   a/1  3  10:02  q1
        etl        consumed   t    1  10:05
        etl        consumed   t    3  10:06
        etl        consumed   t    3  10:16
        other      consumed   t    2  10:05
        other      consumed   t    x  10:05
        other      consumed   t    y  10:05
    """,
    "failed": """
        published  sent      a/1  1  10:00  q1  ok
        published  sent      a/1  2  10:01  q1  timeout
        published  sent      a/1  3  10:02  q1  unfinished
        published  sent      a/1  4  10:03  q1  error
        published  sent      a/1  4  10:04  q1  ok
        app        received  a/1  1  10:00  q1
        app        received  a/1  3  10:02  q1
        app        received  a/1  4  10:04  q1
    """,
    "acked": """
        published-gw  sent      a/1  1  10:00  q1
        published-gw  sent      a/1  2  10:01  q1
        published-gw  sent      a/1  3  10:02  q0
        acked-gw      acked     a/1  1  10:01
        acked-gw      acked     a/1  5  10:06
        acked-alone   acked     a/1  9  10:07
        acked-alone   acked     a/1  8  10:08  -   refused
        app           received  a/1  9  10:09  q2
    """,
    "prefix": """
        published  sent      a/1    1  10:00  q1
        published  sent      a/1    2  10:01  q1
        published  sent      a/1    3  10:02  q1
        app        received  x/a/1  1  10:00  q1
        app        received  x/a/1  2  10:01  q1
        app        received  a/1    3  10:02  q1
        app        received  b/1    3  10:03  q1
    """,
}


def drawn(text):
    """Rows of LEDGER, as dictionaries, of the ledgers drawn in *text*."""
    lines = Counter()
    for line in text.strip().splitlines():
        source, role, topic, key, clock, *more = line.split()
        lines[source] += 1
        minutes, seconds = clock.split(":")
        qos = next((int(word[1]) for word in more if word in ("q0", "q1", "q2")), None)
        yield {
            "source": source, "line": lines[source] + 1, "role": role, "party": source.partition("-")[2] or None,
            "topic": topic, "key": None if key == "-" else key,
            "status": next((word for word in more if word not in ("q0", "q1", "q2", "dup", "retained", "-")), None),
            "dup": "true" if "dup" in more else "false",
            "qos": qos,
            "retained": "true" if "retained" in more else "false" if qos is not None else None,
            "at": int(minutes) * 60 + int(seconds),
        }  # fmt: skip


def thinned(told, fact):
    """Rows of a fact about rows of LEDGER that are *told* as dictionaries."""
    sources = {row["source"] for row in told}
    known = ledgers.Known(mqtt=frozenset(sources - NOT_MQTT))
    return ledgers.thinned(drawn_ledgers.rows(told), known, others=bool(sources & NOT_MQTT))[fact].to_dicts()


def told(case, fact):
    """Rows of Facts of one case: flows, topic_flows, receipts and passages."""
    rows = list(drawn(CASES[case]))
    made, paths = thinned(rows, fact), {row["source"]: row["source"] for row in rows}
    if fact == "passages":
        return sorted(assembly_messages.passages(made, paths), key=str)
    found = getattr(assembly_messages, fact)(made, paths, {})
    return sorted(found, key=str) if fact == "receipts" else sorted(found, key=lambda f: (f.first_at, str(f)))


def flows(case):
    """Sender, ids from to, messages, whether they failed, QoS, and who received them how often."""
    return [
        (
            f.sender, f"{f.first_key}..{f.last_key}", f.messages, f.failed, f.qos,
            " ".join(f"{source}:{times}" for source, times in f.received),
        )
        for f in told(case, "flows")
    ]  # fmt: skip


def receipts(case, source):
    return [
        (r.at, r.rows, r.topics, r.dup, r.retained, r.again, r.again_seconds, r.line, r.again_line)
        for r in told(case, "receipts")
        if r.source == source
    ]


def test_messages_of_which_the_same_is_told_are_one_flow_and_copies_are_counted():
    assert flows("copies") == [
        ("published", "1..1", 1, False, 1, "app:1"),
        ("published", "2..2", 1, False, 1, "app:3"),
        ("published", "3..3", 1, False, 1, "app:1"),
    ]


def test_copies_are_told_with_how_long_ago_the_first_was_noted():
    assert receipts("copies", "app") == [
        (600, 2, 1, 0, 0, 0, 0, 2, None),
        (610, 1, 1, 0, 0, 1, 10, 4, 4),
        (620, 2, 1, 0, 0, 1, 24, 5, 5),
    ]


def test_flags_are_counted_and_messages_without_a_publisher_are_told_apart_by_topic_too():
    assert receipts("flags", "app") == [(660, 5, 2, 1, 1, 1, 4, 2, 4)]
    assert flows("flags") == [
        (None, "1..1", 1, False, 1, "app:2"),
        (None, "2..3", 3, False, 1, "app:1"),
    ]


def test_where_publishers_count_alike_the_topic_tells_messages_apart():
    assert flows("counting") == [
        ("one", "0..1", 2, False, 1, "app:1"),
        ("two", "0..0", 1, False, 0, "app:1"),
        ("two", "1..1", 1, False, 0, ""),
    ]
    assert sum(r.again for r in told("counting", "receipts")) == 0


def test_what_two_publishers_say_that_they_sent_under_one_id_and_topic_is_told_by_neither():
    assert flows("clash") == [("one", "1..1", 1, False, 1, "app:1")]


@pytest.mark.parametrize("case", ["devices", "no-ids"])
def test_ledgers_whose_keys_tell_no_message_apart_give_receipts_only(case):
    assert (flows(case), told(case, "topic_flows"), told(case, "passages")) == ([], [], [])
    assert sum(r.rows for r in told(case, "receipts")) == len(CASES[case].strip().splitlines())
    assert sum(r.again for r in told(case, "receipts")) == 0


def test_members_of_a_share_group_take_turns():
    assert [received for *_, received in flows("share")] == ["one:1", "two:1", "three:1", "one:1"]
    assert [(f.messages, f.received) for f in told("share", "topic_flows")] == [
        (2, (("one", 1),)), (1, (("two", 1),)), (1, (("three", 1),)),
    ]  # fmt: skip


def test_a_kafka_consumer_behind_a_bridge_joins_by_its_ids():
    assert flows("kafka") == [
        ("published", "1..1", 1, False, 1, "bridge:1 etl:1"),
        ("published", "2..2", 1, False, 1, "bridge:1"),
        ("published", "3..3", 1, False, 1, "bridge:1 etl:2"),
    ]
    assert receipts("kafka", "etl") == [(600, 2, 1, 0, 0, 0, 0, 2, None), (610, 1, 1, 0, 0, 1, 10, 4, 4)]
    assert [(p.receiver, p.messages, p.least, p.most) for p in told("kafka", "passages")] == [
        ("bridge", 3, 0, 0), ("etl", 2, 4, 5),
    ]  # fmt: skip


def test_a_ledger_that_shares_a_few_keys_by_chance_does_not_join():
    assert receipts("kafka", "other") == []


def test_a_publisher_that_got_no_answer_or_a_bad_one_failed_unless_a_later_one_was_good():
    assert flows("failed") == [
        ("published", "1..1", 1, False, 1, "app:1"),
        ("published", "2..2", 1, True, 1, ""),
        ("published", "3..3", 1, True, 1, "app:1"),
        ("published", "4..4", 1, False, 1, "app:1"),
    ]


def test_a_row_that_is_unfinished_tells_no_failure():
    assert [(f.first_key, f.failed, f.unanswered) for f in told("failed", "flows")] == [
        ("1", False, False), ("2", True, False), ("3", True, True), ("4", False, False),
    ]  # fmt: skip


def test_ledgers_of_what_a_party_sent_and_had_acknowledged_are_one_sender():
    assert flows("acked") == [
        ("published-gw", "1..1", 1, False, 1, ""),
        ("published-gw", "2..2", 1, True, 1, ""),
        ("published-gw", "3..3", 1, False, 0, ""),
        ("published-gw", "5..5", 1, False, None, ""),
        ("acked-alone", "9..9", 1, False, 2, "app:1"),
        ("acked-alone", "8..8", 1, True, None, ""),
    ]


def test_behind_a_bridge_a_message_may_come_under_another_topic_but_not_beside_its_own():
    assert flows("prefix") == [
        ("published", "1..3", 3, False, 1, "app:1"),
        (None, "3..3", 1, False, 1, "app:1"),
    ]


def test_topics_are_those_of_the_publisher_with_their_first_and_last_messages():
    assert [(f.topic, f.sender, f.messages, f.first.line, f.last.line) for f in told("prefix", "topic_flows")] == [
        ("a/1", "published", 3, 2, 4), ("b/1", None, 1, 5, 5),
    ]  # fmt: skip


def many(topics, messages):
    """Messages that two receivers note in turns, of so many topics; each fifth is lost, each of topic 0 doubled."""
    for n in range(messages):
        topic, clock = f"t/{n % topics}", f"{10 + n // 6000}:{n // 100 % 60}"
        yield f"published sent {topic} {n} {clock} q1"
        if n % 5:
            yield f"{'ab'[n % 2]} received {topic} {n} {clock} q1"
        if n % topics == 0:
            yield f"c received {topic} {n} {clock} q1"


def test_where_flows_or_topics_are_many_they_are_told_in_ten_seconds_and_together(monkeypatch):
    monkeypatch.setattr(mqtt_flows, "TOPICS", 3)
    rows = list(drawn("\n".join(many(10, 3000))))
    flows, topics = thinned(rows, "flows"), thinned(rows, "topic_flows")
    assert sum(row["messages"] for row in flows) == 3000
    assert {row["first_at"] // 10_000_000 == row["last_at"] // 10_000_000 for row in flows} == {True}
    assert len(flows) == len({(str(row["received"]), row["first_at"] // 10_000_000) for row in flows})
    assert {row["topic"] for row in topics} == {"t/0", "t/5", "t/1", None}
    assert sorted((row["topics"], row["messages"]) for row in topics if row["topic"] is None) == [(3, 900), (4, 1200)]
