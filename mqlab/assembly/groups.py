"""From the rows that leave Spark to the rows of Facts about consumer groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mqlab.assembly.payloads import Row, moment, text
from mqlab.clocks.zones import Instant
from mqlab.rows.groups import Assignment, Batch, Client, Delivery, Tally


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
        sources = tuple(sorted(names[link] for link in row["sources"]))
        yield Delivery(float(row["at"]), row["topic"], row["queue"], sources, row["messages"])


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
