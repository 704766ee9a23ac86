"""Connections that a proxy ends because nothing was sent: a symptom with its reason, and no other's."""

from __future__ import annotations

import pytest
from facts_builder import facts, settings
from mqtt_builder import broker, client, clock

from mqlab.mqtt.flapping import idle
from mqlab.symptoms.unexplained import unexplained


def limit(value="20s", key="proxy_timeout"):
    text = f"at owner key value\n- 1883 {key} {value}"
    return settings(text, "lb.conf", scope="proxy", origin="file")


def gates(*names, life=20, how="closed", patience="k120"):
    """Quiet clients, each of which comes back a second after its connection ended."""
    rows = []
    for number, name in enumerate(names):
        for again in range(5):
            since = 36_000 + 3 * number + (life + 1) * again
            rows += [f"{clock(since)} {name} connected 10.0.0.9:{5000 + 10 * number + again} {patience} c1"]
            rows += [f"{clock(since + life)} {name} {how}"]
    return broker("\n".join(sorted(rows)))


def losses(*moments):
    """A log of several clients that does not name who lost a connection."""
    rows = ["10:00:00 configured id=N k120", "10:00:00 configured id=E k120"]
    return client("\n".join([*rows, *(f"{moment} lost - rc=7" for moment in moments)]), None, "clients/gates.log")


def told(*rows):
    return [symptom.text for symptom in unexplained(facts(*rows), ())]


AT_ENDS = ("10:00:20", "10:00:41", "10:01:02", "10:01:23.4")


def test_connections_that_end_after_a_configured_idle_limit_are_a_symptom_with_its_reason():
    assert told(gates("E", "N", "S", "W"), losses(*AT_ENDS), limit()) == [
        "10:00:20 UTC: connections of E, N, S and 1 more end after about 20.0 s, probably cut by the idle limit "
        "proxy_timeout 20s (lb.conf:1), below their keep-alive of 120 s"
    ]


def test_losses_at_other_moments_remain_a_symptom_of_their_own():
    elsewhere = losses("10:00:30", "10:00:51", "10:01:12")
    assert "10:00:30 UTC: connections lost, 3 times, first at clients/gates.log:3" in told(
        gates("E"), elsewhere, limit()
    )


def test_without_the_setting_the_reason_is_not_known():
    assert told(gates("E"), losses(*AT_ENDS)) == [
        "10:00:20 UTC: connections lost, 4 times, first at clients/gates.log:3"
    ]


@pytest.mark.parametrize(("value", "life"), [("20s", 21), ("20", 20), ("1m", 60), ("1500ms", 2)])
def test_a_limit_is_read_in_its_units_and_lives_in_whole_seconds(value, life):
    assert [len(one.clients) for one in idle(facts(gates("E", life=life), limit(value)))] == [1]


@pytest.mark.parametrize(
    ("setting", "lives"),
    [
        (limit("40s"), {}),
        (limit("18s"), {}),
        (limit("20s", "proxy_connect_timeout"), {}),
        (limit("soon"), {}),
        (limit(), {"how": "keep-alive"}),
        (limit(), {"how": "taken-over"}),
        (limit(), {"patience": "k15"}),
    ],
)
def test_other_limits_and_connections_that_silence_or_others_ended_are_none(setting, lives):
    assert idle(facts(gates("E", **lives), setting)) == ()
