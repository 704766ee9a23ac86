"""What EMQX tells over its management API, 4.x and 5.x, with GET only: sessions, counters, alarms, rules.

Answers come in pages. Lists of clients may be long, so they are fetched once a minute at most; counters at every
sampling. Untried against EMQX itself: tested with recorded answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import stamp
from mqlab.gather.schedule import Tick
from mqlab.gather.web import UNANSWERED, StatusError, Web
from mqlab.units import by_number

_PAGE = 1000
"""Entries of a page: both versions give as many."""
_PAGES = 500
_LISTS_EVERY = 60.0
"""Seconds between two lists of all clients."""
_COUNTERS = ("metrics", "stats")
_LISTS = ("clients", "subscriptions")
_RARE: Mapping[int, tuple[str, ...]] = {
    4: ("nodes", "listeners", "alarms/activated", "alarms/deactivated", "banned", "rules"),
    5: ("nodes", "listeners", "alarms?activated=true", "alarms?activated=false", "banned", "rules"),
}


@dataclass(slots=True)
class Emqx:
    """Asks an EMQX cluster at every tick."""

    bundle: Bundle
    url: str
    """``http://key:secret@host:18083``, without ``/api``."""
    version: int | None = None
    listed_at: float = field(default=-_LISTS_EVERY)
    web: Web = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Nothing is connected yet."""
        self.web = Web(self.bundle.manifest)

    def __call__(self, tick: Tick) -> None:
        """Ask everything that is due; where no node answers, only that is noted."""
        self.version = self.version or self._version()
        if self.version is None:
            return
        for name in _COUNTERS:
            self._put(name, tick)
        if tick.first or tick.last or time.monotonic() - self.listed_at >= _LISTS_EVERY:
            self.listed_at = time.monotonic()
            for name in _LISTS:
                self._paged(name, tick)
        if tick.first or tick.last:
            for name in _RARE[self.version]:
                self._paged(name, tick) if name in ("banned", "rules") else self._put(name, tick)

    def _version(self) -> int | None:
        """5, else 4 where only the older address is known."""
        for version in (5, 4):
            with self.bundle.manifest.asking("version of EMQX", *UNANSWERED):
                try:
                    nodes = json.loads(self._got(version, "nodes"))
                except StatusError as error:
                    if error.status != 404 or version == 4:
                        raise
                    continue
                listed = nodes.get("data", []) if isinstance(nodes, dict) else nodes
                self.bundle.manifest.facts["EMQX"] = sorted(
                    {str(node.get("version")) for node in listed}, key=by_number
                )
                return version
            return None
        return None

    def _got(self, version: int, what: str) -> str:
        return self.web.got(f"{self.url.rstrip('/')}/api/v{version}/{what}")

    def _put(self, what: str, tick: Tick) -> None:
        name = what.replace("/", "-").replace("?activated=", "-activated-")
        with self.bundle.manifest.asking(f"EMQX {what}", *UNANSWERED):
            self._write(name, self._got(self.version or 5, what), tick)

    def _paged(self, what: str, tick: Tick) -> None:
        with self.bundle.manifest.asking(f"EMQX {what}", *UNANSWERED):
            for number, (text, entries) in enumerate(self._pages(what), start=1):
                if what == "rules" and self.version == 5:
                    text = json.dumps({"data": [self._with_metrics(entry) for entry in entries]}, ensure_ascii=False)
                self._write(f"{what}-{number}", text, tick)

    def _pages(self, what: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        mark = "_" if self.version == 4 else ""
        for page in range(1, _PAGES + 1):
            text = self._got(self.version or 5, f"{what}?{mark}page={page}&{mark}limit={_PAGE}")
            told = json.loads(text)
            entries = told.get("data", []) if isinstance(told, dict) else told
            yield text, entries
            if len(entries) < _PAGE:
                return
        self.bundle.manifest.failed(f"EMQX {what}", f"only the first {_PAGES * _PAGE:,} of them")

    def _with_metrics(self, rule: dict[str, Any]) -> dict[str, Any]:
        """The rule with its counters, which 5.x tells apart from it."""
        with self.bundle.manifest.asking("EMQX metrics of rules", *UNANSWERED):
            told = json.loads(self._got(5, f"rules/{quote(str(rule.get('id')), safe='')}/metrics"))
            return rule | {key: told[key] for key in ("metrics", "node_metrics") if key in told}
        return rule

    def _write(self, name: str, text: str, tick: Tick) -> None:
        self.bundle.write(f"emqx/{name}.{stamp(tick.at)}.json", text if text.endswith("\n") else f"{text}\n")
