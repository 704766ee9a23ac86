"""The lives of the members of a group by member id, and which life of the same client came before or after which."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from mqlab.rebalances.marks import ONCE
from mqlab.rebalances.rows import Life


@dataclass(frozen=True, eq=False)
class Kin:
    """Lives by member id, and who came before and after whom."""

    by_member: Mapping[str, Sequence[Life]]
    before: Mapping[int, Life]
    after: Mapping[int, Life]
    since: float
    """From when on the material tells of the group; minus infinity where that is from its first generation on."""
    nameless_since: float
    """When a member ended first whose client nothing names."""

    def joined(self, member_id: str | None, at: float) -> Life | None:
        """The life of the member that began at about *at*, the nearest."""
        lives = self.by_member.get(member_id or "", ())
        place = bisect_left(lives, at, key=lambda life: life.since or 0.0)
        near = lives[max(0, place - 1) : place + 1]
        return min(near, key=lambda life: abs((life.since or 0.0) - at), default=None)

    def ended(self, member_id: str | None, at: float) -> Life | None:
        """The life of the member that ended at *at*, as exactly as clocks allow."""
        lives = self.by_member.get(member_id or "", ())
        place = bisect_left(lives, at, key=_until)
        near = [life for life in lives[max(0, place - 1) : place + 1] if abs(_until(life) - at) <= ONCE]
        return min(near, key=lambda life: abs(_until(life) - at), default=None)

    def nameless(self, life: Life) -> bool:
        """Nothing names its client, and another of whom that is true ended before: it may be the same one."""
        return _unnamed(life) and self.nameless_since <= (life.since or 0.0)


def kin(chain: Sequence[tuple[Life, Life | None]], since: float) -> Kin:
    """Who came before and after whom, where the material tells of the group from *since* on."""
    by_member: dict[str, list[Life]] = defaultdict(list)
    before, after = {}, {}
    for life, old in chain:
        by_member[life.member_id].append(life)
        if old is not None:
            before[id(life)] = old
            after[id(old)] = life
    gone = min((_until(life) for life, _ in chain if _unnamed(life)), default=inf)
    return Kin(by_member, before, after, since, gone)


def _until(life: Life) -> float:
    return inf if life.until is None else life.until


def _unnamed(life: Life) -> bool:
    return life.client_id == life.member_id
