"""The benign look-alikes: readers, replays, replicas, restarts."""

from dataclasses import replace

import pytest
from facts_builder import episode, facts, log, positions, ramp, series, settings
from said import told

from mqlab.detectors import catch_up_read, fan_out, replica_catch_up, replication_traffic, rolling_restart
from mqlab.findings import CLEAR, Severity
from mqlab.verdict import diagnose

BROKER = {"instance": "kafka-1:9404"}
IN = series("broker.bytes_in", ramp((80, 100_000)), **BROKER)
RF1 = settings("at owner key value\n- orders replication.factor 1", "topics.txt", scope="topic", origin="describe")
RF3 = settings("at owner key value\n- orders replication.factor 3", "topics.txt", scope="topic", origin="describe")


def out(*legs):
    """Bytes out of the broker."""
    return series("broker.bytes_out", ramp(*legs), **BROKER)


def copied(*legs):
    """Bytes that followers copied."""
    return series("broker.replication_bytes_in", ramp(*legs), **BROKER)


def reader(group, *legs, start=0):
    """A consumer of *group*, named differently."""
    return series("consumer.bytes_consumed", ramp(*legs), start=start, client_id=f"c-{group}", group=group)


def answer(module, *rows):
    """Subjects of the findings, else why not, else what is missing."""
    result = module.detect(facts(*rows))
    return [f.subject for f in result.findings] or result.rejected or result.missing


FOUR = [reader("a", (80, 100_000)), *(reader(g, (40, 100_000), start=400) for g in "bcd")]


def test_three_more_groups_are_a_fan_out():
    finding = fan_out.detect(facts(IN, out((40, 100_000), (40, 400_000)), *FOUR)).findings[0]
    assert (finding.measures["readers"], finding.measures["out_per_in_after"]) == (4, 4)


def test_groups_that_joined_count_where_no_consumer_is_measured():
    joins = [episode("rebalance-started", n, "server.log", group=g) for n, g in ((1, "a"), (400, "b"), (401, "c"))]
    assert answer(fan_out, IN, out((40, 100_000), (40, 300_000)), *joins) == ["brokers"]


def test_two_clients_of_one_group_are_one_reader():
    pair = [series("consumer.bytes_consumed", ramp((80, 200_000)), client_id=f"c-{n}", group="a") for n in (1, 2)]
    assert answer(fan_out, IN, out((40, 100_000), (40, 400_000)), *pair) == fan_out.say("not-added", same=1)


def test_what_excludes_a_fan_out_is_what_is_told():
    same = answer(fan_out, IN, out((40, 100_000), (40, 400_000)), reader("a", (80, 200_000)))
    assert same == fan_out.say("not-added", same=1)
    some = answer(fan_out, IN, out((40, 100_000), (40, 900_000)), *FOUR)
    assert some == fan_out.say("no-fit", after=9.0, readers=4)


def test_a_reader_that_comes_back_alone_takes_more_without_being_one_more():
    back = reader("a", (40, 0), (40, 400_000))
    alone = answer(fan_out, IN, out((40, 30_000), (40, 400_000)), back)
    assert alone == fan_out.say("not-added", readers=1)


@pytest.mark.parametrize(
    ("later", "sent"),
    [(100_000, {"same": True}), (104_000, {"same": True}), (60_000, {"usual": 100_000, "now": 60_000})],
)
def test_whether_producers_send_the_same_is_said_as_it_was_measured(later, sent):
    came = series("broker.bytes_in", ramp((40, 1_000_000), (40, later * 10)), **BROKER)
    (one,) = fan_out.detect(facts(came, out((40, 1_000_000), (40, later * 40)), *FOUR)).findings
    assert {name: value for name, value in told(one.statement).items() if name in ("same", "usual", "now")} == sent


@pytest.mark.parametrize("samples", [40, 41, 43, 46])
def test_what_came_in_a_second_is_counted_between_scrapes_wherever_windows_end(samples):
    """Samples around a window are further apart than its ends: what rose between them is more than the window's."""
    came = series("broker.bytes_in", ramp((samples, 1_000_000), (samples, 600_000)), **BROKER)
    left = out((samples, 1_000_000), (samples, 2_400_000))
    readers = [reader("a", (2 * samples, 1)), *(reader(g, (samples, 1), start=10 * samples) for g in "bcd")]
    (one,) = fan_out.detect(facts(came, left, *readers)).findings
    assert (one.statement.values["usual"], one.statement.values["now"]) == pytest.approx((100_000, 60_000), rel=0.02)


