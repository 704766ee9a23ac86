"""From the rows that leave Spark to the rows of Facts about messages of MQTT. Clocks of ledgers write their zone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mqlab.assembly.payloads import MICRO, Quoted, Row, cited
from mqlab.rows.mqtt import Flow, Passage, Receipt, TopicFlow


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
        yield Receipt(
            at=float(row["at"]), source=paths[row["source"]], role=row["role"], rows=row["rows"],
            topics=row["topics"], dup=row["dup"], retained=row["retained"],
            again=row.get("again") or 0, again_seconds=row.get("again_seconds") or 0.0, line=row["line"],
            again_line=row.get("again_line"), text=quoted.get((row["source"], row["line"]), ""),
            again_text=quoted.get((row["source"], row.get("again_line") or 0), ""),
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
        "qos": row.get("qos"),
        "received": tuple(sorted((paths[one["source"]], one["n"]) for one in row["received"])),
        "first_at": row["first_at"] / MICRO,
        "last_at": row["last_at"] / MICRO,
        "first": cited(row["first"]["source"], row["first"]["line"], paths, quoted),
        "last": cited(row["last"]["source"], row["last"]["line"], paths, quoted),
    }
