"""Messages of MQTT, one row each: who published it, and which ledgers note it how often.

A publisher may keep one ledger of what it sent and another one of what was acknowledged: both are one sender. Ledgers
of other systems, such as that of a Kafka consumer behind a bridge, join as receivers where most of their keys are ids
that ledgers of MQTT note, too.

A message is told apart by its id. Where publishers use the same ids, since each counts from 0, the topic tells them
apart, too. So each row is about one of the titles (topics) of its id, in this order: the topic that it notes, where
that is a title; the only title, unless the same ledger notes that one besides; what the same publisher says of the id
elsewhere; else the topic that it notes, as a ledger behind a bridge may note an id under another topic. What two
publishers say that they sent under one id and topic is told by neither.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

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


class Messages(NamedTuple):
    """What is known of messages; ``message`` is a number of each."""

    known: pl.DataFrame
    """One row a message, by time: key, topic, sender, party, failed, qos, ``received`` (source and n), and source,
    line and moment (``at``) of the note that dates it."""
    arrived: pl.DataFrame
    """One row for each message, known or not, and ledger that received it: source and ``at``, the first time."""
    again: pl.DataFrame
    """One row for each row with which a ledger notes a message once more: source, role, at, line and ``seconds``."""


def messages(notes: pl.DataFrame) -> Messages:
    """The messages of *notes* (``thinning.mqtt_notes``); only ids that tell those of one ledger apart count."""
    rows = _about(notes).sort("at", "source", "line")
    noted = _noted(rows)
    arrived = noted.filter("heard")
    both = _dated(noted).join(_received(arrived), on="message", how="full", coalesce=True)
    known = _known(both.filter(pl.col("clash").ne_missing(True)))
    again = _again(rows, noted.filter(pl.col("n") > 1)).join(known, on="message", how="semi")
    return Messages(known, arrived.select("message", "source", "at"), again)


def _about(notes: pl.DataFrame) -> pl.DataFrame:
    """*notes* with the ``message`` that each is about: its id and one of the titles that tell its messages apart."""
    titled = notes.drop("own").join(_titles(notes), on="id").with_columns(named=pl.col("topic").to_physical())
    published = pl.col("publishes") & pl.col("named").is_not_null()
    alone = ~pl.col("several") & (pl.col("named").is_null() | (pl.col("named") == pl.col("title")))
    plain = published | pl.col("title").is_null() | alone
    clear = titled.filter(plain).with_columns(pl.when(published).then("named").otherwise("title").alias("about"))
    rows = pl.concat([clear, _torn(titled.filter(~plain), titled)])
    return rows.select(pl.exclude("id", "published", "title", "several", "named", "about"), message=numbered("about"))


def _titles(notes: pl.DataFrame) -> pl.DataFrame:
    """One row an id: one of its titles and whether there are several: topics of its publishers, else of all rows."""
    topic = pl.col("topic").to_physical()
    published = pl.when("publishes").then(topic)
    known = notes.group_by("id").agg(
        pl.col("own", "publishes").any(), topic.min().alias("low"), topic.max().alias("high"),
        published.min().alias("low_published"), published.max().alias("high_published"),
    )  # fmt: skip
    low, high = (pl.when("publishes").then(f"{end}_published").otherwise(end) for end in ("low", "high"))
    return known.filter("own").select("id", published="publishes", title=low, several=low != high)


def _torn(rows: pl.DataFrame, titled: pl.DataFrame) -> pl.DataFrame:
    """*rows* of ids with several titles, or with another one than the row, with the title that each is ``about``.

    A ledger that notes the only title besides means another message; a publisher means what else it published.
    """
    kin = titled.filter(pl.col("named").is_not_null()).join(rows, on="id", how="semi")
    titles = kin.filter(pl.col("publishes") | ~pl.col("published")).select(numbered("named"))["id"].unique()
    beside = kin.filter(~pl.col("several") & (pl.col("named") == pl.col("title"))).select("id", "source", "publishes")
    loose = rows.filter("publishes")
    said = kin.filter("publishes").join(loose, on=["id", "sender"], how="semi").sort("topic")
    found = rows.join(beside.unique().with_columns(beside=True), on=["id", "source", "publishes"], how="left").join(
        said.group_by("id", "sender").agg(pl.col("named").first().alias("said")), on=["id", "sender"], how="left"
    )
    own = numbered("named").is_in(titles.implode()) & pl.col("named").is_not_null()
    only = ~pl.col("several") & (pl.col("named").is_null() | pl.col("beside").is_null())
    about = pl.when(own).then("named").when(only).then("title").when("publishes").then("said").otherwise("named")
    told = found.with_columns(about.alias("about")).drop("beside", "said")
    return told.filter(pl.col("about").is_not_null())


def _noted(rows: pl.DataFrame) -> pl.DataFrame:
    """What each ledger notes of a message, whatever the topics: how often (``n``), and the first note, by time."""
    return rows.group_by("message", "source", "role", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("answered", "bad").any(),
        pl.exclude("message", "source", "role", "answered", "bad").first(),
    )


def _dated(noted: pl.DataFrame) -> pl.DataFrame:
    """One row a message that a publisher notes: the note that dates it, by whom it was sent, and what came of it."""
    sent = pl.col("role") == "sent"
    by_publisher = noted.filter(sent | pl.col("publishes")).sort(sent, descending=True, maintain_order=True)
    sender = pl.col("sender").to_physical().filter("publishes")
    many = (sent & pl.col("publishes")).sum()
    told = by_publisher.group_by("message").agg(
        pl.col("key", "topic", "sender", "party", "qos", "at", "source", "line").first(),
        many.alias("many"),
        (sender.min() != sender.max()).fill_null(False).alias("several"),
        *((pl.col(name) & pl.col("publishes")).any() for name in ("answered", "bad", "promised")),
    )
    unanswered = pl.col("bad") | pl.col("promised") & (pl.col("qos").fill_null(1) > 0)
    return told.select(
        pl.exclude("many", "several", "answered", "bad", "promised"),
        failed=~pl.col("answered") & unanswered,
        clash=pl.when(pl.col("many") > 0).then(pl.col("many") > 1).otherwise("several"),
    )


def _received(arrived: pl.DataFrame) -> pl.DataFrame:
    """One row a message that ledgers received: by which, how often, and the first note."""
    return arrived.group_by("message").agg(
        pl.col("key", "topic", "at", "source", "line").first(),
        pl.col("qos").first(ignore_nulls=True),
        pl.struct("source", "n").sort_by("source").alias("received"),
    )


def _known(both: pl.DataFrame) -> pl.DataFrame:
    """What publishers or else receivers tell of each message, by time."""
    names = ("key", "topic", "qos", "at", "source", "line")
    return both.select(
        "message", "sender", "party", pl.col("failed").fill_null(False), pl.col("received").fill_null([]),
        *(pl.coalesce(name, f"{name}_right") for name in names),
    ).sort("at", "source", "line", "message")  # fmt: skip


def _again(rows: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """Rows after the first one of ledgers that note a message *more* than once."""
    by = ["message", "source", "role"]
    noted = rows.select(*by, "at", "line").join(more.select(*by, since="at"), on=by, maintain_order="left")
    later = noted.filter(pl.int_range(pl.len()).over(by) > 0)
    seconds = ((pl.col("at") - pl.col("since")) / 1e6).round(6)  # Polars multiplies by 1e-6, which is not as exact
    return later.with_columns(seconds.alias("seconds")).drop("since")
