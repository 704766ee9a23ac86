"""Thinning: what leaves Spark is small and complete."""

import polars as pl

from mqlab.thinning import tables

SECOND = 1_000_000
"""Microseconds."""
NOON = 1_795_262_400 * SECOND
"""2026-11-21 12:00:00 UTC."""


def test_series_hold_their_points_by_time_and_unknown_names_stay_behind():
    received, device = "node_network_receive_bytes_total", '{"device":"eth0"}'
    samples = pl.DataFrame(
        [
            ("s", received, device, 0, NOON + 10 * SECOND, 5.0, None),
            ("s", received, device, 0, NOON, 3.0, None),
            ("s", received, device, 0, NOON, None, None),
            ("s", "app.received", "{}", None, NOON, 7.0, 4),
            ("s", "something_nobody_knows", "{}", 0, NOON, 1.0, None),
        ],
        {"source": str, "name": str, "series": str, "offset": int, "wall": int, "value": float, "line": int},
        orient="row",
    )
    assert tables.series(samples).sort("name").to_dicts() == [
        {"source": "s", "name": "app.received", "labels": "{}", "offset": None, "points": [
            {"at": NOON, "value": 7.0, "line": 4}]},
        {"source": "s", "name": received, "labels": device, "offset": 0, "points": [
            {"at": NOON, "value": 3.0, "line": None}, {"at": NOON + 10 * SECOND, "value": 5.0, "line": None}]},
    ]  # fmt: skip


def test_a_setting_that_repeats_the_value_printed_before_is_dropped():
    known = {"source": "s", "text": "t", "scope": "producer", "owner": "p", "key": "acks", "origin": "printed"}
    undated = {"version": None, "offset": None, "wall": None}
    printed = pl.DataFrame(
        [known | undated | {"line": n, "value": value} for n, value in enumerate(["1", "1", "all", "1", None, ""], 1)]
    )
    kept = tables.changed(printed).sort("line")
    assert kept.select("line", "value").rows() == [(1, "1"), (3, "all"), (4, "1"), (5, None)]


def _happened(kind, lines, values=None):
    """Events a second apart, of which line 5 stands for seven."""
    known = {"kind": kind, "source": "s", "system": "kafka", "client_id": "p", "topic": "t", "queue": "0",
             "member_id": "m", "text": "x"}  # fmt: skip
    unknown = dict.fromkeys(("node", "group", "peer", "reason", "offset"))
    return pl.DataFrame(
        [
            known | unknown | {"wall": NOON + n * SECOND, "line": n, "value": (values or {}).get(n, 3.0),
                               "lines": 7 if n == 5 else None}
            for n in lines
        ],
        schema_overrides={**dict.fromkeys(unknown, pl.String), "offset": pl.Int32, "lines": pl.Int64},
    )  # fmt: skip


def test_events_of_one_actor_within_ten_seconds_are_one_episode_of_all_the_lines_they_stand_for():
    (found,) = tables.episodes(_happened("batch-split", (5, 2, 1, 4, 3))).to_dicts()
    assert (found["count"], found["member_id"], found["value_min"], found["value_max"]) == (11, "m", 3.0, 3.0)
    assert (found["first"], found["last"]) == ({"line": 1, "text": "x"}, {"line": 5, "text": "x"})
    assert (found["first_at"], found["last_at"]) == (NOON + SECOND, NOON + 5 * SECOND)


def test_of_the_life_of_a_group_every_line_is_an_episode():
    found = tables.episodes(_happened("poll-timeout", (3, 4, 5))).sort("first_at").to_dicts()
    assert [(e["first"]["line"], e["last"]["line"], e["count"]) for e in found] == [(3, 3, 1), (4, 4, 1), (5, 5, 7)]


def test_of_a_collectors_pauses_only_short_ones_share_an_episode():
    pauses = _happened("gc-pause", range(1, 5), {1: 0.025, 2: 0.05, 3: 0.075, 4: 0.1})
    found = tables.episodes(pauses).sort("first_at").to_dicts()
    assert [(r["first"]["line"], r["count"], r["value_max"]) for r in found] == [(1, 3, 0.075), (4, 1, 0.1)]


LOG, OTHER = "Ln0000001.application-log.-.app.log.txt", "Tn0000002.kafka-get-offsets.-.offsets.txt"


def _counted(line, minute, shape, lines, size, level="ERROR", file=LOG, *, kept=False):
    return {"source": file, "line": line, "minute": minute, "level": level if minute else None, "shape": shape,
            "lines": lines, "bytes": size, "kept": kept}  # fmt: skip


