"""The audit from producer to log: rows that add up, losses and copies, and what it calls complete."""

import random
from itertools import pairwise

import pytest
from facts_builder import at, episode, facts, positions, settings
from message_builder import BROKERS, SINK, acked, acks, controller, fates, followers, leaders, of_topic, part

from mqlab.delivery.audit import audits
from mqlab.delivery.log_audit import log_doubled, log_losses, log_rows
from mqlab.delivery.path import cells, path
from mqlab.delivery.rows import LogRow, Outcome, Side
from mqlab.findings import Evidence
from mqlab.rows import Fate

SENT = part("sent", None, None, "10:00", "10:20", queue="")
UNPLACED = part("acked", None, None, "10:00", "10:20", queue="")
FAILED = part("failed", None, None, "10:00", "10:20", queue="")


def test_each_partition_tells_what_was_sent_acknowledged_failed_and_stored():
    own = fates("""
queue from to  messages at    sent acked failed handled
0     0    99  100      10:00 1    1     0      sink
0     100  109 10       10:01 1    0     1      sink
1     0    49  50       10:00 1    1     0      -
-     -    -   7        10:02 1    0     1      -
-     -    -   3        10:02 1    0     0      -
""")
    ends = positions("at group topic queue committed end\n10:10 - orders 0 - 110\n10:10 - orders 1 - 50")
    known = facts(own, SENT, FAILED, acked(99), acked(49, queue="1"), ends)
    assert log_rows(known, "orders") == (
        LogRow("orders", "0", 110, 100, 10, 10, 0, 110, 0, 0, None, 110),
        LogRow("orders", "1", 50, 50, 0, 0, 0, 50, 0, 0, None, 50),
        LogRow("orders", "", 10, 0, 7, 0, 3, None, 0, 0, None, None),
    )


def test_stored_is_a_lower_bound_unless_all_that_was_sent_was_acknowledged_or_the_places_are_as_many():
    handled = fates("from to at acked handled\n0 9 10:00 0 sink")
    ends = "at group topic queue committed end\n10:10 - orders 0 - {}"

    def stored(*rows):
        (audit,) = audits(facts(*rows))
        return [cells(row)["stored"] for row in path(audit, None)]

    assert stored(handled) == ["≥ 10"]
    assert stored(handled, positions(ends.format(14))) == ["≥ 10"]
    assert stored(handled, positions(ends.format(10))) == ["10"]
    assert stored(fates("from to at sent acked\n0 9 10:00 1 1"), SENT, acked(9)) == ["10"]


def test_who_was_answered_had_sent_it_though_the_ledger_of_what_was_sent_ends_before():
    late = fates("queue from to at sent acked\n0 0 9 10:00 1 1\n0 10 11 10:01 0 1")
    (row, *_) = log_rows(facts(late, SENT, acked(11)), "orders")
    assert (row.sent, row.acked) == (12, 12)


def test_what_no_ledger_tells_is_not_known():
    (row,) = log_rows(facts(fates("from to at acked handled\n0 9 10:00 0 sink")), "orders")
    assert (row.sent, row.acked, row.failed, row.unanswered, row.stored) == (None, None, None, None, 10)


def test_a_failure_that_was_told_is_no_loss_of_the_log():
    own = fates("queue from to messages at acked failed\n0 0 99 100 10:00 1 0\n- - - 7 10:02 0 1")
    known = facts(own, FAILED, acked(99), BROKERS)
    (loss,) = log_losses(known, "orders")
    assert (loss.side, loss.records, loss.least, loss.most) == (Side.PRODUCER, 7, 0, 7)
    assert audits(known)[0].outcome is not Outcome.LOST


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        ({"topic": "orders"}, " (2 were refused as too large: lines of the producers' logs)"),
        ({}, " (2 were refused as too large: lines of the producers' logs)"),
        ({"topic": "payments"}, ""),
        ({"topic": "orders", "count": 9}, ""),
    ],
)
def test_what_no_ledger_answers_may_have_been_refused_by_lines_of_a_log(refused, told):
    own = fates("queue from to messages at sent acked\n0 0 6 7 10:00 1 1\n- - - 3 10:02 1 0")
    (audit,) = audits(
        facts(own, SENT, acked(6), BROKERS, episode("record-too-large", "10:02", **{"count": 2} | refused))
    )
    assert f"3 were sent, and no ledger notes an answer{told}" in str(audit.statement)


def test_the_class_that_refused_records_is_named_where_one_alone_did():
    own = fates("messages from to at acked failed\n7 - - 10:02 0 1")
    few = episode("produce-retry", "10:02", topic="orders", reason="NOT_ENOUGH_REPLICAS")
    large = episode("record-too-large", "10:02", topic="orders")

    def named(*rows):
        return [loss.incident for loss in log_losses(facts(own, FAILED, *rows), "orders")]

    assert named(few) == ["under-min-isr"]
    assert named(large) == ["oversize-record-rejected"]
    assert named(few, large) == [None]
    assert named() == [None]


