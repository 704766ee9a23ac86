"""Bridges: which topics cross them under which name, and which come back for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mosquitto import Bridge, TopicRule, circles, topic_rule
from mqlab.models.mqtt import common, matches

LEVEL = st.sampled_from(["a", "b", "c"])
TOPICS = st.lists(LEVEL, min_size=1, max_size=4).map("/".join)
FILTERS = st.tuples(st.lists(st.one_of(LEVEL, st.just("+")), min_size=1, max_size=4), st.sampled_from(["", "/#"])).map(
    lambda made: "/".join(made[0]) + made[1]
)


def bridge(here, there, *lines):
    """A bridge that *here* opens to *there*, by its topic lines."""
    return Bridge(f"{here}-{there}", here, there, tuple(topic_rule(line) for line in lines))


def topics(*bridges):
    """What circulates over these bridges."""
    return sorted({circle.topics for circle in circles(bridges)})


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("sensors/# both 0", TopicRule("sensors/#", "both")),
        ("sensors/#", TopicRule("sensors/#", "out")),
        ('# in 1 "" site/a/', TopicRule("#", "in", "", "site/a/")),
        ("# out 1 here/ there/", TopicRule("#", "out", "here/", "there/")),
        ("# sideways 0", None),
        ("", None),
    ],
)
def test_a_topic_line_is_read_as_mosquitto_does(text, read):
    assert topic_rule(text) == read


def test_two_bridges_with_the_same_topics_in_both_directions_are_a_circle():
    assert topics(bridge("east", "west", "s/# both 0"), bridge("west", "east", "s/# both 0")) == ["s/#"]


def test_two_bridges_that_only_send_the_same_topics_are_a_circle():
    assert topics(bridge("east", "west", "# out 0"), bridge("west", "east", "s/+ out 0")) == ["s/+"]


def test_one_bridge_in_both_directions_is_none():
    assert topics(bridge("east", "west", "s/# both 0")) == []


def test_two_bridges_one_way_each_from_the_same_broker_are_a_circle():
    there, back = bridge("east", "west", "s/# out 0"), Bridge("second", "east", "west", (TopicRule("s/#", "in"),))
    assert topics(there, back) == ["s/#"]


@pytest.mark.parametrize(
    ("out", "back"),
    [
        ("up/# out 0", "down/# out 0"),
        ("s/# out 0", "s/# in 0"),
        ('s/# out 0 "" east/', 's/# out 0 "" west/'),
        ("data/# out 0 s/ east/", "data/# out 0 s/ west/"),
    ],
)
def test_disjoint_topics_one_direction_and_other_prefixes_are_no_circle(out, back):
    assert topics(bridge("east", "west", out), bridge("west", "east", back)) == []


def test_everything_with_a_prefix_that_is_added_each_time_is_a_circle():
    out, back = bridge("east", "west", '# out 0 "" east/'), bridge("west", "east", '# out 0 "" west/')
    assert topics(out, back) == ["west/east/#"]


def test_prefixes_that_are_taken_off_again_let_topics_come_back():
    out, back = bridge("east", "west", "s/# out 0 local/ far/"), bridge("west", "east", "s/# out 0 far/ local/")
    assert topics(out, back) == ["local/s/#"]


def test_two_bridges_of_one_name_are_two():
    out, back = (
        Bridge("link", "east", "west", (TopicRule("#", "out"),)),
        Bridge("link", "west", "east", (TopicRule("#", "out"),)),
    )
    assert topics(out, back) == ["#"]


def test_bridges_to_different_brokers_are_no_circle():
    assert topics(bridge("east", "west", "# both 0"), bridge("west", "north", "# both 0")) == []


@given(FILTERS, FILTERS, TOPICS)
def test_the_common_filter_matches_what_both_match(one, other, topic):
    both = common(one, other)
    assert (both is not None and matches(both, topic)) == (matches(one, topic) and matches(other, topic))


@given(FILTERS, FILTERS)
def test_what_two_filters_have_in_common_does_not_depend_on_their_order(one, other):
    assert (common(one, other) is None) == (common(other, one) is None)
