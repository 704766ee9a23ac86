"""Parts of a paste: what stands in a file that somebody copied together, each thing recognised by itself.

Sample file::

    # broker, right after the deploy
    [root@mq-1 ~]# grep -n ERROR server.log
    812:[2024-05-01 12:18:43,427] ERROR [ReplicaManager broker=1] … (kafka.server.ReplicaManager)
    [root@mq-1 ~]# kafka-consumer-groups.sh --describe --group billing
    GROUP    TOPIC   PARTITION …

A file that lies as it was written is none: that is decided by its first 64 KB. Of the others every line ends in exactly
one part; headings, prompts and what nobody understands are the part ``NOTES`` where anything else is understood.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from mqlab.formats import application_log, console, kafka_tools, layouts, other_clients
from mqlab.formats.base import About, BlockFormat, Format, Line, LineFormat, Reject
from mqlab.formats.registry import BY_NAME
from mqlab.material import envelopes, exports, joining, terminal
from mqlab.material.joining import Piece
from mqlab.material.moments import Clock
from mqlab.material.recognition import BELONGS, HEAD, NOBODY, Recognised, noting, recognise, selected, spoken
from mqlab.material.wholes import Whole
from mqlab.sources import Envelope, Reading

LARGEST = 4 << 20
"""Bytes above which nobody pastes."""
NOTES = "notes"
"""Headings, prompts, prose: what stands between logs and outputs."""
_ENOUGH = 500
"""Lines that tell what a collector put around all of them."""
_CLEAN = 0.9
"""Of the lines of a file that lies as it was written, those that begin a record or belong to one."""
_PROMPT = re.compile(
    r"(?:\[?[\w.-]+@[\w.-]+[^$#%>]{0,80}[$#%>]|(?:bash|sh|ash)-[\d.]+[$#]|PS [A-Z]:[^>]{0,80}>|[A-Z]:\\[^>]{0,80}>"
    r"|[~/][\w/.~-]{0,60} ?[$%#]|ksql>|[$%\u276f\u279c]|\u2514.{0,4}[$#]|>>>)(?: .*)?$"
)
_BORDER = re.compile(r"\s*(?:```|~~~)|#{1,6} \S|[-=_*~]{3,}\s*$|\^[CDZ]\s*$")
_TITLE = re.compile(r"(?:---+|===+) (?!a/)[^|\t]{1,60}$")
"""A border with words, such as ``--- broker, the same minute``; ``--- a/`` begins a difference of two files."""
_NAMES = re.compile(rf"\b(?:{layouts.WEEKDAY}|{layouts.MONTH}|[AP]M|[A-Z]{{1,5}})[a-z]{{0,6}}\b|[TZ](?=[\d\s]|$)")
"""Words of a date that stands alone, as ``date`` prints it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing of a file."""

    known: Recognised
    wholes: tuple[Whole, ...]


_TRACE = re.compile(r"\\n(?:\\t|\s+)at [\w.$]+\(")
"""A stack trace in a string of JSON, as Kafka Connect's REST answers hold it."""


@dataclass(slots=True)
class _Block:
    """Lines that belong together, with the name of what they are."""

    wholes: list[Whole]
    opens: bool
    """Its first line begins a record of a log."""
    known: Recognised = field(default_factory=lambda: Recognised(NOBODY))


def is_clean(start: bytes, size: int, known: Recognised) -> bool:
    """Whether a file lies as it was written, by its first bytes and by what it is *known* as."""
    if size > LARGEST or known.format == "binary" or known.reading is Reading.DOCUMENT:
        return True
    if known.format == kafka_tools.FORMAT.name:
        return False
    form = BY_NAME.get(known.format)
    text = start.decode("utf-8", "replace")
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    if form is None or not lines:
        return not lines
    if known.reading is Reading.LOG:
        if terminal.MARKS.search(text):
            return False
        taken = [envelopes.unwrapped(line, known.envelope) for line in lines]
        inner = [text for text, _ in taken]
        told = sum(
            when is not None or layouts.moment(one) is not None or BELONGS.match(one) is not None or not one
            for one, when in taken
        )
        return told >= _CLEAN * len(lines) and not any(
            len(list(joining.cut(Piece(1, 1, 1, one)))) > 1 for one in inner[:200]
        )
    return known.reading is not Reading.TABLE or isinstance(form, BlockFormat) or _is_table(form, lines)


def _is_table(form: Format, lines: Sequence[str]) -> bool:
    """Whether the *form* understands nearly all of the *lines*."""
    read: LineFormat = form  # type: ignore[assignment]
    given = [Line(number, line) for number, line in enumerate(lines, 1)]
    return sum(isinstance(item, Reject) for item in read.parse(iter(given), About(""))) * 10 <= len(lines)


def _is_document(text: str) -> bool:
    """Whether all of it is one JSON document, and no record of a log."""
    try:
        is_open = text.lstrip()[:1] in ("{", "[") and not _TRACE.search(text)
        return is_open and json.loads(text) is not None and not envelopes.is_log_record(text)
    except (ValueError, RecursionError):
        return False


