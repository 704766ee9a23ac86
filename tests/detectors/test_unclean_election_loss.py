"""Records that a leader lacked which had not been in sync: who says so, and what is none."""

from dataclasses import replace

import pytest
from facts_builder import episode, facts, positions, series
from message_builder import (
    BROKERS,
    acked,
    acks,
    controller,
    cuts,
    fates,
    followers,
    kraft,
    leaders,
    of_brokers,
    of_topic,
    read_yet,
    undecided,
)
from said import told

from mqlab.delivery import loss_mechanisms
from mqlab.detectors import acks1_failover_loss, unclean_election_loss
from mqlab.findings import CLEAR, Certainty, Severity
from mqlab.rows import Shape

TWO = leaders("""
at        queue epoch broker from isr
10:00:00  0     0     3      0    3,2,1
10:05:00  0     2     1      100  1
""")
BACK = followers("at queue epoch broker from\n10:07:00 0 2 3 160")
CUT = cuts("at queue broker to\n10:07:01 0 3 100")
SOLE = controller("at queue epoch leader isr\n10:04:50 0 1 none 3")
LOST = fates("""
queue from to   at        until     over handled
0     0    99   10:00:10  10:04:00  -    sink
0     100  153  10:04:01  10:04:30  yes  sink
0     100  900  10:05:10  10:09:00  -    sink
""")
LEDGER = acked(900)
ALL = (TWO, BACK, CUT, SOLE, LOST, LEDGER, acks("all"), BROKERS)


def found(*rows, rule=unclean_election_loss):
    """(certainty, lost) of each finding; else why it was rejected, what is missing, or clear."""
    result = rule.detect(facts(*rows))
    if result.findings:
        return [(f.certainty, f.measures["lost_records"]) for f in result.findings]
    return result.rejected or result.missing or "clear"


def test_what_a_replica_lacked_that_was_not_in_sync_is_lost_though_consumers_had_read_it():
    assert found(*ALL) == [(Certainty.PROVEN, 54)]
    (finding,) = unclean_election_loss.detect(facts(*ALL)).findings
    assert finding.severity is Severity.CRITICAL
    assert finding.measures == {"lost_records": 54, "lost_records_read_before": 54, "acknowledged_records": 955}
    shown = told(finding.statement)
    assert [shown[name] for name in ("leader", "subject", "queue", "offset")] == ["1", "orders", "0", 100]
    assert shown["lost_records_read_before"] == 54
    other = loss_mechanisms.say("other", topic="orders", queue="0", classes=["unclean-election-loss"])
    assert found(*ALL, rule=acks1_failover_loss) == other


def test_whatever_the_acks_an_unclean_election_is_the_mechanism():
    for value in ("0", "1", "all"):
        assert found(TWO, BACK, SOLE, LOST, LEDGER, acks(value), BROKERS) == [(Certainty.PROVEN, 54)]
    assert found(TWO, BACK, SOLE, LOST, LEDGER, BROKERS) == [(Certainty.PROVEN, 54)]


def test_kraft_says_it_in_a_line():
    change = "isr: [3] -> [1], leader: 3 -> 1, leaderEpoch: 1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING"
    assert found(TWO, BACK, LOST, LEDGER, kraft("10:04:59", "0", change), BROKERS) == [(Certainty.PROVEN, 54)]


def test_an_eligible_replica_is_no_unclean_leader():
    change = "isr: [] -> [1], elr: [1] -> [], leader: -1 -> 1, leaderEpoch: 1 -> 2"
    rows = (TWO, BACK, LOST, LEDGER, kraft("10:04:59", "0", change), acks("all"), BROKERS)
    assert found(*rows) == (undecided(read_yet("eligible"), "controller"),)


def test_consumers_that_had_read_the_tail_show_that_its_leader_was_not_in_sync():
    assert found(TWO, BACK, LOST, LEDGER, BROKERS) == [(Certainty.LIKELY, 54)]
    off = of_brokers("unclean.leader.election.enable", "false")
    in_sync = read_yet("before", replicas=["3", "2", "1"])
    assert found(TWO, BACK, LOST, LEDGER, off, BROKERS) == (undecided(in_sync, "controller"),)


def test_an_unclean_election_of_a_replica_that_had_everything_loses_nothing():
    change = "isr: [3] -> [1], leader: 3 -> 1, leaderEpoch: 1 -> 2"
    whole = followers("at queue epoch broker from\n10:07:00 0 2 3 100")
    own = fates("queue from to at until\n0 0 99 10:00 10:04\n0 100 400 10:05:01 10:09")
    rows = (TWO, whole, kraft("10:04:59", "0", change), own, LEDGER, BROKERS)
    assert found(*rows) == loss_mechanisms.say("complete", topic="orders", queue="0")


