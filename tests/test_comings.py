"""Members that somebody added, stopped or restarted, each of them once; what a fault did to them is none."""

import pytest
from facts_builder import at, episode, facts, log
from kafka_builder import GROUP, client, coordinator

from mqlab.changes import changes, say
from mqlab.kafka.comings import What, comings

START = """
    10:00:00 new {a1}
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:01 new {b1}
    10:00:03 stable 1 2
"""
ENDS = log("logs/server.log", "kafka-broker-log", last="10:30")


def started(name, second=58, minute=59, hour="09"):
    return client(name, f"{hour}:{minute}:{second} settings\n{hour}:{minute}:{second} starting")


UP = (started("a"), started("b"))


def seen(*rows):
    return [(one.what, one.members, one.since - at(0), one.until - at(0)) for one in comings(facts(*rows, ENDS), GROUP)]


def stops(name, clock, back=None):
    text = f"{clock} stopping\n" + (f"{back} settings\n{back} starting\n" if back else "")
    return client(name, text)


RELEASE = (
    START
    + """
    10:05:00 left {a1}
    10:05:00 preparing 1 removing member {a1} on LeaveGroup
    10:05:02 left {b1}
    10:05:02 empty 2
    10:05:20 new {a2}
    10:05:20 preparing 2 Adding new member {a2} with group instance id None
    10:05:21 new {b2}
    10:05:23 stable 3 2
"""
)


def test_a_release_of_several_members_is_one_row():
    logs = (stops("a", "10:05:00", "10:05:19"), stops("b", "10:05:02", "10:05:20"))
    rows = (UP, coordinator(RELEASE), logs)
    assert seen(*rows) == [(What.RESTARTED, ("a", "b"), 300, 321)]
    told = say("members-came", members=("a", "b"), what=What.RESTARTED, until=at(321), several=True)
    assert told in [change.after for change in changes(facts(*rows, ENDS))]


def test_members_that_are_added_to_a_group_are_told_and_those_with_which_it_starts_are_not():
    added = coordinator(START + "10:05:00 new {c1}\n10:05:01 preparing 1 Adding new member {c1} with group")
    assert seen(UP, started("c", 59, "04", "10"), added) == [(What.ADDED, ("c",), 300, 300)]
    assert seen(UP, coordinator(START)) == []


def test_a_member_that_is_stopped_for_good_left():
    gone = coordinator(START + "10:05:00 left {b1}\n10:05:00 preparing 1 removing member {b1} on LeaveGroup")
    assert seen(UP, gone, stops("b", "10:05:00")) == [(What.LEFT, ("b",), 300, 300)]


@pytest.mark.parametrize(
    "rows",
    [
        (coordinator(START + "10:05:00 expired {b1}\n10:05:20 new {b2}"), started("b", 18, "05", "10")),
        (coordinator(START + "10:05:00 left {b1}\n10:05:20 new {b2}"), client("b", "10:05:00 timeout {b1}")),
        (coordinator(START + "10:29:50 left {b1}"), stops("b", "10:29:50")),
        (coordinator(START + "10:05:00 left {b1}"),),
    ],
    ids=["died", "polled too late", "stopped as the material ends", "nothing tells why"],
)
def test_what_a_fault_did_and_the_end_of_what_was_watched_are_none(rows):
    assert seen(UP, *rows) == []


def test_members_of_the_consumer_protocol_are_told_by_the_names_in_their_own_logs():
    """Its coordinator names ids only (KIP-848)."""
    broker = coordinator("10:00:00 new {1}\n10:00:00 bumped 1\n10:05:00 left {1}\n10:05:00 bumped 2\n10:05:20 new {2}")
    own = [
        episode("join-completed", when, "clients/a.log", line=when, group=GROUP, client_id="a", member_id=member)
        for when, member in ((1, broker[0].member_id), (321, broker[-1].member_id))
    ]
    assert seen(started("a"), broker, own, stops("a", "10:04:59", "10:05:18")) == [
        (What.RESTARTED, ("a",), 299, 320),
    ]
