"""Which lines of an application's log are rows of a ledger: lines of one shape, each about one message.

Sample lines, of which the first two are a ledger's, and the others are not::

    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid PO-17 (topic=payouts partition=1 offset=33)
    2026-11-22 07:00:01,125 INFO  [main] com.acme.Payer - paid PO-18 (topic=payouts partition=1 offset=34)
    2026-11-22 07:00:01,126 INFO  [main] … - [Consumer clientId=payer, groupId=payer] Resetting offset for partition …
    2026-11-22 07:00:01,127 INFO  [main] com.acme.Payer - processed 500 records up to payouts-1@35
    2026-11-22 07:00:01,128 WARN  [main] com.acme.Payer - cannot pay PO-19 (topic=payouts partition=1 offset=35)

A shape names a place (partition and offset, maybe a topic), or an id and a topic with a verb that tells the role. Its
values are named by what stands before them and by what they look like, as columns of a table are. The role is told by
the verb, else by the name of the log::

    acked orders-0@33                                acked
    Message delivered to orders [0] @ 33             acked: only an acknowledgement tells where a record was put
    sent SMS17 to carrier (orders-0@33)              processed: who sends a message on has read it there
    paid PO-17 (topic=payouts partition=1 offset=33) processed: any other verb in the past, beside a place

What a library or a broker prints, what is about a position or about many messages, and what denies its verb is none.
Nor are lines about messages that the same party notes in a file of its own: counted both, each payout above would have
been paid twice.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mqlab.ledgers import mqtt_columns
from mqlab.ledgers.columns import ENOUGH
from mqlab.ledgers.layout import Layout, LineShape, field_of, is_mqtt, party_in, role_in
from mqlab.ledgers.words import (
    HANDLED,
    HARMLESS,
    INTO,
    NEGATIVE,
    NOT_ONE,
    NOT_ONE_NAMES,
    PAYLOADS,
    PREFIX,
    PUT,
    ROLE_OF,
    Piece,
    is_dated,
    is_past,
    pieces,
    statement,
    words,
)
from mqlab.sources import Envelope, Reading, Source

_VERBS = frozenset(ROLE_OF) | PUT
_BETWEEN = frozenset({"topic", "partition", "kafka", "broker", "the", "offset", "at", "queue", "cluster"})
_NEGATIVE, _HARMLESS = re.compile(NEGATIVE), re.compile(HARMLESS)

Told = tuple[str | None, str | None]
"""A role and what it is known by; two times None where nothing tells it."""


def denies(text: str) -> bool:
    """Whether a text says that something was not done, or not in the ordinary way."""
    return _NEGATIVE.search(_HARMLESS.sub(" ", text)) is not None


def role(said: Sequence[Piece], named: str | None, *, placed: bool, produces: bool) -> Told | None:
    """The role that a statement tells, and what it is known by; None where it denies what its verb says.

    *named* is the role in the file's name, *placed* whether the statement names a place, *produces* whether the log is
    that of a process that only produces.
    """
    spoken = [(n, word) for n, piece in enumerate(said) if not piece.pattern for word in words(piece.text)]
    known = (verb for verb in spoken if verb[1] in _VERBS)
    verb = next(known, None) or next((verb for verb in spoken if placed and is_past(verb[1])), None)
    by_name: Told = (named, "name" if named else None)
    own = ROLE_OF.get(verb[1], "processed" if placed and is_past(verb[1]) else None) if verb else None
    if denies(" ".join(piece.text for piece in said if not piece.pattern)) and own != "failed":
        return None
    if verb is None:
        return by_name
    if placed and verb[1] in PUT and (by_place := _by_place(said[verb[0] :], own, named, produces)):
        return by_place
    return (own, "verb") if own else by_name


def _by_place(said: Sequence[Piece], own: str | None, named: str | None, produces: bool) -> Told | None:
    """The role of a verb of putting, where the place that stands with it tells it."""
    goal = _goal(said)
    if goal == "place" or (own == "sent" and goal is None and produces):
        return "acked", "shape"
    if own == "sent" and goal == "other":
        return "processed", "shape"
    return ("acked", "name") if own == "sent" and named == "acked" else None


def _goal(said: Sequence[Piece]) -> str | None:
    """What a verb, the first of the pieces, says something was put into: ``place``, ``other``; None without a word."""
    into = next((n for n, p in enumerate(said) if not p.pattern and INTO & set(words(p.text))), None)
    if into is None:
        return None
    for piece in said[into + 1 :]:
        if piece.pattern:
            return "place" if piece.name in ("topic", "partition") else "other"
        if set(words(piece.text)) - _BETWEEN:
            return "other"
    return "other"


_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:ms|s|us|ns|m|h|[kKmM]?i?[bB])?")
_BEFORE_ID = frozenset({"key", "id", "message", "record", "order", "event", "msg"})
_BEFORE_MEASURE = frozenset({
    *("in", "took", "after", "within", "attempt", "try", "retry", "size", "of", "version", "port", "thread", "for"),
})  # fmt: skip
_PARTITION = re.compile(r"(?i)partition|tp|topic_?partition")
_PLACED = re.compile(r".+-\d{1,6}")


def names(said: Sequence[Piece], cells: Sequence[Sequence[str]]) -> list[str]:
    """A name for each value of a statement; *cells* are the values of several, a list for each value."""
    values = [n for n, piece in enumerate(said) if piece.pattern]
    placed = next((n for n in values if said[n].name.rpartition(".")[2].lower() == "offset"), len(said))
    return [_name(said, n, column, behind=n > placed) for n, column in zip(values, cells, strict=True)]


def _name(said: Sequence[Piece], n: int, column: Sequence[str], *, behind: bool) -> str:
    own = said[n].name.rpartition(".")[2]
    if own:
        placed = _PARTITION.fullmatch(own) and all(map(_PLACED.fullmatch, column))
        return "topic_partition" if placed else own
    if all("/" in cell for cell in column):
        return "topic"
    before = set(words(" ".join(piece.text for piece in said[max(0, n - 3) : n] if not piece.pattern))[-1:])
    if behind and not before & _BEFORE_ID:
        return "took"
    return "took" if _are_measures(column, before) else "id"


def _are_measures(column: Sequence[str], before: set[str]) -> bool:
    """Whether these are numbers with a unit, or behind a word that a measure follows."""
    if not all(map(_MEASURE.fullmatch, column)):
        return False
    return bool(before & _BEFORE_MEASURE) or not all(cell.isdigit() for cell in column)


_FIELDS = ("time", "topic", "queue", "offset", "place", "key", "status", "qos", "dup", "retained", "party", "group")
_MOMENT = "2026-01-01T00:00:00Z"
"""Stands for the moment before a statement, of which it only matters that it is there."""
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")

Columns = Mapping[str, int]
"""Numbers of values by field."""
Cells = Sequence[Sequence[str]]
"""A list for each value: what it is in each line."""


def columns(said: Sequence[Piece], cells: Cells, *, timed: bool) -> Columns:
    """Numbers of the values by field, as in a table of them; a line that is dated (*timed*) needs no moment."""
    lead = [[_MOMENT] * len(cells[0])] if timed else []
    titles = [*(["time"] if timed else []), *names(said, cells)]
    rows = [list(row) for row in zip(*lead, *cells, strict=True)]
    found = {
        field: n - len(lead) for field, n in mqtt_columns.named(titles, rows, "").columns.items() if field in _FIELDS
    }
    called = {field: field_of(titles[n + len(lead)]) for field, n in found.items()}
    guessed = {field for field in ("queue", "offset", "place") if called.get(field, field) != field}
    return {f: n for f, n in found.items() if n >= 0 and f not in guessed and not (timed and f == "time")}


def placed(found: Columns) -> bool:
    """Whether the values name a place of a message in a log."""
    return "offset" in found and bool({"queue", "place"} & found.keys())


def apart(found: Columns, cells: Cells) -> bool:
    """Whether these are several messages: different places, which hold numbers, else different keys."""
    if not placed(found):
        return "key" in found and len(set(cells[found["key"]])) >= ENOUGH
    offsets, partitions = cells[found["offset"]], cells[found["queue" if "queue" in found else "place"]]
    numbers = all(cell.lstrip("-").isdigit() for cell in offsets)
    return numbers and len(set(zip(partitions, offsets, strict=True))) >= ENOUGH


def pattern(said: Sequence[Piece], found: Columns) -> tuple[str, Mapping[str, int]]:
    """The regex of such lines up to the last value that is a fact of a message, and its groups by field.

    It reads the same in Python and in Rust, and fits from the beginning of a line.
    """
    values = [n for n, piece in enumerate(said) if piece.pattern]
    fields = {values[n]: field for field, n in found.items()}
    end = max(fields) + 1
    groups = {fields[n]: number for number, n in enumerate(sorted(fields), 1)}
    return f"^{PREFIX}{''.join(_part(piece, n in fields) for n, piece in enumerate(said[:end]))}", groups


def _part(piece: Piece, wanted: bool) -> str:
    if piece.pattern:
        return f"({piece.pattern})" if wanted else f"(?:{piece.pattern})"
    return r"[ \t]+" if piece.text == " " else _SPECIAL.sub(r"\\\g<0>", piece.text)


NEAR = 1000
"""Characters of a line by which shapes are told."""
_HINTS = frozenset({*ROLE_OF, *PUT, "offset"})
"""Words of which one stands in every line that may be of a ledger, but for those with a place as ``orders-0@33``."""
_AT = re.compile(r"\d ?@ ?\d")
_LIBRARY = re.compile(
    r"org\.apache\.|\bo\.a\.k\.|rdkafka|\b(?:clientId|groupId)=|\[(?:Consumer|Producer|AdminClient) "
    r"|\[(?:Broker|Controller|QuorumController|RaftManager|GroupCoordinator|Log|UnifiedLog)\b|\((?:kafka|state\.change)\.\w"
    r"|\b(?:PUBLISH|PUBACK|PUBREC|PUBREL|PUBCOMP|SUBSCRIBE|CONNECT)\b"
)
_PAYLOAD = re.compile(f"(?i){PAYLOADS}")


Groups = Mapping[tuple[object, bool], list[list[Piece]]]
"""Statements by shape, and by whether something dates their lines."""


def may_note(text: str) -> bool:
    """Whether a text holds a word that lines of ledgers hold; comparing words is cheap."""
    return not _HINTS.isdisjoint(words(text)) or _AT.search(text) is not None


def groups(lines: Iterable[str], *, clocked: bool) -> Groups:
    """The statements that may be about one message; *clocked* is whether a collector dates each line."""
    found: dict[tuple[object, bool], list[list[Piece]]] = defaultdict(list)
    near = (line[:NEAR] for line in lines)
    for line in (line for line in near if may_note(line) and not _LIBRARY.search(line)):
        if said := _about_one(pieces(statement(line))):
            found[tuple(piece.key for piece in said), clocked or is_dated(line)].append(said)
    return found


def _about_one(said: list[Piece]) -> list[Piece] | None:
    """The pieces up to the last value before a payload; None where the line is surely not about one message."""
    end = next((n for n, p in enumerate(said) if _PAYLOAD.fullmatch(p.name.rpartition(".")[2])), len(said))
    last = max((n for n, piece in enumerate(said[:end]) if piece.pattern), default=None)
    if last is None:
        return None
    literal = " ".join(piece.text for piece in said[:end] if not piece.pattern)
    if NOT_ONE & set(words(literal)) or any(NOT_ONE_NAMES.fullmatch(piece.name) for piece in said[:end]):
        return None
    return None if denies("".join(piece.text for piece in said[last + 1 : end])) else said[: last + 1]


_LOOKED_AT = 1000
"""Lines by which shapes are told."""
_PURE = 0.8
"""Share of its lines from which a log is nothing but a ledger. Judgement, no default behind it: starts, stops and
warnings are the rest."""
_PRODUCER = re.compile(r"ProducerConfig|\[Producer |#producer-|KafkaProducer")
_CONSUMER = re.compile(r"ConsumerConfig|\[Consumer |#consumer-|KafkaConsumer|group[._]?[iI]d")


@dataclass(frozen=True, slots=True)
class _Log:
    """What is known of the log in which shapes are looked for."""

    named: str | None
    """The role in its name."""
    produces: bool
    """It is that of a process that produces and does not consume."""


@dataclass(frozen=True, slots=True)
class _Found:
    shape: LineShape
    columns: Columns
    mqtt: bool


def found(lines: Sequence[str], name: str, *, clocked: bool = False) -> tuple[tuple[LineShape, ...], bool]:
    """The shapes of ledger lines among the first *lines* of a log of this *name*, and whether they are MQTT's.

    *clocked* is whether a collector dates each line. A line is of the first shape that it fits.
    """
    lines = lines[:_LOOKED_AT]
    text = "\n".join(line[:NEAR] for line in lines)
    if not may_note(text):
        return (), False
    log = _Log(role_in(name), _PRODUCER.search(text) is not None and _CONSUMER.search(text) is None)
    alike = {True: 0, False: 0}
    for line in lines:
        alike[clocked or is_dated(line)] += bool(line.strip())
    shapes: dict[str, _Found] = {}
    for (_, timed), rows in groups(lines, clocked=clocked).items():
        one = _shape(rows, log, timed=timed, pure=len(rows) >= _PURE * alike[timed]) if len(rows) >= ENOUGH else None
        if one:
            shapes.setdefault(one.shape.pattern, one)
    kept = _kept(sorted(shapes.values(), key=lambda one: (-max(one.columns.values()), one.shape.pattern)))
    return tuple(one.shape for one in kept), any(one.mqtt for one in kept)


def _shape(rows: Sequence[Sequence[Piece]], log: _Log, *, timed: bool, pure: bool) -> _Found | None:
    """The shape that statements have in common, where it names messages."""
    first = rows[0]
    cells = [[row[n].text for row in rows] for n, piece in enumerate(first) if piece.pattern]
    fields = columns(first, cells, timed=timed)
    has_place = placed(fields)
    told = role(first, log.named, placed=has_place, produces=log.produces)
    if told is None or not (timed or "time" in fields) or not apart(fields, cells):
        return None
    is_ledger = (
        _is_placed(first, told[0], fields, pure) if has_place else _is_named(told[0], fields, pure and log.named)
    )
    if not is_ledger:
        return None
    regex, groups = pattern(first, fields)
    topics = cells[fields["topic"]] if "topic" in fields else []
    return _Found(LineShape(regex, groups, *told), fields, not has_place and is_mqtt(fields, topics))


def _is_placed(said: Sequence[Piece], role: str | None, columns: Columns, pure: bool) -> bool:
    """Whether lines with places are a ledger's.

    What failed has no place. Where nothing tells the role, names and values are all there is in a log that holds
    nothing else (*pure*).
    """
    if role is None:
        bare = not any(words(re.sub(r"[\w.@-]+\"?[ \t]?[=:]", "", p.text)) for p in said if not p.pattern)
        return pure and bare and "key" in columns
    return role != "failed"


def _is_named(role: str | None, columns: Columns, called: object) -> bool:
    """Whether lines with ids are a ledger's: they name a topic, or the log is nothing else and is *called* so."""
    return role is not None and ("topic" in columns or role == "failed" or bool(called))


