"""Messages of MQTT, one row each: who published it, and which ledgers note it how often.

A message is told apart by its id. Where publishers use the same ids, since each counts from 0, the topic tells them
apart, too; a ledger behind a bridge may note an id under another topic than its publisher. What two publishers say
that they sent under one id and topic is told by neither.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_DATED = "CASE WHEN role = 'sent' THEN 0 WHEN publishes THEN 1 WHEN heard THEN 2 ELSE 3 END"
_PARTS = "source, role, party, topic, at, line, qos, times, publishes, heard, sender, promised, answered, bad"
_TITLES = """array_distinct(transform(
    filter(parts, p -> p.topic IS NOT NULL AND (p.publishes OR NOT exists(parts, q -> q.publishes))), p -> p.topic))"""
_ABOUT = """CASE
    WHEN array_contains(titles, part.topic) THEN part.topic
    WHEN size(titles) = 0 THEN ''
    WHEN size(titles) = 1 AND (part.topic IS NULL OR NOT exists(parts,
        q -> q.source = part.source AND q.publishes = part.publishes AND q.topic = titles[0])) THEN titles[0]
    WHEN part.publishes THEN
        get(filter(parts, q -> q.publishes AND q.sender = part.sender AND q.topic IS NOT NULL), 0).topic
    ELSE part.topic END"""
_AGAIN = """flatten(collect_list(transform(slice(times, 2, size(times)), t -> struct(source, role, t.at, t.line,
    (unix_micros(t.at) - unix_micros(times[0].at)) / 1e6D AS seconds))))"""


def messages(notes: DataFrame) -> DataFrame:
    """One row a message of *notes* (``thinning.mqtt_notes``), worked out now.

    key, topic, sender, party, failed, qos, received (source and n), arrived (source and at), ``first`` (at, source and
    line of the note that dates it), and ``again`` for each row with which a ledger notes it once more. Only ids that
    tell the messages of one ledger apart count.
    """
    return _known(_noted(_parted(notes))).localCheckpoint()


def _parted(notes: DataFrame) -> DataFrame:
    """What each ledger notes of a key under each topic, and which of the messages with this key it is about."""
    ledgers = ("mqtt", "publishes", "heard", "sender", "promised", "own")
    counted = notes.repartition("key").groupBy("key", "topic", "source", "role", *ledgers).agg(
        F.expr("min(struct(at, line, qos, party)) AS first"),
        F.expr("sort_array(collect_list(struct(at, line))) AS times"),
        F.expr("bool_or(answered) AS answered"),
        F.expr("bool_or(bad) AS bad"),
    )  # fmt: skip
    parts = counted.selectExpr("key", "own", "* EXCEPT (key, own, first)", "first.*").groupBy("key").agg(
        F.expr(f"collect_list(struct({_PARTS})) AS parts"), F.expr("bool_or(own) AS own")
    )  # fmt: skip
    opened = parts.where("own").selectExpr("key", "parts", f"{_TITLES} AS titles", "explode(parts) AS part")
    return opened.selectExpr("key", f"{_ABOUT} AS about", "part.*").where("about IS NOT NULL")


def _noted(parts: DataFrame) -> DataFrame:
    """What each ledger notes of a message, whatever the topics."""
    who = ("source", "role", "publishes", "heard", "sender", "promised")
    return parts.groupBy("key", "about", *who).agg(
        F.expr("min(struct(at, line, qos, party, topic)) AS first"),
        F.expr("sort_array(flatten(collect_list(times))) AS times"),
        F.expr("bool_or(answered) AS answered"),
        F.expr("bool_or(bad) AS bad"),
    )


def _known(noted: DataFrame) -> DataFrame:
    """One row a message."""
    dated = f"struct({_DATED} AS stage, first.at, source, first.line, sender, first.party, first.qos, first.topic)"
    came = "struct(first.at, source, first.line, first.qos, first.topic)"
    together = noted.groupBy("key", "about").agg(
        F.expr(f"min({dated}) AS dated"),
        F.expr(f"min({came}) FILTER (WHERE heard AND first.qos IS NOT NULL) AS came"),
        F.expr(f"min({came}) FILTER (WHERE heard) AS heard"),
        F.expr("collect_set(sender) FILTER (WHERE publishes) AS senders"),
        F.expr("collect_set(sender) FILTER (WHERE role = 'sent' AND publishes) AS sent"),
        F.expr("bool_or(answered) FILTER (WHERE publishes) AS answered"),
        F.expr("bool_or(bad) FILTER (WHERE publishes) AS bad"),
        F.expr("bool_or(promised) FILTER (WHERE publishes) AS promised"),
        F.expr("sort_array(collect_list(struct(source, size(times) AS n)) FILTER (WHERE heard)) AS received"),
        F.expr("collect_list(struct(source, first.at AS at)) FILTER (WHERE heard) AS arrived"),
        F.expr(f"{_AGAIN} AS again"),
    )
    alone = "CASE WHEN size(sent) > 0 THEN size(sent) ELSE size(senders) END <= 1"
    return together.where(f"dated.stage < 3 AND {alone}").selectExpr(
        "key", "coalesce(dated.topic, heard.topic) AS topic",
        "CASE WHEN dated.stage < 2 THEN dated.sender END AS sender",
        "CASE WHEN dated.stage < 2 THEN dated.party END AS party",
        "coalesce(NOT answered AND (bad OR promised AND coalesce(dated.qos, 1) > 0), false) AS failed",
        "coalesce(dated.qos, came.qos) AS qos", "received", "arrived", "again",
        "struct(dated.at, dated.source, dated.line, key) AS first",
    )  # fmt: skip
