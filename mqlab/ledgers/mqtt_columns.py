"""What the columns of a ledger about messages of MQTT are.

Sample rows::

    t,sample,topic,qos,t_ack,res
    1795330976.300,n1-000001,lab/1/od,1,1795330976.304,ok

    ms,entry,topic,qos,dup,ret
    1795330840224,d1-000001,doors/1/event,1,f,f

Here the names say less and the cells say more than in other ledgers: a topic with levels, QoS and flags leave few
columns over. Only who receives a message sees whether it is a duplicate or was retained (MQTT 3.1.1, sections 3.3.1.1
and 3.3.1.3), and only who publishes it waits for an acknowledgement; so columns tell the role where nothing else does.

Sample rows::

    1795341253841       fan/1/rpm       f1r00001        1795341253847
    1795330840224,d1-000001,doors/1/event,1,ok
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mqlab.ledgers.columns import ID, NO_KEY, Named, all_match, key_of
from mqlab.ledgers.columns import named as named_in_general
from mqlab.ledgers.layout import role_of
from mqlab.ledgers.words import MOMENT

Cells = Sequence[Sequence[str]]

LEVELS = re.compile(r"[^\s+#/:?][^\s+#:?]{0,2000}/[^\s+#:?]*")
"""A topic with levels; neither a path from the root nor an address of the web."""
LEVEL = re.compile(r"[012]")
"""A QoS."""
MANY = 20
"""Different cells from which it is asked whether new ones go on to appear. Judgement, no default behind it: the last
quarter of fewer is too short to tell."""
_CELL = re.compile(r"[^\s()\[\]{}'\"]*")
_ID = re.compile(r"[\w.:-]{1,80}")


def are_ids(cells: Sequence[str]) -> bool:
    """Whether the cells are ids that hold letters, and no texts."""
    return all_match(_ID, cells) and any(map(str.isalpha, cells[0]))


def are_words(cells: Cells, moments: Sequence[int]) -> bool:
    """Whether nothing but moments holds blanks or brackets: a line of a log does, cut at its commas."""
    return all(all_match(_CELL, column) for n, column in enumerate(cells) if n not in moments)


def are_topics(cells: Sequence[str]) -> bool:
    """Whether the cells are few different topics, as no paths of files are, and none of the broker itself."""
    return 2 * len(set(cells)) <= max(len(cells), 2) and not any(cell.startswith("$SYS") for cell in cells)


def go_on(cells: Sequence[str]) -> bool:
    """Whether new cells appear to the end, as ids do however often each comes; devices are soon all known."""
    first = {cell: n for n, cell in reversed(list(enumerate(cells)))}
    late = [n for n in first.values() if 4 * n >= 3 * len(cells)]
    return are_ids(cells) and len(first) >= MANY and len(late) > 1


_QOS = re.compile(r"(?i)(?:mqtt_?)?(?:qos|q)")
_DUP = re.compile(r"(?i)(?:mqtt_?|is_?)?(?:dup(?:licate)?(?:_?flag)?|redeliver(?:ed|y)|d)")
_RETAINED = re.compile(r"(?i)(?:mqtt_?|is_?)?(?:ret(?:ain)?(?:ed)?(?:_?flag)?|r)")
_WAS_RETAINED = re.compile(r"(?i).*retained.*")
"""What is noted of a message that came; *retain* may as well be what its publisher wants."""
_TOPIC = re.compile(r"(?i)(?:mqtt_?)?(?:topic(?:_?name)?|channel)")
_ACK = re.compile(r"(?i)(?:.*[_ .-])?(?:pub)?(?:ack|confirm|comp(?=$|_|leted))\w*")
_STATUS = re.compile(r"(?i)(?:send_?|pub_?)?(?:status|result|res|rc|st|state|outcome|reason(?:_?code)?|return_?code)")
_DIRECTION = re.compile(r"(?i)dir(?:ection)?|op(?:eration)?|kind|type|way|ev(?:ent)?|what|act(?:ion)?")
_FLAG = re.compile(r"(?i)[dr]?[01]|true|false|yes|no|[tfyn]")
_ANSWER = re.compile(
    r"(?i)(?:n?ack(?:ed)?|ok|success\w*|pending|queued|sent|published|lost|true|false|none|time[d_ -]*out|fail.*|err.*"
    r"|reject.*|denied|refused|mqtt_err_\w+|no_conn|-?\d{1,3}|0x[0-9a-f]{1,2}|\w{0,99}exception.*)"
)
_WHOLE = re.compile(r"\d+")
_DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
_PACKET = re.compile(r"\d{1,5}")
_ELSEWHERE = re.compile(
    r"(?i)(?:log_?)?(?:level|logger|severity)|thread|method|path|ur[il]|route|endpoint|user_?agent|file|dir"
)
"""Names of columns of logs, requests and files, whose words may hold slashes."""
_RECEIVERS = ("received", "consumed", "processed")


def names_messages(names: Sequence[str]) -> bool:
    """Whether names of columns are those of messages of MQTT: a topic, and a QoS or a flag with it."""
    return any(map(_TOPIC.fullmatch, names)) and any(
        pattern.fullmatch(name) for name in names for pattern in (_QOS, _DUP, _RETAINED)
    )


def named(names: Sequence[str], rows: Sequence[Sequence[str]], file: str) -> Named:
    """What the columns *names* over *rows* are, as ``named`` of other ledgers tells it, with what only MQTT knows."""
    known = named_in_general(names, rows, file)
    cells = [[row[n] for row in rows] for n in range(len(names))]
    own = _facts(names, cells, known)
    if own is None:
        return known
    moments = [n for n, column in enumerate(cells) if all_match(MOMENT, column)]
    columns = _kept(known.columns, moments) | own
    columns |= _directions(names, cells, columns)
    acks = [n for n, name in enumerate(names) if _ACK.fullmatch(name)]
    columns |= _status(names, cells, columns)
    role, told = _role(names, known, columns, [n for n in moments if n not in acks], acks)
    time = _time(role, moments, acks)
    if time is not None:
        columns["time"] = time
    columns.pop("key", None)
    key = _key(names, cells, columns, [*moments, *acks], role)
    if key is not None:
        columns["key"] = key
    plain = "qos" not in own and "retained" not in own and not any(map(_TOPIC.fullmatch, names))
    sure = time is not None and key is not None and not (plain and not are_ids(cells[key]))
    return replace(known, columns=columns, role=role, told=told, sure=known.sure or sure)


def _facts(names: Sequence[str], cells: Cells, known: Named) -> dict[str, int] | None:
    """Topic, QoS and flags; None where these are no messages of MQTT, or a broker's log of records is told as well."""
    wanted = (("qos", _QOS, LEVEL), ("dup", _DUP, _FLAG), ("retained", _RETAINED, _FLAG))
    found: dict[str, int] = {}
    for field, name, cell in wanted:
        n = next((n for n, one in enumerate(names) if name.fullmatch(one) and all_match(cell, cells[n])), None)
        if n is not None:
            found[field] = n
    levels = [n for n, column in enumerate(cells) if all_match(LEVELS, column)]
    titled = [n for n, name in enumerate(names) if _TOPIC.fullmatch(name)]
    flagged = titled or levels if found.keys() & {"qos", "retained"} else _only_levels(names, cells, levels)
    likely = [n for n in titled if n in levels] or flagged
    if not likely or {"queue", "offset"} <= known.columns.keys():
        return None
    return {**found, "topic": likely[0]}


