"""What lines print of a record's value is cut out of them, the facts of the message stay."""

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import ledger_rows
from mqlab.ledgers import words

CUT = [
    ('consumed orders-0@33 key=17 value={"card":"4111"}', "consumed orders-0@33 key=17 value={…}"),
    ('sent value="hello \\" world" topic=orders id=17', 'sent value="…" topic=orders id=17'),
    ("offset = 33, key = 17, value = hello world)", "offset = 33, key = 17, value = …"),
    ("got payload=secret words here, offset=33", "got payload=…, offset=33"),
    ('{"msg":"acked","value":{"a":{"b":"}"},"id":1},"offset":33}', '{"msg":"acked","value":{…},"offset":33}'),
    ('{"msg":"acked","message_body":"x","offset":33}', '{"msg":"acked","message_body":"…","offset":33}'),
    ("acked orders-0@33 data={{{deep}}} and more", "acked orders-0@33 data=…"),
    ("acked orders-0@33 value={not closed", "acked orders-0@33 value=…"),
    ("acked orders-0@33 key=17", "acked orders-0@33 key=17"),
    ("metadata=x stays, revalue=7 too", "metadata=x stays, revalue=7 too"),
]


@pytest.mark.parametrize(("line", "kept"), CUT)
def test_a_value_is_cut_out(line, kept):
    assert words.without(line) == kept


WORDS = st.sampled_from([" value=", ',"payload":', " key=", '"', "\\", "{", "}", "x", ", offset=", " ", "\u2028", "ä"])


@given(st.lists(st.lists(WORDS, max_size=20).map("".join)))
def test_columns_are_cut_as_single_lines_are(lines):
    told = [*(line for line, _ in CUT), *lines]
    assert ledger_rows.without_payload(pl.Series(told)).to_list() == [words.without(line) for line in told]


@given(st.text(alphabet="abc {}\"\\,=:'", max_size=40))
def test_nothing_of_a_value_in_quotes_is_left(value):
    quoted = re.sub(r'(["\\])', r"\\\1", f"<{value}>")
    assert words.without(f'acked value="{quoted}" offset=33') == 'acked value="…" offset=33'


@given(st.text(alphabet="xyz {}\"\\,=:'", max_size=40))
def test_nothing_of_a_value_at_the_end_is_left(value):
    assert "<" not in words.without(f"acked offset=33 payload=<{value}")
    assert words.without(f"acked offset=33 payload=<{value}").startswith("acked offset=33 payload=")
