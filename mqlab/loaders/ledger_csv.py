"""CSV in which an application notes each message it sent, had acknowledged, received or processed → LEDGER.

Sample lines::

    ts_ms,topic,broker,queueId,queueOffset,tag,key,status
    1795261150883,ORDER_EVENTS,broker-a,11,0,TagA,OD-0000000,SEND_OK
    1795262756811,orders,0,0,2
    2,0,0,1795262666225

Names in the header say what a column is. Without a header, rows that begin with epoch milliseconds are
``time,topic,partition,offset,key``, those that end with them ``key[,topic],partition,offset,time`` or ``key,time``.
Who noted it is taken from the file's name, ``sink-received.csv``. Long keys become
their length and a hash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted
from mqlab.tables import LEDGER, Table

FORMAT = "ledger-csv"
TABLES: tuple[Table, ...] = (LEDGER,)
READING = Reading.TABLE

_TIME = r"(?i)^(?:ts|time|timestamp|date|at)(?:_ms|_utc)?$|_(?:utc|ms|at)$"
_MESSAGE = r"(?i)^(?:id|key|topic|partition|offset|queue_?id|queue_?offset|msg_?id|message_?id|packet_?id|qos)$"
_MILLIS = r"^1\d{12}$"
_SECONDS = r"^\d{10}(?:\.\d+)?$"
_EPOCH = r"(?:^|,)1\d{12}(?:,|$)"
_MOMENT = r"(?:ts|time|timestamp|date|at)(?:_ms|_utc)?|[a-z]\w*_(?:utc|ms|at)"
_HEADER = (
    rf"(?i)^(?=(?:.*,)?[\s\"#\x{{feff}}]*(?:{_MOMENT})[\s\"]*(?:,|$))"
    r"[\s\"#\x{feff}]*(?:[a-z][\w .-]*\"?,\s*\"?)+[a-z][\w .-]*\"?\s*$"
)
_LINE = "rtrim('\\r', text)"
_ROW = r"(?:^|,)\"?(?:1\d{9}(?:\d{3})?(?:\.\d+)?|20\d\d-\d\d-\d\d[T ]\d\d:\d\d[^,]*)\"?(?:,|\s*$)"
_DRESS = r"\x{feff}|[\s\"#]"
_COMMA = r',(?=(?:[^"]*"[^"]*")*[^"]*$)'
_BEGIN = 20
"""Lines among which the header is."""
_LONGEST = 200
"""Characters of a key that is kept as it is."""
_ROLES = "sent|acked|received|consumed|processed"
_WORDS = {"published": "sent", "produced": "sent", "forwarded": "received", "delivered": "received"}
_PARTY = r"^(?:(.+?)[-_.])??(?:{words})(?:[-_.](.+?))?\.csv(?:\..*)?$"
_NAMES = {
    "topic": "topic|topic_?name", "broker": "broker|broker_?name", "queue": "queue_?id|queue|partition",
    "offset": "queue_?offset|offset", "key": "key|id|msg_?key|message_?key|message_?id|seq", "message": "msg_?id",
    "status": "status|result|reason", "dup": "dup|duplicate", "again": "reconsume|reconsume_?times",
    "group": "group|group_?id|consumer_?group", "party": "client|client_?id|instance", "bytes": "bytes|size",
    "time": _MOMENT,
}  # fmt: skip
"""Names that a column may have in the header, without regard to case."""


def recognise(head: Head) -> bool:
    """True for a header that names a time and two facts of a message, or for even rows with epoch milliseconds."""
    lines = console.plain_lines(head)
    names = [name.strip().strip('"') for name in lines[0].split(",")] if lines else []
    facts = [name for name in names if re.search(_MESSAGE, name)]
    if len(facts) >= 2 and any(re.search(_TIME, name) for name in names):
        return True
    rows = lines[:200]
    even = len({line.count(",") for line in rows}) == 1 and len(names) > 1
    return even and all(re.search(_EPOCH, line) and '"' not in line for line in rows)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a message; a row without a moment is left out.

    What a file says once is joined to its rows, since a window would sort millions of them; for the same reason
    nothing of what stands around a line is asked for.
    """
    lines = rows.where(_is_row("text")).selectExpr("source", "line", "text", f"{_cells(_LINE)} AS cells")
    placed = lines.join(F.broadcast(_files(rows)), "source").selectExpr("*", f"{_bare_places()} AS bare")
    known = placed.selectExpr("*", *[f"{_cell(name)} AS c_{name}" for name in _NAMES])
    key = "coalesce(c_key, c_message)"
    columns = {
        "at": _instant("c_time"),
        "role": "coalesce(role, CASE WHEN p_time IS NULL THEN bare.role END)",
        "party": "coalesce(c_party, party)",
        "group": "c_group",
        "topic": "c_topic",
        "queue": "CASE WHEN c_queue IS NOT NULL THEN concat_ws('/', c_broker, c_queue) END",
        "offset": "try_cast(c_offset AS BIGINT)",
        "key": kept_key(key),
        "status": "c_status",
        "dup": "coalesce(c_dup, CASE WHEN c_again = '0' THEN 'false' WHEN c_again IS NOT NULL THEN 'true' END)",
        "bytes": "try_cast(c_bytes AS BIGINT)",
    }
    return {LEDGER: LEDGER.rows(known, columns).where("at IS NOT NULL")}


