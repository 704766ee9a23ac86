"""Whose side ledgers are on, and which topic each is about.

Two ledgers are compared where both note messages: those of one topic of MQTT, those of one queue of other systems. A
message is told by its topic and key there, by its place and its key or topic here. One ledger *follows* another one
where it notes nearly all of these messages, too, and most of them later. Of MQTT's, two receivers may follow each other
by a hair's breadth, so who sends must note answers besides. Clocks of other zones are off by a quarter of an hour or
more: that tells nothing.

Two producers may both count from 0: an id alone proves little, so a ledger must share far more of them with one topic
than with any other.

Many ledgers note no topic, and many note as key what a device or a customer is called. Both are told by what the
ledgers share and by how often their keys differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from mqlab.ledgers.columns import DIFFERENT

NEARLY_ALL = 0.9
"""Share of its messages that the other ledger must note, too: some may be of others. Judgement, no default behind it:
edges of the time that is watched, and losses, take a few."""
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

    A ledger with the places of what Kafka acknowledged is first, whatever the clocks say, and whatever else the one
    that has them all notes of other producers.
    """
    if pair["role"] == "acked" and pair["other"] not in silent.links and not silent.mqtt:
        return bool(pair["same"] >= NEARLY_ALL * min(pair["base"], pair["base_other"]))
    if pair["same"] < NEARLY_ALL * pair["base"]:
        return False
    return bool(pair["later"] > OFTEN * pair["earlier"] and pair["gap"] < ZONE)


_FAR_MORE = 10
"""Times as many ids in common as with any other topic: two topics whose producers count from 0 share about as many."""


