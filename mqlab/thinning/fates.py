"""What became of messages: each of them followed through all ledgers and dumps, then put together as runs.

A message is told apart by its key where the keys of a topic are ids of messages (``ledger_topics``), else by topic,
queue and offset. A row at a place where a message was acknowledged is about that message, even if it notes no key or
another one: about the last that was acknowledged there before it was handled; a dump shows when a record was made, so
there it is the first that was acknowledged since. A place that is acknowledged once more, for another
message, was lost by the log in between.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

RUNS = 1000
"""Runs of a partition that are told one by one. Ledgers of one history have few; where several members handle a
partition in turns, or every second message is doubled, there may be as many runs as messages, and facts must not grow
with those: then it is a row for each fate and ten seconds."""
BUCKET = 10
"""Seconds that such a row spans."""

_HANDLED = "role IN ('received', 'consumed', 'processed')"
SUCCESS = (
    r"(?i)^(?:send_?)?(?:ok|ack(?:ed|nowledged)?|success(?:ful|fully)?|succeeded|0|0x00|none|null|no[ _]?error|"
    r"persisted|possibly_persisted|stored|delivered|confirmed|committed|done|complete[d]?|true|200|201|202|204|sent|published|"
    r"no matching subscribers|granted qos [012])$"
)
_OPEN = r"(?i)^(?:unfinished|pending|in[ _-]?flight|queued|waiting|new|open|unknown|flush_\w+|slave_not_available)$"
"""Neither an answer nor a failure; and what RocketMQ answers where it stored a message, but not as safely as asked."""
_PLACE = "struct(queue, position)"


def fates(rows: DataFrame, topics: DataFrame) -> DataFrame:
    """Runs of messages with the same fate; *topics* are those of ``thinning.ledger_topics``."""
    return _runs(_messages(_placed(_notes(rows, topics))))


def _notes(rows: DataFrame, topics: DataFrame) -> DataFrame:
    """Rows of LEDGER about messages, with their scope, the key that tells them apart, and what they say."""
    told = rows.where("role IS NOT NULL AND (status IS NULL OR status <> 'control')").selectExpr(
        "source", "line", "role", "coalesce(topic, '') AS topic", "queue", "position", "key", "wall AS at",
        f"CASE WHEN status IS NULL OR status RLIKE '{SUCCESS}' THEN 'good' WHEN status RLIKE '{_OPEN}' THEN 'open' "
        "ELSE 'bad' END AS answer", "status IS NOT NULL AS answered",
    )  # fmt: skip
    said = told.join(F.broadcast(topics), ["source", "topic"]).selectExpr(
        "source", "line", "scope", "title", "at", "CASE WHEN ids THEN key END AS id", "key",
        "CASE WHEN position IS NOT NULL THEN queue END AS queue",
        "CASE WHEN queue IS NOT NULL THEN position END AS position",
        "role = 'sent' AS sent",
        "role = 'acked' AND answer = 'good' AS acked",
        "role = 'sent' AND answered AND answer = 'good' AS confirmed",
        "role = 'failed' OR role IN ('sent', 'acked') AND answer = 'bad' AS failed",
        "role = 'stored' AS stored",
        f"{_HANDLED} AS handled",
    )  # fmt: skip
    return said.where("position IS NOT NULL OR key IS NOT NULL")


def _placed(notes: DataFrame) -> DataFrame:
    """*notes* with the message that each is about (``id``, null where it is its place) and whether its place is gone.

    Acknowledgements of a place are ordered by time; what has no place is about its own key.
    """
    own = "struct(at, source, line, id, sent, acked, confirmed, failed, stored, handled)"
    grouped = notes.selectExpr(
        "scope", "title", "coalesce(queue, '') AS queue", "position",
        "CASE WHEN position IS NULL THEN coalesce(id, key) END AS apart", f"{own} AS note",
        "CASE WHEN (acked OR confirmed) AND id IS NOT NULL AND position IS NOT NULL THEN struct(at, id) END AS answer",
    ).groupBy("scope", "title", "queue", "position", "apart").agg(
        F.expr("collect_list(note) AS notes"), F.expr("sort_array(collect_list(answer)) AS answers")
    )  # fmt: skip
    about = """CASE
        WHEN size(answers) = 0 OR exists(answers, a -> a.id = note.id) THEN note.id
        WHEN note.stored THEN
            coalesce(get(filter(answers, a -> a.at >= note.at), 0).id, try_element_at(answers, -1).id)
        ELSE coalesce(try_element_at(filter(answers, a -> a.at <= note.at), -1).id, get(answers, 0).id) END"""
    last = "try_element_at(filter(answers, a -> a.id = about), -1).at"
    opened = grouped.selectExpr("* EXCEPT (notes)", "explode(notes) AS note").selectExpr("*", f"{about} AS about")
    return opened.selectExpr(
        "scope", "title", "queue", "position", "note.*", "coalesce(about, apart) AS message",
        "about IS NOT NULL AS keyed",
        f"size(answers) > 1 AND exists(answers, a -> a.id <> about AND a.at > {last}) AS gone",
    )  # fmt: skip


def _messages(notes: DataFrame) -> DataFrame:
    """One row a message: how often each stage notes it, where it is and when."""
    place = f"CASE WHEN position IS NOT NULL THEN {_PLACE} END"
    stage = "CASE WHEN acked OR confirmed THEN 0 WHEN sent THEN 1 WHEN stored THEN 2 ELSE 3 END"
    rank = "CASE WHEN acked OR confirmed THEN CASE WHEN gone THEN 1 ELSE 0 END WHEN stored THEN 2 ELSE 3 END"
    known = notes.selectExpr(
        "* EXCEPT (message)",
        "message",
        "CASE WHEN message IS NULL THEN queue END AS own_queue",
        "CASE WHEN message IS NULL THEN position END AS own_position",
        f"{place} AS place",
        f"CASE WHEN position IS NOT NULL THEN struct({rank} AS rank, at, queue, position) END AS home",
        f"struct({stage} AS stage, at, source, line) AS dated",
    )
    counted = known.groupBy("scope", "title", "keyed", "message", "own_queue", "own_position").agg(
        F.expr("CAST(count_if(sent) AS INT) AS sent"),
        F.expr("CAST(greatest(count_if(acked), count_if(confirmed)) AS INT) AS acked"),
        F.expr("CAST(count_if(failed) AS INT) AS failed"),
        F.expr("collect_set(place) AS places"),
        F.expr("collect_set(place) FILTER (WHERE NOT gone) AS standing"),
        F.expr("bool_and(gone) FILTER (WHERE (acked OR confirmed) AND place IS NOT NULL) AS overwritten"),
        F.expr("sort_array(collect_list(source) FILTER (WHERE stored)) AS stored"),
        F.expr("sort_array(collect_list(source) FILTER (WHERE handled)) AS handled"),
        F.expr("min(home) AS home"),
        F.expr("min(dated) AS dated"),
    )
    return counted.selectExpr(
        "scope", "title AS topic", "coalesce(home.queue, '') AS queue", "home.position AS position", "dated", "keyed",
        "sent", "acked", "failed", "greatest(size(standing), least(size(places), 1)) AS offsets",
        "coalesce(overwritten, false) AS overwritten", "stored", "handled",
    )  # fmt: skip


def _runs(messages: DataFrame) -> DataFrame:
    """Messages that follow one another with the same fate as one row, at most ``RUNS`` of a partition.

    Those whose places were overwritten follow one another, and so do those that stand there now.
    """
    fate = "struct(keyed, sent, acked, failed, offsets, overwritten, stored, handled)"
    line = "PARTITION BY scope, topic, queue, overwritten"
    order = f"{line} ORDER BY position, dated.at, dated.source, dated.line"
    told = messages.selectExpr("scope", "topic", "queue", "overwritten", "position", "dated", f"{fate} AS fate")
    changed = told.selectExpr("*", f"CAST(NOT (fate <=> lag(fate) OVER ({order})) AS INT) AS changed")
    numbered = changed.selectExpr("*", f"sum(changed) OVER ({order} ROWS UNBOUNDED PRECEDING) AS run")
    runs = _together(numbered.selectExpr("*", "1 AS messages", *_ENDS), "run")
    many = f"max(run) OVER ({line}) > {RUNS}"
    bucket = f"CASE WHEN {many} THEN floor(unix_seconds(first.at) / {BUCKET}) ELSE -run END AS run"
    few = _together(runs.selectExpr("* EXCEPT (run)", bucket), "run")
    return few.selectExpr(
        "first.source AS source", "topic", "queue", "messages", "first_offset", "last_offset", "first", "last",
        "unix_micros(first_at) AS first_at", "unix_micros(last_at) AS last_at", "fate.*",
    )  # fmt: skip


_ENDS = (
    "position AS first_offset", "position AS last_offset", "dated.at AS first_at", "dated.at AS last_at",
    "struct(position, dated.at, dated.source, dated.line) AS first",
    "struct(position, dated.at, dated.source, dated.line) AS last",
)  # fmt: skip
_EXTREMES = ("min(first_offset)", "max(last_offset)", "min(first_at)", "max(last_at)", "min(first)", "max(last)")


def _together(runs: DataFrame, number: str) -> DataFrame:
    """Rows of one run and fate as one."""
    names = [extreme[4:-1] for extreme in _EXTREMES]
    extremes = [F.expr(f"{extreme} AS {name}") for extreme, name in zip(_EXTREMES, names, strict=True)]
    grouped = runs.groupBy("scope", "topic", "queue", "overwritten", "fate", number)
    return grouped.agg(F.expr("sum(messages) AS messages"), *extremes)
