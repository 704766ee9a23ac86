"""Thinning: what leaves Spark is small and complete."""

from mqlab.thinning import episodes, series, settings, volumes

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
    found = series.series(_samples(spark, rows)).sort("name").collect()
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
    kept = settings.changed(spark.createDataFrame(rows, schema)).sort("line").collect()
    assert [(r["line"], r["value"]) for r in kept] == [(1, "1"), (3, "all"), (4, "1")]


WHO = "kind string, source string, system string, node string, client_id string, `group` string, topic string"
REST = "queue string, member_id string, peer string, reason string, offset int, at string, value double, line long"


def _happened(spark, kind, lines):
    """Events a second apart, of which line 5 stands for seven."""
    rows = [
        (kind, "s", "kafka", None, "p", None, "t", "0", "m", None, None, None, f"2026-11-21 12:00:0{n}", 3.0, n, "x")
        for n in lines
    ]
    return spark.createDataFrame(rows, f"{WHO}, {REST}, text string").selectExpr(
        "*", "CAST(at AS TIMESTAMP) AS wall", "if(line = 5, 7L, NULL) AS lines"
    )


def test_events_of_one_actor_within_ten_seconds_are_one_episode_of_all_the_lines_they_stand_for(spark):
    (found,) = episodes.episodes(_happened(spark, "batch-split", range(1, 6))).collect()
    assert (found["count"], found["first"]["line"], found["last"]["line"], found["value_min"]) == (11, 1, 5, 3.0)
    assert found["member_id"] == "m"


def test_of_the_life_of_a_group_every_line_is_an_episode(spark):
    found = episodes.episodes(_happened(spark, "poll-timeout", (3, 4, 5))).sort("bucket").collect()
    assert [(e["first"]["line"], e["last"]["line"], e["count"]) for e in found] == [(3, 3, 1), (4, 4, 1), (5, 5, 7)]


def test_of_a_collectors_pauses_only_short_ones_share_an_episode(spark):
    pauses = _happened(spark, "gc-pause", range(1, 5)).selectExpr("* EXCEPT (value)", "line / 40 AS value")
    found = episodes.episodes(pauses).sort("first.line").collect()
    assert [(r["first"]["line"], r["count"], r["value_max"]) for r in found] == [(1, 3, 0.075), (4, 1, 0.1)]


TAGGED = "tag string, file string, line long, minute string, level string, shape string, text string, inner string"
LOG, OTHER = "Ln0000001.application-log.-.app.log.txt", "Tn0000002.kafka-get-offsets.-.offsets.txt"


def _rows(spark, *rows):
    return spark.createDataFrame(rows, f"{TAGGED}, lines long, bytes long")


def _counted(line, minute, shape, lines, size, level="ERROR", file=LOG):
    return ("count", file, line, minute, level if minute else None, shape, None, None, lines, size)


def _grown(spark, *rows):
    """(whole, level, shape, lines, bytes, minutes) of each row, the whole log first."""
    found = volumes.volumes(_rows(spark, *rows)).collect()
    told = [
        (r["whole"], r["level"], r["shape"], r["lines"], r["bytes"], [tuple(m) for m in r["minutes"]]) for r in found
    ]
    return sorted(told, key=lambda t: (not t[0], -t[4], t[2] or ""))


def test_a_log_is_told_minute_by_minute_and_so_are_its_shapes(spark):
    assert _grown(
        spark,
        _counted(1, "2026-11-21 12:00", "tick", 10, 1_000, "INFO"),
        _counted(11, "2026-11-21 12:01", "failed #", 5_000, 1_000_000),
        _counted(400, "2026-11-21 12:01", "failed #", 5_000, 1_000_000),
        _counted(12, None, "\tat x", 200, 20_000),
        _counted(1, "2026-11-21 12:00", "a row", 9, 9_000_000, file=OTHER),
    ) == [
        (True, None, None, 10_210, 2_021_000, [
            (None, 12, 200, 20_000),
            ("2026-11-21 12:00", 1, 10, 1_000),
            ("2026-11-21 12:01", 11, 10_000, 2_000_000),
        ]),
        (False, "ERROR", "failed #", 10_000, 2_000_000, [("2026-11-21 12:01", 11, 10_000, 2_000_000)]),
        (False, "INFO", "tick", 10, 1_000, [("2026-11-21 12:00", 1, 10, 1_000)]),
    ]  # fmt: skip


def test_lines_that_are_kept_carry_bytes_too(spark):
    kept = [
        ("event", LOG, n, None, None, None, f"2026-11-21 12:00:0{n},000 WARN send failed, attempt {n}", None, 1, size)
        for n, size in ((1, 600_000), (2, 500_000))
    ]
    whole, shape = _grown(spark, *kept)
    assert whole[3:] == (2, 1_100_000, [("2026-11-21 12:00", 1, 2, 1_100_000)])
    assert shape == (False, "WARN", "WARN send failed, attempt #", 2, 1_100_000, whole[5])


def test_a_log_below_a_megabyte_tells_no_shapes(spark):
    (whole,) = _grown(spark, _counted(1, "2026-11-21 12:00", "tick", 10, 999_999, "INFO"))
    assert whole[:5] == (True, None, None, 10, 999_999)


def test_only_the_shapes_with_the_loudest_minutes_are_told(spark):
    many = [_counted(n + 1, "2026-11-21 12:00", f"shape {n:02}", 1, 100_000 + n) for n in range(volumes.MOST + 5)]
    late = _counted(900, "2026-11-21 12:09", "late", 1, 200_000)
    shapes = [told[2] for told in _grown(spark, *many, late)[1:]]
    assert (len(shapes), shapes[0], "shape 00" in shapes) == (volumes.MOST, "late", False)
