"""Copies that a producer's retries stored, and those that are none: the application's, a group's, a failover's."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, positions, series, settings
from kafka_builder import TOPIC
from loss_builder import A, life, noted
from message_builder import acked, fates, part
from said import told

from mqlab.detectors.producer_duplicates import detect, say
from mqlab.findings import Certainty, Evidence
from mqlab.rows import Delivery

PRODUCER = log("clients/gateway.log", "kafka-client-log")
OFF = settings("at owner key value\n10:00 gateway enable.idempotence false", "clients/gateway.log")
ON = settings(
    "at owner key value\n10:00 gateway enable.idempotence true\n10:00 gateway acks all", "clients/gateway.log"
)


def cut(when="10:02:00", reason="NETWORK_EXCEPTION", *, queue="0"):
    """The producer's lines about requests whose answer was lost."""
    return episode(
        "produce-retry", when, "clients/gateway.log", count=4, topic="orders", queue=queue, client_id="gateway",
        reason=reason, left=3.0,
    )  # fmt: skip


TWICE = fates("""
queue from to  at        until     sent acked places handled
0     0    99  10:00:10  10:01:59  1    1     1      sink
0     100  119 10:02:05  10:02:06  1    1     2      sink+sink
0     140  400 10:02:07  10:05:00  1    1     1      sink
""")
UNTOLD, UNREAD = ((say("no-producers", twice=say("twice", ids=20), read=read),) for read in (True, False))
ALL = (TWICE, cut(), OFF, acked(400), PRODUCER)


def found(*rows):
    """(certainty, copies) of each finding; else why it was rejected, what is missing, or clear."""
    result = detect(facts(*rows))
    if result.findings:
        return [(f.certainty, f.measures["duplicated_records"]) for f in result.findings]
    return result.rejected or result.missing or "clear"


def test_ids_at_two_places_that_were_acknowledged_once_are_copies_of_a_retry():
    assert found(*ALL) == [(Certainty.PROVEN, 20)]
    (finding,) = detect(facts(*ALL)).findings
    copies = {"ids_stored_twice": 20, "duplicated_records": 20}
    assert told(finding.statement) == {"subject": "orders", "retries": 4, "off": True, **copies}
    assert finding.evidence[0].source == "clients/gateway.log"


def test_a_dump_without_producer_ids_proves_that_nothing_was_numbered():
    line = Evidence(
        "offsets/dump.txt", 3, "| offset: 0 CreateTime: 1 keySize: 2 valueSize: 9 sequence: -1 headerKeys: []"
    )
    dump = part("stored", 0, 400, "10:00", "10:20", source="offsets/dump.txt")
    numbered = type(dump)(**{**{f: getattr(dump, f) for f in dump.__slots__}, "first": line})
    assert found(TWICE, cut(), acked(400), PRODUCER) == [(Certainty.LIKELY, 20)]
    assert found(TWICE, cut(), acked(400), numbered, PRODUCER) == [(Certainty.PROVEN, 20)]


def test_an_application_that_submits_again_stores_its_own_copies():
    for text in ("2    1     2", "1    2     2"):
        own = fates(f"queue from to at sent acked places handled\n0 100 119 10:02:05 {text} sink+sink")
        assert found(own, cut(), OFF, acked(400), PRODUCER) == say("submitted", ids=20)
    failed = fates("queue from to at acked failed places\n0 100 119 10:02:05 1 1 2")
    assert found(failed, cut(), OFF, PRODUCER) == say("submitted", ids=20)


def test_without_retries_nothing_tells_who_stored_them():
    assert found(TWICE, OFF, acked(400), PRODUCER) == UNTOLD
    assert found(TWICE, acked(400)) == UNREAD


def test_retries_after_which_nothing_was_stored_are_none():
    assert found(TWICE, cut(reason="NOT_LEADER_OR_FOLLOWER"), OFF, PRODUCER) == UNTOLD
    assert found(TWICE, cut(reason="NOT_ENOUGH_REPLICAS_AFTER_APPEND"), OFF, PRODUCER) == [(Certainty.PROVEN, 20)]


def test_an_idempotent_producer_stores_nothing_twice():
    assert found(TWICE, cut(), ON, acked(400), PRODUCER) == say("idempotent", ids=20)


def test_one_place_that_is_handled_twice_is_no_copy():
    own = fates("queue from to at handled\n0 0 99 10:00 sink+sink")
    assert found(own, cut(), OFF, acked(400), PRODUCER) == "clear"


