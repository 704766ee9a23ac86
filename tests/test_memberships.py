"""Who was there when: one source is followed, a new port is no new process, sharing cuts a stay."""

from facts_builder import at, facts
from group_builder import GROUP, allocated, broker_log, connected, listing, listings

from mqlab.rocketmq.eras import around, eras, lasting, stays
from mqlab.rocketmq.shared_client_ids import cases
from mqlab.units import clock

GONE = "consumer-disconnected"


def told(known):
    """Each era as ``from to: ids``."""
    return [f"{clock(e.since)} {clock(e.seen)}: {' '.join(e.ids) or '-'}" for e in known]


def shown(known):
    """Each stay as ``id place from to`` with a mark where it is shared."""
    return [
        f"{s.member.client_id} {s.member.host} {clock(s.since)} {clock(s.until)}{' shared' if s.shared else ''}"
        for s in known
    ]


def test_the_brokers_log_tells_each_coming_and_going():
    rows = (
        connected(0, "A@9", "10.0.0.1:1"), connected(5, "B@9", "10.0.0.2:1"),
        connected(60, "B@9", "10.0.0.2:1", kind=GONE), broker_log(0, 100),
    )  # fmt: skip
    known = eras(facts(*rows, listings(10, 50, 20, "A@9 10.0.0.1:1", "B@9 10.0.0.2:1")), GROUP)
    assert {":" in m.place for e in known for m in e.members} == {True}
    assert told(known) == ["10:00:00 10:00:05: A@9", "10:00:05 10:01:00: A@9 B@9", "10:01:00 10:01:40: A@9"]
    assert shown(stays(known)) == ["A@9 10.0.0.1 10:00:00 10:01:40", "B@9 10.0.0.2 10:00:05 10:01:00"]


def test_a_listing_that_knows_more_processes_is_followed():
    late = (connected(40, "B@9", "10.0.0.2:1"), broker_log(0, 100))
    known = eras(facts(*late, listings(0, 60, 20, "A@9 10.0.0.1:1", "B@9 10.0.0.2:1")), GROUP)
    assert told(known) == ["10:00:00 10:01:00: A@9 B@9"]


def test_a_listing_is_true_for_its_moment_only():
    first, second = listings(0, 40, 20, "A@9 10.0.0.1:1"), listing(100, "A@9 10.0.0.1:1", "B@9 10.0.0.2:1")
    known = eras(facts(first, second), GROUP)
    assert told(known) == ["10:00:00 10:00:40: A@9", "10:01:40 10:01:40: A@9 B@9"]
    assert known[0].until == at(100)


def test_another_port_is_no_other_process():
    known = eras(facts(listing(0, "A@9 10.0.0.1:1"), listing(20, "A@9 10.0.0.1:2")), GROUP)
    assert told(known) == ["10:00:00 10:00:20: A@9"]


def test_a_stay_is_cut_where_its_id_began_to_be_shared():
    rows = (
        connected(0, "A@9", "10.0.0.1:1"), connected(60, "A@9", "10.0.0.2:1"),
        connected(300, "A@9", "10.0.0.2:1", kind=GONE), broker_log(0, 400),
    )  # fmt: skip
    assert shown(stays(eras(facts(*rows), GROUP))) == [
        "A@9 10.0.0.1 10:00:00 10:01:00",
        "A@9 10.0.0.1 10:01:00 10:05:00 shared",
        "A@9 10.0.0.1 10:05:00 10:06:40",
        "A@9 10.0.0.2 10:01:00 10:05:00 shared",
    ]


def test_before_during_and_after_are_the_longest_times_with_everybody_there():
    rows = (
        *listings(0, 100, 20, "A@1 10.0.0.1:1", "A@2 10.0.0.2:1"),
        *listing(120, "A@2 10.0.0.2:1"),
        *listings(140, 400, 20, "A@9 10.0.0.1:2", "A@9 10.0.0.2:2"),
        *listings(420, 600, 20, "A@3 10.0.0.1:3"),
        *listings(620, 700, 20, "A@3 10.0.0.1:3", "A@4 10.0.0.2:3"),
    )
    every = facts(*rows)
    (case,) = cases(every, GROUP)
    assert told(around(eras(every, GROUP, case), case)) == [
        "10:00:00 10:01:40: A@1 A@2",
        "10:02:20 10:06:40: A@9 A@9",
        "10:10:20 10:11:40: A@3 A@4",
    ]


def test_a_source_that_shows_the_sharing_is_followed_though_another_knows_as_many():
    logs = (*allocated(0, "A@9", "host-1", ()), *allocated(5, "A@9", "host-2", ()))
    joined = (connected(0, "A@1", "10.0.0.1:1"), connected(0, "A@2", "10.0.0.2:1"), broker_log(0, 400))
    later = (*allocated(300, "B@1", "host-1", ()), *allocated(305, "B@2", "host-2", ()))
    every = facts(*logs, *joined, *later)
    case = next(c for c in cases(every, GROUP) if c.sharing.how == "client logs")
    assert {":" in m.place for e in eras(every, GROUP, case) for m in e.members} == {False}
    assert {":" in m.place for e in eras(every, GROUP) for m in e.members} == {True}


def test_without_sharing_the_longest_times_are_shown_by_time():
    rows = [
        *listings(0, 40, 20, "A@1 10.0.0.1:1"), *listing(60, "A@1 10.0.0.1:1", "A@2 10.0.0.2:1"),
        *listings(80, 300, 20, "A@2 10.0.0.2:1"),
    ]  # fmt: skip
    assert told(lasting(eras(facts(*rows), GROUP))) == ["10:00:00 10:00:40: A@1", "10:01:20 10:05:00: A@2"]
    assert told(lasting(eras(facts(listing(0, "A@1 10.0.0.1:1")), GROUP))) == ["10:00:00 10:00:00: A@1"]
    assert eras(facts(), GROUP) == ()
