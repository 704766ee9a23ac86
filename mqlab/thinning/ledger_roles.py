"""Whose side ledgers are on that do not say it: who notes messages first has sent them, who notes them later got them.

Two ledgers are compared where both note messages: those of one topic of MQTT, those of one queue of other systems. A
message is told by its topic and key there, by its place and its key or topic here. One ledger *follows* another one
where it notes nearly all of these messages, too, and most of them later. Of MQTT's, two receivers may follow each other
by a hair's breadth, so who sends must note answers besides. Clocks of other zones are off by a quarter of an hour or
more: that tells nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from mqlab.sql import quoted

NEARLY_ALL = 0.9
"""Share of its messages that the other ledger must note, too: some may be of others."""
OFTEN = 2
"""How much more often the one must be later: an answer may be noted a millisecond after its message was handled."""
ZONE = 900
"""Seconds by which clocks of different zones differ at least."""
_ROLES = "role IS NULL OR role NOT IN ('stored', 'dump', 'failed')"
_SAME = "(a.key = b.key OR ((a.key IS NULL OR b.key IS NULL) AND a.topic = b.topic))"


@dataclass(frozen=True, slots=True)
class Silent:
    """Links of ledgers whose role is asked for."""

    links: frozenset[str]
    answered: frozenset[str] = frozenset()
    """Those whose rows note an answer besides."""
    mqtt: frozenset[str] = frozenset()
    """All ledgers of MQTT, where the silent ones are of them: none of others tells anything about these."""


def filled(rows: DataFrame, silent: Silent) -> DataFrame:
    """Rows of LEDGER, parsed, with the role of *silent* ledgers where it can be told; runs Spark once if there are any.

    What cannot be told stays as it is.
    """
    if not silent.links:
        return rows
    roles = _roles(_pairs(rows, silent), silent)
    if not roles:
        return rows
    cases = " ".join(f"WHEN {quoted(link)} THEN '{role}'" for link, role in sorted(roles.items()))
    told = f"CASE source {cases} END"
    return rows.withColumns({
        "told": F.expr(f"CASE WHEN {told} IS NOT NULL THEN 'shape' ELSE told END"),
        "role": F.expr(f"coalesce({told}, role)"),
    })  # fmt: skip


def _pairs(rows: DataFrame, silent: Silent) -> Sequence[Row]:
    """Ordered pairs of ledgers, one of them silent: how many messages both note, and which of them later."""
    noted = _noted(rows, silent)
    links = _listed(silent.links)
    asked = f"a.source <> b.source AND (a.source IN ({links}) OR b.source IN ({links}))"
    both = noted.alias("a").join(
        noted.alias("b"), F.expr(f"a.scope = b.scope AND a.place = b.place AND {asked} AND {_SAME}")
    )
    gap = "unix_micros(a.at) - unix_micros(b.at)"
    shared = both.groupBy("a.source", "b.source").agg(
        F.expr("count(1) AS same"), F.expr(f"count_if({gap} > 0) AS later"), F.expr(f"count_if({gap} < 0) AS earlier"),
        F.expr(f"percentile_approx(abs({gap}), 0.5) / 1000000 AS gap"),
    ).toDF("one", "other", "same", "later", "earlier", "gap")  # fmt: skip
    return shared.join(_common(noted, asked), ["one", "other"]).orderBy("one", "other").collect()


def _noted(rows: DataFrame, silent: Silent) -> DataFrame:
    """One row for each message and ledger: when it is first noted there, and where it belongs."""
    scope, place = ("topic", "key") if silent.mqtt else ("queue", "position")
    among = f"source IN ({_listed(silent.mqtt)})" if silent.mqtt else "true"
    told = f"wall IS NOT NULL AND {scope} IS NOT NULL AND {place} IS NOT NULL AND ({_ROLES})"
    known = rows.where(f"{among} AND {told}").selectExpr(
        "source", "role", "topic", f"{scope} AS scope", f"CAST({place} AS STRING) AS place", "key", "wall"
    )
    return known.groupBy("source", "topic", "scope", "place", "key").agg(
        F.expr("min(wall) AS at"), F.expr("min(role) AS role")
    )


def _common(noted: DataFrame, asked: str) -> DataFrame:
    """Ordered pairs of ledgers: messages of the one in scopes that the other one notes, too, and the other's role."""
    scopes = noted.groupBy("source", "topic", "scope").agg(F.expr("count(1) AS messages"), F.expr("min(role) AS role"))
    same = "a.scope = b.scope AND (a.topic = b.topic OR a.topic IS NULL OR b.topic IS NULL)"
    common = scopes.alias("a").join(scopes.alias("b"), F.expr(f"{same} AND {asked}"))
    return common.groupBy("a.source", "b.source").agg(
        F.expr("sum(a.messages) AS base"), F.expr("min(b.role) AS role")
    ).toDF("one", "other", "base", "role")  # fmt: skip


def _listed(links: Collection[str]) -> str:
    return ", ".join(map(quoted, sorted(links)))


def _roles(pairs: Sequence[Row], silent: Silent) -> dict[str, str]:
    """Roles by link: who follows somebody received, whom others follow has sent."""
    sender, receiver = ("sent", "received") if silent.mqtt else ("acked", "processed")
    after = {row["one"]: row["other"] for row in pairs if _follows(row, silent)}
    followed = {row["other"] for row in pairs if _follows(row, silent)}
    roles = dict.fromkeys(silent.links & after.keys(), receiver)
    first = followed & silent.links - after.keys()
    return roles | {link: sender for link in first if not silent.mqtt or link in silent.answered}


def _follows(row: Row, silent: Silent) -> bool:
    """Whether the one ledger notes nearly all messages of the other one later.

    A ledger with the places of what Kafka acknowledged is first, whatever the clocks say.
    """
    if row["same"] < NEARLY_ALL * row["base"]:
        return False
    if row["role"] == "acked" and row["other"] not in silent.links and not silent.mqtt:
        return True
    return bool(row["later"] > OFTEN * row["earlier"] and row["gap"] < ZONE)
