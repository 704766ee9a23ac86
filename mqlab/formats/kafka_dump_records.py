"""``kafka-dump-log.sh`` and DumpLogSegments on segments of topics, of all versions → LEDGER of what is stored.

Sample lines::

    Dumping /var/lib/kafka/data/orders-0/00000000000000000000.log
    Log starting offset: 0
    baseOffset: 0 lastOffset: 53 count: 54 baseSequence: 0 lastSequence: 53 producerId: 0 … CreateTime: 1795263292540 …
    | offset: 0 CreateTime: 1795263292148 keySize: 2 valueSize: 287 sequence: 0 headerKeys: [] key: 17 payload: …

A record is a row of role ``stored``, and each dumped file one of role ``dump``: its first offset, and when it was made.
The status of a record is ``idempotent`` or ``plain`` as its producer numbered it or not, ``control`` for a marker of a
transaction, ``invalid`` where its checksum is wrong. Where a dump shows batches only, each offset of a batch is a row;
the status is ``spanned`` where the batch holds fewer records than that, as compaction leaves it: which of them is not
told. Payloads are not kept. Dumps of ``__consumer_offsets`` are read elsewhere.
"""

from __future__ import annotations

import re
from itertools import compress

import polars as pl

from mqlab.formats import console, ledger_rows
from mqlab.formats.base import About, Block, Head, Line, Spec, regex
from mqlab.formats.ledger_rows import whole
from mqlab.formats.values import instant, rust
from mqlab.sources import Role
from mqlab.tables import LEDGER

FORMAT = Spec("kafka-dump-records", Role.COMMAND, (LEDGER,), "kafka")

_FRAME = rust(
    r"^(?:\| )?(?:offset|baseOffset): \d|^Dumping |^(?:Log s|S)tarting offset: "
    r"|^[\s=*#<>-]*(?:[A-Z][a-z]{2},? .*\d:\d\d:\d\d|\[?20\d\d[-/]\d\d[-/]\d\d[ T]\d)"
)
"""Records, batches and what holds a moment. All other lines are of payloads, or say nothing."""
_FILE = regex(
    r"^Dumping (?:.*[/\\])?([\w.-]+)-(\d+)(?:\.[0-9a-f]{32}-(?:delete|future|stray))?[/\\](\d+)\.log(?:\.\w+)?\s*$"
)
_RECORD = rust(r"^(?:\| )?offset: \d+ (?:\w+: \S+ )*?(?:key|payload)[sS]ize: -?\d")
_BATCH = rust(r"^baseOffset: \d+ lastOffset: \d+ (?:\w+: \S+ ){3}")
_ROW = re.compile(f"{_RECORD}|{_BATCH}")
_BEGINS = "^Dumping "
_NUMBERED, _SHOWN, _CUT = r"^(?:\| )?(?:baseO|o)ffset: ", r"^(?:\| )?offset: ", r"^(?:\| offset|baseOffset): "
_SPAN = {"base": "^baseOffset: ([0-9]+)", "last": " lastOffset: ([0-9]+)", "count": " count: ([0-9]+)"}
_OFFSET, _KEY, _PAYLOAD = f"{_SHOWN}([0-9]+)", " key: (.*)$", "(?s) payload: .*$"
_AT = rust(r"\b(?:CreateTime|LogAppendTime): (\d{1,15})\b")
_VALUE_SIZE = " (?:value|payload)[sS]ize: ([0-9]+)"
_INVALID, _PLAIN = rust(r" is[vV]alid: false\b"), rust(r" (?:sequence: -1|magic: [01])\b")
_STORED = {
    "line": pl.col("number"), "text": pl.col("text"), "at": whole(pl.col("text").str.extract(_AT)) * 1000,
    "role": pl.lit("stored"), "topic": pl.col("topic"), "queue": pl.col("queue"),
}  # fmt: skip
_DUMP = {"first": pl.Int64, "heading": pl.String, "made": pl.Int64,
         "topic": pl.String, "queue": pl.String, "start": pl.String}  # fmt: skip
_LOGGED = regex(r"^\[(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)")
_NEAR = 3
"""Lines below the first of a dump in which the tool's own log, which is another stream, says when it started."""
_LARGEST = 1_000_000
"""Offsets of one batch that become rows; more is no batch of a broker, whose requests hold 100 MB at most."""


def recognise(head: Head) -> bool:
    """True for records or batches of a segment, or for the beginning of a dump of one."""
    return any(_FILE.search(line) or _ROW.search(line) for line in console.plain_lines(head))


def parse_block(lines: pl.DataFrame, about: About) -> Block:
    """Records, records of batches where nothing else is shown, and dumps; what holds no number is of payloads, noise.

    The *lines* begin with those that ``above`` takes from the pieces before this one.
    """
    kept = _kept(lines)
    dumps = _dumps(kept.filter(~pl.col("text").str.contains(_NUMBERED)), about)
    numbered = kept.filter(pl.col("text").str.contains(_NUMBERED))
    known = _public(numbered.join_asof(dumps, left_on="number", right_on="first", check_sortedness=False))
    rows = pl.concat([_records(known), _batches(known), _made(_public(dumps))])
    text = pl.col("text")
    kind = (
        pl.when(text.str.contains(f"{_RECORD}|{_BATCH}|{_BEGINS}")).then(pl.lit("data"))
        .when(~text.str.contains(_CUT)).then(pl.lit("noise"))
    )  # fmt: skip
    return Block({LEDGER: rows}, lines.select(kind).to_series())


