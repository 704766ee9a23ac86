"""The notebook's tables about a group of Kafka, as a reader sees them, and the group that is chosen for them."""

from dataclasses import replace

import pytest
from facts_builder import facts, positions, settings
from kafka_builder import client, coordinator
from rebalance_builder import GROUP, a_loop, life, points, poll, rebalance, view
from report_example import diagnosis, split_loop

from mqlab.facts import Facts
from mqlab.models.lag import TimeLag
from mqlab.views import kafka_tables
from mqlab.views.kafka_group import RebalanceView, groups_to_show, peak_lag, rebalance_view


def rows(frame):
    """Cells as text, the index first."""
    return [[str(cell) for cell in row] for row in frame.reset_index().to_numpy()]


def about(incident, subject):
    """A finding of this class."""
    return replace(split_loop(), incident=incident, subject=subject)


TWO = """
    at     group  topic     queue  committed  end
    10:00  small  invoices  0      5          9
    10:00  large  invoices  0      5          900
"""
RESTLESS = coordinator("""
    10:00:00 preparing 0 need to join
    10:00:03 stable 1 1
""", group="restless")  # fmt: skip


@pytest.mark.parametrize(
    ("known", "found", "asked", "chosen"),
    [
        (positions(TWO), (), None, "large"),
        (positions(TWO), (), "small", "small"),
        ((*positions(TWO), *RESTLESS), (), None, "restless"),
        (positions(TWO), (about("slow-consumer", "small/invoices"),), None, "small"),
        (
            positions(TWO),
            (about("poll-interval-exceeded", "small"), about("slow-consumer", "large/invoices")),
            None,
            "small",
        ),
        (positions(TWO), (about("batch-split-loop", "small -> invoices"),), None, "large"),
        (positions(TWO), (about("slow-consumer", "elsewhere/T"),), None, "large"),
        ((), (), None, None),
    ],
)
def test_the_group_is_the_one_asked_for_else_of_a_finding_else_the_most_restless(known, found, asked, chosen):
    assert rebalance_view(facts(known), diagnosis(*found), asked).group == chosen


def test_only_groups_with_something_to_show_are_told_of():
    assert groups_to_show(facts(positions(TWO), RESTLESS)) == ("large", "restless", "small")
    assert groups_to_show(facts(client("a", "10:00:00 failed"))) == ()


def test_only_the_asked_topic_is_shown():
    known = positions("""
        at     group    topic  queue  committed  end
        10:00  billing  a      0      5          9
        10:00  billing  b      0      5          9
    """)
    assert list(rebalance_view(facts(known), diagnosis()).topics) == ["a", "b"]
    assert list(rebalance_view(facts(known), diagnosis(), topic="b").topics) == ["b"]


def test_every_group_is_listed_with_its_members_rebalances_and_lag():
    every = facts(positions(TWO), RESTLESS)
    assert rows(kafka_tables.groups(every)) == [
        ["large", "—", "0", "—", "invoices", "895"],
        ["restless", "—", "1", "unknown 1", "—", "—"],
        ["small", "—", "0", "—", "invoices", "4"],
    ]


def test_the_overview_of_a_loop_tells_late_polls_standstill_and_repeats():
    assert rows(kafka_tables.overview(a_loop())) == [
        ["group", GROUP],
        ["topics", "invoices"],
        ["members", "2: a, b"],
        ["rebalances", "20 in the whole material, 10:00:15 to 10:04:20"],
        ["causes", "poll timeout 20"],
        ["stood still", "60.0 s of 6.50 min (15.4 %)"],
        ["different records handled more than once", "5,000"],
        ["polls that took too long", "10 of 50 (20.0 %)"],
        ["highest lag", "4,590"],
    ]


def test_the_overview_of_a_calm_group_says_so():
    assert rows(kafka_tables.overview(view(points(0, "0/0", "5/9")))) == [
        ["group", GROUP],
        ["topics", "invoices"],
        ["members", "not in the material"],
        ["rebalances", "none in the material"],
        ["highest lag", "4"],
    ]


def test_triggers_are_counted_with_what_is_behind_them():
    assert rows(kafka_tables.triggers(a_loop())) == [
        ["join", "poll timeout", "10", "10", "a 5, b 5", "30.0 s", "5,000"],
        ["poll timeout", "—", "10", "0", "a 5, b 5", "30.0 s", "—"],
    ]


def test_a_rebalance_is_one_row_that_leads_to_its_line():
    inferred = rebalance(90, 8, "join", "poll timeout", inferred=True, because="it left 33 s before", repeated=500)
    unknown = rebalance(120, None, "unknown", "unknown", client=None, host=None, moved=None, members_before=None)
    assert rows(kafka_tables.rebalances(view(inferred, unknown))) == [
        ["10:01:30", "8", "join", "poll timeout", "a at 10.0.0.1",
         "inferred: it left 33 s before, logs/server.log:108", "2 → 2", "1", "3.00 s", "—", "500"],
        ["10:02:00", "—", "unknown", "—", "—", "as logged, logs/server.log:100", "— → 2", "—",
         "3.00 s", "—", "—"],
    ]  # fmt: skip


