"""Whole statements about Kafka, as they read in English."""

from facts_builder import at
from said import statement

from mqlab.detectors import poll_interval_exceeded, session_timeout
from mqlab.kafka import heartbeat_loss, poll_timeout
from mqlab.kafka.heartbeat_loss import Kind
from mqlab.words import Text, listed, room

LATE = {"subject": "billing", "named": ["a"], "single": True}
COST = [poll_interval_exceeded.say("rebalances", times=4), poll_interval_exceeded.say("commits", times=2)]
POLL = {"longest": 500, "slow": 0.09, "cost": COST, "innocent": 1, "fair": 0.01}


def test_polls_that_took_too_long():
    loop = {
        "poll_timeouts": 2,
        "poll_interval_seconds": 15,
        "longest_batch_seconds": 45,
        "safe_records_per_poll": 166,
    }
    said = statement("poll-interval-exceeded", loop, **LATE, **POLL)
    assert said == (
        "a left billing twice because no poll came within max.poll.interval.ms (15.0 s): one poll of 500 records "
        "took 45.0 s, at 90.0 ms per record at most 166 fit. It cost 4 rebalances and 2 failed commits. 1 other member "
        "polled in time (10.0 ms per record)."
    )
    assert len(said) <= 300


def test_one_poll_that_stood_still():
    stalled = {"poll_timeouts": 1, "poll_interval_seconds": 15, "longest_batch_seconds": 45}
    answers = poll_timeout.say("answers", mean=0.085, before=0.005)
    cause = listed([answers, poll_timeout.say("calls", calls=5, reasons=["HTTP 500"])])
    assert statement("poll-interval-exceeded", stalled, **LATE, longest=2, usual=0.01, cause=cause) == (
        "a left billing once because no poll came within max.poll.interval.ms (15.0 s): one poll of 2 records took "
        "45.0 s (usually 10.0 ms per record). Possible cause: the HTTP service in the material answered in 85.0 ms on "
        "average (before: 5.00 ms); 5 calls of the members failed (HTTP 500)."
    )


def test_members_that_fell_silent():
    head = "The coordinator of billing expelled a twice"
    group = {"subject": "billing", "each": [session_timeout.say("each", client="a", times=2)]}
    frozen = group | {"cause": heartbeat_loss.say("frozen", seconds=26)}
    assert statement("session-timeout", {"session_timeout_seconds": 10, "rebalances": 4}, **frozen) == (
        f"{head} after 10.0 s without a heartbeat (session.timeout.ms): its process stood still for up to 26.0 s "
        "without a log line or a poll. It cost 4 rebalances."
    )
    still = [session_timeout.say("still", client=client, seconds=seconds) for client, seconds in (("a", 22), ("b", 18))]
    assert statement("session-timeout", {}, **group, kind=Kind.FROZEN, still=still) == (
        f"{head} after session.timeout.ms without a heartbeat: their processes stood still, "
        "a for up to 22.0 s and b for up to 18.0 s."
    )


def test_two_processes_with_one_instance_id():
    names = {"names": ["clients/a", "clients/b"], "group": "shop", "instance": "shop-0", "period": 35}
    assert statement("static-member-fenced", {"fencings": 3, "processes": 2}, **names) == (
        "2 processes (clients/a, clients/b) of shop share group.instance.id shop-0: each one that joins takes over the "
        "membership and fences the other, 3 times, about every 35.0 s. The generation does not change, so the group "
        "looks stable while its partitions change hands."
    )


def test_a_record_that_blocks_its_partition():
    record = {"topic": "invoices", "queue": "3", "offset": "1000", "clients": ["a"], "failed": True, "lasted": 200}
    stands = {"stayed": "1000", "moving": 3, "others": 3, "earlier": 5}
    assert statement("poison-pill-stall", {"retries": 201, "stuck_lag": 2005}, **record, **stands) == (
        "invoices-3@1000 failed 201 times in 3.33 min (a). Its partition stayed at offset 1000, while 3 of 3 other "
        "partitions moved on; its lag grew from 5 to 2,005 messages."
    )


def test_records_that_were_handed_out_again():
    change = room("rebalances")("what", trigger="join", behind="start")
    after = [room("reprocess-duplicates")("after", repeats=900, change=change, at_most=True)]
    many = {"duplicated_records": 900, "repeated_records": 900, "records_handled": 1800}
    assert statement("reprocess-duplicates", many, group="billing", topic="invoices", after=after, repeats=900) == (
        "billing handled 900 of 1,800 records of invoices more than once: 900 duplicates. They "
        "were handed out again: at most 900 after join (start)."
    )


