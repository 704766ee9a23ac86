"""Messages that brokers print one by one (message trace): how many came in of each topic, and went to each client."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts


@dataclass(frozen=True, slots=True)
class Traced:
    """Messages of one topic that a trace shows."""

    messages: int
    first: Episode
    """The first line of them."""


@per_facts
def came_in(facts: Facts) -> Mapping[str, Traced]:
    """Topic → messages that brokers took in."""
    lines: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind("publish-received"):
        if line.topic:
            lines[line.topic].append(line)
    return {topic: _traced(lines[topic]) for topic in sorted(lines)}


@per_facts
def went_out(facts: Facts, flag: str | None) -> Mapping[str, Mapping[str, Traced]]:
    """Client id → topic → messages sent to it with *flag* (``dup``, ``retained``), or without any.

    Topics of the broker's own statistics are left out.
    """
    lines: dict[str, dict[str, list[Episode]]] = defaultdict(lambda: defaultdict(list))
    for line in facts.of_kind("publish-sent"):
        known = line.client_id and line.topic and not line.topic.startswith("$")
        if known and (flag in (line.reason or "").split(" ") if flag else line.reason is None):
            lines[line.client_id or ""][line.topic or ""].append(line)
    return {
        client: {topic: _traced(lines[client][topic]) for topic in sorted(lines[client])} for client in sorted(lines)
    }


def _traced(lines: list[Episode]) -> Traced:
    return Traced(sum(line.count for line in lines), min(lines, key=lambda e: (e.first_at or 0.0, e.first.line or 0)))
