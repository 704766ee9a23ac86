"""A few shapes of line fill a log: found where its rate exploded, and not where a log is merely large."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from said import told
from volume_builder import LOOP, QUIET, loop, shape, volume

from mqlab.detectors import log_explosion
from mqlab.findings import CLEAR, Certainty, Evidence, Result, Severity
from mqlab.logs import explosion
from mqlab.narrowing import narrowed


def answer(*volumes, rows=()):
    """What the detector says about these logs."""
    return log_explosion.detect(replace(facts(log("app.log", "application-log"), *rows), volumes=volumes))


def found(*volumes, rows=()):
    """(subject, certainty) of each finding, else why there is none."""
    result = answer(*volumes, rows=rows)
    return [(f.subject, f.certainty.name) for f in result.findings] or result.rejected or result.missing


def because(key, **values):
    """Why this log has no such flood, or what is missing to tell."""
    return explosion.say(key, log="app.log", **values)


def test_a_loop_that_fills_a_log_is_proven_by_shape_and_rate():
    (finding,) = answer(loop()).findings
    assert (finding.severity, finding.certainty) == (Severity.WARNING, Certainty.PROVEN)
    shown = {"most", "shapes", "share_of_bytes", "subject", "log_bytes", "since", "bytes_without"}
    assert told(finding.statement).keys() == shown | {"bytes_per_minute", "bytes_per_minute_before", "earlier"}
    assert finding.statement.values["earlier"] == 42 * 60
    assert {name: round(value, 4) for name, value in finding.measures.items()} == {
        "share_of_bytes": 0.9997,
        "share_of_flood_bytes": 0.9999,
        "shapes": 1,
        "lines": 1_800_000,
        "log_bytes": 360_120_000,
        "flood_bytes": 360_036_000,
        "flood_seconds": 1068,
        "bytes_without": 120_000,
        "bytes_per_minute": 20226741.573,
        "peak_bytes_per_minute": 20_002_000,
        "bytes_per_minute_before": 2000,
    }


def test_lines_that_came_in_the_minute_of_the_flood_and_after_it_began_are_no_earlier_ones():
    looping = shape("publish failed id=#", [(1, 60, 20_000_000)], level="ERROR", line=301, first=85)
    dialling = shape("dial tcp #: connect refused", [(1, 60, 1_000)], level="ERROR", line=320, first=86)
    (late,) = answer(volume(looping, dialling, rest=[(0, 1, 300)], first=25)).findings
    (later,) = answer(volume(looping, dialling, rest=[(0, 1, 300)], first=50)).findings
    for one in (late, later):
        assert (one.statement.values["earlier"], one.statement.values["earlier_bytes"]) == (35, 300)
        assert "bytes_per_minute_before" not in one.measures


def test_the_first_line_of_each_shape_proves_it_and_the_line_before_is_shown():
    before = Evidence("app.log", 300, "connection lost")
    (finding,) = answer(loop(before=before)).findings
    why = log_explosion.say("shape", lines=1_800_000, bytes=360_000_000, share=0.99967)
    first = Evidence("app.log", 301, "publish failed id=# attempt=# word by word", why)
    assert finding.evidence == (first, before.because(log_explosion.say("before")))


def test_three_shapes_of_one_loop_are_named_with_their_common_share():
    three = [
        shape(f"try #, step {n}", [(42, 60, size)], level="WARN", line=n)
        for n, size in ((1, 9_000_000), (2, 6_000_000), (3, 3_000_000))
    ]
    (finding,) = answer(volume(*three, rest=[(0, 60, 100_000)])).findings
    measures = finding.measures
    assert (measures["shapes"], round(measures["share_of_bytes"], 3), measures["log_bytes"]) == (3, 0.982, 330_000_000)


def test_four_equal_shapes_are_too_many():
    four = [shape(f"step {n}", [(42, 60, 5_000_000)], level="ERROR") for n in range(4)]
    assert found(volume(*four, rest=QUIET)) == because("mixed", times=10_001, since=at("10:42"), share=75)


def test_a_log_at_debug_level_has_many_shapes():
    debug = [shape(f"debug {n}", [(42, 60, 400_000)], level="DEBUG") for n in range(8)]
    many = [(0, 42, 50_000), (42, 60, 4_000_000)]
    assert found(volume(*debug, rest=many)) == because("mixed", times=144, since=at("10:42"), share=17)


def test_an_access_log_of_one_shape_at_a_steady_rate_is_none():
    access = shape("GET /ner # ms", [(0, 60, 3_000_000)])
    assert found(volume(access)) == because("steady", shapes=1, share=100, rate=3_000_000)


def test_an_access_log_that_begins_late_in_its_first_minute_is_steady():
    access = shape("GET /ner # ms", [(0, 1, 50_000), (1, 60, 3_000_000)], first=59)
    assert found(volume(access, first=59)) == because("steady", shapes=1, share=100, rate=3_000_000)


def test_an_access_log_that_grows_with_its_load_is_none():
    access = shape("GET /api/#", [(0, 42, 100_000), (42, 60, 3_000_000)])
    assert found(volume(access, rest=[(0, 42, 5_000), (42, 60, 150_000)])) == because("load", times=30, alike=95)


def test_a_log_whose_shapes_all_grow_in_proportion_is_none():
    shapes = [shape(f"served by #, kind {n}", [(0, 42, 40_000), (42, 60, 1_200_000)]) for n in range(8)]
    assert found(volume(*shapes)) == because("mixed", times=30, since=at("10:42"), share=38)


def test_lines_that_grow_little_by_little_follow_load():
    risen = shape("served #", [(n, n + 1, 30_000 * (n - 20)) for n in range(21, 140)])
    before = [(0, 20, 100_000), (20, 140, 1_000)]
    assert found(volume(risen, rest=before)) == because("gradual", times=15.8)


def test_the_burst_of_a_start_is_none():
    recovery = shape("[LogLoader partition=#] Recovering segment #", [(30, 32, 6_000_000)])
    start = episode("broker-started", 1_795, "app.log")
    assert found(volume(recovery, rest=QUIET), rows=[start]) == because("start", seconds=120, bytes=12_004_000)
    assert found(volume(recovery, rest=QUIET)) == [("app.log", "PROVEN")]


def test_a_log_that_begins_with_a_burst_and_falls_quiet_is_none():
    recovery = shape("Loaded partition #", [(0, 2, 6_000_000)])
    assert found(volume(recovery, rest=QUIET)) == because("start", seconds=120, bytes=12_004_000)


def test_bursts_that_come_again_and_again_are_the_logs_habit():
    hourly = shape("exported row #", [(n, n + 1, 5_000_000) for n in (40, 100, 160, 220)])
    assert found(volume(hourly, rest=[(0, 240, 2_000)])) == because("bursts", spells=4)


def test_a_small_log_does_no_harm():
    small = loop([(42, 60, 270_000)])
    assert found(small) == because("little", times=138, since=at("10:42:12"), bytes=4_896_000)


@pytest.mark.parametrize("legs", [[(42, 43, 1_100_000)], [(42, 60, 700_000)]])
def test_a_megabyte_a_minute_or_ten_in_all_matter(legs):
    assert found(loop(legs)) == [("app.log", "PROVEN")]


def test_one_loud_minute_among_others_is_no_rate():
    burst = loop([(42, 43, 1_400_000), (43, 45, 150_000)], level="INFO")
    assert found(burst) == because("little", times=305, since=at("10:42:12"), bytes=1_706_000)


def test_a_minor_line_that_was_usual_before_does_not_make_the_flood_usual():
    ticks = shape("persisted #", [(0, 42, 15_000), (42, 60, 200_000)], line=9)
    loud = shape("cannot consume #", [(42, 60, 9_000_000)], line=400)
    assert found(volume(loud, ticks, rest=[(0, 60, 9_000)])) == [("app.log", "LIKELY")]


def test_a_log_that_begins_in_the_flood_is_likely_where_its_lines_complain():
    flooded = volume(shape("publish failed #", [(0, 5, 50_000_000)], level="ERROR"))
    (finding,) = answer(flooded).findings
    assert finding.certainty is Certainty.LIKELY
    assert "bytes_per_minute_before" not in finding.measures
    assert "earlier" not in told(finding.statement)


def test_a_log_that_begins_in_lines_of_no_complaint_is_not_checked():
    loudest = volume(shape("got message #", [(0, 5, 50_000_000)]))
    assert found(loudest) == (because("no-before", since=at(0), rate=50_000_000),)


def test_lines_of_no_complaint_shortly_after_the_log_begins_are_not_checked():
    young = volume(shape("got message #", [(3, 20, 5_000_000)]), rest=[(0, 20, 2_000)])
    assert found(young) == (because("no-before", since=at("10:03"), earlier=180, rate=5_000_000),)


def test_lines_without_a_level_that_speak_of_failure_complain():
    assert found(loop(level=None)) == [("app.log", "PROVEN")]


def test_lines_that_were_there_before_and_complain_of_nothing_are_only_likely():
    known = shape("got message #", [(0, 42, 400), (42, 60, 5_000_000)])
    assert found(volume(known, rest=QUIET)) == [("app.log", "LIKELY")]


def test_the_earlier_rate_may_stand_in_a_rotated_file():
    old = volume(rest=[(0, 42, 2_000)], source="app.log.1")
    new = volume(shape("publish failed #", LOOP, level="INFO"), first=2_520)
    assert found(old, new) == [("app.log", "PROVEN")]
    assert found(new) == because("steady", shapes=1, share=100, rate=20_000_000)


def test_files_of_two_nodes_are_two_logs():
    nodes = [replace(loop(), source=f"node-{n}.log") for n in (1, 2)]
    assert found(*nodes) == [("node-1.log", "PROVEN"), ("node-2.log", "PROVEN")]


def test_a_flood_that_ended_has_an_end_and_one_at_the_end_is_open():
    ended, going = (answer(loop(legs)).findings[0] for legs in ([(42, 50, 20_000_000)], LOOP))
    assert (ended.ended_at.timestamp(), ended.ongoing) == (at("10:50"), False)
    assert (going.ended_at, going.ongoing) == (None, True)


def test_two_floods_of_one_log_are_one_finding_in_two_spells():
    (finding,) = answer(loop([(42, 44, 20_000_000), (55, 57, 20_000_000)])).findings
    assert told(finding.statement)["spells"] == 2
    assert (finding.started_at.timestamp(), finding.ended_at.timestamp()) == (at("10:42:12"), at("10:57"))


def test_a_flood_in_a_long_log_is_measured_against_itself():
    long = volume(
        shape("publish failed #", [(900, 903, 10_000_000)], level="ERROR"), rest=[(0, 1_000, 200_000)], source="a.log"
    )
    (finding,) = answer(long).findings
    shown, share = told(finding.statement), finding.measures["share_of_flood_bytes"]
    assert (shown["share_of_flood_bytes"], shown["flood_bytes"], "most" in shown) == (share, 30_600_000, False)
    assert (round(share, 2), round(shown["share_of_bytes"], 3)) == (0.98, 0.130)


def test_a_log_without_moments_has_no_rate():
    undated = found(volume(source="raw.log", undated=30_000_000))
    assert undated == (log_explosion.say("no-moments", log="raw.log", bytes=30_000_000),)
    assert found(volume(source="raw.log", undated=900_000)) == ()


def test_no_log_at_all_is_not_checked_and_a_small_one_is_clear():
    assert log_explosion.detect(facts()).missing == (log_explosion.say("no-log"),)
    assert found(volume(rest=QUIET)) == ()


def test_times_cut_by_the_user_leave_no_earlier_rate():
    whole = replace(facts(log("app.log", "application-log")), volumes=(loop(level="INFO"),))
    late = narrowed(whole, at("10:45"), None, None, None, None)
    assert log_explosion.detect(whole).findings
    assert log_explosion.detect(late) == Result(rejected=because("steady", shapes=1, share=100, rate=20_000_000))
    assert log_explosion.detect(narrowed(whole, at("11:00"), None, None, None, None)) == CLEAR


def test_a_flood_ends_with_its_last_line_where_events_tell_of_it():
    ended = loop([(42, 50, 20_000_000)])
    lines = [
        episode("send-failed", 2_532, "app.log", until=2_540, line=301),
        episode("send-failed", 2_990, "app.log", until=2_994, line=900),
    ]
    (one,) = answer(ended, rows=lines).findings
    assert (one.ended_at.timestamp(), one.measures["flood_seconds"]) == (at(2_994), 462)
    (minute,) = answer(ended).findings
    assert (minute.ended_at.timestamp(), minute.measures["flood_seconds"]) == (at(3_000), 468)
    others = [episode("client-connected", 2_990, "app.log"), episode("send-failed", 2_900, "app.log", line=301)]
    (same,) = answer(ended, rows=others).findings
    assert same.ended_at == minute.ended_at