def _kept(shapes: Sequence[_Found]) -> Sequence[_Found]:
    """Those of *shapes* that tell of different things: of one receiver the last stage, of two systems that with places.

    What failed is a message only where the log notes the others, too.
    """
    last = max((HANDLED.index(one.shape.role) for one in shapes if one.shape.role in HANDLED), default=0)
    stages = [one for one in shapes if one.shape.role not in HANDLED[:last]]
    roles = {one.shape.role for one in stages}
    noted = [one for one in stages if one.shape.role != "failed" or roles & {"sent", "acked"}]
    with_places = [one for one in noted if placed(one.columns)]
    return with_places if with_places and any(one.mqtt for one in noted) else noted


PLAIN = "application-log"
APPLICATIONS = frozenset({
    PLAIN, "kafka-client-log", "librdkafka-log", "rocketmq-client-log", "paho-log", "process-log",
})  # fmt: skip
"""Formats of logs that applications write, also where a library writes into them; the first has no layout."""
_CLOCKED = (Envelope.DOCKER, Envelope.CRI)
"""Envelopes that date each line."""
_ENDING = re.compile(r"(?i)\.(?:log|txt|out|json|jsonl|ndjson)(?:\..*)?$")


def layout(lines: Sequence[str], name: str, envelope: Envelope) -> str | None:
    """How the rows stand in a log called *name* that begins with *lines*; None where none is one of a ledger."""
    shapes, mqtt = found(lines, name, clocked=envelope in _CLOCKED)
    if not shapes:
        return None
    return laid(shapes, party_of(name), mqtt=mqtt)