def test_records_that_retention_deleted_unread():
    amount = room("delivery-ways")("amount", records=400, least=0, most=400)
    lost = {"group": "billing", "amount": amount, "where": "partition 0 of invoices", "ongoing": True}
    assert statement("retention-loss", {"pending_records": 400}, **lost, since_look=200) == (
        "Retention deleted about 400 records (0 to 400) of partition 0 of invoices before billing read them: the log "
        "start went past its position. It has not come back: of its lag 400 records can still be read, 200 fewer since "
        "the last look at it."
    )


def test_copies_that_a_retry_stored():
    twice = {"duplicated_records": 20, "ids_stored_twice": 20}
    assert statement("producer-duplicates", twice, subject="orders", retries=4, off=True) == (
        "The log of orders holds 20 ids at more than one place, 20 copies too many, each acknowledged once. The "
        "producer sent batches again after their answer was lost (4 lines), and was not idempotent."
    )


def test_batches_that_are_sent_again():
    again = {"subject": "app", "reasons": ["REQUEST_TIMED_OUT"], "timeout": "2000", "falling": True}
    often = {"retry_lines": 16, "transmissions_per_record": 1.4}
    assert statement("retry-amplification", often, **again, not_idempotent=True) == (
        "app sends the same batches again (16 retries: REQUEST_TIMED_OUT; request.timeout.ms 2000): 1.40 transmissions "
        "per record. The number of attempts left falls. Idempotence is off, so a retry can store a record twice."
    )


def test_a_leader_that_was_not_in_sync():
    records = room("delivery-ways")("records", most=54, places=["orders-0 (offsets 100 to 153)"])
    elected = {"subject": "orders", "leader": "1", "queue": "0", "offset": 100, "at": at("10:05"), "records": records}
    assert statement("unclean-election-loss", {"lost_records_read_before": 54}, **elected) == (
        "Broker 1, which was not in sync, became leader of orders-0 at offset 100 at 10:05:00 UTC. 54 records of "
        "orders-0 (offsets 100 to 153) are gone from the log. Consumers had read 54 of them before: a sink may be "
        "complete while the log is not."
    )


def test_writes_that_were_refused():
    place = {"topic": "orders", "partitions": ["0"], "since": at("10:02"), "until": at("10:02:09")}
    assert statement("under-min-isr", {"refused_requests": 5}, **place, in_sync="1", required=2) == (
        "Writes with acks=all to orders (partition 0) were refused 5 times from 10:02:00 to 10:02:09 UTC for want of "
        "in-sync replicas: in sync was 1, required are 2. Whether these writes succeeded later is not in the material."
    )
    head = (
        "Writes with acks=all to orders (partition 0) were refused once at 10:02:00 UTC for want of in-sync replicas."
    )
    once = {"refused_requests": 1}
    assert statement("under-min-isr", once, **place, once=True, taken=True, whole=True) == (
        f"{head} The producers sent them again until they were taken. "
        "Nothing that was acknowledged is gone from the log."
    )
    failed = once | {"failed_records": 71, "failed_but_stored_records": 41, "dropped_records": 30}
    by_ledger = room("failed-records")("ledger")
    assert statement("under-min-isr", failed, **place, once=True, counted_by=by_ledger) == (
        f"{head} 71 records were reported as failed (by the producer's ledger), 41 of them are in the log all the same "
        "and 30 were dropped."
    )


def test_an_error_that_is_said_outright():
    table = {"means": "Nobody answers there.", "cause": "a host that is down", "check": "The host."}
    lines = {"lines": 30, "since": at("10:30"), "until": at("10:34:50"), "who": ["till-3"], "about": ["kafka-1:9092"]}
    back = {"connected": at("10:36:40"), "meanwhile": 2, "excused": 2, "others": ["os-no-space"]}
    assert Text("known-errors", "statement", table | lines | back) == (
        "Nobody answers there. 30 lines from 10:30:00 to 10:34:50 UTC: till-3 (kafka-1:9092). Connected twice in "
        "between, and again at 10:36:40 UTC. 2 more lines around a start are not counted. Most often: a host that is "
        "down. Check: The host. Beside it: os-no-space."
    )
