"""LEDGER, thinned: counts instead of messages, and what became of messages as runs instead of rows.

In ``tallies`` and ``deliveries`` a message is (topic, queue, offset); where a ledger notes no offset, (topic, key).
Where the log gave a place to several messages, ``deliveries`` tells them apart.
``fates`` says how messages are told apart there. Messages of MQTT have neither queues nor offsets, and no ledger
must note all of them: they are told by ``mqtt_flows`` instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from mqlab.ledgers.layout import FIELDS, Holder
from mqlab.thinning import MICROS, SECONDS, fates, ledger_roles, mqtt_flows, overlaps, rotated
from mqlab.thinning.ledger_roles import PLACED, Silent

_ROW = ("source", "line", "told", "party", "group", "position", "wall", "key")


def parts(rows: pl.DataFrame, topics: pl.DataFrame) -> pl.DataFrame:
    """One row for each source, role, topic and queue of LEDGER, with the topic that the ledger is about.

    Records of control and the row that stands for a dump itself are not counted, but their offsets are covered.
    """
    inside = pl.col("role") != "dump"
    known = rows.filter(pl.col("role").is_not_null()).select(
        *_ROW,
        inside.alias("inside"),
        (inside & pl.col("status").ne_missing("control")).alias("record"),
        pl.col("role").replace("dump", "stored"),
        pl.col("topic", "queue").fill_null(""),
    )
    titled = known.join(topics.select("source", "topic", "title"), on=["source", "topic"], how="left")
    named = titled.with_columns(pl.coalesce("title", "topic").alias("topic"))
    position, wall, record = (pl.col(name) for name in ("position", "wall", "record"))
    return named.group_by("source", "role", "topic", "queue").agg(
        pl.col("told", "party", "group").min(),
        record.sum().alias("messages"),
        pl.col("key").filter(record).drop_nulls().n_unique().alias("keys"),
        position.filter("inside").min().alias("first_offset"),
        position.filter("inside").max().alias("last_offset"),
        wall.filter("inside").min().alias("first_at"),
        wall.filter("inside").max().alias("last_at"),
        pl.col("line").min().alias("first_line"),
        pl.col("line").max().alias("last_line"),
        position.filter(~pl.col("inside")).min().alias("start"),
        wall.filter(~pl.col("inside")).max().alias("taken_at"),
    )


_UNDATED = pl.col("role").is_in(["stored", "dump"])
_BEGIN = (pl.col("wall") // MICROS * SECONDS).alias("at")
_SECOND = 1_000_000
_COLUMNS = (
    "source", "line", "role", "told", "party", "group", "topic", "queue", "position", "key", "status", "wall",
    "dup", "qos", "retained",
)  # fmt: skip
_NAMES = ("source", "party", "group", "topic", "queue")


@dataclass(frozen=True, slots=True)
class Known:
    """What recognition knows of ledgers, by their links."""

    mqtt: frozenset[str] = frozenset()
    """Those about messages of MQTT."""
    silent: frozenset[str] = frozenset()
    """Those that do not say what was done with a message."""
    answered: frozenset[str] = frozenset()
    """Those whose rows note a second moment."""
    holders: Mapping[str, Holder] = field(default_factory=dict)
    """Whose they are; those that are preferred where several note the same rows come first."""

    @classmethod
    def of(
        cls, layouts: Mapping[str, str], holders: Mapping[str, Holder] | None = None, *, only_mqtt: bool = False
    ) -> Known:
        """From the layouts of ledgers by link (``Source.layout``), and whose they are.

        *only_mqtt*: all other material is of MQTT, and so are ledgers that note neither topics nor places in a log.
        """
        by_link = {link: json.loads(layout) for link, layout in layouts.items()}
        mqtt = frozenset(
            link for link, layout in by_link.items() if layout.get("mqtt") or (only_mqtt and _is_placeless(layout))
        )
        said = FIELDS.index("role")
        silent = {
            link for link, layout in by_link.items()
            if layout["columns"][said] is None
            and (layout.get("role") is None or (layout.get("told") == "shape" and link not in mqtt))
        }  # fmt: skip
        answered = frozenset(link for link, one in by_link.items() if one.get("answered"))
        return cls(mqtt, frozenset(silent), answered, holders or {})


def _is_placeless(layout: Mapping[str, Any]) -> bool:
    """Whether its rows tell messages apart, and say nothing of where they stand."""
    named = {field for field, place in zip(FIELDS, layout["columns"], strict=True) if place is not None}
    return "key" in named and not (named & {"topic", "queue", "offset", "place", "broker"} or layout.get("topic"))


def thinned(rows: pl.DataFrame, known: Known, *, others: bool = True) -> Mapping[str, pl.DataFrame]:
    """What is told of messages, by fact: tallies, deliveries, parts and fates; and what is told of ledgers of MQTT.

    And which rows count elsewhere (``overlaps``). *others* is whether there is anything but ledgers of MQTT.
    """
    ledger, twice = overlaps.cut(parsed(rows), known.holders)
    same = dict(twice.filter(~pl.col("open")).select("source", "other").rows())
    holders = {link: known.holders[same.get(link, link)] for link in known.holders}
    return {"overlaps": twice, **_thinned(ledger, replace(known, holders=holders), others=others)}


def _thinned(ledger: pl.DataFrame, known: Known, *, others: bool) -> Mapping[str, pl.DataFrame]:
    if not known.mqtt:
        return _placed(ledger_roles.filled(ledger, Silent(known.silent)))
    mine = Silent(known.silent & known.mqtt, known.answered, known.mqtt)
    heard = ledger_roles.filled(ledger, mine)
    if not others:
        return _flows(heard, known, others=False)
    told = ledger_roles.filled(heard, Silent(known.silent - known.mqtt))
    placed = _placed(told.filter(~mqtt_flows.mqtt(known.mqtt)))
    return {**_flows(told, known, others=True), **placed}


def _flows(rows: pl.DataFrame, known: Known, *, others: bool) -> Mapping[str, pl.DataFrame]:
    """What is told of messages of MQTT."""
    first = rotated.firsts(known.holders, known.mqtt)
    if not first:
        return mqtt_flows.thinned(rows, known.mqtt, others=others)
    found = mqtt_flows.thinned(rotated.as_one(rows, first), known.mqtt, others=others)
    return {fact: rotated.apart(frame, first) for fact, frame in found.items()}


def _placed(ledger: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """What is told of messages that have places or stand in a queue."""
    rows = _coded(ledger.drop("dup", "qos", "retained"))
    topics = ledger_roles.topics(rows)
    titled, notes = _titled(rows, topics), fates.notes(rows, topics)
    return {
        "tallies": tallies(titled),
        "deliveries": deliveries(titled.join(fates.records(notes), on=["source", "line"], how="left")),
        "parts": parts(rows, topics),
        "fates": fates.fates(notes, topics),
    }


def _coded(rows: pl.DataFrame) -> pl.DataFrame:
    """*rows* with names that take less to compare, and keys as numbers in the same order."""
    names = pl.concat([pl.Series([""]), *(rows[name].unique() for name in _NAMES)]).drop_nulls().unique().sort()
    return rows.with_columns(
        pl.col(_NAMES).cast(pl.Enum(names)), pl.col("role", "told").cast(pl.Categorical), pl.col("key").rank("dense")
    )


def parsed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that count: all but those that lack a moment, which only records of dumps may do."""
    return rows.select(_COLUMNS).filter(pl.col("wall").is_not_null() | _UNDATED)


