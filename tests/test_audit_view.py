"""Which topic is looked at, and its leaders, replicas and offsets by time, from drawn lines and messages."""

from dataclasses import replace

import pytest
from audit_builder import FAILOVER, MIXED, SETTINGS_ONLY, losses
from facts_builder import at, facts, positions
from message_builder import BROKERS, acked, acks, cuts, fates, followers, leaders

from mqlab.delivery.path import PathRow, cells
from mqlab.facts import Facts
from mqlab.views import delivery, delivery_tables
from mqlab.views.delivery import CUT, FOLLOWER, LEADER, AuditView, InSync, Level, audit_view, chosen

MESSAGES = fates("""
queue from to   at       until    over
0     0    99   10:00:00 10:00:50 -
0     100  149  10:00:50 10:01:00 yes
0     100  199  10:01:30 10:02:00 -
1     0    49   10:00:00 10:02:00 -
""")
LED = leaders("""
at       queue epoch broker from high isr
10:00:00 0     1     2      0    0    1,2
10:01:10 0     2     1      100  98   1
10:00:00 1     1     1      0    0    1,2
""")
FOLLOWED = followers("""
at       queue epoch broker from
10:01:20 0     2     2      150
""")
CUT_TO = cuts("""
at       queue broker to
10:01:21 0     2      100
""")
READ = positions("""
at       group topic  queue committed end
10:00:55 sink  orders 0     90        120
10:02:00 sink  orders 0     180       200
10:02:00 sink  orders 1     50        50
""")
WHOLE = facts(MESSAGES, LED, FOLLOWED, CUT_TO, READ, acked(199), acked(49, queue="1"), acks("1"), BROKERS)


def test_a_reign_lasts_from_one_election_to_the_next_and_the_last_to_the_end_of_what_is_known():
    found = audit_view(WHOLE).reigns
    assert [(r.queue, r.broker, r.epoch, r.since, r.until, r.isr, r.high_watermark, r.unclean) for r in found] == [
        ("0", "2", 1, at("10:00"), at("10:01:10"), ("1", "2"), 0, False),
        ("0", "1", 2, at("10:01:10"), at("10:02"), ("1",), 98, False),
        ("1", "1", 1, at("10:00"), at("10:02"), ("1", "2"), 0, False),
    ]


def test_a_replica_is_in_sync_until_a_line_has_it_no_more():
    found = [one for one in audit_view(WHOLE).in_sync if one.queue == "0"]
    assert found == [
        InSync("0", "1", at("10:00"), at("10:02")),
        InSync("0", "2", at("10:00"), at("10:01:10")),
    ]


def test_cuts_belong_to_the_broker_whose_logs_stand_in_the_same_folder():
    found = [(one.broker, one.at, one.offset, one.what) for one in audit_view(WHOLE).levels if one.queue == "0"]
    assert found == [
        ("2", at("10:00"), 0, LEADER),
        ("1", at("10:01:10"), 100, LEADER),
        ("2", at("10:01:20"), 150, FOLLOWER),
        ("2", at("10:01:21"), 100, CUT),
    ]


def test_a_cut_in_a_folder_of_several_brokers_stays_with_its_log():
    together = [
        replace(e, first=replace(e.first, source="logs/all.log"), source="logs/all.log")
        for e in (*LED, *FOLLOWED, *CUT_TO)
    ]
    cut = replace(together[-1], node=None)
    view = audit_view(facts(MESSAGES, tuple(together[:-1]), cut, acked(199), BROKERS))
    assert [one for one in view.levels if one.what == CUT] == [
        Level("0", "logs/all.log", at("10:01:21"), 100, CUT, "logs/all.log:1")
    ]


def test_acknowledged_messages_are_stretches_and_those_that_were_lost_stand_apart():
    (first, second) = audit_view(WHOLE).offsets
    assert [(a.first_offset, a.last_offset, a.since, a.lost) for a in first.acked] == [
        (0, 99, at("10:00"), False),
        (100, 149, at("10:00:50"), True),
        (100, 199, at("10:01:30"), False),
    ]
    assert first.ends == ((at("10:00:55"), 120), (at("10:02"), 200))
    assert first.committed == {"sink": ((at("10:00:55"), 90), (at("10:02"), 180))}
    assert [part.messages for part in second.acked] == [50]


def test_a_stretch_is_cut_where_a_loss_begins_and_ends():
    lost = losses("queue incident records offsets since until\n0 retention-loss 20 40..59 10:00 10:01", side="group")
    known = facts(fates("from to at until\n0 99 10:00:00 10:01:40"), acked(99), BROKERS)
    parts = audit_of(known, lost)
    assert parts == [
        (0, 39, at(0), at(39.394), False, 40), (40, 59, at(40.404), at(59.596), True, 20),
        (60, 99, at(60.606), at(100), False, 40),
    ]  # fmt: skip


def test_a_loss_of_another_time_leaves_the_stretch_whole():
    lost = losses("queue incident records offsets since until\n0 retention-loss 20 40..59 09:00 09:01", side="group")
    known = facts(fates("from to at until\n0 99 10:00:00 10:01:40"), acked(99), BROKERS)
    assert [row[4] for row in audit_of(known, lost)] == [False]


def audit_of(known, lost):
    """(from, to, since, until, lost, messages) of each stretch of partition 0."""
    found = delivery.acked(known, replace(FAILOVER, losses=lost), "0")
    return [
        (a.first_offset, a.last_offset, round(a.since, 3), round(a.until, 3), a.lost, a.messages) for a in found
    ]  # fmt: skip


def test_the_topic_that_lost_most_is_chosen_unless_one_is_named():
    every = (SETTINGS_ONLY, MIXED, FAILOVER)
    assert [chosen(every).topic, chosen(every, "payments").topic, chosen(every, "other")] == [
        "orders",
        "payments",
        None,
    ]
    assert chosen(()) is None


def test_material_without_a_topic_has_an_empty_view():
    assert audit_view(Facts()) == AuditView(None)


def test_positions_of_groups_stand_with_the_log_around_them():
    rows = delivery_tables.positions(WHOLE, audit_view(WHOLE)).reset_index().to_numpy().tolist()
    assert [row[:6] for row in rows] == [
        ["sink", "0", "90 at 10:00:55", "180 at 10:02:00", "–", "200 at 10:02:00"],
        ["sink", "1", "50 at 10:02:00", "50 at 10:02:00", "–", "50 at 10:02:00"],
    ]
    assert delivery_tables.positions(Facts(), AuditView(None)).empty
    assert delivery_tables.skips(WHOLE, audit_view(WHOLE)).empty


@pytest.mark.parametrize(
    ("told", "lost"),
    [({"acked": 9}, "0"), ({"sent": 9}, "0"), ({}, "–"), ({"lost": 3}, "3"), ({"lost": 3, "bound": "≤"}, "≤ 3")],
)
def test_that_nothing_is_lost_takes_knowing_what_was_written(told, lost):
    assert cells(PathRow("0", None, stored=9, handled=9, **told))["lost"] == lost


def test_what_nobody_can_have_counted_is_no_nought():
    open_ = cells(PathRow("0", "fraud", acked=9, stored=9, partly=frozenset({"stored"}), settled=False))
    whole = cells(PathRow("0", "fraud", acked=9, stored=9))
    assert [(one["lost"], one["doubled"]) for one in (open_, whole)] == [("–", "–"), ("0", "0")]
