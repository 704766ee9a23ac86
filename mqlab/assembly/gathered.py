"""The rows that leave Spark, by fact, with the sources that they are about."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mqlab.assembly.payloads import Row
from mqlab.clocks import years
from mqlab.sources import Source


@dataclass(frozen=True)
class Gathered:
    """Payloads by fact, with the sources they came from."""

    rows: Mapping[str, Sequence[Row]]
    sources: Mapping[str, Source]
    """By link name."""

    @classmethod
    def of(cls, collected: Iterable[tuple[str, str]], sources: Sequence[Source]) -> Gathered:
        """Sort the (fact, payload) rows that Spark collected."""
        known = {s.link: s for s in sources}
        read = [(fact, payload, json.loads(payload)) for fact, payload in collected]
        rows: dict[str, list[Row]] = defaultdict(list)
        for fact, _, row in sorted(read, key=lambda r: (r[0], known[r[2]["source"]].path, r[1])):
            rows[fact].append(row)
        return cls(defaultdict(list, years.dated(rows, known)), known)

    @property
    def paths(self) -> Mapping[str, str]:
        """The path that evidence cites, by link name."""
        return {link: source.path for link, source in self.sources.items()}

    def path(self, row: Row) -> str:
        """The path that evidence cites."""
        return self.sources[row["source"]].path
