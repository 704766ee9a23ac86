"""Records that a leader alone had acknowledged: what proves their loss, and everything that only looks like it."""

from facts_builder import at, episode, facts, positions, series
from message_builder import (
    BROKERS,
    SINK,
    acked,
    acks,
    controller,
    cuts,
    dump,
    fates,
    followers,
    leaders,
    of_brokers,
    of_topic,
    part,
    read_yet,
    undecided,
)
from said import told

from mqlab.delivery.loss_mechanisms import LEADERS, say
from mqlab.delivery.losses import ways
from mqlab.detectors import acks1_failover_loss, unclean_election_loss
from mqlab.findings import Certainty

QUEUE = {"topic": "orders", "queue": "0"}
TWO = leaders("""
at        queue epoch broker from isr
10:00:00  0     0     2      0    2,3,1
10:05:00  0     2     3      100  3,1
""")
BACK = followers("at queue epoch broker from\n10:07:00 0 2 2 160")
CUT = cuts("at queue broker to\n10:07:01 0 2 100")
CLEAN = controller("at queue epoch leader isr\n10:04:50 0 1 none 3,1")
LOST = fates("""
queue from to   at        until     over handled
0     0    99   10:00:10  10:04:00  -    sink
0     100  153  10:04:01  10:04:30  yes  -
0     100  900  10:05:10  10:09:00  -    sink
0     901  1000 10:09:00  10:09:10  -    -
""")
LEDGER = acked(1000)
ALL = (TWO, BACK, CUT, CLEAN, LOST, LEDGER, acks("1"), BROKERS)


def found(*rows, rule=acks1_failover_loss):
    """(certainty, lost) of each finding; else why it was rejected, what is missing, or clear."""
    result = rule.detect(facts(*rows))
    if result.findings:
        return [(f.certainty, f.measures["lost_records"]) for f in result.findings]
    return result.rejected or result.missing or "clear"


def tail(last, **more):
    """Records of the log from offset 100 on that are gone."""
    return ways("records", most=last - 99, places=[ways("place", first=100, last=last, **QUEUE)], **more)


def without(*gone):
    """Everything but *gone*."""
    return [row for row in ALL if not any(row is one for one in gone)]


def test_acknowledged_ids_behind_the_new_leaders_begin_are_lost():
    assert found(*ALL) == [(Certainty.PROVEN, 54)]
    (finding,) = acks1_failover_loss.detect(facts(*ALL)).findings
    assert finding.subject == "orders"
    assert finding.measures == {"lost_records": 54, "acknowledged_records": 1055}
    lost = {"records": tail(153), "exact": True, "acks": "1"}
    elected = {"leader": "3", "at": at("10:05"), "offset": 100, "before": "2", "old_end": 160}
    assert told(finding.statement) == lost | elected
    moments = [(one.at.timestamp(), one.what) for one in finding.moments]
    assert moments == [(at("10:05:00"), acks1_failover_loss.say("took-over"))]
    whys = [ways("lost"), ways("overwritten"), ways("last-lost")]
    assert [e.why for e in finding.evidence][-3:] == whys
    assert [e.source for e in finding.evidence if e.why == say("cut")] == ["logs/kafka-2/server.log"]


def test_the_other_class_is_disproved_by_the_in_sync_set():
    assert found(*ALL, rule=unclean_election_loss) == say("other", classes=["acks1-failover-loss"], **QUEUE)


def test_a_producer_that_waits_for_nobody_loses_the_same_way():
    assert found(*without(ALL[6]), acks("0")) == [(Certainty.PROVEN, 54)]


def test_without_the_acks_it_is_likely():
    assert found(*without(ALL[6])) == [(Certainty.LIKELY, 54)]


def test_two_ids_at_one_place_suffice_where_the_producer_had_acks_1():
    assert found(LOST, LEDGER, acks("1"), BROKERS) == [(Certainty.LIKELY, 54)]
    assert found(LOST, LEDGER, acks("1"), BROKERS, CUT) == [(Certainty.LIKELY, 54)]
    off = of_brokers("unclean.leader.election.enable", "false")
    assert found(LOST, LEDGER, acks("1"), BROKERS, CUT, off) == [(Certainty.PROVEN, 54)]


def test_two_ids_at_one_place_do_not_tell_the_mechanism_where_acks_is_all():
    for rule in (acks1_failover_loss, unclean_election_loss):
        assert found(LOST, LEDGER, acks("all"), BROKERS, rule=rule) == (undecided(say("no-change")),)
        assert found(LOST, LEDGER, BROKERS, rule=rule) == (undecided(say("no-change")),)


