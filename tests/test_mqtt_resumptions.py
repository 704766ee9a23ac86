"""Who took up a kept session so often that messages may have come again, and what health needs then."""

import pytest
from facts_builder import facts, log
from mqtt_builder import broker

from mqlab import scope
from mqlab.detectors.base import CLEAR, Result
from mqlab.mqtt import sessions


def lives(many, session="c0", end="closed", **more):
    rows = [
        f"10:0{n}:05 store connected 10.0.0.7:{4000 + n} k30 {session}\n10:0{n}:55 store {end}" for n in range(many)
    ]
    return facts(broker("\n".join(["10:00:00 - starting", *rows]), **more))


@pytest.mark.parametrize(
    ("told", "never", "kept"),
    [
        (lives(1), True, False),
        (lives(2), True, False),
        (lives(3), False, True),
        (lives(3, "c1"), True, False),
        (lives(3, end="normal"), False, False),
        (lives(1, source="logs/emqx.log", form="emqx-log"), False, False),
        (facts(log("logs/mosquitto.log", "mosquitto-log")), False, False),
    ],
    ids=["one connect", "two", "three", "clean", "orderly", "a broker that resends by a timer", "no connection told"],
)
def test_messages_come_again_only_to_kept_sessions_that_are_taken_up_often(told, never, kept):
    assert (sessions.never(told), sessions.kept_often(told)) == (never, kept)


@pytest.mark.parametrize(("old", "never"), [("1.4.15", False), ("1.6.9", True), ("2.0.18", True)])
def test_mosquitto_before_1_5_resends_by_a_timer(old, never):
    rows = broker("10:00:05 store connected 10.0.0.7:4000 k30 c0\n10:01:00 store closed")
    start = broker("10:00:00 - starting")[0]
    first = type(start)(**{f: getattr(start, f) for f in start.__dataclass_fields__} | {"reason": old})
    assert sessions.never(facts(first, rows)) is never


def test_health_needs_the_messages_of_a_client_whose_connections_broke_often():
    results = dict.fromkeys(scope.RULES, CLEAR)
    unseen = results | {"redelivery-storm": Result(missing=("messages",))}
    assert scope.enough(lives(2), unseen)
    assert not scope.enough(lives(3), unseen)
    assert scope.enough(lives(3), results)
