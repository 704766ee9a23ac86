"""What became of messages: each of them followed through all ledgers and dumps, then put together as runs.

A message is told apart by its key where the keys of a topic are ids of messages (``ledger_topics``), else by topic,
queue and offset. A row at a place where a message was acknowledged is about that message, even if it notes no key or
another one: about the last that was acknowledged there before it was handled; a dump shows when a record was made, so
there it is the first that was acknowledged since. What was handled long before the place was acknowledged, with the id
of a message that was acknowledged elsewhere, is a copy of that one. A place that is acknowledged once more, for another
message, was lost by the log in between.
"""

from __future__ import annotations

import polars as pl

from mqlab.thinning import MICROS
from mqlab.thinning.ledger_roles import PLACED

RUNS = 1000
"""Runs of a partition that are told one by one. Ledgers of one history have few; where several members handle a
partition in turns, or every second message is doubled, there may be as many runs as messages, and facts must not grow
with those: then it is a row for each fate and ten seconds."""

HANDLED = pl.col("role").is_in(["received", "consumed", "processed"])
SUCCESS = (
    r"(?i)^(?:send_?)?(?:ok|ack(?:ed|nowledged)?|success(?:ful|fully)?|succeeded|0|0x00|none|null|no[ _]?error|"
    r"persisted|possibly_persisted|stored|delivered|confirmed|committed|done|complete[d]?|true|200|201|202|204|sent|published|"
    r"no matching subscribers|granted qos [012])$"
)
OPEN = r"(?i)^(?:unfinished|pending|in[ _-]?flight|queued|waiting|new|open|unknown|flush_\w+|slave_not_available)$"
"""Neither an answer nor a failure; and what RocketMQ answers where it stored a message, but not as safely as asked."""
EARLY = 10_000_000
"""Microseconds before its acknowledgement from which on what stood at a place was another record: a message is handled
within seconds of it, by clocks that differ by less."""
_LATER = 1 << 60
_AT = pl.col("at").fill_null(-_LATER // 2)
_PLACE = ("subject", "queue", "position")
_MESSAGE = ("subject", "keyed", "message", "own_queue", "own_position")
_PARTITION = ("subject", "queue", "overwritten")
_FATE = ("keyed", "sent", "acked", "failed", "offsets", "overwritten", "stored", "handled")
_SAME = tuple(dict.fromkeys((*_PARTITION, *_FATE)))


def fates(known: pl.DataFrame, topics: pl.DataFrame) -> pl.DataFrame:
    """Runs of messages with the same fate, of all *known* notes; *topics* are those of ``ledger_roles.topics``."""
    return _runs(_messages(known), known, _subjects(topics).select("subject", pl.col("title").alias("topic")))


def notes(rows: pl.DataFrame, topics: pl.DataFrame) -> pl.DataFrame:
    """Rows about messages, each with the message it is about, and whether the log lost its place."""
    about = topics.join(_subjects(topics), on=["scope", "title"]).select("source", "topic", "subject", "ids")
    return _placed(_notes(rows, about)).sort("source", "line")


def records(known: pl.DataFrame) -> pl.DataFrame:
    """source, line and record of what was handled at places that held several messages, of all *known* notes."""
    several = known.filter("gone").select(_PLACE).unique()
    handled = known.filter(pl.col("handled") & pl.col("keyed")).join(several, on=_PLACE, how="semi")
    return handled.select("source", "line", pl.col("message").alias("record"))


def _subjects(topics: pl.DataFrame) -> pl.DataFrame:
    return topics.select("scope", "title").unique(maintain_order=True).with_row_index("subject")


def _notes(rows: pl.DataFrame, about: pl.DataFrame) -> pl.DataFrame:
    """Rows of LEDGER about messages, with their subject, the key that tells them apart, and what they say."""
    role, status = pl.col("role"), pl.col("status")
    good, pending = status.str.contains(SUCCESS), status.str.contains(OPEN)
    placed = pl.col("position").is_not_null()
    told = rows.filter(role.is_not_null() & status.ne_missing("control") & (PLACED | pl.col("key").is_not_null()))
    said = told.select(
        "source", "line", "key", pl.col("wall").alias("at"), pl.col("topic").fill_null(""),
        pl.when(PLACED).then("queue").alias("queue"),
        pl.when(PLACED).then("position").alias("position"),
        (role == "sent").alias("sent"),
        ((role == "acked") & good.fill_null(True)).alias("acked"),
        ((role == "sent") & good.fill_null(False)).alias("confirmed"),
        ((role == "failed") | role.is_in(["sent", "acked"]) & ~(good | pending).fill_null(True)).alias("failed"),
        (role == "stored").alias("stored"),
        HANDLED.alias("handled"),
    )  # fmt: skip
    known = said.join(about, on=["source", "topic"]).drop("topic")
    answer = pl.col("ids") & placed & pl.col("key").is_not_null() & (pl.col("acked") | pl.col("confirmed"))
    return known.with_columns(placed.alias("placed"), pl.when("ids").then("key").alias("id"), answer.alias("answer"))


def _placed(notes: pl.DataFrame) -> pl.DataFrame:
    """*notes* with the message that each is about (null where it is its place) and whether its place is gone.

    Most places were acknowledged for one message at most; only at others does it matter when.
    """
    answer = pl.when("answer").then("id")
    told = _copies(
        notes.with_columns(
            answer.min().over(_PLACE).alias("only"),
            answer.max().over(_PLACE).alias("last"),
            pl.when("answer").then("at").min().over(_PLACE).alias("since"),
        )
    )
    often = pl.col("placed") & (pl.col("only").ne_missing(pl.col("last")) | pl.col("copy").any().over(_PLACE))
    once = told.filter(~often).with_columns(
        pl.when("placed").then(pl.coalesce("only", "id")).otherwise("id").alias("about"), pl.lit(False).alias("gone")
    )
    several = _several(told.filter(often))
    known = pl.concat([once, several]) if several.height else once
    alone = pl.col("placed") & pl.col("about").is_null()
    return known.select(
        "source", "line", "subject", "at", "queue", "position", "placed", "sent", "acked", "confirmed", "failed",
        "stored", "handled", "gone",
        pl.col("about").is_not_null().alias("keyed"),
        pl.when("placed").then("about").otherwise("key").alias("message"),
        pl.when(alone).then("queue").alias("own_queue"),
        pl.when(alone).then("position").alias("own_position"),
    )  # fmt: skip


def _copies(notes: pl.DataFrame) -> pl.DataFrame:
    """*notes*, and which of them are about a copy of a message that was acknowledged elsewhere."""
    other = pl.col("handled") & (pl.col("id") != pl.col("only")) & (pl.col("at") < pl.col("since") - EARLY)
    answered = notes.filter("answer").select("subject", "id").unique()
    found = notes.filter(other).join(answered, on=["subject", "id"], how="semi")
    if not found.height:
        return notes.with_columns(pl.lit(False).alias("copy"))
    lines = found.select("source", "line", pl.lit(True).alias("copy"))
    return notes.join(lines, on=["source", "line"], how="left").with_columns(pl.col("copy").fill_null(False))


def _several(notes: pl.DataFrame) -> pl.DataFrame:
    """The same for *notes* at places that were acknowledged for several messages, in the order of time."""
    answer, when = pl.when("answer").then("id"), pl.col("at").fill_null(pl.Int64.max())
    acked = pl.when("answer").then("at").max()
    before = answer.forward_fill().backward_fill().over(_PLACE, order_by=[when, ~pl.col("answer"), "id"])
    since = answer.backward_fill().forward_fill().over(_PLACE, order_by=[when, "answer", "id"])
    known = pl.col("answer").any().over(*_PLACE, "id")
    about = pl.when(known | pl.col("copy")).then("id").when("stored").then(since).otherwise(before)
    return notes.with_columns(about.alias("about")).with_columns(
        (acked.over(_PLACE) > pl.coalesce(acked.over(*_PLACE, "about"), "at")).alias("gone")
    )


def _messages(notes: pl.DataFrame) -> pl.DataFrame:
    """One row a message: how often each stage notes it, which of *notes* dates it and which says where it is."""
    acked, placed, gone = pl.col("acked") | pl.col("confirmed"), pl.col("placed"), pl.col("gone")
    stage = pl.when(acked).then(0).when("sent").then(1).when("stored").then(2).otherwise(3)
    rank = pl.when(acked).then(gone.cast(pl.Int64)).when("stored").then(2).otherwise(3)
    own = pl.struct("subject", "keyed", "message", "queue", "position", "gone").is_first_distinct()
    known = notes.with_columns(
        pl.int_range(pl.len()).alias("number"),
        (stage * _LATER + _AT).alias("dated"),
        pl.when(placed).then(rank * _LATER + _AT).alias("home"),
        (placed & ~gone & own).alias("standing"),
        (acked & placed).alias("there"),
        (acked & placed & ~gone).alias("still"),
    )
    counted = known.group_by(_MESSAGE).agg(
        pl.col("sent", "acked", "confirmed", "failed", "standing").sum(),
        pl.col("there", "still", "placed").any(),
        *(pl.col("source").filter(name).alias(name) for name in ("stored", "handled")),
        *(pl.col("number").min_by(name).alias(name) for name in ("home", "dated")),
    )
    return counted.select(
        "subject", "keyed", "sent", "failed", "stored", "handled",
        pl.max_horizontal("acked", "confirmed").alias("acked"),
        pl.max_horizontal("standing", pl.col("placed").cast(pl.UInt32)).alias("offsets"),
        (pl.col("there") & ~pl.col("still")).alias("overwritten"),
        notes["queue"].gather(counted["home"]).fill_null("").alias("queue"),
        notes["position"].gather(counted["home"]).alias("position"),
        notes["at"].gather(counted["dated"]).alias("at"),
        "dated",
    )  # fmt: skip


def _runs(messages: pl.DataFrame, notes: pl.DataFrame, titles: pl.DataFrame) -> pl.DataFrame:
    """Messages that follow one another with the same fate as one row, at most ``RUNS`` of a partition.

    Those whose places were overwritten follow one another, and so do those that stand there now.
    """
    placed = messages.sort(*_PARTITION, "position", "at", "dated")
    changed = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in _SAME)
    told = placed.select(
        *_SAME, changed.cum_sum().cast(pl.Int64).alias("run"), pl.lit(1).alias("messages"),
        pl.col("position").alias("first_offset"), pl.col("position").alias("last_offset"),
        pl.col("at").alias("first_at"), pl.col("at").alias("last_at"),
        pl.col("dated").alias("first"), pl.col("dated").alias("last"),
    )  # fmt: skip
    runs = _together(told, "run")
    bucket = notes["at"].gather(runs["first"]) // MICROS
    number = pl.when(pl.len().over(_PARTITION) > RUNS).then(bucket).otherwise(-pl.col("run"))
    few = _together(runs.with_columns(number.alias("run")), *_SAME, "run")
    first, last = (pl.struct(notes[few[end]].select("source", "line")).alias(end) for end in ("first", "last"))
    cited = few.join(titles, on="subject").with_columns(first, last)
    return cited.with_columns(pl.col("first").struct.field("source")).drop("subject", "run")


def _together(runs: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Rows that are alike *by* some columns as one; they come in order."""
    rest = [name for name in _SAME if name not in by]
    return runs.group_by(by, maintain_order=True).agg(
        pl.col(rest).first(),
        pl.col("messages").sum(),
        pl.col("first_offset", "first_at").min(),
        pl.col("last_offset", "last_at").max(),
        pl.col("first").first(),
        pl.col("last").last(),
    )