def test_of_very_many_rebalances_the_first_and_the_last_are_listed():
    told = rows(kafka_tables.rebalances(view([rebalance(5 * n, n) for n in range(1000)])))
    assert [told[0][1], told[199][1], told[200][1], told[-1][1]] == ["0", "199", "800", "999"]


def test_members_are_listed_with_how_their_lives_ended():
    shown = view(life("a", 0, 9), life("a", 20, 29, "expired", number=2), life("b", 0, None, "open", static=True))
    assert rows(kafka_tables.ends(shown)) == [
        ["a", "10.0.0.1", "2", "expired 1, left 1", "no", "clients/a.log:20"],
        ["b", "10.0.0.1", "1", "open 1", "yes", "clients/b.log:10"],
    ]


def test_polls_are_told_for_each_pair_of_settings():
    assert rows(kafka_tables.polls(a_loop())) == [
        ["10:00:03 to 10:04:19", "15.0 s", "500", "10", "5,000", "88.4 ms", "88.8 ms", "44.2 s", "44.4 s",
         "10 (100.0 %)", "44.4 s, clients/a.log:239"],
        ["10:04:15 to 10:06:14", "15.0 s", "50", "40", "2,000", "86.0 ms", "90.0 ms", "4.30 s", "4.50 s",
         "none", "4.50 s, clients/a.log:260"],
    ]  # fmt: skip


def test_settings_that_would_have_been_enough_are_worked_out_from_the_slowest_records():
    assert rows(kafka_tables.enough(a_loop())) == [
        ["10:00:03 to 10:04:19", "500 in 15.0 s", "44.4 s", "no", "168", "84", "44,401", "88,801"],
        ["10:04:15 to 10:06:14", "50 in 15.0 s", "4.50 s", "yes", "166", "83", "4,501", "9,001"],
    ]


def test_where_one_record_takes_longer_than_may_pass_no_number_of_records_is_enough():
    told = rows(kafka_tables.enough(view(poll(90, 2, 40.0, most=2))))
    assert told[0][4:6] == ["—", "—"]


def test_partitions_have_burrows_verdict_and_the_age_of_their_next_record():
    known = positions("""
        at        group    topic     queue  committed  end
        10:00:00  billing  invoices  0      100        200
        10:00:10  billing  invoices  0      100        300
        10:00:20  billing  invoices  0      100        400
        10:00:00  billing  invoices  1      0          0
        10:00:20  billing  invoices  1      50         50
    """)
    every = facts(known)
    assert rows(kafka_tables.partitions(every, rebalance_view(every, diagnosis()))) == [
        ["invoices-0", "STALL", "10:00:00", "30.0 %", "300", "300", "≥ 20.0 s", "groups.10:00:20.txt:3"],
        ["invoices-1", "OK", "—", "20.0 %", "0", "0", "nothing pending", "groups.10:00:20.txt:3"],
    ]


@pytest.mark.parametrize(
    ("age", "told"),
    [(TimeLag(20, 25, 30), "25.0 s (20.0 s to 30.0 s)"), (TimeLag(40, None, None), "≥ 40.0 s"), (None, "—")],
)
def test_an_age_is_told_with_its_bounds(age, told):
    assert kafka_tables.age(age) == told


def test_settings_of_members_that_agree_are_one_row():
    known = settings("""
        at     owner  key                   value
        10:00  a      max.poll.records      500
        10:00  b      max.poll.records      500
        10:05  a      max.poll.records      50
        10:00  c      max.poll.records      9
        10:00  a      group.instance.id     null
        10:00  a      auto.offset.reset     latest
    """, scope="consumer")  # fmt: skip
    assert rows(kafka_tables.settings(facts(known), view(life("a", 0, 9), life("b", 0, 9)))) == [
        ["max.poll.records", "500", "consumer a, b", "10:00:00", "printed", "clients/app.log:1 and 1 more"],
        ["max.poll.records", "50", "consumer a", "10:05:00", "printed", "clients/app.log:3"],
    ]


def test_lag_is_that_of_all_partitions_at_one_moment():
    assert peak_lag(view(points(0, "0/90", "90/90"), points(1, "0/0", "0/50")).topics) == 90
    assert peak_lag({}) is None


def test_without_a_group_every_table_is_empty_and_says_so():
    nobody = RebalanceView(None)
    assert rebalance_view(Facts(), diagnosis()) == nobody
    assert rows(kafka_tables.overview(nobody)) == [["group", "no Kafka consumer group in this material"]]
    tables = (
        kafka_tables.groups(Facts()), kafka_tables.triggers(nobody), kafka_tables.rebalances(nobody),
        kafka_tables.ends(nobody), kafka_tables.polls(nobody), kafka_tables.enough(nobody),
        kafka_tables.partitions(Facts(), nobody), kafka_tables.settings(Facts(), nobody),
    )  # fmt: skip
    assert [len(table) for table in tables] == [0] * len(tables)
