"""LEDGER of MQTT, thinned: what became of messages as runs and by topic, and what each ledger notes when.

Rows of ledgers without ids are counted only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from mqlab.thinning import mqtt_messages
from mqlab.thinning.mqtt_messages import NOTED, Messages

RUNS = 1000
"""Runs of a sender that are told one by one; members of a share group take turns, so that there may be as many as
messages, and facts must not grow with those."""
TOPICS = 2000
"""Topics that are told one by one."""
BUCKET = 10
"""Seconds that one row spans."""

_FATE = ("sender", "party", "failed", "qos", "received")


def thinned(rows: pl.DataFrame, links: Collection[str], *, others: bool) -> Mapping[str, pl.DataFrame]:
    """flows, topic_flows, receipts and passages of the MQTT ledgers *links*, from rows of LEDGER.

    *others* is whether there are rows of other ledgers.
    """
    told = rows.filter(NOTED).select(
        pl.col("source", "role", "party", "topic").cast(pl.Categorical), "line", "key", "status", "qos", "wall",
        pl.col("dup").str.to_lowercase().is_in(["true", "1"]).fill_null(False),
        (pl.col("retained") == "true").fill_null(False),
    )  # fmt: skip
    messages = mqtt_messages.messages(mqtt_messages.notes(told, links, others=others))
    return {
        "flows": _flows(messages.known),
        "topic_flows": _topic_flows(messages.known),
        "receipts": _receipts(told, links, messages),
        "passages": _passages(messages),
    }


def _told(messages: pl.DataFrame) -> pl.DataFrame:
    return messages.with_row_index("first").with_columns(last="first", messages=1)


def _together(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Rows that are alike *by* some columns as one, and how many they were; ``first`` and ``last`` count messages."""
    ends = (pl.col("messages").sum(), pl.col("first").min(), pl.col("last").max(), pl.len().alias("pieces"))
    return rows.group_by(by).agg(*ends)


def _placed(flows: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """*flows* with what is told of their first and last messages."""
    ends = {name: messages[flows[name]] for name in ("first", "last")}
    places = {name: end.select(pl.struct("source", "line", "key")).to_series() for name, end in ends.items()}
    moments = {f"{name}_at": end["at"] for name, end in ends.items()}
    return flows.with_columns(ends["first"]["source"], **places, **moments)


def _flows(messages: pl.DataFrame) -> pl.DataFrame:
    """Messages of a sender that follow one another with the same fate as one row, at most ``RUNS`` of a sender."""
    told = _told(messages).sort("sender", maintain_order=True)
    numbered = told.with_columns(run=pl.struct("sender", "failed", "qos", "received").rle_id().cast(pl.Int64))
    run = pl.col("run")
    many = (run.max() - run.min() >= RUNS).over("sender")
    pieces = numbered.with_columns(pl.when(many).then(_begin("at")).otherwise(-1 - run).alias("run"))
    return _placed(_together(pieces, *_FATE, "run").drop("run", "pieces"), messages)


def _topic_flows(messages: pl.DataFrame) -> pl.DataFrame:
    """Messages by topic, sender and fate; topics that miss or double most come first, ``TOPICS`` of them alone."""
    by_topic = _together(_told(messages), "topic", *_FATE)
    widest = pl.max_horizontal(pl.col("received").list.len().max().over("topic"), 1)
    twice = pl.col("received").list.eval(pl.element().struct.field("n") > 1).list.any()
    odd = (pl.col("received").list.len() < widest) | twice
    topics = by_topic.with_columns(odd=pl.when(odd).then("messages").otherwise(0)).group_by("topic").agg(
        pl.col("odd", "messages").sum()
    )  # fmt: skip
    ranked = topics.filter(pl.col("topic").is_not_null()).sort(
        "odd", "messages", "topic", descending=[True, True, False]
    )
    alone = ranked.head(TOPICS)["topic"]
    named = by_topic.drop("pieces").with_columns(pl.when(pl.col("topic").is_in(alone.implode())).then("topic"))
    return _placed(_together(named, "topic", *_FATE).rename({"pieces": "topics"}), messages)


def _receipts(rows: pl.DataFrame, links: Collection[str], messages: Messages) -> pl.DataFrame:
    """Rows of each ledger by ten seconds; those of other systems' ledgers where they tell of these messages."""
    by = ["source", "role", "at"]
    heard = messages.known["received"].unique().explode().struct.field("source").unique()
    told = rows.filter(pl.col("source").is_in(heard.implode()) | mqtt_messages.mqtt(links)).select(
        "source", "role", _begin("wall").alias("at"), "topic", "line", "dup", "retained"
    )
    counted = told.group_by(by).agg(
        pl.len().alias("rows"), pl.col("topic").drop_nulls().n_unique().alias("topics"),
        pl.col("dup", "retained").sum(), pl.col("line").min(),
    )  # fmt: skip
    repeated = (
        messages.again.with_columns(_begin("at"))
        .group_by(by)
        .agg(
            pl.len().alias("again"),
            pl.col("seconds").max().alias("again_seconds"),
            pl.col("line").min().alias("again_line"),
        )
    )
    return counted.join(repeated, on=by, how="left")


def _passages(messages: Messages) -> pl.DataFrame:
    """How long messages took from their publisher to each receiver that notes them, the first time."""
    sent = messages.known.filter(pl.col("sender").is_not_null()).select("message", source="sender", sent_at="at")
    arrived = messages.arrived.select("message", "at", receiver="source")
    took = sent.join(arrived, on="message").with_columns(took=pl.col("at") - pl.col("sent_at"))
    return took.group_by("source", "receiver").agg(
        pl.len().alias("messages"),
        pl.col("took").min().alias("least"),
        pl.col("took").quantile(0.5, "lower").cast(pl.Int64).alias("median"),
        pl.col("took").max().alias("most"),
        pl.col("sent_at").filter(pl.col("took") == pl.col("took").min()).min().alias("at"),
    )


def _begin(at: str) -> pl.Expr:
    return pl.col(at) // (BUCKET * 1_000_000) * BUCKET
