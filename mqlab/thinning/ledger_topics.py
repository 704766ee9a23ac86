"""Which topic each ledger is about, and whether its keys tell messages apart.

Many ledgers note no topic, and many note as key what a device or a customer is called. Both are told by what the
ledgers share and by how often their keys differ.
"""

from __future__ import annotations

import polars as pl

from mqlab.thinning.ledger_ids import in_common, with_ids

IDS = 0.9
"""Different keys for each message from which keys are ids of messages: some records are noted twice; keys of devices
come again after every few records."""
PLACED = pl.col("queue").is_not_null() & pl.col("position").is_not_null()
"""Rows that say where their message is."""
_ROLES = ("sent", "acked", "failed", "received", "consumed", "processed", "stored")
_PLACE = ("queue", "position", "key")
_TELLER = pl.col("role").cast(pl.String).replace_strict({"acked": 1, "sent": 2}, default=None, return_dtype=pl.Int8)


def topics(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each source and topic that it notes: source, topic, title, scope and ids.

    ``topic`` is what the row notes, empty where it notes none; ``title`` is the topic it is about, empty where that
    stays unknown; messages of one ``scope`` may be the same: the topic, else who keeps the ledger. ``ids`` is true
    where keys of these rows tell the messages of the scope apart.
    """
    noted = rows.filter(pl.col("role").is_in(_ROLES)).select(
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
    placed = pl.col("keys_placed") >= IDS * pl.col("places")
    differ = pl.when(pl.col("placed") > 0).then(placed).otherwise(pl.col("keys") >= IDS * pl.col("messages"))
    unique = (pl.col("noted") >= IDS * pl.col("messages")) & differ
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
    apart = pl.coalesce("together", "keys") >= IDS * pl.col("keys")
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
    return most.group_by("source").agg("kin").filter(pl.col("kin").list.len() == 1).explode("kin")


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