def test_without_ids_offsets_and_what_was_visible_give_an_interval():
    rows = (TWO, BACK, CUT, SOLE, acks("all"), BROKERS)
    seen = positions("at group topic queue committed end\n10:04 sink orders 0 120 140")
    assert found(*rows) == [(Certainty.LIKELY, 60)]
    (finding,) = unclean_election_loss.detect(facts(*rows, seen)).findings
    assert finding.certainty is Certainty.PROVEN
    measures = {"lost_records": 60, "lost_records_least": 40, "lost_records_most": 60}
    assert finding.measures == {**measures, "pending_records": 20}


def test_elections_that_only_a_metric_counts_leave_open_what_they_lost():
    counted = series("broker.unclean_elections", [0, 0, 53], instance="kafka-1:7071")
    assert found(counted, BROKERS) == (loss_mechanisms.say("ends", leaders=loss_mechanisms.LEADERS),)
    still = series("broker.unclean_elections", [0, 0, 0], instance="kafka-1:7071")
    assert found(still, BROKERS) == "clear"


def test_a_setting_alone_is_nothing():
    assert found(of_topic("unclean.leader.election.enable", "true"), TWO, BROKERS) == "clear"


def test_a_topic_that_was_made_again_went_back_by_nobodys_fault():
    again = leaders("""
at        queue epoch broker from isr
10:00:00  0     0     3      0    3,2,1
10:05:00  0     0     1      0    1
""")
    seen = positions("at group topic queue committed end\n10:04 sink orders 0 120 140")
    assert found(again, seen, BROKERS) == "clear"
    assert found(again, seen, BROKERS, rule=acks1_failover_loss) == "clear"


def test_taking_material_away_never_accuses_another_class():
    rows = (*ALL, of_topic("unclean.leader.election.enable", "true"))
    for gone in range(len(rows)):
        for other in range(gone, len(rows)):
            rest = [row for number, row in enumerate(rows) if number not in (gone, other)]
            assert not acks1_failover_loss.detect(facts(*rest)).findings


def test_a_fetch_that_failed_meanwhile_changes_nothing():
    assert found(*ALL, episode("coordinator-lost", "10:04:40")) == [(Certainty.PROVEN, 54)]


def test_a_consumer_that_found_the_log_cut_back_had_read_beyond():
    seen = episode(
        "truncation-detected", "10:05:20", "clients/sink.log", topic="orders", queue="0", left=160.0, reason="100"
    )
    assert found(TWO, seen, BROKERS) == [(Certainty.LIKELY, 60)]
    assert found(TWO, seen, SOLE, BROKERS) == [(Certainty.PROVEN, 60)]
    elsewhere = episode("truncation-detected", "10:05:20", topic="orders", queue="0", left=160.0, reason="90")
    assert found(TWO, elsewhere, BROKERS) == "clear"


def test_a_snapshot_just_before_the_election_may_be_of_the_new_leader():
    late = positions("at group topic queue committed end\n10:04:58 - orders 0 - 140")
    own = fates("queue from to at over\n0 100 153 10:04:01 yes\n0 100 900 10:05:10 -")
    in_sync = leaders("at queue epoch broker from isr\n10:00 0 0 3 0 3,1\n10:05 0 2 1 100 1")
    rows = (in_sync, BACK, own, LEDGER, acks("1"), BROKERS)
    assert found(*rows, late, rule=acks1_failover_loss) == [(Certainty.PROVEN, 54)]
    early = positions("at group topic queue committed end\n10:04:30 - orders 0 - 140")
    assert found(*rows, early) == [(Certainty.LIKELY, 54)]


def spoken(text):
    """A line that no signature knows."""
    return Shape("server.log", "INFO", text, 1, 100, None, None, 7, text)


@pytest.mark.parametrize(
    "text",
    [
        "partition orders/0: performing unclean leader election, new leader is 2",
        "Elected replica 2 of orders-0 as an UNCLEAN leader",
    ],
)
def test_an_unclean_election_in_other_words_is_not_checked(text):
    result = unclean_election_loss.detect(replace(facts(BROKERS), shapes=(spoken(text),)))
    rule = unclean_election_loss
    assert (result.missing, result.seen) == ((rule.say("no-ends"),), rule.say("spoken"))
    assert [(place.line, place.text) for place in result.evidence] == [(7, text)]


@pytest.mark.parametrize(
    "text",
    [
        "[QuorumController id=#] Registering periodic task electUnclean to run every",
        "unclean.leader.election.enable = false",
        "Recovering unflushed segment # after an unclean shutdown",
    ],
)
def test_words_about_something_else_leave_it_clear(text):
    assert unclean_election_loss.detect(replace(facts(BROKERS), shapes=(spoken(text),))) == CLEAR
