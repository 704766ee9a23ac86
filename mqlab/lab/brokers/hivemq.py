"""HiveMQ CE, from the embedded artifact: it wants an extension that lets clients in."""

from __future__ import annotations

from pathlib import Path

from mqlab.lab.brokers.base import Broker, Node, Wanted
from mqlab.lab.distributions import compiled, fetched, java
from mqlab.lab.home import Home
from mqlab.lab.processes import Command
from mqlab.lab.resources import LOOPBACK, listening

_MEGABYTES = 400.0


def broker(wanted: Wanted, home: Home, base: int) -> Broker:
    """One broker; *wanted*.settings are elements of ``<mqtt>`` and ``<restrictions>`` by their path."""
    distribution = fetched(f"hivemq-{wanted.version}", home.dist)
    own = home.work / wanted.label
    for folder in ("conf", "data", "extensions", "log"):
        (own / folder).mkdir(parents=True, exist_ok=True)
    config = own / "conf" / "config.xml"
    config.write_text(_config(base, wanted))
    logback = own / "conf" / "logback.xml"
    logback.write_text(_logback(own / "log"))
    classes = compiled("HiveLab", distribution)
    options = ["-Xmx384m", "-XX:+UseSerialGC", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    options.append(f"-Dlogback.configurationFile={logback}")
    path = f"{classes}:{distribution.class_path}"
    words = [java(), *options, "-cp", path, "HiveLab", str(own / "conf"), str(own / "data"), str(own / "extensions")]
    command = Command(wanted.label, words, own, own / "stdout.log", {"HIVEMQ_LOG_FOLDER": str(own / "log")})
    node = Node(wanted.label, command, lambda: listening(base), base)
    logs = {name: own / "log" / name for name in ("hivemq.log", "event.log")}
    return Broker(wanted, [node], f"{LOOPBACK}:{base}", logs, {"hivemq-config.xml": config}, _MEGABYTES)


def _config(port: int, wanted: Wanted) -> str:
    listener = f"<tcp-listener><port>{port}</port><bind-address>{LOOPBACK}</bind-address></tcp-listener>"
    extra = "".join(_element(path.split("."), value) for path, value in wanted.settings.items())
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n'
        f"<hivemq><listeners>{listener}</listeners><persistence><mode>in-memory</mode></persistence>"
        f"<anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>{extra}</hivemq>\n"
    )


def _element(path: list[str], value: object) -> str:
    inner = _element(path[1:], value) if path[1:] else str(value)
    return f"<{path[0]}>{inner}</{path[0]}>"


def _logback(log: Path) -> str:
    """The two files of the configuration that HiveMQ ships: its own words, and one line an event of a client."""
    names = (("hivemq", "%-30(%d %level)- %msg%n%ex"), ("event", "%-24(%d)- %msg%n%ex"))
    appenders = "".join(
        f'<appender name="{name}" class="ch.qos.logback.core.FileAppender"><file>{log / name}.log</file>'
        f"<encoder><pattern>{layout}</pattern></encoder></appender>"
        for name, layout in names
    )
    events = "".join(
        f'<logger name="event.{kind}" level="DEBUG" additivity="false"><appender-ref ref="event"/></logger>'
        for kind in ("client-connected", "client-disconnected", "message-dropped", "client-session-expired")
    )
    return f'<configuration>{appenders}{events}<root level="INFO"><appender-ref ref="hivemq"/></root></configuration>\n'
