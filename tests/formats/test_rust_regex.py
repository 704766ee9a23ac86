"""Regexes that mean to Polars what they mean to Python."""

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats.values import rust

PATTERNS = [
    r"\d",
    r"\D",
    r"^\w+$",
    r"[^\w.-]",
    r"\s",
    r"[\s,]\S",
    r"\bab\b",
    r"\<a\>",
    r"\\d",
    r"^(?:\\.){0,500}$",
    r"[\d-]",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text(alphabet="ab1٣é\\.<> \u00a0\t,-d", max_size=8))
def test_they_find_the_same(pattern, text):
    found = re.search(pattern, text, re.ASCII)
    assert pl.Series([text]).str.extract(f"({rust(pattern)})").item() == (found and found[0])
