"""Moments as applications write them into ledgers."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import values
from mqlab.formats.ledger_rows import instants

NOON = values.instant("2026-11-21 12:00:00")


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1795262400811", 811_000), ("1795262400811042", 811_042), ("1795262400", 0), ("1795262400.811", 811_000),
        ("2026-11-21T12:00:00.811Z", 811_000), ("2026-11-21 13:00:00,811 +0100", 811_000),
        ("2026-11-21 10:30:00-01:30", 0), ("2026-11-21T12:00:00.123456789", 123_456),
        ("21.11.2026 12:00:00.8", 800_000),
        ("2026/11/21 12:00:00", 0), ("21/Nov/2026:13:00:00 +0100", 0), ("21/Nov/2026 12:00:00", 0),
        ("2026-11-21 12:00", 0), ("2026-11-21 12:00:00 UTC", 0), ("2026-11-21 7:00:00.5 America/New_York", 500_000),
    ],
)  # fmt: skip
def test_a_moment_is_read_however_it_is_written(text, micros):
    assert instants(pl.Series([text])).item() == NOON + micros


NONE = [
    "", "wat", "0000000000000", "17952624008", "9" * 30, "21/11/2026 12:00:00", "2026-02-30 12:00:00", "\x00",
    "2026-11-21T25:00:00Z", "2026-11-21T12:00:00 ../etc/passwd", "2026-11-21 12:00:00 Nowhere", "2026-13-45T99:99:99Z",
]  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_other_texts_are_none(text):
    assert instants(pl.Series([text])).item() is None


def test_moments_of_many_forms_may_stand_in_one_column():
    texts = ["1795262400811", None, "wat", "2026-11-21T12:00:00Z", "21.11.2026 12:00:00", "2026-11-21 12:00"]
    assert instants(pl.Series(texts)).to_list() == [NOON + 811_000, None, None, NOON, NOON, NOON]


@given(st.lists(st.one_of(st.none(), st.text(), st.datetimes().map(str), st.integers().map(str))))
def test_any_texts_are_read(texts):
    assert instants(pl.Series(texts, dtype=pl.String)).dtype == pl.Int64
