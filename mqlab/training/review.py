"""How the time at the desk was spent, beside the best possible order: in words, as a table, as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from mqlab import units
from mqlab.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

_GAP = 0.08
"""Part of a minute that is left blank behind each bar, so that neighbours can be told apart."""
_YOU, _EXPERT = "you", "the best order"
_LOOKS = {
    "needed": ("needed", style.INCOMING, 16),
    "spare": ("an expert did without it", style.OUTGOING, 16),
}


_NAMED = 4
"""Names that a sentence holds."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Something that was asked for, and the minutes since the alarm between which it was fetched."""

    name: str
    since: int
    until: int
    needed: bool
    """An expert looks at it, too."""


@dataclass(frozen=True, slots=True)
class Review:
    """What was asked for in which order until somebody acted."""

    yours: tuple[Visit, ...]
    expert: tuple[Visit, ...]
    acted: int
    """Minute since the alarm at which the learner acted, or stands."""
    best: int
    """Minute at which he could have acted, having looked at all that an expert looks at."""
    what: str | None
    """What he did; None where he never said."""
    alarm: float
    step: int
    """Seconds of the material in a minute."""

    @property
    def lost(self) -> int:
        """Minutes more than the best possible order takes."""
        return max(0, self.acted - self.best)

    @property
    def needless(self) -> tuple[str, ...]:
        """What an expert did without."""
        return tuple(visit.name for visit in self.yours if not visit.needed)

    @property
    def missed(self) -> tuple[str, ...]:
        """What an expert looks at and the learner did not."""
        seen = {visit.name for visit in self.yours}
        return tuple(visit.name for visit in self.expert if visit.name not in seen)

    def table(self) -> pd.DataFrame:
        """Both orders, one below the other."""
        return pd.DataFrame(list(self._rows()), columns=["whose", "from minute", "to minute", "what", "note"])

    def _rows(self) -> Iterator[tuple[str, int, int, str, str]]:
        for visit in self.yours:
            yield _YOU, visit.since, visit.until, visit.name, "" if visit.needed else "an expert did without it"
        if self.what is not None:
            yield _YOU, self.acted, self.acted, f"acted: {self.what}", ""
        for visit in self.expert:
            yield _EXPERT, visit.since, visit.until, visit.name, "you missed it" if visit.name in self.missed else ""
        yield _EXPERT, self.best, self.best, "acts", ""

    def figure(self) -> go.Figure:
        """Two lanes over the time of the material: the learner's order and the best possible one."""
        lanes = ((_YOU, self.yours, self.acted), (_EXPERT, self.expert, self.best))
        bars = [self._bar(lane, visit) for lane, visits, _ in lanes for visit in visits]
        chart = style.figure(220)
        style.draw_lanes(chart, bars, _LOOKS, (_YOU, _EXPERT))
        acts = [(lane, minute) for lane, _, minute in lanes if lane == _EXPERT or self.what is not None]
        return chart.add_scatter(
            x=[style.time(self._at(minute)) for _, minute in acts],
            y=[lane for lane, _ in acts],
            text=[f"acts at minute {minute}" for _, minute in acts],
            name="acts", mode="markers", marker={"symbol": "diamond", "size": 13, "color": style.ALARM},
            hovertemplate="%{y}<br>%{text}<extra></extra>",
        )  # fmt: skip

    def _bar(self, lane: str, visit: Visit) -> style.Bar:
        words = f"{visit.name}\nminute {visit.since} to {visit.until}"
        kind = "needed" if visit.needed else "spare"
        return style.Bar(lane, kind, self._at(visit.since), self._at(visit.until - _GAP), words)

    def _at(self, minute: float) -> float:
        return self.alarm + minute * self.step

    def __str__(self) -> str:
        lines = ["How your time was spent", *(f"  {line}" for line in self._told()), ""]
        return "\n".join([*lines, *(f"  {since:>3}–{until:<3} {whose:<14} {what}{f'  ({note})' if note else ''}"
                                    for whose, since, until, what, note in self._rows())])  # fmt: skip

    __repr__ = __str__

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self._told())
        return f"<h4>How your time was spent</h4>{told}{self.table().to_html(index=False, escape=True)}"

    def _told(self) -> Iterator[str]:
        when = "acted at" if self.what is not None else "did not act until"
        best = f"the best possible order takes {units.counted(self.best, 'minute')}"
        yield f"You {when} minute {self.acted}; {best}: {self._verdict()}."
        if self.needless:
            yield f"An expert did without {_listed(self.needless)}."
        if self.missed:
            yield f"You did not ask for {_listed(self.missed)}."

    def _verdict(self) -> str:
        if self.lost:
            return f"{units.counted(self.lost, 'minute')} lost"
        if self.acted < self.best:
            return f"{units.counted(self.best - self.acted, 'minute')} before anybody could be sure"
        return "nobody could have been faster"


def _listed(names: Sequence[str]) -> str:
    """Some of the names; the table has them all."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
