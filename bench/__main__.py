"""``make bench``: the scan stage against Polars and DuckDB on one large log, a cold triage and a report, as a table."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.material import make

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "data" / "samples"


@click.command()
@click.option("--megabytes", default=650, show_default=True)
@click.option("--rounds", default=3, show_default=True)
def main(megabytes: int, rounds: int) -> None:
    """Run everything *rounds* times and print the medians."""
    table = Table("what", "seconds (median)", "all", "against Polars", "peak memory", "check")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        planted = make(SAMPLES, log, megabytes * 1_000_000)
        runs = {
            "polars": ["-m", "bench.rivals", "polars"],
            "duckdb": ["-m", "bench.rivals", "duckdb"],
            "mqlab": ["-m", "bench.ours"],
        }
        seen: dict[str, list[tuple[float, float, list[str]]]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, command in runs.items():
                _, memory, out = _run([*command, str(log)])
                seen[name].append((float(out.split()[0]), memory, out.split()[1:]))
        base = _median([s for s, _, _ in seen["polars"]])
        for name, results in seen.items():
            middle = _median([s for s, _, _ in results])
            told = f"{results[0][2][1]} of {planted} planted events"
            if name == "mqlab":
                told += f"; read {int(results[0][2][2]) / log.stat().st_size:.3f} x the file"
            _row(
                table, f"{name}: {megabytes} MB log", [s for s, _, _ in results], f"{middle / base:.2f}", results, told
            )
        _cold(table, Path(folder), rounds)
    Console(width=140).print(table)


def _cold(table: Table, folder: Path, rounds: int) -> None:
    cache = folder / "cache"
    sample = SAMPLES / "kafka-amp-17"
    verbs = {
        "triage": ["-m", "mqlab.cli", "triage"],
        "report": ["-m", "mqlab.cli", "report", "-o", str(folder / "report.html")],
    }
    for _ in range(2):
        _run([*verbs["triage"], str(sample), "--workspace", str(cache)])
        time.sleep(8)
        _forget(cache)
    for name, command in verbs.items():
        results = []
        for _ in range(rounds):
            seconds, memory, _ = _run([*command, str(sample), "--workspace", str(cache)])
            results.append((seconds, memory, [""]))
            _forget(cache)
        _row(
            table,
            f"mqlab {name}, cold, kafka-amp-17",
            [s for s, _, _ in results],
            "",
            results,
            "wall time of the process",
        )


def _forget(cache: Path) -> None:
    for entry in cache.glob("material-*"):
        shutil.rmtree(entry)


def _row(
    table: Table, name: str, seconds: list[float], ratio: str, results: list[tuple[float, float, list[str]]], told: str
) -> None:
    peak = max(memory for _, memory, _ in results)
    every = " ".join(f"{s:.1f}" for s in seconds)
    table.add_row(name, f"{_median(seconds):.2f}", every, ratio, f"{peak / 1e9:.2f} GB", told)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _run(arguments: list[str]) -> tuple[float, float, str]:
    """(wall seconds, peak resident bytes of the process and its children, standard output)."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    peaks = [0.0]
    watcher = threading.Thread(target=_watch, args=(process, peaks), daemon=True)
    watcher.start()
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return time.perf_counter() - started, peaks[0], out.strip().splitlines()[-1] if out.strip() else ""


def _watch(process: subprocess.Popen[str], peaks: list[float]) -> None:
    while process.poll() is None:
        peaks[0] = max(peaks[0], _resident(process.pid))
        time.sleep(0.1)


def _resident(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    return int(fields[1]) * 4096.0 + sum(_resident(int(child)) for child in children)


if __name__ == "__main__":
    main()
