"""Whose side ledgers are on that do not say it: who notes messages first has sent them, who notes them later got them.

Two ledgers are compared where both note messages: those of one topic of MQTT, those of one queue of other systems. A
message is told by its topic and key there, by its place and its key or topic here. One ledger *follows* another one
where it notes nearly all of these messages, too, and most of them later. Of MQTT's, two receivers may follow each other
by a hair's breadth, so who sends must note answers besides. Clocks of other zones are off by a quarter of an hour or
more: that tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

NEARLY_ALL = 0.9
"""Share of its messages that the other ledger must note, too: some may be of others."""
OFTEN = 2
"""How much more often the one must be later: an answer may be noted a millisecond after its message was handled."""
ZONE = 900_000_000
"""Microseconds by which clocks of different zones differ at least."""
_ROLES = ~pl.col("role").is_in(["stored", "dump", "failed"]).fill_null(False)


@dataclass(frozen=True, slots=True)
class Silent:
    """Links of ledgers whose role is asked for."""

    links: frozenset[str]
    answered: frozenset[str] = frozenset()
    """Those whose rows note an answer besides."""
    mqtt: frozenset[str] = frozenset()
    """All ledgers of MQTT, where the silent ones are of them: none of others tells anything about these."""


def filled(rows: pl.DataFrame, silent: Silent) -> pl.DataFrame:
    """Rows of LEDGER with the role of *silent* ledgers where it can be told; what cannot be told stays as it is."""
    roles = _roles(_pairs(_noted(rows, silent), silent), silent) if silent.links else {}
    if not roles:
        return rows
    told = pl.col("source").replace_strict(roles, default=None, return_dtype=pl.String)
    return rows.with_columns(
        pl.when(told.is_not_null()).then(pl.lit("shape")).otherwise("told").alias("told"),
        pl.coalesce(told, "role").alias("role"),
    )


def _noted(rows: pl.DataFrame, silent: Silent) -> pl.DataFrame:
    """One row for each message and ledger: when it is first noted there, and where it belongs; keys are numbers."""
    scope, place = ("topic", "key") if silent.mqtt else ("queue", "position")
    among = pl.col("source").is_in(sorted(silent.mqtt)) if silent.mqtt else pl.lit(True)
    told = rows.lazy().filter(among, _ROLES, pl.all_horizontal(pl.col("wall", scope, place).is_not_null())).select(
        pl.col("source", "role", "topic", "queue").cast(pl.Categorical), pl.col("key").rank("dense"), "position", "wall"
    )  # fmt: skip
    known = told.with_columns(pl.col(scope).alias("scope"), pl.col(place).cast(pl.Int64).alias("place"))
    by = ("source", "topic", "scope", "place", "key")
    return known.group_by(by).agg(pl.col("wall").min().alias("at"), pl.col("role").min()).collect()


def _pairs(noted: pl.DataFrame, silent: Silent) -> Sequence[Mapping[str, Any]]:
    """Ordered pairs of ledgers, one of them silent: how many messages both note, and which of them later.

    ``base`` counts messages of the one in scopes that the other one notes, too; ``role`` is that of the other one.
    """
    asked = pl.col("one").is_in(sorted(silent.links))
    pairs = _shared(noted, asked).join(_common(noted, asked), on=["one", "other"])
    turned = pairs.filter(~pl.col("other").is_in(sorted(silent.links))).select(
        one="other", other="one", same="same", later="earlier", earlier="later", gap="gap",
        base="base_other", role="role_one", base_other="base", role_one="role",
    )  # fmt: skip
    return pl.concat([pairs, turned]).to_dicts()


def _shared(noted: pl.DataFrame, asked: pl.Expr) -> pl.DataFrame:
    """Messages that a ledger that is *asked* for shares with another one."""
    told = noted.lazy()
    one, other = told.rename({"source": "one"}).filter(asked), told.rename({"source": "other"})
    gap = (pl.col("at") - pl.col("at_right")).alias("gap")
    unkeyed = pl.col("key").is_null() | pl.col("key_right").is_null()
    by_key = one.join(other, on=["scope", "place", "key"])
    by_topic = one.join(other, on=["scope", "place", "topic"]).filter(unkeyed)
    both = pl.concat([pairs.select("one", "other", gap) for pairs in (by_key, by_topic)])
    return both.filter(pl.col("one") != pl.col("other")).group_by("one", "other").agg(
        pl.len().alias("same"),
        (pl.col("gap") > 0).sum().alias("later"),
        (pl.col("gap") < 0).sum().alias("earlier"),
        pl.col("gap").abs().quantile(0.5, "lower").alias("gap"),
    ).collect()  # fmt: skip


def _common(noted: pl.DataFrame, asked: pl.Expr) -> pl.DataFrame:
    """Messages of a ledger that is *asked* for and of another one in scopes that both note, and their roles."""
    scopes = noted.group_by("source", "topic", "scope").agg(pl.len().alias("messages"), pl.col("role").min())
    one, other = scopes.rename({"source": "one"}).filter(asked), scopes.rename({"source": "other"})
    unknown = pl.col("topic").is_null()
    both = pl.concat([
        one.join(other, on=["scope", "topic"]),
        one.filter(unknown).join(other.drop("topic"), on="scope"),
        one.filter(~unknown).join(other.filter(unknown).drop("topic"), on="scope"),
    ], how="diagonal")  # fmt: skip
    return (
        both.filter(pl.col("one") != pl.col("other"))
        .group_by("one", "other")
        .agg(
            pl.col("messages").sum().alias("base"),
            pl.col("role_right").min().alias("role"),
            pl.col("messages_right").sum().alias("base_other"),
            pl.col("role").min().alias("role_one"),
        )
    )


def _roles(pairs: Sequence[Mapping[str, Any]], silent: Silent) -> dict[str, str]:
    """Roles by link: who follows somebody received, whom others follow has sent."""
    sender, receiver = ("sent", "received") if silent.mqtt else ("acked", "processed")
    follows = [(pair["one"], pair["other"]) for pair in pairs if _follows(pair, silent)]
    after, followed = {one for one, _ in follows}, {other for _, other in follows}
    roles = dict.fromkeys(silent.links & after, receiver)
    first = followed & silent.links - after
    return roles | {link: sender for link in first if not silent.mqtt or link in silent.answered}


def _follows(pair: Mapping[str, Any], silent: Silent) -> bool:
    """Whether the one ledger notes nearly all messages of the other one later.

    A ledger with the places of what Kafka acknowledged is first, whatever the clocks say.
    """
    if pair["same"] < NEARLY_ALL * pair["base"]:
        return False
    if pair["role"] == "acked" and pair["other"] not in silent.links and not silent.mqtt:
        return True
    return bool(pair["later"] > OFTEN * pair["earlier"] and pair["gap"] < ZONE)
