"""Where a bench lies: its folder with material, cache and scratch, and how often everything is repeated."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import run
from bench.patterns import signature_patterns
from mqlab.cache import storage
from mqlab.tuning import LARGE

_SETTLED = 4.0
"""Seconds after which mqlab takes over a class-data archive that an earlier process wrote, and a little more."""


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
        """Empty the workspace; class-data archives stay."""
        for pattern in ("material-*", "scan-*"):
            for left in self.cache.glob(pattern):
                storage.remove(left)

    def warm_archive(self, material: Path) -> None:
        """Have the class-data archive for material of this size made, unless it is there."""
        size = material.stat().st_size if material.is_file() else 0
        name = f"classes-{'small' if size < LARGE else 'large'}.jsa*"
        if not list(self.cache.glob(name)):
            self.tell(f"class-data archive for {material.name}")
            run(["-m", "mqlab.cli", "triage", str(material), "--workspace", str(self.cache)])
            self.settle()
        self.forget()

    def settle(self) -> None:
        """Wait until the archives in the cache are old enough to be used."""
        newest = max((file.stat().st_mtime for file in self.cache.glob("classes-*")), default=0.0)
        time.sleep(max(0.0, newest + _SETTLED - time.time()))
