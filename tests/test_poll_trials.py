"""Replays with other settings, as a reader of the notebook sees them."""

import pytest
from facts_builder import at, facts, settings
from kafka_builder import client, coordinator
from rebalance_builder import GROUP, TOPIC, a_loop, poll, rebalance, view
from report_example import diagnosis

from mqlab.facts import Facts, Position
from mqlab.figures.polls import poll_sliders
from mqlab.rows import Batch
from mqlab.views.kafka_group import RebalanceView, rebalance_view
from mqlab.views.scenarios import answered, assumptions, trial, trials, troubled, variants


def clock(seconds):
    return f"10:{seconds // 60:02}:{seconds % 60:02}"


def looping():
    """One member that needs 45 s for a poll of 500 records and leaves after 15 s, six times; 8 records/s come in."""
    lines, own, done = ["09:59:50 preparing 0 Adding new member {a1}", "09:59:53 stable 1 1"], [], []
    own.append("09:59:53 joined 1 {a1} range")
    for cycle in range(6):
        start, number = cycle * 48, cycle + 1
        lines += [
            f"{clock(start + 15)} left {{a{number}}} consumer poll timeout has expired.",
            f"{clock(start + 15)} preparing {2 * cycle + 1} removing member {{a{number}}} on LeaveGroup",
            f"{clock(start + 15)} empty {2 * cycle + 2}",
            f"{clock(start + 45)} preparing {2 * cycle + 2} Adding new member {{a{number + 1}}}",
            f"{clock(start + 48)} stable {2 * cycle + 3} 1",
        ]
        own += [f"{clock(start + 15)} timeout {{a{number}}}", f"{clock(start + 45)} failed",
                f"{clock(start + 48)} joined {2 * cycle + 3} {{a{number + 1}}} range"]  # fmt: skip
        done.append(
            Batch(at(start + 45), "a", GROUP, 1, 500, 45.0, 45.0, 500, "clients/a.log", 20 + cycle, "processed")
        )
    offsets = [
        Position(at(when), GROUP, TOPIC, queue, 0, 250 + 4 * when, None, None, None, None, f"{when}.txt", 3, "row")
        for when in range(0, 301, 10)
        for queue in "01"
    ]
    said = settings("""
        at        owner  key                   value
        09:59:49  a      max.poll.records      500
        09:59:49  a      max.poll.interval.ms  15000
        09:59:49  a      session.timeout.ms    10000
    """, "clients/a.log", scope="consumer")  # fmt: skip
    return facts(coordinator("\n".join(lines)), client("a", "\n".join(own)), done, offsets, said)


@pytest.fixture
def known():
    every = looping()
    return every, rebalance_view(every, diagnosis())


def rows(frame):
    return [[str(cell) for cell in row] for row in frame.reset_index().to_numpy()]


def test_settings_that_are_tried_are_those_that_would_have_been_enough():
    assert variants(a_loop()) == (
        "max.poll.records=84", "max.poll.records=168", "max.poll.interval.ms=88801", "threads=4",
    )  # fmt: skip


def test_a_longer_session_is_tried_where_members_were_expelled():
    assert variants(view(rebalance(60, 7, "heartbeat expiry", "heartbeat expiry"))) == ("session.timeout.ms=45000",)


def test_only_a_group_that_members_fell_out_of_is_replayed():
    calm = view(poll(50, 50, 4.5), rebalance(60, 7, "join", "restart"))
    assert [troubled(one) for one in (a_loop(), view(poll(50, 500, 44.5)), calm, view())] == [True, True, False, False]
    assert answered(looping(), calm) is None


def test_the_record_its_replay_and_each_change_stand_below_each_other(known):
    told = rows(trials(*known))
    assert [row[0] for row in told] == ["as recorded", "replayed unchanged", *variants(known[1])]
    assert told[0][1:4] == ["12", "45.0 s", "100.0 %"]
    assert told[1][1].startswith("12")
    assert {row[1] for row in told[2:5]} == {"0"}


def test_what_a_replay_takes_for_granted_is_said(known):
    told = rows(assumptions(*known))
    assert [what for what, _ in told][:2] == ["time", "as it was"]
    assert told[1][1].startswith("agrees with the record")
    assert {what for what, _ in told[2:]} == {"assumed"}


def test_without_offsets_nothing_is_replayed():
    assert answered(Facts(), a_loop()) is None
    assert answered(Facts(), RebalanceView(None)) is None
    assert [len(trials(Facts(), a_loop())), len(assumptions(Facts(), a_loop())), len(trial(None))] == [0, 0, 0]


def test_sliders_begin_at_what_was_and_ask_for_what_they_are_set_to(known):
    asked = []
    shown = poll_sliders(answered(*known), lambda pairs: asked.append(pairs) or answered(*known, pairs))
    records, interval, threads = shown.children[0].children
    assert (records.value, interval.value, threads.value) == (500, 15.0, 1)
    records.value = 50
    assert asked[-1] == ("max.poll.records=50", "max.poll.interval.ms=15000", "threads=1")


def test_without_a_replay_the_sliders_are_a_sentence():
    assert "not enough material" in poll_sliders(None, lambda _: None)
