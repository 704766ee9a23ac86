"""What ended the life of a member: a poll timeout of that life and no other, an order to stop, or a crash."""

from dataclasses import replace

import pytest
from facts_builder import at, facts
from kafka_builder import GROUP, client, coordinator, member

from mqlab.facts import Position
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, End, Trigger
from mqlab.rows import Batch, Shape
from mqlab.units import clock


def told(group_facts):
    """clock, trigger, behind and client of each rebalance."""
    rows = history(group_facts, GROUP)
    return [f"{clock(r.started)} {r.trigger} <- {r.behind} ({r.client_id})" for r in rows]


AGAIN = """
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 assigned 1 2
    10:01:00 left {a1} consumer poll timeout has expired.
    10:01:00 preparing 1 Removing member {a1} on LeaveGroup; client reason: consumer poll timeout has expired.
    10:01:01 assigned 2 1
    10:01:05 preparing 2 Adding new member {a2} with group instance id None
    10:01:06 assigned 3 2
"""
AGAIN_LOG = """
    09:59:50 settings
    10:00:03 joined 1 {a1}
    10:01:00 timeout
    10:01:05 lost invoices-0
    10:01:06 joined 3 {a2}
"""


@pytest.mark.parametrize(
    ("said", "last", "behind"),
    [
        ("the consumer is being closed", "10:01:09 leaving {a2} the consumer is being closed", "stop"),
        ("", "10:01:09 leaving {a2} the consumer is being closed", "stop"),
        ("the consumer is being closed", "", "stop"),
        ("", "10:01:08 stopping\n10:01:09 closed", "stop"),
        ("", "", "unknown"),
    ],
)
def test_a_member_that_closes_soon_after_a_poll_timeout_is_closed(said, last, behind):
    left = f"10:01:09 left {{a2}} {said}\n10:01:09 preparing 3 removing member {{a2}} on LeaveGroup"
    log = coordinator(f"{AGAIN}\n{left}\n10:01:10 assigned 4 1")
    assert told(facts(log, client("a", f"{AGAIN_LOG}\n{last}")))[1:] == [
        "10:01:00 poll timeout <- poll timeout (a)",
        "10:01:05 join <- poll timeout (a)",
        f"10:01:09 leave <- {behind} (a)",
    ]


def test_a_second_poll_timeout_soon_after_the_first_is_one_more():
    log = coordinator(f"{AGAIN}\n10:01:09 left {{a2}}\n10:01:09 preparing 3 removing member {{a2}} on LeaveGroup")
    assert told(facts(log, client("a", f"{AGAIN_LOG}\n10:01:09 timeout {{a2}}")))[3:] == [
        "10:01:09 poll timeout <- poll timeout (a)"
    ]


KIP_848 = coordinator("""
    10:00:00 new {1}
    10:00:00 bumped 1
    10:00:35 left {1}
    10:00:35 bumped 2
    10:00:43 new {1}
    10:00:43 bumped 3
    10:00:45 left {1}
    10:00:45 bumped 4
""")


def test_a_member_of_kip_848_that_stops_right_after_its_return_did_not_time_out_twice():
    log = client("a", """
        09:59:58 settings
        10:00:01 got invoices-0
        10:00:35 timeout
        10:00:43 overdue 8.2 {1}
        10:00:43 lost invoices-0
        10:00:44 got invoices-0
        10:00:45 stopping
        10:00:45 closed
    """)  # fmt: skip
    made = facts(KIP_848, log)
    assert told(made) == [
        "10:00:00 join <- start (a)",
        "10:00:35 poll timeout <- poll timeout (a)",
        "10:00:43 join <- poll timeout (a)",
        "10:00:45 leave <- stop (a)",
    ]
    assert [life.end for life in lives(made, GROUP)] == [End.POLL_TIMEOUT, End.LEFT]


def test_a_line_that_tells_of_a_timeout_with_the_next_poll_says_when_it_was():
    log = client("a", "09:59:58 settings\n10:00:01 got invoices-0\n10:00:55 overdue 20 {1}\n10:00:55 lost invoices-0")
    life = lives(facts(KIP_848[:4], log), GROUP)[0]
    assert (life.end, clock(life.until)) == (End.POLL_TIMEOUT, "10:00:35")


