"""Numbers and times read the same everywhere."""

from datetime import datetime, timedelta, timezone
from math import inf

import pytest

from mqlab import units
from mqlab.errors import BadTimeError
from mqlab.units import Interval, interval


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "0 B"),
        (812, "812 B"),
        (307_500, "308 kB"),
        (1_230_000, "1.23 MB"),
        (762_550_740, "763 MB"),
        (-1.03e7, "-10.3 MB"),
    ],
)
def test_a_size_has_three_significant_digits(amount, words):
    assert units.size(amount) == words


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("amplification_factor", 15.1038, "15.1×"),
        ("diverted_fraction", 0.3333, "33.3 %"),
        ("share_of_bytes", 0.97, "97.0 %"),
        ("excess_bytes", 658_042_000, "658 MB"),
        ("session_timeout_seconds", 45, "45.0 s"),
        ("drain_seconds", 7_300, "2.03 h"),
        ("split_count", 586, "586"),
        ("pending_records", 300_000_000, "300,000,000"),
    ],
)
def test_a_measure_is_shown_in_the_unit_of_its_name(name, value, words):
    assert units.measure(name, value) == words


def test_times_are_shown_in_utc():
    shanghai = datetime(2026, 11, 21, 20, 20, 44, tzinfo=timezone(timedelta(hours=8)))

    assert (units.clock(shanghai), units.stamp(shanghai), units.clock(None)) == ("12:20:44", "2026-11-21 12:20:44", "—")


def test_an_iso_time_has_milliseconds_only_where_there_are_any():
    assert units.iso(1795263644.201) == "2026-11-21T12:20:44.201Z"
    assert units.iso(1795263644.0) == "2026-11-21T12:20:44Z"


@pytest.mark.parametrize(
    "text", ["2026-11-21T12:20:44Z", "2026-11-21T20:20:44+08:00", "2026-11-21T12:20:44", 1795263644]
)
def test_a_written_moment_becomes_epoch_seconds(text):
    assert units.epoch(text) == 1795263644


def test_a_moment_that_cannot_be_read_is_refused():
    with pytest.raises(BadTimeError, match="teatime"):
        units.epoch("teatime")


def test_names_are_sorted_by_the_numbers_in_them():
    names = ["kafka-3.9", "kafka-3.10", "kafka-3.10.1", "kafka-4.1", "kafka-clients-2.8", "rocketmq"]
    assert sorted(set(names), key=units.by_number) == names


def test_one_is_no_plural_and_thousands_are_grouped():
    assert [units.counted(n, "time") for n in (0, 1, 4200)] == ["0 times", "1 time", "4,200 times"]


def test_short_times_are_milliseconds_until_a_second_is_full():
    assert [units.brief(s) for s in (0.0, 0.00042, 0.089, 0.9994, 1.0, 44.5)] == [
        "0 ms", "0.42 ms", "89.0 ms", "999 ms", "1.00 s", "44.5 s",
    ]  # fmt: skip


def test_an_interval_gives_its_bounds_where_they_read_otherwise():
    assert Interval(9, 10, inf).measures("drain_seconds") == {"drain_seconds": 10, "drain_seconds_low": 9}
    assert Interval(100, 100, 100.1).measures("drain_seconds") == {"drain_seconds": 100}
    assert interval({"bytes_in": 2e6, "bytes_in_low": 1e6}, "bytes_in") == Interval(1e6, 2e6, 2e6)


def test_a_value_is_within_its_bounds():
    assert Interval(0.0, 5.43e6, -23e6) == Interval(0.0, 5.43e6, 5.43e6)
