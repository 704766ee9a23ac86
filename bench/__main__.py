"""``make bench``: generated logs against Polars and DuckDB, and the runs a user waits for, as one table."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import click
from rich.console import Console

from bench import captures, large, small
from bench.bed import Bed
from bench.large import Log
from bench.material import make
from bench.rows import Rounds, Row
from bench.table import document, drawn

_GROUPS = ("scan", "triage", "cores", "gz", "signatures", "small", "captures")
_MIDDLE = 1000
"""The rows about cores and .gz take the largest log below so many megabytes; those about signatures the smallest."""

_MORE = {"cores": large.cores, "gz": large.compressed, "signatures": large.signatures}
"""Groups of rows about one log alone."""


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
    one size to the next), `cores` (1 against 2), `gz`, `signatures` (the kernel with once and twice as many), `small`
    (a capture of 430 KB: first run ever, cold, second and warm triage, report) and `captures` (all that come with
    mqlab, cold and warm: the median and the worst).
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
    bed.prepare()
    rows = small.rows(bed) if "small" in groups else []
    rows += captures.rows(bed) if "captures" in groups else []
    runs: dict[int, Rounds] = {}
    logs: list[Log] = []
    middle = max((size for size in sizes if size < _MIDDLE), default=sizes[0])
    for size in sizes:
        places = {"cores": middle, "gz": middle, "signatures": sizes[0]}
        here = {group for group in groups if places.get(group, size) == size} - {"small", "captures"}
        if not here:
            continue
        bed.tell(f"generating {size} MB")
        path = bed.folder / f"server-{size}.log"
        log = Log(path, size, make(path, size * 1_000_000, seed))
        logs.append(log)
        if {"scan", "triage"} & here:
            runs[size] = large.compared(bed, log, "triage" in here, "scan" in here)
            rows += large.rows_of(log, runs[size])
        rows += [row for group, more in _MORE.items() if group in here for row in more(bed, log)]
        path.unlink()
    return rows + [row for one, two in pairwise(logs) if runs for row in large.growth(one, two, runs)]


if __name__ == "__main__":
    main()