def _only_levels(names: Sequence[str], cells: Cells, levels: Sequence[int]) -> list[int]:
    """Columns of topics that levels alone tell of: few different ones, in no table of another kind."""
    if any(map(_ELSEWHERE.fullmatch, names)):
        return []
    return [n for n in levels if are_topics(cells[n])]


def _kept(known: Mapping[str, int], moments: Sequence[int]) -> dict[str, int]:
    """What is known by names, but offsets and partitions, of which MQTT has none, and times that are none."""
    kept = {field: n for field, n in known.items() if field not in {"queue", "offset", "place", "broker", "time"}}
    return {field: n for field, n in kept.items() if field == "key" or n not in moments}


def _directions(names: Sequence[str], cells: Cells, columns: Mapping[str, int]) -> dict[str, int]:
    """A column that says of each row whether it was sent or received."""
    for n, name in enumerate(names):
        words = {cell for cell in cells[n] if cell}
        if n not in columns.values() and _DIRECTION.fullmatch(name) and words and all(map(role_of, words)):
            return {"role": n}
    return {}


def _status(names: Sequence[str], cells: Cells, columns: Mapping[str, int]) -> dict[str, int]:
    """A column of answers where none is known; flags under the name of an acknowledgement are such, too."""
    if "status" in columns:
        return {}
    for n, name in enumerate(names):
        answers = _STATUS.fullmatch(name) and all_match(_ANSWER, cells[n])
        flags = _ACK.fullmatch(name) and all_match(re.compile("(?i)true|false|ok|failed"), cells[n])
        if n not in columns.values() and (answers or flags):
            return {"status": n}
    return {}


