"""The forecast of a drain, by hand and against what real consumers did."""

import json
import re
from datetime import UTC, datetime
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.draining import CAPACITY_ERROR, INFLOW_ERROR, Consumer, Queue, forecast, shared
from mqlab.models.falling import falling

CAPTURES = Path(__file__).parents[2] / "data" / "samples"
TRUTH = Path(__file__).parents[1] / "truth"


def queues(text):
    """Queues from a table with the columns name, backlog, inflow, owner."""
    rows = [line.split() for line in text.strip().splitlines()]
    return [Queue(name, float(b), float(i), None if owner == "-" else owner) for name, b, i, owner in rows]


def test_backlog_drains_at_what_its_owner_has_left_after_the_inflow_of_all_its_queues():
    held = queues("""
        b/0     0  4  idle
        b/1     0  4  idle
        b/2  1000  5  busy
        b/3     0  5  busy
    """)
    told = forecast(held, [Consumer("idle", 10, 0.1), Consumer("busy", 2, 0.1)])

    assert told.seconds.likely == pytest.approx(1000 / (20 - 10))
    assert [(o.name, o.queues, o.backlog, o.seconds.likely) for o in told.owners] == [
        ("busy", ("b/2", "b/3"), 1000, pytest.approx(100)),
        ("idle", ("b/0", "b/1"), 0, 0),
    ]
    assert told.curve == ((0, 1000), (pytest.approx(100), pytest.approx(0, abs=1e-3)))


def test_the_whole_is_drained_when_the_slowest_owner_is_and_the_curve_bends_when_the_first_is():
    held = queues("""
        b/0  100  0  a
        b/1  400  0  b
    """)
    told = forecast(held, [Consumer("a", 1, 0.1), Consumer("b", 1, 0.1)])

    assert told.curve == ((0, 500), (10, 300), (40, 0))
    assert told.seconds.likely == 40


def test_down_to_a_healthy_level_takes_less_than_down_to_nothing():
    held = queues("b/0  100  0  a")
    assert forecast(held, [Consumer("a", 1, 0.1)], healthy=20).seconds.likely == pytest.approx(8)


def test_orderly_queues_are_served_by_one_thread_each():
    held = queues("""
        b/0  100  0  a
        b/1    0  1  a
    """)
    many = Consumer("a", 20, 0.1)
    assert forecast(held, [many]).seconds.likely == pytest.approx(0.5, rel=0.01)
    orderly = Consumer("a", 20, 0.1, orderly=True)
    assert forecast(held, [orderly]).seconds.likely == pytest.approx(10)


def test_one_queue_gives_at_most_a_batch_per_round_trip():
    held = queues("b/0  1000  0  a")
    pulled = Consumer("a", 100, 0.001, pull_messages=8, pull_seconds=0.1)
    assert forecast(held, [pulled]).seconds.likely == pytest.approx(1000 / 80)


@pytest.mark.parametrize(
    ("held", "why"),
    [
        ("b/0 10 30 a", "a takes at most 20.0 messages/s, its queues receive 30.0 messages/s"),
        ("b/0 10 20 a", "a takes at most 20.0 messages/s, its queues receive 20.0 messages/s"),
        ("b/0 10 1 -", "no consumer owns 1 of the queues"),
    ],
)
def test_it_never_ends_where_capacity_is_not_above_the_inflow(held, why):
    told = forecast(queues(held), [Consumer("a", 2, 0.1)])
    assert (told.seconds.likely, told.never) == (inf, why)


def test_errors_of_capacity_and_inflow_give_an_interval_that_may_be_open():
    near = forecast(queues("b/0 100 10 a"), [Consumer("a", 2, 0.1)]).seconds

    assert near.likely == pytest.approx(100 / (20 - 10))
    assert near.low == pytest.approx(100 / (20 * (1 + CAPACITY_ERROR) - 10 / (1 + INFLOW_ERROR)))
    assert near.high == pytest.approx(100 / (20 / (1 + CAPACITY_ERROR) - 10 * (1 + INFLOW_ERROR)))
    close = forecast(queues("b/0 100 19 a"), [Consumer("a", 2, 0.1)])
    assert (close.seconds.high, close.never) == (inf, None)


