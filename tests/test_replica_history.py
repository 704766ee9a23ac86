"""Who led which partition from where: lines of all versions, lives of topics, changes of leader."""

import pytest
from facts_builder import episode, facts, positions, series
from message_builder import BROKERS, controller, cuts, followers, kraft, leaders, of_brokers, of_topic

from mqlab.delivery.elections import election, handovers, in_good_order, set_backs
from mqlab.delivery.leaders import (
    elected,
    follower_starts,
    in_sync,
    leaderships,
    started,
    truncations,
)
from mqlab.delivery.leaders import in_sync_set as told_in_sync

PLACE = ("orders", "0")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "epoch 5 from offset 100 with high watermark 98 ISR [1,2] addingReplicas [] removingReplicas []. "
            "Previous leader epoch was 4.",
            (5, 98, ("1", "2")),
        ),
        ("Epoch 5 from offset 100. Previous Leader Epoch was: 4", (5, None, None)),
        ("5 from offset 95 with high watermark 95. Previous leader epoch was 4.", (5, 95, None)),
        (
            "epoch 1 from offset 9 with partition epoch 6, high watermark 8, ISR [3, 1], adding replicas [] and "
            "removing replicas [] . Previous leader Some(2) and previous leader epoch was 0.",
            (1, 8, ("3", "1")),
        ),
        (None, (None, None, None)),
    ],
)
def test_what_a_broker_says_when_it_begins_is_read_in_every_version(reason, told):
    assert started(reason) == told


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("LeaderAndIsr(leader=3, leaderEpoch=2, isr=List(3, 1), zkVersion=2)", (2, ("3", "1"), ())),
        ("(Leader:-1,ISR:3,1,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:2)", (1, ("3", "1"), ())),
        (
            "isr: [3] -> [1], leader: 3 -> 1, leaderEpoch: 2 -> 3, partitionEpoch: 5 -> 6",
            (3, ("1",), ()),
        ),
        (
            "isr: [] -> [1], elr: [1, 2] -> [2], leader: -1 -> 1, leaderEpoch: 2 -> 3",
            (3, ("1",), ("1", "2")),
        ),
        ("preferred replica leader election", (None, None, ())),
    ],
)
def test_what_controllers_of_both_kinds_say_is_read(reason, told):
    assert elected(reason) == told


@pytest.mark.parametrize(
    ("kind", "reason", "isr"),
    [
        ("isr-shrunk", "1,2,3 to 1", ("1",)),
        ("isr-updated", "1,2", ("1", "2")),
        ("partition-state", "replicas=1,2,3 isr=1,2", ("1", "2")),
        ("partition-described", "replicas 1,2,3 isr 1", ("1",)),
        ("isr-updated", None, None),
    ],
)
def test_in_sync_sets_are_read_from_lines_and_descriptions(kind, reason, isr):
    assert told_in_sync(kind, reason) == isr


TWO = leaders("""
at        queue epoch broker from isr
10:00:00  0     0     2      0    2,3,1
10:05:00  0     2     3      100  3,1
""")


def test_leaders_follow_each_other_by_epoch_whatever_their_clocks_say():
    late = leaders("""
at        queue epoch broker from
10:00:00  0     0     2      0
10:05:00  0     3     1      300
10:05:03  0     2     3      100
""")
    found = leaderships(facts(late))[PLACE]
    assert [(r.epoch, r.leader, r.from_offset) for r in found] == [(0, "2", 0), (2, "3", 100), (3, "1", 300)]


