"""The Prometheus exporter within a JVM, asked for little: a whole scrape takes seconds, and then is a gap."""

from __future__ import annotations

from pathlib import Path

from mqlab.lab.distributions import fetched
from mqlab.lab.home import Home
from mqlab.lab.resources import LOOPBACK


def exporter(home: Home, folder: Path, rules: str, port: int | None) -> list[str]:
    """Options of the JVM that let the exporter answer at *port*; none without a port."""
    if port is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"jmx-exporter-{port}.yml"
    file.write_text(rules)
    jar = fetched("jmx-exporter", home.dist).jar("jmx_prometheus_javaagent")
    return [f"-javaagent:{jar}={LOOPBACK}:{port}:{file}"]
