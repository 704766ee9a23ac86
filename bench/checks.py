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
    counts, kept = _tagged(out / "tagged") if (out / "tagged").exists() else _plain(out)
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


def _tagged(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    columns = ["minute", "level", "shape", "lines", "bytes"]
    counts = pq.read_table(folder, columns=columns, filters=[("tag", "=", "count")]).to_pandas()
    return counts, pq.read_table(folder, columns=["line", "text"], filters=[("tag", "!=", "count")]).to_pandas()


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
