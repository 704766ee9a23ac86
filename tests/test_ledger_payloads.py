"""What lines print of a record's value is cut out of them, the facts of the message stay."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.ledgers import payloads
from mqlab.loaders import noted_lines

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
    assert payloads.without(line) == kept


def test_spark_cuts_the_same(spark):
    rows = spark.createDataFrame([(line,) for line, _ in CUT], "line string")
    cut = [row[0] for row in rows.selectExpr(noted_lines.without_payload("line")).collect()]
    assert cut == [kept for _, kept in CUT]


@given(st.text(alphabet="abc {}\"\\,=:'", max_size=40))
def test_nothing_of_a_value_in_quotes_is_left(value):
    quoted = re.sub(r'(["\\])', r"\\\1", f"<{value}>")
    assert payloads.without(f'acked value="{quoted}" offset=33') == 'acked value="…" offset=33'


@given(st.text(alphabet="xyz {}\"\\,=:'", max_size=40))
def test_nothing_of_a_value_at_the_end_is_left(value):
    assert "<" not in payloads.without(f"acked offset=33 payload=<{value}")
    assert payloads.without(f"acked offset=33 payload=<{value}").startswith("acked offset=33 payload=")
