"""``make bench``: generated logs against Polars and DuckDB, and the runs a user waits for, as one table."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import click
from rich.console import Console

from bench import large, small
from bench.bed import Bed
from bench.large import Log
from bench.material import make
from bench.rows import Rounds, Row
from bench.table import document, drawn

_GROUPS = ("scan", "triage", "cores", "gz", "small")
_MIDDLE = 1000
"""The rows about cores and .gz take the largest log below so many megabytes."""


@click.command()
@click.option("--sizes", default="70,700,3700", show_default=True, help="Megabytes of the generated logs.")
@click.option("--rounds", default=3, show_default=True, help="How often everything is run.")
@click.option("--seed", default=1, show_default=True, help="Of the generator: same seed, same bytes.")
@click.option("--only", type=click.Choice(_GROUPS), multiple=True, help="Only these groups of rows; may be repeated.")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), help="Kept folder instead of a temporary one."
)
@click.option("--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="Also write the results here.")
def main(
    sizes: str, rounds: int, seed: int, only: Sequence[str], folder: Path | None, target: Path | None
) -> None:  # fmt: skip
    """Measure mqlab beside its peers, in the same rounds, and print one table.

    The logs are generated and need about 4.5 GB on the disk at the default sizes. Everything is pinned to the first
    two cores. The groups of rows are `scan` and `triage` (generated logs against Polars and DuckDB, and the growth from
    one size to the next), `cores` (1 against 2), `gz` and `small` (a capture of 430 KB: first run ever, cold, second
    and warm triage, report).
    """
    tell = Console(stderr=True).print
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    with nullcontext(folder) if folder else tempfile.TemporaryDirectory() as chosen:
        bed = Bed(Path(chosen).resolve(), rounds, tell)
        found = _rows(bed, sorted(map(int, sizes.split(","))), seed, only or _GROUPS)
    Console(width=None if Console().is_terminal else 200).print(drawn(found))
    if target:
        target.write_text(document(found, {"sizes": sizes, "rounds": rounds, "seed": seed}), encoding="utf-8")


def _rows(bed: Bed, sizes: Sequence[int], seed: int, groups: Sequence[str]) -> list[Row]:
    rows = small.rows(bed) if "small" in groups else []
    runs: dict[int, Rounds] = {}
    logs: list[Log] = []
    middle = max((size for size in sizes if size < _MIDDLE), default=sizes[0])
    for size in sizes:
        triage, scan, here = "triage" in groups, "scan" in groups, size == middle and {"cores", "gz"} & set(groups)
        if not (triage or scan or here):
            continue
        bed.tell(f"generating {size} MB")
        path = bed.folder / f"server-{size}.log"
        log = Log(path, size, make(path, size * 1_000_000, seed))
        logs.append(log)
        if triage or scan:
            runs[size] = large.compared(bed, log, triage, scan)
            rows += large.rows_of(log, runs[size])
        if here:
            rows += large.cores(bed, log) if "cores" in groups else []
            rows += large.compressed(bed, log) if "gz" in groups else []
        path.unlink()
    return rows + [row for one, two in pairwise(logs) if runs for row in large.growth(one, two, runs)]


if __name__ == "__main__":
    main()
