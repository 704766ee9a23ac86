"""Lines of logs as rows of LEDGER, between lines that are none; nothing kept too much."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import noted_lines, values
from mqlab.ledgers import log_shapes
from mqlab.ledgers.mapping import shape
from mqlab.sources import Envelope

NOON = "2026-11-22 12:00:0"


def paid(n):
    return f"{NOON}{n},123 INFO  [main] com.acme.Payer - paid PO-{n} (topic=payouts partition=1 offset={n}) in {n} ms"


LOGS = {
    "payer.log": [
        f"{NOON}0,001 INFO  [main] com.acme.Payer - consumer starting",
        *map(paid, range(4)),
        f"{NOON}5,000 WARN  [main] com.acme.Payer - cannot pay PO-5 (topic=payouts partition=1 offset=5)",
        f"{NOON}5,001 ERROR [main] com.acme.Payer - record payouts-1@5 failed, will retry",
        f"{NOON}6,000 INFO  [main] com.acme.Payer - committed payouts-1@6",
        f"{NOON}6,001 INFO  [main] com.acme.Payer - paid PO-7 (topic=payouts partition=1 offset=7) failed: late",
        f"{NOON}7,001 INFO  [main] com.acme.Payer - paid PO-8 (topic=payouts partition=1 offset=8) error=null",
        "",
        "\tat com.acme.Payer.main(Payer.java:1)",
    ],
    "shop-1.log": [
        f'time="2026-11-22T13:00:0{n}+01:00" level=info msg="record acked" topic=orders partition=0 offset={n} '
        f'key="a \\"{n}\\"" value="card 4111"'
        for n in range(4)
    ],
    "zap.json": [
        f'{{"level":"info","ts":179533920{n}.25,"msg":"sent","topic":"zapped","partition":2,"offset":{n},"key":"k{n}"}}'
        for n in range(4)
    ],
    "dockered.log": [f"acked docked-3@{n}" for n in range(4)],
    "wordy.log": [
        f"{NOON}{n},123 INFO handled Record(topic = words, partition = 0, offset = {n}, key = {'k' * 4000}{n}, "
        "value = my card is 4111, and more"
        for n in range(4)
    ],
    "sensor.log": [f"{NOON}{n},123 INFO sent topic=plant/1 id=s-{n} qos=1" for n in range(4)],
    "dotted.log": [f"22.11.2026 12:00:0{n} acked orders-0@{n}" for n in range(4)],
}  # fmt: skip


def kept(lines):
    """The lines as the log stage gives them, in an envelope whose clock goes on by the second from 12:00:00.5."""
    noon = values.instant("2026-11-22 12:00:00.5")
    clocks = [noon + n * values.MICRO for n in range(len(lines))]
    types = {"number": pl.Int64, "text": pl.String, "inner": pl.String, "clock": pl.Int64}
    return pl.DataFrame([range(1, len(lines) + 1), lines, lines, clocks], types)


def rows(name, envelope=Envelope.NONE):
    layout = log_shapes.layout(LOGS[name], name, envelope)
    return noted_lines.rows(layout, kept(LOGS[name])).to_dicts()


def facts(name, **options):
    fields = ("line", "role", "topic", "queue", "offset", "key")
    return [tuple(row[field] for field in fields) for row in rows(name, **options)]


def at(row):
    return datetime.fromtimestamp(row["at"] / values.MICRO, UTC)


def test_lines_of_one_shape_are_rows_and_all_others_are_none():
    assert facts("payer.log") == [
        *((n + 2, "processed", "payouts", "1", n, f"PO-{n}") for n in range(4)),
        (10, "processed", "payouts", "1", 8, "PO-8"),
    ]
    assert {(row["party"], row["told"]) for row in rows("payer.log")} == {("payer", "verb")}
    assert at(rows("payer.log")[0]) == datetime(2026, 11, 22, 12, 0, 0, 123_000, tzinfo=UTC)
    layout = log_shapes.layout(LOGS["payer.log"], "payer.log", Envelope.NONE)
    told = noted_lines.are_rows(layout, pl.Series(LOGS["payer.log"]))
    assert [n for n, is_row in enumerate(told, 1) if is_row] == [2, 3, 4, 5, 10]


def test_names_in_quotes_and_zones_are_read():
    assert facts("shop-1.log") == [(n + 1, "acked", "orders", "0", n, f'a \\"{n}\\"') for n in range(4)]
    assert at(rows("shop-1.log")[0]) == datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def test_objects_are_read_and_seconds_since_1970():
    assert facts("zap.json") == [(n + 1, "sent", "zapped", "2", n, f"k{n}") for n in range(4)]
    assert [row["at"] / values.MICRO for row in rows("zap.json")] == [1795339200.25 + n for n in range(4)]


def test_the_clock_of_an_envelope_dates_lines_that_have_none():
    assert facts("dockered.log", envelope=Envelope.DOCKER) == [
        (n + 1, "acked", "docked", "3", n, None) for n in range(4)
    ]
    told = rows("dockered.log", Envelope.DOCKER)
    assert at(told[1]) == datetime(2026, 11, 22, 12, 0, 1, 500_000, tzinfo=UTC)


def test_a_line_s_own_moment_counts_however_it_is_written():
    assert [at(row).second for row in rows("dotted.log")] == [0, 1, 2, 3]


def test_a_name_of_four_kilobytes_is_told_from_another_one_and_values_are_not_kept():
    told = rows("wordy.log")
    assert [(row["topic"], row["offset"]) for row in told] == [("words", n) for n in range(4)]
    assert {row["key"].partition(":")[0] for row in told} == {"4001"}
    assert all(row["text"].endswith(", value = …") for row in told)
    assert len({row["key"] for row in told}) == 4
    assert "4111" not in repr(told) + repr(rows("shop-1.log"))


def test_messages_of_mqtt_have_a_quality_of_service():
    told = rows("sensor.log")
    assert [(row["topic"], row["key"], row["qos"]) for row in told] == [("plant/1", f"s-{n}", 1) for n in range(4)]


def mapped(pattern, **fixed):
    return log_shapes.laid([shape(pattern, "processed", fixed)], "app", mqtt=False)


MAPPED = r"did (?P<key>\S+) from (?P<topic>[\w.-]+)/(?P<partition>\d+)/(?P<offset>\d+)"


@pytest.mark.parametrize("pattern", [MAPPED, MAPPED.replace(r"\S+)", r"(?:\S{1,999}){1,999})")])
def test_a_pattern_of_the_map_is_found_anywhere_whatever_rust_says_of_it(pattern):
    assert noted_lines._is_rust(pattern) == (pattern == MAPPED)
    lines = [f"{NOON}1 well, did 17 from orders/0/33 not bad", "did nothing", f"{NOON}2 did 18 from orders/0/34"]
    told = noted_lines.rows(mapped(pattern, group="g"), kept(lines)).to_dicts()
    assert [(row["line"], row["key"], row["topic"], row["queue"], row["offset"]) for row in told] == [
        (1, "17", "orders", "0", 33), (3, "18", "orders", "0", 34),
    ]  # fmt: skip
    assert {(row["told"], row["group"], row["role"], row["party"]) for row in told} == {
        ("map", "g", "processed", "app")
    }


def test_a_line_that_is_too_long_is_no_row():
    line = f"{NOON}1 did 17 from orders/0/33 "
    assert noted_lines.are_rows(mapped(MAPPED), pl.Series([line, line + "x" * 17_000])).to_list() == [True, False]


@given(st.lists(st.text(alphabet='paidPO-17 (topic=payouts}{"\\,\x00', max_size=60)))
def test_any_lines_are_read(texts):
    layout = log_shapes.layout(LOGS["payer.log"], "payer.log", Envelope.NONE)
    lines = [*texts, *(f"{paid(1)} {text}" for text in texts)]
    assert len(noted_lines.are_rows(layout, pl.Series(lines, dtype=pl.String))) == len(lines)
    noted_lines.rows(layout, kept([json.dumps(line) for line in lines] + lines))
