"""What a process needs and does not get, as its own log says outright: lines of the class ``dependency-down``.

A worker that waits for a database, a webhook or a registry dies, or tries one record for ever; its group and that
record are whole. ``... ERROR [writer-2] Sink - write failed: java.net.ConnectException: Connection refused``
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from mqlab.facts import Episode, Facts
from mqlab.known_errors import of_class
from mqlab.memo import per_facts


@per_facts
def _outages(facts: Facts) -> Mapping[str, Sequence[Episode]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    errors = of_class("dependency-down")
    patterns = [kind for kind, own in errors.items() if not any(error.event for error in own)]
    for line in facts.of_kind(*patterns):
        if line.first_at is not None:
            found[line.source].append(line)
    return found


def outage(facts: Facts, sources: Collection[str], moments: Sequence[float], seconds: float) -> Episode | None:
    """The first line of these logs about what does not answer, where one comes within *seconds* of most *moments*."""
    lines = [line for source in sorted(sources) for line in _outages(facts).get(source, ())]
    near = [
        at for at in moments if any((e.first_at or 0.0) - seconds <= at <= (e.last_at or 0.0) + seconds for e in lines)
    ]
    return min(lines, key=lambda e: e.first_at or 0.0) if 2 * len(near) > len(moments) else None
