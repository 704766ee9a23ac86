"""Scenarios: small TOML files that say what runs, what goes wrong when, and what truly happens then.

::

    title = "A slow service: a poll of 300 records takes longer than max.poll.interval.ms"
    incident = "poll-interval-exceeded"     # what the diagnosis must say
    notebook = "03_rebalance_timeouts"
    seconds = 90

    [[brokers]]
    software = "kafka"
    version = "3.9"

    [[topics]]
    name = "documents"
    partitions = 6

    [[loads]]
    name = "indexer"                        # indexer-1, indexer-2
    kind = "kafka-consumer"
    count = 2
    group = "index"

    [[steps]]
    at = 20                                 # seconds
    do = "set"
    loads = ["indexer-1", "indexer-2"]
    work_ms = 80

    [numbers]                               # measure of the finding = what is counted in the loads' books
    duplicated_records = "handled-again"

What a table of a load or step has beyond the words below is that load's own; ``mqlab/lab/loads`` says what each knows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from mqlab.lab.brokers.base import Wanted
from mqlab.lab.brokers.naming import settled
from mqlab.lab.brokers.registry import BUILDERS
from mqlab.lab.errors import BadScenarioError

DEEDS = ("set", "start", "stop", "kill", "freeze", "thaw", "alter")


@dataclass(frozen=True, slots=True)
class Topic:
    """A Kafka topic that exists from the beginning."""

    name: str
    broker: str = "kafka"
    partitions: int = 1
    replicas: int = 1
    assignment: Sequence[Sequence[int]] = ()
    """Nodes of each partition, its first leader in front; else the cluster deals them out."""
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Load:
    """One client process."""

    name: str
    kind: str
    broker: str
    at: float
    """Seconds after which it starts; negative: by a step only."""
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to loads or nodes at a moment."""

    at: float
    do: str
    loads: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What runs, what goes wrong, what is expected."""

    name: str
    title: str
    incident: str
    notebook: str
    seconds: float
    brokers: tuple[Wanted, ...]
    topics: tuple[Topic, ...]
    loads: tuple[Load, ...]
    steps: tuple[Step, ...]
    also: tuple[str, ...] = ()
    """Classes that the diagnosis may name besides; any other warning is wrong."""
    looks_like: str | None = None
    """The class that this is not, though it looks like it."""
    numbers: Mapping[str, str] = field(default_factory=dict)
    """Counter in the loads' books by measure of the leading finding."""
    remedy: Mapping[str, Any] = field(default_factory=dict)
    """How the remedy that mqlab advises becomes options of loads."""
    metrics: bool = False
    every: float = 6.0
    """Seconds between two samples of groups and offsets."""


def shipped() -> dict[str, Path]:
    """Files of the scenarios that come with mqlab, by name."""
    folder = Path(str(files("mqlab.lab").joinpath("scenarios")))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def scenario(name: str) -> Scenario:
    """The shipped scenario of this name, or that of a file.

    Raises:
        BadScenarioError: there is none, or it cannot be used.
    """
    path = shipped().get(name, Path(name))
    if not path.is_file():
        raise BadScenarioError(name, f"it does not exist; use {', '.join(shipped())}, or give a file")
    try:
        return read(path.stem, tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadScenarioError(name, str(error)) from error
    except KeyError as error:
        raise BadScenarioError(name, f"{error.args[0]} is missing") from error
    except TypeError as error:
        raise BadScenarioError(name, str(error)) from error


def read(name: str, table: Mapping[str, Any]) -> Scenario:
    """The scenario that a table tells.

    Raises:
        BadScenarioError: a load, step or counter that does not exist.
        KeyError: something that every scenario says is missing.
    """
    from mqlab.lab.counting import COUNTERS
    from mqlab.lab.loads.registry import KINDS

    metrics = bool(table.get("metrics", False))
    brokers = tuple(_broker(one, metrics) for one in table["brokers"])
    loads = tuple(load for one in table["loads"] for load in _loads(one, brokers[0].label))
    found = Scenario(
        name=name,
        brokers=brokers,
        topics=tuple(Topic(**one) for one in table.get("topics", ())),
        loads=loads,
        steps=tuple(sorted((_step(one) for one in table.get("steps", ())), key=lambda step: step.at)),
        also=tuple(table.get("also", ())),
        **{key: table[key] for key in ("title", "incident", "notebook", "seconds")},
        **{key: table[key] for key in ("looks_like", "numbers", "remedy", "metrics", "every") if key in table},
    )
    unknown = set(table) - {f.name for f in fields(Scenario)}
    if unknown:
        raise BadScenarioError(name, f"unknown: {', '.join(sorted(unknown))}")
    _check(found, KINDS, COUNTERS)
    return found


def _broker(table: Mapping[str, Any], metrics: bool) -> Wanted:
    software = table["software"]
    version = settled(software, table.get("version", "")) if software in BUILDERS else ""
    return Wanted(**{"metrics": metrics and software == "kafka", **table, "version": version})


def _loads(table: Mapping[str, Any], first: str) -> list[Load]:
    """The load, or as many as it says, ``{n}`` being the number in each of its texts."""
    own = dict(table)
    name, kind, count = own.pop("name"), own.pop("kind"), own.pop("count", None)
    broker, at = own.pop("broker", first), float(own.pop("at", 0))
    if count is None:
        return [Load(name, kind, broker, at, own)]
    return [Load(f"{name}-{n}", kind, broker, at, _numbered(own, n)) for n in range(1, count + 1)]


def _numbered(value: Any, n: int) -> Any:
    if isinstance(value, str):
        return value.replace("{n}", str(n))
    if isinstance(value, dict):
        return {key: _numbered(one, n) for key, one in value.items()}
    return [_numbered(one, n) for one in value] if isinstance(value, list) else value


def _step(table: Mapping[str, Any]) -> Step:
    own = dict(table)
    at, do = float(own.pop("at")), own.pop("do")
    return Step(at, do, tuple(own.pop("loads", ())), tuple(own.pop("nodes", ())), own)


def _check(found: Scenario, kinds: Mapping[str, object], counters: Mapping[str, object]) -> None:
    """Raise BadScenarioError for names that nothing has."""
    labels, names = {b.label for b in found.brokers}, {load.name for load in found.loads}
    wrong = [
        *(f"no load of kind {load.kind}" for load in found.loads if load.kind not in kinds),
        *(f"no broker {load.broker}" for load in found.loads if load.broker not in labels),
        *(f"no broker {topic.broker}" for topic in found.topics if topic.broker not in labels),
        *(f"no software {broker.software}" for broker in found.brokers if broker.software not in BUILDERS),
        *(f"no step {step.do}" for step in found.steps if step.do not in DEEDS),
        *(f"no load {name}" for step in found.steps for name in step.loads if name not in names),
        *(f"nothing counts {counter}" for counter in found.numbers.values() if counter not in counters),
    ]
    if wrong:
        raise BadScenarioError(found.name, "; ".join(wrong))


def lasting(steps: Sequence[Step]) -> float:
    """Seconds until the last step."""
    return max((step.at for step in steps), default=0.0)
