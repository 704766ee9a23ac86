"""LEDGER of MQTT, thinned: who published which message, which ledgers note it how often, and that as runs and by topic.

A publisher may keep one ledger of what it sent and another one of what was acknowledged: both are one sender. Ledgers
of other systems, such as that of a Kafka consumer behind a bridge, join as receivers where most of their keys are ids
that ledgers of MQTT note, too. Rows of ledgers without ids are counted only.

A message is told apart by its id. Where publishers use the same ids, since each counts from 0, the topic tells them
apart, too. So each row is about one of the titles (topics) of its id, in this order: the topic that it notes, where
that is a title; the only title, unless the same ledger notes that one besides; what the same publisher says of the id
elsewhere; else the topic that it notes, as a ledger behind a bridge may note an id under another topic. What two
publishers say that they sent under one id and topic is told by neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import polars as pl

from mqlab.ledgers.columns import DIFFERENT
from mqlab.thinning import MICROS, SECONDS
from mqlab.thinning.fates import OPEN, RUNS, SUCCESS

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
        (failed | ~good & ~status.str.contains(OPEN)).alias("refused"),
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
        (own & (pl.col("keys") >= DIFFERENT * pl.col("messages"))).alias("own"),
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
    """The messages of *notes* (``notes``); only ids that tell those of one ledger apart count."""
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
        pl.col("answered", "bad", "refused").any(),
        pl.exclude("message", "source", "role", "answered", "bad", "refused").first(),
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
        *((pl.col(name) & pl.col("publishes")).any() for name in ("answered", "bad", "promised", "refused")),
    )
    unanswered = pl.col("bad") | pl.col("promised") & (pl.col("qos").fill_null(1) > 0)
    return told.select(
        pl.exclude("many", "several", "answered", "bad", "promised", "refused"),
        failed=~pl.col("answered") & unanswered,
        unanswered=~pl.col("answered") & unanswered & ~pl.col("refused"),
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
        "message", "sender", "party", pl.col("failed", "unanswered").fill_null(False), pl.col("received").fill_null([]),
        *(pl.coalesce(name, f"{name}_right") for name in names),
    ).sort("at", "source", "line", "message")  # fmt: skip


def _again(rows: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """Rows after the first one of ledgers that note a message *more* than once."""
    by = ["message", "source", "role"]
    noted = rows.select(*by, "at", "line").join(more.select(*by, since="at"), on=by, maintain_order="left")
    later = noted.filter(pl.int_range(pl.len()).over(by) > 0)
    seconds = ((pl.col("at") - pl.col("since")) / 1e6).round(6)  # Polars multiplies by 1e-6, which is not as exact
    return later.with_columns(seconds.alias("seconds")).drop("since")


TOPICS = 2000
"""Topics that are told one by one. Judgement, no default behind it: a bound of memory."""
_FATE = ("sender", "party", "failed", "unanswered", "qos", "received")


def thinned(rows: pl.DataFrame, links: Collection[str], *, others: bool) -> Mapping[str, pl.DataFrame]:
    """flows, topic_flows, receipts and passages of the MQTT ledgers *links*, from rows of LEDGER.

    *others* is whether there are rows of other ledgers.
    """
    told = rows.filter(NOTED).select(
        pl.col("source", "role", "party", "topic").cast(pl.Categorical), "line", "key", "status", "qos", "wall",
        pl.col("dup").str.to_lowercase().is_in(["true", "1"]).fill_null(False),
        (pl.col("retained") == "true").fill_null(False),
    )  # fmt: skip
    known = messages(notes(told, links, others=others))
    return {
        "flows": _flows(known.known),
        "topic_flows": _topic_flows(known.known),
        "receipts": _receipts(told, links, known),
        "passages": _passages(known),
    }


def _pieces(messages: pl.DataFrame) -> pl.DataFrame:
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
    told = _pieces(messages).sort("sender", maintain_order=True)
    numbered = told.with_columns(
        run=pl.struct("sender", "failed", "unanswered", "qos", "received").rle_id().cast(pl.Int64)
    )
    run = pl.col("run")
    many = (run.max() - run.min() >= RUNS).over("sender")
    pieces = numbered.with_columns(pl.when(many).then(_begin("at")).otherwise(-1 - run).alias("run"))
    return _placed(_together(pieces, *_FATE, "run").drop("run", "pieces"), messages)


def _topic_flows(messages: pl.DataFrame) -> pl.DataFrame:
    """Messages by topic, sender and fate; topics that miss or double most come first, ``TOPICS`` of them alone."""
    by_topic = _together(_pieces(messages), "topic", *_FATE)
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
    heard = messages.known["received"].unique().explode(empty_as_null=True).struct.field("source").unique()
    told = rows.filter(pl.col("source").is_in(heard.implode()) | mqtt(links)).select(
        "source", "role", _begin("wall").alias("at"), "wall", "topic", "line", "dup", "retained"
    )
    counted = told.group_by(by).agg(
        pl.len().alias("rows"), pl.col("topic").drop_nulls().n_unique().alias("topics"),
        pl.col("dup", "retained").sum(), pl.col("line").min(), pl.col("wall").max().alias("last_at"),
        pl.col("line").filter("retained").min().alias("retained_line"),
    )  # fmt: skip
    repeated = (
        messages.again.with_columns(_begin("at"), moment=pl.col("at"))
        .group_by(by)
        .agg(
            pl.len().alias("again"),
            pl.col("seconds").max().alias("again_seconds"),
            pl.col("line").min().alias("again_line"),
            pl.col("moment").max().alias("again_last_at"),
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
    return pl.col(at) // MICROS * SECONDS
