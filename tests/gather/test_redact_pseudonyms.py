"""A pseudonym keeps length, order and shape of its name, and nothing that tells the name."""

import re
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.gather.redact_pseudonyms import Pseudonyms, can_change

KEY = b"owner"
WORDS = st.from_regex(r"[a-z]{2,9}([._-]([a-z]{1,6}|\d{1,3})){0,3}", fullmatch=True)
NAMES = st.lists(WORDS | st.from_regex(r"[A-Za-z0-9_-]{3,12}", fullmatch=True), min_size=1, max_size=20, unique=True)
ADDRESSES = st.lists(st.ip_addresses(v=4).map(str), min_size=1, max_size=20, unique=True)


def of(*names, key=KEY):
    return Pseudonyms(key, names).of


@given(NAMES)
def test_pseudonyms_are_as_long_and_in_the_same_order(names):
    drawn = of(*names)
    assert [len(drawn[name]) for name in names] == [len(name) for name in names]
    assert [drawn[name] for name in sorted(names)] == sorted(drawn.values())
    assert len(set(drawn.values())) == len(names)


@given(NAMES)
def test_signs_between_words_stay_where_they_are(names):
    assert [re.sub(r"[^\W_]", "a", other) for other in of(*names).values()] == [
        re.sub(r"[^\W_]", "a", name) for name in sorted(names)
    ]


@given(ADDRESSES)
def test_an_address_stays_one_and_sorts_as_before(addresses):
    drawn = of(*addresses)
    assert all(IPv4Address(other) for other in drawn.values())
    assert [drawn[name] for name in sorted(addresses)] == sorted(drawn.values())


@pytest.mark.parametrize(
    ("address", "shape"),
    [
        ("127.0.0.1", r"127\.0\.0\.1"),
        ("10.20.0.113", r"10\.20\.\d\.1\d\d"),
        ("172.17.0.2", r"172\.17\.\d\.\d"),
        ("192.168.122.15", r"192\.168\.122\.[1-9]\d"),
        ("203.0.113.9", r"203\.\d\.1\d\d\.\d"),
        ("2001:db8::1f", r"\d{4}:[a-f]{2}\d::\d[a-f]"),
        ("ip-10-20-0-7.internal", r"[a-z]{2}-10-20-\d-\d\.[a-z]{8}"),
        ("10.20.0.7@order-sync-1", r"10\.20\.\d\.\d@[a-z]{5}-[a-z]{4}-1"),
        ("8d1f6a52-07b4-4f0e-9a2c-d53be1a0c7f4", r"(?!8d1f)\d[a-f]\d[a-f].{4}-.{4}-.{4}-.{4}-.{12}"),
        ("862345001234567", r"(?!862345001234567)\d{15}"),
        ("meter-17", r"[a-z]{5}-17"),
        ("车间/温度", r"\w\w/\w\w"),
    ],
)
def test_the_shape_of_a_name_stays(address, shape):
    assert re.fullmatch(shape, of(address)[address])
    assert not can_change(address) or of(address)[address] != address


def test_names_that_begin_alike_have_pseudonyms_that_begin_alike():
    drawn = of("orders", "orders-dlq", "orders-eu", "%RETRY%orders")
    assert drawn["orders-dlq"].startswith(drawn["orders"] + "-")
    assert drawn["orders-eu"].startswith(drawn["orders"] + "-")


def test_the_same_key_gives_the_same_pseudonyms_and_another_one_others():
    names = ["billing", "payments", "10.20.30.40"]
    assert of(*names) == of(*reversed(names))
    assert set(of(*names).values()).isdisjoint(of(*names, key=b"another").values())


def test_no_pseudonym_is_another_name_or_a_word_to_avoid():
    names = [a + b for a in "abc" for b in "aeiou"]
    drawn = Pseudonyms(KEY, names, {"on", "of", "in"}).of
    assert {name for name, other in drawn.items() if name == other} == set()
