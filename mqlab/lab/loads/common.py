"""What Python loads share: settings that a step may change, a log, a ledger, a book of facts, an orderly stop."""

from __future__ import annotations

import csv
import json
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any, TextIO


@dataclass
class Load:
    """This process."""

    name: str
    address: str
    options: dict[str, Any]
    ledgers: Path
    """Folder of ledgers, which are part of the capture."""
    facts: Path
    """File of facts, which are not."""
    stopping: threading.Event = field(default_factory=threading.Event)
    _facts: TextIO | None = None

    def option(self, key: str, default: Any) -> Any:
        """An option as it is now: a step may have changed it."""
        return self.options.get(key, default)

    def taken(self, key: str) -> Any:
        """An option that counts once, such as a burst; it is gone then."""
        return self.options.pop(key, None)

    def fact(self, kind: str, **told: float | str | None) -> None:
        """Write down what truly happened; nothing is lost when this process is killed."""
        if self._facts is None:
            self._facts = self.facts.open("a", buffering=1)
        self._facts.write(json.dumps({"at": time(), "who": self.name, "kind": kind, **told}) + "\n")

    def ledger(self, stem: str, columns: Sequence[str]) -> Ledger:
        """A ledger of this load, ``STEM.csv``; one that is there goes on."""
        return Ledger(self.ledgers / f"{stem}.csv", columns)


class Ledger:
    """A CSV file, a row at a time on disk: what is in it was done, whatever ended the process."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        new = not path.exists()
        self._file = path.open("a", buffering=1, newline="")
        self._rows = csv.writer(self._file, lineterminator="\n")
        self._lock = threading.Lock()
        if new:
            self._rows.writerow(columns)

    def row(self, *cells: object) -> None:
        """Write one row."""
        with self._lock:
            self._rows.writerow(cells)


def opened() -> Load:
    """This process's load from the file on its command line; a log on standard output; SIGTERM stops in good order."""
    told = json.loads(Path(sys.argv[1]).read_text())
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    load = Load(told["name"], told["address"], told["options"], Path(told["ledgers"]), Path(told["facts"]))
    signal.signal(signal.SIGTERM, lambda *_: load.stopping.set())
    threading.Thread(target=_listen, args=(load,), daemon=True).start()
    return load


def _listen(load: Load) -> None:
    """Take each line of standard input as options that changed."""
    for line in sys.stdin:
        load.options.update(json.loads(line))


def stamp(at: float | None = None) -> str:
    """A moment as ledgers have it: UTC, milliseconds."""
    return datetime.fromtimestamp(time() if at is None else at, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