def test_restart_and_rebalance_are_told_apart_from_the_drain():
    told = forecast(queues("b/0 100 0 a"), [Consumer("a", 1, 0.1)], start=57)
    assert (told.seconds.likely, told.start_seconds.likely) == (10, 57)


@given(st.floats(0, 1e6), st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_a_share_is_never_more_than_wanted_and_nothing_is_left_while_somebody_wants_more(capacity, demands):
    given_out = shared(capacity, demands)
    assert all(got <= wanted for got, wanted in zip(given_out, demands, strict=True))
    assert sum(given_out) == pytest.approx(min(capacity, sum(demands)), abs=1e-6)


lagging = st.builds(
    Queue,
    st.text(min_size=1, max_size=3),
    st.integers(0, 10**6).map(float),
    st.floats(0, 100),
    st.sampled_from(["a", "b", None]),
)


@given(st.lists(lagging, min_size=1, max_size=12), st.integers(1, 50), st.floats(0.001, 1), st.booleans())
def test_the_interval_holds_the_expectation_and_the_curve_starts_at_the_backlog(held, threads, seconds, orderly):
    told = forecast(held, [Consumer(name, threads, seconds, orderly) for name in "ab"])
    assert told.seconds.low <= told.seconds.likely <= told.seconds.high
    assert told.curve[0] == (0, pytest.approx(sum(q.backlog for q in held)))
    assert (told.never is None) == (told.seconds.likely < inf)


def snapshots(capture, group):
    """(epoch seconds, queue id → (end, committed)) of each ``consumerProgress -g`` of a capture, by time."""
    found = []
    for file in sorted((CAPTURES / capture / "offsets").glob(f"consumerProgress-{group}.*.txt")):
        at = datetime.strptime(file.name.split(".")[1], "%Y%m%dT%H%M%S%z").replace(tzinfo=UTC).timestamp()
        rows = re.findall(r"^[A-Z_]+ +broker-a +(\d+) +(\d+) +(\d+) ", file.read_text(), re.MULTILINE)
        if rows:
            found.append((at, {int(queue): (int(end), int(committed)) for queue, end, committed in rows}))
    return found


def lag(rows):
    return sum(end - committed for end, committed in rows.values())


@pytest.mark.parametrize(
    ("capture", "group", "threads", "seconds", "error"),
    [("rocketmq-05", "coupon_issue", 3, 0.090, 0.05), ("rocketmq-dup-01", "order_sync_mongo", 2, 0.040, 0.16)],
)
def test_the_forecast_of_a_real_drain_is_less_than_a_fifth_off(capture, group, threads, seconds, error):
    shots = snapshots(capture, group)
    measured = falling([(at, lag(rows)) for at, rows in shots], healthy=lag(shots[-1][1]))
    began, rows = next((at, rows) for at, rows in shots if at >= measured.began_at)
    since, before = next((at, rows) for at, rows in shots if at >= began - 60)
    held = [
        Queue(str(queue), end - committed, (end - before[queue][0]) / (began - since), f"block-{queue // 4}")
        for queue, (end, committed) in rows.items()
    ]
    members = [Consumer(f"block-{n}", threads, seconds) for n in range(4)]
    level = lag(shots[-1][1]) + 0.02 * measured.peak

    told = forecast(held, members, level)
    took = measured.reached_at - began

    assert abs(told.seconds.likely / took - 1) < error < 0.2
    assert told.seconds.low < took < told.seconds.high
    assert [o.name for o in told.owners if o.seconds.likely > 30] == ["block-2", "block-3"]


def test_each_owner_is_drained_as_its_own_log_says():
    drain = json.loads((TRUTH / "rocketmq-05.truth.json").read_text())["numbers"]["drain"]
    lags = drain["lag_per_queue_at_complete_rebalance"]
    held = [
        Queue(queue, lags[queue], row["produce_rate_per_s"], row["owner_after_repair"])
        for queue, row in drain["per_queue"].items()
    ]
    members = [Consumer(name, 3, 0.090) for name in drain["per_consumer"]]

    found = {o.name: o.seconds.likely for o in forecast(held, members).owners}

    for name in ("coupon-2", "coupon-3"):
        truth = drain["per_consumer"][name]
        assert found[name] == pytest.approx(truth["drain_s_from_complete_rebalance_forecast"], abs=0.5)
        assert found[name] == pytest.approx(truth["drain_s_from_complete_rebalance_measured"], rel=0.02)
