"""Members of a group that come again: what is a restart of them, and what only looks like one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts
from group_builder import GROUP, broker_log, connected, listing

from mqlab.detectors.rolling_restart import detect
from mqlab.rocketmq.members import rounds
from mqlab.words import room


def comes(when, client, peer):
    return connected(when, client, peer)


def goes(when, client, peer):
    return connected(when, client, peer, kind="consumer-disconnected")


BEGIN = (comes(0, "A@1", "10.0.0.1:1"), comes(1, "B@1", "10.0.0.2:1"))
NEXT = (comes(200, "A@2", "10.0.0.1:2"), comes(260, "B@2", "10.0.0.2:2"))


def hosts(*rows):
    """Hosts whose members came again, and whether all did."""
    found = rounds(facts(*rows, broker_log()), GROUP)
    return (found[0].members, found[0].whole) if found else None


def test_members_that_leave_and_come_with_other_ids_were_restarted():
    rows = (*BEGIN, goes(190, "A@1", "10.0.0.1:1"), goes(250, "B@1", "10.0.0.2:1"), *NEXT)
    assert hosts(rows) == (("10.0.0.1", "10.0.0.2"), True)
    (found,) = rounds(facts(rows, broker_log()), GROUP)
    assert (found.since, found.until) == (at(190), at(260))


def ended(how):
    """What is said of two members that end in this way and come again."""
    rows = (*BEGIN, goes(190, "A@1", "10.0.0.1:1"), goes(250, "B@1", "10.0.0.2:1"), *NEXT)
    told = [replace(row, reason=how) if row.kind == "consumer-disconnected" else row for row in rows]
    return detect(facts(told, broker_log()))


def test_members_that_unregister_and_come_again_are_released():
    assert [one.incident for one in ended("unregistered").findings] == ["rolling-restart"]


@pytest.mark.parametrize("how", ["closed", "expired"])
def test_members_whose_connection_ends_without_a_good_bye_are_not(how):
    because = room("restarts")("not-unregistered", group=GROUP, members=2)
    assert (ended(how).findings, ended(how).rejected) == ((), because)


def test_listings_in_which_all_members_are_others_at_once_tell_of_no_release():
    seen = [
        listing(t, *(f"{name}@{1 if t < 100 else 2} 10.0.0.{n}:{t}" for n, name in enumerate("AB", 1)))
        for t in range(0, 300, 20)
    ]
    assert detect(facts(seen)).findings == ()


def test_two_releases_an_hour_apart_are_one_each():
    first = (*BEGIN, goes(190, "A@1", "10.0.0.1:1"), goes(250, "B@1", "10.0.0.2:1"), *NEXT)
    again = (goes(3790, "A@2", "10.0.0.1:2"), comes(3800, "A@3", "10.0.0.1:3"))
    last = (goes(3850, "B@2", "10.0.0.2:2"), comes(3860, "B@3", "10.0.0.2:3"))
    found = rounds(facts(first, again, last, broker_log()), GROUP)
    assert [(one.since, one.until, one.whole) for one in found] == [
        (at(190), at(260), True),
        (at(3790), at(3860), True),
    ]


def test_a_dead_process_may_be_listed_a_while_beside_its_successor():
    late = (goes(325, "A@1", "10.0.0.1:1"), goes(385, "B@1", "10.0.0.2:1"))
    assert hosts(BEGIN, NEXT, late) == (("10.0.0.1", "10.0.0.2"), True)


def test_a_second_process_on_each_host_is_no_restart():
    assert hosts(BEGIN, NEXT) is None
    much_later = (goes(500, "A@1", "10.0.0.1:1"), goes(510, "B@1", "10.0.0.2:1"))
    assert hosts(BEGIN, NEXT, much_later) is None


def test_one_process_that_left_has_one_successor():
    rows = (*BEGIN, goes(190, "A@1", "10.0.0.1:1"), goes(250, "B@1", "10.0.0.2:1"), *NEXT)
    beside = (comes(270, "A@3", "10.0.0.1:3"), comes(275, "B@3", "10.0.0.2:3"))
    (found,) = rounds(facts(rows, beside, broker_log()), GROUP)
    assert (found.since, found.until) == (at(190), at(260))


def test_clients_that_connect_again_after_a_brokers_start_were_not_restarted():
    start = episode("rocketmq-broker-started", 200, "logs/broker-a/broker.log", system="rocketmq", line=5)
    back = (comes(205, "A@1", "10.0.0.1:7"), comes(206, "B@1", "10.0.0.2:7"))
    assert hosts(BEGIN, start, back) is None


def test_another_port_of_an_id_with_a_number_of_its_own_is_a_connection():
    def turn(a, b):
        return (
            comes(0, a, "10.0.0.1:1"), comes(1, b, "10.0.0.2:1"), goes(100, a, "10.0.0.1:1"),
            goes(130, b, "10.0.0.2:1"), comes(101, a, "10.0.0.1:2"), comes(131, b, "10.0.0.2:2"),
        )  # fmt: skip

    assert hosts(turn("A@7#111", "B@7#222")) is None
    assert hosts(turn("A@7", "B@7")) == (("10.0.0.1", "10.0.0.2"), True)


def test_listings_tell_a_restart_by_new_ids():
    seen = [
        listing(t, f"A@{1 if t < 100 else 2} 10.0.0.1:{t}", f"B@{1 if t < 160 else 2} 10.0.0.2:{t}")
        for t in range(0, 300, 20)
    ]
    (one,) = detect(facts(seen)).findings
    assert (one.measures["members"], one.subject) == (2, GROUP)