def test_readers_that_nobody_counts_are_not_checked():
    assert answer(fan_out, IN, out((40, 100_000), (40, 400_000))) == (fan_out.say("no-groups"),)


@pytest.mark.parametrize("idle", [3, 10, 25])
def test_consumers_that_start_after_producers_are_no_fan_out(idle):
    readers = [reader(g, (idle, 0), (80 - idle, 100_000)) for g in "abc"]
    assert answer(fan_out, IN, out((idle, 0), (80 - idle, 300_000)), *readers) == ()


def test_a_time_before_the_producers_says_nothing():
    late = series("broker.bytes_in", ramp((40, 100), (40, 100_000)), **BROKER)
    assert answer(fan_out, late, out((40, 100), (40, 300_000)), *FOUR) == ()


REPLAY = """
at     group    topic   queue  committed  end
10:00  reports  orders  0      0          9000
10:01  reports  orders  0      5000       9050
10:02  reports  orders  0      9100       9100
"""


def test_a_replay_is_a_catch_up():
    assert answer(catch_up_read, positions(REPLAY)) == ["reports/orders"]


def test_a_catch_up_ends_when_the_lag_is_worked_off_and_not_when_it_was_least():
    later = "".join(f"10:{n:02}  reports  orders  0  {9100 + 60 * n}  {9101 + 60 * n}\n" for n in range(3, 9))
    least = "10:09  reports  orders  0  9700  9700\n"
    (one,) = catch_up_read.detect(facts(positions(REPLAY + later + least))).findings
    assert (one.ended_at - one.started_at).total_seconds() == 120


def test_only_partitions_that_were_behind_are_told_to_be():
    other = "10:00  reports  orders  1  990  1000\n10:02  reports  orders  1  1050  1050\n"
    rows = positions(REPLAY.replace("10:01  reports  orders  0      5000       9050\n", "") + other)
    (one,) = catch_up_read.detect(facts(rows)).findings
    assert len(one.evidence) == 1


def test_a_partition_that_is_missing_in_a_snapshot_is_no_progress():
    half = positions(
        """
        at     group    topic   queue  committed  end
        10:00  reports  orders  0      100        9000
        10:00  reports  orders  1      100        100
        10:01  reports  orders  1      120        120
        """
    )
    assert answer(catch_up_read, half) == ()


AWAY = positions(
    """
    at     group    topic   queue  committed  end
    10:00  reports  orders  0      1000       9000
    10:01  reports  orders  0      9400       9500
    """
)


def reset(kind, when, offset):
    """A line of the group's consumer about where it goes on to read."""
    return episode(kind, when, "reports.log", client_id="r", group="reports", topic="orders", queue="0", left=offset)


def caught_up(*rows):
    """Messages by which the lag fell, and that waited."""
    (finding,) = catch_up_read.detect(facts(AWAY, *rows)).findings
    return finding.measures["caught_up_messages"], finding.measures["peak_lag"]


def test_what_a_reset_passed_over_was_neither_read_nor_worked_off():
    assert caught_up(reset("offset-reset", 20, 1000), reset("offset-reset-to", 20, 5000)) == (3900, 4000)


def test_a_reset_before_the_first_commit_after_it_is_one_of_the_time_in_between():
    earlier = [reset("offset-reset", "09:59:58", 1000), reset("offset-reset-to", "09:59:58", 5000)]
    assert caught_up(*earlier) == (3900, 4000)


def test_a_reset_from_a_place_that_nothing_tells_leaves_untold_what_was_read():
    assert answer(catch_up_read, AWAY, reset("offset-missing", 20, None), reset("offset-reset-to", 20, 5000)) == ()


