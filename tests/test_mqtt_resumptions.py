"""Who took up a kept session so often that messages may have come again."""

import pytest
from facts_builder import facts, log
from mqtt_builder import broker

from mqlab.mqtt import redeliveries


def lives(many, session="c0", end="closed", **more):
    rows = [
        f"10:0{n}:05 store connected 10.0.0.7:{4000 + n} k30 {session}\n10:0{n}:55 store {end}" for n in range(many)
    ]
    return facts(broker("\n".join(["10:00:00 - starting", *rows]), **more))


@pytest.mark.parametrize(
    ("told", "never"),
    [
        (lives(1), True),
        (lives(2), True),
        (lives(3), False),
        (lives(3, "c1"), True),
        (lives(3, end="normal"), False),
        (lives(1, source="logs/emqx.log", form="emqx-log"), False),
        (facts(log("logs/mosquitto.log", "mosquitto-log")), False),
    ],
    ids=["one connect", "two", "three", "clean", "orderly", "a broker that resends by a timer", "no connection told"],
)
def test_messages_come_again_only_to_kept_sessions_that_are_taken_up_often(told, never):
    assert redeliveries.never(told) is never


@pytest.mark.parametrize(("old", "never"), [("1.4.15", False), ("1.6.9", True), ("2.0.18", True)])
def test_mosquitto_before_1_5_resends_by_a_timer(old, never):
    rows = broker("10:00:05 store connected 10.0.0.7:4000 k30 c0\n10:01:00 store closed")
    start = broker("10:00:00 - starting")[0]
    first = type(start)(**{f: getattr(start, f) for f in start.__dataclass_fields__} | {"reason": old})
    assert redeliveries.never(facts(first, rows)) is never