def test_what_consumers_had_read_was_not_lost_by_a_clean_election():
    read = fates("""
queue from to  at        until     over handled
0     100  153 10:04:01  10:04:30  yes  sink
0     100  900 10:05:10  10:09:00  -    sink
""")
    assert found(read, LEDGER, acks("1"), BROKERS) == (undecided(say("no-change")),)
    in_sync = undecided(read_yet("before", replicas=["3", "1"]), "controller")
    assert found(TWO, BACK, CLEAN, read, LEDGER, acks("1"), BROKERS) == (in_sync,)


def test_ids_from_the_first_offset_on_may_be_those_of_a_topic_that_was_made_again():
    again = fates("queue from to at over\n0 0 99 10:00 yes\n0 0 80 10:10 -")
    assert found(again, LEDGER, acks("1"), BROKERS) == (undecided(say("created-again"), most=100, least=0),)
    made = leaders("at queue epoch broker from\n09:59 0 0 2 0\n10:09 0 0 3 0")
    assert found(again, made, LEDGER, acks("1"), BROKERS) == "clear"


def test_a_preferred_election_or_a_rolling_restart_loses_nothing():
    rolled = leaders("""
at        queue epoch broker from isr
10:00:00  0     0     2      0    2,3,1
10:05:00  0     1     3      100  3,1
10:06:00  0     2     2      180  3,1,2
""")
    own = fates("queue from to at until\n0 0 99 10:00 10:04\n0 100 400 10:05:01 10:09")
    back = followers("at queue epoch broker from\n10:05:01 0 1 2 100\n10:06:00 0 2 3 180")
    assert found(rolled, own, back, LEDGER, acks("1"), BROKERS) == "clear"


def test_a_tail_that_acks_all_had_not_acknowledged_is_no_loss():
    rows = (TWO, BACK, CUT, CLEAN, acks("all"), BROKERS)
    assert found(*rows) == say("not-acknowledged", records=60, **QUEUE)
    assert found(*rows, rule=unclean_election_loss) == "clear"


def test_a_tail_of_which_no_id_was_acknowledged_is_no_loss():
    own = fates("queue from to at until\n0 0 99 10:00 10:04\n0 100 400 10:05:01 10:09")
    assert found(TWO, BACK, CUT, own, acked(400), acks("1"), BROKERS) == say("not-noted", records=60, **QUEUE)


def test_records_that_are_only_not_read_yet_are_pending():
    own = fates("queue from to at until handled\n0 0 99 10:00 10:04 sink\n0 100 400 10:05:01 10:09 -")
    read = part("received", 0, 99, "10:01", "10:20", source=SINK)
    assert found(own, LEDGER, read, acks("1"), BROKERS) == "clear"


def test_without_ids_the_loss_is_an_interval():
    rows = (TWO, BACK, CUT, CLEAN, acks("1"), BROKERS)
    assert found(*rows) == [(Certainty.LIKELY, 60)]
    counted = series("broker.log_end_offset", [50, 130], start=0, step=120, topic="orders", partition="0")
    (finding,) = acks1_failover_loss.detect(facts(*rows, counted)).findings
    assert finding.measures == {"lost_records": 60, "lost_records_least": 30, "lost_records_most": 60}
    assert told(finding.statement)["records"] == tail(159, least=30)


def test_without_ids_and_acks_nothing_is_said_of_a_tail():
    assert found(TWO, BACK, CUT, CLEAN, BROKERS) == (say("unacknowledged", records=60, **QUEUE),)


def test_what_was_in_flight_at_an_orderly_hand_over_is_no_loss_without_ids():
    live = followers("at queue epoch broker from\n10:05:01 0 2 2 101")
    assert found(TWO, live, CLEAN, BROKERS) == say("in-flight", records=1, **QUEUE)
    assert found(TWO, live, CLEAN, acks("1"), BROKERS) == (say("unacknowledged", records=1, **QUEUE),)


def test_a_ledger_that_ends_before_the_change_leaves_an_interval():
    early = fates("queue from to at until\n0 0 120 10:00:10 10:04:10")
    rows = (TWO, BACK, CLEAN, early, acked(120, until="10:04:10"), acks("1"), BROKERS)
    (finding,) = acks1_failover_loss.detect(facts(*rows)).findings
    assert finding.certainty is Certainty.LIKELY
    assert finding.measures["lost_records_most"] == 60
    assert finding.measures["lost_records_least"] == 21


def test_ids_behind_the_end_that_was_seen_later_are_lost_though_nobody_took_their_place():
    alone = fates("queue from to at until\n0 0 153 10:00:10 10:04:30")
    later = positions("at group topic queue committed end\n10:20 - orders 0 - 100")
    assert found(TWO, BACK, CLEAN, alone, LEDGER, later, acks("1"), BROKERS) == [(Certainty.PROVEN, 54)]


