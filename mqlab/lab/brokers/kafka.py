"""Kafka: 2.8 with ZooKeeper, later ones with KRaft, each node broker and controller at once."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from uuid import NAMESPACE_DNS, uuid5

from mqlab.lab.brokers.base import Broker, Node, Settings, Wanted
from mqlab.lab.brokers.exporting import exporter
from mqlab.lab.distributions import Distribution, fetched, java
from mqlab.lab.home import Home
from mqlab.lab.processes import Command
from mqlab.lab.resources import LOOPBACK, listening

HEAP = 320
"""Megabytes of heap: a broker then takes some 400 MB (measured on 2.8.2, 3.9.1 and 4.1.1)."""
_NODE = 430.0
_ZOOKEEPER = 150.0
_CLUSTER = base64.urlsafe_b64encode(uuid5(NAMESPACE_DNS, "mqlab.lab").bytes).decode().rstrip("=")

_EXPORTED = """lowercaseOutputName: true
includeObjectNames: ["kafka.server:type=BrokerTopicMetrics,*", "kafka.server:type=ReplicaManager,*"]
rules:
- pattern: "kafka.server<type=(.+), name=(.+)PerSec, topic=(.+)><>Count"
  name: kafka_server_$1_$2_total
  type: COUNTER
  labels: {topic: "$3"}
- pattern: "kafka.server<type=(.+), name=(.+)PerSec><>Count"
  name: kafka_server_$1_$2_total
  type: COUNTER
- pattern: "kafka.server<type=(.+), name=([^,>]+)><>Value"
  name: kafka_server_$1_$2
  type: GAUGE
