"""The kinds of loads and how each is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """How loads of a kind are started."""

    module: str | None = None
    """Python module."""
    main: str | None = None
    """Java class of ``mqlab/lab/java``."""
    against: str | None = None
    """Distribution that the class is compiled against, unless the load names another by ``client``."""


KINDS: Mapping[str, Kind] = {
    "kafka-producer": Kind("mqlab.lab.loads.kafka_producer"),
    "kafka-consumer": Kind("mqlab.lab.loads.kafka_consumer"),
    "mqtt-client": Kind("mqlab.lab.loads.mqtt_client"),
    "java-producer": Kind(main="Feeder", against="kafka-clients-3.9"),
    "rocketmq-producer": Kind(main="RocketFeeder", against="rocketmq-4.9"),
    "rocketmq-consumer": Kind(main="RocketWorker", against="rocketmq-4.9"),
}