def parts(data: bytes, name: str, formats: Sequence[Format], known: str = NOBODY) -> list[Part]:
    """What stands in a file with this content and base *name*.

    Nothing where it is one thing that lies as it was written, and *known* as what it is.
    """
    raw = data.split(b"\n")
    raw = raw[:-1] if raw[-1] == b"" else raw
    shown = [line.decode("utf-8", "replace").rstrip("\r") for line in raw]
    pieces = [Piece(n, 1, len(line) + 1, text) for n, (line, text) in enumerate(zip(raw, shown, strict=True), 1)]
    quotes_records = any(_unquoted(text) != text for text in shown)
    if not quotes_records and _is_document("\n".join(shown)) and exports.document(pieces) is None:
        return []
    read = list(_pieces(pieces))
    wholes = list(_wholes(read))
    blocks = _recognised(list(_blocks(wholes)), name, formats)
    found = _merged(blocks, name)
    if not _is_told(found):
        found = _merged([_alone(whole) for whole in wholes], name)
    if not _is_told(found):
        return []
    envelope = envelopes.detect(shown)
    same = [part.known.format for part in found] == [known] and all(
        one.lines == 1 and one.inner == envelopes.peel(text, envelope) for one, text in zip(wholes, shown, strict=False)
    )
    return [] if same else found


def _pieces(pieces: list[Piece]) -> Iterator[Piece]:
    """The lines of a file as records: cleaned, taken out of an export, joined and cut."""
    markup = any(terminal.MARKUP.search(piece.text) for piece in pieces[:2000])
    cleaned = [replace(piece, text=terminal.clean(piece.text, markup=markup)) for piece in pieces]
    taken = exports.document(cleaned) or exports.table(cleaned)
    if taken:
        yield from taken
        return
    begins = Clock().begins
    bare = _unprefixed(cleaned)
    joined = joining.unwrapped(list(joining.reports(list(joining.objects(bare)))), begins)
    for piece in joined:
        yield from joining.cut(piece)


def _unprefixed(pieces: Iterable[Piece]) -> list[Piece]:
    """*pieces* without what stands before records and does not belong to them, such as a quote's mark."""
    found, worn = [], None
    told = Clock()
    for piece in pieces:
        text = _unquoted(piece.text)
        if told.begins(text) or text[:1] == "{" or not text:
            worn = None if text else worn
        elif bare := next((p for p in terminal.PREFIXES if _reveals(p, text, told)), None):
            worn = bare
            text = text[bare.match(text).end() :]  # type: ignore[union-attr]
        elif worn is not None and (match := worn.match(text)):
            text = text[match.end() :]
        found.append(replace(piece, text=text))
    return found


def _unquoted(text: str) -> str:
    """The record in a string of JSON, such as one of an array of log lines; *text* itself where it is none."""
    bare = text.strip().rstrip(",")
    try:
        record = json.loads(bare) if len(bare) > 1 and bare[0] == bare[-1] == '"' else None
    except ValueError:
        return text
    return record.rstrip("\n") if isinstance(record, str) and Clock().begins(record) else text


def _reveals(prefix: re.Pattern[str], text: str, told: Clock) -> bool:
    found = prefix.match(text)
    if not found or not found[0]:
        return False
    rest = text[found.end() :]
    is_quote = found[0].startswith((">", "`")) and (BELONGS.match(rest) or selected(rest) or selected(f"- {rest}"))
    return told.begins(rest) or bool(is_quote) or (rest[:1] == "{" and envelopes.is_log_record(rest))


def _wholes(pieces: Sequence[Piece]) -> Iterator[Whole]:
    """Lines made whole of the records of a file."""
    clock = Clock.of(piece.text for piece in pieces)
    texts = [piece.text for piece in pieces if not _PROMPT.match(piece.text) and not _parts(piece.text)]
    envelope = envelopes.detect([text for text in texts if text.strip()][:_ENOUGH])
    for piece in pieces:
        is_object = envelope is Envelope.NONE and piece.text[:1] == "{" and envelopes.is_log_record(piece.text)
        own = Envelope.STRUCTURED if is_object else envelope
        inner, when = envelopes.unwrapped(piece.text, own) if own is not Envelope.NONE else (piece.text, None)
        read = None if _PROMPT.match(inner) else clock.read(inner)
        if read is None:
            read = f"- {inner}" if inner[:1].isalpha() and _begins_message(inner) else inner
        yield Whole(piece.number, piece.lines, piece.bytes, piece.text, read, when)


def _begins_message(line: str) -> bool:
    """A signature selects *line* as a bare message, before any that selects it as it stands."""
    alone, bare = selected(line), selected(f"- {line}")
    return bare is not None and (alone is None or bare.number < alone.number)


