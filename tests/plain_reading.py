"""Material read as mqlab reads it, but in this process: splits, rows of tables, facts; no Spark."""

from __future__ import annotations

import json
from collections import defaultdict

import pyarrow.compute as pc

from mqlab import intake
from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.cache import entries
from mqlab.formats.registry import FORMATS
from mqlab.kernel import job, thin
from mqlab.kernel.output import FACTS, Output
from mqlab.kernel.splits import splits
from mqlab.material import quoting
from mqlab.sources import Envelope, Reading, Source
from mqlab.tables import LEDGER
from mqlab.thinning import ledgers


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


def written(*many):
    """All rows of the splits, by table."""
    out = Output()
    for one in many:
        job.rows_of(one, out)
    out.close(thin.facts)
    return out.tables


def tables(*many):
    """Rows of each canonical table and of the counts, by line; tables without rows are not there."""
    rows = {table: found.to_pylist() for table, found in written(*many).items() if table is not FACTS}
    return {table: sorted(found, key=lambda row: row["line"] or 0) for table, found in rows.items()}


def told(rows):
    """(fact, payload) of all *rows*: as their sources were read, and of those that were read in several splits."""
    found = [(row["fact"], row["payload"]) for row in rows[FACTS].to_pylist()] if FACTS in rows else []
    whole = set(rows[FACTS]["source"].to_pylist()) if FACTS in rows else set()
    for cut in {link for table in rows.values() for link in table["source"].unique().to_pylist()} - whole:
        own = {table: found.filter(pc.equal(found["source"], cut)) for table, found in rows.items()}
        found += [(fact, payload) for _, fact, payload in thin.facts(own)]
    return found


def facts(*many):
    """What the splits tell, by fact."""
    found = defaultdict(list)
    for fact, payload in told(written(*many)):
        found[fact].append(json.loads(payload))
    return found


def followed(rows, sources):
    """(fact, payload) about the messages in all ledgers."""
    if LEDGER not in rows:
        return []
    known = ledgers.Known.of({one.link: one.layout for one in sources if one.layout})
    frames = ledgers.thinned(thin.on_clocks(thin.frame(rows[LEDGER].drop_columns("text"))), known)
    return [(fact, thin.payload(row)) for fact, frame in frames.items() for row in frame.iter_rows(named=True)]


def opened(paths, scratch):
    """Facts of the material behind *paths*."""
    sources = intake.gather([str(path) for path in paths], scratch, FORMATS)
    rows = written(*splits(sources))
    found = [*told(rows), *followed(rows, sources)]
    sources = entries.checked(sources, found)
    return assemble(Gathered.of([*found, *quoting.first_lines(found, sources)], sources))
