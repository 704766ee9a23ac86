"""A few shapes of line fill a log: found where its rate exploded, and not where a log is merely large."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, settings
from volume_builder import shape, volume

from mqlab.detectors import log_explosion
from mqlab.findings import CLEAR, Certainty, Evidence, Severity
from mqlab.narrowing import narrowed
from mqlab.scope import RULES, SYSTEMS
from mqlab.symptoms.unexplained import trouble
from mqlab.verdict import diagnose

QUIET = [(0, 60, 2_000)]
LOOP = [(42, 60, 20_000_000)]


def told(*volumes, rows=()):
    """What the detector says about these logs."""
    return log_explosion.detect(replace(facts(log("app.log", "application-log"), *rows), volumes=volumes))


def found(*volumes, rows=()):
    """(subject, certainty) of each finding, else why there is none."""
    result = told(*volumes, rows=rows)
    return [(f.subject, f.certainty.name) for f in result.findings] or result.rejected or result.missing


def loop(legs=tuple(LOOP), *, level="ERROR", rest=tuple(QUIET), second=2_532, **more):
    """A log of some lines a minute in which a loop begins at 10:42:12."""
    looping = shape("publish failed id=# attempt=#", legs, level=level, line=301, first=second)
    return volume(looping, rest=rest, **more)


def test_a_loop_that_fills_a_log_is_proven_by_shape_and_rate():
    (finding,) = told(loop()).findings
    assert (finding.severity, finding.certainty) == (Severity.WARNING, Certainty.PROVEN)
    assert finding.statement == (
        "1 line shape makes up 99.96 % of app.log (360 MB), flooding it since 10:42:12 UTC; without it the log would "
        "be 120 kB. It grew by 20.2 MB a minute, up from 2.00 kB a minute (over 42.0 min)."
    )
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
    (late,) = told(volume(looping, dialling, rest=[(0, 1, 300)], first=25)).findings
    (later,) = told(volume(looping, dialling, rest=[(0, 1, 300)], first=50)).findings
    for one in (late, later):
        assert (one.statement.values["earlier"], one.statement.values["earlier_bytes"]) == (35, 300)
        assert "bytes_per_minute_before" not in one.measures


def test_the_first_line_of_each_shape_proves_it_and_the_line_before_is_shown():
    before = Evidence("app.log", 300, "connection lost")
    (finding,) = told(loop(before=before)).findings
    assert finding.evidence == (
        Evidence(
            "app.log", 301, "publish failed id=# attempt=# word by word",
            "first of 1,800,000 lines of this shape, 360 MB = 99.96 % of the log",
        ),
        Evidence("app.log", 300, "connection lost", "the line just before the flood"),
    )  # fmt: skip


def test_three_shapes_of_one_loop_are_named_with_their_common_share():
    three = [
        shape(f"try #, step {n}", [(42, 60, size)], level="WARN", line=n)
        for n, size in ((1, 9_000_000), (2, 6_000_000), (3, 3_000_000))
    ]
    (finding,) = told(volume(*three, rest=[(0, 60, 100_000)])).findings
    assert finding.statement.startswith(
        "3 line shapes make up 98.1 % of app.log (330 MB), flooding it since 10:42:00 UTC"
    )


def test_four_equal_shapes_are_too_many():
    four = [shape(f"step {n}", [(42, 60, 5_000_000)], level="ERROR") for n in range(4)]
    assert found(volume(*four, rest=QUIET)) == (
        "app.log became 10,001× as loud at 10:42:00 UTC, but its largest shapes carry only 75% of it"
    )


def test_a_log_at_debug_level_has_many_shapes():
    debug = [shape(f"debug {n}", [(42, 60, 400_000)], level="DEBUG") for n in range(8)]
    many = [(0, 42, 50_000), (42, 60, 4_000_000)]
    assert "its largest shapes carry only 17% of it" in found(volume(*debug, rest=many))


def test_an_access_log_of_one_shape_at_a_steady_rate_is_none():
    access = shape("GET /ner # ms", [(0, 60, 3_000_000)])
    assert found(volume(access)) == (
        "1 shape carries 100% of app.log, at a steady rate of 3.00 MB a minute from its first line on"
    )


def test_an_access_log_that_begins_late_in_its_first_minute_is_steady():
    access = shape("GET /ner # ms", [(0, 1, 50_000), (1, 60, 3_000_000)], first=59)
    assert "at a steady rate" in found(volume(access, first=59))


def test_an_access_log_that_grows_with_its_load_is_none():
    access = shape("GET /api/#", [(0, 42, 100_000), (42, 60, 3_000_000)])
    assert found(volume(access, rest=[(0, 42, 5_000), (42, 60, 150_000)])) == (
        "app.log became 30.0× as loud, but the same lines made up 95% of it before, so it grew with its load"
    )


def test_a_log_whose_shapes_all_grow_in_proportion_is_none():
    shapes = [shape(f"served by #, kind {n}", [(0, 42, 40_000), (42, 60, 1_200_000)]) for n in range(8)]
    assert "its largest shapes carry only 38% of it" in found(volume(*shapes))


def test_lines_that_grow_little_by_little_follow_load():
    risen = shape("served #", [(n, n + 1, 30_000 * (n - 20)) for n in range(21, 140)])
    before = [(0, 20, 100_000), (20, 140, 1_000)]
    assert found(volume(risen, rest=before)) == "app.log became 15.8× as loud gradually, as load makes it"


def test_the_burst_of_a_start_is_none():
    recovery = shape("[LogLoader partition=#] Recovering segment #", [(30, 32, 6_000_000)])
    start = episode("broker-started", 1_795, "app.log")
    assert found(volume(recovery, rest=QUIET), rows=[start]) == (
        "app.log is loud for 120 s after its start (12.0 MB), then quiet"
    )
    assert found(volume(recovery, rest=QUIET)) == [("app.log", "PROVEN")]


def test_a_log_that_begins_with_a_burst_and_falls_quiet_is_none():
    recovery = shape("Loaded partition #", [(0, 2, 6_000_000)])
    assert "after its start" in found(volume(recovery, rest=QUIET))


def test_bursts_that_come_again_and_again_are_the_logs_habit():
    hourly = shape("exported row #", [(n, n + 1, 5_000_000) for n in (40, 100, 160, 220)])
    assert "which is normal for it" in found(volume(hourly, rest=[(0, 240, 2_000)]))


def test_a_small_log_does_no_harm():
    small = loop([(42, 60, 270_000)])
    assert found(small) == ("app.log became 138× as loud at 10:42:12 UTC, but 4.90 MB in all is too little to matter")


@pytest.mark.parametrize("legs", [[(42, 43, 1_100_000)], [(42, 60, 700_000)]])
def test_a_megabyte_a_minute_or_ten_in_all_matter(legs):
    assert found(loop(legs)) == [("app.log", "PROVEN")]


def test_one_loud_minute_among_others_is_no_rate():
    burst = loop([(42, 43, 1_400_000), (43, 45, 150_000)], level="INFO")
    assert found(burst).endswith("but 1.71 MB in all is too little to matter")


def test_a_minor_line_that_was_usual_before_does_not_make_the_flood_usual():
    ticks = shape("persisted #", [(0, 42, 15_000), (42, 60, 200_000)], line=9)
    loud = shape("cannot consume #", [(42, 60, 9_000_000)], line=400)
    assert found(volume(loud, ticks, rest=[(0, 60, 9_000)])) == [("app.log", "LIKELY")]


def test_a_log_that_begins_in_the_flood_is_likely_where_its_lines_complain():
    flooded = volume(shape("publish failed #", [(0, 5, 50_000_000)], level="ERROR"))
    (finding,) = told(flooded).findings
    assert finding.certainty is Certainty.LIKELY
    assert finding.statement.endswith("the log begins in the flood, so its earlier rate is not in the material.")
    assert "bytes_per_minute_before" not in finding.measures


def test_a_log_that_begins_in_lines_of_no_complaint_is_not_checked():
    (missing,) = found(volume(shape("got message #", [(0, 5, 50_000_000)])))
    assert missing.startswith("app.log from well before 10:00:00 UTC: it begins in its loudest time")


def test_lines_of_no_complaint_shortly_after_the_log_begins_are_not_checked():
    young = volume(shape("got message #", [(3, 20, 5_000_000)]), rest=[(0, 20, 2_000)])
    assert found(young) == (
        "app.log from well before 10:03:00 UTC: only 3.00 min of it are in the material, so 5.00 MB a minute of the "
        "same few lines may be normal for it",
    )


def test_lines_without_a_level_that_speak_of_failure_complain():
    assert found(loop(level=None)) == [("app.log", "PROVEN")]


def test_lines_that_were_there_before_and_complain_of_nothing_are_only_likely():
    known = shape("got message #", [(0, 42, 400), (42, 60, 5_000_000)])
    assert found(volume(known, rest=QUIET)) == [("app.log", "LIKELY")]


def test_the_earlier_rate_may_stand_in_a_rotated_file():
    old = volume(rest=[(0, 42, 2_000)], source="app.log.1")
    new = volume(shape("publish failed #", LOOP, level="INFO"), first=2_520)
    assert found(old, new) == [("app.log", "PROVEN")]
    assert found(new) == "1 shape carries 100% of app.log, at a steady rate of 20.0 MB a minute from its first line on"


def test_files_of_two_nodes_are_two_logs():
    nodes = [replace(loop(), source=f"node-{n}.log") for n in (1, 2)]
    assert found(*nodes) == [("node-1.log", "PROVEN"), ("node-2.log", "PROVEN")]


def test_a_flood_that_ended_has_an_end_and_one_at_the_end_is_open():
    ended, going = (told(loop(legs)).findings[0] for legs in ([(42, 50, 20_000_000)], LOOP))
    assert (ended.ended_at.timestamp(), ended.ongoing) == (at("10:50"), False)
    assert (going.ended_at, going.ongoing) == (None, True)


def test_two_floods_of_one_log_are_one_finding_in_two_spells():
    (finding,) = told(loop([(42, 44, 20_000_000), (55, 57, 20_000_000)])).findings
    assert "in 2 spells" in finding.statement
    assert (finding.started_at.timestamp(), finding.ended_at.timestamp()) == (at("10:42:12"), at("10:57"))


def test_a_flood_in_a_long_log_is_measured_against_itself():
    long = volume(
        shape("publish failed #", [(900, 903, 10_000_000)], level="ERROR"), rest=[(0, 1_000, 200_000)], source="a.log"
    )
    (finding,) = told(long).findings
    assert (
        "makes up 98.0 % of the 30.6 MB that a.log wrote from 01:00:00 to 01:03:00 UTC (13.0 % of its 230 MB)"
        in finding.statement
    )
    assert round(finding.measures["share_of_bytes"], 3) == 0.130


def test_a_log_without_moments_has_no_rate():
    (missing,) = found(volume(source="raw.log", undated=30_000_000))
    assert missing == "timestamps in raw.log: 30.0 MB of it have none, so its rate is unknown"
    assert found(volume(source="raw.log", undated=900_000)) == ()


def test_no_log_at_all_is_not_checked_and_a_small_one_is_clear():
    assert log_explosion.detect(facts()).missing == ("the log itself, from before the onset",)
    assert found(volume(rest=QUIET)) == ()


def test_times_cut_by_the_user_leave_no_earlier_rate():
    whole = replace(facts(log("app.log", "application-log")), volumes=(loop(level="INFO"),))
    late = narrowed(whole, at("10:45"), None, None, None, None)
    assert log_explosion.detect(whole).findings
    assert log_explosion.detect(late).rejected.startswith("1 shape carries 100% of app.log, at a steady rate")
    assert log_explosion.detect(narrowed(whole, at("11:00"), None, None, None, None)) == CLEAR


SPLITTING = tuple(
    episode(
        "batch-split", 2_532 + n, "app.log", count=1_500, line=301 + n, until=2_541 + n, left=3, client_id="app",
        topic="orders", queue="0", reason="MESSAGE_TOO_LARGE",
    )
    for n in range(0, 1_060, 10)
)  # fmt: skip
PRODUCER = settings("at owner key value\n10:00 app batch.size 1638400\n10:00 app acks all", "app.log")


def test_lines_of_another_finding_are_its_consequence():
    flooded = volume(shape("splitting and retrying", [(42, 60, 2_000_000)], level="WARN", line=301), rest=QUIET)
    diagnosis = diagnose(replace(facts(SPLITTING, PRODUCER, log("app.log")), volumes=(flooded,)))
    lead, *rest = diagnosis.findings
    assert (lead.incident, "log-explosion" in lead.explains) == ("batch-split-loop", True)
    (explosion,) = [f for f in rest if f.incident == "log-explosion"]
    assert explosion.severity is Severity.NOTICE
    assert explosion.statement.endswith("These lines are a consequence of batch-split-loop on app -> orders.")


def test_a_few_events_do_not_explain_a_million_lines_beside_them():
    few = tuple(replace(e, count=20) for e in SPLITTING)
    diagnosis = diagnose(replace(facts(few, PRODUCER, log("app.log")), volumes=(loop(),)))
    severities = {f.incident: f.severity for f in diagnosis.findings}
    assert severities["log-explosion"] is Severity.WARNING


def test_material_of_no_known_system_has_the_class_too():
    lonely = replace(facts(log("app.log", "application-log")), volumes=(loop(),))
    quiet = replace(lonely, volumes=(volume(rest=QUIET),))
    assert diagnose(lonely).verdict.incident == "log-explosion"
    assert "log-explosion" in diagnose(quiet).clear
    others = {slug for slug, systems in RULES.items() if len(systems) == len(SYSTEMS)} - {"log-explosion"}
    assert {n.incident for n in diagnose(quiet).not_checked} == {*others, *SYSTEMS}


def test_it_explains_its_own_lines_and_no_others():
    own = episode("send-failed", 2_532, "app.log", count=90_000, line=301)
    other = episode("sender-error", 2_600, "app.log", line=900)
    material = replace(facts(log("app.log", "application-log"), own, other), volumes=(loop(),))
    left = diagnose(material).symptoms
    assert [s.partition(" UTC: ")[2] for s in left] == [
        "uncaught errors in a producer's sender thread, once, at app.log:900"
    ]
    assert "send-failed" in trouble()


def test_a_flood_ends_with_its_last_line_where_events_tell_of_it():
    ended = loop([(42, 50, 20_000_000)])
    lines = [
        episode("send-failed", 2_532, "app.log", until=2_540, line=301),
        episode("send-failed", 2_990, "app.log", until=2_994, line=900),
    ]
    (one,) = told(ended, rows=lines).findings
    assert (one.ended_at.timestamp(), one.measures["flood_seconds"]) == (at(2_994), 462)
    (minute,) = told(ended).findings
    assert (minute.ended_at.timestamp(), minute.measures["flood_seconds"]) == (at(3_000), 468)
    others = [episode("client-connected", 2_990, "app.log"), episode("send-failed", 2_900, "app.log", line=301)]
    (same,) = told(ended, rows=others).findings
    assert same.ended_at == minute.ended_at
