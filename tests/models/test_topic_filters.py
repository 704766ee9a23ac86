"""Topic filters: what they match, by the examples of the specification and by words that are put in for wildcards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import covers, matches, overlap, shared

LEVEL = st.sampled_from(["a", "b", "", "c d", "%c"])
TOPICS = st.lists(LEVEL, min_size=1, max_size=5).map("/".join).filter(bool)
FILTERS = st.tuples(
    st.lists(st.one_of(LEVEL, st.just("+")), min_size=1, max_size=4), st.sampled_from(["", "/#"])
).map(lambda made: "/".join(made[0]) + made[1]).filter(bool)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "topic", "does"),
    [
        ("sport/tennis/#", "sport/tennis", True),
        ("sport/tennis/#", "sport/tennis/player1/ranking", True),
        ("sport/#", "sports", False),
        ("sport/+", "sport", False),
        ("sport/+", "sport/", True),
        ("+", "/finance", False),
        ("+/+", "/finance", True),
        ("/+", "/finance", True),
        ("#", "a/b", True),
        ("#", "$SYS/broker/uptime", False),
        ("+/broker/uptime", "$SYS/broker/uptime", False),
        ("$SYS/#", "$SYS/broker/uptime", True),
        ("$share/app/edge/+/data", "edge/n1/data", True),
        ("$share/app/edge/+/data", "edge/n1/state", False),
        ("$share/app/#", "$SYS/broker/uptime", False),
        ("$queue/edge/#", "edge/n1", True),
        ("edge/n1", "edge/n1", True),
        ("edge/n1", "edge/n1/x", False),
    ],
)
def test_a_filter_matches_what_the_specification_says(name, topic, does):
    assert matches(name, topic) is does


@pytest.mark.parametrize(
    ("one", "other", "do"),
    [
        ("grid/+/power", "grid/n1/#", True),
        ("grid/+/power", "grid/n1/volt", False),
        ("grid/#", "grid", True),
        ("#", "$SYS/#", False),
        ("$SYS/#", "$SYS/broker/+", True),
        ("+/b", "a/+", True),
        ("a/b", "a/b/+", False),
        ("$share/g/a/#", "a/b", True),
    ],
)
def test_filters_overlap_where_a_topic_is_matched_by_both(one, other, do):
    assert overlap(one, other) is do
    assert overlap(other, one) is do


@given(FILTERS, FILTERS, TOPICS)
def test_two_filters_that_match_one_topic_overlap(one, other, topic):
    assert overlap(one, other) or not (matches(one, topic) and matches(other, topic))


@pytest.mark.parametrize(
    ("wide", "narrow", "does"),
    [
        ("grid/#", "grid/+/power", True),
        ("grid/+/power", "grid/n1/power", True),
        ("grid/+/power", "grid/n1/#", False),
        ("grid/n1/#", "grid/+/power", False),
        ("grid/#", "grid", True),
        ("grid/+", "grid/#", False),
        ("a/b", "a/b/c", False),
        ("#", "$SYS/#", False),
        ("$share/g/a/#", "a/b", True),
    ],
)
def test_a_filter_covers_another_where_it_matches_all_that_the_other_does(wide, narrow, does):
    assert covers(wide, narrow) is does


@given(FILTERS, FILTERS, TOPICS)
def test_no_topic_of_a_covered_filter_is_missed(wide, narrow, topic):
    assert not covers(wide, narrow) or matches(wide, topic) or not matches(narrow, topic)


@given(FILTERS, LEVEL)
def test_a_filter_matches_every_topic_that_is_made_of_it(name, word):
    topic = name.replace("+", word).removesuffix("/#")
    assert matches(name, topic)
    assert matches(name, name.replace("+", word).replace("#", "more")) is True
    assert matches(f"$share/g/{name}", topic) == matches(name, topic)


@given(TOPICS, TOPICS)
def test_a_filter_without_wildcards_matches_itself_alone(name, topic):
    assert matches(name, topic) is (name == topic)


@given(FILTERS)
def test_a_shared_filter_is_the_group_and_the_filter(name):
    assert shared(f"$share/group/{name}") == ("group", name)
    assert shared(f"x/{name}") == (None, f"x/{name}")