def with_ids(titles: pl.DataFrame, noted: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """*titles* (source, shared), and the topic by ids where nothing else tells one.

    *told* has the sources with ``topic``, ``placed`` and ``unique``, *noted* the keys that they note.
    """
    loose = told.filter(topic="", placed=0, unique=True).select("source")
    keyed = noted.filter(pl.col("key").is_not_null()) if loose.height else noted.clear()
    by_ids = in_common(keyed.join(loose, on="source", how="semi"), keyed, "key", times=_FAR_MORE)
    both = titles.join(by_ids, on="source", how="left")
    return both.select("source", pl.coalesce("shared", "topic").alias("shared"))


def in_common(loose: pl.DataFrame, noted: pl.DataFrame, *by: str, times: int = 1) -> pl.DataFrame:
    """Source and topic of *loose* ledgers: that of *noted* rows with which they have most of what is told *by* columns.

    It must be more than *times* as many as with any other topic.
    """
    named = noted.filter(pl.col("topic") != "").select("topic", *by)
    shared = loose.select("source", *by).unique().join(named.unique(), on=by) if named.height else named.clear()
    if not shared.height:
        return loose.select("source", "topic").clear()
    counted = shared.group_by("source", "topic").len().sort("len", descending=True)
    clear = pl.col("len").first() > times * pl.col("len").slice(1).max().fill_null(0)
    return counted.group_by("source").agg(pl.col("topic").first(), clear.alias("clear")).filter("clear").drop("clear")


PLACED = pl.col("queue").is_not_null() & pl.col("position").is_not_null()
"""Rows that say where their message is."""
_PLACED_ROLES = ("sent", "acked", "failed", "received", "consumed", "processed", "stored")
_PLACE = ("queue", "position", "key")
_TELLER = pl.col("role").cast(pl.String).replace_strict({"acked": 1, "sent": 2}, default=None, return_dtype=pl.Int8)


def topics(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each source and topic that it notes: source, topic, title, scope and ids.

    ``topic`` is what the row notes, empty where it notes none; ``title`` is the topic it is about, empty where that
    stays unknown; messages of one ``scope`` may be the same: the topic, else who keeps the ledger. ``ids`` is true
    where keys of these rows tell the messages of the scope apart.
    """
    noted = rows.filter(pl.col("role").is_in(_PLACED_ROLES)).select(
        "source", "role", pl.col("topic").fill_null(""), "party", *_PLACE
    )
    told = _told(noted)
    placed = noted.filter(PLACED & pl.col("key").is_not_null()) if "" in told["topic"] else noted.clear()
    without = placed.filter(pl.col("topic") == "")
    shared = in_common(without, placed, *_PLACE).rename({"topic": "shared"})
    titles = with_ids(_of_party(told, shared), noted, told)
    party = pl.col("party").min().over("source", "topic")
    named = pl.when(pl.col("topic") != "").then("topic").otherwise("shared")
    unknown = pl.concat_str(pl.lit("?"), pl.coalesce("kin", party, "source"))
    scoped = (
        told.join(titles, on="source", how="left")
        .join(_kin(without, told), on="source", how="left")
        .with_columns(named.fill_null("").alias("title"), pl.coalesce(named.cast(pl.String), unknown).alias("scope"))
    )
    known = scoped.join(_keyed(scoped, noted), on="scope", how="left")
    ids = (pl.col("unique") & pl.col("keyed").fill_null(False)).all().alias("ids")
    return known.group_by("source", "topic", "title", "scope").agg(ids)


def _told(noted: pl.DataFrame) -> pl.DataFrame:
    """One row for each source, role and topic: how many messages, places and keys it notes, and if keys are ids."""
    by = ("source", "role", "topic")
    key = pl.col("key").drop_nulls()
    counted = noted.group_by(by).agg(
        pl.col("party").min(),
        pl.len().alias("messages"),
        key.len().alias("noted"),
        key.n_unique().alias("keys"),
        PLACED.sum().alias("placed"),
        pl.col("key").filter(PLACED).drop_nulls().n_unique().alias("keys_placed"),
    )
    queues = noted.filter(PLACED).group_by(*by, "queue").agg(pl.col("position").n_unique().alias("places"))
    places = queues.group_by(by).agg(pl.col("places").sum())
    placed = pl.col("keys_placed") >= DIFFERENT * pl.col("places")
    differ = pl.when(pl.col("placed") > 0).then(placed).otherwise(pl.col("keys") >= DIFFERENT * pl.col("messages"))
    unique = (pl.col("noted") >= DIFFERENT * pl.col("messages")) & differ
    return counted.join(places, on=by, how="left").with_columns(unique.alias("unique"))


def _keyed(told: pl.DataFrame, noted: pl.DataFrame) -> pl.DataFrame:
    """Scopes with ``keyed``: each ledger of acknowledgements, else of what was sent, has keys of its own.

    Two producers that both count from 0 for one topic give the same keys to different messages.
    """
    tellers = told.filter(_TELLER.min().over("scope") == _TELLER)
    several = tellers.filter(pl.len().over("scope") > 1).select("source", "role", "topic", "scope")
    rows = noted.join(several, on=["source", "role", "topic"]) if several.height else several.with_columns(key=None)
    together = rows.group_by("scope").agg(pl.col("key").drop_nulls().n_unique().alias("together"))
    summed = tellers.group_by("scope").agg(pl.col("unique").all(), pl.col("keys").sum())
    apart = pl.coalesce("together", "keys") >= DIFFERENT * pl.col("keys")
    return summed.join(together, on="scope", how="left").select("scope", (pl.col("unique") & apart).alias("keyed"))


def _kin(without: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Source and whose messages it is about, where no ledger notes a topic: those of one party's acknowledgements.

    Most of its places and keys are that party's own. What fits two parties is about neither: both may count from 0.
    *without* are the rows with places, keys and no topic.
    """
    acked = pl.col("role") == "acked"
    tellers = without.filter(acked).select(pl.coalesce("party", "source").alias("kin"), *_PLACE).unique()
    others = without.filter(~acked).select("source", *_PLACE).unique()
    shared = others.join(tellers, on=_PLACE).group_by("source", "kin").len()
    placed = told.filter(~acked, topic="").group_by("source").agg(pl.col("placed").sum())
    most = shared.join(placed, on="source").filter(2 * pl.col("len") > pl.col("placed"))
    return most.group_by("source").agg("kin").filter(pl.col("kin").list.len() == 1).explode("kin", empty_as_null=False)


def _of_party(told: pl.DataFrame, shared: pl.DataFrame) -> pl.DataFrame:
    """*shared*, and for what a party sent without a place the only topic in its acknowledgements."""
    both = told.join(shared, on="source", how="left")
    answered = pl.when(pl.col("topic") != "").then("topic").otherwise("shared")
    acked = both.filter(pl.col("party").is_not_null(), role="acked").with_columns(answered.alias("answered"))
    alone = (pl.col("answered").n_unique() == 1).alias("alone")
    only = acked.group_by("party").agg(pl.col("answered").first().alias("only"), alone).filter("alone")
    sent = pl.col("only").filter(pl.col("role").is_in(["sent", "failed"])).max()
    without = both.filter(topic="").join(only, on="party", how="left")
    return without.group_by("source").agg(pl.coalesce(pl.col("shared").max(), sent).alias("shared"))
