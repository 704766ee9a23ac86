"""How a load becomes a process, and the settings that its machine would have had lying beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mqlab.lab.brokers.exporting import exporter
from mqlab.lab.brokers.rocketmq import OPENED
from mqlab.lab.distributions import compiled, fetched, java
from mqlab.lab.home import Home
from mqlab.lab.loads.registry import KINDS
from mqlab.lab.processes import Command
from mqlab.lab.scenario import Load

_KAFKA = {"kafka-producer": "producer", "kafka-consumer": "consumer", "java-producer": "producer"}

EXPORTED = """lowercaseOutputName: true
includeObjectNames: ["kafka.producer:type=producer-metrics,*"]
rules:
- pattern: "kafka.(producer|consumer)<type=(.+), client-id=(.+)><>([^:]+-total)"
  name: kafka_$1_$2_$4
  type: COUNTER
  labels: {client_id: "$3"}
- pattern: "kafka.(producer|consumer)<type=(.+), client-id=(.+)><>([^:]+)"
  name: kafka_$1_$2_$4
  type: GAUGE
  labels: {client_id: "$3"}
"""


def command_of(load: Load, address: str, folder: Path, home: Home, changed: Mapping[str, Any] | None = None) -> Command:
    """How *load* is started in the run that lies in *folder*; *changed* are options that a step gives it."""
    kind, options = KINDS[load.kind], {**load.options, **(changed or {})}
    told = folder / "loads" / f"{load.name}.json"
    told.parent.mkdir(exist_ok=True)
    clients = folder / "live" / "clients"
    book = {
        "name": load.name,
        "address": address,
        "options": options,
        "ledgers": str(clients),
        "facts": str(folder / "facts" / f"{load.name}.ndjson"),
    }
    told.write_text(json.dumps(book))
    if kind.module:
        words = [sys.executable, "-P", "-m", kind.module, str(told)]
    else:
        words = _java(kind.main or "", str(options.get("client_version") or kind.against), home, told, book)
    output = clients / f"{load.name}.log"
    return Command(load.name, words, folder, output, {"PYTHONUNBUFFERED": "1"}, speaks=True)


def prepare(load: Load, home: Home) -> None:
    """Fetch and compile what a load runs on, so that it starts at its time.

    Raises:
        LabError: Maven or a JDK is missing, or gives up.
    """
    kind = KINDS[load.kind]
    if kind.main:
        compiled(kind.main, fetched(str(load.options.get("client_version") or kind.against), home.dist))


def _java(main: str, against: str, home: Home, told: Path, book: Mapping[str, Any]) -> list[str]:
    """A JVM that gets its options as ``key=value``: nested ones, a client's own settings, as ``client.key=value``."""
    distribution = fetched(against, home.dist)
    classes = compiled(main, distribution)
    options = book["options"]
    flat = {key: value for key, value in options.items() if not isinstance(value, Mapping)}
    flat |= {f"client.{key}": value for key, value in options.get("client", {}).items()}
    flat |= {key: book[key] for key in ("name", "address", "ledgers", "facts")}
    logs = f"-Drocketmq.client.logRoot={book['ledgers']}/{book['name']}"
    opened = [*OPENED, logs] if main.startswith("Rocket") else []
    heap = f"-Xmx{options.get('heap', '256m')}"
    layout = f"-Dlog4j.configuration=file:{_log4j(classes)}"
    agent = exporter(home, told.parent, EXPORTED, options.get("metrics_port"))
    path = f"{classes}:{distribution.class_path}"
    words = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in flat.items()]
    return [
        java(),
        heap,
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        *opened,
        *agent,
        layout,
        "-cp",
        path,
        main,
        *words,
    ]


def _log4j(classes: Path) -> Path:
    """Logging of Java loads: all to standard output, in the layout that most applications have."""
    path = classes / "log4j.properties"
    path.write_text(
        "log4j.rootLogger=INFO, out\n"
        "log4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{1} - %m%n\n"
    )
    return path


def written_settings(load: Load, configs: Path) -> None:
    """Write a Kafka client's settings as its machine would have them: ``configs/NAME/consumer.properties``."""
    options = load.options
    role = _KAFKA.get(load.kind)
    if role is None:
        return
    own = {"client.id": load.name, **options.get("client", {})}
    if role == "consumer":
        own["group.id"] = options.get("group", "lab")
    if role == "producer" and "acks" in options:
        own["acks"] = options["acks"]
    folder = configs / load.name
    folder.mkdir(exist_ok=True)
    lines = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in own.items()]
    (folder / f"{role}.properties").write_text("\n".join(lines) + "\n")
