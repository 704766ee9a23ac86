"""What each way to commit took and left, as drawn data."""

from dataclasses import replace

import pytest

from mqlab.commits.study import FIELD, Run, Study
from mqlab.figures.commits import by_round_trip, costs
from mqlab.models.commits import Way

PLAIN = Run(None, 10, 1.0, 0.0, 0, 0.0, 500, 500, 0)
SYNC = Run(Way.SYNC, 10, 1.3, 0.0, 10, 0.2, 500, 100, 0)
STUDY = Study("drawn", True, {}, 1000, 100, 100, 0.0, 5000, 3, (PLAIN, SYNC))


def drawn(chart):
    return [(trace.name, list(trace.x), [round(y, 6) for y in trace.y]) for trace in chart.data]


def test_bars_are_what_was_measured_and_lines_what_the_model_expects():
    assert drawn(costs(STUDY)) == [
        ("measured", ["no commit", "sync"], [1.0, 1.3]),
        ("duplicates", ["no commit", "sync"], [500, 100]),
        ("expected", ["sync"], [1.2]),
        ("expected at most, at the mean response time", ["sync"], [100]),
    ]


@pytest.mark.parametrize("rows", [(PLAIN,), (SYNC,)], ids=["nothing waited", "no poll without commits"])
def test_nothing_is_expected_where_a_poll_or_a_round_trip_is_not_known(rows):
    names = [name for name, _, _ in drawn(costs(replace(STUDY, rows=rows)))]
    assert names == ["measured", "duplicates"]


def test_without_a_run_a_sentence_stands_there():
    assert costs(replace(STUDY, rows=())).layout.annotations[0].text == "Nothing was measured."


def test_waiting_grows_with_the_round_trip_and_not_waiting_does_not():
    sync, free, here = drawn(by_round_trip(FIELD))

    assert (sync[2][0], round(sync[2][-1], 2)) == (3.09, 12.36)
    assert set(free[2]) == {3.09}
    assert ([round(x, 2) for x in here[1]], here[2]) == ([7.45], [4.58])