def test_copies_of_the_application_count_as_copies_of_no_mechanism():
    own = fates("queue from to at acked places\n0 0 9 10:00 2 2")
    (one,) = log_doubled(facts(own), "orders")
    assert (one.incident, one.records, one.extra) == (None, 10, 10)


def outcome(*rows):
    """What the audit of the only topic says, and how much it misses."""
    (one,) = audits(facts(BROKERS, *rows))
    return one.outcome, len(one.missing)


LED = leaders("at queue epoch broker from isr\n10:00 0 0 1 0 1,2")
ALL = fates("queue from to at\n0 0 99 10:00")


def test_a_log_that_never_went_back_holds_what_was_acknowledged():
    assert outcome(ALL, acked(99), LED) == (Outcome.COMPLETE, 0)


def test_without_leaders_or_ends_nothing_is_called_complete():
    assert outcome(ALL, acked(99)) == (Outcome.UNKNOWN, 1)
    assert outcome(ALL, acked(99), of_topic("replication.factor", "1")) == (Outcome.COMPLETE, 0)
    ends = positions("at group topic queue committed end\n10:10 - orders 0 - 100")
    assert outcome(ALL, acked(99), ends) == (Outcome.COMPLETE, 0)
    short = positions("at group topic queue committed end\n10:10 - orders 0 - 60")
    assert outcome(ALL, acked(99), short) == (Outcome.UNKNOWN, 1)


def test_without_acknowledgements_nothing_is_called_complete():
    assert outcome(fates("from to at acked handled\n0 9 10:00 0 sink"), LED) == (Outcome.UNKNOWN, 1)


def test_a_topic_whose_log_went_back_is_audited_without_any_ledger():
    two = leaders("at queue epoch broker from isr\n10:00 0 0 2 0 2,3\n10:05 0 1 3 100 3,2")
    back = followers("at queue epoch broker from\n10:07 0 1 2 160")
    (one,) = audits(facts(two, back, acks("1"), BROKERS))
    assert (one.topic, one.outcome) == ("orders", Outcome.LOST)
    assert one.statement == (
        "Which records were acknowledged is not in the material; "
        "0 to 60 of orders-0 (offsets 100–159) are gone from the log. "
        "By mechanism: acks1-failover-loss."
    )
    assert [row.acked for row in one.log] == [None]
    assert audits(facts(LED, BROKERS)) == ()
    assert audits(facts(two, back, acks("all"), BROKERS)) == ()
    live = followers("at queue epoch broker from\n10:05:01 0 1 2 101")
    assert audits(facts(two, live, BROKERS)) == ()
    assert [one.outcome for one in audits(facts(two, back, BROKERS))] == [Outcome.UNKNOWN]


def test_ids_of_a_topic_that_was_made_again_are_not_lost_by_its_log():
    again = fates("queue from to at over\n0 0 99 10:00 yes\n0 0 80 10:10 -")
    made = leaders("at queue epoch broker from\n09:59 0 0 2 0\n10:09 0 0 3 0")
    ends = positions("at group topic queue committed end\n10:20 - orders 0 - 81")
    (one,) = audits(facts(again, made, acked(99), ends, acks("1"), BROKERS))
    assert one.losses == ()
    (one,) = audits(facts(again, acked(99), ends, acks("1"), BROKERS))
    assert [(loss.incident, loss.least, loss.most) for loss in one.losses] == [(None, 0, 100)]
    assert "0 to 100 of orders-0" in one.statement


def history(seed):
    """A partition through a few failovers: Facts, and the ids that were acknowledged, those that are gone.

    With acks=1 a new leader may lack what was acknowledged; with acks=all it lacks only what was not.
    """
    draw = random.Random(seed)
    durable = draw.random() < 0.5
    log, told, moment, epoch, number = [], [], 0, 0, 0
    led, ends, said = [("10:00", 0, 1, 0)], [], []
    for turn in range(draw.randint(1, 4)):
        for _ in range(draw.randint(5, 40)):
            told.append((number, len(log), moment))
            log.append(number)
            number, moment = number + 1, moment + 1
        if turn == 3 or draw.random() < 0.3:
            break
        extra = draw.randint(0, 5)
        log += [f"unanswered {number} {n}" for n in range(extra)]
        keep = len(log) - (draw.randint(0, extra) if durable else draw.randint(0, min(len(log), 15)))
        epoch, old, moment = epoch + 2, 1 + epoch % 3, moment + 20
        new = 1 + epoch % 3
        clock = f"10:{moment // 60:02d}:{moment % 60:02d}"
        said.append(f"{clock} 0 {epoch - 1} none {new}")
        led.append((clock, epoch, new, keep))
        ends.append(f"{clock} 0 {epoch} {old} {len(log)}")
        log, moment = log[:keep], moment + 1
    kept = {one for one in log if isinstance(one, int)}
    rows = [
        leaders("at queue epoch broker from isr\n" + "\n".join(f"{c} 0 {e} {b} {o} 1,2,3" for c, e, b, o in led)),
        followers("at queue epoch broker from\n" + "\n".join(ends)) if ends else (),
        controller("at queue epoch leader isr\n" + "\n".join(said)) if said else (),
        _as_fates(told),
        acked(max(offset for _, offset, _ in told), until=f"11:{moment // 60:02d}"),
        acks("all" if durable else "1"),
        positions(f"at group topic queue committed end\n11:50 - orders 0 - {len(log)}"),
    ]
    return facts(*rows, BROKERS), len(told), len(told) - len(kept)


