"""Rows about the generated log: scan and whole triage at several sizes, growth, cores, signatures, and a .gz."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import checks
from bench.bed import Bed
from bench.material import Truth
from bench.measure import Run, run
from bench.rows import Goal, Rounds, Row, against, rounds

MANY, FULL = 500, 3000
"""Megabytes from which the goals for the scan and for a whole triage hold."""
_LINEAR = 1.06
"""How much more than in proportion the time may grow: 3.7 GB in 5.6 times the time of 700 MB."""
_MEMORY = 3.0
_PACKED = 1.3
"""How much longer a .gz may take than its content."""
_TWICE = 1.15
"""How much longer the kernel may take with twice as many signatures."""
_RIVALS = ("polars", "duckdb")


@dataclass(frozen=True)
class Log:
    """A generated log of so many megabytes, and what is in it."""

    path: Path
    megabytes: int
    truth: Truth


def compared(bed: Bed, log: Log, triage: bool, scan: bool) -> Rounds:
    """The rivals, mqlab's scan and its triage on one log, on all cores."""
    contestants: dict[str, Callable[[], Run]] = {name: partial(rival, bed, log, name) for name in _RIVALS}
    if scan:
        contestants["scan"] = partial(ours, bed, log)
    if triage:
        contestants["triage"] = partial(whole, bed, log)
    runs = rounds(bed.rounds, contestants, bed.telling(f"{log.megabytes} MB"))
    _agree(runs)
    return runs


def rows_of(log: Log, runs: Rounds) -> list[Row]:
    """The rivals' rows and ours against the faster of them."""
    size, peers = f"{log.megabytes} MB", [runs[name] for name in _RIVALS]
    rows = [Row(f"{size}: {name}", runs[name]) for name in _RIVALS]
    for name in ("scan", "triage"):
        if name in runs:
            ratios = against(runs[name], peers, wall=name == "triage")
            goals = _goals(name, log.megabytes)
            rows.append(Row(f"{size}: mqlab {name}", runs[name], "faster rival", ratios, goals, _told(runs[name])))
    return rows


def _goals(name: str, megabytes: int) -> list[Goal]:
    least, ratio = {"scan": (MANY, 1.0), "triage": (FULL, 1.3)}[name]
    reached = [Goal("ratio", ratio)] if megabytes >= least else []
    return reached + ([Goal("memory", _MEMORY)] if megabytes >= FULL else [])


def growth(small: Log, large: Log, runs: Mapping[int, Rounds]) -> list[Row]:
    """How the time of *runs*, by megabytes, grew from one size to the other."""
    rows = []
    for name in ("scan", "triage"):
        one, two = runs[small.megabytes].get(name), runs[large.megabytes].get(name)
        if one and two:
            ratios = [b.seconds / a.seconds for a, b in zip(one, two, strict=True)]
            limit = _LINEAR * large.megabytes / small.megabytes
            goals = [Goal("ratio", limit)] if large.megabytes >= FULL else []
            rows.append(Row(f"growth of {name} to {large.megabytes} MB", two, f"{small.megabytes} MB", ratios, goals))
    return rows


def cores(bed: Bed, log: Log) -> list[Row]:
    """The scan pinned to one core and to two."""
    runs = rounds(
        bed.rounds,
        {"1 core": lambda: ours(bed, log, "0"), "2 cores": lambda: ours(bed, log, "0,1")},
        bed.telling("cores"),
    )
    gain = [one.seconds / two.seconds for one, two in zip(runs["1 core"], runs["2 cores"], strict=True)]
    return [
        Row(f"{log.megabytes} MB: mqlab scan, 1 core", runs["1 core"]),
        Row(f"{log.megabytes} MB: mqlab scan, 2 cores", runs["2 cores"], "times faster than 1 core", gain,
            [Goal("ratio", 1.6, at_least=True)]),
    ]  # fmt: skip


