"""mosquitto's access rules: order, deny, patterns, clients without a user."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mosquitto import BOTH, DENY, READ, WRITE, AccessRule, allowed

LEVELS = st.lists(st.sampled_from(["a", "b", "$SYS"]), min_size=1, max_size=3).map("/".join)
RULES = st.lists(
    st.builds(
        AccessRule,
        st.sampled_from([None, "agent", "ops"]),
        st.sampled_from([READ, WRITE, BOTH, DENY]),
        st.sampled_from(["a/#", "#", "+/b", "a", "$SYS/#", "b/%u", "b/%c"]),
        st.booleans(),
    ),
    max_size=6,
)
SITE = (
    AccessRule("historian", READ, "site/#"),
    AccessRule("agent", WRITE, "site/a/+/metrics"),
    AccessRule("agent", WRITE, "site/b/+/status"),
)


@pytest.mark.parametrize(
    ("access", "topic", "user", "does"),
    [
        (WRITE, "site/a/m1/metrics", "agent", True),
        (WRITE, "site/b/m1/metrics", "agent", False),
        (READ, "site/b/m1/status", "agent", False),
        (READ, "site/b/m1/metrics", "historian", True),
        (WRITE, "site/b/m1/status", None, False),
        (WRITE, "site/b/m1/status", "stranger", False),
    ],
)
def test_what_no_rule_allows_is_denied(access, topic, user, does):
    assert allowed(SITE, access, topic, user, "c1") is does


def test_a_rule_that_denies_wins_wherever_it_stands():
    rules = (AccessRule("u", BOTH, "a/#"), AccessRule("u", DENY, "a/secret"))
    assert allowed(rules, READ, "a/open", "u", "c")
    assert not allowed(rules, READ, "a/secret", "u", "c")
    assert not allowed((*rules, AccessRule(None, BOTH, "#", pattern=True)), READ, "a/secret", "u", "c")


def test_rules_above_the_first_user_are_for_clients_without_one():
    rules = (AccessRule(None, READ, "public/#"),)
    assert allowed(rules, READ, "public/x", None, "c")
    assert not allowed(rules, READ, "public/x", "agent", "c")


def test_patterns_hold_for_everybody_with_their_own_names():
    rules = (AccessRule(None, BOTH, "users/%u/%c/#", pattern=True),)
    assert allowed(rules, WRITE, "users/eve/c7/x", "eve", "c7")
    assert not allowed(rules, WRITE, "users/adam/c7/x", "eve", "c7")
    assert not allowed(rules, WRITE, "users//c7/x", None, "c7")
    assert not allowed((AccessRule(None, BOTH, "%c/x", pattern=True),), WRITE, "+/x", None, "+")


def test_what_a_user_name_holds_is_not_replaced_again():
    rules = (AccessRule(None, BOTH, "u/%u", pattern=True),)
    assert allowed(rules, WRITE, "u/%c", "%c", "c7")
    assert not allowed(rules, WRITE, "u/c7", "%c", "c7")


def test_system_topics_need_a_rule_that_names_them():
    assert not allowed((AccessRule("ops", READ, "#"),), READ, "$SYS/broker/uptime", "ops", "c")
    assert allowed((AccessRule("ops", READ, "$SYS/#"),), READ, "$SYS/broker/uptime", "ops", "c")


@given(RULES, st.sampled_from([READ, WRITE]), LEVELS, st.sampled_from([None, "agent", "nobody"]))
def test_a_rule_that_denies_all_leaves_nothing_and_one_that_allows_all_of_it_nothing_out(rules, access, topic, user):
    own = AccessRule(user, DENY, topic)
    assert not allowed([*rules, own], access, topic, user, "c")
    without = [r for r in rules if r.access != DENY]
    assert allowed([*without, AccessRule(user, BOTH, topic)], access, topic, user, "c")
    assert allowed(without, access, topic, user, "c") >= allowed(rules, access, topic, user, "c")
