"""What brokers of the lab have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqlab.lab.processes import Command

Settings = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A broker as a scenario or ``lab up`` asks for it."""

    software: str
    """kafka, mosquitto, rocketmq or hivemq."""
    version: str
    nodes: int = 1
    name: str = ""
    """Tells brokers of one software apart; else the software."""
    settings: Settings = field(default_factory=dict)
    """Added to the broker's own configuration, in its own words."""
    metrics: bool = False
    """Whether a Prometheus exporter runs within it."""

    @property
    def label(self) -> str:
        """Its name, or its software."""
        return self.name or self.software


@dataclass(frozen=True, slots=True)
class Node:
    """One process of a broker."""

    name: str
    command: Command
    ready: Callable[[], bool]
    port: int
    metrics_port: int | None = None


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that can be started."""

    wanted: Wanted
    nodes: Sequence[Node]
    """In the order in which they start."""
    address: str
    """What clients connect to: ``127.0.0.1:17092,…``."""
    logs: Mapping[str, Path]
    """Logs by the name that they have in a capture."""
    configs: Mapping[str, Path]
    """Configuration files by the name that they have in a capture."""
    megabytes: float
    """Memory that all its processes take, as measured."""
    prepared: Sequence[Command] = ()
    """What runs once, before the first start: a storage that is formatted."""
    admin: Path | None = None
    """Its own program for those who look after it, where it has one: ``mqadmin``."""
