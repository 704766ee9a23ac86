"""Thinning: what leaves Spark is small and complete."""

from mqlab import signals

SAMPLES = "source string, name string, labels map<string,string>, offset int, wall timestamp, value double, line long"


def _samples(spark, rows):
    frame = spark.createDataFrame(rows, SAMPLES.replace("wall timestamp", "wall string"))
    return frame.selectExpr("source", "name", "labels", "offset", "CAST(wall AS TIMESTAMP) AS wall", "value", "line")


def test_series_hold_their_points_by_time_and_unknown_names_stay_behind(spark):
    rows = [
        ("s", "node_network_receive_bytes_total", {"device": "eth0"}, 0, "2026-11-21 12:00:10", 5.0, None),
        ("s", "node_network_receive_bytes_total", {"device": "eth0"}, 0, "2026-11-21 12:00:00", 3.0, None),
        ("s", "app.received", {}, None, "2026-11-21 12:00:00", 7.0, 4),
        ("s", "something_nobody_knows", {}, 0, "2026-11-21 12:00:00", 1.0, None),
    ]
    found = signals.series(_samples(spark, rows)).sort("name").collect()
    assert [(r["name"], r["labels"], [(p["value"], p["line"]) for p in r["points"]]) for r in found] == [
        ("app.received", "{}", [(7.0, 4)]),
        ("node_network_receive_bytes_total", '{"device":"eth0"}', [(3.0, None), (5.0, None)]),
    ]


def test_a_setting_that_repeats_the_value_printed_before_is_dropped(spark):
    schema = (
        "source string, line long, text string, scope string, owner string, key string, value string, origin string, "
        "version string, offset int, wall timestamp"
    )
    rows = [
        ("s", n, "t", "producer", "p", "acks", value, "printed", None, None, None)
        for n, value in enumerate(["1", "1", "all", "1"], 1)
    ]
    kept = signals.settings(spark.createDataFrame(rows, schema)).sort("line").collect()
    assert [(r["line"], r["value"]) for r in kept] == [(1, "1"), (3, "all"), (4, "1")]


def test_events_of_one_actor_within_ten_seconds_are_one_episode(spark):
    who = "kind string, source string, system string, node string, client_id string, `group` string, topic string"
    rest = "queue string, peer string, reason string, offset int, at string, value double, line long, text string"
    rows = [
        (
            "batch-split",
            "s",
            "kafka",
            None,
            "p",
            None,
            "t",
            "0",
            None,
            None,
            None,
            f"2026-11-21 12:00:0{n}",
            3.0,
            n,
            "x",
        )
        for n in range(1, 6)
    ]
    frame = spark.createDataFrame(rows, f"{who}, {rest}").selectExpr("*", "CAST(at AS TIMESTAMP) AS wall")
    (found,) = signals.episodes(frame).collect()
    assert (found["count"], found["first"]["line"], found["last"]["line"], found["value_min"]) == (5, 1, 5, 3.0)
