"""Two captures side by side: what may be said of both, and what differs. Hosts, groups and numbers are made up."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from comparing_builder import AFTER, BEFORE, EARLIER, LATE, LATER, before, group, late, side
from facts_builder import at, episode, facts, log, settings
from plain_reading import opened
from report_example import diagnosis as example
from report_example import example as told_example
from test_report import HOSTILE, Page

from mqlab.comparing import answer, comparison, differences, pages
from mqlab.comparing.sides import Side
from mqlab.comparing.tables import text
from mqlab.findings import Certainty, Severity
from mqlab.rows import Shape
from mqlab.verdict import diagnose

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


def test_a_class_that_b_is_clear_of_and_would_have_shown_is_repaired_as_far_as_b_shows():
    told = answer.answer(before(), side(AFTER, **LATER))

    assert (told.kind, told.open) == (answer.REPAIRED, ())
    assert "10.0/s in A, 10.0/s in B, 1.00×" in told.sentence


STOPPED = episode("broker-stopping", 50, "logs/server.log")


@pytest.mark.parametrize(
    ("a", "rows", "more", "because"),
    [
        (before(), EARLIER, {"first": "09:00", "last": "09:10"}, "too-early"),
        (before(), AFTER, {"first": None, "last": None}, "undated"),
        (before(), (AFTER[0], group("till", since="11:00", until="11:10")), {}, "nothing-in-b"),
        (before(), (log("b.log", "kafka-broker-log"), AFTER[1]), {}, "lacking"),
        (before(), (AFTER[0], group(since="11:00", until="11:10", records=2999)), {}, "less-load"),
        (before(), AFTER, {"last": "11:01"}, "too-short"),
        (before(STOPPED), AFTER, {}, "not-tested"),
        (before(facts={"cause": "a release"}), AFTER, {}, "cause"),
    ],
)  # fmt: skip
def test_what_b_could_not_have_shown_is_no_repair(a, rows, more, because):
    if "first" in more and more["first"] is None:
        b = side(rows, clear=(LATE,))
        b = replace(b, diagnosis=replace(b.diagnosis, material=replace(b.diagnosis.material, window=(None, None))))
    else:
        b = side(rows, **LATER | more)
    told = answer.answer(a, b)

    assert told.kind == answer.NOT_SHOWN
    assert because in {one.key for one in told.open}


def test_what_is_there_again_before_a_class_that_stays_away_puts_the_repair_to_the_test():
    again = episode("broker-stopping", "11:02", "logs/server.log")

    assert answer.answer(before(STOPPED), side((*AFTER, again), **LATER)).kind == answer.REPAIRED


@pytest.mark.parametrize(
    "more",
    [
        {"not_checked": [(LATE, "the client's log")]},
        {"rejected": [(LATE, "dismissed")]},
        {"findings": [replace(late(), certainty=Certainty.POSSIBLE, severity=Severity.NOTICE)]},
        {},
    ],
)
def test_a_class_that_b_was_not_checked_for_is_never_repaired(more):
    told = answer.answer(before(), side(AFTER, **LATER | {"clear": ()} | more))

    assert told.kind == answer.UNKNOWN
    assert told.sentence.key in ("not-checked-in-b", "no-repair")


def test_a_class_that_was_disproved_in_b_is_no_repair():
    told = answer.answer(before(), side(AFTER, **LATER | {"clear": (), "rejected": [(LATE, "all left in order")]}))

    assert told.kind == answer.NOT_SHOWN
    assert (told.open[0].key, told.open[0].values["because"]) == ("disproved", "all left in order")


@pytest.mark.parametrize(
    ("rows", "found", "kind"),
    [
        (AFTER, late(since=3660, until=3700), answer.SAME_PLACE),
        (BEFORE, late(since=100, until=110), answer.SAME_INCIDENT),
        ((AFTER[0], group("till", since="11:00", until="11:10")), late("till", 3660, 3700), answer.SAME_CAUSE),
        (AFTER, late("orders", 3660, 3700), answer.SAME_CLASS),
    ],
)
def test_one_class_in_both_is_one_cause_by_its_place(rows, found, kind):
    assert answer.answer(before(), side((*rows, episode("x", 1)), (found,), first="11:00", last="11:10")).kind == kind


def test_a_class_that_a_was_not_checked_for_is_not_called_new_in_b():
    b, healthy = before(), {"first": "09:00", "last": "09:10"}

    new = answer.answer(side((), clear=(LATE,), **healthy), b)
    assert (new.kind, [one.key for one in new.open]) == (answer.NEW, ["nothing-in-a"])
    assert answer.answer(side((), not_checked=[(LATE, "logs")], **healthy), b).kind == answer.UNKNOWN


def test_without_an_incident_in_either_what_is_undetermined_is_told():
    told = answer.answer(side(BEFORE, verdict="undetermined"), side(AFTER, **LATER))

    assert (told.kind, len(told.open)) == (answer.NEITHER, 1)


def test_a_capture_compared_with_itself_shows_no_difference():
    one = before()
    told = comparison.compare(one, one)

    assert told.answer.kind == answer.SAME_MATERIAL
    assert (told.settings, told.versions, told.lines) == ((), (), ())


# -- what differs ----------------------------------------------------------------------------------------------------


def test_classes_read_by_where_they_ended():
    a = side((), (late(),), rejected=[("session-timeout", "left in order")], clear=("rolling-restart",))
    b = side((), (), clear=("session-timeout",), not_checked=[("rolling-restart", "logs"), (LATE, "the client's log")])

    assert [(row.incident, row.a, row.b, row.reading) for row in differences.classes(a, b)] == [
        (LATE, "found", "not checked", "unknown: in B it is not checked"),
        ("session-timeout", "rejected", "clear", "found in neither"),
        ("rolling-restart", "clear", "not checked", "not comparable: not checked in B"),
    ]


def test_measures_are_of_the_same_place_with_difference_and_ratio():
    a = side(BEFORE, (late(measures={"rebalances": 4, "share_of_bytes": 0.5}),))
    b = side(
        BEFORE, (late("till", measures={"rebalances": 9}), late(measures={"rebalances": 1, "share_of_bytes": 0.4}))
    )
    rows = comparison.tables(comparison.compare(a, b))[2].rows

    assert rows == (
        (LATE, "rebalances", "4", "1", "−3", "0.25×"),
        (LATE, "share of the log", "50.0 %", "40.0 %", "−10.0 points", "0.8×"),
    )


def test_a_measure_that_never_ends_is_null_in_the_document():
    a = side(BEFORE, (late(measures={"drain_seconds": float("inf")}),))
    told = json.loads(comparison.dumps(comparison.compare(a, side(AFTER, (late(measures={"drain_seconds": 60}),)))))

    assert [(row["a"], row["b"], row["ratio"]) for row in told["measures"]] == [(None, 60, 0)]


def test_settings_differ_by_what_was_printed_by_time_and_places_come_last():
    a = settings("""
        at     owner  key               value
        10:00  app    batch.size        99
        10:05  app    batch.size        16
        10:00  app    sasl.handler      a.B@1f2e3d4c
        10:00  app    client.id         app-1
        """)
    b = settings("""
        at     owner  key               value
        10:00  app    batch.size        16
        10:00  app    sasl.handler      a.B@77aa88bb
        10:00  app    client.id         app-2
        10:00  app    linger.ms         5
        """)
    undated = settings("at  owner  key         value\n-   app    batch.size  7", origin="file")
    told = differences.settings(side((a, undated)), side(b))

    elsewhere = settings("at owner key value\n10:00 till batch.size 16")

    assert differences.settings(side((a,)), side((elsewhere,)))[0].owners == "(app in A, till in B)"
    assert [(row.owners, row.key, row.a, row.b, row.local) for row in told] == [
        ("app", "batch.size", "99, then 16", "16", False), ("app", "client.id", "app-1", "app-2", True),
    ]  # fmt: skip


def shapes(*told, minutes=10, source="clients/app.log"):
    """A client's log of so many minutes with these shapes."""
    own = [Shape(source, level, shape, lines, 100, None, None, 1) for level, shape, lines in told]
    return replace(facts(log(last=f"10:{minutes}"), group()), shapes=tuple(own))