def _as_fates(told):
    """Runs of neighbours by offset with the same fate, as ledgers are thinned."""
    last = {offset: number for number, offset, _ in told}
    rows = sorted((last[offset] != number, offset, moment) for number, offset, moment in told)
    starts = [0] + [n for n, (a, b) in enumerate(pairwise(rows), 1) if a[0] != b[0]] + [len(rows)]
    place = Evidence(SINK, 1, "")
    found = []
    for begin, end in pairwise(starts):
        over, times = rows[begin][0], [moment for _, _, moment in rows[begin:end]]
        found.append(
            Fate("orders", "0", end - begin, rows[begin][1], rows[end - 1][1], at(min(times)), at(max(times)), 0, 1, 0,
                 1, over, (), (), True, place, place)
        )  # fmt: skip
    return tuple(found)


@pytest.mark.parametrize("seed", range(60))
def test_what_was_acknowledged_is_kept_or_lost_whatever_happened(seed):
    known, told, gone = history(seed)
    (one,) = audits(known)
    (row,) = one.log
    lost = sum(loss.records for loss in one.losses)
    assert row.acked == told
    assert row.lost == lost == sum(loss.least for loss in one.losses) == gone
    assert one.outcome is (Outcome.LOST if gone else Outcome.COMPLETE)
    assert {loss.incident for loss in one.losses} <= {"acks1-failover-loss"}


def test_acknowledged_messages_without_a_place_that_nobody_saw_are_not_accounted_for():
    own = fates("queue from to messages at acked handled\n0 0 89 90 10:00 1 sink\n- - - 10 10:00 1 -")
    (one,) = audits(facts(own, acked(89), UNPLACED, of_topic("replication.factor", "1")))
    assert one.outcome is Outcome.UNKNOWN
    assert one.missing[0].startswith("where in the log 10 acknowledged messages stand")
    seen = fates("queue from to messages at acked handled\n0 0 89 90 10:00 1 sink\n- - - 10 10:00 1 sink")
    (one,) = audits(facts(seen, acked(89), UNPLACED, of_topic("replication.factor", "1")))
    assert one.outcome is Outcome.COMPLETE


@pytest.mark.parametrize(("when", "queue", "outcome"), [
    ("10:05", "0", Outcome.UNKNOWN), ("09:50", "0", Outcome.COMPLETE), ("10:05", "7", Outcome.COMPLETE),
])  # fmt: skip
def test_a_log_that_was_deleted_after_something_was_acknowledged_is_not_called_whole(when, queue, outcome):
    deleted = episode("log-deleted", when, "logs/server.log", topic="orders", queue=queue)
    one = settings("at owner key value\n10:00 orders replication.factor 1", scope="topic")
    (audit,) = audits(facts(fates("from to at sent acked\n0 9 10:00 1 1"), SENT, acked(9), one, deleted))
    assert audit.outcome is outcome
    assert bool(audit.missing) is (outcome is Outcome.UNKNOWN)


@pytest.mark.parametrize(("handled", "line", "outcome"), [
    ("-", "error:kafka-transaction-timed-out", Outcome.UNKNOWN),
    ("sink", "error:kafka-producer-fenced", Outcome.COMPLETE),
    ("-", "error:kafka-coordinator-timeout", Outcome.COMPLETE),
])  # fmt: skip
def test_what_was_acknowledged_and_never_read_may_stand_in_a_transaction_that_was_aborted(handled, line, outcome):
    one = settings("at owner key value\n10:00 orders replication.factor 1", scope="topic")
    own = fates(f"from to at sent acked handled\n0 9 10:00 1 1 {handled}")
    (audit,) = audits(facts(own, SENT, acked(9), one, episode(line, "10:05")))
    assert audit.outcome is outcome


@pytest.mark.parametrize(("policy", "told"), [("compact", "up to 10 are past"), ("delete", "; 10 are past")])
def test_offsets_of_a_compacted_topic_are_no_more_than_that_many_messages(policy, told):
    own = settings(f"at owner key value\n10:00 orders cleanup.policy {policy}", scope="topic")
    ends = positions("at group topic queue committed end\n10:10 sink orders 0 10 20")
    (audit,) = audits(facts(fates("from to at acked handled\n0 9 10:00 0 sink"), SINK, own, ends))
    assert told in str(audit.statement)
