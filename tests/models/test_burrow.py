"""Burrow's verdicts: its own table of cases (caching_test.go), drawn as offset:lag at seconds, and the rules beside."""

import pytest

from mqlab.models.lag import Commit, Partition, Status, partition, status


def commits(drawn):
    """``100s 1000:0`` is a commit of offset 1000 with lag 0 after 100 s; ``?`` is a lag that was not known."""
    rows = [part.split("s ") for part in drawn.split(", ")]
    return tuple(_commit(float(at), *what.split(":")) for at, what in rows)


def _commit(at, offset, lag):
    return Commit(at, int(offset), None if lag == "?" else int(lag))


GROWING = "100s 1000:0, 200s 2000:50, 300s 3000:100, 400s 4000:150, 500s 5000:200"
NEVER_ZERO = "100s 1000:50, 200s 2000:100, 300s 3000:150, 400s 4000:200, 500s 5000:250"
FIXED = "100s 1000:100, 200s 1000:150, 300s 1000:200, 400s 1000:250, 500s 1000:300"
SECONDS = [18.356, *(19.362 + n for n in range(14))]
CAUGHT_UP = ", ".join(f"{at}s {79 + n}:0" for n, at in enumerate(SECONDS))


@pytest.mark.parametrize(
    ("drawn", "ends", "lag", "now", "expected"),
    [
        pytest.param(GROWING, [5200], 200, 600, "OK", id="0: no lag at one commit"),
        pytest.param(GROWING, [5200], 200, 900, "OK", id="1: silent as long as the commits span"),
        pytest.param(GROWING, [5200], 200, 1000, "STOP", id="2: silent for longer"),
        pytest.param(NEVER_ZERO, [5250], 250, 1000, "STOP", id="3: silent, with lag at each commit"),
        pytest.param(
            "100s 1000:0, 200s 1000:50, 300s 1000:100, 400s 1000:150, 500s 1000:200",
            [1200], 200, 600, "OK", id="4: the same offset, but no lag at one commit",
        ),
        pytest.param(FIXED, [1300], 300, 600, "STALL", id="5: the same offset, lag grows"),
        pytest.param(
            "100s 1000:100, 200s 1000:100, 300s 1000:100, 400s 1000:100, 500s 1000:100",
            [1100], 100, 600, "STALL", id="6: the same offset, the same lag",
        ),
        pytest.param(NEVER_ZERO, [5250], 0, 1000, "OK", id="8: no lag now"),
        pytest.param(CAUGHT_UP, [1024, 1000, 800, 600, 500], 931, 50, "STOP", id="9: new records since it fell silent"),
        pytest.param(CAUGHT_UP, [94, 93, 93, 93], 1, 50, "OK", id="10: had all records a moment ago"),
        pytest.param(
            "100s 1000:0, 150s 1500:?, 200s 2000:50, 250s 2500:?, 300s 3000:100, 350s 3500:?, 400s 4000:150, "
            "450s 4500:?, 500s 5000:200, 550s 5500:?",
            [5700], 200, 600, "OK", id="11: as 0, some lags not known",
        ),
    ],
)  # fmt: skip
def test_every_case_of_burrows_own_table_has_burrows_verdict(drawn, ends, lag, now, expected):
    assert status(commits(drawn), ends, lag, now) is Status(expected)


REWOUND = "100s 1000:100, 200s 2000:150, 300s 3000:200, 400s 2000:1250, 500s {}"


@pytest.mark.parametrize(
    ("last", "lag", "expected"),
    [
        ("2999:1301", 1301, "REWIND"),
        ("3000:1300", 1300, "WARN"),
        ("4000:300", 300, "OK"),
    ],
    ids=["not yet back", "back, and the lag grew", "7: back, and the lag fell: a rewind before it was forgiven"],
)
def test_a_rewind_is_one_until_the_offset_before_it_is_reached_again(last, lag, expected):
    assert status(commits(REWOUND.format(last)), [4300], lag, 600) is Status(expected)


def test_only_the_first_rewind_counts():
    drawn = "100s 3000:9, 200s 2000:9, 300s 3000:9, 400s 2500:9"
    assert status(commits(drawn), [9000], 6500, 450) is Status.WARN


def test_commits_that_never_gain_are_a_warning_and_one_dip_is_none():
    assert status(commits(NEVER_ZERO), [5250], 250, 600) is Status.WARN
    assert status(commits(NEVER_ZERO.replace("3000:150", "3000:99")), [5250], 250, 600) is Status.OK


def test_a_single_commit_is_a_stall():
    assert status(commits("100s 1000:7"), [1010], 10, 100) is Status.STALL


def test_a_partition_says_how_many_of_the_kept_commits_there_are():
    assert partition(commits(FIXED), [1250, 1300], 600) == Partition(Status.STALL, 0.5, 300)
    assert partition((), [5], 600) == Partition(Status.OK, 0.0, 0)