def test_a_topic_that_was_made_again_begins_a_new_life():
    again = leaders("""
at        queue epoch broker from
10:00:00  0     0     2      0
10:05:00  0     1     3      500
10:10:00  0     0     1      0
10:15:00  0     1     2      200
""")
    known = facts(again)
    assert [(r.life, r.epoch) for r in leaderships(known)[PLACE]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [(h.before.epoch, h.to_offset) for h in handovers(known)[PLACE]] == [(0, 500), (0, 200)]


def test_followers_and_cuts_stand_by_partition():
    known = facts(followers("at queue epoch broker from\n10:05 0 2 2 150"), cuts("at queue broker to\n10:06 0 2 100"))
    assert [(f.replica, f.offset) for f in follower_starts(known)[PLACE]] == [("2", 150)]
    assert [c.offset for c in truncations(known)[PLACE]] == [100]


def test_in_sync_sets_of_controllers_leaders_and_descriptions_stand_by_time():
    shrunk = episode("isr-shrunk", "10:01:00", topic="orders", queue="0", reason="2,3,1 to 3,1")
    told = controller("at queue epoch leader isr\n10:04:00 0 1 none 3,1")
    rows = in_sync(facts(TWO, shrunk, told))[PLACE]
    assert [(r.epoch, r.isr, r.controller) for r in rows] == [
        (0, ("2", "3", "1"), False), (None, ("3", "1"), False), (1, ("3", "1"), True), (2, ("3", "1"), False),
    ]  # fmt: skip


def ends(*rows):
    """(to, most, old end, seen, passed) of each change of leader."""
    return [
        (h.to_offset, h.most, *(end.offset if end else None for end in (h.old_end, h.seen_end, h.passed)))
        for h in handovers(facts(TWO, *rows))[PLACE]
    ]


def test_a_log_went_back_by_what_the_old_leader_had_more():
    assert ends(followers("at queue epoch broker from\n10:09 0 2 2 150")) == [(100, 50, 150, None, None)]
    assert ends(followers("at queue epoch broker from\n10:09 0 2 2 100")) == [(100, 0, 100, None, None)]
    assert ends() == [(100, None, None, None, None)]


def test_metrics_and_snapshots_before_the_change_tell_how_far_it_reached():
    counted = series("broker.log_end_offset", [50, 120, 130, 400], start=0, step=120, topic="orders", partition="0")
    seen = positions("at group topic queue committed end\n10:03 - orders 0 - 80\n10:08 - orders 0 - 900")
    assert ends(counted, seen) == [(100, 30, None, 130, 80)]


def test_another_follower_that_was_ahead_is_not_the_old_leader():
    assert ends(followers("at queue epoch broker from\n10:05 0 2 1 150")) == [(100, None, None, None, None)]


def test_the_end_of_a_broker_counts_for_the_leadership_after_which_it_follows():
    rows = leaders("""
at        queue epoch broker from
10:00:00  0     0     3      0
10:02:00  0     2     3      100
10:05:00  0     4     1      100
""")
    back = followers("at queue epoch broker from\n10:06 0 4 3 170")
    assert [(h.most, h.same_broker) for h in handovers(facts(rows, back))[PLACE]] == [(None, True), (70, False)]


def test_what_a_replica_that_was_not_cut_yet_shows_counts_once():
    rows = leaders("""
at        queue epoch broker from
10:00:00  0     0     2      0
10:05:00  0     2     3      100
10:07:00  0     3     1      160
""")
    stale = series("broker.log_end_offset", [200, 200, 200, 200], start=240, step=60, topic="orders", partition="0")
    assert [h.most for h in handovers(facts(rows, stale))[PLACE]] == [100, None]
    assert [h.to_offset for h in set_backs(facts(rows, stale), "orders")] == [100]


def test_a_leader_without_a_known_predecessor_follows_nobody():
    (one,) = handovers(facts(leaders("at queue epoch broker from\n10:05 0 2 3 100")))[PLACE]
    assert (one.before.leader, one.next_known, one.to_offset) == ("", False, 100)
    assert handovers(facts(leaders("at queue epoch broker from\n10:05 0 0 3 0"))) == {}


def test_more_than_one_epoch_in_between_must_be_told_by_the_controller():
    far = leaders("at queue epoch broker from\n10:00 0 0 2 0\n10:05 0 4 3 100")
    (one,) = handovers(facts(far))[PLACE]
    assert not one.next_known
    quiet = controller("at queue epoch leader isr\n10:01 0 1 none 2\n10:02 0 2 2 2\n10:03 0 3 none 2")
    (one,) = handovers(facts(far, quiet))[PLACE]
    assert one.next_known
    other = controller("at queue epoch leader isr\n10:01 0 1 none 2\n10:02 0 2 1 1\n10:03 0 3 none 1")
    (one,) = handovers(facts(far, other))[PLACE]
    assert not one.next_known


def verdict(*rows):
    """Unclean, and whether a controller says it."""
    known = facts(TWO, BROKERS, *rows)
    (one,) = handovers(known)[PLACE]
    how = election(known, one)
    return how.unclean, how.told


ALONE = leaders("at queue epoch broker from isr\n10:00 0 0 2 0 2\n10:05 0 2 3 100 3")


def alone(*rows):
    """The same where the new leader is alone in sync afterwards, and was not before."""
    known = facts(ALONE, BROKERS, *rows)
    (one,) = handovers(known)[PLACE]
    how = election(known, one)
    return how.unclean, how.told


def test_a_controller_decides_whether_an_election_was_clean():
    assert verdict(controller("at queue epoch leader isr\n10:04 0 1 none 3,1")) == (False, True)
    assert alone(controller("at queue epoch leader isr\n10:04 0 1 none 2")) == (True, True)
    assert alone(kraft("10:04:59", "0", "isr: [2] -> [3], leader: 2 -> 3, leaderEpoch: 1 -> 2", leader=3)) == (
        True,
        True,
    )
    in_order = kraft("10:04:59", "0", "isr: [2,3] -> [3], leader: 2 -> 3", kind="leader-elected", leader=3)
    assert alone(in_order) == (False, True)


def test_an_eligible_replica_is_elected_cleanly_though_kraft_calls_it_unclean():
    change = "isr: [] -> [3], elr: [3] -> [], leader: -1 -> 3, leaderEpoch: 1 -> 2"
    assert alone(kraft("10:04:59", "0", change, leader=3)) == (False, True)


def test_an_unclean_election_of_another_partition_or_time_does_not_count():
    change = "isr: [2] -> [3], leader: 2 -> 3"
    assert verdict(kraft("10:04:59", "1", change, leader=3)) == (False, False)
    assert verdict(kraft("10:09:00", "0", change, leader=3)) == (False, False)


def test_the_old_leaders_word_counts_together_with_the_setting():
    assert alone() == (None, False)
    assert alone(of_topic("unclean.leader.election.enable", "true")) == (True, False)
    assert alone(of_brokers("unclean.leader.election.enable", "false")) == (False, False)
    assert alone(
        of_brokers("unclean.leader.election.enable", "false"),
        controller("at queue epoch leader isr\n10:04 0 1 none 2"),
    ) == (None, False)


def test_a_leader_that_is_not_alone_in_sync_was_elected_cleanly():
    joined = leaders("at queue epoch broker from isr\n10:00 0 0 2 0 2\n10:05 0 2 3 100 3,1")
    known = facts(joined, BROKERS)
    (one,) = handovers(known)[PLACE]
    assert election(known, one).unclean is False


def test_a_set_that_grew_again_before_the_election_counts_unless_it_may_have_shrunk_unseen():
    grown = episode("isr-updated", "10:03:00", topic="orders", queue="0", reason="2,3")
    assert alone(grown) == (False, False)
    assert alone(grown, of_topic("unclean.leader.election.enable", "true")) == (None, False)


def test_a_leader_that_is_stopped_or_follows_at_once_handed_over_in_good_order():
    def orderly(*rows):
        known = facts(TWO, *rows)
        return in_good_order(known, handovers(known)[PLACE][0])

    assert not orderly()
    assert orderly(followers("at queue epoch broker from\n10:05:01 0 2 2 101"))
    assert not orderly(followers("at queue epoch broker from\n10:06:10 0 2 2 101"))
    assert orderly(episode("broker-stopping", "10:04:58", "logs/kafka-2/server.log"))
    assert not orderly(episode("broker-stopping", "10:04:58", "logs/kafka-3/server.log"))