def test_a_setting_that_the_class_depends_on_is_told_as_what_may_have_been_the_repair():
    a = settings("at owner key value\n10:00 app max.poll.records 500", scope="consumer")
    b = settings("at owner key value\n11:00 app max.poll.records 50", scope="consumer")
    told = comparison.compare(before(a), side((*AFTER, b), **LATER)).answer

    assert told.kind == answer.REPAIRED
    assert told.changed[0].endswith("max.poll.records of consumer app is 500 in A, 50 in B.")


def test_lines_are_compared_by_the_minute_and_with_names_masked():
    a = shapes(("WARN", "slow answer of shop", 40), ("INFO", "polled", 100), ("ERROR", "gave up on orders", 60))
    b = shapes(
        ("WARN", "slow answer of shop", 20), ("INFO", "polled", 20), ("WARN", "lost", 30), ("WARN", "odd", 1), minutes=5
    )
    found = differences.lines(Side("a", a, example()), Side("b", b, example()))

    assert [(row.level, row.shape, row.reading, row.per_minute) for row in found] == [
        ("ERROR", "gave up on <topic>", "gone", (6.0, 0.0)),
        ("WARN", "lost", "new", (0.0, 6.0)),
        ("WARN", "odd", "too few to tell", (0.0, 0.2)),
        ("INFO", "polled", "less often", (10.0, 4.0)),
    ]