def _titled(rows: pl.DataFrame, topics: pl.DataFrame) -> pl.DataFrame:
    """*rows* with the topic they are about, empty where that stays unknown, and their scope."""
    known = topics.select("source", "topic", "title", pl.col("scope").rank("dense"))
    named = rows.with_columns(pl.col("topic").fill_null("")).join(known, on=["source", "topic"], how="left")
    return named.with_columns(pl.coalesce("title", "topic").alias("topic"))


def tallies(ledger: pl.DataFrame) -> pl.DataFrame:
    """source, role, topic, queue, at (seconds), messages, and the first line; no text, so that it is only counted."""
    known = ledger.filter(pl.col("wall").is_not_null() & ~_UNDATED.fill_null(False))
    return known.group_by("source", "role", "topic", pl.col("queue").fill_null(""), _BEGIN).agg(
        pl.len().alias("messages"), pl.col("line").min()
    )


def deliveries(ledger: pl.DataFrame) -> pl.DataFrame:
    """Source (of the first ledger), topic, queue, at (seconds, of the first time), sources, times and messages.

    Only what was received, consumed or processed. The sources of a message are sorted; one that notes it twice stands
    there twice. Messages that are noted more often than most of their queue, or again by one source and more often than
    most of their topic, are counted by the seconds at which each source did; ``times`` are the moments, in
    microseconds, of the first of those.
    """
    handled = ledger.filter(fates.HANDLED & pl.col("wall").is_not_null() & (PLACED | pl.col("key").is_not_null()))
    told = handled.sort("source", "wall").select(
        "source", "topic", "scope", "record", "wall", _BEGIN,
        pl.col("queue").fill_null(""),
        pl.when(PLACED).then("position").alias("position"),
        pl.when(~PLACED).then("key").alias("key"),
    )  # fmt: skip
    messages = told.group_by("scope", "queue", "position", "key", "record").agg(
        pl.col("topic").first(), pl.col("at").min(), pl.col("source").alias("sources"), pl.col("wall").alias("times")
    )
    often = pl.col("sources").list.len()
    usual, anywhere = often.mode().min().over("scope", "queue"), often.mode().min().over("scope")
    by_one = (pl.col("sources").list.n_unique() < often) & (often > anywhere)
    moments = pl.when((often > usual) | by_one).then("times").otherwise(pl.col("times").list.head(0))
    again = messages.with_columns(moments.alias("times"))
    seconds = pl.col("times").list.eval(pl.element() // _SECOND).alias("seconds")
    counted = (
        again.sort("times")
        .group_by("topic", "queue", "at", "sources", seconds, maintain_order=True)
        .agg(pl.len().alias("messages"), pl.col("times").first())
    )
    return counted.drop("seconds").with_columns(pl.col("sources").list.first().alias("source"))
