"""Versions of Apache Kafka, whoever packaged them, and what its clients and brokers do when nobody tells them.

Confluent counts its own releases; the table is its published one, "Confluent Platform and Apache Kafka
Compatibility" (docs.confluent.io, versions-interoperability).
Sources of defaults: ProducerConfig, ConsumerConfig and KafkaConfig at the release tags. KIP-62 (poll interval), KIP-91
(delivery timeout, endless retries), KIP-679 and KAFKA-13598 (idempotence), KIP-735 (session timeout), KIP-848
(group.consumer.*, group.protocol), KIP-1030 (linger).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import total_ordering
from typing import Final, NamedTuple

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?(?P<rest>[-.+_].*)?$", re.IGNORECASE)
_CONFLUENT = re.compile(r"-(ccs|ce|cp)", re.IGNORECASE)
_PRE_RELEASE = re.compile(r"[-.](rc|alpha|beta|snapshot)", re.IGNORECASE)

CONFLUENT_TO_APACHE: dict[tuple[int, int], tuple[int, ...]] = {
    (2, 0): (0, 9, 0),
    (3, 0): (0, 10, 0),
    (3, 1): (0, 10, 1),
    (3, 2): (0, 10, 2),
    (3, 3): (0, 11, 0),
    (4, 0): (1, 0),
    (4, 1): (1, 1),
    **{(5, minor): (2, minor) for minor in range(6)},
    (6, 0): (2, 6),
    (6, 1): (2, 7),
    (6, 2): (2, 8),
    **{(7, minor): (3, minor) for minor in range(10)},
    (8, 0): (4, 0),
    (8, 1): (4, 1),
}
"""Confluent Platform (major, minor) to the Apache Kafka release it is built from."""

_FIRST_OWN_MAJOR = 5
"""From this major on a bare number can only be Confluent's: Apache Kafka has not reached it."""


class _Order(NamedTuple):
    numbers: tuple[int, ...]
    released: bool


@total_ordering
class Version:
    """An Apache Kafka version; a pre-release sorts before its release."""

    __slots__ = ("_order",)

    def __init__(self, *numbers: int, released: bool = True) -> None:
        self._order = _Order((*numbers, 0, 0, 0, 0)[:4], released)

    @classmethod
    def parse(cls, text: str | None) -> Version | None:
        """Read what a client or broker prints; None where it is no version.

        Confluent's numbers become Apache's. The patch number stays Confluent's own: 5.3.1-ccs is read as 2.3.1.
        """
        match = _VERSION.match((text or "").strip())
        if match is None:
            return None
        numbers = tuple(int(number) for number in match.group(1, 2, 3, 4) if number is not None)
        rest = match["rest"] or ""
        if _CONFLUENT.match(rest) or numbers[0] >= _FIRST_OWN_MAJOR:
            numbers = (*CONFLUENT_TO_APACHE.get((numbers[0], numbers[1]), numbers[:2]), *numbers[2:])
        return cls(*numbers, released=_PRE_RELEASE.match(rest) is None)

    def __lt__(self, other: Version) -> bool:
        return self._order < other._order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._order == other._order

    def __hash__(self) -> int:
        return hash(self._order)

    def __str__(self) -> str:
        numbers = self._order.numbers if self._order.numbers[0] == 0 else self._order.numbers[:3]
        return ".".join(map(str, numbers)) + ("" if self._order.released else "-rc")

    def __repr__(self) -> str:
        return f"Version({self})"


_Steps = tuple[tuple[Version, str | None], ...]
"""(first version with this value, value), ascending; None where the setting does not exist."""

_MAX_INT: Final = "2147483647"


def _since(*steps: tuple[str, str | None]) -> _Steps:
    return tuple((Version(*map(int, first.split("."))), value) for first, value in steps)


_MESSAGE_LIMIT: Final = _since(("0.8", "1000012"), ("2.5", "1048588"))
_RANGE: Final = "org.apache.kafka.clients.consumer.RangeAssignor"
_COOPERATIVE: Final = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
_UNCLEAN: Final = _since(("0.8", "true"), ("0.11", "false"))