def compressed(bed: Bed, log: Log) -> list[Row]:
    """Recognition and scan of a .gz against the same content plain on one core."""
    packed = Log(log.path.with_name(f"{log.path.name}.gz"), log.megabytes, log.truth)
    bed.tell("compressing")
    with log.path.open("rb") as plain, gzip.open(packed.path, "wb", compresslevel=6) as out:
        shutil.copyfileobj(plain, out, 1 << 20)
    contestants = {
        "plain, 1 core": lambda: ours(bed, log, "0", gathering=True),
        ".gz, 1 core": lambda: ours(bed, packed, "0", gathering=True),
        ".gz, 2 cores": lambda: ours(bed, packed, "0,1", gathering=True),
    }
    runs = rounds(bed.rounds, contestants, bed.telling("gz"))
    packed.path.unlink()
    plain_runs = runs["plain, 1 core"]
    rows = [Row(f"{log.megabytes} MB plain: recognised and scanned, 1 core", plain_runs)]
    for name in (".gz, 1 core", ".gz, 2 cores"):
        ratios = against(runs[name], [plain_runs])
        rows.append(Row(f"{log.megabytes} MB {name}", runs[name], "plain, 1 core", ratios, [Goal("ratio", _PACKED)]))
    return rows


def signatures(bed: Bed, log: Log) -> list[Row]:
    """The kernel alone, on one core, with the table of signatures and with one of twice as many."""
    contestants = {f"{n} × signatures": partial(_kernel, log, n) for n in (1, 2)}
    runs = rounds(bed.rounds, contestants, bed.telling("signatures"))
    once, twice = runs.values()
    ratios = against(twice, [once])
    names = [f"{log.megabytes} MB: kernel, {found[0].told['signatures']:.0f} signatures" for found in (once, twice)]
    return [Row(names[0], once), Row(names[1], twice, "half of them", ratios, [Goal("ratio", _TWICE)])]


def _kernel(log: Log, times: int) -> Run:
    found = run(["-m", "bench.doubled", str(log.path), str(times)], "0")
    found.told = json.loads(found.out.splitlines()[-1])
    found.seconds = found.told["seconds"]
    if found.told["events"] != log.truth.events.total():
        found.problems.append(f"events {found.told['events']:.0f}, not {log.truth.events.total()}")
    return found


def rival(bed: Bed, log: Log, name: str, cores: str = "0,1") -> Run:
    """One run of Polars or DuckDB; its seconds are those of the work, without the start of Python."""
    with bed.scratch() as out:
        found = run(["-m", "bench.rivals", name, str(bed.patterns), str(log.path), str(out)], cores)
        return _checked(found, out, log)


def ours(bed: Bed, log: Log, cores: str = "0,1", gathering: bool = False) -> Run:
    """One run of the scan stage; its seconds leave the start of Spark out."""
    with bed.scratch() as out:
        found = _checked(run(["-m", "bench.ours", str(log.path), str(out)], cores), out, log)
        found.seconds += found.told["gathering"] if gathering else 0
        return found


def whole(bed: Bed, log: Log) -> Run:
    """One run of ``mqlab triage`` with nothing about this log in the workspace."""
    bed.forget()
    found = bed.triage(log.path)
    found.problems += checks.wrong_triage(found.out, bed.cache, log.truth)
    return found


def _checked(found: Run, out: Path, log: Log) -> Run:
    found.told = json.loads(found.out.splitlines()[-1])
    found.seconds = found.told["seconds"]
    found.counted = checks.counted(out)
    found.problems += checks.wrong(found.counted, log.truth)
    return found


def _agree(runs: Rounds) -> None:
    """Note with every run in what its result is unlike the first one's."""
    counted = [(one, one.counted) for found in runs.values() for one in found if one.counted]
    for one, result in counted:
        one.problems += checks.unlike(counted[0][1], result)


def _told(runs: Sequence[Run]) -> str:
    shown = runs[0].counted
    return f"{shown.groups} groups of {shown.shapes} shapes" if shown else "process against process"
