"""The lag because of something and not what came for another reason; what of it was not deleted."""

import pytest
from facts_builder import at, episode, facts, positions
from test_measured_numbers import waiting

from mqlab.groups.backlog import backlog
from mqlab.shared.queues import at_log_start, lag, of_groups

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
    assert backlog(facts(waiting(90, 10, 0, 60, 700)), "g", at(5), at(20)) == {}, "it was higher before"
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
    points = of_groups(known)["g", "t"]["0"]
    assert [lag(at_log_start(known, point, point.at)) for point in points] == counts
