"""One sampling of a Kafka cluster: what is asked in which order, and in which files it stands.

Committed offsets are read before the ends of partitions, so that no lag is below zero; the moment of both is that in
between, since a broker that is lost makes the questions before wait for it. Topics are written again when
they change, earliest offsets of the partitions whose log start has moved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from confluent_kafka import IsolationLevel
from confluent_kafka.admin import ClusterMetadata, OffsetSpec

from mqlab.gather import kafka_layouts as layouts
from mqlab.gather.bundle import Bundle
from mqlab.gather.kafka import Cluster, Groups, Offsets, Place, Settings
from mqlab.gather.manifest import stamp
from mqlab.gather.schedule import Tick

_SETTINGS_EVERY = 300.0
"""Seconds after which settings are asked for again: of all answers theirs is by far the largest."""
_SLOWLY = 60.0
"""The same for what moves slowly: brokers cut logs every five minutes, a transaction may last fifteen."""


@dataclass(slots=True)
class Sampling:
    """Asks a cluster at every tick."""

    cluster: Cluster
    bundle: Bundle
    asked_at: dict[str, float] = field(default_factory=dict)
    """When what is not asked at every tick was asked last."""
    shape: str = ""
    """What was last told of topics, without their settings."""
    starts: Offsets = field(default_factory=dict)

    def __call__(self, tick: Tick) -> None:
        """Ask everything once; where no broker answers, only that is noted."""
        begun = time.monotonic()
        metadata = self.cluster.metadata()
        if metadata is None:
            return
        self._tell(metadata)
        settings: Settings = {}
        if self._due("settings", _SLOWLY if tick.last else _SETTINGS_EVERY):
            settings = self.cluster.settings(metadata)
            self._write("configs-describe", layouts.configs_describe(settings), tick)
        # What topics were given is told only where it was asked for just now.
        shape = layouts.topics_describe(metadata, {})
        if settings or shape != self.shape:
            self.shape = shape
            self._write("topics-describe", layouts.topics_describe(metadata, settings), tick)
        groups = self.cluster.groups()
        if tick.first or tick.last:
            self.cluster.beyond()
        self._positions(metadata, groups, replace(tick, at=tick.at + timedelta(seconds=time.monotonic() - begun)))
        if tick.last:
            self.cluster.conclude()

    def _positions(self, metadata: ClusterMetadata, groups: Groups, tick: Tick) -> None:
        places = [
            (name, number)
            for name, topic in metadata.topics.items()
            for number, one in topic.partitions.items()
            if one.leader >= 0
        ]
        ends = self.cluster.offsets(places, OffsetSpec.latest(), "latest offsets")
        if groups.described:
            self._write("consumer-groups-state", layouts.groups_state(groups.described), tick)
            self._write("consumer-groups-members", layouts.groups_members(groups.described), tick)
            self._write("consumer-groups-describe", layouts.groups_describe(groups, ends), tick)
        self._write("get-offsets-latest", layouts.get_offsets(ends), tick)
        if tick.last or self._due("ends of logs", _SLOWLY):
            self._slowly(places, ends, tick)

    def _slowly(self, places: Sequence[Place], ends: Offsets, tick: Tick) -> None:
        latest, committed = OffsetSpec.latest(), IsolationLevel.READ_COMMITTED
        stable = self.cluster.offsets(places, latest, "last stable offsets", committed)
        self._write("open-transactions", layouts.open_transactions(ends, stable), tick)
        starts = self.cluster.offsets(places, OffsetSpec.earliest(), "earliest offsets")
        moved = {place: offset for place, offset in starts.items() if tick.last or self.starts.get(place) != offset}
        self._write("get-offsets-earliest", layouts.get_offsets(moved), tick)
        self.starts |= starts

    def _due(self, what: str, every: float) -> bool:
        """Whether it was asked so long ago, or never; then it is asked now."""
        at = time.monotonic()
        due = at - self.asked_at.get(what, -math.inf) >= every
        if due:
            self.asked_at[what] = at
        return due

    def _tell(self, metadata: ClusterMetadata) -> None:
        self.bundle.manifest.facts |= {
            "cluster_id": metadata.cluster_id,
            "brokers": {str(one.id): f"{one.host}:{one.port}" for one in metadata.brokers.values()},
            "controller_id": metadata.controller_id,
            "controller_note": "under KRaft brokers name any one of themselves",
            "topics": len(metadata.topics),
            "partitions": sum(len(topic.partitions) for topic in metadata.topics.values()),
        }

    def _write(self, layout: str, text: str, tick: Tick) -> None:
        if text:
            self.bundle.write(f"kafka/{layout}.{stamp(tick.at)}.txt", text)