def _role(
    names: Sequence[str], known: Named, columns: Mapping[str, int], times: Sequence[int], acks: Sequence[int]
) -> tuple[str | None, str | None]:
    """The role by the file's name, else by what only one side knows; a receiver may acknowledge by itself, too.

    *times* are moments of anything but an acknowledgement.
    """
    if known.by_file or known.role in _RECEIVERS:
        return known.role, known.told
    if "role" in columns:
        return None, None
    if "dup" in columns:
        return "received", "shape"
    if "status" in columns and times:
        return "sent", known.told if known.role == "sent" else "shape"
    if acks:
        return "acked", "column"
    if known.role is None and "retained" in columns and _WAS_RETAINED.fullmatch(names[columns["retained"]]):
        return "received", "shape"
    return known.role, known.told


def _time(role: str | None, moments: Sequence[int], acks: Sequence[int]) -> int | None:
    """The moment of what was done: that of the acknowledgement only where the row is about it."""
    answered = [n for n in moments if n in acks]
    others = [n for n in moments if n not in acks]
    first = answered + others if role == "acked" else others + answered
    return first[0] if first else None


def _key(
    names: Sequence[str], cells: Cells, columns: Mapping[str, int], times: Sequence[int], role: str | None
) -> int | None:
    """The column that tells messages apart.

    What a receiver notes comes again with each copy, and storms of copies are what ledgers are read for: there it is
    the column that alone is left over, or has the name of an id.
    """
    packets = [n for n, name in enumerate(names) if NO_KEY.fullmatch(name) and not _is_text_id(name, cells[n])]
    free = [
        n for n in range(len(names))
        if n not in columns.values() and n not in times and n not in packets
        and any(cells[n]) and not all_match(_DECIMAL, cells[n]) and not all_match(_FLAG, cells[n])
    ]  # fmt: skip
    best = key_of(names, cells, columns, free)
    if best is not None:
        return best
    called = [n for n in free if ID.fullmatch(names[n])]
    likely = (called or free) if role in _RECEIVERS else []
    if len(likely) != 1:
        likely = [n for n in free if go_on(cells[n])]
    return likely[0] if len(likely) == 1 else None


def _is_text_id(name: str, cells: Sequence[str]) -> bool:
    """Whether ``mid`` is an id of the application's own: a packet's has at most five digits (section 2.3.1)."""
    return name.lower() == "mid" and not all_match(_PACKET, cells) and not all_match(_WHOLE, cells)


_BARE_ANSWER = re.compile(r"(?i)ok|n?ack(?:ed)?|success|pending|failed|fail|error|refused|timeout")


def places(rows: Sequence[Sequence[str]]) -> tuple[dict[str, str], str | None] | None:
    """Places of the fields in rows without names, and the role; None where these are no messages of MQTT.

    They are where one column is a topic with levels and another one tells messages apart: by a word, unless a third one
    is a QoS. Which of two flags is which, and what a second moment is, nothing tells; answers are the publisher's.
    """
    cells = list(zip(*rows, strict=True))
    moments = [n for n, column in enumerate(cells) if all_match(MOMENT, column)]
    topics = [n for n, column in enumerate(cells) if all_match(LEVELS, column)]
    levels = [n for n, column in enumerate(cells) if all_match(LEVEL, column)]
    if not (moments and len(topics) == 1) or any(topic.startswith("$SYS") for topic in cells[topics[0]]):
        return None
    answers = [n for n, column in enumerate(cells) if all_match(_BARE_ANSWER, column)]
    found = {"time": moments[0], "topic": topics[0]}
    found |= {"status": answers[0]} if len(answers) == 1 else {}
    found |= {"qos": levels[0]} if len(levels) == 1 else {}
    free = [n for n in range(len(cells)) if n not in {*moments, *topics, *levels, *answers}]
    key = key_of([""] * len(cells), cells, found, free)
    if key is None:
        return None
    plain = are_ids(cells[key]) and are_topics(cells[topics[0]]) and are_words(cells, moments)
    if not levels and not plain:
        return None
    return {field: str(n) for field, n in {**found, "key": key}.items()}, "sent" if "status" in found else None
