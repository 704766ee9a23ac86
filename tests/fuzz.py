"""``make fuzz``: samples damaged on purpose, minute after minute, and one line for whatever must not be said of them.

A line begins with the name of the mutation, ``sample/seed/number``; ``--replay`` runs that one alone.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from mutations import NAMES, Sample

_TURN = 25
"""Mutations of a sample before it is the next one's turn: to read a sample takes as long as a few of them."""


@click.command()
@click.option("--minutes", default=5.0, show_default=True, help="How long.")
@click.option("--seed", default=1, show_default=True, help="Same seed, same mutations.")
@click.option("--first", default=0, show_default=True, help="Number of the first mutation of each sample.")
@click.option("--sample", "only", type=click.Choice(NAMES), multiple=True, help="Only this one; may be repeated.")
@click.option("--replay", metavar="SAMPLE/SEED/NUMBER", help="Run one mutation and say what it changes.")
def main(minutes: float, seed: int, first: int, only: tuple[str, ...], replay: str | None) -> None:
    """Damage samples and check what is said of them; exit code 1 where something must not be said."""
    if replay:
        raise SystemExit(_replayed(*replay.split("/")))
    deadline = time.monotonic() + 60 * minutes
    done: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for turn in count():
        for name in only or NAMES:
            with TemporaryDirectory() as folder:
                sample = Sample(name, Path(folder))
                for number in range(first + turn * _TURN, first + (turn + 1) * _TURN):
                    if time.monotonic() > deadline:
                        click.echo(f"{done.total()} mutations of {len(done)} samples: {dict(wrong) or 'nothing wrong'}")
                        raise SystemExit(bool(wrong))
                    kinds, changed = sample.mutation(seed, number)
                    for violation in sample.violations(changed):
                        wrong[violation.rule] += 1
                        told = " | ".join(violation.what.splitlines()[-1:])
                        click.echo(f"{name}/{seed}/{number} {violation.rule} ({kinds}): {told}")
                    done[name] += 1
            click.echo(f"{done.total()} mutations, {wrong.total()} violations", err=True)


def _replayed(name: str, seed: str, number: str) -> int:
    with TemporaryDirectory() as folder:
        sample = Sample(name, Path(folder))
        kinds, changed = sample.mutation(int(seed), int(number))
        click.echo(f"{kinds}: {', '.join(sorted(changed))}")
        found = list(sample.violations(changed))
        for violation in found:
            click.echo(f"{violation.rule}: {violation.what}")
        return int(bool(found))


if __name__ == "__main__":
    main()
