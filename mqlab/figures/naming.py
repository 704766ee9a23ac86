"""Names of processes and queues, short enough for an axis and still telling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mqlab.rocketmq.members import Member

_LONGEST = 46


def process_names(members: Sequence[Member]) -> tuple[str, ...]:
    """``id  address`` of each, the port where it is needed; an id that holds the address stands alone."""
    names = [_name(m.client_id, m.host) for m in members]
    times = Counter(names)
    full = [_name(m.client_id, m.place) if times[n] > 1 else n for m, n in zip(members, names, strict=True)]
    return tuple(f"{name} ({number})" if (number := full[:place].count(name) + 1) > 1 else name
                 for place, name in enumerate(full))  # fmt: skip


def _name(client: str, place: str) -> str:
    """An address ``10.0.0.4`` says nothing beside the id ``10.0.0.4@9``."""
    where = "" if client.startswith(f"{place}@") else place.removeprefix("logs/").removeprefix("clients/")
    return f"{cut(client)}   {cut(where)}".strip()


def cut(text: str, longest: int = _LONGEST) -> str:
    """*text*, its middle left out where it is long: the ends of ids tell them apart."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
