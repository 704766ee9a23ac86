"""RocketMQ: a name server and one broker."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from mqlab.lab.brokers.base import Broker, Node, Wanted
from mqlab.lab.distributions import Distribution, fetched, java
from mqlab.lab.errors import LabError
from mqlab.lab.home import Home
from mqlab.lab.processes import Command
from mqlab.lab.resources import LOOPBACK, listening

_MEGABYTES = 650.0
_CLUSTER = "lab"
OPENED = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.nio", "sun.nio.ch", "jdk.internal.ref", "java.lang", "java.util")
] + [f"--add-exports=java.base/{package}=ALL-UNNAMED" for package in ("jdk.internal.ref", "sun.nio.ch")]
"""What RocketMQ reaches into from Java 17 on."""
_LOGS = {"namesrv": "RocketmqNamesrv", "broker": "RocketmqBroker", "tools": "RocketmqTools"}
_KEPT = ("broker.log", "namesrv.log", "lock.log", "watermark.log")


def broker(wanted: Wanted, home: Home, base: int) -> Broker:
    """Name server at *base*, broker at *base* + 11; the fast and the HA port lie around it."""
    distribution = fetched(f"rocketmq-{wanted.version}", home.dist)
    own = home.work / wanted.label
    (own / "conf").mkdir(parents=True, exist_ok=True)
    for kind in _LOGS:
        (own / "conf" / f"logback_{kind}.xml").write_text(_logback(own / "logs" / "rocketmqlogs" / f"{kind}.log"))
    names, config = own / "conf" / "namesrv.conf", own / "conf" / "broker.conf"
    names.write_text(f"listenPort={base}\nbindAddress={LOOPBACK}\n")
    settings = {
        "brokerClusterName": _CLUSTER,
        "brokerName": "broker-a",
        "brokerId": 0,
        "brokerIP1": LOOPBACK,
        "namesrvAddr": f"{LOOPBACK}:{base}",
        "listenPort": base + 11,
        "storePathRootDir": own / "store",
        "mapedFileSizeCommitLog": 64 << 20,
        "autoCreateTopicEnable": "true",
        "diskMaxUsedSpaceRatio": 98,
        **wanted.settings,
    }
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    env = {"ROCKETMQ_HOME": str(own), "NAMESRV_ADDR": f"{LOOPBACK}:{base}"}

    def node(name: str, main: str, file: Path, port: int, heap: int) -> Node:
        options = [*OPENED, f"-Xmx{heap}m", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=256m", f"-Duser.home={own}"]
        words = [java(), *options, "-cp", distribution.class_path, main, "-c", str(file)]
        return Node(name, Command(name, words, own, own / f"{name}.out", env), lambda: listening(port), port)

    nodes = [
        node("namesrv", "org.apache.rocketmq.namesrv.NamesrvStartup", names, base, 128),
        node(wanted.label, "org.apache.rocketmq.broker.BrokerStartup", config, base + 11, 384),
    ]
    logs = {name: own / "logs" / "rocketmqlogs" / name for name in _KEPT}
    configs = {"broker.conf": config, "namesrv.conf": names}
    admin = _mqadmin(own, distribution, env)
    return Broker(wanted, nodes, f"{LOOPBACK}:{base}", logs, configs, _MEGABYTES, admin=admin)


def _mqadmin(own: Path, distribution: Distribution, env: Mapping[str, str]) -> Path:
    """The program that RocketMQ ships as ``bin/mqadmin``."""
    program = own / "bin" / "mqadmin"
    program.parent.mkdir(exist_ok=True)
    options = [*OPENED, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Duser.home={own}"]
    main = "org.apache.rocketmq.tools.command.MQAdminStartup"
    words = [*(f"{key}={value}" for key, value in env.items()), java(), *options, "-cp", distribution.class_path, main]
    program.write_text(f'#!/bin/sh\nexec env {shlex.join(words)} "$@"\n')
    program.chmod(0o755)
    return program


def make_topics(broker: Broker, queues: Mapping[str, int]) -> None:
    """Create topics, each with so many *queues*.

    Raises:
        LabError: the broker refuses.
    """
    for topic, count in queues.items():
        asked = [str(broker.admin), "updateTopic", "-n", broker.address, "-c", _CLUSTER, "-t", topic]
        done = subprocess.run([*asked, "-r", str(count), "-w", str(count)], capture_output=True, text=True, check=False)
        if "create topic" not in done.stdout:
            raise LabError(f"The topic {topic} cannot be created: {(done.stdout + done.stderr).strip()[:300]}")


def _logback(log: Path) -> str:
    """Everything into one file, in the layout of the configuration that RocketMQ ships."""
    return (
        '<configuration><appender name="file" class="ch.qos.logback.core.FileAppender">'
        f"<file>{log}</file><encoder><pattern>%d{{yyy-MM-dd HH:mm:ss,GMT+8}} %p %t - %m%n</pattern></encoder>"
        '</appender><root level="INFO"><appender-ref ref="file"/></root></configuration>\n'
    )
