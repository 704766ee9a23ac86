"""Whether a run did the work: what it counted and kept, compared with what the generator wrote."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from bench.lines import EVENTS
from bench.material import Truth
from mqlab.kernel.output import COUNTS, COVERAGE, FACTS

ROWS = "rows"
"""The folder with mqlab's tables."""


@dataclass(frozen=True)
class Counted:
    """All that two results of the same work must have in common."""

    lines: int
    bytes: int
    by_level: tuple[tuple[str, int, int], ...]
    """(level, lines, bytes) of the lines that were counted."""
    groups: int
    """Combinations of minute, level and shape."""
    sizes: str
    """A digest of the groups' lines and bytes by minute and level, whatever their shapes are called."""
    shapes: int
    events: tuple[tuple[str, int], ...]
    places: int
    """Sum of the kept lines' numbers."""


def counted(out: Path) -> Counted:
    """What Polars, DuckDB or mqlab's scan left in *out*."""
    counts, kept = _tables(out / ROWS) if (out / ROWS).exists() else _plain(out)
    counts = counts.fillna({"level": "", "minute": "", "shape": ""})
    groups = counts.groupby(["minute", "level", "shape"])[["lines", "bytes"]].sum().reset_index()
    levels = groups.groupby("level")[["lines", "bytes"]].sum()
    ordered = groups[["minute", "level", "lines", "bytes"]].sort_values(["minute", "level", "lines", "bytes"])
    return Counted(
        lines=int(groups["lines"].sum()) + len(kept),
        bytes=int(groups["bytes"].sum()) + sum(len(text.encode()) + 1 for text in kept["text"]),
        by_level=tuple((str(level), int(n), int(size)) for level, n, size in levels.itertuples()),
        groups=len(groups),
        sizes=sha256(ordered.to_csv(index=False).encode()).hexdigest()[:8],
        shapes=len(groups[["level", "shape"]].drop_duplicates()),
        events=tuple(
            sorted((kind, int(kept["text"].str.contains(w, regex=False).sum())) for kind, w in EVENTS.items())
        ),
        places=int(kept["line"].sum()),
    )


def _plain(out: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pq.read_table(out / "counts.parquet").to_pandas(), pq.read_table(out / "kept.parquet").to_pandas()


def _tables(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counts of the lines that were not kept, and the lines that became rows of any table, each once."""
    counts = _read(folder / COUNTS.name, ["minute", "level", "shape", "kept", "lines", "bytes"])
    places = [place for place in folder.iterdir() if place.name not in (COUNTS.name, COVERAGE.name, FACTS.name)]
    lines = [_read(place, ["split", "line", "text"]) for place in places]
    kept = pd.concat([pd.DataFrame(columns=["split", "line", "text"]), *lines]).drop_duplicates(["split", "line"])
    of_splits = _read(folder / COVERAGE.name, ["split", "lines"]).groupby("split")["lines"].sum()
    earlier = of_splits.cumsum() - of_splits
    return counts[~counts["kept"]], kept.assign(line=kept["line"] + kept["split"].map(earlier))


def _read(folder: Path, columns: list[str]) -> pd.DataFrame:
    return pd.concat([pq.ParquetFile(file).read(columns).to_pandas() for file in folder.glob("*.parquet")])


def wrong(found: Counted, truth: Truth) -> list[str]:
    """What *found* has otherwise than the generated log."""
    return _differences(
        {"lines": found.lines, "bytes": found.bytes, "line numbers": found.places, **dict(found.events)}, truth
    )


def wrong_triage(out: str, workspace: Path, truth: Truth) -> list[str]:
    """What a triage has otherwise: its JSON document, and the events in the only entry of its *workspace*."""
    material = json.loads(out)["material"]
    entry = next(workspace.glob("material-*"))
    kept = json.loads(gzip.decompress(entry.read_bytes()).splitlines()[1])
    events: Counter[str] = Counter()
    for fact, payload in kept["rows"]:
        if fact == "events":
            row = json.loads(payload)
            events[row["kind"]] += row["count"]
    seen = {kind: events.pop(kind, 0) for kind in EVENTS}
    return _differences(
        {"lines": material["lines"], "bytes": material["bytes"], **seen, "other events": events.total()}, truth
    )


def _differences(seen: dict[str, int], truth: Truth) -> list[str]:
    true = {"lines": truth.lines, "bytes": truth.bytes, "line numbers": truth.places, **truth.events}
    return [f"{name} {n}, not {true.get(name, 0)}" for name, n in seen.items() if n != true.get(name, 0)]


def unlike(one: Counted, two: Counted) -> list[str]:
    """In what *two* differs from *one*, a result of the same work."""
    pairs = [(name, getattr(one, name), getattr(two, name)) for name in Counted.__annotations__]
    return [f"{name} {second}, not {first} as the rivals" for name, first, second in pairs if first != second]