"""

_LOGS = ("server", "controller", "state-change", "log-cleaner")
_LAYOUT = "[%d] %p %m (%c)%n"
"""The layout of the configuration that Kafka ships."""
_LOGGERS = {
    "controller": ("kafka.controller", "org.apache.kafka.controller"),
    "state-change": ("state.change.logger",),
    "log-cleaner": ("kafka.log.LogCleaner", "org.apache.kafka.storage.internals.log.LogCleaner"),
}


def broker(wanted: Wanted, home: Home, base: int) -> Broker:
    """A cluster of *wanted*.nodes nodes, on ports from *base* on."""
    distribution = fetched(f"kafka-{wanted.version}", home.dist)
    kraft = wanted.version != "2.8"
    folder = home.work / wanted.label
    ports = [base + n for n in range(wanted.nodes)]
    nodes, configs, logs, prepared = [], {}, {}, []
    if not kraft:
        keeper = _zookeeper(distribution, folder, base + 90)
        nodes.append(keeper)
        configs["zookeeper.properties"] = folder / "zookeeper.properties"
    for number, port in enumerate(ports, start=1):
        own, name = folder / f"node-{number}", f"{wanted.label}-{number}"
        suffix = f"-{number}" if wanted.nodes > 1 else ""
        config = own / "server.properties"
        _write(
            config, _kraft(wanted, number, ports) if kraft else _with_zookeeper(wanted, number, port, base + 90), own
        )
        metrics = port + 50 if wanted.metrics else None
        nodes.append(_node(distribution, name, own, port, (exporter(home, own, _EXPORTED, metrics), metrics)))
        configs[f"server{suffix}.properties"] = config
        logs.update({f"{kind}{suffix}.log": own / "logs" / f"{kind}.log" for kind in _LOGS})
        if kraft:
            words = _java(distribution, own, ["-Xmx128m"], "kafka.tools.StorageTool")
            formatting = [*words, "format", "-t", _CLUSTER, "-c", str(config)]
            prepared.append(Command(f"{name}-format", formatting, own, own / "format.out"))
    return Broker(
        wanted,
        nodes,
        ",".join(f"{LOOPBACK}:{port}" for port in ports),
        logs,
        configs,
        _NODE * wanted.nodes + (0 if kraft else _ZOOKEEPER),
        prepared,
    )


def _java(distribution: Distribution, own: Path, options: list[str], main: str) -> list[str]:
    log4j = (
        f"-Dlog4j2.configurationFile={own / 'log4j2.properties'}"
        if distribution.name == "kafka-4.1"
        else f"-Dlog4j.configuration=file:{own / 'log4j.properties'}"
    )
    return [java(), *options, log4j, "-cp", distribution.class_path, main]


def _node(distribution: Distribution, name: str, own: Path, port: int, agent: tuple[list[str], int | None]) -> Node:
    _log4j(own, second=distribution.name == "kafka-4.1")
    options = [f"-Xmx{HEAP}m", f"-Xms{HEAP // 2}m", "-XX:+UseSerialGC", *agent[0]]
    words = [*_java(distribution, own, options, "kafka.Kafka"), str(own / "server.properties")]
    return Node(name, Command(name, words, own, own / "stdout.log"), lambda: listening(port), port, agent[1])


def _zookeeper(distribution: Distribution, folder: Path, port: int) -> Node:
    own, config = folder / "zookeeper", folder / "zookeeper.properties"
    _write(
        config,
        {"dataDir": str(own), "clientPort": port, "clientPortAddress": LOOPBACK, "admin.enableServer": "false"},
        folder,
    )
    _log4j(own, second=False)
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    words = [*_java(distribution, own, ["-Xmx96m", "-XX:+UseSerialGC"], main), str(config)]
    return Node("zookeeper", Command("zookeeper", words, own, own / "stdout.log"), lambda: listening(port), port)


def _common(wanted: Wanted) -> dict[str, str | int | float | bool]:
    copies = min(3, wanted.nodes)
    return {
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": 8,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": 1,
        "auto.create.topics.enable": False,
        "num.network.threads": 2,
        "num.io.threads": 4,
    }


def _kraft(wanted: Wanted, number: int, ports: list[int]) -> Settings:
    own = ports[number - 1]
    return {
        "process.roles": "broker,controller",
        "node.id": number,
        "listeners": f"PLAINTEXT://{LOOPBACK}:{own},CONTROLLER://{LOOPBACK}:{own + 20}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(f"{n}@{LOOPBACK}:{port + 20}" for n, port in enumerate(ports, start=1)),
        **_common(wanted),
        **wanted.settings,
    }


def _with_zookeeper(wanted: Wanted, number: int, port: int, keeper: int) -> Settings:
    return {
        "broker.id": number,
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "zookeeper.connect": f"{LOOPBACK}:{keeper}",
        **_common(wanted),
        **wanted.settings,
    }


def _write(path: Path, settings: Mapping[str, object], own: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    places = {"log.dirs": str(own / "data")} if path.name == "server.properties" else {}
    lines = [f"{key}={_word(value)}" for key, value in {**settings, **places}.items()]
    path.write_text("\n".join(lines) + "\n")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _log4j(own: Path, *, second: bool) -> None:
    """Write the logging configuration: files and loggers of the one that Kafka ships."""
    own.mkdir(parents=True, exist_ok=True)
    path = own / ("log4j2.properties" if second else "log4j.properties")
    path.write_text("\n".join(_second(own / "logs") if second else _first(own / "logs")) + "\n")


def _first(logs: Path) -> list[str]:
    lines = ["log4j.rootLogger=INFO, server"]
    for kind in _LOGS:
        lines += [
            f"log4j.appender.{kind}=org.apache.log4j.FileAppender",
            f"log4j.appender.{kind}.File={logs / kind}.log",
            f"log4j.appender.{kind}.layout=org.apache.log4j.PatternLayout",
            f"log4j.appender.{kind}.layout.ConversionPattern={_LAYOUT}",
        ]
    for kind, loggers in _LOGGERS.items():
        for logger in loggers:
            lines += [f"log4j.logger.{logger}=INFO, {kind}", f"log4j.additivity.{logger}=false"]
    return lines


def _second(logs: Path) -> list[str]:
    lines = ["rootLogger.level=INFO", "rootLogger.appenderRef.server.ref=server"]
    for kind in _LOGS:
        key = kind.replace("-", "")
        lines += [
            f"appender.{key}.type=File",
            f"appender.{key}.name={kind}",
            f"appender.{key}.fileName={logs / kind}.log",
            f"appender.{key}.layout.type=PatternLayout",
            f"appender.{key}.layout.pattern={_LAYOUT}",
        ]
    for kind, loggers in _LOGGERS.items():
        for n, logger in enumerate(loggers):
            key = f"{kind.replace('-', '')}{n}"
            lines += [
                f"logger.{key}.name={logger}",
                f"logger.{key}.level=INFO",
                f"logger.{key}.additivity=false",
                f"logger.{key}.appenderRef.own.ref={kind}",
            ]
    return lines
