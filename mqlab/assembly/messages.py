"""From the rows that leave Spark to the rows of Facts about messages: fates, and parts of ledgers and dumps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mqlab.assembly.payloads import Quoted, Row, cited, seconds
from mqlab.facts import Facts
from mqlab.rows.messages import Fate, Part


def fates(rows: Sequence[Row], paths: Mapping[str, str], quoted: Quoted) -> Iterator[Fate]:
    """A fate for each run of messages; *paths* are those of the links. Clocks of ledgers are epochs or write a zone."""
    for row in rows:
        first, last = row["first"], row["last"]
        yield Fate(
            topic=row["topic"], queue=row["queue"], messages=row["messages"],
            first_offset=row.get("first_offset"), last_offset=row.get("last_offset"),
            first_at=seconds(row, "first_at"), last_at=seconds(row, "last_at"),
            sent=row["sent"], acked=row["acked"], failed=row["failed"], offsets=row["offsets"],
            overwritten=row["overwritten"], stored=_sources(row["stored"], paths),
            handled=_sources(row["handled"], paths), keyed=row["keyed"],
            first=cited(first["source"], first["line"], paths, quoted),
            last=cited(last["source"], last["line"], paths, quoted),
        )  # fmt: skip


def parts(rows: Sequence[Row], paths: Mapping[str, str], quoted: Quoted) -> Iterator[Part]:
    """A part for each partition that a ledger or dump tells of."""
    names = ("party", "group", "first_offset", "last_offset", "start")
    for row in rows:
        source = row["source"]
        told: dict[str, Any] = {name: row.get(name) for name in names}
        yield Part(
            source=paths[source], role=row["role"], told=row.get("told") or "format", topic=row["topic"],
            queue=row["queue"], messages=row["messages"], keys=min(row["keys"], row["messages"]),
            first_at=seconds(row, "first_at"), last_at=seconds(row, "last_at"),
            first=cited(source, row["first_line"], paths, quoted), last=cited(source, row["last_line"], paths, quoted),
            taken_at=seconds(row, "taken_at"), **told,
        )  # fmt: skip


def titled(facts: Facts) -> Facts:
    """*facts*, in which what ledgers and dumps tell of no topic has the only one that the material knows.

    Ledgers, dumps, positions and assignments tell it; where none does, what else names a partition.
    Messages that stand where others of that topic do stay without one: they may be the same, and were told apart.
    Counts that stay without a topic are left out.
    """
    groups = _topics([*(row.topic for row in facts.positions), *(row.topic for row in facts.assignments)])
    told = _topics([*(fate.topic for fate in facts.fates), *(part.topic for part in facts.parts)])
    named = (told | groups) or _topics(episode.topic for episode in facts.episodes if episode.queue)
    if len(named) != 1 or _stand_together(facts.fates):
        return replace(
            facts,
            tallies=tuple(tally for tally in facts.tallies if tally.topic),
            deliveries=tuple(delivery for delivery in facts.deliveries if delivery.topic),
        )
    topic = min(named)
    return replace(
        facts,
        fates=tuple(fate if fate.topic else replace(fate, topic=topic) for fate in facts.fates),
        parts=tuple(part if part.topic else replace(part, topic=topic) for part in facts.parts),
        tallies=tuple(tally if tally.topic else replace(tally, topic=topic) for tally in facts.tallies),
        deliveries=tuple(d if d.topic else replace(d, topic=topic) for d in facts.deliveries),
    )


def _topics(names: Iterable[str | None]) -> set[str]:
    """The topics of users: those that begin with two underscores are the broker's."""
    return {name for name in names if name and not name.startswith("__")}


def _stand_together(rows: Iterable[Fate]) -> bool:
    """Whether a run without a topic begins within a run that has one, or the other way round, in one partition.

    Or one that was acknowledged and one that was handled: ledgers that could not be joined tell of the same messages.
    """
    own = [fate for fate in rows if not fate.topic.startswith("__")]
    loose = [fate for fate in own if not fate.topic and not fate.overwritten]
    apart = [(fate, bool(fate.acked)) for fate in loose if bool(fate.acked) is not bool(fate.handled)]
    return _within_another([(fate, bool(fate.topic)) for fate in own]) or _within_another(apart)


def _within_another(rows: Iterable[tuple[Fate, bool]]) -> bool:
    """Whether a run of one kind begins within a run of the other kind."""
    latest: dict[tuple[str, bool], int] = {}
    placed = [(f.queue, f.first_offset, f.last_offset, kind) for f, kind in rows]
    spans = [
        (queue, first, last, kind) for queue, first, last, kind in placed if first is not None and last is not None
    ]
    for queue, first, last, kind in sorted(spans):
        if latest.get((queue, not kind), -1) >= first:
            return True
        latest[queue, kind] = max(latest.get((queue, kind), -1), last)
    return False


def _sources(links: Sequence[str], paths: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(paths[link] for link in links))