def _blocks(wholes: Sequence[Whole]) -> Iterator[_Block]:
    """Lines that stand together: a border, a prompt or a blank line between two things parts them."""
    told = Clock()
    block: _Block | None = None
    gap = False
    for whole in wholes:
        text = whole.inner
        if not text.strip():
            if block:
                block.wholes.append(whole)
            else:
                block = _Block([whole], opens=False)
            gap = True
            continue
        opens = told.begins(text) and not _PROMPT.match(text) and any(map(str.isalpha, _NAMES.sub("", text)))
        border = not opens and (_PROMPT.match(text) is not None or _parts(text))
        goes_on = block is not None and not border and _same(block, text, opens=opens, gap=gap)
        if block is not None and goes_on:
            block.wholes.append(whole)
        else:
            if block:
                yield block
            block = _Block([whole], opens=opens)
        gap = False
        if border and block:
            yield block
            block = None
    if block:
        yield block


def _parts(text: str) -> bool:
    """A line that stands between two things, and that no signature selects."""
    return _BORDER.match(text) is not None or (_TITLE.match(text) is not None and selected(text) is None)


def _same(block: _Block, text: str, *, opens: bool, gap: bool) -> bool:
    """Whether a line belongs to what stands above it, maybe behind a *gap*."""
    if opens:
        return block.opens and (not gap or _style(text) == _style(block.wholes[0].inner))
    return not gap or (BELONGS.match(text) is not None and (block.opens or text[:1].isspace()))


def _style(text: str) -> str:
    return re.sub(r"\d+", "#", text[:12])


def _recognised(blocks: list[_Block], name: str, formats: Sequence[Format]) -> list[_Block]:
    """*blocks*, each with what it is."""
    for block in blocks:
        lines = [whole.inner for whole in block.wholes]
        aside = all(not line.strip() or console.is_remark(line) or _parts(line) for line in lines)
        if block.opens or not aside or spoken(lines):
            block.known = _known(lines, name, formats)
    return blocks


def _is_told(found: Sequence[Part]) -> bool:
    """Whether anything of what was *found* is understood."""
    return any(part.known.format not in (NOTES, NOBODY) for part in found)


def _alone(whole: Whole) -> _Block:
    """A line among prose, by its own words."""
    text = whole.inner.strip()
    form = spoken([text]) if text else None
    known = Recognised(form, Reading.LOG) if form else Recognised(NOBODY)
    return _Block([whole._replace(inner=f"- {text}")] if form and _begins_message(text) else [whole], False, known)


def _known(lines: Sequence[str], name: str, formats: Sequence[Format]) -> Recognised:
    """What *lines* are: what a format says, else what their own words say they come from."""
    content = "\n".join(lines)
    told = recognise(content.encode("utf-8", "replace")[:HEAD], name, len(content), formats)
    if told.format not in (NOBODY, "binary", application_log.FORMAT.name):
        return replace(told, envelope=Envelope.NONE)
    begun = told.format != NOBODY or any(Clock().begins(line) for line in lines)
    sure = begun or other_clients.SURE.search(content) or other_clients.is_mostly(content)
    named = other_clients.format_of(content) if sure else None
    form = named or spoken(lines) or (application_log.FORMAT.name if begun else NOBODY)
    reading = Reading.COUNT if form == NOBODY else Reading.LOG
    return replace(told, format=form, reading=reading, envelope=Envelope.NONE)


def _merged(blocks: Sequence[_Block], name: str) -> list[Part]:
    """One part for all lines of one format, in their order, and one for the notes.

    What stands before a table, such as the command that printed it and a date, goes with it.
    """
    kept: dict[Recognised, list[Whole]] = defaultdict(list)
    notes = Recognised(NOTES)
    waiting: list[Whole] = []
    last: Recognised | None = None
    for known, run in groupby(blocks, key=lambda block: block.known):
        lines = [whole for block in run for whole in block.wholes]
        if known.format == NOBODY or known.format == "binary":
            waiting += lines
            continue
        is_table = known.reading is Reading.TABLE
        for whole in waiting:
            kept[known if is_table and (not whole.inner.strip() or console.is_remark(whole.inner)) else notes].append(
                whole
            )
        waiting = []
        last = _alike(kept, known)
        kept[last] += lines
    kept[notes] += waiting
    if not last:
        return []
    return [Part(_noted(known, wholes, name), tuple(wholes)) for known, wholes in kept.items() if wholes]


def _noted(known: Recognised, wholes: Sequence[Whole], name: str) -> Recognised:
    """*known*, with a layout where an application's log holds lines of a ledger."""
    text = "\n".join(one.inner for one in wholes)[:HEAD]
    return noting(known, text.encode("utf-8", "replace"), name) if known.reading is Reading.LOG else known


def _alike(kept: Iterable[Recognised], known: Recognised) -> Recognised:
    """What *known* is counted among: lines of one log differ in no more than what they say of their zone."""
    if known.reading is not Reading.LOG:
        return known
    return next((one for one in kept if one.format == known.format and one.reading is Reading.LOG), known)
