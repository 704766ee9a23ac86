"""Where a bench lies: its folder with material, cache and scratch, and how often everything is repeated."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Run, run, wait_for_the_last
from bench.patterns import signature_patterns
from mqlab.cache import storage


@dataclass(frozen=True)
class Bed:
    """One bench's folder and its choices."""

    folder: Path
    rounds: int
    tell: Callable[[str], None]

    @property
    def cache(self) -> Path:
        """The workspace of all runs but the first one ever."""
        return self.folder / "cache"

    @property
    def patterns(self) -> Path:
        """The signatures of mqlab for the rivals, written when first asked for."""
        path = self.folder / "patterns.json"
        if not path.exists():
            path.write_text(json.dumps(signature_patterns()), encoding="utf-8")
        return path

    def telling(self, about: str) -> Callable[[str], None]:
        """``tell`` with a word before it."""
        return lambda text: self.tell(f"{about}, {text}")

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A new folder that is removed in the end."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            yield Path(folder)

    def forget(self) -> None:
        """Empty the workspace."""
        for pattern in ("material-*", "scan-*"):
            for left in self.cache.glob(pattern):
                storage.remove(left)

    def prepare(self) -> None:
        """Have what Java starts faster with made, as ``make setup`` does."""
        self.tell("preparing Java's start")
        self.mqlab("doctor", "--quiet", "--prepare")

    def mqlab(self, *arguments: str, mark: str | None = None, cache: Path | None = None) -> Run:
        """One run of mqlab in this bench's workspace; with a *cache* in that, without what ``make setup`` made.

        A warm session that the user has started is never used: it belongs to another workspace.
        """
        own = {"XDG_CACHE_HOME": str(cache)} if cache else {}
        workspace = {"MQLAB_WORKSPACE": str(cache or self.cache)}
        return run(["-m", "mqlab.cli", *arguments], mark=mark, more=own | workspace)

    def triage(self, material: Path, mark: str | None = None, cache: Path | None = None) -> Run:
        """One triage of *material*; its ``out`` is the JSON document."""
        return self.mqlab("triage", str(material), "--format", "json", mark=mark, cache=cache)

    @contextmanager
    def warm(self) -> Iterator[str]:
        """A warm session for as long as the block lasts, and the mark that its processes carry."""
        mark = uuid.uuid4().hex
        self.mqlab("session", "start", mark=mark)
        try:
            yield mark
        finally:
            self.mqlab("session", "stop")
            wait_for_the_last(mark)