def kept_key(key: str) -> str:
    """SQL: a message's *key* as LEDGER holds it; of a long one its length and a hash."""
    return f"""CASE WHEN length({key}) > {_LONGEST} THEN concat(length({key}), ':', left(sha2({key}, 256), 32))
            ELSE {key} END"""


def line_class(text: str) -> str:
    """Rows with a moment are data, headers noise."""
    return f"""CASE
        WHEN {_is_row(text)} THEN 'data'
        WHEN {matches(text, _HEADER)} THEN 'noise'
        ELSE {console.remark_class(console.plain(text))} END"""


def _is_row(text: str) -> str:
    return f"({matches(text, _ROW)} AND contains({text}, ','))"


def _cells(text: str) -> str:
    """The cells of a line; commas within quotes, which are rare, part nothing."""
    quotes = f"contains({text}, '\"')"
    return f"CASE WHEN {quotes} THEN split({text}, {quoted(_COMMA)}) ELSE split({text}, ',') END"


def _files(rows: DataFrame) -> DataFrame:
    """One row a source: the role and party that its name and header tell, and the place of each known column.

    All places are null where there is no header.
    """
    words = f"transform(split(head, ','), word -> lower(regexp_replace(word, {quoted(_DRESS)}, '')))"
    header = f"min_by(text, line) FILTER (WHERE {matches('text', _HEADER)}) AS head"
    files = rows.where(f"line <= {_BEGIN}").groupBy("source", "name").agg(F.expr(header))
    told = f"get(filter(transform(names, word -> regexp_extract(word, '^({_ROLES})_', 1)), word -> word != ''), 0)"
    likely = """CASE
        WHEN exists(names, word -> word RLIKE '^reconsume') THEN 'consumed'
        WHEN array_contains(names, 'status') THEN 'sent' END"""
    places = [f"{_place(pattern)} AS p_{name}" for name, pattern in _NAMES.items()]
    return files.selectExpr("source", "name", f"{words} AS names").selectExpr(
        "source", f"coalesce({told}, {_role()}, {likely}) AS role", f"{_party()} AS party", *places
    )


def _place(pattern: str) -> str:
    """Place of the first column whose name fits, from 0; -1 without one."""
    return f"CAST(array_position(transform(names, word -> word RLIKE {quoted(f'^(?:{pattern})$')}), true) AS INT) - 1"


def _bare_places() -> str:
    """Role and places in a row without a header, told by where its epoch milliseconds stand."""
    first = f"get(cells, 0) RLIKE {quoted(_MILLIS)}"
    many = "CAST(size(cells) AS INT)"
    return f"""CASE
        WHEN {first} THEN {_places("processed", "0", "1", "2", "3", "4")}
        WHEN {many} = 2 THEN {_places("sent", "1", "-1", "-1", "-1", "0")}
        WHEN {many} = 4 THEN {_places("acked", "3", "-1", "1", "2", "0")}
        ELSE {_places("acked", "4", "1", "2", "3", "0")} END"""


def _places(role: str, time: str, topic: str, queue: str, offset: str, key: str) -> str:
    return (
        f"named_struct('role', '{role}', 'time', {time}, 'topic', {topic}, 'queue', {queue}, 'offset', {offset}, "
        f"'key', {key})"
    )


def _cell(name: str) -> str:
    bare = f"bare.{name}" if name in ("time", "topic", "queue", "offset", "key") else "-1"
    place = f"CASE WHEN p_time IS NULL THEN {bare} ELSE p_{name} END"
    return filled(f"""trim('"' FROM trim(get(cells, {place})))""")


def _role() -> str:
    words = "|".join((_ROLES, *_WORDS))
    word = f"regexp_extract(name, '(?i)(?:^|[-_.])({words})(?=[-_.])', 1)"
    cases = [f"WHEN '{word}' THEN '{role}'" for word, role in _WORDS.items()]
    return filled(f"CASE lower({word}) {' '.join(cases)} ELSE lower({word}) END")


def _party() -> str:
    shape = _PARTY.format(words="|".join((_ROLES, *_WORDS)))
    return filled(f"concat({group('name', shape, 1)}, {group('name', shape, 2)})")


def _instant(text: str) -> str:
    """Timestamp of epoch seconds or milliseconds, or of ISO text, where no zone is UTC."""
    whole = f"try_cast({text} AS BIGINT)"
    return f"""CASE
        WHEN length({text}) = 13 THEN timestamp_millis({whole})
        WHEN {text} RLIKE {quoted(_SECONDS)} THEN
            timestamp_micros(CAST(try_cast({text} AS DECIMAL(20, 6)) * 1000000 AS BIGINT))
        ELSE try_cast({text} AS TIMESTAMP) END"""
