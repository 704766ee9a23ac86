"""Arithmetic of what a broker sends again: retained messages at each subscribe, unacknowledged ones at each connect.

A subscribe makes the broker send every retained message that matches (MQTT 3.1.1 §3.3.1.3; MQTT 5 §3.3.1.3, unless
retain handling says no). A session that comes back gets what it had not acknowledged, with the DUP flag (§4.4), which
is the in-flight window at most.
"""

from __future__ import annotations

MOSQUITTO = 20
"""``max_inflight_messages`` of mosquitto where nothing is set (mosquitto.conf(5))."""


def fits(retained: int, topics: int, subscribes: int) -> bool:
    """*subscribes* replays of *topics* make so many rows; one may be cut off at either end of the material."""
    return topics > 0 and abs(retained - topics * subscribes) <= topics


def most_again(connects: int, window: int) -> int | None:
    """Messages that can come again after so many connects; None where the window (0) has no limit."""
    return connects * window if window > 0 else None
