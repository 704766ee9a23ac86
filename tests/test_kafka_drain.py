"""The backlog of a Kafka group: who holds its partitions and how fast its consumers work."""

import pytest
from facts_builder import at, facts

from mqlab.facts import Position
from mqlab.rows import Batch, Client
from mqlab.scenarios.drain import Request, answer
from mqlab.scenarios.drain_state import owners, speed, state


def described(when, *rows):
    """One describe: rows are ``partition committed end owner``."""
    told = [row.split() for row in rows]
    return tuple(
        Position(
            at(when), "g", "t", number, int(committed), int(end), None, owner, f"{owner}-1", "10.0.0.1",
            f"offsets/describe.{when}.txt", 3 + n, "",
        )
        for n, (number, committed, end, owner) in enumerate(told)
    )  # fmt: skip


BEFORE = described(0, "0 0 1000 a", "1 0 1000 a", "2 0 4000 b")
AFTER = described(10, "0 0 1100 a", "1 0 1100 b", "2 0 4100 b")
MEMBERS = [Client(at(0), "kafka", "g", name, "10.0.0.1", None, None, "offsets/members.txt", 3, name) for name in "ab"]
POLLS = [Batch(at(5), "a", "g", 2, 100, 2.0, 1.2, 60, "clients/a.log", 9, "processed 60 records in 1.2 s")]


def test_owners_are_those_of_the_last_describe():
    known = facts(BEFORE, AFTER, MEMBERS)
    assert owners(known, "g", at(20)) == {("t", "0"): "a", ("t", "1"): "b", ("t", "2"): "b"}
    found = state(known, "g")
    assert (found.backlog, found.inflow_per_second, found.owners_known) == (6300, 30, True)


def test_a_consumer_has_one_thread_and_its_polls_tell_how_fast_it_is():
    told = speed(facts(BEFORE, MEMBERS, POLLS), "g", ["a", "b"])
    assert (told.threads, told.response_seconds) == (1, 0.02)


def test_the_drain_lasts_as_long_as_the_member_with_the_most_to_do():
    found = answer(Request(group="g"), facts(BEFORE, AFTER, MEMBERS, POLLS))
    assert found.assumed == ()
    assert found.forecast is not None
    assert found.forecast.seconds.likely == pytest.approx((5200 - 0.02 * 6300) / (1 / 0.02 - 20))
