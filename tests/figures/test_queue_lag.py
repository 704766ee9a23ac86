"""Lag per queue as drawn data."""

from facts_builder import at, facts
from group_builder import GROUP, TOPIC, listings, queue, queues
from report_example import diagnosis

from mqlab.figures.rocketmq_group import kind_name, queue_lag
from mqlab.views.rocketmq_group import ALONE, DOUBLED, ORPHAN, UNKNOWN, GroupView, flows, group_view, growth, queue_lags

A1, A2, B = "A@9 10.0.0.1:1", "A@9 10.0.0.2:1", "B@9 10.0.0.3:1"
SHARED = facts(listings(0, 300, 20, A1, A2, B), queues(6, {0, 1, 4, 5}))
"""AVG gives 0-1 to both processes of A, 4-5 to B and 2-3 to nobody."""


def view_of(every):
    return group_view(every, diagnosis())


def test_each_queue_is_what_the_allocation_made_of_it_orphans_first():
    assert [(f.queue, f.kind, f.peak) for f in queue_lags(SHARED, view_of(SHARED))] == [
        ("broker-a/2", ORPHAN, 900), ("broker-a/3", ORPHAN, 900), ("broker-a/0", DOUBLED, 0),
        ("broker-a/1", DOUBLED, 0), ("broker-a/4", ALONE, 0), ("broker-a/5", ALONE, 0),
    ]  # fmt: skip


def test_in_a_group_without_orphans_no_queue_is_special():
    healthy = facts(listings(0, 300, 20, "A@1 10.0.0.1:1", B), queues(2, {0, 1}))
    assert {f.kind for f in queue_lags(healthy, view_of(healthy))} == {UNKNOWN}
    assert growth(view_of(healthy)) == ()


def test_a_queue_that_nobody_reads_grows_by_what_is_produced():
    (begin, low), (end, high) = growth(view_of(SHARED))
    assert (high - low) / (end - begin) == 3
    told = next(f for f in queue_lags(SHARED, view_of(SHARED)) if f.kind == ORPHAN)
    assert dict(told.points)[end] == high


def test_rates_are_added_up_though_queues_are_told_at_other_moments():
    rows = (
        *queue("broker-a/0", [(100, 3, 3)], step=20), *queue("broker-a/1", [(90, 5, 1)], step=30, start=5),
        *queue("broker-a/2", [(40, 1, 1)], step=40, start=5), *listings(0, 100, 20, "A@1 10.0.0.1:1"),
    )  # fmt: skip
    every = facts(*rows)
    found = flows(every, view_of(every))
    assert {(f.produced, f.consumed) for f in found} == {(9, 5)}
    assert (found[0].since, found[-1].at) == (at(5), at(45))


def test_a_line_for_each_queue_one_legend_for_each_kind():
    chart = queue_lag(SHARED, view_of(SHARED))
    assert [trace.name for trace in chart.data if trace.showlegend is not False] == [
        f"nobody reads it (2): {TOPIC} broker-a 2-3",
        f"several read it (2): {TOPIC} broker-a 0-1",
        f"one process reads it (2): {TOPIC} broker-a 4-5",
        "inflow of an unread queue: 3.00/s",
        "produced",
        "consumed (offsets move)",
    ]
    assert "shared client id" in chart.layout.annotations[0].text


def test_of_very_many_queues_the_longest_are_drawn_and_all_are_named():
    every = facts(queues(60, range(60)), listings(0, 300, 20, "A@1 10.0.0.1:1"))
    found = queue_lags(every, view_of(every))
    chart = queue_lag(every, view_of(every))
    assert sum(trace.legendgroup == UNKNOWN for trace in chart.data) == 16
    assert kind_name(found, UNKNOWN) == f"each queue (60): {TOPIC} broker-a 0-59"


def test_without_offsets_a_sentence_stands_there():
    assert "is unknown" in queue_lag(facts(), GroupView(GROUP)).layout.annotations[0].text