PYTHON = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 assigned 1 2
    10:00:20 left {a1}
    10:00:20 preparing 1 removing member {a1} on LeaveGroup
    10:00:21 assigned 2 1
    10:00:59 preparing 2 Adding new member {a2} with group instance id None
    10:01:00 assigned 3 2
""")


def work(*ends):
    """Batches of client a that were done then."""
    return tuple(batch(end, line) for line, end in enumerate(ends, 1))


def batch(end, line):
    """Ten records in 8 s."""
    return Batch(at(end), None, None, 1, 10, 8.0, 8.0, 10, "clients/a.log", line, "processed 10 records in 8.0 s")


@pytest.mark.parametrize(
    ("log", "done", "behind"),
    [
        ("10:00:58 maxpoll 0.3\n10:00:58 lost invoices-0", ("10:00:02", "10:00:58"), "poll timeout"),
        ("10:00:58 maxpoll 0.3\n10:00:58 lost invoices-0", (), "poll timeout"),
        ("10:00:20 maxpoll 0.3\n10:00:58 lost invoices-0", ("10:00:58",), "poll timeout"),
        ("10:00:58 maxpoll 0.3", ("10:00:30", "10:00:40", "10:00:58"), "unknown"),
        ("10:00:40 settings\n10:00:58 maxpoll 0.3", (), "unknown"),
    ],
)
def test_librdkafka_tells_of_a_poll_timeout_when_the_batch_is_done(log, done, behind):
    made = facts(PYTHON, client("a", f"09:59:50 starting\n{log}", printed=False), work(*done))
    assert str(history(made, GROUP)[1].behind) == behind


CRASHING = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 assigned 1 2
    10:01:00 left {a1}
    10:01:00 preparing 1 removing member {a1} on LeaveGroup; client reason: the consumer is being closed
    10:01:01 assigned 2 1
    10:02:00 preparing 2 Adding new member {a2} with group instance id None
    10:02:01 assigned 3 2
    10:03:00 left {a2}
    10:03:00 preparing 3 removing member {a2} on LeaveGroup; client reason: the consumer is being closed
    10:03:01 assigned 4 1
""")
CLOSING = """
    09:59:50 settings
    10:00:03 joined 1 {a1}
    10:01:00 revoked invoices-0
    10:01:00 leaving {a1} the consumer is being closed
    10:01:00 closed
    10:01:50 settings
    10:02:01 joined 3 {a2}
    10:03:00 revoked invoices-0
    10:03:00 leaving {a2} the consumer is being closed
    10:03:00 closed
"""


def ends(*rows):
    """What is behind the first leave and the join after it, then behind the second leave."""
    return [str(r.behind) for r in history(facts(CRASHING, *rows), GROUP)[1:]]


def exits(*lines):
    """What the supervisor wrote: clock and status."""
    return tuple(
        replace(one, system="os", reason="a", client_id=None)
        for line in lines
        for one in client("a", f"{line.split()[0]} exited {line.split()[1]}", source="supervisord.log")
    )


@pytest.mark.parametrize(
    ("status", "behind"),
    [
        (("10:01:40 1", "10:03:40 1"), ["crash", "crash", "crash"]),
        (("10:01:40 139",), ["crash", "crash", "stop"]),
        (("10:01:40 0", "10:03:40 0"), ["restart", "restart", "stop"]),
        (("10:01:40 143", "10:03:40 143"), ["restart", "restart", "stop"]),
        (("10:01:40 137", "10:03:40 137"), ["restart", "restart", "stop"]),
        (("10:03:40 1",), ["restart", "restart", "crash"]),
    ],
)
def test_a_process_that_closes_in_order_and_exits_with_an_error_had_crashed(status, behind):
    assert ends(client("a", CLOSING), exits(*status)) == behind


def test_a_process_that_said_before_that_it_stops_did_not_crash_whatever_its_status():
    asked = CLOSING.replace("10:01:00 revoked", "10:00:59 stopping\n10:01:00 revoked")
    assert ends(client("a", asked), exits("10:01:40 1"))[:2] == ["restart", "restart"]


def died(lines, *, line=3, last="10:03:00", text="worker died"):
    """A shape of errors in the log of client a: how many lines, the first of them and the minute of the last."""
    return Shape("clients/a.log", "ERROR", f"ERROR [main] Worker - {text}", lines, 90, at("10:01:00"), at(last), line)