DEFAULTS: Final[Mapping[str, Mapping[str, _Steps]]] = {
    "producer": {
        "acks": _since(("0.8.2", "1"), ("3.0", "all")),
        "batch.size": _since(("0.8.2", "16384")),
        "buffer.memory": _since(("0.8.2", "33554432")),
        "compression.type": _since(("0.8.2", "none")),
        "delivery.timeout.ms": _since(("0.8.2", None), ("2.1", "120000")),
        "linger.ms": _since(("0.8.2", "0"), ("4.0", "5")),
        "max.block.ms": _since(("0.9", "60000")),
        "max.in.flight.requests.per.connection": _since(("0.8.2", "5")),
        "max.request.size": _since(("0.8.2", "1048576")),
        "request.timeout.ms": _since(("0.9", "30000")),
        "retries": _since(("0.8.2", "0"), ("2.1", _MAX_INT)),
        "retry.backoff.ms": _since(("0.8.2", "100")),
        # The default was declared true in 3.0.0 and 3.1.0, but had no effect there (KAFKA-13598).
        "enable.idempotence": _since(("0.11", "false"), ("3.0.1", "true"), ("3.1.0", "false"), ("3.1.1", "true")),
    },
    "consumer": {
        "auto.commit.interval.ms": _since(("0.9", "5000")),
        "auto.offset.reset": _since(("0.9", "latest")),
        "default.api.timeout.ms": _since(("0.9", None), ("2.0", "60000")),
        "enable.auto.commit": _since(("0.9", "true")),
        "group.protocol": _since(("0.9", None), ("3.7", "classic")),
        "heartbeat.interval.ms": _since(("0.9", "3000")),
        "max.partition.fetch.bytes": _since(("0.9", "1048576")),
        "max.poll.interval.ms": _since(("0.9", None), ("0.10.1", "300000")),
        "max.poll.records": _since(("0.9", None), ("0.10.0", _MAX_INT), ("0.10.1", "500")),
        # Cooperative only once every member has no range any more: the pair is eager (KIP-429, KIP-726).
        "partition.assignment.strategy": _since(("0.9", _RANGE), ("3.0", f"{_RANGE},{_COOPERATIVE}")),
        "request.timeout.ms": _since(("0.9", "40000"), ("0.10.1", "305000"), ("2.0", "30000")),
        "session.timeout.ms": _since(("0.9", "30000"), ("0.10.1", "10000"), ("3.0", "45000")),
    },
    "broker": {
        "broker.session.timeout.ms": _since(("2.8", "9000")),
        "group.consumer.heartbeat.interval.ms": _since(("0.8", None), ("3.7", "5000")),
        "group.consumer.max.heartbeat.interval.ms": _since(("0.8", None), ("3.7", "15000")),
        "group.consumer.max.session.timeout.ms": _since(("0.8", None), ("3.7", "60000")),
        "group.consumer.min.heartbeat.interval.ms": _since(("0.8", None), ("3.7", "5000")),
        "group.consumer.min.session.timeout.ms": _since(("0.8", None), ("3.7", "45000")),
        "group.consumer.session.timeout.ms": _since(("0.8", None), ("3.7", "45000")),
        "group.initial.rebalance.delay.ms": _since(("0.10.2", None), ("0.11", "3000")),
        "group.max.session.timeout.ms": _since(("0.10", "300000"), ("2.3", "1800000")),
        "group.min.session.timeout.ms": _since(("0.9", "6000")),
        "message.max.bytes": _MESSAGE_LIMIT,
        "min.insync.replicas": _since(("0.8.2", "1")),
        "offsets.retention.minutes": _since(("0.8.2", "1440"), ("2.0", "10080")),
        "replica.fetch.max.bytes": _since(("0.8", "1048576")),
        "replica.lag.time.max.ms": _since(("0.8", "10000"), ("2.5", "30000")),
        "socket.request.max.bytes": _since(("0.8", "104857600")),
        "unclean.leader.election.enable": _UNCLEAN,
        "zookeeper.session.timeout.ms": _since(("0.8", "6000"), ("2.5", "18000")),
    },
    "topic": {
        "max.message.bytes": _MESSAGE_LIMIT,
        "min.insync.replicas": _since(("0.8.2", "1")),
        "unclean.leader.election.enable": _UNCLEAN,
    },
}
"""Scope to key to its values by version. ``enable.idempotence`` is the effective value, not the declared one."""


def default(key: str, scope: str, version: Version | None) -> str | None:
    """Return the default of a setting; None where version or setting is unknown, or it does not exist yet.

    A setting whose default never changed has it for an unknown version too.
    """
    steps = DEFAULTS.get(scope, {}).get(key, ())
    if version is None:
        return steps[0][1] if len(steps) == 1 else None
    return next((value for first, value in reversed(steps) if first <= version), None)


def idempotence(settings: Mapping[str, str], version: Version | None) -> bool | None:
    """Whether the producer numbers its batches, so that the broker drops second copies; None where unknown.

    *settings* are the ones somebody set. An explicit acks other than all, no retries, or more than five requests in
    flight switch the default off without an error (KAFKA-13598, KIP-679), and contradict an explicit true.
    A printed block of 3.0.0 or 3.1.0 says true though it has no effect: leave out what nobody set.
    """
    declared = settings.get("enable.idempotence", default("enable.idempotence", "producer", version))
    if declared == "false" or (version is not None and version < Version(0, 11)) or _contradicts(settings):
        return False
    return True if declared == "true" else None


def _contradicts(settings: Mapping[str, str]) -> bool:
    in_flight = settings.get("max.in.flight.requests.per.connection", "5")
    return (
        settings.get("acks", "all") not in ("all", "-1")
        or settings.get("retries") == "0"
        or (in_flight.isdigit() and int(in_flight) > 5)
    )


def splits(version: Version | None) -> bool | None:
    """Whether the Java producer answers MESSAGE_TOO_LARGE by splitting the batch: since 0.11 (KIP-126)."""
    return None if version is None else version >= Version(0, 11)


def loops(version: Version | None) -> bool | None:
    """Whether a split can return the same batch for ever: 0.11 to 4.1.x (KAFKA-8350; 4.2.0 measured as first cured).

    The target of a split is batch.size, not the broker's limit. Apache/kafka#20358 halves a batch that was split.
    """
    return None if version is None else Version(0, 11) <= version < Version(4, 2)


def leaks(version: Version | None) -> bool | None:
    """Whether each split keeps one buffer for ever: 2.1.0 to 2.3.0 (KAFKA-8325, KAFKA-8202; cured in 2.3.1)."""
    return None if version is None else Version(2, 1) <= version < Version(2, 3, 1)


def has_delivery_timeout(version: Version | None) -> bool | None:
    """Whether delivery.timeout.ms bounds the life of a record: since 2.1 (KIP-91)."""
    return None if version is None else version >= Version(2, 1)
