"""Limits of session queues by broker and version: defaults, and the settings that change them."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.models.session_queue import NEWEST, OLDEST, Queue
from mqlab.models.versions import Version

_DEFAULTS = {
    "mosquitto": Queue(1000, 20, OLDEST),
    "emqx": Queue(1000, 32, NEWEST),
    "hivemq": Queue(1000, 10, None),
}
"""mosquitto.conf(5): max_queued_messages, max_inflight_messages; EMQX: max_mqueue_len, max_inflight; HiveMQ:
queued-messages max-queue-size, and the receive maximum of its clients, which is what it keeps in flight."""
_OLD_MOSQUITTO = 100
"""max_queued_messages up to 1.6."""
_LIMITS = (
    "max_queued_messages", "mqtt.max_mqueue_len", "max_mqueue_len", "zone.external.max_mqueue_len", "max-queue-size",
)  # fmt: skip
_INFLIGHT = ("max_inflight_messages", "mqtt.max_inflight", "max_inflight", "zone.external.max_inflight")
_STRATEGY = "strategy"
_KEEPS = {"discard": OLDEST, "discard-oldest": NEWEST}
"""HiveMQ's queued-messages strategy: discard refuses the new message (its default), discard-oldest the oldest."""
_ENDLESS = ("0", "infinity")


def queue(broker: str, version: Version | None, settings: Mapping[str, str]) -> Queue | None:
    """The queue of a session at *broker* with these *settings*; None where its defaults are not known.

    Settings by the broker's own keys; 0 and infinity are no limit. mosquitto 1.x holds 100 messages, 2.x 1000.
    """
    usual = _DEFAULTS.get(broker)
    if usual is None:
        return None
    limit = usual.limit
    if broker == "mosquitto" and version is not None and version < Version(2, 0):
        limit = _OLD_MOSQUITTO
    told = _first(_LIMITS, settings)
    keeps = usual.keeps or _KEEPS.get(settings.get(_STRATEGY, "discard"))
    return Queue(limit if told is None else _number(told, limit), _inflight(settings, usual.inflight), keeps)


def _inflight(settings: Mapping[str, str], usual: int) -> int:
    told = _first(_INFLIGHT, settings)
    return _number(told, usual) or usual if told is not None else usual


def _first(keys: tuple[str, ...], settings: Mapping[str, str]) -> str | None:
    return next((settings[key].strip() for key in keys if key in settings), None)


def _number(told: str, usual: int | None) -> int | None:
    if told in _ENDLESS:
        return None
    return int(told) if told.isdigit() else usual
