"""Small material read as mqlab reads it, but in this process: splits, rows of tables, facts; no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from mqlab import intake
from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.cache import entries
from mqlab.facts import Facts
from mqlab.formats.registry import FORMATS
from mqlab.kernel import job, thin
from mqlab.kernel.output import FACTS, Output
from mqlab.kernel.splits import Split, splits
from mqlab.material import quoting
from mqlab.material.copies import holders
from mqlab.sources import Source
from mqlab.tables import LEDGER, Table
from mqlab.thinning import ledgers

Rows = Mapping[Table, pa.Table]


def written(*many: Split) -> Rows:
    """All rows of the splits, by table."""
    out = Output()
    for one in many:
        job.rows_of(one, out)
    out.close(thin.facts)
    return out.tables


def told(rows: Rows) -> list[job.Pair]:
    """(fact, payload) of all *rows*: as their sources were read, and of those that were read in several splits."""
    found = [(row["fact"], row["payload"]) for row in rows[FACTS].to_pylist()] if FACTS in rows else []
    whole = set(rows[FACTS]["source"].to_pylist()) if FACTS in rows else set()
    for cut in {link for table in rows.values() for link in table["source"].unique().to_pylist()} - whole:
        own = {table: found.filter(pc.equal(found["source"], cut)) for table, found in rows.items()}
        found += [(fact, payload) for _, fact, payload in thin.facts(own)]
    return found


def opened(paths: Iterable[str | Path], scratch: Path) -> Facts:
    """Facts of the material behind *paths*."""
    return read(paths, scratch)[2]


def read(paths: Iterable[str | Path], scratch: Path) -> tuple[Sequence[Source], Rows, Facts]:
    """The material behind *paths*: its sources, their rows by table, and what rules are asked about."""
    sources = intake.gather([str(path) for path in paths], scratch, FORMATS)
    rows = written(*splits(sources))
    found = [*told(rows), *followed(rows, sources)]
    sources = entries.checked(sources, found)
    facts = assemble(Gathered.of([*found, *quoting.first_lines(found, sources)], sources))
    return sources, rows, facts


def followed(rows: Rows, sources: Sequence[Source]) -> list[job.Pair]:
    """(fact, payload) about the messages in all ledgers."""
    if LEDGER not in rows:
        return []
    known = ledgers.Known.of({one.link: one.layout for one in sources if one.layout}, holders(sources))
    frames = ledgers.thinned(thin.on_clocks(thin.frame(rows[LEDGER].drop_columns("text"))), known)
    return [(fact, thin.payload(row)) for fact, frame in frames.items() for row in frame.iter_rows(named=True)]
