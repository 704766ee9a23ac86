"""Metrics: a window of Prometheus' history, and pages of exporters at every tick, as they are."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode, urlsplit

from mqlab.formats.exporters import is_known
from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import now, stamp
from mqlab.gather.schedule import RefusedError, Tick
from mqlab.gather.web import UNANSWERED, Web, shown

_MOST = 10_000
"""Samples of a series in one answer; Prometheus refuses more than 11,000."""
_ALWAYS = frozenset({"up", "process_start_time_seconds", "process_cpu_seconds_total"})


@dataclass(slots=True)
class Prometheus:
    """Asks for what mqlab knows: from *since* on at the first tick, and at the last for what came after that."""

    bundle: Bundle
    url: str
    """Base address; credentials in it, or a *token*, go into headers."""
    since: float
    """Epoch seconds."""
    match: str = ""
    """Labels that series must have, ``cluster="east"``."""
    also: str = ""
    """Regex of further names."""
    step: float = 15.0
    """Seconds."""
    token: str | None = field(default=None, repr=False)
    web: Web = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Nothing is connected yet."""
        self.web = Web(self.bundle.manifest)

    def __call__(self, tick: Tick) -> None:
        """Ask for the window where one is due."""
        if tick.first or tick.last:
            until = now()
            for name in self._names(until.timestamp()):
                self._window(name, until)
            self.since = until.timestamp()

    def _names(self, until: float) -> list[str]:
        with self.bundle.manifest.asking("Prometheus: names", *UNANSWERED):
            asked = {"start": self.since, "end": until} | ({"match[]": f"{{{self.match}}}"} if self.match else {})
            told = json.loads(self._got("label/__name__/values", asked))["data"]
            return [name for name in told if is_known(name) or name in _ALWAYS or self._also(name)]
        return []

    def _also(self, name: str) -> bool:
        return bool(self.also) and re.fullmatch(self.also, name) is not None

    def _window(self, name: str, until: datetime) -> None:
        end = until.timestamp()
        step = max(self.step, math.ceil((end - self.since) / _MOST))
        query = {"query": f"{name}{{{self.match}}}", "start": self.since, "end": end, "step": step}
        with self.bundle.manifest.asking("Prometheus: windows", *UNANSWERED):
            self.bundle.write(f"metrics/{name}.{stamp(until)}.json", self._got("query_range", query))

    def _got(self, path: str, query: Mapping[str, object]) -> str:
        return self.web.got(f"{self.url.rstrip('/')}/api/v1/{path}?{urlencode(query)}", self.token)


@dataclass(slots=True)
class Scrapes:
    """Reads the pages of exporters at every tick."""

    bundle: Bundle
    urls: Sequence[str]
    web: Web = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Nothing is connected yet."""
        self.web = Web(self.bundle.manifest)

    def __call__(self, tick: Tick) -> None:  # noqa: ARG002 - brokers that were asked before may have taken long
        """Write each page under its host's name and the moment at which it was read; drop those that are refused."""
        self.urls = [url for url in self.urls if self._is_left(url)]

    def _is_left(self, url: str) -> bool:
        try:
            self._read(url)
        except RefusedError as refused:
            self.bundle.manifest.failed(f"page {shown(url)}", str(refused))
            return False
        return True

    def _read(self, url: str) -> None:
        parts = urlsplit(shown(url))
        path = parts.path.strip("/").replace("/", "-")
        name = "-".join(filter(None, (parts.hostname, str(parts.port or ""), "" if path == "metrics" else path)))
        with self.bundle.manifest.asking(f"page {shown(url)}", *UNANSWERED):
            at = stamp(now())
            self.bundle.write(f"metrics/{name}.{at}.prom", self.web.got(url))