def test_keys_that_are_no_ids_are_not_counted():
    own = fates("queue from to at places\n0 100 119 10:02:05 2", keyed=False)
    assert found(own, cut(), OFF, PRODUCER) == "clear"


def test_a_copy_of_which_the_log_lost_one_is_left_to_the_loss():
    own = fates("queue from to at places over\n0 100 119 10:02:05 2 yes")
    assert found(own, cut(), OFF, PRODUCER) == say("went-back")


def test_two_producers_of_two_topics_do_not_share_their_retries():
    other = episode(
        "produce-retry", "10:02:00", "clients/other.log", topic="bills", queue="0", client_id="other",
        reason="NETWORK_EXCEPTION",
    )  # fmt: skip
    assert found(TWICE, other, OFF, acked(400), PRODUCER) == UNTOLD


SENT = fates("queue from to at until sent\n0 0 399 10:00:10 10:05:00 1")
ENDS = "at group topic queue committed end\n10:00:00 - orders 0 - 0\n10:10:00 - orders 0 - {}"
LEDGERS = (acked(399), part("sent", None, None, "10:00", "10:05", queue="", source="clients/gateway-sent.csv"))


def test_a_log_that_grew_by_more_than_was_sent_holds_copies():
    rows = (SENT, LEDGERS, cut(), OFF, PRODUCER)
    assert found(*rows, positions(ENDS.format(420))) == [(Certainty.LIKELY, 20)]
    assert found(*rows, positions(ENDS.format(400))) == say("no-growth", topic="orders")
    assert found(SENT, LEDGERS, cut(), ON, PRODUCER, positions(ENDS.format(420))) == "clear"


def test_growth_says_nothing_where_others_write_or_the_log_was_there_before():
    rows = (SENT, LEDGERS, OFF, PRODUCER)
    assert found(*rows, positions(ENDS.format(420))) == "clear"
    older = positions(ENDS.format(420).replace("- 0\n", "- 15\n"))
    assert found(*rows, cut(), older) == "clear"
    early = positions(ENDS.format(420).replace("10:10:00", "10:04:00"))
    assert found(*rows, cut(), early) == "clear"


def test_of_two_producers_that_differ_nothing_is_proven():
    other = settings("at owner key value\n10:00 other enable.idempotence true", "clients/other.log")
    named = (acked(400), acked(400, source="clients/other-acked.csv", party="other"))
    assert found(TWICE, cut(), OFF, other, named, PRODUCER) == [(Certainty.LIKELY, 20)]


def resending(left=(5.0, 0.0), again=900):
    """A producer that sent many records again, as its log and its counters tell."""
    counted = {"step": 60, "client_id": "gateway"}
    return (
        replace(cut("10:02"), count=20, value_min=left[0], value_max=left[0]),
        replace(cut("10:08"), count=20, value_min=left[1], value_max=left[1]),
        series("producer.record_retries", [again * n // 6 for n in range(-2, 9)], **counted),
        series("producer.record_sends", [500 * n for n in range(-2, 9)], **counted),
    )  # fmt: skip


def test_many_resends_without_idempotence_may_have_stored_copies_where_nobody_notes_what_was_stored():
    assert found(*resending(), OFF) == (say("resent", client="gateway", again=900),)


def test_resends_of_an_idempotent_producer_or_of_ids_that_are_noted_once_are_no_copies():
    once = fates("queue from to at sent acked\n0 0 400 10:01:00 1 1")
    assert found(*resending(), ON) == "clear"
    assert found(*resending(), OFF, once, acked(400)) == "clear"
    assert found(*resending(again=10), OFF) == "clear"


@pytest.mark.parametrize(("read", "copied"), [([(10, 1), (10, 1)], 10), ([(10, 2)], 0)])
def test_copies_that_a_group_read_before_the_log_lost_them_are_not_clear(read, copied):
    """A group's ledger holds ten messages twice: at two places of a log that lost them, or at one."""
    gone = fates(
        f"queue from to at until sent acked over handled\n0 0 9 10:00:10 10:00:11 1 1 yes {A}+{A}", topic=TOPIC
    )
    seen = [Delivery(at(10), TOPIC, "0", (A,) * times, messages) for messages, times in read]
    result = detect(facts(life("a"), gone, seen, noted("10:00:10 0 10"), PRODUCER))
    said = say("copies-read", copies=copied) if copied else None
    assert (result.findings, result.seen) == ((), said)
    assert bool(result.missing) == bool(copied)