def above(lines: pl.DataFrame) -> pl.DataFrame:
    """Those of the *lines* above a piece that it is read with: a heading, what dates it, and a record of that dump."""
    kept, text = _kept(lines), pl.col("text")
    headings = kept.filter(text.str.contains(_BEGINS)).tail(1)
    first = headings["number"].max() or 0
    others = kept.filter(~text.str.contains(f"{_NUMBERED}|{_BEGINS}|tarting offset: "))
    logged = text.str.contains(rust(_LOGGED.pattern))
    record = kept.filter((pl.col("number") > first) & text.str.contains(_SHOWN)).head(1)
    dates = [others.filter(logged).tail(1), others.filter(~logged).tail(1)]
    return pl.concat([headings, record, *dates]).sort("number")


def _kept(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines that say something, without payloads."""
    text = pl.col("text")
    cut = text.str.strip_chars_end("\r").str.replace(_PAYLOAD, "")
    return lines.filter(text.str.contains(_FRAME)).with_columns(cut).sort("number")


def _public(rows: pl.DataFrame) -> pl.DataFrame:
    """Those that are not about topics of the brokers themselves."""
    return rows.filter(~pl.col("topic").fill_null("").str.starts_with("__"))


def _dumps(lines: pl.DataFrame, about: About) -> pl.DataFrame:
    """One row a dumped file: its ``first`` line, what it is of, when it was made.

    When it was made is the earlier of what the name or a line above says and of the tool's own log, whose zone nobody
    knows: too early hides a loss, too late would invent one.
    """
    shown = console.shown((Line(*one) for one in lines.select("number", "text").iter_rows()), about)
    logged = [instant(found[1]) if (found := _LOGGED.search(one.plain)) else None for one in shown]
    dumps, last = [], None
    for n, (one, at) in enumerate(zip(shown, logged, strict=True)):
        last = at or last
        if one.plain.startswith("Dumping "):
            near = [other.line.number <= one.line.number + _NEAR for other in shown[n : n + _NEAR + 1]]
            below = next(filter(None, compress(logged[n:], near)), None)
            made = min(filter(None, (one.at, last or below)), default=None)
            file = _FILE.search(one.plain)
            dumps.append((one.line.number, one.line.text, made, *(file.groups() if file else (None, None, None))))
    return pl.DataFrame(dumps, _DUMP, orient="row")


def _records(lines: pl.DataFrame) -> pl.DataFrame:
    records, text = lines.filter(pl.col("text").str.contains(_RECORD)), pl.col("text")
    key = records.select(text.str.extract(_KEY).str.strip_chars(" ").str.strip_chars('"').replace("", None))
    told = {
        "offset": whole(text.str.extract(_OFFSET)),
        "key": pl.lit(ledger_rows.kept_key(key.to_series())),
        "status": pl.when(text.str.contains(_INVALID)).then(pl.lit("invalid"))
        .when(text.str.contains(" endTxnMarker: | isControl: true")).then(pl.lit("control"))
        .when(text.str.contains(" sequence: [0-9]")).then(pl.lit("idempotent"))
        .when(text.str.contains(_PLAIN)).then(pl.lit("plain")),
        "bytes": whole(text.str.extract(_VALUE_SIZE)),
    }  # fmt: skip
    return ledger_rows.conform(records, _STORED | told)


def _batches(lines: pl.DataFrame) -> pl.DataFrame:
    """A row for each offset of the batches of dumps that show no record."""
    dump, text = pl.col("first").fill_null(0), pl.col("text")
    shown = lines.filter(text.str.contains(_SHOWN)).select(dump.unique()).to_series()
    base, last, count = (whole(text.str.extract(form)).alias(name) for name, form in _SPAN.items())
    bare = lines.filter(text.str.contains(_BATCH) & ~dump.is_in(shown.implode())).with_columns(base, last, count)
    sized = bare.filter((pl.col("last") - pl.col("base")).is_between(0, _LARGEST))
    offsets = pl.int_ranges("base", pl.col("last") + 1)
    held = pl.col("count").fill_null(0)
    status = (
        pl.when(text.str.contains(_INVALID)).then(pl.lit("invalid"))
        .when(text.str.contains(" isControl: true")).then(pl.lit("control"))
        .when(held != pl.col("last") - pl.col("base") + 1).then(pl.lit("spanned"))
        .when(text.str.contains(" producerId: -1 ")).then(pl.lit("plain"))
        .when(text.str.contains(" producerId: ")).then(pl.lit("idempotent"))
    )  # fmt: skip
    whole_batches = sized.with_columns(offsets.alias("offset"), status.alias("status"), _STORED["at"].alias("at"))
    told = _STORED | {name: pl.col(name) for name in ("at", "offset", "status")}
    return ledger_rows.conform(whole_batches.explode("offset", empty_as_null=False), told)


def _made(dumps: pl.DataFrame) -> pl.DataFrame:
    told = {
        "line": pl.col("first"), "text": pl.col("heading"), "at": pl.col("made"), "role": pl.lit("dump"),
        "topic": pl.col("topic"), "queue": pl.col("queue"), "offset": whole(pl.col("start")),
    }  # fmt: skip
    return ledger_rows.conform(dumps, told)
