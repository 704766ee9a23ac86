"""From the rows that leave Spark to the rows of Facts about messages and groups; clocks of ledgers write their zone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mqlab.assembly.rows import Quoted, cited, moment, seconds, text
from mqlab.clocks.zones import MICRO, Instant, Row
from mqlab.facts import Facts
from mqlab.rows import Assignment, Batch, Client, Delivery, Fate, Flow, Part, Passage, Receipt, Tally, TopicFlow


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


def flows(rows: Sequence[Row], paths: Mapping[str, str], quoted: Quoted) -> Iterator[Flow]:
    """A flow for each run of messages; *paths* are those of the links."""
    for row in rows:
        yield Flow(
            **_fate(row, paths, quoted),
            first_key=row["first"]["key"],
            last_key=row["last"]["key"],
        )


def topic_flows(rows: Sequence[Row], paths: Mapping[str, str], quoted: Quoted) -> Iterator[TopicFlow]:
    """A flow for each topic and fate."""
    for row in rows:
        yield TopicFlow(topic=row.get("topic"), topics=row["topics"], **_fate(row, paths, quoted))


def receipts(rows: Sequence[Row], paths: Mapping[str, str], quoted: Quoted) -> Iterator[Receipt]:
    """What each ledger notes within ten seconds."""
    for row in rows:
        file = row.get("file") or row["source"]
        yield Receipt(
            at=float(row["at"]), source=paths[row["source"]], role=row["role"], rows=row["rows"],
            topics=row["topics"], dup=row["dup"], retained=row["retained"],
            again=row.get("again") or 0, again_seconds=row.get("again_seconds") or 0.0, line=row["line"],
            again_line=row.get("again_line"), text=quoted.get((file, row["line"]), ""),
            again_text=quoted.get((file, row.get("again_line") or 0), ""),
            file="" if file == row["source"] else paths[file],
            retained_line=row.get("retained_line"), retained_text=quoted.get((file, row.get("retained_line") or 0), ""),
            last_at=None if row.get("last_at") is None else row["last_at"] / MICRO,
        )  # fmt: skip


def passages(rows: Sequence[Row], paths: Mapping[str, str]) -> Iterator[Passage]:
    """How long messages took from ledger to ledger."""
    for row in rows:
        least, median, most, at = (row[name] / MICRO for name in ("least", "median", "most", "at"))
        yield Passage(paths[row["source"]], paths[row["receiver"]], row["messages"], least, median, most, at)


def _fate(row: Row, paths: Mapping[str, str], quoted: Quoted) -> dict[str, Any]:
    """What flows of both kinds tell."""
    sender = row.get("sender")
    return {
        "sender": paths[sender] if sender else None,
        "party": row.get("party"),
        "messages": row["messages"],
        "failed": row["failed"],
        "unanswered": row["unanswered"],
        "qos": row.get("qos"),
        "received": tuple(sorted((paths[one["source"]], one["n"]) for one in row["received"])),
        "first_at": row["first_at"] / MICRO,
        "last_at": row["last_at"] / MICRO,
        "first": cited(row["first"]["source"], row["first"]["line"], paths, quoted),
        "last": cited(row["last"]["source"], row["last"]["line"], paths, quoted),
    }


def clients(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> Iterator[Client]:
    """A client for each row of CLIENTS."""
    names = ("group", "client_id", "peer", "subscription", "version", "line", "connected", "clean", "expiry", "queued",
             "dropped")  # fmt: skip
    for row in rows:
        told: dict[str, Any] = {name: row.get(name) for name in names}
        system = row.get("system") or "kafka"
        yield Client(at=moment(row, path(row), instant), system=system, source=path(row), text=text(row), **told)


def assignments(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> Iterator[Assignment]:
    """An assignment for each row of ASSIGNMENTS that names a queue."""
    names = ("group", "client_id", "member_id", "peer", "line")
    for row in rows:
        if row.get("topic") is None or row.get("queue") is None:
            continue
        told: dict[str, Any] = {name: row.get(name) for name in names}
        yield Assignment(
            at=moment(row, path(row), instant), topic=row["topic"], queue=row["queue"], source=path(row),
            text=text(row), **told,
        )  # fmt: skip


def tallies(rows: Sequence[Row], path: Callable[[Row], str]) -> Iterator[Tally]:
    """Counts of messages; the clocks of ledgers are epochs or write their zone."""
    for row in rows:
        yield Tally(
            float(row["at"]), row.get("role") or "", row["topic"], row["queue"], row["messages"], path(row), row["line"]
        )


def deliveries(rows: Sequence[Row], names: Mapping[str, str]) -> Iterator[Delivery]:
    """Which ledgers note the same messages; *names* gives the path of each link."""
    for row in rows:
        known = row["times"] or [0] * len(row["sources"])
        noted = sorted((names[link], at / MICRO) for link, at in zip(row["sources"], known, strict=True))
        times = tuple(at for _, at in noted) if row["times"] else ()
        sources = tuple(name for name, _ in noted)
        yield Delivery(float(row["at"]), row["topic"], row["queue"], sources, row["messages"], times)


def batches(
    rows: Sequence[Row],
    names: Mapping[str, Mapping[str, str | None]],
    path: Callable[[Row], str],
    instant: Instant,
) -> Iterator[Batch]:
    """Polls worked off. Applications seldom say for whom: *names* has the only client and group of a link."""
    for row in rows:
        at = moment(row, path(row), instant)
        if at is None:
            continue
        only = names.get(row["source"], {})
        yield Batch(
            at=at, client_id=row.get("client_id") or only.get("client_id"), group=row.get("group") or only.get("group"),
            polls=row["polls"], records=row["records"], seconds=row["seconds"], longest_seconds=row["longest_seconds"],
            longest_records=row["longest_records"], source=path(row), line=row["line"], text=text(row),
        )  # fmt: skip


def lone_names(gathered: Mapping[str, Sequence[Row]]) -> Mapping[str, Mapping[str, str | None]]:
    """The client and the group of each link that names only one, in its lines or in printed settings.

    A producer beside a consumer does not count: records are worked off by who is in a group.
    """
    keys = {"client.id": "client_id", "group.id": "group"}
    rows = [(r["source"], n, r.get(n), bool(r.get("group"))) for r in gathered["events"] for n in keys.values()]
    rows += [
        (r["source"], keys[r["key"]], r.get("value"), r.get("scope") == "consumer")
        for r in gathered["settings"]
        if r["key"] in keys
    ]
    told: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
    for source, name, value, consumer in rows:
        if value:
            told[source, name, consumer].add(value)
    links = sorted({source for source, _, _ in told})
    return {link: {name: _only(told, link, name) for name in keys.values()} for link in links}


def _only(told: Mapping[tuple[str, str, bool], set[str]], link: str, name: str) -> str | None:
    values = told.get((link, name, True)) or told.get((link, name, False), set())
    return next(iter(values)) if len(values) == 1 else None