ORDERLY = ["restart", "restart", "stop"]
NOTED = CLOSING.replace("10:01:00 revoked", "10:01:00 got\n10:01:00 revoked", 1)
"""Line 3 is not known to the loader: there the error may stand, or something else."""


def error_at_3(text=NOTED):
    """Lines of the log without its third, where the error stands."""
    return [e for e in client("a", text) if e.first.line != 3]


@pytest.mark.parametrize(
    ("shape", "behind"),
    [
        (died(2), ["crash", "crash", "crash"]),
        (died(1, last="10:01:00"), ["crash", "crash", "stop"]),
        (died(3), ORDERLY),
        (died(1), ORDERLY),
        (died(2, line=1), ORDERLY),
        (died(2, text="interrupted while waiting"), ORDERLY),
        (replace(died(2), level="WARN"), ORDERLY),
        (replace(died(2), source="clients/b.log"), ORDERLY),
    ],
)
def test_an_error_that_is_the_last_word_before_each_closing_is_a_crash(shape, behind):
    made = replace(facts(CRASHING, error_at_3()), shapes=(shape,))
    assert [str(r.behind) for r in history(made, GROUP)[1:]] == behind


def test_an_error_after_which_the_work_went_on_is_no_last_word():
    went_on = batch("10:01:00", 4)
    later = [replace(e, first=replace(e.first, line=e.first.line + 5)) if e.first.line > 3 else e for e in error_at_3()]
    made = replace(facts(CRASHING, later, went_on), shapes=(died(2),))
    assert [str(r.behind) for r in history(made, GROUP)[1:]] == ORDERLY


@pytest.mark.parametrize(("status", "behind"), [("143", "restart"), ("0", "restart"), ("1", "crash")])
def test_the_status_says_more_than_an_error(status, behind):
    made = replace(facts(CRASHING, error_at_3(), exits(f"10:01:20 {status}")), shapes=(died(2),))
    assert str(history(made, GROUP)[1].behind) == behind


def test_a_crash_says_how_it_is_known():
    made = replace(facts(CRASHING, error_at_3()), shapes=(died(2),))
    row = history(made, GROUP)[1]
    assert (row.trigger, row.behind, row.inferred, row.because) == (
        Trigger.LEAVE, Behind.CRASH, True,
        "its process left cleanly, right after an error: ERROR [main] Worker - worker died",
    )  # fmt: skip


STATIC = coordinator("""
    10:00:00 preparing 0 Adding new member {pod-0-1} with group instance id Some(pod-0)
    10:00:03 assigned 1 2
    10:01:10 expired {pod-0-1}
    10:01:10 preparing 1 removing member {pod-0-1} on heartbeat expiration
    10:01:11 assigned 2 1
""")


def snapshot(when):
    """A row of ``--members`` that names both the instance and the client."""
    return Position(
        at(when), GROUP, "invoices", "0", 1, 1, None, "a", member("pod-0"), "/10.0.0.7", "members.txt", 3, ""
    )


def test_a_static_member_has_the_name_of_its_client_where_a_snapshot_tells_it():
    rows = history(facts(STATIC, snapshot("10:00:10")), GROUP)
    assert [(r.client_id, r.host, r.behind) for r in rows] == [
        ("a", "10.0.0.7", Behind.START),
        ("a", "10.0.0.7", Behind.EXPIRY),
    ]


def test_without_any_word_of_its_client_a_static_member_has_the_name_of_its_instance():
    assert [r.client_id for r in history(facts(STATIC), GROUP)] == ["pod-0", "pod-0"]


@pytest.mark.parametrize(
    ("log", "behind"),
    [
        ("10:00:40 stopping\n10:00:40 closed", "stop"),
        ("10:00:40 stopping\n10:00:40 closed\n10:01:30 settings\n10:01:31 joined 3 {pod-0-2}", "restart"),
        ("", "heartbeat expiry"),
    ],
)
def test_a_static_member_that_was_stopped_and_expires_was_stopped(log, behind):
    own = client("a", f"09:59:50 settings\n10:00:03 joined 1 {{pod-0-1}}\n{log}")
    row = history(facts(STATIC, own), GROUP)[1]
    assert (row.trigger, str(row.behind), row.client_id) == (Trigger.HEARTBEAT_EXPIRY, behind, "a")