@pytest.mark.parametrize("when", ["09:50:00", "10:05:00"])
def test_a_reset_at_another_time_takes_nothing_from_what_was_read(when):
    other = (reset("offset-reset", when, 100), reset("offset-reset-to", when, 900))
    assert caught_up(*other) == (7900, 8000)


def test_a_log_that_began_anew_was_not_caught_up_with():
    anew = positions("at group topic queue committed end\n10:00 a orders 0 10 5000\n10:01 a orders 0 90 90")
    assert answer(catch_up_read, anew) == ()


def test_reading_as_fast_as_is_produced_is_no_catch_up():
    steady = positions("at group topic queue committed end\n10:00 a orders 0 10 5000\n10:01 a orders 0 210 5200")
    assert answer(catch_up_read, steady) == ()


def test_one_snapshot_is_too_few():
    one = positions("at group topic queue committed end\n10:00 a orders 0 10 5000")
    assert answer(catch_up_read, one) == (catch_up_read.say("no-snapshots"),)


def test_a_higher_replication_factor_is_replication_traffic():
    assert answer(replication_traffic, IN, out((80, 100_000)), copied((40, 0), (40, 200_000)), RF1, RF3) == ["brokers"]


def followers(*values):
    """Bytes that two followers copied; None where one was not scraped."""
    labels = [{"instance": f"kafka-{n}:9404"} for n in (2, 3)]
    return [series("broker.replication_bytes_in", own, **label) for own, label in zip(values, labels, strict=True)]


@pytest.mark.parametrize("first", [0, 5, 20])
def test_copies_that_come_back_with_a_broker_did_not_become_more(first):
    """A follower is not scraped while it is away, and counts from zero then."""
    usual = ramp((80, 100_000))
    gone = [(v if n < first else None) if n < 40 else (n - 40) * 100_000 for n, v in enumerate(usual)]
    assert answer(replication_traffic, IN, out((80, 100_000)), followers(usual, gone), RF3) == ()


def test_a_scrape_that_failed_is_no_broker_that_is_away():
    raised = ramp((40, 0), (40, 100_000))
    gaps = [None if n % 9 == 4 else v for n, v in enumerate(raised)]
    assert answer(replication_traffic, IN, out((80, 100_000)), followers(raised, gaps), RF1, RF3) == ["brokers"]


def test_three_replicas_from_the_start_are_clear():
    always = (IN, out((80, 100_000)), copied((80, 200_000)))
    assert [answer(m, *always, RF3) for m in (replication_traffic, replica_catch_up)] == [(), ()]
    assert [answer(m, *always) for m in (replication_traffic, replica_catch_up)] == [(), ()]


ALONE = episode("leader-elected", 0, "controller.log", topic="orders", queue="0", left=1.0, reason="(Leader:1,ISR:1)")
COMPLETE = series("broker.under_replicated_partitions", [0, 0], **BROKER)


@pytest.mark.parametrize(
    ("rows", "clear"),
    [
        ((ALONE, COMPLETE), True),
        ((ALONE,), False),
        ((COMPLETE,), False),
        ((ALONE, series("broker.under_replicated_partitions", [0, 1], **BROKER)), False),
        ((ALONE, replace(ALONE, queue="1", reason="(Leader:1,ISR:1,2)"), COMPLETE), False),
    ],
    ids=["one replica", "others may lack", "nobody in sync is told", "one lacks", "two"],
)
def test_nothing_is_copied_where_every_partition_has_one_replica(rows, clear):
    results = [module.detect(facts(*rows)) for module in (replication_traffic, replica_catch_up)]
    assert [result == CLEAR for result in results] == [clear, clear]


def test_more_copies_with_an_unknown_factor_are_not_checked():
    more = answer(replication_traffic, IN, out((80, 100_000)), copied((40, 0), (40, 200_000)))
    assert more == (replication_traffic.say("no-factor"),)


MOVE = copied((40, 200_000), (20, 900_000), (20, 200_000))


def test_a_returning_follower_catches_up():
    back = episode("broker-started", 400, "server.log", node="2")
    assert answer(replica_catch_up, IN, out((80, 100_000)), MOVE, RF3, back) == ["brokers"]
    assert answer(replication_traffic, IN, out((80, 100_000)), MOVE, RF3, back) == ()


