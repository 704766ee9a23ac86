"""The timeline shows what the facts hold, and says so where they hold nothing."""

from dataclasses import replace

from facts_builder import facts as made
from group_builder import connected
from mqtt_builder import broker, turns
from report_example import diagnosis, example, facts, oversize, split_loop

from mqlab.facts import Facts, Series
from mqlab.figures.style import figure_table
from mqlab.figures.timeline import event_lanes, keys, lag_points, timeline, told


def names(figure):
    return [trace.name for trace in figure.data]


def test_the_guilty_host_the_lag_and_the_events_are_drawn():
    assert names(timeline(*example())) == [
        "bridge-1 out", "bridge-1 in", "lag plant-report", "batch splits", "records too large", "processes exit, start",
        "processes exit, start", "changes", "oversize-record-rejected",
    ]  # fmt: skip


def test_without_metrics_the_events_remain():
    known, result = example()

    assert names(timeline(replace(known, series=(), positions=()), result))[0] == "batch splits"


def test_without_anything_dated_a_sentence_stands_there():
    figure = timeline(Facts(), diagnosis())

    assert not figure.data
    assert "Nothing to draw over time" in figure.layout.annotations[0].text


def test_lag_is_summed_over_partitions_and_never_negative():
    position = facts().positions[0]
    ahead = replace(position, queue="9", committed=position.end + 5)
    unknown = replace(position, queue="10", committed=None)

    late = replace(position, queue="8", end=position.committed + 7)
    summed = (position.at, position.end - position.committed + 7)

    assert lag_points(Facts(positions=(position, late, ahead, unknown))) == {"plant-report": (summed,)}


def test_lag_is_told_once_though_several_outputs_tell_it_and_a_queue_keeps_it_until_told_again():
    first = replace(facts().positions[0], committed=0, end=10, queue="0")
    again, later = replace(first, source="another.txt"), replace(first, at=first.at + 60, end=15)
    beside = replace(first, queue="1", end=3)
    dead = replace(first, topic="%DLQ%plant-report", end=99)

    assert lag_points(Facts(positions=(first, again, beside, dead, later))) == {
        "plant-report": ((first.at, 13), (first.at + 60, 18))
    }


def test_between_its_own_snapshots_a_queue_is_drawn_on_the_line():
    first = replace(facts().positions[0], committed=0, end=10, queue="0", at=0.0)
    beside = tuple(replace(first, topic="other", at=at, end=3) for at in (0.0, 25.0, 100.0, 150.0))

    assert lag_points(Facts(positions=(first, replace(first, at=100.0, end=50), *beside))) == {
        "plant-report": ((0, 13), (25, 23), (100, 53), (150, 53))
    }


def test_members_that_come_and_go_are_a_lane_with_their_address():
    came = connected(0, "A@9", "10.0.0.1:1")
    went = connected(60, "A@9", "10.0.0.1:1", kind="consumer-disconnected")
    lanes = event_lanes(Facts(episodes=(came, went)), diagnosis())

    assert [look[:2] for look in lanes][:2] == [("members join, leave", "triangle-up"), ("members join, leave", "x")]
    assert next(iter(lanes.values()))[0].words.split("\n")[1] == "A@9 10.0.0.1:1"


def test_findings_after_the_first_are_lanes_unless_they_are_only_notices():
    rows = [lane for lane, _, _ in event_lanes(Facts(), diagnosis(split_loop(), oversize()))]
    notice = replace(oversize(), severity=1)

    assert rows == ["changes", "oversize-record-rejected"]
    assert [lane for lane, _, _ in event_lanes(Facts(), diagnosis(split_loop(), notice))] == ["changes"]


