"""The rows as a table for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from rich.table import Table

from bench.rows import Row


def drawn(rows: Sequence[Row]) -> Table:
    """One line a row: median and spread, ratio to the peer, memory, goal and whether it is met."""
    table = Table(
        "row", "seconds: median (spread)", "ratio: median (spread)", "against", "peak GB", "goal", "", "check"
    )
    for row in rows:
        memory = row.value("memory")
        table.add_row(
            row.name,
            _spread([one.seconds for one in row.runs]),
            _spread(row.ratios),
            row.peer,
            "" if memory is None else f"{memory:.2f}",
            ", ".join(map(str, row.goals)),
            {True: "met", False: "MISSED", None: ""}[row.met()],
            _check(row),
        )
    return table


def document(rows: Sequence[Row], choices: dict[str, object]) -> str:
    """All rows with all their runs."""
    shown = [
        {
            "row": row.name,
            "seconds": [one.seconds for one in row.runs],
            "wall_seconds": [one.wall for one in row.runs],
            "peak_bytes": [one.peak for one in row.runs],
            "against": row.peer,
            "ratios": list(row.ratios),
            "goals": [asdict(goal) for goal in row.goals],
            "met": row.met(),
            "problems": row.problems(),
            "note": row.note,
        }
        for row in rows
    ]
    return json.dumps({"choices": choices, "rows": shown}, indent=1) + "\n"


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})" if values else ""


def _check(row: Row) -> str:
    problems = row.problems()
    told = "WRONG: " + "; ".join(problems) if problems else ("exact" if row.runs else "")
    return "; ".join(part for part in (told, row.note) if part)