def test_copies_without_a_sign_of_a_replica_out_of_sync_are_rejected_only_where_one_would_show():
    rows = (IN, out((80, 100_000)), MOVE, RF3)
    calm = series("broker.under_replicated_partitions", [0] * 81, instance="kafka-1:9404")
    assert answer(replica_catch_up, *rows) == (replica_catch_up.say("no-signs"),)
    assert answer(replica_catch_up, *rows, calm) == replica_catch_up.say("in-sync")


def restart(broker, down, up=None, *, source=None, orderly=True):
    """A broker that stops and comes back."""
    place = source or f"kafka-{broker}/server.log"
    stop = (episode("broker-stopping", down, place, node=broker),) if orderly else ()
    return (*stop, episode("broker-started", up or down + 15, place, node=broker))


def test_brokers_that_restart_in_turn_are_a_rolling_restart():
    assert answer(rolling_restart, restart("1", 0), restart("2", 60), restart("3", 120)) == ["brokers"]


def test_two_rounds_are_a_rolling_restart_too():
    rounds = [restart(b, 600 * n + 60 * int(b)) for n in (0, 1) for b in ("1", "2")]
    assert answer(rolling_restart, *rounds) == ["brokers"]


def test_one_broker_that_stops_in_good_order_and_comes_back_is_a_rolling_restart_of_one():
    rotated = (
        episode("broker-stopping", 0, "kafka-1/server.log.1", node="1"),
        episode("broker-started", 15, "kafka-1/server.log", node="1"),
    )
    (one,) = rolling_restart.detect(facts(rotated)).findings
    assert (one.severity, one.measures) == (Severity.NOTICE, {"brokers": 1, "longest_outage_seconds": 15})
    away = {"since": one.started_at, "until": one.ended_at, "longest_outage_seconds": 15, "bound": True}
    assert told(one.statement) == {"broker": "1", "alone": True, **away}


def test_an_outage_begins_when_the_stop_is_done():
    stops = [(b, n, n + took) for b, n, took in (("1", 0, 2), ("2", 60, 14))]
    rows = [(restart(b, n), episode("broker-stopped", done, f"kafka-{b}/server.log", node=b)) for b, n, done in stops]
    (one,) = rolling_restart.detect(facts(*rows)).findings
    shown = told(one.statement)
    assert (shown["longest_outage_seconds"], "bound" in shown) == (13, False)


def test_that_no_other_broker_restarted_is_not_said_where_another_one_started():
    (one,) = rolling_restart.detect(facts(restart("1", 0), restart("2", 60, orderly=False))).findings
    assert "alone" not in told(one.statement)


def test_one_broker_that_comes_back_without_an_orderly_stop_or_too_late_is_none():
    assert answer(rolling_restart, restart("1", 0, orderly=False)) == ()
    assert answer(rolling_restart, restart("1", 0, 2000)) == ()


def test_one_broker_that_comes_back_again_and_again_is_none():
    thrice = answer(rolling_restart, *(restart("1", 60 * n) for n in range(3)))
    assert thrice == rolling_restart.say("one-broker", restarts=3)
    assert answer(rolling_restart, *(restart("1", 60 * n, orderly=False) for n in range(3))) == ()


def test_brokers_that_are_down_together_are_none():
    assert answer(rolling_restart, restart("1", 0), restart("2", 5)) == rolling_restart.say("together")


def test_without_a_brokers_log_it_is_not_checked():
    assert answer(rolling_restart, log()) == (rolling_restart.say("no-logs"),)


def test_brokers_that_restart_in_turn_explain_that_a_group_caught_up_though_traffic_was_not_checked():
    turns = (restart("1", 0), restart("2", 60), restart("3", 120), log("kafka-1/server.log", "kafka-broker-log"))
    reading = positions(REPLAY)
    known = facts(*turns, reading)
    assert [f.incident for f in diagnose(known).findings] == ["rolling-restart", "catch-up-read"]
    assert diagnose(known).verdict.incident == "rolling-restart"
    assert diagnose(facts(*turns)).verdict.incident == "undetermined"
    assert diagnose(facts(log("server.log", "kafka-broker-log"), reading)).verdict.incident == "undetermined"