def test_moments_count_from_each_onset_and_leave_out_how_everything_was_started():
    a = side((*BEFORE, episode("broker-fenced", -300), episode("broker-fenced", 70)), (late(),))
    b = side((*AFTER, episode("broker-fenced", 3690)), (late(since=3660),))

    assert [(row.what, row.a, row.b) for row in differences.moments(a, b)] == [
        (f"{LATE} begins", 0.0, 0.0),
        ("brokers fenced by the controller", 10.0, 30.0),
    ]


def test_a_side_of_a_split_capture_is_as_long_as_its_part():
    a, b = side(BEFORE, until=at("10:04")), side(BEFORE, since=at("10:04"))

    assert (a.seconds, b.seconds, b.begin) == (240.0, 360.0, at("10:04"))


# -- as a page, on a screen, of real captures ------------------------------------------------------------------------


def test_the_page_has_a_sound_structure_and_runs_nothing_of_the_material():
    known, told = told_example()
    a = Side(HOSTILE, known, told)
    b = replace(before(), title=HOSTILE)
    whole = comparison.compare(a, b)
    page = Page(pages.compared(whole))

    assert (page.headings[0], page.headings.count(1), page.handlers, page.loads) == (1, 1, [], [])
    assert all(deeper <= level + 1 for level, deeper in zip(page.headings, page.headings[1:], strict=False))
    assert set(page.scripts) == {"text/javascript", "application/json"}
    assert "$schema" not in json.loads(comparison.dumps(whole))
    assert max(map(len, text(comparison.tables(whole)))) <= 118


@cache
def read(name):
    with TemporaryDirectory() as scratch:
        known = opened([SAMPLES / name], Path(scratch) / "unpacked")
    return Side(name, known, diagnose(known))


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("mqtt-queue-drop-02", "mqtt-slow-02", answer.SAME_CAUSE),
        ("mqtt-queue-drop-02", "mqtt-overlap-03", answer.NOT_SHOWN),
        ("mqtt-overlap-03", "mqtt-slow-02", answer.NEW),
    ],
)
def test_real_captures_are_told_apart(a, b, kind):
    told = comparison.compare(read(a), read(b))

    assert told.answer.kind == kind
    assert comparison.timeline(told).data