def _rows(*rows):
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("minute", "level", "shape"), pl.String))


def _grown(*rows):
    """(whole, level, shape, lines, bytes, minutes) of each row, the whole log first."""
    told = [
        (r["whole"], r["level"], r["shape"], r["lines"], r["bytes"], [tuple(m.values()) for m in r["minutes"]])
        for r in tables.volumes(_rows(*rows)).to_dicts()
    ]
    return sorted(told, key=lambda t: (not t[0], -t[4], t[2] or ""))


def test_a_log_is_told_minute_by_minute_and_so_are_its_shapes():
    assert _grown(
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


def test_lines_that_are_kept_carry_bytes_too():
    minute, shape = "2026-11-21 12:00", "WARN send failed, attempt #"
    whole, told = _grown(
        _counted(1, minute, shape, 1, 600_000, "WARN", kept=True), _counted(2, minute, shape, 1, 500_000, "WARN")
    )
    assert whole[3:] == (2, 1_100_000, [(minute, 1, 2, 1_100_000)])
    assert told == (False, "WARN", shape, 2, 1_100_000, whole[5])


def test_a_log_below_a_megabyte_tells_no_shapes():
    (whole,) = _grown(_counted(1, "2026-11-21 12:00", "tick", 10, 999_999, "INFO"))
    assert whole[:5] == (True, None, None, 10, 999_999)


def test_only_the_shapes_with_the_loudest_minutes_are_told():
    many = [_counted(n + 1, "2026-11-21 12:00", f"shape {n:02}", 1, 100_000 + n) for n in range(tables.MOST + 5)]
    late = _counted(900, "2026-11-21 12:09", "late", 1, 200_000)
    shapes = [told[2] for told in _grown(*many, late)[1:]]
    assert (len(shapes), shapes[0], "shape 00" in shapes) == (tables.MOST, "late", False)


def test_of_shapes_that_were_not_kept_the_most_frequent_and_all_that_warn_are_told():
    many = [_counted(n + 1, "2026-11-21 12:00", f"shape {n:03}", n + 2, 9, "INFO") for n in range(tables.SHAPES + 5)]
    rare = _counted(900, "2026-11-21 12:09", "rare", 1, 9, "WARN")
    twice = [_counted(line, "2026-11-21 12:01", "shape 304", 4, 9, "INFO") for line in (990, 980)]
    kept = _counted(1, "2026-11-21 12:00", "told elsewhere", 99, 9, "ERROR", kept=True)
    found = tables.shapes(_rows(*many, rare, *twice, kept)).to_dicts()
    names = [row["shape"] for row in found]
    assert (len(names), names[:2], "shape 006" in names, "shape 005" in names) == (
        300,
        ["rare", "shape 304"],
        True,
        False,
    )
    assert found[1] == {
        "source": LOG, "level": "INFO", "shape": "shape 304", "lines": 314, "bytes": 27, "line": 305,
        "first_minute": "2026-11-21 12:00", "last_minute": "2026-11-21 12:01",
    }  # fmt: skip


def test_of_lines_that_nobody_understands_the_first_is_shown_and_of_the_others_their_ends():
    known = {"source": LOG, "first_second": None, "last_second": None, "line": None, "text": None, "damage": None}
    rows = [
        {
            "class": "noise",
            "lines": 3,
            "bytes": 30,
            "first_second": "2026-11-21 12:02:30",
            "last_second": "2026-11-21 12:09:30",
        },
        {
            "class": "noise",
            "lines": 2,
            "bytes": 20,
            "first_second": "2026-11-21 12:00:30",
            "last_second": "2026-11-21 12:01:30",
        },
        {"class": None, "lines": 1, "bytes": 10, "line": 9, "text": "later"},
        {"class": None, "lines": 1, "bytes": 10, "line": 4, "text": "first"},
    ]
    told = tables.coverage(pl.DataFrame([known | row for row in rows], infer_schema_length=None))
    assert told.sort("class", nulls_last=True).to_dicts() == [
        {"source": LOG, "class": "noise", "lines": 5, "bytes": 50, "first_second": "2026-11-21 12:00:30",
         "last_second": "2026-11-21 12:09:30", "damage": None, "sample": None},
        {"source": LOG, "class": None, "lines": 2, "bytes": 20, "first_second": None, "last_second": None,
         "damage": None, "sample": {"line": 4, "text": "first"}},
    ]  # fmt: skip
