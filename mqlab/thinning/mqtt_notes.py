"""What ledgers note about messages of MQTT: rows with keys, and what each ledger is to these messages.

A publisher may keep one ledger of what it sent and another one of what was acknowledged: both are one sender. Ledgers
of other systems, such as that of a Kafka consumer behind a bridge, join as receivers where most of their keys are ids
that ledgers of MQTT note, too.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from mqlab.thinning.fates import SUCCESS

IDS = 0.9
"""Different keys for each row from which keys are ids of messages, as in ``ledger_topics``; copies that are flagged as
such and tries that failed have those of other rows."""
SHARED = 0.5
"""Share of its keys from which a ledger of another system is about these messages: fewer may be alike by chance."""
NOTED = pl.col("wall").is_not_null() & pl.col("role").is_in(
    ["sent", "acked", "failed", "received", "consumed", "processed"]
)
_HEARD = {"received": 1, "consumed": 2, "processed": 3}
_PASSED = {**_HEARD, "acked": 4, "sent": 5}
"""Roles that show that a message came to a ledger, best first; what Kafka acknowledged has come to the bridge."""


def notes(rows: pl.DataFrame, links: Collection[str], *, others: bool) -> pl.DataFrame:
    """Rows of LEDGER with a key: those of MQTT (*links*), and where there are *others* those about the same messages.

    *rows* tell by booleans whether they are duplicates (``dup``) and ``retained``, and repeat text as categories.

    ``id`` stands for the key, in the order of keys, ``publishes`` is whether it is about the publisher's side,
    ``heard`` whether the ledger notes with it that the message came, ``sender`` whose ledger the publisher's is,
    ``own`` whether keys tell its messages apart, and ``promised`` whether the publisher notes acknowledgements.
    """
    told = _told(rows.filter(pl.col("key").is_not_null()).with_columns(mqtt(links).alias("mqtt")))
    own = told.filter("mqtt")
    kept = pl.concat([own, _downstream(told.filter(~pl.col("mqtt")), own)]) if others else own
    return kept.drop("copied", "good").join(_ledgers(kept), on=["source", "role"], how="left")


def mqtt(links: Collection[str]) -> pl.Expr:
    """True for rows of the ledgers *links*."""
    return pl.col("source").is_in(sorted(links))


def numbered(topic: str) -> pl.Expr:
    """One number for the id of a row and the *topic*, as two columns take several times as long to compare."""
    return pl.col("id").cast(pl.UInt64) * 2**32 + pl.col(topic).to_physical().cast(pl.UInt64).fill_null(2**32 - 1)


def _told(rows: pl.DataFrame) -> pl.DataFrame:
    """What single rows tell."""
    failed, status = pl.col("role") == "failed", pl.col("status")
    good = status.is_null() | status.str.contains(SUCCESS)
    return rows.select(
        "source", "role", "line", "party", "key", "qos", "mqtt",
        pl.col("key").rank("dense").alias("id"),
        pl.col("wall").alias("at"),
        pl.when(pl.col("mqtt") & (pl.col("topic") != "")).then("topic").alias("topic"),
        (pl.col("mqtt") & pl.col("role").is_in(["sent", "acked", "failed"])).alias("publishes"),
        (~failed & good).alias("good"),
        (pl.col("dup") | pl.col("retained")).alias("copied"),
        (~failed & good & ((pl.col("role") == "acked") | status.is_not_null())).alias("answered"),
        (failed | ~good).alias("bad"),
    )  # fmt: skip


def _downstream(passed: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """Rows of other systems' ledgers about messages of MQTT; ids that two publishers use tell nothing there."""
    published = own.filter(pl.col("publishes") & pl.col("topic").is_not_null()).select("id", "topic").unique()
    unclear = published.group_by("id").len().filter(pl.col("len") > 1)
    clear = own.select("id").unique().join(unclear, on="id", how="anti")["id"]
    good = passed.filter("good")
    shared = pl.col("id").is_in(clear.implode())
    keys = good.group_by("source").agg(pl.col("id").n_unique(), pl.col("id").filter(shared).n_unique().alias("shared"))
    about = keys.filter(pl.col("shared") > SHARED * pl.col("id"))
    return good.join(about, on="source", how="semi")


def _ledgers(told: pl.DataFrame) -> pl.DataFrame:
    """One row for each source and role: own, heard, sender and promised."""
    counted = told.group_by("source", "role").agg(
        pl.col("party").min(),
        pl.col("mqtt").first(),
        (~pl.col("copied") & ~pl.col("bad")).sum().alias("messages"),
        numbered("topic").n_unique().alias("keys"),
    )
    role, own, who = pl.col("role"), pl.col("mqtt"), pl.coalesce("party", pl.format("?{}", "source"))
    heard, passed = (role.replace_strict(ranks, default=None, return_dtype=pl.Int8) for ranks in (_HEARD, _PASSED))
    rank = pl.when(own).then(heard).otherwise(passed)
    sent, acked = (pl.when(own & (role == name)).then("source").min().over(who) for name in ("sent", "acked"))
    by_role = pl.when(role == "sent").then("source").when(role == "acked").then(pl.coalesce(sent, "source"))
    return counted.select(
        "source", "role",
        (own & (pl.col("keys") >= IDS * pl.col("messages"))).alias("own"),
        (rank == rank.min().over("source")).fill_null(False).alias("heard"),
        by_role.when(role == "failed").then(pl.coalesce(sent, acked, "source")).alias("sender"),
        acked.is_not_null().alias("promised"),
    )  # fmt: skip
