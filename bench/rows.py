"""A row of the table: what was measured, against which peer of the same rounds, and whether the goal is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.measure import Run

Rounds = Mapping[str, Sequence[Run]]
"""The runs of each contestant, by round."""


@dataclass(frozen=True)
class Goal:
    """A limit for ``seconds``, ``ratio`` or ``memory`` (GB)."""

    of: str
    limit: float
    at_least: bool = False

    def __str__(self) -> str:
        return f"{self.of} {'≥' if self.at_least else '≤'} {self.limit:.3g}"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    runs: Sequence[Run] = ()
    peer: str = ""
    ratios: Sequence[float] = ()
    """One a round."""
    goals: Sequence[Goal] = ()
    note: str = ""

    def value(self, of: str) -> float | None:
        """The median of what a goal is about; of the memory, the most."""
        if of == "ratio":
            return median(self.ratios) if self.ratios else None
        if not self.runs:
            return None
        return max(r.peak for r in self.runs) / 1e9 if of == "memory" else median(r.seconds for r in self.runs)

    def problems(self) -> list[str]:
        """What the runs got wrong, each thing once."""
        return list(dict.fromkeys(problem for one in self.runs for problem in one.problems))

    def met(self) -> bool | None:
        """Whether all goals are reached by runs that did the work; None without goals or without runs."""
        values = [(goal, self.value(goal.of)) for goal in self.goals]
        known = [(goal, value) for goal, value in values if value is not None]
        if not known:
            return None
        return not self.problems() and all((v >= g.limit) if g.at_least else (v <= g.limit) for g, v in known)


def rounds(number: int, contestants: Mapping[str, Callable[[], Run]], tell: Callable[[str], None]) -> Rounds:
    """Every contestant once a round, one after the other."""
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    for turn in range(number):
        for name, contestant in contestants.items():
            tell(f"round {turn + 1} of {number}: {name}")
            runs[name].append(contestant())
    return runs


def against(runs: Sequence[Run], peers: Sequence[Sequence[Run]], wall: bool = False) -> list[float]:
    """Seconds of each round's run over those of the fastest peer of the same round.

    Args:
        runs: one a round.
        peers: the runs of each peer.
        wall: compare whole processes instead of what they measured themselves.
    """
    best = [min(r.wall if wall else r.seconds for r in turn) for turn in zip(*peers, strict=True)]
    return [one.seconds / peer for one, peer in zip(runs, best, strict=True)]
