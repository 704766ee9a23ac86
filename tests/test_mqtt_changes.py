"""What changed at an MQTT broker: starts, clients that come later, sessions that are left behind."""

import pytest
from facts_builder import at, facts
from mqtt_builder import broker

from mqlab.changes import changes

UPGRADE = """
10:00:00 - starting
10:00:02 old connected 10.0.0.1:1001 k30 c0
10:00:03 feed connected 10.0.0.2:1002 k30 c1
10:05:00 old normal
10:05:10 new connected 10.0.0.1:1003 k30 c0
"""


def told(text):
    return [(c.at - at(0), c.what, c.before, c.after, [e.line for e in c.evidence]) for c in changes(facts(text))]


def test_an_upgrade_leaves_a_session_behind_and_brings_another_client():
    assert told(broker(UPGRADE)) == [
        (300.0, "client old", "connected", "disconnected, its session is kept", [4]),
        (310.0, "client new", None, "connected", [5]),
    ]


@pytest.mark.parametrize(
    ("later", "starts"),
    [("", []), ("10:00:30 - stopping\n10:00:40 - starting", [40.0]), ("10:05:00 - starting", [300.0])],
    ids=["comes up", "starts again", "starts again without a stop"],
)
def test_a_start_before_which_nothing_was_seen_is_no_change(later, starts):
    assert [one[0] for one in told(broker(f"10:00:00 - starting\n{later}")) if one[3] == "starts"] == starts


SAME = UPGRADE.replace("10:05:10 new", "10:05:10 old").replace("10:00:00 - starting\n", "")


def test_a_client_that_left_in_good_order_and_is_back_as_after_a_restart_is_a_change():
    assert told(broker(SAME)) == [(300.0, "client old", "connected", "not connected until 10:05:10 UTC", [3, 4])]


@pytest.mark.parametrize(
    "text",
    [
        SAME.replace("normal", "closed"),
        SAME.replace("10:05:10", "10:09:10"),
        SAME.replace("10:00:02", "10:04:30"),
        SAME + "10:06:30 old normal\n10:06:31 old connected 10.0.0.1:1004 k30 c0\n"
        "10:08:00 old normal\n10:08:01 old connected 10.0.0.1:1005 k30 c0",
    ],
    ids=["was cut off", "stays away for long", "had come lately", "does so again and again"],
)
def test_who_is_there_from_the_start_and_who_comes_back_otherwise_are_no_change(text):
    assert [one for one in told(broker(text)) if one[2] == "connected"] == []


def test_a_crowd_that_comes_is_no_change_of_who_is_there():
    crowd = "\n".join(f"10:01:{n:02d} node-{n} connected 10.0.1.{n}:9 k30 c1" for n in range(20))
    assert told(broker(f"10:00:00 feed connected 10.0.0.2:1002 k30 c1\n{crowd}")) == []