def test_a_ledger_whose_clock_is_behind_makes_no_loss():
    slow = fates("queue from to at until\n0 0 900 10:00:10 10:04:59")
    grown = positions("at group topic queue committed end\n10:20 - orders 0 - 1200")
    orderly = followers("at queue epoch broker from\n10:05:01 0 2 2 100")
    assert found(TWO, orderly, CLEAN, slow, LEDGER, grown, acks("1"), BROKERS) == "clear"


def test_compaction_and_dumps_that_were_made_before_do_not_tell_of_a_loss():
    own = fates(
        "queue from to at until stored\n0 0 99 10:00 10:01 dump\n0 100 199 10:02 10:03 -\n0 200 300 10:03 10:04 dump"
    )
    after = dump(0, 300, "10:20")
    assert found(own, LEDGER, after, acks("1"), BROKERS) == (undecided(say("no-start"), most=100),)
    assert found(own, LEDGER, after, of_topic("cleanup.policy", "compact"), acks("1"), BROKERS) == "clear"
    assert found(own, LEDGER, dump(0, 300, "10:01"), acks("1"), BROKERS) == "clear"
    assert found(own, LEDGER, dump(0, 150, "10:20"), acks("1"), BROKERS) == "clear"


def test_the_dump_of_a_broker_that_was_not_cut_yet_is_not_trusted():
    stale = fates("""
queue from to  at        until     over stored
0     0    99  10:00:10  10:04:00  -    offsets/dump-log.txt
0     100  153 10:04:01  10:04:30  yes  offsets/dump-log.txt
0     100  900 10:05:10  10:09:00  -    -
""")
    assert found(TWO, BACK, CLEAN, stale, LEDGER, dump(0, 153, "10:20"), acks("1"), BROKERS) == [(Certainty.PROVEN, 54)]


def test_a_leader_that_comes_back_with_a_shorter_log_had_not_flushed_it():
    same = leaders("at queue epoch broker from isr\n10:00 0 0 2 0 2\n10:05 0 2 2 100 2")
    seen = positions("at group topic queue committed end\n10:04 - orders 0 - 154")
    recovered = episode("log-recovery", "10:04:55", "logs/kafka-2/server.log")
    rows = (same, seen, LOST, LEDGER, acks("all"), BROKERS)
    assert found(*rows) == (undecided(say("shorter"), "server-log"),)
    (finding,) = acks1_failover_loss.detect(facts(*rows, recovered)).findings
    assert finding.certainty is Certainty.PROVEN
    assert told(finding.statement).items() >= {"back": True, "leader": "2"}.items()


def test_leaders_in_between_that_no_log_tells_of_leave_it_open():
    far = leaders("at queue epoch broker from isr\n10:00 0 0 3 0 3,1\n10:05 0 5 3 100 3")
    assert found(far, LOST, LEDGER, acks("1"), BROKERS) == (undecided(say("between")),)


def test_a_dead_old_leaders_logs_are_not_needed():
    one = leaders("at queue epoch broker from isr\n10:05 0 2 3 100 3,1")
    assert found(one, CLEAN, LOST, LEDGER, acks("1"), BROKERS) == [(Certainty.PROVEN, 54)]


def test_producers_that_differ_leave_the_mechanism_likely():
    both = (acks("1"), acks("all", client="other"))
    third = acked(1000, source="clients/x-acked.csv", party="x")
    assert found(TWO, BACK, CUT, CLEAN, LOST, third, *both, BROKERS) == [(Certainty.LIKELY, 54)]


def test_a_crash_without_any_word_about_leaders_is_not_clear():
    died = episode("log-recovery", "10:04:55", "logs/kafka-2/server.log")
    copied = of_topic("replication.factor", "3")
    assert found(died, copied, acks("1"), BROKERS) == (say("died", leaders=LEADERS),)
    assert found(died, of_topic("replication.factor", "1"), acks("1"), BROKERS) == "clear"
    assert found(died, copied, acks("all"), BROKERS) == "clear"
    assert found(copied, acks("1"), BROKERS) == "clear"


def test_internal_topics_are_nobodys_loss():
    own = leaders("at queue epoch broker from\n10:00 0 0 2 0\n10:05 0 1 3 10", topic="__consumer_offsets")
    back = followers("at queue epoch broker from\n10:06 0 1 2 40", topic="__consumer_offsets")
    assert found(own, back, acks("1"), BROKERS) == "clear"


def test_taking_material_away_never_accuses_another_class():
    for gone in range(len(ALL)):
        for other in range(gone, len(ALL)):
            rest = [row for number, row in enumerate(ALL) if number not in (gone, other)]
            assert not unclean_election_loss.detect(facts(*rest)).findings
