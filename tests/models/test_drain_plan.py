"""The plan of a drain: its budget, the ways to hold it, its ramp and its guards."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.draining import (
    Drain,
    Store,
    heap_bytes_per_instance,
    plan,
    retention,
)

WAITING = Drain(3_600_000, 500, queues=16, instances=4, oldest_seconds=7_200)
MONGO = Store(5_000, 1_200, reserve_share=0.3, writes_per_message=1, response_seconds=0.02)


def test_the_budget_is_what_reserve_load_and_new_messages_leave():
    assert plan(WAITING, MONGO).budget_writes_per_second == 0.7 * 5_000 - 1_200 - 500
    assert plan(WAITING, replace(MONGO, writes_per_message=2)).budget_writes_per_second == 0.7 * 5_000 - 1_200 - 1_000


def test_threads_pull_interval_and_tokens_hold_backlog_and_new_messages_together():
    levers = plan(WAITING, MONGO).levers

    assert levers.messages_per_second == 1_800 + 500
    assert (levers.threads_for_backlog, levers.threads_total) == (36, 46)
    assert (levers.instances, levers.threads_per_instance) == (4, 11)
    assert levers.pull_interval_ms == 223
    assert 16 * 32 / 0.223 <= levers.messages_per_second < 16 * 32 / 0.222


def test_several_writes_per_message_slow_the_drain_by_as_much():
    made = plan(WAITING, replace(MONGO, writes_per_message=2))
    assert made.budget_writes_per_second == 1_300
    assert made.levers.messages_per_second == 1_150


def test_whole_threads_make_the_drain_a_little_slower_and_its_time_is_computed_with_them():
    made = plan(WAITING, MONGO)
    assert made.drained_per_second == 44 / 0.02 - 500
    assert sum(step.seconds for step in made.steps) == made.seconds.likely
    assert made.seconds.low < made.seconds.likely < made.seconds.high


def test_the_ramp_rises_by_quarters_and_its_last_step_lasts_until_nothing_is_left():
    steps = plan(WAITING, MONGO).steps

    assert [(s.share, s.drained_per_second, s.messages_per_second, s.threads_per_instance) for s in steps] == [
        (0.25, 425, 925, 4),
        (0.5, 850, 1_350, 6),
        (0.75, 1_275, 1_775, 8),
        (1.0, 1_700, 2_200, 11),
    ]
    assert [s.left for s in steps] == [3_472_500, 3_217_500, 2_835_000, 0]
    assert [s.seconds for s in steps[:3]] == [300, 300, 300]


def test_a_small_backlog_is_gone_before_the_ramp_is_up():
    steps = plan(replace(WAITING, messages=1_000), MONGO).steps
    assert [(s.share, s.left) for s in steps] == [(0.25, 0)]


def test_without_a_budget_it_cannot_be_drained_online_and_the_needed_capacity_is_told():
    made = plan(replace(WAITING, inflow_per_second=2_500), MONGO)

    assert made.budget_writes_per_second == -200
    assert made.refusal.reason == "normal load and new messages take 3,700 of 3,500 writes/s"
    assert made.refusal.needed_capacity_writes_per_second == pytest.approx(3_700 / 0.7)
    assert made.refusal.skipped_messages == 3_600_000
    assert (made.levers, made.steps, made.seconds.likely) == (None, (), inf)
    assert made.retention.loss_begins_seconds == 172_800 - 7_200


def test_queues_that_give_less_than_the_store_takes_bound_the_drain():
    slow = plan(replace(WAITING, pull_seconds=0.1), MONGO)
    assert (slow.queue_messages_per_second, slow.bounded_by) == (80, "pulls")
    assert slow.levers.messages_per_second == 1_280
    orderly = plan(replace(WAITING, orderly=True), MONGO)
    assert (orderly.queue_messages_per_second, orderly.bounded_by) == (50, "order")
    dead = plan(replace(WAITING, inflow_per_second=900, orderly=True), MONGO)
    assert dead.refusal.reason == "the queues give at most 800 messages/s, 900 arrive"


def test_no_more_instances_run_than_there_are_queues_or_threads():
    few_queues = plan(replace(WAITING, queues=2), MONGO).levers
    assert (few_queues.instances, few_queues.threads_per_instance) == (2, 23)
    few_threads = plan(replace(WAITING, inflow_per_second=0), replace(MONGO, response_seconds=0.001)).levers
    assert (few_threads.threads_total, few_threads.instances, few_threads.threads_per_instance) == (2, 2, 1)


def test_where_one_thread_is_too_fast_the_other_ways_remain():
    made = plan(replace(WAITING, inflow_per_second=0), replace(MONGO, response_seconds=0.0001))
    assert (made.levers.threads_total, made.levers.threads_per_instance) == (0, 0)
    assert made.drained_per_second == 2_300


def test_retention_is_kept_while_age_and_drain_are_shorter_than_it():
    guard = retention(1_000, 100, 500, ((0, 1_000), (200, 0)), 200)
    assert (guard.margin_seconds, guard.loss_begins_seconds, guard.lost_messages) == (200, None, 0)


def test_a_drain_ahead_of_deletion_loses_nothing_though_the_margin_is_gone():
    guard = retention(1_000, 400, 500, ((0, 1_000), (200, 0)), 200)
    assert (guard.margin_seconds, guard.loss_begins_seconds, guard.lost_messages) == (-100, None, 0)


def test_deletion_that_overtakes_the_drain_is_dated_and_counted():
    guard = retention(1_000, 400, 500, ((0, 1_000), (1_000, 0)), 1_000)
    assert guard.deletion_reaches_backlog_seconds == 100
    assert guard.loss_begins_seconds == pytest.approx(100 + 100 / 1.5)
    assert guard.lost_messages == 500


def test_what_is_older_than_retention_is_being_lost_now():
    guard = retention(1_000, 1_000, 500, ((0, 1_000), (10, 0)), 10)
    assert (guard.loss_begins_seconds, guard.lost_messages) == (0, 500)


def test_caches_of_a_process_hold_a_thousand_messages_or_100_mib_of_each_queue():
    assert heap_bytes_per_instance(16, 4, 1_000) == 4 * 1_000_000
    assert heap_bytes_per_instance(16, 3, 1_000_000) == 6 * 100 * 1024 * 1024


@pytest.mark.parametrize(
    ("message_bytes", "batch", "messages"), [(1, 32, 8), (200, 32, 8), (16_384, 32, 4), (100_000, 32, 1), (1_000, 4, 4)]
)
def test_a_pull_from_disk_brings_eight_messages_or_64_kib_never_none_and_never_more_than_a_batch(
    message_bytes, batch, messages
):
    drain = replace(WAITING, message_bytes=message_bytes, batch_messages=batch, pull_seconds=1.0, queues=10_000)

    assert plan(drain, MONGO).queue_messages_per_second == messages


@given(
    st.floats(1, 1e9), st.floats(0, 1e4), st.integers(1, 64), st.floats(1, 1e5), st.floats(0, 1e5),
    st.floats(0, 0.9), st.floats(0.0001, 5), st.integers(1, 64),
)  # fmt: skip
def test_no_plan_exceeds_its_budget(messages, inflow, queues, capacity, load, reserve, seconds, instances):
    waiting = Drain(messages, inflow, queues, instances, oldest_seconds=3_600)
    made = plan(waiting, Store(capacity, load, reserve, 1, seconds))
    if made.refusal:
        assert made.seconds.likely == inf
    else:
        assert 0 < made.drained_per_second <= made.budget_writes_per_second * (1 + 1e-6) + 1e-6
        assert made.steps[-1].left == pytest.approx(0, abs=messages * 1e-6)
        assert made.seconds.low <= made.seconds.likely <= made.seconds.high
        assert 0 <= made.retention.lost_messages <= messages
