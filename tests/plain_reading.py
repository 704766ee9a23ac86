"""Material read as mqlab reads it, but in this process: splits, rows of tables, facts; no Spark."""

from __future__ import annotations

import json
from collections import defaultdict

from mqlab.kernel.output import FACTS
from mqlab.kernel.splits import splits
from mqlab.plugin_check.here import opened, told, written
from mqlab.sources import Envelope, Reading, Source

__all__ = ["facts", "opened", "source", "split", "tables", "told", "written"]


def source(path, form="application-log", reading=Reading.LOG, envelope=Envelope.NONE, **more):
    """The file *path* as intake would find it."""
    known = {
        "key": "0" * 16, "path": path.name, "location": str(path), "format": form, "reading": reading,
        "envelope": envelope, "size": path.stat().st_size, "modified": None,
    }  # fmt: skip
    return Source(**known | more)


def split(path, *how, **more):
    """All of a small file, as one split; what is told is that of ``source``."""
    (one,) = splits([source(path, *how, **more)])
    return one


def tables(*many):
    """Rows of each canonical table and of the counts, by line; tables without rows are not there."""
    rows = {table: found.to_pylist() for table, found in written(*many).items() if table is not FACTS}
    return {table: sorted(found, key=lambda row: row["line"] or 0) for table, found in rows.items()}


def facts(*many):
    """What the splits tell, by fact."""
    found = defaultdict(list)
    for fact, payload in told(written(*many)):
        found[fact].append(json.loads(payload))
    return found