def test_a_mark_tells_where_it_was_read_and_mark_up_in_it_is_escaped():
    episode = replace(facts().of_kind("batch-split")[0], client_id="<script>alert(1)</script>")
    told = figure_table(timeline(Facts(episodes=(episode,)), diagnosis()).to_plotly_json()).rows[0][3]

    assert "<script" not in timeline(Facts(episodes=(episode,)), diagnosis()).to_json()
    assert told.split(", ") == [
        "12:20:40 batch-split × 34",
        "<script>alert(1)</script>",
        "plant-telemetry-1",
        "clients/bridge.log:83",
    ]


def test_only_the_scrapes_of_what_is_drawn_are_gaps():
    known, result = example()
    sent = known.named("host.transmit_bytes")[0]
    times = [at for at, _ in sent.points]
    own = Series(
        "up", "up", {"instance": "bridge-1:19100"}, "up.json", tuple((at, float(at != times[5])) for at in times)
    )
    other = replace(own, labels={"instance": "bridge-1:19405"}, points=tuple((at, 0.0) for at in times))
    band = len(timeline(known, result).layout.shapes)

    assert len(timeline(replace(known, series=(*known.series, other)), result).layout.shapes) == band
    assert len(timeline(replace(known, series=(*known.series, own)), result).layout.shapes) > band


def test_takeovers_are_drawn_but_no_session_that_is_only_used_again():
    used_again = broker("""
        10:00:00 press connected 10.0.0.1:1001 k30 c0
        10:00:50 press normal 10.0.0.1:1001
        10:05:00 press taken-over 10.0.0.1:1001
        10:05:00 press connected 10.0.0.1:1002 k30 c0
    """)
    assert "takeovers" not in {lane for lane, _, _ in event_lanes(made(used_again), diagnosis())}
    assert "takeovers" in {lane for lane, _, _ in event_lanes(made(broker(turns("press", ["10.0.0.1"]))), diagnosis())}


def test_messages_that_brokers_keep_stand_where_the_lag_of_groups_does():
    store = Series(
        "mqtt.stored_messages", "$SYS/broker/store/messages/count", {}, "sys.log", ((0.0, 40.0), (10.0, 90.0))
    )
    chart = timeline(Facts(series=(store,)), diagnosis())
    assert [(trace.name, list(trace.y)) for trace in chart.data if trace.name] == [("stored by sys.log", [40, 90])]


def test_known_errors_of_the_class_that_leads_have_a_lane():
    said = replace(facts().of_kind("record-too-large")[0], kind="error:kafka-login-refused")
    found = replace(split_loop(), incident="authentication-failed")

    assert "authentication-failed" in {lane for lane, _, _ in event_lanes(Facts(episodes=(said,)), diagnosis(found))}
    assert not event_lanes(Facts(episodes=(said,)), replace(diagnosis(), changes=()))


def test_what_died_unseen_is_hollow_and_has_a_lane_a_key_and_words():
    started = [
        replace(facts().episodes[0], kind="broker-started", node="2", client_id=None, first_at=at, last_at=at)
        for at in (1000.0, 1300.0)
    ]
    known, result = Facts(episodes=tuple(started)), diagnosis(split_loop())
    chart = timeline(known, result, legend=False)

    assert ("broker 2", "x-open") in {look[:2] for look in event_lanes(known, result)}
    assert {key.words for key in keys(chart)} >= {"silent or crashed, inferred", "starts", "the incident"}
    assert "broker 2: alive until 00:16:40 at least" in told(known, result)


def test_the_text_tells_the_incident_what_waits_and_how_many_marks_there_are():
    assert told(*example()) == (
        "Timeline from 12:17:26 to 12:25:00 UTC. The incident begins at 12:20:44 and lasts until 12:23:16. "
        "Lag of plant-report: at most 72 messages, at 12:21:20. Marks: batch splits (20), records too large (2), "
        "processes exit, start (5), changes (1), oversize-record-rejected (1)."
    )


def test_bands_stand_in_the_legend_of_a_notebook_once():
    shown = [one.name for one in timeline(*example()).layout.shapes if one.showlegend]

    assert shown == ["the incident"]
