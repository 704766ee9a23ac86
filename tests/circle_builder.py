"""Two brokers that are bridged, drawn by hand: their settings, lines and counters, and messages that go round."""

from __future__ import annotations

from facts_builder import episode, ramp, series
from mqtt_mail import came, ledger

from mqlab.facts import Setting


def conf(broker, text):
    """A broker's settings: lines ``KEY VALUE``, those below ``bridge NAME`` belong to it."""
    owner, rows = None, []
    for number, line in enumerate(text.strip().splitlines(), 1):
        key, _, value = line.strip().partition(" ")
        rows.append(Setting(key, value, "broker", owner, "file", None, f"configs/{broker}.conf", number, line.strip()))
        owner = value if key == "bridge" else owner
    return tuple(rows)


def bridged(here, there, *topics):
    """The settings of *here* with one bridge to *there*."""
    lines = [f"bridge {here}-to-{there}", f"bridge.address {there}:1883", *(f"bridge.topic {t}" for t in topics)]
    return conf(here, "\n".join(lines))


def opened(here, there, when):
    """The bridge from *here* to *there* connects."""
    own = {"client_id": f"{here}-to-{there}", "system": "mqtt", "reason": f"{there}:1883"}
    return episode("bridge-connecting", when, f"logs/{here}.log", **own)


def taken(broker, *legs, start=0):
    """What a broker's counter tells, sampled every ten seconds."""
    source = f"metrics/{broker}.log"
    return series("mqtt.publish_received", ramp(*legs), start=start, source=source)


SENT = ledger("sensor", "\n".join(f"{10}:{n // 60:02}:{n % 60:02} 40 0 0 0 0" for n in range(0, 120, 10)), role="sent")
ROUND = ledger(
    "hall",
    """
    10:00:50  40    0     0     0 0
    10:01:00  2000  1980  9.5   0 0
    10:01:10  1900  1890  19.5  0 0
    10:01:20  1800  1795  29.5  0 0
    """,
)
CAME = came(
    """
    10:00:50  10:00:59  40  hall:1
    10:01:00  10:01:00  1   hall:844
    10:01:01  10:01:01  2   hall:300
    10:01:02  10:01:20  30  hall:150
    10:01:20  10:01:30  40
    """
)
OPENED = (opened("east", "west", 0), opened("west", "east", 60))
BOTH_WAYS = (bridged("east", "west", "s/# both 0"), bridged("west", "east", "s/# both 0"))
SWOLLEN = (taken("east", (6, 40), (6, 4000)), taken("west", (6, 40), (6, 3900)))
STEADY = (taken("east", (12, 40)), taken("west", (12, 40)))
