"""What waited because of something: not what was deleted, handled and not committed, or came for another reason."""

import pytest
from facts_builder import at, episode, facts, positions
from message_builder import fates
from test_measured_numbers import waiting

from mqlab.groups.backlog import backlog
from mqlab.groups.backlog import waiting as left
from mqlab.rows import Client, Delivery, Tally

A, OTHER = "clients/a-processed.csv", "clients/z-processed.csv"


def test_a_backlog_grows_on_after_the_end_of_its_cause_until_somebody_works_it_off():
    given = facts(waiting(0, 100, 200, 300, 400, 350, 900))

    assert backlog(given, "g", at(10), at(20)) == {"peak_lag": 400, "lag_growth_per_second": 10}


def test_what_is_left_of_a_backlog_waits_at_the_end_and_is_no_more_than_it_was():
    given = facts(waiting(0, 100, 200, 300, 400, 350, 340))
    assert backlog(given, "g", at(10), at(20)) == {
        "peak_lag": 400, "pending_records": 340, "lag_growth_per_second": 10,
    }  # fmt: skip


def test_lag_that_rises_again_for_another_reason_is_not_its_peak():
    later = backlog(facts(waiting(0, 100, 50, 40, 900)), "g", at(0), at(20))
    assert (later["peak_lag"], "pending_records" in later) == (100, False)


def test_a_backlog_that_was_worked_off_meanwhile_grew_by_what_it_grew_before():
    assert backlog(facts(waiting(0, 100, 200, 300, 200, 100, 0)), "g", at(0), at(60)) == {
        "peak_lag": 300, "pending_records": 0, "lag_growth_per_second": 10,
    }  # fmt: skip
    assert "lag_growth_per_second" not in backlog(facts(waiting(300, 200, 100, 0)), "g", at(0), at(30))


def test_a_backlog_of_leaps_that_were_worked_off_in_between_does_not_grow_evenly():
    leaps = backlog(facts(waiting(0, 200, 10, 20, 220, 10, 30, 20, 400, 20)), "g", at(0), at(90))
    assert leaps["peak_lag"] == 400
    assert "lag_growth_per_second" not in leaps
    toothed = backlog(facts(waiting(*(10 * n + 20 * (n % 2) for n in range(20)))), "g", at(0), at(190))
    assert toothed["lag_growth_per_second"] == pytest.approx(1, rel=0.2)


def test_a_group_of_which_nothing_waits_has_no_backlog():
    assert backlog(facts(waiting(0, 0, 0)), "g", at(0), at(20)) == {}
    assert backlog(facts(waiting(0, 100, 50, group="other")), "g", at(0), at(20)) == {}


def test_what_comes_faster_after_the_end_than_before_has_another_reason():
    assert backlog(facts(waiting(0, 100, 200, 900, 1800)), "g", at(0), at(20))["peak_lag"] == 200
    assert backlog(facts(waiting(90, 10, 0, 60, 700)), "g", at(5), at(20))["peak_lag"] == 10
    assert backlog(facts(waiting(0, 100, 40, 130)), "g", at(0), at(20))["peak_lag"] == 100


def log_start(clock, offset, queue="0"):
    """The broker deletes what is before an offset."""
    return episode("log-start-moved", clock, "logs/server.log", left=offset, topic="t", queue=queue)


@pytest.mark.parametrize(
    ("moved", "counts"),
    [
        ([], [1000, 2000, 3000]),
        ([log_start("10:00:15", 700)], [1000, 2000, 2300]),
        ([log_start("10:00:05", 400), log_start("10:00:15", 700)], [1000, 1600, 2300]),
        ([log_start("10:00:15", 700, queue="1")], [1000, 2000, 3000]),
        ([log_start("10:00:25", 700)], [1000, 2000, 3000]),  # not yet
        ([log_start("10:00:05", 9000)], [1000, 2000, 3000]),  # of a topic of that name that was there before
    ],
)
def test_what_was_deleted_does_not_wait(moved, counts):
    table = "".join(f"\n10:00:{n}0 g t 0 0 {1000 * (n + 1)}" for n in range(3))
    known = facts(moved, positions(f"at group topic queue committed end{table}"))
    assert [amount for _, amount in left(known, "g", "t")] == counts


def commits(every, *ledgers, stopped=None):
    """A hundred records a second come and are handled at once until a moment; an offset is committed *every* so often.

    They are listed every 14 s.
    """
    rows = "".join(
        f"\n10:{s // 60:02}:{s % 60:02} g t 0 {100 * (min(s, stopped or s) // every * every)} {100 * s}"
        for s in range(14, 85, 14)
    )
    last = stopped or 90
    noted = [
        Delivery(at(s), "t", "0", tuple(sorted(ledgers)), 100 * min(10, last - s))
        for s in range(0, last, 10)
        if ledgers
    ]
    tallies = [Tally(row.at, "processed", "t", "0", row.messages, A, 2) for row in noted]
    runs = fates(f"queue from to at handled\n0 0 {100 * last - 1} 10:00:00 {'+'.join(ledgers) or '{}'}", topic="t")
    members = [Client(at(0), "kafka", "g", "a", "10.0.0.1", None, None, "offsets/members.txt", 3, "a")]
    return facts(members, positions(f"at group topic queue committed end{rows}"), noted, tallies, runs)


def amounts(known):
    return [amount for _, amount in left(known, "g", "t")]


def test_what_was_handled_and_not_committed_does_not_wait():
    assert amounts(commits(30, A)) == [0] * 6
    assert amounts(commits(30, A, stopped=60)) == [0] * 4 + [1000, 2400]


def test_a_group_that_commits_what_it_handles_waits_for_all_that_is_listed():
    assert amounts(commits(1, A, stopped=60)) == [0] * 4 + [1000, 2400]


def test_without_ledgers_of_its_own_all_that_is_listed_waits():
    listed = [1400, 2800, 1200, 2600, 1000, 2400]
    assert amounts(commits(30)) == listed
    assert amounts(commits(30, A, OTHER)) == listed