def laid(shapes: Sequence[LineShape], party: str | None, *, mqtt: bool) -> str:
    """The layout of a log with lines of these *shapes*; it says whether all of them tell the role of their rows."""
    said = {"role": "lines"} if all(one.role for one in shapes) else {}
    return Layout(said, "", party=party, mqtt=mqtt, lines=tuple(shapes)).text()


def party_of(name: str) -> str | None:
    """Whose log it is: ``payer`` of ``payer.log`` and ``payer.audit.log``, ``web`` of ``web-acked.log``."""
    return party_in(name) or _ENDING.sub("", name) or None


_ANY = "any"
"""Stands for a ledger whose rows tell their roles, or in which nothing tells one."""


def once(sources: Sequence[Source]) -> list[Source]:
    """*sources*, in which lines of logs are no ledger of what the same party notes in rows of a file, too.

    A party is told by names of files, else by the folder. What the user's map says of a log stays.
    """
    kept: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        if source.layout and source.reading is Reading.TABLE:
            layout = json.loads(source.layout)
            for party in _parties(source, layout):
                kept[party].add(_kind(layout["role"]))
    logs = (source.layout and source.reading is Reading.LOG for source in sources)
    return [_without(source, kept) if is_log else source for source, is_log in zip(sources, logs, strict=True)]


def _without(source: Source, kept: Mapping[str, set[str]]) -> Source:
    """A log without the shapes whose messages are noted in files; *kept* are the kinds of roles by party."""
    layout = json.loads(source.layout or "{}")
    noted = {kind for party in _parties(source, layout) for kind in kept.get(party, ())}
    own = [one for one in layout["lines"] if one["told"] == "map" or not noted & {_ANY, _kind(one["role"])}]
    if len(own) == len(layout["lines"]):
        return source
    return replace(source, layout=json.dumps({**layout, "lines": own}) if own else None)


def _kind(role: str | None) -> str:
    return _ANY if role is None else "handled" if role in HANDLED else role


def _parties(source: Source, layout: Mapping[str, Any]) -> set[str]:
    """Who keeps it: the party in its name; what a map says; its folder where the name tells nobody."""
    party = layout.get("party")
    folder = source.path.replace("!/", "/").rpartition("/")[0].rpartition("/")[2]
    return {re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in ([party] if party else [folder]) if name}
